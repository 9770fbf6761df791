//! How a computation is done on a GPU: a schedule, who has an element of its outermost sequence, and the size of blocks.
//!
//! What the threads of such a team share is the second level of the schedule: an independent one element by element, a
//! cooperative one by shuffles and shared memory. Where the outermost level is cooperative, teams have blocks of elements.

use super::schedule::{self, Platform, Schedule};
use super::sequence::{self, Computation};
use crate::emit::gpu::Team;
use crate::program::Operator;

/// Sizes of blocks.
const BLOCKS: [u32; 4] = [64, 128, 256, 512];
/// Threads of a block that shares a row: the results of its logical warps and its tiles fit into shared memory.
const SHARING: [u32; 3] = [64, 128, 256];
/// Threads of a block where rows are shared by their elements.
const BALANCED: u32 = 256;
/// Who folds a block of elements of a scan that looks back: a thread for each lane of the order of operations.
const FOLDING: Team = Team::Warp(8);
/// Bytes of shared memory for the elements of a tile of such a scan.
const TILE_BYTES: i64 = 32 << 10;
/// Logical warps.
const WARPS: [u32; 5] = [2, 4, 8, 16, 32];

/// How a computation is done on a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GpuImplementation {
    /// The elements of the schedule.
    pub schedule: Vec<Schedule>,
    /// `execution_resource_1` and `logical_warp_size`: who has an element of the outermost sequence.
    pub team: Team,
    /// `block_size_x`: threads of a block.
    pub block: u32,
    /// `enable_unroll`: whether loops of single threads are unrolled.
    pub unroll: bool,
    /// `row_sharing`: whether teams have equal shares of rows and elements (`merge`), with a block for each long row, or each a row
    /// at a time (`equal`).
    pub balanced: bool,
    /// `scan`: whether a scan of all is one kernel whose blocks look back (`look_back`), or three (`three_kernels`).
    pub look_back: bool,
}

impl GpuImplementation {
    /// What is taken where nobody chooses: a row has a logical warp, a long one a block.
    pub fn default_of(computation: &Computation) -> GpuImplementation {
        let schedule = strongest(computation);
        let inner = schedule.get(1).is_some_and(|element| element.is_parallel());
        let scans = computation.sequence.get(1) == Some(&Operator::Scan);
        let (team, block) = match computation.row_length {
            _ if is_folded(computation) => (Team::Warp(8), 128),
            Some(length) if inner && (scans || length >= 2048) => (Team::Block, 128),
            _ if inner && scans => (Team::Block, 128),
            _ if inner => (Team::Warp(8), 256),
            _ => (Team::Thread, 256),
        };
        GpuImplementation { schedule, team, block, unroll: false, balanced: false, look_back: false }
    }

