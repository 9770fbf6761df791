//! The tuner: labels, stores, incremental tuning, selection, reports.

use crate::support::{all, three};
use adaptive::commands::Commands;
use adaptive::description::Description;
use adaptive::evaluate::evaluate;
use adaptive::train::{Grid, Kind, TrainOptions, select_features, train, worth_by_cost};
use adaptive::tune::{
    COST, Calls, Measured, Objective, Order, Recorded, SECONDS, Stopping, TuneOptions, Workload, tune,
    tune_incrementally,
};
use adaptive::{AdaptiveError, Classifier, CodeVariant, Context, Learned, model_file};
use std::path::Path;
use trials::Status;

fn coarse() -> TrainOptions {
    TrainOptions { grid: Grid::COARSE, trees: 5, ..TrainOptions::default() }
}

/// Variants that fail, are wrong and are late are data; the store keeps them, and the model is the same from it.
#[test]
fn functions_are_tuned_and_stores_are_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("trials.jsonl");
    let called = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&called);
    let function = CodeVariant::<u64, u64>::builder(&Context::default(), "sum")
        .variant("loop", move |n| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            (0..=*n).sum()
        })
        .variant("formula", |n| *n * (*n + 1) / 2)
        .variant("wrong", |n| *n)
        .variant("broken", |n| if *n > 3 { panic!("too much") } else { *n * (*n + 1) / 2 })
        .variant("forbidden", |_| panic!("it is not allowed"))
        .constraint("forbidden", |_| false)
        .feature("n", |n| *n as f64)
        .feature("odd", |n| if *n == 9 { f64::NAN } else { (*n % 2) as f64 })
        .build()
        .unwrap();
    let workload = || {
        let mut calls = Calls::new(&function).repeat(2).source("1").check(|n, sum, outcome| {
            if *sum != n * (n + 1) / 2 {
                outcome.status = Status::WrongResult;
            }
            // The metric of the test, so that it does not depend on time.
            let terms = if outcome.metrics.contains_key(SECONDS) { *n as f64 } else { 0.0 };
            *outcome = outcome.clone().with("terms", terms, "");
        });
        for n in 4..16 {
            calls = calls.input(&n.to_string(), if n < 10 { "small" } else { "large" }, move || n);
        }
        calls
    };
    let tuned = |calls: &mut Calls<u64, u64>| {
        let mut measured = Measured::new(calls, Objective::least("terms + 1"), Some(&store)).unwrap();
        let inputs: Vec<usize> = (0..12).collect();
        let tuned =
            tune(&mut measured, &inputs, &TuneOptions { train: coarse(), ..TuneOptions::default() }).unwrap();
        (measured.fresh(), tuned)
    };
    let (fresh, first) = tuned(&mut workload());
    // Features and four variants of twelve inputs; what is not allowed is not measured.
    assert_eq!(fresh, 12 * 5);
    let calls = called.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(calls, 12 * 2);
    let row = &first.table.rows[0];
    assert_eq!(row.costs, [5.0, 5.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]);
    assert_eq!((row.forbidden.clone(), row.family.as_str()), (vec![4], "small"));
    // One input has no features.
    assert_eq!(first.trained.model.training.inputs, 11);
    let (fresh, second) = tuned(&mut workload());
    assert_eq!((fresh, called.load(std::sync::atomic::Ordering::Relaxed)), (0, calls));
    let text = |tuned: &adaptive::tune::Tuned| model_file::to_text(&tuned.trained.model).unwrap();
    assert_eq!(text(&first), text(&second));
    // A store that was cut anywhere loses its last trial and no other, and gives the same model.
    let whole = std::fs::read(&store).unwrap();
    for length in [whole.len() - 5, whole.len() / 2, whole.len() / 3, 10, 0] {
        std::fs::write(&store, &whole[..length]).unwrap();
        let (fresh, again) = tuned(&mut workload());
        let kept = whole[..length].iter().filter(|byte| **byte == b'\n').count().saturating_sub(2);
        assert_eq!(fresh, 60 - kept, "cut at {length}");
        assert_eq!(text(&again), text(&first));
    }
    // A later program is measured again.
    assert_eq!(tuned(&mut workload().source("2")).0, 60);
    let measured = Measured::new(&mut workload(), Objective::least("watts"), None)
        .unwrap()
        .label(0)
        .unwrap_err()
        .to_string();
    assert!(measured.contains("input `4`") && measured.contains("`watts`"), "{measured}");
}

