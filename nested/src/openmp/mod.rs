//! C with OpenMP: small kernels, one for each step of a lowered program, made of the same parts for each operator,
//! schedule and resource.

mod group;
pub(crate) mod kernels;
mod merged;
mod products;
mod scans;
mod several;
mod singly;
mod together;

pub use several::{Ranged, Several, Variant, chooser, several};

use self::together::Together;
use crate::analysis::{Implementation, Level};
use crate::emit::generated::{Generated, Kernel, Mode, Traffic, prepared, temporaries, walk};
use crate::emit::slots::Slots;
use crate::emit::{emitter, emitter::Emitter, generated, value};
use crate::lower::{Lowered, Numbered, Step, lower};
use crate::program::*;
use c_tree::{Block, Dialect, Expr as C, Function as CFunction, Stmt, int, name, var};

/// The runtime that all generated programs share.
pub const RUNTIME: &str = concat!(
    include_str!("../../templates/runtime_head.h"),
    include_str!("../../templates/slots.h"),
    include_str!("../../templates/runtime_context.h"),
    include_str!("../../templates/arithmetic.h"),
    include_str!("../../templates/wide.h"),
    include_str!("../../templates/halves.h"),
    include_str!("../../templates/narrow.h"),
    include_str!("../../templates/row_sums.h"),
    include_str!("../../templates/half_sums.h"),
    include_str!("../../templates/lines.h"),
    include_str!("../../templates/products.h"),
    include_str!("../../templates/runtime_tail.h")
);

/// Makes C of a program: an implementation for each of its computations, in their order; the default ones where there
/// are fewer.
pub fn generate(program: &Program, chosen: &[Implementation], mode: Mode, symbol: &str) -> Generated {
    let (fused_program, list, fused) = prepared(program);
    let lowered = lower(&fused_program);
    let implementations: Vec<Implementation> = list
        .iter()
        .enumerate()
        .map(|(place, own)| chosen.get(place).cloned().unwrap_or_else(|| Implementation::default_of(own)))
        .collect();
    let slots = Slots::of(&lowered);
    let mut writer = Writer {
        emitter: Emitter::new(&lowered, slots, mode == Mode::Fast),
        implementations: &implementations,
        symbol,
        functions: String::new(),
        traffic: Vec::new(),
        count: 0,
    };
    let mut body = Block::new();
    walk(&mut writer, &lowered.steps, &mut body);
    let nested =
        implementations.iter().any(|own| own.levels.iter().filter(|level| level.is_threads()).count() > 1);
    let Writer { emitter, functions, traffic, .. } = writer;
    let text = text(&lowered, &emitter, &functions, body, symbol, nested);
    let temporaries = temporaries(&emitter, &program.outputs);
    let Emitter { slots, checks, .. } = emitter;
    Generated { text, symbol: symbol.to_owned(), slots, checks, traffic, temporaries, fused }
}

struct Writer<'p, 'a> {
    emitter: Emitter<'p>,
    implementations: &'a [Implementation],
    symbol: &'a str,
    functions: String,
    traffic: Vec<Traffic>,
    count: usize,
}

impl<'p> generated::Writer<'p> for Writer<'p, '_> {
    fn swap(&mut self, a: VarId, b: VarId, body: &mut Block) {
        let (a, b) = (self.emitter.place(a), self.emitter.place(b));
        let pairs = a.leaves.into_iter().zip(b.leaves).chain(a.rows.into_iter().zip(b.rows));
        for (a, b) in pairs {
            self.count += 1;
            let own = format!("swap{}", self.count);
            let slot = |place: usize| name("slots").at(place as i64);
            body.push(Stmt::declare("tw_slot", own.clone(), slot(a)));
            body.push(Stmt::assign(slot(a), slot(b)));
            body.push(Stmt::assign(slot(b), name(own)));
        }
    }

    fn repeat(&mut self, times: VarId, steps: &'p [Numbered], until: Option<VarId>, body: &mut Block) {
        let number = |writer: &Self, id: VarId, kind: &str| {
            let slot = writer.emitter.place(id).leaves.first().copied().unwrap_or(0);
            let data = name("tw").dot("slots").at(slot as i64).dot("data");
            data.cast(c_tree::Type::new(kind).constant().pointer()).deref()
        };
        let rounds = number(self, times, "int64_t");
        let mut inner = Block::new();
        walk(self, steps, &mut inner);
        if let Some(until) = until {
            inner.push(Stmt::when(number(self, until, "uint8_t"), Stmt::Break));
        }
        self.count += 1;
        let round = format!("round{}", self.count);
        body.push(Stmt::count("int64_t", round, 0, rounds, inner));
    }

    fn kernel(&mut self, computation: usize, step: &'p Step, body: &mut Block) {
        self.count += 1;
        let sequential = Implementation { tile: 0, levels: vec![Level::SEQUENTIAL] };
        let own = self.implementations.get(computation).cloned().unwrap_or(sequential);
        let title = format!("{}_{}", self.symbol, self.count);
        let Some(kernel) = self.emitter.kernel(step, &own, &title) else { return };
        self.add(computation, kernel, body);
    }

