//! One mistake at a time: isl refuses the plan, the replay finds it too, and a wrong text gives wrong values.

use crate::harness::{Problem, compiled, hexagonal_tile, library_text, planned, shipped, strict};
use crate::replay::replay;
use hhc_codegen::int_expr::{int, var};
use hhc_codegen::plan::Loop;
use hhc_codegen::prove::prove;
use hhc_codegen::strategy;
use hhc_codegen::{KernelPlan, TileSizes};
use polyhedral::cone::Cone;
use polyhedral::dependence::{Dependence, dependences};
use polyhedral::program::Rational;

/// Small tiles, and a grid on which each of them matters.
fn correct(name: &str, strategy: &str) -> (KernelPlan, Vec<Dependence>) {
    correct_wider(name, strategy, 1)
}

/// [`correct`] with hexagons of another width.
fn correct_wider(name: &str, strategy: &str, wider: i64) -> (KernelPlan, Vec<Dependence>) {
    let program = shipped(name);
    let tile = match strategy {
        "hhc" => hexagonal_tile(&program, 2, wider, &[4, 3]),
        _ => TileSizes::new(["s0", "s1", "s2"].into_iter().zip([5, 4, 3]).take(program.dimension())),
    };
    let planned = planned(&program, strategy, &tile);
    (planned.plan, planned.analysis.dependences.clone())
}

fn size(plan: &KernelPlan) -> &'static [i64] {
    [&[70][..], &[41, 23], &[19, 13, 11]][plan.program.dimension() - 1]
}

/// What is in the message where isl refuses a plan.
const MISTAKES: [&str; 4] = ["dependence", "never runs", "also at", "in the same place"];

/// isl and the replay agree that the plan is wrong; gives isl's message.
fn refused(what: &str, plan: &KernelPlan, dependences: &[Dependence]) -> String {
    let name = &plan.program.name;
    let error = match prove(plan, dependences) {
        Ok(_) => panic!("{name}, {what}: isl accepts the plan"),
        Err(error) => error.to_string(),
    };
    assert!(MISTAKES.iter().any(|mistake| error.contains(mistake)), "{name}, {what}: {error}");
    // The last band is hit by different faults for different numbers of steps.
    let found = [9, 11].into_iter().any(|steps| replay(plan, size(plan), steps, 1).is_err());
    assert!(found, "{name}, {what}: the replay accepts the plan, but isl says: {error}");
    error
}

