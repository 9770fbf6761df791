//! A chart: layers on two axes, with titles, a legend, and a description for those who cannot see it.

use crate::axis::{Axis, Ruler, is_drawable};
use crate::error::{PlotError, Result};
use crate::font::{self, LABEL, LINE, TITLE};
use crate::layer::Layer;
use crate::legend::Legend;
use crate::paint::{self, Failure};
use crate::palette::Colour;
use crate::svg::{self, Anchor, Canvas, Svg, Text, UNITS, units};
use plotters::chart::ChartBuilder;
use plotters::drawing::IntoDrawingArea;
use plotters::style::{Color as _, FontDesc, FontFamily, FontStyle, RGBColor, TextStyle};

const MARGIN: f64 = 16.0;
/// Between labels and axes, and the height of a title of an axis.
const TICK: f64 = 8.0;
const AXIS_TITLE: f64 = 22.0;
/// The larger part of a chart is the plot, whatever stands beside it.
const MOST_BESIDE: f64 = 0.45;

/// A chart.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What stands above it; nothing where it is empty, as in a page that has captions.
    pub title: String,
    /// A line below the title; none where it is empty.
    pub subtitle: String,
    /// What it shows, for those who cannot see it.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, in this order.
    pub layers: Vec<Layer>,
    /// Width and height in pixels; titles and legend come on top of the height.
    pub size: (f64, f64),
}

/// A part of a drawing with axes of its own, in pixels.
#[derive(Debug)]
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: Ruler,
    y: Ruler,
}

/// What is beside the plots of all parts of a drawing, so that they stand below each other.
#[derive(Debug, Clone, Copy, Default)]
struct Beside {
    left: f64,
    right: f64,
}

impl Chart {
    /// The chart as a drawing.
    ///
    /// # Errors
    /// [`PlotError::Drawing`].
    pub fn svg(&self) -> Result<Svg> {
        Panels {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            description: self.description.clone(),
            charts: std::slice::from_ref(self),
        }
        .draw()
    }

    fn places(&self) -> Vec<(f64, f64)> {
        self.layers.iter().flat_map(Layer::places).collect()
    }

    fn upright(&self, height: f64) -> Ruler {
        let mut ruler = self.y.ruler(self.places().into_iter().map(|place| place.1), height, true);
        ruler.cut(MOST_BESIDE * self.size.0 - MARGIN - AXIS_TITLE - TICK);
        ruler
    }

    fn level(&self, width: f64) -> Ruler {
        self.x.ruler(self.places().into_iter().map(|place| place.0), width, false)
    }

    /// Pixels of the plot from top to bottom.
    fn plot_height(&self) -> f64 {
        (self.size.1 - TICK - LINE - AXIS_TITLE).max(20.0)
    }

    fn beside(&self) -> Beside {
        let left = MARGIN + AXIS_TITLE + self.upright(self.plot_height()).widest() + TICK;
        let width = self.size.0 - left - MARGIN;
        // The last label may stand over the end of the axis.
        let ruler = self.level(width);
        let over =
            ruler.ticks.iter().map(|tick| tick.width() / 2.0 - (1.0 - ruler.place(tick.value)) * width);
        let notes = self.layers.iter().flat_map(|layer| match layer {
            Layer::Notes(_, notes) => notes.as_slice(),
            _ => &[],
        });
        let notes = notes.map(|note| font::width(&note.title, LABEL, false) + 8.0).fold(0.0, f64::max);
        let right = MARGIN + over.fold(notes, f64::max);
        Beside { left, right: right.min(MOST_BESIDE * self.size.0) }
    }

    fn frame(&self, beside: Beside, top: f64) -> Frame {
        let height = self.plot_height();
        let width = (self.size.0 - beside.left - beside.right).max(20.0);
        Frame { left: beside.left, top, width, height, x: self.level(width), y: self.upright(height) }
    }

    /// What cannot be drawn.
    fn remark(&self) -> Option<String> {
        let places = self.places();
        if !places.iter().any(|(x, y)| is_drawable(*x) || is_drawable(*y)) {
            return Some("there are no values to draw".to_owned());
        }
        match self.layers.iter().map(Layer::without_place).sum() {
            0 => None,
            1 => Some("one value that is not finite is left out".to_owned()),
            some => Some(format!("{some} values that are not finite are left out")),
        }
    }
}

/// Charts below each other, with one title.
pub(crate) struct Panels<'a> {
    pub title: String,
    pub subtitle: String,
    pub description: String,
    /// All of one width; the legend is that of the first one.
    pub charts: &'a [Chart],
}

