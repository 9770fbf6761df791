//! Hybrid hexagonal/classical tiling (CGO 2014): hexagons over (time, s0), skewed rectangles over the
//! other space dimensions. Two launches per band of time; blocks of one launch are independent.

mod default_tile;
mod forms;
mod hexagon;
mod inner;
mod lines;
mod outer;
mod search;
mod shape;
mod sizes;
mod space;
mod tables;
mod wavefront;
mod waves;

use super::interface::{Strategy, Target};
use super::tile_space::{Along, LARGEST_SIZE, LeastBy, OptionalSize, TileSize, TileSpace};
use crate::TileSizes;
use crate::counts::forms::Forms;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{
    Binding, FullTiles, Instance, Kernel, KernelPlan, Launch, Loop, Range, SIZE_NAMES, bound, hull,
};
use crate::storage::Memory;
use crate::window::Windows;
use hexagon::Hexagon;
use polyhedral::cone::Cone;
use polyhedral::program::{Program, Rational};
use sizes::{FUSED_STEPS, HEIGHT, SPACE_SIZES, WAVE};
use std::sync::Arc;
use waves::Waves;

/// Hybrid hexagonal/classical tiling.
#[derive(Debug, Clone, Copy)]
pub struct HybridHexagonal;

const SUB_TILE_NAMES: [&str; 3] = ["", "c1", "c2"];
/// Name of the loop over a hexagon's time steps.
const ROWS: &str = "m";

impl Strategy for HybridHexagonal {
    fn id(&self) -> &'static str {
        "hhc"
    }

    fn description(&self) -> &'static str {
        "hybrid hexagonal/classical tiling: many time steps per pass over memory"
    }

    fn size_names(&self) -> &'static [&'static str] {
        &[HEIGHT, SPACE_SIZES[0], SPACE_SIZES[1], SPACE_SIZES[2], FUSED_STEPS, WAVE]
    }

    fn space(&self, program: &Program, cone: &Cone) -> TileSpace {
        let statements = program.statements.len() as i64;
        let size = |name, meaning, along, step, whole| TileSize {
            name,
            meaning,
            along,
            least: 1,
            most: LARGEST_SIZE,
            step,
            whole,
        };
        let mut sizes = vec![
            size(
                HEIGHT,
                "half the height of a hexagon, in logical rows",
                Along::Time { rows_per_step: statements },
                statements,
                false,
            ),
            size(SPACE_SIZES[0], "the flat top of a hexagon, in points", Along::Space(0), 1, false),
        ];
        sizes.extend((1..program.dimension()).map(|d| {
            size(SPACE_SIZES[d], "the length of a classical tile, in points", Along::Space(d), 1, true)
        }));
        let (values, period) = Hexagon::least_flat_tops(cone.lower[0], cone.upper[0]);
        let because =
            format!(" for the slopes {} and {} of `{}`", cone.lower[0], cone.upper[0], program.name);
        let flat_top = LeastBy { size: SPACE_SIZES[0], of: HEIGHT, values, period, because };
        let optional = |size, left_out, tried| OptionalSize { size, left_out, tried, target: Target::OpenMp };
        let steps = Along::Time { rows_per_step: 1 };
        let fused = size(
            FUSED_STEPS,
            "time steps that are swept together, for CPUs (1 if left out)",
            steps,
            1,
            false,
        );
        let wave = size(
            WAVE,
            "the length of a piece of such a sweep along dimension 0, in points (0 or left out: what fits a cache)",
            Along::Space(0),
            1,
            false,
        );
        TileSpace {
            sizes,
            optional: vec![optional(fused, 1, waves::TRIED_STEPS), optional(wave, 0, &[])],
            constraints: vec![flat_top],
            program: program.name.clone(),
        }
    }

    fn default_tile(&self, program: &Program, cone: &Cone, target: Target) -> TileSizes {
        default_tile::default_tile(program, cone, target)
    }

    fn size_text(&self, name: &str, value: i64) -> String {
        let points = if value == 1 { "1 point".to_owned() } else { format!("{value} points") };
        match name {
            HEIGHT => format!("{name}: half a tile's height in rows of time"),
            FUSED_STEPS => format!("{name}: {value} time steps in one sweep"),
            WAVE => format!("{name}: sweeps in pieces of {points}"),
            _ if name == SPACE_SIZES[0] => format!("{name}: flat top of {points}"),
            _ => format!("{name}: {points}"),
        }
    }

    fn closed_forms(&self) -> Option<Box<dyn Forms>> {
        Some(Box::new(search::HexagonalForms))
    }

    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> KernelPlan {
        let geometry = Geometry::new(program, cone, tile);
        let rows = geometry.hexagon.rows();
        // Phase 0 of band T computes the logical rows 2*st*T - st + a, phase 1 the rows 2*st*T + a.
        let last_row = var("steps") * geometry.statements - 1;
        KernelPlan {
            program: program.clone(),
            strategy: self.id(),
            tile: tile.clone(),
            outer: Loop {
                variable: "band",
                low: int(0),
                high: (last_row.clone() + geometry.hexagon.half_height).floor_div(rows),
            },
            bands: None,
            launches: vec![
                Launch { kernel: 0, when: None },
                Launch { kernel: 1, when: Some(last_row - var("band") * rows) },
            ],
            kernels: vec![geometry.kernel(0), geometry.kernel(1)],
            windows: Windows::default(),
            witnesses: Vec::new(),
        }
    }
}

