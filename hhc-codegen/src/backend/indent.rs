//! Indentation of generated C: templates nest a varying number of loops, so the depth of a line is known
//! only when the text is complete.

/// The text with four spaces per open brace, and no two empty lines in a row. Directives stay at the margin.
pub(super) fn indent_c(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut in_comment = false;
    let mut previous_empty = true;
    for line in text.lines() {
        let code = line.trim();
        if code.is_empty() {
            if !previous_empty {
                out.push('\n');
            }
            previous_empty = true;
            continue;
        }
        let opens = code.matches('{').count();
        let closes = code.matches('}').count();
        let spaces = match (code.starts_with('#'), in_comment) {
            (true, false) => 0,
            (_, true) => 4 * depth + 1,
            _ => 4 * depth.saturating_sub(usize::from(code.starts_with('}'))),
        };
        out.extend(std::iter::repeat_n(' ', spaces));
        out.push_str(code);
        out.push('\n');
        if !in_comment {
            depth = (depth + opens).saturating_sub(closes);
        }
        in_comment = match (code.rfind("/*"), code.rfind("*/")) {
            (Some(start), Some(end)) => start > end,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => in_comment,
        };
        previous_empty = false;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::indent_c;

    #[test]
    fn depth_follows_the_braces() {
        let text = "/* a\n* b { */\nint f(void)\n{\nfor (;;) {\n#pragma omp simd\nx;\n\n\n}\n} else {\n}\n";
        let expected = "/* a\n * b { */\nint f(void)\n{\n    for (;;) {\n#pragma omp simd\n        x;\n\n    }\n} else {\n}\n";
        assert_eq!(indent_c(text), expected);
    }
}
