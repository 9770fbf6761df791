//! One store of trials for all commands: what any of them writes, every other reads and goes on with.

use crate::support::{Folder, Output, command, everything, finish, tilewright};
use ::trials::{ReadOptions, Recording, Setting, Store, Trial};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

const GRID: [&str; 5] = ["heat1d", "--size", "200", "--steps", "3"];

const WORKLOAD: &str =
    "name = \"tiny\"\ndescription = \"few designs\"\nfamily = \"maxwell\"\nobjective = \"gflops\"\n
[budget]\narea_low_mm2 = 30\narea_high_mm2 = 120\n
[hardware]\nn_sm = [4, 8]\nn_v = [64, 128]\nm_sm_kb = [16]\n
[[stencil]]\nspec = \"jacobi2d\"\nsizes = [\"512x512\"]\nsteps = [16]\n";

const SPACE: &str =
    r#"{"ConfigurationSpace": {"TuningParameters": [{"Name": "s0", "Values": [1, 2, 3, 4]}]}}"#;

/// A command that writes trials, but for its `--trials FILE`.
fn writers(folder: &Folder) -> Vec<(&'static str, Vec<String>)> {
    let grid = |name: &str, more: &[&str]| -> Vec<String> {
        [name].iter().chain(&GRID).chain(more).map(|&part| part.to_owned()).collect()
    };
    let own = |parts: &[&str]| -> Vec<String> { parts.iter().map(|&part| part.to_owned()).collect() };
    let workload = folder.write("tiny.toml", WORKLOAD);
    let space = folder.write("space.json", SPACE);
    let random = ["--method", "random", "--budget", "3"];
    vec![
        ("run", grid("run", &["--strategy", "naive", "--tile", "s0=32"])),
        ("reference", grid("run", &["--backend", "reference"])),
        (
            "validate",
            grid(
                "validate",
                &["--machine", "zen4", "--backend", "openmp", "--samples", "2", "--repeat", "1"],
            ),
        ),
        ("search", grid("search", &[&random[..], &["--repeat", "1", "--strategy", "naive"]].concat())),
        ("model", grid("search", &[&random[..], &["--backend", "model", "--machine", "zen4"]].concat())),
        (
            "command",
            own(&[
                &["search", "--space", &space, "--command", "echo {s0}", "--response", "seconds"][..],
                &random,
            ]
            .concat()),
        ),
        (
            "codesign",
            own(&["codesign", &workload, "--what-if", "none", "--force", "-o", &folder.arg("study")]),
        ),
    ]
}

fn write(arguments: &[String], file: &str) -> Output {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(["--trials", file]).collect();
    tilewright(&arguments).succeeded()
}

/// Every command that reads trials.
fn read(file: &str, what: &str) -> Value {
    let explained = tilewright(&["explain", file, "--json"]);
    assert_eq!(explained.code, 0, "explain after {what}: {}", explained.stderr);
    let replayed = tilewright(&["search", "--replay", file, "--method", "random", "--budget", "2"]);
    assert_eq!(replayed.code, 0, "search after {what}: {}", replayed.stderr);
    // Runs of before did not say when.
    let y = if what == "runs.jsonl" { "others" } else { "when" };
    let table = tilewright(&["pareto", file, "--x", "seconds", "--y", y]);
    assert_eq!(table.code, 0, "pareto after {what}: {}", table.stderr);
    explained.json()
}

