//! `tilewright search`: every evaluator, what a run leaves behind, and what it refuses.

use crate::support::{Folder, Output, command, finish, tilewright, without_nvrtc};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A recorded space: 4 parameters, 576 points, some of them failed, with the minimum at x=8, y=3, k=b, z=1.
fn recorded() -> String {
    let mut text = "x,y,k,z,time\n".to_owned();
    for x in [1, 2, 4, 8, 16, 32] {
        for y in 1..=8 {
            for (k, slow) in [("a", 1.3), ("b", 1.0), ("c", 1.7)] {
                for z in 0..=3 {
                    let time = slow
                        * (1.0 + 0.1 * (f64::from(x).log2() - 3.0).powi(2))
                        * (1.0 + 0.05 * f64::from(y - 3).powi(2))
                        * (1.0 + 0.2 * f64::from((z + 3) % 4))
                        * (1.0 + 0.01 * f64::from((x * 7 + y * 13 + z * 5) % 11));
                    let failed = x == 32 && y > 6;
                    let cell = if failed { String::new() } else { format!("{time}") };
                    let _ = writeln!(text, "{x},{y},{k},{z},{cell}");
                }
            }
        }
    }
    text
}

fn refused(arguments: &[&str], code: i32) -> String {
    let output = tilewright(arguments);
    assert_eq!((output.code, output.stdout.as_str()), (code, ""), "{arguments:?}: {}", output.stderr);
    output.stderr
}

#[test]
fn methods_are_compared_over_repetitions() {
    let folder = Folder::new();
    let (space, svg) = (folder.write("space.csv", recorded()), folder.arg("compare.svg"));
    let methods = "dlmt,random,lhs,greedy,greedy-restart,genetic,annealing,starchart,lm,surrogate";
    let arguments =
        ["search", "--replay", &space, "--method", methods, "--budget", "40", "--repetitions", "4"];
    let output = tilewright(&[&arguments[..], &["--svg", &svg, "--json"]].concat()).succeeded();
    let document = output.json();
    let key = |path: &str| document.pointer(path).unwrap_or_else(|| panic!("no {path}: {document}"));
    assert_eq!((key("/method").as_str(), key("/budget").as_u64()), (Some("dlmt"), Some(40)));
    assert_eq!(key("/repetitions").as_u64(), Some(4));
    for path in ["/slowdown/mean", "/slowdown/min", "/slowdown/max", "/used/mean", "/used/max", "/best/value"]
    {
        assert!(key(path).as_f64().unwrap() >= 0.9, "{path}");
    }
    let all = document["methods"].as_array().unwrap();
    let names: Vec<&str> = all.iter().map(|method| method["method"].as_str().unwrap()).collect();
    assert_eq!(names.join(","), methods);
    for method in all {
        let value = |path: &str| method.pointer(path).unwrap().as_f64().unwrap();
        let (least, mean, most) = (value("/slowdown/min"), value("/slowdown/mean"), value("/slowdown/max"));
        assert!(1.0 <= least && least <= mean && mean <= most, "{method}");
        assert!(value("/used/max") <= 40.0, "{method}");
    }
    let svg = std::fs::read_to_string(&svg).unwrap();
    assert!(svg.starts_with("<svg") && names.iter().all(|name| svg.contains(name)), "histograms");
    // The same seed, the same document.
    let again = tilewright(&[&arguments[..], &["--svg", &folder.arg("again.svg"), "--json"]].concat());
    assert_eq!(again.json()["methods"], document["methods"]);
    let table = tilewright(&arguments).succeeded().stdout;
    assert!(table.contains("slowdown") && table.contains("greedy-restart"), "{table}");
}

