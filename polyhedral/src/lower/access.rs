//! Accesses `u[t, i-1, j+1]`: from index expressions to a time level and offsets.

use super::Lowering;
use super::expression::Value;
use super::names::Symbol;
use crate::ast::{self, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Access, Expr, ExprKind, FieldId, SeriesId};
use crate::source::Span;

/// Largest offset in space.
pub const MOST_OFFSET: i64 = 64;
/// Oldest time level that may be read is `t - 7`.
pub const OLDEST_LEVEL: i64 = -7;

/// Index expressions of trees up to this height are understood well enough to suggest the right one.
pub const MOST_INDEX_HEIGHT: usize = 16;

/// An index expression that was understood: `factor * symbol + constant`.
struct Affine {
    /// The index and its factor; `None` for a constant.
    symbol: Option<(Symbol, f64)>,
    constant: f64,
    /// Whether it is written in one of the forms that the language allows.
    plain: bool,
}

impl Lowering<'_> {
    /// A field's value at a point.
    pub(super) fn access(&mut self, name: &ast::Name, indices: &[ast::Expr], span: &Span) -> Option<Value> {
        if let Some(Symbol::Series(id)) = self.names.get(&name.text) {
            return self.series_value(id, name, indices, span);
        }
        let field = self.indexed_field(name, span)?;
        let (time, offset) = self.indices(field, name, indices, span)?;
        if !self.check_time(field, time, indices, span) {
            return None;
        }
        let element = self.element(field)?;
        let kind = ExprKind::Read(Access { field, time, offset });
        Some(Value { expr: Expr { kind, element, span: span.clone() }, weak: false })
    }

    /// A series' value.
    fn series_value(
        &mut self,
        id: SeriesId,
        name: &ast::Name,
        indices: &[ast::Expr],
        span: &Span,
    ) -> Option<Value> {
        let [index] = indices else {
            let message = format!("`{}` has 1 index, found {}", name.text, indices.len());
            self.report(
                Diagnostic::error(Code::INDEX_COUNT, span.clone(), message)
                    .related(self.names.span(&name.text), "declared here")
                    .note("a series depends on time only")
                    .hint(format!("write it like `{}[{}]`", name.text, self.time)),
            );
            return None;
        };
        if !self.indices_clear {
            return None;
        }
        let offset = self.index(index, Symbol::Time)?;
        if offset.abs() > MOST_OFFSET {
            let message = format!("the offset of `{}` is larger than {MOST_OFFSET}", self.time);
            self.report(Diagnostic::limitation(Code::OFFSET_TOO_LARGE, index.span.clone(), message));
            return None;
        }
        let element = self.series[id.0].element?;
        let kind = ExprKind::Series(id, offset);
        Some(Value { expr: Expr { kind, element, span: span.clone() }, weak: false })
    }

    fn indexed_field(&mut self, name: &ast::Name, span: &Span) -> Option<FieldId> {
        match self.names.get(&name.text) {
            Some(Symbol::Field(id)) => Some(id),
            Some(symbol) => {
                let message = format!("`{}` is {}; only fields have indices", name.text, symbol.describe());
                let mut diagnostic = Diagnostic::error(Code::NOT_INDEXABLE, span.clone(), message)
                    .related(self.names.span(&name.text), "declared here");
                if matches!(symbol, Symbol::Parameter(_)) {
                    diagnostic = diagnostic.hint("declare it as a `coefficient` if it varies over the grid");
                }
                self.report(diagnostic);
                None
            }
            None => {
                let hint = self.names.suggest(&name.text, |symbol| matches!(symbol, Symbol::Field(_)));
                let hint = hint.or_else(|| Some(format!("declare it: `field {}: f32;`", name.text)));
                self.unknown(&name.text, &name.span, hint);
                None
            }
        }
    }

    /// The time level (0 for coefficients) and the offsets of an access.
    pub(super) fn indices(
        &mut self,
        field: FieldId,
        name: &ast::Name,
        indices: &[ast::Expr],
        span: &Span,
    ) -> Option<(i64, Vec<i64>)> {
        if !self.indices_clear {
            return None;
        }
        let timed = self.is_state(field);
        let expected = self.space.len() + usize::from(timed);
        if indices.len() != expected {
            self.index_count(field, name, indices, expected, span);
            return None;
        }
        let mut values = Vec::with_capacity(expected);
        for (position, index) in indices.iter().enumerate() {
            let symbol = match (timed, position) {
                (true, 0) => Symbol::Time,
                (true, _) => Symbol::Space(position - 1),
                (false, _) => Symbol::Space(position),
            };
            // All indices are looked at, so that all their mistakes are reported.
            values.push(self.index(index, symbol));
        }
        let mut values = values.into_iter().collect::<Option<Vec<i64>>>()?;
        let time = if timed { values.remove(0) } else { 0 };
        Some((time, values))
    }

    fn index_count(
        &mut self,
        field: FieldId,
        name: &ast::Name,
        indices: &[ast::Expr],
        expected: usize,
        span: &Span,
    ) {
        let point = self.point(field, None);
        let found = indices.len();
        let plural = if expected == 1 { "index" } else { "indices" };
        let message = format!("`{}` has {expected} {plural}, found {found}", name.text);
        let mut diagnostic = Diagnostic::error(Code::INDEX_COUNT, span.clone(), message)
            .related(self.names.span(&name.text), "declared here");
        let first = indices.first().and_then(|index| self.affine(index)).and_then(|index| index.symbol);
        let first_is_time = matches!(first, Some((Symbol::Time, _)));
        if !self.is_state(field) && found == expected + 1 && first_is_time {
            diagnostic = diagnostic.note("a coefficient does not change over time and has no time index");
        } else if self.is_state(field) && found + 1 == expected && !first_is_time {
            diagnostic = diagnostic.note("a state field has a time index in front");
        }
        self.report(diagnostic.hint(format!("write it like `{point}`")));
    }

    /// The constant of an index expression that must be `symbol + constant`.
    fn index(&mut self, index: &ast::Expr, symbol: Symbol) -> Option<i64> {
        let wanted = self.index_name(symbol).to_string();
        let span = index.span.clone();
        let affine = match self.affine(index) {
            Some(affine) => affine,
            None => {
                self.index_form(index, symbol, &wanted);
                return None;
            }
        };
        match affine.symbol {
            Some((found, factor)) if found != symbol && factor == 1.0 => {
                let found_name = self.index_name(found).to_string();
                let right = written(&wanted, affine.constant);
                let mut diagnostic = Diagnostic::error(
                    Code::INDEX_ORDER,
                    span,
                    format!("the index `{found_name}` stands where `{wanted}` belongs"),
                )
                .label(format!("expected `{wanted}` plus or minus a constant"))
                .related(self.indices_span.clone(), "the order of the indices")
                .hint(format!("write `{right}` here"));
                if matches!((found, symbol), (Symbol::Space(_), Symbol::Space(_))) {
                    diagnostic =
                        diagnostic.note("transposed accesses are not stencils: all offsets must be constant");
                }
                self.report(diagnostic);
                None
            }
            Some((_, factor)) if factor == 1.0 && affine.plain => {
                let most = if symbol == Symbol::Time { 1e6 } else { MOST_OFFSET as f64 };
                if affine.constant.abs() > most {
                    let message = format!("the offset of `{wanted}` is larger than {most}");
                    let diagnostic = Diagnostic::limitation(Code::OFFSET_TOO_LARGE, span, message);
                    self.report(diagnostic);
                    return None;
                }
                Some(affine.constant as i64)
            }
            Some((_, factor)) if factor == 1.0 && affine.constant.fract() == 0.0 => {
                let right = written(&wanted, affine.constant);
                let message = "this index is not written as an index plus or minus a constant";
                let diagnostic = Diagnostic::error(Code::INDEX_FORM, span, message);
                self.report(diagnostic.hint(format!("write `{right}`")));
                None
            }
            _ => {
                self.index_form(index, symbol, &wanted);
                None
            }
        }
    }

    /// An index that is scaled, constant, fractional or not affine at all.
    fn index_form(&mut self, index: &ast::Expr, symbol: Symbol, wanted: &str) {
        if let Some((name, span)) = self.unknown_name_in(index) {
            let hint = self.names.suggest(&name, |symbol| matches!(symbol, Symbol::Time | Symbol::Space(_)));
            let hint = hint.or_else(|| Some(format!("the index here is `{wanted}`")));
            return self.unknown(&name, &span, hint);
        }
        if contains_error(index) {
            return;
        }
        let what = match self.affine(index) {
            Some(Affine { symbol: None, .. }) => "this index is a constant",
            Some(Affine { symbol: Some((_, factor)), .. }) if factor != 1.0 => "this index is scaled",
            Some(_) => "this index is not a whole number away",
            None => "this is not an index plus or minus a constant",
        };
        let time = if symbol == Symbol::Time { "time levels" } else { "offsets" };
        self.report(
            Diagnostic::error(Code::INDEX_FORM, index.span.clone(), what)
                .label(format!("expected `{wanted}`, `{wanted} + 1`, `{wanted} - 1`, ..."))
                .note(format!("{time} are constants, the same at every point")),
        );
    }

    /// Reads an index expression of up to a few nodes; `None` if it is not affine in one index.
    fn affine(&self, expr: &ast::Expr) -> Option<Affine> {
        let constant = |constant: f64| Affine { symbol: None, constant, plain: true };
        match &expr.kind {
            ast::ExprKind::Number { value, integer } => Some(Affine { plain: *integer, ..constant(*value) }),
            ast::ExprKind::Name(name) => match self.names.get(name)? {
                symbol @ (Symbol::Time | Symbol::Space(_)) => {
                    Some(Affine { symbol: Some((symbol, 1.0)), constant: 0.0, plain: true })
                }
                _ => None,
            },
            ast::ExprKind::Unary(operator, operand) => {
                let sign = match operator {
                    UnaryOp::Plus => 1.0,
                    UnaryOp::Minus => -1.0,
                    UnaryOp::Not => return None,
                };
                let inner = self.affine(operand)?;
                let symbol = inner.symbol.map(|(symbol, factor)| (symbol, sign * factor));
                Some(Affine { symbol, constant: sign * inner.constant, plain: false })
            }
            // Deeper trees are not worth understanding.
            ast::ExprKind::Binary(operator, left, right) if expr.height <= MOST_INDEX_HEIGHT => {
                let (left, right) = (self.affine(left)?, self.affine(right)?);
                // `index + 1`, `index - 1` and `1 + index` only.
                let leaves = expr.height == 2 && left.plain && right.plain;
                match operator {
                    ast::BinaryOp::Add | ast::BinaryOp::Sub => {
                        let sign = if *operator == ast::BinaryOp::Add { 1.0 } else { -1.0 };
                        let symbol = match (left.symbol, right.symbol) {
                            (Some(left), None) => Some(left),
                            (None, right) => right.map(|(symbol, factor)| (symbol, sign * factor)),
                            (Some(_), Some(_)) => return None,
                        };
                        let plain = leaves && symbol.is_some_and(|(_, factor)| factor == 1.0);
                        Some(Affine { symbol, constant: left.constant + sign * right.constant, plain })
                    }
                    ast::BinaryOp::Mul => {
                        let (factor, other) = match (left.symbol, right.symbol) {
                            (None, _) => (left.constant, right),
                            (_, None) => (right.constant, left),
                            _ => return None,
                        };
                        let symbol = other.symbol.map(|(symbol, inner)| (symbol, factor * inner));
                        Some(Affine { symbol, constant: factor * other.constant, plain: false })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The first name in an index expression that is not declared.
    fn unknown_name_in(&self, expr: &ast::Expr) -> Option<(String, Span)> {
        match &expr.kind {
            ast::ExprKind::Name(name) if self.names.get(name).is_none() => {
                Some((name.clone(), expr.span.clone()))
            }
            ast::ExprKind::Unary(_, operand) => self.unknown_name_in(operand),
            ast::ExprKind::Binary(_, left, right) if expr.height <= MOST_INDEX_HEIGHT => {
                self.unknown_name_in(left).or_else(|| self.unknown_name_in(right))
            }
            _ => None,
        }
    }

    /// Whether a read of this time level is allowed here; reports it if not.
    fn check_time(&mut self, field: FieldId, time: i64, indices: &[ast::Expr], span: &Span) -> bool {
        if !self.is_state(field) {
            return true;
        }
        let place = indices.first().map_or(span.clone(), |index| index.span.clone());
        let name = self.fields[field.0].name.clone();
        let t = self.time.clone();
        if time > 1 {
            self.report(
                Diagnostic::error(
                    Code::TIME_LEVEL,
                    place,
                    format!("the time level `{t} + {time}` is in the future"),
                )
                .note(format!("a time step computes the level `{t}+1`; it reads `{t}`, `{t}-1`, ..."))
                .hint(format!("write `{t}` for the present level")),
            );
            return false;
        }
        if time < OLDEST_LEVEL {
            let message = format!("the time level `{t} - {}` is too old", -time);
            self.report(
                Diagnostic::limitation(Code::TIME_LEVEL, place, message)
                    .note(format!("the oldest level that can be read is `{t}{OLDEST_LEVEL}`")),
            );
            return false;
        }
        // What a statement may read of its own target, itself or by a local, is asked when domains are known.
        let first = self.writers.get(&field.0).map(|(number, ..)| *number);
        let own = self.current_statement.is_none() || first == self.current_statement;
        if time == 1 && !self.computed.contains(&field.0) && !(own && first.is_some()) {
            self.read_too_early(field, &name, place);
            return false;
        }
        true
    }

    fn read_too_early(&mut self, field: FieldId, name: &str, place: Span) {
        let t = self.time.clone();
        let Some((_, target, _)) = self.writers.get(&field.0).cloned() else {
            // Never written, which is reported as such; or lost in a statement that could not be read.
            return;
        };
        let message = format!("`{name}` at `{t}+1` is read before it is computed");
        let diagnostic = Diagnostic::error(Code::IN_PLACE, place, message)
            .related(target, "computed here")
            .hint(format!("read `{name}` at `{t}`, the level before"))
            .hint(format!("or move the statement that computes `{name}` up"));
        self.report(diagnostic);
    }
}

fn contains_error(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Error => true,
        ast::ExprKind::Unary(_, operand) => contains_error(operand),
        ast::ExprKind::Binary(_, left, right) => contains_error(left) || contains_error(right),
        _ => false,
    }
}

/// `i`, `i + 1` or `i - 1`.
fn written(name: &str, constant: f64) -> String {
    match constant {
        0.0 => name.to_string(),
        _ if constant > 0.0 => format!("{name}+{constant}"),
        _ => format!("{name}-{}", -constant),
    }
}
