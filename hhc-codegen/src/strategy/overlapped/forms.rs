//! Counts of overlapped tiles, in closed form: sums over the rows of the block in the middle of a launch, for each length that
//! bands have. All tiles of a list are looked at.

use super::block::{Block, Ran, volume};
use super::sizes::{NAME, NAMES, space};
use super::zone::Zone;
use crate::TileSizes;
use crate::counts::accounting::Accounting;
use crate::counts::candidates::{Candidates, Limits, Run, Tabulated};
use crate::counts::cores::{CoreCounts, CoreSpace, Cores, Inner, Outer, RowCode};
use crate::counts::forms::{Family, Forms};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::{TileCounts, share_out};
use crate::counts::work::TileWork;
use crate::geometry::{
    ADDRESS_REGISTERS, MOST_OWN_BYTES, Threads, operand_registers, register_bound, storage_bytes,
};
use crate::strategy::listed::Listed;
use crate::strategy::on_cores::{self, OnCores};
use crate::strategy::pieces::{Pieces, add_boxes};
use crate::strategy::streams::{points, words_of_coefficients};
use polyhedral::program::FieldRole;
use std::collections::BTreeMap;

/// Values of the sizes that a search on multiprocessors looks at: steps, and points along the slowest dimensions and the last.
const STEPS: [i64; 7] = [1, 2, 3, 4, 6, 8, 12];
const OUTER: [i64; 5] = [4, 8, 16, 32, 64];
const INNER: [i64; 5] = [16, 32, 64, 128, 256];
/// Points of a line in one dimension.
const LINE: [i64; 6] = [128, 256, 512, 1024, 2048, 4096];

/// The forms on cores.
const ON_CORES: OnCores = OnCores {
    strategy: NAME,
    space,
    listed: on_cores::Listed {
        steps: [&[1, 4, 8, 16, 32, 64, 128], &[1, 2, 4, 6, 8, 12, 16, 24, 32], &[1, 2, 3, 4, 6, 8]],
        points: [[(512, 32_768); 2], [(8, 256), (64, 2048)], [(4, 64), (32, 512)]],
    },
    counts: counts_on_cores,
};

/// The forms of the strategy.
pub(super) struct OfZones {
    pub(super) on_multiprocessors: Listed,
}

impl Forms for OfZones {
    fn families(&self, problem: &Problem, on: &Multiprocessor, most_height: Option<i64>) -> Vec<Family> {
        self.on_multiprocessors.families(problem, on, most_height)
    }

    fn smallest(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        most_height: Option<i64>,
    ) -> Option<(Family, [i64; 3])> {
        self.on_multiprocessors.smallest(problem, on, most_height)
    }

    fn of_tile(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        tile: &TileSizes,
    ) -> Result<(Family, [i64; 3]), String> {
        self.on_multiprocessors.of_tile(problem, on, tile)
    }

    fn tabulated(&self) -> Option<Tabulated> {
        self.on_multiprocessors.tabulated()
    }

    fn candidates(
        &self,
        problem: &Problem,
        runs: &[Run],
        limits: Limits,
        on: &Multiprocessor,
    ) -> Vec<Box<dyn Candidates>> {
        self.on_multiprocessors.candidates(problem, runs, limits, on)
    }

    fn core_space(&self, cores: &Cores) -> CoreSpace {
        ON_CORES.core_space(cores)
    }

    fn on_cores(&self, cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
        ON_CORES.on_cores(cores, tile)
    }
}

fn tile_of(sizes: &[i64]) -> TileSizes {
    TileSizes::new(NAMES.into_iter().zip(sizes.iter().copied()))
}

/// The tile of least memory.
pub(super) fn smallest(problem: &Problem) -> Option<TileSizes> {
    let mut sizes = vec![1; problem.dimension() + 1];
    *sizes.last_mut()? = 32;
    Some(tile_of(&sizes))
}

