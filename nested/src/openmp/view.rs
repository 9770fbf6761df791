//! Values while code is made of them: numbers are expressions of C, sequences a length and a way to get an element.

use super::emitter::Emitter;
use crate::program::{Scalar, Type, VarId};
use c_tree::Expr as C;
use std::rc::Rc;

/// What gives an element at a place.
pub type At<'p> = Rc<dyn Fn(&mut Emitter<'p>, C) -> View<'p> + 'p>;
/// What a round of a loop ends with, given its place.
pub type StepBy<'p> = Rc<dyn Fn(&mut Emitter<'p>, C) + 'p>;
/// What begins a loop over elements that come in order only.
pub type Open<'p> = Rc<dyn Fn(&mut Emitter<'p>) -> (At<'p>, Vec<StepBy<'p>>) + 'p>;
/// What stores all elements, given where each of them goes.
pub type Into<'p> = Rc<dyn Fn(&mut Emitter<'p>, &Dest, &C) + 'p>;

/// A value.
#[derive(Clone)]
pub enum View<'p> {
    /// A number, and the input that it is an element of, if it is one.
    Scalar(C, Scalar, Option<VarId>),
    /// A tuple or vector.
    Parts(Vec<View<'p>>),
    /// A sequence.
    Sequence(Seq<'p>),
}

/// A sequence.
#[derive(Clone)]
pub struct Seq<'p> {
    /// How many elements.
    pub length: C,
    /// An element.
    pub at: At<'p>,
    /// Where elements come in order only, how a loop over them begins; `at` is not used then.
    pub open: Option<Open<'p>>,
    /// A better way to store it than element by element.
    pub into: Option<Into<'p>>,
    /// Where its rows may lie, if its elements are rows.
    pub rows: Option<RowShape>,
    /// The array that it is.
    pub array: Option<(C, Scalar)>,
}

impl<'p> Seq<'p> {
    /// A sequence whose elements can be had in any order.
    pub fn new(length: C, at: At<'p>) -> Seq<'p> {
        Seq { length, at, open: None, into: None, rows: None, array: None }
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
}

/// The scalars of a value without sequences.
pub fn scalars(ty: &Type) -> Vec<Scalar> {
    ty.leaves().into_iter().flat_map(|(scalar, count)| vec![scalar; count]).collect()
}

/// The numbers of a value without sequences.
pub fn flat(view: &View<'_>) -> Vec<C> {
    match view {
        View::Scalar(value, ..) => vec![value.clone()],
        View::Parts(parts) => parts.iter().flat_map(flat).collect(),
        View::Sequence(_) => Vec::new(),
    }
}

/// A value of these numbers.
pub fn whole<'p>(ty: &Type, numbers: &mut dyn Iterator<Item = C>) -> View<'p> {
    match ty {
        Type::Scalar(scalar) => View::Scalar(numbers.next().unwrap_or(C::Int(0)), *scalar, None),
        _ => {
            let parts = ty.components().unwrap_or_default();
            View::Parts(parts.iter().map(|part| whole(part, numbers)).collect())
        }
    }
}

/// An element of arrays.
pub fn load<'p>(ty: &Type, arrays: &[(C, Scalar, usize)], place: &C, origin: Option<VarId>) -> View<'p> {
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
