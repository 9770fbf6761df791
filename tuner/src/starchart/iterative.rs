//! Algorithm 2: more samples where the best designs are.

use super::region::Region;
use super::table::Table;
use super::tree::Goal;
use rand::Rng;
use rand::seq::SliceRandom;

/// The inputs of Algorithm 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterativeOptions {
    /// `I`: designs of the first round.
    pub initial: usize,
    /// `t`: per cent of them that span the box.
    pub best_percent: f64,
    /// `A`: designs of the second round.
    pub additional: usize,
    /// Which responses are good.
    pub goal: Goal,
}

impl Default for IterativeOptions {
    /// `I = 60` and `t = 15` as in section 7.5, and `A = I`, "a fraction or multiple of `I`".
    fn default() -> IterativeOptions {
        IterativeOptions { initial: 60, best_percent: 15.0, additional: 60, goal: Goal::Minimize }
    }
}

impl IterativeOptions {
    /// The options for a budget of so many samples: `I = 60`, or half of the budget where that is less, and all others
    /// inside the box.
    pub fn for_budget(samples: usize, goal: Goal) -> IterativeOptions {
        let default = IterativeOptions::default();
        let initial = default.initial.min(samples.div_ceil(2)).max(1);
        IterativeOptions { initial, additional: samples.saturating_sub(initial), goal, ..default }
    }
}

/// The box around the best `percent` of the rows, at least one (lines 2 and 3). Of equal responses the rows that stand
/// first in `rows` count as better.
pub fn best_box(table: &Table, response: &[f64], rows: &[u32], percent: f64, goal: Goal) -> Region {
    let mut order = rows.to_vec();
    order.sort_by(|&a, &b| goal.cost(response[a as usize]).total_cmp(&goal.cost(response[b as usize])));
    let best = ((rows.len() as f64 * percent / 100.0).ceil() as usize).clamp(1, rows.len().max(1));
    Region::bounding(table, &order[..best.min(order.len())])
}

/// A training set of Algorithm 2 over designs that are all measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// `S_I` and `S_A`, in the order drawn.
    pub rows: Vec<u32>,
    /// `B`: the box of the best.
    pub best_box: Region,
}

/// Lines 1 to 4 of Algorithm 2 over the designs `pool`: `I` of them uniformly at random, then `A` others inside the box
/// of the best `t` per cent. If the box holds fewer, all of them are taken and the rest anywhere, so that the number of
/// designs is `I + A` as long as the pool has as many.
pub fn sample(
    table: &Table,
    response: &[f64],
    pool: &[u32],
    options: &IterativeOptions,
    rng: &mut impl Rng,
) -> Sampled {
    let mut order = pool.to_vec();
    order.shuffle(rng);
    sample_in_order(table, response, &order, options)
}

/// As [`sample`], with designs taken in this order and not at random.
pub fn sample_in_order(
    table: &Table,
    response: &[f64],
    order: &[u32],
    options: &IterativeOptions,
) -> Sampled {
    let (first, rest) = order.split_at(options.initial.min(order.len()));
    let best_box = best_box(table, response, first, options.best_percent, options.goal);
    let (inside, outside): (Vec<u32>, Vec<u32>) =
        rest.iter().partition(|&&row| best_box.contains(table, row as usize));
    let rows = first.iter().chain(inside.iter().chain(&outside).take(options.additional)).copied().collect();
    Sampled { rows, best_box }
}
