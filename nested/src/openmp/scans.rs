//! Scans by a few blocks of elements at a time, which a cache holds: first each block is folded, then all of them are scanned at once,
//! since in one alone each sum waits for the one before it. The order of operations is that of every scan.

use crate::analysis::{Level, Schedule};
use crate::emit::emitter::{At, Emitter, c_type, stored_type};
use crate::emit::fold::Folding;
use crate::emit::kept::{Next, Sides};
use crate::emit::view::{Dest, Into, flat, scalars, whole};
use crate::program::{BLOCK, Scalar};
use c_tree::{Block, Declaration, Expr as C, Stmt, call, int, name, var};
use std::rc::Rc;

/// Blocks that are scanned at once.
const CHAINS: i64 = 4;
/// Elements of as many blocks: what a thread takes at a time.
pub(super) const SHARE: i64 = CHAINS * BLOCK;
/// Bytes that are stored at once (`tw_line` of the runtime).
const LINE: i64 = 64;

/// Whose turn it is to pass on what comes behind its share, and a share.
pub(super) struct Turn {
    turn: C,
    /// The number of the share.
    pub share: C,
    /// How many threads take shares.
    pub threads: C,
    /// Where a thread keeps what it folds of its next share.
    pub sides: Option<Sides>,
}

/// What comes after some blocks.
enum After {
    /// The next share, to which is passed on what comes behind them.
    Turn(Box<Turn>),
    /// The rest of a row of a length; what comes behind its last block need not be known.
    Row(C),
}

/// The type of a result's elements, where that is a number that is stored as it is, so that lines of them can be.
pub(super) fn in_lines(dest: &Dest) -> Option<Scalar> {
    let [(_, scalar, 1)] = &dest.arrays[..] else { return None };
    (stored_type(*scalar) == c_type(*scalar)).then_some(*scalar)
}

impl<'p> Emitter<'p> {
    /// A scan of a whole sequence by a team. Threads take shares in turn, and pass on what comes behind them: each element is read from
    /// memory once.
    pub(super) fn scan_in_turn(&mut self, folding: &Folding<'p>, dest: &Dest, length: &C) {
        let prefix = flat(&folding.prefix);
        let carry = self.states(folding, "carry", prefix);
        let shares = self.bind(Scalar::I64, (length.clone() + (SHARE - 1)) / SHARE);
        let room = if folding.function.builtin.is_some() { in_lines(dest) } else { None };
        self.in_turn(&shares, int(SHARE), room.map(|scalar| (scalar, CHAINS)), |emitter, turn| {
            let start = emitter.bind(Scalar::I64, turn.share.clone() * SHARE);
            let next = call("tw_min", [start.clone() + SHARE, length.clone()]).integer();
            let end = emitter.bind(Scalar::I64, next);
            if let (Some(sides), Some(ahead)) = (turn.sides.clone(), emitter.ahead.clone()) {
                let more = (start.clone() + ahead.clone() + SHARE).le(length.clone());
                let more = emitter.bind(Scalar::Bool, more);
                let at = folding.sequence.at.clone();
                let at: At<'p> = Rc::new(move |emitter, place| at(emitter, place + ahead.clone()));
                emitter.next = Some(Next { sides, more, origin: start.clone(), at, done: false });
            }
            emitter.scan_blocks(folding, dest, &int(0), [start, end], &carry, After::Turn(Box::new(turn)));
            emitter.turn_over();
        });
    }

