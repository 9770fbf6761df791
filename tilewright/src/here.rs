//! This computer as a machine for the models, where none is named: measured once, quickly, and kept.
//!
//! In this order: the machine that `$TILEWRIGHT_MACHINE` names; `@here`, which `calibrate` writes, if it was made on this
//! processor; what was measured at first use, kept under the processor's own name; a measurement now. Where none of them
//! can be had, another CPU stands in, and [`Here::caution`] says so. What was measured while others were at work is measured
//! again when they are not.

use crate::cpu_model::{usable_threads, usual_machine};
use crate::error::Result;
use crate::load::Stencil;
use crate::machines;
use crate::observer::{Observer, stage_of};
use crate::state::{self, HERE};
use cost_models::cpu::{body_costs, is_like_a_known};
use cost_models::machine::{Machine, MachineKind};
use execution::ExecutionError;
use execution::calibrate::{self, CpuRequest, Effort};
use polyhedral::program::Program;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use toolchain::interference::Watch;
use toolchain::machine::processor_id;

/// The variable that names the machine where no other one is named.
pub const VARIABLE: &str = "TILEWRIGHT_MACHINE";
/// The stencil that measures what no stencil decides.
const USUAL_STENCIL: &str = "heat2d";
/// Measurements of each kind, and of rows where no run follows.
const ROUNDS: usize = 3;
const BRIEF_ROUNDS: usize = 2;
/// The part of the machine's time that others may use in measurements that are not repeated by a later run.
const BUSY: f64 = 0.1;
/// What the source of those ends with that are.
const AMONG_OTHERS: &str = ", while others were at work";
/// In so long the clock tells whether others are at work.
const LOOK: Duration = Duration::from_millis(120);

/// This computer.
pub struct Here {
    /// Its constants, or those that stand in for them.
    pub machine: Machine,
    /// Whether the user named it.
    pub named: bool,
    /// Whether the user measured or named it, so that nothing is added to it.
    complete: bool,
    /// Where it was measured while others were at work: since when it is known whether they are now.
    doubtful: Option<Watch>,
    /// Whose constants these are, where they are not of this processor: a sentence.
    pub caution: Option<String>,
}

impl Here {
    fn own(machine: Machine) -> Here {
        let source = machine.calibration.as_ref().map_or("", |own| own.source.as_str());
        let doubtful = source.ends_with(AMONG_OTHERS).then(Watch::start);
        Here { machine, named: false, complete: false, doubtful, caution: None }
    }

    /// What the constants are of, in a few words.
    pub fn words(&self) -> &str {
        if self.named || self.caution.is_some() { &self.machine.name } else { "this computer" }
    }

    /// Whether there is nothing to measure for this program.
    pub fn is_measured_for(&self, program: &Program) -> bool {
        let own = self.caution.is_none() && is_measured(&self.machine, program);
        self.complete || (own && !self.is_worth_another())
    }

    /// Whether a stencil was measured whose rows are much like this program's: estimates serve where a contest follows and no run.
    pub fn knows_alike(&self, program: &Program) -> bool {
        let cpu = self.machine.calibration.as_ref().and_then(|own| own.cpu.as_ref());
        let like = self.caution.is_none() && cpu.is_some_and(|cpu| is_like_a_known(cpu, program));
        like && !self.is_worth_another()
    }

    /// Whether it was measured while others were at work, who are no longer.
    fn is_worth_another(&self) -> bool {
        self.doubtful.as_ref().is_some_and(is_calm_since)
    }

    /// Another CPU's constants, and why.
    fn other(why: &str) -> Result<Here> {
        let machine = usual_machine()?;
        let caution = format!(
            "tile sizes were chosen with the constants of another CPU, {}: {why}",
            machine.description.split(',').next().unwrap_or(&machine.name)
        );
        Ok(Here { machine, named: false, complete: false, doubtful: None, caution: Some(caution) })
    }
}

/// Whether others have left this computer alone since then; where that is no time ago, it is waited for a moment.
pub(crate) fn is_calm_since(watch: &Watch) -> bool {
    let calm = || watch.others().map(|others| others <= BUSY);
    calm().unwrap_or_else(|| {
        std::thread::sleep(LOOK);
        calm().unwrap_or(false)
    })
}

