//! How a shell reads a text: what is quoted or substituted, and where a word stands for a program.

/// Commands that take their arguments for a program.
const READS_PROGRAMS: [&str; 14] = [
    "eval", "let", "trap", "alias", "source", "declare", "typeset", "export", "readonly", "ssh", "su",
    "watch", "parallel", "[[",
];
/// Options behind which a program stands, beside `-c`, `-e` and those letters behind another one.
const PROGRAM_FOLLOWS: [&str; 4] = ["-S", "--command", "--eval", "--expression"];

/// Where in a shell's text a place is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Inside {
    Single,
    Double,
    /// `$(..)` and `<(..)`, and the parentheses in it.
    Substitution,
    /// `$((..))` and `((..))`.
    Arithmetic,
    /// `${..}`
    Braces,
    Backquotes,
    Comment,
    /// Behind `<<` or `$'`, whose ends depend on the shell.
    Unknown,
}

impl Inside {
    fn name(self) -> &'static str {
        match self {
            Inside::Single | Inside::Double => "inside quotes",
            Inside::Substitution | Inside::Backquotes => "inside a command substitution",
            Inside::Arithmetic => "inside an arithmetic expression",
            Inside::Braces => "inside ${..}",
            Inside::Comment => "inside a comment",
            Inside::Unknown => "behind `<<` or `$'`",
        }
    }
}

/// Follows the quoting of a shell.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    inside: Vec<Inside>,
    /// The word so far, and the words before it in the same simple command; only where nothing is quoted.
    word: String,
    words: Vec<String>,
    dollar: bool,
}

impl Scanner {
    /// Whether nothing around it is quoted or substituted.
    pub fn is_free(&self) -> bool {
        self.inside.is_empty()
    }

    pub fn after_dollar(&self) -> bool {
        self.dollar
    }

    /// Takes in the next character, or those that belong together, and says how many bytes they are.
    pub fn step(&mut self, rest: &str) -> usize {
        let c = rest.chars().next().unwrap_or_default();
        let width = c.len_utf8();
        let dollar = std::mem::replace(&mut self.dollar, false);
        let escaped = || width + rest[width..].chars().next().map_or(0, char::len_utf8);
        match self.inside.last() {
            Some(Inside::Single) => {
                if c == '\'' {
                    self.inside.pop();
                } else {
                    self.word.push(c);
                }
            }
            Some(Inside::Comment) => {
                if c == '\n' {
                    self.inside.pop();
                    self.end_of_command();
                }
            }
            Some(Inside::Unknown) => {}
            Some(Inside::Double) => match c {
                '\\' => return escaped(),
                '"' => drop(self.inside.pop()),
                _ => {
                    self.word.push(c);
                    return self.expansion(rest, dollar).unwrap_or(width);
                }
            },
            within => {
                let within = within.copied();
                match c {
                    '\\' => {
                        self.word.push_str(&rest[1..escaped()]);
                        return escaped();
                    }
                    '\'' | '"' if dollar => self.inside.push(Inside::Unknown),
                    '\'' => self.inside.push(Inside::Single),
                    '"' => self.inside.push(Inside::Double),
                    '}' if within == Some(Inside::Braces) => drop(self.inside.pop()),
                    '`' if within == Some(Inside::Backquotes) => drop(self.inside.pop()),
                    ')' if within == Some(Inside::Substitution) => drop(self.inside.pop()),
                    ')' if within == Some(Inside::Arithmetic) => {
                        self.inside.pop();
                        let both = rest.starts_with("))");
                        return if both { 2 } else { 1 };
                    }
                    '(' if within == Some(Inside::Arithmetic) => {
                        // Its end is one parenthesis; see above, where two close the expression.
                        self.inside.push(Inside::Substitution);
                    }
                    '#' if self.word.is_empty() && !dollar => self.inside.push(Inside::Comment),
                    '<' if rest.starts_with("<<") => {
                        if !rest.starts_with("<<<") {
                            self.inside.push(Inside::Unknown);
                        }
                        self.end_of_word();
                        return if rest.starts_with("<<<") { 3 } else { 2 };
                    }
                    '(' if !dollar && within.is_none() => {
                        self.end_of_command();
                        if rest.starts_with("((") {
                            self.inside.push(Inside::Arithmetic);
                            return 2;
                        }
                    }
                    '(' if !dollar => self.inside.push(Inside::Substitution),
                    ';' | '&' | '|' | '\n' | ')' => self.end_of_command(),
                    c if c.is_whitespace() => self.end_of_word(),
                    _ => {
                        if let Some(step) = self.expansion(rest, dollar) {
                            return step;
                        }
                        self.word.push(c);
                    }
                }
                return width;
            }
        }
        width
    }

    /// `$(`, `$((`, `${` and backquotes, with their lengths.
    fn expansion(&mut self, rest: &str, dollar: bool) -> Option<usize> {
        if rest.starts_with('$') {
            self.dollar = true;
            self.word.push('$');
            return Some(1);
        }
        let (inside, length) = match () {
            () if dollar && rest.starts_with("((") => (Inside::Arithmetic, 2),
            () if dollar && rest.starts_with('(') => (Inside::Substitution, 1),
            () if dollar && rest.starts_with('{') => (Inside::Braces, 1),
            () if rest.starts_with('`') && self.inside.contains(&Inside::Backquotes) => {
                // Quotes that are open inside end with it.
                while self.inside.pop().is_some_and(|inside| inside != Inside::Backquotes) {}
                return Some(1);
            }
            () if rest.starts_with('`') => (Inside::Backquotes, 1),
            () => return None,
        };
        self.inside.push(inside);
        Some(length)
    }

    fn end_of_word(&mut self) {
        if !self.word.is_empty() {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    fn end_of_command(&mut self) {
        self.word.clear();
        self.words.clear();
    }

    /// Takes in what stands for a level, as a part of a word.
    pub fn level(&mut self) {
        self.dollar = false;
        self.word.push('x');
    }

    /// Where the next word is not taken for a word alone, but could become a part of a program: in words.
    pub fn program(&self) -> Option<String> {
        let reads = |word: &String| {
            let word = word.rsplit('/').next().unwrap_or_default();
            READS_PROGRAMS.contains(&word)
        };
        match self.inside.last() {
            Some(inside) => Some(inside.name().to_owned()),
            None if self.words.iter().any(reads) => {
                let word = self.words.iter().find(|word| reads(word)).cloned().unwrap_or_default();
                Some(format!("behind `{word}`, which takes words for a program,"))
            }
            None => {
                let last = self.words.last().filter(|last| is_program_option(last));
                last.map(|last| format!("behind `{last}`, where a program stands,"))
            }
        }
    }
}

fn is_program_option(word: &str) -> bool {
    let short =
        word.len() <= 3 && word.starts_with('-') && !word.starts_with("--") && word.ends_with(['c', 'e']);
    short || PROGRAM_FOLLOWS.contains(&word)
}
