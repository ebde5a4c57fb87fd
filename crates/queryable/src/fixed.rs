//! Queries that cannot change once they are asked.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use crate::{compose::Routed, error::AskError, interaction::Move, postprocess::Side};

/// Plain data: a value that is the same from when it is asked until the step ends.
///
/// Composition theorems speak of messages. A query that is a channel, an iterator over one, or memory that somebody
/// else can write into (`Arc<Mutex<…>>`, `&'static AtomicU64`) is not a message: while a step runs it can bring news,
/// the answer of a machine that was launched later, for one. The message forms ([`compose`](crate::compose), and those of
/// odometers) take only queries of this trait. It is implemented for values of the standard library that cannot change
/// behind their owner's back; for a type of one's own, its author says so:
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` may change after it was asked",
    note = "a message is plain data; if it is, say so with `impl queryable::Fixed for {Self} {{}}`"
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
impl<T: Fixed, E: Fixed> Fixed for Result<T, E> {}
impl<T: Fixed> Fixed for [T] {}
impl Fixed for str {}
impl<T: Fixed, const N: usize> Fixed for [T; N] {}
impl<T: Fixed> Fixed for Vec<T> {}
impl<T: Fixed + ?Sized> Fixed for Box<T> {}
/// Shared, and nobody can write into it.
impl<T: Fixed + ?Sized> Fixed for Arc<T> {}
impl<T: Fixed + ToOwned<Owned: Fixed> + ?Sized> Fixed for Cow<'_, T> {}
impl<K: Fixed, V: Fixed> Fixed for BTreeMap<K, V> {}
impl<T: Fixed> Fixed for BTreeSet<T> {}
impl<A: Fixed> Fixed for (A,) {}
impl<A: Fixed, B: Fixed> Fixed for (A, B) {}
impl<A: Fixed, B: Fixed, C: Fixed> Fixed for (A, B, C) {}
impl<A: Fixed, B: Fixed, C: Fixed, D: Fixed> Fixed for (A, B, C, D) {}
impl<Q: Fixed> Fixed for Routed<Q> {}
impl<Q: Fixed> Fixed for Move<Q> {}
impl<L: Fixed, R: Fixed> Fixed for Side<L, R> {}
