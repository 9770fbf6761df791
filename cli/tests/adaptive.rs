//! `tilewright adaptive`: from measurements to a model, and what it chooses.

use crate::inspect::can_count;
use crate::support::{Folder, command, finish, tilewright};
use crate::wrong_input::refused;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_table_becomes_a_model() {
    let folder = Folder::new();
    let (table, model) = (example("sorting.csv"), folder.arg("sorting.model.json"));
    let tree = ["--classifier", "tree", "--hold-out", "0.5", "--worth", "-o", &model];
    let report =
        tilewright(&[&["adaptive", "train", &table], &tree[..], &["--json"]].concat()).succeeded().json();
    let test = &report["test"];
    assert_eq!((&report["name"], &report["classifier"]), (&"sorting".into(), &"tree".into()));
    assert_eq!(report["inputs"].as_u64().unwrap() + test["inputs"].as_u64().unwrap(), 56);
    assert!(test["performance"]["mean"].as_f64().unwrap() > 0.8, "{test}");
    assert!(test["gap_closed"].as_f64().unwrap() > 0.4, "{test}");
    assert_eq!(test["families"].as_array().unwrap().len(), 4);
    assert_eq!(report["worth"].as_array().unwrap().len(), 2);
    let shown = tilewright(&[&["adaptive", "train", &table], &tree[..]].concat()).succeeded().stdout;
    assert!(shown.contains("of exhaustive search") && shown.contains("n <= "), "{shown}");
    let choice = |values: &str| {
        let output = tilewright(&["adaptive", "predict", &model, "--values", values]).succeeded();
        output.stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        (choice("n=10,descents=0.5"), choice("n=30000,descents=0.5")),
        ("insertion".into(), "radix".into())
    );
    let all = tilewright(&["adaptive", "predict", &model, "--source", &table, "--json"]).succeeded().json();
    assert_eq!(all["choices"].as_array().unwrap().len(), 56);
    // A variant can be forced here as in programs.
    let mut forced = command(&["adaptive", "predict", &model, "--values", "n=10,descents=0.5", "--json"]);
    let forced = crate::support::finish({
        forced.env("TILEWRIGHT_VARIANT", "sorting=merge");
        forced
    });
    assert_eq!(forced.json()["choices"][0]["reason"], "forced");
    let whole = tilewright(&["adaptive", "report", &model, &table, "--json"]).succeeded().json();
    assert_eq!((&whole["inputs"], &whole["unsolved"]), (&56.into(), &0.into()));
    let out = folder.arg("out");
    let files = tilewright(&["adaptive", "emit", &model, "-o", &out, "--prefix", "sorting", "--json"])
        .succeeded()
        .json();
    assert_eq!(files["files"].as_array().unwrap().len(), 3);
    assert!(
        std::fs::read_to_string(folder.path("out/sorting.h"))
            .unwrap()
            .contains("int sorting_choose(const double")
    );
    // Files of others stay.
    folder.write("out/sorting.c", "mine");
    assert_eq!(tilewright(&["adaptive", "emit", &model, "-o", &out, "--prefix", "sorting"]).code, 2);
    let few = ["--hold-out", "0.5", "--iter", "4", "-o", &model, "--json"];
    let few = tilewright(&[&["adaptive", "train", &table], &few[..]].concat()).succeeded().json();
    let (seeds, steps) = (few["seeds"].as_u64().unwrap(), few["steps"].as_array().unwrap());
    assert_eq!((few["labelled"].as_u64().unwrap(), steps.len()), (seeds + 4, 5));
}

