//! A plan on a device: kernels compiled by NVRTC and loaded, arrays copied there and back, launches timed.
#![allow(unsafe_code)]

mod levels;

pub use levels::{FieldOnDevice, LevelOnDevice, LevelsOnDevice};

use crate::around::Around;
use crate::device_program::{DeviceProgram, distances};
use crate::error::{ExecutionError, Result};
use crate::grid::{ProgramData, ValuesMut, ValuesRef};
use crate::initial::prepare_boundary;
use crate::launches::{PlannedLaunch, for_each_launch};
use crate::layout::Layout;
use crate::reference::check_arguments;
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::cuda::DeviceLimits;
use polyhedral::program::{ElementType, FieldId, SeriesId};
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::driver::{Array, Device, DeviceFacts, Kernel, Shape};
use toolchain::interrupt;
use toolchain::nvrtc::{CompiledCuda, CudaOptions, Nvrtc};

/// What generated code may use on a device.
pub fn limits(device: &DeviceFacts) -> DeviceLimits {
    DeviceLimits {
        device: device.name.clone(),
        shared_bytes_per_block: i64::try_from(device.shared_bytes_per_block).unwrap_or(i64::MAX),
        threads_per_block: device.threads_per_block.into(),
    }
}

/// The kernels of a plan, loaded on a device.
#[derive(Debug)]
pub struct CudaProgramOnDevice {
    device: Device,
    plan: KernelPlan,
    program: DeviceProgram,
    functions: Vec<Kernel>,
    compiled: CompiledCuda,
}

/// The arrays of a program on a device.
#[derive(Debug)]
pub struct DeviceData {
    layout: Layout,
    arrays: Vec<DeviceArray>,
    series: Vec<DeviceArray>,
    /// Of a periodic program: where the arrays have ghost zones, and the values of series, which bands take parts of.
    around: Option<Box<Bands>>,
}

/// A periodic program on a device.
#[derive(Debug)]
struct Bands {
    around: Around,
    /// A grid with ghost zones on the host.
    wide: ProgramData,
    /// The grid as it was given, with all series.
    given: ProgramData,
    /// Steps that were done since the initial levels.
    steps: i64,
}

#[derive(Debug)]
enum DeviceArray {
    F32(Array<f32>),
    F64(Array<f64>),
}

/// What a run on a device tells.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRun {
    /// Seconds from the first launch to the end of the last, measured by the device.
    pub seconds: f64,
    /// Kernel launches.
    pub launches: u64,
}

impl CudaProgramOnDevice {
    /// Compiles the kernels of `plan` for the device with the newest NVRTC that its driver supports, and
    /// loads them.
    ///
    /// # Errors
    /// Those of NVRTC and of the driver, and [`ExecutionError::Plan`] where a kernel needs more threads, registers or shared memory than there are.
    pub fn load(
        device: &Device,
        plan: &KernelPlan,
        program: &DeviceProgram,
        contraction: bool,
        cache: &Arc<Cache>,
    ) -> Result<CudaProgramOnDevice> {
        program.check(plan)?;
        let facts = device.facts();
        let nvrtc = Nvrtc::for_driver(facts.architecture, device.driver_major())?;
        let options = CudaOptions { contraction, ..CudaOptions::new(facts.architecture) };
        let name = format!("{}.cu", plan.program.name);
        let compiled = nvrtc.compile(&program.source, &name, &options, cache)?;
        let module = device.load(&compiled.cubin).map_err(|failure| failure.during("load the kernels"))?;
        let mut functions = Vec::with_capacity(program.kernels.len());
        for kernel in &program.kernels {
            let function = module.kernel(&kernel.symbol)?;
            let threads = kernel.threads_per_block();
            let allowed = function.max_threads()?;
            if threads > allowed {
                return Err(ExecutionError::Plan(format!(
                    "`{}` has blocks of {threads} threads, and its registers allow {allowed} on {}",
                    kernel.symbol, facts.name
                )));
            }
            if kernel.shared_bytes > facts.shared_bytes_per_block {
                return Err(ExecutionError::Plan(format!(
                    "`{}` needs {} bytes of shared memory per block, and {} has {}; use smaller tiles",
                    kernel.symbol, kernel.shared_bytes, facts.name, facts.shared_bytes_per_block
                )));
            }
            function.reserve_shared(kernel.shared_bytes)?;
            functions.push(function);
        }
        Ok(CudaProgramOnDevice {
            device: device.clone(),
            plan: plan.clone(),
            program: program.clone(),
            functions,
            compiled,
        })
    }

