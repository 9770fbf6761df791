//! Preprocessed text that a compiler checks in less time: without definitions of macros, and without the bodies of inline functions of the
//! system's headers.
//!
//! A header of a processor's instructions has thousands of inline functions, which take the compiler a quarter of a second; the user's own
//! part names few of them, and what they do is no concern of a check of that part. Functions that it names are still declared. So what a
//! compiler accepts here it accepts as a whole; what it refuses is asked again as a whole, for the messages, and in case that
//! a header needs what was left out.

use super::lexer;
use super::origin::{self, Files};
use std::collections::HashSet;

const INLINE: [&str; 3] = ["inline", "__inline", "__inline__"];
/// What may stand before a parenthesis and is no name of a function.
const NO_NAMES: [&str; 10] = [
    "__attribute__",
    "__attribute",
    "__asm__",
    "__asm",
    "asm",
    "__typeof__",
    "__typeof",
    "typeof",
    "__declspec",
    "_Alignas",
];
/// What a header says of how its own functions are compiled.
const OF_FUNCTIONS: [&str; 4] = ["target", "push_options", "pop_options", "optimize"];

/// The text to check; `None` where the declarations of headers cannot be told apart.
pub fn shortened(expanded: &[u8]) -> Option<Vec<u8>> {
    let mut files = Files::new();
    let mut lines = Vec::new();
    for line in expanded.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"#define ") || line.starts_with(b"#undef ") {
            continue;
        }
        // Markers are ASCII whatever the file's name is.
        match std::str::from_utf8(line).ok().and_then(|line| origin::marker(line.trim_end())) {
            Some(marker) => files.pass(&marker),
            None => lines.push((files.is_system(), line)),
        }
    }
    let own = lines.iter().filter(|(system, _)| !system).map(|(_, line)| String::from_utf8_lossy(line));
    let own: String = own.collect();
    let named: HashSet<&str> =
        lexer::tokens(&own).into_iter().map(|token| &own[token.start..token.end]).collect();
    let mut text = Vec::with_capacity(expanded.len());
    let mut open = Declaration::default();
    for (system, line) in lines {
        let is_directive = line.trim_ascii_start().starts_with(b"#");
        if system && !is_directive {
            open.read(line, &named, &mut text)?;
            continue;
        }
        if !open.is_empty() {
            return None;
        }
        if !(system && is_of_functions(line)) {
            text.extend_from_slice(line);
        }
    }
    open.is_empty().then_some(text)
}

fn is_of_functions(line: &[u8]) -> bool {
    let words = std::str::from_utf8(line).ok().and_then(lexer::pragma);
    words.is_some_and(|words| match words[..] {
        ["GCC", what, ..] => OF_FUNCTIONS.contains(&what.split('(').next().unwrap_or_default()),
        _ => false,
    })
}

/// What was read of a declaration of a header.
#[derive(Default)]
struct Declaration {
    text: Vec<u8>,
    /// Parentheses and brackets, and braces, that are open.
    depth: (usize, usize),
    /// Where the braces begin that follow parentheses.
    body: Option<usize>,
    /// The quotation mark of the literal that is open.
    quote: Option<u8>,
    is_escaped: bool,
    /// The last byte that is no space.
    last: u8,
}

impl Declaration {
    fn is_empty(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }

    /// Reads a line, and puts what is complete into the text.
    fn read(&mut self, line: &[u8], named: &HashSet<&str>, to: &mut Vec<u8>) -> Option<()> {
        for &byte in line {
            self.text.push(byte);
            if let Some(quote) = self.quote {
                if !self.is_escaped && byte == quote {
                    self.quote = None;
                }
                self.is_escaped = !self.is_escaped && byte == b'\\';
                continue;
            }
            let (round, braces) = &mut self.depth;
            let mut is_whole = false;
            match byte {
                b'"' | b'\'' => self.quote = Some(byte),
                b'(' | b'[' => *round += 1,
                b')' | b']' => *round = round.checked_sub(1)?,
                b'{' => {
                    if self.depth == (0, 0) && self.last == b')' {
                        self.body = Some(self.text.len() - 1);
                    }
                    self.depth.1 += 1;
                }
                b'}' => {
                    *braces = braces.checked_sub(1)?;
                    is_whole = self.depth == (0, 0) && self.body.is_some();
                }
                b';' => is_whole = self.depth == (0, 0),
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.last = byte;
            }
            if is_whole {
                let Declaration { text, body, .. } = std::mem::take(self);
                put(&text, body, named, to);
            }
        }
        Some(())
    }
}

