//! What an account was charged is put back, under every rule, at every distance, below parts and links.

use measures::ApproxDp;
use measures::adaptive::WhitehouseFilter;
use measures::convert::PureToApprox;

use super::*;

#[test]
fn losses_are_exact_where_maps_have_a_form() {
    let journal = Memory::new();
    let session = open(&journal);
    session.launch(&query("0.1")).unwrap();
    let session = open(&restarted(&journal));
    assert_eq!(session.privacy_loss(7).unwrap().to_string(), "0.7");
    let map = PrivacyMap::new(PureDp, |d_in: &u32| {
        Ok(Epsilon::new(exact::Exact::from(*d_in).times(2)).clone())
    });
    let closure = Measurement::new("closure", records(), map, |_, _| Ok(()));
    let journal = Memory::new();
    let books = Books::new(journal.clone());
    let session = organisation().open_on(&books, 3, vec![]).unwrap();
    session.launch(&closure).unwrap();
    assert_eq!(session.privacy_loss(4).unwrap().to_string(), "8");
    let books = Books::new(restarted(&journal));
    let session = organisation().open_on(&books, 3, vec![]).unwrap();
    assert_eq!(session.privacy_loss(3).unwrap().to_string(), "6");
    assert_eq!(session.privacy_loss(2).unwrap().to_string(), "6"); // what is known further away
    assert_eq!(session.privacy_loss(4).unwrap().to_string(), "inf");
}

#[test]
fn a_filter_only_rule_is_put_back() {
    let rule = || WhitehouseFilter::new("5e-7").unwrap();
    let journal = Memory::new();
    let open = |journal: &Memory| {
        let books = Books::new(journal.clone());
        let odometer = Odometer::new(records(), rule()).named("all");
        odometer.filter_on(&books, 1, "(1, 1e-6)", vec![]).unwrap()
    };
    let session = open(&journal);
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(0.01, 0)").unwrap();
    let small = Measurement::new("small", records(), map, |_, _| Ok(()));
    for _ in 0..100 {
        session.launch(&small).unwrap();
    }
    assert_eq!(
        open(&restarted(&journal)).spent().unwrap(),
        session.spent().unwrap()
    );
}

#[test]
fn parts_and_links_are_put_back() {
    let open = |journal: &Memory| {
        let books = Books::new(journal.clone());
        let odometer = Odometer::new(records(), Basic::new(ApproxDp)).named("all");
        let all = odometer
            .filter_on(&books, 1, "(2, 1e-6)", vec![1, 2, 3])
            .unwrap();
        let pure = all
            .link("pure")
            .nest_in(Basic::new(PureDp), PureToApprox)
            .unwrap();
        let parity = pure.link("parity").partition(1, |x| x % 2).unwrap();
        (all, pure, parity)
    };
    let journal = Memory::new();
    let (all, pure, parity) = open(&journal);
    assert_eq!(parity.part(1).unwrap().launch(&query("0.5")), Ok(2));
    parity.part(0).unwrap().launch(&query("0.7")).unwrap();
    pure.launch(&query("0.1")).unwrap();
    let again = restarted(&journal);
    let (all2, pure2, parity2) = open(&again);
    assert_eq!(all2.spent().unwrap(), all.spent().unwrap());
    for d_in in 1..4 {
        assert_eq!(
            pure2.privacy_loss(d_in).unwrap(),
            pure.privacy_loss(d_in).unwrap()
        );
    }
    // In another order of asking: a part is known by its key.
    assert_eq!(
        parity2
            .part(0)
            .unwrap()
            .privacy_loss(1)
            .unwrap()
            .to_string(),
        "0.7"
    );
    assert_eq!(
        parity2
            .part(1)
            .unwrap()
            .privacy_loss(2)
            .unwrap()
            .to_string(),
        "1"
    );
    parity2.part(1).unwrap().launch(&query("0.2")).unwrap();
    assert_eq!(pure2.privacy_loss(1).unwrap().to_string(), "0.8"); // the worst part still counts
    parity2.part(1).unwrap().launch(&query("0.1")).unwrap();
    assert_eq!(pure2.privacy_loss(1).unwrap().to_string(), "0.9");
    // Another version of the key function adds up.
    let other = pure2.link("parity").partition(2, |x| x % 3).unwrap();
    other.part(1).unwrap().launch(&query("0.1")).unwrap();
    assert_eq!(pure2.privacy_loss(1).unwrap().to_string(), "1");
}
