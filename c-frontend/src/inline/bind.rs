//! A function's body with the arguments of a call in the place of its parameters.

use super::inliner::{Inliner, refuse};
use super::rename::{Names, assigns, assigns_member, is_pure, reads_memory};
use super::{exits, had};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp, Variable};
use crate::nest::Result;
use crate::parse::Function;
use crate::text::{c_text, type_text};
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};

impl Inliner<'_> {
    /// A call as a statement, whose value goes to a variable, or is not used.
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: Vec<Expr>,
        place: &Span,
        target: Option<&Expr>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let function = self.function(name, arguments.len(), place)?;
        let (head, returns) = (function.head.clone(), function.returns.clone());
        let pointer = matches!(returns, CType::Pointer(_)) && target.is_some();
        if target.is_some() && !pointer && !is_scalar(&returns) {
            return refuse(name, place, "its value is no number", Some((head, "defined here")));
        }
        let mut list = Vec::new();
        let mut body = self.body(function, arguments, place, &mut list)?;
        if let Some(target) = target.filter(|_| pointer) {
            match self.pointed(body, &list, target) {
                Some(found) => body = self.without_memory(found),
                None => {
                    let reason = "its value is a pointer to something else than memory that it takes";
                    return refuse(name, place, reason, Some((head, "defined here")));
                }
            }
        }
        self.check_effects(name, &body, place, &head)?;
        let replaced = |stmt: &Stmt| {
            let (StmtKind::Return(Some(value)), Some(target)) = (&stmt.kind, target) else { return None };
            let cast = ExprKind::Cast(returns.clone(), Box::new(value.clone()));
            let value = Expr { kind: cast, span: value.span.clone() };
            let kind = ExprKind::Assign(None, Box::new(target.clone()), Box::new(value));
            Some(Stmt {
                kind: StmtKind::Expr(Expr { kind, span: stmt.span.clone() }),
                span: stmt.span.clone(),
            })
        };
        match exits::without_returns(body, &replaced) {
            Ok(body) => list.extend(body),
            Err(span) => {
                return refuse(
                    name,
                    place,
                    "it returns from the middle of a loop or block",
                    Some((span, "here")),
                );
            }
        }
        out.push(Stmt { kind: StmtKind::Block(list), span: place.clone() });
        Ok(())
    }

    /// What a function does for some arguments, without calls of the program's functions and without questions whether memory
    /// could be had.
    pub(super) fn body(
        &mut self,
        function: Function,
        arguments: Vec<Expr>,
        place: &Span,
        before: &mut Vec<Stmt>,
    ) -> Result<Vec<Stmt>> {
        let name = function.name.clone();
        let body = self.bound(function, arguments, place, before)?;
        self.note_values(&body);
        self.around.push(name);
        let body = self.block(body);
        self.around.pop();
        let own = &self.own;
        let body = had::answered(body?, &|name| own.contains(name));
        Ok(self.without_memory(body))
    }

    /// A function's body whose value, a pointer, goes to a variable or a row; a local variable that is returned becomes what it
    /// goes to.
    fn pointed(&mut self, mut body: Vec<Stmt>, before: &[Stmt], target: &Expr) -> Option<Vec<Stmt>> {
        let last = body.pop()?;
        let StmtKind::Return(Some(value)) = last.kind else { return None };
        let mut value = &value;
        while let ExprKind::Cast(CType::Pointer(_), inner) = &value.kind {
            value = inner;
        }
        let mut known = HashSet::new();
        target.walk(&mut |part| {
            if let ExprKind::Name(name) = &part.kind {
                known.insert(name.clone());
            }
        });
        let mut free = true;
        for stmt in before.iter().chain(&body) {
            stmt.walk_expressions(&mut |part| {
                free &= match &part.kind {
                    ExprKind::Name(name) => !known.contains(name),
                    ExprKind::Other(kind, text) => {
                        let words = crate::preprocess::words(text);
                        kind == "sizeof expression" || known.iter().all(|name| !words.contains(name.as_str()))
                    }
                    _ => true,
                };
            });
        }
        if let ExprKind::Name(local) = &value.kind
            && free
            && let Some(body) = without_declaration(&body, local)
        {
            let values = HashMap::from([(local.clone(), target.clone())]);
            let mut names = Names { values, fresh: &mut |_, _| None, free: Vec::new() };
            return names.statements(&body);
        }
        let assigned = ExprKind::Assign(None, Box::new(target.clone()), Box::new(value.clone()));
        let expr = Expr { kind: assigned, span: value.span.clone() };
        body.push(Stmt { kind: StmtKind::Expr(expr), span: last.span });
        Some(body)
    }

    /// A function's body for some arguments; variables that hold arguments are declared in `before`.
    pub(super) fn bound(
        &mut self,
        function: Function,
        arguments: Vec<Expr>,
        place: &Span,
        before: &mut Vec<Stmt>,
    ) -> Result<Vec<Stmt>> {
        let Function { name, parameters, body, globals, shared, head, .. } = function;
        let here = || Some((head.clone(), "defined here"));
        let writes_arrays = body.iter().any(|stmt| !crate::nest::assigned(stmt).0.is_empty());
        let reached = reached_through(&parameters, &arguments, &body);
        let mut values: HashMap<String, Expr> = HashMap::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let own = &parameter.name;
            let set = assigns(&body, own);
            // What the argument says must be true until the function ends.
            let changed = || {
                let mut found = false;
                argument.walk(&mut |part| {
                    if let ExprKind::Name(other) = &part.kind {
                        let global = globals.contains_key(other);
                        found |= (global && assigns(&body, other)) || reached.contains(other);
                    }
                    // Elements that are numbers do not reach into pointers: the rewritten program makes sure of that.
                    if let ExprKind::Member(_, _, member) = &part.kind {
                        found |= assigns_member(&body, member);
                    }
                });
                let number = is_scalar(&parameter.ctype);
                found || (number && writes_arrays && reads_memory(&argument))
            };
            if is_scalar(&parameter.ctype) {
                if !set && is_pure(&argument) && !changed() {
                    let same = self.scalar_type(&argument).is_some_and(|other| other == parameter.ctype);
                    let value = match same {
                        true => argument,
                        false => {
                            let span = argument.span.clone();
                            Expr { kind: ExprKind::Cast(parameter.ctype.clone(), Box::new(argument)), span }
                        }
                    };
                    values.insert(own.clone(), value);
                } else {
                    let fresh = self.fresh(own);
                    self.declared.insert(fresh.clone(), parameter.ctype.clone());
                    before.push(declaration(&fresh, parameter.ctype.clone(), Some(argument), place));
                    values.insert(
                        own.clone(),
                        Expr { kind: ExprKind::Name(fresh), span: parameter.span.clone() },
                    );
                }
                continue;
            }
            if takes_size(&body, own) {
                let reason =
                    format!("it takes the size of its parameter `{own}`, which is that of a pointer");
                return refuse(&name, place, &reason, here());
            }
            if set {
                return refuse(
                    &name,
                    place,
                    &format!("it changes its parameter `{own}`, a copy of a pointer"),
                    here(),
                );
            }
            if !is_pure(&argument) || (!is_address(&argument) && changed()) {
                let reason = format!("the argument for `{own}` is changed during the call");
                return refuse(&name, place, &reason, here());
            }
            values.insert(own.clone(), argument);
        }
        // Types of parameters may name other parameters: `double u[n][n]`.
        for parameter in parameters.iter().filter(|parameter| !is_scalar(&parameter.ctype)) {
            let mut names = Names { values: values.clone(), fresh: &mut |_, _| None, free: Vec::new() };
            let wanted = names.ctype(&parameter.ctype);
            let Some(argument) = values.get(&parameter.name) else { continue };
            if let Some(found) = self.pointer_type(argument)
                && shape(&found) != shape(&wanted)
            {
                let reason = format!(
                    "`{}` is a `{}` there, and a `{}` here",
                    parameter.name,
                    type_text(&wanted),
                    type_text(&found)
                );
                return refuse(&name, place, &reason, here());
            }
        }
        let mut declared = Vec::new();
        let mut fresh = |like: &str, ctype: &CType| {
            let name = self.fresh(like);
            declared.push((name.clone(), ctype.clone()));
            Some(name)
        };
        let mut names = Names { values, fresh: &mut fresh, free: Vec::new() };
        let found = names.statements(&body);
        let free = std::mem::take(&mut names.free);
        let Some(found) = found else {
            let reason = match left_early(&body) {
                Some(how) => format!("`{how}` leaves a loop in it"),
                None => "it does more than loops, assignments and conditions".to_owned(),
            };
            return refuse(&name, place, &reason, here());
        };
        self.declared.extend(declared);
        for free in free {
            let Some(global) = globals.get(&free) else { continue };
            let known = self.variables.get(&free);
            let seen = known.is_some_and(|variable| variable.span == global.span);
            // A function is the same wherever it is declared: two of one name are refused where they are called.
            let is_function = |variable: &Variable| variable.ctype == CType::Other("function".to_owned());
            let function = is_function(global) && known.is_none_or(is_function);
            // One of another source that this file declares, too, without `static`: both are the same.
            let exported = shared.contains(&free)
                && self.file.exports(&free)
                && known.is_some_and(|variable| variable.global)
                && !self.hides(&free);
            let same = exported
                && known.is_some_and(|variable| {
                    numbers(&global.ctype) && type_text(&variable.ctype) == type_text(&global.ctype)
                });
            if !(seen || function || same) || self.hides(&free) {
                let reason = match known.is_some() || self.hides(&free) {
                    _ if exported && !numbers(&global.ctype) => {
                        format!(
                            "the variable `{free}` that it uses is one of another source, and not of numbers"
                        )
                    }
                    _ if exported => {
                        format!("the variable `{free}` that it uses has another type in its own source")
                    }
                    true => format!("the variable `{free}` that it uses is another one where it is called"),
                    false => format!("the variable `{free}` that it uses is one of another source"),
                };
                return refuse(&name, place, &reason, Some((global.span.clone(), "this one")));
            }
        }
        Ok(found)
    }

    /// Whether the region declares a variable that hides one of the file.
    fn hides(&self, name: &str) -> bool {
        self.declared.contains_key(name)
    }

    fn ctype(&self, name: &str) -> Option<&CType> {
        self.declared.get(name).or_else(|| self.variables.get(name).map(|variable| &variable.ctype))
    }

    /// The type of a plain variable or literal.
    fn scalar_type(&self, expr: &Expr) -> Option<CType> {
        match &expr.kind {
            ExprKind::Name(name) => self.ctype(name).cloned(),
            ExprKind::Cast(ctype, _) => Some(ctype.clone()),
            ExprKind::Floating { kind, .. } => Some(CType::Floating(*kind)),
            ExprKind::Integer { text, .. } if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(CType::Integer { name: "int".to_owned(), unsigned: false })
            }
            _ => None,
        }
    }

    /// The type of a pointer or array that is a variable, or a row of one.
    pub(super) fn pointer_type(&self, expr: &Expr) -> Option<CType> {
        match &expr.kind {
            ExprKind::Name(name) => self.ctype(name).cloned(),
            ExprKind::Index(array, _) => match self.pointer_type(array)? {
                CType::Pointer(inner) | CType::Array(inner, _) => Some(*inner),
                _ => None,
            },
            ExprKind::Unary(UnaryOp::Address, inner) => {
                Some(CType::Pointer(Box::new(self.pointer_type(inner)?)))
            }
            _ => None,
        }
    }
}

