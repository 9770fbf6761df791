//! Cores: one sweep over the whole grid per statement and time step. A call computes one box (a size of 0: the whole
//! dimension), in the same rows at once as any tile's. The busiest thread has the part `ceil(boxes / threads) / boxes` of
//! them.

use super::sizes::SIZES;
use crate::TileSizes;
use crate::counts::cores::{Cores, MAX_VARIANTS, RowCode, Sweep};
use crate::strategy::tile_space::LARGEST_SIZE;

/// The launches of one time step, for boxes of these sizes.
pub fn sweeps(cores: &Cores, sizes: [i64; 3]) -> Vec<Sweep> {
    cores.code.iter().map(|code| sweep(cores, code, sizes)).collect()
}

fn sweep(cores: &Cores, code: &RowCode, sizes: [i64; 3]) -> Sweep {
    let nothing = Sweep {
        share: 0.0,
        boxes: 0.0,
        runs: Vec::new(),
        pieces: 0.0,
        blocks: 0.0,
        short: 0.0,
        points: 0.0,
        sweep_bytes: code.sweep_bytes,
    };
    let domain = &code.domain;
    if domain.iter().any(|(low, high)| high <= low) {
        return nothing;
    }
    let boxes: f64 = (0..domain.len()).map(|d| cut(domain[d], sizes[d]).len() as f64).product();
    let last = cores.dimension() - 1;
    let (mut pieces, mut blocks, mut short) = (0.0, 0.0, 0.0);
    for (first, end) in cut(domain[last], sizes[last]) {
        if end - first < code.block && last > 0 {
            short += (end - first) as f64;
        } else {
            blocks += if last == 0 {
                (end - first + code.block - 1) as f64 / code.block as f64
            } else {
                ((end - first + first.rem_euclid(code.block)) as f64 / code.block as f64).ceil()
            };
        }
        pieces += 1.0;
    }
    let (mut runs, mut rows, mut middle) = (Vec::new(), 0.0, 1.0);
    if last == 0 {
        let (_, v) = code.variants[0];
        let mut of_piece = [0.0; MAX_VARIANTS];
        of_piece[v] = 1.0;
        runs.push(of_piece);
    } else {
        middle = if last == 2 { (domain[1].1 - domain[1].0) as f64 } else { 1.0 };
        for (first, end) in cut(domain[0], sizes[0]) {
            let mut rest = end - first;
            rows += rest as f64;
            let mut of_piece = [0.0; MAX_VARIANTS];
            for &(at_once, v) in &code.variants {
                of_piece[v] = (rest / at_once) as f64 * middle;
                rest %= at_once;
            }
            runs.push(of_piece);
        }
    }
    Sweep {
        share: (boxes / cores.threads as f64).ceil() / boxes,
        boxes,
        runs,
        pieces,
        blocks,
        short: rows * middle * short,
        points: code.points(),
        ..nothing
    }
}

/// The boxes that a search looks at.
pub fn tiles(cores: &Cores) -> Vec<TileSizes> {
    let dimension = cores.dimension();
    let mut tiles = vec![TileSizes::default()];
    for (d, name) in SIZES.into_iter().enumerate().take(dimension) {
        let with = |tile: &TileSizes| -> Vec<TileSizes> {
            lengths(cores, d).into_iter().map(|size| tile.clone().with(name, size)).collect()
        };
        tiles = tiles.iter().flat_map(with).collect();
    }
    tiles
}

/// Powers of two below the extent. The innermost dimension of several is not cut: rows only become shorter.
fn lengths(cores: &Cores, d: usize) -> Vec<i64> {
    if d > 0 && d + 1 == cores.dimension() {
        return vec![0];
    }
    let least = if cores.dimension() == 1 { cores.block() } else { 1 };
    let mut sizes: Vec<i64> = std::iter::successors(Some(least), |size| Some(2 * size))
        .take_while(|&size| size < cores.size[d] && size <= LARGEST_SIZE)
        .collect();
    sizes.push(0);
    sizes
}

/// The pieces, half open, into which multiples of `size` cut a half-open range; 0 does not cut.
fn cut((low, high): (i64, i64), size: i64) -> Vec<(i64, i64)> {
    if size == 0 {
        return vec![(low, high)];
    }
    (low.div_euclid(size)..=(high - 1).div_euclid(size))
        .map(|block| ((block * size).max(low), ((block + 1) * size).min(high)))
        .collect()
}
