//! The program that launches: what a custodian's command looks at later.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::Path;

use odometry::ledger::Ledger;
use odometry::measures::adaptive::{Sum, WhitehouseFilter};
use odometry::measures::convert::PureToApprox;
use odometry::measures::{Name, Rule, Tallied, Total};
use odometry::prelude::*;

type People = Records<u32>;

pub fn count(name: &str, loss: &str) -> Measurement<People, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, loss).unwrap();
    Measurement::new(
        name.to_owned(),
        People::new(),
        map,
        |data, _| Ok(data.len()),
    )
}

pub fn people() -> Vec<u32> {
    (0..100).collect()
}

/// A month of the year on this page: `docs/custodian.md`.
pub fn month(path: &Path, month: &str) {
    let ledger = Ledger::open(path).unwrap();
    let hospital = Odometer::new(People::new(), Basic::new(PureDp)).named("the hospital");
    let budget = ledger.budget("the hospital").unwrap_or("3".into());
    let hospital = hospital
        .filter_on(ledger.books(), 1, budget.as_str(), people())
        .unwrap();
    let red = hospital.nested("team red").capped(1, "1").open().unwrap();
    let blue = hospital.nested("team blue").capped(1, "2").open().unwrap();
    let wards = blue.link("wards").partition(1, |age: &u32| {
        if age.is_multiple_of(2) {
            "north"
        } else {
            "south"
        }
    });
    let wards = wards.unwrap();
    let adults = |loss| count("how many adults", loss);
    match month {
        "january" => {
            for _ in 0..4 {
                red.launch(&adults("0.1")).unwrap();
            }
            blue.request("january's report")
                .launch(&count("beds in use", "0.25"))
                .unwrap();
        }
        "march" => {
            for ward in ["north", "south"] {
                wards
                    .part(ward)
                    .unwrap()
                    .launch(&count("nights per stay", "0.5"))
                    .unwrap();
            }
            red.launch(&count("histogram of ages", "0.35")).unwrap();
            red.request("the minister's question")
                .launch(&adults("0.25"))
                .unwrap();
            let refused = red.launch(&adults("0.1")).unwrap_err();
            assert!(
                refused.to_string().contains("refused by team red"),
                "{refused}"
            );
        }
        "october" => {
            blue.launch(&count("beds in use", "0.25")).unwrap();
        }
        other => panic!("nothing happens in {other}"),
    }
    drop((red, blue, wards, hospital));
    ledger.close().unwrap();
}

/// Accounts of many kinds in one ledger, and a launch in each.
pub fn many_kinds(path: &Path) {
    let ledger = Ledger::open(path).unwrap();
    let books = ledger.books();
    let approximate = Odometer::new(People::new(), Basic::new(ApproxDp)).named("approximate");
    let all = approximate
        .filter_on(books, 1, "(1, 1e-6)", people())
        .unwrap();
    let pure = all
        .link("pure")
        .nest_in(Basic::new(PureDp), PureToApprox)
        .unwrap();
    pure.launch(&count("pure count", "0.5")).unwrap();
    let odometer = Odometer::new(People::new(), Basic::new(PureDp)).named("no limit");
    let free = odometer.open_on(books, 1, people()).unwrap();
    free.launch(&count("free count", "7")).unwrap();
    let slack = WhitehouseFilter::new("1e-7").unwrap();
    let advanced = Odometer::new(People::new(), slack).named("advanced");
    let advanced = advanced.filter_on(books, 1, "(1, 1e-6)", people()).unwrap();
    let map = PrivacyMap::new(ApproxDp, |_: &u32| Ok("(0.1, 0)".parse().unwrap()));
    let small = Measurement::new("small", People::new(), map, |_, _| Ok(0));
    advanced.launch(&small).unwrap();
    let mine = Odometer::new(People::new(), Mine).named("mine");
    let mine = mine.filter_on(books, 1, "1", people()).unwrap();
    mine.launch(&count("by my own rule", "0.125")).unwrap();
    let halting = Odometer::new(People::new(), Basic::new(PureDp))
        .named("halting")
        .halting();
    let halting = halting.filter_on(books, 1, "1", people()).unwrap();
    halting.launch(&count("half", "0.5")).unwrap();
    halting.launch(&count("too much", "0.75")).unwrap_err();
    drop((all, pure, free, advanced, mine, halting));
    ledger.close().unwrap();
}

/// A rule of one's own.
#[derive(Clone, Debug)]
pub struct Mine;

impl Rule for Mine {
    type Child = PureDp;
    type Total = PureDp;

    fn child(&self) -> PureDp {
        PureDp
    }

    fn total(&self) -> PureDp {
        PureDp
    }

    fn name(&self) -> Option<Name> {
        Some(Name::new("mine"))
    }
}

impl Tallied for Mine {
    type Tally = Sum<PureDp>;

    fn start(&self) -> Sum<PureDp> {
        Basic::new(PureDp).start()
    }
}

impl Adaptive for Mine {
    fn loss(&self, tally: &Sum<PureDp>) -> Total<Epsilon> {
        Basic::new(PureDp).loss(tally)
    }
}

/// Names that an attacker chooses.
pub const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "\u{1b}[31mred\u{1b}]0;title\u{7}",
    "=HYPERLINK(\"http://evil\",\"x\")",
    "\u{202e}txt.exe\u{2066}",
    "]]>&amp;<!--",
];

/// Everything that somebody may name has such a name.
pub fn hostile(path: &Path) {
    let ledger = Ledger::open(path).unwrap();
    let root = Odometer::new(People::new(), Basic::new(PureDp)).named(HOSTILE[0]);
    let root = root.filter_on(ledger.books(), 1, "10", people()).unwrap();
    for name in HOSTILE {
        let team = root.nested(name).capped(1, "1").open().unwrap();
        team.request(name).launch(&count(name, "0.1")).unwrap();
    }
    drop(root);
    ledger.close().unwrap();
}
