//! Charts, drawings of trees, and report pages: data in, SVG and HTML out. It knows no stencil, no terminal
//! and no searcher.
//!
//! A [`Chart`] has two axes and layers: series, bands, bars, areas, lines to compare with. [`Bars`] and
//! [`Waterfall`] make charts of rows, [`figures`] those that several fronts need; a [`Tree`] draws itself.
//! All have the same colours, marks and dashes ([`palette`]), one rule for axes ([`Axis`]), one font, and go
//! through one writer, which escapes what others wrote. plotters maps and draws axes and layers.
//!
//! ```
//! use plots::{Axis, Chart, Layer, Point, Scale, Series};
//!
//! let points = [(16.0, 0.012), (32.0, 0.0071), (64.0, 0.0065)];
//! let points = points.map(|(width, time)| Point::new(width, time, format!("width {width}"))).to_vec();
//! let chart = Chart {
//!     title: "Time of a run by the width of a tile".to_owned(),
//!     subtitle: String::new(),
//!     description: "Wider tiles are faster".to_owned(),
//!     x: Axis::new("width (points)").scale(Scale::Logarithmic),
//!     y: Axis::new("time").seconds().from_zero(),
//!     layers: vec![Layer::Series(Series::line(0, "heat <2d>", points))],
//!     size: (600.0, 360.0),
//! };
//! let svg = chart.svg()?;
//! assert!(svg.as_str().starts_with("<svg") && svg.as_str().contains("heat &lt;2d&gt;"));
//! assert!(svg.as_str().contains("time (ms)"));
//!
//! // A page from a template, which finds the data under `report`.
//! #[derive(serde::Serialize)]
//! struct Report {
//!     widths: plots::Figure,
//! }
//! let report = Report { widths: plots::Figure::new(svg, "Three widths.") };
//! let page = plots::page("{{#> layout}}{{> figure report.widths}}{{/layout}}", "Widths", &report)?;
//! assert!(page.contains("<h1>Widths</h1>") && page.contains("<figcaption>Three widths.</figcaption>"));
//! # Ok::<(), plots::PlotError>(())
//! ```

mod axis;
mod bars;
mod chart;
mod error;
pub mod figures;
mod font;
mod layer;
mod legend;
mod paint;
pub mod palette;
mod report;
mod svg;
#[cfg(test)]
mod tests;
mod tree;

pub use axis::{Axis, Scale};
pub use bars::{Bars, Step, Waterfall};
pub use chart::Chart;
pub use error::{PlotError, Result};
pub use layer::{Block, Guide, Join, Layer, Marks, Point, Series, Side};
pub use palette::{Colour, Dash, Shape};
pub use report::{Card, CardValue, Fact, Figure, Table, page, page_of_designs};
pub use svg::Svg;
pub use tree::{Node, Tree};
