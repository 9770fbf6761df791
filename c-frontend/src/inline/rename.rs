//! Names and what they stand for.

use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, UnaryOp, Variable};
pub(super) use crate::nest::is_pure_value as is_pure;
use crate::parse::WrittenOut;
use std::collections::HashMap;

/// Puts values in the place of names, and new names in that of local variables.
pub(super) struct Names<'a> {
    /// What names stand for here.
    pub values: HashMap<String, Expr>,
    /// The new name of a local variable; `None` keeps it.
    pub fresh: &'a mut dyn FnMut(&str, &CType) -> Option<String>,
    /// The names that stand for nothing else, so far.
    pub free: Vec<String>,
}

impl Names<'_> {
    /// Statements of one block; `None` where one of them is of another kind.
    pub fn statements(&mut self, list: &[Stmt]) -> Option<Vec<Stmt>> {
        let around = self.values.clone();
        let found = list.iter().map(|stmt| self.statement(stmt)).collect();
        self.values = around;
        found
    }

    fn statement(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let kind = match &stmt.kind {
            StmtKind::Block(list) => StmtKind::Block(self.statements(list)?),
            StmtKind::Declaration(list) => {
                let mut found = Vec::new();
                for variable in list {
                    let ctype = self.ctype(&variable.ctype);
                    let name = (self.fresh)(&variable.name, &ctype).unwrap_or_else(|| variable.name.clone());
                    let kind = ExprKind::Name(name.clone());
                    // It is in scope where its own value is computed: `double *p = malloc(n * sizeof *p);`.
                    self.values.insert(variable.name.clone(), Expr { kind, span: variable.span.clone() });
                    let value = variable.value.as_ref().map(|value| self.expression(value));
                    found.push(Variable { name, ctype, value, ..variable.clone() });
                }
                StmtKind::Declaration(found)
            }
            StmtKind::Expr(expr) => StmtKind::Expr(self.expression(expr)),
            StmtKind::For(source) => {
                let around = self.values.clone();
                let start = match &source.start {
                    Some(start) => Some(self.statement(start)?),
                    None => None,
                };
                let condition = source.condition.as_ref().map(|part| self.expression(part));
                let step = source.step.as_ref().map(|part| self.expression(part));
                let body = self.branch(&source.body)?;
                self.values = around;
                StmtKind::For(Box::new(ForLoop { start, condition, step, body, head: source.head.clone() }))
            }
            StmtKind::While(source) => {
                let mut source = source.clone();
                source.condition = self.expression(&source.condition);
                source.body = self.branch(&source.body)?;
                StmtKind::While(source)
            }
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.expression(condition);
                let then = Box::new(self.branch(then)?);
                let otherwise = match otherwise {
                    Some(otherwise) => Some(Box::new(self.branch(otherwise)?)),
                    None => None,
                };
                StmtKind::If(condition, then, otherwise)
            }
            StmtKind::Return(value) => StmtKind::Return(value.as_ref().map(|value| self.expression(value))),
            StmtKind::Empty => StmtKind::Empty,
            StmtKind::Other(kind, ..) if kind == "continue" => stmt.kind.clone(),
            _ => return None,
        };
        Some(Stmt { kind, span: stmt.span.clone() })
    }

    fn branch(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let around = self.values.clone();
        let found = self.statement(stmt);
        self.values = around;
        found
    }

    /// An expression.
    pub fn expression(&mut self, expr: &Expr) -> Expr {
        let mut found = expr.clone();
        found.walk_mut(&mut |part| {
            match &part.kind {
                ExprKind::Name(name) => match self.values.get(name) {
                    Some(value) => part.kind = value.kind.clone(),
                    None => self.free.push(name.clone()),
                },
                // `sizeof x` and the like are texts.
                ExprKind::Other(kind, text) => {
                    let mut new = text.clone();
                    for word in crate::preprocess::words(text) {
                        let Some(value) = self.values.get(word) else { continue };
                        let value = crate::text::c_text(value, &|_| None);
                        new = with_word(&new, word, &value);
                    }
                    part.kind = ExprKind::Other(kind.clone(), new);
                }
                _ => {}
            }
            simplify(part);
        });
        found
    }

    /// A type, in which extents are expressions.
    pub fn ctype(&mut self, ctype: &CType) -> CType {
        match ctype {
            CType::Pointer(inner) => CType::Pointer(Box::new(self.ctype(inner))),
            CType::Array(inner, extent) => {
                let extent = extent.as_ref().map(|extent| Box::new(self.expression(extent)));
                CType::Array(Box::new(self.ctype(inner)), extent)
            }
            other => other.clone(),
        }
    }
}

