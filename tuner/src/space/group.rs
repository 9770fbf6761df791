//! Groups: parameters that constraints tie together. Groups are independent of each other, so a space is the
//! product of its groups, and a uniform point is a uniform choice in each group. That is what makes huge spaces easy:
//! 25 parameters in pairs are 12 small tables, not one of 10^23 entries.

use super::limits::{ENUMERABLE, enumerable};
use crate::error::{Result, TunerError};
use crate::expression::{EvaluationError, Expression};
use rand::Rng;
use trials::Parameter;

/// Tries of a combination in a group that is not tabulated.
const TRIES: usize = 20_000;
/// Steps of the search for a combination where tries find none.
const SEARCH_STEPS: usize = 2_000_000;
/// Most nodes of expressions that are looked at to tabulate a group, in the tries for a point, and in the search.
const MOST_WORK: f64 = 2e9;
const WORK_OF_TRIES: f64 = 4e7;
const WORK_OF_SEARCH: f64 = 1e8;
/// Rounds of the walk from a combination that was found by search.
const WALK_ROUNDS: usize = 64;

/// Some parameters, the constraints over them, and the combinations that satisfy these, where there are few enough.
#[derive(Debug, Clone)]
pub(super) struct Group {
    places: Vec<usize>,
    constraints: Vec<Expression>,
    /// Valid combinations, one after the other, each with one level for each place.
    table: Option<Vec<u32>>,
}

