//! What a choice between implementations looks at: numbers that are known when a program is called, before anything is
//! computed (section 5.4 of the dissertation; the skew of rows is added). Each is said twice, side by side: in Rust, for what
//! was measured, and in C, for calls; both give the same bits, whatever the offsets are, which nobody has checked yet.

use crate::data::Array;
use crate::emit::emitter::stored_type;
use crate::program::{Expr, Item, Kind, Literal, Operator, Program, Role, Scalar, VarId};
use std::collections::HashMap;

/// The length of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tile {
    /// What the text says.
    Literal(i64),
    /// A number that is given: its place among all that is.
    Given(usize, Scalar),
}

/// A number. Places are those of what is given, in its order, which is that of the slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// How many elements an input has.
    Length,
    /// A whole number that is given.
    Number(Scalar),
    /// How many tiles an input has, over the length of a tile.
    AspectRatio(Tile),
    /// The mean length of the rows that begin at an input's offsets.
    AverageRowLength(Scalar),
    /// The longest of these rows, over the mean; of many rows from a part of them.
    RowLengthSkew(Scalar),
    /// How many threads compute.
    Threads,
}

/// A feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Its name, as `length_x`.
    pub name: String,
    /// What it is of.
    pub place: usize,
    /// What it is.
    pub what: What,
}

/// The features of a program: lengths of its inputs, whole numbers, shapes of what is nested, and threads.
pub fn features(program: &Program) -> Vec<Feature> {
    let mut found = Found { program, lets: HashMap::new(), list: Vec::new() };
    for (place, (_, variable)) in program.given().enumerate() {
        match variable.ty.scalar() {
            None if variable.ty.has_sequence() => found.add(place, What::Length),
            Some(scalar) if scalar.is_integer() => found.add(place, What::Number(scalar)),
            _ => {}
        }
    }
    found.items(&program.items);
    found.list.push(Feature { name: "threads".to_owned(), place: 0, what: What::Threads });
    found.list
}

struct Found<'p> {
    program: &'p Program,
    lets: HashMap<VarId, &'p Expr>,
    list: Vec<Feature>,
}

impl<'p> Found<'p> {
    fn add(&mut self, place: usize, what: What) {
        let stem = match what {
            What::Length => "length",
            What::Number(_) => "value",
            What::AspectRatio(_) => "aspect_ratio",
            What::AverageRowLength(_) => "average_row_length",
            What::RowLengthSkew(_) => "row_length_skew",
            What::Threads => "threads",
        };
        let Some((_, variable)) = self.program.given().nth(place) else { return };
        let name = format!("{stem}_{}", variable.name);
        if !self.list.iter().any(|known| known.name == name) {
            self.list.push(Feature { name, place, what });
        }
    }

    fn items(&mut self, items: &'p [Item]) {
        for item in items {
            match item {
                Item::Let(variable, value) => {
                    self.lets.insert(*variable, value);
                    self.value(value);
                }
                Item::Compute(_, value) | Item::Assign(_, value) => self.value(value),
                Item::Repeat { items, .. } => self.items(items),
            }
        }
    }

    fn value(&mut self, value: &'p Expr) {
        let mut nested = Vec::new();
        value.walk(false, &mut |part, _| {
            if let Kind::Apply(operator @ (Operator::Nest | Operator::Split), _, parts) = &part.kind {
                nested.push((*operator, parts));
            }
        });
        for (operator, parts) in nested {
            if operator == Operator::Nest
                && let Some((place, scalar)) = self.given(&parts[1], true)
            {
                self.add(place, What::AverageRowLength(scalar));
                self.add(place, What::RowLengthSkew(scalar));
            }
            if operator == Operator::Split
                && let Some((place, _)) = self.given(&parts[0], true)
                && let Some(tile) = self.tile(&parts[1])
            {
                self.add(place, What::AspectRatio(tile));
            }
        }
    }

    fn tile(&self, expr: &'p Expr) -> Option<Tile> {
        match self.root(expr).kind {
            Kind::Literal(Literal::I64(value)) => Some(Tile::Literal(value)),
            Kind::Literal(Literal::I32(value)) => Some(Tile::Literal(i64::from(value))),
            _ => self.given(expr, false).map(|(place, scalar)| Tile::Given(place, scalar)),
        }
    }

