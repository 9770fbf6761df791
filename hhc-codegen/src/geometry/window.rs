//! Makes the window of a kernel ([`crate::window`]) from its rows: its extents, which cells are live in, and which values
//! need not be stored.

use super::local::{LocalKernel, LocalRow};
use super::planes::{first_planes, plane_number};
use crate::PlanError;
use crate::int_expr::{Environment, var};
use crate::plan::{FullTiles, Kernel, KernelPlan};
use crate::storage::Memory;
use crate::window::{LeftOut, Plane, Window, WindowRow, Within};
use polyhedral::domain::{GridEnd, shifted};
use polyhedral::draft::never_meet;
use polyhedral::program::{Access, FieldId, FieldRole, Program, Statement};
use polyhedral::sweep::{CellBox, Live};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why a kernel has no window.
#[derive(Debug)]
pub enum NoWindow {
    /// Its tiles have no bounded extent, or too many rows.
    Plan(PlanError),
    /// It needs more memory than a block may have.
    TooLarge {
        /// Bytes of all planes.
        bytes: i64,
        /// Cells per dimension.
        extent: Vec<i64>,
    },
}

impl From<PlanError> for NoWindow {
    fn from(error: PlanError) -> Self {
        NoWindow::Plan(error)
    }
}

/// Bytes of a window that are looked at, and proved, at most: no block of any device has so much shared memory.
pub const MOST_WINDOW_BYTES: i64 = 1 << 20;

/// The window that a plan says one of its kernels keeps, where the blocks of the target may have so much memory. All windows
/// of the plan are made when the first of them is asked for.
///
/// # Errors
/// Why there is none.
pub fn window(plan: &KernelPlan, kernel: usize, most_bytes: i64) -> Result<&Window, NoWindow> {
    let fits = |window: &Window| match window.layout(&plan.program).1 {
        bytes if bytes > most_bytes.min(MOST_WINDOW_BYTES) => {
            Err(NoWindow::TooLarge { bytes, extent: window.extent.clone() })
        }
        _ => Ok(()),
    };
    let windows = match plan.windows.get() {
        Some(windows) => windows,
        None => {
            let mut made: Vec<Option<(LocalKernel, Window)>> = Vec::new();
            for kernel in &plan.kernels {
                let framed = (kernel.memory == Memory::Window).then(|| framed(plan, kernel)).transpose()?;
                framed.iter().try_for_each(|(_, window)| fits(window))?;
                made.push(framed);
            }
            plan.windows.get_or_make(|| complete(plan, made))
        }
    };
    let window =
        windows.get(kernel).and_then(|window| window.as_deref()).ok_or_else(|| PlanError::Template {
            template: "cuda".to_string(),
            reason: format!("kernel {kernel} of strategy {} keeps no window", plan.strategy),
        })?;
    fits(window)?;
    Ok(window)
}

/// A kernel in local coordinates, with a window that says where its cells are and nothing else.
fn framed(plan: &KernelPlan, kernel: &Kernel) -> Result<(LocalKernel, Window), PlanError> {
    let local = LocalKernel::new(plan, kernel)?;
    let window = Window::framed(&plan.program, &local);
    Ok((local, window))
}

/// The windows with all that moves. Kernels whose tiles are alike have the same one.
fn complete(plan: &KernelPlan, made: Vec<Option<(LocalKernel, Window)>>) -> Vec<Option<Arc<Window>>> {
    let mut windows: Vec<Option<Arc<Window>>> = Vec::new();
    for (kernel, framed) in plan.kernels.iter().zip(made) {
        let before = windows.iter().zip(&plan.kernels);
        let alike = |(window, other): (&Option<Arc<Window>>, &Kernel)| {
            window.clone().filter(|_| kernel.has_tiles_of(other))
        };
        let known = framed.is_some().then(|| before.into_iter().find_map(|(w, k)| alike((w, k)))).flatten();
        windows.push(known.or_else(|| {
            framed.map(|(local, mut window)| {
                window.find_live_cells(&plan.program, &local, &missing_steps(plan, &local));
                window.rows = local.rows.iter().map(|row| window.row(&plan.program, kernel, row)).collect();
                Arc::new(window)
            })
        }));
    }
    windows
}

