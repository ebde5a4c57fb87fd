//! Data sets of records are multisets: every measurement on records has the same law for all orders of its records. The laws are
//! enumerated, so that this is exact for the draws that are. A public function that makes such a measurement and is not on the list
//! fails the test.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::common::*;
use auditor::{Input, Report, System, audit, player};
use continual::{StreamMessage, streams::Arriving};
use measures::{Basic, Measure, PrivacyMap, PureDp};
use mechanisms::additive::{
    Clamp, count, count_spending, histogram, histogram_spending, sum, sum_spending,
};
use mechanisms::calibrate::calibrate;
use mechanisms::decimal::{Grid, sum_on_grid};
use mechanisms::keys::{choose_keys, histogram_of_keys, histogram_of_keys_spending};
use mechanisms::persons::{
    groups_per_person, groups_per_replaced_person, rows_per_person, rows_per_replaced_person,
};
use mechanisms::propose::{
    Proposal, propose_test_release, propose_test_release_for_approx, release_if_stable,
};
use mechanisms::sampling::PoissonSampled;
use mechanisms::selection::{
    Scores, best_of_many, best_of_many_for_epsilon, exponential, exponential_for_epsilon,
    exponential_for_rho, exponential_zcdp, report_noisy_max, report_noisy_max_for_epsilon, top_k,
    top_k_zcdp,
};
use mechanisms::sparse::{Above, Sensitivity, SparseVector};
use mechanisms::spend::epsilon;
use mechanisms::statistics::{
    Quantile, clamping_bound, count_distinct_spending, first_bound, mean, mean_on_grid,
    mean_spending, quantile, quantile_for_rho, variance, variance_on_grid, variance_spending,
};
use mechanisms::weights::{MultiplicativeWeights, Subset};
use odometer::{Connected, LaunchError, Measurement, Odometer, OfRecords, Records, Session, Space};
use queryable::Canonical;
use queryable::{AskError, Queryable, Root};

const PEOPLE: Records<u8> = Records::new();
const LARGE: fn(&u8) -> bool = |x| *x > 2;
const VALUE: fn(&u8) -> i64 = |x| i64::from(*x);
const DECIMAL: fn(&u8) -> f64 = |x| f64::from(*x) / 2.0;
const BIN: fn(&u8) -> usize = |x| usize::from(*x % 2);
const VOTES: fn(&Vec<u8>, usize) -> i64 =
    |data, at| data.iter().filter(|x| usize::from(**x) == at).count() as i64;

/// The same four records in three orders.
fn orders<T: Clone>(records: [T; 4]) -> [Vec<T>; 3] {
    [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]]
        .map(|order| order.map(|at| records[at].clone()).into())
}

fn people() -> [Vec<u8>; 3] {
    orders([1, 2, 2, 5])
}

/// Is the law the same under both inputs, as far as it is enumerated? That must be most of it.
fn is_same<Q, A>(report: &Report<Q, A>) -> bool {
    let [zero, one] = report.missing();
    let missing = zero.max(one);
    assert!(*missing < ratio(1, 2), "{missing} is missing");
    report.total_variation().most == *missing
}

