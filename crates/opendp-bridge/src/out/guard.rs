//! What becomes of our answers in the hands of an OpenDP analyst: values stay as they are; queryables and sessions, and
//! whatever they answer in turn, ask the [`Canary`] first.

use std::fmt;

use measures::{Adaptive, ChildLoss, FilterRule, FixedRule, Metric, Total, TotalLoss};
use odometer::{Composition, Domain, LaunchError, Measurement, Session};
use queryable::{AskError, Queryable};

use super::canary::{Canary, NoTurn};

/// An answer that can be handed to an OpenDP analyst.
///
/// Implement it for your own answer types. Whoever does vouches that no handle of ours is in the guarded form unguarded:
/// it could be asked out of turn.
pub trait Guard: Sized + 'static {
    /// What is handed out.
    type Guarded: 'static;

    /// Puts everything that can be asked under the canary.
    fn guard(self, canary: &Canary) -> Self::Guarded;
}

macro_rules! values {
    ($($value:ty),*) => {$(
        impl Guard for $value {
            type Guarded = Self;

            fn guard(self, _: &Canary) -> Self {
                self
            }
        }
    )*};
}
values!(
    (),
    bool,
    char,
    String,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    f32,
    f64,
    exact::Exact
);

impl<T: Guard> Guard for Vec<T> {
    type Guarded = Vec<T::Guarded>;

    fn guard(self, canary: &Canary) -> Self::Guarded {
        self.into_iter().map(|each| each.guard(canary)).collect()
    }
}

impl<T: Guard> Guard for Option<T> {
    type Guarded = Option<T::Guarded>;

    fn guard(self, canary: &Canary) -> Self::Guarded {
        self.map(|each| each.guard(canary))
    }
}

impl<A: Guard, B: Guard> Guard for (A, B) {
    type Guarded = (A::Guarded, B::Guarded);

    fn guard(self, canary: &Canary) -> Self::Guarded {
        (self.0.guard(canary), self.1.guard(canary))
    }
}

impl<Q: 'static, A: Guard> Guard for Queryable<Q, A> {
    type Guarded = GuardedQueryable<Q, A>;

    fn guard(self, canary: &Canary) -> Self::Guarded {
        GuardedQueryable {
            inner: self,
            canary: canary.clone(),
        }
    }
}

/// A queryable of ours that keeps to the turns of the OpenDP compositors above. Bound to its thread.
pub struct GuardedQueryable<Q, A> {
    inner: Queryable<Q, A>,
    canary: Canary,
}

impl<Q: 'static, A: Guard> GuardedQueryable<Q, A> {
    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// [`AskError::OutOfTurn`] if an OpenDP compositor above has moved on; otherwise as [`Queryable::ask`].
    pub fn ask(&self, query: Q) -> Result<A::Guarded, AskError> {
        let inner = self.inner.clone();
        let asked = self.canary.run(move || inner.ask(query));
        let answer = asked.map_err(|_| AskError::OutOfTurn)??;
        Ok(answer.guard(&self.canary))
    }
}

impl<Q, A> Clone for GuardedQueryable<Q, A> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            canary: self.canary.clone(),
        }
    }
}

impl<Q, A> fmt::Debug for GuardedQueryable<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guarded {:?}", self.inner)
    }
}

impl<D: Domain, MI: Metric, R: FilterRule> Guard for Session<D, MI, R> {
    type Guarded = GuardedSession<D, MI, R>;

    fn guard(self, canary: &Canary) -> Self::Guarded {
        GuardedSession {
            inner: self,
            canary: canary.clone(),
        }
    }
}

/// A session of ours that keeps to the turns of the OpenDP compositors above. Bound to its thread.
pub struct GuardedSession<D: Domain, MI: Metric, R: FilterRule> {
    inner: Session<D, MI, R>,
    canary: Canary,
}

