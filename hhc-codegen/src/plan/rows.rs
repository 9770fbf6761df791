//! The rows of a plan in the order in which they run.

use super::{Instance, Kernel, KernelPlan, Launch, Loop, Role, SIZE_NAMES};
use crate::int_expr::Environment;

/// One executed row, with clipped bounds: what [`KernelPlan::for_each_row`] visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutedRow<'a> {
    /// Value of the host variable.
    pub outer: i64,
    /// Index of the launch within one host iteration.
    pub launch: usize,
    /// Block coordinates.
    pub block: &'a [i64],
    /// Sub-tile coordinates.
    pub sub_tile: &'a [i64],
    /// Group of rows.
    pub group: i64,
    /// Index of the instance within the group.
    pub instance: usize,
    /// Statement.
    pub statement: usize,
    /// Time step.
    pub step: i64,
    /// Half-open, clipped, non-empty box.
    pub bounds: &'a [(i64, i64)],
    /// The part of it whose instances are the row's own; empty where an interval is. The others are copies.
    pub owned: &'a [(i64, i64)],
    /// Whether the plan calls the tile full.
    pub full: bool,
    /// Whether the box had to be clipped.
    pub clipped: bool,
}

impl KernelPlan {
    /// Visits every non-empty row in execution order (parallel blocks in ascending order). This is the
    /// plan's own enumeration: closed forms and emitted code are compared with it. Returns `None` where a
    /// bound mentions an unknown variable.
    pub fn for_each_row(
        &self,
        size: &[i64],
        steps: i64,
        mut visit: impl FnMut(&ExecutedRow<'_>),
    ) -> Option<()> {
        let mut environment = Environment::new();
        environment.insert("steps", steps);
        for (name, &extent) in SIZE_NAMES.iter().zip(size) {
            environment.insert(name, extent);
        }
        let (low, high) = (self.outer.low.evaluate(&environment)?, self.outer.high.evaluate(&environment)?);
        for outer in low..=high {
            environment.insert(self.outer.variable, outer);
            for (launch, Launch { kernel, when }) in self.launches.iter().enumerate() {
                if let Some(condition) = when
                    && condition.evaluate(&environment)? < 0
                {
                    continue;
                }
                let kernel = &self.kernels[*kernel];
                nest(
                    &kernel.blocks,
                    &mut environment.clone(),
                    &mut Vec::new(),
                    &mut |environment, block| {
                        let place = BlockOf { outer, launch, block };
                        self.rows_of_block(kernel, environment, place, (size, steps), &mut visit)
                    },
                )?;
            }
        }
        Some(())
    }

    /// Visits the rows of one block as [`KernelPlan::for_each_row`] does; `launch` counts within the host iteration `outer`.
    pub fn for_each_row_of_block(
        &self,
        (size, steps): (&[i64], i64),
        (outer, launch): (i64, usize),
        block: &[i64],
        mut visit: impl FnMut(&ExecutedRow<'_>),
    ) -> Option<()> {
        let mut environment = Environment::new();
        environment.insert("steps", steps);
        environment.extend(SIZE_NAMES.into_iter().zip(size.iter().copied()));
        environment.insert(self.outer.variable, outer);
        let kernel = &self.kernels[self.launches.get(launch)?.kernel];
        for (own, &coordinate) in kernel.blocks.iter().zip(block) {
            environment.insert(own.variable, coordinate);
        }
        let place = BlockOf { outer, launch, block };
        self.rows_of_block(kernel, &mut environment, place, (size, steps), &mut visit)
    }

    fn rows_of_block(
        &self,
        kernel: &Kernel,
        environment: &mut Environment,
        BlockOf { outer, launch, block }: BlockOf<'_>,
        (size, steps): (&[i64], i64),
        visit: &mut impl FnMut(&ExecutedRow<'_>),
    ) -> Option<()> {
        for binding in &kernel.bindings {
            let value = binding.value.evaluate(environment)?;
            environment.insert(binding.name, value);
        }
        nest(&kernel.sub_tiles, environment, &mut Vec::new(), &mut |environment, sub_tile| {
            let mut full = true;
            for condition in &kernel.full_when {
                full &= condition.evaluate(environment)? >= 0;
            }
            let rows = (kernel.rows.low.evaluate(environment)?, kernel.rows.high.evaluate(environment)?);
            for group in rows.0..=rows.1 {
                environment.insert(kernel.rows.variable, group);
                for (index, instance) in kernel.instances.iter().enumerate() {
                    let step = instance.step.evaluate(environment)?;
                    if !(0..steps).contains(&step) {
                        continue;
                    }
                    let mut runs = true;
                    for condition in &instance.when {
                        runs &= condition.evaluate(environment)? >= 0;
                    }
                    if !runs {
                        continue;
                    }
                    let domain = self.program.domain(instance.statement, size);
                    boxes(instance, &domain, environment, &mut |environment, bounds, clipped| {
                        let mut owned = bounds.to_vec();
                        if let Role::Copies { owned: ranges } = &instance.role {
                            for (range, own) in ranges.iter().zip(&mut owned) {
                                own.0 = own.0.max(range.low.evaluate(environment)?);
                                own.1 = own.1.min(range.high.evaluate(environment)? + 1);
                            }
                        }
                        visit(&ExecutedRow {
                            outer,
                            launch,
                            block,
                            sub_tile,
                            group,
                            instance: index,
                            statement: instance.statement,
                            step,
                            bounds,
                            owned: &owned,
                            full,
                            clipped,
                        });
                        Some(())
                    })?;
                }
            }
            Some(())
        })
    }
}

/// What is done with a box of a row, and whether it was clipped.
type VisitBox<'a> = dyn FnMut(&Environment, &[(i64, i64)], bool) -> Option<()> + 'a;

/// The clipped boxes of a row, as half-open intervals, and whether they had to be clipped: one that is not empty, or, of a
/// slanted row, one for each of its lines, from which it can be computed one after the other.
fn boxes(
    instance: &Instance,
    domain: &[(i64, i64)],
    environment: &mut Environment,
    visit: &mut VisitBox<'_>,
) -> Option<()> {
    let clip = |d: usize, environment: &Environment| {
        let (first, end) = domain[d];
        let low = instance.ranges[d].low.evaluate(environment)?;
        let high = instance.ranges[d].high.evaluate(environment)? + 1;
        Some(((low.max(first), high.min(end)), low < first || high > end))
    };
    let slanted = instance.slanted();
    let mut bounds = Vec::with_capacity(domain.len());
    let mut clipped = false;
    for d in 0..domain.len() - usize::from(slanted.is_some()) {
        let (interval, cut) = clip(d, environment)?;
        clipped |= cut;
        bounds.push(interval);
    }
    let has_points = |bounds: &[(i64, i64)]| bounds.iter().all(|(first, end)| first < end);
    let Some((moving, coordinate)) = slanted else {
        return if has_points(&bounds) { visit(environment, &bounds, clipped) } else { Some(()) };
    };
    let (first, end) = bounds[moving];
    for at in first..end {
        environment.insert(coordinate, at);
        let (interval, cut) = clip(domain.len() - 1, environment)?;
        let mut line = bounds.clone();
        line[moving] = (at, at + 1);
        line.push(interval);
        if has_points(&line) {
            visit(environment, &line, clipped || cut)?;
        }
    }
    environment.remove(coordinate);
    Some(())
}

/// Where a block is.
struct BlockOf<'a> {
    outer: i64,
    launch: usize,
    block: &'a [i64],
}

/// Runs `body` for every point of a nest of loops, lexicographically.
fn nest(
    loops: &[Loop],
    environment: &mut Environment,
    point: &mut Vec<i64>,
    body: &mut dyn FnMut(&mut Environment, &[i64]) -> Option<()>,
) -> Option<()> {
    let Some((first, rest)) = loops.split_first() else {
        return body(environment, point);
    };
    let (low, high) = (first.low.evaluate(environment)?, first.high.evaluate(environment)?);
    for value in low..=high {
        environment.insert(first.variable, value);
        point.push(value);
        nest(rest, environment, point, body)?;
        point.pop();
    }
    Some(())
}
