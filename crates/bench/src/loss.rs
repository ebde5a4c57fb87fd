//! `bench loss`: asking for the privacy loss, at a distance asked before and at a new one.

use std::hint::black_box;

use crate::{
    measure::{Contestant, Effort, compare, print_table},
    ours, theirs,
};

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    let k: usize = match effort {
        Effort::Full => 100_000,
        Effort::Quick => 10_000,
    };
    println!("after {k} launches");
    let (alternating, fresh) = (ours::odometer(), ours::odometer());
    let queries = [ours::null(), ours::null().named("other")];
    let their_query = theirs::null();
    let (mut their_odometer, mut their_fresh) = (theirs::odometer(), theirs::odometer());
    for i in 0..k {
        ours::launch(&alternating, &queries[i % 2]);
        ours::launch(&fresh, &ours::null().named(i.to_string()));
        theirs::launch(&mut their_odometer, &their_query);
        theirs::launch(&mut their_fresh, &theirs::null());
    }
    let (mut next, mut next_fresh) = (1, 1);
    let timings = compare(
        effort,
        [
            Contestant::new("again", 1000, || {
                (0..1000).for_each(|_| drop(black_box(ours::loss(black_box(&alternating), 1))));
            }),
            Contestant::new("again, all children different", 1000, || {
                (0..1000).for_each(|_| drop(black_box(ours::loss(black_box(&fresh), 1))));
            }),
            Contestant::new("new d_in, alternating, per child", k, || {
                next += 1;
                black_box(ours::loss(&alternating, next));
            }),
            Contestant::new("new d_in, different, per child", k, || {
                next_fresh += 1;
                black_box(ours::loss(&fresh, next_fresh));
            }),
            Contestant::new("OpenDP, repeated, per child", k, || {
                black_box(theirs::loss(&mut their_odometer, 1));
            }),
            Contestant::new("OpenDP, different, per child", k, || {
                black_box(theirs::loss(&mut their_fresh, 1));
            }),
        ],
    );
    print_table(&timings);
    // Children that alternate are two entries. Different ones are k entries, and every map is asked.
    let [again, again_fresh, new, new_fresh, theirs, theirs_fresh] =
        timings.map(|timing| timing.best);
    format!(
        "bar: loss_ns={:.0} loss_ratio={:.0} new_d_in_ratio={:.1} new_d_in_different_ratio={:.1}",
        again.max(again_fresh),
        theirs * k as f64 / again,
        theirs / new,
        theirs_fresh / new_fresh
    )
}
