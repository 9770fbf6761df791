//! Functions of up to three sizes that are multilinear beyond small sizes: a table of the small ones, and beyond it
//! the multilinear function through its last entries.

/// Such a function.
#[derive(Debug, Clone)]
pub struct Multilinear {
    least: [i64; 3],
    length: [usize; 3],
    table: Vec<i64>,
}

impl Multilinear {
    /// Tabulates `value` for `least[d] .. least[d] + length[d]`; a dimension of length 1 does not matter.
    pub fn new(least: [i64; 3], length: [usize; 3], mut value: impl FnMut([i64; 3]) -> i64) -> Self {
        let mut table = Vec::with_capacity(length.iter().product());
        for i in 0..length[0] as i64 {
            for j in 0..length[1] as i64 {
                for k in 0..length[2] as i64 {
                    table.push(value([least[0] + i, least[1] + j, least[2] + k]));
                }
            }
        }
        Multilinear { least, length, table }
    }

    /// The value at these sizes, none of them below the least.
    #[inline]
    pub fn at(&self, sizes: [i64; 3]) -> i64 {
        let mut index = 0;
        let mut over = [0; 3];
        let mut stride = [0; 3];
        for d in 0..3 {
            let last = self.length[d] as i64 - 1;
            let i = sizes[d] - self.least[d];
            let inside = i.clamp(0, last);
            over[d] = if last == 0 { 0 } else { i.max(0) - inside };
            index = index * self.length[d] + inside as usize;
            stride[d] = self.length[d + 1..].iter().product();
        }
        // f(i + over) = f(i) + over * (f(i) - f(i - 1)), dimension by dimension.
        self.extrapolate(index, &over, &stride, 0)
    }

    /// Whether it does not fall along the first size, the others being the least; beyond the table it goes on as it ends.
    pub fn grows(&self) -> bool {
        let stride = self.length[1] * self.length[2];
        let along: Vec<i64> = self.table.iter().step_by(stride).copied().collect();
        along.is_sorted()
    }

    /// The sizes of dimension `d` between `low` and `high` at which a function of this one can have its least or
    /// greatest value over them: both ends, those in the table, and where the multilinear part begins.
    pub fn corners(&self, d: usize, low: i64, high: i64) -> impl Iterator<Item = i64> + Clone + use<> {
        let (least, length) = (self.least[d], self.length[d] as i64);
        let table_end = least + length - if length > 1 { 2 } else { 1 };
        (low..=table_end.min(high)).chain([low, high].into_iter().filter(move |&x| x > table_end))
    }

    #[inline]
    fn extrapolate(&self, index: usize, over: &[i64; 3], stride: &[usize; 3], d: usize) -> i64 {
        if d == 3 {
            return self.table[index];
        }
        let here = self.extrapolate(index, over, stride, d + 1);
        if over[d] == 0 {
            return here;
        }
        here + over[d] * (here - self.extrapolate(index - stride[d], over, stride, d + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_its_table_it_is_multilinear() {
        let value = |[a, b, c]: [i64; 3]| 3 + 2 * a - b + a * b * c + if a < 4 { 7 - a } else { 3 };
        let function = Multilinear::new([2, 1, 1], [4, 2, 2], value);
        for sizes in [[2, 1, 1], [3, 5, 1], [5, 2, 9], [40, 30, 20], [6, 1, 2]] {
            assert_eq!(function.at(sizes), value(sizes), "{sizes:?}");
        }
        assert!(function.grows() && !Multilinear::new([1, 1, 1], [3, 1, 1], |[a, _, _]| 3 - a).grows());
        let constant = Multilinear::new([1, 1, 1], [1, 1, 1], |_| 5);
        assert_eq!(constant.at([9, 9, 9]), 5);
    }
}
