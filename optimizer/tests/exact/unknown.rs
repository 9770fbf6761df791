//! Strategies without closed forms.

use super::{of, problem, request, small};
use cost_models::cpu::CpuCost;
use cost_models::machine;
use hhc_codegen::strategy::{Strategy, Target, TileSpace};
use hhc_codegen::{KernelPlan, TileSizes};
use optimizer::cpu::{stratified, tune_cpu};
use optimizer::{Family, Infeasible, Method, Objective, sample, tune};
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use polyhedral::shipped;
use std::sync::Arc;

/// A strategy that nobody has seen: the plan of a known one, its sizes under other names, no closed forms.
#[derive(Debug)]
struct Unknown {
    id: &'static str,
    known: &'static str,
    names: [&'static str; 4],
}

static BLOCKS: Unknown =
    Unknown { id: "blocks", known: "naive", names: ["block_z", "block_y", "block_x", ""] };
static DEEP: Unknown =
    Unknown { id: "deep", known: "hhc", names: ["depth", "block_z", "block_y", "block_x"] };

impl Unknown {
    fn of_known(&self, tile: &TileSizes) -> TileSizes {
        TileSizes::new(of(self.known).size_names().iter().copied().zip(tile.iter().map(|(_, value)| value)))
    }

    fn own(&self, name: &str) -> &'static str {
        self.names[of(self.known).size_names().iter().position(|own| *own == name).unwrap()]
    }
}

impl Strategy for Unknown {
    fn id(&self) -> &'static str {
        self.id
    }

    fn description(&self) -> &'static str {
        "for tests"
    }

    fn size_names(&self) -> &'static [&'static str] {
        &[]
    }

    fn takes(&self, program: &Program, _cone: &Cone) -> Result<(), String> {
        if program.name == "fdtd2d" { Err("it has two statements".to_owned()) } else { Ok(()) }
    }

    fn space(&self, program: &Program, cone: &Cone) -> TileSpace {
        let mut space = of(self.known).space(program, cone);
        space.sizes.iter_mut().for_each(|size| size.name = self.own(size.name));
        for constraint in &mut space.constraints {
            (constraint.size, constraint.of) = (self.own(constraint.size), self.own(constraint.of));
        }
        space
    }

    fn default_tile(&self, program: &Program, cone: &Cone, target: Target) -> TileSizes {
        let tile = of(self.known).default_tile(program, cone, target);
        TileSizes::new(tile.iter().map(|(name, value)| (self.own(name), value)))
    }

    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> KernelPlan {
        KernelPlan {
            strategy: self.id,
            tile: tile.clone(),
            ..of(self.known).plan(program, cone, &self.of_known(tile))
        }
    }

    fn in_auto(&self, _target: Target) -> bool {
        false
    }
}

/// A strategy without closed forms is tuned and predicted from its plan alone, nearly as with them.
#[test]
fn a_strategy_without_closed_forms_is_searched_by_its_plan() {
    let (hardware, machine) = small("v100");
    for name in ["heat1d", "jacobi2d", "heat3d"] {
        let problem = problem(name);
        for unknown in [&BLOCKS, &DEEP] {
            let request = request(&problem, &hardware, &machine, Objective::Time).only(unknown);
            let exact = tune(&request, Method::Exact).unwrap();
            assert_eq!((exact.choice.strategy, exact.certificate.optimal()), (unknown.id, true));
            let exhaustive = tune(&request, Method::Exhaustive).unwrap();
            assert_eq!(exact.certificate.value, exhaustive.certificate.value, "{name} {}", unknown.id);
            let tile = &exact.choice.tile;
            let space = unknown.space(&problem.program, &problem.cone);
            space.check(unknown.id, tile).unwrap();
            assert!(tile.iter().map(|(name, _)| name).eq(space.names()), "{tile}");
            // The closed forms, for the same tile: within the cells that are loaded though nothing needs them.
            let known = unknown.of_known(tile);
            let (family, sizes) = Family::of_tile(&problem, &hardware, of(unknown.known), &known).unwrap();
            let closed = request.value(&family, sizes, exact.choice.k).unwrap();
            let ratio = exact.certificate.value / closed;
            assert!((0.9..1.2).contains(&ratio), "{name} {tile}: {ratio}");
            // The search over few sizes comes near to the one over all.
            let best = tune(&request.only(of(unknown.known)), Method::Exact).unwrap().certificate.value;
            assert!(
                exact.certificate.value < 2.0 * best,
                "{name} {tile}: {:e}, {best:e}",
                exact.certificate.value
            );
            let sample = sample::stratified(&request, 10, 1);
            assert!(
                sample.len() >= 5 && sample.iter().all(|tile| space.check("", tile).is_ok()),
                "{sample:?}"
            );
            assert!(matches!(tune(&request, Method::ClosedForm), Err(Infeasible::NoFace { .. })));
        }
    }
    let refused = problem("fdtd2d");
    let request = request(&refused, &hardware, &machine, Objective::Time).only(&BLOCKS);
    assert_eq!(tune(&request, Method::Exact), Err(Infeasible::NoStrategy));
}

/// The same on cores.
#[test]
fn a_strategy_without_closed_forms_runs_on_cores() {
    let machine = machine::shipped("zen4").unwrap().unwrap();
    for (name, size) in [("heat1d", &[100_000][..]), ("jacobi2d", &[700, 900]), ("heat3d", &[90, 100, 120])] {
        let program = shipped::load(name).unwrap();
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let model = CpuCost::new(&machine, &program, &cone, size, 50).unwrap();
        let time = &model.time;
        for unknown in [&BLOCKS, &DEEP] {
            let tuned = tune_cpu(&model, unknown, Method::Exact, Objective::Time).unwrap();
            let space = unknown.space(&program, &cone);
            space.check(unknown.id, &tuned.choice.tile).unwrap();
            let known = of(unknown.known);
            let closed = time.predict(known, &unknown.of_known(&tuned.choice.tile)).unwrap().seconds;
            let ratio = tuned.certificate.value / closed;
            assert!((0.4..2.5).contains(&ratio), "{name} {} {}: {ratio}", unknown.id, tuned.choice.tile);
            let sample = stratified(time, unknown, 8, 1);
            assert!(sample.iter().all(|tile| time.predict(unknown, tile).is_ok()) && sample.len() > 4);
        }
    }
}
