//! Small arrays of a loop's body, written out as scalars: lattice Boltzmann programs keep the values of one point in
//! `double f[9]`, and their directions in tables.
//!
//! ```text
//! for (q = 0; q < 3; q++) f[q] = a[i - e[q]];    =>    f_0 = a[i - 0]; f_1 = a[i - 1]; f_2 = a[i - -1];
//! ```
//!
//! Loops whose index chooses an element of such an array are written out, elements of tables become their values, and each
//! element of a local array a variable of its own. An array stays as it is where one of its uses names no element by a number.

mod flat;
mod local;
mod planes;
mod shape;
mod tables;
mod unroll;

pub(crate) use flat::flat_planes_as_variables;
pub(crate) use planes::planes_as_variables;

use crate::ast::{Expr, ExprKind, Stmt, Variable};
use crate::parse::File;
use shape::{element, with_declared};
use std::collections::{HashMap, HashSet};

/// Writes out what small arrays hold.
pub fn written_out(statements: &mut Vec<Stmt>, file: &File<'_>, variables: &HashMap<String, Variable>) {
    let tables = tables::tables(statements, file, variables);
    let mut small = local::arrays(statements, variables);
    let known = with_declared(statements, variables);
    // One that turns out to be used in another way stays, and its loops with it.
    while !(small.is_empty() && tables.is_empty()) {
        let arrays: HashSet<&String> = small.keys().chain(tables.keys()).collect();
        let chosen = |expr: &Expr| names_of_elements(expr, &arrays);
        let mut own = statements.clone();
        if unroll::unrolled(&mut own, &chosen, &known).is_none() {
            return;
        }
        tables.iter().for_each(|(name, table)| own.iter_mut().for_each(|stmt| table.put(name, stmt)));
        let kept = local::kept(&own, &small);
        if kept.is_empty() {
            local::as_scalars(&mut own, &small, file);
            *statements = own;
            return;
        }
        small.retain(|name, _| !kept.contains(name));
        if small.is_empty() && tables.is_empty() {
            return;
        }
    }
}

/// The names in the subscripts of some arrays.
fn names_of_elements(expr: &Expr, arrays: &HashSet<&String>) -> HashSet<String> {
    let mut found = HashSet::new();
    expr.walk(&mut |part| {
        let Some((name, indices)) = element(part) else { return };
        if arrays.contains(&name.to_owned()) {
            for index in indices {
                index.walk(&mut |part| {
                    if let ExprKind::Name(name) = &part.kind {
                        found.insert(name.clone());
                    }
                });
            }
        }
    });
    found
}
