//! Maps that are made of others, as data: written down, read again, and the same everywhere.

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::convert::{
    ApproxGaussianToApprox, ApproxToApproxGaussian, ApproxToProfile, ApproxToTradeoff,
    ApproxZcdpToApprox, CurveToApprox, GaussianToApprox, GaussianToApproxGaussian, GaussianToCurve,
    GaussianToProfile, GaussianToRenyi, GaussianToTradeoff, GaussianToZcdp, ProfileToApprox,
    ProfileToTradeoff, PureToApprox, PureToCurve, PureToGaussian, PureToRenyi, PureToTradeoff,
    PureToZcdp, RenyiToApprox, RenyiToApproxOptimal, Then, TradeoffToApprox,
    TradeoffToApproxGaussian, TradeoffToGaussian, TradeoffToProfile, WithConversion, ZcdpToApprox,
    ZcdpToApproxZcdp, ZcdpToCurve, ZcdpToRenyi, with_conversion,
};
use measures::{
    ApproxDp, Conversion, Epsilon, EpsilonDelta, Form, GaussianDp, Loss, MAX_FORM, Measure, Metric,
    Mu, Name, Orders, PrivacyMap, PureDp, RenyiDp, Rho, RuleError, SymmetricDistance, Zcdp, laws,
};
use proptest::prelude::*;

type Map<M> = PrivacyMap<SymmetricDistance, M>;

/// What is left of a map after it was written to a file.
fn again<MI: Metric, M: Measure>(map: &PrivacyMap<MI, M>) -> Option<PrivacyMap<MI, M>> {
    let text = serde_json::to_string(&map.form().written()).unwrap();
    let form: Form<String, String> = serde_json::from_str(&text).unwrap();
    PrivacyMap::of_form(map.measure().clone(), form.read()?)
}

/// Both are the same at these distances, and what was read says at least as much everywhere.
#[track_caller]
fn survives<M: Measure>(map: &Map<M>, distances: &[u32]) {
    let read = again(map).expect("it has a form");
    for d_in in distances {
        assert_eq!(read.loss(d_in), map.loss(d_in), "at {d_in}");
    }
    laws::check_map(&read, distances).unwrap();
}

const FAR: [u32; 6] = [0, 1, 2, 3, 17, 1000];

fn tenth() -> Map<PureDp> {
    Map::linear(PureDp, "0.1").unwrap()
}

fn gaussian() -> Map<GaussianDp> {
    Map::linear(GaussianDp, "0.25").unwrap()
}

fn zcdp() -> Map<Zcdp> {
    Map::quadratic(Zcdp, "0.125").unwrap()
}

fn orders() -> Orders {
    Orders::new(["1.5", "8"]).unwrap()
}

fn order() -> RenyiDp {
    RenyiDp::new("2.5").unwrap()
}

