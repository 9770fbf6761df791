//! The library as a program uses it: calls can be watched and stopped, and nothing is computed twice.
#![allow(unsafe_code)] // Arrays of a caller in another language come as pointers.

mod certificates;
mod registers;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;
use tilewright::error::Kind;
use tilewright::model::Residence;
use tilewright::validation::Metric;
use tilewright::{Backend, BuildRequest, Cancel, Model, Observer, RunRequest, Silent, Stencil, Tiling, load};

#[derive(Default)]
struct Listener(RefCell<Vec<(&'static str, u64)>>);

impl Observer for Listener {
    fn begin(&self, stage: &'static str, _parts: u64) {
        self.0.borrow_mut().push((stage, 0));
    }

    fn done(&self, parts: u64) {
        if let Some(last) = self.0.borrow_mut().last_mut() {
            last.1 = parts;
        }
    }

    fn end(&self, stage: &'static str, _took: Duration) {
        assert_eq!(self.0.borrow().last().map(|last| last.0), Some(stage));
    }
}

#[test]
fn stages_are_heard_in_order() {
    let stencil = load("jacobi2d").unwrap();
    let listener = Listener::default();
    let request = BuildRequest::new(Backend::Reference, &[20, 20], 7);
    let built = tilewright::build(&stencil, &request, &listener).unwrap();
    let mut data = tilewright::random_data(&stencil, &[20, 20], 7, 1).unwrap();
    let run = RunRequest { verify: true, ..RunRequest::new(&stencil, 7) };
    let measured = tilewright::run(&stencil, &built, &run, &mut data, &listener).unwrap();
    assert_eq!(measured.comparison.unwrap().mismatches, 0);
    assert_eq!(*listener.0.borrow(), [("run", 7), ("reference", 7), ("compare", 0), ("checksum", 0)]);
}

/// A call that would take days ends soon after somebody cancels its token; other calls go on.
#[test]
fn a_token_stops_a_run() {
    let stencil = load("jacobi2d").unwrap();
    let request = BuildRequest::new(Backend::Reference, &[64, 64], 1);
    let built = tilewright::build(&stencil, &request, &Silent).unwrap();
    let run = |steps| {
        let mut data = tilewright::random_data(&stencil, &[64, 64], steps, 1).unwrap();
        tilewright::run(&stencil, &built, &RunRequest::new(&stencil, steps), &mut data, &Silent)
    };
    let token = Cancel::new();
    let canceller = token.clone();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        canceller.cancel();
    });
    let error = token.scope(|| run(1_000_000_000)).unwrap_err();
    waker.join().unwrap();
    assert_eq!(error.kind(), Kind::Interrupted);
    assert!(run(2).is_ok());
}

#[test]
fn a_stencil_is_analysed_once() {
    let stencil = load("heat2d").unwrap();
    let first = stencil.analysis().unwrap();
    let planned = tilewright::plan(
        &stencil,
        &tilewright::Tiling::default(),
        hhc_codegen::strategy::Target::OpenMp,
        &Silent,
    );
    assert!(Arc::ptr_eq(&first, &planned.unwrap().analysis));
    assert!(Arc::ptr_eq(&first, &stencil.renamed("other".to_owned()).analysis().unwrap()));
}

/// Of a strategy's own tiles the machine decides: one more step at once where memory is slow for what is computed, or points are few.
#[test]
fn machines_decide_between_own_tiles() {
    use hhc_codegen::strategy::Target;
    use polyhedral::program::ElementType;
    use tilewright::choice::{Wish, choose};
    let usual = [2, 8, 3, 8];
    let deeper = [2, 6, 4, 8];
    for (machine, element, points, expected) in [
        ("v100", ElementType::F32, 512, deeper),
        ("h100", ElementType::F32, 512, usual),
        ("h200", ElementType::F32, 512, usual),
        ("a100", ElementType::F32, 512, usual),
        ("a100", ElementType::F32, 384, deeper),
        ("v100", ElementType::F64, 512, [2, 4, 3, 8]),
    ] {
        let program = polyhedral::shipped::load("star3d1r").unwrap().with_element_type(element);
        let stencil = Stencil::of(Arc::new(program));
        let of = tilewright::machines::machine(machine).unwrap();
        let size = [points; 3];
        let wish = Wish::of_model(Some(&size), Some(1000), Some(&of));
        let wanted = Tiling { strategy: "streaming".to_owned(), tile: None };
        let chosen = choose(&stencil, &wanted, Target::Cuda, &wish, &Silent).unwrap();
        let tile = chosen.tiling.tile.unwrap();
        let found = ["rpl", "rows", "steps", "warps"].map(|name| tile.get(name).unwrap());
        assert_eq!(found, expected, "{machine} {element:?} {points}");
        assert_eq!(chosen.by, format!("the strategy's own for the grid and {machine}"));
    }
}

