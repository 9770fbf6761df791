//! "Did you mean": the nearest of some names to a word that is none of them.

/// The candidate nearest to `word` in letters inserted, deleted, replaced or swapped, if it is near enough:
/// at most a third of the letters, rounded up, and at least one letter the same.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = word.chars().count().div_ceil(3).clamp(1, 3);
    candidates
        .filter(|candidate| *candidate != word)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, candidate)| {
            distance <= most && distance < candidate.chars().count().max(word.chars().count())
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The hint that goes with [`nearest`].
pub fn hint<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|name| format!("did you mean `{name}`?"))
}

/// Optimal string alignment distance, letters compared without case.
fn distance(left: &str, right: &str) -> usize {
    strsim::osa_distance(&left.to_lowercase(), &right.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_near_names_only() {
        assert_eq!(nearest("alhpa", ["alpha", "beta"].into_iter()), Some("alpha"));
        assert_eq!(nearest("alfa", ["alpha", "beta"].into_iter()), Some("alpha"));
        assert_eq!(nearest("aplha0", ["beta"].into_iter()), None);
        assert_eq!(nearest("u", ["v"].into_iter()), None);
        assert_eq!(nearest("U", ["u"].into_iter()), Some("u"));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
