//! Every instance exactly once, and no two in one place.

use super::LegalityError;
use super::relations::Relations;
use crate::isl::{Conjunction, IslError, Sample};

/// Every instance of every domain lies in a piece.
pub fn total(relations: &mut Relations) -> Result<(), LegalityError> {
    for k in 0..relations.program.statements.len() {
        let mut missing = relations.domains[k].copy()?;
        for piece in relations.pieces.iter().filter(|piece| piece.statement == k) {
            // Without the intersection isl would make the helpers explicit on the whole lattice, bounds of
            // the loops included: a thousand times the work.
            let covered = piece.map.copy()?.domain()?.intersect(&relations.domains[k])?;
            missing = missing.subtract(&covered)?;
        }
        if !relations.shows_empty_set(&missing)?
            && let Some(sample) = missing.sample()?
        {
            let instance = relations.instance_at(&sample, 0, k);
            return Err(LegalityError::NotTotal { instance, problem: relations.problem(&sample) });
        }
    }
    Ok(())
}

/// No instance lies in two pieces or has two vectors.
pub fn once(relations: &mut Relations) -> Result<(), LegalityError> {
    let same_instance: Vec<_> = instance_equalities(relations);
    let same_instance = relations.constraint(&same_instance.join(" and "))?;
    let different = Comparison::of(relations, "a", "b", relations.vector_length())?;
    for (first, second) in pairs_of_pieces(relations) {
        let k = relations.pieces[first].statement;
        if k != relations.pieces[second].statement {
            continue;
        }
        let comparisons = if first == second { &different[..] } else { &[] };
        if let Some(sample) = counter_example(relations, (first, second), &same_instance, comparisons)? {
            let (first, second) = relations.pair_of(&sample, k, k);
            let problem = relations.problem(&sample);
            return Err(LegalityError::NotOnce { first: Box::new(first), second: second.vector, problem });
        }
    }
    Ok(())
}

/// No two instances have the same vector. Different pieces share no instance: that was shown before.
pub fn injective(relations: &mut Relations) -> Result<(), LegalityError> {
    let same: Vec<_> = (0..relations.vector_length()).map(|i| format!("a{i} = b{i}")).collect();
    let same_place = relations.constraint(&same.join(" and "))?;
    let mut different = vec![Comparison::new(relations, "t", "u")?];
    different.extend(Comparison::of(relations, "s", "r", relations.program.dimension())?);
    for (first, second) in pairs_of_pieces(relations) {
        let pieces = &relations.schedule.pieces;
        if pieces[first].fixed_difference(&pieces[second]).is_some() {
            continue;
        }
        let comparisons = if first == second { &different[..] } else { &[] };
        if let Some(sample) = counter_example(relations, (first, second), &same_place, comparisons)? {
            let (k, l) = (relations.pieces[first].statement, relations.pieces[second].statement);
            let (first, second) = relations.pair_of(&sample, k, l);
            let problem = relations.problem(&sample);
            return Err(LegalityError::NotInjective {
                first: Box::new(first),
                second: second.instance,
                problem,
            });
        }
    }
    Ok(())
}

fn pairs_of_pieces(relations: &Relations) -> Vec<(usize, usize)> {
    let count = relations.pieces.len();
    (0..count).flat_map(|first| (first..count).map(move |second| (first, second))).collect()
}

pub(super) fn instance_equalities(relations: &Relations) -> Vec<String> {
    let points = (0..relations.program.dimension()).map(|i| format!("s{i} = r{i}"));
    ["t = u".to_owned()].into_iter().chain(points).collect()
}

/// One coordinate of two scheduled instances.
pub(super) struct Comparison<'c> {
    pub less: Conjunction<'c>,
    pub equal: Conjunction<'c>,
}

impl<'c> Comparison<'c> {
    pub fn new(relations: &Relations<'c>, first: &str, second: &str) -> Result<Comparison<'c>, IslError> {
        Ok(Comparison {
            less: relations.constraint(&format!("{first} < {second}"))?,
            equal: relations.constraint(&format!("{first} = {second}"))?,
        })
    }

    pub fn of(
        relations: &Relations<'c>,
        first: &str,
        second: &str,
        count: usize,
    ) -> Result<Vec<Comparison<'c>>, IslError> {
        (0..count)
            .map(|i| Comparison::new(relations, &format!("{first}{i}"), &format!("{second}{i}")))
            .collect()
    }
}

/// A pair of instances in these pieces and in their domains that meets a constraint. If comparisons are
/// given, the pieces are one and the same, and some coordinate must differ. The pair may then be exchanged,
/// so that a coordinate that is nowhere less is everywhere equal, which the later coordinates may use.
fn counter_example<'c>(
    relations: &mut Relations<'c>,
    (first, second): (usize, usize),
    constraint: &Conjunction<'c>,
    comparisons: &[Comparison<'c>],
) -> Result<Option<Sample>, IslError> {
    for pairs in relations.pairs(first, second)?.iter() {
        let mut pairs = pairs.intersect(constraint)?;
        if comparisons.is_empty()
            && let Some(sample) = exact_sample(relations, (first, second), &pairs)?
        {
            return Ok(Some(sample));
        }
        for Comparison { less, equal } in comparisons {
            let suspect = pairs.intersect(less)?;
            if let Some(sample) = exact_sample(relations, (first, second), &suspect)? {
                return Ok(Some(sample));
            }
            pairs = pairs.intersect(equal)?;
        }
    }
    Ok(None)
}

/// A point of the set in the domains of these pieces' statements.
fn exact_sample<'c>(
    relations: &mut Relations<'c>,
    (first, second): (usize, usize),
    suspect: &Conjunction<'c>,
) -> Result<Option<Sample>, IslError> {
    if relations.shows_empty(suspect)? {
        return Ok(None);
    }
    let (k, l) = (relations.pieces[first].statement, relations.pieces[second].statement);
    let exact = suspect.intersect(&relations.in_domains(k, l)?)?;
    if relations.shows_empty(&exact)? { Ok(None) } else { exact.to_set()?.sample() }
}