/// A text with each appearance of a word replaced.
fn with_word(text: &str, word: &str, by: &str) -> String {
    let inner = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut found = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, behind) = (&rest[..at], &rest[at + word.len()..]);
        found.push_str(before);
        let whole = !found.ends_with(inner) && !behind.starts_with(inner);
        found.push_str(if whole { by } else { word });
        rest = behind;
    }
    found + rest
}

/// `*&x` is `x`, `(&x)->m` is `x.m`, `(&a[i])[j]` is `a[i + j]`, and `(p + i)[j]` is `p[i + j]`.
pub(super) fn simplify(expr: &mut Expr) {
    let zero = |expr: &Expr| crate::integer::literal(expr) == Some(0);
    let span = expr.span.clone();
    let sum = |a: &Expr, b: &Expr| match (zero(a), zero(b)) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => {
            let kind = ExprKind::Binary(BinaryOp::Add, Box::new(a.clone()), Box::new(b.clone()));
            Expr { kind, span: span.clone() }
        }
    };
    let element = |array: &Expr, index: Expr| ExprKind::Index(Box::new(array.clone()), Box::new(index));
    let found = match &expr.kind {
        ExprKind::Unary(UnaryOp::Dereference, pointer) => match &pointer.kind {
            ExprKind::Unary(UnaryOp::Address, object) => Some(object.kind.clone()),
            _ => None,
        },
        ExprKind::Member(object, false, member) => match &object.kind {
            ExprKind::Unary(UnaryOp::Dereference, pointer) => {
                Some(ExprKind::Member(pointer.clone(), true, member.clone()))
            }
            _ => None,
        },
        ExprKind::Member(pointer, true, member) => match &pointer.kind {
            ExprKind::Unary(UnaryOp::Address, object) => {
                Some(ExprKind::Member(object.clone(), false, member.clone()))
            }
            _ => None,
        },
        ExprKind::Index(array, index) => match &array.kind {
            ExprKind::Unary(UnaryOp::Address, object) => match &object.kind {
                ExprKind::Index(inner, from) => Some(element(inner, sum(from, index))),
                _ if zero(index) => Some(object.kind.clone()),
                _ => None,
            },
            ExprKind::Binary(BinaryOp::Add, pointer, from) => Some(element(pointer, sum(from, index))),
            _ => None,
        },
        _ => None,
    };
    if let Some(kind) = found {
        expr.kind = kind;
    }
}

/// Whether statements assign a variable, count it, or take its address.
pub(super) fn assigns(list: &[Stmt], name: &str) -> bool {
    let mut found = false;
    for stmt in list {
        stmt.walk_expressions(&mut |part| {
            if let ExprKind::Assign(_, target, _)
            | ExprKind::Step(_, target)
            | ExprKind::Unary(UnaryOp::Address, target) = &part.kind
            {
                found |= matches!(&target.kind, ExprKind::Name(other) if other == name);
            }
        });
    }
    found
}

/// Whether statements assign a member of this name.
pub(super) fn assigns_member(list: &[Stmt], name: &str) -> bool {
    let mut found = false;
    for stmt in list {
        stmt.walk_expressions(&mut |part| {
            if let ExprKind::Assign(_, target, _)
            | ExprKind::Step(_, target)
            | ExprKind::Unary(UnaryOp::Address, target) = &part.kind
            {
                found |= matches!(&target.kind, ExprKind::Member(_, _, member) if member == name);
            }
        });
    }
    found
}

