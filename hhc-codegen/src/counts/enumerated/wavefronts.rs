//! Points of a box by wavefronts: those of one `w = sum of factors[d] * s_d` run at once.

/// Points of each wavefront, in order, those without points included. Signs of factors turn the order round, and a box that
/// begins elsewhere begins with another wavefront: the numbers stay.
pub fn points(factors: &[i64], bounds: &[(i64, i64)]) -> Vec<i64> {
    let mut points = vec![1];
    for (factor, (low, end)) in factors.iter().zip(bounds) {
        let (factor, extent) = (factor.unsigned_abs() as usize, (end - low).max(0) as usize);
        if factor == 0 {
            points.iter_mut().for_each(|count| *count *= extent as i64);
            continue;
        }
        // One dimension more: the sum over its coordinates, which slides along.
        let mut more = vec![0; points.len() + factor * extent.saturating_sub(1)];
        for wave in 0..more.len() {
            let before = wave.checked_sub(factor).map_or(0, |at| more[at]);
            let left = wave.checked_sub(factor * extent).and_then(|at| points.get(at));
            more[wave] = before + points.get(wave).unwrap_or(&0) - left.unwrap_or(&0);
        }
        points = more;
    }
    points
}

/// Rounds in which so many lanes run one wavefront after the other.
pub fn rounds(factors: &[i64], bounds: &[(i64, i64)], lanes: i64) -> i64 {
    points(factors, bounds).iter().map(|count| (count + lanes - 1) / lanes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavefronts_are_those_of_the_points() {
        for factors in [[1, 1], [1, 0], [0, 0], [2, -1], [-3, 2]] {
            let bounds = [(3, 8), (-2, 5)];
            let number = |i: i64, j: i64| factors[0] * i + factors[1] * j;
            let all = (3..8).flat_map(|i| (-2..5).map(move |j| (i, j)));
            let all: Vec<i64> = all.map(|(i, j)| number(i, j)).collect();
            let (first, last) = (all.iter().min().copied(), all.iter().max().copied());
            let of = |wave| all.iter().filter(|&&number| number == wave).count() as i64;
            let mut counted: Vec<i64> = (first.unwrap_or(0)..=last.unwrap_or(0)).map(of).collect();
            let found = points(&factors, &bounds);
            counted.resize(found.len(), 0);
            let turned: Vec<i64> = counted.iter().rev().copied().collect();
            assert!(found == counted || found == turned, "{factors:?}: {found:?}, not {counted:?}");
        }
    }
}
