//! The error against the size of the training set (Figure 5 of the article on Starchart).

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layer::{Guide, Layer, Point, Series};
use crate::palette::{Colour, Dash};

/// The error of what was trained on some samples, a share of 1.
#[derive(Debug, Clone, Copy)]
pub struct Trained {
    /// How many samples.
    pub samples: usize,
    /// The mean error over repetitions.
    pub error: f64,
    /// The least and the largest one.
    pub range: [f64; 2],
}

/// The mean over the repetitions with the range of all of them, and the target as a line.
pub fn learning(title: &str, curve: &[Trained], target: Option<f64>) -> Chart {
    let percent = |share: f64| 100.0 * share;
    let between = curve.iter().map(|at| (at.samples as f64, percent(at.range[0]), percent(at.range[1])));
    let points = curve.iter().map(|at| {
        let title = format!("{} samples: {:.2} %", at.samples, percent(at.error));
        Point::new(at.samples as f64, percent(at.error), title)
    });
    let mut layers = vec![
        Layer::Band {
            name: "all repetitions".to_owned(),
            colour: Colour::Series(0),
            between: between.collect(),
        },
        Layer::Series(Series::line(0, "mean", points.collect())),
    ];
    if let Some(target) = target {
        layers.push(Layer::Guide {
            name: format!("target: {} %", (1e4 * percent(target)).round() / 1e4),
            guide: Guide::Level(percent(target)),
            colour: Colour::Series(1),
            dash: Dash::Dashed,
        });
    }
    Chart {
        title: title.to_owned(),
        subtitle: String::new(),
        description: "Error on held-out designs against the number of training samples".to_owned(),
        x: Axis::new("training samples (designs)").whole().from_zero(),
        y: Axis::new("median relative error on held-out designs (%)").from_zero(),
        layers,
        size: (680.0, 400.0),
    }
}
