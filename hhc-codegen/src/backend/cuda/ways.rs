//! Distances in memory that the host computes: sums of multiples of strides, in bytes.
//!
//! A multiple of a stride is a product of 64 bits, and threads would make them anew for nearly each access, since
//! registers are too few to keep them. As an argument each is a constant, and an address one sum.

use super::super::arguments::Arguments;
use super::text::here;
use c_tree::{Expr, Function, Stmt, call, int, name, var};
use std::cell::RefCell;

/// The argument of kernels, and its type in the text.
const WAYS: &str = "tw_ways";
const KIND: &str = "tw_distances";

/// Lines that follow each other whose distances from the first one are always there: as many as a thread has points at once, and
/// as a stream has positions before its registers are used alike again.
pub(super) const FOLLOWING: i64 = 12;

/// Lines of a window, at most, whose distances on a grid are found by products of 32 bits.
pub(super) const MOST_LINES: i64 = 1 << 12;

/// Arguments of a kernel, 8 bytes each, on every device; and those beside what [`Arguments`] says.
const MOST_ARGUMENTS: usize = 4096 / 8;
const OTHER_ARGUMENTS: usize = 8;

/// The distances that the kernels of a program use, each as bytes per stride.
#[derive(Debug, Default)]
pub(super) struct Ways {
    table: RefCell<Vec<Vec<i64>>>,
    most: usize,
    /// Bytes of elements: the first distances are those of lines that follow each other, for each of these.
    elements: Vec<i64>,
    /// Distances that follow each other in the table: bytes of elements, the first line, how many, and the number of the first.
    runs: RefCell<Vec<(i64, i64, i64, i64)>>,
}

impl Ways {
    /// None yet but those of lines that follow each other, for a program of several dimensions.
    pub(super) fn new(arguments: Arguments<'_>) -> Ways {
        let arrays = arguments.arrays().len() + arguments.spare_fields().len();
        let given = arrays + arguments.integers().len() + arguments.names.parameters.len();
        let most = MOST_ARGUMENTS.saturating_sub(given + OTHER_ARGUMENTS);
        let mut elements: Vec<i64> =
            arguments.program.fields.iter().map(|field| field.element.bytes() as i64).collect();
        elements.sort_unstable();
        elements.dedup();
        let strides = arguments.program.dimension() - 1;
        let along = |bytes: i64| (0..strides).map(|d| if d == 0 { bytes } else { 0 }).collect();
        let following = elements.iter().flat_map(|element| (0..FOLLOWING).map(move |line| line * element));
        let runs =
            (0..).zip(&elements).map(|(at, &element)| (element, 0, FOLLOWING, at * FOLLOWING)).collect();
        Ways { table: RefCell::new(following.map(along).collect()), most, elements, runs: RefCell::new(runs) }
    }

    /// The distance of lines that lie so many lines apart along each dimension but the innermost; `None` where there are too
    /// many distances already.
    pub(super) fn between(&self, lines: &[i64], element: i64) -> Option<Expr> {
        let wanted: Vec<i64> = lines.iter().map(|lines| lines * element).collect();
        let mut table = self.table.borrow_mut();
        let known = table.iter().position(|known| *known == wanted);
        if known.is_none() {
            if table.len() >= self.most {
                return None;
            }
            table.push(wanted);
        }
        Some(bytes(int(known.unwrap_or(table.len() - 1) as i64)))
    }

    /// The element that lies so many lines further along each dimension but the innermost, which may be 0 of each. `kept`
    /// says that the distance is to be in a register.
    pub(super) fn lines_further(&self, pointer: Expr, lines: &[i64], element: i64, kept: bool) -> Expr {
        if lines.iter().all(|&lines| lines == 0) {
            return pointer;
        }
        match self.between(lines, element) {
            Some(way) if kept => further(pointer, call("tw_kept", [way])),
            Some(way) => further(pointer, way),
            None => {
                let along = lines.iter().enumerate().filter(|(_, lines)| **lines != 0);
                along.fold(pointer, |pointer, (d, &lines)| pointer + int(lines) * var(format!("stride{d}")))
            }
        }
    }

