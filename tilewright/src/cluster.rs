//! A program on many ranks of MPI, each with a computer of its own, by the models: how the grid is cut, how deep ghost zones
//! are, and which tile a rank has, all together; what that takes, and how it scales.
//!
//! A band of `k` steps on the rank with the most points and neighbours takes
//!
//! ```text
//! blocking     T(box + ghosts, k) + messages + packing
//! overlapped   max(T(what needs no ghosts, k), messages) + T(what lies beyond it at each side, k) + packing
//! messages     latency * (messages of the rank) + bytes / bandwidth
//! packing      4 * bytes through memory: read and written at either end
//! ```
//!
//! where `T` is the time model of a CPU. Where ranks compute each point once, it is taken for the box in which a part lies, times the share of
//! its points that the part has, which changes from step to step. The tile is the best one for the box with ghost zones of a usual depth; with it the depth is chosen, and
//! for that depth the tile again. So that redundant work and rows of ghost zones
//! cost what they cost there.

use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::model::{Model, Residence};
use crate::ranks::{Exchange, as_planes, exchange, exchange_once, ghosts, products, stride};
use crate::{strategies, text};
use cost_models::machine::{Machine, Network};
use hhc_codegen::TileSizes;
use hhc_codegen::backend::openmp;
use hhc_codegen::strategy::Strategy;
use optimizer::{Method, Objective};
use polyhedral::ghost::Ghosts;
use polyhedral::program::{FieldRole, Program};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::HashMap;

/// Decompositions that are looked at in full: those whose ranks have the least ghost zones.
const DECOMPOSITIONS: usize = 3;
/// The same where the choice is what was asked for.
const DECOMPOSITIONS_TO_TUNE: usize = 16;
/// Depths of a decomposition whose own tiles are looked at then.
const TILES_TO_TUNE: usize = 4;
/// The deepest ghost zones that are looked at.
const DEEPEST: i64 = 4096;
/// The depth that the first tile is for.
const USUAL_DEPTH: i64 = 16;
/// Tiles for more steps are not searched: there are four times as many for 1000 steps as for 16 in the plane, and those are no faster per step by the model.
const DEEPEST_TILE: i64 = 64;

/// A tile of a rank.
#[derive(Clone)]
struct Tiled {
    strategy: &'static dyn Strategy,
    tile: TileSizes,
    /// Whether ranks with it compute each point once.
    once: bool,
}

/// A program on computers that are alike and have a network.
pub struct Cluster<'a> {
    stencil: &'a Stencil,
    machine: &'a Machine,
    network: &'a Network,
    ghosts: Ghosts,
    strategy: &'a str,
    depth: Option<i64>,
    /// Seconds of packing per byte of a message.
    packing: f64,
    /// Tiles that were chosen, by box and depth: the inner ranks of many grids are alike.
    tiles: RefCell<HashMap<(Vec<i64>, i64), Tiled>>,
}

/// A program on so many ranks.
#[derive(Debug, Clone, Serialize)]
pub struct OnCluster {
    /// Ranks.
    pub ranks: i64,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Ranks per dimension.
    pub counts: Vec<i64>,
    /// Steps between two exchanges.
    pub depth: i64,
    /// Whether computing while messages are under way is predicted to pay; else `--blocking`.
    pub overlapped: bool,
    /// Strategy of a rank's tiles.
    pub strategy: &'static str,
    /// Their sizes.
    pub tile: String,
    /// Time of all steps.
    pub seconds: f64,
    /// Of it, the own points, as if there were no ghost zones.
    pub compute_s: f64,
    /// Points of ghost zones.
    pub redundant_s: f64,
    /// Messages, as far as nothing is computed meanwhile.
    pub exchange_s: f64,
    /// Packing and unpacking.
    pub packing_s: f64,
    /// Points of the largest box over the mean.
    pub imbalance: f64,
    /// Bytes of a rank's arrays, ghost zones and padding included.
    pub memory_bytes: u64,
    /// What all ranks send.
    pub sent: Exchange,
}

