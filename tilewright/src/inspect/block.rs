//! One block of one launch: what its machine code issues, and the points that it computes.

use crate::error::{Error, Result};
use execution::ExecutionError;
use execution::device_program::distances;
use execution::launches::PlannedLaunch;
use execution::layout::Layout;
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::cuda::CudaProgram;
use hhc_codegen::int_expr::Environment;
use hhc_codegen::plan::{Kernel, SIZE_NAMES};
use machine_code::{Counts, Launch, Listing, Totals, run};
use polyhedral::program::{ElementType, FieldId};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use toolchain::interrupt;

/// Bytes between the beginnings of arrays: more than any array has.
const ARRAY_PITCH: u64 = 1 << 42;
/// Sub-tiles along a dimension that are run where the others are like them: first few, then more.
const FEW_SUB_TILES: [i64; 2] = [3, 6];
/// Sub-tiles along a dimension that are all run.
const FEWEST_COUNT: i64 = 8;
/// Longest period of sub-tiles, in points.
const LONGEST_PERIOD: i64 = 1 << 14;

/// What all blocks have in common.
pub struct Blocks<'a> {
    /// The plan.
    pub plan: &'a KernelPlan,
    /// Its text.
    pub cuda: &'a CudaProgram,
    /// Its machine code.
    pub listing: &'a Listing,
    /// Where the grid's points lie.
    pub layout: &'a Layout,
    /// Time steps of the run.
    pub steps: i64,
    /// Values of the program's parameters.
    pub parameters: &'a [f64],
    /// Blocks that were run: by kernel, arguments and place.
    pub known: Mutex<HashMap<Key, Share>>,
    /// Whether sub-tiles of some block were not like each other.
    pub irregular: AtomicBool,
}

/// The block in the middle.
pub fn middle_of(grid: [u32; 3]) -> [u32; 3] {
    grid.map(|extent| extent / 2)
}

/// A block: its kernel, arguments and place.
type Key = (usize, Vec<i64>, [u32; 3]);

/// What blocks issue and compute; numbers are means or sums.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Share {
    /// Blocks.
    pub blocks: f64,
    /// What they issue.
    pub totals: Totals,
    /// Grid points times time steps that they compute, those of copies not counted.
    pub points: f64,
    /// Sectors that they read, each one once, however many blocks of a launch read it.
    pub sectors_read: f64,
    /// Sectors that they write, each one once.
    pub sectors_written: f64,
}

impl Share {
    /// Adds another one, so many times.
    pub fn add(&mut self, other: &Share, times: f64) {
        self.blocks += other.blocks * times;
        self.totals.add(&other.totals, times);
        self.points += other.points * times;
        self.sectors_read += other.sectors_read * times;
        self.sectors_written += other.sectors_written * times;
    }

    /// Whether two blocks do the same, wherever it lies in memory.
    pub fn does_the_same(&self, other: &Share) -> bool {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0);
        self.totals.kinds.iter().zip(&other.totals.kinds).all(|(a, b)| close(*a, *b))
            && close(self.points, other.points)
            && close(self.totals.operations, other.totals.operations)
    }
}

