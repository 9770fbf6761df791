//! Variants in the order in which a classifier likes them.

use crate::limits::MOST_VARIANTS;

/// A list of variants, the best first. It lives on the stack.
#[derive(Debug, Clone, Copy)]
pub struct Ranking {
    variants: [u8; MOST_VARIANTS],
    scores: [f64; MOST_VARIANTS],
    length: usize,
    margin: f64,
}

impl Default for Ranking {
    fn default() -> Ranking {
        Ranking::new()
    }
}

impl Ranking {
    /// An empty one.
    pub fn new() -> Ranking {
        Ranking {
            variants: [0; MOST_VARIANTS],
            scores: [0.0; MOST_VARIANTS],
            length: 0,
            margin: f64::INFINITY,
        }
    }

    /// Removes all variants.
    pub fn clear(&mut self) {
        self.length = 0;
        self.margin = f64::INFINITY;
    }

    /// Puts a variant behind all that have its score or a greater one: of equal scores the first pushed stands first.
    /// What does not fit is left out.
    pub fn push(&mut self, variant: usize, score: f64) {
        let Ok(variant) = u8::try_from(variant) else { return };
        if self.length == MOST_VARIANTS {
            return;
        }
        let mut at = self.length;
        while at > 0 && self.scores[at - 1] < score {
            self.scores[at] = self.scores[at - 1];
            self.variants[at] = self.variants[at - 1];
            at -= 1;
        }
        self.scores[at] = score;
        self.variants[at] = variant;
        self.length += 1;
        self.margin = if self.length > 1 { self.scores[0] - self.scores[1] } else { f64::INFINITY };
    }

    /// States how sure the first place is, where the difference of the scores does not say it well.
    pub fn set_margin(&mut self, margin: f64) {
        self.margin = margin;
    }

    /// How far the best is before the second best, in the classifier's own unit; infinite for one variant.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// The best variant.
    pub fn best(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The variants, the best first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.variants[..self.length].iter().map(|&variant| usize::from(variant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_scores_stands_first() {
        let mut ranking = Ranking::new();
        [(4, 1.0), (2, 2.0), (7, 2.0), (1, 0.5), (9, 2.5)]
            .into_iter()
            .for_each(|(variant, score)| ranking.push(variant, score));
        assert_eq!(ranking.iter().collect::<Vec<_>>(), [9, 2, 7, 4, 1]);
        assert_eq!(ranking.margin(), 0.5);
        (0..100).for_each(|variant| ranking.push(variant, 9.0));
        assert_eq!(ranking.iter().count(), MOST_VARIANTS);
    }
}
