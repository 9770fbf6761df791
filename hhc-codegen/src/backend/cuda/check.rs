//! What results are held against by the standalone main, and what the text says of its own arithmetic.

use c_tree::comment_lines;
use polyhedral::contraction::{Known, bound};
use polyhedral::program::Program;
use serde::Serialize;

/// Time steps of the check.
const STEPS: u64 = 23;

/// What the templates receive.
#[derive(Serialize)]
pub(super) struct Check {
    /// Whether the code computes what the program says.
    exact: bool,
    /// Whether quotients and roots are approximations.
    approximates: bool,
    /// What it may compute in its place, as lines of a comment.
    liberties: Vec<String>,
    /// Time steps of the check.
    steps: u64,
    /// How far results may then lie from those of the program, as a literal, where that is known.
    bound: Option<String>,
}

impl Check {
    pub(super) fn new(program: &Program) -> Check {
        let arithmetic = program.arithmetic;
        Check {
            exact: arithmetic.is_exact(),
            approximates: arithmetic.approximate,
            liberties: match arithmetic.is_exact() {
                true => Vec::new(),
                false => comment_lines(&liberties(program), c_tree::COLUMNS - 4),
            },
            steps: STEPS,
            bound: (!arithmetic.is_exact()).then(|| bound_of_check(program)).flatten(),
        }
    }
}

fn liberties(program: &Program) -> String {
    let arithmetic = program.arithmetic;
    let contracts = "Products and sums are contracted where the text says fma";
    let approximates = "quotients and square roots in single precision are approximations where it says tw_quotient, tw_root and \
                        tw_over_root";
    let what = match (arithmetic.contract, arithmetic.approximate) {
        (true, true) => format!("{contracts}; {approximates}"),
        (true, false) => contracts.to_owned(),
        (false, _) => {
            approximates.replacen("quotients", "Quotients", 1).replacen("it says", "the text says", 1)
        }
    };
    format!(
        "{what}: results differ from those of the untiled program in their last digits. Compile with --fmad=false, so that nothing \
         else is contracted."
    )
}

/// The bound for values of the main's.
fn bound_of_check(program: &Program) -> Option<String> {
    let most = bound(program, &Known::of_units(program), STEPS).ok()?.into_iter().fold(0.0, f64::max);
    most.is_finite().then(|| format!("{most:e}"))
}
