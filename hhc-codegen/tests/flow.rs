//! Plans whose blocks have storage of their own are proved, whatever their strategy.

use super::cuda_emulated::everything;
use hhc_codegen::int_expr::{IntExpr, var};
use hhc_codegen::plan::{Kernel, RowOrder};
use hhc_codegen::storage::{Axis, Memory, Moment, Place, Region, Slot, Storage, Sync};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{PlanError, TileSizes, pipeline, prove};
use polyhedral::program::{FieldId, FieldRole};
use std::sync::Arc;

/// Every second strategy with each stencil, the others with the next; all with `TILEWRIGHT_ALL=1`, as in `make test-long`.
#[test]
fn storages_are_proved() {
    let mut proved = 0;
    for (turn, name) in ["heat1d", "asym2d", "varcoef2d", "heat3d", "box2d2r"].into_iter().enumerate() {
        let program = Arc::new(polyhedral::shipped::load(name).unwrap());
        for (number, strategy) in strategy::all().iter().enumerate() {
            if (turn + number) % 2 == 1 && !everything() {
                continue;
            }
            let planned = match pipeline::plan(&program, *strategy, &TileSizes::default(), Target::Cuda) {
                Err(PlanError::Refused { .. }) => continue,
                other => other.unwrap_or_else(|error| panic!("{name}: {error}")),
            };
            if planned.plan.kernels.iter().any(|kernel| kernel.memory == Memory::Storages) {
                assert!(planned.proof.reads.is_some_and(|reads| reads > 0));
                println!("{name} {} {}: {:?}", strategy.id(), planned.plan.tile, planned.proof);
                proved += 1;
            }
        }
    }
    assert!(proved > if everything() { 5 } else { 3 }, "{proved} plans");
}

/// A largest end, or a least beginning, is what C computes: the proof must not take it for two constraints. Every second strategy;
/// all with `TILEWRIGHT_ALL=1`, as in `make test-long`.
#[test]
fn extrema_mean_in_proofs_what_they_mean_in_c() {
    let program = Arc::new(polyhedral::shipped::load("heat2d").unwrap());
    let dependences = polyhedral::analysis::analyze(&program).unwrap().dependences;
    for strategy in strategy::all().iter().step_by(if everything() { 1 } else { 2 }) {
        let target = strategy.for_target(&program, Target::Cuda).map_or(Target::OpenMp, |()| Target::Cuda);
        let plan = match pipeline::plan(&program, *strategy, &TileSizes::default(), target) {
            Err(PlanError::Refused { .. }) => continue,
            other => other.unwrap().plan,
        };
        for at_the_end in [true, false] {
            let mut wrong = plan.clone();
            let range = &mut wrong.kernels[0].instances[0].ranges[1];
            if at_the_end {
                range.high = range.high.clone().max(range.high.clone() + 5);
            } else {
                range.low = range.low.clone().min(range.low.clone() - 5);
            }
            let refused = prove::prove(&wrong, &dependences);
            assert!(refused.is_err(), "{}: {refused:?}", strategy.id());
        }
        // The other way round nothing changes.
        let mut same = plan.clone();
        let range = &mut same.kernels[0].instances[0].ranges[1];
        range.high = range.high.clone().min(range.high.clone() + 5);
        range.low = range.low.clone().max(range.low.clone() - 5);
        prove::prove(&same, &dependences).unwrap();
    }
}

fn overlapped(name: &str) -> hhc_codegen::KernelPlan {
    let program = Arc::new(polyhedral::shipped::load(name).unwrap());
    let strategy = strategy::by_name("overlapped").unwrap();
    pipeline::plan(&program, strategy, &TileSizes::default(), Target::Cuda).unwrap().plan
}

