//! Claims: does a system have the loss that somebody says it has? The verdict comes with its evidence.

mod approximate;
mod curves;
mod gaussian;
mod normal;
mod renyi;

use std::fmt::{self, Debug};

use crate::{attack::Attack, audit::Report, error::AuditError};

/// What an audit says about a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<Q, A> {
    /// No adversary passes the claimed loss.
    Holds {
        /// What was found, and how far below the claim it is.
        evidence: String,
    },
    /// This adversary passes it.
    Refuted {
        /// The adversary.
        attack: Attack<Q, A>,
    },
    /// The claim is within the rounding of the true value, or the audit's method cannot tell.
    Undecided {
        /// What was found.
        evidence: String,
    },
}

impl<Q, A> Verdict<Q, A> {
    /// Whether the claim holds for certain.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds { .. })
    }

    /// The attack, if the claim was refuted.
    pub fn attack(&self) -> Option<&Attack<Q, A>> {
        match self {
            Self::Refuted { attack } => Some(attack),
            _ => None,
        }
    }

    /// The first verdict that does not hold, or else the last one.
    fn and(self, other: impl FnOnce() -> Result<Self, AuditError>) -> Result<Self, AuditError> {
        match self {
            Self::Refuted { .. } => Ok(self),
            Self::Holds { .. } => other(),
            Self::Undecided { .. } => match other()? {
                refuted @ Self::Refuted { .. } => Ok(refuted),
                _ => Ok(self),
            },
        }
    }
}

impl<Q: Debug, A: Debug> fmt::Display for Verdict<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds { evidence } => write!(f, "holds: {evidence}"),
            Self::Refuted { attack } => write!(f, "refuted: {attack}"),
            Self::Undecided { evidence } => write!(f, "undecided: {evidence}"),
        }
    }
}

/// A loss that an audit can check. Implement it for the losses of your own measure.
pub trait Claim<Q, A> {
    /// Whether the audited system has at most this loss.
    ///
    /// # Errors
    /// [`AuditError`] where the audit cannot say anything.
    fn check(&self, report: &Report<Q, A>) -> Result<Verdict<Q, A>, AuditError>;
}

impl<Q, A> Report<Q, A> {
    /// Checks a claimed loss.
    ///
    /// # Errors
    /// As [`Claim::check`].
    pub fn claims(&self, loss: &impl Claim<Q, A>) -> Result<Verdict<Q, A>, AuditError> {
        loss.check(self)
    }
}

fn no_guarantee<Q, A>() -> Verdict<Q, A> {
    Verdict::Holds {
        evidence: "the claim guarantees nothing".into(),
    }
}
