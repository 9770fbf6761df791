//! `inspect`: what machine code issues. Without NVRTC or nvdisasm the counts are not checked, and a line says so.

use crate::events::{self, Events};
use crate::support::{everything, tilewright};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes, pipeline};
use polyhedral::program::ElementType;
use serde_json::Value;
use toolchain::disassembler::Disassembler;
use toolchain::nvrtc::Nvrtc;

/// Whether code for this compute capability can be counted here.
pub fn can_count(architecture: u32) -> bool {
    let missing = match (Nvrtc::for_architecture(architecture), Disassembler::find()) {
        (Err(error), _) | (_, Err(error)) => error,
        _ => return true,
    };
    println!("SKIPPED: {missing}");
    false
}

fn counted(words: &str) -> Value {
    let words: Vec<&str> =
        ["inspect"].into_iter().chain(words.split_whitespace()).chain(["--json"]).collect();
    tilewright(&words).succeeded().json()
}

fn number(document: &Value, path: &str) -> f64 {
    let found = path.split('.').fold(document, |value, key| &value[key]);
    found.as_f64().unwrap_or_else(|| panic!("no number `{path}` in {document:#}"))
}

#[track_caller]
fn close(found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= share * expected.abs(), "{found} instead of {expected}");
}

/// Operations and bytes of a whole run are those of the plan's own rows and windows, by another road than the machine code's: all
/// blocks, those that the grid and the run cut, too.
#[test]
fn counts_agree_with_the_plan() {
    if !can_count(90) {
        return;
    }
    for (name, tile, size, steps, operations) in [
        ("star2d1r", "st=6,s0=16,s1=128", "300x900", 26, 6.0),
        ("heat2d", "st=3,s0=10,s1=64", "300x1300", 20, 9.0),
        // What the compiler makes of a product by a constant is its own.
        ("wave2d", "st=4,s0=8,s1=128", "290x1100", 19, 0.0),
        ("star3d1r", "st=2,s0=3,s1=16,s2=32", "30x50x130", 9, 8.0),
    ] {
        // NVRTC takes seconds for each.
        if ["heat2d", "wave2d"].contains(&name) && !everything() {
            continue;
        }
        let found =
            counted(&format!("{name} --sm 90 --size {size} --steps {steps} --strategy hhc --tile {tile}"));
        let events = events::of_windows(&planned(name, "hhc", tile), &extents(size), steps);
        agree(&found, &events, points(name, size, steps), operations);
        assert_eq!(number(&found, "spill_bytes"), 0.0);
    }
}

/// That a count is that of a plan, within a thousandth.
fn agree(found: &Value, events: &Events, points: f64, operations: f64) {
    assert_eq!(number(found, "covered"), 1.0);
    if operations > 0.0 {
        close(number(found, "per_point.operations"), operations * events.points as f64 / points, 1e-3);
    }
    let bytes = (events.loaded_bytes + events.stored_bytes) as f64;
    close(number(found, "per_point.global_bytes"), bytes / points, 1e-3);
}

fn planned(name: &str, strategy: &str, tile: &str) -> KernelPlan {
    let program = std::sync::Arc::new(polyhedral::shipped::load(name).unwrap());
    let sizes = TileSizes::parse(tile).unwrap();
    pipeline::plan(&program, strategy::by_name(strategy).unwrap(), &sizes, Target::Cuda).unwrap().plan
}

fn extents(size: &str) -> Vec<i64> {
    size.split('x').map(|extent| extent.parse().unwrap()).collect()
}

/// Grid points times time steps.
fn points(name: &str, size: &str, steps: i64) -> f64 {
    let program = polyhedral::shipped::load(name).unwrap();
    hhc_codegen::plan_counts::points_per_step(&program, &extents(size)) as f64 * steps as f64
}

