//! What is written down of a mechanism on a ledger says all of it, at every distance: what it cost before a restart it costs after.

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::Exact;
use measures::{
    AbsoluteDistance, Additive, Basic, ChangeOneDistance, Form, L1Distance, L2Distance, Measure,
    Metric, PrivacyMap, PureDp, SymmetricDistance, convert::PureToApprox,
};
use mechanisms::{
    additive::{
        Clamp, Vectors, add_noise, add_noise_to_vector, count, count_spending, histogram, sum,
        sum_spending,
    },
    counter::{Counter, SubtractingCounter},
    noise::{ApproxGaussian, Change, Noise},
    persons::rows_per_person,
    samplers::{DiscreteGaussian, DiscreteLaplace},
    sampling::PoissonSampled,
    selection::best_of_many,
    sparse::{Sensitivity, SparseVector},
    spend::{epsilon, rho},
    statistics::{count_distinct_spending, mean_spending, variance_spending},
};
use odometer::journal::{Books, Memory};
use odometer::{Measurement, Odometer, Records, Session, Space};
use proptest::prelude::*;

const FAR: [u32; 7] = [0, 1, 2, 3, 7, 1000, 1_000_000];

/// What is left of a map after it was written to a file.
fn again<MI: Metric, M: Measure>(map: &PrivacyMap<MI, M>) -> PrivacyMap<MI, M> {
    let form = map.form().written();
    let read = form.read().expect("it has a form");
    PrivacyMap::of_form(map.measure().clone(), read).expect("its form is a map")
}

/// On a journal: launched, reopened, and asked for every distance.
#[track_caller]
fn survives<S, M, A>(measurement: &Measurement<S, M, A>, data: S::Data, distances: &[S::Distance])
where
    S: Space<Data: Clone>,
    M: Additive,
    A: 'static,
{
    let space = measurement.space().clone();
    let rule = Basic::new(measurement.map().measure().clone());
    let odometer = Odometer::new(space, rule).named("all");
    let open = |journal: Memory| -> Session<S, Basic<M>> {
        let books = Books::new(journal);
        let opened = odometer.open_on(&books, distances[1].clone(), data.clone());
        opened.unwrap()
    };
    let journal = Memory::new();
    let session = open(journal.clone());
    drop(session.launch(measurement).unwrap());
    drop(session.launch(measurement).unwrap());
    let reopened = open(Memory::replaying(&journal.records()).unwrap());
    for d_in in distances {
        let loss = session.privacy_loss(d_in).unwrap();
        assert_eq!(reopened.privacy_loss(d_in).unwrap(), loss, "at {d_in}");
        let again = again(measurement.map()).loss(d_in);
        assert_eq!(again, measurement.map().loss(d_in), "at {d_in}");
    }
}

fn people() -> Records<i64> {
    Records::new()
}

fn replaced() -> Records<i64, ChangeOneDistance> {
    Records::<i64, _>::replaced()
}

fn far() -> Vec<Exact> {
    let texts = ["0", "1", "0.3", "2.5", "7", "1000000"];
    texts.map(|text| text.parse().unwrap()).to_vec()
}

fn laplace(scale: &str) -> DiscreteLaplace {
    DiscreteLaplace::new(scale).unwrap()
}

fn gaussian(scale: &str) -> DiscreteGaussian {
    DiscreteGaussian::with_scale(scale).unwrap()
}

fn ages() -> Clamp {
    Clamp::new(0, 101).unwrap()
}

#[test]
fn counts_and_sums() {
    let third = count(people(), laplace("3"), |x| *x > 0);
    assert_eq!(third.map().loss(&3), Ok("1".parse().unwrap())); // not a little more
    assert!(third.map().loss(&1).unwrap().value().times(3) > Exact::ONE);
    survives(&third, vec![1], &FAR);
    let tenth = count(people(), laplace("10"), |x| *x > 0);
    assert_eq!(*tenth.map().form(), Form::Linear("0.1".parse().unwrap()));
    survives(&tenth, vec![1], &FAR);
    survives(
        &sum(replaced(), laplace("0.7"), ages(), |x| *x),
        vec![1],
        &FAR,
    );
    let total = sum(people(), gaussian("5"), Clamp::new(0, 10).unwrap(), |x| *x);
    assert_eq!(*total.map().form(), Form::Quadratic("2".parse().unwrap()));
    survives(&total, vec![1], &FAR);
    survives(&sum(people(), gaussian("7"), ages(), |x| *x), vec![1], &FAR);
    let widest = Clamp::new(-i64::MAX, i64::MAX).unwrap();
    let total = sum_spending(people(), rho("0.3"), widest, |x| *x).unwrap();
    assert_eq!(total.map().loss(&999), Ok("299400.3".parse().unwrap()));
    survives(&total, vec![1], &FAR);
    let distinct = count_distinct_spending(people(), epsilon("0.3"), |x| *x).unwrap();
    survives(&distinct, vec![1], &FAR);
}

