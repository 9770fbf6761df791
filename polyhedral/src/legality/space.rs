//! One space for all sets of a proof: each constraint is read once, and sets are unions of few conjunctions.

use super::flow::text::conjuncts;
use crate::isl::{Conjunction, Context, IslError};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A union of conjunctions.
pub type Union<'a> = Vec<Conjunction<'a>>;

/// The space, with the constraints that were read.
pub struct Space<'a> {
    context: &'a Context,
    parameters: String,
    /// The names of all coordinates.
    pub coordinates: Vec<String>,
    known: RefCell<HashMap<String, Rc<Union<'a>>>>,
    shown_empty: Cell<usize>,
}

impl<'a> Space<'a> {
    pub fn new(context: &'a Context, dimension: usize, coordinates: Vec<String>) -> Self {
        let sizes: Vec<String> = (0..dimension).map(|d| format!("n{d}")).collect();
        let parameters = format!("[steps, {}]", sizes.join(", "));
        Space { context, parameters, coordinates, known: RefCell::default(), shown_empty: Cell::new(0) }
    }

    /// Number of sets shown to be empty so far.
    pub fn shown_empty(&self) -> usize {
        self.shown_empty.get()
    }

    /// The points that meet these constraints.
    pub fn set(&self, text: &str) -> Result<Union<'a>, IslError> {
        self.within(&self.constraint("1 = 1")?, text)
    }

    /// The points of a union that meet these constraints. Parts that are empty on sight are left out.
    pub fn within(&self, union: &[Conjunction<'a>], text: &str) -> Result<Union<'a>, IslError> {
        let mut constraints = Vec::new();
        for text in conjuncts(text) {
            constraints.push(self.constraint(text)?);
        }
        // Unions last, so that few conjunctions are looked at.
        constraints.sort_by_key(|parts| parts.len());
        let mut found = union.iter().map(Conjunction::copy).collect::<Result<Union, _>>()?;
        for parts in constraints {
            let mut next = Vec::new();
            for (known, part) in found.iter().flat_map(|known| parts.iter().map(move |part| (known, part))) {
                let both = known.intersect(part)?;
                if !both.is_plainly_empty()? {
                    next.push(both);
                }
            }
            found = next;
        }
        Ok(found)
    }

    /// The parts of a union that isl does not show to be empty.
    pub fn not_empty(&self, union: Union<'a>) -> Result<Union<'a>, IslError> {
        let mut rest = Vec::new();
        for part in union {
            if !part.is_empty()? {
                rest.push(part);
            }
        }
        self.shown_empty.set(self.shown_empty.get() + usize::from(rest.is_empty()));
        Ok(rest)
    }

    fn constraint(&self, text: &str) -> Result<Rc<Union<'a>>, IslError> {
        if let Some(known) = self.known.borrow().get(text) {
            return Ok(known.clone());
        }
        let names = self.coordinates.join(", ");
        let set = self.context.set(&format!("{} -> {{ [{names}] : {text} }}", self.parameters))?;
        let parts = Rc::new(set.conjunctions()?);
        self.known.borrow_mut().insert(text.to_owned(), parts.clone());
        Ok(parts)
    }
}
