//! What back ends make: kernels, the text, and what is known of it.

use super::emitter::{Checks, Emitter};
use super::slots::Slots;
use crate::analysis::{Computation, computations};
use crate::fuse::fuse;
use crate::lower::{Numbered, Step};
use crate::program::{Program, Role, VarId};
use c_tree::{Block, Function as CFunction};

/// How floating-point numbers are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The same bits on every machine and for every schedule: those of the interpreter.
    #[default]
    Deterministic,
    /// In any order.
    Fast,
}

/// A kernel: its function, and the slots that it reads and fills.
pub struct Kernel {
    /// The function.
    pub function: CFunction,
    /// Its name.
    pub name: String,
    /// The results that it fills.
    pub fills: Vec<VarId>,
    /// The slots that it reads.
    pub reads: Vec<usize>,
    /// The slots that it fills.
    pub writes: Vec<usize>,
}

/// What one kernel moves: the arrays that it reads and fills.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// The computation that it is part of.
    pub computation: usize,
    /// The results that it fills.
    pub fills: Vec<String>,
    /// Arrays that it reads.
    pub reads: Vec<String>,
    /// Arrays that it fills.
    pub writes: Vec<String>,
}

impl Traffic {
    /// That of a kernel.
    pub(crate) fn of(emitter: &Emitter<'_>, computation: usize, kernel: &Kernel) -> Traffic {
        let arrays =
            |list: &[usize]| list.iter().map(|slot| emitter.slots.list[*slot].name.clone()).collect();
        let program = &emitter.lowered.program;
        Traffic {
            computation,
            fills: kernel.fills.iter().map(|id| program.variable(*id).name.clone()).collect(),
            reads: arrays(&kernel.reads),
            writes: arrays(&kernel.writes),
        }
    }
}

/// The results that are stored and not handed out.
pub(crate) fn temporaries(emitter: &Emitter<'_>, outputs: &[VarId]) -> Vec<String> {
    let program = &emitter.lowered.program;
    let stored = emitter.slots.places.keys().filter(|id| !outputs.contains(id));
    stored
        .map(|id| program.variable(*id))
        .filter(|own| own.ty.has_sequence() && !matches!(own.role, Role::Input))
        .map(|own| own.name.clone())
        .collect()
}

/// Generated code.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The text of the kernels and of the entry point.
    pub text: String,
    /// The function that runs the program: `int NAME(tw_slot *slots, int threads, tw_report *report)`.
    pub symbol: String,
    /// Arrays, in the order of the slots.
    pub slots: Slots,
    /// What each check finds, and where in the program it matters; the first one is number 1.
    pub checks: Checks,
    /// What each kernel moves.
    pub traffic: Vec<Traffic>,
    /// Results that are stored and not handed out.
    pub temporaries: Vec<String>,
    /// Computations that are fused into their readers.
    pub fused: Vec<String>,
}

/// The program with its fusions done, and its computations.
pub fn prepared(program: &Program) -> (Program, Vec<Computation>, Vec<String>) {
    let (fused, names) = fuse(program);
    let list = computations(&fused);
    let names = names.into_iter().map(|id| program.variable(id).name.clone()).collect();
    (fused, list, names)
}

/// What a back end prints of the steps of a program.
pub(crate) trait Writer<'p> {
    /// Two arrays change places.
    fn swap(&mut self, a: VarId, b: VarId, body: &mut Block);
    /// A loop around what is printed of its steps by [`walk`].
    fn repeat(&mut self, times: VarId, steps: &'p [Numbered], until: Option<VarId>, body: &mut Block);
    /// A kernel of a computation, and its call.
    fn kernel(&mut self, computation: usize, step: &'p Step, body: &mut Block);
    /// A kernel of the first of some steps, and its call; how many steps that are.
    fn together(&mut self, _steps: &'p [Numbered], _body: &mut Block) -> usize {
        0
    }
}

/// Prints all steps, one after the other.
pub(crate) fn walk<'p>(writer: &mut impl Writer<'p>, steps: &'p [Numbered], body: &mut Block) {
    let mut place = 0;
    while let Some(Numbered { computation, step }) = steps.get(place) {
        let several = writer.together(&steps[place..], body);
        place += several.max(1);
        match step {
            _ if several > 0 => {}
            Step::Swap(a, b) => writer.swap(*a, *b, body),
            Step::Repeat { times, steps, until } => writer.repeat(*times, steps, *until, body),
            step => writer.kernel(*computation, step, body),
        }
    }
}
