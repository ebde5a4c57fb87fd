//! Mechanisms built from mechanisms: their privacy follows from that of their parts (\[HSV25\] §6),
//! and types check most of the conditions.
//!
//! A [`Composite`] gets its input [`Tainted`], may compute with it without looking, and may send it to parts, which are
//! private. What the parts answer is clean. So whether it answers, what it answers, which parts it creates and which it
//! asks can depend on clean values only: if two inputs are answered alike by the parts, they are answered alike by the
//! whole. Then the whole costs what its parts cost together (Thm 6.1, Cor 6.6), if pairs of valid inputs make pairs of
//! valid messages to the parts. That last condition its author vouches for, and [`hunt`] looks for counterexamples.
//!
//! Types see values. They do not see statics, the clock, addresses and the other channels that
//! `docs/theorems.md` lists under "Channels outside of every claim". The author vouches that a
//! composite uses none of them, so one that compiles need not be private.
//!
//! A composite has no scope: to draw, to spawn and to halt are control flow. Its randomness comes from a part that tosses
//! [coins](crate::coins) and costs nothing.

mod hunt;
mod lock_step;
mod taint;

use queryable::{AskError, Machine, Scope};

pub use hunt::{AnswersOf, Found, hunt};
pub use lock_step::{Fault, LockStep};
use taint::Origin;
pub use taint::{Clean, Tainted};

use crate::{
    allowance::Allowance,
    compose::{Catalogue, ExtConComp, Outcome, Request},
    pair::StreamMessage,
};

/// What messages are: plain data that can be compared and copied.
pub trait PlainMessage: Clean + Clone + PartialEq + Send + Sync + 'static {}

impl<T: Clean + Clone + PartialEq + Send + Sync + 'static> PlainMessage for T {}

/// A mechanism built from mechanisms. It is deterministic, and starts in the same state whatever the data.
///
/// ```
/// use odometry::continual::{Catalogue, Certified, EventLevel, PureParallel, StreamMessage};
/// use odometry::continual::composite::{CompositeMechanism, Composite, Parts, Tainted};
/// use odometry::measures::Epsilon;
/// use odometry::queryable::{AskError, Root, Scope, coins::{Bit, Probability}, machine};
///
/// /// After every third update, asks by a new randomized response whether one of the three was above 100.
/// #[derive(Clone)]
/// struct Watch { high: Tainted<bool>, time: u32, alarms: u32 }
///
/// impl Composite for Watch {
///     type Update = u32;
///     type Question = ();
///     type Answer = u32;
///     type Name = ();
///     type PartQuery = bool;
///     type PartAnswer = bool;
///
///     fn update(&mut self, update: Tainted<u32>, parts: &mut Parts<'_, Self>) -> Result<u32, AskError> {
///         self.high.absorb(update, |high, x| *high |= x > 100);
///         self.time += 1;
///         if self.time % 3 == 0 {
///             let response = parts.create(())?;
///             let high = std::mem::replace(&mut self.high, Tainted::of(false));
///             self.alarms += u32::from(parts.ask(response, high)?);
///         }
///         Ok(self.alarms)
///     }
///
///     fn question(&mut self, (): (), _: &mut Parts<'_, Self>) -> Result<u32, AskError> {
///         Ok(self.alarms)
///     }
/// }
///
/// let lie = Bit::new(Probability::new(1, 4)?);
/// let ln_3: Epsilon = "1.0987".parse()?;
/// let price = ln_3.clone();
/// let responses = Catalogue::new(move |(): &()| {
///     let lie = lie.clone();
///     Some(Certified::swap_symmetric(ln_3.clone(), EventLevel::new().up_to(1), move || {
///         let lie = lie.clone();
///         machine(move |bit: bool, scope: &mut Scope<'_>| Ok(scope.draw(&lie)? ^ bit))
///     }))
/// });
/// // An update reaches one response: one slot, so the whole costs ln 3 at event level, however long it runs.
/// let watch = Watch { high: Tainted::of(false), time: 0, alarms: 0 };
/// let watch = CompositeMechanism::new(watch, responses, PureParallel::new(vec![price]));
/// let watch = Root::from_os()?.spawn(watch)?;
/// for x in [3, 150, 7] {
///     watch.ask(StreamMessage::Update(x))?;
/// }
/// assert!(watch.ask(StreamMessage::Question(()))? <= 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Composite: Send + Sized + 'static {
    /// Data that arrive. They are tainted.
    type Update: PlainMessage;
    /// What is asked. It is the same on neighbouring inputs, and so it is clean.
    type Question: PlainMessage;
    /// What is answered.
    type Answer: Clean + 'static;
    /// The names of mechanisms that can be parts.
    type Name: PlainMessage;
    /// What parts are asked.
    type PartQuery: PlainMessage;
    /// What parts answer.
    type PartAnswer: Clean + 'static;

    /// Takes data. An error is an answer.
    ///
    /// # Errors
    /// What its author likes to answer.
    fn update(
        &mut self,
        update: Tainted<Self::Update>,
        parts: &mut Parts<'_, Self>,
    ) -> Result<Self::Answer, AskError>;

    /// Answers a question. An error is an answer.
    ///
    /// # Errors
    /// What its author likes to answer.
    fn question(
        &mut self,
        question: Self::Question,
        parts: &mut Parts<'_, Self>,
    ) -> Result<Self::Answer, AskError>;
}

