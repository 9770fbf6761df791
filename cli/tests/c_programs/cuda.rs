//! C programs for GPUs, on the emulator.

use super::{original, program, run};
use crate::support::{Folder, command, everything, finish, tilewright};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_emulator_agrees_with_the_interpreter() {
    for (name, size) in [("staggered.c", "11x21"), ("wave_three_buffers.c", "40")] {
        let file = program(name).display().to_string();
        let report = tilewright(&[
            "run",
            &file,
            "--size",
            size,
            "--steps",
            "5",
            "--backend",
            "emulator",
            "--verify",
            "--json",
        ]);
        assert_eq!(report.succeeded().json()["verified"], true);
    }
}

/// Rewrites for CUDA and builds with the Makefile that comes with it, on a stand-in for the CUDA runtime: kernels run
/// on the emulator. The program, not yet started.
fn on_the_emulator(folder: &Folder, name: &str, flags: &[&str]) -> PathBuf {
    let (file, out) = (program(name).display().to_string(), folder.arg("cuda"));
    let mut arguments = vec!["compile", file.as_str(), "--target", "cuda", "-o", out.as_str()];
    arguments.extend(flags);
    // How many registers the kernels need makes no difference here.
    let mut compile = command(&arguments);
    compile.env("TILEWRIGHT_NVRTC", "none");
    finish(compile).succeeded();
    let nvcc = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/cuda/nvcc.sh");
    let mut make = Command::new("make");
    make.args([
        "-s",
        "-C",
        &out,
        &format!("NVCC=sh {}", nvcc.display()),
        "CFLAGS=-O1 -Wall -Werror -Wno-unknown-pragmas",
    ]);
    run(make);
    Path::new(&out).join(name.trim_end_matches(".c"))
}

#[test]
fn cuda_programs_run_as_a_whole() {
    let programs: [(&str, &[&str]); 7] = [
        ("staggered.c", &["--tile", "st=4,s0=4,s1=8"]),
        ("wave_three_buffers.c", &[]),
        ("steps_of_two.c", &[]),
        // Several loops, each with its own structure of distances.
        ("copies.c", &["-DSTEPS=3"]),
        ("far_reaching.c", &["-DREAL=double"]),
        ("cells.c", &["-DCELL=_Bool"]),
        ("red_black.c", &["-DSTEPS=3"]),
    ];
    for (name, flags) in programs.into_iter().step_by(if everything() { 1 } else { 2 }) {
        let folder = Folder::new();
        let mut program = Command::new(on_the_emulator(&folder, name, flags));
        let output = program.env("TW_CUDA_COUNTS", "1").output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Kernels ran, no access of theirs was wrong, and all memory was freed.
        let launches = stderr.strip_prefix("stub: ").and_then(|rest| rest.strip_suffix(" launches\n"));
        assert!(
            launches.is_some_and(|count| count.parse::<u32>().is_ok_and(|count| count > 0)),
            "{name}: {stderr}"
        );
        assert!(output.status.success(), "{name}");
        let defines: Vec<&str> = flags.iter().copied().filter(|flag| flag.starts_with("-D")).collect();
        let file = super::program(name).display().to_string();
        assert!(
            String::from_utf8_lossy(&output.stdout) == original(&folder, &file, &defines),
            "{name} {flags:?}"
        );
    }
}

#[test]
fn errors_of_the_gpu_are_reported() {
    let folder = Folder::new();
    let program = on_the_emulator(&folder, "double_buffer.c", &[]);
    let file = super::program("double_buffer.c").display().to_string();
    let wanted = original(&folder, &file, &[]);
    let output = Command::new(&program)
        .env("TW_CUDA_FAILS", "launch:1")
        .env("TILEWRIGHT_REPORT", "1")
        .output()
        .unwrap();
    let line = "tilewright: double_buffer_scop: tiled 2, original 4: nothing to compute (3), \
                unspecified launch failure (1)\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), line);
    for (call, message) in [
        ("malloc:1", "out of memory"),
        ("upload:1", "invalid argument"),
        ("launch:1", "unspecified launch failure"),
        ("launch:2", "unspecified launch failure"),
        ("synchronize:1", "unspecified launch failure"),
        ("download:1", "invalid argument"),
    ] {
        let output = Command::new(&program).env("TW_CUDA_FAILS", call).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let said = format!("double_buffer_scop: {message}; the loops run as they were written\n");
        assert!(stderr == said, "{call}: {stderr}");
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout) == wanted, "{call}");
    }
}
