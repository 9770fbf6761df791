//! The tile sizes: points and rows of a lane, steps of a band, warps of a block, and planes of a stream.

use crate::TileSizes;
use crate::geometry::{WARP, elements_at_once};
use crate::strategy::bands;
use crate::strategy::lanes::{Demand, ceil_div, chunk};
use crate::strategy::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use polyhedral::domain::GridEnd;
use polyhedral::program::Program;

/// Their names.
pub(super) const NAMES: [&str; 5] = ["rpl", "rows", "steps", "warps", "planes"];

/// Points of a row, and rows, of a lane at most: more would not fit in registers.
const MOST_POINTS: i64 = 16;
/// Warps of a block at most.
const MOST_WARPS: i64 = 32;
/// Steps of a band at most: their text is unrolled.
const MOST_STEPS: i64 = 16;

/// Elements of an access up to which columns are stored one by one for a few more of a block's own.
const FEW_STORES: i64 = 2;

/// Planes of a stream where nobody says how large the grid is.
const PLANES: i64 = 128;

/// The tile sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Neighbouring points of a row in a lane.
    pub(super) points: i64,
    /// Neighbouring rows of a lane.
    pub(super) rows: i64,
    /// Steps of a band.
    pub(super) steps: i64,
    /// Warps of a block.
    pub(super) warps: i64,
    /// Planes that a block leaves.
    pub(super) planes: i64,
}

/// Where blocks lie along a dimension.
///
/// Block `b` has points `origin + b*own ..` of its own, where `origin` lies `shift` points before the domain, and begins `before`
/// points before them. Along columns, `own` and `origin - before` are multiples of the elements of an access, so that all rows of a block
/// begin where accesses do. Own columns begin and end there, too, unless a block has more of them otherwise and they are stored one by one with few
/// accesses more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lie {
    /// Points that it shares with its neighbours: before its own, and behind them.
    pub(super) before: i64,
    pub(super) behind: i64,
    /// Its own.
    pub(super) own: i64,
    pub(super) shift: i64,
}

impl Sizes {
    /// Columns of a block, with those that it shares with its neighbours.
    pub(super) fn columns(&self) -> i64 {
        WARP * self.points
    }

    /// Where blocks lie along a dimension, along which the statement reads so far.
    pub(super) fn lie(&self, program: &Program, reach: (i64, i64), d: usize) -> Lie {
        let (before, behind) = (self.steps * reach.0, self.steps * reach.1);
        if d < 2 {
            let own = self.all_rows() - before - behind;
            return Lie { before, behind, own, shift: 0 };
        }
        let statement = &program.statements[0];
        let piece = elements_at_once(self.points, program.field(statement.target).element.bytes());
        let low = statement.domain[2].low;
        let shift = |before: i64| match low.from {
            GridEnd::Start => (low.offset - before).rem_euclid(piece),
            GridEnd::End => reach.0,
        };
        let whole = |of: i64| (of + piece - 1) / piece * piece;
        let columns = self.columns();
        let (whole_before, whole_behind) = (whole(before), whole(behind));
        let whole_own = columns - whole_before - whole_behind;
        let own = (columns - before - behind).div_euclid(piece) * piece;
        match piece <= FEW_STORES && own > whole_own {
            true => Lie { before, behind: columns - before - own, own, shift: shift(before) },
            false => {
                Lie { before: whole_before, behind: whole_behind, own: whole_own, shift: shift(whole_before) }
            }
        }
    }

    /// Whether own columns begin and end where accesses do, which are of so many elements.
    pub(super) fn stores_whole(&self, program: &Program, reach: (i64, i64), piece: i64) -> bool {
        let lie = self.lie(program, reach, 2);
        lie.before % piece == 0 && lie.behind % piece == 0
    }

    /// Rows of a block, with those that it shares with its neighbours.
    pub(super) fn all_rows(&self) -> i64 {
        self.warps * self.rows
    }
}

pub(super) fn space(program: &Program) -> TileSpace {
    let size = |at: usize, meaning, along, most| TileSize {
        name: NAMES[at],
        meaning,
        along,
        least: 1,
        most,
        step: 1,
        whole: false,
    };
    TileSpace {
        sizes: vec![
            size(0, "the neighbouring points of a row in a lane", Along::Space(2), MOST_POINTS),
            size(1, "the neighbouring rows of a lane", Along::Space(1), MOST_POINTS),
            size(2, "the time steps of a band", Along::Time { rows_per_step: 1 }, MOST_STEPS),
            size(3, "the warps of a block, whose rows lie side by side", Along::Space(1), MOST_WARPS),
            size(4, "the planes that a block streams through", Along::Space(0), LARGEST_SIZE),
        ],
        optional: Vec::new(),
        constraints: Vec::new(),
        program: program.name.clone(),
    }
}

/// The sizes of a complete tile.
pub(super) fn of(tile: &TileSizes) -> Sizes {
    let [points, rows, steps, warps, planes] = NAMES.map(|name| tile.get(name).unwrap_or(1));
    Sizes { points, rows, steps, warps, planes }
}