/// How the time changes with the number of ranks.
#[derive(Debug, Clone, Serialize)]
pub struct Scaling {
    /// The same grid on more and more ranks; those that have no room for it are left out.
    pub strong: Vec<Scaled>,
    /// A grid of that size for each rank.
    pub weak: Vec<Scaled>,
}

/// A number of ranks among others.
#[derive(Debug, Clone, Serialize)]
pub struct Scaled {
    /// What it takes.
    #[serde(flatten)]
    pub own: OnCluster,
    /// Points per rank and second over those of one rank.
    pub efficiency: f64,
}

/// What a part of a box has of a dimension.
#[derive(Clone, Copy)]
enum Region {
    /// What needs no ghosts: less with each step.
    Middle,
    /// What lies beyond it at one side.
    Beyond(usize),
    /// All of it, with the ghosts that are still right.
    Wide,
}

/// A box of the rank with the most of everything.
struct Cut {
    counts: Vec<i64>,
    own: Vec<i64>,
    /// Whether there are ghost points below and above.
    sides: Vec<[bool; 2]>,
}

impl<'a> Cluster<'a> {
    /// Brings a program and computers together; `depth` where it is given.
    ///
    /// # Errors
    /// A program that cannot be spread; a machine without network or calibration.
    pub fn new(
        stencil: &'a Stencil,
        machine: &'a Machine,
        strategy: &'a str,
        depth: Option<i64>,
    ) -> Result<Cluster<'a>> {
        let Some(cpu) = machine.cpu() else {
            let message = format!("machine `{}` is a GPU, and ranks of MPI run OpenMP C", machine.name);
            return Err(Error::infeasible(message).hint("name a machine of kind cpu"));
        };
        let Some(network) = &machine.network else {
            let message = format!("machine `{}` has no table [network]: what a message costs", machine.name);
            return Err(Error::infeasible(message).hint(
                "measure it with mpirun -n 2 tilewright calibrate --mpi --machine FILE -o FILE, or write \
                 latency_s, bandwidth_bytes_per_s, provenance and source",
            ));
        };
        let Some(calibration) = &machine.calibration else {
            return Err(Error::infeasible(format!("machine `{}` is not calibrated", machine.name)));
        };
        // Four passes of each byte through memory by all cores together.
        let packing = calibration.l_s_per_word.value / cpu.cores as f64;
        let ghosts = ghosts(&stencil.program)?;
        let tiles = RefCell::default();
        Ok(Cluster { stencil, machine, network, ghosts, strategy, depth, packing, tiles })
    }

    /// The computers.
    pub fn machine(&self) -> &Machine {
        self.machine
    }

    /// What is between them.
    pub fn network(&self) -> &Network {
        self.network
    }

    /// Seconds of packing and unpacking a byte, at both ends.
    pub fn packing(&self) -> f64 {
        self.packing
    }

    fn program(&self) -> &Program {
        &self.stencil.program
    }

    /// The best decomposition, depth and tile for so many ranks.
    ///
    /// # Errors
    /// No decomposition fits, with the most ranks that do.
    pub fn predict(&self, size: &[i64], steps: i64, ranks: i64) -> Result<OnCluster> {
        self.best_of(DECOMPOSITIONS, size, steps, ranks)
    }

    /// Each decomposition with the depth and the tile that suit it, the fastest first: all of them, or, where there are more than
    /// 16, those whose ranks have the least ghost zones.
    ///
    /// # Errors
    /// As for [`Cluster::predict`].
    pub fn tune(&self, size: &[i64], steps: i64, ranks: i64) -> Result<Vec<OnCluster>> {
        self.best_first(DECOMPOSITIONS_TO_TUNE, TILES_TO_TUNE, size, steps, ranks)
    }

    fn best_of(&self, decompositions: usize, size: &[i64], steps: i64, ranks: i64) -> Result<OnCluster> {
        let best = self.best_first(decompositions, 1, size, steps, ranks)?.into_iter().next();
        best.ok_or_else(|| Error::internal("no decomposition was looked at"))
    }

    fn best_first(
        &self,
        decompositions: usize,
        tiles: usize,
        size: &[i64],
        steps: i64,
        ranks: i64,
    ) -> Result<Vec<OnCluster>> {
        execution::layout::grid_points(self.program(), size)?;
        let mut cuts: Vec<(f64, Cut)> = products(ranks, size.len())
            .into_iter()
            .filter(|counts| self.deepest(size, counts) >= self.depth.unwrap_or(1))
            .map(|counts| self.cut(size, counts))
            .map(|cut| (self.wide(&cut, 1).iter().map(|&extent| extent as f64).product(), cut))
            .collect();
        if cuts.is_empty() {
            let fits = |ranks: &i64| {
                products(*ranks, size.len())
                    .iter()
                    .any(|counts| self.deepest(size, counts) >= self.depth.unwrap_or(1))
            };
            let fewer = (1..ranks).rev().take(4096).find(fits);
            return Err(Error::infeasible(format!(
                "a grid of {} points cannot be cut for {ranks} ranks",
                text::size(size)
            ))
            .maybe_hint(fewer.map(|ranks| format!("{ranks} ranks would work"))));
        }
        cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
        cuts.truncate(decompositions);
        let mut all =
            cuts.iter().map(|(_, cut)| self.chosen(size, steps, cut, tiles)).collect::<Result<Vec<_>>>()?;
        all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Ok(all)
    }

    /// The best depth and tile of a decomposition: of all depths with one tile, so many of the best get tiles of their own.
    fn chosen(&self, size: &[i64], steps: i64, cut: &Cut, tiles: usize) -> Result<OnCluster> {
        let depths = self.depths(size, &cut.counts, steps);
        let deepest = depths.last().copied().unwrap_or(1);
        let first = self.tile(cut, deepest.min(USUAL_DEPTH))?;
        let of = |depth: i64| self.of(size, steps, cut, depth, &first);
        let mut all = depths.into_iter().map(of).collect::<Result<Vec<_>>>()?;
        all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        all.truncate(tiles);
        for at in 0..all.len() {
            let depth = all[at].depth;
            let again = self.of(size, steps, cut, depth, &self.tile(cut, depth)?)?;
            all.push(again);
        }
        let best = all.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        best.ok_or_else(|| Error::internal("no depth was looked at"))
    }

    /// The best tile for a box with ghost zones so deep, among those for no more than [`DEEPEST_TILE`] steps.
    fn tile(&self, cut: &Cut, k: i64) -> Result<Tiled> {
        let k = k.min(DEEPEST_TILE);
        let key = (self.wide(cut, k), k);
        if let Some(tiled) = self.tiles.borrow().get(&key) {
            return Ok(tiled.clone());
        }
        let model = Model::new(self.stencil, &key.0, k, self.machine.clone(), None)?;
        let choice = model.tune(self.strategy, Method::Exact, Objective::Time)?.tuned.choice;
        let (strategy, tile) = (strategies::named(choice.strategy)?, choice.tile);
        let analysis = self.stencil.analysis()?;
        let plan = hhc_codegen::strategy::plan(strategy, &self.stencil.program, &analysis.cone, &tile);
        let once = plan.is_ok_and(|plan| openmp::ranks_compute_once(&plan));
        let tiled = Tiled { strategy, tile, once };
        self.tiles.borrow_mut().insert(key, tiled.clone());
        Ok(tiled)
    }

    /// The same for 1, 2, 4, .. and so many ranks.
    ///
    /// # Errors
    /// As for [`Cluster::predict`], of one rank.
    pub fn scaling(&self, size: &[i64], steps: i64, most: i64) -> Result<Scaling> {
        let mut counts: Vec<i64> = std::iter::successors(Some(1), |count| Some(2 * count))
            .take_while(|&count| count < most)
            .collect();
        counts.push(most);
        let alone = self.predict(size, steps, 1)?;
        let scaled =
            |own: OnCluster, more: f64| Scaled { efficiency: alone.seconds * more / own.seconds, own };
        let on = |size: &[i64], ranks: i64, decompositions: usize| match ranks {
            1 => Some(alone.clone()),
            _ => self.best_of(decompositions, size, steps, ranks).ok(),
        };
        // The last one is the answer itself.
        let strong = (counts.iter())
            .filter_map(|&ranks| on(size, ranks, if ranks == most { DECOMPOSITIONS } else { 1 }))
            .map(|own| scaled(own.clone(), 1.0 / own.ranks as f64))
            .collect();
        let mut weak = Vec::new();
        for &ranks in &counts {
            // As near to a cube of boxes as the number allows.
            let spread = products(ranks, size.len())
                .into_iter()
                .min_by_key(|counts| counts.iter().max().copied().unwrap_or(1));
            let grid: Vec<i64> =
                spread.iter().flatten().zip(size).map(|(count, extent)| count * extent).collect();
            if let Some(own) = on(&grid, ranks, 1) {
                weak.push(scaled(own, 1.0));
            }
        }
        Ok(Scaling { strong, weak })
    }

    /// The steps that ghost zones can be deep; as `tw_deepest` of the library.
    fn deepest(&self, size: &[i64], counts: &[i64]) -> i64 {
        let program = self.program();
        let mut deepest = i64::MAX;
        for (d, (&extent, &count)) in size.iter().zip(counts).enumerate() {
            if count == 1 && !program.periodic[d] {
                continue;
            }
            let least = extent / count;
            let ([below, above], frame) = (self.ghosts.reach[d], self.ghosts.frame[d]);
            let ghosts = if program.periodic[d] { below + above } else { below.min(above) };
            if least < 1 || least < frame[0].max(frame[1]) || least + ghosts < program.least_size[d] {
                return 0;
            }
            for (reach, frame) in [(below, frame[0]), (above, frame[1])].into_iter().filter(|own| own.0 > 0) {
                deepest = deepest.min((least - frame) / reach);
            }
        }
        deepest
    }

    fn cut(&self, size: &[i64], counts: Vec<i64>) -> Cut {
        let own = size.iter().zip(&counts).map(|(extent, count)| (extent + count - 1) / count).collect();
        let sides = counts
            .iter()
            .zip(&self.program().periodic)
            .map(|(&count, &periodic)| [periodic || count > 1, periodic || count > 2])
            .collect();
        Cut { counts, own, sides }
    }

    /// Ghost points below and above for `k` steps.
    fn ghost(&self, cut: &Cut, d: usize, k: i64) -> i64 {
        let depth = self.ghosts.depth(d, k);
        (0..2).filter(|&side| cut.sides[d][side]).map(|side| depth[side]).sum()
    }

    fn wide(&self, cut: &Cut, k: i64) -> Vec<i64> {
        cut.own.iter().enumerate().map(|(d, own)| own + self.ghost(cut, d, k)).collect()
    }

    /// Depths that are looked at.
    fn depths(&self, size: &[i64], counts: &[i64], steps: i64) -> Vec<i64> {
        if let Some(depth) = self.depth {
            return vec![depth];
        }
        let most = self.deepest(size, counts).min(steps).clamp(1, DEEPEST);
        if counts.iter().all(|&count| count == 1) && !self.program().is_periodic() {
            return vec![steps.max(1)];
        }
        let powers =
            std::iter::successors(Some(1), |depth| Some(2 * depth)).take_while(|&depth| depth < most);
        powers.chain([most]).collect()
    }

    /// Seconds of `k` steps of a box.
    fn seconds(&self, own: &[i64], k: i64, tiled: &Tiled) -> Result<f64> {
        let model = Model::new(self.stencil, own, k, self.machine.clone(), None)?;
        Ok(model.cost(tiled.strategy, &tiled.tile, Residence::Best)?.0.prediction.seconds)
    }

    fn of(&self, size: &[i64], steps: i64, cut: &Cut, k: i64, tiled: &Tiled) -> Result<OnCluster> {
        let program = self.program();
        let wide = self.wide(cut, k);
        let points = |extents: &[i64]| extents.iter().map(|&extent| extent as f64).product::<f64>();
        let all = self.seconds(&wide, k, tiled)?;
        let cut_off = wide != cut.own;
        let own = if cut_off { self.seconds(&cut.own, k, tiled).unwrap_or(all).min(all) } else { all };
        let of_state = |field: &polyhedral::program::Field| match field.role {
            FieldRole::State { levels, .. } => (levels * field.element.bytes()) as f64,
            FieldRole::Coefficient => 0.0,
        };
        let planes = as_planes(program, &cut.counts);
        let of_points = |extents: &[i64]| match planes {
            true => (extents[0] * stride(extents)) as f64,
            false => points(extents),
        };
        let bytes =
            (of_points(&wide) - of_points(&cut.own)) * program.fields.iter().map(of_state).sum::<f64>();
        let (mut directions, mut local) = (1.0, 1.0);
        for (sides, &count) in cut.sides.iter().zip(&cut.counts) {
            let ways = 1.0 + sides.iter().filter(|&&side| side).count() as f64;
            directions *= ways;
            local *= if count == 1 { ways } else { 1.0 };
        }
        let messages = directions - local;
        let network = if messages > 0.0 { self.network.seconds(messages, bytes) } else { 0.0 };
        // Planes are sent and received where they lie; while points are computed, a copy is sent.
        let (packing, packed) = (bytes * self.packing, if planes { [0.0, 0.5] } else { [1.0, 1.0] });
        // Of the ghosts' time, the share that is computed before they are wrong.
        let ghosts = match tiled.once {
            true => (all - own) * self.share_of_ghosts(cut, k, &wide),
            false => all - own,
        };
        let blocking = (ghosts, network, packing * packed[0]);
        let packing = packing * packed[1];
        let overlapped = match tiled.once {
            true => self
                .parts(cut, k, tiled)?
                .map(|(middle, beyond)| (middle + beyond - own, (network - middle).max(0.0), packing)),
            // The core in place, then strips with ghosts on both of their long sides.
            false => self
                .strips(cut, k, tiled)?
                .map(|(seconds, moved)| (seconds, (network - own).max(0.0), packing + moved * self.packing)),
        };
        let total = |(redundant, messages, packing): (f64, f64, f64)| own + redundant + messages + packing;
        let (ways, pays) = match overlapped {
            Some(ways) if total(ways) < total(blocking) => (ways, true),
            _ => (blocking, false),
        };
        let bands = steps as f64 / k as f64;
        let whole = points(size);
        let ranks: i64 = cut.counts.iter().product();
        let sent = exchange(program, &self.ghosts, size, &cut.counts, k, steps);
        Ok(OnCluster {
            ranks,
            size: size.to_vec(),
            counts: cut.counts.clone(),
            depth: k,
            overlapped: pays,
            strategy: tiled.strategy.id(),
            tile: tiled.tile.to_string(),
            seconds: total(ways) * bands,
            compute_s: own * bands,
            redundant_s: ways.0 * bands,
            exchange_s: ways.1 * bands,
            packing_s: ways.2 * bands,
            imbalance: points(&cut.own) * ranks as f64 / whole,
            memory_bytes: array_bytes(program, &wide),
            sent: sent.and(exchange_once(program, &self.ghosts, size, &cut.counts, k)),
        })
    }

    /// Seconds of what needs no ghosts, and of what lies beyond it, as the library parts them; `None` where the lines between would meet.
    fn parts(&self, cut: &Cut, k: i64, tiled: &Tiled) -> Result<Option<(f64, f64)>> {
        let dimension = cut.own.len();
        let middle = vec![Region::Middle; dimension];
        if (0..dimension).any(|d| self.extents(cut, d, k, Region::Middle, k).1 < 1) {
            return Ok(None);
        }
        let mut beyond = 0.0;
        for d in 0..dimension {
            for side in (0..2).filter(|&side| cut.sides[d][side]) {
                let mut regions = middle.clone();
                regions[d] = Region::Beyond(side);
                regions[d + 1..].fill(Region::Wide);
                beyond += self.part(cut, k, tiled, &regions)?;
            }
        }
        let middle = self.part(cut, k, tiled, &middle)?;
        Ok((beyond > 0.0).then_some((middle, beyond)))
    }

    /// Seconds of `k` steps of a part of a box: those of the box that it lies in, and of its points the share that it has.
    fn part(&self, cut: &Cut, k: i64, tiled: &Tiled, regions: &[Region]) -> Result<f64> {
        let at = |step: i64| {
            let all = regions.iter().enumerate();
            all.map(|(d, &region)| self.extents(cut, d, k, region, step)).collect::<Vec<_>>()
        };
        let around: Vec<i64> = at(0).iter().map(|(around, _)| *around).collect();
        let share =
            |step: i64| at(step).iter().map(|&(around, own)| own as f64 / around as f64).product::<f64>();
        let shares: f64 = (0..k).map(share).sum();
        Ok(self.seconds(&around, k, tiled)? * shares / k as f64)
    }

    /// The ghost points that `k` steps compute, over those that they would if ghost zones stayed as wide as they are in the beginning.
    fn share_of_ghosts(&self, cut: &Cut, k: i64, wide: &[i64]) -> f64 {
        let points =
            |extents: &mut dyn Iterator<Item = i64>| extents.map(|extent| extent as f64).product::<f64>();
        let own = points(&mut cut.own.iter().copied());
        let extent = |d: usize, step: i64| self.extents(cut, d, k, Region::Wide, step).1;
        let at = |step: i64| points(&mut (0..wide.len()).map(|d| extent(d, step))) - own;
        let most = points(&mut wide.iter().copied()) - own;
        if most > 0.0 { (0..k).map(at).sum::<f64>() / (k as f64 * most) } else { 0.0 }
    }

    /// In one dimension, the extent of the box that a part lies in, and of the part in a step.
    fn extents(&self, cut: &Cut, d: usize, k: i64, region: Region, step: i64) -> (i64, i64) {
        let own = cut.own[d];
        let sides: i64 =
            (0..2).filter(|&side| cut.sides[d][side]).map(|side| self.ghosts.reach[d][side]).sum();
        match region {
            Region::Middle => (own, (own - sides * (step + 1)).max(0)),
            Region::Wide => (own + self.ghost(cut, d, k), own + sides * (k - step - 1)),
            Region::Beyond(side) => {
                let reach = self.ghosts.reach[d][side];
                let around = self.ghosts.depth(d, k)[side] + (k + 1) * reach;
                (around.min(own + self.ghost(cut, d, k)).max(1), (k * reach).min(own))
            }
        }
    }

    /// Seconds of the strips at the sides of a box, and bytes that are copied for them; `None` where the box is too small.
    fn strips(&self, cut: &Cut, k: i64, tiled: &Tiled) -> Result<Option<(f64, f64)>> {
        let program = self.program();
        let wide = self.wide(cut, k);
        let (mut core, mut seconds, mut moved) = (cut.own.clone(), 0.0, 0.0);
        for d in 0..core.len() {
            for side in (0..2).filter(|&side| cut.sides[d][side]) {
                let width = self.ghosts.depth(d, k)[side];
                core[d] -= width;
                if core[d] < 1 || core[d] < program.least_size[d] {
                    return Ok(None);
                }
                let mut strip = wide.clone();
                strip[d] = width + self.ghosts.depth(d, k).iter().sum::<i64>();
                seconds += self.seconds(&strip, k, tiled)?;
                let points: f64 = strip.iter().map(|&extent| extent as f64).product();
                moved += points * program.bytes_of_a_point() as f64 / 2.0;
            }
        }
        Ok((seconds > 0.0).then_some((seconds, moved)))
    }
}

/// Bytes of the arrays of a box: every slot of every field, with rows padded as `tw_strides` of the library pads them.
pub fn array_bytes(program: &Program, wide: &[i64]) -> u64 {
    let elements = stride(wide) * wide.first().unwrap_or(&0);
    let level = |bytes: usize| (elements as u64 * bytes as u64 + 64) / 64 * 64;
    program.fields.iter().map(|field| level(field.element.bytes()) * field.role.slots() as u64).sum()
}
