//! What scripts rely on: keys of the JSON documents, their schemas, files and their names.

use crate::support::shown;
use crate::support::{Folder, tilewright, without_nvrtc};
use serde_json::Value;
use std::collections::BTreeSet;

#[track_caller]
fn has_keys(document: &Value, keys: &[&str]) {
    let found: BTreeSet<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    let missing: Vec<&&str> = keys.iter().filter(|key| !found.contains(*key)).collect();
    assert!(missing.is_empty(), "no {missing:?} in {found:?}");
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
        // A tile that is given is compiled once.
        let words =
            "heat2d --target cuda --sm 90 --size 256x256 --steps 8 --strategy hhc --tile st=2,s0=4,s1=32";
        calls.push(("inspect", words.split(' ').collect()));
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

pub const SPACE: &str = r#"{
  "General": { "BenchmarkName": "small" },
  "ConfigurationSpace": {
    "TuningParameters": [{ "Name": "a", "Type": "int", "Values": "[1, 2, 3, 4]" }],
    "Conditions": []
  }
}"#;

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
    // Which strategy is taken depends on the machine.
    let [strategy, tile] = ["strategy", "tile_text"].map(|key| first[key].as_str().unwrap());
    let second = compile(&["--strategy", strategy, "--tile", tile]);
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
