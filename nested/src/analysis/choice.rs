//! Schedules and policies by hand: what a user writes, or the rule that it violates.

use super::policy::{Implementation, Level, OmpSchedule, Resource};
use super::schedule::{self, Platform, Schedule};
use super::sequence::{self, Computation};
use crate::program::Operator;

/// The implementation that a user asks for; what is left open is that of the default.
///
/// # Errors
/// The rule that is violated.
pub fn choose(
    computation: &Computation,
    schedule: Option<&str>,
    policy: Option<&str>,
) -> Result<Implementation, String> {
    let pairs: Vec<(&str, &str)> = match policy {
        None => Vec::new(),
        Some(text) => {
            let pairs = text
                .split(',')
                .map(|pair| pair.split_once('=').map(|(name, value)| (name.trim(), value.trim())));
            pairs
                .collect::<Option<Vec<_>>>()
                .ok_or("a policy is written `omp_schedule_1=dynamic,chunk_size_1=64`")?
        }
    };
    let tile: u64 = match pairs.iter().find(|(name, _)| *name == "tile") {
        Some((_, value)) => number(value)?,
        None => 0,
    };
    if tile > 0 && !computation.tiled {
        let own = sequence::text(&computation.sequence);
        return Err(format!(
            "a map over tiles is made of a map that gives a flat sequence, and `{own}` is none"
        ));
    }
    let operators = match tile {
        0 => computation.sequence.clone(),
        _ => [&[Operator::Map], &computation.sequence[..]].concat(),
    };
    let strongest = schedule::strongest(&operators);
    let mut own = Implementation::default_of(computation);
    own.tile = tile;
    if let Some(text) = schedule {
        own.levels = elements(text, &operators, &strongest)?;
    } else if tile > 0 {
        own.levels = strongest.iter().map(|element| Level::simd(*element)).collect();
        own.levels[0] = Level::threads(strongest[0]);
        own.levels.iter_mut().skip(2).for_each(|level| *level = Level::SEQUENTIAL);
    }
    if computation.irregular && schedule.is_some() && own.levels.first().is_some_and(Level::is_threads) {
        own.levels[0].omp_schedule = OmpSchedule::Merge;
    }
    for (name, value) in pairs.into_iter().filter(|(name, _)| *name != "tile") {
        set(&mut own.levels, name, value, computation.irregular)?;
    }
    let team = own.levels.iter().rposition(Level::is_threads);
    let lanes = own.levels.iter().position(Level::is_simd);
    if let (Some(lanes), Some(team)) = (lanes, team)
        && lanes < team
    {
        return Err(format!(
            "level {} is run by lanes, and level {} inside of it by threads; lanes have no teams",
            lanes + 1,
            team + 1
        ));
    }
    Ok(own)
}

fn number(value: &str) -> Result<u64, String> {
    value
        .parse()
        .ok()
        .filter(|number| *number <= 1 << 30)
        .ok_or_else(|| format!("`{value}` is no number up to 2^30"))
}

/// A schedule that is written.
///
/// # Errors
/// The rule that is violated.
pub fn schedule_of(
    text: &str,
    operators: &[Operator],
    strongest: &[Schedule],
    platform: Platform,
) -> Result<Vec<Schedule>, String> {
    let elements = schedule::parse(text)
        .ok_or_else(|| format!("`{text}` is no schedule; its elements are independent, cooperative and sequential, with `>` between"))?;
    if elements.len() != strongest.len() {
        let (has, needs) = (elements.len(), strongest.len());
        let own = sequence::text(operators);
        return Err(format!(
            "the schedule has {has} elements, but `{own}` has {needs}; the strongest is {}",
            schedule::text(strongest)
        ));
    }
    for (place, (element, strong)) in elements.iter().zip(strongest).enumerate() {
        if element != strong && *element != Schedule::Sequential {
            return Err(format!(
                "element {} is {}, but {} is rewritten to sequential only ({} -> sequential)",
                place + 1,
                element.name(),
                strong.name(),
                strong.name()
            ));
        }
    }
    if let Some(place) = schedule::violation(&elements, platform) {
        let most = match platform {
            Platform::OpenMp => format!("{} levels", Platform::PARALLEL_LEVELS),
            Platform::Cuda => format!("the outermost {} levels", Platform::PARALLEL_LEVELS),
        };
        return Err(format!(
            "{} runs {most} in parallel; element {} must be sequential",
            platform.name(),
            place + 1
        ));
    }
    Ok(elements)
}

/// The levels of a schedule that is written.
fn elements(text: &str, operators: &[Operator], strongest: &[Schedule]) -> Result<Vec<Level>, String> {
    let elements = schedule_of(text, operators, strongest, Platform::OpenMp)?;
    let outermost = elements.iter().position(|element| element.is_parallel());
    let levels = elements.into_iter().enumerate().map(|(place, element)| match element.is_parallel() {
        false => Level::SEQUENTIAL,
        true if outermost == Some(place) => Level::threads(element),
        true => Level::simd(element),
    });
    Ok(levels.collect())
}

/// Sets a parameter of a level.
fn set(levels: &mut [Level], name: &str, value: &str, irregular: bool) -> Result<(), String> {
    let (stem, place) = name.rsplit_once('_').unwrap_or((name, ""));
    let count = levels.len();
    let level = place
        .parse::<usize>()
        .ok()
        .and_then(|place| place.checked_sub(1))
        .and_then(|place| levels.get_mut(place));
    let Some(level) = level else {
        return Err(format!(
            "`{name}` is no parameter: names end in the number of a level, `_1` to `_{count}`"
        ));
    };
    let parallel = level.schedule.is_parallel();
    match (stem, value) {
        ("execution_resource" | "omp_schedule" | "chunk_size", _) if !parallel => {
            return Err(format!("`{name}` belongs to a parallel element, and this one is sequential"));
        }
        ("enable_unroll", _) if parallel => {
            return Err(format!(
                "`{name}` belongs to a sequential element, and this one is {}",
                level.schedule.name()
            ));
        }
        ("execution_resource", "threads") => level.resource = Resource::Threads,
        ("execution_resource", "simd") => level.resource = Resource::Simd,
        ("omp_schedule" | "chunk_size", _) if !level.is_threads() => {
            return Err(format!("`{name}` belongs to threads, and lanes run this level"));
        }
        ("omp_schedule", "static") => level.omp_schedule = OmpSchedule::Static,
        ("omp_schedule", "dynamic") => level.omp_schedule = OmpSchedule::Dynamic,
        ("omp_schedule", "guided") => level.omp_schedule = OmpSchedule::Guided,
        ("omp_schedule", "merge") if irregular && place == "1" => level.omp_schedule = OmpSchedule::Merge,
        ("omp_schedule", "merge") => {
            return Err("`merge` deals out rows of a nest, at the outermost level".to_owned());
        }
        ("chunk_size", _) => level.chunk = number(value)?,
        ("enable_unroll", "true") => level.unroll = true,
        ("enable_unroll", "false") => level.unroll = false,
        ("execution_resource", _) => {
            return Err(format!("`{value}` is no resource; they are threads and simd"));
        }
        ("omp_schedule", _) => {
            return Err(format!("`{value}` is no schedule; they are static, dynamic, guided and merge"));
        }
        ("enable_unroll", _) => return Err(format!("`{value}` is neither true nor false")),
        _ => {
            let known = "execution_resource, omp_schedule, chunk_size, enable_unroll, each with `_` and a level, and tile";
            return Err(format!("`{name}` is no parameter; they are {known}"));
        }
    }
    Ok(())
}