#[test]
fn histograms() {
    let bin = |x: &i64| *x as usize;
    for scale in ["10", "3"] {
        let pure = histogram(people(), laplace(scale), 4, bin).unwrap();
        survives(&pure, vec![1], &FAR);
        let pure = histogram(replaced(), laplace(scale), 4, bin).unwrap();
        survives(&pure, vec![1], &FAR);
        let squares = histogram(people(), gaussian(scale), 4, bin).unwrap();
        survives(&squares, vec![1], &FAR);
        let squares = histogram(replaced(), gaussian(scale), 4, bin).unwrap();
        survives(&squares, vec![1], &FAR);
    }
    // Its δ is no multiple of anything: known where it was launched.
    let approximate = ApproxGaussian::new(gaussian("10"), 1).unwrap();
    let approximate = histogram(people(), approximate, 4, bin).unwrap();
    assert!(approximate.map().form().is_function());
}

#[test]
fn means_and_variances() {
    let value = |x: &i64| *x;
    survives(
        &mean_spending(people(), epsilon("0.3"), ages(), value).unwrap(),
        vec![1],
        &FAR,
    );
    survives(
        &mean_spending(replaced(), rho("0.3"), ages(), value).unwrap(),
        vec![1],
        &FAR,
    );
    survives(
        &variance_spending(people(), rho("0.3"), ages(), value).unwrap(),
        vec![1],
        &FAR,
    );
    let wide = Clamp::new(-(1 << 31), (1 << 31) - 1).unwrap();
    survives(
        &variance_spending(replaced(), rho("0.3"), wide, value).unwrap(),
        vec![1],
        &FAR,
    );
    survives(
        &variance_spending(people(), epsilon("1"), wide, value).unwrap(),
        vec![1],
        &FAR,
    );
}

#[test]
fn noise_on_numbers_and_vectors() {
    survives(&add_noise(laplace("3")), 7, &far());
    survives(&add_noise(gaussian("3")), 7, &far());
    let l1 = Vectors::of_length(4, L1Distance).unwrap();
    survives(
        &add_noise_to_vector(l1.clone(), laplace("3")),
        vec![1; 4],
        &far(),
    );
    survives(&add_noise_to_vector(l1, gaussian("3")), vec![1; 4], &far());
    let l2 = Vectors::of_length(4, L2Distance).unwrap();
    survives(
        &add_noise_to_vector(l2.clone(), gaussian("3")),
        vec![1; 4],
        &far(),
    );
    // The L1 norm of integers is at most the square of the L2 norm: not in proportion.
    let squared = add_noise_to_vector(l2, laplace("3"));
    assert!(squared.map().form().is_function());
    let stream = Counter::new(100, laplace("3"))
        .unwrap()
        .measurement()
        .unwrap();
    survives(&stream, vec![0; 100], &far());
    let stream = SubtractingCounter::spending(100, epsilon("0.3")).unwrap();
    survives(&stream.measurement().unwrap(), vec![0; 100], &far());
}

#[test]
fn samples() {
    let adults = count(people(), laplace("1"), |x| *x >= 18);
    survives(&adults.poisson_sampled("0.1").unwrap(), vec![1], &FAR);
    let third = RBig::from_parts(1.into(), 3u8.into());
    survives(&adults.poisson_sampled(third).unwrap(), vec![1], &FAR);
    let twice = adults
        .poisson_sampled("0.1")
        .unwrap()
        .poisson_sampled("0.5")
        .unwrap();
    survives(&twice, vec![1], &FAR);
    let approximate = adults.convert(PureToApprox).poisson_sampled("0.1").unwrap();
    survives(&approximate, vec![1], &FAR[..5]);
}

#[test]
fn the_best_of_many() {
    let noisy = count_spending(people(), epsilon("0.1"), |_| true).unwrap();
    survives(&best_of_many(&noisy, "0.5").unwrap(), vec![1], &FAR);
    let third = count(people(), laplace("3"), |_| true);
    let best = best_of_many(&third, "0.5").unwrap();
    for d_in in FAR {
        let one = third.map().loss(&d_in).unwrap();
        assert_eq!(
            *best.map().loss(&d_in).unwrap().value(),
            one.value().times(3)
        );
    }
    survives(&best, vec![1], &FAR);
}