/// Every point is stored once, and what a thread's points read that it computes at once is loaded once. Each stencil in turn for
/// one architecture, or for both.
#[test]
fn sweeps_move_what_their_statements_read_and_write() {
    for architecture in [80, 90].into_iter().filter(|&architecture| can_count(architecture)) {
        for (name, tile, size, operations) in
            [("star2d1r", "s0=32,s1=64", "1000x777", 6.0), ("star3d1r", "s0=16,s1=8,s2=32", "60x70x80", 8.0)]
        {
            if (architecture == 80) != (name == "star2d1r") && !everything() {
                continue;
            }
            let found = counted(&format!(
                "{name} --sm {architecture} --size {size} --steps 5 --strategy naive --tile {tile}"
            ));
            let events = events::of_sweeps(&planned(name, "naive", tile), &extents(size), 5);
            agree(&found, &events, points(name, size, 5), operations);
            assert_eq!(number(&found, "launches"), 5.0);
            // Each value is read once and written once, in whole sectors at the ends of rows.
            let memory = number(&found, "per_point.memory_bytes");
            assert!((8.0..9.5).contains(&memory), "{memory}");
        }
    }
}

/// What a change of the generated code may cost before somebody looks: ceilings over instructions per point and step, over
/// 64-bit products, and over what the slowest block issues; no loop divides integers. One stencil of each strategy, in turn for one architecture or the
/// other; with `TILEWRIGHT_ALL=1`, as in `make test-long`, all for both.
#[test]
fn generated_code_stays_as_short_as_it_is() {
    let (plane, space) = ("16384x16384", "512x512x512");
    for architecture in [80, 90].into_iter().filter(|&architecture| can_count(architecture)) {
        let all = [
            ("star2d1r", "hhc", plane, 14.9, 0.02, 1.55),
            ("heat2d", "hhc", plane, 18.0, 0.02, 1.55),
            ("box2d1r", "hhc", plane, 19.5, 0.02, 1.55),
            ("star2d2r", "hhc", plane, 22.2, 0.02, 1.55),
            ("star3d1r", "hhc", space, 40.0, 0.02, 1.87),
            ("star3d1r", "naive", space, 40.0, 0.0, 1.2),
            ("star3d1r", "streaming", space, 14.3, 0.02, 1.15),
            ("box2d1r", "naive", plane, 32.0, 0.0, 1.3),
        ];
        for (turn, (name, strategy, size, most, wide, uneven)) in all.into_iter().enumerate() {
            // The proof of streams takes seconds.
            let in_turn = (architecture == 90) == turn.is_multiple_of(2);
            let both = everything() && strategy != "streaming";
            let others = ["heat2d", "star2d2r"].contains(&name)
                || [("box2d1r", "hhc"), ("star3d1r", "hhc")].contains(&(name, strategy));
            if (!in_turn && !both) || (others && !everything()) {
                continue;
            }
            // The strategy's own sizes, given: so that NVRTC is not asked about them for architectures that nobody looks at.
            let program = polyhedral::shipped::load(name).unwrap().with_element_type(ElementType::F32);
            let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
            let own = strategy::by_name(strategy).unwrap();
            let tile = own.default_tile(&program, &cone, Target::Cuda);
            // Planes for 132 multiprocessors.
            let (tile, steps) = match strategy {
                "streaming" => (tile.with("planes", 171), 1000),
                _ => (tile, 240),
            };
            let found = counted(&format!(
                "{name} --target cuda --sm {architecture} --size {size} --steps {steps} --dtype f32 --strategy {strategy} --tile {tile}"
            ));
            let what = format!("{name} {strategy} sm_{architecture}");
            let at_most = |path: &str, most: f64| {
                let value = number(&found, path);
                assert!(value <= most, "{what}: {path} is {value}, more than {most}");
                value
            };
            close(number(&found, "covered"), 1.0, 1e-6);
            let steady = at_most("steady.instructions", most);
            at_most("steady.wide_multiplies", wide);
            at_most("steady.divisions", 0.0);
            at_most("imbalance", uneven);
            at_most("per_point.bank_conflict_factor", 1.001);
            if strategy == "streaming" {
                // Points are computed at most 1.47 times, with 8 operations each.
                at_most("per_point.operations", 1.47 * 8.0);
                at_most("per_point.shared_bytes", 7.0);
                // Besides arithmetic, in the steady state and in all.
                let others = |of: &str| {
                    number(&found, &format!("{of}.instructions"))
                        - number(&found, &format!("{of}.kinds.fp32"))
                };
                let (own, whole) = (others("steady"), others("per_point"));
                assert!(own <= 4.1 && whole <= 4.8, "{what}: {own:.2} and {whole:.2} besides arithmetic");
                // Streams that fill, and bands of fewer steps.
                at_most("per_point.instructions", 1.15 * steady);
                let waves = number(&found, "waves");
                assert!(architecture != 90 || waves >= 0.9 * waves.ceil(), "{what}: {waves} waves");
            }
            assert_eq!(number(&found, "spill_bytes"), 0.0, "{what}");
            let kinds: f64 = found["steady"]["kinds"]
                .as_object()
                .unwrap()
                .values()
                .map(|kind| kind.as_f64().unwrap())
                .sum();
            close(kinds, steady, 1e-9);
            println!("{what}: {steady:.2} steady, {:.2} in all", number(&found, "per_point.instructions"));
        }
    }
}

