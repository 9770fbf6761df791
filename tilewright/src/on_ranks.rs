//! A stencil run on the ranks of MPI that this process is one of.

use crate::choice::{self, TileBy, Wish};
use crate::contest::{self, Company};
use crate::data::{self, Arrangement, FieldFile, InputFiles};
use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::observer::{Observer, stage};
use crate::plan::{Tiling, plan};
use crate::processors::Processors;
use crate::ranks::{
    Exchange, Ranks, check, chosen_depth, exchange, exchange_once, ghosts, least_cut, product_text,
};
use cost_models::machine::Machine;
use execution::compare::{Comparison, checksum, compare};
use execution::grid::{ProgramData, ValuesRef, check_memory};
use execution::layout::grid_points;
use execution::ranks::{Among, RankFacts, RanksGrid, RanksProgram, World};
use execution::{initial, reference};
use hhc_codegen::TileSizes;
use hhc_codegen::pipeline::Planned;
use hhc_codegen::strategy::Target;
use polyhedral::program::{FieldId, FieldRole, Program, SeriesId};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is to be run.
pub struct RanksRequest<'a> {
    /// Ranks per dimension.
    pub ranks: Ranks,
    /// Steps that ghost zones are deep; chosen where not given.
    pub depth: Option<i64>,
    /// Whether nothing is computed while messages are under way.
    pub blocking: bool,
    /// The tiling; what it leaves open is chosen.
    pub tiling: Tiling,
    /// The machine that tile sizes are chosen for.
    pub machine: Option<&'a Machine>,
    /// Who chooses them where neither they nor a machine are given: the first rank does, for its own box. In a contest the other ranks of its
    /// computer run the same tiles at the same time, where each has processors of its own.
    pub tile_by: TileBy,
    /// Whether its computer may be measured for that.
    pub calibrate: bool,
    /// Threads of each rank; the cores of its computer, shared out, where not given.
    pub threads: Option<usize>,
    /// Grid extents.
    pub size: &'a [i64],
    /// Time steps.
    pub steps: i64,
    /// One value for each parameter.
    pub parameters: &'a [f64],
    /// Initial values; a file for a field has the grid's shape, and is read by all ranks.
    pub inputs: &'a InputFiles,
    /// Seed of the others.
    pub seed: u64,
    /// Where newest levels go, written by all ranks.
    pub outputs: &'a [FieldFile],
    /// Runs that count; with more than one, another one before them warms up.
    pub repeat: usize,
    /// Whether the first rank compares the result with the reference.
    pub verify: bool,
    /// Where and when checkpoints are written.
    pub checkpoints: Option<Checkpoints>,
    /// The checkpoint that the run goes on from.
    pub restart: Option<&'a Path>,
}

/// Checkpoints of a run.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    /// The file, which is whole at any time: a new checkpoint takes the place of the last one.
    pub path: PathBuf,
    /// Steps between two of them, counted from the beginning of the first run; none: at the end alone.
    pub every: Option<i64>,
}

/// What came of it, on the first rank.
pub struct OnRanks {
    /// The plan.
    pub planned: Planned,
    /// The compiler's command line.
    pub compiler: String,
    /// Facts worth knowing.
    pub notes: Vec<String>,
    /// What each rank did in the last run.
    pub ranks: Vec<RankFacts>,
    /// What all of them sent in it, as the model says.
    pub modelled: Exchange,
    /// Seconds of the runs that count: those of the slowest rank.
    pub seconds: Vec<f64>,
    /// Threads of each rank.
    pub threads: usize,
    /// Steps that the checkpoint had which the run went on from.
    pub from: i64,
    /// Checkpoints that were written, and the seconds that they took.
    pub saved: (u64, f64),
    /// Checksum of the newest levels; none where they do not fit into the memory of the first rank.
    pub checksum: Option<u64>,
    /// How the result differs from the reference.
    pub comparison: Option<Comparison>,
}

/// Steps of a tile that the first guess of how deep ghost zones are is for, before there is a tile.
const USUAL_TILE_STEPS: i64 = 16;

/// A tiling as the first rank tells it to the others, and back.
fn told(world: &World, tiling: Result<Tiling>) -> Result<Tiling> {
    let text = match &tiling {
        Ok(tiling) => {
            format!("{} {}", tiling.strategy, tiling.tile.as_ref().map_or(String::new(), ToString::to_string))
        }
        Err(_) => String::new(),
    };
    let heard = world.broadcast(&text, Among::All)?;
    let tiling = tiling?;
    if world.rank == 0 {
        return Ok(tiling);
    }
    let (strategy, tile) =
        heard.split_once(' ').ok_or_else(|| Error::infeasible("the first rank has no tiling"))?;
    let tile = if tile.is_empty() { None } else { Some(TileSizes::parse(tile)?) };
    Ok(Tiling { strategy: strategy.to_owned(), tile })
}

