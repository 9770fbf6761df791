//! The declarations of a stencil: indices, fields, parameters, the boundary, and the names of locals.

use super::names::{Symbol, reserved};
use super::{FieldDeclaration, Lowering, MOST_DECLARATIONS, MOST_SLOTS, SeriesDeclaration};
use crate::ast::{Expr, ExprKind, ItemKind, Name, Stencil};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Boundary, ElementType, FieldId, Parameter, ParameterId, SeriesId};
use crate::source::Span;
use text_escape::suggest;

impl Lowering<'_> {
    /// The time index and the space indices; false if there are too few or too many.
    pub(super) fn indices_of_stencil(&mut self, stencil: &Stencil) -> bool {
        self.check_reserved(&stencil.name);
        self.check_header(&stencil.name);
        for (position, index) in stencil.indices.iter().enumerate() {
            let symbol = if position == 0 { Symbol::Time } else { Symbol::Space(position - 1) };
            self.indices_clear &= self.declare(index, symbol);
        }
        self.time = stencil.indices[0].text.clone();
        self.space = stencil.indices[1..].iter().map(|index| index.text.clone()).collect();
        let (found, span) = (self.space.len(), stencil.indices_span.clone());
        if found == 0 {
            let message = "a stencil needs at least one space index";
            let hint = format!("write `({}, i)`; the first index is time", self.time);
            self.report(Diagnostic::error(Code::DIMENSION, span, message).hint(hint));
        } else if found > 3 {
            let message = format!("{found} space indices; at most 3 are supported");
            self.report(
                Diagnostic::limitation(Code::DIMENSION, span, message)
                    .note("the first index is time, the others space"),
            );
        }
        (1..=3).contains(&found)
    }

    /// All other names; types, defaults and the boundary.
    pub(super) fn declarations(&mut self, stencil: &Stencil) {
        let mut boundary: Option<Span> = None;
        let mut lets = 0;
        for (number, item) in stencil.items.iter().enumerate() {
            match &item.kind {
                ItemKind::Field { name, element, slots } => {
                    self.field(name, element.as_ref(), true, slots.as_ref());
                }
                ItemKind::Coefficient { name, element } => self.field(name, element.as_ref(), false, None),
                ItemKind::Series { name, element } => self.series(name, element.as_ref()),
                ItemKind::Param { .. } | ItemKind::Assign { .. } => {}
                ItemKind::Boundary { kind, periodic } => {
                    if let Some(first) = &boundary {
                        self.report(
                            Diagnostic::error(
                                Code::DUPLICATE_BOUNDARY,
                                item.span.clone(),
                                "a second boundary",
                            )
                            .related(first.clone(), "the first one"),
                        );
                    } else {
                        boundary = Some(item.span.clone());
                    }
                    self.boundary(kind, periodic.as_ref());
                }
                ItemKind::Let { name, .. } => {
                    if self.declare(name, Symbol::Let(lets)) {
                        self.let_numbers.insert(number, lets);
                        lets += 1;
                    }
                }
            }
        }
        // Fields and locals are known by now, so that a default that uses one is explained.
        let mut passed = 0;
        for item in &stencil.items {
            match &item.kind {
                ItemKind::Param { name, default } => {
                    let id = self.parameters.len();
                    if self.too_many(id, "parameters", &name.span) {
                        continue;
                    }
                    let declared = self.declare(name, Symbol::Parameter(ParameterId(id)));
                    let value = self.constant(default, id);
                    if declared {
                        if value.is_none() {
                            self.broken_parameters.insert(id);
                        }
                        let default = value.unwrap_or(0.0);
                        self.parameters.push(Parameter {
                            name: name.text.clone(),
                            default,
                            span: name.span.clone(),
                        });
                    }
                }
                ItemKind::Assign { target, domain, .. } => {
                    let bounded = domain.is_some();
                    if let ExprKind::Access(name, _) | ExprKind::Call(name, _) = &target.kind {
                        self.note_writer(&name.text, passed, &target.span, bounded);
                    } else if let ExprKind::Name(name) = &target.kind {
                        self.note_writer(name, passed, &target.span, bounded);
                    }
                    passed += 1;
                }
                _ => {}
            }
        }
    }

    fn note_writer(&mut self, name: &str, statement: usize, span: &Span, bounded: bool) {
        if let Some(Symbol::Field(field)) = self.names.get(name) {
            self.writers.entry(field.0).or_insert((statement, span.clone(), bounded));
        }
    }

    fn series(&mut self, name: &Name, element: Option<&Name>) {
        let id = self.series.len();
        if self.too_many(id, "series", &name.span) {
            return;
        }
        let element = element.and_then(|element| self.element_type(element));
        if self.declare(name, Symbol::Series(SeriesId(id))) {
            let (name, span) = (name.text.clone(), name.span.clone());
            self.series.push(SeriesDeclaration { name, element, span });
        }
    }

    /// The number of slots that a field asks for.
    fn slots(&mut self, slots: &Expr) -> Option<usize> {
        if let ExprKind::Error = slots.kind {
            return None;
        }
        if let ExprKind::Number { value, integer: true } = slots.kind
            && (1.0..=MOST_SLOTS as f64).contains(&value)
        {
            return Some(value as usize);
        }
        let message = format!("the number of slots is not an integer from 1 to {MOST_SLOTS}");
        let diagnostic = Diagnostic::error(Code::TOO_FEW_SLOTS, slots.span.clone(), message);
        self.report(diagnostic.note("a field has one slot for each of its time levels that is stored"));
        None
    }

    fn field(&mut self, name: &Name, element: Option<&Name>, state: bool, slots: Option<&Expr>) {
        let id = self.fields.len();
        if self.too_many(id, "fields", &name.span) {
            return;
        }
        let element = element.and_then(|element| self.element_type(element));
        let slots = slots.and_then(|slots| self.slots(slots));
        if self.declare(name, Symbol::Field(FieldId(id))) {
            let (name, span) = (name.text.clone(), name.span.clone());
            self.fields.push(FieldDeclaration { name, element, state, slots, span });
        }
    }

    /// Whether a declaration is one too many; reports the first such.
    pub(super) fn too_many(&mut self, count: usize, what: &str, span: &Span) -> bool {
        if count < MOST_DECLARATIONS {
            return false;
        }
        if self.reported_names.insert(format!("too many {what}")) {
            let message = format!("more than {MOST_DECLARATIONS} {what}");
            self.report(Diagnostic::limitation(Code::TOO_MANY, span.clone(), message));
        }
        self.incomplete = true;
        true
    }

    fn element_type(&mut self, name: &Name) -> Option<ElementType> {
        let hint = match name.text.as_str() {
            "f32" => return Some(ElementType::F32),
            "f64" => return Some(ElementType::F64),
            "float" | "real" | "single" | "float32" => Some("did you mean `f32`?".to_string()),
            "double" | "float64" => Some("did you mean `f64`?".to_string()),
            other => suggest::hint(other, ["f32", "f64"].into_iter()),
        };
        self.report(
            Diagnostic::error(
                Code::UNKNOWN_TYPE,
                name.span.clone(),
                format!("there is no type `{}`", name.text),
            )
            .note("the types are f32 and f64")
            .maybe_hint(hint),
        );
        None
    }

    fn boundary(&mut self, kind: &Name, periodic: Option<&(Name, Vec<Name>)>) {
        match kind.text.as_str() {
            "fixed" | "periodic" => {}
            "per_slot" => self.boundary = Boundary::PerSlot,
            other => {
                let hint = suggest::hint(other, ["fixed", "per_slot", "periodic"].into_iter());
                self.report(
                    Diagnostic::error(
                        Code::UNKNOWN_BOUNDARY,
                        kind.span.clone(),
                        format!("there is no boundary `{other}`"),
                    )
                    .note("the boundary is `fixed`, `per_slot` or `periodic`")
                    .maybe_hint(hint),
                );
            }
        }
        let Some((word, indices)) = periodic else { return };
        if indices.is_empty() {
            self.periodic = vec![Some(word.span.clone()); self.space.len()];
        }
        for index in indices {
            let Some(d) = self.space.iter().position(|name| *name == index.text) else {
                let message = format!("`{}` is no index of space", index.text);
                let hint = suggest::hint(&index.text, self.space.iter().map(String::as_str));
                let all = self.space.join("`, `");
                self.report(
                    Diagnostic::error(Code::PERIODIC_INDEX, index.span.clone(), message)
                        .note(format!("the grid can wrap around along `{all}`"))
                        .maybe_hint(hint),
                );
                continue;
            };
            if let Some(first) = self.periodic[d].replace(index.span.clone()) {
                let message = format!("`{}` is named twice", index.text);
                self.report(
                    Diagnostic::error(Code::PERIODIC_INDEX, index.span.clone(), message)
                        .related(first, "named here")
                        .hint("name each index once"),
                );
            }
        }
    }

    /// Declares a name; false if it exists already. A reserved name is reported and declared all the same.
    fn declare(&mut self, name: &Name, symbol: Symbol) -> bool {
        self.check_reserved(name);
        match self.names.declare(&name.text, symbol, &name.span) {
            Ok(()) => true,
            Err(first) => {
                let message = format!("the name `{}` is declared twice", name.text);
                self.report(
                    Diagnostic::error(Code::DUPLICATE_NAME, name.span.clone(), message)
                        .label("declared again")
                        .related(first, "first declared here"),
                );
                false
            }
        }
    }

    /// A stencil's header `NAME.h` must not take the place of a system header.
    fn check_header(&mut self, name: &Name) {
        if HEADERS.contains(&name.text.as_str()) {
            self.report_reserved(name, "the generated header would hide the system's header of this name");
        }
    }

    fn check_reserved(&mut self, name: &Name) {
        if let Some(why) = reserved(&name.text) {
            self.report_reserved(name, why);
        }
    }

    fn report_reserved(&mut self, name: &Name, why: &str) {
        let message = format!("the name `{}` is reserved", name.text);
        let diagnostic = Diagnostic::error(Code::RESERVED_NAME, name.span.clone(), message).note(why);
        self.report(diagnostic.hint("choose another name"));
    }
}

/// Headers that generated C and CUDA text, or what it includes, may ask for.
#[rustfmt::skip]
const HEADERS: &[&str] = &[
    "complex", "ctype", "cuda", "cuda_runtime", "features", "fenv", "inttypes",
    "iso646", "limits", "locale", "math", "memory", "omp", "setjmp", "signal", "stdarg", "stdatomic", "stdbool",
    "stdckdint", "stdbit", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "strings", "tgmath",
    "threads", "time", "uchar", "unistd", "wchar", "wctype",
];
