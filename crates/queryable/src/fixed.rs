//! Queries that cannot change once they are asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{
    canonical::Attested, compose::Routed, error::AskError, interaction::Move, postprocess::Side,
};

/// Plain data: a value that is the same from when it is asked until the step ends.
///
/// Composition theorems speak of messages. A query is no message if it can bring data into a step
/// that is already running: a channel, an iterator over one, or memory that other code can write to
/// (`Arc<Mutex<…>>`, `&'static AtomicU64`). Such a query could bring the answer of a machine that
/// was launched later. The message forms ([`compose`](crate::compose), and those of odometers) take
/// only queries of this trait.
///
/// It is implemented for values of the standard library that hold their data alone. Shared pointers
/// (`Arc`, `Rc`, `Weak`) are not included, whatever they point to: each clone writes to a count
/// that all other clones read. Nor is `Cow`: equal values differ in whether they are borrowed. The
/// author of another type vouches that neither it nor any of its fields has interior state:
///
/// ```
/// use odometry::queryable::Fixed;
/// enum Question { Count, Above(u32) }
/// impl Fixed for Question {}
/// ```
///
/// ```compile_fail,E0277
/// use odometry::queryable::{Root, compose::{ConComp, BoxedMachine, Unparsable}, machine};
/// type Later = std::sync::mpsc::Receiver<u32>;
/// let part: BoxedMachine<Later, u32> = Box::new(machine(|later: Later, _| Ok(later.recv().unwrap_or(0))));
/// ConComp::new(vec![part], Unparsable::Refuse); // error: `Receiver<u32>` is not `Fixed`
/// ```
///
/// ```compile_fail,E0277
/// use odometry::queryable::{Root, compose::{ConComp, BoxedMachine, Unparsable}, machine};
/// use std::sync::Arc;
/// // Reads how many clones the analyst has made since it asked.
/// let part: BoxedMachine<Arc<()>, usize> = Box::new(machine(|query, _| Ok(Arc::strong_count(&query))));
/// ConComp::new(vec![part], Unparsable::Refuse); // error: `Arc<()>` is not `Fixed`
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` may change after it was asked",
    note = "a message is plain data, without shared pointers, cells or locks; for a type that has none in any field, write \
            `impl queryable::Fixed for {Self} {{}}`"
)]
pub trait Fixed {}

macro_rules! plain {
    ($($name:ty),*) => { $(impl Fixed for $name {})* };
}

plain!(
    (),
    bool,
    char,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    f32,
    f64,
    String,
    &str,
    Duration,
    AskError
);

impl<T: Fixed> Fixed for Option<T> {}
impl<T: Fixed> Fixed for Attested<T> {}
impl<T: Fixed, E: Fixed> Fixed for Result<T, E> {}
impl<T: Fixed> Fixed for [T] {}
impl Fixed for str {}
impl<T: Fixed, const N: usize> Fixed for [T; N] {}
impl<T: Fixed> Fixed for Vec<T> {}
impl<T: Fixed + ?Sized> Fixed for Box<T> {}
impl<K: Fixed, V: Fixed> Fixed for BTreeMap<K, V> {}
impl<T: Fixed> Fixed for BTreeSet<T> {}
impl<A: Fixed> Fixed for (A,) {}
impl<A: Fixed, B: Fixed> Fixed for (A, B) {}
impl<A: Fixed, B: Fixed, C: Fixed> Fixed for (A, B, C) {}
impl<A: Fixed, B: Fixed, C: Fixed, D: Fixed> Fixed for (A, B, C, D) {}
impl<Q: Fixed> Fixed for Routed<Q> {}
impl<Q: Fixed> Fixed for Move<Q> {}
impl<L: Fixed, R: Fixed> Fixed for Side<L, R> {}
