//! Emitted text: it reads as a person would write it, and has the kernels, barriers and loops that `text.expected` says.
//! `BLESS=1` writes that file anew. Nothing is proved or compiled here.

use crate::cuda_emulated::{everything, turn_of};
use c_tree::COLUMNS;
use hhc_codegen::backend::cuda::CudaOptions;
use hhc_codegen::backend::{GeneratedFile, cuda, openmp};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes};
use polyhedral::program::Program;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// The plan of a strategy with its default tile, if it can tile the program.
pub fn plan(program: &Arc<Program>, strategy: &str, tile: &str, target: Target) -> Option<KernelPlan> {
    let analysis = polyhedral::analysis::analyze(program).unwrap();
    let strategy = strategy::by_name(strategy).unwrap();
    strategy::taken(strategy, program, &analysis.cone).ok()?;
    let defaults = strategy.default_tile(program, &analysis.cone, target);
    let space = strategy.space(program, &analysis.cone);
    let tile = if tile.is_empty() { TileSizes::default() } else { TileSizes::parse(tile).unwrap() };
    let tile = space.complete(strategy.id(), &tile, &defaults).unwrap();
    strategy::plan(strategy, program, &analysis.cone, &tile).ok()
}

/// The files of a plan; none where the target has not enough memory.
fn files(plan: &KernelPlan, target: Target) -> Vec<GeneratedFile> {
    match target {
        Target::OpenMp => openmp::generate(plan).unwrap_or_default(),
        Target::Cuda => {
            cuda::generate(plan, &CudaOptions::default()).map_or_else(|_| Vec::new(), |cuda| cuda.files)
        }
    }
}

/// The code of a text: comments and strings are blanks.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let end = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if next == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            code.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        code.extend(rest[..end].chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        rest = &rest[end..];
    }
    code
}

/// What nobody writes by hand, as words.
const UNWRITTEN: [&[&str]; 14] = [
    &["||", "false"],
    &["false", "||"],
    &["&&", "true"],
    &["true", "&&"],
    &["||", "0"],
    &["&&", "1"],
    &["+", "0"],
    &["-", "0"],
    &["*", "1"],
    &["1", "*"],
    &["0", "*"],
    &["-", "-"],
    &["+", "-"],
    &[";", ";"],
];

/// Words of a line of code: names and numbers, and signs of `|&+-*;` that belong together.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let kind = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '_' || letter == '.' => 0,
        letter if "|&<>=+-*/%".contains(letter) => 1,
        _ => 2,
    };
    let mut before = 3;
    for letter in line.chars() {
        let now = if letter.is_whitespace() { 3 } else { kind(letter) };
        match words.last_mut() {
            Some(word) if now == before && now < 2 => word.push(letter),
            _ if now < 3 => words.push(letter.to_string()),
            _ => {}
        }
        before = now;
    }
    words
}

/// What is not as it should be in a text.
fn problems(file: &GeneratedFile) -> Vec<String> {
    let mut problems = Vec::new();
    let code = code(&file.text);
    if code.matches('{').count() != code.matches('}').count() {
        problems.push("braces do not match".to_owned());
    }
    if file.text.contains("\n\n\n") || !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
        problems.push("empty lines".to_owned());
    }
    for (number, (line, code)) in file.text.lines().zip(code.lines()).enumerate() {
        let mut say = |what: &str| problems.push(format!("line {}, {what}: {line}", number + 1));
        if line.chars().count() > COLUMNS {
            say("too long");
        }
        if line.trim_end() != line || line.contains('\t') {
            say("blanks");
        }
        let words = words(code);
        let begins = |at: usize, pattern: &[&str]| {
            // `&& 1 - x` is no `&& 1`.
            let goes_on =
                words.get(at + 2).is_some_and(|word| word.starts_with(['+', '-', '*', '/', '<', '>']));
            words[at..].iter().take(pattern.len()).eq(pattern)
                && !(goes_on && ["&&", "||"].contains(&pattern[0]))
        };
        let has = |pattern: &[&str]| (0..words.len()).any(|at| begins(at, pattern));
        if let Some(pattern) = UNWRITTEN.into_iter().find(|pattern| has(pattern)) {
            say(&format!("`{}`", pattern.join(" ")));
        }
    }
    problems
}

/// The programs in `tests/programs`, which have what the shipped ones have not.
fn special() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let stencils = paths.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "stencil"));
    let parse = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        polyhedral::parse(&path.file_stem().unwrap().to_string_lossy(), &text).ok()
    };
    stencils.filter_map(parse).collect()
}

