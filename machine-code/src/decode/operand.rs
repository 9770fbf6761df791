//! The operands of an instruction.

use crate::instruction::{
    Address, Destination, Predicate, Sign, Source, Special, TRUE_PREDICATE, Term, ZERO_REGISTER, ZERO_UNIFORM,
};

/// Operands between commas that stand in no brackets; jumps have blanks instead: `BRX R24 -0x1450`, `RET.REL.NODEC R58 `(f)`.
pub(super) fn split(operands: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let outside = move |c: char| {
        depth += i32::from(c == '[' || c == '(') - i32::from(c == ']' || c == ')');
        depth <= 0 && (c == ',' || c.is_whitespace())
    };
    operands.split(outside).filter(|operand| !operand.is_empty())
}

/// A source that can be a result, too.
pub(super) fn destination(source: &Source) -> Option<Destination> {
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

pub(super) fn source(text: &str) -> Option<Source> {
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

pub(super) fn predicate(text: &str) -> Option<Predicate> {
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
