//! Random programs against a reference model that keeps plain lists and recomputes everything from scratch: launches,
//! live nestings, caps, reserved filters, partitions, refusals, failures, panics, and questions, equal after every step.

use std::collections::BTreeMap;

use crate::common::{BASIC, Numbers, PureSession, records};
use exact::Exact;
use measures::{Epsilon, MapError, PrivacyMap, PureDp, SymmetricDistance};
use odometer::{LaunchError, Measurement, Odometer, Partition, Session};
use proptest::prelude::*;
use queryable::{AskError, Root};

/// A privacy map that both sides know. Losses are whole numbers; none is infinity.
#[derive(Clone, Copy, Debug)]
enum Map {
    Linear(u64),
    /// Infinite beyond the bound.
    UpTo(u32, u64),
    Quadratic(u64),
    /// Knows nothing at this distance.
    Errs(u32, u64),
    Panics(u32, u64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unknown {
    Erred,
    Panicked,
}

impl Map {
    fn loss(self, d: u32) -> Result<Option<u64>, Unknown> {
        let far = u64::from(d);
        match self {
            Map::Linear(e) => Ok(Some(e * far)),
            Map::UpTo(bound, e) => Ok((d <= bound).then_some(e)),
            Map::Quadratic(e) => Ok(Some(e * far * far)),
            Map::Errs(at, _) if at == d => Err(Unknown::Erred),
            Map::Panics(at, _) if at == d => Err(Unknown::Panicked),
            Map::Errs(_, e) | Map::Panics(_, e) => Ok(Some(e * far)),
        }
    }

    fn real(self) -> PrivacyMap<SymmetricDistance, PureDp> {
        if let Map::Linear(e) = self {
            return PrivacyMap::per_record(PureDp, epsilon(Some(e)));
        }
        PrivacyMap::new(PureDp, move |d| match self.loss(*d) {
            Ok(loss) => Ok(epsilon(loss)),
            Err(Unknown::Erred) => Err(MapError::failed(d, "unknown")),
            Err(Unknown::Panicked) => panic!("a map's author was careless"),
        })
    }
}

fn epsilon(loss: Option<u64>) -> Epsilon {
    loss.map_or(Epsilon::INFINITY, |loss| Epsilon::new(Exact::from(loss)))
}

fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a? + b?)
}

fn fits(total: Option<u64>, limit: u64) -> bool {
    total.is_some_and(|total| total <= limit)
}

#[derive(Clone, Copy, Debug)]
enum Outcome {
    Answers,
    Errs,
    Panics,
}

type Cap = (u32, u64, bool);

#[derive(Clone, Debug)]
enum Op {
    Nest(usize, Option<Cap>),
    Reserve(usize, Cap),
    Partition(usize, u32),
    Part(usize, u8),
    Launch(usize, usize, Outcome),
    /// The same launch, this number of times.
    Repeat(usize, usize, u8),
    Within(usize, usize, u32, u64),
    Rest(usize, u32),
    Ask(usize, u32),
    After(usize, usize, u32),
}

/// The parts that a launch is in, as an account sees it: partition and key, the outermost first.
type Path = Vec<(usize, u8)>;

#[derive(Default)]
struct Account {
    cap: Option<Cap>,
    halted: bool,
    /// Where the account's launches are charged as well, and in which part of it these data are.
    parent: Option<(usize, Option<(usize, u8)>)>,
    charged: Vec<(Path, usize)>,
}

#[derive(Default)]
struct Model {
    maps: Vec<Map>,
    accounts: Vec<Account>,
    /// The partitioned account, and in how many parts a record is.
    partitions: Vec<(usize, u32)>,
    /// The maps of filters that were launched.
    filters: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum No {
    Map(Unknown),
    Refused,
    Halted,
    Failed,
    Nothing,
}

impl Model {
    /// Everything charged to an account, at this distance.
    fn loss(&self, account: usize, d: u32) -> Result<Option<u64>, Unknown> {
        let charged = &self.accounts[account].charged;
        let all: Vec<(&[(usize, u8)], usize)> = charged
            .iter()
            .map(|(path, map)| (&path[..], *map))
            .collect();
        self.cost(&all, d)
    }

