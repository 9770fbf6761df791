//! Arrays: what each of their indices means.
//!
//! An index that is a loop's index plus something is space; one with time modulo `k` chooses one of `k` buffers; one
//! that is always a number chooses a component, which is an array of its own. An index with several loops in it, or
//! with factors, is that of a flattened array: `(i + 1) * n + j - 1` has the strides `n` and 1, from which the indices
//! `i + 1` and `j - 1` follow by division.

use crate::codes;
use crate::nest::{Element, Nest, ReadOf, Result, Turns};
use crate::polynomial::{Polynomial, Symbol};
use crate::text::{MemberOf, array_of};
use polyhedral::diagnostic::Diagnostic;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// An index of an array without flattening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// It chooses a buffer.
    Buffer,
    /// A dimension of space.
    Space(usize),
}

/// One index as it is written: the sum of what the axes add, and a number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Position {
    /// Axes and their strides.
    pub axes: Vec<(Axis, Polynomial)>,
    /// The component.
    pub component: Polynomial,
    /// The distance of levels, where the component is one of those that an array keeps of all steps.
    pub levels: Option<Polynomial>,
}

/// How the elements of an array, or of a component, are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// The array.
    pub array: String,
    /// Its indices.
    pub positions: Vec<Position>,
    /// For pointers that take turns, the first index chooses among these.
    pub turns: Turns,
    /// For buffers whose number a variable holds, this variable and how many they are.
    pub counter: Option<(String, i64)>,
    /// Whether the number of a step chooses the buffer, and not how many steps there were before it.
    pub by_time: bool,
}

impl Form {
    /// An element as C text, given the buffer and the place.
    pub fn text(
        &self,
        buffer: &str,
        place: &dyn Fn(usize) -> String,
        constant: &dyn Fn(&Symbol) -> String,
    ) -> String {
        let member = MemberOf::of(&self.array);
        let (mut text, positions) = match self.turns.as_slice() {
            [] => (array_of(&self.array).to_owned(), self.positions.as_slice()),
            pointers => (chosen(pointers, buffer), self.positions.get(1..).unwrap_or_default()),
        };
        if let Some(member) = member {
            text = member.base(&text);
        }
        for (at, position) in positions.iter().enumerate() {
            let mut sum = String::new();
            for (axis, stride) in &position.axes {
                let value = match axis {
                    Axis::Buffer => match &self.counter {
                        Some((name, of)) => format!("((ptrdiff_t){name} + {buffer}) % {of}"),
                        None => buffer.to_owned(),
                    },
                    Axis::Space(d) => place(*d),
                };
                let plus = if sum.is_empty() { "" } else { " + " };
                match stride.constant() {
                    Some(1) => {
                        let _ = write!(sum, "{plus}{value}");
                    }
                    _ => {
                        let _ = write!(sum, "{plus}({value}) * ({})", stride.to_c(constant));
                    }
                }
            }
            if sum.is_empty() || position.component != Polynomial::default() {
                let plus = if sum.is_empty() { "" } else { " + " };
                let _ = write!(sum, "{plus}{}", position.component.to_c(constant));
            }
            let _ = write!(text, "[{sum}]");
            if let Some(member) = member.filter(|member| member.indices == at + 1) {
                text.push_str(member.path);
            }
        }
        text
    }
}

/// One of several pointers, by its number.
fn chosen(pointers: &[String], number: &str) -> String {
    match number.parse::<usize>() {
        Ok(number) => pointers.get(number).map(|pointer| array_of(pointer).to_owned()).unwrap_or_default(),
        Err(_) => {
            let mut text = "(".to_owned();
            for (at, pointer) in pointers.iter().map(|pointer| array_of(pointer)).enumerate() {
                if at + 1 == pointers.len() {
                    let _ = write!(text, "{pointer})");
                } else {
                    let _ = write!(text, "{number} == {at} ? {pointer} : ");
                }
            }
            text
        }
    }
}

/// An element, sorted by the meaning of its indices.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The array, and its component where it has several.
    pub key: String,
    /// Buffer `(t + shift) mod modulus`.
    pub buffer: Option<(i64, i64)>,
    /// The variable that takes turns, if that is what chooses the buffer.
    pub from: Option<String>,
    /// Indices of space.
    pub space: Vec<Polynomial>,
    /// Indices of the component, in order.
    pub components: Vec<Polynomial>,
}

