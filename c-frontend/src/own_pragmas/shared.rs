//! Variables that the threads of a team share and assign at the same time: then a program computes with threads what it does not
//! compute without. The usual case is the index of an inner loop that is declared outside, which C does not give to each thread.

use super::parsed::{Parsed, Pragma, TYPES};
use std::collections::HashSet;
use std::ops::Range;

/// Constructs whose statement several threads run.
const TEAMS: [&str; 6] = ["parallel", "for", "sections", "task", "taskloop", "loop"];
/// Those in which one thread at a time does something.
const ONE: [&str; 5] = ["critical", "atomic", "single", "master", "masked"];
/// Words that stand before a name without declaring it.
const NO_TYPES: [&str; 6] = ["return", "else", "do", "goto", "case", "sizeof"];

/// A construct in which threads assign a variable that none of them has for itself.
pub(super) fn assigned<'p, 'a>(file: &'p Parsed<'a>) -> Option<(&'p Pragma<'a>, &'a str)> {
    let teams = file.pragmas.iter().filter(|pragma| pragma.has(&TEAMS));
    teams.into_iter().find_map(|pragma| Some((pragma, assigned_in(file, pragma)?)))
}

fn assigned_in<'a>(file: &Parsed<'a>, pragma: &Pragma<'a>) -> Option<&'a str> {
    let start = file.first_behind(pragma);
    let tokens = start..file.behind_statement(start, 0)?;
    let bytes = file.bytes(tokens.clone());
    let within: Vec<&Pragma<'_>> = file
        .pragmas
        .iter()
        .filter(|other| {
            std::ptr::eq(*other, pragma) || (bytes.start <= other.span.start && other.span.end <= bytes.end)
        })
        .collect();
    let mut own: HashSet<&str> = declared(file, &tokens);
    // A team's loop stands among what each thread of the team has for itself.
    for team in around(file, pragma, &tokens) {
        own.extend(team.0.own.iter().copied());
        own.extend(declared_before(file, team.1.start..tokens.start));
    }
    let mut alone: Vec<Range<usize>> = Vec::new();
    for other in within {
        own.extend(other.own.iter().copied());
        if other.has(&["for", "loop", "taskloop"]) {
            own.extend(indices(file, file.first_behind(other), other.loops));
        }
        if other.has(&ONE) {
            let first = file.first_behind(other);
            alone.push(first..file.behind_statement(first, 0).unwrap_or(first));
        }
    }
    tokens.into_iter().find_map(|at| {
        let name = file.word(at);
        let assigns = is_name(name) && is_assigned(file, at) && !own.contains(name);
        (assigns && !alone.iter().any(|range| range.contains(&at))).then_some(name)
    })
}

/// The constructs around another one that shares out among a team's threads what it is for, and the tokens of their statements;
/// one that makes a team of its own has none.
fn around<'p, 'a>(
    file: &'p Parsed<'a>,
    pragma: &Pragma<'a>,
    tokens: &Range<usize>,
) -> Vec<(&'p Pragma<'a>, Range<usize>)> {
    if pragma.has(&["parallel", "task", "taskloop"]) {
        return Vec::new();
    }
    let teams = file.pragmas.iter().filter(|other| other.has(&["parallel"]));
    let statements = teams.filter_map(|team| {
        let first = file.first_behind(team);
        Some((team, first..file.behind_statement(first, 0)?))
    });
    statements.filter(|(_, other)| other.start <= tokens.start && tokens.end <= other.end).collect()
}

/// The names that are declared among some tokens and known behind them: not within brackets that are closed there.
fn declared_before<'a>(file: &Parsed<'a>, tokens: Range<usize>) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    let (mut from, mut at) = (tokens.start, tokens.start);
    while at < tokens.end {
        let closed = ["{", "("].contains(&file.word(at)).then(|| file.behind_brackets(at)).flatten();
        match closed.filter(|behind| *behind <= tokens.end) {
            Some(behind) => {
                found.extend(declared(file, &(from..at)));
                (from, at) = (behind, behind);
            }
            None => at += 1,
        }
    }
    found.extend(declared(file, &(from..tokens.end)));
    found
}

fn is_name(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
}

/// Whether a name is a variable that is assigned as a whole here.
fn is_assigned(file: &Parsed<'_>, at: usize) -> bool {
    let (before, behind) = (file.word(at.wrapping_sub(1)), file.word(at + 1));
    let assigns = matches!(
        behind,
        "=" | "++" | "--" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>="
    );
    let steps = matches!(before, "++" | "--") && !matches!(behind, "[" | "." | "->");
    (assigns || steps) && !matches!(before, "." | "->" | "*")
}

