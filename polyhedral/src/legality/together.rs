//! Statements that differ by their number alone are shown to be in order all at once.
//!
//! Where each piece of a schedule belongs to a family ([`Family`]), the statement's number `k` is a coordinate of the schedule
//! vector. All instances of all `K` statements are then pairs of `[t, s]` and `k`, and with `a` and `b` the vectors of two of them
//!
//! ```text
//! same instance:   t = u,  s = r,  a_row = b_row              dependent:   K*(u - t) + b_row - a_row = rows,  r - s = offset
//! ```
//!
//! Every property is shown on the whole integer lattice, for whatever domains the statements have, and for the hull of all
//! dependences: a few relations stand for those of all pairs of statements. Bounds that one statement alone has are left out, which
//! only enlarges what must be empty; that tiles are full is asked within them. What cannot be shown so says nothing, and is asked of
//! each piece by itself.

use super::order::{Step, in_cone, misordered};
use super::relations::Relations;
use super::{LegalityError, totality};
use crate::dependence::Dependence;
use crate::isl::{Conjunction, Context};
use crate::program::Program;
use crate::schedule::{Family, Schedule};
use std::collections::BTreeMap;

/// Whether the pieces of a schedule run no instance twice, none at the place of another one, all dependent ones in order, and
/// full tiles as they claim; with the number of relations that were shown to be empty. `None` where that was not shown.
pub fn shown(
    context: &Context,
    program: &Program,
    dependences: &[Dependence],
    schedule: &Schedule,
    families: &[Family],
) -> Result<Option<usize>, LegalityError> {
    if !cover(program, schedule, families) {
        return Ok(None);
    }
    let pieces = families.iter().map(|family| family.piece.clone()).collect();
    let all = Schedule { dimensions: schedule.dimensions.clone(), pieces };
    let mut relations = Relations::new(context, program, &all, None)?;
    let shown = once_and_injective(&mut relations, families)?
        && in_order(&mut relations, dependences, families)?
        && full(&mut relations, schedule, families)?;
    Ok(shown.then(|| relations.shown_empty()))
}

/// Whether each piece of the schedule is a member of one family, for its statement.
fn cover(program: &Program, schedule: &Schedule, families: &[Family]) -> bool {
    let mut members: Vec<usize> = families.iter().flat_map(|family| family.members.clone()).collect();
    members.sort_unstable();
    let own = |family: &Family| {
        family.row == families[0].row
            && family.members.len() == program.statements.len()
            && family.own.len() == program.statements.len()
            && family
                .members
                .iter()
                .enumerate()
                .all(|(k, &at)| schedule.pieces.get(at).is_some_and(|piece| piece.statement == k))
    };
    !families.is_empty() && members.iter().copied().eq(0..schedule.pieces.len()) && families.iter().all(own)
}

fn pairs_of(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |first| (first..count).map(move |second| (first, second)))
}

/// No instance of a statement has two vectors, and no vector two instances.
fn once_and_injective(relations: &mut Relations, families: &[Family]) -> Result<bool, LegalityError> {
    let Some(row) = families.first().map(|family| family.row) else { return Ok(false) };
    let number = format!("a{row} = b{row}");
    let instances = totality::instance_equalities(relations).join(" and ");
    let same_instance = relations.constraint(&format!("{instances} and {number}"))?;
    let vectors = totality::Comparison::of(relations, "a", "b", relations.vector_length())?;
    let same: Vec<_> = (0..relations.vector_length()).map(|i| format!("a{i} = b{i}")).collect();
    let same_place = relations.constraint(&same.join(" and "))?;
    let mut points = vec![totality::Comparison::new(relations, "t", "u")?];
    points.extend(totality::Comparison::of(relations, "s", "r", relations.program.dimension())?);
    for (first, second) in pairs_of(families.len()) {
        let apart = families[first].piece.fixed_difference(&families[second].piece).is_some();
        let mut asked = vec![(&same_instance, &vectors)];
        if !apart {
            asked.push((&same_place, &points));
        }
        for (constraint, comparisons) in asked {
            for pairs in relations.pairs(first, second)?.iter() {
                let mut pairs = pairs.intersect(constraint)?;
                if first != second {
                    if !relations.shows_empty(&pairs)? {
                        return Ok(false);
                    }
                    continue;
                }
                for comparison in comparisons {
                    if !relations.shows_empty(&pairs.intersect(&comparison.less)?)? {
                        return Ok(false);
                    }
                    pairs = pairs.intersect(&comparison.equal)?;
                }
            }
        }
    }
    Ok(true)
}

