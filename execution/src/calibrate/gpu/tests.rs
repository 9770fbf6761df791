//! A machine that behaves as the model says: calibration finds the constants that it was made with.

use super::*;
use cost_models::machine::shipped;

/// What a device with these constants would measure.
struct Modelled {
    facts: GpuFacts,
    launch_s: f64,
    barrier_s: f64,
    bandwidth: f64,
    c_iter_s: f64,
    watts: Option<f64>,
}

impl GpuBench for Modelled {
    fn launch_s(&mut self) -> Result<f64> {
        Ok(self.launch_s)
    }
    fn barrier_s(&mut self) -> Result<f64> {
        Ok(self.barrier_s)
    }
    fn bandwidth(&mut self) -> Result<f64> {
        Ok(self.bandwidth)
    }
    fn folded(&mut self, plan: &KernelPlan, size: &[i64], steps: i64) -> Result<FoldedRun> {
        let problem = Problem::new(&plan.program, size, steps).unwrap();
        let counts = counts(&problem, &plan.tile, &self.facts)?;
        let constants = TimeConstants {
            l_s_per_word: 0.0,
            tau_sync_s: self.barrier_s,
            t_sync_s: self.launch_s,
            c_iter_s: self.c_iter_s,
            machine_basis: Basis::Measured,
            c_iter_basis: Basis::Measured,
        };
        let model = GpuTime { n_sm: self.facts.n_sm, n_v: self.facts.n_v, constants };
        Ok(FoldedRun { seconds: model.seconds(&counts, 2), resident: 2 })
    }
    fn copy(&mut self) -> Result<f64> {
        Ok(1e9)
    }
    fn barriers(&mut self) -> Result<f64> {
        Ok(1e6)
    }
    fn launches(&mut self) -> Result<f64> {
        Ok(1e3)
    }
    fn meter(&mut self) -> Option<Box<dyn EnergyMeter>> {
        let watts = self.watts?;
        Some(Box::new(Constant { start: std::time::Instant::now(), watts }))
    }
}

struct Constant {
    start: std::time::Instant,
    watts: f64,
}

impl EnergyMeter for Constant {
    fn joules(&mut self) -> Option<f64> {
        Some(self.watts * self.start.elapsed().as_secs_f64())
    }
    fn name(&self) -> String {
        "a constant power".to_owned()
    }
}

fn calibrated(machine: &str, watts: Option<f64>, stencils: &[&str]) -> Machine {
    let machine = shipped(machine).unwrap().unwrap();
    let mut bench = Modelled {
        facts: machine.gpu().unwrap().clone(),
        launch_s: 2.5e-6,
        barrier_s: 1.5e-8,
        bandwidth: 8e11,
        c_iter_s: 3.25e-8,
        watts,
    };
    let load = |name: &&str| Arc::new(polyhedral::shipped::load(name).unwrap());
    let request = GpuRequest {
        machine,
        programs: stencils.iter().map(load).collect(),
        rounds: 3,
        source: "a test".to_owned(),
    };
    gpu(&request, &mut bench, &mut |_, _| ()).unwrap().machine
}

#[test]
fn the_constants_of_a_modelled_device_are_found() {
    let stencils = ["heat1d", "heat2d", "gradient2d", "fdtd2d", "heat3d"];
    let machine = calibrated("a100", None, &stencils);
    let calibration = machine.calibration.as_ref().unwrap();
    assert_eq!(calibration.provenance, Provenance::Measured);
    assert_eq!(calibration.t_sync_s.value, 2.5e-6);
    assert_eq!(calibration.tau_sync_s.value, 1.5e-8);
    let expected = 4.0 * 108.0 / 8e11;
    approx::assert_relative_eq!(
        calibration.l_s_per_word.value,
        expected,
        epsilon = 0.0,
        max_relative = 1e-12
    );
    for stencil in stencils {
        let found = calibration.c_iter(stencil, "f32").unwrap().value;
        assert!((found / 3.25e-8 - 1.0).abs() < 1e-6, "{stencil}: {found}");
    }
    // Without a counter there are no energies, and the file that is written can be read.
    assert!(calibration.energy.is_none());
    let again = Machine::parse("again.toml", &machine.to_toml()).unwrap();
    assert_eq!(again.calibration.unwrap().c_iter_s.len(), stencils.len());
}

#[test]
fn a_constant_power_is_the_static_one() {
    let energy = calibrated("h100", Some(150.0), &["heat2d"]).calibration.unwrap().energy.unwrap();
    // Wide limits: a busy machine may stop this program between its two clocks.
    assert!((90.0..400.0).contains(&energy.p_static_w), "{energy:?}");
    assert_eq!(energy.provenance, Provenance::Measured);
    assert!(energy.source.contains("a constant power"));
}
