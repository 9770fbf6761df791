//! Kernels without shared memory: every point of a block is computed once, its operands come from memory through
//! the caches.
//!
//! A thread has points that follow each other along dimension 0 (in one dimension: at the distance of the threads), and
//! computes some of them at once: values of one are operands of the next, and all wait for memory together.
//!
//! In several dimensions a thread finds the place of its first point by products, of 32 bits where that is enough for the whole
//! grid: a block has a function for either type of indices. From there on it goes by distances that the host computed.

use super::super::arguments::Arguments;
use super::super::bounds::expr;
use super::super::constants::{self, Constant, Source};
use super::super::expression::{Index, Values, indices_used};
use super::super::names::Names;
use super::super::points::{INT, as_it_is, modulo, moved, place};
use super::text::{parameters, passed, thread, thread_declarations, unrolled};
use super::ways::{self, Ways};
use crate::geometry::{Threads, blocks_of, direct_points_at_once, direct_resident_threads};
use crate::int_expr::{Environment, IntExpr};
use crate::plan::{Kernel, KernelPlan, bound};
use c_tree::{BinaryOp, Block, Declaration, Dialect, Expr, Function, Stmt, Type, all, call, int, name, var};
use polyhedral::program::{Access, FieldRole, Program};
use std::collections::BTreeMap;

/// What is printed for one kernel.
pub(super) struct Direct<'a> {
    pub(super) plan: &'a KernelPlan,
    pub(super) names: &'a Names,
    pub(super) kernel: &'a Kernel,
    pub(super) threads: &'a Threads,
    pub(super) ways: &'a Ways,
}

/// The type of indices in functions that are made for two.
const INDEX: &str = "tw_index";
/// The longest level whose places fit in 32 bits, with those of a block behind its end.
const MOST_SHORT: &str = "TW_SHORT";

/// The place in memory of the first point that is not computed yet, which goes on by sums.
const FIRST: &str = "tw_first";

/// How the points of a block along one dimension are shared.
enum Share {
    /// Each thread has so many points at most, and no other thread has one between them.
    Own(i64),
    /// The block's points are not known to be few: threads take them in turn.
    InTurn,
}

