//! Models for machines on which nothing was measured.

use crate::support::{names, table};
use adaptive::machines::{Fleet, Machine, SelectOptions, leave_out, select, similarities, train_for};
use adaptive::model_file;
use adaptive::train::{Kind, TrainOptions};
use std::path::Path;

/// Table 3.1 of the dissertation, in its order.
const DEVICES: [(&str, [f64; 13]); 6] = [
    ("480", [1.5, 480.0, 1401.0, 1848.0, 384.0, 768.0, 48.0, 1.0, 177.4, 1345.0, 168.0, 0.193, 0.402]),
    ("C2075", [5.2, 448.0, 1147.0, 1566.0, 384.0, 768.0, 48.0, 2.0, 144.0, 1030.0, 515.0, 0.238, 0.488]),
    ("770", [4.0, 1536.0, 1110.0, 3505.0, 256.0, 512.0, 48.0, 1.0, 224.0, 3213.0, 134.0, 0.281, 0.034]),
    ("K20c", [4.7, 2496.0, 706.0, 2600.0, 320.0, 1280.0, 48.0, 2.0, 208.0, 3520.0, 1170.0, 0.361, 0.051]),
    ("750", [2.0, 640.0, 1268.0, 2700.0, 128.0, 2048.0, 48.0, 1.0, 86.4, 1389.0, 43.0, 0.011, 0.063]),
    ("980", [4.0, 2048.0, 1216.0, 3505.0, 256.0, 2048.0, 48.0, 2.0, 224.0, 4612.0, 156.0, 0.006, 0.036]),
];
const FEATURES: [&str; 13] = [
    "global_mem",
    "cuda_cores",
    "clock_rate",
    "mem_clock_rate",
    "mem_bus_width",
    "l2_cache_size",
    "shared_mem_per_block",
    "copy_engines",
    "peak_gbps",
    "peak_gflops_sp",
    "peak_gflops_dp",
    "shared_atomic",
    "global_atomic",
];

fn devices() -> Fleet {
    let machine = |(name, features): (&str, [f64; 13])| Machine {
        name: name.to_owned(),
        features: features.to_vec(),
        table: None,
    };
    Fleet {
        name: "example".to_owned(),
        features: names(&FEATURES),
        machines: DEVICES.map(machine).to_vec(),
        files: Vec::new(),
    }
}

/// Table 3.2, from the features that Table 3.6 names the best for histogram and for SpMV.
#[test]
fn similarities_are_those_of_the_dissertation() {
    let fleet = devices();
    let tables: [(&[&str], [[f64; 6]; 6]); 2] = [
        (
            &["peak_gbps", "shared_atomic", "mem_bus_width"],
            [
                [1.0, 0.9, 0.3, 0.6, -0.8, 0.2],
                [0.9, 1.0, 0.0, 0.5, -0.6, -0.3],
                [0.3, 0.0, 1.0, 0.9, -0.8, 0.3],
                [0.6, 0.5, 0.9, 1.0, -1.0, -0.1],
                [-0.8, -0.6, -0.8, -1.0, 1.0, 0.0],
                [0.2, -0.3, 0.3, -0.1, 0.0, 1.0],
            ],
        ),
        (
            &["peak_gbps", "mem_clock_rate"],
            [
                [1.0, 0.8, -0.4, 0.3, -0.6, -0.4],
                [0.8, 1.0, -0.8, -0.3, 0.0, -0.8],
                [-0.4, -0.8, 1.0, 0.8, -0.6, 1.0],
                [0.3, -0.3, 0.8, 1.0, -1.0, 0.8],
                [-0.6, 0.0, -0.6, -1.0, 1.0, -0.6],
                [-0.4, -0.8, 1.0, 0.8, -0.6, 1.0],
            ],
        ),
    ];
    for (features, printed) in tables {
        let places: Vec<usize> =
            features.iter().map(|name| FEATURES.iter().position(|own| own == name).unwrap()).collect();
        let computed = similarities(&fleet, &places);
        for (computed, printed) in computed.iter().zip(&printed) {
            for (computed, printed) in computed.iter().zip(printed) {
                assert!((computed - printed).abs() < 0.06, "{features:?}: {computed} for {printed}");
            }
        }
    }
}

