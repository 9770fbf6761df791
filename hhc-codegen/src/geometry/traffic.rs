//! What a full sub-tile does to global memory, counted from its rows and its window.

use super::local::LocalKernel;
use super::window::Window;
use polyhedral::program::{FieldRole, Program};

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
    /// - A row stores the points that no later row of the same stored level computes again. Along the dimension in
    ///   which the window slides, a later sub-tile computes the others again.
    pub fn new(program: &Program, local: &LocalKernel, window: &Window) -> Self {
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
            traffic.barriers += (window.kept() + slide - 1) / slide;
        }
        for plane in &window.planes {
            let cells = plane.live_in.iter().map(|cells| volume(cells)).sum::<i64>() * columns;
            traffic.loads += cells;
            traffic.loaded_bytes += cells * program.fields[plane.field].element.bytes() as i64;
        }
        for row in rows() {
            let target = program.field(program.statements[row.statement].target);
            let slots = match target.role {
                FieldRole::State { slots, .. } => slots,
                FieldRole::Coefficient => 1,
            };
            for (group, own) in row.boxes.iter().enumerate() {
                let again = row.boxes.get(group + slots).map_or(0, |later| {
                    let both = own.iter().zip(later).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1)));
                    volume(&both.take(dimensions).collect::<Vec<_>>())
                });
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
