//! The files that a user of C or CUDA adds to a project: source, header, build file, a program that checks and times, manifest.

use crate::analysis::gpu::GpuImplementation;
use crate::analysis::{Computation, Implementation};
use crate::cuda;
use crate::emit::generated::{Generated, Mode, Traffic, prepared};
use crate::fault::FaultKind;
use crate::openmp::{RUNTIME, Several, Variant, generate};
use crate::program::{Literal, Program, Role, Scalar};
use crate::versions::Versions;
use serde::Serialize;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

#[derive(Serialize)]
struct Manifest<'a> {
    schema: &'static str,
    program: &'a str,
    target: &'static str,
    mode: Mode,
    computations: Vec<Chosen>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<Shown>,
    fused: &'a [String],
    temporaries: &'a [String],
    traffic: &'a [Traffic],
    slots: Vec<SlotEntry<'a>>,
    files: Vec<&'a str>,
}

/// One of several implementations.
#[derive(Serialize)]
struct Shown {
    name: String,
    /// Its program, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    computations: Vec<Chosen>,
}

#[derive(Serialize)]
struct Chosen {
    name: String,
    expression: String,
    schedule: String,
    policy: String,
}

#[derive(Serialize)]
struct SlotEntry<'a> {
    name: &'a str,
    r#type: Scalar,
    width: usize,
    given: bool,
}

fn numpy(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I32 => "<i4",
        Scalar::I64 => "<i8",
        Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
        Scalar::Bool => "|b1",
    }
}

fn c_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I32 => "int32_t",
        Scalar::I64 => "int64_t",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::Bool => "uint8_t",
    }
}

fn number(literal: Literal) -> f64 {
    match literal {
        Literal::I32(value) => f64::from(value),
        Literal::I64(value) => value as f64,
        Literal::F32(value) => f64::from(value),
        Literal::F64(value) => value,
        Literal::Bool(value) => f64::from(u8::from(value)),
    }
}

/// The slots of results: name of the array, slot, and type.
fn results<'a>(program: &'a Program, generated: &'a Generated) -> impl Iterator<Item = usize> + 'a {
    let places = program.outputs.iter().filter_map(|id| generated.slots.places.get(id));
    places.flat_map(|place| place.leaves.iter().copied().chain(place.rows))
}

/// What the code is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    OpenMp,
    Cuda,
}

/// All files of a program, and what was generated.
pub fn package(program: &Program, chosen: &[Implementation], mode: Mode) -> (Vec<File>, Generated) {
    let name = program.name.as_str();
    let generated = generate(program, chosen, mode, name);
    let source = File {
        name: format!("{name}.c"),
        text: generated.text.clone() + &checks(name, &found(program, &generated)),
    };
    let sources =
        Sources { own: vec![source], computations: all_shown(program, chosen), ..Sources::default() };
    (files(program, &generated, Target::OpenMp, sources, mode), generated)
}

/// The same with several implementations, the first of which is the default, and `choice`: the files of the function that
/// [`crate::openmp::chooser`] names.
pub fn package_several(
    versions: &Versions,
    several: &Several,
    chosen: &[Variant],
    choice: Vec<File>,
    mode: Mode,
) -> Vec<File> {
    let program = &versions.interface;
    let name = program.name.as_str();
    let generated = &several.generated;
    let many = versions.programs.len() > 1;
    let list = several.variants.iter().zip(&several.versions);
    let of = |(own, version): (&Generated, &usize)| {
        let program = &versions.programs[*version];
        let whose = if many { format!("{}:", program.name) } else { String::new() };
        found(program, own).into_iter().map(move |(kind, place)| (kind, whose.clone() + &place))
    };
    let all: Vec<_> = list.flat_map(of).collect();
    let text = generated.text.clone() + &checks(name, &all);
    let entry = File { name: format!("{name}.c"), text };
    let one = |own: &Generated| File { name: format!("{}.c", own.symbol), text: own.text.clone() };
    let own = [entry].into_iter().chain(several.variants.iter().map(one)).chain(choice).collect();
    let shown = |own: &Variant| all_shown(&versions.programs[own.version], &own.chosen);
    let variants = chosen.iter().enumerate().map(|(number, own)| Shown {
        name: format!("v{number}"),
        version: many.then(|| versions.programs[own.version].name.clone()),
        computations: shown(own),
    });
    let computations = chosen.first().map_or(Vec::new(), shown);
    let sequential = several.sequential.clone();
    let sources = Sources { own, computations, variants: variants.collect(), sequential };
    files(program, generated, Target::OpenMp, sources, mode)
}