/// Everything that the two kernels share.
struct Geometry<'a> {
    program: &'a Program,
    hexagon: Hexagon,
    /// `K`: statements, that is logical rows, per time step.
    statements: i64,
    /// Classical size per dimension; 0 where the dimension is not cut. Entry 0 is unused.
    classical: Vec<i64>,
    /// Skew per logical row and dimension: the cone's lower slope. Entry 0 is unused.
    skew: Vec<Rational>,
    /// How rows are swept together, if they are.
    waves: Option<Waves>,
}

impl<'a> Geometry<'a> {
    /// For sizes that lie in the space.
    fn new(program: &'a Program, cone: &Cone, tile: &TileSizes) -> Self {
        let value = |name| tile.get(name).unwrap_or_default();
        Geometry {
            program,
            hexagon: Hexagon {
                half_height: value(HEIGHT),
                flat_top: value(SPACE_SIZES[0]),
                lower: cone.lower[0],
                upper: cone.upper[0],
            },
            statements: program.statements.len() as i64,
            classical: [0]
                .into_iter()
                .chain(SPACE_SIZES[1..program.dimension()].iter().map(|name| value(name)))
                .collect(),
            skew: cone.lower.clone(),
            waves: Waves::of(program, cone, tile),
        }
    }

    /// Shift of the classical tile boundary at row `a`: `floor(lower_i * a)` points towards lower coordinates.
    fn skew_at(&self, d: usize, a: IntExpr) -> IntExpr {
        (a * *self.skew[d].numer()).floor_div(*self.skew[d].denom())
    }

