//! Fusion: a computation whose elements are computed each by itself and without a loop, and are read once each, by one
//! later computation, is computed where it is read and never stored.

use crate::program::{Expr, Item, Kind, Operator, Program, Role, VarId};

/// Most computations that are put into one.
const MOST_FUSED: usize = 12;

/// The program with such computations turned into names (`let`), and the names of these.
pub fn fuse(program: &Program) -> (Program, Vec<VarId>) {
    let mut fused = program.clone();
    let mut names = Vec::new();
    let mut items = std::mem::take(&mut fused.items);
    let stays = |id: VarId| program.outputs.contains(&id) || program.variable(id).role != Role::Computed;
    pass(program, &mut items, &stays, &mut names);
    for &name in &names {
        fused.variables[name].role = Role::Local;
    }
    fused.items = items;
    (fused, names)
}

fn pass(program: &Program, items: &mut [Item], stays: &dyn Fn(VarId) -> bool, names: &mut Vec<VarId>) {
    for place in 0..items.len() {
        if let Item::Repeat { items, .. } = &mut items[place] {
            pass(program, items, stays, names);
            continue;
        }
        let (before, rest) = items.split_at_mut(place + 1);
        let Item::Compute(variable, value) = &before[place] else { continue };
        let sequence = value.ty.element().is_some_and(|element| !element.has_sequence());
        if !sequence || stays(*variable) || !is_light(value) || uses_everywhere(program, *variable) != 1 {
            continue;
        }
        let changed: Vec<VarId> = rest.iter().filter_map(assigned).collect();
        let moves = changed.iter().any(|state| value.mentions(*state));
        if rest.iter().any(|item| reads_once(item, *variable)) && !moves && height(value, names) < MOST_FUSED
        {
            names.push(*variable);
            before[place] = Item::Let(*variable, value.clone());
        }
    }
}

/// How many fused computations a value may have in it.
fn height(value: &Expr, names: &[VarId]) -> usize {
    let mut found = false;
    value.walk(false, &mut |part, _| {
        found |= matches!(part.kind, Kind::Variable(used) if names.last() == Some(&used))
    });
    if !found {
        return 0;
    }
    // Chains are fused in the order of the text: at worst all of them are in it.
    names.len()
}

fn assigned(item: &Item) -> Option<VarId> {
    match item {
        Item::Assign(state, _) => Some(*state),
        _ => None,
    }
}

/// Whether elements are computed each by itself, without a loop.
fn is_light(value: &Expr) -> bool {
    let mut light = true;
    value.walk(false, &mut |part, _| {
        if let Kind::Apply(operator, ..) = &part.kind {
            light &= operator.is_fused() && *operator != Operator::Join;
        }
    });
    light
}

/// How often a variable is used in the whole program.
fn uses_everywhere(program: &Program, variable: VarId) -> usize {
    fn count(items: &[Item], variable: VarId) -> usize {
        let of = |expr: &Expr| {
            let mut uses = 0;
            expr.walk(false, &mut |part, _| {
                uses += usize::from(matches!(part.kind, Kind::Variable(used) if used == variable))
            });
            uses
        };
        let item = |item: &Item| match item {
            Item::Let(_, value) | Item::Compute(_, value) | Item::Assign(_, value) => of(value),
            Item::Repeat { times, items, until } => {
                of(times) + until.as_ref().map_or(0, of) + count(items, variable)
            }
        };
        items.iter().map(item).sum()
    }
    count(&program.items, variable)
}

/// Whether a computation reads each element of a variable at most once, in its own loop.
fn reads_once(item: &Item, variable: VarId) -> bool {
    let (Item::Compute(_, value) | Item::Assign(_, value)) = item else { return false };
    once(value, variable)
}

fn once(expr: &Expr, variable: VarId) -> bool {
    use Operator::*;
    match &expr.kind {
        Kind::Variable(used) => *used == variable,
        Kind::Apply(operator, _, parts) => {
            let through: &[usize] = match operator {
                Map | Zip => &[0, 1, 2, 3, 4, 5, 6, 7],
                Reduce | Scan | Split | Nest | Striding | Reverse | Filter => &[0],
                ReduceByKey => &[0],
                Gather => &[1],
                _ => &[],
            };
            through.iter().filter_map(|place| parts.get(*place)).any(|part| once(part, variable))
        }
        _ => false,
    }
}
