//! The library for ranks on a cluster that SimGrid simulates: each rank computes for as long as the model says that its boxes take, and
//! all of a run takes as long as the model says that it does.
//!
//! Without SimGrid (Debian's libsimgrid-dev) the tests say so and pass.

use crate::harness::{planned, run};
use hhc_codegen::backend::openmp;
use hhc_codegen::{TileSizes, strategy};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use tilewright::cluster::{Cluster, OnCluster};
use tilewright::model::Residence;
use tilewright::{Model, Stencil};
use tilewright_tests::workspace;

/// Whether SimGrid's compiler is there.
fn simgrid() -> bool {
    let found = Command::new("smpicc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: no smpicc was found, so no cluster is simulated (Debian: libsimgrid-dev)");
    }
    found
}

/// What a simulation says.
struct Simulated {
    seconds: f64,
    messages: u64,
    bytes: u64,
    /// What all ranks together had of this machine's memory.
    kilobytes: u64,
    /// Extents and steps of boxes whose time was not known.
    boxes: Vec<Vec<i64>>,
}

/// Compiled by smpicc in a folder, with the files of a cluster of so many computers.
fn build(folder: &Path, stencil: &Stencil, own: &OnCluster, cluster: &Cluster<'_>) {
    let name = &stencil.program.name;
    let tile = TileSizes::parse(&own.tile).unwrap();
    let planned = planned(&stencil.program, own.strategy, &tile);
    for file in openmp::generate_ranks(&planned.plan, None).unwrap().files {
        std::fs::write(folder.join(&file.name), file.text).unwrap();
    }
    let main = workspace().join("tests/ranks/simulated.c");
    let macros = [format!("-DTW_NAME={name}"), format!("-DTW_LIBRARY=\"{name}_mpi.c\"")];
    let mut smpicc = Command::new("smpicc");
    smpicc.args(["-O1", "-std=gnu11", "-I."]).args(macros).arg(main);
    // What stands before MPI's functions is found first.
    run(smpicc.args(["-lm", "-Wl,-Bsymbolic", "-o", "program"]).current_dir(folder));
    let network = cluster.network();
    let (last, bandwidth) = (own.ranks - 1, network.bandwidth_bytes_per_s.value);
    let half = network.latency_s.value / 2.0;
    let platform = format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <platform version=\"4.1\"><cluster id=\"all\" prefix=\"node\" suffix=\"\" radical=\"0-{last}\" speed=\"1Gf\" \
         bw=\"{bandwidth}Bps\" lat=\"{half}s\" sharing_policy=\"SPLITDUPLEX\" router_id=\"router\"/></platform>\n"
    );
    std::fs::write(folder.join("cluster.xml"), platform).unwrap();
    let hosts: Vec<String> = (0..own.ranks).map(|number| format!("node{number}")).collect();
    std::fs::write(folder.join("hosts"), hosts.join("\n") + "\n").unwrap();
}

/// Runs it: messages of several ranks share the wires of a computer, and nothing else. What happens within `precision` seconds happens
/// together: after each such moment SimGrid goes through the messages of all ranks.
fn simulate(folder: &Path, own: &OnCluster, steps: i64, packing: f64, precision: f64) -> Simulated {
    let mut command = Command::new("smpirun");
    command.args(["-no-privatize", "-np", &own.ranks.to_string(), "-hostfile", "hosts"]);
    command.args(["-platform", "cluster.xml", "--log=root.thresh:warning", "--cfg=network/model:CM02"]);
    command.args(["--cfg=network/crosstraffic:no", "--cfg=smpi/simulate-computation:no"]);
    command.args(["--cfg=contexts/stack-size:256", &format!("--cfg=surf/precision:{precision:e}")]);
    command.args(["./program", "costs", &packing.to_string()]);
    command.args([own.depth, i64::from(!own.overlapped), steps].map(|number| number.to_string()));
    command.args(own.size.iter().chain(&own.counts).map(i64::to_string));
    let text = run(command.current_dir(folder));
    let mut simulated = Simulated { seconds: 0.0, messages: 0, bytes: 0, kilobytes: 0, boxes: Vec::new() };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["box", ref numbers @ ..] => {
                simulated.boxes.push(numbers.iter().map(|number| number.parse().unwrap()).collect());
            }
            ["simulated", seconds, messages, bytes, kilobytes] => {
                simulated.seconds = seconds.parse().unwrap();
                simulated.messages = messages.parse().unwrap();
                simulated.bytes = bytes.parse().unwrap();
                simulated.kilobytes = kilobytes.parse().unwrap();
            }
            _ => (),
        }
    }
    simulated
}

