//! The boxes of a block, and what it does with them.

use super::sizes::{DEPTH, WIDTHS};
use crate::TileSizes;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{
    Instance, Kernel, Loop, Range, Role, RowOrder, SIZE_NAMES, hull, overwrites_what_it_reads,
};
use crate::storage::{
    Axis, Memory, Moment, POINT_NAMES, Part, Place, Read, Region, Slot, Storage, Supplier, Sync, Transfer,
};
use crate::strategy::bands::{self, Bands};
use polyhedral::cone::Cone;
use polyhedral::program::{Access, FieldId, FieldRole, Program, Rational};

const BLOCK_NAMES: [&str; 3] = ["b0", "b1", "b2"];

/// The boxes of a block.
///
/// With `K` statements per time step and the cone's slopes `l` and `u` per logical row, a row with `R` logical rows
/// after it in the band is needed at the points
///
/// ```text
/// own.low - floor(u*R)  <=  s  <=  own.high + floor(l*R)
/// ```
pub(super) struct Zone<'a> {
    pub(super) program: &'a Program,
    pub(super) bands: Bands,
    /// `K`.
    pub(super) statements: i64,
    pub(super) widths: Vec<i64>,
    lower: &'a [Rational],
    upper: &'a [Rational],
    /// How far statements read fields that change, towards smaller and towards larger indices.
    pub(super) reach: Vec<(i64, i64)>,
}

impl<'a> Zone<'a> {
    pub(super) fn new(program: &'a Program, cone: &'a Cone, tile: &TileSizes) -> Self {
        let value = |name| tile.get(name).unwrap_or(1);
        Zone {
            program,
            bands: Bands::of_one_level(value(DEPTH)),
            statements: program.statements.len() as i64,
            widths: WIDTHS[..program.dimension()].iter().map(|name| value(name)).collect(),
            lower: &cone.lower,
            upper: &cone.upper,
            reach: bands::reach(program),
        }
    }

    /// First point of a block's own box.
    fn own(&self, d: usize) -> IntExpr {
        var(BLOCK_NAMES[d]) * self.widths[d]
    }

    /// How many points more rows with `after` logical rows after them are needed on, on each side.
    pub(super) fn grown(&self, d: usize, after: i64) -> (i64, i64) {
        let by = |slope: Rational| (slope * after).floor().to_integer();
        (by(self.upper[d]), by(self.lower[d]))
    }

    /// The box that rows with `after` logical rows after them are needed on, wider by `more` on each side.
    fn needed(&self, after: &IntExpr, more: &dyn Fn(usize) -> (i64, i64)) -> Vec<Range> {
        let grown = |slope: Rational| (after.clone() * *slope.numer()).floor_div(*slope.denom());
        (0..self.widths.len())
            .map(|d| Range {
                low: self.own(d) - grown(self.upper[d]) - more(d).0,
                high: self.own(d) + grown(self.lower[d]) + (self.widths[d] - 1 + more(d).1),
            })
            .collect()
    }

    fn owned(&self) -> Vec<Range> {
        self.needed(&int(0), &|_| (0, 0))
    }

    /// What a block's own box grows by on each side in a whole band.
    fn ghost(&self, d: usize) -> (i64, i64) {
        let (low, high) = self.grown(d, self.statements * self.bands.depth - 1);
        (low + self.reach[d].0, high + self.reach[d].1)
    }