/// Whether a type is that of a number, or of an array of numbers or a pointer to some.
fn numbers(ctype: &CType) -> bool {
    matches!(ctype.element(), CType::Integer { .. } | CType::Floating(_))
}

/// The variables whose addresses are arguments for parameters through which the function assigns: `*p = ..`.
fn reached_through(parameters: &[Variable], arguments: &[Expr], body: &[Stmt]) -> HashSet<String> {
    let mut found = HashSet::new();
    for (parameter, argument) in parameters.iter().zip(arguments) {
        let ExprKind::Unary(UnaryOp::Address, object) = &argument.kind else { continue };
        let mut assigned = false;
        for stmt in body {
            stmt.walk_expressions(&mut |part| {
                if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &part.kind {
                    assigned |= match &target.kind {
                        ExprKind::Unary(UnaryOp::Dereference, pointer) => {
                            matches!(&pointer.kind, ExprKind::Name(name) if *name == parameter.name)
                        }
                        _ => false,
                    };
                }
            });
        }
        if assigned {
            object.walk(&mut |part| {
                if let ExprKind::Name(name) = &part.kind {
                    found.insert(name.clone());
                }
            });
        }
    }
    found
}

/// A type of numbers.
pub(super) fn is_scalar(ctype: &CType) -> bool {
    matches!(ctype, CType::Integer { .. } | CType::Floating(_))
}

