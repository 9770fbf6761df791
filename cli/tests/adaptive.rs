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
    let page = folder.arg("page.html");
    let few = ["--hold-out", "0.5", "--iter", "4", "--worth", "--html", &page, "-o", &model, "--json"];
    let few = tilewright(&[&["adaptive", "train", &table], &few[..]].concat()).succeeded().json();
    let (seeds, steps) = (few["seeds"].as_u64().unwrap(), few["steps"].as_array().unwrap());
    assert_eq!((few["labelled"].as_u64().unwrap(), steps.len()), (seeds + 4, 5));
    // The page says it, too, and is well-formed; the same data give the same bytes.
    let html = std::fs::read_to_string(&page).unwrap();
    let document = roxmltree::Document::parse_with_options(
        &html,
        roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() },
    );
    let headings = document.unwrap();
    let headings =
        headings.descendants().filter(|node| node.has_tag_name("h2")).filter_map(|node| node.text());
    let expected = [
        "Performance against exhaustive search",
        "How often each variant is the best, is chosen, and fails",
        "Confusion",
        "Families of inputs",
        "Convergence of incremental tuning",
        "Cost and worth of features",
    ];
    assert_eq!(headings.collect::<Vec<_>>(), expected);
    assert!(html.contains(&format!("{:.1} %", 100.0 * few["test"]["performance"]["mean"].as_f64().unwrap())));
    let judged = ["adaptive", "report", &model, &table, "--html", &page];
    tilewright(&judged).succeeded();
    let first = std::fs::read(&page).unwrap();
    tilewright(&judged).succeeded();
    assert_eq!(std::fs::read(&page).unwrap(), first);
    refused(2, &["adaptive", "report", &model, &table, "--html", &table], &["would be lost"]);
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
    let mut folds = head("@ATTRIBUTE fold NUMERIC\n");
    for at in 0..40 {
        let (fast, status) = if at < 20 { (1 + at % 3, "ok") } else { (100, "timeout") };
        runs += &format!("'i {at}',1,fast,{fast},{status}\n'i {at}',1,sure,{},ok\n", 20 + at % 5);
        // Far from those that `fast` can do, so that nobody errs at the border.
        let n = if at < 20 { at } else { at + 50 };
        values += &format!("'i {at}',1,{n},?\n");
        folds += &format!("'i {at}',1,{}\n", 1 + at % 4);
    }
    folder.write(
        "s/description.txt",
        "scenario_id: S\nperformance_measures: [runtime]\nmaximize: [false]\nalgorithm_cutoff_time: 100\n",
    );
    folder.write("s/algorithm_runs.arff", runs);
    folder.write("s/feature_values.arff", values);
    folder.write("s/cv.arff", folds);
    let (scenario, model) = (folder.arg("s"), folder.arg("m.json"));
    let train = [
        "adaptive",
        "train",
        &scenario,
        "--hold-out",
        "0.5",
        "--classifier",
        "forest",
        "--trees",
        "10",
        "--scenario-folds",
        "-o",
        &model,
    ];
    let said = tilewright(&[&train[..], &["--json"]].concat()).succeeded().json();
    let (test, scenario_folds) = (&said["test"], &said["scenario"]);
    assert_eq!(scenario_folds["folds"].as_array().unwrap().len(), 4);
    assert!(scenario_folds["lost"].as_f64().unwrap() < 0.5, "{scenario_folds}");
    let said = tilewright(&train).succeeded().stdout;
    assert!(said.contains("held out         40 inputs in 4 folds; in 0 one variant for all"), "{said}");
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
        (vec!["train", &table, "--scenario-folds", "-o", &model], 2, "is for scenarios of ASlib"),
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

