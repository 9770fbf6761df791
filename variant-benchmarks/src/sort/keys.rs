//! Floating point numbers as keys.

/// A number that is sorted by `totalOrder` of IEEE 754.
pub trait Key: Copy + Default + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// How many bits it has.
    const BITS: u32;

    /// An integer of as many bits.
    type Bits: Copy + Ord + Send + Sync;

    /// Its bits.
    fn bits(self) -> Self::Bits;

    /// The number of these bits.
    fn of_bits(bits: Self::Bits) -> Self;

    /// A number whose bits are an integer in the same order: negative numbers have all bits turned, others the sign.
    fn ranked(self) -> Self;

    /// The number that was ranked.
    fn unranked(self) -> Self;

    /// The integer of [`Key::ranked`].
    fn rank(self) -> u64;

    /// Whether it comes before another one.
    fn before(self, other: Self) -> bool {
        self.ranked().bits() < other.ranked().bits()
    }
}

impl Key for f32 {
    const BITS: u32 = 32;
    type Bits = u32;

    fn bits(self) -> u32 {
        self.to_bits()
    }

    fn of_bits(bits: u32) -> f32 {
        f32::from_bits(bits)
    }

    fn ranked(self) -> f32 {
        let bits = self.to_bits();
        f32::from_bits(bits ^ ((bits as i32 >> 31) as u32 | 1 << 31))
    }

    fn unranked(self) -> f32 {
        let bits = self.to_bits();
        f32::from_bits(bits ^ ((!bits as i32 >> 31) as u32 | 1 << 31))
    }

    fn rank(self) -> u64 {
        u64::from(self.ranked().to_bits())
    }
}

impl Key for f64 {
    const BITS: u32 = 64;
    type Bits = u64;

    fn bits(self) -> u64 {
        self.to_bits()
    }

    fn of_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    fn ranked(self) -> f64 {
        let bits = self.to_bits();
        f64::from_bits(bits ^ ((bits as i64 >> 63) as u64 | 1 << 63))
    }

    fn unranked(self) -> f64 {
        let bits = self.to_bits();
        f64::from_bits(bits ^ ((!bits as i64 >> 63) as u64 | 1 << 63))
    }

    fn rank(self) -> u64 {
        self.ranked().to_bits()
    }
}

/// Keys of either width.
#[derive(Debug, Clone)]
pub enum Keys {
    /// Of 32 bits.
    F32(Vec<f32>),
    /// Of 64 bits.
    F64(Vec<f64>),
}

impl Keys {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Keys::F32(keys) => keys.len(),
            Keys::F64(keys) => keys.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of each.
    pub fn bits(&self) -> u32 {
        match self {
            Keys::F32(_) => <f32 as Key>::BITS,
            Keys::F64(_) => <f64 as Key>::BITS,
        }
    }

    /// Share of keys after which an ascending sequence ends, of every `step`-th.
    pub fn descents(&self, step: usize) -> f64 {
        fn share<K: Key>(keys: &[K], step: usize) -> f64 {
            let pairs = keys.windows(2).step_by(step.max(1));
            let count = pairs.len().max(1);
            pairs.filter(|pair| pair[1].before(pair[0])).count() as f64 / count as f64
        }
        match self {
            Keys::F32(keys) => share(keys, step),
            Keys::F64(keys) => share(keys, step),
        }
    }

    /// The first place where the next key comes before.
    pub fn first_descent(&self) -> Option<usize> {
        fn first<K: Key>(keys: &[K]) -> Option<usize> {
            keys.windows(2).position(|pair| pair[1].before(pair[0]))
        }
        match self {
            Keys::F32(keys) => first(keys),
            Keys::F64(keys) => first(keys),
        }
    }

    /// A sum over the keys, each of which is mixed first.
    pub fn fingerprint(&self) -> u64 {
        fn mixed(rank: u64) -> u64 {
            let own = (rank ^ rank >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (own ^ own >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        }
        match self {
            Keys::F32(keys) => keys.iter().fold(0, |sum, key| sum.wrapping_add(mixed(key.rank()))),
            Keys::F64(keys) => keys.iter().fold(0, |sum, key| sum.wrapping_add(mixed(key.rank()))),
        }
    }
}