/// A change of a plan.
type Fault = (&'static str, fn(&mut KernelPlan));

/// Changes that break any hexagonal plan.
const HEXAGONAL: [Fault; 14] = [
    ("a row one point too wide", |plan| widen(plan, 0, 1)),
    ("a row one point too narrow", |plan| widen(plan, 0, -1)),
    ("a row of the other phase one point too wide", |plan| widen(plan, 1, 1)),
    ("the phases exchanged", |plan| plan.launches.swap(0, 1)),
    ("the phases exchanged, conditions kept", |plan| {
        let [first, second] = &mut plan.launches[..] else { panic!() };
        std::mem::swap(&mut first.kernel, &mut second.kernel);
    }),
    ("a phase left out", |plan| drop(plan.launches.pop())),
    ("a phase twice", |plan| plan.launches.push(plan.launches[0].clone())),
    ("the last band left out", |plan| plan.outer.high = plan.outer.high.clone() - 1),
    ("the first block left out", |plan| {
        let low = &mut plan.kernels[0].blocks[0].low;
        *low = low.clone() + 1;
    }),
    ("the last block left out", |plan| {
        let high = &mut plan.kernels[1].blocks[0].high;
        *high = high.clone() - 1;
    }),
    ("a hexagon shifted", |plan| shift(plan, "x0", 1)),
    ("a hexagon at another time", |plan| shift(plan, "t0", 1)),
    ("the last group of rows left out", |plan| {
        let high = &mut plan.kernels[0].rows.high;
        *high = high.clone() - 1;
    }),
    ("the second phase skipped too early", |plan| {
        let rows_per_step = plan.program.statements.len() as i64;
        let when = &mut plan.launches[1].when;
        *when = when.take().map(|when| when - rows_per_step);
    }),
];

fn widen(plan: &mut KernelPlan, kernel: usize, points: i64) {
    let high = &mut plan.kernels[kernel].instances[0].ranges[0].high;
    *high = high.clone() + points;
}

fn shift(plan: &mut KernelPlan, name: &str, distance: i64) {
    let binding = plan.kernels[1].bindings.iter_mut().find(|binding| binding.name == name).unwrap();
    binding.value = binding.value.clone() + distance;
}

fn hexagonal(name: &str) {
    let (plan, dependences) = correct(name, "hhc");
    replay(&plan, size(&plan), 11, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (what, fault) in HEXAGONAL {
        let mut wrong = plan.clone();
        fault(&mut wrong);
        refused(what, &wrong, &dependences);
    }
}

#[test]
fn hexagonal_1d() {
    hexagonal("heat1d");
    hexagonal("leapfrog1d");
}

#[test]
fn hexagonal_2d() {
    hexagonal("heat2d");
    hexagonal("asym2d");
}

#[test]
fn hexagonal_several_statements() {
    hexagonal("fdtd2d");
    hexagonal("skewed2d");
}

#[test]
fn hexagonal_3d() {
    hexagonal("heat3d");
}

/// Changes that break any plan of diamonds.
const OF_DIAMONDS: [Fault; 7] = [
    ("a row one point too wide", |plan| widen(plan, 0, 1)),
    ("a row one point too narrow", |plan| widen(plan, 0, -1)),
    ("the last wavefront left out", |plan| plan.outer.high = plan.outer.high.clone() - 1),
    ("the first wavefront left out", |plan| plan.outer.low = plan.outer.low.clone() + 1),
    ("the last block left out", |plan| {
        let high = &mut plan.kernels[0].blocks[0].high;
        *high = high.clone() - 1;
    }),
    ("wavefronts that lie at the same points", |plan| {
        let width = plan.kernels[0].bindings[1].value.substitute("n", &int(0));
        plan.kernels[0].bindings[1].value = width;
    }),
    ("the last row left out", |plan| {
        let high = &mut plan.kernels[0].rows.high;
        *high = high.clone() - 1;
    }),
];

/// Changes that break plans whose diamonds are cut into pieces.
const OF_PIECES: [Fault; 2] = [
    ("pieces that do not move with the steps", |plan| {
        for row in &mut plan.kernels[0].instances {
            let range = &mut row.ranges[1];
            for end in [&mut range.low, &mut range.high] {
                *end = end.substitute("m", &int(0));
            }
        }
    }),
    ("pieces from the other end", |plan| {
        let pieces = &mut plan.kernels[0].sub_tiles[0];
        let back = pieces.low.clone() + pieces.high.clone() - var("c1");
        for row in &mut plan.kernels[0].instances {
            let range = &mut row.ranges[1];
            for end in [&mut range.low, &mut range.high] {
                *end = end.substitute("c1", &back);
            }
        }
    }),
];

fn diamonds(name: &str) -> KernelPlan {
    let program = shipped(name);
    let sizes = [2 * program.statements.len() as i64, 4, 3];
    let tile = TileSizes::new(["st", "s1", "s2"].into_iter().zip(sizes).take(program.dimension()));
    let planned = planned(&program, "diamond", &tile);
    let (plan, dependences) = (planned.plan, planned.analysis.dependences.clone());
    replay(&plan, size(&plan), 11, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
    let of_pieces = OF_PIECES.iter().filter(|_| program.dimension() > 1);
    for (what, fault) in OF_DIAMONDS.iter().chain(of_pieces) {
        let mut wrong = plan.clone();
        fault(&mut wrong);
        refused(what, &wrong, &dependences);
    }
    plan
}

#[test]
fn diamonds_of_all_dimensions() {
    diamonds("leapfrog1d");
    diamonds("fdtd2d");
    diamonds("heat3d");
}

/// Diamonds that are too steep for a program: those of one wavefront wait for each other.
#[test]
fn diamonds_that_are_too_steep() {
    let plan = diamonds("star2d1r");
    let program = shipped("star2d2r");
    let dependences = dependences(&program).unwrap();
    let error = refused("slopes of another program", &KernelPlan { program, ..plan }, &dependences);
    assert!(error.contains("dependence"), "{error}");
}

/// A plan with whole rows whose rows are cut into pieces of two points along lines of this slope (as a fraction: points
/// per logical row), all rows of a piece before the next piece.
fn in_pieces(plan: &KernelPlan, (numerator, denominator): (i64, i64)) -> KernelPlan {
    let mut plan = plan.clone();
    let statements = plan.program.statements.len() as i64;
    for kernel in &mut plan.kernels {
        kernel.sub_tiles.push(Loop { variable: "c0", low: int(-10), high: int(30) });
        for (k, instance) in kernel.instances.iter_mut().enumerate() {
            let row = var(kernel.rows.variable) * statements + k as i64;
            let first = var("x0") + var("c0") * 2 - (row * numerator).floor_div(denominator);
            let columns = &mut instance.ranges[0];
            columns.low = columns.low.clone().max(first.clone());
            columns.high = columns.high.clone().min(first + 1);
        }
    }
    plan
}

#[test]
fn rows_swept_together_with_a_lag_that_is_too_short() {
    for name in ["heat1d", "asym2d", "wave2d", "fdtd2d", "heat3d"] {
        let (plan, dependences) = correct(name, "hhc");
        let program = &plan.program;
        let lower = polyhedral::cone::cone(program.dimension(), &dependences).unwrap().lower[0];
        let lag = in_pieces(&plan, (*lower.numer(), *lower.denom()));
        prove(&lag, &dependences).unwrap_or_else(|error| panic!("{name}: {error}"));
        let shorter = in_pieces(&plan, (lower.numer() - lower.denom(), *lower.denom()));
        let error = refused("the pieces of a row lag too little", &shorter, &dependences);
        assert!(error.contains("dependence"), "{name}: {error}");

        // The plan that does it by itself: with its pieces in the wrong order, and without the last of a pass.
        let tile = plan.tile.clone().with("f", 2).with("r", 2);
        let swept = planned(program, "hhc", &tile).plan;
        replay(&swept, size(&swept), 11, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut backwards = swept.clone();
        for kernel in &mut backwards.kernels {
            let pieces = kernel.sub_tiles.last_mut().unwrap();
            (pieces.low, pieces.high) = (int(0), int(30));
            for range in kernel.instances.iter_mut().map(|instance| &mut instance.ranges[0]) {
                range.low = range.low.substitute("c0", &(int(30) - var("c0")));
                range.high = range.high.substitute("c0", &(int(30) - var("c0")));
            }
        }
        refused("the pieces of a pass run backwards", &backwards, &dependences);
        let mut fewer = swept.clone();
        let pieces = fewer.kernels[0].sub_tiles.last_mut().unwrap();
        pieces.high = pieces.high.clone() - 1;
        refused("the last piece of a pass left out", &fewer, &dependences);
    }
}

#[test]
fn tiles_for_a_cone_that_is_too_narrow() {
    for name in ["heat1d", "star2d2r", "asym2d", "wave2d", "fdtd2d", "heat3d"] {
        let program = shipped(name);
        let (plan, dependences) = correct(name, "hhc");
        let exact = polyhedral::cone::cone(program.dimension(), &dependences).unwrap();
        let zero = Rational::from_integer(0);
        for d in 0..program.dimension() {
            for side in ["lower", "upper"] {
                let mut narrow: Cone = exact.clone();
                let slope = if side == "lower" { &mut narrow.lower[d] } else { &mut narrow.upper[d] };
                // Only the lower slope matters in the classical dimensions.
                if *slope == zero || d > 0 && side == "upper" {
                    continue;
                }
                *slope = zero;
                let wrong = strategy::by_name("hhc").unwrap().plan(&program, &narrow, &plan.tile);
                let error = refused(&format!("{side} slope {d} ignored"), &wrong, &dependences);
                assert!(error.contains("dependence"), "{name}: {error}");
            }
        }
    }
}

#[test]
fn sub_tiles_without_their_skew() {
    for name in ["heat2d", "fdtd2d", "heat3d"] {
        let (plan, dependences) = correct(name, "hhc");
        for d in 1..plan.program.dimension() {
            let mut wrong = plan.clone();
            for kernel in &mut wrong.kernels {
                let variable = kernel.sub_tiles[d - 1].variable;
                let extent = plan.tile.get(["s0", "s1", "s2"][d]).unwrap();
                for instance in &mut kernel.instances {
                    let low = var(variable) * extent;
                    instance.ranges[d].high = low.clone() + (extent - 1);
                    instance.ranges[d].low = low;
                }
            }
            let error = refused(&format!("no skew in dimension {d}"), &wrong, &dependences);
            assert!(error.contains("dependence"), "{name}: {error}");
        }
    }
}

#[test]
fn sub_tiles_in_parallel() {
    for name in ["heat2d", "fdtd2d", "heat3d"] {
        let (mut plan, dependences) = correct(name, "hhc");
        for kernel in &mut plan.kernels {
            let sub_tile = kernel.sub_tiles.remove(0);
            kernel.blocks.push(sub_tile);
        }
        let error = refused("sub-tiles as blocks", &plan, &dependences);
        assert!(error.contains("in parallel"), "{name}: {error}");
    }
}

#[test]
fn statements_in_another_order() {
    for name in ["fdtd2d", "skewed2d"] {
        let (plan, dependences) = correct(name, "hhc");
        let last = plan.program.statements.len() - 1;
        let mut wrong = plan.clone();
        wrong.kernels.iter_mut().for_each(|kernel| kernel.instances.swap(0, last));
        assert!(refused("rows exchanged", &wrong, &dependences).contains("dependence"));

        let (plan, dependences) = correct(name, "naive");
        let mut wrong = plan.clone();
        wrong.launches.swap(0, last);
        assert!(refused("launches exchanged", &wrong, &dependences).contains("dependence"));

        let mut wrong = plan;
        wrong.kernels[0].instances[0].statement = last;
        refused("one statement instead of another", &wrong, &dependences);
    }
}

#[test]
fn rows_that_are_too_large() {
    // Two time steps of a naive plan in one launch: blocks would need values of other blocks.
    let (mut plan, dependences) = correct("heat2d", "naive");
    plan.outer.high = (var("steps") - 1).floor_div(2);
    plan.kernels[0].rows.high = int(1);
    plan.kernels[0].instances[0].step = var("step") * 2 + var("m");
    assert!(refused("two steps a launch", &plan, &dependences).contains("in parallel"));
}

#[test]
fn naive_bounds() {
    for name in ["heat1d", "fdtd2d", "varcoef3d"] {
        let (plan, dependences) = correct(name, "naive");
        replay(&plan, size(&plan), 11, 1).unwrap();
        let faults: [Fault; 5] = [
            ("one block less", |plan| {
                let high = &mut plan.kernels[0].blocks[0].high;
                *high = high.clone() - 1;
            }),
            ("a block one point too wide", |plan| widen(plan, 0, 1)),
            ("a block one point too narrow", |plan| widen(plan, 0, -1)),
            ("one step less", |plan| plan.outer.high = plan.outer.high.clone() - 1),
            ("the first step twice", |plan| {
                plan.kernels[0].instances[0].step = var("step").max(1) - 1;
            }),
        ];
        for (what, fault) in &faults[..4] {
            let mut wrong = plan.clone();
            fault(&mut wrong);
            refused(what, &wrong, &dependences);
        }
    }
}

/// Storage that is too small is found as well: the dependences over memory then cannot be met.
#[test]
fn too_few_time_levels() {
    let program = shipped("heat2d");
    let mut small = (*program).clone();
    if let polyhedral::program::FieldRole::State { slots, .. } = &mut small.fields[0].role {
        *slots = 1;
    }
    assert!(dependences(&small).is_err());
}

/// Each condition for full tiles is needed for some phase, tile and size: without it the replay finds a tile that is
/// not full, and isl refuses the plan.
#[test]
fn full_tiles_that_are_not_full() {
    for name in ["heat1d", "heat2d", "fdtd2d", "heat3d"] {
        for strategy in ["hhc", "naive"] {
            let (plans, dependences): (Vec<KernelPlan>, Vec<Vec<Dependence>>) =
                (0..3).map(|wider| correct_wider(name, strategy, wider)).unzip();
            for plan in &plans {
                let statistics = replay(plan, size(plan), 11, 1).unwrap();
                assert!(
                    statistics.full_rows > 0 && statistics.partial_rows > 0,
                    "{name} {strategy}: {statistics:?}"
                );
            }
            for condition in 0..plans[0].kernels[0].full_when.len() {
                let found = plans.iter().zip(&dependences).any(|(plan, dependences)| {
                    let mut wrong = plan.clone();
                    for kernel in &mut wrong.kernels {
                        kernel.full_when.remove(condition);
                    }
                    let found = (0..8).any(|extra| {
                        let size: Vec<i64> = size(plan).iter().map(|extent| extent + extra).collect();
                        replay(&wrong, &size, 9 + extra, 1).is_err_and(|error| error.contains("full tile"))
                    });
                    if found {
                        let error = prove(&wrong, dependences).unwrap_err().to_string();
                        assert!(error.contains("calls a tile full that would run"), "{error}");
                    }
                    found
                });
                assert!(found, "{name} {strategy}: condition {condition} is not needed");
            }
        }
    }
}

/// Replaces `from` everywhere in the C file; the values must then be wrong in every layout.
fn wrong_text_is_found(name: &str, from: &str, to: &str) {
    for (layout, found) in wrong_text(name, from, to).into_iter().enumerate() {
        assert!(found, "{name}: `{to}` instead of `{from}` changes nothing in layout {layout}");
    }
}

/// Whether the change is found, per layout.
fn wrong_text(name: &str, from: &str, to: &str) -> [bool; 3] {
    let (plan, _) = correct(name, "hhc");
    let mut files = library_text(&plan);
    let file = files.iter_mut().find(|file| file.name.ends_with(".c")).unwrap();
    assert!(file.text.contains(from), "{name}: no `{from}`");
    file.text = file.text.replace(from, to);
    let native = compiled(&plan.program, &files, &strict(0));
    let problem = Problem::new(&plan.program, size(&plan), 11);
    let expected = problem.expected(&plan.program);
    problem
        .layouts(&plan.program)
        .map(|layout| problem.check(&plan.program, &native, layout, &expected).is_err())
}

#[test]
fn wrong_texts_1d() {
    wrong_text_is_found("heat1d", "[x - 1]", "[x]");
    wrong_text_is_found("heat1d", "tw_modulo(t + 1, 2)", "tw_modulo(t, 2)");
    wrong_text_is_found("leapfrog1d", "[x + 1]", "[x]");
}

#[test]
fn wrong_texts_2d() {
    wrong_text_is_found("heat2d", "[x - stride0]", "[x]");
    wrong_text_is_found("fdtd2d", "0.7f", "0.70001f");
    wrong_text_is_found("varcoef2d", "tw_c_c[x]", "tw_c_c[x + 1]");
    wrong_text_is_found("wave2d", "tw_modulo(t + 2, 2)", "tw_modulo(t + 1, 2)");
    wrong_text_is_found("redblack2d", " % 2 == 0", " % 2 != 0");
}

#[test]
fn wrong_texts_3d() {
    wrong_text_is_found("heat3d", "[x + stride1]", "[x]");
    // Only in a grid with padding is a stride another thing than an extent.
    assert_eq!(wrong_text("heat3d", "j * stride1", "j * grid->n2"), [false, true, true]);
}