/// What a composite is asked.
pub type LeftOf<C> = StreamMessage<<C as Composite>::Update, <C as Composite>::Question>;
/// What a composite sends to its parts.
pub type RequestOf<C> = Request<<C as Composite>::Name, <C as Composite>::PartQuery>;
/// What a composite hears from its parts.
pub type OutcomeOf<C> = Result<Outcome<<C as Composite>::PartAnswer>, AskError>;

/// The side of the parts.
trait Right<C: Composite> {
    fn send(&mut self, request: RequestOf<C>) -> OutcomeOf<C>;
}

/// The parts of a composite: all that it can do besides computing.
///
/// Which part is created or asked is clean:
///
/// ```compile_fail,E0308
/// use odometry::continual::composite::{Composite, Parts, Tainted};
/// fn choose<C: Composite>(parts: &mut Parts<'_, C>, which: Tainted<usize>, query: Tainted<C::PartQuery>) {
///     parts.ask(which, query);
/// }
/// ```
/// ```compile_fail,E0308
/// use odometry::continual::composite::{Composite, Parts, Tainted};
/// fn choose<C: Composite>(parts: &mut Parts<'_, C>, which: Tainted<C::Name>) { parts.create(which); }
/// ```
///
/// There are no coins, no machines and no end but the parts':
///
/// ```compile_fail,E0599
/// use odometry::continual::composite::{Composite, Parts};
/// fn draw<C: Composite>(parts: &mut Parts<'_, C>) { parts.draw(&odometry::queryable::coins::Bit::fair()); }
/// ```
/// ```compile_fail,E0599
/// use odometry::continual::composite::{Composite, Parts};
/// fn spawn<C: Composite>(parts: &mut Parts<'_, C>) { parts.spawn(odometry::queryable::machine(|(), _| Ok(()))); }
/// ```
/// ```compile_fail,E0599
/// use odometry::continual::composite::{Composite, Parts};
/// fn halt<C: Composite>(parts: &mut Parts<'_, C>) { parts.halt(); }
/// ```
pub struct Parts<'a, C: Composite> {
    right: &'a mut dyn Right<C>,
    origin: &'a Origin,
}

