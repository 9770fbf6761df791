//! Charts as SVG: points, lines and bars on two axes, with a title for every mark that a browser shows where the pointer
//! is. The text is the same for the same data, and needs no script, font or style from elsewhere.

use std::fmt::Write;
use text_escape::markup as escape;

/// The style inside every chart.
pub const STYLE: &str = ".grid{stroke:#ddd;fill:none}.axis{stroke:#222;fill:none}";

/// Colours that stay apart in print and for most eyes (Okabe and Ito's palette).
pub const COLOURS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7f7f7f", "#8a6d00"];

const MARGIN: (f64, f64, f64, f64) = (72.0, 16.0, 52.0, 18.0); // left, top, bottom, right
const LEGEND_LINE: f64 = 20.0;
/// Height of a title.
const TITLE: f64 = 30.0;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A dot per point.
    Dots,
    /// A small, pale dot per point.
    Faint,
    /// A line through all points, with dots.
    Line,
    /// A large ring per point.
    Ring,
}

/// One kind of points.
#[derive(Debug, Clone)]
pub struct Series {
    /// Name in the legend; none where it is empty.
    pub name: String,
    /// Colour.
    pub colour: &'static str,
    /// How it is drawn.
    pub mark: Mark,
    /// `x`, `y`, and the title of the point.
    pub points: Vec<(f64, f64, String)>,
}

/// A chart of points.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What stands above it; nothing where it is empty, as in a page that has captions.
    pub title: String,
    /// What it shows, for those who cannot see it.
    pub description: String,
    /// Name and unit of the horizontal axis.
    pub x_label: String,
    /// Name and unit of the vertical axis.
    pub y_label: String,
    /// The series, drawn in this order.
    pub series: Vec<Series>,
    /// Whether the axes begin at 0.
    pub from_zero: (bool, bool),
    /// Width and height in pixels.
    pub size: (f64, f64),
}

/// The range of an axis, widened to its ticks.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>, from_zero: bool, ticks: f64) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if from_zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if high - low <= 1e-12 * high.abs().max(1e-300) {
            let around = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
            (low, high) = (low - around, high + around);
        }
        let step = nice_step((high - low) / ticks);
        Axis { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    fn ticks(&self) -> Vec<f64> {
        let count = ((self.high - self.low) / self.step).round() as i64;
        (0..=count).map(|index| self.low + index as f64 * self.step).collect()
    }

    fn label(&self, value: f64) -> String {
        let decimals = (-self.step.log10().floor()).clamp(0.0, 9.0) as usize;
        let text = format!("{value:.decimals$}");
        if text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.')) {
            "0".to_owned()
        } else {
            text
        }
    }

    fn place(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// Ticks of an axis from 0 to `most` and their numbers, about `count` of them.
pub fn ticks(most: f64, count: f64) -> Vec<(f64, String)> {
    let axis = Axis::of([most].into_iter(), true, count);
    axis.ticks().into_iter().filter(|tick| *tick <= most).map(|tick| (tick, axis.label(tick))).collect()
}

/// The least of 1, 2, 5 times a power of ten that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let decade = 10_f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    factors
        .into_iter()
        .map(|factor| factor * decade)
        .find(|nice| *nice >= step * 0.999_999)
        .unwrap_or(10.0 * decade)
}

impl Chart {
    /// The chart as one `svg` element.
    pub fn svg(&self) -> String {
        let named: Vec<&Series> = self.series.iter().filter(|series| !series.name.is_empty()).collect();
        let (left, top, bottom, right) = MARGIN;
        let (width, height) = (self.size.0 - left - right, self.size.1 - top - bottom);
        let top = top + if self.title.is_empty() { 0.0 } else { TITLE };
        let rows = legend_rows(&named, width);
        let values = |of: fn(&(f64, f64, String)) -> f64| self.series.iter().flat_map(|s| &s.points).map(of);
        let x = Axis::of(values(|point| point.0), self.from_zero.0, (width / 90.0).max(2.0));
        let y = Axis::of(values(|point| point.1), self.from_zero.1, (height / 50.0).max(2.0));
        let px = |value: f64| left + x.place(value) * width;
        let py = |value: f64| top + (1.0 - y.place(value)) * height;
        let mut svg = String::new();
        let total = top + height + bottom + rows as f64 * LEGEND_LINE;
        open(&mut svg, self.size.0, total, &self.description);
        if !self.title.is_empty() {
            let _ =
                writeln!(svg, "<text x=\"{left}\" y=\"24\" font-size=\"15\">{}</text>", escape(&self.title));
        }
        upright_lines(&mut svg, &x, &px, (top, top + height));
        for tick in y.ticks() {
            let at = py(tick);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{left} {at:.1}H{:.1}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left + width,
                left - 8.0,
                at + 4.0,
                y.label(tick)
            );
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{left} {top}V{:.1}H{:.1}\"/>",
            top + height,
            left + width
        );
        axis_titles(&mut svg, &self.x_label, &self.y_label, (left, top, width, height));
        for series in &self.series {
            draw(&mut svg, series, &px, &py);
        }
        legend(&mut svg, &named, (left, top + height + 52.0, width));
        svg.push_str("</svg>\n");
        svg
    }
}

