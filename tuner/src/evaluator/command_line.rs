//! The text of an external command and what stands for its levels.
//!
//! The shell never sees the text of a level as a part of its program: levels travel in the environment, as
//! `TW_NAME`, and `{name}` becomes `"$TW_NAME"`, which is one word whatever the level is. Inside quotes,
//! command substitutions and the like that would not hold (`sh -c 'run {x}'` hands the word to another
//! interpreter), so there only numbers and booleans may stand, as they are. Braces around anything else
//! belong to the shell.

use super::shell::Scanner;
use crate::error::{Result, TunerError};
use crate::space::{Point, Space};
use std::collections::BTreeMap;
use trials::Parameter;
use trials::Value;

/// A command with places for levels.
#[derive(Debug, Clone)]
pub struct CommandLine {
    parts: Vec<Part>,
    /// Names in the environment, one for each parameter.
    variables: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    /// The level of a parameter that is a number or a boolean, as it is.
    Number(usize),
}

impl CommandLine {
    /// Reads a command for the points of a space.
    ///
    /// # Errors
    /// A `{name}` that is no parameter, outside quotes; one whose levels are text where the shell, or what it starts, would
    /// take them for a program; parameters with one name in the environment; levels that no program can be given.
    pub fn new(command: &str, space: &Space) -> Result<CommandLine> {
        let parameters = space.parameters();
        let variables = variables(parameters)?;
        let mut line = CommandLine { parts: Vec::new(), variables };
        let names: Vec<&str> = parameters.iter().map(Parameter::name).collect();
        let mut scanner = Scanner::default();
        let mut rest = command;
        while let Some(c) = rest.chars().next() {
            if let Some((place, length)) = placeholder(rest, &names) {
                if rest[length..].starts_with('}') && line.ends_with_brace() {
                    // `{{name}}` is the text `{name}`; its first brace stands there already.
                    line.push(&rest[1..length]);
                    rest = &rest[length + 1..];
                    scanner.level();
                    continue;
                }
                // `${name}` is a variable of the shell.
                if !scanner.after_dollar() {
                    line.parts.push(level(&mut scanner, place, &parameters[place], &line.variables[place])?);
                    rest = &rest[length..];
                    continue;
                }
            }
            if c == '{' && scanner.is_free() && !scanner.after_dollar() {
                refuse_unknown(rest, &names)?;
            }
            let step = scanner.step(rest);
            line.push(&rest[..step]);
            rest = &rest[step..];
        }
        Ok(line)
    }

    fn push(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    fn ends_with_brace(&self) -> bool {
        matches!(self.parts.last(), Some(Part::Text(before)) if before.ends_with('{'))
    }

    /// The text for `sh -c`.
    pub fn text(&self, space: &Space, point: &Point) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Number(place) => space.value(point, *place).to_string(),
        };
        self.parts.iter().map(part).collect()
    }

    /// The levels, each with its name in the environment.
    pub fn environment(&self, space: &Space, point: &Point) -> Vec<(String, String)> {
        let level = |(place, name): (usize, &String)| (name.clone(), space.value(point, place).to_string());
        self.variables.iter().enumerate().map(level).collect()
    }
}

/// The name of a parameter in the environment: `TW_` and its letters and digits in capitals, `_` for all
/// others.
fn variable(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("TW_{}", name.chars().map(letter).collect::<String>())
}

fn variables(parameters: &[Parameter]) -> Result<Vec<String>> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for parameter in parameters {
        let name = parameter.name();
        if let Some(other) = seen.insert(variable(name), name) {
            return Err(TunerError::Request {
                reason: format!(
                    "the parameters `{other}` and `{name}` would both be ${} for the command",
                    variable(name)
                ),
                hint: "give them names that differ in more than capitals and signs".to_owned(),
            });
        }
        if parameter.levels().iter().any(|level| level.to_string().contains('\0')) {
            return Err(TunerError::Request {
                reason: format!(
                    "a level of the parameter `{name}` has a NUL character, which no program can be given"
                ),
                hint: String::new(),
            });
        }
    }
    Ok(parameters.iter().map(|parameter| variable(parameter.name())).collect())
}

/// The parameter whose `{name}` the text starts with, and its length.
fn placeholder(text: &str, names: &[&str]) -> Option<(usize, usize)> {
    let inner = text.strip_prefix('{')?;
    let fits = |name: &&str| inner.strip_prefix(*name).is_some_and(|rest| rest.starts_with('}'));
    let place = names.iter().position(fits)?;
    Some((place, names[place].len() + 2))
}

