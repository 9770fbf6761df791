//! Every dependence is respected.

use super::relations::Relations;
use super::{LegalityError, Misorder, Violation};
use crate::cone::cone;
use crate::dependence::Dependence;
use crate::isl::{Conjunction, IslError};
use crate::program::Program;
use crate::schedule::Execution;
use std::collections::BTreeMap;

/// Shows that the target of every dependence runs after its source.
///
/// All dependences between two statements go first as one relation, their hull. Only where it does not
/// hold, each dependence is looked at, on the lattice and then on the exact domains.
pub fn respected(relations: &mut Relations, dependences: &[Dependence]) -> Result<(), LegalityError> {
    let steps = Step::all(relations)?;
    let mut between: BTreeMap<(usize, usize), Vec<&Dependence>> = BTreeMap::new();
    for dependence in dependences {
        between.entry((dependence.source, dependence.target)).or_default().push(dependence);
    }
    for ((source, target), dependences) in between {
        let pieces = |k: usize| {
            let indices = relations.pieces.iter().enumerate();
            indices.filter(|(_, piece)| piece.statement == k).map(|(index, _)| index).collect::<Vec<_>>()
        };
        let (sources, targets) = (pieces(source), pieces(target));
        let hull = relations.all_of(&hull_of(relations.program, &dependences))?;
        for (&first, &second) in
            sources.iter().flat_map(|first| targets.iter().map(move |second| (first, second)))
        {
            for pairs in relations.pairs(first, second)?.iter() {
                if misordered(relations, &steps, pairs.intersect(&hull)?)?.is_none() {
                    continue;
                }
                for dependence in &dependences {
                    let alone = relations.all_of(&hull_of(relations.program, &[dependence]))?;
                    let linked = pairs.intersect(&alone)?;
                    if misordered(relations, &steps, linked.copy()?)?.is_none() {
                        continue;
                    }
                    let exact = linked.intersect(&relations.in_domains(source, target)?)?;
                    if let Some((set, step)) = misordered(relations, &steps, exact)? {
                        return Err(violation(relations, dependence, &set, step)?);
                    }
                }
            }
        }
    }
    Ok(())
}

/// One step of the comparison of two schedule vectors.
pub(super) struct Step<'c> {
    /// The first differing dimension; `None` after the last one.
    dimension: Option<usize>,
    misorder: Misorder,
    /// The wrong orders in this dimension.
    wrong: Vec<Conjunction<'c>>,
    /// Equality in this dimension: what is left to be decided by later ones.
    equal: Conjunction<'c>,
}

impl<'c> Step<'c> {
    pub fn all(relations: &Relations<'c>) -> Result<Vec<Step<'c>>, IslError> {
        let mut steps = Vec::new();
        for (i, dimension) in relations.schedule.dimensions.iter().enumerate() {
            let equal = relations.constraint(&format!("a{i} = b{i}"))?;
            let (misorder, wrong) = match dimension.execution {
                Execution::Sequential => (Misorder::Before, vec![format!("a{i} > b{i}")]),
                Execution::Parallel => {
                    (Misorder::InParallel, vec![format!("a{i} < b{i}"), format!("a{i} > b{i}")])
                }
            };
            let wrong = wrong.iter().map(|text| relations.constraint(text)).collect::<Result<_, _>>()?;
            steps.push(Step { dimension: Some(i), misorder, wrong, equal });
        }
        steps.push(Step {
            dimension: None,
            misorder: Misorder::Together,
            wrong: vec![relations.constraint("1 = 1")?],
            equal: relations.constraint("1 = 0")?,
        });
        Ok(steps)
    }
}

/// The first step at which some linked pair runs in the wrong order, with the pairs that do.
pub(super) fn misordered<'c, 's>(
    relations: &mut Relations<'c>,
    steps: &'s [Step<'c>],
    mut linked: Conjunction<'c>,
) -> Result<Option<(Conjunction<'c>, &'s Step<'c>)>, IslError> {
    for step in steps {
        for wrong in &step.wrong {
            let wrong = linked.intersect(wrong)?;
            if !relations.shows_empty(&wrong)? {
                return Ok(Some((wrong, step)));
            }
        }
        linked = linked.intersect(&step.equal)?;
        if linked.is_plainly_empty()? {
            break;
        }
    }
    Ok(None)
}

/// Constraints on a pair of instances that hold for all these dependences (of one pair of statements),
/// and, for a single one, exactly for it: the box of their distances, and their cone
///
/// ```text
/// K*(t' - t) + target - source = rows,    -lower_i * rows <= s_i' - s_i <= upper_i * rows
/// ```
fn hull_of(program: &Program, dependences: &[&Dependence]) -> Vec<String> {
    let statements = program.statements.len();
    let owned: Vec<Dependence> = dependences.iter().map(|&dependence| dependence.clone()).collect();
    let range = |value: &dyn Fn(&Dependence) -> i64| {
        let low = owned.iter().map(value).min().unwrap_or(0);
        let high = owned.iter().map(value).max().unwrap_or(0);
        (low, high)
    };
    let rows = {
        let shift = owned.first().map_or(0, |dependence| dependence.target as i64 - dependence.source as i64);
        format!("({statements}*(u - t) + ({shift}))")
    };
    // The same for all pairs of statements so many steps apart.
    let (low, high) = range(&|dependence| dependence.steps(statements));
    let mut constraints = vec![format!("{low} <= u - t <= {high}")];
    for i in 0..program.dimension() {
        let (low, high) = range(&|dependence| dependence.offset[i]);
        constraints.push(format!("{low} <= r{i} - s{i} <= {high}"));
    }
    if owned.len() > 1 {
        constraints.extend(in_cone(program.dimension(), &owned, &rows));
    }
    constraints
}

/// The cone of some dependences, where all of them go forward in `rows`; else nothing.
pub(super) fn in_cone(dimension: usize, dependences: &[Dependence], rows: &str) -> Vec<String> {
    let mut constraints = Vec::new();
    if dependences.iter().all(|dependence| dependence.rows > 0)
        && let Ok(cone) = cone(dimension, dependences)
    {
        for (i, (lower, upper)) in cone.lower.iter().zip(&cone.upper).enumerate() {
            let moved = |denominator: &i64| format!("{denominator}*(r{i} - s{i})");
            constraints.push(format!("-{}*{rows} <= {}", lower.numer(), moved(lower.denom())));
            constraints.push(format!("{} <= {}*{rows}", moved(upper.denom()), upper.numer()));
        }
    }
    constraints
}

fn violation(
    relations: &Relations,
    dependence: &Dependence,
    set: &Conjunction,
    step: &Step,
) -> Result<LegalityError, IslError> {
    let Some(sample) = set.to_set()?.sample()? else {
        return Err(IslError::Failed { message: "no sample of a set that is not empty".to_owned() });
    };
    let (source, target) = relations.pair_of(&sample, dependence.source, dependence.target);
    Ok(LegalityError::Violated(Box::new(Violation {
        dependence: dependence.clone(),
        field: relations.program.field(dependence.field).name.clone(),
        source,
        target,
        misorder: step.misorder,
        dimension: step.dimension.map(|i| (i, relations.schedule.dimensions[i].name.clone())),
        problem: relations.problem(&sample),
    })))
}
