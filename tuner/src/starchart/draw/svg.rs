//! A tree as a drawing. It grows from left to right, one row for each partition, so that every label has a line of its
//! own. Behind the partitions a chart shows their responses from best to worst on one axis; the best partition, the way
//! to it and its conditions are green.

use super::{Drawing, cut, short};
use std::fmt::Write;
use text_escape::{markup, visible};

/// Height of a row, size of the text and width of a character in pixels. The font is monospaced, and its characters
/// are drawn as wide as stated (`textLength`), so what fits here fits everywhere.
const ROW: f64 = 20.0;
const TEXT: f64 = 12.0;
const CHARACTER: f64 = 7.3;
const MARGIN: f64 = 16.0;
/// Room for the lines between two columns of labels.
const GAP: f64 = 26.0;
/// Longest label of a condition in characters.
const LONGEST: usize = 40;
/// Width of the chart.
const CHART: f64 = 300.0;
const GREEN: &str = "#238b45";
const INK: &str = "#222222";
const GREY: &str = "#8c8c8c";

/// A piece of text and the box that it fills.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The text.
    pub text: String,
    /// Left end, baseline, width.
    pub place: [f64; 3],
    /// Height above the baseline.
    pub size: f64,
    colour: &'static str,
    bold: bool,
}

impl Label {
    fn new(text: String, x: f64, baseline: f64, colour: &'static str, bold: bool) -> Label {
        let width = text.chars().count() as f64 * CHARACTER;
        Label { text, place: [x, baseline, width], size: TEXT, colour, bold }
    }

    /// As text that ends at `x`.
    fn ending(text: String, x: f64, baseline: f64, colour: &'static str, bold: bool) -> Label {
        let width = text.chars().count() as f64 * CHARACTER;
        Label::new(text, x - width, baseline, colour, bold)
    }

    /// Whether two labels cover a common point.
    pub fn overlaps(&self, other: &Label) -> bool {
        let apart =
            |a: &Label, b: &Label| a.place[0] + a.place[2] <= b.place[0] || a.place[1] <= b.place[1] - b.size;
        !apart(self, other) && !apart(other, self)
    }
}

/// Where everything is.
struct Layout {
    /// Middle of the row of every node, in rows.
    middle: Vec<f64>,
    /// Left end of the labels of every depth.
    columns: Vec<f64>,
    /// Text of every node.
    conditions: Vec<String>,
    /// Leaves from top to bottom.
    leaves: Vec<usize>,
    /// First pixel of the tree from the top.
    top: f64,
    /// Left end of the columns of numbers and of the chart.
    numbers: f64,
    chart: f64,
    size: [f64; 2],
    header: Vec<Label>,
}

const NUMBERS: [(&str, usize); 2] = [("designs", 8), ("mean", 11)];

impl Layout {
    fn new(drawing: &Drawing<'_>) -> Layout {
        let nodes = drawing.tree.nodes();
        let mut leaves = Vec::new();
        let mut pending = vec![0_usize];
        while let Some(node) = pending.pop() {
            match &nodes[node].split {
                Some(split) => pending.extend([split.children[1], split.children[0]]),
                None => leaves.push(node),
            }
        }
        let mut span = vec![[f64::INFINITY, f64::NEG_INFINITY]; nodes.len()];
        leaves.iter().enumerate().for_each(|(row, &leaf)| span[leaf] = [row as f64; 2]);
        for (at, node) in nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                span[parent] = [span[parent][0].min(span[at][0]), span[parent][1].max(span[at][1])];
            }
        }
        let conditions: Vec<String> =
            (0..nodes.len()).map(|node| cut(&drawing.condition(node), LONGEST)).collect();
        let mut widths = vec![0.0_f64; drawing.tree.depth() + 1];
        for (node, text) in nodes.iter().zip(&conditions) {
            widths[node.depth] = widths[node.depth].max(text.chars().count() as f64 * CHARACTER);
        }
        let mut columns = Vec::new();
        let mut x = MARGIN;
        for width in widths {
            columns.push(x);
            x += width + GAP;
        }
        let chart =
            x + NUMBERS.iter().map(|(_, characters)| *characters as f64 * CHARACTER).sum::<f64>() + GAP;
        let width = chart + CHART + MARGIN;
        let header = header(drawing, width);
        let top = MARGIN + (header.len() as f64 + 1.5) * (TEXT + 6.0);
        let height = top + leaves.len() as f64 * ROW + 3.0 * ROW;
        let middle = span.iter().map(|[first, last]| (first + last) / 2.0).collect();
        Layout { middle, columns, conditions, leaves, top, numbers: x, chart, size: [width, height], header }
    }

    fn y(&self, node: usize) -> f64 {
        self.top + (self.middle[node] + 0.5) * ROW
    }
}

