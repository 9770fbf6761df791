//! Matrices of systems of several kinds, by seed.

use crate::benchmark::Family;
use crate::random::Random;
use crate::sparse::Csr;
use rand::Rng;

/// A kind of system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Diffusion on a grid, with a coefficient that jumps: positive definite.
    Diffusion,
    /// The same less a multiple of the identity: indefinite.
    Shifted,
    /// Diffusion with a flow, taken upwind: not symmetric.
    Convection,
    /// Unknowns in strongly coupled groups: positive definite.
    Groups,
    /// Entries anywhere, a diagonal that outweighs them: positive definite.
    Dominant,
    /// Diffusion with rows and columns scaled by up to a million.
    Scaled,
}

impl Family for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Diffusion => "diffusion",
            Kind::Shifted => "shifted",
            Kind::Convection => "convection",
            Kind::Groups => "groups",
            Kind::Dominant => "dominant",
            Kind::Scaled => "scaled",
        }
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::Diffusion, Kind::Shifted, Kind::Convection, Kind::Groups, Kind::Dominant, Kind::Scaled];

    /// A matrix of this kind with about so many entries.
    pub fn matrix(self, entries: usize, random: &mut Random) -> Csr {
        match self {
            Kind::Diffusion => diffusion(entries, random, 0.0, 0.0, 0.0),
            Kind::Shifted => {
                let shift = random.random_range(0.01..1.0);
                diffusion(entries, random, shift, 0.0, 0.0)
            }
            Kind::Convection => {
                let flow = random.random_range(0.1..20.0);
                diffusion(entries, random, 0.0, flow, 0.0)
            }
            Kind::Scaled => diffusion(entries, random, 0.0, 0.0, 6.0),
            Kind::Groups => groups(entries, random),
            Kind::Dominant => dominant(entries, random),
        }
    }
}

/// Five points: `-div(k grad u) + flow u_x - shift u`, scaled by `10^+-scale` from both sides.
fn diffusion(entries: usize, random: &mut Random, shift: f64, flow: f64, scale: f64) -> Csr {
    let side = ((entries as f64 / 5.0).sqrt() as usize).max(2);
    let rows = side * side;
    // Jumps of up to a thousand between squares of the grid, and more across than along.
    let jump = 10_f64.powf(random.random_range(0.0..3.0));
    let across = 10_f64.powf(random.random_range(-2.0..0.0));
    let square = random.random_range(2..=side.max(3));
    let k =
        |row: usize| if (row / side / square + row % side / square).is_multiple_of(2) { 1.0 } else { jump };
    let scales: Vec<f64> =
        (0..rows).map(|_| 10_f64.powf(random.random_range(-1.0..1.0) * scale / 2.0)).collect();
    let mut list = Vec::with_capacity(5 * rows);
    for row in 0..rows {
        let (y, x) = (row / side, row % side);
        // Beyond the grid it is 0.
        let mut diagonal = -shift;
        let mut put = |inside: bool, other: usize, weight: f64, with_flow: f64| {
            let between = if inside { 2.0 * k(row) * k(other) / (k(row) + k(other)) } else { k(row) };
            diagonal += between * weight + with_flow;
            if inside {
                let value = -between * weight - with_flow;
                list.push((row as u32, other as u32, value * scales[row] * scales[other]));
            }
        };
        put(x > 0, row.wrapping_sub(1), 1.0, flow);
        put(x + 1 < side, row + 1, 1.0, 0.0);
        put(y > 0, row.wrapping_sub(side), across, 0.0);
        put(y + 1 < side, row + side, across, 0.0);
        list.push((row as u32, row as u32, diagonal * scales[row] * scales[row]));
    }
    Csr::assembled(rows, rows, list)
}

/// A chain of groups of eight unknowns: within a group nearly the same, between them a weak spring.
fn groups(entries: usize, random: &mut Random) -> Csr {
    const SIZE: usize = 8;
    let count = (entries / (SIZE * SIZE + 2)).max(1);
    let stiff = 10_f64.powf(random.random_range(1.0..5.0));
    let mut list = Vec::new();
    for group in 0..count {
        let first = group * SIZE;
        for a in 0..SIZE {
            for b in 0..a {
                let value = stiff * random.random_range(0.1..1.0);
                let (a, b) = ((first + a) as u32, (first + b) as u32);
                list.extend([(a, b, -value), (b, a, -value), (a, a, value), (b, b, value)]);
            }
            list.push(((first + a) as u32, (first + a) as u32, 0.1));
        }
        if group > 0 {
            let (a, b) = (first as u32, first as u32 - 1);
            list.extend([(a, b, -1.0), (b, a, -1.0), (a, a, 1.0), (b, b, 1.0)]);
        }
    }
    let rows = count * SIZE;
    Csr::assembled(rows, rows, list)
}

fn dominant(entries: usize, random: &mut Random) -> Csr {
    let each = random.random_range(2..12_usize);
    let rows = (entries / (2 * each + 1)).max(1);
    let (spread, slack) = (random.random_range(0.0..3.0), random.random_range(0.001..0.5));
    let mut list = Vec::new();
    for row in 0..rows as u32 {
        for _ in 0..each {
            let other = random.random_range(0..rows as u32);
            let value = 10_f64.powf(random.random_range(-1.0..1.0) * spread);
            list.extend([
                (row, other, -value),
                (other, row, -value),
                (row, row, value),
                (other, other, value),
            ]);
        }
        list.push((row, row, slack));
    }
    Csr::assembled(rows, rows, list)
}
