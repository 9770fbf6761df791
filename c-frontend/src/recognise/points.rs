//! Which points each assignment computes, and what it reads, seen from them.

use super::arrays::{Cell, Form, Forms};
use super::stencil::{Centre, ReadAt};
use crate::ast::Expr;
use crate::codes;
use crate::nest::{AROUND, Element, Leaf, Nest, ReadOf, Result};
use crate::polynomial::{Polynomial, Symbol};
use crate::text::c_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::lower::MOST_OFFSET;
use polyhedral::program::{self, ElementType, ExprKind, LocalId};
use polyhedral::source::Span;
use std::collections::BTreeSet;

/// The assignments so far.
pub struct Points<'a> {
    pub nest: &'a Nest,
    pub forms: &'a Forms,
    pub dimension: usize,
    pub fields: Vec<PointField>,
    pub statements: Vec<Point>,
    /// Pairs of which the first must not be greater than the second.
    pub assumed: Vec<(Polynomial, Polynomial)>,
    /// Per dimension, where a read wraps around, if one does.
    pub periodic: Vec<Option<Span>>,
}

/// A field, before the grid is known.
#[derive(Clone)]
pub struct PointField {
    pub key: Key,
    pub element: ElementType,
    pub span: Span,
    pub form: Option<Form>,
    /// Number of buffers, and the shift of the one that is written.
    pub buffers: i64,
    pub shift: i64,
    /// The variable that takes turns, if that is what chooses the buffer.
    pub from: Option<String>,
    /// The addresses that a value of the place reads.
    pub memory: Vec<String>,
    /// Where its values come from, if it gets them behind the last step.
    pub mirror: Option<Mirror>,
}

/// Where an array that each step copies gets its values, behind the last step.
#[derive(Debug, Clone)]
pub struct Mirror {
    /// The field that its values are copied from.
    pub of: usize,
    /// How many steps before the last one.
    pub ago: i64,
    /// Its points.
    pub boxes: Vec<Vec<(Polynomial, Polynomial)>>,
    /// Those at which it holds the level before the first one, if that is wanted.
    pub begins: Vec<Vec<(Polynomial, Polynomial)>>,
}

/// What makes a field one and the same.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    State(String),
    Coefficient(String),
    Place(String),
}

/// An assignment, before the times of its reads are known.
#[derive(Clone)]
pub struct Point {
    pub leaf: usize,
    pub target: usize,
    pub centre: Vec<Centre>,
    pub domain: Vec<(Polynomial, Polynomial)>,
    /// The buffer shifts of state reads; times are found later.
    pub reads: Vec<(usize, ReadAt, Option<i64>)>,
}