    /// The same once more in each of several rounds, where the compiler would make products of the rounds.
    pub(super) fn steps_further(&self, pointer: Expr, lines: &[i64], element: i64) -> Expr {
        match self.between(lines, element) {
            Some(way) => further(pointer, here(way)),
            None => self.lines_further(pointer, lines, element, false),
        }
    }

    /// The element that lies a number of lines further along a dimension, which is found at run time; `near` says whether it and
    /// the element are on the grid, and the number is below 4096.
    pub(super) fn some_lines_further(
        &self,
        pointer: Expr,
        lines: Expr,
        d: usize,
        element: i64,
        near: Expr,
    ) -> Expr {
        let strides = self.table.borrow().first().map_or(1, Vec::len);
        let line: Vec<i64> = (0..strides).map(|along| i64::from(along == d)).collect();
        match self.between(&line, element) {
            Some(bytes) => Expr::instance("tw_lines_further", [near], [pointer, lines, bytes]),
            None => pointer + lines.cast("tw_int") * var(format!("stride{d}")),
        }
    }

    /// The distance to a line that follows another one along dimension 0, by its number, which becomes a constant below [`FOLLOWING`].
    pub(super) fn following(&self, line: Expr, element: i64) -> Expr {
        let at = self.elements.iter().position(|own| *own == element).unwrap_or(0) as i64;
        bytes(line + at * FOLLOWING)
    }

    /// The number of the distance 0 among those to so many lines along dimension 0, the first of which may lie before; a thread may
    /// ask for any of them. `None` where there are too many distances already.
    pub(super) fn run(&self, first: i64, lines: i64, element: i64) -> Option<i64> {
        let mut runs = self.runs.borrow_mut();
        let has = |&&(own, low, count, _): &&(i64, i64, i64, i64)| {
            own == element && low <= first && low + count >= first + lines
        };
        if let Some(&(_, low, _, number)) = runs.iter().find(has) {
            return Some(number - low);
        }
        let mut table = self.table.borrow_mut();
        let number = table.len();
        if number + lines.max(0) as usize > self.most {
            return None;
        }
        let strides = table.first().map_or(1, Vec::len);
        let along = |line: i64| (0..strides).map(|d| if d == 0 { line * element } else { 0 }).collect();
        table.extend((first..first + lines).map(along));
        runs.push((element, first, lines, number as i64));
        Some(number as i64 - first)
    }

    /// All of them.
    pub(super) fn into_table(self) -> Vec<Vec<i64>> {
        self.table.into_inner()
    }
}

/// So many lines along dimension 0 as elements, where they are lines of a window with that many. In the text `tw_lines` is a template: of a function that no
/// line needs compilers would warn.
pub(super) fn lines_of_window(lines: Expr, extent: i64) -> Expr {
    match extent <= MOST_LINES {
        true => call("tw_lines", [lines, var("stride0")]),
        false => lines * var("stride0"),
    }
}

fn bytes(number: Expr) -> Expr {
    name(WAYS).dot("bytes").at(number)
}

/// The element so many bytes further.
pub(super) fn further(pointer: Expr, bytes: Expr) -> Expr {
    call("tw_further", [pointer, bytes])
}

/// The argument as it is passed on.
pub(super) fn argument() -> Expr {
    name(WAYS)
}

/// Adds the parameter to a function.
pub(super) fn parameter(function: Function, takes: bool) -> Function {
    function.parameters(takes.then_some((KIND, WAYS)))
}

/// The declaration of the argument on the host.
pub(super) fn declaration(table: &[Vec<i64>]) -> Stmt {
    let value = |way: &Vec<i64>| {
        let terms = way.iter().enumerate().filter(|(_, bytes)| **bytes != 0);
        let terms = terms.map(|(d, &bytes)| int(bytes) * var(format!("stride{d}")));
        terms.reduce(|sum, term| sum + term).unwrap_or(int(0))
    };
    let values = table.iter().map(value).collect();
    Stmt::constant(KIND, WAYS, Expr::List(vec![Expr::List(values)]))
}
