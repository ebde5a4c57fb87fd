//! Constructors. OpenDP's objects never cross threads, so what crosses is a closure that builds one: each thread builds
//! its own the first time it needs it, and keeps it.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt, panic,
    rc::Rc,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use opendp::error::Fallible;
use queryable::guarded;

use crate::error::BridgeError;

/// How many objects a thread keeps. Beyond that it forgets the one that was not used for the longest time, and builds it
/// again when it is needed.
const KEPT: usize = 1024;

/// How to build an OpenDP object: a closure that any thread may call.
///
/// Its author vouches that it builds the same object every time, and reads no data. A clone is the same constructor.
///
/// ```
/// use opendp::measurements::make_randomized_response_bool;
/// use opendp_bridge::Constructor;
/// let coin = Constructor::new(|| make_randomized_response_bool(0.75, false));
/// std::thread::spawn(move || coin.build().map(|_| ())).join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Constructor<T>(Arc<Inner<T>>);

struct Inner<T> {
    /// Never used again, so that a thread cannot take another constructor's object for this one's.
    id: u64,
    /// Gone when the constructor is.
    alive: Arc<()>,
    build: Box<dyn Fn() -> Result<T, BridgeError> + Send + Sync>,
}

impl<T: 'static> Constructor<T> {
    /// A constructor from a closure.
    pub fn new(build: impl Fn() -> Fallible<T> + Send + Sync + 'static) -> Self {
        Self::from_build(move || Ok(build()?))
    }

    /// The same, but what `check` refuses is not built.
    pub(crate) fn checked(
        self,
        check: impl Fn(&T) -> Result<(), BridgeError> + Send + Sync + 'static,
    ) -> Self {
        Self::from_build(move || {
            let built = self.build()?;
            check(&built)?;
            Ok(built)
        })
    }

    fn from_build(build: impl Fn() -> Result<T, BridgeError> + Send + Sync + 'static) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(Arc::new(Inner {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            alive: Arc::new(()),
            build: Box::new(build),
        }))
    }

    /// Builds a new object on this thread.
    ///
    /// # Errors
    /// [`BridgeError::Construction`] with OpenDP's text; [`BridgeError::ConstructorPanicked`].
    pub fn build(&self) -> Result<T, BridgeError> {
        guarded(|| {
            let _on_panic = Taint;
            (self.0.build)()
        })
        .unwrap_or(Err(BridgeError::ConstructorPanicked))
    }

    /// This thread's object.
    fn here(&self) -> Result<Rc<T>, BridgeError> {
        let id = self.0.id;
        // A thread that is being torn down has no cache any more: build, and do not keep.
        if let Ok(Some(built)) = CACHE.try_with(|cache| cache.borrow_mut().get(id))
            && let Ok(built) = built.downcast::<T>()
        {
            return Ok(built);
        }
        let built = Rc::new(self.build()?);
        let kept: Rc<dyn Any> = Rc::clone(&built) as Rc<dyn Any>;
        let alive = Arc::downgrade(&self.0.alive);
        let replaced = CACHE.try_with(|cache| cache.borrow_mut().insert(id, kept, alive));
        // Foreign destructors run here, when the cache is not borrowed any more.
        drop(replaced);
        Ok(built)
    }

    /// Uses this thread's object.
    ///
    /// A panic inside OpenDP may leave a wrapper in OpenDP's thread-local, and every queryable that OpenDP makes on that
    /// thread afterwards would be wrapped by a stranger. So from a thread's first panic on, OpenDP is used on helper
    /// threads instead: slow, and correct.
    pub(crate) fn with<R: Send>(
        &self,
        work: impl FnOnce(&T) -> R + Send,
    ) -> Result<R, BridgeError> {
        if TAINTED.get() {
            return self.elsewhere(work);
        }
        let built = self.here()?;
        let _on_panic = Taint;
        Ok(work(&built))
    }

    /// Uses a new object on a new thread.
    fn elsewhere<R: Send>(&self, work: impl FnOnce(&T) -> R + Send) -> Result<R, BridgeError> {
        // This may be code that sees data, and the new thread does not know: it may use no session of ours there, either.
        let guarded_work = || guarded(|| Ok(work(&self.build()?)));
        let done = thread::scope(|scope| scope.spawn(guarded_work).join());
        match done {
            Ok(Ok(result)) => result,
            // As it would have been here, but without a second message: the hook has been called there.
            _ => panic::resume_unwind(Box::new("OpenDP panicked")),
        }
    }
}

impl<T> Clone for Constructor<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Constructor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constructor of {}", std::any::type_name::<T>())
    }
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
    /// Did OpenDP code panic on this thread?
    static TAINTED: Cell<bool> = const { Cell::new(false) };
}

/// Taints the thread if dropped by a panic.
struct Taint;

impl Drop for Taint {
    fn drop(&mut self) {
        if thread::panicking() {
            TAINTED.set(true);
        }
    }
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
    use std::sync::atomic::AtomicUsize;

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
    fn after_a_panic_the_thread_uses_helpers() {
        let home = thread::current().id();
        let constructor = Constructor::new(|| Ok(1));
        assert_eq!(constructor.with(|_| thread::current().id()), Ok(home));
        let broken = Constructor::<u8>::new(|| panic!("in the constructor"));
        assert_eq!(broken.build(), Err(BridgeError::ConstructorPanicked));
        assert_ne!(constructor.with(|_| thread::current().id()), Ok(home));
    }
}