    /// The compiler's results.
    pub fn compiled(&self) -> &CompiledCuda {
        &self.compiled
    }

    /// Copies `data` to the device; their boundary is prepared first.
    ///
    /// # Errors
    /// [`ExecutionError::WrongData`]; [`ExecutionError::OutOfMemory`] where the device has too little memory;
    /// [`toolchain::Error::Device`].
    pub fn upload(&self, data: &mut ProgramData) -> Result<DeviceData> {
        prepare_boundary(&self.plan.program, data)?;
        let free = self.device.free_memory()?;
        if data.bytes() > free {
            return Err(ExecutionError::OutOfMemory {
                bytes: data.bytes().into(),
                available: Some(free.into()),
            });
        }
        let copy = |values: ValuesRef<'_>| self.copied(values);
        if let Some(around) = Around::of(&self.plan, data.size())? {
            let wide = around.widen(data)?;
            let arrays = wide.fields().iter().map(|field| copy(field.values.view()));
            return Ok(DeviceData {
                arrays: arrays.collect::<toolchain::Result<_>>()?,
                series: Vec::new(),
                layout: data.layout().clone(),
                around: Some(Box::new(Bands { around, wide, given: data.try_clone()?, steps: 0 })),
            });
        }
        let arrays = data.fields().iter().map(|field| copy(field.values.view()));
        let series = (0..self.plan.program.series.len()).map(|number| copy(data.series(SeriesId(number))));
        Ok(DeviceData {
            around: None,
            arrays: arrays.collect::<toolchain::Result<_>>()?,
            series: series.collect::<toolchain::Result<_>>()?,
            layout: data.layout().clone(),
        })
    }

    /// Copies the initial levels of `data` to the device once more, for another run.
    ///
    /// # Errors
    /// [`toolchain::Error::Device`]; [`ExecutionError::WrongData`] for data in another layout.
    pub fn refill(&self, data: &ProgramData, on_device: &mut DeviceData) -> Result<()> {
        self.check(data, on_device)?;
        match &mut on_device.around {
            None => self.refill_arrays(data, &mut on_device.arrays),
            Some(bands) => {
                bands.around.refill(data, &mut bands.wide);
                bands.steps = 0;
                self.refill_arrays(&bands.wide, &mut on_device.arrays)
            }
        }
    }

    fn refill_arrays(&self, data: &ProgramData, arrays: &mut [DeviceArray]) -> Result<()> {
        let device = &self.device;
        for (field, array) in data.fields().iter().zip(arrays) {
            let copied = match (field.values.view(), array) {
                (ValuesRef::F32(from), DeviceArray::F32(to)) => device.refill(from, to),
                (ValuesRef::F64(from), DeviceArray::F64(to)) => device.refill(from, to),
                _ => return Err(self.wrong_data("the element types differ")),
            };
            copied.map_err(|failure| failure.during("copy the grid to the device"))?;
        }
        Ok(())
    }

