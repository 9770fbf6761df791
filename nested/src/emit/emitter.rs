//! What is known while the code of one step is made.

use super::gpu::{Gpu, Where};
use super::indices::Grouped;
use super::kept::{Next, RowBlocks};
use super::matrices::Products;
use super::slots::{Place, Slots};
use super::unused::without_unused;
use super::view::{self, Dest, RowShape, load, whole};
use crate::analysis::Level;
use crate::fault::FaultKind;
use crate::lower::Lowered;
use crate::program::*;
use c_tree::{Block, Declaration, Expr as C, Sort, Stmt, call, int, name, var};
use polyhedral::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A value that emits to an [`Emitter`].
pub type View<'p> = view::View<'p, Emitter<'p>>;
/// A sequence of these.
pub type Seq<'p> = view::Seq<'p, Emitter<'p>>;
/// What gives one of its elements.
pub type At<'p> = view::At<'p, Emitter<'p>>;
/// What a round of a loop ends with.
pub type StepBy<'p> = view::StepBy<'p, Emitter<'p>>;

/// The type of a number in C, as it is computed with.
pub fn c_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I32 => "int32_t",
        Scalar::I64 => "int64_t",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::Bool => "bool",
    }
}

/// The type of a number in C, as it is stored.
pub fn stored_type(scalar: Scalar) -> &'static str {
    if scalar == Scalar::Bool { "uint8_t" } else { c_type(scalar) }
}

/// A check of the data: what it finds, and where in the program it matters.
pub type Checks = Vec<(FaultKind, Span)>;

/// The code of a kernel while it is made.
pub struct Emitter<'p> {
    /// The program.
    pub lowered: &'p Lowered,
    /// Where values lie.
    pub slots: Slots,
    /// Whether sums of floating-point numbers may be in any order.
    pub fast: bool,
    /// How the levels of the kernel are run.
    pub levels: Vec<Level>,
    /// Elements of a tile of the outermost loop; 0 without tiles.
    pub tile: u64,
    /// How many loops with a level of their own are around.
    pub depth: usize,
    /// Whether one of them is the lanes of a vector.
    in_lanes: bool,
    /// All checks so far, of all kernels.
    pub checks: Checks,
    /// How many conditions are around.
    conditions: usize,
    /// Slots that the kernel reads, and those that it fills.
    pub reads: BTreeSet<usize>,
    /// Slots that it fills.
    pub writes: BTreeSet<usize>,
    /// What is known of a GPU, where the code is for one.
    pub gpu: Option<Gpu>,
    /// Offsets that are checked for a length, and the number of rows.
    pub(super) checked: Vec<(C, C, C)>,
    /// Rows whose indices are checked just before they are used.
    pub(crate) grouped: Option<Grouped>,
    /// How many elements further on a thread goes on when it is done with those at hand.
    pub(crate) ahead: Option<C>,
    /// The next share of a thread that scans one.
    pub(crate) next: Option<Next<'p, Emitter<'p>>>,
    /// Where results of a row's blocks are kept, for a scan of the row.
    pub(crate) row_blocks: Option<RowBlocks>,
    /// Products of rows that are computed before the code that needs them.
    pub(crate) products: Option<Products>,
    pub(super) blocks: Vec<Block>,
    pub(super) known: Vec<Vec<(C, C)>>,
    /// The elements of arrays that names stand for.
    pub(super) elements: BTreeMap<String, C>,
    counter: usize,
    pub(super) prologue: BTreeMap<String, Stmt>,
    pub(crate) hoisted: Vec<Stmt>,
    invariant: BTreeSet<String>,
    mutable: BTreeSet<String>,
}

