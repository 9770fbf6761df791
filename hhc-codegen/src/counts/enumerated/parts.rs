//! The parts of a kernel that says itself where values live, as one block runs them: rows and transfers, each with its
//! clipped box.
//!
//! Widths of boxes are concave in a loop variable (highs are minima of affine functions, lows are maxima), so that
//! positions of a stream whose first, middle and last box have the same widths are alike.

use super::place::{ONE_BY_ONE, samples};
use crate::int_expr::Environment;
use crate::plan::{Instance, Kernel, KernelPlan, Loop, Range, Role};
use crate::storage::{Moment, Part, Place, Region, Sync, Transfer};
use polyhedral::program::FieldId;

/// A half-open box.
pub type Bounds = Vec<(i64, i64)>;

/// What a part is.
#[derive(Debug, Clone, Copy)]
pub enum Work<'a> {
    Row(&'a Instance),
    Transfer(&'a Transfer),
}

impl Work<'_> {
    pub fn sync(&self) -> Sync {
        match self {
            Work::Row(instance) => instance.sync,
            Work::Transfer(transfer) => transfer.sync,
        }
    }
}

/// A part that runs.
#[derive(Debug, Clone)]
pub struct Ran<'a> {
    pub part: Part,
    pub work: Work<'a>,
    /// How often it runs.
    pub times: i64,
    /// Its box; intervals may be empty.
    pub bounds: Bounds,
    /// Points that it computes or moves.
    pub points: i64,
    /// Those of them that are its own.
    pub owned: i64,
    /// What tells it from the same part elsewhere.
    shape: Vec<i64>,
}

/// Parts of one kernel on a grid.
pub struct Parts<'a> {
    kernel: &'a Kernel,
    plan: &'a KernelPlan,
    steps: i64,
    grid: Bounds,
    /// Per statement.
    domains: Vec<Bounds>,
}

/// Points of a box; none where an interval is empty.
pub fn volume(bounds: &[(i64, i64)]) -> i64 {
    bounds.iter().map(|(low, end)| (end - low).max(0)).product()
}

fn clipped(bounds: &[(i64, i64)], to: &[(i64, i64)]) -> Bounds {
    bounds.iter().zip(to).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1))).collect()
}

/// Points of a box that lie in none of the others.
fn outside(bounds: &[(i64, i64)], others: &[Bounds]) -> i64 {
    let Some((first, rest)) = others.split_first() else { return volume(bounds) };
    let common = clipped(bounds, first);
    if volume(&common) == 0 {
        return outside(bounds, rest);
    }
    // What is below the other box along a dimension, what is above, and on with what is beside it.
    let (mut sum, mut beside) = (0, bounds.to_vec());
    for (d, &(low, end)) in common.iter().enumerate() {
        for piece in [(beside[d].0, low), (end, beside[d].1)] {
            let mut part = beside.clone();
            part[d] = piece;
            sum += if volume(&part) > 0 { outside(&part, rest) } else { 0 };
        }
        beside[d] = (low, end);
    }
    sum
}

impl<'a> Parts<'a> {
    pub fn new(plan: &'a KernelPlan, kernel: &'a Kernel, size: &[i64], steps: i64) -> Self {
        let domains = (0..plan.program.statements.len()).map(|k| plan.program.domain(k, size)).collect();
        Parts { kernel, plan, steps, grid: size.iter().map(|&extent| (0, extent)).collect(), domains }
    }

