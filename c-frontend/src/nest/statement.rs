//! Statements, in the order of execution.

use super::around;
use super::element::subscripts;
use super::exchange;
use super::loops::{Element, Leaf, Temporary, Touched};
use super::math::ENDS;
use super::pieces::same;
use super::refusal::{Result, error, limitation};
use super::scalars::{Held, Kind};
use super::typed::{cast, element_of};
use super::walker::Walker;
use crate::ast::{BinaryOp, CType, Expr as CExpr, ExprKind as CKind, Stmt, StmtKind, UnaryOp, Variable};
use crate::codes;
use crate::parse::FAILED;
use crate::polynomial::Polynomial;
use crate::text::{c_text, type_text};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::program::{Expr, ExprKind, LocalId};
use polyhedral::source::Span;

/// Most assignments of one region.
pub(super) const MOST_LEAVES: usize = 1024;
/// Largest integer expression that is made of all that it was computed from.
const MOST_WRITTEN_OUT: usize = 2000;

impl Walker<'_> {
    pub(super) fn statement(&mut self, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(list) => self.block(list),
            StmtKind::Declaration(variables) => {
                variables.iter().try_for_each(|variable| self.declare(variable))
            }
            StmtKind::Expr(expr) => self.expression_statement(expr),
            StmtKind::For(source) => self.space_loop(source),
            StmtKind::If(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise.as_deref(), &stmt.span)
            }
            StmtKind::While(source) => {
                let name = if source.behind { "do" } else { "while" };
                let message = format!("a `{name}` loop, whose number of rounds depends on the data");
                limitation(codes::STATEMENT, &stmt.span, message)
            }
            StmtKind::Return(_) => limitation(codes::STATEMENT, &stmt.span, "`return` leaves the loop early"),
            StmtKind::Other(kind, _) => {
                let message = match kind.as_str() {
                    "break" | "return" | "goto" => format!("`{kind}` leaves the loop early"),
                    "continue" => "`continue` leaves out parts of a step".to_owned(),
                    "declaration" => {
                        "a variable with the attribute `cleanup`: a function is called where it ends"
                            .to_owned()
                    }
                    other => format!("a {other} statement in a stencil"),
                };
                limitation(codes::STATEMENT, &stmt.span, message)
            }
        }
    }

    fn block(&mut self, list: &[Stmt]) -> Result<()> {
        let before = self.environment.clone();
        let mut declared = Vec::new();
        for (number, stmt) in list.iter().enumerate() {
            if let StmtKind::Declaration(variables) = &stmt.kind {
                declared.extend(variables.iter().map(|variable| variable.name.clone()));
            }
            self.at(number, |this| this.statement(stmt))?;
        }
        self.environment.leave(&before, &declared);
        Ok(())
    }

    /// Walks a part of a statement, by its number in the order of execution.
    pub(super) fn at<T>(&mut self, number: usize, walk: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.order.push(u32::try_from(number).unwrap_or(u32::MAX));
        let result = walk(self);
        self.order.pop();
        result
    }

    fn declare(&mut self, variable: &Variable) -> Result<()> {
        let kind = match &variable.ctype {
            CType::Integer { .. } => Kind::Integer,
            CType::Floating(kind) if element_of(*kind).is_some() => Kind::Floating(*kind),
            other => {
                let message = format!("a variable of type `{}` in the loop", type_text(other));
                let reason = Diagnostic::limitation(codes::TYPE, variable.span.clone(), message);
                // Memory that each step takes and gives back, of which the loops use elements in several ways.
                let memory = matches!(other, CType::Array(..));
                return Err(Box::new(match memory {
                    true => reason
                        .note(format!("`{}` is memory of a step, whose elements are not used by the same subscripts everywhere", variable.name))
                        .hint("use its elements by one index in all loops, or by one for each dimension"),
                    false => reason,
                }));
            }
        };
        if let Some(value) = &variable.value
            && value.mentions(&variable.name)
        {
            let message = format!("`{}` stands in its own first value", variable.name);
            return error(codes::EXPRESSION, &variable.span, message);
        }
        self.environment.set_type(&variable.name, variable.ctype.clone());
        match &variable.value {
            Some(value) => self.assign_scalar(&variable.name, kind, value, &variable.span),
            None => {
                self.environment.set(&variable.name, Held::Nothing(kind));
                Ok(())
            }
        }
    }

    pub(super) fn assign_scalar(&mut self, name: &str, kind: Kind, value: &CExpr, span: &Span) -> Result<()> {
        let value = &self.folded(value);
        let held = match kind {
            Kind::Integer => {
                if self.depends(value).data || !self.kind_of(value)?.is_integer() {
                    let Some(ctype) = self.integer_ctype(name).cloned() else {
                        return self.unknown(name, span);
                    };
                    let value = self.whole_stored(value, &ctype)?;
                    self.hold(name, value)
                } else {
                    let value = self.held_integer(name, self.resolved(value)?);
                    Held::Integer(self.polynomial(&value), value)
                }
            }
            Kind::Floating(floating) => {
                let Some(element) = element_of(floating) else {
                    return limitation(
                        codes::TYPE,
                        span,
                        "long double is not supported; float and double are",
                    );
                };
                let value = self.converted(value, element)?;
                Held::Temporary(self.temporary(name, value), floating)
            }
        };
        self.environment.set(name, held);
        Ok(())
    }

    /// An integer's value with all integers of the loop in it written out.
    fn resolved(&self, value: &CExpr) -> Result<CExpr> {
        let mut size = 0;
        value.walk(&mut |part| {
            size += 1;
            if let CKind::Name(name) = &part.kind
                && let Some(Held::Integer(_, held)) = self.environment.get(name)
            {
                held.walk(&mut |_| size += 1);
            }
        });
        if size > MOST_WRITTEN_OUT {
            return limitation(
                codes::TOO_DEEP,
                &value.span,
                "integers that are computed from one another too often",
            );
        }
        let mut value = value.clone();
        self.write_out(&mut value);
        Ok(value)
    }

    pub(super) fn temporary(&mut self, name: &str, value: Expr) -> usize {
        // Pieces that compute the same have the same temporaries.
        let known = self.nest.temporaries.iter().position(|one| one.name == name && same(&one.value, &value));
        if let Some(known) = known {
            return known;
        }
        self.nest.temporaries.push(Temporary { name: name.to_owned(), value });
        self.nest.temporaries.len() - 1
    }

    fn expression_statement(&mut self, expr: &CExpr) -> Result<()> {
        match &expr.kind {
            CKind::Assign(operator, target, value) => self.assignment(*operator, target, value, &expr.span),
            CKind::Step(by, target) => {
                let one = CExpr {
                    kind: CKind::Integer { value: 1, text: "1".to_owned() },
                    span: expr.span.clone(),
                };
                let operator = if *by > 0 { BinaryOp::Add } else { BinaryOp::Sub };
                self.assignment(Some(operator), target, &one, &expr.span)
            }
            CKind::Comma(left, right) => {
                self.at(0, |this| this.expression_statement(left))?;
                self.at(1, |this| this.expression_statement(right))
            }
            CKind::Call(function, arguments) if matches!(&function.kind, CKind::Name(name) if name == ENDS) => {
                arguments.iter().try_for_each(|condition| self.ends_under(condition))
            }
            CKind::Call(function, _) if matches!(&function.kind, CKind::Name(name) if name == FAILED) => {
                Err(Box::new(
                    Diagnostic::limitation(
                        codes::STATEMENT,
                        expr.span.clone(),
                        "this `assert` may end the program at any point",
                    )
                    .note("tiles compute points in another order, of several time steps")
                    .hint("switch asserts off for the compilation with -DNDEBUG, or assert before the time loop"),
                ))
            }
            CKind::Call(function, _) => {
                let name = match &function.kind {
                    CKind::Name(name) => format!("`{name}`"),
                    _ => "a function".to_owned(),
                };
                Err(Box::new(super::refusal::calls(&name, &expr.span)))
            }
            CKind::Cast(CType::Other(name), value) if name == "void" && self.changes_nothing(value) => Ok(()),
            _ => limitation(codes::STATEMENT, &expr.span, "a statement that assigns nothing"),
        }
    }

    /// Whether an evaluation has no effect: to read what changes by itself is one.
    fn changes_nothing(&self, value: &CExpr) -> bool {
        let mut watched = false;
        value.walk(&mut |part| {
            watched |= matches!(&part.kind, CKind::Name(name)
                if self.region.variables.get(name).is_some_and(|one| one.ctype.is_watched()));
        });
        !watched && super::math::is_pure_value(value)
    }

    /// Where the program would end under a condition, the loop runs as it is written: it is asked before.
    fn ends_under(&mut self, condition: &CExpr) -> Result<()> {
        if self.truth(condition) == Some(false) {
            return Ok(());
        }
        if let CKind::Binary(BinaryOp::Or, left, right) = &condition.kind {
            self.ends_under(left)?;
            return self.ends_under(right);
        }
        if let Some(pointers) = self.null_pointers(condition) {
            for pointer in pointers {
                if !self.nest.pointers.contains(&pointer) {
                    self.nest.pointers.push(pointer);
                }
            }
            return Ok(());
        }
        if !self.depends(condition).is_constant() {
            return Err(Box::new(
                Diagnostic::limitation(
                    codes::STATEMENT,
                    condition.span.clone(),
                    "the program ends here under a condition that is not known before the loop",
                )
                .note("a condition that does not change in the time loop can be asked before it"),
            ));
        }
        let condition = self.without_integers(condition);
        self.check_calls(&condition)?;
        let condition = self.guarded(&condition, self.depends(&condition))?;
        for address in self.addresses(&condition) {
            self.reads_memory(c_text(&address, &|name| self.integer_text(name)));
        }
        let text = c_text(&condition, &|name| self.integer_text(name));
        if !self.nest.ends.contains(&text) {
            self.nest.ends.push(text);
        }
        Ok(())
    }

    /// The pointers of which a condition asks whether one is null: a variable, or those that take turns in it.
    fn null_pointers(&self, condition: &CExpr) -> Option<Vec<String>> {
        let null = |expr: &CExpr| match &expr.kind {
            CKind::Cast(CType::Pointer(_), value) => crate::integer::literal(value) == Some(0),
            _ => crate::integer::literal(expr) == Some(0),
        };
        let pointer = match &condition.kind {
            CKind::Binary(BinaryOp::Equal, pointer, other) if null(other) => pointer,
            CKind::Binary(BinaryOp::Equal, other, pointer) if null(other) => pointer,
            CKind::Unary(UnaryOp::Not, pointer) => pointer,
            _ => return None,
        };
        match &pointer.kind {
            CKind::Name(name) => {
                let variable = self.region.variables.get(name)?;
                matches!(variable.ctype, CType::Pointer(_)).then(|| vec![name.clone()])
            }
            CKind::Index(first, turn) if matches!(turn.kind, CKind::Turn { .. }) => {
                let CKind::Name(first) = &first.kind else { return None };
                self.nest.turns.iter().find(|circle| circle.first() == Some(first)).cloned()
            }
            _ => None,
        }
    }

    fn assignment(
        &mut self,
        operator: Option<BinaryOp>,
        target: &CExpr,
        value: &CExpr,
        span: &Span,
    ) -> Result<()> {
        if let CKind::Assign(..) = &value.kind {
            return limitation(codes::STATEMENT, &value.span, "an assignment within an assignment");
        }
        // `a op= b` is `a = a op b`, with b in parentheses and a evaluated once; both hold here.
        let combined = operator.map(|operator| CExpr {
            kind: CKind::Binary(operator, Box::new(target.clone()), Box::new(value.clone())),
            span: span.clone(),
        });
        let value = combined.as_ref().unwrap_or(value);
        if let CKind::Name(name) = &target.kind {
            if self.open_loop(name).is_some() || *name == self.nest.time.name {
                return limitation(
                    codes::LOOP_FORM,
                    span,
                    format!("the index `{name}` is changed in its loop"),
                );
            }
            let kind = match self.environment.get(name) {
                Some(Held::Temporary(_, kind)) => Kind::Floating(*kind),
                Some(Held::Integer(..) | Held::Whole { .. }) => Kind::Integer,
                Some(Held::Nothing(kind) | Held::Carried(kind, _)) => *kind,
                None => {
                    let Some(variable) = self.region.variables.get(name) else {
                        return self.unknown(name, &target.span);
                    };
                    match &variable.ctype {
                        CType::Integer { .. } => Kind::Integer,
                        CType::Floating(kind) => Kind::Floating(*kind),
                        other => {
                            let message =
                                format!("`{name}`, of type `{}`, is assigned in the loop", type_text(other));
                            return match other.depth() {
                                0 => limitation(codes::TYPE, span, message),
                                _ => exchange::not_exchanged(&self.region.statements, name, span),
                            };
                        }
                    }
                }
            };
            // In loops over space the variable has a value, which may be that of the round before.
            if self.region.used_behind.contains(name) && self.environment.ctype(name).is_none() {
                let message = format!("`{name}` is computed in the loop and used behind it");
                return Err(Box::new(
                    Diagnostic::limitation(codes::LIVE_OUT, span.clone(), message)
                        .hint("declare the variable within the loop, if its last value is not needed"),
                ));
            }
            return self.assign_scalar(name, kind, value, span);
        }
        self.assign_element(target, value, span)
    }

    /// Whether this is the one assignment of an array that a sweep in place computes of its neighbours, in a step by itself: what else
    /// reads the element then reads it from the array. Computed again, it would need the neighbours as they were.
    fn is_swept_alone(&self, target: &CExpr, value: &CExpr) -> bool {
        let alone = self.nest.observed.as_ref().is_some_and(|observed| observed.alone);
        if !alone || self.nest.level.is_some() {
            return false;
        }
        let text = |expr: &CExpr| c_text(expr, &|_| None);
        let array = |expr: &CExpr| match &expr.indexed().0.kind {
            CKind::Name(name) => Some(name.clone()),
            _ => None,
        };
        let own = array(target);
        let mut neighbours = false;
        value.walk(&mut |part| {
            neighbours |= matches!(part.kind, CKind::Index(..))
                && array(part) == own
                && part.indexed().1.len() == target.indexed().1.len()
                && text(part) != text(target);
        });
        if !neighbours || own.is_none() {
            return false;
        }
        let mut count = 0;
        for stmt in &self.region.statements {
            stmt.walk_expressions(&mut |part| {
                if let CKind::Assign(_, other, _) | CKind::Step(_, other) = &part.kind {
                    count += usize::from(array(other) == own);
                }
            });
        }
        count == 1
    }

    fn assign_element(&mut self, target: &CExpr, value: &CExpr, span: &Span) -> Result<()> {
        let kind = self.kind_of(target)?;
        let (base, indices) = subscripts(target);
        let CKind::Name(name) = &base.kind else {
            let message = match &base.kind {
                CKind::Member(..) if indices.is_empty() => {
                    let text = c_text(base, &|name| self.integer_text(name));
                    format!("`{text}`, a member of a structure, is assigned in the loop")
                }
                _ => "an array that is not a variable of its own".to_owned(),
            };
            return limitation(codes::ARRAY, &base.span, message);
        };
        if indices.is_empty() {
            return limitation(
                codes::STATEMENT,
                &target.span,
                "something other than an array or a variable is assigned",
            );
        }
        let integers = match kind {
            Kind::Floating(_) => None,
            Kind::Integer => self.member_type(target).cloned(),
        };
        let element = match (kind, &integers) {
            (Kind::Floating(kind), _) => element_of(kind),
            (Kind::Integer, Some(ctype)) => Some(self.integers_of(target, ctype)?.1),
            (Kind::Integer, None) => None,
        };
        let Some(element) = element else {
            let message = format!("`{name}` is not an array of float, double or integers");
            return limitation(codes::ARRAY, &target.span, message);
        };
        let polynomials: Option<Vec<Polynomial>> =
            indices.iter().map(|index| self.polynomial(index)).collect();
        let Some(indices) = polynomials else { return self.wrong_subscript(&indices) };
        if around::is_marked(&indices) {
            return limitation(
                codes::SUBSCRIPT,
                &target.span,
                "an assignment to an element whose index wraps around: the points of a statement are those of its loops",
            );
        }
        let written = value;
        let value = self.folded(value);
        let value = match &integers {
            Some(ctype) => {
                let value = self.whole_element(&value, ctype)?;
                cast(value, element)
            }
            None => self.converted(&value, element)?,
        };
        let temporary = match value.kind {
            ExprKind::Local(LocalId(known)) => known,
            _ => self.temporary(name, value),
        };
        let own = Element {
            array: name.clone(),
            indices: indices.clone(),
            around: Vec::new(),
            element,
            span: target.span.clone(),
        };
        // What the same iteration has assigned to this element before is overwritten.
        let again =
            self.environment.elements.iter().position(|(array, at, _)| array == name && *at == indices);
        if let Some(at) = again {
            self.environment.elements.remove(at);
            let (path, narrowed) = (&self.path, &self.narrowed);
            for leaf in &mut self.nest.leaves {
                let same = leaf.target.array == *name
                    && leaf.target.indices == indices
                    && leaf.path == *path
                    && leaf.narrowed == *narrowed;
                leaf.overwritten |= same;
            }
        }
        if !self.is_swept_alone(target, written) {
            self.environment.elements.push((name.clone(), indices, temporary));
        }
        let value = Expr { kind: ExprKind::Local(LocalId(temporary)), element, span: span.clone() };
        if self.nest.leaves.len() >= MOST_LEAVES {
            let message = format!("the time loop has more than {MOST_LEAVES} assignments of arrays");
            return limitation(codes::TOO_DEEP, span, message);
        }
        let (path, narrowed) = (self.path.clone(), self.narrowed.clone());
        self.nest.leaves.push(Leaf {
            target: own,
            value,
            path,
            narrowed,
            order: self.order.clone(),
            touched: Touched::Always,
            span: span.clone(),
            overwritten: false,
        });
        Ok(())
    }
}
