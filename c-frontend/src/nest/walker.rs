//! The walk through a region: what is known at the place that it has come to.

use super::cuts::{Cuts, Segment};
use super::depends::Depends;
use super::loops::{Narrowed, Nest, Order, Touched};
use super::read_log::ReadLog;
use super::scalars::Environment;
use crate::ast::Expr;
use crate::parse::Region;
use crate::polynomial::Polynomial;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Walks through a region.
pub(super) struct Walker<'a> {
    pub region: &'a Region,
    /// The arrays that are assigned.
    pub states: HashSet<String>,
    /// The scalars that are assigned.
    pub assigned: HashSet<String>,
    pub nest: Nest,
    /// The space loops that are open.
    pub path: Vec<usize>,
    pub environment: Environment,
    /// The values of variables that keep those that they are declared with.
    pub initial_values: HashMap<String, Polynomial>,
    pub narrowed: Vec<Narrowed>,
    pub operations: usize,
    /// Of the open loops.
    pub segments: Vec<Segment>,
    /// Where loops are cut.
    pub cuts: RefCell<HashMap<LoopKey, Cuts>>,
    /// What makes each loop of the nest the one that it is.
    pub keys: Vec<LoopKey>,
    /// What must hold at run time, so far.
    pub assumed: RefCell<Vec<(Polynomial, Polynomial)>>,
    /// Where the walk is.
    pub order: Order,
    /// Conditions around the walk that are not known, the outermost first.
    pub conditions: Vec<Unknown>,
    /// Elements of arrays that do not change, which are read without one.
    pub certain: HashSet<Certain>,
    /// What has been read so far, for what branches have in common.
    pub read: ReadLog,
}

/// One loop, however often the walk comes to it: its place in the tree, the order of what is around it, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LoopKey {
    pub order: Order,
    pub path: Vec<usize>,
    pub low: Polynomial,
    pub high: Polynomial,
}

/// A condition around the walk that is not known.
#[derive(Debug, Clone)]
pub(super) struct Unknown {
    pub condition: Expr,
    /// Whether it holds, or does not.
    pub holds: bool,
    pub depends: Depends,
    pub touched: Touched,
}

/// An element that is read wherever the loops around it run.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Certain {
    pub points: Vec<Narrowed>,
    pub text: String,
    pub index: Polynomial,
}
