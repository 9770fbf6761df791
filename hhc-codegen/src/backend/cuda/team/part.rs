//! One part of a team's kernel: a row, or a transfer between registers, shared memory and the arrays.

use super::super::super::bounds::{expr, non_negative};
use super::super::super::points::{INT, as_it_is, max, min, plus};
use super::super::super::storages::{self, INDEX_NAMES, InArrays, Work};
use super::sums::{constant, gathered_long};
use super::{LANE, Rows, Team};
use crate::geometry::WARP;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Instance, Range, SIZE_NAMES, bound};
use crate::storage::{Place, Region, Transfer};
use c_tree::{Block, Declaration, Expr, Sort, Stmt, Type, all, any, call, name};
use polyhedral::program::{Access, FieldId, FieldRole};

/// The lane's point, and a piece of its points.
const POINT: &str = "r";
const PIECE: &str = "q";
/// The element of the arrays at the lane's first point.
const ELEMENT: &str = "tw_element";

/// Points of a strip that a part has: those of which all of these bounds are true, by their numbers in the strip.
#[derive(Default)]
struct Columns {
    low: Vec<IntExpr>,
    high: Vec<IntExpr>,
    /// The first and the last of them that the plan's constants leave.
    least: i64,
    most: i64,
}

impl Columns {
    fn all(&self, strip: i64) -> bool {
        self.low.is_empty() && self.high.is_empty() && self.least <= 0 && self.most >= strip - 1
    }
}

/// `#pragma unroll for (int i = 0; i < count; ++i) { body }`
fn unrolled(variable: &str, count: i64, body: impl Into<Block>) -> [Stmt; 2] {
    [Stmt::Pragma("unroll".into()), Stmt::count("int", variable, 0, count, body)]
}

/// The row that a part has, by its plan, as its coordinates in all dimensions but the innermost: those of its junk, or what
/// bounds its box from both sides.
fn row_of(ranges: &[Range], junk: Option<&Vec<Range>>) -> Option<Vec<IntExpr>> {
    let outer = |ranges: &[Range], one: &dyn Fn(&Range) -> Option<IntExpr>| -> Option<Vec<IntExpr>> {
        ranges.split_last()?.1.iter().map(one).collect()
    };
    if let Some(junk) = junk {
        return outer(junk, &|rows| (rows.low == rows.high).then(|| rows.low.clone()));
    }
    outer(ranges, &|rows| {
        let high = rows.high.least_of();
        rows.low.largest_of().into_iter().find(|row| high.contains(row))
    })
}

/// A row at an offset from another one.
fn beside(row: &[IntExpr], offset: &[i64]) -> Vec<IntExpr> {
    row.iter().zip(offset).map(|(coordinate, &offset)| coordinate.clone() + offset).collect()
}

