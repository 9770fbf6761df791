//! Other spellings of what C has: digraphs, and keywords as the headers of gcc and glibc write them.

use super::lexer;
use std::borrow::Cow;

const SPELLINGS: [(&str, &str); 16] = [
    ("<:", "["),
    (":>", "]"),
    ("<%", "{"),
    ("%>", "}"),
    ("__volatile__", "volatile"),
    ("__volatile", "volatile"),
    ("__const__", "const"),
    ("__const", "const"),
    ("__restrict__", "restrict"),
    ("__restrict", "restrict"),
    ("__inline__", "inline"),
    ("__inline", "inline"),
    ("__signed__", "signed"),
    ("__signed", "signed"),
    ("_Alignof", "alignof"),
    ("_Thread_local", "thread_local"),
];

/// The line with the usual spellings, each followed by spaces so that all offsets stay.
pub fn usual(line: &str) -> Cow<'_, str> {
    if !SPELLINGS.iter().any(|(other, _)| line.contains(other)) {
        return Cow::Borrowed(line);
    }
    let mut result = String::with_capacity(line.len());
    let mut from = 0;
    for token in lexer::tokens(line) {
        let text = &line[token.start..token.end];
        if let Some((_, usual)) = SPELLINGS.iter().find(|(other, _)| *other == text) {
            result.push_str(&line[from..token.start]);
            result.push_str(&format!("{usual:<width$}", width = text.len()));
            from = token.end;
        }
    }
    result.push_str(&line[from..]);
    Cow::Owned(result)
}

#[cfg(test)]
mod tests {
    use super::usual;

    #[test]
    fn offsets_stay() {
        let line = "__volatile__ int a<:3:> = <% 1 %>; char *s = \"<:\"; x = a<b;";
        let wanted = "volatile     int a[ 3]  = {  1 } ; char *s = \"<:\"; x = a<b;";
        assert_eq!(usual(line), wanted);
        assert_eq!(usual("static _Thread_local int a;"), "static thread_local  int a;");
        assert_eq!(usual("a[3]"), "a[3]");
    }
}
