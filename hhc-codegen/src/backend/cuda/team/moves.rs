//! A transfer between registers, shared memory and the arrays.

use super::super::super::arguments::spare_name;
use super::super::super::bounds::{expr, non_negative};
use super::super::super::points::{INT, max, min, plus};
use super::super::super::storages::{self, Work};
use super::super::ways::further;
use super::columns::{Columns, Row, changes_with, unrolled};
use super::facts::{implied, of_domain, refuted};
use super::sums::gathered_long;
use super::{Half, LANE, NEXT, POINT, SINCE, Team};
use crate::int_expr::IntExpr;
use crate::storage::{Place, Transfer};
use c_tree::{BinaryOp, Block, Expr, Sort, Stmt, Type, all, any, call, name};
use polyhedral::program::FieldId;

/// A piece of the lane's points.
pub(super) const PIECE: &str = "q";
/// Where the lane's first point is in memory.
const HERE: &str = "tw_place";
/// Where a piece of them is.
const PART: &str = "tw_part";
/// That of the first of several rows.
const FIRST: &str = "tw_place0";
/// The lane's points that are moved in whole pieces, from the first one on to the one behind the last one.
const BEGIN: &str = "tw_begins";
const END: &str = "tw_ends";

impl Team<'_> {
    /// A transfer: the lane's points of its rows.
    pub(super) fn transfer(&self, transfer: &Transfer, known: &[IntExpr]) -> Block {
        let mut rows = self.rows_of(&transfer.ranges, transfer.junk.as_ref()).unwrap_or_default();
        let several = rows.len() > 1;
        let half = self.half.get().map(|(half, _)| half);
        let mut block = Block::new();
        if self.in_registers(&transfer.to)
            && let Some(groups) = self.groups_under_way(transfer)
        {
            block.push(Stmt::Expr(Expr::instance("tw_copy_wait", [c_tree::int(groups)], [])));
        }
        if half != Some(Half::End)
            && let [first, _, ..] = &rows[..]
            && let Some(slot) = [&transfer.from.place, &transfer.to].into_iter().find_map(|place| match place
            {
                Place::Arrays(slot) => Some(slot),
                _ => None,
            })
        {
            let slot = storages::slot(&self.plan.program, transfer.field, transfer.level.clone(), slot);
            let first = self.place(transfer.field, &first.at, slot.as_ref());
            block.push(Stmt::declare(self.pointer(transfer.field), FIRST, first));
        }
        if let Some(body) = self.slice(transfer, &rows, known) {
            block.extend(body);
            rows.clear();
        }
        for row in &rows {
            let body = self.of_row(transfer, row, known);
            let declares = body.statements.iter().any(|line| matches!(line, Stmt::Declare(_)));
            if several && declares {
                block.push(Stmt::Block(body));
            } else {
                block.extend(body);
            }
        }
        self.note_pieces_ahead(transfer);
        // Groups of copies are counted by positions, whether there is a row or not.
        if half.is_none() && self.copies(transfer) {
            block.push(Stmt::call("tw_copy_commit", []));
            if let Some(groups) = self.groups_before_rows(transfer) {
                block.push(Stmt::Expr(Expr::instance("tw_copy_wait", [c_tree::int(groups)], [])));
            }
        }
        block
    }

    /// The lane's points of one row.
    fn of_row(&self, transfer: &Transfer, of: &Row, known: &[IntExpr]) -> Block {
        let row = &of.at[..];
        let value = (transfer.field, &transfer.level);
        let (from, to) = (&transfer.from.place, &transfer.to);
        let in_arrays = |place: &Place| matches!(place, Place::Arrays(_));
        // What is moved beyond the box is junk, which never leaves the block, nor is it loaded.
        let (tests, columns) = match &transfer.junk {
            Some(junk) if !in_arrays(from) && !in_arrays(to) => {
                (self.of_box(junk, of, known), self.columns_of(junk))
            }
            _ => self.tests(&transfer.ranges, transfer.region, of, known),
        };
        let known: Vec<IntExpr> = known.iter().chain(&tests).cloned().collect();
        let known = &known[..];
        let body = match (from, to) {
            (Place::Arrays(_), _) | (_, Place::Arrays(_)) => {
                self.through_arrays(transfer, of, &columns, Points::Asked)
            }
            _ if self.in_registers(from) && self.in_registers(to) => {
                let (Some(from), Some(to)) = (self.register(from, row, value), self.register(to, row, value))
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
                self.at_points(transfer, (row, &columns), known, &moved)
            }
            _ => self.through_shared(transfer, row),
        };
        if body.is_empty() || tests.is_empty() {
            return body;
        }
        Block::from(Stmt::when(all(self.held(&tests, of)), body))
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
    pub(super) fn aligned(&self, field: FieldId) -> Expr {
        let piece = self.piece(field);
        let even = |value: Expr| Expr::binary(BinaryOp::Rem, value, piece).is(0);
        let own = &self.names.fields[field.0];
        let has_spare = self.plan.slots(field) > self.plan.program.field(field).role.slots() as i64;
        let arrays = [own.clone()].into_iter().chain(has_spare.then(|| spare_name(own)));
        let aligned =
            arrays.map(|array| flag_of(Expr::instance("tw_is_aligned", [c_tree::int(piece)], [name(array)])));
        let strides = (0..self.plan.program.dimension() - 1).map(|d| format!("stride{d}"));
        let distances = ["level_stride".to_owned()].into_iter().chain(strides);
        let distances = distances.map(|distance| even(c_tree::var(distance)));
        let condition = all(aligned.chain(distances).chain([even(expr(self.first))]));
        self.declared("bool", "tw_aligned", condition)
    }

    /// Declarations of what does not change with the position, as far as a text mentions it.
    pub(super) fn flags(&self, text: &Block) -> Block {
        let mut flags = Block::new();
        for transfer in &self.kernel.transfers {
            let rows = self.rows_of(&transfer.ranges, transfer.junk.as_ref());
            let Some(row) = rows.and_then(|rows| rows.into_iter().next()) else { continue };
            let columns = match &transfer.junk {
                Some(junk) => self.columns_of(junk),
                None => self.tests(&transfer.ranges, transfer.region, &row, &[]).1,
            };
            if !self.few(&columns) {
                continue;
            }
            let row = &row.at[..];
            let in_row_of_domain = self.in_domain_rows(transfer, row);
            for number in columns.least..=columns.most {
                let flag = self.flag(transfer, number);
                if !text.mentions(&flag) {
                    continue;
                }
                let mut condition = self.has(&columns, number);
                if transfer.junk.is_none()
                    && let LeftOut::ByColumn(test) = self.left_out(transfer, row, &in_row_of_domain, true)
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
        let piece = first + c_tree::int(self.stride_of_pieces(transfer.field)) * c_tree::var(PIECE);
        let (registers, shared) = (name(self.storage_name(inner)), name(self.storage_name(outer)));
        Block::from(self.pieces(transfer.field, (takes, &registers, &register), &shared, piece))
    }

    /// Moves between registers and memory, piece by piece.
    pub(super) fn pieces(
        &self,
        field: FieldId,
        registers: (bool, &Expr, &Expr),
        memory: &Expr,
        element: Expr,
    ) -> [Stmt; 2] {
        let piece = self.piece_of(field, registers, memory, element);
        unrolled(PIECE, self.points / self.piece(field), piece)
    }

    /// The same of one piece.
    fn piece_of(
        &self,
        field: FieldId,
        (takes, registers, first): (bool, &Expr, &Expr),
        memory: &Expr,
        element: Expr,
    ) -> Stmt {
        let count = self.piece(field);
        let own = |j: Expr| registers.at(first.clone() + c_tree::int(count) * c_tree::var(PIECE) + j);
        let body = if count == 1 {
            let (own, other) = (own(c_tree::int(0)), memory.at(element));
            return if takes { Stmt::assign(own, other) } else { Stmt::assign(other, own) };
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
        Stmt::Block(body)
    }

    /// The array that a slot of a field is in, and the slot there: spare ones are an array of their own.
    fn array(&self, field: FieldId, slot: Option<&IntExpr>) -> (Expr, Option<IntExpr>) {
        let own = &self.names.fields[field.0];
        let slots = self.plan.program.field(field).role.slots() as i64;
        match slot {
            Some(slot) if self.plan.slots(field) > slots => {
                let first = expr(slot).lt(slots);
                let within = (slots > 1).then(|| slot.clone().modulo(slots));
                (first.select(name(own), name(spare_name(own))), within)
            }
            _ => (name(own), slot.cloned()),
        }
    }

    /// Where the lane's first element of a row is in memory: found before the stream for the first position. In three dimensions it
    /// goes on from there by sums; in two, where registers are shorter, it does so in the loop in which all rows run alone, and is found
    /// anew elsewhere.
    fn place(&self, field: FieldId, row: &[IntExpr], slot: Option<&IntExpr>) -> Expr {
        let position = self.position.variable;
        let (array, slot) = self.array(field, slot);
        let array = || array.clone();
        let slot = slot.as_ref();
        let element = |row: &[IntExpr]| {
            let strides = (0..row.len()).map(|d| c_tree::var(format!("stride{d}")));
            let rows = row.iter().zip(strides).map(|(row, stride)| expr(row) * stride);
            let slot = slot.map(|slot| expr(slot) * c_tree::var("level_stride"));
            let sum = slot.into_iter().chain(rows).chain([expr(self.first)]).reduce(plus);
            plus(sum.unwrap_or(c_tree::int(0)), self.number(c_tree::int(0)))
        };
        let changes = row.iter().chain(slot).any(|of| of.mentions(self.kernel.rows.variable));
        let slopes: Option<Vec<i64>> = row.iter().map(|row| self.slope(row, position)).collect();
        let Some(slopes) = slopes.filter(|_| !changes && !slot.is_some_and(|slot| slot.mentions(position)))
        else {
            return array() + element(row);
        };
        let first: Vec<IntExpr> =
            row.iter().map(|row| row.substitute(position, &self.position.low)).collect();
        let first = call("tw_kept", [element(&first)]);
        if slopes.len() > 1 {
            return self.walk(field, array() + first, &slopes);
        }
        let begin = self.declared(INT, "tw_begin", first);
        if slopes == [1]
            && let Some(place) =
                self.turn(field, array() + plus(begin.clone(), c_tree::var(NEXT) * c_tree::var("stride0")))
        {
            return place;
        }
        let moved = slopes.iter().filter(|slope| **slope != 0);
        let moved = moved.map(|slope| c_tree::int(*slope) * c_tree::var(SINCE) * c_tree::var("stride0"));
        array() + moved.fold(begin, plus)
    }

    /// From the arrays, or to them: pieces where the lane has a whole number of them, else point by point.
    pub(super) fn through_arrays(
        &self,
        transfer: &Transfer,
        of: &Row,
        columns: &Columns,
        points: Points<'_>,
    ) -> Block {
        let row = &of.at[..];
        let program = &*self.plan.program;
        let value = (transfer.field, &transfer.level);
        let loads = matches!(transfer.from.place, Place::Arrays(_));
        let (outer, inner) = match loads {
            true => (&transfer.from.place, &transfer.to),
            false => (&transfer.to, &transfer.from.place),
        };
        let Place::Arrays(slot) = outer else { return Block::new() };
        let slot = storages::slot(program, transfer.field, transfer.level.clone(), slot);
        // Of several rows, the place of the first one is found once.
        let lines: Vec<i64> =
            row.iter().zip(&of.first).map(|(own, first)| own.minus(first).unwrap_or(0)).collect();
        let place = match of.of {
            1 => self.place(transfer.field, row, slot.as_ref()),
            _ => self.further(name(FIRST), transfer.field, &lines, false),
        };
        // The place of several accesses, each of which the compiler would find it for.
        let kept = of.of > 1 && matches!(points, Points::Some(_)) && lines.iter().any(|&line| line != 0);
        let array = name(HERE);
        let count = self.piece(transfer.field);
        let own = name(self.storage_name(inner));
        let point = || c_tree::var(POINT);
        let there = || c_tree::int(count) * c_tree::var(PIECE);
        let in_pieces = match points {
            Points::Asked => !columns.all(self.strip()),
            Points::Whole => true,
            Points::Some(_) => false,
        };
        let half = self.half.get().map(|(half, _)| half);
        let asked_for_first = half.is_none() && self.asked_for_first(transfer);
        let lands_later = in_pieces
            && loads
            && count > 1
            && !self.in_registers(inner)
            && (half.is_some() || (self.lands_later(transfer) && (self.in_turns.get() || !asked_for_first)));
        if half.is_some() && !lands_later {
            return Block::new();
        }
        let (whole, single): (Stmt, Stmt) = if self.in_registers(inner) {
            let Some(register) = self.register(inner, row, value) else { return Block::new() };
            let whole = self.piece_of(transfer.field, (loads, &own, &register), &array, there());
            let (cell, other) = (own.at(register + point()), array.at(point()));
            (whole, if loads { Stmt::assign(cell, other) } else { Stmt::assign(other, cell) })
        } else {
            let of_slice = if of.of > 1 { self.piece_of_lane(inner, row, value) } else { None };
            let of_storage = || Some((own.clone(), self.shared_piece(inner, row, value)?));
            let Some((own, first)) = of_slice.or_else(of_storage) else { return Block::new() };
            let stride = self.stride_of_pieces(transfer.field);
            let piece = first + c_tree::int(stride) * c_tree::var(PIECE);
            let cell = || piece.clone() + c_tree::var("j");
            let copy = |count: i64, [to, from]: [Expr; 2], array: Expr| {
                let ends = [own.clone(), to, array, from];
                Stmt::Expr(Expr::instance("tw_copy_async", [c_tree::int(count)], ends))
            };
            let whole = match loads {
                true if lands_later => {
                    let ahead = self.piece_ahead(transfer, self.points / count, c_tree::var(PIECE));
                    let (to, from) = ([own.clone(), piece.clone()], [array.clone(), there()]);
                    let begins = |name: &str, all: Vec<Expr>| {
                        Stmt::Expr(Expr::instance(name, [c_tree::int(count)], all))
                    };
                    let with = |of: [Expr; 2]| [ahead.clone()].into_iter().chain(of);
                    match half {
                        Some(Half::End) => Stmt::call("tw_copy_end", with(to)),
                        Some(Half::Ask) => begins("tw_copy_ask", with(from).collect()),
                        None if asked_for_first => {
                            begins("tw_copy_background", to.into_iter().chain(from).collect())
                        }
                        None => begins("tw_copy_begin", with(to).chain(from).collect()),
                    }
                }
                true => copy(count, [piece.clone(), there()], array.clone()),
                false if count == 1 => Stmt::assign(array.at(there()), own.at(piece.clone())),
                false => {
                    let taken = call(format!("tw_load{count}"), [own.clone(), piece.clone()]);
                    Stmt::call(format!("tw_store{count}"), [array.clone(), there(), taken])
                }
            };
            // A point of a piece that begins at an element from somewhere.
            let single = |from: Expr, element: Expr| {
                let element = plus(element, c_tree::var("j"));
                match loads {
                    true => copy(1, [cell(), element], from),
                    false => Stmt::assign(from.at(element), own.at(cell())),
                }
            };
            let from_part = self.finds_pieces() && (count == 1 || !columns.all(self.strip()));
            let single = if from_part { single(name(PART), c_tree::int(0)) } else { single(array, there()) };
            (whole, single)
        };
        let mut body = Block::new();
        if half != Some(Half::End) {
            body.push(Stmt::declare(self.pointer(transfer.field), HERE, place));
        }
        if kept && half != Some(Half::End) {
            body.push(Stmt::assign(name(HERE), call("tw_from_register", [name(HERE)])));
        }
        match points {
            Points::Asked => {}
            Points::Whole => {
                body.extend(unrolled(PIECE, self.points / count, whole));
                return body;
            }
            Points::Some(flags) => {
                let Some(register) = self.register(inner, row, value) else { return Block::new() };
                for (number, flag) in (0..).map(c_tree::int).zip(flags) {
                    let cell = own.at(register.clone() + number.clone());
                    body.push(Stmt::when(flag.clone(), Stmt::assign(name(HERE).at(number), cell)));
                }
                return body;
            }
        }
        if count == 1 && columns.all(self.strip()) {
            body.extend(unrolled(PIECE, self.points, whole));
            return body;
        }
        if self.in_registers(inner) {
            let (first, last) = (self.number(c_tree::int(0)), self.number(c_tree::int(self.points - 1)));
            let number = self.number(point());
            let single = Stmt::when(all(self.have(columns, &number, &number)), single);
            let aligned = if count == 1 { c_tree::truth(true) } else { self.aligned(transfer.field) };
            let lane_whole = all([aligned].into_iter().chain(self.have(columns, &first, &last)));
            let whole = unrolled(PIECE, self.points / count, whole);
            let single = unrolled(POINT, self.points, single);
            body.push(Stmt::choose(lane_whole, Block::from(whole), Block::from(single)));
            return body;
        }
        if columns.all(self.strip()) {
            let pieces = self.points / count;
            let whole = unrolled(PIECE, pieces, whole);
            let single = unrolled(PIECE, pieces, Block::from(unrolled("j", count, single)));
            let aligned = self.aligned(transfer.field);
            body.push(Stmt::choose(aligned, Block::from(whole), Block::from(single)));
            return body;
        }
        body.extend(self.range_of_lane(transfer.field, columns, (whole, single)));
        body
    }

    /// Whether pieces at the ends of a strip have places of their own. Several warps have such a strip more rarely, and no registers for
    /// that.
    fn finds_pieces(&self) -> bool {
        self.member.high.minus(&self.member.low) == Some(0)
    }

    /// What is done for the lane's points among some columns, by their numbers in the lane: for whole pieces at once; for those
    /// at the ends, and of rows that are not aligned, point by point in short text.
    fn range_of_lane(&self, field: FieldId, columns: &Columns, (whole, single): (Stmt, Stmt)) -> Block {
        let count = self.piece(field);
        let changing = [self.position.variable, self.kernel.rows.variable];
        let mut body = Block::new();
        let named = |body: &mut Block, wanted: &str, value: Expr| match changes_with(columns, changing) {
            false => self.declared("int", wanted, value),
            true => {
                body.push(Stmt::constant("int", wanted, value));
                c_tree::var(wanted)
            }
        };
        let of_lane = |number: Expr| {
            let within = number - self.number(c_tree::int(0));
            let points = c_tree::int(self.points).cast(INT).integer();
            max(min(within, points), c_tree::int(0)).cast("int").integer()
        };
        let bound = |of: &[IntExpr], constant: i64, of_two: fn(Expr, Expr) -> Expr| {
            let bounds = of.iter().map(gathered_long).chain([c_tree::int(constant).cast(INT).integer()]);
            bounds.reduce(of_two).unwrap_or(c_tree::int(constant))
        };
        let low = of_lane(bound(&columns.low, columns.least, max));
        let high = of_lane(bound(&columns.high, columns.most, min) + 1);
        let low = named(&mut body, "tw_low", low);
        let high = named(&mut body, "tw_high", high);
        let q = || c_tree::var(PIECE) * c_tree::int(count);
        if count == 1 {
            let each = Stmt::each("int", PIECE, low, q().lt(high), 1, whole);
            body.extend([Stmt::Pragma("unroll 1".into()), each]);
            return body;
        }
        let rounded = |of: Expr| Expr::binary(BinaryOp::Div, of, count) * c_tree::int(count);
        let begin =
            self.aligned(field).select(min(rounded(low.clone() + (count - 1)), high.clone()), high.clone());
        let end = max(rounded(high.clone()), c_tree::var(BEGIN));
        body.push(Stmt::constant("int", BEGIN, begin));
        body.push(Stmt::constant("int", END, end));
        let in_whole = q().ge(c_tree::var(BEGIN)).and(q().lt(c_tree::var(END)));
        body.extend(unrolled(PIECE, self.points / count, Stmt::when(in_whole, whole)));
        if self.half.get().is_some() {
            return body;
        }
        // Those before whole pieces, and behind them.
        let (begin, end) = (|| c_tree::var(BEGIN), || c_tree::var(END));
        let piece = |point: Expr| Expr::binary(BinaryOp::Div, point, count);
        let first = low.clone().lt(begin()).select(piece(low.clone()), piece(end()));
        let here = || c_tree::var(PIECE);
        let next_is_whole = (q() + count).is(begin());
        let step = next_is_whole.select(piece(end()) - here(), c_tree::int(1));
        let number = || q() + c_tree::var("j");
        let one = Stmt::when(number().ge(low).and(number().lt(high.clone())), single);
        let mut of_piece = Block::new();
        if self.finds_pieces() {
            // A distance of 32 bits, or it would be a product of 64 bits.
            let bytes = count * self.plan.program.field(field).element.bytes() as i64;
            let distance = (here().cast("unsigned int") * bytes).cast(INT);
            of_piece.push(Stmt::declare(self.pointer(field), PART, further(name(HERE), distance)));
        }
        of_piece.extend(unrolled("j", count, one));
        let each = Stmt::each("int", PIECE, first, q().lt(high), step, of_piece);
        body.extend([Stmt::Pragma("unroll 1".into()), each]);
        body
    }
}

/// Which of a lane's points go to the arrays, or come from there.
#[derive(Clone, Copy)]
pub(super) enum Points<'a> {
    /// Those of the columns, which the text asks about.
    Asked,
    /// All of them, in whole pieces.
    Whole,
    /// From registers, those of which this is true.
    Some(&'a [Expr]),
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

/// A call that gives a truth value.
fn flag_of(mut call: Expr) -> Expr {
    if let Expr::Call { sort, .. } = &mut call {
        *sort = Sort::Truth;
    }
    call
}
