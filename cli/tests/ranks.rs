//! The command on ranks of MPI: ranks that are killed or stopped are named, runs go on from checkpoints on any number of ranks, and
//! wrong launches are refused. Without an MPI the tests say so and pass, but not in CI.

use crate::support::{Folder, Output, command, everything, finish, quick_compiler, tilewright};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `mpirun` and the compiler of the same MPI.
fn mpi() -> Option<(&'static str, &'static str)> {
    let works = |(cc, _): &(&str, &str)| {
        Command::new(cc).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let found = [("mpicc.openmpi", "mpirun.openmpi"), ("mpicc", "mpirun")].into_iter().find(works);
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "no MPI: CI installs one (scripts/setup.sh)");
        eprintln!(
            "SKIPPED: no mpicc was found, so nothing runs on ranks (scripts/setup.sh names the packages)"
        );
    }
    found
}

/// The command on so many ranks.
fn on_ranks((cc, mpirun): (&str, &str), ranks: usize, arguments: &[&str]) -> Command {
    let own = command(arguments);
    let mut all = Command::new(mpirun);
    if mpirun.contains("openmpi") {
        all.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
        all.envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")));
    }
    all.args(["-n", &ranks.to_string()]).arg(own.get_program()).args(own.get_args());
    all.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    with_mpi(&mut all, cc).stdin(Stdio::null());
    all
}

/// The compiler of an MPI, which optimises less than it is asked to.
fn with_mpi<'a>(command: &'a mut Command, cc: &str) -> &'a mut Command {
    let quick = quick_compiler(true);
    command.envs(["OMPI_CC", "MPICH_CC"].map(|name| (name, quick.clone())));
    command.env("MPICC", cc).env("OMP_NUM_THREADS", "1")
}

/// The processes of a launch whose arguments have this word, by their ranks.
fn processes(word: &str, ranks: usize) -> Option<Vec<u32>> {
    let mut found = vec![None; ranks];
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let text = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&text("cmdline")).into_owned();
        let all = String::from_utf8_lossy(&text("environ")).into_owned();
        let rank = all.split('\0').find_map(|one| {
            one.strip_prefix("OMPI_COMM_WORLD_RANK=")
                .or_else(|| one.strip_prefix("PMI_RANK="))?
                .parse::<usize>()
                .ok()
        });
        if let (true, Some(rank)) = (arguments.contains(word) && !arguments.contains("mpirun"), rank) {
            *found.get_mut(rank)? = Some(process);
        }
    }
    found.into_iter().collect()
}

const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until something is there.
fn waited<T>(child: &mut Child, mut there: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = there() {
            return found;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ended(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(status.unwrap().success());
}

const TILE: &str = "st=4,s0=8,s1=64";
/// Steps of a run that nobody will wait for the end of; where there are many rounds, also after the longest pause.
fn steps() -> &'static str {
    if everything() { "150000" } else { "15000" }
}

fn arguments<'a>(kept: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let run = ["run", "heat2d", "--size", "67x61", "--steps", steps(), "--tile", TILE, "--json"];
    [&run[..], &["--checkpoint", kept, "--checkpoint-every", "500"], more].concat()
}

fn checksum(output: &Output) -> String {
    output.json()["checksum"].as_str().unwrap().to_owned()
}

