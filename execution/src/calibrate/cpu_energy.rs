//! Energies of a CPU: idle, programs whose grid a cache holds, and programs whose grid none holds.

use crate::energy::{EnergySample, Events, constants, sample};
use crate::error::{ExecutionError, Result};
use crate::initial;
use crate::layout::Layout;
use crate::reference::default_parameters;
use crate::tiled;
use cost_models::cpu::work;
use cost_models::machine::Energy;
use hhc_codegen::counts::cores::sweep_bytes;
use hhc_codegen::plan_counts::points_per_step;
use hhc_codegen::strategy::{self, Target};
use polyhedral::analysis::analyze;
use polyhedral::program::Program;
use std::sync::Arc;
use toolchain::energy::EnergyMeter;

/// Bytes of a grid that a core's own cache holds.
const SMALL_BYTES: usize = 256 << 10;
/// Points of a row.
const ROW: usize = 1024;

/// The constants of the energy model, from programs that differ in operations per word; `None` where nothing counts.
///
/// # Errors
/// Those of the compiler and of runs.
pub fn energies(
    meter: &mut dyn EnergyMeter,
    programs: &[Arc<Program>],
    threads: usize,
    last_cache: f64,
    source: &str,
) -> Result<Option<Energy>> {
    let mut samples: Vec<EnergySample> = Vec::new();
    samples.extend(sample(meter, Events::default(), || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        Ok(())
    })?);
    let large = ((3.0 * last_cache) as usize).clamp(64 << 20, 512 << 20);
    for program in programs.iter().filter(|program| program.dimension() == 2).take(3) {
        for (bytes, steps) in [(SMALL_BYTES, 500), (large, 4)] {
            samples.extend(sweep(meter, program, bytes, steps, threads)?);
        }
    }
    Ok(constants(&samples, &format!("{source}; {}", meter.name())))
}

fn sweep(
    meter: &mut dyn EnergyMeter,
    program: &Arc<Program>,
    bytes: usize,
    steps: i64,
    threads: usize,
) -> Result<Option<EnergySample>> {
    let internal = |problem: String| ExecutionError::Generate(problem);
    let size = [(bytes / program.bytes_of_a_point() / ROW).max(16) as i64, ROW as i64];
    let analysis = analyze(program).map_err(|error| internal(error.to_string()))?;
    let sweeps = strategy::baseline();
    let tile = sweeps.default_tile(program, &analysis.cone, Target::OpenMp);
    let plan = strategy::plan(sweeps, program, &analysis.cone, &tile)
        .map_err(|error| internal(error.to_string()))?;
    let native = tiled::load(&plan)?.native;
    native.library().set_threads(threads);
    let mut data = initial::random(program, Layout::padded(program, &size)?, steps, 1)?;
    let parameters = default_parameters(program);
    let (flops, reads) = work(program);
    let points = points_per_step(program, &size) as f64 * steps as f64;
    let words = program.fields[0].element.bytes() as f64 / 4.0;
    let swept: f64 = program.statements.iter().map(|statement| sweep_bytes(program, statement)).sum();
    let statements = program.statements.len() as f64;
    let events = Events {
        words: if bytes > SMALL_BYTES { points * swept / 4.0 } else { 0.0 },
        fast_words: points * (reads as f64 + statements) * words,
        flops: points * flops as f64 * words,
        barriers: 0.0,
        launches: steps as f64 * statements,
    };
    native.run(program, &parameters, &mut data, steps)?;
    sample(meter, events, || native.run(program, &parameters, &mut data, steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Watts(std::time::Instant);

    impl EnergyMeter for Watts {
        fn joules(&mut self) -> Option<f64> {
            Some(25.0 * self.0.elapsed().as_secs_f64())
        }
        fn name(&self) -> String {
            "25 W".to_owned()
        }
    }

    #[test]
    fn a_constant_power_is_the_static_one() {
        let program = Arc::new(polyhedral::shipped::load("jacobi2d").unwrap());
        let mut meter = Watts(std::time::Instant::now());
        let found = energies(&mut meter, &[program], 2, 1e6, "a test").unwrap().unwrap();
        // Wide limits: a busy machine may stop this program between its two clocks.
        assert!((15.0..60.0).contains(&found.p_static_w), "{found:?}");
        assert!(found.source.contains("25 W"));
    }
}
