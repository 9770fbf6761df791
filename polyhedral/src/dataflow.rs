//! Where values go: what a plan with storage of its blocks' own hands to the legality proof, besides the schedule of
//! the instances that blocks own.
//!
//! An *event* is one execution of a row or of a transfer at one point: it makes, or moves, the value
//! `(field, level, point)`. Every read names the events that may supply it, by the values of the loop variables there,
//! so that the proof has nothing to search for.
//!
//! Texts are in isl's notation, over `steps, n0, n1, ..` (parameters), the variables that the event names, and the
//! coordinates `p0, p1, ..` of its point.

use crate::program::FieldId;

/// Events and storages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataflow {
    /// The host's variable, the same for all events.
    pub outer: String,
    /// Constraints on it.
    pub iterations: Vec<String>,
    /// How the host's iterations divide the time steps.
    pub bands: Option<Bands>,
    /// The events.
    pub events: Vec<Event>,
    /// The storages of all kernels.
    pub storages: Vec<Storage>,
}

/// A partition of the time steps `0 .. steps` into bands, one per iteration of the host: iteration `T` has the steps
/// `first(T) .. end(T)`. The proof takes bands as they come, by what is true of all of them:
///
/// ```text
/// 0 <= first < end <= first + most,   end <= steps,   first = 0 <=> T = 0,   first >= T,
/// end > steps - turns => T + 1 = end (mod turns),   end(T) = first(T + 1),   end(T) <= first(T') for T < T',
/// there is a band 0, and there are bands with end = steps, .., steps - turns + 1 (those that are at least 1),
/// ```
///
/// which is proved first, from the definitions. Where fields have spare slots, the first band may have number 1, and the last one has
/// an odd number:
///
/// ```text
/// 0 <= T <= first + 1,   end = steps => T odd,   first(low) = 0,   there is a band `low`.
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bands {
    /// The variable of the first step.
    pub first: String,
    /// The variable of the step after the last one.
    pub end: String,
    /// Further variables of the definitions.
    pub helpers: Vec<String>,
    /// Constraints that give both bounds and the helpers one value each, over the host's variable.
    pub definitions: Vec<String>,
    /// The first step of the next band, over the same variables.
    pub next_first: String,
    /// The number of the first iteration.
    pub low: String,
    /// The number of the last iteration.
    pub last: String,
    /// Steps of a band at most.
    pub most: i64,
    /// So many bands at the end leave one level each: the numbers of these bands and levels agree modulo this.
    pub turns: i64,
    /// Whether each field that changes has as many slots again, `slots .. 2*slots`, which before the first band have what the
    /// others have. Then a value may be stored in several slots, and a run leaves its levels in the slots of the program.
    pub spare: bool,
}

impl Dataflow {
    /// The same with every read by itself.
    pub fn with_each_read(&self) -> Dataflow {
        let mut flow = self.clone();
        for event in &mut flow.events {
            let single = |reads: &Reads| {
                let of = |offset: &Vec<i64>| Reads {
                    offsets: offset.iter().map(|&offset| (offset, offset)).collect(),
                    each: vec![offset.clone()],
                    ..reads.clone()
                };
                reads.each.iter().map(of).collect::<Vec<_>>()
            };
            event.reads = event.reads.iter().flat_map(single).collect();
        }
        flow
    }
}

/// Memory of one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// Name, for messages.
    pub name: String,
    /// Kernel whose blocks have it.
    pub kernel: usize,
    /// The field.
    pub field: FieldId,
    /// Level `l` of a field with `i` initial levels lies in plane `(l + i - 1) mod planes`.
    pub planes: i64,
    /// How many copies of it there are, by each of the numbers that tell them apart ([`Place::Storage`]).
    pub copies: Vec<i64>,
    /// Per space dimension.
    pub axes: Vec<Axis>,
    /// Where the cells of the innermost dimension, a window, are lanes of a warp: how many lanes a warp has. Events that touch
    /// the storage run in the lane of their point, which exists.
    pub lanes: Option<i64>,
}

