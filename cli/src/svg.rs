//! The tiles of a plan over the first space dimension and time, as a drawing. Everything is taken from the plan's
//! own enumeration, so that what is seen is what is run.

use crate::error::{Error, Result};
use hhc_codegen::KernelPlan;
use polyhedral::analysis::Analysis;
use polyhedral::dependence::DependenceKind;
use polyhedral::domain::Interval;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use text_escape::markup as escape;

/// Extents of the plot in pixels.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 480.0;
/// Space around the plot: left, top, right, bottom.
const MARGINS: (f64, f64, f64, f64) = (70.0, 64.0, 24.0, 84.0);
/// Tiles that should fit next to each other, and above each other.
const TILES_WIDE: i64 = 4;
const TILES_HIGH: i64 = 3;
/// Launches of one iteration in fills of their own; tiles of neighbouring iterations differ in shade.
const FILLS: [[&str; 2]; 4] =
    [["#9ecae1", "#6baed6"], ["#fdd0a2", "#fdae6b"], ["#c7e9c0", "#a1d99b"], ["#dadaeb", "#bcbddc"]];
const OUTLINES: [&str; 4] = ["#08519c", "#a63603", "#006d2c", "#54278f"];

/// What one block of one launch runs in one row.
#[derive(Debug, Clone, Copy)]
struct Row {
    low: i64,
    /// One past the last point.
    end: i64,
}

/// The iteration of the host loop, the launch in it, and the block.
type TileKey = (i64, usize, Option<i64>);
/// Rows by logical time.
type Tile = BTreeMap<i64, Row>;

/// The rows of all tiles on a window: `points` along the first dimension, the least that a row needs along the others.
fn enumerate(plan: &KernelPlan, points: i64, steps: i64) -> Result<BTreeMap<TileKey, Tile>> {
    let program = &plan.program;
    let statements = program.statements.len() as i64;
    let margins = |d: usize| {
        let least = program.least_size[d];
        let of = |interval: Interval| interval.low.offset.abs() + interval.high.offset.abs();
        program.statements.iter().map(move |statement| of(statement.domain[d])).chain([least])
    };
    let size: Vec<i64> = (0..program.dimension())
        .map(|d| if d == 0 { points } else { margins(d).max().unwrap_or(0) + 1 })
        .collect();
    let mut tiles: BTreeMap<TileKey, Tile> = BTreeMap::new();
    plan.for_each_row(&size, steps, |row| {
        let (low, end) = row.bounds[0];
        let tile = tiles.entry((row.outer, row.launch, row.block.first().copied())).or_default();
        let time = row.step * statements + row.statement as i64;
        tile.entry(time)
            .and_modify(|row| {
                row.low = row.low.min(low);
                row.end = row.end.max(end);
            })
            .or_insert(Row { low, end });
    })
    .ok_or_else(|| Error::internal("a bound of the plan mentions an unknown variable"))?;
    Ok(tiles)
}

/// The extents of the largest tile: points and logical rows.
fn largest(tiles: &BTreeMap<TileKey, Tile>) -> (i64, i64) {
    let width = |tile: &Tile| {
        let low = tile.values().map(|row| row.low).min().unwrap_or(0);
        tile.values().map(|row| row.end).max().unwrap_or(0) - low
    };
    let height = |tile: &Tile| match (tile.keys().next(), tile.keys().next_back()) {
        (Some(first), Some(last)) => last - first + 1,
        _ => 0,
    };
    (tiles.values().map(width).max().unwrap_or(1), tiles.values().map(height).max().unwrap_or(1))
}

/// The tiles of a plan on a window of a few tiles, with the dependences of one point.
///
/// # Errors
/// A plan that cannot be enumerated, which is a mistake of ours.
pub fn tiles(plan: &KernelPlan, analysis: &Analysis) -> Result<String> {
    let statements = plan.program.statements.len() as i64;
    // Window until it holds whole tiles: the size of tiles is known only from the enumeration.
    let (mut points, mut steps) = (64, 16);
    let mut tiles = enumerate(plan, points, steps)?;
    for _ in 0..12 {
        let (width, height) = largest(&tiles);
        let wanted =
            (width.saturating_mul(TILES_WIDE).min(1 << 17), (height * TILES_HIGH / statements).clamp(6, 512));
        if points >= wanted.0 && steps >= wanted.1 {
            break;
        }
        (points, steps) = (points.max(wanted.0), steps.max(wanted.1));
        tiles = enumerate(plan, points, steps)?;
    }
    let (width, height) = largest(&tiles);
    points = (width * TILES_WIDE).min(points);
    steps = (height * TILES_HIGH / statements).clamp(6, steps.max(6));
    let tiles = enumerate(plan, points, steps)?;
    Ok(Drawing { plan, analysis, points, rows: steps * statements, tiles }.text())
}

