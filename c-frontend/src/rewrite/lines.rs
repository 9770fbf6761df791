//! Lines of the text that takes the place of a time loop.

use crate::polynomial::Symbol;
use std::fmt::Write;

/// Lines with a common indentation.
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) depth: usize,
}

impl Lines {
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{}{}", "    ".repeat(self.depth), line.as_ref());
    }

    /// Runs within braces.
    pub(super) fn block(&mut self, head: impl AsRef<str>, body: impl FnOnce(&mut Lines)) {
        let head = head.as_ref();
        let space = if head.is_empty() { "" } else { " " };
        self.line(format!("{head}{space}{{"));
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }

    /// Loops over some dimensions.
    pub(super) fn loops(&mut self, sides: &[(usize, &(String, String))], body: &str) {
        let depth = self.depth;
        for (d, (low, high)) in sides {
            self.line(format!("for (ptrdiff_t tw_x{d} = {low}; tw_x{d} < {high}; ++tw_x{d})"));
            self.depth += 1;
        }
        self.line(body);
        self.depth = depth;
    }
}

/// A symbol of a bound or a stride.
pub(super) fn constant(symbol: &Symbol) -> String {
    match symbol {
        Symbol::Constant(text) => format!("(ptrdiff_t)({text})"),
        // Bounds and strides hold nothing else.
        Symbol::Index(_) | Symbol::Time | Symbol::TimeModulo { .. } | Symbol::Around { .. } => "0".to_owned(),
    }
}

/// The index of a loop.
pub(super) fn point(d: usize) -> String {
    format!("tw_x{d}")
}
