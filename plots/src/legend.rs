//! Which mark, line or filling is what: below a chart, in rows that fit.

use crate::font;
use crate::layer::Layer;
use crate::palette::{Colour, Dash, Shape};
use crate::svg::{Canvas, Text, mark_attributes};

/// Pixels of a sample, and between entries.
const SAMPLE: f64 = 28.0;
const GAP: f64 = 18.0;

/// A name beside its sample.
struct Entry<'a> {
    layer: &'a Layer,
    name: String,
    /// Left end, row.
    at: (f64, usize),
}

/// The entries of a chart.
pub(crate) struct Legend<'a> {
    entries: Vec<Entry<'a>>,
    rows: usize,
}

impl<'a> Legend<'a> {
    /// In rows of this width.
    pub fn new(layers: &'a [Layer], width: f64) -> Legend<'a> {
        let (mut entries, mut x, mut row): (Vec<Entry<'a>>, f64, usize) = (Vec::new(), 0.0, 0);
        for layer in layers.iter().filter(|layer| !layer.name().is_empty()) {
            let name = font::fit(layer.name(), font::LABEL, false, width - SAMPLE).into_owned();
            let own = SAMPLE + font::width(&name, font::LABEL, false);
            if x > 0.0 && x + own > width {
                (x, row) = (0.0, row + 1);
            }
            entries.push(Entry { layer, name, at: (x, row) });
            x += own + GAP;
        }
        let rows = if entries.is_empty() { 0 } else { row + 1 };
        Legend { entries, rows }
    }

    /// Pixels from top to bottom.
    pub fn height(&self) -> f64 {
        font::LINE * self.rows as f64 + if self.rows > 0 { 8.0 } else { 0.0 }
    }

    pub fn draw(&self, canvas: &mut Canvas<'_>, (left, top): (f64, f64)) {
        for entry in &self.entries {
            let (x, y) = (left + entry.at.0, top + 8.0 + font::LINE * (entry.at.1 as f64 + 0.5));
            sample(entry.layer, canvas, (x, y));
            let cut = entry.name != entry.layer.name();
            let at = (x + SAMPLE, y + 0.36 * font::LABEL);
            canvas.text(&Text { title: cut.then_some(entry.layer.name()), ..Text::new(&entry.name, at) });
        }
    }
}

fn sample(layer: &Layer, canvas: &mut Canvas<'_>, (x, y): (f64, f64)) {
    let middle = (x + 10.0, y);
    let mut line = |colour: Colour, dash: Dash| canvas.line((x, y), (x + 20.0, y), colour, 1.8, dash);
    match layer {
        Layer::Series(series) => {
            if let Some((_, dash)) = series.line {
                line(series.colour, dash);
            }
            if let Some(marks) = series.marks {
                let radius = marks.radius.clamp(3.2, 5.0);
                let attributes = mark_attributes(marks.shape, series.colour, marks.opacity);
                canvas.mark(marks.shape, middle, radius, &attributes, "");
            }
        }
        Layer::Guide { colour, dash, .. } => line(*colour, *dash),
        Layer::Band { colour, .. } => filled(canvas, middle, *colour, 0.2),
        Layer::Blocks { colour, opacity, .. } => filled(canvas, middle, *colour, *opacity),
        Layer::Areas { colour, opacity, .. } => {
            let (from, to) = ((x + 3.0, y - 7.0), (x + 17.0, y + 7.0));
            canvas.rectangle(from, to, &colour.outlined(*opacity), "");
        }
        Layer::Arrows { colour, .. } => {
            let attributes = mark_attributes(Shape::Circle, *colour, 1.0);
            canvas.mark(Shape::Circle, middle, 4.0, &attributes, "");
        }
        Layer::Notes(..) => {}
    }
}

fn filled(canvas: &mut Canvas<'_>, (x, y): (f64, f64), colour: Colour, opacity: f64) {
    let attributes = format!("{} fill-opacity=\"{opacity}\"", colour.fill());
    canvas.rectangle((x - 7.0, y - 6.0), (x + 7.0, y + 6.0), &attributes, "");
}
