//! The time loop: which loop of the region it is, and its bounds.

use super::loops::TimeLoop;
use super::refusal::{Result, error, limitation};
use super::walker::Walker;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, Variable, WhileLoop};
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
                .note(
                    "loops over space compute every point of a box; updates in place of every second one (red-black) are \
                     taken where all of the time loop are such loops, one for each colour, which differ in the colour alone",
                )
                .hint("write the loop as `for (i = low; i < high; i++)`, or give every colour a loop of this form"),
        ))
    }
}

/// Largest step of a time loop.
const MOST_STEP: i64 = 1 << 20;

/// A time loop as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Loop<'a> {
    For(&'a ForLoop),
    While(&'a WhileLoop),
}

/// Where the time loop of a region is.
pub(super) struct Found<'a> {
    pub source: Loop<'a>,
    pub body: &'a Stmt,
    /// The whole loop.
    pub span: Span,
    /// How it counts, or why that is not known.
    pub counter: Result<Counter>,
}

impl Found<'_> {
    /// From `for` to `)`, or the like.
    pub fn head(&self) -> Span {
        match self.source {
            Loop::For(source) => source.head.clone(),
            Loop::While(source) => source.head.clone(),
        }
    }

    /// Whether it counts up in a way that is known before it starts.
    pub fn counted(&self) -> bool {
        self.counter.is_ok()
    }
}

/// The time loop.
pub(super) fn find(region: &Region) -> Result<Found<'_>> {
    find_by(region, &indexes_target)
}

/// The time loop of steps that run one at a time: arrays may keep something of every step, as long as not all of them do,
/// or, with `levels`, each level is computed of earlier ones.
pub(super) fn find_alone(region: &Region, levels: bool) -> Result<Found<'_>> {
    find_by(region, &|body, name| {
        indexes_all_targets(body, name) && !(levels && keeps_levels(body, name).is_some())
    })
}

/// A region whose time loop has an index that loops within it hide by one of the same name: theirs are called something else.
pub(crate) fn unhidden(region: &Region) -> Option<Region> {
    let mut own = region.clone();
    let mut found = false;
    for stmt in &mut own.statements {
        let StmtKind::For(source) = &mut stmt.kind else { continue };
        let Some(name) = declared_index(source).map(str::to_owned) else { continue };
        found |= rename_hidden(&mut source.body, &name, &format!("{name}_within"));
    }
    found.then_some(own)
}

fn declared_index(source: &ForLoop) -> Option<&str> {
    match &source.start.as_ref()?.kind {
        StmtKind::Declaration(list) => match list.as_slice() {
            [one] => Some(&one.name),
            _ => None,
        },
        _ => None,
    }
}

/// Renames the indices of inner loops that have a name; whether there are any, and all could be renamed.
fn rename_hidden(stmt: &mut Stmt, name: &str, fresh: &str) -> bool {
    match &mut stmt.kind {
        StmtKind::Block(list) => {
            let mut found = false;
            list.iter_mut().for_each(|stmt| found |= rename_hidden(stmt, name, fresh));
            found
        }
        StmtKind::For(source) if declared_index(source) == Some(name) => {
            let mut plain = true;
            source.body.walk(&mut |part| match &part.kind {
                StmtKind::Declaration(list) => plain &= list.iter().all(|one| one.name != name),
                StmtKind::Other(_, names) => plain &= !names.iter().any(|other| other == name),
                _ => {}
            });
            stmt.walk_expressions(&mut |part| {
                plain &= match &part.kind {
                    ExprKind::Other(..) => false,
                    ExprKind::Name(other) => other != fresh,
                    _ => true,
                };
            });
            if !plain {
                return false;
            }
            stmt.walk_expressions_mut(&mut |part| {
                if let ExprKind::Name(other) = &mut part.kind
                    && other == name
                {
                    fresh.clone_into(other);
                }
            });
            if let StmtKind::For(source) = &mut stmt.kind
                && let Some(Stmt { kind: StmtKind::Declaration(list), .. }) = &mut source.start
            {
                list.iter_mut().for_each(|one| fresh.clone_into(&mut one.name));
            }
            true
        }
        StmtKind::For(source) => rename_hidden(&mut source.body, name, fresh),
        _ => false,
    }
}

