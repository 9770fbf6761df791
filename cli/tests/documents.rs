//! What scripts rely on: keys of the JSON documents, files and their names, help texts.

use crate::support::shown::{self, Shown};
use crate::support::{Folder, command, everything, finish, tilewright, without_nvrtc};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[track_caller]
fn has_keys(document: &Value, keys: &[&str]) {
    let found: BTreeSet<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    let missing: Vec<&&str> = keys.iter().filter(|key| !found.contains(*key)).collect();
    assert!(missing.is_empty(), "no {missing:?} in {found:?}");
}

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
        // They count code, or measure a machine.
        "adaptive" => has("profile") || has("machine"),
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

/// What the manuals and the help texts show works as it is shown.
#[test]
fn shown_commands_run() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut known = BTreeSet::new();
    for (name, commands) in shown::documents() {
        let folder = Folder::new();
        copy(&examples, &folder.path("examples"));
        for (at, shown) in commands.iter().enumerate().filter(|(_, shown)| !is_expensive(shown)) {
            // A line that stands in several texts runs once, but for those that make what later lines read.
            let made = shown.outputs();
            let is_made = |input: &PathBuf| made.iter().any(|made| input.starts_with(made));
            let needed = commands[at + 1..].iter().any(|later| later.inputs().iter().any(is_made));
            let left_out = is_dear(shown) && !everything();
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

/// The JSON Schema of space files and the reader agree on what is a space.
#[test]
fn space_files_follow_their_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let schema = parse(&read("docs/schemas/space.schema.json"));
    let folder = Folder::new();
    let accepted = |text: &str| {
        let space = folder.write("space.json", text);
        let search =
            ["search", "--space", &space, "--command", "echo 1", "--method", "random", "--budget", "1"];
        tilewright(&search).code == 0
    };
    let manual = read("docs/tuning.md");
    let shown = manual.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let example = read("examples/transpose.json");
    assert_eq!(parse(shown), parse(&example), "docs/tuning.md shows examples/transpose.json");
    let parameter = |text: &str| format!("{{\"ConfigurationSpace\": {{\"TuningParameters\": [{text}]}}}}");
    let level = r#"{"Name": "a", "Values": [1, 2.5, "x", true]}"#;
    let with = |conditions: &str| {
        let space = "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1, 2]}], \"Conditions\": ";
        format!("{space}{conditions}}}}}")
    };
    for (text, valid) in [
        (example, true),
        (SPACE.to_owned(), true),
        (parameter(level), true),
        (parameter(r#"{"Name": "a", "Values": "[1, 2]"}"#), true),
        (with(r#"[{"Expression": "a > 1"}]"#), true),
        (with("[]"), true),
        ("{}".to_owned(), false),
        (r#"{"ConfigurationSpace": {}}"#.to_owned(), false),
        (parameter(""), false),
        (parameter(r#"{"Values": [1]}"#), false),
        (parameter(r#"{"Name": "", "Values": [1]}"#), false),
        (parameter(r#"{"Name": "a"}"#), false),
        (parameter(r#"{"Name": "a", "Values": []}"#), false),
        (parameter(r#"{"Name": "a", "Values": [[1]]}"#), false),
        (parameter(r#"{"Name": "a", "Values": 3}"#), false),
        (with(r#"[{"Parameters": ["a"]}]"#), false),
        (with(r#"["a > 1"]"#), false),
    ] {
        let found = violation(&parse(&text), &schema, "");
        assert_eq!(found.is_none(), valid, "the schema, of {text}: {found:?}");
        assert_eq!(accepted(&text), valid, "the reader, of {text}");
    }
}

/// Models of all kinds follow their JSON Schema.
#[test]
fn models_follow_their_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let parse = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let schema =
        parse(std::fs::read_to_string(root.join("docs/schemas/adaptive-model.schema.json")).unwrap());
    let folder = Folder::new();
    let (table, model) = (root.join("examples/sorting.csv"), folder.arg("model.json"));
    for kind in ["svm", "tree", "forest"] {
        let train = ["adaptive", "train", table.to_str().unwrap(), "--classifier", kind, "-o", &model];
        tilewright(&train).succeeded();
        let mut document = parse(std::fs::read_to_string(&model).unwrap());
        assert_eq!(violation(&document, &schema, ""), None, "{kind}");
        document["model"]["classifier"] = serde_json::json!({"kind": kind});
        assert!(violation(&document, &schema, "").is_some());
    }
}

/// Where a value breaks a JSON Schema, for the keywords that ours have.
fn violation(value: &Value, schema: &Value, place: &str) -> Option<String> {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the type {other}"),
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let length = value.as_str().map(|text| text.chars().count()).or(value.as_array().map(Vec::len));
    schema.as_object().unwrap().iter().find_map(|(key, rule)| {
        let broken = || Some(format!("{place}: {key} {rule}"));
        match key.as_str() {
            "$schema" | "title" | "description" => None,
            "type" => {
                let names = if rule.is_array() { list(rule) } else { vec![rule.clone()] };
                if names.iter().any(|name| is(name.as_str().unwrap())) { None } else { broken() }
            }
            "required" if value.is_object() => list(rule)
                .iter()
                .find(|name| value.get(name.as_str().unwrap()).is_none())
                .and_then(|_| broken()),
            "minItems" | "minLength" => {
                length.filter(|&length| (length as u64) < rule.as_u64().unwrap()).and_then(|_| broken())
            }
            "properties" => rule.as_object().unwrap().iter().find_map(|(name, rule)| {
                value.get(name).and_then(|part| violation(part, rule, &format!("{place}/{name}")))
            }),
            "items" => list(value).iter().find_map(|part| violation(part, rule, &format!("{place}/*"))),
            "anyOf" if list(rule).iter().all(|rule| violation(value, rule, place).is_some()) => broken(),
            "required" | "anyOf" => None,
            other => panic!("the keyword {other}"),
        }
    })
}

/// `lsp` talks to its editor until that goes, publishes what `analyze` finds, and has no document.
#[test]
fn lsp() {
    let text = "stencil x(t, i) { field u: f32; u[t+1, i] = w; }";
    let file =
        serde_json::json!({"uri": "file:///x.stencil", "languageId": "stencil", "version": 1, "text": text});
    let messages = [
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}),
        serde_json::json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": file}}),
        serde_json::json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}),
        serde_json::json!({"jsonrpc": "2.0", "method": "exit"}),
    ];
    let framed = messages.iter().map(|message| message.to_string());
    let framed: String = framed.map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len())).collect();
    let folder = Folder::new();
    let talk = |arguments: &[&str], input: &str| {
        let mut command = command(arguments);
        command.stdin(std::fs::File::open(folder.write("input", input)).unwrap());
        finish(command)
    };
    let output = talk(&["lsp"], &framed).succeeded();
    assert!(output.stdout.contains("\"code\":\"TW0201\""), "{}", output.stdout);
    assert!(!output.stdout.ends_with('\n'));
    assert_eq!(talk(&["lsp"], "").code, 1);
    let broken = talk(&["lsp"], "hello");
    assert!(broken.code == 2 && broken.stderr.contains("Language Server Protocol"), "{}", broken.stderr);
    assert_eq!(talk(&["lsp", "--json"], "").code, 2);
}

#[test]
fn list() {
    let document = tilewright(&["list", "--json"]).succeeded().json();
    has_keys(&document, &["stencils", "strategies", "machines", "backends", "targets"]);
    let stencils = document["stencils"].as_array().unwrap();
    assert_eq!(stencils.len(), polyhedral::shipped::names().len());
    for stencil in stencils {
        has_keys(stencil, &["name", "dimension", "fields", "statements", "description"]);
        assert!(!stencil["description"].as_str().unwrap().is_empty(), "{stencil}");
    }
    let text = tilewright(&["list"]).succeeded().stdout;
    assert!(text.contains("heat2d") && text.contains("hhc") && text.contains("machine"));
    assert!(text.lines().all(|line| line.len() < 160 && line == line.trim_end()));
}

#[test]
fn analyze() {
    let arguments = ["analyze", "fdtd2d", "--size", "100x80", "--steps", "10", "--json"];
    let document = tilewright(&arguments).succeeded().json();
    has_keys(
        &document,
        &[
            "stencil",
            "dimension",
            "statements",
            "fields",
            "dependences",
            "cone",
            "footprint",
            "counts",
            "flops",
            "bytes",
            "intensity",
            "strategy",
            "tile",
            "legal",
            "proof",
            "totals",
        ],
    );
    has_keys(&document["totals"], &["points", "points_per_step", "grid_bytes", "flops", "bytes", "launches"]);
    assert_eq!(document["legal"], true);
    assert_eq!(document["totals"]["points"], 8000);
    // The first statement computes the most: all but the first row.
    assert_eq!(document["totals"]["points_per_step"], 99 * 80);
    let text = tilewright(&["analyze", "fdtd2d"]).succeeded().stdout;
    assert!(text.contains("legal for all grid sizes") && text.contains("anti"), "{text}");
}

/// Documents say what they are: a name and a version.
#[track_caller]
fn has_schema(document: &Value, name: &str) {
    let version = if name.starts_with("codesign") { 2 } else { 1 };
    assert_eq!(document["schema"], format!("tilewright.{name}/{version}"), "{document}");
}

#[test]
fn every_document_names_its_schema() {
    let folder = Folder::new();
    let own = |name: &str| folder.arg(name);
    let csv = folder.write("trials.csv", trials());
    let workload = folder.write("small.toml", WORKLOAD);
    let space = folder.write("space.json", SPACE);
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let (program, headers) = (format!("{examples}/prog.c"), format!("-I{examples}/include"));
    let model = ["--size", "256x256", "--steps", "20", "--machine", "gtx980"];
    let cpu = ["--size", "64x64", "--steps", "4", "--machine", "zen4", "--backend", "openmp"];
    let small = ["--what-if", "none", "-o", &own("study")];
    let (certificate, report) = (own("heat2d.certificate"), own("study/report.json"));
    let (sorting, chooser) = (format!("{examples}/sorting.csv"), own("sorting.model.json"));
    let mut calls: Vec<(&str, Vec<&str>)> = vec![
        ("list", vec![]),
        ("analyze", vec!["heat1d"]),
        ("compile", vec!["heat1d", "--target", "openmp", "-o", "OUT"]),
        ("check", vec![&program, "-DN=40", "-DSTEPS=4", &headers, "--quick"]),
        ("convert", vec!["heat1d"]),
        ("run", vec!["heat1d", "--size", "64", "--steps", "4", "--backend", "reference"]),
        ("predict", [&["heat2d", "--tile", "st=2,s0=8,s1=32"], &model[..]].concat()),
        ("tune", [&["heat2d", "--strategy", "hhc", "--certificate", &certificate], &model[..]].concat()),
        ("validate", [&["heat2d", "--samples", "2", "--repeat", "1"], &cpu[..]].concat()),
        ("codesign", [&[workload.as_str()], &small[..]].concat()),
        ("check-certificate", vec![&certificate]),
        ("pick", vec![&report, "--designs", "2"]),
        ("pareto", vec![&csv, "--x", "a", "--y", "time", "--min", "time"]),
        (
            "search",
            vec![
                "--space",
                &space,
                "--command",
                "echo {a}",
                "--response",
                "time",
                "--budget",
                "3",
                "--method",
                "random",
            ],
        ),
        ("explain", vec![&csv, "--metric", "time", "--samples", "10", "--validation", "5", "--draws", "2"]),
        ("adaptive", vec!["train", &sorting, "--classifier", "tree", "-o", &chooser]),
        ("cache", vec!["show"]),
        ("completions", vec!["fish"]),
        ("manual", vec!["-o", "MAN"]),
        ("nested", vec!["analyze", "reduction"]),
    ];
    let can_count = crate::inspect::can_count(90);
    if can_count {
        calls.push(("inspect", "heat2d --target cuda --size 256x256 --steps 8".split(' ').collect()));
    }
    let (out, man) = (own("out"), own("man"));
    let missing: Vec<String> = shown::commands()
        .into_iter()
        // It measures for minutes; its report is made like the others'.
        .filter(|command| command != "calibrate" && (command != "inspect" || can_count))
        // It talks to an editor.
        .filter(|command| command != "lsp")
        .filter(|command| !calls.iter().any(|(name, _)| name == command))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    for (command, arguments) in calls {
        let arguments = arguments.iter().map(|word| match *word {
            "OUT" => out.as_str(),
            "MAN" => man.as_str(),
            word => word,
        });
        let arguments: Vec<&str> = std::iter::once(command).chain(arguments).chain(["--json"]).collect();
        let run = if command == "tune" { without_nvrtc } else { tilewright };
        let output = run(&arguments).succeeded();
        // Of several commands in one, each has its own.
        let name = match command {
            "adaptive" => "adaptive-train",
            "nested" => "nested.analyze",
            command => command,
        };
        has_schema(&output.json(), name);
        assert!(output.stdout.starts_with("{\n  \"schema\": "), "{command}: {}", output.stdout);
    }
    let file =
        |name: &str| serde_json::from_slice::<Value>(&std::fs::read(folder.path(name)).unwrap()).unwrap();
    has_schema(&file("out/manifest.json"), "manifest");
    has_schema(&file("study/report.json"), "codesign-report");
}

#[test]
fn documents_of_errors_name_their_schema_too() {
    let folder = Folder::new();
    let wrong = folder.write("wrong.stencil", "stencil x(t, i) { }");
    for (code, arguments) in [
        (2, vec!["analyze", "--json"]),
        (2, vec!["analyse", "heat2d", "--json"]),
        (2, vec!["analyze", &wrong, "--json"]),
        (1, vec!["analyze", "fdtd2d", "--tile", "st=4", "--json"]),
        (2, vec!["pareto", "none.csv", "--x", "a", "--y", "b", "--json"]),
    ] {
        let output = tilewright(&arguments);
        assert_eq!(output.code, code, "{arguments:?}");
        has_schema(&output.json(), "error");
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

/// Trials of two parameters.
fn trials() -> String {
    let rows = (0..40).map(|i| format!("{},{},{}.5\n", i % 8, i / 8, 10 + (i % 8) * 3 + i / 8));
    std::iter::once("a,b,time\n".to_owned()).chain(rows).collect()
}

const WORKLOAD: &str = "\
name = \"small\"
description = \"a few designs\"
objective = \"gflops\"
family = \"maxwell\"
[budget]
area_low_mm2 = 100
area_high_mm2 = 180
[hardware]
n_sm = { from = 4, to = 12, step = 4 }
n_v = [64, 128]
m_sm_kb = [48, 96]
[[stencil]]
spec = \"heat1d\"
sizes = [\"65536\"]
steps = [64]
";

const SPACE: &str = r#"{
  "General": { "BenchmarkName": "small" },
  "ConfigurationSpace": {
    "TuningParameters": [{ "Name": "a", "Type": "int", "Values": "[1, 2, 3, 4]" }],
    "Conditions": []
  }
}"#;

#[test]
fn every_stage_can_be_printed() {
    for (stage, part) in [
        ("program", "stencil heat2d(t, i, j) {"),
        ("dependences", "flow dependence of statement 0"),
        ("plan", "kernel phase0"),
        ("schedule", "group of rows (Sequential)"),
    ] {
        let text = tilewright(&["analyze", "heat2d", "--dump", stage]).succeeded().stdout;
        assert!(text.contains(part), "{stage}: {text}");
        let document = tilewright(&["analyze", "heat2d", "--dump", stage, "--json"]).succeeded().json();
        assert!(document["dump"].as_str().unwrap().contains(part));
    }
}

#[test]
fn drawings_are_the_same_every_time() {
    let folder = Folder::new();
    let draw = |name: &str, arguments: &[&str]| {
        let file = folder.arg(name);
        tilewright(&[&["analyze"], arguments, &["--svg", &file]].concat()).succeeded();
        std::fs::read_to_string(file).unwrap()
    };
    for arguments in [
        &["heat2d", "--tile", "st=4,s0=6,s1=16"][..],
        &["fdtd2d"],
        &["heat1d", "--strategy", "naive"],
        &["heat3d"],
    ] {
        let first = draw("first.svg", arguments);
        assert_eq!(first, draw("second.svg", arguments), "{arguments:?}");
        assert!(first.starts_with("<svg ") && first.trim_end().ends_with("</svg>"));
        let document = roxmltree::Document::parse(&first).unwrap();
        let is = |kind: &str| {
            document.descendants().filter(|node| node.attribute("data-kind") == Some(kind)).count()
        };
        assert!(is("blocks") > 0 && is("areas") > 0, "{arguments:?}");
        assert!(!first.contains("NaN") && !first.contains("inf"), "{arguments:?}");
        assert!(first.len() < 1_000_000, "{arguments:?}: {} bytes", first.len());
    }
    assert_eq!(folder.names(), ["first.svg", "second.svg"]);
}

#[test]
fn compile() {
    let folder = Folder::new();
    let out = folder.arg("out/deep");
    let arguments = [
        "compile", "heat2d", "--target", "openmp", "--size", "64x64", "--steps", "100", "-o", &out, "--json",
    ];
    let document = tilewright(&arguments).succeeded().json();
    let keys = [
        "files",
        "tile",
        "strategy",
        "legal",
        "launches",
        "shared_bytes_per_block",
        "threads_per_block",
        "kernels",
    ];
    has_keys(&document, &keys);
    assert_eq!(document["strategy"], "hhc");
    assert_eq!(document["legal"], true);
    assert!(document["launches"].as_u64().unwrap() > 0);
    for kernel in document["kernels"].as_array().unwrap() {
        has_keys(kernel, &["name", "shared_bytes", "threads"]);
    }
    let files: Vec<&str> =
        document["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    for name in ["heat2d.c", "heat2d.h", "heat2d_main.c", "CMakeLists.txt", "manifest.json"] {
        assert!(files.iter().any(|file| file.ends_with(name)), "{name} in {files:?}");
    }
    assert!(files.iter().all(|file| std::fs::metadata(file).unwrap().len() > 0));
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(folder.path("out/deep/manifest.json")).unwrap()).unwrap();
    has_keys(&manifest, &keys);
    assert_eq!(manifest["tile"], document["tile"]);
    // Nothing else, and the same again: the folder may exist, and nothing in the files depends on time.
    let entries = || std::fs::read_dir(folder.path("out/deep")).unwrap().count();
    assert_eq!(entries(), files.len());
    let before: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    tilewright(&arguments).succeeded();
    let after: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert!(before == after && entries() == files.len());
}

#[test]
fn compile_for_cuda() {
    let folder = Folder::new();
    let out = folder.arg("out");
    let arguments = ["compile", "heat2d", "--target", "cuda", "-o", &out, "--json"];
    let document = without_nvrtc(&arguments).succeeded().json();
    assert!(document["shared_bytes_per_block"].as_u64().unwrap() > 0);
    assert!((1..=1024).contains(&document["threads_per_block"].as_u64().unwrap()));
    for kernel in document["kernels"].as_array().unwrap() {
        assert!(kernel["symbol"].as_str().unwrap().starts_with("heat2d_"));
        assert!(kernel["threads"].as_u64().is_some() && kernel["shared_bytes"].as_u64().is_some());
    }
    let files = document["files"].as_array().unwrap();
    assert!(files.iter().any(|file| file.as_str().unwrap().ends_with("heat2d.cu")));
}

#[test]
fn a_tile_of_a_document_can_be_given_again() {
    let folder = Folder::new();
    let out = folder.arg("out");
    let compile = |tile: &[&str]| {
        let base = ["compile", "wave2d", "--target", "openmp", "-o", &out, "--json"];
        tilewright(&[&base[..], tile].concat()).succeeded().json()
    };
    let first = compile(&[]);
    assert_eq!(first["launches"], Value::Null);
    let second = compile(&["--tile", first["tile_text"].as_str().unwrap()]);
    assert_eq!(first["tile"], second["tile"]);
}

#[test]
fn run() {
    let base = ["run", "heat2d", "--size", "70x45", "--steps", "9", "--json"];
    let keys = [
        "stencil",
        "strategy",
        "backend",
        "size",
        "steps",
        "tile",
        "seconds",
        "seconds_all",
        "gstencil_per_s",
        "checksum",
        "verified",
        "max_abs_error",
        "mismatches",
    ];
    let output =
        tilewright(&[&base[..], &["--verify", "--repeat", "3", "--threads", "2"]].concat()).succeeded();
    let document = output.json();
    has_keys(&document, &keys);
    assert_eq!(document["verified"], true);
    assert_eq!(document["mismatches"], 0);
    assert_eq!(document["max_abs_error"], 0.0);
    assert_eq!(document["size"], serde_json::json!([70, 45]));
    assert_eq!(document["seconds_all"].as_array().unwrap().len(), 3);
    assert_eq!(document["points_per_step"], 68 * 43);
    assert_eq!(document["threads"], 2);
    assert_eq!(document["checksum"].as_str().unwrap().len(), 16);

    let reference = tilewright(&[&base[..], &["--backend", "reference"]].concat()).succeeded().json();
    has_keys(&reference, &keys);
    assert_eq!(reference["verified"], Value::Null);
    assert_eq!(reference["strategy"], Value::Null);
    assert_eq!(reference["checksum"], document["checksum"]);
}

#[test]
fn timings_go_to_stderr() {
    let output =
        tilewright(&["run", "heat1d", "--size", "50", "--steps", "3", "--timings", "--json"]).succeeded();
    output.json();
    for stage in ["read", "plan and proof", "compile", "run", "all stages"] {
        assert!(output.stderr.contains(stage), "{}", output.stderr);
    }
    assert!(!output.stderr.contains('\x1b'));
}

/// A run fills the cache, which is shown, keeps what is in use, and is emptied when asked.
#[test]
fn the_cache_is_shown_and_emptied() {
    let folder = Folder::new();
    let call = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("TILEWRIGHT_CACHE", folder.path("cache")).arg("--json");
        finish(command)
    };
    let usage = |arguments: &[&str]| {
        let document = call(arguments).succeeded().json();
        let number = |key: &str| document[key].as_u64().unwrap();
        (number("entries"), number("bytes"), number("removed_entries"))
    };
    assert_eq!(usage(&["cache"]), (0, 0, 0));
    call(&["run", "heat1d", "--size", "99", "--steps", "3"]).succeeded();
    let (entries, bytes, _) = usage(&["cache", "show"]);
    assert!(entries > 0 && bytes > 0);
    assert_eq!(usage(&["cache", "prune", "--most", "0"]), (entries, bytes, 0));
    assert_eq!(usage(&["cache", "clear"]), (0, 0, entries));
    call(&["run", "heat1d", "--size", "99", "--steps", "3"]).succeeded();
    assert_eq!(call(&["cache", "clear", "--most", "1"]).code, 2);
    assert_eq!(call(&["cache", "burn"]).code, 2);
}