/// Names of some length, negative numbers, and a description that is one long line.
const WORDY: &str = "/* The description of this stencil is one line that is much longer than any line of the text that is made of it may be. */
stencil stencil_with_a_name(time, row_number, column_number) {
    field plate_temperature: f64;
    field heat_that_flows: f32;
    coefficient conductivity_of_plate: f32;
    param weight_of_the_neighbours = -0.25;
    let old = plate_temperature[time, row_number, column_number] - (-1.5);
    plate_temperature[time+1, row_number, column_number] = old - -weight_of_the_neighbours
        * (plate_temperature[time, row_number-1, column_number] > 0.5
            ? plate_temperature[time, row_number+1, column_number] : -2.0);
    heat_that_flows[time+1, row_number, column_number] = weight_of_the_neighbours
        * conductivity_of_plate[row_number, column_number]
        * heat_that_flows[time, row_number, column_number-1];
}";

/// Of each program, a quarter of the strategies and another quarter for the other target; all of both with `TILEWRIGHT_ALL=1`, as
/// in `make test-long`.
#[test]
fn text_reads_as_if_written_by_hand() {
    let shipped = polyhedral::shipped::names().into_iter();
    let shipped = shipped.map(|name| polyhedral::shipped::load(name).unwrap());
    let wordy = polyhedral::parse("stencil_with_a_name", WORDY).unwrap_or_else(|error| panic!("{error}"));
    let mut texts = 0;
    for program in shipped.chain(special()).chain([wordy]) {
        let program = Arc::new(program);
        for (number, strategy) in strategy::all().iter().enumerate() {
            for (turn, target) in [Target::OpenMp, Target::Cuda].into_iter().enumerate() {
                if !everything() && !(turn_of(&program.name) + number + 2 * turn).is_multiple_of(4) {
                    continue;
                }
                let Some(plan) = plan(&program, strategy.id(), "", target) else { continue };
                for file in files(&plan, target) {
                    if [".c", ".h", ".cu", ".cuh"].iter().any(|end| file.name.ends_with(end)) {
                        let problems = problems(&file);
                        let name = &program.name;
                        assert!(problems.is_empty(), "{name} {} {}: {problems:#?}", strategy.id(), file.name);
                        texts += 1;
                    }
                }
            }
        }
    }
    assert!(texts > if everything() { 300 } else { 150 }, "{texts} texts");
}

/// Stencils, tiles per strategy, and what is counted in the library's text.
const COUNTED: [(&str, &str, &str); 13] = [
    ("jacobi1d", "hhc", "st=3,s0=5"),
    ("jacobi1d", "naive", "s0=32"),
    ("jacobi1d", "overlapped", ""),
    ("heat2d", "hhc", "st=2,s0=4,s1=32"),
    ("heat2d", "naive", "s0=4,s1=32"),
    ("heat2d", "overlapped", ""),
    ("heat2d", "pipeline-toy", "rows=7,columns=20"),
    ("star2d2r", "hhc", "st=2,s0=6,s1=32"),
    ("fdtd2d", "hhc", "st=3,s0=3,s1=8"),
    ("wave2d", "hhc", "st=2,s0=3,s1=8"),
    ("gradient2d", "pipeline-toy", "rows=7,columns=40"),
    ("heat3d", "hhc", "st=2,s0=4,s1=5,s2=8"),
    ("heat3d", "naive", "s0=2,s1=4,s2=8"),
];

const WORDS_COUNTED: [(&str, &str); 13] = [
    ("kernels", "__global__"),
    ("launches", "<<<"),
    ("barriers", "__syncthreads()"),
    ("warp barriers", "__syncwarp()"),
    ("waits", "tw_link_wait("),
    ("shared arrays", "    TW_SHARED("),
    ("own arrays", "    TW_OWN("),
    ("parallel loops", "#pragma omp parallel for"),
    ("vector loops", "#pragma omp simd"),
    ("lines asked for", "TW_AHEAD(tw_"),
    ("shifted vectors", "= TW_SHIFTED_"),
    ("loops", "for ("),
    ("tiles", " tw_tile("),
];

#[test]
fn kernels_barriers_and_loops() {
    let mut found =
        String::from("# What is counted in emitted text; `BLESS=1 cargo test` writes this file.\n");
    for (stencil, strategy, tile) in COUNTED {
        let program = Arc::new(polyhedral::shipped::load(stencil).unwrap());
        for (target, name) in [(Target::OpenMp, "openmp"), (Target::Cuda, "cuda")] {
            let plan = plan(&program, strategy, tile, target).unwrap();
            let library = files(&plan, target).remove(0);
            // The functions of the program, without helpers.
            let text = code(&library.text);
            let text =
                if target == Target::Cuda { &text[text.find("typedef long long").unwrap()..] } else { &text };
            let counts = WORDS_COUNTED.iter().map(|(what, word)| (what, text.matches(word).count()));
            let counts: Vec<String> = counts
                .filter(|(_, count)| *count > 0)
                .map(|(what, count)| format!("{count} {what}"))
                .collect();
            let tile = plan.tile.to_string();
            writeln!(found, "{stencil} {strategy} {tile} {name}: {}", counts.join(", ")).unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text.expected");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap_or_default(), "see {}", path.display());
}
