//! Statements that share what they read, in one row: with every strategy that has such rows, bit for bit as the reference; rows
//! that cannot be one are refused, and a text that mixes them up gives wrong values.

use crate::harness::{Problem, compiled, library_text, parsed, planned, strict};
use hhc_codegen::plan::{RowOrder, joined_rows};
use hhc_codegen::prove::prove;
use hhc_codegen::{KernelPlan, TileSizes};
use polyhedral::program::Program;
use std::sync::Arc;

/// Directions of a lattice in the plane: rest, four neighbours.
const DIRECTIONS: [(i64, i64); 5] = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)];

fn at(name: &str, direction: (i64, i64), time: &str) -> String {
    let index = |name: &str, by: i64| match by {
        0 => name.to_owned(),
        by if by < 0 => format!("{name}{by}"),
        by => format!("{name}+{by}"),
    };
    format!("{name}[{time}, {}, {}]", index("i", -direction.0), index("j", -direction.1))
}

/// Values that the statements share, of the five `values`, and what each of them becomes.
fn collision(values: &[String], target: impl Fn(usize) -> String) -> String {
    let density = values.join(" + ");
    let mut text = String::new();
    for (number, value) in values.iter().enumerate() {
        let (x, y) = DIRECTIONS[number];
        text += &format!(
            "let rho{number} = {density}; let ux{number} = ({} - {}) / rho{number}; let uy{number} = ({} - {}) / rho{number};
             {} = {value} - 0.5 * ({value} - 0.2 * rho{number} * (1 + {x} * uy{number} + {y} * ux{number}));\n",
            values[1], values[3], values[2], values[4], target(number),
        );
    }
    text
}

/// Streams and collides in one sweep, from one level to the next.
fn pulled() -> Arc<Program> {
    let fields: String = (0..5).map(|number| format!("field f{number}: f64;\n")).collect();
    let values: Vec<String> =
        DIRECTIONS.iter().enumerate().map(|(k, &direction)| at(&format!("f{k}"), direction, "t")).collect();
    let body = collision(&values, |number| format!("f{number}[t+1, i, j]"));
    parsed("pulled", &format!("stencil pulled(t, i, j) {{ {fields} {body} }}"))
}

/// Streams into other fields, then collides back in place: each point reads all of what it overwrites.
fn in_place() -> Arc<Program> {
    let fields: String =
        (0..5).map(|number| format!("field f{number}: f64; field g{number}: f64;\n")).collect();
    let streamed: String = DIRECTIONS
        .iter()
        .enumerate()
        .map(|(k, &direction)| format!("g{k}[t+1, i, j] = {};\n", at(&format!("f{k}"), direction, "t")))
        .collect();
    let values: Vec<String> = (0..5).map(|number| format!("g{number}[t+1, i, j]")).collect();
    let body = collision(&values, |number| format!("f{number}[t+1, i, j]"));
    parsed("in_place", &format!("stencil in_place(t, i, j) {{ {fields} {streamed} {body} }}"))
}

/// Each of four fields is computed of all four at its own point, in place where the language allows it.
fn mixed1d() -> Arc<Program> {
    let fields: String = (0..4).map(|number| format!("field u{number}: f32;\n")).collect();
    let values: Vec<String> = (0..4).map(|number| format!("u{number}[t, i{:+}]", number - 1)).collect();
    let values: Vec<String> = values.iter().map(|value| value.replace("i+0", "i")).collect();
    let sum = values.join(" + ");
    let body: String = (0..4)
        .map(|k| {
            format!(
                "let s{k} = {sum}; u{k}[t+1, i] = 0.25 * s{k} + 0.125 * {} - {k} * 0.0625 * s{k};\n",
                values[k]
            )
        })
        .collect();
    parsed("mixed1d", &format!("stencil mixed1d(t, i) {{ {fields} {body} }}"))
}

/// Rows with several statements.
fn joined(plan: &KernelPlan) -> Vec<usize> {
    let rows = plan.kernels.iter().flat_map(|kernel| joined_rows(kernel).map(<[_]>::len));
    rows.filter(|rows| *rows > 1).collect()
}

