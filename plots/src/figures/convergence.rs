//! The best so far.

use crate::axis::{Axis, Scale};
use crate::chart::Chart;
use crate::layer::{Join, Layer, Point, Series};
use crate::palette::{Colour, Dash};

/// Best response so far over the number of measurements, one line for each search, on a logarithmic scale
/// where all are positive. `None` is a measurement before the first that succeeded. An empty unit is one that
/// is not known.
pub fn convergence(searches: &[(String, Vec<Option<f64>>)], response: &str, unit: &str) -> Chart {
    let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
    let search = |(at, (name, values)): (usize, &(String, Vec<Option<f64>>))| {
        let values = values.iter().enumerate();
        let points = values
            .filter_map(|(number, value)| value.map(|value| Point::new(number as f64 + 1.0, value, "")))
            .collect();
        Layer::Series(Series {
            name: name.clone(),
            colour: Colour::Series(at),
            marks: None,
            line: Some((Join::Steps, Dash::of(at))),
            points,
        })
    };
    Chart {
        title: format!("best {response} over the number of measurements"),
        subtitle: String::new(),
        description: format!("The best {response} of each search after so many measurements"),
        x: Axis::new("number of measurements").whole(),
        y: Axis::new(format!("best {response} so far{unit}")).scale(Scale::Logarithmic),
        layers: searches.iter().enumerate().map(search).collect(),
        size: (860.0, 460.0),
    }
}
