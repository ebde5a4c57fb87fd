//! What the experiments share: seeded numbers, and random interactive mechanisms.

use auditor::{Input, Report, audit};
use dashu_ratio::RBig;
use queryable::{
    AskError, Machine, Queryable, Root, Scope,
    coins::{Bit, Probability, Uniform},
    machine,
};

/// Seeded numbers below `n`.
pub struct Dice(Queryable<u64, u64>);

impl Dice {
    /// Dice that roll the same for the same seed.
    pub fn new(seed: u8) -> Result<Self, AskError> {
        let root = Root::seeded([seed; 32]);
        let dice = root.spawn(machine(|n: u64, scope: &mut Scope<'_>| {
            let die = Uniform::below(n).map_err(|why| AskError::failed(why.to_string()))?;
            scope.draw(&die)
        }))?;
        Ok(Self(dice))
    }

    /// A number below `n`.
    pub fn below(&self, n: u64) -> Result<u64, AskError> {
        self.0.ask(n)
    }
}

/// A mechanism of two rounds with one-bit messages: for each input ten probabilities of the answer 1, in hundredths:
/// two for the first answer, by query, and eight for the second, by first query, first answer and second query.
#[derive(Clone, Debug)]
pub struct TwoRounds([[u64; 10]; 2]);

impl TwoRounds {
    /// With probabilities between `least` and `100 − least`, in hundredths.
    pub fn roll(dice: &Dice, least: u64) -> Result<Self, AskError> {
        let mut hundredths = [[0; 10]; 2];
        for value in hundredths.iter_mut().flatten() {
            *value = least + dice.below(101 - 2 * least)?;
        }
        Ok(Self(hundredths))
    }

    /// The mechanism on an input.
    pub fn machine(&self, input: Input) -> impl Machine<Query = bool, Answer = bool> + 'static {
        let hundredths = self.0[input.index()];
        let mut first: Option<(bool, bool)> = None;
        machine(move |query: bool, scope: &mut Scope<'_>| {
            let place = match first {
                None => usize::from(query),
                Some((asked, answered)) => {
                    scope.halt();
                    2 + 4 * usize::from(asked) + 2 * usize::from(answered) + usize::from(query)
                }
            };
            let one = Probability::new(hundredths[place], 100)
                .map_err(|why| AskError::failed(why.to_string()))?;
            let answer = scope.draw(&Bit::new(one))?;
            first.get_or_insert((query, answer));
            Ok(answer)
        })
    }

    /// The probability of two answers to two queries.
    pub fn mass(&self, input: Input, history: [bool; 4]) -> f64 {
        let [q1, a1, q2, a2] = history.map(usize::from);
        let answer = |place: usize, answer: usize| {
            let one = self.0[input.index()][place] as f64 / 100.0;
            if answer == 1 { one } else { 1.0 - one }
        };
        answer(q1, a1) * answer(2 + 4 * q1 + 2 * a1 + q2, a2)
    }

    /// Its exact audit.
    pub fn audited(&self) -> Result<Report<bool, bool>, auditor::AuditError> {
        audit(|input, root: &Root| root.spawn(self.machine(input))).asking(2, |_| vec![false, true])
    }
}

/// A rational, for printing.
pub fn decimal(value: &RBig) -> f64 {
    value.to_f64().value()
}