/// The names that are declared among some tokens: behind a type, and behind the commas of such a declaration.
fn declared<'a>(file: &Parsed<'a>, tokens: &Range<usize>) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    for at in tokens.clone() {
        let (mut before, name) = (at.wrapping_sub(1), file.word(at));
        let stars = file.word(before) == "*";
        while file.word(before) == "*" {
            before = before.wrapping_sub(1);
        }
        let ctype = file.word(before);
        let is_type =
            if stars { TYPES.contains(&ctype) } else { is_name(ctype) && !NO_TYPES.contains(&ctype) };
        if !is_name(name) || !is_type {
            continue;
        }
        found.insert(name);
        // `int i = f(a, b), j;`
        let mut next = at + 1;
        while next < tokens.end {
            match file.word(next) {
                "(" | "[" | "{" => match file.behind_brackets(next) {
                    Some(behind) => {
                        next = behind;
                        continue;
                    }
                    None => break,
                },
                ";" | ")" | "}" => break,
                "," => {
                    let mut name = next + 1;
                    while file.word(name) == "*" {
                        name += 1;
                    }
                    found.insert(file.word(name));
                }
                _ => {}
            }
            next += 1;
        }
    }
    found
}

/// The indices of so many loops within each other.
fn indices<'a>(file: &Parsed<'a>, first: usize, loops: usize) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut at = first;
    for _ in 0..loops.min(16) {
        while file.word(at) == "{" {
            at += 1;
        }
        if file.word(at) != "for" {
            break;
        }
        found.push(file.word(at + 2));
        let Some(behind) = file.behind_brackets(at + 1) else { break };
        at = behind;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<&str> {
        assigned(&Parsed::new(text)).map(|(_, name)| name)
    }

    #[test]
    fn what_threads_share() {
        let start = "#pragma omp parallel for";
        assert_eq!(
            name(&format!("{start}\nfor (j = 1; j < n; j++) for (i = 0; i < n; i++) a[j][i] = 0;")),
            Some("i")
        );
        assert_eq!(
            name(&format!(
                "{start} private(i)\nfor (j = 1; j < n; j++) for (i = 0; i < n; ++i) a[j][i] = 0;"
            )),
            None
        );
        assert_eq!(
            name(&format!(
                "{start} collapse(2)\nfor (j = 1; j < n; j++) for (i = 0; i < n; i++) a[j][i] = 0;"
            )),
            None
        );
        assert_eq!(
            name(&format!(
                "{start} reduction(max : m)\nfor (int j = 1; j < n; j++) {{ double *p = a[j], q = p[0], r; r = q; m = fmax(m, r); *p = r; }}"
            )),
            None
        );
        assert_eq!(
            name(&format!("{start}\nfor (int j = 1; j < n; j++) {{ if (a[j] > m) m = a[j]; }}")),
            Some("m")
        );
        assert_eq!(
            name(&format!(
                "{start}\nfor (int j = 1; j < n; j++) {{\n#pragma omp critical\nif (a[j] > m) m = a[j];\n}}"
            )),
            None
        );
        // What each thread of the team has is no shared variable.
        let team = "#pragma omp parallel private(j)\n{ double m = 0;\n#pragma omp for\nfor (i = 1; i < n; i++) for (j = 1; j < n; j++)";
        assert_eq!(name(&format!("{team} if (a[i][j] > m) m = a[i][j];\n}}")), None);
        assert_eq!(name(&format!("{team} s = a[i][j];\n}}")), Some("s"));
        let other = "#pragma omp parallel\n{ for (int j = 0; j < 4; j++) { double m = 0; f(m); }\n#pragma omp for\nfor (i = 1; i < n; i++)";
        assert_eq!(name(&format!("{other} for (j = 1; j < n; j++) f(j);\n}}")), Some("j"));
        assert_eq!(name(&format!("{other} m = a[i];\n}}")), Some("m"));
        assert_eq!(name(&format!("{team} m = 0;\n}}\n{start}\nfor (i = 1; i < n; i++) m = i;")), Some("m"));
        assert_eq!(name("#pragma omp parallel\n{ id = omp_get_thread_num(); }"), Some("id"));
        assert_eq!(name("#pragma omp single\nx = 1;"), None);
    }
}
