//! Names: which are reserved, and what each declared one stands for.

use crate::math::{Libm, Libm2};
use crate::program::{FieldId, ParameterId, SeriesId};
use crate::source::Span;
use c_tree::scope::is_word;
use std::collections::HashMap;
use text_escape::suggest;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// The time index.
    Time,
    /// A space index.
    Space(usize),
    /// A field.
    Field(FieldId),
    /// A series.
    Series(SeriesId),
    /// A parameter.
    Parameter(ParameterId),
    /// A local, by its number in the file.
    Let(usize),
}

impl Symbol {
    /// How a diagnostic names it.
    pub fn describe(self) -> &'static str {
        match self {
            Symbol::Time => "the time index",
            Symbol::Space(_) => "a space index",
            Symbol::Field(_) => "a field",
            Symbol::Series(_) => "a series",
            Symbol::Parameter(_) => "a parameter",
            Symbol::Let(_) => "a local",
        }
    }
}

/// The declared names.
#[derive(Debug, Default)]
pub struct Names {
    table: HashMap<String, (Symbol, Span)>,
    /// In order of declaration, so that suggestions do not depend on hashing.
    order: Vec<String>,
}

impl Names {
    /// Declares a name, or gives the place of its first declaration.
    pub fn declare(&mut self, name: &str, symbol: Symbol, span: &Span) -> Result<(), Span> {
        if let Some((_, first)) = self.table.get(name) {
            return Err(first.clone());
        }
        self.table.insert(name.to_string(), (symbol, span.clone()));
        self.order.push(name.to_string());
        Ok(())
    }

    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        self.table.get(name).map(|&(symbol, _)| symbol)
    }

    /// Where a name is declared; `0..0` if it is not.
    pub fn span(&self, name: &str) -> Span {
        self.table.get(name).map_or(0..0, |(_, span)| span.clone())
    }

    /// "Did you mean" over the names that pass the filter.
    pub fn suggest(&self, name: &str, wanted: impl Fn(Symbol) -> bool) -> Option<String> {
        let candidates = self.order.iter().filter(|name| self.get(name).is_some_and(&wanted));
        suggest::hint(name, candidates.map(String::as_str))
    }
}

/// The functions of the language that are the same on every machine.
pub const FUNCTIONS: &[&str] = &["sqrt", "exp", "abs", "min", "max"];

/// All functions: those, and the ones of the C library.
pub fn functions() -> impl Iterator<Item = &'static str> {
    let one = Libm::ALL.iter().map(|function| function.name());
    let two = Libm2::ALL.iter().map(|function| function.name());
    FUNCTIONS.iter().copied().chain(one).chain(two)
}

/// Why a name may not be declared; `None` if it may.
pub fn reserved(name: &str) -> Option<&'static str> {
    if functions().any(|function| function == name) {
        Some("it is a function of the language")
    } else if name.starts_with("tw_") || name.starts_with("__") {
        Some("names that start with `tw_` or `__` belong to the generated code")
    } else if name.starts_with('_') && name[1..].starts_with(|letter: char| letter.is_ascii_uppercase()) {
        Some("names that start with `_` and a capital belong to the C compiler")
    } else if OURS.contains(&name) {
        Some("the generated code uses it for the size of a run")
    } else if Libm::by_c_name(name).is_some() || Libm2::by_c_name(name).is_some() {
        Some("it is a function of the C library")
    } else if TYPES.contains(&name) {
        Some("it is a type")
    } else if is_word(name) || HEADERS.contains(&name) {
        Some("it is a word of C, C++ or CUDA, and the generated code would not compile")
    } else {
        None
    }
}

const OURS: &[&str] = &["n0", "n1", "n2", "steps"];
const TYPES: &[&str] = &["f32", "f64", "f16"];

/// Macros, types and functions of the standard headers.
#[rustfmt::skip]
const HEADERS: &[&str] = &[
    "NULL", "NAN", "INFINITY", "EOF", "I", "errno", "assert", "stdin", "stdout", "stderr", "linux", "unix",
    "size_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
    "uint64_t", "intptr_t", "uintptr_t", "main", "std",
    "sqrtf", "fabs", "fabsf",
    "malloc", "calloc", "free", "memcpy", "memset", "printf", "abort", "exit",
];
