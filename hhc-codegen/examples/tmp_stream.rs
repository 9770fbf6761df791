use execution::compare::compare;
use execution::device_program::{DeviceKernel, DeviceProgram};
use execution::emulator::{Emulator, Schedule};
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::{initial, reference};
use hhc_codegen::backend::cuda::{self, CudaOptions, DeviceLimits};
use hhc_codegen::{prove, strategy, TileSizes};
use polyhedral::legality::Budget;
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut program = polyhedral::shipped::load(&args[2]).unwrap();
    if args[2..].iter().any(|a| a == "f64") {
        program = program.with_element_type(polyhedral::program::ElementType::F64);
    }
    let program = Arc::new(program);
    let analysis = polyhedral::analysis::analyze(&program).unwrap();
    let own = strategy::by_name(if args[1] == "proof2" { "warp-pipeline" } else { "streaming" }).unwrap();
    let tile = if args[3].is_empty() {
        own.default_tile(&program, &analysis.cone, strategy::Target::Cuda)
    } else {
        TileSizes::parse(&args[3]).unwrap()
    };
    let plan = strategy::plan(own, &program, &analysis.cone, &tile).unwrap();
    match args[1].as_str() {
        "emit" => {
            let cuda = cuda::generate(&plan, &CudaOptions { limits: DeviceLimits::sm_90() }).unwrap();
            for k in &cuda.kernels {
                eprintln!("{} {} {:?} {}", args[2], plan.tile, k.threads, k.shared_bytes);
            }
            for file in cuda.files {
                if file.name.ends_with(".cu") || file.name.ends_with(".h") || file.name.ends_with("CMakeLists.txt") {
                    std::fs::create_dir_all(&args[4]).unwrap();
                    std::fs::write(format!("{}/{}", args[4], file.name), file.text).unwrap();
                }
            }
        }
        "proof" | "proof2" => {
            let start = std::time::Instant::now();
            let budget = Budget { operations: args[4].parse().unwrap(), ..Budget::default() };
            match prove::prove_within(budget, &plan, &analysis.dependences) {
                Ok(proof) => eprintln!("{proof:?}"),
                Err(error) => eprintln!("{error}"),
            }
            eprintln!("{} {} {:?}", args[2], plan.tile, start.elapsed());
        }
        _ => {
            let cuda = cuda::generate(&plan, &CudaOptions { limits: DeviceLimits::sm_90() }).unwrap();
            let device = DeviceProgram {
                source: cuda.device_source.clone(),
                kernels: (cuda.kernels.iter())
                    .map(|kernel| DeviceKernel {
                        symbol: kernel.symbol.clone(),
                        threads: kernel.threads,
                        shared_bytes: kernel.shared_bytes.into(),
                    })
                    .collect(),
            };
            let cache = Arc::new(Cache::at(std::path::Path::new("target/tmp-stream-cache")).unwrap());
            let compiler = Compiler::find(Language::Cxx).unwrap();
            let start = std::time::Instant::now();
            let emulator = Emulator::compile_with(&plan, &device, &compiler, &cache).unwrap();
            eprintln!("compiled {:?}", start.elapsed());
            let parameters = reference::default_parameters(&program);
            let sizes: Vec<Vec<i64>> =
                args[4].split(';').map(|s| s.split(',').map(|v| v.parse().unwrap()).collect()).collect();
            let schedules = Schedule::adversarial(7).into_iter().cycle();
            for (number, (size, schedule)) in sizes.iter().zip(schedules).enumerate() {
                let (steps, size) = size.split_last().unwrap();
                let start = std::time::Instant::now();
                let layout = match number % 2 {
                    0 => Layout::dense(&program, size).unwrap(),
                    _ => Layout::padded(&program, size).unwrap(),
                };
                let mut expected = ProgramData::zeroed_with(&program, layout).unwrap();
                initial::fill_random(&program, &mut expected, 42).unwrap();
                let mut found = expected.try_clone().unwrap();
                reference::run_quietly(&program, &parameters, &mut expected, *steps).unwrap();
                let report = emulator.run(&parameters, &mut found, *steps, schedule).unwrap();
                if !report.is_clean() {
                    println!("NOT CLEAN {size:?} {steps} {:.3000}", format!("{report:#?}"));
                }
                for back in 0..2 {
                    let comparison = compare(&program, &expected, &found, steps - back);
                    println!("{size:?} {steps} back {back}: {} of {} bad, first {:?} ({:?})", comparison.mismatches, comparison.points, comparison.first, start.elapsed());
                }
            }
        }
    }
}