#[test]
fn a_rank_that_is_killed_is_named_and_the_run_goes_on_from_a_checkpoint_on_other_ranks() {
    let Some(mpi) = mpi() else { return };
    let folder = Folder::new();
    let kept = folder.arg("kept");
    let plain = ["run", "heat2d", "--size", "67x61", "--steps", steps(), "--tile", TILE, "--json"];
    let expected = checksum(&tilewright(&plain).succeeded());
    let rounds = if everything() { 12 } else { 1 };
    for round in 0..rounds {
        let ranks = 2 + round % 3;
        let begun = on_ranks(mpi, ranks, &arguments(&kept, &[]))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut begun = begun.unwrap();
        waited(&mut begun, || std::fs::metadata(&kept).ok());
        std::thread::sleep(Duration::from_millis(37 * round as u64));
        let victim = ranks - 1 - round % ranks;
        let process = waited(&mut begun, || processes(&kept, ranks))[victim];
        signal(process, "-KILL");
        let output = ended(begun);
        assert_ne!(output.code, 0);
        let told = format!("rank {victim} ");
        assert!(output.stderr.contains(&told), "{told}: {}{}", output.stdout, output.stderr);
        // On one rank, without mpirun, and on others.
        let again = match round % 3 {
            0 => finish({
                let mut alone = command(&arguments(&kept, &["--restart", &kept]));
                with_mpi(&mut alone, mpi.0);
                alone
            }),
            other => finish(on_ranks(mpi, other + 2, &arguments(&kept, &["--restart", &kept]))),
        };
        let again = again.succeeded();
        let report = &again.json()["ranks"]["checkpoints"];
        assert!(report["steps_before"].as_i64().unwrap() >= 500, "{report}");
        assert_eq!(checksum(&again), expected);
        // Open MPI leaves an empty file of its own where a rank is killed while it writes.
        let left: Vec<String> = folder.names().into_iter().filter(|name| !name.ends_with(".lock")).collect();
        assert_eq!(left, ["kept"]);
        std::fs::remove_file(&kept).unwrap();
    }
}

/// A launcher that ends nobody where a rank dies, as `srun --mpi=pmi2` does: the others hear of it from the first one, and end.
#[test]
fn all_ranks_end_where_one_dies_whatever_the_launcher_does() {
    let Some(mpi) = mpi() else { return };
    let folder = Folder::new();
    let kept = folder.arg("kept");
    let mut begun = on_ranks(mpi, 3, &arguments(&kept, &[]));
    begun.envs([("OMPI_MCA_orte_enable_recovery", "1"), ("OMPI_MCA_orte_abort_on_non_zero_status", "0")]);
    let mut begun = begun.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    waited(&mut begun, || std::fs::metadata(&kept).ok());
    let all = waited(&mut begun, || processes(&kept, 3));
    signal(all[1], "-KILL");
    let lives = |process: &&u32| {
        std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|arguments| !arguments.is_empty())
    };
    let begin = Instant::now();
    while all.iter().any(|process| lives(&process)) && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    let left: Vec<&u32> = all.iter().filter(lives).collect();
    left.iter().for_each(|process| signal(**process, "-KILL"));
    let output = ended(begun);
    assert!(left.is_empty(), "{left:?} of {all:?} went on: {}", output.stderr);
    assert!(output.stderr.contains("rank 1 "), "{}{}", output.stdout, output.stderr);
}

#[test]
fn a_rank_that_does_not_answer_is_named() {
    let Some(mpi) = mpi() else { return };
    let folder = Folder::new();
    let kept = folder.arg("kept");
    let victims: &[usize] = if everything() { &[1, 0] } else { &[1] };
    for &victim in victims {
        let begun = on_ranks(mpi, 2, &arguments(&kept, &["--rank-timeout", "2"]))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut begun = begun.unwrap();
        waited(&mut begun, || std::fs::metadata(&kept).ok());
        let process = waited(&mut begun, || processes(&kept, 2))[victim];
        signal(process, "-STOP");
        let output = ended(begun);
        assert_ne!(output.code, 0);
        let told = format!("rank {victim} (process {process} on ");
        assert!(output.stderr.contains(&told), "{told}: {}{}", output.stdout, output.stderr);
        assert!(output.stderr.contains("has not answered for 2 s"), "{}", output.stderr);
        assert!(output.stderr.contains("--restart"), "{}", output.stderr);
        std::fs::remove_file(&kept).unwrap();
    }
}

