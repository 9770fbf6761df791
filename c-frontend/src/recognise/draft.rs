//! The stencil as a program.

use super::colours::in_colours;
use super::points::temporaries_of;
use super::rules::in_words_of_c;
use super::stencil::{Stencil, What};
use crate::nest::{Nest, Result};
use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use polyhedral::domain::Sides;
use polyhedral::draft::{Draft, DraftField, DraftSeries, DraftStatement};
use polyhedral::lower::reserved;
use polyhedral::program::{
    Access, Boundary, Expr, ExprKind, FieldId, FieldRole, Local, LocalId, Parameter, Program,
};
use polyhedral::source::SourceFile;
use polyhedral::token::{TokenKind, tokenize};
use std::collections::HashSet;
use std::sync::Arc;

/// Names that are distinct and that generated code can use.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
}

/// Longest name that is kept.
const MOST_LETTERS: usize = 60;

impl Names {
    /// A name like this one.
    fn name(&mut self, like: &str) -> String {
        // Those of the rewritten program lose what marks them.
        let mut base: String = like
            .trim_start_matches("tw_")
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' })
            .collect();
        while base.ends_with('_') && base.len() > 1 {
            base.pop();
        }
        base.truncate(MOST_LETTERS);
        if base.is_empty() || base.starts_with(|letter: char| letter.is_ascii_digit()) {
            base.insert(0, 'x');
        }
        // A word of the language is no name there, though it is one in C.
        let word =
            tokenize(&base, &mut Vec::new()).first().is_some_and(|token| token.kind != TokenKind::Name);
        if word || reserved(&base).is_some() {
            base = format!("c_{}", base.trim_start_matches('_'));
        }
        let mut name = base.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        name
    }
}

/// Whether a program keeps all levels that mirrors get behind its last step.
pub fn keeps_levels(stencil: &Stencil, program: &Program) -> bool {
    let mut mirrors = stencil.fields.iter().filter_map(|field| field.mirrors.as_ref());
    mirrors.all(|mirrors| match program.fields[mirrors.field].role {
        FieldRole::State { slots, .. } => usize::try_from(mirrors.ago).is_ok_and(|ago| ago < slots),
        FieldRole::Coefficient => false,
    })
}

/// The checked program of a stencil.
///
/// # Errors
/// What the rules of programs find, such as points that two statements compute.
pub fn draft(
    name: &str,
    description: &str,
    nest: &Nest,
    stencil: &Stencil,
    source: &Arc<SourceFile>,
) -> std::result::Result<Program, Diagnostics> {
    let mut list = Vec::new();
    let program = match assemble(name, description, nest, stencil) {
        Ok(draft) => draft.check(source, &mut list),
        Err(diagnostic) => {
            list.push(*diagnostic);
            None
        }
    };
    match program {
        Some(program) if list.is_empty() => Ok(program),
        _ => {
            if list.is_empty() {
                list.push(Diagnostic::internal(nest.time.head.clone(), "the program could not be checked"));
            }
            let mut list: Vec<Diagnostic> = list.into_iter().map(in_words_of_c).collect();
            // Pieces of one statement say the same.
            list.dedup();
            Err(Diagnostics::new(Arc::clone(source), list))
        }
    }
}

fn assemble(name: &str, description: &str, nest: &Nest, stencil: &Stencil) -> Result<Draft> {
    let mut names = Names::default();
    let time_index = names.name(&nest.time.name);
    let space_indices: Vec<String> = stencil.indices.iter().map(|index| names.name(index)).collect();
    let fields: Vec<DraftField> = stencil
        .fields
        .iter()
        .filter(|field| field.mirrors.is_none())
        .map(|field| {
            let (like, state, slots) = match &field.what {
                What::State { form, buffers, .. } => {
                    (form.array.clone(), true, (*buffers > 1).then_some(*buffers))
                }
                What::Coefficient(form) => (form.array.clone(), false, None),
                What::Place(_) => ("place".to_owned(), false, None),
            };
            DraftField {
                name: names.name(&like),
                element: field.element,
                state,
                slots: slots.and_then(|slots| usize::try_from(slots).ok()),
                span: field.span.clone(),
            }
        })
        .collect();
    let series = nest
        .series
        .iter()
        .map(|one| DraftSeries {
            name: names.name(if one.text == nest.time.name { "time" } else { word(&one.text, "series") }),
            element: one.element,
            span: one.span.clone(),
        })
        .collect();
    let parameters = nest
        .scalars
        .iter()
        .map(|one| Parameter {
            name: names.name(word(&one.text, "value")),
            default: one.known.filter(|value| value.is_finite()).unwrap_or(1.0),
            span: one.span.clone(),
        })
        .collect();
    let local_names: Vec<String> =
        nest.temporaries.iter().map(|one| names.name(&format!("{}_at", one.name))).collect();
    let mut statements = Vec::new();
    for statement in &stencil.statements {
        let leaf = &nest.leaves[statement.leaf];
        let needed: Vec<usize> = temporaries_of(nest, &leaf.value).into_iter().collect();
        let patch = |mut value: Expr| {
            value.walk_mut(|expr| match &mut expr.kind {
                ExprKind::Local(LocalId(number)) => {
                    *number = needed.iter().position(|other| other == number).unwrap_or(0);
                }
                ExprKind::Read(access) => {
                    if let Some((_, at)) =
                        statement.reads.iter().find(|(number, _)| *number == access.field.0)
                    {
                        *access =
                            Access { field: FieldId(at.field), time: at.time, offset: at.offset.clone() };
                    }
                }
                _ => {}
            });
            value
        };
        let mut locals: Vec<Local> = needed
            .iter()
            .map(|number| Local {
                name: local_names[*number].clone(),
                value: patch(nest.temporaries[*number].value.clone()),
            })
            .collect();
        let mut value = patch(leaf.value.clone());
        // The value of the element itself needs no name.
        if let ExprKind::Local(LocalId(last)) = value.kind
            && last + 1 == locals.len()
            && let Some(local) = locals.pop()
        {
            value = local.value;
        }
        let value = in_colours(nest, stencil, statement, value)?;
        statements.push(DraftStatement {
            target: FieldId(statement.target),
            locals,
            value,
            domain: statement
                .sides
                .iter()
                .enumerate()
                .map(|(d, (low, high))| match &stencil.periodic[d] {
                    Some(_) => Sides::default(),
                    None => Sides { low: Some(*low), high: Some(*high) },
                })
                .collect(),
            domain_span: leaf.target.span.clone(),
            target_span: leaf.target.span.clone(),
            span: leaf.span.clone(),
        });
    }
    Ok(Draft {
        name: name.to_owned(),
        description: description.to_owned(),
        time_index,
        space_indices,
        fields,
        series,
        parameters,
        statements,
        boundary: Boundary::PerSlot,
        periodic: stencil.periodic.clone(),
    })
}

/// The text of a value from outside as a name, if it is one.
fn word<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    let start: &str =
        text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next().unwrap_or("");
    if start.is_empty() || start.starts_with(|letter: char| letter.is_ascii_digit()) {
        otherwise
    } else {
        start
    }
}
