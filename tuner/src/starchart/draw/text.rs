//! A tree as text that fits a terminal.

use super::{Drawing, cut, short};

/// Narrowest text.
const LEAST_WIDTH: usize = 60;
/// Fewest characters of a condition.
const LEAST_CONDITION: usize = 12;

/// The tree, one line a node, no line longer than `width` characters (at least 60). The best partition is marked.
pub fn text(drawing: &Drawing<'_>, width: usize) -> String {
    let nodes = drawing.tree.nodes();
    let best = drawing.best();
    let mut order = Vec::new();
    let mut pending = vec![0_usize];
    while let Some(node) = pending.pop() {
        order.push(node);
        if let Some(split) = &nodes[node].split {
            pending.extend([split.children[1], split.children[0]]);
        }
    }
    let header = ["designs", "mean", "best", "worst"].map(str::to_owned);
    let numbers: Vec<[String; 4]> = order
        .iter()
        .map(|&node| {
            let [best, worst] = drawing.goal.best_and_worst(&nodes[node]);
            [nodes[node].count.to_string(), short(nodes[node].mean), short(best), short(worst)]
        })
        .collect();
    let widths: Vec<usize> = (0..4)
        .map(|k| numbers.iter().chain([&header]).map(|row| row[k].chars().count()).max().unwrap_or(0))
        .collect();
    let right = widths.iter().map(|width| width + 2).sum::<usize>() + " *".len();
    let room = width.max(LEAST_WIDTH).saturating_sub(right).max(LEAST_CONDITION);
    let step =
        [3, 2, 1].into_iter().find(|step| drawing.tree.depth() * step + LEAST_CONDITION <= room).unwrap_or(1);
    let lines: Vec<String> = order
        .iter()
        .map(|&node| {
            let indent = indent(drawing, node, step);
            let indent: String = indent.chars().take(room - LEAST_CONDITION).collect();
            let condition = cut(&drawing.condition(node), room - indent.chars().count());
            indent + &condition
        })
        .collect();
    let column = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let row = |left: &str, numbers: &[String; 4], mark: &str| {
        let mut line = format!("{left:<column$}");
        for (number, width) in numbers.iter().zip(&widths) {
            line += &format!("  {number:>width$}");
        }
        format!("{}\n", (line + mark).trim_end())
    };
    let mut text = row("", &header, "");
    for ((line, numbers), &node) in lines.iter().zip(&numbers).zip(&order) {
        text += &row(line, numbers, if node == best { " *" } else { "" });
    }
    text
}

/// The lines that lead to a node, `step` characters for each level.
fn indent(drawing: &Drawing<'_>, node: usize, step: usize) -> String {
    let path = drawing.tree.path(node);
    let mut indent = String::new();
    for (at, pair) in path.windows(2).enumerate() {
        let Some(split) = &drawing.tree.nodes()[pair[0]].split else { continue };
        let left = split.children[0] == pair[1];
        let last = at + 2 == path.len();
        indent += match (step, left, last) {
            (3, true, true) => "├─ ",
            (3, false, true) => "└─ ",
            (3, true, false) => "│  ",
            (3, false, false) => "   ",
            (2, true, true) => "├ ",
            (2, false, true) => "└ ",
            (2, true, false) => "│ ",
            (2, false, false) => "  ",
            (_, true, true) => "├",
            (_, false, true) => "└",
            (_, true, false) => "│",
            (_, false, false) => " ",
        };
    }
    indent
}
