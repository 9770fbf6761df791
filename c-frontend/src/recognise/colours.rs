//! Passes over points of one colour: what they may read, and the condition under which a step computes a point.

use super::points::Points;
use super::stencil::{Centre, Statement, Stencil};
use crate::codes;
use crate::nest::{Colours, Nest, Result};
use crate::polynomial::Polynomial;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::program::{Access, Condition, Congruence, Expr, ExprKind, FieldId};
use polyhedral::source::Span;

/// Sets the times of all reads, where passes take turns: each finds what the pass before has left, as no pass reads another
/// point of its own colour.
pub fn levels(points: &mut Points<'_>, colours: &Colours) -> Result<()> {
    let nest = points.nest;
    let fail = |span: &Span, message: String| {
        let diagnostic = Diagnostic::limitation(codes::COLOURS, span.clone(), message)
            .note("each of several loops computes the points of one colour here (red-black), in place");
        Err(Box::new(diagnostic))
    };
    let tests = nest.observed.as_ref().map_or(&[][..], |own| &own.tests);
    // The bits of a round are those of its steps.
    let is_bits = |text: &str| tests.iter().any(|test| text.starts_with(&format!("{}[", test.bits)));
    if let Some(series) = nest.series.iter().find(|series| !is_bits(&series.text)) {
        let message = "a value that changes with time, in a step of several passes over the grid".to_owned();
        return fail(&series.span, message);
    }
    if let Some(exchange) = &nest.exchange {
        return fail(exchange, "pointers are exchanged after several passes over the grid".to_owned());
    }
    // What keeps bits comes before the points change: all reads are of the time before.
    let keeps = |number: usize| {
        let leaf = &nest.leaves[points.statements[number].leaf];
        tests.iter().any(|test| test.array == leaf.target.array)
    };
    let first = (0..points.statements.len()).find(|number| !keeps(*number)).unwrap_or(0);
    for (number, point) in points.statements.iter().enumerate() {
        let leaf = &nest.leaves[point.leaf];
        if number > first && keeps(number) {
            return fail(&leaf.span, "what is tested is computed of points that have changed".to_owned());
        }
        let other = number >= first && point.target != points.statements[first].target;
        if other || points.fields[point.target].buffers != 1 {
            return fail(
                &leaf.span,
                "the passes compute more than one array, or several buffers of it".to_owned(),
            );
        }
        for (read, at, shift) in &point.reads {
            if shift.is_none() || at.offset.iter().all(|by| *by == 0) {
                continue;
            }
            let span = &nest.reads[*read].span;
            let Some(distance) = distance(nest, colours, &points.statements[number].centre, &at.offset)
            else {
                return fail(span, "the distance of this element along the loops is not known".to_owned());
            };
            if !colours.separate(&distance) {
                let message = "this reads a point of the colour that the same pass computes".to_owned();
                return Err(Box::new(
                    Diagnostic::limitation(codes::COLOURS, span.clone(), message)
                        .related(leaf.target.span.clone(), "computed here, in place")
                        .note("so it depends on the order of the points within one colour what is read")
                        .hint("take more colours (four for all eight neighbours in two dimensions), or sweep in order (Gauss-Seidel)"),
                ));
            }
        }
    }
    for (_, at, _) in points.statements.iter_mut().flat_map(|point| &mut point.reads) {
        at.time = 0;
    }
    Ok(())
}

/// An offset along the dimensions as a distance along the loops, in the order of the colours' indices.
fn distance(nest: &Nest, colours: &Colours, centre: &[Centre], offset: &[i64]) -> Option<Vec<i64>> {
    let along = |index: &String| {
        centre.iter().zip(offset).find_map(|(centre, by)| match centre {
            Centre::Loop(at, _) if nest.loops[*at].name == *index => Some(*by),
            _ => None,
        })
    };
    colours.indices.iter().map(along).collect()
}

/// The value of a statement that keeps the points of other colours.
pub fn in_colours(nest: &Nest, stencil: &Stencil, statement: &Statement, value: Expr) -> Result<Expr> {
    let Some(colours) = &nest.colours else { return Ok(value) };
    let Some(own) = places(nest, stencil, statement, colours) else {
        return Err(Box::new(Diagnostic::limitation(
            codes::COLOURS,
            nest.leaves[statement.leaf].target.span.clone(),
            "which points belong to which colour depends on values that are known at run time only",
        )));
    };
    let here = Access { field: FieldId(statement.target), time: 0, offset: vec![0; stencil.dimension] };
    let (element, span) = (value.element, value.span.clone());
    let kept = Expr { kind: ExprKind::Read(here), element, span: span.clone() };
    let condition = Box::new(own.condition(colours));
    Ok(Expr { kind: ExprKind::Select(condition, Box::new(value), Box::new(kept)), element, span })
}

