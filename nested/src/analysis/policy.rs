//! Policies: how a schedule is put onto a platform. Parameters are those of Table 5.4, inferred by Algorithm 3 element by
//! element; combinations that a platform refuses, or that change nothing, are pruned.

use super::schedule::{self, Platform, Schedule};
use super::sequence::Computation;
use crate::program::Operator;

/// Who runs the elements of a level on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// A team of threads.
    Threads,
    /// The lanes of one thread.
    Simd,
}

/// How a team's threads share the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OmpSchedule {
    /// Equal numbers of elements.
    Static,
    /// Whoever is free takes the next ones.
    Dynamic,
    /// As before, fewer at a time towards the end.
    Guided,
    /// Equal sums of rows and their elements; rows that are very long are shared by all.
    Merge,
}

impl OmpSchedule {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            OmpSchedule::Static => "static",
            OmpSchedule::Dynamic => "dynamic",
            OmpSchedule::Guided => "guided",
            OmpSchedule::Merge => "merge",
        }
    }
}

/// One element of a schedule with its local parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Level {
    /// The element.
    pub schedule: Schedule,
    /// `execution_resource`, where it is parallel.
    pub resource: Resource,
    /// `omp_schedule`, where threads run it.
    pub omp_schedule: OmpSchedule,
    /// `chunk_size`, where threads run it; 0 leaves it to OpenMP.
    pub chunk: u64,
    /// `enable_unroll`, where it is sequential.
    pub unroll: bool,
}

impl Level {
    /// One after the other.
    pub const SEQUENTIAL: Level = Level {
        schedule: Schedule::Sequential,
        resource: Resource::Simd,
        omp_schedule: OmpSchedule::Static,
        chunk: 0,
        unroll: false,
    };

    /// Threads, with equal shares.
    pub fn threads(schedule: Schedule) -> Level {
        Level { schedule, resource: Resource::Threads, ..Level::SEQUENTIAL }
    }

    /// Lanes.
    pub fn simd(schedule: Schedule) -> Level {
        Level { schedule, ..Level::SEQUENTIAL }
    }

    /// Whether a team runs it.
    pub fn is_threads(&self) -> bool {
        self.schedule.is_parallel() && self.resource == Resource::Threads
    }

    /// Whether lanes run it.
    pub fn is_simd(&self) -> bool {
        self.schedule.is_parallel() && self.resource == Resource::Simd
    }
}

/// How a computation is done: a schedule with its policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Implementation {
    /// Elements of a tile, where a map is done as a map over tiles; the first level is then that of the tiles.
    pub tile: u64,
    /// The elements of the schedule.
    pub levels: Vec<Level>,
}

/// Elements of a tile.
const TILE: u64 = 2048;
const CHUNKS: [u64; 3] = [0, 64, 1024];

impl Implementation {
    /// The schedule.
    pub fn schedule(&self) -> Vec<Schedule> {
        self.levels.iter().map(|level| level.schedule).collect()
    }

    /// The parameters with their values, as `omp_schedule_1=dynamic`.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let mut list = vec![("tile".to_owned(), self.tile.to_string())];
        for (place, level) in self.levels.iter().enumerate() {
            let mut add = |name: &str, value: String| list.push((format!("{name}_{}", place + 1), value));
            match level.schedule.is_parallel() {
                true => {
                    add("execution_resource", if level.is_threads() { "threads" } else { "simd" }.to_owned());
                    if level.is_threads() {
                        add("omp_schedule", level.omp_schedule.name().to_owned());
                        add("chunk_size", level.chunk.to_string());
                    }
                }
                false => add("enable_unroll", level.unroll.to_string()),
            }
        }
        list
    }

    /// The policy in one line.
    pub fn policy(&self) -> String {
        let parts = self.parameters().into_iter().filter(|(name, value)| name != "tile" || value != "0");
        parts.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    }

    /// What is taken where nobody chooses: threads outside, lanes inside, the rest one after the other; rows of different
    /// lengths in equal shares of their elements.
    pub fn default_of(computation: &Computation) -> Implementation {
        if computation.sequence.is_empty() {
            // At most a copy.
            return Implementation { tile: 0, levels: vec![Level::threads(Schedule::Independent)] };
        }
        let mut levels = Vec::new();
        for (place, schedule) in schedule::strongest(&computation.sequence).into_iter().enumerate() {
            levels.push(match place {
                0 if computation.irregular => {
                    Level { omp_schedule: OmpSchedule::Merge, ..Level::threads(schedule) }
                }
                0 => Level::threads(schedule),
                1 => Level::simd(schedule),
                _ => Level::SEQUENTIAL,
            });
        }
        Implementation { tile: 0, levels }
    }

    /// Everything one after the other.
    pub fn sequential(computation: &Computation) -> Implementation {
        let levels = vec![Level::SEQUENTIAL; schedule::strongest(&computation.sequence).len()];
        Implementation { tile: 0, levels }
    }
}

