//! From a fused program to steps: each fills one result, and is one kernel of a back end. Operators that work on a whole
//! sequence become steps of their own.

use crate::program::*;
use std::collections::HashMap;

/// One kernel, or control around some.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A sequence, element by element, or a value without sequences.
    Fill(VarId, Expr),
    /// Reductions over sequences of one length, in one loop.
    Fold(Vec<(VarId, Expr)>),
    /// A scan of a whole sequence.
    Scan(VarId, Expr),
    /// The places where the condition holds: a function of the place, and how many places there are.
    Places {
        /// What is filled.
        variable: VarId,
        /// The sequence that is looked at.
        sequence: Expr,
        /// A condition of an element; without one, places where an element differs from the one before it, and the end.
        condition: Option<Function>,
    },
    /// The order of keys.
    Order(VarId, Expr),
    /// A sequence with some elements changed.
    Scatter(VarId, Expr),
    /// Two variables change places.
    Swap(VarId, VarId),
    /// Steps that are repeated.
    Repeat {
        /// How often at most.
        times: VarId,
        /// What is repeated.
        steps: Vec<Numbered>,
        /// After which it ends earlier.
        until: Option<VarId>,
    },
}

/// A step, and the computation of the program that it is part of.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// The number of the computation, in the order of [`crate::analysis::computations`].
    pub computation: usize,
    /// What is done.
    pub step: Step,
}

/// A lowered program: its variables, names for sequences that are not stored, and steps.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The program, with further variables.
    pub program: Program,
    /// Sequences that are not stored.
    pub lets: HashMap<VarId, Expr>,
    /// What is done.
    pub steps: Vec<Numbered>,
    /// Places that steps found: orders, starts of runs, what a filter keeps.
    pub found: Vec<VarId>,
}

/// Lowers a program.
pub fn lower(program: &Program) -> Lowered {
    let mut lowering = Lowering {
        program: program.clone(),
        lets: HashMap::new(),
        steps: Vec::new(),
        computation: 0,
        orders: Vec::new(),
        starts: Vec::new(),
        found: Vec::new(),
    };
    let items = program.items.clone();
    lowering.items(&items);
    let Lowering { mut program, lets, steps, found, .. } = lowering;
    program.items.clear();
    Lowered { program, lets, steps, found }
}

struct Lowering {
    program: Program,
    lets: HashMap<VarId, Expr>,
    steps: Vec<Numbered>,
    computation: usize,
    /// Orders of keys that are known.
    orders: Vec<(Expr, VarId)>,
    /// Where runs of keys begin, as far as that is known.
    starts: Vec<(Expr, VarId)>,
    found: Vec<VarId>,
}

impl Lowering {
    fn items(&mut self, items: &[Item]) {
        for (place, item) in items.iter().enumerate() {
            match item {
                Item::Let(variable, value) => {
                    let value = self.hoisted(value);
                    self.lets.insert(*variable, value);
                }
                Item::Compute(variable, value) => {
                    self.compute(*variable, value);
                    self.computation += 1;
                }
                Item::Assign(state, value) => {
                    // Names of sequences may stand for what reads it.
                    self.forget();
                    match value.kind {
                        Kind::Variable(fresh) if self.is_last(fresh, items, place) => {
                            self.push(Step::Swap(*state, fresh));
                        }
                        _ => {
                            let fresh = self.declare("next", &value.ty, Role::Computed, value);
                            self.compute(fresh, value);
                            self.push(Step::Swap(*state, fresh));
                        }
                    }
                    self.computation += 1;
                }
                Item::Repeat { times, items, until } => {
                    let number = |lowering: &mut Self, value: &Expr| {
                        let variable = lowering.declare("control", &value.ty, Role::Computed, value);
                        lowering.compute(variable, value);
                        variable
                    };
                    let times = number(self, times);
                    self.computation += 1;
                    let before = std::mem::take(&mut self.steps);
                    self.forget();
                    self.items(items);
                    let until = until.as_ref().map(|until| number(self, until));
                    self.computation += usize::from(until.is_some());
                    self.forget();
                    let steps = std::mem::replace(&mut self.steps, before);
                    self.push(Step::Repeat { times, steps, until });
                }
            }
        }
    }

    /// Whether a variable is computed among these items, and used by nobody behind a place.
    fn is_last(&self, variable: VarId, items: &[Item], place: usize) -> bool {
        let computed =
            items[..place].iter().any(|item| matches!(item, Item::Compute(id, _) if *id == variable));
        let uses = |item: &Item| match item {
            Item::Let(_, value) | Item::Compute(_, value) | Item::Assign(_, value) => {
                value.mentions(variable)
            }
            Item::Repeat { .. } => true,
        };
        let read_by_names = self.lets.values().any(|value| value.mentions(variable));
        computed
            && !read_by_names
            && !items[place + 1..].iter().any(uses)
            && !self.program.outputs.contains(&variable)
    }

