//! Stage 3: the loops. One pass over the region in the order of execution collects the assignments of arrays with the
//! loops around them; scalars are followed from assignment to use, and every value becomes a typed expression in
//! which each operation and each conversion is that of C.

mod around;
mod bounds;
mod branches;
mod by_time;
mod chosen;
mod classify;
mod colours;
mod common;
mod condition;
mod counter;
mod cuts;
mod depends;
mod element;
mod exchange;
mod guards;
mod hidden;
mod idle;
mod int_type;
mod integer;
mod kind;
mod levels;
mod loops;
mod math;
mod memory;
mod numbers;
mod observed;
mod outside;
mod own_value;
mod parities;
mod pieces;
mod read_log;
mod refusal;
mod same_names;
mod scalars;
mod small;
mod space_loops;
mod statement;
mod targets;
mod time;
mod typed;
mod value;
mod walker;
mod whole;
mod whole_row;

pub(crate) use colours::{first_of_pass, pass_among};
pub(crate) use counter::{counted, counted_by};
pub(crate) use element::AROUND;
pub(crate) use hidden::unhidden;
pub(crate) use levels::shows_levels;
pub use loops::{
    Chosen, Counter, Element, Leaf, Left, Narrowed, Nest, Order, Read, ReadOf, Scalar, Series, SpaceLoop,
    Temporary, TimeLoop, Touched, Turns,
};
pub(crate) use math::{END, ENDS, is_pure as is_known_function, is_pure_value};
pub(crate) use observed::STEP;
pub use observed::{Ahead, Control, Observed, Test, WaveArray, WaveLoop, Waves};
pub use parities::{Colours, parities};
pub use refusal::Result;
pub(crate) use scalars::{assigned, declared};
pub(crate) use targets::indexes_target;

use crate::ast::{self, Stmt};
use crate::codes;
use crate::parse::Region;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use refusal::error;
use scalars::Environment;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use walker::Walker;

/// The loops of a region.
///
/// # Errors
/// The first thing in it that is no iterated stencil.
pub fn nest(region: &Region) -> Result<Nest> {
    // Whether statements could be told apart.
    let mut in_order = false;
    let mut plain = || {
        let found = time::find(region)?;
        let split = observed::split(region, &found)?;
        in_order = true;
        nest_of(region, found, split).map_err(|reason| {
            behind_values(region, reason, &|region| {
                let found = time::find(region)?;
                let split = observed::split(region, &found)?;
                nest_of(region, found, split)
            })
        })
    };
    // Loops over colours, whose passes something of the step adds up.
    let unrolled = || {
        let found = time::find(region).ok()?;
        let split = observed::split_unrolled(region, &found)?;
        nest_of(region, found, Some(split)).ok()
    };
    let nest = plain().or_else(|reason| unrolled().ok_or(reason));
    // Loops under conditions are for steps in which these hold, where nothing else can be made of them.
    let branches = |less: bool| {
        let found = time::find(region).ok()?;
        let split = observed::split_branches(region, &found, less)?;
        nest_of(region, found, Some(split)).ok()
    };
    nest.or_else(|reason| match in_order || reason.code == codes::OBSERVED {
        true => [false, true].into_iter().find_map(branches).ok_or(reason),
        false => Err(reason),
    })
}

/// The loops over space of one step of a time loop: what else the step does is not looked at.
#[derive(Debug, Clone, Copy)]
pub struct OneStep<'a> {
    /// The time loop.
    pub region: &'a Region,
    /// Whether no loop stands around it: then it may be the one over the levels of an array that keeps them all.
    pub outermost: bool,
}

impl OneStep<'_> {
    fn found(&self) -> Option<time::Found<'_>> {
        time::find_alone(self.region, self.outermost).ok()
    }

    /// The loops without the statements at some places. `None` if there are none.
    ///
    /// # Errors
    /// The first thing in them that is no iterated stencil.
    pub fn nest(&self, without: &[Span]) -> Option<Result<Nest>> {
        let found = self.found()?;
        let split = observed::split_alone(self.region, &found, without)?;
        let nest = nest_of(self.region, found, Some(split));
        Some(nest.map_err(|reason| {
            behind_values(self.region, reason, &|region| {
                let found = time::find_alone(region, self.outermost)?;
                let split = observed::split_alone(region, &found, without);
                nest_of(region, found, split)
            })
        }))
    }

    /// The place of the statement of the time loop's body that a place lies in, but for some that are known.
    #[must_use]
    pub fn statement_around(&self, inner: &Span, without: &[Span]) -> Option<Span> {
        observed::statement_around(self.region, &self.found()?, inner, without)
    }

    /// The place of the first copy among the loops over space, without the statements at some places.
    #[must_use]
    pub fn copy_among(&self, without: &[Span]) -> Option<Span> {
        observed::copy_among(self.region, &self.found()?, without)
    }

    /// What keeps the loops over space from being tiled alone, where there are none that can be.
    #[must_use]
    pub fn in_the_way(&self) -> Option<Diagnostic> {
        observed::in_the_way(self.region, &self.found()?)
    }

    /// Whether every step writes the points of so many dimensions somewhere. `body_of`: the statements of own functions.
    #[must_use]
    pub fn writes_points(&self, dimension: usize, body_of: &dyn Fn(&str) -> Option<Vec<Stmt>>) -> bool {
        self.found().is_some_and(|found| observed::writes_points(self.region, &found, dimension, body_of))
    }

    /// The places of the statements of the time loop's body that assign single elements.
    #[must_use]
    pub fn points_between(&self) -> Vec<Span> {
        self.found().map_or_else(Vec::new, |found| observed::points_between(self.region, &found))
    }
}