/// Numbers of time steps that are missing at the beginning of a tile: `-first_step` where that is positive. Tiles of
/// all kernels are looked at, block 0 of the first host iterations.
fn missing_steps(plan: &KernelPlan, local: &LocalKernel) -> Vec<i64> {
    let mut missing = Vec::new();
    for kernel in &plan.kernels {
        for outer in 0..local.groups.1 - local.groups.0 + 2 {
            let mut place: Environment = kernel.blocks.iter().map(|block| (block.variable, 0)).collect();
            place.extend(kernel.sub_tiles.iter().map(|sub_tile| (sub_tile.variable, 0)));
            place.insert(plan.outer.variable, outer);
            for binding in &kernel.bindings {
                if let Some(value) = binding.value.evaluate(&place) {
                    place.insert(binding.name, value);
                }
            }
            if let Some(first) = local.first_step.evaluate(&place).filter(|first| *first < 0)
                && !missing.contains(&-first)
            {
                missing.push(-first);
            }
        }
    }
    missing
}

/// The rows of a tile that count, and what is known of the cells of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cells {
    /// Rows of full tiles only; each cell is written by all of them that reach it.
    Full,
    /// All rows; cells in the domain of this statement, or outside all domains.
    Of(Option<usize>),
}

impl Window {
    /// Where the cells are.
    fn framed(program: &Program, kernel: &LocalKernel) -> Self {
        let dimension = program.dimension();
        let (mut low, mut high) = (vec![i64::MAX; dimension], vec![i64::MIN; dimension]);
        for row in &kernel.rows {
            for bounds in &row.boxes {
                for d in 0..dimension {
                    let offsets =
                        || program.statements[row.statement].reads.iter().map(|read| read.offset[d]);
                    low[d] = low[d].min(bounds[d].0 + offsets().min().unwrap_or(0).min(0));
                    high[d] = high[d].max(bounds[d].1 + offsets().max().unwrap_or(0).max(0));
                }
            }
        }
        let slide = kernel.advances.last().filter(|(d, _)| d + 1 == dimension).map(|&(_, size)| size);
        let extent: Vec<i64> = low.iter().zip(&high).map(|(low, high)| high - low + 1).collect();
        let kept = slide.map_or(0, |size| (extent[dimension - 1] - size).max(0));
        let mut window = Window {
            corner: kernel.corner.clone(),
            low,
            extent,
            slide,
            kept,
            first_step: kernel.first_step.clone(),
            planes: Vec::new(),
            exact_within: Vec::new(),
            rows: Vec::new(),
        };
        window.exact_within = window.without_boundary(program);
        window
    }

    /// When the window holds no fixed boundary points in the dimensions that are walked inside a block: there, all
    /// cells that a row writes are written. Nor may it hold what rows read that run in no full tile, but in a later one
    /// of the sweep: those at the end of the grid.
    fn without_boundary(&self, program: &Program) -> Vec<Within> {
        let dimension = program.dimension();
        let full = FullTiles::new(program, &vec![true; dimension]);
        let read_by_others = |d: usize| {
            let others = program.statements.iter().filter(move |statement| {
                !statement.domain[d].is_wide() && statement.domain[d].low.from == GridEnd::End
            });
            let first = others.map(move |statement| {
                let reach = statement.reads.iter().map(|read| read.offset[d]).min().unwrap_or(0);
                -(statement.domain[d].low.offset + reach.min(0))
            });
            first.max().unwrap_or(0)
        };
        let within = |d: usize| {
            let slides = self.slide.is_some() && d + 1 == dimension;
            let kept = if slides { self.kept } else { 0 };
            let high = if slides { full.high[d].max(read_by_others(d)) } else { full.high[d] };
            Within {
                dimension: d,
                least: full.low[d] - (self.low[d] + kept),
                margin: self.low[d] + self.extent[d] + high,
            }
        };
        (1..dimension).map(within).collect()
    }

