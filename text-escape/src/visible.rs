//! Characters that are not seen, but act: on a terminal, or on the order of the text around them.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is not seen as a sign or a space: controls (those that begin escape sequences among them), line
/// and paragraph separators, marks of the direction of writing, characters without a width, unassigned ones, and fillers
/// that look like nothing.
pub fn is_hidden(letter: char) -> bool {
    match letter {
        ' '..='~' => false,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{2028}' | '\u{2029}' | '\u{3164}' | '\u{ffa0}' => true,
        _ if letter.is_control() => true,
        _ => !letter.is_whitespace() && is_unprintable(letter),
    }
}

/// What the standard library does not print in a string: categories Cc, Cf, Cn, Co and separators.
fn is_unprintable(letter: char) -> bool {
    // Behind a letter, for accents that stand on one to count as printable.
    let mut buffer = [b'a', 0, 0, 0, 0];
    let length = letter.encode_utf8(&mut buffer[1..]).len();
    std::str::from_utf8(&buffer[..=length]).is_ok_and(|text| text.escape_debug().count() > 2)
}

fn replaced<'a>(text: &'a str, keep: &[char], by: impl Fn(char, &mut String)) -> Cow<'a, str> {
    let hidden = |letter: char| is_hidden(letter) && !keep.contains(&letter);
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if hidden(letter) { by(letter, &mut result) } else { result.push(letter) }
    }
    Cow::Owned(result)
}

fn code(letter: char, text: &mut String) {
    match letter {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        _ => {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(letter));
        }
    }
}

/// The text in one line, hidden characters written as codes such as `\n` and `\u{1b}`. Doing it twice changes nothing.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, &[], code)
}

/// The same with the ends of lines and tabs as they are; the two characters `\r\n` end a line, too.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        return Cow::Owned(replaced(&text.replace("\r\n", "\n"), &['\n', '\t'], code).into_owned());
    }
    replaced(text, &['\n', '\t'], code)
}

/// One character for each: a picture of a control character, or U+FFFD for others that are hidden. Columns stay what
/// they are. Tabs and ends of lines stay.
pub fn visible_char(letter: char) -> char {
    match letter {
        '\n' | '\t' => letter,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ if is_hidden(letter) => '\u{fffd}',
        _ => letter,
    }
}

/// A finished JSON document, which holds hidden characters in strings only, with them as `\u....`: the same document.
pub fn json(document: &str) -> Cow<'_, str> {
    replaced(document, &['\n', '\r', '\t'], |letter, text| {
        letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
            let _ = write!(text, "\\u{unit:04x}");
        });
    })
}
