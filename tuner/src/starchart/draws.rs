//! Random draws that others can repeat: `numpy.random.RandomState(seed).permutation(n)`, so that any model in Python can
//! be compared on the very same designs.
//!
//! MT19937: M. Matsumoto and T. Nishimura, ACM TOMACS 8(1), 1998.

/// Words of the state, and the distance that the recurrence spans.
const WORDS: usize = 624;
const SPAN: usize = 397;

/// The Mersenne twister.
struct Twister {
    state: [u32; WORDS],
    at: usize,
}

impl Twister {
    fn new(seed: u32) -> Twister {
        let mut state = [seed; WORDS];
        for i in 1..WORDS {
            let before = state[i - 1];
            state[i] = 1_812_433_253_u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(i as u32);
        }
        Twister { state, at: WORDS }
    }

    fn next(&mut self) -> u32 {
        if self.at == WORDS {
            for i in 0..WORDS {
                let bits = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % WORDS] & 0x7fff_ffff);
                let odd = if bits & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[i] = self.state[(i + SPAN) % WORDS] ^ (bits >> 1) ^ odd;
            }
            self.at = 0;
        }
        let mut word = self.state[self.at];
        self.at += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// A number from 0 to `most`, uniformly, by rejection.
    fn up_to(&mut self, most: u32) -> u32 {
        let mask = most.checked_next_power_of_two().map_or(u32::MAX, |power| (power - 1) | most);
        loop {
            let value = self.next() & mask;
            if value <= most {
                return value;
            }
        }
    }
}

/// `numpy.random.RandomState(seed).permutation(count)`.
pub fn permutation(seed: u32, count: u32) -> Vec<u32> {
    let mut twister = Twister::new(seed);
    let mut order: Vec<u32> = (0..count).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, twister.up_to(i as u32) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::permutation;

    /// Values of NumPy 2.
    #[test]
    fn as_numpy_draws() {
        assert_eq!(permutation(0, 10), [2, 8, 4, 9, 1, 6, 7, 3, 0, 5]);
        assert_eq!(permutation(7, 4201)[..6], GOLDEN);
        assert!(permutation(1, 0).is_empty());
    }

    const GOLDEN: [u32; 6] = [1748, 3099, 444, 2727, 1121, 449];
}
