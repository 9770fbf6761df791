//! The time loop: which loop of the region it is, and its bounds.

use super::loops::TimeLoop;
use super::refusal::{Result, error, limitation};
use super::walker::Walker;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, Variable};
use crate::codes;
use crate::integer::{self, IntType, is_unsigned};
use crate::parse::Region;
use crate::text::{c_text, without_parentheses};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

/// A loop that counts.
pub(super) struct Counter {
    pub name: String,
    pub type_name: Option<String>,
    pub first: Expr,
    pub limit: Expr,
    /// `<=` or `>=` instead of `<` or `>`.
    pub inclusive: bool,
    pub descending: bool,
    /// What it counts by, at least 1.
    pub by: i64,
}

impl Counter {
    /// Refuses a loop over space that leaves points out.
    pub fn by_one(self, source: &ForLoop) -> Result<Counter> {
        if self.by == 1 {
            return Ok(self);
        }
        let place = source.step.as_ref().map_or(&source.head, |step| &step.span);
        Err(Box::new(
            Diagnostic::limitation(codes::LOOP_FORM, place.clone(), "the loop does not count by one")
                .hint("write the loop as `for (i = low; i < high; i++)`"),
        ))
    }
}

/// Largest step of a time loop.
const MOST_STEP: i64 = 1 << 20;

/// The time loop and its body.
pub(super) fn find(region: &Region) -> Result<(TimeLoop, &Stmt)> {
    let mut top = Vec::new();
    let mut open: Vec<&Stmt> = region.statements.iter().rev().collect();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::Block(list) => open.extend(list.iter().rev()),
            _ => top.push(stmt),
        }
    }
    let loops: Vec<(&Stmt, &ForLoop)> = top
        .iter()
        .filter_map(
            |stmt| if let StmtKind::For(source) = &stmt.kind { Some((*stmt, &**source)) } else { None },
        )
        .collect();
    if loops.is_empty() {
        if let Some(other) = top.iter().find(|stmt| matches!(&stmt.kind, StmtKind::Other(_))) {
            let StmtKind::Other(kind) = &other.kind else { return none(region) };
            let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            let message = format!("{article} `{kind}` where the time loop is expected");
            return Err(Box::new(
                Diagnostic::limitation(codes::TIME_LOOP, first_line(&other.span, other), message)
                    .note("the number of time steps must be known before the loop starts")
                    .hint("write the time loop as `for (t = 0; t < steps; t++)`"),
            ));
        }
        return none(region);
    }
    // A time loop's index is in no subscript of what its body assigns, or only modulo something.
    let holds_loops = |source: &ForLoop| {
        let mut found = false;
        source.body.walk(&mut |stmt| found |= matches!(stmt.kind, StmtKind::For(_)));
        found
    };
    let over_space =
        |source: &ForLoop| counter(source).is_ok_and(|counter| indexes_target(&source.body, &counter.name));
    let candidates: Vec<&(&Stmt, &ForLoop)> =
        loops.iter().filter(|(_, source)| holds_loops(source) && !over_space(source)).collect();
    match candidates.as_slice() {
        [] => {
            if let [(_, only)] = loops.as_slice()
                && let Ok(counter) = counter(only)
                && let Some(place) = all_levels(&only.body, &counter.name)
            {
                let name = &counter.name;
                let message =
                    format!("this keeps every time level: `{name}` is an index of the array itself");
                return Err(Box::new(
                    Diagnostic::limitation(codes::TIME_SUBSCRIPT, place, message)
                        .note("tiles overlap several time steps, for which a few levels are enough")
                        .hint(format!("keep two levels, such as `[({name} + 1) % 2]` and `[{name} % 2]`")),
                ));
            }
            none(region)
        }
        [(stmt, source)] => {
            let counter = counter(source)?;
            Ok((time_loop(region, stmt, source, counter)?, &source.body))
        }
        [(first, _), (second, source), ..] => Err(Box::new(
            Diagnostic::limitation(
                codes::NO_TIME_LOOP,
                source.head.clone(),
                "the region has more than one time loop",
            )
            .related(first_line(&first.span, first), "the first one")
            .hint("put the pragmas around one of them")
            .note(format!("a region holds one time loop; this is another, {} bytes long", second.span.len())),
        )),
    }
}

fn first_line(span: &Span, stmt: &Stmt) -> Span {
    match &stmt.kind {
        StmtKind::For(source) => source.head.clone(),
        _ => span.start..span.end.min(span.start + 1),
    }
}

fn none<T>(region: &Region) -> Result<T> {
    Err(Box::new(
        Diagnostic::error(
            codes::NO_TIME_LOOP,
            region.mark.clone(),
            "the region has no time loop around loops over space",
        )
        .note("an iterated stencil is `for (t ..) for (i ..) for (j ..) A[(t+1)%2][i][j] = ..;` or the like")
        .note("a loop whose index is a subscript of what it computes is a loop over space"),
    ))
}