    fn cost(&self, launches: &[(&[(usize, u8)], usize)], d: u32) -> Result<Option<u64>, Unknown> {
        let mut total = Some(0);
        let mut groups: Vec<usize> = Vec::new();
        for (path, map) in launches {
            match path.first() {
                None => total = add(total, self.maps[*map].loss(d)?),
                Some((group, _)) if !groups.contains(group) => groups.push(*group),
                Some(_) => {}
            }
        }
        for group in groups {
            let units = d * self.partitions[group].1;
            let mut parts: Vec<Vec<Option<u64>>> = Vec::new();
            for key in 0..=u8::MAX {
                let inside: Vec<_> = launches
                    .iter()
                    .filter(|(path, _)| path.first() == Some(&(group, key)))
                    .map(|(path, map)| (&path[1..], *map))
                    .collect();
                if inside.is_empty() {
                    continue;
                }
                let at = (1..=units).map(|n| self.cost(&inside, n));
                parts.push(at.collect::<Result<_, _>>()?);
            }
            total = add(total, worst(&parts, units as usize));
        }
        Ok(total)
    }

    fn launch(&mut self, account: usize, map: usize) -> Result<(), No> {
        let mut above = Vec::new();
        let (mut at, mut path) = (account, Path::new());
        loop {
            above.push((at, path.clone()));
            let Some((parent, part)) = self.accounts[at].parent else {
                break;
            };
            path.splice(0..0, part);
            at = parent;
        }
        // First all costs are asked for, from the leaf up; then all accounts check.
        for (at, path) in &above {
            if let Some((d, ..)) = self.accounts[*at].cap {
                self.cost(&[(path, map)], d).map_err(No::Map)?;
            }
        }
        for (at, path) in &above {
            let Some((d, limit, halting)) = self.accounts[*at].cap else {
                continue;
            };
            if self.accounts[*at].halted {
                return Err(No::Halted);
            }
            self.accounts[*at].charged.push((path.clone(), map));
            let total = self.loss(*at, d).map_err(No::Map);
            self.accounts[*at].charged.pop();
            if !fits(total?, limit) {
                self.accounts[*at].halted = halting;
                return Err(No::Refused);
            }
        }
        for (at, path) in above {
            self.accounts[at].charged.push((path, map));
        }
        Ok(())
    }

    fn after(&mut self, account: usize, map: usize, d: u32) -> Result<Option<u64>, Unknown> {
        // The question asks the map before it reads the ledger.
        self.maps[map].loss(d)?;
        self.accounts[account].charged.push((Path::new(), map));
        let loss = self.loss(account, d);
        self.accounts[account].charged.pop();
        loss
    }

    /// The least that the caps at this distance leave; nothing if one of them has halted. Beyond a partition it is known at
    /// distance 1 if each record is in one part.
    fn remaining(&self, account: usize, d: u32) -> Option<u64> {
        let mut least: Option<u64> = None;
        let (mut at, mut path) = (account, Path::new());
        loop {
            let Account {
                cap,
                parent,
                halted,
                ..
            } = &self.accounts[at];
            if let Some((_, limit, _)) = cap.filter(|(at, ..)| *at == d) {
                if *halted {
                    return None;
                }
                let left = limit - self.against(at, &path, d);
                least = Some(least.map_or(left, |least| least.min(left)));
            }
            match parent {
                Some((parent, None)) => at = *parent,
                Some((parent, Some((group, key)))) if d * self.partitions[*group].1 == 1 => {
                    path.insert(0, (*group, *key));
                    at = *parent;
                }
                _ => return least,
            }
        }
    }

    /// What counts against one more launch in a part: what was launched there and on the data around it, unless there are
    /// several partitions of the same data; then everything.
    fn against(&self, account: usize, path: &[(usize, u8)], d: u32) -> u64 {
        let charged = &self.accounts[account].charged;
        let mut inside: Vec<(&[(usize, u8)], usize)> = charged
            .iter()
            .map(|(path, map)| (&path[..], *map))
            .collect();
        let mut around = 0;
        for step in path {
            let partitions: Vec<_> = inside.iter().filter_map(|(path, _)| path.first()).collect();
            if partitions.iter().any(|(group, _)| *group != step.0) {
                return self.loss(account, d).unwrap().unwrap();
            }
            let here: Vec<_> = inside
                .iter()
                .copied()
                .filter(|(path, _)| path.is_empty())
                .collect();
            around += self.cost(&here, 1).unwrap().unwrap();
            inside.retain(|(path, _)| path.first() == Some(step));
            inside.iter_mut().for_each(|(path, _)| *path = &path[1..]);
        }
        around + self.cost(&inside, d).unwrap().unwrap()
    }

