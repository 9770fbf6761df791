//! Memory that a step takes and gives back, `double *next = malloc(n * sizeof(double)); .. free(next);`, as arrays of the step.
//!
//! Let `p` be a pointer that a block declares, to which nothing happens but that memory is taken for it, that its elements are
//! touched, and that it is given back. Nobody else knows where it points to, so any memory with as many elements does. Of a
//! pointer to rows, the rows are taken in loops, all of one length, or lie in one piece of memory ([`super::rows`]).
//!
//! What `malloc` gives holds nothing, as an array does that is declared; `calloc` becomes zeros that are assigned.

use super::inliner::Inliner;
use super::memory::row_by_row;
use super::sizes::{extent_text, extents_in_size, is_size_of, product};
use super::taking::{freed, indexed, is_heap, is_null, taken};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, ForLoop, Stmt, StmtKind, UnaryOp, Variable};
use polyhedral::source::Span;

impl Inliner<'_> {
    /// Statements of one block with arrays in the place of memory that they take.
    pub(super) fn without_memory(&mut self, mut list: Vec<Stmt>) -> Vec<Stmt> {
        if !list.iter().any(holds_heap) {
            return list;
        }
        for one in pointers(&list) {
            if let Some(found) = self.with_rows_in_one_piece(&list, &one) {
                list = found;
            }
        }
        for one in pointers(&list) {
            if let Some(found) = self.handed_over(&list, &one) {
                list = found;
                continue;
            }
            match self.with_array(&list, &one) {
                Ok(found) => list = found,
                Err(place) => {
                    if let Some(place) = place {
                        self.obstacles.entry(self.current.clone()).or_insert((one.name, place));
                    }
                }
            }
        }
        list
    }

    /// The statements with an array in the place of a pointer; where memory is taken for it and it stays, why.
    pub(super) fn with_array(
        &mut self,
        list: &[Stmt],
        pointer: &Variable,
    ) -> Result<Vec<Stmt>, Option<Span>> {
        let own = self.own.clone();
        let own = |name: &str| own.contains(name);
        let mut memory = Memory::new(pointer, &own).ok_or(None)?;
        let Some(mut found) = memory.list(self, list, false) else {
            return Err(memory.obstacle.filter(|_| memory.extents[0].is_some()));
        };
        let Memory { extents, inner, element, .. } = memory;
        let extents: Vec<Expr> = extents.into_iter().collect::<Option<_>>().ok_or(None)?;
        let ctype = extents.into_iter().chain(inner).rev().fold(element, |inner, extent| {
            CType::Array(Box::new(inner), Some(Box::new(self.written_out(&extent))))
        });
        self.declared.insert(pointer.name.clone(), ctype.clone());
        for stmt in &mut found {
            stmt.walk_mut(&mut |part| {
                let StmtKind::Declaration(list) = &mut part.kind else { return };
                let own = list.iter_mut().filter(|one| one.name == pointer.name);
                own.for_each(|one| one.ctype.clone_from(&ctype));
            });
        }
        Ok(found)
    }
}

impl Inliner<'_> {
    /// The same of the bodies of a region's loops.
    pub(super) fn without_memory_of_steps(&mut self, statements: &mut [Stmt]) {
        self.within_steps = true;
        for stmt in statements {
            stmt.walk_mut(&mut |part| {
                let body = match &mut part.kind {
                    StmtKind::For(source) => &mut source.body,
                    StmtKind::While(source) => &mut source.body,
                    _ => return,
                };
                if let StmtKind::Block(list) = &mut body.kind {
                    let own = &self.own;
                    let answered = super::had::answered(std::mem::take(list), &|name| own.contains(name));
                    *list = self.without_memory(answered);
                }
            });
        }
    }

    /// The statements of the region's own whose calls take memory, or give it back, that is still the program's.
    pub(super) fn own_memory_left(&self, statements: &[Stmt]) -> Vec<Span> {
        let mut found: Vec<Span> = Vec::new();
        for stmt in statements {
            stmt.walk(&mut |part| {
                if self.lent.contains(&part.span) && !found.contains(&part.span) && holds_heap(part) {
                    found.push(part.span.clone());
                }
            });
        }
        found
    }
}

/// Whether a statement takes memory or gives it back.
fn holds_heap(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk_expressions(&mut |part| {
        if let ExprKind::Call(function, _) = &part.kind {
            found |= matches!(&function.kind, ExprKind::Name(name) if is_heap(name));
        }
    });
    found
}

