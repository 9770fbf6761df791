//! How many tiles a wavefront has, and all wavefronts together.
//!
//! Tiles of one phase lie `W` points apart and drift by `2*sh` points against the band number `T`, so that the number
//! of tiles that touch the domain is `floor((A - 2*sh*T) / W) - ceil((B - 2*sh*T) / W) + 1`.

/// One phase of the hexagonal tiling over a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Position of the last column of the domain, relative to a tile's first one: `A`.
    pub last: i64,
    /// Position of the first column of the domain, relative to a tile's last one: `B`.
    pub first: i64,
    /// `W`
    pub pitch: i64,
    /// `2*sh`
    pub drift: i64,
    /// Bands.
    pub bands: i64,
}

impl Phase {
    /// Tiles in band `T`.
    #[cfg(test)]
    pub fn tiles_of_band(&self, band: i64) -> i64 {
        let moved = self.drift * band;
        (self.last - moved).div_euclid(self.pitch) + (moved - self.first).div_euclid(self.pitch) + 1
    }

    /// Tiles of the fullest band, over all positions that bands can have.
    ///
    /// `floor((A + d)/W) = floor(A/W) + [A mod W + d >= W]` and `floor((-B - d)/W) = floor(-B/W) - [-B mod W < d]`
    /// for the drift `d = (-2*sh*T) mod W`, a multiple of `gcd(2*sh, W)`.
    #[inline]
    pub fn most_tiles(&self) -> i64 {
        let pitch = self.pitch;
        let step = if self.drift == pitch { 0 } else { self.drift % pitch };
        let base = self.last.div_euclid(pitch) + (-self.first).div_euclid(pitch) + 1;
        if step == 0 {
            return base;
        }
        let (a, b) = (self.last.rem_euclid(pitch), (-self.first).rem_euclid(pitch));
        let step = num_integer::gcd(step, pitch);
        let most = b / step * step;
        base + i64::from(most >= pitch - a)
    }

    /// Tiles of all bands.
    #[inline]
    pub fn all_tiles(&self) -> i64 {
        self.all_tiles_of(self.most_tiles())
    }

    /// [`Phase::all_tiles`] where [`Phase::most_tiles`] is known.
    #[inline]
    pub(super) fn all_tiles_of(&self, most: i64) -> i64 {
        // The common case of equal slopes, in which all bands are alike.
        if self.drift == self.pitch || self.drift % self.pitch == 0 {
            return self.bands * most;
        }
        // sum of floor((A - 2 sh T)/W), T = 0 .. bands: run through the bands from the last one, so that terms grow.
        let end = self.last - self.drift * (self.bands - 1);
        floor_sum(self.bands, self.pitch, self.drift, end)
            + floor_sum(self.bands, self.pitch, self.drift, -self.first)
            + self.bands
    }
}

/// `sum over i in 0 .. n of floor((a*i + b) / m)`, `m > 0`, `a >= 0`, in logarithmic time: the number of lattice points
/// under a line, by Euclid's algorithm on its slope.
pub fn floor_sum(n: i64, m: i64, a: i64, b: i64) -> i64 {
    let (n, mut m, mut a, mut b) = (i128::from(n.max(0)), i128::from(m), i128::from(a), i128::from(b));
    let mut sum = n * b.div_euclid(m);
    b = b.rem_euclid(m);
    let mut n = n;
    loop {
        sum += n * (n - 1) / 2 * (a / m);
        a %= m;
        sum += n * (b / m);
        b %= m;
        let top = a * n + b;
        if top < m {
            return sum as i64;
        }
        n = top / m;
        b = top % m;
        std::mem::swap(&mut m, &mut a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn floor_sums(n in 0i64..60, m in 1i64..40, a in 0i64..90, b in -200i64..200) {
            let direct: i64 = (0..n).map(|i| (a * i + b).div_euclid(m)).sum();
            prop_assert_eq!(floor_sum(n, m, a, b), direct);
        }

        #[test]
        fn tiles_of_all_bands(last in 0i64..200, first in -60i64..0, pitch in 1i64..50, drift in 0i64..90, bands in 1i64..60) {
            let phase = Phase { last, first, pitch, drift, bands };
            let each: Vec<i64> = (0..bands).map(|band| phase.tiles_of_band(band)).collect();
            prop_assert_eq!(phase.all_tiles(), each.iter().sum::<i64>());
            let most = *each.iter().max().unwrap();
            prop_assert!(most <= phase.most_tiles());
            if bands >= pitch {
                prop_assert_eq!(most, phase.most_tiles());
            }
        }
    }
}
