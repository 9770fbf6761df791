//! Sweeps in order (Gauss-Seidel) and time skewing: compiled code against the reference, bit for bit; random sweeps; plans
//! with a skew that is one short, which the proof and the run must both refuse; and strategies that refuse sweeps.

use crate::harness::{Problem, compiled, everything, library_text, parsed, planned, shipped, strict};
use hhc_codegen::int_expr::{int, var};
use hhc_codegen::plan::RowOrder;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes, backend, pipeline, prove};
use polyhedral::analysis::analyze;
use polyhedral::program::Program;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::sync::Arc;

/// Programs, tiles that divide nothing, and odd grids.
const SWEEPS: &[(&str, &str, &[&[i64]])] = &[
    // New and old values of earlier points, so that two slots are needed; radius 2, a coefficient, a parameter.
    (
        "stencil s(t, i) { field u: f64; coefficient c: f64; param w = 0.375;
           u[t+1, i] = w * u[t+1, i-1] + c[i] * u[t, i-2] + 0.125 * u[t, i] + 0.25 * u[t, i+2]; }",
        "st=3,s0=7",
        &[&[1], &[5], &[61], &[1013]],
    ),
    // Far neighbours that are upwards and ahead: lines are five points behind each other.
    (
        "stencil s(t, i, j) { field u: f32;
           u[t+1, i, j] = 0.25 * u[t+1, i-1, j+4] + 0.25 * u[t+1, i-2, j-1] + 0.25 * u[t, i+1, j+1] + 0.125 * u[t, i, j]; }",
        "st=3,s0=8,s1=11",
        &[&[4, 5], &[9, 61], &[61, 37]],
    ),
    // Over-relaxation of every second statement: the others are ordinary, and read what it computes; edges follow.
    (
        "stencil s(t, i, j) { field u: f64; field r: f64; series f: f64; param w = 1.5;
           r[t+1, i, j] = 0.5 * r[t, i, j] + 0.25 * (u[t, i, j+1] - u[t, i+1, j]) + f[t];
           u[t+1, i, j] = u[t, i+1, j] for i == 0, 1 <= j < n1 - 1;
           u[t+1, i, j] = (1 - w) * u[t, i, j] + w * 0.25 * (u[t+1, i-1, j] + u[t+1, i, j-1] + u[t, i+1, j] + u[t, i, j+1])
             + 0.01 * r[t+1, i, j] for 1 <= i < n0 - 1; }",
        "st=6,s0=8,s1=13",
        &[&[5, 5], &[23, 19], &[41, 61]],
    ),
    // What a point becomes depends on where it lies.
    (
        "stencil s(t, i, j) { field u: f32;
           u[t+1, i, j] = (i + 2 * j + t) % 3 != 1 ? 0.25 * (u[t+1, i-1, j] + u[t+1, i, j-1] + u[t, i+1, j] + u[t, i, j+1])
             : (j - i) % 4 == 3 ? u[t+1, i-1, j] : 0.5 * u[t, i, j]; }",
        "st=4,s0=8,s1=13",
        &[&[5, 5], &[41, 61]],
    ),
    // Three dimensions, the last one whole, a local, old levels further back.
    (
        "stencil s(t, i, j, k) { field u: f32;
           let around = u[t+1, i-1, j, k] + u[t+1, i, j-1, k] + u[t+1, i, j, k-1] + u[t, i+1, j, k] + u[t, i, j+1, k];
           u[t+1, i, j, k] = around / 8 + 0.25 * u[t-1, i, j, k+1]; }",
        "st=2,s0=3,s1=8,s2=0",
        &[&[3, 4, 5], &[13, 21, 17]],
    ),
];

fn check(program: &Arc<Program>, plan: &KernelPlan, sizes: &[&[i64]], steps: &[i64]) -> Result<(), String> {
    let native = compiled(program, &library_text(plan), &strict(0));
    for size in sizes {
        for &steps in steps {
            let problem = Problem::new(program, size, steps);
            let expected = problem.expected(program);
            for layout in problem.layouts(program) {
                problem.check(program, &native, layout, &expected)?;
            }
        }
    }
    Ok(())
}

#[test]
fn agree_with_the_reference() {
    for (text, tile, sizes) in SWEEPS {
        let program = parsed("s", text);
        let plan = planned(&program, "time-skewing", &TileSizes::parse(tile).unwrap()).plan;
        check(&program, &plan, sizes, &[0, 1, 7, 10]).unwrap_or_else(|error| panic!("{text}: {error}"));
        let printed = program.to_source();
        assert_eq!(parsed("s", &printed).to_source(), printed);
    }
}

