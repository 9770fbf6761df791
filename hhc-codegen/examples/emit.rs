//! Prints the plan's facts and writes the OpenMP files of a shipped stencil: `emit heat2d hhc st=4,s0=8 out/`.
use hhc_codegen::{TileSizes, backend, pipeline, strategy};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let program = Arc::new(polyhedral::shipped::load(&args[1]).ok_or("no such stencil")?);
    let strategy = strategy::by_name(&args[2])?;
    let tile = if args[3].is_empty() { TileSizes::default() } else { TileSizes::parse(&args[3])? };
    let start = std::time::Instant::now();
    let planned = pipeline::plan(&program, strategy, &tile, strategy::Target::OpenMp)?;
    eprintln!("{} {} {:?} in {:?}", args[1], planned.plan.tile, planned.proof, start.elapsed());
    for file in backend::openmp::generate(&planned.plan)? {
        if let Some(folder) = args.get(4) {
            std::fs::create_dir_all(folder)?;
            std::fs::write(format!("{folder}/{}", file.name), file.text)?;
        }
    }
    Ok(())
}
