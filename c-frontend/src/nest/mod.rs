//! Stage 3: the loops. One pass over the region in the order of execution collects the assignments of arrays with the
//! loops around them; scalars are followed from assignment to use, and every value becomes a typed expression in
//! which each operation and each conversion is that of C.

mod around;
mod classify;
mod condition;
mod cuts;
mod depends;
mod element;
mod exchange;
mod guards;
mod int_type;
mod integer;
mod kind;
mod loops;
mod math;
mod memory;
mod observed;
mod outside;
mod pieces;
mod refusal;
mod scalars;
mod statement;
mod time;
mod typed;
mod value;
mod walker;
mod whole;

pub(crate) use element::AROUND;
pub use loops::{
    Element, Leaf, Narrowed, Nest, Order, Read, ReadOf, Scalar, Series, SpaceLoop, Temporary, TimeLoop,
    Touched, Turns,
};
pub(crate) use math::is_pure as is_known_function;
pub use observed::{Control, Observed, Test};
pub use refusal::Result;
pub(crate) use scalars::assigned;
pub(crate) use time::{indexes_target, keeps_levels};

use crate::codes;
use crate::parse::Region;
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
    let found = time::find(region)?;
    let split = observed::split(region, &found)?;
    let (region, body) = match &split {
        Some(split) => (&split.region, &split.body),
        None => (region, found.body),
    };
    let (time, observed) = match &split {
        Some(split) => (split.time_loop(&found), Some(split.observed.clone())),
        None => (time::time_loop(region, found)?, None),
    };
    let exchanged = exchange::find(region, body)?;
    let (region, body, turns, exchange, counters) = match &exchanged {
        Some(found) => {
            (&found.region, &found.body, found.turns.clone(), found.span.clone(), found.counters.clone())
        }
        None => (region, body, Vec::new(), None, Vec::new()),
    };
    let moves = exchanged.as_ref().map(|found| found.moves.clone()).unwrap_or_default();
    let (states, assigned) = scalars::assigned(body);
    let nest = Nest {
        time,
        observed,
        loops: Vec::new(),
        leaves: Vec::new(),
        reads: Vec::new(),
        temporaries: Vec::new(),
        scalars: Vec::new(),
        series: Vec::new(),
        unrolled: Vec::new(),
        turns,
        exchange,
        moves,
        counters,
        assumed: Vec::new(),
        memory: region.members.iter().map(|member| format!("&{member}")).collect(),
        pointers: Vec::new(),
        extents: HashMap::new(),
        blocks: HashSet::new(),
        blocks_of_buffers: HashSet::new(),
        integers: HashMap::new(),
    };
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
    };
    walker.find_initial_values();
    walker.check_time_bounds()?;
    walker.find_extents();
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
