//! A tile that stays where it is: the rows of one tile of the preferred strategy, executed again and again at the same
//! place, so that the
//! stencil's body runs from a cache and nothing moves between memory and the core (`C_iter` of the cost models).
//!
//! It is a kernel plan like any other, printed by the OpenMP back end, with the loops and the code of real tiles. The
//! grid's extents choose how wide and long its rows are, so that one compilation serves all of them. Its
//! results have no meaning: it is no legal order of the program.

use crate::error::{ExecutionError, Result};
use crate::grid::ProgramData;
use crate::initial;
use crate::layout::Layout;
use crate::native::NativeProgram;
use crate::reference::default_parameters;
use crate::tiled;
use hhc_codegen::PlanError;
use hhc_codegen::counts::cores::sweep_bytes;
use hhc_codegen::geometry::{LocalKernel, LocalRow, block_points, rows_at_once};
use hhc_codegen::int_expr::{IntExpr, int, var};
use hhc_codegen::plan::{Binding, Instance, Kernel, KernelPlan, Launch, Loop, Range, SIZE_NAMES};
use hhc_codegen::storage::Memory;
use hhc_codegen::strategy;
use hhc_codegen::window::Windows;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::{Arc, Barrier};
use std::time::Instant;
use toolchain::clock::median;
use toolchain::interference::{Settled, settled};
use toolchain::interrupt;

/// Extents of the grid whose strides the benchmark uses: padded as in a large grid, but near each other, as systems clear
/// memory in large pages.
const STRIDES_OF: [&[i64]; 3] = [&[1 << 16], &[1024, 1024], &[256, 32, 256]];
/// A measurement takes about this long, in seconds.
const DURATION: f64 = 1.5e-3;

/// The compiled benchmark of one stencil.
pub struct Resident {
    program: Arc<Program>,
    parameters: Vec<f64>,
    native: NativeProgram,
    rows: Rows,
}

/// The rows of a tile in its own coordinates.
struct Rows {
    local: LocalKernel,
    /// Per dimension: the first and the last coordinate of any row.
    low: Vec<i64>,
    high: Vec<i64>,
    /// Per dimension: points of the narrowest row.
    own: Vec<i64>,
    /// Largest margins of the statements per dimension, below and above.
    margins: Vec<(i64, i64)>,
}

/// One row: its statement, and its first and last point per dimension.
struct Row<'a> {
    statement: usize,
    bounds: &'a [(i64, i64)],
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

/// A grid that is ready for a shape, and how many passes take long enough.
struct Prepared {
    data: ProgramData,
    passes: i64,
}

/// A tile's shape: flat top, then classical sizes.
pub type Shape = Vec<i64>;

impl Resident {
    /// Compiles the benchmarks with tiles of `2 * half_height` rows of time or a few more, a multiple of the statements; of these fields
    /// witnesses are computed as far as they can be ([`KernelPlan::with_witnesses`]), as in the tiles that are chosen from. `brief`: [`tiled::load_side_by_side`].
    ///
    /// # Errors
    /// Those of the compiler and the loader.
    pub fn of_heights(
        (program, witnesses): (&Arc<Program>, &[usize]),
        cone: &Cone,
        half_heights: &[i64],
        brief: bool,
    ) -> Result<Vec<Resident>> {
        let internal = |error: PlanError| ExecutionError::Generate(error.to_string());
        // Ghost zones are no part of rows.
        let program = &if program.is_periodic() { Arc::new(program.unrolled()) } else { Arc::clone(program) };
        let statements = program.statements.len() as i64;
        let strategy = strategy::preferred();
        let (mut all, mut plans) = (Vec::new(), Vec::new());
        for half_height in half_heights {
            let height = (*half_height.max(&1) + statements - 1) / statements * statements;
            let tile = strategy.space(program, cone).fitted(height, &[1; 3]);
            let tiled = strategy::plan(strategy, program, cone, &tile).map_err(internal)?;
            let rows = Rows::new(&tiled, margins(program))?;
            plans.push(rows.plan(&tiled).with_witnesses(witnesses));
            all.push(rows);
        }
        let parameters = default_parameters(program);
        let natives = tiled::load_all(&plans, brief)?.into_iter().map(|tiled| tiled.native);
        let resident = |(rows, native)| Resident {
            program: program.clone(),
            parameters: parameters.clone(),
            native,
            rows,
        };
        Ok(all.into_iter().zip(natives).map(resident).collect())
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
        let Rows { low, high, own, margins, .. } = &self.rows;
        let extent = |(d, &points): (usize, &i64)| {
            points.max(1) - own[d] + high[d] - low[d] + 1 + margins[d].0 + margins[d].1
        };
        shape.iter().enumerate().map(extent).collect()
    }

