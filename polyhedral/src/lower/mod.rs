//! From the syntax tree to the checked program: names, accesses, types, and the rules of time stepping.

mod access;
mod congruence;
mod constant;
mod declare;
mod domain;
mod expression;
mod names;
mod statement;

pub use access::{MOST_INDEX_HEIGHT, MOST_OFFSET, OLDEST_LEVEL};
pub use names::{FUNCTIONS, functions, reserved};

use crate::ast::{ItemKind, Stencil};
use crate::diagnostic::Diagnostic;
use crate::domain::Sides;
use crate::program::{Boundary, ElementType, Expr, FieldId, Parameter, Program};
use crate::source::{SourceFile, Span};
use names::{Names, Symbol};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Most fields, parameters and statements, each.
pub const MOST_DECLARATIONS: usize = 256;
/// Most slots that a field may ask for.
pub const MOST_SLOTS: usize = 64;
/// Most operators and operands of one statement together with the locals that it uses.
pub const MOST_STATEMENT_NODES: usize = crate::parser::MOST_NODES;
/// Most operators and operands of a whole program.
pub const MOST_PROGRAM_NODES: usize = 10 * MOST_STATEMENT_NODES;

/// Checks a stencil and makes its program. Whatever is wrong is added to the diagnostics; the program is
/// meaningful only if none was added, by the parser or here.
pub fn lower(
    stencil: &Stencil,
    source: &Arc<SourceFile>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Program> {
    let mut lowering = Lowering {
        diagnostics,
        incomplete: stencil.incomplete,
        names: Names::default(),
        time: String::new(),
        space: Vec::new(),
        indices_clear: true,
        indices_span: stencil.indices_span.clone(),
        fields: Vec::new(),
        series: Vec::new(),
        boundary: Boundary::Fixed,
        periodic: Vec::new(),
        parameters: Vec::new(),
        broken_parameters: HashSet::new(),
        lets: Vec::new(),
        let_numbers: HashMap::new(),
        writers: HashMap::new(),
        computed: HashSet::new(),
        passed: 0,
        current_statement: None,
        used_lets: Vec::new(),
        statements: Vec::new(),
        reported_names: HashSet::new(),
        reported_parameters: HashSet::new(),
    };
    if !lowering.indices_of_stencil(stencil) {
        return None;
    }
    lowering.periodic = vec![None; lowering.space.len()];
    lowering.declarations(stencil);
    for (number, item) in stencil.items.iter().enumerate() {
        match &item.kind {
            ItemKind::Let { name, value } => lowering.local_definition(number, name, value),
            ItemKind::Assign { target, value, domain } => {
                lowering.statement(target, value, domain.as_ref(), &item.span);
            }
            _ => {}
        }
    }
    lowering.finish(stencil, source)
}

/// A field as declared; `element` is `None` if its type could not be read.
struct FieldDeclaration {
    name: String,
    element: Option<ElementType>,
    state: bool,
    slots: Option<usize>,
    span: Span,
}

/// A series as declared.
struct SeriesDeclaration {
    name: String,
    element: Option<ElementType>,
    span: Span,
}

/// A `let` that has been passed; `value` is `None` if it has a mistake.
struct LetDefinition {
    name: String,
    value: Option<Expr>,
    /// The earlier ones that it uses directly.
    uses: Vec<usize>,
    size: usize,
}

/// A statement that has been passed; locals are still numbered over the whole file.
struct LoweredStatement {
    target: FieldId,
    value: Expr,
    uses: Vec<usize>,
    domain: Vec<Sides>,
    domain_span: Span,
    target_span: Span,
    span: Span,
}

struct Lowering<'a> {
    diagnostics: &'a mut Vec<Diagnostic>,
    /// Parts could not be read, so that a missing name proves nothing.
    incomplete: bool,
    names: Names,
    time: String,
    space: Vec<String>,
    /// Whether the indices have distinct names; if not, accesses are not understood.
    indices_clear: bool,
    indices_span: Span,
    fields: Vec<FieldDeclaration>,
    series: Vec<SeriesDeclaration>,
    boundary: Boundary,
    /// Per index of space, where it is declared periodic.
    periodic: Vec<Option<Span>>,
    parameters: Vec<Parameter>,
    broken_parameters: HashSet<usize>,
    lets: Vec<LetDefinition>,
    /// The number of each `let`, by the number of its item.
    let_numbers: HashMap<usize, usize>,
    /// For each field the first statement that assigns it, by number, its place, and whether it has a domain.
    writers: HashMap<usize, (usize, Span, bool)>,
    /// The fields computed by the statements so far.
    computed: HashSet<usize>,
    /// Number of statements before the present one.
    passed: usize,
    /// The statement whose value is in work; `None` within a `let`.
    current_statement: Option<usize>,
    /// The locals used by the expression in work.
    used_lets: Vec<usize>,
    statements: Vec<LoweredStatement>,
    reported_names: HashSet<String>,
    reported_parameters: HashSet<usize>,
}

impl Lowering<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn is_state(&self, field: FieldId) -> bool {
        self.fields[field.0].state
    }

    fn element(&self, field: FieldId) -> Option<ElementType> {
        self.fields[field.0].element
    }

    /// The type of expressions that meet no typed operand.
    fn default_type(&self) -> ElementType {
        let series = self.series.iter().filter_map(|series| series.element);
        self.fields.iter().filter_map(|field| field.element).chain(series).max().unwrap_or(ElementType::F32)
    }

    /// How an access to the present point of a field is written; `time` overrides the time index.
    fn point(&self, field: FieldId, time: Option<&str>) -> String {
        let time = self.is_state(field).then(|| time.unwrap_or(&self.time).to_string());
        let indices: Vec<String> = time.into_iter().chain(self.space.iter().cloned()).collect();
        format!("{}[{}]", self.fields[field.0].name, indices.join(", "))
    }

    fn index_name(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Space(dimension) => &self.space[dimension],
            _ => &self.time,
        }
    }
}
