//! `predict`, `tune`, `calibrate` and `validate` on a CPU, and who chooses tile sizes for OpenMP.

use crate::support::{Folder, command as command_line, finish, tilewright};
use approx::assert_relative_eq;

const HEAT: [&str; 8] = ["heat2d", "--size", "300x400", "--steps", "20", "--machine", "zen4", "--json"];

fn command<'a>(name: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[name], &HEAT[..], more].concat()
}

#[test]
fn predictions_add_up() {
    let folder = Folder::new();
    let drawing = folder.arg("bars.svg");
    for (strategy, tile) in [("hhc", "st=8,s0=20,s1=128"), ("naive", "s0=16,s1=0")] {
        let more = ["--strategy", strategy, "--tile", tile, "--svg", &drawing];
        let document = tilewright(&command("predict", &more)).succeeded().json();
        let number = |place: &str| document.pointer(place).unwrap().as_f64().unwrap();
        let terms: f64 = ["compute", "transfer", "barrier", "launch"]
            .map(|term| number(&format!("/terms/{term}")))
            .iter()
            .sum();
        let seconds = number("/seconds");
        assert_relative_eq!(terms, seconds, epsilon = 0.0, max_relative = 1e-9);
        let lost: f64 =
            document["losses"].as_array().unwrap().iter().map(|loss| loss["seconds"].as_f64().unwrap()).sum();
        assert_relative_eq!(number("/ideal_s") + lost, seconds, epsilon = 0.0, max_relative = 1e-9);
        assert_eq!((&document["feasible"], &document["joules"]), (&true.into(), &serde_json::Value::Null));
        // All constants together: the time grows as they do.
        let reactions = document["sensitivities"].as_array().unwrap();
        let continuous = reactions.iter().filter(|one| one["parameter"] != "cores");
        let sum: f64 = continuous.map(|one| one["elasticity"].as_f64().unwrap()).sum();
        assert_relative_eq!(sum, 1.0, max_relative = 1e-6);
        let parts = document["breakdown"].as_array().unwrap();
        let sum: f64 = parts.iter().map(|part| part["value"].as_f64().unwrap()).sum();
        assert_relative_eq!(sum, seconds, epsilon = 0.0, max_relative = 1e-9);
        assert!(parts.iter().all(|part| part["formula"].is_string()));
        // Caches that are too small are no reason why a tile could not run.
        let caches = document["constraints"].as_array().unwrap();
        assert!(caches.len() == 2 && caches.iter().all(|cache| cache["hard"] == false), "{caches:?}");
        assert!(std::fs::read_to_string(folder.path("bars.svg")).unwrap().contains("predicted"));
    }
    let text = tilewright(&["predict", "heat2d", "--size", "300x400", "--steps", "20", "--machine", "zen4"])
        .succeeded();
    assert!(
        text.stdout.contains("best tile of the best strategy")
            && text.stdout.contains("times the best")
            && !text.stdout.contains("multiprocessor")
            && text.stdout.contains("launch = N_w * T_sync = "),
        "{}",
        text.stdout
    );
    let output = tilewright(&command("predict", &["--k", "2"]));
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("--k is for GPUs"), "{}", output.stderr);
}

#[test]
fn tuning_is_exact_and_over_all_strategies() {
    let exact = tilewright(&command("tune", &[])).succeeded().json();
    let exhaustive = tilewright(&command("tune", &["--method", "exhaustive"])).succeeded().json();
    assert_eq!(
        (&exact["optimal"], &exact["value"], &exact["tile"]),
        (&true.into(), &exhaustive["value"], &exhaustive["tile"])
    );
    let evaluated = |method: &str| {
        let tuned =
            tilewright(&command("tune", &["--strategy", "hhc", "--method", method])).succeeded().json();
        tuned["evaluated"].as_u64().unwrap()
    };
    assert!(2 * evaluated("exact") < evaluated("exhaustive"));
    assert_eq!(exact["strategies"].as_array().unwrap().len(), 5);
    let naive = tilewright(&command("tune", &["--strategy", "naive"])).succeeded().json();
    assert!(naive["value"].as_f64().unwrap() >= exact["value"].as_f64().unwrap());
    for (more, reason) in [
        (["--objective", "energy"], "energ"),
        (["--method", "closed-form"], "--method exact"),
        (["--formulation", "parts"], "--formulation minimum"),
    ] {
        let output = tilewright(&command("tune", &more));
        assert_eq!(output.code, 1, "{more:?}");
        assert!(output.stderr.contains(reason), "{}", output.stderr);
    }
}