    /// The work of one pass over all rows of the tile.
    pub fn work(&self, shape: &[i64]) -> Work {
        let size = self.size(shape);
        let stored = self.program.bytes_of_a_point() as f64;
        let mut work = Work { bytes: size.iter().product::<i64>() as f64 * stored, ..Work::default() };
        for row in self.rows.in_order() {
            let statement = &self.program.statements[row.statement];
            let widths: Vec<i64> = (row.bounds.iter().enumerate())
                .map(|(d, (first, last))| last - first + 1 + shape[d].max(1) - self.rows.own[d])
                .collect();
            let width = widths[0];
            let block = block_points(&self.program, statement) as i64;
            let dimension = self.program.dimension();
            let last = dimension - 1;
            let length = widths[last];
            let start = self.rows.margins[last].0 + row.bounds[last].0 - self.rows.low[last];
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
            work.swept_lines += points * sweep_bytes(&self.program, statement) / 64.0;
        }
        work
    }

    /// Seconds of one pass over all rows of a tile of each shape, on each of `threads` cores at a time, in so many rounds,
    /// and so many at most.
    ///
    /// # Errors
    /// Too little memory, an interruption, or a failure of the compiled code.
    pub fn measure(&self, shapes: &[Shape], threads: usize, rounds: (usize, usize)) -> Result<Settled> {
        // Grids stay, so that memory is touched once.
        let mut prepared: Vec<Vec<Option<Prepared>>> =
            shapes.iter().map(|_| (0..threads).map(|_| None).collect()).collect();
        settled(shapes.len(), rounds, |number| {
            interrupt::check()?;
            self.measure_once(&shapes[number], &mut prepared[number])
        })
    }

    /// The median over the threads of the seconds of one pass.
    fn measure_once(&self, shape: &[i64], prepared: &mut [Option<Prepared>]) -> Result<f64> {
        let barrier = Barrier::new(prepared.len());
        let results: Vec<Result<f64>> = std::thread::scope(|scope| {
            let run = |own| scope.spawn(|| self.run_thread(shape, own, &barrier));
            let workers: Vec<_> = prepared.iter_mut().map(run).collect();
            (workers.into_iter())
                .map(|worker| worker.join().unwrap_or(Err(ExecutionError::Interrupted)))
                .collect()
        });
        let seconds: Vec<f64> = results.into_iter().collect::<Result<_>>()?;
        Ok(median(&seconds).unwrap_or(0.0))
    }

    fn run_thread(&self, shape: &[i64], prepared: &mut Option<Prepared>, barrier: &Barrier) -> Result<f64> {
        self.native.library().set_threads(1);
        // Every thread reaches every barrier, whatever fails.
        let timed = |data: &mut ProgramData, passes: i64| {
            let steps = passes * self.steps_per_pass();
            initial::fill_series(&self.program, data, steps, 1)?;
            let start = Instant::now();
            self.native.run(&self.program, &self.parameters, data, steps)?;
            Ok::<f64, ExecutionError>(start.elapsed().as_secs_f64() / passes as f64)
        };
        let found = match prepared.take() {
            Some(found) => Ok(found),
            None => self.prepare(shape).map(|data| Prepared { data, passes: 0 }),
        };
        barrier.wait();
        let ready = found.and_then(|mut found| {
            // One pass brings the caches where a pass leaves them; the first one of all touches the pages.
            if found.passes == 0 {
                let once = timed(&mut found.data, 2)?;
                found.passes = (DURATION / once.max(1e-9)).clamp(1.0, 1e6) as i64;
            } else {
                timed(&mut found.data, 1)?;
            }
            Ok(found)
        });
        barrier.wait();
        let result = ready.and_then(|mut found| {
            let seconds = timed(&mut found.data, found.passes)?;
            *prepared = Some(found);
            Ok(seconds)
        });
        barrier.wait();
        result
    }

    /// Time steps of one pass over the rows.
    fn steps_per_pass(&self) -> i64 {
        let (first, last) = self.rows.local.groups;
        last - first + 1
    }

