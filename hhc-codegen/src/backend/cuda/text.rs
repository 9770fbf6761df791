//! What kernels of all kinds have in common.

use super::super::arguments::{Arguments, spare_name};
use crate::geometry::Threads;
use c_tree::{Block, Expr, Stmt, Type, int, name, var};

/// `name`, `name_2`, ..
pub(super) fn suffixed(name: &str, index: usize) -> String {
    if index == 0 { name.to_string() } else { format!("{name}_{}", index + 1) }
}

/// The thread's number along a dimension.
pub(super) fn thread(threads: &Threads, d: usize) -> Expr {
    if threads.per_dimension[d] == 1 { int(0) } else { var(format!("thread{d}")) }
}

/// The thread's number along a dimension, as the device knows it.
pub(super) fn thread_index(dimension: usize, d: usize) -> Expr {
    name("threadIdx").dot(["x", "y", "z"][dimension - 1 - d]).cast("int")
}

/// The declarations `const int thread0 = (int)threadIdx.z;`, as far as there is more than one thread.
pub(super) fn thread_declarations(threads: &Threads) -> Vec<Stmt> {
    let dimension = threads.per_dimension.len();
    let several = threads.per_dimension.iter().enumerate().filter(|(_, count)| **count > 1);
    several.map(|(d, _)| Stmt::constant("int", format!("thread{d}"), thread_index(dimension, d))).collect()
}

/// Those of these declarations whose names are used in a block.
pub(super) fn used(declarations: Vec<Stmt>, block: &Block) -> Vec<Stmt> {
    let is_used = |statement: &Stmt| match statement {
        Stmt::Declare(names) => names.iter().any(|declaration| block.mentions(&declaration.name)),
        _ => true,
    };
    declarations.into_iter().filter(is_used).collect()
}

/// The parameters that all kernels and tile functions have: `TW_GLOBAL(float) u`, spare slots, `long long n0`, .., `double a`.
pub(super) fn parameters(arguments: Arguments<'_>) -> Vec<(Type, String)> {
    let arrays = arguments.arrays().into_iter().map(|array| {
        let constant = if array.constant { "const " } else { "" };
        (Type::new(format!("TW_GLOBAL({constant}{})", array.element)), array.name.to_string())
    });
    let integers = arguments.integers().into_iter().map(|name| (Type::new("long long"), name));
    let others = arguments.names.parameters.iter().map(|name| (Type::new("double"), name.clone()));
    let spare = arguments.spare_fields().into_iter().map(|number| {
        let element = arguments.program.fields[number].element.c_name();
        (Type::new(format!("TW_GLOBAL({element})")), spare_name(&arguments.names.fields[number]))
    });
    arrays.chain(spare).chain(integers).chain(others).collect()
}

/// The same as they are passed on.
pub(super) fn passed(arguments: Arguments<'_>) -> Vec<Expr> {
    let arrays = arguments.arrays().into_iter().map(|array| name(array.name));
    let integers = arguments.integers().into_iter().map(var);
    let spare = arguments.spare_fields().into_iter();
    let spare = spare.map(|number| name(spare_name(&arguments.names.fields[number])));
    let parameters = arguments.names.parameters.iter().map(name);
    arrays.chain(spare).chain(integers).chain(parameters).collect()
}

/// `__syncthreads();`
pub(super) fn barrier() -> Stmt {
    Stmt::call("__syncthreads", [])
}

/// A loop that the compiler unrolls.
pub(super) fn unrolled(each: Stmt) -> Block {
    Block::from([Stmt::Pragma("unroll".into()), each])
}

/// A loop of which the compiler makes so many rounds one.
pub(super) fn unrolled_by(rounds: i64, each: Stmt) -> Block {
    Block::from([Stmt::Pragma(format!("unroll {rounds}")), each])
}

/// An array in shared memory.
pub(super) fn shared(element: &str, array: &str, count: i64, byte_offset: i64) -> Stmt {
    Stmt::call("TW_SHARED", [name(element), name(array), int(count), int(byte_offset)])
}

/// A value of which the compiler does not know that it is always the same.
pub(super) fn here(value: Expr) -> Expr {
    Expr::call("tw_here", [value], c_tree::Sort::Integer)
}

/// A value that is found once, all threads together, however often it is used.
pub(super) fn once(value: Expr) -> Expr {
    Expr::call("tw_once", [value], c_tree::Sort::Integer)
}

/// The local times at which the run begins and ends, if they are near.
pub(super) fn ends_of_time() -> [String; 2] {
    ["begin_step", "end_step"].map(str::to_string)
}

/// The names of the cells at which the grid begins and ends.
pub(super) fn ends_of_space(dimension: usize) -> impl Iterator<Item = String> {
    (0..dimension).flat_map(|d| [format!("start{d}"), format!("end{d}")])
}
