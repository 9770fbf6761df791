//! The library as a program uses it: calls can be watched and stopped, and nothing is computed twice.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;
use tilewright::error::Kind;
use tilewright::{Backend, BuildRequest, Cancel, Observer, RunRequest, Silent, load};

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
