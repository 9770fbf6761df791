//! Periodic grids on devices and the emulator: a grid with ghost zones, on which the kernels of a plan run as on an ordinary
//! one, for a band of steps at a time. What suffices is proved by [`polyhedral::ghost`]; compiled C does the same by itself.

use crate::element::Element;
use crate::error::{ExecutionError, Result};
use crate::grid::{ProgramData, ValuesMut, ValuesRef};
use crate::layout::Layout;
use hhc_codegen::KernelPlan;
use hhc_codegen::plan_counts::steps_of_tile;
use polyhedral::ghost::Ghosts;
use polyhedral::program::{FieldId, FieldRole, Program, SeriesId};
use std::sync::Arc;

/// A grid with ghost zones around a periodic one.
#[derive(Debug, Clone)]
pub(crate) struct Around {
    /// The program that its kernels run there.
    unrolled: Arc<Program>,
    /// The plan of that program.
    pub plan: KernelPlan,
    /// Ghost points below.
    low: Vec<i64>,
    /// Extents of the given grid.
    given: Vec<i64>,
    /// Where the points of the wide grid lie.
    pub layout: Layout,
    /// Steps between two copies of ghost zones.
    pub band: i64,
}

impl Around {
    /// For a plan of a periodic program, and a grid of this size; `None` for other programs.
    pub fn of(plan: &KernelPlan, size: &[i64]) -> Result<Option<Around>> {
        let program = &*plan.program;
        if !program.is_periodic() {
            return Ok(None);
        }
        let zones = Ghosts::around(program).map_err(|error| ExecutionError::Plan(error.to_string()))?;
        let extra: f64 = (zones.reach.iter().zip(size))
            .map(|([low, high], &extent)| (low + high) as f64 / extent.max(1) as f64)
            .sum();
        // As in `templates/openmp/around.h.hbs`.
        let (cycle, tile) = (program.cycle(), steps_of_tile(plan).max(1));
        let best = if extra > 0.0 { (tile as f64 / (4.0 * extra)).sqrt() as i64 } else { tile };
        let best = if best > tile { best - best % tile } else { best };
        let band = (best - best % cycle).max(cycle);
        let depths: Vec<[i64; 2]> = (0..size.len()).map(|d| zones.depth(d, band)).collect();
        let wide: Vec<i64> = size
            .iter()
            .zip(&depths)
            .map(|(&extent, [low, high])| extent.saturating_add(low + high))
            .collect();
        let unrolled = Arc::new(program.unrolled());
        Ok(Some(Around {
            plan: KernelPlan { program: Arc::clone(&unrolled), ..plan.clone() },
            layout: Layout::dense(&unrolled, &wide)?,
            unrolled,
            low: depths.iter().map(|[low, _]| *low).collect(),
            given: size.to_vec(),
            band,
        }))
    }

    /// The wide grid, with all that `data` hold, ghost zones and all; without series.
    pub fn widen(&self, data: &ProgramData) -> Result<ProgramData> {
        let mut wide = ProgramData::zeroed_with(&self.unrolled, self.layout.clone())?;
        self.refill(data, &mut wide);
        Ok(wide)
    }

    /// The same, into a wide grid that is there.
    pub fn refill(&self, data: &ProgramData, wide: &mut ProgramData) {
        for (number, field) in self.unrolled.fields.iter().enumerate() {
            for slot in 0..field.role.slots() {
                let from = data.slot(FieldId(number), slot);
                match (wide.slot_mut(FieldId(number), slot), from) {
                    (ValuesMut::F32(to), ValuesRef::F32(from)) => self.widen_level(to, from, data.layout()),
                    (ValuesMut::F64(to), ValuesRef::F64(from)) => self.widen_level(to, from, data.layout()),
                    _ => {}
                }
            }
        }
    }

    fn widen_level<T: Element>(&self, to: &mut [T], from: &[T], given: &Layout) {
        self.each(&mut |wide, point| {
            let at: usize = point.iter().zip(given.strides()).map(|(&x, &stride)| x as usize * stride).sum();
            to[wide] = from[at];
        });
    }

