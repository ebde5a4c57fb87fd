//! What is written down: plain data, made from what the analyst's side asked for and never from data. Losses and distances are
//! their canonical exact text; rules, measures, metrics and conversions are their stable [names](measures::Name).

use std::fmt;

use measures::{Form, Name};
use serde::{Deserialize, Serialize};

use crate::{
    journal::{Fields, Receipt, path::Segment},
    measurement::Description,
};

/// An account, a partition or a compositor in the tree of a journal. They are numbered in the order in which the records that
/// open them are applied, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(pub u32);

/// One record of a journal: an event, and the optional fields that are stated with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The event.
    pub event: Event,
    /// Optional statements about it.
    pub fields: Fields,
}

impl<E: Into<Event>> From<E> for Record {
    fn from(event: E) -> Self {
        Self {
            event: event.into(),
            fields: Fields::default(),
        }
    }
}

/// Something that happened to an account, or is stated about an earlier record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Event {
    /// A place is opened for the first time.
    Open(Opening),
    /// A launch was charged to all accounts on the way.
    Charge(ChargeRecord),
    /// An account refuses everything from now on.
    Halt(Halt),
    /// An account has another budget from now on.
    Budget(NewBudget),
    /// Another budget was proposed for an account. Nothing changes until the proposal is decided.
    ProposedBudget(NewBudget),
    /// A proposed budget was approved or rejected.
    DecidedBudget(BudgetDecision),
    /// A note on an earlier record.
    Note(Note),
    /// A charge that was made before is about to run for the second and last time.
    SecondRun(SecondRun),
    /// An event of a newer program, which does not have to be understood. It changes nothing here.
    #[serde(skip)]
    Unknown(UnknownEvent),
}

impl Event {
    /// The earlier record that it refers to.
    pub fn refers_to(&self) -> Option<&Receipt> {
        match self {
            Self::Note(Note { on: receipt, .. })
            | Self::SecondRun(SecondRun { of: receipt, .. }) => Some(receipt),
            _ => None,
        }
    }
}

macro_rules! events {
    ($($variant:ident($event:ty)),* $(,)?) => {$(
        impl From<$event> for Event {
            fn from(event: $event) -> Self {
                Self::$variant(event)
            }
        }
    )*};
}

events! {
    Open(Opening),
    Charge(ChargeRecord),
    Halt(Halt),
    Budget(NewBudget),
    DecidedBudget(BudgetDecision),
    Note(Note),
    SecondRun(SecondRun),
    Unknown(UnknownEvent),
}

/// The end of an account: of the halting form after a refusal, or by the custodian.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Halt {
    /// The account.
    pub account: Place,
    /// The custodian's reason. None if the account halted at a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A decision on the budget that was proposed last for an account.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetDecision {
    /// The change that was proposed: all of it, so that nothing else can be approved.
    pub change: NewBudget,
    /// Is it approved? Then the account has this budget from now on.
    pub approved: bool,
}

/// A note on an earlier record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The record.
    pub on: Receipt,
    /// One line of text.
    pub text: String,
}

/// The mark of a second run: durable before it begins. There is at most one for each charge.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondRun {
    /// The account that was launched into.
    pub account: Place,
    /// The charge.
    pub of: Receipt,
}

/// An event of a newer program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownEvent {
    /// Its kind, as in the record.
    pub kind: u8,
    /// Its body.
    pub body: Vec<u8>,
}

/// A place, and what it counts in. Opening it again means the same place, and the same terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The place above it; none for a root.
    pub parent: Option<Place>,
    /// Its own part of the path. No two places with the same parent have the same.
    pub segment: Segment,
    /// What it counts in.
    pub terms: Terms,
}

/// What a place counts in: all of it must be the same when it is opened again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Terms {
    /// An account.
    Account(AccountTerms),
    /// A partition of an account's data. Its parts are the accounts below it.
    Partition(PartitionTerms),
    /// A compositor that was launched.
    Compositor(CompositorTerms),
}