#[test]
fn sparse_vectors_and_persons() {
    let unit = Sensitivity::UNIT;
    let svt = SparseVector::for_epsilon("0.3", unit, 2).unwrap();
    let svt = svt.measurement(people(), unit, |data: &Vec<i64>, above: &i64| {
        data.iter().filter(|x| *x > above).count() as i64
    });
    survives(&svt, vec![1], &FAR);
    let third = count(people(), laplace("3"), |_| true);
    let of_persons = rows_per_person(4).unwrap().measure(&third).unwrap();
    survives(&of_persons, vec![vec![1]], &FAR);
}

proptest! {
    /// For every rate and every change, the form is what the noise says, to the last digit.
    #[test]
    fn noise_is_its_form(n in 1u32.., d in 1u32.., by in 1u64..1 << 40, distance in any::<u32>(), coordinates in 1u64..5) {
        let scale = RBig::from_parts(n.into(), d.into());
        let one = Change::repeated(&Exact::from(by), coordinates);
        let at_distance = one.times(&Exact::from(distance));
        let noise = DiscreteLaplace::new(scale.clone()).unwrap();
        let map = noise.map_per_unit::<SymmetricDistance>(one.clone());
        prop_assert_eq!(again(&map).loss(&distance).unwrap(), noise.loss(&at_distance));
        let noise = DiscreteGaussian::new(scale).unwrap();
        let map = noise.map_per_unit::<SymmetricDistance>(one);
        let loss = noise.loss(&at_distance);
        prop_assert_eq!(&again(&map).loss(&distance).unwrap(), &loss);
        prop_assert_eq!(map.loss(&distance).unwrap(), loss);
    }

    /// The same for rates that are decimals, short and long.
    #[test]
    fn noise_of_decimal_rates_is_its_form(m in 1u128..1 << 100, shift in 0u32..100, places in 0usize..30, by in 1u64..1 << 30, distance in any::<u32>()) {
        let rate = RBig::from_parts(((m >> shift) + 1).into(), UBig::from(10u8).pow(places));
        let one = Change::repeated(&Exact::from(by), 2);
        let at_distance = one.times(&Exact::from(distance));
        let noise = DiscreteLaplace::new(RBig::ONE / &rate).unwrap();
        let map = noise.map_per_unit::<SymmetricDistance>(one.clone());
        prop_assert_eq!(again(&map).loss(&distance).unwrap(), noise.loss(&at_distance));
        let noise = DiscreteGaussian::new(RBig::ONE / rate).unwrap();
        let map = noise.map_per_unit::<SymmetricDistance>(one);
        prop_assert_eq!(again(&map).loss(&distance).unwrap(), noise.loss(&at_distance));
    }

    /// The same where a long change makes a short loss: no multiple of it is rounded.
    #[test]
    fn noise_for_a_loss_is_its_form(by in (1u64 << 60).., tenths in 1u32..100, distance in any::<u32>()) {
        let one = Change::one(&Exact::from(by));
        let at_distance = one.times(&Exact::from(distance));
        let variance = RBig::from(UBig::from(by) * UBig::from(by)) * RBig::from_parts(10.into(), (2 * tenths).into());
        let noise = DiscreteGaussian::new(variance).unwrap();
        let map = noise.map_per_unit::<SymmetricDistance>(one);
        let loss = map.loss(&distance).unwrap();
        let exactly = Exact::ratio(tenths.into(), 10).unwrap().times(u64::from(distance).pow(2));
        prop_assert_eq!(loss.value(), &exactly);
        prop_assert_eq!(&noise.loss(&at_distance), &loss);
        prop_assert_eq!(again(&map).loss(&distance).unwrap(), loss);
    }

    /// And where it makes a long one.
    #[test]
    fn noise_on_long_changes_is_its_form(by in (1u64 << 60).., n in 1u32.., d in 1u32.., distance in any::<u32>()) {
        let one = Change::repeated(&Exact::from(by), 3);
        let at_distance = one.times(&Exact::from(distance));
        let noise = DiscreteGaussian::new(RBig::from_parts(n.into(), d.into())).unwrap();
        let map = noise.map_per_unit::<SymmetricDistance>(one);
        prop_assert_eq!(again(&map).loss(&distance).unwrap(), noise.loss(&at_distance));
    }

    /// The same for distances that are no whole numbers.
    #[test]
    fn noise_on_numbers_is_its_form(n in 1u32.., d in 1u32.., distance in 0.0f64..1e9) {
        let scale = RBig::from_parts(n.into(), d.into());
        let distance = Exact::try_from(distance).unwrap();
        let change = Change::one(&distance);
        let noise = DiscreteLaplace::new(scale).unwrap();
        let map: PrivacyMap<AbsoluteDistance, PureDp> = add_noise(noise.clone()).map().clone();
        prop_assert_eq!(again(&map).loss(&distance).unwrap(), noise.loss(&change));
    }
}