    /// What a row does with the window. A later row of the same stored level computes cells again; where the window slides,
    /// it reaches each of them in this sub-tile or a later one.
    fn row(&self, program: &Program, kernel: &Kernel, row: &LocalRow) -> WindowRow {
        let statement = &program.statements[row.statement];
        let plane = |access: &Access| match program.field(access.field).role {
            FieldRole::State { levels, slots } => {
                (row.step + access.time + levels as i64 - 1).rem_euclid(slots as i64)
            }
            FieldRole::Coefficient => 0,
        };
        let write = Access { field: statement.target, time: 1, offset: vec![0; program.dimension()] };
        let groups = program.field(statement.target).role.slots() as i64;
        let variable = kernel.rows.variable;
        let later = var(variable) + groups;
        let ranges = row.ranges.iter().enumerate().map(|(d, (low, high))| {
            let slides = d > 0 && self.slide.is_some() && d + 1 == program.dimension();
            let there = (low.substitute(variable, &later), high.substitute(variable, &later));
            (!slides).then_some(there)
        });
        WindowRow {
            reads: statement.reads.iter().map(plane).collect(),
            writes: plane(&write),
            left_out: LeftOut { groups, ranges: ranges.collect() },
        }
    }

    /// The dimensions in which cells are told apart: all but the one in which the window slides.
    fn table_dimensions(&self) -> usize {
        self.extent.len() - usize::from(self.slide.is_some())
    }

    /// Finds out which cells are live. `early` holds the numbers of missing time steps with which tiles begin before
    /// the first one.
    fn find_live_cells(&mut self, program: &Program, kernel: &LocalKernel, early: &[i64]) {
        let extent = &self.extent[..self.table_dimensions()];
        let first_plane = first_planes(program);
        let mut planes = Vec::new();
        for field in 0..program.fields.len() {
            let writers: Vec<usize> = program.writers_of(FieldId(field)).map(|(k, _)| k).collect();
            let (_, full) = self.execute(program, kernel, (field, Cells::Full), 0);
            // Cells outside all domains, and those inside one that are not live.
            let (mut read, _) = self.execute(program, kernel, (field, Cells::Of(None)), 0);
            let mut clipped: Vec<Vec<Live>> = vec![Vec::new(); read.len()];
            for &writer in &writers {
                let (own_read, usual) = self.execute(program, kernel, (field, Cells::Of(Some(writer))), 0);
                merge(&mut read, own_read);
                let mut early_live = usual.iter().map(|plane| vec![false; plane.len()]).collect::<Vec<_>>();
                for &missing in early {
                    let cells = (field, Cells::Of(Some(writer)));
                    merge(&mut early_live, self.execute(program, kernel, cells, missing).1);
                }
                for (number, (usual, early)) in usual.iter().zip(&early_live).enumerate() {
                    let live = Live { writer, usual: boxes(usual, extent), early: boxes(early, extent) };
                    clipped[number].push(live);
                }
            }
            let stored = first_plane[field + 1] - first_plane[field];
            for (number, clipped) in clipped.into_iter().enumerate().take(stored) {
                planes.push(Plane {
                    field,
                    number: number as i64,
                    read: boxes(&read[number], extent),
                    live_in: boxes(&full[number], extent),
                    clipped,
                });
            }
        }
        self.planes = planes;
    }

    /// Executes the rows of a tile from local time `first` on, on a table of cells of one field: which cells are
    /// read, and which are read before they are written, per plane. Along the dimension in which the window slides
    /// all cells are alike: there, a row that comes earlier reaches each of them first.
    ///
    /// A cell in the domain of a statement is written by rows of this statement only, and read by those that can
    /// reach the domain.
    fn execute(
        &self,
        program: &Program,
        kernel: &LocalKernel,
        (field, cells): (usize, Cells),
        first: i64,
    ) -> (Vec<Vec<bool>>, Vec<Vec<bool>>) {
        let dimensions = self.table_dimensions();
        let count: i64 = self.extent[..dimensions].iter().product();
        let position =
            |cell: &[i64]| cell.iter().zip(&self.extent).fold(0, |at, (x, extent)| at * extent + x) as usize;
        let first_plane = first_planes(program);
        let blank = || vec![vec![false; count as usize]; first_plane[field + 1] - first_plane[field]];
        let (mut read, mut written, mut live) = (blank(), blank(), blank());
        let runs = |row: &LocalRow| cells != Cells::Full || row.in_full_tiles;
        let may_read = |statement: &Statement, offset: &[i64]| match cells {
            Cells::Of(Some(writer)) => {
                let place = shifted(&statement.domain, offset);
                !never_meet(&place, &program.statements[writer].domain, &program.least_size)
            }
            Cells::Full | Cells::Of(None) => true,
        };
        let writes = |row: &LocalRow| {
            let target = program.statements[row.statement].target.0 == field;
            target && [Cells::Full, Cells::Of(Some(row.statement))].contains(&cells)
        };
        for group in kernel.groups.0..=kernel.groups.1 {
            for row in kernel.rows.iter().filter(|row| row.step + group >= first && runs(row)) {
                let statement = &program.statements[row.statement];
                let bounds = &row.boxes[(group - kernel.groups.0) as usize];
                let plane_of = |time: i64| plane_number(program, field, row.step + group + time) as usize;
                let shifted = |offset: &[i64]| -> CellBox {
                    (0..dimensions)
                        .map(|d| {
                            (bounds[d].0 + offset[d] - self.low[d], bounds[d].1 + offset[d] - self.low[d])
                        })
                        .collect()
                };
                let reads: BTreeSet<(usize, &[i64])> = (statement.reads.iter())
                    .filter(|access| access.field.0 == field && may_read(statement, &access.offset))
                    .map(|access| (plane_of(access.time), &access.offset[..dimensions]))
                    .collect();
                for (plane, offset) in reads {
                    for_each_cell(&shifted(offset), &mut |cell| {
                        let at = position(cell);
                        read[plane][at] = true;
                        live[plane][at] |= !written[plane][at];
                    });
                }
                if writes(row) {
                    let target = plane_of(1);
                    for_each_cell(&shifted(&vec![0; dimensions]), &mut |cell| {
                        written[target][position(cell)] = true
                    });
                }
            }
        }
        (read, live)
    }
}

