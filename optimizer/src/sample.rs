//! A stratified sample of the tile sizes that fit a GPU.

use crate::family::{Axis, Family};
use crate::request::Request;
use hhc_codegen::TileSizes;

/// Draws for one stratum before it is given up.
const TRIES: usize = 400;

/// About `number` different tiles of the request's strategies that fit, spread over the logarithms of all sizes: the
/// families, lowest tiles first, take each of `number` strata in turn, so that low tiles and high ones are met, and the
/// other sizes are drawn until the tile fits. Strata in which nothing fits are left out. `seed` chooses.
pub fn stratified(request: &Request<'_>, number: usize, seed: u64) -> Vec<TileSizes> {
    let mut random = Random::new(seed);
    let feasible = request.families();
    let mut tiles: Vec<TileSizes> = Vec::new();
    let most = feasible.len() as f64;
    for stratum in 0..number {
        for _ in 0..TRIES {
            let place = most.powf((stratum as f64 + random.next()) / number as f64);
            let Some(family) = feasible.get((place as usize).clamp(1, feasible.len()) - 1) else { break };
            let sizes = family.axes.map(|axis| random.on(axis));
            let tile = family.tile(sizes);
            if !tiles.contains(&tile) && request.value(family, sizes, 1).is_some() {
                tiles.push(tile);
                break;
            }
        }
    }
    tiles
}

/// The largest number of resident tiles that fits; 1 where none does.
pub fn most_resident(request: &Request<'_>, family: &Family, sizes: [i64; 3]) -> i64 {
    let fits = |k: &i64| request.value(family, sizes, *k).is_some();
    (1..=request.model.hardware.blocks_per_sm).take_while(fits).last().unwrap_or(1)
}

/// Random numbers: xorshift64*, Vigna 2016.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Between 0 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A value of an axis, its logarithm evenly distributed.
    fn on(&mut self, axis: Axis) -> i64 {
        let (low, high) = (axis.first as f64, axis.at(axis.count - 1) as f64);
        let wanted = low * (high / low).powf(self.next());
        axis.at((((wanted - low) / axis.step as f64).round() as i64).clamp(0, axis.count - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cost_models::constants::TimeConstants;
    use cost_models::hardware::Hardware;
    use cost_models::machine::shipped;
    use cost_models::objective::Objective;
    use hhc_codegen::counts::Problem;
    use hhc_codegen::strategy;
    use std::sync::Arc;

    #[test]
    fn samples_fit_differ_and_are_spread() {
        for (stencil, size) in [("heat1d", &[1 << 20][..]), ("heat2d", &[4096, 4096]), ("heat3d", &[256; 3])]
        {
            let program = Arc::new(polyhedral::shipped::load(stencil).unwrap());
            let problem = Problem::new(&program, size, 200).unwrap();
            let machine = shipped("v100").unwrap().unwrap();
            let hardware = Hardware::of("v100", machine.gpu().unwrap());
            let time = TimeConstants::of(&problem, &machine).unwrap();
            let request =
                Request::new(&problem, &hardware, time, None, Objective::Time).only(strategy::all()[0]);
            let tiles = stratified(&request, 60, 1);
            assert!(tiles.len() >= 50, "{stencil}: {}", tiles.len());
            for (number, tile) in tiles.iter().enumerate() {
                assert!(!tiles[..number].contains(tile));
                let (family, sizes) = Family::of_tile(&problem, &hardware, strategy::all()[0], tile).unwrap();
                let k = most_resident(&request, &family, sizes);
                assert!(request.value(&family, sizes, k).is_some(), "{tile} k={k}");
                assert!(k == hardware.blocks_per_sm || request.value(&family, sizes, k + 1).is_none());
            }
            let heights: std::collections::BTreeSet<_> = tiles.iter().map(|tile| tile.get("st")).collect();
            assert!(heights.len() >= 3, "{stencil}: {heights:?}");
            assert_eq!(tiles, stratified(&request, 60, 1));
            assert_ne!(tiles, stratified(&request, 60, 2));
        }
    }
}
