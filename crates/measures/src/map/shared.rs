//! What a map does, whatever the metric is called: distances of one type are all alike.

use super::{Evaluate, FormOf, Map, Shared};
use crate::{Distance, Form, MapError, Measure};
use std::sync::{Arc, OnceLock};

impl<D: Distance, M: Measure> Map<D, M> {
    pub(super) fn linked(measure: M, links: u16, evaluate: Evaluate<D, M>) -> Self {
        Self(Arc::new(Shared {
            measure,
            links,
            form: OnceLock::new(),
            evaluate,
        }))
    }

    pub(super) fn from_parts(measure: M, form: FormOf<D, M>, evaluate: Evaluate<D, M>) -> Self {
        Self(Arc::new(Shared {
            measure,
            links: 0,
            form: form.into(),
            evaluate,
        }))
    }

    pub(super) fn measure(&self) -> &M {
        &self.0.measure
    }

    pub(super) fn form(&self) -> &FormOf<D, M> {
        if let Some(form) = self.0.form.get() {
            return form;
        }
        // Found before the lock is taken: the code of measures and conversions may ask for it, too.
        let form = match &self.0.evaluate {
            Evaluate::Combined(combined) => combined.form(),
            _ => Form::Function,
        };
        self.0.form.get_or_init(|| form)
    }

    pub(super) fn is_its_form(&self) -> bool {
        match &self.0.evaluate {
            Evaluate::Scaled(_) | Evaluate::UpTo(_) => true,
            Evaluate::Function(_) => !self.form().is_function(),
            Evaluate::Combined(_) => false,
        }
    }

    /// Inlined: a frame less for every map in a map.
    #[inline]
    pub(super) fn loss(&self, d_in: &D) -> Result<M::Loss, MapError> {
        // Nothing else in this frame: maps of maps call one another, as deep as they are nested.
        let loss = match &self.0.evaluate {
            Evaluate::Function(function) => function(d_in),
            Evaluate::Combined(combined) => combined.loss(d_in),
            _ => self.of_its_form(d_in),
        };
        loss.and_then(|loss| self.checked(d_in, loss))
    }

    fn of_its_form(&self, d_in: &D) -> Result<M::Loss, MapError> {
        let loss = match (self.form(), &self.0.evaluate) {
            (Form::Linear(loss) | Form::Quadratic(loss), Evaluate::Scaled(scaled)) => {
                scaled(loss, d_in)
            }
            (Form::ConstantUpTo(bound, loss), Evaluate::UpTo(infinity)) => {
                let within = d_in.at_most(bound);
                Some(if within { loss } else { infinity }.clone())
            }
            _ => None,
        };
        loss.ok_or_else(|| MapError::failed(d_in, "its form does not fit"))
    }

    fn checked(&self, d_in: &D, loss: M::Loss) -> Result<M::Loss, MapError> {
        match self.0.measure.check(&loss) {
            Ok(()) => Ok(loss),
            Err(source) => Err(MapError::Senseless {
                distance: d_in.to_string(),
                source,
            }),
        }
    }
}

impl<D: Distance, M: Measure> Clone for Map<D, M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
