//! Where the labels of a tree are: one line for each leaf, so that no label touches another.

use super::data::Tree;
use crate::axis::{Axis, Ruler, Scale};
use crate::font;
use crate::palette::{Colour, GOOD};
use text_escape::visible;

/// Height of a row, and the width of a character in pixels. The font is monospaced, and its characters are
/// drawn as wide as stated (`textLength`), so what fits here fits everywhere.
pub(super) const ROW: f64 = 20.0;
const CHARACTER: f64 = 7.3;
pub(super) const MARGIN: f64 = 16.0;
/// Room for the lines between two columns of labels.
pub(super) const GAP: f64 = 26.0;
/// Longest label of a node in characters.
const LONGEST: usize = 40;
/// Width of the chart.
pub(super) const CHART: f64 = 300.0;
/// Shortest line of text above the tree, in characters.
const SHORTEST_HEADER: usize = 60;

/// A piece of text and the box that it fills.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub text: String,
    /// The whole text, where `text` is a part of it.
    pub whole: Option<String>,
    /// Left end, base line, width.
    pub place: [f64; 3],
    pub colour: Colour,
    pub bold: bool,
}

impl Label {
    fn new(text: &str, most: usize, (x, baseline): (f64, f64), (colour, bold): (Colour, bool)) -> Label {
        let shown = visible(text);
        let cut = cut(&shown, most);
        let whole = (cut != shown).then(|| shown.into_owned());
        let width = width(&cut);
        Label { text: cut, whole, place: [x, baseline, width], colour, bold }
    }

    /// So that it ends where it would begin.
    fn ending(self) -> Label {
        let [x, baseline, width] = self.place;
        Label { place: [x - width, baseline, width], ..self }
    }
}

fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// The text, cut to at most `most` characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Where everything is.
pub(super) struct Layout {
    /// Children of every node.
    pub children: Vec<Vec<usize>>,
    /// Middle of every node's row in pixels.
    pub middle: Vec<f64>,
    /// Left end of every node's label, and its right end.
    pub columns: Vec<(f64, f64)>,
    /// The leaves, from top to bottom.
    pub leaves: Vec<usize>,
    /// Left end of the columns of cells.
    pub cells: f64,
    /// Left end of the chart.
    pub chart: f64,
    /// Where the chart ends below.
    pub bottom: f64,
    pub axis: Ruler,
    pub size: (f64, f64),
    pub labels: Vec<Label>,
}

impl Layout {
    pub fn new(tree: &Tree) -> Layout {
        let children = tree.children();
        let (mut leaves, mut pending) = (Vec::new(), vec![0_usize]);
        while let Some(node) = pending.pop() {
            match children[node].as_slice() {
                [] => leaves.push(node),
                below => pending.extend(below.iter().rev()),
            }
        }
        let mut span = vec![[f64::INFINITY, f64::NEG_INFINITY]; tree.nodes.len()];
        leaves.iter().enumerate().for_each(|(row, &leaf)| span[leaf] = [row as f64; 2]);
        // Children have greater numbers than their parents.
        let mut depth = vec![0_usize; tree.nodes.len()];
        for (at, parent) in tree.parents.iter().enumerate() {
            depth[at] = parent.map_or(0, |parent| depth[parent] + 1);
        }
        for (at, parent) in tree.parents.iter().enumerate().rev() {
            if let Some(parent) = *parent {
                span[parent] = [span[parent][0].min(span[at][0]), span[parent][1].max(span[at][1])];
            }
        }
        let shown: Vec<String> = tree.nodes.iter().map(|node| cut(&visible(&node.label), LONGEST)).collect();
        let mut widths = vec![0.0_f64; depth.iter().max().map_or(1, |most| most + 1)];
        for (text, depth) in shown.iter().zip(&depth) {
            widths[*depth] = widths[*depth].max(width(text));
        }
        let mut lefts = Vec::new();
        let mut cells = MARGIN;
        for width in widths {
            lefts.push(cells);
            cells += width + GAP;
        }
        let columns: Vec<(f64, f64)> = depth
            .iter()
            .zip(&shown)
            .map(|(depth, text)| (lefts[*depth], lefts[*depth] + width(text)))
            .collect();
        let numbers = cell_widths(tree);
        let chart = cells + numbers.iter().sum::<f64>() + GAP;
        let wide = (chart + CHART + 2.0 * MARGIN).max(width(&"x".repeat(SHORTEST_HEADER)) + 2.0 * MARGIN);
        let mut labels = header(tree, ((wide - 2.0 * MARGIN) / CHARACTER) as usize);
        let top = MARGIN + (labels.len() as f64 + 1.5) * font::LINE;
        let row = |row: f64| top + (row + 0.5) * ROW;
        let middle: Vec<f64> = span.iter().map(|[first, last]| row((first + last) / 2.0)).collect();
        let bottom = top + leaves.len() as f64 * ROW + 4.0;
        let ends = leaves.iter().flat_map(|&leaf| [tree.nodes[leaf].range[0], tree.nodes[leaf].range[1]]);
        let axis = Axis::new(&tree.metric).scale(Scale::Automatic).ruler(ends, CHART, false);

        let baseline = top - 6.0;
        let muted = (Colour::Muted, false);
        let mut end = cells;
        for (name, width) in tree.columns.iter().zip(&numbers) {
            end += width;
            labels.push(Label::new(name, LONGEST, (end, baseline), muted).ending());
        }
        labels.push(Label::new("best to worst, dot: mean", LONGEST, (chart, baseline), muted));
        for (at, node) in tree.nodes.iter().enumerate() {
            let look = if node.on_way { (GOOD, true) } else { (Colour::Ink, false) };
            let y = middle[at] + font::LABEL / 2.0 - 2.0;
            labels.push(Label::new(&node.label, LONGEST, (columns[at].0, y), look));
            if children[at].is_empty() {
                let mut end = cells;
                for (cell, width) in node.cells.iter().zip(&numbers) {
                    end += width;
                    labels.push(Label::new(cell, LONGEST, (end, y), look).ending());
                }
            }
        }
        let most = ((CHART + 2.0 * MARGIN) / CHARACTER) as usize;
        let metric = Label::new(&axis.title, most, (chart, bottom + 2.0 * font::LINE + 2.0), muted);
        let indent = ((CHART - metric.place[2]) / 2.0).max(-MARGIN);
        labels.push(Label { place: [chart + indent, metric.place[1], metric.place[2]], ..metric });
        let size = (wide, bottom + 2.0 * font::LINE + MARGIN);
        Layout { children, middle, columns, leaves, cells, chart, bottom, axis, size, labels }
    }
}