/// The cells of a storage along one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axis {
    /// Point `s` lies in cell `s - first`.
    Window {
        /// Over the host's variable, bands and blocks, and what tells the copies apart.
        first: String,
        /// Number of cells.
        extent: i64,
    },
    /// Point `s` lies in cell `s mod extent`.
    Ring {
        /// Number of cells.
        extent: i64,
    },
}

/// The executions of one row or transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Name, for messages.
    pub name: String,
    /// Index of the kernel. The host launches it once in an iteration.
    pub kernel: usize,
    /// Position of its launch.
    pub launch: i64,
    /// Variables of the blocks.
    pub blocks: Vec<String>,
    /// Variables of the sequential loops around it, in the order in which [`Event::position`] has them.
    pub loops: Vec<String>,
    /// Its place in a block's time: variables of loops and constants, as many for all events of a kernel, compared
    /// lexicographically. Two events at one place run side by side.
    pub position: Vec<String>,
    /// Which number of the position is that of a member of a team, where there is one. Events of different members at
    /// positions that agree before it are not ordered.
    pub team: Option<usize>,
    /// So many of its last numbers order the executions of this event alone, as points of a row follow each other; others
    /// run before all of them, or after, or beside them.
    pub within: usize,
    /// The warp of the block that runs it, where warps run on their own: then positions order events of one warp.
    pub warp: Option<usize>,
    /// For each warp by how much the first number of a position of its events must be greater, at least, for them to
    /// run after this one; `None` where they need not.
    pub before: Vec<Option<i64>>,
    /// Constraints on all of them and on the point, besides those on the host's variable.
    pub constraints: Vec<String>,
    /// Which of these points.
    pub region: Region,
    /// Of junk, constraints on the points that are none: those of the box.
    pub within_box: Vec<String>,
    /// Whether it runs for the points of all cells of the innermost dimension, which are the same in all storages that it
    /// touches, and is taken to run beyond.
    pub whole: bool,
    /// The field whose value it makes or moves.
    pub field: FieldId,
    /// The level of the value.
    pub level: String,
    /// What it reads.
    pub reads: Vec<Reads>,
    /// Where it leaves the value.
    pub writes: Vec<Place>,
}

impl Event {
    /// Which copy of a storage it writes to, if it does.
    pub fn copy_written(&self, storage: usize) -> Option<&[String]> {
        self.writes.iter().find_map(|place| match place {
            Place::Storage { index, copy } if *index == storage => Some(&copy[..]),
            _ => None,
        })
    }
}

/// The points that an event is restricted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// A statement's domain: the event executes the statement, at a level of `1 ..= steps`.
    Statement(usize),
    /// A statement's domain: the event moves its value.
    Domain(usize),
    /// The grid.
    Grid,
    /// The points of the grid that no statement of the field computes.
    Boundary,
    /// The points outside a statement's domain, or outside the grid where there is none, or outside of a box
    /// ([`Event::within_box`]): the event leaves something that nobody needs, from cells that exist.
    Junk(Option<usize>),
}

/// Reads of one level of one field, around an event's point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reads {
    /// The field.
    pub field: FieldId,
    /// The level.
    pub level: String,
    /// Offsets from the event's point, least and greatest per dimension.
    pub offsets: Vec<(i64, i64)>,
    /// All of them; the box of [`Reads::offsets`] may have more.
    pub each: Vec<Vec<i64>>,
    /// The place.
    pub place: Place,
    /// Events, one of which has put the value there.
    pub suppliers: Vec<Supplier>,
}

/// Where a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The arrays, in this slot, or in that of the level.
    Arrays {
        /// Over the event's variables.
        slot: Option<String>,
    },
    /// A storage.
    Storage {
        /// Its index.
        index: usize,
        /// Which of its copies, over the event's variables: as many numbers as [`Storage::copies`] has.
        copy: Vec<String>,
    },
}

/// An event that supplies a value at the value's point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supplier {
    /// Index of the event.
    pub event: usize,
    /// The values of its variables, over those of the reader and the read point `q0, q1, ..`. Variables that are not
    /// named have the reader's values.
    pub at: Vec<(String, String)>,
}