    /// How often each measurement was charged to an account; filters have no number.
    fn counts(&self, account: usize) -> BTreeMap<usize, u64> {
        let mut counts = BTreeMap::new();
        for (_, map) in &self.accounts[account].charged {
            let is_filter = self.filters.contains(map);
            let name = if is_filter { usize::MAX } else { *map };
            *counts.entry(name).or_insert(0) += 1;
        }
        counts
    }
}

/// Every way to give at most `units` units to the parts, one after the other.
fn worst(parts: &[Vec<Option<u64>>], units: usize) -> Option<u64> {
    let Some((first, rest)) = parts.split_first() else {
        return Some(0);
    };
    let mut worst = self::worst(rest, units);
    for here in 1..=units {
        let split = add(first[here - 1], self::worst(rest, units - here));
        worst = worst.zip(split).map(|(worst, split)| worst.max(split));
    }
    worst
}

type Parts = Partition<Numbers, u8, crate::common::Pure>;

struct Real {
    sessions: Vec<PureSession>,
    partitions: Vec<Parts>,
    measurements: Vec<[Measurement<Numbers, PureDp, ()>; 3]>,
}

fn measurement(number: usize, map: Map) -> [Measurement<Numbers, PureDp, ()>; 3] {
    let map = map.real();
    let make = |outcome: Outcome| {
        Measurement::new(
            number.to_string(),
            records(),
            map.clone(),
            move |_, _| match outcome {
                Outcome::Answers => Ok(()),
                Outcome::Errs => Err(AskError::failed("no luck")),
                Outcome::Panics => panic!("a mechanism's author was careless"),
            },
        )
    };
    [Outcome::Answers, Outcome::Errs, Outcome::Panics].map(make)
}

fn said<A>(result: Result<A, LaunchError>) -> Result<A, No> {
    result.map_err(|error| match error {
        LaunchError::Map { .. } => No::Map(Unknown::Erred),
        LaunchError::MapPanicked { .. } => No::Map(Unknown::Panicked),
        LaunchError::Refused(_) => No::Refused,
        LaunchError::Halted { .. } => No::Halted,
        LaunchError::Failed(_) => No::Failed,
        LaunchError::NothingRemains { .. } => No::Nothing,
        other => panic!("unexpected: {other:?}"),
    })
}

fn real_filter((d, limit, halting): Cap) -> odometer::Filter<Numbers, crate::common::Pure> {
    let odometer = Odometer::new(records(), BASIC);
    let odometer = if halting {
        odometer.halting()
    } else {
        odometer
    };
    odometer.filter(d, epsilon(Some(limit))).unwrap()
}

fn nested(session: &PureSession, cap: Option<Cap>) -> PureSession {
    let nested = session.nested("nested");
    let nested = match cap {
        Some((d, limit, halting)) => {
            let capped = nested.capped(d, epsilon(Some(limit)));
            if halting { capped.halting() } else { capped }
        }
        None => nested,
    };
    nested.open().unwrap()
}

fn run(maps: Vec<Map>, root_cap: Option<Cap>, ops: Vec<Op>) {
    let mut real = Real {
        sessions: Vec::new(),
        partitions: Vec::new(),
        measurements: maps
            .iter()
            .enumerate()
            .map(|(i, m)| measurement(i, *m))
            .collect(),
    };
    let mut model = Model {
        maps,
        ..Model::default()
    };
    let root = Root::seeded([1; 32]);
    let data = std::sync::Arc::new(vec![1, 2, 3, 4, 5]);
    real.sessions.push(match root_cap {
        Some(cap) => real_filter(cap).invoke_in(&root, &data).unwrap(),
        None => Odometer::new(records(), BASIC)
            .open_in(&root, data)
            .unwrap(),
    });
    model.accounts.push(Account {
        cap: root_cap,
        ..Account::default()
    });
    for op in ops {
        step(&mut real, &mut model, &op);
        compare(&real, &model, &[1], &op);
    }
    compare(&real, &model, &[3, 2, 1], &"the end");
}

fn step(real: &mut Real, model: &mut Model, op: &Op) {
    let accounts = real.sessions.len();
    match op.clone() {
        Op::Nest(at, cap) => {
            let at = at % accounts;
            real.sessions.push(nested(&real.sessions[at], cap));
            let parent = Some((at, None));
            model.accounts.push(Account {
                cap,
                parent,
                ..Account::default()
            });
        }
        Op::Reserve(at, cap) => {
            let at = at % accounts;
            let (d, limit, _) = cap;
            model.maps.push(Map::UpTo(d, limit));
            let map = model.maps.len() - 1;
            model.filters.push(map);
            // Keeps the numbers of maps and measurements together; nothing launches it again.
            real.measurements
                .push(measurement(map, Map::UpTo(d, limit)));
            let filter = real_filter(cap);
            let launched = said(real.sessions[at].launch(&filter));
            let expected = model.launch(at, map);
            assert_eq!(launched.as_ref().err(), expected.as_ref().err(), "{op:?}");
            if let Ok(session) = launched {
                real.sessions.push(session);
                model.accounts.push(Account {
                    cap: Some(cap),
                    ..Account::default()
                });
            }
        }
        Op::Partition(at, sparse) => {
            let at = at % accounts;
            let keys = move |record: &i64| {
                let record = *record as u8;
                (0..sparse as u8).map(|i| (record + i) % 3).collect()
            };
            let partition = real.sessions[at].partition_sparse(sparse, keys);
            real.partitions.push(partition.unwrap());
            model.partitions.push((at, sparse));
        }
        Op::Part(at, key) => {
            if real.partitions.is_empty() {
                return;
            }
            let at = at % real.partitions.len();
            real.sessions.push(real.partitions[at].part(key).unwrap());
            let parent = Some((model.partitions[at].0, Some((at, key))));
            model.accounts.push(Account {
                parent,
                ..Account::default()
            });
        }
        Op::Launch(at, map, outcome) => {
            let (at, map) = (at % accounts, map % 6);
            let measurement = &real.measurements[map][outcome as usize];
            let launched = said(real.sessions[at].launch(measurement));
            let expected = model.launch(at, map).and(match outcome {
                Outcome::Answers => Ok(()),
                Outcome::Errs | Outcome::Panics => Err(No::Failed),
            });
            assert_eq!(launched, expected, "{op:?}");
        }
        Op::Repeat(at, map, times) => {
            for _ in 0..times {
                step(real, model, &Op::Launch(at, map, Outcome::Answers));
            }
        }
        Op::Within(at, map, d, limit) => {
            let (at, map) = (at % accounts, map % 6);
            let measurement = &real.measurements[map][0];
            let limited = epsilon(Some(limit));
            let launched = said(real.sessions[at].launch_within(measurement, &d, &limited));
            let expected = match model.after(at, map, d) {
                Ok(after) if fits(after, limit) => model.launch(at, map),
                Ok(_) => Err(No::Refused),
                Err(unknown) => Err(No::Map(unknown)),
            };
            agree(launched, expected, op);
        }
        Op::Rest(at, d) => {
            let at = at % accounts;
            let number = model.maps.len();
            let rest = model.remaining(at, d);
            assert_eq!(
                real.sessions[at].remaining(&d).unwrap(),
                rest.map(|rest| epsilon(Some(rest)))
            );
            let make = |rest: &Epsilon| {
                let map = PrivacyMap::constant_up_to(PureDp, d, rest.clone());
                Measurement::new(number.to_string(), records(), map, |_, _| Ok(()))
            };
            let launched = said(real.sessions[at].spend_rest(&d, make));
            let map = Map::UpTo(d, rest.unwrap_or(0));
            model.maps.push(map);
            real.measurements.push(measurement(number, map));
            let expected = match rest {
                Some(_) => model.launch(at, number),
                None => Err(No::Nothing),
            };
            assert_eq!(launched, expected, "{op:?}");
            if launched.is_ok() {
                assert_eq!(model.remaining(at, d), Some(0), "{op:?}");
            }
        }
        Op::Ask(at, d) => {
            let at = at % accounts;
            compare_loss(&real.sessions[at], model, at, d, op);
        }
        Op::After(at, map, d) => {
            let (at, map) = (at % accounts, map % 6);
            let measurement = &real.measurements[map][0];
            let after = said(real.sessions[at].loss_after(measurement, &d));
            let expected = model.after(at, map, d).map(epsilon).map_err(No::Map);
            agree(after.map(|total| total.bound().clone()), expected, op);
        }
    }
}

fn compare(real: &Real, model: &Model, distances: &[u32], after: &dyn std::fmt::Debug) {
    for (at, session) in real.sessions.iter().enumerate() {
        for d in distances {
            compare_loss(session, model, at, *d, after);
        }
        let mut counts = BTreeMap::new();
        for (description, count) in session.launches().unwrap() {
            let name = description.name.parse().unwrap_or(usize::MAX);
            *counts.entry(name).or_insert(0) += count;
        }
        assert_eq!(counts, model.counts(at), "after {after:?}");
        if let Some((d, ..)) = model.accounts[at].cap {
            let spent = session.spent().unwrap().unwrap();
            assert_eq!(*spent.bound(), epsilon(model.loss(at, d).unwrap()));
        }
        assert_eq!(
            session.remaining(&1).unwrap(),
            model.remaining(at, 1).map(|left| epsilon(Some(left))),
            "after {after:?}"
        );
    }
}

fn compare_loss(
    session: &Session<Numbers, crate::common::Pure>,
    model: &Model,
    at: usize,
    d: u32,
    after: &dyn std::fmt::Debug,
) {
    let real = said(session.privacy_loss(&d)).map(|total| total.bound().clone());
    let expected = model.loss(at, d).map(epsilon).map_err(No::Map);
    agree(
        real,
        expected,
        &format!("account {at} at distance {d} after {after:?}"),
    );
}

/// Which of several unknown maps is named depends on the order of asking.
fn agree<T: PartialEq + std::fmt::Debug>(
    real: Result<T, No>,
    expected: Result<T, No>,
    at: &dyn std::fmt::Debug,
) {
    if !matches!((&real, &expected), (Err(No::Map(_)), Err(No::Map(_)))) {
        assert_eq!(real, expected, "{at:?}");
    }
}

fn map() -> impl Strategy<Value = Map> {
    prop_oneof![
        4 => (0u64..4).prop_map(Map::Linear),
        2 => (1u32..3, 0u64..4).prop_map(|(bound, e)| Map::UpTo(bound, e)),
        1 => (0u64..3).prop_map(Map::Quadratic),
        1 => (1u32..4, 0u64..3).prop_map(|(at, e)| Map::Errs(at, e)),
        1 => (1u32..4, 0u64..3).prop_map(|(at, e)| Map::Panics(at, e)),
    ]
}

fn cap() -> impl Strategy<Value = Cap> {
    let budget = prop_oneof![3 => 0u64..14, 1 => 14u64..200];
    (1u32..3, budget, proptest::bool::weighted(0.2))
}

fn op() -> impl Strategy<Value = Op> {
    let outcome = prop_oneof![
        6 => Just(Outcome::Answers),
        1 => Just(Outcome::Errs),
        1 => Just(Outcome::Panics),
    ];
    let any = || any::<usize>();
    prop_oneof![
        10 => (any(), any(), outcome).prop_map(|(at, map, outcome)| Op::Launch(at, map, outcome)),
        1 => (any(), any(), 9u8..40).prop_map(|(at, map, times)| Op::Repeat(at, map, times)),
        2 => (any(), proptest::option::of(cap())).prop_map(|(at, cap)| Op::Nest(at, cap)),
        1 => (any(), cap()).prop_map(|(at, cap)| Op::Reserve(at, cap)),
        1 => (any(), 1u32..3).prop_map(|(at, sparse)| Op::Partition(at, sparse)),
        3 => (any(), 0u8..3).prop_map(|(at, key)| Op::Part(at, key)),
        1 => (any(), any(), 1u32..3, 0u64..12).prop_map(|(at, map, d, limit)| Op::Within(at, map, d, limit)),
        1 => (any(), 1u32..3).prop_map(|(at, d)| Op::Rest(at, d)),
        1 => (any(), 1u32..4).prop_map(|(at, d)| Op::Ask(at, d)),
        1 => (any(), any(), 1u32..4).prop_map(|(at, map, d)| Op::After(at, map, d)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_account_tree_is_what_lists_recomputed_from_scratch_say(
        maps in proptest::collection::vec(map(), 6),
        root_cap in proptest::option::weighted(0.7, cap()),
        ops in proptest::collection::vec(op(), 1..24),
    ) {
        run(maps, root_cap, ops);
    }
}
