//! The functions of a standalone main that name all arguments.

use super::arguments::Arguments;
use super::points::INT;
use super::signature::Signature;
use c_tree::{Block, Dialect, Expr, Function, Stmt, Type, call, comment_lines, int, name, var};
use polyhedral::program::Program;
use serde::Serialize;

/// What the templates of a main receive.
#[derive(Serialize)]
pub(super) struct Standalone {
    /// The structure of all arguments.
    grid: String,
    allocate: String,
    release: String,
    make_grid: String,
    run: String,
}

/// The lines of a program's description, for a comment.
pub(super) fn description(program: &Program) -> Vec<String> {
    comment_lines(&program.description, c_tree::COLUMNS - 4)
}

impl Standalone {
    /// For the entry point in C.
    pub(super) fn openmp(arguments: Arguments<'_>, signature: &Signature) -> Self {
        let run = call(&signature.entry, members(arguments, "grid"));
        let run = Function::new("run")
            .attribute("static")
            .result("int")
            .parameter(grid().pointer(), "grid")
            .body(Stmt::Return(Some(run)));
        Self::new(arguments, signature, &run)
    }

    /// For the entry point that launches kernels.
    pub(super) fn cuda(arguments: Arguments<'_>, signature: &Signature) -> Self {
        let stream = members(arguments, "device").into_iter().chain([int(0)]);
        let run = Function::new("run")
            .attribute("static")
            .parameter(grid().constant().pointer(), "device")
            .body(Stmt::call("must", [call(format!("{}_cuda", signature.entry), stream)]));
        Self::new(arguments, signature, &run)
    }

    fn new(arguments: Arguments<'_>, signature: &Signature, run: &Function) -> Self {
        let print = |function: &Function| function.print(Dialect::C);
        Standalone {
            grid: arguments.grid(&signature.shapes()),
            allocate: print(&allocate(arguments, signature)),
            release: print(&release(arguments)),
            make_grid: print(&make_grid(arguments)),
            run: print(run),
        }
    }
}

fn grid() -> Type {
    Type::new("struct tw_grid")
}

/// The arguments of an entry point, taken from a grid.
fn members(arguments: Arguments<'_>, object: &str) -> Vec<Expr> {
    let arrays = arguments.arrays().into_iter().map(|array| array.name.to_string());
    let sizes = arguments.sizes().into_iter().chain(["steps".to_string()]);
    let all = arrays.chain(sizes).chain(arguments.names.parameters.iter().cloned());
    all.map(|member| name(object).arrow(member)).collect()
}

fn allocate(arguments: Arguments<'_>, signature: &Signature) -> Function {
    let grid_of = |member: &str| name("grid").arrow(member).integer();
    let mut body = Block::from(Stmt::constant("size_t", "points", grid_of("level_stride").cast("size_t")));
    let lengths = signature.fields.iter().map(|field| {
        let all = match field.slots as i64 {
            1 => name("points"),
            slots => name("points") * slots,
        };
        ("size_t", all.clone(), all, var("at") % name("points"))
    });
    let series = signature.series.iter().map(|series| {
        let all = grid_of("steps") + series.reach;
        (INT, all.clone(), all.cast("size_t"), var("at").cast("size_t"))
    });
    for (number, (array, (kind, end, count, at))) in
        arguments.arrays().into_iter().zip(lengths.chain(series)).enumerate()
    {
        let member = name("grid").arrow(array.name);
        let bytes = (count + 1) * call("sizeof", [name(array.element)]);
        let memory = call("malloc", [bytes]).cast(Type::new(array.element).pointer());
        body.push(Stmt::assign(member.clone(), memory));
        let message = Expr::Literal(format!("\"{}_main: not enough memory\\n\"", signature.name));
        body.push(Stmt::when(
            !member.clone(),
            [Stmt::call("fprintf", [name("stderr"), message]), Stmt::call("exit", [int(1)])],
        ));
        let value = call("initial", [int(number as i64), at]).cast(array.element);
        let set = Stmt::assign(member.at(var("at")), value);
        body.push(Stmt::count(kind, "at", 0, end, set));
    }
    Function::new("allocate").attribute("static").parameter(grid().pointer(), "grid").body(body)
}

fn release(arguments: Arguments<'_>) -> Function {
    let free = |array: super::arguments::Array<'_>| Stmt::call("free", [name("grid").arrow(array.name)]);
    let body: Block = arguments.arrays().into_iter().map(free).collect();
    Function::new("release").attribute("static").parameter(grid().pointer(), "grid").body(body)
}

fn make_grid(arguments: Arguments<'_>) -> Function {
    let nothing = arguments.arrays().into_iter().map(|_| int(0));
    let sizes = arguments.sizes().into_iter().map(var);
    let strides = arguments.dense_strides().into_iter().chain([arguments.points(), var("steps")]);
    let parameters = arguments.program.parameters.iter().map(|parameter| Expr::f64(parameter.default));
    let all = nothing.chain(sizes).chain(strides).chain(parameters).collect();
    Function::new("make_grid")
        .attribute("static")
        .result(grid())
        .parameters(arguments.sizes().into_iter().chain(["steps".to_string()]).map(|size| (INT, size)))
        .body([
            Stmt::declare(grid(), "grid", Expr::List(all)),
            Stmt::call("allocate", [name("grid").address()]),
            Stmt::Return(Some(name("grid"))),
        ])
}