impl<'a> Points<'a> {
    /// Finds the dimension and the arrays that are computed.
    pub fn new(nest: &'a Nest, forms: &'a Forms) -> Result<Self> {
        let mut points = Points {
            nest,
            forms,
            dimension: 0,
            fields: Vec::new(),
            statements: Vec::new(),
            assumed: Vec::new(),
            periodic: Vec::new(),
        };
        let mut first: Option<&Span> = None;
        for leaf in nest.leaves.iter().filter(|leaf| !leaf.overwritten) {
            let (cell, form) = forms.cell_and_form(&leaf.target)?;
            let span = &leaf.target.span;
            let array = &leaf.target.array;
            if cell.space.is_empty() || nest.leaves.iter().all(|leaf| leaf.path.is_empty()) {
                return fail(
                    Diagnostic::limitation(
                        codes::REDUCTION,
                        span.clone(),
                        format!("an element of `{array}` that does not depend on a loop over space"),
                    )
                    .note("a stencil computes an array over space in every time step"),
                );
            }
            // Components that may be the same one would be two arrays in one place.
            for other in nest.leaves.iter().filter(|other| !other.overwritten && other.target.array == *array)
            {
                let other_cell = forms.cell(&other.target)?;
                if other_cell.key != cell.key && !other_cell.is_apart(&cell) {
                    return fail(
                        Diagnostic::limitation(
                            codes::DIMENSION,
                            span.clone(),
                            format!("this part of `{array}` and another one that is computed may be the same"),
                        )
                        .related(other.target.span.clone(), "the other one")
                        .note("subscripts that choose among arrays are known to differ where they are numbers, or differ by one"),
                    );
                }
            }
            let dimension = cell.space.len();
            match first {
                None => points.dimension = dimension,
                Some(other) if points.dimension != dimension => {
                    return fail(
                        Diagnostic::limitation(
                            codes::DIMENSION,
                            span.clone(),
                            format!(
                                "`{array}` has {dimension} dimensions of space, other arrays have {}",
                                points.dimension
                            ),
                        )
                        .related(other.clone(), "another array that is computed"),
                    );
                }
                Some(_) => {}
            }
            if dimension > 3 {
                let message =
                    format!("`{array}` has {dimension} dimensions of space; at most 3 are supported");
                return fail(Diagnostic::limitation(codes::DIMENSION, span.clone(), message));
            }
            first.get_or_insert(span);
            let (shift, buffers) = cell.buffer.unwrap_or((0, 1));
            let key = Key::State(cell.key.clone());
            match points.fields.iter().find(|field| field.key == key) {
                Some(field) if (field.shift, field.buffers, &field.from) != (shift, buffers, &cell.from) => {
                    return fail(
                        Diagnostic::limitation(
                            codes::TIME_SUBSCRIPT,
                            span.clone(),
                            format!("`{array}` is assigned in two buffers in one step"),
                        )
                        .related(field.span.clone(), "the other one"),
                    );
                }
                Some(_) => {}
                None => points.fields.push(PointField {
                    key,
                    element: leaf.target.element,
                    span: span.clone(),
                    form: Some(form),
                    buffers,
                    shift,
                    from: cell.from.clone(),
                    memory: Vec::new(),
                    mirror: None,
                }),
            }
        }
        Ok(points)
    }

    /// The domains and reads of all assignments.
    pub fn statements(&mut self) -> Result<()> {
        let nest = self.nest;
        for (number, leaf) in nest.leaves.iter().enumerate().filter(|(_, leaf)| !leaf.overwritten) {
            let cell = self.forms.cell(&leaf.target)?;
            let centre = centre(nest, leaf, &cell)?;
            let domain = domain(nest, leaf, &centre)?;
            let target = self.field(&Key::State(cell.key.clone())).unwrap_or(0);
            let mut point = Point { leaf: number, target, centre, domain, reads: Vec::new() };
            for read in reads_of(nest, &leaf.value) {
                let (at, buffer) = self.read(read, leaf, &point.centre)?;
                point.reads.push((read, at, buffer));
            }
            self.statements.push(point);
        }
        Ok(())
    }

    fn field(&self, key: &Key) -> Option<usize> {
        self.fields.iter().position(|field| field.key == *key)
    }

    fn field_or_new(&mut self, key: Key, element: ElementType, span: &Span, form: Option<Form>) -> usize {
        let known = self.fields.iter().position(|field| field.key == key && field.element == element);
        known.unwrap_or_else(|| {
            self.fields.push(PointField {
                key,
                element,
                span: span.clone(),
                form,
                buffers: 1,
                shift: 0,
                from: None,
                memory: Vec::new(),
                mirror: None,
            });
            self.fields.len() - 1
        })
    }

    /// A value of the place, as a field.
    fn place(
        &mut self,
        (expr, addresses): (&Expr, &[Expr]),
        element: ElementType,
        span: &Span,
        leaf: &Leaf,
        centre: &[Centre],
    ) -> Result<(ReadAt, Option<i64>)> {
        let text = place_text(self.nest, expr, leaf, centre)?;
        let field = self.field_or_new(Key::Place(text), element, span, None);
        for address in addresses {
            let text = place_text(self.nest, address, leaf, centre)?;
            if !self.fields[field].memory.contains(&text) {
                self.fields[field].memory.push(text);
            }
        }
        Ok((ReadAt { field, time: 0, offset: vec![0; self.dimension] }, None))
    }

