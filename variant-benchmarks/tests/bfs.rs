//! Breadth-first search.

use crate::all_variants;
use proptest::prelude::*;
use variant_benchmarks::benchmark::Benchmark;
use variant_benchmarks::bfs::{Bfs, Graph, Levels, Searching, UNREACHED, serial};

fn searched(vertices: usize, edges: &[(u32, u32)], sources: &[u32]) {
    let searching = Searching::new(Graph::new(vertices, edges).unwrap(), sources.to_vec()).unwrap();
    assert!(all_variants::<Bfs>(|| searching.again()).is_empty());
}

/// A queue is the reference: its levels on a graph with loops, edges of one direction and a part that is not reached.
#[test]
fn levels_of_a_graph() {
    let graph = Graph::new(7, &[(0, 1), (1, 2), (0, 2), (2, 2), (2, 3), (3, 0), (5, 6), (6, 0)]).unwrap();
    let levels = Levels::new(7);
    serial(&graph, 0, &levels);
    let found: Vec<u32> = (0..7).map(|vertex| levels.get(vertex)).collect();
    assert_eq!(found, [0, 1, 1, 2, UNREACHED, UNREACHED, UNREACHED]);
    assert_eq!((graph.average_degree(), graph.edges()), (8.0 / 7.0, 8));
    // Degrees 2, 1, 2, 1, 0, 1, 1.
    assert!((graph.degree_deviation() - (12.0 / 7.0 - (8.0_f64 / 7.0).powi(2)).sqrt()).abs() < 1e-12);
    assert_eq!((graph.turned().neighbours(0), graph.greatest_degree()), (&[3, 6][..], 2));
}

#[test]
fn hard_graphs() {
    searched(1, &[], &[0]);
    searched(1, &[(0, 0), (0, 0)], &[0, 0]);
    searched(5, &[], &[4, 0]);
    searched(0, &[], &[]);
    // A path of many levels, a star, all with all, and edges of one direction only.
    let path: Vec<(u32, u32)> = (0..400).map(|at| (at, at + 1)).collect();
    searched(401, &path, &[0, 200, 400]);
    let star: Vec<(u32, u32)> = (1..20_000).flat_map(|at| [(0, at), (at, 0)]).collect();
    searched(20_000, &star, &[0, 19_999]);
    let all: Vec<(u32, u32)> = (0..150).flat_map(|from| (0..150).map(move |to| (from, to))).collect();
    searched(150, &all, &[3]);
    let down: Vec<(u32, u32)> = (1..3000).map(|at| ((at - 1) / 2, at)).collect();
    searched(3000, &down, &[0, 1, 2999]);
}

#[test]
fn what_is_no_graph_is_refused() {
    assert!(Graph::new(3, &[(0, 3)]).unwrap_err().contains("from 0 to 3"));
    assert!(Graph::new(3, &[(3, 0)]).is_err());
    assert!(Searching::new(Graph::new(3, &[]).unwrap(), vec![3]).is_err());
}

#[test]
fn wrong_results_are_seen() {
    let mut own = Searching::new(Graph::new(2, &[(0, 1)]).unwrap(), vec![0]).unwrap();
    assert!(Bfs::check(&own).is_err());
    let levels = Levels::new(2);
    own.found = vec![levels.fingerprint()];
    assert!(Bfs::check(&own).unwrap_err().contains("vertex 0"));
    serial(&Graph::new(2, &[(0, 1)]).unwrap(), 0, &levels);
    own.found = vec![levels.fingerprint()];
    assert!(Bfs::check(&own).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn any_graph(
        (vertices, edges, source) in (1..600_u32).prop_flat_map(|vertices| {
            let edges = proptest::collection::vec((0..vertices, 0..vertices), 0..2500);
            (Just(vertices), edges, 0..vertices)
        })
    ) {
        searched(vertices as usize, &edges, &[source]);
    }
}