#[test]
fn energies_of_a_machine_file_are_used() {
    let folder = Folder::new();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines/zen4.toml");
    let energy = "\n[calibration.energy]\nprovenance = \"stated\"\nsource = \"a test\"\ne_glob_j = 1e-9\ne_shared_j = 1e-11\n\
                  e_flop_j = 5e-12\ne_sync_j = 0.0\ne_launch_j = 1e-6\np_static_w = 40.0\n";
    let machine = folder.write("metered.toml", std::fs::read_to_string(shipped).unwrap() + energy);
    let tune = |objective: &str| {
        let request =
            ["tune", "heat2d", "--size", "300x400", "--steps", "20", "--machine", &machine, "--json"];
        tilewright(&[&request[..], &["--objective", objective]].concat()).succeeded().json()
    };
    let (time, energy, power) = (tune("time"), tune("energy"), tune("power"));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&energy["joules"]) <= number(&time["joules"]));
    assert!(number(&power["watts"]) <= number(&time["watts"]) && number(&power["watts"]) > 40.0);
    assert_eq!(energy["value"], energy["joules"]);
}

#[test]
fn openmp_code_has_the_models_sizes() {
    let folder = Folder::new();
    let compile = |more: &[&str], out: &str| {
        let request =
            ["compile", "heat2d", "--target", "openmp", "--size", "300x400", "--steps", "20", "--json", "-o"];
        tilewright(&[&request[..], &[&folder.arg(out)], more].concat()).succeeded().json()
    };
    // Of all strategies, or of the one that is named.
    for strategy in ["auto", "hhc"] {
        let tuned = tilewright(&command("tune", &["--strategy", strategy])).succeeded().json();
        let named = compile(&["--machine", "zen4", "--strategy", strategy], "named");
        assert_eq!((&named["tile"], &named["strategy"]), (&tuned["tile"], &tuned["strategy"]));
        let by = named["chosen_by"].as_str().unwrap();
        assert!(by.starts_with("chosen by the cost model for zen4"), "{by}");
        assert_eq!(by.contains(" among 5 strategies: "), strategy == "auto", "{by}");
    }
    let here = compile(&[], "here")["chosen_by"].as_str().unwrap().to_owned();
    assert!(here.starts_with("chosen by the cost model for zen4 with "), "{here}");
    assert_eq!(compile(&["--tile", "st=2,s0=8,s1=32"], "given")["chosen_by"], "as given");
    let run = ["run", "heat2d", "--size", "60x70", "--steps", "6", "--threads", "2", "--verify", "--json"];
    let run = tilewright(&run).succeeded().json();
    assert!(run["notes"].to_string().contains("zen4 with 2 threads"), "{}", run["notes"]);
    // Nothing is computed, so that there is nothing to choose.
    tilewright(&["run", "heat2d", "--size", "2x70", "--steps", "6", "--verify"]).succeeded();
}

/// The more threads, the lower the tiles, so that all have one; and they are right where there are more threads than cores.
#[test]
fn tiles_are_chosen_by_threads() {
    let run = |strategy: &str, threads: &str| {
        let request = ["--strategy", strategy, "--threads", threads, "--verify"];
        let run = tilewright(&command("run", &request)).succeeded().json();
        assert_eq!(run["verified"], true, "{run}");
        run["tile"]["st"].as_i64().unwrap()
    };
    let heights = ["2", "16", "128"].map(|threads| run("hhc", threads));
    assert!(heights[0] > heights[1] && heights[1] > heights[2], "{heights:?}");
    assert!(run("diamond", "64") < heights[0]);
}

