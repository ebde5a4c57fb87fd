//! The null-query extension (\[VW21\] Def 2.4).

use crate::{
    error::AskError,
    machine::{Machine, machine},
    scope::Scope,
};

/// A machine that ignores the query `None` and repeats its last answer (`None` before the first). An invalid query
/// changes nothing, so its error is not repeated.
///
/// With it, ordered composition simulates every order (\[VW21\] Lemma 2.5).
///
/// ```
/// use queryable::{Root, compose::null_query_extension, machine};
/// let q = Root::seeded([0; 32]).spawn(null_query_extension(machine(|x: u32, _| Ok(x + 1))))?;
/// assert_eq!((q.ask(None)?, q.ask(Some(1))?, q.ask(None)?), (None, Some(2), Some(2)));
/// # Ok::<(), queryable::AskError>(())
/// ```
pub fn null_query_extension<M>(
    mut inner: M,
) -> impl Machine<Query = Option<M::Query>, Answer = Option<M::Answer>>
where
    M: Machine,
    M::Answer: Clone + Send,
{
    let mut last: Result<Option<M::Answer>, AskError> = Ok(None);
    machine(move |query, scope: &mut Scope<'_>| {
        let Some(query) = query else {
            return last.clone();
        };
        let answer = inner.step(query, scope).map(Some);
        if !matches!(answer, Err(AskError::InvalidQuery(_))) {
            last = answer.clone();
        }
        answer
    })
}
