//! The candidates that fit a multiprocessor, in order of density, as far as searches look.

use super::ranked::{LOOK_AHEAD, Ranked};
use super::threads::most_k;
use cost_models::hardware::Hardware;
use hhc_codegen::counts::TileCounts;
use std::cell::{Cell, RefCell};
use std::slice;

/// A candidate that fits a multiprocessor.
#[derive(Debug, Clone, Copy)]
pub struct Fits {
    /// Its place in order of density.
    pub rank: u32,
    /// Itself.
    pub candidate: u32,
    /// The largest `k`.
    pub most_k: u32,
}

/// Candidates that fit a multiprocessor, in order of density: as many as searches have looked for.
pub struct Fitting {
    list: RefCell<Vec<Fits>>,
    /// Ranks that were looked at.
    looked_at: Cell<usize>,
    /// What decides; `None` where all were looked at.
    room: Option<Room>,
    /// The sum of the largest `k`.
    pub(super) pairs: u64,
}

/// What tiles that differ in shared memory alone share on a multiprocessor.
struct Room {
    /// The largest `k` for tiles that need no memory.
    limit: i64,
    /// Bytes of a block at most, bytes that each has besides its own, and bytes of all blocks together.
    per_block: i64,
    reserved: i64,
    all: i64,
}

impl Room {
    /// The largest `k` for tiles of so many bytes.
    #[inline]
    fn most_k(&self, bytes: i64) -> u32 {
        match bytes {
            0 => self.limit as u32,
            bytes if bytes > self.per_block => 0,
            bytes => self.limit.min(self.all / (bytes + self.reserved)) as u32,
        }
    }
}

impl Ranked<'_> {
    /// The candidates that fit `hardware`, each with the largest `k` for which blocks of the fewest threads do.
    pub fn fitting(&self, hardware: &Hardware) -> Fitting {
        let fewest = self.threads.fewest();
        let Some(alike) = &self.table.tiles.alike else {
            let most = |candidate: usize| {
                let entries = self.entries(candidate);
                if !self.space.has_threads() {
                    return most_k(&entries, fewest, hardware) as u32;
                }
                let of = |own: &TileCounts| most_k(slice::from_ref(own), own.threads, hardware);
                self.own_threads(&entries).and_then(|_| entries.iter().map(of).min()).unwrap_or(0) as u32
            };
            let list: Vec<Fits> = (self.order.iter().zip(0..))
                .map(|(&candidate, rank)| Fits { rank, candidate, most_k: most(candidate as usize) })
                .filter(|own| own.most_k > 0)
                .collect();
            let pairs = list.iter().map(|own| u64::from(own.most_k)).sum();
            return Fitting { looked_at: Cell::new(self.order.len()), list: list.into(), room: None, pairs };
        };
        let without_memory = self.table.tiles.counts.first().map(|own| TileCounts { tile_bytes: 0, ..*own });
        let limit = without_memory.map_or(0, |own| most_k(&[own], fewest, hardware));
        let room = Room {
            limit,
            per_block: hardware.shared_per_block_bytes,
            reserved: hardware.shared_reserved_bytes,
            all: hardware.m_sm_bytes,
        };
        let pairs = alike.pairs(limit, |k| room.per_block.min(room.all / k - room.reserved));
        Fitting { list: RefCell::default(), looked_at: Cell::new(0), room: Some(room), pairs }
    }

    /// The candidate at a position of a list of those that fit; `None` behind its end.
    #[inline]
    pub fn fits(&self, fitting: &Fitting, position: usize) -> Option<Fits> {
        if let Some(known) = fitting.list.borrow().get(position) {
            return Some(*known);
        }
        self.look_for(fitting, position + LOOK_AHEAD);
        fitting.list.borrow().get(position).copied()
    }

    /// All candidates that fit.
    pub fn all_that_fit(&self, fitting: &Fitting) -> Vec<Fits> {
        self.look_for(fitting, usize::MAX);
        fitting.list.borrow().clone()
    }

    /// Looks for candidates that fit until so many are known.
    #[cold]
    fn look_for(&self, fitting: &Fitting, number: usize) {
        let (Some(room), Some(alike)) = (&fitting.room, &self.table.tiles.alike) else { return };
        let mut list = fitting.list.borrow_mut();
        while list.len() < number
            && let Some(&candidate) = self.order.get(fitting.looked_at.get())
        {
            let (rank, most_k) =
                (fitting.looked_at.get() as u32, room.most_k(alike.bytes[candidate as usize]));
            if most_k > 0 {
                list.push(Fits { rank, candidate, most_k });
            }
            fitting.looked_at.set(rank as usize + 1);
        }
    }

    /// The least density of any candidate that fits: `(seconds, joules)` per iteration, each for itself.
    pub fn least_density(&self, fitting: &Fitting) -> Option<(f64, f64)> {
        let list = self.all_that_fit(fitting);
        let seconds = list.first().map(|own| self.density(own.rank).seconds)?;
        let joules = list.iter().map(|own| self.density(own.rank).joules);
        Some((seconds, joules.fold(f64::INFINITY, f64::min)))
    }
}
