//! Loops over space: their points, cut where conditions on indices change, or unrolled where no array is indexed by them.

use super::counter::{Counter, counter};
use super::cuts::{Cuts, Segment};
use super::element::subscripts;
use super::loops::{Left, SpaceLoop};
use super::refusal::{Result, limitation};
use super::scalars::{Environment, Held, Kind, assigned_within};
use super::walker::{LoopKey, Walker};
use crate::ast::{
    BinaryOp, CType, Expr as CExpr, ExprKind as CKind, Floating, ForLoop, Stmt, StmtKind, Variable,
};
use crate::codes;
use crate::polynomial::{Polynomial, Symbol};

/// Loops over a number of points that is known and not above this are unrolled where no array is indexed by them.
const MOST_UNROLLED: i64 = 64;
/// Most rounds of a loop over neighbours or directions of a point that says where it writes by a scalar: a longer one is over space.
const MOST_BESIDE: i64 = 9;

impl Walker<'_> {
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

    pub(super) fn space_loop(&mut self, source: &ForLoop) -> Result<()> {
        let counter = counter(source)?.by_one(source)?;
        self.check_signs(&counter, &source.head)?;
        if counter.name == self.nest.time.name || self.open_loop(&counter.name).is_some() {
            let message = format!("the index `{}` is that of a loop around this one", counter.name);
            return limitation(codes::LOOP_FORM, &source.head, message);
        }
        if let Some(rounds) = self.rounds_beside(&counter, source) {
            return self.unrolled_beside(source, &counter, rounds);
        }
        let (low, high) = self.points(&counter, source)?;
        if let Some(count) = high.distance(&low)
            && let Some(from) = low.constant()
            && count <= MOST_UNROLLED
            && !self.indexes_arrays(&source.body, &counter.name)
            && !(count > MOST_BESIDE && places_by(&source.body, &counter.name))
        {
            if !self.own_index(&counter) {
                let last = match (counter.descending, count > 0) {
                    (true, true) => from - 1,
                    (true, false) => from + count - 1,
                    (false, _) => from + count.max(0),
                };
                self.leave(&counter.name, last, source)?;
            }
            return self.unrolled(source, &counter.name, from, count.max(0), counter.descending);
        }
        let own = self.own_index(&counter);
        let outside = self.region.variables.get(&counter.name).filter(|_| !own);
        let type_name = match (&counter.type_name, outside) {
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
                declared: own,
                span: source.head.clone(),
            });
            self.nest.loops.len() - 1
        });
        if !own {
            self.nest.left.push(Left::Loop(at));
        }
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
        let read = self.read.clone();
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
            self.check_cuts(&found, source, &counter.name)?;
            self.nest = nest.clone();
            self.keys.clone_from(&keys);
            self.read.clone_from(&read);
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

    /// Notes what an unrolled loop leaves in its index. The segments of loops around it are walked upwards: what the last one leaves is not
    /// known of a loop that counts down.
    fn leave(&mut self, name: &str, last: i64, source: &ForLoop) -> Result<()> {
        let otherwise =
            |one: &Left| matches!(one, Left::Number(other, value) if other == name && *value != last);
        let down = self.path.iter().any(|at| self.nest.loops[*at].descending);
        if down && self.nest.left.iter().any(otherwise) {
            let message = format!("loops leave several values in `{name}`, within one that counts down");
            return limitation(codes::LOOP_FORM, &source.head, message);
        }
        self.nest.left.push(Left::Number(name.to_owned(), last));
        Ok(())
    }

    /// Whether the time loop declares a loop's index, also where it hides a variable of the same name.
    fn own_index(&self, counter: &Counter) -> bool {
        counter.type_name.is_some()
            || self.environment.ctype(&counter.name).is_some()
            || !self.region.variables.contains_key(&counter.name)
    }

    /// The number of rounds of a loop over the neighbours of a point, `for (a = i - 1; a <= i + 1; a++)`, which no array that
    /// is computed is indexed by.
    fn rounds_beside(&self, counter: &Counter, source: &ForLoop) -> Option<i64> {
        let (first, limit) =
            (self.polynomial(&self.folded(&counter.first))?, self.polynomial(&self.folded(&counter.limit))?);
        let of_index = |value: &Polynomial| {
            value.symbols().iter().any(|symbol| matches!(symbol, Symbol::Index(_))) && !value.has_time()
        };
        let changed = assigned_within(&source.body);
        let stays = |name: &String| !counter.first.mentions(name) && !counter.limit.mentions(name);
        let own = self.own_index(counter);
        let rounds = limit.distance(&first)? + i64::from(counter.inclusive);
        (of_index(&first)
            && own
            && !counter.descending
            && rounds <= MOST_UNROLLED
            && changed.iter().all(|(name, _)| stays(name) && *name != counter.name)
            && !self.indexes_arrays(&source.body, &counter.name))
        .then_some(rounds.max(0))
    }

    fn unrolled_beside(&mut self, source: &ForLoop, counter: &Counter, rounds: i64) -> Result<()> {
        let before = self.environment.clone();
        let place = &counter.first.span;
        let made = |kind| CExpr { kind, span: place.clone() };
        for round in 0..rounds {
            let by = made(CKind::Integer { value: round, text: round.to_string() });
            let value = made(CKind::Binary(BinaryOp::Add, Box::new(counter.first.clone()), Box::new(by)));
            if let Some(StmtKind::Declaration(variables)) = source.start.as_ref().map(|start| &start.kind)
                && let Some(variable) = variables.first()
            {
                self.environment.set_type(&counter.name, variable.ctype.clone());
            }
            self.assign_scalar(&counter.name, Kind::Integer, &value, place)?;
            self.at(usize::try_from(round).unwrap_or(usize::MAX), |this| this.statement(&source.body))?;
        }
        self.environment.leave(&before, std::slice::from_ref(&counter.name));
        Ok(())
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
}

/// Whether an index is in a subscript of something that a loop's body assigns by way of scalars: `at = x + y * nx; u[at] = ..`.
fn places_by(body: &Stmt, name: &str) -> bool {
    let mut names = vec![name.to_owned()];
    let mut found = false;
    let linear = |value: &CExpr, names: &[String]| {
        let mut plain = true;
        value.walk(&mut |part| plain &= !matches!(part.kind, CKind::Index(..) | CKind::Call(..)));
        plain && names.iter().any(|name| value.mentions(name))
    };
    body.walk(&mut |stmt| match &stmt.kind {
        StmtKind::Declaration(list) => {
            for one in list {
                if one.value.as_ref().is_some_and(|value| linear(value, &names)) {
                    names.push(one.name.clone());
                }
            }
        }
        StmtKind::Expr(CExpr { kind: CKind::Assign(_, target, value), .. }) => match &target.kind {
            CKind::Name(own) if linear(value, &names) => names.push(own.clone()),
            _ => {
                let (base, indices) = subscripts(target);
                found |= matches!(base.kind, CKind::Name(_))
                    && indices.iter().any(|index| names.iter().any(|name| index.mentions(name)));
            }
        },
        _ => {}
    });
    found
}
