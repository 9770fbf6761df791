//! Variants with parameters: instances are searched for, kept, chosen and run.

use adaptive::train::{Kind, TrainOptions};
use adaptive::tune::{
    Calls, Levels, Measured, Objective, ParameterOptions, TuneOptions, Workload, search_parameters, tune,
};
use adaptive::{CodeVariant, Context, evaluate};
use trials::{Parameter, Value};
use tuner::Space;

/// What a call costs: blocks are the best where they are as long as the root of `n`, which is unrolled twice.
fn blocked(n: u64, values: &[Value]) -> f64 {
    let number = |at: usize| values[at].number().unwrap();
    1.0 + ((n as f64).log2() / 2.0 - number(0).log2()).abs() + (number(1) - 2.0).abs()
}

fn function(context: &Context) -> CodeVariant<u64, f64> {
    let levels = |powers: std::ops::Range<u32>| powers.map(|power| Value::Integer(1 << power)).collect();
    let parameters =
        vec![Parameter::new("block", levels(0..8)).unwrap(), Parameter::new("unroll", levels(0..3)).unwrap()];
    let space = Space::new(parameters, &["unroll <= block".to_owned()]).unwrap();
    CodeVariant::builder(context, "product")
        .variant("plain", |n| if *n < 20 { 1.5 } else { 9.0 })
        .tunable("blocked", space.clone(), &[("block", Value::Integer(32))], |n, values| blocked(*n, values))
        .unwrap()
        .tunable("twice", space, &[], |n, values| 1.25 * blocked(*n, values))
        .unwrap()
        .feature("n", |n| *n as f64)
        .constraint("twice", |n| *n > 4)
        .build()
        .unwrap()
}

fn calls(function: &CodeVariant<u64, f64>) -> Calls<u64, f64> {
    let check = |_: &u64, cost: &f64, outcome: &mut trials::Outcome| {
        *outcome = outcome.clone().with("work", *cost, "")
    };
    let calls = Calls::new(function).repeat(1).check(check);
    (2..=14).fold(calls, |calls, power| calls.input(&format!("{power}"), "", move || 1 << power))
}

fn options(levels: Levels) -> ParameterOptions {
    ParameterOptions {
        levels,
        classes: vec!["int(log2(n) / 2)".to_owned()],
        keep: 12,
        ..ParameterOptions::default()
    }
}

#[test]
fn instances_are_found_kept_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("trials.jsonl");
    let context = Context::new().models(folder.path());
    let inputs: Vec<usize> = (0..13).collect();
    let train = TrainOptions { kind: Kind::Tree, ..TrainOptions::default() };
    for (levels, searches, first) in [(Levels::Restricted, 5, true), (Levels::Multilevel, 13, false)] {
        let plain = function(&Context::default());
        let mut fresh = Vec::new();
        for _ in 0..2 {
            let mut workload = calls(&plain);
            assert_eq!(
                workload.variants(),
                ["plain", "blocked{block=32, unroll=1}", "twice{block=1, unroll=1}"]
            );
            let mut measured = Measured::new(&mut workload, Objective::least("work"), Some(&store)).unwrap();
            let searched = search_parameters(&mut measured, &inputs, &options(levels)).unwrap();
            // Seven classes; for two `plain` is the best where searches begin, and for one `twice` is not allowed.
            assert_eq!((searched.classes, searched.searches), (7, searches), "{searched:?}");
            assert!(searched.kept_of_best > 0.98, "{searched:?}");
            assert!(searched.variants.contains(&"blocked{block=64, unroll=2}".to_owned()), "{searched:?}");
            let tuned =
                tune(&mut measured, &inputs, &TuneOptions { train, ..TuneOptions::default() }).unwrap();
            assert!(tuned.table.rows.iter().all(|row| row.costs.len() == searched.variants.len()));
            let judged = evaluate::evaluate(&tuned.trained.model, &tuned.table, 1.0).unwrap();
            assert!(judged.performance.mean > 0.9, "{judged:?}");
            fresh.push(measured.fresh());
            adaptive::model_file::write(&folder.path().join("product.model.json"), &tuned.trained.model)
                .unwrap();
        }
        // What was measured is in the store, whatever measured it.
        assert_eq!((fresh[0] > 0 || !first, fresh[1]), (true, 0));
        // The program that uses the model gets instances, and their values.
        let adapted = function(&context);
        assert!(adapted.selector().model().is_some());
        let choice = adapted.choose(&(1 << 12));
        assert_eq!(adapted.selector().variants()[choice.variant], "blocked{block=64, unroll=2}");
        assert_eq!(adapted.call(&mut (1 << 12)), 1.0);
        assert!(adapted.call(&mut 4) <= 1.5);
        // It can be tuned anew, from one instance of each variant that the model has.
        let again = calls(&adapted).variants().to_vec();
        assert!(
            again[1].starts_with("blocked{")
                && again.iter().filter(|name| name.starts_with("blocked{")).count() == 1
        );
    }
}

#[test]
fn what_cannot_be_searched_is_told() {
    let plain = function(&Context::default());
    let mut workload = calls(&plain);
    let judge =
        Objective::Judge { text: "all".to_owned(), judge: std::sync::Arc::new(|all| vec![1.0; all.len()]) };
    let mut measured = Measured::new(&mut workload, judge, None).unwrap();
    assert!(search_parameters(&mut measured, &[0], &options(Levels::Restricted)).is_err());
    let mut workload = calls(&plain);
    let mut measured = Measured::new(&mut workload, Objective::least("work"), None).unwrap();
    for wrong in [
        ParameterOptions { method: "greedi".to_owned(), ..ParameterOptions::default() },
        ParameterOptions { classes: vec!["m".to_owned()], ..ParameterOptions::default() },
    ] {
        assert!(search_parameters(&mut measured, &[12], &wrong).is_err());
    }
    let space = Space::new(vec![Parameter::new("k", vec![Value::Integer(1)]).unwrap()], &[]).unwrap();
    let builder = CodeVariant::<u64, ()>::builder(&Context::default(), "f");
    assert!(builder.tunable("v", space, &[("k", Value::Integer(2))], |_, _| ()).is_err());
}
