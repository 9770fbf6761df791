//! A bit of each point for each step that goes on for certain: what keeps them, put in the place of what computes a maximum.

use super::parts::{STEP, Test};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, ForLoop, Stmt, StmtKind, Variable};
use crate::nest::counter::counter;
use crate::parse::Region;
use crate::text::type_text;
use polyhedral::source::Span;

/// What keeps the bits of a test.
pub(super) struct Keeps<'a> {
    pub number: usize,
    pub kind: Floating,
    pub array: &'a str,
    pub bits: &'a str,
    pub operator: BinaryOp,
    pub limit: &'a Expr,
    /// Whether a value that is no number may leave something else than a maximum.
    pub spoilt: bool,
    /// Whether a sum is tested.
    pub sum: bool,
    /// Nothing is certain unless all of them are positive.
    pub scale: &'a [Expr],
    pub span: &'a Span,
}

impl Keeps<'_> {
    fn made(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span.clone() }
    }

    fn name(&self, name: &str) -> Expr {
        self.made(ExprKind::Name(name.to_owned()))
    }

    fn binary(&self, operator: BinaryOp, left: Expr, right: Expr) -> Expr {
        self.made(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
    }

    /// `T tw_d = value;`
    pub fn local(&self, value: &Expr) -> Variable {
        let ctype = CType::Floating(self.kind);
        let value = self.made(ExprKind::Cast(ctype.clone(), Box::new(value.clone())));
        Variable {
            name: self.local_name(),
            ctype,
            value: Some(value),
            span: self.span.clone(),
            global: false,
            constant: false,
        }
    }

    fn local_name(&self) -> String {
        format!("tw_d{}", self.number)
    }

    /// `seen[x] = seen[x] + (tw_d >= c ? bits[t - tw_first] : tw_d == tw_d ? 0 : tw_d);`, or `.. : 0` where numbers alone count.
    pub fn kept(&self, loops: &[&ForLoop], sides: &[(Expr, Expr)]) -> Stmt {
        let local = self.local_name();
        let mut at: Option<Expr> = None;
        let counted = loops.iter().zip(sides);
        let counted = counted.filter_map(|(source, (_, high))| Some((counter(source).ok()?.name, high)));
        for (name, high) in as_subscripts(loops, counted.collect()) {
            let index = self.name(&name);
            at = Some(match at {
                None => index,
                Some(outer) => {
                    let row = self.binary(BinaryOp::Mul, outer, high.clone());
                    self.binary(BinaryOp::Add, row, index)
                }
            });
        }
        let at = at.unwrap_or_else(|| integer(0, self.span));
        let element = self.made(ExprKind::Index(Box::new(self.name(self.array)), Box::new(at)));
        // The bit of the step is put in place of this name.
        let bit = self.made(ExprKind::Index(Box::new(self.name(self.bits)), Box::new(self.name(STEP))));
        let zero = self.made(ExprKind::Floating { text: "0.0".to_owned(), kind: self.kind });
        let same = self.binary(BinaryOp::Equal, self.name(&local), self.name(&local));
        let otherwise = match self.spoilt {
            true => self.made(ExprKind::Conditional(
                Box::new(same),
                Box::new(zero.clone()),
                Box::new(self.name(&local)),
            )),
            false => zero.clone(),
        };
        let mut goes_on = self.binary(self.operator, self.name(&local), self.limit.clone());
        for by in self.scale {
            let by = self.made(ExprKind::Cast(CType::Floating(self.kind), Box::new(by.clone())));
            let positive = self.binary(BinaryOp::Greater, by, zero.clone());
            goes_on = self.binary(BinaryOp::And, goes_on, positive);
        }
        let seen = self.made(ExprKind::Conditional(Box::new(goes_on), Box::new(bit), Box::new(otherwise)));
        let sum = self.binary(BinaryOp::Add, element.clone(), seen);
        let assignment = self.made(ExprKind::Assign(None, Box::new(element), Box::new(sum)));
        Stmt { kind: StmtKind::Expr(assignment), span: self.span.clone() }
    }

    /// The test, whose arrays are declared in the region.
    pub fn test(
        &self,
        region: &mut Region,
        (comparison, inverted): (&Expr, bool),
        (at, of): (usize, &str),
    ) -> Test {
        let element = CType::Floating(self.kind);
        region.declare(self.array, CType::Pointer(Box::new(element.clone())), self.span);
        region.declare(self.bits, CType::Array(Box::new(element.clone()), None), self.span);
        let integer = CType::Integer { name: "long".to_owned(), unsigned: false };
        region.declare("tw_first", integer, self.span);
        Test {
            at,
            of: of.to_owned(),
            stops: comparison.clone(),
            inverted,
            array: self.array.to_owned(),
            bits: self.bits.to_owned(),
            ctype: type_text(&element),
            most: if self.kind == Floating::Float { 22 } else { 48 },
            sum: self.sum,
        }
    }
}

/// Indices in the order in which elements name them that the loops assign, whatever the order of the loops is: tiles have one
/// orientation. In the order of the loops where no element names all of them.
fn as_subscripts<T>(loops: &[&ForLoop], mut indices: Vec<(String, T)>) -> Vec<(String, T)> {
    let Some(innermost) = loops.last() else { return indices };
    let (mut assigned, mut read) = (None, None);
    innermost.body.walk_expressions(&mut |expr| match &expr.kind {
        ExprKind::Assign(_, target, _) if assigned.is_none() => assigned = places(target, &indices),
        ExprKind::Index(..) if read.is_none() => read = places(expr, &indices),
        _ => {}
    });
    if let Some(places) = assigned.or(read) {
        indices.sort_by_key(|(name, _)| places.iter().position(|other| other == name));
    }
    indices
}

