//! Constructors. OpenDP's objects never cross threads, so what crosses is a closure that builds one: each thread builds
//! its own the first time it needs it, and keeps it.

use std::{
    any::Any,
    cell::RefCell,
    collections::HashMap,
    fmt,
    rc::Rc,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use opendp::error::Fallible;
use queryable::guarded;

use crate::{error::BridgeError, frame::framed};

/// How many objects a thread keeps. Beyond that it forgets the one that was not used for the longest time, and builds it
/// again when it is needed.
const KEPT: usize = 1024;

/// How long a constructor may take on the thread of an interactive object, unless it says less.
const PATIENCE: Duration = Duration::from_secs(30);

/// A closure that builds an OpenDP object, on any thread. Implemented for all that can.
pub trait Build<T>: Fn() -> Fallible<T> + Send + Sync + 'static {}

impl<T, F: Fn() -> Fallible<T> + Send + Sync + 'static> Build<T> for F {}

/// How to build an OpenDP object: a closure that any thread may call.
///
/// Its author vouches that it builds the same object every time, and reads no data. A clone is the same constructor.
///
/// ```
/// use opendp::measurements::make_randomized_response_bool;
/// use odometry::opendp_bridge::Constructor;
/// let coin = Constructor::new(|| make_randomized_response_bool(0.75, false));
/// std::thread::spawn(move || coin.build().map(|_| ())).join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Constructor<T> {
    inner: Arc<Inner<T>>,
    patience: Duration,
}

struct Inner<T> {
    /// Never used again, so that a thread cannot take another constructor's object for this one's.
    id: u64,
    /// Gone when the constructor is.
    alive: Arc<()>,
    build: Box<dyn Fn() -> Result<T, BridgeError> + Send + Sync>,
}

impl<T: 'static> Constructor<T> {
    /// A constructor from a closure.
    pub fn new(build: impl Build<T>) -> Self {
        Self::from_build(move || Ok(build()?))
    }

    /// What this one builds, made into something else.
    pub(crate) fn then<U: 'static>(
        self,
        make: impl Fn(T) -> Result<U, BridgeError> + Send + Sync + 'static,
    ) -> Constructor<U> {
        Constructor::from_build(move || make((self.inner.build)()?))
    }

    fn from_build(build: impl Fn() -> Result<T, BridgeError> + Send + Sync + 'static) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            inner: Arc::new(Inner {
                id: NEXT.fetch_add(1, Ordering::Relaxed),
                alive: Arc::new(()),
                build: Box::new(build),
            }),
            patience: PATIENCE,
        }
    }

    /// The same constructor, but when it is sent to an interactive object it may take only this long to build (at most
    /// and without this: 30 seconds). If it takes longer, the object is given up: whoever waits for it is told so, and it
    /// answers nobody any more. Nothing else ends a constructor that waits for a thread which asks the same object.
    pub fn within(self, patience: Duration) -> Self {
        Self {
            patience: patience.min(PATIENCE),
            ..self
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// Builds a new object on this thread.
    ///
    /// # Errors
    /// [`BridgeError::Construction`] with OpenDP's text; [`BridgeError::ConstructorPanicked`].
    pub fn build(&self) -> Result<T, BridgeError> {
        framed(|| (self.inner.build)()).unwrap_or(Err(BridgeError::ConstructorPanicked))
    }

    /// This thread's object.
    fn here(&self) -> Result<Rc<T>, BridgeError> {
        let id = self.inner.id;
        // A thread that is being torn down has no cache any more: build, and do not keep.
        if let Ok(Some(built)) = CACHE.try_with(|cache| cache.borrow_mut().get(id))
            && let Ok(built) = built.downcast::<T>()
        {
            return Ok(built);
        }
        let built = Rc::new(self.build()?);
        let kept: Rc<dyn Any> = Rc::clone(&built) as Rc<dyn Any>;
        let alive = Arc::downgrade(&self.inner.alive);
        let replaced = CACHE.try_with(|cache| cache.borrow_mut().insert(id, kept, alive));
        // Foreign destructors run here, when the cache is not borrowed any more.
        let _ = guarded(|| drop(replaced));
        Ok(built)
    }

    /// Uses this thread's object.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and [`BridgeError::Panicked`].
    pub(crate) fn with<R>(&self, work: impl FnOnce(&T) -> R) -> Result<R, BridgeError> {
        let built = self.here()?;
        framed(|| work(&built)).map_err(|_| BridgeError::Panicked)
    }
}

impl<T> Clone for Constructor<T> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            patience: self.patience,
        }
    }
}

