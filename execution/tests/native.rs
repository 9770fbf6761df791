//! C and C++ compiled, loaded and called.

use crate::support::*;
use execution::compare::compare;
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::native::{NativeProgram, chunk_unit};
use execution::reference::default_parameters;
use execution::{ExecutionError, initial, reference};
use hhc_codegen::{TileSizes, strategy};
use polyhedral::program::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, Language, SharedObject, SourceText};
use toolchain::library::Library;

/// One cache for the tests of this file, apart from the user's.
static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-cache")).unwrap());

const HEAT: &str = r#"
int heat(void **fields, const long long *sizes, long long steps, const double *parameters) {
    float *u = fields[0];
    const long long n = sizes[0], m = sizes[1], s = sizes[2], level = sizes[3];
    const float weight = (float)parameters[0];
    for (long long t = 0; t < steps; t++) {
        const float *from = u + (t % 2) * level;
        float *to = u + ((t + 1) % 2) * level;
#pragma omp parallel for
        for (long long i = 1; i < n - 1; i++)
            for (long long j = 1; j < m - 1; j++)
                to[i * s + j] = weight * ((((from[i * s + j] + from[(i - 1) * s + j]) + from[(i + 1) * s + j])
                                           + from[i * s + j - 1]) + from[i * s + j + 1]);
    }
    return 0;
}
"#;

/// `u[t+1, i, j, k] = u[t-1, i-1, j, k] + u[t, i, j, k+1] / 2` and then
/// `v[t+1, i, j, k] = v[t-2, i, j+1, k] / 2 + u[t+1, i, j, k]`.
const TWO_FIELDS: &str = r#"
int two_invoke(void **fields, const long long *sizes, long long steps, const double *parameters) {
    const long long n0 = sizes[0], n1 = sizes[1], n2 = sizes[2], s0 = sizes[3], s1 = sizes[4], level = sizes[5];
    (void)parameters;
    for (long long t = 0; t < steps; t++) {
        const float *u_older = (float *)fields[0] + t % U_SLOTS * level;
        const float *u = (float *)fields[0] + (t + 1) % U_SLOTS * level;
        float *u_new = (float *)fields[0] + (t + 2) % U_SLOTS * level;
        const double *v_oldest = (double *)fields[1] + t % V_SLOTS * level;
        double *v_new = (double *)fields[1] + (t + 3) % V_SLOTS * level;
        for (long long i = 1; i < n0; i++)
            for (long long j = 0; j < n1; j++)
                for (long long k = 0; k < n2 - 1; k++)
                    u_new[i * s0 + j * s1 + k] =
                        u_older[(i - 1) * s0 + j * s1 + k] + u[i * s0 + j * s1 + k + 1] * 0.5f;
        for (long long i = 0; i < n0; i++)
            for (long long j = 0; j < n1 - 1; j++)
                for (long long k = 0; k < n2; k++)
                    v_new[i * s0 + j * s1 + k] =
                        v_oldest[i * s0 + (j + 1) * s1 + k] * 0.5 + (double)u_new[i * s0 + j * s1 + k];
    }
    return 0;
}
"#;

/// The program of [`TWO_FIELDS`], and the slots of its fields.
fn two_fields() -> (Program, [usize; 2]) {
    let half = |value: Expr| {
        let half = literal(value.element, 0.5);
        binary(BinaryOp::Mul, value, half)
    };
    let (single, double) = (ElementType::F32, ElementType::F64);
    let program = Draft {
        dimension: 3,
        fields: vec![("u", single, true), ("v", double, true)],
        parameters: vec![],
        statements: vec![
            (
                0,
                vec![],
                binary(BinaryOp::Add, read(single, 0, -1, &[-1, 0, 0]), half(read(single, 0, 0, &[0, 0, 1]))),
            ),
            (
                1,
                vec![],
                binary(
                    BinaryOp::Add,
                    half(read(double, 1, -2, &[0, 1, 0])),
                    cast(double, read(single, 0, 1, &[0, 0, 0])),
                ),
            ),
        ],
    }
    .program();
    let slots = |field: usize| program.fields[field].role.slots();
    let slots = [slots(0), slots(1)];
    (program, slots)
}

fn compile(
    language: Language,
    sources: &[SourceText],
    options: &CompileOptions,
) -> toolchain::Result<SharedObject> {
    Compiler::find(language).unwrap().compile_shared(sources, options, &CACHE)
}

