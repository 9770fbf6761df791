//! Unions of shifted boxes.

/// Cells of the union of a box of `block` points shifted by all offsets, in so many dimensions.
pub fn union(offsets: &[[i64; 3]], block: [i64; 3], dimension: usize) -> i64 {
    cells(offsets, block, 0, dimension)
}

/// Dimension by dimension: between two neighbouring cuts along dimension `d`, the same offsets take part.
fn cells(offsets: &[[i64; 3]], block: [i64; 3], d: usize, dimension: usize) -> i64 {
    if d == dimension {
        return 1;
    }
    let mut cuts: Vec<i64> = offsets.iter().flat_map(|offset| [offset[d], offset[d] + block[d]]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2)
        .map(|cut| {
            let inside: Vec<[i64; 3]> = (offsets.iter())
                .filter(|offset| offset[d] <= cut[0] && cut[1] <= offset[d] + block[d])
                .copied()
                .collect();
            if inside.is_empty() { 0 } else { (cut[1] - cut[0]) * cells(&inside, block, d + 1, dimension) }
        })
        .sum()
}
