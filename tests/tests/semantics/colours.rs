//! Conditions on indices: programs whose points take turns, with all strategies and targets that take them, bit for bit as the
//! reference; and texts with other remainders, which comparing finds.

use crate::harness::{agrees_with_reference, parsed};

#[test]
fn a_line_in_three_turns() {
    agrees_with_reference(&parsed(
        "turns1d",
        "stencil turns1d(t, i) { field u: f64; coefficient c: f64;
           u[t+1, i] = (2 * i - t + 7) % 3 != 1 ? 0.5 * (u[t, i-1] + u[t, i+2]) + c[i] : u[t, i]; }",
    ));
}

/// Red points have a field of their own, whose boundary is its own, too.
#[test]
fn two_fields_for_two_colours() {
    agrees_with_reference(&parsed(
        "fields2d",
        "stencil fields2d(t, i, j) { field r: f32; field u: f32;
           let red = 0.25 * (u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1]);
           r[t+1, i, j] = (i + j) % 2 == 0 ? red : u[t, i, j];
           let black = 0.25 * (r[t+1, i-1, j] + r[t+1, i+1, j] + r[t+1, i, j-1] + r[t+1, i, j+1]);
           u[t+1, i, j] = (i + j) % 2 == 1 ? black : r[t+1, i, j]; }",
    ));
}

#[test]
fn four_colours_of_nine_points() {
    agrees_with_reference(&parsed(
        "four2d",
        "stencil four2d(t, i, j) { field u: f64; param w = 1.25;
           let sum = u[t, i-1, j-1] + u[t, i-1, j] + u[t, i-1, j+1] + u[t, i, j-1] + u[t, i, j+1]
             + u[t, i+1, j-1] + u[t, i+1, j] + u[t, i+1, j+1];
           u[t+1, i, j] = t % 4 == 0 && i % 2 == 0 && j % 2 == 0 || t % 4 == 1 && i % 2 == 1 && j % 2 == 0
             || t % 4 == 2 && i % 2 == 0 && j % 2 == 1 || t % 4 == 3 && i % 2 == 1 && j % 2 == 1
             ? (1 - w) * u[t, i, j] + w * sum / 8 : u[t, i, j]; }",
    ));
}

#[test]
fn cells_of_a_cube() {
    agrees_with_reference(&parsed(
        "cube3d",
        "stencil cube3d(t, i, j, k) { field u: f32;
           u[t+1, i, j, k] = (i + j + k + t) % 2 == 0
             ? 0.15 * (u[t, i-1, j, k] + u[t, i+1, j, k] + u[t, i, j-1, k] + u[t, i, j+1, k] + u[t, i, j, k-1] + u[t, i, j, k+1])
             : u[t, i, j, k]; }",
    ));
}