fn loaded(object: &SharedObject, symbol: &str) -> NativeProgram {
    NativeProgram::of(&Library::load(&object.path()).unwrap(), symbol).unwrap()
}

fn one(text: &str) -> Vec<SourceText> {
    vec![SourceText::new("stencil.c", text)]
}

#[test]
fn compiled_heat_agrees_with_the_reference() {
    let program = heat2d(ElementType::F32);
    for options in [
        CompileOptions::default(),
        CompileOptions { openmp: false, native: false, optimization: 0, ..CompileOptions::default() },
    ] {
        let options = CompileOptions { strict: true, ..options };
        let object = compile(Language::C, &one(HEAT), &options).unwrap();
        let native = loaded(&object, "heat");
        assert_eq!(native.library().set_threads(2), object.openmp);
        for (size, steps) in [([40, 70], 9), ([3, 3], 1), ([1, 4], 2), ([33, 1], 0)] {
            let mut expected = ProgramData::zeroed(&program, &size).unwrap();
            initial::fill_random(&program, &mut expected, 9).unwrap();
            let start = expected.try_clone().unwrap();
            reference::run_quietly(&program, &[0.2], &mut expected, steps).unwrap();
            for layout in [Layout::dense(&program, &size).unwrap(), Layout::padded(&program, &size).unwrap()]
            {
                let mut found = ProgramData::zeroed_with(&program, layout).unwrap();
                found.copy_from(&start);
                native.run(&program, &[0.2], &mut found, steps).unwrap();
                let comparison = compare(&program, &expected, &found, steps);
                assert_eq!(comparison.mismatches, 0, "{:?}", comparison.first);
            }
        }
    }
}

#[test]
fn chunks_give_the_result_of_one_call() {
    let (program, slots) = two_fields();
    assert_eq!((slots, chunk_unit(&program)), ([3, 4], 12));
    let options = CompileOptions {
        strict: true,
        arguments: vec![format!("-DU_SLOTS={}", slots[0]), format!("-DV_SLOTS={}", slots[1])],
        ..CompileOptions::default()
    };
    let object = compile(Language::C, &one(TWO_FIELDS), &options).unwrap();
    let native = loaded(&object, "two_invoke");
    let size = [5, 6, 21];
    let layout = Layout::padded(&program, &size).unwrap();
    let mut start = ProgramData::zeroed_with(&program, layout).unwrap();
    initial::fill_random(&program, &mut start, 4).unwrap();
    for (steps, chunk_steps, calls) in [
        (0, 5, vec![0]),
        (7, 0, vec![7]),
        (12, 1, vec![12]),
        (30, 12, vec![12, 24, 30]),
        (49, 13, vec![24, 48, 49]),
        (30, i64::MAX, vec![30]),
    ] {
        let mut expected = start.try_clone().unwrap();
        reference::run_quietly(&program, &[], &mut expected, steps).unwrap();
        let mut once = start.try_clone().unwrap();
        native.run(&program, &[], &mut once, steps).unwrap();
        assert_eq!(compare(&program, &expected, &once, steps).first, None);
        let mut seen = Vec::new();
        let mut found = start.try_clone().unwrap();
        let mut progress = |done| {
            seen.push(done);
            ControlFlow::Continue(())
        };
        native.run_in_chunks(&program, &[], &mut found, steps, chunk_steps, &mut progress).unwrap();
        assert_eq!(seen, calls);
        assert_eq!(compare(&program, &expected, &found, steps).first, None);
    }

    // Stopped between chunks, the data hold the levels so far.
    let mut expected = start.try_clone().unwrap();
    reference::run_quietly(&program, &[], &mut expected, 12).unwrap();
    let mut stopped = start.try_clone().unwrap();
    let result = native.run_in_chunks(&program, &[], &mut stopped, 40, 12, &mut |_| ControlFlow::Break(()));
    assert!(matches!(result, Err(ExecutionError::Interrupted)));
    assert_eq!(compare(&program, &expected, &stopped, 12).first, None);
    let wrong = native.run_in_chunks(&program, &[], &mut stopped, -1, 1, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(wrong, Err(ExecutionError::WrongSteps(-1))));
}

