//! Contests that the ranks of a computer hold together. In a run a tile takes what it takes beside the other ranks, with which it shares caches,
//! memory and often a core: so all of them run the same tile at the same time, each on a grid of its own, and the slowest one's time counts, as
//! ranks wait for each other. The first rank leads. It compiles and decides; the others do what it says until it says that all is over.

use super::ground::Ground;
use crate::error::{Error, Result};
use crate::text;
use execution::native::NativeProgram;
use polyhedral::program::Program;
use std::path::Path;
use toolchain::interference::Watch;
use toolchain::library::Library;

/// The ranks of a computer. All of them call the same functions in the same order.
pub trait Company: Sync {
    /// How many there are.
    fn ranks(&self) -> usize;
    /// The first one's text.
    ///
    /// # Errors
    /// What lies between them.
    fn told(&self, text: &str) -> Result<String>;
    /// The greatest of their numbers, none of which is negative.
    ///
    /// # Errors
    /// As for [`Company::told`].
    fn greatest(&self, number: i32) -> Result<i32>;
    /// The sum of such numbers.
    ///
    /// # Errors
    /// As for [`Company::told`].
    fn sum(&self, number: i32) -> Result<i32>;
    /// Has all go on at the same time.
    ///
    /// # Errors
    /// As for [`Company::told`].
    fn together(&self) -> Result<()>;
}

/// What the first rank says.
#[derive(Debug, PartialEq)]
pub(super) enum Word {
    /// Functions are loaded: of each the object, and its symbol there.
    Load(Vec<(String, String)>),
    /// A grid of so many points is made, for so many steps and calls.
    Grid(Vec<i64>, [i64; 2]),
    /// The function of this number runs on it.
    Run(usize),
    /// How much of the processors' time each has used is asked for.
    Used,
    /// The contest is over.
    Over,
}

impl Word {
    /// In parts that a zero ends, as no path has one.
    pub(super) fn text(&self) -> String {
        match self {
            Word::Load(functions) => functions
                .iter()
                .fold("load".to_owned(), |all, (object, symbol)| format!("{all}\0{object}\0{symbol}")),
            Word::Grid(size, [steps, calls]) => format!("grid\0{}\0{steps}\0{calls}", text::size(size)),
            Word::Run(number) => format!("run\0{number}"),
            Word::Used => "used".to_owned(),
            Word::Over => "over".to_owned(),
        }
    }

    pub(super) fn parse(text: &str) -> Option<Word> {
        let words: Vec<&str> = text.split('\0').collect();
        match words[..] {
            ["load", ref functions @ ..] => {
                let (pairs, rest) = functions.as_chunks::<2>();
                let own = |[object, symbol]: &[&str; 2]| ((*object).to_owned(), (*symbol).to_owned());
                rest.is_empty().then(|| Word::Load(pairs.iter().map(own).collect()))
            }
            ["grid", size, steps, calls] => {
                let size = size.split('x').map(|extent| extent.parse().ok()).collect::<Option<_>>()?;
                Some(Word::Grid(size, [steps.parse().ok()?, calls.parse().ok()?]))
            }
            ["run", number] => Some(Word::Run(number.parse().ok()?)),
            ["used"] => Some(Word::Used),
            ["over"] => Some(Word::Over),
            _ => None,
        }
    }
}

/// For a report.
pub(super) fn at_once(ranks: usize) -> String {
    if ranks > 1 { format!(", on {ranks} ranks at once") } else { String::new() }
}

/// In place of the microseconds of a run that failed.
pub(super) const FAILED: i32 = i32::MAX;

/// The own run, which begins as all others do, and the microseconds of the slowest one.
pub(super) fn beside_others(
    company: &dyn Company,
    run: impl FnOnce() -> Result<f64>,
) -> Result<(Result<f64>, i32)> {
    company.together()?;
    let seconds = run();
    let microseconds = |seconds: &f64| (seconds * 1e6).min(f64::from(FAILED - 1)) as i32;
    let slowest = company.greatest(seconds.as_ref().map_or(FAILED, microseconds))?;
    Ok((seconds, slowest))
}

pub(super) fn failed_elsewhere() -> Error {
    Error::infeasible("another rank of this computer could not take part in the contest of tile sizes")
}

/// The first rank lets the others go.
///
/// # Errors
/// What lies between them.
pub fn dismiss(company: &dyn Company) -> Result<()> {
    company.told(&Word::Over.text()).map(|_| ())
}

fn loaded(functions: &[(String, String)]) -> Result<Vec<NativeProgram>> {
    let load = |(object, symbol): &(String, String)| {
        let library = Library::load(Path::new(object)).map_err(execution::ExecutionError::from)?;
        Ok(NativeProgram::of(&library, symbol)?)
    };
    functions.iter().map(load).collect()
}

/// Takes part, with so many threads, in what the first rank says, until that is over. What fails here fails there.
///
/// # Errors
/// What lies between them.
pub fn accompany(company: &dyn Company, program: &Program, threads: usize) -> Result<()> {
    let (mut natives, mut ground) = (Vec::new(), None);
    let mut watch = Watch::start();
    loop {
        match Word::parse(&company.told("")?) {
            Some(Word::Load(functions)) => {
                watch = Watch::start();
                let loaded = loaded(&functions);
                company.greatest(i32::from(loaded.is_err()))?;
                natives = loaded.unwrap_or_default();
            }
            Some(Word::Grid(size, steps_and_calls)) => {
                // One at a time: they are as large as memory may bear.
                drop(ground.take());
                let made = Ground::new(program, &size, steps_and_calls);
                company.greatest(i32::from(made.is_err()))?;
                ground = made.ok();
            }
            Some(Word::Run(number)) => {
                let run = || match (&mut ground, natives.get(number)) {
                    (Some(ground), Some(native)) => ground.run(program, native, threads),
                    _ => Err(failed_elsewhere()),
                };
                let _ = beside_others(company, run)?;
            }
            Some(Word::Used) => {
                company.sum(i32::try_from(watch.own()).unwrap_or(i32::MAX / 1024))?;
            }
            Some(Word::Over) => return Ok(()),
            None => return Err(Error::internal("the first rank says something else than contests do")),
        }
    }
}