/// Whether a value is the address of a variable or of a member of one, which stays the same whatever that holds.
fn is_address(expr: &Expr) -> bool {
    let ExprKind::Unary(UnaryOp::Address, inner) = &expr.kind else { return false };
    let mut at = &**inner;
    while let ExprKind::Member(object, false, _) = &at.kind {
        at = object;
    }
    matches!(at.kind, ExprKind::Name(_))
}

/// What is reached through a pointer or an array, with extents as C text.
fn shape(ctype: &CType) -> String {
    fn text(ctype: &CType) -> String {
        match ctype {
            CType::Array(inner, extent) => {
                let extent = extent.as_ref().map(|extent| match crate::integer::literal(extent) {
                    Some(value) => value.to_string(),
                    None => c_text(extent, &|_| None),
                });
                format!("[{}]{}", extent.unwrap_or_default(), text(inner))
            }
            CType::Pointer(inner) => format!("*{}", text(inner)),
            other => type_text(other),
        }
    }
    match ctype {
        CType::Pointer(inner) | CType::Array(inner, _) => text(inner),
        other => text(other),
    }
}

/// The declaration of a variable.
pub(super) fn declaration(name: &str, ctype: CType, value: Option<Expr>, span: &Span) -> Stmt {
    let variable =
        Variable { name: name.to_owned(), ctype, value, span: span.clone(), global: false, constant: false };
    Stmt { kind: StmtKind::Declaration(vec![variable]), span: span.clone() }
}

