//! What is true of a block or a warp at all positions, in the bits of a word.

use super::LANE;
use c_tree::{BinaryOp, Block, Declaration, Expr, Stmt, Type, call, int, var};

/// As many as there are registers for truths.
const FEW: usize = 7;
/// As many as a word has bits.
const MOST: usize = 31;
const WORD: &str = "tw_truths";

/// A word whose bits are the truths that are declared before a text which asks for more of them than there are registers for, and
/// their declarations from it, for a scope within: the compiler would find each anew, wherever it is asked for.
pub(super) fn in_a_word(before: &[Stmt], text: &Block) -> (Option<Stmt>, Vec<Stmt>) {
    let names: Vec<&str> = before.iter().filter_map(truth).filter(|name| text.mentions(name)).collect();
    if !(FEW + 1..=MOST).contains(&names.len()) {
        return (None, Vec::new());
    }
    let bit = |number: usize| int(1 << number);
    let of = |(number, name): (usize, &&str)| c_tree::flag(*name).select(bit(number), int(0)).integer();
    let sum = names.iter().enumerate().map(of).reduce(|word, bit| Expr::binary(BinaryOp::BitOr, word, bit));
    let word = sum.map(|sum| Stmt::constant("int", WORD, call("tw_word", [sum])));
    let from_word = |(number, name): (usize, &&str)| {
        let bits = Expr::binary(BinaryOp::BitAnd, var(WORD), bit(number));
        Stmt::constant("bool", *name, bits.is_not(0))
    };
    (word, names.iter().enumerate().map(from_word).collect())
}

/// The name of a truth that is declared, if it is one of all lanes of a warp.
fn truth(declaration: &Stmt) -> Option<&str> {
    let Stmt::Declare(names) = declaration else { return None };
    let [Declaration { kind, name, value, .. }] = &names[..] else { return None };
    let of_lane = value.as_ref().is_some_and(|value| value.mentions(LANE));
    (*kind == Type::new("bool").constant() && !of_lane).then_some(name)
}