    fn prepare(&self, shape: &[i64]) -> Result<ProgramData> {
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

fn add(list: &mut Vec<(i64, f64)>, rows: i64, more: f64) {
    match list.iter_mut().find(|(known, _)| *known == rows) {
        Some((_, sum)) => *sum += more,
        None => list.push((rows, more)),
    }
}

/// Points next to the grid's ends that the rows need around them, per dimension: as far as some statement reads.
/// Statements along an end of the grid take part in few rows, and in none of these.
fn margins(program: &Program) -> Vec<(i64, i64)> {
    let mut margins = vec![(0, 0); program.dimension()];
    let inner = program.statements.iter().filter(|statement| statement.is_interior());
    for read in inner.flat_map(|statement| &statement.reads) {
        for (margin, &offset) in margins.iter_mut().zip(&read.offset) {
            *margin = (margin.0.max(-offset), margin.1.max(offset));
        }
    }
    margins
}

impl Rows {
    /// Those of the plan's first kernel; all of its kernels have tiles of one shape.
    fn new(plan: &KernelPlan, margins: Vec<(i64, i64)>) -> Result<Self> {
        let mut local = LocalKernel::new(plan, &plan.kernels[0])
            .map_err(|error| ExecutionError::Generate(error.to_string()))?;
        local.rows.retain(|row| plan.program.statements[row.statement].is_interior());
        if local.rows.is_empty() {
            return Err(ExecutionError::Generate("no statement computes points within the grid".to_owned()));
        }
        let dimension = plan.program.dimension();
        let of = |value: fn(&(i64, i64)) -> i64, best: fn(i64, i64) -> i64| -> Vec<i64> {
            let boxes = || local.rows.iter().flat_map(|row| &row.boxes);
            let along = |d: usize| boxes().map(|bounds| value(&bounds[d])).reduce(best).unwrap_or(0);
            (0..dimension).map(along).collect()
        };
        let (low, high) = (of(|bounds| bounds.0, i64::min), of(|bounds| bounds.1, i64::max));
        let own = of(|(first, last)| last - first + 1, i64::min);
        Ok(Rows { low, high, own, margins, local })
    }

    /// The rows in order of execution.
    fn in_order(&self) -> impl Iterator<Item = Row<'_>> {
        let groups = (self.local.groups.1 - self.local.groups.0 + 1) as usize;
        let of_group = |group: usize| {
            let rows = self.local.rows.iter();
            rows.map(move |row| Row { statement: row.statement, bounds: &row.boxes[group] })
        };
        (0..groups).flat_map(of_group)
    }

    /// One block that walks the rows round and round; the grid says how much wider they are.
    fn plan(&self, tiled: &KernelPlan) -> KernelPlan {
        let kernel = &tiled.kernels[0];
        let (first, last) = self.local.groups;
        let group = var("m").modulo(last - first + 1) + first;
        let interior = |of: &&Instance| tiled.program.statements[of.statement].is_interior();
        let inner = kernel.instances.iter().filter(interior);
        let instance = |(row, of): (&LocalRow, &Instance)| {
            let range = |(d, (low, high)): (usize, &(IntExpr, IntExpr))| Range {
                low: low.substitute(kernel.rows.variable, &group) + (self.margins[d].0 - self.low[d]),
                high: high.substitute(kernel.rows.variable, &group) + var(SIZE_NAMES[d])
                    - (self.margins[d].1 + 1 + self.high[d]),
            };
            Instance {
                step: var("t0") + var("m"),
                ranges: row.ranges.iter().enumerate().map(range).collect(),
                in_full_tiles: true,
                ..of.clone()
            }
        };
        let nothing = || Loop { variable: "b0", low: int(0), high: int(0) };
        KernelPlan {
            strategy: "resident",
            outer: Loop { variable: "band", ..nothing() },
            bands: None,
            launches: vec![Launch { kernel: 0, when: None }],
            kernels: vec![Kernel {
                name: "resident".to_owned(),
                comment: "one tile, again and again at the same place".to_owned(),
                blocks: vec![nothing()],
                blocks_alike: false,
                bindings: vec![Binding { name: "t0", value: int(0), comment: "first time step".to_owned() }],
                sub_tiles: Vec::new(),
                team: false,
                rows: Loop { variable: "m", low: int(0), high: var("steps") - 1 },
                instances: self.local.rows.iter().zip(inner).map(instance).collect(),
                memory: Memory::Arrays,
                storages: Vec::new(),
                transfers: Vec::new(),
                warps: Vec::new(),
                links: Vec::new(),
                full_when: Vec::new(),
            }],
            windows: Windows::default(),
            witnesses: Vec::new(),
            ..tiled.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::body::{FEW, shapes};

    /// Statements at an end of the grid, series, and domains far from the ends do not keep the other rows from being
    /// measured.
    #[test]
    fn rows_of_any_program_are_measured() {
        let driven = "stencil driven(t, i, j) { field u: f32; series f: f64; \
            u[t+1, i, j] = f[t] for i == n0 - 1; \
            u[t+1, i, j] = u[t, i+1, j] + f[t] * u[t, i, j-2] for 900 <= i < n0 - 1; }";
        let program = Arc::new(polyhedral::parse("driven", driven).unwrap());
        assert_eq!(margins(&program), [(0, 1), (2, 0)]);
        let analysis = polyhedral::analysis::analyze(&program).unwrap();
        let residents = Resident::of_heights((&program, &[]), &analysis.cone, &[4], false).unwrap();
        let resident = &residents[0];
        let shapes = shapes(resident, FEW, 1e6);
        assert!(shapes.len() > 5);
        let measured = resident.measure(&shapes[..1], 1, (1, 1)).unwrap();
        assert!(measured.seconds[0].iter().all(|seconds| *seconds > 0.0));
    }

    #[test]
    fn a_program_without_inner_points_has_no_rows() {
        let edge = "stencil edge(t, i) { field u: f32; u[t+1, i] = u[t, i+1] for i == 0; }";
        let program = Arc::new(polyhedral::parse("edge", edge).unwrap());
        let analysis = polyhedral::analysis::analyze(&program).unwrap();
        assert!(Resident::of_heights((&program, &[]), &analysis.cone, &[4], false).is_err());
    }
}
