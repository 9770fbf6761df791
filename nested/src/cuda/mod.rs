//! CUDA: for each step of a lowered program a function of the host, and small kernels, made of the same parts for each operator,
//! schedule and resource. The text is also what the emulator runs.

mod fold;
mod kernels;
mod look_back;
mod merge;
mod scan;

use crate::analysis::gpu::GpuImplementation;
use crate::emit::emitter::{Emitter, stored_type};
use crate::emit::generated::{Generated, Mode, Traffic, prepared, temporaries, walk};
use crate::emit::gpu::Gpu;
use crate::emit::slots::Slots;
use crate::emit::{generated, value};
use crate::lower::{Lowered, Numbered, Step, lower};
use crate::program::*;
use c_tree::{Block, Dialect, Expr as C, Function as CFunction, Stmt, int, name};

/// What generated texts include: types, what kernels call, and what starts them.
pub const RUNTIME: &str = concat!(
    include_str!("../../templates/cuda_head.h"),
    include_str!("../../templates/slots.h"),
    include_str!("../../templates/cuda_faults.h"),
    include_str!("../../templates/arithmetic.h"),
    include_str!("../../templates/cuda_tail.h"),
    include_str!("../../templates/cuda_machine.h")
);
/// The name under which they include it.
pub const RUNTIME_FILE: &str = "tw_nested_cuda.h";
/// The processor as a device, which the runtime includes for the emulator.
pub const EMULATOR: &str = include_str!("../../templates/emulator.h");
/// The kernels of the runtime, in the order of their numbers, and how many parameters they have.
pub const RUNTIME_KERNELS: [(&str, usize); 9] = [
    ("tw_check_offsets_int32_t", 5),
    ("tw_check_offsets_int64_t", 5),
    ("tw_settle", 2),
    ("tw_fill", 4),
    ("tw_sums", 3),
    ("tw_extremes", 4),
    ("tw_digits", 7),
    ("tw_move", 8),
    ("tw_places", 3),
];

/// Generated CUDA.
#[derive(Debug, Clone)]
pub struct GeneratedCuda {
    /// The text and what is known of it. The symbol is `int NAME(tw_slot *slots, int threads, tw_report *report)`, as for
    /// C, with arrays of the host.
    pub generated: Generated,
    /// All kernels, in the order of their numbers, and how many parameters they have.
    pub kernels: Vec<(String, usize)>,
}

impl GeneratedCuda {
    /// The kernels alone, as one text for NVRTC.
    pub fn device_text(&self) -> String {
        self.generated.text.replacen(&format!("#include \"{RUNTIME_FILE}\"\n"), RUNTIME, 1)
    }
}

/// Makes CUDA of a program: an implementation for each of its computations, in their order; the default ones where there
/// are fewer.
///
/// # Errors
/// Why it cannot be done so.
pub fn generate(
    program: &Program,
    chosen: &[GpuImplementation],
    mode: Mode,
    symbol: &str,
) -> Result<GeneratedCuda, String> {
    let (fused_program, list, fused) = prepared(program);
    let lowered = lower(&fused_program);
    let implementations: Vec<GpuImplementation> = list
        .iter()
        .enumerate()
        .map(|(place, own)| chosen.get(place).cloned().unwrap_or_else(|| GpuImplementation::default_of(own)))
        .collect();
    let slots = Slots::of(&lowered);
    let mut emitter = Emitter::new(&lowered, slots, mode == Mode::Fast);
    emitter.gpu = Some(Gpu::new(&lowered, &emitter.slots.places));
    let mut writer = Writer {
        emitter,
        implementations: &implementations,
        symbol,
        functions: String::new(),
        traffic: Vec::new(),
        count: 0,
    };
    let mut body = Block::new();
    walk(&mut writer, &lowered.steps, &mut body);
    let Writer { mut emitter, functions, traffic, .. } = writer;
    let Some(gpu) = emitter.gpu.take() else { return Err("no device".to_owned()) };
    if let Some(refusal) = gpu.refusal {
        return Err(refusal);
    }
    let text = text(program, &lowered, &emitter, &gpu.kernels, &gpu.names, &functions, body, symbol);
    let temporaries = temporaries(&emitter, &program.outputs);
    let kernels =
        RUNTIME_KERNELS.iter().map(|(own, count)| ((*own).to_owned(), *count)).chain(gpu.names).collect();
    let Emitter { slots, checks, .. } = emitter;
    let symbol = symbol.to_owned();
    Ok(GeneratedCuda {
        generated: Generated { text, symbol, slots, checks, traffic, temporaries, fused },
        kernels,
    })
}

