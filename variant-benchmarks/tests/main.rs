//! Every variant against a plain reference, on inputs that are hard. One program for all, which is linked once.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod bfs;
mod clocks;
mod convergence;
mod generated;
mod histogram;
mod score;
mod solvers;
mod sort;
mod spmv;
mod transpose;

use adaptive::CodeVariant;
use variant_benchmarks::benchmark::{Benchmark, Ran, built};

/// Runs all variants that are allowed on an input that is made anew for each; the names of those that are not.
fn all_variants<B: Benchmark>(make: impl Fn() -> B::Argument) -> Vec<String> {
    let function: CodeVariant<B::Argument, Ran> = built::<B>(None).unwrap();
    let names = function.selector().variants().to_vec();
    let mut left_out = Vec::new();
    for (variant, name) in names.iter().enumerate() {
        let mut own = make();
        if !function.is_allowed(variant, &own) {
            left_out.push(name.clone());
            continue;
        }
        let ran = function.run(variant, &mut own);
        let spent = ran.unwrap_or_else(|reason| panic!("{name}: {reason}"));
        assert!(spent.once >= 0.0 && spent.each >= 0.0);
        B::check(&own).unwrap_or_else(|reason| panic!("{name}: {reason}"));
    }
    // Features of any input are numbers.
    let own = make();
    for (at, name) in function.selector().features().iter().enumerate() {
        assert!(function.feature(at, &own).is_some(), "{name}");
    }
    left_out
}
