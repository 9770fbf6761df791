//! Programs on ranks of MPI: the values of the reference, whatever the ranks, the depth of ghost zones and the sizes; as many
//! messages and bytes as the model says; and mistakes in the exchange are found.
//!
//! All cases of one number of ranks are one launch of one program: `tests/ranks/main.c`. Without an MPI the tests say so
//! and pass, but not in CI.

use crate::cuda_host;
use crate::harness::{everything, parsed, run, shipped, small_plan};
use execution::grid::{ProgramData, ValuesRef};
use execution::{initial, reference};
use hhc_codegen::backend::cuda::{self, CudaOptions};
use hhc_codegen::backend::openmp;
use hhc_codegen::plan_counts;
use hhc_codegen::strategy::{self, Target};
use polyhedral::ghost::Ghosts;
use polyhedral::program::{FieldId, FieldRole, Program, SeriesId};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use tilewright::ranks::{Exchange, chosen_depth, exchange, exchange_once, products};
use tilewright_tests::workspace;

/// A case: the program's number, grid, steps, ranks, depth of ghost zones (0: chosen), whether blocking (the option's number), and a
/// checkpoint that is written after the first call.
#[derive(Debug, Clone)]
struct Case {
    program: usize,
    size: Vec<i64>,
    steps: i64,
    ranks: Vec<i64>,
    depth: i64,
    blocking: i32,
    kept: Option<Kept>,
}

/// A checkpoint in the folder of the programs.
#[derive(Debug, Clone)]
enum Kept {
    /// Written after the first call.
    Saved(String),
    /// Read in place of it.
    Restored(String),
}

/// What a launch says of a case.
#[derive(Debug, PartialEq)]
struct Outcome {
    code: i64,
    mismatches: i64,
    depth: i64,
    messages: u64,
    bytes: u64,
    /// Messages and bytes that MPI itself was given.
    seen: (u64, u64),
    overlap: Overlap,
}

/// What the shim says of the bands of all ranks, where messages take longer than they do.
#[derive(Debug, PartialEq)]
struct Overlap {
    bands: i64,
    /// Bands whose messages had arrived before anybody waited for them.
    arrived: i64,
    /// Bands that would wait for more than 5 % of what is computed in them.
    late: i64,
}

/// Programs as one executable in a folder.
struct Built {
    programs: Vec<Arc<Program>>,
    /// Steps of their tiles, and whether each point is computed once; none on devices.
    tiles: Vec<Option<(i64, bool)>>,
    folder: tempfile::TempDir,
}

/// A mistake in the text of the library for ranks.
type Wrong = Option<(&'static str, &'static str)>;

/// The compiler of an MPI, and what starts its programs.
type Mpi = (&'static str, &'static str);

fn works((cc, _): &Mpi) -> bool {
    Command::new(cc).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn mpi() -> Option<Mpi> {
    let found = [("mpicc.openmpi", "mpirun.openmpi"), ("mpicc", "mpirun")].into_iter().find(works);
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "no MPI: CI installs one (scripts/setup.sh)");
        eprintln!(
            "SKIPPED: no mpicc was found, so nothing runs on ranks (scripts/setup.sh names the packages)"
        );
    }
    found
}

/// What starts a command on so many ranks, in a folder.
fn started(mpirun: &str, ranks: usize, folder: &Path) -> Command {
    let mut command = Command::new(mpirun);
    if mpirun.contains("openmpi") {
        command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
        command.envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")));
    }
    command.args(["-n", &ranks.to_string()]).env("OMP_NUM_THREADS", "1").current_dir(folder);
    command
}

/// The same for the program in the folder.
fn launched(mpirun: &str, ranks: usize, folder: &Path) -> Command {
    let mut command = started(mpirun, ranks, folder);
    command.arg("./program");
    command
}

impl Built {
    fn new(cc: &str, programs: Vec<(Arc<Program>, Wrong)>) -> Built {
        Built::with(cc, programs, Target::OpenMp)
    }

    /// With a processor in place of each rank's device ([`cuda_host`]).
    fn on_devices(cc: &str, programs: Vec<(Arc<Program>, Wrong)>) -> Built {
        Built::with(cc, programs, Target::Cuda)
    }