/// A scenario of ASlib with 40 instances, of which one algorithm cannot do the large ones.
#[test]
fn a_scenario_becomes_a_model() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("s")).unwrap();
    let head = |more: &str| {
        format!("@RELATION r\n@ATTRIBUTE instance_id STRING\n@ATTRIBUTE repetition NUMERIC\n{more}@DATA\n")
    };
    let mut runs = head(
        "@ATTRIBUTE algorithm STRING\n@ATTRIBUTE runtime NUMERIC\n@ATTRIBUTE runstatus {ok,timeout,memout,crash}\n",
    );
    let mut values = head("@ATTRIBUTE n NUMERIC\n@ATTRIBUTE m NUMERIC\n");
    for at in 0..40 {
        let (fast, status) = if at < 20 { (1 + at % 3, "ok") } else { (100, "timeout") };
        runs += &format!("'i {at}',1,fast,{fast},{status}\n'i {at}',1,sure,{},ok\n", 20 + at % 5);
        values += &format!("'i {at}',1,{at},?\n");
    }
    folder.write(
        "s/description.txt",
        "scenario_id: S\nperformance_measures: [runtime]\nmaximize: [false]\nalgorithm_cutoff_time: 100\n",
    );
    folder.write("s/algorithm_runs.arff", runs);
    folder.write("s/feature_values.arff", values);
    let (scenario, model) = (folder.arg("s"), folder.arg("m.json"));
    let train = [
        "adaptive",
        "train",
        &scenario,
        "--hold-out",
        "0.5",
        "--classifier",
        "forest",
        "-o",
        &model,
        "--json",
    ];
    let test = &tilewright(&train).succeeded().json()["test"];
    assert!(test["par10"]["gap_closed"].as_f64().unwrap() > 0.8, "{test}");
    assert_eq!((&test["risky"], &test["best_single"]), (&10.into(), &"sure".into()));
    assert_eq!(tilewright(&["adaptive", "train", &folder.arg(""), "-o", &model]).code, 2);
    assert_eq!(tilewright(&["adaptive", "train", &scenario, "--maximize", "-o", &model]).code, 2);
}

#[test]
fn wrong_input_is_named() {
    let folder = Folder::new();
    let table = example("sorting.csv");
    let model = folder.arg("m.json");
    let broken = folder.write("broken.json", "{}");
    let description = folder.write("f.toml", "name = \"f\"\n[[variants]]\nname = \"v\"\ncomand = \"true\"\n");
    let empty = folder.write("empty.toml", "name = \"f\"\n[[variants]]\nname = \"v\"\ncommand = \"true\"\n");
    let failing = folder.write(
        "failing.toml",
        "name = \"f\"\ninputs.training = [\"x\"]\n[[variants]]\nname = \"v\"\ncommand = \"exit 67\"\n",
    );
    let plain = folder.write("plain.csv", "n,a,b\n1,2,3\n");
    tilewright(&["adaptive", "train", &table, "-o", &model, "--classifier", "tree"]).succeeded();
    for (arguments, code, why) in [
        (vec!["train", "none.csv", "-o", &model], 2, "cannot read none.csv"),
        (vec!["train", &table, "-o", &table], 2, "is read by this command"),
        (vec!["train", &plain, "-o", &model], 2, "no column is a variant's"),
        (vec!["train", &plain, "--variants", "a,c", "-o", &model], 2, "there is no column `c`"),
        (vec!["train", &table, "--hold-out", "2", "-o", &model], 2, "--hold-out 2 is not between 0 and 1"),
        (vec!["train", &table, "--acc", "0.9", "-o", &model], 2, "needs test inputs"),
        (vec!["train", &table, "--calls", "0", "-o", &model], 2, "--calls"),
        (vec!["train", &table, "--trials", "t.db", "-o", &model], 2, "--trials is for a description"),
        (vec!["train", &description, "-o", &model], 2, "f.toml: line 4: unknown field `comand`"),
        (vec!["train", &empty, "-o", &model], 2, "has no training input"),
        (vec!["train", &failing, "-o", &model], 1, "has a variant that solves it"),
        (vec!["predict", &broken, "--values", "n=1"], 2, "it does not say that it is one"),
        (vec!["predict", &model, "--values", "n=1"], 2, "`descents` is missing"),
        (vec!["predict", &model, "--values", "m=1"], 2, "there is no feature `m`"),
        (vec!["predict", &model, "--values", "n=x"], 2, "no finite number"),
        (vec!["report", &model, &plain, "--variants", "a,b"], 2, "there is no variant `merge`"),
        (vec!["emit", &model, "-o", "out", "--prefix", "a b"], 2, "cannot begin names of C"),
    ] {
        let output = tilewright(&[&["adaptive"], &arguments[..]].concat());
        assert_eq!(output.code, code, "{arguments:?}: {}", output.stderr);
        assert!(output.stderr.contains(why), "{arguments:?}: {}", output.stderr);
    }
}

