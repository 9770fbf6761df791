//! Integer expressions as polynomials over the program's integers: bounds, subscripts, strides.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What a polynomial is made of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// Something that does not change in the region: a variable, or an expression as C text.
    Constant(String),
    /// A space loop's index, by the number of the loop.
    Index(usize),
    /// The time loop's index.
    Time,
    /// `(time + shift) mod modulus`, with `0 <= shift < modulus`. Where it comes from names that take turns, time is the
    /// number of the round.
    TimeModulo {
        /// What is added to the time.
        shift: i64,
        /// Number of buffers.
        modulus: i64,
        /// The variable that takes turns: a pointer, or one that holds the number of a buffer.
        from: Option<String>,
    },
    /// The mark of an index that wraps around, beside its index and what is added: no number of its own.
    Around {
        /// The loop.
        index: usize,
        /// What is added to its index.
        shift: i64,
        /// Behind the last value of the index, which begins at 0.
        period: Box<Polynomial>,
    },
}

/// A polynomial with integer coefficients.
#[derive(Debug, Clone, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub struct Polynomial {
    /// Coefficient of each product of symbols (sorted; empty for the constant), none of them 0.
    terms: BTreeMap<Vec<Symbol>, i64>,
}

/// Polynomials with more terms than this are given up.
const MOST_TERMS: usize = 64;

