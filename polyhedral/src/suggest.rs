//! "Did you mean": the nearest of some names.

/// The candidate nearest to `word` in letters inserted, deleted, replaced or swapped, if it is near enough:
/// at most a third of the letters, and at least one letter the same.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.chars().count() / 3).clamp(1, 3);
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
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let width = right.len() + 1;
    let mut table = vec![0_usize; (left.len() + 1) * width];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let different = usize::from(left[i - 1] != right[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + different);
                let swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
                if swapped {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[left.len() * width + right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_near_names_only() {
        assert_eq!(nearest("alhpa", ["alpha", "beta"].into_iter()), Some("alpha"));
        assert_eq!(nearest("aplha0", ["beta"].into_iter()), None);
        assert_eq!(nearest("u", ["v"].into_iter()), None);
        assert_eq!(nearest("U", ["u"].into_iter()), Some("u"));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
