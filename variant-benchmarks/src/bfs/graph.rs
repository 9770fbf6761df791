//! Directed graphs as compressed lists of neighbours.

/// A directed graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
}

impl Graph {
    /// A graph of edges; several from one vertex to another stay.
    ///
    /// # Errors
    /// An end of an edge that is no vertex; more vertices than 32 bits count.
    pub fn new(vertices: usize, edges: &[(u32, u32)]) -> Result<Graph, String> {
        if u32::try_from(vertices).is_err() {
            return Err(format!("{vertices} vertices are too many"));
        }
        let outside = |edge: &&(u32, u32)| edge.0.max(edge.1) as usize >= vertices;
        match edges.iter().find(outside) {
            Some((from, to)) => Err(format!("the edge from {from} to {to} leaves {vertices} vertices")),
            None => Ok(Graph::assembled(vertices, edges)),
        }
    }

    /// As [`Graph::new`], where all ends are known to be vertices.
    pub(super) fn assembled(vertices: usize, edges: &[(u32, u32)]) -> Graph {
        let mut offsets = vec![0; vertices + 1];
        edges.iter().for_each(|(from, _)| offsets[*from as usize + 1] += 1);
        (0..vertices).for_each(|at| offsets[at + 1] += offsets[at]);
        let mut next = offsets.clone();
        let mut targets = vec![0; edges.len()];
        for &(from, to) in edges {
            let place = &mut next[from as usize];
            targets[*place] = to;
            *place += 1;
        }
        Graph { offsets, targets }
    }

    /// The graph with all edges turned.
    pub fn turned(&self) -> Graph {
        let of = |from: usize| self.neighbours(from as u32).iter().map(move |&to| (to, from as u32));
        let edges: Vec<(u32, u32)> = (0..self.vertices()).flat_map(of).collect();
        Graph::assembled(self.vertices(), &edges)
    }

    /// How many vertices it has.
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// How many edges a vertex has.
    pub fn degree(&self, vertex: u32) -> usize {
        self.offsets[vertex as usize + 1] - self.offsets[vertex as usize]
    }

    /// Where the edges of a vertex lead.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.targets[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }

    /// Edges per vertex; 0 without a vertex.
    pub fn average_degree(&self) -> f64 {
        self.edges() as f64 / self.vertices().max(1) as f64
    }

    /// Standard deviation of the vertices' edges.
    pub fn degree_deviation(&self) -> f64 {
        let mean = self.average_degree();
        let squares = self.offsets.windows(2).map(|ends| ((ends[1] - ends[0]) as f64 - mean).powi(2));
        (squares.sum::<f64>() / self.vertices().max(1) as f64).sqrt()
    }

    /// Edges of the vertex that has most.
    pub fn greatest_degree(&self) -> usize {
        self.offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
    }
}