/// `{word}` that names no parameter is a slip of the pen outside quotes, where it means nothing to a shell.
fn refuse_unknown(text: &str, names: &[&str]) -> Result<()> {
    let Some(end) = text.find('}') else { return Ok(()) };
    let name = &text[1..end];
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Ok(());
    }
    Err(TunerError::unknown("parameter", name, names))
}

/// What stands for a level at the place that the scanner has come to.
fn level(scanner: &mut Scanner, place: usize, parameter: &Parameter, variable: &str) -> Result<Part> {
    let (name, numbers) = (parameter.name(), parameter.levels().iter().all(is_number));
    let (where_it_is, free) = (scanner.program(), scanner.is_free());
    scanner.level();
    match where_it_is {
        None => Ok(Part::Text(format!("\"${variable}\""))),
        Some(_) if numbers && !free => Ok(Part::Number(place)),
        Some(_) if numbers => Ok(Part::Text(format!("\"${variable}\""))),
        Some(place) => {
            let level = parameter.levels().iter().find(|level| !is_number(level));
            let level: String = level.map(Value::to_string).unwrap_or_default().chars().take(40).collect();
            Err(TunerError::Request {
                reason: format!(
                    "`{{{name}}}` stands {place} and has levels that are text (`{level}`): they could become a part \
                     of the program"
                ),
                hint: format!(
                    "write {{{name}}} as a word of its own, without quotes, or let the program read ${variable} from \
                     its environment"
                ),
            })
        }
    }
}

