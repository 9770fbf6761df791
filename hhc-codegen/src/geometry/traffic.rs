//! What a full sub-tile does to global memory, counted from its rows and its window.

use super::local::LocalKernel;
use crate::int_expr::Environment;
use crate::plan::Kernel;
use crate::window::{LeftOut, Window};
use polyhedral::program::Program;

/// Counts for one full sub-tile with a full one before it and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileTraffic {
    /// Points computed, all rows and statements together.
    pub points: i64,
    /// Elements that are loaded from global memory, and their bytes.
    pub loads: i64,
    /// Bytes of `loads`.
    pub loaded_bytes: i64,
    /// Elements that are stored to global memory, and their bytes.
    pub stores: i64,
    /// Bytes of `stores`.
    pub stored_bytes: i64,
    /// Barriers.
    pub barriers: i64,
}

impl TileTraffic {
    /// The counts of a kernel's sub-tiles.
    ///
    /// - Loaded are the live-in cells of every plane; along the dimension in which the window slides, as many columns
    ///   as enter it.
    /// - A row stores the points that are not left out. Along the dimension in which the window slides, a later sub-tile
    ///   computes the others again.
    pub fn new(program: &Program, kernel: &Kernel, local: &LocalKernel, window: &Window) -> Self {
        let dimensions = program.dimension() - usize::from(window.slide.is_some());
        let columns = window.slide.unwrap_or(1);
        let volume = |cells: &[(i64, i64)]| -> i64 {
            cells.iter().map(|(low, high)| (high - low + 1).max(0)).product::<i64>()
        };
        let rows = || local.rows.iter().filter(|row| row.in_full_tiles);
        let mut traffic = TileTraffic {
            points: 0,
            loads: 0,
            loaded_bytes: 0,
            stores: 0,
            stored_bytes: 0,
            barriers: 1 + rows().count() as i64 * (local.groups.1 - local.groups.0 + 1),
        };
        if let Some(slide) = window.slide {
            traffic.barriers += (window.kept + slide - 1) / slide;
        }
        for plane in &window.planes {
            let cells = plane.live_in.iter().map(|cells| volume(cells)).sum::<i64>() * columns;
            traffic.loads += cells;
            traffic.loaded_bytes += cells * program.fields[plane.field].element.bytes() as i64;
        }
        for (row, moves) in local.rows.iter().zip(&window.rows).filter(|(row, _)| row.in_full_tiles) {
            let target = program.field(program.statements[row.statement].target);
            for (group, own) in (local.groups.0..).zip(&row.boxes) {
                let left_out = &moves.left_out;
                let exists = group + left_out.groups <= local.groups.1;
                let again =
                    if exists { volume(&again(kernel, left_out, group, &own[..dimensions])) } else { 0 };
                let stored = (volume(&own[..dimensions]) - again) * columns;
                traffic.points += volume(own);
                traffic.stores += stored;
                traffic.stored_bytes += stored * target.element.bytes() as i64;
            }
        }
        traffic
    }

    /// Bytes of global memory that are moved per computed point.
    pub fn bytes_per_point(&self) -> f64 {
        (self.loaded_bytes + self.stored_bytes) as f64 / self.points.max(1) as f64
    }
}

/// The part of a row's box in a group whose values are not stored.
fn again(kernel: &Kernel, left_out: &LeftOut, group: i64, own: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let place = Environment::from([(kernel.rows.variable, group)]);
    let both = own.iter().zip(&left_out.ranges).map(|(own, range)| {
        let Some((low, high)) = range else { return Some(*own) };
        Some((own.0.max(low.evaluate(&place)?), own.1.min(high.evaluate(&place)?)))
    });
    // Bounds of rows are local: they mention nothing else.
    both.collect::<Option<_>>().unwrap_or_default()
}