/// A random sweep: reads of earlier points at the new level, of any at the old one; maybe an ordinary statement after it.
fn random() -> impl Strategy<Value = String> {
    let offset = |reach: i64| prop::collection::vec(-reach..=reach, 3);
    (1usize..=3, prop::collection::vec((offset(2), any::<bool>()), 2..6), any::<bool>(), any::<bool>())
        .prop_map(|(dimension, reads, single, second)| {
            let names = &["i", "j", "k"][..dimension];
            let at = |offset: &[i64]| {
                let index = |(name, offset): (&&str, &i64)| match offset {
                    0 => (*name).to_owned(),
                    _ => format!("{name}{offset:+}"),
                };
                names.iter().zip(offset).map(index).collect::<Vec<_>>().join(", ")
            };
            let here = names.join(", ");
            let element = if single { "f32" } else { "f64" };
            let mut text = format!("stencil s(t, {here}) {{ field u: {element};");
            if second {
                let _ = write!(text, " field v: {element};");
            }
            let _ = write!(text, " u[t+1, {here}] = 0.125 * u[t, {here}]");
            for (offset, new) in &reads {
                let offset = &offset[..dimension];
                let earlier = polyhedral::draft::comes_earlier(offset);
                let level = if *new && earlier { "t+1" } else { "t" };
                let _ = write!(text, " + 0.125 * u[{level}, {}]", at(offset));
            }
            if second {
                let ahead = vec![1; dimension];
                let _ = write!(text, " + 0.0625 * v[t, {}];", at(&ahead));
                let _ = write!(text, " v[t+1, {here}] = 0.5 * v[t, {here}] + 0.25 * u[t+1, {}]", at(&ahead));
            }
            text + "; }"
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if everything() { 8 } else { 4 }, failure_persistence: None, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn random_sweeps_agree_with_the_reference(
        text in random(), sizes in [1i64..=4, 1i64..=12, 0i64..=9, 0i64..=9], grid in [6i64..=40, 6i64..=21, 6i64..=13],
    ) {
        let program = parsed("s", &text);
        let cone = analyze(&program).unwrap().cone;
        let own = strategy::by_name("time-skewing").unwrap();
        let space = own.space(&program, &cone);
        let fit = |(size, value): (&strategy::TileSize, i64)| (size.name, value * size.step);
        let tile = TileSizes::new(space.sizes.iter().zip(sizes).map(fit).collect::<Vec<_>>());
        let plan = planned(&program, "time-skewing", &tile).plan;
        let result = check(&program, &plan, &[&grid[..program.dimension()]], &[5]);
        prop_assert!(result.is_ok(), "{} {}: {}", text, tile, result.unwrap_err());
    }
}

/// A plan in which lines, or steps, lag one point less than they must.
fn short(plan: &KernelPlan, between_lines: bool) -> KernelPlan {
    let mut wrong = plan.clone();
    let kernel = &mut wrong.kernels[0];
    // Every step and line of the tile is looked at, so that what goes wrong is the order alone.
    kernel.sub_tiles[0].low = var("b0") * plan.tile.get("st").unwrap();
    kernel.sub_tiles[0].high =
        (kernel.sub_tiles[0].low.clone() + (plan.tile.get("st").unwrap() - 1)).min(var("steps") - 1);
    let by = if between_lines { var("s0") } else { var("step") };
    let row = &mut kernel.instances[0];
    let last = row.ranges.last_mut().unwrap();
    (last.low, last.high) = (last.low.clone() + by.clone(), last.high.clone() + by);
    if between_lines {
        row.order = RowOrder::Skewed { factors: vec![1, 1] };
    }
    wrong
}

#[test]
fn a_skew_one_short_is_refused() {
    let program = shipped("seidel2d");
    let dependences = analyze(&program).unwrap().dependences;
    let tile = TileSizes::parse("st=3,s0=8,s1=10").unwrap();
    let plan = planned(&program, "time-skewing", &tile).plan;
    for between_lines in [true, false] {
        let wrong = short(&plan, between_lines);
        let error = prove::prove(&wrong, &dependences).unwrap_err().to_string();
        assert!(error.contains("dependence"), "{error}");
        check(&program, &wrong, &[&[61, 77]], &[9]).unwrap_err();
    }
    // Not in wavefronts, but all points of some lines at once.
    let mut wrong = plan.clone();
    wrong.kernels[0].instances[0].order = RowOrder::Parallel { repeats: false };
    prove::prove(&wrong, &dependences).unwrap_err();
    // One point after the other in slanted lines, which nobody prints.
    wrong.kernels[0].instances[0].order = RowOrder::Sequential;
    let error = prove::prove(&wrong, &dependences).unwrap_err().to_string();
    assert!(error.contains("its lines do not run at once"), "{error}");
    // One diagonal of tiles less.
    let mut wrong = plan;
    wrong.outer.high = wrong.outer.high.clone() - int(1);
    let error = prove::prove(&wrong, &dependences).unwrap_err().to_string();
    assert!(error.contains("never runs"), "{error}");
}

/// Nobody computes a sweep in another order in silence.
#[test]
fn others_refuse_sweeps() {
    let program = shipped("seidel2d");
    for own in strategy::all() {
        for target in [Target::OpenMp, Target::Cuda] {
            let found = pipeline::plan(&program, *own, &TileSizes::default(), target);
            match (own.takes_sweeps_in_order(), target) {
                (true, Target::OpenMp) => assert!(found.is_ok()),
                (true, Target::Cuda) => {
                    let error = found.unwrap_err().to_string();
                    assert!(error.contains("use --target openmp"), "{error}");
                }
                (false, _) => {
                    let error = found.unwrap_err().to_string();
                    assert!(error.contains("`u` is computed in place"), "{error}");
                    assert!(error.contains("use --strategy time-skewing"), "{error}");
                }
            }
        }
    }
    // Its rows have no CUDA text, whoever asks.
    let plan = planned(&program, "time-skewing", &TileSizes::default()).plan;
    let error = backend::cuda::generate(&plan, &Default::default()).unwrap_err().to_string();
    assert!(error.contains("slanted"), "{error}");
}
