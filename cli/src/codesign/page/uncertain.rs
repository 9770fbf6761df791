//! How sure the answer is: bands of regret, and what a measurement would be worth.

use super::charts::{WHOLE, figure};
use optimizer::codesign::document::Document;
use optimizer::codesign::uncertainty::DesignUnderUncertainty;
use plots::{Axis, Block, Chart, Colour, Figure, Layer, Marks, Point, Result, Series, Shape, Table};
use serde::Serialize;

/// Designs in the drawing.
const MOST: usize = 16;

#[derive(Serialize)]
pub(super) struct Section {
    samples: usize,
    seed: u64,
    gap: String,
    figure: Figure,
    designs: Table,
    constants: Table,
}

pub(super) fn section(document: &Document) -> Result<Option<Section>> {
    let Some(own) = &document.answers.uncertainty else { return Ok(None) };
    // The best ones by mean regret, and those that are best at something.
    let mut shown: Vec<&DesignUnderUncertainty> = own.designs.iter().take(MOST).collect();
    for other in [&own.nominal, &own.robust] {
        if !shown.iter().any(|own| own.design == other.design) {
            shown.push(other);
        }
    }
    let percent = |value: f64| format!("{:.1} %", 100.0 * value);
    let row = |own: &&DesignUnderUncertainty| {
        vec![
            own.design.to_string(),
            percent(own.best),
            percent(own.mean_regret),
            percent(own.regret_95),
            percent(own.most_regret),
            own.cost.map(|cost| format!("{cost:.2}")).join(" / "),
            percent(own.within_budget),
        ]
    };
    let header = [
        "design",
        "is best",
        "mean regret",
        "95 of 100 below",
        "at most",
        "cost, 5 / 50 / 95 of 100",
        "within the budget",
    ];
    let designs = Table::new(header, shown.iter().map(row).collect());
    let constants = own.constants.iter().map(|own| {
        vec![own.constant.clone(), own.varies.clone(), format!("{:.3} %", 100.0 * own.value_of_knowing)]
    });
    let constants =
        Table::new(["constant", "varies", "knowing it lowers the mean regret by"], constants.collect());
    let block = |(at, own): (usize, &&DesignUnderUncertainty)| Block {
        x: (0.0, 100.0 * own.regret_95),
        y: (at as f64 - 0.3, at as f64 + 0.3),
        title: format!("{}: below {} in 95 of 100 samples", own.design, percent(own.regret_95)),
    };
    let mark = |of: fn(&DesignUnderUncertainty) -> f64, what: &str| {
        let points = shown.iter().enumerate().map(|(at, own)| {
            Point::new(100.0 * of(own), at as f64, format!("{}: {what} {}", own.design, percent(of(own))))
        });
        points.collect::<Vec<_>>()
    };
    let band = Layer::Blocks {
        name: "regret in 95 of 100 samples".to_owned(),
        colour: Colour::Series(0),
        opacity: 0.3,
        blocks: shown.iter().enumerate().map(block).collect(),
    };
    let mean = Series::scattered(
        "mean",
        Colour::Series(0),
        Marks { radius: 4.5, ..Marks::new(Shape::Diamond) },
        mark(|own| own.mean_regret, "mean"),
    );
    let most = Series::scattered(
        "greatest",
        Colour::Series(1),
        Marks { radius: 4.5, ..Marks::new(Shape::Circle) },
        mark(|own| own.most_regret, "at most"),
    );
    let chart = Chart {
        title: String::new(),
        subtitle: String::new(),
        description: "Regret of designs while the constants vary".to_owned(),
        x: Axis::new("regret (%): what a design costs more than the best one of the sample").from_zero(),
        y: Axis::names("design", shown.iter().map(|own| own.design.to_string()).collect()),
        layers: vec![band, Layer::Series(mean), Layer::Series(most)],
        size: (WHOLE, 60.0 + 24.0 * shown.len() as f64),
    };
    let caption = "Designs by mean regret: how much more they cost than the best design of each sample.";
    Ok(Some(Section {
        samples: own.samples,
        seed: own.seed,
        gap: percent(own.pool_gap),
        figure: figure(&chart, caption)?,
        designs,
        constants,
    }))
}