/// The tiles that a search looks at: no higher than the steps, no wider than the grid unless nothing is narrower.
pub(super) fn tiles(problem: &Problem) -> Vec<TileSizes> {
    let last = problem.dimension() - 1;
    let along = |d: usize| -> &[i64] {
        match (last, d == last) {
            (0, _) => &LINE,
            (_, true) => &INNER,
            _ => &OUTER,
        }
    };
    let mut tiles: Vec<Vec<i64>> =
        STEPS.into_iter().filter(|&steps| steps <= problem.steps.max(1)).map(|steps| vec![steps]).collect();
    for d in 0..=last {
        let narrow = |&&width: &&i64| width == along(d)[0] || width < 2 * problem.extent(d);
        let with = |tile: &Vec<i64>| -> Vec<Vec<i64>> {
            let widths = along(d).iter().filter(narrow);
            widths.map(|&width| tile.iter().copied().chain([width]).collect()).collect()
        };
        tiles = tiles.iter().flat_map(with).collect();
    }
    tiles.iter().map(|sizes| tile_of(sizes)).collect()
}

/// The counts of each length that bands have, the longest first, and what the warps execute.
pub(super) fn counts(
    problem: &Problem,
    on: &Multiprocessor,
    tile: &TileSizes,
) -> Result<Vec<(TileCounts, TileWork)>, String> {
    let program = &problem.program;
    let zone = Zone::new(program, &problem.cone, tile);
    let block = Block::new(&zone, &problem.size);
    if block.blocks == 0 {
        return Err("there is no point to compute".to_owned());
    }
    let tile_bytes = storage_bytes(program, &zone.storages());
    let threads: i64 = threads(&zone, on.threads_per_block).iter().product();
    let operands = (0..program.statements.len()).map(|k| operand_registers(program, k, 1)).max();
    let bound = register_bound(threads, on.registers_per_sm, on.registers_per_thread);
    let registers = (operands.unwrap_or(0) as i64 + ADDRESS_REGISTERS).min(bound);
    let of_length = |(length, bands): (i64, i64)| {
        let mut counts = TileCounts {
            wavefronts: bands,
            tiles_per_wavefront: block.blocks,
            tiles: bands * block.blocks,
            sub_tiles: 1,
            tile_bytes,
            threads,
            registers,
            word_bytes: problem.element().bytes() as i64,
            barriers: block.barriers(length),
            ..TileCounts::default()
        };
        let mut own_points = vec![0; program.statements.len()];
        block.for_each(length, &mut |ran| match ran {
            Ran::Row(k, bounds, own) => {
                let computed = volume(bounds);
                counts.rows += 1;
                counts.iterations += own;
                counts.copies += computed - own;
                counts.lane_rounds += (computed + on.lanes - 1) / on.lanes;
                counts.fast_words += computed * (program.statements[*k].reads.len() as i64 + 1);
                let mut widths = [1; 3];
                widths.iter_mut().zip(bounds).for_each(|(width, &side)| *width = points(side));
                counts.words_in += words_of_coefficients(program, *k, widths);
                own_points[*k] += own;
            }
            Ran::Load(_, words) => counts.words_in += words,
            Ran::Store(_, words) => counts.words_out += words,
        });
        (counts, own_points)
    };
    let mut found: Vec<(TileCounts, Vec<i64>)> =
        zone.bands.by_length(problem.steps).into_iter().map(of_length).collect();
    for k in 0..program.statements.len() {
        let domain = program.domain(k, &problem.size);
        let total = problem.steps * domain.iter().map(|(low, end)| (end - low).max(0)).product::<i64>();
        let computed: Vec<i128> =
            found.iter().map(|(counts, own)| i128::from(counts.tiles) * i128::from(own[k])).collect();
        let shares = share_out(total, &computed);
        found.iter_mut().zip(shares).for_each(|((counts, _), share)| counts.total_iterations += share);
    }
    let accounting = Accounting::new(problem);
    Ok(found.into_iter().map(|(counts, _)| (counts, accounting.of_counts(&counts, on.lanes))).collect())
}

