//! Compressed rows, and three products with them.

use super::{ALONE, four_sums};
use nested::data::Array;
use nested::matrix_market;
use rayon::prelude::*;
use std::path::Path;

/// A sparse matrix in compressed rows: columns of a row ascend, no place is there twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    columns: usize,
    offsets: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Csr {
    /// A matrix of entries (row, column, value) in any order; those of one place are added.
    ///
    /// # Errors
    /// A place outside of the matrix; more columns than 32 bits count.
    pub fn from_entries(rows: usize, columns: usize, entries: Vec<(u32, u32, f64)>) -> Result<Csr, String> {
        if u32::try_from(rows.max(columns)).is_err() {
            return Err(format!("a matrix of {rows} x {columns} is too large"));
        }
        let outside = |own: &&(u32, u32, f64)| own.0 as usize >= rows || own.1 as usize >= columns;
        if let Some((row, column, _)) = entries.iter().find(outside) {
            return Err(format!("the entry ({row}, {column}) is outside of {rows} x {columns}"));
        }
        Ok(Csr::assembled(rows, columns, entries))
    }

    /// As [`Csr::from_entries`], where all places are known to be inside.
    pub(crate) fn assembled(rows: usize, columns: usize, mut entries: Vec<(u32, u32, f64)>) -> Csr {
        entries.sort_by_key(|(row, column, _)| (*row, *column));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 += if same { next.2 } else { 0.0 };
            same
        });
        let mut offsets = vec![0; rows + 1];
        entries.iter().for_each(|(row, ..)| offsets[*row as usize + 1] += 1);
        (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
        let places = entries.iter().map(|entry| entry.1).collect();
        Csr { columns, offsets, places, values: entries.into_iter().map(|entry| entry.2).collect() }
    }

    /// The matrix of a Matrix Market file.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read(path: &Path) -> Result<Csr, String> {
        let matrix = matrix_market::read(path).map_err(|error| error.to_string())?;
        let (Array::F64(values), Array::I32(places), Array::I64(offsets)) =
            (&matrix.values, &matrix.places, &matrix.offsets)
        else {
            return Err(format!("{}: the entries are of an unknown type", path.display()));
        };
        let rows = offsets.len().saturating_sub(1);
        let row_of = |(row, ends): (usize, &[i64])| (ends[0]..ends[1]).map(move |_| row as u32);
        let row = offsets.windows(2).enumerate().flat_map(row_of);
        let entries = row.zip(places.iter().zip(values)).map(|(row, (&at, &value))| (row, at as u32, value));
        Csr::from_entries(rows, matrix.columns, entries.collect())
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// How many entries a row has.
    pub fn length(&self, row: usize) -> usize {
        self.offsets[row + 1] - self.offsets[row]
    }

    /// The same of all rows.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.offsets.windows(2).map(|ends| ends[1] - ends[0])
    }

    /// How many entries the longest row has.
    pub fn longest(&self) -> usize {
        self.lengths().max().unwrap_or(0)
    }

    /// Columns and values of a row.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let own = self.offsets[row]..self.offsets[row + 1];
        (&self.places[own.clone()], &self.values[own])
    }

    /// The value at a place, if it is stored.
    pub fn get(&self, row: usize, column: usize) -> Option<f64> {
        let (places, values) = self.row(row);
        places.binary_search(&(column as u32)).ok().map(|at| values[at])
    }

    /// A row times a vector, from left to right.
    pub fn dot(&self, row: usize, x: &[f64]) -> f64 {
        let (places, values) = self.row(row);
        places.iter().zip(values).fold(0.0, |sum, (&place, value)| sum + value * x[place as usize])
    }

    /// `y = A x`, row by row: what the product means.
    pub fn multiply_serial(&self, x: &[f64], y: &mut [f64]) {
        y.iter_mut().enumerate().for_each(|(row, own)| *own = self.dot(row, x));
    }

    /// Bounds of parts with about as many entries and rows each.
    pub fn parts(&self, count: usize) -> Vec<usize> {
        let (rows, count) = (self.rows(), count.max(1));
        let total = self.entries() + rows;
        let bound = |part: usize| {
            let least = total * part / count;
            // Rows and entries before a row ascend.
            let (mut low, mut high) = (0, rows);
            while low < high {
                let middle = low.midpoint(high);
                match self.offsets[middle] + middle < least {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            low
        };
        let mut bounds: Vec<usize> = (0..count).map(bound).collect();
        bounds.push(rows);
        bounds
    }

    /// `y = A x`, parts by several threads.
    pub fn multiply_parallel(&self, parts: &[usize], x: &[f64], y: &mut [f64]) {
        self.each_part(parts, y, &|row| self.dot(row, x));
    }

    /// The same with four sums for each row, none of which waits for another one: rows that are long take half of the time. Sums
    /// are those of another order. Few entries are one thread's.
    pub fn multiply_vector(&self, parts: &[usize], x: &[f64], y: &mut [f64]) {
        let dot = |row: usize| {
            let (places, values) = self.row(row);
            four_sums(places, values, x)
        };
        match self.entries() < ALONE {
            true => y.iter_mut().enumerate().for_each(|(row, own)| *own = dot(row)),
            false => self.each_part(parts, y, &dot),
        }
    }

    /// Rows by parts, each by one thread.
    fn each_part(&self, parts: &[usize], y: &mut [f64], dot: &(impl Fn(usize) -> f64 + Sync)) {
        let mut rest = y;
        let mut pieces = Vec::with_capacity(parts.len());
        for bounds in parts.windows(2) {
            let (own, after) = rest.split_at_mut(bounds[1] - bounds[0]);
            pieces.push((bounds[0], own));
            rest = after;
        }
        pieces.into_par_iter().for_each(|(first, own)| {
            own.iter_mut().enumerate().for_each(|(at, value)| *value = dot(first + at));
        });
    }

    /// Computes again what padding may have made not a number; `y` is of the rows from `first` on.
    pub(super) fn repair(&self, first: usize, x: &[f64], y: &mut [f64]) {
        for (at, own) in y.iter_mut().enumerate().filter(|(_, own)| own.is_nan()) {
            *own = self.dot(first + at, x);
        }
    }
}
