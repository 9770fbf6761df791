//! Statements and locals, and the program made of them.

use super::names::Symbol;
use super::{
    FieldDeclaration, LetDefinition, LoweredStatement, Lowering, MOST_PROGRAM_NODES, MOST_STATEMENT_NODES,
    SeriesDeclaration,
};
use crate::ast::{Domain, Expr, ExprKind, Name, Stencil};
use crate::diagnostic::{Code, Diagnostic};
use crate::draft::{Draft, DraftField, DraftSeries, DraftStatement};
use crate::program::{self, FieldId, Local, LocalId, Program};
use crate::source::{SourceFile, Span};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn local_definition(&mut self, item: usize, name: &Name, value: &Expr) {
        self.used_lets.clear();
        self.current_statement = None;
        let value = self.value(value);
        let element = self.default_type();
        let value = value.map(|value| if value.weak { self.with_type(value, element) } else { value.expr });
        // A second one of the same name is dropped.
        if self.let_numbers.contains_key(&item) {
            let uses = std::mem::take(&mut self.used_lets);
            let size = value.as_ref().map_or(0, program::Expr::size);
            self.lets.push(LetDefinition { name: name.text.clone(), value, uses, size });
        }
    }

    pub(super) fn statement(&mut self, target: &Expr, value: &Expr, domain: Option<&Domain>, span: &Span) {
        let number = self.passed;
        self.used_lets.clear();
        self.current_statement = Some(number);
        let target_span = target.span.clone();
        let target = self.target(target, domain.is_some());
        let value = self.value(value);
        let domain_span = domain.map_or(span, |domain| &domain.span).clone();
        let domain = domain.map_or_else(Vec::new, |domain| self.domain(domain));
        self.passed += 1;
        let Some(field) = target else { return };
        self.computed.insert(field.0);
        if self.too_many(number, "statements", span) {
            return;
        }
        let (Some(element), Some(value)) = (self.element(field), value) else { return };
        let value = self.with_type(value, element);
        let uses = std::mem::take(&mut self.used_lets);
        let span = span.clone();
        let target = field;
        self.statements.push(LoweredStatement {
            target,
            value,
            uses,
            domain,
            domain_span,
            target_span,
            span,
        });
    }

    /// The field that a statement computes.
    fn target(&mut self, target: &Expr, bounded: bool) -> Option<FieldId> {
        let span = target.span.clone();
        let (name, indices) = match &target.kind {
            ExprKind::Error => return None,
            ExprKind::Access(name, indices) => (name.clone(), Some(indices)),
            ExprKind::Name(name) => (Name { text: name.clone(), span: span.clone() }, None),
            _ => {
                let message = "only a field can be assigned";
                self.report(Diagnostic::error(Code::TARGET_FORM, span, message));
                return None;
            }
        };
        let next = format!("{}+1", self.time);
        let field = match self.names.get(&name.text) {
            Some(Symbol::Field(field)) => field,
            Some(symbol) => {
                let message = format!("`{}` is {} and cannot be assigned", name.text, symbol.describe());
                let mut diagnostic = Diagnostic::error(Code::NOT_ASSIGNABLE, span, message)
                    .related(self.names.span(&name.text), "declared here");
                if matches!(symbol, Symbol::Let(_)) {
                    diagnostic = diagnostic.hint("a local has one value; give the new value another name");
                }
                self.report(diagnostic);
                return None;
            }
            None => {
                let hint = self.names.suggest(&name.text, |symbol| matches!(symbol, Symbol::Field(_)));
                let other = if indices.is_some() {
                    format!("declare it: `field {}: f32;`", name.text)
                } else {
                    format!("define a local with `let {} = ...;`", name.text)
                };
                self.unknown(&name.text, &name.span, hint.or(Some(other)));
                return None;
            }
        };
        let wanted = self.point(field, Some(&next));
        if !self.is_state(field) {
            let message = format!("`{}` is a coefficient and cannot be assigned", name.text);
            self.report(
                Diagnostic::error(Code::NOT_ASSIGNABLE, span, message)
                    .related(self.names.span(&name.text), "declared here")
                    .hint(format!(
                        "declare it with `field` if it changes over time: `field {}: f32;`",
                        name.text
                    )),
            );
            return None;
        }
        let Some(indices) = indices else {
            let message = format!("the field `{}` is assigned without indices", name.text);
            self.report(
                Diagnostic::error(Code::TARGET_FORM, span, message).hint(format!("write `{wanted} = ...`")),
            );
            return None;
        };
        let (time, offset) = self.indices(field, &name, indices, &span)?;
        if time != 1 || offset.iter().any(|&offset| offset != 0) {
            let message = if time != 1 {
                format!("a statement computes the time level `{next}`")
            } else {
                "a statement computes the present point, without offsets".to_string()
            };
            let diagnostic = Diagnostic::error(Code::TARGET_FORM, span, message);
            self.report(diagnostic.hint(format!("write `{wanted} = ...`")));
            return None;
        }
        // Statements with domains are compared when all of them are known.
        let first = self.writers.get(&field.0).cloned();
        let first =
            first.filter(|(first, _, other)| Some(*first) != self.current_statement && !other && !bounded);
        if let Some((_, first, _)) = first {
            let message = format!("the field `{}` is assigned twice", name.text);
            self.report(
                Diagnostic::error(Code::ASSIGNED_TWICE, span, message)
                    .label("assigned again")
                    .related(first, "first assigned here")
                    .note("each point of a field is computed by one statement")
                    .hint("combine the two, or use a second field for the intermediate values")
                    .hint(
                        "or give them domains without common points, such as `for i == 0` and `for 1 <= i`",
                    ),
            );
        }
        Some(field)
    }

    /// The program, if nothing is wrong.
    pub(super) fn finish(mut self, stencil: &Stencil, source: &Arc<SourceFile>) -> Option<Program> {
        if !self.incomplete {
            self.check_written(stencil);
        }
        let clean = self.diagnostics.is_empty();
        let lowered = std::mem::take(&mut self.statements);
        let mut statements = Vec::with_capacity(lowered.len());
        let mut nodes = 0;
        for statement in lowered {
            let statement = self.assemble(statement)?;
            nodes += statement.value.size();
            nodes += statement.locals.iter().map(|local| local.value.size()).sum::<usize>();
            if nodes > MOST_PROGRAM_NODES {
                self.too_large(statement.span.clone(), "the statements of the program", MOST_PROGRAM_NODES);
                return None;
            }
            statements.push(statement);
        }
        if !clean || !self.diagnostics.is_empty() {
            return None;
        }
        let fields = self.fields.into_iter().map(|field| {
            let FieldDeclaration { name, element, state, slots, span } = field;
            Some(DraftField { name, element: element?, state, slots, span })
        });
        let series = self.series.into_iter().map(|series| {
            let SeriesDeclaration { name, element, span } = series;
            Some(DraftSeries { name, element: element?, span })
        });
        let draft = Draft {
            name: stencil.name.text.clone(),
            description: stencil.description.clone(),
            time_index: self.time,
            space_indices: self.space,
            fields: fields.collect::<Option<_>>()?,
            series: series.collect::<Option<_>>()?,
            parameters: self.parameters,
            statements,
            boundary: self.boundary,
            periodic: self.periodic,
        };
        draft.check(source, self.diagnostics)
    }

    fn check_written(&mut self, stencil: &Stencil) {
        if self.writers.is_empty() && !self.fields.iter().any(|field| field.state) {
            let message = format!("the stencil `{}` computes nothing", stencil.name.text);
            let indices: Vec<&str> = self.space.iter().map(String::as_str).collect();
            let example = format!("u[{}+1, {}] = ...;", self.time, indices.join(", "));
            self.report(
                Diagnostic::error(Code::NO_STATEMENT, stencil.name.span.clone(), message)
                    .hint(format!("declare a field `field u: f32;` and add a statement `{example}`")),
            );
        }
        for number in 0..self.fields.len() {
            let field = FieldId(number);
            if !self.is_state(field) || self.writers.contains_key(&number) {
                continue;
            }
            let next = format!("{}+1", self.time);
            let point = self.point(field, Some(&next));
            let FieldDeclaration { name, span, .. } = &self.fields[number];
            let diagnostic = Diagnostic::error(
                Code::NEVER_WRITTEN,
                span.clone(),
                format!("no statement computes the field `{name}`"),
            )
            .hint(format!("add a statement `{point} = ...;`"))
            .hint(format!("or declare it as `coefficient {name}` if it does not change over time"));
            self.report(diagnostic);
        }
    }

    fn too_large(&mut self, span: Span, what: &str, most: usize) {
        let message =
            format!("{what}, with the locals they use, have more than {most} operands and operators");
        self.report(
            Diagnostic::limitation(Code::EXPRESSION_TOO_LARGE, span, message)
                .note("a local is evaluated again in each statement that uses it"),
        );
    }

    /// Collects the locals that a statement uses.
    fn assemble(&mut self, lowered: LoweredStatement) -> Option<DraftStatement> {
        let mut wanted: Vec<usize> = lowered.uses.clone();
        let mut used = BTreeSet::new();
        let mut nodes = lowered.value.size();
        while let Some(number) = wanted.pop() {
            if used.insert(number) {
                nodes += self.lets[number].size;
                wanted.extend(&self.lets[number].uses);
            }
        }
        if nodes > MOST_STATEMENT_NODES {
            self.too_large(lowered.span, "the operations of this statement", MOST_STATEMENT_NODES);
            return None;
        }
        let position: HashMap<usize, usize> =
            used.iter().enumerate().map(|(position, &number)| (number, position)).collect();
        let renumber = |expr: &mut program::Expr| {
            expr.walk_mut(|expr| {
                if let program::ExprKind::Local(LocalId(number)) = &mut expr.kind {
                    *number = position.get(number).copied().unwrap_or(0);
                }
            });
        };
        let mut locals = Vec::with_capacity(used.len());
        for &number in &used {
            let mut value = self.lets[number].value.clone()?;
            renumber(&mut value);
            locals.push(Local { name: self.lets[number].name.clone(), value });
        }
        let mut value = lowered.value.clone();
        renumber(&mut value);
        let LoweredStatement { target, domain, domain_span, target_span, span, .. } = lowered;
        Some(DraftStatement { target, locals, value, domain, domain_span, target_span, span })
    }
}
