//! What an opcode with its modifiers stands for.

use crate::instruction::{Comparison, Exchange, Join, Op, Precision, Product, Space};

/// What an opcode stands for.
pub(super) struct Shape {
    pub op: Op,
    /// Results that are no predicates.
    pub registers: usize,
    /// Results that are predicates, at most.
    pub predicates: usize,
    /// Operands that it reads, at least.
    pub sources: usize,
    pub labelled: bool,
}

impl Shape {
    fn new(op: Op, registers: usize, predicates: usize, sources: usize) -> Option<Shape> {
        Some(Shape { op, registers, predicates, sources, labelled: false })
    }

    fn labelled(op: Op) -> Option<Shape> {
        Some(Shape { op, registers: 0, predicates: 0, sources: 0, labelled: true })
    }
}

/// Modifiers that change neither what an instruction computes, where it goes, nor how much it moves.
const HARMLESS: [&str; 33] = [
    "E",
    "CONSTANT",
    "STRONG",
    "WEAK",
    "GPU",
    "SYS",
    "SM",
    "CTA",
    "EF",
    "EL",
    "LU",
    "EU",
    "NA",
    "BYPASS",
    "ACCESS",
    "FTZ",
    "LTC64B",
    "LTC128B",
    "LTC256B",
    "DEFER_BLOCKING",
    "NOINC",
    "NODEC",
    "REL",
    "SAT",
    "RN",
    "RM",
    "RP",
    "RZ",
    "U",
    "MMA",
    "NTZ",
    "TRUNC",
    "DIV",
];

/// Modifiers of atomic operations. Those that compare and exchange stand in loops that end by values, which are not followed.
const ATOMIC: [&str; 18] = [
    "ADD", "MIN", "MAX", "AND", "OR", "XOR", "INC", "DEC", "EXCH", "POPC", "32", "U32", "S32", "64", "U64",
    "S64", "F32", "F64",
];

