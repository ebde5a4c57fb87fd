//! What is written down of measures, metrics, rules, losses and maps stays as it is: these texts are in files that outlive
//! the code.

use exact::Exact;
use measures::adaptive::{
    ApproxGaussianComposition, ConcentratedFilter, GaussianComposition, ImprovedBasic,
    RogersLeastBudget, RogersOdometer, TimeUniformBasic, TimeUniformRogers, Union,
    WhitehouseFilter, WhitehouseOdometer,
};
use measures::fixed::{Advanced, Hybrid, Optimal, OptimalPure};
use measures::{
    AbsoluteDistance, ApproxDp, ApproxGaussianDp, ApproxZcdp, Basic, ChangeOneDistance, Distance,
    Epsilon, EpsilonDelta, Form, GaussianDp, HammingDistance, InsertDeleteDistance, L1Distance,
    L2Distance, Loss, Measure, Metric, Mu, MuDelta, Name, Neighbouring, Neighbours, Orders,
    PrivacyMap, Profile, ProfileDp, PureDp, RenyiCurve, RenyiCurveDp, RenyiDp, RenyiEpsilon, Rho,
    RhoDelta, Rule, SymmetricDistance, Tradeoff, TradeoffDp, Zcdp,
};
use proptest::prelude::*;

fn number(text: &str) -> Exact {
    text.parse().unwrap()
}

#[track_caller]
fn named(name: Option<Name>, text: &str) {
    assert_eq!(name.unwrap().as_str(), text);
}

#[test]
fn measures_and_metrics_keep_their_names() {
    named(PureDp.name(), "pure");
    named(ApproxDp.name(), "approximate");
    named(Zcdp.name(), "zcdp");
    named(ApproxZcdp.name(), "approximate-zcdp");
    named(GaussianDp.name(), "gaussian");
    named(ApproxGaussianDp.name(), "approximate-gaussian");
    named(ProfileDp.name(), "profile");
    named(TradeoffDp.name(), "trade-off");
    named(
        RenyiDp::new(number("1.5")).unwrap().name(),
        "renyi{order=1.5}",
    );
    let orders = Orders::new([number("1.5"), number("2")]).unwrap();
    named(
        RenyiCurveDp::new(orders).name(),
        "renyi-curve{orders=1.5 2}",
    );
    named(SymmetricDistance.name(), "symmetric");
    named(ChangeOneDistance.name(), "change-one");
    named(InsertDeleteDistance.name(), "insert-delete");
    named(HammingDistance.name(), "hamming");
    named(AbsoluteDistance.name(), "absolute");
    named(L1Distance.name(), "l1");
    named(L2Distance.name(), "l2");
    named(Neighbours.name(), "neighbours");
}

#[test]
fn rules_keep_their_names() {
    let delta = || number("1e-6");
    named(Basic::new(PureDp).name(), "basic{pure}");
    named(GaussianComposition.name(), "gaussian");
    named(ApproxGaussianComposition.name(), "approximate-gaussian");
    named(ImprovedBasic.name(), "improved-basic");
    let whitehouse = WhitehouseFilter::new(delta()).unwrap();
    named(whitehouse.name(), "whitehouse{slack=0.000001}");
    let odometer = WhitehouseOdometer::new(number("5e-7"), delta()).unwrap();
    named(odometer.name(), "whitehouse{delta=0.000001, children=5e-7}");
    let concentrated = ConcentratedFilter::new(delta()).unwrap();
    named(concentrated.name(), "concentrated{slack=0.000001}");
    let rogers = RogersLeastBudget::new(delta()).unwrap();
    named(
        rogers.name(),
        "rogers-least-budget{delta=0.000001, children=5e-7}",
    );
    let rogers = RogersOdometer::with_beta(delta(), number("0.25")).unwrap();
    let text = "rogers-odometer{delta=0.000001, children=5e-7, betas=0.25}";
    named(rogers.name(), text);
    named(
        TimeUniformRogers::new(rogers).name(),
        &format!("time-uniform{{{text}}}"),
    );
    named(TimeUniformBasic.name(), "time-uniform-basic");
    let union = Union::new((Basic::new(ApproxDp), Exact::ZERO), (whitehouse, delta()));
    named(
        union.name(),
        "union{share{basic{approximate}, delta=0}, share{whitehouse{slack=0.000001}, delta=0.000001}}",
    );
    named(
        Advanced::new(delta()).unwrap().name(),
        "advanced{slack=0.000001}",
    );
    named(Hybrid.name(), "hybrid");
    named(
        Optimal::new(delta()).unwrap().name(),
        "optimal{delta=0.000001}",
    );
    named(
        OptimalPure::new(delta()).unwrap().name(),
        "optimal-pure{delta=0.000001}",
    );
}

