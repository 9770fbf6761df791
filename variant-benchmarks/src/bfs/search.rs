//! The searches. A frontier is a list of vertices that were just reached, or of the ends of their edges.

use super::Graph;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

/// The level of a vertex that was not reached.
pub const UNREACHED: u32 = u32::MAX;
/// Entries of a frontier that are not worth another thread.
const ALONE: usize = 1024;

/// How many edges the way from the source to each vertex has at least.
#[derive(Debug)]
pub struct Levels(Vec<AtomicU32>);

impl Levels {
    /// No vertex reached.
    pub fn new(vertices: usize) -> Levels {
        Levels((0..vertices).map(|_| AtomicU32::new(UNREACHED)).collect())
    }

    /// Forgets what was reached.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|level| *level.get_mut() = UNREACHED);
    }

    /// The level of a vertex.
    pub fn get(&self, vertex: u32) -> u32 {
        self.0[vertex as usize].load(Ordering::Relaxed)
    }

    /// Reaches a vertex that no other thread reaches meanwhile.
    fn set(&self, vertex: u32, level: u32) {
        self.0[vertex as usize].store(level, Ordering::Relaxed);
    }

    /// Reaches a vertex; false where another one had it. Where threads are several, one of them gets it.
    fn claim<const SEVERAL: bool>(&self, vertex: u32, level: u32) -> bool {
        let own = &self.0[vertex as usize];
        // Most are reached already: looking is cheaper than swapping.
        if own.load(Ordering::Relaxed) != UNREACHED {
            return false;
        }
        if SEVERAL {
            return own.compare_exchange(UNREACHED, level, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        }
        own.store(level, Ordering::Relaxed);
        true
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

fn expand_contract<const SEVERAL: bool>(
    graph: &Graph,
    levels: &Levels,
    own: &[u32],
    level: u32,
    next: &mut Vec<u32>,
) {
    for &vertex in own {
        let ends = graph.neighbours(vertex).iter();
        next.extend(ends.filter(|end| levels.claim::<SEVERAL>(**end, level)));
    }
}

fn contract_expand<const SEVERAL: bool>(
    graph: &Graph,
    levels: &Levels,
    own: &[u32],
    level: u32,
    next: &mut Vec<u32>,
) {
    for &vertex in own.iter().filter(|end| levels.claim::<SEVERAL>(**end, level)) {
        next.extend(graph.neighbours(vertex));
    }
}

fn expand(graph: &Graph, _: &Levels, own: &[u32], _: u32, next: &mut Vec<u32>) {
    own.iter().for_each(|&vertex| next.extend(graph.neighbours(vertex)));
}

fn contract<const SEVERAL: bool>(_: &Graph, levels: &Levels, own: &[u32], level: u32, next: &mut Vec<u32>) {
    next.extend(own.iter().filter(|end| levels.claim::<SEVERAL>(**end, level)));
}

impl Way {
    /// What makes the next frontier, by one thread or by several.
    fn steps<const SEVERAL: bool>(self) -> &'static [Step] {
        match self {
            Way::ExpandContract => &[expand_contract::<SEVERAL>],
            Way::ContractExpand => &[contract_expand::<SEVERAL>],
            Way::TwoPhase => &[expand, contract::<SEVERAL>],
        }
    }

    /// Reaches the source where frontiers are of vertices; the level of the first step.
    fn begin(self, levels: &Levels, source: u32) -> u32 {
        match self {
            Way::ContractExpand => 0,
            Way::ExpandContract | Way::TwoPhase => {
                levels.set(source, 0);
                1
            }
        }
    }
}

/// One thread and a queue: what the levels mean.
pub fn serial(graph: &Graph, source: u32, levels: &Levels) {
    levels.set(source, 0);
    let mut queue = vec![source];
    let mut at = 0;
    while at < queue.len() {
        let vertex = queue[at];
        let level = levels.get(vertex) + 1;
        queue.extend(graph.neighbours(vertex).iter().filter(|end| levels.claim::<false>(**end, level)));
        at += 1;
    }
}

/// A frontier, and the room that the next one is made in.
struct Frontier {
    own: Vec<u32>,
    next: Vec<u32>,
}

impl Frontier {
    fn of(source: u32) -> Frontier {
        Frontier { own: vec![source], next: Vec::new() }
    }

    /// The next one, by this thread.
    fn alone(&mut self, graph: &Graph, levels: &Levels, level: u32, step: Step) {
        self.next.clear();
        step(graph, levels, &self.own, level, &mut self.next);
        std::mem::swap(&mut self.own, &mut self.next);
    }

    /// The next one, by a parallel call.
    fn called(&mut self, graph: &Graph, levels: &Levels, level: u32, step: Step) {
        let each = self.own.len().div_ceil(4 * rayon::current_num_threads()).max(ALONE / 4);
        let one = |own: &[u32]| {
            let mut next = Vec::new();
            step(graph, levels, own, level, &mut next);
            next
        };
        let parts: Vec<Vec<u32>> = self.own.par_chunks(each).map(one).collect();
        self.own.clear();
        parts.iter().for_each(|part| self.own.extend(part));
    }
}

/// A parallel call for each step that is worth it.
pub fn iterative(graph: &Graph, way: Way, source: u32, levels: &Levels) {
    let mut frontier = Frontier::of(source);
    let mut level = way.begin(levels, source);
    while !frontier.own.is_empty() {
        for (one, several) in way.steps::<false>().iter().zip(way.steps::<true>()) {
            match frontier.own.len() <= ALONE {
                true => frontier.alone(graph, levels, level, *one),
                false => frontier.called(graph, levels, level, *several),
            }
        }
        level += 1;
    }
}

/// Entries of a frontier for which threads are started, and from which on they are not needed any more.
const MANY: usize = 32 * ALONE;
const FEW: usize = 4 * ALONE;

/// Threads that walk through steps, with a barrier after each; small frontiers at the beginning and at the end are for one.
pub fn fused(graph: &Graph, way: Way, source: u32, levels: &Levels) {
    let mut frontier = Frontier::of(source);
    let mut level = way.begin(levels, source);
    while !frontier.own.is_empty() {
        if frontier.own.len() >= MANY && rayon::current_num_threads() > 1 {
            (frontier.own, level) = together(graph, way, frontier.own, level, levels);
            continue;
        }
        way.steps::<false>().iter().for_each(|step| frontier.alone(graph, levels, level, *step));
        level += 1;
    }
}

/// Where threads wait for each other.
struct Meeting {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

impl Meeting {
    /// So many looks are cheaper than giving the processor away.
    const LOOKS: usize = 2000;

    /// Waits until all threads are here. What they wrote before, all see behind it.
    fn wait(&self) {
        let round = self.round.load(Ordering::Relaxed);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round + 1, Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.round.load(Ordering::Acquire) == round {
            looks += 1;
            match looks < Meeting::LOOKS {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
        }
    }
}

/// Walks with all threads until the frontier has few entries; that one, and the next level.
fn together(graph: &Graph, way: Way, frontier: Vec<u32>, level: u32, levels: &Levels) -> (Vec<u32>, u32) {
    let threads = rayon::current_num_threads();
    // Each thread writes a list of its own; all read those that were written in the step before.
    let lists: [Vec<RwLock<Vec<u32>>>; 2] =
        std::array::from_fn(|_| (0..threads).map(|_| RwLock::new(Vec::new())).collect());
    *lists[0][0].write().unwrap_or_else(PoisonError::into_inner) = frontier;
    let meeting = Meeting { threads, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) };
    let (lists, meeting) = (&lists, &meeting);
    let walk = move |thread: usize| {
        let (mut level, mut side) = (level, 0);
        loop {
            for (at, step) in way.steps::<true>().iter().enumerate() {
                let read: Vec<_> = lists[side]
                    .iter()
                    .map(|own| own.read().unwrap_or_else(PoisonError::into_inner))
                    .collect();
                let total: usize = read.iter().map(|own| own.len()).sum();
                if at == 0 && total < FEW {
                    let all = if thread == 0 {
                        read.iter().flat_map(|own| own.iter().copied()).collect()
                    } else {
                        Vec::new()
                    };
                    return (all, level);
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
                meeting.wait();
                side = 1 - side;
            }
            level += 1;
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|thread| drop(scope.spawn(move || walk(thread))));
        walk(0)
    })
}

/// A set of vertices: a bit for each.
type Bits = Vec<u64>;

fn has(bits: &[u64], vertex: u32) -> bool {
    bits[vertex as usize / 64] >> (vertex % 64) & 1 == 1
}

/// The vertices of a word of a set.
fn members(word: usize, mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            word as u32 * 64 + bit
        })
    })
}