struct Drawing<'a> {
    plan: &'a KernelPlan,
    analysis: &'a Analysis,
    points: i64,
    /// Logical rows.
    rows: i64,
    tiles: BTreeMap<TileKey, Tile>,
}

impl Drawing<'_> {
    /// Left edge of a point's cell.
    fn x(&self, point: f64) -> f64 {
        MARGINS.0 + point * WIDTH / self.points as f64
    }

    /// Upper edge of a row's cell; time goes upwards.
    fn y(&self, row: f64) -> f64 {
        MARGINS.1 + HEIGHT - (row + 1.0) * HEIGHT / self.rows as f64
    }

    fn cell(&self) -> (f64, f64) {
        (WIDTH / self.points as f64, HEIGHT / self.rows as f64)
    }

    fn text(&self) -> String {
        let (left, top, right, bottom) = MARGINS;
        let (width, height) = (left + WIDTH + right, top + HEIGHT + bottom);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        let program = &self.plan.program;
        let _ = writeln!(
            svg,
            "<text x=\"{left}\" y=\"26\" font-size=\"17\" font-weight=\"bold\">{}: strategy {}, tile {}</text>\n\
             <text x=\"{left}\" y=\"46\" fill=\"#555\">{}</text>",
            escape(&program.name),
            self.plan.strategy,
            escape(&self.plan.tile.to_string()),
            escape(&self.subtitle()),
        );
        for (key, tile) in &self.tiles {
            self.tile(&mut svg, key, tile);
        }
        self.axes(&mut svg);
        self.dependences(&mut svg);
        self.legend(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    fn subtitle(&self) -> String {
        let statements = self.plan.program.statements.len();
        let rows = if statements > 1 {
            format!("; {statements} statements: {statements} rows per time step")
        } else {
            String::new()
        };
        format!("tiles of one colour run in parallel, one launch after the other from below{rows}")
    }

    /// Rows as boxes, and the outline around them.
    fn tile(&self, svg: &mut String, &(outer, launch, _): &TileKey, tile: &Tile) {
        let (cell_width, cell_height) = self.cell();
        let fill = FILLS[launch % FILLS.len()][outer.rem_euclid(2) as usize];
        let outline = OUTLINES[launch % OUTLINES.len()];
        // Space between rows only where there is room for it.
        let gap = if cell_height >= 5.0 { 1.0 } else { 0.0 };
        let _ = writeln!(svg, "<g fill=\"{fill}\">");
        for (&time, row) in tile {
            let _ = writeln!(
                svg,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\"/>",
                self.x(row.low as f64),
                self.y(time as f64) + gap / 2.0,
                (row.end - row.low) as f64 * cell_width,
                cell_height - gap
            );
        }
        svg.push_str("</g>\n");
        if cell_width >= 7.0 && cell_height >= 7.0 {
            let _ = writeln!(svg, "<g fill=\"{outline}\" fill-opacity=\"0.45\">");
            for (&time, row) in tile {
                for point in row.low..row.end {
                    let (x, y) = self.centre(point, time);
                    let _ = writeln!(svg, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"1.6\"/>");
                }
            }
            svg.push_str("</g>\n");
        }
        // Up the right side, down the left one.
        let mut path = String::new();
        let mut corner = |point: i64, row: f64| {
            let command = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.2} {:.2}", self.x(point as f64), self.y(row));
        };
        for (&time, row) in tile {
            corner(row.end, time as f64 - 1.0);
            corner(row.end, time as f64);
        }
        for (&time, row) in tile.iter().rev() {
            corner(row.low, time as f64);
            corner(row.low, time as f64 - 1.0);
        }
        let _ =
            writeln!(svg, "<path d=\"{path}Z\" fill=\"none\" stroke=\"{outline}\" stroke-width=\"1.2\"/>");
    }

    fn centre(&self, point: i64, row: i64) -> (f64, f64) {
        let (cell_width, cell_height) = self.cell();
        (self.x(point as f64) + cell_width / 2.0, self.y(row as f64) + cell_height / 2.0)
    }

    fn axes(&self, svg: &mut String) {
        let program = &self.plan.program;
        let (left, bottom) = (MARGINS.0, MARGINS.1 + HEIGHT);
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {} V{bottom} H{}\" fill=\"none\" stroke=\"#222\"/>",
            MARGINS.1,
            left + WIDTH
        );
        let (cell_width, cell_height) = self.cell();
        let tick = nice_step(self.points as f64 / 10.0);
        for point in (0..self.points).step_by(tick as usize) {
            let x = self.x(point as f64) + cell_width / 2.0;
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.2} {bottom} v5\" stroke=\"#222\"/><text x=\"{x:.2}\" y=\"{}\" text-anchor=\"middle\">{point}</text>",
                bottom + 19.0
            );
        }
        let statements = program.statements.len() as i64;
        let steps = self.rows / statements;
        let tick = nice_step(steps as f64 / 8.0);
        for step in (0..steps).step_by(tick as usize) {
            // The middle of the step's first row.
            let y = self.y((step * statements) as f64) + cell_height / 2.0;
            let _ = writeln!(
                svg,
                "<path d=\"M{left} {y:.2} h-5\" stroke=\"#222\"/><text x=\"{}\" y=\"{:.2}\" text-anchor=\"end\">{step}</text>",
                left - 9.0,
                y + 4.5
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.2}\" y=\"{}\" text-anchor=\"middle\">{} (first space dimension, points)</text>",
            left + WIDTH / 2.0,
            bottom + 40.0,
            escape(&program.space_indices[0]),
        );
        let middle = MARGINS.1 + HEIGHT / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"20\" y=\"{middle:.2}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {middle:.2})\">{} (time steps)</text>",
            escape(&program.time_index),
        );
    }

    /// Arrows from the points whose values one point uses, in the middle of the window.
    fn dependences(&self, svg: &mut String) {
        let statement = self.plan.program.statements.len() - 1;
        let distances: BTreeSet<(i64, i64)> = self
            .analysis
            .dependences
            .iter()
            .filter(|dependence| dependence.kind == DependenceKind::Flow && dependence.target == statement)
            .map(|dependence| (dependence.rows, dependence.offset[0]))
            .collect();
        let statements = self.plan.program.statements.len() as i64;
        let row = (self.rows / 2) / statements * statements + statement as i64;
        let point = self.points / 2;
        let (x, y) = self.centre(point, row);
        let (cell_width, cell_height) = self.cell();
        // On small cells the arrows are drawn longer, in the same direction.
        let scale = (26.0 / cell_width.hypot(cell_height)).max(1.0);
        for (rows, offset) in distances {
            let (dx, dy) = (-(offset as f64) * cell_width * scale, rows as f64 * cell_height * scale);
            let length = dx.hypot(dy);
            // The tip keeps clear of the dot.
            let (tip_x, tip_y) = (x + dx * 5.0 / length, y + dy * 5.0 / length);
            let (back_x, back_y) = (tip_x + dx * 8.0 / length, tip_y + dy * 8.0 / length);
            let (side_x, side_y) = (-dy * 3.2 / length, dx * 3.2 / length);
            let _ = writeln!(
                svg,
                "<path d=\"M{:.2} {:.2}L{back_x:.2} {back_y:.2}\" stroke=\"#cb181d\" stroke-width=\"1.6\"/>\
                 <path d=\"M{tip_x:.2} {tip_y:.2}L{:.2} {:.2}L{:.2} {:.2}Z\" fill=\"#cb181d\"/>",
                x + dx,
                y + dy,
                back_x + side_x,
                back_y + side_y,
                back_x - side_x,
                back_y - side_y,
            );
        }
        let _ = writeln!(svg, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4\" fill=\"#cb181d\"/>");
    }

    fn legend(&self, svg: &mut String) {
        let y = MARGINS.1 + HEIGHT + 60.0;
        let mut x = MARGINS.0;
        let mut entry = |svg: &mut String, mark: String, label: &str| {
            let _ = writeln!(
                svg,
                "<g transform=\"translate({x:.2} {y})\">{mark}<text x=\"22\" y=\"12\">{}</text></g>",
                escape(label)
            );
            x += 22.0 + 7.2 * label.chars().count() as f64 + 24.0;
        };
        for (index, launch) in self.plan.launches.iter().enumerate().take(FILLS.len()) {
            let mark = format!(
                "<rect width=\"15\" height=\"15\" fill=\"{}\" stroke=\"{}\"/>",
                FILLS[index][0], OUTLINES[index]
            );
            entry(svg, mark, &self.plan.kernels[launch.kernel].name);
        }
        let mark = "<circle cx=\"8\" cy=\"8\" r=\"4\" fill=\"#cb181d\"/>".to_owned();
        entry(svg, mark, "a point, and where the values that it reads come from (direction)");
    }
}

/// The least of 1, 2, 5, 10, 20, ... that is at least `step`.
fn nice_step(step: f64) -> i64 {
    let mut decade = 1;
    loop {
        for factor in [1, 2, 5] {
            if (decade * factor) as f64 >= step {
                return decade * factor;
            }
        }
        decade *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks() {
        assert_eq!([0.3, 1.0, 1.1, 4.0, 6.0, 13.0].map(nice_step), [1, 1, 2, 5, 10, 20]);
    }
}