    fn with(cc: &str, programs: Vec<(Arc<Program>, Wrong)>, target: Target) -> Built {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let strict =
            ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-ffp-contract=off", "-I.", "-c"];
        let compile = |arguments: &[&str]| {
            run(Command::new(cc).args(strict).args(arguments).current_dir(folder.path()));
        };
        let cxx = cc.replace("mpicc", "mpicxx");
        let compile_cuda = |arguments: &[&str]| {
            let host = ["-x", "c++", "-std=c++17", "-O0", "-w", "-ffp-contract=off", "-I.", "-c"];
            let header = ["-include", "cuda_runtime_api.h"];
            run(Command::new(&cxx).args(host).args(header).args(arguments).current_dir(folder.path()));
        };
        if target == Target::Cuda {
            std::fs::write(at("cuda_runtime_api.h"), cuda_host::CUDA).unwrap();
            std::fs::write(at("cuda_runtime.h"), "#include \"cuda_runtime_api.h\"\n").unwrap();
            std::fs::write(at("tw_fibers.h"), cuda_host::FIBERS).unwrap();
        }
        let (mut list, mut tiles) = (String::new(), Vec::new());
        for (program, wrong) in &programs {
            let name = &program.name;
            let small = |name: &str| small_plan(program, strategy::by_name(name).unwrap(), 0);
            let plan = small("hhc").or_else(|| small("naive")).unwrap();
            let files = match target {
                Target::OpenMp => openmp::generate_ranks(&plan, None),
                Target::Cuda => cuda::generate_ranks(&plan, &CudaOptions::default(), None),
            };
            let files = files.unwrap();
            let tile = (plan_counts::steps_of_tile(&plan), files.lines.is_some());
            tiles.push(Some(tile).filter(|_| target == Target::OpenMp));
            for mut file in files.files {
                if file.name.contains("_mpi") && !file.name.ends_with("_main.c") {
                    has_manners(&file.name, &file.text);
                }
                if let Some((from, to)) = wrong.filter(|_| file.name == format!("{name}_mpi.c")) {
                    assert!(file.text.contains(from), "{name}: no `{from}`");
                    file.text = file.text.replace(from, to);
                }
                let launched = file.name.ends_with(".cu");
                let text = if launched { cuda_host::with_calls(&file.text) } else { file.text };
                std::fs::write(at(&file.name), text).unwrap();
            }
            match target {
                Target::OpenMp => compile(&[&format!("{name}.c"), &format!("{name}_mpi.c")]),
                Target::Cuda => compile_cuda(
                    &[".cu", "_mpi_device.cu", "_mpi.c"]
                        .map(|ending| format!("{name}{ending}"))
                        .each_ref()
                        .map(String::as_str),
                ),
            }
            let check = workspace().join("tests/ranks/check.c");
            let device = if target == Target::Cuda { "-DTW_DEVICE" } else { "-DTW_HOST" };
            let macros = [format!("-DTW_NAME={name}"), format!("-DTW_HEADER=\"{name}_mpi.h\"")];
            let object = format!("{name}_check.o");
            compile(&[device, &macros[0], &macros[1], "-o", &object, check.to_str().unwrap()]);
            writeln!(list, "TW_STENCIL({name})").unwrap();
        }
        std::fs::write(at("stencils.inc"), list).unwrap();
        for own in ["main", "shim"] {
            compile(&[workspace().join(format!("tests/ranks/{own}.c")).to_str().unwrap()]);
        }
        let objects: Vec<PathBuf> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "o"))
            .collect();
        let linker = if target == Target::Cuda { &cxx } else { cc };
        run(Command::new(linker)
            .args(objects)
            .args(["-fopenmp", "-lm", "-o", "program"])
            .current_dir(&folder));
        Built { programs: programs.into_iter().map(|(program, _)| program).collect(), tiles, folder }
    }

    /// Runs all cases, which have as many ranks; messages take as much longer, as a part of a band's computing.
    fn launch(&self, mpirun: &str, cases: &[Case], delay: f64) -> Vec<Outcome> {
        let mut list = String::new();
        for (number, case) in cases.iter().enumerate() {
            let path = self.folder.path().join(format!("{number}.data"));
            std::fs::write(&path, data(&self.programs[case.program], &case.size, case.steps)).unwrap();
            let [a, b, c] = [0, 1, 2].map(|d| case.ranks.get(d).copied().unwrap_or(0));
            // Files of boxes that interleave: a layer for files that loses some of them does so seldom.
            let (name, file) = (&self.programs[case.program].name, if number == 0 { 20 } else { 0 });
            let (depth, blocking, path) = (case.depth, case.blocking, path.display());
            let kept = match &case.kept {
                None => "-".to_owned(),
                Some(Kept::Saved(name)) => name.clone(),
                Some(Kept::Restored(name)) => format!("<{name}"),
            };
            writeln!(list, "{name} {path} {a} {b} {c} {depth} {blocking} {file} {kept}").unwrap();
        }
        let path = self.folder.path().join("cases");
        std::fs::write(&path, list).unwrap();
        let ranks: i64 = cases[0].ranks.iter().product();
        let mut command = launched(mpirun, ranks as usize, self.folder.path());
        let text = run(command.arg("cases").env("TW_DELAY", delay.to_string()));
        let outcomes = text.lines().filter_map(|line| line.strip_prefix("case ")).map(|line| {
            let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
            let &[code, mismatches, depth, messages, bytes, seen, bytes_seen, ref overlap @ ..] =
                &numbers[..]
            else {
                panic!("{line}")
            };
            let &[bands, arrived, late] = overlap else { panic!("{line}") };
            let overlap = Overlap { bands, arrived, late };
            let seen = (seen as u64, bytes_seen as u64);
            Outcome { code, mismatches, depth, messages: messages as u64, bytes: bytes as u64, seen, overlap }
        });
        outcomes.collect()
    }
}

