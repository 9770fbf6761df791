//! Generated CUDA on a GPU: kernels by NVRTC and the driver, what the host does around them by the C++ compiler.
//!
//! The text of the host asks for memory, copies and launches through a table of functions, which are those below. What they are given
//! comes from text that this crate made for the same program: addresses that they handed out themselves, and arguments as the
//! kernels have them.
#![allow(unsafe_code)]

use crate::cuda::{GeneratedCuda, RUNTIME, RUNTIME_FILE};
use crate::data::{Inputs, Output};
use crate::native::{Native, RawReport, RawSlot, RunError};
use crate::program::Program;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::time::Instant;
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, SourceText};
use toolchain::driver::{Array, Device, Failure, HostMemory, Kernel, Shape};
use toolchain::interrupt::Blocking;
use toolchain::nvrtc::{CudaOptions, Nvrtc};

/// `tw_machine`
#[repr(C)]
struct RawMachine {
    own: *mut c_void,
    most_blocks: i64,
    take: extern "C" fn(*mut c_void, i64, c_int) -> *mut c_void,
    give_back: extern "C" fn(*mut c_void, *mut c_void, c_int),
    copy: extern "C" fn(*mut c_void, *mut c_void, *const c_void, i64) -> c_int,
    launch: extern "C" fn(*mut c_void, c_int, i64, c_int, c_int, *mut *mut c_void) -> c_int,
    wait: extern "C" fn(*mut c_void) -> c_int,
}

/// Most blocks of a launch, which go on with further items; as `TW_CUDA_MACHINE` has it.
const MOST_BLOCKS: i64 = 1 << 20;
/// What a report has where the device failed.
const FAILED: i64 = -2;

type Use = unsafe extern "C" fn(*const RawMachine);
type Open = unsafe extern "C" fn(*const RawSlot, *mut RawReport) -> *mut c_void;
type Step = unsafe extern "C" fn(*mut c_void, *mut RawReport) -> c_int;
type Results = unsafe extern "C" fn(*mut c_void, *mut RawSlot, *mut RawReport) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void);

/// A device with what a program has on it.
struct Machine {
    device: Device,
    kernels: Vec<(Kernel, usize)>,
    /// Arrays by their addresses.
    arrays: BTreeMap<u64, Array<u8>>,
    numbers: BTreeMap<u64, HostMemory>,
    /// What went wrong first.
    failure: Option<toolchain::Error>,
}

impl Machine {
    /// 0, or 1 where something failed, which is kept.
    fn done(&mut self, result: Result<(), Failure>, action: &str) -> c_int {
        let Err(failure) = result else { return 0 };
        self.failure.get_or_insert(failure.during(action));
        1
    }

    /// The array of the device in which so many bytes lie, and where in it.
    fn holder(&mut self, address: u64, bytes: usize) -> Option<(&mut Array<u8>, usize)> {
        let (first, array) = self.arrays.range_mut(..=address).next_back()?;
        let inside = usize::try_from(address - first).ok()?;
        (inside.checked_add(bytes)? <= array.len()).then_some((array, inside))
    }

    /// # Safety
    /// `own` is that of the table which this machine made, and nobody else uses the machine now.
    unsafe fn of<'a>(own: *mut c_void) -> &'a mut Machine {
        // SAFETY: the caller vouches for it.
        unsafe { &mut *own.cast::<Machine>() }
    }
}

extern "C" fn take(own: *mut c_void, bytes: i64, both: c_int) -> *mut c_void {
    // SAFETY: generated code, which calls this, hands back the pointer of its table.
    let machine = unsafe { Machine::of(own) };
    let bytes = usize::try_from(bytes).unwrap_or(0).max(1);
    // That there is no memory is said by the caller.
    let address = match both {
        0 => machine.device.zeros(bytes).ok().map(|array| {
            let address = array.address();
            machine.arrays.insert(address, array);
            address
        }),
        _ => machine.device.host_memory(bytes).ok().map(|memory| {
            let address = memory.address();
            machine.numbers.insert(address, memory);
            address
        }),
    };
    address.unwrap_or(0) as *mut c_void
}

