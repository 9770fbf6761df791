//! A whole run: launches and blocks of which one stands for many.

use super::block::{Blocks, Share, middle_of};
use crate::error::Result;
use execution::launches::PlannedLaunch;
use rayon::prelude::*;

/// Places at an end of a loop that are looked at one by one, at most, before those in the middle.
const MOST_EDGES: usize = 6;

/// What a kernel does in a launch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Launched {
    /// Sums over all blocks.
    pub all: Share,
    /// The block in the middle.
    pub middle: Share,
    /// What the block issues that issues the most.
    pub most: f64,
}

impl Launched {
    /// What the block issues that issues the most, over the mean of all.
    pub fn imbalance(&self) -> f64 {
        let mean = self.all.totals.instructions() / self.all.blocks.max(1.0);
        if mean > 0.0 { self.most / mean } else { 1.0 }
    }
}

/// A launch that stands for several.
#[derive(Debug, Clone, Copy)]
pub struct Class {
    /// How many it stands for.
    pub times: f64,
    /// Whether it is one of those in the middle of the run.
    pub steady: bool,
    /// What happens in one of them.
    pub launched: Launched,
}

/// The launches of a kernel, in classes of those that do the same.
///
/// # Errors
/// Machine code that cannot be counted.
pub fn classes(blocks: &Blocks<'_>, launches: &[PlannedLaunch]) -> Result<Vec<Class>> {
    let middle = |number: usize| {
        let launch: &PlannedLaunch = &launches[number];
        Ok((launch.grid, blocks.share(launch, middle_of(launch.grid))?))
    };
    let same = |a: &([u32; 3], Share), b: &([u32; 3], Share)| a.0 == b.0 && a.1.does_the_same(&b.1);
    let places = places(launches.len(), middle, same)?;
    let Some(usual) = places.iter().find(|place| place.steady).map(|place| &launches[place.at]) else {
        return Ok(Vec::new());
    };
    // What blocks have in common with their neighbours hardly depends on the time steps.
    let fresh = blocks.fresh(usual, middle_of(usual.grid))?;
    places
        .into_par_iter()
        .map(|Place { at, times, steady }| {
            let launched = launched(blocks, &launches[at], fresh)?;
            Ok(Class { times: times as f64, steady, launched })
        })
        .collect()
}

/// All blocks of a launch: along each axis, those at the ends one by one, and one for all in the middle.
fn launched(blocks: &Blocks<'_>, launch: &PlannedLaunch, fresh: (f64, f64)) -> Result<Launched> {
    let middle = middle_of(launch.grid);
    let mut axes = Vec::new();
    for axis in 0..3 {
        let share = |number: usize| {
            let mut block = middle;
            block[axis] = number as u32;
            blocks.share(launch, block)
        };
        axes.push(places(launch.grid[axis] as usize, share, Share::does_the_same)?);
    }
    let mut result = Launched { middle: blocks.share(launch, middle)?, ..Launched::default() };
    for z in &axes[2] {
        for y in &axes[1] {
            for x in &axes[0] {
                let block = [x.at as u32, y.at as u32, z.at as u32];
                let share = if block == middle { result.middle } else { blocks.share(launch, block)? };
                result.all.add(&share, (x.times * y.times * z.times) as f64);
                result.most = result.most.max(share.totals.instructions());
            }
        }
    }
    for share in [&mut result.all, &mut result.middle] {
        share.sectors_read *= fresh.0;
        share.sectors_written *= fresh.1;
    }
    Ok(result)
}

/// A place in a row of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    at: usize,
    /// How many it stands for.
    times: usize,
    /// Whether it lies in the middle.
    steady: bool,
}

/// Places from both ends on up to those that are as the one in the middle is, which stands for the rest.
fn places<T>(
    count: usize,
    mut look: impl FnMut(usize) -> Result<T>,
    same: impl Fn(&T, &T) -> bool,
) -> Result<Vec<Place>> {
    let alone = |at| Place { at, times: 1, steady: false };
    if count == 0 {
        return Ok(Vec::new());
    }
    let middle = count / 2;
    let usual = look(middle)?;
    let mut low = 0;
    while low < middle.min(MOST_EDGES) && !same(&look(low)?, &usual) {
        low += 1;
    }
    let mut high = 0;
    while high < (count - 1 - middle).min(MOST_EDGES) && !same(&look(count - 1 - high)?, &usual) {
        high += 1;
    }
    let rest = Place { at: middle, times: count - low - high, steady: true };
    Ok((0..low).map(alone).chain([rest]).chain((count - high..count).map(alone)).collect())
}

/// Sums over launches.
pub fn sum<'a>(classes: impl Iterator<Item = &'a Class>) -> Share {
    classes.fold(Share::default(), |mut sum, class| {
        sum.add(&class.launched.all, class.times);
        sum
    })
}

/// What the blocks issue that issue the most of their launches, over the mean of all, over launches.
pub fn imbalance<'a>(classes: impl Iterator<Item = &'a Class>) -> f64 {
    let (most, mean) = classes.fold((0.0, 0.0), |(most, mean), Class { times, launched, .. }| {
        let blocks = launched.all.blocks.max(1.0);
        (most + times * launched.most, mean + times * launched.all.totals.instructions() / blocks)
    });
    if mean > 0.0 { most / mean } else { 1.0 }
}

/// What a launch asks of the busiest multiprocessor, in place of its equal share: blocks are whole.
pub fn stretch(blocks: f64, multiprocessors: f64) -> f64 {
    if blocks > 0.0 { (blocks / multiprocessors).ceil() * multiprocessors / blocks } else { 1.0 }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn ends_are_looked_at_one_by_one() {
        let values = [3, 5, 1, 1, 1, 1, 1, 7];
        let found = places(values.len(), |at| Ok(values[at]), |a, b| a == b).unwrap();
        let found: Vec<_> = found.iter().map(|place| (place.at, place.times, place.steady)).collect();
        assert_eq!(found, [(0, 1, false), (1, 1, false), (4, 5, true), (7, 1, false)]);
        assert_eq!(places(1, |_| Ok(1), |a, b| a == b).unwrap().len(), 1);
        assert!(places(0, |_| Ok(1), |a, b| a == b).unwrap().is_empty());
        assert_eq!((stretch(391.0, 132.0), stretch(86.0, 132.0)), (396.0 / 391.0, 132.0 / 86.0));
    }
}
