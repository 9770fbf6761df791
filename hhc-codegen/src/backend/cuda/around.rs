//! Periodic grids on a GPU: bands of steps on a grid with ghost zones in device memory, all of it queued in the caller's stream.
//!
//! Within a band the program is the unrolled one on an ordinary grid, whose kernels [`super::host`] launches. The copies are
//! kernels of a template.

use super::super::arguments::Arguments;
use super::super::ghosts::{Copies, three};
use super::super::points::{INT, min};
use c_tree::{Block, Expr, Stmt, Type, call, int, name, var};

/// The function of a band, which has the arguments of the strided entry point.
pub(super) const BAND: &str = "tw_band";

/// `tw_wide_u`: a field on the grid with ghost zones.
fn wide(field: &str) -> Expr {
    name(format!("tw_wide_{field}"))
}

/// `if (tw_status == cudaSuccess) tw_status = ..;`
fn unless_failed(what: Expr) -> Stmt {
    Stmt::when(name("tw_status").is(name("cudaSuccess")), Stmt::assign(name("tw_status"), what))
}

/// A number of elements as bytes of so many each.
fn bytes(elements: Expr, each: i64) -> Expr {
    (elements * each).cast("size_t")
}

/// The body of the strided entry point behind its checks.
pub(super) fn body(arguments: Arguments<'_>) -> Block {
    let (program, names) = (arguments.program, arguments.names);
    let shape = name("tw_own");
    let invalid = || Stmt::Return(Some(name("cudaErrorInvalidValue").cast("int")));
    let nothing = || Expr::List(vec![int(0)]);
    let sizes = three(arguments.sizes().into_iter().map(var).collect(), 1);
    let strides = three(arguments.strides().into_iter().map(var).chain([int(1)]).collect(), 0);
    let members = [sizes, strides, nothing(), nothing(), nothing(), int(0), int(0)];
    let mut body = Block::from([
        Stmt::declare("struct tw_shape", "tw_own", Expr::List(members.into())),
        Stmt::when(!call("tw_ghosts_shape", [shape.clone().address(), var("steps")]), invalid()),
    ]);
    let level = || name("tw_own").dot("level").integer();
    // More than there is, the allocation says; more than a number of bytes holds, nobody does.
    let each = program.bytes_of_a_point() as i64;
    body.push(Stmt::when(level().gt(var("TW_MOST") / each), invalid()));
    body.push(Stmt::declare(Type::new("void").pointer(), "tw_memory", int(0)));
    let take = [name("tw_memory").address(), bytes(level(), each), name("stream")];
    body.push(Stmt::declare("cudaError_t", "tw_status", call("cudaMallocAsync", take)));
    let failed = name("tw_status").is_not(name("cudaSuccess"));
    body.push(Stmt::when(failed, Stmt::Return(Some(name("tw_status").cast("int")))));
    let (mut place, mut refreshed, mut narrowed) = (0, Block::new(), Block::new());
    let mut filled = Block::new();
    for (number, (field, given)) in program.fields.iter().zip(&names.fields).enumerate() {
        let (kind, size) = (Type::new(field.element.c_name()).pointer(), field.element.bytes() as i64);
        let memory = match place {
            0 => name("tw_memory"),
            _ => name("tw_memory").cast(Type::new("char").pointer()) + bytes(level(), place),
        };
        body.push(Stmt::declare(kind.clone(), format!("tw_wide_{given}"), memory.cast(kind)));
        place += size * field.role.slots() as i64;
        let copies = Copies::of(program, number);
        let at = |array: Expr, slot: i64, distance: Expr| match slot {
            0 => array,
            _ => array + int(slot) * distance,
        };
        for slot in 0..field.role.slots() as i64 {
            let own = || at(wide(given), slot, level());
            let theirs = || at(name(given), slot, var("level_stride"));
            if slot < copies.filled {
                let copy = [shape.clone(), own(), theirs(), name("stream")];
                filled.push(unless_failed(call("tw_ghosts_fill", copy)));
            }
            if slot < copies.refreshed {
                let copy = [shape.clone(), own(), name("stream")];
                refreshed.push(unless_failed(call("tw_ghosts_refresh", copy)));
            }
            if slot < copies.dropped {
                let copy = [shape.clone(), theirs(), own(), name("stream")];
                narrowed.push(copies.once_held(slot, unless_failed(call("tw_ghosts_drop", copy))));
            }
        }
    }
    body.extend(filled);
    let band = name("tw_own").dot("band").integer();
    let missing = 3 - program.dimension();
    let member = |of: &str, d: usize| name("tw_own").dot(of).at((d + missing) as i64);
    let fields = names.fields.iter().map(|field| wide(field));
    let series = names.series.iter().map(|series| name(series) + var("tw_done"));
    let arrays = fields.chain(series);
    let extents = (0..program.dimension()).map(|d| member("wide", d));
    let distances = (0..program.dimension() - 1).map(|d| member("to", d));
    let now = min(var("steps") - var("tw_done"), band.clone());
    let parameters = names.parameters.iter().map(name);
    let all = arrays.chain(extents).chain(distances).chain([level(), now]).chain(parameters);
    let run = call(BAND, all.chain([name("stream")])).cast("cudaError_t");
    let mut inner = Block::from(Stmt::when(var("tw_done").gt(0), refreshed));
    inner.push(unless_failed(run));
    let goes_on = var("tw_done").lt(var("steps")).and(name("tw_status").is(name("cudaSuccess")));
    body.push(Stmt::each(INT, "tw_done", 0, goes_on, band, inner));
    body.extend(narrowed);
    let freed = call("cudaFreeAsync", [name("tw_memory"), name("stream")]);
    body.push(Stmt::constant("cudaError_t", "tw_freed", freed));
    let first = name("tw_status").is(name("cudaSuccess")).select(name("tw_freed"), name("tw_status"));
    body.push(Stmt::Return(Some(first.cast("int"))));
    body
}
