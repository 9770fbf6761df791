//! A tile that stays where it is: the rows of one hexagon, executed again and again at the same place, so that the
//! stencil's body runs from a cache and nothing moves between memory and the core (`C_iter` of the cost models).
//!
//! It is a kernel plan like any other, printed by the OpenMP back end, with the loops and the code of real tiles. The
//! grid's extents choose the flat top and the classical sizes, so that one compilation serves all of them. Its
//! results have no meaning: it is no legal order of the program.

use crate::c_compiler::{self, CompileOptions, SourceText};
use crate::error::{ExecutionError, Result};
use crate::grid::ProgramData;
use crate::initial;
use crate::interference::rounds;
use crate::interrupt;
use crate::layout::Layout;
use crate::native::{NativeLibrary, NativeProgram};
use crate::reference::default_parameters;
use crate::timing::median;
use hhc_codegen::TileSizes;
use hhc_codegen::backend::openmp;
use hhc_codegen::geometry::{block_points, rows_at_once};
use hhc_codegen::int_expr::{IntExpr, int, var};
use hhc_codegen::plan::{Binding, Instance, Kernel, KernelPlan, Launch, Loop, Range, SIZE_NAMES};
use hhc_codegen::strategy::Hexagon;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::{Arc, Barrier};
use std::time::Instant;

/// Extents of the grid whose strides the benchmark uses: rows lie as far apart as in a large grid.
const STRIDES_OF: [&[i64]; 3] = [&[1 << 16], &[1024, 4096], &[256, 256, 256]];
/// A measurement takes about this long, in seconds.
const DURATION: f64 = 1.5e-3;

/// The compiled benchmark of one stencil.
pub struct Resident {
    program: Arc<Program>,
    parameters: Vec<f64>,
    native: NativeProgram,
    hexagon: Hexagon,
    cone: Cone,
    /// Largest margins of the statements per dimension, below and above.
    margins: Vec<(i64, i64)>,
}

/// What one pass over the rows of the tile does, per kind of run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Work {
    /// Calls of a statement's code.
    pub calls: f64,
    /// Runs along the innermost dimension by number of grid rows at once.
    pub runs: Vec<(i64, f64)>,
    /// Blocks, likewise.
    pub blocks: Vec<(i64, f64)>,
    /// Points of rows shorter than a block.
    pub short_points: f64,
    /// Lines of 64 bytes that move if no cache keeps anything.
    pub swept_lines: f64,
    /// Bytes that the tile works on.
    pub bytes: f64,
}

/// Measured passes.
#[derive(Debug, Clone)]
pub struct Passes {
    /// Seconds of each round, for each shape.
    pub seconds: Vec<Vec<f64>>,
    /// Rounds that other programs disturbed.
    pub disturbed: usize,
}

/// A tile's shape: flat top, then classical sizes.
pub type Shape = Vec<i64>;

