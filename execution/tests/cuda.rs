//! NVRTC on hand-written and generated text, and kernels on a device where there is one. Without NVRTC its tests
//! are skipped, except under `CI=true`.

use execution::compare::compare;
use execution::cuda::CudaProgramOnDevice;
use execution::device_program::DeviceProgram;
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::reference::{self, default_parameters};
use hhc_codegen::backend::cuda;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes, pipeline};
use polyhedral::program::ElementType;
use rayon::prelude::*;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use toolchain::Error;
use toolchain::cache::Cache;
use toolchain::driver::{Device, is_available};
use toolchain::nvrtc::{CudaOptions, Nvrtc};

static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda-cache")).unwrap());

const ARCHITECTURES: [u32; 3] = [70, 80, 90];

const TEXT: &str = r#"
extern "C" __global__ void __launch_bounds__(128) first(const float *from, float *to) {
    extern __shared__ float tile[];
    __shared__ float fixed[36];
    tile[threadIdx.x] = from[threadIdx.x];
    fixed[threadIdx.x % 36] = 1.0f;
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x ^ 1] + fixed[threadIdx.x % 35];
}
extern "C" __global__ void second(float *to) {
    int unused;
    to[threadIdx.x] = to[threadIdx.x] * 2.0f + 1.0f;
}
#ifndef TW_DEVICE_ONLY
#include <stdio.h>
#endif
"#;

/// The compiler for this architecture; `None`, with a word about it, where the test is skipped.
fn nvrtc(architecture: u32) -> Option<&'static Nvrtc> {
    match Nvrtc::for_architecture(architecture) {
        Ok(nvrtc) => Some(nvrtc),
        Err(error) if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("{error}"),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

#[test]
fn machine_code_and_the_compilers_own_figures() {
    for architecture in ARCHITECTURES {
        let Some(nvrtc) = nvrtc(architecture) else { return };
        let compiled = nvrtc.compile(TEXT, "text.cu", &CudaOptions::new(architecture), &CACHE).unwrap();
        assert!(compiled.cubin.starts_with(b"\x7fELF"));
        assert!(compiled.ptx.contains(&format!(".target sm_{architecture}")), "{}", compiled.ptx);
        let names: Vec<&str> = compiled.kernels.iter().map(|kernel| kernel.kernel.as_str()).collect();
        assert!(names.contains(&"first") && names.contains(&"second") && names.len() == 2, "{names:?}");
        let first = compiled.kernels.iter().find(|kernel| kernel.kernel == "first").unwrap();
        assert!((4..=64).contains(&first.registers), "{first:?}");
        assert_eq!((first.static_shared_bytes, first.spill_bytes, first.local_bytes), (144, 0, 0));
        assert_eq!(first.max_threads, 1024);
        // The text is warned about; deprecation of the architecture is not the text's fault.
        assert_eq!(compiled.warnings.len(), 1, "{:?}", compiled.warnings);
        assert!(compiled.warnings[0].starts_with("text.cu(") && compiled.warnings[0].contains("unused"));
        let again = nvrtc.compile(TEXT, "text.cu", &CudaOptions::new(architecture), &CACHE).unwrap();
        assert!(again.from_cache);
    }
}

/// `warp.cuh` and the kernels that use it, which the emulator runs, are CUDA.
#[test]
fn warps_of_their_own_are_cuda_text() {
    let kernels = [
        ("collectives", include_str!("emulator_warps/collectives.cuh")),
        ("links", include_str!("emulator_warps/links.cuh")),
        ("junk", include_str!("emulator_warps/junk.cuh")),
        ("vectors", include_str!("emulator_warps/vectors.cuh")),
    ];
    let mut text = include_str!("../../templates/cuda/warp.cuh").to_owned();
    for (name, kernel) in kernels {
        text.push_str(&kernel.replace("hand_step_u", name));
    }
    for architecture in ARCHITECTURES {
        let Some(nvrtc) = nvrtc(architecture) else { return };
        let compiled = nvrtc.compile(&text, "warp.cu", &CudaOptions::new(architecture), &CACHE).unwrap();
        assert_eq!(compiled.warnings, Vec::<String>::new());
        assert_eq!(compiled.kernels.len(), kernels.len());
        assert_eq!(compiled.ptx.contains("cp.async.cg.shared.global"), architecture >= 80);
        for instruction in
            ["ld.shared.v4.f32", "st.global.v4.f32", "bar.warp.sync", "membar.cta", "shfl.sync.up"]
        {
            assert!(compiled.ptx.contains(instruction), "{instruction}");
        }
    }
}

#[test]
fn contraction_is_off_until_asked_for() {
    let Some(nvrtc) = nvrtc(80) else { return };
    let compile = |contraction| {
        let options = CudaOptions { contraction, ..CudaOptions::new(80) };
        nvrtc.compile(TEXT, "text.cu", &options, &CACHE).unwrap().ptx
    };
    let fused = |ptx: &str| ptx.contains("fma.rn.f32");
    assert!(!fused(&compile(false)) && fused(&compile(true)));
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let Some(nvrtc) = nvrtc(80) else { return };
    let text = "extern \"C\" __global__ void k(float *to) {\n    to[0] = missing;\n}\n";
    let error = nvrtc.compile(text, "text.cu", &CudaOptions::new(80), &CACHE).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("text.cu(2): error") && message.contains("--gpu-architecture=sm_80"),
        "{message}"
    );
}

