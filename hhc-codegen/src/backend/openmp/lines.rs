//! Rows on the arrays that are a few neighbouring lines: one line after the other in vectors, or, where points wait for
//! each other, all lines at once in wavefronts, so that an update of one line fills the time in which another one waits.
//!
//! ```text
//! for x in positions of some lines:    those lines that have a point there
//! for x in positions of all lines:     a point of each line; the values before stay in registers
//! for x in positions of some lines:    as above
//! ```
//!
//! Line `r` has its point `s` at position `s + factor*r`.

use super::super::bounds::{expr, step_exists};
use super::super::constants::{self, Constant, Source};
use super::super::expression::{Index, Values};
use super::super::names::Names;
use super::super::points::{INT, as_it_is, max, min, moved, place};
use super::super::storages::{self, Work};
use super::rows::{Plane, planes};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{COORDINATES, Instance, Kernel, KernelPlan, RowOrder, bound};
use crate::storage::Memory;
use c_tree::{Block, Expr, Stmt, Type, all, name};
use polyhedral::program::{Access, Program};

/// Lines that run at once at most: each has a text of its own.
const MOST_LINES: i64 = 8;
/// The first line.
const LINE: &str = "tw_line";
/// A line.
const AT: &str = "tw_at";
/// A position.
const X: &str = "tw_x";

/// A row that is printed here.
pub(super) struct Lines<'a> {
    plan: &'a KernelPlan,
    program: &'a Program,
    names: &'a Names,
    instance: &'a Instance,
    /// Number of lines.
    count: i64,
    /// Points that each line is behind the one before; `None` where its points may be computed in any order.
    factor: Option<i64>,
    planes: Vec<Plane>,
    target: String,
}

impl<'a> Lines<'a> {
    /// The row, if it is one.
    pub(super) fn new(
        plan: &'a KernelPlan,
        names: &'a Names,
        kernel: &Kernel,
        instance: &'a Instance,
    ) -> Option<Self> {
        let count = instance.lines()?;
        let factor = match &instance.order {
            RowOrder::Skewed { factors } => match &factors[..] {
                [1] => Some(0),
                [others @ .., beside, 1] if *beside > 0 && others.iter().all(|&factor| factor == 0) => {
                    Some(*beside)
                }
                _ => return None,
            },
            RowOrder::Sequential => return None,
            RowOrder::Parallel { .. } => None,
        };
        if factor.is_some() && count > MOST_LINES {
            return None;
        }
        let wanted = factor.is_some() || instance.slanted().is_some();
        let program = &*plan.program;
        let (planes, targets) = planes(program, names, &[instance.statement]);
        (kernel.memory == Memory::Arrays && wanted).then_some(Lines {
            plan,
            program,
            names,
            instance,
            count,
            factor,
            planes,
            target: targets.into_iter().next().unwrap_or_default(),
        })
    }

    /// Its text.
    pub(super) fn block(&self) -> Block {
        let Lines { program, names, instance, .. } = *self;
        let innermost = program.dimension() - 1;
        let strides = (0..innermost).map(|d| format!("stride{d}"));
        let mut inner: Block =
            strides.map(|own| Stmt::constant(INT, &own, name("grid").arrow(&own))).collect();
        let pointer =
            |plane: &Plane| Stmt::declare(plane.element.clone().pointer(), &plane.name, &plane.value);
        inner.extend(self.planes.iter().map(pointer));
        let statement = &program.statements[instance.statement];
        let constants = constants::all(program, names, statement, Source::Grid, &names.time);
        inner.extend(constants.iter().map(Constant::declaration));
        if innermost > 0 {
            inner.push(Stmt::constant(INT, LINE, expr(&instance.ranges[innermost - 1].low)));
        }
        inner.extend(match self.factor {
            Some(factor) => self.in_wavefronts(factor),
            None => self.one_by_one(),
        });
        // What is the same for all lines.
        let outer = (0..innermost.saturating_sub(1)).map(|d| {
            let (point, domain) = (expr(&instance.ranges[d].low), statement.domain[d]);
            point.clone().ge(expr(&bound(domain.low, d))).and(point.lt(expr(&bound(domain.high, d))))
        });
        let exists = (!storages::steps_exist(self.plan, instance)).then(|| step_exists(&instance.step));
        let when = all([Work::Row(instance).happens()].into_iter().chain(exists).chain(outer));
        let mut body = Block::from(Stmt::Comment(Work::Row(instance).comment(program)));
        if inner.mentions(&names.time) {
            body.push(Stmt::constant(INT, &names.time, expr(&instance.step)));
        }
        body.push(Stmt::when(when, inner));
        body
    }

