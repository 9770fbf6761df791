//! Threads of a block: a variable of the inner problem, with the same candidates on every design.
//!
//! A block of `t` threads works on `min(n_V, t)` lanes at a time, so that a row of `w` points takes
//! `ceil(w / min(n_V, t))` rounds. More threads never take more rounds, and fewer never leave less room: for given tile
//! sizes and `k` the best number is the fewest that fill the lanes or, where `k` blocks of so many do not fit, the most
//! that do. That is why threads multiply what is searched, and not what is evaluated.

use cost_models::hardware::Hardware;
use hhc_codegen::counts::TileCounts;
use serde::Serialize;

/// The numbers of threads that a block may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Threads(Vec<i64>);

impl Threads {
    /// These numbers; `None` where there is none, or one that is not positive.
    pub fn new(mut numbers: Vec<i64>) -> Option<Threads> {
        numbers.sort_unstable();
        numbers.dedup();
        numbers.first().is_some_and(|least| *least > 0).then_some(Threads(numbers))
    }

    /// All multiples of `warp` up to `most`.
    pub fn up_to(most: i64, warp: i64) -> Threads {
        let numbers = (1..=(most / warp).max(1)).map(|warps| warps * warp);
        Threads(numbers.collect())
    }

    /// One number for all tiles.
    pub fn fixed(threads: i64) -> Threads {
        Threads(vec![threads])
    }

    /// The numbers, ascending.
    pub fn numbers(&self) -> &[i64] {
        &self.0
    }

    /// The number, where there is no choice.
    pub fn only(&self) -> Option<i64> {
        if let [only] = self.0.as_slice() { Some(*only) } else { None }
    }

    /// The fewest.
    pub fn fewest(&self) -> i64 {
        self.0[0]
    }

    /// The fewest that fill `n_v` lanes; the most where none does.
    pub fn filling(&self, n_v: i64) -> i64 {
        let index = self.0.partition_point(|&threads| threads < n_v);
        self.0[index.min(self.0.len() - 1)]
    }

    /// The most of those that are no more than `room`, none beyond those that fill `n_v` lanes; `None` where there is
    /// no room for any.
    #[inline]
    pub fn best(&self, n_v: i64, room: i64) -> Option<i64> {
        let filling = self.filling(n_v);
        if filling <= room {
            return Some(filling);
        }
        let index = self.0.partition_point(|&threads| threads <= room);
        index.checked_sub(1).map(|index| self.0[index])
    }
}

/// The threads that each of `k` blocks may have.
#[inline]
pub fn room(tiles: &[TileCounts], k: i64, hardware: &Hardware) -> i64 {
    let registers = tiles.iter().map(|counts| counts.registers).max().unwrap_or(0).max(1);
    let of_multiprocessor = (hardware.threads_per_sm / k).min(hardware.registers_per_sm / (k * registers));
    of_multiprocessor.min(hardware.threads_per_block)
}

/// The largest `k` for which blocks of `threads` threads fit; 0 where not even one does.
#[inline]
pub fn most_k(tiles: &[TileCounts], threads: i64, hardware: &Hardware) -> i64 {
    let of = |counts: &TileCounts| {
        if counts.tile_bytes > hardware.shared_per_block_bytes || threads > hardware.threads_per_block {
            return 0;
        }
        let memory = match counts.tile_bytes {
            0 => i64::MAX,
            bytes => hardware.m_sm_bytes / (bytes + hardware.shared_reserved_bytes),
        };
        let registers = (threads * counts.registers).max(1);
        memory.min(hardware.threads_per_sm / threads).min(hardware.registers_per_sm / registers)
    };
    tiles.iter().map(of).fold(hardware.blocks_per_sm, i64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_that_fill_the_lanes_or_the_most_that_fit() {
        let threads = Threads::up_to(1024, 32);
        assert_eq!((threads.numbers().len(), threads.fewest()), (32, 32));
        assert_eq!(threads.filling(300), 320);
        assert_eq!(threads.best(300, 2000), Some(320));
        assert_eq!(threads.best(300, 319), Some(288));
        assert_eq!(threads.best(300, 31), None);
        assert_eq!(threads.best(4096, 2000), Some(1024));
        let fixed = Threads::fixed(128);
        assert_eq!(
            (fixed.only(), fixed.best(32, 200), fixed.best(256, 200)),
            (Some(128), Some(128), Some(128))
        );
        assert_eq!(fixed.best(32, 127), None);
        assert_eq!(Threads::new(vec![64, 32, 64]).unwrap().numbers(), [32, 64]);
        assert!(Threads::new(vec![]).is_none() && Threads::new(vec![0]).is_none());
    }
}
