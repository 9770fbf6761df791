//! A stratified sample of the tile sizes of a strategy on a CPU.

use crate::sample::Random;
use cost_models::cpu::CpuTime;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::{CoreSpace, Products};
use hhc_codegen::counts::forms;
use hhc_codegen::strategy::Strategy;
use std::collections::BTreeSet;

/// About `number` tiles of a strategy; `seed` chooses. Where they are products of sizes, they are spread evenly over the
/// logarithms of all sizes (a Latin hypercube: each size takes each of its strata once).
pub fn stratified(
    model: &CpuTime,
    strategy: &'static dyn Strategy,
    number: usize,
    seed: u64,
) -> Vec<TileSizes> {
    let mut random = Random::new(seed);
    match forms(strategy).core_space(model.cores()) {
        CoreSpace::Products(space) => of_product(model, space.as_ref(), number, &mut random),
        CoreSpace::Each(mut tiles) => {
            shuffle(&mut tiles, &mut random);
            tiles.truncate(number);
            tiles
        }
    }
}

fn of_product(model: &CpuTime, space: &dyn Products, number: usize, random: &mut Random) -> Vec<TileSizes> {
    let extents = &model.cores().size;
    let inner_extents = &extents[1..];
    // Not cut is as much as the whole extent.
    let length = |size: i64, extent: i64| if size == 0 { extent } else { size };
    let inner_sizes: Vec<Vec<i64>> = (inner_extents.iter().enumerate())
        .map(|(at, &extent)| {
            let sizes: BTreeSet<i64> = space.inner_sizes().iter().map(|sizes| sizes[at]).collect();
            let mut sizes: Vec<i64> = sizes.into_iter().collect();
            sizes.sort_by_key(|&size| length(size, extent));
            sizes
        })
        .collect();
    let mut strata = |extent: f64| {
        let mut places: Vec<f64> = (0..number).map(|n| (n as f64 + random.next()) / number as f64).collect();
        shuffle(&mut places, random);
        places.into_iter().map(|place| extent.powf(place)).collect::<Vec<f64>>()
    };
    let nearest = |values: &[i64], wanted: f64, extent: i64| {
        let distance = |size: i64| (length(size, extent) as f64 / wanted).ln().abs();
        values.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    let deepest = space.depths().last().copied().unwrap_or(1);
    let widest = space.widths().iter().copied().max().unwrap_or(1);
    let (depths, widths) = (strata(deepest as f64), strata(widest as f64));
    let wanted: Vec<Vec<f64>> = inner_extents.iter().map(|&extent| strata(extent as f64)).collect();
    let tiles: BTreeSet<(i64, i64, [i64; 2])> = (0..number)
        .map(|n| {
            let depth = nearest(space.depths(), depths[n], 1);
            let width = nearest(&space.widths_of(depth), widths[n], widest);
            let mut inner = [0, 0];
            for (at, wanted) in wanted.iter().enumerate() {
                inner[at] = nearest(&inner_sizes[at], wanted[n], inner_extents[at]);
            }
            (depth, width, inner)
        })
        .collect();
    tiles.into_iter().map(|(depth, width, inner)| space.tile(depth, width, inner)).collect()
}

/// Puts values into an order that is as likely as any other.
fn shuffle<T>(values: &mut [T], random: &mut Random) {
    for n in (1..values.len()).rev() {
        let other = ((n + 1) as f64 * random.next()) as usize;
        values.swap(n, other.min(n));
    }
}
