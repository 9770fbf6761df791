//! Calls in statements: what a statement becomes without them.

use super::inliner::{Inliner, refuse};
use super::taking::is_heap;
use super::{exits, rename, sizes};
use crate::ast::{CType, Expr, ExprKind, ForLoop, Stmt, StmtKind};
use crate::nest::{Result, is_known_function};
use polyhedral::source::Span;

impl Inliner<'_> {
    /// Takes apart the calls of one statement; what takes its place is added to a list.
    pub(super) fn statement(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) -> Result<()> {
        if !self.around.is_empty() {
            return self.taken_apart(stmt, out);
        }
        let before = out.len();
        let span = stmt.span.clone();
        let around = std::mem::replace(&mut self.current, span.clone());
        let found = self.taken_apart(stmt.clone(), out);
        self.current = around;
        match found {
            // A statement of the region's own has one place, whatever it has become.
            Ok(()) => out[before..].iter_mut().for_each(|stmt| stmt.span = span.clone()),
            Err(reason) => {
                self.kept.push((stmt.span.clone(), *reason));
                out.truncate(before);
                out.push(stmt);
            }
        }
        Ok(())
    }

    pub(super) fn taken_apart(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) -> Result<()> {
        let span = stmt.span.clone();
        let kind = match stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Call(function, arguments), span: place }) => {
                match &function.kind {
                    ExprKind::Name(name) if sizes::is_moved(name) && !self.own.contains(name) => {
                        if let Some(loops) = self.moved(name, &arguments, &place) {
                            out.push(loops);
                            return Ok(());
                        }
                        StmtKind::Expr(Expr { kind: ExprKind::Call(function, arguments), span: place })
                    }
                    ExprKind::Name(name) if self.is_own(name) => {
                        let name = name.clone();
                        let arguments = self.in_any_order(arguments, Some(out))?;
                        return self.call(&name, arguments, &place, None, out);
                    }
                    _ => StmtKind::Expr(Expr { kind: ExprKind::Call(function, arguments), span: place }),
                }
            }
            StmtKind::Expr(expr) => return self.expression_statement(expr, &span, out),
            StmtKind::Declaration(list) => {
                // One after the other: what a call needs done may need the one before.
                for mut variable in list {
                    if let Some(value) = variable.value.take() {
                        if let CType::Pointer(_) = variable.ctype
                            && let Some((name, arguments, place)) = self.own_call(&value)
                        {
                            let kind = ExprKind::Name(variable.name.clone());
                            let target = Expr { kind, span: variable.span.clone() };
                            let kind = StmtKind::Declaration(vec![variable]);
                            out.push(Stmt { kind, span: span.clone() });
                            let arguments = self.in_any_order(arguments, Some(out))?;
                            self.call(&name, arguments, &place, Some(&target), out)?;
                            continue;
                        }
                        variable.value = Some(self.expression(value, Some(out))?);
                    }
                    out.push(Stmt { kind: StmtKind::Declaration(vec![variable]), span: span.clone() });
                }
                return Ok(());
            }
            StmtKind::Block(list) => StmtKind::Block(self.block(list)?),
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.expression(condition, Some(out))?;
                let then = Box::new(self.single(*then)?);
                let otherwise = match otherwise {
                    Some(otherwise) => Some(Box::new(self.single(*otherwise)?)),
                    None => None,
                };
                StmtKind::If(condition, then, otherwise)
            }
            StmtKind::For(source) => {
                let ForLoop { start, condition, step, body, head } = *source;
                let start = match start {
                    Some(Stmt { kind: StmtKind::Declaration(list), span }) => {
                        let mut found = Vec::new();
                        for mut variable in list {
                            if let Some(value) = variable.value.take() {
                                variable.value = Some(self.expression(value, None)?);
                            }
                            found.push(variable);
                        }
                        Some(Stmt { kind: StmtKind::Declaration(found), span })
                    }
                    Some(Stmt { kind: StmtKind::Expr(expr), span }) => {
                        Some(Stmt { kind: StmtKind::Expr(self.expression(expr, None)?), span })
                    }
                    other => other,
                };
                let mut part = |part: Option<Expr>| part.map(|part| self.expression(part, None)).transpose();
                let (condition, step) = (part(condition)?, part(step)?);
                let body = exits::without_continue(body);
                let body = self.single(body)?;
                StmtKind::For(Box::new(ForLoop { start, condition, step, body, head }))
            }
            StmtKind::While(source) => {
                let mut source = *source;
                source.condition = self.expression(source.condition, None)?;
                source.body = self.single(exits::without_continue(source.body))?;
                StmtKind::While(Box::new(source))
            }
            StmtKind::Return(value) if self.around.is_empty() => {
                let mut names = Vec::new();
                value.iter().for_each(|value| {
                    value.walk(&mut |part| {
                        if let ExprKind::Name(name) = &part.kind {
                            names.push(name.clone());
                        }
                    });
                });
                StmtKind::Other("return".to_owned(), names)
            }
            StmtKind::Return(value) => {
                StmtKind::Return(value.map(|value| self.expression(value, Some(out))).transpose()?)
            }
            other => other,
        };
        out.push(Stmt { kind, span });
        Ok(())
    }

    /// An assignment, or something that is no statement of a stencil. `a = b = c` is `b = c; a = b`.
    pub(super) fn expression_statement(
        &mut self,
        expr: Expr,
        span: &Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Expr { kind, span: place } = expr;
        let kind = match kind {
            ExprKind::Assign(None, target, value) => {
                if let ExprKind::Assign(..) = &value.kind
                    && let Some(second) = self.assigned_again(&value)
                {
                    self.expression_statement(*value, span, out)?;
                    let target = Box::new(self.expression(*target, Some(out))?);
                    ExprKind::Assign(None, target, Box::new(second))
                } else {
                    if let Some((name, arguments, place)) = self.own_call(&value)
                        && let Some(CType::Pointer(_)) = self.pointer_type(&target)
                    {
                        let arguments = self.in_any_order(arguments, Some(out))?;
                        return self.call(&name, arguments, &place, Some(&target), out);
                    }
                    if let (ExprKind::Call(function, arguments), ExprKind::Name(_)) =
                        (&value.kind, &target.kind)
                        && let ExprKind::Name(name) = &function.kind
                        && self.is_own(name)
                    {
                        let arguments = self.in_any_order(arguments.clone(), Some(out))?;
                        // An integer may become a subscript, which is followed as a value.
                        if let Some(value) = self.index(name, &arguments, &value.span) {
                            let kind = ExprKind::Assign(None, target.clone(), Box::new(value));
                            out.push(Stmt {
                                kind: StmtKind::Expr(Expr { kind, span: place }),
                                span: span.clone(),
                            });
                            return Ok(());
                        }
                        return self.call(&name.clone(), arguments, &value.span.clone(), Some(&target), out);
                    }
                    if let ExprKind::Name(_) = &target.kind {
                        // A variable is assigned behind whatever its value needs.
                        let value = self.expression(*value, Some(out))?;
                        ExprKind::Assign(None, target, Box::new(value))
                    } else {
                        let (target, value) = self.left_first(*target, *value, Some(out))?;
                        ExprKind::Assign(None, target, value)
                    }
                }
            }
            ExprKind::Assign(operator, target, value) => {
                let (target, value) = self.left_first(*target, *value, Some(out))?;
                ExprKind::Assign(operator, target, value)
            }
            ExprKind::Comma(left, right) => {
                self.expression_statement(*left, span, out)?;
                return self.expression_statement(*right, span, out);
            }
            other => self.expression(Expr { kind: other, span: place.clone() }, Some(out))?.kind,
        };
        out.push(Stmt { kind: StmtKind::Expr(Expr { kind, span: place }), span: span.clone() });
        Ok(())
    }

    /// What the target of an assignment holds afterwards, to be read again: a variable or an element whose subscripts
    /// change nothing.
    pub(super) fn assigned_again(&self, assignment: &Expr) -> Option<Expr> {
        let ExprKind::Assign(operator, target, value) = &assignment.kind else { return None };
        // Zero is zero in every type: maxima and sums begin with it.
        let zero = match &value.kind {
            ExprKind::Integer { value, .. } => *value == 0,
            ExprKind::Floating { text, .. } => text.trim_end_matches(['f', 'F', 'l', 'L']).parse() == Ok(0.0),
            _ => false,
        };
        if zero && operator.is_none() {
            return Some((**value).clone());
        }
        let mut plain = true;
        target.walk(&mut |part| {
            plain &= !matches!(part.kind, ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..));
        });
        plain.then(|| (**target).clone())
    }

    pub(super) fn single(&mut self, stmt: Stmt) -> Result<Stmt> {
        let span = stmt.span.clone();
        let mut list = match stmt.kind {
            StmtKind::Block(list) => self.block(list)?,
            kind => self.block(vec![Stmt { kind, span: stmt.span }])?,
        };
        if list.len() == 1 && !matches!(list[0].kind, StmtKind::Declaration(_)) {
            return Ok(list.remove(0));
        }
        Ok(Stmt { kind: StmtKind::Block(list), span })
    }

    pub(super) fn block(&mut self, list: Vec<Stmt>) -> Result<Vec<Stmt>> {
        let mut found = Vec::new();
        for stmt in list {
            self.statement(stmt, &mut found)?;
        }
        let (found, pointers) = rename::pointers_written_out(found);
        self.written_out.extend(pointers);
        Ok(found)
    }

    /// The call of one of the program's functions that a value is, converted to some type of pointers or not.
    fn own_call(&self, value: &Expr) -> Option<(String, Vec<Expr>, Span)> {
        match &value.kind {
            ExprKind::Cast(CType::Pointer(_), inner) => self.own_call(inner),
            ExprKind::Call(function, arguments) => match &function.kind {
                ExprKind::Name(name) if self.is_own(name) => {
                    Some((name.clone(), arguments.clone(), value.span.clone()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Refuses a function that calls something with effects of its own. What takes memory or gives it back may be called where
    /// others do the rest.
    pub(super) fn check_effects(
        &mut self,
        name: &str,
        body: &[Stmt],
        place: &Span,
        head: &Span,
    ) -> Result<()> {
        let lends = !self.own_memory.contains(&self.current);
        let (mut found, mut memory) = (None, false);
        for stmt in body {
            stmt.walk_expressions(&mut |part| {
                if let ExprKind::Call(function, _) = &part.kind {
                    match &function.kind {
                        ExprKind::Name(own) if is_known_function(own) => {}
                        ExprKind::Name(own) if is_heap(own) && !self.own.contains(own) => {
                            memory = true;
                            if !lends {
                                found = Some(format!("it calls `{own}`"));
                            }
                        }
                        ExprKind::Name(own) => found = Some(format!("it calls `{own}`")),
                        _ => found = Some("it calls a function through a pointer".to_owned()),
                    }
                }
            });
        }
        if memory && lends {
            self.lent.push(self.current.clone());
        }
        let Some(reason) = found else { return Ok(()) };
        match self.obstacles.get(&self.current).filter(|_| memory && !lends) {
            Some((pointer, here)) => {
                let reason =
                    format!("it takes memory for `{pointer}`, which does more than hold numbers for a step");
                refuse(name, place, &reason, Some((here.clone(), "here")))
            }
            None => refuse(name, place, &reason, Some((head.clone(), "defined here"))),
        }
    }
}
