//! Which features of machines matter (CV-DFS, Algorithm 2): each source in turn plays the target, and the sets are counted with which the
//! others serve it best.

use super::fleet::{Fleet, Machine};
use super::multitask::train_for;
use crate::error::Result;
use crate::model::Model;
use crate::table::Table;
use crate::train::{Kind, TrainOptions};
use rayon::prelude::*;

/// Most features of a set that is tried.
pub const MOST_TOGETHER: usize = 3;

/// How features are selected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectOptions {
    /// How many features are returned at most: the most frequent ones of the best sets.
    pub keep: usize,
    /// How models are trained that only compare sets. There are hundreds of them for each source.
    pub train: TrainOptions,
}

impl Default for SelectOptions {
    fn default() -> SelectOptions {
        let train = TrainOptions { kind: Kind::Tree, ..TrainOptions::default() };
        SelectOptions { keep: 1, train }
    }
}

/// What was selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// Places of the features in the fleet, the most frequent one first.
    pub features: Vec<usize>,
    /// The best set for each source.
    pub best: Vec<Vec<usize>>,
}

/// Mean performance of a model's choices in a table against the best variants; `None` where no input counts.
pub(super) fn performance(model: &Model, table: &Table) -> Option<f64> {
    let chosen = |row: usize| model.best(&table.rows[row].features);
    mean(table, |row| table.rows[row].performance(chosen(row), 0.0))
}

/// Mean over the inputs that can be judged.
pub(super) fn mean(table: &Table, value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let rows = table.trainable();
    let values: Vec<f64> = rows.iter().filter_map(|&row| value(row)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// All sets of 1 to [`MOST_TOGETHER`] of these features, the small ones first.
fn sets(features: &[usize]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut last: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..MOST_TOGETHER {
        let longer = |set: &Vec<usize>| {
            let from =
                set.last().map_or(0, |&last| 1 + features.iter().position(|&f| f == last).unwrap_or(0));
            features[from.min(features.len())..]
                .iter()
                .map(|&feature| [set.as_slice(), &[feature]].concat())
                .collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Selects among features of machines, by their places; those that all sources share say nothing and are left out.
///
/// # Errors
/// No source; a table that cannot be trained on.
pub fn select(
    fleet: &Fleet,
    sources: &[&Machine],
    features: &[usize],
    options: &SelectOptions,
) -> Result<Selected> {
    let differs = |at: &usize| sources.iter().any(|source| source.features[*at] != sources[0].features[*at]);
    let features: Vec<usize> = features.iter().copied().filter(differs).collect();
    let sets = sets(&features);
    let mut best = Vec::new();
    for (at, target) in sources.iter().enumerate() {
        let others: Vec<&Machine> =
            sources.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, own)| *own).collect();
        let Some(table) = target.table.as_ref().filter(|_| !others.is_empty()) else { continue };
        let served = |set: &Vec<usize>| -> Result<f64> {
            let model = train_for(fleet, &others, target, set, &options.train)?.model;
            Ok(performance(&model, table).unwrap_or(0.0))
        };
        let worth: Vec<f64> = sets.par_iter().map(served).collect::<Result<_>>()?;
        // The first one of equals: it is the smallest.
        let mut first: Option<usize> = None;
        for (set, &value) in worth.iter().enumerate() {
            if first.is_none_or(|first| value > worth[first]) {
                first = Some(set);
            }
        }
        best.extend(first.map(|first| sets[first].clone()));
    }
    let mut counted: Vec<(usize, usize)> = features
        .iter()
        .map(|&feature| (feature, best.iter().filter(|set| set.contains(&feature)).count()))
        .filter(|(_, count)| *count > 0)
        .collect();
    counted.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let features = counted.into_iter().take(options.keep).map(|(feature, _)| feature).collect();
    Ok(Selected { features, best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_up_to_three() {
        assert_eq!(sets(&[4, 7]), [vec![4], vec![7], vec![4, 7]]);
        assert_eq!(sets(&(0..13).collect::<Vec<_>>()).len(), 13 + 78 + 286);
        assert!(sets(&[]).is_empty());
    }
}
