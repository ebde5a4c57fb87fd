//! Refusals with the losses themselves, beside the words.

use crate::common::*;
use measures::adaptive::WhitehouseFilter;
use measures::convert::PureToApprox;
use measures::{ApproxDp, Basic, Epsilon, EpsilonDelta, Loss, Rho, Zcdp};
use odometer::{LaunchError, Odometer, Refusal, RefusedLosses};

fn losses<C: Loss, T: Loss>(refusal: &Refusal) -> RefusedLosses<C, T> {
    refusal.losses().unwrap().clone()
}

#[test]
fn losses_say_the_same_as_the_words() {
    let session = filtered("1");
    session.launch(&pure("0.75")).unwrap();
    let launched = refusal(session.launch(&pure("0.5")).unwrap_err());
    let mut plan = session.plan().unwrap();
    let all = [
        refusal(session.would_admit(&pure("0.5")).unwrap_err()),
        refusal(plan.launch(&pure("0.5")).unwrap_err()),
        refusal(session.launch_within(&pure("0.5"), 1, "1").unwrap_err()),
        launched,
    ];
    for refusal in &all {
        let losses: RefusedLosses<Epsilon> = losses(refusal);
        assert_eq!(losses.asked, loss("0.5"));
        assert_eq!(losses.spent.bound(), &loss("0.75"));
        assert_eq!(losses.remaining, Some(loss("0.25")));
        assert_eq!(losses.budget, loss("1"));
        assert_eq!(refusal.asked, losses.asked.to_string());
        assert_eq!(
            refusal.remaining,
            losses.remaining.map(|rest| rest.shown_down())
        );
        assert_eq!(refusal.losses::<Rho, Rho>(), None, "not in ρ");
        assert_eq!(refusal.losses::<Epsilon, Rho>(), None);
    }
    assert!(all.iter().all(|refusal| *refusal == all[0]));
}

#[test]
fn what_is_left_is_exact_and_is_admitted() {
    // A third, rounded up, has more digits than words show.
    let session = filtered("1");
    let third = exact::Exact::ratio(1, 3).unwrap();
    let costs = |cost: &Epsilon| {
        let map = measures::PrivacyMap::per_record(measures::PureDp, cost);
        odometer::Measurement::new("query", records(), map, |_, _| Ok(()))
    };
    session.launch(&costs(&Epsilon::new(third))).unwrap();
    let refused = refusal(session.launch(&pure("0.7")).unwrap_err());
    let rest = losses::<Epsilon, Epsilon>(&refused).remaining.unwrap();
    assert_ne!(rest.shown_down().parse(), Ok(rest.clone()));
    session.launch(&costs(&rest)).unwrap();
    assert_eq!(session.remaining(1).unwrap(), Some(loss("0")));
}

#[test]
fn an_account_above_in_another_measure_answers_in_its_own_losses() {
    let approx = Odometer::new(records(), Basic::new(ApproxDp)).named("above");
    let approx = approx
        .filter(1, "(1, 1e-6)")
        .unwrap()
        .invoke(vec![1])
        .unwrap();
    let below = approx.nest_in(BASIC, PureToApprox).unwrap();
    let refused = refusal(below.launch(&pure("2")).unwrap_err());
    assert_eq!(refused.account, "above");
    assert_eq!(refused.losses::<Epsilon, Epsilon>(), None);
    let losses: RefusedLosses<EpsilonDelta> = losses(&refused);
    assert_eq!(losses.asked, loss("(2, 0)"));
    assert_eq!(losses.remaining, Some(loss("(1, 1e-6)")));
}

#[test]
fn filters_and_parts_have_them_too() {
    let rule = WhitehouseFilter::new("5e-7").unwrap();
    let session = filtered_with(rule, "(1, 1e-6)");
    let refused = refusal(session.launch(&flat(ApproxDp, "(3, 0)")).unwrap_err());
    let whitehouse: RefusedLosses<EpsilonDelta> = losses(&refused);
    let rest = whitehouse.remaining.unwrap();
    assert!(!loss::<EpsilonDelta>("(3, 0)").at_most(&rest));
    session.launch(&flat(ApproxDp, &rest.shown_down())).unwrap();

    let session = filtered_with(Basic::new(Zcdp), "1");
    let part = session.partition(|x| x % 2).unwrap().part(1).unwrap();
    let refused = refusal(part.launch(&zcdp("1.5")).unwrap_err());
    assert_eq!(losses::<Rho, Rho>(&refused).asked, loss("1.5"));
    assert!(matches!(session.launch(&zcdp("1")), Ok(())));
    assert!(matches!(
        part.launch(&zcdp("1e-9")),
        Err(LaunchError::Refused(_))
    ));
}