/// What is the program's own among the files, and what the manifest says of it.
#[derive(Default)]
struct Sources {
    own: Vec<File>,
    computations: Vec<Chosen>,
    variants: Vec<Shown>,
    /// Each version one operation after the other; that of the program, where there are none.
    sequential: Vec<Generated>,
}

/// The implementations of all computations; the default ones where there are fewer.
fn all_shown(program: &Program, chosen: &[Implementation]) -> Vec<Chosen> {
    let (_, computations, _) = prepared(program);
    let list = computations.iter().enumerate().map(|(place, own)| {
        let used = chosen.get(place).cloned().unwrap_or_else(|| Implementation::default_of(own));
        shown(own, &used.schedule(), used.policy())
    });
    list.collect()
}

/// The same for CUDA.
///
/// # Errors
/// As for [`cuda::generate`].
pub fn package_cuda(
    program: &Program,
    chosen: &[GpuImplementation],
    mode: Mode,
) -> Result<(Vec<File>, Generated), String> {
    let name = program.name.as_str();
    let generated = cuda::generate(program, chosen, mode, name)?.generated;
    let (_, computations, _) = prepared(program);
    let list = computations.iter().enumerate().map(|(place, own)| {
        let used = chosen.get(place).cloned().unwrap_or_else(|| GpuImplementation::default_of(own));
        shown(own, &used.schedule, used.policy())
    });
    let said = checks(name, &found(program, &generated));
    let text = format!(
        "{}\n#if !defined(TW_DEVICE_ONLY)\nextern \"C\" {}#endif\n",
        generated.text,
        said.trim_start()
    );
    let sources = vec![
        File { name: format!("{name}.cu"), text },
        File { name: cuda::RUNTIME_FILE.to_owned(), text: cuda::RUNTIME.to_owned() },
    ];
    let sources = Sources { own: sources, computations: list.collect(), ..Sources::default() };
    let files = files(program, &generated, Target::Cuda, sources, mode);
    Ok((files, generated))
}

fn shown(own: &Computation, schedule: &[crate::analysis::Schedule], policy: String) -> Chosen {
    Chosen {
        name: own.name.clone(),
        expression: crate::analysis::sequence::text(&own.sequence),
        schedule: crate::analysis::schedule::text(schedule),
        policy,
    }
}

/// The sources with all that stands beside them.
fn files(
    program: &Program,
    generated: &Generated,
    target: Target,
    sources: Sources,
    mode: Mode,
) -> Vec<File> {
    let name = program.name.as_str();
    let mut alone = sources.sequential;
    if alone.is_empty() {
        let (_, list, _) = prepared(program);
        let weakest: Vec<Implementation> = list.iter().map(Implementation::sequential).collect();
        alone.push(generate(program, &weakest, mode, &format!("{name}_sequential")));
    }
    let several = !sources.variants.is_empty();
    let head = header(program, generated, target, several);
    let is_source = |own: &&String| own.ends_with(".c") || own.ends_with(".cu");
    let mut compiled: Vec<String> =
        sources.own.iter().map(|own| &own.name).filter(is_source).cloned().collect();
    compiled.extend(alone.iter().map(|own| format!("{}.c", own.symbol)));
    let mut files = vec![File { name: format!("{name}.h"), text: head }];
    files.extend(sources.own);
    files.extend(alone.iter().map(|own| File { name: format!("{}.c", own.symbol), text: own.text.clone() }));
    files.extend([
        File { name: "tw_nested.h".to_owned(), text: RUNTIME.to_owned() },
        File { name: "main.c".to_owned(), text: main(program, generated, &alone, target) },
        File { name: "CMakeLists.txt".to_owned(), text: cmake(name, &compiled.join(" "), mode, target) },
    ]);
    let manifest = Manifest {
        schema: "tilewright.nested.manifest/1",
        program: name,
        target: if target == Target::Cuda { "cuda" } else { "openmp" },
        mode,
        computations: sources.computations,
        variants: sources.variants,
        fused: &generated.fused,
        temporaries: &generated.temporaries,
        traffic: &generated.traffic,
        slots: generated
            .slots
            .list
            .iter()
            .map(|slot| SlotEntry {
                name: &slot.name,
                r#type: slot.scalar,
                width: slot.width,
                given: slot.given,
            })
            .collect(),
        files: files.iter().map(|file| file.name.as_str()).collect(),
    };
    let manifest = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
    files.push(File { name: "manifest.json".to_owned(), text: manifest });
    files
}

