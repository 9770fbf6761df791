//! The arguments of `compile`.

use crate::arguments::{
    ArithmeticArguments, ChoiceArguments, PlanArguments, RanksName, Size, TargetName, steps_parser,
};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `compile`.
#[derive(Debug, Args)]
pub struct CompileArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Language of the code
    #[arg(long, value_name = "TARGET")]
    pub target: TargetName,
    /// Grid size, slowest dimension first, for the number of launches (the code is for all sizes)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Number of time steps, for the number of launches (the code is for all numbers)
    #[arg(long, value_name = "N", value_parser = steps_parser(), allow_negative_numbers = true)]
    pub steps: Option<i64>,
    /// Machine that the tile sizes are chosen for: a name or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Who chooses tile sizes.
    #[command(flatten)]
    pub choice: ChoiceArguments,
    /// What code may compute in place of the program's own operations.
    #[command(flatten)]
    pub arithmetic: ArithmeticArguments,
    /// Write a library for ranks of MPI, too: auto, or so many ranks per dimension, such as 2x2 (the code is for all
    /// numbers; these are its default)
    #[arg(long, value_name = "auto|RANKS")]
    pub ranks: Option<RanksName>,
    /// Folder to write to; it is made where there is none
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Replace files of the folder that Tilewright did not write, or that were changed since; never what is read
    #[arg(long)]
    pub force: bool,
    /// Choose among several tilings at each call, by what the program will be used for: a file with sizes and steps
    #[arg(long, value_name = "FILE", conflicts_with_all = ["size", "steps", "ranks"])]
    pub adaptive: Option<PathBuf>,
    /// Put NAME and an underscore before all external names and before file names, so that several versions of a
    /// stencil can be linked into one program
    #[arg(long, value_name = "NAME", value_parser = parse_prefix)]
    pub prefix: Option<String>,
    /// Another source of the same C program; may be repeated. A source `x.c` beside a header `x.h` that is
    /// included is found without; the time loop may be in any of them
    #[arg(long, value_name = "FILE", help_heading = "C files")]
    pub with: Vec<PathBuf>,
}

/// Words of C, C++ and CUDA that are no names.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
];

/// The most letters of a prefix: what C compilers must tell apart, with room for the names behind it.
const MOST_PREFIX: usize = 40;

/// A name that may begin external names in C and C++.
fn parse_prefix(text: &str) -> Result<String, String> {
    let problem = if !text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        || !text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    {
        "is no name in C: letters, digits and underscores, a letter first"
    } else if text.contains("__") {
        "has two underscores in a row, which C++ keeps for itself"
    } else if text.len() > MOST_PREFIX {
        "is too long: it may have 40 letters"
    } else if KEYWORDS.contains(&text.trim_end_matches('_')) {
        "is a word of C or C++"
    } else if text.trim_end_matches('_').eq_ignore_ascii_case("tw") {
        "begins the names that generated code uses itself"
    } else {
        return Ok(text.to_owned());
    };
    Err(format!("`{text}` {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        for name in ["f32", "f64_", "MyLib", "a", "int32"] {
            assert_eq!(parse_prefix(name).as_deref(), Ok(name));
        }
        for name in
            ["", "6f", "_a", "a-b", "a b", "a.b", "\u{e4}", "int", "class_", "a__b", "tw", "TW_", "a;b", "$a"]
        {
            assert!(parse_prefix(name).is_err(), "{name}");
        }
        assert!(parse_prefix(&"a".repeat(41)).is_err());
    }
}