impl Polynomial {
    /// A constant.
    pub fn number(value: i64) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Polynomial { terms }
    }

    /// A symbol.
    pub fn symbol(symbol: Symbol) -> Self {
        Polynomial { terms: BTreeMap::from([(vec![symbol], 1)]) }
    }

    /// `self + factor * other`; `None` if it overflows or grows too large.
    pub fn plus(&self, other: &Polynomial, factor: i64) -> Option<Polynomial> {
        let mut terms = self.terms.clone();
        for (product, coefficient) in &other.terms {
            let entry = terms.entry(product.clone()).or_insert(0);
            *entry = entry.checked_add(coefficient.checked_mul(factor)?)?;
        }
        terms.retain(|_, coefficient| *coefficient != 0);
        (terms.len() <= MOST_TERMS).then_some(Polynomial { terms })
    }

    /// `self * other`; `None` if it overflows or grows too large.
    pub fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut result = Polynomial::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product: Vec<Symbol> = left.iter().chain(right).cloned().collect();
                product.sort();
                if product.len() > 8 {
                    return None;
                }
                let term = Polynomial { terms: BTreeMap::from([(product, a.checked_mul(*b)?)]) };
                result = result.plus(&term, 1)?;
            }
        }
        Some(result)
    }

    /// Its value, if it is a number.
    pub fn constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// Its constant term.
    pub fn offset(&self) -> i64 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// Without its constant term.
    pub fn shape(&self) -> Polynomial {
        let mut terms = self.terms.clone();
        terms.remove(&Vec::new());
        Polynomial { terms }
    }

    /// `self - other`, if that is a number.
    pub fn distance(&self, other: &Polynomial) -> Option<i64> {
        self.plus(other, -1)?.constant()
    }

    /// All symbols in it.
    pub fn symbols(&self) -> BTreeSet<Symbol> {
        self.terms.keys().flatten().cloned().collect()
    }

    /// The numbers of the loops whose indices are in it.
    pub fn indices(&self) -> BTreeSet<usize> {
        self.symbols()
            .into_iter()
            .filter_map(|symbol| if let Symbol::Index(at) = symbol { Some(at) } else { None })
            .collect()
    }

    /// Whether time is in it, in any way.
    pub fn has_time(&self) -> bool {
        self.symbols().iter().any(|symbol| matches!(symbol, Symbol::Time | Symbol::TimeModulo { .. }))
    }

    /// Whether neither time nor a loop's index is in it.
    pub fn is_invariant(&self) -> bool {
        self.symbols().iter().all(|symbol| matches!(symbol, Symbol::Constant(_)))
    }

    /// What a symbol is multiplied with; `None` if it is not linear in it.
    pub fn coefficient(&self, symbol: &Symbol) -> Option<Polynomial> {
        let mut result = Polynomial::default();
        for (product, coefficient) in &self.terms {
            match product.iter().filter(|other| *other == symbol).count() {
                0 => {}
                1 => {
                    let rest: Vec<Symbol> =
                        product.iter().filter(|other| *other != symbol).cloned().collect();
                    result.terms.insert(rest, *coefficient);
                }
                _ => return None,
            }
        }
        Some(result)
    }

    /// Without the terms in which a symbol stands.
    pub fn without(&self, symbol: &Symbol) -> Polynomial {
        let terms = self.terms.iter().filter(|(product, _)| !product.contains(symbol));
        Polynomial { terms: terms.map(|(product, coefficient)| (product.clone(), *coefficient)).collect() }
    }

    /// With a symbol replaced.
    pub fn replace(&self, symbol: &Symbol, value: &Polynomial) -> Option<Polynomial> {
        let factor = self.coefficient(symbol)?;
        self.without(symbol).plus(&factor.times(value)?, 1)
    }

    /// The index plus a polynomial without indices: the loop and the rest. `None` if it has another form.
    pub fn index_plus(&self) -> Option<(usize, Polynomial)> {
        let indices = self.indices();
        let index = *indices.first().filter(|_| indices.len() == 1)?;
        let symbol = Symbol::Index(index);
        (self.coefficient(&symbol)? == Polynomial::number(1)).then(|| (index, self.without(&symbol)))
    }

    /// A value for sorting: all symbols large and alike.
    pub fn magnitude(&self) -> i128 {
        let term = |(product, coefficient): (&Vec<Symbol>, &i64)| {
            let power = 100_000_i128.saturating_pow(u32::try_from(product.len()).unwrap_or(u32::MAX));
            power.saturating_mul(i128::from(*coefficient))
        };
        self.terms.iter().map(term).fold(0_i128, i128::saturating_add)
    }

    /// The part that grows with its symbols: without its number.
    pub fn growing(&self) -> Polynomial {
        let terms = self.terms.iter().filter(|(product, _)| !product.is_empty());
        Polynomial { terms: terms.map(|(product, by)| (product.clone(), *by)).collect() }
    }

    /// The quotient by a polynomial without indices, judged by its leading term; numbers are divided to the nearest.
    pub fn quotient(&self, divisor: &Polynomial) -> Polynomial {
        let mut quotient = Polynomial::default();
        let Some((leading, by)) = divisor.terms.iter().max_by_key(|(product, _)| product.len()) else {
            return quotient;
        };
        if *by <= 0 {
            return quotient;
        }
        if leading.is_empty() {
            return Polynomial::number(self.offset().saturating_add(by / 2).div_euclid(*by));
        }
        let mut rest = self.clone();
        // Each round removes a term that the leading one divides; the others have fewer factors.
        for _ in 0..MOST_TERMS {
            let found = rest.terms.iter().find_map(|(product, coefficient)| {
                (coefficient % by == 0).then_some(())?;
                Some((remove_factors(product, leading)?, coefficient / by))
            });
            let Some((product, coefficient)) = found else { break };
            let term = Polynomial { terms: BTreeMap::from([(product, coefficient)]) };
            let step = term.times(divisor).and_then(|part| rest.plus(&part, -1)).zip(quotient.plus(&term, 1));
            let Some((next, sum)) = step else { break };
            rest = next;
            quotient = sum;
        }
        quotient
    }

    /// The quotient by a stride, also of symbols by a number: what is no multiple of it stays in the rest.
    pub fn divided(&self, stride: &Polynomial) -> Polynomial {
        let Some(by) = stride.constant().filter(|by| *by > 0) else { return self.quotient(stride) };
        let mut terms = BTreeMap::new();
        for (product, coefficient) in &self.terms {
            let own = if product.is_empty() {
                coefficient.div_euclid(by)
            } else if coefficient % by == 0 {
                coefficient / by
            } else {
                0
            };
            if own != 0 {
                terms.insert(product.clone(), own);
            }
        }
        Polynomial { terms }
    }

    /// As C, with names for the symbols; every operand is converted to `ptrdiff_t`.
    pub fn to_c(&self, name: &dyn Fn(&Symbol) -> String) -> String {
        let mut text = String::new();
        // The constant last.
        let terms = self.terms.iter().filter(|(product, _)| !product.is_empty());
        for (product, coefficient) in terms.chain(self.terms.get_key_value(&Vec::new())) {
            let sign = if *coefficient < 0 { "-" } else { "+" };
            let mut factors: Vec<String> = product.iter().map(name).collect();
            if factors.is_empty() || coefficient.unsigned_abs() != 1 {
                factors.insert(0, coefficient.unsigned_abs().to_string());
            }
            match (text.is_empty(), sign) {
                (true, "+") => {}
                (true, _) => text.push('-'),
                (false, _) => {
                    let _ = write!(text, " {sign} ");
                }
            }
            text.push_str(&factors.join(" * "));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}

/// A product without some factors; `None` if it does not have them all.
fn remove_factors(product: &[Symbol], factors: &[Symbol]) -> Option<Vec<Symbol>> {
    let mut rest = product.to_vec();
    for factor in factors {
        let at = rest.iter().position(|other| other == factor)?;
        rest.remove(at);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> Polynomial {
        Polynomial::symbol(Symbol::Constant("n".to_owned()))
    }

    fn i() -> Polynomial {
        Polynomial::symbol(Symbol::Index(0))
    }

    #[test]
    fn arithmetic() {
        let one = Polynomial::number(1);
        let side = n().plus(&one, 2).unwrap();
        let flat = i().plus(&one, -1).unwrap().times(&side).unwrap();
        assert_eq!(flat.coefficient(&Symbol::Index(0)), Some(side.clone()));
        let rest = flat.without(&Symbol::Index(0));
        assert_eq!(rest.quotient(&side), Polynomial::number(-1));
        let last = n().plus(&one, -1).unwrap();
        assert_eq!(last.times(&side).unwrap().quotient(&side), last);
        assert_eq!(Polynomial::number(99).quotient(&Polynomial::number(100)), one);
        assert_eq!(side.distance(&n()), Some(2));
        assert_eq!(i().plus(&one, 3).unwrap().index_plus(), Some((0, Polynomial::number(3))));
        assert_eq!(flat.index_plus(), None);
        let text = flat.to_c(&|symbol| match symbol {
            Symbol::Constant(name) => name.clone(),
            _ => "i".to_owned(),
        });
        assert_eq!(text, "-n + n * i + 2 * i - 2");
    }
}
