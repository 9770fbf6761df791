//! Comments.

use crate::visible::visible;

/// A text in one line of a comment of C, CUDA, CMake or a Makefile: it neither ends nor begins a comment, makes no
/// trigraph, and does not continue on the next line.
pub fn comment(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut before = ' ';
    for letter in visible(text).chars() {
        if matches!((before, letter), ('*', '/') | ('/', '*') | ('?', '?')) {
            result.push(' ');
        }
        result.push(letter);
        before = letter;
    }
    // GCC joins lines behind a backslash and spaces, too.
    result.truncate(result.trim_end_matches(|c: char| c == '\\' || c.is_whitespace()).len());
    result
}

/// Each line of a text as [`comment`].
pub fn comment_lines(text: &str) -> Vec<String> {
    text.lines().map(comment).collect()
}
