//! What a plan computes, loads and stores, by its own rows and windows: another road than its text and the machine code of that.
//! Sub-tiles at the ends of the grid, and steps at the ends of the run, are clipped one by one.

use hhc_codegen::KernelPlan;
use hhc_codegen::geometry::{self, MOST_WINDOW_BYTES, Threads, direct_points_at_once};
use hhc_codegen::int_expr::Environment;
use hhc_codegen::plan::{Kernel, Loop, SIZE_NAMES};
use hhc_codegen::window::{LeftOut, Window};
use polyhedral::program::Program;
use polyhedral::sweep::CellBox;
use std::collections::BTreeSet;

/// Half-open.
type Bounds = Vec<(i64, i64)>;

/// Sums over a run.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Events {
    /// Instances of all statements.
    pub points: i64,
    /// Bytes of the arrays that are read.
    pub loaded_bytes: i64,
    /// Bytes of the arrays that are written.
    pub stored_bytes: i64,
}

/// Those of a whole run of a plan that keeps windows.
pub fn of_windows(plan: &KernelPlan, size: &[i64], steps: i64) -> Events {
    let mut events = Events::default();
    let mut known: Environment = SIZE_NAMES.into_iter().zip(size.iter().copied()).collect();
    known.insert("steps", steps);
    each(&plan.outer, &mut known, &mut |known| {
        for launch in &plan.launches {
            if launch.when.as_ref().is_some_and(|when| value(when, known) < 0) {
                continue;
            }
            let kernel = &plan.kernels[launch.kernel];
            let window = geometry::window(plan, launch.kernel, MOST_WINDOW_BYTES).unwrap();
            let tile = Tile { program: &plan.program, kernel, window, size, steps };
            nest(&kernel.blocks, &mut known.clone(), &mut |known| {
                for binding in &kernel.bindings {
                    known.insert(binding.name, value(&binding.value, known));
                }
                tile.add(known, &mut events);
            });
        }
    });
    events
}

/// Those of a plan whose kernels work on the arrays: a thread's points lie along dimension 0, and it loads what some of them read,
/// as many as it computes at once.
pub fn of_sweeps(plan: &KernelPlan, size: &[i64], steps: i64) -> Events {
    let mut events = Events::default();
    let program = &plan.program;
    for (kernel, statement) in plan.kernels.iter().map(|kernel| (kernel, kernel.instances[0].statement)) {
        let domain = program.domain(statement, size);
        let element = |field: usize| program.fields[field].element.bytes() as i64;
        let threads = Threads::in_memory(kernel, 1024).per_dimension[0];
        let width = plan.tile.get("s0").unwrap();
        let share = (width + threads - 1) / threads;
        let at_once = direct_points_at_once(program, statement, share);
        // Bytes that so many points read.
        let read = |points: i64| -> i64 {
            let reads = &program.statements[statement].reads;
            let cells: BTreeSet<_> = (0..points)
                .flat_map(|point| {
                    reads
                        .iter()
                        .map(move |read| (read.field.0, read.time, read.offset[0] + point, &read.offset[1..]))
                })
                .collect();
            cells.iter().map(|(field, ..)| element(*field)).sum()
        };
        let columns = volume(&domain[1..]);
        let (first, end) = domain[0];
        for begin in (0..size[0]).step_by(width as usize) {
            for part in 0..threads {
                let own = (begin + part * share, (begin + (part + 1) * share).min(begin + width));
                let points = (own.1.min(end) - own.0.max(first)).max(0);
                let loaded = points / at_once * read(at_once) + points % at_once * read(1);
                events.points += steps * columns * points;
                events.loaded_bytes += steps * columns * loaded;
                events.stored_bytes +=
                    steps * columns * points * element(program.statements[statement].target.0);
            }
        }
    }
    events
}

/// One block's.
struct Tile<'a> {
    program: &'a Program,
    kernel: &'a Kernel,
    window: &'a Window,
    size: &'a [i64],
    steps: i64,
}

