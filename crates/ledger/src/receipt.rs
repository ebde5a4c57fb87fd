//! Where a record stands in the chain.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// The SHA-256 of a record and of everything before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub(crate) [u8; Digest::LEN]);

impl Digest {
    pub(crate) const LEN: usize = 32;

    /// What the first record comes after.
    pub(crate) const NONE: Self = Self([0; Self::LEN]);

    /// Its bytes.
    pub const fn bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The number of a record and its digest, as text `seq:digest`. It is what a launch gets for its charge, what an anchor
/// holds, and what the head of a ledger is: whoever keeps one can tell later whether the ledger still has everything up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Receipt {
    /// The number of the record. The first one, which every ledger begins with, has 0.
    pub seq: u64,
    /// The digest of the record, and so of all before it.
    pub digest: Digest,
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.digest)
    }
}

/// This text is no receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a receipt is a number, a colon and 64 hexadecimal digits in lower case")]
pub struct NoReceipt;

impl FromStr for Receipt {
    type Err = NoReceipt;

    /// Reads exactly what is written: one text per receipt.
    fn from_str(text: &str) -> Result<Self, NoReceipt> {
        let (seq, digits) = text.split_once(':').ok_or(NoReceipt)?;
        let mut digest = Digest::NONE;
        if !digits.is_ascii() || digits.len() != 2 * Digest::LEN {
            return Err(NoReceipt);
        }
        for (at, byte) in digest.0.iter_mut().enumerate() {
            let pair = &digits[2 * at..2 * at + 2];
            *byte = u8::from_str_radix(pair, 16).map_err(|_| NoReceipt)?;
        }
        let seq = seq.parse().map_err(|_| NoReceipt)?;
        let receipt = Self { seq, digest };
        (receipt.to_string() == text)
            .then_some(receipt)
            .ok_or(NoReceipt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_reads_back_and_nothing_else_does() {
        let receipt = Receipt {
            seq: 1_000_000,
            digest: Digest([0xa5; Digest::LEN]),
        };
        let text = receipt.to_string();
        assert_eq!(text, format!("1000000:{}", "a5".repeat(32)));
        assert_eq!(text.parse(), Ok(receipt));
        for wrong in [
            String::new(),
            text.replace(':', ""),
            text.replace('a', "A"),
            format!("+{text}"),
            format!("0{text}"),
            format!("{text}0"),
            text[..text.len() - 1].to_owned(),
            text.replacen("a5a5", "é+", 1),
            text.replacen("a5", "+5", 1),
        ] {
            assert_eq!(wrong.parse::<Receipt>(), Err(NoReceipt), "{wrong}");
        }
    }
}