/// A library neither begins nor ends MPI, nor a process, nor takes another communicator than its caller's, nor prints.
fn has_manners(name: &str, text: &str) {
    let not_of_libraries = [
        "MPI_Init(",
        "MPI_Init_thread(",
        "MPI_Finalize(",
        "MPI_Abort(",
        "MPI_COMM_WORLD",
        " exit(",
        " abort(",
        " printf(",
        "stderr",
    ];
    let found = not_of_libraries.iter().find(|word| text.contains(**word));
    assert!(found.is_none(), "{name} has {found:?}");
}

/// A run for `tests/ranks/check.c`: grid, initial values, and what the interpreter makes of them.
fn data(program: &Program, size: &[i64], steps: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |bytes: &mut Vec<u8>, value: i64| bytes.extend(value.to_ne_bytes());
    let values = |bytes: &mut Vec<u8>, values: ValuesRef<'_>| match values {
        ValuesRef::F32(values) => values.iter().for_each(|value| bytes.extend(value.to_ne_bytes())),
        ValuesRef::F64(values) => values.iter().for_each(|value| bytes.extend(value.to_ne_bytes())),
    };
    let mut grid = ProgramData::zeroed(program, size).unwrap();
    initial::fill_random(program, &mut grid, 7).unwrap();
    initial::fill_series(program, &mut grid, steps, 7).unwrap();
    let parameters = reference::default_parameters(program);
    size.iter().for_each(|&extent| number(&mut bytes, extent));
    let counts = [program.fields.len(), program.series.len(), parameters.len()];
    number(&mut bytes, steps);
    counts.iter().for_each(|&count| number(&mut bytes, count as i64));
    parameters.iter().for_each(|value| bytes.extend(value.to_ne_bytes()));
    for (id, field) in program.fields.iter().enumerate().map(|(id, field)| (FieldId(id), field)) {
        let levels = initial::initial_levels(program, id);
        let state = matches!(field.role, FieldRole::State { .. });
        for value in [field.element.bytes() as i64, levels.clone().count() as i64, i64::from(state)] {
            number(&mut bytes, value);
        }
        levels.for_each(|level| values(&mut bytes, grid.level(program, id, level)));
    }
    for (id, series) in program.series.iter().enumerate() {
        number(&mut bytes, series.element.bytes() as i64);
        number(&mut bytes, series.length(steps));
        values(&mut bytes, grid.series(SeriesId(id)));
    }
    reference::run_quietly(program, &parameters, &mut grid, steps).unwrap();
    for (id, field) in program.fields.iter().enumerate() {
        if matches!(field.role, FieldRole::State { .. }) {
            values(&mut bytes, grid.level(program, FieldId(id), steps));
        }
    }
    bytes
}