#[test]
fn every_conversion_survives_with_its_map() {
    survives(&tenth().convert(PureToApprox), &FAR);
    survives(&tenth().convert(PureToZcdp), &FAR);
    survives(&tenth().convert(PureToRenyi { order: order() }), &FAR);
    survives(&tenth().convert(PureToCurve { orders: orders() }), &FAR);
    survives(&tenth().convert(PureToGaussian), &FAR[..5]);
    survives(&tenth().convert(PureToTradeoff), &FAR[..5]);
    survives(&gaussian().convert(GaussianToZcdp), &FAR);
    survives(
        &gaussian().convert(GaussianToRenyi { order: order() }),
        &FAR,
    );
    survives(
        &gaussian().convert(GaussianToCurve { orders: orders() }),
        &FAR,
    );
    let delta = GaussianToApprox::new("1e-6").unwrap();
    survives(&gaussian().convert(delta), &FAR[..5]);
    survives(
        &gaussian().convert(GaussianToProfile { points: 5 }),
        &FAR[..4],
    );
    survives(
        &gaussian().convert(GaussianToTradeoff { tangents: 5 }),
        &FAR[..4],
    );
    survives(&zcdp().convert(ZcdpToRenyi { order: order() }), &FAR);
    survives(&zcdp().convert(ZcdpToCurve { orders: orders() }), &FAR);
    survives(&zcdp().convert(ZcdpToApprox::new("1e-6").unwrap()), &FAR);
    let approximate = zcdp().convert(ZcdpToApproxZcdp);
    survives(&approximate, &FAR);
    survives(
        &approximate.convert(ApproxZcdpToApprox::new("1e-6").unwrap()),
        &FAR,
    );
    let renyi = zcdp().convert(ZcdpToRenyi { order: order() });
    survives(
        &renyi.convert(RenyiToApprox::new(order(), "1e-6").unwrap()),
        &FAR,
    );
    let optimal = RenyiToApproxOptimal::new(order(), "1e-6").unwrap();
    survives(&renyi.convert(optimal), &FAR[..5]);
    let curve = zcdp().convert(ZcdpToCurve { orders: orders() });
    survives(
        &curve.convert(CurveToApprox::new(orders(), "1e-6").unwrap()),
        &FAR,
    );
    let approximate = tenth().convert(PureToApprox);
    survives(&approximate.convert(ApproxToTradeoff), &FAR[..5]);
    let profile = approximate.convert(ApproxToProfile);
    survives(&profile, &FAR[..5]);
    survives(
        &profile.convert(ProfileToApprox::new("1e-6").unwrap()),
        &FAR[..5],
    );
    let tradeoff = profile.convert(ProfileToTradeoff);
    survives(&tradeoff, &FAR[..4]);
    survives(
        &tradeoff.convert(TradeoffToApprox::new("1e-6").unwrap()),
        &FAR[..4],
    );
    survives(&tradeoff.convert(TradeoffToProfile), &FAR[..4]);
    survives(&tradeoff.convert(TradeoffToGaussian), &FAR[..4]);
    let beyond = TradeoffToApproxGaussian::new("1e-6").unwrap();
    survives(&tradeoff.convert(beyond), &FAR[..4]);
    let gaussian = tenth().convert(PureToGaussian);
    let approximate = gaussian.convert(GaussianToApproxGaussian);
    survives(&approximate, &FAR);
    let back = ApproxGaussianToApprox::new("1e-6").unwrap();
    survives(&approximate.convert(back), &FAR[..4]);
    let pure = tenth().convert(PureToApprox);
    survives(&pure.convert(ApproxToApproxGaussian), &FAR);
    let both = Then(PureToZcdp, ZcdpToApprox::new("1e-6").unwrap());
    survives(&tenth().convert(both), &FAR);
}

