//! Several implementations of a program behind one entry point, which chooses one at each call.
//!
//! Each is a text of its own. They share the slots: what is given, handed out or computed lies in the same ones for all, and
//! scratch behind these, which nobody reads before it is filled.

use super::generate;
use crate::analysis::Implementation;
use crate::emit::generated::{Generated, Mode};
use crate::features::Feature;
use crate::program::Program;

/// Several implementations.
#[derive(Debug, Clone)]
pub struct Several {
    /// The text of the entry point, and what is known of all: checks are numbered one implementation after the other.
    pub generated: Generated,
    /// The implementations, the first one for calls beyond what was measured: `NAME_v0`, `NAME_v1`, ..
    pub variants: Vec<Generated>,
}

/// A feature with the least and the greatest value for which the choice is believed.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranged {
    /// The feature.
    pub feature: Feature,
    /// The range.
    pub range: [f64; 2],
}

/// The name of what chooses: `NAME_choice_choose` takes the features in their order.
pub fn chooser(symbol: &str) -> String {
    format!("{symbol}_choice")
}

/// Makes C of several implementations, of which there is one at least.
pub fn several(
    program: &Program,
    chosen: &[Vec<Implementation>],
    features: &[Ranged],
    mode: Mode,
    symbol: &str,
) -> Several {
    let named = |number: usize| format!("{symbol}_v{number}");
    let make = |(number, own): (usize, &Vec<Implementation>)| generate(program, own, mode, &named(number));
    let variants: Vec<Generated> = chosen.iter().enumerate().map(make).collect();
    let all = |one: &dyn Fn(&Generated) -> String, between: &str| {
        variants.iter().map(one).collect::<Vec<_>>().join(between)
    };
    let declared = all(
        &|own| {
            let name = &own.symbol;
            format!(
                "int {name}(tw_slot *slots, int threads, tw_report *report);\nvoid {name}_free(tw_slot *slots);\n"
            )
        },
        "",
    );
    let mut before = 0;
    let mut starts = Vec::new();
    for own in &variants {
        starts.push(before.to_string());
        before += own.checks.len();
    }
    let numbers = |side: usize| {
        let list: Vec<String> = features.iter().map(|own| format!("{:?}", own.range[side])).collect();
        list.join(", ")
    };
    let values: Vec<String> = features
        .iter()
        .map(|own| format!("        /* {} */ {}", own.feature.name, own.feature.text()))
        .collect();
    let mut generated =
        variants.iter().max_by_key(|own| own.slots.list.len()).unwrap_or(&variants[0]).clone();
    generated.text = include_str!("../../templates/choice.c")
        .replace("@FEATURES@", &features.len().to_string())
        .replace("@DECLARED@", &declared)
        .replace("@CALLED@", &all(&|own| own.symbol.clone(), ", "))
        .replace("@CHECKS@", &starts.join(", "))
        .replace("@LEAST@", &numbers(0))
        .replace("@GREATEST@", &numbers(1))
        .replace("@VALUES@", &values.join(",\n"))
        .replace("@MOST@", &generated.symbol)
        .replace("@NAME@", symbol);
    generated.symbol = symbol.to_owned();
    generated.checks = variants.iter().flat_map(|own| own.checks.iter().cloned()).collect();
    generated.traffic = variants[0].traffic.clone();
    Several { generated, variants }
}
