//! Which types are canonical and which are fixed, and what a rebuilt value keeps.

use std::{
    borrow::Cow,
    cell::{Cell, OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    marker::PhantomData,
    path::PathBuf,
    rc::Rc,
    sync::{Arc, Mutex, OnceLock, RwLock, Weak, atomic::AtomicU64, mpsc::Receiver},
};

use queryable::{AskError, Attested, Canonical, Fixed};

/// Says which traits a type has: an inherent constant hides that of the trait where its bound
/// holds.
struct Probe<T>(PhantomData<T>);

trait Otherwise {
    const FIXED: bool = false;
    const CANONICAL: bool = false;
}

impl<T> Otherwise for Probe<T> {}

impl<T: Fixed> Probe<T> {
    const FIXED: bool = true;
}

impl<T: Canonical> Probe<T> {
    const CANONICAL: bool = true;
}

macro_rules! all {
    ($what:ident is $expected:literal: $($type:ty),* $(,)?) => {
        $(assert_eq!(Probe::<$type>::$what, $expected, stringify!($type));)*
    };
}

#[test]
fn what_is_shared_or_has_interior_state_is_not_fixed() {
    all!(FIXED is false:
        Arc<()>, Arc<[u8]>, Arc<str>, Rc<u8>, Weak<u8>, std::rc::Weak<u8>, Cow<'static, str>, Cow<'static, [u8]>,
        Cell<u8>, RefCell<u8>, OnceCell<u8>, Mutex<u8>, RwLock<u8>, OnceLock<u8>, AtomicU64, Receiver<u8>,
        &'static AtomicU64, fn() -> u8, *const u8, Box<dyn Fn()>,
        Option<Arc<u8>>, Vec<Rc<u8>>, (u8, Arc<u8>), [Cow<'static, str>; 2], Box<Arc<u8>>, Attested<Arc<u8>>,
        BTreeMap<u8, Arc<u8>>, Result<u8, Arc<u8>>,
    );
    all!(FIXED is true: (), u8, f64, String, &'static str, Option<Vec<(u8, String)>>, Box<[u8]>, AskError, Attested<u8>);
}

#[test]
fn types_with_equal_values_that_differ_are_not_canonical() {
    all!(CANONICAL is false:
        PathBuf, OsString, f32, f64, Arc<u8>, Rc<u8>, Cow<'static, str>, Box<u8>, *const u8, &'static u8, fn() -> u8,
        Option<PathBuf>, Vec<f64>, (u8, Arc<u8>), [Cow<'static, str>; 2], Result<u8, PathBuf>, BTreeSet<PathBuf>,
        BTreeMap<u8, PathBuf>, BTreeMap<PathBuf, u8>,
    );
    all!(CANONICAL is true:
        (), bool, char, u8, i128, u128, usize, String, &'static str, AskError, Vec<u8>, Vec<String>, [u8; 3], (u8,),
        (u8, &'static str, Option<char>, Vec<bool>), Result<(), AskError>, BTreeMap<u8, BTreeSet<String>>,
        Attested<PathBuf>, Option<Attested<PathBuf>>,
    );
}

fn roomy(room: usize) -> String {
    let mut text = String::with_capacity(room);
    text.push('x');
    text
}

/// What safe code reads of a value apart from its value.
fn layout(value: &impl Canonical) -> Vec<usize> {
    let mut layout = Vec::new();
    value.layout(&mut layout);
    layout
}

#[test]
fn a_rebuilt_value_is_equal_and_keeps_no_capacity() {
    fn rebuilt<T: Canonical<Rebuilt = T>>(of_room: impl Fn(usize) -> T) {
        let (one, other) = (of_room(10), of_room(20));
        assert_eq!(one, other);
        assert_ne!(layout(&one), layout(&other));
        assert_eq!(one.rebuild(), one);
        assert_eq!(layout(&one.rebuild()), layout(&other.rebuild()));
    }
    rebuilt(roomy);
    rebuilt(Vec::<u8>::with_capacity);
    rebuilt(|room| Some(roomy(room)));
    rebuilt(|room| Ok::<_, AskError>(roomy(room)));
    rebuilt(|room| Err::<u8, _>(roomy(room)));
    rebuilt(|room| [roomy(1), roomy(room)]);
    rebuilt(|room| (roomy(room),));
    rebuilt(|room| (1, roomy(room)));
    rebuilt(|room| (roomy(room), 2, 'c'));
    rebuilt(|room| (1, 2, 3, roomy(room)));
    rebuilt(|room| vec![roomy(room)]);
    rebuilt(|room| BTreeSet::from([roomy(room)]));
    rebuilt(|room| BTreeMap::from([(1, roomy(room))]));
    rebuilt(|room| BTreeMap::from([(roomy(room), 1)]));
}

#[test]
fn a_rebuilt_static_string_is_a_new_one() {
    const TEXT: &str = "aa";
    let (one, other) = (&TEXT[..1], &TEXT[1..]);
    assert_eq!(one, other);
    assert_ne!(layout(&one), layout(&other));
    let both: [String; 2] = [one, other].rebuild();
    assert_eq!(layout(&both), [1, 1]);
    assert_eq!(both, ["a", "a"]);
}

#[test]
fn the_text_of_an_error_has_no_capacity() {
    let texts = [
        AskError::failed("no"),
        AskError::failed(roomy(99).replace('x', "no")),
        AskError::failed(Cow::Owned(String::from("no"))),
    ];
    for error in texts {
        let AskError::Failed(text) = error else {
            unreachable!()
        };
        let text: Box<str> = text;
        assert_eq!(&*text, "no");
    }
}
