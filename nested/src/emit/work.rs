//! How much there is to do in a loop that threads share, as far as its text says: to wake a thread takes as long as some ten thousand
//! elements, so that less is done by one.

use super::emitter::Emitter;
use crate::program::BLOCK;
use c_tree::{BinaryOp, Block, Expr as C, Stmt, call, int, name, var};
use std::collections::BTreeMap;

/// Rounds of loops from which on threads share them.
pub const SHARED: i64 = 32768;
/// Constant lengths up to here are lanes and rows of tiles, whose loops take as many steps at a time.
const FEW: i64 = 16;
/// What a call of a function of C's library counts.
const CALL: i64 = 8;
/// Statements that count as much as a round.
const STATEMENTS: i64 = 64;

impl Emitter<'_> {
    /// Whether so many rounds of a loop are worth sharing: the rounds of loops inside are multiplied, where each is as many as a length that
    /// is known before. None where one is not.
    pub(super) fn is_worth_sharing(&self, index: &str, rounds: &C, body: &Block) -> Option<C> {
        let mut named = BTreeMap::new();
        let (mut statements, mut calls) = (0, 0);
        body.walk(&mut |statement| {
            statements += 1;
            if let Stmt::Declare(list) = statement {
                named.extend(list.iter().filter_map(|own| Some((own.name.clone(), own.value.clone()?))));
            }
            statement
                .expressions(&mut |value| value.walk(&mut |part| calls += i64::from(is_of_library(part))));
        });
        let mut factors = self.factors(body, &Known { named, index, rounds })?;
        let each = 1 + CALL * calls + statements / STATEMENTS;
        if each > 1 {
            factors.push(C::Int(each));
        }
        let times = |a: C, b: C| call("tw_times", [a, b]).integer();
        Some(factors.into_iter().fold(rounds.clone(), times).gt(SHARED))
    }

    /// The rounds of loops: of those one inside of the other all, of those side by side the most.
    fn factors(&self, block: &Block, known: &Known<'_>) -> Option<Vec<C>> {
        let mut all: Vec<C> = Vec::new();
        for statement in &block.statements {
            let own = match statement {
                Stmt::For(own) => {
                    let mut factors = self.factors(&own.body, known)?;
                    let C::Binary(BinaryOp::Lt | BinaryOp::Le, _, end) = &own.condition else { return None };
                    // A loop over blocks has one over their elements inside.
                    match self.length_known(end, known)? {
                        C::Int(few) if few <= FEW => {}
                        _ if own.step == int(BLOCK) => {}
                        length => factors.push(length),
                    }
                    factors
                }
                Stmt::If(_, then, otherwise) => {
                    most(self.factors(then, known)?, &self.factors(otherwise, known)?)
                }
                Stmt::Block(own) => self.factors(own, known)?,
                Stmt::While(..) | Stmt::Noted(..) => return None,
                _ => continue,
            };
            all = most(all, &own);
        }
        Some(all)
    }

    /// A length that is the same in the whole kernel, and not less than a value.
    fn length_known(&self, value: &C, known: &Known<'_>) -> Option<C> {
        match value {
            C::Int(_) => Some(value.clone()),
            _ if self.is_invariant(value) => Some(value.clone()),
            C::Name(name, _) => self.length_known(known.named.get(name)?, known),
            C::Call { function, arguments, .. } if **function == name("tw_min") => {
                arguments.iter().find_map(|value| self.length_known(value, known))
            }
            C::Binary(BinaryOp::Sub, end, _) => self.all_rows(end, known),
            _ => None,
        }
    }

    /// The length of all rows together, where a value is the end of the loop's own one.
    fn all_rows(&self, end: &C, known: &Known<'_>) -> Option<C> {
        match end {
            C::Name(name, _) => self.all_rows(known.named.get(name)?, known),
            C::Cast(kind, end) => Some(C::Cast(kind.clone(), Box::new(self.all_rows(end, known)?))),
            C::Index(array, place) if self.is_invariant(array) && **place == var(known.index) + 1 => {
                Some((**array).clone().at(known.rounds.clone()))
            }
            _ => None,
        }
    }
}

/// What is known of a loop: values of names inside, its variable, and how many rounds it has.
struct Known<'a> {
    named: BTreeMap<String, C>,
    index: &'a str,
    rounds: &'a C,
}

/// Each factor as often as in that list that has it most often.
fn most(mut all: Vec<C>, other: &[C]) -> Vec<C> {
    let mut left = all.clone();
    for factor in other {
        match left.iter().position(|own| own == factor) {
            Some(place) => drop(left.swap_remove(place)),
            None => all.push(factor.clone()),
        }
    }
    all
}

/// Whether it is a call of a function of C's library.
fn is_of_library(value: &C) -> bool {
    let C::Call { function, .. } = value else { return false };
    let C::Name(function, _) = &**function else { return false };
    !["tw_", "TW_", "omp_", "__"].iter().any(|start| function.starts_with(start))
}
