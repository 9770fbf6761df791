//! Random programs with random tiles: the plan replayed on memory cells, and the compiled text.
//!
//! `PROPTEST_CASES` and `PROPTEST_RNG_SEED` change the number of cases and where they start.

use crate::harness::{
    Problem, analysed, compiled, emulator, everything, hexagonal_tile_of, library_text, parsed,
    plan_with_sizes, strict, with_storages,
};
use crate::replay::replay;
use crate::storage_replay;
use execution::emulator::ThreadOrder;
use hhc_codegen::backend::cuda::{self, CudaOptions};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, PlanError, TileSizes, pipeline};
use polyhedral::program::Program;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::fmt::Write as _;
use std::sync::Arc;

/// An expression whose names are numbers, taken modulo what the program has.
#[derive(Debug, Clone)]
enum Shape {
    Read { field: usize, time: i64, offset: [i64; 3] },
    Series(usize, i64),
    Number(i64),
    Parameter(usize),
    Local(usize),
    Call(usize, Box<Shape>),
    Binary(usize, Box<Shape>, Box<Shape>),
    Select(usize, Box<[Shape; 6]>),
}

/// One statement: the reads that make up most of its value, and a bounded term with everything else.
#[derive(Debug, Clone)]
struct StatementShape {
    single: bool,
    /// Stored time levels, where the field asks for them.
    slots: Option<usize>,
    /// Points that the domain keeps from the ends of the grid, beyond the reach of the reads.
    kept: Option<[(i64, i64); 3]>,
    /// Statements for single rows or faces beside the domain: dimension, side, and what they add.
    edges: Vec<(usize, bool, Shape)>,
    locals: Vec<Shape>,
    linear: Vec<Shape>,
    other: Shape,
}

/// A program before its names are resolved.
#[derive(Debug, Clone)]
struct ProgramShape {
    dimension: usize,
    /// How far reads go, below and above, per dimension.
    reach: [(i64, i64); 3],
    coefficients: Vec<bool>,
    series: Vec<bool>,
    per_slot: bool,
    parameters: usize,
    statements: Vec<StatementShape>,
}

fn read() -> impl Strategy<Value = Shape> {
    // Time levels: the new one where there is one, the last two, and the one before them.
    (any::<u8>(), -2i64..=1, [any::<u8>(), any::<u8>(), any::<u8>()]).prop_map(|(field, time, offset)| {
        Shape::Read { field: field.into(), time, offset: offset.map(i64::from) }
    })
}

fn expression() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        4 => read(),
        1 => (-40i64..40).prop_map(Shape::Number),
        1 => (0usize..4).prop_map(Shape::Parameter),
        1 => (0usize..4).prop_map(Shape::Local),
        1 => (0usize..4, -2i64..=2).prop_map(|(series, offset)| Shape::Series(series, offset)),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            2 => (0usize..12, boxed()).prop_map(|(call, a)| Shape::Call(call, a)),
            5 => (0usize..11, boxed(), boxed()).prop_map(|(op, a, b)| Shape::Binary(op, a, b)),
            1 => (any::<usize>(), prop::collection::vec(inner.clone(), 6)).prop_filter_map("six", |(which, all)| {
                all.try_into().ok().map(|all: [Shape; 6]| Shape::Select(which, Box::new(all)))
            }),
        ]
    })
}

fn programs() -> impl Strategy<Value = ProgramShape> {
    let kept = [(0i64..=2, 0i64..=2), (0i64..=2, 0i64..=2), (0i64..=1, 0i64..=1)];
    let edges = prop::collection::vec((0usize..3, any::<bool>(), expression()), 0..2);
    let statement = (
        (any::<bool>(), prop::option::weighted(0.3, 4usize..=5), prop::option::of(kept), edges),
        prop::collection::vec(expression(), 0..3),
        prop::collection::vec(read(), 1..5),
        expression(),
    )
        .prop_map(|((single, slots, kept, edges), locals, linear, other)| StatementShape {
            single,
            slots,
            kept,
            edges,
            locals,
            linear,
            other,
        });
    (
        1usize..=3,
        [(0i64..=3, 0i64..=3), (0i64..=3, 0i64..=3), (0i64..=2, 0i64..=2)],
        (
            prop::collection::vec(any::<bool>(), 0..3),
            prop::collection::vec(any::<bool>(), 0..3),
            any::<bool>(),
        ),
        0usize..3,
        prop::collection::vec(statement, 1..=3),
    )
        .prop_map(|(dimension, reach, (coefficients, series, per_slot), parameters, statements)| {
            ProgramShape { dimension, reach, coefficients, series, per_slot, parameters, statements }
        })
}

