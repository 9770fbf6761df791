//! Kernels that stage sub-tiles in shared memory.
//!
//! ```text
//! for sub_tile:                       tw_tile
//!     load the cells that enter the window; barrier
//!     for row:                        tw_rows
//!         each thread: its points of the row, some neighbours at once  (tw_update_FIELD)
//!         barrier
//!     move the cells that stay to the front of the window; barrier
//! ```

use super::super::arguments::Arguments;
use super::super::bounds::expr;
use super::super::constants::{self, Constant, Source};
use super::super::expression::{Index, Values, indices_used};
use super::super::names::Names;
use super::super::points::{INT, max, min, modulo, plus};
use super::full_rows::{self, OWN};
use super::printer::Printer;
use super::rows;
use super::staging::Staging;
use super::text::{
    barrier, ends_of_space, ends_of_time, here, parameters, passed, shared, suffixed, thread_declarations,
    unrolled, used,
};
use super::ways::{self, Ways, further};
use crate::geometry::LocalRow;
use crate::plan::{Kernel, KernelPlan};
use crate::window::WindowRow;
use c_tree::{Block, Declaration, Dialect, Expr, Function, Stmt, all, flag, int, name, truth, var};
use polyhedral::program::Access;

/// The device functions for tiles of one shape.
pub(super) fn functions(
    staging: &Staging<'_>,
    plan: &KernelPlan,
    names: &Names,
    index: usize,
    ways: &Ways,
) -> Vec<String> {
    let kernel: &Kernel = staging.kernel;
    let printer = Printer { staging, program: &plan.program, names, kernel, index, ways };
    let rows = staging.local.rows.iter().zip(&staging.window.rows);
    let updates = rows.map(|(row, moves)| printer.update(row, moves));
    let explicit = staging.explicit_rows.then(|| full_rows::function(&printer));
    let others = (!staging.rows_of_all).then(|| rows::function(&printer));
    let all: Vec<Function> = updates.chain(explicit).chain(others).chain([printer.tile()]).collect();
    all.iter().map(|function| function.print(Dialect::Cuda)).collect()
}

/// Whether the number of the first step is odd.
const ODD: &str = "tw_odd";

/// Where the first point of an update goes in memory.
const TO: &str = "tw_to";

/// The name of the function of a tile.
pub(super) fn tile_function(index: usize) -> String {
    suffixed("tw_tile", index)
}

