//! Questions as data, and the measurements that they are: in the measure of the tree in which they are asked.

use std::{error::Error, fmt};

use odometry::measures::convert::{PureToApprox, PureToZcdp};
use odometry::mechanisms::{
    BuildError,
    additive::{Clamp, count_spending, histogram_spending, sum_spending},
    selection::{Scores, exponential_for_epsilon, exponential_for_rho},
    sparse::{Above, Sensitivity, SparseVector},
    spend::{Spend, epsilon, epsilon_delta, rho},
};
use odometry::odometer::AnyPlan;
use odometry::prelude::*;
use serde::Deserialize;

/// Age, district, income.
#[derive(Clone, Copy)]
pub struct Person {
    age: u8,
    district: usize,
    income: i64,
}

pub type People = Records<Person>;

const DISTRICTS: usize = 7;

/// Ten thousand people, without a random number.
pub fn population() -> Vec<Person> {
    let person = |i: usize| Person {
        age: ((i * 37 % 53) + (i * 71 % 47)) as u8,
        district: i * i % 11 % DISTRICTS,
        income: (i * 7919 % 6000) as i64,
    };
    (0..10_000).map(person).collect()
}

/// One question of the list.
#[derive(Deserialize)]
pub struct Row {
    /// Whose account pays.
    pub who: String,
    /// What it may cost: ρ under zCDP, ε otherwise.
    spend: String,
    #[serde(flatten)]
    ask: Ask,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
enum Ask {
    Count { over: u8 },
    Ages { width: u8 },
    Incomes { most: i64 },
    LargestDistrict,
    CrowdedAges { positives: u32 },
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} asks for {:?} at {}", self.who, self.ask, self.spend)
    }
}

/// A measurement whose measure and answer nobody needs to know any more.
pub trait Question {
    fn plan(&self, plan: &mut AnyPlan<People>) -> Result<Option<AnyLoss>, LaunchError>;
    fn ask(&self, session: &AnySession<People>) -> Result<String, LaunchError>;
}

struct Shown<M: Measure, A, F> {
    measurement: Measurement<People, M, A>,
    show: F,
}

impl<M: Measure, A: 'static, F: Fn(A) -> String> Question for Shown<M, A, F> {
    fn plan(&self, plan: &mut AnyPlan<People>) -> Result<Option<AnyLoss>, LaunchError> {
        plan.launch(&self.measurement)
    }

    fn ask(&self, session: &AnySession<People>) -> Result<String, LaunchError> {
        session.launch(&self.measurement).map(&self.show)
    }
}

type Asked = Result<Box<dyn Question>, Box<dyn Error>>;

fn shown<M: Measure, A: 'static>(
    measurement: Measurement<People, M, A>,
    show: impl Fn(A) -> String + 'static,
) -> Asked {
    Ok(Box::new(Shown { measurement, show }))
}

impl Row {
    /// The question in this measure. What has no mechanism there is asked in another one, and its loss converted.
    pub fn question(&self, measure: &AnyMeasure) -> Asked {
        let spend = self.spend.as_str();
        match (measure, &self.ask) {
            (AnyMeasure::Pure(_), Ask::LargestDistrict) => shown(largest(spend)?, district),
            (AnyMeasure::Pure(_), Ask::CrowdedAges { positives }) => {
                shown(crowded(spend, *positives)?, ages)
            }
            (AnyMeasure::Pure(_), _) => self.noisy(epsilon(spend)),
            (AnyMeasure::Approx(_), Ask::LargestDistrict) => {
                shown(largest(spend)?.convert(PureToApprox), district)
            }
            (AnyMeasure::Approx(_), Ask::CrowdedAges { positives }) => {
                shown(crowded(spend, *positives)?.convert(PureToApprox), ages)
            }
            (AnyMeasure::Approx(_), _) => self.noisy(epsilon_delta(spend, "1e-9")),
            (AnyMeasure::Zcdp(_), Ask::LargestDistrict) => {
                let largest = exponential_for_rho(People::new(), inhabitants()?, spend)?;
                shown(largest, district)
            }
            (AnyMeasure::Zcdp(_), Ask::CrowdedAges { positives }) => {
                shown(crowded(spend, *positives)?.convert(PureToZcdp), ages)
            }
            (AnyMeasure::Zcdp(_), _) => self.noisy(rho(spend)),
            _ => Err(format!("{self}: not in the measure {measure}").into()),
        }
    }

    /// Numbers with noise.
    fn noisy<L: Spend>(&self, loss: L) -> Asked {
        let people = People::new();
        match self.ask {
            Ask::Count { over } => {
                let count = count_spending(people, loss, move |person| person.age > over)?;
                shown(count, |count| format!("about {count}"))
            }
            Ask::Incomes { most } => {
                let sum = sum_spending(people, loss, Clamp::new(0, most)?, |person| person.income)?;
                shown(sum, |sum| format!("about {sum}"))
            }
            Ask::Ages { width } => {
                let width = width.max(1);
                let bins = usize::from(100 / width);
                let bin = move |person: &Person| usize::from(person.age / width);
                let ages = histogram_spending(people, loss, bins, bin)?;
                shown(ages, |ages| format!("{ages:?}"))
            }
            Ask::LargestDistrict | Ask::CrowdedAges { .. } => Err("no noisy number".into()),
        }
    }
}

/// How many people live in each district.
fn inhabitants() -> Result<Scores<impl Fn(&Vec<Person>, usize) -> i64>, BuildError> {
    Scores::new(DISTRICTS, 1, |people: &Vec<Person>, district| {
        let there = people.iter().filter(|person| person.district == district);
        there.count() as i64
    })
}

fn largest(epsilon: &str) -> Result<Measurement<People, PureDp, usize>, Box<dyn Error>> {
    let scores = inhabitants()?;
    Ok(exponential_for_epsilon(People::new(), scores, epsilon)?)
}

fn district(number: usize) -> String {
    format!("district {number}")
}

/// "Are more than so many people of this age?", asked again and again.
type Crowded = Queryable<Above<u8>, bool>;

fn crowded(
    epsilon: &str,
    positives: u32,
) -> Result<Measurement<People, PureDp, Crowded>, Box<dyn Error>> {
    let sensitivity = Sensitivity::of_counts::<SymmetricDistance>();
    let sparse = SparseVector::for_epsilon(epsilon, sensitivity, positives)?;
    let of_age = |people: &Vec<Person>, age: &u8| {
        let those = people.iter().filter(|person| person.age == *age);
        those.count() as i64
    };
    Ok(sparse.measurement(People::new(), sensitivity, of_age))
}

/// The crowded ages: an interactive answer is asked as any other.
fn ages(crowded: Crowded) -> String {
    let above = |age: &u8| {
        crowded.ask(Above {
            query: *age,
            threshold: 150,
        }) == Ok(true)
    };
    let found: Vec<u8> = (0..100).step_by(7).filter(above).collect();
    format!("among the ages 0, 7, 14, …, above 150 are {found:?}")
}
