//! Kernels whose warps work on their own. Each text is right where its parameter is 0 and has the fault of that
//! number otherwise, so that it is compiled once.

mod random;

use crate::emulator::CACHE;
use execution::compare::compare;
use execution::device_program::{DeviceKernel, DeviceProgram};
use execution::emulator::ViolationKind;
use execution::emulator::{Emulator, EmulatorReport, Schedule, Violation};
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::{initial, reference};
use hhc_codegen::strategy::{Target, by_name};
use hhc_codegen::{KernelPlan, TileSizes, pipeline};
use std::sync::{Arc, LazyLock};
use toolchain::compiler::{Compiler, Language};

/// What generated text puts before everything else.
const WARP: &str = include_str!("../../../templates/cuda/warp.cuh");
const HAND: &str = "stencil hand(t, i) {
    field u: f32;
    param fault = 0;
    u[t+1, i] = u[t, i-1] + u[t, i+1];
}";

struct Hand {
    emulator: Emulator,
    plan: KernelPlan,
}

impl Hand {
    /// Compiles a text for blocks of this many points.
    fn new(text: &str, points: i64, threads: u32, shared_bytes: u64) -> Hand {
        let program = Arc::new(polyhedral::parse("hand.stencil", HAND).unwrap());
        let tile = TileSizes::new([("s0", points)]);
        let plan = pipeline::plan(&program, by_name("naive").unwrap(), &tile, Target::Cuda).unwrap().plan;
        let kernel = DeviceKernel {
            symbol: "hand_step_u".to_owned(),
            threads: [threads, 1, 1],
            shared_bytes,
            takes_ways: false,
        };
        let device =
            DeviceProgram { source: format!("{WARP}{text}"), kernels: vec![kernel], ways: Vec::new() };
        let compiler = Compiler::find(Language::Cxx).unwrap();
        let emulator = Emulator::compile_with(&plan, &device, &compiler, &CACHE).unwrap();
        Hand { emulator, plan }
    }

    /// The report of a run with this fault, and whether the results are those of the reference.
    fn run(&self, fault: i32, schedule: Schedule) -> (EmulatorReport, bool) {
        const STEPS: i64 = 3;
        let program = &*self.plan.program;
        let layout = Layout::dense(program, &[460]).unwrap();
        let mut data = ProgramData::zeroed_with(program, layout).unwrap();
        initial::fill_random(program, &mut data, 1).unwrap();
        let mut expected = data.try_clone().unwrap();
        let parameters = [f64::from(fault)];
        reference::run_quietly(program, &parameters, &mut expected, STEPS).unwrap();
        let report = self.emulator.run(&parameters, &mut data, STEPS, schedule).unwrap();
        let same = compare(program, &expected, &data, STEPS).mismatches == 0;
        (report, same)
    }

    /// This is no fault, in whatever order warps and lanes run.
    fn is_clean(&self, fault: i32) {
        for schedule in Schedule::adversarial(9) {
            let (report, same) = self.run(fault, schedule);
            assert!(report.is_clean(), "{fault} {schedule:?}: {}", list(&report));
            assert!(same, "{fault} {schedule:?}");
        }
    }

    /// The fault is found in every order; one of the violations has each of these texts.
    fn finds(&self, fault: i32, kind: ViolationKind, texts: &[&str]) {
        for schedule in Schedule::adversarial(9) {
            let (report, _) = self.run(fault, schedule);
            let found: Vec<&Violation> =
                report.violations.iter().filter(|found| found.kind == kind).collect();
            assert!(!found.is_empty(), "{fault} {schedule:?}: {}", list(&report));
            let fits = |violation: &&Violation| texts.iter().all(|text| violation.to_string().contains(text));
            assert!(found.iter().any(fits), "{fault} {schedule:?}: {}", list(&report));
        }
    }
}

fn list(report: &EmulatorReport) -> String {
    report.violations.iter().map(|violation| format!("{violation}\n")).collect()
}

/// The line of a piece of a text that stands behind [`WARP`]: "line N".
fn line(text: &str, piece: &str) -> String {
    let before = text.find(piece).unwrap_or_else(|| panic!("no `{piece}`"));
    format!("line {}", WARP.lines().count() + text[..before].matches('\n').count() + 1)
}

const COLLECTIVES: &str = include_str!("collectives.cuh");
static COLLECTIVES_RUN: LazyLock<Hand> = LazyLock::new(|| Hand::new(COLLECTIVES, 64, 64, 256));

#[test]
fn shuffles_and_votes_are_those_of_a_warp() {
    COLLECTIVES_RUN.is_clean(0);
    COLLECTIVES_RUN.is_clean(11);
}

#[test]
fn lanes_that_do_not_meet() {
    let hand = &COLLECTIVES_RUN;
    let site = |piece| line(COLLECTIVES, piece);
    hand.finds(
        1,
        ViolationKind::DivergentWarp,
        &[&site("left = __shfl_up_sync(0xffffffffu, here, 1);\n        else")],
    );
    hand.finds(2, ViolationKind::DivergentWarp, &["0xffffffff", "0xfffffffe"]);
    hand.finds(3, ViolationKind::WrongMask, &["mask 0xfffffffe,", &site("__shfl_up_sync(0xfffffffeu")]);
    hand.finds(
        4,
        ViolationKind::InactiveLane,
        &["lane 15", &site("left = __shfl_up_sync(0xffff0000u, here, 1);")],
    );
    hand.finds(5, ViolationKind::DivergentWarp, &["is at the call", &site("right = __shfl_down_sync")]);
    hand.finds(9, ViolationKind::WrongMask, &["width 24"]);
}

