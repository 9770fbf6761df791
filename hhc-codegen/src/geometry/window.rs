//! The window: the part of the grid that a sub-tile keeps in shared memory, and what has to be loaded into it.
//!
//! Shared memory is used as a cache that the kernel manages by itself. It holds one plane of cells per field and
//! stored time level ("slot"), all planes with the extents of the same window. Within a sweep of the innermost
//! sub-tile loop the window slides along the innermost dimension; cells that stay in it are kept.
//!
//! A cell that enters the window has not been touched by this block in this sweep, so that memory holds its
//! current value. It has to be loaded if some row reads it before a row writes it ("live in"). A value that a row
//! writes goes to memory at once, unless a later row of the sweep writes the same cell again ("live out").

use super::local::{LocalKernel, LocalRow};
use super::planes::{first_planes, plane_number};
use polyhedral::domain::shifted;
use polyhedral::draft::never_meet;
use polyhedral::program::{FieldId, Program, Statement};
use std::collections::BTreeSet;

/// A box of cells in window coordinates, both ends inclusive; one interval per dimension but the one in which the
/// window slides.
pub type CellBox = Vec<(i64, i64)>;

/// Window and planes of a kernel.
#[derive(Debug, Clone)]
pub struct Window {
    /// Per dimension: local coordinate of the first cell.
    pub low: Vec<i64>,
    /// Per dimension: number of cells.
    pub extent: Vec<i64>,
    /// How many cells of the innermost dimension leave the window from one sub-tile to the next; `None` where the
    /// window does not slide.
    pub slide: Option<i64>,
    /// One plane per field and stored level, in order of field and plane.
    pub planes: Vec<Plane>,
}

/// The cells of one stored level of a field.
#[derive(Debug, Clone)]
pub struct Plane {
    /// Index of the field.
    pub field: usize,
    /// Plane `q` of a state field holds the slot `(first step + q) mod slots`.
    pub number: i64,
    /// Cells that some row reads.
    pub read: Vec<CellBox>,
    /// Cells that some row reads before a row writes them, in full tiles.
    pub live_in: Vec<CellBox>,
    /// The same in tiles that may be partial, for each statement that computes the field.
    pub clipped: Vec<Live>,
}

/// The cells that are live in, of those in the domain of one statement, which alone writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// The statement.
    pub writer: usize,
    /// Cells where no time step is missing.
    pub usual: Vec<CellBox>,
    /// Cells in tiles whose first rows come before the first time step and do not exist.
    pub early: Vec<CellBox>,
}

/// Arrays in shared memory begin at multiples of this many bytes.
const ALIGNMENT: i64 = 16;

/// Bytes that an array in shared memory takes up.
pub fn aligned(bytes: i64) -> i64 {
    bytes.saturating_add(ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT
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
    /// The window of a kernel.
    pub fn new(program: &Program, kernel: &LocalKernel) -> Self {
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
        Window { low, extent, slide, planes: Vec::new() }
    }

    /// Number of cells of one plane.
    pub fn cells(&self) -> i64 {
        self.extent.iter().product()
    }

    /// Position of each field's planes in shared memory, in bytes, and the bytes of all.
    pub fn layout(&self, program: &Program) -> (Vec<i64>, i64) {
        let planes = first_planes(program);
        let (mut offsets, mut end) = (Vec::new(), 0_i64);
        for (field, description) in program.fields.iter().enumerate() {
            offsets.push(end);
            let cells = self.cells().saturating_mul((planes[field + 1] - planes[field]) as i64);
            let bytes = cells.saturating_mul(description.element.bytes() as i64);
            end = end.saturating_add(aligned(bytes));
        }
        (offsets, end)
    }

    /// Number of cells between neighbours in dimension 0 (1 where it is the only one).
    pub fn pitch(&self) -> i64 {
        self.extent[1..].iter().product()
    }

    /// How many cells of the innermost dimension stay in the window from one sub-tile to the next.
    pub fn kept(&self) -> i64 {
        self.slide.map_or(0, |size| (self.extent[self.extent.len() - 1] - size).max(0))
    }

    /// The dimensions in which cells are told apart: all but the one in which the window slides.
    fn table_dimensions(&self) -> usize {
        self.extent.len() - usize::from(self.slide.is_some())
    }

    /// Finds out which cells are live. `early` holds the numbers of missing time steps with which tiles begin before
    /// the first one.
    pub fn find_live_cells(&mut self, program: &Program, kernel: &LocalKernel, early: &[i64]) {
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
