//! What a program will be used for: grids, numbers of time steps and threads, from a file in TOML.
//!
//! ```toml
//! sizes = [[100, 100], [8192, 8192]]                               # grids
//! ranges = [{ from = [32, 32], to = [4096, 4096], count = 8 }]     # and such between two, by equal factors
//! steps = [1, 10, 100]
//! threads = [2]                                                    # all that a program may use, where left out
//! tilings = 4                                                      # at most
//! ```

use super::listed;
use crate::cpu_model::usable_threads;
use crate::error::Result;
use crate::text;
use polyhedral::program::Program;
use serde::Deserialize;
use std::path::Path;

/// Tilings of a library at most: each is code, and a proof.
const MOST_TILINGS: usize = 8;
/// Uses at most: each is measured.
const MOST_USES: usize = 1000;
/// Threads at most.
const MOST_THREADS: i64 = 65_536;

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Threads.
    pub threads: i64,
}

impl Use {
    /// `512x512, 100 steps, 2 threads`.
    pub fn name(&self) -> String {
        let steps = text::count(self.steps as u64, "step", "steps");
        format!(
            "{}, {steps}, {}",
            text::size(&self.size),
            text::count(self.threads as u64, "thread", "threads")
        )
    }
}

/// All calls that count, and how many tilings there may be for them.
#[derive(Debug, Clone, PartialEq)]
pub struct Uses {
    /// The calls.
    pub all: Vec<Use>,
    /// Tilings at most.
    pub tilings: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    sizes: Vec<Vec<i64>>,
    #[serde(default)]
    ranges: Vec<Range>,
    steps: Vec<i64>,
    threads: Option<Vec<i64>>,
    #[serde(default = "four")]
    tilings: usize,
}

fn four() -> usize {
    4
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: Vec<i64>,
    to: Vec<i64>,
    count: usize,
}

impl Range {
    /// Extents that grow by equal factors, both ends included.
    fn sizes(&self) -> std::result::Result<Vec<Vec<i64>>, String> {
        if self.from.len() != self.to.len() {
            return Err("`from` and `to` of a range have extents of different dimensions".to_owned());
        }
        if !(2..=MOST_USES).contains(&self.count) {
            return Err(format!("a range has 2 to {MOST_USES} grids, not {}", self.count));
        }
        if self.from.iter().chain(&self.to).any(|&extent| extent < 1) {
            return Err("an extent must be at least 1".to_owned());
        }
        let at = |step: usize, (&from, &to): (&i64, &i64)| {
            let part = step as f64 / (self.count - 1) as f64;
            if step + 1 == self.count {
                to
            } else {
                (from as f64 * (to as f64 / from as f64).powf(part)).round() as i64
            }
        };
        let size = |step: usize| self.from.iter().zip(&self.to).map(|pair| at(step, pair)).collect();
        Ok((0..self.count).map(size).collect())
    }
}

impl Uses {
    /// The uses of a program that a file has.
    ///
    /// # Errors
    /// A file that cannot be read; everything that is wrong in it.
    pub fn read(path: &Path, program: &Program) -> Result<Uses> {
        let hint =
            "write `sizes = [[64, 64], [4096, 4096]]` and `steps = [1, 100]`; docs/cli.md has all keys";
        listed::read(path, |source| Uses::parse(source, program), hint)
    }

    fn parse(source: &str, program: &Program) -> std::result::Result<Uses, String> {
        let file: File = toml::from_str(source).map_err(|error| error.to_string())?;
        let mut sizes = file.sizes;
        for range in &file.ranges {
            sizes.extend(range.sizes()?);
        }
        let threads = file.threads.unwrap_or_else(|| vec![usable_threads()]);
        let none =
            [(sizes.is_empty(), "sizes"), (file.steps.is_empty(), "steps"), (threads.is_empty(), "threads")];
        if let Some((_, what)) = none.into_iter().find(|(none, _)| *none) {
            return Err(format!("there are no {what}"));
        }
        for size in &sizes {
            execution::layout::grid_points(program, size).map_err(|error| error.to_string())?;
        }
        if let Some(steps) = file.steps.iter().find(|steps| !(1..=1_000_000_000_000).contains(*steps)) {
            return Err(format!("a number of steps is {steps}; it is 1 to 10^12"));
        }
        if let Some(threads) = threads.iter().find(|threads| !(1..=MOST_THREADS).contains(*threads)) {
            return Err(format!("a number of threads is {threads}; it is 1 to {MOST_THREADS}"));
        }
        if !(2..=MOST_TILINGS).contains(&file.tilings) {
            return Err(format!("tilings = {}: there are 2 to {MOST_TILINGS}", file.tilings));
        }
        let number = sizes.len().saturating_mul(file.steps.len()).saturating_mul(threads.len());
        if number > MOST_USES {
            return Err(format!(
                "sizes, steps and threads are {number} uses together; at most {MOST_USES} can be served"
            ));
        }
        let mut all = Vec::new();
        for size in &sizes {
            for &steps in &file.steps {
                all.extend(threads.iter().map(|&threads| Use { size: size.clone(), steps, threads }));
            }
        }
        all.dedup();
        Ok(Uses { all, tilings: file.tilings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> std::result::Result<Uses, String> {
        let heat = polyhedral::shipped::load("heat2d").ok_or("no heat2d")?;
        Uses::parse(source, &heat)
    }

    #[test]
    fn sizes_ranges_and_steps() {
        let uses = parse(
            "sizes = [[10, 20]]\nranges = [{ from = [32, 8], to = [8192, 8], count = 3 }]\nsteps = [1, 9]\nthreads = [2]",
        );
        let uses = uses.expect("uses");
        let names: Vec<String> = uses.all.iter().map(Use::name).collect();
        assert_eq!(names[0], "10x20, 1 step, 2 threads");
        assert_eq!(names[4], "512x8, 1 step, 2 threads");
        assert_eq!((names.len(), uses.tilings), (8, 4));
        assert_eq!(names[7], "8192x8, 9 steps, 2 threads");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (source, word) in [
            ("", "steps"),
            ("steps = [1]", "no sizes"),
            ("sizes = [[8, 8]]\nsteps = []", "no steps"),
            ("sizes = [[8]]\nsteps = [1]", "dimension"),
            ("sizes = [[8, 0]]\nsteps = [1]", "0"),
            ("sizes = [[8, 8]]\nsteps = [-1]", "-1"),
            ("sizes = [[8, 8]]\nsteps = [1]\nthreads = [0]", "threads is 0"),
            ("sizes = [[8, 8]]\nsteps = [1]\ntilings = 1", "2 to 8"),
            ("sizes = [[8, 8]]\nsteps = [1]\nsteeps = [2]", "steeps"),
            ("sizes = [[8, 8]\nsteps = [1]", "line"),
            ("ranges = [{ from = [8, 8], to = [9], count = 2 }]\nsteps = [1]", "different"),
            ("ranges = [{ from = [0, 8], to = [9, 8], count = 2 }]\nsteps = [1]", "at least 1"),
            ("ranges = [{ from = [8, 8], to = [9, 8], count = 1001 }]\nsteps = [1]", "1001"),
            (
                "ranges = [{ from = [8, 8], to = [99, 99], count = 90 }]\nsteps = [1,2,3,4,5,6,7,8,9,10,11,12]",
                "1080",
            ),
        ] {
            let problem = parse(source).expect_err(source);
            assert!(problem.contains(word), "{source}: {problem}");
        }
    }
}