    pub(super) fn states(&self) -> impl Iterator<Item = FieldId> + '_ {
        let fields = self.program.fields.iter().enumerate();
        fields.filter(|(_, field)| field.role != FieldRole::Coefficient).map(|(field, _)| FieldId(field))
    }

    /// One storage per field that changes, in order.
    pub(super) fn storages(&self) -> Vec<Storage> {
        let axis = |d: usize| {
            let (low, high) = self.ghost(d);
            Axis::Window { first: self.own(d) - low, extent: low + self.widths[d] + high }
        };
        let storage = |field: FieldId| Storage {
            name: format!("zone_{}", field.0),
            comment: format!("{} on a block's box and its ghost zone", self.program.field(field).name),
            field,
            planes: bands::SLOTS,
            copies: Vec::new(),
            axes: (0..self.widths.len()).map(axis).collect(),
        };
        self.states().map(storage).collect()
    }

    /// Bytes of all storages.
    pub(super) fn bytes(&self) -> i64 {
        self.storages().iter().map(|storage| storage.bytes(self.program)).fold(0, i64::saturating_add)
    }

    fn storage_of(&self, field: FieldId) -> usize {
        self.states().position(|state| state == field).unwrap_or_default()
    }

    /// Per field: the load of its level, the refill of its boundary in both planes, and at the end the store.
    fn transfers(&self) -> Vec<Transfer> {
        let whole_band = self.bands.steps() * self.statements - 1;
        let around = self.needed(&whole_band, &|d| self.reach[d]);
        let mut transfers = Vec::new();
        for field in self.states() {
            let name = &self.program.field(field).name;
            let storage = Place::Storage(self.storage_of(field));
            let transfer = |comment, level, region, from, to, sync| Transfer {
                comment,
                field,
                level,
                ranges: around.clone(),
                region,
                when: Vec::new(),
                junk: None,
                from,
                to,
                moment: Moment::Start,
                sync,
            };
            for (k, _) in self.program.writers_of(field) {
                transfers.push(transfer(
                    format!("{} as the band before has left it", self.program.statement_name(k)),
                    self.bands.first(),
                    Region::Domain(k),
                    Read { place: Place::Arrays(self.bands.input(0)), suppliers: self.stores(field) },
                    storage.clone(),
                    Sync::Barrier,
                ));
            }
            for plane in 0..bands::SLOTS {
                transfers.push(transfer(
                    format!("the boundary of {name}, in plane {plane} from the first step on"),
                    self.bands.first() + plane,
                    Region::Boundary,
                    Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() },
                    storage.clone(),
                    Sync::Barrier,
                ));
            }
        }
        for field in self.states() {
            for (k, _) in self.program.writers_of(field) {
                let last = Supplier {
                    kernel: None,
                    part: Part::Row(k),
                    at: vec![(bands::ROW, self.bands.steps() - 1)],
                };
                transfers.push(Transfer {
                    comment: format!("{} of the block's own box", self.program.statement_name(k)),
                    field,
                    level: self.bands.last(),
                    ranges: self.owned(),
                    region: Region::Domain(k),
                    when: Vec::new(),
                    junk: None,
                    from: Read { place: Place::Storage(self.storage_of(field)), suppliers: vec![last] },
                    to: Place::Arrays(self.bands.output(0)),
                    moment: Moment::End,
                    sync: Sync::Barrier,
                });
            }
        }
        transfers
    }

    /// Transfers at the start for one field: a load for each of its statements, and the refills.
    fn loads_of(&self, field: FieldId) -> std::ops::Range<usize> {
        let count = |field| self.program.writers_of(field).count() + bands::SLOTS as usize;
        let first = self.states().take_while(|&state| state != field).map(count).sum();
        first..first + count(field)
    }

    /// The stores of a field at the end of the band before, by the block of the value's point.
    fn stores(&self, field: FieldId) -> Vec<Supplier> {
        let loads: usize = self.states().map(|state| self.loads_of(state).len()).sum();
        let writers = |state| self.program.writers_of(state).count();
        let first = loads + self.states().take_while(|&state| state != field).map(writers).sum::<usize>();
        let block = |d: usize| (BLOCK_NAMES[d], var(POINT_NAMES[d]).floor_div(self.widths[d]));
        let at: Vec<_> = [(bands::BAND, var(bands::BAND) - 1)]
            .into_iter()
            .chain((0..self.widths.len()).map(block))
            .collect();
        (first..first + writers(field))
            .map(|transfer| Supplier { kernel: Some(0), part: Part::Transfer(transfer), at: at.clone() })
            .collect()
    }

    /// Where statement `k` finds the value of a read: it was computed in this step, in the one before, or loaded.
    fn read(&self, access: &Access) -> Read {
        let field = access.field;
        if self.program.field(field).role == FieldRole::Coefficient {
            return Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() };
        }
        let storage = self.storage_of(field);
        let row = |(k, _)| Supplier {
            kernel: None,
            part: Part::Row(k),
            at: vec![(bands::ROW, var(bands::ROW) + (access.time - 1))],
        };
        let mut suppliers: Vec<Supplier> = self.program.writers_of(field).map(row).collect();
        suppliers.extend(self.loads_of(field).map(|transfer| Supplier {
            kernel: None,
            part: Part::Transfer(transfer),
            at: Vec::new(),
        }));
        Read { place: Place::Storage(storage), suppliers }
    }

    fn instance(&self, k: usize) -> Instance {
        // Logical rows after row K*m + k of a band.
        let after = (self.bands.steps() - var(bands::ROW)) * self.statements - (1 + k as i64);
        let statement = &self.program.statements[k];
        Instance {
            statement: k,
            step: self.bands.first() + var(bands::ROW),
            ranges: self.needed(&after, &|_| (0, 0)),
            in_full_tiles: true,
            role: Role::Copies { owned: self.owned() },
            when: Vec::new(),
            junk: None,
            order: RowOrder::Parallel { repeats: !overwrites_what_it_reads(self.program, k) },
            reads: statement.reads.iter().map(|access| self.read(access)).collect(),
            writes: vec![Place::Storage(self.storage_of(statement.target))],
            sync: Sync::Barrier,
            joined: false,
        }
    }

    pub(super) fn kernel(&self) -> Kernel {
        let block = |d: usize| {
            let (first, end) = hull(self.program, d);
            Loop {
                variable: BLOCK_NAMES[d],
                low: int(first).floor_div(self.widths[d]),
                high: (var(SIZE_NAMES[d]) - (end + 1)).floor_div(self.widths[d]),
            }
        };
        Kernel {
            name: "zone".to_owned(),
            comment: format!("a band of {} time steps on blocks with a ghost zone", self.bands.depth),
            blocks: (0..self.widths.len()).map(block).collect(),
            blocks_alike: true,
            bindings: self.bands.bindings(),
            sub_tiles: Vec::new(),
            team: false,
            rows: Loop { variable: bands::ROW, low: int(0), high: self.bands.steps() - 1 },
            instances: (0..self.program.statements.len()).map(|k| self.instance(k)).collect(),
            memory: Memory::Storages,
            storages: self.storages(),
            transfers: self.transfers(),
            warps: Vec::new(),
            links: Vec::new(),
            full_when: Vec::new(),
        }
    }
}
