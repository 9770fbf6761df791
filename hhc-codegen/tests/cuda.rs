//! The CUDA text: its size and its shape, and the requests that are refused.

use hhc_codegen::backend::cuda::{self, CudaOptions, CudaProgram, DeviceLimits};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{PlanError, TileSizes, pipeline};
use polyhedral::program::Program;
use std::sync::Arc;

fn generate(
    program: Program,
    strategy: &str,
    tile: &str,
    limits: DeviceLimits,
) -> Result<CudaProgram, PlanError> {
    let program = Arc::new(program);
    let tile = if tile.is_empty() { TileSizes::default() } else { TileSizes::parse(tile)? };
    let planned = pipeline::plan(&program, strategy::by_name(strategy)?, &tile, Target::Cuda)?;
    cuda::generate(&planned.plan, &CudaOptions { limits })
}

fn shipped(name: &str, strategy: &str, tile: &str) -> Result<CudaProgram, PlanError> {
    generate(polyhedral::shipped::load(name).unwrap(), strategy, tile, DeviceLimits::default())
}

/// Defaults need no more shared memory than every block gets (in 3-D, than the smallest device has), have whole warps,
/// and readable text. Others prove them.
#[test]
fn defaults_are_modest() {
    for name in polyhedral::shipped::names() {
        for strategy in ["hhc", "naive"] {
            let program = Arc::new(polyhedral::shipped::load(name).unwrap());
            let Some(plan) = super::text::plan(&program, strategy, "", Target::Cuda) else { continue };
            let cuda = cuda::generate(&plan, &CudaOptions::default())
                .unwrap_or_else(|error| panic!("{name} {strategy}: {error}"));
            for kernel in &cuda.kernels {
                let threads: u32 = kernel.threads.iter().product();
                let most = if polyhedral::shipped::load(name).unwrap().dimension() < 3 {
                    48 << 10
                } else {
                    72 << 10
                };
                assert!(kernel.shared_bytes <= most, "{name} {strategy}: {kernel:?}");
                assert_eq!(threads % 32, 0, "{name} {strategy}: {kernel:?}");
                assert!((128..=1024).contains(&threads), "{name} {strategy}: {kernel:?}");
            }
            for file in &cuda.files {
                assert!(file.text.lines().count() < 2000, "{name} {strategy}: {} is long", file.name);
            }
            assert_eq!(cuda.device_source, cuda.files[0].text);
        }
    }
}

/// Every kernel has its symbol in the text.
#[test]
fn kernels_are_in_the_text() {
    let cuda = shipped("heat2d", "hhc", "st=2,s0=4,s1=32").unwrap();
    let names: Vec<&str> = cuda.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["phase0", "phase1"]);
    for kernel in cuda.kernels.iter().chain(&cuda.boundary) {
        assert!(cuda.device_source.contains(&format!(" {}(", kernel.symbol)), "{}", kernel.symbol);
    }
    assert_eq!(cuda.boundary.len(), 1);
    let files: Vec<&str> = cuda.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(files, ["heat2d.cu", "heat2d.h", "heat2d_main.cu", "CMakeLists.txt"]);
}

/// More than 48 KiB have to be asked for.
#[test]
fn large_windows_are_asked_for() {
    let opt_in = "cudaFuncAttributeMaxDynamicSharedMemorySize";
    let cuda = shipped("heat2d", "hhc", "st=8,s0=32,s1=128").unwrap();
    assert!(cuda.kernels[0].shared_bytes > 48 << 10);
    assert_eq!(cuda.device_source.matches(opt_in).count(), 2);
    assert!(!shipped("heat2d", "hhc", "").unwrap().device_source.contains(opt_in));
}

/// The limit is that of the device, and the message names it, the need and the sizes.
#[test]
fn too_large_windows_are_refused() {
    let tile = "st=16,s0=64,s1=128";
    let error = shipped("heat2d", "hhc", tile).unwrap_err();
    let PlanError::Limit { needed, limit, .. } = &error else { panic!("{error}") };
    assert_eq!((*needed, *limit), (96 * 161 * 2 * 4, 95 << 10));
    assert_eq!(
        error.to_string(),
        "a tile of `heat2d` with st=16,s0=64,s1=128 needs 123648 bytes of shared memory per thread block on any \
         device, more than the limit of 97280: reduce st, s0, s1; the window has 96 x 161 cells for each of 2 stored \
         levels and coefficients"
    );
    let heat2d = || polyhedral::shipped::load("heat2d").unwrap();
    assert!(generate(heat2d(), "hhc", tile, DeviceLimits::sm_80()).is_ok());
    assert!(generate(heat2d(), "hhc", "st=16,s0=64,s1=256", DeviceLimits::sm_80()).is_err());
    assert!(generate(heat2d(), "hhc", "st=16,s0=64,s1=256", DeviceLimits::sm_90()).is_ok());
}

/// A dimension that is not cut has no bounded window; the naive strategy needs none.
#[test]
fn uncut_dimensions_are_refused_for_windows_only() {
    for (name, tile, size) in [("heat2d", "s1=0", "s1"), ("heat3d", "s1=0", "s1"), ("heat3d", "s2=0", "s2")] {
        let error = shipped(name, "hhc", tile).unwrap_err();
        assert!(
            matches!(&error, PlanError::Tile { size: found, .. } if found == size),
            "{name} {tile}: {error}"
        );
        assert!(error.to_string().contains("every dimension must be cut"), "{error}");
    }
    assert!(shipped("heat3d", "naive", "s0=0,s2=0").is_ok());
}