impl Printer<'_> {
    pub(super) fn arguments(&self) -> Arguments<'_> {
        Arguments { program: self.program, names: self.names, spare: false }
    }

    pub(super) fn array_declaration(&self, field: usize) -> Stmt {
        let cells = self.slots(field) * self.staging.window.cells();
        let element = self.program.fields[field].element.c_name();
        shared(element, &self.array(field), cells, self.staging.offsets[field])
    }

    /// `corner0`, ..
    pub(super) fn corners(&self) -> Vec<String> {
        (0..self.dimension()).map(|d| format!("corner{d}")).collect()
    }

    fn describe(&self) -> String {
        let Staging { window, threads, shared_bytes, .. } = self.staging;
        let by = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ");
        let corner = self.corners().into_iter().zip(&window.low);
        let corner: Vec<String> =
            corner.map(|(name, low)| Dialect::Cuda.one_line(&(var(name) + *low))).collect();
        let mut text = format!(
            "One tile: its sub-tiles one after the other. The window of a tile in shared memory has {} cells per stored \
             level, {shared_bytes} bytes in all; its first cell is the point ({}). A block has {} threads.",
            by(&window.extent),
            corner.join(", "),
            by(&threads.per_dimension)
        );
        if let Some(size) = window.slide {
            text += &format!(
                " From one sub-tile to the next the window slides by {size} points along dimension {}.",
                self.dimension() - 1
            );
        }
        text
    }

    /// The declarations of the local times at which the run begins and ends.
    fn ends_of_time(&self) -> Stmt {
        let (first, far) = (|| var("first_step"), || var("TW_FAR"));
        let near = [max(-first(), -far()), min(var("steps") - first(), far())].map(|end| end.cast("int"));
        Stmt::constants("int", ends_of_time().into_iter().zip(near))
    }

    /// When loads are exact.
    fn exact_when(&self) -> Expr {
        let window = self.staging.window;
        let mut conditions = vec![flag("full")];
        if window.slide.is_some() {
            conditions.push(var("entering").gt(0));
        }
        conditions.extend(window.exact_within.iter().flat_map(|within| self.within(within, 0)));
        all(conditions)
    }

    /// One tile.
    fn tile(&self) -> Function {
        let Staging { local, window, threads, .. } = self.staging;
        let ahead = self.loads_ahead();
        let mut inner = Block::new();
        if ahead {
            // Before anything else is computed, which needs registers.
            inner.extend(self.lanes());
            inner.push(Stmt::when(flag("ahead"), self.stores_ahead()));
        }
        inner.push(Stmt::constant("bool", "full", self.is_full()));
        for (d, (corner, value)) in self.corners().into_iter().zip(&local.corner).enumerate() {
            // What all sub-tiles have in common would be kept in registers beside what is loaded ahead.
            let apart = ahead && d == 0 && self.dimension() == 2;
            let value = expr(&self.by_points(value));
            let value = if apart { here(value) } else { value };
            inner.push(Stmt::constant(INT, corner, value));
        }
        let before_own = inner.statements.len();
        if let Some(sweep) = window.slide.and(self.kernel.sub_tiles.last()) {
            inner.comment("the first sub-tile brings the whole window, the others the columns that enter it");
            let begins = var(sweep.variable).is(expr(&self.first_round(sweep)));
            inner.push(Stmt::constant("int", "entering", begins.select(0, window.kept)));
        }
        if self.staging.rows_of_all {
            // Where the corner moves with sub-tiles: the compiler would add to the size in each, by a product of 64 bits.
            let moving = format!("n{}", self.dimension() - 1);
            let size = |size: String| if size == moving { here(var(size)) } else { var(size) };
            inner.extend(self.ends_of_the_grid(&size));
        }
        if !ahead {
            inner.extend(self.lanes());
        }
        let mut exact = self.exact_loads();
        if !exact.is_empty() {
            exact
                .statements
                .insert(0, Stmt::Comment("exactly the cells that a row reads before one writes them".into()));
        }
        let mut clipped = Block::from(Stmt::Comment(
            "cells on the grid: the fixed boundary, and of the others those that may be live".into(),
        ));
        clipped.extend(self.clipped_loads());
        let exactly = if ahead { flag("ahead") } else { self.exact_when() };
        inner.push(match exact.is_empty() {
            true => Stmt::when(!exactly, clipped),
            false => Stmt::choose(exactly, exact, clipped),
        });
        inner.push(barrier());
        let Staging { explicit_rows: explicit, rows_of_all: alike, rows_twice: twice, .. } = *self.staging;
        let call_rows = |is_full: bool| {
            let of_stride = |argument: Expr| match &argument {
                Expr::Name(name, _) if name == "stride0" => here(argument),
                _ => argument,
            };
            let all = passed(self.arguments()).into_iter().map(of_stride).chain(self.ways_argument());
            let slots = || self.stored_slots().into_iter().map(|slot| here(var(slot)));
            let all = all.chain([here(var("first_step"))]);
            if explicit && (is_full || alike) {
                let ends = ends_of_time().into_iter().chain(ends_of_space(self.dimension())).map(var);
                let whole = (alike && !twice).then(|| flag("full"));
                let near = whole.into_iter().chain(ends.filter(|_| alike));
                let columns: Vec<Expr> = match self.has_line() {
                    true => self.columns_in_line(),
                    false => slots().chain([here(var(OWN))]).collect(),
                };
                let corners = self.corners_asked().into_iter().map(|corner| here(var(corner)));
                let all = all.chain(columns).chain(corners).chain(near).chain(self.ahead_arguments());
                let template = twice.then(|| is_full.into());
                return Stmt::Expr(Expr::instance(full_rows::name_of(self.index), template, all));
            }
            let all = all.chain(slots()).chain(self.corners().into_iter().map(var));
            let all = all.chain(self.rows_walk_lines().then(|| here(var(OWN))));
            let full = (!explicit).then(|| is_full.into());
            Stmt::Expr(Expr::instance(rows::name_of(self.index), full, all))
        };
        let (mut of_full, mut of_others) = (Block::new(), Block::new());
        if ahead {
            of_full.extend(self.ahead());
            of_others.push(Stmt::assign(flag("ahead"), truth(false)));
            of_others.extend(self.nothing_ahead());
        }
        if alike && !twice {
            if ahead {
                inner.push(Stmt::choose(flag("full"), of_full, of_others));
            }
            inner.push(call_rows(true));
        } else {
            of_full.push(call_rows(true));
            of_others.push(call_rows(false));
            inner.push(Stmt::choose(flag("full"), of_full, of_others));
        }
        inner.extend(self.moves());
        let own = used(self.own_declaration().into_iter().collect(), &inner);
        inner.statements.splice(before_own..before_own, own);
        let mut before = Block::new();
        if ahead {
            before.extend(self.ahead_declarations());
            before.push(Stmt::declare("bool", "ahead", false));
        }
        let sub_tiles = self.sweeps(before, inner);

        let mut body: Block =
            (0..self.program.fields.len()).map(|field| self.array_declaration(field)).collect();
        let before = self.before_moves();
        let mut all = before.clone();
        all.extend(sub_tiles.clone());
        body.extend(used(thread_declarations(threads), &all));
        body.push(Stmt::constant(INT, "first_step", expr(&local.first_step)));
        if self.staging.rows_of_all {
            body.push(self.ends_of_time());
        }
        let slots = window.planes.iter().filter(|plane| self.slots(plane.field) > 1).map(|plane| {
            // The compiler makes the place of a slot anew where it is needed: a product, but not of two slots.
            let first = match self.slots(plane.field) {
                2 if plane.number % 2 == 0 => var(ODD).is(0).select(int(0), var("level_stride")),
                2 => var(ODD).is(0).select(var("level_stride"), int(0)),
                slots => modulo(var("first_step") + plane.number, slots) * var("level_stride"),
            };
            Stmt::constant(INT, self.slot_name(plane), first)
        });
        let slots: Vec<Stmt> = used(slots.collect(), &sub_tiles);
        let odd = Stmt::constant("int", ODD, here(modulo(var("first_step"), 2).cast("int")));
        body.extend(used(vec![odd], &slots.iter().cloned().collect()));
        if !slots.is_empty() {
            body.comment("plane q of the window holds this slot of memory");
            body.extend(slots);
        }
        body.extend(before);
        if let Some(alike) = self.full_in_all() {
            body.comment("what all sub-tiles need to be full");
            // As one number: the compiler would ask for the conditions anew in each sub-tile.
            let alike = here(alike.select(1, 0)).is_not(0);
            body.push(Stmt::constant("bool", "may_be_full", alike));
        }
        body.extend(sub_tiles);
        let function = Function::new(tile_function(self.index))
            .comment(self.describe())
            .attribute("TW_DEVICE")
            .parameters(parameters(self.arguments()));
        ways::parameter(function, self.has_ways())
            .parameters(self.staging.placed_by.iter().map(|name| (INT, *name)))
            .body(body)
    }

    /// One statement at neighbouring points.
    fn update(&self, row: &LocalRow, moves: &WindowRow) -> Function {
        let program = self.program;
        let statement = &program.statements[row.statement];
        let dimension = self.dimension();
        let cell = |access: &Access| {
            let offset: i64 =
                access.offset.iter().enumerate().map(|(d, &x)| x * self.staging.window.stride(d)).sum();
            let x = var("x") + offset;
            let cell = self.plane_name(access).map_or(x.clone(), |plane| plus(var(plane), x));
            name(self.array(access.field.0)).at(cell)
        };
        let index = |index| match index {
            Index::Time => var("step"),
            Index::Space(0) => var("p0") + var("point"),
            Index::Space(d) => var(format!("p{d}")),
        };
        let values = Values {
            program,
            names: self.names,
            statement: row.statement,
            copy: None,
            locals: None,
            read: &cell,
            index: &index,
        };
        let target = statement.target.0;
        let write = Access { field: statement.target, time: 1, offset: vec![0; dimension] };
        let mut fields: Vec<usize> =
            statement.reads.iter().map(|read| read.field.0).chain([target]).collect();
        fields.sort_unstable();
        fields.dedup();
        let element = program.fields[target].element.c_name();
        let (point, points) = (var("point"), var("points"));
        let each_point = |body: Block| unrolled(Stmt::count("int", "point", 0, var("points"), body));
        let x = Stmt::constant("int", "x", var("cell") + &point * self.staging.window.stride(0));
        let value = name("value").at(&point);

        let mut body: Block = fields.into_iter().map(|field| self.array_declaration(field)).collect();
        body.push(Stmt::Declare(vec![Declaration::array(element, "value", points.clone())]));
        let mut compute = Block::from(values.locals());
        compute.push(Stmt::assign(value.clone(), values.value()));
        if compute.mentions("x") {
            compute.statements.insert(0, x.clone());
        }
        body.extend(each_point(compute));
        body.extend(each_point(Block::from([x, Stmt::assign(cell(&write), value.clone())])));
        let (first, last) = (var("covered_first"), var("covered_last"));
        // In one dimension there is one point at a time.
        let memory = if self.has_ways() {
            further(name(TO), self.ways.following(point.clone(), self.element_bytes(target))).at(0)
        } else {
            name(TO).at(0)
        };
        let fresh = || !flag("again");
        let own = fresh().or(point.clone().lt(&first)).or(point.gt(&last));
        let store = Stmt::when(own, Stmt::assign(memory, value));
        let uncovered = fresh().or(first.gt(0)).or(last.lt(points - 1));
        body.push(Stmt::when(uncovered, each_point(store.into())));

        let name = &program.fields[target].name;
        let comment = format!(
            "{name}[{} + 1, {}] at neighbouring points along dimension 0. `cell` is the cell of the first one in the \
             window, and it goes `{TO}` there in memory. Where a later row computes `again` the points covered_first .. \
             covered_last, only the others go to memory.",
            program.time_index,
            program.space_indices.join(", ")
        );
        let to = format!("TW_GLOBAL({element})");
        let constants = self.constants_of(row.statement);
        let constants = constants.iter().map(|(kind, name)| (kind.to_string(), name.clone()));
        let planes = self.planes(row, moves).into_iter().map(|(plane, ..)| ("int".to_string(), plane));
        let series = self.series_of(row.statement);
        let series = series.iter().map(|constant| (constant.kind.to_string(), constant.name.clone()));
        let function = Function::new(self.update_name(row.statement))
            .comment(comment)
            .template("int", "points")
            .attribute("TW_DEVICE");
        ways::parameter(function, self.has_ways())
            .parameters(constants.chain(planes).chain(series))
            .parameters(self.indices_of(row.statement).into_iter().map(|(name, _)| (INT, name)))
            .parameter("int", "cell")
            .parameter(to, TO)
            .parameter("bool", "again")
            .parameters([("int", "covered_first"), ("int", "covered_last")])
            .body(body)
    }

    /// The name of the variable with the position of a plane in a field's array; `None` where there is one plane.
    pub(super) fn plane_name(&self, access: &Access) -> Option<String> {
        (self.slots(access.field.0) > 1).then(|| self.names.plane(self.program, access))
    }

    /// The planes that a row reads and writes, where a field has several: name, shift, number.
    pub(super) fn planes(&self, row: &LocalRow, moves: &WindowRow) -> Vec<(String, i64, i64)> {
        let statement = &self.program.statements[row.statement];
        let write = Access { field: statement.target, time: 1, offset: vec![0; self.dimension()] };
        let reads = statement.reads.iter().zip(&moves.reads);
        let mut planes = Vec::new();
        for (access, &shift) in reads.chain([(&write, &moves.writes)]) {
            let slots = self.slots(access.field.0);
            if slots > 1 {
                planes.push((self.names.plane(self.program, access), shift, slots));
            }
        }
        planes.sort();
        planes.dedup();
        planes
    }

    pub(super) fn update_name(&self, statement: usize) -> String {
        suffixed(&format!("tw_update_{}", self.program.statement_name(statement)), self.index)
    }

    /// The parameters that a statement uses: type and name.
    pub(super) fn constants_of(&self, statement: usize) -> Vec<(&'static str, String)> {
        let statement = &self.program.statements[statement];
        let all = constants::parameters(self.names, statement, Source::Grid);
        all.into_iter().map(|constant| (constant.kind, constant.name)).collect()
    }

    /// The indices that a statement's conditions ask for: the argument for each, and the dimension if it is one of space, whose
    /// argument is that of the first point.
    pub(super) fn indices_of(&self, statement: usize) -> Vec<(String, Option<usize>)> {
        let named = |index: Index| match index {
            Index::Time => ("step".to_owned(), None),
            Index::Space(d) => (format!("p{d}"), Some(d)),
        };
        indices_used(&self.program.statements[statement]).into_iter().map(named).collect()
    }

    /// The values of series that a statement uses.
    pub(super) fn series_of(&self, statement: usize) -> Vec<Constant> {
        let statement = &self.program.statements[statement];
        constants::series(self.program, self.names, statement, Source::Arguments, "step")
    }
}
