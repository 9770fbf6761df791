//! What the rules of programs find, in words of C: the file is a program of its author's, who knows neither fields, levels nor domains.

use crate::codes;
use polyhedral::diagnostic::{Code, Diagnostic, DiagnosticKind};

/// A mistake in a stencil is none in C, but something that cannot be taken.
///
/// Facts and ways out that are told in the stencil language, or in coordinates of the grid instead of the loops', are left out.
pub(super) fn in_words_of_c(found: Diagnostic) -> Diagnostic {
    if found.kind != DiagnosticKind::UserError {
        return found;
    }
    // Messages put the name of the field or index first.
    let name = found.message.split('`').nth(1).unwrap_or_default().to_owned();
    let (code, message, hint) = match found.code {
        Code::ASSIGNED_TWICE => (
            codes::OVERWRITTEN,
            format!("two statements of a step compute the same points of `{name}`"),
            Some(
                "let each point be computed once in a step, or keep what changes it again in a time loop of its own",
            ),
        ),
        Code::IN_PLACE => (
            codes::ORDER,
            format!(
                "this takes `{name}` of the step that is being computed, but points of it are computed here or further down"
            ),
            Some("compute an array as a whole in a step before it is read, or behind all that read it"),
        ),
        Code::EMPTY_DOMAIN => (found.code, format!("the loop over `{name}` computes no point"), None),
        Code::TOO_FEW_SLOTS => (
            codes::ORDER,
            format!("`{name}` is overwritten while values of earlier steps are still read from it"),
            None,
        ),
        _ => return Diagnostic { kind: DiagnosticKind::Limitation, ..found },
    };
    let hints = hint.map(str::to_owned).into_iter().collect();
    Diagnostic { kind: DiagnosticKind::Limitation, code, message, notes: Vec::new(), hints, ..found }
}