/// Killed twenty times at any moment: nothing that was measured is measured twice, but for what was under way, and the model is that of a
/// training that nobody killed.
#[cfg(feature = "sqlite")]
#[test]
fn a_killed_training_goes_on() {
    let mut moments = 0x9e37_79b9_u32;
    let mut models = Vec::new();
    for store in ["trials.db", "trials.jsonl"] {
        let folder = Folder::new();
        let inputs: Vec<String> = (0..20).map(|n| format!("\"{n}\"")).collect();
        let description = folder.write(
            "f.toml",
            format!(
                "name = \"f\"\ninputs.training = [{}]\n[[features]]\nnames = [\"n\"]\ncommand = \"echo {{input}}\"\n\
                 [[variants]]\nname = \"a\"\ncommand = \"echo a >> calls; sleep 0.02; echo $(( 2 + {{input}} ))\"\n\
                 [[variants]]\nname = \"b\"\ncommand = \"echo b >> calls; sleep 0.02; echo $(( 30 - {{input}} ))\"\n",
                inputs.join(", ")
            )
            .replace("$(( 2 + {input} ))", "$(expr 2 + $TW_INPUT)")
            .replace("$(( 30 - {input} ))", "$(expr 30 - $TW_INPUT)"),
        );
        let (trials, model, calls) = (folder.arg(store), folder.arg("m.json"), folder.path("calls"));
        let arguments =
            ["adaptive", "train", &description, "--trials", &trials, "--classifier", "tree", "-o", &model];
        let called = || std::fs::read_to_string(&calls).unwrap_or_default().lines().count();
        let mut kills = 0;
        while kills < 10 {
            // Half of them somewhere in the beginning, half after the next call and a moment.
            let mut child = command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            moments = moments.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (start, before) = (Instant::now(), called());
            let waits =
                |child: &mut std::process::Child| child.try_wait().unwrap().is_none() && called() == before;
            while kills % 2 == 0 && waits(&mut child) && start.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(u64::from(moments >> 26)));
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        }
        tilewright(&arguments).succeeded();
        assert!((40..=40 + kills).contains(&called()), "{store}: {} calls", called());
        let first = std::fs::read(folder.path("m.json")).unwrap();
        models.push(first.clone());
        let again = tilewright(&[&arguments[..], &["--json"]].concat()).succeeded().json();
        assert_eq!(again["measured"], 0);
        assert_eq!(std::fs::read(folder.path("m.json")).unwrap(), first);
    }
    assert_eq!(models[0], models[1]);
}