/// Whether a name is in a subscript of something assigned, other than modulo something.
fn indexes_target(body: &Stmt, name: &str) -> bool {
    let mut found = false;
    body.walk_expressions(&mut |expr| {
        if let ExprKind::Assign(_, target, _) = &expr.kind {
            target.walk(&mut |part| {
                if let ExprKind::Index(_, index) = &part.kind {
                    found |= plainly_in(index, name);
                }
            });
        }
    });
    found
}

fn plainly_in(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Name(other) => other == name,
        ExprKind::Binary(BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::Equal | BinaryOp::NotEqual, ..) => {
            false
        }
        ExprKind::Binary(_, left, right) => plainly_in(left, name) || plainly_in(right, name),
        ExprKind::Unary(_, operand) | ExprKind::Cast(_, operand) => plainly_in(operand, name),
        _ => false,
    }
}

/// The place of an assignment `A[t+1].. = .. A[t].. ..`.
fn all_levels(body: &Stmt, name: &str) -> Option<Span> {
    let mut place = None;
    body.walk_expressions(&mut |expr| {
        if let ExprKind::Assign(_, target, value) = &expr.kind {
            let mut base = &**target;
            let mut outermost = None;
            while let ExprKind::Index(array, index) = &base.kind {
                outermost = Some(&**index);
                base = array;
            }
            let deep = matches!(&target.kind, ExprKind::Index(array, _) if matches!(array.kind, ExprKind::Index(..)));
            if let (Some(index), ExprKind::Name(array)) = (outermost, &base.kind)
                && deep
                && plainly_in(index, name)
                && value.mentions(array)
                && !matches!(&index.kind, ExprKind::Name(_))
            {
                place.get_or_insert(index.span.clone());
            }
        }
    });
    place
}

