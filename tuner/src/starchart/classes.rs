//! Algorithm 1 with another criterion: a tree whose partitions hold designs of one class.
//!
//! The impurity of a partition with the weights `w_c` of its classes and their sum `W` is Gini's, `W - sum_c w_c^2 / W`: the sum
//! of squared errors of the class's indicators around their means. A split's gain is the reduction of it, so this is
//! [`grow`](super::grow) with one response for each class.

use super::request;
use super::split::TIE;
use super::table::Table;
use crate::error::Result;
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

/// When a partition is not divided any more, and which parameters it looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassOptions {
    /// Most splits on a path; `None` for no limit.
    pub max_depth: Option<usize>,
    /// Fewest designs of a partition.
    pub min_leaf: usize,
    /// Least reduction of the impurity, as a share of the whole weight.
    pub min_gain: f64,
    /// Looks at this many parameters only, drawn anew for every partition by this seed.
    pub draw: Option<(usize, u64)>,
}

impl Default for ClassOptions {
    /// Fully grown, over all parameters.
    fn default() -> ClassOptions {
        ClassOptions { max_depth: None, min_leaf: 1, min_gain: 0.0, draw: None }
    }
}

/// A partition of the designs.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassNode {
    /// Weights of the classes.
    pub weights: Vec<f64>,
    /// Number of designs.
    pub count: usize,
    /// How it is divided; `None` for a leaf.
    pub split: Option<ClassSplit>,
}

/// A division in two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassSplit {
    /// The column.
    pub column: usize,
    /// The middle between the two values that are separated; designs up to it go left.
    pub threshold: f64,
    /// Reduction of the impurity.
    pub gain: f64,
    /// The node of the designs that go left, and of the others; both stand behind this node.
    pub children: [usize; 2],
}

/// A classification tree, depth first, left before right. Node 0 is all designs.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassTree {
    /// All partitions.
    pub nodes: Vec<ClassNode>,
}

/// Grows a tree of classes over some rows of a table of numbers; a row may be named several times. Every row of the table
/// has a class below `count` and a weight. Of equal gains the first parameter and the least value are taken.
///
/// # Errors
/// No row, a categorical column, classes or weights that do not fit.
pub fn grow_classes(
    table: &Table,
    classes: &[u32],
    weights: &[f64],
    count: usize,
    rows: &[u32],
    options: &ClassOptions,
) -> Result<ClassTree> {
    if classes.len() != table.rows() || weights.len() != table.rows() {
        return Err(request("the classes and the parameters have different numbers of rows", ""));
    }
    if rows.is_empty() || rows.iter().any(|&row| row as usize >= table.rows()) {
        return Err(request("there is no row to grow a tree on", "measure more"));
    }
    if classes.iter().any(|&class| class as usize >= count)
        || weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0)
    {
        return Err(request("a class or a weight of a row makes no sense", ""));
    }
    if let Some(column) = table.columns().iter().find(|column| !column.is_ordered()) {
        let reason = format!("the parameter `{}` has no order", column.name());
        return Err(request(reason, "give it numbers"));
    }
    let mut random = options.draw.map(|(_, seed)| ChaCha8Rng::seed_from_u64(seed));
    let total: f64 = rows.iter().map(|&row| weights[row as usize]).sum();
    let mut tree = ClassTree { nodes: Vec::new() };
    // Rows, depth, and the side of the parent. Left is taken first, so it is pushed last.
    let mut pending = vec![(rows.to_vec(), 0_usize, None::<(usize, usize)>)];
    // Code and row in one number: sorting is what growing spends its time on.
    let mut sorted: Vec<u64> = Vec::new();
    while let Some((rows, depth, parent)) = pending.pop() {
        let mut own = vec![0.0; count];
        rows.iter().for_each(|&row| own[classes[row as usize] as usize] += weights[row as usize]);
        let at = tree.nodes.len();
        if let Some((above, side)) = parent
            && let Some(split) = &mut tree.nodes[above].split
        {
            split.children[side] = at;
        }
        let pure = own.iter().filter(|weight| **weight > 0.0).count() < 2;
        let deep = options.max_depth.is_some_and(|most| depth >= most);
        let mut best: Option<(f64, usize, u32, u32)> = None;
        if !pure && !deep && rows.len() >= 2 * options.min_leaf.max(1) {
            let columns = table.columns().len();
            let drawn: Vec<usize> = match (options.draw, &mut random) {
                (Some((wanted, _)), Some(random)) => {
                    let mut drawn = sample(random, columns, wanted.clamp(1, columns)).into_vec();
                    drawn.sort_unstable();
                    drawn
                }
                _ => (0..columns).collect(),
            };
            for k in drawn {
                let codes = table.columns()[k].codes();
                sorted.clear();
                sorted.extend(rows.iter().map(|&row| u64::from(codes[row as usize]) << 32 | u64::from(row)));
                sorted.sort_unstable();
                let least = options.min_leaf.max(1);
                if let Some((gain, at)) = best_cut(&sorted, classes, weights, &own, least)
                    && gain > best.map_or(0.0, |best| best.0) * (1.0 + TIE)
                {
                    best = Some((gain, k, code_of(sorted[at]), code_of(sorted[at + 1])));
                }
            }
        }
        let mut split = None;
        if let Some((gain, k, place, next)) = best
            && gain > options.min_gain * total
            && gain > 1e-12 * total
        {
            let column = &table.columns()[k];
            let (low, high) = (column.levels()[place as usize], column.levels()[next as usize]);
            // Halved apart: their sum may not be finite. Rounding must not put it on the other value.
            let middle = low / 2.0 + high / 2.0;
            let threshold = if middle >= low && middle < high { middle } else { low };
            split = Some(ClassSplit { column: k, threshold, gain, children: [0, 0] });
            let (left, right): (Vec<u32>, Vec<u32>) =
                rows.iter().partition(|&&row| column.codes()[row as usize] <= place);
            pending.push((right, depth + 1, Some((at, 1))));
            pending.push((left, depth + 1, Some((at, 0))));
        }
        tree.nodes.push(ClassNode { weights: own, count: rows.len(), split });
    }
    Ok(tree)
}