/// A whole declaration: as it stands, or an inline function without its body, or without all of it.
fn put(text: &[u8], body: Option<usize>, named: &HashSet<&str>, to: &mut Vec<u8>) {
    let head = body.and_then(|body| std::str::from_utf8(&text[..body]).ok());
    match head.and_then(|head| Some((head, inline_function(head)?))) {
        Some((head, name)) if named.contains(name) => {
            to.extend_from_slice(head.as_bytes());
            to.extend_from_slice(b";\n");
        }
        Some(_) => {}
        None => {
            to.extend_from_slice(text);
            // What follows may be a directive.
            to.push(b'\n');
        }
    }
}

/// The name of the inline function that a definition begins.
fn inline_function(head: &str) -> Option<&str> {
    let tokens = lexer::tokens(head);
    let words: Vec<&str> = tokens.iter().map(|token| &head[token.start..token.end]).collect();
    if !words.iter().any(|word| INLINE.contains(word)) {
        return None;
    }
    let (mut depth, mut before, mut name) = (0_i64, "", None);
    for word in words {
        // `int (f)(void)`: what stands before the first parentheses is no name.
        if depth == 0 && word == "(" && before == ")" && name.is_some() {
            return None;
        }
        match word {
            "(" => {
                if depth == 0 && name.is_none() && !NO_NAMES.contains(&before) {
                    name = Some(before);
                }
                depth += 1;
            }
            ")" => depth -= 1,
            _ => {}
        }
        before = word;
    }
    name.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    fn of(header: &str, own: &str) -> Option<String> {
        let text = format!(
            "# 0 \"u.c\"\n# 1 \"/usr/include/h.h\" 1 3 4\n{header}# 2 \"u.c\" 2\n#define M 1\n{own}\n# 2 \"u.c\" 3 4\n(1)\n"
        );
        shortened(text.as_bytes()).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn inline_functions_of_headers_are_left_out_unless_they_are_named() {
        let header = "#pragma GCC push_options\n#pragma GCC target(\"avx\")\n#pragma pack(1)\n\
            typedef int __attribute__((may_alias)) v;\n\
            extern __inline v __attribute__((__gnu_inline__, __artificial__))\n# 9 \"/usr/include/h.h\" 3 4\nadd(v a)\n{ return \"}\\\"\"[0] + '}' + a; }\n\
            extern __inline v sub(v a) { if (a) { } return 1; }\n\
            struct __attribute__((packed)) s { int a; };\nstruct __attribute__((packed)) { int a; } one;\n\
            static const int t[2] = {1, 2};\nint plain(void) { return 3; }\n";
        let found = of(header, "int f(void) { return add(2); }").unwrap();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words(&found),
            "#pragma pack(1) typedef int __attribute__((may_alias)) v; extern __inline v __attribute__((__gnu_inline__, __artificial__)) add(v a) ; \
             struct __attribute__((packed)) s { int a; }; struct __attribute__((packed)) { int a; } one; static const int t[2] = {1, 2}; \
             int plain(void) { return 3; } int f(void) { return add(2); } (1)"
        );
        // The user's own functions stay, and so does what is not known.
        let own = "static inline int g(void) { return 1; }";
        assert!(of("", own).unwrap().contains(own));
        assert!(of("static inline int (g)(void) { return 1; }\n", "").unwrap().contains("(g)"));
    }

    #[test]
    fn declarations_across_files_are_not_taken_apart() {
        assert_eq!(of("int a[] = {\n", "1, 2 };"), None);
        assert_eq!(of("int f(\n#pragma pack(1)\nint a);\n", ""), None);
        assert_eq!(of("int f) ;\n", ""), None);
    }
}