    /// A read as the points of a statement see it, with the shift of its buffer.
    fn read(&mut self, number: usize, leaf: &Leaf, centre: &[Centre]) -> Result<(ReadAt, Option<i64>)> {
        let nest = self.nest;
        let read = &nest.reads[number];
        match &read.what {
            ReadOf::State(element) => {
                let cell = self.forms.cell(element)?;
                let Some(field) = self.field(&Key::State(cell.key.clone())) else {
                    if let Some(found) = self.other_component(element, leaf, centre)? {
                        return Ok(found);
                    }
                    return fail(
                        Diagnostic::limitation(
                            codes::DIMENSION,
                            read.span.clone(),
                            format!("`{}` is read here in another way than it is assigned", element.array),
                        )
                        .note("one index chooses among arrays, only some of which the loop computes"),
                    );
                };
                let (shift, buffers) = cell.buffer.unwrap_or((0, 1));
                if buffers != self.fields[field].buffers || cell.from != self.fields[field].from {
                    let message = format!("the buffer of `{}` is chosen in different ways", element.array);
                    return fail(Diagnostic::limitation(codes::TIME_SUBSCRIPT, read.span.clone(), message));
                }
                let Some(offset) = offsets(&cell, leaf, centre) else {
                    let mut diagnostic =
                        Diagnostic::limitation(
                            codes::SUBSCRIPT,
                            read.span.clone(),
                            format!("the distance from this element of `{}` to the one that is computed is not constant", element.array),
                        )
                        .related(leaf.target.span.clone(), "computed here")
                        .note("subscripts of both are the same indices in the same order, plus constants");
                    if let Some((far, is_row)) = varying(nest, &cell, centre) {
                        diagnostic = diagnostic.note(format!(
                            "it is `{far}` elements away, which is known when the program runs"
                        ));
                        if is_row {
                            diagnostic = diagnostic.note("a loop over all elements is taken apart into rows where both edge columns are left out, or conditions ask for them");
                        }
                    }
                    if leaf.path.iter().any(|at| single(leaf, *at).is_some()) {
                        diagnostic = diagnostic.note(AROUND);
                    }
                    return fail(diagnostic);
                };
                if let Some(far) = offset.iter().find(|offset| offset.abs() > MOST_OFFSET) {
                    let message =
                        format!("this reads {} points away; at most {MOST_OFFSET} are supported", far.abs());
                    return fail(Diagnostic::limitation(codes::OFFSET, read.span.clone(), message));
                }
                Ok((ReadAt { field, time: 0, offset }, Some(shift)))
            }
            ReadOf::Coefficient(element, written, addresses) => {
                if let Ok((cell, form)) = self.forms.cell_and_form(element)
                    && cell.space.len() == self.dimension
                    && let Some(offset) = offsets(&cell, leaf, centre)
                    && offset.iter().all(|offset| offset.abs() <= MOST_OFFSET)
                {
                    let field = self.field_or_new(
                        Key::Coefficient(cell.key),
                        element.element,
                        &read.span,
                        Some(form),
                    );
                    return Ok((ReadAt { field, time: 0, offset }, None));
                }
                self.place((written, addresses), element.element, &read.span, leaf, centre)
            }
            ReadOf::Place(expr, addresses, element) => {
                self.place((expr, addresses), *element, &read.span, leaf, centre)
            }
        }
    }
}

impl Points<'_> {
    /// An element of an array of which the step computes another component, such as `u[t]` where it computes `u[t + 1]`: as one
    /// of an array that does not change. `None` where it may be of the same one.
    fn other_component(
        &mut self,
        element: &Element,
        leaf: &Leaf,
        centre: &[Centre],
    ) -> Result<Option<(ReadAt, Option<i64>)>> {
        let (cell, form) = self.forms.cell_and_form(element)?;
        if cell.buffer.is_some()
            || !element.around.is_empty()
            || self.nest.integers.contains_key(&element.array)
        {
            return Ok(None);
        }
        for other in self.nest.leaves.iter().filter(|other| other.target.array == element.array) {
            if !self.forms.cell(&other.target)?.is_apart(&cell) {
                return Ok(None);
            }
        }
        let found = offsets(&cell, leaf, centre)
            .filter(|offset| offset.iter().all(|offset| offset.abs() <= MOST_OFFSET));
        Ok(found.map(|offset| {
            let key = Key::Coefficient(cell.key);
            let field = self.field_or_new(key, element.element, &element.span, Some(form));
            (ReadAt { field, time: 0, offset }, None)
        }))
    }
}

