//! Values: typed expressions in which each operation and each conversion is that of C.
//!
//! C combines two operands in the larger of their types (`0.5 * x` is computed in double for a `float x`), converts
//! what is stored to the type of the target, and computes integers as integers. What follows from indices alone, or
//! from time alone, is left to the C compiler and enters the program as data.

use super::classify::{is_signed_infinity, question, special_number};
use super::scalars::{Held, Kind};
use super::{
    Element, Order, Read, ReadOf, Result, Scalar, Series, Touched, Walker, element_of, error, exchange,
    integer, limitation,
};
use crate::ast::{BinaryOp as COperator, CType, Expr as CExpr, ExprKind as CKind, Floating, UnaryOp};
use crate::codes;
use crate::parse::literal;
use crate::text::c_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::math::{Libm, Libm2};
use polyhedral::program::{
    Access, BinaryOp, ElementType, Expr, ExprKind, FieldId, Function, LocalId, ParameterId, SeriesId,
};
use polyhedral::source::Span;

/// What a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Depends {
    /// The time loop's index.
    pub time: bool,
    /// Indices of space loops.
    pub place: bool,
    /// What the loop computes.
    pub data: bool,
    /// An index itself, outside subscripts.
    pub bare: bool,
}

impl Depends {
    pub fn is_constant(self) -> bool {
        !self.time && !self.place && !self.data
    }

    fn and(self, other: Depends) -> Depends {
        Depends {
            time: self.time || other.time,
            place: self.place || other.place,
            data: self.data || other.data,
            bare: self.bare || other.bare,
        }
    }
}

/// A function of math.h.
enum Math {
    One(Function),
    Two(Libm2),
}

/// The function of math.h of this name, and the type it computes in.
fn math_function(name: &str) -> Option<(Math, Floating)> {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let kind = |single| if single { Floating::Float } else { Floating::Double };
    match name {
        "sqrt" | "sqrtf" => Some((Math::One(Function::Sqrt), kind(name == "sqrtf"))),
        "fabs" | "fabsf" => Some((Math::One(Function::Abs), kind(name == "fabsf"))),
        _ => Libm::by_c_name(name)
            .map(|(function, single)| (Math::One(Function::Libm(function)), kind(single)))
            .or_else(|| Libm2::by_c_name(name).map(|(function, single)| (Math::Two(function), kind(single)))),
    }
}

/// Whether a function's value follows from its arguments, and a call changes nothing.
fn is_pure(name: &str) -> bool {
    math_function(name).is_some()
        || name == "abs"
        || name == "labs"
        || question(name).is_some()
        || is_signed_infinity(name)
        || special_number(name).is_some()
}

/// Whether a function stands for a number such as infinity.
fn is_special(function: &CExpr) -> bool {
    matches!(&function.kind, CKind::Name(name) if special_number(name).is_some())
}