extern "C" fn give_back(own: *mut c_void, memory: *mut c_void, _both: c_int) {
    // SAFETY: as before.
    let machine = unsafe { Machine::of(own) };
    let address = memory as u64;
    machine.arrays.remove(&address);
    machine.numbers.remove(&address);
}

extern "C" fn copy(own: *mut c_void, to: *mut c_void, from: *const c_void, bytes: i64) -> c_int {
    // SAFETY: as before.
    let machine = unsafe { Machine::of(own) };
    let bytes = usize::try_from(bytes).unwrap_or(0);
    let device = machine.device.clone();
    let result = if let Some((array, inside)) = machine.holder(to as u64, bytes) {
        // SAFETY: generated code copies from memory of the host that has as many bytes.
        let values = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) };
        device.refill_from(values, array, inside)
    } else if let Some((array, inside)) = machine.holder(from as u64, bytes) {
        // SAFETY: as before, and nobody else uses it now.
        let values = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), bytes) };
        device.download_from(array, inside, values)
    } else {
        let done = device.finish();
        // SAFETY: both are memory of the host, with as many bytes.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
        done
    };
    let result = result.and_then(|()| device.finish());
    machine.done(result, "copy arrays")
}

extern "C" fn launch(
    own: *mut c_void,
    kernel: c_int,
    blocks: i64,
    threads: c_int,
    shared_bytes: c_int,
    arguments: *mut *mut c_void,
) -> c_int {
    // SAFETY: as before.
    let machine = unsafe { Machine::of(own) };
    let device = machine.device.clone();
    let Some((function, count)) = usize::try_from(kernel).ok().and_then(|kernel| machine.kernels.get(kernel))
    else {
        return 1;
    };
    let number = |value: i64| u32::try_from(value).unwrap_or(0);
    let shape = Shape {
        grid: [number(blocks), 1, 1],
        block: [number(threads.into()), 1, 1],
        shared_bytes: number(shared_bytes.into()),
    };
    let result = {
        let mut own = device.launch(function);
        for place in 0..*count {
            // SAFETY: there are as many arguments as the kernel has, and each lives until this returns; the driver copies as many
            // bytes as the kernel says.
            own.values(unsafe { std::slice::from_raw_parts((*arguments.add(place)).cast::<u8>(), 1) });
        }
        // SAFETY: kernels and arguments are from one text, whose kernels stay within the arrays that they are given.
        unsafe { own.start(shape) }
    };
    machine.done(result, "start a kernel")
}

extern "C" fn wait(own: *mut c_void) -> c_int {
    // SAFETY: as before.
    let machine = unsafe { Machine::of(own) };
    let result = machine.device.finish();
    machine.done(result, "finish the kernels")
}

/// A program on a GPU.
pub struct OnDevice {
    native: Native,
    /// The host's text has the table's address, and the table that of the machine.
    table: Box<RawMachine>,
    open: Open,
    step: Step,
    results: Results,
    close: Close,
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        // SAFETY: it was made of a box, and nobody uses it any more.
        drop(unsafe { Box::from_raw(self.table.own.cast::<Machine>()) });
    }
}