/// A name is read as one thing only, whatever is in it.
#[test]
fn names_do_not_run_into_each_other() {
    let one = Name::new("a").with("b", "c, d=e");
    let other = Name::new("a").with("b", "c").with("d", "e");
    assert_ne!(one, other);
    assert_ne!(Name::new("a{b}"), Name::new("a").of(&Name::new("b")));
    assert_ne!(
        Name::new("a\\}").with("b", 1),
        Name::new("a\\").with("b", 1)
    );
}

/// What a name says: what it is called, and its parameters, each a text or a name.
#[derive(Clone, Debug, PartialEq)]
struct Said {
    called: String,
    parameters: Vec<Parameter>,
}

#[derive(Clone, Debug, PartialEq)]
enum Parameter {
    Text(String, String),
    Of(Said),
}

impl Said {
    fn name(&self) -> Name {
        let name = Name::new(&self.called);
        self.parameters.iter().fold(name, |name, with| match with {
            Parameter::Text(parameter, value) => name.with(parameter, value),
            Parameter::Of(inner) => name.of(&inner.name()),
        })
    }

    /// Reads a name by the grammar alone, up to a sign that belongs to what is around it.
    fn read(text: &mut &str) -> Self {
        let called = plain(text);
        let mut parameters = Vec::new();
        if let Some(mut inside) = text.strip_prefix('{') {
            loop {
                parameters.push(Parameter::read(&mut inside));
                match inside.strip_prefix(", ") {
                    Some(more) => inside = more,
                    None => break,
                }
            }
            *text = inside.strip_prefix('}').expect("a closing brace");
        }
        Self { called, parameters }
    }
}

impl Parameter {
    fn read(text: &mut &str) -> Self {
        let inner = Said::read(text);
        match text.strip_prefix('=') {
            None => Self::Of(inner),
            Some(value) => {
                assert!(inner.parameters.is_empty());
                *text = value;
                Self::Text(inner.called, plain(text))
            }
        }
    }
}

/// Text up to a sign with a meaning.
fn plain(text: &mut &str) -> String {
    let (mut read, mut signs) = (String::new(), text.chars());
    while let Some(sign) = signs.clone().next() {
        match sign {
            '{' | '}' | '=' | ',' => break,
            '\\' => {
                signs.next();
                read.extend(signs.next());
            }
            _ => read.extend(signs.next()),
        }
    }
    *text = signs.as_str();
    read
}

/// Any text, and often one of signs with a meaning.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        proptest::string::string_regex(r"[a\\{}=, ]{0,6}").unwrap()
    ]
}

fn said() -> impl Strategy<Value = Said> {
    let plain = words().prop_map(|called| Said {
        called,
        parameters: Vec::new(),
    });
    plain.prop_recursive(3, 12, 3, |inner| {
        let parameter = prop_oneof![
            (words(), words()).prop_map(|(parameter, value)| Parameter::Text(parameter, value)),
            inner.prop_map(Parameter::Of),
        ];
        let parameters = prop::collection::vec(parameter, 0..4);
        (words(), parameters).prop_map(|(called, parameters)| Said { called, parameters })
    })
}

#[test]
fn a_parameter_may_end_in_a_backslash() {
    let name = Name::new("a").with("b", "c\\").with("d", "e");
    assert_eq!(name.as_str(), r"a{b=c\\, d=e}");
    let of = Name::new("a").of(&Name::new("b\\")).with("d", "e");
    assert_eq!(of.as_str(), r"a{b\\, d=e}");
}

fn exact() -> impl Strategy<Value = Exact> {
    (any::<u64>(), -300i64..300, any::<bool>()).prop_map(
        |(mantissa, exponent, binary)| match binary {
            true => number(&format!("{mantissa}*2^{exponent}")),
            false => number(&format!("{mantissa}e{exponent}")),
        },
    )
}