    /// A second copy of the arrays on the device, to start from again; `None` where it has no memory for one.
    ///
    /// # Errors
    /// [`toolchain::Error::Device`].
    pub fn duplicate(&self, on_device: &DeviceData) -> Result<Option<DeviceData>> {
        if on_device.bytes() > self.device.free_memory()? {
            return Ok(None);
        }
        let device = &self.device;
        let copy = |array: &DeviceArray| {
            let copied = match array {
                DeviceArray::F32(array) => device.duplicate(array).map(DeviceArray::F32),
                DeviceArray::F64(array) => device.duplicate(array).map(DeviceArray::F64),
            };
            copied.map_err(|failure| failure.during("copy the grid on the device"))
        };
        Ok(Some(DeviceData {
            arrays: on_device.arrays.iter().map(copy).collect::<toolchain::Result<_>>()?,
            series: on_device.series.iter().map(copy).collect::<toolchain::Result<_>>()?,
            layout: on_device.layout.clone(),
            // To be restored from, not to run.
            around: None,
        }))
    }

    /// Copies the fields of `from` over those of `to`, on the device.
    ///
    /// # Errors
    /// [`toolchain::Error::Device`]; [`ExecutionError::WrongData`] for data in another layout.
    pub fn restore(&self, from: &DeviceData, to: &mut DeviceData) -> Result<()> {
        if from.layout != to.layout {
            return Err(self.wrong_data("the layouts differ"));
        }
        for (from, to) in from.arrays.iter().zip(&mut to.arrays) {
            let copied = match (from, to) {
                (DeviceArray::F32(from), DeviceArray::F32(to)) => self.device.copy(from, to),
                (DeviceArray::F64(from), DeviceArray::F64(to)) => self.device.copy(from, to),
                _ => return Err(self.wrong_data("the element types differ")),
            };
            copied.map_err(|failure| failure.during("copy the grid on the device"))?;
        }
        if let Some(bands) = &mut to.around {
            bands.steps = 0;
        }
        Ok(())
    }

    /// Copies all arrays back.
    ///
    /// # Errors
    /// As for [`CudaProgramOnDevice::refill`].
    pub fn download(&self, on_device: &DeviceData, data: &mut ProgramData) -> Result<()> {
        self.check(data, on_device)?;
        let Some(bands) = &on_device.around else { return self.download_arrays(&on_device.arrays, data) };
        let mut wide = bands.wide.try_clone()?;
        self.download_arrays(&on_device.arrays, &mut wide)?;
        bands.around.narrow(&wide, data, bands.steps);
        Ok(())
    }

    fn download_arrays(&self, arrays: &[DeviceArray], data: &mut ProgramData) -> Result<()> {
        let device = &self.device;
        for (number, array) in arrays.iter().enumerate() {
            let copied = match (array, data.values_mut(FieldId(number))) {
                (DeviceArray::F32(from), ValuesMut::F32(to)) => device.download(from, to),
                (DeviceArray::F64(from), ValuesMut::F64(to)) => device.download(from, to),
                _ => return Err(self.wrong_data("the element types differ")),
            };
            copied.map_err(|failure| failure.during("copy the grid from the device"))?;
        }
        Ok(device.finish().map_err(|failure| failure.during("copy the grid from the device"))?)
    }

    fn check(&self, data: &ProgramData, on_device: &DeviceData) -> Result<()> {
        data.check(&self.plan.program)?;
        if *data.layout() == on_device.layout { Ok(()) } else { Err(self.wrong_data("the layouts differ")) }
    }

    fn wrong_data(&self, problem: &str) -> ExecutionError {
        ExecutionError::WrongData { program: self.plan.program.name.clone(), problem: problem.to_owned() }
    }

    /// Blocks that a multiprocessor holds at once: the least over the kernels, at least 1.
    ///
    /// # Errors
    /// [`toolchain::Error::Device`].
    pub fn resident_blocks(&self) -> Result<i64> {
        let mut least = i64::MAX;
        for (function, kernel) in self.functions.iter().zip(&self.program.kernels) {
            let threads = u32::try_from(kernel.threads_per_block()).unwrap_or(u32::MAX);
            least = least.min(i64::from(function.resident_blocks(threads, kernel.shared_bytes as usize)?));
        }
        Ok(if least == i64::MAX { 1 } else { least.max(1) })
    }

