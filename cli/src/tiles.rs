//! The tiles of a plan over the first space dimension and time, as a drawing. Everything is taken from the plan's
//! own enumeration, so that what is seen is what is run.

use crate::error::{Error, Result};
use hhc_codegen::KernelPlan;
use plots::{Axis, Block, Chart, Colour, Layer, Marks, Point, Series, Shape};
use polyhedral::analysis::Analysis;
use polyhedral::dependence::DependenceKind;
use polyhedral::domain::Interval;
use std::collections::{BTreeMap, BTreeSet};

/// Extents of the drawing in pixels, and of its plot, about.
const SIZE: (f64, f64) = (1000.0, 560.0);
const PLOT: (f64, f64) = (900.0, 500.0);
/// Cells with at least so many pixels have room for a gap between rows, and for dots.
const GAP_FROM: f64 = 5.0;
const DOTS_FROM: f64 = 7.0;
/// Tiles that should fit next to each other, and above each other.
const TILES_WIDE: i64 = 4;
const TILES_HIGH: i64 = 3;
/// Tiles of neighbouring iterations differ in shade.
const SHADES: [f64; 2] = [0.25, 0.45];
/// Launches of one iteration with a colour of their own.
const COLOURS: [Colour; 4] = [Colour::Series(0), Colour::Series(1), Colour::Series(7), Colour::Series(4)];

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
pub fn chart(plan: &KernelPlan, analysis: &Analysis) -> Result<Chart> {
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
    Ok(Drawing { plan, analysis, points, rows: steps * statements, tiles }.chart())
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
    fn statements(&self) -> i64 {
        self.plan.program.statements.len() as i64
    }

    /// Where the middle of a row is on the axis of time steps; whole numbers are the first rows of their steps.
    fn time(&self, row: f64) -> f64 {
        row / self.statements() as f64
    }

    fn cell(&self) -> (f64, f64) {
        (PLOT.0 / self.points as f64, PLOT.1 / self.rows as f64)
    }

    fn chart(&self) -> Chart {
        let program = &self.plan.program;
        let mut layers = Vec::new();
        for launch in 0..self.plan.launches.len() {
            for shade in [0, 1] {
                layers.extend(self.launch(launch, shade));
            }
        }
        layers.push(self.dependences());
        let tile = &self.plan.tile;
        Chart {
            title: format!("{}: strategy {}, tile {tile}", program.name, self.plan.strategy),
            subtitle: self.subtitle(),
            description: "Which tile computes which point of the first dimension, at which time".to_owned(),
            x: Axis::new(format!("{} (first space dimension, points)", program.space_indices[0]))
                .whole()
                .within(-0.5, self.points as f64 - 0.5),
            y: Axis::new(format!("{} (time steps)", program.time_index))
                .whole()
                .within(self.time(-0.5), self.time(self.rows as f64 - 0.5)),
            layers,
            size: SIZE,
        }
    }

    fn subtitle(&self) -> String {
        let statements = self.statements();
        let rows = if statements > 1 {
            format!("; {statements} statements: {statements} rows per time step")
        } else {
            String::new()
        };
        format!("tiles of one colour run in parallel, one launch after the other from below{rows}")
    }

    /// The tiles of one launch in iterations of one shade: rows as boxes, points as dots, and the outline around them.
    fn launch(&self, launch: usize, shade: usize) -> Vec<Layer> {
        let (cell_width, cell_height) = self.cell();
        let colour = COLOURS[launch % COLOURS.len()];
        // Space between rows only where there is room for it.
        let half = if cell_height >= GAP_FROM { 0.5 - 0.5 / cell_height } else { 0.5 };
        let (mut boxes, mut dots, mut outlines) = (Vec::new(), Vec::new(), Vec::new());
        let own = self
            .tiles
            .iter()
            .filter(|((outer, of, _), _)| *of == launch && outer.rem_euclid(2) as usize == shade);
        for tile in own.map(|(_, tile)| tile) {
            for (&time, row) in tile {
                let (low, end) = (row.low as f64 - 0.5, row.end as f64 - 0.5);
                let middle = time as f64;
                boxes.push(Block {
                    x: (low, end),
                    y: (self.time(middle - half), self.time(middle + half)),
                    title: String::new(),
                });
                if cell_width >= DOTS_FROM && cell_height >= DOTS_FROM {
                    let at = self.time(middle);
                    dots.extend((row.low..row.end).map(|point| Point::new(point as f64, at, "")));
                }
            }
            // Up the right side, down the left one.
            let side = |time: i64, point: i64| {
                [-0.5, 0.5].map(|half| (point as f64 - 0.5, self.time(time as f64 + half)))
            };
            let right = tile.iter().flat_map(|(&time, row)| side(time, row.end));
            let left = tile.iter().rev().flat_map(|(&time, row)| side(time, row.low).into_iter().rev());
            outlines.push(right.chain(left).collect());
        }
        let kernel = &self.plan.kernels[self.plan.launches[launch].kernel];
        let name = if shade == 0 && launch < COLOURS.len() { kernel.name.clone() } else { String::new() };
        let marks = Marks { radius: 1.6, ..Marks::faint(Shape::Circle) };
        let mut layers = vec![Layer::Blocks { name, colour, opacity: SHADES[shade], blocks: boxes }];
        if !dots.is_empty() {
            layers.push(Layer::Series(Series::scattered("", colour, marks, dots)));
        }
        layers.push(Layer::Areas { name: String::new(), colour, opacity: 0.0, areas: outlines });
        layers
    }

    /// Arrows from the points whose values one point uses, in the middle of the window.
    fn dependences(&self) -> Layer {
        let statements = self.statements();
        let statement = self.plan.program.statements.len() - 1;
        let distances: BTreeSet<(i64, i64)> = self
            .analysis
            .dependences
            .iter()
            .filter(|dependence| dependence.kind == DependenceKind::Flow && dependence.target == statement)
            .map(|dependence| (dependence.rows, dependence.offset[0]))
            .collect();
        let row = (self.rows / 2) / statements * statements + statement as i64;
        let point = self.points / 2;
        let place = |point: i64, row: i64| (point as f64, self.time(row as f64));
        Layer::Arrows {
            name: "a point, and where the values that it reads come from (direction)".to_owned(),
            colour: Colour::Ink,
            from: distances.into_iter().map(|(rows, offset)| place(point - offset, row - rows)).collect(),
            to: place(point, row),
        }
    }
}
