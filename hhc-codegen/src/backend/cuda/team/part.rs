//! One part of a team's kernel: a row, or a transfer.

use super::super::super::bounds::{expr, non_negative};
use super::super::super::points::INT;
use super::super::super::storages::{INDEX_NAMES, Work, coordinate};
use super::super::parts::element;
use super::columns::{Row, beside, unrolled};
use super::facts::{implied, parts_of_max, refuted};
use super::moves::PIECE;
use super::sums::constant;
use super::{Half, POINT, Rows, Team};
use crate::int_expr::IntExpr;
use crate::plan::Instance;
use crate::storage::{Place, Region};
use c_tree::{Block, Declaration, Expr, Stmt, all, call, name};
use polyhedral::program::{Access, FieldId, FieldRole};

impl Team<'_> {
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
                let Some(rows) = self.rows_of(&instance.ranges, instance.junk.as_ref()) else { return false };
                let reads = |row: &[IntExpr]| {
                    statement.reads.iter().zip(&instance.reads).all(|(access, read)| {
                        let coefficient =
                            self.plan.program.field(access.field).role == FieldRole::Coefficient;
                        match &read.place {
                            Place::Arrays(_) => coefficient,
                            place if !self.lands_before_rows(place) => false,
                            place => found(place, &beside(row, &access.offset), access.field),
                        }
                    })
                };
                let writes = |row: &[IntExpr]| {
                    let places = &mut instance.writes.iter();
                    places.all(|place| self.in_registers(place) && found(place, row, statement.target))
                };
                rows.iter().all(|row| reads(&row.at) && writes(&row.at))
            }
            Work::Transfer(transfer) => {
                let Some(rows) = self.rows_of(&transfer.ranges, transfer.junk.as_ref()) else { return false };
                let ends = [&transfer.from.place, &transfer.to];
                let one_in_registers = ends.iter().any(|place| self.in_registers(place));
                let one_in_arrays = ends.iter().any(|place| matches!(place, Place::Arrays(_)));
                let other_in_storage = ends.iter().any(|place| place.storage().is_some());
                let has = |row: &Row| ends.iter().all(|place| found(place, &row.at, transfer.field));
                (one_in_registers || (one_in_arrays && other_in_storage)) && rows.iter().all(has)
            }
        }
    }

    /// When a part that copies the boundary has something to copy, where rows run: what does not change with the position.
    pub(super) fn at_an_edge(&self, work: Work<'_>, rows: Rows) -> Option<Expr> {
        let Work::Transfer(transfer) = work else { return None };
        if rows != Rows::Run || transfer.region != Region::Boundary {
            return None;
        }
        let changing = [self.position.variable, self.kernel.rows.variable];
        let open: Vec<&IntExpr> = transfer.when.iter().filter(|when| !implied(when, &self.facts)).collect();
        let fixed = !open.iter().any(|when| changing.iter().any(|name| when.mentions(name)));
        (fixed && !open.is_empty()).then(|| all(open.into_iter().map(non_negative)))
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
        let comment = match self.half.get() {
            Some((Half::Ask, _)) => "what is copied is asked for first".to_owned(),
            Some((Half::End, _)) => "what was copied is there".to_owned(),
            None => work.comment(&self.plan.program),
        };
        let mut part = Block::from(Stmt::Comment(comment));
        match when.is_empty() && !inner.statements.iter().any(|line| matches!(line, Stmt::Declare(_))) {
            true => part.extend(inner),
            false if when.is_empty() => part.push(Stmt::Block(inner)),
            false => part.push(Stmt::when(all(when), inner)),
        }
        part
    }

    /// A row, or several of a slice: the rows that they read, with the neighbours of the lane's points beside them, then the
    /// points.
    fn row(&self, instance: &Instance, work: Work<'_>) -> Block {
        let program = &*self.plan.program;
        let statement = &program.statements[instance.statement];
        let computed = self.rows_of(&instance.ranges, instance.junk.as_ref()).unwrap_or_default();
        let points = self.points;
        let mut body = Block::new();
        let innermost = program.dimension() - 1;
        // The rows that are read, by one access of each; how far to both sides, and the place.
        let mut rows: Vec<RowRead<'_>> = Vec::new();
        for (row, (access, read)) in computed
            .iter()
            .flat_map(|row| statement.reads.iter().zip(&instance.reads).map(move |read| (row, read)))
        {
            if matches!(read.place, Place::Arrays(_)) {
                continue;
            }
            let across = access.offset[innermost];
            let there = beside(&row.at, &access.offset);
            match rows.iter_mut().find(|known| known.is(access, &read.place, &there)) {
                Some(known) => {
                    (known.before, known.after) = (known.before.max(-across), known.after.max(across));
                }
                None => {
                    let (before, after) = ((-across).max(0), across.max(0));
                    rows.push(RowRead { access, there, before, after, place: &read.place });
                }
            }
        }
        let row_name = |at: usize| format!("tw_row{at}");
        for (at, &RowRead { access, ref there, before, after, place }) in rows.iter().enumerate() {
            let element = program.field(access.field).element.c_name();
            let level = work.level_of(access);
            let own = name(row_name(at));
            let cells = Declaration::array(element, row_name(at), before + points + after);
            body.push(Stmt::Declare(vec![cells]));
            let source = name(self.storage_name(place));
            if let Some(register) = self.register(place, there, (access.field, &level)) {
                let source = source.at(register + c_tree::var(POINT));
                body.extend(unrolled(
                    POINT,
                    points,
                    Stmt::assign(own.at(c_tree::var(POINT) + before), source),
                ));
            } else if let Some(first) = self.shared_piece(place, there, (access.field, &level)) {
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
            let value = (access.field, work.level_of(access));
            element((self.plan, self.names, self.kernel), value, place, &access.offset)
        };
        for row in &computed {
            let read = |access: &Access| {
                let at = statement.reads.iter().position(|other| other == access);
                let Some(place) = at.and_then(|at| instance.reads.get(at)).map(|read| &read.place) else {
                    return name("");
                };
                let there = beside(&row.at, &access.offset);
                match rows.iter().position(|known| known.is(access, place, &there)) {
                    Some(at) => name(row_name(at))
                        .at(c_tree::var(POINT) + (rows[at].before + access.offset[innermost])),
                    None => coefficient(access, place),
                }
            };
            body.extend(self.points_of(instance, work, row, &read));
        }
        body
    }

    /// The lane's points of one row.
    fn points_of(
        &self,
        instance: &Instance,
        work: Work<'_>,
        of: &Row,
        read: &dyn Fn(&Access) -> Expr,
    ) -> Block {
        let row = &of.at[..];
        let program = &*self.plan.program;
        let target = program.statements[instance.statement].target;
        let mut compute: Block = Block::from(work.value(program, self.names, read, &coordinate));
        for place in &instance.writes {
            let level = work.level();
            if let Some(register) = self.register(place, row, (target, &level)) {
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
            return Block::from(unrolled(POINT, self.points, inner));
        }
        let (rows, columns) = self.tests(&instance.ranges, Region::Domain(instance.statement), of, &[]);
        let number = self.number(c_tree::var(POINT));
        let points_run = Stmt::when(all(self.have(&columns, &number, &number)), inner);
        Block::from(Stmt::when(
            all(self.held(&rows, of)),
            Block::from(unrolled(POINT, self.points, points_run)),
        ))
    }
}

/// A row that is read, with the lane's neighbours beside it.
struct RowRead<'a> {
    /// One of the accesses.
    access: &'a Access,
    /// Its coordinates.
    there: Vec<IntExpr>,
    /// How far the accesses reach before the lane's points, and behind them.
    before: i64,
    after: i64,
    place: &'a Place,
}

impl RowRead<'_> {
    fn is(&self, access: &Access, place: &Place, there: &[IntExpr]) -> bool {
        let field = (self.access.field, self.access.time) == (access.field, access.time);
        field && self.there == there && self.place == place
    }
}