/// Where the indices of colours are on the grid: per index the dimension, and whether its parity is another one than that of the
/// coordinate.
struct Places {
    dimension: usize,
    list: Vec<(usize, i64)>,
}

fn places(nest: &Nest, stencil: &Stencil, statement: &Statement, colours: &Colours) -> Option<Places> {
    let along = |index: &String| {
        statement.centre.iter().enumerate().find_map(|(d, centre)| match centre {
            // index + shift = coordinate + low
            Centre::Loop(at, shift) if nest.loops[*at].name == *index => {
                let low: &Polynomial = &stencil.grid[d].0;
                Some((d, low.distance(shift)?))
            }
            _ => None,
        })
    };
    let list = colours.indices.iter().map(along).collect::<Option<_>>()?;
    Some(Places { dimension: stencil.dimension, list })
}

impl Places {
    /// `sum of the indices with a factor of 1 = residue (mod 2)`; the time step has a factor of its own.
    fn congruent(&self, time: i64, factors: usize, residue: i64) -> Condition {
        let mut space = vec![0; self.dimension];
        let mut known = 0;
        for (_, (d, by)) in self.list.iter().enumerate().filter(|(k, _)| factors >> k & 1 == 1) {
            space[*d] += 1;
            known += by;
        }
        Condition::Congruent(Congruence::new(time, space, 2, residue - known))
    }

    /// When a step computes a point.
    fn condition(&self, colours: &Colours) -> Condition {
        let sums: Vec<_> = colours.passes.iter().map(|own| as_sum(own)).collect();
        if let [Some((factors, residue)), Some((others, other))] = sums[..]
            && factors == others
            && residue != other
        {
            // The second pass computes the points that the first one leaves out.
            return self.congruent(1, factors, residue);
        }
        let passes = colours.passes.len() as i64;
        let turn = |pass: usize| {
            let space = vec![0; self.dimension];
            Condition::Congruent(Congruence::new(1, space, passes, pass as i64))
        };
        let parts = colours.passes.iter().enumerate().map(|(pass, own)| match passes {
            1 => self.points(own),
            _ => Condition::And(Box::new(turn(pass)), Box::new(self.points(own))),
        });
        self.any(parts)
    }

    /// The points of a pass.
    fn points(&self, own: &[bool]) -> Condition {
        if let Some((factors, residue)) = as_sum(own) {
            return self.congruent(0, factors, residue);
        }
        let of_parities = |p: usize| {
            let each = (0..self.list.len()).map(|k| self.congruent(0, 1 << k, (p >> k & 1) as i64));
            let and = |a, b| Condition::And(Box::new(a), Box::new(b));
            each.reduce(and)
        };
        self.any((0..own.len()).filter(|p| own[*p]).filter_map(of_parities))
    }

    /// One of some conditions; where there is none, one that never holds.
    fn any(&self, parts: impl Iterator<Item = Condition>) -> Condition {
        let never = || Condition::Not(Box::new(self.congruent(0, 0, 0)));
        parts.reduce(|a, b| Condition::Or(Box::new(a), Box::new(b))).unwrap_or_else(never)
    }
}

/// A table of parities as `sum of some of them = residue (mod 2)`: which ones, and the residue.
fn as_sum(own: &[bool]) -> Option<(usize, i64)> {
    let candidates = (1..own.len()).flat_map(|factors| [(factors, 0), (factors, 1)]);
    candidates.into_iter().find(|(factors, residue)| {
        (0..own.len()).all(|p| own[p] == (i64::from((p & factors).count_ones()) % 2 == *residue))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nest::parities;

    #[test]
    fn tables_of_one_sum_are_found() {
        assert_eq!(as_sum(&[true, false, false, true]), Some((3, 0)));
        assert_eq!(as_sum(&[false, true, true, false]), Some((3, 1)));
        assert_eq!(as_sum(&[true, false, true, false]), Some((1, 0)));
        assert_eq!(as_sum(&[true, false, false, false]), None);
    }

    #[test]
    fn colours_separate_neighbours_but_not_diagonals() {
        let indices = vec!["i".to_owned(), "j".to_owned()];
        let two = Colours {
            indices: indices.clone(),
            passes: vec![vec![true, false, false, true], vec![false, true, true, false]],
        };
        assert!(
            two.separate(&[0, 1])
                && two.separate(&[-1, 0])
                && !two.separate(&[1, 1])
                && !two.separate(&[0, 2])
        );
        let one = |p: usize| (0..4).map(|other| other == p).collect();
        let four = Colours { indices, passes: (0..4).map(one).collect() };
        assert!(four.separate(&[1, 1]) && four.separate(&[0, 1]) && !four.separate(&[2, 0]));
        assert_eq!(parities([1, -1, 2].into_iter()), 0b011);
    }
}