/// A block in which a variable is assigned the value that it is declared with, and declared elsewhere.
fn without_declaration(list: &[Stmt], name: &str) -> Option<Vec<Stmt>> {
    let mut found = Vec::new();
    let mut declared = false;
    for stmt in list {
        let StmtKind::Declaration(own) = &stmt.kind else {
            found.push(stmt.clone());
            continue;
        };
        for one in own {
            let kind = if one.name == name {
                declared = true;
                let Some(value) = &one.value else { continue };
                let target = Expr { kind: ExprKind::Name(name.to_owned()), span: one.span.clone() };
                let kind = ExprKind::Assign(None, Box::new(target), Box::new(value.clone()));
                StmtKind::Expr(Expr { kind, span: value.span.clone() })
            } else {
                StmtKind::Declaration(vec![one.clone()])
            };
            found.push(Stmt { kind, span: stmt.span.clone() });
        }
    }
    declared.then_some(found)
}

/// Whether statements ask for the size of what has a name.
fn takes_size(list: &[Stmt], name: &str) -> bool {
    let mut found = false;
    for stmt in list {
        stmt.walk_expressions(&mut |part| found |= super::sizes::size_of(part).is_some_and(|of| of == name));
    }
    found
}

/// The word by which statements leave a loop among them.
fn left_early(body: &[Stmt]) -> Option<&str> {
    let mut found = None;
    for stmt in body {
        stmt.walk(&mut |part| {
            if let StmtKind::Other(kind, _) = &part.kind
                && ["break", "goto"].contains(&kind.as_str())
            {
                found.get_or_insert(kind.as_str());
            }
        });
    }
    found
}
