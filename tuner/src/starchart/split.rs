//! The best split of a partition along one parameter (Algorithm 1, lines 10 to 24).
//!
//! With `z_j = r_j - mean(r)` the sums of `z` over the two sides are `s` and `-s`, and the reduction in error is
//! `SSE_0 - SSE_12 = s^2 n / (n_1 n_2)`. One pass over the levels of the parameter finds the best value.

use super::table::Column;

/// Gains that differ by less than this, relatively, are equal: sums in another order differ by about as much.
pub(super) const TIE: f64 = 1e-10;

/// The best split along one parameter.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidate {
    /// `SSE_0 - SSE_12`; zero where there is no split.
    pub gain: f64,
    /// Ordered columns: the greatest level that goes left, among those that occur.
    pub place: u32,
    /// Ordered columns: the least level that goes right, among those that occur.
    pub next: u32,
}

/// Designs of one level: how many, and the sum of their `z`.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    code: u32,
    count: u32,
    sum: f64,
}

/// Memory that is used again for each partition.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    by_level: Vec<(f64, u32)>,
    sorted: Vec<(u32, f64)>,
    groups: Vec<Group>,
}

impl Scratch {
    /// Sums by level of the designs `rows`, in the order of the levels; levels without a design are left out.
    fn gather(&mut self, column: &Column, rows: &[u32], z: &[f64]) {
        let codes = column.codes();
        let levels = column.levels().len();
        self.groups.clear();
        // Counting is linear in both; sorting is better where few designs meet many levels.
        let sorting = rows.len() * (usize::BITS - rows.len().leading_zeros()) as usize;
        if levels <= 16 + sorting {
            self.by_level.clear();
            self.by_level.resize(levels, (0.0, 0));
            for (&row, &z) in rows.iter().zip(z) {
                let (sum, count) = &mut self.by_level[codes[row as usize] as usize];
                *sum += z;
                *count += 1;
            }
            let present = self.by_level.iter().enumerate().filter(|(_, (_, count))| *count > 0);
            self.groups.extend(present.map(|(code, &(sum, count))| Group { code: code as u32, count, sum }));
        } else {
            self.sorted.clear();
            self.sorted.extend(rows.iter().zip(z).map(|(&row, &z)| (codes[row as usize], z)));
            self.sorted.sort_unstable_by_key(|&(code, _)| code);
            for &(code, z) in &self.sorted {
                match self.groups.last_mut() {
                    Some(group) if group.code == code => {
                        group.count += 1;
                        group.sum += z;
                    }
                    _ => self.groups.push(Group { code, count: 1, sum: z }),
                }
            }
        }
    }

    /// The best split along an ordered column that leaves `least` designs on both sides. Of equal values the least
    /// one is taken: `P_k <= v` with the smallest `v`.
    pub(super) fn best_cut(&mut self, column: &Column, rows: &[u32], z: &[f64], least: u32) -> Candidate {
        self.gather(column, rows, z);
        let (gain, at) = best_prefix(&self.groups, rows.len() as u32, least);
        match self.groups.get(at..at + 2) {
            Some([left, right]) if gain > 0.0 => Candidate { gain, place: left.code, next: right.code },
            _ => Candidate::default(),
        }
    }

    /// The best split along a categorical column. The best subset is a prefix of the levels in the order of their
    /// means (W. D. Fisher, "On grouping for maximum homogeneity", 1958), so `L` levels need `L - 1` tries and not
    /// `2^(L-1) - 1`; with a `least` above 1 it is the best of these. Levels with equal means keep their order of declaration.
    pub(super) fn best_subset(&mut self, column: &Column, rows: &[u32], z: &[f64], least: u32) -> Candidate {
        self.gather(column, rows, z);
        self.groups.sort_by(|a, b| {
            let mean = |group: &Group| group.sum / f64::from(group.count);
            mean(a).total_cmp(&mean(b)).then(a.code.cmp(&b.code))
        });
        let (gain, at) = best_prefix(&self.groups, rows.len() as u32, least);
        Candidate { gain, place: at as u32, next: 0 }
    }

    /// For each level whether it goes left in the split that [`Scratch::best_subset`] found, called right after it.
    /// Levels without a design go with the greater side, left if both are as great.
    pub(super) fn subset(&self, column: &Column, candidate: &Candidate) -> Vec<bool> {
        let (left, right) = self.groups.split_at(candidate.place as usize + 1);
        let size = |groups: &[Group]| groups.iter().map(|group| group.count).sum::<u32>();
        let mut goes_left = vec![size(left) >= size(right); column.levels().len()];
        left.iter().for_each(|group| goes_left[group.code as usize] = true);
        right.iter().for_each(|group| goes_left[group.code as usize] = false);
        goes_left
    }
}

/// The greatest gain of a split into groups `..= at` and the rest, and `at`; the first of equal ones.
fn best_prefix(groups: &[Group], total: u32, least: u32) -> (f64, usize) {
    let (mut best, mut best_at) = (0.0, 0);
    let (mut count, mut sum) = (0_u32, 0.0);
    for (at, group) in groups.iter().enumerate().take(groups.len().saturating_sub(1)) {
        count += group.count;
        sum += group.sum;
        let rest = total - count;
        if count < least || rest < least {
            continue;
        }
        let gain = sum * sum * f64::from(total) / (f64::from(count) * f64::from(rest));
        if gain > best * (1.0 + TIE) {
            (best, best_at) = (gain, at);
        }
    }
    (best, best_at)
}