    /// Seconds and launches of `steps` time steps on a *folded* grid: all grid rows are one row in memory, which the
    /// caches hold, so that what remains is the body and its shared memory. The values that it computes mean nothing.
    /// In one dimension nothing is folded: the grid has to be small.
    ///
    /// # Errors
    /// [`ExecutionError::WrongSize`], [`toolchain::Error::Device`], [`ExecutionError::Interrupted`].
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
        let addresses = addresses(&mut arrays, &series);
        let seconds = self
            .device
            .seconds(|| launches.iter().try_for_each(|launch| self.launch(launch, &addresses, parameters)))?;
        Ok(DeviceRun { seconds, launches: launches.len() as u64 })
    }

    /// Runs `steps` time steps from the initial levels on the device, and leaves the newest levels there.
    ///
    /// # Errors
    /// [`ExecutionError::WrongParameters`], [`ExecutionError::WrongSteps`], [`ExecutionError::Plan`],
    /// [`toolchain::Error::Device`], [`ExecutionError::Interrupted`].
    pub fn run(&self, parameters: &[f64], data: &mut DeviceData, steps: i64) -> Result<DeviceRun> {
        check_arguments(&self.plan.program, parameters, steps)?;
        interrupt::check()?;
        let DeviceData { layout, arrays, series, around } = data;
        let mut run = DeviceRun { seconds: 0.0, launches: 0 };
        let Some(bands) = around else {
            self.band((&self.plan, layout), parameters, (arrays, series), steps, &mut run)?;
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
                (arrays, &series),
                now,
                &mut run,
            )?;
        }
        bands.steps = steps;
        Ok(run)
    }

    fn copied(&self, values: ValuesRef<'_>) -> toolchain::Result<DeviceArray> {
        let copied = match values {
            ValuesRef::F32(values) => self.device.upload(values).map(DeviceArray::F32),
            ValuesRef::F64(values) => self.device.upload(values).map(DeviceArray::F64),
        };
        copied.map_err(|failure| failure.during("copy the grid to the device"))
    }

    /// Runs so many time steps on a grid that does not wrap around.
    fn band(
        &self,
        (plan, layout): (&KernelPlan, &Layout),
        parameters: &[f64],
        (arrays, series): (&mut [DeviceArray], &[DeviceArray]),
        steps: i64,
        run: &mut DeviceRun,
    ) -> Result<()> {
        for (series, array) in plan.program.series.iter().zip(series) {
            if (array.len() as i64) < series.length(steps) {
                return Err(self.wrong_data(&format!("series `{}` is too short", series.name)));
            }
        }
        let addresses = addresses(arrays, series);
        let level_stride = layout.level_stride() as i64;
        self.launch_all((plan, layout, level_stride), &addresses, parameters, steps, run)
    }

    /// Launches all kernels of a run. Each slot of a field lies `level_stride` elements, of its own type, after the one
    /// before it.
    fn launch_all(
        &self,
        (plan, layout, level_stride): (&KernelPlan, &Layout, i64),
        addresses: &[u64],
        parameters: &[f64],
        steps: i64,
        run: &mut DeviceRun,
    ) -> Result<()> {
        let mut batch = Batch { launches: Vec::new(), size: FIRST_BATCH };
        let mut launched = |batch: &mut Batch| {
            let seconds = self.device.seconds(|| {
                batch.launches.iter().try_for_each(|launch| {
                    interrupt::check()?;
                    self.launch(launch, addresses, parameters)
                })
            })?;
            run.seconds += seconds;
            run.launches += batch.launches.len() as u64;
            batch.next(seconds);
            Ok::<(), ExecutionError>(interrupt::check()?)
        };
        for_each_launch(plan, layout, steps, |launch| {
            let mut launch = launch.clone();
            launch.integers[level_stride_of(layout.size().len())] = level_stride;
            batch.launches.push(launch);
            if batch.launches.len() >= batch.size { launched(&mut batch) } else { Ok(()) }
        })?;
        launched(&mut batch)
    }

    /// Launches a kernel on the arrays of all fields and series, by their addresses.
    fn launch(&self, launch: &PlannedLaunch, addresses: &[u64], parameters: &[f64]) -> Result<()> {
        let kernel = &self.program.kernels[launch.kernel];
        let (before, after) = launch
            .integers
            .split_at(PlannedLaunch::integers_before_parameters(self.plan.program.dimension()));
        let strides = launch.strides(self.plan.program.dimension());
        let ways = distances(kernel.takes_ways, &self.program.ways, strides);
        let mut builder = self.device.launch(&self.functions[launch.kernel]);
        for address in addresses {
            builder.address(address);
        }
        for integer in before {
            builder.value(integer);
        }
        for parameter in parameters {
            builder.value(parameter);
        }
        for integer in after {
            builder.value(integer);
        }
        builder.values(&ways);
        let shape =
            Shape { grid: launch.grid, block: kernel.threads, shared_bytes: kernel.shared_bytes as u32 };
        // SAFETY: the arguments are those of `docs/cuda-contract.md`, which the text was generated for; the
        // arrays have the layout that the integers describe, and the plan was proved to stay within it.
        let started = unsafe { builder.start(shape) };
        Ok(started.map_err(|failure| failure.during(&format!("launch {}", kernel.symbol)))?)
    }
}

