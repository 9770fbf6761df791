//! Several programs that compute the same by different algorithms, behind one interface: the first of two choices, the second
//! of which is that of the implementation (S. Muralidharan, section 5.4).
//!
//! What is given to the interface is what any version is given, by name. Its results are those that all versions have, by name
//! and type; rows count as their elements where not all versions have rows.

use crate::data::{Inputs, Output};
use crate::emit::generated::Generated;
use crate::emit::slots::Slots;
use crate::features::{Feature, features};
use crate::program::{Program, Role, Type, Variable};

/// Programs behind one interface.
#[derive(Debug, Clone)]
pub struct Versions {
    /// The programs, of which there is one at least.
    pub programs: Vec<Program>,
    /// What is given and handed out. Of one program it is that one; of several it has the name of the first, and no items.
    pub interface: Program,
    /// Results that not all versions have, and are not handed out.
    pub dropped: Vec<String>,
}

/// The type of a result without rows.
fn flat(ty: &Type) -> &Type {
    match ty {
        Type::Sequence(inner) if inner.has_sequence() => inner,
        own => own,
    }
}

/// An input or parameter of one version among those of the versions before it.
fn fits(known: &Variable, own: &Variable, (first, other): (&str, &str)) -> Result<(), String> {
    let name = &own.name;
    if known.ty != own.ty {
        return Err(format!("`{name}` is {} in `{first}` and {} in `{other}`", known.ty, own.ty));
    }
    if known.role != own.role {
        return Err(format!("`{name}` is not the same parameter in `{first}` and `{other}`"));
    }
    Ok(())
}

impl Versions {
    /// One program.
    pub fn one(program: Program) -> Versions {
        Versions { interface: program.clone(), programs: vec![program], dropped: Vec::new() }
    }

    /// A program, and others that compute the same.
    ///
    /// # Errors
    /// Names that do not mean the same in all of them; no result that all have.
    pub fn new(first: Program, others: Vec<Program>) -> Result<Versions, String> {
        if others.is_empty() {
            return Ok(Versions::one(first));
        }
        let mut variables: Vec<Variable> = first.given().map(|(_, own)| own.clone()).collect();
        for other in &others {
            for (_, own) in other.given() {
                match variables.iter().find(|known| known.name == own.name) {
                    Some(known) => fits(known, own, (&first.name, &other.name))?,
                    None => variables.push(own.clone()),
                }
            }
        }
        let given = variables.len();
        let mut dropped = Vec::new();
        for own in first.outputs.iter().map(|id| first.variable(*id)) {
            let mut all = own.clone();
            for other in &others {
                let found = other.outputs.iter().map(|id| other.variable(*id));
                let same = found.into_iter().find(|found| found.name == own.name);
                match same.filter(|same| flat(&same.ty) == flat(&own.ty)) {
                    Some(same) if same.ty != all.ty => all.ty = flat(&own.ty).clone(),
                    Some(_) => {}
                    None => dropped.push(own.name.clone()),
                }
            }
            if let Some(taken) = variables[..given].iter().find(|known| known.name == own.name) {
                return Err(format!("`{}` is given to one version and a result of another", taken.name));
            }
            if !dropped.contains(&own.name) {
                variables.push(Variable { role: Role::Computed, ..all });
            }
        }
        if variables.len() == given {
            return Err(format!("no result of `{}` is one of all other versions", first.name));
        }
        let extra = others.iter().flat_map(|other| other.outputs.iter().map(|id| &other.variable(*id).name));
        for name in extra {
            if !variables[given..].iter().any(|own| own.name == *name) {
                dropped.push(name.clone());
            }
        }
        dropped.sort();
        dropped.dedup();
        let interface = Program {
            outputs: (given..variables.len()).collect(),
            variables,
            items: Vec::new(),
            ..first.clone()
        };
        Ok(Versions { programs: [first].into_iter().chain(others).collect(), interface, dropped })
    }

    /// What a version is given of all that is.
    pub fn inputs_of(&self, version: usize, inputs: &Inputs) -> Inputs {
        let known = |name: &str| self.programs[version].given().any(|(_, own)| own.name == name);
        let own = inputs.iter().filter(|(name, _)| known(name));
        own.map(|(name, array)| (name.clone(), array.clone())).collect()
    }

    /// The results of the interface among those of a version.
    pub fn results_of(&self, outputs: Vec<Output>) -> Vec<Output> {
        let one = |id: &usize| {
            let wanted = self.interface.variable(*id);
            let found = outputs.iter().find(|own| own.name == wanted.name)?;
            let offsets = found.offsets.clone().filter(|_| found.ty == wanted.ty);
            Some(Output { ty: wanted.ty.clone(), offsets, ..found.clone() })
        };
        self.interface.outputs.iter().filter_map(one).collect()
    }

    /// The features of all versions, by places of the interface.
    pub fn features(&self) -> Vec<Feature> {
        let mut list: Vec<Feature> = Vec::new();
        for program in &self.programs {
            let place = |own: usize| {
                let name = program.given().nth(own).map(|(_, variable)| &variable.name);
                let same = self.interface.given().position(|(_, variable)| Some(&variable.name) == name);
                same.unwrap_or(0)
            };
            for own in features(program) {
                let placed = own.placed(&place);
                if !list.iter().any(|known| known.name == placed.name) {
                    list.push(placed);
                }
            }
        }
        // Threads in the end, as for one program.
        list.sort_by_key(|own| own.what == crate::features::What::Threads);
        list
    }

    /// The slots of the interface, with those that single versions have for themselves; and for each version, where its
    /// slots lie. `made` has all texts of each version.
    pub fn slots(&self, made: &[Vec<&Generated>]) -> (Slots, Vec<Vec<usize>>) {
        let mut slots = Slots::interface(&self.interface);
        let mut maps = Vec::new();
        for (program, made) in self.programs.iter().zip(made) {
            let Some(longest) = made.iter().map(|own| &own.slots).max_by_key(|own| own.list.len()) else {
                continue;
            };
            let mut map: Vec<Option<usize>> = vec![None; longest.list.len()];
            let named = |slots: &Slots, name: &str| slots.list.iter().position(|own| own.name == name);
            for (at, own) in longest.list.iter().enumerate().filter(|(_, own)| own.given) {
                map[at] = named(&slots, &own.name);
            }
            for id in &program.outputs {
                let name = &program.variable(*id).name;
                let same = self.interface.outputs.iter();
                let Some(same) = same.copied().find(|own| self.interface.variable(*own).name == *name) else {
                    continue;
                };
                let (Some(own), Some(all)) = (longest.places.get(id), slots.places.get(&same)) else {
                    continue;
                };
                let rows = own.rows.into_iter().zip(all.rows);
                for (own, all) in own.leaves.iter().copied().zip(all.leaves.iter().copied()).chain(rows) {
                    map[own] = Some(all);
                }
            }
            let map = longest.list.iter().zip(map).map(|(own, place)| {
                place.unwrap_or_else(|| slots.private(&format!("{}_{}", program.name, own.name), own))
            });
            maps.push(map.collect());
        }
        (slots, maps)
    }
}