    fn element(&self) -> Type {
        Type::new(
            self.program.field(self.program.statements[self.instance.statement].target).element.c_name(),
        )
    }

    /// The first point of a line and the one after the last; `line` is its coordinate.
    fn ends(&self, line: &IntExpr) -> (Expr, Expr) {
        let innermost = self.program.dimension() - 1;
        let range = &self.instance.ranges[innermost];
        let domain = self.program.statements[self.instance.statement].domain[innermost];
        let own = |end: &IntExpr| match innermost {
            0 => end.clone(),
            d => end.substitute(COORDINATES[d - 1], line),
        };
        let low = own(&range.low).max(bound(domain.low, innermost));
        let high = (own(&range.high) + 1).min(bound(domain.high, innermost));
        (expr(&low), expr(&high))
    }

    /// Whether a line lies in the domain.
    fn exists(&self, line: &IntExpr) -> Option<Expr> {
        let d = self.program.dimension().checked_sub(2)?;
        let domain = self.program.statements[self.instance.statement].domain[d];
        let line = expr(line);
        Some(line.clone().ge(expr(&bound(domain.low, d))).and(line.lt(expr(&bound(domain.high, d)))))
    }

    /// The place of position 0 of a line.
    fn place(&self, line: &IntExpr, behind: i64) -> Expr {
        let innermost = self.program.dimension() - 1;
        let mut point: Vec<Expr> =
            self.instance.ranges[..innermost].iter().map(|range| expr(&range.low)).collect();
        if let Some(own) = point.last_mut() {
            *own = expr(line);
        }
        point.push(c_tree::int(-behind));
        place(&point, &as_it_is)
    }

    /// Locals and the value at a place, in line `copy` and `behind` positions before the present one.
    fn value(&self, copy: usize, line: &Expr, behind: i64, read: &dyn Fn(&Access) -> Expr) -> Block {
        let (program, names) = (self.program, self.names);
        let innermost = program.dimension() - 1;
        let index = |index| match index {
            Index::Time => c_tree::var(&names.time),
            Index::Space(d) if d == innermost => c_tree::var(X) - behind,
            Index::Space(d) if d + 1 == innermost => line.clone(),
            Index::Space(d) => expr(&self.instance.ranges[d].low),
        };
        let statement = self.instance.statement;
        let values =
            Values { program, names, statement, copy: Some(copy), locals: None, read, index: &index };
        let mut block: Block = values.locals().into_iter().collect();
        let element = program.field(program.statements[self.instance.statement].target).element.c_name();
        block.push(Stmt::constant(element, format!("tw_value{copy}"), values.value()));
        block
    }

    /// The coordinate of a line; in one dimension there is none.
    fn line(&self, number: i64) -> Expr {
        expr(&(var(LINE) + number))
    }

    fn read(&self, access: &Access, place: Expr) -> Expr {
        name(self.names.plane(self.program, access)).at(moved(place, &access.offset))
    }

    fn one_by_one(&self) -> Block {
        let line = var(AT);
        let (low, high) = self.ends(&line);
        let mut body = Block::new();
        let here = || c_tree::var("x");
        let mut point = Block::from(Stmt::constant(INT, "x", c_tree::var("tw_row") + c_tree::var(X)));
        point.extend(self.value(0, &expr(&line), 0, &|access| self.read(access, here())));
        point.push(Stmt::assign(name(&self.target).at(here()), name("tw_value0")));
        body.push(Stmt::constant(INT, "tw_row", self.place(&line, 0)));
        body.push(Stmt::Pragma("omp simd".into()));
        body.push(Stmt::count(INT, X, low, high, point));
        match self.exists(&var(AT)) {
            None => body,
            Some(exists) => {
                let first = c_tree::var(LINE);
                Stmt::count(INT, AT, first.clone(), first + self.count, Stmt::when(exists, body)).into()
            }
        }
    }

