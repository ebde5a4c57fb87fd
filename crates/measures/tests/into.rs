//! What may be written where a loss is wanted, in code and in JSON.

use exact::Exact;
use measures::{
    ApproxDp, Epsilon, EpsilonDelta, IntoLoss, LossError, PrivacyMap, PureDp, SymmetricDistance,
};

type Map<M> = PrivacyMap<SymmetricDistance, M>;

#[test]
fn everything_that_stands_for_a_loss_stands_for_the_same() {
    let three: Epsilon = "3".parse().unwrap();
    let maps: [Map<PureDp>; 7] = [
        PrivacyMap::linear(PureDp, three.clone()),
        PrivacyMap::linear(PureDp, &three),
        PrivacyMap::linear(PureDp, 3),
        PrivacyMap::linear(PureDp, Exact::from(3u32)),
        PrivacyMap::linear(PureDp, &Exact::from(3u32)),
        PrivacyMap::linear(PureDp, "3").unwrap(),
        PrivacyMap::linear(PureDp, String::from("3")).unwrap(),
    ];
    for map in maps {
        assert_eq!(map.loss(&1), Ok(three.clone()));
    }
    let pair: EpsilonDelta = "(1, 1e-6)".parse().unwrap();
    let map: Map<_> = PrivacyMap::constant_up_to(ApproxDp, 1, "(1, 1e-6)").unwrap();
    assert_eq!(map.loss(&1), Ok(pair));
}

#[test]
fn bad_text_is_the_error_that_parsing_gives() {
    for text in ["", "-1", "NaN", "0,5", "1e", "(1, 0)", "0x1"] {
        let parsed = text.parse::<Epsilon>().unwrap_err();
        assert_eq!(IntoLoss::<Epsilon>::into_loss(text), Err(parsed.clone()));
        assert_eq!(
            PrivacyMap::per_record(PureDp, text).err(),
            Some(parsed.clone())
        );
        assert!(matches!(parsed, LossError::Text { .. }), "{parsed}");
    }
    let delta = Map::constant_up_to(ApproxDp, 1, "(1, 2)").unwrap_err();
    assert!(matches!(delta, LossError::Delta { .. }));
}

/// A float has been rounded before anybody here sees it.
#[test]
fn json_numbers_are_whole_or_in_quotes() {
    let read = serde_json::from_str::<Epsilon>;
    assert_eq!(read("\"0.05\"").unwrap(), "0.05".parse().unwrap());
    assert_eq!(read("3").unwrap(), "3".parse().unwrap());
    let most = u64::MAX.to_string();
    assert_eq!(read(&most).unwrap(), most.parse().unwrap());
    for float in ["0.05", "1e3", "-0.0", "1e400", "18446744073709551616"] {
        assert!(read(float).is_err(), "{float}");
    }
    let said = read("0.05").unwrap_err().to_string();
    assert!(
        said.contains("write the number in quotes, \"0.05\""),
        "{said}"
    );
    let said = read("-1").unwrap_err().to_string();
    assert!(said.contains("non-negative"), "{said}");
    assert!(read("null").is_err() && read("true").is_err() && read("[1]").is_err());
    let pair = serde_json::from_str::<EpsilonDelta>(r#"{"epsilon": 1, "delta": "1e-6"}"#);
    assert_eq!(pair.unwrap(), "(1, 1e-6)".parse().unwrap());
}

#[test]
fn debugged_losses_can_be_read() {
    let tenth: Epsilon = "0.1".parse().unwrap();
    let third = Epsilon::new(Exact::ratio(1, 3).unwrap());
    let pair: EpsilonDelta = "(1, 1e-6)".parse().unwrap();
    assert_eq!(format!("{tenth:?}"), "Epsilon(0.1)");
    assert_eq!(format!("{third:?}"), "Epsilon(about 0.33333333333333334)");
    assert_eq!(format!("{pair:?}"), "EpsilonDelta(1, 0.000001)");
}