#[test]
fn a_cpu_is_calibrated_and_validated() {
    let folder = Folder::new();
    let (file, runs, drawing) = (folder.arg("here.toml"), folder.arg("runs.jsonl"), folder.arg("fit.svg"));
    let calibrate = [
        "calibrate",
        "--backend",
        "openmp",
        "--stencil",
        "jacobi2d",
        "--quick",
        "--rounds",
        "1",
        "--threads",
        "1",
        "-o",
        &file,
        "--json",
    ];
    let document = tilewright(&calibrate).succeeded().json();
    assert_eq!(document["stencils"][0]["stencil"], "jacobi2d");
    assert!(document["t_sync_s"].as_f64().unwrap() > 0.0);
    let validate = |backend: &str, more: &[&str]| {
        let request = [
            "validate",
            "jacobi2d",
            "--size",
            "100x120",
            "--steps",
            "8",
            "--machine",
            &file,
            "--samples",
            "4",
            "--repeat",
            "1",
            "--json",
            "--backend",
            backend,
        ];
        tilewright(&[&request[..], more].concat())
    };
    let first = validate("openmp", &["--trials", &runs, "--svg", &drawing]).succeeded().json();
    for key in ["samples", "rmse_all", "rmse_top20", "best_measured_s", "picked_measured_s", "rank_of_picked"]
    {
        assert!(first.get(key).is_some(), "{key}");
    }
    let tiles = first["samples"].as_u64().unwrap();
    assert_eq!(first["tiles"].as_array().unwrap().len() as u64, tiles + 1);
    assert!(std::fs::read_to_string(folder.path("fit.svg")).unwrap().starts_with("<svg"));
    // What was measured is explained and searched as every recorded space is.
    let explained = tilewright(&["explain", &runs, "--min-leaf", "1", "--json"]).succeeded().json();
    assert_eq!(explained["trials"].as_u64(), Some(tiles + 1));
    let replay = ["search", "--replay", &runs, "--method", "random", "--budget", "3", "--json"];
    assert!(tilewright(&replay).succeeded().json()["used"]["mean"].as_f64().is_some());
    // Joules, by a counter that says that it is simulated, and of what.
    let energy = ["--metric", "energy", "--counter", "simulated"];
    let document = validate("openmp", &energy).succeeded().json();
    assert_eq!((&document["metric"], &document["counter"]["simulated"]), (&"energy".into(), &true.into()));
    assert_eq!(document["counter"]["name"], "simulated RAPL");
    assert!(document["counter"]["wrapped"].as_u64().is_some() && document.get("best_measured_s").is_none());
    assert!(document["best_measured_j"].as_f64().unwrap() > 0.0);
    assert!(document["tiles"][0]["predicted_j"].as_f64().unwrap() > 0.0);
    assert!(document["notes"].to_string().contains("the counter is simulated"));
    let output = validate("openmp", &[&energy[..], &["--trials", &runs]].concat());
    assert!(output.code == 2 && output.stderr.contains("--trials keeps times"), "{}", output.stderr);
    let output = validate("openmp", &["--counter", "simulated"]);
    assert!(output.code == 2 && output.stderr.contains("--metric energy"), "{}", output.stderr);
    // The file of a CPU is not for a GPU.
    let output = validate("cuda", &[]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("CPU"), "{}", output.stderr);
    let output = tilewright(&["calibrate", "--backend", "cuda", "--threads", "2", "-o", &file]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("--threads is for a CPU"), "{}", output.stderr);
}