impl<'p> Emitter<'p> {
    /// An emitter without a kernel.
    pub fn new(lowered: &'p Lowered, slots: Slots, fast: bool) -> Emitter<'p> {
        Emitter {
            lowered,
            slots,
            fast,
            levels: Vec::new(),
            tile: 0,
            depth: 0,
            in_lanes: false,
            conditions: 0,
            checks: Vec::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            gpu: None,
            checked: Vec::new(),
            grouped: None,
            ahead: None,
            next: None,
            row_blocks: None,
            products: None,
            blocks: Vec::new(),
            known: Vec::new(),
            elements: BTreeMap::new(),
            counter: 0,
            prologue: BTreeMap::new(),
            hoisted: Vec::new(),
            invariant: BTreeSet::new(),
            mutable: BTreeSet::new(),
        }
    }

    /// Begins a kernel.
    pub fn begin(&mut self, levels: Vec<Level>, tile: u64) {
        (self.levels, self.tile, self.depth, self.counter) = (levels, tile, 0, 0);
        (self.reads, self.writes) = (BTreeSet::new(), BTreeSet::new());
        (self.blocks, self.known) = (vec![Block::new()], vec![Vec::new()]);
        self.elements = BTreeMap::new();
        (self.checked, self.grouped) = (Vec::new(), None);
        (self.ahead, self.next) = (None, None);
        (self.row_blocks, self.products) = (None, None);
        (self.prologue, self.hoisted) = (BTreeMap::new(), Vec::new());
        (self.invariant, self.mutable) = (BTreeSet::new(), BTreeSet::new());
    }

    /// The kernel's body.
    pub fn end(&mut self) -> Block {
        let own = self.blocks.pop().unwrap_or_default();
        let mut body = Block::new();
        body.extend(std::mem::take(&mut self.prologue).into_values());
        let checked = !self.hoisted.is_empty();
        body.extend(std::mem::take(&mut self.hoisted));
        if checked || self.gpu.is_some() {
            body.push(Stmt::when(name("tw").arrow("report").arrow("check").is_not(0), Stmt::Return(None)));
        }
        body.extend(own);
        let body = without_unused(body);
        if self.gpu.is_some() { self.of_the_host(body) } else { body }
    }

    /// A name that is new.
    pub fn fresh(&mut self, stem: &str) -> String {
        self.counter += 1;
        format!("{stem}{}", self.counter)
    }

    /// Adds a statement.
    pub fn push(&mut self, statement: Stmt) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(statement);
        }
    }

    /// What is emitted by a function, in a block of its own.
    pub fn block<R>(&mut self, emit: impl FnOnce(&mut Self) -> R) -> (Block, R) {
        self.blocks.push(Block::new());
        self.known.push(Vec::new());
        let result = emit(self);
        self.known.pop();
        (self.blocks.pop().unwrap_or_default(), result)
    }

    /// What is emitted by a function that runs under a condition, in a block of its own.
    pub fn maybe<R>(&mut self, emit: impl FnOnce(&mut Self) -> R) -> (Block, R) {
        self.conditions += 1;
        let result = self.block(emit);
        self.conditions -= 1;
        result
    }

    /// Whether what is emitted runs whenever the kernel does.
    pub fn is_certain(&self) -> bool {
        self.conditions == 0
    }

    /// A variable that changes.
    pub fn changing(&mut self, scalar: Scalar, stem: &str, value: C) -> String {
        let own = self.fresh(stem);
        self.mutable.insert(own.clone());
        self.push(Stmt::declare(c_type(scalar), own.clone(), value));
        own
    }

    /// A name whose value changes, or is another one in each round.
    pub(crate) fn changes(&mut self, own: &str) {
        self.mutable.insert(own.to_owned());
    }

    /// An array on the stack, which changes.
    pub fn array(&mut self, scalar: Scalar, stem: &str, count: i64) -> String {
        let own = self.fresh(stem);
        self.mutable.insert(own.clone());
        self.push(Stmt::Declare(vec![Declaration::array(c_type(scalar), own.clone(), count)]));
        own
    }

    fn all_names(value: &C, holds: &dyn Fn(&str) -> bool) -> bool {
        let mut all = true;
        value.walk(&mut |part| {
            if let C::Name(name, _) = part {
                all &= holds(name);
            }
        });
        all
    }

    /// Whether a value is the same in the whole kernel.
    pub fn is_invariant(&self, value: &C) -> bool {
        Self::all_names(value, &|name| self.invariant.contains(name) || name.starts_with("tw"))
    }

    /// The value under a name, the same one for the same value.
    pub fn bind(&mut self, scalar: Scalar, value: C) -> C {
        if matches!(value, C::Name(..) | C::Int(_) | C::Bool(_) | C::Literal(_)) {
            return value;
        }
        let steady = Self::all_names(&value, &|name| !self.mutable.contains(name));
        if steady && let Some((_, known)) = self.known.iter().flatten().find(|(known, _)| *known == value) {
            return known.clone();
        }
        let own = self.fresh("v");
        let sort = match scalar {
            Scalar::I32 | Scalar::I64 => Sort::Integer,
            Scalar::Bool => Sort::Truth,
            _ => Sort::Other,
        };
        let named = C::Name(own.clone(), sort);
        if let C::Index(..) = value {
            self.elements.insert(own.clone(), value.clone());
        }
        self.push(Stmt::constant(c_type(scalar), own, value.clone()));
        if steady && let Some(known) = self.known.last_mut() {
            known.push((value, named.clone()));
        }
        named
    }

    /// A length or another whole number under a name; before the kernel's loops, where it is the same in all of them.
    pub fn steady(&mut self, value: C) -> C {
        if !self.is_certain() { self.bind(Scalar::I64, value) } else { self.hoist(value) }
    }

    /// The same, under conditions, too.
    pub fn hoist(&mut self, value: C) -> C {
        if matches!(value, C::Name(..) | C::Int(_)) || !self.is_invariant(&value) {
            return self.bind(Scalar::I64, value);
        }
        if let Some((_, known)) = self.known[0].iter().find(|(known, _)| *known == value) {
            return known.clone();
        }
        let own = self.fresh("n");
        self.hoisted.push(Stmt::constant("int64_t", own.clone(), value.clone()));
        self.invariant.insert(own.clone());
        self.known[0].push((value, var(&own)));
        var(own)
    }

    /// A statement before the kernel's loops, once.
    pub fn before(&mut self, statement: Stmt) {
        if !self.hoisted.contains(&statement) {
            self.hoisted.push(statement);
        }
    }

    /// The number of a check.
    pub fn check(&mut self, kind: FaultKind, span: &Span) -> C {
        let own = (kind, span.clone());
        let place = self.checks.iter().position(|known| *known == own).unwrap_or_else(|| {
            self.checks.push(own);
            self.checks.len() - 1
        });
        int(place as i64 + 1)
    }

    /// The report of the run.
    pub fn report(&self) -> C {
        name("tw").arrow("report")
    }

    /// Checks that two lengths are one; it is 0 where they are not.
    pub fn same(&mut self, a: C, b: C, span: &Span) -> C {
        if a == b {
            return a;
        }
        let check = self.check(FaultKind::Lengths, span);
        self.steady(call("tw_same", [a, b, self.report(), check]).integer())
    }

    /// The array of a slot that is read.
    pub fn read(&mut self, slot: usize) -> C {
        let own = &self.slots.list[slot];
        let (named, kind) = (format!("s_{}", own.name), stored_type(own.scalar));
        if !self.writes.contains(&slot) {
            self.reads.insert(slot);
        }
        let declaration = match &mut self.gpu {
            Some(gpu) => gpu.read(slot, &named, kind, !own.given),
            None => {
                let value = name("tw").arrow("slots").at(slot as i64).dot("data");
                let kind = c_tree::Type::new(kind).constant().restrict_pointer();
                Stmt::declare(kind, named.clone(), value)
            }
        };
        self.prologue.entry(named.clone()).or_insert(declaration);
        self.invariant.insert(named.clone());
        name(named)
    }

    /// The length of a slot.
    pub fn length(&mut self, slot: usize) -> C {
        let named = format!("n_{}", self.slots.list[slot].name);
        let value = name("tw").arrow("slots").at(slot as i64).dot("length");
        self.prologue.entry(named.clone()).or_insert_with(|| Stmt::constant("int64_t", named.clone(), value));
        self.invariant.insert(named.clone());
        var(named)
    }

    /// Makes room in a slot for a number of elements, and gives its array.
    pub fn room(&mut self, slot: usize, length: &C) -> C {
        let own = &self.slots.list[slot];
        let (named, kind) = (format!("d_{}", own.name), stored_type(own.scalar));
        let bytes = (own.scalar.bytes() * own.width) as i64;
        self.writes.insert(slot);
        if let Some(gpu) = &mut self.gpu {
            let statements = gpu.room(slot, &named, kind, own, length);
            statements.into_iter().for_each(|statement| self.push(statement));
            return name(named);
        }
        let value = call("tw_room", [name("tw"), int(slot as i64), length.clone(), int(bytes)]);
        self.push(Stmt::declare(c_tree::Type::new(kind).restrict_pointer(), named.clone(), value));
        self.mutable.insert(named.clone());
        name(named)
    }

    /// Ends the kernel if something was found wrong.
    pub fn stop_if_wrong(&mut self) {
        let wrong = self.report().arrow("check").is_not(0);
        self.push(Stmt::when(wrong, Stmt::Return(None)));
    }

    /// Where a variable lies.
    pub fn place(&self, variable: VarId) -> Place {
        self.slots.places.get(&variable).cloned().unwrap_or(Place { leaves: Vec::new(), rows: None })
    }

    /// Room for a variable's elements.
    pub fn dest(&mut self, variable: VarId, length: &C) -> Dest {
        let place = self.place(variable);
        let arrays = place.leaves.iter().map(|slot| {
            let (scalar, width) = (self.slots.list[*slot].scalar, self.slots.list[*slot].width);
            (self.room(*slot, length), scalar, width)
        });
        Dest { arrays: arrays.collect(), length: length.clone() }
    }

    /// The value of a variable that is stored.
    pub fn stored(&mut self, id: VarId) -> View<'p> {
        let variable = self.lowered.program.variable(id);
        if let Role::Table(values) = &variable.role {
            let scalar = variable.ty.element().and_then(Type::scalar).unwrap_or(Scalar::F64);
            let table = name(format!("t_{}", variable.name));
            self.invariant.insert(format!("t_{}", variable.name));
            let array = table.clone();
            let at =
                Rc::new(move |_: &mut Emitter<'p>, place: C| View::Scalar(table.at(place), scalar, None));
            let seq = Seq::new(int(values.len() as i64), at);
            return View::Sequence(Seq { array: Some((array, scalar)), ..seq });
        }
        let place = self.place(id);
        let arrays: Vec<(C, Scalar, usize)> = place
            .leaves
            .iter()
            .map(|slot| (self.read(*slot), self.slots.list[*slot].scalar, self.slots.list[*slot].width))
            .collect();
        let Some(first) = place.leaves.first().copied() else { return View::Parts(Vec::new()) };
        match &variable.ty {
            Type::Sequence(element) => {
                let element: &'p Type = element;
                if let Type::Sequence(inner) = element {
                    let inner: &'p Type = inner;
                    let rows = place.rows.unwrap_or(first);
                    let (offsets, count) = (self.read(rows), self.length(rows));
                    let shape = RowShape::Offsets(offsets.clone(), Scalar::I64);
                    let length = self.steady(count - 1);
                    let at = Rc::new(move |emitter: &mut Emitter<'p>, row: C| {
                        let (begin, count) =
                            emitter.row(&RowShape::Offsets(offsets.clone(), Scalar::I64), &row, None);
                        let arrays = arrays.clone();
                        let at = Rc::new(move |_: &mut Emitter<'p>, place: C| {
                            load(inner, &arrays, &(begin.clone() + place), None)
                        });
                        View::Sequence(Seq::new(count, at))
                    });
                    return View::Sequence(Seq { rows: Some(shape), ..Seq::new(length, at) });
                }
                let origin = (variable.role == Role::Input).then_some(id);
                let length = self.length(first);
                let array = element.scalar().map(|scalar| (arrays[0].0.clone(), scalar));
                let at = Rc::new(move |_: &mut Emitter<'p>, place: C| load(element, &arrays, &place, origin));
                View::Sequence(Seq { array, ..Seq::new(length, at) })
            }
            ty => {
                let own: View<'p> = load(ty, &arrays, &int(0), None);
                let numbers = view::flat(&own);
                let kinds = view::scalars(ty);
                let bound: Vec<C> =
                    numbers.into_iter().zip(kinds).map(|(value, scalar)| self.first(value, scalar)).collect();
                whole(ty, &mut bound.into_iter())
            }
        }
    }

    /// A number that is the same in the whole kernel, under a name.
    fn first(&mut self, value: C, scalar: Scalar) -> C {
        if let Some((_, known)) = self.known[0].iter().find(|(known, _)| *known == value) {
            return known.clone();
        }
        let own = self.fresh("g");
        self.hoisted.push(Stmt::constant(c_type(scalar), own.clone(), value.clone()));
        self.invariant.insert(own.clone());
        let named = if scalar.is_integer() { var(&own) } else { name(&own) };
        self.known[0].push((value, named.clone()));
        named
    }

    /// Where a row begins, and how many elements it has; `rows` bounds an index that may be wrong.
    pub fn row(&mut self, shape: &RowShape, row: &C, rows: Option<&C>) -> (C, C) {
        match shape {
            RowShape::Offsets(offsets, scalar) => {
                let wide = |value: C| if *scalar == Scalar::I64 { value } else { value.cast("int64_t") };
                let next = match rows {
                    Some(rows) => call("tw_min", [row.clone() + 1, rows.clone()]).integer(),
                    None => row.clone() + 1,
                };
                let begin = self.bind(Scalar::I64, wide(offsets.at(row)));
                let end = self.bind(Scalar::I64, wide(offsets.at(next)));
                let count = self.bind(Scalar::I64, end - begin.clone());
                (begin, count)
            }
            RowShape::Tiled(tile, total) => {
                let begin = self.bind(Scalar::I64, row.clone() * tile.clone());
                if let Some(whole) = self.whole_row(tile, total) {
                    return (begin, whole);
                }
                let rest = total.clone() - begin.clone();
                let count = self.bind(Scalar::I64, call("tw_min", [tile.clone(), rest]).integer());
                (begin, count)
            }
            RowShape::Equal(count) => {
                let begin = self.bind(Scalar::I64, row.clone() * count.clone());
                (begin, count.clone())
            }
        }
    }

    /// The present level. Within vector lanes there are no threads.
    pub fn level(&self) -> Level {
        let level = self.levels.get(self.depth).copied().unwrap_or(Level::SEQUENTIAL);
        // A thread of a GPU has no others.
        if self.gpu.as_ref().is_some_and(|gpu| gpu.place != Where::Team) {
            return Level { unroll: level.unroll, ..Level::SEQUENTIAL };
        }
        if self.in_lanes && level.is_threads() { Level::SEQUENTIAL } else { level }
    }

    /// What `work` says within the lanes of a vector, where there are such.
    pub fn within<T>(&mut self, lanes: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.in_lanes;
        self.in_lanes |= lanes;
        let result = work(self);
        self.in_lanes = before;
        result
    }

    /// Whether what is emitted runs in a lane of a vector.
    pub fn is_in_lanes(&self) -> bool {
        self.in_lanes
    }

    /// What a loop's directive says of sharing.
    pub fn sharing(level: &Level) -> String {
        let kind = match level.omp_schedule {
            crate::analysis::OmpSchedule::Merge => "static",
            own => own.name(),
        };
        match level.chunk {
            0 => format!("schedule({kind})"),
            chunk => format!("schedule({kind}, {chunk})"),
        }
    }

    /// `for (i = first; i < end; ++i)`, run as a level says.
    pub fn each(&mut self, level: Level, first: C, end: C, body: impl FnOnce(&mut Self, C)) {
        if let Some(gpu) = &self.gpu {
            return match gpu.lane() {
                Some((lane, team)) if level.schedule.is_parallel() => {
                    self.by_lanes(lane, team, first, end, body)
                }
                _ => self.one_by_one(level.unroll, first, end, body),
            };
        }
        let index = self.fresh("i");
        let lanes = level.is_simd() && !level.is_threads();
        let (block, ()) = self.within(lanes, |emitter| emitter.block(|emitter| body(emitter, var(&index))));
        if level.is_threads() {
            let directive = format!("omp parallel for num_threads(tw->threads) {}", Self::sharing(&level));
            let rounds = if first == int(0) { end.clone() } else { end.clone() - first.clone() };
            self.push(match self.is_worth_sharing(&index, &rounds, &block) {
                Some(worth) => Stmt::PragmaOf(directive + " if", worth),
                None => Stmt::Pragma(directive),
            });
        } else if level.is_simd() {
            self.push(Stmt::Pragma("omp simd".to_owned()));
        } else if level.unroll {
            self.push(Stmt::Pragma("GCC unroll 4".to_owned()));
        }
        self.push(Stmt::count("int64_t", index, first, end, block));
    }
}