/// Whether a level can stand anywhere as it is.
fn is_number(level: &Value) -> bool {
    !matches!(level, Value::Text(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    fn space(levels: &[Value]) -> Space {
        let x = Parameter::categorical("x", levels.to_vec()).unwrap();
        let n = Parameter::new("n", vec![Value::Integer(-3), Value::Integer(7)]).unwrap();
        Space::new(vec![x, n], &[]).unwrap()
    }

    fn line(command: &str) -> Result<CommandLine> {
        CommandLine::new(command, &space(&[Value::from("a b"), Value::from("c")]))
    }

    fn text(command: &str) -> String {
        let space = space(&[Value::from("a b"), Value::from("c")]);
        let point = space.points().unwrap()[1].clone();
        CommandLine::new(command, &space).unwrap().text(&space, &point)
    }

    #[test]
    fn free_words_become_variables() {
        assert_eq!(text("./m {x} --n={n} >out.{n}"), "./m \"$TW_X\" --n=\"$TW_N\" >out.\"$TW_N\"");
        assert_eq!(text("( ./m {x} ) | tail -1"), "( ./m \"$TW_X\" ) | tail -1");
        assert_eq!(text("# don't\n./m {x}"), "# don't\n./m \"$TW_X\"");
        assert_eq!(text("./m a#b {x}"), "./m a#b \"$TW_X\"");
        assert_eq!(text("cat <<< {x}"), "cat <<< \"$TW_X\"");
        assert_eq!(text("f() { ./m {x}; }; f"), "f() { ./m \"$TW_X\"; }; f");
    }

    #[test]
    fn numbers_stand_anywhere() {
        assert_eq!(text("awk 'BEGIN { print {n} }'"), "awk 'BEGIN { print 7 }'");
        assert_eq!(text("echo $(( ({n} - 3) * 2 )) {x}"), "echo $(( (7 - 3) * 2 )) \"$TW_X\"");
        assert_eq!(text("echo \"{\\\"time\\\": {n}}\" $(echo {n})"), "echo \"{\\\"time\\\": 7}\" $(echo 7)");
    }

    #[test]
    fn braces_of_others_stay() {
        for command in
            ["echo ${n} ${HOME}", "awk '{print}' f", "f() { echo; }", "echo {} {1,2}", "echo \"{y}\""]
        {
            assert_eq!(text(command), command);
        }
        assert_eq!(text("awk '{{n}} {print}'"), "awk '{n} {print}'");
        assert!(line("run {y}").unwrap_err().hint().contains("x, n"));
    }

    #[test]
    fn text_is_refused_where_it_could_be_a_program() {
        for (command, words) in [
            ("sh -c 'echo {x}'", "quotes"),
            ("echo \"{x}\"", "quotes"),
            ("echo $(echo {x})", "substitution"),
            ("echo `echo {x}`", "substitution"),
            ("echo \"`echo '{x}'`\"", "quotes"),
            ("echo $(( {x} ))", "arithmetic"),
            ("(( {x} )); echo 1", "arithmetic"),
            ("echo ${A:-{x}}", "${..}"),
            ("cat <<E\n{x}\nE", "`<<`"),
            ("echo $'{x}'", "$'"),
            ("echo $'a\\'' {x}", "$'"),
            ("echo 1 # {x}", "comment"),
            ("eval run {x}", "eval"),
            ("true; /usr/bin/ssh host run {x}", "ssh"),
            ("bash -ec {x}", "-ec"),
            ("\\eval {x}", "eval"),
            ("'eval' {x}", "eval"),
            ("[[ {x} -eq 1 ]]", "[["),
        ] {
            let error = line(command).unwrap_err();
            assert!(error.to_string().contains(words), "{command}: {error}");
            assert!(error.hint().contains("$TW_X"), "{command}");
        }
    }

    #[test]
    fn names_that_collide_are_refused() {
        for (one, other) in [("x", "X"), ("a-b", "a_b"), ("\u{e4}", "\u{f6}")] {
            let parameter = |name: &str| Parameter::new(name, vec![Value::Integer(1)]).unwrap();
            let space = Space::new(vec![parameter(one), parameter(other)], &[]).unwrap();
            let error = CommandLine::new("run", &space).unwrap_err().to_string();
            assert!(error.contains(one) && error.contains(other) && error.contains("$TW_"), "{error}");
        }
        let nul = space(&[Value::from("a\0b")]);
        assert!(CommandLine::new("run {x}", &nul).unwrap_err().to_string().contains("NUL"));
    }

    /// Runs a command in an empty folder; what it printed, and the files that it left.
    #[cfg(unix)]
    fn run(command: &str, space: &Space, point: &Point) -> (String, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let line = CommandLine::new(command, space).unwrap();
        let output = Command::new("sh")
            .args(["-c", &line.text(space, point)])
            .envs(line.environment(space, point))
            .current_dir(folder.path())
            .output()
            .unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap();
        let files = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
        (String::from_utf8_lossy(&output.stdout).into_owned(), files)
    }

    #[cfg(unix)]
    fn check(level: &str) {
        let space = space(&[Value::from(level)]);
        let point = &space.points().unwrap()[0];
        for command in [
            "printf %s {x}",
            "printf '%s' {x} # it's {n}",
            "(printf %s {x}) | cat",
            "if true; then printf %s {x}; fi",
            "y={x}; printf %s \"$y\"",
            "sh -c 'printf %s \"$TW_X\"'",
            "printf %s \"$TW_X\"",
            "for i in {x}; do printf %s \"$i\"; done",
            "case {x} in *) printf %s {x};; esac",
        ] {
            let (printed, files) = run(command, &space, point);
            assert_eq!((printed.as_str(), files.len()), (level, 0), "{command}: {level:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn levels_are_words_whatever_they_are() {
        for level in [
            "; touch PWN",
            "$(touch PWN)",
            "`touch PWN`",
            "'",
            "\"",
            "\\",
            "a\nb",
            "\n;touch PWN;\n",
            "-rf",
            "--",
            "*",
            "~",
            "$HOME",
            "${HOME}",
            "\u{2028}\u{1F600}",
            "' ; touch PWN ; '",
            "\" ; touch PWN ; \"",
            "a && touch PWN",
            "| touch PWN",
            "> PWN",
            "$((1))",
            "a[$(touch PWN)]",
            "{x}",
            "{n}",
            "\"$TW_N\"",
            "#",
            "!!",
            "%s",
            "",
            " ",
            "\u{1b}[31m",
        ] {
            check(level);
        }
    }

    #[cfg(unix)]
    proptest! {
        #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_level_is_a_word(level in "[ -~\n\u{e4}]{0,12}") {
            check(&level);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever the command is, its text does not depend on a level that is text.
        #[test]
        fn the_program_does_not_depend_on_text(command in "([ -~\n]|\\{x\\}|\\{n\\}|\\$\\(|'|\"){0,24}") {
            let (one, other) = (space(&[Value::from("a")]), space(&[Value::from("'; touch PWN; $(b)")]));
            let text = |space: &Space| {
                CommandLine::new(&command, space).ok().map(|line| line.text(space, &space.points().unwrap()[0]))
            };
            prop_assert_eq!(text(&one), text(&other));
        }
    }
}
