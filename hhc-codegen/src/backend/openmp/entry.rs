//! The C entry points: what they refuse, and the launches in order.

use super::super::arguments::Arguments;
use super::super::bounds::{loops, non_negative};
use super::super::points::{INT, modulo};
use crate::plan::{KernelPlan, Launch};
use c_tree::{Block, Dialect, Expr, Function, Stmt, Type, any, call, int, name, var};

/// The entry points of a program.
pub(super) struct Entry<'a> {
    pub(super) plan: &'a KernelPlan,
    pub(super) arguments: Arguments<'a>,
    /// The functions that copy boundaries.
    pub(super) boundaries: Vec<String>,
}

impl Entry<'_> {
    fn name(&self) -> String {
        format!("{}_run", self.plan.program.name)
    }

    /// `NAME_run`, `NAME_run_strided`, `NAME_invoke`, without bodies.
    fn heads(&self) -> [Function; 3] {
        let run = Function::new(self.name()).result("int");
        let strided = Function::new(format!("{}_strided", self.name())).result("int");
        let invoke = Function::new(format!("{}_invoke", self.plan.program.name))
            .result("int")
            .parameter(Type::new("void").pointer_to_pointer(), "fields")
            .parameter(Type::new("long long").constant().pointer(), "sizes")
            .parameter("long long", "steps")
            .parameter(Type::new("double").constant().pointer(), "parameters");
        [self.arguments.declare(run, false), self.arguments.declare(strided, true), invoke]
    }

    /// Their prototypes.
    pub(super) fn prototypes(&self) -> [String; 3] {
        self.heads().map(|head| head.prototype(Dialect::C))
    }

    /// The functions.
    pub(super) fn functions(&self) -> Vec<String> {
        let [run, strided, invoke] = self.heads();
        let all = [strided.body(self.strided()), run.body(self.dense()), invoke.body(self.invoke())];
        all.iter().map(|function| function.print(Dialect::C)).collect()
    }

    fn refused(&self) -> [Stmt; 2] {
        let negative = self.arguments.negative().or(var("steps").gt(var("TW_MOST_STEPS")));
        [
            Stmt::when(negative, Stmt::Return(Some(int(2)))),
            Stmt::when(self.arguments.empty(), Stmt::Return(Some(int(0)))),
        ]
    }

    fn strided(&self) -> Block {
        let arguments = self.arguments;
        let mut body = Block::from(self.refused());
        body.extend(self.checks());
        // The grid.
        let arrays = arguments.arrays();
        let parameters = arguments.names.parameters.iter().map(name);
        let members = arrays.iter().map(|array| name(array.name));
        let members = members.chain(arguments.integers().into_iter().map(var)).chain(parameters);
        let spread = match arguments.strides().first() {
            Some(stride) => {
                let bytes = call("sizeof", [name(arrays[0].element)]).cast(INT);
                modulo(var(stride) * bytes + 256, 4096).ge(512)
            }
            None => int(1),
        };
        let grid = Type::new("struct tw_grid");
        body.push(Stmt::constant(grid.clone(), "whole", Expr::List(members.chain([spread]).collect())));
        body.push(Stmt::constant(grid.pointer(), "grid", name("whole").address()));
        body.extend(self.boundaries.iter().map(|copy| Stmt::call(copy, [name("grid")])));
        if let Some(small) = arguments.too_small() {
            body.push(Stmt::when(small, Stmt::Return(Some(int(0)))));
        }
        let launches = self.plan.launches.iter().flat_map(|launch| self.launch(launch)).collect();
        body.extend(loops([&self.plan.outer], launches));
        body.push(Stmt::Return(Some(int(0))));
        body
    }

    /// What is refused before anything is written.
    fn checks(&self) -> Block {
        let arguments = self.arguments;
        let mut body = Block::new();
        let (elements, status, most) = (var("tw_elements"), var("tw_status"), var("TW_MOST"));
        let sizes = arguments.sizes();
        body.push(Stmt::declare(INT, "tw_elements", var(&sizes[sizes.len() - 1])));
        body.push(Stmt::declare("int", "tw_status", elements.clone().gt(most).select(2, 0)));
        let mut strides: Vec<(Expr, String)> =
            sizes.iter().map(var).zip(arguments.strides()).collect::<Vec<_>>();
        strides.reverse();
        if arguments.has_slots() {
            strides.push((int(1), "level_stride".to_string()));
        }
        for (count, stride) in strides {
            let enclose = call("tw_enclose", [elements.clone().address(), count, var(stride)]);
            body.push(Stmt::when(status.clone().is(0), Stmt::assign(name("tw_status"), enclose)));
        }
        body.push(Stmt::when(status.clone().is_not(0), Stmt::Return(Some(status))));
        let fields = arguments.program.fields.len();
        for (number, array) in arguments.arrays().into_iter().enumerate() {
            let array = name(array.name);
            let unusable = !call("tw_usable", [array.clone(), array.deref().size_of()]);
            // A series has no element where there is no step.
            let unusable = if number < fields { unusable } else { var("steps").gt(0).and(unusable) };
            body.push(Stmt::when(unusable, Stmt::Return(Some(int(5)))));
        }
        body
    }

    /// The blocks of a launch, in parallel.
    fn launch(&self, launch: &Launch) -> Block {
        let kernel = &self.plan.kernels[launch.kernel];
        let blocks = kernel.blocks.iter().map(|block| var(block.variable));
        let arguments = [name("grid"), var(self.plan.outer.variable)].into_iter().chain(blocks);
        let run = Stmt::call(format!("tw_{}", kernel.name), arguments);
        let mut body = Block::new();
        if !kernel.blocks.is_empty() {
            // Equal blocks touch memory like the first touch did.
            let schedule = if kernel.blocks_alike { "static" } else { "dynamic" };
            let collapse = match kernel.blocks.len() {
                1 => String::new(),
                count => format!(" collapse({count})"),
            };
            body.push(Stmt::Pragma(format!("omp parallel for schedule({schedule}){collapse}")));
        }
        body.extend(loops(&kernel.blocks, run.into()));
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
        let arguments = self.arguments;
        let mut missing = vec![!name("fields"), !name("sizes")];
        if !arguments.names.parameters.is_empty() {
            missing.push(!name("parameters"));
        }
        let arrays = arguments.arrays().into_iter().enumerate().map(|(number, array)| {
            let kind = Type::new(array.element);
            let kind = if array.constant { kind.constant() } else { kind };
            name("fields").at(number as i64).cast(kind.pointer())
        });
        let sizes = arguments.integers().len() - 1;
        let sizes = (0..sizes).map(|number| name("sizes").at(number as i64).cast("ptrdiff_t"));
        let steps = var("steps").cast("ptrdiff_t");
        let parameters = 0..arguments.names.parameters.len();
        let parameters = parameters.map(|number| name("parameters").at(number as i64));
        let all: Vec<Expr> = arrays.chain(sizes).chain([steps]).chain(parameters).collect();
        let strided = call(format!("{}_strided", self.name()), all);
        Block::from([
            Stmt::when(any(missing), Stmt::Return(Some(int(5)))),
            Stmt::unused("parameters"),
            Stmt::Return(Some(strided)),
        ])
    }
}
