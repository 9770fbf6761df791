//! Expressions.

use super::converter::{Converter, Result};
use super::literal;
use super::within::{any_within, may_change};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, UnaryOp};
use crate::codes;
use crate::preprocess::{MARK, PARENTHESIS};
use crate::text::type_text;
use polyhedral::diagnostic::Diagnostic;
use tree_sitter::Node;

/// Longest sum.
const MOST_TERMS: usize = 2000;

impl Converter<'_> {
    /// An expression.
    pub(super) fn expression(&mut self, node: Node<'_>) -> Result<Expr> {
        let kind = self.deeper(node, |this| this.expression_kind(node))?;
        // Parentheses leave nothing behind but their place.
        Ok(Expr { kind, span: self.span(node) })
    }

    fn field(&mut self, node: Node<'_>, name: &str) -> Result<Box<Expr>> {
        match node.child_by_field_name(name) {
            Some(child) => Ok(Box::new(self.expression(child)?)),
            None => Err(self.unreadable(node)),
        }
    }

    pub(super) fn unreadable(&self, node: Node<'_>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(codes::SYNTAX, self.span(node), "this could not be parsed"))
    }

    fn not_a_number(&self, node: Node<'_>) -> Box<Diagnostic> {
        let text = self.text(node);
        let message = match text.contains(['i', 'j']) {
            true => "complex numbers are not supported".to_owned(),
            false => format!("`{text}` is not a number that can be read"),
        };
        Box::new(Diagnostic::limitation(codes::EXPRESSION, self.span(node), message))
    }

    fn expression_kind(&mut self, node: Node<'_>) -> Result<ExprKind> {
        let operator = |this: &Self| {
            node.child_by_field_name("operator")
                .map(|operator| this.text(operator).to_owned())
                .unwrap_or_default()
        };
        Ok(match node.kind() {
            "identifier" | "true" | "false" | "null" => match self.constants.get(self.text(node)) {
                Some(&value) => ExprKind::Integer { value, text: format!("({value})") },
                None => ExprKind::Name(self.text(node).to_owned()),
            },
            // The grammar takes a sign along, of which C's literals have none.
            "number_literal" if self.text(node).starts_with(['-', '+']) => {
                let (sign, digits) = self.text(node).split_at(1);
                let operator = if sign == "-" { UnaryOp::Minus } else { UnaryOp::Plus };
                match literal::number(digits.trim_start()) {
                    Some(kind) => ExprKind::Unary(operator, Box::new(Expr { kind, span: self.span(node) })),
                    None => return Err(self.not_a_number(node)),
                }
            }
            "number_literal" => match literal::number(self.text(node)) {
                Some(kind) => kind,
                None => return Err(self.not_a_number(node)),
            },
            // Others than plain letters depend on the machine's set of characters.
            "char_literal" if matches!(self.text(node).as_bytes(), [b'\'', b' '..=b'~', b'\'']) => {
                let text = self.text(node).to_owned();
                ExprKind::Integer { value: i64::from(text.as_bytes()[1]), text }
            }
            "parenthesized_expression" => match inner(node) {
                Some(child) => self.expression(child)?.kind,
                None => return Err(self.unreadable(node)),
            },
            "binary_expression" => {
                let Some(operator) = BinaryOp::of(&operator(self)) else { return Err(self.unreadable(node)) };
                return self.chain(node, operator);
            }
            "unary_expression" | "pointer_expression" => {
                let operator = match operator(self).as_str() {
                    "+" => UnaryOp::Plus,
                    "-" => UnaryOp::Minus,
                    "!" => UnaryOp::Not,
                    "~" => UnaryOp::Complement,
                    "*" => UnaryOp::Dereference,
                    "&" => UnaryOp::Address,
                    _ => return Err(self.unreadable(node)),
                };
                let operand = self.field(node, "argument")?;
                match operator {
                    UnaryOp::Dereference => dereferenced(*operand),
                    _ => ExprKind::Unary(operator, operand),
                }
            }
            "assignment_expression" => {
                let operator = operator(self);
                let compound = operator.strip_suffix('=').filter(|operator| !operator.is_empty());
                let operator = match compound {
                    None => None,
                    Some(text) => Some(BinaryOp::of(text).ok_or_else(|| self.unreadable(node))?),
                };
                ExprKind::Assign(operator, self.field(node, "left")?, self.field(node, "right")?)
            }
            "update_expression" => {
                let by = if operator(self) == "++" { 1 } else { -1 };
                ExprKind::Step(by, self.field(node, "argument")?)
            }
            "subscript_expression" => {
                ExprKind::Index(self.field(node, "argument")?, self.field(node, "index")?)
            }
            "call_expression" => return self.call(node),
            "cast_expression" => {
                let Some(ctype) = node.child_by_field_name("type") else { return Err(self.unreadable(node)) };
                let ctype = self.type_descriptor(ctype);
                // `*(volatile int *)&stop` is read anew each time, and is not `stop`.
                if ctype.depth() > 0 && ctype.is_watched() {
                    let text = self.text(node).replace(PARENTHESIS, "");
                    ExprKind::Other("pointer to what changes by itself".to_owned(), text)
                } else {
                    ExprKind::Cast(ctype, self.field(node, "value")?)
                }
            }
            "conditional_expression" => ExprKind::Conditional(
                self.field(node, "condition")?,
                self.field(node, "consequence")?,
                self.field(node, "alternative")?,
            ),
            "comma_expression"
                if node.child_by_field_name("left").is_some_and(|left| self.text(left) == MARK) =>
            {
                return self.field(node, "right").map(|inner| inner.kind);
            }
            "comma_expression" => ExprKind::Comma(self.field(node, "left")?, self.field(node, "right")?),
            "field_expression" => {
                let arrow = operator(self) == "->";
                let member = node.child_by_field_name("field").map(|member| self.text(member).to_owned());
                let member = member.unwrap_or_default();
                let mut of = self.structures.values().filter_map(|members| members.get(&member));
                if of.any(CType::is_watched) {
                    let text = self.text(node).replace(PARENTHESIS, "");
                    ExprKind::Other("member that changes by itself".to_owned(), text)
                } else {
                    member_of(*self.field(node, "argument")?, arrow, member)
                }
            }
            // The length of an array is computed where its type is named.
            "sizeof_expression"
                if node.child_by_field_name("type").is_some_and(|of| any_within(of, may_change)) =>
            {
                let text = self.text(node).replace(PARENTHESIS, "");
                ExprKind::Other("sizeof that may change something".to_owned(), text)
            }
            "sizeof_expression" => {
                // A type has a name of its own.
                let named = node.child_by_field_name("type").map(|of| self.type_descriptor(of));
                let named = named.filter(|of| matches!(of, CType::Integer { .. } | CType::Floating(_)));
                // In parentheses, the name of a type looks like that of a variable.
                let inner = node.child_by_field_name("value").and_then(inner);
                let aliased = inner.and_then(|name| self.typedefs.get(self.text(name)).cloned());
                let text = match named.or(aliased) {
                    Some(of) => format!("sizeof({})", type_text(&of)),
                    None => self.text(node).replace(PARENTHESIS, ""),
                };
                ExprKind::Other("sizeof expression".to_owned(), text)
            }
            "initializer_list" if !is_designated(node) => {
                let mut cursor = node.walk();
                let parts = node.named_children(&mut cursor).filter(|part| part.kind() != "comment");
                let parts: Vec<Node<'_>> = parts.collect();
                ExprKind::List(parts.into_iter().map(|part| self.expression(part)).collect::<Result<_>>()?)
            }
            other => ExprKind::Other(other.replace('_', " "), self.text(node).replace(PARENTHESIS, "")),
        })
    }

    /// `a + b + c`, which leans to the left and may be long: the left spine in a loop.
    fn chain(&mut self, node: Node<'_>, _first: BinaryOp) -> Result<ExprKind> {
        let mut links = Vec::new();
        let mut at = node;
        while at.kind() == "binary_expression" {
            let text = at.child_by_field_name("operator").map(|operator| self.text(operator).to_owned());
            let operator = text.and_then(|text| BinaryOp::of(&text)).ok_or_else(|| self.unreadable(at))?;
            let right = self.field(at, "right")?;
            links.push((operator, right, self.span(at)));
            if links.len() > MOST_TERMS {
                let message = format!("an expression of more than {MOST_TERMS} terms");
                return Err(Box::new(Diagnostic::limitation(codes::TOO_DEEP, self.span(node), message)));
            }
            at = at.child_by_field_name("left").ok_or_else(|| self.unreadable(at))?;
        }
        let mut result = self.expression(at)?;
        for (operator, right, span) in links.into_iter().rev() {
            result = Expr { kind: ExprKind::Binary(operator, Box::new(result), right), span };
        }
        Ok(result.kind)
    }

    /// A call; or a conversion to a type of the user's, which looks like one: `(real)(x)`.
    fn call(&mut self, node: Node<'_>) -> Result<ExprKind> {
        let (Some(function), Some(list)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return Err(self.unreadable(node));
        };
        let mut cursor = list.walk();
        let mut arguments = Vec::new();
        for argument in list.named_children(&mut cursor).filter(|node| node.kind() != "comment") {
            arguments.push(self.expression(argument)?);
        }
        if function.kind() == "parenthesized_expression"
            && let Some(name) = inner(function).filter(|inner| inner.kind() == "identifier")
            && let Some(ctype) =
                self.typedefs.get(self.text(name)).cloned().or_else(|| known_type(self.text(name)))
            && arguments.len() == 1
            && let Some(value) = arguments.pop()
        {
            return Ok(ExprKind::Cast(ctype, Box::new(value)));
        }
        Ok(ExprKind::Call(Box::new(self.expression(function)?), arguments))
    }
}