/// These texts are in files that outlive the code.
#[test]
fn conversions_keep_their_names() {
    fn named(conversion: &impl Conversion, text: &str) {
        assert_eq!(conversion.name().unwrap().as_str(), text);
    }
    let delta = "1e-6";
    named(&PureToApprox, "pure-to-approximate");
    named(&PureToZcdp, "pure-to-zcdp");
    named(&PureToRenyi { order: order() }, "pure-to-renyi{order=2.5}");
    named(
        &PureToCurve { orders: orders() },
        "pure-to-renyi-curve{orders=1.5 8}",
    );
    named(&PureToGaussian, "pure-to-gaussian");
    named(&PureToTradeoff, "pure-to-trade-off");
    named(&GaussianToZcdp, "gaussian-to-zcdp");
    named(
        &GaussianToRenyi { order: order() },
        "gaussian-to-renyi{order=2.5}",
    );
    named(
        &GaussianToCurve { orders: orders() },
        "gaussian-to-renyi-curve{orders=1.5 8}",
    );
    let gaussian = GaussianToApprox::new(delta).unwrap();
    named(&gaussian, "gaussian-to-approximate{delta=0.000001}");
    named(
        &GaussianToProfile { points: 5 },
        "gaussian-to-profile{points=5}",
    );
    named(
        &GaussianToTradeoff { tangents: 5 },
        "gaussian-to-trade-off{tangents=5}",
    );
    named(&ZcdpToRenyi { order: order() }, "zcdp-to-renyi{order=2.5}");
    named(
        &ZcdpToCurve { orders: orders() },
        "zcdp-to-renyi-curve{orders=1.5 8}",
    );
    named(
        &ZcdpToApprox::new(delta).unwrap(),
        "zcdp-to-approximate{delta=0.000001}",
    );
    named(&ZcdpToApproxZcdp, "zcdp-to-approximate-zcdp");
    let approximate = ApproxZcdpToApprox::new(delta).unwrap();
    named(
        &approximate,
        "approximate-zcdp-to-approximate{delta=0.000001}",
    );
    named(
        &ProfileToApprox::new(delta).unwrap(),
        "profile-to-approximate{delta=0.000001}",
    );
    named(&ProfileToTradeoff, "profile-to-trade-off");
    named(
        &TradeoffToApprox::new(delta).unwrap(),
        "trade-off-to-approximate{delta=0.000001}",
    );
    named(&TradeoffToProfile, "trade-off-to-profile");
    named(&TradeoffToGaussian, "trade-off-to-gaussian");
    named(
        &GaussianToApproxGaussian,
        "gaussian-to-approximate-gaussian",
    );
    named(
        &ApproxToApproxGaussian,
        "approximate-to-approximate-gaussian",
    );
    named(
        &TradeoffToApproxGaussian::new(delta).unwrap(),
        "trade-off-to-approximate-gaussian{delta=0.000001}",
    );
    named(
        &ApproxGaussianToApprox::new(delta).unwrap(),
        "approximate-gaussian-to-approximate{delta=0.000001}",
    );
    let renyi = RenyiToApprox::new(order(), delta).unwrap();
    named(&renyi, "renyi-to-approximate{order=2.5, delta=0.000001}");
    let renyi = RenyiToApproxOptimal::new(order(), delta).unwrap();
    named(
        &renyi,
        "renyi-to-approximate-optimal{order=2.5, delta=0.000001}",
    );
    let curve = CurveToApprox::new(orders(), delta).unwrap();
    named(
        &curve,
        "renyi-curve-to-approximate{orders=1.5 8, delta=0.000001}",
    );
    named(&ApproxToTradeoff, "approximate-to-trade-off");
    named(&ApproxToProfile, "approximate-to-profile");
}

#[test]
fn other_names_are_no_conversions() {
    struct Found;
    impl WithConversion for Found {
        type Out = ();
        fn conversion<C: Conversion>(self, _: C) {}
    }
    for other in [
        "",
        "pure-to-zcdp{delta=1}",
        "pure-to-renyi",
        "pure-to-renyi{order=1}",
        "pure-to-renyi{order=2.50}",
        "zcdp-to-approximate{delta=1e-6}",
        "zcdp-to-approximate{delta=2}",
        "gaussian-to-profile{points=-1}",
        "mine",
    ] {
        let name: Name = serde_json::from_str(&format!("{other:?}")).unwrap();
        assert_eq!(with_conversion(&name, Found), None, "{other}");
    }
}

