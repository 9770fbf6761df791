//! Memory: programs under sanitizers, and arrays that overlap.

use super::{original, program};
use crate::support::{Folder, everything, tilewright};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every fourteenth accepted program, and its rewritten form, with checks of each access and of undefined behaviour; every
/// one with `TILEWRIGHT_ALL=1`, as in `make test-long`.
#[test]
fn programs_are_clean_under_sanitizers() {
    if !execution::equivalence::has_sanitizers() {
        println!("SKIPPED: the C compiler has no sanitizers, with which the programs would be built");
        return;
    }
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(program("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    if !everything() {
        files = files.into_iter().step_by(14).collect();
    }
    let check = |file: &PathBuf| {
        let report = tilewright(&[
            "check",
            file.to_str().unwrap(),
            "--sanitize",
            "--quick",
            "--threads",
            "2",
            "--json",
        ])
        .json();
        let clean = report["equal"] == true && report["stderr"]["rewritten"] == "";
        (!clean).then(|| format!("{}: {report:#}", file.display()))
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let halves = files.chunks(files.len().div_ceil(2));
        let threads: Vec<_> = halves
            .map(|half| scope.spawn(move || half.iter().filter_map(check).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A program in a folder of its own, rewritten and built with these flags and sanitizers where there are any.
fn sanitized(folder: &Folder, name: &str, flags: &[&str]) -> PathBuf {
    let (file, out) = (program(name).display().to_string(), folder.arg("out"));
    let mut arguments =
        vec!["compile", file.as_str(), "--target", "openmp", "-o", &out, "--strategy", "naive"];
    arguments.extend(flags);
    tilewright(&arguments).succeeded();
    let program = Path::new(&out).join("program");
    let stem = name.trim_end_matches(".c");
    let sources: Vec<String> =
        ["", "_scop", "_scop_glue"].iter().map(|part| format!("{out}/{stem}{part}.c")).collect();
    let built = |sanitizers: &[&str]| {
        let mut command = Command::new("cc");
        command.args(["-O0", "-w", "-fopenmp", "-ffp-contract=off"]).args(flags).args(sanitizers);
        command.args(&sources).arg("-o").arg(&program).arg("-lm").output().unwrap().status.success()
    };
    if !built(&["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]) {
        println!("SKIPPED: there are no sanitizers, with which memory would be checked");
        assert!(built(&[]), "{name} cannot be built");
    }
    program
}

fn report(program: &Path) -> (String, String) {
    report_of(Command::new(program))
}

fn report_of(mut command: Command) -> (String, String) {
    command.env("TILEWRIGHT_REPORT", "1").env("ASAN_OPTIONS", "detect_leaks=0").env("OMP_NUM_THREADS", "2");
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    let line = stderr.lines().find(|line| line.starts_with("tilewright: ")).unwrap_or_default().to_owned();
    (String::from_utf8(output.stdout).unwrap(), line)
}

#[test]
fn guards_touch_nothing_outside() {
    let file = program("edges_of_rows.c").display().to_string();
    // Pieces meet, and vanish, on small grids.
    for (size, wanted) in [
        ("-DN=26", "tilewright: edges_of_rows_scop: tiled 1, original 0"),
        ("-DN=1", "tilewright: edges_of_rows_scop: tiled 1, original 0"),
    ] {
        let folder = Folder::new();
        let (found, line) = report(&sanitized(&folder, "edges_of_rows.c", &[size]));
        assert_eq!(line, wanted);
        assert!(found == original(&folder, &file, &[size]), "{size}");
    }
}

/// Steps that run one at a time run in tiles, or as they were written where that is faster; either way the same comes out.
#[test]
fn steps_take_turns() {
    let file = program("steps_in_turn.c").display().to_string();
    let folder = Folder::new();
    let program = sanitized(&folder, "steps_in_turn.c", &[]);
    let wanted = original(&folder, &file, &[]);
    let mut always = Command::new(&program);
    always.env("TILEWRIGHT_TILED", "always");
    let (found, line) = report_of(always);
    assert_eq!(line, "tilewright: steps_in_turn_scop: tiled 90, original 0");
    assert!(found == wanted);
    let (found, line) = report(&program);
    let numbers: Vec<u32> = line.split([' ', ',', ':']).filter_map(|word| word.parse().ok()).collect();
    // Without OpenMP there is no clock.
    let tried = line.ends_with("tiled 90, original 0") || (numbers[0] >= 3 && numbers[1] >= 3);
    assert!(tried && numbers[0] + numbers[1] == 90, "{line}");
    assert!(found == wanted);
}

/// A block of steps that the test ends too late is put back without what lies between rows.
#[test]
fn rows_are_kept_one_by_one() {
    let file = program("rows_that_converge.c").display().to_string();
    let folder = Folder::new();
    let (found, line) = report(&sanitized(&folder, "rows_that_converge.c", &[]));
    assert!(line.starts_with("tilewright: rows_that_converge_scop: tiled "), "{line}");
    assert!(!line.contains("tiled 0"), "{line}");
    assert!(found == original(&folder, &file, &[]));
}

/// What a pointer reads may be a scalar that the steps assign.
#[test]
fn scalars_behind_pointers() {
    let file = program("pointed_scalars.c").display().to_string();
    let report = tilewright(&["check", &file, "--quick", "--threads", "2", "--json"]).json();
    assert!(report["equal"] == true, "{report:#}");
    // The error is no other number than the one that is looked at.
    let regions = report["regions"].as_array().unwrap();
    assert!(regions.iter().any(|one| one["tiled"].as_u64() > Some(0)), "{report:#}");
}

#[test]
fn aliases_run_as_they_were_written() {
    let folder = Folder::new();
    let program = sanitized(&folder, "aliases.c", &[]);
    let (found, line) = report(&program);
    assert_eq!(line, "tilewright: aliases_scop: tiled 2, original 4: arrays overlap");
    let file = super::program("aliases.c").display().to_string();
    assert!(found == original(&folder, &file, &[]));
    // Without the report, one line says so once.
    let output = Command::new(&program).env("ASAN_OPTIONS", "detect_leaks=0").output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "aliases_scop: arrays overlap; the loops run as they were written\n"
    );
}

/// Copies from an element on, of rows, and within one array.
#[test]
fn parts_that_are_copied() {
    let file = program("moved_parts.c").display().to_string();
    let check = |flags: &[&str]| {
        tilewright(&[&["check", &file, "--quick", "--threads", "2", "--json"][..], flags].concat()).json()
    };
    let report = check(&[]);
    let regions = report["regions"].as_array().unwrap();
    assert!(report["equal"] == true && regions.len() == 3, "{report:#}");
    let tiled = |region: &serde_json::Value| region["tiled"].as_u64() > Some(0) && region["original"] == 0;
    assert!(regions.iter().all(tiled), "{report:#}");
    assert_eq!(check(&["-DOVERLAP"])["equal"], true);
}
