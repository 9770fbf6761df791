//! The header of a `.npy` file: a Python dictionary literal.

use polyhedral::program::ElementType;

/// What a header tells of an array that we can read: `<f4` or `<f8` in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Type of the elements.
    pub element: ElementType,
    /// Extents, slowest first; empty for a scalar.
    pub shape: Vec<u64>,
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
pub(super) fn parse(text: &str) -> Result<Header, String> {
    let mut scanner = Scanner { rest: text };
    let (mut element, mut fortran_order, mut shape) = (None, None, None);
    scanner.expect('{')?;
    while !scanner.take('}') {
        let key = scanner.string()?;
        scanner.expect(':')?;
        match key {
            "descr" => element = Some(scanner.element()?),
            "fortran_order" => fortran_order = Some(scanner.truth()?),
            "shape" => shape = Some(scanner.shape()?),
            other => return Err(format!("has an unknown header key '{}'", shorten(other))),
        }
        if !scanner.take(',') {
            scanner.expect('}')?;
            break;
        }
    }
    if !scanner.rest.trim_matches(|c: char| c.is_whitespace() || c == '\0').is_empty() {
        return Err(format!("has a header with text after its end: `{}`", shorten(scanner.rest.trim())));
    }
    let missing = |key: &str| format!("has a header without '{key}'");
    if fortran_order.ok_or_else(|| missing("fortran_order"))? {
        return Err("holds an array in Fortran (column-major) order; C order is needed: \
                    save `numpy.ascontiguousarray(a)`"
            .to_owned());
    }
    Ok(Header {
        element: element.ok_or_else(|| missing("descr"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn take(&mut self, symbol: char) -> bool {
        match self.rest.trim_start().strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: char) -> Result<(), String> {
        if self.take(symbol) {
            Ok(())
        } else {
            let found = shorten(self.rest.trim_start());
            Err(format!("has a header that cannot be understood: `{symbol}` was expected at `{found}`"))
        }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.take('"') {
            '"'
        } else {
            self.expect('\'')?;
            '\''
        };
        let (string, rest) =
            self.rest.split_once(quote).ok_or_else(|| "has a header with an unfinished string".to_owned())?;
        self.rest = rest;
        Ok(string)
    }

    fn element(&mut self) -> Result<ElementType, String> {
        if self.rest.trim_start().starts_with('[') {
            return Err(
                "holds records (a structured array); a plain array of '<f4' or '<f8' is needed".to_owned()
            );
        }
        match self.string()? {
            "<f4" => Ok(ElementType::F32),
            "<f8" => Ok(ElementType::F64),
            big @ (">f4" | ">f8") => Err(format!(
                "holds big-endian elements ('{big}'); little-endian is needed: save `a.astype('<{}')`",
                &big[1..]
            )),
            other => Err(format!(
                "holds elements of type '{}'; '<f4' or '<f8' is needed: save `a.astype('<f4')`",
                shorten(other)
            )),
        }
    }

    fn truth(&mut self) -> Result<bool, String> {
        let rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(format!(
            "has a header that cannot be understood: True or False was expected at `{}`",
            shorten(rest)
        ))
    }

    fn shape(&mut self) -> Result<Vec<u64>, String> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            shape.push(self.number()?);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn number(&mut self) -> Result<u64, String> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, rest) = rest.split_at(end);
        // Python 2 wrote long integers with an L.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits
            .parse()
            .map_err(|_| format!("has a shape that cannot be understood: `{}` is no extent", shorten(digits)))
    }
}
