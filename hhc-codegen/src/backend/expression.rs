//! Statement values as trees, which keep the program's tree: same operations, same order, same rounding, in every back
//! end.

use super::names::Names;
use super::points::plus;
use c_tree::{BinaryOp as Op, Expr as Tree, Stmt, UnaryOp, call, int, name, var};
use polyhedral::arithmetic::{Approximation, Fused};
use polyhedral::program::{
    Access, BinaryOp, CompareOp, Condition, Congruence, ElementType, Expr, ExprKind, Function, Local,
    LocalId, Program, SeriesId, Statement,
};
use std::collections::BTreeSet;

/// An index of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    /// The time step.
    Time,
    /// The coordinate of the point along a dimension.
    Space(usize),
}

/// The indices on which the conditions of a statement depend, time first.
pub(super) fn indices_used(statement: &Statement) -> Vec<Index> {
    let congruences = statement.congruences();
    let time = congruences.iter().any(|own| own.time != 0).then_some(Index::Time);
    let along = |d: usize| congruences.iter().any(|own| own.space[d] != 0).then_some(Index::Space(d));
    time.into_iter().chain((0..statement.domain.len()).filter_map(along)).collect()
}

/// Where an expression stands.
pub(super) struct Values<'a> {
    /// The program.
    pub(super) program: &'a Program,
    /// Its names.
    pub(super) names: &'a Names,
    /// Index of the statement.
    pub(super) statement: usize,
    /// Which copy of an unrolled loop; `None` where the loop is not unrolled.
    pub(super) copy: Option<usize>,
    /// Names of the statement's locals, if they are not its own.
    pub(super) locals: Option<&'a [String]>,
    /// What a read is.
    pub(super) read: &'a dyn Fn(&Access) -> Tree,
    /// What an index is, a signed integer.
    pub(super) index: &'a dyn Fn(Index) -> Tree,
}

impl Values<'_> {
    /// Declarations of the statement's locals.
    pub(super) fn locals(&self) -> Vec<Stmt> {
        let locals = self.program.statements[self.statement].locals.iter().enumerate();
        let declare = |(index, local): (usize, &Local)| {
            Stmt::constant(local.value.element.c_name(), self.local(LocalId(index)), self.tree(&local.value))
        };
        locals.map(declare).collect()
    }

    /// The statement's value.
    pub(super) fn value(&self) -> Tree {
        self.tree(&self.program.statements[self.statement].value)
    }

    fn local(&self, id: LocalId) -> String {
        match self.locals {
            Some(names) => names[id.0].clone(),
            None => self.names.local(self.statement, id, self.copy),
        }
    }

    fn tree(&self, expr: &Expr) -> Tree {
        let single = expr.element == ElementType::F32;
        let arithmetic = self.program.arithmetic;
        if let Some(fused) = arithmetic.fused(expr) {
            return self.fused(&fused, single);
        }
        if let Some(approximation) = arithmetic.approximation(expr) {
            return self.approximation(approximation);
        }
        match &expr.kind {
            ExprKind::Literal(value) if single => Tree::f32(*value as f32),
            ExprKind::Literal(value) => Tree::f64(*value),
            ExprKind::Parameter(id) if single => name(self.names.parameter_f32(*id)),
            ExprKind::Parameter(id) => name(&self.names.parameters[id.0]),
            ExprKind::Local(id) => name(self.local(*id)),
            ExprKind::Read(access) => (self.read)(access),
            ExprKind::Series(id, offset) => name(self.names.series_value(*id, *offset)),
            ExprKind::Negate(operand) => Tree::unary(UnaryOp::Negate, self.tree(operand)),
            ExprKind::Binary(operator, a, b) => {
                let (a, b) = (self.tree(a), self.tree(b));
                let of = |function: &str| call(function, [a.clone(), b.clone()]);
                match operator {
                    BinaryOp::Min => of(["tw_min_f64", "tw_min_f32"][usize::from(single)]),
                    BinaryOp::Max => of(["tw_max_f64", "tw_max_f32"][usize::from(single)]),
                    BinaryOp::Libm(function) if single => of(function.c_name_single()),
                    BinaryOp::Libm(function) => of(function.c_name()),
                    BinaryOp::Add => a + b,
                    BinaryOp::Sub => a - b,
                    BinaryOp::Mul => a * b,
                    BinaryOp::Div => a / b,
                }
            }
            ExprKind::Call(function, operand) => {
                let name = match (function, single) {
                    (Function::Sqrt, true) => "sqrtf",
                    (Function::Sqrt, false) => "sqrt",
                    (Function::Abs, true) => "fabsf",
                    (Function::Abs, false) => "fabs",
                    (Function::Square, true) => "tw_square_f32",
                    (Function::Square, false) => "tw_square_f64",
                    (Function::Exp, true) => "tw_expf",
                    (Function::Exp, false) => "tw_exp",
                    (Function::Libm(function), true) => function.c_name_single(),
                    (Function::Libm(function), false) => function.c_name(),
                };
                call(name, [self.tree(operand)])
            }
            ExprKind::Select(condition, then, otherwise) => {
                self.condition(condition).select(self.tree(then), self.tree(otherwise))
            }
            ExprKind::Cast(operand) => self.tree(operand).cast(expr.element.c_name()),
        }
    }

    fn fused(&self, fused: &Fused<'_>, single: bool) -> Tree {
        let signed = |negate: bool, tree: Tree| match negate {
            true => Tree::unary(UnaryOp::Negate, tree),
            false => tree,
        };
        let [a, b] = fused.factors.map(|factor| self.tree(factor));
        let addend = signed(fused.negate_addend, self.tree(fused.addend));
        call(if single { "fmaf" } else { "fma" }, [signed(fused.negate_product, a), b, addend])
    }

    fn approximation(&self, approximation: Approximation<'_>) -> Tree {
        match approximation {
            Approximation::Quotient(a, b) => call("tw_quotient", [self.tree(a), self.tree(b)]),
            Approximation::Root(x) => call("tw_root", [self.tree(x)]),
            Approximation::OverRoot(a, x) => self.tree(a) * call("tw_over_root", [self.tree(x)]),
        }
    }

    fn condition(&self, condition: &Condition) -> Tree {
        match condition {
            Condition::Compare(operator, a, b) => {
                let operator = match operator {
                    CompareOp::Less => Op::Lt,
                    CompareOp::LessEqual => Op::Le,
                    CompareOp::Greater => Op::Gt,
                    CompareOp::GreaterEqual => Op::Ge,
                    CompareOp::Equal => Op::Eq,
                    CompareOp::NotEqual => Op::Ne,
                };
                Tree::binary(operator, self.tree(a), self.tree(b))
            }
            Condition::And(a, b) => self.condition(a).and(self.condition(b)),
            Condition::Or(a, b) => self.condition(a).or(self.condition(b)),
            Condition::Not(a) => !self.condition(a),
            Condition::Congruent(own) => self.congruent(own),
        }
    }

    /// `(i + j + 1) % 2 == 0`: compared with 0, a remainder may have the sign that C gives it.
    fn congruent(&self, own: &Congruence) -> Tree {
        let space = own.space.iter().enumerate().map(|(d, &factor)| (Index::Space(d), factor));
        let terms = space.chain([(Index::Time, own.time)]).filter(|(_, factor)| *factor != 0);
        let sum = terms.map(|(index, factor)| (self.index)(index) * factor).reduce(plus).unwrap_or(int(0));
        let sum = sum + (own.modulus - own.residue) % own.modulus;
        // As wide as the values, so that vectors of both have as many elements; overflow leaves remainders of powers of two.
        let target = self.program.statements[self.statement].target;
        let narrow = self.program.field(target).element == ElementType::F32;
        let sum = if narrow && own.modulus.count_ones() == 1 { sum.cast("unsigned int") } else { sum };
        (sum % own.modulus).is(0)
    }
}