/// A conversion of one's own.
#[derive(Clone, Debug)]
struct Mine(Option<&'static str>);

impl Conversion for Mine {
    type From = PureDp;
    type To = Zcdp;

    fn from(&self) -> PureDp {
        PureDp
    }

    fn to(&self) -> Zcdp {
        Zcdp
    }

    fn convert(&self, leaf: &Epsilon) -> Result<Rho, RuleError> {
        Ok(Rho::new(leaf.value().clone()))
    }

    fn name(&self) -> Option<Name> {
        self.0.map(Name::new)
    }
}

#[test]
fn a_conversion_of_ones_own_is_only_a_function() {
    assert_eq!(*tenth().convert(Mine(None)).form(), Form::Function);
    // It has a name, which nobody here knows.
    let named = tenth().convert(Mine(Some("mine")));
    assert!(matches!(named.form(), Form::Converted { .. }));
    assert!(again(&named).is_none());
    let through = named.convert(ZcdpToApprox::new("1e-6").unwrap());
    assert!(again(&through).is_none());
    let closure = Map::new(PureDp, |_| Ok(Epsilon::ZERO)).convert(PureToZcdp);
    assert_eq!(*closure.form(), Form::Function);
}

/// A name that is another conversion's target, or has other parameters, does not make a map of this measure.
#[test]
fn a_conversion_to_something_else_is_no_map() {
    fn form<L>(by: Name) -> Form<u32, L> {
        let from = Box::new(Form::Linear("0.1".into()));
        Form::Converted { by, from }
    }
    let name = PureToZcdp.name().unwrap();
    assert!(Map::of_form(Zcdp, form(name.clone())).is_some());
    assert!(Map::of_form(PureDp, form(name)).is_none());
    let at = |order: &str| RenyiDp::new(order).unwrap();
    let name = PureToRenyi { order: at("2") }.name().unwrap();
    assert!(Map::of_form(at("2"), form(name.clone())).is_some());
    assert!(Map::of_form(at("3"), form(name)).is_none());
    let nonsense = Form::Converted {
        by: PureToZcdp.name().unwrap(),
        from: Box::new(Form::Linear("much".into())),
    };
    assert!(Map::of_form(Zcdp, nonsense).is_none());
}

#[test]
fn groups_survive() {
    let once = |loss: &str| Map::constant_up_to(ApproxDp, 1, loss).unwrap();
    survives(&once("(0.5, 1e-6)").group(), &FAR);
    survives(&once("(0, 0.001)").group(), &FAR);
    let one = Map::constant_up_to(PureDp, 1, "0.1").unwrap();
    assert_eq!(*one.group().form(), Form::Linear("0.1".parse().unwrap()));
    survives(&one.group(), &FAR);
    survives(&zcdp().group(), &FAR);
    survives(&gaussian().group(), &FAR);
    // What is known at no distance below one is infinite.
    let none = Map::constant_up_to(PureDp, 0, "0.1").unwrap();
    assert_eq!(none.group().loss(&0), Ok(Epsilon::ZERO));
    survives(&none.group(), &FAR);
    let closure = Map::new(PureDp, |_| -> Result<_, _> {
        panic!("nobody asked for a loss")
    });
    assert_eq!(*closure.group().form(), Form::Function);
}

#[test]
fn multiples_survive() {
    let three = tenth().after_times::<SymmetricDistance>(3);
    assert_eq!(*three.form(), Form::Linear("0.3".parse().unwrap()));
    survives(&three, &FAR);
    let three = zcdp().after_times::<SymmetricDistance>(3);
    assert_eq!(*three.form(), Form::Quadratic("1.125".parse().unwrap()));
    survives(&three, &FAR);
    let filter = Map::constant_up_to(PureDp, 7, "1").unwrap();
    let three = filter.after_times::<SymmetricDistance>(3);
    survives(&three, &FAR);
    assert_eq!(three.loss(&2), Ok("1".parse().unwrap()));
    assert_eq!(three.loss(&3), Ok(Epsilon::INFINITY));
    survives(&three.after_times::<SymmetricDistance>(2), &FAR);
    survives(&tenth().after_times::<SymmetricDistance>(0), &FAR);
    let group = Map::constant_up_to(ApproxDp, 1, "(0.1, 1e-9)")
        .unwrap()
        .group();
    survives(&group.after_times::<SymmetricDistance>(2), &FAR[..5]);
    survives(
        &tenth()
            .convert(PureToZcdp)
            .after_times::<SymmetricDistance>(2),
        &FAR,
    );
    // What is no multiple is only a function.
    let halved = tenth().after::<SymmetricDistance>(|d_in| Ok(d_in / 2));
    assert_eq!(*halved.form(), Form::Function);
    // A distance that is too large is an error, before and after.
    let filter = filter.after_times::<SymmetricDistance>(2);
    assert!(filter.loss(&u32::MAX).is_err() && again(&filter).unwrap().loss(&u32::MAX).is_err());
}

#[test]
fn sums_survive() {
    let (one, other) = (tenth(), Map::linear(PureDp, "0.2").unwrap());
    assert_eq!(
        *one.plus(&other).form(),
        Form::Linear("0.3".parse().unwrap())
    );
    survives(&one.plus(&other), &FAR);
    survives(&zcdp().plus(&zcdp()), &FAR);
    let filter = Map::constant_up_to(PureDp, 2, "1").unwrap();
    let three = filter.plus(&one).plus(&filter);
    assert!(matches!(three.form(), Form::Sum(terms) if terms.len() == 3));
    survives(&three, &FAR);
    assert_eq!(three.loss(&2), Ok("2.2".parse().unwrap()));
    let approximate = one.convert(PureToApprox);
    let group = Map::constant_up_to(ApproxDp, 1, "(0.1, 1e-9)")
        .unwrap()
        .group();
    survives(&approximate.plus(&group), &FAR[..5]);
    // In Gaussian privacy losses do not add up, so there is no such map.
    let sum = Form::Sum(vec![Form::Linear(Mu::new(Exact::ONE)); 2]);
    assert!(Map::of_form(GaussianDp, sum).is_none());
}

/// Losses off the grid are taken up to it before they are added, also to nothing: a sum does not depend on the order, and its form
/// says the same.
#[test]
fn sums_are_on_the_grid() {
    let off = Epsilon::new("1e-200".parse().unwrap());
    assert_ne!(off, off.clone().on_grid());
    let maps = [
        Map::linear(PureDp, off),
        Map::linear(PureDp, "0").unwrap(),
        Map::constant_up_to(PureDp, 1, "1e-200").unwrap().group(),
        tenth(),
    ];
    for (one, other) in maps
        .iter()
        .flat_map(|one| maps.iter().map(move |other| (one, other)))
    {
        let sum = one.plus(other);
        for d_in in 0..4 {
            let loss = sum.loss(&d_in).unwrap();
            assert_eq!(other.plus(one).loss(&d_in), Ok(loss.clone()), "at {d_in}");
            assert_eq!(loss, loss.clone().on_grid());
            for part in [one, other] {
                assert!(part.loss(&d_in).unwrap().value() <= loss.value());
            }
        }
        survives(&sum, &[1]);
        laws::check_map(&sum, &FAR).unwrap();
    }
}

/// `times/over` of a form, as it stands in a file.
fn ratio<L>(times: &str, over: &str, of: Form<u32, L>) -> Form<u32, L> {
    Form::Ratio {
        times: times.parse().unwrap(),
        over: over.parse().unwrap(),
        of: Box::new(of),
    }
}

fn one_per_record() -> Form<u32, Epsilon> {
    Form::Linear("1".parse().unwrap())
}

/// A third is rounded up, and three thirds are one.
#[test]
fn ratios_are_rounded_once() {
    let map = Map::of_form(PureDp, ratio("1", "3", one_per_record())).unwrap();
    survives(&map, &FAR);
    let third = map.loss(&1).unwrap();
    assert_eq!(third, Epsilon::new(Exact::ratio(1, 3).unwrap()));
    assert!(third.value().times(3) > Exact::ONE);
    assert_eq!(map.loss(&3), Ok("1".parse().unwrap()));
    let text = r#"{"Ratio":{"times":"1","over":"3","of":{"Linear":"1"}}}"#;
    assert_eq!(serde_json::to_string(&map.form().written()).unwrap(), text);
    let squares = ratio("1", "3", Form::Quadratic(Rho::new(Exact::ONE)));
    let squares = Map::of_form(Zcdp, squares).unwrap();
    survives(&squares, &FAR);
    assert_eq!(squares.loss(&3), Ok("3".parse().unwrap()));
    // And whatever is made of it.
    survives(&map.after_times::<SymmetricDistance>(2), &FAR);
    survives(&map.plus(&tenth()), &FAR);
    survives(&map.convert(PureToApprox), &FAR);
    // Groups of what was rounded are rounded again.
    let (group, read) = (map.group(), again(&map.group()).unwrap());
    for d_in in FAR {
        let loss = group.loss(&d_in).unwrap();
        assert!(loss.at_most(&read.loss(&d_in).unwrap()), "at {d_in}");
    }
}

#[test]
fn multiples_of_losses_survive() {
    let three = tenth().loss_times(3);
    assert_eq!(*three.form(), ratio("3", "1", tenth().form().clone()));
    survives(&three, &FAR);
    assert_eq!(three.loss(&2), Ok("0.6".parse().unwrap()));
    // Longer than what is rounded elsewhere, and far below the grid of sums.
    let long = Epsilon::new(
        "0.123456789012345678901234567890123456789012345678901e-90"
            .parse()
            .unwrap(),
    );
    let long = Map::constant_up_to(PureDp, 1, long);
    let loss = long.loss_times(3).loss(&1).unwrap();
    assert_eq!(*loss.value(), long.loss(&1).unwrap().value().times(3));
    survives(&long.loss_times(3), &FAR);
    survives(&gaussian().loss_times(7), &FAR);
    let nothing = tenth().loss_times(0);
    survives(&nothing, &FAR);
    assert_eq!(nothing.loss(&7), Ok(Epsilon::ZERO));
    survives(&long.loss_times(0), &FAR); // also where it has no bound
    let closure = Map::new(PureDp, |_| Ok(Epsilon::ZERO));
    assert_eq!(*closure.loss_times(3).form(), Form::Function);
}

#[test]
fn a_function_is_known_as_a_form_if_the_measure_has_it() {
    let known = |form: fn() -> Form<u32, Rho>| {
        let squares = |d_in: &u32| Ok(Rho::new(Exact::from(*d_in).pow(2, Round::Up)));
        Map::known_as(Zcdp, squares, form)
    };
    survives(&known(|| Form::Quadratic(Rho::new(Exact::ONE))), &FAR);
    for form in [
        || Form::Linear(Rho::new(Exact::ONE)),
        || Form::Function,
        || Form::Sum(vec![Form::Quadratic(Rho::ZERO); MAX_FORM]),
    ] {
        let map = known(form);
        assert_eq!(*map.form(), Form::Function);
        assert_eq!(map.loss(&3), Ok("9".parse().unwrap()));
    }
}

/// Nobody writes these, and whoever reads them gets no map.
#[test]
fn senseless_ratios_are_no_maps() {
    for (times, over) in [("1", "0"), ("0", "0"), ("inf", "3"), ("1", "inf")] {
        assert!(Map::of_form(PureDp, ratio(times, over, one_per_record())).is_none());
    }
    let pair: EpsilonDelta = "(0.1, 0)".parse().unwrap();
    assert!(Map::of_form(ApproxDp, ratio("1", "3", Form::Group(pair))).is_none());
    assert!(Map::of_form(PureDp, ratio("1", "3", Form::Function)).is_none());
    for text in [r#""-1""#, r#""NaN""#, "0.5", "null"] {
        let forged = format!(r#"{{"Ratio":{{"times":{text},"over":"3","of":{{"Linear":"1"}}}}}}"#);
        assert!(
            serde_json::from_str::<Form<String, String>>(&forged).is_err(),
            "{text}"
        );
    }
}

/// Numbers that must not be looked at.
#[derive(Clone, Debug, PartialEq)]
struct Unread;

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("unread")
    }
}

