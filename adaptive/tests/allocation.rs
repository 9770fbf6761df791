//! Choosing allocates nothing: the allocator of this program counts.
// Foreign memory is handed through as it is.
#![allow(unsafe_code)]

use crate::support::{all, three};
use adaptive::train::{Grid, Kind, TrainOptions, train};
use adaptive::{CodeVariant, Context};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counter any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer is from `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn choosing_allocates_nothing() {
    let table = three(150, 1);
    for kind in [Kind::Svm, Kind::Tree, Kind::Forest] {
        let options = TrainOptions { kind, grid: Grid::COARSE, trees: 5, ..TrainOptions::default() };
        let model = train(&table, &all(&table), &[0, 1], &options).unwrap().model;
        let function = CodeVariant::<(f64, f64), usize>::builder(&Context::default(), "example")
            .variant("steady", |_| 0)
            .variant("quick", |_| 1)
            .variant("wide", |_| 2)
            .feature("x", |point| point.0)
            .feature("y", |point| point.1)
            .constraint("wide", |point| point.0 >= 3.0)
            .cached_by(|point| point.0.to_bits())
            .model(model)
            .build()
            .unwrap();
        let before = ALLOCATIONS.get();
        let mut sum = 0;
        for step in 1..200 {
            let x = f64::from(step % 40) / 4.0;
            sum += function.call(&mut (x.max(0.5), 5.0));
        }
        assert!(sum > 0);
        assert_eq!(ALLOCATIONS.get(), before, "{kind:?}");
    }
}