#[test]
fn only_a_meeting_orders_the_lanes_of_a_warp() {
    for fault in [6, 7, 8] {
        COLLECTIVES_RUN.finds(
            fault,
            ViolationKind::SharedRace,
            &["edge[", "wrote at line", "nothing orders the two"],
        );
    }
}

const LINKS: &str = include_str!("links.cuh");
static LINKS_RUN: LazyLock<Hand> = LazyLock::new(|| Hand::new(LINKS, 192, 64, 288));

#[test]
fn a_ring_with_links_is_clean_at_every_pace() {
    LINKS_RUN.is_clean(0);
}

#[test]
fn a_ring_one_slot_short_or_without_its_waits_is_a_race() {
    for fault in [3, 4, 5, 9, 10] {
        LINKS_RUN.finds(fault, ViolationKind::SharedRace, &["ring["]);
    }
    LINKS_RUN.finds(9, ViolationKind::SharedRace, &["race:", &line(LINKS, "ring[place + cell] =")]);
    LINKS_RUN.finds(8, ViolationKind::DivergentWarp, &["waits for 1 in full[0]", "posts 1 in empty[0]"]);
}

#[test]
fn a_missing_post_is_a_deadlock() {
    let wait = line(LINKS, "tw_link_wait(full, slot, chunk / 2 + (");
    LINKS_RUN.finds(6, ViolationKind::Deadlock, &["waits for 3 in full[0]", &wait]);
    LINKS_RUN.finds(11, ViolationKind::Deadlock, &["waits for 1 in empty[0]"]);
    LINKS_RUN.finds(13, ViolationKind::Deadlock, &["waits for 4 in full[0]", "is at barrier 1"]);
    LINKS_RUN.finds(14, ViolationKind::Deadlock, &["is at barrier 1"]);
}

#[test]
fn a_link_is_cleared_and_goes_up() {
    LINKS_RUN.finds(1, ViolationKind::LinkMisused, &["full[0]", "never cleared"]);
    LINKS_RUN.finds(2, ViolationKind::LinkMisused, &["nothing orders its clearing"]);
    LINKS_RUN.finds(7, ViolationKind::LinkMisused, &["not larger"]);
    LINKS_RUN.finds(12, ViolationKind::LinkMisused, &["counters of a link"]);
}

const JUNK: &str = include_str!("junk.cuh");
static JUNK_RUN: LazyLock<Hand> = LazyLock::new(|| Hand::new(JUNK, 30, 32, 288));

#[test]
fn junk_lanes_may_compute() {
    JUNK_RUN.is_clean(0);
    // The user's own NaN is a wrong result and nothing else.
    for schedule in Schedule::adversarial(9) {
        let (report, same) = JUNK_RUN.run(11, schedule);
        assert!(report.is_clean() && !same, "{}", list(&report));
    }
}

#[test]
fn poison_is_found_where_it_is_stored() {
    let stored = ViolationKind::PoisonStored;
    let read = |piece| line(JUNK, piece);
    JUNK_RUN.finds(1, stored, &["beyond the end of the warp", &read("tw_shift_down(here")]);
    JUNK_RUN.finds(2, stored, &["scratch[70]", &read("sum += 0.0f * scratch[70]")]);
    JUNK_RUN.finds(5, stored, &["scratch[70]"]);
    JUNK_RUN.finds(6, stored, &["scratch[70]"]);
    JUNK_RUN.finds(7, stored, &["never set"]);
    JUNK_RUN.finds(8, stored, &["scratch[6", &read("sum += 0.0f * scratch[64")]);
    JUNK_RUN.finds(9, stored, &["inactive lane 31", "read by lane 30"]);
    JUNK_RUN.finds(12, stored, &["scratch[70]"]);
    JUNK_RUN.finds(13, stored, &["beyond the end of the warp"]);
}

#[test]
fn poison_is_found_where_it_decides() {
    JUNK_RUN.finds(3, ViolationKind::PoisonDecides, &["beyond the end of the warp"]);
    JUNK_RUN.finds(4, ViolationKind::PoisonDecides, &["beyond the end of the warp"]);
    JUNK_RUN.finds(10, ViolationKind::InactiveLane, &["lane 31"]);
}

const VECTORS: &str = include_str!("vectors.cuh");
static VECTORS_RUN: LazyLock<Hand> = LazyLock::new(|| Hand::new(VECTORS, 128, 32, 560));

#[test]
fn vectors_and_copies_are_clean() {
    VECTORS_RUN.is_clean(0);
}

#[test]
fn vectors_are_aligned() {
    VECTORS_RUN.finds(2, ViolationKind::Misaligned, &["writes tile["]);
    VECTORS_RUN.finds(9, ViolationKind::Misaligned, &["reads tile["]);
    VECTORS_RUN.finds(10, ViolationKind::Misaligned, &["writes u["]);
    VECTORS_RUN.finds(11, ViolationKind::Misaligned, &["writes u["]);
}

#[test]
fn copies_land_at_their_wait() {
    let pending = ViolationKind::CopyPending;
    VECTORS_RUN.finds(3, pending, &["reads tile[3]", "thread 0"]);
    VECTORS_RUN.finds(4, pending, &["writes tile["]);
    VECTORS_RUN.finds(5, pending, &["reads tile[3]"]);
    VECTORS_RUN.finds(6, pending, &["reads tile["]);
    VECTORS_RUN.finds(12, ViolationKind::GlobalRace, &["thread 7 wrote"]);
    VECTORS_RUN.finds(13, ViolationKind::GlobalRace, &["thread 8 wrote"]);
    VECTORS_RUN.finds(1, ViolationKind::SharedRace, &["writes tile[4]"]);
    VECTORS_RUN.finds(7, ViolationKind::SharedRace, &["tile["]);
    VECTORS_RUN.finds(8, ViolationKind::SharedRace, &["tile["]);
}
