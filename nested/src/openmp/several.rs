//! Several implementations of a program, or of several versions of it, behind one entry point, which chooses one at each call.
//!
//! Each is a text of its own. Those of one version share the slots: what is given, handed out or computed lies in the same ones
//! for all, and scratch behind these, which nobody reads before it is filled. Of several versions each has slots of its own
//! beside those of the interface; a call gathers them, and puts them back.

use super::generate;
use crate::analysis::Implementation;
use crate::emit::generated::{Generated, Mode, prepared};
use crate::features::Feature;
use crate::versions::Versions;

/// Several implementations.
#[derive(Debug, Clone)]
pub struct Several {
    /// The text of the entry point, and what is known of all: checks are numbered one implementation after the other.
    pub generated: Generated,
    /// The implementations, the first one for calls beyond what was measured: `NAME_v0`, `NAME_v1`, ..
    pub variants: Vec<Generated>,
    /// The version of each.
    pub versions: Vec<usize>,
    /// Each version one operation after the other, which is what the emitted program checks against.
    pub sequential: Vec<Generated>,
}

/// One of several implementations.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Its version.
    pub version: usize,
    /// The implementations of the version's computations.
    pub chosen: Vec<Implementation>,
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
    versions: &Versions,
    chosen: &[Variant],
    features: &[Ranged],
    mode: Mode,
    symbol: &str,
) -> Several {
    let make = |(number, own): (usize, &Variant)| {
        generate(&versions.programs[own.version], &own.chosen, mode, &format!("{symbol}_v{number}"))
    };
    let variants: Vec<Generated> = chosen.iter().enumerate().map(make).collect();
    let one = versions.programs.len() == 1;
    let alone = |(number, program)| {
        let (_, list, _) = prepared(program);
        let weakest: Vec<Implementation> = list.iter().map(Implementation::sequential).collect();
        let more = if one { String::new() } else { format!("_{number}") };
        generate(program, &weakest, mode, &format!("{symbol}_sequential{more}"))
    };
    let sequential: Vec<Generated> = versions.programs.iter().enumerate().map(alone).collect();
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
    let (mut call, mut free, mut behind) = (
        "implementations[variant](slots, threads, report)".to_owned(),
        format!("{}_free(slots);", generated.symbol),
        String::new(),
    );
    let mut gathered = String::new();
    if !one {
        let made = |version: usize| {
            let own = variants.iter().zip(chosen).filter(|(_, own)| own.version == version);
            own.map(|(own, _)| own).chain([&sequential[version]]).collect()
        };
        let made: Vec<Vec<&Generated>> = (0..versions.programs.len()).map(made).collect();
        let (slots, maps) = versions.slots(&made);
        let given = slots.list.iter().take_while(|own| own.given).count();
        let texts = |list: &mut dyn Iterator<Item = usize>| {
            list.map(|own| own.to_string()).collect::<Vec<_>>().join(", ")
        };
        let rows: Vec<String> =
            maps.iter().map(|map| format!("{{{}}}", texts(&mut map.iter().copied()))).collect();
        let alone: Vec<&str> = sequential.iter().map(|own| own.symbol.as_str()).collect();
        let declared =
            alone.iter().map(|own| format!("int {own}(tw_slot *slots, int threads, tw_report *report);\n"));
        gathered = include_str!("../../templates/versions.c")
            .replace("@DECLARED@", &declared.collect::<String>())
            .replace("@VERSIONS@", &texts(&mut chosen.iter().map(|own| own.version)))
            .replace("@COUNTS@", &texts(&mut maps.iter().map(Vec::len)))
            .replace("@MOST@", &maps.iter().map(Vec::len).max().unwrap_or(1).to_string())
            .replace("@PLACES@", &rows.join(",\n    "));
        call = "in_slots_of(versions[variant], implementations[variant], slots, threads, report)".to_owned();
        free = format!(
            "for (int i = {given}; i < {}; ++i) {{\n        free(slots[i].data);\n        \
             slots[i] = (tw_slot){{NULL, 0, 0}};\n    }}",
            slots.list.len()
        );
        behind = include_str!("../../templates/versions_sequential.c")
            .replace("@SEQUENTIAL@", &alone.join(", "))
            .replace("@NAME@", symbol);
        generated.slots = slots;
    }
    generated.text = include_str!("../../templates/choice.c")
        .replace("@FEATURES@", &features.len().to_string())
        .replace("@DECLARED@", &declared)
        .replace("@CALLED@", &all(&|own| own.symbol.clone(), ", "))
        .replace("@CHECKS@", &starts.join(", "))
        .replace("@LEAST@", &numbers(0))
        .replace("@GREATEST@", &numbers(1))
        .replace("@VALUES@", &values.join(",\n"))
        .replace("@GATHERED@", &gathered)
        .replace("@CALL@", &call)
        .replace("@FREE@", &free)
        .replace("@BEHIND@", &behind)
        .replace("@NAME@", symbol);
    generated.symbol = symbol.to_owned();
    generated.checks = variants.iter().flat_map(|own| own.checks.iter().cloned()).collect();
    generated.traffic = variants[0].traffic.clone();
    let versions = chosen.iter().map(|own| own.version).collect();
    Several { generated, variants, versions, sequential }
}