impl Panels<'_> {
    pub fn draw(&self) -> Result<Svg> {
        let Some(first) = self.charts.first() else {
            return Err(PlotError::Drawing("there is no chart".to_owned()));
        };
        let beside = self
            .charts
            .iter()
            .map(Chart::beside)
            .fold(Beside::default(), |a, b| Beside { left: a.left.max(b.left), right: a.right.max(b.right) });
        let width = first.size.0.max(beside.left + beside.right + 20.0);
        let room = width - 2.0 * MARGIN;
        let titles = font::wrap(&self.title, TITLE, true, room, 2);
        let mut subtitles = font::wrap(&self.subtitle, LABEL, false, room, 3);
        let mut remarks: Vec<String> = self.charts.iter().filter_map(Chart::remark).collect();
        remarks.dedup();
        subtitles.extend(remarks.iter().take(2).map(|text| font::fit(text, LABEL, false, room).into_owned()));
        let mut top = MARGIN + titles.len() as f64 * (TITLE + 6.0) + subtitles.len() as f64 * LINE;
        if !subtitles.is_empty() || !titles.is_empty() {
            top += 6.0;
        }
        let mut frames = Vec::new();
        for chart in self.charts {
            frames.push(chart.frame(beside, top));
            top += chart.size.1;
        }
        let legend = Legend::new(&first.layers, width - beside.left - MARGIN);
        let size = (width, (top + legend.height() + MARGIN / 2.0).ceil());
        let described =
            if self.description.is_empty() { self.subtitle.as_str() } else { self.description.as_str() };
        svg::drawing(size, font::FAMILY, (&self.title, described), |out| {
            let mut canvas = Canvas::new(out, size);
            let mut y = MARGIN;
            for title in &titles {
                y += TITLE + 6.0;
                canvas.text(&Text {
                    size: TITLE,
                    bold: true,
                    title: title.ends_with('…').then_some(self.title.as_str()),
                    ..Text::new(title, (MARGIN, y - 9.0))
                });
            }
            for subtitle in &subtitles {
                y += LINE;
                canvas.text(&Text::new(subtitle, (MARGIN, y - 5.0)).coloured(Colour::Muted));
            }
            for (chart, frame) in self.charts.iter().zip(&frames) {
                plot(chart, frame, out, size).map_err(|error| PlotError::Drawing(error.to_string()))?;
                axis_titles(frame, &mut Canvas::new(out, size));
            }
            legend.draw(&mut Canvas::new(out, size), (beside.left, top));
            Ok(())
        })
    }
}

/// Axes, grid and layers.
fn plot(
    chart: &Chart,
    frame: &Frame,
    out: &mut String,
    (width, height): (f64, f64),
) -> std::result::Result<(), Failure> {
    let rgb = |colour: Colour| {
        let (red, green, blue) = colour.rgb();
        RGBColor(red, green, blue)
    };
    let root = Canvas::new(out, (width, height)).into_drawing_area();
    let below = TICK + LINE;
    let mut context = ChartBuilder::on(&root)
        .margin_left(units(frame.left - frame.y.widest() - 2.0 * TICK))
        .margin_right(units(width - frame.left - frame.width))
        .margin_top(units(frame.top))
        .margin_bottom(units(height - frame.top - frame.height - below))
        .y_label_area_size(units(frame.y.widest() + 2.0 * TICK))
        .x_label_area_size(units(below))
        .build_cartesian_2d(frame.x.clone(), frame.y.clone())?;
    let font = FontDesc::new(FontFamily::SansSerif, LABEL * UNITS, FontStyle::Normal);
    let ink = rgb(Colour::Ink);
    let label = TextStyle::from(font).color(&ink);
    let mut mesh = context.configure_mesh();
    mesh.bold_line_style(rgb(Colour::Grid).stroke_width(10))
        .axis_style(rgb(Colour::Ink).stroke_width(10))
        .label_style(label)
        .set_all_tick_mark_size(units(TICK / 2.0));
    if chart.y.has_names() {
        mesh.disable_y_mesh();
    }
    mesh.draw()?;
    let area = context.plotting_area();
    for layer in &chart.layers {
        paint::layer(area, layer, &frame.x, &frame.y)?;
    }
    root.present()
}

fn axis_titles(frame: &Frame, canvas: &mut Canvas<'_>) {
    let title = |canvas: &mut Canvas<'_>, title: &str, at, upwards: bool, most: f64| {
        let fitted = font::fit(title, LABEL, false, most);
        let cut = (fitted != title).then_some(title);
        canvas.text(&Text { upwards, title: cut, ..Text::new(&fitted, at).anchored(Anchor::Middle) });
    };
    let middle = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
    // A long title may reach beyond the plot, as far as it is still over the paper.
    let below = frame.top + frame.height + TICK + LINE + 14.0;
    title(canvas, &frame.x.title, (middle.0, below), false, frame.width + 2.0 * (MARGIN - 4.0));
    title(canvas, &frame.y.title, (MARGIN + 4.0, middle.1), true, frame.height + 8.0);
}