/// Whether a block has points of its own, and a slice the rows that its neighbours read.
pub(super) fn fit(program: &Program, tile: &TileSizes) -> Result<(), (&'static str, String)> {
    let sizes = of(tile);
    let reach = bands::reach(program);
    let ghosts = |d: usize| {
        let lie = sizes.lie(program, reach[d], d);
        lie.before + lie.behind
    };
    if ghosts(2) >= sizes.columns() {
        let least = ghosts(2) / WARP + 1;
        let reason = format!(
            "a block has {WARP} times as many columns, {} of which its neighbours have, too, after {} steps; with fewer steps, \
             or {} of at least {least}, some are its own",
            ghosts(2),
            sizes.steps,
            NAMES[0],
        );
        return Err((NAMES[0], reason));
    }
    let farthest = reach[1].0.max(reach[1].1);
    if sizes.warps > 1 && sizes.rows < farthest {
        let reason = format!("a row reads {farthest} rows away, which is to be in the next warp at most");
        return Err((NAMES[1], reason));
    }
    if ghosts(1) >= sizes.all_rows() {
        let least = ghosts(1) / sizes.rows + 1;
        let reason = format!(
            "each has {} rows, and {} of all are those of neighbouring blocks, too, after {} steps; with fewer steps, or {} of \
             at least {least}, some are the block's own",
            sizes.rows,
            ghosts(1),
            sizes.steps,
            NAMES[3],
        );
        return Err((NAMES[3], reason));
    }
    Ok(())
}

/// The sizes for grids narrower than a block: as few rows of a lane as leave a block own ones, since the text that looks at each
/// point needs registers of its own.
pub(super) fn narrow(program: &Program, sizes: Sizes) -> Sizes {
    let (before, behind) = bands::reach(program)[1];
    let ghosts = sizes.steps * (before + behind);
    let rows = (ghosts / sizes.warps + 1).max(before).max(behind);
    Sizes { rows: rows.min(sizes.rows), ..sizes }
}

/// Sizes that neither spill registers nor compute many points twice.
pub(super) fn default(program: &Program) -> TileSizes {
    let Demand { double, wide, diagonal, costly, .. } = Demand::of(program);
    let (points, rows, steps, warps) = match (costly, diagonal, double, wide) {
        (false, false, false, 0..=2) => (2, 8, 3, 8),
        (false, false, true, 0..=2) => (2, 4, 3, 8),
        (false, true, false, 0..=2) => (4, 3, 2, 8),
        (false, true, true, 0..=2) => (2, 3, 2, 8),
        (true, _, false, 0..=2) | (false, false, false, 3..=4) => (2, 4, 2, 8),
        (true, _, true, 0..=2) | (false, false, true, 3..=4) | (_, _, false, 3..=4) => (2, 4, 1, 8),
        (_, _, true, 3..=4) => (1, 2, 1, 8),
        _ => (1, 4, 1, 16),
    };
    let [_, (before, after), _] = bands::reach(program)[..] else { return TileSizes::default() };
    let rows = rows.max(before.max(after)).min(MOST_POINTS);
    // As many steps as leave a block half of its rows.
    let most = rows * warps / (2 * (before + after)).max(1);
    of_sizes([points, rows, steps.min(most.max(1)), warps, PLANES])
}

/// Sizes with a step more, which spill nothing, either: fewer bytes move for a point and step, and more points are computed twice. Where
/// memory is slow for what a GPU computes, or the grid has too few points for its multiprocessors, they are faster.
pub(super) fn deeper(program: &Program) -> Option<TileSizes> {
    let Demand { double, wide, diagonal, costly, .. } = Demand::of(program);
    let small = !double && !diagonal && !costly && wide <= 2;
    small.then(|| of_sizes([2, 6, 4, 8, PLANES]))
}

fn of_sizes(sizes: [i64; 5]) -> TileSizes {
    TileSizes::new(NAMES.into_iter().zip(sizes))
}

/// Planes for a grid: the least time of all rounds of blocks, one on a multiprocessor, with what each block computes besides
/// its own.
///
/// ```text
/// ceil(blocks of a plane * chunks / multiprocessors) * (planes of a chunk + positions before its first plane and behind its last one)
/// ```
pub(super) fn with_planes(
    program: &Program,
    tile: &TileSizes,
    size: &[i64],
    multiprocessors: i64,
) -> TileSizes {
    let sizes = of(tile);
    let at_once = multiprocessors.max(1);
    let reach = bands::reach(program);
    let domain = program.domain(0, size);
    let blocks = |d: usize| {
        let lie = sizes.lie(program, reach[d], d);
        ceil_div(domain[d].1 - domain[d].0 + lie.shift, lie.own).max(1)
    };
    let in_a_plane = blocks(1) * blocks(2);
    let more = sizes.steps * (reach[0].0 + reach[0].1) + 3;
    tile.clone().with(NAMES[4], chunk(size[0], in_a_plane, at_once, 8, more))
}

/// A size in words.
pub(super) fn text(name: &str, value: i64) -> String {
    let plural = if value == 1 { "" } else { "s" };
    match name {
        "rpl" => format!("rpl: {value} point{plural} of a row in a lane"),
        "rows" => format!("rows: {value} row{plural} of a lane"),
        "steps" => format!("steps: {value} time step{plural} of a band"),
        "warps" => format!("warps: {value} warp{plural} of a block"),
        _ => format!("{name}: {value} plane{plural} of a block's stream"),
    }
}
