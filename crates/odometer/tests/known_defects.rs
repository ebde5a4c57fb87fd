//! Known defects: each test states what the code does today, and why that is wrong. The redesign of admission (issue 26) turns these
//! tests round: then the last assertions of each must fail, and are replaced by their opposite.

use crate::common::*;
use odometer::{LaunchError, Odometer};

const QUOTA: u32 = 8;

fn organisation() -> PureSession {
    let odometer = Odometer::new(records(), BASIC).named("the organisation");
    let filter = odometer.quota(QUOTA).filter(1, "3").unwrap();
    filter.invoke(vec![1]).unwrap()
}

fn is_full(error: &LaunchError) -> bool {
    matches!(error, LaunchError::LedgerFull { account, quota: QUOTA } if &**account == "the organisation")
}

/// By default the list has 2^20 places, and a team fills it in seconds.
#[test]
fn known_defect_a_team_with_a_cap_of_zero_fills_the_list_of_its_organisation() {
    let organisation = organisation();
    let red = organisation.nested("red").capped(1, "0").open().unwrap();
    let blue = organisation.nested("blue").capped(1, "1").open().unwrap();
    blue.launch(&pure("0.1")).unwrap();
    let launched = (0..1000).take_while(|_| red.launch(&pure("0")).is_ok());
    assert_eq!(launched.count(), QUOTA as usize - 1);
    assert_eq!(spent(&red, 1), loss("0"));
    assert_eq!(spent(&organisation, 1), loss("0.1"));
    // Wrong: a team that spends nothing stops all others, although their budgets are hardly touched.
    assert!(is_full(&blue.launch(&pure("0.1")).unwrap_err()));
    assert!(is_full(&organisation.launch(&pure("0.1")).unwrap_err()));
}

/// By default the list has 2^24 changes, and two teams fill it in half a minute.
#[test]
fn known_defect_two_teams_in_turns_fill_the_changes_of_their_organisation() {
    let organisation = organisation();
    let team = |name: &str| organisation.nested(name).quota(1).capped(1, "0").open();
    let teams = [team("red").unwrap(), team("green").unwrap()];
    let blue = organisation.nested("blue").capped(1, "1").open().unwrap();
    // Each team launches one measurement, again and again: its own quota of one is enough.
    let queries = [pure("0"), pure("0")];
    let in_turns = |turn: &usize| teams[turn % 2].launch(&queries[turn % 2]).is_ok();
    assert_eq!((0..1000).take_while(in_turns).count(), 16 * QUOTA as usize);
    assert_eq!(spent(&organisation, 1), loss("0"));
    // Wrong: two teams that spend nothing stop all others.
    assert!(is_full(&blue.launch(&pure("0.1")).unwrap_err()));
    assert!(is_full(&organisation.launch(&pure("0.1")).unwrap_err()));
}