    fn kernel(&self, phase: i64) -> Kernel {
        let hexagon = &self.hexagon;
        let (pitch, shift, rows) = (hexagon.pitch(), hexagon.shift(), hexagon.rows());
        let groups = rows / self.statements;
        let (leftmost, rightmost) = hexagon.extent();
        let cut: Vec<bool> = (0..self.program.dimension()).map(|d| d == 0 || self.classical[d] > 0).collect();
        let tiles = FullTiles::new(self.program, &cut);
        let (least_low, least_high) = hull(self.program, 0);

        // x0 = S*W - ((-2*sh*T) mod W) [- sh in phase 0]: the s0 coordinate of column b = 0.
        let phase_shift = if phase == 0 { shift } else { 0 };
        let drift = (var("band") * (-2 * shift)).modulo(pitch);
        let x0 = var("b0") * pitch - drift.clone() - phase_shift;
        let t0 = var("band") * groups - if phase == 0 { hexagon.half_height / self.statements } else { 0 };

        // Blocks with a column in the domain: x0 + rightmost >= least_low, x0 + leftmost <= n0 - 1 - least_high.
        let blocks = vec![Loop {
            variable: "b0",
            low: (drift.clone() + (phase_shift + least_low - rightmost)).ceil_div(pitch),
            high: (var("n0") + drift + (phase_shift - 1 - least_high - leftmost)).floor_div(pitch),
        }];
        let bindings = vec![
            Binding { name: "t0", value: t0, comment: "time step of the first row".to_string() },
            Binding { name: "x0", value: x0, comment: "coordinate of the hexagon's column 0".to_string() },
        ];

        let mut full_when = vec![
            var("t0"),
            var("steps") - (var("t0") + groups),
            var("x0") + (leftmost - tiles.low[0]),
            var("n0") - (var("x0") + (rightmost + 1 + tiles.high[0])),
        ];
        let mut sub_tiles = Vec::new();
        for d in 1..self.program.dimension() {
            let size = self.classical[d];
            if size == 0 {
                continue;
            }
            let (least_low, least_high) = hull(self.program, d);
            let deepest = self.skew_at(d, int(rows - 1)).constant().unwrap_or_default();
            let (variable, extent) = (SUB_TILE_NAMES[d], var(SIZE_NAMES[d]));
            sub_tiles.push(Loop {
                variable,
                low: int(least_low).floor_div(size),
                high: (extent.clone() + (deepest - 1 - least_high)).floor_div(size),
            });
            full_when.push(var(variable) * size - (deepest + tiles.low[d]));
            full_when.push(extent - (var(variable) * size + (size + tiles.high[d])));
        }

        let mut steps = Loop { variable: ROWS, low: int(0), high: int(groups - 1) };
        if let Some(waves) = &self.waves {
            sub_tiles.extend(waves.loops(hexagon, self.statements));
            steps = waves.rows(ROWS, groups);
        }
        let instances = (0..self.program.statements.len()).map(|k| self.instance(k, tiles.runs[k])).collect();
        Kernel {
            name: format!("phase{phase}"),
            comment: format!(
                "phase {phase}: hexagons of {rows} rows, {} to {} points wide, {pitch} points apart{}",
                hexagon.flat_top,
                rightmost - leftmost + 1,
                self.waves.map_or_else(String::new, |waves| waves.to_string())
            ),
            blocks,
            blocks_alike: false,
            bindings,
            sub_tiles,
            team: false,
            rows: steps,
            instances,
            memory: Memory::Window,
            storages: Vec::new(),
            transfers: Vec::new(),
            warps: Vec::new(),
            links: Vec::new(),
            full_when,
        }
    }

    /// Row `a = K*m + k` of the hexagon: statement `k` of time step `t0 + m`.
    fn instance(&self, k: usize, in_full_tiles: bool) -> Instance {
        let a = var(ROWS) * self.statements + k as i64;
        let columns = match &self.waves {
            None => {
                Range { low: self.hexagon.first_column(a.clone()), high: self.hexagon.last_column(a.clone()) }
            }
            Some(waves) => waves.columns(&self.hexagon, &a),
        };
        let mut ranges = vec![Range { low: var("x0") + columns.low, high: var("x0") + columns.high }];
        let statement = &self.program.statements[k];
        for (d, interval) in statement.domain.iter().enumerate().skip(1) {
            let size = self.classical[d];
            ranges.push(if size == 0 {
                Range { low: bound(interval.low, d), high: bound(interval.high, d) - 1 }
            } else {
                let low = var(SUB_TILE_NAMES[d]) * size - self.skew_at(d, a.clone());
                Range { low: low.clone(), high: low + (size - 1) }
            });
        }
        Instance::in_arrays(self.program, k, var("t0") + var(ROWS), ranges, in_full_tiles)
    }
}
