//! Partitions as sets of levels, and as expressions that another search takes as constraints.

use super::table::{Column, Table, number};
use super::tree::{Rule, Tree};
use crate::space::Point;

/// A product of sets of levels: what the rules on a path to a node leave of every parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// For each column the levels that are in.
    allowed: Vec<Vec<bool>>,
    /// For each column whether a rule was about it.
    ruled: Vec<bool>,
}

impl Region {
    /// The whole space.
    pub fn whole(table: &Table) -> Region {
        let allowed = table.columns().iter().map(|column| vec![true; column.levels().len()]).collect();
        Region { allowed, ruled: vec![false; table.columns().len()] }
    }

    /// The partition of a node.
    pub fn of(table: &Table, tree: &Tree, node: usize) -> Region {
        let mut region = Region::whole(table);
        for pair in tree.path(node).windows(2) {
            let Some(split) = &tree.nodes()[pair[0]].split else { continue };
            let left = split.children[0] == pair[1];
            region.ruled[split.column] = true;
            for (code, allowed) in region.allowed[split.column].iter_mut().enumerate() {
                *allowed &= split.goes_left(code as u32) == left;
            }
        }
        region
    }

    /// The smallest box that contains the rows (Algorithm 2, line 3): for ordered parameters all levels from the least
    /// to the greatest that occurs, for categorical ones those that occur.
    pub fn bounding(table: &Table, rows: &[u32]) -> Region {
        let mut region = Region::whole(table);
        for (column, (allowed, ruled)) in
            table.columns().iter().zip(region.allowed.iter_mut().zip(&mut region.ruled))
        {
            let codes = || rows.iter().map(|&row| column.codes()[row as usize]);
            let (low, high) = (codes().min().unwrap_or(0), codes().max().unwrap_or(0));
            for (code, allowed) in allowed.iter_mut().enumerate() {
                let code = code as u32;
                *allowed = low <= code
                    && code <= high
                    && (column.is_ordered() || codes().any(|other| other == code));
            }
            *ruled = allowed.contains(&false);
        }
        region
    }

    /// What is in both; `None` where nothing is.
    pub fn intersection(&self, other: &Region) -> Option<Region> {
        let both = |(a, b): (&Vec<bool>, &Vec<bool>)| -> Vec<bool> {
            a.iter().zip(b).map(|(a, b)| *a && *b).collect()
        };
        let allowed: Vec<Vec<bool>> = self.allowed.iter().zip(&other.allowed).map(both).collect();
        let ruled = self.ruled.iter().zip(&other.ruled).map(|(a, b)| *a || *b).collect();
        allowed.iter().all(|levels| levels.contains(&true)).then_some(Region { allowed, ruled })
    }

    /// Whether a level of a column is in.
    pub fn allows(&self, column: usize, code: u32) -> bool {
        self.allowed[column].get(code as usize).copied().unwrap_or(false)
    }

    /// Whether a row of a table with the same columns is in.
    pub fn contains(&self, table: &Table, row: usize) -> bool {
        table.columns().iter().enumerate().all(|(k, column)| self.allows(k, column.codes()[row]))
    }

    /// Whether a point of the space of the columns is in.
    pub fn holds(&self, point: &Point) -> bool {
        point.levels().iter().enumerate().all(|(k, &code)| self.allows(k, code))
    }

    /// One condition for each parameter that a rule was about, in the order of the columns, such as `16 < x <= 64`.
    pub fn conditions(&self, table: &Table) -> Vec<String> {
        let ruled = (0..self.ruled.len()).filter(|&k| self.ruled[k]);
        ruled.filter_map(|k| condition(&table.columns()[k], &self.allowed[k])).collect()
    }

    /// All conditions as one expression, in the language of constraints; `True` for the whole space.
    pub fn expression(&self, table: &Table) -> String {
        let conditions = self.conditions(table);
        if conditions.is_empty() { "True".to_owned() } else { conditions.join(" and ") }
    }
}

/// The condition that a value is one of the allowed levels; `None` where all are.
fn condition(column: &Column, allowed: &[bool]) -> Option<String> {
    let inside: Vec<u32> = (0..allowed.len() as u32).filter(|&code| allowed[code as usize]).collect();
    let (first, last) = (*inside.first()?, *inside.last()?);
    if inside.len() == allowed.len() {
        return None;
    }
    let name = column.name();
    if let Some(base) = column.alignment_of() {
        // Greater alignments are multiples of lesser ones.
        let power = |code: u32| number(column.levels()[code as usize]);
        let at_least = (first > 0).then(|| format!("{base} % {} == 0", power(first)));
        let below = allowed.get(last as usize + 1).map(|_| format!("{base} % {} != 0", power(last + 1)));
        return Some([at_least, below].into_iter().flatten().collect::<Vec<_>>().join(" and "));
    }
    if inside.len() == 1 {
        return Some(format!("{name} == {}", column.label(first)));
    }
    if !column.is_ordered() || inside.len() != (last - first + 1) as usize {
        let labels: Vec<&str> = inside.iter().map(|&code| column.label(code)).collect();
        return Some(format!("{name} in [{}]", labels.join(", ")));
    }
    let from = first.checked_sub(1).map(|below| column.label(below));
    let to = ((last as usize) + 1 < allowed.len()).then(|| column.label(last));
    match (from, to) {
        (Some(from), Some(to)) => Some(format!("{from} < {name} <= {to}")),
        (Some(from), None) => Some(format!("{name} > {from}")),
        (None, Some(to)) => Some(format!("{name} <= {to}")),
        (None, None) => None,
    }
}

/// The condition of one split, for the side that goes left or right: `block_size_x <= 32`, `use_shmem == 1`,
/// `layout in ["a", "b"]`, `block_size_x % 32 == 0`.
pub fn side(table: &Table, tree: &Tree, node: usize, left: bool) -> String {
    let Some(split) = &tree.nodes()[node].split else { return String::new() };
    let column = &table.columns()[split.column];
    let name = column.name();
    match &split.rule {
        Rule::AtMost { place, .. } if column.alignment_of().is_none() => {
            let (first, levels) = (column.label(*place), column.levels().len() as u32);
            if levels == 2 {
                return format!("{name} == {}", if left { first } else { column.label(place + 1) });
            }
            format!("{name} {} {first}", if left { "<=" } else { ">" })
        }
        _ => {
            let marks = (0..column.levels().len() as u32)
                .map(|code| split.goes_left(code) == left)
                .collect::<Vec<_>>();
            condition(column, &marks).unwrap_or_default()
        }
    }
}