const INDICES: [&str; 3] = ["i", "j", "k"];

impl Shape {
    /// The expression with all reads at the present point, of levels that exist at every place of the step.
    fn at_the_point(&self) -> Shape {
        let of = |shape: &Shape| Box::new(shape.at_the_point());
        match self {
            Shape::Read { field, .. } => Shape::Read { field: *field, time: 0, offset: [HERE; 3] },
            Shape::Call(which, a) => Shape::Call(*which, of(a)),
            Shape::Binary(which, a, b) => Shape::Binary(*which, of(a), of(b)),
            Shape::Select(which, all) => {
                Shape::Select(*which, Box::new(all.each_ref().map(|shape| *of(shape))))
            }
            other => other.clone(),
        }
    }
}

/// An offset that is none, whatever the reach.
const HERE: i64 = i64::MAX;

impl ProgramShape {
    /// The program as text. State field `k` is computed by statement `k`.
    fn text(&self) -> String {
        let indices = INDICES[..self.dimension].join(", ");
        let mut text = format!("stencil random(t, {indices}) {{\n");
        let element = |single: bool| if single { "f32" } else { "f64" };
        for (k, statement) in self.statements.iter().enumerate() {
            let slots = statement.slots.map_or(String::new(), |slots| format!(" slots {slots}"));
            let _ = writeln!(text, "    field f{k}: {}{slots};", element(statement.single));
        }
        for (s, &single) in self.series.iter().enumerate() {
            let _ = writeln!(text, "    series s{s}: {};", element(single));
        }
        if self.per_slot {
            text.push_str("    boundary per_slot;\n");
        }
        for (c, &single) in self.coefficients.iter().enumerate() {
            let _ = writeln!(text, "    coefficient c{c}: {};", element(single));
        }
        for p in 0..self.parameters {
            let _ = writeln!(text, "    param p{p} = {};", [0.3, -0.7][p]);
        }
        for (k, statement) in self.statements.iter().enumerate() {
            // A local may use those before it.
            for (l, local) in statement.locals.iter().enumerate() {
                let _ = writeln!(text, "    let l{k}_{l} = {};", self.expression(local, k, l));
            }
            let terms: Vec<String> = statement
                .linear
                .iter()
                .zip(["0.31", "0.23", "0.19", "0.13"])
                .map(|(read, weight)| {
                    format!("{weight} * {}", self.expression(read, k, statement.locals.len()))
                })
                .collect();
            let other = self.expression(&statement.other, k, statement.locals.len());
            let sides = self.sides(statement);
            let bounds = |skipped: Option<usize>| -> Vec<String> {
                let kept = (0..self.dimension).filter(|&d| Some(d) != skipped);
                kept.map(|d| format!("{} <= {} < n{d} - {}", sides[d].0, INDICES[d], sides[d].1)).collect()
            };
            let bounded = statement.kept.is_some() || !statement.edges.is_empty();
            let domain = if bounded { format!(" for {}", bounds(None).join(", ")) } else { String::new() };
            let _ = writeln!(
                text,
                "    f{k}[t+1, {indices}] = {} + 0.1 * max(min({other}, 1), -1){domain};",
                terms.join(" + ")
            );
            // Each edge reads the new level of its neighbour in the domain; corners stay as they are.
            let mut seen = Vec::new();
            for (d, low, other) in &statement.edges {
                let (d, low) = (d % self.dimension, *low);
                let distance = if low { sides[d].0 } else { sides[d].1 };
                if distance == 0 || seen.contains(&(d, low)) {
                    continue;
                }
                seen.push((d, low));
                let (sign, row) = if low { ("+", "0".to_owned()) } else { ("-", format!("n{d} - 1")) };
                let neighbour: Vec<String> = (0..self.dimension)
                    .map(|e| {
                        if e == d { format!("{}{sign}{distance}", INDICES[e]) } else { INDICES[e].to_owned() }
                    })
                    .collect();
                let mut domain = vec![format!("{} == {row}", INDICES[d])];
                domain.extend(bounds(Some(d)));
                let other = self.expression(&other.at_the_point(), k, 0);
                let _ = writeln!(
                    text,
                    "    f{k}[t+1, {indices}] = 0.5 * f{k}[t, {indices}] + 0.25 * f{k}[t+1, {}] + \
                     0.1 * max(min({other}, 1), -1) for {};",
                    neighbour.join(", "),
                    domain.join(", ")
                );
            }
        }
        text + "}\n"
    }