/// What the model says of a case, which is run in two calls.
fn modelled(program: &Program, case: &Case, depth: i64) -> Exchange {
    let ghosts = Ghosts::of(program).unwrap();
    let of = |steps| match steps {
        0 => Exchange::default(),
        _ => exchange(program, &ghosts, &case.size, &case.ranks, depth, steps),
    };
    let restored = matches!(case.kept, Some(Kept::Restored(_)));
    let [first, second] = [if restored { 0 } else { case.steps / 3 }, case.steps - case.steps / 3].map(of);
    let first = first.and(exchange_once(program, &ghosts, &case.size, &case.ranks, depth));
    first.and(second)
}

/// Cases of so many ranks: every decomposition that fits, with depths that do not divide the steps.
fn cases(programs: &[Arc<Program>], ranks: i64, seed: usize) -> Vec<Case> {
    let mut all = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let sizes: &[i64] = [&[211][..], &[53, 47], &[29, 31, 27]][program.dimension() - 1];
        let ghosts = Ghosts::of(program).unwrap();
        for (at, counts) in products(ranks, program.dimension()).into_iter().enumerate() {
            let size: Vec<i64> = sizes.iter().map(|extent| extent + ((at + seed) % 4) as i64).collect();
            let deepest = (counts.iter().zip(&size).zip(&ghosts.reach).zip(&ghosts.frame))
                .zip(&program.periodic)
                .filter(|((((count, _), _), _), periodic)| **count > 1 || **periodic)
                .flat_map(|((((count, extent), reach), frame), _)| {
                    [0, 1].map(|side| (extent / count - frame[side]) / reach[side].max(1))
                })
                .min()
                .unwrap_or(9);
            let depth = [0, 1, deepest.min(4), deepest.min(9)][(at + number + seed) % 4];
            if deepest >= 1 {
                let blocking = [1, -1, 0][(at + number + seed) / 2 % 3];
                all.push(Case {
                    program: number,
                    size,
                    steps: 11,
                    ranks: counts,
                    depth,
                    blocking,
                    kept: None,
                });
            }
        }
    }
    all
}

/// The cases pass: the values are the reference's, and as much is sent as the model says.
fn pass(built: &Built, mpirun: &str, cases: &[Case]) {
    let outcomes = built.launch(mpirun, cases, 0.0);
    assert_eq!(outcomes.len(), cases.len());
    for (case, outcome) in cases.iter().zip(outcomes) {
        let program = &built.programs[case.program];
        assert_eq!((outcome.code, outcome.mismatches), (0, 0), "{} {case:?}: {outcome:?}", program.name);
        if case.depth > 0 {
            assert_eq!(case.depth, outcome.depth, "{case:?}: {outcome:?}");
        } else if let Some(tile) = built.tiles[case.program] {
            let ghosts = Ghosts::of(program).unwrap();
            let chosen = chosen_depth(program, &ghosts, &case.size, &case.ranks, tile);
            assert!(chosen.is_none_or(|depth| depth == outcome.depth), "{chosen:?} {case:?}: {outcome:?}");
        }
        let Exchange { messages, bytes, .. } = modelled(program, case, outcome.depth);
        assert_eq!((outcome.messages, outcome.bytes), (messages, bytes), "{} {case:?}", program.name);
        assert_eq!(outcome.seen, (messages, bytes), "{} {case:?}", program.name);
    }
}

/// Two initial levels, a wide frame, one-sided reads, a statement at each end, a series of later times.
static OWN: LazyLock<Arc<Program>> = LazyLock::new(|| {
    parsed(
        "uneven",
        "stencil uneven(t, i, j) {
            field u: f64; field v: f32; coefficient c: f32; series s: f32; param p = 0.25;
            u[t+1, i, j] = 0.5 * u[t, i-2, j] + 0.25 * u[t-1, i, j+1] + c[i+1, j-1] * s[t+1]
                for 2 <= i < n0 - 3, 1 <= j < n1 - 1;
            u[t+1, i, j] = u[t, i-1, j] for i == n0 - 3, 1 <= j < n1 - 1;
            u[t+1, i, j] = s[t] * u[t, i, j] for 0 <= i < 2, 1 <= j < n1 - 1;
            v[t+1, i, j] = p * u[t+1, i, j+1] + 0.5 * v[t, i+1, j];
        }",
    )
});