/// The names of the parameters of a schedule (Table 5.5), with `execution_resource` of Table 5.4, which that table omits.
pub fn inferred(sequence: &[Operator], elements: &[Schedule], platform: Platform) -> Vec<String> {
    let globals: &[&str] = match platform {
        Platform::OpenMp => &["num_threads", "enable_nesting"],
        Platform::Cuda => &["block_size_x", "block_size_y", "logical_warp_size"],
    };
    let mut names: Vec<String> = globals.iter().map(|name| (*name).to_owned()).collect();
    // One operator has several elements where its result is nested.
    let owners =
        sequence.iter().flat_map(|operator| schedule::strongest_of(*operator).iter().map(move |_| *operator));
    for (place, (element, operator)) in elements.iter().zip(owners).enumerate() {
        let local: &[&str] = match (element, platform, operator) {
            (Schedule::Sequential, ..) => &["enable_unroll"],
            (_, Platform::OpenMp, _) => &["execution_resource", "omp_schedule", "chunk_size"],
            (Schedule::Independent, Platform::Cuda, _) => &["execution_resource", "grain_size"],
            (Schedule::Cooperative, Platform::Cuda, Operator::Scan) => {
                &["execution_resource", "block_scan_algo", "block_scan_grain_size"]
            }
            (Schedule::Cooperative, Platform::Cuda, _) => &["execution_resource", "block_reduce_algo"],
        };
        names.extend(local.iter().map(|name| format!("{name}_{}", place + 1)));
    }
    names
}

/// What a level can be.
fn choices(element: Schedule, outermost: bool, irregular: bool) -> Vec<Level> {
    if !element.is_parallel() {
        return [false, true].into_iter().map(|unroll| Level { unroll, ..Level::SEQUENTIAL }).collect();
    }
    let mut list = Vec::new();
    for omp_schedule in [OmpSchedule::Static, OmpSchedule::Dynamic, OmpSchedule::Guided] {
        for chunk in CHUNKS {
            // A team inside of a team has little to share.
            if outermost || chunk == 0 {
                list.push(Level { omp_schedule, chunk, ..Level::threads(element) });
            }
        }
    }
    if outermost && irregular {
        list.insert(0, Level { omp_schedule: OmpSchedule::Merge, ..Level::threads(element) });
    }
    list.push(Level::simd(element));
    list
}

/// All implementations of a computation on a CPU, the default one first.
pub fn implementations(computation: &Computation) -> Vec<Implementation> {
    let mut found = vec![Implementation::default_of(computation)];
    if computation.sequence.is_empty() {
        return found;
    }
    let mut sequences = vec![(0, computation.sequence.clone())];
    if computation.tiled {
        sequences.push((TILE, [&[Operator::Map], &computation.sequence[..]].concat()));
    }
    for (tile, sequence) in sequences {
        for elements in schedule::valid(&schedule::strongest(&sequence), Platform::OpenMp) {
            let mut partial: Vec<Vec<Level>> = vec![Vec::new()];
            for (place, element) in elements.iter().enumerate() {
                let choices = choices(*element, place == 0, computation.irregular);
                let extended = partial
                    .iter()
                    .flat_map(|levels| choices.iter().map(move |level| [&levels[..], &[*level]].concat()));
                partial = extended.filter(|levels| is_possible(levels)).collect();
            }
            for levels in partial {
                let own = Implementation { tile, levels };
                if !found.contains(&own) && (tile == 0 || own.levels[0].schedule.is_parallel()) {
                    found.push(own);
                }
            }
        }
    }
    found
}

/// Whether OpenMP has it: no team inside of lanes, and unrolling only of the innermost sequential loop, since others
/// change nothing that a compiler would not do.
fn is_possible(levels: &[Level]) -> bool {
    let team = levels.iter().rposition(Level::is_threads);
    let lanes = levels.iter().position(Level::is_simd);
    let nested = levels.iter().filter(|level| level.is_threads()).count();
    !matches!((lanes, team), (Some(lanes), Some(team)) if lanes < team) && nested <= 2
}

/// The number of points of a platform's space, before and after what the platform refuses is pruned.
pub fn cuda_points(sequence: &[Operator]) -> (usize, usize) {
    let blocks = [32, 64, 128, 256, 512, 1024];
    let rows = [1, 2, 4, 8, 16, 32];
    let warps = [1, 2, 4, 8, 16, 32];
    let mut all = 0;
    let mut valid = 0;
    for elements in schedule::valid(&schedule::strongest(sequence), Platform::Cuda) {
        let names = inferred(sequence, &elements, Platform::Cuda);
        let local: usize = names[3..]
            .iter()
            .map(|name| match name {
                name if name.starts_with("execution_resource") => 3,
                name if name.starts_with("grain_size") || name.starts_with("block_scan_grain") => 3,
                _ => 2,
            })
            .product();
        let any_parallel = elements.iter().any(|element| element.is_parallel());
        for x in blocks {
            for y in rows {
                for warp in warps {
                    all += local;
                    // At most 1024 threads; a logical warp lies in a row; one thread needs no more.
                    let fits = x * y <= 1024 && warp <= x && (any_parallel || x == 32 && y == 1 && warp == 1);
                    valid += if fits { local } else { 0 };
                }
            }
        }
    }
    (all, valid)
}