    fn forget(&mut self) {
        self.orders.clear();
        self.starts.clear();
    }

    fn push(&mut self, step: Step) {
        self.steps.push(Numbered { computation: self.computation, step });
    }

    fn declare(&mut self, name: &str, ty: &Type, role: Role, near: &Expr) -> VarId {
        let count = self.program.variables.len();
        let name = format!("{name}_{count}");
        self.program.variables.push(Variable { name, ty: ty.clone(), span: near.span.clone(), role });
        count
    }

    fn compute(&mut self, variable: VarId, value: &Expr) {
        match &value.kind {
            Kind::Apply(Operator::Scan, function, parts) => {
                let parts = parts.iter().map(|part| self.hoisted(part)).collect();
                self.push(Step::Scan(
                    variable,
                    with(value, Kind::Apply(Operator::Scan, function.clone(), parts)),
                ));
            }
            Kind::Apply(Operator::Scatter, function, parts) => {
                let parts = parts.iter().map(|part| self.hoisted(part)).collect();
                self.push(Step::Scatter(
                    variable,
                    with(value, Kind::Apply(Operator::Scatter, function.clone(), parts)),
                ));
            }
            Kind::Apply(Operator::Reduce, Some(function), parts) if !value.ty.has_sequence() => {
                let length = self.length_of(&parts[0]);
                let parts = parts.iter().map(|part| self.hoisted(part)).collect();
                let value = with(value, Kind::Apply(Operator::Reduce, Some(function.clone()), parts));
                let joins = |lowering: &Self, list: &[(VarId, Expr)]| {
                    let alone = list.iter().all(|(other, before)| {
                        let length_before = match &before.kind {
                            Kind::Apply(_, _, parts) => lowering.length_of(&parts[0]),
                            _ => None,
                        };
                        !value.mentions(*other) && length_before.is_some() && length_before == length
                    });
                    let builtin =
                        |expr: &Expr| expr.function().is_some_and(|function| function.builtin.is_some());
                    alone && builtin(&value) && list.iter().all(|(_, value)| builtin(value))
                };
                if let Some(Numbered { step: Step::Fold(list), .. }) = self.steps.last()
                    && joins(self, list)
                    && let Some(Numbered { step: Step::Fold(list), .. }) = self.steps.last_mut()
                {
                    list.push((variable, value));
                    return;
                }
                self.push(Step::Fold(vec![(variable, value)]));
            }
            _ => {
                let value = self.hoisted(value);
                self.push(Step::Fill(variable, value));
            }
        }
    }

    /// The stored sequence whose length an expression has, where that is plain.
    fn length_of(&self, expr: &Expr) -> Option<VarId> {
        match &expr.kind {
            Kind::Variable(variable) => match self.lets.get(variable) {
                Some(value) => self.length_of(value),
                None => Some(*variable),
            },
            Kind::Apply(Operator::Map | Operator::Zip | Operator::Reverse, _, parts) => {
                self.length_of(&parts[0])
            }
            Kind::Apply(Operator::Gather, _, parts) => self.length_of(&parts[1]),
            _ => None,
        }
    }

