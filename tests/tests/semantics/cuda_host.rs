//! The CUDA program that users build by hand: its entry points, launches and its own check, with a processor in place of a device.
//!
//! The emulator takes kernels alone. Here the whole program is compiled, with a header that stands for CUDA's and launches
//! that are calls; what it prints is what it would print on a GPU.

use crate::harness::{hexagonal_tile, parsed, planned, shipped};
use hhc_codegen::backend::cuda::{CudaOptions, generate};
use hhc_codegen::{KernelPlan, TileSizes};
use polyhedral::arithmetic::Arithmetic;
use polyhedral::program::Program;
use std::process::{Command, Output};
use std::sync::Arc;
use toolchain::compiler::{Compiler, Language};

pub const CUDA: &str = include_str!("cuda_host/cuda_runtime_api.h");
pub const FIBERS: &str = include_str!("../../../templates/emulator/tw_fibers.h");

/// `kernel<<<grid, threads, bytes, stream>>>(arguments)` as `tw_host::launch(grid, threads, bytes, stream, [=] {
/// kernel(arguments); })`.
pub fn with_calls(text: &str) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<<<") {
        let before = &rest[..at];
        // A kernel's name, with the argument of a template.
        let word = |c: char| c.is_alphanumeric() || "_<>".contains(c);
        let name = before.rfind(|c| !word(c)).map_or(0, |at| at + 1);
        let end = rest[at..].find(">>>").unwrap() + at;
        let (grid, behind) = (&rest[at + 3..end], &rest[end + 3..]);
        let mut depth = 0;
        let close = behind.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let (arguments, after) = behind.split_at(close.unwrap() + 1);
        done +=
            &format!("{}tw_host::launch({grid}, [=] {{ {}{arguments}; }})", &before[..name], &before[name..]);
        rest = after;
    }
    done + rest
}

/// What the standalone program of a plan prints, with a mistake in its text.
fn standalone(plan: &KernelPlan, wrong: Option<(&str, &str)>, has_memory: bool) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let name = &plan.program.name;
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    write("cuda_runtime_api.h", CUDA);
    write("cuda_runtime.h", "#include \"cuda_runtime_api.h\"\n");
    write("tw_fibers.h", FIBERS);
    for mut file in generate(plan, &CudaOptions::default()).unwrap().files {
        if let Some((from, to)) = wrong.filter(|_| file.name.ends_with(&format!("{name}.cu"))) {
            assert!(file.text.contains(from), "{name}: no `{from}`");
            file.text = file.text.replace(from, to);
        }
        // Small grids to check: what a lane of a GPU does is done one after the other.
        for (large, small) in
            [("(10013, ", "(501, "), ("(261, 377, ", "(61, 47, "), ("(61, 47, 83, ", "(23, 17, 29, ")]
        {
            file.text = file.text.replace(large, small);
        }
        write(&file.name.replace(".cu", ".cpp"), &with_calls(&file.text));
    }
    let compiler = Compiler::find(Language::Cxx).unwrap();
    let mut command = compiler.command();
    let files = [format!("{name}.cpp"), format!("{name}_main.cpp")];
    command
        .args([
            "-std=c++17",
            "-O0",
            "-w",
            "-ffp-contract=off",
            "-I.",
            "-include",
            "cuda_runtime_api.h",
            "-o",
            "program",
        ])
        .args(files);
    let built = command.current_dir(folder.path()).output().unwrap();
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    // A small grid to time, and few steps.
    let sizes = ["20", "19", "18", "3"];
    let given = sizes[..plan.program.dimension()].iter().chain(&sizes[3..]);
    let mut command = Command::new(folder.path().join("program"));
    if !has_memory {
        command.env("TW_NO_MEMORY", "1");
    }
    command.args(given).output().unwrap()
}

fn equal(output: &Output) -> bool {
    output.status.success() && String::from_utf8_lossy(&output.stdout).contains("check: 0 of")
}

fn check(program: &Arc<Program>, strategy: &str, tile: &TileSizes) {
    let output = standalone(&planned(program, strategy, tile).plan, None, true);
    assert!(equal(&output), "{} {strategy}: {output:?}", program.name);
}