/// The same for pipelines of warps: what is issued besides arithmetic in the steady state, over one pipeline and in all, how often
/// a point is computed, and bytes of shared memory.
#[test]
fn pipelines_of_warps_do_little_but_arithmetic() {
    if !can_count(90) {
        return;
    }
    let all = [
        ("star2d1r", "f32", "rpl=12,steps=3,warps=4,rows=964", 6.0, 1.7, 1.12, 3.8),
        ("star2d1r", "f64", "rpl=8,steps=3,warps=4,rows=964", 6.0, 3.5, 1.16, 8.0),
        ("box2d1r", "f32", "rpl=8,steps=4,warps=4,rows=1490", 10.0, 2.4, 1.19, 4.0),
        ("box2d1r", "f64", "rpl=8,steps=3,warps=4,rows=964", 10.0, 4.3, 1.16, 8.0),
        ("star2d2r", "f32", "rpl=8,steps=2,warps=4,rows=1024", 11.0, 3.2, 1.19, 6.0),
        ("star2d2r", "f64", "rpl=8,steps=2,warps=4,rows=2341", 11.0, 5.9, 1.19, 12.0),
        ("wave2d", "f32", "rpl=12,steps=3,warps=4,rows=964", 9.0, 2.5, 1.12, 7.5),
        ("wave2d", "f64", "rpl=8,steps=3,warps=4,rows=964", 9.0, 5.0, 1.16, 15.5),
        ("fdtd2d", "f32", "rpl=8,steps=2,warps=4,rows=964", 11.0, 10.5, 1.12, 17.0),
    ];
    for (name, element, tile, arithmetic, most, redundancy, bytes) in all {
        // The proof of a team takes seconds.
        if (name, element) != ("star2d1r", "f32") && !everything() {
            continue;
        }
        let found = counted(&format!(
            "{name} --target cuda --sm 90 --size 16384x16384 --steps 1000 --dtype {element} --strategy warp-pipeline --tile {tile}"
        ));
        let of_team = &found["kernels"][0]["steady"];
        let fp = number(of_team, "kinds.fp32") + number(of_team, "kinds.fp64");
        let (steady, shared) = (number(of_team, "instructions"), number(of_team, "shared_bytes"));
        let whole = number(&found, "per_point.instructions");
        println!(
            "{name} {element}: {steady:.2} steady, {fp:.2} of them arithmetic, {shared:.2} bytes, {whole:.2} in all"
        );
        assert!(steady - fp <= most, "{name} {element}: {:.2} besides arithmetic", steady - fp);
        assert!(fp <= arithmetic * redundancy, "{name} {element}: {fp:.2} for {arithmetic}");
        assert!(shared <= bytes, "{name} {element}: {shared:.2} bytes of shared memory");
        assert!(whole <= 1.15 * steady, "{name} {element}: {whole:.2} in all, {steady:.2} steady");
        assert!(number(&found, "per_point.bank_conflict_factor") < 1.001, "{name} {element}");
        // Where rows are goes on from position to position, but for several fields, which would need registers for that; in bands of one
        // step, too, which run at the end of a run.
        let of_short = if element == "f64" || name == "star2d2r" { 0.03 } else { 0.02 };
        let of_long = if name == "fdtd2d" { 0.17 } else { 0.005 };
        for (own, most) in [(of_team, of_long), (&found["kernels"][1]["steady"], of_short)] {
            let wide = number(own, "wide_multiplies");
            assert!(wide <= most, "{name} {element}: {wide} products of 64 bits");
        }
        assert_eq!(number(&found, "spill_bytes"), 0.0, "{name} {element}");
    }
}

