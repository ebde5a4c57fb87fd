//! Remembers what a map gave at the last few distances: OpenDP's maps are pure, and take longer than a charge.

use std::sync::{PoisonError, RwLock};

/// How many distances are remembered.
const KEPT: usize = 16;

/// The last answers of a function without side effects.
pub(crate) struct Memo<K, V>(RwLock<Vec<(K, V)>>);

impl<K: Clone + PartialEq, V: Clone> Memo<K, V> {
    pub(crate) fn new() -> Self {
        Self(RwLock::default())
    }

    /// The value at `key`, computed if it is not known. No lock is held meanwhile; errors are not remembered.
    pub(crate) fn get_or<E>(
        &self,
        key: &K,
        compute: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let known = |(known, value): &(K, V)| (known == key).then(|| value.clone());
        let found = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .find_map(known);
        if let Some(value) = found {
            return Ok(value);
        }
        let value = compute()?;
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = kept.iter().find_map(known) {
            return Ok(value);
        }
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((key.clone(), value.clone()));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_once_and_forgets_the_oldest() {
        let memo = Memo::new();
        let mut computed = 0;
        let mut ask = |key: usize| {
            memo.get_or(&key, || {
                computed += 1;
                Ok::<_, ()>(2 * key)
            })
        };
        for key in (0..KEPT + 1).chain(1..KEPT + 1) {
            assert_eq!(ask(key), Ok(2 * key));
        }
        assert_eq!(ask(0), Ok(0));
        assert_eq!(computed, KEPT + 2);
        assert_eq!(memo.get_or(&99, || Err("no")), Err("no"));
        assert_eq!(memo.get_or(&99, || Ok::<_, ()>(3)), Ok(3));
    }
}
