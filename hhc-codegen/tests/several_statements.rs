//! Warps as stages in time whose steps are several statements, each of a field of its own: plans are proved, what they compute has the
//! reference's bits in every pacing, and mistakes are found.

use super::cuda_emulated::{everything, found_by_the_emulator, team};
use hhc_codegen::counts::enumerated::Enumerated;
use hhc_codegen::counts::{Forms, Multiprocessor, Problem, TileCounts, forms};
use hhc_codegen::int_expr::{int, var};
use hhc_codegen::plan::{Kernel, KernelPlan};
use hhc_codegen::storage::{Axis, Moment, Place, Slot, Transfer};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{PlanError, TileSizes, pipeline, prove};
use polyhedral::program::{ElementType, Program};
use proptest::prelude::*;
use std::sync::Arc;

/// Two fields in two slots each, which read each other and coefficients, farther on one side than on the other; the second reads what
/// the first has just computed, above and below.
const PREY: &str = "stencil prey(t, i, j) {
    field u: f32;
    field v: f32;
    coefficient food: f32;
    param rate = 0.125;
    u[t+1, i, j] = u[t, i, j] + rate * (u[t, i-1, j] - u[t, i, j+1]) + rate * food[i, j+1] * v[t, i+1, j-1];
    v[t+1, i, j] = v[t, i, j] + rate * (v[t, i-2, j] - v[t, i, j+2]) - rate * u[t+1, i+1, j-1] * food[i-1, j]
        + 0.0625 * u[t+1, i-1, j];
}";

/// Two fields in one slot each, as in a wave by two equations of first order.
const WAVE: &str = "stencil pair(t, i, j) {
    field speed: f32;
    field height: f32;
    param k = 0.25;
    speed[t+1, i, j] = speed[t, i, j] + k * (height[t, i-1, j] + height[t, i+1, j] + height[t, i, j-1]
        + height[t, i, j+1] - 4 * height[t, i, j]);
    height[t+1, i, j] = height[t, i, j] + k * speed[t+1, i, j];
}";

/// Two fields in one slot each, at places between each other's, so that the second is a row and a column behind the first.
const STAGGERED: &str = "stencil staggered(t, i, j) {
    field e: f32;
    field h: f32;
    e[t+1, i, j] = e[t, i, j] - 0.25 * (2 * h[t, i, j] - h[t, i-1, j] - h[t, i, j-1]);
    h[t+1, i, j] = h[t, i, j] - 0.25 * (e[t+1, i, j+1] + e[t+1, i+1, j] - 2 * e[t+1, i, j]);
}";

/// The first field is behind the second one, of another type, and values decide, so that no lane computes junk.
const CIRCLE: &str = "stencil circle(t, i, j) {
    field u: f32 slots 2;
    field v: f64 slots 2;
    u[t+1, i, j] = max(0.5 * v[t, i+2, j], u[t, i, j]);
    v[t+1, i, j] = 0.5 * u[t+1, i-1, j] + 0.25 * u[t+1, i-2, j+1] + 0.125 * v[t, i, j-1];
}";

fn parsed(text: &str) -> Program {
    polyhedral::parse("several statements", text).unwrap()
}

fn maxwell() -> Program {
    polyhedral::shipped::load("fdtd2d").unwrap()
}

fn plan_of(program: Program, tile: &str) -> KernelPlan {
    let program = Arc::new(program);
    let strategy = strategy::by_name("warp-pipeline").unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    strategy::plan(strategy, &program, &cone, &TileSizes::parse(tile).unwrap()).unwrap()
}

