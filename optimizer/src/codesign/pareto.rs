//! Exact Pareto fronts of points with any number of objectives, and the knee of a front of two.
//!
//! A point is *dominated* if another one is at least as good in every objective and better in one. Points that are equal
//! in all objectives do not dominate each other: all of them are on the front.

/// Whether larger or smaller values are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// Larger is better.
    Maximise,
    /// Smaller is better.
    Minimise,
}

/// Indices of the points on the front, ascending. Points with a value that is not a number are on no front.
///
/// Points are visited from the best to the worst in the first objective (ties: in the next ones), so that no later
/// point dominates an earlier one, and are compared with the front so far: `O(n log n + n * front)`, in two objectives
/// `O(n log n)`.
pub fn front(points: &[Vec<f64>], senses: &[Sense]) -> Vec<usize> {
    // All objectives as costs.
    let cost = |index: usize, d: usize| match senses[d] {
        Sense::Maximise => -points[index][d],
        Sense::Minimise => points[index][d],
    };
    let complete =
        |index: &usize| (0..senses.len()).all(|d| points[*index].get(d).is_some_and(|v| !v.is_nan()));
    let mut order: Vec<usize> = (0..points.len()).filter(complete).collect();
    order.sort_by(|&a, &b| {
        let differs = (0..senses.len()).map(|d| cost(a, d).total_cmp(&cost(b, d))).find(|o| o.is_ne());
        differs.unwrap_or_else(|| a.cmp(&b))
    });
    let mut front: Vec<usize> = Vec::new();
    for index in order {
        let dominates = |&other: &usize| {
            (0..senses.len()).all(|d| cost(other, d) <= cost(index, d))
                && (0..senses.len()).any(|d| cost(other, d) < cost(index, d))
        };
        // In two objectives the latest point of the front has the least second cost.
        let dominated = match senses.len() {
            0 => false,
            1 | 2 => front.last().is_some_and(dominates),
            _ => front.iter().any(dominates),
        };
        if !dominated {
            front.push(index);
        }
    }
    front.sort_unstable();
    front
}

/// The knee of a front in two objectives: the point that is farthest from the line between the ends of the front, both
/// axes scaled to the range of the front; where nothing is gained by bending, the middle of the front by the first
/// objective. `None` for an empty front. `front` are indices into `points`.
pub fn knee(points: &[Vec<f64>], front: &[usize], senses: [Sense; 2]) -> Option<usize> {
    let range = |d: usize| {
        let values = front.iter().map(|&index| points[index][d]);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        (low, values.fold(f64::NEG_INFINITY, f64::max) - low)
    };
    let ranges = [range(0), range(1)];
    // 0 is the worst of the front, 1 the best.
    let good = |index: usize, d: usize| {
        let (low, width) = ranges[d];
        let scaled = if width > 0.0 { (points[index][d] - low) / width } else { 0.5 };
        if senses[d] == Sense::Maximise { scaled } else { 1.0 - scaled }
    };
    // On the line between (0, 1) and (1, 0) the two add up to 1.
    let gain = |index: usize| good(index, 0) + good(index, 1);
    let mut best = None;
    for &index in front {
        if best.is_none_or(|other: usize| gain(index) > gain(other)) {
            best = Some(index);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::Sense::{Maximise, Minimise};
    use super::*;
    use proptest::prelude::*;

    fn by_definition(points: &[Vec<f64>], senses: &[Sense]) -> Vec<usize> {
        let better = |a: f64, b: f64, sense| if sense == Maximise { a > b } else { a < b };
        let dominates = |a: &[f64], b: &[f64]| {
            (0..senses.len()).all(|d| !better(b[d], a[d], senses[d]))
                && (0..senses.len()).any(|d| better(a[d], b[d], senses[d]))
        };
        (0..points.len()).filter(|&i| !points.iter().any(|other| dominates(other, &points[i]))).collect()
    }

    proptest! {
        #[test]
        fn fronts_are_what_the_definition_says(
            points in prop::collection::vec(prop::collection::vec((0_i8..6).prop_map(f64::from), 3), 0..40),
            flips in prop::collection::vec(prop::bool::ANY, 3),
        ) {
            let senses: Vec<Sense> = flips.iter().map(|&flip| if flip { Maximise } else { Minimise }).collect();
            for dimensions in 1..=3 {
                let cut: Vec<Vec<f64>> = points.iter().map(|point| point[..dimensions].to_vec()).collect();
                prop_assert_eq!(front(&cut, &senses[..dimensions]), by_definition(&cut, &senses[..dimensions]));
            }
        }
    }

    #[test]
    fn knees() {
        let points = vec![vec![0.0, 0.0], vec![1.0, 8.0], vec![2.0, 9.0], vec![10.0, 10.0], vec![5.0, 1.0]];
        let senses = [Minimise, Maximise];
        let on = front(&points, &senses);
        assert_eq!(on, [0, 1, 2, 3]);
        assert_eq!(knee(&points, &on, senses), Some(1));
        assert_eq!(knee(&points, &[], senses), None);
        assert_eq!(front(&[vec![f64::NAN, 1.0], vec![1.0, 1.0]], &senses), [1]);
    }
}
