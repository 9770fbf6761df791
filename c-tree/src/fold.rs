//! What is folded when a tree is built.
//!
//! Every rule keeps the value of each evaluation that C defines, and the type, on which it depends what overflows; none
//! looks into floating point:
//!
//! - Two literals become one where that has the type in which C computes: an operation on two `int`s that does not fit in
//!   an `int` stays as it is. `/` and `%` cut towards zero; by zero they stay.
//! - `x + 0`, `x - 0`, `x * 1`, `x / 1` are `x`, for signed integers.
//! - `(x + a) + b` is `x + (a + b)`, where the literals and their sum are `int`s: it lies between results that do not
//!   overflow, or is one of them.
//! - `x + -3` is `x - 3`; so is its mirror image.
//! - `&&`, `||` and `!` with a known operand. The other one of `&&` and `||` stays alone only if it is 0 or 1 itself.
//! - `!(x < y)` is `x >= y`, for signed integers.
//! - `?:` with a known condition, where both values have one type for certain; and `a ? b : false` is `a && b`.

use crate::expr::{BinaryOp, Expr, Sort, UnaryOp};

/// The type of a literal.
fn is_int(value: i64) -> bool {
    // -2147483648 is the negative of a number that is no int.
    i32::try_from(value).is_ok_and(|value| value != i32::MIN)
}

/// The result of an operation on literals, where C defines one.
fn literals(operator: BinaryOp, a: i64, b: i64) -> Option<Expr> {
    let value = match operator {
        BinaryOp::Add => a.checked_add(b)?,
        BinaryOp::Sub => a.checked_sub(b)?,
        BinaryOp::Mul => a.checked_mul(b)?,
        BinaryOp::Div => a.checked_div(b)?,
        BinaryOp::Rem => a.checked_rem(b)?,
        BinaryOp::Lt => return Some(Expr::Bool(a < b)),
        BinaryOp::Le => return Some(Expr::Bool(a <= b)),
        BinaryOp::Gt => return Some(Expr::Bool(a > b)),
        BinaryOp::Ge => return Some(Expr::Bool(a >= b)),
        BinaryOp::Eq => return Some(Expr::Bool(a == b)),
        BinaryOp::Ne => return Some(Expr::Bool(a != b)),
        _ => return None,
    };
    (is_int(value) == (is_int(a) && is_int(b))).then_some(Expr::Int(value))
}

/// Whether evaluating it does nothing but give its value, for all values of its names.
fn is_pure(expr: &Expr) -> bool {
    match expr {
        Expr::Int(_) | Expr::Bool(_) | Expr::Name(..) => true,
        Expr::Unary(UnaryOp::Negate | UnaryOp::Not, a) => is_pure(a),
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr, ..) => false,
        Expr::Binary(_, a, b) => is_pure(a) && is_pure(b),
        Expr::Select(a, b, c) => is_pure(a) && is_pure(b) && is_pure(c),
        Expr::Member { object, .. } => is_pure(object),
        _ => false,
    }
}

/// The comparison that holds for integers where this one does not.
fn opposite(operator: BinaryOp) -> BinaryOp {
    match operator {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Eq => BinaryOp::Ne,
        _ => BinaryOp::Eq,
    }
}

fn plain(operator: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(operator, Box::new(a), Box::new(b))
}

/// `-a`, `!a`.
pub fn unary(operator: UnaryOp, a: Expr) -> Expr {
    match (operator, a) {
        (UnaryOp::Negate, Expr::Int(value)) if value != i64::MIN && is_int(value) == is_int(-value) => {
            Expr::Int(-value)
        }
        (UnaryOp::Not, Expr::Bool(value)) => Expr::Bool(!value),
        (UnaryOp::Not, Expr::Unary(UnaryOp::Not, a)) if a.sort() == Sort::Truth => *a,
        (UnaryOp::Not, Expr::Binary(operator, a, b))
            if operator.compares() && a.sort() == Sort::Integer && b.sort() == Sort::Integer =>
        {
            Expr::Binary(opposite(operator), a, b)
        }
        (operator, a) => Expr::Unary(operator, Box::new(a)),
    }
}

