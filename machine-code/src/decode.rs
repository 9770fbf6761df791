//! One line of a listing as an [`Instruction`].

use crate::error::{Error, Result};
use crate::instruction::{
    Address, Comparison, Destination, Exchange, Instruction, Join, Kind, Op, Precision, Predicate, Product,
    Sign, Source, Space, Special, TRUE_PREDICATE, Term, ZERO_REGISTER, ZERO_UNIFORM,
};

/// Reads what follows the address of a line: `@!P0 BRA P1, `(.L_x_4) ;`.
pub fn instruction(line: usize, address: u32, text: &str) -> Result<Instruction> {
    let text = text.split(';').next().unwrap_or_default();
    let text = text.split("(*").next().unwrap_or_default().trim();
    let (guard, text) = match text.strip_prefix('@') {
        None => (Predicate::TRUE, text),
        Some(rest) => {
            let (guard, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let guard = predicate(guard).ok_or_else(|| wrong(line, text, "its guard is no predicate"))?;
            (guard, rest.trim())
        }
    };
    let (opcode, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let shape = shape(opcode).ok_or_else(|| Error::UnknownOpcode { line, opcode: opcode.to_owned() })?;
    let mut instruction = Instruction {
        line,
        address,
        text: text.to_owned(),
        guard,
        op: shape.op,
        destinations: Vec::new(),
        sources: Vec::new(),
        kind: Kind::Control,
        label: None,
        target: None,
    };
    let mut byte = None;
    for operand in split(operands) {
        // A byte of a register, where its bits become predicates.
        let operand = match operand.split_once(".B") {
            Some((register, number @ ("0" | "1" | "2" | "3"))) if shape.op == Op::RegisterToPredicates => {
                byte = number.parse().ok();
                register
            }
            _ => operand,
        };
        if let Some(label) = operand.strip_prefix("`(").and_then(|rest| rest.strip_suffix(')')) {
            instruction.label = Some(label.to_owned());
            continue;
        }
        let source = source(operand).ok_or_else(|| wrong(line, text, &format!("the operand `{operand}`")))?;
        let plain = destination(&source);
        // Results come first: one register, and predicates around it.
        let is_result = match plain {
            None => false,
            Some(Destination::Predicate(_)) => {
                shape.predicates > count(&instruction, true) && instruction.sources.is_empty()
            }
            Some(_) => shape.registers > count(&instruction, false) && instruction.sources.is_empty(),
        };
        if is_result && let Some(destination) = plain {
            instruction.destinations.push(destination);
        } else {
            instruction.sources.push(source);
        }
    }
    instruction.sources.extend(byte.map(|byte: u32| Source::Integer(8 * byte)));
    let optional = matches!(shape.op, Op::Vote { .. });
    if (count(&instruction, false) < shape.registers && !optional)
        || instruction.sources.len() < shape.sources
    {
        return Err(wrong(line, text, "operands are missing"));
    }
    if shape.labelled && instruction.label.is_none() {
        return Err(wrong(line, text, "it names no label"));
    }
    instruction.kind = instruction.kind_of();
    Ok(instruction)
}

fn wrong(line: usize, text: &str, reason: &str) -> Error {
    Error::Operand { line, text: text.to_owned(), reason: reason.to_owned() }
}

/// How many results of predicates, or of other registers, there are so far.
fn count(instruction: &Instruction, predicates: bool) -> usize {
    let is_one = |destination: &&Destination| matches!(destination, Destination::Predicate(_)) == predicates;
    instruction.destinations.iter().filter(is_one).count()
}

/// What an opcode stands for.
struct Shape {
    op: Op,
    /// Results that are no predicates.
    registers: usize,
    /// Results that are predicates, at most.
    predicates: usize,
    /// Operands that it reads, at least.
    sources: usize,
    labelled: bool,
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
fn shape(opcode: &str) -> Option<Shape> {
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
            let unordered = name.len() > 2 && name.ends_with('U');
            let op = Op::CompareFloats {
                precision: if base == "DSETP" { double } else { single },
                comparison: comparison(name.strip_suffix('U').filter(|_| unordered).unwrap_or(name))?,
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

/// Operands between commas that stand in no brackets; jumps have blanks instead: `BRX R24 -0x1450`, `RET.REL.NODEC R58 `(f)`.
fn split(operands: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let outside = move |c: char| {
        depth += i32::from(c == '[' || c == '(') - i32::from(c == ']' || c == ')');
        depth <= 0 && (c == ',' || c.is_whitespace())
    };
    operands.split(outside).filter(|operand| !operand.is_empty())
}

/// A source that can be a result, too.
fn destination(source: &Source) -> Option<Destination> {
    match *source {
        Source::Register { index, uniform, sign: Sign::Plus, absolute: false } => {
            Some(if uniform { Destination::Uniform(index) } else { Destination::Register(index) })
        }
        Source::Predicate(predicate) if !predicate.negated => Some(Destination::Predicate(predicate)),
        Source::Barrier(index) => Some(Destination::Barrier(index)),
        Source::AllPredicates => Some(Destination::AllPredicates),
        _ => None,
    }
}

fn source(text: &str) -> Option<Source> {
    if let Some(address) = text.strip_prefix("desc[") {
        return source(address.split_once(']')?.1);
    }
    if let Some(inner) = text.strip_prefix('[') {
        return Some(Source::Memory(address(inner.strip_suffix(']')?)?));
    }
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (Sign::Minus, &text[1..]),
        b'~' => (Sign::Not, &text[1..]),
        _ => (Sign::Plus, text),
    };
    let (absolute, rest) = match rest.strip_prefix('|') {
        Some(inner) => {
            let (inner, after) = inner.split_once('|')?;
            if !after.is_empty() && after != ".reuse" {
                return None;
            }
            (true, inner)
        }
        None => (false, rest),
    };
    if let Some(constant) = rest.strip_prefix("c[") {
        let (bank, rest) = constant.split_once("][")?;
        let bank = integer(bank)?.try_into().ok()?;
        return Some(Source::Constant { bank, address: address(rest.strip_suffix(']')?)?, sign, absolute });
    }
    let bare = rest.strip_suffix(".reuse").unwrap_or(rest);
    if let Some(predicate) = predicate(bare) {
        return (sign == Sign::Plus).then_some(Source::Predicate(predicate));
    }
    if let Some((index, uniform, modifier)) = register(bare) {
        // Halves of registers matter to floating-point numbers only, whose values are not followed.
        let known = matches!(modifier, "" | "64" | "H0_H0" | "H1_H1" | "H1_H0" | "F32");
        return known.then_some(Source::Register { index, uniform, sign, absolute });
    }
    if bare == "PR" || bare == "UPR" {
        return Some(Source::AllPredicates);
    }
    if let Some(digits) = bare.strip_prefix('B').filter(|digits| !digits.is_empty()) {
        return digits.parse().ok().filter(|&index| index < 16).map(Source::Barrier);
    }
    if let Some(special) = special(bare) {
        return Some(Source::Special(special));
    }
    if bare.starts_with("SB") && bare.len() <= 4 {
        return Some(Source::Integer(0));
    }
    number(text)
}

fn number(text: &str) -> Option<Source> {
    if let Some(value) = integer(text).filter(|_| text.contains("0x")) {
        return Some(Source::Integer(value as u32));
    }
    let value = match text {
        "+INF" | "INF" => f64::INFINITY,
        "-INF" => f64::NEG_INFINITY,
        "+QNAN" | "-QNAN" | "QNAN" | "+SNAN" | "-SNAN" | "SNAN" => f64::NAN,
        digits if digits.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+' || c == '.') => {
            digits.parse().ok()?
        }
        _ => return None,
    };
    Some(Source::Float(value))
}

/// `0x12`, `-0x12` or decimal.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// `R2.64+UR4+-0x400`.
fn address(text: &str) -> Option<Address> {
    let mut address = Address::default();
    for part in text.split('+').filter(|part| !part.is_empty()) {
        if let Some((index, uniform, modifier)) = register(part.strip_suffix(".reuse").unwrap_or(part)) {
            let (wide, factor) = match modifier {
                "" | "U32" => (false, 1),
                "64" => (true, 1),
                "X4" => (false, 4),
                "X8" => (false, 8),
                "X16" => (false, 16),
                _ => return None,
            };
            address.terms.push(Term { index, uniform, wide, factor });
        } else {
            address.offset = address.offset.checked_add(integer(part)?)?;
        }
    }
    Some(address)
}

/// `R12.64` as 12, not uniform, `64`.
fn register(text: &str) -> Option<(u8, bool, &str)> {
    let (name, modifier) = text.split_once('.').unwrap_or((text, ""));
    let (uniform, digits) = match name.strip_prefix("UR") {
        Some(digits) => (true, digits),
        None => (false, name.strip_prefix('R')?),
    };
    match name {
        "RZ" => Some((ZERO_REGISTER, false, modifier)),
        "URZ" => Some((ZERO_UNIFORM, true, modifier)),
        _ if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) => None,
        _ => {
            digits.parse().ok().filter(|&index| index < ZERO_REGISTER).map(|index| (index, uniform, modifier))
        }
    }
}

fn predicate(text: &str) -> Option<Predicate> {
    let (negated, name) = match text.strip_prefix('!') {
        Some(name) => (true, name),
        None => (false, text),
    };
    let (uniform, digits) = match name.strip_prefix("UP") {
        Some(digits) => (true, digits),
        None => (false, name.strip_prefix('P')?),
    };
    let index = match digits {
        "T" => TRUE_PREDICATE,
        _ => digits.parse().ok().filter(|&index| index < TRUE_PREDICATE && digits.len() == 1)?,
    };
    Some(Predicate { index, uniform, negated })
}

fn special(text: &str) -> Option<Special> {
    Some(match text {
        "SRZ" => Special::Zero,
        "SR_TID.X" => Special::Thread(0),
        "SR_TID.Y" => Special::Thread(1),
        "SR_TID.Z" => Special::Thread(2),
        "SR_CTAID.X" => Special::Block(0),
        "SR_CTAID.Y" => Special::Block(1),
        "SR_CTAID.Z" => Special::Block(2),
        "SR_LANEID" => Special::Lane,
        // Of a cluster of one block.
        "SR_CgaCtaId" => Special::Zero,
        "SR_LTMASK" => Special::LanesBelow,
        _ => return None,
    })
}
