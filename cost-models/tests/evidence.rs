//! The counted form of the GPU's time model against tiles that were timed: on an H100 (benches/results/h100-tiles.csv), and a
//! V100 on a cycle-level simulator. No number of the model is the solution of a fit to them; its form was chosen with some of them in
//! view.

use cost_models::gpu::{GpuCost, TimeModel};
use cost_models::machine::{Facts, Machine, shipped};
use cost_models::model::CostModel;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::{Problem, Terms};
use hhc_codegen::strategy;
use polyhedral::program::ElementType;
use polyhedral::shipped::load;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Predicted and measured seconds of some tiles.
struct Judged(Vec<(f64, f64)>);

impl Judged {
    /// Root of the mean square of relative errors.
    fn rms(&self) -> f64 {
        let squares: f64 =
            self.0.iter().map(|(predicted, measured)| (predicted / measured - 1.0).powi(2)).sum();
        (squares / self.0.len() as f64).sqrt()
    }

    /// Spearman's rank correlation.
    fn rank_correlation(&self) -> f64 {
        let ranks = |values: Vec<f64>| -> Vec<f64> {
            let below = |x: f64| values.iter().filter(|&&y| y < x).count() as f64;
            let equal = |x: f64| values.iter().filter(|&&y| y == x).count() as f64;
            values.iter().map(|&x| below(x) + 0.5 * (equal(x) - 1.0)).collect()
        };
        let (a, b) = self.0.iter().copied().unzip();
        let (a, b) = (ranks(a), ranks(b));
        let n = a.len() as f64;
        let mean = (n - 1.0) / 2.0;
        let product =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
        product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
    }

    /// Time of the tile that the model likes best over the least.
    fn picked_over_best(&self) -> f64 {
        let picked = self.0.iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1;
        picked / self.0.iter().map(|own| own.1).fold(f64::INFINITY, f64::min)
    }

    fn show(&self, what: &str) {
        println!(
            "{what}: {} tiles, RMS {:.3}, rank correlation {:.3}, picked over best {:.3}",
            self.0.len(),
            self.rms(),
            self.rank_correlation(),
            self.picked_over_best()
        );
    }
}

fn machine(name: &str) -> Machine {
    shipped(name).unwrap().unwrap()
}

fn predicted(form: TimeModel, problem: &Problem, machine: &Machine, strategy: &str, tile: &str) -> f64 {
    let model = GpuCost::by(form, problem, machine).unwrap();
    let tile = TileSizes::parse(tile).unwrap();
    let of = |k| model.counts(problem, strategy::by_name(strategy).unwrap(), &tile, k).unwrap();
    let k = (1..=32).take_while(|&k| model.fits(&of(k))).last().unwrap_or(1);
    model.seconds(&of(k))
}

/// What the text stood for when the tiles below were timed: fewer rows had code of their own, nothing was loaded ahead.
const TIMED: Terms = Terms {
    row: 14.0,
    pass: 8.0,
    batch: 6.0,
    point: 2.5,
    rolled_point: 12.5,
    loaded: [7.0, 7.0, 35.0],
    clipped: 95.0,
    clipped_row: 30.0,
    clipped_pass: 25.0,
    clipped_at_once: 2,
    own_code: 0.0,
    unrolled: 1570.0,
    loads_ahead: false,
    direct_point: [30.0, 41.0, 72.0],
    direct_batch: [0.0; 3],
    direct_pass: [0.0; 3],
    direct_at_once: 1,
    direct_read: 1.8,
    direct_thread: [50.0, 95.0, 135.0],
    ..Terms::PRINTED
};

/// What the text stood for when the tiles called `now` were timed: sub-tiles at edges had rows that were not unrolled, and
/// waited for the lines that they load one by one; sweeps multiplied strides.
const TIMED_AT_EDGES: Terms = Terms {
    clipped: 36.0,
    clipped_row: 30.0,
    clipped_pass: 25.0,
    clipped_at_once: 2,
    direct_point: [1.0, 3.75, 3.75],
    direct_batch: [24.0, 24.0, 52.0],
    direct_pass: [0.0, 0.0, 75.0],
    direct_thread: [50.0, 92.0, 60.0],
    ..Terms::PRINTED
};

