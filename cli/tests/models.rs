//! `predict` and `tune`, and who chooses tile sizes.

use crate::support::{Folder, tilewright};
use serde_json::Value;

const TUNE: [&str; 8] = ["tune", "heat2d", "--size", "512x512", "--steps", "64", "--machine", "gtx980"];

fn has_keys(document: &Value, keys: &[&str]) {
    for key in keys {
        assert!(document.get(key).is_some(), "no `{key}` in {document:#}");
    }
}

/// Sums in another order may differ in the last bits.
fn close(a: &Value, b: &Value) {
    let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
    assert!((a - b).abs() <= 1e-12 * a.abs(), "{a:e} and {b:e}");
}

#[test]
fn tune_proves_its_choice_and_predict_agrees() {
    let tuned = tilewright(&[&TUNE[..], &["--json"]].concat()).succeeded().json();
    has_keys(
        &tuned,
        &[
            "tile",
            "strategy",
            "k",
            "seconds",
            "objective",
            "value",
            "optimal",
            "bound",
            "evaluated",
            "candidates",
            "elapsed_s",
        ],
    );
    assert_eq!(tuned["optimal"], true);
    assert_eq!(tuned["bound"], tuned["value"]);
    close(&tuned["seconds"], &tuned["value"]);
    let tile = tuned["tile_text"].as_str().unwrap();
    let k = tuned["k"].to_string();
    let strategy = tuned["strategy"].as_str().unwrap();
    let folder = Folder::new();
    let drawing = folder.arg("bars.svg");
    let predicted = tilewright(&[
        "predict",
        "heat2d",
        "--size",
        "512x512",
        "--steps",
        "64",
        "--machine",
        "gtx980",
        "--tile",
        tile,
        "--k",
        &k,
        "--strategy",
        strategy,
        "--svg",
        &drawing,
        "--json",
    ])
    .succeeded()
    .json();
    has_keys(&predicted, &["seconds", "joules", "watts", "terms", "bottleneck", "feasible", "constraints"]);
    close(&predicted["seconds"], &tuned["seconds"]);
    assert_eq!(predicted["feasible"], true);
    let terms: f64 = ["compute", "transfer", "barrier", "launch"]
        .map(|term| predicted["terms"][term].as_f64().unwrap())
        .iter()
        .sum();
    assert!((terms - predicted["seconds"].as_f64().unwrap()).abs() < 1e-12);
    let svg = std::fs::read_to_string(folder.path("bars.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("predicted") && svg.contains("heat2d 512x512"));
}

#[test]
fn methods_and_objectives() {
    let value = |extra: &[&str]| {
        let document = tilewright(&[&TUNE[..], extra, &["--json"]].concat()).succeeded().json();
        document["value"].as_f64().unwrap()
    };
    for objective in ["time", "energy", "power", "edp"] {
        let exact = value(&["--objective", objective]);
        assert_eq!(exact, value(&["--objective", objective, "--method", "exhaustive"]), "{objective}");
        assert_eq!(exact, value(&["--objective", objective, "--formulation", "parts"]), "{objective}");
    }
    assert!(value(&["--method", "closed-form", "--dtype", "f64"]) > 0.0);
    // A strategy whose tiles have no face has no closed form, and gets no other strategy's.
    let faceless = tilewright(&[&TUNE[..], &["--method", "closed-form", "--strategy", "naive"]].concat());
    assert!(faceless.stderr.contains("naive has none"), "{}", faceless.stderr);
    let text = tilewright(&TUNE).succeeded().stdout;
    assert!(text.contains("proved: no candidate is better") && text.contains("note: L, tau_sync"), "{text}");
}

/// Every strategy is predicted and tuned, with its own sizes and with the best ones, on a GPU and on cores.
#[test]
fn all_strategies_have_a_model() {
    let list = tilewright(&["list", "--json"]).succeeded().json();
    let strategies = list["strategies"].as_array().unwrap();
    assert!(!strategies.is_empty());
    for strategy in strategies {
        let strategy = strategy["name"].as_str().unwrap();
        for machine in ["v100", "zen4"] {
            let about = ["heat2d", "--size", "300x200", "--steps", "9", "--machine", machine, "--json"];
            let about = [&about[..], &["--strategy", strategy]].concat();
            let tuned = tilewright(&[&["tune"], &about[..]].concat()).succeeded().json();
            let tile = tuned["tile_text"].as_str().unwrap();
            let best = tilewright(&[&["predict"], &about[..], &["--tile", tile]].concat()).succeeded().json();
            let own = tilewright(&[&["predict"], &about[..]].concat()).succeeded().json();
            assert_eq!((&best["feasible"], &own["feasible"]), (&Value::Bool(true), &Value::Bool(true)));
            assert!(own["seconds"].as_f64().unwrap() > 0.0, "{strategy} {machine}");
            assert!(tuned["seconds"].as_f64().unwrap() > 0.0, "{strategy} {machine}");
            if machine == "zen4" {
                close(&best["seconds"], &tuned["seconds"]);
            }
        }
    }
}

#[test]
fn infeasible_requests_and_wrong_machines() {
    let folder = Folder::new();
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../machines/gtx980.toml")).unwrap();
    let small = text.replace("shared_per_block_kb = 48.0", "shared_per_block_kb = 1.0");
    let small = folder.write("small.toml", &small);
    let request = ["tune", "heat3d", "--size", "64x64x64", "--steps", "8", "--strategy", "hhc", "--machine"];
    let output = tilewright(&[&request[..], &[&small]].concat());
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("shared_per_block allows 1024"), "{}", output.stderr);

    let broken = text.replace("n_sm = 16", "n_sm = 0").replace("warp = 32", "wrap = 32");
    let broken = folder.write("broken.toml", &broken);
    let output = tilewright(&[&request[..], &[&broken]].concat());
    assert_eq!(output.code, 2);
    for part in ["facts.n_sm", "facts.warp", "facts.wrap", "3 problems", "broken.toml:"] {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
    let output = tilewright(&[&request[..], &["gtx890"]].concat());
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("did you mean `gtx980`?"), "{}", output.stderr);

    // A tile that does not fit is predicted, and the check fails.
    let output = tilewright(&[
        "predict",
        "heat2d",
        "--size",
        "512x512",
        "--steps",
        "64",
        "--machine",
        "gtx980",
        "--tile",
        "st=8,s0=500,s1=64",
        "--json",
    ]);
    assert_eq!((output.code, &output.json()["feasible"]), (1, &Value::Bool(false)));
    let shared = output.json()["constraints"][0].clone();
    assert!(shared["slack"].as_i64().unwrap() < 0 && shared["name"] == "shared_per_block", "{shared}");
    // A tile that the strategy cannot have has no cost.
    let output = tilewright(&[
        "predict",
        "fdtd2d",
        "--size",
        "512x512",
        "--steps",
        "64",
        "--machine",
        "gtx980",
        "--tile",
        "st=4,s0=8,s1=32",
    ]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("multiple of 3"), "{}", output.stderr);
}

#[test]
fn compile_takes_the_choice_of_the_model() {
    let folder = Folder::new();
    let compile = |machine: &[&str], out: &str| {
        let command =
            ["compile", "heat2d", "--target", "cuda", "--size", "512x512", "--steps", "64", "--json", "-o"];
        tilewright(&[&command[..], &[&folder.arg(out)], machine].concat()).succeeded().json()
    };
    let tuned = tilewright(&[&TUNE[..], &["--strategy", "hhc", "--json"]].concat()).succeeded().json();
    let compiled = compile(&["--machine", "gtx980"], "gtx980");
    assert_eq!(compiled["tile"], tuned["tile"]);
    assert_eq!(compiled["chosen_by"], "chosen by the cost model for gtx980");
    assert_eq!(compile(&["--tile", "st=2,s0=8,s1=32"], "given")["chosen_by"], "as given");
    let output = tilewright(&[
        "compile",
        "heat2d",
        "--target",
        "openmp",
        "--machine",
        "a100",
        "-o",
        &folder.arg("cpu"),
    ]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("is a GPU"), "{}", output.stderr);
}
