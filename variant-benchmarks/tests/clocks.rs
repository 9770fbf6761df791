//! Sorts at several frequencies, simulated.

use adaptive::train::{Grid, TrainOptions};
use adaptive::tune::Objective;
use std::fmt::Write;
use variant_benchmarks::clocks::{VARIANTS, inputs, pairs, simulate, study};

/// Two models choose pairs that are nearly as good as the best ones, for each of the six objectives; what counts power chooses lower
/// frequencies, at less than proportional a loss.
#[test]
fn pairs_are_chosen_for_six_objectives() {
    let options = TrainOptions { grid: Grid::COARSE, ..TrainOptions::default() };
    let studies = study(&options).unwrap();
    let of = |name: &str| studies.iter().find(|study| study.objective == name).unwrap();
    for own in &studies {
        println!(
            "{}: {:.3} {:.0} MHz {:?} {:?}",
            own.objective, own.pairs.performance, own.mhz, own.over, own.pairs.at_greatest
        );
        assert_eq!(own.pairs.inputs, 66);
        assert!(own.pairs.performance > 0.93, "{own:?}");
        assert!(own.pairs.at_greatest.iter().all(|(_, share)| *share < own.pairs.performance), "{own:?}");
    }
    assert!(of("T/P^2").mhz < of("T/P").mhz && of("T/P").mhz < of("T^2/P").mhz);
    // Watts fall by more than keys per second.
    let [_, (_, [throughput, energy, watts])] = &of("T/P").over[..] else { panic!() };
    assert!(throughput * energy > 1.0 && watts < throughput, "{:?}", of("T/P"));
}

/// The example's table is that of the simulation: seconds times joules, at five frequencies.
#[test]
fn the_example_is_simulated() {
    let frequencies = [132, 312, 492, 672, 852];
    let keys = inputs(false, 60);
    let table = pairs(&keys, &frequencies, &Objective::greatest("keys_per_s / joules")).unwrap();
    let mut text = "input,family,feature:log2_keys,feature:bits,feature:comparisons".to_owned();
    table.variants.iter().for_each(|name| write!(text, ",variant:{name}").unwrap());
    for (row, input) in table.rows.iter().zip(&keys) {
        let [keys, bits, share] = row.features[..] else { panic!() };
        write!(text, "\n{},{},{keys:.4},{bits},{share}", row.input, row.family).unwrap();
        for variant in 0..VARIANTS.len() {
            for mhz in frequencies {
                let run = simulate(input, variant, mhz);
                write!(text, ",{:.4e}", run.joules * input.keys as f64 / run.keys_per_s).unwrap();
            }
        }
    }
    text.push('\n');
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sorting-clocks.csv");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text, "BLESS=1 writes it");
}
