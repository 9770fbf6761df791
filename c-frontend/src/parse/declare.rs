//! Types and declarations.

use super::converter::{Converter, MOST_DEPTH, Result};
use super::expression::{inner, known_type};
use crate::ast::{CType, Floating, Variable};
use crate::integer::literal;
use std::collections::HashMap;
use tree_sitter::Node;

/// Attributes with which a number's type is a vector's, has another width, or another order of bytes, or a variable is another one.
const RESHAPING: [&str; 7] =
    ["vector_size", "ext_vector_type", "__mode__", "mode(", "scalar_storage_order", "alias(", "alias__("];

impl Converter<'_> {
    /// The variables that a declaration declares.
    pub(super) fn declaration(&mut self, node: Node<'_>) -> Result<Vec<Variable>> {
        let base = self.base_type(node);
        let mut variables = Vec::new();
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators {
            let (declarator, value) = if declarator.kind() == "init_declarator" {
                let value = declarator.child_by_field_name("value");
                (declarator.child_by_field_name("declarator").unwrap_or(declarator), value)
            } else {
                (declarator, None)
            };
            let (ctype, Some(name)) = self.declarator(declarator, base.clone()) else { continue };
            let value = match value {
                Some(value) => Some(self.expression(value)?),
                None => None,
            };
            let (name, span) = (self.text(name).to_owned(), self.span(name));
            self.constants.remove(&name);
            variables.push(Variable { name, ctype, value, span, global: false, constant: is_const(node) });
        }
        Ok(variables)
    }

    /// Whether a statement begins as a call of something that is a type.
    pub(super) fn looks_like_declaration(&self, node: Node<'_>) -> bool {
        let mut at = inner(node);
        while let Some(node) = at {
            at = match node.kind() {
                "comma_expression" | "assignment_expression" => node.child_by_field_name("left"),
                "subscript_expression" => node.child_by_field_name("argument"),
                "call_expression" => {
                    let name = node.child_by_field_name("function");
                    return name.is_some_and(|name| self.typedefs.contains_key(self.text(name)));
                }
                _ => return false,
            };
        }
        false
    }

    /// What `real (*now)[n] = u;` declares, which looks like a call where `real` is not known to be a type.
    pub(super) fn hidden_declaration(&mut self, node: Node<'_>) -> Result<Option<Vec<Variable>>> {
        let mut parts = Vec::new();
        let mut at = inner(node);
        while let Some(comma) = at.filter(|at| at.kind() == "comma_expression") {
            parts.extend(comma.child_by_field_name("left"));
            at = comma.child_by_field_name("right");
        }
        parts.extend(at);
        let mut base = None;
        let mut found = Vec::new();
        for part in parts {
            let (target, value) = match part.kind() {
                "assignment_expression" => {
                    (part.child_by_field_name("left"), part.child_by_field_name("right"))
                }
                _ => (Some(part), None),
            };
            let mut extents = Vec::new();
            let mut at = target;
            while let Some(subscript) = at.filter(|at| at.kind() == "subscript_expression") {
                extents.extend(subscript.child_by_field_name("index"));
                at = subscript.child_by_field_name("argument");
            }
            let pointer = match (at.map(|at| at.kind()), &base) {
                (Some("call_expression"), None) => {
                    let name = at.and_then(|at| at.child_by_field_name("function"));
                    base = name.and_then(|name| self.typedefs.get(self.text(name)).cloned());
                    at.and_then(|at| at.child_by_field_name("arguments"))
                }
                (Some("parenthesized_expression"), Some(_)) => at,
                _ => None,
            };
            let starred = pointer.and_then(inner).filter(|star| star.kind() == "pointer_expression");
            let name = starred.and_then(|star| star.child_by_field_name("argument"));
            let (Some(base), Some(name)) = (&base, name.filter(|name| name.kind() == "identifier")) else {
                return Ok(None);
            };
            let mut ctype = base.clone();
            for extent in extents {
                let extent = Box::new(self.expression(extent)?);
                ctype = CType::Array(Box::new(ctype), Some(extent));
            }
            let value = value.map(|value| self.expression(value)).transpose()?;
            found.push(Variable {
                name: self.text(name).to_owned(),
                ctype: CType::Pointer(Box::new(ctype)),
                value,
                span: self.span(name),
                global: false,
                constant: false,
            });
        }
        Ok((!found.is_empty()).then_some(found))
    }

    /// The parameters of a function.
    pub(super) fn parameters(&mut self, function: Node<'_>) -> Vec<Variable> {
        let mut declarator = function.child_by_field_name("declarator");
        while let Some(node) = declarator.filter(|node| node.kind() != "function_declarator") {
            declarator = node.child_by_field_name("declarator");
        }
        let Some(list) = declarator.and_then(|node| node.child_by_field_name("parameters")) else {
            return Vec::new();
        };
        let mut cursor = list.walk();
        let mut variables = Vec::new();
        for parameter in
            list.named_children(&mut cursor).filter(|node| node.kind() == "parameter_declaration")
        {
            let base = self.base_type(parameter);
            let Some(declarator) = parameter.child_by_field_name("declarator") else { continue };
            if let (ctype, Some(name)) = self.declarator(declarator, base) {
                let (name, span) = (self.text(name).to_owned(), self.span(name));
                self.constants.remove(&name);
                variables.push(Variable { name, ctype, value: None, span, global: false, constant: false });
            }
        }
        variables
    }

    /// `typedef`: the new names.
    pub(super) fn type_definition(&mut self, node: Node<'_>) {
        let base = self.base_type(node);
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators {
            if let (ctype, Some(name)) = self.declarator(declarator, base.clone()) {
                self.typedefs.insert(self.text(name).to_owned(), ctype);
            }
        }
    }

    /// The type in a conversion.
    pub(super) fn type_descriptor(&mut self, node: Node<'_>) -> CType {
        let base = self.base_type(node);
        match node.child_by_field_name("declarator") {
            Some(declarator) => self.declarator(declarator, base).0,
            None => base,
        }
    }

    /// The names that `enum { .. }` gives to numbers; those of values that are no literals are left out.
    pub(super) fn enumerators(&mut self, node: Node<'_>) {
        let Some(list) = node.child_by_field_name("body") else { return };
        let mut cursor = list.walk();
        let mut next = Some(0_i64);
        for one in list.named_children(&mut cursor).filter(|child| child.kind() == "enumerator") {
            let Some(name) = one.child_by_field_name("name") else { continue };
            if let Some(value) = one.child_by_field_name("value") {
                next = self.expression(value).ok().and_then(|value| literal(&value));
            }
            let name = self.text(name).to_owned();
            match next {
                Some(value) => self.constants.insert(name, value),
                None => self.constants.remove(&name),
            };
            next = next.and_then(|value| value.checked_add(1));
        }
    }

    /// A structure, by a name that stands for its members' types.
    pub(super) fn structure(&mut self, node: Node<'_>) -> CType {
        let name = match node.child_by_field_name("name") {
            Some(name) => format!("struct {}", self.text(name)),
            None => self.text(node).to_owned(),
        };
        if let Some(body) = node.child_by_field_name("body") {
            let mut members = HashMap::new();
            let mut cursor = body.walk();
            for line in body.named_children(&mut cursor).filter(|child| child.kind() == "field_declaration") {
                let base = self.base_type(line);
                let mut cursor = line.walk();
                let declarators: Vec<Node<'_>> =
                    line.children_by_field_name("declarator", &mut cursor).collect();
                let bits = line.named_children(&mut cursor).any(|child| child.kind() == "bitfield_clause");
                if declarators.is_empty() {
                    members.insert(String::new(), CType::Other("members without a name".to_owned()));
                }
                for declarator in declarators {
                    if let (ctype, Some(member)) = self.declarator(declarator, base.clone()) {
                        // The type of some bits is not what it says.
                        let ctype = if bits { CType::Other("bit-field".to_owned()) } else { ctype };
                        members.insert(self.text(member).to_owned(), ctype);
                    }
                }
            }
            self.structures.insert(name.clone(), members);
        }
        CType::Other(name)
    }

    /// The type of what a function returns.
    pub(super) fn returned_type(&mut self, function: Node<'_>) -> CType {
        let mut ctype = self.base_type(function);
        let mut at = function.child_by_field_name("declarator");
        while let Some(node) = at.filter(|node| node.kind() == "pointer_declarator") {
            ctype = CType::Pointer(Box::new(ctype));
            at = node.child_by_field_name("declarator");
        }
        ctype
    }

    /// The word of a declaration that gives variables a life of their own, such as `static`.
    pub(super) fn storage(&self, node: Node<'_>) -> Option<&str> {
        let mut cursor = node.walk();
        let specifiers = node.children(&mut cursor).filter(|child| child.kind() == "storage_class_specifier");
        specifiers.map(|child| self.text(child)).find(|word| !matches!(*word, "register" | "auto" | "inline"))
    }

    /// The qualifier that says that a variable may change by itself, or that each access counts.
    fn watched(&self, node: Node<'_>) -> Option<&str> {
        let mut cursor = node.walk();
        let qualifiers = node.children(&mut cursor).filter(|child| child.kind() == "type_qualifier");
        qualifiers.map(|child| self.text(child).trim()).find(|word| matches!(*word, "volatile" | "_Atomic"))
    }

    /// The word of an attribute that makes something else of the variables beside it than their type says.
    fn reshaped(&self, node: Node<'_>) -> Option<&'static str> {
        let attributes = self.attributes(node)?;
        RESHAPING.into_iter().find(|word| attributes.contains(word)).map(|word| word.trim_end_matches('('))
    }

    /// Whether a function is called where the variables of a declaration end.
    pub(super) fn is_cleaned_up(&self, node: Node<'_>) -> bool {
        self.attributes(node).is_some_and(|attributes| attributes.contains("cleanup"))
    }

    /// A declaration from its first attribute on.
    fn attributes(&self, node: Node<'_>) -> Option<&str> {
        let text = self.text(node);
        let first = ["__attribute", "[["].iter().filter_map(|mark| text.find(mark)).min()?;
        text.get(first..)
    }

    /// The type before the declarators.
    fn base_type(&mut self, node: Node<'_>) -> CType {
        let base = self.unqualified_type(node);
        match self.watched(node).or_else(|| self.reshaped(node)) {
            Some(word) => CType::Other(format!("{word} {}", crate::text::type_text(&base))),
            None => base,
        }
    }

    fn unqualified_type(&mut self, node: Node<'_>) -> CType {
        let Some(named) = node.child_by_field_name("type") else { return CType::Other(String::new()) };
        match named.kind() {
            "enum_specifier" => self.enumerators(named),
            "struct_specifier" => return self.structure(named),
            _ => {}
        }
        let text = self.text(named);
        match named.kind() {
            "primitive_type" | "sized_type_specifier" | "type_identifier" => self
                .typedefs
                .get(text)
                .cloned()
                .or_else(|| basic(text))
                .unwrap_or_else(|| CType::Other(text.to_owned())),
            "enum_specifier" => CType::Integer { name: "int".to_owned(), unsigned: false },
            _ => CType::Other(text.to_owned()),
        }
    }

    /// The type and the name that a declarator makes of a base type.
    fn declarator<'t>(&mut self, node: Node<'t>, base: CType) -> (CType, Option<Node<'t>>) {
        let mut ctype = base;
        let mut at = node;
        // Nested declarators bind from the inside out: walking inwards, each wraps the type so far.
        for _ in 0..MOST_DEPTH {
            match at.kind() {
                "identifier" | "type_identifier" | "field_identifier" => return (ctype, Some(at)),
                "pointer_declarator" | "abstract_pointer_declarator" => {
                    ctype = CType::Pointer(Box::new(ctype));
                    if let Some(word) = self.watched(at) {
                        ctype = CType::Other(format!("{word} {}", crate::text::type_text(&ctype)));
                    }
                }
                "array_declarator" | "abstract_array_declarator" => {
                    let extent = at.child_by_field_name("size").filter(|size| size.kind() != "*");
                    let extent = extent.and_then(|size| self.expression(size).ok());
                    ctype = CType::Array(Box::new(ctype), extent.map(Box::new));
                }
                "parenthesized_declarator"
                | "abstract_parenthesized_declarator"
                | "attributed_declarator" => {}
                "function_declarator" | "abstract_function_declarator" => {
                    ctype = CType::Other("function".to_owned());
                }
                _ => return (ctype, None),
            }
            let mut cursor = at.walk();
            let next = at.child_by_field_name("declarator").or_else(|| {
                at.named_children(&mut cursor).find(|child| {
                    child.kind().ends_with("declarator") || child.kind().ends_with("identifier")
                })
            });
            match next {
                Some(next) => at = next,
                None => return (ctype, None),
            }
        }
        (ctype, None)
    }
}

/// Whether a declaration says `const` of its base type.
pub(super) fn is_const(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| {
        child.kind() == "type_qualifier" && child.child(0).is_some_and(|word| word.kind() == "const")
    })
}

/// The name that a declaration or a function definition declares.
pub(super) fn declared_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    for _ in 0..MOST_DEPTH {
        if at.kind() == "identifier" {
            return Some(at);
        }
        let mut cursor = at.walk();
        at = at
            .child_by_field_name("declarator")
            .or_else(|| at.named_children(&mut cursor).find(|child| child.kind().ends_with("declarator")))?;
    }
    None
}

/// A type of C by its name.
fn basic(text: &str) -> Option<CType> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["float"] => return Some(CType::Floating(Floating::Float)),
        ["double"] => return Some(CType::Floating(Floating::Double)),
        ["long", "double"] | ["double", "long"] => return Some(CType::Floating(Floating::LongDouble)),
        _ => {}
    }
    let integer = |word: &&str| matches!(*word, "int" | "long" | "short" | "char" | "signed" | "unsigned");
    if !words.is_empty() && words.iter().all(integer) {
        return Some(CType::Integer { name: words.join(" "), unsigned: words.contains(&"unsigned") });
    }
    known_type(text)
}