fn again<L: Loss>(loss: L) {
    let text = loss.written().unwrap();
    let read = L::read(&text).unwrap();
    assert_eq!(read, loss, "{text}");
    assert_eq!(read.written().unwrap(), text);
}

proptest! {
    /// So no two things have the same name: what was said can be read again.
    #[test]
    fn names_say_what_they_were_made_of(said in said()) {
        let name = said.name();
        let mut text = name.as_str();
        prop_assert_eq!(Said::read(&mut text), said);
        prop_assert_eq!(text, "");
        let stored = serde_json::to_string(&name).unwrap();
        prop_assert_eq!(serde_json::from_str::<Name>(&stored).unwrap(), name);
    }

    #[test]
    fn losses_and_distances_are_read_as_they_were_written(a in exact(), b in exact()) {
        again(Epsilon::new(a.clone()));
        again(Mu::new(a.clone()));
        again(Rho::new(a.clone()));
        again(EpsilonDelta::saturating(a.clone(), b.clone()));
        again(RhoDelta::saturating(a.clone(), b.clone()));
        again(MuDelta::saturating(a.clone(), b.clone()));
        again(RenyiEpsilon::new(number("2.5"), a.clone()).unwrap());
        let orders = Orders::new([number("1.5"), number("2")]).unwrap();
        again(RenyiCurve::new(&orders, [a.clone(), b.clone()]).unwrap());
        let pair = |scale: u32| EpsilonDelta::saturating(a.clone().min(Exact::from(scale)), b.clone().min(Exact::ratio(1, scale.into()).unwrap()));
        again(Profile::new([pair(2), pair(7)]));
        again(Tradeoff::from_approx(&pair(3)));
        prop_assert_eq!(Exact::read(&Distance::written(&a).unwrap()), Some(a));
    }

    /// A map that was written down says the same everywhere.
    #[test]
    fn forms_are_the_maps(loss in exact(), distance in any::<u32>(), bound in any::<u32>()) {
        type Map<M> = PrivacyMap<SymmetricDistance, M>;
        let linear = Map::linear(PureDp, Epsilon::new(loss.clone()));
        let again = Map::of_form(PureDp, linear.form().clone()).unwrap();
        prop_assert_eq!(again.loss(&distance), linear.loss(&distance));
        let quadratic = Map::quadratic(Zcdp, Rho::new(loss.clone()));
        let again = Map::of_form(Zcdp, quadratic.form().clone()).unwrap();
        prop_assert_eq!(again.loss(&distance), quadratic.loss(&distance));
        let constant = Map::constant_up_to(PureDp, bound, Epsilon::new(loss));
        let again = Map::of_form(PureDp, constant.form().clone()).unwrap();
        prop_assert_eq!(again.loss(&distance), constant.loss(&distance));
    }
}

#[test]
fn infinity_is_written_too() {
    again(Epsilon::INFINITY);
    again(EpsilonDelta::INFINITY);
    for measure in [ProfileDp.zero(), ProfileDp.infinity()] {
        again(measure);
    }
    for measure in [TradeoffDp.zero(), TradeoffDp.infinity()] {
        again(measure);
    }
    assert_eq!(Profile::read("1 0.5; 1 0.5"), None);
    assert_eq!(Tradeoff::read("0 2; 1 0"), None);
    assert_eq!(
        Neighbouring::read(&Neighbouring.written().unwrap()),
        Some(Neighbouring)
    );
    assert_eq!(u32::read("7"), Some(7));
    assert_eq!(u32::read("-7"), None);
    assert_eq!(Epsilon::read("NaN"), None);
}

/// A linear map in zCDP would claim too little, and a quadratic one in pure privacy too much: neither is read back.
#[test]
fn forms_that_make_no_sense_are_no_maps() {
    type Map<M> = PrivacyMap<SymmetricDistance, M>;
    assert!(Map::of_form(Zcdp, Form::Linear(Rho::ZERO)).is_none());
    assert!(Map::of_form(PureDp, Form::Quadratic(Epsilon::ZERO)).is_none());
    assert!(Map::of_form(ApproxDp, Form::Linear(EpsilonDelta::ZERO)).is_none());
    assert!(Map::of_form(PureDp, Form::Function).is_none());
}
