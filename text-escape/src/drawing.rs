//! Pages and drawings.

use crate::visible::{visible, visible_lines};

/// Text in HTML, SVG or other XML, or in an attribute between quotes of either kind. What XML cannot hold, and what
/// would turn the order of letters, is written as [`visible_lines`] writes it.
pub fn markup(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for letter in visible_lines(text).chars() {
        match letter {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            // Attributes would make spaces of them.
            '\n' => result.push_str("&#10;"),
            '\t' => result.push_str("&#9;"),
            _ => result.push(letter),
        }
    }
    result
}

/// A label of Graphviz, between double quotes; an end of a line is one in the drawing.
pub fn dot(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        // Labels understand backslashes, as in `\N`, and the entities of HTML.
        .map(|line| visible(line).replace('\\', "\\\\").replace('&', "&amp;").replace('"', "\\\""))
        .collect();
    lines.join("\\n")
}