/// Grids that wrap around: along one dimension, with two initial levels and uneven reads, and along all.
static AROUND: LazyLock<[Arc<Program>; 2]> = LazyLock::new(|| {
    [
        parsed(
            "belt",
            "stencil belt(t, i, j) { field u: f64; coefficient c: f32; boundary fixed periodic(j);
                u[t+1, i, j] = 0.5 * u[t, i-1, j+2] + 0.25 * u[t-1, i+1, j-1] * c[i, j+1] for 1 <= i < n0 - 1;
                u[t+1, i, j] = u[t, i, j-1] for i == 0; }",
        ),
        parsed(
            "torus",
            "stencil torus(t, i, j, k) { field e: f32; field h: f64; boundary periodic;
                e[t+1, i, j, k] = 0.5 * h[t, i-1, j, k+1] + 0.25 * h[t, i, j-1, k] + e[t, i, j, k];
                h[t+1, i, j, k] = e[t+1, i+1, j, k] - 0.5 * h[t, i, j+1, k-1]; }",
        ),
    ]
});

#[test]
fn ranks_compute_the_values_of_the_reference_and_send_what_the_model_says() {
    let Some((cc, mpirun)) = mpi() else { return };
    let shipped = ["heat1d", "wave2d", "fdtd2d_driven", "varcoef3d"].map(shipped);
    let programs = [vec![Arc::clone(&OWN)], shipped.to_vec(), AROUND.to_vec()].concat();
    let all = programs.into_iter().map(|program| (program, None));
    // Messages that are longer than a count of MPI says, if a count said seven bytes.
    let pieces = (named("heat2d", "pieces"), Some(("chunk = (size_t)1 << 30", "chunk = (size_t)7")));
    let built = Built::new(cc, all.chain([pieces]).collect());
    // Checkpoints of three ranks are read by eight and by one.
    for ranks in [3, 8, 1] {
        pass(&built, mpirun, &with_checkpoints(&built.programs, ranks, ranks == 3));
    }
    damaged_checkpoints_are_refused(&built, mpirun);
}

/// The same cases, and one of each program that writes a checkpoint, or goes on from it.
fn with_checkpoints(programs: &[Arc<Program>], ranks: i64, saves: bool) -> Vec<Case> {
    let mut all = cases(programs, ranks, ranks as usize);
    for (number, program) in programs.iter().enumerate() {
        let own = all.iter().find(|case| case.program == number).unwrap().clone();
        let name = if number == 0 { "k".to_owned() } else { format!("{}.checkpoint", program.name) };
        let kept = if saves { Kept::Saved(name) } else { Kept::Restored(name) };
        let size = [&[211][..], &[53, 47], &[29, 31, 27]][program.dimension() - 1].to_vec();
        all.push(Case { size, depth: 0, kept: Some(kept), ..own });
    }
    all
}

/// A checkpoint in which a byte is wrong, one that is cut off, those of other grids and programs, and none.
fn damaged_checkpoints_are_refused(built: &Built, mpirun: &str) {
    let number = built.programs.iter().position(|program| program.name == "wave2d").unwrap();
    let whole = std::fs::read(built.folder.path().join("wave2d.checkpoint")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(built.folder.path().join(name), bytes).unwrap();
    let mut files = Vec::new();
    for at in (0..whole.len()).step_by(whole.len() / 40).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        files.push((format!("byte{at}"), bytes));
    }
    for length in [0, 10, 100, whole.len() / 2, whole.len() - 1] {
        files.push((format!("cut{length}"), whole[..length].to_vec()));
    }
    files.push(("longer".to_owned(), [&whole[..], &[0]].concat()));
    let case = |name: &str, size: [i64; 2]| Case {
        program: number,
        size: size.to_vec(),
        steps: 6,
        ranks: vec![2, 1],
        depth: 1,
        blocking: -1,
        kept: Some(Kept::Restored(name.to_owned())),
    };
    files.iter().for_each(|(name, bytes)| write(name, bytes));
    let mut cases: Vec<Case> = files.iter().map(|(name, _)| case(name, [53, 47])).collect();
    cases.extend(
        [("wave2d.checkpoint", [47, 53]), ("belt.checkpoint", [53, 47]), ("nowhere", [53, 47])]
            .map(|(name, size)| case(name, size)),
    );
    let codes: Vec<i64> = built.launch(mpirun, &cases, 0.0).iter().map(|outcome| outcome.code).collect();
    let (others, damaged) = (&codes[files.len()..], &codes[..files.len()]);
    assert!(damaged.iter().all(|code| [13, 14].contains(code)), "{codes:?}");
    assert_eq!(others, [14, 14, 11]);
}

