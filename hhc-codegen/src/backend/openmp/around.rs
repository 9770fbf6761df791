//! Periodic grids: bands of steps on a grid with ghost zones, which are copied around the ends before each band.
//!
//! Within a band the program is the unrolled one on an ordinary grid, tiled like any other; `polyhedral::ghost` proves that
//! what is wrong near the outer ends does not reach the points that are given. A band is a multiple of all slots, so that a
//! level lies in the same slot in each.

use super::super::arguments::Arguments;
use super::super::ghosts::{Copies, three};
use super::super::points::{INT, min};
use super::grid;
use c_tree::{Block, Declaration, Expr, Function, Stmt, Type, call, int, name, var};

/// `int tw_around(const struct tw_grid *grid)`: all steps on the caller's grid, by calls of `whole` on a wider one.
pub(super) fn function(arguments: Arguments<'_>, around: &str, whole: &str) -> Function {
    let (program, names) = (arguments.program, arguments.names);
    let given = name("grid");
    let wide = name("wide");
    let nothing = || Expr::List(vec![int(0)]);
    let of_grid = |member: String| given.arrow(member).integer();
    let sizes = arguments.sizes().into_iter().map(of_grid).collect();
    let strides = arguments.strides().into_iter().map(of_grid).chain([int(1)]).collect();
    let unknown = [nothing(), nothing(), nothing(), int(0), int(0)];
    let mut body = Block::from([
        Stmt::constant(INT, "steps", given.arrow("steps")),
        Stmt::declare(
            "struct tw_shape",
            "shape",
            Expr::List([three(sizes, 1), three(strides, 0)].into_iter().chain(unknown).collect()),
        ),
        Stmt::when(
            !call("tw_ghosts_shape", [name("shape").address(), var("steps")]),
            Stmt::Return(Some(int(2))),
        ),
    ]);
    let bytes = program.bytes_of_a_point() as i64;
    let level = name("shape").dot("level").integer();
    let most = name("PTRDIFF_MAX") / (2 * bytes);
    body.push(Stmt::when(level.clone().gt(most), Stmt::Return(Some(int(1)))));
    let memory = call("malloc", [(level.clone() * bytes).cast("size_t")]);
    body.push(Stmt::declare(Type::new("char").pointer(), "memory", memory.cast(Type::new("char").pointer())));
    body.push(Stmt::when(!name("memory"), Stmt::Return(Some(int(1)))));
    body.push(Stmt::declare(Type::new("char").pointer(), "place", name("memory")));
    body.push(Stmt::declare("struct tw_grid", "wide", given.clone().deref()));
    let missing = 3 - program.dimension();
    for (d, size) in arguments.sizes().into_iter().enumerate() {
        body.push(Stmt::assign(wide.dot(size), name("shape").dot("wide").at((d + missing) as i64)));
    }
    for (d, stride) in arguments.strides().into_iter().enumerate() {
        body.push(Stmt::assign(wide.dot(stride), name("shape").dot("to").at((d + missing) as i64)));
    }
    body.push(Stmt::assign(wide.dot("spread"), int(1)));
    let void = || Type::new("void").pointer();
    let (mut refreshed, mut narrowed) = (Block::new(), Block::new());
    for (number, field) in program.fields.iter().enumerate() {
        let element = Type::new(field.element.c_name()).pointer();
        let slots = grid::slots(program, number);
        let of = |object: Expr, slot: i64| if slots > 1 { object.at(slot) } else { object };
        let copies = Copies::of(program, number);
        let size = || call("sizeof", [name(field.element.c_name())]);
        for slot in 0..slots {
            let (own, theirs) =
                (of(wide.dot(&names.fields[number]), slot), of(given.arrow(&names.fields[number]), slot));
            body.push(Stmt::assign(own.clone(), name("place").cast(void()).cast(element.clone())));
            if slot < copies.filled {
                let copy = [name("shape").address(), name("place"), theirs.clone(), size()];
                body.push(Stmt::call("tw_ghosts_fill", copy));
            }
            body.push(Stmt::assign(
                name("place"),
                name("place") + level.clone() * field.element.bytes() as i64,
            ));
            if slot < copies.refreshed {
                refreshed
                    .push(Stmt::call("tw_ghosts_refresh", [name("shape").address(), own.clone(), size()]));
            }
            if slot < copies.dropped {
                let copy = Stmt::call("tw_ghosts_drop", [name("shape").address(), theirs, own, size()]);
                narrowed.push(copies.once_held(slot, copy));
            }
        }
    }
    let left = var("steps") - var("done");
    let band = name("shape").dot("band").integer();
    let mut inner = Block::from(Stmt::when(var("done").gt(0), refreshed));
    inner.push(Stmt::assign(wide.dot("steps"), min(left, band.clone())));
    for series in &names.series {
        inner.push(Stmt::assign(wide.dot(series), given.arrow(series) + var("done")));
    }
    inner.push(Stmt::assign(name("status"), call(whole, [wide.address()])));
    body.push(Stmt::Declare(vec![Declaration::new("int", "status", int(0))]));
    let goes_on = var("done").lt(var("steps")).and(var("status").is(0));
    body.push(Stmt::each(INT, "done", 0, goes_on, band, inner));
    body.push(Stmt::when(var("status").is(0), narrowed));
    body.push(Stmt::call("free", [name("memory")]));
    body.push(Stmt::Return(Some(var("status"))));
    Function::new(around)
        .comment("All time steps of a periodic grid, in bands.")
        .attribute("static")
        .result("int")
        .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
        .body(body)
}
