//! What is told of a program has the program's own names: where calls were taken apart, `sum` of a function may have become
//! `sum_2`.

use crate::nest::STEP;
use crate::text::shown;
use polyhedral::diagnostic::Diagnostic;

/// A diagnostic with the program's names; `known`: whether a word stands in the program.
pub(crate) fn with_own_names(mut diagnostic: Diagnostic, known: &dyn Fn(&str) -> bool) -> Diagnostic {
    let own = |text: &mut String| *text = own_names(text, known);
    own(&mut diagnostic.message);
    own(&mut diagnostic.primary.text);
    diagnostic.related.iter_mut().for_each(|label| own(&mut label.text));
    diagnostic.notes.iter_mut().chain(&mut diagnostic.hints).for_each(own);
    diagnostic
}

/// A text with the program's names.
pub(crate) fn own_names(text: &str, known: &dyn Fn(&str) -> bool) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let text = shown(text);
    let mut result = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find(is_part) {
        let length = rest[start..].find(|letter| !is_part(letter)).unwrap_or(rest.len() - start);
        let (before, word) = (&rest[..start], &rest[start..start + length]);
        result.push_str(before);
        let own = if word == STEP { "step" } else { own_name(word, known).unwrap_or(word) };
        result.push_str(own);
        rest = &rest[start + length..];
    }
    result + rest
}

/// `sum` of `sum_2`, if the program has no such name but that one.
fn own_name<'a>(word: &'a str, known: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    let (stem, number) = word.rsplit_once('_')?;
    let made = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (made && !stem.is_empty() && !known(word) && known(stem)).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::own_names;

    #[test]
    fn names_that_the_program_has_not_are_traced_back() {
        let known = |word: &str| ["sum", "u_2", "u", "n_1"].contains(&word);
        let told = own_names("`sum_2` of `u_2`, `n_1_3`, `x_2` and TW1210, 2_3", &known);
        assert_eq!(told, "`sum` of `u_2`, `n_1`, `x_2` and TW1210, 2_3");
        assert_eq!(own_names("distance (0, 1) over (tw_t, i)", &known), "distance (0, 1) over (step, i)");
        assert_eq!(own_names("`f[]@double [9][2]`, `u_2[]@x`", &known), "`f[][2]`, `u_2[]@x`");
    }
}
