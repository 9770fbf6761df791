//! Hybrid hexagonal/classical tiling (CGO 2014): hexagons over (time, s0), skewed rectangles over the
//! other space dimensions. Two launches per band of time; blocks of one launch are independent.

use super::{Hexagon, SPACE_SIZES, Strategy, Target, check_size};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{
    Binding, FullTiles, Instance, Kernel, KernelPlan, Launch, Loop, Range, SIZE_NAMES, bound, hull,
};
use crate::{PlanError, TileSizes};
use polyhedral::cone::Cone;
use polyhedral::program::{Program, Rational};
use std::sync::Arc;

/// Hybrid hexagonal/classical tiling.
#[derive(Debug, Clone, Copy)]
pub struct HybridHexagonal;

const SUB_TILE_NAMES: [&str; 3] = ["", "c1", "c2"];

impl Strategy for HybridHexagonal {
    fn name(&self) -> &'static str {
        "hhc"
    }

    fn description(&self) -> &'static str {
        "hybrid hexagonal/classical tiling: many time steps per pass over memory"
    }

    fn default_tile(&self, program: &Program, cone: &Cone, target: Target) -> TileSizes {
        super::defaults::hybrid_hexagonal(program, cone, target)
    }

    fn plan(&self, program: &Arc<Program>, cone: &Cone, tile: &TileSizes) -> Result<KernelPlan, PlanError> {
        let geometry = Geometry::new(program, cone, tile)?;
        let rows = geometry.hexagon.rows();
        // Phase 0 of band T computes the logical rows 2*st*T - st + a, phase 1 the rows 2*st*T + a.
        let last_row = var("steps") * geometry.statements - 1;
        Ok(KernelPlan {
            program: program.clone(),
            strategy: self.name(),
            tile: tile.clone(),
            outer: Loop {
                variable: "band",
                low: int(0),
                high: (last_row.clone() + geometry.hexagon.half_height).floor_div(rows),
            },
            launches: vec![
                Launch { kernel: 0, when: None },
                Launch { kernel: 1, when: Some(last_row - var("band") * rows) },
            ],
            kernels: vec![geometry.kernel(0), geometry.kernel(1)],
        })
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
}

impl<'a> Geometry<'a> {
    fn new(program: &'a Program, cone: &Cone, tile: &TileSizes) -> Result<Self, PlanError> {
        let name = HybridHexagonal.name();
        let statements = program.statements.len() as i64;
        let half_height = check_size(name, tile, "st", 1, "")?;
        if half_height % statements != 0 {
            let below = (half_height / statements).max(1) * statements;
            return Err(PlanError::Tile {
                strategy: name.to_string(),
                size: "st".to_string(),
                value: half_height,
                reason: format!(
                    "`{}` has {statements} statements, so st must be a multiple of {statements}, such as {below} or {}",
                    program.name,
                    below + statements
                ),
            });
        }
        let mut hexagon = Hexagon { half_height, flat_top: 1, lower: cone.lower[0], upper: cone.upper[0] };
        let explanation =
            format!(" for the slopes {} and {} of `{}`", hexagon.lower, hexagon.upper, program.name);
        hexagon.flat_top = check_size(name, tile, "s0", hexagon.least_flat_top(), &explanation)?;
        let mut classical = vec![0];
        for size in &SPACE_SIZES[1..program.dimension()] {
            classical.push(check_size(name, tile, size, 0, " (0: the whole dimension)")?);
        }
        Ok(Geometry { program, hexagon, statements, classical, skew: cone.lower.clone() })
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

        let instances = (0..self.program.statements.len()).map(|k| self.instance(k, tiles.runs[k])).collect();
        Kernel {
            name: format!("phase{phase}"),
            comment: format!(
                "phase {phase}: hexagons of {rows} rows, {} to {} points wide, {pitch} points apart",
                hexagon.flat_top,
                rightmost - leftmost + 1
            ),
            blocks,
            bindings,
            sub_tiles,
            rows: Loop { variable: "m", low: int(0), high: int(groups - 1) },
            instances,
            full_when,
        }
    }

    /// Row `a = K*m + k` of the hexagon: statement `k` of time step `t0 + m`.
    fn instance(&self, k: usize, in_full_tiles: bool) -> Instance {
        let a = var("m") * self.statements + k as i64;
        let mut ranges = vec![Range {
            low: var("x0") + self.hexagon.first_column(a.clone()),
            high: var("x0") + self.hexagon.last_column(a.clone()),
        }];
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
        Instance { statement: k, step: var("t0") + var("m"), ranges, in_full_tiles }
    }
}