fn find_by<'r>(region: &'r Region, indexes: &dyn Fn(&Stmt, &str) -> bool) -> Result<Found<'r>> {
    let mut top = Vec::new();
    let mut open: Vec<&Stmt> = region.statements.iter().rev().collect();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::Block(list) => open.extend(list.iter().rev()),
            _ => top.push(stmt),
        }
    }
    let found = |stmt: &&'_ Stmt| match &stmt.kind {
        StmtKind::For(source) => Some((stmt.span.clone(), counter(source))),
        StmtKind::While(source) => {
            let message =
                format!("a `{}` loop does not count by itself", if source.behind { "do" } else { "while" });
            Some((stmt.span.clone(), limitation(codes::TIME_LOOP, &source.head, message)))
        }
        _ => None,
    };
    let loops: Vec<Found<'_>> = top
        .iter()
        .filter_map(|stmt| {
            let (span, counter) = found(stmt)?;
            let (source, body) = match &stmt.kind {
                StmtKind::For(source) => (Loop::For(source), &source.body),
                StmtKind::While(source) => (Loop::While(source), &source.body),
                _ => return None,
            };
            Some(Found { source, body, span, counter })
        })
        .collect();
    // A time loop's index is in no subscript of what its body assigns, or only modulo something.
    let over_space =
        |found: &Found<'_>| found.counter.as_ref().is_ok_and(|counter| indexes(found.body, &counter.name));
    let mut candidates: Vec<usize> =
        (0..loops.len()).filter(|at| holds_loops(loops[*at].body) && !over_space(&loops[*at])).collect();
    match (candidates.pop(), candidates.first()) {
        (None, _) => {
            let kept = loops.iter().find_map(|one| {
                let counter = one.counter.as_ref().ok()?;
                let (place, array) = keeps_levels(one.body, &counter.name)?;
                Some((counter.name.clone(), place, array))
            });
            if let Some((name, place, array)) = kept {
                let message = format!("`{array}` keeps a level for each round of the loop over `{name}`");
                return Err(Box::new(
                    Diagnostic::limitation(codes::TIME_SUBSCRIPT, place, message)
                        .note("tiles overlap several time steps and hold a few levels; arrays that keep all are tiled one step at a time, if the level is their first subscript")
                        .hint(format!(
                            "keep two levels, such as `[({name} + 1) % 2]` and `[{name} % 2]`, and copy every so many steps what is needed later"
                        )),
                ));
            }
            none(region)
        }
        (Some(only), None) => loops.into_iter().nth(only).map_or_else(|| none(region), Ok),
        (Some(_), Some(first)) => {
            let second = &loops[(first + 1..loops.len())
                .find(|at| holds_loops(loops[*at].body) && !over_space(&loops[*at]))
                .unwrap_or(*first)];
            Err(Box::new(
                Diagnostic::limitation(
                    codes::NO_TIME_LOOP,
                    second.head(),
                    "the region has more than one time loop",
                )
                .related(loops[*first].head(), "the first one")
                .hint("put the pragmas around one of them")
                .note(format!(
                    "a region holds one time loop; this is another, {} bytes long",
                    second.span.len()
                )),
            ))
        }
    }
}

fn holds_loops(body: &Stmt) -> bool {
    let mut found = false;
    body.walk(&mut |stmt| found |= matches!(stmt.kind, StmtKind::For(_)));
    found
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

/// Whether a name is in a subscript of something that the loops within a body assign, other than modulo something; where
/// they assign nothing, of something that the body itself does. What runs under a condition does not count.
pub(crate) fn indexes_target(body: &Stmt, name: &str) -> bool {
    let (mut within, mut alone) = (Vec::new(), Vec::new());
    targets(body, false, &mut within, &mut alone);
    let list = if within.is_empty() { alone } else { within };
    list.iter().any(|target| is_subscript(target, name))
}

/// The same of every assignment in loops.
fn indexes_all_targets(body: &Stmt, name: &str) -> bool {
    let mut within = Vec::new();
    targets(body, false, &mut within, &mut Vec::new());
    within.iter().all(|target| is_subscript(target, name))
}

fn is_subscript(target: &Expr, name: &str) -> bool {
    let mut found = false;
    target.walk(&mut |part| {
        if let ExprKind::Index(_, index) = &part.kind {
            found |= plainly_in(index, name);
        }
    });
    found
}

/// The elements that a statement assigns: within loops, and in no loop.
fn targets<'a>(stmt: &'a Stmt, inner: bool, within: &mut Vec<&'a Expr>, alone: &mut Vec<&'a Expr>) {
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().for_each(|stmt| targets(stmt, inner, within, alone)),
        StmtKind::For(source) => targets(&source.body, true, within, alone),
        StmtKind::If(_, then, otherwise) => {
            let mut loops = holds_loops(then);
            loops |= otherwise.as_ref().is_some_and(|otherwise| holds_loops(otherwise));
            if inner || !loops {
                targets(then, inner, within, alone);
                otherwise.iter().for_each(|otherwise| targets(otherwise, inner, within, alone));
            }
        }
        StmtKind::Expr(expr) => expr.walk(&mut |part| {
            if let ExprKind::Assign(_, target, _) = &part.kind
                && !matches!(target.kind, ExprKind::Name(_))
            {
                if inner { within.push(target) } else { alone.push(target) }
            }
        }),
        _ => {}
    }
}

