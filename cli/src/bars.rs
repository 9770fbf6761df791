//! A prediction as a bar chart: the ideal time, and every loss on the way to the predicted one.

use crate::chart;
use cost_models::explain::Loss;
use std::fmt::Write;
use text_escape::markup as escape;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 110.0;
const TOP: f64 = 88.0;
const BAR: f64 = 22.0;
const PITCH: f64 = 32.0;

/// Fills of the ideal time, of losses, of gains, and of the sum.
const FILLS: [&str; 4] = ["#9ecae1", "#fdae6b", "#a1d99b", "#3182bd"];

/// What is drawn.
pub struct Waterfall<'a> {
    /// The first line.
    pub title: String,
    /// The second line.
    pub subtitle: String,
    /// The ideal time in seconds.
    pub ideal_s: f64,
    /// The predicted time in seconds.
    pub seconds: f64,
    /// What lies between the two.
    pub losses: &'a [Loss],
}

/// The chart as SVG: a waterfall from the ideal to the predicted time.
pub fn draw(prediction: &Waterfall<'_>) -> String {
    let mut bars = vec![("ideal", 0.0, prediction.ideal_s, FILLS[0], "all lanes busy, nothing else")];
    let mut end = prediction.ideal_s;
    for loss in prediction.losses {
        let fill = if loss.seconds < 0.0 { FILLS[2] } else { FILLS[1] };
        bars.push((loss.name, end, end + loss.seconds, fill, loss.meaning));
        end += loss.seconds;
    }
    bars.push(("predicted", 0.0, prediction.seconds, FILLS[3], "the sum"));
    let most = bars.iter().map(|(_, from, to, ..)| from.max(*to)).fold(f64::MIN_POSITIVE, f64::max);
    let scale = (WIDTH - LEFT - RIGHT) / most;
    let height = TOP + PITCH * bars.len() as f64 + 56.0;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    );
    let _ = writeln!(svg, "<text x=\"16\" y=\"26\" font-size=\"16\">{}</text>", escape(&prediction.title));
    let _ = writeln!(svg, "<text x=\"16\" y=\"48\" fill=\"#555\">{}</text>", escape(&prediction.subtitle));
    let bottom = TOP + PITCH * bars.len() as f64;
    let (unit, in_unit) =
        [("s", 1.0), ("ms", 1e3)].into_iter().find(|(_, per)| most * per >= 1.0).unwrap_or(("us", 1e6));
    for tick in chart::ticks(most * in_unit, 6.0) {
        let x = LEFT + tick.0 / in_unit * scale;
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {} V{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            TOP - 6.0,
            bottom + 18.0,
            tick.1
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\">predicted time ({unit}); per cent: share of the whole</text>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-style=\"italic\">from ideal to real</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        bottom + 40.0,
        LEFT - 10.0,
        TOP - 10.0
    );
    for (index, (name, from, to, fill, meaning)) in bars.iter().enumerate() {
        let y = TOP + PITCH * index as f64;
        let (x, width) = (LEFT + from.min(*to) * scale, (to - from).abs() * scale);
        let middle = y + BAR / 2.0 + 4.5;
        let _ = writeln!(
            svg,
            "<g><title>{}</title><text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{BAR}\" fill=\"{fill}\"/>\
             <text x=\"{:.2}\" y=\"{middle:.1}\" fill=\"#333\">{:.1} %</text></g>",
            escape(meaning),
            LEFT - 10.0,
            escape(&name.replace('_', " ")),
            width.max(0.5),
            x + width + 6.0,
            100.0 * (to - from) / prediction.seconds,
        );
    }
    let _ = writeln!(svg, "<path d=\"M{LEFT} {} V{bottom}\" stroke=\"#222\"/>\n</svg>", TOP - 6.0);
    svg
}
