//! Where values lie: each array of a program has a slot.

use crate::lower::{Lowered, Numbered, Step};
use crate::program::{Program, Role, Scalar, Type, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// One array.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Its name in the generated code.
    pub name: String,
    /// The type of its numbers.
    pub scalar: Scalar,
    /// How many of them an element has.
    pub width: usize,
    /// Whether the caller gives it.
    pub given: bool,
}

/// The slots of a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// One for each array of numbers.
    pub leaves: Vec<usize>,
    /// Where rows begin, of a sequence of sequences.
    pub rows: Option<usize>,
}

/// All slots: what is given first, then what is handed out, then the rest.
#[derive(Debug, Clone, Default)]
pub struct Slots {
    /// The arrays.
    pub list: Vec<Slot>,
    /// The arrays of each variable.
    pub places: BTreeMap<VarId, Place>,
    names: BTreeSet<String>,
}

impl Slots {
    /// The slots of a lowered program.
    pub fn of(lowered: &Lowered) -> Slots {
        let mut slots = Slots::default();
        let given: Vec<VarId> = lowered.program.given().map(|(id, _)| id).collect();
        for &id in given.iter().chain(&lowered.program.outputs) {
            slots.add(&lowered.program, id);
        }
        slots.steps(lowered, &lowered.steps);
        slots
    }

    /// Those of what a program is given and hands out alone.
    pub fn interface(program: &Program) -> Slots {
        let mut slots = Slots::default();
        let given = program.given().map(|(id, _)| id);
        given.chain(program.outputs.iter().copied()).for_each(|id| slots.add(program, id));
        slots
    }

    fn steps(&mut self, lowered: &Lowered, steps: &[Numbered]) {
        for numbered in steps {
            match &numbered.step {
                Step::Fill(id, _) | Step::Scan(id, _) | Step::Order(id, _) | Step::Scatter(id, _) => {
                    self.add(&lowered.program, *id)
                }
                Step::Places { variable, .. } => self.add(&lowered.program, *variable),
                Step::Fold(list) => list.iter().for_each(|(id, _)| self.add(&lowered.program, *id)),
                Step::Swap(a, b) => [a, b].into_iter().for_each(|id| self.add(&lowered.program, *id)),
                Step::Repeat { steps, .. } => self.steps(lowered, steps),
            }
        }
    }

    fn add(&mut self, program: &Program, id: VarId) {
        if self.places.contains_key(&id) {
            return;
        }
        let variable = program.variable(id);
        let given = matches!(variable.role, Role::Input | Role::Param(_));
        let leaves = variable.ty.leaves();
        let many = leaves.len() > 1;
        let mut name = variable.name.clone();
        let all = |name: &str| {
            let parts = (0..leaves.len()).map(|number| format!("{name}_{number}"));
            parts.chain([name.to_owned(), format!("{name}_rows")]).collect::<Vec<_>>()
        };
        while all(&name).iter().any(|name| self.names.contains(name)) {
            name = format!("{name}_{id}");
        }
        self.names.extend(all(&name));
        let mut place = Place { leaves: Vec::new(), rows: None };
        for (number, (scalar, width)) in leaves.into_iter().enumerate() {
            let name = if many { format!("{name}_{number}") } else { name.clone() };
            place.leaves.push(self.list.len());
            self.list.push(Slot { name, scalar, width, given });
        }
        if matches!(variable.ty.element(), Some(Type::Sequence(_))) {
            place.rows = Some(self.list.len());
            self.list.push(Slot {
                name: format!("{name}_rows"),
                scalar: Scalar::I64,
                width: 1,
                given: false,
            });
        }
        self.places.insert(id, place);
    }

    /// An array of the generator's own.
    pub fn scratch(&mut self, name: &str, scalar: Scalar) -> usize {
        self.private(name, &Slot { name: String::new(), scalar, width: 1, given: false })
    }

    /// An array like another one, under a name of its own.
    pub(crate) fn private(&mut self, name: &str, like: &Slot) -> usize {
        let mut name = name.to_owned();
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        self.list.push(Slot { name, given: false, ..like.clone() });
        self.list.len() - 1
    }
}
