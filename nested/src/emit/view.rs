//! Values while code is made of them: numbers are expressions of C, sequences a length and a way to get an element. `E` is
//! what code is emitted to.

use crate::program::{Scalar, Type, VarId};
use c_tree::Expr as C;
use std::rc::Rc;

/// What gives an element at a place.
pub type At<'p, E> = Rc<dyn Fn(&mut E, C) -> View<'p, E> + 'p>;
/// What a round of a loop ends with, given its place.
pub type StepBy<'p, E> = Rc<dyn Fn(&mut E, C) + 'p>;
/// What begins a loop over elements that come in order only.
pub type Open<'p, E> = Rc<dyn Fn(&mut E) -> (At<'p, E>, Vec<StepBy<'p, E>>) + 'p>;
/// What stores all elements, given where each of them goes.
pub type Into<'p, E> = Rc<dyn Fn(&mut E, &Dest, &C) + 'p>;

/// A value; those that are sequences are few.
#[allow(clippy::large_enum_variant)]
pub enum View<'p, E> {
    /// A number, and the input that it is an element of, if it is one.
    Scalar(C, Scalar, Option<VarId>),
    /// A tuple or vector.
    Parts(Vec<View<'p, E>>),
    /// A sequence.
    Sequence(Seq<'p, E>),
}

/// A sequence.
pub struct Seq<'p, E> {
    /// How many elements.
    pub length: C,
    /// An element.
    pub at: At<'p, E>,
    /// Where elements come in order only, how a loop over them begins; `at` is not used then.
    pub open: Option<Open<'p, E>>,
    /// A better way to store it than element by element.
    pub into: Option<Into<'p, E>>,
    /// Where its rows may lie, if its elements are rows.
    pub rows: Option<RowShape>,
    /// The array that it is.
    pub array: Option<(C, Scalar)>,
}

impl<'p, E> Seq<'p, E> {
    /// A sequence whose elements can be had in any order.
    pub fn new(length: C, at: At<'p, E>) -> Seq<'p, E> {
        Seq { length, at, open: None, into: None, rows: None, array: None }
    }
}

// By hand: what is emitted to need not be cloned.
impl<E> Clone for View<'_, E> {
    fn clone(&self) -> Self {
        match self {
            View::Scalar(value, scalar, origin) => View::Scalar(value.clone(), *scalar, *origin),
            View::Parts(parts) => View::Parts(parts.clone()),
            View::Sequence(sequence) => View::Sequence(sequence.clone()),
        }
    }
}

impl<E> Clone for Seq<'_, E> {
    fn clone(&self) -> Self {
        Seq {
            length: self.length.clone(),
            at: self.at.clone(),
            open: self.open.clone(),
            into: self.into.clone(),
            rows: self.rows.clone(),
            array: self.array.clone(),
        }
    }
}

/// Where rows lie in a flat array.
#[derive(Clone, PartialEq)]
pub enum RowShape {
    /// From one offset to the next.
    Offsets(C, Scalar),
    /// Tiles of a length, out of so many elements.
    Tiled(C, C),
    /// All of one length.
    Equal(C),
}

/// Arrays to store elements in.
#[derive(Clone)]
pub struct Dest {
    /// Each array with the type of its numbers, and how many of them an element has.
    pub arrays: Vec<(C, Scalar, usize)>,
    /// How many elements they have in all.
    pub length: C,
}

/// The scalars of a value without sequences.
pub fn scalars(ty: &Type) -> Vec<Scalar> {
    ty.leaves().into_iter().flat_map(|(scalar, count)| vec![scalar; count]).collect()
}

/// The numbers of a value without sequences.
pub fn flat<E>(view: &View<'_, E>) -> Vec<C> {
    match view {
        View::Scalar(value, ..) => vec![value.clone()],
        View::Parts(parts) => parts.iter().flat_map(flat).collect(),
        View::Sequence(_) => Vec::new(),
    }
}

/// A value of these numbers.
pub fn whole<'p, E>(ty: &Type, numbers: &mut dyn Iterator<Item = C>) -> View<'p, E> {
    match ty {
        Type::Scalar(scalar) => View::Scalar(numbers.next().unwrap_or(C::Int(0)), *scalar, None),
        _ => {
            let parts = ty.components().unwrap_or_default();
            View::Parts(parts.iter().map(|part| whole(part, numbers)).collect())
        }
    }
}

/// An element of arrays.
pub fn load<'p, E>(
    ty: &Type,
    arrays: &[(C, Scalar, usize)],
    place: &C,
    origin: Option<VarId>,
) -> View<'p, E> {
    match ty {
        Type::Tuple(types) => {
            let mut first = 0;
            let part = |ty: &Type| {
                let count = ty.leaves().len();
                first += count;
                load(ty, &arrays[first - count..first], place, None)
            };
            View::Parts(types.iter().map(part).collect())
        }
        Type::Vector(scalar, count) => {
            let part = |component: usize| {
                let index = place.clone() * *count as i64 + component as i64;
                View::Scalar(arrays[0].0.at(index), *scalar, None)
            };
            View::Parts((0..*count).map(part).collect())
        }
        Type::Scalar(scalar) => View::Scalar(arrays[0].0.at(place), *scalar, origin),
        Type::Sequence(_) => View::Parts(Vec::new()),
    }
}
