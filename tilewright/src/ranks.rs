//! Programs on the ranks of MPI: what can be spread, and over which ranks.

use crate::error::{Error, Result};
use hhc_codegen::backend::openmp::{RANKS_COSTS, RanksCosts};
use hhc_codegen::strategy::Target;
use polyhedral::ghost::{GhostProof, Ghosts};
use polyhedral::program::{Field, FieldRole, Program};
use serde::Serialize;
use std::fmt;

/// Over which ranks a grid is spread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranks {
    /// Such that least is exchanged.
    Auto,
    /// So many per dimension, slowest first.
    Given(Vec<i64>),
}

impl Ranks {
    /// The numbers, where they are given.
    pub fn counts(&self) -> Option<&[i64]> {
        match self {
            Ranks::Auto => None,
            Ranks::Given(counts) => Some(counts),
        }
    }
}

impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ranks::Auto => f.write_str("auto"),
            Ranks::Given(counts) => f.write_str(&product_text(counts)),
        }
    }
}

/// `2x3`
pub fn product_text(counts: &[i64]) -> String {
    counts.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

/// All ways to write `ranks` as a product of so many numbers.
pub fn products(ranks: i64, dimension: usize) -> Vec<Vec<i64>> {
    if dimension == 1 {
        return vec![vec![ranks]];
    }
    let divisors = (1..=ranks).filter(|count| ranks % count == 0);
    let rest = |count: i64| {
        products(ranks / count, dimension - 1).into_iter().map(move |rest| [vec![count], rest].concat())
    };
    divisors.flat_map(rest).collect()
}

/// The decomposition with the least ghosts per point; of equal ones that which cuts the slowest dimensions. As `tw_try` of the library, where that fits.
pub fn least_cut(ghosts: &Ghosts, size: &[i64], ranks: i64) -> Vec<i64> {
    let cost = |counts: &[i64]| -> f64 {
        let cut = counts.iter().zip(size).zip(&ghosts.reach).filter(|((count, _), _)| **count > 1);
        cut.map(|((&count, &extent), reach)| (reach[0] + reach[1]) as f64 * count as f64 / extent as f64)
            .sum()
    };
    let mut all: Vec<(f64, Vec<i64>)> =
        products(ranks, size.len()).into_iter().rev().map(|counts| (cost(&counts), counts)).collect();
    let least = all.iter().map(|own| own.0).fold(f64::INFINITY, f64::min);
    all.retain(|own| own.0 <= least * (1.0 + 1e-12));
    all.into_iter().next().map_or_else(Vec::new, |own| own.1)
}

/// The deepest ghost zones that the library chooses among, where there are any.
const DEEPEST: i64 = 4096;

/// How deep the ghost zones are that make a step cheapest on the rank with the most points, for tiles of so many steps, where each point is
/// computed `once` or not; none where nothing is cut. As `tw_chosen_depth` of the library.
pub fn chosen_depth(
    program: &Program,
    ghosts: &Ghosts,
    size: &[i64],
    ranks: &[i64],
    (tile_steps, once): (i64, bool),
) -> Option<i64> {
    let dimensions = || 0..size.len();
    let cut = |d: usize| ranks[d] > 1 || program.periodic[d];
    let room = dimensions().filter(|&d| cut(d)).flat_map(|d| {
        let sides = ghosts.reach[d].iter().zip(ghosts.frame[d]).filter(|(reach, _)| **reach > 0);
        sides.map(move |(reach, frame)| (size[d] / ranks[d] - frame) / reach).collect::<Vec<_>>()
    });
    let deepest = room.min().filter(|_| dimensions().any(cut))?.min(DEEPEST);
    let RanksCosts { latency_s, bandwidth_bytes_per_s, memory_bytes_per_s, point_s } = RANKS_COSTS;
    let exchanged = levels(program, true).1 as f64;
    let of_field = |field: &Field| {
        let state = usize::from(matches!(field.role, FieldRole::State { .. }));
        (field.element.bytes() * (state + 1)) as f64
    };
    let stored: f64 = program.fields.iter().map(of_field).sum();
    let seconds = |k: i64| {
        let (mut own, mut wide, mut messages, mut local) = (1.0, 1.0, 1.0, 1.0);
        for d in dimensions() {
            let extent = ((size[d] + ranks[d] - 1) / ranks[d]) as f64;
            let sides = (0..2).filter(|&side| program.periodic[d] || ranks[d] > 1 + side as i64);
            let zones: f64 =
                sides.map(|side| (k * ghosts.reach[d][side] + ghosts.frame[d][side]) as f64).sum();
            messages *= if program.periodic[d] || ranks[d] > 2 { 3.0 } else { ranks[d] as f64 };
            local *= if program.periodic[d] && ranks[d] == 1 { 3.0 } else { 1.0 };
            own *= extent;
            wide *= extent + zones;
        }
        let passes = (1 + (2 * k + tile_steps - 1) / tile_steps) as f64 / 2.0;
        let points = if once { (own + wide) / 2.0 } else { wide };
        (latency_s * (messages - local)
            + (wide - own) * exchanged / bandwidth_bytes_per_s
            + wide * stored * passes / memory_bytes_per_s)
            / k as f64
            + points * point_s
    };
    // Of equal ones the first.
    (1..=deepest).min_by(|&a, &b| seconds(a).total_cmp(&seconds(b)))
}

/// Refuses what cannot be spread over ranks. Nothing is refused where there are none.
///
/// # Errors
/// Wrong input, or a program whose values depend on the whole grid.
pub fn check(ranks: Option<&Ranks>, program: &Program, target: Target, c: bool) -> Result<()> {
    let Some(ranks) = ranks else { return Ok(()) };
    if target == Target::Cuda && program.is_periodic() {
        return Err(Error::wrong_input("CUDA code for ranks of MPI is for grids that do not wrap around")
            .hint("use --target openmp, or leave out --ranks"));
    }
    if c {
        return Err(Error::wrong_input("--ranks does not fit a C program, which owns its arrays")
            .hint("write the stencil in the stencil language (tilewright convert), or leave out --ranks"));
    }
    if let Some(counts) = ranks.counts()
        && counts.len() != program.dimension()
    {
        let dimension = program.dimension();
        return Err(Error::wrong_input(format!(
            "--ranks {ranks} has {} numbers, but `{}` has {dimension} dimensions",
            counts.len(),
            program.name
        ))
        .hint("write one number per dimension, slowest first; 1 leaves a dimension whole; auto chooses"));
    }
    ghosts(program).map(drop)
}

/// The ghost zones of a program.
///
/// # Errors
/// A program that has none.
pub fn ghosts(program: &Program) -> Result<Ghosts> {
    Ghosts::of(program).map_err(|error| {
        Error::wrong_input(format!("`{}` cannot be spread over ranks of MPI: {error}", program.name))
            .hint("run it in one process, without --ranks")
    })
}

/// The ghost zones of the code for ranks, and their proof.
#[derive(Debug, Clone, Serialize)]
pub struct GhostFacts {
    /// Points below and above a rank's box that each time step reads, per dimension.
    pub reach: Vec<[i64; 2]>,
    /// Points beyond them, once.
    pub frame: Vec<[i64; 2]>,
    /// Sets that isl showed empty.
    pub sets: usize,
    /// The same for the order in which points that need no ghosts are computed before the others, each once; none where they are
    /// computed in memory of their own, and points beside them twice.
    pub lines: Option<usize>,
}

impl GhostFacts {
    /// Of a program's ghost zones.
    pub fn new(ghosts: &Ghosts, proof: GhostProof, lines: Option<usize>) -> GhostFacts {
        GhostFacts { reach: ghosts.reach.clone(), frame: ghosts.frame.clone(), sets: proof.sets, lines }
    }
}

impl fmt::Display for GhostFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides = |pairs: &[[i64; 2]]| {
            pairs.iter().map(|[low, high]| format!("{low}+{high}")).collect::<Vec<_>>().join(", ")
        };
        write!(f, "ghost zones grow by {} points per time step", sides(&self.reach))?;
        if self.frame.iter().any(|frame| *frame != [0, 0]) {
            write!(f, ", and by {} once", sides(&self.frame))?;
        }
        write!(
            f,
            "; they suffice for grids, boxes and depths of all sizes: isl proved that no own point depends on what is \
             wrong beyond them ({} sets shown empty)",
            self.sets
        )?;
        match self.lines {
            Some(sets) => write!(
                f,
                ", and that all that needs no ghosts can be computed first ({sets} sets); each point is computed once"
            ),
            None => Ok(()),
        }
    }
}