    /// The expression with operators over whole sequences, and reductions beside sequences, as steps of their own.
    fn hoisted(&mut self, expr: &Expr) -> Expr {
        let span = &expr.span;
        let make = |kind: Kind, ty: &Type| Expr { kind, ty: ty.clone(), span: span.clone() };
        match &expr.kind {
            Kind::Apply(Operator::Scan | Operator::Scatter, ..) => {
                let variable = self.declare("stored", &expr.ty, Role::Computed, expr);
                self.compute(variable, expr);
                make(Kind::Variable(variable), &expr.ty)
            }
            Kind::Apply(Operator::Reduce, ..) if !expr.ty.has_sequence() => {
                let variable = self.declare("sum", &expr.ty, Role::Computed, expr);
                self.compute(variable, expr);
                make(Kind::Variable(variable), &expr.ty)
            }
            Kind::Apply(Operator::SortByKey, _, parts) => {
                let sequence = self.hoisted(&parts[0]);
                let keys = self.hoisted(&parts[1]);
                let places = Type::Scalar(Scalar::I64).sequence();
                let order = match self.orders.iter().find(|(known, _)| same(known, &keys)) {
                    Some((_, order)) => *order,
                    None => {
                        let order = self.declare("order", &places, Role::Computed, expr);
                        self.found.push(order);
                        self.push(Step::Order(order, keys.clone()));
                        self.orders.push((keys, order));
                        order
                    }
                };
                let order = make(Kind::Variable(order), &places);
                make(Kind::Apply(Operator::Gather, None, vec![sequence, order]), &expr.ty)
            }
            Kind::Apply(Operator::Filter, Some(function), parts) => {
                let sequence = self.hoisted(&parts[0]);
                let places = Type::Scalar(Scalar::I64).sequence();
                let kept = self.declare("kept", &places, Role::Computed, expr);
                self.found.push(kept);
                self.push(Step::Places {
                    variable: kept,
                    sequence: sequence.clone(),
                    condition: Some(function.clone()),
                });
                let kept = make(Kind::Variable(kept), &places);
                make(Kind::Apply(Operator::Gather, None, vec![sequence, kept]), &expr.ty)
            }
            Kind::Apply(Operator::ReduceByKey, Some(function), parts) => {
                let sequence = self.hoisted(&parts[0]);
                let keys = self.hoisted(&parts[1]);
                let prefix = self.hoisted(&parts[2]);
                let places = Type::Scalar(Scalar::I64).sequence();
                let starts = match self.starts.iter().find(|(known, _)| same(known, &keys)) {
                    Some((_, starts)) => *starts,
                    None => {
                        let starts = self.declare("starts", &places, Role::Computed, expr);
                        self.found.push(starts);
                        let step = Step::Places { variable: starts, sequence: keys.clone(), condition: None };
                        self.push(step);
                        self.starts.push((keys, starts));
                        starts
                    }
                };
                let starts = make(Kind::Variable(starts), &places);
                let rows = sequence.ty.clone().sequence();
                let nested = make(Kind::Apply(Operator::Nest, None, vec![sequence.clone(), starts]), &rows);
                let row = self.declare("run", &sequence.ty, Role::Local, expr);
                let used = make(Kind::Variable(row), &sequence.ty);
                let state = expr.ty.element().cloned().unwrap_or(Type::Scalar(Scalar::I64));
                let body = Box::new(make(
                    Kind::Apply(Operator::Reduce, Some(function.clone()), vec![used, prefix]),
                    &state,
                ));
                let function = Function { parameters: vec![row], body, associative: false, builtin: None };
                make(Kind::Apply(Operator::Map, Some(function), vec![nested]), &expr.ty)
            }
            Kind::Apply(operator, function, parts) => {
                let parts = parts.iter().map(|part| self.hoisted(part)).collect();
                make(Kind::Apply(*operator, function.clone(), parts), &expr.ty)
            }
            Kind::Literal(_) | Kind::Variable(_) => expr.clone(),
            // What is not always computed is not computed before, where it can be computed in its place.
            Kind::Select(a, b, c) => {
                let condition = Box::new(self.hoisted(a));
                let mut whole = false;
                [b, c].into_iter().for_each(|part| part.walk(false, &mut |part, inside| {
                    whole |= !inside && matches!(&part.kind, Kind::Apply(operator, ..) if !operator.is_fused() && *operator != Operator::Reduce);
                }));
                let (b, c) = if whole {
                    (Box::new(self.hoisted(b)), Box::new(self.hoisted(c)))
                } else {
                    (b.clone(), c.clone())
                };
                make(Kind::Select(condition, b, c), &expr.ty)
            }
            Kind::Let(variable, value, body) => {
                let value = self.hoisted(value);
                if value.ty.has_sequence() {
                    self.lets.insert(*variable, value);
                } else {
                    self.program.variables[*variable].role = Role::Computed;
                    self.push(Step::Fill(*variable, value));
                }
                self.hoisted(body)
            }
            Kind::Unary(operator, a) => make(Kind::Unary(*operator, Box::new(self.hoisted(a))), &expr.ty),
            Kind::Binary(operator, a, b) if matches!(operator, Binary::And | Binary::Or) => {
                make(Kind::Binary(*operator, Box::new(self.hoisted(a)), b.clone()), &expr.ty)
            }
            Kind::Binary(operator, a, b) => {
                let (a, b) = (Box::new(self.hoisted(a)), Box::new(self.hoisted(b)));
                make(Kind::Binary(*operator, a, b), &expr.ty)
            }
            Kind::Convert(a) => make(Kind::Convert(Box::new(self.hoisted(a))), &expr.ty),
            Kind::Math(math, parts) => {
                make(Kind::Math(*math, parts.iter().map(|part| self.hoisted(part)).collect()), &expr.ty)
            }
            Kind::Make(parts) => {
                make(Kind::Make(parts.iter().map(|part| self.hoisted(part)).collect()), &expr.ty)
            }
            Kind::Component(a, place) => make(Kind::Component(Box::new(self.hoisted(a)), *place), &expr.ty),
            Kind::Index(a, b) => {
                let (a, b) = (Box::new(self.hoisted(a)), Box::new(self.hoisted(b)));
                make(Kind::Index(a, b), &expr.ty)
            }
            Kind::Length(a) => make(Kind::Length(Box::new(self.hoisted(a))), &expr.ty),
        }
    }
}

fn with(expr: &Expr, kind: Kind) -> Expr {
    Expr { kind, ty: expr.ty.clone(), span: expr.span.clone() }
}

/// Whether two expressions are the same variable.
fn same(a: &Expr, b: &Expr) -> bool {
    matches!((&a.kind, &b.kind), (Kind::Variable(a), Kind::Variable(b)) if a == b)
}
