//! Schedules: what of a computation may run at once. The strongest one is looked up (Table 5.3); weaker ones come of it by
//! rewriting single elements, and form a lattice.

use crate::program::Operator;

/// What the elements of an operator may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// They run at once, each by itself.
    Independent,
    /// They run at once, and bring their results together.
    Cooperative,
    /// They run one after the other.
    Sequential,
}

impl Schedule {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Independent => "independent",
            Schedule::Cooperative => "cooperative",
            Schedule::Sequential => "sequential",
        }
    }

    /// The schedule of this name.
    pub fn named(name: &str) -> Option<Schedule> {
        [Schedule::Independent, Schedule::Cooperative, Schedule::Sequential]
            .into_iter()
            .find(|own| own.name() == name)
    }

    /// Whether more than one thread or lane works.
    pub fn is_parallel(self) -> bool {
        self != Schedule::Sequential
    }
}

/// What code is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// C with OpenMP.
    OpenMp,
    /// CUDA C++.
    Cuda,
}

impl Platform {
    /// How many levels may run in parallel: blocks and threads on a GPU, teams and lanes (or teams in teams) on a CPU.
    pub const PARALLEL_LEVELS: usize = 2;

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Platform::OpenMp => "openmp",
            Platform::Cuda => "cuda",
        }
    }
}

/// The strongest schedule of an operator: one element for each level of its result.
pub fn strongest_of(operator: Operator) -> &'static [Schedule] {
    use Operator::*;
    match operator {
        Map | Gather | Scatter | Range | Replicate | Zip | Join | Striding | Cyclic | Reverse => {
            &[Schedule::Independent]
        }
        Split | Nest => &[Schedule::Independent, Schedule::Independent],
        Reduce | ReduceByKey | Scan | SortByKey | Filter => &[Schedule::Cooperative],
    }
}

/// The strongest schedule of an expression sequence.
pub fn strongest(sequence: &[Operator]) -> Vec<Schedule> {
    sequence.iter().flat_map(|operator| strongest_of(*operator)).copied().collect()
}

/// The schedules that one step of the rewrite rules leads to: `independent -> sequential`, `cooperative -> sequential`, for
/// one element.
pub fn rewritten(schedule: &[Schedule]) -> Vec<Vec<Schedule>> {
    let parallel = (0..schedule.len()).filter(|place| schedule[*place].is_parallel());
    parallel
        .map(|place| {
            let mut weaker = schedule.to_vec();
            weaker[place] = Schedule::Sequential;
            weaker
        })
        .collect()
}

/// A schedule and all weaker ones: the strongest first, each once.
pub fn lattice(strongest: &[Schedule]) -> Vec<Vec<Schedule>> {
    let mut found = vec![strongest.to_vec()];
    let mut next = 0;
    while next < found.len() {
        for weaker in rewritten(&found[next]) {
            if !found.contains(&weaker) {
                found.push(weaker);
            }
        }
        next += 1;
    }
    found
}

/// The rule of a platform that a schedule violates: the first element that may not be parallel.
pub fn violation(schedule: &[Schedule], platform: Platform) -> Option<usize> {
    match platform {
        // Blocks and threads are the two outermost levels, whatever they do.
        Platform::Cuda => (0..schedule.len())
            .find(|place| *place >= Platform::PARALLEL_LEVELS && schedule[*place].is_parallel()),
        Platform::OpenMp => {
            let mut parallel = 0;
            (0..schedule.len()).find(|place| {
                parallel += usize::from(schedule[*place].is_parallel());
                parallel > Platform::PARALLEL_LEVELS
            })
        }
    }
}

/// The schedules that a platform can run: the lattice, each schedule weakened where the platform asks for it.
pub fn valid(strongest: &[Schedule], platform: Platform) -> Vec<Vec<Schedule>> {
    let mut found: Vec<Vec<Schedule>> = Vec::new();
    for mut schedule in lattice(strongest) {
        while let Some(place) = violation(&schedule, platform) {
            schedule[place] = Schedule::Sequential;
        }
        if !found.contains(&schedule) {
            found.push(schedule);
        }
    }
    found
}

/// A schedule as the dissertation writes it.
pub fn text(schedule: &[Schedule]) -> String {
    schedule.iter().map(|element| element.name()).collect::<Vec<_>>().join(">")
}

/// The schedule of a text; `None` where a name is none.
pub fn parse(text: &str) -> Option<Vec<Schedule>> {
    text.split(['>', ',']).map(|name| Schedule::named(name.trim())).collect()
}
