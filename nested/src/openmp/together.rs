//! A result for each row, what the results before it make of it, and what becomes of the rows with that: three steps that go over the
//! rows together, in shares that a cache holds. Threads take shares in turn, and pass on the scan of the results.

use super::scans::SHARE;
use crate::analysis::{Implementation, Level, OmpSchedule};
use crate::emit::emitter::{Emitter, Seq, View};
use crate::emit::env::Env;
use crate::emit::generated::Kernel;
use crate::emit::kept::{Next, RowBlocks};
use crate::emit::view::{Dest, RowShape, load};
use crate::lower::{Lowered, Numbered, Step};
use crate::program::*;
use c_tree::{Expr as C, call, int};
use std::rc::Rc;

/// Such steps.
pub(super) struct Together<'p> {
    /// The results of rows.
    results: (VarId, &'p Expr),
    /// Their scan.
    scan: (VarId, &'p Expr),
    /// What becomes of the rows.
    rows: (VarId, &'p Expr),
    /// The computations that they are of.
    computations: [usize; 3],
    /// Whether a result is a reduction of the row that is scanned, by the same operator.
    folds_rows: bool,
}

/// Elements of a row of which it is said how far ahead the next row is.
const MOST: i64 = 1 << 32;
/// Blocks of a share's rows whose results are kept; a share of rows that are longer than a block has fewer, or is one row.
const KEPT: i64 = 64;
/// How many steps it is.
pub(super) const STEPS: usize = 3;

impl<'p> Together<'p> {
    /// The first steps, where they are that: the scan reads each result at its own place, and so does the map over rows what the scan
    /// gives.
    pub(super) fn of(lowered: &'p Lowered, steps: &'p [Numbered]) -> Option<Together<'p>> {
        let [first, second, third, ..] = steps else { return None };
        let (Step::Fill(a, results), Step::Scan(p, scan), Step::Fill(y, rows)) =
            (&first.step, &second.step, &third.step)
        else {
            return None;
        };
        let Kind::Apply(Operator::Scan, Some(function), parts) = &scan.kind else { return None };
        let Kind::Apply(Operator::Map, Some(over), operands) = &rows.kind else { return None };
        let tree = function.builtin.is_some() || function.associative;
        let reads = |expr: &Expr, id: VarId| mentions(lowered, expr, id);
        let alone = [&function.body, &over.body].into_iter().all(|body| !reads(body, *a) && !reads(body, *p));
        let plain = |expr: &Expr| matches!(expr.kind, Kind::Variable(id) if id == *a || id == *p);
        let places = operands.iter().all(|own| plain(own) || !reads(own, *a) && !reads(own, *p));
        let flat = |expr: &Expr| expr.ty.element().is_some_and(|element| !element.has_sequence());
        let fits = tree
            && matches!(parts[0].kind, Kind::Variable(id) if id == *a)
            && !reads(&parts[1], *a)
            && alone
            && places
            && flat(results)
            && !reads(results, *y)
            && operands.iter().any(plain)
            && rows.ty.element().is_some_and(Type::has_sequence);
        let computations = [first.computation, second.computation, third.computation];
        let (results, scan, rows) = ((*a, results), (*p, scan), (*y, rows));
        let folds_rows = folded(results.1, Operator::Reduce)
            .is_some_and(|own| folded(rows.1, Operator::Scan) == Some(own));
        fits.then_some(Together { results, scan, rows, computations, folds_rows })
    }

    /// How each of them is done, where that is by threads with equal shares.
    pub(super) fn levels(&self, implementations: &[Implementation]) -> Option<[Vec<Level>; 3]> {
        let shared = |computation: usize| {
            let own = implementations.get(computation).filter(|own| own.tile == 0)?;
            let first = own.levels.first()?;
            let fits = first.is_threads() && first.omp_schedule == OmpSchedule::Static && first.chunk == 0;
            (fits && !own.levels[1..].iter().any(Level::is_threads)).then(|| own.levels.clone())
        };
        let [a, p, y] = self.computations.map(shared);
        Some([a?, p?, y?])
    }

    /// The computation that all of it counts for.
    pub(super) fn computation(&self) -> usize {
        self.computations[2]
    }
}

/// By which operator, of which type, a map over rows folds or scans each of them, and which sequence of rows that is.
fn folded(value: &Expr, how: Operator) -> Option<(Builtin, &Type, VarId)> {
    let Kind::Apply(Operator::Map, Some(over), operands) = &value.kind else { return None };
    let Kind::Apply(operator, Some(function), parts) = &over.body.kind else { return None };
    let Kind::Variable(row) = parts[0].kind else { return None };
    let place = over.parameters.iter().position(|own| *own == row)?;
    let Kind::Variable(rows) = operands.get(place)?.kind else { return None };
    (*operator == how).then_some((function.builtin?, &parts[1].ty, rows))
}

/// The rows that a map folds each of.
fn folded_rows(value: &Expr) -> Option<&Expr> {
    let (.., rows) = folded(value, Operator::Reduce)?;
    let Kind::Apply(_, _, operands) = &value.kind else { return None };
    operands.iter().find(|own| matches!(own.kind, Kind::Variable(id) if id == rows))
}

/// Whether an expression reads a variable, by names of sequences, too.
fn mentions(lowered: &Lowered, expr: &Expr, id: VarId) -> bool {
    let mut found = false;
    expr.walk(false, &mut |part, _| {
        if let Kind::Variable(used) = part.kind {
            found |= used == id || lowered.lets.get(&used).is_some_and(|value| mentions(lowered, value, id));
        }
    });
    found
}

impl<'p> Emitter<'p> {
    /// The kernel of such steps; none where the rows are not known to be as many as the results, or what lengths they have.
    pub(super) fn together(
        &mut self,
        own: &Together<'p>,
        [first, _, last]: [Vec<Level>; 3],
        title: &str,
    ) -> Option<Kernel> {
        self.begin(first.clone(), 0);
        let env = Env::default();
        let results = self.sequence(own.results.1, &env);
        let length = self.steady(results.length.clone());
        let (share, elements, row) = self.share_of(&results)?;
        if results.open.is_some() || results.into.is_some() {
            return None;
        }
        let stored = self.dest(own.results.0, &length);
        let env = env.with(own.results.0, self.filled(own.results, &stored));
        let folding = self.folding(own.scan.1, &env)?;
        let before = self.dest(own.scan.0, &length);
        let env = env.with(own.scan.0, self.filled(own.scan, &before));
        self.levels.clone_from(&last);
        let rows = self.sequence(own.rows.1, &env);
        let shape = self.shape(&rows).filter(|_| rows.length == length && rows.open.is_none())?;
        let put = self.rows_of(own.rows.0, &rows, length.clone(), Some(shape))?;
        let (value, steps) = self.open_scan(&folding, true);
        let shares = self.bind(Scalar::I64, (length.clone() + (share.clone() - 1)) / share.clone());
        let blocks = self.blocks_of(own, &row);
        let source = folded_rows(own.results.1).map(|rows| self.sequence(rows, &env));
        let room = blocks.as_ref().map(|(scalar, ..)| (*scalar, KEPT));
        self.in_turn(&shares, elements, room, |emitter, turn| {
            let start = emitter.bind(Scalar::I64, turn.share.clone() * share.clone());
            let next = call("tw_min", [start.clone() + share.clone(), length.clone()]).integer();
            let end = emitter.bind(Scalar::I64, next);
            let at = results.at.clone();
            emitter.levels = first;
            if let (Some((_, _, fits)), Some(source), Some(sides)) = (&blocks, &source, &turn.sides) {
                let further = start.clone() + turn.threads.clone() * share.clone();
                let further = emitter.bind(Scalar::I64, further);
                // The last row stands for those behind it, which nobody reads.
                let last = call("tw_min", [further.clone(), length.clone() - 1]).integer();
                let last = emitter.bind(Scalar::I64, last);
                if let View::Sequence(next) = (source.at)(emitter, last) {
                    let whole = (row.clone() % SHARE).is(0).and(next.length.clone().is(row.clone()));
                    let more = fits.clone().and(further.lt(length.clone())).and(whole);
                    let more = emitter.bind(Scalar::Bool, more);
                    emitter.next =
                        Some(Next { sides: sides.clone(), more, origin: int(0), at: next.at, done: false });
                }
            }
            let blocks = blocks.zip(turn.sides.clone()).map(|((_, each, fits), sides)| {
                let first = start.clone();
                move |row: &C, kept: bool| {
                    let first = sides.own() + (row.clone() - first.clone()) * each.clone();
                    let folded = Some(sides.is_folded());
                    RowBlocks { values: sides.values(), first, fits: fits.clone(), folded, kept }
                }
            });
            let mut kept = false;
            emitter.each(Level::SEQUENTIAL, start.clone(), end.clone(), |emitter, row| {
                emitter.depth += 1;
                emitter.row_blocks = blocks.as_ref().map(|own| own(&row, false));
                let view = at(emitter, row.clone());
                kept = emitter.row_blocks.take().is_some_and(|own| own.kept);
                emitter.store(&stored, &row, &view);
                emitter.depth -= 1;
            });
            let (scan, ()) = emitter.block(|emitter| {
                emitter.each(Level::SEQUENTIAL, start.clone(), end.clone(), |emitter, row| {
                    let view = value(emitter, row.clone());
                    emitter.store(&before, &row, &view);
                    steps.iter().for_each(|step| step(emitter, row.clone()));
                });
            });
            emitter.taking(turn, scan);
            emitter.levels = last;
            let at = rows.at.clone();
            emitter.each(Level::SEQUENTIAL, start.clone(), end, |emitter, row| {
                emitter.depth += 1;
                let view = at(emitter, row.clone());
                emitter.row_blocks = blocks.as_ref().map(|own| own(&row, kept));
                put(emitter, row, view);
                emitter.row_blocks = None;
                emitter.depth -= 1;
            });
            emitter.turn_over();
        });
        Some(self.finished(vec![own.results.0, own.scan.0, own.rows.0], title))
    }

    /// A result that is being filled, read where it was.
    fn filled(&self, (_, value): (VarId, &'p Expr), dest: &Dest) -> View<'p> {
        let Some(element) = value.ty.element() else { return View::Parts(Vec::new()) };
        let arrays = dest.arrays.clone();
        View::Sequence(Seq::new(
            dest.length.clone(),
            Rc::new(move |_: &mut Emitter<'p>, place| load(element, &arrays, &place, None)),
        ))
    }

    /// What is kept of the blocks of a share's rows, if each is folded before it is scanned: the type of a result, how many blocks a row has,
    /// and whether there is room for them. Rows of one block are scanned as they are.
    fn blocks_of(&mut self, own: &Together<'p>, row: &C) -> Option<(Scalar, C, C)> {
        let scalar = own.results.1.ty.element()?.scalar().filter(|_| own.folds_rows && !self.fast)?;
        let each = self.steady((row.clone() + (BLOCK - 1)) / BLOCK);
        let fits = row.clone().gt(BLOCK).and(row.clone().le(BLOCK * KEPT));
        Some((scalar, each, fits))
    }

    /// How many rows a thread takes at a time, about as many as a cache holds, their elements, and those of one.
    fn share_of(&mut self, rows: &Seq<'p>) -> Option<(C, C, C)> {
        let row = match rows.rows.as_ref()? {
            RowShape::Tiled(row, _) | RowShape::Equal(row) => row.clone(),
            RowShape::Offsets(..) => return None,
        };
        let row = self.steady(row.clone().gt(1).select(call("tw_min", [row, int(MOST)]).integer(), int(1)));
        let share = int(SHARE) / row.clone();
        let share = self.steady(share.clone().gt(1).select(share, int(1)));
        let elements = self.steady(share.clone() * row.clone());
        Some((share, elements, row))
    }
}
