//! What C computes: integers, conversions, values of indices.

use super::{SMALL_1D, same};

#[test]
fn integers_are_computed_as_c_does() {
    same("cells.c", &[], &[]);
    same("cells.c", &["-DCELL=char", "-DSTEPS=1"], &["--strategy", "naive"]);
    same("grey_levels.c", &[], &[]);
}

#[test]
fn conversions_of_c() {
    same("promotion.c", &[], &SMALL_1D);
    same("odd_integers.c", &[], &SMALL_1D);
}

#[test]
fn values_of_indices() {
    same("option_price.c", &[], &SMALL_1D);
}
