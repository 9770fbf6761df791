//! What of the rows of a group is emitted: all, or the terms of their sums and the sums each by themselves.

use c_tree::{Block, Expr as C};

/// What is emitted of the rows of a group.
pub enum Stage {
    /// All.
    Rows,
    /// The terms of the only sum.
    Terms(Box<Terms>),
    /// What is done with the sum, which is known.
    Sums(Box<Sums>),
}

/// Terms of all rows of a group.
pub struct Terms {
    pub(super) list: C,
    pub(super) elements: [C; 2],
    pub(super) total: C,
    pub(super) checked: bool,
    pub(super) lookups: Lookups,
    pub(super) found: usize,
    pub(super) made: Option<Made>,
}

/// How they are made: places count from the first term of the group of rows on.
pub struct Made {
    /// What is declared before.
    pub declared: Block,
    /// The same where terms of all rows are computed before sums.
    pub eights: Block,
    /// The terms behind the last eight that lie next to each other, and the checks of their indices.
    pub last: Block,
    /// The place of the next term, and the one behind the last eight.
    pub places: [C; 2],
    /// Makes `eight` the terms from the place on.
    pub all: Block,
    /// The same behind those that lie together, where nothing follows.
    pub behind: Block,
    /// The same of as many of them as `part` has bits.
    pub some: Block,
    /// Eight terms.
    pub eight: C,
    /// Bits of terms.
    pub part: C,
    /// Makes the one at the place, in a loop that a wrong index ends, and that term.
    pub one: (Block, C),
    /// Whether an index is wrong; it is not declared where they were checked before.
    pub out: C,
}

/// How numbers lie that eight indices look up: any way is right, and the likely one is fast.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lookups {
    /// Nothing is known.
    Anywhere,
    /// Far apart, beyond the caches of a core.
    Apart,
    /// Mostly next to each other.
    InRuns,
}

/// The sum of a row without what comes before it; -0 of no terms.
pub struct Sums {
    /// The sum.
    pub sum: C,
    /// Whether it may be 0 of no terms where 0 comes before it, as it is where that is the case; it is all there is then.
    pub from_zero: bool,
    /// Where the row begins and ends.
    pub bounds: [C; 2],
    /// How many reductions there are.
    pub found: usize,
    /// Whether each is the sum of the row's elements.
    pub fits: bool,
}

impl Terms {
    /// Terms for an array, of elements from one place up to before another one, of so many in all.
    pub fn new(list: C, from: C, to: C, total: C) -> Terms {
        Terms {
            list,
            elements: [from, to],
            total,
            checked: false,
            lookups: Lookups::Anywhere,
            found: 0,
            made: None,
        }
    }

    /// The same where indices were checked before.
    pub fn checked(self) -> Terms {
        Terms { checked: true, ..self }
    }

    /// The same where it is known how what is looked up lies.
    pub fn lookups(self, lookups: Lookups) -> Terms {
        Terms { lookups, ..self }
    }

    /// How they are made, where a row is one sum.
    pub fn made(self) -> Option<Made> {
        self.made.filter(|_| self.found == 1)
    }
}

impl Stage {
    /// Whether a row is one sum of its elements.
    pub fn is_one_sum(&self) -> bool {
        matches!(self, Stage::Sums(own) if own.found == 1 && own.fits)
    }
}
