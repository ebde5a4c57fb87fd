//! A tree of ChaCha20 streams. A key's stream 0 is its owner's own randomness; the first 32 bytes of stream `n + 1`
//! are the key of child `n`.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// The key of one machine's streams.
pub(crate) type Key = [u8; 32];

/// One machine's randomness, derived when it is first needed.
pub(crate) enum Stream {
    Unborn { parent: Key, number: u64 },
    Keyed(Key),
    Flowing(Key, Box<ChaCha20Rng>),
}

impl Stream {
    pub(crate) fn child(parent: Key, number: u64) -> Self {
        Self::Unborn { parent, number }
    }

    /// The machine's own key.
    pub(crate) fn key(&mut self) -> Key {
        match self {
            Self::Keyed(key) | Self::Flowing(key, _) => *key,
            Self::Unborn { parent, number } => {
                let key = derive(*parent, *number);
                *self = Self::Keyed(key);
                key
            }
        }
    }

    /// The machine's own random bits.
    pub(crate) fn bits(&mut self) -> &mut dyn Rng {
        if !matches!(self, Self::Flowing(..)) {
            let key = self.key();
            *self = Self::Flowing(key, Box::new(ChaCha20Rng::from_seed(key)));
        }
        match self {
            Self::Flowing(_, bits) => bits,
            _ => unreachable!("the stream was started just above"),
        }
    }
}

fn derive(parent: Key, number: u64) -> Key {
    let mut stream = ChaCha20Rng::from_seed(parent);
    stream.set_stream(number.wrapping_add(1));
    let mut key = Key::default();
    stream.fill_bytes(&mut key);
    key
}
