//! Times that a user notices: planning with its proof, the length of the text, and compilation.
//!
//! `cargo test --release -p tilewright-tests --test semantics performance -- --ignored --nocapture`

use crate::harness::{
    analysed, everything, hexagonal_tile, library_text, parsed, planned, planned_by_default, shipped, turn_of,
};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes};
use polyhedral::analysis::analyze;
use polyhedral::legality::Budget;
use polyhedral::program::Program;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, Language, SourceText};

/// Longest time for analysis, plan and proof, in seconds of an optimised build.
const MOST_SECONDS: f64 = 1.0;
/// Longest time for the proof of a plan of one statement.
const MOST_PROOF_SECONDS: f64 = 0.5;
/// The same in operations of isl, which are the same everywhere: a million of them take 0.2 to 0.4 seconds.
const MOST_PROOF_OPERATIONS: u64 = 1_250_000;
/// Those of a plan with a team of warps, whose rows, boundaries and rows that are copied on supply each other in several kernels.
const MOST_TEAM_OPERATIONS: u64 = 12_000_000;
/// The stencils with which teams are proved here.
const WITH_TEAMS: [&str; 3] = ["star2d1r", "box2d1r", "star3d1r"];
/// Longest generated file.
const MOST_LINES: usize = 3000;

fn programs() -> Vec<(String, Arc<Program>)> {
    let mut programs: Vec<(String, Arc<Program>)> =
        polyhedral::shipped::names().into_iter().map(|name| (name.to_owned(), shipped(name))).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        programs.push((name.clone(), parsed(&name, &std::fs::read_to_string(path).unwrap())));
    }
    programs
}

#[test]
#[ignore = "a measurement, for optimised builds on a quiet machine"]
fn planning() {
    let mut slow = Vec::new();
    for (name, program) in programs() {
        let high = (strategy::preferred(), hexagonal_tile(&program, 2, 1, &[7, 8]));
        let defaults = strategy::all().iter().map(|&strategy| (strategy, TileSizes::default()));
        let cone = analyze(&program).unwrap().cone;
        for (strategy, tile) in defaults.chain([high]) {
            if strategy.takes(&program, &cone).is_err() {
                continue;
            }
            let strategy = strategy.id();
            let start = Instant::now();
            let planned = planned(&program, strategy, &tile);
            let seconds = start.elapsed().as_secs_f64();
            let lines =
                library_text(&planned.plan).iter().map(|file| file.text.lines().count()).max().unwrap();
            let line = format!(
                "{name:14} {strategy:12} {:24} {seconds:6.3} s (proof {:.3} s), {lines} lines",
                planned.plan.tile.to_string(),
                planned.proof.seconds
            );
            println!("{line}");
            let proof = program.statements.len() > 1 || planned.proof.seconds < MOST_PROOF_SECONDS;
            if seconds > MOST_SECONDS || lines > MOST_LINES || !proof {
                slow.push(line);
            }
        }
    }
    assert!(slow.is_empty(), "too slow or too long:\n{}", slow.join("\n"));
}

/// What the proof of a plan with a default tile may take: little for shipped stencils of one statement.
pub fn budget(plan: &KernelPlan) -> Budget {
    let program = &plan.program;
    let name = program.name.as_str();
    let team = plan.kernels.iter().any(|kernel| kernel.team);
    let is_bounded = program.statements.len() == 1
        && polyhedral::shipped::names().contains(&name)
        && (!team || WITH_TEAMS.contains(&name));
    match is_bounded {
        false => Budget::default(),
        true if team => Budget { operations: MOST_TEAM_OPERATIONS, ..Budget::default() },
        true => Budget { operations: MOST_PROOF_OPERATIONS, ..Budget::default() },
    }
}

/// The proof of a plan of one statement is short, for every strategy and shipped stencil: of pairs of them every fourth one, in
/// turn, or all.
#[test]
fn proofs_keep_their_budget() {
    let mut costly = Vec::new();
    for name in polyhedral::shipped::names() {
        let program = shipped(name);
        let analysis = analysed(&program);
        if program.statements.len() > 1 {
            continue;
        }
        for (number, strategy) in strategy::all().iter().enumerate() {
            let in_turn = everything() || (turn_of(name) + number).is_multiple_of(4);
            if strategy.takes(&program, &analysis.cone).is_err() {
                continue;
            }
            let tile = strategy.default_tile(&program, &analysis.cone, Target::OpenMp);
            let plan = strategy::plan(*strategy, &program, &analysis.cone, &tile).unwrap();
            let team = plan.kernels.iter().any(|kernel| kernel.team);
            // The proof of a team takes seconds: one in the plane, or all.
            let of_team = WITH_TEAMS.contains(&name) && (name == "star2d1r" || everything());
            if if team { !of_team } else { !in_turn } {
                continue;
            }
            costly.extend(planned_by_default(&program, *strategy).err());
        }
    }
    assert!(costly.is_empty(), "{}", costly.join("\n"));
}

/// Tall tiles and long programs still get their proof.
#[test]
#[ignore = "a measurement, for optimised builds on a quiet machine"]
fn extremes() {
    let chain = |statements: usize| {
        let mut text = "stencil chain(t, i, j) {\n".to_owned();
        for k in 0..statements {
            text += &format!("field a{k}: f32;\n");
        }
        for k in 0..statements {
            let (before, level) = if k == 0 { (statements - 1, "t") } else { (k - 1, "t+1") };
            text += &format!(
                "a{k}[t+1, i, j] = 0.5 * a{k}[t, i-1, j] + 0.2 * (a{before}[{level}, i+1, j] + a{before}[{level}, i, j-1]);\n"
            );
        }
        parsed("chain", &(text + "}\n"))
    };
    let program = |name: &str| {
        let (_, program) = programs().into_iter().find(|(known, _)| known == name).unwrap();
        program
    };
    for (program, steps) in [
        (program("heat2d"), 1000),
        (program("heat3d"), 100),
        (program("skewed2d"), 200),
        (program("depth8_2d"), 100),
        (program("fdtd2d"), 100),
        (program("elastic2d"), 20),
        (program("maxwell3d"), 10),
        (chain(8), 2),
        (chain(12), 2),
        (chain(16), 2),
        (chain(24), 1),
    ] {
        for classical in [[16, 16], [0, 0]] {
            let tile = hexagonal_tile(&program, steps, 3, &classical);
            let start = Instant::now();
            let strategy = hhc_codegen::strategy::by_name("hhc").unwrap();
            let target = Target::OpenMp;
            let result = hhc_codegen::pipeline::plan(&program, strategy, &tile, target);
            println!(
                "{:14} {:2} statements {tile:24} {:7.3} s {}",
                program.name,
                program.statements.len(),
                start.elapsed().as_secs_f64(),
                result.err().map_or(String::new(), |error| error.to_string())
            );
        }
    }
}

#[test]
#[ignore = "a measurement, for optimised builds on a quiet machine"]
fn compilation() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path()).unwrap();
    let compiler = Compiler::find(Language::C).unwrap();
    for name in ["heat2d", "heat3d", "fdtd2d", "box2d4r", "box3d2r"] {
        let planned = planned(&shipped(name), "hhc", &TileSizes::default());
        let sources: Vec<SourceText> = library_text(&planned.plan)
            .into_iter()
            .map(|file| SourceText::new(file.name, file.text))
            .collect();
        let start = Instant::now();
        compiler.compile_shared(&sources, &CompileOptions::default(), &cache).unwrap();
        println!("{name:14} compiled in {:.3} s", start.elapsed().as_secs_f64());
    }
}
