//! Warps as stages in time whose steps read two levels: plans are proved, what they compute has the reference's bits in every pacing, and
//! mistakes are found.

use super::cuda_emulated::{everything, found_by_the_emulator, team};
use hhc_codegen::int_expr::{IntExpr, int, var};
use hhc_codegen::plan::{Kernel, KernelPlan};
use hhc_codegen::storage::{Axis, Place, Slot, Transfer};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{PlanError, TileSizes, pipeline, prove};
use polyhedral::program::{ElementType, Program};
use std::sync::Arc;

/// A wave whose speed is a field, with reads farther on one side than on the other.
const SLANTED: &str = "stencil slanted(t, i, j) {
    field u: f32;
    coefficient speed: f32;
    let beside = u[t, i-1, j+2] + u[t, i+2, j] + u[t, i, j-1];
    u[t+1, i, j] = 2 * u[t, i, j] - u[t-1, i, j] + speed[i, j+1] * (beside - 3 * u[t, i, j]);
}";

/// The level before decides what is computed, so that no lane computes junk.
const DECIDES: &str = "stencil decides(t, i, j) {
    field u: f32;
    u[t+1, i, j] = max(u[t-1, i, j], 0.25 * (u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1]));
}";

fn wave() -> Program {
    polyhedral::shipped::load("wave2d").unwrap()
}

fn plan_of(program: Program, tile: &str) -> KernelPlan {
    let program = Arc::new(program);
    let strategy = strategy::by_name("warp-pipeline").unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    strategy::plan(strategy, &program, &cone, &TileSizes::parse(tile).unwrap()).unwrap()
}

/// Several strips and chunks, grids narrower than a strip, and bands of all lengths: even and odd numbers of them, and last ones that end
/// early.
#[test]
fn two_levels_have_the_bits_of_the_reference() {
    let problems: [(&[i64], i64); 8] = [
        (&[17, 151], 9),
        (&[16, 152], 3),
        (&[11, 128], 1),
        (&[7, 65], 6),
        (&[23, 171], 2),
        (&[9, 40], 5),
        (&[18, 149], 8),
        (&[5, 6], 12),
    ];
    let parsed = |text: &str| polyhedral::parse("two levels", text).unwrap();
    let programs: [(Program, &str); 6] = [
        (wave(), "rpl=2,steps=2,warps=2,rows=5"),
        (parsed(SLANTED), "rpl=3,steps=2,warps=2,rows=5"),
        (wave().with_element_type(ElementType::F64), "rpl=4,steps=1,warps=3,rows=6"),
        (parsed(DECIDES), "rpl=2,steps=1,warps=2,rows=5"),
        (wave(), "rpl=2,steps=3,warps=1,rows=4"),
        (parsed(SLANTED), "rpl=2,steps=1,warps=1,rows=4"),
    ];
    for (number, (program, tile)) in programs.into_iter().enumerate() {
        if number < 2 || everything() {
            team(program, "warp-pipeline", tile, &problems);
        }
    }
}

#[test]
fn two_levels_are_proved() {
    for (number, text) in [SLANTED, DECIDES].into_iter().enumerate() {
        let program = Arc::new(polyhedral::parse("two levels", text).unwrap());
        let strategy = strategy::by_name("warp-pipeline").unwrap();
        let tile = TileSizes::parse(["rpl=3,steps=2,warps=2,rows=5", "rpl=2,steps=1,warps=2,rows=5"][number]);
        let planned = pipeline::plan(&program, strategy, &tile.unwrap(), Target::Cuda).unwrap();
        assert!(planned.plan.has_spare_slots());
        // u in four slots.
        let coefficients = 4 * (program.fields.len() as i64 - 1);
        assert_eq!(planned.plan.bytes_of_a_point(), 16 + coefficients);
    }
}