fn header(program: &Program, generated: &Generated, target: Target, several: bool) -> String {
    let name = &program.name;
    let upper = name.to_uppercase();
    let mut text = format!("/* The nested data-parallel program {name}, made by Tilewright.\n *\n");
    text.push_str(" * Set the slots of what is given, leave the others zero, and call the function; results are in their slots, and\n");
    text.push_str(" * are used again by the next call. Free them in the end. */\n");
    text.push_str(&format!("#ifndef {upper}_H\n#define {upper}_H\n\n#include \"tw_nested.h\"\n\n"));
    text.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/* The slots. */\nenum {\n");
    for (place, slot) in generated.slots.list.iter().enumerate() {
        let result = results(program, generated).any(|own| own == place);
        if slot.given || result {
            text.push_str(&format!("    {name}_slot_{} = {place},\n", slot.name));
        }
    }
    text.push_str(&format!("    {name}_slots = {}\n}};\n\n", generated.slots.list.len()));
    for (place, slot) in generated.slots.list.iter().enumerate() {
        let (own, kind) = (&slot.name, c_type(slot.scalar));
        if slot.given {
            text.push_str(&format!(
                "static inline void {name}_set_{own}(tw_slot *slots, const {kind} *data, int64_t length)\n{{\n    \
                 slots[{place}].data = (void *)data;\n    slots[{place}].length = length;\n}}\n\n"
            ));
        } else if results(program, generated).any(|result| result == place) {
            text.push_str(&format!(
                "static inline const {kind} *{name}_get_{own}(const tw_slot *slots, int64_t *length)\n{{\n    \
                 *length = slots[{place}].length;\n    return (const {kind} *)slots[{place}].data;\n}}\n\n"
            ));
        }
    }
    for symbol in [name.clone(), format!("{name}_sequential")] {
        text.push_str(&format!("int {symbol}(tw_slot *slots, int threads, tw_report *report);\n"));
        text.push_str(&format!("void {symbol}_free(tw_slot *slots);\n"));
    }
    if target == Target::Cuda {
        text.push_str(&format!(
            "\n/* The parts of a call, for several runs on a device: what is given is copied there (NULL where the report says why\n \
             * not), runs, results are copied back, the end. {name} does all of these; threads change nothing. */\n\
             void *{name}_open(const tw_slot *slots, tw_report *report);\n\
             int {name}_run(void *session, tw_report *report);\n\
             int {name}_results(void *session, tw_slot *slots, tw_report *report);\n\
             void {name}_close(void *session);\n"
        ));
    }
    if several {
        text.push_str(&format!(
            "\n/* The implementation that a call takes, for what is given; the environment variable TILEWRIGHT_VARIANT, one of v0,\n \
             * v1, .., overrules it. */\nint {name}_variant(const tw_slot *slots, int threads);\n"
        ));
    }
    text.push_str("\n/* What a check of a report found. */\n");
    text.push_str(&format!(
        "const char *{name}_check(int64_t check);\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    ));
    text
}

/// What each check finds, and where.
fn found(program: &Program, generated: &Generated) -> Vec<(FaultKind, String)> {
    generated.checks.iter().map(|(kind, span)| (*kind, program.place(span))).collect()
}

/// The function that says what a check found.
fn checks(name: &str, found: &[(FaultKind, String)]) -> String {
    let mut text = format!(
        "\n/* What a check of a report found. */\nconst char *{name}_check(int64_t check)\n{{\n    switch (check) {{\n"
    );
    for (number, (kind, place)) in found.iter().enumerate() {
        let what = match kind {
            FaultKind::Index => "an index outside of a sequence",
            FaultKind::Offsets => "offsets that do not begin with 0, decrease, or end elsewhere",
            FaultKind::Lengths => "sequences of different lengths",
            FaultKind::Count => "a negative length",
            FaultKind::Step => "a stride or tile that is not positive",
            FaultKind::Empty => "an empty sequence that is repeated",
            FaultKind::Twice => "a place that is written twice",
            FaultKind::Division => "a division by 0",
            FaultKind::TooLong => "a length beyond 2^62",
        };
        text.push_str(&format!("    case {}: return \"{place}: {what}\";\n", number + 1));
    }
    text.push_str("    case -2: return \"the device failed\";\n");
    text.push_str("    case -1: return \"no memory\";\n    default: return \"nothing\";\n    }\n}\n");
    text
}

/// The runs of `main.c`.
const RUNS: [&str; 2] = [
    "    for (int i = 0; !wrong && i < repeat; ++i) {
        double start = now();
        wrong = @NAME@(slots, threads, &report);
        times[i] = now() - start;
    }
",
    "    void *session = @NAME@_open(slots, &report);
    wrong = session == NULL;
    for (int i = -1; !wrong && i < repeat; ++i) {
        double start = now();
        wrong = @NAME@_run(session, &report);
        times[i < 0 ? 0 : i] = now() - start;
    }
    wrong = wrong || @NAME@_results(session, slots, &report);
    if (session != NULL) @NAME@_close(session);
",
];

fn main(program: &Program, generated: &Generated, alone: &[Generated], target: Target) -> String {
    let mut given = String::new();
    for ((_, variable), (place, slot)) in program.given().zip(generated.slots.list.iter().enumerate()) {
        let (parameter, default) = match variable.role {
            Role::Param(literal) => (1, number(literal)),
            _ => (0, 0.0),
        };
        let default = if default.is_finite() { format!("{default:?}") } else { "0.0".to_owned() };
        let (kind, bytes, width) = (numpy(slot.scalar), slot.scalar.bytes(), slot.width);
        let name = &slot.name;
        given.push_str(&format!(
            "    {{\"{name}\", \"{kind}\", {bytes}, {width}, {place}, {parameter}, {default}}},\n"
        ));
    }
    let mut list = String::new();
    for place in results(program, generated) {
        let slot = &generated.slots.list[place];
        list.push_str(&format!(
            "    {{\"{}\", \"{}\", {}, {place}}},\n",
            slot.name,
            numpy(slot.scalar),
            slot.scalar.bytes() * slot.width
        ));
    }
    // Of several versions the sequential form is that of the version that a call takes, in the slots of all.
    let (plain, threads) = match alone {
        [one] => (one, "1"),
        _ => (generated, "threads"),
    };
    include_str!("../templates/main.c")
        .replace("@ALONE@", threads)
        .replace("@GIVEN@", &given)
        .replace("@RESULTS@", &list)
        .replace("@RUN@", RUNS[usize::from(target == Target::Cuda)])
        .replace("@WHERE@", if target == Target::Cuda { "on the device" } else { "with %d threads" })
        .replace("@THREADS@", if target == Target::Cuda { "" } else { ", threads" })
        .replace("@SLOTS@", &generated.slots.list.len().to_string())
        .replace("@PLAIN@", &plain.slots.list.len().to_string())
        .replace("@NAME@", &program.name)
}

fn cmake(name: &str, sources: &str, mode: Mode, target: Target) -> String {
    if target == Target::Cuda {
        let contract = mode == Mode::Fast;
        return format!(
            "cmake_minimum_required(VERSION 3.18)\nif(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n  \
             set(CMAKE_CUDA_ARCHITECTURES 80 90)\nendif()\nproject({name} C CXX CUDA)\nset(CMAKE_C_STANDARD 11)\n\
             set(CMAKE_CUDA_STANDARD 17)\n\
             if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n\
             add_library({name} {sources})\n\
             target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})\n\
             # The same bits everywhere: no contraction, and no vectors of statements, in which gcc 12 leaves roundings out.\n\
             target_compile_options({name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--fmad={contract}> \
             $<$<COMPILE_LANGUAGE:C>:-O3;-ffp-contract=off;-fno-tree-slp-vectorize>)\n\
             target_link_libraries({name} PUBLIC m)\n\
             add_executable({name}_main main.c)\ntarget_link_libraries({name}_main PRIVATE {name})\n\
             set_target_properties({name}_main PROPERTIES LINKER_LANGUAGE CUDA)\n"
        );
    }
    let contract = if mode == Mode::Fast { "fast" } else { "off" };
    format!(
        "cmake_minimum_required(VERSION 3.10)\nproject({name} C)\nset(CMAKE_C_STANDARD 11)\n\
         if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n\
         find_package(OpenMP COMPONENTS C)\n\
         add_library({name} {sources})\n\
         target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})\n\
         # The same bits everywhere: no contraction, and no vectors of statements, in which gcc 12 leaves roundings out.\n\
         target_compile_options({name} PRIVATE -O3 -ffp-contract={contract} -fno-tree-slp-vectorize)\n\
         target_link_libraries({name} PUBLIC m)\n\
         if(OpenMP_C_FOUND)\n  target_link_libraries({name} PUBLIC OpenMP::OpenMP_C)\nendif()\n\
         add_executable({name}_main main.c)\ntarget_link_libraries({name}_main PRIVATE {name})\n"
    )
}
