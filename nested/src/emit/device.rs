//! Code for a GPU: what the host does around kernels, and kernels, which are closures over what the host knows.
//!
//! A step is a function of the host. What is emitted within [`Emitter::launch`] is a kernel: names that the host declared and
//! the kernel uses become its parameters. Elements of arrays that the host needs by itself are fetched.

use super::emitter::{Emitter, c_type};
use super::gpu::{Gpu, WARP, Where};
use super::unused::without_unused;
use crate::program::Scalar;
use c_tree::{
    Block, Declaration, Dialect, Expr as C, Function as CFunction, Stmt, Type as CType, int, name, var,
};
use std::collections::BTreeMap;

/// Bytes of shared memory that every device gives to a block.
const SHARED: i64 = 48 << 10;

/// How many blocks a kernel has.
pub enum Shape {
    /// One.
    One,
    /// As many as there are items for, each with so many of them; or fewer, which then go on.
    Items(C, i64),
    /// Exactly so many.
    Blocks(C),
}

impl<'p> Emitter<'p> {
    /// What is known of the GPU.
    fn device(&mut self) -> Option<&mut Gpu> {
        self.gpu.as_mut()
    }

    /// A kernel of blocks of so many threads, and its start.
    pub fn launch(&mut self, shape: Shape, threads: i64, place: Where, emit: impl FnOnce(&mut Self)) {
        if let Some(gpu) = self.device() {
            (gpu.place, gpu.shared) = (place, 0);
        }
        let (body, ()) = self.block(|emitter| {
            emitter.team_in_kernel(place);
            emit(emitter);
        });
        let body = without_unused(body);
        let mut own = Block::new();
        own.push(Stmt::when(name("own").dot("stop").deref(), Stmt::Return(None)));
        // What a thread finds wrong it keeps to itself until the end.
        let notes = body.mentions("tw");
        if notes {
            let mut noted = Declaration::plain("tw_report", "noted");
            noted.value = Some(C::List(vec![int(0), C::List(vec![int(0), int(0)])]));
            own.push(Stmt::Declare(vec![noted]));
            let mut local = Declaration::plain("const tw_device", "local");
            local.value = Some(C::List(vec![name("noted").address(), name("own").dot("stop")]));
            own.push(Stmt::Declare(vec![local]));
            own.push(Stmt::declare("const tw_device *const", "tw", name("local").address()));
        }
        own.extend(body);
        if notes {
            let number = |place: i64| name("noted").dot("numbers").at(place);
            let check = name("noted").dot("check");
            let tell = [name("own").dot("report"), check.clone(), number(0), number(1)];
            own.push(Stmt::when(check.is_not(0), Stmt::call("tw_tell", tell)));
        }
        let parameters = self.captured(&own);
        let Some(gpu) = self.device() else { return };
        (gpu.place, gpu.lane) = (Where::Host, None);
        let shared = gpu.shared;
        if shared > SHARED {
            gpu.refusal.get_or_insert(format!(
                "a block needs {shared} bytes of shared memory, and every device has {SHARED}; take smaller blocks"
            ));
        }
        let number = gpu.kernels.len() as i64;
        let named = format!("{}_{}", gpu.title, number + 1);
        let mut function = CFunction::new(&named)
            .attribute("extern \"C\" __global__")
            .attribute(format!("__launch_bounds__({threads})"));
        for (parameter, kind) in &parameters {
            function = function.parameter(kind.clone(), parameter);
        }
        let function = function.parameter("const tw_device", "own").body(own);
        gpu.kernels.push(function.print(Dialect::Cuda));
        gpu.names.push((named, parameters.len() + 1));
        let blocks = match shape {
            Shape::One => int(1),
            Shape::Items(items, each) => {
                C::call("tw_blocks", [name("tw"), items, int(each)], c_tree::Sort::Integer)
            }
            Shape::Blocks(blocks) => blocks,
        };
        let address = |value: C| value.address().cast(CType::new("void").pointer());
        let mut arguments: Vec<C> = parameters.keys().map(|own| address(name(own))).collect();
        arguments.push(address(name("tw").arrow("device")));
        let mut list = Declaration::array(CType::new("void").pointer(), "arguments", arguments.len() as i64);
        list.value = Some(C::List(arguments));
        let kernel = name("TW_KERNELS") + number;
        let start = [name("tw"), kernel, blocks, int(threads), int(shared), name("arguments")];
        self.push(Stmt::Block(Block::from([Stmt::Declare(vec![list]), Stmt::call("tw_launch", start)])));
    }

