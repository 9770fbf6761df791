//! Non-negative least squares, for costs: they are sums of what things cost, and nothing costs less than nothing.
//!
//! All that a calibration fits is linear in what is unknown: rows (`body`), lines (`transfer`), energies. No general minimiser is needed here.

/// The `x >= 0` that minimises `|A x - y|^2`, by coordinate descent: each coordinate in turn takes its best value
/// given the others, which converges for this convex problem. `rows` holds the rows of `A`.
pub fn non_negative(rows: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
    let unknowns = rows.first().map_or(0, Vec::len);
    let mut gram = vec![vec![0.0; unknowns]; unknowns];
    let mut right = vec![0.0; unknowns];
    for (row, &value) in rows.iter().zip(y) {
        for i in 0..unknowns {
            right[i] += row[i] * value;
            for j in 0..unknowns {
                gram[i][j] += row[i] * row[j];
            }
        }
    }
    let mut x = vec![0.0; unknowns];
    for _ in 0..100_000 {
        let mut change: f64 = 0.0;
        for i in 0..unknowns {
            if gram[i][i] <= 0.0 {
                continue;
            }
            let others: f64 = (0..unknowns).filter(|&j| j != i).map(|j| gram[i][j] * x[j]).sum();
            let best = ((right[i] - others) / gram[i][i]).max(0.0);
            change = change.max((best - x[i]).abs() * gram[i][i].sqrt());
            x[i] = best;
        }
        if change < 1e-9 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn exact_costs_are_found_again() {
        let rows: Vec<Vec<f64>> = (1..20).map(|n| vec![1.0, f64::from(n), f64::from(n * n % 7)]).collect();
        let truth = [3.0, 0.25, 2.0];
        let y: Vec<f64> = rows.iter().map(|row| row.iter().zip(truth).map(|(a, b)| a * b).sum()).collect();
        for (found, truth) in non_negative(&rows, &y).iter().zip(truth) {
            assert_relative_eq!(*found, truth, max_relative = 1e-6);
        }
    }

    #[test]
    fn what_would_be_negative_is_zero() {
        let rows = vec![vec![1.0, 1.0], vec![1.0, 2.0], vec![1.0, 3.0]];
        let x = non_negative(&rows, &[3.0, 2.0, 1.0]);
        assert_relative_eq!(x[0], 2.0, max_relative = 1e-6);
        assert_eq!(x[1], 0.0);
    }
}