    /// How far the domain of a statement with bounds keeps from the ends of the grid.
    fn sides(&self, statement: &StatementShape) -> [(i64, i64); 3] {
        let kept = statement.kept.unwrap_or_default();
        [0, 1, 2].map(|d| (self.reach[d].0 + kept[d].0, self.reach[d].1 + kept[d].1))
    }

    fn expression(&self, shape: &Shape, statement: usize, locals: usize) -> String {
        let of = |shape: &Shape| self.expression(shape, statement, locals);
        match shape {
            Shape::Read { field, time, offset } => self.read(*field, *time, offset, statement),
            Shape::Series(_, offset) if self.series.is_empty() => format!("{offset}"),
            Shape::Series(s, offset) => format!("s{}[t{offset:+}]", s % self.series.len()),
            Shape::Number(tenths) => format!("{}", *tenths as f64 / 8.0),
            Shape::Parameter(_) if self.parameters == 0 => "0.625".to_owned(),
            Shape::Parameter(p) => format!("p{}", p % self.parameters),
            Shape::Local(_) if locals == 0 => "1.75".to_owned(),
            Shape::Local(l) => format!("l{statement}_{}", l % locals),
            Shape::Call(which, a) => match which {
                0 => format!("sqrt({})", of(a)),
                1 => format!("sqrt(abs({}))", of(a)),
                2 => format!("exp({})", of(a)),
                3 => format!("exp(-abs({}))", of(a)),
                4 => format!("abs({})", of(a)),
                5 => format!("sin({})", of(a)),
                6 => format!("tanh({})", of(a)),
                7 => format!("floor({})", of(a)),
                8 => format!("libm_exp(-abs({}))", of(a)),
                9 => format!("f32({})", of(a)),
                10 => format!("f64({})", of(a)),
                _ => format!("-({})", of(a)),
            },
            Shape::Binary(which, a, b) => {
                let (a, b) = (of(a), of(b));
                match which {
                    0 => format!("({a} + {b})"),
                    1 => format!("({a} - {b})"),
                    2 => format!("({a} * {b})"),
                    3 => format!("({a}) / ({b})"),
                    4 => format!("({a}) / (1 + abs({b}))"),
                    5 => format!("min({a}, {b})"),
                    6 => format!("fmin({a}, {b})"),
                    7 => format!("fmax({a}, {b})"),
                    8 => format!("hypot({a}, {b})"),
                    9 => format!("pow(1 + abs({a}), {b})"),
                    _ => format!("max({a}, {b}, 0.125)"),
                }
            }
            Shape::Select(which, all) => {
                let [a, b, c, d, then, otherwise] = all.each_ref().map(of);
                let compare = ["<", "<=", ">", ">=", "==", "!="];
                let (first, second) = (compare[which % 6], compare[which / 6 % 6]);
                let join = ["&&", "||"][which / 36 % 2];
                let not = ["", "!"][which / 72 % 2];
                let indices = &INDICES[..self.dimension];
                let place = match which / 144 % 4 {
                    0 => format!(" && ({} + t) % 2 == 0", indices.join(" + ")),
                    1 => format!(" || (5 - {} - t) % 3 != {}", indices.join(" - "), which / 576 % 3),
                    _ => String::new(),
                };
                format!(
                    "({not}(({a}) {first} ({b})) {join} ({c}) {second} ({d}){place} ? {then} : {otherwise})"
                )
            }
        }
    }

