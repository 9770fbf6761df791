//! What is true of a block or a warp at all positions, in the bits of words.

use c_tree::{BinaryOp, Block, Declaration, Expr, Stmt, Type, call, int, var};

/// As many as there are registers for truths.
const FEW: usize = 7;
/// As many as a word has bits.
const BITS: usize = 31;
/// Words, each of which takes a register.
const WORDS: usize = 2;
const WORD: &str = "tw_truths";

/// Words whose bits are the truths that are declared before a text which asks for more of them than there are registers for, and
/// their declarations from them, for a scope within, but those of the `lane`: the compiler would find each anew, wherever it is asked for.
pub(super) fn in_words(before: &[Stmt], text: &Block, lane: &str) -> (Vec<Stmt>, Vec<Stmt>) {
    let names: Vec<&str> =
        of_all_lanes(before, lane).into_iter().filter(|name| text.mentions(name)).collect();
    if !(FEW + 1..=WORDS * BITS).contains(&names.len()) {
        return (Vec::new(), Vec::new());
    }
    let bit = |number: usize| int(1 << number);
    let of = |(number, name): (usize, &&str)| c_tree::flag(*name).select(bit(number), int(0)).integer();
    let (mut words, mut truths) = (Vec::new(), Vec::new());
    for (at, names) in names.chunks(BITS).enumerate() {
        let word = if at == 0 { WORD.to_owned() } else { format!("{WORD}{at}") };
        let sum =
            names.iter().enumerate().map(of).reduce(|word, bit| Expr::binary(BinaryOp::BitOr, word, bit));
        words.extend(sum.map(|sum| Stmt::constant("int", word.clone(), call("tw_word", [sum]))));
        truths.extend(names.iter().enumerate().map(|(number, name)| {
            let bits = Expr::binary(BinaryOp::BitAnd, var(word.clone()), bit(number));
            Stmt::constant("bool", *name, bits.is_not(0))
        }));
    }
    (words, truths)
}

/// The names of truths that are declared and are those of all lanes of a warp: neither they nor what they are made of mentions the lane.
fn of_all_lanes<'a>(before: &'a [Stmt], lane: &str) -> Vec<&'a str> {
    let (mut truths, mut of_lanes): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for declaration in before {
        let Stmt::Declare(names) = declaration else { continue };
        for Declaration { kind, name, value, .. } in names {
            let mentions = |wanted: &str| value.as_ref().is_some_and(|value| value.mentions(wanted));
            if mentions(lane) || of_lanes.iter().any(|of_lane| mentions(of_lane)) {
                of_lanes.push(name);
            } else if *kind == Type::new("bool").constant() && names.len() == 1 {
                truths.push(name);
            }
        }
    }
    truths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truths_of_lanes_are_in_no_word() {
        let truth = |name: &str, value: Expr| Stmt::constant("bool", name.to_owned(), value);
        let mut before: Vec<Stmt> =
            (0..40).map(|number| truth(&format!("warp{number}"), var("w").ge(number))).collect();
        before.push(truth("lane", var("own").ge(3)));
        before.push(truth("of_lane", c_tree::flag("lane").and(c_tree::flag("warp1"))));
        let names = before.iter().map(|line| match line {
            Stmt::Declare(names) => c_tree::flag(names[0].name.clone()),
            _ => c_tree::truth(true),
        });
        let text = Block::from(Stmt::when(c_tree::all(names), Stmt::Break));
        let (words, truths) = in_words(&before, &text, "own");
        assert_eq!((words.len(), truths.len()), (2, 40));
    }
}