    /// Visits the parts of all sub-tiles of a block, in no particular order, each for all that are alike.
    pub fn for_each(&self, block: &Environment, visit: &mut dyn FnMut(&Ran<'a>)) -> Option<()> {
        self.nest(&self.kernel.sub_tiles, &mut block.clone(), 1, visit)
    }

    fn nest(
        &self,
        loops: &[Loop],
        inside: &mut Environment,
        times: i64,
        visit: &mut dyn FnMut(&Ran<'a>),
    ) -> Option<()> {
        let mut all = |sub_tile: Vec<Ran<'a>>, times: i64| {
            sub_tile.into_iter().for_each(|ran| visit(&Ran { times: times * ran.times, ..ran }));
        };
        let Some((first, rest)) = loops.split_first() else {
            all(self.sub_tile(inside)?, times);
            return Some(());
        };
        let (low, high) = (first.low.evaluate(inside)?, first.high.evaluate(inside)?);
        if !rest.is_empty() {
            for (value, more) in samples(low, high, ONE_BY_ONE) {
                inside.insert(first.variable, value);
                self.nest(rest, inside, times * more, visit)?;
            }
            return Some(());
        }
        if low > high {
            return Some(());
        }
        let mut at = |position: i64| {
            inside.insert(first.variable, position);
            self.sub_tile(inside)
        };
        let (at_low, at_high) = (at(low)?, at(high)?);
        // Stretches whose ends have been looked at.
        let mut open = vec![(low, at_low.clone(), high, at_high.clone())];
        all(at_low, times);
        if low < high {
            all(at_high, times);
        }
        while let Some((low, at_low, high, at_high)) = open.pop() {
            if high - low < 2 {
                continue;
            }
            let middle = low.midpoint(high);
            let at_middle = at(middle)?;
            if alike(&at_low, &at_middle) && alike(&at_middle, &at_high) {
                all(at_middle, times * (high - low - 1));
            } else {
                all(at_middle.clone(), times);
                open.push((low, at_low, middle, at_middle.clone()));
                open.push((middle, at_middle, high, at_high));
            }
        }
        Some(())
    }

    fn sub_tile(&self, inside: &mut Environment) -> Option<Vec<Ran<'a>>> {
        let kernel = self.kernel;
        let mut found = Vec::new();
        for (index, _) in kernel.transfers_at(Moment::Start) {
            found.push(self.ran(Part::Transfer(index), inside, 1)?);
        }
        let group = kernel.parts_of_a_group();
        let (low, high) = (kernel.rows.low.evaluate(inside)?, kernel.rows.high.evaluate(inside)?);
        for (value, times) in samples(low, high, ONE_BY_ONE) {
            inside.insert(kernel.rows.variable, value);
            for &part in &group {
                found.push(self.ran(part, inside, times)?);
            }
        }
        for (index, _) in kernel.transfers_at(Moment::End) {
            found.push(self.ran(Part::Transfer(index), inside, 1)?);
        }
        Some(found)
    }

    fn ran(&self, part: Part, inside: &Environment, times: i64) -> Option<Ran<'a>> {
        let kernel = self.kernel;
        let (work, ranges, region, when) = match part {
            Part::Row(row) => {
                let instance = &kernel.instances[row];
                let region = Region::Domain(instance.statement);
                (Work::Row(instance), &instance.ranges, region, &instance.when)
            }
            Part::Transfer(transfer) => {
                let transfer = &kernel.transfers[transfer];
                (Work::Transfer(transfer), &transfer.ranges, transfer.region, &transfer.when)
            }
        };
        let mut runs = true;
        for condition in when {
            runs &= condition.evaluate(inside)? >= 0;
        }
        let within =
            if let Region::Domain(statement) = region { &self.domains[statement] } else { &self.grid };
        let bounds = clipped(&evaluated(ranges, inside)?, within);
        let left_out: Vec<Bounds> = match (work, region) {
            (Work::Transfer(transfer), Region::Boundary) => self.domains_of(transfer.field),
            _ => Vec::new(),
        };
        let mut shape: Vec<i64> = bounds.iter().map(|(low, end)| end - low).collect();
        for domain in &left_out {
            shape.extend(clipped(&bounds, domain).iter().map(|(low, end)| end - low));
        }
        let mut points = outside(&bounds, &left_out);
        let mut owned = points;
        if let Work::Row(instance) = work {
            runs &= (0..self.steps).contains(&instance.step.evaluate(inside)?);
            if let Role::Copies { owned: ranges } = &instance.role {
                let own = clipped(&bounds, &evaluated(ranges, inside)?);
                shape.extend(own.iter().map(|(low, end)| end - low));
                owned = volume(&own);
            }
        }
        shape.push(i64::from(runs));
        if !runs {
            (points, owned) = (0, 0);
        }
        Some(Ran { part, work, times, bounds, points, owned, shape })
    }

    fn domains_of(&self, field: FieldId) -> Vec<Bounds> {
        self.plan.program.writers_of(field).map(|(k, _)| self.domains[k].clone()).collect()
    }
}

/// Whether the parts of two sub-tiles have boxes of the same widths.
fn alike(a: &[Ran<'_>], b: &[Ran<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.part == b.part && a.shape == b.shape)
}

fn evaluated(ranges: &[Range], inside: &Environment) -> Option<Bounds> {
    let range = |range: &Range| Some((range.low.evaluate(inside)?, range.high.evaluate(inside)? + 1));
    ranges.iter().map(range).collect()
}

/// Whether a place is the arrays.
pub fn in_arrays(place: &Place) -> bool {
    matches!(place, Place::Arrays(_))
}

/// The reads of a row that are from the arrays, by index among those of its statement.
pub fn reads_of_arrays(instance: &Instance, reads: usize) -> impl Iterator<Item = usize> {
    (0..reads).filter(|&at| instance.reads.get(at).is_none_or(|read| in_arrays(&read.place)))
}