/// Instructions per point and step in full sub-tiles, counted from machine code for sm_90 (`tilewright inspect`).
const COUNTED: [(&str, &str, &str, &str, f64); 25] = [
    ("box2d1r", "f32", "hhc", "st=14,s0=3,s1=160", 25.41),
    ("box2d1r", "f32", "hhc", "st=6,s0=16,s1=128", 17.95),
    ("fdtd2d", "f32", "hhc", "st=6,s0=16,s1=64", 46.06),
    ("gradient2d", "f32", "hhc", "st=2,s0=20,s1=288", 42.03),
    ("heat2d", "f32", "hhc", "st=6,s0=16,s1=128", 16.55),
    ("star2d1r", "f32", "hhc", "st=2,s0=8,s1=64", 32.58),
    ("star2d1r", "f32", "hhc", "st=4,s0=18,s1=288", 13.34),
    ("star2d1r", "f32", "hhc", "st=6,s0=16,s1=128", 13.54),
    ("star2d1r", "f32", "hhc", "st=9,s0=8,s1=96", 13.87),
    ("star2d1r", "f64", "hhc", "st=4,s0=18,s1=128", 14.6),
    ("star2d2r", "f32", "hhc", "st=4,s0=15,s1=288", 20.93),
    ("star3d1r", "f32", "hhc", "st=3,s0=1,s1=16,s2=32", 63.77),
    ("star3d1r", "f32", "naive", "s0=4,s1=8,s2=32", 76.0),
    ("star3d1r", "f32", "naive", "s0=16,s1=8,s2=32", 38.75),
    ("star3d1r", "f32", "naive", "s0=8,s1=60,s2=128", 32.8),
    ("star3d1r", "f32", "naive", "s0=43,s1=5,s2=64", 30.1),
    ("star3d1r", "f32", "naive", "s0=400,s1=45,s2=32", 28.1),
    ("star3d1r", "f32", "naive", "s0=171,s1=1,s2=256", 28.2),
    ("box3d1r", "f32", "naive", "s0=16,s1=8,s2=32", 81.5),
    ("star2d1r", "f32", "naive", "s0=8,s1=128", 37.75),
    ("star2d1r", "f32", "naive", "s0=16,s1=128", 26.4),
    ("star2d1r", "f32", "naive", "s0=97,s1=160", 17.9),
    ("box2d1r", "f32", "naive", "s0=16,s1=128", 31.5),
    ("heat1d", "f32", "naive", "s0=2048", 18.2),
    ("heat1d", "f32", "naive", "s0=512", 46.0),
];

/// What the terms add up to is what the compiler makes of the text, but for some of it.
#[test]
fn terms_are_what_machine_code_has() {
    let h100 = machine("h100");
    for (stencil, dtype, strategy, tile, instructions) in COUNTED {
        let mut program = load(stencil).unwrap();
        if dtype == "f64" {
            program = program.with_element_type(ElementType::F64);
        }
        let size = [&[1 << 28][..], &[16384, 16384], &[512, 512, 512]][program.dimension() - 1];
        let problem = Problem::new(&Arc::new(program), size, 128).unwrap();
        let model = GpuCost::new(&problem, &h100).unwrap();
        let sizes = TileSizes::parse(tile).unwrap();
        let own = model.counts(&problem, strategy::by_name(strategy).unwrap(), &sizes, 1).unwrap();
        // A point has one iteration of each statement.
        let statements = problem.program.statements.len() as f64;
        let issued = 32.0 * own.work.as_ref().unwrap()[0].full.issued;
        let terms = statements * issued / own.tiles[0].iterations as f64;
        let ratio = terms / instructions;
        println!("{stencil} {dtype} {strategy} {tile}: {terms:.2} of {instructions}: {ratio:.2}");
        assert!(
            (0.85..1.25).contains(&ratio),
            "{stencil} {dtype} {strategy} {tile}: {terms} of {instructions}"
        );
    }
}

