//! A pipeline of three time steps that streams along the slowest dimension: the least that shows streaming, stages,
//! rings and hand-over.
//!
//! ```text
//! for position c of the stream:
//!     load row c + up of the band's first level            into the hand of stage 0
//!     for stage j = 0, 1, 2:                               step t0 + j, row y = c - up*j
//!         the points of row y                              from its ring (rows y - down .. y + up - 1) and its hand
//!                                                          (row y + up), into the hand of stage j + 1, or the arrays
//!         hand over                                        its hand's row into its ring
//! ```
//!
//! A hand is a ring of two rows, so that a stage may be a row ahead of the next one. Each stage is a warp; they wait for
//! each other by links. What one of them has for itself, its ring and the hand of stage 0, lies in the registers of its
//! lanes, if rows are no longer than a warp. Blocks lie along both dimensions and compute what lies around them several times, as
//! overlapped tiles do.

use super::bands::{self, Bands};
use super::interface::{Strategy, Target};
use super::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use crate::TileSizes;
use crate::geometry::WARP;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{
    Instance, Kernel, KernelPlan, Launch, Loop, Range, Role, RowOrder, SIZE_NAMES, decides_nothing, hull,
};
use crate::storage::{
    Axis, Link, Memory, Moment, POINT_NAMES, Part, Place, Read, Region, Slot, Storage, Supplier, Sync,
    Transfer,
};
use crate::window::Windows;
use polyhedral::cone::Cone;
use polyhedral::program::{Access, FieldId, FieldRole, Program};
use std::sync::Arc;

/// Three stages, streaming.
#[derive(Debug, Clone, Copy)]
pub struct PipelineToy;

/// Stages of a whole band; the last bands have fewer.
const STAGES: usize = 3;

/// Rows between two stages.
const HANDS: i64 = 2;

/// Names of the sizes of a block: rows of a stream, and points of a row.
const SIZES: [&str; 2] = ["rows", "columns"];
const BLOCK_NAMES: [&str; 2] = ["b0", "b1"];
/// The position of the stream.
const POSITION: &str = "c";

impl Strategy for PipelineToy {
    fn id(&self) -> &'static str {
        "pipeline-toy"
    }

    fn description(&self) -> &'static str {
        "three time steps as stages of a stream along the rows (to show how such a strategy is written)"
    }

    fn size_names(&self) -> &'static [&'static str] {
        &SIZES
    }

    fn size_text(&self, name: &str, value: i64) -> String {
        format!("{name}: {value} {}", if value == 1 { "point" } else { "points" })
    }

    fn in_auto(&self, _target: Target) -> bool {
        false
    }

    fn tiles(&self, program: &Program, _cone: &Cone) -> Result<(), String> {
        if program.dimension() != 2 {
            return Err("it streams in two dimensions".to_owned());
        }
        if program.statements.len() != 1 {
            return Err("each of its stages is one statement".to_owned());
        }
        bands::one_level_in_two_slots(program)
    }

    fn space(&self, program: &Program, _cone: &Cone) -> TileSpace {
        let meanings = ["the rows that a block streams through", "the columns of a block"];
        let size = |d: usize| TileSize {
            name: SIZES[d],
            meaning: meanings[d],
            along: Along::Space(d),
            least: 1,
            most: LARGEST_SIZE,
            step: 1,
            whole: false,
        };
        TileSpace {
            sizes: vec![size(0), size(1)],
            optional: Vec::new(),
            constraints: Vec::new(),
            program: program.name.clone(),
        }
    }

    fn default_tile(&self, _program: &Program, _cone: &Cone, target: Target) -> TileSizes {
        let sizes = if target == Target::OpenMp { [256, 1024] } else { [64, 128] };
        TileSizes::new(SIZES.into_iter().zip(sizes))
    }

    fn plan(&self, program: &Arc<Program>, _cone: &Cone, tile: &TileSizes) -> KernelPlan {
        let bands = Bands::of_one_level(STAGES as i64);
        let sizes = SIZES.map(|name| tile.get(name).unwrap_or(1));
        let stream = |stages| Stream {
            program,
            bands,
            sizes,
            stages,
            reach: bands::reach(program),
            field: program.statements[0].target,
        };
        // One kernel for each number of stages that a band can have.
        let streams: Vec<Stream> = (1..=STAGES).map(stream).collect();
        let launches = streams.iter().enumerate().map(|(kernel, stream)| Launch {
            kernel,
            when: Some(
                (bands.length() - stream.stages as i64).min(int(stream.stages as i64) - bands.length()),
            ),
        });
        KernelPlan {
            program: program.clone(),
            strategy: self.id(),
            tile: tile.clone(),
            outer: bands.outer(),
            bands: Some(bands.time_bands()),
            launches: launches.collect(),
            kernels: streams.iter().map(Stream::kernel).collect(),
            windows: Windows::default(),
            witnesses: Vec::new(),
        }
    }
}