fn fail<T>(diagnostic: Diagnostic) -> Result<T> {
    Err(Box::new(diagnostic))
}

/// Which loop moves the target along each dimension.
fn centre(nest: &Nest, leaf: &Leaf, cell: &Cell) -> Result<Vec<Centre>> {
    let mut used = BTreeSet::new();
    let mut list = Vec::new();
    for index in &cell.space {
        match index.index_plus() {
            Some((at, rest)) => {
                if !used.insert(at) {
                    let message = format!("two subscripts of `{}` are the same index", leaf.target.array);
                    return fail(Diagnostic::limitation(codes::SUBSCRIPT, leaf.target.span.clone(), message));
                }
                list.push(Centre::Loop(at, rest));
            }
            None => list.push(Centre::Point(index.clone())),
        }
    }
    if let Some(idle) = leaf.path.iter().find(|at| !used.contains(at) && single(leaf, **at).is_none()) {
        let idle = &nest.loops[*idle];
        let message = format!("every round of the loop over `{}` assigns the same element", idle.name);
        return fail(
            Diagnostic::limitation(codes::REDUCTION, leaf.target.span.clone(), message)
                .related(idle.span.clone(), "this loop")
                .note(format!("an output dependence of `{}` on itself, carried by that loop", leaf.target.array))
                .note("a sum over points does not fit into a stencil, unless the loop has a small constant number of rounds"),
        );
    }
    Ok(list)
}

/// The points of an assignment.
fn domain(nest: &Nest, leaf: &Leaf, centre: &[Centre]) -> Result<Vec<(Polynomial, Polynomial)>> {
    let too_large =
        || Box::new(Diagnostic::limitation(codes::BOUND, leaf.span.clone(), "bounds that are too large"));
    let mut list = Vec::new();
    for centre in centre {
        list.push(match centre {
            Centre::Point(point) => {
                let high = point.plus(&Polynomial::number(1), 1).ok_or_else(too_large)?;
                (point.clone(), high)
            }
            Centre::Loop(at, shift) => {
                let (low, high) = segment(nest, leaf, *at);
                (low.plus(shift, 1).ok_or_else(too_large)?, high.plus(shift, 1).ok_or_else(too_large)?)
            }
        });
    }
    Ok(list)
}

/// The values of an index at which an assignment runs: first, and one past the last.
fn segment(nest: &Nest, leaf: &Leaf, at: usize) -> (Polynomial, Polynomial) {
    let found = leaf.narrowed.iter().find(|(of, ..)| *of == at);
    found.map_or_else(
        || (nest.loops[at].low.clone(), nest.loops[at].high.clone()),
        |(_, low, high)| (low.clone(), high.clone()),
    )
}

/// The only value of an index at which an assignment runs, if it is one.
fn single(leaf: &Leaf, at: usize) -> Option<Polynomial> {
    leaf.narrowed
        .iter()
        .find(|(of, low, high)| *of == at && high.distance(low) == Some(1))
        .map(|(_, low, _)| low.clone())
}

/// An index with the loops that have one value only written out.
fn at_single(index: &Polynomial, leaf: &Leaf) -> Option<Polynomial> {
    let mut index = index.clone();
    for at in index.indices() {
        if let Some(value) = single(leaf, at) {
            index = index.replace(&Symbol::Index(at), &value)?;
        }
    }
    Some(index)
}