/// Marks in `all` what is marked in `more`.
fn merge(all: &mut [Vec<bool>], more: Vec<Vec<bool>>) {
    for (all, more) in all.iter_mut().zip(more) {
        all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
    }
}

fn for_each_cell(bounds: &[(i64, i64)], visit: &mut dyn FnMut(&[i64])) {
    fn nest(bounds: &[(i64, i64)], cell: &mut Vec<i64>, visit: &mut dyn FnMut(&[i64])) {
        let Some(&(low, high)) = bounds.get(cell.len()) else { return visit(cell) };
        for x in low..=high {
            cell.push(x);
            nest(bounds, cell, visit);
            cell.pop();
        }
    }
    nest(bounds, &mut Vec::new(), visit);
}

/// At most this many boxes are listed where several lines could share one.
const FEW_BOXES: usize = 3;

/// A few boxes around the marked cells. Along dimension 0 they hold marked lines only; in the other dimensions
/// they may hold more cells than are marked.
fn boxes(marked: &[bool], extent: &[i64]) -> Vec<CellBox> {
    let lines = extent[0];
    let inner = &extent[1..];
    let cells: i64 = inner.iter().product();
    let mut found: Vec<CellBox> = Vec::new();
    for line in 0..lines {
        let mut hull: Option<Vec<(i64, i64)>> = None;
        for at in 0..cells {
            if !marked[(line * cells + at) as usize] {
                continue;
            }
            let mut rest = at;
            let mut cell: Vec<i64> = inner
                .iter()
                .rev()
                .map(|e| {
                    let x = rest % e;
                    rest /= e;
                    x
                })
                .collect();
            cell.reverse();
            let point: Vec<_> = cell.iter().map(|&x| (x, x)).collect();
            hull = Some(hull.map_or(point.clone(), |hull| around(&hull, &point)));
        }
        let Some(hull) = hull else { continue };
        match found.last_mut() {
            Some(last) if last[0].1 == line - 1 && last[1..] == hull[..] => last[0].1 = line,
            _ => found.push([vec![(line, line)], hull].concat()),
        }
    }
    // Neighbouring boxes grow together, those first that add the fewest cells.
    while found.len() > FEW_BOXES {
        let volume = |cells: &CellBox| cells.iter().map(|(low, high)| high - low + 1).product::<i64>();
        let cost = |at: usize| {
            let joined = around(&found[at], &found[at + 1]);
            (found[at][0].1 + 1 == found[at + 1][0].0)
                .then(|| volume(&joined) - volume(&found[at]) - volume(&found[at + 1]))
        };
        let Some((_, at)) = (0..found.len() - 1).filter_map(|at| Some((cost(at)?, at))).min() else { break };
        let next = found.remove(at + 1);
        found[at] = around(&found[at], &next);
    }
    found
}

/// The smallest box around two.
fn around(a: &[(i64, i64)], b: &[(i64, i64)]) -> CellBox {
    a.iter().zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect()
}
