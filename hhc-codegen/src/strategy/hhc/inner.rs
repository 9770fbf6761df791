//! What the classical sizes decide: how often a row is cut along the inner dimensions.

use super::outer::OnCores;
use crate::counts::cores::Inner;

impl OnCores<'_> {
    /// The inner dimensions cut to these sizes (0: not cut).
    pub fn inner(&self, st: i64, classical: [i64; 2]) -> Inner {
        let dimension = self.cores.dimension();
        if dimension == 1 {
            return Inner {
                calls: 1.0,
                runs: 1.0,
                blocks: 1.0,
                points: 0.0,
                area: 1.0,
                visits: 0.0,
                extent: 1.0,
                row_extent: 1.0,
            };
        }
        let rows = 2 * st;
        let (mut calls, mut runs, mut blocks, mut points, mut area) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for a in 0..rows {
            let code = &self.cores.code[(a % self.cores.statements()) as usize];
            let last = dimension - 1;
            let (pieces, mean_blocks) = self.last_pieces(a, classical[last - 1]);
            let (low, high) = code.domain[last];
            let length = (high - low).max(0) as f64;
            let (middle, middle_pieces) = if dimension == 3 {
                let (low, high) = code.domain[1];
                ((high - low).max(0) as f64, self.pieces(a, 1, classical[0]))
            } else {
                (1.0, 1.0)
            };
            let size = classical[last - 1];
            let short = size > 0 && size < code.block;
            calls += pieces * middle_pieces;
            runs += middle * pieces;
            blocks += if short { 0.0 } else { middle * mean_blocks };
            points += if short { middle * length } else { 0.0 };
            area += middle * length;
        }
        // The boxes of so many rows together.
        let extent_of = |rows: i64| {
            let along = |d: usize| {
                let (below, above) = self.cores.halo[d];
                match classical[d - 1] {
                    0 => self.cores.size[d],
                    size => (size + self.skew(d, rows - 1) + below + above).min(self.cores.size[d]),
                }
            };
            (1..dimension).map(|d| along(d) as f64).product()
        };
        let mean = |sum: f64| sum / rows as f64;
        let entering = |d: usize| match classical[d - 1] {
            0 => 0.0,
            size => {
                (*self.cores.cone.lower[d].numer() as f64 / *self.cores.cone.lower[d].denom() as f64)
                    / size as f64
            }
        };
        let visits = mean(area) * (1..dimension).map(entering).sum::<f64>();
        Inner {
            calls: mean(calls),
            runs: mean(runs),
            blocks: mean(blocks),
            points: mean(points),
            area: mean(area),
            visits,
            extent: extent_of(rows),
            row_extent: extent_of(2),
        }
    }

    /// `floor(lower_d * a)`: how far tile boundaries have moved at row `a`.
    fn skew(&self, d: usize, a: i64) -> i64 {
        (self.cores.cone.lower[d] * a).floor().to_integer()
    }

    /// Pieces with points into which the boundaries `c * size - skew(a)` cut dimension `d` at row `a`.
    fn pieces(&self, a: i64, d: usize, size: i64) -> f64 {
        let (low, high) = self.cores.code[(a % self.cores.statements()) as usize].domain[d];
        if high <= low {
            return 0.0;
        }
        if size == 0 {
            return 1.0;
        }
        let skew = self.skew(d, a);
        ((high - 1 + skew).div_euclid(size) - (low + skew).div_euclid(size) + 1) as f64
    }

    /// The same for the innermost dimension, and the blocks of all pieces: `ceil((length + o) / V)` for a piece that
    /// begins `o` points behind a line's start. Sizes that are multiples of `V` keep the boundaries of a row at one
    /// `o`; else all `o` are equally likely, which makes `(length + V - 1) / V`.
    fn last_pieces(&self, a: i64, size: i64) -> (f64, f64) {
        let d = self.cores.dimension() - 1;
        let code = &self.cores.code[(a % self.cores.statements()) as usize];
        let (low, high) = code.domain[d];
        let pieces = self.pieces(a, d, size);
        let (length, block) = ((high - low).max(0) as f64, code.block as f64);
        if size == 0 {
            return (pieces, ((high - low + low.rem_euclid(code.block)).max(0) as f64 / block).ceil());
        }
        let behind = if size % code.block == 0 {
            f64::from(u8::from((-self.skew(d, a)).rem_euclid(code.block) > 0))
        } else {
            (block - 1.0) / block
        };
        (pieces, length / block + pieces * behind)
    }
}
