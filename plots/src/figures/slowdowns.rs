//! Histograms of slowdowns over repetitions, as Figure 3 of Bruel et al. (2019).

use crate::axis::Axis;
use crate::chart::{Chart, Panels};
use crate::error::Result;
use crate::layer::{Block, Guide, Layer};
use crate::palette::{Colour, Dash};
use crate::svg::Svg;

/// Width of a bar, and where the last one begins.
const WIDTH: f64 = 0.05;
const END: f64 = 4.0;

/// One row for each method: the number of its searches by slowdown, the mean dashed, the largest as a line.
/// What is beyond 4 is counted in the last bar.
///
/// # Errors
/// Where there is no method.
pub fn slowdowns(methods: &[(String, Vec<f64>)]) -> Result<Svg> {
    let searches = methods.iter().map(|(_, slowdowns)| slowdowns.len()).max().unwrap_or(0);
    let last = methods.len().saturating_sub(1);
    let charts: Vec<Chart> = methods
        .iter()
        .enumerate()
        .map(|(at, (name, slowdowns))| histogram(name, slowdowns, at == last))
        .collect();
    Panels {
        title: format!(
            "slowdown against the best recorded configuration, {searches} searches of each method"
        ),
        subtitle: "slowdown: best response found / best recorded response; 4 and more in the last bar"
            .to_owned(),
        description: "How often each method ended at which slowdown".to_owned(),
        charts: &charts,
    }
    .draw()
}

fn histogram(name: &str, slowdowns: &[f64], last: bool) -> Chart {
    let bars = ((END - 1.0) / WIDTH).round() as usize + 1;
    let mut counts = vec![0_usize; bars];
    for slowdown in slowdowns.iter().filter(|slowdown| !slowdown.is_nan()) {
        let bar = ((slowdown - 1.0) / WIDTH).max(0.0).min(bars as f64 - 1.0) as usize;
        counts[bar] += 1;
    }
    let finite: Vec<f64> = slowdowns.iter().copied().filter(|value| value.is_finite()).collect();
    let mean = finite.iter().sum::<f64>() / finite.len() as f64;
    let most = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let blocks = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bar, &count)| {
        let left = 1.0 + bar as f64 * WIDTH;
        let title = format!("{count} from {left:.2}");
        Block { x: (left, left + 0.9 * WIDTH), y: (0.0, count as f64), title }
    });
    // The legend is that of the first row, for all rows.
    let line = |name: &str, value: f64, colour: usize, dash: Dash| Layer::Guide {
        name: name.to_owned(),
        guide: Guide::Upright(value.min(END)),
        colour: Colour::Series(colour),
        dash,
    };
    let shown = |value: f64, decimals: usize| {
        if value.abs() < 1e6 { format!("{value:.decimals$}") } else { format!("{value:.2e}") }
    };
    let figures = match finite.is_empty() {
        true => format!("{name}: no search found anything"),
        false => format!("{name}: mean {}, max {}", shown(mean, 3), shown(most, 2)),
    };
    Chart {
        title: String::new(),
        subtitle: String::new(),
        description: figures.clone(),
        x: Axis::new(if last { format!("{figures}; slowdown") } else { figures })
            .within(1.0 - WIDTH, END + WIDTH),
        y: Axis::new("searches").whole().from_zero(),
        layers: vec![
            Layer::Blocks {
                name: "searches".to_owned(),
                colour: Colour::Series(0),
                opacity: 1.0,
                blocks: blocks.collect(),
            },
            line("mean", mean, 2, Dash::Dashed),
            line("largest", most, 1, Dash::Solid),
        ],
        size: (860.0, 150.0),
    }
}
