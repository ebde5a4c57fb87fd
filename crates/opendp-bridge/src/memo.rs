//! Remembers what a map gave at the first few distances: OpenDP's maps are pure, and take longer than a charge. What is
//! remembered was promised, so every object that is built later is held to it.

use std::sync::{
    PoisonError, RwLock,
    atomic::{AtomicUsize, Ordering},
};

/// How many distances are remembered. Later ones are asked each time.
const KEPT: usize = 256;

/// The first answers of a function without side effects, in order.
pub(crate) struct Memo<K, V> {
    known: RwLock<Vec<(K, V)>>,
    /// How many that are, to be read without a lock.
    len: AtomicUsize,
}

impl<K: Clone + PartialEq, V: Clone> Memo<K, V> {
    pub(crate) fn new() -> Self {
        Self {
            known: RwLock::default(),
            len: AtomicUsize::new(0),
        }
    }

    /// The value at `key`, computed if it is not known. No lock is held meanwhile; errors are not remembered.
    pub(crate) fn get_or<E>(
        &self,
        key: &K,
        compute: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let find = |known: &[(K, V)]| {
            let at_key = known.iter().find(|(known, _)| known == key);
            at_key.map(|(_, value)| value.clone())
        };
        let found = find(&self.known.read().unwrap_or_else(PoisonError::into_inner));
        if let Some(value) = found {
            return Ok(value);
        }
        let value = compute()?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = find(&known) {
            return Ok(value);
        }
        if known.len() < KEPT {
            known.push((key.clone(), value.clone()));
            self.len.store(known.len(), Ordering::Release);
        }
        Ok(value)
    }

    /// How many are known.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// What came after the first few.
    pub(crate) fn after(&self, few: usize) -> Vec<(K, V)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(few..).unwrap_or_default().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_once_and_keeps_the_first() {
        let memo = Memo::new();
        let mut computed = 0;
        let mut ask = |key: usize| {
            memo.get_or(&key, || {
                computed += 1;
                Ok::<_, ()>(2 * key)
            })
        };
        for key in (0..KEPT + 1).chain(0..KEPT + 1) {
            assert_eq!(ask(key), Ok(2 * key));
        }
        assert_eq!((computed, memo.len()), (KEPT + 2, KEPT));
        assert_eq!(memo.after(KEPT - 1), [(KEPT - 1, 2 * KEPT - 2)]);
        assert!(memo.after(KEPT + 7).is_empty());

        let memo = Memo::new();
        assert_eq!(memo.get_or(&99, || Err("no")), Err("no"));
        assert_eq!(memo.get_or(&99, || Ok::<_, ()>(3)), Ok(3));
    }
}
