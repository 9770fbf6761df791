//! Prints a CUDA device's facts, its measured copy bandwidth and the NVRTC libraries found, as one JSON document:
//! `cuda_device [--facts-only]`. Exit code 3 and one line on stderr where no device can be used.

use serde_json::json;
use toolchain::driver::Device;
use toolchain::nvrtc::Nvrtc;

fn main() {
    let facts_only = std::env::args().any(|argument| argument == "--facts-only");
    let device = match Device::open(0) {
        Ok(device) => device,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(3);
        }
    };
    let bandwidth = match (!facts_only).then(|| device.measure_copy(10)).transpose() {
        Ok(bandwidth) => bandwidth,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let nvrtc: Vec<_> = Nvrtc::all().iter().map(Nvrtc::facts).collect();
    println!("{}", json!({ "device": device.facts(), "copy": bandwidth, "nvrtc": nvrtc }));
}