/// What is not proved is refused, with its reason.
#[test]
fn other_levels_are_refused() {
    let cases = [
        ("u[t, i, j-1] + u[t-1, i-1, j]", "", Target::Cuda, "needs one initial level and two stored ones"),
        ("u[t, i, j-1] + u[t-2, i, j]", "", Target::Cuda, "needs one initial level and two stored ones"),
        ("u[t, i, j-1] + u[t-1, i, j]", "", Target::OpenMp, "use --target cuda"),
        (
            "u[t, i, j-1] + u[t-1, i, j]",
            "boundary per_slot;",
            Target::Cuda,
            "a boundary that belongs to slots",
        ),
        ("u[t, i, j-1] + u[t-1, i, j]", "boundary periodic;", Target::Cuda, "wrap around"),
    ];
    for (value, boundary, target, reason) in cases {
        let text = format!("stencil other(t, i, j) {{ field u: f32; {boundary} u[t+1, i, j] = {value}; }}");
        let program = Arc::new(polyhedral::parse("other", &text).unwrap());
        let strategy = strategy::by_name("warp-pipeline").unwrap();
        match pipeline::plan(&program, strategy, &TileSizes::default(), target) {
            Err(PlanError::Refused { reason: found, .. }) => {
                assert!(found.contains(reason), "{text}: {found}")
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

type Change = fn(&mut Kernel);

fn moves<'a>(kernel: &'a mut Kernel, what: &str) -> &'a mut Transfer {
    let found = kernel.transfers.iter_mut().find(|transfer| transfer.comment == what);
    found.unwrap_or_else(|| panic!("{what}"))
}

/// A slot in the other pair.
fn other_pair(place: &mut Place) {
    let Place::Arrays(Slot::At(slot)) = place else { panic!("{place:?}") };
    *slot = (slot.clone() + 2).modulo(4);
}

fn one_less(numbers: &mut [IntExpr]) {
    let last = numbers.last_mut().unwrap();
    *last = last.clone() - 1;
}

/// Mistakes: the proof finds all of them, the emulator those that do harm.
#[test]
fn two_levels_with_mistakes() {
    let plan = plan_of(wave(), "rpl=2,steps=2,warps=2,rows=9");
    prove::prove(&plan, &[]).unwrap();
    let changes: [(&str, bool, Change); 10] = [
        ("a ghost column short", true, |kernel| {
            for what in ["the block's own points", "its own points, one level before"] {
                let columns = &mut moves(kernel, what).ranges[1];
                columns.high = columns.high.clone() + 5;
            }
        }),
        ("a ghost row short", true, |kernel| {
            let position = &mut kernel.sub_tiles[0];
            position.low = position.low.clone() + 2;
        }),
        ("a ring one slot short", true, |kernel| {
            let Axis::Ring { extent, .. } = &mut kernel.storages[0].axes[0] else { panic!() };
            *extent -= 1;
        }),
        ("written to the pair that is read", true, |kernel| {
            other_pair(&mut moves(kernel, "the block's own points").to);
        }),
        ("read from the pair of the band before", true, |kernel| {
            other_pair(&mut moves(kernel, "a row of u, one level before").from.place);
        }),
        ("a stale row of the level before", true, |kernel| {
            // What lanes do is said by the box of junk.
            let taken = moves(kernel, "the next row of the level before");
            for rows in taken.junk.iter_mut().chain([&mut taken.ranges]).map(|ranges| &mut ranges[0]) {
                (rows.low, rows.high) = (rows.low.clone() - 1, rows.high.clone() - 1);
            }
        }),
        ("a level before too old", true, |kernel| {
            let at = kernel.instances[0]
                .reads
                .iter()
                .position(|read| read.place.copy()[1].minus(&var("m")) == Some(0));
            let Place::Copy(_, numbers) = &mut kernel.instances[0].reads[at.unwrap()].place else { panic!() };
            one_less(numbers);
            numbers[1] = numbers[1].clone().max(int(0));
        }),
        ("the last level copied on in place of the one before", true, |kernel| {
            let Place::Copy(_, numbers) = &mut moves(kernel, "what the step leaves as it is").from.place
            else {
                panic!()
            };
            numbers[1] = numbers[1].clone() + 1;
        }),
        ("levels in each other's slots", true, |kernel| {
            let to = moves(kernel, "the block's own points").to.clone();
            let before = &mut moves(kernel, "its own points, one level before").to;
            let other = std::mem::replace(before, to);
            moves(kernel, "the block's own points").to = other;
        }),
        ("a level that is not stored", true, |kernel| {
            let at =
                kernel.transfers.iter().position(|own| own.comment == "its own points, one level before");
            kernel.transfers[at.unwrap()].when.push(int(-1));
        }),
    ];
    for (number, (what, harmful, change)) in changes.into_iter().enumerate() {
        let mut wrong = plan.clone();
        change(&mut wrong.kernels[0]);
        let refused = prove::prove(&wrong, &[]);
        assert!(refused.is_err(), "{what}: by the proof");
        println!("{what}: {}", refused.unwrap_err());
        if harmful && (number % 3 == 2 || everything()) {
            assert!(found_by_the_emulator(&wrong, &|text| text), "{what}: by the emulator");
        }
    }
    assert!(!found_by_the_emulator(&plan, &|text| text), "the plan as it is");
    // A first band that finds nothing in its spare slots, and an odd number of bands that ends there.
    let mut wrong = plan.clone();
    wrong.outer.low = int(0);
    wrong.outer.high = wrong.outer.high.clone() - plan.outer.low.clone();
    assert!(prove::prove(&wrong, &[]).is_err(), "bands that are not those of the plan");
}
