//! A model as plain C: a header and a source file that need nothing, and choose as the library does.

use crate::classifier::{Classifier, Learned};
use crate::error::{AdaptiveError, Result};
use crate::exp;
use crate::forest::Forest;
use crate::model::Model;
use crate::svm::Svm;
use crate::tree::{Node, Tree};
use std::fmt::Display;
use text_escape::comment;

const HEADER: &str = include_str!("frame.h");
const SOURCE: &str = include_str!("frame.c");
const SVM: &str = include_str!("svm.c");
const TREE: &str = include_str!("tree.c");
const FOREST: &str = include_str!("forest.c");

/// Items of a list in one line of C.
const IN_A_LINE: usize = 8;

/// A header and a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emitted {
    /// Names and texts: `PREFIX.h`, then `PREFIX.c`.
    pub files: [(String, String); 2],
}

/// Words that no name may be.
const KEYWORDS: [&str; 12] =
    ["auto", "case", "char", "const", "double", "float", "for", "if", "int", "long", "static", "void"];

/// Whether a text can begin the names of the files and functions.
fn is_prefix(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && text.len() <= 64
        && !KEYWORDS.contains(&text)
}

/// A name of C for any text.
fn identifier(text: &str) -> String {
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) { name } else { format!("m_{name}") }
}

/// Names of an enumeration, each once, whatever the texts are.
fn constants(prefix: &str, what: &str, names: &[String]) -> Vec<String> {
    let mut constants: Vec<String> = Vec::new();
    for name in names {
        let base: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        let mut constant = format!("{prefix}_{what}_{base}");
        while constants.contains(&constant) {
            constant.push('_');
        }
        constants.push(constant);
    }
    constants
}

/// A text as a literal of C.
fn literal(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", byte as char),
        // A question mark could begin a trigraph.
        b' '..=b'~' if byte != b'?' => (byte as char).to_string(),
        other => format!("\\{other:03o}"),
    };
    format!("\"{}\"", text.bytes().map(byte).collect::<String>())
}

/// A number that C reads as this one; all digits that tell it from its neighbours.
fn number(value: f64) -> String {
    format!("{value:?}")
}

/// Items with commas, in lines; C has no empty list.
fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if items.is_empty() {
        return "0".to_owned();
    }
    let lines: Vec<String> = items.chunks(IN_A_LINE).map(|line| line.join(", ")).collect();
    lines.join(",\n    ")
}

fn numbers(values: &[f64]) -> String {
    list(values.iter().map(|&value| number(value)))
}

fn filled(template: &str, values: &[(&str, String)]) -> String {
    // One pass, so that nothing that is put in is looked at again.
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('@') {
        text.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let found = behind.split_once('@').and_then(|(name, behind)| {
            let value = values.iter().find(|(own, _)| *own == name)?;
            Some((&value.1, behind))
        });
        match found {
            Some((value, behind)) => {
                text.push_str(value);
                rest = behind;
            }
            None => {
                text.push('@');
                rest = behind;
            }
        }
    }
    text + rest
}

/// The C of a model. Files and functions begin with `prefix`, or with the function's name where none is given.
///
/// # Errors
/// A prefix that is no name of C; a model that makes no sense.
pub fn emit(model: &Model, prefix: Option<&str>) -> Result<Emitted> {
    model
        .check()
        .map_err(|reason| AdaptiveError::request(format!("the model: {reason}"), "train it anew"))?;
    let prefix = match prefix {
        Some(own) if is_prefix(own) => own.to_owned(),
        Some(own) => {
            return Err(AdaptiveError::request(
                format!("`{own}` cannot begin names of C"),
                "take up to 64 letters, digits and `_`, a letter first, and no word of C",
            ));
        }
        None => identifier(&model.name).chars().take(64).collect(),
    };
    let features = model.feature_names();
    let variants = constants(&prefix, "VARIANT", &model.variants);
    let feature_constants = constants(&prefix, "FEATURE", &features);
    let count = |what: &str| format!("{prefix}_{what}");
    let lines = |names: &[String], total: String| {
        let each = names.iter().enumerate().map(|(at, name)| format!("    {name} = {at},"));
        each.chain([format!("    {total} = {}", names.len())]).collect::<Vec<_>>().join("\n")
    };
    let head = format!(
        "/* Chooses a variant of {}: {}. Written by Tilewright. */\n",
        comment(&model.name),
        comment(&model.classifier.description())
    );
    let classifier = match &model.classifier {
        Learned::Svm(svm) => of_svm(svm),
        Learned::Tree(tree) => of_tree(tree),
        Learned::Forest(forest) => of_forest(forest),
    };
    let texts = |names: &[String]| list(names.iter().map(|name| literal(name)));
    let values = [
        ("GUARD", format!("{prefix}_MODEL_H")),
        ("PREFIX", prefix.clone()),
        ("HEADER", format!("{prefix}.h")),
        ("VARIANTS", lines(&variants, count("VARIANTS"))),
        ("FEATURES", lines(&feature_constants, count("FEATURES"))),
        ("DEFAULT", model.default.to_string()),
        ("VARIANT_COUNT", model.variants.len().to_string()),
        ("FEATURE_COUNT", features.len().to_string()),
        ("CONSTANT_COUNT", model.constants.len().to_string()),
        ("CONSTANTS", numbers(&model.constants)),
        ("VARIANT_NAMES", texts(&model.variants)),
        ("FEATURE_NAMES", texts(&features)),
        ("CLASSIFIER", classifier),
    ];
    let file =
        |end: &str, template: &str| (format!("{prefix}.{end}"), head.clone() + &filled(template, &values));
    Ok(Emitted { files: [file("h", HEADER), file("c", SOURCE)] })
}

