//! Variants at several clock frequencies.

use crate::support::three;
use adaptive::Result;
use adaptive::error::AdaptiveError;
use adaptive::train::{Kind, TrainOptions};
use adaptive::tune::{
    COST, Clocked, Measured, Objective, Recorded, SetClock, Workload, evaluate_pair, split, train_pair,
};

/// A clock that says what it was set to.
#[derive(Default)]
struct Told(Vec<u32>);

impl SetClock for Told {
    fn set(&mut self, mhz: u32) -> Result<()> {
        if mhz == 13 {
            return Err(AdaptiveError::infeasible("it cannot be set", ""));
        }
        self.0.push(mhz);
        Ok(())
    }
}

#[test]
fn clocks_are_set_before_variants_run() {
    let mut recorded = Recorded::new(three(2, 1)).unwrap();
    let mut clock = Told::default();
    let mut pairs = Clocked::new(&mut recorded, &mut clock, &[900, 300, 900]).unwrap();
    let names = ["steady@300", "steady@900", "quick@300", "quick@900", "wide@300", "wide@900"];
    assert_eq!((pairs.variants(), pairs.default_variant()), (&names.map(str::to_owned)[..], 1));
    let mut measured = Measured::new(&mut pairs, Objective::least(COST), None).unwrap();
    let row = measured.label(0).unwrap();
    // What is recorded does not depend on the clock.
    assert!(row.costs[0] == row.costs[1] && row.costs.len() == 6);
    drop(measured);
    // Features at the greatest one, then each pair.
    assert_eq!(clock.0, [900, 300, 900, 300, 900, 300, 900]);
    let mut clock = Told::default();
    let mut pairs = Clocked::new(&mut recorded, &mut clock, &[13]).unwrap();
    assert!(pairs.measure(0, 0).unwrap_err().to_string().contains("cannot be set"));
    assert!(Clocked::new(&mut recorded, &mut Told::default(), &[]).is_err());
}

/// The labels of both tables are those of the best pairs, and two models find them again.
#[test]
fn tables_of_pairs_are_split() {
    let mut table = three(80, 3);
    let costs = |costs: &[f64], x: f64| {
        let each = costs.iter().flat_map(|&cost| [cost * (1.0 + x / 5.0), cost * (3.0 - x / 5.0)]);
        each.collect::<Vec<f64>>()
    };
    table.variants = ["a@300", "a@900", "b@300", "b@900", "c@300", "c@900"].map(str::to_owned).to_vec();
    table.default = 1;
    for row in &mut table.rows {
        row.costs = costs(&row.costs, row.features[0]);
    }
    let (variants, frequencies) = split(&table).unwrap();
    assert_eq!((variants.variants.len(), variants.default), (3, 0));
    assert_eq!((frequencies.name.as_str(), frequencies.default), ("example frequency", 1));
    for (at, row) in table.rows.iter().enumerate() {
        let best = row.label().unwrap();
        assert_eq!(variants.rows[at].label(), Some(best / 2));
        assert_eq!(frequencies.rows[at].label(), Some(best % 2));
    }
    let options = TrainOptions { kind: Kind::Tree, ..TrainOptions::default() };
    let rows: Vec<usize> = (0..80).collect();
    let pair = train_pair(&table, &rows, &[0, 1], &options).unwrap();
    let judged = evaluate_pair(&pair.variant.model, &pair.frequency.model, &table).unwrap();
    assert!(judged.performance > 0.9 && judged.frequencies_right > 0.9, "{judged:?}");
    assert_eq!(judged.frequencies.iter().map(|(_, best, _)| best).sum::<usize>(), 80);
    table.variants[0] = "a".to_owned();
    assert!(split(&table).unwrap_err().to_string().contains("no variant at a frequency"));
}
