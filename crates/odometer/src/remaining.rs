//! What remains for one more launch, and who says so.

use std::{fmt, sync::Arc};

use measures::Loss;

/// What one more launch may cost, as far as it is known: what [`Session::remaining`](crate::Session::remaining) answers.
///
/// Shown, it is rounded down, so that what is shown is admitted when it is typed back (decimals of up to 64 places are).
/// It compares with an `Option` of the loss.
///
/// ```
/// # use odometry::measures::{Basic, PrivacyMap, PureDp};
/// # use odometry::odometer::{Measurement, Odometer, Records};
/// # let records = Records::<i64>::new();
/// let session = Odometer::new(records, Basic::new(PureDp)).named("team red").filter(1, "1")?.invoke(vec![1, 2, 3])?;
/// let left = session.remaining(1)?;
/// assert_eq!(left.to_string(), "1 is left in team red");
/// assert_eq!(left.text().as_deref(), Some("1"));
/// assert_eq!(left, Some("1".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Remaining<L> {
    left: Left<L>,
    /// Accounts with caps that count differently: in another measure, or at another distance.
    others: Vec<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Left<L> {
    Unlimited,
    UpTo(L, Arc<str>),
    /// Nothing is admitted any more, or the rule cannot tell.
    Unknown(Arc<str>),
}

impl<L: Loss> Remaining<L> {
    /// Under no cap.
    pub(crate) const fn unlimited() -> Self {
        Self::new(Left::Unlimited)
    }

    const fn new(left: Left<L>) -> Self {
        let others = Vec::new();
        Self { left, others }
    }

    /// What the rule of a capped account says.
    pub(crate) fn under(account: &Arc<str>, left: Option<L>) -> Self {
        let account = Arc::clone(account);
        Self::new(match left {
            Some(loss) => Left::UpTo(loss, account),
            None => Left::Unknown(account),
        })
    }

    /// Under another account's cap as well, which counts differently.
    pub(crate) fn beside(mut self, account: &Arc<str>) -> Self {
        self.others.push(Arc::clone(account));
        self
    }

    /// Under these caps and those: the smaller rest, or this one if they cannot be compared.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.others.extend(other.others);
        self.left = match (self.left, other.left) {
            (Left::Unlimited, left) | (left, Left::Unlimited) => left,
            (Left::Unknown(account), _) | (_, Left::Unknown(account)) => Left::Unknown(account),
            (Left::UpTo(one, at), Left::UpTo(other, above)) => {
                if other.at_most(&one) {
                    Left::UpTo(other, above)
                } else {
                    if !one.at_most(&other) {
                        self.others.push(above);
                    }
                    Left::UpTo(one, at)
                }
            }
        };
        self
    }

    /// All accounts on the way whose caps were looked at.
    pub(crate) fn accounts(self) -> Vec<Arc<str>> {
        let mut accounts = self.others;
        match self.left {
            Left::Unlimited => {}
            Left::UpTo(_, account) | Left::Unknown(account) => accounts.push(account),
        }
        accounts
    }

    /// The largest loss that one more launch could have, rounded down. `None` if no cap at this distance limits it, or if
    /// one does and admits nothing any more, or its rule cannot tell ([`is_unlimited`](Self::is_unlimited) tells which).
    pub fn loss(&self) -> Option<&L> {
        match &self.left {
            Left::UpTo(loss, _) => Some(loss),
            Left::Unlimited | Left::Unknown(_) => None,
        }
    }

    /// As [`loss`](Self::loss), itself.
    pub fn into_loss(self) -> Option<L> {
        match self.left {
            Left::UpTo(loss, _) => Some(loss),
            Left::Unlimited | Left::Unknown(_) => None,
        }
    }

    /// The largest loss as text, rounded down: what can be typed back.
    pub fn text(&self) -> Option<String> {
        self.loss().map(Loss::shown_down)
    }

    /// The account that has the least left, or admits nothing, or cannot tell; `None` if there is no cap.
    pub fn account(&self) -> Option<&str> {
        match &self.left {
            Left::UpTo(_, account) | Left::Unknown(account) => Some(account),
            Left::Unlimited => None,
        }
    }

    /// Is there no cap that counts at this distance in this measure?
    pub fn is_unlimited(&self) -> bool {
        matches!(self.left, Left::Unlimited)
    }

    /// The accounts on the way to the root whose caps count at another distance or in another measure: they may admit less,
    /// and what they would is not known here.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(|account| &**account)
    }

    /// The same in another type of loss.
    pub(crate) fn map<L2>(self, map: impl FnOnce(L) -> L2) -> Remaining<L2> {
        let left = match self.left {
            Left::Unlimited => Left::Unlimited,
            Left::UpTo(loss, account) => Left::UpTo(map(loss), account),
            Left::Unknown(account) => Left::Unknown(account),
        };
        let others = self.others;
        Remaining { left, others }
    }
}

impl<L: Loss> PartialEq<Option<L>> for Remaining<L> {
    fn eq(&self, other: &Option<L>) -> bool {
        self.loss() == other.as_ref()
    }
}

impl<L: Loss> fmt::Display for Remaining<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.left {
            Left::Unlimited => f.write_str("no cap limits it")?,
            Left::UpTo(loss, account) => write!(f, "{} is left in {account}", loss.shown_down())?,
            Left::Unknown(account) => write!(f, "{account} admits nothing more, or cannot tell")?,
        }
        match self.others.as_slice() {
            [] => Ok(()),
            others => write!(
                f,
                "; not counting {}, which counts differently",
                others.join(", ")
            ),
        }
    }
}