#[test]
fn tile_sizes_are_timed_on_all_ranks_of_a_computer_at_once() {
    let Some(mpi) = mpi() else { return };
    let folder = Folder::new();
    let run = |threads: &str| {
        let tiles = ["--strategy", "hhc", "--tile-by", "measure", "--threads", threads, "--verify", "--json"];
        let request = ["run", "heat1d", "--size", "60001", "--steps", "40"];
        let mut command = on_ranks(mpi, 2, &[&request[..], &tiles].concat());
        command.env("TILEWRIGHT_STATE", folder.path("state"));
        let document = finish(command).succeeded().json();
        assert_eq!(document["verified"], true);
        document["notes"].to_string()
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // Threads have processors to themselves, or take turns.
    let many = processors.to_string();
    let cases = if everything() { vec!["1", &many] } else { vec!["1"] };
    for threads in cases {
        let (notes, fit) = (run(threads), processors > 1 && threads == "1");
        assert!(notes.contains("timed on this computer"), "{notes}");
        assert_eq!(notes.contains("timed on this computer, on 2 ranks at once"), fit, "{notes}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let Some(mpi) = mpi() else { return };
    let folder = Folder::new();
    let kept = folder.arg("kept");
    finish(on_ranks(mpi, 2, &["run", "heat2d", "--size", "40x30", "--steps", "6", "--checkpoint", &kept]))
        .succeeded();
    let cases: [(&[&str], &str); 6] = [
        (&["1x30", "9", "--ranks", "2x1"], "--ranks 1x2 would work"),
        (&["1x1", "9"], "processes would work: mpirun -n 1 "),
        (&["40x30", "9", "--ranks", "3x1"], "start 3 processes (mpirun -n 3 ..)"),
        (&["40x30", "9", "--depth", "30"], "--ranks 2x1 would work, with a smaller --depth or none"),
        (&["40x30", "5", "--restart", &kept], "the checkpoint has 6 steps"),
        (&["40x30", "9", "--restart", &kept, "--param", "a=0.1"], "other parameters"),
    ];
    for (case, expected) in cases {
        let (size, steps, more) = (case[0], case[1], &case[2..]);
        let arguments =
            [&["run", "heat2d", "--tile", TILE, "--size", size, "--steps", steps][..], more].concat();
        let output = finish(on_ranks(mpi, 2, &arguments));
        assert_ne!(output.code, 0, "{}", output.stdout);
        assert!(output.stderr.contains(expected), "{case:?}: {}", output.stderr);
    }
    // Processes that do not find each other: those of srun without the word for MPI.
    let mut alone = command(&["run", "heat2d", "--size", "40x30", "--steps", "6", "--tile", TILE]);
    with_mpi(&mut alone, mpi.0).env("SLURM_STEP_NUM_TASKS", "2").env("SLURM_PROCID", "0");
    let output = finish(alone);
    assert!(output.code != 0 && output.stderr.contains("srun started 2 processes"), "{}", output.stderr);
    // Those of another MPI.
    let other = [("mpicc.mpich", "mpirun.openmpi")].into_iter().find(|(cc, mpirun)| {
        let there = |name: &str| Command::new(name).arg("--version").output().is_ok();
        there(cc) && there(mpirun)
    });
    if let Some(other) = other {
        let output = finish(on_ranks(other, 2, &["run", "heat2d", "--size", "40x30", "--steps", "6"]));
        assert!(output.stderr.contains("different MPIs"), "{}", output.stderr);
    }
}

#[test]
fn a_prediction_says_what_a_run_sends_and_keeps_in_memory() {
    let Some(mpi) = mpi() else { return };
    let folder = Folder::new();
    let cluster = folder.arg("cluster.toml");
    let measure = ["calibrate", "--mpi", "--rounds", "3", "--machine", "zen4", "-o", &cluster, "--json"];
    let network = finish(on_ranks(mpi, 2, &measure)).succeeded().json();
    for value in ["latency_s", "bandwidth_bytes_per_s"] {
        assert!(network[value].as_f64().unwrap() > 0.0, "{network}");
    }
    let case = ["heat2d", "--size", "301x200", "--steps", "11", "--depth", "3", "--json"];
    let run = [&["run", "--tile", TILE, "--ranks", "2x1"], &case[..]].concat();
    let run = finish(on_ranks(mpi, 2, &run)).succeeded().json();
    let more = ["predict", "--strategy", "hhc", "--machine", &cluster, "--ranks", "2"];
    let predicted = tilewright(&[&more[..], &case[..]].concat()).succeeded().json();
    let (ranks, counts) = (&run["ranks"], &predicted["counts"]);
    assert_eq!((&ranks["counts"], &ranks["sent"]), (counts, &predicted["sent"]));
    let each = ranks["each"].as_array().unwrap();
    let most = each.iter().map(|rank| rank["bytes"].as_u64().unwrap()).max();
    assert_eq!(most, predicted["memory_bytes"].as_u64());
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&ranks["imbalance"]) >= 1.0 && number(&ranks["imbalance"]) <= 2.0, "{ranks}");
    assert!((0.0..1.0).contains(&number(&ranks["exchange_share"])), "{ranks}");
    let parts =
        |rank: &serde_json::Value| number(&rank["compute_seconds"]) + number(&rank["exchange_seconds"]);
    assert!(
        each.len() == 2 && each.iter().all(|rank| parts(rank) <= 1.001 * number(&rank["seconds"])),
        "{ranks}"
    );
    for scaling in ["strong", "weak"] {
        assert_eq!(predicted[scaling].as_array().unwrap().len(), 2, "{predicted}");
    }
}

#[test]
fn the_depth_that_is_asked_for_is_predicted() {
    let cluster = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cluster.toml");
    for depth in ["1", "64"] {
        let arguments = ["predict", "heat2d", "--size", "512x512", "--steps", "400", "--strategy", "hhc"];
        let more = ["--machine", cluster, "--ranks", "4", "--depth", depth, "--json"];
        let predicted = tilewright(&[&arguments[..], &more].concat()).succeeded().json();
        assert_eq!(predicted["depth"].to_string(), depth, "{predicted}");
    }
}

#[test]
fn thousands_of_ranks_are_predicted_and_drawn() {
    let folder = Folder::new();
    let cluster = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cluster.toml");
    let drawing = folder.arg("scaling.svg");
    let (size, ranks, doublings) =
        if everything() { ("65536x65536", "4096", 12) } else { ("600x500", "8", 3) };
    let arguments = ["predict", "heat2d", "--size", size, "--steps", "20", "--strategy", "hhc"];
    let more = ["--machine", cluster, "--ranks", ranks, "--svg", &drawing, "--json"];
    let predicted = tilewright(&[&arguments[..], &more].concat()).succeeded().json();
    for scaling in ["strong", "weak"] {
        let all = predicted[scaling].as_array().unwrap();
        let ranks: Vec<i64> = all.iter().map(|one| one["ranks"].as_i64().unwrap()).collect();
        assert_eq!(ranks, (0..=doublings).map(|power| 1 << power).collect::<Vec<_>>(), "{predicted}");
    }
    for part in ["compute_s", "redundant_s", "packing_s", "imbalance", "memory_bytes"] {
        assert!(predicted[part].as_f64().unwrap() > 0.0, "{part}: {predicted}");
    }
    let drawn = std::fs::read_to_string(&drawing).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("strong") && drawn.contains("weak"), "{drawn}");
}