/// A loop's index, bounds and direction.
pub(super) fn counter(source: &ForLoop) -> Result<Counter> {
    let form = |span: &Span, message: &str| {
        Err(Box::new(
            Diagnostic::limitation(codes::LOOP_FORM, span.clone(), message)
                .hint("write the loop as `for (i = low; i < high; i++)`"),
        ))
    };
    let (name, type_name, first) = match source.start.as_ref().map(|start| &start.kind) {
        Some(StmtKind::Declaration(variables)) => match variables.as_slice() {
            [variable] => match (&variable.ctype, &variable.value) {
                (CType::Integer { name, .. }, Some(value)) => {
                    (variable.name.clone(), Some(name.clone()), value.clone())
                }
                _ => return form(&variable.span, "the loop's index is not an integer with a first value"),
            },
            _ => return form(&source.head, "a loop with several indices"),
        },
        Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })) => {
            match &target.kind {
                ExprKind::Name(name) => (name.clone(), None, (**value).clone()),
                _ => return form(&target.span, "the loop's index is not a variable"),
            }
        }
        _ => return form(&source.head, "the loop does not say where its index starts"),
    };
    let Some(condition) = &source.condition else {
        return form(&source.head, "the loop does not say where it ends");
    };
    let ExprKind::Binary(operator, left, right) = &condition.kind else {
        return form(&condition.span, "the loop's condition is not a comparison of its index");
    };
    let is_index = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(other) if *other == name);
    let (operator, limit) = if is_index(left) {
        (*operator, right)
    } else if is_index(right) {
        let mirrored = match operator {
            BinaryOp::Less => BinaryOp::Greater,
            BinaryOp::LessEqual => BinaryOp::GreaterEqual,
            BinaryOp::Greater => BinaryOp::Less,
            BinaryOp::GreaterEqual => BinaryOp::LessEqual,
            other => *other,
        };
        (mirrored, left)
    } else {
        return form(&condition.span, "the loop's condition is not a comparison of its index");
    };
    if limit.mentions(&name) {
        return form(&condition.span, "the loop's end depends on its own index");
    }
    let by = match source.step.as_ref().map(|step| (&step.kind, step)) {
        Some((ExprKind::Step(by, operand), _)) if is_index(operand) => *by,
        Some((ExprKind::Assign(operator, target, value), step)) if is_index(target) => {
            let one = |expr: &Expr| integer::literal(expr).filter(|by| *by != 0 && by.abs() <= MOST_STEP);
            let by = match (operator, &value.kind) {
                (Some(BinaryOp::Add), _) => one(value),
                (Some(BinaryOp::Sub), _) => one(value).map(|by| -by),
                (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_index(a) => one(b),
                (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_index(b) => one(a),
                (None, ExprKind::Binary(BinaryOp::Sub, a, b)) if is_index(a) => one(b).map(|by| -by),
                _ => None,
            };
            match by {
                Some(by) => by,
                None => return form(&step.span, "the loop does not count by a constant"),
            }
        }
        Some((_, step)) => return form(&step.span, "the loop does not count by a constant"),
        None => return form(&source.head, "the loop does not count"),
    };
    let descending = by < 0;
    let inclusive = match (operator, descending) {
        (BinaryOp::Less, false) | (BinaryOp::Greater, true) => false,
        (BinaryOp::NotEqual, _) if by.abs() == 1 => false,
        (BinaryOp::LessEqual, false) | (BinaryOp::GreaterEqual, true) => true,
        _ => {
            return form(
                &condition.span,
                "the loop's condition does not end it in the direction in which it counts",
            );
        }
    };
    Ok(Counter { name, type_name, first, limit: (**limit).clone(), inclusive, descending, by: by.abs() })
}

fn time_loop(region: &Region, stmt: &Stmt, source: &ForLoop, counter: Counter) -> Result<TimeLoop> {
    if counter.descending {
        return Err(Box::new(
            Diagnostic::limitation(codes::TIME_LOOP, source.head.clone(), "the time loop counts down")
                .hint("let time count up by one: `for (t = 0; t < steps; t++)`"),
        ));
    }
    let declared = counter.type_name.is_some();
    let type_name = match counter.type_name {
        Some(name) => name,
        None => match region.variables.get(&counter.name).map(|variable| &variable.ctype) {
            Some(CType::Integer { name, .. }) => name.clone(),
            Some(_) => {
                return limitation(codes::TIME_LOOP, &source.head, "the time loop's index is not an integer");
            }
            None => {
                return error(
                    codes::UNKNOWN_NAME,
                    &source.head,
                    format!("the declaration of `{}` was not found", counter.name),
                );
            }
        },
    };
    let plain = |expr: &Expr| without_parentheses(&c_text(expr, &|_| None));
    let high = plain(&counter.limit);
    Ok(TimeLoop {
        name: counter.name,
        type_name,
        low: plain(&counter.first),
        high: if counter.inclusive { format!("({high}) + 1") } else { high },
        step: counter.by,
        declared,
        head: source.head.clone(),
        span: stmt.span.clone(),
        bounds: (counter.first, counter.limit),
    })
}

impl Walker<'_> {
    /// The time loop's bounds must be integers that its body leaves alone.
    pub(super) fn check_time_bounds(&mut self) -> Result<()> {
        let (first, limit) = self.nest.time.bounds.clone();
        for bound in [&first, &limit] {
            self.check_invariant(bound)?;
            if !self.kind_of(bound)?.is_integer() {
                let message = "this bound of the time loop is not an integer";
                return Err(Box::new(
                    Diagnostic::limitation(codes::TIME_LOOP, bound.span.clone(), message)
                        .hint("compute the number of steps before the region, as an integer"),
                ));
            }
        }
        let own = IntType::named(&self.nest.time.type_name, is_unsigned(&self.nest.time.type_name));
        let head = self.nest.time.head.clone();
        self.check_sign(own, &first, &limit, &head)
    }

    /// Indices that may be negative must not be compared as unsigned numbers.
    pub(super) fn check_signs(&self, counter: &Counter, head: &Span) -> Result<()> {
        let own = match (&counter.type_name, self.region.variables.get(&counter.name)) {
            (Some(name), _) => IntType::named(name, is_unsigned(name)),
            (None, Some(Variable { ctype: CType::Integer { name, unsigned }, .. })) => {
                IntType::named(name, *unsigned)
            }
            (None, _) => return Ok(()),
        };
        // One that counts down ends above its limit, which is not negative where it is unsigned.
        if counter.descending { Ok(()) } else { self.check_sign(own, &counter.first, &counter.limit, head) }
    }

    fn check_sign(&self, own: IntType, first: &Expr, limit: &Expr, head: &Span) -> Result<()> {
        if !self.wraps(own, first, limit) {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::limitation(
                codes::BOUND,
                limit.span.clone(),
                "an index that may be negative is compared with an unsigned number",
            )
            .related(head.clone(), "this loop")
            .note("C compares both as unsigned numbers, where -1 is the largest")
            .hint("convert the bound to `int` or `long`"),
        ))
    }

    /// An integer expression of things that the time loop does not change.
    pub(super) fn check_invariant(&mut self, bound: &Expr) -> Result<()> {
        let mut problem = None;
        bound.walk(&mut |part| {
            let text = || c_text(part, &|_| None);
            let found = match &part.kind {
                ExprKind::Call(..) => Some(format!("this bound calls a function, `{}`", text())),
                ExprKind::Assign(..) | ExprKind::Step(..) => Some("this bound changes something".to_owned()),
                ExprKind::Other(kind, _) if kind != "sizeof expression" => {
                    Some(format!("this bound holds a {kind}"))
                }
                ExprKind::Name(name) if self.assigned.contains(name) || *name == self.nest.time.name => {
                    Some(format!("this bound depends on `{name}`, which changes in the time loop"))
                }
                ExprKind::Name(name) if self.states.contains(name) => {
                    Some(format!("this bound depends on the data, on `{name}`"))
                }
                _ => None,
            };
            if let Some(message) = found {
                problem.get_or_insert((part.span.clone(), message));
            }
        });
        match problem {
            None => Ok(()),
            Some((span, message)) => Err(Box::new(
                Diagnostic::limitation(codes::BOUND, span, message)
                    .note("bounds must be known before the time loop starts")
                    .hint("compute the bound before the region and use a variable"),
            )),
        }
    }
}