/// The terms of an account.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountTerms {
    /// How it hangs below its parent.
    pub relation: Relation,
    /// Its rule.
    pub rule: Name,
    /// The measure of the losses that it is charged.
    pub measure: Name,
    /// The metric of its distances.
    pub metric: Name,
    /// The distances at which charges are written down: that of the cap, or what those above become here.
    pub distances: Vec<String>,
    /// Its budget, if it has one: at the first distance.
    pub budget: Option<String>,
    /// Does it halt at the first refusal?
    pub halting: bool,
    /// How many different measurements it lists.
    pub quota: u32,
    /// Is only its newest launch answered?
    pub sequential: bool,
    /// How many messages a launch answers at the most, where communication must be finite. Not in records of the first version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
}

/// How an account hangs below its parent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Relation {
    /// It is a root.
    Root,
    /// On the same data, in the same measure.
    Nested,
    /// In another measure. What it is charged is converted, and written down above as it was converted.
    Converted,
    /// On data after a transformation.
    Transformed,
    /// On one part of a partition.
    Part,
    /// A filter that was launched: its budget was charged above in full, and its launches are not charged there.
    Reserved,
}

/// The terms of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionTerms {
    /// In how many parts a record is at the most.
    pub most: u32,
    /// How many units a step of distance changes in all parts together.
    pub factor: u32,
}

/// The terms of a compositor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompositorTerms {
    /// Its rule.
    pub rule: Name,
    /// The measure of its slots.
    pub measure: Name,
    /// The metric of its distance.
    pub metric: Name,
    /// The distance of its slots' losses.
    pub d_in: String,
    /// The losses of its slots, in order.
    pub slots: Vec<String>,
    /// Are they taken in any order?
    pub in_any_order: bool,
    /// As [`AccountTerms::messages`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
}

/// A launch, charged to every account on the way to the root or to a reserved filter: plain data. Its receipt is that of the
/// record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChargeRecord {
    /// What was launched.
    pub description: Description,
    /// The analyst's name for this launch, which is never charged or run twice.
    pub key: Option<String>,
    /// One for each account, the leaf's first.
    pub postings: Vec<Posting>,
    /// The account of the filter, or the compositor, that was launched. Its parent is the leaf's account.
    pub opens: Option<Opening>,
}

/// What one account is charged for a launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Posting {
    /// The account, or the compositor.
    pub account: Place,
    /// What it is charged.
    pub price: Posted,
}

/// The price of a launch for one account.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Posted {
    /// The launch reads the account's data.
    Direct {
        /// The form of the map; what is only a function is recorded at the distances.
        form: Form<String, String>,
        /// The loss at each of the account's distances.
        losses: Vec<String>,
    },
    /// The launch reads a part of the account's data.
    Part {
        /// The parts that it is in, the outermost first.
        path: Vec<Step>,
        /// The form of the map in the innermost part, by the number of its units.
        form: Form<String, String>,
        /// For each of the account's distances, the loss at each number of units in the innermost part.
        losses: Vec<Vec<String>>,
    },
    /// The launch takes a slot of a compositor.
    Slot {
        /// Its number among the slots as they were given.
        slot: u32,
    },
}

/// One partition on the way to the data that a launch reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The partition.
    pub partition: Place,
    /// The part, an account below the partition.
    pub part: Place,
    /// For each of the account's distances: how many units all parts together can change by, for each size of change above.
    pub units: Vec<Vec<u32>>,
    /// The number of units is the distance above times this, if it is that simple.
    pub factor: Option<u32>,
}

/// An account's new budget.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewBudget {
    /// The account.
    pub account: Place,
    /// Its budget before.
    pub old: String,
    /// Its budget from now on.
    pub new: String,
    /// Why, in the words of whoever changed it.
    pub reason: String,
    /// What can be claimed from now on.
    pub guarantee: Guarantee,
}

/// What can be claimed of an account after its budget was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Guarantee {
    /// The budget was lowered: the account only stops earlier, and what was claimed before still holds.
    Stands,
    /// The budget was raised, or moved aside, in view of answers: there is no filter's guarantee for a budget that was fixed in
    /// advance any more, but an odometer's. What was spent is what was lost.
    Odometer,
}

impl ChargeRecord {
    /// The account that was launched into.
    pub fn account(&self) -> Option<Place> {
        self.postings.first().map(|posting| posting.account)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