/// Whether a value reads elements or members.
pub(super) fn reads_memory(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        found |= matches!(
            part.kind,
            ExprKind::Index(..) | ExprKind::Member(..) | ExprKind::Unary(UnaryOp::Dereference, _)
        );
    });
    found
}

/// A block in which local pointers that always point to the same place, such as `double *row = &u[i * n]`, are written out, and
/// those pointers.
pub(super) fn pointers_written_out(list: Vec<Stmt>) -> (Vec<Stmt>, Vec<WrittenOut>) {
    let mut pointers = Vec::new();
    let mut found: Vec<Stmt> = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let first = rest.remove(0);
        let StmtKind::Declaration(variables) = &first.kind else {
            found.push(first);
            continue;
        };
        let mut kept = Vec::new();
        for variable in variables {
            match variable.value.as_ref().filter(|value| stays(variable, value, &rest)) {
                Some(value) => {
                    let values = HashMap::from([(variable.name.clone(), value.clone())]);
                    let mut names = Names { values, fresh: &mut |_, _| None, free: Vec::new() };
                    match names.statements(&rest) {
                        Some(list) => {
                            rest = list;
                            pointers.push(WrittenOut {
                                pointer: variable.clone(),
                                declaration: first.span.clone(),
                            });
                        }
                        None => kept.push(variable.clone()),
                    }
                }
                None => kept.push(variable.clone()),
            }
        }
        if !kept.is_empty() {
            found.push(Stmt { kind: StmtKind::Declaration(kept), span: first.span });
        }
    }
    (found, pointers)
}

/// Whether a pointer and all that its value is made of keep what they are in the rest of a block, and nothing there has
/// the name of a part of the value.
fn stays(variable: &Variable, value: &Expr, rest: &[Stmt]) -> bool {
    if !matches!(variable.ctype, CType::Pointer(_))
        || variable.ctype.is_watched()
        || !is_pure(value)
        || assigns(rest, &variable.name)
    {
        return false;
    }
    let mut declared = Vec::new();
    for stmt in rest {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Declaration(list) = &stmt.kind {
                declared.extend(list.iter().map(|variable| variable.name.clone()));
            }
        });
    }
    let mut stays = true;
    let mut taken: Vec<*const Expr> = Vec::new();
    value.walk(&mut |part| match &part.kind {
        ExprKind::Name(name) => stays &= !assigns(rest, name) && !declared.contains(name),
        ExprKind::Member(_, _, member) => stays &= !assigns_member(rest, member),
        // `&u[i]` reads no element.
        ExprKind::Unary(UnaryOp::Address, object) => taken.push(&raw const **object),
        ExprKind::Index(..) => stays &= taken.contains(&(&raw const *part)) || !assigns_pointer(rest, part),
        ExprKind::Unary(UnaryOp::Dereference, _)
        | ExprKind::Call(..)
        | ExprKind::Other(..)
        | ExprKind::List(..)
        | ExprKind::Cast(..)
        | ExprKind::Conditional(..) => stays = false,
        _ => {}
    });
    stays
}

/// Whether statements may assign the pointer that an element is, such as `u[i]` of `u[i][j]`: an element of the same array
/// with no more subscripts.
fn assigns_pointer(rest: &[Stmt], element: &Expr) -> bool {
    fn subscripts(expr: &Expr) -> (&Expr, usize) {
        match &expr.kind {
            ExprKind::Index(array, _) => {
                let (base, count) = subscripts(array);
                (base, count + 1)
            }
            _ => (expr, 0),
        }
    }
    let name = |expr: &Expr| crate::text::c_text(expr, &|_| None);
    let (base, count) = subscripts(element);
    let mut found = false;
    for stmt in rest {
        stmt.walk_expressions(&mut |part| {
            if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &part.kind {
                let (other, depth) = subscripts(target);
                found |= depth > 0 && depth <= count && name(other) == name(base);
            }
        });
    }
    found
}
