//! Layers on the coordinates of plotters.

use crate::axis::Ruler;
use crate::font;
use crate::layer::{Guide, Join, Layer, Series, Side};
use crate::palette::Dash;
use crate::svg::{Canvas, Text, UNITS, mark_attributes};

use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::{Drawable, PointCollection};
use plotters_backend::{BackendCoord, DrawingErrorKind};
use std::convert::Infallible;

/// The part of a drawing between its axes.
pub(crate) type Plot<'a> = DrawingArea<Canvas<'a>, Cartesian2d<Ruler, Ruler>>;
/// What goes wrong in plotters.
pub(crate) type Failure = DrawingAreaErrorKind<Infallible>;

/// Something at some places. plotters finds the pixels, `draw` gets them.
struct Element<F> {
    places: Vec<(f64, f64)>,
    draw: F,
}

impl<'a, F> PointCollection<'a, (f64, f64)> for &'a Element<F> {
    type Point = &'a (f64, f64);
    type IntoIter = &'a [(f64, f64)];

    fn point_iter(self) -> &'a [(f64, f64)] {
        &self.places
    }
}

impl<'c, F: Fn(&[(f64, f64)], &mut Canvas<'c>)> Drawable<Canvas<'c>> for Element<F> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        pixels: I,
        canvas: &mut Canvas<'c>,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let pixels: Vec<(f64, f64)> =
            pixels.map(|(x, y)| (f64::from(x) / UNITS, f64::from(y) / UNITS)).collect();
        (self.draw)(&pixels, canvas);
        Ok(())
    }
}

fn element<'c>(
    plot: &Plot<'c>,
    places: Vec<(f64, f64)>,
    draw: impl Fn(&[(f64, f64)], &mut Canvas<'c>),
) -> Result<(), Failure> {
    plot.draw(&Element { places, draw })
}

/// Draws a layer; what has no place on the axes is left out.
pub(crate) fn layer(plot: &Plot<'_>, layer: &Layer, x: &Ruler, y: &Ruler) -> Result<(), Failure> {
    let holds = |place: &(f64, f64)| x.holds(place.0) && y.holds(place.1);
    match layer {
        Layer::Series(own) => series(plot, own, &holds),
        Layer::Band { colour, between, .. } => {
            let between = between.iter().filter(|(x, low, high)| holds(&(*x, *low)) && holds(&(*x, *high)));
            let upper = between.clone().map(|&(x, _, high)| (x, high));
            let places: Vec<_> = upper.chain(between.clone().rev().map(|&(x, low, _)| (x, low))).collect();
            let attributes = format!("{} fill-opacity=\"0.2\"", colour.fill());
            element(plot, places, move |at, canvas| canvas.path(at.iter().copied(), true, &attributes, ""))
        }
        Layer::Guide { guide, colour, dash, .. } => {
            let places = match guide {
                Guide::Upright(at) => vec![(*at, y.low), (*at, y.high)],
                Guide::Level(at) => vec![(x.low, *at), (x.high, *at)],
                Guide::Diagonal => {
                    let (low, high) = (x.low.max(y.low), x.high.min(y.high));
                    vec![(low, low), (high, high)]
                }
            };
            if !places.iter().all(holds) || (*guide == Guide::Diagonal && places[0].0 > places[1].0) {
                return Ok(());
            }
            let (colour, dash) = (*colour, *dash);
            element(plot, places, move |at, canvas| canvas.line(at[0], at[1], colour, 1.4, dash))
        }
        Layer::Blocks { colour, opacity, blocks, .. } => {
            let solid = colour.fill();
            let attributes =
                if *opacity < 1.0 { format!("{solid} fill-opacity=\"{opacity}\"") } else { solid };
            element(plot, Vec::new(), |_, canvas| canvas.group("blocks", &attributes))?;
            for block in blocks {
                let places = vec![(block.x.0, block.y.0), (block.x.1, block.y.1)];
                if places.iter().all(holds) {
                    element(plot, places, |at, canvas| canvas.rectangle(at[0], at[1], "", &block.title))?;
                }
            }
            element(plot, Vec::new(), |_, canvas| canvas.end())
        }
        Layer::Areas { colour, opacity, areas, .. } => {
            let attributes = colour.outlined(*opacity);
            element(plot, Vec::new(), |_, canvas| canvas.group("areas", &attributes))?;
            for area in areas.iter().filter(|area| area.iter().all(holds)) {
                element(plot, area.clone(), |at, canvas| canvas.path(at.iter().copied(), true, "", ""))?;
            }
            element(plot, Vec::new(), |_, canvas| canvas.end())
        }
        Layer::Arrows { colour, from, to, .. } if holds(to) => {
            let colour = *colour;
            for from in from.iter().filter(|from| from.0.is_finite() && from.1.is_finite()) {
                element(plot, vec![*from, *to], move |at, canvas| arrow(at[0], at[1], colour, canvas))?;
            }
            element(plot, vec![*to], move |at, canvas| canvas.circle(at[0], 4.0, &colour.fill(), ""))
        }
        Layer::Arrows { .. } => Ok(()),
        Layer::Notes(side, notes) => {
            let down = match side {
                Side::Beside => 0.36 * font::LABEL,
                Side::Above => -0.75 * font::LABEL,
            };
            for note in notes.iter().filter(|note| holds(&(note.x, note.y))) {
                element(plot, vec![(note.x, note.y)], |at, canvas| {
                    let at = (at[0].0 + 6.0, at[0].1 + down);
                    canvas.text(&Text::new(&note.title, at));
                })?;
            }
            Ok(())
        }
    }
}

