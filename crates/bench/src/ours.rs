//! Null mechanisms and sessions of ours: what a launch costs besides the mechanism.

use measures::{Basic, PrivacyMap, PureDp, SymmetricDistance};
use odometer::{Any, Measurement, Odometer, Session};

pub type Pure = Basic<PureDp>;
pub type Query = Measurement<Any<bool, SymmetricDistance>, PureDp, ()>;
pub type PureSession = Session<Any<bool, SymmetricDistance>, Pure>;

pub fn space() -> Any<bool, SymmetricDistance> {
    Any::with(SymmetricDistance)
}

pub fn expect<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("the benchmark is set up wrongly: {error}"))
}

/// A mechanism of loss 0.1 that does `work`.
pub fn query(work: impl Fn() + Send + Sync + 'static) -> Query {
    priced("0.1", work)
}

/// A mechanism of this loss that does `work`.
pub fn priced(loss: &str, work: impl Fn() + Send + Sync + 'static) -> Query {
    let map = expect(PrivacyMap::per_record(PureDp, loss));
    Measurement::new("null", space(), map, move |_, _| {
        work();
        Ok(())
    })
}

/// A mechanism that does nothing.
pub fn null() -> Query {
    query(|| ())
}

pub fn odometer() -> PureSession {
    expect(Odometer::new(space(), Basic::new(PureDp)).open(true))
}

/// A budget that no benchmark spends.
pub const PLENTY: &str = "1000000000";

pub fn filter() -> PureSession {
    let filter = Odometer::new(space(), Basic::new(PureDp)).filter(1, PLENTY);
    expect(expect(filter).invoke(true))
}

pub fn capped(session: &PureSession) -> PureSession {
    expect(session.nested("inner").capped(1, PLENTY).open())
}

pub fn launch(session: &PureSession, query: &Query) {
    expect(session.launch(query));
}

pub fn loss(session: &PureSession, d_in: u32) -> measures::Total<measures::Epsilon> {
    expect(session.privacy_loss(&d_in))
}