/// The names of what was found to have one law for all orders.
#[derive(Default)]
struct Checked(BTreeSet<&'static str>);

impl Checked {
    /// A system that is built from the data: what it is asked, it answers alike for all orders.
    fn system<D, P>(
        &mut self,
        name: &'static str,
        (lists, radius): ([D; 3], u32),
        offer: &[P::Query],
        build: impl Fn(&Root, &Arc<D>) -> Result<P, AskError> + Sync,
    ) where
        D: Send + Sync,
        P: System<Query: Clone + PartialEq + Send + Sync, Answer: Canonical>,
    {
        let [first, others @ ..] = lists.map(Arc::new);
        for other in others {
            let build = |input: Input, root: &Root| build(root, input.pick(&first, &other));
            let audit = audit(build).enumerating(radius);
            let report = audit.asking(offer.len(), |history| vec![offer[history.len()].clone()]);
            assert!(is_same(&report.unwrap()), "{name} shows the order");
        }
        self.0.insert(name);
    }

    fn answers<S, M, A>(
        &mut self,
        name: &'static str,
        radius: u32,
        measurement: Measurement<S, M, A>,
        lists: [S::Data; 3],
    ) where
        S: Space,
        M: Measure,
        A: Canonical + 'static,
    {
        self.system(name, (lists, radius), &[()], |root, data| {
            let (root, data, measurement) = (root.clone(), Arc::clone(data), measurement.clone());
            Ok(player(move |()| invoked(&measurement, &root, &data)))
        });
    }

    fn asked<S, M, Q, A>(
        &mut self,
        name: &'static str,
        measurement: Measurement<S, M, Queryable<Q, A>>,
        (lists, questions): ([S::Data; 3], &[Q]),
    ) where
        S: Space,
        M: Measure,
        Q: Clone + PartialEq + Send + Sync + 'static,
        A: Canonical + 'static,
    {
        self.system(name, (lists, 2), questions, |root, data| {
            invoked(&measurement, root, data)
        });
    }

    /// On the people.
    fn on<M: Measure, A: Canonical + 'static>(
        &mut self,
        name: &'static str,
        measurement: Measurement<Records<u8>, M, A>,
    ) {
        self.answers(name, 6, measurement, people());
    }

    /// Floats are compared by their bits.
    fn float<M: Measure>(
        &mut self,
        name: &'static str,
        measurement: Measurement<Records<u8>, M, f64>,
    ) {
        self.on(name, measurement.postprocess(f64::to_bits));
    }
}

fn invoked<S: Space, M: Measure, A: 'static>(
    measurement: &Measurement<S, M, A>,
    root: &Root,
    data: &Arc<S::Data>,
) -> Result<A, AskError> {
    let answer = measurement.invoke_in(root, data);
    answer.map_err(|error| AskError::failed(error.to_string()))
}

fn sums(checked: &mut Checked) {
    let noise = || geometric(1, 9, 6);
    let (clamp, whole) = (Clamp::new(0, 4).unwrap(), Grid::new(0).unwrap());
    checked.on("additive::count", count(PEOPLE, noise(), LARGE));
    let counted = count_spending(PEOPLE, epsilon(6), LARGE).unwrap();
    checked.on("additive::count_spending", counted);
    checked.on("additive::sum", sum(PEOPLE, noise(), clamp, VALUE));
    let summed = sum_spending(PEOPLE, epsilon(6), clamp, VALUE).unwrap();
    checked.on("additive::sum_spending", summed);
    let bins = histogram(PEOPLE, noise(), 2, BIN).unwrap();
    checked.on("additive::histogram", bins);
    let bins = histogram_spending(PEOPLE, epsilon(6), 2, BIN).unwrap();
    checked.on("additive::histogram_spending", bins);
    let summed = sum_on_grid(PEOPLE, whole, noise(), (0.0, 2.0), DECIMAL).unwrap();
    checked.on("decimal::sum_on_grid", summed);
    let calibrated = calibrate(1, "6", |scale| {
        let noise = mechanisms::samplers::DiscreteLaplace::new(scale)?;
        Ok(count(PEOPLE, noise, LARGE))
    });
    checked.on("calibrate::calibrate", calibrated.unwrap());
    checked.float("moments::mean", mean(PEOPLE, clamp, 6, VALUE).unwrap());
    let of_mean = mean_spending(PEOPLE, epsilon(6), clamp, VALUE).unwrap();
    checked.float("moments::mean_spending", of_mean);
    checked.float(
        "moments::variance",
        variance(PEOPLE, clamp, 30, VALUE).unwrap(),
    );
    let of_variance = variance_spending(PEOPLE, epsilon(30), clamp, VALUE).unwrap();
    checked.float("moments::variance_spending", of_variance);
    let grid = (whole, (0.0, 4.0));
    let of_mean = mean_on_grid(PEOPLE, epsilon(6), grid, DECIMAL).unwrap();
    checked.float("moments::mean_on_grid", of_mean);
    let of_variance = variance_on_grid(PEOPLE, epsilon(30), grid, DECIMAL).unwrap();
    checked.float("moments::variance_on_grid", of_variance);
}