/// A kernel with so many stages.
struct Stream<'a> {
    program: &'a Program,
    bands: Bands,
    sizes: [i64; 2],
    stages: usize,
    /// How far the statement reads, per dimension: towards smaller and larger indices.
    reach: Vec<(i64, i64)>,
    field: FieldId,
}

/// Transfers of a stage, in this order: the load (of the first stage; the others have none), the refill of its hand,
/// and the hand-over to its ring.
impl Stream<'_> {
    /// What a block needs in dimension `d` of the level that so many stages have computed; 0 is what is loaded.
    fn interval(&self, computed: usize, d: usize) -> Range {
        let later = (self.stages - computed) as i64;
        let own = var(BLOCK_NAMES[d]) * self.sizes[d];
        Range {
            low: own.clone() - later * self.reach[d].0,
            high: own + (self.sizes[d] - 1 + later * self.reach[d].1),
        }
    }

    /// A row and its columns, where it is one of those that `computed` stages leave.
    fn row(&self, computed: usize, row: &IntExpr) -> Vec<Range> {
        let rows = self.interval(computed, 0);
        vec![
            Range { low: rows.low.max(row.clone()), high: rows.high.min(row.clone()) },
            self.interval(computed, 1),
        ]
    }

    /// The row that stage `j` computes at a position.
    fn row_of(&self, stage: usize) -> IntExpr {
        var(POSITION) - self.reach[0].1 * stage as i64
    }

    /// The row in its hand.
    fn hand_row(&self, stage: usize) -> IntExpr {
        self.row_of(stage) + self.reach[0].1
    }

    /// Rows of a ring: what a stage reads besides its hand.
    fn ring_rows(&self) -> i64 {
        self.reach[0].0 + self.reach[0].1
    }

    fn hand(&self, stage: usize) -> usize {
        2 * stage
    }

    fn ring(&self, stage: usize) -> usize {
        2 * stage + 1
    }

    fn storages(&self) -> Vec<Storage> {
        // A hand is handed over, but for that of the first stage, which loads it itself.
        let storage = |stage: usize, name: &str, comment: &str, rows: i64, shared: bool| {
            let Range { low: first, .. } = self.interval(stage, 1);
            let later = (self.stages - stage) as i64;
            let extent = later * (self.reach[1].0 + self.reach[1].1) + self.sizes[1];
            let columns = if (shared && stage > 0) || extent > WARP {
                Axis::Window { first, extent }
            } else {
                Axis::Lanes { first, extent, points: 1 }
            };
            Storage {
                name: format!("{name}{stage}"),
                comment: format!("{comment} stage {stage}"),
                field: self.field,
                planes: 1,
                copies: Vec::new(),
                axes: vec![Axis::Ring { first: int(0), extent: rows }, columns],
            }
        };
        (0..self.stages)
            .flat_map(|stage| {
                [
                    storage(stage, "hand", "the newest rows before", HANDS, true),
                    storage(stage, "ring", "the older rows before", self.ring_rows().max(1), false),
                ]
            })
            .collect()
    }

    /// Index of the refill of a hand; the hand-over to the ring follows it.
    fn refill(&self, stage: usize) -> usize {
        1 + 2 * stage
    }

    fn here(part: Part) -> Supplier {
        Supplier { kernel: None, part, at: Vec::new() }
    }

    /// Who puts a row into a hand.
    fn suppliers_of_hand(&self, stage: usize) -> Vec<Supplier> {
        let before = if stage == 0 { Part::Transfer(0) } else { Part::Row(stage - 1) };
        vec![Self::here(before), Self::here(Part::Transfer(self.refill(stage)))]
    }

    fn transfers(&self) -> Vec<Transfer> {
        // The last stage of the band before stored the level, whichever kernel it was.
        let store = |stages: usize| {
            let own = |d: usize| var(POINT_NAMES[d]).floor_div(self.sizes[d]);
            let position = var(POINT_NAMES[0]) + self.reach[0].1 * (stages as i64 - 1);
            Supplier {
                kernel: Some(stages - 1),
                part: Part::Row(stages - 1),
                at: vec![
                    (bands::BAND, var(bands::BAND) - 1),
                    (BLOCK_NAMES[0], own(0)),
                    (BLOCK_NAMES[1], own(1)),
                    (POSITION, position),
                ],
            }
        };
        let name = &self.program.field(self.field).name;
        let mut transfers = Vec::new();
        for stage in 0..self.stages {
            let transfer = |comment, region, from, to, moment| Transfer {
                comment,
                field: self.field,
                level: self.bands.first() + stage as i64,
                ranges: self.row(stage, &self.hand_row(stage)),
                region,
                when: Vec::new(),
                junk: None,
                from,
                to,
                moment,
                sync: Sync::Warp,
            };
            let hand = Place::Storage(self.hand(stage));
            if stage == 0 {
                transfers.push(transfer(
                    format!("the next row of {name}, as the band before has left it"),
                    Region::Domain(0),
                    Read {
                        place: Place::Arrays(self.bands.input(0)),
                        suppliers: (1..=STAGES).map(store).collect(),
                    },
                    hand.clone(),
                    Moment::Before(0),
                ));
            }
            transfers.push(transfer(
                "its boundary".to_owned(),
                Region::Boundary,
                Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() },
                hand.clone(),
                Moment::Before(stage),
            ));
            transfers.push(transfer(
                "from hand to ring".to_owned(),
                Region::Grid,
                Read { place: hand, suppliers: self.suppliers_of_hand(stage) },
                Place::Storage(self.ring(stage)),
                Moment::After(stage),
            ));
        }
        transfers
    }

    fn read(&self, stage: usize, access: &Access) -> Read {
        if self.program.field(access.field).role == FieldRole::Coefficient {
            return Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() };
        }
        if access.offset[0] == self.reach[0].1 {
            return Read {
                place: Place::Storage(self.hand(stage)),
                suppliers: self.suppliers_of_hand(stage),
            };
        }
        // When the row of the value was in the hand. Said by the value's point it is the same for all rows of the ring, so
        // that the proof looks at them together.
        let position = var(POINT_NAMES[0]) + self.reach[0].1 * (stage as i64 - 1);
        let handed_over = Supplier {
            kernel: None,
            part: Part::Transfer(self.refill(stage) + 1),
            at: vec![(POSITION, position)],
        };
        Read { place: Place::Storage(self.ring(stage)), suppliers: vec![handed_over] }
    }

    fn instance(&self, stage: usize) -> Instance {
        let last = stage + 1 == self.stages;
        let write =
            if last { Place::Arrays(self.bands.output(0)) } else { Place::Storage(self.hand(stage + 1)) };
        let junk = !last && reads_itself_alone(self.program) && decides_nothing(self.program, 0);
        let owned = vec![self.interval(self.stages, 0), self.interval(self.stages, 1)];
        Instance {
            statement: 0,
            step: self.bands.first() + stage as i64,
            ranges: self.row(stage + 1, &self.row_of(stage)),
            in_full_tiles: true,
            // The lanes of a stage compute whole rows; the next stage's boundary comes after them.
            when: Vec::new(),
            junk: junk.then(|| self.row(stage + 1, &self.row_of(stage))),
            role: if last { Role::Owner } else { Role::Copies { owned } },
            order: RowOrder::Parallel { repeats: true },
            reads: self.program.statements[0].reads.iter().map(|access| self.read(stage, access)).collect(),
            writes: vec![write],
            sync: Sync::Warp,
            joined: false,
        }
    }

    /// Each stage is a warp.
    fn warps(&self) -> Vec<Vec<Part>> {
        let parts = |stage: usize| {
            let load = (stage == 0).then_some(Part::Transfer(0));
            let refill = self.refill(stage);
            let own = [Part::Transfer(refill), Part::Row(stage), Part::Transfer(refill + 1)];
            load.into_iter().chain(own).collect()
        };
        (0..self.stages).map(parts).collect()
    }

    /// A stage takes a row when the one before has left it, which does not fill a hand that is still in use.
    fn links(&self) -> Vec<Link> {
        let neighbours = 1..self.stages;
        neighbours
            .flat_map(|stage| {
                [
                    Link { from: stage - 1, to: stage, distance: 0 },
                    Link { from: stage, to: stage - 1, distance: HANDS },
                ]
            })
            .collect()
    }

    fn kernel(&self) -> Kernel {
        let (down, up) = self.reach[0];
        let block = |d: usize| {
            let (first, end) = hull(self.program, d);
            Loop {
                variable: BLOCK_NAMES[d],
                low: int(first).floor_div(self.sizes[d]),
                high: (var(SIZE_NAMES[d]) - (end + 1)).floor_div(self.sizes[d]),
            }
        };
        let stages = self.stages as i64;
        let own = var(BLOCK_NAMES[0]) * self.sizes[0];
        Kernel {
            name: format!("stream{}", self.stages),
            comment: format!(
                "{} time step{} as stages of a stream",
                self.stages,
                if self.stages == 1 { "" } else { "s" }
            ),
            blocks: (0..2).map(block).collect(),
            blocks_alike: true,
            bindings: self.bands.bindings(),
            // From the first row that is loaded to the last one that the last stage computes.
            sub_tiles: vec![Loop {
                variable: POSITION,
                low: own.clone() - (stages * down + up),
                high: own + (self.sizes[0] - 1 + (stages - 1) * up),
            }],
            team: false,
            rows: Loop { variable: bands::ROW, low: int(0), high: int(0) },
            instances: (0..self.stages).map(|stage| self.instance(stage)).collect(),
            memory: Memory::Storages,
            storages: self.storages(),
            transfers: self.transfers(),
            warps: self.warps(),
            links: self.links(),
            full_when: Vec::new(),
        }
    }
}

/// Whether everything that is read is in storage of the block.
fn reads_itself_alone(program: &Program) -> bool {
    let statement = &program.statements[0];
    statement.reads.iter().all(|read| read.field == statement.target)
}
