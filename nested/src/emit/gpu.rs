//! What is known of a GPU while code for it is made: who runs it, which arrays lie there, and the kernels so far.

use super::slots::{Place, Slot};
use crate::lower::Lowered;
use c_tree::{Expr as C, Stmt, Type as CType, int, name, var};
use std::collections::{BTreeMap, BTreeSet};

/// Threads of a warp.
pub const WARP: i64 = 32;

/// Where code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// On the host, between kernels.
    Host,
    /// In a kernel, by all threads of a team that have the same values.
    Team,
    /// In a kernel, by one thread.
    Thread,
}

/// Threads that have an element of the outermost sequence together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Team {
    /// One.
    Thread,
    /// A logical warp: a power of two up to 32.
    Warp(u32),
    /// All threads of a block.
    Block,
}

/// What is known of a GPU.
pub struct Gpu {
    /// Who has an element.
    pub team: Team,
    /// Threads of a block.
    pub block: i64,
    /// Whether rows of a nest are shared by their elements.
    pub balanced: bool,
    /// Whether scans of all look back.
    pub look_back: bool,
    /// Where code is emitted for.
    pub place: Where,
    /// All kernels so far, as text.
    pub kernels: Vec<String>,
    /// Their names, and how many parameters they have.
    pub names: Vec<(String, usize)>,
    /// Why it cannot be done: the first reason.
    pub refusal: Option<String>,
    pub(super) title: String,
    /// Names of arrays on the device with their types.
    pub(super) arrays: BTreeMap<String, &'static str>,
    /// Slots of numbers, which the host reaches.
    numbers: BTreeSet<usize>,
    /// The thread's number in its team, and the mask of the team's lanes.
    pub(super) lane: Option<(String, String)>,
    pub(super) shared: i64,
}

impl Gpu {
    /// Nothing is known yet.
    pub fn new(lowered: &Lowered, places: &BTreeMap<usize, Place>) -> Gpu {
        let one = |id: &&usize| !lowered.program.variable(**id).ty.has_sequence();
        let leaves = places.keys().filter(one).flat_map(|id| places[id].leaves.iter().copied());
        Gpu {
            team: Team::Thread,
            block: 256,
            balanced: false,
            look_back: false,
            place: Where::Host,
            kernels: Vec::new(),
            names: Vec::new(),
            refusal: None,
            title: String::new(),
            arrays: BTreeMap::new(),
            numbers: leaves.collect(),
            lane: None,
            shared: 0,
        }
    }

    /// Begins a step.
    pub fn begin(&mut self, title: &str, team: Team, block: i64) {
        (self.balanced, self.look_back) = (false, false);
        (self.title, self.team, self.block) = (title.to_owned(), team, block);
        (self.place, self.arrays) = (Where::Host, BTreeMap::new());
    }

    /// Whether a slot has one number or vector, which the host reaches.
    pub fn is_number(&self, slot: usize) -> bool {
        self.numbers.contains(&slot)
    }

    /// Threads of the team.
    pub fn team_size(&self) -> i64 {
        match self.team {
            Team::Thread => 1,
            Team::Warp(width) => i64::from(width),
            Team::Block => self.block,
        }
    }

    /// The thread's number in its team and the size of it, where the code is run by all threads of a team.
    pub fn lane(&self) -> Option<(C, i64)> {
        let (lane, _) = self.lane.as_ref()?;
        (self.place == Where::Team && self.team_size() > 1).then(|| (var(lane), self.team_size()))
    }

    /// The mask of the team's lanes within its warp.
    pub fn mask(&self) -> C {
        self.lane.as_ref().map_or(int(0), |(_, mask)| name(mask))
    }

    /// The declaration of an array that is read.
    pub fn read(&mut self, slot: usize, named: &str, kind: &'static str, computed: bool) -> Stmt {
        if self.is_number(slot) {
            let list = [name("tw"), int(slot as i64), int(i64::from(computed))];
            let value = C::instance("tw_number", [name(kind)], list);
            return Stmt::declare(CType::new(kind).constant().pointer(), named, value);
        }
        self.arrays.insert(named.to_owned(), kind);
        let value = C::instance("tw_array", [name(format!("const {kind}"))], [name("tw"), int(slot as i64)]);
        Stmt::declare(format!("TW_GLOBAL(const {kind})"), named, value)
    }

    /// Room for elements, and the array.
    pub fn room(
        &mut self,
        slot: usize,
        named: &str,
        kind: &'static str,
        own: &Slot,
        length: &C,
    ) -> Vec<Stmt> {
        self.arrays.insert(named.to_owned(), kind);
        let (width, size) = (int(own.width as i64), int(own.scalar.bytes() as i64));
        let one = int(i64::from(self.is_number(slot)));
        let list = [name("tw"), int(slot as i64), length.clone(), width, size, one];
        let value = C::instance("tw_array", [name(kind)], [name("tw"), int(slot as i64)]);
        vec![Stmt::call("tw_room_of", list), Stmt::declare(format!("TW_GLOBAL({kind})"), named, value)]
    }
}