/// Widths of the columns of cells, with the room before them.
fn cell_widths(tree: &Tree) -> Vec<f64> {
    let widest = |column: usize, name: &String| {
        let cells = tree.nodes.iter().filter_map(|node| node.cells.get(column));
        let widest = cells.chain([name]).map(|cell| width(&cut(&visible(cell), LONGEST))).fold(0.0, f64::max);
        widest + 2.0 * CHARACTER
    };
    tree.columns.iter().enumerate().map(|(column, name)| widest(column, name)).collect()
}

/// What stands above the tree: the title, and the best leaf with its reasons in lines that fit.
fn header(tree: &Tree, most: usize) -> Vec<Label> {
    let mut lines = vec![
        (tree.title.clone(), (Colour::Ink, true)),
        (tree.subtitle.clone(), (Colour::Muted, false)),
        (tree.best.clone(), (GOOD, true)),
    ];
    let mut line = String::new();
    for reason in tree.reasons.iter().map(|reason| visible(reason)) {
        let joined = if line.is_empty() { format!("  {reason}") } else { format!("{line} and {reason}") };
        if joined.chars().count() > most && !line.is_empty() {
            lines.push((std::mem::take(&mut line), (GOOD, false)));
            line = format!("  and {reason}");
        } else {
            line = joined;
        }
    }
    lines.push((line, (GOOD, false)));
    lines.retain(|(text, _)| !text.trim().is_empty());
    let label = |(at, (text, look)): (usize, (String, (Colour, bool)))| {
        Label::new(&text, most, (MARGIN, MARGIN + (at as f64 + 1.0) * font::LINE), look)
    };
    lines.into_iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::super::data::Node;
    use super::*;

    fn overlap(a: &Label, b: &Label) -> bool {
        let apart = |a: &Label, b: &Label| {
            a.place[0] + a.place[2] <= b.place[0] || a.place[1] <= b.place[1] - font::LABEL
        };
        !apart(a, b) && !apart(b, a)
    }

    #[test]
    fn labels_never_overlap_and_stay_on_the_paper() {
        for (seed, count) in [(1_usize, 1_usize), (3, 2), (5, 7), (7, 60), (11, 300)] {
            let node = |at: usize| Node {
                label: format!("{} {at}", "condition ".repeat(at * seed % 9)),
                cells: vec!["1".repeat(1 + at % 12), format!("{at}.5")],
                range: [at as f64, (at * seed) as f64],
                mean: at as f64,
                ..Node::default()
            };
            let mut tree = Tree::new("t".repeat(30 * seed), node(0));
            tree.columns = vec!["designs".into(), "mean".into()];
            tree.metric = "m".repeat(10 * seed);
            tree.best = "the best".into();
            tree.reasons = (0..seed).map(|at| "r".repeat(20 + at)).collect();
            for at in 1..count {
                tree.add((at * seed / 3) % at, node(at));
            }
            let layout = Layout::new(&tree);
            for (at, label) in layout.labels.iter().enumerate() {
                let [x, baseline, width] = label.place;
                assert!(
                    x >= 0.0 && x + width <= layout.size.0 && baseline + 3.0 <= layout.size.1,
                    "{label:?}"
                );
                for other in &layout.labels[at + 1..] {
                    assert!(!overlap(label, other), "{label:?} and {other:?}");
                }
            }
        }
    }
}