fn plans(program: &Arc<Program>) -> Vec<KernelPlan> {
    let rows = 2 * program.statements.len() as i64;
    let sizes: [(&str, &[(&str, i64)]); 3] = [
        ("diamond", &[("st", rows), ("s1", 9)]),
        ("time-skewing", &[("st", rows), ("s0", 6), ("s1", 11)]),
        ("naive", &[("s0", 5), ("s1", 12)]),
    ];
    let dimension = program.dimension();
    let fits = |name: &str| name != "s1" || dimension > 1;
    let plan = |(strategy, sizes): &(&str, &[(&'static str, i64)])| {
        let tile = TileSizes::new(sizes.iter().copied().filter(|(name, _)| fits(name)));
        planned(program, strategy, &tile).plan
    };
    sizes.iter().map(plan).collect()
}

fn agrees(program: &Arc<Program>, statements: usize) {
    let sizes: &[&[i64]] = if program.dimension() == 1 { &[&[5], &[90]] } else { &[&[5, 5], &[41, 57]] };
    for plan in plans(program) {
        assert_eq!(joined(&plan), [statements], "{} {}", program.name, plan.strategy);
        let native = compiled(program, &library_text(&plan), &strict(0));
        for (size, steps) in sizes.iter().flat_map(|size| [1, 2, 9].map(|steps| (size, steps))) {
            let problem = Problem::new(program, size, steps);
            let expected = problem.expected(program);
            for layout in problem.layouts(program) {
                problem
                    .check(program, &native, layout, &expected)
                    .unwrap_or_else(|error| panic!("{}: {error}", plan.strategy));
            }
        }
    }
}

#[test]
fn a_lattice_that_is_pulled() {
    agrees(&pulled(), 5);
}

#[test]
fn a_lattice_that_collides_in_place() {
    agrees(&in_place(), 5);
}

#[test]
fn a_line_of_four_fields() {
    agrees(&mixed1d(), 4);
}

fn refused(plan: &KernelPlan) -> String {
    let analysis = polyhedral::analysis::analyze(&plan.program).unwrap();
    prove(plan, &analysis.dependences).err().unwrap().to_string()
}

#[test]
fn rows_that_are_not_one_are_refused() {
    let plan = &plans(&in_place())[0];
    let fault = |change: &dyn Fn(&mut KernelPlan)| {
        let mut wrong = plan.clone();
        change(&mut wrong);
        refused(&wrong)
    };
    let wider = fault(&|plan| {
        let high = &mut plan.kernels[0].instances[6].ranges[1].high;
        *high = high.clone() + 1;
    });
    assert!(wider.contains("not the same box"), "{wider}");
    let others = fault(&|plan| {
        let first = plan.kernels[0].instances[4].ranges.clone();
        let rows = &mut plan.kernels[0].instances;
        rows[5].joined = true;
        rows[5..].iter_mut().for_each(|row| row.ranges.clone_from(&first));
    });
    assert!(others.contains("domains of their statements differ"), "{others}");
    let alone = fault(&|plan| plan.kernels[0].instances[0].joined = true);
    assert!(alone.contains("there are none"), "{alone}");
}

/// The last of four fields is read by all statements before its own, at their points: it needs one level only.
#[test]
fn points_that_overwrite_what_they_read_run_once() {
    let fields: String = (0..4).map(|number| format!("field u{number}: f64;\n")).collect();
    let sum = "u0[t, i-1] + u1[t, i+1] + u2[t, i-1] + u3[t, i]";
    let body: String = (0..4).map(|k| format!("u{k}[t+1, i] = 0.125 * {k} + 0.2 * ({sum});\n")).collect();
    let program = parsed("overwrites", &format!("stencil overwrites(t, i) {{ {fields} {body} }}"));
    agrees(&program, 4);
    let mut plan = plans(&program).remove(0);
    let rows = &mut plan.kernels[0].instances;
    assert!(rows.iter().all(|row| row.order == RowOrder::Parallel { repeats: false }));
    rows.iter_mut().for_each(|row| row.order = RowOrder::Parallel { repeats: true });
    let error = refused(&plan);
    assert!(error.contains("compute a point twice"), "{error}");
}

#[test]
fn a_value_that_is_read_is_stored_before() {
    let text = "stencil chained(t, i) { field u: f64; field v: f64;
        u[t+1, i] = 0.5 * (u[t, i-1] + u[t, i+1]);
        v[t+1, i] = 0.25 * (u[t+1, i] + v[t, i-1] + v[t, i+1] + v[t, i]); }";
    let mut plan = plans(&parsed("chained", text)).remove(0);
    assert!(joined(&plan).is_empty());
    let first = plan.kernels[0].instances[0].ranges.clone();
    plan.kernels[0].instances[1].ranges.clone_from(&first);
    plan.kernels[0].instances[1].joined = true;
    let error = refused(&plan);
    assert!(error.contains("one reads what the other stores"), "{error}");
}

/// What is shared is computed once in the text; another order of the results is seen in the values.
#[test]
fn shared_values_stand_once() {
    let program = pulled();
    let plan = plans(&program).remove(0);
    let mut files = library_text(&plan);
    let text = &mut files[0].text;
    assert_eq!(text.matches("const double tw_rho0_0 = ").count(), 1);
    assert!(!text.contains("tw_rho1_"));
    let mixed = text.replace("= tw_value1;", "= other;").replace("= tw_value2;", "= tw_value1;");
    let mixed = mixed.replace("= other;", "= tw_value2;");
    assert_ne!(mixed, *text);
    *text = mixed;
    let native = compiled(&program, &files, &strict(0));
    let problem = Problem::new(&program, &[41, 57], 9);
    let layout = problem.layouts(&program).into_iter().next().unwrap();
    assert!(problem.check(&program, &native, layout, &problem.expected(&program)).is_err());
}
