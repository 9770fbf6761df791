//! Matrices of several kinds, by seed. Each has about as many entries as are asked for.

use super::Csr;
use crate::benchmark::Family;
use crate::random::{Random, size};
use rand::Rng;
use rand::seq::SliceRandom;

/// A kind of matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A stencil of 5 to 27 points on a grid: few full diagonals.
    Stencil,
    /// A band around the diagonal of which some entries are there.
    Band,
    /// Dense blocks along and off the diagonal, as finite elements with several unknowns make them.
    Block,
    /// Lengths of rows by a power law, columns anywhere: a social network.
    PowerLaw,
    /// Rows of about one length, columns anywhere.
    Random,
    /// A stencil whose rows were numbered by chance: an unstructured mesh.
    Mesh,
}

impl Family for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Stencil => "stencil",
            Kind::Band => "band",
            Kind::Block => "block",
            Kind::PowerLaw => "power law",
            Kind::Random => "random",
            Kind::Mesh => "mesh",
        }
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::Stencil, Kind::Band, Kind::Block, Kind::PowerLaw, Kind::Random, Kind::Mesh];

    /// A square matrix of this kind.
    pub fn matrix(self, entries: usize, random: &mut Random) -> Csr {
        match self {
            Kind::Stencil => stencil(entries, random, false),
            Kind::Mesh => stencil(entries, random, true),
            Kind::Band => band(entries, random),
            Kind::Block => block(entries, random),
            Kind::PowerLaw => power_law(entries, random),
            Kind::Random => uniform(entries, random),
        }
    }
}

fn value(random: &mut Random) -> f64 {
    random.random_range(-1.0..1.0)
}

fn stencil(entries: usize, random: &mut Random, renumber: bool) -> Csr {
    // Reach in each of three dimensions, and whether diagonal neighbours count.
    const FORMS: [([i64; 3], bool); 5] =
        [([0, 1, 1], false), ([0, 1, 1], true), ([1, 1, 1], false), ([1, 1, 1], true), ([0, 2, 2], false)];
    let (reach, box_shaped) = FORMS[random.random_range(0..FORMS.len())];
    let mut neighbours = Vec::new();
    for z in -reach[0]..=reach[0] {
        for y in -reach[1]..=reach[1] {
            for x in -reach[2]..=reach[2] {
                let axes = [z, y, x].iter().filter(|own| **own != 0).count();
                if box_shaped || axes <= 1 {
                    neighbours.push([z, y, x]);
                }
            }
        }
    }
    let points = (entries / neighbours.len()).max(1) as f64;
    let side = |share: f64| (share.round() as i64).max(1);
    let aspect: f64 = random.random_range(0.3..3.0);
    let extents = match reach[0] {
        0 => [1, side((points * aspect).sqrt()), side((points / aspect).sqrt())],
        _ => [side((points * aspect).cbrt()), side((points / aspect).cbrt()), side(points.cbrt())],
    };
    let rows = (extents[0] * extents[1] * extents[2]) as usize;
    let mut number: Vec<u32> = (0..rows as u32).collect();
    if renumber {
        number.shuffle(random);
    }
    let mut list = Vec::with_capacity(rows * neighbours.len());
    for row in 0..rows as i64 {
        let at = [row / (extents[1] * extents[2]), row / extents[2] % extents[1], row % extents[2]];
        for neighbour in &neighbours {
            let [z, y, x]: [i64; 3] = std::array::from_fn(|axis| at[axis] + neighbour[axis]);
            if (0..extents[0]).contains(&z) && (0..extents[1]).contains(&y) && (0..extents[2]).contains(&x) {
                let column = (z * extents[1] + y) * extents[2] + x;
                list.push((number[row as usize], number[column as usize], value(random)));
            }
        }
    }
    Csr::assembled(rows, rows, list)
}

fn band(entries: usize, random: &mut Random) -> Csr {
    let reach: i64 = random.random_range(1..40);
    let share = random.random_range(0.1..1.0_f64).max(1.5 / (2 * reach + 1) as f64);
    let rows = ((entries as f64 / share) as i64 / (2 * reach + 1)).max(1);
    let mut list = Vec::new();
    for row in 0..rows {
        for column in (row - reach).max(0)..=(row + reach).min(rows - 1) {
            if row == column || random.random_bool(share) {
                list.push((row as u32, column as u32, value(random)));
            }
        }
    }
    Csr::assembled(rows as usize, rows as usize, list)
}

fn block(entries: usize, random: &mut Random) -> Csr {
    let side = random.random_range(2..12_usize);
    let each = random.random_range(1..8_usize);
    let blocks = (entries / (side * side * each)).max(1);
    let rows = blocks * side;
    let mut list = Vec::new();
    for own in 0..blocks {
        for at in 0..each {
            let other = if at == 0 { own } else { random.random_range(0..blocks) };
            for place in 0..side * side {
                let (row, column) = (own * side + place / side, other * side + place % side);
                list.push((row as u32, column as u32, value(random)));
            }
        }
    }
    Csr::assembled(rows, rows, list)
}

fn power_law(entries: usize, random: &mut Random) -> Csr {
    let average = random.random_range(3.0..20.0_f64);
    let exponent = random.random_range(1.6..2.6_f64);
    let rows = ((entries as f64 / average) as usize).max(1);
    // Lengths u^(-1 / (exponent - 1)), scaled to the number of entries.
    let lengths: Vec<f64> = (0..rows)
        .map(|_| random.random_range(1e-6..1.0_f64).powf(-1.0 / (exponent - 1.0)).min(rows as f64))
        .collect();
    let scale = entries as f64 / lengths.iter().sum::<f64>();
    let mut list = Vec::new();
    for (row, length) in lengths.iter().enumerate() {
        let length = (length * scale + random.random_range(0.0..1.0)).min(rows as f64) as usize;
        for _ in 0..length {
            list.push((row as u32, random.random_range(0..rows) as u32, value(random)));
        }
    }
    Csr::assembled(rows, rows, list)
}

fn uniform(entries: usize, random: &mut Random) -> Csr {
    let length = size(random, 2, 400.min(entries));
    let rows = (entries / length).max(1);
    let mut list = Vec::new();
    for row in 0..rows {
        for _ in 0..random.random_range(length / 2..=length + length / 2) {
            list.push((row as u32, random.random_range(0..rows) as u32, value(random)));
        }
    }
    Csr::assembled(rows, rows, list)
}
