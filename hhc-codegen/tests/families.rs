//! Statements that differ by their number alone are proved together, and mistakes in them are found as if each were alone.

use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, PlanError, TileSizes, pipeline, prove};
use polyhedral::analysis::{Analysis, analyze};
use std::sync::Arc;

/// Nine cases of a boundary and a copy: ten statements.
const CASES: &str = "stencil cases(t, i, j) {
    field un: f64;
    field u: f64;
    boundary per_slot;
    un[t+1, i, j] = u[t, i+1, j] + u[t, i, j+1] for i == 0, j == 0;
    un[t+1, i, j] = u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1] for i == 0;
    un[t+1, i, j] = u[t, i+1, j] + u[t, i, j-1] for i == 0, j == n1 - 1;
    un[t+1, i, j] = u[t, i-1, j] + u[t, i+1, j] + u[t, i, j+1] for j == 0;
    un[t+1, i, j] = u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1];
    un[t+1, i, j] = u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] for j == n1 - 1;
    un[t+1, i, j] = u[t, i-1, j] + u[t, i, j+1] for i == n0 - 1, j == 0;
    un[t+1, i, j] = u[t, i-1, j] + u[t, i, j-1] + u[t, i, j+1] for i == n0 - 1;
    un[t+1, i, j] = u[t, i-1, j] + u[t, i, j-1] for i == n0 - 1, j == n1 - 1;
    u[t+1, i, j] = 0.25 * un[t+1, i, j];
}";

fn planned(strategy: &str) -> (KernelPlan, Analysis, usize) {
    let program = Arc::new(polyhedral::parse("cases.stencil", CASES).unwrap());
    let strategy = strategy::by_name(strategy).unwrap();
    let planned = pipeline::plan(&program, strategy, &TileSizes::default(), Target::OpenMp).unwrap();
    (planned.plan, analyze(&program).unwrap(), planned.proof.relations)
}

#[test]
fn ten_statements_take_a_few_relations() {
    for strategy in ["hhc", "diamond", "time-skewing"] {
        let (plan, _, relations) = planned(strategy);
        assert!(plan.program.statements.len() == 10 && relations < 350, "{strategy}: {relations}");
    }
}

/// A change to all rows, which stay a family, and one to a single row, which is none any more.
#[test]
fn wrong_families_are_refused() {
    for strategy in ["hhc", "diamond", "time-skewing"] {
        let (plan, analysis, _) = planned(strategy);
        let refused = |change: &dyn Fn(&mut KernelPlan), why: &str| {
            let mut wrong = plan.clone();
            change(&mut wrong);
            match prove::prove(&wrong, &analysis.dependences) {
                Err(PlanError::Illegal { reason, .. }) => reason,
                other => panic!("{strategy}, {why}: {other:?}"),
            }
        };
        for rows in [0..10, 4..5] {
            let change = |by: i64| {
                let rows = rows.clone();
                move |plan: &mut KernelPlan| {
                    for kernel in &mut plan.kernels {
                        for row in &mut kernel.instances[rows.clone()] {
                            row.ranges[0].low = row.ranges[0].low.clone() + by;
                        }
                    }
                }
            };
            refused(&change(1), "points are left out");
            refused(&change(-1), "points are computed twice");
            refused(
                &|plan| {
                    for kernel in &mut plan.kernels {
                        for row in &mut kernel.instances[rows.clone()] {
                            let moved = row.step.clone() * 3;
                            row.ranges[0].low = row.ranges[0].low.clone() + moved.clone();
                            row.ranges[0].high = row.ranges[0].high.clone() + moved;
                        }
                    }
                },
                "rows move on too fast",
            );
        }
    }
}

/// Cases along two dimensions, the last of which tiles of hexagons do not cut: each row has its own range there.
fn cases_in_space() -> String {
    let ends = ["== 0", "", "== n - 1"];
    let mut text = "stencil space(t, i, j, k) {\n    field u: f64;\n    boundary per_slot;\n".to_owned();
    for (at, second) in ends.iter().enumerate() {
        for (own, third) in ends.iter().enumerate() {
            let along = |index: &str, at: usize, end: &str| {
                let end = end.replace("n", if index == "j" { "n1" } else { "n2" });
                if at == 1 { Vec::new() } else { vec![format!("{index} {end}")] }
            };
            let conditions = [along("j", at, second), along("k", own, third)].concat();
            let when =
                if conditions.is_empty() { String::new() } else { format!(" for {}", conditions.join(", ")) };
            let in_rows =
                [" + u[t, i, j+1, k]", " + u[t, i, j-1, k] + u[t, i, j+1, k]", " + u[t, i, j-1, k]"][at];
            let in_lines =
                [" + u[t, i, j, k+1]", " + u[t, i, j, k-1] + u[t, i, j, k+1]", " + u[t, i, j, k-1]"][own];
            text += &format!(
                "    u[t+1, i, j, k] = u[t, i-1, j, k] + u[t, i+1, j, k]{in_rows}{in_lines}{when};\n"
            );
        }
    }
    text + "}"
}

#[test]
fn rows_with_ranges_of_their_own_are_proved_together() {
    let program = Arc::new(polyhedral::parse("space.stencil", &cases_in_space()).unwrap());
    let analysis = analyze(&program).unwrap();
    for strategy in ["hhc", "diamond"] {
        let strategy = strategy::by_name(strategy).unwrap();
        let planned = pipeline::plan(&program, strategy, &TileSizes::default(), Target::OpenMp).unwrap();
        let relations = planned.proof.relations;
        assert!(planned.plan.program.statements.len() == 9 && relations < 250, "{relations}");
        // A row that reaches beyond its statement's points in full tiles, and rows that leave points out.
        for (row, by) in [(4, 1), (4, -1), (8, -1)] {
            let mut wrong = planned.plan.clone();
            for kernel in &mut wrong.kernels {
                let high = &mut kernel.instances[row].ranges[2].high;
                *high = high.clone() + by;
            }
            let found = prove::prove(&wrong, &analysis.dependences);
            assert!(matches!(found, Err(PlanError::Illegal { .. })), "row {row} by {by}: {found:?}");
        }
    }
}
