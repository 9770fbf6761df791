//! Writes the CUDA files of a shipped stencil: `emit_cuda heat2d hhc st=4,s0=8,s1=32 out/`.
use hhc_codegen::{TileSizes, backend, pipeline, strategy};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let program = Arc::new(polyhedral::shipped::load(&args[1]).ok_or("no such stencil")?);
    let strategy = strategy::by_name(&args[2])?;
    let tile = if args[3].is_empty() { TileSizes::default() } else { TileSizes::parse(&args[3])? };
    let planned = pipeline::plan(&program, strategy, &tile, strategy::Target::Cuda)?;
    let cuda = backend::cuda::generate(&planned.plan, &Default::default())?;
    let kernel = &cuda.kernels[0];
    let lines = cuda.device_source.lines().count();
    eprintln!(
        "{} {} threads {:?} shared {} lines {lines}",
        args[1], planned.plan.tile, kernel.threads, kernel.shared_bytes
    );
    for file in cuda.files {
        if let Some(folder) = args.get(4) {
            std::fs::create_dir_all(folder)?;
            std::fs::write(format!("{folder}/{}", file.name), file.text)?;
        }
    }
    Ok(())
}