#[test]
fn steps_of_dlmt_can_be_read() {
    let folder = Folder::new();
    let space = folder.write("space.csv", recorded());
    let (text, json, svg) = (folder.arg("steps.txt"), folder.arg("steps.json"), folder.arg("run.svg"));
    let model = "~ log(x) + I(log(x)^2) + y + I(y^2) + k + z";
    let arguments =
        ["search", "--replay", &space, "--method", "dlmt", "--budget", "60", "--model", model, "--json"];
    let output = tilewright(&[&arguments[..], &["--log", &text, "--svg", &svg]].concat()).succeeded();
    tilewright(&[&arguments[..], &["--log", &json]].concat()).succeeded();
    let text = std::fs::read_to_string(text).unwrap();
    for part in [
        "step 1: ~ log(x)",
        "design: ",
        "D-efficiency",
        "Box-Cox",
        "Pr(>F)",
        "significant: ",
        "decision: fix",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let steps: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(steps, output.json()["steps"]);
    for key in ["model", "design", "analysis", "decision", "fixed", "used"] {
        assert!(steps[0].get(key).is_some(), "{key}");
    }
    for key in ["anova", "box_cox", "significant", "coefficients", "best", "predicted", "measured"] {
        assert!(steps[0]["analysis"].get(key).is_some(), "{key}");
    }
    assert!(std::fs::read_to_string(svg).unwrap().starts_with("<svg"));
}

#[test]
fn a_person_decides_through_a_pipe() {
    let folder = Folder::new();
    let space = folder.write("space.csv", recorded());
    let arguments =
        ["search", "--replay", &space, "--method", "dlmt", "--budget", "80", "--interactive", "--json"];
    let mut child = command(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"nonsense\nk\nstop\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("`nonsense` names something that is no free factor"), "{stderr}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["steps"][0]["fixed"], serde_json::json!(["k"]));
    assert_eq!(document["steps"][1]["decision"], "stop");
}

/// Trials as CSV, without when they were measured.
fn exported(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

/// A run that is killed at random points and started again ends as one that nobody killed.
#[cfg(unix)]
#[test]
fn a_run_that_is_killed_goes_on() {
    for (method, budget) in [("surrogate", "60"), ("dlmt", "60"), ("genetic", "200")] {
        let folder = Folder::new();
        let space = folder.write("space.csv", recorded());
        let run =
            ["search", "--replay", &space, "--method", method, "--budget", budget, "--seed", "7", "--json"];
        let whole = folder.arg("whole.csv");
        let start = Instant::now();
        let expected = tilewright(&[&run[..], &["--export", &whole]].concat()).succeeded().json();
        let whole_us = start.elapsed().as_micros() as u64;
        let (trials, parts) = (folder.arg("trials.db"), folder.arg("parts.csv"));
        let again = [&run[..], &["--trials", &trials, "--export", &parts]].concat();
        let mut state = 12345u64;
        for _ in 0..8 {
            let mut child = command(&again).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Anywhere in the run; one that has ended by then ended well.
            std::thread::sleep(Duration::from_micros((state >> 33) % whole_us));
            let _ = child.kill();
            child.wait().unwrap();
        }
        let ended = tilewright(&again).succeeded().json();
        assert_eq!((&ended["best"], &ended["used"]), (&expected["best"], &expected["used"]), "{method}");
        assert_eq!(exported(&folder, "parts.csv"), exported(&folder, "whole.csv"), "{method}");
    }
}

const PROBLEM: &str = r#"{"General": {"BenchmarkName": "p"}, "ConfigurationSpace": {"TuningParameters": [
    {"Name": "x", "Type": "int", "Values": "[1, 2, 3, 4, 5, 6]"},
    {"Name": "y", "Type": "int", "Values": "[1, 2, 3, 4]"}],
    "Conditions": [{"Expression": "x * y <= 12", "Parameters": ["x", "y"]}]}}"#;

