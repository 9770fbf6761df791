//! NVML: what a GPU counts of its own energy (since Volta).

use super::EnergyMeter;
use nvml_wrapper::Nvml;

/// The energy counter of a GPU.
#[derive(Debug)]
pub struct NvmlMeter {
    nvml: Nvml,
    index: u32,
}

impl NvmlMeter {
    /// The counter of the device of this name; `None` where there is no NVML, no such device, several of them (the
    /// driver's numbers and NVML's may differ), or no counter.
    pub fn open(name: &str) -> Option<NvmlMeter> {
        let nvml = Nvml::init().ok()?;
        let of_name = |index: &u32| {
            nvml.device_by_index(*index).and_then(|device| device.name()).is_ok_and(|own| own == name)
        };
        let found: Vec<u32> = (0..nvml.device_count().ok()?).filter(of_name).collect();
        let &[index] = found.as_slice() else { return None };
        let mut meter = NvmlMeter { nvml, index };
        meter.joules()?;
        Some(meter)
    }
}

impl EnergyMeter for NvmlMeter {
    fn joules(&mut self) -> Option<f64> {
        let device = self.nvml.device_by_index(self.index).ok()?;
        Some(device.total_energy_consumption().ok()? as f64 / 1e3)
    }

    fn name(&self) -> String {
        "NVML, total energy".to_owned()
    }
}
