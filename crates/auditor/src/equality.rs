//! Why an audit may take equal answers for one answer.

use queryable::Canonical;

use crate::{
    explore::Heard,
    simulate::{InputResponse, InputTold},
    system::Input,
    truncated::Shown,
};

/// Answers have a [`Canonical`] type, and equal answers are compared in memory, too. The default.
pub struct Checked;

/// Equal answers are assumed indistinguishable: see
/// [`Audit::trusting_equality`](crate::Audit::trusting_equality).
pub struct Trusted;

/// Why an audit may take equal answers of type `A` for one answer: [`Checked`], or [`Trusted`].
/// Sealed.
pub trait Equality<A>: sealed::Sealed {
    /// Whether it is an assumption.
    #[doc(hidden)]
    const ASSUMED: bool;

    /// Appends what can be read from an answer apart from its value.
    #[doc(hidden)]
    fn layout(answer: &A, layout: &mut Vec<usize>);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Checked {}
    impl Sealed for super::Trusted {}
}

impl<A: Canonical> Equality<A> for Checked {
    const ASSUMED: bool = A::ATTESTED;

    fn layout(answer: &A, layout: &mut Vec<usize>) {
        answer.layout(layout);
    }
}

impl<A: Ord> Equality<A> for Trusted {
    const ASSUMED: bool = true;

    fn layout(_: &A, _: &mut Vec<usize>) {}
}

/// The same as a value, so that an audit is compiled once for both.
pub(crate) struct Alike<A> {
    pub(crate) assumed: bool,
    layout: fn(&A, &mut Vec<usize>),
}

impl<A> Clone for Alike<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Alike<A> {}

impl<A> Alike<A> {
    pub(crate) fn by<E: Equality<A>>() -> Self {
        Self {
            assumed: E::ASSUMED,
            layout: E::layout,
        }
    }

    /// What can be read from an answer apart from its value. An error has nothing of this kind.
    pub(crate) fn layout(&self, answer: &Heard<A>) -> Vec<usize> {
        let mut layout = Vec::new();
        if let Ok(answer) = answer {
            (self.layout)(answer, &mut layout);
        }
        layout
    }

    /// Whether two equal answers are indistinguishable.
    pub(crate) fn same(&self, one: &Heard<A>, other: &Heard<A>) -> bool {
        self.layout(one) == self.layout(other)
    }
}

queryable::canonical_copies!(Input InputResponse InputTold);

impl<A: Canonical> queryable::internal::Sealed for Shown<A> {}
impl<A: Canonical> Canonical for Shown<A> {
    type Rebuilt = Shown<A::Rebuilt>;
    const ATTESTED: bool = A::ATTESTED;
    fn rebuild(&self) -> Self::Rebuilt {
        match self {
            Self::Answer(answer) => Shown::Answer(answer.rebuild()),
            Self::Stopped => Shown::Stopped,
        }
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        if let Self::Answer(answer) = self {
            answer.layout(layout);
        }
    }
}