/// The groups of a space.
///
/// # Errors
/// A group without a valid combination.
pub(super) fn groups(parameters: &[Parameter], constraints: &[Expression]) -> Result<Vec<Group>> {
    // Union of the parameters of each constraint.
    let mut root: Vec<usize> = (0..parameters.len()).collect();
    fn find(root: &[usize], mut place: usize) -> usize {
        while root[place] != place {
            place = root[place];
        }
        place
    }
    for constraint in constraints {
        if let Some((&first, others)) = constraint.parameters().split_first() {
            for &other in others {
                let (left, right) = (find(&root, first), find(&root, other));
                root[left.max(right)] = left.min(right);
            }
        } else if !constraint.holds(&|place| parameters[place].level(0)).unwrap_or(false) {
            return Err(TunerError::no_valid_point(format!(
                "`{constraint}` is false, whatever the parameters are"
            )));
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of_root = vec![usize::MAX; parameters.len()];
    for place in 0..parameters.len() {
        let root = find(&root, place);
        if group_of_root[root] == usize::MAX {
            group_of_root[root] = groups.len();
            groups.push(Group { places: Vec::new(), constraints: Vec::new(), table: None });
        }
        groups[group_of_root[root]].places.push(place);
    }
    for constraint in constraints {
        if let Some(&first) = constraint.parameters().first() {
            groups[group_of_root[find(&root, first)]].constraints.push(constraint.clone());
        }
    }
    for group in &mut groups {
        group.tabulate(parameters)?;
    }
    Ok(groups)
}

impl Group {
    /// Places of the parameters, in ascending order.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// All valid combinations, one after the other, where they are tabulated.
    pub fn combinations(&self) -> Option<&[u32]> {
        self.table.as_deref()
    }

    fn tabulate(&mut self, parameters: &[Parameter]) -> Result<()> {
        let size = self.size(parameters);
        if !enumerable(size, self.places.len()) || size * self.cost() > MOST_WORK {
            return Ok(());
        }
        let order = self.order();
        let mut table = Vec::new();
        let mut levels = vec![0; parameters.len()];
        self.extend(&order, 0, parameters, &mut levels, &mut table);
        if table.is_empty() {
            return Err(self.without_valid_point(parameters));
        }
        self.table = Some(table);
        Ok(())
    }

    /// For each constraint the number of parameters, in the order of `places`, after which it can be checked.
    fn order(&self) -> Vec<usize> {
        let last = |constraint: &Expression| {
            let places = constraint.parameters().iter();
            places.filter_map(|place| self.places.binary_search(place).ok()).max().map_or(0, |last| last + 1)
        };
        self.constraints.iter().map(last).collect()
    }

    /// Depth-first enumeration; a constraint is checked as soon as its parameters are set.
    fn extend(
        &self,
        order: &[usize],
        depth: usize,
        parameters: &[Parameter],
        levels: &mut Vec<u32>,
        table: &mut Vec<u32>,
    ) {
        if depth == self.places.len() {
            table.extend(self.places.iter().map(|&place| levels[place]));
            return;
        }
        let place = self.places[depth];
        for level in 0..parameters[place].len() as u32 {
            levels[place] = level;
            if self.holds(order, depth + 1, parameters, levels) {
                self.extend(order, depth + 1, parameters, levels, table);
            }
        }
    }

    /// Whether the constraints hold whose last parameter was just set.
    fn holds(&self, order: &[usize], set: usize, parameters: &[Parameter], levels: &[u32]) -> bool {
        self.constraints.iter().zip(order).filter(|(_, last)| **last == set).all(|(constraint, _)| {
            constraint.holds(&|place| parameters[place].level(levels[place] as usize)).unwrap_or(false)
        })
    }

    /// Sets the levels of this group to a valid combination: from the table, or by trying. Levels are drawn one after
    /// the other and the try is given up at the first constraint that fails, which leaves the accepted ones uniform.
    ///
    /// Where valid combinations are too rare for that, one is searched for with backtracking, and a Gibbs sampler walks
    /// from there: its stationary distribution is uniform over the combinations that it can reach.
    ///
    /// # Errors
    /// No valid combination found.
    pub fn sample(&self, parameters: &[Parameter], levels: &mut [u32], rng: &mut impl Rng) -> Result<()> {
        if let Some(table) = &self.table {
            let width = self.places.len();
            let row = rng.random_range(0..table.len() / width) * width;
            for (place, level) in self.places.iter().zip(&table[row..row + width]) {
                levels[*place] = *level;
            }
            return Ok(());
        }
        let order = self.order();
        let affordable = |work: f64, most: usize| most.min((work / self.cost()) as usize).max(1);
        for _ in 0..affordable(WORK_OF_TRIES, TRIES) {
            let found = self.places.iter().enumerate().all(|(depth, &place)| {
                levels[place] = rng.random_range(0..parameters[place].len() as u32);
                self.constraints.is_empty() || self.holds(&order, depth + 1, parameters, levels)
            });
            if found {
                return Ok(());
            }
        }
        let mut steps = affordable(WORK_OF_SEARCH, SEARCH_STEPS);
        if !self.search(&order, 0, parameters, levels, &mut steps, rng) {
            return Err(self.without_valid_point(parameters));
        }
        for _ in 0..WALK_ROUNDS {
            for &place in &self.places {
                self.draw_again(place, parameters, levels, rng);
            }
        }
        Ok(())
    }

    /// Depth-first search in random order of levels, within a number of steps.
    fn search(
        &self,
        order: &[usize],
        depth: usize,
        parameters: &[Parameter],
        levels: &mut [u32],
        steps: &mut usize,
        rng: &mut impl Rng,
    ) -> bool {
        let Some(&place) = self.places.get(depth) else { return true };
        let count = parameters[place].len();
        let start = rng.random_range(0..count);
        for offset in 0..count {
            if *steps == 0 {
                return false;
            }
            *steps -= 1;
            levels[place] = ((start + offset) % count) as u32;
            if self.holds(order, depth + 1, parameters, levels)
                && self.search(order, depth + 1, parameters, levels, steps, rng)
            {
                return true;
            }
        }
        false
    }

    /// Draws one level again, uniformly from those that leave the combination valid.
    fn draw_again(&self, place: usize, parameters: &[Parameter], levels: &mut [u32], rng: &mut impl Rng) {
        let old = levels[place];
        let mut chosen = old;
        let mut seen = 0;
        for level in 0..parameters[place].len() as u32 {
            levels[place] = level;
            let valid = level == old
                || self.constraints.iter().filter(|c| c.parameters().contains(&place)).all(|constraint| {
                    let level = |place: usize| parameters[place].level(levels[place] as usize);
                    constraint.holds(&level).unwrap_or(false)
                });
            if valid {
                // One of those seen so far, each with the same probability.
                seen += 1;
                if rng.random_range(0..seen) == 0 {
                    chosen = level;
                }
            }
        }
        levels[place] = chosen;
    }

    /// Says which constraints no combination satisfies, as far as that can be said.
    fn without_valid_point(&self, parameters: &[Parameter]) -> TunerError {
        let first = |place: usize| parameters[place].level(0);
        let without_value = self.constraints.iter().find_map(|constraint| match constraint.holds(&first) {
            Err(EvaluationError::Kind(reason)) => Some(format!("`{constraint}` has no value: {reason}")),
            _ => None,
        });
        if let Some(reason) = without_value {
            return TunerError::no_valid_point(reason);
        }
        let texts: Vec<String> =
            self.constraints.iter().take(8).map(|constraint| format!("`{constraint}`")).collect();
        let names: Vec<&str> = self.places.iter().take(8).map(|&place| parameters[place].name()).collect();
        let how = if self.table.is_none() && self.size(parameters) > ENUMERABLE {
            format!("a long search among the combinations of {} found none that satisfies", names.join(", "))
        } else {
            format!("no combination of {} satisfies", names.join(", "))
        };
        TunerError::no_valid_point(format!("{how} {}", texts.join(" and ")))
    }

    /// Nodes that one look at all constraints may take.
    fn cost(&self) -> f64 {
        self.constraints.iter().map(Expression::cost).sum::<usize>().max(1) as f64
    }

    fn size(&self, parameters: &[Parameter]) -> f64 {
        self.places.iter().map(|&place| parameters[place].len() as f64).product()
    }
}
