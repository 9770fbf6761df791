//! Drawings of searches, as SVG.

use crate::error::{Result, TunerError};
use plotters::prelude::*;
use text_escape::visible;

const COLOURS: [RGBColor; 8] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(255, 127, 14),
    RGBColor(23, 190, 207),
    RGBColor(140, 86, 75),
    RGBColor(127, 127, 127),
];
const FONT: &str = "sans-serif";

fn failed(error: impl std::fmt::Display) -> TunerError {
    TunerError::Infeasible { reason: format!("the drawing failed: {error}"), hint: String::new() }
}

/// A number with about four digits.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (0.001..1e5).contains(&size) => {
            format!("{value:.*}", (3 - size.log10().floor() as i32).max(0) as usize)
        }
        _ => format!("{value:.3e}"),
    }
}

/// Best response so far over the number of measurements, one line per search, on a logarithmic scale where all are
/// positive. An empty unit is one that is not known.
///
/// # Errors
/// Where no search found anything.
pub fn convergence(series: &[(String, Vec<Option<f64>>)], response: &str, unit: &str) -> Result<String> {
    let values: Vec<f64> = series.iter().flat_map(|(_, values)| values.iter().flatten().copied()).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let longest = series.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    if !least.is_finite() {
        return Err(TunerError::Infeasible {
            reason: "there is nothing to draw: every measurement failed".to_owned(),
            hint: String::new(),
        });
    }
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (860, 480)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let logarithmic = least > 0.0;
        // Drawn in logarithms to base 10; the labels are the responses.
        let scale = |value: f64| if logarithmic { value.log10() } else { value };
        let margin = ((scale(most) - scale(least)) * 0.05).max(1e-6);
        let mut chart = ChartBuilder::on(&root)
            .margin(16)
            .caption(format!("best {} over the number of measurements", visible(response)), (FONT, 16))
            .x_label_area_size(44)
            .y_label_area_size(84)
            .build_cartesian_2d(1f64..longest.max(2) as f64, scale(least) - margin..scale(most) + margin)
            .map_err(failed)?;
        let label = |value: &f64| {
            let value = if logarithmic { 10f64.powf(*value) } else { *value };
            number(value)
        };
        let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
        chart
            .configure_mesh()
            .x_desc("number of measurements")
            .y_desc(format!("best {} so far{}", visible(response), visible(&unit)))
            .y_label_formatter(&label)
            .x_label_formatter(&|value| format!("{value:.0}"))
            .label_style((FONT, 13))
            .axis_desc_style((FONT, 15))
            .light_line_style(WHITE)
            .draw()
            .map_err(failed)?;
        for (place, (name, values)) in series.iter().enumerate() {
            let colour = COLOURS[place % COLOURS.len()];
            // Steps: a value holds until the next better one.
            let mut points: Vec<(f64, f64)> = Vec::new();
            for (number, value) in values.iter().enumerate() {
                if let Some(value) = value.map(scale) {
                    let x = number as f64 + 1.0;
                    if let Some(&(_, before)) = points.last() {
                        points.push((x, before));
                    }
                    points.push((x, value));
                }
            }
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))
                .map_err(failed)?
                .label(visible(name).into_owned())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.9))
            .border_style(BLACK.mix(0.4))
            .label_font((FONT, 14))
            .draw()
            .map_err(failed)?;
        root.present().map_err(failed)?;
    }
    Ok(text)
}

