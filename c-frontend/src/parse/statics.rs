//! Variables of functions that live as long as the program does: `static double next[N][N];` in a function that each step calls.
//!
//! Each is the same variable where it is declared outside of the function, under a name of its own. So the program is read,
//! and so it is written: the declaration stands before the functions, and between `#define next next_2` and `#undef next` the
//! block in which it stood means it. That this is what the preprocessor makes of the changed file is checked where the loop is cut out of it.

use super::declare::{declared_name, is_const};
use super::within::any_within;
use crate::preprocess::{MARK, Preprocessed, Replaced, tokens, words};
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::ops::Range;
use tree_sitter::Node;

/// A declaration within a function, and the names of its variables outside of it.
struct Moved<'t> {
    declaration: Node<'t>,
    function: Node<'t>,
    block: Node<'t>,
    names: HashMap<String, String>,
    /// Where the names stand.
    uses: Vec<Range<usize>>,
    /// Whether it uses nothing that the file declares.
    plain: bool,
}

/// The program with such variables declared outside of their functions; `None` where there are none. `taken`: words of other sources.
pub fn outside(source: &Preprocessed, taken: &dyn Fn(&str) -> bool) -> Option<Preprocessed> {
    if !source.text.contains("static") {
        return None;
    }
    let tree = super::tree(source).ok()?;
    let root = tree.root_node();
    let own = words(&source.text);
    let written = words(&source.source.text);
    let mut given = HashSet::new();
    let mut fresh = |name: &str| {
        let known = |name: &String| {
            own.contains(name.as_str())
                || written.contains(name.as_str())
                || source.macros.contains(name)
                || taken(name)
        };
        let free =
            (2..).map(|number| format!("{name}_{number}")).find(|name| !known(name) && !given.contains(name));
        given.extend(free.clone());
        free
    };
    let mut cursor = root.walk();
    let functions: Vec<Node<'_>> =
        root.children(&mut cursor).filter(|node| begins_anew(*node, source)).collect();
    let mut moved = Vec::new();
    for function in &functions {
        for declaration in statics(*function, source) {
            moved.extend(taken_out(declaration, *function, source, &mut fresh));
        }
    }
    if moved.is_empty() { None } else { Some(changed(source, functions[0], &moved)) }
}

/// Whether a node is a function of the user's file, and nothing of what is before it belongs to it.
fn begins_anew(node: Node<'_>, source: &Preprocessed) -> bool {
    let before = source.text[..node.start_byte()].trim_end();
    let place = source.origin.span(node.byte_range());
    let text = source.source.text.get(place).unwrap_or_default();
    node.kind() == "function_definition"
        && (before.is_empty() || before.ends_with([';', '}']))
        && !text.starts_with('#')
        && text.ends_with('}')
}

/// The declarations of such variables, of functions that steps may call, or in loops.
fn statics<'t>(function: Node<'t>, source: &Preprocessed) -> Vec<Node<'t>> {
    let name = declared_name(function).and_then(|name| source.text.get(name.byte_range()));
    let is_main = name == Some("main");
    let mut found = Vec::new();
    any_within(function, |node| {
        if node.kind() == "declaration" && is_static(node, source) && (!is_main || is_in_loop(node, function))
        {
            found.push(node);
        }
        false
    });
    found
}

fn is_static(node: Node<'_>, source: &Preprocessed) -> bool {
    let mut cursor = node.walk();
    let specifiers = node.children(&mut cursor).filter(|child| child.kind() == "storage_class_specifier");
    let words: Vec<&str> =
        specifiers.map(|child| source.text.get(child.byte_range()).unwrap_or_default()).collect();
    words == ["static"]
}

fn is_in_loop(node: Node<'_>, function: Node<'_>) -> bool {
    let mut at = node.parent();
    while let Some(node) = at.filter(|node| *node != function) {
        if matches!(node.kind(), "for_statement" | "while_statement" | "do_statement") {
            return true;
        }
        at = node.parent();
    }
    false
}