/// Values of a parameter are searched for, become variants, and are chosen.
#[test]
fn parameters_are_searched() {
    let folder = Folder::new();
    let (model, trials) = (folder.arg("m.json"), folder.arg("t.jsonl"));
    // Three inputs of each class: `k` is the best where it is their number.
    let inputs: Vec<String> =
        (1..=4).flat_map(|n| ["a", "b", "c"].map(|copy| format!("\"{n}{copy}\""))).collect();
    let text = |more: &str| {
        format!(
            "name = \"f\"\ninputs.training = [{}]\n{more}[[features]]\nnames = [\"n\"]\ncommand = \"echo {{input}} | cut -c 1\"\n\
             [[variants]]\nname = \"plain\"\ncommand = \"echo 3\"\n[[variants]]\nname = \"blocked\"\nparameters = {{ k = [1, 2, 3, 4, 5] }}\n\
             where = [\"k < 5\"]\nstart.k = 2\ncommand = \"n=${{TW_INPUT%?}}; expr 1 + '(' {{k}} - $n ')' '*' '(' {{k}} - $n ')'\"\n",
            inputs.join(", ")
        )
    };
    let search = "search = { levels = \"multilevel\", method = \"random\", budget = 40 }\n";
    let description = folder.write("f.toml", text(search));
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
    assert_eq!(report["parameters"]["searches"], 4, "{report}");
    assert_eq!(report["parameters"]["kept_of_best"], 1.0, "{report}");
    assert_eq!(report["best"], serde_json::json!([0, 3, 3, 3, 3]), "{report}");
    let choices =
        tilewright(&["adaptive", "predict", &model, "--source", &description, "--json"]).succeeded().json();
    let chosen = choices["choices"].as_array().unwrap().iter().map(|own| own["variant"].as_str().unwrap());
    let expected: Vec<String> = (0..12).map(|at| format!("blocked{{k={}}}", 1 + at / 3)).collect();
    assert_eq!(chosen.collect::<Vec<_>>(), expected);
    let judged = ["adaptive", "report", &model, &description, "--trials", &trials, "--json"];
    let judged = tilewright(&judged).succeeded().json();
    assert_eq!((&judged["measured"], &judged["performance"]["mean"]), (&0.into(), &1.0.into()));
    for (more, change, why) in [
        (search, ("start.k = 2", "start.k = 7"), "cannot begin with `k` = 7"),
        (search, ("start.k = 2", "start.k = 5"), "a condition forbids it"),
        (search, ("{ k =", "{ input ="), "is named `input`"),
        ("search = { method = \"x\" }\n", ("", ""), "there is no searcher `x`"),
        ("search = { classes = [\"m\"] }\n", ("", ""), "`m`"),
    ] {
        let wrong = folder.write("g.toml", text(more).replacen(change.0, change.1, 1));
        refused(2, &["adaptive", "train", &wrong, "-o", &model], &[why]);
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

/// Pairs of a table: two models, which together are nearly as good as the best pairs.
#[test]
fn variants_are_chosen_with_clocks() {
    let folder = Folder::new();
    let (table, model, mhz) = (example("sorting-clocks.csv"), folder.arg("m.json"), folder.arg("mhz.json"));
    let words = ["adaptive", "clocks", &table, "--hold-out", "0.4", "-o", &model, "--frequency-output", &mhz];
    let report = tilewright(&[&words[..], &["--json"]].concat()).succeeded().json();
    assert_eq!(report["frequencies"], serde_json::json!([132, 312, 492, 672, 852]));
    assert_eq!(
        (&report["variants"], &report["clocks"]),
        (&serde_json::json!(["merge", "radix"]), &serde_json::Value::Null)
    );
    let test = &report["test"];
    assert_eq!(report["inputs"].as_u64().unwrap() + test["inputs"].as_u64().unwrap(), 60);
    assert!(test["performance"].as_f64().unwrap() > 0.9, "{test}");
    assert!(tilewright(&words).succeeded().stdout.contains("of the best pairs"));
    let values = "log2_keys=24,bits=32,comparisons=1";
    let chosen = |model: &str| {
        let output = tilewright(&["adaptive", "predict", model, "--values", values]).succeeded();
        output.stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!((chosen(&model), chosen(&mhz)), ("radix".to_owned(), "672".to_owned()));
    let plain = ["adaptive", "clocks", &example("sorting.csv"), "-o", &model, "--frequency-output", &mhz];
    refused(2, &plain, &["`merge` is no variant at a frequency", "radix@852"]);
    refused(2, &[&words[..7], &["--frequency-output", &model]].concat(), &["name the same file"]);
}

/// Features are measured, stated and asked of commands; a fleet takes them from the file.
#[test]
fn a_machine_has_features() {
    let folder = Folder::new();
    let file = folder.arg("here.toml");
    let words = ["adaptive", "machine", "--rounds", "1", "-o", &file, "--json"];
    let custom = ["--feature", "watts=-3.5", "--custom", "answer=echo so; echo 42"];
    let report = tilewright(&[&words[..], &custom].concat()).succeeded().json();
    for name in ["cores", "clock_rate", "copy_gbps", "global_atomic", "local_atomic"] {
        assert!(report["features"][name].as_f64().unwrap() > 0.0, "{name}: {report}");
    }
    assert_eq!((&report["features"]["answer"], &report["features"]["watts"]), (&42.0.into(), &(-3.5).into()));
    let again = tilewright(&[&words[..], &["--feature", "watts=7"]].concat()).succeeded().json();
    assert_eq!((&again["features"]["watts"], &again["kept"]), (&7.0.into(), &serde_json::json!(["answer"])));
    // It is a machine file like others.
    tilewright(&["list", "--json"]).succeeded();
    refused(
        1,
        &["adaptive", "machine", "-o", &file, "--rounds", "1", "--custom", "x=exit 3"],
        &["feature `x` failed"],
    );
    refused(2, &["adaptive", "machine", "-o", &file, "--feature", "x"], &["NAME=VALUE"]);
    refused(2, &["adaptive", "machine", "-o", &example("fleet/heat2d.toml")], &["heat2d.toml"]);
    let table = |name: &str, fast: u32| {
        let rows: Vec<String> = (1..9).map(|n| format!("{n},{fast},{}", 5 - fast)).collect();
        folder.write(name, format!("feature:n,variant:a,variant:b\n{}\n", rows.join("\n")));
    };
    table("a.csv", 1);
    table("b.csv", 4);
    let text = |machine: &str| {
        format!(
            "name = \"f\"\n[[machines]]\nname = \"here\"\nmachine = \"{machine}\"\n[machines.features]\nwatts = 1\n\
             [[machines]]\nname = \"p\"\nmachine = \"here.toml\"\ntable = \"a.csv\"\n\
             [[machines]]\nname = \"q\"\nmachine = \"here.toml\"\ntable = \"b.csv\"\n[machines.features]\nwatts = 1\n"
        )
    };
    let fleet = folder.write("fleet.toml", text("here.toml"));
    let model = folder.arg("m.json");
    let transfer =
        ["adaptive", "transfer", &fleet, "--target", "here", "--dfs", "none", "--classifier", "tree"];
    tilewright(&[&transfer[..], &["-o", &model]].concat()).succeeded();
    // What is stated in the fleet counts: the machine is like `q`.
    let choice = tilewright(&["adaptive", "predict", &model, "--values", "n=3"]).succeeded();
    assert!(choice.stdout.starts_with('b'), "{}", choice.stdout);
    refused(2, &[&transfer[..], &["-o", &file]].concat(), &["would be lost"]);
    let none = folder.write("none.toml", text("b.csv"));
    refused(2, &["adaptive", "transfer", &none, "--leave-out"], &["b.csv"]);
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