/// Every second pair, or all: the second command adds to what the first has written, and all of it is read.
#[test]
fn every_command_reads_and_goes_on_with_what_every_other_has_written() {
    let folder = Folder::new();
    let writers = writers(&folder);
    let count = |file: &str| ::trials::store::read(Path::new(file)).unwrap().trials.len();
    let files: Vec<(String, usize)> = writers
        .iter()
        .map(|(name, arguments)| {
            let file = folder.arg(&format!("{name}.db"));
            write(arguments, &file);
            read(&file, name);
            let trials = count(&file);
            assert!(trials > 0, "{name}");
            (file, trials)
        })
        .collect();
    // The others write as one of these does.
    let kinds: Vec<_> =
        writers.iter().zip(&files).filter(|((name, _), _)| !["reference", "model"].contains(name)).collect();
    for (row, ((first, _), (file, before))) in kinds.iter().enumerate() {
        for (column, ((second, arguments), (_, added))) in kinds.iter().enumerate() {
            if (row + column) % 2 == 1 && !everything() {
                continue;
            }
            let pair = folder.arg("pair.db");
            std::fs::copy(file, &pair).unwrap();
            write(arguments, &pair);
            // A search and a study are not repeated, and a validation not what it has measured undisturbed.
            match (first == second, *second) {
                (true, "search" | "command" | "codesign") => assert_eq!(count(&pair), *before, "{second}"),
                (true, "validate") => assert!(count(&pair) >= *before),
                (_, "validate") => assert!(count(&pair) > *before),
                _ => assert_eq!(count(&pair), before + added, "{first}, {second}"),
            }
            if first <= second {
                let explained = tilewright(&["explain", &pair, "--draws", "1"]);
                assert_eq!(explained.code, 0, "{first} and {second}: {}", explained.stderr);
            }
            std::fs::remove_file(&pair).unwrap();
        }
    }
    // The other form, all of them one after the other.
    let lines = folder.arg("all.jsonl");
    writers.iter().for_each(|(_, arguments)| drop(write(arguments, &lines)));
    assert!(std::fs::read_to_string(&lines).unwrap().starts_with("{\"record\":0,"));
    let document = read(&lines, "all");
    let mixed: Vec<&str> = document["mixed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mixed| mixed["parameter"].as_str().unwrap())
        .collect();
    for name in ["program", "backend", "strategy"] {
        assert!(mixed.contains(&name), "{mixed:?}");
    }
    let one = ["explain", &lines, "--where", "program == 'heat1d' and backend == 'openmp'", "--json"];
    assert!(tilewright(&one).succeeded().json()["trials"].as_u64().unwrap() >= 5);
}

/// What a record says, and that failures are records, too.
#[test]
fn a_record_says_what_ran_where_with_which_binary_and_what_failed() {
    let folder = Folder::new();
    let file = folder.arg("runs.db");
    let run = ["run", "heat2d", "--size", "24x32", "--steps", "3", "--trials", &file];
    tilewright(&[&run[..], &["--repeat", "3", "--verify", "--threads", "1"]].concat()).succeeded();
    let wrong = ["--strategy", "hhc", "--tile", "st=0,s0=4,s1=16"];
    let failed = tilewright(&[&run[..], &wrong].concat());
    assert_ne!(failed.code, 0);
    let recording = Recording::open(Path::new(&file), &ReadOptions::default()).unwrap();
    let [good, bad] = recording.trials.as_slice() else { panic!("{recording:?}") };
    let setting = &good.setting;
    let said = [
        &setting.program,
        &setting.backend,
        &setting.strategy,
        &setting.size,
        &setting.steps,
        &setting.threads,
    ];
    assert_eq!(said, ["heat2d", "openmp", "hhc", "24x32", "3", "1"]);
    assert!(setting.source.len() == 16 && !setting.machine.is_empty() && setting.by == "tilewright run");
    assert!(setting.compiler.contains(" -O2 ") && !setting.version.is_empty(), "{}", setting.compiler);
    let seconds = &good.outcome.metrics["seconds"];
    assert_eq!((seconds.unit.as_str(), seconds.repetitions.len()), ("s", 3));
    assert_eq!((bad.outcome.status.name(), bad.outcome.metrics.len()), ("invalid", 0));
    assert!(failed.stderr.contains(&bad.outcome.message), "{} / {}", failed.stderr, bad.outcome.message);
    let document = tilewright(&["explain", &file, "--json"]).succeeded().json();
    assert_eq!((document["trials"].as_u64(), document["failed"]["invalid"].as_u64()), (Some(1), Some(1)));
}

/// Another machine and version: told, a parameter, chosen, and not gone on from.
#[test]
fn trials_of_several_machines_are_told_apart() {
    let folder = Folder::new();
    let file = folder.arg("trials.jsonl");
    let search = [
        "search", "heat1d", "--size", "400", "--steps", "4", "--method", "random", "--budget", "3",
        "--repeat", "1",
    ];
    let search = [&search[..], &["--trials", &file]].concat();
    tilewright(&search).succeeded();
    let mut store = Store::open(Path::new(&file)).unwrap();
    let own = store.trials().to_vec();
    let foreign = |trial: &Trial| {
        let setting =
            Setting { machine: "Other".to_owned(), version: "9.9.9".to_owned(), ..(*trial.setting).clone() };
        Trial { setting: Arc::new(setting), ..trial.clone() }
    };
    own.iter().for_each(|trial| store.append(&foreign(trial)).unwrap());
    drop(store);
    let text = tilewright(&["explain", &file]).succeeded().stdout;
    assert!(
        text.contains("of several values of machine are mixed") && text.contains("Other (3 trials)"),
        "{text}"
    );
    assert!(text.contains("of several values of version are mixed"), "{text}");
    let chosen = ["explain", &file, "--where", "machine == \"Other\"", "--json"];
    assert_eq!(tilewright(&chosen).succeeded().json()["trials"], 3);
    assert!(
        tilewright(&["search", "--replay", &file, "--budget", "2"])
            .succeeded()
            .stderr
            .contains("--where takes one")
    );
    // Nothing is measured again, and nothing of the other machine is taken for measured.
    let again = tilewright(&search).succeeded();
    assert!(again.stderr.contains("3 trials of another measurement, machine"), "{}", again.stderr);
    assert_eq!(::trials::store::read(Path::new(&file)).unwrap().trials.len(), 6);
}

/// Files that versions before there was one store have written.
#[test]
fn files_of_earlier_versions_are_read_and_gone_on_with() {
    let folder = Folder::new();
    let earlier = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier");
    for (name, count) in [("search.db", 6), ("search.csv", 6), ("search.json", 6), ("runs.jsonl", 4)] {
        std::fs::copy(earlier.join(name), folder.path(name)).unwrap();
        assert_eq!(read(&folder.arg(name), name)["trials"], count, "{name}");
    }
    // All six trials are there: they are found and not measured, bit for bit.
    let (file, export) = (folder.arg("search.db"), folder.arg("export.csv"));
    let search =
        ["search", "heat2d", "--size", "40x48", "--steps", "4", "--budget", "6", "--method", "random"];
    let search = [&search[..], &["--repeat", "1", "--trials", &file, "--export", &export]].concat();
    tilewright(&search).succeeded();
    let cells = |name: &str| -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(folder.path(name)).unwrap();
        text.lines().map(|line| line.split(',').take(7).map(str::to_owned).collect()).collect()
    };
    assert_eq!(cells("export.csv"), cells("search.csv"));
    assert_eq!(::trials::store::read(Path::new(&file)).unwrap().trials.len(), 6);
    // Any command adds to each of the stores.
    for name in ["search.db", "runs.jsonl"] {
        let file = folder.arg(name);
        let run = [&["run"][..], &GRID, &["--strategy", "naive", "--trials", &file]].concat();
        tilewright(&run).succeeded();
        read(&file, name);
    }
}

