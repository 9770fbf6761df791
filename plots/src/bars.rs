//! Bars from left to right, one row for each name.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layer::{Block, Layer, Point, Side};
use crate::palette::Colour;

/// Height of a row and of its bar, and what axis and titles take, in pixels.
const ROW: f64 = 30.0;
const BAR: f64 = 22.0;
const AXES: f64 = 52.0;

fn size(width: f64, rows: usize) -> (f64, f64) {
    (width, ROW * rows.max(1) as f64 + AXES)
}

fn row(at: usize) -> (f64, f64) {
    let half = BAR / ROW / 2.0;
    (at as f64 - half, at as f64 + half)
}

/// Bars that are divided.
#[derive(Debug, Clone)]
pub struct Bars {
    /// What they show, for those who cannot see it.
    pub description: String,
    /// Name and unit of the values.
    pub x_label: String,
    /// What each bar stands for.
    pub y_label: String,
    /// Names of the parts, in order.
    pub parts: Vec<String>,
    /// Name of each bar, and its parts.
    pub bars: Vec<(String, Vec<f64>)>,
    /// Width in pixels.
    pub width: f64,
}

impl Bars {
    /// As a chart: one layer for each part.
    pub fn chart(&self) -> Chart {
        let part = |part: usize, name: &String| {
            let blocks = self.bars.iter().enumerate().filter_map(|(at, (bar, values))| {
                let value = *values.get(part)?;
                let from: f64 = values[..part].iter().filter(|value| value.is_finite()).sum();
                let title = format!("{bar}: {name} {value:.4}");
                (value != 0.0).then(|| Block { x: (from, from + value), y: row(at), title })
            });
            let blocks = blocks.collect();
            Layer::Blocks { name: name.clone(), colour: Colour::Series(part), opacity: 1.0, blocks }
        };
        let names = self.bars.iter().map(|(name, _)| name.clone()).collect();
        Chart {
            title: String::new(),
            subtitle: String::new(),
            description: self.description.clone(),
            x: Axis::new(&self.x_label).from_zero(),
            y: Axis::names(&self.y_label, names),
            layers: self.parts.iter().enumerate().map(|(at, name)| part(at, name)).collect(),
            size: size(self.width, self.bars.len()),
        }
    }
}

/// A step of a [`Waterfall`].
#[derive(Debug, Clone)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// What it adds; less than 0 where it takes away.
    pub value: f64,
    /// What it is.
    pub meaning: String,
}

/// From a first value to the last one: what lies between, one step below the other.
#[derive(Debug, Clone)]
pub struct Waterfall {
    /// The first line.
    pub title: String,
    /// The second line.
    pub subtitle: String,
    /// Name of the values, which are seconds.
    pub x_label: String,
    /// What the rows are.
    pub y_label: String,
    /// The value that the steps begin at.
    pub first: Step,
    /// What lies between.
    pub steps: Vec<Step>,
    /// Where they end.
    pub last: Step,
    /// Width in pixels.
    pub width: f64,
}

impl Waterfall {
    /// As a chart. Behind each bar is its share of the last value.
    pub fn chart(&self) -> Chart {
        let mut rows = vec![(&self.first, 0.0, self.first.value)];
        let mut end = self.first.value;
        for step in &self.steps {
            rows.push((step, end, end + step.value));
            // What is no number moves nothing.
            end += if step.value.is_finite() { step.value } else { 0.0 };
        }
        rows.push((&self.last, 0.0, self.last.value));
        let kinds = ["beginning", "loss", "gain", "end"];
        let kind = |at: usize, step: &Step| match at {
            0 => 0,
            _ if at + 1 == rows.len() => 3,
            _ => 1 + usize::from(step.value < 0.0),
        };
        let (mut layers, mut notes) = (Vec::new(), Vec::new());
        for (index, name) in kinds.into_iter().enumerate() {
            let of_kind = rows.iter().enumerate().filter(|(at, (step, ..))| kind(*at, step) == index);
            let blocks: Vec<Block> = of_kind
                .map(|(at, (step, from, to))| Block {
                    x: (*from, *to),
                    y: row(at),
                    title: step.meaning.clone(),
                })
                .collect();
            // The first and the last bar have their names beside them.
            let name = if blocks.is_empty() || matches!(index, 0 | 3) { "" } else { name };
            let colour = Colour::Series([3, 1, 7, 0][index]);
            layers.push(Layer::Blocks { name: name.to_owned(), colour, opacity: 0.85, blocks });
        }
        for (at, (step, from, to)) in rows.iter().enumerate() {
            let share = 100.0 * step.value / self.last.value;
            if share.is_finite() {
                notes.push(Point::new(from.max(*to), at as f64, format!("{share:.1} %")));
            }
        }
        layers.push(Layer::Notes(Side::Beside, notes));
        let names = rows.iter().map(|(step, ..)| step.name.clone()).collect();
        Chart {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            description: format!("{} for each of: {}", self.x_label, self.y_label),
            x: Axis::new(&self.x_label).from_zero().seconds(),
            y: Axis::names(&self.y_label, names),
            layers,
            size: size(self.width, rows.len()),
        }
    }
}
