//! One line of a listing as an [`Instruction`].

mod opcode;
mod operand;

use crate::error::{Error, Result};
use crate::instruction::{Destination, Instruction, Kind, Op, Predicate, Source};
use opcode::shape;
use operand::{destination, predicate, source, split};

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