    fn read(&self, field: usize, time: i64, offset: &[i64; 3], statement: usize) -> String {
        let states = self.statements.len();
        let field = field % (states + self.coefficients.len());
        let place: Vec<String> = (0..self.dimension)
            .map(|d| {
                let (below, above) = self.reach[d];
                let offset = if offset[d] == HERE { 0 } else { offset[d] % (below + above + 1) - below };
                format!("{}{offset:+}", INDICES[d])
            })
            .collect();
        let place = place.join(", ");
        if field >= states {
            return format!("c{}[{place}]", field - states);
        }
        let time = time.min(i64::from(field < statement));
        format!("f{field}[t{time:+}, {place}]")
    }
}

/// Tile sizes before they are made to fit: steps, extra width, classical sizes (0: not cut), and how rows are swept
/// together.
type TileShape = (i64, i64, [i64; 2], Waves);

/// Time steps that are swept together, and the length of a piece (0: not given).
type Waves = (i64, i64);

const WHOLE_ROWS: Waves = (1, 0);

fn tiles() -> impl Strategy<Value = TileShape> {
    let waves = prop_oneof![Just(WHOLE_ROWS), (1i64..=5, 0i64..=6)];
    (1i64..=4, 0i64..=5, [0i64..=9, 0i64..=9], waves)
}

/// A plan, proved legal; where rows of several steps are swept together, replays judge alone, because isl may need
/// minutes for slopes by chance.
fn plan(program: &Arc<Program>, strategy: &str, tile: &TileShape) -> Result<KernelPlan, TestCaseError> {
    let analysis = analysed(program);
    let (steps, wider, classical, (fused, wave)) = tile;
    let tile = match strategy {
        "hhc" => hexagonal_tile_of(program, &analysis, *steps, *wider, classical)
            .with("f", *fused)
            .with("r", *wave),
        _ => TileSizes::new(
            ["s0", "s1", "s2"]
                .into_iter()
                .zip([*wider, classical[0], classical[1]])
                .take(program.dimension()),
        ),
    };
    let failed = |error: PlanError| TestCaseError::fail(error.to_string());
    let strategy = strategy::by_name(strategy).map_err(failed)?;
    if strategy.id() != "hhc" && !strategy.is_baseline() {
        let value = |size: &strategy::TileSize| match size.along {
            strategy::Along::Time { rows_per_step } => steps * rows_per_step,
            strategy::Along::Space(0) => wider + 1,
            strategy::Along::Space(d) => classical[d - 1],
        };
        let space = strategy.space(program, &analysis.cone);
        let tile =
            TileSizes::new(space.sizes.iter().map(|size| (size.name, value(size))).collect::<Vec<_>>());
        return strategy::plan(strategy, program, &analysis.cone, &tile).map_err(failed);
    }
    if *fused > 1 && !strategy.is_baseline() {
        return strategy::plan(strategy, program, &analysis.cone, &tile).map_err(failed);
    }
    let planned =
        pipeline::plan_analysed(program, &analysis, strategy, &tile, Target::OpenMp, &mut |_, _| {});
    planned.map(|planned| planned.plan).map_err(failed)
}

/// The plans of all strategies whose blocks have storage of their own.
fn plans_with_storages(program: &Arc<Program>, tile: &TileShape) -> Vec<KernelPlan> {
    let (steps, wider, [first, second], _) = *tile;
    let sizes = [steps, wider + 1, first + 1, second + 1, first + 2];
    let analysis = analysed(program);
    with_storages().filter_map(|strategy| plan_with_sizes(program, &analysis, strategy, &sizes)).collect()
}

fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let chosen = std::env::var_os("PROPTEST_CASES").map_or(cases, |_| default.cases);
    let rng_seed = match default.rng_seed {
        RngSeed::Random => RngSeed::Fixed(20140215),
        fixed => fixed,
    };
    ProptestConfig { cases: chosen, rng_seed, failure_persistence: None, max_shrink_iters: 200, ..default }
}