#[test]
fn headers_are_found_and_several_sources_linked() {
    let sources = [
        SourceText::new("part.h", "int part(void);\n"),
        SourceText::new("part.c", "#include \"part.h\"\nint part(void) { return VALUE; }\n"),
        SourceText::new(
            "main.c",
            "#include \"part.h\"\nint entry(void **f, const long long *n, long long t, const double *p) {\n\
             (void)f; (void)n; (void)t; (void)p; return part(); }\n",
        ),
    ];
    let options =
        CompileOptions { strict: true, arguments: vec!["-DVALUE=1".to_owned()], ..CompileOptions::default() };
    let object = compile(Language::C, &sources, &options).unwrap();
    let library = Library::load(&object.path()).unwrap();
    let missing = NativeProgram::of(&library, "missing").unwrap_err();
    assert!(missing.to_string().contains("no function `missing`"), "{missing}");
    let native = loaded(&object, "entry");
    let program = heat2d(ElementType::F32);
    let mut data = ProgramData::zeroed(&program, &[4, 4]).unwrap();
    let error = native.run(&program, &[0.2], &mut data, 1).unwrap_err();
    assert!(error.to_string().contains("`entry` failed with code 1: it could not get the memory"), "{error}");
    assert!(native.run(&program, &[], &mut data, 1).is_err());
    assert!(native.run(&program, &[0.2], &mut data, -1).is_err());
    let mut other = ProgramData::zeroed(&heat2d(ElementType::F64), &[4, 4]).unwrap();
    assert!(matches!(native.run(&program, &[0.2], &mut other, 1), Err(ExecutionError::WrongData { .. })));
}

#[test]
fn cuda_named_sources_compile_as_cxx() {
    let text = "#include <array>\n#include <type_traits>\n\
                template <int N> constexpr std::array<int, N> zeros() { return {}; }\n\
                static_assert(std::is_same_v<decltype(zeros<3>()), std::array<int, 3>>);\n\
                extern \"C\" int entry(void **, const long long *, long long steps, const double *)\n\
                { return steps == 3 ? 0 : 4; }\n\
                extern \"C\" const char *report() { return \"a race at line 3\"; }\n";
    let object =
        compile(Language::Cxx, &[SourceText::new("kernel.cu", text)], &CompileOptions::default()).unwrap();
    let native = loaded(&object, "entry");
    let program = heat2d(ElementType::F32);
    let mut data = ProgramData::zeroed(&program, &[4, 4]).unwrap();
    native.run(&program, &[0.2], &mut data, 3).unwrap();
    assert!(native.run(&program, &[0.2], &mut data, 2).unwrap_err().to_string().contains("race"));
    assert_eq!(native.library().text("report").as_deref(), Some("a race at line 3"));
    assert_eq!(native.library().text("none"), None);
}

/// Unloading an object whose OpenMP threads have run must not pull the code from under them.
#[test]
fn objects_with_openmp_can_be_unloaded() {
    let program = heat2d(ElementType::F32);
    let mut data = ProgramData::zeroed(&program, &[64, 64]).unwrap();
    for round in 0..8 {
        let text = format!("{HEAT}\nint round{round};\n");
        let object = compile(Language::C, &one(&text), &CompileOptions::default()).unwrap();
        let native = loaded(&object, "heat");
        native.library().set_threads(3);
        native.run(&program, &[0.2], &mut data, 2).unwrap();
    }
}

/// Several tilings of a program in one object: each computes what the interpreter does, whatever the strategy, also with
/// series, several fields, and sizes that may be left out.
#[test]
fn tilings_in_one_object_are_themselves() {
    for (stencil, size, tiles) in [
        ("heat2d", &[61, 77][..], &["st=3,s0=5,s1=20", "st=7,s0=9,s1=0", "st=4,s0=12,s1=32,f=2"][..]),
        ("fdtd2d_driven", &[33, 41], &["st=4,s0=9,s1=16", "st=8,s0=12,s1=0"]),
    ] {
        let program = Arc::new(polyhedral::shipped::load(stencil).unwrap());
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let own = |strategy: &'static dyn strategy::Strategy, tile: &TileSizes| {
            strategy::plan(strategy, &program, &cone, tile).unwrap()
        };
        let tile = |text: &&str| own(strategy::preferred(), &TileSizes::parse(text).unwrap());
        let baseline = strategy::baseline();
        let whole = baseline.default_tile(&program, &cone, strategy::Target::OpenMp);
        let plans: Vec<_> = tiles.iter().map(tile).chain([own(baseline, &whole)]).collect();
        let tiled = execution::tiled::load_all(&plans, false).unwrap();
        assert_eq!(tiled.len(), plans.len());
        let steps = 13;
        let parameters = default_parameters(&program);
        let mut start = ProgramData::zeroed(&program, size).unwrap();
        initial::fill_random(&program, &mut start, 5).unwrap();
        initial::fill_series(&program, &mut start, steps, 5).unwrap();
        let mut expected = start.try_clone().unwrap();
        reference::run(&program, &parameters, &mut expected, steps, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        for (plan, tiled) in plans.iter().zip(&tiled) {
            let mut data = start.try_clone().unwrap();
            tiled.native.run(&program, &parameters, &mut data, steps).unwrap();
            let found = compare(&program, &data, &expected, steps);
            assert_eq!(found.mismatches, 0, "{stencil} {} {}: {:?}", plan.strategy, plan.tile, found.first);
        }
    }
}

