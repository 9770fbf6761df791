//! Help texts, manual pages, completions, and the commands that manuals show.

use crate::support::shown::{self, Shown};
use crate::support::{Folder, everything, tilewright};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[test]
fn every_command_has_a_help_text_with_an_example() {
    for command in shown::commands() {
        let output = tilewright(&[&command, "--help"]).succeeded();
        assert!(output.stdout.contains("Examples:"), "{command}: {}", output.stdout);
        assert!(output.stdout.contains(&format!("  tilewright {command}")), "{command}");
        assert!(output.stdout.contains("--json"), "{command}");
    }
    assert!(tilewright(&["--help"]).succeeded().stdout.contains("Exit codes: 0 success"));
    let version = concat!("tilewright ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(tilewright(&["-V"]).succeeded().stdout, version);
    assert!(tilewright(&["--version"]).succeeded().stdout.starts_with(&format!("{version}features: ")));
}

/// A fresh clone has what the manuals and the help texts name, or an earlier line of the same text makes it.
#[test]
fn shown_commands_read_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut missing = Vec::new();
    let mut checked = 0;
    for (_, commands) in shown::documents() {
        let mut made: Vec<PathBuf> = Vec::new();
        for command in commands {
            for path in command.inputs() {
                checked += 1;
                let is_made = made.iter().any(|made| path.starts_with(made));
                if !is_made && !root.join(&path).exists() {
                    missing.push(format!("{}: {}", command.place, path.display()));
                }
            }
            made.extend(command.outputs());
        }
    }
    assert!(missing.is_empty(), "files that nothing makes:\n{}", missing.join("\n"));
    assert!(checked > 40, "only {checked} files are named");
}

/// Whether a command takes more than a moment in a test.
fn is_expensive(command: &Shown) -> bool {
    let number = |id: &str| command.value(id).parse::<f64>().unwrap_or(1.0);
    let points: f64 =
        command.value("size").split('x').map(|extent| extent.parse::<f64>().unwrap_or(1.0)).product();
    let updates = points * number("steps");
    let has = |word: &str| command.words.iter().any(|own| own == word);
    match command.command() {
        // Proofs about three statements take longest.
        "analyze" if command.value("spec") == "fdtd2d" => !command.fails,
        // They measure a whole machine.
        "calibrate" | "validate" => true,
        "codesign" => ["paper", "today"].contains(&command.value("workload").as_str()),
        "run" => updates > 4e6,
        // NVIDIA's compiler is slow, where it is there at all.
        "compile" => command.value("target") == "cuda",
        // It needs that compiler, and a disassembler.
        "inspect" => true,
        // They count code, measure a machine, or need a scenario that others publish.
        "adaptive" => has("profile") || has("machine") || has("--scenario-folds"),
        // It talks to an editor.
        "lsp" => true,
        "search" if !command.value("replay").is_empty() => number("repetitions") > 1.0,
        "search" if !command.value("command").is_empty() => number("budget") > 5.0,
        "explain" => has("--stargazer"),
        "tune" => has("parts"),
        "search" => updates > 1e6 && command.value("backend") != "model",
        _ => false,
    }
}

/// Whether a command takes seconds, and other tests have one like it: run with all, or where later lines read what it makes.
fn is_dear(command: &Shown) -> bool {
    let has = |word: &str| command.words.iter().any(|own| own == word);
    let learns = |action: &str| command.command() == "adaptive" && has(action);
    has("--adaptive")
        || has("--uncertainty")
        || (["predict", "tune"].contains(&command.command()) && has("--ranks"))
        || learns("transfer")
        || (command.command() == "tune" && has("--certificate"))
        || (command.command() == "nested" && has("tune"))
        || (learns("train") && command.words.iter().any(|word| word.ends_with(".toml")))
}

/// What the manuals and the help texts show works as it is shown. Of commands with the same options and no file of their own, the
/// first; all with `TILEWRIGHT_ALL=1`, as in `make test-long`.
#[test]
fn shown_commands_run() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let (mut known, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for (name, commands) in shown::documents() {
        let folder = Folder::new();
        copy(&examples, &folder.path("examples"));
        for (at, shown) in commands.iter().enumerate().filter(|(_, shown)| !is_expensive(shown)) {
            // A line that stands in several texts runs once, but for those that make what later lines read.
            let made = shown.outputs();
            let is_made = |input: &PathBuf| made.iter().any(|made| input.starts_with(made));
            let needed = commands[at + 1..].iter().any(|later| later.inputs().iter().any(is_made));
            let alike = !kinds.insert(shown.kind()) && !shown.fails && shown.inputs().is_empty();
            let left_out = (is_dear(shown) || alike) && !everything();
            if (!known.insert(shown.words.join(" ")) || left_out) && !needed {
                continue;
            }
            let home = folder.arg("home/");
            let words: Vec<String> = shown.words[1..].iter().map(|word| word.replace("~/", &home)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let start = std::time::Instant::now();
            let mut command = crate::support::command(&words);
            command.current_dir(folder.path("."));
            // NVRTC takes up to half a minute for the tiles that a search passes over.
            if shown.command() == "tune" && !everything() {
                command.env("TILEWRIGHT_NVRTC", "none");
            }
            let output = crate::support::finish(command);
            assert_eq!(
                output.code != 0,
                shown.fails,
                "{}: {}\n{}{}",
                shown.place,
                shown.words.join(" "),
                output.stdout,
                output.stderr
            );
            for path in made.iter().filter(|path| !path.starts_with("~")) {
                assert!(folder.path(".").join(path).exists(), "{}: no {}", shown.place, path.display());
            }
            println!("{:6.2} s  {name}: {}", start.elapsed().as_secs_f64(), shown.words.join(" "));
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn completions() {
    for (shell, part) in [
        ("bash", "complete -F _tilewright"),
        ("zsh", "#compdef tilewright"),
        ("fish", "complete -c tilewright"),
        ("elvish", "edit:completion:arg-completer[tilewright]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = tilewright(&["completions", shell]).succeeded().stdout;
        assert!(script.contains(part), "{shell}: {script}");
        for command in shown::commands() {
            assert!(script.contains(&command), "{shell}: no {command}");
        }
        let document = tilewright(&["completions", shell, "--json"]).succeeded().json();
        assert_eq!(document["script"].as_str().unwrap().trim_end(), script.trim_end());
    }
    assert_eq!(tilewright(&["completions", "tcsh"]).code, 2);
}

#[test]
fn manual_pages() {
    let folder = Folder::new();
    let man = folder.arg("man/man1");
    tilewright(&["manual", "-o", &man]).succeeded();
    let page = |name: &str| std::fs::read_to_string(folder.path(&format!("man/man1/{name}.1"))).unwrap();
    assert!(page("tilewright").contains(".SH SUBCOMMANDS"));
    for command in shown::commands() {
        let text = page(&format!("tilewright-{command}"));
        assert!(text.contains(".SH SYNOPSIS") && text.contains("Examples:"), "{text}");
        assert!(text.contains("\\-\\-json"), "{command} lacks the options of all commands");
    }
    // Again, and beside files of others; but never over them.
    folder.write("man/man1/other.1", "own");
    tilewright(&["manual", "-o", &man]).succeeded();
    folder.write("man/man1/tilewright-run.1", "a page of one's own");
    let refused = tilewright(&["manual", "-o", &man]);
    assert!(refused.code == 2 && refused.stderr.contains("tilewright-run.1"), "{}", refused.stderr);
    assert_eq!(page("tilewright-run"), "a page of one's own");
}
