//! The tree of machines and roots: which one spawned which, and which code may ask which.
//!
//! Code that sees data may ask only machines below its own. A step cannot be handed a capability for that, because a
//! closure may capture any handle. So every ask compares its place with the code that [runs](crate::running) on the thread.

use std::{any::Any, sync::Arc};

use fork_count::Process;

use crate::{
    coins::Source,
    error::AskError,
    running::{ANALYST, Asker, Now, now},
    tenant::Tenant,
};

/// How deep machines may be nested: spawned by one another, or post-processing one another. One more is how many steps
/// may run inside one another, whatever asks whom.
pub const MAX_DEPTH: u16 = 256;

/// A machine or a root as its descendants know it.
pub(crate) struct Lineage {
    /// What stands above it; above a root, that is a machine.
    parent: Option<Arc<Lineage>>,
    is_root: bool,
    /// What its children's coins come from.
    source: Source,
    /// A root's values, with those of the roots above.
    carried: Option<Carried>,
    /// A root's tenant: everything below it has it. (A machine's is that of the root above.)
    tenant: Tenant,
    /// Is it the machine of an analyst's post-processor? Then nothing below finds the values that are carried above.
    is_analysts: bool,
}

/// Values that everything below a root finds by their types: of each type, the one of the nearest root.
type Carried = Arc<[Arc<dyn Any + Send + Sync>]>;

/// The place of a machine, a function or a root in the tree: who stands above it, and how deep it is.
#[derive(Clone)]
pub(crate) struct Position {
    /// A root stands below itself.
    spawner: Arc<Lineage>,
    depth: u16,
    /// Where the root above was made: no other process may use anything below it.
    process: Process,
    /// Are answers withheld that were not complete in time?
    withholds: bool,
    /// Does an analyst's post-processor stand here?
    is_analysts: bool,
}

impl Position {
    /// Where a root on the analyst's side and its children stand: below nobody else.
    pub(crate) fn top(source: Source) -> Self {
        Self {
            spawner: Arc::new(Lineage {
                parent: None,
                is_root: true,
                source,
                carried: None,
                tenant: Tenant::NONE,
                is_analysts: false,
            }),
            depth: 0,
            process: Process::current(),
            withholds: false,
            is_analysts: false,
        }
    }

    /// Where another root and its children stand that is made here: below the same machine.
    pub(crate) fn root(&self, source: Source) -> Self {
        self.root_with(source, self.all_carried().cloned(), self.tenant())
    }

    /// Where another root stands that carries this value, too, with this tenant for whatever is below it.
    pub(crate) fn carrying<T: Any + Send + Sync>(
        &self,
        source: Source,
        value: T,
        tenant: Tenant,
    ) -> Self {
        let above = self.all_carried().into_iter().flat_map(|all| all.iter());
        let others = above.filter(|value| !value.is::<T>()).cloned();
        let value: Arc<dyn Any + Send + Sync> = Arc::new(value);
        let carried = others.chain([value]).collect();
        self.root_with(source, Some(carried), tenant)
    }

    /// Where another root stands, with this tenant for whatever is below it.
    pub(crate) fn tenant_root(&self, source: Source, tenant: Tenant) -> Self {
        self.root_with(source, self.all_carried().cloned(), tenant)
    }

    fn root_with(&self, source: Source, carried: Option<Carried>, tenant: Tenant) -> Self {
        Self {
            spawner: Arc::new(Lineage {
                parent: self.machine().cloned(),
                is_root: true,
                source,
                carried,
                tenant,
                is_analysts: false,
            }),
            depth: self.depth,
            process: self.process,
            withholds: self.withholds,
            is_analysts: false,
        }
    }

    /// Here and below, answers are withheld that were not complete in time.
    pub(crate) fn withholding(self) -> Self {
        Self {
            withholds: true,
            ..self
        }
    }

    #[inline]
    pub(crate) fn withholds(&self) -> bool {
        self.withholds
    }

    /// What the coins of whatever stands here come from.
    #[inline]
    pub(crate) fn source(&self) -> &Source {
        &self.spawner.source
    }

    /// The closest machine above.
    fn machine(&self) -> Option<&Arc<Lineage>> {
        if self.spawner.is_root {
            self.spawner.parent.as_ref()
        } else {
            Some(&self.spawner)
        }
    }

