//! Inputs: the same for the same numbers, no held-out one in training, all variants right on all of them; and a whole study.

use crate::all_variants;
use adaptive::train::{Grid, Kind, TrainOptions};
use std::collections::HashSet;
use variant_benchmarks::benchmark::{Benchmark, Inputs};
use variant_benchmarks::bfs::Bfs;
use variant_benchmarks::histogram::Histogram;
use variant_benchmarks::sort::Sort;
use variant_benchmarks::spmv::Spmv;
use variant_benchmarks::study::{Options, study};
use variant_benchmarks::transpose::Transpose;

fn inputs_of<B: Benchmark>(count: usize, largest: usize) {
    let families = |held_out: bool| {
        let list = B::inputs(&Inputs { held_out, count, largest });
        let names: HashSet<&str> = list.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names.len(), count);
        for input in &list {
            all_variants::<B>(&input.make);
        }
        list.iter().map(|input| input.family.clone()).collect::<HashSet<_>>()
    };
    assert!(families(true).contains(B::UNSEEN));
    assert!(!families(false).contains(B::UNSEEN));
}

#[test]
fn variants_are_right_on_generated_inputs() {
    inputs_of::<Transpose>(16, 3000);
    inputs_of::<Bfs>(10, 1000);
    inputs_of::<Spmv>(16, 3000);
    inputs_of::<Sort>(16, 3000);
    inputs_of::<Histogram>(16, 3000);
}

#[test]
fn a_study_is_measured_trained_and_scored() {
    let options = Options {
        training: 20,
        held_out: 12,
        largest: 2000,
        calls: 10.0,
        repeat: 1,
        train: TrainOptions { kind: Kind::Tree, grid: Grid::COARSE, ..TrainOptions::default() },
        select: true,
        seeds: 0,
        store: None,
    };
    let own = study::<Spmv>(&options).unwrap();
    assert_eq!((own.training, own.score.inputs, own.score.unsolved), (20, 12, 0));
    assert_eq!(own.labels.iter().sum::<usize>(), 20);
    assert!(own.score.performance > 0.0 && own.score.performance <= own.score.performance_of_choices);
    let chosen: f64 = own.score.variants.iter().map(|variant| variant.chosen).sum();
    assert!((chosen - 1.0).abs() < 1e-9);
    assert!(own.convergence.is_none());
    assert!(own.score.families.iter().any(|family| family.family == own.unseen));
}
