//! Partitions and halting filters on a ledger: crashes at every moment, and what every account is afterwards.

use crate::common::{Disk, begun, crashes};
use ledger::{Embedded, Ledger};
use measures::{Basic, PrivacyMap, PureDp};
use odometer::{LaunchError, Measurement, Odometer, Partition, Records, Session, Transformation};

type Numbers = Records<i64>;
type Pure = Session<Numbers, Basic<PureDp>>;
type Query = Measurement<Numbers, PureDp, ()>;

/// What is noted when a halting filter has told of its refusal.
const TOLD: u64 = 1 << 32;

fn query(epsilon: &str, mark: u64, disk: &Disk) -> Query {
    let map = PrivacyMap::per_record(PureDp, epsilon).unwrap();
    let disk = disk.clone();
    Measurement::new("query", Records::new(), map, move |_, _| {
        disk.ran(mark);
        Ok(())
    })
}

struct Tree {
    all: Pure,
    team: Pure,
    parity: Partition<Numbers, i64, Basic<PureDp>>,
}

impl Tree {
    fn open(ledger: &Ledger) -> Self {
        let odometer = Odometer::new(Records::new(), Basic::new(PureDp)).named("all");
        let all = odometer
            .filter_on(ledger.books(), 1, "1", vec![3, 1, 4])
            .unwrap();
        let team = all
            .nested("team")
            .capped(1, "0.3")
            .halting()
            .open()
            .unwrap();
        let doubled = |data: &Vec<i64>| Ok(data.iter().map(|x| x * 3).collect());
        let tripled = Transformation::multiplying(Records::new(), Records::new(), 1, doubled);
        let tripled = all
            .link("tripled")
            .nest_after(&tripled.versioned(1))
            .unwrap();
        let parity = tripled
            .link("parity")
            .partition(1, |x: &i64| x % 2)
            .unwrap();
        Self { all, team, parity }
    }

    fn part(&self, key: i64) -> Pure {
        self.parity.part(key).unwrap()
    }
}

fn loss(session: &Pure, d_in: u32) -> u64 {
    // In hundredths, which are whole here.
    let loss = session.privacy_loss(d_in).unwrap().bound().value().clone();
    let hundredths = loss.times(100).to_rational().unwrap();
    u64::try_from(hundredths.numerator().clone()).unwrap()
}

fn reopened(image: Vec<u8>) -> Option<(Disk, Ledger)> {
    let disk = Disk::with(image);
    let store = Embedded::on(disk.clone()).ok()?;
    Some((disk, Ledger::on(Box::new(store), None).ok()?))
}

/// Parts are charged as the worst of them, before they run, and a crash changes nothing of that.
#[test]
fn parts_survive_crashes() {
    let disk = Disk::default();
    // The tens say in which part it ran, and how much it costs in hundredths.
    let (even, odd) = (query("0.2", 20, &disk), query("0.15", 1015, &disk));
    {
        let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
        let tree = Tree::open(&ledger);
        tree.part(0).launch(&even).unwrap();
        tree.part(1).launch(&odd).unwrap();
        ledger.checkpoint().unwrap();
        tree.part(1).launch(&odd).unwrap();
        tree.part(0).launch(&even).unwrap();
        assert_eq!(loss(&tree.all, 1), 40);
        ledger.close().unwrap();
    }
    assert_eq!(disk.platter().ran.len(), 4);
    let (mut opened, mut whole) = (0, 0);
    let images = crashes(&disk, 4, |image, ran| {
        let Some((_, ledger)) = reopened(image) else {
            return assert!(ran.is_empty());
        };
        opened += 1;
        let tree = Tree::open(&ledger);
        let ran_in = |part: u64| {
            let there = ran.iter().filter(|(_, mark)| mark / 1000 == part);
            there.map(|(_, mark)| mark % 1000).sum::<u64>()
        };
        let parts = [loss(&tree.part(0), 1), loss(&tree.part(1), 1)];
        // What ran was charged, and only what was under way may be charged and not have run.
        assert!(
            parts[0] >= ran_in(0) && parts[1] >= ran_in(1),
            "{parts:?} {ran:?}"
        );
        assert!(parts[0] + parts[1] <= ran_in(0) + ran_in(1) + 20);
        // Above, the worst of the parts counts, at every distance: one record is in one part.
        assert_eq!(loss(&tree.all, 1), parts[0].max(parts[1]));
        assert_eq!(loss(&tree.all, 3), 3 * parts[0].max(parts[1]));
        if opened % 10 == 0 {
            whole += 1;
            // The rest is spent in one part, and then the others have what it left.
            let cent = query("0.05", 5, &Disk::default());
            let part = tree.part(1);
            while part.launch(&cent).is_ok() {}
            assert_eq!((loss(&tree.all, 1), loss(&part, 1)), (100, 100));
            tree.part(0).launch(&cent).unwrap();
            assert!(matches!(
                tree.all.launch(&cent),
                Err(LaunchError::Refused(_))
            ));
            ledger.verify().unwrap();
        }
    });
    println!("{images} crashes, {opened} reopened, {whole} spent to the end");
    assert!(whole > 10, "{whole}");
}