    fn together(&mut self, steps: &'p [Numbered], body: &mut Block) -> usize {
        let Some(own) = Together::of(self.emitter.lowered, steps) else { return 0 };
        let Some(levels) = own.levels(self.implementations) else { return 0 };
        let title = format!("{}_{}", self.symbol, self.count + 1);
        let Some(kernel) = self.emitter.together(&own, levels, &title) else { return 0 };
        self.count += 1;
        self.add(own.computation(), kernel, body);
        together::STEPS
    }
}

impl Writer<'_, '_> {
    /// A kernel's function, and its call.
    fn add(&mut self, computation: usize, kernel: Kernel, body: &mut Block) {
        self.functions.push_str(&kernel.function.print(Dialect::C));
        self.functions.push('\n');
        self.traffic.push(Traffic::of(&self.emitter, computation, &kernel));
        body.push(Stmt::call(kernel.name, [name("tw").address()]));
        let wrong = name("report").arrow("check").is_not(0);
        body.push(Stmt::when(wrong, Stmt::Return(Some(int(1)))));
    }
}

/// The whole text.
fn text(
    lowered: &Lowered,
    emitter: &Emitter<'_>,
    functions: &str,
    mut body: Block,
    symbol: &str,
    nested: bool,
) -> String {
    let mut text =
        format!("/* The nested data-parallel program {}, made by Tilewright. */\n", lowered.program.name);
    text.push_str("#include \"tw_nested.h\"\n\n");
    text.push_str(
        "#ifndef _OPENMP\n#define omp_get_thread_num() 0\n#define omp_get_num_threads() 1\n#endif\n\n",
    );
    let mut tables = Block::new();
    for variable in &lowered.program.variables {
        if let Role::Table(values) = &variable.role {
            let kind = variable.ty.element().and_then(Type::scalar).map_or("double", emitter::stored_type);
            let list = C::List(values.iter().map(|own| value::literal(*own)).collect());
            let mut declaration = c_tree::stmt::Declaration::array(
                c_tree::Type::new(kind).constant(),
                format!("t_{}", variable.name),
                values.len() as i64,
            );
            declaration.attribute = Some("static".to_owned());
            declaration.value = Some(list);
            tables.push(Stmt::Declare(vec![declaration]));
        }
    }
    for statement in tables {
        text.push_str(&printed(statement));
    }
    text.push_str(functions);
    let checks = emitter.checks.len() as i64 + 1;
    let mut whole = Block::new();
    let mut memo = c_tree::stmt::Declaration::array("int64_t", "memo", checks);
    memo.value = Some(C::List(vec![int(0)]));
    whole.push(Stmt::Declare(vec![memo]));
    let threads = var("threads").gt(0).select(var("threads"), int(1));
    let context = C::List(vec![name("slots"), name("report"), name("memo"), threads]);
    whole.push(Stmt::declare("tw_context", "tw", context));
    whole.push(Stmt::assign(name("report").arrow("check"), int(0)));
    if nested {
        whole.push(Stmt::call("tw_teams_in_teams", []));
    }
    whole.extend(std::mem::take(&mut body));
    whole.push(Stmt::Return(Some(int(0))));
    let function = CFunction::new(symbol)
        .comment("Runs the program. Returns 0, or 1 where the report says what was found wrong.")
        .result("int")
        .parameter(c_tree::Type::new("tw_slot").pointer(), "slots")
        .parameter("int", "threads")
        .parameter(c_tree::Type::new("tw_report").pointer(), "report")
        .body(whole);
    text.push_str(&function.print(Dialect::C));
    let given = emitter.slots.list.iter().take_while(|slot| slot.given).count() as i64;
    let count = emitter.slots.list.len() as i64;
    let own = var("i");
    let clear: Vec<Stmt> = vec![
        Stmt::call("free", [name("slots").at(own.clone()).dot("data")]),
        Stmt::assign(name("slots").at(own.clone()).dot("data"), name("NULL")),
        Stmt::assign(name("slots").at(own.clone()).dot("length"), int(0)),
        Stmt::assign(name("slots").at(own).dot("capacity"), int(0)),
    ];
    let free = CFunction::new(format!("{symbol}_free"))
        .comment("Frees all arrays but those that were given.")
        .parameter(c_tree::Type::new("tw_slot").pointer(), "slots")
        .body(Stmt::count("int", "i", given, count, clear));
    text.push('\n');
    text.push_str(&free.print(Dialect::C));
    text
}

/// A statement outside of functions.
fn printed(statement: Stmt) -> String {
    let whole = CFunction::new("f").body(Block::from(statement)).print(Dialect::C);
    let lines = whole.lines().skip_while(|line| *line != "{").skip(1);
    let own: Vec<&str> =
        lines.take_while(|line| *line != "}").map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    own.join("\n") + "\n\n"
}