    /// The place of what is given, and the type of its numbers: a sequence, or a whole number.
    fn given(&self, expr: &'p Expr, sequence: bool) -> Option<(usize, Scalar)> {
        let Kind::Variable(used) = self.root(expr).kind else { return None };
        let (place, (_, variable)) = self.program.given().enumerate().find(|(_, (id, _))| *id == used)?;
        let given = matches!(variable.role, Role::Input | Role::Param(_));
        let (scalar, _) = *variable.ty.leaves().first()?;
        let fits = variable.ty.has_sequence() == sequence && (sequence || scalar.is_integer());
        (given && fits).then_some((place, scalar))
    }

    /// The expression behind names and conversions.
    fn root(&self, expr: &'p Expr) -> &'p Expr {
        match &expr.kind {
            Kind::Variable(variable) => self.lets.get(variable).map_or(expr, |value| self.root(value)),
            Kind::Convert(inner) => self.root(inner),
            _ => expr,
        }
    }
}

/// The number in an array at a place, as a whole number; 0 where there is none.
fn whole(array: &Array, place: usize) -> i64 {
    match array {
        Array::I32(values) => values.get(place).map_or(0, |value| i64::from(*value)),
        Array::I64(values) => values.get(place).copied().unwrap_or(0),
        _ => 0,
    }
}

/// The mean length of rows, and the longest one over it; 0 and 1 where there are none. Of many rows 256 are looked at, and the mean
/// of those up to the next one, none of which is longer than the longest.
fn rows(offsets: &Array) -> (f64, f64) {
    let count = offsets.len().saturating_sub(1);
    if count == 0 {
        return (0.0, 1.0);
    }
    let step = count / 256 + 1;
    let upto = |first: usize, end: usize| whole(offsets, end).wrapping_sub(whole(offsets, first));
    let firsts = || (0..count).step_by(step);
    let own = firsts().map(|first| upto(first, first + 1)).fold(0, i64::max);
    let most = firsts().map(|first| upto(first, count.min(first + step))).fold(0, i64::max);
    let longest = own.max(most / step as i64);
    let average = whole(offsets, count) as f64 / count as f64;
    (average, if average > 0.0 { longest as f64 / average } else { 1.0 })
}

impl Feature {
    /// The same, where what is given has other places.
    pub fn placed(&self, place: &dyn Fn(usize) -> usize) -> Feature {
        let what = match self.what {
            What::AspectRatio(Tile::Given(own, scalar)) => What::AspectRatio(Tile::Given(place(own), scalar)),
            own => own,
        };
        let own = if what == What::Threads { 0 } else { place(self.place) };
        Feature { name: self.name.clone(), place: own, what }
    }

    /// Its value for what is given, which is arranged ([`crate::data::arranged`]).
    pub fn value(&self, program: &Program, given: &[Array], threads: usize) -> f64 {
        let nothing = Array::new(Scalar::I64);
        let array = given.get(self.place).unwrap_or(&nothing);
        let width = program.given().nth(self.place).and_then(|(_, own)| own.ty.leaves().first().copied());
        let length = (array.len() / width.map_or(1, |(_, width)| width)) as f64;
        match self.what {
            What::Length => length,
            What::Number(_) => whole(array, 0) as f64,
            What::AspectRatio(tile) => {
                let tile = match tile {
                    Tile::Literal(value) => value,
                    Tile::Given(place, _) => given.get(place).map_or(0, |own| whole(own, 0)),
                };
                length / tile as f64 / tile as f64
            }
            What::AverageRowLength(_) => rows(array).0,
            What::RowLengthSkew(_) => rows(array).1,
            What::Threads => threads as f64,
        }
    }

    /// The same in C, of `slots` and `threads`, with the functions of `templates/choice.c`.
    pub fn text(&self) -> String {
        let place = self.place;
        let number = |place: usize, scalar: Scalar| {
            format!("(double)*(const {} *)slots[{place}].data", stored_type(scalar))
        };
        match self.what {
            What::Length => format!("(double)slots[{place}].length"),
            What::Number(scalar) => number(place, scalar),
            What::AspectRatio(tile) => {
                let tile = match tile {
                    Tile::Literal(value) => format!("{value}.0"),
                    Tile::Given(place, scalar) => number(place, scalar),
                };
                format!("(double)slots[{place}].length / {tile} / {tile}")
            }
            What::AverageRowLength(scalar) => {
                format!("average_row_length_{}(&slots[{place}])", stored_type(scalar))
            }
            What::RowLengthSkew(scalar) => {
                format!("row_length_skew_{}(&slots[{place}])", stored_type(scalar))
            }
            What::Threads => "(double)(threads > 0 ? threads : 1)".to_owned(),
        }
    }
}
