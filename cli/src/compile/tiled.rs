//! One program with its tiling: chosen, named as asked, planned and proved.

use super::arguments::CompileArguments;
use super::report::{OtherLoop, place_text};
use crate::error::{Error, Result};
use crate::progress::Session;
use hhc_codegen::pipeline::Planned;
use hhc_codegen::strategy::{AUTO, Target, baseline_for};
use std::mem;
use std::sync::Arc;
use tilewright::c_program::{self, CProgram};
use tilewright::choice::{self, Chosen, Wish};
use tilewright::emit::Facts;
use tilewright::{Stencil, Tiling};

/// A program with the tiling that serves it.
pub struct Tiled {
    /// The program's own name, by which machines know it.
    pub name: String,
    /// The tiling, and who chose it.
    pub chosen: Chosen,
    /// Its plan, which names everything with the prefix that was asked for.
    pub planned: Planned,
    /// The region of a C program that it stands for.
    pub c: Option<CProgram>,
}

impl Tiled {
    /// Chooses a tiling, then gives the program the prefix of the arguments, and plans.
    ///
    /// # Errors
    /// Tile sizes that do not fit; a strategy that cannot serve the program; a proof that fails.
    pub fn new(
        stencil: Stencil,
        c: Option<CProgram>,
        tiling: &Tiling,
        arguments: &CompileArguments,
        wish: &Wish<'_>,
        session: &Session,
    ) -> Result<Self> {
        let target = arguments.target.target();
        let between = c.as_ref().and_then(c_program::one_step_at_a_time);
        if let Some(reason) = between.filter(|_| target == Target::Cuda) {
            return Err(Error::wrong_input(format!(
                "its steps would run one at a time, and arrays go to the GPU and back in each of them: {reason}"
            ))
            .hint("--target openmp works on the arrays where they are"));
        }
        // Tiles of several steps would be cut down to one.
        let one = between.is_some() && tiling.strategy == AUTO;
        let single =
            Tiling { strategy: baseline_for(&stencil.program).id().to_owned(), tile: tiling.tile.clone() };
        let tiling = if one { &single } else { tiling };
        // What the user says goes before what the program's text says.
        let own = c.as_ref().and_then(c_program::extents);
        let steps = wish.steps.or_else(|| c.as_ref().and_then(c_program::steps));
        let wish = Wish { size: wish.size.or(own.as_deref()), steps, ..*wish };
        let mut stencil = stencil;
        if let Some(c) = c.as_ref().filter(|_| target == Target::OpenMp) {
            // Of tests no more is wanted than in which steps they hold.
            stencil.witnesses = c_program::seen(c);
        }
        let chosen = choice::choose(&stencil, tiling, target, &wish, session)?;
        let name = stencil.program.name.clone();
        let witnesses = mem::take(&mut stencil.witnesses);
        let stencil = renamed(stencil, arguments);
        let mut planned = tilewright::plan(&stencil, &chosen.tiling, target, session)?;
        planned.plan = planned.plan.with_witnesses(&witnesses);
        let c = c.map(|c| c_program::renamed(c, &stencil.program));
        Ok(Tiled { name, chosen, planned, c })
    }

    /// A time loop of a C program other than the first one. Tile sizes and grids that were given fit loops of as many
    /// dimensions as the `first` one has.
    ///
    /// # Errors
    /// As `new`.
    // Without the front end for C there is no value of its type.
    #[cfg_attr(not(feature = "c"), allow(unreachable_code, unused_variables))]
    pub fn other(
        c: CProgram,
        first: usize,
        arguments: &CompileArguments,
        wish: &Wish<'_>,
        session: &Session,
    ) -> Result<Self> {
        let stencil = Stencil::of(Arc::clone(c_program::program(&c)));
        let fits = stencil.program.dimension() == first;
        let wish = Wish { size: wish.size.filter(|_| fits), ..*wish };
        let Tiling { strategy, tile } = arguments.plan.tiling();
        let tiling = Tiling { strategy, tile: tile.filter(|_| fits) };
        Self::new(stencil, Some(c), &tiling, arguments, &wish, session)
    }

    /// What is said about a time loop other than the first one.
    pub fn report(&self, facts: Facts, arguments: &CompileArguments) -> OtherLoop {
        let target = arguments.target.target();
        OtherLoop {
            place: self.c.as_ref().map(place_text).unwrap_or_default(),
            arrays: self.c.as_ref().map(|c| c_program::array_uses(c, target)).unwrap_or_default(),
            chosen_by: self.chosen.by.clone(),
            proof: self.planned.proof.clone(),
            facts: self.facts(facts, arguments),
        }
    }

    /// The facts under the program's own name, with the prefix beside it.
    pub fn facts(&self, facts: Facts, arguments: &CompileArguments) -> Facts {
        Facts { stencil: self.name.clone(), prefix: arguments.prefix.clone(), ..facts }
    }
}

/// The program with the prefix that was asked for: the prefix, an underscore, and its own name.
pub fn renamed(stencil: Stencil, arguments: &CompileArguments) -> Stencil {
    match &arguments.prefix {
        Some(prefix) => {
            let name = format!("{}_{}", prefix.trim_end_matches('_'), stencil.program.name);
            stencil.renamed(name)
        }
        None => stencil,
    }
}
