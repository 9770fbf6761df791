//! What is true of a block or a warp at all positions, in the bits of a word.

use c_tree::{BinaryOp, Block, Declaration, Expr, Stmt, Type, call, int, var};

/// As many as there are registers for truths.
const FEW: usize = 7;
/// As many as a word has bits.
const MOST: usize = 31;
const WORD: &str = "tw_truths";

/// A word whose bits are the truths that are declared before a text which asks for more of them than there are registers for, and
/// their declarations from it, for a scope within, but those of the `lane`: the compiler would find each anew, wherever it is asked for.
pub(super) fn in_a_word(before: &[Stmt], text: &Block, lane: &str) -> (Option<Stmt>, Vec<Stmt>) {
    let truths = before.iter().filter_map(|declaration| truth(declaration, lane));
    let names: Vec<&str> = truths.filter(|name| text.mentions(name)).collect();
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
fn truth<'a>(declaration: &'a Stmt, lane: &str) -> Option<&'a str> {
    let Stmt::Declare(names) = declaration else { return None };
    let [Declaration { kind, name, value, .. }] = &names[..] else { return None };
    let of_lane = value.as_ref().is_some_and(|value| value.mentions(lane));
    (*kind == Type::new("bool").constant() && !of_lane).then_some(name)
}
