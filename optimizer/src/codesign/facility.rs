//! Which `m` designs to build: each stencil runs on the one of them that is best for it (facility location without costs of
//! building, the p-median problem).
//!
//! ```text
//! minimise   sum over stencils i, designs j of w_i * cost_ij * x_ij
//! subject to sum_j x_ij = 1        x_ij <= y_j        sum_j y_j <= m        x_ij >= 0        y_j in {0, 1}
//! ```

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, constraint, default_solver, variable};
use serde::Serialize;

/// Designs that serve a workload together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// The designs, ascending.
    pub designs: Vec<usize>,
    /// By stencil: its design.
    pub serves: Vec<usize>,
    /// The weighted mean of the stencils' costs.
    pub cost: f64,
}

/// The best `most` designs for weights of stencils. `costs[j][i]` is that of stencil `i` on design `j`, positive.
///
/// # Errors
/// What the solver says; nothing to choose from.
pub fn choose(costs: &[Vec<f64>], weights: &[f64], most: usize) -> Result<Chosen, String> {
    if costs.is_empty() || weights.is_empty() || most == 0 {
        return Err("there is nothing to choose from".to_owned());
    }
    let kept = undominated(costs);
    // Costs as shares of each stencil's least, so that the numbers of the program are near 1.
    let least = |stencil: usize| kept.iter().map(|&j| costs[j][stencil]).fold(f64::INFINITY, f64::min);
    let all: f64 = (0..weights.len()).map(|i| weights[i] * least(i)).sum();
    let mut variables = ProblemVariables::new();
    let built: Vec<_> = kept.iter().map(|_| variables.add(variable().binary())).collect();
    let served: Vec<Vec<_>> = (weights.iter())
        .map(|_| kept.iter().map(|_| variables.add(variable().min(0.0).max(1.0))).collect())
        .collect();
    let mut cost = Expression::from(0.0);
    for (i, weight) in weights.iter().enumerate() {
        for (at, &j) in kept.iter().enumerate() {
            cost += weight * costs[j][i] / all * served[i][at];
        }
    }
    let mut model = variables.minimise(cost).using(default_solver);
    for own in &served {
        model = model.with(constraint!(own.iter().copied().map(Expression::from).sum::<Expression>() == 1.0));
        for (x, y) in own.iter().zip(&built) {
            model = model.with(constraint!(*x <= *y));
        }
    }
    let number = built.iter().copied().map(Expression::from).sum::<Expression>();
    let model = model.with(constraint!(number <= most as f64));
    let solution = model.solve().map_err(|error| error.to_string())?;
    let open: Vec<usize> =
        kept.iter().zip(&built).filter(|(_, y)| solution.value(**y) > 0.5).map(|(j, _)| *j).collect();
    Ok(serve(costs, weights, &open))
}

/// What these designs cost together.
pub fn serve(costs: &[Vec<f64>], weights: &[f64], open: &[usize]) -> Chosen {
    let best =
        |i: usize| open.iter().copied().min_by(|&a, &b| costs[a][i].total_cmp(&costs[b][i])).unwrap_or(0);
    let serves: Vec<usize> = (0..weights.len()).map(best).collect();
    let sum: f64 = serves.iter().enumerate().map(|(i, &j)| weights[i] * costs[j][i]).sum();
    let mut designs = serves.clone();
    designs.sort_unstable();
    designs.dedup();
    Chosen { designs, serves, cost: sum / weights.iter().sum::<f64>() }
}

/// Designs that no other one is as good as for every stencil; of equal ones the first.
fn undominated(costs: &[Vec<f64>]) -> Vec<usize> {
    let dominates = |a: usize, b: usize| {
        let no_worse = costs[a].iter().zip(&costs[b]).all(|(a, b)| a <= b);
        no_worse && (a < b || costs[a] != costs[b])
    };
    (0..costs.len()).filter(|&b| !(0..costs.len()).any(|a| a != b && dominates(a, b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::relative_eq;
    use proptest::prelude::*;

    /// All sets of up to `most` designs.
    fn enumerated(costs: &[Vec<f64>], weights: &[f64], most: usize) -> f64 {
        let sets = (1_u32..1 << costs.len()).filter(|set| set.count_ones() as usize <= most);
        sets.map(|set| {
            let open: Vec<usize> = (0..costs.len()).filter(|j| set >> j & 1 == 1).collect();
            serve(costs, weights, &open).cost
        })
        .fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn the_program_finds_what_enumeration_finds(
            costs in (1_usize..6).prop_flat_map(|stencils| {
                prop::collection::vec(prop::collection::vec(0.01..10.0_f64, stencils), 1..9)
            }),
            most in 1_usize..4,
            weights in prop::collection::vec(0.1..5.0_f64, 6),
        ) {
            let weights = &weights[..costs[0].len()];
            let chosen = choose(&costs, weights, most).unwrap();
            let best = enumerated(&costs, weights, most);
            prop_assert!(chosen.designs.len() <= most);
            prop_assert!(relative_eq!(chosen.cost, best, max_relative = 1e-9), "{} and {best}", chosen.cost);
        }
    }
}