impl Cell {
    /// Whether it is in another component of its array than another one, whatever the program's integers are.
    pub fn is_apart(&self, other: &Cell) -> bool {
        let differ = |(a, b): (&Polynomial, &Polynomial)| a.distance(b).is_some_and(|by| by != 0);
        self.components.len() == other.components.len()
            && self.components.iter().zip(&other.components).any(differ)
    }

    fn choose(&mut self, (shift, modulus, from): (i64, i64, Option<String>)) {
        self.buffer = Some((shift, modulus));
        self.from = from;
    }
}

/// What is known of all arrays.
pub struct Forms {
    /// Per array, per index: whether it is flattened, with the strides, largest first; or what it is.
    roles: HashMap<String, Vec<Role>>,
    turns: Vec<Turns>,
    /// What chooses the level of arrays that keep all of them.
    level: Option<Symbol>,
}

#[derive(Debug, Clone, PartialEq)]
enum Role {
    Buffer,
    Component,
    Space,
    /// Strides of the axes; which of them chooses the buffer; whether the first one chooses the level.
    Flat(Vec<Polynomial>, Option<usize>, bool),
}

/// Sorts the indices of all arrays.
pub fn forms(nest: &Nest) -> Result<Forms> {
    let mut elements: BTreeMap<&str, Vec<&Element>> = BTreeMap::new();
    let reads = nest.reads.iter().filter_map(|read| match &read.what {
        ReadOf::State(element) | ReadOf::Coefficient(element, ..) => Some(element),
        ReadOf::Place(..) => None,
    });
    for element in nest.leaves.iter().map(|leaf| &leaf.target).chain(reads) {
        elements.entry(&element.array).or_default().push(element);
    }
    let mut roles = HashMap::new();
    let level = nest.level.clone().map(Symbol::Constant);
    for (array, list) in elements {
        let count = list.iter().map(|element| element.indices.len()).max().unwrap_or(0);
        let found: Vec<Role> = (0..count)
            .map(|position| {
                role(list.iter().filter_map(|element| element.indices.get(position)), level.as_ref())
            })
            .collect();
        roles.insert(array.to_owned(), found);
    }
    Ok(Forms { roles, turns: nest.turns.clone(), level })
}

fn role<'a>(indices: impl Iterator<Item = &'a Polynomial> + Clone, level: Option<&Symbol>) -> Role {
    let buffer = |symbol: &Symbol| matches!(symbol, Symbol::TimeModulo { .. });
    let chooses_level = |symbol: &Symbol| Some(symbol) == level;
    let mixed = |index: &Polynomial| {
        let loops = index.indices();
        let alone = loops.len() == 1 && index.index_plus().is_some();
        loops.len() > 1
            || (loops.len() == 1 && !alone)
            || (loops.len() == 1
                && index.symbols().iter().any(|symbol| buffer(symbol) || chooses_level(symbol)))
    };
    if indices.clone().any(mixed) {
        let mut strides: Vec<Polynomial> = vec![Polynomial::number(1)];
        let (mut buffers, mut levels): (Option<Polynomial>, Option<Polynomial>) = (None, None);
        for index in indices {
            for symbol in index.symbols() {
                let moves = matches!(symbol, Symbol::Index(_)) || buffer(&symbol) || chooses_level(&symbol);
                let Some(stride) = index.coefficient(&symbol).filter(|_| moves) else { continue };
                let stride = if stride.magnitude() < 0 {
                    Polynomial::number(0).plus(&stride, -1).unwrap_or_default()
                } else {
                    stride
                };
                if buffer(&symbol) {
                    buffers = Some(stride.clone());
                }
                if chooses_level(&symbol) {
                    levels = Some(stride.clone());
                }
                if !strides.contains(&stride) {
                    strides.push(stride);
                }
            }
        }
        strides.sort_by_key(|stride| std::cmp::Reverse(stride.magnitude()));
        let at = buffers.and_then(|buffers| strides.iter().position(|stride| *stride == buffers));
        // Levels that lie one behind the other.
        let leveled = levels.is_some_and(|levels| strides.len() > 1 && strides[0] == levels);
        return Role::Flat(strides, at, leveled);
    }
    if indices.clone().any(|index| index.symbols().iter().any(buffer)) {
        Role::Buffer
    } else if indices.clone().any(|index| !index.indices().is_empty()) {
        Role::Space
    } else {
        let mut values = indices.clone().map(|index| index.constant());
        let first = values.next().flatten();
        // A row that is always the same is a component as well.
        if first.is_some() || indices.clone().all(Polynomial::is_invariant) {
            Role::Component
        } else {
            Role::Space
        }
    }
}