/// Full sub-tiles on a V100 by GPGPU-Sim 4.2, with its tested configuration at 1380 MHz, in the steady state. What a device does in
/// whole runs it does not say. Of the text whose loads went ahead in a burst the model knows nothing.
#[test]
fn tiles_on_a_simulated_v100() {
    let table = include_str!("../../benches/results/v100-simulated.csv");
    let mut v100 = machine("v100");
    let Facts::Gpu(facts) = &mut v100.facts else { panic!() };
    facts.clock_hz = 1.38e9;
    let mut judged: BTreeMap<&str, Judged> = BTreeMap::new();
    let judged_texts = ["before", "spread", "distances"];
    for line in table.lines().filter(|line| judged_texts.iter().any(|text| line.starts_with(text))) {
        let [text, stencil, dtype, strategy, tile, resident, rate, ..] =
            line.split(',').collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        assert_eq!(dtype, "f32");
        let problem = Problem::new(&Arc::new(load(stencil).unwrap()), &[16384, 16384], 128).unwrap();
        let problem = Problem { terms: if text == "before" { &TIMED } else { &Terms::PRINTED }, ..problem };
        let model = GpuCost::new(&problem, &v100).unwrap();
        let (tile, k) = (TileSizes::parse(&tile.replace(' ', ",")).unwrap(), resident.parse().unwrap());
        let resident = model.counts(&problem, strategy::by_name(strategy).unwrap(), &tile, k).unwrap();
        let points = (resident.tiles[0].iterations * k * 80) as f64;
        let pair = (model.steady_s(&resident).unwrap() / points, 1e-9 / rate.parse::<f64>().unwrap());
        println!("{text} {stencil} {tile}: {:.0} {rate}", 1e-9 / pair.0);
        for key in [text, "all"] {
            judged.entry(key).or_insert(Judged(Vec::new())).0.push(pair);
        }
    }
    judged.iter().for_each(|(what, own)| own.show(&format!("simulated V100, {what}")));
    // Of all tiles, and of those of today's text, what a model has to be: within 15 %, in nearly their order, its pick within 5 % of
    // the best. Tiles whose loads are spread are within 7 % of each other: their order says little.
    let bounds = [
        ("before", 0.15, 0.9, 1.01),
        ("spread", 0.065, 0.4, 1.05),
        ("distances", 0.1, 0.93, 1.05),
        ("all", 0.11, 0.91, 1.05),
    ];
    for (what, rms, rank, picked) in bounds {
        let own = &judged[what];
        assert!(own.rms() < rms, "{what}: {}", own.rms());
        assert!(own.rank_correlation() > rank, "{what}: {}", own.rank_correlation());
        assert!(own.picked_over_best() <= picked, "{what}: {}", own.picked_over_best());
    }
}

#[test]
fn tiles_on_an_h100() {
    let table = include_str!("../../benches/results/h100-tiles.csv");
    let mut h100 = machine("h100");
    let calibration = h100.calibration.as_mut().unwrap();
    calibration.l_s_per_word = (4.0 * 132.0 / 2.995e12).into();
    calibration.provenance = cost_models::machine::Provenance::Measured;
    calibration.tau_sync_s = 1.44e-8.into();
    calibration.t_sync_s = 3.42e-6.into();
    for form in [TimeModel::Counted, TimeModel::Paper] {
        let mut judged: BTreeMap<String, Judged> = BTreeMap::new();
        for line in table.lines().skip(1) {
            let [text, stencil, dtype, strategy, size, steps, tile, seconds] =
                line.split(',').collect::<Vec<_>>().try_into().unwrap();
            let mut program = load(stencil).unwrap();
            if dtype == "f64" {
                program = program.with_element_type(ElementType::F64);
            }
            let size: Vec<i64> = size.split('x').map(|extent| extent.parse().unwrap()).collect();
            let problem = Problem::new(&Arc::new(program), &size, steps.parse().unwrap()).unwrap();
            let terms = if text == "before" { &TIMED } else { &TIMED_AT_EDGES };
            let problem = Problem { terms, ..problem };
            let tile = tile.replace(' ', ",");
            let pair = (predicted(form, &problem, &h100, strategy, &tile), seconds.parse::<f64>().unwrap());
            println!(
                "{text} {stencil} {dtype} {strategy} {tile}: {:.4} {:.4} {:.2}",
                pair.0,
                pair.1,
                pair.0 / pair.1
            );
            let of_many = steps == "64";
            let key = if of_many {
                format!("{text} {stencil} {strategy}")
            } else {
                format!("{text} chosen {strategy}")
            };
            judged.entry(key).or_insert(Judged(Vec::new())).0.push(pair);
        }
        judged.iter().for_each(|(what, own)| own.show(&format!("{form} {what}")));
        if form == TimeModel::Counted {
            for (what, rms, rank, picked) in [
                ("before box2d1r hhc", 0.22, 0.9, 1.05),
                ("before chosen hhc", 0.2, 0.9, 1.05),
                ("now star2d1r hhc", 0.25, 0.9, 1.05),
                ("now chosen hhc", 0.4, 0.85, 1.05),
                ("now star3d1r naive", 0.3, 0.7, 1.1),
            ] {
                let own = &judged[what];
                assert!(own.rms() < rms, "{what}: {}", own.rms());
                assert!(own.rank_correlation() > rank, "{what}: {}", own.rank_correlation());
                assert!(own.picked_over_best() <= picked, "{what}: {}", own.picked_over_best());
            }
        }
    }
}
