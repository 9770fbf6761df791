//! Geometry of tiles, which back ends print by and models count by: a kernel in coordinates of its tile, its window, what
//! is live in and out, the threads and registers of a block, the rows and blocks of a core, stored planes. It follows
//! from the plan and from boxes of points, and exists once.

mod local;
mod planes;
mod rows;
mod shifts;
mod storages;
mod threads;
mod traffic;
mod window;

pub use local::{LocalKernel, LocalRow, MOST_GROUPS};
pub use planes::{first_planes, plane_number};
pub use rows::{asks_ahead, block_points, is_edge, rows_at_once};
pub use shifts::{keeps_rows, shifted_from};
pub use storages::{MOST_OWN_BYTES, StorageLayout, own_bytes, registers_of_storages, storage_bytes};
pub use threads::{
    ADDRESS_REGISTERS, DIRECT_RESIDENT_THREADS, OF_ANOTHER_FIELD, Threads, WARP, blocks_at_once, blocks_of,
    direct_points_at_once, direct_resident_threads, elements_at_once, operand_registers, points_at_once,
    register_bound, registers_by_share,
};
pub use traffic::TileTraffic;
pub use window::{MOST_WINDOW_BYTES, NoWindow, window};
