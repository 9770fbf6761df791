//! Reports as HTML pages, from templates: nothing is loaded from elsewhere, drawings are inline, and a page prints.
//!
//! Templates escape what they put in; what goes in as it is are finished drawings, which have a type of their own, the
//! style, and the one script that pages may have. The page's own policy (CSP) allows these by their hashes and nothing
//! else: no script of a name runs. A page is well-formed XML, so that a test can read it strictly.

use crate::error::{PlotError, Result};
use crate::palette;
use crate::svg::Svg;
use handlebars::Handlebars;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Style of all pages.
const STYLE: &str = include_str!("../templates/reports/report.css");

/// What lets readers filter and sort the designs of a page.
const SCRIPT: &str = include_str!("../templates/reports/report.js");

/// Names and texts of the layout and of what pages have in common.
const PARTIALS: [(&str, &str); 6] = [
    ("layout", include_str!("../templates/reports/layout.hbs")),
    ("table", include_str!("../templates/reports/table.hbs")),
    ("figure", include_str!("../templates/reports/figure.hbs")),
    ("facts", include_str!("../templates/reports/facts.hbs")),
    ("list", include_str!("../templates/reports/list.hbs")),
    ("cards", include_str!("../templates/reports/cards.hbs")),
];

/// A drawing and what stands below it; `{{> figure}}` shows it.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    svg: Svg,
    caption: String,
    /// Class of the figure; none where it is empty.
    kind: &'static str,
}

impl Figure {
    /// A drawing with its caption.
    pub fn new(svg: Svg, caption: impl Into<String>) -> Figure {
        Figure { svg, caption: caption.into(), kind: "" }
    }

    /// One whose marks are designs: their titles begin with the names that the table of designs has.
    #[must_use]
    pub fn of_designs(self) -> Figure {
        Figure { kind: "designs", ..self }
    }
}

/// A table of texts; `{{> table}}` shows it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// Names of the columns.
    pub header: Vec<String>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of these columns.
    pub fn new<N: Into<String>>(header: impl IntoIterator<Item = N>, rows: Vec<Vec<String>>) -> Table {
        Table { header: header.into_iter().map(Into::into).collect(), rows }
    }
}

/// A value that stands out, and what it is; `{{> facts}}` shows a list of them.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    /// The value.
    pub value: String,
    /// What it is.
    pub name: String,
}

/// A design among others; `{{> cards}}` shows a list of them side by side.
#[derive(Debug, Clone, Serialize)]
pub struct Card {
    /// What it is best at.
    pub role: String,
    /// Its name.
    pub design: String,
    /// Its values.
    pub values: Vec<CardValue>,
    /// A remark.
    pub note: String,
}

/// A value of a card.
#[derive(Debug, Clone, Serialize)]
pub struct CardValue {
    /// What it is.
    pub name: String,
    /// The value with its unit.
    pub value: String,
    /// How it differs from that of the first card.
    pub change: String,
}

#[derive(Serialize)]
struct Page<'a, T> {
    title: &'a str,
    policy: String,
    style: String,
    script: Option<String>,
    report: &'a T,
}

/// A page: a template inside the layout, filled with a report. The template finds the report's fields under
/// `report`.
///
/// # Errors
/// [`PlotError::Page`]: a template that cannot be read, or that names what the report does not have.
pub fn page(template: &str, title: &str, report: &impl Serialize) -> Result<String> {
    fill(template, title, report, None)
}

/// The same with the script that filters and sorts the table `designs` of the page.
///
/// # Errors
/// As for [`page`].
pub fn page_of_designs(template: &str, title: &str, report: &impl Serialize) -> Result<String> {
    fill(template, title, report, Some(format!("\n{SCRIPT}")))
}

fn fill(template: &str, title: &str, report: &impl Serialize, script: Option<String>) -> Result<String> {
    let failed = |error: String| PlotError::Page(error);
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(text_escape::markup);
    for (name, text) in PARTIALS {
        engine.register_partial(name, text).map_err(|error| failed(error.to_string()))?;
    }
    let style = format!("\n{STYLE}");
    let policy = policy(&[&style, &palette::style()], script.as_deref());
    engine
        .render_template(template, &Page { title, policy, style, script, report })
        .map_err(|error| failed(error.to_string()))
}

/// Nothing but these styles, this script, and the empty picture that keeps browsers from asking for an icon.
fn policy(styles: &[&str], script: Option<&str>) -> String {
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())));
    let styles: Vec<String> = styles.iter().map(|style| hash(style)).collect();
    let script = script.map_or(String::new(), |script| format!(" script-src {};", hash(script)));
    format!(
        "default-src 'none'; style-src {};{script} img-src data:; base-uri 'none'; form-action 'none'",
        styles.join(" ")
    )
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| (bits << 8) | usize::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at)) & 63];
            text.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_specification() {
        let vectors = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(vectors.map(|text| base64(text.as_bytes())), expected);
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert!(policy(&[""], None).contains(empty) && !policy(&[""], None).contains("script-src"));
        assert!(policy(&["x"], Some("")).contains(&format!("script-src {empty};")));
    }

    #[test]
    fn only_drawings_and_the_style_go_in_as_they_are() {
        let raw: Vec<(&str, usize)> = PARTIALS
            .iter()
            .map(|(name, text)| (*name, text.matches("{{{").count() + text.matches("{{&").count()))
            .collect();
        let others = ["table", "facts", "list", "cards"].map(|name| (name, 0));
        assert_eq!((raw[0], raw[2]), (("layout", 2), ("figure", 1)));
        assert!(others.iter().all(|other| raw.contains(other)) && raw.len() == others.len() + 2);
        // A page stays well-formed with it.
        assert!(!SCRIPT.contains(['<', '&']) && !SCRIPT.contains("]]>"));
    }
}