    /// Each element of a level of the wide grid with the point of the given one that it stands for.
    fn each(&self, visit: &mut dyn FnMut(usize, &[i64])) {
        let (size, strides) = (self.layout.size(), self.layout.strides());
        let mut at = vec![0; size.len()];
        loop {
            let element = at.iter().zip(strides).map(|(&x, &stride)| x as usize * stride).sum();
            let point: Vec<i64> = at
                .iter()
                .zip(&self.low)
                .zip(&self.given)
                .map(|((x, low), n)| (x - low).rem_euclid(*n))
                .collect();
            visit(element, &point);
            let Some(d) = (0..at.len()).rev().find(|&d| at[d] + 1 < size[d]) else { return };
            at[d] += 1;
            at[d + 1..].fill(0);
        }
    }

    /// The element of a level of the wide grid at which a point of the given one lies.
    fn own(&self, point: &[i64]) -> usize {
        let places = point.iter().zip(&self.low).zip(self.layout.strides());
        places.map(|((x, low), &stride)| (x + low) as usize * stride).sum()
    }

    /// Brings the ghost zones of the levels that the next band reads up to date.
    pub fn refresh(&self, wide: &mut ProgramData) {
        for (number, field) in self.unrolled.fields.iter().enumerate() {
            let FieldRole::State { levels, .. } = field.role else { continue };
            for slot in 0..levels {
                match wide.slot_mut(FieldId(number), slot) {
                    ValuesMut::F32(level) => self.each(&mut |at, point| level[at] = level[self.own(point)]),
                    ValuesMut::F64(level) => self.each(&mut |at, point| level[at] = level[self.own(point)]),
                }
            }
        }
    }

    /// Puts the levels that there are after so many steps into the given grid.
    pub fn narrow(&self, wide: &ProgramData, data: &mut ProgramData, steps: i64) {
        let given = data.layout().clone();
        for (number, field) in self.unrolled.fields.iter().enumerate() {
            let FieldRole::State { levels, slots } = field.role else { continue };
            for slot in 0..slots.min(levels.saturating_add(usize::try_from(steps).unwrap_or(0))) {
                let from = wide.slot(FieldId(number), slot);
                match (data.slot_mut(FieldId(number), slot), from) {
                    (ValuesMut::F32(to), ValuesRef::F32(from)) => self.narrow_level(to, from, &given),
                    (ValuesMut::F64(to), ValuesRef::F64(from)) => self.narrow_level(to, from, &given),
                    _ => {}
                }
            }
        }
    }

    fn narrow_level<T: Element>(&self, to: &mut [T], from: &[T], given: &Layout) {
        for segment in given.segments(0..given.points()) {
            let mut row = segment.row;
            let mut point = vec![0; self.given.len()];
            for d in (0..point.len() - 1).rev() {
                point[d] = (row % self.given[d] as usize) as i64;
                row /= self.given[d] as usize;
            }
            point[self.given.len() - 1] = segment.column as i64;
            let first = self.own(&point);
            to[segment.elements()].copy_from_slice(&from[first..first + segment.length]);
        }
    }

    /// Gives the wide grid the values of series that a band needs: `now` steps after the first `done`.
    pub fn series(&self, data: &ProgramData, wide: &mut ProgramData, done: i64, now: i64) -> Result<()> {
        wide.set_steps(&self.unrolled, now)?;
        let done = usize::try_from(done).unwrap_or(0);
        for number in (0..self.unrolled.series.len()).map(SeriesId) {
            match (wide.series_mut(number), data.series(number)) {
                (ValuesMut::F32(to), ValuesRef::F32(from)) => to.copy_from_slice(&from[done..][..to.len()]),
                (ValuesMut::F64(to), ValuesRef::F64(from)) => to.copy_from_slice(&from[done..][..to.len()]),
                _ => {}
            }
        }
        Ok(())
    }

    /// The bands of so many steps: how many were done before, and how many each has.
    pub fn bands(&self, steps: i64) -> impl Iterator<Item = (i64, i64)> + use<> {
        let band = self.band;
        (0..)
            .map(move |number| number * band)
            .take_while(move |done| *done < steps)
            .map(move |done| (done, band.min(steps - done)))
    }
}