impl Walker<'_> {
    /// What a value depends on.
    pub(super) fn depends(&self, expr: &CExpr) -> Depends {
        let mut found = Depends::default();
        match &expr.kind {
            CKind::Name(name) => {
                if let Some(held) = self.environment.get(name) {
                    return match held {
                        Held::Integer(_, expr) => self.depends(expr),
                        _ => Depends { data: true, ..found },
                    };
                }
                found.place = self.open_loop(name).is_some();
                found.time = *name == self.nest.time.name;
                found.bare = found.place || found.time;
                found.data = self.states.contains(name) || (self.assigned.contains(name) && !found.bare);
                found
            }
            CKind::Index(array, index) => {
                let index = Depends { bare: false, ..self.depends(index) };
                self.depends(array).and(index)
            }
            CKind::Integer { .. } | CKind::Floating { .. } => found,
            CKind::Turn { .. } => Depends { time: true, ..found },
            CKind::Other(_, text) => {
                // `sizeof x` and the like name types and variables only.
                found.data = self.states.iter().any(|name| text.contains(name.as_str()))
                    && !text.starts_with("sizeof");
                found
            }
            CKind::Call(_, arguments) => arguments.iter().fold(found, |sum, one| sum.and(self.depends(one))),
            CKind::Unary(_, a) | CKind::Step(_, a) | CKind::Cast(_, a) | CKind::Member(a, ..) => {
                self.depends(a)
            }
            CKind::Binary(_, a, b) | CKind::Assign(_, a, b) | CKind::Comma(a, b) => {
                self.depends(a).and(self.depends(b))
            }
            CKind::Conditional(a, b, c) => self.depends(a).and(self.depends(b)).and(self.depends(c)),
        }
    }

    /// Whether a value is an integer or of which floating-point type.
    pub(super) fn kind_of(&self, expr: &CExpr) -> Result<Kind> {
        match &expr.kind {
            CKind::Integer { .. } | CKind::Turn { .. } => Ok(Kind::Integer),
            CKind::Floating { kind, .. } => Ok(Kind::Floating(*kind)),
            CKind::Name(name) => match self.environment.get(name) {
                Some(Held::Integer(..)) => Ok(Kind::Integer),
                Some(Held::Temporary(_, kind)) => Ok(Kind::Floating(*kind)),
                Some(Held::Nothing(kind) | Held::Carried(kind, _)) => Ok(*kind),
                None if self.open_loop(name).is_some() || *name == self.nest.time.name => Ok(Kind::Integer),
                None => {
                    let Some(variable) = self.region.variables.get(name) else {
                        return self.unknown(name, &expr.span);
                    };
                    self.kind_of_type(&variable.ctype, expr)
                }
            },
            CKind::Index(..) | CKind::Unary(UnaryOp::Dereference, _) => {
                let (base, indices) = subscripts(expr);
                let CKind::Name(name) = &base.kind else {
                    return limitation(
                        codes::ARRAY,
                        &base.span,
                        "an array that is not a variable of its own",
                    );
                };
                let Some(variable) = self.region.variables.get(name) else {
                    return self.unknown(name, &base.span);
                };
                if variable.ctype.depth() != indices.len() {
                    let message = format!(
                        "`{name}` has {} dimensions, and {} indices here",
                        variable.ctype.depth(),
                        indices.len()
                    );
                    return error(codes::DIMENSION, &expr.span, message);
                }
                self.kind_of_type(variable.ctype.element(), expr)
            }
            CKind::Call(function, _) => match &function.kind {
                CKind::Name(name) if self.is_own(name) => self.not_a_function(name, &expr.span),
                CKind::Name(name) if name == "abs" || name == "labs" => Ok(Kind::Integer),
                CKind::Name(name) if question(name).is_some() || is_signed_infinity(name) => {
                    Ok(Kind::Integer)
                }
                CKind::Name(name) if special_number(name).is_some() => {
                    Ok(Kind::Floating(special_number(name).unwrap_or(Floating::Double)))
                }
                CKind::Name(name) => match math_function(name) {
                    Some((_, kind)) => Ok(Kind::Floating(kind)),
                    None => self.not_a_function(name, &expr.span),
                },
                _ => limitation(codes::CALL, &expr.span, "a call through a pointer"),
            },
            CKind::Unary(UnaryOp::Not, _) => Ok(Kind::Integer),
            CKind::Unary(UnaryOp::Address, _) => {
                limitation(codes::EXPRESSION, &expr.span, "an address as a value")
            }
            CKind::Unary(_, operand) => self.kind_of(operand),
            CKind::Binary(operator, left, right) => {
                use COperator::*;
                if matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
                {
                    return Ok(Kind::Integer);
                }
                // Long sums lean to the left.
                let mut kind = self.kind_of(right)?;
                let mut at = left;
                while let CKind::Binary(Add | Sub | Mul | Div, left, right) = &at.kind {
                    kind = kind.common(self.kind_of(right)?);
                    at = left;
                }
                Ok(kind.common(self.kind_of(at)?))
            }
            CKind::Cast(ctype, _) => self.kind_of_type(ctype, expr),
            CKind::Conditional(_, then, otherwise) => {
                Ok(self.kind_of(then)?.common(self.kind_of(otherwise)?))
            }
            CKind::Member(..) => match self.member_type(expr) {
                Some(ctype) => self.kind_of_type(ctype, expr),
                None => {
                    let text = c_text(expr, &|_| None);
                    let message =
                        format!("`{text}` is a member of a structure, whose type is not known here");
                    limitation(codes::TYPE, &expr.span, message)
                }
            },
            CKind::Other(kind, _) if kind == "sizeof expression" => Ok(Kind::Integer),
            CKind::Assign(..) | CKind::Step(..) | CKind::Comma(..) => {
                limitation(codes::EXPRESSION, &expr.span, "an assignment within a value")
            }
            CKind::Other(kind, _) => {
                limitation(codes::EXPRESSION, &expr.span, format!("a {kind} in a stencil"))
            }
        }
    }

    /// The type of `object.member`, for an object that is a variable, or a member or element of one.
    pub(super) fn member_type(&self, expr: &CExpr) -> Option<&CType> {
        match &expr.kind {
            CKind::Name(name) if self.environment.get(name).is_none() => {
                self.region.variables.get(name).map(|variable| &variable.ctype)
            }
            CKind::Index(object, _) | CKind::Unary(UnaryOp::Dereference, object) => {
                match self.member_type(object)? {
                    CType::Pointer(element) | CType::Array(element, _) => Some(element),
                    _ => None,
                }
            }
            CKind::Member(object, arrow, member) => {
                let mut own = self.member_type(object)?;
                if let (true, CType::Pointer(pointed) | CType::Array(pointed, _)) = (*arrow, own) {
                    own = pointed;
                }
                let CType::Other(name) = own else { return None };
                self.region.structures.get(name)?.get(member)
            }
            _ => None,
        }
    }

    fn kind_of_type(&self, ctype: &CType, expr: &CExpr) -> Result<Kind> {
        match ctype {
            CType::Integer { .. } => Ok(Kind::Integer),
            CType::Floating(Floating::LongDouble) => {
                limitation(codes::TYPE, &expr.span, "long double is not supported; float and double are")
            }
            CType::Floating(kind) => Ok(Kind::Floating(*kind)),
            other => limitation(
                codes::TYPE,
                &expr.span,
                format!(
                    "a value of type `{}`; only float, double and integers are supported",
                    crate::text::type_text(other)
                ),
            ),
        }
    }

    pub(super) fn unknown<T>(&self, name: &str, span: &Span) -> Result<T> {
        error(codes::UNKNOWN_NAME, span, format!("the declaration of `{name}` was not found"))
    }

    fn not_a_function<T>(&self, name: &str, span: &Span) -> Result<T> {
        let mut diagnostic = Diagnostic::limitation(
            codes::CALL,
            span.clone(),
            format!("a call of `{name}`, which is not a function of math.h"),
        );
        diagnostic = match self.region.functions.get(name) {
            Some(_) => diagnostic
                .note("it may have side effects; calls are not looked into")
                .hint("write it as a macro"),
            None => diagnostic.note("calls with side effects cannot be moved to another order"),
        };
        Err(Box::new(diagnostic))
    }

    /// A value of an element type, converted as C would.
    pub(super) fn converted(&mut self, expr: &CExpr, element: ElementType) -> Result<Expr> {
        let kind = self.kind_of(expr)?;
        let own = match kind {
            Kind::Integer => return self.integer_value(expr, element),
            Kind::Floating(kind) => element_of(kind),
        };
        if own.is_none() {
            return limitation(codes::TYPE, &expr.span, "long double is not supported; float and double are");
        }
        let value = self.value(expr)?;
        Ok(cast(value, element))
    }

    /// An integer that takes part in floating-point arithmetic, converted to its type.
    fn integer_value(&mut self, expr: &CExpr, element: ElementType) -> Result<Expr> {
        if let Some(value) = integer::literal(expr) {
            return Ok(number(value as f64, element, &expr.span));
        }
        let depends = self.depends(expr);
        if depends.data {
            if self.is_condition(expr) {
                let condition = Box::new(self.condition(expr)?);
                let (one, zero) = (number(1.0, element, &expr.span), number(0.0, element, &expr.span));
                let kind = ExprKind::Select(condition, Box::new(one), Box::new(zero));
                return Ok(Expr { kind, element, span: expr.span.clone() });
            }
            let message = "integers that are computed from the data are not supported";
            return limitation(codes::TYPE, &expr.span, message);
        }
        self.outside(expr, depends, element)
    }

    /// A value that no data enter: a parameter, a series, or a value of the place.
    pub(super) fn outside(&mut self, expr: &CExpr, depends: Depends, element: ElementType) -> Result<Expr> {
        self.check_calls(expr)?;
        let span = expr.span.clone();
        let expr = &self.guarded(expr, depends)?;
        let addresses: Vec<String> = match depends.place {
            true => Vec::new(),
            false => self
                .addresses(expr)
                .iter()
                .map(|address| c_text(address, &|name| self.integer_text(name)))
                .collect(),
        };
        match (depends.time, depends.place) {
            (false, false) => {
                let mut text = c_text(expr, &|name| self.integer_text(name));
                // Not by way of double, which would round twice.
                if element == ElementType::F32 && self.int_type(expr).is_some_and(|own| own.bits > 32) {
                    text = format!("(float){text}");
                }
                addresses.into_iter().for_each(|address| self.reads_memory(address));
                let id = self.scalar(text, self.known_value(expr), &span);
                Ok(Expr { kind: ExprKind::Parameter(id), element, span })
            }
            (true, false) => {
                let text = c_text(expr, &|name| self.integer_text(name));
                let known =
                    self.nest.series.iter().position(|one| one.text == text && one.element == element);
                let id = known.unwrap_or_else(|| {
                    self.nest.series.push(Series { text, element, span: span.clone(), memory: addresses });
                    self.nest.series.len() - 1
                });
                Ok(Expr { kind: ExprKind::Series(SeriesId(id), 0), element, span })
            }
            (false, true) => {
                let expr = self.without_integers(expr);
                let addresses = self.addresses(&expr);
                self.read(ReadOf::Place(expr, addresses, element), element, &span)
            }
            (true, true) => {
                let message = "this value depends on the time step and on the place at once";
                Err(Box::new(
                    Diagnostic::limitation(codes::TIME_VALUE, span, message).note(
                        "values of either alone are supported: they are computed once, before the loop",
                    ),
                ))
            }
        }
    }

    /// The expression with integers that the loop computes written out.
    fn without_integers(&self, expr: &CExpr) -> CExpr {
        let mut result = expr.clone();
        self.write_out(&mut result);
        result
    }

    pub(super) fn write_out(&self, expr: &mut CExpr) {
        if let CKind::Name(name) = &expr.kind
            && let Some(Held::Integer(_, value)) = self.environment.get(name)
        {
            *expr = value.clone();
        }
        match &mut expr.kind {
            CKind::Integer { .. }
            | CKind::Floating { .. }
            | CKind::Name(_)
            | CKind::Turn { .. }
            | CKind::Other(..) => {}
            CKind::Index(a, b) | CKind::Binary(_, a, b) | CKind::Assign(_, a, b) | CKind::Comma(a, b) => {
                self.write_out(a);
                self.write_out(b);
            }
            CKind::Call(_, arguments) => arguments.iter_mut().for_each(|one| self.write_out(one)),
            CKind::Unary(_, a) | CKind::Step(_, a) | CKind::Cast(_, a) | CKind::Member(a, ..) => {
                self.write_out(a)
            }
            CKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|one| self.write_out(one)),
        }
    }

    /// Calls in values from outside must be of math.h, and nothing may change anything.
    fn check_calls(&self, expr: &CExpr) -> Result<()> {
        let mut problem = Ok(());
        expr.walk(&mut |part| {
            if problem.is_err() {
                return;
            }
            problem = match &part.kind {
                CKind::Call(function, _) => match &function.kind {
                    CKind::Name(name) if self.is_own(name) => self.not_a_function(name, &part.span),
                    CKind::Name(name) if is_pure(name) => Ok(()),
                    CKind::Name(name) => self.not_a_function(name, &part.span),
                    _ => limitation(codes::CALL, &part.span, "a call through a pointer"),
                },
                CKind::Assign(..) | CKind::Step(..) => {
                    limitation(codes::EXPRESSION, &part.span, "an assignment within a value")
                }
                CKind::Turn { from, .. } => limitation(
                    codes::TIME_VALUE,
                    &part.span,
                    format!("`{from}` takes turns, and chooses something other than a buffer here"),
                ),
                CKind::Name(name)
                    if !self.region.variables.contains_key(name)
                        && self.environment.get(name).is_none()
                        && self.open_loop(name).is_none()
                        && *name != self.nest.time.name
                        && !self.region.functions.contains_key(name)
                        && !is_pure(name) =>
                {
                    self.unknown(name, &part.span)
                }
                _ => Ok(()),
            };
        });
        problem
    }

    fn scalar(&mut self, text: String, known: Option<f64>, span: &Span) -> ParameterId {
        let at = self.nest.scalars.iter().position(|one| one.text == text).unwrap_or_else(|| {
            self.nest.scalars.push(Scalar { text, known, span: span.clone() });
            self.nest.scalars.len() - 1
        });
        ParameterId(at)
    }

    /// The value that a scalar is declared with, where that is a literal.
    fn known_value(&self, expr: &CExpr) -> Option<f64> {
        match &expr.kind {
            CKind::Floating { text, .. } => literal::floating_value(text),
            CKind::Integer { value, .. } => Some(*value as f64),
            CKind::Unary(UnaryOp::Minus, operand) => Some(-self.known_value(operand)?),
            CKind::Cast(CType::Floating(_), operand) => self.known_value(operand),
            CKind::Name(name) => {
                let variable = self.region.variables.get(name)?;
                let value = variable.value.as_ref()?;
                // Not round in circles: what a declaration mentions is declared before it.
                (!value.mentions(name)).then(|| match &value.kind {
                    CKind::Name(_) => None,
                    _ => self.known_value(value),
                })?
            }
            _ => None,
        }
    }

    pub(super) fn read(&mut self, what: ReadOf, element: ElementType, span: &Span) -> Result<Expr> {
        let (touched, order) = (self.touched(), self.order.clone());
        self.read_at(what, element, span, touched, &order)
    }

    pub(super) fn read_at(
        &mut self,
        what: ReadOf,
        element: ElementType,
        span: &Span,
        touched: Touched,
        order: &Order,
    ) -> Result<Expr> {
        // Pieces that compute the same have the same reads.
        let known = self.nest.reads.iter().position(|read| {
            read.span == *span
                && read.order == *order
                && read.path == self.path
                && read.touched == touched
                && read.what == what
        });
        let number = known.unwrap_or_else(|| {
            let read =
                Read { what, span: span.clone(), order: order.clone(), touched, path: self.path.clone() };
            self.nest.reads.push(read);
            self.nest.reads.len() - 1
        });
        let access = Access { field: FieldId(number), time: 0, offset: Vec::new() };
        Ok(Expr { kind: ExprKind::Read(access), element, span: span.clone() })
    }

    fn count(&mut self, span: &Span) -> Result<()> {
        self.operations += 1;
        if self.operations > super::MOST_OPERATIONS {
            return limitation(
                codes::TOO_DEEP,
                span,
                "the statements of the region have too many operations",
            );
        }
        Ok(())
    }

    /// A floating-point value, in its own type.
    pub(super) fn value(&mut self, expr: &CExpr) -> Result<Expr> {
        self.count(&expr.span)?;
        let Kind::Floating(kind) = self.kind_of(expr)? else {
            return self.integer_value(expr, ElementType::F64);
        };
        let Some(element) = element_of(kind) else {
            return limitation(codes::TYPE, &expr.span, "long double is not supported; float and double are");
        };
        let span = expr.span.clone();
        let depends = self.depends(expr);
        if !depends.data && depends.bare {
            return self.bare_value(expr, depends, element);
        }
        let made = |kind| Ok(Expr { kind, element, span: expr.span.clone() });
        match &expr.kind {
            CKind::Floating { text, kind } => {
                let value = match kind {
                    Floating::Float => literal::single_value(text).map(f64::from),
                    _ => literal::floating_value(text),
                };
                match value {
                    Some(value) => Ok(number(value, element, &span)),
                    None => limitation(codes::EXPRESSION, &span, "a literal that cannot be read"),
                }
            }
            CKind::Name(name) => match self.environment.get(name) {
                Some(Held::Temporary(id, _)) => made(ExprKind::Local(LocalId(*id))),
                Some(Held::Carried(_, place)) => self.carried(name, place.clone(), &span),
                Some(Held::Nothing(_)) => {
                    error(codes::EXPRESSION, &span, format!("`{name}` is used before it has a value"))
                }
                Some(Held::Integer(..)) => self.integer_value(expr, element),
                None if self.assigned.contains(name) => self.carried(name, span.clone(), &span),
                None => self.outside(expr, depends, element),
            },
            CKind::Index(..) | CKind::Unary(UnaryOp::Dereference, _) => {
                self.element_value(expr, depends, element)
            }
            CKind::Member(..) => self.outside(expr, depends, element),
            CKind::Unary(UnaryOp::Plus, operand) => self.value(operand),
            CKind::Unary(UnaryOp::Minus, operand) => {
                let operand = self.value(operand)?;
                match operand.kind {
                    ExprKind::Literal(value) => Ok(number(-value, element, &span)),
                    _ => made(ExprKind::Negate(Box::new(operand))),
                }
            }
            // `DBL_MAX` is a long double constant that is converted to double.
            CKind::Cast(_, operand)
                if !depends.data && self.kind_of(operand)? == Kind::Floating(Floating::LongDouble) =>
            {
                self.outside(expr, depends, element)
            }
            CKind::Cast(_, operand) => self.converted(operand, element),
            CKind::Conditional(condition, then, otherwise) => {
                // Known without the data: the C compiler evaluates what is chosen only.
                if !(depends.data || depends.time && depends.place) {
                    return self.outside(expr, depends, element);
                }
                let truth = Box::new(self.condition(condition)?);
                let then = self.under(condition, true, |this| this.converted(then, element))?;
                let otherwise = self.under(condition, false, |this| this.converted(otherwise, element))?;
                made(ExprKind::Select(truth, Box::new(then), Box::new(otherwise)))
            }
            CKind::Call(function, _) if is_special(function) => self.outside(expr, depends, element),
            CKind::Call(function, arguments) => self.call(function, arguments, &span),
            CKind::Binary(..) => self.arithmetic(expr),
            _ => limitation(codes::EXPRESSION, &span, "this operation is not supported in a stencil"),
        }
    }

    /// A value that follows from indices, not all of them in subscripts: left to the C compiler, as a whole or in
    /// parts that depend on time or on the place.
    fn bare_value(&mut self, expr: &CExpr, depends: Depends, element: ElementType) -> Result<Expr> {
        if depends.time
            && depends.place
            && matches!(expr.kind, CKind::Binary(..) | CKind::Call(..) | CKind::Unary(..))
        {
            return match &expr.kind {
                CKind::Binary(..) => self.arithmetic(expr),
                CKind::Call(function, arguments) => self.call(function, arguments, &expr.span),
                CKind::Unary(UnaryOp::Minus, operand) => {
                    let kind = ExprKind::Negate(Box::new(self.value(operand)?));
                    Ok(Expr { kind, element, span: expr.span.clone() })
                }
                _ => self.outside(expr, depends, element),
            };
        }
        self.outside(expr, depends, element)
    }

    fn carried<T>(&self, name: &str, place: Span, span: &Span) -> Result<T> {
        let message = format!("`{name}` carries a value from one point to the next");
        let around = self.path.last().map_or(&self.nest.time.name, |at| &self.nest.loops[*at].name);
        Err(Box::new(
            Diagnostic::limitation(codes::REDUCTION, span.clone(), message)
                .label("read before this point has assigned it")
                .related(place, "assigned here")
                .note(format!("a flow dependence over `{name}`, carried by the loop over `{around}`"))
                .note("a stencil computes all points of a step independently; a sum or maximum over them does not fit")
                .hint("compute it behind the region"),
        ))
    }

    /// `a + b * c ..`: the left spine in a loop, since sums may be long.
    fn arithmetic(&mut self, expr: &CExpr) -> Result<Expr> {
        let mut links = Vec::new();
        let mut at = expr;
        while let CKind::Binary(operator, left, right) = &at.kind {
            // An integer part stays one, and so does a value of indices. All parts of a macro have one place.
            let whole = !std::ptr::eq(at, expr) && {
                let depends = self.depends(at);
                self.kind_of(at)?.is_integer()
                    || (!depends.data && depends.bare && !(depends.time && depends.place))
            };
            if whole {
                break;
            }
            let operator = match operator {
                COperator::Add => BinaryOp::Add,
                COperator::Sub => BinaryOp::Sub,
                COperator::Mul => BinaryOp::Mul,
                COperator::Div => BinaryOp::Div,
                other => {
                    let message = format!("`{}` of floating-point numbers", other.text());
                    return limitation(codes::EXPRESSION, &at.span, message);
                }
            };
            links.push((operator, right, at));
            at = left;
        }
        let mut kind = self.kind_of(at)?;
        let mut result: Option<Expr> = None;
        for (operator, right, whole) in links.into_iter().rev() {
            let common = kind.common(self.kind_of(right)?);
            let Kind::Floating(floating) = common else {
                return self.integer_value(whole, ElementType::F64);
            };
            let Some(element) = element_of(floating) else {
                return limitation(
                    codes::TYPE,
                    &whole.span,
                    "long double is not supported; float and double are",
                );
            };
            let left = match result.take() {
                Some(left) => cast(left, element),
                None => self.converted(at, element)?,
            };
            let right = self.converted(right, element)?;
            let kind_of_node = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            result = Some(Expr { kind: kind_of_node, element, span: whole.span.clone() });
            kind = common;
            self.count(&whole.span)?;
        }
        match result {
            Some(result) => Ok(result),
            None => limitation(codes::EXPRESSION, &expr.span, "this operation is not supported in a stencil"),
        }
    }

    fn call(&mut self, function: &CExpr, arguments: &[CExpr], span: &Span) -> Result<Expr> {
        let CKind::Name(name) = &function.kind else {
            return limitation(codes::CALL, span, "a call through a pointer");
        };
        let Some((math, kind)) = math_function(name).filter(|_| !self.is_own(name)) else {
            return self.not_a_function(name, span);
        };
        let element = element_of(kind).unwrap_or(ElementType::F64);
        match (math, arguments) {
            (Math::One(function), [argument]) => {
                let argument = self.converted(argument, element)?;
                return Ok(Expr {
                    kind: ExprKind::Call(function, Box::new(argument)),
                    element,
                    span: span.clone(),
                });
            }
            (Math::Two(function), [left, right]) => {
                let (left, right) = (self.converted(left, element)?, self.converted(right, element)?);
                if function == Libm2::Pow {
                    return Ok(Expr::power(left, right, span.clone()));
                }
                let kind = ExprKind::Binary(BinaryOp::Libm(function), Box::new(left), Box::new(right));
                return Ok(Expr { kind, element, span: span.clone() });
            }
            _ => {}
        }
        error(codes::CALL, span, format!("`{name}` called with {} arguments", arguments.len()))
    }

    /// An element of an array.
    fn element_value(&mut self, expr: &CExpr, depends: Depends, element: ElementType) -> Result<Expr> {
        let (base, indices) = subscripts(expr);
        let CKind::Name(name) = &base.kind else {
            return limitation(codes::ARRAY, &base.span, "an array that is not a variable of its own");
        };
        if !self.states.contains(name) && (!depends.place || depends.data) {
            if self.assigned.contains(name) {
                return exchange::not_exchanged(name, &base.span);
            }
            if depends.data {
                return limitation(codes::SUBSCRIPT, &expr.span, "a subscript that depends on the data");
            }
            return self.outside(expr, depends, element);
        }
        let polynomials: Option<Vec<_>> = indices.iter().map(|index| self.polynomial(index)).collect();
        let Some(indices) = polynomials else {
            if self.states.contains(name) {
                return self.wrong_subscript(&indices);
            }
            return self.outside(expr, depends, element);
        };
        if !self.states.contains(name) {
            if depends.time {
                return self.outside(expr, depends, element);
            }
            // Under a condition that follows from the place, it is read where that holds.
            let whole = self.guarded_by_place(depends);
            if whole {
                return self.outside(expr, depends, element);
            }
            let own = Element { array: name.clone(), indices, element, span: expr.span.clone() };
            let written = self.without_integers(expr);
            let addresses = self.addresses(&written);
            return self.read(ReadOf::Coefficient(own, written, addresses), element, &expr.span);
        }
        let known = self.environment.elements.iter().find(|(array, at, _)| array == name && *at == indices);
        if let Some((_, _, temporary)) = known {
            let kind = ExprKind::Local(LocalId(*temporary));
            return Ok(Expr { kind, element, span: expr.span.clone() });
        }
        let own = Element { array: name.clone(), indices, element, span: expr.span.clone() };
        self.read(ReadOf::State(own), element, &expr.span)
    }

    /// Says which of some subscripts is no polynomial.
    pub(super) fn wrong_subscript<T>(&self, indices: &[&CExpr]) -> Result<T> {
        let Some(index) = indices.iter().find(|index| self.polynomial(index).is_none()) else {
            return error(codes::SUBSCRIPT, &(0..0), "a subscript could not be read");
        };
        let message = if self.depends(index).data {
            "a subscript that depends on the data"
        } else {
            "a subscript that is not affine in the loops' indices"
        };
        let mut diagnostic = Diagnostic::limitation(codes::SUBSCRIPT, index.span.clone(), message)
            .note("subscripts are an index plus a constant, so that the distance of every read is known");
        let mut wraps = false;
        index.walk(&mut |part| {
            wraps |= matches!(&part.kind, CKind::Conditional(..) | CKind::Binary(COperator::Rem, ..));
        });
        if wraps && !self.depends(index).data {
            diagnostic = diagnostic.note("grids do not wrap around: periodic boundaries are not supported");
        }
        Err(Box::new(diagnostic))
    }

    /// Whether an integer is a truth value.
    pub(super) fn is_condition(&self, expr: &CExpr) -> bool {
        use COperator::*;
        match &expr.kind {
            CKind::Binary(operator, ..) => {
                matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
            }
            CKind::Unary(UnaryOp::Not, _) => true,
            CKind::Call(function, _) => {
                matches!(&function.kind, CKind::Name(name) if question(name).is_some() && !self.is_own(name))
            }
            _ => false,
        }
    }
}