fn draw(svg: &mut String, series: &Series, px: &dyn Fn(f64) -> f64, py: &dyn Fn(f64) -> f64) {
    let colour = series.colour;
    let points = series.points.iter().filter(|(x, y, _)| x.is_finite() && y.is_finite());
    let points: Vec<(f64, f64, &str)> =
        points.map(|(x, y, title)| (px(*x), py(*y), title.as_str())).collect();
    let attributes = match series.mark {
        Mark::Dots => format!("fill=\"{colour}\""),
        Mark::Faint => format!("fill=\"{colour}\" fill-opacity=\"0.35\""),
        Mark::Line => {
            let path: Vec<String> = points.iter().map(|(x, y, _)| format!("{x:.1} {y:.1}")).collect();
            if path.len() > 1 {
                let _ = writeln!(
                    svg,
                    "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>",
                    path.join("L")
                );
            }
            format!("fill=\"{colour}\"")
        }
        Mark::Ring => format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.4\""),
    };
    let radius = match series.mark {
        Mark::Dots => 3.6,
        Mark::Faint => 2.4,
        Mark::Line => 3.0,
        Mark::Ring => 7.5,
    };
    let _ = writeln!(svg, "<g class=\"series\" {attributes}>");
    for (x, y, title) in points {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{}</title></circle>",
            escape(title)
        );
    }
    svg.push_str("</g>\n");
}

/// Bars that are divided: one row per bar, one colour per part.
#[derive(Debug, Clone)]
pub struct Bars {
    /// What it shows, for those who cannot see it.
    pub description: String,
    /// Name and unit of the axis.
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
    /// The bars as one `svg` element.
    pub fn svg(&self) -> String {
        let row = 30.0;
        let names = self.bars.iter().map(|(name, _)| name).chain([&self.y_label]);
        let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
        let (left, top, right) = (18.0 + 7.2 * longest as f64, 26.0, 24.0);
        let (width, height) = (self.width - left - right, row * self.bars.len() as f64);
        let series: Vec<Series> = (self.parts.iter().enumerate())
            .map(|(index, name)| Series {
                name: name.clone(),
                colour: COLOURS[index % COLOURS.len()],
                mark: Mark::Dots,
                points: Vec::new(),
            })
            .collect();
        let named: Vec<&Series> = series.iter().collect();
        let rows = legend_rows(&named, width);
        let axis =
            Axis::of(self.bars.iter().map(|(_, parts)| parts.iter().sum()), true, (width / 90.0).max(2.0));
        let px = |value: f64| left + axis.place(value) * width;
        let mut svg = String::new();
        open(&mut svg, self.width, top + height + 52.0 + rows as f64 * LEGEND_LINE, &self.description);
        upright_lines(&mut svg, &axis, &px, (top, top + height));
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"16\" text-anchor=\"end\" font-style=\"italic\">{}</text>",
            left - 8.0,
            escape(&self.y_label)
        );
        for (index, (name, parts)) in self.bars.iter().enumerate() {
            let y = top + index as f64 * row;
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                y + row / 2.0 + 4.0,
                escape(name)
            );
            let mut from = 0.0;
            for (part, value) in parts.iter().enumerate() {
                let (a, b) = (px(from), px(from + value));
                from += value;
                if b - a > 0.05 {
                    let _ = writeln!(
                        svg,
                        "<rect x=\"{a:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}: {} {value:.4}</title></rect>",
                        y + 4.0,
                        b - a,
                        row - 8.0,
                        series[part].colour,
                        escape(name),
                        escape(&self.parts[part])
                    );
                }
            }
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{left} {top}V{:.1}H{:.1}\"/>",
            top + height,
            left + width
        );
        axis_titles(&mut svg, &self.x_label, "", (left, top, width, height));
        legend(&mut svg, &named, (left, top + height + 52.0, width));
        svg.push_str("</svg>\n");
        svg
    }
}