    /// The lineage under which a machine that stands here spawns.
    pub(crate) fn lineage(&self, source: Source) -> Arc<Lineage> {
        Arc::new(Lineage {
            parent: Some(Arc::clone(&self.spawner)),
            is_root: false,
            source,
            carried: None,
            tenant: Tenant::NONE,
            is_analysts: self.is_analysts,
        })
    }

    /// The value of this type that the nearest root above carries.
    pub(crate) fn carried<T: Any>(&self) -> Option<&T> {
        self.all_carried()?
            .iter()
            .find_map(|value| value.downcast_ref())
    }

    /// The values that the nearest root above carries, unless an analyst's post-processor stands below that root.
    fn all_carried(&self) -> Option<&Carried> {
        let (mut above, mut is_analysts) = (&self.spawner, self.is_analysts);
        while !is_analysts {
            if above.is_root {
                return above.carried.as_ref();
            }
            is_analysts = above.is_analysts;
            above = above.parent.as_ref()?;
        }
        None
    }

    /// The nearest tenant above, unless an analyst's post-processor stands before it: that counts for none of them.
    pub(crate) fn tenant(&self) -> Tenant {
        let (mut above, mut is_analysts) = (&self.spawner, self.is_analysts);
        while !is_analysts {
            if above.tenant.is_some() {
                return above.tenant.clone();
            }
            is_analysts = above.is_analysts;
            let Some(parent) = &above.parent else {
                return Tenant::NONE;
            };
            above = parent;
        }
        Tenant::outside()
    }

    /// One level down, below `lineage`.
    pub(crate) fn below(&self, lineage: &Arc<Lineage>) -> Result<Self, AskError> {
        Ok(Self {
            spawner: Arc::clone(lineage),
            depth: self.deeper(self.depth)?,
            process: self.process,
            withholds: self.withholds,
            is_analysts: false,
        })
    }

    /// Here, and deeper than both this place and `inner`: where a post-processor stands that wraps `inner`.
    ///
    /// Whoever may ask something that stands here can reach `inner` through it. So `inner` must be below the same
    /// machine: this keeps steps from reaching strangers, and locks from being taken in a circle.
    pub(crate) fn in_front_of(&self, inner: &Position) -> Result<Self, AskError> {
        inner.check_process()?;
        if let Some(machine) = self.machine()
            && !inner.is_below(address(machine))
        {
            return Err(AskError::NotSpawnedHere);
        }
        Ok(Self {
            spawner: self.spawner.clone(),
            depth: self.deeper(inner.depth)?,
            process: self.process,
            withholds: self.withholds,
            is_analysts: false,
        })
    }

    /// The same place for a post-processor of the analyst's: it sees no data, so it finds no values that are carried above.
    pub(crate) fn for_an_analyst(self) -> Self {
        Self {
            is_analysts: true,
            ..self
        }
    }

    fn deeper(&self, other: u16) -> Result<u16, AskError> {
        let depth = self.depth.max(other) + 1;
        if depth > MAX_DEPTH {
            return Err(AskError::TooDeep { limit: MAX_DEPTH });
        }
        Ok(depth)
    }

    /// May the code that runs on this thread use what stands here? The analyst may use everything; a step, what is
    /// strictly below its own machine; a destructor or other guarded code, nothing. Returns who asks.
    #[inline]
    pub(crate) fn check_reachable(&self) -> Result<Asker, AskError> {
        self.check_process()?;
        let Now { who, depth } = now();
        if who == ANALYST || self.is_below(who) {
            Ok(depth.asker())
        } else {
            Err(AskError::NotSpawnedHere)
        }
    }

    /// Does what stands here belong to this process? Asked before anything is locked: in a forked process, the thread
    /// that would have unlocked it may be gone.
    #[inline]
    pub(crate) fn check_process(&self) -> Result<(), AskError> {
        if self.process.is_current() {
            Ok(())
        } else {
            Err(AskError::Forked)
        }
    }

    /// Is the machine with this lineage above? (Steps are machines': no root is ever asked for.)
    fn is_below(&self, lineage: usize) -> bool {
        let mut above = Some(&self.spawner);
        while let Some(spawner) = above {
            if address(spawner) == lineage {
                return true;
            }
            above = spawner.parent.as_ref();
        }
        false
    }
}

pub(crate) fn address(lineage: &Arc<Lineage>) -> usize {
    Arc::as_ptr(lineage).addr()
}