/// This computer, as far as it is known without a measurement; else another one that stands in.
///
/// # Errors
/// A machine that `$TILEWRIGHT_MACHINE` names and that is none.
pub fn known() -> Result<Here> {
    if let Some(name) = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty()) {
        let machine = machines::machine(&name)?;
        // A GPU says nothing about code for a CPU.
        if machine.kind == MachineKind::Cpu {
            return Ok(Here { machine, named: true, complete: true, doubtful: None, caution: None });
        }
    }
    let processor = processor_id();
    let own = |name: &str| {
        let machine = machines::machine(name).ok()?;
        (machine.processor.as_deref() == Some(processor) && machine.cpu().is_some()).then_some(machine)
    };
    let calibrated = own(HERE).map(|machine| Here { complete: true, ..Here::own(machine) });
    let found = calibrated.or_else(|| own(&in_state_folder(&name_of(processor))).map(Here::own));
    found.map_or_else(|| Here::other("this computer was not measured"), Ok)
}

/// The name under which this processor is kept after its first use.
fn name_of(processor: &str) -> String {
    format!("cpu-{processor}")
}

fn in_state_folder(name: &str) -> String {
    format!("@{name}")
}

/// What is [`known`], and measured now as far as that does not serve the stencil: some seconds; fewer where it is `brief`, as no run
/// follows.
///
/// # Errors
/// An interruption. A computer that cannot be measured (no compiler, no memory) is no error.
pub fn measured(here: Here, stencil: &Stencil, brief: bool, observer: &dyn Observer) -> Result<Here> {
    let program = &stencil.program;
    if here.is_measured_for(program) {
        return Ok(here);
    }
    let again = here.is_worth_another();
    if here.caution.is_none() && !again {
        return match stage_of(observer, STAGE, 0, |_| add(here.machine.clone(), stencil, brief)) {
            Ok(machine) => Ok(Here::own(kept(machine))),
            Err(error) if interrupted(&error) => Err(error.into()),
            Err(_) => Ok(here),
        };
    }
    let all = |progress: &dyn Fn(i64)| {
        let usual = polyhedral::shipped::load(USUAL_STENCIL).map(Arc::new);
        let usual = usual.ok_or_else(|| ExecutionError::Generate(format!("no {USUAL_STENCIL}")))?;
        // A stencil whose rows cannot be measured has estimated ones.
        match calibrate::compile_ahead(&[(&usual, &[], false), (program, &stencil.witnesses, brief)]) {
            Err(error) if interrupted(&error) => return Err(error),
            _ => {}
        }
        let request = request(vec![usual], false);
        let watch = Watch::start();
        let mut machine = calibrate::cpu(&request, &mut |_, part| progress((700.0 * part) as i64))?.machine;
        let busy = watch.others().is_some_and(|others| others > BUSY);
        if let Some(calibration) = machine.calibration.as_mut().filter(|_| busy) {
            calibration.source.push_str(AMONG_OTHERS);
        }
        if is_measured(&machine, program) {
            return Ok(machine);
        }
        match add(machine.clone(), stencil, brief) {
            Err(error) if !interrupted(&error) => Ok(machine),
            added => added,
        }
    };
    match stage_of(observer, STAGE, 1000, all) {
        Ok(machine) => Ok(Here::own(kept(machine))),
        Err(error) if interrupted(&error) => Err(error.into()),
        Err(_) if again => Ok(here),
        Err(error) => Here::other(&format!("this computer could not be measured ({})", first_line(&error))),
    }
}

/// Name of the stage in which this computer is measured.
pub const STAGE: &str = "measuring this computer, once";

fn request(programs: Vec<Arc<Program>>, brief: bool) -> CpuRequest {
    CpuRequest {
        name: name_of(processor_id()),
        programs,
        threads: usable_threads() as usize,
        effort: Effort::Quick,
        rounds: if brief { BRIEF_ROUNDS } else { ROUNDS },
        brief,
        source: format!("tilewright {}, at first use", env!("CARGO_PKG_VERSION")),
    }
}

fn is_measured(machine: &Machine, program: &Program) -> bool {
    let cpu = machine.calibration.as_ref().and_then(|own| own.cpu.as_ref());
    cpu.is_some_and(|cpu| body_costs(&machine.name, cpu, program).is_ok_and(|(_, estimated)| !estimated))
}

fn add(mut machine: Machine, stencil: &Stencil, brief: bool) -> execution::Result<Machine> {
    calibrate::add_rows(&mut machine, (&stencil.program, &stencil.witnesses), &request(Vec::new(), brief))?;
    Ok(machine)
}

/// The machine, written into the state folder as far as that can be written.
fn kept(machine: Machine) -> Machine {
    let path = state::machine_to_write(Path::new(&in_state_folder(&machine.name)));
    if let Ok(path) = path {
        // Without it the next run measures again.
        execution::output_file::write(&path, |file| file.write_all(machine.to_toml().as_bytes())).ok();
    }
    machine
}

fn interrupted(error: &ExecutionError) -> bool {
    matches!(error, ExecutionError::Interrupted)
}

fn first_line(error: &ExecutionError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