impl Loss for Unread {
    fn at_most(&self, _: &Self) -> bool {
        true
    }

    fn read(_: &str) -> Option<Self> {
        panic!("it was read")
    }
}

#[test]
fn what_is_too_long_is_not_read() {
    let linear = || Form::Linear("1".to_owned());
    let mut deep = linear();
    for _ in 0..1000 {
        deep = Form::Times(1, Box::new(deep));
    }
    let ratio = Form::Ratio {
        times: "1".parse().unwrap(),
        over: "3".parse().unwrap(),
        of: Box::new(Form::Sum(vec![linear(); MAX_FORM - 1])),
    };
    let by = Name::new("pure-to-zcdp");
    let from = Box::new(Form::Linear("1".repeat(5000)));
    let forged = [
        Form::Sum(vec![linear(); 1_000_000]),
        deep,
        ratio,
        Form::Linear("1".repeat(5000)),
        Form::Sum(vec![Form::Linear("1".repeat(1000)); 5]),
        Form::Converted { by, from },
    ];
    for form in forged {
        assert!(!form.is_within_limits());
        assert!(form.read::<u32, Unread>().is_none());
    }
    assert!(Form::Sum(vec![linear(); MAX_FORM - 1]).is_within_limits());
}

/// Ratios are written with whole numbers of not too many digits. Others would take long to divide, or have no meaning.
#[test]
fn ratios_of_other_numbers_are_no_maps() {
    let map = |times: &str, over: &str| {
        let of = Box::new(Form::Linear("1".parse().unwrap()));
        let (times, over) = (times.parse().unwrap(), over.parse().unwrap());
        Map::of_form(PureDp, Form::Ratio { times, over, of })
    };
    assert_eq!(map("2", "3").unwrap().loss(&3), Ok("2".parse().unwrap()));
    for (times, over) in [
        ("1", "0"),
        ("1e-4096", "3"),
        ("1", "0.5"),
        ("3*2^9000", "1"),
        ("1", "inf"),
    ] {
        assert!(map(times, over).is_none(), "{times}/{over}");
    }
}

