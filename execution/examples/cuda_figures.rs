//! Counts, from the plans and with NVIDIA's compiler, what generated CUDA needs and moves; no GPU is needed.
//!
//! ```text
//! cuda_figures [--f64] [--strategy NAME] [--tile SIZES] [--sm NUMBER] [--no-compiler] [--markdown] [STENCIL ..]
//! ```
//!
//! One line per kernel and compute capability: registers and spilled bytes (NVRTC), blocks that a multiprocessor
//! holds, blocks of a launch on 2^28, 16384 x 16384 or 512^3 points, and global bytes per point and time step. Exit
//! code 1 where a kernel spills or is warned about.

use hhc_codegen::backend::cuda;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{TileSizes, pipeline, plan_counts};
use polyhedral::program::ElementType;
use std::error::Error;
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::nvrtc::{CudaOptions, Nvrtc};
use toolchain::occupancy::Multiprocessor;

/// Grids that the figures are for, by dimension.
const SIZES: [&[i64]; 3] = [&[1 << 28], &[16384, 16384], &[512, 512, 512]];

const HEADINGS: [&str; 13] = [
    "stencil",
    "strategy",
    "type",
    "tile",
    "kernel",
    "sm",
    "threads",
    "shared",
    "registers",
    "spilled",
    "per SM",
    "blocks",
    "bytes",
];

struct Options {
    strategies: Vec<String>,
    tile: TileSizes,
    architecture: Option<u32>,
    element: Option<ElementType>,
    compile: bool,
    markdown: bool,
    names: Vec<String>,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        strategies: strategy::all().iter().map(|strategy| strategy.id().to_owned()).collect(),
        tile: TileSizes::default(),
        architecture: None,
        element: None,
        compile: true,
        markdown: false,
        names: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--f64" => options.element = Some(ElementType::F64),
            "--no-compiler" => options.compile = false,
            "--markdown" => options.markdown = true,
            "--strategy" => options.strategies = vec![value()?],
            "--tile" => options.tile = TileSizes::parse(&value()?)?,
            "--sm" => options.architecture = Some(value()?.parse()?),
            _ => options.names.push(argument),
        }
    }
    if options.names.is_empty() {
        options.names = polyhedral::shipped::names().iter().map(|&name| name.to_owned()).collect();
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let print = |cells: &[String]| {
        if options.markdown {
            println!("| {} |", cells.join(" | "));
        } else {
            let widths = [12, 8, 4, 22, 10, 3, 7, 7, 9, 7, 6, 7, 6];
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            println!("{}", padded.collect::<Vec<_>>().join(" ").trim_end());
        }
    };
    print(&HEADINGS.map(str::to_owned));
    if options.markdown {
        print(&HEADINGS.map(|_| "---".to_owned()));
    }
    let mut problems = Vec::new();
    for name in &options.names {
        for strategy in &options.strategies {
            for line in figures(&options, name, strategy, &mut problems)? {
                print(&line);
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// The lines of one stencil and strategy.
fn figures(
    options: &Options,
    name: &str,
    strategy: &str,
    problems: &mut Vec<String>,
) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let mut program =
        polyhedral::shipped::load(name).ok_or_else(|| format!("there is no stencil `{name}`"))?;
    if let Some(element) = options.element {
        program = program.with_element_type(element);
    }
    let program = Arc::new(program);
    let plan = pipeline::plan(&program, strategy::by_name(strategy)?, &options.tile, Target::Cuda)?.plan;
    let generated = cuda::generate(&plan, &cuda::CudaOptions::default())?;
    // In the middle of many time steps all launches happen.
    let blocks = plan_counts::blocks(&plan, SIZES[program.dimension() - 1], 1000, 2);
    let blocks = blocks.ok_or("a bound mentions an unknown variable")?;
    let mut lines = Vec::new();
    let wanted = |m: &&Multiprocessor| options.architecture.is_none_or(|only| only == m.architecture);
    for multiprocessor in Multiprocessor::KNOWN.iter().filter(wanted) {
        let architecture = multiprocessor.architecture;
        let compiled = match options.compile {
            true => Some(Nvrtc::for_architecture(architecture)?.compile(
                &generated.device_source,
                &format!("{name}.cu"),
                &CudaOptions::new(architecture),
                &Cache::open()?,
            )?),
            false => None,
        };
        for (kernel, blocks) in generated.kernels.iter().zip(&blocks) {
            let own = compiled
                .as_ref()
                .and_then(|compiled| compiled.kernels.iter().find(|own| own.kernel == kernel.symbol));
            let threads = kernel.threads.iter().map(|&count| u64::from(count)).product();
            if let Some(own) = own.filter(|own| own.spill_bytes + own.local_bytes > 0) {
                problems.push(format!("{name} {strategy} sm_{architecture}: {own:?}"));
            }
            let known = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
            let resident =
                |registers| multiprocessor.resident_blocks(threads, registers, kernel.shared_bytes.into());
            // A point and time step is one point of each statement.
            let statements = program.statements.len() as f64;
            let bytes = kernel.traffic.map(|traffic| traffic.bytes_per_point() * statements);
            lines.push(vec![
                name.to_owned(),
                strategy.to_owned(),
                program.fields[0].element.name().to_owned(),
                plan.tile.to_string(),
                kernel.name.clone(),
                architecture.to_string(),
                threads.to_string(),
                kernel.shared_bytes.to_string(),
                known(own.map(|own| own.registers.to_string())),
                known(own.map(|own| own.spill_bytes.to_string())),
                known(own.map(|own| resident(own.registers).to_string())),
                blocks.to_string(),
                known(bytes.map(|bytes| format!("{bytes:.2}"))),
            ]);
        }
        for warning in compiled.iter().flat_map(|compiled| &compiled.warnings) {
            problems.push(format!("{name} {strategy} sm_{architecture}: {warning}"));
        }
    }
    Ok(lines)
}
