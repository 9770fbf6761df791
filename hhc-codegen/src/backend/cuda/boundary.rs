//! Kernels that copy the fixed boundary of a field to all of its stored levels, one block per line of the grid.

use super::super::arguments::Arguments;
use super::super::boundary::{Boundary, copied};
use super::super::points::{INT, as_it_is, place};
use super::kernel::CudaKernel;
use super::text::parameters;
use crate::int_expr;
use crate::plan::{Loop, SIZE_NAMES};
use c_tree::{Block, Dialect, Expr, Function, Stmt, all, flag, int, name, truth, var};

/// Threads of a block that copies boundaries: one block per line of the grid.
pub(super) const BOUNDARY_THREADS: u32 = 128;

const BOUNDARY_BLOCKS: [&str; 2] = ["b0", "b1"];

/// The kernels, and their functions.
pub(super) fn boundary_kernels(arguments: Arguments<'_>) -> (Vec<CudaKernel>, Vec<String>) {
    let program = arguments.program;
    let fields = copied(arguments);
    let kernels = fields.iter().map(|field| CudaKernel {
        name: format!("boundary_{}", field.field),
        symbol: symbol(arguments, field),
        threads: [BOUNDARY_THREADS, 1, 1],
        shared_bytes: 0,
        blocks: (0..program.dimension() - 1)
            .map(|d| Loop {
                variable: BOUNDARY_BLOCKS[d],
                low: int_expr::int(0),
                high: int_expr::var(SIZE_NAMES[d]) - 1,
            })
            .collect(),
        traffic: None,
        takes_ways: false,
    });
    let functions = fields.iter().map(|field| function(arguments, field));
    (kernels.collect(), functions.collect())
}

fn symbol(arguments: Arguments<'_>, field: &Boundary) -> String {
    format!("{}_boundary_{}", arguments.program.name, field.name)
}

fn function(arguments: Arguments<'_>, field: &Boundary) -> String {
    let (lines, threads) = (field.index.len() - 1, i64::from(BOUNDARY_THREADS));
    let x = var("x");
    let mut line: Vec<Expr> = field.index[..lines].iter().map(var).collect();
    line.push(int(0));
    let row = place(&line, &as_it_is);
    let at = |slot: Expr| {
        let level = (slot != int(0)).then(|| slot * var("level_stride"));
        let row = (lines > 0).then(|| var("row"));
        let place = level.into_iter().chain(row).chain([x.clone()]).reduce(|place, term| place + term);
        name(&field.name).at(place.unwrap_or(int(0)))
    };
    let mut body = Block::new();
    for (d, index) in field.index[..lines].iter().enumerate() {
        let axis = if d + 1 == lines { "x" } else { "y" };
        let block = name("blockIdx").dot(axis).cast(INT);
        body.push(Stmt::constant(INT, index, var(format!("b{d}_first")) + block));
    }
    if lines > 0 {
        body.push(Stmt::constant(INT, "row", row));
    }
    let small = arguments.too_small();
    if let Some(condition) = &small {
        body.push(Stmt::constant("bool", "small", condition).note("then all of the grid is boundary"));
    }
    let small = small.map_or(truth(false), |_| flag("small"));
    let outside = field.outside.clone().or(small.clone());
    let within = match outside {
        Expr::Bool(known) => truth(!known),
        condition => {
            body.push(Stmt::constant("bool", "outside", condition));
            !flag("outside")
        }
    };
    let mut points = Block::new();
    points.comment("from the end of the boundary below go to the beginning of that above");
    let beyond = (field.high.clone() - 1 - &x) / threads * threads;
    points.push(Stmt::when(
        all([within, x.clone().ge(&field.low), x.clone().lt(&field.high)]),
        [Stmt::Update(name("x"), "+=", beyond), Stmt::Continue],
    ));
    let computed = |other: &Expr| Stmt::when((!small.clone()).and(other), Stmt::Continue);
    points.extend(field.other_domains.iter().map(computed));
    points.push(Stmt::constant(field.element, "fixed", at(int(field.newest))));
    let copy = Stmt::when(var("slot").is_not(field.newest), Stmt::assign(at(var("slot")), name("fixed")));
    points.push(Stmt::count(INT, "slot", 0, field.slots, copy));
    let first = name("threadIdx").dot("x").cast(INT);
    body.push(Stmt::each(INT, "x", first, x.clone().lt(&field.size), threads, points));
    Function::new(symbol(arguments, field))
        .comment(format!(
            "The fixed boundary of {} is that of the newest initial level, at every stored level. One block per line.",
            field.name
        ))
        .attribute("extern \"C\" __global__")
        .result(format!("void __launch_bounds__({BOUNDARY_THREADS})"))
        .parameters(parameters(arguments))
        .nameless("long long")
        .parameters((0..lines).map(|d| ("long long", format!("b{d}_first"))))
        .body(body)
        .print(Dialect::Cuda)
}