impl Forms {
    /// The meaning of an element's indices.
    pub fn cell(&self, element: &Element) -> Result<Cell> {
        self.cell_and_form(element).map(|(cell, _)| cell)
    }

    /// The meaning of an element's indices, and how elements of its array are written.
    pub fn cell_and_form(&self, element: &Element) -> Result<(Cell, Form)> {
        let fail = |diagnostic: Diagnostic| Err(Box::new(diagnostic));
        let roles = self.roles.get(&element.array).map_or(&[][..], Vec::as_slice);
        let mut cell = Cell {
            key: element.array.clone(),
            buffer: None,
            from: None,
            space: Vec::new(),
            components: Vec::new(),
        };
        let turns = self.turns.iter().find(|circle| circle[0] == element.array).cloned().unwrap_or_default();
        let mut form = Form {
            array: element.array.clone(),
            positions: Vec::new(),
            turns,
            by_time: false,
            counter: None,
        };
        for (role, index) in roles.iter().zip(&element.indices) {
            let mut position = Position::default();
            if index.symbols().contains(&Symbol::Time) {
                return fail(
                    Diagnostic::limitation(
                        codes::TIME_SUBSCRIPT,
                        element.span.clone(),
                        format!(
                            "a subscript of `{}` in which time is not taken modulo a number",
                            element.array
                        ),
                    )
                    .note("tiles overlap several time steps, for which a few levels are enough")
                    .hint("keep two levels, such as `[(t + 1) % 2]` and `[t % 2]`"),
                );
            }
            let one = Polynomial::number(1);
            match role {
                Role::Component => {
                    cell.key.push_str(&format!("[{}]", index.to_c(&plain)));
                    cell.components.push(index.clone());
                    position.component = index.clone();
                }
                Role::Space => {
                    position.axes.push((Axis::Space(cell.space.len()), one));
                    cell.space.push(index.clone());
                }
                Role::Buffer => {
                    if cell.buffer.is_some() {
                        let message = format!("two subscripts of `{}` choose a buffer", element.array);
                        return fail(Diagnostic::limitation(
                            codes::TIME_SUBSCRIPT,
                            element.span.clone(),
                            message,
                        ));
                    }
                    position.axes.push((Axis::Buffer, one));
                    cell.choose(self.buffer(element, index)?);
                }
                Role::Flat(strides, buffers, leveled) => {
                    let level = self.level.as_ref().filter(|_| *leveled);
                    let parts = divide(index, strides, level).filter(|parts| !*leveled || parts[0].is_invariant()).ok_or_else(|| {
                        Box::new(
                            Diagnostic::limitation(
                                codes::SUBSCRIPT,
                                element.span.clone(),
                                format!("the subscript of `{}` is not made of an index plus a constant per dimension", element.array),
                            )
                            .note("subscripts are an index plus a constant, so that the distance of every read is known"),
                        )
                    })?;
                    for (at, (part, stride)) in parts.into_iter().zip(strides).enumerate() {
                        if at == 0 && *leveled {
                            cell.key.push_str(&format!("[{}]", part.to_c(&plain)));
                            position.component = part.times(stride).ok_or_else(|| too_large(element))?;
                            position.levels = Some(stride.clone());
                            cell.components.push(part);
                            continue;
                        }
                        if Some(at) == *buffers && cell.buffer.is_some() {
                            let message = format!("two subscripts of `{}` choose a buffer", element.array);
                            return fail(Diagnostic::limitation(
                                codes::TIME_SUBSCRIPT,
                                element.span.clone(),
                                message,
                            ));
                        }
                        if Some(at) == *buffers {
                            position.axes.push((Axis::Buffer, stride.clone()));
                            cell.choose(self.buffer(element, &part)?);
                        } else {
                            position.axes.push((Axis::Space(cell.space.len()), stride.clone()));
                            cell.space.push(part);
                        }
                    }
                }
            }
            form.positions.push(position);
        }
        form.by_time = cell.from.is_none();
        // Pointers that a step chooses, and that are the same in each: `t % 2 ? a : b` where `t` counts by two.
        if !form.turns.is_empty() && cell.buffer.is_none() {
            let message = format!("what `{}` points to does not take turns from step to step", element.array);
            return fail(Diagnostic::limitation(codes::TIME_SUBSCRIPT, element.span.clone(), message));
        }
        if let (Some(from), Some((_, of))) = (&cell.from, cell.buffer)
            && form.turns.is_empty()
        {
            form.counter = Some((from.clone(), of));
        }
        for index in &cell.space {
            if index.index_plus().is_none() && !index.is_invariant() {
                return fail(
                    Diagnostic::limitation(
                        codes::SUBSCRIPT,
                        element.span.clone(),
                        format!("a subscript of `{}` that is not a loop's index plus a constant", element.array),
                    )
                    .note("subscripts are an index plus a constant, so that the distance of every read is known"),
                );
            }
        }
        Ok((cell, form))
    }