/// The array and the subscripts of an element, outermost first: `a[i][j]`, `*(a + i)`, `(*a)[i]`.
pub(super) fn subscripts(expr: &CExpr) -> (&CExpr, Vec<&CExpr>) {
    static ZERO: CExpr = CExpr { kind: CKind::Integer { value: 0, text: String::new() }, span: 0..0 };
    let mut indices = Vec::new();
    let mut at = expr;
    loop {
        match &at.kind {
            CKind::Index(array, index) => {
                indices.push(&**index);
                at = array;
            }
            CKind::Unary(UnaryOp::Dereference, pointer) => match &pointer.kind {
                CKind::Binary(COperator::Add, array, index) => {
                    indices.push(&**index);
                    at = array;
                }
                _ => {
                    indices.push(&ZERO);
                    at = pointer;
                }
            },
            _ => break,
        }
    }
    indices.reverse();
    (at, indices)
}

/// A literal of a type.
pub(super) fn number(value: f64, element: ElementType, span: &Span) -> Expr {
    let value = match element {
        ElementType::F32 => f64::from(value as f32),
        ElementType::F64 => value,
    };
    Expr { kind: ExprKind::Literal(value), element, span: span.clone() }
}

/// A value converted; literals and what is converted back and forth need no conversion.
pub(super) fn cast(value: Expr, element: ElementType) -> Expr {
    if value.element == element {
        return value;
    }
    let span = value.span.clone();
    match value.kind {
        ExprKind::Literal(literal) => number(literal, element, &span),
        _ => Expr { kind: ExprKind::Cast(Box::new(value)), element, span },
    }
}