/// A halting filter that has told of its refusal has halted, whatever happens then; and it halts nobody else.
#[test]
fn halts_survive_crashes() {
    let disk = Disk::default();
    let tenth = query("0.1", 1, &disk);
    {
        let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
        let tree = Tree::open(&ledger);
        tree.team.launch(&tenth).unwrap();
        let refused = tree.team.launch(&query("0.25", 0, &disk));
        assert!(matches!(refused, Err(LaunchError::Refused(_))));
        disk.ran(TOLD);
        assert!(matches!(
            tree.team.launch(&tenth),
            Err(LaunchError::Halted { .. })
        ));
        tree.all.launch(&tenth).unwrap();
        ledger.close().unwrap();
    }
    let (mut opened, mut halted) = (0, [0, 0]);
    let images = crashes(&disk, 4, |image, ran| {
        let Some((after, ledger)) = reopened(image) else {
            return assert!(ran.is_empty());
        };
        opened += 1;
        let tree = Tree::open(&ledger);
        let told = ran.iter().any(|(_, mark)| *mark == TOLD);
        let launched = tree.team.launch(&query("0.1", 1, &after));
        let halts = matches!(launched, Err(LaunchError::Halted { .. }));
        assert!(halts || launched.is_ok(), "{launched:?}");
        assert!(halts || !told, "it was told, and is forgotten");
        halted[usize::from(halts)] += 1;
        let before = loss(&tree.all, 1);
        tree.all.launch(&query("0.1", 1, &after)).unwrap();
        assert_eq!(loss(&tree.all, 1), before + 10);
    });
    println!("{images} crashes, {opened} reopened, {halted:?} not halted and halted");
    assert!(halted[0] > 10 && halted[1] > 10, "{halted:?}");
}

/// Reopened from a checkpoint and by replay, a halt is the same; a filter that was launched and halted stays so, too.
#[test]
fn halts_and_parts_are_in_checkpoints() {
    let disk = Disk::default();
    let halting = || {
        let odometer = Odometer::new(Records::new(), Basic::new(PureDp)).named("reserved");
        odometer.halting().filter(1, "0.2").unwrap()
    };
    let tenth = query("0.1", 1, &disk);
    for round in 0..4 {
        let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
        let tree = Tree::open(&ledger);
        let reserved = match round {
            0 => tree.part(1).launch(&halting()).unwrap(),
            _ => tree.part(1).resume(&halting()).unwrap(),
        };
        match round {
            0 => {
                reserved.launch(&tenth).unwrap();
                assert!(matches!(
                    reserved.launch(&query("0.15", 1, &disk)),
                    Err(LaunchError::Refused(_))
                ));
            }
            _ => assert!(matches!(
                reserved.launch(&tenth),
                Err(LaunchError::Halted { .. })
            )),
        }
        assert_eq!((loss(&tree.all, 1), loss(&tree.part(0), 1)), (20, 0));
        if round == 1 {
            ledger.checkpoint().unwrap();
        }
        ledger.close().unwrap();
    }
}
