//! Makefiles and CMake.

use crate::visible::is_hidden;

/// Whether make takes the name as it is in a rule: letters, digits and `_-.+,/`, and nothing at its beginning that a
/// shell, a compiler or make has a meaning for. Other names can stand in recipes only, as [`make_word`].
pub fn is_make_name(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || is_sign(letter);
    name.starts_with(plain) && name.chars().all(|letter| plain(letter) || "-.+,/".contains(letter))
}

/// A sign beyond ASCII, which no tool has a meaning for.
fn is_sign(letter: char) -> bool {
    !letter.is_ascii() && !letter.is_whitespace() && !is_hidden(letter)
}

/// A word of a recipe: one argument of a command, whatever is in it but the end of a line or a zero byte.
pub fn make_word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./+,:".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    // First for the shell, then for make, to which `$` alone means something in a recipe.
    format!("'{}'", text.replace('\'', "'\\''")).replace('$', "$$")
}

/// Whether CMake and what it generates take the name of a source or a program. The generators do not quote what make
/// understands in a rule.
pub fn is_cmake_name(name: &str) -> bool {
    !name.starts_with(['~', '.'])
        && name.chars().all(|letter| {
            letter.is_ascii_alphanumeric() || is_sign(letter) || "_-.+,/ ()'=@&!^~".contains(letter)
        })
}

/// Whether [`cmake_flag`] can hold the text: a list of CMake does not end within brackets.
pub fn is_cmake_flag(text: &str) -> bool {
    let depths = text.chars().scan(0_i64, |depth, letter| {
        *depth += i64::from(letter == '[') - i64::from(letter == ']');
        Some(*depth)
    });
    let (mut least, mut last) = (0, 0);
    for depth in depths {
        (least, last) = (depth.min(least), depth);
    }
    least == 0 && last == 0
}

/// The inside of a quoted argument of CMake: no variable, escape or list.
pub fn cmake_argument(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace(';', "\\;")
}

/// The inside of a quoted argument that CMake looks for generator expressions in, as in options of a compiler: `$<`
/// becomes `$<1:$><`, an expression that stands for `$`, and `<`.
pub fn cmake_flag(text: &str) -> String {
    cmake_argument(text).replace("\\$<", "$<1:$><")
}