impl<C: Composite> Parts<'_, C> {
    /// Creates the mechanism with this name: its number.
    ///
    /// # Errors
    /// [`AskError::InvalidQuery`] if there is none; [`AskError::Failed`] if the allowance does not permit it.
    pub fn create(&mut self, name: C::Name) -> Result<usize, AskError> {
        match self.right.send(Request::Create(name))? {
            Outcome::Created(number) => Ok(number),
            Outcome::Answer(_) => Err(AskError::failed("an answer to a creation")),
        }
    }

    /// Asks a part. What it answers is clean: the part is private.
    ///
    /// # Errors
    /// What the part says; [`AskError::Failed`] if the query depends on the input of another mechanism.
    pub fn ask(
        &mut self,
        part: usize,
        query: Tainted<C::PartQuery>,
    ) -> Result<C::PartAnswer, AskError> {
        let (query, origin) = query.into_parts();
        if !self.origin.covers(&origin) {
            let why = "a tainted value of another mechanism, which this one's price does not cover";
            return Err(AskError::failed(why));
        }
        match self.right.send(Request::ask(part, query))? {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::Created(_) => Err(AskError::failed("a creation in answer to a query")),
        }
    }
}

/// One step of a composite.
fn step<C: Composite>(
    composite: &mut C,
    message: LeftOf<C>,
    origin: &Origin,
    right: &mut dyn Right<C>,
) -> Result<C::Answer, AskError> {
    let mut parts = Parts { right, origin };
    match message {
        StreamMessage::Question(question) => composite.question(question, &mut parts),
        StreamMessage::Update(update) => {
            composite.update(Tainted::input(update, origin.clone()), &mut parts)
        }
    }
}

/// A composite with its parts: a continual mechanism again (𝒫 ∘ ExtConComp, \[HSV25\] §6).
///
/// The allowance is that of its author's claim: what its parts may cost together is what the whole costs. Creations
/// beyond it are refused. That inputs make no more parts differ than it has slots for, the author vouches for.
pub struct CompositeMechanism<C: Composite, W: Allowance> {
    composite: C,
    origin: Origin,
    catalogue: Catalogue<C::Name, C::PartQuery, C::PartAnswer, W::Loss>,
    allowance: W,
    parts: ExtConComp<C::Name, C::PartQuery, C::PartAnswer, W::Loss>,
}

impl<C: Composite, W: Allowance> CompositeMechanism<C, W> {
    /// In its initial state.
    pub fn new(
        composite: C,
        catalogue: Catalogue<C::Name, C::PartQuery, C::PartAnswer, W::Loss>,
        allowance: W,
    ) -> Self {
        Self {
            composite,
            origin: Origin::new(),
            parts: ExtConComp::new(catalogue.clone()),
            catalogue,
            allowance,
        }
    }
}

/// The real parts, during a step.
struct Running<'a, 'b, C: Composite, W: Allowance> {
    catalogue: &'a Catalogue<C::Name, C::PartQuery, C::PartAnswer, W::Loss>,
    allowance: &'a mut W,
    parts: &'a mut ExtConComp<C::Name, C::PartQuery, C::PartAnswer, W::Loss>,
    scope: &'a mut Scope<'b>,
}

impl<C: Composite, W: Allowance> Right<C> for Running<'_, '_, C, W> {
    fn send(&mut self, request: RequestOf<C>) -> OutcomeOf<C> {
        if let Request::Create(name) = &request
            && let Some(mechanism) = self.catalogue.find(name)
        {
            let admitted = self.allowance.create(mechanism.certificate());
            admitted.map_err(|refusal| AskError::failed(refusal.to_string()))?;
        }
        self.parts.step(request, self.scope)
    }
}

impl<C: Composite, W: Allowance> Machine for CompositeMechanism<C, W> {
    type Query = LeftOf<C>;
    type Answer = C::Answer;

    fn step(&mut self, message: LeftOf<C>, scope: &mut Scope<'_>) -> Result<C::Answer, AskError> {
        let mut right = Running::<C, W> {
            catalogue: &self.catalogue,
            allowance: &mut self.allowance,
            parts: &mut self.parts,
            scope,
        };
        step(&mut self.composite, message, &self.origin, &mut right)
    }
}