impl Resident {
    /// Compiles the benchmark with hexagons of `2 * half_height` rows or a few more, a multiple of the statements.
    ///
    /// # Errors
    /// Those of the compiler and the loader.
    pub fn new(program: &Arc<Program>, cone: &Cone, half_height: i64) -> Result<Self> {
        let statements = program.statements.len() as i64;
        let half_height = (half_height.max(1) + statements - 1) / statements * statements;
        let mut hexagon = Hexagon { half_height, flat_top: 1, lower: cone.lower[0], upper: cone.upper[0] };
        // Rows of the least tile are not empty.
        hexagon.flat_top = hexagon.least_flat_top();
        let margins = margins(program);
        let plan = plan(program, cone, &hexagon, &margins);
        let native = compile(&plan)?;
        let parameters = default_parameters(program);
        Ok(Resident { program: program.clone(), parameters, native, hexagon, cone: cone.clone(), margins })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Points of a block of the innermost dimension: the largest of all statements.
    pub fn block(&self) -> i64 {
        let blocks = self.program.statements.iter().map(|statement| block_points(&self.program, statement));
        blocks.max().unwrap_or(1) as i64
    }

    /// The grid for a shape.
    fn size(&self, shape: &[i64]) -> Vec<i64> {
        let (first, last) = self.hexagon.extent();
        let deepest = |d: usize| skew(&self.cone, d, self.hexagon.rows() - 1);
        (shape.iter().zip(&self.margins).enumerate())
            .map(|(d, (&points, &(below, above)))| {
                let more = if d == 0 { last - first + 1 - self.hexagon.flat_top } else { deepest(d) };
                points.max(1) + more + below + above
            })
            .collect()
    }

    /// The work of one pass over all rows of the tile.
    pub fn work(&self, shape: &[i64]) -> Work {
        let size = self.size(shape);
        let stored: f64 = self
            .program
            .fields
            .iter()
            .map(|field| (crate::grid::slots(field.role) * field.element.bytes()) as f64)
            .sum();
        let mut work = Work { bytes: size.iter().product::<i64>() as f64 * stored, ..Work::default() };
        for a in 0..self.hexagon.rows() {
            let index = (a % self.program.statements.len() as i64) as usize;
            let statement = &self.program.statements[index];
            let (first, last) = self.hexagon.row(a);
            let width = last - first + 1 + shape[0].max(1) - self.hexagon.flat_top;
            let block = block_points(&self.program, statement) as i64;
            let dimension = self.program.dimension();
            let length = if dimension == 1 { width } else { shape[dimension - 1] };
            let start = if dimension == 1 {
                self.margins[0].0 + first - self.hexagon.extent().0
            } else {
                let deepest = skew(&self.cone, dimension - 1, self.hexagon.rows() - 1);
                self.margins[dimension - 1].0 + deepest - skew(&self.cone, dimension - 1, a)
            };
            let lines = if dimension == 3 { shape[1] as f64 } else { 1.0 };
            let blocks = if length < block {
                0.0
            } else {
                (length + start.rem_euclid(block) + block - 1).div_euclid(block) as f64
            };
            work.calls += 1.0;
            if length < block {
                work.short_points += (if dimension == 1 { 1 } else { width } * length) as f64 * lines;
            }
            let mut rest = if dimension == 1 { 1 } else { width };
            for rows in rows_at_once(&self.program, statement) {
                let rows = rows as i64;
                let runs = (rest / rows) as f64 * lines;
                rest %= rows;
                add(&mut work.runs, rows, runs);
                add(&mut work.blocks, rows, runs * blocks);
            }
            let points = width as f64 * shape[1..].iter().map(|&points| points as f64).product::<f64>();
            work.swept_lines += points * cost_models::cpu::sweep_bytes(&self.program, statement) / 64.0;
        }
        work
    }

    /// Seconds of one pass over all rows of a tile of each shape, on each of `threads` cores at a time. Rounds over all
    /// shapes are interleaved; those that other programs disturb are repeated.
    ///
    /// # Errors
    /// Too little memory, an interruption, or a failure of the compiled code.
    pub fn measure(&self, shapes: &[Shape], threads: usize, wanted: usize) -> Result<Passes> {
        let measured = rounds(wanted, || {
            let one = |shape: &Shape| {
                interrupt::check()?;
                self.measure_once(shape, threads)
            };
            shapes.iter().map(one).collect::<Result<Vec<f64>>>()
        })?;
        let of = |index: usize| measured.results.iter().map(|round| round[index]).collect();
        Ok(Passes { seconds: (0..shapes.len()).map(of).collect(), disturbed: measured.disturbed })
    }

    /// The median over the threads of the seconds of one pass.
    fn measure_once(&self, shape: &[i64], threads: usize) -> Result<f64> {
        let barrier = Barrier::new(threads);
        let results: Vec<Result<f64>> = std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| self.run_thread(shape, &barrier))).collect();
            (workers.into_iter())
                .map(|worker| worker.join().unwrap_or(Err(ExecutionError::Interrupted)))
                .collect()
        });
        let seconds: Vec<f64> = results.into_iter().collect::<Result<_>>()?;
        Ok(median(&seconds).unwrap_or(0.0))
    }

    fn run_thread(&self, shape: &[i64], barrier: &Barrier) -> Result<f64> {
        // Every thread reaches every barrier, whatever fails.
        let prepared = self.prepare(shape);
        barrier.wait();
        let timed = |data: &mut ProgramData, passes: i64| {
            let steps = passes * self.steps_per_pass();
            let start = Instant::now();
            self.native.run(&self.program, &self.parameters, data, steps)?;
            Ok(start.elapsed().as_secs_f64() / passes as f64)
        };
        let prepared = prepared.and_then(|mut data| {
            timed(&mut data, 2)?;
            let once = timed(&mut data, 4)?;
            Ok((data, (DURATION / once.max(1e-9)).clamp(2.0, 1e6) as i64))
        });
        barrier.wait();
        let result = prepared.and_then(|(mut data, passes)| timed(&mut data, passes));
        barrier.wait();
        result
    }

    /// Time steps of one pass over the rows.
    fn steps_per_pass(&self) -> i64 {
        self.hexagon.rows() / self.program.statements.len() as i64
    }

    fn prepare(&self, shape: &[i64]) -> Result<ProgramData> {
        self.native.library().set_threads(1);
        let size = self.size(shape);
        let large: Vec<i64> = size.iter().zip(STRIDES_OF[size.len() - 1]).map(|(&a, &b)| a.max(b)).collect();
        let padded = Layout::padded(&self.program, &large)?.native_sizes();
        let strides: Vec<usize> =
            padded[size.len()..padded.len() - 1].iter().map(|&stride| stride as usize).collect();
        // Levels keep the clearance of the padded layout: five lines behind the last row.
        let rows = strides.first().map_or(size[0] as usize, |stride| stride * size[0] as usize);
        let level = rows.next_multiple_of(1024) + 5 * 16;
        let layout = Layout::with_strides(&self.program, &size, &strides, level)?;
        let mut data = ProgramData::zeroed_with(&self.program, layout)?;
        initial::fill_random(&self.program, &mut data, 1)?;
        Ok(data)
    }
}

