//! What a name means, in one or two sentences.

use polyhedral::program::{FieldRole, Program};
use polyhedral::source::Span;
use polyhedral::token::{TokenKind, tokenize};

/// What stands at a byte of a text, and what it means in the program that the text is; `None` where there is nothing to say.
pub(crate) fn meaning(text: &str, offset: usize) -> Option<(Span, String)> {
    let tokens = tokenize(text, &mut Vec::new());
    // At the end of a name one still points to it.
    let token = tokens
        .into_iter()
        .find(|token| token.span.start <= offset && offset <= token.span.end && is_word(token.kind))?;
    let name = &text[token.span.clone()];
    let says = match token.kind {
        TokenKind::Name => of_name(&polyhedral::parse("", text).ok()?, name)?,
        TokenKind::Field => "`field NAME: TYPE;` changes over time: statements compute it.".to_owned(),
        TokenKind::Coefficient => "`coefficient NAME: TYPE;` is read-only, one value for each point.".to_owned(),
        TokenKind::Series => "`series NAME: TYPE;` is read-only, one value for each time step.".to_owned(),
        TokenKind::Param => "`param NAME = NUMBER;` is a number with a default.".to_owned(),
        TokenKind::Boundary => {
            "`boundary fixed;` (the default) or `boundary per_slot;`: what points hold that no statement computes. \
             `boundary periodic;` or `periodic(INDEX, ..)`: the grid wraps around."
                .to_owned()
        }
        TokenKind::Let => "`let NAME = EXPRESSION;` names a value for the statements below.".to_owned(),
        _ => "`stencil NAME(TIME, INDEX, ..) { .. }`: the fields and the statements of one time step.".to_owned(),
    };
    Some((token.span, says))
}

fn is_word(kind: TokenKind) -> bool {
    use TokenKind::{Boundary, Coefficient, Field, Let, Name, Param, Series, Stencil};
    matches!(kind, Stencil | Field | Coefficient | Series | Param | Boundary | Let | Name)
}

fn of_name(program: &Program, name: &str) -> Option<String> {
    if let Some(field) = program.fields.iter().find(|field| field.name == name) {
        let element = field.element.name();
        return Some(match field.role {
            FieldRole::State { levels, slots } => {
                format!(
                    "field `{name}` of {element}: a run starts from {levels} time level(s) and stores {slots}."
                )
            }
            FieldRole::Coefficient => {
                format!("coefficient `{name}` of {element}: read-only, one value for each point.")
            }
        });
    }
    if let Some(series) = program.series.iter().find(|series| series.name == name) {
        let (element, first, more) = (series.element.name(), series.first, series.length(0));
        return Some(format!(
            "series `{name}` of {element}: its first value is that of time {first}; a run needs as many values as steps, and {more} more."
        ));
    }
    if let Some(parameter) = program.parameters.iter().find(|parameter| parameter.name == name) {
        return Some(format!("parameter `{name}`, {} where none is given.", parameter.default));
    }
    if program.time_index == name {
        return Some(format!("`{name}` is the time index: statements compute `{name}+1`."));
    }
    if let Some(dimension) = program.space_indices.iter().position(|index| index == name) {
        return Some(format!(
            "`{name}` is the index of dimension {dimension}; it has `n{dimension}` points."
        ));
    }
    if let Some(dimension) = name.strip_prefix('n').and_then(|digits| digits.parse::<usize>().ok()) {
        let index = program.space_indices.get(dimension)?;
        return Some(format!("`{name}` is the number of points along `{index}`."));
    }
    if program.name == name {
        return Some(match program.description.as_str() {
            "" => format!("stencil `{name}`"),
            description => description.to_owned(),
        });
    }
    let is_local =
        program.statements.iter().flat_map(|statement| &statement.locals).any(|local| local.name == name);
    is_local.then(|| format!("`{name}` is a local value; each statement that uses it evaluates it again."))
}