fn series(plot: &Plot<'_>, series: &Series, holds: &dyn Fn(&(f64, f64)) -> bool) -> Result<(), Failure> {
    let points: Vec<_> = series.points.iter().filter(|point| holds(&(point.x, point.y))).collect();
    let colour = series.colour;
    if let Some((join, dash)) = series.line {
        let mut places: Vec<(f64, f64)> = Vec::new();
        for point in &points {
            if let (Join::Steps, Some(&(_, before))) = (join, places.last()) {
                places.push((point.x, before));
            }
            places.push((point.x, point.y));
        }
        if places.len() > 1 {
            let attributes = format!("{} stroke-width=\"1.8\"{}", colour.stroke(), dash.attribute());
            // A line without a name in the legend says itself what it is.
            let title = points.first().filter(|_| series.name.is_empty()).map_or("", |point| &point.title);
            element(plot, places, |at, canvas| canvas.path(at.iter().copied(), false, &attributes, title))?;
        }
    }
    if series.line.is_some() && series.name.is_empty() && series.marks.is_none() {
        return Ok(());
    }
    // A line needs two points; one alone is marked.
    let alone = crate::layer::Marks::new(crate::palette::Shape::Circle);
    let Some(marks) = series.marks.or((points.len() == 1).then_some(alone)) else { return Ok(()) };
    let attributes = mark_attributes(marks.shape, colour, marks.opacity);
    element(plot, Vec::new(), |_, canvas| canvas.group("series", &attributes))?;
    for point in points {
        element(plot, vec![(point.x, point.y)], |at, canvas| {
            canvas.mark(marks.shape, at[0], marks.radius, "", &point.title);
        })?;
    }
    element(plot, Vec::new(), |_, canvas| canvas.end())
}

fn arrow(from: (f64, f64), to: (f64, f64), colour: crate::palette::Colour, canvas: &mut Canvas<'_>) {
    const SHORTEST: f64 = 26.0;
    let (dx, dy) = (from.0 - to.0, from.1 - to.1);
    let length = dx.hypot(dy);
    if length <= 0.0 {
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    let length = length.max(SHORTEST);
    // The tip keeps clear of the dot.
    let tip = (to.0 + 5.0 * ux, to.1 + 5.0 * uy);
    let back = (tip.0 + 8.0 * ux, tip.1 + 8.0 * uy);
    let (sx, sy) = (-3.2 * uy, 3.2 * ux);
    canvas.line((to.0 + length * ux, to.1 + length * uy), back, colour, 1.6, Dash::Solid);
    let head = [tip, (back.0 + sx, back.1 + sy), (back.0 - sx, back.1 - sy)];
    canvas.path(head.into_iter(), true, &colour.fill(), "");
}