/// A shipped program under another name.
fn named(shipped_as: &str, name: &str) -> Arc<Program> {
    let mut program = Program::clone(&shipped(shipped_as));
    program.name = name.to_owned();
    Arc::new(program)
}

#[test]
fn mistakes_in_the_exchange_are_found() {
    let Some((cc, mpirun)) = mpi() else { return };
    let faults: [(&str, &str, &str); 7] = [
        ("thin", "tw_reach[TW_DIMENSION][2] = { { 1, 1 } }", "tw_reach[TW_DIMENSION][2] = { { 1, 0 } }"),
        (
            "stale",
            "status = tw_begin(plan, 1, requests, &count);",
            "status = count = 0; if (plan->facts.bands % 2 == 0) status = tw_begin(plan, 1, requests, &count);",
        ),
        (
            "early",
            "tw_slot(field, state ? tw_now(plan) : 0, 0)",
            "tw_slot(field, state ? tw_now(plan) + 1 : 0, 0)",
        ),
        ("crossed", "tw_slope[TW_DIMENSION][2] = { { 1, 1 } }", "tw_slope[TW_DIMENSION][2] = { { 0, 1 } }"),
        ("lost", "begin[0] = low - k * tw_reach[d][0] + margin[0];", "begin[0] = low + 1;"),
        ("unbounded", "code = tw_bound(plan, &wide, 0, parameters);", "code = 0;"),
        ("unbounded_ghosts", "code = tw_bound(plan, &wide, early, parameters);", "code = 0;"),
    ];
    // Ghosts of a line have a boundary of their own where it is wide alone.
    let shipped_as = |name| if name == "unbounded_ghosts" { "heat2d" } else { "heat1d" };
    let programs =
        faults.iter().map(|&(name, from, to)| (named(shipped_as(name), name), Some((from, to)))).collect();
    let built = Built::new(cc, programs);
    let case = |program: usize, blocking: i32| Case {
        program,
        size: if program < 6 { vec![97] } else { vec![97, 31] },
        steps: 30,
        ranks: if program < 6 { vec![3] } else { vec![3, 1] },
        depth: 4,
        blocking,
        kept: None,
    };
    let all: Vec<Case> =
        (0..faults.len()).map(|program| case(program, if program < 3 { 1 } else { -1 })).collect();
    for (outcome, (name, ..)) in built.launch(mpirun, &all, 0.0).iter().zip(faults) {
        assert!(outcome.code == 0 && outcome.mismatches > 0, "{name}: {outcome:?}");
    }
}

