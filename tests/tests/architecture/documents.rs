//! The documents tell the truth where a program can tell: links lead somewhere, commands are accepted,
//! targets, files and diagnostic codes exist, and no file depends on the machine that it was written on.

use clap::{CommandFactory, Parser};
use polyhedral::diagnostic::Code;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tilewright_cli::command_line::Arguments;
use tilewright_tests::{files, shown, workspace};

/// One document, its code apart from its prose.
struct Document {
    path: PathBuf,
    /// Lines outside fenced blocks, with their numbers.
    prose: Vec<(usize, String)>,
    /// Lines inside fenced blocks; the continuation of a line that ends with `\` or within quotes is joined to it.
    code: Vec<(usize, String)>,
}

fn documents() -> Vec<Document> {
    files("", &[".md"]).into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Document {
    let text = std::fs::read_to_string(&path).unwrap();
    let mut document = Document { path, prose: Vec::new(), code: Vec::new() };
    let (mut fenced, mut continued) = (false, false);
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            (fenced, continued) = (!fenced, false);
        } else if !fenced {
            document.prose.push((number + 1, line.to_owned()));
        } else {
            let joined = document.code.last_mut().filter(|_| continued);
            let whole = match joined {
                Some((_, before)) => {
                    before.push_str(line);
                    before
                }
                None => {
                    document.code.push((number + 1, line.to_owned()));
                    let Some((_, whole)) = document.code.last_mut() else { continue };
                    whole
                }
            };
            let command = whole.trim_start_matches("$ ").starts_with("tilewright ");
            continued = whole.ends_with('\\') || (command && whole.matches('"').count() % 2 == 1);
            whole.truncate(whole.trim_end_matches('\\').len());
        }
    }
    assert!(!fenced, "{}: a fenced block has no end", shown(&document.path));
    document
}

impl Document {
    fn at(&self, line: usize) -> String {
        format!("{}:{line}", shown(&self.path))
    }

    /// Text between backquotes in the prose.
    fn spans(&self) -> impl Iterator<Item = (usize, &str)> {
        self.prose
            .iter()
            .flat_map(|(line, text)| text.split('`').skip(1).step_by(2).map(move |span| (*line, span.trim())))
    }

    /// Command lines in fenced blocks, without a prompt, comment, pipe or redirection. Quotes hold a word together.
    fn commands(&self) -> impl Iterator<Item = (usize, Vec<&str>)> {
        self.code.iter().map(|(line, text)| {
            let parts = text.trim().trim_start_matches("$ ").split('"').enumerate();
            let words = parts.flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            });
            let command =
                words.take_while(|word| !word.starts_with(['#', '|', '>', ';']) && *word != "&&").collect();
            (*line, command)
        })
    }
}

/// The name that GitHub gives to the anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(path: &Path) -> BTreeSet<String> {
    let prose = read(path.to_owned()).prose;
    prose.iter().filter(|(_, line)| line.starts_with('#')).map(|(_, line)| anchor(line)).collect()
}

