//! The command lines that the manuals and the help texts show.

use super::tilewright;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};
use std::path::{Path, PathBuf};
use tilewright_cli::command_line::Arguments;

/// A command line.
pub struct Shown {
    /// Document and line.
    pub place: String,
    /// Its words, without what only a shell understands.
    pub words: Vec<String>,
    /// Whether a message is shown below it and no report.
    pub fails: bool,
    matches: ArgMatches,
}

/// Options and arguments that name files to read,
const INPUTS: [&str; 13] = [
    "spec", "machine", "space", "replay", "file", "files", "workload", "include", "input", "with", "stencil",
    "from", "test",
];
/// and those that name files or folders to write.
const OUTPUTS: [&str; 9] = ["output", "svg", "csv", "export", "trials", "log", "dot", "curve", "certificate"];

impl Shown {
    /// The command.
    pub fn command(&self) -> &str {
        self.matches.subcommand_name().unwrap_or_default()
    }

    /// The command and its subcommands with the names of its options.
    pub fn kind(&self) -> Vec<String> {
        let mut kind = Vec::new();
        let mut matches = &self.matches;
        while let Some((name, deeper)) = matches.subcommand() {
            kind.push(name.to_owned());
            matches = deeper;
        }
        let given = |id: &clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        kind.extend(matches.ids().filter(|id| given(id)).map(|id| id.as_str().to_owned()));
        kind.sort();
        kind
    }

    fn values(&self, id: &str) -> Vec<String> {
        let mut matches = &self.matches;
        while let Some((_, deeper)) = matches.subcommand() {
            matches = deeper;
        }
        let raw = matches.try_get_raw(id).ok().flatten();
        raw.into_iter().flatten().map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    /// The value of an option, its default included; empty where there is none.
    pub fn value(&self, id: &str) -> String {
        self.values(id).pop().unwrap_or_default()
    }

    fn paths(&self, ids: &[&str]) -> Vec<PathBuf> {
        let values = ids.iter().flat_map(|id| self.values(id));
        // Behind `FIELD=` or `LABEL=`.
        let paths =
            values.map(|value| value.rsplit_once('=').map_or(value.clone(), |(_, path)| path.to_owned()));
        paths.map(PathBuf::from).collect()
    }

    /// The files that it reads. A name without a dot or a slash is that of something shipped.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs = self.paths(&INPUTS);
        let program = self.value("command");
        inputs.extend(program.split_whitespace().next().map(PathBuf::from));
        inputs.retain(|path| path.to_str().is_some_and(|path| path.contains(['.', '/'])));
        inputs
    }

    /// The files and folders that it writes.
    pub fn outputs(&self) -> Vec<PathBuf> {
        // What has a name in the state folder has no path.
        self.paths(&OUTPUTS).into_iter().filter(|path| !is_name(path)).collect()
    }
}

/// Whether this is a name in the state folder.
fn is_name(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with('@'))
}

/// The commands of each manual and of each help text, in their order.
pub fn documents() -> Vec<(String, Vec<Shown>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut manuals: Vec<PathBuf> = ["", "docs", "docs/howto", "docs/gallery", "examples"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    manuals.sort();
    let mut documents = Vec::new();
    for path in manuals {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        documents.push((name.clone(), of_manual(&name, &std::fs::read_to_string(&path).unwrap())));
    }
    for command in std::iter::once(String::new()).chain(commands()).chain(actions()) {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = tilewright(&arguments).succeeded().stdout;
        let name = format!("tilewright {command} --help");
        let lines = help.lines().enumerate().filter(|(_, line)| line.starts_with("  tilewright "));
        let shown = lines.map(|(number, line)| shown(&name, number, line, false)).collect();
        documents.push((name, shown));
    }
    documents
}

/// All commands.
pub fn commands() -> Vec<String> {
    Arguments::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// Commands of commands, as in `adaptive train`.
fn actions() -> Vec<String> {
    let name = |command: &clap::Command| command.get_name().to_owned();
    let all = Arguments::command();
    let actions = all.get_subcommands().flat_map(|command| {
        command.get_subcommands().map(move |action| format!("{} {}", name(command), name(action)))
    });
    actions.collect()
}

/// In fenced blocks and between backquotes. A line that ends with a backslash, or within quotes, goes on in the next.
fn of_manual(name: &str, text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut fenced = false;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced && line.trim_start_matches("$ ").starts_with("tilewright ") {
            let mut whole = line.trim_start_matches("$ ").to_owned();
            while whole.ends_with('\\') || whole.matches('"').count() % 2 == 1 {
                let (_, next) = lines.next().unwrap();
                whole = whole.trim_end_matches('\\').to_owned() + next;
            }
            let next = text.lines().nth(number + 1).unwrap_or_default();
            let fails = ["error", "limitation"].iter().any(|word| next.starts_with(word));
            found.push(shown(name, number, &whole, fails));
        } else if !fenced {
            // A span with placeholders shows a form.
            let spans = line.split('`').skip(1).step_by(2).filter(|span| span.starts_with("tilewright "));
            let is_placeholder = |word: &str| {
                let last = word.rsplit(['=', ',']).next().unwrap_or_default().trim_end_matches(".toml");
                word.contains("...") || (last.len() > 2 && last.chars().all(|c| c.is_ascii_uppercase()))
            };
            let whole = |span: &&str| {
                span.split_whitespace().count() > 2
                    && !span.split_whitespace().any(is_placeholder)
                    && !span.contains("--help")
            };
            found.extend(spans.filter(whole).map(|span| shown(name, number, span, false)));
        }
    }
    found
}

#[track_caller]
fn shown(name: &str, number: usize, line: &str, fails: bool) -> Shown {
    let place = format!("{name}:{}", number + 1);
    // Every second part is between quotes, which hold one argument together.
    let words = line.trim().split('"').enumerate().flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.split_whitespace().collect::<Vec<_>>().join(" ")],
    });
    let words: Vec<String> =
        words.take_while(|word| !["&&", "|", ">", "#"].contains(&word.as_str())).collect();
    let matches = Arguments::command().try_get_matches_from(&words);
    let matches = matches.unwrap_or_else(|error| panic!("{place}: {line}\n{error}"));
    Shown { place, words, fails, matches }
}