/// Several strips and chunks, grids narrower than a strip, and bands of all lengths.
#[test]
fn several_statements_have_the_bits_of_the_reference() {
    let problems: [(&[i64], i64); 8] = [
        (&[17, 151], 9),
        (&[16, 152], 3),
        (&[11, 128], 1),
        (&[7, 65], 6),
        (&[23, 171], 2),
        (&[9, 40], 5),
        (&[18, 149], 8),
        (&[6, 7], 12),
    ];
    let double = |program: Program| program.with_element_type(ElementType::F64);
    let programs: [(Program, &str); 10] = [
        (maxwell(), "rpl=2,steps=2,warps=2,rows=5"),
        (parsed(PREY), "rpl=3,steps=2,warps=2,rows=5"),
        (parsed(CIRCLE), "rpl=2,steps=1,warps=2,rows=5"),
        (double(parsed(WAVE)), "rpl=4,steps=1,warps=3,rows=6"),
        (parsed(STAGGERED), "rpl=4,steps=2,warps=2,rows=5"),
        (polyhedral::shipped::load("skewed2d").unwrap(), "rpl=2,steps=2,warps=2,rows=5"),
        (double(maxwell()), "rpl=4,steps=1,warps=3,rows=6"),
        (parsed(WAVE), "rpl=2,steps=3,warps=1,rows=4"),
        (double(parsed(PREY)), "rpl=2,steps=1,warps=3,rows=4"),
        (parsed(CIRCLE), "rpl=3,steps=2,warps=1,rows=4"),
    ];
    for (number, (program, tile)) in programs.into_iter().enumerate() {
        if number < 4 || everything() {
            team(program, "warp-pipeline", tile, &problems);
        }
    }
}

/// Every second one, or all.
#[test]
fn several_statements_are_proved() {
    let cases = [
        (parsed(WAVE), "rpl=2,steps=2,warps=2,rows=5", 2 * 2 * 4, true),
        (parsed(PREY), "rpl=3,steps=2,warps=2,rows=5", 2 * 2 * 4 + 4, false),
        (parsed(CIRCLE), "rpl=2,steps=1,warps=2,rows=5", 2 * 4 + 2 * 8, false),
        (maxwell(), "rpl=2,steps=2,warps=2,rows=5", 3 * 2 * 4, true),
    ];
    for (number, (program, tile, bytes, spare)) in cases.into_iter().enumerate() {
        if number % 2 == 1 && !everything() {
            continue;
        }
        let strategy = strategy::by_name("warp-pipeline").unwrap();
        let tile = TileSizes::parse(tile).unwrap();
        let planned = pipeline::plan(&Arc::new(program), strategy, &tile, Target::Cuda).unwrap();
        assert_eq!(planned.plan.has_spare_slots(), spare);
        assert_eq!(planned.plan.bytes_of_a_point(), bytes);
    }
}