#[test]
fn an_unknown_device_has_no_compiler() {
    let error = Nvrtc::for_architecture(10).unwrap_err();
    assert!(matches!(error, Error::NoNvrtc { architecture: 10, .. }));
    let message = error.to_string();
    assert!(message.contains("compute capability 1.0") && message.contains("get-nvrtc.sh"), "{message}");
    assert!(Nvrtc::open(Path::new("/nowhere/libnvrtc.so")).is_err());
}

#[test]
fn an_old_driver_gets_an_old_compiler() {
    if nvrtc(70).is_none() || nvrtc(90).is_none() {
        return;
    }
    let nvrtc = Nvrtc::for_driver(90, 12);
    assert!(nvrtc.is_err() || nvrtc.unwrap().version().starts_with("12."));
    assert!(Nvrtc::for_driver(90, 9).is_err());
}

fn generated(name: &str, strategy: &str) -> (KernelPlan, DeviceProgram) {
    generated_as(name, strategy, None)
}

fn generated_as(name: &str, strategy: &str, element: Option<ElementType>) -> (KernelPlan, DeviceProgram) {
    generated_with(name, strategy, element, &TileSizes::default())
}

fn generated_with(
    name: &str,
    strategy: &str,
    element: Option<ElementType>,
    tile: &TileSizes,
) -> (KernelPlan, DeviceProgram) {
    let mut program = polyhedral::shipped::load(name).unwrap();
    if let Some(element) = element {
        program = program.with_element_type(element);
    }
    let program = Arc::new(program);
    let strategy = strategy::by_name(strategy).unwrap();
    let plan = pipeline::plan(&program, strategy, tile, Target::Cuda).unwrap().plan;
    let device = DeviceProgram::from(&cuda::generate(&plan, &cuda::CudaOptions::default()).unwrap());
    (plan, device)
}

/// The strategies whose kernels for a stencil are looked at: those that a choice for any target considers and that were measured, and,
/// for a few stencils, all that take it.
fn strategies_of(name: &str) -> Vec<&'static str> {
    let program = polyhedral::shipped::load(name).unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let few = ["heat1d", "heat2d", "varcoef2d", "heat3d"].contains(&name);
    let takes = |strategy: &&&dyn strategy::Strategy| {
        strategy.takes(&program, &cone).and_then(|()| strategy.for_target(&program, Target::Cuda)).is_ok()
    };
    let taken = strategy::all().iter().filter(takes);
    let everywhere = |strategy: &dyn strategy::Strategy| {
        let taken = |target: Target| strategy.in_auto(target) && strategy.is_measured_on(target);
        [Target::OpenMp, Target::Cuda].into_iter().all(taken)
    };
    taken.filter(|&&strategy| few || everywhere(strategy)).map(|strategy| strategy.id()).collect()
}