/// How far a cell lies from the point that is computed.
fn offsets(cell: &Cell, leaf: &Leaf, centre: &[Centre]) -> Option<Vec<i64>> {
    if cell.space.len() != centre.len() {
        return None;
    }
    let offset = |(index, centre): (&Polynomial, &Centre)| match centre {
        Centre::Loop(at, shift) => match index.index_plus() {
            Some((own, rest)) if own == *at => rest.distance(shift),
            _ => at_single(index, leaf)?.distance(&single(leaf, *at)?.plus(shift, 1)?),
        },
        Centre::Point(point) => at_single(index, leaf)?.distance(point),
    };
    cell.space.iter().zip(centre).map(offset).collect()
}

/// How far a read of an array with one subscript is from its point, where that is no number, and whether the loop ends at some of it, too.
fn varying(nest: &Nest, cell: &Cell, centre: &[Centre]) -> Option<(String, bool)> {
    let ([index], [Centre::Loop(at, shift)]) = (cell.space.as_slice(), centre) else { return None };
    let (own, rest) = index.index_plus()?;
    let far = rest.plus(shift, -1).filter(|far| own == *at && far.is_invariant())?;
    let far = if far.magnitude() < 0 { Polynomial::number(0).plus(&far, -1)? } else { far };
    let is_row = !far.symbols().is_disjoint(&nest.loops[*at].high.symbols());
    let text = far.to_c(&|symbol| match symbol {
        Symbol::Constant(text) => text.clone(),
        _ => String::new(),
    });
    Some((text, is_row))
}

/// A value of the place as C text, with the grid's coordinates in the place of the indices.
fn place_text(nest: &Nest, expr: &Expr, leaf: &Leaf, centre: &[Centre]) -> Result<String> {
    let mut missing = None;
    let text = c_text(expr, &|name| {
        let at = leaf.path.iter().rev().find(|at| nest.loops[**at].name == name)?;
        let source = &nest.loops[*at];
        for (dimension, centre) in centre.iter().enumerate() {
            if let Centre::Loop(own, shift) = centre
                && own == at
            {
                let shift = shift.to_c(&|symbol| match symbol {
                    Symbol::Constant(text) => text.clone(),
                    _ => String::new(),
                });
                return Some(match shift.as_str() {
                    "0" => format!("(({})tw_x{dimension})", source.type_name),
                    _ => format!("(({})(tw_x{dimension} - ({shift})))", source.type_name),
                });
            }
        }
        let value = single(leaf, *at)?.to_c(&|symbol| match symbol {
            Symbol::Constant(text) => text.clone(),
            _ => String::new(),
        });
        Some(format!("(({})({value}))", source.type_name))
    });
    for at in &leaf.path {
        let used = centre.iter().any(|centre| matches!(centre, Centre::Loop(own, _) if own == at));
        if !used && single(leaf, *at).is_none() && expr.mentions(&nest.loops[*at].name) {
            missing = Some(&nest.loops[*at].name);
        }
    }
    match missing {
        None => Ok(text),
        Some(name) => fail(Diagnostic::limitation(
            codes::SUBSCRIPT,
            expr.span.clone(),
            format!(
                "a value that depends on the index `{name}`, which the array that is computed does not have"
            ),
        )),
    }
}

/// The temporaries that a value needs, in order.
pub fn temporaries_of(nest: &Nest, value: &program::Expr) -> BTreeSet<usize> {
    let mut needed = BTreeSet::new();
    let mut open = Vec::new();
    let mut collect = |value: &program::Expr, open: &mut Vec<usize>| {
        value.walk(|expr| {
            if let ExprKind::Local(LocalId(number)) = &expr.kind
                && needed.insert(*number)
            {
                open.push(*number);
            }
        });
    };
    collect(value, &mut open);
    while let Some(number) = open.pop() {
        collect(&nest.temporaries[number].value, &mut open);
    }
    needed
}

/// The reads of a value and of the temporaries that it needs.
pub fn reads_of(nest: &Nest, value: &program::Expr) -> BTreeSet<usize> {
    let mut reads = BTreeSet::new();
    let mut collect = |value: &program::Expr| {
        value.walk(|expr| {
            if let ExprKind::Read(access) = &expr.kind {
                reads.insert(access.field.0);
            }
        });
    };
    collect(value);
    for number in temporaries_of(nest, value) {
        collect(&nest.temporaries[number].value);
    }
    reads
}