    /// `(t + shift) mod modulus`, as the index of a buffer, and what takes turns.
    fn buffer(&self, element: &Element, index: &Polynomial) -> Result<(i64, i64, Option<String>)> {
        let wrong = || {
            Box::new(
                Diagnostic::limitation(
                    codes::TIME_SUBSCRIPT,
                    element.span.clone(),
                    format!(
                        "the buffer of `{}` does not follow from time in the same way everywhere",
                        element.array
                    ),
                )
                .hint("write it as `(t + constant) % buffers`"),
            )
        };
        let symbols = index.symbols();
        let Some(symbol) = symbols.first().filter(|_| symbols.len() == 1) else { return Err(wrong()) };
        let Symbol::TimeModulo { shift, modulus, from } = symbol else { return Err(wrong()) };
        let (shift, modulus) = (*shift, *modulus);
        // The index at the times 0, 1, .., compared with every shift.
        let at = |time: i64| {
            let value = Polynomial::number((time + shift).rem_euclid(modulus));
            index.replace(symbol, &value).and_then(|value| value.constant())
        };
        let values: Vec<Option<i64>> = (0..modulus).map(at).collect();
        let fits = |candidate: &i64| {
            values.iter().zip(0..).all(|(value, time)| *value == Some((time + candidate).rem_euclid(modulus)))
        };
        (0..modulus).find(fits).map(|shift| (shift, modulus, from.clone())).ok_or_else(wrong)
    }
}

fn too_large(element: &Element) -> Box<Diagnostic> {
    let message = format!("a subscript of `{}` is too large", element.array);
    Box::new(Diagnostic::limitation(codes::SUBSCRIPT, element.span.clone(), message))
}

fn plain(symbol: &Symbol) -> String {
    match symbol {
        Symbol::Constant(text) => text.clone(),
        _ => "?".to_owned(),
    }
}

/// A flattened index by its strides, largest first: per stride a loop's index or a buffer, plus something.
fn divide(index: &Polynomial, strides: &[Polynomial], level: Option<&Symbol>) -> Option<Vec<Polynomial>> {
    let mut rest = index.clone();
    let mut parts = Vec::with_capacity(strides.len());
    for (at, stride) in strides.iter().enumerate() {
        let mut part = Polynomial::default();
        for symbol in index.symbols() {
            if matches!(symbol, Symbol::Constant(_)) && Some(&symbol) != level {
                continue;
            }
            let factor = index.coefficient(&symbol)?;
            for sign in [1, -1] {
                if factor == Polynomial::number(0).plus(stride, sign)? {
                    part = part.plus(&Polynomial::symbol(symbol.clone()), sign)?;
                    rest = rest.without(&symbol);
                }
            }
        }
        let quotient = if at + 1 == strides.len() { rest.clone() } else { rest.quotient(stride) };
        rest = rest.plus(&quotient.times(stride)?, -1)?;
        parts.push(part.plus(&quotient, 1)?);
    }
    // `i * n + n - 1` is the last element of row `i`, not the one before row `i + 1`.
    for at in (1..parts.len()).rev() {
        let negative = parts[at].constant().is_some_and(|part| part < 0);
        let per_row = match strides[at].constant() {
            Some(1) => strides[at - 1].clone(),
            _ => strides[at - 1].quotient(&strides[at]),
        };
        if negative && per_row.times(&strides[at])? == strides[at - 1] {
            parts[at] = parts[at].plus(&per_row, 1)?;
            parts[at - 1] = parts[at - 1].plus(&Polynomial::number(1), -1)?;
        }
    }
    (rest == Polynomial::default()).then_some(parts)
}