fn code_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

fn row_of(entry: u64) -> u32 {
    entry as u32
}

/// The greatest gain of a cut behind place `at` of the sorted rows, between two values; the first of equal ones.
fn best_cut(
    sorted: &[u64],
    classes: &[u32],
    weights: &[f64],
    own: &[f64],
    least: usize,
) -> Option<(f64, usize)> {
    let total: f64 = own.iter().sum();
    let squares = |weights: &[f64]| weights.iter().map(|weight| weight * weight).sum::<f64>();
    let whole = squares(own) / total;
    let (mut left, mut right) = (vec![0.0; own.len()], own.to_vec());
    let (mut below, mut left_square, mut right_square) = (0.0, 0.0, squares(own));
    let mut best: Option<(f64, usize)> = None;
    for at in 0..sorted.len().saturating_sub(1) {
        let row = row_of(sorted[at]) as usize;
        let (class, weight) = (classes[row] as usize, weights[row]);
        left_square += weight * (2.0 * left[class] + weight);
        right_square -= weight * (2.0 * right[class] - weight);
        left[class] += weight;
        right[class] -= weight;
        below += weight;
        let above = total - below;
        if code_of(sorted[at]) == code_of(sorted[at + 1]) || at + 1 < least || sorted.len() - at - 1 < least {
            continue;
        }
        if below <= 0.0 || above <= 0.0 {
            continue;
        }
        let gain = left_square / below + right_square / above - whole;
        if gain > best.map_or(0.0, |best| best.0) * (1.0 + TIE) {
            best = Some((gain, at));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::table::Column;
    use super::*;

    fn grown(options: &ClassOptions) -> ClassTree {
        // Class 1 in the middle of the first column, class 2 where the second is above 0.5.
        let first: Vec<f64> = (0..60).map(f64::from).collect();
        let second: Vec<f64> = (0..60).map(|row| f64::from(row % 3) / 2.0).collect();
        let class = |row: usize| match () {
            () if second[row] > 0.5 => 2,
            () if (20..40).contains(&row) => 1,
            () => 0,
        };
        let classes: Vec<u32> = (0..60).map(class).collect();
        let table =
            Table::new(vec![Column::numeric("a", &first).unwrap(), Column::numeric("b", &second).unwrap()])
                .unwrap();
        let rows: Vec<u32> = (0..60).collect();
        let tree = grow_classes(&table, &classes, &[1.0; 60], 3, &rows, options).unwrap();
        for (row, &class) in classes.iter().enumerate() {
            let mut at = 0;
            while let Some(split) = &tree.nodes[at].split {
                let right = table.columns()[split.column].value(row) > split.threshold;
                assert!(split.children[usize::from(right)] > at);
                at = split.children[usize::from(right)];
            }
            if *options == ClassOptions::default() {
                assert_eq!(tree.nodes[at].weights[class as usize], tree.nodes[at].count as f64);
            }
        }
        tree
    }

    #[test]
    fn a_full_tree_is_pure_and_a_short_one_is_short() {
        assert_eq!(grown(&ClassOptions::default()).nodes.len(), 7);
        let one = grown(&ClassOptions { max_depth: Some(1), ..ClassOptions::default() });
        assert_eq!(one.nodes.len(), 3);
        let split = one.nodes[0].split.unwrap();
        assert_eq!((split.column, split.threshold), (1, 0.75));
        // 60 designs: 27, 13, 20. Left of the cut 40 with 27 and 13, right 20 of one class.
        let impurity = |weights: [f64; 3]| {
            let sum: f64 = weights.iter().sum();
            sum - weights.iter().map(|weight| weight * weight).sum::<f64>() / sum
        };
        let whole = one.nodes[0].weights.clone().try_into().unwrap();
        let left = one.nodes[1].weights.clone().try_into().unwrap();
        assert!((split.gain - (impurity(whole) - impurity(left))).abs() < 1e-9);
        let drawn = ClassOptions { draw: Some((1, 7)), ..ClassOptions::default() };
        assert_eq!(grown(&drawn), grown(&drawn));
    }

    #[test]
    fn weights_decide() {
        let table = Table::new(vec![Column::numeric("a", &[1.0, 2.0, 3.0, 4.0]).unwrap()]).unwrap();
        let options = ClassOptions { max_depth: Some(1), ..ClassOptions::default() };
        let cut = |weights: [f64; 4]| {
            let tree = grow_classes(&table, &[0, 1, 0, 1], &weights, 2, &[0, 1, 2, 3], &options).unwrap();
            tree.nodes[0].split.unwrap().threshold
        };
        assert_eq!((cut([9.0, 1.0, 1.0, 1.0]), cut([1.0, 1.0, 1.0, 9.0])), (1.5, 3.5));
        assert!(grow_classes(&table, &[0, 1, 0, 5], &[1.0; 4], 2, &[0], &options).is_err());
    }
}