struct Writer<'p, 'a> {
    emitter: Emitter<'p>,
    implementations: &'a [GpuImplementation],
    symbol: &'a str,
    functions: String,
    traffic: Vec<Traffic>,
    count: usize,
}

/// Ends the steps where something is wrong.
fn stop_if_wrong() -> Stmt {
    Stmt::when(name("tw").arrow("report").arrow("check").is_not(0), Stmt::Return(None))
}

impl<'p> generated::Writer<'p> for Writer<'p, '_> {
    fn swap(&mut self, a: VarId, b: VarId, body: &mut Block) {
        let (a, b) = (self.emitter.place(a), self.emitter.place(b));
        let pairs = a.leaves.into_iter().zip(b.leaves).chain(a.rows.into_iter().zip(b.rows));
        for (a, b) in pairs {
            body.push(Stmt::call("tw_swap", [name("tw"), int(a as i64), int(b as i64)]));
        }
    }

    fn repeat(&mut self, times: VarId, steps: &'p [Numbered], until: Option<VarId>, body: &mut Block) {
        let number = |writer: &Self, id: VarId, kind: &str| {
            let slot = writer.emitter.place(id).leaves.first().copied().unwrap_or(0);
            let list = [name("tw"), int(slot as i64), int(1)];
            C::instance("tw_number", [name(kind)], list).deref()
        };
        self.count += 1;
        let (round, rounds) = (format!("round{}", self.count), format!("rounds{}", self.count));
        body.push(Stmt::constant("int64_t", rounds.clone(), number(self, times, "int64_t")));
        body.push(stop_if_wrong());
        let mut inner = Block::new();
        walk(self, steps, &mut inner);
        if let Some(until) = until {
            inner.push(Stmt::when(number(self, until, "uint8_t"), Stmt::Break));
        }
        inner.push(stop_if_wrong());
        body.push(Stmt::count("int64_t", round, 0, name(rounds), inner));
    }

    fn kernel(&mut self, computation: usize, step: &'p Step, body: &mut Block) {
        self.count += 1;
        let own = self.implementations.get(computation).cloned().unwrap_or(GpuImplementation {
            schedule: Vec::new(),
            team: crate::emit::gpu::Team::Thread,
            block: 256,
            unroll: false,
            balanced: false,
            look_back: false,
        });
        let title = format!("{}_{}", self.symbol, self.count);
        let Some(kernel) = self.emitter.step(step, &own, &title) else { return };
        self.functions.push_str(&kernel.function.print(Dialect::Cuda));
        self.functions.push('\n');
        self.traffic.push(Traffic::of(&self.emitter, computation, &kernel));
        body.push(Stmt::call(kernel.name, [name("tw")]));
        body.push(stop_if_wrong());
    }
}