    /// The same in rounds of some blocks, which are shared among threads.
    pub(super) fn scan_by_rounds(&mut self, folding: &Folding<'p>, dest: &Dest, length: &C, level: Level) {
        let blocks = if level.chunk == 0 { 32 } else { level.chunk as i64 };
        let foldings = std::slice::from_ref(folding);
        let prefix = flat(&folding.prefix);
        let carry = self.states(folding, "carry", prefix);
        let parts = self.parts(foldings, blocks + 1);
        let round = self.fresh("r");
        let sharing = Emitter::sharing(&Level { chunk: 0, ..level });
        let (team, ()) = self.block(|emitter| {
            let (body, ()) = emitter.block(|emitter| {
                let rest = emitter.bind(Scalar::I64, length.clone() - var(&round));
                let all = (rest + (BLOCK - 1)) / BLOCK;
                let count = emitter.bind(Scalar::I64, call("tw_min", [int(blocks), all]).integer());
                let block = emitter.fresh("b");
                let (inner, ()) = emitter.block(|emitter| {
                    let level = Level::simd(level.schedule);
                    emitter.part(foldings, &parts, var(&round), var(&block), length, level);
                });
                emitter.push(Stmt::Pragma(format!("omp for {sharing}")));
                emitter.push(Stmt::count("int64_t", block, 0, count.clone(), inner));
                let block = emitter.fresh("b");
                let (inner, ()) =
                    emitter.block(|emitter| emitter.carried_on(folding, &parts[0], &carry, var(&block)));
                let serial = Stmt::count("int64_t", block, 0, count.clone(), inner);
                emitter.push(Stmt::Pragma("omp single".to_owned()));
                emitter.push(Stmt::Block(serial.into()));
                let block = emitter.fresh("b");
                let (inner, ()) = emitter.block(|emitter| {
                    let start = emitter.bind(Scalar::I64, var(&round) + var(&block) * BLOCK);
                    let next = call("tw_min", [start.clone() + BLOCK, length.clone()]).integer();
                    let end = emitter.bind(Scalar::I64, next);
                    let own: Vec<C> = parts[0].iter().map(|part| part.at(var(&block))).collect();
                    let prefix = whole(folding.ty, &mut own.into_iter());
                    let own = Folding { prefix, ..folding.clone() };
                    emitter.scan_range(&own, dest, &int(0), [start, end], false);
                });
                emitter.push(Stmt::Pragma(format!("omp for {sharing}")));
                emitter.push(Stmt::count("int64_t", block, 0, count, inner));
            });
            let goes_on = var(&round).lt(length);
            emitter.push(Stmt::each("int64_t", round.clone(), 0, goes_on, BLOCK * blocks, body));
        });
        self.push(Stmt::Pragma("omp parallel num_threads(tw->threads)".to_owned()));
        self.push(Stmt::Block(team));
    }

    /// Shares that threads take one after the other; each has so many elements, and results of so many blocks of a type are kept.
    pub(super) fn in_turn(
        &mut self,
        shares: &C,
        elements: C,
        room: Option<(Scalar, i64)>,
        body: impl FnOnce(&mut Self, Turn),
    ) {
        let (own, turn) = (self.fresh("i"), self.fresh("turn"));
        self.changes(&turn);
        let before = self.ahead.take();
        self.push(Stmt::declare("int64_t", turn.clone(), 0));
        let (team, ()) = self.block(|emitter| {
            let threads = emitter.bind(Scalar::I64, call("omp_get_num_threads", []).integer());
            emitter.ahead = Some(emitter.bind(Scalar::I64, threads.clone() * elements));
            let sides = room.map(|(scalar, blocks)| emitter.sides(scalar, blocks));
            let turn = Turn { turn: name(turn), share: var(&own), threads, sides };
            let (body, ()) = emitter.block(|emitter| body(emitter, turn));
            emitter.push(Stmt::Pragma("omp for nowait schedule(static, 1)".to_owned()));
            emitter.push(Stmt::count("int64_t", own, 0, shares.clone(), body));
            emitter.push(Stmt::call("TW_LINES_DONE", []));
        });
        self.ahead = before;
        let C::Name(count, _) = shares else { return };
        self.push(Stmt::Pragma(format!("omp parallel num_threads(tw->threads) if ({count} > 1)")));
        self.push(Stmt::Block(team));
    }

    /// What is done when it is a share's turn.
    pub(super) fn taking(&mut self, turn: Turn, work: Block) {
        let Turn { turn, share, .. } = turn;
        self.push(Stmt::call("tw_await", [turn.clone().address(), share.clone()]));
        self.push(Stmt::Block(work));
        self.push(Stmt::call("tw_pass_on", [turn.address(), share]));
    }

    /// A scan of a row that is stored, by blocks, where its level says that its elements are scanned together.
    pub(crate) fn scan_of_a_row(&self, folding: &Folding<'p>) -> Option<Into<'p, Self>> {
        if !folding.is_tree() || folding.sequence.open.is_some() {
            return None;
        }
        let own = folding.clone();
        Some(Rc::new(move |emitter: &mut Emitter<'p>, dest: &Dest, base: &C| {
            let length = own.sequence.length.clone();
            let prefix = flat(&own.prefix);
            if !emitter.level().schedule.is_parallel()
                || emitter.is_in_lanes()
                || !emitter.is_read_twice(&own)
            {
                return emitter.scan_range(&own, dest, base, [int(0), length], true);
            }
            let length = emitter.bind(Scalar::I64, length);
            let (short, ()) = emitter
                .block(|emitter| emitter.scan_range(&own, dest, base, [int(0), length.clone()], false));
            let (long, ()) = emitter.block(|emitter| {
                let carry = emitter.states(&own, "carry", prefix);
                let start = emitter.fresh("r");
                let (body, ()) = emitter.block(|emitter| {
                    let next = call("tw_min", [var(&start) + SHARE, length.clone()]).integer();
                    let end = emitter.bind(Scalar::I64, next);
                    emitter.scan_blocks(
                        &own,
                        dest,
                        base,
                        [var(&start), end],
                        &carry,
                        After::Row(length.clone()),
                    );
                });
                emitter.push(Stmt::each("int64_t", start.clone(), 0, var(&start).lt(&length), SHARE, body));
                emitter.push(Stmt::call("TW_LINES_DONE", []));
            });
            emitter.push(Stmt::choose(length.le(BLOCK), short, long));
        }))
    }