proptest! {
    #![proptest_config(config(if everything() { 30 } else { 15 }))]

    /// Every instance once, every read finds its level, no races, full tiles full.
    #[test]
    fn plans_replay_like_the_program(
        shape in programs(), tile in tiles(), size in [1i64..=40, 1i64..=13, 1i64..=9],
        steps in 0i64..=9, seed in any::<u64>(),
    ) {
        let program = parsed("random", &shape.text());
        for strategy in ["hhc", "naive", "time-skewing", "diamond"] {
            let planned = plan(&program, strategy, &tile)?;
            let result = replay(&planned, &size[..shape.dimension], steps, seed);
            prop_assert!(result.is_ok(), "{} {}: {}\n{}", strategy, planned.tile, result.unwrap_err(), shape.text());
        }
        for plan in plans_with_storages(&program, &tile) {
            let result = storage_replay::replay(&plan, &size[..shape.dimension], steps, seed);
            prop_assert!(result.is_ok(), "{} {}: {}\n{}", plan.strategy, plan.tile, result.unwrap_err(), shape.text());
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// A printed program, read again, is the same program.
    #[test]
    fn programs_survive_printing(shape in programs()) {
        let program = parsed("random", &shape.text());
        let printed = program.to_source();
        let again = parsed("random", &printed);
        prop_assert_eq!(&printed, &again.to_source());
        let text = |program: &Program| format!("{:?}", program.clone().without_spans());
        prop_assert_eq!(text(&program), text(&again), "{}", printed);
    }
}

proptest! {
    #![proptest_config(config(if everything() { 4 } else { 2 }))]

    /// The CUDA text, emulated, computes them too, without a violation.
    #[test]
    fn emulated_programs_agree_with_the_reference(
        shape in programs(), steps in 1i64..=3, wider in 0i64..=5, classical in [3i64..=9, 4i64..=9],
        size in [1i64..=40, 1i64..=29, 1i64..=17], order in any::<u64>(),
    ) {
        let program = parsed("random", &shape.text());
        let planned = plan(&program, "hhc", &(steps, wider, classical, WHOLE_ROWS))?;
        let Ok(cuda) = cuda::generate(&planned, &CudaOptions::default()) else { return Ok(()) };
        let emulator = emulator(&planned, &cuda);
        for size in [&size, &[33, 27, 15]] {
            let problem = Problem::new(&program, &size[..shape.dimension], 7);
            let expected = problem.expected(&program);
            let result = problem.check_emulated(&program, &emulator, ThreadOrder::Shuffled(order), &expected);
            prop_assert!(result.is_ok(), "{}: {}\n{}", planned.tile, result.unwrap_err(), shape.text());
        }
        for plan in plans_with_storages(&program, &(steps, wider, classical, WHOLE_ROWS)) {
            let Ok(cuda) = cuda::generate(&plan, &CudaOptions::default()) else { continue };
            let emulator = self::emulator(&plan, &cuda);
            let problem = Problem::new(&program, &size[..shape.dimension], 5);
            let expected = problem.expected(&program);
            let result = problem.check_emulated(&program, &emulator, ThreadOrder::Shuffled(order), &expected);
            prop_assert!(result.is_ok(), "{} {}: {}\n{}", plan.strategy, plan.tile, result.unwrap_err(), shape.text());
        }
    }
}

proptest! {
    #![proptest_config(config(if everything() { 12 } else { 5 }))]

    /// The compiled text computes the values of the reference, bit for bit.
    #[test]
    fn compiled_programs_agree_with_the_reference(
        shape in programs(), tile in tiles(), size in [1i64..=70, 1i64..=37, 1i64..=19], steps in 1i64..=12,
    ) {
        let program = parsed("random", &shape.text());
        let planned = plan(&program, "hhc", &tile)?;
        let native = compiled(&program, &library_text(&planned), &strict(1));
        let large = [67, 31, 17];
        for (size, steps) in [(&size, steps), (&large, 9)] {
            let problem = Problem::new(&program, &size[..shape.dimension], steps);
            let expected = problem.expected(&program);
            for layout in problem.layouts(&program) {
                let result = problem.check(&program, &native, layout, &expected);
                prop_assert!(result.is_ok(), "{}: {}\n{}", planned.tile, result.unwrap_err(), shape.text());
            }
        }
        for plan in plans_with_storages(&program, &tile) {
            let native = compiled(&program, &library_text(&plan), &strict(0));
            for (size, steps) in [(&size, steps), (&large, 9)] {
                let problem = Problem::new(&program, &size[..shape.dimension], steps);
                let expected = problem.expected(&program);
                for layout in problem.layouts(&program) {
                    let result = problem.check(&program, &native, layout, &expected);
                    prop_assert!(
                        result.is_ok(), "{} {}: {}\n{}", plan.strategy, plan.tile, result.unwrap_err(), shape.text()
                    );
                }
            }
        }
    }
}