/// The order in which an element's subscripts name indices, all of them, the outermost first: within one subscript what is multiplied more
/// often is farther out.
fn places<T>(element: &Expr, indices: &[(String, T)]) -> Option<Vec<String>> {
    let mut subscripts = Vec::new();
    let mut inner = element;
    while let ExprKind::Index(array, subscript) = &inner.kind {
        subscripts.push(subscript);
        inner = array;
    }
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    for (at, subscript) in subscripts.into_iter().rev().enumerate() {
        for (name, _) in indices {
            if let Some(products) = products_around(subscript, name) {
                found.push((at, usize::MAX - products, name.clone()));
            }
        }
    }
    found.sort();
    let names: Vec<String> = found.into_iter().map(|(_, _, name)| name).collect();
    let is_each_once = names.len() == indices.len()
        && indices.iter().all(|(name, _)| names.iter().filter(|other| *other == name).count() == 1);
    is_each_once.then_some(names)
}

/// In how many products, one within the other, a name stands; `None` where it does not.
fn products_around(expr: &Expr, name: &str) -> Option<usize> {
    match &expr.kind {
        ExprKind::Name(own) => (own == name).then_some(0),
        ExprKind::Binary(operator, left, right) => {
            let sides = [left, right].into_iter().filter_map(|side| products_around(side, name));
            sides.max().map(|products| products + usize::from(*operator == BinaryOp::Mul))
        }
        ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => products_around(inner, name),
        _ => None,
    }
}

/// The first index of each loop, and the one behind its last. `by`: what the innermost one counts by.
pub(super) fn sides(loops: &[&ForLoop], by: i64) -> Option<Vec<(Expr, Expr)>> {
    if loops.is_empty() || loops.len() > 3 {
        return None;
    }
    let mut sides = Vec::new();
    for (depth, source) in loops.iter().enumerate() {
        let own = if depth + 1 == loops.len() { by } else { 1 };
        let counter = counter(source).ok().filter(|counter| counter.by == own)?;
        let more = |expr: &Expr, by: i64| {
            let kind =
                ExprKind::Binary(BinaryOp::Add, Box::new(expr.clone()), Box::new(integer(by, &expr.span)));
            if by == 0 { expr.clone() } else { Expr { kind, span: expr.span.clone() } }
        };
        sides.push(match (counter.descending, counter.inclusive) {
            (false, inclusive) => (counter.first, more(&counter.limit, i64::from(inclusive))),
            (true, inclusive) => (more(&counter.limit, i64::from(!inclusive)), more(&counter.first, 1)),
        });
    }
    Some(sides)
}

fn integer(value: i64, span: &Span) -> Expr {
    Expr { kind: ExprKind::Integer { value, text: value.to_string() }, span: span.clone() }
}

/// How many statements come before one in another, which is looked through as [`replace`] does. Statements of one macro have one
/// place in the user's file: places do not tell them apart.
pub(super) fn number_in(stmt: &Stmt, of: &Stmt) -> Option<usize> {
    let (mut before, mut found) = (0, None);
    stmt.walk(&mut |part| {
        if std::ptr::eq(part, of) {
            found = Some(before);
        }
        before += 1;
    });
    found
}

/// Puts statements in the place of the one of this number.
pub(super) fn replace(stmt: &mut Stmt, number: usize, by: &[Stmt]) {
    fn within(stmt: &mut Stmt, left: &mut Option<usize>, by: &[Stmt]) {
        *left = match *left {
            None => return,
            Some(0) => {
                stmt.kind = StmtKind::Block(by.to_vec());
                None
            }
            Some(left) => Some(left - 1),
        };
        if left.is_none() {
            return;
        }
        // In the order of `Stmt::walk`.
        match &mut stmt.kind {
            StmtKind::Block(list) => list.iter_mut().for_each(|stmt| within(stmt, left, by)),
            StmtKind::For(source) => {
                if let Some(start) = &mut source.start {
                    within(start, left, by);
                }
                within(&mut source.body, left, by);
            }
            StmtKind::While(source) => within(&mut source.body, left, by),
            StmtKind::If(_, then, otherwise) => {
                within(then, left, by);
                otherwise.iter_mut().for_each(|otherwise| within(otherwise, left, by));
            }
            _ => {}
        }
    }
    within(stmt, &mut Some(number), by);
}

/// Puts the bit of the step that is computed in the place of the step's name.
pub(super) fn name_bits(body: &mut Stmt, tests: &[Test], (name, _, by): &(String, String, i64)) {
    let is_bits = |expr: &Expr| tests.iter().any(|test| expr.is_name(&test.bits));
    body.walk_expressions_mut(&mut |expr| {
        let ExprKind::Index(array, step) = &mut expr.kind else { return };
        if !is_bits(array) {
            return;
        }
        let span = step.span.clone();
        let made = |kind| Box::new(Expr { kind, span: span.clone() });
        let (time, first) = (made(ExprKind::Name(name.clone())), made(ExprKind::Name("tw_first".to_owned())));
        let passed = made(ExprKind::Binary(BinaryOp::Sub, time, first));
        *step = match by {
            1 => passed,
            by => made(ExprKind::Binary(BinaryOp::Div, passed, Box::new(integer(*by, &span)))),
        };
    });
}