impl Company for World {
    fn ranks(&self) -> usize {
        self.here
    }

    fn told(&self, text: &str) -> Result<String> {
        Ok(self.broadcast(text, Among::Here)?)
    }

    fn greatest(&self, number: i32) -> Result<i32> {
        Ok(World::greatest(self, number, Among::Here)?)
    }

    fn sum(&self, number: i32) -> Result<i32> {
        Ok(World::sum(self, number, Among::Here)?)
    }

    fn together(&self) -> Result<()> {
        Ok(World::together(self)?)
    }
}

/// Runs the program. All ranks call this with the same request. Each step that can fail on one rank alone is agreed upon:
/// `agreed` says whether any failed.
///
/// # Errors
/// What does not fit, fails to compile, or is not read. Where another rank failed, that says so.
pub fn run(
    stencil: &Stencil,
    world: &World,
    request: &RanksRequest<'_>,
    observer: &dyn Observer,
) -> Result<OnRanks> {
    let program = &stencil.program;
    check(Some(&request.ranks), program, Target::OpenMp, false)?;
    grid_points(program, request.size)?;
    if let Some(counts) = request.ranks.counts() {
        let product: i64 = counts.iter().product();
        if product != world.count as i64 {
            return Err(Error::wrong_input(format!(
                "--ranks {} is {product} ranks, but there are {} processes",
                request.ranks, world.count
            ))
            .hint(format!(
                "start {product} processes (mpirun -n {product} ..), or leave the choice to --ranks auto"
            )));
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let processors = Processors { used: world.processors()?, cores, ranks: world.here };
    let threads = request.threads.unwrap_or_else(|| processors.share());
    let all_threads = world.sum(i32::try_from(threads).unwrap_or(i32::MAX / 1024), Among::Here)?;
    // Ranks that take turns on a processor are better timed by themselves.
    let beside = world.here > 1 && processors.suffice(usize::try_from(all_threads).unwrap_or(usize::MAX));
    // Tile sizes suit the box of a rank, and the steps between two exchanges, after which tiles begin anew.
    let zones = ghosts(program)?;
    let counts = match request.ranks.counts() {
        Some(counts) => counts.to_vec(),
        None => least_cut(&zones, request.size, world.count as i64),
    };
    let usual = || chosen_depth(program, &zones, request.size, &counts, (USUAL_TILE_STEPS, true));
    let band = request.depth.or_else(usual).unwrap_or(request.steps).clamp(1, request.steps.max(1));
    let own: Vec<i64> =
        request.size.iter().zip(&counts).map(|(extent, count)| (extent / count).max(1)).collect();
    let wish = Wish {
        timed: None,
        size: Some(&own),
        steps: Some(band),
        calls: request.steps / band,
        machine: request.machine,
        threads: i64::try_from(threads).ok(),
        by: request.tile_by,
        calibrate: request.calibrate,
        runs: true,
        machine_code: false,
        company: beside.then_some(world as &dyn Company),
    };
    let mut notes = Vec::new();
    let chosen = if world.rank == 0 {
        let chosen = choice::choose(stencil, &request.tiling, Target::OpenMp, &wish, observer);
        // Whatever came of it, the others wait for a word.
        contest::dismiss(world)?;
        chosen.map(|chosen| {
            notes.extend(chosen.notes());
            chosen.tiling
        })
    } else {
        if world.first_here == 0 {
            contest::accompany(world, program, threads)?;
        }
        Ok(request.tiling.clone())
    };
    let tiling = all_or_none(world, told(world, chosen))?;
    let planned = plan(stencil, &tiling, Target::OpenMp, observer)?;
    // The first rank fills the cache of its computer; the others find the library there.
    let load = || stage(observer, "compile", || RanksProgram::load(&planned.plan).map_err(Error::from));
    let first = if world.rank == 0 { Some(load()) } else { None };
    let first = all_or_none(world, first.transpose())?;
    let loaded = all_or_none(world, first.map_or_else(load, Ok))?;
    loaded.library().set_threads(threads);
    notes.extend(loaded.object.notes.iter().cloned());

    let (mut seconds, mut from, mut saved) = (Vec::new(), 0, (0, 0.0));
    let runs = request.repeat.max(1) + usize::from(request.repeat > 1);
    let mut last = None;
    for number in 0..runs {
        drop(last.take());
        let mut grid = opened(&loaded, world, request)?;
        let facts = grid.facts(world.count)?;
        let own = facts.get(world.rank).map(|facts| facts.own.clone()).unwrap_or_default();
        let filled = stage(observer, "initial data", || fill(program, &mut grid, &own, request));
        let series = all_or_none(world, filled)?;
        if let Some(path) = request.restart {
            from =
                stage(observer, "restart", || restored(program, &mut grid, &series, path, world, request))?;
        }
        for (begin, end) in pieces(from, request) {
            stage(observer, "run", || grid.run(end - begin, request.parameters))?;
            if let Some(checkpoints) = &request.checkpoints {
                let start = Instant::now();
                let mark = mark(program, &series, end, request.parameters);
                stage(observer, "checkpoint", || grid.save(&checkpoints.path, mark))?;
                saved = (saved.0 + 1, saved.1 + start.elapsed().as_secs_f64());
            }
        }
        let facts = grid.facts(world.count)?;
        if number + request.repeat.max(1) >= runs {
            seconds.push(facts.iter().map(|facts| facts.seconds).fold(0.0, f64::max));
        }
        last = Some((grid, facts));
    }
    let (mut grid, facts) = last.ok_or_else(|| Error::internal("nothing was run"))?;
    for output in request.outputs {
        grid.file(output.field.0, 0, &output.path, true)?;
    }
    let (checksum, comparison) = result(program, &grid, world, request, observer)?;
    let depth = facts.first().map_or(1, |facts| facts.depth);
    let counts = facts.first().map(|facts| facts.ranks.clone()).unwrap_or_default();
    let sent = pieces(from, request)
        .map(|(begin, end)| exchange(program, &zones, request.size, &counts, depth, end - begin));
    Ok(OnRanks {
        modelled: sent.fold(exchange_once(program, &zones, request.size, &counts, depth), Exchange::and),
        compiler: loaded.object.command.clone(),
        planned,
        notes,
        ranks: facts,
        seconds,
        threads,
        from,
        saved,
        checksum,
        comparison,
    })
}

/// The steps from one checkpoint to the next one.
fn pieces(from: i64, request: &RanksRequest<'_>) -> impl Iterator<Item = (i64, i64)> {
    let every = request.checkpoints.as_ref().and_then(|own| own.every).unwrap_or(i64::MAX);
    let steps = request.steps;
    let next = move |begin: i64| (begin / every).saturating_add(1).saturating_mul(every).min(steps);
    std::iter::successors(Some((from, next(from))), move |&(_, end)| Some((end, next(end))))
        .take_while(move |&(begin, end)| begin < end)
}

/// A number of what a checkpoint does not have: parameters, and the values of series that its steps have read.
fn mark(program: &Program, series: &ProgramData, steps: i64, parameters: &[f64]) -> u64 {
    let used = program.series.iter().enumerate().flat_map(|(number, own)| {
        let count = usize::try_from(own.length(steps)).unwrap_or(0);
        let bits: Vec<u64> = match series.series(SeriesId(number)) {
            ValuesRef::F32(values) => {
                values.iter().take(count).map(|value| u64::from(value.to_bits())).collect()
            }
            ValuesRef::F64(values) => values.iter().take(count).map(|value| value.to_bits()).collect(),
        };
        bits
    });
    parameters
        .iter()
        .map(|value| value.to_bits())
        .chain(used)
        .fold(0_u64, |mark, bits| (mark ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
}

/// Goes on from a checkpoint; returns the steps that it has.
fn restored(
    program: &Program,
    grid: &mut RanksGrid<'_>,
    series: &ProgramData,
    path: &Path,
    world: &World,
    request: &RanksRequest<'_>,
) -> Result<i64> {
    let found = grid.restore(path)?;
    let time = grid.facts(world.count)?.first().map_or(0, |facts| facts.time);
    if time > request.steps {
        return Err(Error::wrong_input(format!(
            "{}: the checkpoint has {time} steps, and --steps says {} in all",
            path.display(),
            request.steps
        ))
        .hint("--steps counts from the beginning of the first run, those of the checkpoint included"));
    }
    if found != mark(program, series, time, request.parameters) {
        return Err(Error::wrong_input(format!(
            "{}: the checkpoint was written with other parameters, or another series",
            path.display()
        ))
        .hint("give the --param, --input and --seed of the run that wrote it"));
    }
    Ok(time)
}

/// What a rank says where another one has failed.
const ELSEWHERE: &str = "another rank failed";

/// Whether an error says only that another rank failed, which says the rest.
pub fn is_elsewhere(error: &Error) -> bool {
    error.to_string() == ELSEWHERE
}

/// The value, where all ranks have one. Of those that failed, the first keeps its error.
///
/// # Errors
/// The own one, or that another rank failed.
pub fn all_or_none<T>(world: &World, value: Result<T>) -> Result<T> {
    let own = match &value {
        Ok(_) => 0,
        Err(error) if is_elsewhere(error) => 1,
        Err(_) => 1 + (world.count - world.rank) as i32,
    };
    if world.greatest(own, Among::All)? == own { value } else { Err(Error::infeasible(ELSEWHERE)) }
}

/// The grid; where it does not fit, what would.
fn opened<'a>(loaded: &'a RanksProgram, world: &World, request: &RanksRequest<'_>) -> Result<RanksGrid<'a>> {
    let depth = request.depth.unwrap_or(0);
    loaded.open(request.size, request.ranks.counts(), depth, request.blocking).map_err(|error| {
        let fits = |count: usize| loaded.fit(request.size, count).ok().flatten();
        let text = match error {
            execution::ExecutionError::Native { code: 8, .. } => crate::text::size(request.size),
            other => return other.into(),
        };
        let ranks = match &request.ranks {
            Ranks::Auto => world.count.to_string(),
            given => given.to_string(),
        };
        let with =
            request.depth.map(|depth| format!(" with ghost zones {depth} steps deep")).unwrap_or_default();
        let error =
            Error::infeasible(format!("a grid of {text} points cannot be cut for {ranks} ranks{with}"));
        let fewer = (1..=world.count).rev().find_map(|count| fits(count).map(|ranks| (count, ranks)));
        match fewer {
            Some((count, counts)) if count == world.count => error.hint(format!(
                "--ranks {} would work, with a smaller --depth or none",
                product_text(&counts)
            )),
            Some((count, counts)) => error.hint(format!(
                "{count} processes would work: mpirun -n {count} .. --ranks {}",
                product_text(&counts)
            )),
            None => error.hint("run it in one process, without --ranks"),
        }
    })
}

/// Initial values of a rank's box: those that a run in one process starts from. Of what is returned, series have values.
fn fill(
    program: &Program,
    grid: &mut RanksGrid<'_>,
    own: &[(i64, i64)],
    request: &RanksRequest<'_>,
) -> Result<ProgramData> {
    for (number, field) in program.fields.iter().enumerate() {
        let id = FieldId(number);
        let input = request.inputs.fields.iter().find(|input| input.field == id);
        for level in initial::initial_levels(program, id) {
            if let Some(input) = input {
                grid.file(number, level, &input.path, false)?;
                continue;
            }
            let of = (request.seed, number, level);
            match field.element {
                polyhedral::program::ElementType::F32 => {
                    let values: Vec<f32> = initial::random_box(of, own, request.size);
                    grid.put(number, level, ValuesRef::F32(&values))?;
                }
                polyhedral::program::ElementType::F64 => {
                    let values: Vec<f64> = initial::random_box(of, own, request.size);
                    grid.put(number, level, ValuesRef::F64(&values))?;
                }
            }
        }
    }
    let mut data = ProgramData::zeroed(program, &vec![1; program.dimension()])?;
    if !program.series.is_empty() {
        initial::fill_series(program, &mut data, request.steps, request.seed)?;
        for (series, path) in &request.inputs.series {
            initial::load_series(program, &mut data, *series, path)?;
        }
        for number in 0..program.series.len() {
            grid.series(number, data.series(SeriesId(number)))?;
        }
    }
    Ok(data)
}

/// The checksum of the whole result, and the comparison with the reference, by the first rank.
fn result(
    program: &Program,
    grid: &RanksGrid<'_>,
    world: &World,
    request: &RanksRequest<'_>,
    observer: &dyn Observer,
) -> Result<(Option<u64>, Option<Comparison>)> {
    let first = world.rank == 0;
    let points: u128 = request.size.iter().map(|&extent| extent as u128).product();
    let bytes = points * program.bytes_of_a_point() as u128;
    let fits = if first { check_memory(bytes * (1 + u128::from(request.verify))) } else { Ok(()) };
    if request.verify {
        all_or_none(world, fits.map_err(Error::from))?;
    } else if world.greatest(i32::from(fits.is_err()), Among::All)? != 0 {
        return Ok((None, None));
    }
    let data = if first { ProgramData::zeroed(program, request.size).map(Some) } else { Ok(None) };
    let mut data = all_or_none(world, data.map_err(Error::from))?;
    for (number, field) in program.fields.iter().enumerate() {
        if matches!(field.role, FieldRole::State { .. }) {
            let level = data.as_mut().map(|data| data.level_mut(program, FieldId(number), request.steps));
            grid.gather(number, level)?;
        }
    }
    let Some(data) = data else { return Ok((None, None)) };
    let comparison = match request.verify {
        false => None,
        true => Some(stage(observer, "reference", || {
            let mut expected = data::initial_data(
                program,
                request.size,
                request.steps,
                Arrangement::Dense,
                request.inputs,
                request.seed,
            )?;
            reference::run_quietly(program, request.parameters, &mut expected, request.steps)?;
            Ok::<_, Error>(compare(program, &data, &expected, request.steps))
        })?),
    };
    Ok((Some(checksum(program, &data, request.steps)), comparison))
}