fn keys_and_samples(checked: &mut Checked) {
    let noise = || geometric(1, 9, 6);
    let key = |x: &u8| *x;
    let keys = histogram_of_keys(PEOPLE, noise(), 2, key).unwrap();
    checked.on("keys::histogram_of_keys", keys);
    let keys = histogram_of_keys_spending(PEOPLE, epsilon(6), "0.1", key).unwrap();
    checked.on("keys::histogram_of_keys_spending", keys);
    let keys = choose_keys(PEOPLE, 1, "0.1", key).unwrap();
    checked.on("keys::choose_keys", keys);
    let different = count_distinct_spending(PEOPLE, epsilon(6), key).unwrap();
    checked.on("statistics::count_distinct_spending", different);
    // A sample keeps the order: its law is the same as a multiset.
    let counted = count(PEOPLE, noise(), LARGE);
    let sampled = counted.poisson_sampled("0.25").unwrap();
    checked.on("sampling::poisson_sampled", sampled);
    let best = best_of_many(&counted, "0.5").unwrap();
    checked.answers("best::best_of_many", 1, best, people());
    let best = best_of_many_for_epsilon(18, "0.5", |third| {
        count_spending(PEOPLE, epsilon(third), LARGE)
    });
    let name = "best::best_of_many_for_epsilon";
    checked.answers(name, 1, best.unwrap(), people());
}

fn choices(checked: &mut Checked) {
    let scores = || Scores::new(3, 1, VOTES).unwrap();
    let made = exponential(PEOPLE, scores(), 1).unwrap();
    checked.on("selection::exponential", made);
    let made = exponential_zcdp(PEOPLE, scores(), 1).unwrap();
    checked.on("selection::exponential_zcdp", made);
    let made = report_noisy_max(PEOPLE, scores(), 1).unwrap();
    checked.on("selection::report_noisy_max", made);
    let made = exponential_for_epsilon(PEOPLE, scores(), 1).unwrap();
    checked.on("selection::exponential_for_epsilon", made);
    let made = exponential_for_rho(PEOPLE, scores(), 1).unwrap();
    checked.on("selection::exponential_for_rho", made);
    let made = report_noisy_max_for_epsilon(PEOPLE, scores(), 1).unwrap();
    checked.on("selection::report_noisy_max_for_epsilon", made);
    checked.on("top::top_k", top_k(PEOPLE, scores(), 2, 1).unwrap());
    checked.on(
        "top::top_k_zcdp",
        top_k_zcdp(PEOPLE, scores(), 2, 1).unwrap(),
    );
    let candidates = || vec![0, 2, 4];
    let median = quantile(PEOPLE, Quantile::MEDIAN, candidates(), 1, VALUE).unwrap();
    checked.on("statistics::quantile", median);
    let median = quantile_for_rho(PEOPLE, Quantile::MEDIAN, candidates(), 1, VALUE).unwrap();
    checked.on("statistics::quantile_for_rho", median);
}

fn proposals(checked: &mut Checked) {
    let proposal = || Proposal {
        bound: 1,
        value: |data: &Vec<u8>| data.len() as i64,
        distance: |data: &Vec<u8>| data.len() as u64,
    };
    let made = propose_test_release(PEOPLE, proposal(), (1, "0.1"), geometric(1, 9, 6)).unwrap();
    checked.on("propose::propose_test_release", made);
    let made = propose_test_release_for_approx(PEOPLE, proposal(), 12, "0.1").unwrap();
    checked.on("propose::propose_test_release_for_approx", made);
    let Proposal {
        value, distance, ..
    } = proposal();
    let made = release_if_stable(PEOPLE, 1, "0.1", value, distance).unwrap();
    checked.on("propose::release_if_stable", made);
}

