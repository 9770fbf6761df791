//! From the syntax tree to a checked program: names, types, and what cannot be done.

mod apply;
mod checker;
mod expression;
mod forms;
mod function;
mod library;

pub use forms::{is_ordered, is_stored};

use crate::ast::{self, ExprKind, ItemKind, Name, Pattern};
use crate::codes;
use crate::program::{Expr, Item, Kind, Literal, Program, Role, Scalar, Type, VarId};
use checker::{Binding, Checked, Checker, Reported, Scope};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::SourceFile;
use std::collections::HashMap;
use std::sync::Arc;

/// Most declarations and computations of a program.
const MOST_ITEMS: usize = 1_000;

/// Checks a program; the result is right only if no diagnostic was added.
pub fn check(
    written: &ast::Program,
    source: &Arc<SourceFile>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Program> {
    let mut program = Items {
        checker: Checker::new(diagnostics),
        outputs: Vec::new(),
        states: Vec::new(),
        loops: 0,
        heights: HashMap::new(),
    };
    let _ = program.checker.free_function(&written.name);
    let mut scope = Scope::default();
    let mut items = Vec::new();
    program.items(&written.items, &mut scope, &mut items);
    let asks = |item: &ast::Item| matches!(item.kind, ItemKind::Output(..));
    if !written.items.iter().any(asks) {
        let message = format!("the program `{}` has no output", written.name.text);
        let diagnostic = Diagnostic::error(codes::NO_OUTPUT, written.name.span.clone(), message);
        program.checker.report(diagnostic.hint("write `output y = ..;`"));
    }
    program.checker.forms(&items);
    let outputs = program.outputs;
    let variables = program.checker.variables;
    diagnostics.is_empty().then(|| Program {
        name: written.name.text.clone(),
        description: written.description.join(" "),
        source: Arc::clone(source),
        variables,
        items,
        outputs,
    })
}

struct Items<'a> {
    checker: Checker<'a>,
    outputs: Vec<VarId>,
    /// States whose rounds may change them.
    states: Vec<VarId>,
    loops: usize,
    /// How deep names of sequences are put into each other.
    heights: HashMap<VarId, usize>,
}