/// What stands above the tree: the title, and the best partition with its reasons in lines that fit.
fn header(drawing: &Drawing<'_>, width: f64) -> Vec<Label> {
    let most = ((width - 2.0 * MARGIN) / CHARACTER) as usize;
    let node = &drawing.tree.nodes()[drawing.best()];
    let [best, worst] = drawing.goal.best_and_worst(node);
    let mut lines = vec![
        (visible(&drawing.title).into_owned(), INK, true),
        (format!("{}, {}", visible(&drawing.metric), drawing.leaves_text()), GREY, false),
        (
            format!(
                "best partition: mean {}, from {} to {}, {} designs (all designs: mean {})",
                short(node.mean),
                short(best),
                short(worst),
                node.count,
                short(drawing.tree.nodes()[0].mean)
            ),
            GREEN,
            true,
        ),
    ];
    let mut line = String::new();
    for reason in drawing.reasons() {
        let joined = if line.is_empty() { format!("  {reason}") } else { format!("{line} and {reason}") };
        if joined.chars().count() > most && !line.is_empty() {
            lines.push((std::mem::take(&mut line), GREEN, false));
            line = format!("  and {reason}");
        } else {
            line = joined;
        }
    }
    lines.push((line, GREEN, false));
    let label = |(at, (text, colour, bold)): (usize, (String, &'static str, bool))| {
        Label::new(cut(&text, most), MARGIN, MARGIN + (at as f64 + 1.0) * (TEXT + 6.0), colour, bold)
    };
    lines.into_iter().filter(|(text, ..)| !text.trim().is_empty()).enumerate().map(label).collect()
}

/// The axis of the chart: logarithmic where all responses are positive and spread over more than a factor of ten.
struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    from: f64,
}

impl Axis {
    fn new(drawing: &Drawing<'_>, from: f64) -> Axis {
        let [low, high] = drawing.tree.nodes()[0].range;
        let logarithmic = low > 0.0 && high > 10.0 * low;
        Axis { low, high, logarithmic, from }
    }

    fn x(&self, value: f64) -> f64 {
        let of = |value: f64| if self.logarithmic { value.ln() } else { value };
        let width = of(self.high) - of(self.low);
        self.from + if width > 0.0 { (of(value) - of(self.low)) / width * CHART } else { CHART / 2.0 }
    }
}

/// All labels of the drawing, in the order drawn.
pub fn labels(drawing: &Drawing<'_>) -> Vec<Label> {
    labels_of(drawing, &Layout::new(drawing))
}