fn machines(checked: &mut Checked) {
    let sensitivity = Sensitivity::UNIT;
    let sparse = SparseVector::for_epsilon(6, sensitivity, 2).unwrap();
    let above = |query| Above {
        query,
        threshold: 2,
    };
    let questions = [above(2..=5), above(0..=1)];
    let made = sparse.of_counts(PEOPLE);
    checked.asked("sparse::of_counts", made, (people(), &questions));
    let made = sparse.measurement(PEOPLE, sensitivity, |data: &Vec<u8>, at: &usize| {
        VOTES(data, *at)
    });
    let questions = [1, 2].map(|query| Above {
        query,
        threshold: 2,
    });
    checked.asked("sparse::measurement", made, (people(), &questions));
    let half = Quantile::MEDIAN;
    let made = first_bound(PEOPLE, half, vec![1, 2], sparse, VALUE).unwrap();
    checked.answers("statistics::first_bound", 2, made, people());
    // 63 comparisons: the likeliest noise alone.
    let made = clamping_bound(PEOPLE, half, 60, VALUE).unwrap();
    checked.answers("statistics::clamping_bound", 0, made, people());
    let made = MultiplicativeWeights::for_epsilon(6, 3, 4, 1, 1)
        .unwrap()
        .measurement();
    let questions = [Subset::new(3, |i| i < 1), Subset::new(3, |i| i < 2)];
    let lists = orders([0, 1, 1, 2]);
    checked.asked("weights::measurement", made, (lists, &questions));
}

fn persons(checked: &mut Checked) {
    let lists = || orders([vec![1, 3, 2], vec![4, 4], vec![], vec![9, 2, 6]]);
    let bins = histogram(PEOPLE, geometric(1, 9, 6), 2, BIN).unwrap();
    let parity = |x: &u8| x % 2;
    let made = rows_per_person(2).unwrap();
    checked.answers(
        "persons::rows_per_person",
        6,
        made.measure(&bins).unwrap(),
        lists(),
    );
    let made = groups_per_person(1, 1, parity).unwrap();
    checked.answers(
        "persons::groups_per_person",
        6,
        made.measure(&bins).unwrap(),
        lists(),
    );
    let made = rows_per_replaced_person(2).unwrap();
    let (name, made) = (
        "persons::rows_per_replaced_person",
        made.measure(&bins).unwrap(),
    );
    checked.answers(name, 6, made, lists());
    let made = groups_per_replaced_person(1, 1, parity).unwrap();
    let (name, made) = (
        "persons::groups_per_replaced_person",
        made.measure(&bins).unwrap(),
    );
    checked.answers(name, 6, made, lists());
}

