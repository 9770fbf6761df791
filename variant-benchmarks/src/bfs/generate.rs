//! Graphs of several kinds, by seed. Edges lead both ways.

use super::Graph;
use crate::benchmark::Family;
use crate::random::Random;
use rand::Rng;

/// A kind of graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT", SDM 2004, with the shares of Graph500.
    RMat,
    /// Points of a grid of two or three dimensions and their neighbours.
    Grid,
    /// A grid of two dimensions without a third of its edges, with vertices put into the others.
    Road,
    /// Ends by chance.
    Uniform,
    /// A ring with edges to near vertices, some of which lead anywhere.
    SmallWorld,
}

impl Family for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::RMat => "r-mat",
            Kind::Grid => "grid",
            Kind::Road => "road",
            Kind::Uniform => "uniform",
            Kind::SmallWorld => "small world",
        }
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::RMat, Kind::Grid, Kind::Road, Kind::Uniform, Kind::SmallWorld];

    /// A graph with about so many edges, each way counted.
    pub fn graph(self, edges: usize, random: &mut Random) -> Graph {
        let half = edges / 2;
        let (vertices, one_way) = match self {
            Kind::RMat => {
                let degree = random.random_range(4..32_usize);
                let bits = (half / degree).max(2).ilog2();
                let end = |random: &mut Random| {
                    (0..bits).fold((0, 0), |(from, to), _| {
                        let (down, right) = match random.random_range(0.0..1.0_f64) {
                            share if share < 0.57 => (0, 0),
                            share if share < 0.76 => (0, 1),
                            share if share < 0.95 => (1, 0),
                            _ => (1, 1),
                        };
                        (from << 1 | down, to << 1 | right)
                    })
                };
                (1 << bits, (0..half).map(|_| end(random)).collect())
            }
            Kind::Grid if random.random_bool(0.5) => grid(&[1, side(half, 2), side(half, 2)]),
            Kind::Grid => grid(&[side(half, 3); 3]),
            Kind::Road => road(half, random),
            Kind::Uniform => {
                let vertices = (half / random.random_range(1..20_usize)).max(1) as u32;
                let any = |random: &mut Random| random.random_range(0..vertices);
                (vertices as usize, (0..half).map(|_| (any(random), any(random))).collect())
            }
            Kind::SmallWorld => {
                let (reach, share) = (random.random_range(1..10), random.random_range(0.001..0.1));
                let vertices = (half / reach).max(1) as u32;
                let end = |random: &mut Random, at: u32, step: usize| match random.random_bool(share) {
                    true => random.random_range(0..vertices),
                    false => ((u64::from(at) + step as u64) % u64::from(vertices)) as u32,
                };
                let of = |at: u32, random: &mut Random| -> Vec<(u32, u32)> {
                    (1..=reach).map(|step| (at, end(random, at, step))).collect()
                };
                (vertices as usize, (0..vertices).flat_map(|at| of(at, random)).collect())
            }
        };
        let both: Vec<(u32, u32)> =
            one_way.into_iter().flat_map(|(from, to)| [(from, to), (to, from)]).collect();
        Graph::assembled(vertices, &both)
    }
}

fn side(edges: usize, dimensions: usize) -> u32 {
    ((edges as f64 / dimensions as f64).powf(1.0 / dimensions as f64) as u32).max(1)
}

fn grid(extents: &[u32; 3]) -> (usize, Vec<(u32, u32)>) {
    let [planes, rows, columns] = *extents;
    let place = |z: u32, y: u32, x: u32| (z * rows + y) * columns + x;
    let mut edges = Vec::new();
    for z in 0..planes {
        for y in 0..rows {
            for x in 0..columns {
                let next = [(z + 1, y, x), (z, y + 1, x), (z, y, x + 1)];
                let inside = next.into_iter().filter(|&(z, y, x)| z < planes && y < rows && x < columns);
                edges.extend(inside.map(|(c, b, a)| (place(z, y, x), place(c, b, a))));
            }
        }
    }
    ((planes * rows * columns) as usize, edges)
}

fn road(half: usize, random: &mut Random) -> (usize, Vec<(u32, u32)>) {
    let between = random.random_range(1..8_u32);
    let (crossings, streets) = grid(&[1, side(half / between as usize, 2), side(half / between as usize, 2)]);
    let (mut vertices, mut edges) = (crossings as u32, Vec::new());
    for (from, to) in streets {
        if random.random_bool(1.0 / 3.0) {
            continue;
        }
        let mut last = from;
        for _ in 1..between {
            edges.push((last, vertices));
            (last, vertices) = (vertices, vertices + 1);
        }
        edges.push((last, to));
    }
    (vertices as usize, edges)
}
