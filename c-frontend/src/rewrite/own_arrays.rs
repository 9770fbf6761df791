//! The arrays that each step of a time loop declares: the tiled loops have memory of their own for them, which all steps share.

use super::lines::Lines;
use crate::CProgram;
use crate::ast::CType;
use crate::text::{c_text, type_text, without_parentheses};

/// Declares them.
pub(super) fn declare(program: &CProgram, lines: &mut Lines) {
    let own = program.own_arrays();
    if !own.is_empty() {
        lines.line("/* Arrays that each step declares. */");
    }
    for (number, one) in own.iter().enumerate() {
        let (mut extents, mut at) = (Vec::new(), &one.ctype);
        while let CType::Array(inner, Some(extent)) = at {
            let text = without_parentheses(&c_text(extent, &|_| None));
            if text.parse::<u32>().is_ok_and(|extent| extent > 0) {
                extents.push(text);
            } else {
                let name = format!("tw_extent{number}_{}", extents.len());
                lines.line(format!("const ptrdiff_t {name} = ({text}) > 0 ? ({text}) : 1;"));
                extents.push(name);
            }
            at = inner;
        }
        let element = type_text(at);
        let count: Vec<String> = extents.iter().map(|extent| format!("(size_t){extent}")).collect();
        let rows: String = extents.iter().skip(1).map(|extent| format!("[{extent}]")).collect();
        let pointer = |name: &str| match rows.is_empty() {
            true => format!("{element} *{name}"),
            false => format!("{element} (*{name}){rows}"),
        };
        lines.line(format!(
            "{} = ({}){}_zeros({}, sizeof({element}));",
            pointer(&one.name),
            pointer(""),
            program.program.name,
            count.join(" * ")
        ));
    }
}

/// Gives their memory back.
pub(super) fn drop(program: &CProgram, lines: &mut Lines) {
    for one in program.own_arrays() {
        lines.line(format!("{}_drop({});", program.program.name, one.name));
    }
}
