//! From handle form to message form: number the handles that answers contain.

use crate::{
    error::AskError,
    fixed::Fixed,
    handle::Queryable,
    sync::{Mutex, lock},
};

use super::Routed;

/// An answer that may contain handles, and what it looks like with numbers in their place.
pub trait Numbering: Sized {
    /// What the contained machines are asked.
    type Query: Fixed;
    /// The answer as a message: a number for each handle.
    type Message;

    /// Replaces each contained handle by the number that `number` gives it.
    fn number(self, number: &mut dyn FnMut(Queryable<Self::Query, Self>) -> usize)
    -> Self::Message;
}

/// A tree of machines, asked by messages: number 0 is the first machine, and every handle in an answer gets the next
/// number. It is on the analyst's side, holds no machine's lock, and can be shared between threads.
///
/// ```
/// use odometry::queryable::{AskError, Queryable, Root, Scope, compose::{Numbered, Numbering, Routed}, machine};
/// enum Answer { Value(u32), Child(Queryable<u32, Answer>) }
/// impl Numbering for Answer {
///     type Query = u32;
///     type Message = String;
///     fn number(self, number: &mut dyn FnMut(Queryable<u32, Self>) -> usize) -> String {
///         match self {
///             Answer::Value(value) => value.to_string(),
///             Answer::Child(child) => format!("#{}", number(child)),
///         }
///     }
/// }
/// let parent = Root::seeded([0; 32]).spawn(machine(|k: u32, scope: &mut Scope<'_>| {
///     scope.spawn(machine(move |x: u32, _| Ok(Answer::Value(k * x)))).map(Answer::Child)
/// }))?;
/// let tree = Numbered::new(parent);
/// assert_eq!(tree.ask(Routed { to: 0, query: 7 })?, "#1");
/// assert_eq!(tree.ask(Routed { to: 1, query: 6 })?, "42");
/// # Ok::<(), AskError>(())
/// ```
pub struct Numbered<A: Numbering> {
    handles: Mutex<Vec<Queryable<A::Query, A>>>,
}

impl<A: Numbering> Numbered<A> {
    /// The tree that grows from this machine.
    pub fn new(first: Queryable<A::Query, A>) -> Self {
        Self {
            handles: Mutex::new(vec![first]),
        }
    }

    /// Asks the machine with this number.
    ///
    /// # Errors
    /// [`AskError::InvalidQuery`] if nothing has this number yet, and what the machine says.
    pub fn ask(&self, Routed { to, query }: Routed<A::Query>) -> Result<A::Message, AskError> {
        let handle = lock(&self.handles).get(to).cloned();
        let handle =
            handle.ok_or_else(|| AskError::invalid(format!("nothing has number {to} yet")))?;
        let answer = handle.ask(query)?;
        let mut number = |handle| {
            let mut handles = lock(&self.handles);
            handles.push(handle);
            handles.len() - 1
        };
        Ok(answer.number(&mut number))
    }
}