/// Rows of numbers.
fn rows(rows: &[Vec<f64>]) -> String {
    if rows.is_empty() {
        return "    {0.0}".to_owned();
    }
    let rows: Vec<String> = rows.iter().map(|row| format!("    {{{}}}", numbers(row))).collect();
    rows.join(",\n")
}

fn of_svm(svm: &Svm) -> String {
    let ranges = svm.ranges.iter().map(|[low, high]| format!("{{{}, {}}}", number(*low), number(*high)));
    let ranges = if svm.ranges.is_empty() { "{0.0, 0.0}".to_owned() } else { list(ranges) };
    filled(
        SVM,
        &[
            ("CLASSES", svm.classes.len().to_string()),
            ("GAMMA", number(svm.gamma)),
            ("RANGES", ranges),
            ("CLASS_LIST", list(&svm.classes)),
            ("COUNTS", list(&svm.counts)),
            ("VECTORS", rows(&svm.vectors)),
            ("COEFFICIENTS", rows(&svm.coefficients)),
            ("RHO", numbers(&svm.rho)),
            ("EVEN", numbers(&exp::TERMS[0])),
            ("ODD", numbers(&exp::TERMS[1])),
            ("LEAST", number(exp::LEAST)),
            ("LOG2_E", number(exp::LOG2_E)),
            ("ROUNDER", number(exp::ROUNDER)),
            ("LN2_HIGH", number(exp::LN2[0])),
            ("LN2_LOW", number(exp::LN2[1])),
        ],
    )
}

fn of_tree(tree: &Tree) -> String {
    let (mut feature, mut at_most, mut below, mut above) = (vec![], vec![], vec![], vec![]);
    let (mut from, mut to, mut variants, mut shares) = (vec![], vec![], vec![], vec![]);
    for node in &tree.nodes {
        from.push(variants.len());
        match node {
            Node::Split { feature: own, at_most: value, below: low, above: high } => {
                feature.push(*own as i64);
                at_most.push(*value);
                below.push(*low);
                above.push(*high);
            }
            Node::Leaf { shares: own } => {
                feature.push(-1);
                at_most.push(0.0);
                below.push(0);
                above.push(0);
                variants.extend(own.iter().map(|(variant, _)| *variant));
                shares.extend(own.iter().map(|(_, share)| *share));
            }
        }
        to.push(variants.len());
    }
    filled(
        TREE,
        &[
            ("FEATURE", list(feature)),
            ("AT_MOST", numbers(&at_most)),
            ("BELOW", list(below)),
            ("ABOVE", list(above)),
            ("FROM", list(from)),
            ("TO", list(to)),
            ("LEAF_VARIANTS", list(variants)),
            ("SHARES", numbers(&shares)),
        ],
    )
}

fn of_forest(forest: &Forest) -> String {
    let walk = forest.walk();
    let values: Vec<f64> = walk.nodes().map(|node| node.value).collect();
    let mut next: Vec<String> =
        walk.nodes().map(|node| format!("{{{}, {}}}", node.next[0], node.next[1])).collect();
    if next.is_empty() {
        next.push("{0, 0}".to_owned());
    }
    filled(
        FOREST,
        &[
            ("CLASSES", forest.classes().len().to_string()),
            ("PAIRS", forest.pairs().len().to_string()),
            ("CLASS_LIST", list(forest.classes())),
            ("FIRST", list(forest.pairs().iter().map(|pair| pair.first))),
            ("SECOND", list(forest.pairs().iter().map(|pair| pair.second))),
            ("TREES", list(forest.pairs().iter().map(|pair| pair.trees.len()))),
            ("ROOTS", list(walk.trees().map(|tree| tree.root))),
            ("STEPS", list(walk.trees().map(|tree| tree.steps))),
            ("FEATURE", list(walk.nodes().map(|node| node.feature))),
            ("VALUE", numbers(&values)),
            ("NEXT", list(next)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c() {
        assert!(
            is_prefix("sort") && !is_prefix("2d") && !is_prefix("a-b") && !is_prefix("") && !is_prefix("int")
        );
        assert_eq!(identifier("2-d ä"), "m_2_d__");
        let names = ["a b", "a-b", "A_b"].map(str::to_owned);
        assert_eq!(constants("p", "VARIANT", &names), ["p_VARIANT_A_B", "p_VARIANT_A_B_", "p_VARIANT_A_B__"]);
        assert_eq!(literal("a\"\\?\n"), r#""a\"\\\077\012""#);
        assert_eq!([number(0.1), number(1.0), number(1e300), number(-0.0)], ["0.1", "1.0", "1e300", "-0.0"]);
        assert_eq!(filled("@A@ @ @B@", &[("A", "@B@".to_owned()), ("B", "b".to_owned())]), "@B@ @ b");
    }
}
