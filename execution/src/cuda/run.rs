//! A run of a program from its initial levels, and one on a grid whose rows are one row in memory.

use super::arrays::{DeviceArray, DeviceData, addresses, spare_fields};
use super::launch::level_stride_of;
use super::program::{CudaProgramOnDevice, DeviceRun};
use crate::error::Result;
use crate::initial::prepare_boundary;
use crate::launches::{PlannedLaunch, for_each_launch};
use crate::layout::Layout;
use crate::reference::check_arguments;
use hhc_codegen::KernelPlan;
use polyhedral::program::{ElementType, SeriesId};
use toolchain::interrupt;

impl CudaProgramOnDevice {
    /// Runs `steps` time steps from the initial levels on the device, and leaves the newest levels there.
    ///
    /// # Errors
    /// [`crate::ExecutionError::WrongParameters`], [`crate::ExecutionError::WrongSteps`], [`crate::ExecutionError::Plan`],
    /// [`toolchain::Error::Device`], [`crate::ExecutionError::Interrupted`].
    pub fn run(&self, parameters: &[f64], data: &mut DeviceData, steps: i64) -> Result<DeviceRun> {
        check_arguments(&self.plan.program, parameters, steps)?;
        interrupt::check()?;
        let DeviceData { layout, arrays, series, spare, around } = data;
        let mut run = DeviceRun { seconds: 0.0, launches: 0 };
        let Some(bands) = around else {
            self.band((&self.plan, layout), parameters, (arrays, series, spare), steps, &mut run)?;
            return Ok(run);
        };
        bands.given.check_steps(&self.plan.program, steps)?;
        for (done, now) in bands.around.bands(steps) {
            if done > 0 {
                self.download_arrays(arrays, &mut bands.wide)?;
                bands.around.refresh(&mut bands.wide);
            }
            bands.around.series(&bands.given, &mut bands.wide, done, now)?;
            prepare_boundary(&bands.around.plan.program, &mut bands.wide)?;
            self.refill_arrays(&bands.wide, arrays)?;
            let series: Vec<DeviceArray> = (0..self.plan.program.series.len())
                .map(|number| self.copied(bands.wide.series(SeriesId(number))))
                .collect::<toolchain::Result<_>>()?;
            self.band(
                (&bands.around.plan, &bands.around.layout),
                parameters,
                (arrays, &series, &mut []),
                now,
                &mut run,
            )?;
        }
        bands.steps = steps;
        Ok(run)
    }

    /// Seconds and launches of `steps` time steps on a *folded* grid: all grid rows are one row in memory, which the
    /// caches hold, so that what remains is the body and its shared memory. The values that it computes mean nothing.
    /// In one dimension nothing is folded: the grid has to be small.
    ///
    /// # Errors
    /// [`crate::ExecutionError::WrongSize`], [`toolchain::Error::Device`], [`crate::ExecutionError::Interrupted`].
    pub fn run_folded(&self, parameters: &[f64], size: &[i64], steps: i64) -> Result<DeviceRun> {
        let program = &self.plan.program;
        check_arguments(program, parameters, steps)?;
        let layout = Layout::dense(program, size)?;
        let row = size.last().map_or(1, |&extent| extent.max(1));
        let zeros = |element: ElementType, length: usize| {
            let allocated = match element {
                ElementType::F32 => self.device.zeros(length).map(DeviceArray::F32),
                ElementType::F64 => self.device.zeros(length).map(DeviceArray::F64),
            };
            allocated.map_err(|failure| failure.during("allocate memory"))
        };
        let mut arrays = Vec::new();
        for field in &program.fields {
            arrays.push(zeros(field.element, row as usize * field.role.slots())?);
        }
        let mut series = Vec::new();
        for of in &program.series {
            series.push(zeros(of.element, of.length(steps).max(1) as usize)?);
        }
        let mut launches = Vec::new();
        for_each_launch(&self.plan, &layout, steps, |launch| {
            launches.push(folded(launch, program.dimension(), row));
            Ok(())
        })?;
        let mut spare = Vec::new();
        for field in spare_fields(&self.plan).into_iter().map(|number| &program.fields[number]) {
            spare.push(zeros(field.element, row as usize * field.role.slots())?);
        }
        let addresses = addresses(&mut arrays, &series, &mut spare);
        let seconds = self
            .device
            .seconds(|| launches.iter().try_for_each(|launch| self.launch(launch, &addresses, parameters)))?;
        Ok(DeviceRun { seconds, launches: launches.len() as u64 })
    }

    /// Runs so many time steps on a grid that does not wrap around.
    fn band(
        &self,
        (plan, layout): (&KernelPlan, &Layout),
        parameters: &[f64],
        (arrays, series, spare): (&mut [DeviceArray], &[DeviceArray], &mut [DeviceArray]),
        steps: i64,
        run: &mut DeviceRun,
    ) -> Result<()> {
        for (series, array) in plan.program.series.iter().zip(series) {
            if (array.len() as i64) < series.length(steps) {
                return Err(self.wrong_data(&format!("series `{}` is too short", series.name)));
            }
        }
        let fields = spare_fields(plan);
        if fields.len() != spare.len() {
            return Err(self.wrong_data("spare slots are missing"));
        }
        // They begin with what the others have, which is copied in each run anew.
        run.seconds += self.device.seconds(|| {
            fields
                .iter()
                .zip(spare.iter_mut())
                .try_for_each(|(&field, to)| self.copy_array(&arrays[field], to))
        })?;
        let addresses = addresses(arrays, series, spare);
        let level_stride = layout.level_stride() as i64;
        self.launch_all((plan, layout, level_stride), &addresses, parameters, steps, run)
    }
}

/// The same launch with outer strides of 0 and levels a row apart.
fn folded(launch: &PlannedLaunch, dimension: usize, row: i64) -> PlannedLaunch {
    let mut launch = launch.clone();
    let level_stride = level_stride_of(dimension);
    launch.integers[dimension..level_stride].fill(0);
    launch.integers[level_stride] = row;
    launch
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every address of a folded launch lies in the first row of its level.
    #[test]
    fn folded_launches_keep_extents_and_lose_strides() {
        let integers = |launch: &[i64]| PlannedLaunch { kernel: 0, grid: [1; 3], integers: launch.to_vec() };
        // n0, n1, n2, stride0, stride1, level stride, steps, host variable, lowest block.
        let launch = integers(&[10, 20, 30, 600, 30, 6000, 7, 1, 2]);
        assert_eq!(folded(&launch, 3, 30).integers, [10, 20, 30, 0, 0, 30, 7, 1, 2]);
        let row = integers(&[10, 10, 7, 1, 2]);
        assert_eq!(folded(&row, 1, 10).integers, [10, 10, 7, 1, 2]);
    }
}
