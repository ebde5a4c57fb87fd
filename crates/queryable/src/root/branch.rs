//! Roots below a root, and the values and tenants that they have.

use std::{any::Any, sync::Arc};

use super::{Place, Root};
use crate::{
    coins::Source,
    error::AskError,
    lineage::Position,
    tenant::Tenant,
    turn::{Lease, Outside},
};

impl Root {
    /// An owned, shared scope below this one, for a session inside a session.
    ///
    /// # Errors
    /// [`AskError::NotSpawnedHere`] inside a step of a machine that this root is not below.
    pub fn branch(&self) -> Result<Self, AskError> {
        self.branched(self.0.place.lease.clone(), Position::root)
    }

    /// A [branch](Self::branch) of this root in which an answer must be complete before its turn passes, however deep it
    /// comes from (a session opened in it, too): otherwise it is withheld ([`AskError::OutOfTurn`]). Elsewhere an answer counts from its check, and is
    /// given even if its turn passes while the step runs.
    ///
    /// Sequential composition assumes that a query is fixed when it is asked. Where queries can be anything, a channel for
    /// one, an older child could read a newer one's answer while it steps; its own answer is then late, and withheld here.
    /// The price: whether a step had ended when the turn passed becomes part of what the analyst sees, so how long steps
    /// take must not depend on data. That is why it is an option, and why functions under [`run`](Self::run), which have
    /// been paid for, are never withheld.
    ///
    /// ```
    /// use odometry::queryable::{AskError, Root, machine};
    /// let root = Root::from_os()?.withholding()?;
    /// let (newer, mut next) = (root.clone(), None);
    /// let older = root.spawn_in_turn(machine(move |(), _| {
    ///     let newer = newer.clone(); // another thread launches while this one steps
    ///     next = std::thread::spawn(move || newer.spawn_in_turn(machine(|(), _| Ok(1)))).join().ok();
    ///     Ok(1)
    /// }))?;
    /// assert_eq!(older.ask(()), Err(AskError::OutOfTurn));
    /// # Ok::<(), AskError>(())
    /// ```
    ///
    /// # Errors
    /// As [`branch`](Self::branch).
    pub fn withholding(&self) -> Result<Self, AskError> {
        let lease = self.0.place.lease.clone();
        self.branched(lease, |here, source| here.root(source).withholding())
    }

    /// An owned, shared scope below this one whose steps run inside an [`Outside`], too.
    ///
    /// # Errors
    /// As [`branch`](Self::branch), and [`AskError::TooDeep`] if there is one already.
    pub fn under(&self, outside: Arc<dyn Outside>) -> Result<Self, AskError> {
        self.branched(self.0.place.lease.under(outside)?, Position::root)
    }

    /// A [branch](Self::branch) of this root that carries a value: everything below finds it by its type. Code that cannot
    /// name the type cannot find it, nor put another in its place. A post-processor in front of a
    /// [root](Self::postprocess) finds nothing that is carried above it, nor do the machines that it spawns.
    ///
    /// ```
    /// use odometry::queryable::{AskError, Root, machine};
    /// let root = Root::from_os()?.branch_carrying("a value")?;
    /// let finds = root.spawn(machine(|(), scope| Ok(scope.carried::<&str>().copied())))?;
    /// assert_eq!(finds.ask(())?, Some("a value"));
    /// assert_eq!(root.branch_carrying("another")?.carried(), Some(&"another"));
    /// assert_eq!(root.branch_carrying(7)?.branch()?.carried(), Some(&"a value"));
    /// # Ok::<(), AskError>(())
    /// ```
    ///
    /// # Errors
    /// As [`branch`](Self::branch).
    pub fn branch_carrying<T: Any + Send + Sync>(&self, value: T) -> Result<Self, AskError> {
        let lease = self.0.place.lease.clone();
        self.branched(lease, |here, source| {
            here.carrying(source, value, here.tenant())
        })
    }

    /// The value of this type that the nearest root carries, here or above.
    pub fn carried<T: Any>(&self) -> Option<&T> {
        self.0.place.position.carried()
    }

    /// As [`branch`](Self::branch), for a new [`Tenant`]: a data set of this name, or an account of this root's data set.
    ///
    /// # Errors
    /// As [`branch`](Self::branch).
    pub fn branch_for(&self, name: impl Into<Arc<str>>) -> Result<Self, AskError> {
        branch_as(self, &tenant_below(self, name))
    }

    /// As [`branch_for`](Self::branch_for) and [`branch_carrying`](Self::branch_carrying) in one.
    ///
    /// # Errors
    /// As [`branch`](Self::branch).
    pub fn branch_for_carrying<T: Any + Send + Sync>(
        &self,
        name: impl Into<Arc<str>>,
        value: T,
    ) -> Result<Self, AskError> {
        self.branched(self.0.place.lease.clone(), |here, source| {
            here.carrying(source, value, here.tenant().below(name.into()))
        })
    }

    /// A root below this one, at the position that `at` computes from this root's and new coins.
    fn branched(
        &self,
        lease: Lease,
        at: impl FnOnce(&Position, Source) -> Position,
    ) -> Result<Self, AskError> {
        let Place { position, lease } = self.child_place(lease)?;
        let source = position.source().below(self.next_child());
        Ok(Self::at(at(&position, source), lease))
    }

    /// The nearest tenant at or above this root. Below a post-processor it is no data set.
    pub fn tenant(&self) -> Tenant {
        self.0.place.position.tenant()
    }
}

/// The tenant that [`Root::branch_for`] gives to a branch of this root. Each call makes a new one below a data set or below none.
pub fn tenant_below(root: &Root, name: impl Into<Arc<str>>) -> Tenant {
    root.tenant().below(name.into())
}

/// As [`Root::branch`], for this tenant.
///
/// # Errors
/// As [`Root::branch`].
pub fn branch_as(root: &Root, tenant: &Tenant) -> Result<Root, AskError> {
    root.branched(root.0.place.lease.clone(), |here, source| {
        here.tenant_root(source, tenant.clone())
    })
}
