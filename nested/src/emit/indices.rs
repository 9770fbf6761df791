//! Checks that the elements of an input are indices of a sequence: all at once, or those of some rows just before these are
//! computed, while they are in the cache.

use super::stage::Stage;
use c_tree::{Expr as C, Stmt, call, name};

/// A check that all elements of an array are indices of a sequence.
#[derive(Clone, PartialEq)]
pub struct IndexCheck {
    /// The type of the indices in C.
    pub kind: &'static str,
    /// Their array, and how many there are.
    pub indices: [C; 2],
    /// The length of the sequence.
    pub length: C,
    /// Its number.
    pub check: C,
}

impl IndexCheck {
    /// All at once.
    pub fn whole(&self) -> Stmt {
        let [array, count] = self.indices.clone();
        let list = [array, count, self.length.clone(), name("tw"), self.check.clone()];
        Stmt::call(format!("tw_indices_{}", self.kind), list)
    }

    /// Whether those from one place up to before another one are right.
    pub fn inside(&self, [from, to]: &[C; 2]) -> C {
        let [array, _] = self.indices.clone();
        let list = [array, from.clone(), to.clone(), self.length.clone(), name("tw"), self.check.clone()];
        call(format!("tw_inside_{}", self.kind), list)
    }
}

/// Rows of which some at a time are computed: indices among their elements are checked just before, while they are in the cache.
pub struct Grouped {
    /// Where the row that is emitted begins.
    pub begin: C,
    /// The checks of indices that lie in such rows.
    pub found: Vec<IndexCheck>,
    /// Whether these are done, and others are too late.
    pub done: bool,
    /// What of the rows is emitted.
    pub stage: Stage,
}