/// However much is combined, what is written down stays short, and the map stays what it is.
#[test]
fn forms_stay_short() {
    let mut map = Map::constant_up_to(ApproxDp, 1, "(0.1, 0)").unwrap();
    let term = map.group();
    for terms in 2..40 {
        map = map.plus(&term);
        let written = map.form().written();
        assert_eq!(written.is_function(), terms + 1 > MAX_FORM, "{terms}");
        assert!(serde_json::to_string(&written).unwrap().len() < 1000);
    }
    assert_eq!(*map.loss(&1).unwrap().epsilon(), "3.9".parse().unwrap());
    // A read form that is too large is no map, whoever wrote it.
    let terms = vec![Form::Linear(Epsilon::ZERO); MAX_FORM];
    assert!(Map::of_form(PureDp, Form::Sum(terms)).is_none());
    assert!(Map::of_form(PureDp, Form::Sum(vec![Form::Function])).is_none());
    let mut deep = Form::Linear(Epsilon::ZERO);
    for _ in 0..1000 {
        deep = Form::Times(1, Box::new(deep));
    }
    assert!(Map::of_form(PureDp, deep).is_none());
    // A long list of orders is a long name.
    let many = Orders::new((2..2000).map(|order: u32| Exact::from(order))).unwrap();
    let curve = tenth().convert(PureToCurve { orders: many });
    assert!(!curve.form().is_function() && curve.form().written().is_function());
}

