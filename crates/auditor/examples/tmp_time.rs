use auditor::{Input, Part, audit};
use queryable::{Root, Scope, coins::{Bit, Probability}, compose::{ConComp, Part as Boxed, Routed, Unparsable}, machine};
fn two_round(input: Input, hidden: bool, k: u64) -> Boxed<bool, bool> {
    let mut coin = None; let mut round = 0u64; let mut last = false;
    Box::new(machine(move |q: bool, scope: &mut Scope<'_>| {
        let c = match coin { Some(c) => c, None if hidden => *coin.insert(scope.draw(&Bit::new(Probability::new(1,3).unwrap()))?), None => false };
        round += 1;
        if round == 2 { scope.halt(); }
        let n = 2 + k + u64::from(c) + 2*u64::from(q) + u64::from(last) + input.index() as u64;
        last = scope.draw(&Bit::new(Probability::new(n, 12).unwrap()))?;
        Ok(last)
    }))
}
fn main() {
    for hidden in [false, true] {
        let build = |input: Input, root: &Root| root.spawn(ConComp::new((0..3).map(|k| two_round(input, hidden, k)).collect(), Unparsable::Refuse));
        let parts: Vec<_> = (0..3).map(|to| Part::new(2, move |_: &[_]| vec![Routed{to, query: false}, Routed{to, query: true}])).collect();
        for _ in 0..3 {
        let r = audit(build).concurrently(&parts).unwrap();
        println!("{hidden} {:?} corners {} {}", r.stats(), r.profile(auditor::Direction::ZeroOverOne).corners().len(), r.total_variation());
        }
    }
}
