//! The values of names inside of functions.

use super::emitter::View;
use crate::program::VarId;
use std::rc::Rc;

/// The values of names inside of functions.
#[derive(Clone, Default)]
pub struct Env<'p>(Option<Rc<EnvLink<'p>>>);

/// One name.
pub struct EnvLink<'p> {
    variable: VarId,
    value: View<'p>,
    before: Env<'p>,
}

impl<'p> Env<'p> {
    /// One name more.
    pub fn with(&self, variable: VarId, value: View<'p>) -> Env<'p> {
        Env(Some(Rc::new(EnvLink { variable, value, before: self.clone() })))
    }

    /// The value of a name.
    pub fn find(&self, variable: VarId) -> Option<View<'p>> {
        let mut link = self.0.as_ref();
        while let Some(here) = link {
            if here.variable == variable {
                return Some(here.value.clone());
            }
            link = here.before.0.as_ref();
        }
        None
    }
}
