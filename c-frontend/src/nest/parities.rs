//! Colours of points, by the parities of their indices.

/// The passes of a round of the time loop, each over the points of a colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Colours {
    /// The indices of the loops over space, outermost first.
    pub indices: Vec<String>,
    /// Of each pass, whether it computes the points with these parities: entry `p` stands for indices whose parities are the
    /// bits of `p`, that of index `k` bit `k`.
    pub passes: Vec<Vec<bool>>,
}

impl Colours {
    /// Whether no pass computes both of two points at this distance, in the order of the indices.
    pub fn separate(&self, distance: &[i64]) -> bool {
        let by = parities(distance.iter().copied());
        self.passes.iter().all(|own| (0..own.len()).all(|p| !(own[p] && own[p ^ by])))
    }
}

/// The bits of some parities.
pub fn parities(numbers: impl Iterator<Item = i64>) -> usize {
    numbers.enumerate().map(|(k, number)| (number.rem_euclid(2) as usize) << k).sum()
}