/// Very high tiles are refused before anything large is computed.
#[test]
fn very_high_tiles_are_refused() {
    let error = shipped("jacobi1d", "hhc", "st=100000,s0=100000").unwrap_err();
    assert!(matches!(error, PlanError::Limit { .. }), "{error}");
}

/// The part of a text from a function on to its end.
fn function<'a>(text: &'a str, name: &str) -> &'a str {
    let start = text.find(name).unwrap_or_else(|| panic!("there is no {name}"));
    let text = &text[start..];
    &text[..text.find("\n}\n").unwrap()]
}

/// Whether a text divides, but for comments and the ends of its loops (`tw_floordiv`), which are found once.
fn divides(text: &str) -> bool {
    let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with(['/', '*']));
    let mut code = code.filter(|line| !line.starts_with("for ("));
    code.any(|line| [" / ", " % ", "tw_modulo("].iter().any(|part| line.contains(part)))
}

/// Loops over sub-tiles neither divide nor number what they copy; rows that nothing cuts have constants for bounds; what
/// enters next is loaded ahead.
#[test]
fn sub_tiles_are_walked_without_divisions() {
    let all = ["star2d1r", "heat2d", "box2d1r", "star3d1r", "heat3d"].map(|name| (name, ""));
    for (name, tile) in all.into_iter().chain([("star2d2r", "st=2,s0=6,s1=64")]) {
        let cuda = shipped(name, "hhc", tile).unwrap();
        let tiles = function(&cuda.device_source, "void tw_tile(");
        let code = &tiles[tiles.find("for (tw_int c1").unwrap()..];
        assert!(!divides(code), "{name}: {code}");
        // What was divided before, divided within.
        let fault = code.replacen("const int w = moved_line", "const int w = thread / 13", 1);
        assert!(divides(&fault), "{name}: {code}");
        assert!(code.contains("ahead = "), "{name}");
        let rows = function(&cuda.device_source, "void tw_full_rows(");
        assert!(!divides(rows), "{name}: {rows}");
        let unclipped: Vec<&str> = rows.split("if ((unclipped").skip(1).collect();
        assert!(!unclipped.is_empty(), "{name}: {rows}");
        for row in unclipped {
            let code = &row[..row.find("} else {").unwrap()];
            assert!(!code.contains("tw_m") && !code.contains("for ("), "{name}: {code}");
        }
    }
}

/// The points of a sweep neither divide nor multiply places: they go on by sums.
#[test]
fn sweeps_walk_by_sums() {
    for name in ["star2d1r", "star3d1r", "heat3d"] {
        let cuda = shipped(name, "naive", "").unwrap();
        let points = function(&cuda.device_source, "void tw_points_step_u(");
        assert!(!divides(points), "{name}: {points}");
        let step = function(&cuda.device_source, "void tw_block_step_u(");
        let code = &step[step.find("for (; i0").unwrap()..];
        assert!(!divides(code) && !code.contains("i0 * ") && code.contains("tw_first += "), "{name}: {code}");
    }
}

/// Without shared memory, a thread has several points, and no loop runs once.
#[test]
fn a_thread_has_several_points() {
    for (name, points) in [("star2d1r", 8), ("star3d1r", 4), ("heat1d", 8)] {
        let cuda = shipped(name, "naive", "").unwrap();
        let text = &cuda.device_source;
        assert!(text.contains(&format!("tw_points_step_u<{points}>(")), "{name}: {text}");
        let of_block = if name == "heat1d" { "heat1d_step_u(" } else { "void tw_block_step_u(" };
        let kernel = function(text, of_block);
        let loops = kernel.matches("for (").count();
        assert!(loops <= 2 && !kernel.contains("tw_index i1 = low"), "{name}: {kernel}");
    }
}

/// What is loaded ahead comes a few lines after each barrier, and none before the last two rows.
#[test]
fn loads_ahead_are_spread_over_the_rows() {
    for (name, tile, rows, loads) in
        [("star2d1r", "st=6,s0=16,s1=128", 12, 20), ("star3d1r", "st=3,s0=1,s1=16,s2=32", 6, 26)]
    {
        let cuda = shipped(name, "hhc", tile).unwrap();
        let text = function(&cuda.device_source, "void tw_full_rows(");
        let by_row: Vec<usize> =
            text.split("/* row ").map(|part| part.matches("tw_load_when(").count()).collect();
        assert_eq!(by_row.len(), rows + 1, "{name}");
        assert_eq!(by_row.iter().sum::<usize>(), loads, "{name}");
        let most = loads.div_ceil(rows - 2);
        assert!(by_row[..rows - 2].iter().all(|&own| (1..=most).contains(&own)), "{name}: {by_row:?}");
        assert!(by_row[rows - 2..].iter().all(|&own| own == 0), "{name}: {by_row:?}");
        let tile = function(&cuda.device_source, "void tw_tile(");
        assert!(!tile.contains("tw_load_when"), "{name}");
    }
}