    /// The parameters with their values, as `block_size_x=256`.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let (resource, warp) = match self.team {
            Team::Thread => ("thread", 1),
            Team::Warp(width) => ("warp", width),
            Team::Block => ("block", 32),
        };
        let sharing = if self.balanced { "merge" } else { "equal" };
        let scan = if self.look_back { "look_back" } else { "three_kernels" };
        [
            ("execution_resource_1", resource.to_owned()),
            ("logical_warp_size", warp.to_string()),
            ("block_size_x", self.block.to_string()),
            ("enable_unroll", self.unroll.to_string()),
            ("row_sharing", sharing.to_owned()),
            ("scan", scan.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// The policy in one line.
    pub fn policy(&self) -> String {
        let parts = self.parameters().into_iter().map(|(name, value)| format!("{name}={value}"));
        parts.collect::<Vec<_>>().join(",")
    }
}

/// The strongest schedule that a GPU runs: levels beyond the second are sequential.
fn strongest(computation: &Computation) -> Vec<Schedule> {
    let mut elements = schedule::strongest(&computation.sequence);
    elements.iter_mut().skip(Platform::PARALLEL_LEVELS).for_each(|element| *element = Schedule::Sequential);
    elements
}

/// Whether its outermost operator is a reduction or a scan: then teams have blocks of elements.
fn is_folded(computation: &Computation) -> bool {
    matches!(computation.sequence.first(), Some(Operator::Reduce | Operator::Scan))
}

/// All implementations of a computation on a GPU, the default one first. What changes nothing is left out: blocks where one
/// thread works, a block for each row where a row is one thread's.
pub fn implementations(computation: &Computation) -> Vec<GpuImplementation> {
    let mut found = vec![GpuImplementation::default_of(computation)];
    if computation.sequence.is_empty() {
        return found;
    }
    for schedule in schedule::valid(&schedule::strongest(&computation.sequence), Platform::Cuda) {
        let outer = schedule[0].is_parallel();
        let inner = schedule.get(1).is_some_and(|element| element.is_parallel());
        let mut add = |team, block, unroll| {
            for balanced in [false, true] {
                let schedule = schedule.clone();
                let own = GpuImplementation { schedule, team, block, unroll, balanced, look_back: false };
                // Blocks of one size are enough where shares are balanced.
                let plain = !balanced || block == BALANCED && !unroll;
                if plain && rule(&own, computation).is_none() && !found.contains(&own) {
                    found.push(own);
                }
            }
        };
        let blocks: &[u32] = if outer { &BLOCKS } else { &BLOCKS[..1] };
        for &block in blocks {
            for unroll in [false, true] {
                add(Team::Thread, block, unroll);
            }
            if inner || is_folded(computation) {
                WARPS.into_iter().for_each(|width| add(Team::Warp(width), block, false));
            }
        }
        if inner {
            SHARING.into_iter().for_each(|block| add(Team::Block, block, false));
        }
        for block in SHARING {
            let (team, schedule) = (FOLDING, schedule.clone());
            let own =
                GpuImplementation { schedule, team, block, unroll: false, balanced: false, look_back: true };
            if rule(&own, computation).is_none() {
                found.push(own);
            }
        }
    }
    found
}

/// How many blocks of elements a tile of a scan that looks back has; none where not one has room in shared memory.
pub fn blocks_of_a_tile(element_bytes: i64) -> Option<i64> {
    let blocks = TILE_BYTES / (crate::program::BLOCK * element_bytes.max(1)).max(1);
    (blocks > 0 && element_bytes > 0).then_some(blocks)
}

/// The rule that an implementation violates.
fn rule(own: &GpuImplementation, computation: &Computation) -> Option<String> {
    let parallel = |place: usize| own.schedule.get(place).is_some_and(|element| element.is_parallel());
    let teams = parallel(1) || is_folded(computation) && parallel(0);
    match own.team {
        Team::Warp(_) | Team::Block if !teams => Some(
            "a team of threads needs a second level that is parallel (or a reduction or scan outside); here one thread has each element".to_owned(),
        ),
        Team::Thread if parallel(1) => {
            Some("level 2 is parallel, and a single thread has nobody to share with; take a warp or a block".to_owned())
        }
        Team::Block if is_folded(computation) && !parallel(1) => {
            Some("blocks of elements of a reduction or scan belong to threads or logical warps".to_owned())
        }
        _ if own.look_back && !(computation.sequence.first() == Some(&Operator::Scan) && parallel(0)) => {
            Some("`scan=look_back` is for a scan of a whole sequence that is parallel".to_owned())
        }
        _ if own.look_back && computation.in_order => {
            Some("`scan=look_back` needs a function that is stated to be associative".to_owned())
        }
        _ if own.look_back && blocks_of_a_tile(computation.element_bytes).is_none() => Some(format!(
            "`scan=look_back` keeps a block of {} elements in shared memory, which has room for {TILE_BYTES} bytes of them; here they \
             have {}",
            crate::program::BLOCK,
            computation.element_bytes * crate::program::BLOCK
        )),
        _ if own.look_back && own.team != FOLDING => Some(
            "with `scan=look_back` a block of elements is folded by a logical warp of 8 threads".to_owned(),
        ),
        _ if own.balanced && !(computation.irregular && parallel(0)) => {
            Some("`row_sharing=merge` deals out rows of a nest, at the outermost level, which is parallel".to_owned())
        }
        _ => None,
    }
}

/// The implementation that a user asks for; what is left open is that of the default.
///
/// # Errors
/// The rule that is violated.
pub fn choose(
    computation: &Computation,
    schedule: Option<&str>,
    policy: Option<&str>,
) -> Result<GpuImplementation, String> {
    let mut own = GpuImplementation::default_of(computation);
    let strongest = schedule::strongest(&computation.sequence);
    if let Some(text) = schedule {
        own.schedule = super::choice::schedule_of(text, &computation.sequence, &strongest, Platform::Cuda)?;
        let inner = own.schedule.get(1).is_some_and(|element| element.is_parallel());
        let outer = is_folded(computation) && own.schedule[0].is_parallel();
        if !(inner || outer) {
            own.team = Team::Thread;
        }
    }
    let mut warp = None;
    let mut resource = None;
    for pair in policy.iter().flat_map(|text| text.split(',')) {
        let (name, value) = pair
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
            .ok_or("a policy is written `execution_resource_1=warp,logical_warp_size=8`")?;
        let number = || value.parse::<u32>().map_err(|_| format!("`{value}` is no number"));
        match name {
            "execution_resource_1" => resource = Some(value),
            "logical_warp_size" => warp = Some(number()?),
            "block_size_x" => own.block = number()?,
            "enable_unroll" => own.unroll = value == "true",
            "row_sharing" if ["equal", "merge"].contains(&value) => own.balanced = value == "merge",
            "scan" if ["three_kernels", "look_back"].contains(&value) => own.look_back = value == "look_back",
            "scan" => return Err(format!("`{value}` is neither three_kernels nor look_back")),
            "row_sharing" => return Err(format!("`{value}` is neither equal nor merge")),
            _ => {
                return Err(format!(
                    "`{name}` is no parameter; they are execution_resource_1, logical_warp_size, block_size_x, enable_unroll, row_sharing and scan"
                ));
            }
        }
    }
    let width = warp.or(match own.team {
        Team::Warp(width) => Some(width),
        _ => None,
    });
    own.team = match (resource, width) {
        (Some("thread"), _) | (Some("warp"), Some(1)) | (None, Some(1)) => Team::Thread,
        (Some("block"), _) => Team::Block,
        (Some("warp"), width) => Team::Warp(width.unwrap_or(8)),
        (None, _) if warp.is_none() => own.team,
        (None, Some(width)) => Team::Warp(width),
        (None, None) => own.team,
        (Some(other), _) => return Err(format!("`{other}` is no resource; they are thread, warp and block")),
    };
    if let Team::Warp(width) = own.team
        && !WARPS.contains(&width)
    {
        return Err(format!("a logical warp has 1, 2, 4, 8, 16 or 32 threads, and not {width}"));
    }
    let sizes: &[u32] = if own.team == Team::Block || own.look_back { &SHARING } else { &BLOCKS };
    if !sizes.contains(&own.block) {
        return Err(format!("block_size_x is one of {sizes:?} here, and not {}", own.block));
    }
    match rule(&own, computation) {
        Some(rule) => Err(format!("`{}`: {rule}", sequence::text(&computation.sequence))),
        None => Ok(own),
    }
}