/// The whole text.
#[allow(clippy::too_many_arguments)]
fn text(
    program: &Program,
    lowered: &Lowered,
    emitter: &Emitter<'_>,
    kernels: &[String],
    names: &[(String, usize)],
    functions: &str,
    body: Block,
    symbol: &str,
) -> String {
    let mut text =
        format!("/* The nested data-parallel program {}, made by Tilewright. */\n", lowered.program.name);
    text.push_str(&format!("#include \"{RUNTIME_FILE}\"\n\n#if !defined(TW_HOST_ONLY)\n"));
    text.push_str("#if defined(TW_EMULATOR)\n#define TW_TABLE static const\n#else\n#define TW_TABLE static __device__ const\n#endif\n");
    let mut tables = Vec::new();
    for variable in &lowered.program.variables {
        if let Role::Table(values) = &variable.role {
            let kind = variable.ty.element().and_then(Type::scalar).map_or("double", stored_type);
            let list = C::List(values.iter().map(|own| value::literal(*own)).collect());
            let mut shown = CFunction::new("f").body(Block::from(Stmt::Expr(list))).print(Dialect::Cuda);
            shown = shown.lines().skip(2).take_while(|line| *line != "}").collect::<Vec<_>>().join("\n");
            tables.push((variable.name.clone(), kind, shown.trim().trim_end_matches(';').to_owned()));
        }
    }
    for (named, kind, list) in &tables {
        text.push_str(&format!("[[maybe_unused]] TW_TABLE {kind} t_{named}[] = {list};\n"));
    }
    for kernel in kernels {
        text.push('\n');
        text.push_str(kernel);
    }
    text.push_str("#endif\n\n#if !defined(TW_DEVICE_ONLY)\n");
    for (named, kind, list) in &tables {
        text.push_str(&format!("[[maybe_unused]] static const {kind} h_{named}[] = {list};\n"));
    }
    text.push_str(functions);
    let steps = CFunction::new("tw_steps")
        .attribute("static")
        .parameter(c_tree::Type::new("tw_context").pointer(), "tw")
        .body(body);
    text.push_str(&steps.print(Dialect::Cuda));
    text.push_str(&entry(program, emitter, symbol));
    let all: Vec<&str> = RUNTIME_KERNELS
        .iter()
        .map(|(own, _)| *own)
        .chain(names.iter().map(|(own, _)| own.as_str()))
        .collect();
    let list = |wrap: &dyn Fn(&str) -> String| {
        all.iter().map(|own| format!("    {}", wrap(own))).collect::<Vec<_>>().join(",\n")
    };
    text.push_str(&format!(
        "\n#if defined(TW_EMULATOR)\nconst tw_emulator::Caller tw_emulator::callers[] = {{\n{}}};\n#elif defined(__CUDACC__)\nconst void *const tw_kernels[] = {{\n{}}};\n#endif\n#endif\n",
        list(&|own| format!("tw_emulator::Call<&{own}>::make")),
        list(&|own| format!("(const void *){own}"))
    ));
    text
}

/// The description of the program's arrays, and what callers call.
fn entry(program: &Program, emitter: &Emitter<'_>, symbol: &str) -> String {
    let mut text = String::from("\nstatic const tw_shape tw_shapes[] = {\n");
    let results: Vec<usize> = program
        .outputs
        .iter()
        .filter_map(|id| emitter.slots.places.get(id))
        .flat_map(|place| place.leaves.iter().copied().chain(place.rows))
        .collect();
    let one = |slot: usize| {
        let mut owners = emitter.slots.places.iter().filter(|(_, place)| place.leaves.contains(&slot));
        owners.any(|(id, _)| !emitter.lowered.program.variable(*id).ty.has_sequence())
    };
    for (place, slot) in emitter.slots.list.iter().enumerate() {
        let (given, result) = (u8::from(slot.given), u8::from(results.contains(&place)));
        text.push_str(&format!(
            "    {{{}, {}, {given}, {result}, {}}}, /* {} */\n",
            slot.scalar.bytes(),
            slot.width,
            u8::from(one(place)),
            slot.name
        ));
    }
    let slots = emitter.slots.list.len();
    let checks = emitter.checks.len() + 1;
    text.push_str(&format!(
        "}};\nstatic const tw_program tw_this = {{tw_shapes, {slots}, {checks}, tw_steps}};\n\n"
    ));
    let given = emitter.slots.list.iter().take_while(|slot| slot.given).count();
    let entry = include_str!("../../templates/cuda_entry.h");
    text.push_str(
        &entry
            .replace("@NAME@", symbol)
            .replace("@GIVEN@", &given.to_string())
            .replace("@SLOTS@", &slots.to_string()),
    );
    text
}