/// Targets of `[text](target)`, `![text](target)` and `<img src="target">`.
fn links(line: &str) -> Vec<&str> {
    let markdown = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let html = line.split("src=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    markdown.chain(html).map(|(target, _)| target.split_whitespace().next().unwrap_or_default()).collect()
}

#[test]
fn internal_links_resolve() {
    let mut broken = Vec::new();
    for document in documents() {
        for (line, text) in &document.prose {
            for link in links(text) {
                if link.starts_with("http://") || link.starts_with("https://") || link.starts_with("mailto:")
                {
                    continue;
                }
                let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
                let target = match file {
                    "" => document.path.clone(),
                    file => document.path.parent().unwrap().join(file),
                };
                let is_document = target.extension().is_some_and(|extension| extension == "md");
                let found = target.exists()
                    && (fragment.is_empty() || !is_document || anchors(&target).contains(fragment));
                if !found {
                    broken.push(format!("{}: {link}", document.at(*line)));
                }
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn shown_commands_are_accepted() {
    let mut checked = 0;
    let mut refused = Vec::new();
    for document in documents() {
        for (line, words) in document.commands() {
            let Some(start) = command_start(&words) else { continue };
            checked += 1;
            let arguments = std::iter::once("tilewright").chain(words[start..].iter().copied());
            if let Err(error) = Arguments::try_parse_from(arguments)
                && error.use_stderr()
            {
                refused.push(format!("{}: {}\n{error}", document.at(line), words.join(" ")));
            }
        }
        let commands: Vec<String> =
            Arguments::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        for (line, span) in document.spans() {
            let command = span.strip_prefix("tilewright ").and_then(|rest| rest.split_whitespace().next());
            if let Some(command) = command
                && !command.starts_with('-')
                // A placeholder: `tilewright COMMAND --help`.
                && !command.chars().all(|c| c.is_ascii_uppercase())
                && !commands.iter().any(|known| known == command)
            {
                refused.push(format!("{}: there is no command `{command}`", document.at(line)));
            }
        }
    }
    assert!(refused.is_empty(), "commands that are refused:\n{}", refused.join("\n"));
    assert!(checked > 3, "the documents show only {checked} commands");
}

/// Where the arguments begin, if this line runs the command.
fn command_start(words: &[&str]) -> Option<usize> {
    match words {
        _ if words.contains(&"--example") => None,
        ["tilewright" | "target/release/tilewright" | "./target/release/tilewright", ..] => Some(1),
        ["cargo", "run", ..] => words.iter().position(|word| *word == "--").map(|place| place + 1),
        _ => None,
    }
}

#[test]
fn shown_make_targets_exist() {
    let makefile = std::fs::read_to_string(workspace().join("Makefile")).unwrap();
    for document in documents() {
        let in_code = document.commands().filter_map(|(line, words)| match words[..] {
            // `make -C out` is about another Makefile.
            ["make", target, ..] if !target.starts_with('-') => Some((line, target)),
            _ => None,
        });
        let in_prose = document
            .spans()
            .filter_map(|(line, span)| span.strip_prefix("make ").map(|target| (line, target)));
        for (line, target) in in_code.chain(in_prose) {
            let defined = makefile.lines().any(|text| text.starts_with(&format!("{target}:")));
            assert!(defined, "{}: there is no target `{target}`", document.at(line));
        }
    }
}

/// `folder/file` between backquotes, where the folder is one of ours.
#[test]
fn named_files_exist() {
    let mut missing = Vec::new();
    for document in documents() {
        for (line, span) in document.spans() {
            let is_path = span.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
            let Some((folder, _)) = span.split_once('/').filter(|_| is_path) else { continue };
            let ours = !folder.is_empty() && folder != "target" && workspace().join(folder).is_dir();
            if ours && !workspace().join(span).exists() {
                missing.push(format!("{}: {span}", document.at(line)));
            }
        }
    }
    assert!(missing.is_empty(), "files that do not exist:\n{}", missing.join("\n"));
}

#[test]
fn named_diagnostic_codes_exist() {
    let known: BTreeSet<String> = Code::ALL.iter().map(|(code, _)| code.to_string()).collect();
    for document in documents() {
        for (line, text) in document.prose.iter().chain(&document.code) {
            for (place, _) in text.match_indices("TW0") {
                let code: String = text[place..].chars().take_while(char::is_ascii_alphanumeric).collect();
                assert!(known.contains(&code), "{}: there is no diagnostic {code}", document.at(*line));
            }
        }
    }
}

/// Paths of one machine: a file that names one works there only.
#[test]
fn no_file_names_a_path_of_one_machine() {
    let folders = ["work", "root", "home"].map(|folder| format!("/{folder}/"));
    let endings = [
        ".rs", ".toml", ".md", ".sh", ".c", ".h", ".hbs", ".cu", ".py", ".svg", ".json", ".stencil",
        "Makefile", "run", ".lock", ".txt", ".csv",
    ];
    let mut found = Vec::new();
    for path in files("", &endings) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let absolute = |place: usize| {
                let before = line[..place].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || "_-.})]*".contains(c))
            };
            if folders
                .iter()
                .any(|folder| line.match_indices(folder.as_str()).any(|(place, _)| absolute(place)))
            {
                found.push(format!("{}:{}", shown(&path), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "paths of one machine:\n{}", found.join("\n"));
}

/// The program that README shows is the one that the library's first page shows, which runs as a test.
#[test]
fn the_library_example_is_the_tested_one() {
    let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    let library = std::fs::read_to_string(workspace().join("tilewright/src/lib.rs")).unwrap();
    let shown = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let tested = library.split("//! ```\n").nth(2).unwrap();
    let tested: String = tested
        .lines()
        .map(|line| line.trim_start_matches("//!").trim_start_matches(' ').to_owned() + "\n")
        .collect();
    let plain = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(plain(shown).trim(), plain(&tested).trim());
}

#[test]
fn documents_are_read() {
    let line = "see [a](b.md#c-d) and ![p](images/p.svg \"title\"), <img src=\"q.png\">";
    assert_eq!(links(line), ["b.md#c-d", "images/p.svg", "q.png"]);
    assert_eq!(anchor("## How to add a stencil: `x`"), "how-to-add-a-stencil-x");
    assert_eq!(command_start(&["cargo", "run", "-p", "tilewright", "--", "list"]), Some(5));
    assert_eq!(command_start(&["cargo", "test"]), None);
    assert!(workspace().join("Cargo.lock").exists());
}

/// What is known of a strategy is known in its folder alone, and models know no back end.
#[test]
fn strategies_are_named_in_their_own_folders_only() {
    for path in files("", &[".rs"]) {
        let file = shown(&path).to_string();
        if !file.contains("/src/") || file.starts_with("tests/") || file.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for strategy in hhc_codegen::strategy::all() {
            let own = format!("strategy/{}/", strategy.id().replace('-', "_"));
            let named = text.contains(&format!("\"{}\"", strategy.id()));
            assert!(!named || file.contains(&own), "{file} names {}", strategy.id());
        }
        if file.starts_with("cost-models/") || file.starts_with("optimizer/") {
            assert!(!text.contains("hhc_codegen::backend"), "{file} knows a back end");
        }
    }
}
