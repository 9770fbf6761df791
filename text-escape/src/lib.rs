//! Text that others wrote (names, descriptions, messages, paths, macros), made fit for the place where it is written:
//! there it is shown or compared, and never understood as anything else.
//!
//! | place | function |
//! |---|---|
//! | a terminal, one line | [`visible()`] |
//! | a terminal, lines as they are | [`visible_lines`] |
//! | a source line above underlined places | [`visible_char`] |
//! | HTML and SVG: text, and attributes in quotes | [`markup`] |
//! | Graphviz: a label in quotes | [`dot`] |
//! | a comment of C, CUDA or a build file | [`comment`], [`comment_lines`] |
//! | a word of a recipe in a Makefile | [`make_word`] |
//! | an argument in CMake | [`cmake_argument`], [`cmake_flag`] |
//! | a cell of a CSV file | [`csv_cell`], read back by [`csv_text`] |
//! | a finished JSON document | [`json`] |
//!
//! [`suggest`] finds the name that a word was meant to be.
//!
//! ```
//! use text_escape::{comment, csv_cell, markup, suggest, visible};
//!
//! assert_eq!(markup("<b>&"), "&lt;b&gt;&amp;");
//! assert_eq!(comment("*/ int main;"), "* / int main;");
//! assert_eq!(visible("red\u{1b}[31m"), "red\\u{1b}[31m");
//! assert_eq!(csv_cell("=cmd()"), "'=cmd()");
//! assert_eq!(suggest::nearest("haet2d", ["heat2d", "wave2d"].into_iter()), Some("heat2d"));
//! ```

mod build;
mod comment;
mod csv;
mod drawing;
pub mod suggest;
mod visible;

pub use build::{cmake_argument, cmake_flag, is_cmake_flag, is_cmake_name, is_make_name, make_word};
pub use comment::{comment, comment_lines};
pub use csv::{csv_cell, csv_text};
pub use drawing::{dot, markup};
pub use visible::{is_hidden, json, visible, visible_char, visible_lines};