impl Blocks<'_> {
    /// One block of a launch. Where it goes through many sub-tiles, a few of them are run, and the others are what one
    /// more adds; that is compared with a run with another one more, and with the points that the block has in the plan: a pipeline
    /// that fills runs positions that are all alike before the first one that leaves something.
    ///
    /// # Errors
    /// Machine code that cannot be counted.
    pub fn share(&self, launch: &PlannedLaunch, block: [u32; 3]) -> Result<Share> {
        let key = (launch.kernel, launch.integers.clone(), block);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&key).copied();
        if let Some(share) = found {
            return Ok(share);
        }
        let share = self.extrapolated(launch, block)?;
        known().insert(key, share);
        Ok(share)
    }

    /// The shares of a block's sectors that no block before it reads and writes: those beside it are looked at, on a grid
    /// with few sub-tiles.
    ///
    /// # Errors
    /// Machine code that cannot be counted.
    pub fn fresh(&self, launch: &PlannedLaunch, block: [u32; 3]) -> Result<(f64, f64)> {
        let mut size = self.layout.size().to_vec();
        for axis in self.long_axes(launch, block) {
            size[axis.dimension] -= axis.period * (axis.count - FEW_SUB_TILES[0]);
        }
        let own = self.counts(launch, block, &size)?;
        let (mut read, mut written) = (HashSet::new(), HashSet::new());
        for number in 0..27 {
            let step = [number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1];
            let other: Option<Vec<u32>> = (0..3)
                .map(|axis| block[axis].checked_add_signed(step[axis]).filter(|&at| at < launch.grid[axis]))
                .collect();
            // Those before it: the last axis is the slowest.
            if let Some(&[x, y, z]) = other.as_deref()
                && [step[2], step[1], step[0]] < [0; 3]
            {
                let counts = self.counts(launch, [x, y, z], &size)?;
                read.extend(counts.sectors_read);
                written.extend(counts.sectors_written);
            }
        }
        let share = |own: &[u64], others: &HashSet<u64>| {
            let fresh = own.iter().filter(|&sector| !others.contains(sector)).count();
            fresh as f64 / own.len().max(1) as f64
        };
        Ok((share(&own.sectors_read, &read), share(&own.sectors_written, &written)))
    }

    fn extrapolated(&self, launch: &PlannedLaunch, block: [u32; 3]) -> Result<Share> {
        let axes = self.long_axes(launch, block);
        let size = self.layout.size();
        let points = if axes.is_empty() { 0.0 } else { self.points(launch, block, size)? };
        for few in FEW_SUB_TILES {
            if axes.is_empty() || axes.iter().any(|axis| axis.count < few + 3) {
                break;
            }
            // So many sub-tiles more along each of these axes.
            let at = |more: &dyn Fn(usize) -> i64| {
                let mut smaller = size.to_vec();
                for (number, axis) in axes.iter().enumerate() {
                    smaller[axis.dimension] -= axis.period * (axis.count - few - more(number));
                }
                self.on(launch, block, &smaller)
            };
            let corners: Vec<Share> = (0..1usize << axes.len())
                .map(|corner| at(&|number| (corner >> number & 1) as i64))
                .collect::<Result<_>>()?;
            // What is linear in each number of sub-tiles is known by the corners of a box.
            let beyond = |distance: &dyn Fn(usize) -> f64| {
                let mut sum = Share::default();
                for (corner, share) in corners.iter().enumerate() {
                    let weight = |number: usize| match corner >> number & 1 {
                        1 => distance(number),
                        _ => 1.0 - distance(number),
                    };
                    sum.add(share, (0..axes.len()).map(weight).product());
                }
                sum
            };
            // What holds in the middle of a launch holds at its ends.
            let trusted = block != middle_of(launch.grid) && !self.irregular.load(Ordering::Relaxed);
            if trusted || at(&|_| 2)?.does_the_same(&beyond(&|_| 2.0)) {
                let all = beyond(&|number| (axes[number].count - few) as f64);
                if (all.points - points).abs() <= 1e-6 * points.max(1.0) {
                    return Ok(all);
                }
                continue;
            }
            self.irregular.store(true, Ordering::Relaxed);
        }
        self.on(launch, block, size)
    }

    /// One block, as if the grid had this size, in the same places of memory.
    fn on(&self, launch: &PlannedLaunch, block: [u32; 3], size: &[i64]) -> Result<Share> {
        let counts = self.counts(launch, block, size)?;
        let code = self.listing.kernel(&self.cuda.kernels[launch.kernel].symbol)?;
        Ok(Share {
            blocks: 1.0,
            totals: counts.totals(code),
            points: self.points(launch, block, size)?,
            sectors_read: counts.sectors_read.len() as f64,
            sectors_written: counts.sectors_written.len() as f64,
        })
    }

    /// What one block issues, instruction by instruction, as if the grid had this size.
    ///
    /// # Errors
    /// As for [`Blocks::share`].
    pub fn counts(&self, launch: &PlannedLaunch, block: [u32; 3], size: &[i64]) -> Result<Counts> {
        interrupt::check()?;
        let program = &self.plan.program;
        let kernel = &self.cuda.kernels[launch.kernel];
        let has_spare =
            |field: &usize| self.plan.slots(FieldId(*field)) > program.fields[*field].role.slots() as i64;
        let spare = (0..program.fields.len()).filter(has_spare).count();
        let arrays = (1..).take(program.fields.len() + program.series.len() + spare);
        let arrays = arrays.map(|number| number * ARRAY_PITCH);
        let mut integers = launch.integers.clone();
        integers[..size.len()].copy_from_slice(size);
        let (before, after) = integers.split_at(PlannedLaunch::integers_before_parameters(size.len()));
        let ways = distances(kernel.takes_ways, &self.cuda.ways, launch.strides(size.len()));
        let arguments = arrays
            .chain(before.iter().map(|&value| value as u64))
            .chain(self.parameters.iter().map(|value| value.to_bits()))
            .chain(after.iter().map(|&value| value as u64))
            .chain(ways.into_iter().map(|value| value as u64));
        let double = program.fields.iter().any(|field| field.element == ElementType::F64);
        let arguments = arguments.collect();
        let passed = Launch::new(self.listing, kernel.threads, launch.grid, arguments, double)?;
        let code = self.listing.kernel(&kernel.symbol)?;
        run::block(code, &passed, block, &interrupt::requested).map_err(|error| {
            match interrupt::requested() {
                true => Error::Execution(ExecutionError::Interrupted),
                false => error.into(),
            }
        })
    }

    /// The environment of a block: sizes, host variable, place and bindings.
    fn environment(&self, launch: &PlannedLaunch, block: [u32; 3], size: &[i64]) -> Option<Environment> {
        let kernel = &self.plan.kernels[launch.kernel];
        let mut environment: Environment = SIZE_NAMES.into_iter().zip(size.iter().copied()).collect();
        environment.insert("steps", self.steps);
        environment.insert(self.plan.outer.variable, self.host(launch));
        for (own, place) in kernel.blocks.iter().zip(self.place(launch, block)) {
            environment.insert(own.variable, place);
        }
        for binding in &kernel.bindings {
            let value = binding.value.evaluate(&environment)?;
            environment.insert(binding.name, value);
        }
        Some(environment)
    }

    /// The host variable of a launch.
    fn host(&self, launch: &PlannedLaunch) -> i64 {
        launch.integers[PlannedLaunch::integers_before_parameters(self.layout.size().len())]
    }

    /// The coordinates of a block in the plan's loops.
    fn place(&self, launch: &PlannedLaunch, block: [u32; 3]) -> Vec<i64> {
        let loops = self.plan.kernels[launch.kernel].blocks.len();
        let firsts = &launch.integers[launch.integers.len() - loops..];
        firsts
            .iter()
            .enumerate()
            .map(|(number, first)| first + i64::from(block[loops - 1 - number]))
            .collect()
    }

    /// The points of a block: instances of all statements, over their number.
    fn points(&self, launch: &PlannedLaunch, block: [u32; 3], size: &[i64]) -> Result<f64> {
        let number = self.plan.launches.iter().position(|own| own.kernel == launch.kernel).unwrap_or(0);
        let mut points = 0i64;
        let place = self.place(launch, block);
        let visited =
            self.plan.for_each_row_of_block((size, self.steps), (self.host(launch), number), &place, |row| {
                points += row.owned.iter().map(|(low, end)| (end - low).max(0)).product::<i64>();
            });
        visited.ok_or_else(|| Error::internal("a bound of the plan mentions an unknown variable"))?;
        Ok(points as f64 / self.plan.program.statements.len() as f64)
    }

    /// Dimensions along which a block goes through many sub-tiles.
    fn long_axes(&self, launch: &PlannedLaunch, block: [u32; 3]) -> Vec<LongAxis> {
        let kernel = &self.plan.kernels[launch.kernel];
        let size = self.layout.size();
        let found = (0..kernel.sub_tiles.len()).filter_map(|number| {
            let count = |size: &[i64]| sub_tiles(kernel, number, self.environment(launch, block, size)?);
            let all = count(size)?;
            if all < FEWEST_COUNT {
                return None;
            }
            (0..size.len()).find_map(|dimension| {
                let less = |points: i64| {
                    let mut smaller = size.to_vec();
                    smaller[dimension] -= points;
                    count(&smaller)
                };
                // Where the next one ends, and the one after that: what is left of the last sub-tile stays as it is.
                let ends = |fewer: i64, from: i64| {
                    (from..=size[dimension].min(2 * LONGEST_PERIOD))
                        .find(|&points| less(points) == Some(all - fewer))
                };
                let first = ends(1, 1)?;
                let period = ends(2, first)? - first;
                let regular =
                    (1..all - FEW_SUB_TILES[0]).all(|fewer| less(period * fewer) == Some(all - fewer));
                if !regular {
                    return None;
                }
                Some(LongAxis { dimension, period, count: all })
            })
        });
        found.collect()
    }
}

/// A dimension with many sub-tiles.
struct LongAxis {
    dimension: usize,
    /// Points of the grid that one sub-tile more stands for.
    period: i64,
    /// Sub-tiles.
    count: i64,
}

/// The sub-tiles of this loop, in the middle of those around it.
fn sub_tiles(kernel: &Kernel, number: usize, mut environment: Environment) -> Option<i64> {
    for (at, own) in kernel.sub_tiles.iter().enumerate() {
        let (low, high) = (own.low.evaluate(&environment)?, own.high.evaluate(&environment)?);
        if at == number {
            return Some(high - low + 1);
        }
        environment.insert(own.variable, low + (high - low) / 2);
    }
    None
}
