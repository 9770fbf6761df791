//! Predicted against measured times.

use crate::axis::{Axis, Scale};
use crate::chart::Chart;
use crate::layer::{Guide, Layer, Marks, Point, Series};
use crate::palette::{Colour, Dash, Shape};

/// What a model said, and what a clock said.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// What was run.
    pub title: String,
    /// What was measured, as in `time`; times are in seconds.
    pub quantity: String,
    /// Measured and predicted value of each configuration, and its name.
    pub points: Vec<Point>,
    /// The one that the model picks.
    pub picked: usize,
    /// The best measured value.
    pub best: f64,
}

impl Prediction {
    /// The chart: the diagonal is a perfect model, left of the dashed line is what is within 20 % of the
    /// best.
    pub fn chart(&self) -> Chart {
        let values = self.points.iter().flat_map(|point| [point.x, point.y]).chain([1.2 * self.best]);
        let values: Vec<f64> = values.filter(|value| value.is_finite() && *value > 0.0).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min) / 1.1;
        let high = values.iter().copied().fold(0.0, f64::max) * 1.1;
        let axis = |word: &str| {
            let axis = Axis::new(format!("{word} {}", self.quantity));
            let axis = if self.quantity == "time" { axis.seconds() } else { axis };
            axis.scale(Scale::Logarithmic).within(low, high)
        };
        let picked = self.points.get(self.picked).cloned();
        let others = self.points.iter().enumerate().filter(|(at, _)| *at != self.picked);
        let guide = |name: &str, guide: Guide, colour, dash| Layer::Guide {
            name: name.to_owned(),
            guide,
            colour,
            dash,
        };
        Chart {
            title: self.title.clone(),
            subtitle: String::new(),
            description: format!(
                "Predicted {0} of each configuration against its measured {0}",
                self.quantity
            ),
            x: axis("measured"),
            y: axis("predicted"),
            layers: vec![
                guide("predicted as measured", Guide::Diagonal, Colour::Muted, Dash::Solid),
                guide(
                    "20 % above the best",
                    Guide::Upright(1.2 * self.best),
                    Colour::Series(6),
                    Dash::Dashed,
                ),
                Layer::Series(Series::scattered(
                    "measured",
                    Colour::Series(0),
                    Marks { opacity: 0.75, ..Marks::new(Shape::Circle) },
                    others.map(|(_, point)| point.clone()).collect(),
                )),
                Layer::Series(Series::scattered(
                    "the model's choice",
                    Colour::Series(1),
                    Marks { radius: 6.0, ..Marks::new(Shape::Diamond) },
                    picked.into_iter().collect(),
                )),
            ],
            size: (640.0, 580.0),
        }
    }
}
