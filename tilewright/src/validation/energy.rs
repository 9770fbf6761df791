//! Predicted joules, and what runs would have spent where a counter is simulated.

use crate::error::{Error, Result};
use crate::model::{Model, Residence};
use cost_models::machine::{Energy, Machine};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::Strategy;

/// What a model says of the joules of a tile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energies {
    /// Predicted seconds.
    pub seconds: f64,
    /// Predicted joules.
    pub joules: f64,
    /// Watts of them that flow whatever happens.
    pub static_w: f64,
}

impl Energies {
    /// The joules of a run that takes so long in truth: what it does costs as much, what flows meanwhile flows as long.
    pub fn within(&self, seconds: f64) -> f64 {
        self.joules + self.static_w * (seconds - self.seconds)
    }
}

/// The joules that the model predicts for a tile, with as many resident ones as fit.
///
/// # Errors
/// A tile that cannot be counted; a machine without energies.
pub fn energies(model: &Model, strategy: &'static dyn Strategy, tile: &TileSizes) -> Result<Energies> {
    let cost = model.cost(strategy, tile, Residence::Most)?.0;
    let seconds = cost.prediction.seconds;
    let terms = cost.energy.ok_or_else(|| {
        let message = format!("machine `{}` has no energies: there is nothing to compare", model.machine().name);
        let hint = "`tilewright calibrate` measures them where a counter can be read; or state them in [calibration.energy]";
        Error::infeasible(message).hint(hint)
    })?;
    Ok(Energies { seconds, joules: terms.sum(), static_w: terms.fixed / seconds })
}

/// The machine with energies, for a counter that is simulated: assumed ones where a CPU has none. Whether they were assumed.
pub fn with_energies(mut machine: Machine) -> (Machine, bool) {
    let cores = machine.cpu().map(|facts| facts.cores);
    let missing = machine.calibration.as_mut().filter(|own| own.energy.is_none()).zip(cores);
    let assumed = missing.is_some();
    if let Some((calibration, cores)) = missing {
        calibration.energy = Some(Energy::assumed_of_cores(cores));
    }
    (machine, assumed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_runs_cost_what_flows_meanwhile() {
        let own = Energies { seconds: 2.0, joules: 100.0, static_w: 30.0 };
        assert_eq!((own.within(2.0), own.within(3.0)), (100.0, 130.0));
        let zen4 = cost_models::machine::shipped("zen4").unwrap().unwrap();
        let (machine, assumed) = with_energies(zen4);
        assert!(assumed && machine.calibration.is_some_and(|own| own.energy.is_some()));
        let (_, assumed) = with_energies(cost_models::machine::shipped("h100").unwrap().unwrap());
        assert!(!assumed);
    }
}
