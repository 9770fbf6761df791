//! Solvers: what they find solves the system; where they cannot, they say so.

use std::sync::Arc;
use variant_benchmarks::benchmark::{Benchmark, Inputs, built};
use variant_benchmarks::solvers::features::{self, Summary};
use variant_benchmarks::solvers::{Method, Preconditioner, Preconditioning, Solvers, Solving, solve};
use variant_benchmarks::sparse::Csr;

const KINDS: [Preconditioning; 3] =
    [Preconditioning::Jacobi, Preconditioning::BlockJacobi, Preconditioning::ApproximateInverse];

/// What each variant says of a system; what it takes for a solution is one.
fn outcomes(solving: &Solving) -> Vec<Result<(), String>> {
    let function = built::<Solvers>(None).unwrap();
    let run = |variant| {
        let mut own = solving.again();
        function.run(variant, &mut own)?;
        Solvers::check(&own)
    };
    (0..6).map(run).collect()
}

fn system(rows: usize, entries: &[(u32, u32, f64)], right: &[f64]) -> Solving {
    let matrix = Csr::from_entries(rows, rows, entries.to_vec()).unwrap();
    Solving::new(Arc::new(matrix), right.to_vec()).unwrap()
}

fn chain(rows: u32, diagonal: f64) -> Vec<(u32, u32, f64)> {
    let of = |at: u32| [(at, at, diagonal), (at, (at + 1) % rows, -1.0), ((at + 1) % rows, at, -1.0)];
    (0..rows).flat_map(of).collect()
}

/// Against elimination by hand: 2 x + y = 3, x + 3 y = 5 has x = 0.8, y = 1.4.
#[test]
fn small_systems() {
    let matrix = Csr::from_entries(2, 2, vec![(0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)]).unwrap();
    for kind in KINDS {
        let preconditioner = Preconditioner::new(kind, &matrix).unwrap();
        for method in [Method::Cg, Method::BiCgStab] {
            let x = solve(&matrix, &[3.0, 5.0], method, &preconditioner).unwrap().x;
            assert!((x[0] - 0.8).abs() < 1e-7 && (x[1] - 1.4).abs() < 1e-7, "{kind:?} {method:?}: {x:?}");
        }
    }
    // Two unknowns are one block, and the lower triangle is a full factor: one step.
    for kind in &KINDS[1..] {
        let preconditioner = Preconditioner::new(*kind, &matrix).unwrap();
        let found = solve(&matrix, &[3.0, 5.0], Method::Cg, &preconditioner).unwrap();
        assert!(found.steps <= 1, "{kind:?}: {}", found.steps);
    }
    assert!(outcomes(&system(0, &[], &[])).iter().all(Result::is_ok));
    assert!(outcomes(&system(3, &chain(3, 4.0), &[0.0; 3])).iter().all(Result::is_ok));
    assert!(outcomes(&system(500, &chain(500, 2.1), &vec![1.0; 500])).iter().all(Result::is_ok));
}

#[test]
fn what_cannot_be_solved_is_said() {
    // Without a diagonal, with a row of zeros, singular, and with what is no number.
    let swap = system(2, &[(0, 1, 1.0), (1, 0, 1.0)], &[1.0, 2.0]);
    let all = outcomes(&swap);
    assert!(all[0].as_ref().unwrap_err().contains("diagonal element 0"), "{all:?}");
    let zeros = system(3, &[(0, 0, 1.0)], &[1.0, 1.0, 1.0]);
    assert!(outcomes(&zeros).iter().all(Result::is_err));
    let same = system(2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)], &[1.0, -1.0]);
    assert!(outcomes(&same).iter().all(Result::is_err));
    for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(
            outcomes(&system(2, &[(0, 0, special), (1, 1, 1.0)], &[1.0, 1.0])).iter().all(Result::is_err)
        );
        assert!(outcomes(&system(1, &[(0, 0, 1.0)], &[special])).iter().all(Result::is_err));
    }
    // Negative definite: no conjugate gradients, and no real factor.
    let negative = outcomes(&system(300, &chain(300, -2.5), &vec![1.0; 300]));
    assert!(negative[3].is_err() && negative[5].is_err() && negative[2].is_err(), "{negative:?}");
    assert!(Solving::new(Arc::new(Csr::from_entries(2, 3, vec![]).unwrap()), vec![0.0; 2]).is_err());
}

#[test]
fn wrong_results_are_seen() {
    let mut own = system(2, &[(0, 0, 1.0), (1, 1, 2.0)], &[1.0, 2.0]);
    assert!(Solvers::check(&own).is_err());
    own.x = vec![1.0, 1.0 + 1e-5];
    assert!(Solvers::check(&own).unwrap_err().contains("residual"));
    own.x = vec![1.0, 1.0];
    assert!(Solvers::check(&own).is_ok());
    own.x = vec![1.0, f64::NAN];
    assert!(Solvers::check(&own).is_err());
}

#[test]
fn features_of_a_matrix() {
    let matrix =
        Csr::from_entries(3, 3, vec![(0, 0, 2.0), (1, 1, -4.0), (2, 0, 3.0), (2, 2, 5.0), (0, 1, 1.0)])
            .unwrap();
    let wanted = Summary {
        trace: 3.0,
        diagonal_mean: 1.0,
        diagonal_variance: 14.0,
        dominance: 1.0,
        left_bandwidth: 2,
        norm_1: 5.0,
        asymmetry: 0.4,
    };
    assert_eq!(Summary::of(&matrix), wanted);
    assert_eq!(features::logarithm(-1.0), -std::f64::consts::LN_2);
}

/// What was scaled from both sides differs across the diagonal in its last bits, and is symmetric all the same.
#[test]
fn rounding_makes_no_matrix_asymmetric() {
    let scales: Vec<f64> = (0..200).map(|at| 1.1_f64.powi(at % 37) / 3.0).collect();
    let scaled = |&(row, column, value): &(u32, u32, f64)| {
        (row, column, 0.7 * value * scales[row as usize] * scales[column as usize])
    };
    let matrix = |entries: Vec<(u32, u32, f64)>| Csr::from_entries(200, 200, entries).unwrap();
    let own = matrix(chain(200, 2.5).iter().map(scaled).collect());
    assert!((1..200).any(|row| own.get(row, row - 1) != own.get(row - 1, row)));
    assert_eq!(Summary::of(&own).asymmetry, 0.0);
    let other = |&(row, column, value): &(u32, u32, f64)| {
        (row, column, if row > column { value * (1.0 + 1e-9) } else { value })
    };
    assert!(Summary::of(&matrix(chain(200, 2.5).iter().map(other).collect())).asymmetry > 0.5);
}

/// Of the systems of the benchmark some are solved by all variants, some by a few.
#[test]
fn some_variants_fail_and_some_do_not() {
    let (mut all, mut some) = (0, 0);
    for input in Solvers::inputs(&Inputs { held_out: true, count: 12, largest: 3000 }) {
        let own = (input.make)();
        let solved = outcomes(&own).iter().filter(|outcome| outcome.is_ok()).count();
        all += usize::from(solved == 6);
        some += usize::from(solved > 0 && solved < 6);
        let function = built::<Solvers>(None).unwrap();
        (0..9).for_each(|at| assert!(function.feature(at, &own).is_some()));
    }
    assert!(all >= 2 && some >= 2, "{all} by all, {some} by some");
}