/// Killed again and again while it measures: nothing that was measured is measured twice, but for what was under way.
#[cfg(feature = "sqlite")]
#[test]
fn a_killed_training_goes_on() {
    for store in ["trials.db", "trials.jsonl"] {
        let folder = Folder::new();
        let inputs: Vec<String> = (0..8).map(|n| format!("\"{n}\"")).collect();
        let description = folder.write(
            "f.toml",
            format!(
                "name = \"f\"\ninputs.training = [{}]\n[[features]]\nnames = [\"n\"]\ncommand = \"echo {{input}}\"\n\
                 [[variants]]\nname = \"a\"\ncommand = \"echo a >> calls; sleep 0.02; echo $(( 2 + {{input}} ))\"\n\
                 [[variants]]\nname = \"b\"\ncommand = \"echo b >> calls; sleep 0.02; echo $(( 9 - {{input}} ))\"\n",
                inputs.join(", ")
            )
            .replace("$(( 2 + {input} ))", "$(expr 2 + $TW_INPUT)")
            .replace("$(( 9 - {input} ))", "$(expr 9 - $TW_INPUT)"),
        );
        let (trials, model, calls) = (folder.arg(store), folder.arg("m.json"), folder.path("calls"));
        let arguments =
            ["adaptive", "train", &description, "--trials", &trials, "--classifier", "tree", "-o", &model];
        let called = || std::fs::read_to_string(&calls).unwrap_or_default().lines().count();
        for kill in 1..=4 {
            let mut child = command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let start = Instant::now();
            while called() < 3 * kill && start.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(2));
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
        tilewright(&arguments).succeeded();
        assert!((16..=20).contains(&called()), "{store}: {} calls", called());
        let first = std::fs::read(folder.path("m.json")).unwrap();
        let again = tilewright(&[&arguments[..], &["--json"]].concat()).succeeded().json();
        assert_eq!(again["measured"], 0);
        assert_eq!(std::fs::read(folder.path("m.json")).unwrap(), first);
    }
}

/// The fastest variant is not accurate enough: the fastest of the others is trained for, from the same store.
#[test]
fn approximations_keep_their_bound() {
    let folder = Folder::new();
    let (model, trials) = (folder.arg("m.json"), folder.arg("t.jsonl"));
    let variant = |name: &str, seconds: f64, error: f64| {
        let said = format!("echo '{{\\\"seconds\\\": {seconds}, \\\"error\\\": {error}}}'");
        format!("[[variants]]\nname = \"{name}\"\ncommand = \"{said}\"\n")
    };
    let variants =
        [variant("exact", 4.0, 0.0), variant("single", 2.0, 1e-4), variant("half", 1.0, 1e-2)].concat();
    for (bounds, best) in [("", [0, 0, 2]), ("bounds = { error = 1e-3 }\n", [0, 2, 0])] {
        let text = format!(
            "name = \"f\"\n{bounds}inputs.training = [\"1\", \"2\"]\n[[features]]\nnames = [\"n\"]\ncommand = \"echo {{input}}\"\n{variants}"
        );
        let description = folder.write("f.toml", &text);
        let words = [
            "adaptive",
            "train",
            &description,
            "--trials",
            &trials,
            "--classifier",
            "tree",
            "-o",
            &model,
            "--json",
        ];
        let report = tilewright(&words).succeeded().json();
        assert_eq!(report["best"], serde_json::json!(best), "{report}");
        assert_eq!(report["measured"], if bounds.is_empty() { 8 } else { 0 });
    }
    let text = format!("name = \"f\"\nbounds = {{ error = nan }}\n{variants}");
    let wrong = folder.write("g.toml", &text);
    refused(2, &["adaptive", "train", &wrong, "-o", &model], &["the bound of `error`"]);
}

/// Whoever compiles the proxies, here or for another GPU, finds each intensity within 1 by the shipped profiles.
#[test]
fn proxies_are_counted() {
    let folder = Folder::new();
    let file = folder.arg("p.csv");
    let profiled = |words: &[&str]| {
        let mut profile = command(&[&["adaptive", "profile", "-o", &file, "--json"], words].concat());
        // Code that is not optimised has other instructions.
        profile.env_remove("CC");
        let report = finish(profile).succeeded().json();
        assert_eq!(report["profiles"], 30);
        for kernel in report["kernels"].as_array().unwrap() {
            let (variant, name) = (kernel["variant"].as_str().unwrap(), kernel["kernel"].as_str().unwrap());
            let own =
                report["proxies"].as_array().unwrap().iter().position(|proxy| proxy == variant).unwrap();
            let intensity: f64 = name.rsplit('_').next().unwrap().parse().unwrap();
            let found = kernel["intensities"][own].as_f64().unwrap();
            assert!((found - intensity).abs() < 1.0, "{name}: {found}");
            let expected: &[&str] = if intensity == 0.0 { &[] } else { &[variant] };
            assert_eq!(kernel["proxies"], serde_json::json!(expected), "{name}");
        }
    };
    if cfg!(target_arch = "x86_64") {
        profiled(&["--proxies", "cpu"]);
    }
    if can_count(90) {
        profiled(&["--proxies", "gpu", "--sm", "90"]);
    }
}

