//! Whether the time loop can be taken out of its file.
//!
//! Where the loop begins and ends in the file is found by aligning tokens. That is checked by the preprocessor itself:
//! with pragmas around the loop it must print the same tokens as before, those of the loop between the pragmas and the
//! others around them. A macro that makes the loop and something else, or an argument list that goes across its end,
//! would be noticed here. It is not asked again where it has printed the lines around both ends as they stand in the file.

use super::origin::{self, Expanded};
use super::{MARK, Options, Preprocessed, compiler, decode_lines, lexer, spelling};
use crate::ast::Variable;
use crate::codes;
use crate::program::CProgram;
use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const WORD: &str = "tilewright_cut";

/// Refuses a program whose time loop has no place of its own in the file.
///
/// # Errors
/// Why it has none.
pub fn check_cut(program: &CProgram, path: &Path, options: &Options) -> Result<(), Diagnostics> {
    let source = &program.preprocessed.source;
    let refuse = |diagnostic| Err(Diagnostics::new(Arc::clone(source), vec![diagnostic]));
    let head = program.nest.time.head.clone();
    if let Some((name, place, what)) = used_behind(program) {
        let message = format!("`{name}`, which each step has anew, is used behind the loops of the step");
        let hint = match what {
            "array" => "declare the array before the time loop, or take and give back its memory there",
            _ => "declare the pointer before the loops of the step",
        };
        return refuse(
            Diagnostic::limitation(codes::CUT, place, message)
                .note(format!("the loops are replaced together with the {what}; what is behind them stays"))
                .hint(hint),
        );
    }
    match tokens_stay(program, path, options) {
        Ok(true) => Ok(()),
        Ok(false) if source.text.get(head.start..).is_some_and(|text| text.starts_with('#')) => {
            refuse(
                Diagnostic::limitation(codes::CUT, head, "this time loop is in a file that is included")
                    .note("the file that is named is rewritten; headers stay as they are")
                    .hint("write the loop in the file itself, or name a file that holds it and not only an `#include`"),
            )
        }
        Ok(false) => {
            let message = "this time loop is made by macros that make other things, too";
            refuse(
                Diagnostic::limitation(codes::CUT, head, message)
                    .note("the loop is replaced as a whole; its first and its last token must be its own")
                    .hint("write `for (..) {` and the closing brace out, without macros"),
            )
        }
        Err(error) => {
            let message = format!("the program could not be preprocessed again: {error}");
            refuse(Diagnostic::error(codes::NO_COMPILER, head, message))
        }
    }
}

/// An array or a pointer that goes with the loops of a step, where the rest of the step names it, and which of the two it is.
fn used_behind(program: &CProgram) -> Option<(&str, Range<usize>, &'static str)> {
    let (cut, whole) = (program.nest.cut(), &program.nest.time.span);
    let text = &program.preprocessed.source.text;
    let rest = text.get(cut.end..whole.end)?;
    let tokens = lexer::tokens(rest);
    // Those of a block within the loops end with it.
    let outermost = |one: &&Variable| {
        let before = text.get(cut.start..one.span.start).unwrap_or("{");
        let count = |brace: &str| {
            lexer::tokens(before).iter().filter(|token| &before[token.start..token.end] == brace).count()
        };
        one.span.end <= cut.end && count("{") == count("}")
    };
    let pointers = program.region.written_out.iter().map(|one| &one.pointer).filter(outermost);
    let arrays = program.own_arrays().into_iter().map(|one| (one, "array"));
    arrays.chain(pointers.map(|one| (one, "pointer"))).find_map(|(own, what)| {
        let token =
            tokens.iter().find(|token| rest.get(token.start..token.end) == Some(own.name.as_str()))?;
        Some((own.name.as_str(), cut.end + token.start..cut.end + token.end, what))
    })
}