impl Team<'_> {
    fn strip(&self) -> i64 {
        WARP * self.points
    }

    /// That the points of the strip from one number to another one are among some columns.
    fn have(&self, columns: &Columns, first: &Expr, last: &Expr) -> Vec<Expr> {
        let strip = || c_tree::int(self.strip()).cast(INT).integer();
        let changing = [self.position.variable, self.kernel.rows.variable];
        let named = |wanted: &str, value: Expr| match changes_with(columns, changing) {
            true => value.cast("int").integer(),
            false => self.declared("int", wanted, value.cast("int")),
        };
        let low = columns.low.iter().map(gathered_long).reduce(max).map(|low| {
            let low = max(min(low, strip()), c_tree::int(columns.least));
            first.clone().ge(named("tw_low", low))
        });
        let high = columns.high.iter().map(gathered_long).reduce(min).map(|high| {
            let high = max(min(high, c_tree::int(columns.most).cast(INT).integer()), c_tree::int(-1));
            last.clone().le(named("tw_high", high))
        });
        let least = (columns.least > 0 && columns.low.is_empty()).then(|| first.clone().ge(columns.least));
        let most = columns.most < self.strip() - 1 && columns.high.is_empty();
        let most = most.then(|| last.clone().le(columns.most));
        least.into_iter().chain(most).chain(low).chain(high).collect()
    }

    fn in_registers(&self, place: &Place) -> bool {
        place.storage().is_some_and(|storage| self.kernel.storages[storage].first_lane().is_some())
    }

    /// Whether a part has a form that is printed here.
    pub(super) fn prints(&self, work: Work<'_>) -> bool {
        let found = |place: &Place, row: &[IntExpr], field: FieldId| {
            let level = work.level();
            match place {
                Place::Arrays(_) => true,
                place if self.in_registers(place) => self.register(place, row, (field, &level)).is_some(),
                place => self.shared_piece(place, row, (field, &level)).is_some(),
            }
        };
        match work {
            Work::Row(instance) => {
                let statement = &self.plan.program.statements[instance.statement];
                let Some(row) = row_of(&instance.ranges, instance.junk.as_ref()) else { return false };
                let reads = statement.reads.iter().zip(&instance.reads).all(|(access, read)| {
                    let coefficient = self.plan.program.field(access.field).role == FieldRole::Coefficient;
                    match &read.place {
                        Place::Arrays(_) => coefficient,
                        place => found(place, &beside(&row, &access.offset), access.field),
                    }
                });
                let writes = instance
                    .writes
                    .iter()
                    .all(|place| self.in_registers(place) && found(place, &row, statement.target));
                reads && writes
            }
            Work::Transfer(transfer) => {
                let Some(row) = row_of(&transfer.ranges, transfer.junk.as_ref()) else { return false };
                let ends = [&transfer.from.place, &transfer.to];
                let one_in_registers = ends.iter().any(|place| self.in_registers(place));
                let loads = matches!(ends, [Place::Arrays(_), to] if to.storage().is_some());
                (one_in_registers || loads) && ends.iter().all(|place| found(place, &row, transfer.field))
            }
        }
    }

    /// A part, with what is known of the rows of its group.
    pub(super) fn part(&self, work: Work<'_>, rows: Rows) -> Block {
        let known: &[IntExpr] = if rows == Rows::Run { &self.facts } else { &[] };
        let conditions = match work {
            Work::Row(instance) => &instance.when,
            Work::Transfer(transfer) => &transfer.when,
        };
        if conditions.iter().any(|condition| refuted(condition, known)) {
            return Block::new();
        }
        // With one fact negative nothing happens that needs them all, and all that needs one of them to be negative.
        if rows == Rows::Rest && self.facts.iter().all(|fact| implied(fact, conditions)) {
            return Block::new();
        }
        let rest = |condition: &IntExpr| {
            let parts = parts_of_max(condition);
            let is_negation = |fact: &IntExpr| {
                parts.iter().any(|part| constant(&(part.clone() + fact.clone())) == Some(-1))
            };
            rows == Rows::Rest && self.facts.iter().all(is_negation)
        };
        let conditions: Vec<IntExpr> =
            conditions.iter().filter(|condition| !rest(condition)).cloned().collect();
        let conditions = &conditions[..];
        let open = conditions.iter().filter(|condition| !implied(condition, known));
        let open: Vec<IntExpr> = open.cloned().collect();
        let known: Vec<IntExpr> = known.iter().chain(conditions).cloned().collect();
        let mut inner = Block::new();
        match work {
            Work::Row(instance) => inner.extend(self.row(instance, work)),
            Work::Transfer(transfer) => inner.extend(self.transfer(transfer, &known)),
        }
        if inner.is_empty() {
            return inner;
        }
        let when = self.hold(&open);
        let mut part = Block::from(Stmt::Comment(work.comment(&self.plan.program)));
        match when.is_empty() && !inner.statements.iter().any(|line| matches!(line, Stmt::Declare(_))) {
            true => part.extend(inner),
            false if when.is_empty() => part.push(Stmt::Block(inner)),
            false => part.push(Stmt::when(all(when), inner)),
        }
        part
    }

    /// A row: the rows that it reads, with the neighbours of the lane's points beside them, then the points.
    fn row(&self, instance: &Instance, work: Work<'_>) -> Block {
        let program = &*self.plan.program;
        let statement = &program.statements[instance.statement];
        let Some(row) = row_of(&instance.ranges, instance.junk.as_ref()) else { return Block::new() };
        let points = self.points;
        let mut body = Block::new();
        // The rows that are read, by one access of each; how far to both sides, and the place.
        let mut rows: Vec<(&Access, i64, i64, &Place)> = Vec::new();
        let innermost = program.dimension() - 1;
        let of_row = |known: &Access, access: &Access| {
            (known.field, known.time) == (access.field, access.time)
                && known.offset[..innermost] == access.offset[..innermost]
        };
        for (access, read) in statement.reads.iter().zip(&instance.reads) {
            if matches!(read.place, Place::Arrays(_)) {
                continue;
            }
            let across = access.offset[innermost];
            let known = rows.iter_mut().find(|known| of_row(known.0, access) && known.3 == &read.place);
            match known {
                Some(known) => (known.1, known.2) = (known.1.max(-across), known.2.max(across)),
                None => rows.push((access, (-across).max(0), across.max(0), &read.place)),
            }
        }
        let row_name = |at: usize| format!("tw_row{at}");
        for (at, &(access, before, after, place)) in rows.iter().enumerate() {
            let element = program.field(access.field).element.c_name();
            let (level, there) = (work.level_of(access), beside(&row, &access.offset));
            let own = name(row_name(at));
            let cells = Declaration::array(element, row_name(at), before + points + after);
            body.push(Stmt::Declare(vec![cells]));
            let source = name(self.storage_name(place));
            if let Some(register) = self.register(place, &there, (access.field, &level)) {
                let source = source.at(register + c_tree::var(POINT));
                body.extend(unrolled(
                    POINT,
                    points,
                    Stmt::assign(own.at(c_tree::var(POINT) + before), source),
                ));
            } else if let Some(first) = self.shared_piece(place, &there, (access.field, &level)) {
                let piece = first + c_tree::int(self.stride_of_pieces(access.field)) * c_tree::var(PIECE);
                body.extend(self.pieces(access.field, (true, &own, &c_tree::int(before)), &source, piece));
            }
            for distance in 1..=before {
                let lanes = (distance + points - 1) / points;
                let from = own.at(before + lanes * points - distance);
                body.push(Stmt::assign(
                    own.at(before - distance),
                    call("tw_shift_up", [from, c_tree::int(lanes)]),
                ));
            }
            for distance in 1..=after {
                let last = points - 1 + distance;
                let from = own.at(before + last % points);
                body.push(Stmt::assign(
                    own.at(before + last),
                    call("tw_shift_down", [from, c_tree::int(last / points)]),
                ));
            }
        }
        let coefficient = |access: &Access, place: &Place| {
            self.in_arrays(access.field, work.level_of(access), place, &access.offset)
        };
        let read = |access: &Access| {
            let at = statement.reads.iter().position(|other| other == access);
            let Some(place) = at.and_then(|at| instance.reads.get(at)).map(|read| &read.place) else {
                return name("");
            };
            let found = rows.iter().position(|known| of_row(known.0, access) && known.3 == place);
            match found {
                Some(at) => {
                    name(row_name(at)).at(c_tree::var(POINT) + (rows[at].1 + access.offset[innermost]))
                }
                None => coefficient(access, place),
            }
        };
        let mut compute: Block = Block::from(work.value(program, self.names, &read));
        for place in &instance.writes {
            let level = work.level();
            if let Some(register) = self.register(place, &row, (statement.target, &level)) {
                let cell = name(self.storage_name(place)).at(register + c_tree::var(POINT));
                compute.push(Stmt::assign(cell, name("tw_value")));
            }
        }
        let mut inner = Block::new();
        let column = expr(self.first) + self.number(c_tree::var(POINT));
        for (d, value) in row.iter().map(expr).chain([column]).enumerate() {
            if compute.mentions(INDEX_NAMES[d]) {
                inner.push(Stmt::constant(INT, INDEX_NAMES[d], value));
            }
        }
        inner.extend(compute);
        if instance.junk.is_some() {
            body.extend(unrolled(POINT, points, inner));
            return body;
        }
        let (rows, columns) = self.tests(&instance.ranges, Region::Domain(instance.statement), &row, &[]);
        let number = self.number(c_tree::var(POINT));
        let points_run = Stmt::when(all(self.have(&columns, &number, &number)), inner);
        body.push(Stmt::when(all(rows), Block::from(unrolled(POINT, points, points_run))));
        body
    }

    fn storage_name(&self, place: &Place) -> &str {
        place.storage().map_or("", |storage| self.kernel.storages[storage].name.as_str())
    }

    /// The number in the strip of the lane's point with a number.
    fn number(&self, point: Expr) -> Expr {
        c_tree::int(self.points) * c_tree::var(LANE) + point
    }

    /// An element of the arrays at an offset from the point of the loops.
    fn in_arrays(&self, field: FieldId, level: IntExpr, place: &Place, offset: &[i64]) -> Expr {
        let element = |field: FieldId, slot: Option<IntExpr>, place: Expr| {
            let slot = slot.map(|slot| expr(&slot) * as_it_is("level_stride"));
            name(&self.names.fields[field.0]).at(slot.map_or(place.clone(), |slot| plus(slot, place)))
        };
        let arrays = InArrays { stride: &as_it_is, element: &element };
        storages::element((&self.plan.program, self.kernel), &arrays, (field, level), place, offset)
    }

    /// What must be true of a row, and its columns, for a box and a region, besides what is known.
    fn tests(
        &self,
        ranges: &[Range],
        region: Region,
        row: &[IntExpr],
        known: &[IntExpr],
    ) -> (Vec<Expr>, Columns) {
        let ends = |d: usize| -> (IntExpr, IntExpr) {
            match region {
                Region::Domain(statement) => {
                    let interval = self.plan.program.statements[statement].domain[d];
                    (bound(interval.low, d), bound(interval.high, d) - 1)
                }
                Region::Grid | Region::Boundary => (int(0), var(SIZE_NAMES[d]) - 1),
            }
        };
        let lows = |d: usize| ranges[d].low.largest_of().into_iter().chain([ends(d).0]);
        let highs = |d: usize| ranges[d].high.least_of().into_iter().chain([ends(d).1]);
        let of_row = row.iter().enumerate().flat_map(|(d, row)| {
            let low = lows(d).map(|low| row.clone() - low);
            low.chain(highs(d).map(|high| high - row.clone())).collect::<Vec<_>>()
        });
        let of_row: Vec<IntExpr> = of_row.filter(|test| !implied(test, known)).collect();
        let of_row = self.hold(&of_row);
        let (low, high) = ends(row.len());
        let mut columns = self.columns_of(ranges);
        let (low, high) = (low - self.first.clone(), high - self.first.clone());
        match constant(&low) {
            Some(low) => columns.least = columns.least.max(low),
            None => columns.low.push(low),
        }
        match constant(&high) {
            Some(high) => columns.most = columns.most.min(high),
            None => columns.high.push(high),
        }
        (of_row, columns)
    }

    /// The columns of a box, whatever the grid is.
    fn columns_of(&self, ranges: &[Range]) -> Columns {
        let mut columns = Columns { least: 0, most: self.strip() - 1, ..Columns::default() };
        let Some(range) = ranges.last() else { return columns };
        for low in range.low.largest_of() {
            let low = low - self.first.clone();
            match constant(&low) {
                Some(low) => columns.least = columns.least.max(low),
                None => columns.low.push(low),
            }
        }
        for high in range.high.least_of() {
            let high = high - self.first.clone();
            match constant(&high) {
                Some(high) => columns.most = columns.most.min(high),
                None => columns.high.push(high),
            }
        }
        columns
    }

    /// A transfer: the lane's points of a row.
    fn transfer(&self, transfer: &Transfer, known: &[IntExpr]) -> Block {
        let Some(row) = row_of(&transfer.ranges, transfer.junk.as_ref()) else { return Block::new() };
        let value = (transfer.field, &transfer.level);
        let (from, to) = (&transfer.from.place, &transfer.to);
        let in_arrays = |place: &Place| matches!(place, Place::Arrays(_));
        // What is moved beyond the box is junk, which never leaves the block, nor is it loaded.
        let (rows, columns) = match &transfer.junk {
            Some(junk) if !in_arrays(from) && !in_arrays(to) => (Vec::new(), self.columns_of(junk)),
            _ => self.tests(&transfer.ranges, transfer.region, &row, known),
        };
        let body = match (from, to) {
            (Place::Arrays(_), _) | (_, Place::Arrays(_)) => self.through_arrays(transfer, &row, &columns),
            _ if self.in_registers(from) && self.in_registers(to) => {
                let (Some(from), Some(to)) =
                    (self.register(from, &row, value), self.register(to, &row, value))
                else {
                    return Block::new();
                };
                let (from_name, to_name) =
                    (self.storage_name(&transfer.from.place), self.storage_name(&transfer.to));
                let moved = |point: Expr| {
                    Stmt::assign(
                        name(to_name).at(to.clone() + point.clone()),
                        name(from_name).at(from.clone() + point),
                    )
                };
                self.at_points(transfer, (&row, &columns), known, &moved)
            }
            _ => self.through_shared(transfer, &row),
        };
        if body.is_empty() || rows.is_empty() {
            return body;
        }
        // Groups of copies are counted by positions, whether there is a row or not.
        let (body, always): (Vec<Stmt>, Vec<Stmt>) =
            body.statements.into_iter().partition(|line| *line != Stmt::call("tw_copy_commit", []));
        let mut block = Block::from(Stmt::when(all(rows), body.into_iter().collect::<Block>()));
        block.extend(always);
        block
    }

    /// Something done for the points of a box and a region: for few of them where they are at the ends of a strip.
    fn at_points(
        &self,
        transfer: &Transfer,
        (row, columns): (&[IntExpr], &Columns),
        known: &[IntExpr],
        done: &dyn Fn(Expr) -> Stmt,
    ) -> Block {
        let few = self.few(columns);
        // What is beside the region in few columns of junk is junk.
        let left_out = match few && transfer.junk.is_some() {
            true => LeftOut::Nothing,
            false => self.left_out(transfer, row, known, few),
        };
        if few {
            return (columns.least..=columns.most)
                .map(|number| {
                    let flag = self.flag(transfer, number);
                    let condition = match &left_out {
                        LeftOut::ByColumn(_) | LeftOut::Nothing => c_tree::flag(flag),
                        LeftOut::ByPoint(test) => self.has(columns, number).and(test(c_tree::int(number))),
                    };
                    Stmt::when(condition, done(c_tree::int(number % self.points)))
                })
                .collect();
        }
        let number = self.number(c_tree::var(POINT));
        let mut tests = self.have(columns, &number, &number);
        match &left_out {
            LeftOut::Nothing => {}
            LeftOut::ByColumn(test) | LeftOut::ByPoint(test) => tests.push(test(number)),
        }
        let done = done(c_tree::var(POINT));
        let each = if tests.is_empty() { done } else { Stmt::when(all(tests), done) };
        Block::from(unrolled(POINT, self.points, each))
    }

    /// Whether they are so few that each is printed by itself.
    fn few(&self, columns: &Columns) -> bool {
        columns.most - columns.least < self.points.min(8)
    }

    /// That the lane has the point with this number, and the box, too.
    fn has(&self, columns: &Columns, number: i64) -> Expr {
        let (lane, number) = (number / self.points, c_tree::int(number));
        c_tree::var(LANE).is(lane).and(all(self.have(columns, &number, &number)))
    }

    /// The name of what is true where the lane moves the point with this number of a row of the domain.
    fn flag(&self, transfer: &Transfer, number: i64) -> String {
        let at = self.kernel.transfers.iter().position(|other| std::ptr::eq(other, transfer));
        format!("tw_edge{}_{number}", at.unwrap_or(0))
    }

    /// Whether the rows of an array, and those of the strip in them, begin where accesses of several elements do.
    fn aligned(&self, field: FieldId) -> Expr {
        let piece = self.piece(field);
        let even = |value: Expr| Expr::binary(c_tree::BinaryOp::Rem, value, piece).is(0);
        let array = name(&self.names.fields[field.0]);
        let aligned = flag_of(Expr::instance("tw_is_aligned", [c_tree::int(piece)], [array]));
        let strides = (0..self.plan.program.dimension() - 1).map(|d| format!("stride{d}"));
        let distances = ["level_stride".to_owned()].into_iter().chain(strides);
        let distances = distances.map(|distance| even(c_tree::var(distance)));
        let condition = all([aligned].into_iter().chain(distances).chain([even(expr(self.first))]));
        self.declared("bool", "tw_aligned", condition)
    }

    /// Declarations of what does not change with the position, as far as a text mentions it.
    pub(super) fn flags(&self, text: &Block) -> Block {
        let mut flags = Block::new();
        for transfer in &self.kernel.transfers {
            let Some(row) = row_of(&transfer.ranges, transfer.junk.as_ref()) else { continue };
            let columns = match &transfer.junk {
                Some(junk) => self.columns_of(junk),
                None => self.tests(&transfer.ranges, transfer.region, &row, &[]).1,
            };
            if !self.few(&columns) {
                continue;
            }
            let in_row_of_domain = self.in_domain_rows(transfer, &row);
            for number in columns.least..=columns.most {
                let flag = self.flag(transfer, number);
                if !text.mentions(&flag) {
                    continue;
                }
                let mut condition = self.has(&columns, number);
                if transfer.junk.is_none()
                    && let LeftOut::ByColumn(test) = self.left_out(transfer, &row, &in_row_of_domain, true)
                {
                    condition = condition.and(test(c_tree::int(number)));
                }
                flags.push(Stmt::constant("bool", flag, condition));
            }
        }
        flags
    }

    /// That a row is one of the domains that a transfer leaves out.
    fn in_domain_rows(&self, transfer: &Transfer, row: &[IntExpr]) -> Vec<IntExpr> {
        let domains = Work::Transfer(transfer).left_out(&self.plan.program);
        domains.iter().flat_map(|domain| of_domain(domain, row)).collect()
    }

    /// Which points of its box a transfer does not move.
    fn left_out(&self, transfer: &Transfer, row: &[IntExpr], known: &[IntExpr], few: bool) -> LeftOut {
        let domains = Work::Transfer(transfer).left_out(&self.plan.program);
        if domains.is_empty() {
            return LeftOut::Nothing;
        }
        let first = self.first.clone();
        let beyond = |domain: &Vec<_>| of_domain(domain, row).iter().any(|test| refuted(test, known));
        let domains: Vec<_> = domains.into_iter().filter(|domain| !beyond(domain)).collect();
        if domains.is_empty() {
            return LeftOut::Nothing;
        }
        let row_tests = |domain: &Vec<_>| -> Vec<Expr> {
            let open = of_domain(domain, row).into_iter().filter(|test| !implied(test, known));
            open.map(|test| non_negative(&test)).collect()
        };
        let rows: Vec<Vec<Expr>> = domains.iter().map(row_tests).collect();
        let by_column = rows.iter().all(Vec::is_empty);
        // Of points that are tested one by one the ends are numbers of columns, found before.
        let end = |of: &IntExpr| {
            let column = of.clone() - first.clone();
            let within = max(
                min(gathered_long(&column), c_tree::int(self.strip()).cast(INT).integer()),
                c_tree::int(0),
            );
            if by_column && !few {
                self.declared("int", "tw_inner", within.cast("int"))
            } else {
                expr(&column)
            }
        };
        let ends = domains.iter().map(|domain| domain.last().map(|(low, high)| (end(low), end(high))));
        let ends: Vec<Option<(Expr, Expr)>> = ends.collect();
        let test = move |number: Expr| {
            !any(ends.iter().zip(&rows).map(|(ends, rows)| {
                let Some((low, high)) = ends else { return c_tree::truth(false) };
                let low = number.clone().ge(low);
                let high = number.clone().lt(high);
                all(rows.iter().cloned().chain([low, high]))
            }))
        };
        if by_column { LeftOut::ByColumn(Box::new(test)) } else { LeftOut::ByPoint(Box::new(test)) }
    }

    /// From shared memory to registers, or back: pieces of a whole row.
    fn through_shared(&self, transfer: &Transfer, row: &[IntExpr]) -> Block {
        let value = (transfer.field, &transfer.level);
        let (from, to) = (&transfer.from.place, &transfer.to);
        let takes = self.in_registers(to);
        let (inner, outer) = if takes { (to, from) } else { (from, to) };
        let (Some(register), Some(first)) =
            (self.register(inner, row, value), self.shared_piece(outer, row, value))
        else {
            return Block::new();
        };
        let mut body = Block::new();
        if takes && let Some(groups) = self.groups_under_way(transfer) {
            body.push(Stmt::Expr(Expr::instance("tw_copy_wait", [c_tree::int(groups)], [])));
        }
        let piece = first + c_tree::int(self.stride_of_pieces(transfer.field)) * c_tree::var(PIECE);
        let (registers, shared) = (name(self.storage_name(inner)), name(self.storage_name(outer)));
        body.extend(self.pieces(transfer.field, (takes, &registers, &register), &shared, piece));
        body
    }

    /// Moves between registers and memory, piece by piece.
    fn pieces(
        &self,
        field: FieldId,
        (takes, registers, first): (bool, &Expr, &Expr),
        memory: &Expr,
        element: Expr,
    ) -> [Stmt; 2] {
        let count = self.piece(field);
        let own = |j: Expr| registers.at(first.clone() + c_tree::int(count) * c_tree::var(PIECE) + j);
        let body = if count == 1 {
            let (own, other) = (own(c_tree::int(0)), memory.at(element));
            Block::from(if takes { Stmt::assign(own, other) } else { Stmt::assign(other, own) })
        } else {
            let kind =
                Type::new(format!("tw_vector<{}, {count}>", self.plan.program.field(field).element.c_name()));
            let vector = name("tw_piece");
            let part = |j: Expr| vector.dot("x").at(j);
            let j = || c_tree::var("j");
            match takes {
                true => {
                    let load = call(format!("tw_load{count}"), [memory.clone(), element]);
                    let mut body = Block::from(Stmt::constant(kind, "tw_piece", load));
                    body.extend(unrolled("j", count, Stmt::assign(own(j()), part(j()))));
                    body
                }
                false => {
                    let mut body = Block::from(Stmt::uninitialised(kind, "tw_piece"));
                    body.extend(unrolled("j", count, Stmt::assign(part(j()), own(j()))));
                    body.push(Stmt::call(
                        format!("tw_store{count}"),
                        [memory.clone(), element, vector.clone()],
                    ));
                    body
                }
            }
        };
        unrolled(PIECE, self.points / count, body)
    }

    /// How many of the newest groups of copies need not have landed when a transfer takes what they bring: one is
    /// committed at each position.
    fn groups_under_way(&self, transfer: &Transfer) -> Option<i64> {
        let storage = transfer.from.place.storage()?;
        let takes = row_of(&transfer.ranges, transfer.junk.as_ref())?;
        let order = |wanted: &Transfer| {
            self.kernel.transfers.iter().position(|other| std::ptr::eq(other, wanted)).unwrap_or(0)
        };
        let brings = self.kernel.transfers.iter().find(|other| {
            matches!(other.from.place, Place::Arrays(_)) && other.to.storage() == Some(storage)
        })?;
        let along = |row: Vec<IntExpr>| row.into_iter().next();
        let brought = along(row_of(&brings.ranges, brings.junk.as_ref())?)?;
        let ahead = constant(&(brought - along(takes)?))?;
        Some((ahead - i64::from(order(transfer) < order(brings))).max(0))
    }

    /// From the arrays, or to them: pieces where the lane has a whole number of them, else point by point.
    fn through_arrays(&self, transfer: &Transfer, row: &[IntExpr], columns: &Columns) -> Block {
        let program = &*self.plan.program;
        let value = (transfer.field, &transfer.level);
        let loads = matches!(transfer.from.place, Place::Arrays(_));
        let (outer, inner) = match loads {
            true => (&transfer.from.place, &transfer.to),
            false => (&transfer.to, &transfer.from.place),
        };
        let Place::Arrays(slot) = outer else { return Block::new() };
        let array = name(&self.names.fields[transfer.field.0]);
        let slot = storages::slot(program, transfer.field, transfer.level.clone(), slot);
        let start = row.iter().enumerate().map(|(d, row)| expr(row) * c_tree::var(format!("stride{d}")));
        let in_row = start.chain([expr(self.first)]).reduce(plus).unwrap_or(c_tree::int(0));
        let in_row = plus(in_row, self.number(c_tree::int(0)));
        let element = match slot {
            Some(slot) => plus(expr(&slot) * c_tree::var("level_stride"), in_row),
            None => in_row,
        };
        let count = self.piece(transfer.field);
        let own = name(self.storage_name(inner));
        let point = || c_tree::var(POINT);
        let there = || c_tree::var(ELEMENT) + c_tree::int(count) * c_tree::var(PIECE);
        let (whole, single): ([Stmt; 2], Stmt) = if self.in_registers(inner) {
            let Some(register) = self.register(inner, row, value) else { return Block::new() };
            let whole = self.pieces(transfer.field, (loads, &own, &register), &array, there());
            let (cell, other) = (own.at(register + point()), array.at(c_tree::var(ELEMENT) + point()));
            (whole, if loads { Stmt::assign(cell, other) } else { Stmt::assign(other, cell) })
        } else {
            let Some(first) = self.shared_piece(inner, row, value) else { return Block::new() };
            let stride = self.stride_of_pieces(transfer.field);
            let copy = Expr::instance(
                "tw_copy_async",
                [c_tree::int(count)],
                [
                    own.clone(),
                    first.clone() + c_tree::int(stride) * c_tree::var(PIECE),
                    array.clone(),
                    there(),
                ],
            );
            let whole = unrolled(PIECE, self.points / count, Stmt::Expr(copy));
            let (q, j) = (
                Expr::binary(c_tree::BinaryOp::Div, point(), count),
                Expr::binary(c_tree::BinaryOp::Rem, point(), count),
            );
            let cell = first + c_tree::int(stride) * q + j;
            let element = c_tree::var(ELEMENT) + point();
            let single = Expr::instance(
                "tw_copy_async",
                [c_tree::int(1)],
                [own.clone(), cell, array.clone(), element],
            );
            (whole, Stmt::Expr(single))
        };
        let mut body = Block::from(Stmt::constant(INT, ELEMENT, element));
        let (first, last) = (self.number(c_tree::int(0)), self.number(c_tree::int(self.points - 1)));
        let number = self.number(point());
        let tests = self.have(columns, &number, &number);
        let single = if tests.is_empty() { single } else { Stmt::when(all(tests), single) };
        // Between the arrays and shared memory numbers need not be constants, and short text is better.
        let single = match self.in_registers(inner) {
            true => Block::from(unrolled(POINT, self.points, single)),
            false => Block::from([
                Stmt::Pragma("unroll 1".into()),
                Stmt::count("int", POINT, 0, self.points, single),
            ]),
        };
        if count == 1 && columns.all(self.strip()) {
            body.extend(whole);
        } else {
            let aligned = if count == 1 { c_tree::truth(true) } else { self.aligned(transfer.field) };
            let lane_whole = all([aligned].into_iter().chain(self.have(columns, &first, &last)));
            let lane_whole = match changes_with(columns, [self.position.variable, self.kernel.rows.variable])
            {
                true => lane_whole,
                false => self.declared("bool", "tw_whole", lane_whole),
            };
            body.push(Stmt::choose(lane_whole, Block::from(whole), single));
        }
        if !self.in_registers(inner) {
            body.push(Stmt::call("tw_copy_commit", []));
        }
        body
    }
}