/// Functions of a compiled file, and tilings of a stencil.
#[test]
fn variants_are_profiled() {
    let folder = Folder::new();
    let (file, source, library) = (folder.arg("p.csv"), folder.arg("f.c"), folder.arg("-f.so"));
    let text = "void scale(float *x, float a, long n) { for (long i = 0; i < n; ++i) x[i] = x[i] * a * a * a * a; }\n\
        void count(unsigned *x, long n) { for (long i = 0; i < n; ++i) __atomic_fetch_add(x, 1, 5); }\n";
    std::fs::write(&source, text).unwrap();
    let cc = Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o", &library, &source]).status();
    assert!(cc.unwrap().success());
    if cfg!(target_arch = "x86_64") {
        let own = format!("--object={library}");
        let words = [
            "adaptive",
            "profile",
            &own,
            "-o",
            &file,
            "--json",
            "--variant",
            "s=scale",
            "--variant",
            "c=count",
        ];
        let report = tilewright(&words).succeeded().json();
        assert_eq!(report["kernels"][0]["proxies"], serde_json::json!(["sp-gflop"]), "{report}");
        assert_eq!(report["kernels"][1]["proxies"], serde_json::json!(["atomic"]), "{report}");
        refused(
            2,
            &["adaptive", "profile", &own, "-o", &file, "--variant", "s=scales"],
            &["did you mean `scale`"],
        );
        refused(2, &["adaptive", "profile", &own, "-o", &file, "--variant", "scale"], &["NAME=WHAT"]);
        refused(
            2,
            &["adaptive", "profile", &own, "-o", &library, "--variant", "s=scale"],
            &["would be lost"],
        );
        let none = format!("--object={source}");
        refused(
            2,
            &["adaptive", "profile", &none, "-o", &file, "--variant", "s=f"],
            &["objdump cannot read"],
        );
    }
    if can_count(80) {
        let words = [
            "adaptive",
            "profile",
            "heat2d",
            "--variant",
            "naive=naive",
            "--size",
            "256x256",
            "--steps",
            "16",
        ];
        let report = tilewright(&[&words[..], &["-o", &file, "--json"]].concat()).succeeded().json();
        let shipped = std::fs::read_to_string(example("fleet/heat2d-profiles.csv")).unwrap();
        let counted = std::fs::read_to_string(&file).unwrap();
        assert!(counted.lines().all(|line| shipped.contains(line)), "{counted}");
        assert_eq!(report["kernels"][0]["proxies"], serde_json::json!(["sp-gflop"]), "{report}");
    }
}

#[test]
fn machines_serve_another_one() {
    let folder = Folder::new();
    let (fleet, model) = (example("fleet/heat2d.toml"), folder.arg("h100.model.json"));
    let made = ["--target", "h100", "--classifier", "tree", "-o", &model, "--json"];
    let report = tilewright(&[&["adaptive", "transfer", &fleet], &made[..]].concat()).succeeded().json();
    assert_eq!(report["sources"].as_array().unwrap().len(), 5);
    assert_eq!(report["features"].as_array().unwrap().len(), 1);
    // The search is among what profiles leave.
    assert_eq!(report["profiled"]["proxies"], serde_json::json!(["sp-gflop", "sh-mem-bw"]));
    let chosen = tilewright(&["adaptive", "predict", &model, "--values", "points=65536,steps=2"]).succeeded();
    assert!(chosen.stdout.starts_with("naive"), "{}", chosen.stdout);
    // Its machine is part of the model: nobody is asked for it.
    let table = example("fleet/h100.csv");
    let judged = tilewright(&["adaptive", "report", &model, &table, "--json"]).succeeded().json();
    assert!(judged["performance"]["mean"].as_f64().unwrap() > 0.8, "{judged}");
    let unknown = ["adaptive", "transfer", &fleet, "--target", "h10", "-o", &model];
    refused(2, &unknown, &["did you mean `h100`"]);
    // Neither the fleet nor a table of it is overwritten.
    let own = folder.arg("own.toml");
    let tables = format!("table = \"{}/", example("fleet"));
    let text = std::fs::read_to_string(&fleet).unwrap().replace("table = \"", &tables);
    let text = text.replace("variants = \"", &tables.replace("table", "variants"));
    std::fs::write(&own, text).unwrap();
    refused(2, &["adaptive", "transfer", &own, "--target", "h100", "-o", &own], &["own.toml"]);
    refused(2, &["adaptive", "transfer", &own, "--target", "h100", "-o", &table], &["h100.csv"]);
}