/// `*(p + i * n + j)` is `p[i * n + j]`, as C defines it; the pointer comes first. Each part is added to the pointer, so that
/// none of them is converted to the type of another one.
fn dereferenced(operand: Expr) -> ExprKind {
    let (mut at, mut parts) = (&operand, Vec::new());
    while let ExprKind::Binary(operator @ (BinaryOp::Add | BinaryOp::Sub), left, right) = &at.kind {
        parts.push((*operator, right));
        at = left;
    }
    let plain = matches!(at.kind, ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member(..));
    let long = CType::Integer { name: "long".to_owned(), unsigned: false };
    let several = parts.len() > 1;
    let sum = parts.into_iter().rev().map(|(operator, part)| {
        let (part, span) = ((**part).clone(), part.span.clone());
        let with = |kind: ExprKind| Expr { kind, span: span.clone() };
        let literal = crate::integer::literal(&part).is_some();
        let part = match several || operator == BinaryOp::Sub && !literal {
            true => with(ExprKind::Cast(long.clone(), Box::new(part))),
            false => part,
        };
        if operator == BinaryOp::Sub { with(ExprKind::Unary(UnaryOp::Minus, Box::new(part))) } else { part }
    });
    let sum = sum.reduce(|sum, part| {
        let span = sum.span.start..part.span.end.max(sum.span.start);
        Expr { kind: ExprKind::Binary(BinaryOp::Add, Box::new(sum), Box::new(part)), span }
    });
    match sum {
        Some(index) if plain => ExprKind::Index(Box::new(at.clone()), Box::new(index)),
        _ => ExprKind::Unary(UnaryOp::Dereference, Box::new(operand)),
    }
}

