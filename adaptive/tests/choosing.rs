//! Functions with variants, called.

use crate::support::{all, names, three};
use adaptive::note::{NoteKind, Reason};
use adaptive::train::{Grid, Kind, TrainOptions, train};
use adaptive::{Builder, CodeVariant, Context, Selector, model_file};
use std::sync::{Arc, Mutex};

/// What was said.
type Said = Arc<Mutex<Vec<(NoteKind, String)>>>;

fn listening() -> (Context, Said) {
    let said = Said::default();
    let heard = Arc::clone(&said);
    let context =
        Context::default().on_note(move |note| heard.lock().unwrap().push((note.kind, note.text.to_owned())));
    (context, said)
}

fn model(kind: Kind) -> adaptive::model::Model {
    let table = three(150, 1);
    let options = TrainOptions { kind, grid: Grid::COARSE, trees: 5, ..TrainOptions::default() };
    train(&table, &all(&table), &[0, 1], &options).unwrap().model
}

type Point = (f64, f64);

/// The function of the table `three`; it says which variant ran.
fn example(context: &Context) -> Builder<Point, &'static str> {
    CodeVariant::builder(context, "example")
        .variant("steady", |_| "steady")
        .variant("quick", |_| "quick")
        .variant("wide", |_| "wide")
        .feature("unused", |_| panic!("not needed"))
        .feature("x", |point: &Point| point.0)
        .feature("y", |point: &Point| point.1)
        .constraint("wide", |point| point.0 >= 3.0)
}

#[test]
fn the_model_chooses_and_constraints_forbid() {
    for kind in [Kind::Svm, Kind::Tree, Kind::Forest] {
        let (context, said) = listening();
        let function = example(&context).model(model(kind)).build().unwrap();
        assert_eq!(function.call(&mut (2.0, 2.1)), "quick");
        assert_eq!(function.call(&mut (9.0, 1.0)), "wide");
        assert_eq!(function.call(&mut (2.0, 9.0)), "steady");
        let strict = example(&context).constraint("wide", |_| false).model(model(kind)).build().unwrap();
        let choice = strict.choose(&(9.0, 1.0));
        assert_eq!((choice.variant, choice.reason), (0, Reason::NextBest));
        let nothing = example(&context)
            .constraint("wide", |_| false)
            .constraint("quick", |_| false)
            .constraint("steady", |_| panic!("no constraint"))
            .model(model(kind))
            .build()
            .unwrap();
        // The default is right for every input.
        assert_eq!(nothing.choose(&(9.0, 1.0)).reason, Reason::NoneAllowed);
        assert_eq!(nothing.choose(&(9.0, 1.0)).variant, 0);
        let said = said.lock().unwrap();
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0].0, NoteKind::Constraint);
    }
}

#[test]
fn a_feature_without_a_value_means_the_default_and_is_said_once() {
    let (context, said) = listening();
    let function = CodeVariant::builder(&context, "example")
        .variant("steady", |_: &mut Point| "steady")
        .variant("quick", |_| "quick")
        .variant("wide", |_| "wide")
        .default_variant("quick")
        .feature("y", |point: &Point| point.1)
        .feature("x", |point: &Point| if point.0 < 0.0 { panic!("negative") } else { point.0 })
        .model(model(Kind::Tree));
    let function = function.build().unwrap();
    for _ in 0..3 {
        assert_eq!(function.choose(&(-1.0, 1.0)).reason, Reason::NoFeatures);
        assert_eq!(function.call(&mut (f64::NAN, 1.0)), "quick");
        assert_eq!(function.call(&mut (1.0, f64::INFINITY)), "quick");
    }
    // Outside of the training inputs a choice is made all the same.
    assert_eq!(function.choose(&(50.0, 1.0)).reason, Reason::Model);
    assert_eq!(function.choose(&(60.0, 1.0)).reason, Reason::Model);
    let said = said.lock().unwrap();
    let kinds: Vec<NoteKind> = said.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [NoteKind::Feature, NoteKind::Feature, NoteKind::Range], "{said:?}");
    assert!(said[2].1.contains("`x` is 50"), "{said:?}");
}