/// Where all arrays lie, in the order of the arguments of kernels. Kernels change them: nobody else may hold them.
fn addresses(arrays: &mut [DeviceArray], series: &[DeviceArray]) -> Vec<u64> {
    arrays.iter().chain(series).map(DeviceArray::address).collect()
}

/// Which integer of a launch is the level stride: after extents and outer strides.
fn level_stride_of(dimension: usize) -> usize {
    2 * dimension - 1
}

/// Launches that are evaluated before time is measured, and then queued without a pause. A run is one batch after
/// another, the device idle between them, so that a run of any length fits in memory and stops soon when asked to; one
/// kernel cannot be stopped.
struct Batch {
    launches: Vec<PlannedLaunch>,
    size: usize,
}

/// Launches of the first batch.
const FIRST_BATCH: usize = 32;
/// Most launches of a batch.
const LARGEST_BATCH: usize = 1 << 16;
/// Wanted length of a batch in seconds.
const BATCH_SECONDS: f64 = 0.3;

impl Batch {
    /// Begins the next one, which is to take as long as wanted at the pace of this one.
    fn next(&mut self, seconds: f64) {
        let fitting = self.launches.len() as f64 * BATCH_SECONDS / seconds.max(1e-6);
        self.size = (fitting as usize).clamp(1, (self.size * 8).min(LARGEST_BATCH));
        self.launches.clear();
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

impl DeviceArray {
    fn len(&self) -> usize {
        match self {
            DeviceArray::F32(array) => array.len(),
            DeviceArray::F64(array) => array.len(),
        }
    }

    fn address(&self) -> u64 {
        match self {
            DeviceArray::F32(array) => array.address(),
            DeviceArray::F64(array) => array.address(),
        }
    }
}

impl DeviceData {
    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        let bytes = |array: &DeviceArray| match array {
            DeviceArray::F32(array) => array.bytes(),
            DeviceArray::F64(array) => array.bytes(),
        };
        self.arrays.iter().map(bytes).sum::<usize>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_pace() {
        let launch = PlannedLaunch { kernel: 0, grid: [1; 3], integers: vec![] };
        let mut batch = Batch { launches: vec![launch.clone(); FIRST_BATCH], size: FIRST_BATCH };
        batch.next(1e-3);
        assert_eq!((batch.launches.len(), batch.size), (0, 8 * FIRST_BATCH));
        batch.launches = vec![launch; 100];
        batch.next(30.0);
        assert_eq!(batch.size, 1);
        batch.next(0.0);
        assert_eq!(batch.size, 1);
    }

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