fn open(svg: &mut String, width: f64, height: f64, description: &str) {
    // The style is inside, so that the element looks the same in a file of its own.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{0}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\
         <style>{STYLE}</style>\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>",
        escape(description)
    );
}

/// A line at every tick of the horizontal axis, from top to bottom, and its number below.
fn upright_lines(svg: &mut String, axis: &Axis, place: &dyn Fn(f64) -> f64, (top, bottom): (f64, f64)) {
    for tick in axis.ticks() {
        let (at, below) = (place(tick), bottom + 18.0);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {top}V{bottom:.1}\"/><text x=\"{at:.1}\" y=\"{below:.1}\" \
             text-anchor=\"middle\">{}</text>",
            axis.label(tick)
        );
    }
}

fn axis_titles(svg: &mut String, x: &str, y: &str, (left, top, width, height): (f64, f64, f64, f64)) {
    let (middle, below) = (left + width / 2.0, top + height + 38.0);
    let _ =
        writeln!(svg, "<text x=\"{middle:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{}</text>", escape(x));
    if !y.is_empty() {
        let middle = top + height / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"16\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {middle:.1})\">{}</text>",
            escape(y)
        );
    }
}

/// Pixels that an entry of a legend takes.
fn entry_width(series: &Series) -> f64 {
    38.0 + 7.0 * series.name.chars().count() as f64
}

fn legend_rows(named: &[&Series], width: f64) -> usize {
    let (mut rows, mut x) = (usize::from(!named.is_empty()), 0.0);
    for series in named {
        if x > 0.0 && x + entry_width(series) > width {
            rows += 1;
            x = 0.0;
        }
        x += entry_width(series);
    }
    rows
}

fn legend(svg: &mut String, named: &[&Series], (left, top, width): (f64, f64, f64)) {
    let (mut x, mut y) = (0.0, top + 6.0);
    for series in named {
        if x > 0.0 && x + entry_width(series) > width {
            x = 0.0;
            y += LEGEND_LINE;
        }
        let (mark, at) = (series.colour, left + x);
        let (fill, stroke) = if series.mark == Mark::Ring { ("none", mark) } else { (mark, "none") };
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"2\"/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            at + 6.0,
            y - 4.0,
            at + 17.0,
            escape(&series.name)
        );
        x += entry_width(series);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_ticks_and_hold_all_values() {
        let axis = Axis::of([425.3, 449.9].into_iter(), false, 6.0);
        assert_eq!((axis.low, axis.high, axis.step), (425.0, 450.0, 5.0));
        assert_eq!(axis.label(430.0), "430");
        let axis = Axis::of([0.2, 0.31].into_iter(), true, 4.0);
        assert_eq!((axis.low, axis.label(axis.low).as_str()), (0.0, "0"));
        assert_eq!(axis.label(0.3), "0.3");
        // One value, none, and some that are no numbers.
        assert!(Axis::of([7.0].into_iter(), false, 5.0).step > 0.0);
        assert!(Axis::of([f64::NAN].into_iter(), false, 5.0).high > 0.0);
    }

    #[test]
    fn charts_are_well_formed_whatever_the_names() {
        let series = |mark| Series {
            name: "a < b & \"c\"".to_owned(),
            colour: COLOURS[0],
            mark,
            points: vec![
                (1.0, 2.0, "<&>".to_owned()),
                (3.0, f64::INFINITY, String::new()),
                (2.0, 5.0, String::new()),
            ],
        };
        let chart = Chart {
            title: "x & y".to_owned(),
            description: "x > y".to_owned(),
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            series: [Mark::Dots, Mark::Faint, Mark::Line, Mark::Ring].map(series).into(),
            from_zero: (false, true),
            size: (600.0, 400.0),
        };
        let svg = chart.svg();
        assert_eq!(svg.matches("<circle").count(), 4 * 2 + 4);
        assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.contains("&lt;&amp;&gt;"));
        roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        assert!(svg.contains(">x &amp; y<") && svg.contains(">x<") && svg.contains(">y<"));
        let bars = Bars {
            description: String::new(),
            x_label: "area (mm2)".to_owned(),
            y_label: "best for".to_owned(),
            parts: vec!["one".to_owned(), "two".to_owned()],
            bars: vec![("first".to_owned(), vec![1.0, 2.0]), ("second".to_owned(), vec![0.0, 4.0])],
            width: 500.0,
        };
        let svg = bars.svg();
        assert_eq!(svg.matches("<title>").count(), 3);
        assert!(svg.contains(">area (mm2)<") && svg.contains(">best for<"));
    }
}