/// Every public function of this crate whose signature names records, or any space.
fn makers() -> BTreeSet<String> {
    fn visit(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let named = match path.file_stem().unwrap().to_str().unwrap() {
                "mod" => path.parent().unwrap().file_name().unwrap(),
                _ => path.file_stem().unwrap(),
            };
            for (at, _) in text.match_indices("pub fn ") {
                let signature = text[at + 7..].split('{').next().unwrap();
                let takes = [
                    "OfRecords",
                    "Records<",
                    "Persons<",
                    "<Samples,",
                    "S: Space",
                    "S: Connected",
                ];
                if takes.iter().any(|space| signature.contains(space)) {
                    let name = signature.split(['<', '(']).next().unwrap();
                    found.insert(format!("{}::{name}", named.to_str().unwrap()));
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    visit(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    // A method of a trait.
    found.insert("sampling::poisson_sampled".into());
    found
}

#[test]
fn no_measurement_on_records_shows_their_order() {
    let mut checked = Checked::default();
    sums(&mut checked);
    keys_and_samples(&mut checked);
    choices(&mut checked);
    proposals(&mut checked);
    machines(&mut checked);
    persons(&mut checked);
    let checked: BTreeSet<String> = checked.0.into_iter().map(str::to_owned).collect();
    assert_eq!(checked, makers(), "what is checked, and what there is");
}

/// Parts of a partition, and data that arrive in a message, are held in any order, too.
#[test]
fn parts_and_data_that_arrive_show_no_order() {
    let mut checked = Checked::default();
    let counted = count(PEOPLE, geometric(1, 9, 6), LARGE);
    let filter = Odometer::new(PEOPLE, Basic::new(PureDp))
        .filter(1, "100")
        .unwrap();
    checked.system("a partition", (people(), 2), &[()], |root, data| {
        let session: Session<_, _> = invoked(&filter, root, data)?;
        let counted = counted.clone();
        Ok(player(move |()| {
            let parts = session.partition(|x| *x % 2).unwrap();
            let table = parts.for_each_part([0, 1], |_, part| part.launch(&counted));
            table.map_err(|error: LaunchError| AskError::failed(error.to_string()))
        }))
    });
    let later = Arriving::of(PEOPLE);
    let once = later.once(&counted);
    checked.system(
        "data that arrive once",
        (people(), 6),
        &[()],
        |root, data| {
            let (waiting, data) = (invoked(&once, root, &Arc::new(()))?, Arc::clone(data));
            Ok(player(move |()| waiting.ask((*data).clone())))
        },
    );
    let sparse = SparseVector::for_epsilon(6, Sensitivity::UNIT, 1).unwrap();
    let asked = later.interactive(&sparse.of_counts(PEOPLE));
    checked.system(
        "data that arrive",
        (people(), 2),
        &[(), ()],
        |root, data| {
            let (waiting, data) = (invoked(&asked, root, &Arc::new(()))?, Arc::clone(data));
            let mut there = false;
            Ok(player(move |()| {
                let question = Above {
                    query: 2..=5,
                    threshold: 2,
                };
                let message = match std::mem::replace(&mut there, true) {
                    true => StreamMessage::Question(question),
                    false => StreamMessage::Update((*data).clone()),
                };
                waiting.ask(message)
            }))
        },
    );
}

/// The losses at the first distances of what is built on a space of records.
fn losses<S>(space: S) -> Vec<String>
where
    S: OfRecords<Record = u8> + Connected + Copy,
{
    fn shown<S: Space<Distance = u32>, M: Measure, A: 'static>(
        made: Measurement<S, M, A>,
    ) -> String {
        let losses = (0..5).map(|d_in| made.map().loss(&d_in).unwrap().to_string());
        losses.collect::<Vec<_>>().join(" ")
    }
    let (noise, clamp) = (|| geometric(1, 3, 6), Clamp::new(0, 4).unwrap());
    let key = |x: &u8| *x;
    let sparse = SparseVector::for_epsilon(1, Sensitivity::of_counts::<S::Metric>(), 2).unwrap();
    vec![
        shown(count(space, noise(), LARGE)),
        shown(sum(space, noise(), Clamp::new(1, 4).unwrap(), VALUE)),
        shown(histogram(space, noise(), 2, BIN).unwrap()),
        shown(histogram_of_keys(space, noise(), 2, key).unwrap()),
        shown(mean(space, clamp, 1, VALUE).unwrap()),
        shown(quantile(space, Quantile::new(1, 4).unwrap(), vec![0, 2], 1, VALUE).unwrap()),
        shown(sparse.of_counts::<S, std::ops::RangeInclusive<u8>>(space)),
    ]
}

/// A claim for multisets is one for lists, so mechanisms cost the same on both; records that are replaced cost more.
#[test]
fn lists_cost_what_multisets_cost() {
    assert_eq!(losses(Records::<u8>::ordered()), losses(PEOPLE));
    let replaced = losses(Records::<u8>::replaced());
    assert_eq!(losses(Records::<u8>::ordered_replaced()), replaced);
    assert_ne!(replaced, losses(PEOPLE));
    // An insertion in the middle, and a replacement, of a list: the claims hold and are tight.
    let list = histogram(Records::ordered(), geometric(1, 3, 40), 2, BIN).unwrap();
    let loss = list.map().loss(&1).unwrap();
    is_tight(
        &audit_answer(&list, vec![1, 2], vec![1, 5, 2]),
        loss.value(),
        1e-15,
    );
    let list = histogram(Records::ordered_replaced(), geometric(1, 3, 40), 2, BIN).unwrap();
    let loss = list.map().loss(&1).unwrap();
    is_tight(
        &audit_answer(&list, vec![1, 2], vec![1, 5]),
        loss.value(),
        1e-15,
    );
}

/// What looks at the order is found: planted as a measurement of the first record.
#[test]
fn a_measurement_that_shows_the_order_is_found() {
    let noise = geometric(1, 9, 6);
    let map = PrivacyMap::per_record(PureDp, "100").unwrap();
    let first = Measurement::new("first", PEOPLE, map, move |data: &Arc<Vec<u8>>, scope| {
        Ok(i64::from(data[0]) + i64::try_from(scope.draw(&noise)?).unwrap())
    });
    let [sorted, reversed, _] = people();
    assert!(!is_same(&audit_answer(&first, sorted.clone(), reversed)));
    let same = [sorted.clone(), [1, 2, 2, 5].into()];
    let [zero, one] = same;
    assert!(is_same(&audit_answer(&first, zero, one)));
}
