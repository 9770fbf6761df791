//! How the steps of a time loop are taken together.

use crate::ast::Expr;
use polyhedral::source::Span;
use std::collections::BTreeSet;
use std::ops::Range;

/// How steps are taken together.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The statements of the body that the tiled loops stand for, or before which they are put.
    pub cut: Span,
    /// The same in the preprocessed text.
    pub tokens: Range<usize>,
    /// Whether the last step runs as it is written: `cut` is the whole body then.
    pub last_as_written: bool,
    /// Whether steps run one at a time: there is no round, and nothing is counted ahead.
    pub alone: bool,
    /// Whether each of these steps writes all points somewhere: then arrays may be copied in it.
    pub shown: bool,
    /// What is computed before the tiled loops of a step.
    pub ahead: Ahead,
    /// C statements that follow the tiled loops of a step: what these leave in scalars.
    pub residue: String,
    /// How steps that run one at a time may run ahead, where they may.
    pub waves: Option<Waves>,
    /// Whether the body stands in braces.
    pub in_braces: bool,
    /// The scalars that a round counts in, and their types.
    pub scalars: Vec<(String, String)>,
    /// What decides whether the next step is quiet, in order, from the cut to the cut.
    pub round: Vec<Control>,
    /// The time index of the first step, as C.
    pub first: String,
    /// Tests of maxima, in every step.
    pub tests: Vec<Test>,
    /// Whether each step computes all of the stencil, and nothing else in the body looks at memory: what a step computes anew is not
    /// wanted from an earlier one.
    pub unseen: bool,
    /// Expressions of the round, which must not read what the stencil computes.
    pub(crate) asked: Vec<Expr>,
}

impl Observed {
    /// Whether each step runs by itself, in tiles or else as it was written, so that either can be tried.
    pub fn is_paced(&self) -> bool {
        self.alone && !self.last_as_written
    }
}

/// What loops leave in scalars that is computed before they run in tiles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ahead {
    /// C statements; empty where there are none.
    pub text: String,
    /// The scalars that they assign, and their types.
    pub moved: Vec<(String, String)>,
}

/// Steps that may run ahead in waves.
#[derive(Debug, Clone, PartialEq)]
pub struct Waves {
    /// The whole time loop.
    pub span: Span,
    /// The arrays.
    pub arrays: Vec<WaveArray>,
    /// The numbers that the loops read, and their types.
    pub numbers: Vec<(String, String)>,
    /// Those that they leave, and whether they go on with what they find in them.
    pub results: Vec<(String, String, bool)>,
    /// What must hold of the arrays' types, as C.
    pub fits: Vec<String>,
    /// What the rest of a step reaches through pointers, and whether it assigns it.
    pub reached: Vec<(String, bool)>,
    /// The steps that are left, if the loop says so.
    pub left: Option<String>,
    /// The loops, in order.
    pub loops: Vec<WaveLoop>,
    /// C statements that stand between them, and touch nothing of theirs.
    pub behind: String,
    /// By how many rows reads are apart from what is computed.
    pub reach: i64,
    /// Whether the first step of a block computes all that it touches of what it computes, before it reads that.
    pub fresh: bool,
    /// The type of all that is computed.
    pub element: &'static str,
}

/// An array of theirs.
#[derive(Debug, Clone, PartialEq)]
pub struct WaveArray {
    /// Its name.
    pub name: String,
    /// The declaration of a pointer to what it points to.
    pub declared: String,
    /// The first one that has the same type.
    pub shape: usize,
    /// Whether they assign elements of it.
    pub written: bool,
}

/// Loops over space of a step: C texts.
#[derive(Debug, Clone, PartialEq)]
pub struct WaveLoop {
    /// The index of the outermost one, and its type.
    pub index: (String, String),
    /// Its first value.
    pub low: String,
    /// The one behind its last.
    pub high: String,
    /// Indices that are declared elsewhere, and their types.
    pub indices: Vec<(String, String)>,
    /// What a row computes, where that has arrays; empty where there are none.
    pub arrays: String,
    /// What it computes of scalars alone.
    pub scalars: String,
    /// What keeps a row's elements.
    pub keep: String,
    /// What gives them back.
    pub give: String,
    /// What counts them.
    pub count: String,
    /// What notes the first and the last elements that a row touches of each array; empty where nothing needs it.
    pub touched: String,
    /// The scalars that it leaves: those of other loops, which run at the same time, are not touched.
    pub leaves: BTreeSet<String>,
}

/// A part of a round, as C.
#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    /// A statement that counts.
    Count(String),
    /// A scalar of the body: type, name and value.
    Let(String, String, String),
    /// Output that reads scalars of the round only.
    Say(String),
    /// If this holds, the step is not quiet.
    Stop(String),
}

/// A test whether a maximum over points is small.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The statement of the body in which the maximum is computed.
    pub(crate) at: usize,
    /// The scalar that is computed there.
    pub(crate) of: String,
    /// The comparison.
    pub(crate) stops: Expr,
    /// Whether the loop stops where it does not hold.
    pub(crate) inverted: bool,
    /// The array of the points' numbers.
    pub array: String,
    /// The array of the bits.
    pub bits: String,
    /// The type of both.
    pub ctype: String,
    /// How many steps a number has bits for.
    pub most: usize,
    /// Whether a sum is tested: one point seldom keeps that large enough.
    pub sum: bool,
}

/// The name of the time index where the program has none.
pub(crate) const STEP: &str = "tw_t";
