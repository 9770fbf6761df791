//! How much the best variant depends on the machine (Figures 3.2 and 3.3, Table 3.5).

use super::fleet::{Fleet, Machine};
use serde::Serialize;

/// How the best variants of machines differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// Inputs that were measured on all machines, and that some variant solves on each.
    pub inputs: usize,
    /// Share of them for which at least one machine has another best variant (Figure 3.2).
    pub whole: f64,
    /// The same among the machines of each generation that has several (Figure 3.3).
    pub generations: Vec<(String, f64)>,
    /// For each machine how many of its inputs each variant is the best for (Table 3.5).
    pub best: Vec<(String, Vec<usize>)>,
}

/// Compares the best variants of all measured machines, input by input; inputs are known by their names.
pub fn sensitivity(fleet: &Fleet) -> Sensitivity {
    let machines = fleet.sources("");
    let label = |machine: &Machine, input: &str| {
        let rows = &machine.table.as_ref()?.rows;
        rows.iter().find(|row| row.input == input)?.label()
    };
    let first = machines.first().and_then(|machine| machine.table.as_ref());
    let names = first.iter().flat_map(|table| &table.rows).map(|row| row.input.as_str());
    let inputs: Vec<&str> =
        names.filter(|input| machines.iter().all(|machine| label(machine, input).is_some())).collect();
    let differ = |among: &[&Machine]| {
        let differs = |input: &&&str| {
            let mut labels = among.iter().map(|machine| label(machine, input));
            let first = labels.next();
            labels.any(|other| Some(other) != first)
        };
        inputs.iter().filter(differs).count() as f64 / inputs.len().max(1) as f64
    };
    let mut generations: Vec<(String, f64)> = Vec::new();
    for machine in &machines {
        let own: Vec<&Machine> =
            machines.iter().copied().filter(|other| other.generation == machine.generation).collect();
        let known = generations.iter().any(|(name, _)| *name == machine.generation);
        if own.len() > 1 && !known && !machine.generation.is_empty() {
            generations.push((machine.generation.clone(), differ(&own)));
        }
    }
    let counts = |machine: &&Machine| {
        let counts = machine.table.as_ref().map(|table| table.label_counts()).unwrap_or_default();
        (machine.name.clone(), counts)
    };
    Sensitivity {
        inputs: inputs.len(),
        whole: differ(&machines),
        generations,
        best: machines.iter().map(counts).collect(),
    }
}
