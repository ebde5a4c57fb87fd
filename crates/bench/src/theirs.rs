//! The same for OpenDP 0.16.

use opendp::{
    combinators::{make_fully_adaptive_composition, make_privacy_filter},
    core::{Function, Measurement, OdometerQueryable, PrivacyMap},
    domains::AtomDomain,
    measures::MaxDivergence,
    metrics::DiscreteDistance,
};

pub type Query = Measurement<AtomDomain<bool>, DiscreteDistance, MaxDivergence, ()>;
pub type Queryable = OdometerQueryable<Query, (), u32, f64>;

fn expect<T>(result: opendp::error::Fallible<T>) -> T {
    result.unwrap_or_else(|error| panic!("the benchmark is set up wrongly: {:?}", error.message))
}

/// A mechanism of loss 0.1 that does nothing, with the cheapest map there is.
pub fn null() -> Query {
    expect(Measurement::new(
        AtomDomain::<bool>::default(),
        DiscreteDistance,
        MaxDivergence,
        Function::new(|_: &bool| ()),
        PrivacyMap::new(|d_in: &u32| f64::from(*d_in) * 0.1),
    ))
}

pub fn odometer() -> Queryable {
    let odometer = make_fully_adaptive_composition(
        AtomDomain::<bool>::default(),
        DiscreteDistance,
        MaxDivergence,
    );
    expect(expect(odometer).invoke(&true))
}

pub fn filter() -> Queryable {
    let odometer = make_fully_adaptive_composition(
        AtomDomain::<bool>::default(),
        DiscreteDistance,
        MaxDivergence,
    );
    let filter = make_privacy_filter(expect(odometer), 1, 1e9);
    expect(expect(filter).invoke(&true))
}

pub fn launch(queryable: &mut Queryable, query: &Query) {
    expect(queryable.invoke(query.clone()));
}

pub fn loss(queryable: &mut Queryable, d_in: u32) -> f64 {
    expect(queryable.privacy_loss(d_in))
}