/// The pointers that a block declares, or blocks in it, each once.
fn pointers(list: &[Stmt]) -> Vec<Variable> {
    fn declared(list: &[Stmt], found: &mut Vec<Variable>) {
        for stmt in list {
            match &stmt.kind {
                StmtKind::Block(inner) => declared(inner, found),
                StmtKind::Declaration(own) => {
                    found.extend(own.iter().filter(|one| matches!(one.ctype, CType::Pointer(_))).cloned());
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    declared(list, &mut found);
    let count = |name: &str| {
        let mut count = 0;
        for stmt in list {
            stmt.walk(&mut |part| {
                if let StmtKind::Declaration(own) = &part.kind {
                    count += own.iter().filter(|one| one.name == name).count();
                }
            });
        }
        count
    };
    found.retain(|one| count(&one.name) == 1);
    found
}

/// A pointer whose memory becomes an array.
struct Memory<'a> {
    name: &'a str,
    own: &'a dyn Fn(&str) -> bool,
    /// What one, two, .. subscripts reach.
    reached: Vec<CType>,
    element: CType,
    /// Per level of pointers, how many elements were taken.
    extents: Vec<Option<Expr>>,
    /// The extents of the arrays that the last pointers point to.
    inner: Vec<Expr>,
    /// Whether memory was given back.
    freed: bool,
    /// The statement that does something else.
    obstacle: Option<Span>,
}

impl<'a> Memory<'a> {
    fn new(pointer: &'a Variable, own: &'a dyn Fn(&str) -> bool) -> Option<Self> {
        let (mut reached, mut inner, mut at) = (Vec::new(), Vec::new(), &pointer.ctype);
        while let CType::Pointer(to) = at {
            reached.push((**to).clone());
            at = to;
        }
        let levels = reached.len();
        while let CType::Array(to, extent) = at {
            inner.push(extent.as_deref().cloned()?);
            at = to;
        }
        let number =
            matches!(at, CType::Floating(Floating::Float | Floating::Double) | CType::Integer { .. });
        (number && levels > 0).then(|| Memory {
            name: &pointer.name,
            own,
            reached,
            element: at.clone(),
            extents: vec![None; levels],
            inner,
            freed: false,
            obstacle: None,
        })
    }

    /// Statements without what takes memory and gives it back; `None` if something else happens to the pointer.
    fn list(&mut self, inliner: &mut Inliner<'_>, list: &[Stmt], looped: bool) -> Option<Vec<Stmt>> {
        let mut found = Vec::new();
        for stmt in list {
            let Some(own) = self.statement(inliner, stmt, looped) else {
                self.obstacle.get_or_insert(stmt.span.clone());
                return None;
            };
            found.extend(own);
        }
        Some(found)
    }

    fn statement(&mut self, inliner: &mut Inliner<'_>, stmt: &Stmt, looped: bool) -> Option<Vec<Stmt>> {
        if !mentions(stmt, self.name) {
            return Some(vec![stmt.clone()]);
        }
        let with = |kind| Some(vec![Stmt { kind, span: stmt.span.clone() }]);
        match &stmt.kind {
            StmtKind::Block(list) => {
                let list = self.list(inliner, list, looped)?;
                if list.is_empty() { Some(list) } else { with(StmtKind::Block(list)) }
            }
            StmtKind::Declaration(list) => {
                let (mut kept, mut behind) = (list.clone(), Vec::new());
                for one in &mut kept {
                    match one.value.take_if(|_| one.name == self.name) {
                        Some(value) if is_null(&value) => {}
                        Some(value) => behind = self.takes(inliner, (0, &[]), &value, looped)?,
                        None if one.value.as_ref().is_some_and(|value| !self.plain(value)) => return None,
                        None => {}
                    }
                }
                let declared = Stmt { kind: StmtKind::Declaration(kept), span: stmt.span.clone() };
                Some([vec![declared], behind].concat())
            }
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })
                if self.is_row(target) =>
            {
                // A pointer that is set to nothing behind its memory.
                if is_null(value) {
                    return self.freed.then(Vec::new);
                }
                let (_, subscripts) = indexed(target);
                if !subscripts.iter().all(|index| self.plain(index)) {
                    return None;
                }
                self.takes(inliner, (subscripts.len(), &subscripts), value, looped)
            }
            StmtKind::Expr(call) if freed(call, self.own).is_some_and(|pointer| self.is_row(pointer)) => {
                self.freed = true;
                Some(Vec::new())
            }
            StmtKind::For(source) => {
                let plain = |part: &Option<Expr>| part.as_ref().is_none_or(|part| self.plain(part));
                let starts = source.start.as_ref().is_none_or(|start| !mentions(start, self.name));
                if !(starts && plain(&source.condition) && plain(&source.step)) {
                    return None;
                }
                let body = self.statement(inliner, &source.body, true)?;
                if body.is_empty() {
                    return Some(without_body(source, stmt));
                }
                let body = match <[Stmt; 1]>::try_from(body) {
                    Ok([one]) => one,
                    Err(list) => Stmt { kind: StmtKind::Block(list), span: source.body.span.clone() },
                };
                with(StmtKind::For(Box::new(ForLoop { body, ..(**source).clone() })))
            }
            _ => self.is_plain(stmt).then(|| vec![stmt.clone()]),
        }
    }

    /// Whether an expression is the pointer, or one of its rows.
    fn is_row(&self, expr: &Expr) -> bool {
        let (base, subscripts) = indexed(expr);
        self.is_own(base) && subscripts.len() < self.extents.len()
    }

    fn is_own(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if name == self.name)
    }

    /// Memory for the pointer, or for its rows.
    fn takes(
        &mut self,
        inliner: &mut Inliner<'_>,
        (level, subscripts): (usize, &[&Expr]),
        value: &Expr,
        looped: bool,
    ) -> Option<Vec<Stmt>> {
        let (bytes, zeros) = taken(value, self.own)?;
        // Each row is taken in its own round.
        if self.freed || (level == 0 && looped) || (level > 0 && self.extents[level - 1].is_none()) {
            return None;
        }
        let extent = self.elements(&inliner.written_out(&bytes), level)?;
        match &self.extents[level] {
            Some(known) if extent_text(known) == extent_text(&extent) && level > 0 => {}
            Some(_) => return None,
            None => self.extents[level] = Some(extent.clone()),
        }
        let last = level + 1 == self.extents.len();
        Some(match zeros && last {
            true => {
                let name = Expr { kind: ExprKind::Name(self.name.to_owned()), span: value.span.clone() };
                let row = subscripts.iter().fold(name, |row, index| Expr {
                    kind: ExprKind::Index(Box::new(row), Box::new((*index).clone())),
                    span: value.span.clone(),
                });
                let extents: Vec<Expr> = std::iter::once(extent).chain(self.inner.iter().cloned()).collect();
                vec![inliner.zeros(row, &extents, &self.element, &value.span)]
            }
            false => Vec::new(),
        })
    }

    /// How many elements of a level so many bytes are.
    fn elements(&self, bytes: &Expr, level: usize) -> Option<Expr> {
        if level + 1 == self.extents.len()
            && let Some(extents) = extents_in_size(bytes, &self.element)
        {
            let (first, others) = extents.split_first()?;
            let alike = others.iter().map(extent_text).eq(self.inner.iter().map(extent_text));
            return alike.then(|| first.clone());
        }
        let mut factors = Vec::new();
        product(bytes, &mut factors);
        let of = &self.reached[level];
        let at = factors.iter().position(|factor| is_size_of(factor, of, (self.name, level + 1)));
        let mut rest: Vec<Expr> = Vec::new();
        match at {
            Some(at) => {
                factors.remove(at);
                rest = factors;
            }
            // Rows of arrays, by the size of a number.
            None if level + 1 == self.extents.len() && !self.inner.is_empty() => {
                let at =
                    factors.iter().position(|factor| is_size_of(factor, &self.element, (self.name, 0)))?;
                factors.remove(at);
                for extent in &self.inner {
                    let at = factors.iter().rposition(|factor| extent_text(factor) == extent_text(extent))?;
                    factors.remove(at);
                }
                rest.extend(factors);
            }
            None => return None,
        }
        let span = bytes.span.clone();
        let one = Expr { kind: ExprKind::Integer { value: 1, text: "1".to_owned() }, span: span.clone() };
        let product = rest.into_iter().reduce(|a, b| Expr {
            kind: ExprKind::Binary(BinaryOp::Mul, Box::new(a), Box::new(b)),
            span: span.clone(),
        });
        Some(product.unwrap_or(one))
    }

    /// Whether a statement does nothing with the pointer but to touch elements, after its memory is there and before it is given
    /// back.
    fn is_plain(&self, stmt: &Stmt) -> bool {
        let mut plain = self.extents.iter().all(Option::is_some) && !self.freed;
        stmt.walk(&mut |part| match &part.kind {
            StmtKind::Other(_, names) => plain &= !names.iter().any(|own| own == self.name),
            StmtKind::Declaration(own) => plain &= own.iter().all(|one| one.name != self.name),
            _ => {}
        });
        let (mut all, mut elements) = (0, 0);
        stmt.walk_expressions(&mut |part| self.count(part, &mut all, &mut elements));
        plain && all == elements
    }

    /// The same of an expression.
    fn plain(&self, expr: &Expr) -> bool {
        let (mut all, mut elements) = (0, 0);
        expr.walk(&mut |part| self.count(part, &mut all, &mut elements));
        all == elements && (all == 0 || (self.extents.iter().all(Option::is_some) && !self.freed))
    }

    /// Counts how often the pointer is named, and how often for an element whose address nobody takes.
    fn count(&self, part: &Expr, all: &mut usize, elements: &mut usize) {
        match &part.kind {
            ExprKind::Name(_) => *all += usize::from(self.is_own(part)),
            ExprKind::Index(..) => {
                let (base, subscripts) = indexed(part);
                let depth = self.extents.len() + self.inner.len();
                *elements += usize::from(self.is_own(base) && subscripts.len() == depth);
            }
            ExprKind::Unary(UnaryOp::Address, object) => {
                let (base, _) = indexed(object);
                *all += usize::from(self.is_own(base));
            }
            ExprKind::Other(_, text) => {
                *all += usize::from(crate::preprocess::words(text).contains(self.name));
            }
            _ => {}
        }
    }
}

