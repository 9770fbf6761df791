//! Dependences by executing a program on a small grid and remembering who touched each cell.

use polyhedral::dependence::{Dependence, DependenceKind};
use polyhedral::program::{FieldId, FieldRole, Program};
use std::collections::{BTreeSet, HashMap};

/// Statement, time step, point.
pub type Instance = (usize, i64, Vec<i64>);

/// All points of a box of half-open intervals, in lexicographic order.
pub fn points(intervals: &[(i64, i64)]) -> Vec<Vec<i64>> {
    let mut points = vec![vec![]];
    for &(low, high) in intervals {
        points = points
            .iter()
            .flat_map(|prefix: &Vec<i64>| {
                (low..high).map(move |x| prefix.iter().copied().chain([x]).collect())
            })
            .collect();
    }
    points
}

#[derive(Default)]
struct Cell {
    writer: Option<Instance>,
    readers: BTreeSet<Instance>,
}

/// The immediate dependences that occur on a grid of this size in this many steps.
pub fn dependences(program: &Program, size: &[i64], steps: i64) -> BTreeSet<Dependence> {
    let mut found = BTreeSet::new();
    for (kind, field, source, target) in instance_dependences(program, size, steps) {
        let row = |instance: &Instance| program.statements.len() as i64 * instance.1 + instance.0 as i64;
        found.insert(Dependence {
            kind,
            source: source.0,
            target: target.0,
            field,
            rows: row(&target) - row(&source),
            offset: target.2.iter().zip(&source.2).map(|(target, source)| target - source).collect(),
        });
    }
    found
}

/// The same as pairs of instances.
pub fn instance_dependences(
    program: &Program,
    size: &[i64],
    steps: i64,
) -> Vec<(DependenceKind, FieldId, Instance, Instance)> {
    let mut cells: HashMap<(FieldId, usize, Vec<i64>), Cell> = HashMap::new();
    let mut found = Vec::new();
    for t in 0..steps {
        for (k, statement) in program.statements.iter().enumerate() {
            let domain = points(&program.domain(k, size));
            // A sweep in order is one point after the other, each with its reads first.
            let groups =
                if program.in_order(k) { domain.chunks(1) } else { domain.chunks(domain.len().max(1)) };
            for domain in groups {
                for point in domain {
                    let instance = (k, t, point.clone());
                    for read in &statement.reads {
                        if program.field(read.field).role == FieldRole::Coefficient {
                            continue;
                        }
                        let at = point.iter().zip(&read.offset).map(|(s, o)| s + o).collect::<Vec<_>>();
                        assert!(
                            at.iter().zip(size).all(|(&x, &n)| 0 <= x && x < n),
                            "a read leaves the grid"
                        );
                        let slot = program.slot_of_level(read.field, t + read.time);
                        let cell = cells.entry((read.field, slot, at)).or_default();
                        if let Some(writer) = &cell.writer {
                            found.push((DependenceKind::Flow, read.field, writer.clone(), instance.clone()));
                        }
                        cell.readers.insert(instance.clone());
                    }
                }
                for point in domain {
                    let instance = (k, t, point.clone());
                    let slot = program.slot_of_level(statement.target, t + 1);
                    let cell = cells.entry((statement.target, slot, point.clone())).or_default();
                    for reader in std::mem::take(&mut cell.readers) {
                        if reader != instance {
                            found.push((DependenceKind::Anti, statement.target, reader, instance.clone()));
                        }
                    }
                    if let Some(writer) = cell.writer.replace(instance.clone()) {
                        found.push((DependenceKind::Output, statement.target, writer, instance));
                    }
                }
            }
        }
    }
    found
}
