//! Lines of the text that takes the place of a time loop.

use crate::nest::TimeLoop;
use crate::polynomial::{Polynomial, Symbol};
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

    /// Runs statements at every time step.
    pub(super) fn over_time(&mut self, time: &TimeLoop, body: &[String]) {
        let step = if time.step == 1 { String::new() } else { format!(" * {}", time.step) };
        self.block("for (ptrdiff_t tw_s = 0; tw_s < tw_steps; ++tw_s)", |lines| {
            lines.line(format!(
                "const {} {} = ({})(tw_first + tw_s{step});",
                time.type_name, time.name, time.type_name
            ));
            lines.line(format!("(void){};", time.name));
            body.iter().for_each(|line| lines.line(line));
        });
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

/// A bound as C.
pub(super) fn c_bound(bound: &Polynomial) -> String {
    bound.to_c(&constant)
}

/// The index of a loop.
pub(super) fn point(d: usize) -> String {
    format!("tw_x{d}")
}