/// Declarations of the locals of statements that are computed together, of equal ones once, and the statements' values.
pub(super) fn together(all: &[Values<'_>]) -> (Vec<Stmt>, Vec<Tree>) {
    let mut known: Vec<(&str, Tree, String)> = Vec::new();
    let mut results = Vec::new();
    for (at, values) in all.iter().enumerate() {
        let mut own: Vec<String> = Vec::new();
        for (index, local) in values.program.statements[values.statement].locals.iter().enumerate() {
            let kind = local.value.element.c_name();
            let tree = Values { locals: Some(&own), ..*values }.tree(&local.value);
            let name = match known.iter().find(|(other, value, _)| *other == kind && *value == tree) {
                Some((_, _, name)) => name.clone(),
                None => {
                    let name = values.names.local(values.statement, LocalId(index), Some(at));
                    known.push((kind, tree, name.clone()));
                    name
                }
            };
            own.push(name);
        }
        results.push(Values { locals: Some(&own), ..*values }.value());
    }
    (known.into_iter().map(|(kind, tree, name)| Stmt::constant(kind, name, tree)).collect(), results)
}

/// The values of series that a statement uses: series and offset.
pub(super) fn series_used(statement: &Statement) -> BTreeSet<(SeriesId, i64)> {
    let mut used = BTreeSet::new();
    for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
        value.walk(|expr| {
            if let ExprKind::Series(id, offset) = expr.kind {
                used.insert((id, offset));
            }
        });
    }
    used
}

/// The number of a series' element: what it is at an offset from the time step.
pub(super) fn series_element(program: &Program, time: &str, (series, offset): (SeriesId, i64)) -> Tree {
    var(time) + (offset - program.series[series.0].first)
}

/// Parameters that a statement uses with this type.
pub(super) fn parameters_used_as(statement: &Statement, element: ElementType) -> BTreeSet<usize> {
    let mut used = BTreeSet::new();
    for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
        value.walk(|expr| {
            if let ExprKind::Parameter(id) = expr.kind
                && expr.element == element
            {
                used.insert(id.0);
            }
        });
    }
    used
}