/// The rows of each length that bands have, in the order of [`counts`]: points with those of ghost zones, and how many rows have so
/// many.
pub(super) fn rows(problem: &Problem, tile: &TileSizes) -> Vec<Vec<(i64, i64)>> {
    let zone = Zone::new(&problem.program, &problem.cone, tile);
    let block = Block::new(&zone, &problem.size);
    let of_length = |(length, _): (i64, i64)| {
        let mut rows = BTreeMap::new();
        block.for_each(length, &mut |ran| {
            if let Ran::Row(_, bounds, _) = ran {
                *rows.entry(volume(bounds)).or_insert(0) += 1;
            }
        });
        rows.into_iter().collect()
    };
    zone.bands.by_length(problem.steps).into_iter().map(of_length).collect()
}

/// Threads by the row in the middle of a band, in a tile that nothing cuts.
fn threads(zone: &Zone<'_>, limit: i64) -> [i64; 3] {
    let after = (zone.bands.depth - (zone.bands.depth - 1) / 2) * zone.statements - 1;
    let width = |d: usize| {
        let (below, above) = zone.grown(d, after);
        below + zone.widths[d] + above
    };
    let widths: Vec<i64> = (0..zone.widths.len()).map(width).collect();
    Threads::rule(&widths, 2 * widths[0], limit)
}

/// What the busiest thread does: blocks of a launch spread evenly; rows one line after the other, transfers as sweeps over what
/// they read and write.
fn counts_on_cores(cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
    let program = &*cores.program;
    let zone = Zone::new(program, &cores.cone, tile);
    let own_bytes = zone.bytes();
    if own_bytes > MOST_OWN_BYTES {
        return Err(format!(
            "its storages need {own_bytes} bytes, and a thread may have {MOST_OWN_BYTES} of its own"
        ));
    }
    let block = Block::new(&zone, &cores.size);
    let mut total = Outer::default();
    if block.blocks > 0 {
        let tiles = (block.blocks as f64 / cores.threads as f64).ceil();
        for (length, bands) in zone.bands.by_length(cores.steps) {
            total.add(&of_block(&block, length, cores), bands as f64 * tiles);
            total.wavefronts += bands as f64;
        }
    }
    total.extent = if total.swept > 0.0 { own_bytes as f64 / cores.stored_bytes.max(1.0) } else { 0.0 };
    Ok(CoreCounts::Tiles(total, Inner::ONCE))
}

/// One block of a band of so many steps.
fn of_block(block: &Block<'_>, length: i64, cores: &Cores) -> Outer {
    let program = &cores.program;
    let mut sum = Outer::default();
    // Bytes of each level of a coefficient: as many as the largest row reads, the first time.
    let mut read: BTreeMap<_, f64> = BTreeMap::new();
    block.for_each(length, &mut |ran| match ran {
        Ran::Row(k, bounds, _) => {
            let code = &cores.code[*k];
            let single = RowCode {
                variants: code.variants.iter().copied().filter(|(at_once, _)| *at_once == 1).collect(),
                domain: code.domain.clone(),
                ..*code
            };
            let points = volume(bounds) as f64;
            sum.swept += points * code.sweep_bytes;
            let pieces: Vec<Pieces> = bounds.iter().map(|&side| Pieces::whole(side)).collect();
            add_boxes(&pieces, &single, &mut sum);
            for access in &program.statements[*k].reads {
                let field = program.field(access.field);
                if field.role == FieldRole::Coefficient {
                    let most: &mut f64 = read.entry((*k, access.field, access.time)).or_default();
                    *most = most.max(points * field.element.bytes() as f64);
                }
            }
        }
        Ran::Load(field, words) | Ran::Store(field, words) => {
            let moved = *words as f64 * program.field(*field).element.bytes() as f64;
            let ways = if matches!(ran, Ran::Load(..)) { 1.0 } else { 2.0 };
            sum.calls += 1.0;
            sum.swept += 3.0 * moved;
            sum.touched += ways * moved;
        }
    });
    sum.touched += read.values().sum::<f64>();
    sum
}