    /// Whether elements are so little work that they may be computed twice.
    fn is_read_twice(&mut self, folding: &Folding<'p>) -> bool {
        /// Statements of such an element.
        const FEW: usize = 4;
        let (block, element) = self.block(|emitter| (folding.sequence.at)(emitter, var("i")));
        let (mut statements, mut light) = (0, true);
        let mut own = |value: &C| {
            value.walk(&mut |part| light &= !matches!(part, C::Call { .. }));
        };
        flat(&element).iter().for_each(&mut own);
        block.walk(&mut |statement| {
            statements += 1;
            statement.expressions(&mut own);
        });
        light && statements <= FEW
    }

    /// A scan of a share; `carry` is what comes before them, and then what comes behind them.
    fn scan_blocks(
        &mut self,
        folding: &Folding<'p>,
        dest: &Dest,
        base: &C,
        [start, end]: [C; 2],
        carry: &[C],
        after: After,
    ) {
        let foldings = std::slice::from_ref(folding);
        let parts = self.parts(foldings, CHAINS);
        let count = self.bind(Scalar::I64, (end.clone() - start.clone() + (BLOCK - 1)) / BLOCK);
        let block = self.fresh("b");
        let (inner, ()) = self.block(|emitter| {
            let level = Level::simd(Schedule::Cooperative);
            emitter.part(foldings, &parts, start.clone(), var(&block), &end, level);
        });
        let (inner, sides) = match &after {
            After::Turn(turn) => (inner, turn.sides.clone()),
            After::Row(_) => (self.kept_block(&start, &var(&block), &parts[0], inner), None),
        };
        let results = match &after {
            After::Turn(_) => count.clone(),
            After::Row(length) => {
                let less = end.clone().is(length).select(count.clone() - 1, count.clone());
                self.bind(Scalar::I64, less)
            }
        };
        let fold = Stmt::count("int64_t", block.clone(), 0, results.clone(), inner);
        self.push(match sides {
            Some(sides) => {
                let before = sides.values().at(sides.own() + var(&block));
                let kept = Stmt::assign(parts[0][0].at(var(&block)), before);
                let kept = Stmt::count("int64_t", block, 0, CHAINS, [kept]);
                Stmt::choose(sides.is_folded(), [kept], [fold])
            }
            None => fold,
        });
        // What comes before each block takes the place of its result.
        let block = self.fresh("b");
        let (inner, ()) = self.block(|emitter| emitter.carried_on(folding, &parts[0], carry, var(&block)));
        let mut serial = Block::from(Stmt::count("int64_t", block, 0, results.clone(), inner));
        match after {
            After::Turn(turn) => self.taking(*turn, serial),
            After::Row(_) => {
                let last: Block = parts[0]
                    .iter()
                    .zip(carry)
                    .map(|(part, own)| Stmt::assign(part.at(results.clone()), own.clone()))
                    .collect();
                serial.push(Stmt::when(results.lt(&count), last));
                self.push(Stmt::Block(serial));
            }
        }
        let block = self.fresh("b");
        let (inner, ()) = self.block(|emitter| {
            let first = emitter.bind(Scalar::I64, start.clone() + var(&block) * BLOCK);
            let next = call("tw_min", [first.clone() + BLOCK, end.clone()]).integer();
            let own: Vec<C> = parts[0].iter().map(|part| part.at(var(&block))).collect();
            let prefix = whole(folding.ty, &mut own.into_iter());
            let next = emitter.bind(Scalar::I64, next);
            emitter.scan_range(&Folding { prefix, ..folding.clone() }, dest, base, [first, next], false);
        });
        let singles = Stmt::count("int64_t", block, 0, count, inner);
        match self.chains(folding, dest, base, &start, &parts[0]) {
            Some(chains) => self.push(Stmt::choose((end - start).is(SHARE), chains, singles)),
            None => self.push(singles),
        }
    }