/// Every dependence is respected: their hull, where that holds, else the hulls of those of one distance in steps, and of one in
/// rows.
fn in_order(
    relations: &mut Relations,
    dependences: &[Dependence],
    families: &[Family],
) -> Result<bool, LegalityError> {
    let Some(row) = families.first().map(|family| family.row) else { return Ok(false) };
    let statements = relations.program.statements.len();
    let steps = Step::all(relations)?;
    let all: Vec<&Dependence> = dependences.iter().collect();
    if all.is_empty() {
        return Ok(true);
    }
    let by = |key: &dyn Fn(&Dependence) -> (i64, i64)| {
        let mut groups: BTreeMap<(i64, i64), Vec<&Dependence>> = BTreeMap::new();
        all.iter().for_each(|dependence| groups.entry(key(dependence)).or_default().push(dependence));
        groups.into_values().collect::<Vec<_>>()
    };
    let finer = [
        vec![all.clone()],
        by(&|one| (one.steps(statements), (one.target as i64 - one.source as i64).signum())),
        by(&|one| (one.steps(statements), one.target as i64 - one.source as i64)),
    ];
    for first in 0..families.len() {
        for second in 0..families.len() {
            let mut respected = false;
            for groups in &finer {
                respected = groups.iter().try_fold(true, |so_far, group| {
                    Ok::<_, LegalityError>(
                        so_far && are_respected(relations, &steps, (first, second), (row, group))?,
                    )
                })?;
                if respected {
                    break;
                }
            }
            if !respected {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn are_respected<'c>(
    relations: &mut Relations<'c>,
    steps: &[Step<'c>],
    (first, second): (usize, usize),
    (row, group): (usize, &[&Dependence]),
) -> Result<bool, LegalityError> {
    let hull = relations.all_of(&hull_of(relations.program, row, group))?;
    for pairs in relations.pairs(first, second)?.iter() {
        if misordered(relations, steps, pairs.intersect(&hull)?)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Constraints on a pair of instances and their statements that hold for all of these dependences: the boxes of their distances in
/// steps, rows, numbers and points, and their cone.
fn hull_of(program: &Program, row: usize, dependences: &[&Dependence]) -> Vec<String> {
    let statements = program.statements.len();
    let range = |value: &dyn Fn(&Dependence) -> i64| {
        let values = || dependences.iter().map(|&dependence| value(dependence));
        (values().min().unwrap_or(0), values().max().unwrap_or(0))
    };
    let rows = format!("({statements}*(u - t) + b{row} - a{row})");
    let between = |(low, high): (i64, i64), what: &str| format!("{low} <= {what} <= {high}");
    let mut constraints = vec![
        between(range(&|one| one.steps(statements)), "u - t"),
        between(range(&|one| one.rows), &rows),
        between(range(&|one| one.target as i64 - one.source as i64), &format!("b{row} - a{row}")),
    ];
    for i in 0..program.dimension() {
        constraints.push(between(range(&|one| one.offset[i]), &format!("r{i} - s{i}")));
    }
    let owned: Vec<Dependence> = dependences.iter().map(|&dependence| dependence.clone()).collect();
    constraints.extend(in_cone(program.dimension(), &owned, &rows));
    constraints
}

/// Full tiles hold what the members claim: of statements that claim it of the same points, of all rows, and else of their own.
fn full(relations: &mut Relations, schedule: &Schedule, families: &[Family]) -> Result<bool, LegalityError> {
    for (index, family) in families.iter().enumerate() {
        let Some(tiles) = relations.in_full_tiles(index)? else {
            if family.members.iter().any(|&at| schedule.pieces[at].full.is_some()) {
                return Ok(false);
            }
            continue;
        };
        let claimed = |at: usize| schedule.pieces[at].full.as_ref();
        let constraints = family.piece.full.as_ref().map(|full| &full.constraints);
        let mut cases: BTreeMap<(String, &[String]), Vec<usize>> = BTreeMap::new();
        for (k, &at) in family.members.iter().enumerate() {
            let Some(full) = claimed(at).filter(|full| Some(&full.constraints) == constraints) else {
                return Ok(false);
            };
            for case in relations.wrong_cases(k, full.runs) {
                cases.entry((case, family.own[k].as_slice())).or_default().push(k);
            }
        }
        for ((case, own), statements) in cases {
            let mut case = relations.of_one(&case)?;
            for constraint in own {
                case = case.intersect(&relations.of_one(constraint)?)?;
            }
            let wrong: Vec<Conjunction> =
                tiles.iter().map(|tiles| tiles.intersect(&case)).collect::<Result<_, _>>()?;
            for wrong in wrong {
                if relations.shows_empty(&wrong)? {
                    continue;
                }
                for k in &statements {
                    let own = relations.of_one(&format!("a{} = {k}", family.row))?;
                    if !relations.shows_empty(&wrong.intersect(&own)?)? {
                        return Ok(false);
                    }
                }
            }
        }
    }
    Ok(true)
}
