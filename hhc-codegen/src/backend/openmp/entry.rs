//! The C entry points: what they refuse, and the launches in order.

use super::super::arguments::{Arguments, Form};
use super::super::bounds::{loops, non_negative};
use super::super::points::{INT, max, min};
use super::around;
use super::below::Below;
use super::boundary::FEW;
use super::copy;
use super::grid::{self, LAUNCHES};
use super::moving;
use crate::plan::{KernelPlan, Launch};
use crate::plan_counts::steps_of_tile;
use c_tree::{Block, Dialect, Expr, Function, Stmt, Type, any, call, int, name, var};
use polyhedral::counts::counts;

/// Whether a launch is worth more than one thread.
const MANY: &str = "tw_many";
/// The entry points of a program.
pub(super) struct Entry<'a> {
    pub(super) plan: &'a KernelPlan,
    pub(super) arguments: Arguments<'a>,
    /// The functions that copy boundaries.
    pub(super) boundaries: Vec<String>,
    /// What its own functions' names end in, where a file has several plans.
    pub(super) ending: String,
    /// Who calls it.
    pub(super) below: Below,
}

impl Entry<'_> {
    fn name(&self) -> String {
        format!("{}_run", self.plan.program.name)
    }

    /// Whether grids whose rows collide are copied. Where a file has several plans, for measurements on grids whose rows do
    /// not, the first one does.
    fn copies(&self) -> bool {
        copy::has_copy(self.plan, self.below) && self.ending.is_empty()
    }

    fn own(&self, function: &str) -> String {
        format!("{function}{}", self.ending)
    }

    /// `NAME_run`, `NAME_run_strided`, `NAME_invoke`, `NAME_run_levels`, `NAME_invoke_levels`, `NAME_invoke_wide`,
    /// `NAME_invoke_moving`, without bodies; the last but one is for periodic programs alone, the last one for ranks.
    fn heads(&self) -> [Function; 7] {
        let declare = |ending: &str, form| {
            let head = Function::new(format!("{}{ending}", self.name())).result("int");
            self.arguments.declare(head, form)
        };
        let uniform = |ending: &str, arrays: Type, name: &str| {
            Function::new(format!("{}_invoke{ending}", self.plan.program.name))
                .result("int")
                .parameter(arrays, name)
                .parameter(Type::new("long long").constant().pointer(), "sizes")
                .parameter("long long", "steps")
                .parameter(Type::new("double").constant().pointer(), "parameters")
        };
        [
            declare("", Form::Dense),
            declare("_strided", Form::Strided),
            uniform("", Type::new("void").pointer_to_pointer(), "fields"),
            declare("_levels", Form::Levels),
            uniform("_levels", Type::new("void *const").pointer(), "levels"),
            uniform("_wide", Type::new("void *const").pointer(), "levels"),
            uniform("_moving", Type::new("void *const").pointer(), "levels")
                .parameter(moving::kind(), moving::MOVING),
        ]
    }

    /// Their prototypes.
    pub(super) fn prototypes(&self) -> [String; 7] {
        self.heads().map(|head| head.prototype(Dialect::C))
    }

    /// The functions.
    pub(super) fn functions(&self) -> Vec<String> {
        [vec![self.launches().print(Dialect::C)], self.callers()].concat()
    }

    /// Those that call the launches.
    pub(super) fn callers(&self) -> Vec<String> {
        let [run, strided, invoke, levels, invoke_levels, invoke_wide, invoke_moving] = self.heads();
        let periodic = self.plan.program.is_periodic();
        let around = periodic.then(|| around::function(self.arguments, &self.own(AROUND), &self.own(WHOLE)));
        let wide = periodic.then(|| {
            let function = Function::new(format!("{}_wide", self.name())).attribute("static").result("int");
            let function = self.arguments.declare(function, Form::Levels).body(self.levels(WHOLE));
            [function, invoke_wide.body(self.invoke_levels("wide"))]
        });
        let moved = self.below.moves().then(|| {
            let function = Function::new(format!("{}_moving", self.name())).attribute("static").result("int");
            let function = self.arguments.declare(function, Form::Levels);
            let function = function.parameter(moving::kind(), moving::MOVING).body(self.levels(MOVED));
            [self.moved(), function, invoke_moving.body(self.invoke_levels("moving"))]
        });
        let whole = if periodic { AROUND } else { WHOLE };
        let more = self.below != Below::Timing;
        let all = [
            more.then(|| levels.body(self.levels(whole))),
            Some(strided.body(self.strided(whole))),
            more.then(|| run.body(self.dense())),
            Some(invoke.body(self.invoke())),
            more.then(|| invoke_levels.body(self.invoke_levels("levels"))),
        ];
        let all = all.into_iter().flatten();
        let all = all.chain(wide.into_iter().flatten()).chain(moved.into_iter().flatten());
        let mut text = if self.copies() { copy::functions(self.arguments) } else { Vec::new() };
        let all = [self.whole()].into_iter().chain(around).chain(all);
        text.extend(all.map(|function| function.print(Dialect::C)));
        text
    }

    fn refused(&self) -> [Stmt; 2] {
        let negative = self.arguments.negative().or(var("steps").gt(var("TW_MOST_STEPS")));
        [
            Stmt::when(negative, Stmt::Return(Some(int(2)))),
            Stmt::when(self.arguments.empty(), Stmt::Return(Some(int(0)))),
        ]
    }

    /// A function of the grid.
    fn of_grid(&self, function: &str, comment: &str, result: &str, body: Block) -> Function {
        let members = grid::integers(self.arguments);
        let used = members.iter().filter(|member| body.mentions(member));
        let mut whole: Block =
            used.map(|member| Stmt::constant(INT, member, name("grid").arrow(member))).collect();
        whole.extend(body);
        Function::new(function)
            .comment(comment)
            .attribute("static")
            .result(result)
            .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
            .body(whole)
    }

    /// All launches.
    pub(super) fn launches(&self) -> Function {
        let launches = self.plan.launches.iter().flat_map(|launch| self.launch(launch)).collect();
        let mut body = Block::new();
        if self.plan.launches.iter().any(|launch| !self.plan.kernels[launch.kernel].blocks.is_empty()) {
            body.comment("All operations of the steps that a tile has.");
            body.push(Stmt::constant("int", MANY, self.operations().gt(var(FEW))));
        }
        body.extend(loops([&self.plan.outer], launches));
        self.of_grid(&self.own(LAUNCHES), "The launches of all time steps, in order.", "void", body)
    }

    /// All that is done where nothing is refused.
    fn whole(&self) -> Function {
        let mut body: Block = self.boundaries.iter().map(|copy| Stmt::call(copy, [name("grid")])).collect();
        if let Some(small) = self.arguments.too_small() {
            body.push(Stmt::when(small, Stmt::Return(Some(int(0)))));
        }
        if self.copies() {
            let copied = call(copy::IN_COPY, [name("grid")]);
            let copied = (!name("grid").arrow("spread")).and(copied);
            body.push(Stmt::when(copied, Stmt::Return(Some(int(0)))));
        }
        body.push(Stmt::call(self.own(LAUNCHES), [name("grid")]));
        body.push(Stmt::Return(Some(int(0))));
        self.of_grid(&self.own(WHOLE), "Boundaries, and all time steps.", "int", body)
    }

    /// All steps of a box with bounds that move. Boundaries have been copied.
    fn moved(&self) -> Function {
        let body = Block::from([Stmt::call(self.own(LAUNCHES), [name("grid")]), Stmt::Return(Some(int(0)))]);
        self.of_grid(&self.own(MOVED), "All time steps, within bounds that move.", "int", body)
    }

    /// Makes the grid of the arguments, and runs `function` on it.
    fn on_grid(&self, function: &str, level: &dyn Fn(usize, i64) -> Expr) -> [Stmt; 2] {
        let grid = Type::new("struct tw_grid");
        let bounds = name(if function == MOVED { moving::MOVING } else { "NULL" });
        let bounds = self.below.moves().then_some(bounds);
        [
            Stmt::constant(
                grid,
                "whole",
                grid::members(self.arguments, copy::has_copy(self.plan, self.below), bounds, level),
            ),
            Stmt::Return(Some(call(self.own(function), [name("whole").address()]))),
        ]
    }

    fn strided(&self, whole: &str) -> Block {
        let mut body = Block::from(self.refused());
        body.extend(self.extents(self.arguments.has_slots()));
        for (number, array) in self.arguments.arrays().into_iter().enumerate() {
            body.push(self.usable(number, name(array.name)));
        }
        if !self.arguments.has_slots() {
            body.push(Stmt::unused("level_stride"));
        }
        body.extend(self.on_grid(whole, &|field, slot| {
            let array = name(&self.arguments.names.fields[field]);
            if slot == 0 { array } else { array + int(slot) * var("level_stride") }
        }));
        body
    }

    fn levels(&self, whole: &str) -> Block {
        let arguments = self.arguments;
        let (program, names) = (arguments.program, arguments.names);
        let mut body = Block::from(self.refused());
        body.extend(self.extents(false));
        // What is written first.
        let (mut written, mut read) = (Vec::<(Expr, Expr)>::new(), Vec::new());
        for (number, array) in arguments.arrays().into_iter().enumerate() {
            let given = name(array.name);
            let elements = match program.series.get(number.wrapping_sub(program.fields.len())) {
                Some(series) => max(var("steps") + series.length(0), int(0)),
                None if self.plan.witnesses.contains(&number) => int(2) * max(var("steps"), int(0)),
                None => var("tw_elements"),
            };
            let bytes = elements.cast("size_t") * call("sizeof", [name(array.element)]);
            let slots = if number < program.fields.len() { grid::slots(program, number) } else { 1 };
            let arrays: Vec<Expr> = match slots {
                2.. => (0..slots).map(|slot| given.at(slot)).collect(),
                _ => vec![given.clone()],
            };
            if slots > 1 {
                body.push(Stmt::when(!given, Stmt::Return(Some(int(5)))));
            }
            for one in arrays {
                body.push(self.usable(number, one.clone()));
                if array.constant { &mut read } else { &mut written }.push((one, bytes.clone()));
            }
        }
        let count = (written.len() + read.len()) as i64;
        let (arrays, bytes): (Vec<Expr>, Vec<Expr>) = written.iter().cloned().chain(read).unzip();
        let list = |kind: &str, array: &str, values: Vec<Expr>| {
            Stmt::Declare(vec![c_tree::Declaration {
                value: Some(Expr::List(values)),
                ..c_tree::Declaration::array(kind, array, count)
            }])
        };
        body.push(list("const void *const", "tw_arrays", arrays));
        body.push(list("const size_t", "tw_bytes", bytes));
        let overlap =
            call("tw_overlap", [name("tw_arrays"), name("tw_bytes"), int(written.len() as i64), int(count)]);
        body.push(Stmt::when(overlap, Stmt::Return(Some(int(7)))));
        body.extend(self.on_grid(whole, &|field, slot| name(&names.fields[field]).at(slot)));
        body
    }

    /// Sizes and strides that are refused; declares the elements from the first to the last one of a level.
    fn extents(&self, level_stride: bool) -> Block {
        let arguments = self.arguments;
        let mut body = Block::new();
        let (elements, status, most) = (var("tw_elements"), var("tw_status"), var("TW_MOST"));
        let sizes = arguments.sizes();
        body.push(Stmt::declare(INT, "tw_elements", var(&sizes[sizes.len() - 1])));
        body.push(Stmt::declare("int", "tw_status", elements.clone().gt(most).select(2, 0)));
        let mut strides: Vec<(Expr, String)> =
            sizes.iter().map(var).zip(arguments.strides()).collect::<Vec<_>>();
        strides.reverse();
        if level_stride {
            strides.push((int(1), "level_stride".to_string()));
        }
        for (count, stride) in strides {
            let enclose = call("tw_enclose", [elements.clone().address(), count, var(stride)]);
            body.push(Stmt::when(status.clone().is(0), Stmt::assign(name("tw_status"), enclose)));
        }
        body.push(Stmt::when(status.clone().is_not(0), Stmt::Return(Some(status))));
        body
    }

    /// Refuses an array that is none. A series has no element where there is no step.
    fn usable(&self, number: usize, array: Expr) -> Stmt {
        let unusable = !call("tw_usable", [array.clone(), array.deref().size_of()]);
        let series = number >= self.arguments.program.fields.len();
        let unusable = if series { var("steps").gt(0).and(unusable) } else { unusable };
        Stmt::when(unusable, Stmt::Return(Some(int(5))))
    }

    /// Operations of all points in the steps of a tile, at most.
    fn operations(&self) -> Expr {
        let program = self.arguments.program;
        let height = steps_of_tile(self.plan);
        let steps = if height > 1 { min(var("steps"), int(height)) } else { int(1) };
        let each = steps * counts(program).flops.max(1) as i64;
        (0..program.dimension()).fold(each, |product, d| product * var(format!("n{d}")))
    }

    /// The blocks of a launch, in parallel.
    fn launch(&self, launch: &Launch) -> Block {
        let kernel = &self.plan.kernels[launch.kernel];
        let blocks = kernel.blocks.iter().map(|block| var(block.variable));
        let arguments = [name("grid"), var(self.plan.outer.variable)].into_iter().chain(blocks);
        let run = Stmt::call(format!("tw_{}", kernel.name), arguments);
        let between = self.below.is_of_ranks().then(|| Stmt::call("tw_tile_done", Vec::<Expr>::new()));
        let tile: Block = [run].into_iter().chain(between).collect();
        let mut body = Block::new();
        if !kernel.blocks.is_empty() {
            // Equal blocks touch memory like the first touch did.
            let schedule = if kernel.blocks_alike { "static" } else { "dynamic" };
            let collapse = match kernel.blocks.len() {
                1 => String::new(),
                count => format!(" collapse({count})"),
            };
            body.push(Stmt::Pragma(format!("omp parallel for schedule({schedule}){collapse} if ({MANY})")));
        }
        body.extend(loops(&kernel.blocks, tile));
        let mut all = Block::from(Stmt::Comment(kernel.comment.clone()));
        match &launch.when {
            Some(condition) => all.push(Stmt::when(non_negative(condition), body)),
            None => all.extend(body),
        }
        all
    }

    fn dense(&self) -> Block {
        let mut body = Block::from(self.refused());
        body.comment("The strides must not overflow before they are checked.");
        let many = self.arguments.points_at_most().gt(var("TW_MOST"));
        body.push(Stmt::when(many, Stmt::Return(Some(int(2)))));
        let strides = self.arguments.dense_strides().into_iter().chain([self.arguments.points()]);
        let strided = call(format!("{}_strided", self.name()), self.arguments.pass(strides));
        body.push(Stmt::Return(Some(strided)));
        body
    }

    fn invoke(&self) -> Block {
        let arrays = self.arguments.arrays().into_iter().enumerate().map(|(number, array)| {
            let kind = Type::new(array.element);
            let kind = if array.constant { kind.constant() } else { kind };
            name("fields").at(number as i64).cast(kind.pointer())
        });
        let mut body = self.unnamed("fields");
        body.push(self.call_unnamed("strided", arrays.collect(), self.arguments.integers().len() - 1, None));
        body
    }

    fn invoke_levels(&self, form: &str) -> Block {
        let (program, mut body) = (self.arguments.program, self.unnamed("levels"));
        let mut arrays = Vec::new();
        let mut given = 0;
        for (number, array) in self.arguments.arrays().into_iter().enumerate() {
            let slots = if number < program.fields.len() { grid::slots(program, number) } else { 1 };
            let kind = Type::new(array.element);
            let kind = if array.constant { kind.constant() } else { kind };
            let one = |level: i64| name("levels").at(level).cast(kind.clone().pointer());
            if slots > 1 {
                // A pointer to void is not read through as if it were one to elements.
                let typed = format!("tw_levels_{number}");
                let kind = format!("{} *const", array.element);
                body.push(Stmt::Declare(vec![c_tree::Declaration {
                    value: Some(Expr::List((given..given + slots).map(one).collect())),
                    ..c_tree::Declaration::array(kind, &typed, slots)
                }]));
                arrays.push(name(typed));
            } else {
                arrays.push(one(given));
            }
            given += slots;
        }
        let sizes = self.arguments.sizes().len() + self.arguments.strides().len();
        let bounds = (form == "moving").then(|| name(moving::MOVING));
        body.push(self.call_unnamed(form, arrays, sizes, bounds));
        body
    }

    /// What functions with uniform arguments refuse.
    fn unnamed(&self, arrays: &str) -> Block {
        let mut missing = vec![!name(arrays), !name("sizes")];
        if !self.arguments.names.parameters.is_empty() {
            missing.push(!name("parameters"));
        }
        Block::from([Stmt::when(any(missing), Stmt::Return(Some(int(5)))), Stmt::unused("parameters")])
    }

    /// Passes uniform arguments on, so many sizes and strides among them, and bounds that move.
    fn call_unnamed(&self, form: &str, arrays: Vec<Expr>, sizes: usize, bounds: Option<Expr>) -> Stmt {
        let sizes = (0..sizes).map(|number| name("sizes").at(number as i64).cast("ptrdiff_t"));
        let steps = var("steps").cast("ptrdiff_t");
        let parameters = 0..self.arguments.names.parameters.len();
        let parameters = parameters.map(|number| name("parameters").at(number as i64));
        let all: Vec<Expr> =
            arrays.into_iter().chain(sizes).chain([steps]).chain(parameters).chain(bounds).collect();
        Stmt::Return(Some(call(format!("{}_{form}", self.name()), all)))
    }
}

/// The function of all steps of a box with bounds that move.
const MOVED: &str = "tw_moved";
/// The function of all that entry points do.
const WHOLE: &str = "tw_whole";
/// The function that does it on a grid with ghost zones, where the grid is periodic.
const AROUND: &str = "tw_around";
