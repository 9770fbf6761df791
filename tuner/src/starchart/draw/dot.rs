//! A tree in the language of Graphviz.

use super::{Drawing, short};
use std::fmt::Write;
use text_escape::dot as escaped;

/// The tree as a Graphviz digraph: `dot -Tsvg FILE`. A node has the condition that leads to it in its first line, so that
/// no label stands on an arrow. The best partition and the way to it are green.
pub fn dot(drawing: &Drawing<'_>) -> String {
    let nodes = drawing.tree.nodes();
    let way = drawing.tree.path(drawing.best());
    let mut out = String::new();
    let title = escaped(&format!("{}\n{}, {}", drawing.title, drawing.metric, drawing.leaves_text()));
    let _ = writeln!(out, "digraph starchart {{");
    let _ = writeln!(out, "  label=\"{title}\"; labelloc=t; fontname=\"sans-serif\"; rankdir=LR;");
    let _ = writeln!(out, "  node [shape=box, fontname=\"sans-serif\", fontsize=11]; ranksep=0.7;");
    for (at, node) in nodes.iter().enumerate() {
        let [best, worst] = drawing.goal.best_and_worst(node).map(short);
        let (condition, mean) = (drawing.condition(at), short(node.mean));
        let label = format!("{condition}\n{mean}\n{best} .. {worst}\n{} designs", node.count);
        let style = match (way.contains(&at), node.split.is_none()) {
            (true, true) => ", style=filled, fillcolor=\"#a1d99b\", penwidth=2",
            (true, false) => ", color=\"#238b45\", penwidth=2",
            (false, true) => ", style=filled, fillcolor=\"#f0f0f0\"",
            (false, false) => "",
        };
        let _ = writeln!(out, "  n{at} [label=\"{}\"{style}];", escaped(&label));
    }
    for (at, node) in nodes.iter().enumerate() {
        let Some(split) = &node.split else { continue };
        for child in split.children {
            let style = if way.contains(&child) { " [color=\"#238b45\", penwidth=2]" } else { "" };
            let _ = writeln!(out, "  n{at} -> n{child}{style};");
        }
    }
    out + "}\n"
}
