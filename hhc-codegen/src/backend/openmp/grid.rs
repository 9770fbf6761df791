//! What all functions of a library work on: a pointer for each stored time level of each field, so that it does not
//! matter where the levels lie; and one set of strides for all of them.

use super::super::arguments::Arguments;
use super::super::names::Names;
use super::super::points::{INT, modulo};
use super::moving;
use c_tree::{Block, Declaration, Dialect, Expr, Record, Stmt, Type, name, var};
use polyhedral::program::{Access, FieldId, FieldRole, Program};

/// Stored time levels of a field.
pub(super) fn slots(program: &Program, field: usize) -> i64 {
    program.fields[field].role.slots() as i64
}

/// `struct tw_grid`.
pub(super) fn structure(
    arguments: Arguments<'_>,
    has_copy: bool,
    moves: bool,
    witnesses: &[usize],
) -> String {
    let program = arguments.program;
    let shape: String = arguments.sizes().iter().map(|size| format!("[{size}]")).collect();
    let arrays = arguments.arrays().into_iter().enumerate().map(|(number, array)| {
        let kind = Type::new(array.element);
        let kind = if array.constant { kind.constant() } else { kind }.pointer();
        match (number < program.fields.len()).then(|| slots(program, number)) {
            Some(2..) => {
                let count = slots(program, number);
                let levels = Declaration::array(kind, array.name, count);
                Stmt::Declare(vec![levels]).note(format!("each {shape}"))
            }
            Some(_) if witnesses.contains(&number) => {
                Stmt::uninitialised(kind, array.name).note("two numbers for each time step")
            }
            Some(_) => Stmt::uninitialised(kind, array.name).note(shape.as_str()),
            None => Stmt::uninitialised(kind, array.name).note("a value for each time step"),
        }
    });
    let integers = integers(arguments).into_iter().map(|member| Declaration::plain(INT, member)).collect();
    let parameters = arguments.names.parameters.iter().map(|name| Stmt::uninitialised("double", name));
    let members = arrays.chain([Stmt::Declare(integers)]).chain(parameters).chain(spread());
    let members = members.chain(has_copy.then(outer).into_iter().flatten());
    let members = members.chain(moves.then(bounds).into_iter().flatten()).collect();
    Record { comment: Some(COMMENT.to_string()), name: "tw_grid".to_string(), members }.print(Dialect::C)
}

const COMMENT: &str =
    "What all functions below work on. Time level l of a field lies in slot (l + levels - 1) mod slots.";

/// The member that says how rows lie.
fn spread() -> Block {
    let comment = "Whether neighbouring rows fall into different cache sets and begin alike in vectors. Where they lie (nearly) a \
                   multiple of 4 KiB apart, many rows at once would evict each other; where their distance is no multiple of \
                   a vector, their loads and stores would touch two cache lines each.";
    Block::from([Stmt::Comment(comment.into()), Stmt::uninitialised("int", "spread")])
}

/// The member that a copy has.
fn outer() -> Block {
    let comment = "Of a copy: the grid of the caller, where first and last levels lie.";
    let kind = Type::new("struct tw_grid").constant().pointer();
    Block::from([Stmt::Comment(comment.into()), Stmt::uninitialised(kind, "outer")])
}

/// The member for bounds that move.
fn bounds() -> Block {
    let comment = "Bounds that move from step to step, where a caller has some, else NULL: for each statement and dimension the \
                   first point at step 0, by how much it moves with each step, and the same of the point after the last.";
    Block::from([Stmt::Comment(comment.into()), Stmt::uninitialised(moving::kind(), moving::MOVING)])
}

/// Sizes, strides and steps: the members that are integers.
pub(super) fn integers(arguments: Arguments<'_>) -> Vec<String> {
    let steps = ["steps".to_string()];
    arguments.sizes().into_iter().chain(arguments.strides()).chain(steps).collect()
}

/// Rows whose distance is this close to a multiple of a page, in bytes, fall into the same cache sets.
const CLOSE: i64 = 256;
const PAGE: i64 = 4096;
/// Bytes of a cache line, and of the longest vectors. Of several rows at once only the first one is aligned where their distance
/// is no multiple of a vector: the others' loads and stores touch two lines each.
const LINE: i64 = 64;

/// Whether generated code takes neighbouring rows `stride` elements apart as colliding in the caches, or as beginning at
/// different places of a cache line: the member `spread`, computed here for the longest vectors.
pub(super) fn rows_collide(program: &Program, stride: i64) -> bool {
    let bytes = program.fields.first().map_or(4, |field| field.element.bytes()) as i64 * stride;
    (bytes + CLOSE).rem_euclid(PAGE) < 2 * CLOSE || bytes % LINE != 0
}

/// The values of all members, from arguments of their names. `level` is a stored level of a field, `bounds` those that move, where there
/// is a member for them.
pub(super) fn members(
    arguments: Arguments<'_>,
    has_copy: bool,
    bounds: Option<Expr>,
    level: &dyn Fn(usize, i64) -> Expr,
) -> Expr {
    let program = arguments.program;
    let arrays = arguments.arrays().into_iter().enumerate().map(|(number, array)| {
        match (number < program.fields.len()).then(|| slots(program, number)) {
            Some(count @ 2..) => Expr::List((0..count).map(|slot| level(number, slot)).collect()),
            _ => name(array.name),
        }
    });
    let parameters = arguments.names.parameters.iter().map(name);
    let spread = match arguments.strides().first() {
        Some(stride) => {
            let bytes = c_tree::call("sizeof", [name(arguments.arrays()[0].element)]).cast(INT);
            let distance = || var(stride) * bytes.clone();
            let aligned = c_tree::call("tw_modulo", [distance(), name("TW_VECTOR")]).is(c_tree::int(0));
            modulo(distance() + CLOSE, PAGE).ge(2 * CLOSE).and(aligned)
        }
        None => c_tree::int(1),
    };
    let integers = integers(arguments).into_iter().map(var);
    let outer = has_copy.then(|| name("NULL"));
    Expr::List(arrays.chain(integers).chain(parameters).chain([spread]).chain(outer).chain(bounds).collect())
}

/// A stored level of a field in a grid, by its slot.
pub(super) fn level(
    grid: &Expr,
    program: &Program,
    names: &Names,
    field: FieldId,
    slot: impl Into<Expr>,
) -> Expr {
    let member = grid.arrow(&names.fields[field.0]);
    if slots(program, field.0) > 1 { member.at(slot) } else { member }
}

/// The level of a field in a grid that an access of a statement finds in its time step.
pub(super) fn level_of_access(grid: &Expr, program: &Program, names: &Names, access: &Access) -> Expr {
    let slot = match program.field(access.field).role {
        FieldRole::State { levels, slots: slots @ 2.. } => {
            modulo(var(&names.time) + (access.time + levels as i64 - 1), slots as i64)
        }
        FieldRole::Coefficient | FieldRole::State { .. } => c_tree::int(0),
    };
    level(grid, program, names, access.field, slot)
}

/// The function of all launches.
pub(super) const LAUNCHES: &str = "tw_launches";