/// What ranks write as HDF5, other ranks read: the bytes of the `.npy` files of both. Grids of another shape and what is no HDF5 are refused.
#[test]
fn levels_go_through_hdf5_files_to_other_ranks() {
    let Some((_, mpirun)) = mpi() else { return };
    if Command::new("h5pcc").arg("-showconfig").output().is_err() || !mpirun.contains("openmpi") {
        eprintln!(
            "SKIPPED: no h5pcc of Open MPI was found, so no HDF5 is written (Debian: libhdf5-openmpi-dev)"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let plan = small_plan(&shipped("heat2d"), strategy::by_name("hhc").unwrap(), 0).unwrap();
    for file in openmp::generate_ranks(&plan, None).unwrap().files {
        std::fs::write(folder.path().join(&file.name), file.text).unwrap();
    }
    let strict =
        ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-ffp-contract=off", "-DTW_HDF5"];
    let sources = ["heat2d.c", "heat2d_mpi.c", "heat2d_mpi_main.c", "-lm", "-o", "program"];
    run(Command::new("h5pcc").args(strict).args(sources).current_dir(folder.path()));
    let on = |ranks: usize, arguments: &[&str]| {
        let mut command = launched(mpirun, ranks, folder.path());
        command.args(arguments);
        command
    };
    let outputs = ["--ranks", "2x2", "--output", "u=a.h5", "--output", "u=a.npy", "57", "43", "20"];
    run(&mut on(4, &outputs));
    run(&mut on(3, &["--ranks", "1x3", "--input", "u=a.h5", "--output", "u=b.npy", "57", "43", "0"]));
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(bytes("a.npy") == bytes("b.npy"));
    std::fs::copy(folder.path().join("a.npy"), folder.path().join("no.h5")).unwrap();
    for (arguments, code) in [
        (["--input", "u=a.h5", "58", "43", "0"], 12),
        (["--input", "u=no.h5", "57", "43", "0"], 11),
        (["--output", "u=none/a.h5", "57", "43", "0"], 11),
    ] {
        let output = on(2, &arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(&format!("code {code} ")), "{arguments:?}: {text}");
    }
}

/// Boxes in memory of a device, packed there: the values of the reference, whatever way messages take, and levels in slots that turn.
/// On two and four ranks and with one shipped stencil in three dimensions; with `TILEWRIGHT_ALL=1`, as in `make test-long`, on one as
/// well, and with more of them.
#[test]
fn ranks_with_devices_compute_the_values_of_the_reference() {
    let Some((cc, mpirun)) = mpi() else { return };
    let all = everything();
    let names = if all { &["heat1d", "wave2d", "fdtd2d_driven", "varcoef3d"][..] } else { &["varcoef3d"] };
    let programs = std::iter::once(Arc::clone(&OWN)).chain(names.iter().map(|name| shipped(name)));
    let built = Built::on_devices(cc, programs.map(|program| (program, None)).collect());
    for &ranks in if all { &[2, 4, 1][..] } else { &[2, 4] } {
        pass(&built, mpirun, &with_checkpoints(&built.programs, ranks, ranks == 2));
    }
    let faults = [
        ("if (code == 0) code = tw_turn(plan, k);", ""),
        (
            "plan->device_incoming[number], plan->incoming[number], length",
            "plan->device_incoming[number], plan->incoming[number], 0",
        ),
        (
            "tw_three(from ? from->stride : dense, 0, source);",
            "tw_three(to ? to->stride : dense, 0, source);",
        ),
        ("tw_part_copy(plan, &plan->parts[part], &plan->parts[part].own, 1, 1, k);", ";"),
    ];
    let heat = |number: usize, wrong| {
        (named("heat2d", ["turned", "lost", "slanted", "unmoved"][number]), Some(wrong))
    };
    let wrong = faults.into_iter().enumerate().map(|(number, wrong)| heat(number, wrong));
    let built = Built::on_devices(cc, wrong.collect());
    let case = |program| Case {
        program,
        size: vec![53, 47],
        steps: 11,
        ranks: vec![2, 1],
        depth: 3,
        blocking: -1,
        kept: None,
    };
    for outcome in built.launch(mpirun, &[case(0), case(1), case(2), case(3)], 0.0) {
        assert!(outcome.code == 0 && outcome.mismatches > 0, "{outcome:?}");
    }
}

/// Where a message takes half of a band's computing, nobody waits for it, but for the code that computes after the messages alone; and
/// messages are looked after while the inner part is computed.
#[test]
fn messages_travel_while_points_are_computed() {
    let Some((cc, mpirun)) = mpi() else { return };
    let blind = ("heat2d_between_tiles(tw_progress, &underway);", "(void)tw_progress;");
    let blind = (blind.0.replace("heat2d", "blind"), blind.1);
    let blind: (&'static str, &'static str) = (blind.0.leak(), blind.1);
    let built = Built::new(cc, vec![(shipped("heat2d"), None), (named("heat2d", "blind"), Some(blind))]);
    let case = |program: usize, blocking: i32| Case {
        program,
        size: vec![320, 131],
        steps: 24,
        ranks: vec![2, 1],
        depth: 2,
        blocking,
        kept: None,
    };
    let outcomes = built.launch(mpirun, &[case(0, -1), case(0, 1), case(1, -1)], 0.5);
    let [overlapped, blocking, blind] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert!(outcomes.iter().all(|outcome| (outcome.code, outcome.mismatches) == (0, 0)), "{outcomes:?}");
    // A band may be interrupted.
    let part = |count: i64, outcome: &Outcome| count as f64 / outcome.overlap.bands as f64;
    let late = |outcome: &Outcome| part(outcome.overlap.late, outcome);
    assert!(late(overlapped) < 0.25 && late(blocking) > 0.75, "{outcomes:?}");
    assert!(part(overlapped.overlap.arrived, overlapped) > 0.5, "{outcomes:?}");
    assert_eq!((blocking.overlap.arrived, blind.overlap.arrived), (0, 0), "{outcomes:?}");
    assert_eq!(overlapped.overlap.bands, 2 * 12, "{outcomes:?}");
}

#[test]
#[ignore = "for `make test-long`: all shipped stencils on 1 to 16 ranks"]
fn all_shipped_stencils_on_one_to_sixteen_ranks() {
    let names = polyhedral::shipped::names().into_iter();
    let programs: Vec<_> = names
        .map(shipped)
        .filter(|program| polyhedral::ghost::Ghosts::of(program).is_ok())
        .chain(AROUND.iter().cloned())
        .chain([Arc::clone(&OWN)])
        .collect();
    let mpich = Some(("mpicc.mpich", "mpirun.mpich")).filter(works);
    for (cc, mpirun) in mpi().into_iter().chain(mpich) {
        let built = Built::new(cc, programs.iter().map(|program| (Arc::clone(program), None)).collect());
        for ranks in 1..=16 {
            for seed in [0, 3] {
                let cases = cases(&built.programs, ranks, seed);
                pass(&built, mpirun, &cases);
                println!("{mpirun}: {} cases on {ranks} ranks", cases.len());
            }
        }
    }
}

/// A message of 2^31 bytes and some more: all of it arrives, and in its place.
#[test]
#[ignore = "for `make test-long`: 10 GB"]
fn a_message_of_more_than_two_gib_arrives() {
    let Some((cc, mpirun)) = mpi() else { return };
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = available.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    if kilobytes.is_none_or(|kilobytes| kilobytes < 12 << 20) {
        eprintln!("SKIPPED: less than 12 GiB of memory, so no message of more than 2 GiB is sent");
        return;
    }
    let program = parsed(
        "far",
        "stencil far(t, i) { field u: f32; coefficient c: f64; u[t+1, i] = 0.5 * u[t, i+1] + c[i+1] for 0 <= i < n0 - 1; }",
    );
    let folder = tempfile::tempdir().unwrap();
    let plan = small_plan(&program, strategy::by_name("hhc").unwrap(), 0).unwrap();
    for file in openmp::generate_ranks(&plan, None).unwrap().files {
        std::fs::write(folder.path().join(&file.name), file.text).unwrap();
    }
    let main = workspace().join("tests/ranks/long_message.c");
    let mut compiler = Command::new(cc);
    compiler.args(["-std=gnu11", "-O1", "-fopenmp", "-ffp-contract=off", "-I.", "far.c"]).arg(main);
    run(compiler.args(["-lm", "-o", "program"]).current_dir(folder.path()));
    let text = run(&mut launched(mpirun, 2, folder.path()));
    assert_eq!(text.trim(), "2 messages of 2147483716 bytes in all, 0 wrong values");
}

/// A library for ranks is called from Python, on communicators of mpi4py.
#[test]
fn communicators_of_mpi4py_are_taken() {
    let Some((cc, mpirun)) = mpi() else { return };
    let version = "from mpi4py import MPI; import numpy; print(MPI.Get_library_version())";
    let output = Command::new("python3").args(["-c", version]).output();
    let same = output.is_ok_and(|output| {
        String::from_utf8_lossy(&output.stdout).contains("Open MPI") == mpirun.contains("openmpi")
            && output.status.success()
    });
    if !same {
        eprintln!("SKIPPED: no mpi4py of the same MPI, so no communicator of Python's is taken");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let plan = small_plan(&shipped("heat2d"), strategy::by_name("hhc").unwrap(), 0).unwrap();
    for file in openmp::generate_ranks(&plan, None).unwrap().files {
        std::fs::write(folder.path().join(&file.name), file.text).unwrap();
    }
    let library = ["-O0", "-fopenmp", "-ffp-contract=off", "-shared", "-fPIC", "heat2d.c", "heat2d_mpi.c"];
    run(Command::new(cc).args(library).args(["-lm", "-o", "library.so"]).current_dir(folder.path()));
    let script = workspace().join("examples/ranks_mpi4py.py");
    let on = |ranks: usize| {
        let mut command = started(mpirun, ranks, folder.path());
        run(command.arg("python3").arg(&script).arg("./library.so"))
    };
    let (four, one) = (on(4), on(1));
    let sum = one.trim().strip_prefix("1 ranks: ").unwrap();
    assert_eq!(four.lines().collect::<Vec<_>>(), vec![format!("2 ranks: {sum}"); 2]);
}
