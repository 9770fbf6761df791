//! Super-tuning: the best tile over several strategies, by both formulations of the paper (section 2.3.2).
//!
//! (i) The minimum of the strategies' own optima. (ii) One problem for every part of the space that the feasible sets
//! of the strategies cut it into: on the part that lies in the sets of `inside` and in no other, minimise the least of
//! their models. The strategies meet in the variables that they share, the sizes along the dimensions and `k`; those that
//! a strategy has alone, such as a height, are free in each part. The parts are disjoint and together are the union of the sets, so that both
//! formulations have the same optimum; (ii) also says what each strategy is good for.

use crate::boxes::Boxes;
use crate::exact::exact;
use crate::infeasible::Infeasible;
use crate::parts::{PartOfSpace, Within, parts};
use crate::request::Request;
use crate::search::search;
use crate::tuned::{Best, Choice, Tuned};
use hhc_codegen::strategy::Strategy;
use serde::Serialize;

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

/// Every strategy's own optimum where the best one over all of them is known: the others are searched.
pub fn optima(request: &Request<'_>, best: &Tuned) -> Vec<SubProblem> {
    let of = |strategy: &'static dyn Strategy| SubProblem {
        strategy: strategy.id(),
        result: match strategy.id() == best.choice.strategy {
            true => Ok(best.clone()),
            false => exact(&request.only(strategy)),
        },
    };
    request.strategies.iter().map(|&strategy| of(strategy)).collect()
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
    /// Its value, which no point of the part goes below.
    pub value: f64,
    /// Candidates for which the model was evaluated: tiles of its points; bounds exclude the others.
    pub evaluated: u64,
}

/// Formulation (ii): the parts that are not empty, each solved exactly by the search of formulation (i), the best one first.
///
/// # Errors
/// [`Infeasible`] where all are empty.
pub fn super_tune_by_parts(request: &Request<'_>) -> Result<Vec<Part>, Infeasible> {
    let families = request.families();
    let named = |inside: u32, wanted: bool| {
        let chosen =
            request.strategies.iter().enumerate().filter(move |(bit, _)| (inside >> bit & 1 == 1) == wanted);
        chosen.map(|(_, strategy)| strategy.id()).collect::<Vec<_>>()
    };
    let solve = |part: &PartOfSpace| {
        let within = Some(Within { request, part });
        let found = search(&Boxes { request, families: &families, kept: None, within });
        let (value, own) = found.best?;
        let best = Best { value, family: own.family, sizes: own.sizes(), k: own.k };
        Some(Part {
            inside: named(part.inside, true),
            outside: named(part.inside, false),
            points: part.points,
            choice: best.choice(&families),
            value,
            evaluated: found.evaluated,
        })
    };
    let mut solved: Vec<Part> = parts(request, &families).iter().filter_map(solve).collect();
    solved.sort_by(|a, b| a.value.total_cmp(&b.value));
    if solved.is_empty() { Err(Infeasible::diagnose(request)) } else { Ok(solved) }
}