/// A GPU and a CPU are asked the same questions, and say as much.
#[test]
fn models_explain_what_they_choose() {
    use optimizer::{Method, Objective};
    let stencil = load("heat2d").unwrap();
    let mut names = Vec::new();
    for machine in ["v100", "zen4"] {
        let machine = tilewright::machines::machine(machine).unwrap();
        let model = Model::new(&stencil, &[300, 400], 20, machine, None).unwrap();
        let best = model.tune("auto", Method::Exact, Objective::Time).unwrap();
        let (choice, why) = (&best.tuned.choice, &best.explanation);
        assert_eq!(best.tuned.certificate.gap(), Some(0.0));
        assert!(best.strategies.len() >= 2);
        let strategy = tilewright::strategies::named(choice.strategy).unwrap();
        let predicted = model.predict(strategy, &choice.tile, Residence::Best).unwrap();
        assert_eq!(predicted.k, choice.k);
        assert!((predicted.seconds / best.tuned.certificate.value - 1.0).abs() < 1e-12);
        assert_eq!(predicted.explanation, *why);
        let losses: f64 = why.losses.iter().map(|loss| loss.seconds).sum();
        assert!(((why.ideal_s + losses) / predicted.seconds - 1.0).abs() < 1e-9);
        assert!(why.sensitivities.len() >= 5 && !predicted.constraints.is_empty() && predicted.feasible);
        let terms = why.breakdown.iter().filter(|part| part.unit == "s").map(|part| part.name);
        names.push(terms.collect::<std::collections::BTreeSet<_>>());
        // A completed tile has the strategy's own sizes where none are given.
        assert_eq!(model.complete(strategy, Some(&choice.tile)).unwrap(), choice.tile);
        assert!(model.complete(strategy, None).is_ok());
        let tiles = tilewright::validation::tiles(&model, Metric::Time, strategy, (12, 1)).unwrap();
        assert!(tiles.len() > 6, "{tiles:?}");
        for tile in &tiles {
            assert!(
                tilewright::validation::predicted_s(&model, strategy, tile).unwrap()
                    > 0.999 * predicted.seconds
            );
        }
    }
    assert_eq!(names[0], names[1]);
    let zen4 = tilewright::machines::machine("zen4").unwrap();
    let cpu = Model::new(&stencil, &[300, 400], 20, zen4, None).unwrap();
    let closed = cpu.tune("hhc", Method::ClosedForm, Objective::Time).unwrap_err();
    assert_eq!((closed.kind(), cpu.parts("auto", Objective::Time).is_err()), (Kind::Infeasible, true));
}

/// Levels that lie apart, with gaps between rows, get the values of the reference, and nothing else is written.
#[test]
fn levels_of_somebody_else_are_computed_in_place() {
    use execution::levels::{Array, Levels};
    use polyhedral::program::{ElementType, FieldId};
    use std::ops::ControlFlow;
    let (stencil, size, steps, stride) = (load("wave2d").unwrap(), [19, 23], 11, 29);
    let program = &*stencil.program;
    let mut request = BuildRequest::new(Backend::OpenMp, &size, steps);
    request.tiling.strategy = "naive".to_owned();
    request.tile_by = tilewright::choice::TileBy::Model;
    let built = tilewright::build(&stencil, &request, &Silent).unwrap();
    let mut expected = tilewright::random_data(&stencil, &size, steps, 5).unwrap();
    let span = (size[0] as usize - 1) * stride + size[1] as usize;
    let slots = program.fields[0].role.slots();
    let value = |data: &execution::grid::ProgramData, slot: usize, i: usize, j: usize| {
        let row = data.layout().strides()[0];
        data.slot(FieldId(0), slot).get(i * row + j).unwrap() as f32
    };
    // Only the initial levels are given; the boundary of the others is not there yet.
    let mut arrays = vec![vec![7.0_f32; span]; slots];
    for (slot, array) in arrays.iter_mut().enumerate().take(2) {
        for i in 0..19 {
            for j in 0..23 {
                array[i * stride + j] = value(&expected, slot, i, j);
            }
        }
    }
    let request = RunRequest::new(&stencil, steps);
    let reference =
        tilewright::build(&stencil, &BuildRequest::new(Backend::Reference, &size, steps), &Silent);
    tilewright::run(&stencil, &reference.unwrap(), &request, &mut expected, &Silent).unwrap();
    let given = |array: &mut Vec<f32>, span| Array {
        first: array.as_mut_ptr().cast(),
        element: ElementType::F32,
        span,
    };
    let fields: Vec<Array> = arrays.iter_mut().map(|array| given(array, span)).collect();
    let short: Vec<Array> = fields.iter().map(|array| Array { span: span - 1, ..*array }).collect();
    // SAFETY: these are the arrays, and nothing else touches them; what is refused is not touched.
    unsafe {
        assert!(Levels::new(program, &size, &[29], &short, &[]).is_err());
        assert!(Levels::new(program, &size, &[22], &fields, &[]).is_err());
        assert!(Levels::new(program, &size, &[29], &fields[1..], &[]).is_err());
        let mut levels = Levels::new(program, &size, &[29], &fields, &[]).unwrap();
        let go_on = &mut |_| ControlFlow::Continue(());
        tilewright::run_in_place(&stencil, &built, &request.parameters, &mut levels, steps, go_on).unwrap();
    }
    for (slot, array) in arrays.iter().enumerate() {
        for (at, found) in array.iter().enumerate() {
            let (i, j) = (at / stride, at % stride);
            let wanted = if j < 23 { value(&expected, slot, i, j) } else { 7.0 };
            assert_eq!(found.to_bits(), wanted.to_bits(), "slot {slot}, point {i}, {j}");
        }
    }
}