fn labels_of(drawing: &Drawing<'_>, layout: &Layout) -> Vec<Label> {
    let nodes = drawing.tree.nodes();
    let way = drawing.tree.path(drawing.best());
    let mut labels = layout.header.clone();
    let baseline = layout.top - 6.0;
    let mut end = layout.numbers;
    for (name, characters) in NUMBERS {
        end += characters as f64 * CHARACTER;
        labels.push(Label::ending(name.to_owned(), end, baseline, GREY, false));
    }
    let scale = if Axis::new(drawing, layout.chart).logarithmic { "; logarithmic" } else { "" };
    let name = format!("best to worst, dot: mean{scale}");
    labels.push(Label::new(name, layout.chart, baseline, GREY, false));
    for (at, node) in nodes.iter().enumerate() {
        let on_way = way.contains(&at);
        let colour = if on_way { GREEN } else { INK };
        let y = layout.y(at) + TEXT / 2.0 - 2.0;
        labels.push(Label::new(layout.conditions[at].clone(), layout.columns[node.depth], y, colour, on_way));
        if node.split.is_none() {
            let mut end = layout.numbers;
            for ((_, characters), text) in NUMBERS.into_iter().zip([node.count.to_string(), short(node.mean)])
            {
                end += characters as f64 * CHARACTER;
                labels.push(Label::ending(text, end, y, colour, on_way));
            }
        }
    }
    let bottom = layout.top + (layout.leaves.len() as f64 + 1.2) * ROW;
    let [low, high] = nodes[0].range;
    labels.push(Label::new(short(low), layout.chart, bottom, GREY, false));
    labels.push(Label::ending(short(high), layout.chart + CHART, bottom, GREY, false));
    let name = cut(&drawing.metric, (CHART / CHARACTER) as usize);
    let indent = (CHART - name.chars().count() as f64 * CHARACTER) / 2.0;
    labels.push(Label::new(name, layout.chart + indent, bottom + TEXT + 6.0, GREY, false));
    labels
}

/// The tree as an SVG document.
pub fn svg(drawing: &Drawing<'_>) -> String {
    let layout = Layout::new(drawing);
    let nodes = drawing.tree.nodes();
    let way = drawing.tree.path(drawing.best());
    let [width, height] = layout.size;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"{TEXT}\">"
    );
    let _ = writeln!(out, "<title>{}</title>", markup(&drawing.title));
    let _ = writeln!(out, "<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"white\"/>");
    // The row of the best partition.
    let best = drawing.best();
    let _ = writeln!(
        out,
        "<rect x=\"0\" y=\"{:.1}\" width=\"{width:.0}\" height=\"{ROW}\" fill=\"#e5f5e0\"/>",
        layout.y(best) - ROW / 2.0
    );
    for (at, node) in nodes.iter().enumerate() {
        let Some(split) = &node.split else { continue };
        let text = layout.conditions[at].chars().count() as f64 * CHARACTER;
        let from = layout.columns[node.depth] + text + 4.0;
        let turn = layout.columns[node.depth + 1] - GAP / 2.0;
        for child in split.children {
            let (colour, thick) = if way.contains(&child) { (GREEN, 2.0) } else { ("#bdbdbd", 1.0) };
            let _ = writeln!(
                out,
                "<path d=\"M{from:.1} {:.1}H{turn:.1}V{:.1}H{:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{thick}\"/>",
                layout.y(at),
                layout.y(child),
                layout.columns[node.depth + 1] - 4.0
            );
        }
    }
    let axis = Axis::new(drawing, layout.chart);
    for &leaf in &layout.leaves {
        let (node, y) = (&nodes[leaf], layout.y(leaf));
        let text = layout.conditions[leaf].chars().count() as f64 * CHARACTER;
        let colour = if leaf == best { GREEN } else { "#6baed6" };
        let [from, to, mean] = [node.range[0], node.range[1], node.mean].map(|value| axis.x(value));
        let _ = writeln!(
            out,
            "<path d=\"M{:.1} {y:.1}H{:.1}\" stroke=\"#eeeeee\"/><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"6\" fill=\"{colour}\" opacity=\"0.55\"/><circle cx=\"{mean:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>",
            layout.columns[node.depth] + text + 4.0,
            layout.numbers,
            from - 1.0,
            y - 3.0,
            to - from + 2.0
        );
    }
    let bottom = layout.top + (layout.leaves.len() as f64 + 0.2) * ROW;
    let _ = writeln!(out, "<path d=\"M{:.1} {bottom:.1}h{CHART:.1}\" stroke=\"{GREY}\"/>", layout.chart);
    for label in labels_of(drawing, &layout) {
        let [x, y, length] = label.place;
        let weight = if label.bold { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\"{weight} xml:space=\"preserve\">{}</text>",
            label.colour,
            markup(&label.text)
        );
    }
    out + "</svg>\n"
}