/// The entry point of a plan's OpenMP code.
pub fn compile(plan: &KernelPlan) -> Result<NativeProgram> {
    let name = &plan.program.name;
    let wanted = [format!("{name}.c"), format!("{name}.h")];
    let sources: Vec<SourceText> = openmp::generate(plan)
        .map_err(|error| ExecutionError::Generate(error.to_string()))?
        .into_iter()
        .filter(|file| wanted.contains(&file.name))
        .map(|file| SourceText::new(file.name, file.text))
        .collect();
    let object = c_compiler::compile_shared(&sources, &CompileOptions::default())?;
    NativeLibrary::load(&object.path())?.program(&format!("{name}_invoke"))
}

fn add(list: &mut Vec<(i64, f64)>, rows: i64, more: f64) {
    match list.iter_mut().find(|(known, _)| *known == rows) {
        Some((_, sum)) => *sum += more,
        None => list.push((rows, more)),
    }
}

/// `floor(lower_d * a)`: how far classical tile boundaries have moved at row `a`.
fn skew(cone: &Cone, d: usize, a: i64) -> i64 {
    (cone.lower[d] * a).floor().to_integer()
}

/// Points next to the grid's ends that some statement leaves out, per dimension.
fn margins(program: &Program) -> Vec<(i64, i64)> {
    const LARGE: i64 = 1 << 20;
    let size = vec![LARGE; program.dimension()];
    let mut margins = vec![(0, 0); program.dimension()];
    for statement in 0..program.statements.len() {
        for (margin, (low, high)) in margins.iter_mut().zip(program.domain(statement, &size)) {
            *margin = (margin.0.max(low), margin.1.max(LARGE - high));
        }
    }
    margins
}

/// One block that walks the rows of the hexagon round and round.
fn plan(program: &Arc<Program>, cone: &Cone, hexagon: &Hexagon, margins: &[(i64, i64)]) -> KernelPlan {
    let statements = program.statements.len() as i64;
    let groups = hexagon.rows() / statements;
    let (leftmost, rightmost) = hexagon.extent();
    let instance = |k: i64| {
        let a: IntExpr = var("m").modulo(groups) * statements + k;
        let mut ranges = vec![Range {
            low: hexagon.first_column(a.clone()) + (margins[0].0 - leftmost),
            high: hexagon.last_column(a.clone()) + var("n0") - (margins[0].1 + 1 + rightmost),
        }];
        for d in 1..program.dimension() {
            let deepest = skew(cone, d, hexagon.rows() - 1);
            let moved = (a.clone() * *cone.lower[d].numer()).floor_div(*cone.lower[d].denom());
            ranges.push(Range {
                low: int(margins[d].0 + deepest) - moved.clone(),
                high: var(SIZE_NAMES[d]) - moved - (margins[d].1 + 1),
            });
        }
        Instance { statement: k as usize, step: var("t0") + var("m"), ranges, in_full_tiles: true }
    };
    let nothing = || Loop { variable: "b0", low: int(0), high: int(0) };
    KernelPlan {
        program: program.clone(),
        strategy: "resident",
        tile: TileSizes::new([("st", hexagon.half_height)]),
        outer: Loop { variable: "band", ..nothing() },
        launches: vec![Launch { kernel: 0, when: None }],
        kernels: vec![Kernel {
            name: "resident".to_owned(),
            comment: "one tile, again and again at the same place".to_owned(),
            blocks: vec![nothing()],
            bindings: vec![Binding { name: "t0", value: int(0), comment: "first time step".to_owned() }],
            sub_tiles: Vec::new(),
            rows: Loop { variable: "m", low: int(0), high: var("steps") - 1 },
            instances: (0..statements).map(instance).collect(),
            full_when: Vec::new(),
        }],
    }
}
