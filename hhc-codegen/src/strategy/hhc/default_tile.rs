//! Default tile sizes: legal for the program, sized for the target's fast memory. `tilewright tune` finds
//! better ones for a given machine and problem.

use super::hexagon::Hexagon;
use super::sizes::{HEIGHT, SPACE_SIZES};
use crate::TileSizes;
use crate::strategy::interface::Target;
use polyhedral::cone::Cone;
use polyhedral::program::{FieldRole, Program};

/// Bytes of cache that a default tile may fill on a CPU. In 1-D and 2-D: most of a common L2 cache. In 3-D
/// one core's share of the last-level cache: measured on heat3d at 256^3, tiles of twice the height make up
/// for the slower cache.
const CPU_TILE_BYTES: [i64; 3] = [900 << 10, 900 << 10, 5200 << 10];

/// Bytes of shared memory that a default tile may fill on a GPU. In 1-D and 2-D: what every device since sm_70 gives
/// without asking, so that two blocks or more share a multiprocessor. In 3-D there are only as many blocks as hexagons
/// along dimension 0, fewer than a large GPU has multiprocessors (`docs/cuda-performance.md`): a block may fill most of
/// what the smallest of them has.
const GPU_TILE_BYTES: [i64; 3] = [48 << 10, 48 << 10, 72 << 10];

/// The default sizes.
pub fn default_tile(program: &Program, cone: &Cone, target: Target) -> TileSizes {
    let statements = program.statements.len() as i64;
    let dimension = program.dimension();
    let candidates: &[(i64, i64, &[i64])] = match (target, dimension) {
        (Target::OpenMp, 1) => &[(64, 8192, &[]), (32, 4096, &[])],
        (Target::OpenMp, 2) => &[
            (32, 26, &[1024]),
            (32, 26, &[512]),
            (16, 32, &[1024]),
            (16, 16, &[1024]),
            (8, 16, &[1024]),
            (4, 16, &[512]),
        ],
        (Target::OpenMp, _) => {
            &[(16, 16, &[16, 0]), (12, 12, &[16, 0]), (8, 8, &[16, 0]), (4, 8, &[16, 0]), (2, 8, &[16, 0])]
        }
        (Target::Cuda, 1) => &[(32, 1024, &[]), (8, 256, &[]), (1, 256, &[]), (1, 64, &[])],
        // Hexagons of a pitch that makes the blocks of 16384 points along dimension 0 fill 132 multiprocessors
        // evenly: 390 of them, three at a time, in f32; 512, two at a time, in f64.
        (Target::Cuda, 2) => &[
            (6, 16, &[128]),
            (6, 12, &[128]),
            (4, 13, &[128]),
            (2, 12, &[128]),
            (2, 8, &[64]),
            (1, 8, &[64]),
            (1, 4, &[32]),
            (1, 1, &[16]),
            (1, 1, &[4]),
        ],
        // Narrow hexagons, so that there are many of them.
        (Target::Cuda, _) => &[
            (3, 1, &[16, 32]),
            (2, 2, &[12, 32]),
            (1, 2, &[16, 32]),
            (1, 2, &[8, 32]),
            (1, 2, &[4, 32]),
            (1, 2, &[2, 32]),
            // Many arrays, or statements that read far.
            (1, 2, &[2, 16]),
            (1, 1, &[1, 16]),
            (1, 1, &[1, 8]),
            (1, 1, &[1, 2]),
        ],
    };
    let budget =
        if target == Target::OpenMp { CPU_TILE_BYTES[dimension - 1] } else { GPU_TILE_BYTES[dimension - 1] };
    let mut chosen = TileSizes::default();
    for &(height, width, classical) in candidates {
        let half_height = (height / statements).max(1) * statements;
        let mut hexagon =
            Hexagon { half_height, flat_top: width, lower: cone.lower[0], upper: cone.upper[0] };
        hexagon.flat_top = width.max(hexagon.least_flat_top());
        chosen = TileSizes::new([(HEIGHT, half_height), (SPACE_SIZES[0], hexagon.flat_top)]);
        for (name, &size) in SPACE_SIZES[1..dimension].iter().zip(classical) {
            chosen = chosen.with(name, size);
        }
        let halo = |d: usize| if target == Target::OpenMp { 2 } else { halo(program, d) };
        if tile_bytes(program, cone, &hexagon, classical, halo) <= budget {
            break;
        }
    }
    chosen
}

/// How far statements read in dimension `d`, towards smaller and larger indices together.
fn halo(program: &Program, d: usize) -> i64 {
    let offsets =
        || program.statements.iter().flat_map(|statement| &statement.reads).map(|read| read.offset[d]);
    offsets().max().unwrap_or(0).max(0) - offsets().min().unwrap_or(0).min(0)
}

/// Bytes of the box that a tile touches, all stored time levels and coefficients counted; a dimension that is not cut
/// counts as 256 points. `halo` is the number of points read around a tile per dimension, both sides together.
fn tile_bytes(
    program: &Program,
    cone: &Cone,
    hexagon: &Hexagon,
    classical: &[i64],
    halo: impl Fn(usize) -> i64,
) -> i64 {
    let (first, last) = hexagon.extent();
    let mut points = last - first + 1 + halo(0);
    for (d, &size) in classical.iter().enumerate() {
        let skew = (cone.lower[d + 1] * (hexagon.rows() - 1)).floor().to_integer();
        points *= if size == 0 { 256 } else { size + skew + halo(d + 1) };
    }
    let bytes_per_point: i64 = program
        .fields
        .iter()
        .map(|field| {
            let levels = match field.role {
                FieldRole::State { slots, .. } => slots,
                FieldRole::Coefficient => 1,
            };
            (levels * field.element.bytes()) as i64
        })
        .sum();
    points * bytes_per_point
}
