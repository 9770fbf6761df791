//! CUDA kernels on the processor: the text that is shipped, compiled as C++ with a small header, every access
//! checked.
//!
//! Threads of a block are fibers that switch at barriers. Whatever the order in which they run, the emulator
//! finds accesses out of bounds, reads of what nobody wrote, races and divergent barriers; running in several
//! orders also changes the results of kernels that depend on one. Kernels whose warps work on their own (shuffles, links,
//! copies in the background) switch at calls of their warps; then races are judged by what is ordered, and
//! waits that never end are found. See `templates/emulator/`.

mod foreign;
mod report;
mod shim;

pub use report::{EmulatorReport, OtherThread, Violation, ViolationKind};

use crate::around::Around;
use crate::device_program::{DeviceProgram, distances};
use crate::error::Result;
use crate::grid::ProgramData;
use crate::initial::{domains_of, initial_levels, mix, prepare_boundary};
use crate::launches::for_each_launch;
use crate::layout::Layout;
use crate::reference::check_arguments;
use foreign::{FIXED, Functions, INITIALISED, PADDING};
use hhc_codegen::KernelPlan;
use polyhedral::program::{FieldId, FieldRole, Program};
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, Language, SharedObject, SourceText};
use toolchain::interrupt;

/// The header and what it includes: always the first two more, the others where the text asks for them.
const HEADERS: [(&str, &str); 11] = [
    ("tw_emulator.h", include_str!("../../templates/emulator/tw_emulator.h")),
    ("tw_checks.h", include_str!("../../templates/emulator/tw_checks.h")),
    ("tw_fibers.h", include_str!("../../templates/emulator/tw_fibers.h")),
    ("tw_text.h", include_str!("../../templates/emulator/tw_text.h")),
    ("tw_warp_state.h", include_str!("../../templates/emulator/tw_warp_state.h")),
    ("tw_clocks.h", include_str!("../../templates/emulator/tw_clocks.h")),
    ("tw_warp.h", include_str!("../../templates/emulator/tw_warp.h")),
    ("tw_flags.h", include_str!("../../templates/emulator/tw_flags.h")),
    ("tw_primitives.h", include_str!("../../templates/emulator/tw_primitives.h")),
    ("tw_poison.h", include_str!("../../templates/emulator/tw_poison.h")),
    ("portable_exp.h", polyhedral::portable_exp::C_HEADER),
];

/// What runs the kernels, compiled once.
const RUNTIME: &str = include_str!("../../templates/emulator/tw_runtime.cpp");

/// Violations of each kind that a report describes.
const DESCRIBED: usize = 5;

/// The order in which the threads of a block run between two barriers, and the blocks of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThreadOrder {
    /// 0, 1, 2, ...
    Ascending,
    /// ..., 2, 1, 0
    Descending,
    /// A pseudo-random order from this seed, another one after every barrier.
    Shuffled(u64),
}

impl ThreadOrder {
    /// The number of `Order` in `tw_checks.h`.
    fn number(self) -> i32 {
        match self {
            ThreadOrder::Ascending => 0,
            ThreadOrder::Descending => 1,
            ThreadOrder::Shuffled(_) => 2,
        }
    }

    /// The seed of launch number `launch`.
    fn seed(self, launch: u64) -> u64 {
        match self {
            ThreadOrder::Shuffled(seed) => mix(mix(seed) ^ launch),
            _ => 0,
        }
    }
}

/// Which warp of a block goes on where several can, in kernels whose warps work on their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarpPacing {
    /// The first one, as far as it can.
    FirstAhead,
    /// The last one, as far as it can.
    LastAhead,
    /// Each in turn, from one call of its lanes to the next.
    InTurn,
    /// Any, another one after each call; the seed is that of [`ThreadOrder::Shuffled`], or 0.
    Random,
}

impl WarpPacing {
    /// The number of `Pacing` in `tw_checks.h`.
    fn number(self) -> i32 {
        match self {
            WarpPacing::FirstAhead => 0,
            WarpPacing::LastAhead => 1,
            WarpPacing::InTurn => 2,
            WarpPacing::Random => 3,
        }
    }
}

/// An order of execution that a GPU may choose. Made of a [`ThreadOrder`], the pacing goes with it: the first warp
/// ahead, the last one, or random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The order of threads and blocks; in kernels with [`WarpPacing`], that of the lanes of a warp.
    pub order: ThreadOrder,
    /// Which warp goes on.
    pub pacing: WarpPacing,
}

