//! The list of launches as JSON, read by an accountant who knows nothing but the text: every loss can be computed again from
//! the sensitivity and the noise that stand beside it.

use odometry::exact::Round;
use odometry::mechanisms::additive::{Clamp, count_spending, histogram_spending, sum_spending};
use odometry::mechanisms::spend::{Spend, epsilon, rho};
use odometry::prelude::*;
use serde_json::Value;

type Ages = Records<u32, ChangeOneDistance>;

/// A count, three sums and a histogram, in one measure.
fn launch_all<L, M>(measure: M, spend: impl Fn(&'static str) -> L) -> Value
where
    M: odometry::measures::Additive<Loss: serde::Serialize>,
    L: Spend<Noise: odometry::mechanisms::noise::Noise<Measure = M>>,
{
    let ages: Ages = Records::replaced();
    let session = Odometer::new(ages, Basic::new(measure)).open(vec![31, 17, 64]);
    let session = session.unwrap();
    let count = count_spending(ages, spend("0.3"), |age| *age > 30).unwrap();
    let bounds = Clamp::new(-7, 100).unwrap();
    let sum = sum_spending(ages, spend("0.02"), bounds, |age| i64::from(*age)).unwrap();
    let bins = histogram_spending(ages, spend("0.125"), 10, |age| *age as usize / 10).unwrap();
    session.launch(&count.named("over thirty")).unwrap();
    for _ in 0..3 {
        session.launch(&sum).unwrap();
    }
    session.launch(&bins).unwrap();
    serde_json::from_str(&serde_json::to_string(&session.ledger(1).unwrap()).unwrap()).unwrap()
}

fn parameter<'a>(charge: &'a Value, name: &str) -> Option<&'a str> {
    let parameters = charge["description"]["parameters"].as_array()?;
    let found = parameters.iter().find(|parameter| parameter[0] == name)?;
    found[1].as_str()
}

/// A decimal or a fraction, as numerator and denominator.
fn fraction(text: &str) -> (Exact, Exact) {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    (above.parse().unwrap(), below.parse().unwrap())
}

/// Everything in these sums is short, so nothing is rounded.
fn product(a: &Exact, b: &Exact) -> Exact {
    assert_eq!(a.mul(b, Round::Up), a.mul(b, Round::Down));
    a.mul(b, Round::Up)
}

fn names_and_counts(ledger: &Value) -> Vec<(&str, u64)> {
    let charges = ledger.as_array().unwrap().iter();
    charges
        .map(|charge| {
            let name = charge["description"]["name"].as_str().unwrap();
            (name, charge["count"].as_u64().unwrap())
        })
        .collect()
}

const LAUNCHED: [(&str, u64); 3] = [("over thirty", 1), ("sum", 3), ("histogram", 1)];

#[test]
fn laplace_noise_is_its_sensitivity_over_its_scale() {
    let ledger = launch_all(PureDp, epsilon);
    assert_eq!(names_and_counts(&ledger), LAUNCHED);
    for charge in ledger.as_array().unwrap() {
        assert_eq!(parameter(charge, "noise"), Some("discrete Laplace"));
        let sensitivity =
            parameter(charge, "sensitivity").or_else(|| parameter(charge, "L1 sensitivity"));
        let sensitivity: Exact = sensitivity.unwrap().parse().unwrap();
        let (above, below) = fraction(parameter(charge, "scale").unwrap());
        let loss: Exact = charge["loss"].as_str().unwrap().parse().unwrap();
        assert_eq!(product(&loss, &above), product(&sensitivity, &below));
    }
}

#[test]
fn gaussian_noise_is_half_its_squared_sensitivity_over_its_variance() {
    let ledger = launch_all(Zcdp, rho);
    assert_eq!(names_and_counts(&ledger), LAUNCHED);
    for charge in ledger.as_array().unwrap() {
        assert_eq!(parameter(charge, "noise"), Some("discrete Gaussian"));
        let squared = match parameter(charge, "squared L2 sensitivity") {
            Some(squared) => squared.parse().unwrap(),
            None => {
                let sensitivity = parameter(charge, "sensitivity").unwrap().parse().unwrap();
                product(&sensitivity, &sensitivity)
            }
        };
        let (above, below) = fraction(parameter(charge, "variance").unwrap());
        let loss: Exact = charge["loss"].as_str().unwrap().parse().unwrap();
        assert_eq!(product(&loss.times(2), &above), product(&squared, &below));
    }
}
