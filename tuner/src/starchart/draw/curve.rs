//! The error against the size of the training set (the article's Figure 5).

use super::super::accuracy::CurvePoint;
use super::short;
use std::fmt::Write;
use text_escape::markup;

const SIZE: [f64; 2] = [640.0, 400.0];
/// Left, top, right, bottom.
const MARGINS: [f64; 4] = [78.0, 40.0, 20.0, 48.0];
/// Lines of the grid, about.
const LINES: f64 = 5.0;

/// The curve as an SVG document: the mean over the repetitions with the range of all of them, and the target as a line.
/// Empty curves give an empty frame.
pub fn curve_svg(title: &str, curve: &[CurvePoint], target: Option<f64>) -> String {
    let [width, height] = SIZE;
    let [left, top, right, bottom] = MARGINS;
    let most = curve.last().map_or(1, |point| point.samples).max(1) as f64;
    let highest = curve.iter().map(|point| point.range[1]).filter(|error| error.is_finite()).chain(target);
    let highest = highest.fold(0.0, f64::max).max(1e-9) * 1.05;
    let (error_step, sample_step) = (nice_step(100.0 * highest / LINES), nice_step(most / LINES).max(1.0));
    let x = |samples: f64| left + samples / most * (width - left - right);
    let y = |error: f64| height - bottom - error.min(highest) / highest * (height - top - bottom);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{left}\" y=\"24\" font-size=\"14\">{}</text>\n",
        markup(title)
    );
    for error in ticks(100.0 * highest, error_step) {
        let at = y(error / 100.0);
        let _ = writeln!(
            out,
            "<path d=\"M{left} {at:.1}H{:.1}\" stroke=\"#e0e0e0\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            width - right,
            left - 6.0,
            at + 4.0,
            short_tick(error)
        );
    }
    for samples in ticks(most, sample_step) {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{samples:.0}</text>",
            x(samples),
            height - bottom + 18.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">training samples (designs)</text>\
         <text x=\"14\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {2:.1})\">median relative error on held-out designs (%)</text>",
        (left + width - right) / 2.0,
        height - 10.0,
        (top + height - bottom) / 2.0
    );
    let upper = curve.iter().map(|point| (point.samples, point.range[1]));
    let lower = curve.iter().rev().map(|point| (point.samples, point.range[0]));
    let band: Vec<String> = upper
        .chain(lower)
        .map(|(samples, error)| format!("{:.1},{:.1}", x(samples as f64), y(error)))
        .collect();
    let line: Vec<String> =
        curve.iter().map(|point| format!("{:.1},{:.1}", x(point.samples as f64), y(point.error))).collect();
    let _ = writeln!(out, "<polygon points=\"{}\" fill=\"#6baed6\" opacity=\"0.25\"/>", band.join(" "));
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#2171b5\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for point in curve {
        let (cx, cy) = (x(point.samples as f64), y(point.error));
        let _ = writeln!(
            out,
            "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"#2171b5\"><title>{} samples: {}</title></circle>",
            point.samples,
            short(point.error)
        );
    }
    if let Some(target) = target {
        let _ = writeln!(
            out,
            "<path d=\"M{left} {0:.1}H{1:.1}\" stroke=\"#cb181d\" stroke-dasharray=\"6 4\"/><text x=\"{2:.1}\" y=\"{3:.1}\" fill=\"#cb181d\">target {4} %</text>",
            y(target),
            width - right,
            left + 4.0,
            y(target) + 15.0,
            short_tick(100.0 * target)
        );
    }
    out + "</svg>\n"
}

/// The least of 1, 2, 5 times a power of ten that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let decade = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|digit| digit * decade)
        .into_iter()
        .find(|nice| *nice >= step)
        .unwrap_or(10.0 * decade)
}

/// The multiples of a step from 0 to `most`.
fn ticks(most: f64, step: f64) -> impl Iterator<Item = f64> {
    (0..=(most / step).floor() as i64).map(move |tick| tick as f64 * step)
}

/// Without zeros at the end.
fn short_tick(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