    /// What all threads of a kernel know of their teams.
    fn team_in_kernel(&mut self, place: Where) {
        if place != Where::Team {
            return;
        }
        let (lane, mask) = (self.fresh("lane"), self.fresh("mask"));
        let Some(gpu) = self.device() else { return };
        let size = gpu.team_size();
        gpu.lane = Some((lane.clone(), mask.clone()));
        let thread = name("threadIdx").dot("x").cast("int");
        let within = thread.clone() % size;
        self.push(Stmt::constant("int", lane, if size == 1 { int(0) } else { within }));
        self.push(lanes_mask(&mask, size.min(WARP)));
    }

    /// `for (item = ..; item < items; item += ..)`: the items of this team, where each has one at a time.
    pub fn each_of_team(&mut self, items: C, body: impl FnOnce(&mut Self, C)) {
        let (size, threads) = self.gpu.as_ref().map_or((1, 1), |gpu| (gpu.team_size(), gpu.block));
        let place = self.gpu.as_ref().map(|gpu| gpu.place);
        let size = if place == Some(Where::Thread) { 1 } else { size };
        let block = name("blockIdx").dot("x").cast("int64_t");
        let thread = name("threadIdx").dot("x").cast("int");
        let first = match threads / size {
            1 => block,
            teams if size == 1 => block * teams + thread,
            teams => block * teams + thread / size,
        };
        let step = name("gridDim").dot("x").cast("int64_t") * (threads / size);
        let index = self.fresh("i");
        let (inner, ()) = self.block(|emitter| body(emitter, var(&index)));
        self.push(Stmt::each("int64_t", index.clone(), first, var(&index).lt(items), step, inner));
    }

    /// A kernel in which each item has a thread.
    pub fn by_threads_of_device(&mut self, items: C, body: impl FnOnce(&mut Self, C)) {
        let block = self.gpu.as_ref().map_or(1, |gpu| gpu.block);
        self.launch(Shape::Items(items.clone(), block), block, Where::Thread, |emitter| {
            emitter.each_of_team(items, body);
        });
    }

    /// A loop whose rounds the lanes of a team share.
    pub(super) fn by_lanes(&mut self, lane: C, team: i64, first: C, end: C, body: impl FnOnce(&mut Self, C)) {
        let index = self.fresh("i");
        let (inner, ()) = self.block(|emitter| emitter.alone(|emitter| body(emitter, var(&index))));
        let condition = var(&index).lt(end);
        self.push(Stmt::each("int64_t", index, first + lane, condition, team, inner));
    }

    /// What a thread does by itself.
    pub fn alone<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.gpu.as_ref().map(|gpu| gpu.place);
        if let Some(gpu) = self.device().filter(|gpu| gpu.place == Where::Team) {
            gpu.place = Where::Thread;
        }
        let result = work(self);
        if let (Some(gpu), Some(before)) = (self.device(), before) {
            gpu.place = before;
        }
        result
    }

    /// A loop, one round after the other.
    pub(super) fn one_by_one(&mut self, unroll: bool, first: C, end: C, body: impl FnOnce(&mut Self, C)) {
        let index = self.fresh("i");
        let (inner, ()) = self.block(|emitter| body(emitter, var(&index)));
        if unroll {
            self.push(Stmt::Pragma("unroll 4".to_owned()));
        }
        self.push(Stmt::count("int64_t", index, first, end, inner));
    }

    /// An array in the block's shared memory.
    pub fn shared(&mut self, scalar: Scalar, stem: &str, count: i64) -> C {
        let own = self.fresh(stem);
        // Truth values are words there.
        let (kind, size) = match scalar {
            Scalar::Bool => ("int", 4),
            scalar => (c_type(scalar), scalar.bytes() as i64),
        };
        let Some(gpu) = self.device() else { return int(0) };
        let place = (gpu.shared + 7) / 8 * 8;
        gpu.shared = place + count * size;
        let list = [name(kind), name(&own), int(count), int(place)];
        self.push(Stmt::call("TW_SHARED", list));
        self.changes(&own);
        name(own)
    }

    /// A barrier of the block.
    pub fn barrier(&mut self) {
        self.push(Stmt::call("__syncthreads", []));
    }

    /// The value of a lane of a logical warp; `own` is a name.
    pub fn shuffled(&mut self, shuffle: &str, scalar: Scalar, own: C, from: C, mask: C, width: i64) -> C {
        let own = if scalar == Scalar::Bool { own.cast("int") } else { own };
        let value = c_tree::call(shuffle, [mask, own, from, int(width)]);
        let kept = self.fresh("k");
        self.push(Stmt::constant(c_type(scalar), kept.clone(), value));
        self.changes(&kept);
        name(kept)
    }

    /// Names of the host that a kernel uses, with their types.
    fn captured(&self, body: &Block) -> BTreeMap<String, CType> {
        let mut declared: BTreeMap<&str, &CType> = BTreeMap::new();
        let statements = self.prologue.values().chain(&self.hoisted);
        for statement in statements.chain(self.blocks.iter().flat_map(|block| &block.statements)) {
            if let Stmt::Declare(list) = statement {
                declared.extend(list.iter().map(|own| (own.name.as_str(), &own.kind)));
            }
        }
        let mut found = BTreeMap::new();
        body.walk(&mut |statement| {
            statement.expressions(&mut |expr| {
                expr.walk(&mut |part| {
                    if let C::Name(used, _) = part
                        && let Some(kind) = declared.get(used.as_str())
                    {
                        found.insert(used.clone(), (*kind).clone());
                    }
                });
            });
        });
        found
    }

    /// Code of the host: elements of arrays on the device are fetched.
    pub(super) fn of_the_host(&self, body: Block) -> Block {
        let Some(gpu) = &self.gpu else { return body };
        let fetched = |part: C| match part {
            C::Index(array, index) => match &*array {
                C::Name(own, _) if gpu.arrays.contains_key(own) => {
                    C::instance("tw_fetch", [name(gpu.arrays[own])], [name("tw"), *array, *index])
                }
                C::Name(own, _) if own.starts_with("t_") => {
                    C::Index(Box::new(name(format!("h_{}", &own[2..]))), index)
                }
                _ => C::Index(array, index),
            },
            part => part,
        };
        mapped_block(body, &fetched)
    }
}