/// Which points a transfer leaves out.
enum LeftOut {
    /// None.
    Nothing,
    /// Those of some columns: what is true of the number of a point that is moved.
    ByColumn(Box<dyn Fn(Expr) -> Expr>),
    /// The same, which the row decides, too.
    ByPoint(Box<dyn Fn(Expr) -> Expr>),
}

/// Whether columns are bounded by something that mentions one of these variables.
fn changes_with(columns: &Columns, variables: [&str; 2]) -> bool {
    let bounds = columns.low.iter().chain(&columns.high);
    bounds.into_iter().any(|bound| variables.iter().any(|name| bound.mentions(name)))
}

/// A call that gives a truth value.
fn flag_of(mut call: Expr) -> Expr {
    if let Expr::Call { sort, .. } = &mut call {
        *sort = Sort::Truth;
    }
    call
}

/// What is not negative where a row goes through a domain, whose box this is.
fn of_domain(domain: &[(IntExpr, IntExpr)], row: &[IntExpr]) -> Vec<IntExpr> {
    let ends = row.iter().zip(domain);
    ends.flat_map(|(row, (low, high))| [row.clone() - low.clone(), high.clone() - 1 - row.clone()]).collect()
}

/// The expressions of which one is the greatest.
fn parts_of_max(of: &IntExpr) -> Vec<IntExpr> {
    match of {
        IntExpr::Max(a, b) => [parts_of_max(a), parts_of_max(b)].concat(),
        other => vec![other.clone()],
    }
}

/// Whether a condition follows from those that are known.
fn implied(condition: &IntExpr, known: &[IntExpr]) -> bool {
    let follows = |condition: &IntExpr| {
        constant(condition).is_some_and(|value| value >= 0)
            || known
                .iter()
                .any(|fact| constant(&(condition.clone() - fact.clone())).is_some_and(|more| more >= 0))
    };
    match condition {
        IntExpr::Max(a, b) => implied(a, known) || implied(b, known),
        IntExpr::Min(a, b) => implied(a, known) && implied(b, known),
        condition => follows(condition),
    }
}

/// Whether it contradicts one of them.
fn refuted(condition: &IntExpr, known: &[IntExpr]) -> bool {
    let contradicts = |condition: &IntExpr| {
        constant(condition).is_some_and(|value| value < 0)
            || known
                .iter()
                .any(|fact| constant(&(condition.clone() + fact.clone())).is_some_and(|sum| sum < 0))
    };
    match condition {
        IntExpr::Max(a, b) => refuted(a, known) && refuted(b, known),
        IntExpr::Min(a, b) => refuted(a, known) || refuted(b, known),
        condition => contradicts(condition),
    }
}
