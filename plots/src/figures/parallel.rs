//! Parallel coordinates: things with several values each, a line for each thing across one axis for each value.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layer::{Guide, Join, Layer, Point, Series, Side};
use crate::palette::{Colour, Dash};

/// An upright axis.
#[derive(Debug, Clone)]
pub struct Upright {
    /// Name and unit.
    pub name: String,
    /// How its ends are written.
    pub ends: (String, String),
}

/// One thing.
#[derive(Debug, Clone)]
pub struct Across {
    /// What it is.
    pub title: String,
    /// Where it crosses each axis: 0 is the lower end, 1 the upper one.
    pub at: Vec<f64>,
    /// Its colour.
    pub colour: Colour,
}

/// Lines across axes that stand side by side, in a drawing of so many pixels.
pub fn parallel(description: &str, axes: &[Upright], lines: Vec<Across>, size: (f64, f64)) -> Chart {
    // Axes of names count from the end.
    let place = |at: usize| (axes.len() - 1 - at.min(axes.len() - 1)) as f64;
    let line = |own: Across| {
        let points = own.at.iter().enumerate();
        let points = points.map(|(at, &y)| Point::new(place(at), y, own.title.clone())).collect();
        Layer::Series(Series {
            name: String::new(),
            colour: own.colour,
            marks: None,
            line: Some((Join::Line, Dash::Solid)),
            points,
        })
    };
    let upright = |at: usize| Layer::Guide {
        name: String::new(),
        guide: Guide::Upright(place(at)),
        colour: Colour::Ink,
        dash: Dash::Solid,
    };
    let ends = axes.iter().enumerate().flat_map(|(at, axis)| {
        [(1.0, &axis.ends.1), (0.0, &axis.ends.0)].map(|(y, text)| Point::new(place(at), y, text.as_str()))
    });
    let mut layers: Vec<Layer> = (0..axes.len()).map(upright).collect();
    layers.extend(lines.into_iter().map(line));
    layers.push(Layer::Notes(Side::Beside, ends.collect()));
    Chart {
        title: String::new(),
        subtitle: String::new(),
        description: description.to_owned(),
        x: Axis::names("", axes.iter().rev().map(|axis| axis.name.clone()).collect()),
        y: Axis::new("share of the range"),
        layers,
        size,
    }
}