/// What all ranks together send for the ghost zones of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Exchange {
    /// Exchanges.
    pub bands: u64,
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Exchange {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Exchange) -> Exchange {
        Exchange {
            bands: self.bands + other.bands,
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// What a run sends, in closed form. Of `p` ranks along a dimension of `n` points, `p - 1` have a neighbour above and as
/// many one below; a direction `v` of neighbours, -1, 0 or 1 per dimension, has
///
/// ```text
/// messages(v) = product of  p (v = 0),  p - 1 (else)
/// points(v)   = product of  n (v = 0),  (p - 1) (k reach + frame) (else)
/// ```
///
/// in a band of `k` steps, and a point the bytes of all initial levels of the fields that change. Along a dimension that wraps
/// around all `p` have a neighbour on either side; where that is the rank itself in all of a direction, nothing is sent. Where
/// messages are planes ([`as_planes`]), a plane has its [`stride`] in place of its points.
pub fn exchange(
    program: &Program,
    ghosts: &Ghosts,
    size: &[i64],
    ranks: &[i64],
    depth: i64,
    steps: i64,
) -> Exchange {
    let depth = depth.clamp(1, steps.max(1));
    let bands = [(depth, steps / depth), (steps % depth, i64::from(steps % depth > 0))];
    sent(program, ghosts, size, ranks, &bands, levels(program, true))
}

/// Initial levels of the fields that change, or of those that do not, and the bytes that a point has in all of them.
fn levels(program: &Program, state: bool) -> (usize, i64) {
    let of_field = |field: &Field| match field.role {
        FieldRole::State { levels, .. } => (state, levels),
        FieldRole::Coefficient => (!state, 1),
    };
    let counted = program.fields.iter().map(|field| (of_field(field), field.element.bytes()));
    let counted = counted.filter(|((counts, _), _)| *counts);
    counted.fold((0, 0), |(all, sum), ((_, levels), bytes)| (all + levels, sum + (levels * bytes) as i64))
}

/// Whether the messages of what changes are whole planes (rows) as they lie in memory, with what pads them: where only the first dimension
/// is cut, and there is one level. As `tw_alone` of the library.
pub fn as_planes(program: &Program, ranks: &[i64]) -> bool {
    planes(program, ranks, levels(program, true).0)
}

fn planes(program: &Program, ranks: &[i64], levels: usize) -> bool {
    let whole = |d: usize| ranks[d] == 1 && !program.periodic[d];
    levels == 1 && (1..ranks.len()).all(whole)
}

/// Elements from one plane (row) of a box to the next one, padded as `tw_strides` of the library pads them.
pub fn stride(extents: &[i64]) -> i64 {
    let Some((mut elements, before)) = extents.split_last().map(|(last, before)| (*last, before)) else {
        return 1;
    };
    for (d, extent) in before.iter().enumerate().rev() {
        elements = (elements + 15) / 16 * 16;
        while (elements * 4 + 256) % 4096 < 512 || (elements * 8 + 256) % 4096 < 512 {
            elements += 16;
        }
        if d > 0 {
            elements *= extent;
        }
    }
    if before.is_empty() { 1 } else { elements }
}

/// What is sent once, before the first step: ghost zones of the fields that do not change, as deep as they ever are.
pub fn exchange_once(
    program: &Program,
    ghosts: &Ghosts,
    size: &[i64],
    ranks: &[i64],
    depth: i64,
) -> Exchange {
    let fixed = levels(program, false);
    Exchange { bands: 0, ..sent(program, ghosts, size, ranks, &[(depth, i64::from(fixed.0 > 0))], fixed) }
}

/// So many bands of so many steps, with so many levels, and bytes of a point in them.
fn sent(
    program: &Program,
    ghosts: &Ghosts,
    size: &[i64],
    ranks: &[i64],
    bands: &[(i64, i64)],
    (levels, bytes): (usize, i64),
) -> Exchange {
    let mut all = Exchange::default();
    let dimension = program.dimension();
    let padded = if planes(program, ranks, levels) { Some(stride(size)) } else { None };
    for &(k, bands) in bands {
        all.bands += bands as u64;
        for direction in 0..3_usize.pow(dimension as u32) {
            let sides: Vec<usize> = (0..dimension).map(|d| direction / 3_usize.pow(d as u32) % 3).collect();
            if sides.iter().zip(ranks).all(|(&side, &count)| side == 2 || count == 1) {
                continue;
            }
            let (mut messages, mut points) = (1, 1);
            for (d, &side) in sides.iter().enumerate() {
                if side == 2 {
                    messages *= ranks[d];
                    points *= if padded.is_some() && d > 0 { 1 } else { size[d] };
                } else {
                    let pairs = if program.periodic[d] { ranks[d] } else { ranks[d] - 1 };
                    messages *= pairs;
                    points *= pairs * (k * ghosts.reach[d][side] + ghosts.frame[d][side]);
                }
            }
            points *= padded.unwrap_or(1);
            if points > 0 {
                all.messages += (bands * messages) as u64;
                all.bytes += (bands * points * bytes) as u64;
            }
        }
    }
    all
}