/// What stands in the way of a region besides a scalar whose last value somebody may read, if anything does: to declare that
/// elsewhere would not help then.
fn behind_values(
    region: &Region,
    reason: Box<Diagnostic>,
    again: &dyn Fn(&Region) -> Result<Nest>,
) -> Box<Diagnostic> {
    if reason.code != codes::LIVE_OUT {
        return reason;
    }
    let mut nothing_is_read = region.clone();
    nothing_is_read.used_behind.clear();
    match again(&nothing_is_read) {
        Err(other) if other.code != codes::LIVE_OUT => {
            Box::new(other.note(format!("besides, {}", reason.message)))
        }
        _ => reason,
    }
}

fn nest_of(region: &Region, found: time::Found<'_>, split: Option<observed::Split>) -> Result<Nest> {
    let reached = memory::reached(region, &found);
    let (region, body) = match &split {
        Some(split) => (&split.region, &split.body),
        None => (region, found.body),
    };
    let (time, observed) = match &split {
        Some(split) => (split.time_loop(&found), Some(split.observed.clone())),
        None => (time::time_loop(region, found)?, None),
    };
    let moved = idle::behind_loops(body);
    let (body, filled) = match &moved {
        Some((body, filled)) => (body, filled.as_slice()),
        None => (body, &[][..]),
    };
    let exchanged = exchange::find(region, body)?;
    let (region, body, turns, exchange, counters) = match &exchanged {
        Some(found) => {
            (&found.region, &found.body, found.turns.clone(), found.span.clone(), found.counters.clone())
        }
        None => (region, body, Vec::new(), None, Vec::new()),
    };
    let tests = observed.as_ref().map_or(&[][..], |own| &own.tests);
    let chosen = exchanged.as_ref().map(|found| found.chosen.clone()).unwrap_or_default();
    let coloured = colours::find(region, body, tests);
    if coloured.is_none() {
        colours::check_tested(body, tests)?;
    }
    let body = coloured.as_ref().map_or(body, |(body, _)| body);
    let moves = exchanged.as_ref().map(|found| found.moves.clone()).unwrap_or_default();
    let nest = Nest {
        time,
        observed,
        level: split.as_ref().and_then(|split| split.level.clone()),
        loops: Vec::new(),
        leaves: Vec::new(),
        reads: Vec::new(),
        temporaries: Vec::new(),
        scalars: Vec::new(),
        series: Vec::new(),
        left: Vec::new(),
        colours: coloured.as_ref().map(|(_, colours)| colours.clone()),
        turns,
        exchange,
        moves,
        counters,
        chosen,
        assumed: Vec::new(),
        memory: region.members.iter().map(|member| format!("&{member}")).collect(),
        reached,
        pointers: Vec::new(),
        ends: Vec::new(),
        extents: HashMap::new(),
        blocks: HashSet::new(),
        blocks_of_buffers: HashSet::new(),
        integers: HashMap::new(),
        small: None,
        handed: region.handed.clone(),
        in_values: None,
    };
    let Some(values) = chosen::as_values(region, body) else { return walked(region, body, filled, nest) };
    let in_values = walked(region, &values, filled, nest.clone()).ok();
    match (walked(region, body, filled, nest), in_values) {
        (Ok(nest), in_values) => Ok(Nest { in_values: in_values.map(Box::new), ..nest }),
        (Err(reason), in_values) => in_values.ok_or(reason),
    }
}

/// The loops of a body, added to what is known of them; with small integers, where that is likely to do.
fn walked(region: &Region, body: &Stmt, filled: &[ast::ForLoop], nest: Nest) -> Result<Nest> {
    if region.processor && small::is_likely(region, body, nest.observed.as_ref()) {
        let with_small = |bound| {
            let small = Nest { small: Some(bound), ..nest.clone() };
            walked_once(region, body, filled, small).ok().filter(small::is_single)
        };
        if let Some(nest) = small::BOUNDS.into_iter().find_map(with_small) {
            return Ok(nest);
        }
    }
    walked_once(region, body, filled, nest)
}

fn walked_once(region: &Region, body: &Stmt, filled: &[ast::ForLoop], nest: Nest) -> Result<Nest> {
    let (states, assigned) = scalars::assigned(body);
    let mut walker = Walker {
        region,
        states,
        assigned,
        nest,
        path: Vec::new(),
        environment: Environment::default(),
        initial_values: HashMap::new(),
        narrowed: Vec::new(),
        operations: 0,
        segments: Vec::new(),
        cuts: RefCell::default(),
        keys: Vec::new(),
        assumed: RefCell::default(),
        order: Order::new(),
        conditions: Vec::new(),
        certain: HashSet::new(),
        read: read_log::ReadLog::default(),
    };
    walker.find_initial_values();
    walker.check_time_bounds()?;
    walker.find_extents();
    filled.iter().try_for_each(|source| walker.has_rounds(source))?;
    walker.statement(body)?;
    walker.find_memory(body);
    let mut nest = walker.nest;
    nest.assumed.extend(walker.assumed.into_inner());
    pieces::join(&mut nest)?;
    if nest.leaves.is_empty() {
        return error(codes::NOTHING_COMPUTED, &nest.time.head, "the time loop computes no array");
    }
    Ok(nest)
}