pub(super) fn plainly_in(expr: &Expr, name: &str) -> bool {
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

/// An assignment of one level of an array, `A[t + 1].. = .. A[t] ..` or `a[(t + 1) * n + i] = .. a[t * n + i] ..`, in loops
/// over its points: the place of the subscript, and the array.
pub(crate) fn keeps_levels(body: &Stmt, name: &str) -> Option<(Span, String)> {
    let mut found = None;
    body.walk(&mut |stmt| {
        let StmtKind::For(source) = &stmt.kind else { return };
        source.body.walk_expressions(&mut |expr| {
            let ExprKind::Assign(_, target, value) = &expr.kind else { return };
            let Some((array, own, place)) = level(target, name) else { return };
            let mut earlier = false;
            value.walk(&mut |part| {
                earlier |= level(part, name).is_some_and(|(other, at, _)| other == array && at < own);
            });
            if earlier {
                found.get_or_insert((place, array.to_owned()));
            }
        });
    });
    found
}

/// The array of an element in whose subscripts an index stands, what is added to it there, and the subscript's place.
fn level<'a>(element: &'a Expr, name: &str) -> Option<(&'a str, i64, Span)> {
    let (mut at, mut found) = (element, None);
    while let ExprKind::Index(array, index) = &at.kind {
        if plainly_in(index, name) {
            found = Some((shift(index, name)?, index.span.clone()));
        }
        at = array;
    }
    let ExprKind::Name(array) = &at.kind else { return None };
    found.map(|(by, place)| (array.as_str(), by, place))
}

/// What is added to an index, in `index + 1`, or `(index + 1) * n + i`.
fn shift(expr: &Expr, name: &str) -> Option<i64> {
    match &expr.kind {
        ExprKind::Name(other) if other == name => Some(0),
        ExprKind::Binary(operator, left, right) => match (operator, shift(left, name), shift(right, name)) {
            (BinaryOp::Add, Some(by), None) => Some(by + integer::literal(right).unwrap_or(0)),
            (BinaryOp::Add, None, Some(by)) => Some(by + integer::literal(left).unwrap_or(0)),
            (BinaryOp::Sub, Some(by), None) => Some(by - integer::literal(right).unwrap_or(0)),
            (BinaryOp::Mul, Some(by), None) | (BinaryOp::Mul, None, Some(by)) => Some(by),
            _ => None,
        },
        ExprKind::Cast(_, operand) => shift(operand, name),
        _ => None,
    }
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
    let (left, right) = &alone(left, right, &name);
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

/// `i + 1 < n` compares `i` with `n - 1`.
fn alone(left: &Expr, right: &Expr, name: &str) -> (Box<Expr>, Box<Expr>) {
    if let ExprKind::Binary(BinaryOp::Add, index, by) = &left.kind
        && matches!(&index.kind, ExprKind::Name(own) if own == name)
        && integer::literal(by).is_some_and(|by| by > 0)
    {
        let kind = ExprKind::Binary(BinaryOp::Sub, Box::new(right.clone()), by.clone());
        return (index.clone(), Box::new(Expr { kind, span: right.span.clone() }));
    }
    (Box::new(left.clone()), Box::new(right.clone()))
}

/// The time loop of a region that computes nothing but its stencil.
pub(super) fn time_loop(region: &Region, found: Found<'_>) -> Result<TimeLoop> {
    let (head, counter) = (found.head(), found.counter?);
    let declared = counter.type_name.is_some();
    let type_name = match counter.type_name {
        Some(name) => name,
        None => match region.variables.get(&counter.name).map(|variable| &variable.ctype) {
            Some(CType::Integer { name, .. }) => name.clone(),
            Some(_) => {
                let message = "the time loop's index is not an integer";
                return Err(Box::new(
                    Diagnostic::limitation(codes::TIME_LOOP, head, message)
                        .hint(format!("declare `{}` as `int`", counter.name)),
                ));
            }
            None => {
                return error(
                    codes::UNKNOWN_NAME,
                    &head,
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
        high: match (counter.inclusive, counter.descending) {
            (false, _) => high,
            (true, false) => format!("({high}) + 1"),
            (true, true) => format!("({high}) - 1"),
        },
        step: if counter.descending { -counter.by } else { counter.by },
        declared,
        head,
        span: found.span,
        bounds: Some((counter.first, counter.limit)),
    })
}

impl Walker<'_> {
    /// The time loop's bounds must be integers that its body leaves alone.
    pub(super) fn check_time_bounds(&mut self) -> Result<()> {
        let Some((first, limit)) = self.nest.time.bounds.clone() else { return Ok(()) };
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
                    let pointer = self.region.variables.get(name).is_some_and(|one| {
                        matches!(&one.ctype, CType::Pointer(to) if !matches!(**to, CType::Floating(_) | CType::Integer { .. }))
                    });
                    Some(match pointer {
                        true => format!("this bound is read through `{name}`, which points to something else in each time step"),
                        false => format!("this bound depends on the data, on `{name}`"),
                    })
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