impl Direct<'_> {
    fn program(&self) -> &Program {
        &self.plan.program
    }

    fn statement(&self) -> usize {
        self.kernel.instances[0].statement
    }

    fn dimension(&self) -> usize {
        self.program().dimension()
    }

    /// Points of a block along a dimension; `None` where that depends on the grid.
    fn width(&self, d: usize) -> Option<i64> {
        let blocks = self.kernel.blocks.iter().map(|block| (block.variable, 0));
        let nowhere: Environment = blocks.chain([(self.kernel.rows.variable, 0)]).collect();
        let range = &self.kernel.instances[0].ranges[d];
        Some(range.high.evaluate(&nowhere)? - range.low.evaluate(&nowhere)? + 1)
    }

    fn share(&self, d: usize) -> Share {
        match self.width(d) {
            Some(width) => {
                Share::Own((width + self.threads.per_dimension[d] - 1) / self.threads.per_dimension[d])
            }
            None => Share::InTurn,
        }
    }

    /// Points of a thread that are computed at once.
    fn at_once(&self) -> i64 {
        let share = match self.share(0) {
            Share::Own(share) => share,
            Share::InTurn => 8,
        };
        direct_points_at_once(self.program(), self.statement(), share)
    }

    /// Blocks that shall fit in the registers of a multiprocessor.
    pub(super) fn blocks_at_once(&self) -> i64 {
        blocks_of(direct_resident_threads(self.program(), self.statement()), self.threads.count())
    }

    /// The distance in memory of points of a thread.
    fn step(&self) -> Expr {
        if self.dimension() > 1 { var("stride0") } else { int(self.threads.per_dimension[0]) }
    }

    /// The distance of so many lines along dimension 0, in elements.
    fn lines(&self, count: i64) -> Expr {
        let element = self.program().field(self.write().field).element.bytes() as i64;
        let bytes = self.ways.following(int(count), element);
        Expr::binary(BinaryOp::Shr, bytes, int(i64::from(element.ilog2())))
    }

    fn write(&self) -> Access {
        let statement = &self.program().statements[self.statement()];
        Access { field: statement.target, time: 1, offset: vec![0; self.dimension()] }
    }

    /// The planes of fields with several: names and values.
    fn planes(&self) -> BTreeMap<String, Expr> {
        let program = self.program();
        let statement = &program.statements[self.statement()];
        let mut planes = BTreeMap::new();
        for access in statement.reads.iter().chain([&self.write()]) {
            if let FieldRole::State { levels, slots: slots @ 2.. } = program.field(access.field).role {
                let level = var("now") + (access.time + levels as i64 - 1);
                let number = modulo(level, slots as i64);
                let value = match slots {
                    2 => number.is(0).select(int(0), var("level_stride")),
                    _ => number * var("level_stride"),
                };
                planes.insert(self.names.plane(program, access), value);
            }
        }
        planes
    }

    fn fields(&self) -> Vec<usize> {
        let statement = &self.program().statements[self.statement()];
        let reads = statement.reads.iter().map(|read| read.field.0);
        let mut fields: Vec<usize> = reads.chain([statement.target.0]).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    fn strides(&self) -> Vec<String> {
        (0..self.dimension() - 1).map(|d| format!("stride{d}")).collect()
    }

    fn constants(&self) -> Vec<Constant> {
        let statement = &self.program().statements[self.statement()];
        constants::all(self.program(), self.names, statement, Source::Arguments, "now")
    }

    /// What a statement uses of parameters, series included: types and names.
    fn values_used(&self) -> Vec<(String, String)> {
        let (program, names) = (self.program(), self.names);
        let statement = &program.statements[self.statement()];
        let parameters = constants::parameters(names, statement, Source::Grid);
        let series = constants::series(program, names, statement, Source::Arguments, "now");
        parameters
            .into_iter()
            .chain(series)
            .map(|constant| (constant.kind.to_string(), constant.name))
            .collect()
    }

    /// The indices that the statement's conditions ask for, as arguments: those of the first point.
    fn indices(&self) -> Vec<String> {
        let name = |index: Index| match index {
            Index::Time => "now".to_owned(),
            Index::Space(d) => format!("i{d}"),
        };
        indices_used(&self.program().statements[self.statement()]).into_iter().map(name).collect()
    }

    fn function_name(&self) -> String {
        format!("tw_points_{}", self.kernel.name)
    }

    /// The function of some points of a thread.
    pub(super) fn function(&self) -> String {
        let (program, names) = (self.program(), self.names);
        let statement = &program.statements[self.statement()];
        let read = |access: &Access| self.cell(access);
        let (point, points) = (var("point"), var("points"));
        let between = if self.dimension() > 1 { 1 } else { self.threads.per_dimension[0] };
        let index = |index| match index {
            Index::Time => var("now"),
            Index::Space(0) => var("i0") + &point * between,
            Index::Space(d) => var(format!("i{d}")),
        };
        let values = Values {
            program,
            names,
            statement: self.statement(),
            copy: None,
            locals: None,
            read: &read,
            index: &index,
        };
        let element = program.field(statement.target).element.c_name();
        let value = name("value").at(&point);
        let each_point = |inner: Block| {
            let mut body = Block::new();
            if inner.mentions("x") {
                body.push(Stmt::constant(INT, "x", var("first") + &point * self.step()));
            }
            body.extend(inner);
            unrolled(Stmt::count("int", "point", 0, &points, body))
        };
        let mut body = Block::from(Stmt::Declare(vec![Declaration::array(element, "value", points.clone())]));
        if self.by_distances() {
            body.extend(self.own_places());
        }
        let mut compute: Block = values.locals().into_iter().collect();
        compute.push(Stmt::assign(value.clone(), values.value()));
        body.extend(each_point(compute));
        body.extend(each_point(Stmt::assign(self.cell(&self.write()), value).into()));
        let arrays = self.fields().into_iter().map(|field| {
            let constant = match program.fields[field].role {
                FieldRole::Coefficient => "const ",
                FieldRole::State { .. } => "",
            };
            let element = program.fields[field].element.c_name();
            (format!("TW_GLOBAL({constant}{element})"), names.fields[field].clone())
        });
        let target = &program.field(statement.target).name;
        let function = Function::new(self.function_name())
            .comment(format!(
                "{target}[{} + 1, {}] at some points of a thread, the first of which lies at `first`.",
                program.time_index,
                program.space_indices.join(", ")
            ))
            .template("int", "points")
            .attribute("TW_DEVICE")
            .parameters(arrays)
            .parameters(self.strides().into_iter().map(|stride| (INT, stride)))
            .parameters(self.values_used())
            .parameters(self.planes().into_keys().map(|plane| (INT, plane)))
            .parameters(self.indices().into_iter().map(|index| (INT, index)));
        ways::parameter(function, self.has_ways()).parameter(INT, "first").body(body).print(Dialect::Cuda)
    }

    /// Whether kernels are given distances between lines.
    fn has_ways(&self) -> bool {
        self.dimension() > 1
    }

    /// The number of the distance 0 among those to all lines that the points of a thread at once read, if they are given.
    fn first_line(&self, element: i64) -> Option<i64> {
        let statement = &self.program().statements[self.statement()];
        let reach = statement.reads.iter().map(|read| read.offset[0].abs()).max().unwrap_or(0);
        self.has_ways().then(|| self.ways.run(-reach, self.at_once() + 2 * reach, element)).flatten()
    }

    /// Whether they are.
    fn by_distances(&self) -> bool {
        let statement = &self.program().statements[self.statement()];
        let fields = statement.reads.iter().map(|read| read.field).chain([statement.target]);
        let bytes = |field| self.program().field(field).element.bytes() as i64;
        fields.into_iter().all(|field| self.first_line(bytes(field)).is_some())
    }

    /// The places of the first point in the levels that are read and written, from registers.
    fn own_places(&self) -> Block {
        let program = self.program();
        let statement = &program.statements[self.statement()];
        let mut known: Vec<String> = Vec::new();
        let mut places = Block::new();
        for access in statement.reads.iter().chain([&self.write()]) {
            let own = self.own_place(access);
            if known.contains(&own) {
                continue;
            }
            let field = program.field(access.field);
            let (constant, place) = match field.role {
                FieldRole::Coefficient => ("const ", var("first")),
                FieldRole::State { slots: 2.., .. } => {
                    ("", var(self.names.plane(program, access)) + var("first"))
                }
                FieldRole::State { .. } => ("", var("first")),
            };
            let first = call("tw_from_register", [name(&self.names.fields[access.field.0]) + place]);
            let kind = format!("TW_GLOBAL({constant}{})", field.element.c_name());
            places.push(Stmt::declare(kind, own.clone(), first));
            known.push(own);
        }
        places
    }

    /// The name of the first point's place in a level.
    fn own_place(&self, access: &Access) -> String {
        match self.program().field(access.field).role {
            FieldRole::State { slots: 2.., .. } => format!("{}_at", self.names.plane(self.program(), access)),
            _ => format!("tw_{}_at", self.names.fields[access.field.0]),
        }
    }

    /// Whether a block has a function for either type of indices: where a level's length bounds all places.
    pub(super) fn has_short_indices(&self) -> bool {
        let has_levels = |role: &FieldRole| matches!(role, FieldRole::State { slots: 2.., .. });
        self.dimension() > 1 && self.program().fields.iter().any(|field| has_levels(&field.role))
    }

    /// The type of indices.
    fn index(&self) -> &'static str {
        if self.has_short_indices() { INDEX } else { INT }
    }

    fn block_name(&self) -> String {
        format!("tw_block_{}", self.kernel.name)
    }

    /// The numbers of the kernel's own that its body may ask for.
    fn own_numbers(&self) -> Vec<&'static str> {
        [self.plan.outer.variable]
            .into_iter()
            .chain(self.kernel.bindings.iter().map(|own| own.name))
            .collect()
    }

    /// The function of a block, for either type of indices.
    pub(super) fn block_function(&self, arguments: Arguments<'_>, body: Block) -> String {
        let sizes = arguments.sizes();
        let given = parameters(arguments).into_iter().map(|(kind, name)| match sizes.contains(&name) {
            true => (Type::new(INDEX), name),
            false => (kind, name),
        });
        let function = Function::new(self.block_name())
            .comment("The points of one block.")
            .template("class", INDEX)
            .attribute("TW_DEVICE")
            .parameters(given)
            .parameters(self.own_numbers().into_iter().map(|number| (INT, number)))
            .parameters(self.kernel.blocks.iter().map(|block| (INDEX, block.variable)));
        ways::parameter(function, self.has_ways()).body(body).print(Dialect::Cuda)
    }

    /// The block, with indices as short as the grid allows.
    pub(super) fn either(&self, arguments: Arguments<'_>) -> Block {
        let of = |index: &str| {
            let own = self.own_numbers().into_iter().map(var);
            let blocks = self.kernel.blocks.iter().map(|block| var(block.variable));
            let given = passed(arguments).into_iter().chain(own).chain(blocks).chain([ways::argument()]);
            Stmt::Expr(Expr::instance(self.block_name(), [name(index)], given))
        };
        // Levels do not overlap, whichever lies first: a level is no longer than their distance.
        let between = var("level_stride").ge(-name(MOST_SHORT)).and(var("level_stride").le(name(MOST_SHORT)));
        Stmt::choose(between, of("int"), of(INT)).into()
    }

    /// The body of the kernel.
    pub(super) fn block(&self) -> Block {
        let instance = &self.kernel.instances[0];
        let statement = &self.program().statements[instance.statement];
        let dimension = self.dimension();
        let now = var("now");
        let mut body = Block::from([
            Stmt::constant(INT, "now", expr(&instance.step)),
            Stmt::when(now.clone().lt(0).or(now.ge(var("steps"))), Stmt::Return(None)),
        ]);
        body.extend(thread_declarations(self.threads));
        body.extend(self.constants().iter().map(Constant::declaration));
        body.extend(self.planes().into_iter().map(|(plane, value)| Stmt::constant(INT, plane, value)));

        let domain = |d: usize| -> (IntExpr, IntExpr) {
            (bound(statement.domain[d].low, d), bound(statement.domain[d].high, d) - 1)
        };
        let mut inner = self.along(domain(0));
        for d in 1..dimension {
            let range = &instance.ranges[d];
            let (low, high) = domain(d);
            let index = format!("i{d}");
            let first = expr(&range.low) + thread(self.threads, d);
            let last = expr(&range.high.clone().min(high));
            let is_on = var(&index).ge(expr(&low));
            let count = self.threads.per_dimension[d];
            inner = match self.share(d) {
                Share::Own(1) => {
                    let mut conditions = vec![is_on, var(&index).le(last)];
                    if self.width(d).is_some_and(|width| width % count == 0) {
                        // No thread is beyond the block.
                        conditions[1] = var(&index).le(expr(&domain(d).1));
                    }
                    let mut block = Block::from(Stmt::constant(self.index(), &index, first));
                    block.push(Stmt::when(all(conditions), inner));
                    block
                }
                _ => {
                    let end = format!("last{d}");
                    let mut block = Block::from(Stmt::constant(self.index(), &end, last));
                    let inner = Stmt::when(is_on, inner);
                    block.push(Stmt::each(
                        self.index(),
                        &index,
                        first,
                        var(&index).le(var(&end)),
                        count,
                        inner,
                    ));
                    block
                }
            };
        }
        body.extend(inner);
        body
    }

    /// The points of a thread along dimension 0, in a column of the others.
    fn along(&self, (low, high): (IntExpr, IntExpr)) -> Block {
        let range = &self.kernel.instances[0].ranges[0];
        let dimension = self.dimension();
        let parts = self.threads.per_dimension[0];
        let mut body = Block::new();
        let (i0, last) = (var("i0"), var("last0"));
        // In several dimensions a thread has neighbours; otherwise, neighbours belong to neighbouring threads.
        let (first, most, step) = match self.share(0) {
            Share::Own(share) if dimension > 1 => {
                let begin = expr(&range.low) + thread(self.threads, 0) * share;
                body.push(Stmt::constant(self.index(), "begin0", begin));
                let first = Expr::call("tw_max", [var("begin0"), expr(&low)], c_tree::Sort::Integer);
                let end = expr(&range.high.clone().min(high));
                let own = var("begin0") + (share - 1);
                let end =
                    if parts == 1 { end } else { Expr::call("tw_min", [own, end], c_tree::Sort::Integer) };
                (first, end, 1)
            }
            _ => {
                let begin = expr(&range.low.clone().max(low)) + thread(self.threads, 0);
                (begin, expr(&range.high.clone().min(high)), parts)
            }
        };
        body.push(Stmt::constant(self.index(), "last0", most));
        body.push(Stmt::declare(self.index(), "i0", first));
        let point: Vec<Expr> = (0..dimension).map(|d| var(format!("i{d}"))).collect();
        let points = |count: i64| {
            let fields = self.fields().into_iter().map(|field| name(&self.names.fields[field]));
            let strides = self.strides().into_iter().map(var);
            let values = self.values_used().into_iter().map(|(_, name)| c_tree::name(name));
            let planes = self.planes().into_keys().map(var);
            let indices = self.indices().into_iter().map(var);
            let ways = self.has_ways().then(ways::argument);
            let given = fields.chain(strides).chain(values).chain(planes).chain(indices).chain(ways);
            let first = if dimension > 1 { var(FIRST) } else { var("i0") };
            let points = Stmt::Expr(Expr::instance(self.function_name(), [int(count)], given.chain([first])));
            let on = (dimension > 1).then(|| Stmt::Update(name(FIRST), "+=", self.lines(count)));
            [points].into_iter().chain(on).collect::<Block>()
        };
        if dimension > 1 {
            let first = match self.has_short_indices() {
                // What overflows lies behind the grid.
                true => place(&point, &|stride| var(stride).cast("unsigned long long")).cast(INDEX),
                false => place(&point, &as_it_is),
            };
            body.push(Stmt::declare(INT, FIRST, first));
        }
        let some = self.at_once();
        let all_of = |count: i64| (&i0 + (count - 1) * step).le(&last);
        if some > 1 {
            body.push(match self.share(0) {
                Share::Own(share) if share == some => {
                    let mut chunk = points(some);
                    chunk.push(Stmt::Update(name("i0"), "+=", int(some * step)));
                    Stmt::when(all_of(some), chunk)
                }
                _ => Stmt::go_on("i0", all_of(some), some * step, points(some)),
            });
        }
        body.push(match self.share(0) {
            Share::Own(1) => Stmt::when(all_of(1), points(1)),
            _ => Stmt::go_on("i0", all_of(1), step, points(1)),
        });
        body
    }

    /// An element in memory, relative to the point `x`.
    fn cell(&self, access: &Access) -> Expr {
        let program = self.program();
        if self.by_distances() {
            return self.cell_by_distances(access);
        }
        let field = name(&self.names.fields[access.field.0]);
        let place = match program.field(access.field).role {
            FieldRole::State { slots: 2.., .. } => var(self.names.plane(program, access)) + var("x"),
            _ => var("x"),
        };
        field.at(moved(place, &access.offset))
    }

    /// The same by distances from the thread's first point.
    fn cell_by_distances(&self, access: &Access) -> Expr {
        let program = self.program();
        let element = program.field(access.field).element.bytes() as i64;
        let (own, last) = (name(self.own_place(access)), self.dimension() - 1);
        let first = int(self.first_line(element).unwrap_or(0));
        let line = call("tw_line", [own, ways::argument(), first, var("point") + access.offset[0]]);
        let mut across = access.offset[..last].to_vec();
        across[0] = 0;
        let place = self.ways.lines_further(line, &across, element, false);
        place.at(int(access.offset[last]))
    }
}
