//! Sums of roundings: in how many rounds the lanes of a multiprocessor execute the rows of a tile.
//!
//! ```text
//! sum over rows a of ceil(w_a * c / n) = (c * sum of w_a + sum of ((-w_a * c) mod n)) / n
//! ```
//!
//! with row widths `w_a = base_a + s0 - 1`, `c` points of the classical dimensions and `n` lanes. With
//! `g = gcd(c, n)` the last term depends on the widths modulo `n / g` only, of which there are few.

/// Row widths of a shape, prepared for a number of lanes.
#[derive(Debug, Clone)]
pub struct Rounds {
    lanes: i64,
    rows: i64,
    base_sum: i64,
    /// `gcd(c, lanes)` for `c < lanes`.
    divisors: Vec<i64>,
    /// `counts[m]`, for each divisor `m` of `lanes` that is small: rows by `base mod m`.
    folded: Vec<(i64, Vec<i64>)>,
    /// Rows by `base mod lanes`.
    residues: Vec<i64>,
    /// For `c = 1`: the last term by `(s0 - 1) mod lanes`.
    by_shift: Vec<i64>,
}

/// Divisors up to this have counts of their own.
const SMALL: i64 = 16;

impl Rounds {
    /// For rows of these widths (for `s0 = 1`) and this many lanes.
    pub fn new(bases: impl Iterator<Item = i64> + Clone, lanes: i64) -> Self {
        let fold = |modulus: i64| {
            let mut counts = vec![0; modulus as usize];
            bases.clone().for_each(|base| counts[base.rem_euclid(modulus) as usize] += 1);
            counts
        };
        let residues = fold(lanes);
        let rows = bases.clone().count() as i64;
        let mut last: i64 =
            residues.iter().zip(0..).map(|(count, c)| count * (-c as i64).rem_euclid(lanes)).sum();
        let mut by_shift = Vec::with_capacity(lanes as usize);
        for shift in 0..lanes {
            by_shift.push(last);
            last += lanes * residues[(-shift).rem_euclid(lanes) as usize] - rows;
        }
        Rounds {
            lanes,
            rows,
            base_sum: bases.clone().sum(),
            divisors: (0..lanes).map(|c| num_integer::gcd(c, lanes)).collect(),
            folded: (1..=SMALL.min(lanes)).filter(|m| lanes % m == 0).map(|m| (m, fold(m))).collect(),
            residues,
            by_shift,
        }
    }

    /// `n_V`
    pub fn lanes(&self) -> i64 {
        self.lanes
    }

    /// Points of all rows: `c * sum of w_a`.
    #[inline]
    pub fn points(&self, s0: i64, c: i64) -> i64 {
        (self.base_sum + self.rows * (s0 - 1)) * c
    }

    /// `sum over rows of ceil(w_a * c / lanes)`
    #[inline]
    pub fn rounds(&self, s0: i64, c: i64) -> i64 {
        let points = self.points(s0, c);
        let rest = c % self.lanes;
        if rest == 0 {
            return points / self.lanes;
        }
        if c == 1 {
            return (points + self.by_shift[((s0 - 1) % self.lanes) as usize]) / self.lanes;
        }
        let g = self.divisors[rest as usize];
        let (modulus, factor) = (self.lanes / g, rest / g);
        let counts =
            (self.folded.iter()).find(|(m, _)| *m == modulus).map_or(&self.residues, |(_, counts)| counts);
        let shift = (s0 - 1) % modulus;
        let mut last = 0;
        for (base, &count) in counts.iter().enumerate() {
            if count > 0 {
                let product = ((base as i64 + shift) * factor) % modulus;
                last += count * if product == 0 { 0 } else { modulus - product };
            }
        }
        (points + g * last) / self.lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounds_are_the_sum_of_ceilings(
            bases in prop::collection::vec(1i64..300, 1..40),
            lanes in prop::sample::select(vec![1i64, 4, 8, 12, 64, 96, 128, 192]),
            s0 in 1i64..500,
            c in 1i64..700,
        ) {
            let direct: i64 = bases.iter().map(|base| ((base + s0 - 1) * c + lanes - 1) / lanes).sum();
            let rounds = Rounds::new(bases.iter().copied(), lanes);
            prop_assert_eq!(rounds.rounds(s0, c), direct);
            prop_assert_eq!(rounds.rounds(s0, 1), bases.iter().map(|b| (b + s0 - 1 + lanes - 1) / lanes).sum::<i64>());
        }
    }
}
