//! Statements, in the order of execution.

use super::around;
use super::cuts::{Cuts, Segment};
use super::element::subscripts;
use super::exchange;
use super::loops::{Element, Leaf, ReadOf, SpaceLoop, Temporary, Touched};
use super::pieces::same;
use super::refusal::{Result, error, limitation};
use super::scalars::{Environment, Held, Kind, assigned_within};
use super::time::{Counter, counter};
use super::typed::{cast, element_of};
use super::walker::{LoopKey, Walker};
use crate::ast::{
    BinaryOp, CType, Expr as CExpr, ExprKind as CKind, Floating, ForLoop, Stmt, StmtKind, Variable,
};
use crate::codes;
use crate::polynomial::Polynomial;
use crate::text::type_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::program::{Condition, Expr, ExprKind, LocalId};
use polyhedral::source::Span;

/// Loops over a number of points that is known and not above this are unrolled where no array is indexed by them.
const MOST_UNROLLED: i64 = 64;
/// Most assignments of one region.
const MOST_LEAVES: usize = 256;
/// Largest integer expression that is made of all that it was computed from.
const MOST_WRITTEN_OUT: usize = 2000;

impl Walker<'_> {
    pub(super) fn statement(&mut self, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(list) => self.block(list),
            StmtKind::Declaration(variables) => {
                variables.iter().try_for_each(|variable| self.declare(variable))
            }
            StmtKind::Expr(expr) => self.expression_statement(expr),
            StmtKind::For(source) => self.space_loop(source),
            StmtKind::If(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise.as_deref(), &stmt.span)
            }
            StmtKind::While(source) => {
                let name = if source.behind { "do" } else { "while" };
                let message = format!("a `{name}` loop, whose number of rounds depends on the data");
                limitation(codes::STATEMENT, &stmt.span, message)
            }
            StmtKind::Return(_) => limitation(codes::STATEMENT, &stmt.span, "`return` leaves the loop early"),
            StmtKind::Other(kind, _) => {
                let message = match kind.as_str() {
                    "break" | "return" | "goto" => format!("`{kind}` leaves the loop early"),
                    "continue" => "`continue` leaves out parts of a step".to_owned(),
                    other => format!("a {other} statement in a stencil"),
                };
                limitation(codes::STATEMENT, &stmt.span, message)
            }
        }
    }

    fn block(&mut self, list: &[Stmt]) -> Result<()> {
        let before = self.environment.clone();
        let mut declared = Vec::new();
        for (number, stmt) in list.iter().enumerate() {
            if let StmtKind::Declaration(variables) = &stmt.kind {
                declared.extend(variables.iter().map(|variable| variable.name.clone()));
            }
            self.at(number, |this| this.statement(stmt))?;
        }
        self.environment.leave(&before, &declared);
        Ok(())
    }

    /// Walks a part of a statement, by its number in the order of execution.
    fn at<T>(&mut self, number: usize, walk: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.order.push(u32::try_from(number).unwrap_or(u32::MAX));
        let result = walk(self);
        self.order.pop();
        result
    }

    fn declare(&mut self, variable: &Variable) -> Result<()> {
        let kind = match &variable.ctype {
            CType::Integer { .. } => Kind::Integer,
            CType::Floating(kind) if element_of(*kind).is_some() => Kind::Floating(*kind),
            other => {
                let message = format!("a variable of type `{}` in the loop", type_text(other));
                return limitation(codes::TYPE, &variable.span, message);
            }
        };
        if let Some(value) = &variable.value
            && value.mentions(&variable.name)
        {
            let message = format!("`{}` stands in its own first value", variable.name);
            return error(codes::EXPRESSION, &variable.span, message);
        }
        self.environment.set_type(&variable.name, variable.ctype.clone());
        match &variable.value {
            Some(value) => self.assign_scalar(&variable.name, kind, value, &variable.span),
            None => {
                self.environment.set(&variable.name, Held::Nothing(kind));
                Ok(())
            }
        }
    }

    fn assign_scalar(&mut self, name: &str, kind: Kind, value: &CExpr, span: &Span) -> Result<()> {
        let value = &self.folded(value);
        let held = match kind {
            Kind::Integer => {
                if self.depends(value).data || !self.kind_of(value)?.is_integer() {
                    let Some(ctype) = self.integer_ctype(name).cloned() else {
                        return self.unknown(name, span);
                    };
                    let value = self.whole_stored(value, &ctype)?;
                    self.hold(name, value)
                } else {
                    let value = self.held_integer(name, self.resolved(value)?);
                    Held::Integer(self.polynomial(&value), value)
                }
            }
            Kind::Floating(floating) => {
                let Some(element) = element_of(floating) else {
                    return limitation(
                        codes::TYPE,
                        span,
                        "long double is not supported; float and double are",
                    );
                };
                let value = self.converted(value, element)?;
                Held::Temporary(self.temporary(name, value), floating)
            }
        };
        self.environment.set(name, held);
        Ok(())
    }

    /// An integer's value with all integers of the loop in it written out.
    fn resolved(&self, value: &CExpr) -> Result<CExpr> {
        let mut size = 0;
        value.walk(&mut |part| {
            size += 1;
            if let CKind::Name(name) = &part.kind
                && let Some(Held::Integer(_, held)) = self.environment.get(name)
            {
                held.walk(&mut |_| size += 1);
            }
        });
        if size > MOST_WRITTEN_OUT {
            return limitation(
                codes::TOO_DEEP,
                &value.span,
                "integers that are computed from one another too often",
            );
        }
        let mut value = value.clone();
        self.write_out(&mut value);
        Ok(value)
    }

    pub(super) fn temporary(&mut self, name: &str, value: Expr) -> usize {
        // Pieces that compute the same have the same temporaries.
        let known = self.nest.temporaries.iter().position(|one| one.name == name && same(&one.value, &value));
        if let Some(known) = known {
            return known;
        }
        self.nest.temporaries.push(Temporary { name: name.to_owned(), value });
        self.nest.temporaries.len() - 1
    }

    fn expression_statement(&mut self, expr: &CExpr) -> Result<()> {
        match &expr.kind {
            CKind::Assign(operator, target, value) => self.assignment(*operator, target, value, &expr.span),
            CKind::Step(by, target) => {
                let one = CExpr {
                    kind: CKind::Integer { value: 1, text: "1".to_owned() },
                    span: expr.span.clone(),
                };
                let operator = if *by > 0 { BinaryOp::Add } else { BinaryOp::Sub };
                self.assignment(Some(operator), target, &one, &expr.span)
            }
            CKind::Comma(left, right) => {
                self.at(0, |this| this.expression_statement(left))?;
                self.at(1, |this| this.expression_statement(right))
            }
            CKind::Call(function, _) => {
                let name = match &function.kind {
                    CKind::Name(name) => format!("`{name}`"),
                    _ => "a function".to_owned(),
                };
                Err(Box::new(super::refusal::calls(&name, &expr.span)))
            }
            CKind::Cast(CType::Other(name), _) if name == "void" => Ok(()),
            _ => limitation(codes::STATEMENT, &expr.span, "a statement that assigns nothing"),
        }
    }

    fn assignment(
        &mut self,
        operator: Option<BinaryOp>,
        target: &CExpr,
        value: &CExpr,
        span: &Span,
    ) -> Result<()> {
        if let CKind::Assign(..) = &value.kind {
            return limitation(codes::STATEMENT, &value.span, "an assignment within an assignment");
        }
        // `a op= b` is `a = a op b`, with b in parentheses and a evaluated once; both hold here.
        let combined = operator.map(|operator| CExpr {
            kind: CKind::Binary(operator, Box::new(target.clone()), Box::new(value.clone())),
            span: span.clone(),
        });
        let value = combined.as_ref().unwrap_or(value);
        if let CKind::Name(name) = &target.kind {
            if self.open_loop(name).is_some() || *name == self.nest.time.name {
                return limitation(
                    codes::LOOP_FORM,
                    span,
                    format!("the index `{name}` is changed in its loop"),
                );
            }
            let kind = match self.environment.get(name) {
                Some(Held::Temporary(_, kind)) => Kind::Floating(*kind),
                Some(Held::Integer(..) | Held::Whole { .. }) => Kind::Integer,
                Some(Held::Nothing(kind) | Held::Carried(kind, _)) => *kind,
                None => {
                    let Some(variable) = self.region.variables.get(name) else {
                        return self.unknown(name, &target.span);
                    };
                    match &variable.ctype {
                        CType::Integer { .. } => Kind::Integer,
                        CType::Floating(kind) => Kind::Floating(*kind),
                        other => {
                            let message =
                                format!("`{name}`, of type `{}`, is assigned in the loop", type_text(other));
                            return match other.depth() {
                                0 => limitation(codes::TYPE, span, message),
                                _ => exchange::not_exchanged(name, span),
                            };
                        }
                    }
                }
            };
            if self.region.used_behind.contains(name) && self.environment.get(name).is_none() {
                let message = format!("`{name}` is computed in the loop and used behind it");
                return Err(Box::new(
                    Diagnostic::limitation(codes::LIVE_OUT, span.clone(), message)
                        .hint("declare the variable within the loop, if its last value is not needed"),
                ));
            }
            return self.assign_scalar(name, kind, value, span);
        }
        self.assign_element(target, value, span)
    }

    fn assign_element(&mut self, target: &CExpr, value: &CExpr, span: &Span) -> Result<()> {
        let kind = self.kind_of(target)?;
        let (base, indices) = subscripts(target);
        let CKind::Name(name) = &base.kind else {
            return limitation(codes::ARRAY, &base.span, "an array that is not a variable of its own");
        };
        if indices.is_empty() {
            return limitation(
                codes::STATEMENT,
                &target.span,
                "something other than an array or a variable is assigned",
            );
        }
        let integers = match kind {
            Kind::Floating(_) => None,
            Kind::Integer => self.member_type(target).cloned(),
        };
        let element = match (kind, &integers) {
            (Kind::Floating(kind), _) => element_of(kind),
            (Kind::Integer, Some(ctype)) => Some(self.integers_of(target, ctype)?.1),
            (Kind::Integer, None) => None,
        };
        let Some(element) = element else {
            let message = format!("`{name}` is not an array of float, double or integers");
            return limitation(codes::ARRAY, &target.span, message);
        };
        let polynomials: Option<Vec<Polynomial>> =
            indices.iter().map(|index| self.polynomial(index)).collect();
        let Some(indices) = polynomials else { return self.wrong_subscript(&indices) };
        if around::is_marked(&indices) {
            return limitation(
                codes::SUBSCRIPT,
                &target.span,
                "an assignment to an element whose index wraps around: the points of a statement are those of its loops",
            );
        }
        let value = self.folded(value);
        let value = match &integers {
            Some(ctype) => {
                let value = self.whole_element(&value, ctype)?;
                cast(value, element)
            }
            None => self.converted(&value, element)?,
        };
        let temporary = match value.kind {
            ExprKind::Local(LocalId(known)) => known,
            _ => self.temporary(name, value),
        };
        let own = Element {
            array: name.clone(),
            indices: indices.clone(),
            around: Vec::new(),
            element,
            span: target.span.clone(),
        };
        // What the same iteration has assigned to this element before is overwritten.
        let again =
            self.environment.elements.iter().position(|(array, at, _)| array == name && *at == indices);
        if let Some(at) = again {
            self.environment.elements.remove(at);
            let (path, narrowed) = (&self.path, &self.narrowed);
            for leaf in &mut self.nest.leaves {
                let same = leaf.target.array == *name
                    && leaf.target.indices == indices
                    && leaf.path == *path
                    && leaf.narrowed == *narrowed;
                leaf.overwritten |= same;
            }
        }
        self.environment.elements.push((name.clone(), indices, temporary));
        let value = Expr { kind: ExprKind::Local(LocalId(temporary)), element, span: span.clone() };
        if self.nest.leaves.len() >= MOST_LEAVES {
            let message = format!("the time loop has more than {MOST_LEAVES} assignments of arrays");
            return limitation(codes::TOO_DEEP, span, message);
        }
        let (path, narrowed) = (self.path.clone(), self.narrowed.clone());
        self.nest.leaves.push(Leaf {
            target: own,
            value,
            path,
            narrowed,
            order: self.order.clone(),
            touched: Touched::Always,
            span: span.clone(),
            overwritten: false,
        });
        Ok(())
    }

    /// The points of a loop, `low <= index < high`.
    fn points(&mut self, counter: &Counter, source: &ForLoop) -> Result<(Polynomial, Polynomial)> {
        let (first, limit) = (self.bound(&counter.first)?, self.bound(&counter.limit)?);
        let one = Polynomial::number(1);
        let bounds = match (counter.descending, counter.inclusive) {
            (false, false) => Some((first, limit)),
            (false, true) => limit.plus(&one, 1).map(|high| (first, high)),
            (true, inclusive) => {
                let low = limit.plus(&one, if inclusive { 0 } else { 1 });
                low.zip(first.plus(&one, 1))
            }
        };
        match bounds {
            Some(bounds) => Ok(bounds),
            None => limitation(codes::BOUND, &source.head, "the bounds of this loop are too large"),
        }
    }

    /// Has the rewritten program ask whether a loop has a round.
    pub(super) fn has_rounds(&mut self, source: &ForLoop) -> Result<()> {
        let (low, high) = self.points(&counter(source)?.by_one(source)?, source)?;
        if let Some(first) = low.plus(&Polynomial::number(1), 1) {
            self.assumed.borrow_mut().push((first, high));
        }
        Ok(())
    }

    fn space_loop(&mut self, source: &ForLoop) -> Result<()> {
        let counter = counter(source)?.by_one(source)?;
        self.check_signs(&counter, &source.head)?;
        if counter.name == self.nest.time.name || self.open_loop(&counter.name).is_some() {
            let message = format!("the index `{}` is that of a loop around this one", counter.name);
            return limitation(codes::LOOP_FORM, &source.head, message);
        }
        let (low, high) = self.points(&counter, source)?;
        if let Some(count) = high.distance(&low)
            && let Some(from) = low.constant()
            && count <= MOST_UNROLLED
            && !self.indexes_arrays(&source.body, &counter.name)
        {
            if counter.type_name.is_none() && self.region.variables.contains_key(&counter.name) {
                let last = if counter.descending { from - 1 } else { from + count.max(0) };
                self.nest.unrolled.push((counter.name.clone(), last));
            }
            return self.unrolled(source, &counter.name, from, count.max(0), counter.descending);
        }
        let type_name = match (&counter.type_name, self.region.variables.get(&counter.name)) {
            (Some(name), _) => name.clone(),
            (None, Some(Variable { ctype: CType::Integer { name, .. }, .. })) => name.clone(),
            (None, Some(_)) => {
                return limitation(codes::LOOP_FORM, &source.head, "the loop's index is not an integer");
            }
            (None, None) => match self.environment.get(&counter.name) {
                Some(
                    Held::Integer(..)
                    | Held::Whole { .. }
                    | Held::Nothing(Kind::Integer)
                    | Held::Carried(Kind::Integer, _),
                ) => "long".to_owned(),
                _ => return self.unknown(&counter.name, &source.head),
            },
        };
        let declared = counter.type_name.is_some() || !self.region.variables.contains_key(&counter.name);
        let key = LoopKey {
            order: self.order.clone(),
            path: self.path.clone(),
            low: low.clone(),
            high: high.clone(),
        };
        // Segments of a loop around this one share it.
        let known = self.keys.iter().position(|other| *other == key);
        let at = known.unwrap_or_else(|| {
            self.keys.push(key.clone());
            self.nest.loops.push(SpaceLoop {
                name: counter.name.clone(),
                type_name,
                low: low.clone(),
                high: high.clone(),
                descending: counter.descending,
                parent: self.path.last().copied(),
                declared,
                span: source.head.clone(),
            });
            self.nest.loops.len() - 1
        });
        let before = self.environment.clone();
        self.environment.forget(&counter.name);
        let carried: Vec<(String, Held)> = assigned_within(&source.body)
            .into_iter()
            .filter_map(|(name, span)| Some((name.clone(), Held::Carried(self.kind_of_scalar(&name)?, span))))
            .collect();
        for (name, held) in &carried {
            self.environment.set(name, held.clone());
        }
        self.environment.elements.clear();
        let (nest, keys, inside) = (self.nest.clone(), self.keys.clone(), self.environment.clone());
        loop {
            let cuts = self.cuts.borrow().get(&key).cloned().unwrap_or_default();
            let result = self.segments(source, at, &cuts, &inside);
            let found = self.cuts.borrow().get(&key).cloned().unwrap_or_default();
            if found == cuts {
                result?;
                if let Some(pair) = cuts.assumed(&low, &high) {
                    self.assumed.borrow_mut().push(pair);
                }
                break;
            }
            // Conditions are known in shorter segments.
            self.check_cuts(&found, &source.head)?;
            self.nest = nest.clone();
            self.keys.clone_from(&keys);
        }
        // Behind the loop: scalars that it assigned hold what its last point left.
        for (name, held) in carried {
            if before.get(&name).is_some() || self.environment.get(&name).is_some() {
                self.environment.set(&name, held);
            }
        }
        // An index that is declared in the time loop may be that of another loop.
        if before.get(&counter.name).is_some() {
            self.environment.set(&counter.name, Held::Nothing(Kind::Integer));
        }
        self.environment.elements.clear();
        Ok(())
    }

    /// Walks a loop's body once for each of its segments.
    fn segments(&mut self, source: &ForLoop, at: usize, cuts: &Cuts, inside: &Environment) -> Result<()> {
        let (low, high) = (self.nest.loops[at].low.clone(), self.nest.loops[at].high.clone());
        let Some(segments) = cuts.segments(&low, &high) else {
            return limitation(codes::BOUND, &source.head, "the bounds of this loop are too large");
        };
        for (number, (first, behind)) in segments.into_iter().enumerate() {
            self.environment = inside.clone();
            self.path.push(at);
            self.narrowed.push((at, first, behind));
            self.segments.push(Segment { of: at, cuts: cuts.clone(), number });
            let result = self.statement(&source.body);
            self.segments.pop();
            self.narrowed.pop();
            self.path.pop();
            result?;
        }
        Ok(())
    }

    fn kind_of_scalar(&self, name: &str) -> Option<Kind> {
        match self.environment.get(name) {
            Some(Held::Integer(..) | Held::Whole { .. }) => Some(Kind::Integer),
            Some(Held::Temporary(_, kind)) => Some(Kind::Floating(*kind)),
            Some(Held::Nothing(kind) | Held::Carried(kind, _)) => Some(*kind),
            None => match &self.region.variables.get(name)?.ctype {
                CType::Integer { .. } => Some(Kind::Integer),
                CType::Floating(kind) => Some(Kind::Floating(*kind)),
                _ => Some(Kind::Floating(Floating::Double)),
            },
        }
    }

    /// Whether an index is in a subscript of something that a loop's body assigns.
    fn indexes_arrays(&self, body: &Stmt, name: &str) -> bool {
        let mut found = false;
        body.walk_expressions(&mut |expr| {
            if let CKind::Assign(_, target, _) | CKind::Step(_, target) = &expr.kind {
                let (base, indices) = subscripts(target);
                found |=
                    matches!(base.kind, CKind::Name(_)) && indices.iter().any(|index| index.mentions(name));
            }
        });
        found
    }

    fn unrolled(
        &mut self,
        source: &ForLoop,
        name: &str,
        from: i64,
        count: i64,
        descending: bool,
    ) -> Result<()> {
        let before = self.environment.clone();
        for round in 0..count {
            let value = if descending { from + count - 1 - round } else { from + round };
            let literal = CExpr {
                kind: CKind::Integer { value, text: format!("({value})") },
                span: source.head.clone(),
            };
            self.environment.set(name, Held::Integer(Some(Polynomial::number(value)), literal));
            if let Some(StmtKind::Declaration(variables)) = source.start.as_ref().map(|start| &start.kind)
                && let Some(variable) = variables.first()
            {
                self.environment.set_type(name, variable.ctype.clone());
            }
            self.at(usize::try_from(round).unwrap_or(usize::MAX), |this| this.statement(&source.body))?;
        }
        self.environment.leave(&before, &[name.to_owned()]);
        Ok(())
    }

    fn conditional(
        &mut self,
        condition: &CExpr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
        span: &Span,
    ) -> Result<()> {
        let condition = &self.folded(condition);
        if let Some(truth) = self.truth(condition) {
            return match (truth, otherwise) {
                (true, _) => self.at(0, |this| this.statement(then)),
                (false, Some(otherwise)) => self.at(1, |this| this.statement(otherwise)),
                (false, None) => Ok(()),
            };
        }
        let mut holds_loop = None;
        for branch in [Some(then), otherwise].into_iter().flatten() {
            branch.walk(&mut |stmt| {
                if let StmtKind::For(source) = &stmt.kind {
                    holds_loop.get_or_insert(source.head.clone());
                }
            });
        }
        if let Some(head) = holds_loop {
            return Err(Box::new(
                Diagnostic::limitation(codes::STATEMENT, head, "a loop that runs under a condition")
                    .related(condition.span.clone(), "this condition")
                    .note("every time step must compute the same points"),
            ));
        }
        let truth = self.condition(condition)?;
        let start = self.environment.clone();
        let first = self.nest.leaves.len();
        self.at(0, |this| this.under(condition, true, |this| this.statement(then)))?;
        let after_then = std::mem::replace(&mut self.environment, start.clone());
        let then_leaves = self.nest.leaves.split_off(first);
        if let Some(otherwise) = otherwise {
            self.at(1, |this| this.under(condition, false, |this| this.statement(otherwise)))?;
        }
        let after_otherwise = std::mem::replace(&mut self.environment, start.clone());
        let otherwise_leaves = self.nest.leaves.split_off(first);
        self.merge_scalars(&truth, &after_then, &after_otherwise, span)?;
        let touched = self.touched_if(condition);
        self.at(2, |this| this.merge_leaves(&truth, touched, then_leaves, otherwise_leaves))
    }

    /// After both branches, each scalar holds what the branch that ran gave it.
    fn merge_scalars(
        &mut self,
        truth: &Condition,
        then: &Environment,
        otherwise: &Environment,
        span: &Span,
    ) -> Result<()> {
        let names: std::collections::BTreeSet<String> =
            then.names().into_iter().chain(otherwise.names()).collect();
        for name in names {
            let held = match (then.get(&name), otherwise.get(&name)) {
                (Some(a), Some(b)) if a == b => a.clone(),
                (Some(Held::Temporary(a, kind)), Some(Held::Temporary(b, _))) => {
                    let element = element_of(*kind).unwrap_or(polyhedral::program::ElementType::F64);
                    let local =
                        |id: usize| Expr { kind: ExprKind::Local(LocalId(id)), element, span: span.clone() };
                    let kind_of_node =
                        ExprKind::Select(Box::new(truth.clone()), Box::new(local(*a)), Box::new(local(*b)));
                    let value = Expr { kind: kind_of_node, element, span: span.clone() };
                    Held::Temporary(self.temporary(&name, value), *kind)
                }
                (
                    Some(a @ (Held::Integer(..) | Held::Whole { .. })),
                    Some(b @ (Held::Integer(..) | Held::Whole { .. })),
                ) => {
                    match self.whole_of(a, span).and_then(|a| Ok((a, self.whole_of(b, span)?))) {
                        Ok((a, b)) => {
                            let value = self.whole_select(truth, a, b, span);
                            self.hold(&name, value)
                        }
                        // It must not be used behind.
                        Err(_) => Held::Nothing(Kind::Integer),
                    }
                }
                // Assigned in one branch only: it must not be used behind.
                (Some(held), _) | (None, Some(held)) => match held {
                    Held::Integer(..) | Held::Whole { .. } => Held::Nothing(Kind::Integer),
                    Held::Temporary(_, kind) => Held::Nothing(Kind::Floating(*kind)),
                    other => other.clone(),
                },
                (None, None) => continue,
            };
            self.environment.set(&name, held);
        }
        Ok(())
    }

    /// Assignments in branches become selections; an element that one branch leaves alone keeps its value.
    fn merge_leaves(
        &mut self,
        truth: &Condition,
        touched: Touched,
        then: Vec<Leaf>,
        otherwise: Vec<Leaf>,
    ) -> Result<()> {
        let mut pairs: Vec<(Option<Leaf>, Option<Leaf>)> =
            then.into_iter().map(|leaf| (Some(leaf), None)).collect();
        for leaf in otherwise {
            let same = |other: &Leaf| {
                other.target.array == leaf.target.array && other.target.indices == leaf.target.indices
            };
            match pairs
                .iter_mut()
                .find(|(then, otherwise)| otherwise.is_none() && then.as_ref().is_some_and(same))
            {
                Some(pair) => pair.1 = Some(leaf),
                None => pairs.push((None, Some(leaf))),
            }
        }
        for (number, (then, otherwise)) in pairs.into_iter().enumerate() {
            let Some(mut leaf) = then.clone().or(otherwise.clone()) else { continue };
            let element = leaf.target.element;
            let both = then.as_ref().zip(otherwise.as_ref()).map(|(a, b)| a.touched.max(b.touched));
            leaf.touched = both.unwrap_or(leaf.touched.max(touched));
            leaf.order = self.order.clone();
            leaf.order.push(u32::try_from(number).unwrap_or(u32::MAX));
            let order = leaf.order.clone();
            // What the same iteration has assigned before is what a branch leaves alone, and is overwritten.
            let target = leaf.target.clone();
            let before = self
                .environment
                .elements
                .iter()
                .position(|(array, at, _)| *array == target.array && *at == target.indices)
                .map(|at| self.environment.elements.remove(at).2);
            if before.is_some() {
                leaf.touched = Touched::Always;
                for other in &mut self.nest.leaves {
                    other.overwritten |= other.target.array == target.array
                        && other.target.indices == target.indices
                        && other.path == leaf.path
                        && other.narrowed == leaf.narrowed;
                }
            }
            let mut side = |leaf: Option<Leaf>| match (leaf, before) {
                (Some(leaf), _) => Ok(leaf.value),
                (None, Some(id)) => {
                    Ok(Expr { kind: ExprKind::Local(LocalId(id)), element, span: target.span.clone() })
                }
                (None, None) => {
                    self.read_at(ReadOf::State(target.clone()), element, &target.span, touched, &order)
                }
            };
            let (a, b) = (side(then)?, side(otherwise)?);
            let kind = ExprKind::Select(
                Box::new(truth.clone()),
                Box::new(cast(a, element)),
                Box::new(cast(b, element)),
            );
            let value = Expr { kind, element, span: leaf.span.clone() };
            let temporary = self.temporary(&target.array, value);
            self.environment.elements.push((target.array, target.indices, temporary));
            leaf.value = Expr { kind: ExprKind::Local(LocalId(temporary)), element, span: leaf.span.clone() };
            if self.nest.leaves.len() >= MOST_LEAVES {
                return error(codes::TOO_DEEP, &leaf.span, "too many assignments of arrays");
            }
            self.nest.leaves.push(leaf);
        }
        Ok(())
    }
}