/// Every kernel of every shipped stencil with its default tile: no warning, no byte in local memory, and blocks that
/// the registers allow. What the command prefers, in f32 for the oldest architecture, whose compiler is the first to spill,
/// for every twelfth stencil; and each strategy, for every 24th one, in turn in f64 or for one of the others. With
/// `TILEWRIGHT_ALL=1`, as in `make test-long`, all of them for each.
#[test]
fn no_shipped_kernel_is_warned_about_or_spills() {
    if ARCHITECTURES.into_iter().any(|architecture| nvrtc(architecture).is_none()) {
        return;
    }
    let all = std::env::var_os("TILEWRIGHT_ALL").is_some();
    let problems: Vec<String> = polyhedral::shipped::names()
        .into_par_iter()
        .flat_map_iter(|name| strategies_of(name).into_iter().map(move |strategy| (name, strategy)))
        .flat_map_iter(|(name, strategy)| {
            let others = [(ElementType::F64, 70), (ElementType::F32, 80), (ElementType::F32, 90)]
                .into_iter()
                .enumerate();
            let turn = (name.len() + strategy.len()) % 3;
            let letters = name.bytes().map(usize::from).sum::<usize>() + strategy.len();
            let in_turn = move |number: usize| number == turn && letters.is_multiple_of(24);
            let others = others.filter(move |(number, _)| in_turn(*number) || all).map(|(_, other)| other);
            let preferred = strategy == strategy::preferred().id() && letters.is_multiple_of(12);
            let first = (preferred || all).then_some((ElementType::F32, 70));
            let mine: Vec<_> = first.into_iter().chain(others).collect();
            let team = ["warp-pipeline", "streaming"].contains(&strategy);
            let spills = move |architecture: u32| team && architecture < 80;
            let mine = mine.into_iter().filter(move |(_, architecture)| !spills(*architecture));
            mine.into_iter().map(move |(element, architecture)| (name, strategy, element, architecture))
        })
        .flat_map_iter(|(name, strategy, element, architecture)| {
            let (_, device) = generated_as(name, strategy, Some(element));
            let problems = problems_of(name, &device, architecture).into_iter();
            problems.map(move |problem| format!("{name} {strategy} {element:?} sm_{architecture}: {problem}"))
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Storages in the registers of lanes stay in registers: no local memory, in either type.
#[test]
fn registers_of_lanes_are_registers() {
    if ARCHITECTURES.into_iter().any(|architecture| nvrtc(architecture).is_none()) {
        return;
    }
    let tile = TileSizes::parse("rows=16,columns=20").unwrap();
    for (name, element, architecture) in [
        ("heat2d", ElementType::F64, 70),
        ("box2d2r", ElementType::F32, 80),
        ("heat2d", ElementType::F32, 90),
    ] {
        let (_, device) = generated_with(name, "pipeline-toy", Some(element), &tile);
        assert!(device.source.contains("tw_cell(ring0, "), "{name}");
        let problems = problems_of(name, &device, architecture);
        assert!(problems.is_empty(), "{name} {element:?} sm_{architecture}: {}", problems.join("\n"));
    }
}

/// Teams of warps have rows that fill their registers, and do not spill at their own sizes: with `TILEWRIGHT_ALL=1` of all
/// shapes. For sm_70 some do, but not star3d1r in f32.
#[test]
fn teams_of_warps_fit_in_registers() {
    if ARCHITECTURES.into_iter().any(|architecture| nvrtc(architecture).is_none()) {
        return;
    }
    let all = std::env::var_os("TILEWRIGHT_ALL").is_some();
    let shapes = [
        ("star2d2r", ElementType::F32),
        ("star3d1r", ElementType::F32),
        ("star2d1r", ElementType::F64),
        ("star2d1r", ElementType::F32),
        ("box2d1r", ElementType::F32),
        ("box2d1r", ElementType::F64),
        ("star2d2r", ElementType::F64),
        ("gradient2d", ElementType::F32),
        ("box2d3r", ElementType::F32),
        ("varcoef2d", ElementType::F64),
        ("star3d1r", ElementType::F64),
        ("star3d2r", ElementType::F32),
        ("star3d2r", ElementType::F64),
        ("box3d1r", ElementType::F32),
        ("box3d1r", ElementType::F64),
        ("varcoef3d", ElementType::F32),
        ("varcoef3d", ElementType::F64),
        ("box3d2r", ElementType::F32),
        ("box3d2r", ElementType::F64),
    ];
    let mut problems = Vec::new();
    for (number, (name, element)) in shapes.into_iter().enumerate() {
        let strategy = if name.contains("3d") { "streaming" } else { "warp-pipeline" };
        let oldest = (name, element) == ("star3d1r", ElementType::F32);
        for architecture in [90, 80, 70] {
            let of_all = architecture >= 80 && all;
            if of_all || (number == 0 && architecture == 90) || (oldest && architecture == 70) {
                let (_, device) = generated_as(name, strategy, Some(element));
                let found = problems_of(name, &device, architecture).into_iter();
                problems.extend(found.map(|what| format!("{name} {element:?} sm_{architecture}: {what}")));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The check can fail: a kernel that may keep only 32 registers spills, and one that declares a variable
/// for nothing is warned about.
#[test]
fn spills_and_warnings_are_problems() {
    if ARCHITECTURES.into_iter().any(|architecture| nvrtc(architecture).is_none()) {
        return;
    }
    let (_, device) = generated("heat2d", "hhc");
    let line = "const bool full = ";
    assert_eq!(device.source.matches(line).count(), 1);
    let unused = DeviceProgram {
        source: device.source.replace(line, &format!("const int nobody_reads_this = 0;\n        {line}")),
        ..device.clone()
    };
    let found = problems_of("heat2d", &unused, 80).join("\n");
    assert!(found.contains("nobody_reads_this"), "{found}");
    // Room for eight blocks leaves 32 registers.
    let (bounds, tight) = ("__launch_bounds__(256, 3)", "__launch_bounds__(256, 8)");
    assert!(device.source.contains(bounds));
    let crowded = DeviceProgram { source: device.source.replace(bounds, tight), ..device };
    let found = problems_of("heat2d", &crowded, 80).join("\n");
    assert!(found.contains("spill_bytes"), "{found}");
}

/// What the compiler for this architecture finds wrong with a text.
fn problems_of(name: &str, device: &DeviceProgram, architecture: u32) -> Vec<String> {
    let nvrtc = Nvrtc::for_architecture(architecture).unwrap();
    let options = CudaOptions::new(architecture);
    let compiled = match nvrtc.compile(&device.source, &format!("{name}.cu"), &options, &CACHE) {
        Ok(compiled) => compiled,
        Err(error) => return vec![error.to_string()],
    };
    let mut problems = compiled.warnings.clone();
    for kernel in &device.kernels {
        match compiled.kernels.iter().find(|figures| figures.kernel == kernel.symbol) {
            None => problems.push(format!("no figures of {}", kernel.symbol)),
            Some(figures) => {
                let fits = u64::from(figures.max_threads) >= kernel.threads_per_block();
                if !fits || figures.spill_bytes > 0 || figures.local_bytes > 0 {
                    problems.push(format!("{figures:?}"));
                }
            }
        }
    }
    problems
}

/// Without a device: one clear line, and no panic. With one: the results are those of the reference.
#[test]
fn a_device_agrees_with_the_reference() {
    let facts = match is_available() {
        Ok(facts) => facts,
        Err(error) => {
            assert!(matches!(error, Error::NoDevice(_)), "{error}");
            assert!(!error.to_string().contains('\n'));
            assert!(Device::open(0).is_err());
            eprintln!("SKIPPED: {error}");
            return;
        }
    };
    println!("{facts:?}");
    let device = Device::open(0).unwrap();
    println!("{:?}", device.measure_copy(5).unwrap());
    let of_heat = strategies_of("heat2d").into_iter().map(|strategy| ("heat2d", strategy));
    for (name, strategy) in of_heat.chain([("heat3d", "hhc"), ("heat3d", "overlapped"), ("wave2d", "hhc")]) {
        let (plan, text) = generated(name, strategy);
        let program = &plan.program;
        let size: Vec<i64> = [131, 97, 67][..program.dimension()].to_vec();
        let mut data = ProgramData::zeroed_with(program, Layout::padded(program, &size).unwrap()).unwrap();
        execution::initial::fill_random(program, &mut data, 3).unwrap();
        let mut expected = data.try_clone().unwrap();
        let parameters = default_parameters(program);
        reference::run_quietly(program, &parameters, &mut expected, 9).unwrap();
        let loaded = CudaProgramOnDevice::load(&device, &plan, &text, false, &CACHE).unwrap();
        let mut on_device = loaded.upload(&mut data).unwrap();
        let run = loaded.run(&parameters, &mut on_device, 9).unwrap();
        loaded.download(&on_device, &mut data).unwrap();
        assert!(run.seconds > 0.0 && run.launches > 0);
        assert_eq!(compare(program, &expected, &data, 9).mismatches, 0, "{name} {strategy}");
    }
}