impl<T> fmt::Debug for Constructor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constructor of {}", std::any::type_name::<T>())
    }
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

/// What a thread has built.
#[derive(Default)]
struct Cache {
    built: HashMap<u64, Kept>,
    /// Counts uses.
    now: u64,
    /// How many objects there may be before the dead ones are looked for.
    look_at: usize,
}

struct Kept {
    object: Rc<dyn Any>,
    alive: Weak<()>,
    used: u64,
}

impl Cache {
    fn get(&mut self, id: u64) -> Option<Rc<dyn Any>> {
        self.now += 1;
        let kept = self.built.get_mut(&id)?;
        kept.used = self.now;
        Some(Rc::clone(&kept.object))
    }

    /// Keeps an object, and returns those that are not kept any more: whose constructor is gone, or too many.
    fn insert(&mut self, id: u64, object: Rc<dyn Any>, alive: Weak<()>) -> Vec<Kept> {
        let mut out = Vec::new();
        if self.built.len() >= self.look_at {
            out.extend(
                self.built
                    .extract_if(|_, kept| kept.alive.strong_count() == 0)
                    .map(|(_, kept)| kept),
            );
            self.look_at = (2 * self.built.len()).clamp(16, KEPT);
        }
        if self.built.len() >= KEPT
            && let Some(oldest) = self
                .built
                .iter()
                .min_by_key(|(_, kept)| kept.used)
                .map(|(&id, _)| id)
        {
            out.extend(self.built.remove(&oldest));
        }
        let used = self.now;
        let kept = Kept {
            object,
            alive,
            used,
        };
        out.extend(self.built.insert(id, kept));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::atomic::AtomicUsize, thread};

    fn counted(built: &Arc<AtomicUsize>) -> Constructor<Rc<u8>> {
        let built = Arc::clone(built);
        Constructor::new(move || {
            built.fetch_add(1, Ordering::SeqCst);
            Ok(Rc::new(7))
        })
    }

    #[test]
    fn each_thread_builds_once() {
        let built = Arc::new(AtomicUsize::new(0));
        let constructor = counted(&built);
        for threads in 1..=3 {
            thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..10 {
                        assert_eq!(constructor.with(|seven| **seven), Ok(7));
                    }
                });
            });
            assert_eq!(built.load(Ordering::SeqCst), threads);
        }
    }

    fn kept_here() -> usize {
        CACHE.with(|cache| cache.borrow().built.len())
    }

    #[test]
    fn what_a_thread_keeps_is_bounded_and_the_dead_go() {
        let built = Arc::new(AtomicUsize::new(0));
        for _ in 0..1000 {
            counted(&built).with(|_| ()).unwrap();
            assert!(kept_here() <= 17);
        }
        let alive: Vec<_> = (0..KEPT + 50).map(|_| counted(&built)).collect();
        for constructor in &alive {
            constructor.with(|_| ()).unwrap();
        }
        assert_eq!(kept_here(), KEPT);
        // The newest are still there, the oldest are built again.
        let before = built.load(Ordering::SeqCst);
        alive[KEPT + 49].with(|_| ()).unwrap();
        assert_eq!(built.load(Ordering::SeqCst), before);
        alive[0].with(|_| ()).unwrap();
        assert_eq!(built.load(Ordering::SeqCst), before + 1);
    }

    #[test]
    fn a_constructor_may_use_another() {
        let inner = Constructor::new(|| Ok(20));
        let outer = Constructor::new(move || Ok(inner.with(|x| x + 1).unwrap()));
        assert_eq!(outer.with(|x| x * 2), Ok(42));
    }

    #[test]
    fn after_a_panic_the_thread_keeps_what_it_built() {
        let built = Arc::new(AtomicUsize::new(0));
        let constructor = counted(&built);
        constructor.with(|_| ()).unwrap();
        let broken = Constructor::<u8>::new(|| panic!("in the constructor"));
        assert_eq!(broken.build(), Err(BridgeError::ConstructorPanicked));
        assert_eq!(broken.with(|_| ()), Err(BridgeError::ConstructorPanicked));
        let panicked = constructor.with(|_| -> u8 { panic!("at work") });
        assert_eq!(panicked, Err(BridgeError::Panicked));
        assert_eq!(constructor.with(|seven| **seven), Ok(7));
        assert_eq!(built.load(Ordering::SeqCst), 1);
    }
}
