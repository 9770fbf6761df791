//! Models for machines on which nothing was measured.

use crate::support::{names, table};
use adaptive::machines::profiles::{Profile, Profiles};
use adaptive::machines::proxies::{IntensityModel, PROXIES, shipped};
use adaptive::machines::{
    DeviceFeatures, Fleet, Machine, ProfileSources, SelectOptions, leave_out, select, select_by_profiles,
    sensitivity, similarities, train_for, tune_from_source,
};
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
        generation: String::new(),
        features: features.to_vec(),
        table: None,
    };
    Fleet {
        name: "example".to_owned(),
        features: names(&FEATURES),
        machines: DEVICES.map(machine).to_vec(),
        profiles: None,
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
    // Profiles of nothing, of unknown proxies and of unknown features.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.toml");
    std::fs::write(folder.path().join("p.csv"), "variant,metric:inst_global\nv,0.5\n").unwrap();
    std::fs::write(folder.path().join("q.csv"), "variant,metric:other\nv,0.5\n").unwrap();
    for (profiles, words) in [
        ("variants = \"none.csv\"", "none.csv"),
        ("variants = \"q.csv\"", "neither of a GPU"),
        ("variants = \"p.csv\"\nfeatures = { mem = [\"x\"] }", "no proxy `mem`"),
        ("variants = \"p.csv\"\nfeatures = { mem-bw = [\"y\"] }", "no feature of machines `y`"),
    ] {
        let text = format!("name = \"f\"\n[profiles]\n{profiles}\n{}", machine("a", "x = 1"));
        let error = Fleet::parse(&path, &text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let fleet = Fleet::parse(Path::new("fleet.toml"), &file(&[machine("a", "x = 1")])).unwrap();
    assert!(fleet.machine("b").is_err());
    let target = fleet.machine("a").unwrap();
    let error = train_for(&fleet, &[], target, &[0], &trees()).unwrap_err();
    assert!(error.to_string().contains("nothing was measured"), "{error}");
    assert!(select(&fleet, &[], &[0], &SelectOptions::default()).unwrap().features.is_empty());
}

/// Profiles with the metrics of GPUs, and nothing in them.
fn metrics_of(metric: &str) -> Profiles {
    Profiles { metrics: vec![metric.to_owned()], rows: Vec::new() }
}

/// A model that never saw an intensity says it within 1, for GPUs and for processors; intensities of the ends are the hard ones.
#[test]
fn each_proxy_knows_its_intensity() {
    for metric in ["inst_global", "inst_memory"] {
        let all = shipped(&metrics_of(metric)).unwrap();
        assert_eq!(all.rows.len(), 30);
        for proxy in &PROXIES {
            let whole = IntensityModel::fit(proxy, &all).unwrap();
            for row in all.rows.iter().filter(|row| row.variant == proxy.name) {
                let mut others = all.clone();
                others.rows.retain(|other| other.variant != proxy.name || other.input != row.input);
                let blind = IntensityModel::fit(proxy, &others).unwrap();
                let intensity: f64 = row.input.parse().unwrap();
                for model in [&whole, &blind] {
                    let found = model.intensity(&row.metrics);
                    assert!((found - intensity).abs() < 0.3, "{metric} {} {intensity}: {found}", proxy.name);
                }
            }
        }
    }
    assert!(shipped(&metrics_of("inst_something")).is_err());
}

/// The kernels of a histogram, as Table 3.6 speaks of them: atomic ones, and one that reads memory.
fn histogram() -> ProfileSources {
    let proxies = shipped(&metrics_of("inst_global")).unwrap();
    let place = |name: &str| proxies.metric(name).unwrap();
    let row = |variant: &str, input: &str, values: &[(&str, f64)]| {
        let mut metrics = vec![0.01; proxies.metrics.len()];
        values.iter().for_each(|&(name, value)| metrics[place(name)] = value);
        Profile { variant: variant.to_owned(), kernel: "k".to_owned(), input: input.to_owned(), metrics }
    };
    let rows = vec![
        row("shared", "a", &[("inst_atomic", 0.4), ("inst_global", 0.1)]),
        row("shared", "b", &[("inst_atomic", 0.3), ("inst_global", 0.1)]),
        row("shared", "c", &[("inst_fp_32", 0.9)]),
        row("sort", "a", &[("inst_global", 0.5), ("global_sectors", 2.0), ("inst_shared", 0.2)]),
    ];
    let variants = Profiles { metrics: proxies.metrics.clone(), rows };
    let features = PROXIES.iter().map(|proxy| names(proxy.features)).collect();
    ProfileSources { variants, proxies, features }
}

/// Algorithm 1, with the names of Tables 3.1 and 3.3; the vote of inputs leaves out the odd one.
#[test]
fn profiles_select_what_proxies_stand_for() {
    let mut fleet = Fleet { profiles: Some(histogram()), ..measured() };
    let found = select_by_profiles(&fleet).unwrap();
    assert_eq!(found.proxies, ["atomic", "mem-bw"]);
    let chosen: Vec<&str> = found.features.iter().map(|&at| FEATURES[at]).collect();
    let expected =
        ["mem_clock_rate", "mem_bus_width", "l2_cache_size", "peak_gbps", "shared_atomic", "global_atomic"];
    assert_eq!(chosen, expected);
    // A model from them, and from those of them that a search keeps.
    let how = DeviceFeatures { by_profiles: true, by_search: false };
    let (trained, used) = tune_from_source(&fleet, "980", how, &trees(), &SelectOptions::default()).unwrap();
    assert_eq!((used.features.len(), trained.model.constants.len()), (6, 6));
    let how = DeviceFeatures { by_profiles: true, by_search: true };
    let few = [0, 1, 2, 3, 12];
    let mut smaller = fleet.clone();
    smaller.features = few.iter().map(|&at| FEATURES[at].to_owned()).collect();
    smaller
        .machines
        .iter_mut()
        .for_each(|own| own.features = few.iter().map(|&at| own.features[at]).collect());
    let (_, used) = tune_from_source(&smaller, "980", how, &trees(), &SelectOptions::default()).unwrap();
    assert!(used.features.len() == 1 && [3, 4].contains(&used.features[0]), "{used:?}");
    let one = &leave_out(&smaller, &trees(), &SelectOptions::default()).unwrap()[0];
    assert!(one.profiled.is_some_and(|value| value > 0.0), "{one:?}");
    // Nothing to select by, nothing that is like a proxy, nothing that the winners stand for.
    let refusal = |fleet: &Fleet| select_by_profiles(fleet).unwrap_err().to_string();
    let mut idle = histogram();
    idle.variants.rows.iter_mut().for_each(|row| row.metrics.fill(0.0));
    fleet.profiles = Some(idle);
    assert!(refusal(&fleet).contains("like none"));
    fleet.profiles = Some(ProfileSources { features: vec![Vec::new(); 5], ..histogram() });
    assert!(refusal(&fleet).contains("no feature of the machines stands for atomic, mem-bw"));
    let mut other = histogram();
    other.variants.metrics[0] = "inst".to_owned();
    fleet.profiles = Some(other);
    assert!(refusal(&fleet).contains("have the metrics inst,"));
    fleet.profiles = None;
    assert!(refusal(&fleet).contains("names no profiles"));
}

/// Machines of one generation that agree, and others that do not.
#[test]
fn best_variants_differ_between_machines() {
    let mut fleet = measured();
    for machine in &mut fleet.machines {
        // The same inputs everywhere: whoever has a fast clock streams more.
        let start = if machine.features[2] > 1200.0 { 0.3 } else { 3.0 };
        let costs = |x: f64, y: f64| vec![start + 0.1 * x, 1.0 + 0.01 * y];
        machine.table = Some(table(40, &["streams", "computes"], 1, costs));
        machine.generation =
            if ["480", "750", "980"].contains(&machine.name.as_str()) { "fast" } else { "slow" }.to_owned();
    }
    let found = sensitivity(&fleet);
    assert_eq!((found.inputs, found.best.len()), (40, 6));
    assert!(found.whole > 0.5, "{found:?}");
    assert_eq!(found.generations, [("fast".to_owned(), 0.0), ("slow".to_owned(), 0.0)]);
    assert_eq!(found.best[0].1.iter().sum::<usize>(), 40);
    assert_eq!(found.best[1].1, [0, 40]);
}