/// From a frontier to its neighbours, and, where it is large, from all others to the frontier.
pub fn direction_optimising(graph: &Graph, incoming: &Graph, source: u32, levels: &Levels) {
    // Beamer's alpha and beta.
    const EDGES: usize = 14;
    const VERTICES: usize = 24;
    let vertices = graph.vertices();
    levels.set(source, 0);
    let (mut frontier, mut level, mut unexplored) = (Frontier::of(source), 1, graph.edges());
    while !frontier.own.is_empty() {
        let degree = |vertex: &u32| graph.degree(*vertex);
        let edges: usize = frontier.own.iter().map(degree).sum();
        unexplored = unexplored.saturating_sub(edges);
        // Neither where there are few edges from here, nor where it would be left at once.
        if EDGES * edges <= unexplored || frontier.own.len() * VERTICES <= vertices {
            match frontier.own.len() <= ALONE {
                true => frontier.alone(graph, levels, level, expand_contract::<false>),
                false => frontier.called(graph, levels, level, expand_contract::<true>),
            }
            level += 1;
            continue;
        }
        let mut front = vec![0; vertices.div_ceil(64)];
        frontier.own.iter().for_each(|&vertex| front[vertex as usize / 64] |= 1 << (vertex % 64));
        let (mut open, mut next) = (unreached(levels, vertices), front.clone());
        let mut before = frontier.own.len();
        loop {
            let reached = turned_step(incoming, levels, &front, &mut open, &mut next, level);
            std::mem::swap(&mut front, &mut next);
            level += 1;
            if reached < before && reached * VERTICES <= vertices {
                break;
            }
            before = reached;
        }
        frontier.own.clear();
        frontier.own.extend(front.iter().enumerate().flat_map(|(word, bits)| members(word, *bits)));
    }
}

/// The vertices that were not reached.
fn unreached(levels: &Levels, vertices: usize) -> Bits {
    let bit = |vertex: usize| u64::from(levels.get(vertex as u32) == UNREACHED) << (vertex % 64);
    let word =
        |word: usize| (64 * word..(64 * word + 64).min(vertices)).map(bit).fold(0, |sum, bit| sum | bit);
    (0..vertices.div_ceil(64)).into_par_iter().with_min_len(ALONE / 64).map(word).collect()
}

/// Reaches what has a neighbour in front; how many that are.
fn turned_step(
    incoming: &Graph,
    levels: &Levels,
    front: &[u64],
    open: &mut [u64],
    next: &mut [u64],
    level: u32,
) -> usize {
    let one = |(word, (open, next)): (usize, (&mut u64, &mut u64))| {
        let mut found = 0;
        for vertex in members(word, *open) {
            if incoming.neighbours(vertex).iter().any(|&other| has(front, other)) {
                levels.set(vertex, level);
                found |= 1 << (vertex % 64);
            }
        }
        (*open, *next) = (*open & !found, found);
        found.count_ones() as usize
    };
    open.par_iter_mut().zip(next).enumerate().with_min_len(ALONE / 64).map(one).sum()
}
