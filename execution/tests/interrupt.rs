//! Signals end a process in order: flag first, and no temporary files left where nobody can check it.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use execution::output_file;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use toolchain::interrupt;

const CHILD: &str = "TILEWRIGHT_TEST_INTERRUPT_CHILD";
const PATIENCE: Duration = Duration::from_secs(20);

/// What a child process does; not a test of its own.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    interrupt::install(|code| std::process::exit(i32::from(code)));
    let [kind, path, ready] = task.split(':').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let (path, ready) = (Path::new(path), Path::new(ready));
    let start = Instant::now();
    match kind {
        // Writes for ever, and ends in order as soon as the flag is set.
        "polite" => {
            let result = output_file::write(path, |file| {
                std::fs::write(ready, "")?;
                while start.elapsed() < PATIENCE {
                    file.write_all(b"some bytes")?;
                    file.flush()?;
                    if interrupt::requested() {
                        return Err(std::io::Error::other("interrupted"));
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
                Ok(())
            });
            assert!(result.is_err());
            std::process::exit(77);
        }
        // Never checks the flag.
        "deaf" => {
            let _ = output_file::write(path, |file| {
                file.write_all(b"half")?;
                let _blocking = interrupt::Blocking::enter().unwrap();
                std::fs::write(ready, "")?;
                std::thread::sleep(PATIENCE);
                Ok(())
            });
        }
        _ => panic!("unknown task"),
    }
}

fn start(kind: &str, path: &Path, ready: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env(CHILD, format!("{kind}:{}:{}", path.display(), ready.display()))
        .spawn()
        .unwrap()
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

fn interrupted_child(kind: &str, signal: &str) -> Option<i32> {
    let folder = tempfile::tempdir().unwrap();
    let signs = tempfile::tempdir().unwrap();
    let mut child = start(kind, &folder.path().join("out"), &signs.path().join("ready"));
    let begin = Instant::now();
    while entries(signs.path()) == 0 && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(entries(folder.path()), 1, "the temporary file");
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(entries(folder.path()), 0, "temporary files were left");
    status.code()
}

#[test]
fn a_process_that_checks_the_flag_ends_in_order() {
    assert_eq!(interrupted_child("polite", "-INT"), Some(77));
    assert_eq!(interrupted_child("polite", "-TERM"), Some(77));
}

#[test]
fn a_process_that_cannot_check_ends_at_once() {
    assert_eq!(interrupted_child("deaf", "-INT"), Some(130));
    assert_eq!(interrupted_child("deaf", "-TERM"), Some(143));
}

#[test]
fn what_is_finished_is_no_longer_temporary() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, gone) = (folder.path().join("kept"), folder.path().join("gone"));
    std::fs::write(&kept, "").unwrap();
    std::fs::create_dir(&gone).unwrap();
    std::fs::write(gone.join("inner"), "").unwrap();
    drop(interrupt::register(&kept));
    let registration = interrupt::register(&gone);
    interrupt::remove_temporary();
    drop(registration);
    assert!(kept.exists() && !gone.exists());
}
