//! Breadth-first search: three ways to make the next frontier, each with one parallel call per step or all in one, and the search
//! that changes its direction.
//!
//! D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012; S. Beamer, K. Asanovic, D. Patterson,
//! "Direction-optimizing breadth-first search", SC 2012.

pub mod generate;
mod graph;
mod search;

pub use graph::Graph;
pub use search::{Levels, UNREACHED, Way, direction_optimising, fused, iterative, serial};

use crate::benchmark::{Benchmark, Input, Inputs, Ran, Spent, in_turn, timed};
use crate::random::{Random, size};
use adaptive::{Builder, Context};
use generate::Kind;
use rand::Rng;
use std::sync::Arc;

/// Vertices from which a graph is searched.
const SOURCES: usize = 100;

/// A graph to be searched from several vertices.
pub struct Searching {
    graph: Arc<Graph>,
    /// The same with all edges turned.
    incoming: Arc<Graph>,
    sources: Arc<Vec<u32>>,
    /// Of the levels from each source.
    reference: Arc<Vec<u64>>,
    /// The same as found; empty before a search.
    pub found: Vec<u64>,
}

impl Searching {
    /// A graph and vertices of it.
    ///
    /// # Errors
    /// A source that is no vertex.
    pub fn new(graph: Graph, sources: Vec<u32>) -> Result<Searching, String> {
        match sources.iter().find(|source| **source as usize >= graph.vertices()) {
            Some(source) => Err(format!("{source} is none of {} vertices", graph.vertices())),
            None => Ok(Searching::of(graph, sources)),
        }
    }

    fn of(graph: Graph, sources: Vec<u32>) -> Searching {
        let mut levels = Levels::new(graph.vertices());
        let reference = sources.iter().map(|&source| {
            levels.clear();
            serial(&graph, source, &levels);
            levels.fingerprint()
        });
        Searching {
            reference: Arc::new(reference.collect()),
            incoming: Arc::new(graph.turned()),
            graph: Arc::new(graph),
            sources: Arc::new(sources),
            found: Vec::new(),
        }
    }

    /// The same searches, not yet done.
    pub fn again(&self) -> Searching {
        Searching {
            graph: Arc::clone(&self.graph),
            incoming: Arc::clone(&self.incoming),
            sources: Arc::clone(&self.sources),
            reference: Arc::clone(&self.reference),
            found: Vec::new(),
        }
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Vertices from which it is searched.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// Searches from all sources; what looks at the levels afterwards does not count.
    fn each(&mut self, search: impl Fn(&Searching, u32, &Levels)) -> Ran {
        let mut levels = Levels::new(self.graph.vertices());
        let (mut found, mut each) = (Vec::new(), 0.0);
        for &source in &*self.sources {
            each += timed(|| {
                levels.clear();
                search(self, source, &levels);
            })
            .1;
            found.push(levels.fingerprint());
        }
        self.found = found;
        Ok(Spent { once: 0.0, each })
    }
}

/// The benchmark. A call searches from all sources of an input.
pub struct Bfs;

impl Benchmark for Bfs {
    type Argument = Searching;
    const NAME: &'static str = "bfs";
    const UNSEEN: &'static str = "small world";
    const COUNTS: [usize; 2] = [200, 138];
    const LARGEST: usize = 4_000_000;
    const CALLS: f64 = 1.0;

    fn function() -> Builder<Searching, Ran> {
        let mut builder = Builder::new(&Context::default(), Self::NAME).variant(
            "direction-optimising",
            |own: &mut Searching| {
                own.each(|own, source, levels| {
                    direction_optimising(&own.graph, &own.incoming, source, levels)
                })
            },
        );
        for (name, way) in
            [("ec", Way::ExpandContract), ("ce", Way::ContractExpand), ("2-phase", Way::TwoPhase)]
        {
            builder = builder
                .variant(&format!("{name}-fused"), move |own: &mut Searching| {
                    own.each(|own, source, levels| fused(&own.graph, way, source, levels))
                })
                .variant(&format!("{name}-iterative"), move |own: &mut Searching| {
                    own.each(|own, source, levels| iterative(&own.graph, way, source, levels))
                });
        }
        builder
            .feature("log_vertices", |own| (own.graph.vertices() as f64 + 1.0).ln())
            .feature("log_edges", |own| (own.graph.edges() as f64 + 1.0).ln())
            .feature("avg_out_degree", |own| own.graph.average_degree())
            .feature("degree_sd", |own| own.graph.degree_deviation())
            .feature("max_deviation", |own| own.graph.greatest_degree() as f64 - own.graph.average_degree())
    }

    fn inputs(inputs: &Inputs) -> Vec<Input<Searching>> {
        let make = |kind: Kind, inputs: &Inputs, random: &mut Random| {
            let edges = size(random, 2000.min(inputs.largest), inputs.largest);
            let graph = kind.graph(edges, random);
            let vertices = graph.vertices() as u32;
            let sources = (0..SOURCES).map(|_| random.random_range(0..vertices)).collect();
            Searching::of(graph, sources)
        };
        in_turn(inputs, &Kind::ALL, Self::UNSEEN, make, Searching::again)
    }

    fn check(own: &Searching) -> Result<(), String> {
        if own.found.len() != own.reference.len() {
            return Err(format!("{} searches of {}", own.found.len(), own.reference.len()));
        }
        match own.found.iter().zip(&*own.reference).position(|(found, wanted)| found != wanted) {
            Some(at) => Err(format!("the levels from vertex {} are others", own.sources[at])),
            None => Ok(()),
        }
    }
}