/// Added to itself again and again, it would do exponential work.
#[test]
fn sums_of_sums_are_bounded() {
    let mut map = tenth();
    for _ in 0..40 {
        map = map.plus(&map);
    }
    assert!(map.is_too_deep() && map.loss(&1).is_err());
}

proptest! {
    /// Rounded up once: what rational numbers say, and at one hundred and twenty-eight digits.
    #[test]
    fn ratios_are_what_they_say(at_one in any::<u64>(), times in any::<u64>(), over in 1u64.., distance in any::<u32>()) {
        let form = ratio(&times.to_string(), &over.to_string(), Form::Linear(Epsilon::new(at_one.into())));
        let map = Map::of_form(PureDp, form).unwrap();
        let true_loss = RBig::from(at_one) * RBig::from(distance) * RBig::from(times) / RBig::from(over);
        let loss = map.loss(&distance).unwrap();
        prop_assert_eq!(loss.value(), &Exact::from_rational(&true_loss, Round::Up).unwrap());
        prop_assert_eq!(again(&map).unwrap().loss(&distance), Ok(loss));
    }

    /// Whatever was combined, the map that is read says the same, or a little more where factors were rounded.
    #[test]
    fn combinations_survive(steps in prop::collection::vec(0u8..4, 0..6), distance in 0u32..2000) {
        let mut map = Map::constant_up_to(ApproxDp, 1500, "(0.01, 1e-12)").unwrap();
        let other = tenth().convert(PureToApprox);
        for step in steps {
            map = match step {
                0 => map.group(),
                1 => map.after_times(2),
                2 => map.plus(&other),
                _ => map.after_times::<SymmetricDistance>(1).plus(&map.group()),
            };
        }
        let Some(read) = again(&map) else {
            prop_assert!(map.form().is_function());
            return Ok(());
        };
        let (live, read): (EpsilonDelta, _) = (map.loss(&distance).unwrap(), read.loss(&distance).unwrap());
        prop_assert!(live.at_most(&read), "{} {}", live, read);
    }
}