/// `a + b` and the like.
pub fn binary(operator: BinaryOp, a: Expr, b: Expr) -> Expr {
    if let (Expr::Int(a), Expr::Int(b)) = (&a, &b)
        && let Some(value) = literals(operator, *a, *b)
    {
        return value;
    }
    let (left, right) = (a.sort() == Sort::Integer, b.sort() == Sort::Integer);
    match (operator, a, b) {
        (BinaryOp::Add | BinaryOp::Sub, a, Expr::Int(0)) if left => a,
        (BinaryOp::Add, Expr::Int(0), b) if right => b,
        (BinaryOp::Sub, Expr::Int(0), b) if right && !matches!(b, Expr::Int(_)) => unary(UnaryOp::Negate, b),
        (BinaryOp::Mul | BinaryOp::Div, a, Expr::Int(1)) if left => a,
        (BinaryOp::Mul, Expr::Int(1), b) if right => b,
        (BinaryOp::Add | BinaryOp::Sub, a, Expr::Int(b)) if left && b != i64::MIN => sum(operator, a, b),
        (BinaryOp::And, Expr::Bool(true), x) | (BinaryOp::And, x, Expr::Bool(true))
            if x.sort() == Sort::Truth =>
        {
            x
        }
        (BinaryOp::Or, Expr::Bool(false), x) | (BinaryOp::Or, x, Expr::Bool(false))
            if x.sort() == Sort::Truth =>
        {
            x
        }
        (BinaryOp::And, Expr::Bool(false), _) => Expr::Bool(false),
        (BinaryOp::Or, Expr::Bool(true), _) => Expr::Bool(true),
        (BinaryOp::And, a, Expr::Bool(false)) if is_pure(&a) => Expr::Bool(false),
        (BinaryOp::Or, a, Expr::Bool(true)) if is_pure(&a) => Expr::Bool(true),
        (operator, a, b) => plain(operator, a, b),
    }
}

/// A signed integer plus or minus a literal, which may join one that is there.
fn sum(operator: BinaryOp, a: Expr, b: i64) -> Expr {
    let b = if operator == BinaryOp::Sub { -b } else { b };
    let joined = match &a {
        Expr::Binary(BinaryOp::Add, x, c) => literal_of(c).map(|c| (x, c)),
        Expr::Binary(BinaryOp::Sub, x, c) => literal_of(c).map(|c| (x, -c)),
        _ => None,
    };
    if let Some((x, c)) = joined
        && let Some(all) = c.checked_add(b).filter(|all| is_int(*all) && is_int(b) && is_int(c))
        && x.sort() == Sort::Integer
    {
        let x = (**x).clone();
        return if all == 0 { x } else { signed(x, all) };
    }
    signed(a, b)
}

fn literal_of(expr: &Expr) -> Option<i64> {
    if let Expr::Int(value) = expr { Some(*value).filter(|value| *value != i64::MIN) } else { None }
}

/// `x + 3`, `x - 3`
fn signed(x: Expr, value: i64) -> Expr {
    if value < 0 && is_int(value) == is_int(-value) {
        plain(BinaryOp::Sub, x, Expr::Int(-value))
    } else {
        plain(BinaryOp::Add, x, Expr::Int(value))
    }
}

/// `condition ? a : b`
pub fn select(condition: Expr, a: Expr, b: Expr) -> Expr {
    let one_type = match (&a, &b) {
        (Expr::Int(a), Expr::Int(b)) => is_int(*a) == is_int(*b),
        (a, b) => a == b || a.sort() == Sort::Truth && b.sort() == Sort::Truth,
    };
    match condition {
        Expr::Bool(known) if one_type => [b, a][usize::from(known)].clone(),
        condition if one_type && condition.sort() == Sort::Truth => match (a, b) {
            (Expr::Bool(true), b) => binary(BinaryOp::Or, condition, b),
            (Expr::Bool(false), b) => binary(BinaryOp::And, unary(UnaryOp::Not, condition), b),
            (a, Expr::Bool(true)) => binary(BinaryOp::Or, unary(UnaryOp::Not, condition), a),
            (a, Expr::Bool(false)) => binary(BinaryOp::And, condition, a),
            (a, b) => Expr::Select(Box::new(condition), Box::new(a), Box::new(b)),
        },
        condition => Expr::Select(Box::new(condition), Box::new(a), Box::new(b)),
    }
}

impl Expr {
    /// The same, with all that is known folded.
    pub fn folded(&self) -> Expr {
        let walk = |expr: &Expr| Box::new(expr.folded());
        let each = |parts: &[Expr]| parts.iter().map(Expr::folded).collect();
        match self {
            Expr::Int(_) | Expr::Bool(_) | Expr::Literal(_) | Expr::Name(..) => self.clone(),
            Expr::Unary(operator, a) => unary(*operator, a.folded()),
            Expr::Binary(operator, a, b) => binary(*operator, a.folded(), b.folded()),
            Expr::Select(a, b, c) => select(a.folded(), b.folded(), c.folded()),
            Expr::Call { function, template, arguments, sort } => Expr::Call {
                function: walk(function),
                template: each(template),
                arguments: each(arguments),
                sort: *sort,
            },
            Expr::Launch { kernel, configuration, arguments } => Expr::Launch {
                kernel: kernel.clone(),
                configuration: each(configuration),
                arguments: each(arguments),
            },
            Expr::Index(a, b) => Expr::Index(walk(a), walk(b)),
            Expr::Member { object, pointer, member, sort } => {
                Expr::Member { object: walk(object), pointer: *pointer, member: member.clone(), sort: *sort }
            }
            Expr::Cast(to, a) => Expr::Cast(to.clone(), walk(a)),
            Expr::SizeOf(a) => Expr::SizeOf(walk(a)),
            Expr::List(parts) => Expr::List(each(parts)),
        }
    }
}