/// A new user on a new machine: it is measured once, and so are the best tile sizes; both are remembered.
#[test]
fn this_computer_is_measured_once() {
    let folder = Folder::new();
    let run = |more: &[&str]| {
        let request =
            ["run", "heat2d", "--size", "200x300", "--steps", "20", "--verify", "--timings", "--json"];
        let mut command = command_line(&[&request[..], more].concat());
        command.env("TILEWRIGHT_STATE", folder.path("state")).env_remove("TILEWRIGHT_MACHINE");
        let output = finish(command).succeeded();
        let document = output.json();
        assert_eq!(document["verified"], true);
        (document["notes"].to_string(), output.stderr, document["tile_text"].clone())
    };
    let entries = |name: &str| {
        let entries = std::fs::read_dir(folder.path(name)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    const MEASURED: &str = "measuring this computer";
    const TIMED: &str = "timing the best tile sizes";
    // A short run is not worth it, and says whose constants it takes.
    let (notes, stages, _) = run(&[]);
    assert!(notes.contains("constants of another CPU") && notes.contains("not measured"), "{notes}");
    assert!(!stages.contains(MEASURED) && !stages.contains(TIMED), "{stages}");
    assert!(!folder.path("state").exists());
    let (notes, stages, _) = run(&["--tile-by", "default"]);
    assert!(!notes.contains("tile sizes") && !stages.contains("tune"), "{notes}{stages}");
    // The user asks for it.
    let (notes, stages, chosen) = run(&["--tile-by", "measure"]);
    assert!(notes.contains("the fastest of") && !notes.contains("another CPU"), "{notes}");
    assert!(stages.contains(MEASURED) && stages.contains(TIMED), "{stages}");
    let kept = entries("state/machines");
    assert_eq!(kept.len(), 1);
    let trials = entries("state/trials");
    // What was measured is a store like any other.
    let store = trials[0].to_str().unwrap().to_owned();
    let explained = tilewright(&["explain", &store, "--min-leaf", "1", "--json"]).succeeded().json();
    assert!(explained["trials"].as_u64().unwrap() >= 2);
    // Now this computer is known. Whoever else reads the file on another one does not take it for their own.
    let (notes, stages, _) = run(&["--tile-by", "model"]);
    assert!(notes.contains("the cost model for this computer"), "{notes}");
    assert!(!stages.contains(MEASURED) && !stages.contains(TIMED), "{stages}");
    let machine = &kept[0];
    let text = std::fs::read_to_string(machine).unwrap();
    assert!(text.contains("processor = \""));
    std::fs::write(machine, text.replace("processor = \"", "processor = \"another-")).unwrap();
    let (notes, _, _) = run(&["--tile-by", "model", "--no-calibrate"]);
    assert!(notes.contains("constants of another CPU"), "{notes}");
    assert!(chosen.is_string());
}

#[test]
fn the_variable_names_the_machine() {
    let run = |name: &str| {
        let mut command = command_line(&["run", "heat2d", "--size", "60x70", "--steps", "6", "--json"]);
        command.env("TILEWRIGHT_MACHINE", name);
        finish(command)
    };
    assert!(run("zen4").succeeded().json()["notes"].to_string().contains("the cost model for zen4"));
    let output = run("zen5");
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("there is no machine `zen5`"), "{}", output.stderr);
    // A GPU says nothing about code for a CPU.
    assert!(run("v100").succeeded().json()["notes"].to_string().contains("another CPU"));
}

/// Without a device nothing runs: times are the predicted ones, the counter is simulated, and the report says both.
#[test]
fn energies_of_a_gpu_are_validated_on_a_simulated_counter() {
    let of = |seed: &str, more: &[&str]| {
        let request = [
            "validate",
            "heat2d",
            "--size",
            "1000x1000",
            "--steps",
            "100",
            "--machine",
            "h100",
            "--backend",
            "cuda",
            "--strategy",
            "naive",
            "--samples",
            "6",
            "--repeat",
            "2",
            "--metric",
            "energy",
            "--counter",
            "simulated",
            "--seed",
            seed,
        ];
        tilewright(&[&request[..], more].concat())
    };
    let document = of("1", &["--json"]).succeeded().json();
    let counter = &document["counter"];
    assert_eq!((&counter["name"], &counter["simulated"]), (&"simulated NVML".into(), &true.into()));
    if counter["simulated_times"] == true {
        // What is left is noise, and steps of the counter.
        assert!(document["rmse_all"].as_f64().unwrap() < 0.1, "{document:#}");
        // The same seed, the same joules; another one, others.
        let joules = |document: &serde_json::Value| document["best_measured_j"].as_f64().unwrap();
        assert_eq!(joules(&of("1", &["--json"]).succeeded().json()), joules(&document));
        assert!(joules(&of("2", &["--json"]).succeeded().json()) != joules(&document));
    }
    let text = of("1", &[]).succeeded().stdout;
    assert!(text.contains("SIMULATED: nothing was measured"), "{text}");
}