    /// Gives a block what comes before it in exchange for its result, which the carry takes up.
    pub(super) fn carried_on(&mut self, folding: &Folding<'p>, part: &[C], carry: &[C], block: C) {
        let own: Vec<C> = part.iter().map(|part| part.at(block.clone())).collect();
        let kinds = scalars(folding.ty);
        let result: Vec<C> =
            own.iter().zip(kinds).map(|(value, scalar)| self.kept(scalar, value.clone())).collect();
        self.assign(&own, carry.to_vec());
        let result = whole(folding.ty, &mut result.into_iter());
        let values = self.combine(folding, carry, result);
        self.assign(carry, values);
    }

    /// Whole blocks at once, each from its own prefix on, line by line: what all of them read comes before what they store. None where
    /// elements are more than a number.
    fn chains(
        &mut self,
        folding: &Folding<'p>,
        dest: &Dest,
        base: &C,
        start: &C,
        prefixes: &[C],
    ) -> Option<Block> {
        let scalar = &in_lines(dest)?;
        let array = &dest.arrays[0].0;
        let width = LINE / scalar.bytes() as i64;
        let store = format!("tw_line_{}", c_type(*scalar));
        let at = folding.sequence.at.clone();
        let (block, ()) = self.block(|emitter| {
            let to = |place: C| array.at(base.clone() + place).address();
            let past = emitter.fresh("past");
            let own = call("tw_past", [to(start.clone()), dest.length.clone()]);
            emitter.push(Stmt::constant("bool", past.clone(), own));
            let states: Vec<Vec<C>> = (0..CHAINS)
                .map(|chain| {
                    let own = prefixes.iter().map(|prefix| prefix.at(chain)).collect();
                    emitter.states(folding, "scan", own)
                })
                .collect();
            let index = emitter.fresh("i");
            let first = |chain: i64| start.clone() + chain * BLOCK + var(&index);
            let lines = |emitter: &mut Emitter<'p>| {
                let lines: Vec<C> = (0..CHAINS).map(|_| emitter.line(*scalar, width)).collect();
                for (chain, (line, state)) in lines.iter().zip(&states).enumerate() {
                    let lane = emitter.fresh("l");
                    let (inner, ()) = emitter.block(|emitter| {
                        let place = emitter.kept(Scalar::I64, first(chain as i64) + var(&lane)).integer();
                        emitter.assign(&[line.at(var(&lane))], state.clone());
                        let element = at(emitter, place);
                        let values = emitter.combine(folding, state, element);
                        emitter.assign(state, values);
                    });
                    emitter.push(Stmt::Pragma(format!("GCC unroll {width}")));
                    emitter.push(Stmt::count("int", lane, 0, width, inner));
                }
                for (chain, line) in lines.into_iter().enumerate() {
                    emitter.push(Stmt::call(&store, [to(first(chain as i64)), line, name(&past)]));
                }
            };
            let each =
                |body: Block| Stmt::each("int64_t", index.clone(), 0, var(&index).lt(BLOCK), width, body);
            let (alone, ()) = emitter.block(|emitter| {
                lines(emitter);
                let Some(far) = emitter.ahead.clone() else { return };
                (0..CHAINS).for_each(|chain| emitter.ask_for(&at, first(chain), far.clone()));
            });
            let Some(mut next) = emitter.next.take() else { return emitter.push(each(alone)) };
            // The next share's blocks are as far from each other.
            let (both, ()) = emitter.block(|emitter| {
                let lanes: Vec<C> = (0..CHAINS).map(|_| emitter.lanes_ahead(folding, *scalar)).collect();
                let (body, ()) = emitter.block(|emitter| {
                    lines(emitter);
                    for (chain, lanes) in lanes.iter().enumerate() {
                        emitter.fold_ahead(folding, &next, lanes, [first(chain as i64), int(width)], *scalar);
                    }
                });
                emitter.push(each(body));
                for (chain, lanes) in lanes.iter().enumerate() {
                    emitter.keep_ahead(folding, &next, lanes, start.clone() + chain as i64 * BLOCK);
                }
            });
            emitter.push(Stmt::choose(next.more.clone(), both, [each(alone)]));
            next.done = true;
            emitter.next = Some(next);
        });
        Some(block)
    }

    /// A line of results on the stack.
    fn line(&mut self, scalar: Scalar, width: i64) -> C {
        let own = self.fresh("line");
        self.changes(&own);
        let mut declaration = Declaration::array(c_type(scalar), own.clone(), width);
        declaration.attribute = Some("TW_ALIGNED".to_owned());
        self.push(Stmt::Declare(vec![declaration]));
        name(own)
    }
}
