//! Spare slots on the host's side: memory that the entry point takes in the caller's stream, and gives back there.
//!
//! A plan with spare slots works on twice as much of each field that changes. Before the first launch they hold what the arrays hold,
//! boundaries included; afterwards nobody needs them.

use super::super::arguments::{Arguments, spare_name};
use c_tree::{Block, Expr, Stmt, Type, call, int, name, var};
use polyhedral::program::FieldRole;

/// The function that launches, which has the arguments of the strided entry point and the spare slots.
pub(super) const BAND: &str = "tw_steps";

/// Spare slots as parameters.
pub(super) fn parameters(arguments: Arguments<'_>) -> Vec<(Type, String)> {
    let all = arguments.spare_fields().into_iter();
    all.map(|number| (pointer(arguments, number), spare_name(&arguments.names.fields[number]))).collect()
}

fn pointer(arguments: Arguments<'_>, number: usize) -> Type {
    Type::new(arguments.program.fields[number].element.c_name()).pointer()
}

/// Bytes of the slots of a field, from the first element to the last one.
fn bytes(arguments: Arguments<'_>, number: usize) -> Expr {
    let field = &arguments.program.fields[number];
    let slots = match field.role {
        FieldRole::State { slots, .. } => slots as i64,
        FieldRole::Coefficient => 1,
    };
    let strides = arguments.strides().into_iter().map(var).chain([int(1)]);
    let lines = arguments.sizes().into_iter().map(var).zip(strides);
    let last = lines.fold(var("level_stride") * (slots - 1), |sum, (size, stride)| sum + (size - 1) * stride);
    ((last + 1) * field.element.bytes() as i64).cast("size_t")
}

/// `status = cudaMemcpyAsync(..)`: what the slots hold, in the spare ones, too.
pub(super) fn copies(arguments: Arguments<'_>) -> Vec<Stmt> {
    let copy = |number: usize| {
        let given = &arguments.names.fields[number];
        let kind = name("cudaMemcpyDeviceToDevice");
        let all = [name(spare_name(given)), name(given), bytes(arguments, number), kind, name("stream")];
        Stmt::assign(name("status"), call("cudaMemcpyAsync", all))
    };
    arguments.spare_fields().into_iter().map(copy).collect()
}

/// The body of the strided entry point behind its checks.
pub(super) fn body(arguments: Arguments<'_>) -> Block {
    let success = || name("cudaSuccess");
    let mut body = Block::from(Stmt::declare("cudaError_t", "tw_status", success()));
    let spare = || parameters(arguments).into_iter();
    body.extend(spare().map(|(_, own)| Stmt::declare(Type::new("void").pointer(), own, int(0))));
    for (number, (_, own)) in arguments.spare_fields().into_iter().zip(spare()) {
        let take = [name(own).address(), bytes(arguments, number), name("stream")];
        let take = call("cudaMallocAsync", take);
        body.push(Stmt::when(name("tw_status").is(success()), Stmt::assign(name("tw_status"), take)));
    }
    let strides = arguments.strides().into_iter().chain(["level_stride".to_owned()]).map(var);
    let all = arguments.pass(strides).into_iter().chain(spare().map(|(kind, own)| name(own).cast(kind)));
    let run = call(BAND, all.chain([name("stream")])).cast("cudaError_t");
    body.push(Stmt::when(name("tw_status").is(success()), Stmt::assign(name("tw_status"), run)));
    for (_, own) in spare() {
        let free = call("cudaFreeAsync", [name(&own), name("stream")]);
        let freed = Stmt::constant("cudaError_t", "tw_freed", free);
        let first =
            Stmt::when(name("tw_status").is(success()), Stmt::assign(name("tw_status"), name("tw_freed")));
        body.push(Stmt::when(name(own).is_not(int(0)), Block::from([freed, first])));
    }
    body.push(Stmt::Return(Some(name("tw_status").cast("int"))));
    body
}