    fn in_wavefronts(&self, factor: i64) -> Block {
        let of = |word: &str, line: i64| c_tree::var(format!("tw_{word}{line}"));
        let mut body = Block::new();
        for r in 0..self.count {
            let line = match self.program.dimension() {
                1 => int(0),
                _ => var(LINE) + r,
            };
            let (low, high) = self.ends(&line);
            let behind = factor * r;
            body.push(Stmt::constant(INT, format!("tw_row{r}"), self.place(&line, behind)));
            body.push(Stmt::constant(INT, format!("tw_from{r}"), low + behind));
            let to = max(high + behind, of("from", r));
            let to = match self.exists(&line) {
                Some(exists) => exists.select(to, of("from", r)),
                None => to,
            };
            body.push(Stmt::constant(INT, format!("tw_to{r}"), to));
        }
        if self.count == 1 {
            body.extend(self.all_lines(factor, of("from", 0), of("to", 0)));
            return body;
        }
        // Positions of some lines, and of all.
        let ends = ["tw_begin", "tw_end", "tw_first", "tw_last"];
        body.extend(
            ends.iter()
                .zip(["from", "to", "from", "to"])
                .map(|(end, word)| Stmt::declare(INT, *end, of(word, 0))),
        );
        for r in 1..self.count {
            let own = [min(name(ends[0]), of("from", r)), max(name(ends[1]), of("to", r))];
            let both = [max(name(ends[2]), of("from", r)), min(name(ends[3]), of("to", r))];
            body.extend(
                ends.iter()
                    .zip(own.into_iter().chain(both))
                    .map(|(end, value)| Stmt::assign(name(*end), value)),
            );
        }
        let [begin, end, first, last] = ends.map(c_tree::var);
        let none = Block::from([
            Stmt::assign(name("tw_first"), end.clone()),
            Stmt::assign(name("tw_last"), end.clone()),
        ]);
        body.push(Stmt::when(last.clone().le(first.clone()), none));
        let side = c_tree::var("tw_side").is_not(0);
        let mut sides = Block::new();
        let mut some = Block::new();
        for r in 0..self.count {
            let inside = of("from", r).le(c_tree::var(X)).and(c_tree::var(X).lt(of("to", r)));
            let mut point = Block::from(Stmt::constant(INT, "x", of("row", r) + c_tree::var(X)));
            let read = |access: &Access| self.read(access, c_tree::var("x"));
            point.extend(self.value(r as usize, &self.line(r), factor * r, &read));
            let target = name(&self.target).at(c_tree::var("x"));
            point.push(Stmt::assign(target, name(format!("tw_value{r}"))));
            some.push(Stmt::when(inside, point));
        }
        let from = side.clone().select(last.clone(), begin);
        let to = side.clone().select(end, first.clone());
        sides.push(Stmt::constant(INT, "tw_until", to));
        sides.push(Stmt::count(INT, X, from, c_tree::var("tw_until"), some));
        let middle = self.all_lines(factor, first.clone(), last.clone());
        sides.push(Stmt::when((!side).and(first.lt(last)), middle));
        body.push(Stmt::count("int", "tw_side", 0, 2, sides));
        body
    }

    /// The positions at which all lines have a point.
    fn all_lines(&self, factor: i64, first: Expr, last: Expr) -> Block {
        let before = |line: i64| format!("tw_before{line}");
        // The line whose last value a read of line `r` finds.
        let found = |r: i64, access: &Access| {
            let (along, around) = access.offset.split_last()?;
            let (beside, others) =
                around.split_last().map_or((0, &[][..]), |(beside, others)| (*beside, others));
            let own = access.time == 1
                && access.field == self.program.statements[self.instance.statement].target
                && others.iter().all(|&distance| distance == 0)
                && along + factor * beside == -1;
            let line = r + beside;
            (own && (0..self.count).contains(&line)).then_some(line)
        };
        let (mut points, mut stores) = (Block::new(), Block::new());
        for r in 0..self.count {
            let x = format!("tw_x{r}");
            points.push(Stmt::constant(INT, &x, c_tree::var(format!("tw_row{r}")) + c_tree::var(X)));
            let read = |access: &Access| match found(r, access) {
                Some(line) => name(before(line)),
                None => self.read(access, c_tree::var(&x)),
            };
            points.extend(self.value(r as usize, &self.line(r), factor * r, &read));
            stores.push(Stmt::assign(name(&self.target).at(c_tree::var(&x)), name(format!("tw_value{r}"))));
        }
        let mut body = Block::new();
        for r in 0..self.count {
            if points.mentions(&before(r)) {
                let place = c_tree::var(format!("tw_row{r}")) + first.clone() - 1;
                body.push(Stmt::declare(self.element(), before(r), name(&self.target).at(place)));
                stores.push(Stmt::assign(name(before(r)), name(format!("tw_value{r}"))));
            }
        }
        points.extend(stores);
        body.push(Stmt::count(INT, X, first, last, points));
        body
    }
}