/// What an opcode with its modifiers stands for; `None` where that is not known.
pub(super) fn shape(opcode: &str) -> Option<Shape> {
    let mut parts = opcode.split('.');
    let full = parts.next()?;
    let modifiers: Vec<&str> = parts.collect();
    let has = |modifier: &str| modifiers.contains(&modifier);
    // Nothing is overlooked: modifiers other than these are unknown.
    let only = |allowed: &[&str]| modifiers.iter().all(|modifier| allowed.contains(modifier));
    let mild = |allowed: &[&str]| {
        modifiers.iter().all(|modifier| allowed.contains(modifier) || HARMLESS.contains(modifier))
    };
    // Instructions on values of the warp are those on values of lanes, with other registers.
    let base = match full {
        "UIADD3" | "UIMAD" | "ULEA" | "ULOP3" | "UPLOP3" | "USHF" | "UISETP" | "USEL" | "UMOV" | "UPRMT"
        | "UFLO" | "UPOPC" | "UBREV" | "USGXT" | "UIMNMX" | "UIABS" | "UVIMNMX" | "UIADD" => &full[1..],
        other => other,
    };
    let signed = !has("U32");
    let single = Precision::Single;
    let double = Precision::Double;
    match base {
        "IADD3" if only(&["X"]) => Shape::new(Op::Add3 { carried: has("X") }, 1, 2, 3),
        "IADD" if only(&[]) => Shape::new(Op::Add, 1, 0, 2),
        "VIADD" if only(&[]) => Shape::new(Op::Add, 1, 0, 2),
        "IMAD" if only(&["MOV", "IADD", "SHL", "U32", "X", "WIDE", "HI"]) => {
            let product = match () {
                () if has("WIDE") => Product::Wide,
                () if has("HI") => Product::High,
                () => Product::Low,
            };
            Shape::new(Op::MultiplyAdd { product, signed, carried: has("X") }, 1, 1, 3)
        }
        "LEA" if only(&["HI", "X", "SX32"]) => {
            let op = Op::ShiftAdd { high: has("HI"), extended: has("SX32"), carried: has("X") };
            Shape::new(op, 1, 1, 3)
        }
        "LOP3" if only(&["LUT", "PAND"]) => Shape::new(Op::Logic { all: has("PAND") }, 1, 1, 4),
        "PLOP3" if only(&["LUT"]) => Shape::new(Op::PredicateLogic, 0, 2, 4),
        "SHF" if only(&["L", "R", "U32", "S32", "U64", "S64", "HI", "W"]) => {
            let op = Op::Shift {
                right: has("R"),
                wide: has("U64") || has("S64"),
                signed: has("S32") || has("S64"),
                high: has("HI"),
                wraps: has("W"),
            };
            Shape::new(op, 1, 0, 3)
        }
        "ISETP" => {
            let (&name, rest) = modifiers.split_first()?;
            let allowed = |modifier: &&str| ["U32", "AND", "OR", "XOR", "EX"].contains(modifier);
            let op = Op::Compare {
                comparison: comparison(name)?,
                signed,
                join: join(&modifiers),
                extended: has("EX"),
            };
            if rest.iter().all(allowed) { Shape::new(op, 0, 2, 3) } else { None }
        }
        "SEL" if only(&[]) => Shape::new(Op::Select, 1, 0, 3),
        "IMNMX" | "VIMNMX" if only(&["U32"]) => Shape::new(Op::Extreme { signed }, 1, 0, 3),
        "VIMNMX3" if only(&["U32"]) => Shape::new(Op::Extreme3 { signed }, 1, 0, 4),
        "VIADDMNMX" if only(&["U32"]) => Shape::new(Op::AddExtreme { signed }, 1, 0, 4),
        "MOV" if only(&[]) => Shape::new(Op::Move, 1, 0, 1),
        "R2UR" if only(&[]) => Shape::new(Op::Move, 1, 0, 1),
        "PRMT" if only(&[]) => Shape::new(Op::Permute, 1, 0, 3),
        "IABS" if only(&[]) => Shape::new(Op::Absolute, 1, 0, 1),
        "FLO" if only(&["U32", "SH"]) => Shape::new(Op::LeadingOne { signed, shift: has("SH") }, 1, 0, 1),
        "POPC" if only(&[]) => Shape::new(Op::CountOnes, 1, 0, 1),
        "BREV" if only(&[]) => Shape::new(Op::Reverse, 1, 0, 1),
        "SGXT" if only(&["U32"]) => Shape::new(Op::SignExtend { signed }, 1, 0, 2),
        "P2R" | "UP2UR" if only(&[]) => Shape::new(Op::PredicatesToRegister, 1, 0, 3),
        "R2P" if only(&[]) => Shape::new(Op::RegisterToPredicates, 1, 0, 2),
        "S2R" | "S2UR" if only(&[]) => Shape::new(Op::Special { words: 1 }, 1, 0, 1),
        "CS2R" if only(&["32"]) => Shape::new(Op::Special { words: 2 - u8::from(has("32")) }, 1, 0, 1),
        "LDC" | "ULDC" | "LDCU" if only(&["64", "128", "U8", "S8", "U16", "S16"]) => match () {
            () if modifiers.is_empty() => Shape::new(Op::LoadConstant { words: 1 }, 1, 0, 1),
            () if only(&["64"]) => Shape::new(Op::LoadConstant { words: 2 }, 1, 0, 1),
            () if only(&["128"]) => Shape::new(Op::LoadConstant { words: 4 }, 1, 0, 1),
            () => None,
        },
        "FADD" | "FMUL" if mild(&[]) => {
            Shape::new(Op::Arithmetic { precision: single, operations: 1 }, 1, 0, 2)
        }
        "FFMA" if mild(&[]) => Shape::new(Op::Arithmetic { precision: single, operations: 2 }, 1, 0, 3),
        "DADD" | "DMUL" if mild(&[]) => {
            Shape::new(Op::Arithmetic { precision: double, operations: 1 }, 1, 0, 2)
        }
        "DFMA" if mild(&[]) => Shape::new(Op::Arithmetic { precision: double, operations: 2 }, 1, 0, 3),
        "HADD2" | "HMUL2" | "HFMA2" if mild(&["F32", "BF16_V2", "BF16", "RELU"]) => {
            // The sum of nothing and two numbers is how a constant is made.
            Shape::new(Op::HalfPair, 1, 0, 2)
        }
        "FMNMX" | "FSEL" | "FRND" | "FSWZADD" if mild(&["NAN", "FLOOR", "CEIL"]) => {
            Shape::new(Op::Numeric { precision: single }, 1, 0, 1)
        }
        "DMNMX" | "FRND64" if mild(&[]) => Shape::new(Op::Numeric { precision: double }, 1, 0, 1),
        "FSETP" | "DSETP" => {
            let (&name, rest) = modifiers.split_first()?;
            let (comparison, unordered) = comparison_of_numbers(name)?;
            let op = Op::CompareFloats {
                precision: if base == "DSETP" { double } else { single },
                comparison,
                unordered,
                join: join(&modifiers),
            };
            let known = rest.iter().all(|modifier| ["FTZ", "AND", "OR", "XOR"].contains(modifier));
            if known { Shape::new(op, 0, 2, 3) } else { None }
        }
        "FCHK" if mild(&["DIVIDE"]) => Shape::new(Op::CheckDivision, 0, 1, 2),
        "MUFU" => {
            let names =
                ["RCP", "RSQ", "SQRT", "EX2", "LG2", "SIN", "COS", "TANH", "RCP64H", "RSQ64H", "FTZ", "F16"];
            let op = Op::Function { double: has("RCP64H") || has("RSQ64H"), reciprocal: has("RCP") };
            if only(&names) && !modifiers.is_empty() { Shape::new(op, 1, 0, 1) } else { None }
        }
        "F2F" | "F2FP" if mild(&["F32", "F64", "F16", "BF16", "PACK_AB", "FLOOR", "CEIL"]) => Shape::new(
            Op::FloatToFloat { words: if modifiers.first() == Some(&"F64") { 2 } else { 1 } },
            1,
            0,
            1,
        ),
        "I2F" | "I2FP" if mild(&["F64", "F32", "U32", "S32", "U64", "S64", "U16", "S16", "U8", "S8"]) => {
            let op = Op::IntegerToFloat {
                signed: !["U8", "U16", "U32", "U64"].into_iter().any(has),
                source_words: if has("U64") || has("S64") { 2 } else { 1 },
                words: if has("F64") { 2 } else { 1 },
                up: has("RP"),
            };
            Shape::new(op, 1, 0, 1)
        }
        "F2I" if mild(&["U32", "S32", "U64", "S64", "F64", "FLOOR", "CEIL", "U16", "S16", "U8", "S8"]) => {
            let wide = has("U64") || has("S64");
            let signed = !["U8", "U16", "U32", "U64"].into_iter().any(has);
            Shape::new(Op::FloatToInteger { signed, words: 1 + u8::from(wide) }, 1, 0, 1)
        }
        "LDG" | "LDS" | "LDL" if mild(&["64", "128", "U8", "S8", "U16", "S16"]) => {
            let op =
                Op::Load { space: space(base), bytes: bytes(&modifiers), signed: has("S8") || has("S16") };
            Shape::new(op, 1, 0, 1)
        }
        "STG" | "STS" | "STL" if mild(&["64", "128", "U8", "U16"]) => {
            Shape::new(Op::Store { space: space(base), bytes: bytes(&modifiers) }, 0, 0, 2)
        }
        "RED" | "REDG" | "ATOM" | "ATOMG" | "ATOMS" if mild(&ATOMIC) => {
            let op = Op::Atomic {
                space: if base == "ATOMS" { Space::Shared } else { Space::Global },
                bytes: if ["64", "F64", "U64", "S64"].into_iter().any(has) { 8 } else { 4 },
            };
            // A reduction returns nothing; others may say by a predicate whether they had to do with memory.
            let returns = usize::from(base.starts_with("ATOM"));
            Shape::new(op, returns, returns, 2)
        }
        "LDGSTS" if mild(&["64", "128"]) => Shape::new(Op::CopyAsync { bytes: bytes(&modifiers) }, 0, 0, 2),
        "LDGDEPBAR" if only(&[]) => Shape::new(Op::CommitCopies, 0, 0, 0),
        "DEPBAR" if only(&["LE"]) => Shape::new(Op::WaitCopies, 0, 0, 0),
        "MEMBAR" | "ERRBAR" | "CCTL" if mild(&["SC", "ALL", "VC", "IVALL"]) => Shape::new(Op::Fence, 0, 0, 0),
        "BAR" if mild(&["SYNC", "ARV"]) && modifiers.first().is_some_and(|m| *m == "SYNC" || *m == "ARV") => {
            Shape::new(Op::Barrier, 0, 0, 0)
        }
        "SHFL" => {
            let exchange = match modifiers.as_slice() {
                ["IDX"] => Exchange::Index,
                ["UP"] => Exchange::Up,
                ["DOWN"] => Exchange::Down,
                ["BFLY"] => Exchange::Butterfly,
                _ => return None,
            };
            Shape::new(Op::Shuffle(exchange), 1, 1, 3)
        }
        "VOTE" | "VOTEU" => match modifiers.as_slice() {
            ["ALL"] => Shape::new(Op::Vote { all: true }, 1, 1, 1),
            ["ANY"] => Shape::new(Op::Vote { all: false }, 1, 1, 1),
            _ => None,
        },
        "BRA" if only(&["U"]) => Shape::labelled(Op::Branch),
        "BRA" if only(&["DIV"]) => Shape::labelled(Op::BranchDivergent),
        "BRX" if only(&[]) => Shape::new(Op::BranchIndirect, 0, 0, 2),
        "CALL" if mild(&[]) => Shape::labelled(Op::Call),
        "RET" if mild(&[]) => Shape::new(Op::Return, 0, 0, 1),
        "EXIT" if only(&[]) => Shape::new(Op::Exit, 0, 0, 0),
        "BSSY" if mild(&["RECONVERGENT", "RELIABLE"]) => Shape::new(Op::OpenRegion, 1, 0, 0),
        "BSYNC" if mild(&["RECONVERGENT", "RELIABLE"]) => Shape::new(Op::CloseRegion, 0, 0, 1),
        "BREAK" if mild(&["RECONVERGENT", "RELIABLE"]) => Shape::new(Op::LeaveRegion, 0, 0, 1),
        "WARPSYNC" if only(&["ALL", "EXCLUSIVE", "COLLECTIVE"]) && !has("COLLECTIVE") => {
            Shape::new(Op::WarpSync { all: has("ALL") }, 0, 0, 0)
        }
        "BMOV" if only(&["32", "CLEAR", "PQUAD"]) && !has("PQUAD") => {
            Shape::new(Op::MoveBarrier { clear: has("CLEAR") }, 1, 0, 1)
        }
        "NOP" | "YIELD" | "NANOSLEEP" if only(&[]) => Shape::new(Op::Nothing, 0, 0, 0),
        _ => None,
    }
}

