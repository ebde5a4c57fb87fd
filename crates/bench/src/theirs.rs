//! The same for OpenDP 0.16.

use std::{any::Any, hint::black_box};

use opendp::{
    combinators::{make_fully_adaptive_composition, make_privacy_filter},
    core::{Function, Measurement, OdometerQueryable, PrivacyMap},
    domains::AtomDomain,
    measures::MaxDivergence,
    metrics::DiscreteDistance,
};

/// Children of any answer type, as ours: OpenDP boxes the answers for that.
pub type Query = Measurement<AtomDomain<bool>, DiscreteDistance, MaxDivergence, Box<dyn Any>>;
pub type Queryable = OdometerQueryable<Query, Box<dyn Any>, u32, f64>;

fn expect<T>(result: opendp::error::Fallible<T>) -> T {
    result.unwrap_or_else(|error| panic!("the benchmark is set up wrongly: {:?}", error.message))
}

/// A mechanism of loss 0.1 that does nothing, with the cheapest map there is.
pub fn null() -> Query {
    let null = Measurement::new(
        AtomDomain::<bool>::default(),
        DiscreteDistance,
        MaxDivergence,
        Function::new(|_: &bool| 0u8),
        PrivacyMap::new(|d_in: &u32| f64::from(*d_in) * 0.1),
    );
    expect(null).into_poly()
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
    black_box(expect(queryable.invoke_poly::<u8>(query.clone())));
}

/// Launches so many null mechanisms under a bare odometer, each time it is called. The odometer is a new one now and then: it keeps
/// every map for ever.
pub fn launches(batch: usize) -> impl FnMut() {
    let (query, mut odometer, mut launched) = (null(), self::odometer(), 0);
    move || {
        launched += batch;
        if launched > 100_000 {
            (odometer, launched) = (self::odometer(), batch);
        }
        (0..batch).for_each(|_| launch(&mut odometer, black_box(&query)));
    }
}

pub fn loss(queryable: &mut Queryable, d_in: u32) -> f64 {
    expect(queryable.privacy_loss(d_in))
}
