//! The live table: what was asked, answered, charged and left. Both analysts write to it.

use std::{
    fmt::Display,
    sync::{Mutex, PoisonError},
};

use odometry::exact::{Exact, Round};
use odometry::measures::{Basic, Epsilon, PureDp};
use odometry::odometer::{Measurement, Session, Space};

use crate::Problem;

/// A session in pure differential privacy.
pub type PureSession<S> = Session<S, Basic<PureDp>>;

/// The table of everything that is charged to one session.
pub struct Table<S: Space<Distance = u32>> {
    budget: PureSession<S>,
    /// What the chart shows. Also keeps lines apart.
    losses: Mutex<Vec<Losses>>,
}

/// The loss after some launch.
#[derive(Clone, Copy)]
pub struct Losses {
    /// Between surveys that differ in one record.
    pub at_one: f64,
    /// In two records.
    pub at_two: f64,
}

impl<S: Space<Distance = u32>> Table<S> {
    /// Begins a table, and prints its head.
    pub fn begin(budget: &PureSession<S>) -> Result<Self, Problem> {
        println!(
            "\n{:<13} {:<40} {:>43} {:>8} {:>8}",
            "who", "asked", "answered", "charged", "left"
        );
        let table = Self {
            budget: budget.clone(),
            losses: Mutex::new(Vec::new()),
        };
        table.note()?;
        Ok(table)
    }

    /// Launches a question in a session below the budget, and prints a line. A refusal is printed, too, and costs
    /// nothing.
    pub fn ask<T, A>(
        &self,
        who: &str,
        session: &PureSession<T>,
        asked: &str,
        question: &Measurement<T, PureDp, A>,
        show: impl FnOnce(&A) -> String,
    ) -> Result<Option<A>, Problem>
    where
        T: Space<Distance = u32>,
        A: 'static,
    {
        let cost = question.map().loss(&1)?;
        match session.launch(question) {
            Ok(answer) => {
                self.line(who, asked, &show(&answer), &cost)?;
                self.note()?;
                Ok(Some(answer))
            }
            Err(refusal) if !refusal.was_charged() => {
                let _lines = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
                println!("{who:<13} {asked:<40} {refusal}");
                Ok(None)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Prints a line for something that was answered.
    pub fn line(
        &self,
        who: &str,
        asked: &str,
        answered: &str,
        cost: &Epsilon,
    ) -> Result<(), Problem> {
        let _lines = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self
            .budget
            .remaining(1)?
            .into_loss()
            .unwrap_or(Epsilon::INFINITY);
        let (cost, left) = (
            short(cost.value(), Round::Up),
            short(left.value(), Round::Down),
        );
        println!("{who:<13} {asked:<40} {answered:>43} {cost:>8} {left:>8}");
        Ok(())
    }

    /// Notes the loss after a launch.
    fn note(&self) -> Result<(), Problem> {
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |d_in| -> Result<f64, Problem> {
            let loss = self.budget.privacy_loss(&d_in)?;
            Ok(loss.bound().value().to_f64(Round::Up))
        };
        losses.push(Losses {
            at_one: at(1)?,
            at_two: at(2)?,
        });
        Ok(())
    }

    /// The losses after each launch.
    pub fn losses(&self) -> Vec<Losses> {
        self.losses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A number in at most five decimals, rounded in this direction if it has more.
fn short(value: &Exact, round: Round) -> impl Display + use<> {
    let exact = value.to_string();
    if exact.len() <= 7 {
        return exact;
    }
    let scaled = value.to_f64(round) * 1e5;
    let whole = match round {
        Round::Up => scaled.ceil(),
        Round::Down => scaled.floor(),
    };
    format!("{:.5}", whole / 1e5)
}
