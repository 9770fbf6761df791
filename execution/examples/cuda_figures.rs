//! Counts, from the plans and with NVIDIA's compiler, what generated CUDA needs and moves; no GPU is needed.
//!
//! ```text
//! cuda_figures [--f64] [--strategy NAME] [--tile SIZES] [--no-compiler] [STENCIL ..]
//! ```
//!
//! One line per kernel and compute capability: registers and spilled bytes (NVRTC), blocks that a multiprocessor
//! holds, blocks of a launch on 2^28, 16384 x 16384 or 512^3 points, and global bytes per point and time step. Exit
//! code 1 where a kernel spills or is warned about.

use execution::cache::Cache;
use execution::cuda::{CudaOptions, Multiprocessor, Nvrtc};
use execution::device_program::DeviceProgram;
use hhc_codegen::backend::cuda;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{TileSizes, pipeline, plan_counts};
use polyhedral::program::ElementType;
use std::error::Error;
use std::sync::Arc;

/// Grids that the figures are for, by dimension.
const SIZES: [&[i64]; 3] = [&[1 << 28], &[16384, 16384], &[512, 512, 512]];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut strategies, mut tile, mut double, mut compile) =
        (vec!["hhc".to_owned(), "naive".to_owned()], TileSizes::default(), false, true);
    let mut names: Vec<String> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--f64" => double = true,
            "--no-compiler" => compile = false,
            "--strategy" => strategies = vec![arguments.next().ok_or("--strategy needs a name")?],
            "--tile" => tile = TileSizes::parse(&arguments.next().ok_or("--tile needs sizes")?)?,
            _ => names.push(argument),
        }
    }
    if names.is_empty() {
        names = polyhedral::shipped::names().iter().map(|&name| name.to_owned()).collect();
    }
    let cache = Cache::open()?;
    let mut problems = 0;
    println!(
        "{:12} {:5} {:22} {:8} {:>5} {:>7} {:>7} {:>6} {:>9} {:>8} {:>6} {:>9} {:>8}",
        "stencil",
        "what",
        "tile",
        "kernel",
        "sm",
        "threads",
        "shared",
        "blocks",
        "registers",
        "spilled",
        "per SM",
        "bytes/pt",
        "pt/barr"
    );
    for name in &names {
        let mut program = polyhedral::shipped::load(name).ok_or_else(|| format!("no stencil {name}"))?;
        if double {
            program = program.with_element_type(ElementType::F64);
        }
        let program = Arc::new(program);
        for strategy in &strategies {
            let plan = pipeline::plan(&program, strategy::by_name(strategy)?, &tile, Target::Cuda)?.plan;
            let generated = cuda::generate(&plan, &cuda::CudaOptions::default())?;
            let device = DeviceProgram::from(&generated);
            // In the middle of many time steps all launches happen, with full tiles.
            let blocks = plan_counts::blocks(&plan, SIZES[program.dimension() - 1], 1000, 2);
            let blocks = blocks.ok_or("a bound mentions an unknown variable")?;
            for multiprocessor in Multiprocessor::KNOWN {
                let architecture = multiprocessor.architecture;
                let compiled = match compile {
                    true => {
                        let nvrtc = Nvrtc::for_architecture(architecture)?;
                        let options = CudaOptions::new(architecture);
                        Some(nvrtc.compile(&device.source, &format!("{name}.cu"), &options, &cache)?)
                    }
                    false => None,
                };
                for (kernel, blocks) in generated.kernels.iter().zip(&blocks) {
                    let own = compiled.iter().flat_map(|compiled| &compiled.kernels);
                    let own = own.clone().find(|own| own.kernel == kernel.symbol);
                    let threads: u64 = kernel.threads.iter().map(|&count| u64::from(count)).product();
                    let registers = own.map_or(0, |own| own.registers);
                    let resident =
                        multiprocessor.resident_blocks(threads, registers, kernel.shared_bytes.into());
                    let spilled = own.map_or(0, |own| own.spill_bytes + own.local_bytes);
                    problems += u64::from(spilled > 0);
                    let statements = program.statements.len() as f64;
                    let bytes = kernel.traffic.map_or_else(String::new, |traffic| {
                        format!("{:.2}", traffic.bytes_per_point() * statements)
                    });
                    let per_barrier = kernel
                        .traffic
                        .map_or_else(String::new, |traffic| format!("{}", traffic.points / traffic.barriers));
                    println!(
                        "{name:12} {strategy:5} {:22} {:8} {architecture:5} {threads:7} {:7} {blocks:6} {registers:9} {spilled:8} {resident:6} {bytes:>9} {per_barrier:>8}",
                        plan.tile.to_string(),
                        kernel.name,
                        kernel.shared_bytes,
                    );
                }
                for warning in compiled.iter().flat_map(|compiled| &compiled.warnings) {
                    problems += 1;
                    println!("{name} {strategy} sm_{architecture}: {warning}");
                }
            }
        }
    }
    if problems > 0 {
        return Err(format!("{problems} kernel(s) spill or are warned about").into());
    }
    Ok(())
}
