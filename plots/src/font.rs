//! The one font, and how wide text is in it. Drawings name families and do not bring them, so widths are
//! those of the widest that is common: what fits here fits everywhere.

use std::borrow::Cow;
use text_escape::visible;
use unicode_width::UnicodeWidthChar;

/// Families, the preferred one first.
pub(crate) const FAMILY: &str = "Helvetica, Arial, sans-serif";
/// Where columns must stand below each other.
pub(crate) const MONOSPACED: &str = "DejaVu Sans Mono, Menlo, Consolas, monospace";
/// Sizes in pixels: titles, and everything else.
pub(crate) const TITLE: f64 = 15.0;
/// Of labels, legends and titles of axes.
pub(crate) const LABEL: f64 = 12.0;
/// Height of a line of labels.
pub(crate) const LINE: f64 = 18.0;
/// Most characters of a name that a pointer shows.
pub(crate) const LONGEST_TITLE: usize = 400;

/// Advance widths of ` ` to `~` in thousandths of the size: the larger one of DejaVu Sans and Liberation
/// Sans.
#[rustfmt::skip]
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 556,
    1015, 684, 686, 722, 770, 667, 611, 778, 752, 295, 500, 667, 557, 863, 748, 787,
    667, 787, 722, 667, 611, 732, 684, 989, 685, 667, 685, 390, 337, 390, 838, 556,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];
/// Other signs of ours; none is wider than its size.
const KNOWN: &str = "…×²µ°–·≤≥";
const BOLD: f64 = 1.14;

/// Whether the width of a text is known, and not only estimated.
pub(crate) fn is_known(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii() || KNOWN.contains(letter))
}

/// Width in pixels.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let of = |letter: char| match (u32::from(letter) as usize).checked_sub(32).and_then(|at| WIDTHS.get(at)) {
        Some(&width) => f64::from(width),
        None if KNOWN.contains(letter) => 1000.0,
        None => [0.0, 650.0, 1050.0][letter.width().unwrap_or(1).min(2)],
    };
    text.chars().map(of).sum::<f64>() / 1000.0 * size * if bold { BOLD } else { 1.0 }
}

/// The text in one line, cut so that it is at most `most` pixels wide.
pub(crate) fn fit(text: &str, size: f64, bold: bool, most: f64) -> Cow<'_, str> {
    // What a line cannot hold anyway need not be looked through.
    let text = match text.char_indices().nth(2000) {
        Some((end, _)) => Cow::Owned(format!("{}…", visible(&text[..end]))),
        None => visible(text),
    };
    if width(&text, size, bold) <= most {
        return text;
    }
    let room = most - width("…", size, bold);
    let mut used = 0.0;
    let kept = text.chars().take_while(|letter| {
        used += width(letter.encode_utf8(&mut [0; 4]), size, bold);
        used <= room
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end()).into()
}

/// The text in at most `lines` lines, broken at spaces; the last one is cut.
pub(crate) fn wrap(text: &str, size: f64, bold: bool, most: f64, lines: usize) -> Vec<String> {
    let text = visible(text);
    let mut broken: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if broken.len() + 1 == lines {
            broken.push(fit(rest, size, bold, most).into_owned());
            break;
        }
        let (mut used, mut end) = (0.0, None);
        for (at, letter) in rest.char_indices() {
            if letter == ' ' {
                end = Some(at);
            }
            used += width(letter.encode_utf8(&mut [0; 4]), size, bold);
            if used > most {
                break;
            }
        }
        let end = match end {
            Some(end) if used > most => end,
            _ if used > most => {
                broken.push(fit(rest, size, bold, most).into_owned());
                break;
            }
            _ => rest.len(),
        };
        broken.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    broken
}

/// What a pointer shows: names of any length make no drawing of any length.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_where_it_does_not_fit() {
        assert_eq!(fit("short", LABEL, false, 100.0), "short");
        let long = "x".repeat(10_000);
        let cut = fit(&long, LABEL, false, 100.0);
        assert!(cut.ends_with('…') && width(&cut, LABEL, false) <= 100.0 && cut.len() > 10);
        assert_eq!(fit("a\u{202e}b\n", LABEL, false, 200.0), "a\\u{202e}b\\n");
        assert!(width("日本", LABEL, false) >= 2.0 * LABEL);
        assert_eq!(shortened(&long).chars().count(), LONGEST_TITLE + 1);
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        let text = "one two three four five six";
        let lines = wrap(text, LABEL, false, 70.0, 9);
        assert_eq!(lines.join(" "), text);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, LABEL, false) <= 70.0), "{lines:?}");
        let cut = wrap(text, LABEL, false, 70.0, 2);
        assert!(cut.len() == 2 && cut[1].ends_with('…'), "{cut:?}");
        let word = wrap(&"y".repeat(500), LABEL, false, 70.0, 3);
        assert!(word.len() == 1 && word[0].ends_with('…'), "{word:?}");
        assert!(wrap("", LABEL, false, 70.0, 3).is_empty());
    }
}
