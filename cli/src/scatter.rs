//! Predicted against measured times, as a drawing with logarithmic axes.

use std::fmt::Write;
use text_escape::markup as escape;

/// Extents of the drawing and of its margin, in pixels.
const EXTENT: f64 = 620.0;
const MARGIN: f64 = 92.0;

/// A scatter plot.
pub struct Scatter {
    /// What it shows.
    pub title: String,
    /// Predicted and measured seconds.
    pub points: Vec<(f64, f64)>,
    /// The point that the model picks.
    pub picked: usize,
    /// The best measured time.
    pub best: f64,
}

impl Scatter {
    /// The drawing: the diagonal is a perfect model, points left of the dashed line are within 20 % of the best.
    pub fn svg(&self) -> String {
        let values = self.points.iter().flat_map(|&(predicted, measured)| [predicted, measured]);
        let values: Vec<f64> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min) / 1.1;
        let high = values.iter().copied().fold(0.0, f64::max) * 1.1;
        let span = (high / low).ln().max(1e-9);
        let side = EXTENT - 2.0 * MARGIN;
        let x = |value: f64| MARGIN + side * (value / low).ln() / span;
        let y = |value: f64| EXTENT - x(value);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{EXTENT}\" height=\"{EXTENT}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let _ =
            writeln!(text, "<text x=\"{MARGIN}\" y=\"28\" font-size=\"15\">{}</text>", escape(&self.title));
        let _ = writeln!(
            text,
            "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{side}\" height=\"{side}\" fill=\"none\" stroke=\"#888\"/>"
        );
        for tick in ticks(low, high) {
            let (at, up) = (x(tick), y(tick));
            let label = crate::report::seconds(tick);
            let bottom = EXTENT - MARGIN;
            let _ = writeln!(
                text,
                "<line x1=\"{at:.1}\" y1=\"{MARGIN}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#eee\"/>\
                 <line x1=\"{MARGIN}\" y1=\"{up:.1}\" x2=\"{bottom}\" y2=\"{up:.1}\" stroke=\"#eee\"/>\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                bottom + 18.0,
                MARGIN - 4.0,
                up + 4.0
            );
        }
        let _ = writeln!(
            text,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#444\"/>",
            x(low),
            y(low),
            x(high),
            y(high)
        );
        let top = x(1.2 * self.best);
        let _ = writeln!(
            text,
            "<line x1=\"{top:.1}\" y1=\"{MARGIN}\" x2=\"{top:.1}\" y2=\"{}\" stroke=\"#a63603\" stroke-dasharray=\"4 3\"/>",
            EXTENT - MARGIN
        );
        for (index, &(predicted, measured)) in self.points.iter().enumerate() {
            let (fill, radius) = if index == self.picked { ("#d94801", 6) } else { ("#2171b5", 3) };
            let _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" fill=\"{fill}\" fill-opacity=\"0.75\"/>",
                x(measured.clamp(low, high)),
                y(predicted.clamp(low, high))
            );
        }
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">measured time (logarithmic)</text>\
             <text x=\"18\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {:.1})\">predicted time (logarithmic)</text>\
             <text x=\"{:.1}\" y=\"46\" fill=\"#a63603\">left of the dashed line: within 20 % of the best; large: the model's choice</text>",
            EXTENT / 2.0,
            EXTENT - MARGIN + 44.0,
            EXTENT / 2.0,
            EXTENT / 2.0,
            MARGIN
        );
        text + "</svg>\n"
    }
}

/// 1, 2 and 5 times powers of ten; fewer where their labels would touch.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let first = low.log10().floor() as i32;
    let digits: &[f64] = match (high / low).log10() {
        decades if decades < 1.2 => &[1.0, 2.0, 5.0],
        decades if decades < 2.4 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let powers =
        (first..first + 12).flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
    powers.filter(|tick| (low..=high).contains(tick)).collect()
}
