//! The rule for strategies whose tiles are listed: tiles that are spread over the list, then the neighbours of the best ones, in
//! each size the next value and those half as far again.

use super::{Base, FINALISTS, Rule};
use std::collections::{BTreeMap, BTreeSet};

/// Tiles of a list that are looked at first.
const FIRST_TILES: usize = 100;

/// A list as a grid: for each size its values, and the tiles by their places among them.
struct Places {
    of: BTreeMap<usize, Vec<usize>>,
    at: BTreeMap<Vec<usize>, usize>,
    lengths: Vec<usize>,
}

impl Places {
    fn new(rule: &Rule<'_>, list: &[usize]) -> Places {
        let sizes = |index: usize| -> Vec<i64> {
            let family = &rule.families[index];
            let tile = family.tile(family.axes.map(|axis| axis.first));
            tile.iter().map(|(_, value)| value).collect()
        };
        let tiles: Vec<(usize, Vec<i64>)> = list.iter().map(|&index| (index, sizes(index))).collect();
        let number = tiles.iter().map(|(_, sizes)| sizes.len()).max().unwrap_or(0);
        let values = |d: usize| tiles.iter().filter_map(move |(_, sizes)| sizes.get(d).copied());
        let values: Vec<Vec<i64>> =
            (0..number).map(|d| values(d).collect::<BTreeSet<_>>().into_iter().collect()).collect();
        let place = |sizes: &[i64]| -> Vec<usize> {
            sizes.iter().zip(&values).map(|(size, all)| all.partition_point(|own| own < size)).collect()
        };
        let of: BTreeMap<_, _> = tiles.iter().map(|(index, sizes)| (*index, place(sizes))).collect();
        let at = of.iter().map(|(index, place)| (place.clone(), *index)).collect();
        Places { of, at, lengths: values.iter().map(Vec::len).collect() }
    }

    /// The tiles that differ in one size.
    fn around(&self, index: usize) -> Vec<usize> {
        let Some(place) = self.of.get(&index) else { return Vec::new() };
        let mut neighbours = Vec::new();
        for (d, &own) in place.iter().enumerate() {
            let far = own.div_ceil(2).max(2);
            for other in [own.wrapping_sub(1), own + 1, own.wrapping_sub(far), own + far] {
                if other < self.lengths[d] {
                    let mut place = place.clone();
                    place[d] = other;
                    neighbours.extend(self.at.get(&place));
                }
            }
        }
        neighbours
    }
}

impl Rule<'_> {
    /// Looks at a list, as far as evaluations last.
    pub(super) fn look_at_list(&mut self, list: &[usize]) {
        let places = Places::new(self, list);
        let base = |family: usize, k: i64| Base { family, inner: [0, 0], k };
        let first = FIRST_TILES.min(list.len());
        for number in 0..first {
            self.look(base(list[number * list.len() / first], 1));
        }
        let mut found: Vec<(f64, Base)> = self.known.iter().map(|(base, value)| (*value, *base)).collect();
        found.retain(|(value, _)| value.is_finite());
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (mut value, mut at) in found.into_iter().take(FINALISTS) {
            loop {
                let with_k = [at.k - 1, at.k + 1].into_iter().filter(|k| *k > 0).map(|k| Base { k, ..at });
                let others = places.around(at.family).into_iter().map(|family| base(family, at.k));
                let around: Vec<Base> = with_k.chain(others).collect();
                let values = around.into_iter().map(|own| (self.look(own), own));
                let next = values.min_by(|a, b| a.0.total_cmp(&b.0));
                match next.filter(|(own, _)| *own < value) {
                    Some(better) => (value, at) = better,
                    None => break,
                }
            }
        }
    }
}