#[test]
fn models_that_do_not_fit_are_told_and_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example.model.json");
    let text = model_file::to_text(&model(Kind::Tree)).unwrap();
    let outcome = |content: Option<&str>| {
        match content {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => drop(std::fs::remove_file(&path)),
        }
        let (context, said) = listening();
        let function = example(&context.models(folder.path())).build().unwrap();
        let reasons = [function.choose(&(9.0, 1.0)), function.choose(&(9.0, 1.0))];
        assert_eq!(reasons[0], reasons[1]);
        let said = said.lock().unwrap();
        assert!(said.iter().all(|(kind, _)| *kind == NoteKind::Model) && said.len() < 2, "{said:?}");
        (reasons[0].reason, said.first().map(|(_, text)| text.clone()).unwrap_or_default())
    };
    assert_eq!(outcome(Some(&text)), (Reason::Model, String::new()));
    let pretty = serde_json::from_str::<serde_json::Value>(&text).unwrap();
    assert_eq!(outcome(Some(&format!("{pretty:#}"))).0, Reason::Model);
    let refused = |content: Option<&str>, why: &str| {
        let (reason, said) = outcome(content);
        assert_eq!(reason, Reason::NoModel, "{why}");
        assert!(said.contains(why) && said.contains("default `steady`"), "{said}");
    };
    refused(None, "no such file");
    refused(Some(""), "damaged");
    refused(Some(&text[..text.len() / 2]), "damaged");
    refused(Some(&text.replacen("\"at_most\":", "\"at_most\":1", 1)), "checksum");
    refused(Some(&text.replace("model/1", "model/0")), "model/0");
    let mut other = model(Kind::Tree);
    other.variants[1] = "slow".to_owned();
    refused(Some(&model_file::to_text(&other).unwrap()), "other variants: steady, slow, wide");
    other.variants[1] = "quick".to_owned();
    other.features[1].name = "z".to_owned();
    refused(Some(&model_file::to_text(&other).unwrap()), "needs a feature `z`");
    // The order of variants is the function's own.
    let mut turned = model(Kind::Tree);
    turned.variants.rotate_left(1);
    turned.classifier = {
        let text = serde_json::to_string(&turned.classifier).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let (context, _) = listening();
    let function = example(&context).model(turned).build().unwrap();
    let straight = example(&context).model(model(Kind::Tree)).build().unwrap();
    // Names were rotated and places not: what was `steady` is `quick` now.
    let next = |name: &str| match name {
        "steady" => "quick",
        "quick" => "wide",
        _ => "steady",
    };
    let free = |function: &CodeVariant<Point, &'static str>, mut point| {
        let choice = function.choose(&point);
        assert_eq!(choice.reason, Reason::Model);
        function.run(choice.variant, &mut point)
    };
    for point in [(9.0, 1.0), (4.0, 9.0), (6.0, 6.1)] {
        assert_eq!(free(&function, point), next(free(&straight, point)));
    }
}

#[test]
fn variants_are_forced() {
    let (context, said) = listening();
    let forced =
        |text: &str| example(&context.clone().forcing(text)).model(model(Kind::Tree)).build().unwrap();
    assert_eq!(forced("wide").call(&mut (5.0, 5.0)), "wide");
    assert_eq!(forced("steady, example=quick").call(&mut (9.0, 1.0)), "quick");
    assert_eq!(forced("other=quick").choose(&(9.0, 1.0)).reason, Reason::Model);
    assert_eq!(forced("none").choose(&(9.0, 1.0)).reason, Reason::Model);
    assert!(said.lock().unwrap().is_empty());
    // Not even then what is not allowed.
    assert_eq!(forced("wide").choose(&(1.0, 1.0)).reason, Reason::NoneAllowed);
    assert_eq!(forced("example=none").choose(&(9.0, 1.0)).reason, Reason::Model);
    assert_eq!(said.lock().unwrap().len(), 2);
}