impl<D: Domain, MI: Metric, R: FilterRule> GuardedSession<D, MI, R> {
    /// Launches a measurement.
    ///
    /// # Errors
    /// [`LaunchError::Unusable`] if an OpenDP compositor above has moved on, or [`LaunchError::Failed`] if it says so only
    /// after the launch; otherwise as [`Session::launch`].
    pub fn launch<A: Guard>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
    ) -> Result<A::Guarded, LaunchError> {
        let (session, measurement) = (self.inner.clone(), measurement.clone());
        let answer = in_turn(&self.canary, move || session.launch(&measurement))?;
        Ok(answer.guard(&self.canary))
    }

    /// Opens a session below this one, capped. See [`Session::nest_capped`].
    ///
    /// # Errors
    /// As there, and as [`launch`](Self::launch) if an OpenDP compositor above has moved on.
    pub fn nest_capped(
        &self,
        d_in: MI::Distance,
        limit: TotalLoss<R>,
    ) -> Result<Self, LaunchError> {
        let session = self.inner.clone();
        let nested = in_turn(&self.canary, move || session.nest_capped(d_in, limit))?;
        Ok(nested.guard(&self.canary))
    }

    /// What one more launch could cost. See [`Session::remaining`].
    ///
    /// # Errors
    /// As there.
    pub fn remaining(&self, d_in: &MI::Distance) -> Result<Option<ChildLoss<R>>, LaunchError> {
        self.inner.remaining(d_in)
    }

    /// How much of the cap has been spent. See [`Session::spent`].
    ///
    /// # Errors
    /// As there.
    pub fn spent(&self) -> Result<Option<Total<TotalLoss<R>>>, LaunchError> {
        self.inner.spent()
    }
}

fn in_turn<T: 'static>(
    canary: &Canary,
    job: impl FnOnce() -> Result<T, LaunchError> + 'static,
) -> Result<T, LaunchError> {
    canary.run(job).map_err(|no_turn| match no_turn {
        NoTurn::Undone => LaunchError::Unusable(AskError::OutOfTurn),
        NoTurn::Withheld => LaunchError::Failed(AskError::OutOfTurn),
    })?
}

impl<D: Domain, MI: Metric, R: Adaptive> GuardedSession<D, MI, R> {
    /// The loss of everything launched. See [`Session::privacy_loss`].
    ///
    /// # Errors
    /// As there.
    pub fn privacy_loss(&self, d_in: &MI::Distance) -> Result<Total<TotalLoss<R>>, LaunchError> {
        self.inner.privacy_loss(d_in)
    }
}

impl<D: Domain, MI: Metric, R: FilterRule> Clone for GuardedSession<D, MI, R> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            canary: self.canary.clone(),
        }
    }
}

impl<D: Domain, MI: Metric, R: FilterRule> fmt::Debug for GuardedSession<D, MI, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guarded {:?}", self.inner)
    }
}

impl<D: Domain, MI: Metric, R: FixedRule> Guard for Composition<D, MI, R> {
    type Guarded = GuardedComposition<D, MI, R>;

    fn guard(self, canary: &Canary) -> Self::Guarded {
        GuardedComposition {
            inner: self,
            canary: canary.clone(),
        }
    }
}

/// A running composition of ours that keeps to the turns of the OpenDP compositors above. Bound to its thread.
pub struct GuardedComposition<D: Domain, MI: Metric, R: FixedRule> {
    inner: Composition<D, MI, R>,
    canary: Canary,
}

impl<D: Domain, MI: Metric, R: FixedRule> GuardedComposition<D, MI, R> {
    /// Launches a measurement into a slot.
    ///
    /// # Errors
    /// [`LaunchError::Unusable`] if an OpenDP compositor above has moved on, or [`LaunchError::Failed`] if it says so only
    /// after the launch; otherwise as [`Composition::launch`].
    pub fn launch<A: Guard>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
    ) -> Result<A::Guarded, LaunchError> {
        let (composition, measurement) = (self.inner.clone(), measurement.clone());
        let answer = in_turn(&self.canary, move || composition.launch(&measurement))?;
        Ok(answer.guard(&self.canary))
    }

    /// The losses of the slots that are left, in order.
    pub fn left(&self) -> Vec<ChildLoss<R>> {
        self.inner.left()
    }
}

impl<D: Domain, MI: Metric, R: FixedRule> Clone for GuardedComposition<D, MI, R> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            canary: self.canary.clone(),
        }
    }
}

impl<D: Domain, MI: Metric, R: FixedRule> fmt::Debug for GuardedComposition<D, MI, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guarded {:?}", self.inner)
    }
}