/// What is not proved is refused, with its reason.
#[test]
fn other_statements_are_refused() {
    let fields = |statements: &str| format!("field u: f32; field v: f32; {statements}");
    let beside = "u[t+1, i, j] = u[t, i, j-1] + v[t, i, j]; v[t+1, i, j] = v[t, i, j] + u[t+1, i, j];";
    let cases = [
        (fields(beside), Target::Cuda, "write `slots 2` after the type of `v`"),
        (
            fields("u[t+1, i, j] = u[t-1, i, j] + v[t, i+1, j]; v[t+1, i, j] = v[t-1, i, j] + u[t, i, j-1];"),
            Target::Cuda,
            "where steps read two levels, each of its stages is one statement",
        ),
        (
            fields("u[t+1, i, j] = u[t+1, i-1, j] + v[t, i, j]; v[t+1, i, j] = v[t, i, j] + u[t+1, i, j];"),
            Target::Cuda,
            "`u` is computed in place",
        ),
        (
            fields("u[t+1, i, j] = v[t, i, j-1]; v[t+1, i, j] = u[t+1, i, j];"),
            Target::OpenMp,
            "use --target cuda",
        ),
        (
            format!(
                "boundary periodic; {}",
                fields("u[t+1, i, j] = v[t, i, j-1]; v[t+1, i, j] = u[t+1, i, j];")
            ),
            Target::Cuda,
            "wrap around",
        ),
        (
            fields(
                "u[t+1, i, j] = v[t, i, j] for 1 <= i; u[t+1, i, j] = 0 for i == 0; v[t+1, i, j] = u[t+1, i, j];",
            ),
            Target::Cuda,
            "a few planes, rows or columns alone",
        ),
    ];
    let many: Vec<String> = (0..40).map(|number| format!("field v{number}: f64 slots 2;")).collect();
    let each = |number: i32| {
        format!("v{number}[t+1, i, j] = v{}[t, i-1, j-1] + v{number}[t, i+1, j];", (number + 1) % 40)
    };
    let many = (
        many.concat() + &(0..40).map(each).collect::<String>(),
        Target::Cuda,
        "its 40 fields leave no registers",
    );
    for (body, target, reason) in cases.into_iter().chain([many]) {
        let program = Arc::new(parsed(&format!("stencil other(t, i, j) {{ {body} }}")));
        let strategy = strategy::by_name("warp-pipeline").unwrap();
        match pipeline::plan(&program, strategy, &TileSizes::default(), target) {
            Err(PlanError::Refused { reason: found, .. }) => {
                assert!(found.contains(reason), "{body}: {found}")
            }
            other => panic!("{body}: {other:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 0, ..ProptestConfig::with_cases(if everything() { 12 } else { 2 }) })]

    /// Two statements that read anything near them, at any sizes; such plans are proved, too.
    #[test]
    fn any_two_statements(
        reads in prop::collection::vec((-2i64..3, -2i64..3), 6),
        tile in (1i64..5, 1i64..3, 1i64..4, 3i64..9),
        problems in prop::collection::vec((9i64..45, 9i64..260, 1i64..9), 4),
    ) {
        let at = |field: &str, number: usize, level: &str| {
            format!("{field}[t{level}, i + {}, j + {}]", reads[number].0, reads[number].1).replace("+ -", "- ")
        };
        let body = format!(
            "field u: f32 slots 2; field v: f32 slots 2; u[t+1, i, j] = 0.5 * {} + 0.25 * {} - 0.125 * {}; \
             v[t+1, i, j] = 0.5 * {} - 0.25 * {} + 0.125 * {};",
            at("u", 0, ""), at("v", 1, ""), at("v", 2, ""), at("v", 3, ""), at("u", 4, "+1"), at("u", 5, "+1"),
        );
        let program = Arc::new(parsed(&format!("stencil any(t, i, j) {{ {body} }}")));
        let (points, steps, warps, rows) = tile;
        let strategy = strategy::by_name("warp-pipeline").unwrap();
        let tile = format!("rpl={points},steps={steps},warps={warps},rows={rows}");
        match pipeline::plan(&program, strategy, &TileSizes::parse(&tile).unwrap(), Target::Cuda) {
            // Strips have no points of their own.
            Err(PlanError::Tile { .. }) => {}
            planned => {
                planned.unwrap();
                let sizes: Vec<[i64; 2]> = problems.iter().map(|&(n0, n1, _)| [n0, n1]).collect();
                let problems: Vec<(&[i64], i64)> =
                    sizes.iter().zip(&problems).map(|(size, &(.., steps))| (&size[..], steps)).collect();
                team(Program::clone(&program), "warp-pipeline", &tile, &problems);
            }
        }
    }
}

/// The counts of tiles are those of their plans. How the points of a whole run are shared out among kernels is rounded statement by
/// statement there, and here for all of them at once.
#[test]
fn counts_of_several_statements_are_those_of_the_plan() {
    let domains = PREY.replace("u[t+1, i-1, j];", "u[t+1, i-1, j] for 3 <= i < n0 - 1, 2 <= j < n1 - 4;");
    let on = Multiprocessor { lanes: 96, ..Multiprocessor::ANY };
    let own = strategy::by_name("warp-pipeline").unwrap();
    let mut compared = 0;
    for program in [maxwell(), parsed(PREY), parsed(&domains), parsed(STAGGERED)] {
        let program = Arc::new(program);
        let tiles = [[2, 2, 2, 7], [3, 1, 3, 5], [4, 3, 1, 13], [1, 1, 1, 9], [4, 2, 3, 29]];
        let problems = [([23, 211], 5), ([41, 64], 8), ([13, 299], 1), ([58, 150], 7)];
        for (tile, (size, steps)) in tiles.iter().flat_map(|tile| problems.map(|problem| (tile, problem))) {
            let problem = Problem::new(&program, &size, steps).unwrap();
            let tile = TileSizes::new(own.size_names().iter().copied().zip(tile.iter().copied()));
            if strategy::plan(own, &program, &problem.cone, &tile).is_err() {
                continue;
            }
            let of = |forms: &dyn Forms| -> Vec<TileCounts> {
                let (family, sizes) = forms.of_tile(&problem, &on, &tile).unwrap();
                let counts = |class| family.forms.counts(class, sizes);
                let without = |class| TileCounts { registers: 0, total_iterations: 0, ..counts(class) };
                (0..family.forms.classes()).map(without).collect()
            };
            let what = format!("{} {tile} {size:?} {steps}", program.name);
            assert_eq!(of(&*forms(own)), of(&Enumerated { strategy: own }), "{what}");
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

type Change = fn(&mut Kernel);

fn moves<'a>(kernel: &'a mut Kernel, what: &str) -> &'a mut Transfer {
    let found = kernel.transfers.iter_mut().find(|transfer| transfer.comment == what);
    found.unwrap_or_else(|| panic!("{what}"))
}

/// Mistakes: the proof finds all of them, the emulator those that do harm (every third one, or all).
#[test]
fn several_statements_with_mistakes() {
    let plan = plan_of(parsed(STAGGERED), "rpl=2,steps=2,warps=2,rows=9");
    prove::prove(&plan, &[]).unwrap();
    let changes: [(&str, bool, Change); 11] = [
        ("a ghost column short", true, |kernel| {
            for field in ["e", "h"] {
                let columns = &mut moves(kernel, &format!("the block's own points: {field}")).ranges[1];
                columns.high = columns.high.clone() + 5;
            }
        }),
        ("the last ghost row of a field", true, |kernel| {
            let rows = &mut moves(kernel, "a row of h, as the band before has left it").ranges[0];
            rows.high = rows.high.clone().min(var("b0") * 9 + (8 + 3));
        }),
        ("the wrong lag", true, |kernel| {
            // The second statement runs where the first one does.
            let row = &mut kernel.instances[1];
            for rows in row.junk.iter_mut().chain([&mut row.ranges]).map(|ranges| &mut ranges[0]) {
                (rows.low, rows.high) = (rows.low.clone() + 1, rows.high.clone() + 1);
            }
        }),
        ("a ring one row short", true, |kernel| {
            let Axis::Ring { extent, .. } = &mut kernel.storages[1].axes[0] else { panic!() };
            *extent -= 1;
        }),
        ("a ghost row short", true, |kernel| {
            let position = &mut kernel.sub_tiles[0];
            position.low = position.low.clone() + 2;
        }),
        ("a stale value of the same step", true, |kernel| {
            let reads = &mut kernel.instances[1].reads;
            let at = reads.iter().position(|read| read.place.storage() == Some(0)).unwrap();
            let Place::Copy(_, numbers) = &mut reads[at].place else { panic!() };
            numbers[1] = numbers[1].clone() - 1;
        }),
        ("a ring that is not filled again", true, |kernel| {
            moves(kernel, "the next row: h").when.push(int(-1));
        }),
        ("a row that comes before the last statement has read the one that gives way", false, |kernel| {
            moves(kernel, "the next row: h").moment = Moment::After(0);
        }),
        ("another field's rows", true, |kernel| {
            let Place::Copy(storage, _) = &mut moves(kernel, "what leaves the warp: e").from.place else {
                panic!()
            };
            *storage = 1;
        }),
        ("a field that is not stored", true, |kernel| {
            moves(kernel, "the block's own points: h").when.push(int(-1));
        }),
        ("written to the slot that is read", true, |kernel| {
            let Place::Arrays(Slot::At(slot)) = &mut moves(kernel, "the block's own points: h").to else {
                panic!()
            };
            *slot = (slot.clone() + 1).modulo(2);
        }),
    ];
    for (number, (what, harmful, change)) in changes.into_iter().enumerate() {
        let mut wrong = plan.clone();
        change(&mut wrong.kernels[0]);
        let refused = prove::prove(&wrong, &[]);
        assert!(refused.is_err(), "{what}: by the proof");
        println!("{what}: {}", refused.unwrap_err());
        if harmful && (number % 3 == 2 || everything()) {
            assert!(found_by_the_emulator(&wrong, &|text| text), "{what}: by the emulator");
        }
    }
    assert!(!found_by_the_emulator(&plan, &|text| text), "the plan as it is");
    // Neighbours that no other lane has handed over.
    let stale = |text: String| {
        assert!(text.contains("= tw_shift_down("));
        text.replace("= tw_shift_down(", "= [](auto value, int) { return value; }(")
    };
    assert!(found_by_the_emulator(&plan, &stale), "stale shuffles");
}