#[test]
fn decisions_are_logged_and_cached() {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&log);
    let context = Context::default().on_decision(move |decision| heard.lock().unwrap().push(decision.line()));
    let function = example(&context)
        .cached_by(|point| (point.0.to_bits() >> 32) ^ point.1.to_bits())
        .model(model(Kind::Tree))
        .build()
        .unwrap();
    for _ in 0..2 {
        function.call(&mut (9.0, 1.0));
    }
    // The constraint is asked of what is cached, too: it may depend on more than the shape.
    let log = log.lock().unwrap();
    assert_eq!(
        *log,
        [
            r#"{"features":[9.0,1.0],"function":"example","reason":"model","variant":"wide"}"#,
            r#"{"features":[],"function":"example","reason":"cached","variant":"wide"}"#
        ]
    );
}

#[test]
fn features_are_evaluated_at_once_and_ahead() {
    let (context, said) = listening();
    let at_once =
        example(&context).parallel_features().parallel_constraints().model(model(Kind::Svm)).build().unwrap();
    let in_turn = example(&context).model(model(Kind::Svm)).build().unwrap();
    for step in 0..100 {
        let point = (f64::from(step % 10) + 0.5, f64::from(step / 10) + 0.3);
        assert_eq!(at_once.choose(&point), in_turn.choose(&point));
        let (result, back, choice) = in_turn.fix_inputs(point).call();
        assert_eq!((back, choice), (point, in_turn.choose(&point)));
        assert_eq!(result, in_turn.call(&mut (point.0, point.1)));
    }
    assert_eq!(in_turn.fix_inputs((f64::NAN, 1.0)).call().2.reason, Reason::NoFeatures);
    assert_eq!(at_once.choose(&(f64::NAN, 1.0)).reason, Reason::NoFeatures);
    // Inside of rayon's own threads nothing waits for itself.
    let pool = rayon_pool();
    assert_eq!(pool.install(|| in_turn.fix_inputs((9.0, 1.0)).call().0), "wide");
    assert_eq!(said.lock().unwrap().len(), 2, "once for each function");
}

fn rayon_pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap()
}

/// Many threads at once, and arguments that borrow.
#[test]
fn functions_are_shared_between_threads() {
    struct Sum<'a> {
        of: &'a [f64],
        into: f64,
    }
    let (context, _) = listening();
    let numbers = vec![1.0; 1000];
    let function: CodeVariant<Sum<'_>, ()> = CodeVariant::builder(&context, "sum")
        .variant("plain", |sum: &mut Sum<'_>| sum.into = sum.of.iter().sum())
        .build()
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut sum = Sum { of: &numbers, into: 0.0 };
                function.call(&mut sum);
                assert_eq!(sum.into, 1000.0);
            });
        }
    });
    fn is_shared<T: Send + Sync>(_: &T) {}
    is_shared(&function);
    is_shared(function.selector());
    // Slices, in place.
    let sort = CodeVariant::<[i32], ()>::builder(&context, "sort")
        .variant("stable", |keys| keys.sort())
        .variant("unstable", |keys| keys.sort_unstable())
        .feature("n", |keys| keys.len() as f64)
        .build()
        .unwrap();
    let mut keys = [3, 1, 2];
    sort.call(&mut keys);
    assert_eq!(keys, [1, 2, 3]);
}

#[test]
fn wrong_functions_are_refused() {
    let context = Context::default();
    let refused = |builder: Builder<Point, &'static str>, why: &str| {
        let error = builder.build().unwrap_err();
        assert!(format!("{error}: {}", error.hint()).contains(why), "{error}: {}", error.hint());
    };
    refused(CodeVariant::builder(&context, "empty"), "no variant");
    refused(example(&context).default_variant("qick"), "did you mean `quick`?");
    refused(example(&context).constraint("none", |_| true), "there are: steady, quick, wide");
    refused(example(&context).variant("wide", |_| ""), "two variants are named `wide`");
    refused(example(&context).feature("x", |_| 0.0), "two features are named `x`");
    let many: Vec<String> = (0..65).map(|at| at.to_string()).collect();
    assert!(Selector::new(&context, "many", &many, 0, &[]).is_err());
    // A name that is a path finds no model, and reads no file elsewhere.
    let (context, said) = listening();
    let context = context.models("/");
    assert!(Selector::new(&context, "../etc/passwd", &names(&["a"]), 0, &[]).unwrap().model().is_none());
    assert!(said.lock().unwrap().is_empty());
}
