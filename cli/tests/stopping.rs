//! Ctrl-C, closed pipes and full disks: no panic, no half-written file, no temporary file.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{Folder, command, finish, tilewright};

const PATIENCE: Duration = Duration::from_secs(60);

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Runs for days if it is not stopped.
fn interrupted(backend: &str, name: &str) {
    let folder = Folder::new();
    let output = format!("u={}", folder.arg("out.npy"));
    let run = ["run", "heat2d", "--size", "300x300", "--steps", "1000000000", "--backend", backend];
    let mut child = command(&[&run[..], &["--json", "--output", &output]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // In whatever stage it is by then.
    std::thread::sleep(Duration::from_millis(1200));
    assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
    let start = Instant::now();
    signal(&child, name);
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < PATIENCE);
    assert_eq!(output.status.code(), Some(130), "{backend} {name}");
    assert_eq!(folder.names(), [""; 0], "{backend} {name}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

#[test]
fn ctrl_c_ends_compiled_code() {
    interrupted("openmp", "-INT");
}

#[test]
fn termination_ends_the_interpreter() {
    interrupted("reference", "-TERM");
}

#[test]
fn an_old_result_stays_where_a_run_is_stopped() {
    let folder = Folder::new();
    folder.write("out.npy", "old");
    let output = format!("u={}", folder.arg("out.npy"));
    let run = ["run", "heat2d", "--size", "300x300", "--steps", "1000000000", "--backend", "reference"];
    let mut child =
        command(&[&run[..], &["--output", &output]].concat()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert_eq!(std::fs::read(folder.path("out.npy")).unwrap(), b"old");
    assert_eq!(folder.names(), ["out.npy"]);
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    for arguments in
        [&["list"][..], &["--help"], &["analyze", "box2d2r", "--json"], &["analyze", "nothing", "--json"]]
    {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        let expected = if arguments.contains(&"nothing") { 2 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut list = command(&["list"]);
    let output = list.stdout(full()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to stdout"));

    let mut errors = command(&["analyze", "nothing"]);
    errors.stderr(full());
    assert_eq!(finish(errors).code, 2);

    let run = [
        "run",
        "heat2d",
        "--size",
        "9x9",
        "--steps",
        "1",
        "--backend",
        "reference",
        "--output",
        "u=/dev/full",
    ];
    let output = tilewright(&run);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("/dev/full"), "{}", output.stderr);
}

#[test]
fn colours_and_progress_are_for_terminals() {
    let output = tilewright(&["analyze", "nothing"]);
    assert!(!output.stderr.contains('\x1b'), "{}", output.stderr);
    let mut forced = command(&["analyze", "nothing"]);
    forced.env("NO_COLOR", "1");
    assert!(!finish(forced).stderr.contains('\x1b'));
}