/// Rows whose farther neighbours are shifted out of whole vectors (where the processor has such vectors): at all lengths around one, two
/// and more vectors, each point has the interpreter's value.
#[test]
fn shifted_neighbours_are_those_that_are_loaded() {
    for (stencil, outer, element) in [
        ("star2d2r", &[21][..], ElementType::F32),
        ("star2d2r", &[21], ElementType::F64),
        ("star2d4r", &[23], ElementType::F32),
        ("star3d2r", &[11, 9], ElementType::F64),
    ] {
        let program = polyhedral::shipped::load(stencil).unwrap().with_element_type(element);
        let program = Arc::new(program);
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let baseline = strategy::baseline();
        let whole = baseline.default_tile(&program, &cone, strategy::Target::OpenMp);
        let plan = strategy::plan(baseline, &program, &cone, &whole).unwrap();
        let tiled = execution::tiled::load_all(std::slice::from_ref(&plan), false).unwrap();
        let (steps, parameters) = (3, default_parameters(&program));
        for length in 5..90 {
            let size = [outer, &[length]].concat();
            let layout = if length % 2 == 0 {
                Layout::dense(&program, &size)
            } else {
                Layout::padded(&program, &size)
            };
            let mut data = initial::random(&program, layout.unwrap(), steps, length as u64).unwrap();
            let mut expected = data.try_clone().unwrap();
            reference::run(&program, &parameters, &mut expected, steps, &mut |_| ControlFlow::Continue(()))
                .unwrap();
            tiled[0].native.run(&program, &parameters, &mut data, steps).unwrap();
            let found = compare(&program, &data, &expected, steps);
            assert_eq!(found.mismatches, 0, "{stencil} {element:?} {size:?}: {:?}", found.first);
        }
    }
}

/// Two numbers for each step are kept of a witness, which may be more than its field has points; the rows of the others are what they are
/// without it, in each strategy.
#[test]
fn witnesses_have_room_for_all_steps() {
    let text = "stencil seen(t, i) { field u: f64; field w: f64; \
        u[t+1, i] = 0.25 * (u[t, i-1] + 2.0 * u[t, i] + u[t, i+1]); \
        w[t+1, i] = w[t, i] + (u[t, i] > 0.5 ? 1.0 : 0.0); }";
    let program = Arc::new(polyhedral::parse("seen", text).unwrap());
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let own = |strategy: &'static dyn strategy::Strategy| {
        let tile = strategy.default_tile(&program, &cone, strategy::Target::OpenMp);
        strategy::plan(strategy, &program, &cone, &tile).unwrap().with_witnesses(&[1])
    };
    let strategies = ["hhc", "diamond", "time-skewing", "naive"].map(|name| strategy::by_name(name).unwrap());
    let plans: Vec<_> = strategies.into_iter().map(own).collect();
    let (steps, parameters) = (5000, default_parameters(&program));
    for brief in [false, true] {
        let tiled = execution::tiled::load_side_by_side(&plans, brief, &|_| ()).unwrap();
        for (plan, tiled) in plans.iter().zip(&tiled) {
            assert_eq!(plan.witnesses, [1], "{}", plan.strategy);
            let mut data =
                initial::random(&program, Layout::dense(&program, &[40]).unwrap(), steps, 3).unwrap();
            assert!(data.lengths()[1] < 2 * steps as usize);
            tiled.native.run(&program, &parameters, &mut data, steps).unwrap();
            assert_eq!(data.lengths()[1], 2 * steps as usize, "{}", plan.strategy);
        }
    }
    let forms = |plan| hhc_codegen::backend::openmp::row_forms(std::slice::from_ref(plan));
    for plan in &plans {
        // No point of the witness may be computed twice, each of the other one may.
        assert_eq!(forms(plan).into_iter().collect::<Vec<_>>(), [(vec![0], false), (vec![1], true)]);
    }
}