fn refused(plan: &hhc_codegen::KernelPlan) -> String {
    match prove::prove(plan, &[]) {
        Err(PlanError::Illegal { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

/// A storage for a field that nobody computes has to be filled like any other.
#[test]
fn coefficients_in_storages_need_a_load() {
    let mut plan = overlapped("varcoef2d");
    let fields = &plan.program.fields;
    let coefficient = fields.iter().position(|field| field.role == FieldRole::Coefficient).unwrap();
    let kernel = &mut plan.kernels[0];
    let (own, next) = (kernel.storages[0].clone(), kernel.storages.len());
    kernel.storages.push(Storage {
        name: "weights".to_owned(),
        field: FieldId(coefficient),
        planes: 1,
        ..own
    });
    let accesses = plan.program.statements[0].reads.clone();
    for (access, read) in accesses.iter().zip(&mut kernel.instances[0].reads) {
        if access.field.0 == coefficient {
            read.place = Place::Storage(next);
        }
    }
    let reason = refused(&plan);
    assert!(reason.contains("none of the suppliers"), "{reason}");
}

type Change = fn(&mut Kernel);

/// What is proved of instances alone says nothing of other places, transfers or barriers that are left out.
#[test]
fn kernels_on_the_arrays_work_as_the_program_does() {
    let program = Arc::new(polyhedral::shipped::load("heat2d").unwrap());
    let dependences = polyhedral::analysis::analyze(&program).unwrap().dependences;
    let naive = strategy::by_name("naive").unwrap();
    let plan = pipeline::plan(&program, naive, &TileSizes::default(), Target::Cuda).unwrap().plan;
    let changes: [(&str, Change); 5] = [
        ("as the program does", |kernel| {
            kernel.instances[0].writes = vec![Place::Arrays(Slot::At(0.into()))]
        }),
        ("as the program does", |kernel| kernel.instances[0].writes.clear()),
        ("as the program does", |kernel| {
            let row = &mut kernel.instances[0];
            row.junk = Some(row.ranges.clone());
        }),
        ("followed by a barrier", |kernel| kernel.instances[0].sync = Sync::Nothing),
        ("more than rows", |kernel| kernel.warps = vec![Vec::new()]),
    ];
    for (why, change) in changes {
        let mut wrong = plan.clone();
        change(&mut wrong.kernels[0]);
        match prove::prove(&wrong, &dependences) {
            Err(PlanError::Illegal { reason, .. }) => assert!(reason.contains(why), "{reason}"),
            other => panic!("{why}: {other:?}"),
        }
    }
}

/// A boundary value lies in the plane from which it is read; if boundaries belong to slots, one plane is not enough for them.
#[test]
fn boundaries_lie_in_their_planes() {
    let mut plan = overlapped("heat2d");
    plan.kernels[0].storages[0].planes = 3;
    assert!(refused(&plan).contains("none of the suppliers"));

    for (boundary, taken) in [("", true), ("boundary per_slot;", false)] {
        let text =
            format!("stencil sweep(t, i) {{ field u: f32; {boundary} u[t+1, i] = u[t, i] + u[t, i+1]; }}");
        let program = Arc::new(polyhedral::parse("sweep", &text).unwrap());
        let strategy = strategy::by_name("overlapped").unwrap();
        let mut plan = pipeline::plan(&program, strategy, &TileSizes::default(), Target::Cuda).unwrap().plan;
        plan.kernels[0].storages[0].planes = 1;
        plan.kernels[0].instances[0].order = RowOrder::Skewed { factors: vec![1] };
        match taken {
            true => assert!(prove::prove(&plan, &[]).is_ok()),
            false => assert!(refused(&plan).contains("may have overwritten it")),
        }
    }
}

/// Registers of lanes belong to one warp, and stay where they are.
#[test]
fn registers_of_lanes_are_those_of_a_warp() {
    let program = Arc::new(polyhedral::shipped::load("heat2d").unwrap());
    let strategy = strategy::by_name("pipeline-toy").unwrap();
    let tile = TileSizes::parse("rows=7,columns=20").unwrap();
    let plan = pipeline::plan(&program, strategy, &tile, Target::Cuda).unwrap().plan;
    let with = |change: &dyn Fn(&mut Kernel)| {
        let mut wrong = plan.clone();
        wrong.kernels.iter_mut().for_each(change);
        refused(&wrong)
    };
    let lanes = |kernel: &mut Kernel, change: &dyn Fn(&mut IntExpr, &mut i64)| {
        for axis in kernel.storages.iter_mut().flat_map(|storage| &mut storage.axes) {
            if let Axis::Lanes { first, extent, .. } = axis {
                change(first, extent);
            }
        }
    };
    for (what, wrong) in [
        ("a warp has 32 lanes, not 33", with(&|kernel| lanes(kernel, &|_, extent| *extent = 33))),
        ("outside of", with(&|kernel| lanes(kernel, &|_, extent| *extent -= 1))),
        (
            "begins elsewhere for each c",
            with(&|kernel| lanes(kernel, &|first, _| *first = first.clone() + var("c"))),
        ),
        ("innermost dimension alone", with(&|kernel| kernel.storages[1].axes.reverse())),
        (
            "whose points are in other lanes",
            with(&|kernel| {
                let Axis::Lanes { first, .. } = &mut kernel.storages[0].axes[1] else { panic!() };
                *first = first.clone() - 1;
            }),
        ),
        (
            "several warps touch it",
            with(&|kernel| {
                for axis in kernel.storages.iter_mut().flat_map(|storage| &mut storage.axes) {
                    if let Axis::Window { first, extent } = axis {
                        *axis = Axis::Lanes { first: first.clone(), extent: *extent, points: 1 };
                    }
                }
            }),
        ),
        ("run them at once", with(&|kernel| kernel.instances[0].order = RowOrder::Sequential)),
        (
            "not those of a warp",
            with(&|kernel| {
                kernel.warps.clear();
                kernel.links.clear();
                kernel.instances.iter_mut().for_each(|row| row.sync = Sync::Barrier);
                kernel.transfers.iter_mut().for_each(|transfer| transfer.sync = Sync::Barrier);
            }),
        ),
    ] {
        assert!(wrong.contains(what), "{wrong}");
    }
    // A row that only reads its right neighbour reaches one point to the left of the lanes.
    let program =
        polyhedral::parse("right", "stencil right(t, i, j) { field u: f32; u[t+1, i, j] = u[t, i, j+1]; }");
    let program = Arc::new(program.unwrap());
    let mut plan = pipeline::plan(&program, strategy, &tile, Target::Cuda).unwrap().plan;
    assert!(prove::prove(&plan, &[]).is_ok());
    let kernel = &mut plan.kernels[0];
    lanes(kernel, &|first, extent| {
        *first = first.clone() + 1;
        *extent -= 1;
    });
    kernel
        .transfers
        .iter_mut()
        .for_each(|transfer| transfer.ranges[1].low = transfer.ranges[1].low.clone() + 1);
    assert!(refused(&plan).contains("outside of"));
}

/// What the plan says of bands and of stores is what kernels do.
#[test]
fn bands_and_stores_are_those_of_the_kernels() {
    let mut plan = overlapped("heat2d");
    plan.kernels[0].bindings[1].value = plan.kernels[0].bindings[1].value.clone() + 1;
    assert!(refused(&plan).contains("does not compute t1"));

    let mut plan = overlapped("heat2d");
    let stores = plan.kernels[0].transfers.iter_mut().filter(|transfer| transfer.moment == Moment::End);
    stores.for_each(|store| store.region = Region::Grid);
    assert!(refused(&plan).contains("stores points that no statement computes"));

    let mut plan = overlapped("heat2d");
    plan.kernels[0].instances[0].reads[0].suppliers[0].at.push(("zz", 0.into()));
    assert!(refused(&plan).contains("zz"));
}
