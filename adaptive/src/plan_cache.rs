//! Decisions by the shape of the input, for functions whose features depend on it alone.

use std::sync::atomic::{AtomicU64, Ordering};

/// Places of the cache; a power of two.
const PLACES: u64 = 256;
/// No variant has this number.
const EMPTY: u64 = PLACES - 1;

/// 256 decisions. A shape replaces the one that was in its place; nothing is locked and nothing allocated.
#[derive(Debug)]
pub struct PlanCache {
    /// The upper 56 bits of a key that has its lower 8 bits as the place, and the variant.
    places: Box<[AtomicU64]>,
}

impl Default for PlanCache {
    fn default() -> PlanCache {
        PlanCache { places: (0..PLACES).map(|_| AtomicU64::new(EMPTY)).collect() }
    }
}

/// A permutation of all 64-bit numbers that spreads neighbours (the last step of SplitMix64): as it is one, shapes that
/// differ have keys that differ.
fn key(shape: u64) -> u64 {
    let mixed = (shape ^ (shape >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl PlanCache {
    /// The variant of a shape.
    pub fn get(&self, shape: u64) -> Option<usize> {
        let key = key(shape);
        let found = self.places[(key % PLACES) as usize].load(Ordering::Relaxed);
        let variant = found % PLACES;
        (found / PLACES == key / PLACES && variant != EMPTY).then_some(variant as usize)
    }

    /// Keeps the variant of a shape.
    pub fn put(&self, shape: u64, variant: usize) {
        let key = key(shape);
        let entry = (key & !EMPTY) | (variant as u64).min(EMPTY);
        self.places[(key % PLACES) as usize].store(entry, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::PlanCache;

    #[test]
    fn shapes_are_not_mixed_up() {
        let cache = PlanCache::default();
        assert_eq!(cache.get(0), None);
        for shape in 0..10_000_u64 {
            cache.put(shape * 3, (shape % 7) as usize);
        }
        let kept = (0..30_000_u64).filter(|shape| match cache.get(*shape) {
            Some(variant) => {
                assert!(shape % 3 == 0 && variant == (shape / 3 % 7) as usize);
                true
            }
            None => false,
        });
        assert!(kept.count() > 150);
    }
}
