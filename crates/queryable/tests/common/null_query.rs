//! The null-query extension (\[VW21\] Def 2.4): what shows that ordered composition is no weaker.

use queryable::{AskError, Machine, Scope, machine};

/// A machine that ignores the query `None` and repeats its last answer (`None` before the first). An invalid query
/// changes nothing, so its error is not repeated.
///
/// With it, ordered composition simulates every order (\[VW21\] Lemma 2.5).
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