fn tokens_stay(program: &CProgram, path: &Path, options: &Options) -> std::io::Result<bool> {
    let preprocessed = &program.preprocessed;
    let cut = program.nest.cut();
    // Statements of one macro have one place; the outermost one is the time loop.
    let own = program.region.places.iter().filter(|(span, _)| *span == cut).map(|(_, range)| range);
    let observed = program.nest.observed.as_ref().map(|observed| &observed.tokens);
    let Some(range) = observed.or_else(|| own.max_by_key(|range| range.len())) else { return Ok(false) };
    if stands_alone(preprocessed, &cut, range) {
        return Ok(true);
    }
    let wanted = [
        words(&preprocessed.text, 0..range.start),
        words(&preprocessed.text, range.clone()),
        words(&preprocessed.text, range.end..preprocessed.text.len()),
    ];

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("cut.c");
    std::fs::write(&file, preprocessed.encode(&marked(program, path)))?;
    // `__TIMESTAMP__` is the time of the file.
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    if let Ok(modified) = modified {
        let _ = std::fs::File::options().append(true).open(&file)?.set_modified(modified);
    }
    let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(bytes) = compiler::preprocess(&file, Some(beside), options) else { return Ok(false) };
    let text = decode_lines(&bytes, preprocessed.latin1);
    let Expanded { pieces, .. } = origin::expanded(&text);
    let mut found = [Vec::new(), Vec::new(), Vec::new()];
    let mut part = 0;
    for piece in &pieces {
        match lexer::pragma(&piece.text) {
            Some(words) if words == [WORD] => part += 1,
            Some(_) => {}
            None if part > 2 => return Ok(false),
            None => {
                let line = spelling::usual(&piece.text);
                found[part].extend(words_of(&line).map(str::to_owned));
            }
        }
    }
    Ok(part == 2 && wanted.iter().zip(&found).all(|(wanted, found)| wanted.iter().eq(found.iter())))
}

/// Whether the lines on which the loop begins and ends have the tokens in the file that the preprocessor printed of them, each in its
/// place, and so have the tokens around these lines: no macro and no list of arguments begins, ends or goes on there.
fn stands_alone(preprocessed: &Preprocessed, cut: &Range<usize>, range: &Range<usize>) -> bool {
    let (source, text) = (&preprocessed.source.text, &preprocessed.text);
    let own = lexer::tokens(source);
    let is_traced = |printed_at: Option<usize>, own_at: Option<usize>| {
        let place = printed_at.map(|at| preprocessed.origin.span(at..at + 1));
        place == own_at.and_then(|at| own.get(at)).map(|token| token.start..token.end)
    };
    let is_alike = |at: usize, printed_at: usize| {
        let own_at = own.partition_point(|token| token.end <= at);
        let (Some(token), Some((before, behind))) = (own.get(own_at), text.split_at_checked(printed_at))
        else {
            return false;
        };
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = behind.find('\n').map_or(text.len(), |length| printed_at + length);
        let first = own.partition_point(|other| other.line < token.line);
        let on_line = own[first..].iter().take_while(|other| other.line == token.line);
        let line: Vec<&str> = on_line.map(|token| &source[token.start..token.end]).collect();
        let printed_before = text[..start].trim_end().len().checked_sub(1);
        let printed_behind = text[end..].find(|letter: char| !letter.is_whitespace()).map(|at| end + at);
        words(text, start..end) == line
            && words(text, start..printed_at).len() == own_at - first
            && is_traced(Some(printed_at), Some(own_at))
            && is_traced(printed_before, first.checked_sub(1))
            && is_traced(printed_behind, Some(first + line.len()))
    };
    let last = cut.end.checked_sub(1).zip(range.end.checked_sub(1));
    is_alike(cut.start, range.start) && last.is_some_and(|(at, printed_at)| is_alike(at, printed_at))
}

/// The user's file with a pragma before and behind the loop, every line with its number.
fn marked(program: &CProgram, path: &Path) -> String {
    let source = &program.preprocessed.source;
    let (span, end) = (&program.nest.cut(), source.text.len());
    let text = |part| program.preprocessed.source_text(part);
    let (first, _) = source.line_column(span.start);
    let (last, _) = source.line_column(span.end);
    let name = compiler::as_argument(path).display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let mut result = format!("#line 1 \"{name}\"\n");
    result.push_str(text(0..span.start).trim_start_matches('\u{feff}'));
    let _ = write!(result, "\n#pragma {WORD}\n#line {first}\n{}", text(span.clone()));
    let _ = write!(result, "\n#pragma {WORD}\n#line {last}\n{}", text(span.end..end));
    result
}

/// The tokens of a part of the preprocessed text, without the marks of the parser.
fn words(text: &str, range: Range<usize>) -> Vec<String> {
    let part = text.get(range).unwrap_or_default();
    let mut words = Vec::new();
    let mut tokens = words_of(part);
    while let Some(word) = tokens.next() {
        if word == MARK {
            tokens.next();
        } else {
            words.push(word.to_owned());
        }
    }
    words
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    lexer::tokens(text).into_iter().map(|token| &text[token.start..token.end])
}