fn space(base: &str) -> Space {
    match base.as_bytes().last() {
        Some(b'G') => Space::Global,
        Some(b'S') => Space::Shared,
        _ => Space::Local,
    }
}

fn bytes(modifiers: &[&str]) -> u8 {
    match () {
        () if modifiers.contains(&"128") => 16,
        () if modifiers.contains(&"64") => 8,
        () if modifiers.contains(&"U16") || modifiers.contains(&"S16") => 2,
        () if modifiers.contains(&"U8") || modifiers.contains(&"S8") => 1,
        () => 4,
    }
}

/// A comparison of floating-point numbers, and what it says where one of them is none.
fn comparison_of_numbers(name: &str) -> Option<(Comparison, bool)> {
    Some(match name {
        "NUM" => (Comparison::True, false),
        "NAN" => (Comparison::False, true),
        "T" => (Comparison::True, true),
        _ => match name.strip_suffix('U').filter(|name| name.len() == 2) {
            Some(name) => (comparison(name)?, true),
            None => (comparison(name)?, false),
        },
    })
}

fn comparison(name: &str) -> Option<Comparison> {
    Some(match name {
        "F" => Comparison::False,
        "LT" => Comparison::Less,
        "EQ" => Comparison::Equal,
        "LE" => Comparison::LessEqual,
        "GT" => Comparison::Greater,
        "NE" => Comparison::NotEqual,
        "GE" => Comparison::GreaterEqual,
        "T" => Comparison::True,
        _ => return None,
    })
}

fn join(modifiers: &[&str]) -> Join {
    match () {
        () if modifiers.contains(&"OR") => Join::Or,
        () if modifiers.contains(&"XOR") => Join::Xor,
        () => Join::And,
    }
}