/// A member of a structure: `(&grid)->u` is `grid.u`, and `(*grid).u` is `grid->u`.
fn member_of(object: Expr, arrow: bool, name: String) -> ExprKind {
    match (object.kind, arrow) {
        (ExprKind::Unary(UnaryOp::Address, of), true) => ExprKind::Member(of, false, name),
        (ExprKind::Unary(UnaryOp::Dereference, of), false) => ExprKind::Member(of, true, name),
        (kind, _) => ExprKind::Member(Box::new(Expr { kind, span: object.span }), arrow, name),
    }
}

/// Whether a list says which elements its values are for.
fn is_designated(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|part| part.kind() == "initializer_pair")
}

/// What parentheses enclose.
pub(super) fn inner(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| child.kind() != "comment")
}

/// Integer types that the system's headers define.
pub(super) fn known_type(name: &str) -> Option<CType> {
    let unsigned = match name {
        "ptrdiff_t" | "ssize_t" | "int8_t" | "int16_t" | "int32_t" | "int64_t" | "intptr_t" | "intmax_t"
        | "int_fast32_t" | "int_fast64_t" | "int_least32_t" | "int_least64_t" | "off_t" => false,
        "size_t" | "uint8_t" | "uint16_t" | "uint32_t" | "uint64_t" | "uintptr_t" | "uintmax_t" | "uint"
        | "ulong" | "bool" | "_Bool" => true,
        _ => return None,
    };
    Some(CType::Integer { name: name.to_owned(), unsigned })
}