/// How a declaration can stand outside of its function, if it can.
fn taken_out<'t>(
    declaration: Node<'t>,
    function: Node<'t>,
    source: &Preprocessed,
    fresh: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<Moved<'t>> {
    let text = |node: Node<'_>| source.text.get(node.byte_range()).unwrap_or_default();
    let written = source.source.text.get(source.origin.span(declaration.byte_range()))?;
    let block = declaration.parent().filter(|block| block.kind() == "compound_statement")?;
    let constant_table = is_const(declaration) && text(declaration).contains('[');
    if !written.starts_with("static") || !written.ends_with(';') || declaration.has_error() || constant_table
    {
        return None;
    }
    let mut names = HashMap::new();
    let mut cursor = declaration.walk();
    for declarator in declaration.children_by_field_name("declarator", &mut cursor) {
        let mut at = declarator;
        while at.kind() != "identifier" {
            let within = ["init_declarator", "array_declarator", "pointer_declarator"];
            at = at.child_by_field_name("declarator").filter(|_| within.contains(&at.kind()))?;
        }
        names.insert(text(at).to_owned(), fresh(text(at))?);
    }
    // What the function declares: names of variables, of numbers and of types.
    let (mut declared, mut within): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut uses = Vec::new();
    any_within(function, |node| {
        let field = if node.kind() == "enumerator" { "name" } else { "declarator" };
        let mut cursor = node.walk();
        let own = node.children_by_field_name(field, &mut cursor);
        let own = own.filter(|name| matches!(name.kind(), "identifier" | "type_identifier"));
        let inside = declaration.start_byte() <= node.start_byte() && node.end_byte() <= block.end_byte();
        for name in own.filter_map(|name| source.text.get(name.byte_range())) {
            declared.push(name);
            within.extend(inside.then_some(name));
        }
        if node.kind() == "identifier" && inside && names.contains_key(text(node)) {
            uses.push(node.byte_range());
        }
        false
    });
    // Each word that is one of the names means the variable, and nothing hides it.
    let range = declaration.start_byte()..block.end_byte();
    let all = tokens(&source.text[range.clone()]).into_iter();
    let named = all.filter(|token| names.contains_key(&source.text[range.clone()][token.start..token.end]));
    let single = |name: &String| within.iter().filter(|own| *own == name).count() == 1;
    let means_it = named.count() == uses.len() && names.keys().all(single);
    let free = |name: &String| !source.macros.contains(name);
    let (mut plain, mut known) = (true, true);
    any_within(declaration, |node| {
        let name = text(node);
        match node.kind() {
            "identifier" if names.contains_key(name) => {}
            "identifier" | "type_identifier" => {
                plain = false;
                known &= !declared.contains(&name);
            }
            "struct_specifier" | "union_specifier" | "enum_specifier" => known = false,
            _ => {}
        }
        false
    });
    let unchanged = words(text(declaration)).iter().all(|word| !source.macros.contains(*word));
    let end = source.origin.span(block.end_byte() - 1..block.end_byte()).start;
    let closed = source.source.text[end..].starts_with('}');
    let movable = means_it && known && unchanged && closed && names.keys().all(free);
    movable.then_some(Moved { declaration, function, block, names, uses, plain })
}

fn changed(source: &Preprocessed, first: Node<'_>, moved: &[Moved<'_>]) -> Preprocessed {
    let place = |range: Range<usize>| source.origin.span(range);
    let (mut parts, mut edits) = (Vec::new(), Vec::new());
    for one in moved {
        let range = one.declaration.byte_range();
        let declaration = renamed(source, &range, &one.names);
        let written: Vec<&str> = declaration.iter().map(|(token, _)| token.as_str()).collect();
        let before = if one.plain { first } else { one.function }.start_byte();
        let here = place(range.clone());
        // Lines keep their numbers.
        let lines = source.source.text[here.clone()].matches('\n').count();
        let (mut defined, mut undefined) = (String::new(), String::new());
        for (name, outside) in &one.names {
            let _ = write!(defined, "\n#define {name} {outside}");
            let _ = write!(undefined, "\n#undef {name}");
        }
        let behind = line_of(source, here.end);
        edits.push((here.clone(), format!(";{}{defined}\n{behind}", "\n".repeat(lines))));
        let end = place(one.block.end_byte() - 1..one.block.end_byte()).start;
        edits.push((end..end, format!("{undefined}\n{}", line_of(source, end))));
        let at = place(before..before + 1).start;
        edits.push((at..at, format!("\n{}\n{}", written.join(" "), line_of(source, at))));
        parts.push(Replaced { range: before..before, tokens: declaration });
        parts.push(Replaced { range: range.clone(), tokens: vec![(";".to_owned(), here)] });
        for used in one.uses.iter().filter(|used| used.start >= range.end) {
            let name = source.text[used.clone()].to_owned();
            let token = one.names.get(&name).cloned().unwrap_or(name);
            parts.push(Replaced { range: used.clone(), tokens: vec![(token, place(used.clone()))] });
        }
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let names = moved.iter().flat_map(|one| &one.names);
    let names_given = names.map(|(name, outside)| (outside.clone(), name.clone())).collect();
    Preprocessed { names_given, ..source.replaced(parts, edits) }
}

fn line_of(source: &Preprocessed, at: usize) -> String {
    let (line, _) = source.source.line_column(at);
    format!("#line {line}\n")
}

/// The tokens of a declaration, without the marks of the parser, with other names.
fn renamed(
    source: &Preprocessed,
    range: &Range<usize>,
    names: &HashMap<String, String>,
) -> Vec<(String, Span)> {
    let text = &source.text[range.clone()];
    let mut found = Vec::new();
    let mut all = tokens(text).into_iter();
    while let Some(token) = all.next() {
        let word = &text[token.start..token.end];
        if word == MARK {
            all.next();
            continue;
        }
        let name = names.get(word).map_or(word, String::as_str).to_owned();
        found.push((name, source.origin.span(range.start + token.start..range.start + token.end)));
    }
    found
}
