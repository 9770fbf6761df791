//! Functions that copy the fixed boundary of a field to all of its stored levels.

use super::super::arguments::Arguments;
use super::super::boundary::{Boundary, copied};
use super::super::points::{INT, as_it_is, max, min, place};
use c_tree::{Block, Dialect, Expr, Function, Stmt, Type, name, truth, var};

/// The functions, and their names.
pub(super) fn functions(arguments: Arguments<'_>) -> Vec<(String, String)> {
    copied(arguments).iter().map(|field| function(arguments, field)).collect()
}

fn function(arguments: Arguments<'_>, field: &Boundary) -> (String, String) {
    let grid = name("grid");
    let own = |member: &String| Stmt::constant(INT, member, grid.arrow(member));
    let mut body: Block = arguments.sizes().iter().chain(&arguments.strides()).map(own).collect();
    let small = arguments.too_small();
    if let Some(condition) = &small {
        body.push(Stmt::constant("int", "small", condition).note("then all of the grid is boundary"));
    }
    let small = small.map_or(truth(false), |_| name("small"));
    let level = |slot: Expr| grid.arrow(&field.name).at(slot);
    let (newest, slot) = (c_tree::int(field.newest), var("slot"));
    let constant = Type::new(field.element).constant().pointer();
    body.push(Stmt::declare(constant, "from", level(newest.clone())));

    let mut levels = Block::from(Stmt::when(slot.clone().is(newest), Stmt::Continue));
    levels.push(Stmt::declare(Type::new(field.element).pointer(), "to", level(slot)));
    levels.extend(lines(field, &small, None));
    body.push(Stmt::count(INT, "slot", 0, field.slots, levels));
    let function = format!("tw_copy_boundary_{}", field.name);
    let text = Function::new(&function)
        .comment(format!(
            "The fixed boundary of {} is that of the newest initial level, at every level.",
            field.name
        ))
        .attribute("static")
        .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
        .body(body)
        .print(Dialect::C);
    (function, text)
}

/// Operations of a loop that threads are not woken for: some microseconds of one thread.
pub(super) const FEW: &str = "TW_FEW";

/// A loop over the grid's points by all threads, where it has more than a few.
pub(super) fn over_points(dimension: usize) -> Stmt {
    let extents: Vec<String> = (0..dimension).map(|d| format!("n{d}")).collect();
    Stmt::Pragma(format!("omp parallel for if ({} > {FEW} / 8)", extents.join(" * ")))
}

/// Loops over all points of the boundary, with one level after `to` from that after `from`. `to_strides` are those of
/// `to`, where they are others.
pub(super) fn lines(field: &Boundary, small: &Expr, to_strides: Option<&dyn Fn(&str) -> Expr>) -> Block {
    let row = match field.index.split_last() {
        Some((_, [])) | None => Vec::new(),
        Some((_, outer)) => outer.iter().map(var).chain([c_tree::int(0)]).collect(),
    };
    let at = |begin: &str, x: &Expr| if row.is_empty() { x.clone() } else { var(begin) + x };
    let to_row = if to_strides.is_some() { "to_row" } else { "row" };
    let x = var("x");
    let copy = |first: Expr, end: Expr| {
        let mut inner = Block::new();
        let computed = |other: &Expr| Stmt::when((!small.clone()).and(other.clone()), Stmt::Continue);
        inner.extend(field.other_domains.iter().map(computed));
        inner.push(Stmt::assign(name("to").at(at(to_row, &x)), name("from").at(at("row", &x))));
        Stmt::count(INT, "x", first, end, inner)
    };
    let (low, high, size) = (field.low.clone(), field.high.clone(), field.size.clone());
    let outside = field.outside.clone().or(small.clone());
    let mut line = Block::new();
    if !row.is_empty() {
        line.push(Stmt::constant(INT, "row", place(&row, &as_it_is)));
        line.extend(to_strides.map(|strides| Stmt::constant(INT, to_row, place(&row, strides))));
    }
    let outside = match outside {
        c_tree::Expr::Bool(known) => truth(known),
        condition => {
            line.push(Stmt::constant("int", "outside", condition));
            c_tree::Expr::Name("outside".into(), c_tree::Sort::Truth)
        }
    };
    let choose = |then: Expr, otherwise: Expr| match outside {
        c_tree::Expr::Bool(known) => {
            if known {
                then
            } else {
                otherwise
            }
        }
        _ => outside.clone().select(then, otherwise),
    };
    line.push(copy(c_tree::int(0), choose(size.clone(), min(low.clone(), size.clone()))));
    line.push(copy(choose(size.clone(), max(low, high)), size));
    let outer = &field.index[..field.index.len() - 1];
    let parallel = (!outer.is_empty()).then(|| over_points(field.index.len()));
    let nest = outer
        .iter()
        .enumerate()
        .rev()
        .fold(line, |inner, (d, index)| Stmt::count(INT, index, 0, var(format!("n{d}")), inner).into());
    parallel.into_iter().chain(nest).collect()
}
