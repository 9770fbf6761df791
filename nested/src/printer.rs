//! The formatter: a syntax tree as text, in one form. Reading it again gives the same tree.

use crate::ast::{Expr, ExprKind, Item, ItemKind, Pattern, Program, TypeExpr, Unary};
use c_tree::layout::{Doc, lines};

/// Columns of a line, where it can be broken.
const COLUMNS: usize = 100;

/// The program as text.
pub fn print(program: &Program) -> String {
    let mut text = String::new();
    comments(&program.description, 0, &mut text);
    text.push_str(&format!("nested {} {{\n", program.name.text));
    items(&program.items, 1, &mut text);
    comments(&program.ending, 1, &mut text);
    text.push_str("}\n");
    text
}

fn comments(list: &[String], depth: usize, text: &mut String) {
    for line in list {
        let line = format!("{}// {line}", "    ".repeat(depth));
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn items(list: &[Item], depth: usize, text: &mut String) {
    for item in list {
        comments(&item.comments, depth, text);
        match &item.kind {
            ItemKind::Repeat { times, items: inner, until, ending } => {
                line(depth, all([word("repeat "), expr(times, 0), word(" {")]), text);
                items(inner, depth + 1, text);
                comments(ending, depth + 1, text);
                if let Some(until) = until {
                    line(depth + 1, all([word("until "), expr(until, 0), word(";")]), text);
                }
                line(depth, word("}"), text);
            }
            kind => line(depth, all([plain(kind), word(";")]), text),
        }
    }
}

fn line(depth: usize, doc: Doc, text: &mut String) {
    let indent = "    ".repeat(depth);
    for (number, own) in lines(&doc, COLUMNS - 4 * depth).into_iter().enumerate() {
        // Lines after the first one are further to the right already.
        let own = if number == 0 { own } else { own.replacen("        ", "    ", 1) };
        text.push_str(&format!("{indent}{own}\n"));
    }
}

fn word(text: impl Into<String>) -> Doc {
    Doc::text(text)
}

fn all<const N: usize>(parts: [Doc; N]) -> Doc {
    Doc::All(parts.into())
}

fn plain(kind: &ItemKind) -> Doc {
    let set = |head: String, value: &Expr| {
        Doc::Group(Box::new(all([word(format!("{head} =")), Doc::Blank, expr(value, 0)])))
    };
    match kind {
        ItemKind::Input(name, ty) => word(format!("input {}: {}", name.text, kind_text(ty))),
        ItemKind::Param(name, ty, value) => set(format!("param {}: {}", name.text, kind_text(ty)), value),
        ItemKind::Table(name, ty, values) => {
            let list = Doc::list(values.iter().map(|value| expr(value, 0)), ",");
            all([word(format!("table {}: {} = [", name.text, kind_text(ty))), list, word("]")])
        }
        ItemKind::Let(pattern, value) => set(format!("let {}", pattern_text(pattern)), value),
        ItemKind::Compute(name, value) => set(format!("compute {}", name.text), value),
        ItemKind::Output(name, Some(value)) => set(format!("output {}", name.text), value),
        ItemKind::Output(name, None) => word(format!("output {}", name.text)),
        ItemKind::State(name, value) => set(format!("state {}", name.text), value),
        ItemKind::Assign(name, value) => set(name.text.clone(), value),
        ItemKind::Repeat { .. } => word(""),
    }
}

fn kind_text(ty: &TypeExpr) -> String {
    match ty {
        TypeExpr::Scalar(name) => name.text.clone(),
        TypeExpr::Vector(name, count) => format!("{}^{count}", name.text),
        TypeExpr::Tuple(parts, _) => {
            format!("({})", parts.iter().map(kind_text).collect::<Vec<_>>().join(", "))
        }
        TypeExpr::Sequence(element, _) => format!("[{}]", kind_text(element)),
    }
}

fn pattern_text(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Name(name) => name.text.clone(),
        Pattern::Tuple(parts, _) => {
            format!("({})", parts.iter().map(pattern_text).collect::<Vec<_>>().join(", "))
        }
    }
}

/// How tightly something binds that is no operator between two operands.
const UNARY: u8 = 7;
const POSTFIX: u8 = 8;

/// An expression where at least this binding is needed.
fn expr(own: &Expr, least: u8) -> Doc {
    let list = |parts: &[Expr]| Doc::list(parts.iter().map(|part| expr(part, 0)), ",");
    let (binds, doc) = match &own.kind {
        ExprKind::Integer(value) => (if *value < 0 { UNARY } else { POSTFIX }, word(value.to_string())),
        ExprKind::Float(value) => {
            (if value.is_sign_negative() { UNARY } else { POSTFIX }, word(float(*value)))
        }
        ExprKind::Bool(value) => (POSTFIX, word(value.to_string())),
        ExprKind::Name(name) => (POSTFIX, word(name)),
        ExprKind::Operator(symbol) => (POSTFIX, word(symbol.symbol())),
        ExprKind::Unary(operator, operand) => {
            let symbol = if *operator == Unary::Not { "!" } else { "-" };
            // A minus sign before a number would become part of it.
            let number = matches!(operand.kind, ExprKind::Integer(_) | ExprKind::Float(_));
            let least = if number && *operator == Unary::Negate { u8::MAX } else { UNARY };
            (UNARY, all([word(symbol), expr(operand, least)]))
        }
        ExprKind::Binary(operator, left, right) => {
            let own = operator.precedence();
            let left_least = if operator.compares() { 5 } else { own };
            let right_least = if operator.compares() { 5 } else { own + 1 };
            let parts = all([
                expr(left, left_least),
                Doc::Blank,
                word(format!("{} ", operator.symbol())),
                expr(right, right_least),
            ]);
            (own, Doc::Group(Box::new(parts)))
        }
        ExprKind::Select(condition, then, otherwise) => {
            let parts = [
                expr(condition, 1),
                Doc::Blank,
                word("? "),
                expr(then, 0),
                Doc::Blank,
                word(": "),
                expr(otherwise, 0),
            ];
            (0, Doc::Group(Box::new(all(parts))))
        }
        ExprKind::Call(name, parts) => {
            (POSTFIX, all([word(format!("{}(", name.text)), list(parts), word(")")]))
        }
        ExprKind::Index(sequence, index) => {
            (POSTFIX, all([expr(sequence, POSTFIX), word("["), expr(index, 0), word("]")]))
        }
        ExprKind::Component(whole, place) => {
            (POSTFIX, all([expr(whole, POSTFIX), word(format!(".{place}"))]))
        }
        ExprKind::Tuple(parts) => (POSTFIX, all([word("("), list(parts), word(")")])),
        ExprKind::Vector(parts) => (POSTFIX, all([word("["), list(parts), word("]")])),
        ExprKind::Function { associative, parameters, body } => {
            let names = parameters.iter().map(pattern_text).collect::<Vec<_>>().join(", ");
            let mark = if *associative { "assoc " } else { "" };
            (0, Doc::Group(Box::new(all([word(format!("{mark}|{names}|")), Doc::Blank, expr(body, 0)]))))
        }
        ExprKind::Block(bindings, value) => {
            let mut parts = vec![word("{"), Doc::Blank];
            for (pattern, value) in bindings {
                parts.extend([
                    word(format!("let {} = ", pattern_text(pattern))),
                    expr(value, 0),
                    word(";"),
                    Doc::Blank,
                ]);
            }
            parts.extend([expr(value, 0), Doc::Blank, word("}")]);
            (POSTFIX, Doc::Group(Box::new(Doc::All(parts))))
        }
    };
    if binds < least { all([word("("), doc, word(")")]) } else { doc }
}

/// A number that reads back as exactly this one.
fn float(value: f64) -> String {
    format!("{value:?}")
}

/// Whether two trees are the same but for places and comments.
pub fn same(a: &Program, b: &Program) -> bool {
    print(&bare(a)) == print(&bare(b))
}

fn bare(program: &Program) -> Program {
    fn items(list: &[Item]) -> Vec<Item> {
        list.iter()
            .map(|item| {
                let kind = match &item.kind {
                    ItemKind::Repeat { times, items: inner, until, .. } => ItemKind::Repeat {
                        times: times.clone(),
                        items: items(inner),
                        until: until.clone(),
                        ending: Vec::new(),
                    },
                    kind => kind.clone(),
                };
                Item { comments: Vec::new(), kind, span: 0..0 }
            })
            .collect()
    }
    Program {
        description: Vec::new(),
        name: program.name.clone(),
        items: items(&program.items),
        ending: Vec::new(),
    }
}