impl Schedule {
    /// Orders that differ as much as they can: every pacing, and every order of threads, with this seed.
    pub fn adversarial(seed: u64) -> [Schedule; 5] {
        let schedule = |order, pacing| Schedule { order, pacing };
        [
            schedule(ThreadOrder::Ascending, WarpPacing::FirstAhead),
            schedule(ThreadOrder::Descending, WarpPacing::LastAhead),
            schedule(ThreadOrder::Descending, WarpPacing::FirstAhead),
            schedule(ThreadOrder::Ascending, WarpPacing::InTurn),
            schedule(ThreadOrder::Shuffled(seed), WarpPacing::Random),
        ]
    }
}

impl From<ThreadOrder> for Schedule {
    fn from(order: ThreadOrder) -> Self {
        let pacing = match order {
            ThreadOrder::Ascending => WarpPacing::FirstAhead,
            ThreadOrder::Descending => WarpPacing::LastAhead,
            ThreadOrder::Shuffled(_) => WarpPacing::Random,
        };
        Schedule { order, pacing }
    }
}

/// The kernels of a plan, compiled for the processor.
#[derive(Debug, Clone)]
pub struct Emulator {
    functions: Functions,
    plan: KernelPlan,
    device: DeviceProgram,
    /// Keeps the file in the cache.
    _object: SharedObject,
}

impl Emulator {
    /// Compiles the kernels of `plan` with the system's C++ compiler, through the user's cache.
    ///
    /// # Errors
    /// As for [`Compiler::find`], [`Cache::open`] and [`Emulator::compile_with`].
    pub fn compile(plan: &KernelPlan, device: &DeviceProgram) -> Result<Emulator> {
        Emulator::compile_with(plan, device, &Compiler::find(Language::Cxx)?, &Cache::open()?)
    }

    /// Compiles the kernels of `plan` with this C++ compiler and cache.
    ///
    /// # Errors
    /// [`crate::ExecutionError::Plan`] where the text has not one kernel for each of the plan's;
    /// [`toolchain::Error::CompilerFailed`]; [`toolchain::Error::Load`].
    pub fn compile_with(
        plan: &KernelPlan,
        device: &DeviceProgram,
        compiler: &Compiler,
        cache: &Arc<Cache>,
    ) -> Result<Emulator> {
        device.check(plan)?;
        let sources = [
            SourceText::new("emulator.cpp", shim::text(plan, device)),
            SourceText::new(shim::DEVICE_FILE, device.source.clone()),
        ];
        let settings = SourceText::new(shim::SETTINGS_FILE, shim::settings(&device.source));
        let runtime = SourceText::new("tw_runtime.cpp", RUNTIME);
        let headers = HEADERS.map(|(name, text)| SourceText::new(name, text));
        let options = CompileOptions {
            optimization: 1,
            quick: true,
            openmp: false,
            native: false,
            // Kernels are unrolled for a GPU by pragmas that a C++ compiler need not know.
            arguments: ["-fvisibility=hidden", "-Wno-unknown-pragmas"].map(str::to_owned).to_vec(),
            ..CompileOptions::default()
        };
        let common = compiler.compile_common(Some(&settings), &runtime, &headers, &options, cache)?;
        let object = compiler.compile_shared_on(&[common], &sources, &options, cache)?;
        let functions = Functions::load(&object.path())?;
        Ok(Emulator { functions, plan: plan.clone(), device: device.clone(), _object: object })
    }

    /// Runs `steps` time steps from the initial levels in `data` and leaves the newest levels there. The
    /// boundary is prepared first.
    ///
    /// A run with violations goes on: reads of what has no value give NaN, writes outside an array do nothing, and a
    /// block in which lanes or warps wait for what never comes is given up.
    ///
    /// # Errors
    /// [`crate::ExecutionError::WrongParameters`], [`crate::ExecutionError::WrongSteps`], [`crate::ExecutionError::WrongData`],
    /// [`crate::ExecutionError::OutOfMemory`], [`crate::ExecutionError::Plan`], and [`crate::ExecutionError::Interrupted`]
    /// between launches; `data` then have no meaning.
    pub fn run(
        &self,
        parameters: &[f64],
        data: &mut ProgramData,
        steps: i64,
        schedule: impl Into<Schedule>,
    ) -> Result<EmulatorReport> {
        let schedule = schedule.into();
        let program = &*self.plan.program;
        check_arguments(program, parameters, steps)?;
        prepare_boundary(program, data)?;
        data.check_steps(program, steps)?;
        let Some(around) = Around::of(&self.plan, data.size())? else {
            return self.band(&self.plan, parameters, data, steps, schedule);
        };
        let mut wide = around.widen(data)?;
        let mut report = EmulatorReport::default();
        for (done, now) in around.bands(steps) {
            if done > 0 {
                around.refresh(&mut wide);
            }
            around.series(data, &mut wide, done, now)?;
            prepare_boundary(&around.plan.program, &mut wide)?;
            report.add(self.band(&around.plan, parameters, &mut wide, now, schedule)?);
        }
        around.narrow(&wide, data, steps);
        Ok(report)
    }

