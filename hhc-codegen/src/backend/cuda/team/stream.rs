//! The loops over the positions of the stream.
//!
//! Where all rows of all warps run, and slices come from the arrays and go there, which the block knows before it begins, the text has no test of
//! that, and nothing but this text is in the way of the instructions that are fetched: what a multiprocessor keeps of them is not much more.

use super::super::super::bounds::expr;
use super::super::super::points::{INT, max, min};
use super::super::super::storages::{self, Work};
use super::super::text::barrier;
use super::sums::{constant, gathered_long};
use super::{COUNT, NEXT, Rows, SINCE, Team, WITHIN};
use crate::int_expr::{IntExpr, int};
use crate::plan::Loop;
use c_tree::{BinaryOp, Block, Expr, Stmt, all, any, var};

/// The first position at which all rows of all warps run, the one before which the unrolled text ends, and the one before
/// which the other text does.
const STEADY: &str = "tw_steady";
const ENDED: &str = "tw_ended";
const UNTIL: &str = "tw_until";

impl Team<'_> {
    /// The loops over the positions.
    pub(super) fn stream(&self) -> Block {
        let period = self.period;
        let loops = |until: &str, whole: bool, once: Block, on: Block| {
            let ends_within = !whole && period > 1;
            let mut body = Block::new();
            if ends_within || once.mentions(SINCE) {
                body.push(Stmt::constant("int", SINCE, var(NEXT) + var(WITHIN)));
            }
            if ends_within {
                body.push(Stmt::when(var(SINCE).ge(var(COUNT)), Stmt::Break));
            }
            body.extend(once);
            let unrolled = [Stmt::Pragma("unroll".into()), Stmt::count("int", WITHIN, 0, period, body)];
            let turn = unrolled.into_iter().chain(on).collect::<Block>();
            Stmt::go_on(NEXT, var(NEXT).lt(var(until)), period, turn)
        };
        let begin = Stmt::declare("int", NEXT, 0);
        self.in_turns.set(true);
        let mut steady = self.position(Rows::Run);
        self.in_turns.set(false);
        let mut rest = if self.facts.is_empty() { Block::new() } else { self.position(Rows::Rest) };
        // What any of them walks along goes on in each.
        for text in [&mut steady, &mut rest] {
            text.extend(self.walks.borrow().iter().map(|(_, step)| step.clone()));
        }
        let (places, steps): (Vec<Stmt>, Vec<Stmt>) = self.turns.take().into_iter().unzip();
        let steps = steps.into_iter().collect();
        if self.facts.is_empty() {
            let all = loops(COUNT, self.whole(), steady, steps);
            return [begin].into_iter().chain(places).chain([all]).collect();
        }
        let mut twice = Block::from(loops(UNTIL, false, rest, Block::new()));
        twice.extend(places);
        twice.comment("all rows of all warps run");
        twice.push(loops(ENDED, true, steady, steps));
        twice.push(Stmt::assign(var(UNTIL), var(COUNT)));
        let mut body = self.steady();
        let until = Stmt::declare("int", UNTIL, var(STEADY));
        body.extend([begin, until, Stmt::While(var(NEXT).lt(var(COUNT)), twice)]);
        body
    }

    /// Whether the stream has a whole number of what is unrolled.
    fn whole(&self) -> bool {
        let (low, high) = (&self.position.low, &self.position.high);
        constant(&(high.clone() - low.clone() + 1)).is_some_and(|count| count % self.period == 0)
    }

    /// What the warp does at one position: all rows run, or, in one branch for each warp, some may not.
    fn position(&self, rows: Rows) -> Block {
        let [start, _, end] = storages::parts(self.kernel);
        let mut body = self.every(&start, Rows::Any);
        let Loop { variable, low, high } = &self.kernel.rows;
        let group = |rows: Rows| -> Block {
            let each = self.group(rows);
            let around = Stmt::each("int", *variable, expr(low), var(*variable).le(expr(high)), 1, each);
            [Stmt::Pragma("unroll".into()), around].into_iter().collect()
        };
        match rows {
            Rows::Rest => {
                body.push(Stmt::constant(
                    "bool",
                    "tw_all",
                    all(self.hold(&self.ends_of(&self.facts, &self.kernel.rows))),
                ));
                body.push(Stmt::choose(c_tree::flag("tw_all"), group(Rows::Run), group(Rows::Rest)));
            }
            _ => body.extend(group(Rows::Run)),
        }
        body.extend(self.every(&end, Rows::Any));
        let (mut ahead, ends) = self.halves_of_copies();
        body.extend(ends);
        body.push(barrier());
        ahead.extend(body);
        let body = ahead;
        if body.mentions(self.position.variable) {
            let position = expr(&self.position.low) + var(SINCE);
            let declaration = Stmt::constant(INT, self.position.variable, position);
            return [declaration].into_iter().chain(body.statements).collect();
        }
        body
    }

    /// Parts, one after the other. Those of several edges of the grid are asked for by one truth.
    fn every(&self, works: &[Work<'_>], rows: Rows) -> Block {
        let mut body = Block::new();
        let mut rest = works;
        while let [first, others @ ..] = rest {
            let edges: Vec<Expr> = rest.iter().map_while(|work| self.at_an_edge(*work, rows)).collect();
            if edges.len() > 1 {
                let (here, behind) = rest.split_at(edges.len());
                let parts = here.iter().flat_map(|&work| self.part(work, rows)).collect::<Block>();
                body.push(Stmt::when(self.declared("bool", "tw_edges", any(edges)), parts));
                rest = behind;
            } else {
                body.extend(self.part(*first, rows));
                rest = others;
            }
        }
        body
    }

    /// The parts of a row of the group, where it runs, or with a test of that.
    fn group(&self, rows: Rows) -> Block {
        let [_, group, _] = storages::parts(self.kernel);
        if rows == Rows::Run || self.facts.is_empty() {
            return self.every(&group, Rows::Run);
        }
        // What is the same whether a row runs or not is printed once.
        let same = |work: &Work<'_>| self.part(*work, Rows::Run) == self.part(*work, Rows::Rest);
        let last = group.iter().rposition(|work| !same(work)).map_or(0, |last| last + 1);
        let (changing, rest) = group.split_at(last);
        let here = all(self.hold(&self.facts));
        let mut each = Block::from(Stmt::choose(
            here,
            self.every(changing, Rows::Run),
            self.every(changing, Rows::Rest),
        ));
        each.extend(self.every(rest, Rows::Any));
        each
    }

    /// What says that facts hold all along a loop: they are linear, so that its ends decide.
    fn ends_of(&self, facts: &[IntExpr], along: &Loop) -> Vec<IntExpr> {
        let ends = |fact: &IntExpr| {
            let at = |end: &IntExpr| fact.substitute(along.variable, end);
            match self.slope(fact, along.variable) {
                Some(0..) => vec![at(&along.low)],
                Some(_) => vec![at(&along.high)],
                None => vec![at(&along.low), at(&along.high)],
            }
        };
        facts.iter().flat_map(ends).collect()
    }

    /// The positions at which all facts hold for all warps and rows of the group.
    fn steady(&self) -> Block {
        let mut facts = self.ends_of(&self.ends_of(&self.facts, &self.kernel.rows), self.member);
        facts.extend(self.moving.iter().cloned());
        let (mut least, mut most) = (vec![c_tree::int(0)], vec![var(COUNT) - 1]);
        let mut whens = Vec::new();
        for fact in facts {
            let at_first = fact.substitute(self.position.variable, &self.position.low);
            match self.slope(&fact, self.position.variable) {
                Some(1) => least.push(gathered_long(&(int(0) - at_first))),
                Some(-1) => most.push(gathered_long(&at_first)),
                Some(0) => whens.extend(self.hold(&[fact])),
                _ => whens.push(c_tree::truth(false)),
            }
        }
        let long = |value: Expr| value.cast(INT).integer();
        let folded = |of: Vec<Expr>, of_two: &dyn Fn(Expr, Expr) -> Expr| {
            of.into_iter().map(long).reduce(of_two).unwrap_or(c_tree::int(0))
        };
        // What is unrolled begins where registers and cells of links are what they are at the first position.
        let period = self.period;
        let whole = |count: Expr| Expr::binary(BinaryOp::Div, count, period) * c_tree::int(period);
        let first = whole(folded(least, &max) + (period - 1));
        let first = min(first, long(var(COUNT))).cast("int").integer();
        let first = if whens.is_empty() { first } else { all(whens).select(first, var(COUNT)) };
        let last = max(folded(most, &min), long(var(STEADY) - 1)).cast("int").integer();
        let length = last + 1 - var(STEADY);
        let mut body = Block::new();
        body.push(Stmt::constant("int", STEADY, first).note("positions at which all rows of all warps run"));
        body.push(Stmt::constant("int", ENDED, var(STEADY) + whole(length)));
        body
    }
}
