//! Generated text within a program whose macros would change it, as `#define double float` does.

use std::collections::{BTreeSet, HashSet};

/// The lines before and behind a text between which none of its words is a macro.
pub fn around(text: &str, macros: &HashSet<String>) -> (String, String) {
    let words: BTreeSet<&str> =
        crate::preprocess::words(text).into_iter().filter(|word| macros.contains(*word)).collect();
    let (mut hidden, mut shown) = (String::new(), String::new());
    for word in words {
        hidden.push_str(&format!("#pragma push_macro(\"{word}\")\n#undef {word}\n"));
        shown.push_str(&format!("#pragma pop_macro(\"{word}\")\n"));
    }
    (hidden, shown)
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn only_words_that_are_macros() {
        let macros = ["double", "N", "other"].map(str::to_owned).into();
        let (hidden, shown) = around("x = (double)y; /* N */", &macros);
        assert_eq!(hidden, "#pragma push_macro(\"double\")\n#undef double\n");
        assert_eq!(shown, "#pragma pop_macro(\"double\")\n");
    }
}