#[test]
fn decomposition_depth_and_tile_are_tuned_together() {
    let cluster = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cluster.toml");
    let arguments = ["tune", "heat2d", "--size", "512x300", "--steps", "40", "--strategy", "hhc"];
    let more = ["--machine", cluster, "--ranks", "6"];
    let tuned = tilewright(&[&arguments[..], &more, &["--json"]].concat()).succeeded().json();
    let all = tuned["decompositions"].as_array().unwrap();
    assert_eq!(all.len(), 4, "1x6, 2x3, 3x2 and 6x1: {tuned}");
    let seconds = |own: &serde_json::Value| own["seconds"].as_f64().unwrap();
    assert!(all.windows(2).all(|pair| seconds(&pair[0]) <= seconds(&pair[1])), "{tuned}");
    // No prediction for another depth of the same decompositions is faster.
    for depth in ["1", "2", "8", "40"] {
        let arguments = [&["predict"], &arguments[1..], &more, &["--depth", depth, "--json"]].concat();
        let predicted = tilewright(&arguments).succeeded().json();
        assert!(seconds(&tuned) <= 1.0001 * seconds(&predicted), "{tuned} {predicted}");
    }
    // The command that is printed runs what was tuned.
    if let Some(mpi) = mpi() {
        let command = tuned["command"].as_str().unwrap();
        let run: Vec<&str> = command.split(' ').skip(4).chain(["--verify", "--json"]).collect();
        let run = finish(on_ranks(mpi, 6, &run)).succeeded().json();
        assert_eq!((&run["ranks"]["counts"], &run["ranks"]["sent"]), (&tuned["counts"], &tuned["sent"]));
    }
    let refused = tilewright(&[&arguments[..], &more, &["--objective", "energy"]].concat());
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("--objective is of one computer"), "{}", refused.stderr);
}
