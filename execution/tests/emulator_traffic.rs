//! The counts of what a full sub-tile moves are those of the emulator.
//!
//! A grid that is one hexagon larger along dimension 0, one sub-tile along dimension 1 and one band of time steps has
//! one full sub-tile more per phase, besides more partial ones. The mixed difference of the accesses over all eight
//! combinations leaves the full sub-tiles only.

use execution::device_program::DeviceProgram;
use execution::emulator::{Emulator, ThreadOrder};
use execution::grid::ProgramData;
use execution::initial;
use execution::layout::Layout;
use execution::reference::default_parameters;
use hhc_codegen::backend::cuda;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{TileSizes, pipeline};
use std::path::Path;
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};

/// Compares for the tile `st=2,s0=3,s1=8`, whose hexagons are 8 points apart and 4 time steps high.
fn agrees(name: &str) {
    let program = Arc::new(polyhedral::shipped::load(name).unwrap());
    let tile = TileSizes::parse("st=2,s0=3,s1=8").unwrap();
    let strategy = strategy::by_name("hhc").unwrap();
    let plan = pipeline::plan(&program, strategy, &tile, Target::Cuda).unwrap().plan;
    let cuda = cuda::generate(&plan, &cuda::CudaOptions::default()).unwrap();
    let cache = Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulator-cache")).unwrap();
    let compiler = Compiler::find(Language::Cxx).unwrap();
    let emulator = Emulator::compile_with(&plan, &DeviceProgram::from(&cuda), &compiler, &cache).unwrap();
    let parameters = default_parameters(&program);
    let (mut reads, mut writes) = (0, 0);
    for more in 0..8 {
        let bit = |number: i64| more >> number & 1;
        let size = [33 + 8 * bit(0), 43 + 8 * bit(1)];
        let mut data = ProgramData::zeroed_with(&program, Layout::dense(&program, &size).unwrap()).unwrap();
        initial::fill_random(&program, &mut data, 1).unwrap();
        let report = emulator.run(&parameters, &mut data, 9 + 4 * bit(2), ThreadOrder::Ascending).unwrap();
        assert!(report.is_clean());
        let sign = if (bit(0) + bit(1) + bit(2)) % 2 == 1 { 1 } else { -1 };
        reads += sign * report.global_reads as i64;
        writes += sign * report.global_writes as i64;
    }
    let counted = cuda.kernels.iter().map(|kernel| kernel.traffic.unwrap());
    let (loads, stores) = counted.fold((0, 0), |(l, s), traffic| (l + traffic.loads, s + traffic.stores));
    assert!(loads > 0 && stores > 0);
    assert_eq!((reads, writes), (loads, stores), "{name}");
}

#[test]
fn two_stored_levels() {
    agrees("heat2d");
}

#[test]
fn a_level_further_back() {
    agrees("wave2d");
}

#[test]
fn corners_and_coefficients() {
    agrees("box2d1r");
    agrees("varcoef2d");
}