#[test]
fn few_labels_do_where_they_are_chosen() {
    let (table, test) = (three(200, 11), three(200, 12));
    let mut whole = table.clone();
    whole.rows.extend(test.rows.clone());
    let pool: Vec<usize> = (0..200).collect();
    let held: Vec<usize> = (200..400).collect();
    let full = {
        let trained = train(&table, &all(&table), &[0, 1], &coarse()).unwrap();
        evaluate(&trained.model, &test, 1.0).unwrap().performance.mean
    };
    let run = |order: Order, stopping: Stopping| {
        let mut recorded = Recorded::new(whole.clone()).unwrap();
        let mut measured = Measured::new(&mut recorded, Objective::least(COST), None).unwrap();
        tune_incrementally(&mut measured, &pool, &held, &[0, 1], stopping, order, &coarse()).unwrap()
    };
    let wanted = Stopping { iterations: Some(47), accuracy: Some(full - 0.005) };
    let chosen = run(Order::BestVersusSecondBest, wanted);
    let last = chosen.steps.last().unwrap();
    assert!(last.performance.unwrap() >= full - 0.005 && last.labels <= 50, "{last:?} of {full}");
    assert_eq!(chosen.labelled.len(), last.labels);
    assert!(chosen.seeds >= 3 && chosen.steps[0].labels == chosen.seeds);
    // The labels that were asked for, and no others.
    let some = run(Order::Given, Stopping { iterations: Some(2), accuracy: None });
    assert_eq!(some.labelled.len(), some.seeds + 2);
    assert!(some.labelled.windows(2).all(|pair| pair[0] < pair[1]));
    let mut recorded = Recorded::new(whole.clone()).unwrap();
    let mut measured = Measured::new(&mut recorded, Objective::least(COST), None).unwrap();
    let none = Stopping { iterations: None, accuracy: None };
    let order = Order::BestVersusSecondBest;
    assert!(tune_incrementally(&mut measured, &pool, &held, &[0, 1], none, order, &coarse()).is_err());
    // Inputs of one name are told apart, or refused.
    assert_ne!(measured.workload().inputs()[0], measured.workload().inputs()[200]);
    let function =
        CodeVariant::<u8, ()>::builder(&Context::default(), "f").variant("v", |_| ()).build().unwrap();
    let mut twice = Calls::new(&function).input("one", "", || 1).input("one", "", || 2);
    assert!(Measured::new(&mut twice, Objective::default(), None).is_err());
}

/// Time that is over ends labelling and not training.
#[test]
fn time_limits_leave_a_model() {
    let table = three(50, 13);
    let mut recorded = Recorded::new(table).unwrap();
    let mut measured = Measured::new(&mut recorded, Objective::least(COST), None)
        .unwrap()
        .within(Some(std::time::Duration::ZERO));
    let pool: Vec<usize> = (0..50).collect();
    let stopping = Stopping { iterations: Some(40), accuracy: None };
    let order = Order::BestVersusSecondBest;
    let tuned = tune_incrementally(&mut measured, &pool, &[], &[0, 1], stopping, order, &coarse()).unwrap();
    assert!(tuned.cut_short && tuned.labelled.len() == 1);
    let error = tune(&mut measured, &pool, &TuneOptions::default()).unwrap_err();
    assert!(matches!(error, AdaptiveError::Infeasible { .. }), "{error}");
}

#[test]
fn features_are_taken_that_are_worth_their_cost() {
    let mut table = three(120, 21);
    table.features.extend(["noise", "dear"].map(str::to_owned));
    for (at, row) in table.rows.iter_mut().enumerate() {
        // `dear` is `x` again, and takes as long as the variants do.
        row.features.extend([((at * 7919) % 101) as f64, row.features[0]]);
        row.feature_costs = vec![0.001, 0.001, 0.0005, 1.0];
    }
    let options = TrainOptions { kind: Kind::Tree, ..coarse() };
    let rows = all(&table);
    assert_eq!(select_features(&table, &rows, 1.0, &options).unwrap(), [0, 1]);
    let worth = worth_by_cost(&table, &rows, 1.0, &options).unwrap();
    let names: Vec<&str> = worth.iter().map(|worth| worth.feature.as_str()).collect();
    assert_eq!(names, ["noise", "x", "y", "dear"]);
    assert!(worth[0].performance + 0.1 < worth[2].performance, "{worth:?}");
    assert!(worth[3].net + 0.2 < worth[2].net && worth[3].cost > 0.5, "{worth:?}");
    // Where they serve many calls, the cost is little.
    let many = worth_by_cost(&table, &rows, 1e6, &options).unwrap();
    assert!((many[3].net - many[3].performance).abs() < 1e-4);
}

