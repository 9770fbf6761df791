//! The syntax tree of an expression.

use super::datum::Datum;

/// A node of the syntax tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Literal(Datum<'static>),
    /// A parameter, by its place.
    Parameter(usize),
    /// The variable of a comprehension, by its depth.
    Local(usize),
    List(Vec<Node>),
    Comprehension {
        item: Box<Node>,
        local: usize,
        source: Box<Node>,
        condition: Option<Box<Node>>,
    },
    Negate(Box<Node>),
    Not(Box<Node>),
    Arithmetic(Operator, Box<Node>, Box<Node>),
    /// `a < b <= c`: the first operand and all others with their comparisons.
    Comparison(Box<Node>, Vec<(Comparator, Node)>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Conditional {
        condition: Box<Node>,
        then: Box<Node>,
        otherwise: Box<Node>,
    },
    Call(Function, Vec<Node>),
    Index(Box<Node>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Abs,
    Int,
    Float,
    Len,
    Round,
    Range,
    Sum,
    List,
    Log,
    Log2,
    Sqrt,
    Exp,
}

impl Node {
    /// Shows every node to `visitor`, those above first.
    pub fn visit(&self, visitor: &mut dyn FnMut(&Node)) {
        visitor(self);
        match self {
            Node::Literal(_) | Node::Parameter(_) | Node::Local(_) => {}
            Node::List(items) | Node::Call(_, items) => items.iter().for_each(|item| item.visit(visitor)),
            Node::Comprehension { item, source, condition, .. } => {
                item.visit(visitor);
                source.visit(visitor);
                condition.iter().for_each(|condition| condition.visit(visitor));
            }
            Node::Negate(inner) | Node::Not(inner) => inner.visit(visitor),
            Node::Arithmetic(_, left, right)
            | Node::And(left, right)
            | Node::Or(left, right)
            | Node::Index(left, right) => {
                left.visit(visitor);
                right.visit(visitor);
            }
            Node::Comparison(first, others) => {
                first.visit(visitor);
                others.iter().for_each(|(_, other)| other.visit(visitor));
            }
            Node::Conditional { condition, then, otherwise } => {
                condition.visit(visitor);
                then.visit(visitor);
                otherwise.visit(visitor);
            }
        }
    }
}
