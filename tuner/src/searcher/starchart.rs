//! Starchart as a searcher: Algorithm 2 of W. Jia et al., ACM TACO 12(2), 2015, again and again.

use super::Searcher;
use crate::error::Result;
use crate::run::{Entry, Run, Stop};
use crate::space::Point;
use crate::starchart::iterative::best_box;
use crate::starchart::{Goal, GrowOptions, Region, Table, Tree, grow};
use rand::Rng;
use rand::seq::SliceRandom;
use serde_json::json;

/// Designs at random, then rounds of designs inside the box around the best of all so far. Inside the box those are
/// measured that the tree over all designs predicts to be the best.
pub struct Starchart {
    /// `I`, designs of the first round; at most half of the budget.
    pub initial: usize,
    /// `t`, per cent of the designs so far that span the box.
    pub best_percent: f64,
    /// `A`, designs of each further round.
    pub additional: usize,
    /// Designs of the box among which the tree chooses, for each one that is measured.
    pub candidates: usize,
}

impl Default for Starchart {
    fn default() -> Starchart {
        Starchart { initial: 60, best_percent: 15.0, additional: 10, candidates: 20 }
    }
}

impl Searcher for Starchart {
    fn name(&self) -> &'static str {
        "starchart"
    }

    fn about(&self) -> &'static str {
        "regression trees: designs at random, then in the box around the best ones"
    }

    fn search(&self, run: &mut Run<'_>) -> std::result::Result<(), Stop> {
        let initial = self.initial.min(run.left().div_ceil(2)).max(1);
        let points = run.space.sample_distinct(initial, &mut run.rng)?;
        run.measure(&points)?;
        loop {
            let points = match self.explained(run)? {
                Some((region, tree)) => self.preferred(run, &region, &tree)?,
                None => Vec::new(),
            };
            // Where the box has nothing new, or nothing has succeeded yet, anywhere.
            let points = if points.is_empty() {
                run.space.sample_distinct(self.additional, &mut run.rng)?
            } else {
                points
            };
            run.measure(&points)?;
        }
    }
}

impl Starchart {
    /// The box of the best designs so far and the tree over all; `None` as long as none has succeeded.
    fn explained(&self, run: &mut Run<'_>) -> Result<Option<(Region, Tree)>> {
        let response = run.response().to_owned();
        let trials = run.trials().iter().filter_map(|trial| Some((&trial.point, trial.response(&response)?)));
        let (points, responses): (Vec<&Point>, Vec<f64>) = trials.unzip();
        if points.is_empty() {
            return Ok(None);
        }
        let table = Table::of_points(run.space.parameters(), points.iter().copied())?;
        let rows: Vec<u32> = (0..points.len() as u32).collect();
        let region = best_box(&table, &responses, &rows, self.best_percent, Goal::Minimize);
        let tree = grow(&table, &responses, &rows, &GrowOptions::default())?;
        let rules = region.expression(&table);
        let leaves = tree.leaf_count();
        let best = Region::of(&table, &tree, tree.best_leaf(Goal::Minimize)).expression(&table);
        let text = format!(
            "{} designs succeeded; box of the best {} %: {rules}\nbest of {leaves} partitions: {best}",
            points.len(),
            self.best_percent
        );
        let data = json!({"designs": points.len(), "box": rules, "leaves": leaves, "best_partition": best});
        run.log(Entry { text, data });
        Ok(Some((region, tree)))
    }

    /// New designs inside the box: those that the tree predicts to be the best, of some that are drawn at random.
    fn preferred(&self, run: &mut Run<'_>, region: &Region, tree: &Tree) -> Result<Vec<Point>> {
        let most = self.additional * self.candidates;
        let mut candidates: Vec<Point> = match run.space.points() {
            Some(all) => {
                let mut new: Vec<Point> = all
                    .iter()
                    .filter(|point| region.holds(point) && !run.is_measured(point))
                    .cloned()
                    .collect();
                new.shuffle(&mut run.rng);
                new.truncate(most);
                new
            }
            None => drawn(run, region, most)?,
        };
        if candidates.is_empty() {
            return Ok(candidates);
        }
        let table = Table::of_points(run.space.parameters(), candidates.iter())?;
        let mut order: Vec<(f64, usize)> =
            (0..candidates.len()).map(|row| (tree.predict(&table, row), row)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order.truncate(self.additional);
        candidates = order.into_iter().map(|(_, row)| candidates[row].clone()).collect();
        Ok(candidates)
    }
}

/// Designs of a space that is not listed: valid points, with every level that is outside the box replaced by one inside.
fn drawn(run: &mut Run<'_>, region: &Region, most: usize) -> Result<Vec<Point>> {
    let mut drawn: Vec<Point> = Vec::new();
    for _ in 0..4 * most {
        let mut point = run.space.sample(&mut run.rng)?;
        for (k, parameter) in run.space.parameters().iter().enumerate() {
            if !region.allows(k, point.levels()[k]) {
                let inside: Vec<u32> =
                    (0..parameter.len() as u32).filter(|&code| region.allows(k, code)).collect();
                point = point.with(k, inside[run.rng.random_range(0..inside.len())]);
            }
        }
        if run.space.is_valid(&point) && !run.is_measured(&point) && !drawn.contains(&point) {
            drawn.push(point);
        }
        if drawn.len() == most {
            break;
        }
    }
    Ok(drawn)
}
