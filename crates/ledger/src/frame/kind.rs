//! The kinds of records, and their numbers in the header.

use super::{Flaw, MAX_BODY, MAX_CHECKPOINT};

/// The bit of a kind that a reader must understand: a program that does not know the kind refuses the record.
const MUST_UNDERSTAND: u8 = 1 << 7;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The first of a ledger: random bytes, so that no two ledgers have the same chain.
    Begin,
    /// Any event, in older versions: its body names it. It is never written.
    Event,
    /// The state of all accounts after everything before it.
    Checkpoint,
    /// A place is opened.
    Open,
    /// A launch is charged.
    Charge,
    /// An account halts.
    Halt,
    /// An account has another budget.
    Budget,
    /// A budget is proposed.
    ProposedBudget,
    /// A proposed budget is approved or rejected.
    DecidedBudget,
    /// A note on an earlier record.
    Note,
    /// The mark of a second run.
    SecondRun,
    /// One of a newer program, which does not have to be understood.
    Other(u8),
}

/// The numbers of kinds. 1 was [`Kind::Event`], and stays free.
const KINDS: [(u8, Kind); 10] = [
    (MUST_UNDERSTAND, Kind::Begin),
    (MUST_UNDERSTAND | 2, Kind::Checkpoint),
    (MUST_UNDERSTAND | 3, Kind::Open),
    (MUST_UNDERSTAND | 4, Kind::Charge),
    (MUST_UNDERSTAND | 5, Kind::Halt),
    (MUST_UNDERSTAND | 6, Kind::Budget),
    (MUST_UNDERSTAND | 7, Kind::ProposedBudget),
    (MUST_UNDERSTAND | 8, Kind::DecidedBudget),
    (9, Kind::Note),
    (MUST_UNDERSTAND | 10, Kind::SecondRun),
];

impl Kind {
    /// Its number in the header, with the bit. None for a kind that is not written.
    pub fn number(self) -> Option<u8> {
        if let Self::Other(number) = self {
            return (Self::of(number) == Ok(self)).then_some(number);
        }
        let known = KINDS.iter().find(|(_, kind)| *kind == self);
        known.map(|(number, _)| *number)
    }

    pub(super) fn of(number: u8) -> Result<Self, Flaw> {
        let known = KINDS.iter().find(|(known, _)| *known == number);
        if let Some((_, kind)) = known {
            return Ok(*kind);
        }
        let is_taken = |(known, _): &(u8, Self)| known & !MUST_UNDERSTAND == number;
        match number & MUST_UNDERSTAND != 0 || number == 1 || KINDS.iter().any(is_taken) {
            true => Err(Flaw::Kind { found: number }),
            false => Ok(Self::Other(number)),
        }
    }

    /// In versions 1 and 3.
    pub(super) const fn of_older(number: u8) -> Result<Self, Flaw> {
        match number {
            0 => Ok(Self::Begin),
            1 => Ok(Self::Event),
            2 => Ok(Self::Checkpoint),
            _ => Err(Flaw::Altered),
        }
    }

    pub(super) const fn longest(self) -> usize {
        match self {
            Self::Checkpoint => MAX_CHECKPOINT,
            _ => MAX_BODY,
        }
    }
}
