//! NVML: application clocks of a GPU.

#[cfg(not(feature = "nvml"))]
pub(super) use absent::Applications;
#[cfg(feature = "nvml")]
pub(super) use present::Applications;

#[cfg(feature = "nvml")]
mod present {
    use crate::clocks::setter::Setter;
    use nvml_wrapper::Nvml;
    use nvml_wrapper::enum_wrappers::device::Clock;
    use nvml_wrapper::error::NvmlError;

    /// The clocks of one GPU, with those that it had, in MHz.
    #[derive(Debug)]
    pub struct Applications {
        nvml: Nvml,
        memory: u32,
        graphics: u32,
        supported: Vec<u32>,
    }

    fn told(error: NvmlError) -> String {
        match error {
            NvmlError::NoPermission => {
                "NVML permits it to root alone (`nvidia-smi -acp UNRESTRICTED` permits it to all)".to_owned()
            }
            error => format!("NVML says: {error}"),
        }
    }

    impl Applications {
        /// Clocks are set as they are, which says whether they may be.
        pub fn open() -> Result<Applications, String> {
            let nvml = Nvml::init().map_err(told)?;
            let count = nvml.device_count().map_err(told)?;
            if count != 1 {
                return Err(format!("there are {count} devices, and clocks of one alone are set"));
            }
            let (memory, graphics, supported) = {
                let mut device = nvml.device_by_index(0).map_err(told)?;
                let memory = device.applications_clock(Clock::Memory).map_err(told)?;
                let graphics = device.applications_clock(Clock::Graphics).map_err(told)?;
                let supported = device.supported_graphics_clocks(memory).map_err(told)?;
                device.set_applications_clocks(memory, graphics).map_err(told)?;
                (memory, graphics, supported)
            };
            Ok(Applications { nvml, memory, graphics, supported })
        }

        pub fn supported(&self) -> &[u32] {
            &self.supported
        }
    }

    impl Setter for Applications {
        fn set(&self, mhz: u32) -> Result<(), String> {
            let mut device = self.nvml.device_by_index(0).map_err(told)?;
            device.set_applications_clocks(self.memory, mhz).map_err(told)
        }

        fn restore(&self) -> Result<(), String> {
            self.set(self.graphics)
        }
    }
}

#[cfg(not(feature = "nvml"))]
mod absent {
    use crate::clocks::setter::Setter;

    /// There are none.
    #[derive(Debug)]
    pub enum Applications {}

    impl Applications {
        pub fn open() -> Result<Applications, String> {
            Err("this build is without NVML (its feature `nvml`)".to_owned())
        }

        pub fn supported(&self) -> &[u32] {
            match *self {}
        }
    }

    impl Setter for Applications {
        fn set(&self, _: u32) -> Result<(), String> {
            match *self {}
        }

        fn restore(&self) -> Result<(), String> {
            match *self {}
        }
    }
}