#[cfg(unix)]
#[test]
fn an_external_command_measures_and_nothing_twice() {
    let folder = Folder::new();
    let (problem, trials) = (folder.write("problem.json", PROBLEM), folder.arg("trials.db"));
    let script = format!(
        "echo {{x}} {{y}} >> '{}'; [ {{x}} != 5 ] || exit 66; echo $(( ({{x}} - 3) * ({{x}} - 3) + {{y}} ))",
        folder.arg("calls")
    );
    let run = |budget: &str| -> Output {
        tilewright(&[
            "search",
            "--space",
            &problem,
            "--command",
            &script,
            "--method",
            "random",
            "--budget",
            budget,
            "--trials",
            &trials,
            "--json",
        ])
        .succeeded()
    };
    run("9");
    let document = run("19").json();
    let calls = std::fs::read_to_string(folder.path("calls")).unwrap();
    assert_eq!(calls.lines().count(), 19, "{calls}");
    assert_eq!(document["best"]["value"], 1.0);
    assert_eq!(document["best"]["configuration"], serde_json::json!({"x": 3, "y": 1}));
    assert!(document["methods"][0]["failed"].as_u64().unwrap() > 0);
    assert_eq!(document["slowdown"], Value::Null);
    // Others read the store.
    tilewright(&["search", "--replay", &trials, "--method", "random", "--budget", "5", "--json"]).succeeded();
    let export = folder.arg("trials.json");
    let t4 = ["search", "--replay", &trials, "--method", "random", "--budget", "50", "--export", &export];
    tilewright(&t4).succeeded();
    let t4: Value = serde_json::from_str(&std::fs::read_to_string(&export).unwrap()).unwrap();
    assert_eq!(t4["results"].as_array().unwrap().len(), 19);
    let cache = folder.arg("trials.cache.json");
    let again = ["search", "--replay", &export, "--method", "random", "--budget", "50", "--export", &cache];
    tilewright(&again).succeeded();
    let cache: Value = serde_json::from_str(&std::fs::read_to_string(&cache).unwrap()).unwrap();
    assert_eq!(cache["cache"].as_object().unwrap().len(), 19);
    // Another command means other trials, which come behind; none of them counts for this one.
    let other =
        ["search", "--space", &problem, "--command", "echo {x}", "--trials", &trials, "--budget", "3"];
    assert!(tilewright(&other).succeeded().stderr.contains("19 trials of another measurement"));
    run("19");
    assert_eq!(std::fs::read_to_string(folder.path("calls")).unwrap(), calls);
    let explained = tilewright(&["explain", &trials, "--json"]).succeeded().json();
    assert_eq!(explained["mixed"][0]["parameter"], "program");
}

#[test]
fn a_stencil_is_measured_on_this_cpu() {
    let folder = Folder::new();
    let (trials, export) = (folder.arg("trials.db"), folder.arg("trials.csv"));
    let arguments = [
        "search", "heat1d", "--size", "4000", "--steps", "20", "--method", "random", "--budget", "3",
        "--repeat", "1", "--trials", &trials, "--export", &export, "--json",
    ];
    let document = tilewright(&arguments).succeeded().json();
    assert!(document["best"]["value"].as_f64().unwrap() > 0.0, "{document}");
    assert!(document["measured"].as_str().unwrap().contains("heat1d 4000, 20 steps, hhc, openmp"));
    assert_eq!(std::fs::read_to_string(export).unwrap().lines().count(), 4);
}

#[test]
fn a_cost_model_measures() {
    let arguments = ["search", "heat2d", "--size", "4096x4096", "--steps", "128", "--backend", "model"];
    let search = [&arguments[..], &["--machine", "v100", "--budget", "60", "--json"]].concat();
    let document = tilewright(&[&search[..], &["--method", "greedy-restart"]].concat()).succeeded().json();
    let tuned =
        ["tune", "heat2d", "--size", "4096x4096", "--steps", "128", "--machine", "v100", "--strategy", "hhc"];
    let tuned = without_nvrtc(&[&tuned[..], &["--json"]].concat()).succeeded().json();
    let (found, best) = (document["best"]["value"].as_f64().unwrap(), tuned["seconds"].as_f64().unwrap());
    // The search knows some sizes only; the optimizer knows all of them.
    assert!(found >= best * (1.0 - 1e-9) && found < 1.5 * best, "{found} and {best}");
    assert!(document["measured"].as_str().unwrap().contains("model of"));
    let missing = refused(&arguments, 2);
    assert!(missing.contains("--machine"), "{missing}");
    let unseeded =
        ["search", "heat1d", "--size", "4000", "--steps", "8", "--method", "model", "--budget", "3"];
    let unseeded = refused(&unseeded, 2);
    assert!(
        unseeded.contains("needs the ranking of a cost model") && unseeded.contains("calibrate"),
        "{unseeded}"
    );
}

