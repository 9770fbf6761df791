//! The description of a stencil: the comment in front of it.

use crate::token::{Token, TokenKind};

/// The comments right before the stencil, with no empty line between, without comment marks.
pub fn description(text: &str, tokens: &[Token]) -> String {
    let Some(stencil) = tokens.iter().position(|token| token.kind != TokenKind::Comment) else {
        return String::new();
    };
    let mut first = stencil;
    while first > 0 {
        let gap = &text[tokens[first - 1].span.end..tokens[first].span.start];
        if gap.matches('\n').count() > 1 {
            break;
        }
        first -= 1;
    }
    let mut lines: Vec<&str> = Vec::new();
    for comment in &tokens[first..stencil] {
        let body = &text[comment.span.clone()];
        if let Some(line) = body.strip_prefix("//") {
            lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end());
        } else {
            let body = body.strip_prefix("/*").unwrap_or(body);
            let body = body.strip_suffix("*/").unwrap_or(body);
            lines.extend(body.lines().map(|line| {
                let line = line.trim();
                let line = line.strip_prefix('*').unwrap_or(line);
                line.strip_prefix(' ').unwrap_or(line)
            }));
        }
    }
    while lines.first().is_some_and(|line| line.is_empty()) {
        lines.remove(0);
    }
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines.join("\n")
}