impl Items<'_> {
    fn items(&mut self, written: &[ast::Item], scope: &mut Scope, items: &mut Vec<Item>) {
        if written.len() > MOST_ITEMS {
            let message = format!("more than {MOST_ITEMS} declarations and computations");
            let diagnostic =
                Diagnostic::limitation(codes::TOO_LARGE, written[MOST_ITEMS].span.clone(), message);
            self.checker.report(diagnostic);
            return;
        }
        for item in written {
            // Uses of what could not be checked are not reported again.
            if self.item(item, scope, items).is_err() {
                for name in declared(&item.kind)
                    .into_iter()
                    .filter(|name| scope.find(&name.text).is_none())
                    .collect::<Vec<_>>()
                {
                    *scope = scope.with(&name.text, Binding::Wrong);
                }
            }
        }
    }

    fn fresh(&mut self, name: &Name, scope: &Scope) -> Checked<()> {
        self.checker.free(name)?;
        let Some(binding) = scope.find(&name.text) else { return Ok(()) };
        let first = match binding {
            Binding::Variable(variable) => self.checker.variables[variable].span.clone(),
            Binding::Function(defined) => defined.span.clone(),
            Binding::Wrong => return Ok(()),
        };
        let message = format!("`{}` is declared twice", name.text);
        let diagnostic = Diagnostic::error(codes::DUPLICATE_NAME, name.span.clone(), message);
        Err(self
            .checker
            .report(diagnostic.related(first, "declared here before").hint("choose another name")))
    }

    fn only_outside(&mut self, item: &ast::Item, what: &str) -> Checked<()> {
        if self.loops == 0 {
            return Ok(());
        }
        let message = format!("{what} inside of `repeat`");
        self.checker.error(codes::OUTSIDE_REPEAT, &item.span, message, "put it before or behind the loop")
    }

    fn named(&mut self, name: &Name, ty: Type, role: Role, scope: &mut Scope) -> VarId {
        let variable = self.checker.declare(&name.text, ty, &name.span, role);
        *scope = scope.with(&name.text, Binding::Variable(variable));
        variable
    }

    fn item(&mut self, item: &ast::Item, scope: &mut Scope, items: &mut Vec<Item>) -> Checked<()> {
        match &item.kind {
            ItemKind::Input(name, ty) => {
                self.only_outside(item, "an input")?;
                self.fresh(name, scope)?;
                let found = self.checker.type_of(ty)?;
                let flat = |ty: &Type| matches!(ty, Type::Scalar(_) | Type::Vector(..));
                if !(flat(&found) || found.element().is_some_and(flat)) {
                    let message = format!("an input of type {found}");
                    let diagnostic = Diagnostic::limitation(codes::STORED_FORM, ty.span(), message);
                    let hint = match found {
                        Type::Sequence(_) => {
                            "take flat sequences, and make rows with `nest` or `split`, tuples with `zip`"
                        }
                        _ => "take each component by itself",
                    };
                    return Err(self.checker.report(
                        diagnostic.note("inputs are numbers, vectors, and sequences of these").hint(hint),
                    ));
                }
                self.named(name, found, Role::Input, scope);
            }
            ItemKind::Param(name, ty, value) => {
                self.only_outside(item, "a parameter")?;
                self.fresh(name, scope)?;
                let found = self.checker.type_of(ty)?;
                if found.scalar().is_none() {
                    let hint = "sequences and vectors are declared with `input`";
                    return self.checker.error(
                        codes::NOT_CONSTANT,
                        &ty.span(),
                        "a parameter is a number or truth value",
                        hint,
                    );
                }
                let default = self.constant(value, &found)?;
                self.named(name, found, Role::Param(default), scope);
            }
            ItemKind::Table(name, ty, values) => {
                self.only_outside(item, "a table")?;
                self.fresh(name, scope)?;
                let found = self.checker.type_of(ty)?;
                let Some(element) = found.element().filter(|element| element.scalar().is_some()).cloned()
                else {
                    let hint = "such as `table weights: [f64] = [0.5, 0.25];`";
                    return self.checker.error(
                        codes::NOT_CONSTANT,
                        &ty.span(),
                        "a table is a sequence of numbers",
                        hint,
                    );
                };
                if values.is_empty() {
                    return self.checker.error(
                        codes::NOT_CONSTANT,
                        &item.span,
                        "a table has a number at least",
                        "",
                    );
                }
                let mut literals = Vec::new();
                for value in values {
                    literals.push(self.constant(value, &element)?);
                }
                self.named(name, found, Role::Table(literals), scope);
            }
            ItemKind::Let(Pattern::Name(name), value) if matches!(value.kind, ExprKind::Function { .. }) => {
                self.fresh(name, scope)?;
                let defined = self.checker.define(value, scope)?;
                *scope = scope.with(&name.text, Binding::Function(defined));
            }
            ItemKind::Let(pattern, value) => {
                if let Pattern::Name(name) = pattern {
                    self.fresh(name, scope)?;
                }
                let value = self.checker.expr(value, scope)?;
                let variable = self.checker.declare("part", value.ty.clone(), &pattern.span(), Role::Local);
                let (with, lets) = self.checker.bind(pattern, variable, scope)?;
                *scope = with;
                self.let_item(variable, value, items);
                for (variable, value) in lets {
                    self.let_item(variable, value, items);
                }
            }
            ItemKind::Compute(name, value) => {
                self.fresh(name, scope)?;
                let value = self.checker.expr(value, scope)?;
                let variable = self.named(name, value.ty.clone(), Role::Computed, scope);
                items.push(Item::Compute(variable, value));
            }
            ItemKind::Output(name, value) => {
                self.only_outside(item, "an output")?;
                let variable = match value {
                    Some(value) => {
                        self.fresh(name, scope)?;
                        let value = self.checker.expr(value, scope)?;
                        let variable = self.named(name, value.ty.clone(), Role::Computed, scope);
                        items.push(Item::Compute(variable, value));
                        variable
                    }
                    None => match self.checker.look_up(&name.text, &name.span, scope)? {
                        Binding::Variable(variable)
                            if matches!(
                                self.checker.variables[variable].role,
                                Role::Computed | Role::State
                            ) && !self.outputs.contains(&variable) =>
                        {
                            variable
                        }
                        _ => {
                            let message = format!("`{}` cannot be handed out", name.text);
                            let hint = "outputs are what `compute` or `state` declares, each once; write `output y = ..;`";
                            return self.checker.error(codes::ASSIGNMENT, &name.span, message, hint);
                        }
                    },
                };
                self.outputs.push(variable);
            }
            ItemKind::State(name, value) => {
                self.only_outside(item, "a state")?;
                self.fresh(name, scope)?;
                let value = self.checker.expr(value, scope)?;
                let variable = self.named(name, value.ty.clone(), Role::State, scope);
                self.states.push(variable);
                items.push(Item::Compute(variable, value));
            }
            ItemKind::Assign(name, value) => {
                let Binding::Variable(variable) = self.checker.look_up(&name.text, &name.span, scope)? else {
                    return self.not_a_state(name);
                };
                if !self.states.contains(&variable) {
                    return self.not_a_state(name);
                }
                if self.loops == 0 {
                    let hint = "states change inside of `repeat`; name another value with `compute`";
                    return self.checker.error(
                        codes::OUTSIDE_REPEAT,
                        &item.span,
                        "a state is changed outside of `repeat`",
                        hint,
                    );
                }
                let ty = self.checker.variables[variable].ty.clone();
                let value = self.checker.expr_of(value, &ty, &format!("`{}`", name.text), scope)?;
                items.push(Item::Assign(variable, value));
            }
            ItemKind::Repeat { times, items: written, until, .. } => {
                if self.loops > 0 {
                    let diagnostic = Diagnostic::limitation(
                        codes::REPEAT_FORM,
                        item.span.clone(),
                        "a `repeat` inside of a `repeat`",
                    );
                    return Err(self
                        .checker
                        .report(diagnostic.hint("a loop over elements is a `map` or `reduce`")));
                }
                let times = self.checker.index(times, scope)?;
                let mut inner_scope = scope.clone();
                let mut inner = Vec::new();
                self.loops += 1;
                self.items(written, &mut inner_scope, &mut inner);
                let until = until.as_ref().map(|until| {
                    self.checker.expr_of(until, &Type::Scalar(Scalar::Bool), "a condition", &inner_scope)
                });
                self.loops -= 1;
                let until = until.transpose()?;
                items.push(Item::Repeat { times, items: inner, until });
            }
        }
        Ok(())
    }

    /// A name for a value: sequences stay what they are, numbers are computed once.
    fn let_item(&mut self, variable: VarId, value: Expr, items: &mut Vec<Item>) {
        if value.ty.has_sequence() {
            let mut height = 0;
            value.walk(false, &mut |part, _| {
                if let Kind::Variable(used) = part.kind {
                    height = height.max(self.heights.get(&used).map_or(0, |height| height + 1));
                }
            });
            self.heights.insert(variable, height);
            if Checker::is_too_deep(height) {
                let _ = self.checker.too_deep::<()>(&value.span);
            }
            items.push(Item::Let(variable, value));
        } else {
            self.checker.variables[variable].role = Role::Computed;
            items.push(Item::Compute(variable, value));
        }
    }

    fn not_a_state<T>(&mut self, name: &Name) -> Checked<T> {
        let message = format!("`{}` is no state", name.text);
        let hint =
            "what changes is declared with `state` before `repeat`; a new name takes `compute` or `let`";
        self.checker.error(codes::ASSIGNMENT, &name.span, message, hint)
    }

    /// A number of the text.
    fn constant(&mut self, value: &ast::Expr, ty: &Type) -> Checked<Literal> {
        let what = "this constant";
        if !matches!(value.kind, ExprKind::Integer(_) | ExprKind::Float(_) | ExprKind::Bool(_)) {
            let hint = "write a number; what is computed is named by `let`";
            return self.checker.error(
                codes::NOT_CONSTANT,
                &value.span,
                "this is no number or truth value",
                hint,
            );
        }
        match self.checker.expr_of(value, ty, what, &Scope::default())?.kind {
            Kind::Literal(literal) => Ok(literal),
            _ => Err(Reported),
        }
    }
}

/// The names that an item declares.
fn declared(item: &ItemKind) -> Vec<&Name> {
    fn of(pattern: &Pattern) -> Vec<&Name> {
        match pattern {
            Pattern::Name(name) => vec![name],
            Pattern::Tuple(parts, _) => parts.iter().flat_map(of).collect(),
        }
    }
    match item {
        ItemKind::Input(name, _) | ItemKind::Param(name, ..) | ItemKind::Table(name, ..) => vec![name],
        ItemKind::Compute(name, _) | ItemKind::State(name, _) | ItemKind::Output(name, Some(_)) => vec![name],
        ItemKind::Let(pattern, _) => of(pattern),
        ItemKind::Output(..) | ItemKind::Assign(..) | ItemKind::Repeat { .. } => Vec::new(),
    }
}
