//! How far the fields of a step lie apart: around a block, and one behind the other along its stream.
//!
//! Statements of a step read what those before them wrote in the same step. In one direction along one dimension, of the level after
//! `n` of the `D` steps of a band a block needs the field of statement `k` on so many points more than its own,
//!
//! ```text
//! (D - n)*L + x_k      where  L + x_j >= x_k + o   if statement k reads field j at distance o, one level back,
//!                                 x_j >= x_k + o   if it reads it at the level that the step computes
//! ```
//!
//! with the least `L` that there is, which no read of a coefficient reaches beyond, and then the least `x`. Along the stream, towards larger indices, the field of statement `k` is
//! `d_k = max x - x_k` rows behind the field that is first: then the rows are there that a statement reads of the same step.
//! A coefficient is where the first field is.

use polyhedral::program::{Access, FieldId, Program};

/// What one direction along one dimension asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Growth {
    /// Points for each further step.
    pub(super) of_a_step: i64,
    /// By statement, those besides that other statements of the same step need.
    pub(super) beside: Vec<i64>,
}

impl Growth {
    /// Points besides at most.
    pub(super) fn most_beside(&self) -> i64 {
        self.beside.iter().copied().max().unwrap_or(0)
    }
}

/// Those of a dimension: towards smaller and towards larger indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) low: Growth,
    pub(super) high: Growth,
}

impl Around {
    /// Points that a block has around its own after so many steps, at most.
    pub(super) fn ghosts(&self, depth: i64) -> (i64, i64) {
        let of = |growth: &Growth| depth * growth.of_a_step + growth.most_beside();
        (of(&self.low), of(&self.high))
    }
}

/// What a statement reads.
pub(super) enum Source {
    /// The field of a statement, by the number of the statement; whether it is at the level that the step computes.
    Field(usize, bool),
    /// A coefficient.
    Coefficient(FieldId),
}

/// Where a read comes from. Fields that change have one statement each.
pub(super) fn source(program: &Program, access: &Access) -> Source {
    match program.writers_of(access.field).next() {
        Some((statement, _)) => Source::Field(statement, access.time > 0),
        None => Source::Coefficient(access.field),
    }
}

/// By dimension.
pub(super) fn around(program: &Program) -> Vec<Around> {
    let along = |d: usize| Around {
        low: growth(program, &|read| -read.offset[d]),
        high: growth(program, &|read| read.offset[d]),
    };
    (0..program.dimension()).map(along).collect()
}

fn growth(program: &Program, distance: &dyn Fn(&Access) -> i64) -> Growth {
    let reads: Vec<(usize, Source, i64)> = (program.statements.iter().enumerate())
        .flat_map(|(number, statement)| statement.reads.iter().map(move |read| (number, read)))
        .map(|(number, read)| (number, source(program, read), distance(read)))
        .collect();
    let fields = program.statements.len();
    // With so many points for a step nothing is needed besides but within a step, where reads make no circle.
    let farthest = reads.iter().map(|(.., distance)| distance.abs()).max().unwrap_or(0);
    let (mut too_few, mut enough) = (-1, farthest.saturating_mul(fields as i64 + 1));
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        match besides(&reads, fields, middle) {
            Some(_) => enough = middle,
            None => too_few = middle,
        }
    }
    loop {
        let beside = besides(&reads, fields, enough).unwrap_or_else(|| vec![0; fields]);
        let growth = Growth { of_a_step: enough, beside };
        let coefficient = |(reader, source, distance): &(usize, Source, i64)| match source {
            Source::Coefficient(_) => Some(growth.beside[*reader] + distance - growth.most_beside()),
            Source::Field(..) => None,
        };
        match reads.iter().filter_map(coefficient).max() {
            Some(farther) if farther > enough => enough = farther,
            _ => return growth,
        }
    }
}

/// The least points besides, if there are some: they do not grow for ever around a circle of reads.
fn besides(reads: &[(usize, Source, i64)], fields: usize, of_a_step: i64) -> Option<Vec<i64>> {
    let mut beside = vec![0; fields];
    for _ in 0..=fields {
        let before = beside.clone();
        for (reader, source, distance) in reads {
            if let Source::Field(field, same_step) = source {
                let needed = beside[*reader] + distance - if *same_step { 0 } else { of_a_step };
                beside[*field] = beside[*field].max(needed);
            }
        }
        if beside == before {
            return Some(beside);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of(text: &str) -> Vec<Around> {
        around(&polyhedral::parse("lags", text).unwrap())
    }

    fn growth(of_a_step: i64, beside: &[i64]) -> Growth {
        Growth { of_a_step, beside: beside.to_vec() }
    }

    #[test]
    fn a_statement_alone_needs_what_it_reads() {
        let found = of("stencil a(t, i, j) { field u: f32; coefficient c: f32;
            u[t+1, i, j] = u[t, i-1, j+2] + c[i+3, j]; }");
        let [rows, columns] = &found[..] else { panic!() };
        assert_eq!((&rows.low, &rows.high), (&growth(1, &[0]), &growth(3, &[0])));
        assert_eq!((&columns.low, &columns.high), (&growth(0, &[0]), &growth(2, &[0])));
    }

    /// Maxwell's equations: the electric fields are needed one point further than the magnetic one, and each step one point more.
    #[test]
    fn fields_of_a_step_lie_apart() {
        let found = around(&polyhedral::shipped::load("fdtd2d").unwrap());
        let [rows, columns] = &found[..] else { panic!() };
        assert_eq!((&rows.low, &rows.high), (&growth(1, &[0, 0, 0]), &growth(1, &[1, 0, 0])));
        assert_eq!((&columns.low, &columns.high), (&growth(1, &[0, 0, 0]), &growth(1, &[0, 1, 0])));
    }

    /// A circle of two statements grows by what both read, not by twice the farther one.
    #[test]
    fn circles_grow_by_their_sum() {
        let found = of("stencil two(t, i, j) { field u: f32; field v: f32;
            u[t+1, i, j] = v[t, i+3, j];
            v[t+1, i, j] = u[t+1, i-1, j] + u[t+1, i-2, j+1]; }");
        let [rows, columns] = &found[..] else { panic!() };
        assert_eq!(rows.high, growth(2, &[0, 1]));
        assert_eq!(rows.low, growth(0, &[2, 0]));
        assert_eq!((&columns.low, &columns.high), (&growth(0, &[0, 0]), &growth(1, &[1, 0])));
    }
}