/// Around the ends of both indices, of one of them beside ends that hold values, and in one dimension.
fn periodic() -> [Arc<Program>; 3] {
    let torus = "
        stencil torus(t, i, j) {
            field u: f32;
            param c = 0.125;
            boundary periodic;
            u[t+1, i, j] = u[t, i, j] + c * (u[t, i+1, j] + u[t, i-1, j] + u[t, i, j+1] + u[t, i, j-1] - 4 * u[t, i, j]);
        }";
    let waves = "
        stencil waves(t, i, j) {
            field u: f64;
            field v: f64;
            coefficient a: f64;
            series f: f64;
            boundary periodic(j);
            u[t+1, i, j] = 2 * u[t, i, j] - u[t-1, i, j] + f[t] + a[i, j] * (u[t, i-1, j] + u[t, i+1, j] - 2 * u[t, i, j]);
            v[t+1, i, j] = v[t, i, j] + (u[t+1, i, j+1] - u[t+1, i, j-1]);
        }";
    let upwind = "
        stencil upwind(t, i) {
            field u: f64;
            param courant = 0.4;
            boundary periodic;
            u[t+1, i] = u[t, i] - courant * (u[t, i] - u[t, i-2]);
        }";
    [("torus", torus), ("waves", waves), ("upwind", upwind)].map(|(name, text)| parsed(name, text))
}

#[test]
fn shipped_stencils() {
    for name in ["heat2d", "leapfrog1d"] {
        let program = shipped(name);
        check(&program, "hhc", &hexagonal_tile(&program, 2, 1, &[9, 8]));
    }
    check(&shipped("heat3d"), "naive", &TileSizes::default());
}

/// What is contracted keeps to the bound that the program checks itself against; a mistake does not; where there is no bound it says so.
#[test]
fn contracted_code_checks_itself() {
    let free = |program: Arc<Program>, approximate| {
        let arithmetic = Arithmetic { contract: true, approximate };
        Arc::new(Program { arithmetic, ..(*program).clone() })
    };
    let thirds = "stencil thirds(t, i) { field u: f32; param c = 0.3; u[t+1, i] = c * u[t, i] + 0.7 * (u[t, i-1] + u[t, i+1]) / 2.0; }";
    let plan = planned(&free(parsed("thirds", thirds), false), "naive", &TileSizes::default()).plan;
    let output = standalone(&plan, None, true);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("the bound is"), "{output:?}");
    assert!(!text.contains("by up to 0;"), "{text}");
    let output = standalone(&plan, Some(("fmaf(tw_c_f32", "fmaf(0.9999f * tw_c_f32")), true);
    assert!(
        !output.status.success() && String::from_utf8_lossy(&output.stdout).contains("TOO MUCH"),
        "{output:?}"
    );
    let gradient = planned(&free(shipped("gradient2d"), true), "naive", &TileSizes::default()).plan;
    let output = standalone(&gradient, None, true);
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("is not known"),
        "{output:?}"
    );
}

#[test]
fn periodic_grids() {
    for program in periodic() {
        check(&program, "hhc", &hexagonal_tile(&program, 2, 1, &[9, 8]));
    }
    check(&periodic()[1], "naive", &TileSizes::default());
}

/// Ghost zones that are not brought up to date, that lie one point off, and levels that are not brought back.
#[test]
fn mistakes_around_the_ends_are_found() {
    let [torus, ..] = periodic();
    let plan = planned(&torus, "hhc", &hexagonal_tile(&torus, 2, 1, &[9, 8])).plan;
    for wrong in [
        ("if (own + x != from) level[own + x]", "if (own + x == from) level[own + x]"),
        ("tw_modulo(x - s.low[2], s.n[2])]", "tw_modulo(x - s.low[2] + 1, s.n[2])]"),
        ("given[x] = own[x];", ""),
    ] {
        assert!(!equal(&standalone(&plan, Some(wrong), true)), "{wrong:?}");
    }
}

/// A grid with ghost zones that the device has no memory for is an error, not a result.
#[test]
fn memory_that_is_missing_is_an_error() {
    let [torus, ..] = periodic();
    let output = standalone(&planned(&torus, "naive", &TileSizes::default()).plan, None, false);
    assert!(!output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("torus_main: an error"), "{output:?}");
}
