//! What all launches amount to at any whole distance, as far as their maps grow with the distance or with its square: the
//! sums of their losses at one, times the distance or its square. So a question at a new distance asks only the other maps.

use std::mem;

use measures::{Distance as _, Form, Loss as _, Measure, Metric, Tallied, Tally};

use crate::{
    account::Account,
    account::bill::{Bill, Price},
    account::launches::Position,
    account::tallies::{Alike, Tallies},
    error::LaunchError,
    sync::{Mutex, lock},
};

/// So many runs of other maps are kept in any case, and one of so many of all.
const FEW: usize = 1024;
const SHARE: usize = 8;

pub(super) struct Scales<T>(Mutex<Known<T>>);

enum Known<T> {
    /// Nobody has asked yet.
    Nothing,
    Sums(Box<Sums<T>>),
    /// Somebody is at it, or it was of no use: the list is read.
    Taken,
}

struct Sums<T> {
    linear: T,
    quadratic: T,
    /// The runs of all other maps.
    others: Vec<(u32, u64)>,
    read: Position,
    runs: usize,
    launched: u64,
}

/// What was charged at a distance, and how far the list was read for it.
pub(super) struct Scaled<T> {
    pub(super) tallies: Tallies<T>,
    pub(super) read: Position,
    pub(super) launched: u64,
}

impl<T: Tally> Scales<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Known::Nothing))
    }

    fn take(&self, zero: &T) -> Option<Box<Sums<T>>> {
        match mem::replace(&mut *lock(&self.0), Known::Taken) {
            Known::Nothing => Some(Box::new(Sums::new(zero))),
            Known::Sums(sums) => Some(sums),
            Known::Taken => None,
        }
    }

    fn put_back(&self, sums: Box<Sums<T>>) {
        *lock(&self.0) = Known::Sums(sums);
    }
}

/// The distance and its square, if they are whole and not too large.
fn powers<MI: Metric>(d_in: &MI::Distance) -> Option<(u64, u64)> {
    let number = d_in.as_number()?.to_rational()?;
    let whole = number.denominator().is_one();
    let n = whole.then(|| u64::try_from(number.numerator()).ok())??;
    Some((n, n.checked_mul(n)?))
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// What was charged up to some moment after the call, if the sums know it.
    pub(super) fn scaled(
        &self,
        d_in: &MI::Distance,
        until: u64,
    ) -> Result<Option<Scaled<R::Tally>>, LaunchError> {
        let Some((n, square)) = powers::<MI>(d_in) else {
            return Ok(None);
        };
        let taken = self.ruled(|| {
            self.zero.times(1)?;
            self.scales.take(&self.zero)
        })?;
        let Some(mut sums) = taken else {
            return Ok(None);
        };
        // Whatever fails or panics here takes the sums with it, and the list is read from then on.
        if !self.catch_up(&mut sums, until)? {
            return Ok(None);
        }
        let Some(tallies) = self.ruled(|| sums.at(n, square))? else {
            return Ok(None);
        };
        let mut scaled = Scaled {
            tallies: Tallies::new(tallies),
            read: sums.read,
            launched: sums.launched,
        };
        let others = sums.others.clone();
        self.scales.put_back(sums);
        let mut alike = Alike::default();
        for (number, count) in others {
            let bill = self.busy.book().launches.bill(number).clone();
            let quote = bill.quoted(d_in)?;
            self.ruled(|| scaled.tallies.absorb(&quote, count, &self.zero, &mut alike))??;
        }
        Ok(Some(scaled))
    }

    /// Reads what is new. Says whether the sums are of use.
    fn catch_up(&self, sums: &mut Sums<R::Tally>, until: u64) -> Result<bool, LaunchError> {
        while sums.launched < until {
            let batch = self.batch(sums.read, |_| false);
            sums.runs += batch.runs.len();
            for ((_, bill), (number, count)) in batch.unknown.into_iter().zip(batch.runs) {
                sums.launched += count;
                if !self.ruled(|| sums.absorb(&bill, count))? {
                    sums.others.push((number, count));
                }
            }
            sums.read = batch.to;
            if sums.others.len() > FEW.max(sums.runs / SHARE) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<T: Tally> Sums<T> {
    fn new(zero: &T) -> Self {
        Self {
            linear: zero.clone(),
            quadratic: zero.clone(),
            others: Vec::new(),
            read: Position::default(),
            runs: 0,
            launched: 0,
        }
    }

    /// What those launches amount to that are in the sums.
    fn at(&self, n: u64, square: u64) -> Option<T> {
        let mut sum = self.linear.times(n)?;
        sum.merge(&self.quadratic.times(square)?);
        Some(sum)
    }

    /// Counts `n` launches, if the bill is a multiple of the distance or of its square.
    fn absorb<MI: Metric, M: Measure<Loss = T::Loss>>(
        &mut self,
        bill: &Bill<MI, M>,
        n: u64,
    ) -> bool {
        let Price::Direct(map) = bill.price_of() else {
            return false;
        };
        let (sum, at_one) = match map.form() {
            Form::Linear(at_one) => (&mut self.linear, at_one),
            Form::Quadratic(at_one) => (&mut self.quadratic, at_one),
            _ => return false,
        };
        // What is rounded at one would be rounded otherwise elsewhere.
        let whole = map.measure().check(at_one).is_ok() && at_one.clone().on_grid() == *at_one;
        if whole {
            sum.absorb(at_one, n);
        }
        whole
    }
}
