//! NVML: what a GPU counts of its own energy (since Volta).

use super::EnergyMeter;

#[cfg(feature = "nvml")]
use counted as nvml;
#[cfg(not(feature = "nvml"))]
use uncounted as nvml;

/// The energy counter of a GPU.
#[derive(Debug)]
pub struct NvmlMeter(nvml::Counter);

impl NvmlMeter {
    /// The counter of the device of this name; `None` where there is no NVML, no such device, several of them (the
    /// driver's numbers and NVML's may differ), or no counter, and in a build without the feature `nvml`.
    pub fn open(name: &str) -> Option<NvmlMeter> {
        let mut meter = NvmlMeter(nvml::Counter::of_device(name)?);
        meter.joules()?;
        Some(meter)
    }
}

impl EnergyMeter for NvmlMeter {
    fn joules(&mut self) -> Option<f64> {
        Some(self.0.millijoules()? as f64 / 1e3)
    }

    fn name(&self) -> String {
        "NVML, total energy".to_owned()
    }

    fn tick_s(&self) -> f64 {
        0.1
    }
}

#[cfg(feature = "nvml")]
mod counted {
    use nvml_wrapper::Nvml;

    #[derive(Debug)]
    pub struct Counter {
        nvml: Nvml,
        index: u32,
    }

    impl Counter {
        pub fn of_device(name: &str) -> Option<Counter> {
            let nvml = Nvml::init().ok()?;
            let of_name = |index: &u32| {
                nvml.device_by_index(*index).and_then(|device| device.name()).is_ok_and(|own| own == name)
            };
            let found: Vec<u32> = (0..nvml.device_count().ok()?).filter(of_name).collect();
            let &[index] = found.as_slice() else { return None };
            Some(Counter { nvml, index })
        }

        pub fn millijoules(&self) -> Option<u64> {
            self.nvml.device_by_index(self.index).ok()?.total_energy_consumption().ok()
        }
    }
}

#[cfg(not(feature = "nvml"))]
mod uncounted {
    /// There is none.
    #[derive(Debug)]
    pub enum Counter {}

    impl Counter {
        pub fn of_device(_name: &str) -> Option<Counter> {
            None
        }

        pub fn millijoules(&self) -> Option<u64> {
            match *self {}
        }
    }
}