/// What is contracted is one instruction in place of two, and changes nothing else: arithmetic of 5 instructions, of 9 for a box and for a
/// star of radius 2, and as much besides it as before.
#[test]
fn contracted_code_has_fewer_instructions() {
    if !can_count(90) {
        return;
    }
    for (name, tile, arithmetic, most, redundancy) in [
        ("star2d1r", "rpl=12,steps=3,warps=4,rows=964", 5.0, 1.7, 1.12),
        ("box2d1r", "rpl=8,steps=4,warps=4,rows=1490", 9.0, 2.4, 1.19),
        ("star2d2r", "rpl=8,steps=2,warps=4,rows=964", 9.0, 4.2, 1.2),
    ] {
        if name != "star2d1r" && !everything() {
            continue;
        }
        let found = counted(&format!(
            "{name} --contract --sm 90 --size 16384x16384 --steps 1000 --dtype f32 --strategy warp-pipeline --tile {tile}"
        ));
        let of_team = &found["kernels"][0]["steady"];
        let (steady, fp) = (number(of_team, "instructions"), number(of_team, "kinds.fp32"));
        assert!(steady - fp <= most, "{name}: {:.2} besides arithmetic", steady - fp);
        assert!(fp >= arithmetic && fp <= arithmetic * redundancy, "{name}: {fp:.2} for {arithmetic}");
        assert_eq!(number(&found, "spill_bytes"), 0.0, "{name}");
        assert!(
            found["arithmetic"]["contract"] == true && number(&found, "arithmetic.error_bound") > 0.0,
            "{name}"
        );
    }
}

/// Rows whose points are too many for code of their own find a line by products of 32 bits, and go on from point to point by sums.
#[test]
fn looped_rows_multiply_no_strides() {
    if !can_count(90) {
        return;
    }
    for (name, element, tile, most) in [
        ("gradient2d", "f32", "st=6,s0=6,s1=256", 49.6),
        ("star2d1r", "f64", "st=13,s0=20,s1=128", 21.6),
        ("star2d2r", "f32", "st=15,s0=4,s1=128", 26.9),
    ] {
        if name != "gradient2d" && !everything() {
            continue;
        }
        let found = counted(&format!(
            "{name} --machine h100 --size 16384x16384 --steps 240 --dtype {element} --strategy hhc --tile {tile}"
        ));
        let (wide, steady) =
            (number(&found, "steady.wide_multiplies"), number(&found, "steady.instructions"));
        println!("{name} {element}: {wide:.4} products of 64 bits, {steady:.2} instructions");
        assert!(wide <= 0.02, "{name} {element}: {wide} products of 64 bits");
        assert!(steady <= most, "{name} {element}: {steady} instructions");
        assert_eq!(number(&found, "spill_bytes"), 0.0, "{name} {element}");
    }
}

