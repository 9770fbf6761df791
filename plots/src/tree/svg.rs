//! A tree as a drawing.

use super::data::Tree;
use super::layout::{CHART, GAP, Layout, MARGIN, ROW};
use crate::error::Result;
use crate::font;
use crate::palette::{Colour, Dash, GOOD};
use crate::svg::{self, Anchor, Canvas, Svg, Text};

impl Tree {
    /// As a drawing that grows from left to right, one row for each leaf. Behind the leaves a chart shows
    /// their values on one axis; the best leaf, the way to it and its conditions stand out.
    ///
    /// # Errors
    /// [`crate::PlotError::Drawing`].
    pub fn svg(&self) -> Result<Svg> {
        draw(self)
    }
}

fn draw(tree: &Tree) -> Result<Svg> {
    let layout = Layout::new(tree);
    let description = if tree.best.is_empty() { &tree.subtitle } else { &tree.best };
    svg::drawing(layout.size, font::MONOSPACED, (&tree.title, description), |out| {
        let canvas = &mut Canvas::new(out, layout.size);
        branches(tree, &layout, canvas);
        values(tree, &layout, canvas);
        for label in &layout.labels {
            let [x, y, length] = label.place;
            canvas.text(&Text {
                bold: label.bold,
                title: label.whole.as_deref(),
                length: Some(length),
                ..Text::new(&label.text, (x, y)).coloured(label.colour)
            });
        }
        Ok(())
    })
}

fn branches(tree: &Tree, layout: &Layout, canvas: &mut Canvas<'_>) {
    for (at, children) in layout.children.iter().enumerate() {
        let from = layout.columns[at].1 + 4.0;
        for &child in children {
            let (colour, width) = if tree.nodes[child].on_way { (GOOD, 2.0) } else { (Colour::Muted, 0.8) };
            let to = layout.columns[child].0;
            let (turn, y) = (to - GAP / 2.0, layout.middle[child]);
            let path = [(from, layout.middle[at]), (turn, layout.middle[at]), (turn, y), (to - 4.0, y)];
            let attributes = format!("{} stroke-width=\"{width}\"", colour.stroke());
            canvas.path(path.into_iter(), false, &attributes, "");
        }
    }
}

/// The chart of the leaves' values.
fn values(tree: &Tree, layout: &Layout, canvas: &mut Canvas<'_>) {
    let axis = &layout.axis;
    let x = |value: f64| layout.chart + axis.place(value) * CHART;
    let top = layout.middle[layout.leaves[0]] - ROW / 2.0;
    for tick in &axis.ticks {
        let at = x(tick.value);
        canvas.line((at, top), (at, layout.bottom), Colour::Grid, 1.0, Dash::Solid);
        let place = (at, layout.bottom + font::LINE - 2.0);
        let length = Some(tick.width());
        canvas.text(&Text {
            length,
            ..Text::new(&tick.label, place).anchored(Anchor::Middle).coloured(Colour::Muted)
        });
    }
    for &leaf in &layout.leaves {
        let (node, y) = (&tree.nodes[leaf], layout.middle[leaf]);
        let colour = if node.on_way { GOOD } else { Colour::Series(0) };
        if node.on_way {
            // The row of the best leaf.
            let tint = format!("{} fill-opacity=\"0.12\"", GOOD.fill());
            let (from, to) = ((MARGIN / 2.0, y - ROW / 2.0), (layout.size.0 - MARGIN / 2.0, y + ROW / 2.0));
            canvas.rectangle(from, to, &tint, "");
        } else {
            let from = (layout.columns[leaf].1 + 4.0, y);
            canvas.line(from, (layout.cells, y), Colour::Grid, 1.0, Dash::Solid);
        }
        let [from, to] = node.range;
        if [from, to, node.mean].into_iter().all(|value| axis.holds(value)) {
            let bar = format!("{} fill-opacity=\"0.5\"", colour.fill());
            canvas.rectangle((x(from) - 1.0, y - 3.0), (x(to) + 1.0, y + 3.0), &bar, "");
            canvas.circle((x(node.mean), y), 4.0, &colour.fill(), "");
        }
    }
    let at = |x| (x, layout.bottom);
    canvas.line(at(layout.chart), at(layout.chart + CHART), Colour::Ink, 1.0, Dash::Solid);
}
