//! Programs by chance.

use crate::support::{Folder, tilewright};

/// Programs by chance: what is accepted does what the original does. `TILEWRIGHT_PROGRAMS` says how many.
#[test]
fn programs_by_chance() {
    by_chance(12, crate::generated::program);
}

/// The same of programs without pragmas, which call functions of their own.
#[test]
fn programs_by_chance_with_calls() {
    by_chance(4, crate::generated_calls::program);
}

/// The same of programs whose arrays hold integers, some in structures.
#[test]
fn programs_by_chance_with_integers() {
    by_chance(4, crate::generated_integers::program);
}

/// The same of programs whose time loops count, test, print and treat edges in many ways.
#[test]
fn programs_by_chance_with_time_loops() {
    by_chance(2, crate::generated_loops::program);
}

/// The same of programs whose sweeps stand under conditions.
#[test]
fn programs_by_chance_with_branches() {
    by_chance_least(8, 8, crate::generated_loops::branching);
}

/// The same of programs that keep the values of a point in small arrays, and weights in tables.
#[test]
fn programs_by_chance_with_small_arrays() {
    by_chance(3, crate::generated_small::program);
}

/// The same of programs whose steps copy arrays.
#[test]
fn programs_by_chance_with_copies() {
    by_chance(4, crate::generated_copies::program);
}

/// The same of programs in which macros write the innermost blocks: all of their statements are at one place of the file.
#[test]
fn programs_by_chance_with_macros() {
    by_chance(2, |number| with_macros(&crate::generated_loops::program(number)));
}

/// A program whose blocks without blocks in them are macros.
fn with_macros(text: &str) -> String {
    let (mut macros, mut rest) = (String::new(), String::new());
    let mut from = 0;
    while let Some(begin) = text[from..].find('{').map(|at| from + at) {
        let end = begin + 1 + text[begin + 1..].find(['{', '}']).unwrap_or(0);
        let block = &text[begin + 1..end];
        // Braces behind `)` or `else` are those of statements; what a directive or a comment has cannot be moved.
        let statement = text[..begin].trim_end().ends_with([')', 'e']);
        if statement
            && text[end..].starts_with('}')
            && block.contains(';')
            && !block.contains(['#', '/', '"'])
        {
            let name = format!("BLOCK_{}", macros.lines().count());
            macros += &format!("#define {name} {}\n", block.split_whitespace().collect::<Vec<_>>().join(" "));
            rest += &format!("{} {name} ", &text[from..=begin]);
        } else {
            rest += &text[from..end];
        }
        from = end;
    }
    format!("{macros}{rest}{}", &text[from..])
}

fn by_chance(usual: u64, program: impl Fn(u64) -> String + Sync) {
    by_chance_least(usual, 2, program);
}

/// Of as many as `least` at least one must be accepted.
fn by_chance_least(usual: u64, least: u64, program: impl Fn(u64) -> String + Sync) {
    let count =
        std::env::var("TILEWRIGHT_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(usual);
    let first = std::env::var("TILEWRIGHT_FIRST").ok().and_then(|first| first.parse().ok()).unwrap_or(0_u64);
    let next = std::sync::atomic::AtomicU64::new(first);
    let results: Vec<(u64, crate::support::Output)> = std::thread::scope(|scope| {
        let work = || {
            let mut results = Vec::new();
            loop {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                if number >= first + count {
                    return results;
                }
                let folder = Folder::new();
                let file = folder.write("chance.c", program(number));
                let mut arguments = vec!["check", &file, "--quick", "--threads", "2", "--json"];
                arguments.extend(if number.is_multiple_of(5) { &["--strategy", "naive"][..] } else { &[] });
                results.push((number, tilewright(&arguments)));
            }
        };
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut accepted = 0;
    let mut wrong = Vec::new();
    let mut refused = std::collections::BTreeMap::new();
    for (number, output) in results {
        let report = output.json();
        let code = report["error"]["diagnostics"][0]["code"].as_str().map(str::to_owned);
        match (output.code, code) {
            (0, _) => accepted += 1,
            (2, Some(code)) => *refused.entry(code).or_insert(0) += 1,
            // Sweeps in place are not for every strategy.
            _ if report["error"]["kind"] == "infeasible" => {
                *refused.entry("infeasible".to_owned()).or_insert(0) += 1;
            }
            _ => wrong.push(format!("program {number}: {report:#}\n{}", program(number))),
        }
    }
    println!("{accepted} of {count} programs accepted, refused: {refused:?}");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(least * accepted >= count, "only {accepted} of {count} accepted: {refused:?}");
}