impl Inliner<'_> {
    /// Zeros in all elements of an array.
    fn zeros(&mut self, array: Expr, extents: &[Expr], element: &CType, place: &Span) -> Stmt {
        let made = |kind| Expr { kind, span: place.clone() };
        let zero = || made(ExprKind::Integer { value: 0, text: "0".to_owned() });
        // A flattened array row by row, as its elements are touched.
        let mut factors = Vec::new();
        if let [elements] = extents {
            product(elements, &mut factors);
        }
        let extents = if factors.len() > 1 { factors.as_slice() } else { extents };
        let names: Vec<String> = extents.iter().map(|_| self.fresh("at")).collect();
        let name = |name: &String| Box::new(made(ExprKind::Name(name.clone())));
        let target = match factors.len() > 1 {
            true => made(ExprKind::Index(Box::new(array), Box::new(row_by_row(&names, extents, place)))),
            false => {
                names.iter().fold(array, |array, index| made(ExprKind::Index(Box::new(array), name(index))))
            }
        };
        let value = made(ExprKind::Cast(element.clone(), Box::new(zero())));
        let assigned = made(ExprKind::Assign(None, Box::new(target), Box::new(value)));
        let stmt = Stmt { kind: StmtKind::Expr(assigned), span: place.clone() };
        self.in_loops(stmt, &names, extents, place)
    }
}

/// A loop that does nothing any more, and only leaves its index behind: nothing at all, where that is the loop's own.
fn without_body(source: &ForLoop, stmt: &Stmt) -> Vec<Stmt> {
    if matches!(source.start.as_ref().map(|start| &start.kind), Some(StmtKind::Declaration(_))) {
        return Vec::new();
    }
    let body = Stmt { kind: StmtKind::Empty, span: source.body.span.clone() };
    let kind = StmtKind::For(Box::new(ForLoop { body, ..source.clone() }));
    vec![Stmt { kind, span: stmt.span.clone() }]
}

/// Whether a name stands in a statement.
pub(super) fn mentions(stmt: &Stmt, name: &str) -> bool {
    let mut found = false;
    stmt.walk_expressions(&mut |part| match &part.kind {
        ExprKind::Name(own) => found |= own == name,
        ExprKind::Other(_, text) => found |= crate::preprocess::words(text).contains(name),
        _ => {}
    });
    stmt.walk(&mut |part| match &part.kind {
        StmtKind::Other(_, names) => found |= names.iter().any(|own| own == name),
        StmtKind::Declaration(own) => found |= own.iter().any(|one| one.name == name),
        _ => {}
    });
    found
}