impl Tile<'_> {
    fn add(&self, known: &mut Environment, events: &mut Events) {
        let mut full_before = false;
        nest(&self.kernel.sub_tiles, known, &mut |known| {
            let begins = self
                .kernel
                .sub_tiles
                .last()
                .is_none_or(|sweep| known.get(sweep.variable).unwrap() == value(&sweep.low, known));
            let full = self.kernel.full_when.iter().all(|condition| value(condition, known) >= 0);
            // What is live in is brought ahead, by a full sub-tile for a full one.
            let exact = full && full_before && !begins && self.window.slide.is_some();
            self.load(known, (begins, exact), events);
            self.compute(known, events);
            full_before = full;
        });
    }

    fn load(&self, known: &Environment, (begins, exact): (bool, bool), events: &mut Events) {
        let window = self.window;
        let bytes = |field: usize| self.program.fields[field].element.bytes() as i64;
        let corner: Vec<i64> = window.corner.iter().map(|corner| value(corner, known)).collect();
        let within = window.exact_within.iter().all(|within| {
            let at = corner[within.dimension];
            within.least <= at && at <= self.size[within.dimension] - within.margin
        });
        if exact && within {
            for plane in &window.planes {
                let cells: i64 = plane.live_in.iter().map(closed).sum();
                events.loaded_bytes += cells * window.slide.unwrap() * bytes(plane.field);
            }
            return;
        }
        let last = self.size.len() - 1;
        let early = value(&window.first_step, known) < 0;
        let entering = if begins || window.slide.is_none() { 0 } else { window.kept };
        for plane in &window.planes {
            let mut wanted = 0;
            for cells in &plane.read {
                let mut all: Vec<(i64, i64)> = cells.iter().map(|(low, high)| (*low, high + 1)).collect();
                if window.slide.is_some() {
                    all.push((entering, window.extent[last]));
                }
                each_cell(&all, &mut |cell| {
                    let point: Vec<i64> =
                        cell.iter().enumerate().map(|(d, x)| x + corner[d] + window.low[d]).collect();
                    let on_grid = point.iter().zip(self.size).all(|(x, extent)| (0..*extent).contains(x));
                    let writers = || {
                        plane.clipped.iter().map(|live| (live, self.program.domain(live.writer, self.size)))
                    };
                    let inside = |domain: &Bounds| {
                        point.iter().zip(domain).all(|(x, (low, end))| (*low..*end).contains(x))
                    };
                    let is_live = |boxes: &[CellBox]| {
                        boxes
                            .iter()
                            .any(|own| own.iter().zip(cell).all(|((low, high), x)| low <= x && x <= high))
                    };
                    let boundary = writers().all(|(_, domain)| !inside(&domain));
                    let live = writers().any(|(live, domain)| {
                        inside(&domain) && is_live(if early { &live.early } else { &live.usual })
                    });
                    wanted += i64::from(on_grid && (boundary || live));
                });
            }
            events.loaded_bytes += wanted * bytes(plane.field);
        }
    }

    fn compute(&self, known: &mut Environment, events: &mut Events) {
        let rows = &self.kernel.rows;
        let last_group = value(&rows.high, known);
        each(rows, known, &mut |known| {
            for (instance, moves) in self.kernel.instances.iter().zip(&self.window.rows) {
                let step = value(&instance.step, known);
                if !(0..self.steps).contains(&step) {
                    continue;
                }
                let domain = self.program.domain(instance.statement, self.size);
                let ranges = instance.ranges.iter().zip(&domain);
                let own: Bounds = ranges
                    .map(|(range, (first, end))| {
                        (value(&range.low, known).max(*first), (value(&range.high, known) + 1).min(*end))
                    })
                    .collect();
                let points = volume(&own);
                let LeftOut { groups, ranges } = &moves.left_out;
                let later =
                    known.get(rows.variable).unwrap() + groups <= last_group && step + groups < self.steps;
                let again: Bounds = own
                    .iter()
                    .zip(ranges)
                    .enumerate()
                    .map(|(d, (own, range))| match range {
                        Some((low, high)) => {
                            let corner = value(&self.window.corner[d], known);
                            (
                                own.0.max(corner + value(low, known)),
                                own.1.min(corner + value(high, known) + 1),
                            )
                        }
                        None => *own,
                    })
                    .collect();
                let stored = points - if later { volume(&again) } else { 0 };
                let element = self.program.field(self.program.statements[instance.statement].target).element;
                events.points += points;
                events.stored_bytes += stored * element.bytes() as i64;
            }
        });
    }
}

fn value(of: &hhc_codegen::int_expr::IntExpr, known: &Environment) -> i64 {
    of.evaluate(known).unwrap()
}

fn volume(bounds: &[(i64, i64)]) -> i64 {
    bounds.iter().map(|(low, end)| (end - low).max(0)).product()
}

/// The cells of a box with both ends.
fn closed(cells: &CellBox) -> i64 {
    cells.iter().map(|(low, high)| high - low + 1).product()
}

fn each_cell(bounds: &[(i64, i64)], visit: &mut dyn FnMut(&[i64])) {
    let mut cell: Vec<i64> = bounds.iter().map(|(low, _)| *low).collect();
    if volume(bounds) == 0 {
        return;
    }
    loop {
        visit(&cell);
        let Some(d) = (0..cell.len()).rev().find(|&d| cell[d] + 1 < bounds[d].1) else { return };
        cell[d] += 1;
        (d + 1..cell.len()).for_each(|inner| cell[inner] = bounds[inner].0);
    }
}

fn each(of: &Loop, known: &mut Environment, visit: &mut dyn FnMut(&mut Environment)) {
    for at in value(&of.low, known)..=value(&of.high, known) {
        known.insert(of.variable, at);
        visit(known);
    }
}

fn nest(loops: &[Loop], known: &mut Environment, visit: &mut dyn FnMut(&mut Environment)) {
    match loops.split_first() {
        None => visit(known),
        Some((first, rest)) => each(first, known, &mut |known| nest(rest, known, visit)),
    }
}