/// Histograms of slowdowns over repetitions, one row per method, as Figure 3 of Bruel et al. (2019): mean dashed,
/// largest marked. What lies beyond 4 is counted in the last bar.
///
/// # Errors
/// Where there is nothing to draw.
pub fn histograms(rows: &[(String, Vec<f64>)]) -> Result<String> {
    const WIDTH: f64 = 0.05;
    const END: f64 = 4.0;
    if rows.is_empty() {
        return Err(failed("there is no method"));
    }
    let mut text = String::new();
    {
        let height = 120 * rows.len() as u32 + 100;
        let root = SVGBackend::with_string(&mut text, (860, height)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let (top, rest) = root.split_vertically(32);
        let (plots, bottom) = rest.split_vertically(height - 32 - 60);
        let count = rows.iter().map(|(_, slowdowns)| slowdowns.len()).max().unwrap_or(0);
        let title =
            format!("slowdown against the best recorded configuration, {count} searches of each method");
        top.draw(&Text::new(title, (60, 12), (FONT, 16).into_font())).map_err(failed)?;
        let areas = plots.split_evenly((rows.len(), 1));
        for (place, ((name, slowdowns), area)) in rows.iter().zip(&areas).enumerate() {
            let colour = COLOURS[place % COLOURS.len()];
            let bars = ((END - 1.0) / WIDTH).round() as usize + 1;
            let mut counts = vec![0usize; bars];
            for slowdown in slowdowns {
                let bar = ((slowdown - 1.0) / WIDTH).max(0.0).min(bars as f64 - 1.0) as usize;
                counts[bar] += 1;
            }
            let finite: Vec<f64> = slowdowns.iter().copied().filter(|value| value.is_finite()).collect();
            let mean = finite.iter().sum::<f64>() / finite.len().max(1) as f64;
            let most = finite.iter().copied().fold(1.0, f64::max);
            let top = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
            let mut chart = ChartBuilder::on(area)
                .margin_top(10)
                .margin_right(20)
                .margin_left(8)
                .x_label_area_size(20)
                .y_label_area_size(64)
                .build_cartesian_2d(0.95..END + WIDTH, 0.0..top * 1.25)
                .map_err(failed)?;
            chart
                .configure_mesh()
                .disable_x_mesh()
                .y_labels(3)
                .x_labels(8)
                .y_desc("searches")
                .axis_desc_style((FONT, 12))
                .label_style((FONT, 12))
                .light_line_style(WHITE)
                .y_label_formatter(&|value| format!("{value:.0}"))
                .draw()
                .map_err(failed)?;
            chart
                .draw_series(counts.iter().enumerate().filter(|(_, count)| **count > 0).map(
                    |(bar, &count)| {
                        let left = 1.0 + bar as f64 * WIDTH;
                        Rectangle::new([(left, 0.0), (left + WIDTH * 0.9, count as f64)], colour.filled())
                    },
                ))
                .map_err(failed)?;
            let shown = mean.min(END);
            chart
                .draw_series(DashedLineSeries::new(
                    [(shown, 0.0), (shown, top * 1.2)],
                    4,
                    3,
                    BLACK.stroke_width(1),
                ))
                .map_err(failed)?;
            let at = most.min(END);
            let marker = [(at, top * 0.08), (at, top * 0.4)];
            chart.draw_series([PathElement::new(marker, RED.stroke_width(2))]).map_err(failed)?;
            let legend = format!("{}: mean {mean:.3}, max {most:.2}", visible(name));
            chart
                .draw_series([Text::new(legend, (2.4, top * 1.05), (FONT, 15).into_font())])
                .map_err(failed)?;
        }
        for (text, y) in [
            ("slowdown: best response found / best recorded response (4 and more in the last bar)", 8),
            ("dashed: mean; red: largest", 30),
        ] {
            bottom.draw(&Text::new(text, (64, y), (FONT, 14).into_font())).map_err(failed)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let numbers = [0.0, 0.012_345, 1.0, 12.345, 45_678.9, 1e-9, 1e9].map(number);
        assert_eq!(numbers, ["0", "0.01235", "1.000", "12.35", "45679", "1.000e-9", "1.000e9"]);
    }

    #[test]
    fn drawings_are_svg_with_their_names() {
        let series = vec![("dlmt".to_owned(), vec![None, Some(3.0), Some(2.0), Some(2.0)])];
        let text = convergence(&series, "time", "ms").unwrap();
        assert!(text.starts_with("<svg") && text.contains("best time so far in ms") && text.contains("dlmt"));
        assert_eq!(text, convergence(&series, "time", "ms").unwrap());
        let rows = vec![("random".to_owned(), vec![1.0, 1.2, 9.0, f64::INFINITY])];
        let text = histograms(&rows).unwrap();
        for part in ["random: mean 3.733, max 9.00", "best response found / best recorded", "searches"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(convergence(&[("x".to_owned(), vec![None])], "time", "").is_err());
    }
}
