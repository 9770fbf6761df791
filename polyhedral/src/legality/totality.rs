//! Every instance exactly once, and no two in one place.

use super::LegalityError;
use super::relations::Relations;
use crate::isl::{Conjunction, IslError, Sample};

/// Every instance of every domain lies in a piece.
pub fn total(relations: &mut Relations) -> Result<(), LegalityError> {
    for k in 0..relations.program.statements.len() {
        let mut missing = relations.domains[k].copy()?;
        for piece in relations.pieces.iter().filter(|piece| piece.statement == k) {
            missing = missing.subtract(&piece.map.copy()?.domain()?)?;
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
    let same_instance =
        relations.constraint(&all_equal("t", "u", "s", "r", relations.instance_length() - 1))?;
    for (first, second) in pairs_of_pieces(relations) {
        let k = relations.pieces[first].statement;
        if k != relations.pieces[second].statement {
            continue;
        }
        let alternatives = if first == second {
            (0..relations.vector_length()).map(|i| format!("a{i} < b{i}")).collect()
        } else {
            vec!["1 = 1".to_owned()]
        };
        if let Some(sample) = counter_example(relations, (first, second), &same_instance, &alternatives)? {
            let (first, second) = relations.pair_of(&sample, k, k);
            let problem = relations.problem(&sample);
            return Err(LegalityError::NotOnce { first: Box::new(first), second: second.vector, problem });
        }
    }
    Ok(())
}

/// No two instances have the same vector.
pub fn injective(relations: &mut Relations) -> Result<(), LegalityError> {
    let same =
        (0..relations.vector_length()).map(|i| format!("a{i} = b{i}")).collect::<Vec<_>>().join(" and ");
    let same_place = relations.constraint(&same)?;
    for (first, second) in pairs_of_pieces(relations) {
        let (k, l) = (relations.pieces[first].statement, relations.pieces[second].statement);
        let alternatives = if first == second {
            let mut earlier = vec!["t < u".to_owned()];
            earlier.extend((0..relations.program.dimension()).map(|i| format!("t = u and s{i} < r{i}")));
            earlier
        } else {
            // Different statements, or pieces of one statement that share no instance.
            vec!["1 = 1".to_owned()]
        };
        if let Some(sample) = counter_example(relations, (first, second), &same_place, &alternatives)? {
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

fn all_equal(time: &str, other_time: &str, space: &str, other_space: &str, dimension: usize) -> String {
    let mut equalities = vec![format!("{time} = {other_time}")];
    equalities.extend((0..dimension).map(|i| format!("{space}{i} = {other_space}{i}")));
    equalities.join(" and ")
}

/// A pair of instances in these pieces and in their domains that meets a constraint and one of the
/// alternatives.
fn counter_example<'c>(
    relations: &mut Relations<'c>,
    (first, second): (usize, usize),
    constraint: &Conjunction<'c>,
    alternatives: &[String],
) -> Result<Option<Sample>, IslError> {
    for pairs in relations.pairs(first, second)? {
        let pairs = pairs.intersect(constraint)?;
        for alternative in alternatives {
            let suspect = pairs.intersect(&relations.constraint(alternative)?)?;
            if relations.shows_empty(&suspect)? {
                continue;
            }
            let (k, l) = (relations.pieces[first].statement, relations.pieces[second].statement);
            let exact = suspect.intersect(&relations.in_domains(k, l)?)?;
            if !relations.shows_empty(&exact)? {
                return exact.to_set()?.sample();
            }
        }
    }
    Ok(None)
}
