//! What one access of a warp asks of the banks of shared memory, and of global memory.

use crate::instruction::LANES;

/// Banks of shared memory, each 4 bytes wide.
const BANKS: usize = 32;
/// Bytes of a sector.
pub const SECTOR: u64 = 32;

/// Cycles of the banks, and what they would be without conflicts: accesses of 8 bytes go half a warp at a time, those of
/// 16 bytes a quarter; in one of these, every bank delivers one word in a cycle, to as many lanes as want it.
pub fn wavefronts(addresses: &[u64; LANES], active: u32, bytes: u8) -> (u64, u64) {
    let words = usize::from(bytes).div_ceil(4).max(1);
    // As it usually is: one word after the other.
    if active == u32::MAX
        && (1..LANES).all(|lane| addresses[lane] == addresses[0] + (lane * words * 4) as u64)
    {
        return (words as u64, words as u64);
    }
    let group = LANES / words;
    let (mut cycles, mut least) = (0, 0);
    for first in (0..LANES).step_by(group) {
        let mut of_bank = [0u64; BANKS];
        let mut used = 0u32;
        // Words that found their bank taken by another one.
        let mut others: Vec<u64> = Vec::new();
        for lane in (first..first + group).filter(|lane| active >> lane & 1 == 1) {
            let start = addresses[lane] / 4;
            for word in start..start + words as u64 {
                let bank = word as usize % BANKS;
                if used >> bank & 1 == 0 {
                    used |= 1 << bank;
                    of_bank[bank] = word;
                } else if of_bank[bank] != word && !others.contains(&word) {
                    others.push(word);
                }
            }
        }
        if used != 0 {
            let most =
                (0..BANKS).map(|bank| others.iter().filter(|&&word| word as usize % BANKS == bank).count());
            cycles += 1 + if others.is_empty() { 0 } else { most.max().unwrap_or(0) as u64 };
            least += (used.count_ones() as u64 + others.len() as u64).div_ceil(BANKS as u64);
        }
    }
    (cycles, least)
}

/// The sectors of an access, each once.
pub fn sectors(addresses: &[u64; LANES], active: u32, bytes: u8, found: &mut Vec<u64>) {
    found.clear();
    for lane in (0..LANES).filter(|lane| active >> lane & 1 == 1) {
        let first = addresses[lane] / SECTOR;
        let last = (addresses[lane] + u64::from(bytes.max(1)) - 1) / SECTOR;
        for sector in first..=last {
            if found.last() != Some(&sector) {
                found.push(sector);
            }
        }
    }
    if !found.is_sorted() {
        found.sort_unstable();
    }
    found.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(stride: u64) -> [u64; LANES] {
        std::array::from_fn(|lane| lane as u64 * stride)
    }

    #[test]
    fn banks_are_shared_by_words_a_row_apart() {
        assert_eq!(wavefronts(&strided(4), u32::MAX, 4), (1, 1));
        assert_eq!(wavefronts(&strided(0), u32::MAX, 4), (1, 1));
        assert_eq!(wavefronts(&strided(8), u32::MAX, 4), (2, 1));
        assert_eq!(wavefronts(&strided(128), u32::MAX, 4), (32, 1));
        assert_eq!(wavefronts(&strided(132), u32::MAX, 4), (1, 1));
        assert_eq!(wavefronts(&strided(8), u32::MAX, 8), (2, 2));
        assert_eq!(wavefronts(&strided(16), u32::MAX, 16), (4, 4));
        assert_eq!(wavefronts(&strided(4), 0, 4), (0, 0));
    }

    #[test]
    fn sectors_are_counted_once() {
        let mut found = Vec::new();
        for (stride, active, bytes, expected) in [
            (4, u32::MAX, 4, 4),
            (8, u32::MAX, 8, 8),
            (0, u32::MAX, 4, 1),
            (128, u32::MAX, 4, 32),
            (4, 0xff, 4, 1),
        ] {
            sectors(&strided(stride), active, bytes, &mut found);
            assert_eq!(found.len(), expected);
        }
        sectors(&strided(4).map(|address| address + 4), u32::MAX, 4, &mut found);
        assert_eq!(found.len(), 5);
        let mut backwards = strided(4);
        backwards.reverse();
        sectors(&backwards, u32::MAX, 4, &mut found);
        assert_eq!(found.len(), 4);
    }
}
