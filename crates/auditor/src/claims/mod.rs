//! Claims: does a system have the loss that somebody says it has? The verdict comes with its evidence.

mod approximate;
mod curves;
mod gaussian;
mod renyi;

use std::fmt::{self, Debug};

use measures::{Conversion, Measure};

use crate::{attack::Attack, coverage::Coverage, error::AuditError, report::Report};

/// What an audit says about a claim, and what that is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict<Q, A> {
    /// What was found.
    pub finding: Finding<Q, A>,
    /// What was looked at, and what was taken for granted.
    pub coverage: Coverage,
}

impl<Q, A> Verdict<Q, A> {
    /// Whether the claim holds for certain, within the [coverage](Self::coverage).
    pub fn holds(&self) -> bool {
        self.finding.holds()
    }

    /// The attack, if the claim was refuted.
    pub fn attack(&self) -> Option<&Attack<Q, A>> {
        self.finding.attack()
    }
}

impl<Q: Debug, A: Debug> fmt::Display for Verdict<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text of an attack ends its last line.
        let end = match self.finding {
            Finding::Refuted { .. } => "",
            _ => "\n",
        };
        write!(f, "{}{end}audited: {}", self.finding, self.coverage)
    }
}

/// What was found out about a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<Q, A> {
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

impl<Q, A> Finding<Q, A> {
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

    /// The first finding that does not hold, or else the last one.
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

impl<Q: Debug, A: Debug> fmt::Display for Finding<Q, A> {
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
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError>;
}

impl<Q, A> Report<Q, A> {
    /// Checks a claimed loss.
    ///
    /// # Errors
    /// As [`Claim::check`].
    pub fn claims(&self, loss: &impl Claim<Q, A>) -> Result<Verdict<Q, A>, AuditError> {
        Ok(Verdict {
            finding: loss.check(self)?,
            coverage: self.coverage().clone(),
        })
    }
}

impl<Q, A> Report<Q, A> {
    /// Checks a conversion on this system: if it has the loss `from`, it has what the conversion makes of it. Where it does
    /// not have `from` for certain, this says nothing.
    ///
    /// ```
    /// use odometry::auditor::{Input, audit};
    /// use odometry::measures::{Conversion, Epsilon, PureDp, Rho, RuleError, Zcdp, convert::PureToZcdp};
    /// use odometry::exact::{Exact, Round};
    /// use odometry::queryable::{Root, coins::{Bit, Probability}, machine};
    ///
    /// /// Takes ε²/8 for ε²/2.
    /// #[derive(Clone, Debug)]
    /// struct Eighth;
    /// impl Conversion for Eighth {
    ///     type From = PureDp;
    ///     type To = Zcdp;
    ///     fn from(&self) -> PureDp { PureDp }
    ///     fn to(&self) -> Zcdp { Zcdp }
    ///     fn convert(&self, loss: &Epsilon) -> Result<Rho, RuleError> {
    ///         Ok(Rho::new(loss.value().pow(2, Round::Up).div(&8u32.into(), Round::Up)))
    ///     }
    /// }
    ///
    /// let lie = Bit::new(Probability::new(1, 4)?);
    /// let build = |input: Input, root: &Root| {
    ///     let lie = lie.clone();
    ///     root.spawn(machine(move |(), scope| Ok(scope.draw(&lie)? ^ (input == Input::One))))
    /// };
    /// let report = audit(build).asking(1, |_| vec![()])?;
    /// assert!(report.converts(&Eighth, &"1.0987".parse()?)?.attack().is_some());
    /// // What does not hold here refutes no conversion.
    /// assert!(report.converts(&Eighth, &"0.5".parse()?)?.attack().is_none());
    /// assert!(report.converts(&PureToZcdp, &"1.5".parse()?)?.holds());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AuditError::Conversion`], and as [`Claim::check`].
    pub fn converts<C: Conversion>(
        &self,
        conversion: &C,
        from: &<C::From as Measure>::Loss,
    ) -> Result<Verdict<Q, A>, AuditError>
    where
        <C::From as Measure>::Loss: Claim<Q, A>,
        <C::To as Measure>::Loss: Claim<Q, A>,
    {
        let converted = conversion.convert(from).map_err(AuditError::Conversion)?;
        let hypothesis = self.claims(from)?;
        if hypothesis.holds() {
            return self.claims(&converted);
        }
        let evidence = format!("it is not certain that {from} holds, so {converted} need not");
        Ok(Verdict {
            finding: Finding::Undecided { evidence },
            ..hypothesis
        })
    }
}

fn no_guarantee<Q, A>() -> Finding<Q, A> {
    Finding::Holds {
        evidence: "the claim guarantees nothing".into(),
    }
}
