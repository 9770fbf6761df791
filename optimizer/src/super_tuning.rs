//! Super-tuning: the best tile over several strategies, by both formulations of the paper (section 2.3.2).
//!
//! (i) The minimum of the strategies' own optima. (ii) One problem for every part of the space that the feasible sets
//! of the strategies cut it into: on the part that lies in the sets of `inside` and in no other, minimise the least of
//! their models. The strategies meet in the variables that they share, the sizes along the dimensions and `k`; those that
//! a strategy has alone, such as a height, are free in each part. The parts are disjoint and together are the union of the sets, so that both
//! formulations have the same optimum; (ii) also says what each strategy is good for.

use crate::exact::exact;
use crate::exhaustive::for_each_candidate;
use crate::infeasible::Infeasible;
use crate::request::Request;
use crate::tuned::{Best, Choice, Tuned};
use serde::Serialize;
use std::collections::BTreeMap;

/// The optimum of one strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct SubProblem {
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Its optimum, or why there is none.
    pub result: Result<Tuned, Infeasible>,
}

/// Formulation (i): every strategy's own optimum, and the position of the best of them.
///
/// # Errors
/// [`Infeasible`] where no strategy has a tile that fits: that of the strategy that is nearest to one.
pub fn super_tune(request: &Request<'_>) -> Result<(Vec<SubProblem>, usize), Infeasible> {
    let solved: Vec<SubProblem> = (request.strategies.iter())
        .map(|&strategy| SubProblem { strategy: strategy.id(), result: exact(&request.only(strategy)) })
        .collect();
    let value =
        |index: &usize| solved[*index].result.as_ref().map_or(f64::INFINITY, |tuned| tuned.certificate.value);
    let best = (0..solved.len()).min_by(|a, b| value(a).total_cmp(&value(b)));
    match best.filter(|index| solved[*index].result.is_ok()) {
        Some(index) => Ok((solved, index)),
        None => Err(Infeasible::diagnose(request)),
    }
}

/// A part of the space, and the best of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// The strategies in whose feasible sets it lies.
    pub inside: Vec<&'static str>,
    /// The others.
    pub outside: Vec<&'static str>,
    /// Its points: sizes along the dimensions, and `k`.
    pub points: u64,
    /// The best choice of the strategies inside.
    pub choice: Choice,
    /// Its value.
    pub value: f64,
}

/// Formulation (ii), solved by enumeration: the parts that are not empty, the best one first.
///
/// # Errors
/// [`Infeasible`] where all are empty.
pub fn super_tune_by_parts(request: &Request<'_>) -> Result<Vec<Part>, Infeasible> {
    let families = request.families();
    // Of every point: the strategies that it is feasible for, and the best of them.
    let mut points: BTreeMap<([i64; 3], i64), (u32, Best)> = BTreeMap::new();
    for (index, family) in families.iter().enumerate() {
        let strategy = request.strategies.iter().position(|own| *own == family.strategy);
        let bit = 1 << strategy.unwrap_or(0);
        for_each_candidate(request, family, |sizes, most_k| {
            for k in 1..=most_k {
                let Some(value) = request.value(family, sizes, k) else { continue };
                let found = Best { value, family: index, sizes, k };
                let (inside, best) = points.entry((sizes, k)).or_insert((0, found));
                *inside |= bit;
                if value < best.value {
                    *best = found;
                }
            }
        });
    }
    let mut parts: BTreeMap<u32, (u64, Best)> = BTreeMap::new();
    for (inside, found) in points.into_values() {
        let (count, best) = parts.entry(inside).or_insert((0, found));
        *count += 1;
        if found.value < best.value {
            *best = found;
        }
    }
    let named = |inside: u32, wanted: bool| {
        let chosen =
            request.strategies.iter().enumerate().filter(move |(bit, _)| (inside >> bit & 1 == 1) == wanted);
        chosen.map(|(_, strategy)| strategy.id()).collect::<Vec<_>>()
    };
    let mut parts: Vec<Part> = (parts.into_iter())
        .map(|(inside, (points, best))| Part {
            inside: named(inside, true),
            outside: named(inside, false),
            points,
            choice: best.choice(&families),
            value: best.value,
        })
        .collect();
    parts.sort_by(|a, b| a.value.total_cmp(&b.value));
    if parts.is_empty() { Err(Infeasible::diagnose(request)) } else { Ok(parts) }
}