impl OnDevice {
    /// Compiles generated CUDA for a device, and loads it.
    ///
    /// # Errors
    /// [`RunError::Toolchain`]: no NVRTC for this device, a compiler that fails, what the driver says.
    pub fn build(
        program: &Program,
        generated: GeneratedCuda,
        device: &Device,
        compiler: &Compiler,
        (checked, fast): (bool, bool),
        cache: &Arc<Cache>,
    ) -> Result<OnDevice, RunError> {
        let facts = device.facts();
        let nvrtc = Nvrtc::for_driver(facts.architecture, device.driver_major())?;
        let options = CudaOptions { contraction: fast, ..CudaOptions::new(facts.architecture) };
        let unchecked = if checked { "" } else { "#define TW_UNCHECKED 1\n" };
        let source = format!("{unchecked}{}", generated.device_text());
        let compiled = nvrtc.compile(&source, &format!("{}.cu", program.name), &options, cache)?;
        let module = device.load(&compiled.cubin).map_err(|failure| failure.during("load the kernels"))?;
        let mut kernels = Vec::with_capacity(generated.kernels.len());
        for (name, arguments) in &generated.kernels {
            kernels.push((module.kernel(name)?, *arguments));
        }
        let mut arguments = vec!["-DTW_HOST_ONLY=1".to_owned()];
        if !checked {
            arguments.push("-DTW_UNCHECKED=1".to_owned());
        }
        let options = CompileOptions {
            optimization: 1,
            openmp: false,
            contraction: fast,
            arguments,
            ..CompileOptions::default()
        };
        let sources = [
            SourceText::new("program.cpp", generated.generated.text.clone()),
            SourceText::new(RUNTIME_FILE, RUNTIME),
        ];
        let object = compiler.compile_shared(&sources, &options, cache)?;
        let symbol = generated.generated.symbol.clone();
        let native = Native::load(program, generated.generated, object)?;
        let machine = Machine {
            device: device.clone(),
            kernels,
            arrays: BTreeMap::new(),
            numbers: BTreeMap::new(),
            failure: None,
        };
        let own = Box::into_raw(Box::new(machine)).cast();
        let table =
            Box::new(RawMachine { own, most_blocks: MOST_BLOCKS, take, give_back, copy, launch, wait });
        // SAFETY: `templates/cuda_entry.h` gives these names to functions of these types; so for all of them.
        let (set, open, step, results, close) = unsafe {
            let library = native.library();
            (
                library.function::<Use>(&format!("{symbol}_use"))?,
                library.function::<Open>(&format!("{symbol}_open"))?,
                library.function::<Step>(&format!("{symbol}_run"))?,
                library.function::<Results>(&format!("{symbol}_results"))?,
                library.function::<Close>(&format!("{symbol}_close"))?,
            )
        };
        // SAFETY: the table lives as long as the library is used.
        unsafe { set(&raw const *table) };
        Ok(OnDevice { native, table, open, step, results, close })
    }

    /// Runs the program, once more than it is timed: the results, and the seconds of each run, in which arrays stay on the device.
    ///
    /// # Errors
    /// What is wrong with the data, and what the driver says.
    pub fn run(&self, inputs: &Inputs, timed: usize) -> Result<(Vec<Output>, Vec<f64>), RunError> {
        let _blocking = Blocking::enter().map_err(|_| RunError::Interrupted)?;
        let mut prepared = self.native.prepare(inputs)?;
        let mut report = RawReport::NOTHING;
        let mut seconds = Vec::new();
        let slots = prepared.slots().as_mut_ptr();
        // SAFETY: there are as many slots as the program has arrays; those that are given point to arrays of the types and lengths
        // that the program expects.
        let session = unsafe { (self.open)(slots, &mut report) };
        if session.is_null() {
            return Err(self.error(&report));
        }
        let mut wrong = 0;
        for round in 0..=timed {
            let start = Instant::now();
            // SAFETY: the session is open.
            wrong = unsafe { (self.step)(session, &mut report) };
            if wrong != 0 {
                break;
            }
            if round > 0 {
                seconds.push(start.elapsed().as_secs_f64());
            }
        }
        if wrong == 0 {
            // SAFETY: as before; the slots are those of the program.
            wrong = unsafe { (self.results)(session, slots, &mut report) };
        }
        // SAFETY: it is not used any more.
        unsafe { (self.close)(session) };
        match wrong {
            0 => Ok((prepared.outputs(), seconds)),
            _ => Err(self.error(&report)),
        }
    }

    fn error(&self, report: &RawReport) -> RunError {
        // SAFETY: no generated code runs now.
        let machine = unsafe { Machine::of(self.table.own) };
        match machine.failure.take() {
            Some(failure) if report.check <= 0 => failure.into(),
            _ if report.check == FAILED => toolchain::Error::Device {
                action: "run the program".to_owned(),
                reason: "it failed".to_owned(),
            }
            .into(),
            _ => report.error(self.native.generated()),
        }
    }
}