#[test]
fn features_that_say_nothing_alone_are_taken_together() {
    let mut table = three(60, 41);
    table.features.push("dear".to_owned());
    for (at, row) in table.rows.iter_mut().enumerate() {
        let sides = [at % 2, at / 2 % 2];
        row.features = [sides[0] as f64, sides[1] as f64, at as f64].to_vec();
        row.feature_costs = vec![0.001, 0.001, 1.0];
        row.costs = if sides[0] == sides[1] { vec![1.0, 3.0, 5.0] } else { vec![3.0, 1.0, 5.0] };
    }
    assert_eq!(select_features(&table, &all(&table), 1.0, &coarse()).unwrap(), [0, 1]);
}

/// Of calls that take a tenth of a microsecond none can pay for a forest; of those that take seconds all can.
#[test]
fn choices_pay_for_themselves() {
    let model = |seconds: f64, kind: Kind| {
        let mut table = three(120, 21);
        table.rows.iter_mut().flat_map(|row| &mut row.costs).for_each(|cost| *cost *= seconds);
        let options = TrainOptions { kind, trees: 40, choosing: 1.0, ..coarse() };
        let trained = train(&table, &all(&table), &[0, 1], &options).unwrap();
        (trained.model.classifier, trained.validated)
    };
    let trees = |seconds: f64| match model(seconds, Kind::Forest).0 {
        Learned::Forest(own) => own.pairs()[0].trees.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!((trees(1e-7), trees(1.0)), (5, 40));
    let (short, validated) = model(1e-7, Kind::Auto);
    assert!(matches!(short, Learned::Tree(_)), "{}", short.description());
    assert!(validated.added.iter().all(|added| *added > 0.0), "{validated:?}");
    assert!(validated.performance < model(1.0, Kind::Auto).1.performance - 0.01, "{validated:?}");
}

#[test]
fn reports_count_what_they_should() {
    let table = three(200, 31);
    let trained =
        train(&table, &all(&table), &[0, 1], &TrainOptions { kind: Kind::Tree, ..coarse() }).unwrap();
    let mut test = three(100, 32);
    test.rows[0].costs = vec![f64::INFINITY; 3];
    test.rows[1].features[0] = f64::NAN;
    let own = evaluate(&trained.model, &test, 10.0).unwrap();
    assert_eq!((own.inputs, own.unsolved), (99, 1));
    assert_eq!(own.variants.iter().map(|single| single.best).sum::<usize>(), 99);
    assert_eq!(own.variants.iter().map(|single| single.chosen).sum::<usize>(), 99);
    assert_eq!(own.confusion.iter().flatten().sum::<usize>(), 99);
    let right: usize = (0..3).map(|at| own.confusion[at][at]).sum();
    assert!((own.accuracy - right as f64 / 99.0).abs() < 1e-12);
    assert_eq!(own.families.iter().map(|family| family.inputs).sum::<usize>(), 99);
    let failing = test.rows[1..].iter().filter(|row| row.costs[2].is_infinite()).count();
    assert_eq!((own.risky, own.variants[2].failed), (failing, failing));
    let closed = (own.performance.mean - own.best_single_performance) / (1.0 - own.best_single_performance);
    assert_eq!(own.gap_closed, Some(closed));
    assert!(closed > 0.8 && own.performance.least <= own.performance.tenth, "{own:?}");
    assert_eq!(own.performance, own.net);
    let mut other = test.clone();
    other.features[0] = "z".to_owned();
    assert!(evaluate(&trained.model, &other, 1.0).unwrap_err().to_string().contains("no feature `x`"));
}

/// Commands: metrics, failures, constraints, features of commands and of tables, names that a shell would take apart.
#[test]
fn commands_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("count.toml");
    for (name, text) in [("a b.txt", "1\n"), ("c.txt", "1\n2\n3\n")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    std::fs::write(folder.path().join("known.csv"), "input,bytes\na b.txt,2\n").unwrap();
    let text = r#"
name = "count"
metric = "seconds + joules"
timeout = 20
build = "touch built"
clean = "rm built"
[inputs]
training = ["*.txt"]
test = ["$(touch evil)"]
[[features]]
names = ["lines"]
command = "test -e built && wc -l < {input}"
[[features]]
names = ["bytes"]
table = "known.csv"
[[variants]]
name = "good"
command = "cat {input} > /dev/null; echo noise; echo '{\"seconds\": 1, \"joules\": 2}'"
[[variants]]
name = "wrong"
command = "exit 67"
[[variants]]
name = "late"
command = "sleep 600"
[[variants]]
name = "small"
command = "echo '{\"seconds\": 0.5, \"joules\": 1}'"
constraint = "lines < 2"
"#
    .replace("timeout = 20", "timeout = 0.5");
    let description = Description::parse(&path, &text).unwrap();
    let mut commands = Commands::new(&path, description, &[]).unwrap();
    assert_eq!(commands.inputs(), ["a b.txt", "c.txt", "$(touch evil)"]);
    assert_eq!((commands.training(), commands.others()), (vec![0, 1], vec![2]));
    let setting = commands.setting();
    let mut measured = Measured::new(&mut commands, Objective::least("seconds + joules"), None).unwrap();
    let inf = f64::INFINITY;
    assert_eq!(measured.label(0).unwrap().costs, [3.0, inf, inf, 1.5]);
    let row = measured.label(1).unwrap().clone();
    assert_eq!((row.costs, row.forbidden), (vec![3.0, inf, inf, inf], vec![3]));
    assert_eq!(row.features[0], 3.0);
    assert!(row.features[1].is_nan() && row.feature_costs[0] == 0.0, "joules are no seconds");
    // There is no such file, so there is no feature, and what needs it is not allowed.
    assert!(measured.features(2).unwrap().features[0].is_nan());
    assert!(measured.label(2).unwrap().forbidden.contains(&3));
    assert!(!folder.path().join("evil").exists());
    drop(measured);
    commands.clean().unwrap();
    assert!(!folder.path().join("built").exists());
    // Another command is another measurement.
    let other = Description::parse(&path, &text.replace("exit 67", "exit 66")).unwrap();
    assert!(!setting.agrees(&Commands::new(&path, other, &[]).unwrap().setting()));
    for (from, to, why) in [
        ("lines < 2", "rows < 2", "the constraint of variant `small`"),
        ("touch built", "echo no compiler >&2; exit 1", "the build command failed: no compiler"),
        ("table = \"known.csv\"", "table = \"none.csv\"", "cannot read"),
        ("[\"$(touch evil)\"]", "[\"c.txt\"]", "for training and for the test"),
        ("{input} > /dev", "{inptu} > /dev", "inptu"),
    ] {
        let description = Description::parse(&path, &text.replace(from, to)).unwrap();
        let error = match Commands::new(&path, description, &[]) {
            Ok(mut commands) => commands.evaluate(0).unwrap_err(),
            Err(error) => error,
        };
        assert!(error.to_string().contains(why), "{error}");
    }
}

/// Any byte of a model file changed: the model is refused, or is the same.
#[test]
fn damaged_models_are_refused() {
    let table = three(40, 41);
    for kind in [Kind::Svm, Kind::Tree, Kind::Forest] {
        let model =
            train(&table, &all(&table), &[0, 1], &TrainOptions { kind, trees: 1, ..coarse() }).unwrap().model;
        let text = model_file::to_text(&model).unwrap();
        for at in (0..text.len()).step_by(7) {
            for change in [1_u8, 4, 0x20] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= change;
                let Ok(changed) = String::from_utf8(bytes) else { continue };
                if let Ok(other) = model_file::from_text(&changed) {
                    assert_eq!(other, model, "byte {at}: {changed}");
                }
            }
        }
        // What says nonsense with the right checksum is refused as well.
        let mut wrong = model.clone();
        wrong.default = 7;
        assert!(model_file::to_text(&wrong).is_err());
    }
    assert!(model_file::load(Path::new("/dev/null")).is_err());
    let deep = format!("{{\"schema\":\"{}\",\"model\":{}", model_file::SCHEMA, "[".repeat(100_000));
    assert!(model_file::from_text(&deep).is_err());
}