/// Names in the state folder, which the cache's commands leave alone.
#[test]
fn the_state_folder_keeps_trials_and_machines_by_name() {
    let folder = Folder::new();
    let state = folder.arg("state");
    let with_state = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("TILEWRIGHT_STATE", &state).env("TILEWRIGHT_CACHE", folder.path("cache"));
        finish(command)
    };
    let run = [&["run"][..], &GRID, &["--strategy", "naive", "--trials", "@first"]].concat();
    with_state(&run).succeeded();
    with_state(&run).succeeded();
    for action in ["clear", "prune", "show"] {
        let document = with_state(&["cache", action, "--json"]).succeeded().json();
        assert_eq!(document["state_folder"], state.as_str());
        assert!(document["state_files"].as_u64() >= Some(1) && document["state_bytes"].as_u64() > Some(0));
    }
    assert_eq!(with_state(&["explain", "@first", "--json"]).succeeded().json()["trials"], 2);
    with_state(&["search", "--replay", "@first", "--budget", "2"]).succeeded();
    let unknown = with_state(&["explain", "@frist"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean `@first`?"), "{}", unknown.stderr);
    for name in ["@", "@../x", "@.hidden"] {
        assert_eq!(with_state(&["explain", name]).code, 2, "{name}");
    }
    let machines = Path::new(&state).join("machines");
    std::fs::create_dir(&machines).unwrap();
    let zen4 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines/zen4.toml");
    std::fs::copy(zen4, machines.join("here.toml")).unwrap();
    with_state(&[&["predict"][..], &GRID, &["--machine", "@here"]].concat()).succeeded();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&state, PermissionsExt::from_mode(0o777)).unwrap();
        let refused = with_state(&run);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("the state folder") && refused.stderr.contains("chmod go-w"));
    }
}
