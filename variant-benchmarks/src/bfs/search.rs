//! The searches. A frontier is a list of vertices that were just reached, or of the ends of their edges.

use super::Graph;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Barrier, PoisonError, RwLock};

/// The level of a vertex that was not reached.
pub const UNREACHED: u32 = u32::MAX;
/// Entries of a frontier that are not worth another thread.
const ALONE: usize = 256;

/// How many edges the way from the source to each vertex has at least.
#[derive(Debug)]
pub struct Levels(Vec<AtomicU32>);

impl Levels {
    /// No vertex reached.
    pub fn new(vertices: usize) -> Levels {
        Levels((0..vertices).map(|_| AtomicU32::new(UNREACHED)).collect())
    }

    /// Forgets what was reached.
    pub fn clear(&self) {
        self.0.iter().for_each(|level| level.store(UNREACHED, Ordering::Relaxed));
    }

    /// The level of a vertex.
    pub fn get(&self, vertex: u32) -> u32 {
        self.0[vertex as usize].load(Ordering::Relaxed)
    }

    /// Reaches a vertex; false where another one had it.
    fn claim(&self, vertex: u32, level: u32) -> bool {
        let own = &self.0[vertex as usize];
        // Most are reached already: looking is cheaper than swapping.
        own.load(Ordering::Relaxed) == UNREACHED
            && own.compare_exchange(UNREACHED, level, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// A number that other levels hardly have.
    pub fn fingerprint(&self) -> u64 {
        let one = |(at, level): (usize, &AtomicU32)| {
            let own = (at as u64) << 32 | u64::from(level.load(Ordering::Relaxed));
            let own = (own ^ own >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (own ^ own >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        self.0.iter().enumerate().map(one).fold(0, u64::wrapping_add)
    }
}

/// How the next frontier is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From vertices: ends of their edges that nobody had reached.
    ExpandContract,
    /// From ends of edges: the edges of those that nobody had reached.
    ContractExpand,
    /// From vertices all ends of edges, and from these those that nobody had reached.
    TwoPhase,
}

/// A step: from a part of a frontier to a part of the next one.
type Step = fn(&Graph, &Levels, &[u32], u32, &mut Vec<u32>);

fn expand_contract(graph: &Graph, levels: &Levels, own: &[u32], level: u32, next: &mut Vec<u32>) {
    for &vertex in own {
        next.extend(graph.neighbours(vertex).iter().filter(|end| levels.claim(**end, level)));
    }
}

fn contract_expand(graph: &Graph, levels: &Levels, own: &[u32], level: u32, next: &mut Vec<u32>) {
    for &vertex in own.iter().filter(|end| levels.claim(**end, level)) {
        next.extend(graph.neighbours(vertex));
    }
}

fn expand(graph: &Graph, _: &Levels, own: &[u32], _: u32, next: &mut Vec<u32>) {
    own.iter().for_each(|&vertex| next.extend(graph.neighbours(vertex)));
}

fn contract(_: &Graph, levels: &Levels, own: &[u32], level: u32, next: &mut Vec<u32>) {
    next.extend(own.iter().filter(|end| levels.claim(**end, level)));
}

impl Way {
    fn steps(self) -> &'static [Step] {
        match self {
            Way::ExpandContract => &[expand_contract],
            Way::ContractExpand => &[contract_expand],
            Way::TwoPhase => &[expand, contract],
        }
    }

    /// Reaches the source where frontiers are of vertices; the level of the first step.
    fn begin(self, levels: &Levels, source: u32) -> u32 {
        match self {
            Way::ContractExpand => 0,
            Way::ExpandContract | Way::TwoPhase => {
                levels.claim(source, 0);
                1
            }
        }
    }
}

/// One thread and a queue: what the levels mean.
pub fn serial(graph: &Graph, source: u32, levels: &Levels) {
    levels.claim(source, 0);
    let mut queue = vec![source];
    let mut at = 0;
    while at < queue.len() {
        let vertex = queue[at];
        let level = levels.get(vertex) + 1;
        queue.extend(graph.neighbours(vertex).iter().filter(|end| levels.claim(**end, level)));
        at += 1;
    }
}

/// A parallel call for each step.
pub fn iterative(graph: &Graph, way: Way, source: u32, levels: &Levels) {
    let mut frontier = vec![source];
    let mut level = way.begin(levels, source);
    while !frontier.is_empty() {
        for step in way.steps() {
            frontier = stepped(graph, levels, &frontier, level, *step);
        }
        level += 1;
    }
}

fn stepped(graph: &Graph, levels: &Levels, frontier: &[u32], level: u32, step: Step) -> Vec<u32> {
    let each = frontier.len().div_ceil(4 * rayon::current_num_threads()).max(ALONE);
    let parts: Vec<Vec<u32>> = frontier
        .par_chunks(each)
        .map(|own| {
            let mut next = Vec::new();
            step(graph, levels, own, level, &mut next);
            next
        })
        .collect();
    parts.concat()
}

/// Threads that walk through all steps, with a barrier after each.
pub fn fused(graph: &Graph, way: Way, source: u32, levels: &Levels) {
    let threads = rayon::current_num_threads();
    let first = way.begin(levels, source);
    // Each thread writes a list of its own; all read those that were written in the step before.
    let lists: [Vec<RwLock<Vec<u32>>>; 2] =
        std::array::from_fn(|_| (0..threads).map(|_| RwLock::new(Vec::new())).collect());
    *lists[0][0].write().unwrap_or_else(PoisonError::into_inner) = vec![source];
    let barrier = Barrier::new(threads);
    let walk = |thread: usize| {
        let (mut level, mut side) = (first, 0);
        loop {
            for step in way.steps() {
                let read: Vec<_> = lists[side]
                    .iter()
                    .map(|own| own.read().unwrap_or_else(PoisonError::into_inner))
                    .collect();
                let total: usize = read.iter().map(|own| own.len()).sum();
                if total == 0 {
                    return;
                }
                let mut next = lists[1 - side][thread].write().unwrap_or_else(PoisonError::into_inner);
                next.clear();
                let (from, to) = (total * thread / threads, total * (thread + 1) / threads);
                let mut before = 0;
                for own in &read {
                    let place = |bound: usize| bound.clamp(before, before + own.len()) - before;
                    step(graph, levels, &own[place(from)..place(to)], level, &mut next);
                    before += own.len();
                }
                drop((next, read));
                barrier.wait();
                side = 1 - side;
            }
            level += 1;
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|thread| drop(scope.spawn(move || walk(thread))));
        walk(0);
    });
}

/// From a frontier to its neighbours, and, where it is large, from all others to the frontier.
pub fn direction_optimising(graph: &Graph, incoming: &Graph, source: u32, levels: &Levels) {
    // Beamer's alpha and beta.
    const EDGES: usize = 14;
    const VERTICES: usize = 24;
    let vertices = graph.vertices();
    levels.claim(source, 0);
    let (mut frontier, mut level, mut unexplored) = (vec![source], 1, graph.edges());
    while !frontier.is_empty() {
        let edges: usize = frontier.iter().map(|&vertex| graph.degree(vertex)).sum();
        unexplored = unexplored.saturating_sub(edges);
        if EDGES * edges <= unexplored {
            frontier = stepped(graph, levels, &frontier, level, expand_contract);
            level += 1;
            continue;
        }
        loop {
            let reached = AtomicUsize::new(0);
            let from = |vertices: std::ops::Range<usize>| {
                let new = vertices.filter(|&vertex| {
                    let vertex = vertex as u32;
                    levels.get(vertex) == UNREACHED
                        && incoming.neighbours(vertex).iter().any(|&other| levels.get(other) == level - 1)
                        && levels.claim(vertex, level)
                });
                reached.fetch_add(new.count(), Ordering::Relaxed);
            };
            let each = vertices.div_ceil(4 * rayon::current_num_threads()).max(ALONE);
            (0..vertices.div_ceil(each))
                .into_par_iter()
                .for_each(|part| from(part * each..((part + 1) * each).min(vertices)));
            level += 1;
            if reached.into_inner() * VERTICES <= vertices {
                break;
            }
        }
        let last = level - 1;
        frontier =
            (0..vertices as u32).into_par_iter().filter(|&vertex| levels.get(vertex) == last).collect();
    }
}