/// Machines of which one feature decides which variant is the best; the others of the thirteen mean nothing.
fn measured() -> Fleet {
    let mut fleet = devices();
    for (at, machine) in fleet.machines.iter_mut().enumerate() {
        let start = if machine.features[2] > 1200.0 { 0.3 } else { 3.0 };
        machine.table = Some(table(40, &["streams", "computes"], at as u64, |x, y| {
            vec![start + 0.1 * x, 1.0 + 0.01 * y]
        }));
    }
    fleet
}

fn trees() -> TrainOptions {
    TrainOptions { kind: Kind::Tree, ..TrainOptions::default() }
}

#[test]
fn the_feature_that_matters_is_selected() {
    let fleet = measured();
    // Of few features, so that there are few models.
    let features = [1, 2, 8, 12];
    let sources = fleet.sources("980");
    assert_eq!(sources.len(), 5);
    let selected = select(&fleet, &sources, &features, &SelectOptions::default()).unwrap();
    assert_eq!(selected.features, [2], "{:?}", selected.best);
    assert_eq!(selected.best.len(), 5);
    // Whatever the target's own table says: it is not looked at.
    let target = fleet.machine("980").unwrap();
    let unmeasured = Machine { table: None, ..target.clone() };
    let model = train_for(&fleet, &sources, target, &selected.features, &trees()).unwrap().model;
    let blind = train_for(&fleet, &sources, &unmeasured, &selected.features, &trees()).unwrap().model;
    assert_eq!(model, blind);
    assert_eq!((model.feature_names(), &model.constants), (names(&["x", "y"]), &vec![1216.0]));
    // A model is kept with its machine.
    let text = model_file::to_text(&model).unwrap();
    assert_eq!(model_file::from_text(&text).unwrap(), model);
    assert!(model.best(&[0.5, 5.0]) == 0 && model.best(&[9.5, 5.0]) == 1);
}

#[test]
fn each_machine_is_left_out() {
    let mut fleet = measured();
    // Three features are enough to be wrong with.
    fleet.features = names(&["clock_rate", "peak_gbps", "shared_mem_per_block"]);
    for machine in &mut fleet.machines {
        machine.features = vec![machine.features[2], machine.features[8], machine.features[6]];
    }
    let all = leave_out(&fleet, &trees(), &SelectOptions::default()).unwrap();
    assert_eq!(all.len(), 6);
    let mean = |value: &dyn Fn(&adaptive::machines::LeftOut) -> f64| all.iter().map(value).sum::<f64>() / 6.0;
    assert!(mean(&|one| one.selected) > 0.95, "{all:?}");
    assert!(mean(&|one| one.selected) > mean(&|one| one.random), "{all:?}");
    assert!(mean(&|one| one.own) > 0.97, "{all:?}");
    let few = Fleet { machines: fleet.machines[..2].to_vec(), ..fleet };
    assert!(leave_out(&few, &trees(), &SelectOptions::default()).is_err());
}

#[test]
fn files_with_mistakes() {
    let wrong = |text: &str, words: &str| {
        let error = Fleet::parse(Path::new("fleet.toml"), text).unwrap_err();
        let said = format!("{error}; {}", error.hint());
        assert!(said.contains(words), "{said}");
    };
    let machine =
        |name: &str, features: &str| format!("[[machines]]\nname = \"{name}\"\nfeatures = {{{features}}}\n");
    let file = |machines: &[String]| format!("name = \"f\"\n{}", machines.concat());
    wrong("", "name");
    wrong("name = \"f\"\nmachines = []", "no machine");
    wrong(&file(&[machine("a", "")]), "no features");
    wrong(&file(&[machine("a", "x = 1"), machine("a", "x = 1")]), "named `a`");
    wrong(&file(&[machine("a", "x = 1"), machine("b", "y = 1")]), "same features");
    wrong(&file(&[machine("a", "x = nan")]), "finite");
    wrong(&file(&[machine("a", "x = \"1\"")]), "x");
    wrong(&(file(&[machine("a", "x = 1")]) + "table = \"/nowhere/none.csv\"\n"), "none.csv");
    wrong(&(file(&[machine("a", "x = 1")]) + "tables = 1\n"), "tables");
    let fleet = Fleet::parse(Path::new("fleet.toml"), &file(&[machine("a", "x = 1")])).unwrap();
    assert!(fleet.machine("b").is_err());
    let target = fleet.machine("a").unwrap();
    let error = train_for(&fleet, &[], target, &[0], &trees()).unwrap_err();
    assert!(error.to_string().contains("nothing was measured"), "{error}");
    assert!(select(&fleet, &[], &[0], &SelectOptions::default()).unwrap().features.is_empty());
}