/// A thread's place goes on from sub-tile to sub-tile, whatever the sizes of tiles are.
#[test]
fn sub_tiles_multiply_nothing() {
    if !can_count(90) {
        return;
    }
    for (name, tile, size, most) in [
        // The registers of this one are filled to the last.
        ("star2d1r", "st=12,s0=10,s1=256", "16384x16384", 12.0),
        ("heat2d", "st=8,s0=14,s1=256", "16384x16384", 15.2),
        ("box2d1r", "st=8,s0=14,s1=256", "16384x16384", 16.4),
        ("heat2d", "st=8,s0=6,s1=96", "16384x16384", 18.3),
        ("star2d1r", "st=10,s0=17,s1=128", "16384x16384", 13.1),
        ("fdtd2d", "st=6,s0=16,s1=128", "16384x16384", 39.8),
        ("star3d2r", "st=1,s0=2,s1=16,s2=32", "512x512x512", 82.0),
        ("varcoef3d", "st=2,s0=2,s1=12,s2=32", "512x512x512", 58.1),
        ("box3d2r", "st=1,s0=2,s1=16,s2=32", "512x512x512", 310.0),
    ] {
        if tile != "st=12,s0=10,s1=256" && !everything() {
            continue;
        }
        let found = counted(&format!(
            "{name} --machine h100 --size {size} --steps 240 --dtype f32 --strategy hhc --tile {tile}"
        ));
        let (wide, steady) =
            (number(&found, "steady.wide_multiplies"), number(&found, "steady.instructions"));
        println!("{name}: {wide:.4} products of 64 bits, {steady:.2} instructions");
        assert!(wide <= 0.02, "{name}: {wide} products of 64 bits");
        assert!(steady <= most, "{name}: {steady} instructions");
        assert_eq!(number(&found, "spill_bytes"), 0.0, "{name}");
    }
}

/// Nor do they, whatever the stencil is, its type and the GPU, with the strategy's own sizes. One of them in turn; with
/// `TILEWRIGHT_ALL=1`, as in `make test-long`, all.
#[test]
fn no_stencil_multiplies_in_64_bits() {
    for architecture in [80, 90].into_iter().filter(|&architecture| can_count(architecture)) {
        for element in ["f32", "f64"] {
            for name in polyhedral::shipped::names() {
                let program = polyhedral::shipped::load(name).unwrap();
                // Rows in order are for another strategy.
                if name == "seidel2d"
                    || ((architecture, element, name) != (80, "f64", "heat1d") && !everything())
                {
                    continue;
                }
                let size = ["67108864", "16384x16384", "512x512x512"][program.dimension() - 1];
                let found = counted(&format!(
                    "{name} --sm {architecture} --size {size} --steps 240 --dtype {element} --strategy hhc"
                ));
                let (wide, steady) =
                    (number(&found, "steady.wide_multiplies"), number(&found, "steady.instructions"));
                println!(
                    "{name} {element} sm_{architecture} {}: {wide:.4} products of 64 bits, {steady:.2} instructions",
                    found["tile"]
                );
                assert!(wide <= 0.02, "{name} {element} sm_{architecture}: {wide} products of 64 bits");
                assert_eq!(number(&found, "steady.divisions"), 0.0, "{name} {element} sm_{architecture}");
                assert_eq!(number(&found, "spill_bytes"), 0.0, "{name} {element} sm_{architecture}");
            }
        }
    }
}

/// Divisions and roots have slow ways, which ordinary numbers do not go.
#[test]
fn branches_on_values_are_told() {
    if !can_count(90) {
        return;
    }
    let found = counted("gradient2d --sm 90 --size 500x500 --steps 4 --strategy naive");
    assert!(number(&found, "steady.branches_on_values") > 0.0);
    assert!(number(&found, "steady.kinds.special_function") >= 2.0);
    assert!(found["notes"].to_string().contains("depend on values"), "{}", found["notes"]);
}

#[test]
fn what_cannot_be_counted_is_told() {
    let fails = |words: &[&str], code: i32, part: &str| {
        let output =
            tilewright(&[&["inspect", "heat2d", "--size", "100x100", "--steps", "4"], words].concat());
        assert_eq!(output.code, code, "{}", output.stderr);
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    };
    fails(&["--target", "openmp"], 2, "--target cuda");
    fails(&["--machine", "h100", "--sm", "80"], 2, "has compute capability 90");
    fails(&["--machine", "zen4"], 1, "is a CPU");
    fails(&["--sm", "61"], 1, "compute capability 61");
    fails(&["--size", "100"], 2, "");
}
