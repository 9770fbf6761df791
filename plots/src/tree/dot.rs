//! A tree in the language of Graphviz.

use super::data::Tree;
use crate::palette::{Colour, GOOD};
use std::fmt::Write;
use text_escape::dot as escaped;

fn hex(colour: Colour) -> String {
    let (red, green, blue) = colour.rgb();
    format!("#{red:02x}{green:02x}{blue:02x}")
}

impl Tree {
    /// As a digraph for Graphviz: `dot -Tsvg FILE`. A node has what leads to it in its first line, so that no
    /// label stands on an arrow.
    pub fn dot(&self) -> String {
        draw(self)
    }
}

fn draw(tree: &Tree) -> String {
    let (good, grid) = (hex(GOOD), hex(Colour::Grid));
    let children = tree.children();
    let mut out = String::new();
    let title = escaped(&format!("{}\n{}", tree.title, tree.subtitle));
    let _ = writeln!(out, "digraph starchart {{");
    let _ = writeln!(out, "  label=\"{title}\"; labelloc=t; fontname=\"sans-serif\"; rankdir=LR;");
    let _ = writeln!(out, "  node [shape=box, fontname=\"sans-serif\", fontsize=11]; ranksep=0.7;");
    for (at, node) in tree.nodes.iter().enumerate() {
        let lines: Vec<&str> = [&node.label].into_iter().chain(&node.details).map(String::as_str).collect();
        let style = match (node.on_way, children[at].is_empty()) {
            // A pale form of the colour, for black letters.
            (true, true) => format!(", style=filled, fillcolor=\"{good}40\", penwidth=2"),
            (true, false) => format!(", color=\"{good}\", penwidth=2"),
            (false, true) => format!(", style=filled, fillcolor=\"{grid}80\""),
            (false, false) => String::new(),
        };
        let _ = writeln!(out, "  n{at} [label=\"{}\"{style}];", escaped(&lines.join("\n")));
    }
    for (at, children) in children.iter().enumerate() {
        for &child in children {
            let style = match tree.nodes[child].on_way {
                true => format!(" [color=\"{good}\", penwidth=2]"),
                false => String::new(),
            };
            let _ = writeln!(out, "  n{at} -> n{child}{style};");
        }
    }
    out + "}\n"
}
