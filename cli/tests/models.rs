//! `predict` and `tune`, and who chooses tile sizes.

use crate::support::{Folder, everything, tilewright, without_nvrtc};
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
    approx::assert_relative_eq!(a, b, epsilon = 0.0, max_relative = 1e-12);
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
    approx::assert_relative_eq!(terms, predicted["seconds"].as_f64().unwrap(), max_relative = 1e-9);
    let svg = std::fs::read_to_string(folder.path("bars.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("predicted") && svg.contains("heat2d 512x512"));
}

#[test]
fn methods_and_objectives() {
    let value = |extra: &[&str]| {
        let document = without_nvrtc(&[&TUNE[..], extra, &["--json"]].concat()).succeeded().json();
        document["value"].as_f64().unwrap()
    };
    for objective in ["time", "energy", "power", "edp"] {
        // Once among all strategies: of some, all tiles are looked at.
        let strategy = if objective == "time" { "auto" } else { "hhc" };
        let value =
            |more: &[&str]| value(&[&["--objective", objective, "--strategy", strategy], more].concat());
        let exact = value(&[]);
        assert_eq!(exact, value(&["--method", "exhaustive"]), "{objective}");
        assert_eq!(exact, value(&["--formulation", "parts"]), "{objective}");
    }
    assert!(value(&["--method", "closed-form", "--dtype", "f64"]) > 0.0);
    // A strategy whose tiles have no face has no closed form, and gets no other strategy's.
    let faceless = without_nvrtc(&[&TUNE[..], &["--method", "closed-form", "--strategy", "naive"]].concat());
    assert!(faceless.stderr.contains("naive has none"), "{}", faceless.stderr);
    let text = without_nvrtc(&TUNE).succeeded().stdout;
    assert!(text.contains("proved: no candidate is better") && text.contains("note: L, tau_sync"), "{text}");
}

/// Two forms of the time model of a GPU, one of a CPU. No form promises more than all lanes can do.
#[test]
fn the_form_of_the_time_model_is_a_choice() {
    let predict = |more: &[&str]| {
        let own = ["predict", "star2d1r", "--strategy", "hhc", "--size", "4096x4096", "--steps", "64"];
        tilewright(&[&own[..], more].concat())
    };
    let predicted = |more: &[&str]| predict(more).succeeded().json();
    let usual = predicted(&["--machine", "h100", "--json"]);
    let counted = predicted(&["--machine", "h100", "--model", "counted", "--json"]);
    let paper = predicted(&["--machine", "h100", "--model", "paper", "--json"]);
    assert_eq!((&usual["model"], &paper["model"]), (&"counted".into(), &"paper".into()));
    assert_eq!(usual["seconds"], counted["seconds"]);
    let number = |document: &Value, key: &str| document[key].as_f64().unwrap();
    // Either may promise more: one hides everything behind two blocks, the other what is loaded ahead.
    assert_ne!(paper["seconds"], counted["seconds"]);
    for document in [&counted, &paper] {
        assert!(number(document, "ideal_s") <= number(document, "seconds"));
        assert_eq!(document["constants"]["time"]["c_iter_basis"], "counted");
    }
    assert!(predicted(&["--machine", "zen4", "--json"])["model"].is_null());
    let refused = predict(&["--machine", "zen4", "--model", "paper"]);
    assert!(refused.code == 1 && refused.stderr.contains("--model paper is for GPUs"), "{}", refused.stderr);
    let of_both = ["--model", "counted", "--model", "paper"].chunks(2).map(|form| {
        without_nvrtc(&[&TUNE[..], form, &["--json"]].concat()).succeeded().json()["model"].clone()
    });
    assert_eq!(of_both.collect::<Vec<_>>(), ["counted", "paper"]);
    let search =
        ["search", "heat2d", "--size", "512x512", "--steps", "64", "--backend", "model", "--budget", "5"];
    let searched = |more: &[&str]| {
        let search = [&search[..], &["--machine", "v100", "--method", "random", "--json"], more].concat();
        tilewright(&search).succeeded().json()["best"]["value"].as_f64().unwrap()
    };
    assert_ne!(searched(&["--model", "paper"]), searched(&[]));
}

/// Nine statements, each of which has places and bounds of its own: the code keeps them in registers, with the strategy's own
/// sizes and, with `TILEWRIGHT_ALL=1`, as in `make test-long`, with the model's.
#[test]
fn many_statements_do_not_spill() {
    let folder = Folder::new();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "p"];
    let fields: String = names.iter().map(|name| format!("    field {name}: f32;\n")).collect();
    let statement = |(number, name): (usize, &&str)| {
        let before = names[(number + 8) % 9];
        let (time, other) = (if number == 0 { "t" } else { "t+1" }, names[(number + 2) % 9]);
        let later = if number >= 7 { "t+1" } else { "t" };
        format!(
            "    {name}[t+1, i, j] = k0 * {name}[t, i, j] + k1 * ({before}[{time}, i-1, j] + {before}[{time}, i+1, j]\n        \
             + {other}[{later}, i, j-1] + {other}[{later}, i, j+1]);\n"
        )
    };
    let statements: String = names.iter().enumerate().map(statement).collect();
    let text = format!(
        "stencil nine(t, i, j) {{\n{fields}    param k0 = 0.2;\n    param k1 = 0.2;\n\n{statements}}}\n"
    );
    let nine = folder.write("nine.stencil", &text);
    let machines = [&[][..], &["--machine", "h100"]];
    let machines = if everything() { &machines[..] } else { &machines[..1] };
    for (number, &machine) in machines.iter().enumerate() {
        let out = folder.arg(&format!("out{number}"));
        let command =
            ["compile", &nine, "--target", "cuda", "--size", "1000x1000", "--steps", "50", "--json", "-o"];
        let compiled = tilewright(&[&command[..], &[&out], machine].concat()).succeeded().json();
        let kernels = compiled["kernels"].as_array().unwrap();
        for figures in kernels.iter().flat_map(|kernel| kernel["compiled"].as_array().unwrap()) {
            if machine.is_empty() || figures["architecture"] == "sm_90" {
                assert_eq!(
                    (&figures["spill_bytes"], &figures["local_bytes"]),
                    (&0.into(), &0.into()),
                    "{figures}"
                );
            }
        }
        if kernels[0]["compiled"].as_array().unwrap().is_empty() {
            eprintln!("SKIPPED: NVRTC was not found");
        }
    }
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
            let tuned = without_nvrtc(&[&["tune"], &about[..]].concat());
            // One is for three dimensions, and two are for cores.
            let for_cores = ["time-skewing", "diamond"].contains(&strategy);
            if strategy == "streaming" || (for_cores && machine == "v100") {
                assert_eq!(
                    (tuned.code, &tuned.json()["error"]["kind"]),
                    (1, &"infeasible".into()),
                    "{strategy} {machine}"
                );
                continue;
            }
            let tuned = tuned.succeeded().json();
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

    let broken = text.replace("n_sm = 16", "n_sm = 0").replace("m_sm_kb = 96", "m_ms_kb = 96");
    let broken = folder.write("broken.toml", &broken);
    let output = tilewright(&[&request[..], &[&broken]].concat());
    assert_eq!(output.code, 2);
    for part in ["facts.n_sm", "facts.m_sm_kb", "facts.m_ms_kb", "problems", "broken.toml:"] {
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
        without_nvrtc(&[&command[..], &[&folder.arg(out)], machine].concat()).succeeded().json()
    };
    let tune = |strategy: &str| {
        without_nvrtc(&[&TUNE[..], &["--strategy", strategy, "--json"]].concat()).succeeded().json()
    };
    let (all, tuned) = (tune("auto"), tune("hhc"));
    let compiled = compile(&["--machine", "gtx980"], "gtx980");
    assert_eq!(compiled["tile"], tuned["tile"]);
    // A search finds better tiles that nobody has tried, and says what is taken.
    assert!(all["value"].as_f64() <= tuned["value"].as_f64());
    let taken = format!("takes hhc {} on this machine", tuned["tile_text"].as_str().unwrap());
    assert!(all["notes"].to_string().contains(&taken), "{}", all["notes"]);
    assert_eq!(compiled["chosen_by"], "chosen by the cost model for gtx980");
    assert_eq!(compile(&["--tile", "st=2,s0=8,s1=32"], "given")["chosen_by"], "as given");
    let output = without_nvrtc(&[
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

/// What `tune` writes, `check-certificate` accepts; not with another machine, nor with anything changed.
#[test]
fn certificates_are_checked() {
    let folder = Folder::new();
    let file = folder.arg("heat2d.certificate");
    let tuned = tilewright(&[&TUNE[..], &["--strategy", "naive", "--json", "--certificate", &file]].concat());
    let tuned = tuned.succeeded().json();
    let check = ["check-certificate", &file, "--accept-passed-over", "--json"];
    let accepted = tilewright(&check).succeeded().json();
    assert_eq!(
        (&accepted["accepted"], &accepted["reason"]),
        (&Value::Bool(true), &Value::Null),
        "{accepted:#}"
    );
    assert_eq!(accepted["best"]["tile"], tuned["tile_text"]);
    let other = tilewright(&[&check[..], &["--machine", "titanx"]].concat());
    assert_eq!(other.code, 1, "{}", other.stderr);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"steps\":64", "\"steps\":65")).unwrap();
    let changed = tilewright(&check);
    assert_eq!(changed.code, 1);
    assert!(changed.json()["reason"].as_str().unwrap().contains("hash"));
    std::fs::write(&file, "{}").unwrap();
    let none = tilewright(&check[..3]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("--certificate FILE"), "{}", none.stderr);
    let inexact = tilewright(&[&TUNE[..], &["--method", "exhaustive", "--certificate", &file]].concat());
    assert!(inexact.code == 2 && inexact.stderr.contains("exact"), "{}", inexact.stderr);
}