/// The times of boxes by the model of one computer.
fn costs(stencil: &Stencil, own: &OnCluster, cluster: &Cluster<'_>, boxes: &[Vec<i64>]) -> String {
    let tile = TileSizes::parse(&own.tile).unwrap();
    let strategy = strategy::by_name(own.strategy).unwrap();
    let mut text = String::new();
    for known in boxes {
        let (&steps, extents) = known.split_last().unwrap();
        let model = Model::new(stencil, extents, steps, cluster.machine().clone(), None).unwrap();
        let seconds = model.cost(strategy, &tile, Residence::Best).unwrap().0.prediction.seconds;
        let numbers: Vec<String> = extents.iter().map(i64::to_string).collect();
        writeln!(text, "{} {steps} {seconds:e}", numbers.join(" ")).unwrap();
    }
    text
}

/// Simulates what the model predicts, and compares.
fn compare(name: &str, size: &[i64], ranks: i64, steps: i64) {
    let stencil = tilewright::load(name).unwrap();
    let machine =
        tilewright::machines::machine(workspace().join("examples/cluster.toml").to_str().unwrap()).unwrap();
    let cluster = Cluster::new(&stencil, &machine, "hhc", None).unwrap();
    let own = cluster.predict(size, steps, ranks).unwrap();
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), &stencil, &own, &cluster);
    std::fs::write(folder.path().join("costs"), "").unwrap();
    // Boxes do not depend on how many bands there are: one whole band, and a shorter one.
    let few = own.depth.min(steps) + if steps > own.depth { steps % own.depth } else { 0 };
    let first = simulate(folder.path(), &own, few, 0.0, 1.0);
    std::fs::write(folder.path().join("costs"), costs(&stencil, &own, &cluster, &first.boxes)).unwrap();
    let simulated = simulate(folder.path(), &own, steps, cluster.packing() / 2.0, 1e-5 * own.seconds);
    let ratio = simulated.seconds / own.seconds;
    let counts = tilewright::ranks::product_text(&own.counts);
    println!(
        "| {name} {} | {ranks} ({counts}) | {} | {} | {:.3} ms | {:.3} ms | {ratio:.3} | {} MB |",
        tilewright::text::size(size),
        own.depth,
        if own.overlapped { "yes" } else { "no" },
        1e3 * own.seconds,
        1e3 * simulated.seconds,
        simulated.kilobytes / 1024,
    );
    assert!(simulated.boxes.is_empty(), "{name}: {:?} have no time", simulated.boxes);
    assert_eq!((simulated.messages, simulated.bytes), (own.sent.messages, own.sent.bytes), "{name} {size:?}");
    assert!(simulated.kilobytes < 8 << 20, "{} kB for {ranks} ranks", simulated.kilobytes);
    assert!(
        (0.9..1.1).contains(&ratio),
        "{name} {size:?} on {ranks} ranks: simulated over predicted {ratio}"
    );
}

#[test]
fn a_simulated_cluster_takes_the_time_that_is_predicted() {
    if simgrid() {
        compare("heat2d", &[1500, 1400], 6, 50);
    }
}

#[test]
#[ignore = "for `make test-long`: clusters of up to 4096 ranks, 2.6 GB"]
fn simulated_clusters_of_up_to_4096_ranks_take_the_time_that_is_predicted() {
    if simgrid() {
        for (name, size, ranks) in [
            ("heat2d", &[4096, 4096][..], 4),
            ("heat2d", &[4096, 4096], 16),
            ("heat2d", &[4096, 4096], 64),
            ("heat3d", &[512, 512, 512], 64),
            ("heat2d", &[65536, 65536], 4096),
        ] {
            compare(name, size, ranks, 100);
        }
    }
}