/// `const unsigned mask = ..`: the lanes of a logical warp.
pub fn lanes_mask(mask: &str, width: i64) -> Stmt {
    let value = match width {
        WARP.. => C::Literal("0xffffffffu".to_owned()),
        width => {
            let first = name("threadIdx").dot("x").cast("int") % WARP / width * width;
            C::binary(c_tree::BinaryOp::Shl, C::Literal(format!("{:#x}u", (1_u64 << width) - 1)), first)
        }
    };
    Stmt::constant("unsigned", mask, value)
}

fn mapped_block(block: Block, change: &dyn Fn(C) -> C) -> Block {
    block.into_iter().map(|statement| mapped_statement(statement, change)).collect()
}

fn mapped_statement(statement: Stmt, change: &dyn Fn(C) -> C) -> Stmt {
    let of = |value: C| mapped(value, change);
    match statement {
        Stmt::Declare(list) => {
            let one = |own: Declaration| Declaration { value: own.value.map(of), ..own };
            Stmt::Declare(list.into_iter().map(one).collect())
        }
        Stmt::Expr(a) => Stmt::Expr(of(a)),
        Stmt::Assign(a, b) => Stmt::Assign(a, of(b)),
        Stmt::Update(a, operator, b) => Stmt::Update(a, operator, of(b)),
        Stmt::If(a, then, otherwise) => {
            Stmt::If(of(a), mapped_block(then, change), mapped_block(otherwise, change))
        }
        Stmt::For(mut own) => {
            own.first = own.first.map(of);
            own.condition = of(own.condition);
            own.step = of(own.step);
            own.body = mapped_block(own.body, change);
            Stmt::For(own)
        }
        Stmt::While(a, body) => Stmt::While(of(a), mapped_block(body, change)),
        Stmt::Block(body) => Stmt::Block(mapped_block(body, change)),
        Stmt::Return(value) => Stmt::Return(value.map(of)),
        Stmt::Noted(statement, comment) => {
            Stmt::Noted(Box::new(mapped_statement(*statement, change)), comment)
        }
        own => own,
    }
}

/// The expression with each part changed, the innermost first.
fn mapped(expr: C, change: &dyn Fn(C) -> C) -> C {
    let one = |part: Box<C>| Box::new(mapped(*part, change));
    let all = |parts: Vec<C>| parts.into_iter().map(|part| mapped(part, change)).collect::<Vec<_>>();
    let inner = match expr {
        C::Unary(operator, a) => C::Unary(operator, one(a)),
        C::Binary(operator, a, b) => C::Binary(operator, one(a), one(b)),
        C::Select(a, b, c) => C::Select(one(a), one(b), one(c)),
        C::Call { function, template, arguments, sort } => {
            C::Call { function, template, arguments: all(arguments), sort }
        }
        C::Index(a, b) => C::Index(one(a), one(b)),
        C::Member { object, pointer, member, sort } => {
            C::Member { object: one(object), pointer, member, sort }
        }
        C::Cast(kind, a) => C::Cast(kind, one(a)),
        C::SizeOf(a) => C::SizeOf(one(a)),
        C::List(parts) => C::List(all(parts)),
        own => own,
    };
    change(inner)
}