#[test]
fn requests_that_cannot_be_served_say_why() {
    let folder = Folder::new();
    let (space, other) = (folder.write("space.csv", recorded()), folder.write("other.csv", recorded()));
    for (more, code, words) in [
        (&["--method", "dlmt", "--budget", "5"][..], 1, "below the least size of the first design"),
        (&["--where", "x > 99"], 2, "no point of the space satisfies `x > 99`"),
        (&["--where", "w == 1"], 2, "no parameter `w`"),
        (&["--method", "dlnt"], 2, "did you mean `dlmt`"),
        (&["--response", "watts"], 2, "watts"),
        (&["--method", "dlmt", "--model", "~ x + I(1/w)"], 2, "no parameter `w`"),
        (&["--method", "dlmt", "--model", "~ I(1/(y - 3))"], 2, "no finite value"),
        (&["--budget", "0"], 2, "budget"),
        (&["--trials", &space], 2, "is read by this command"),
        (&["--trials", &other], 2, "no store of trials"),
        (&["--method", "random,lhs", "--trials", "t.db"], 2, "one search with one method"),
        (&["--export", "trials.txt"], 2, ".json"),
        (&["--parameters", "x,y,kk"], 2, "did you mean `k`"),
        (&["--parameters", "x,y", "--metric", "y"], 2, "two roles"),
        (&["--status", "k"], 2, "does not say whether"),
    ] {
        let output = tilewright(&[&["search", "--replay", &space], more].concat());
        assert!(output.stderr.contains(words), "{more:?}: {}", output.stderr);
        assert_eq!(output.code, code, "{more:?}: {}", output.stderr);
    }
    let problem = folder.write("problem.json", PROBLEM);
    assert!(refused(&["search", "--space", &problem], 2).contains("--command"));
    assert!(refused(&["search"], 2).contains("--replay"));
    let repeated = ["search", "--space", &problem, "--command", "echo 1", "--repetitions", "5"];
    assert!(refused(&repeated, 2).contains("--repetitions needs --replay"));
    let wrong = ["search", "--space", &problem, "--command", "run {z}"];
    assert!(refused(&wrong, 2).contains("no parameter `z`"));
    assert_eq!(finish(command(&["search", "--method", "help"])).code, 0);
}

#[test]
fn the_roles_of_columns_decide_what_is_searched() {
    let folder = Folder::new();
    let rows = |status: &str| -> String {
        let mut text = format!("alpha,b{status},runtime\n");
        for (alpha, time) in [("0.5", 9), ("1", 3), ("10", 6)] {
            for b in 0..4 {
                let outcome = match b {
                    _ if status.is_empty() => "",
                    3 => ",failed",
                    _ => ",ok",
                };
                let _ = writeln!(text, "{alpha},{b}{outcome},{time}.{}", 5 - b);
            }
        }
        text
    };
    // With a status between the parameters, and failures that would win.
    for (status, best) in [("", 3.2), (",status", 3.3), (",outcome", 3.3)] {
        let file = folder.write("trials.csv", rows(status));
        let document = tilewright(&["search", "--replay", &file, "--json"]).succeeded().json();
        assert_eq!(document["response"], "runtime");
        assert_eq!(document["best"]["value"], best, "{status}");
        assert_eq!(document["roles"]["parameters"].as_array().unwrap().len(), 2);
        assert_eq!(document["roles"]["status"].is_null(), status.is_empty());
    }
    let file = folder.write("trials.csv", rows(",status"));
    let text = tilewright(&["search", "--replay", &file]).succeeded().stdout;
    assert!(text.contains("runtime: its name is that of a measured quantity"), "{text}");
    let unknown = folder.write("unknown.csv", rows("").replace("runtime", "zz"));
    let message = refused(&["search", "--replay", &unknown], 2);
    assert!(message.contains("--parameters alpha,b --metric zz"), "{message}");
    let stated = ["search", "--replay", &unknown, "--parameters", "alpha,b", "--response", "zz", "--json"];
    assert_eq!(tilewright(&stated).succeeded().json()["best"]["value"], 3.2);
    // What we write says itself what it is.
    let export = folder.arg("own.csv");
    tilewright(&["search", "--replay", &file, "--export", &export]).succeeded();
    let document = tilewright(&["search", "--replay", &export, "--json"]).succeeded().json();
    assert!(document["roles"]["parameters"][0]["why"].as_str().unwrap().contains("Tilewright"));
    // A front has no failed rows.
    let front = ["--x", "runtime", "--y", "b", "--json"];
    let document = tilewright(&[&["pareto", &file][..], &front].concat()).succeeded().json();
    assert_eq!((&document["rows"], document["skipped"].as_array().unwrap().len()), (&9.into(), 3));
    assert_eq!(document["roles"]["status"]["name"], "status");
    let vague = folder.write("vague.csv", rows(",status").replace(",failed", ",maybe"));
    assert!(refused(&[&["pareto", &vague][..], &front[..4]].concat(), 2).contains("--status status"));
    let stated = ["pareto", &vague, "--parameters", "alpha,status"];
    assert_eq!(tilewright(&[&stated[..], &front].concat()).succeeded().json()["rows"], 12);
}