    /// All steps on a grid that does not wrap around, whose boundary is prepared.
    fn band(
        &self,
        plan: &KernelPlan,
        parameters: &[f64],
        data: &mut ProgramData,
        steps: i64,
        Schedule { order, pacing }: Schedule,
    ) -> Result<EmulatorReport> {
        let program = &*plan.program;
        let layout = data.layout().clone();
        let fields = (0..program.fields.len()).map(|field| element_flags(program, FieldId(field), &layout));
        let series = data.lengths().split_off(program.fields.len());
        let mut flags: Vec<Vec<u8>> =
            fields.chain(series.iter().map(|&length| vec![INITIALISED | FIXED; length])).collect();
        // Spare slots hold what the others hold, and what is known of those.
        let changing = |field: &usize| program.fields[*field].role != FieldRole::Coefficient;
        let spare: Vec<usize> = match plan.has_spare_slots() {
            true => (0..program.fields.len()).filter(changing).collect(),
            false => Vec::new(),
        };
        flags.extend(spare.iter().map(|&field| flags[field].clone()).collect::<Vec<_>>());
        let mut copy = if spare.is_empty() { None } else { Some(data.try_clone()?) };
        let spare = copy.as_mut().map(|copy| (copy, &spare[..]));
        let mut session = self.functions.begin((data, spare), &flags, DESCRIBED)?;
        let mut number = 0;
        for_each_launch(plan, &layout, steps, |launch| {
            interrupt::check()?;
            number += 1;
            let kernel = &self.device.kernels[launch.kernel];
            let ways = distances(kernel.takes_ways, &self.device.ways, launch.strides(layout.size().len()));
            let order = (order.number(), pacing.number(), order.seed(number));
            session.launch(kernel, launch, parameters, &ways, order)
        })?;
        let (counts, violations) = session.results();
        Ok(EmulatorReport::new(plan, &layout, counts, &violations))
    }
}

/// What is known of each element of a field before the first launch, all slots.
fn element_flags(program: &Program, field: FieldId, layout: &Layout) -> Vec<u8> {
    let stored = program.field(field).role.slots();
    let mut flags = vec![PADDING; stored * layout.level_stride()];
    let domains = domains_of(program, field, layout.size());
    let coefficient = program.field(field).role == FieldRole::Coefficient;
    let given: Vec<usize> =
        initial_levels(program, field).map(|level| program.slot_of_level(field, level)).collect();
    for slot in 0..stored {
        let inside = match program.field(field).role {
            FieldRole::Coefficient => INITIALISED | FIXED,
            FieldRole::State { .. } if given.contains(&slot) => INITIALISED,
            FieldRole::State { .. } => 0,
        };
        let level = &mut flags[slot * layout.level_stride()..][..layout.level_stride()];
        for segment in layout.segments(0..layout.points()) {
            for (column, flag) in (segment.column..).zip(&mut level[segment.elements()]) {
                let changes = coefficient
                    || domains.iter().any(|domain| in_domain(segment.row, column, layout.size(), domain));
                *flag = if changes { inside } else { INITIALISED | FIXED };
            }
        }
    }
    flags
}

/// Whether the point in this row and column lies in the box.
fn in_domain(mut row: usize, column: usize, size: &[i64], domain: &[(i64, i64)]) -> bool {
    let inside = |position: usize, (first, end): (i64, i64)| (first..end).contains(&(position as i64));
    let outer = size.len() - 1;
    inside(column, domain[outer])
        && (0..outer).rev().all(|d| {
            let position = row % size[d] as usize;
            row /= size[d] as usize;
            inside(position, domain[d])
        })
}
