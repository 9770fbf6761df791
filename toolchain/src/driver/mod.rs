//! Devices: what they are, memory on them, kernels, launches.
//!
//! NVIDIA's driver is looked for at run time, so that nothing here needs CUDA when it is built. Without the feature
//! `cuda` no device can be opened, and [`Device::open`] says so; everything above compiles all the same, because the
//! types have no values then.

mod copy;
#[cfg(feature = "cuda")]
mod cuda;
mod facts;
#[cfg(any(not(feature = "cuda"), test))]
mod without;

pub use copy::DeviceBandwidth;
#[cfg(feature = "cuda")]
pub use cuda::{Array, Device, Element, HostMemory, Kernel, Launch, Module};
pub use facts::{DeviceFacts, Failure, Rows, Shape};
#[cfg(not(feature = "cuda"))]
pub use without::{Array, Device, Element, HostMemory, Kernel, Launch, Module};

/// Whether device number 0 can be used, and what it is.
///
/// # Errors
/// [`crate::Error::NoDevice`] with the reason in one line.
pub fn is_available() -> crate::Result<DeviceFacts> {
    Device::open(0).map(|device| device.facts().clone())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// What the compiler would only say of a build without CUDA: both forms have the same functions.
    #[test]
    fn both_forms_of_a_device_have_one_interface() {
        let functions = |text: &'static str| -> BTreeSet<String> {
            let public = |part: &&str| part.trim_start().starts_with("fn") || part.starts_with("unsafe fn");
            let heads = text.split("    pub ").skip(1).filter(public);
            let heads = heads.filter_map(|part| part.split_once(" {\n")).map(|(head, _)| head);
            // Names of parameters that are not used begin with an underscore; long lists of them are broken.
            let plain = |head: &str| head.replace(char::is_whitespace, "").replace(['_', ','], "");
            heads.map(plain).collect()
        };
        let (with, without) = (functions(include_str!("cuda.rs")), functions(include_str!("without.rs")));
        assert!(with.len() > 20, "{with:?}");
        assert_eq!(with, without);
    }
}