/// Levels of a space file that would do something in a shell, and names that cannot be told apart there.
#[cfg(unix)]
#[test]
fn levels_are_words_for_a_command() {
    let folder = Folder::new();
    let problem = |name: &str| {
        let levels = serde_json::json!([
            "; touch PWN",
            "$(touch PWN)",
            "`touch PWN`",
            "'",
            "\"; touch PWN",
            "a\nb; touch PWN",
            "-rf",
            "\u{e9}"
        ]);
        serde_json::json!({"ConfigurationSpace": {"TuningParameters": [
            {"Name": "x", "Type": "str", "Values": levels}, {"Name": name, "Type": "int", "Values": [1, 2]}
        ]}})
        .to_string()
    };
    let space = folder.write("space.json", problem("n"));
    let run = |space: &str, command_line: &str| {
        let mut search = command(&["search", "--space", space, "--command", command_line, "--budget", "16"]);
        search.args(["--method", "random", "--json"]).current_dir(folder.path(""));
        finish(search)
    };
    let program = "[ {x} = \"$TW_X\" ] && printf '%s.' {x} >&2 && echo $(( {n} * 2 ))";
    let good = run(&space, program).succeeded().json();
    assert_eq!(good["best"]["value"], 2.0);
    assert_eq!(good["methods"][0]["failed"], 0);
    assert_eq!(good["roles"]["metrics"][0]["name"], "time");
    for quoted in ["sh -c 'echo {x}'", "echo \"{x}\"", "echo $(echo {x})", "eval echo {x}"] {
        let output = run(&space, quoted);
        assert!(output.code == 2 && output.stderr.contains("$TW_X"), "{quoted}: {}", output.stderr);
    }
    let output = run(&folder.write("names.json", problem("X")), "echo 1");
    assert!(output.code == 2 && output.stderr.contains("$TW_X"), "{}", output.stderr);
    assert_eq!(folder.names(), ["names.json", "space.json"]);
    let help = tilewright(&["search", "--help"]).succeeded().stdout;
    assert!(help.contains("$TW_BLOCK_SIZE") && help.contains("--parameters") && help.contains("--metric"));
}

#[test]
fn files_that_are_no_recorded_spaces_say_why() {
    let folder = Folder::new();
    let files: [(&str, &[u8]); 9] = [
        ("empty.json", b""),
        ("half.json", b"{\"tune_params_keys\": [\"x\"], \"cache\": {\"1\": {\"x\""),
        ("array.json", b"[1, 2, 3]"),
        ("other.json", b"{\"name\": \"somebody\"}"),
        ("keys.json", b"{\"tune_params_keys\": \"x\", \"tune_params\": {}, \"cache\": {}}"),
        ("none.json", b"{\"tune_params_keys\": [\"x\"], \"tune_params\": {\"x\": [1]}, \"cache\": {}}"),
        ("noise.gz", b"\x1f\x8b\x08\x00garbage"),
        ("header.csv", b"x,time\n"),
        ("short.csv", b"x,y,time\n1,2\n"),
    ];
    for (name, bytes) in files {
        let file = folder.write(name, bytes);
        let output = tilewright(&["search", "--replay", &file, "--budget", "3"]);
        assert!(output.code == 1 || output.code == 2, "{name}: {} {}", output.code, output.stdout);
        assert!(output.stderr.contains(name), "{name}: {}", output.stderr);
    }
    assert!(refused(&["search", "--replay", &folder.arg("missing.json")], 2).contains("missing.json"));
}
