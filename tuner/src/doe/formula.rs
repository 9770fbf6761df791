//! Model formulas as R writes them: `time ~ x + I(1/x) + I(x^2) + a:b`.
//!
//! Operators, loosest first: `+` and `-` add and remove terms; `*` is both terms and their interaction; `:` is an
//! interaction; `^n` all interactions of up to `n`. `I(..)` holds arithmetic, in which `^` is a power; `log`, `log2`,
//! `sqrt` and `exp` may stand alone. `0` or `-1` removes the intercept, `.` is every parameter.

use crate::expression::ExpressionError;
use std::collections::BTreeSet;
use std::fmt;
use text_escape::suggest::nearest;

/// Most terms of a formula.
const MOST_TERMS: usize = 2_000;
const LONGEST: usize = 1 << 16;
const DEEPEST: usize = 64;
const FUNCTIONS: [&str; 4] = ["log", "log2", "sqrt", "exp"];

/// A part of a term.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// A parameter, by its place.
    Parameter(usize),
    /// Arithmetic, as text of the expression language, and as it was written.
    Arithmetic {
        /// For [`crate::expression::Expression::parse`].
        expression: String,
        /// As in the formula, without spaces.
        shown: String,
    },
}

/// A product of atoms; the empty one is the intercept.
pub type Term = BTreeSet<Atom>;

/// A formula: its terms, interactions behind main effects as in R.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// Name of the response; empty where none stands before `~`.
    pub response: String,
    /// Whether there is a constant.
    pub intercept: bool,
    /// The other terms.
    pub terms: Vec<Term>,
    names: Vec<String>,
}

impl Formula {
    /// Reads a formula over parameters of these names.
    ///
    /// # Errors
    /// Text that is no formula, with the column; a name that is no parameter.
    pub fn parse(text: &str, names: &[&str]) -> Result<Formula, ExpressionError> {
        if text.len() > LONGEST {
            return Err(error(text, 1, format!("the formula is longer than {LONGEST} bytes"), ""));
        }
        let characters: Vec<char> = text.chars().collect();
        let tilde = characters.iter().position(|&c| c == '~');
        let response = tilde.map(|at| characters[..at].iter().collect::<String>().trim().to_owned());
        let mut parser =
            Parser { text, names, characters: &characters, at: tilde.map_or(0, |at| at + 1), depth: 0 };
        let terms = parser.sum()?;
        parser.blank();
        if let Some(found) = parser.peek() {
            return Err(parser.error(format!("`{found}` has no meaning here"), ""));
        }
        let intercept = terms.intercept.unwrap_or(true);
        let mut sorted = terms.list;
        // Stable: terms of one order stay as written.
        sorted.sort_by_key(BTreeSet::len);
        if sorted.is_empty() && !intercept {
            return Err(error(text, 1, "the formula has no term", "write one, as in ~ x + I(x^2)"));
        }
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(Formula { response: response.unwrap_or_default(), intercept, terms: sorted, names })
    }

    /// A term as R names it.
    pub fn term_name(&self, term: &Term) -> String {
        let name = |atom: &Atom| match atom {
            Atom::Parameter(place) => self.names[*place].clone(),
            Atom::Arithmetic { shown, .. } => shown.clone(),
        };
        term.iter().map(name).collect::<Vec<_>>().join(":")
    }

    /// The formula with these of its terms.
    pub fn with_terms(&self, terms: Vec<Term>) -> Formula {
        Formula { terms, ..self.clone() }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms: Vec<String> = self.terms.iter().map(|term| self.term_name(term)).collect();
        if !self.intercept {
            terms.insert(0, "0".to_owned());
        } else if terms.is_empty() {
            terms.push("1".to_owned());
        }
        let response = if self.response.is_empty() { String::new() } else { format!("{} ", self.response) };
        write!(f, "{response}~ {}", terms.join(" + "))
    }
}

fn error(text: &str, column: usize, reason: impl Into<String>, hint: &str) -> ExpressionError {
    let text: String = text.chars().take(200).collect();
    ExpressionError { text, column, reason: reason.into(), hint: hint.to_owned() }
}

/// A sum of terms; whether the intercept is in it, if that is said.
#[derive(Debug, Clone, Default)]
struct Terms {
    list: Vec<Term>,
    intercept: Option<bool>,
}

impl Terms {
    fn add(&mut self, term: Term) {
        if !self.list.contains(&term) {
            self.list.push(term);
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    names: &'a [&'a str],
    characters: &'a [char],
    at: usize,
    depth: usize,
}

type Parsed = Result<Terms, ExpressionError>;

impl Parser<'_> {
    fn blank(&mut self) {
        while self.characters.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn taken(&mut self, symbol: char) -> bool {
        self.blank();
        let found = self.peek() == Some(symbol);
        self.at += usize::from(found);
        found
    }

    fn error(&self, reason: impl Into<String>, hint: &str) -> ExpressionError {
        error(self.text, self.at + 1, reason, hint)
    }

    fn limited(&self, terms: Terms) -> Parsed {
        if terms.list.len() > MOST_TERMS {
            return Err(self.error(format!("the formula has more than {MOST_TERMS} terms"), "leave some out"));
        }
        Ok(terms)
    }

    fn sum(&mut self) -> Parsed {
        let mut total = Terms::default();
        let mut minus = self.taken('-');
        if !minus {
            self.taken('+');
        }
        loop {
            let next = self.product()?;
            if minus {
                total.list.retain(|term| !next.list.contains(term));
                if let Some(value) = next.intercept {
                    total.intercept = Some(!value);
                }
            } else {
                next.list.into_iter().for_each(|term| total.add(term));
                total.intercept = next.intercept.or(total.intercept);
            }
            total = self.limited(total)?;
            minus = if self.taken('+') {
                false
            } else if self.taken('-') {
                true
            } else {
                return Ok(total);
            };
        }
    }

    /// `a * b` is `a + b + a:b`.
    fn product(&mut self) -> Parsed {
        let mut total = self.interaction()?;
        while self.taken('*') {
            let right = self.interaction()?;
            let both = self.crossed(&total, &right)?;
            right.list.into_iter().chain(both.list).for_each(|term| total.add(term));
            total = self.limited(total)?;
        }
        Ok(total)
    }

    fn interaction(&mut self) -> Parsed {
        let mut total = self.power()?;
        while self.taken(':') {
            let right = self.power()?;
            total = self.crossed(&total, &right)?;
        }
        Ok(total)
    }

    fn crossed(&self, left: &Terms, right: &Terms) -> Parsed {
        if left.list.len().saturating_mul(right.list.len()) > 100 * MOST_TERMS {
            return self.limited(Terms { list: vec![Term::new(); MOST_TERMS + 1], intercept: None });
        }
        let mut total = Terms::default();
        for a in &left.list {
            for b in &right.list {
                total.add(a.union(b).cloned().collect());
                if total.list.len() > MOST_TERMS {
                    return self.limited(total);
                }
            }
        }
        Ok(total)
    }

    fn power(&mut self) -> Parsed {
        let base = self.primary()?;
        if !self.taken('^') {
            return Ok(base);
        }
        self.blank();
        let digit = self.peek().and_then(|c| c.to_digit(10)).filter(|&digit| digit > 0);
        let Some(digit) = digit else {
            let hint = "a power of a parameter is written I(x^2)";
            return Err(self.error("`^` needs a whole number from 1 to 9 behind it", hint));
        };
        self.at += 1;
        let mut total = base.clone();
        for _ in 1..digit {
            let more = self.crossed(&total, &base)?;
            more.list.into_iter().for_each(|term| total.add(term));
            total = self.limited(total)?;
        }
        Ok(total)
    }

    fn primary(&mut self) -> Parsed {
        self.blank();
        match self.peek() {
            None => Err(self.error("a term was expected, not the end", "")),
            Some('(') => {
                self.at += 1;
                if self.depth >= DEEPEST {
                    return Err(self.error(format!("the formula is nested deeper than {DEEPEST} levels"), ""));
                }
                self.depth += 1;
                let inner = self.sum()?;
                self.depth -= 1;
                if self.taken(')') { Ok(inner) } else { Err(self.error("`)` was expected", "")) }
            }
            Some(digit @ ('0' | '1')) => {
                self.at += 1;
                if self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '/')) {
                    return Err(self.error("only 0 and 1 may stand alone", "arithmetic is written I(1/x)"));
                }
                Ok(Terms { list: Vec::new(), intercept: Some(digit == '1') })
            }
            Some('.') => {
                self.at += 1;
                let list = (0..self.names.len()).map(|place| Term::from([Atom::Parameter(place)])).collect();
                Ok(Terms { list, intercept: None })
            }
            Some(start) if start.is_alphabetic() || start == '_' => self.name(),
            Some(found) => Err(self.error(format!("a term was expected, not `{found}`"), "")),
        }
    }

    fn name(&mut self) -> Parsed {
        let from = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
            self.at += 1;
        }
        let name: String = self.characters[from..self.at].iter().collect();
        self.blank();
        let single = |atom: Atom| Ok(Terms { list: vec![Term::from([atom])], intercept: None });
        if self.peek() == Some('(') && (name == "I" || FUNCTIONS.contains(&name.as_str())) {
            let inner = self.bracketed()?;
            let (expression, shown) = if name == "I" {
                (inner.clone(), format!("I({inner})"))
            } else {
                (format!("{name}({inner})"), format!("{name}({inner})"))
            };
            // Its mistakes are told here, with the place.
            let expression = expression.replace('^', "**");
            let parsed = crate::expression::Expression::parse(&expression, self.names)
                .map_err(|inner| error(self.text, from + 1, inner.reason, &inner.hint))?;
            if parsed.parameters().is_empty() {
                return Err(error(self.text, from + 1, "the term depends on no parameter", ""));
            }
            let shown = shown.split_whitespace().collect();
            return single(Atom::Arithmetic { expression, shown });
        }
        match self.names.iter().position(|known| *known == name) {
            Some(place) => single(Atom::Parameter(place)),
            None => {
                let hint = match nearest(&name, self.names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are: {}", self.names.join(", ")),
                };
                Err(error(self.text, from + 1, format!("there is no parameter `{name}`"), &hint))
            }
        }
    }

    /// The text between brackets that belong together.
    fn bracketed(&mut self) -> Result<String, ExpressionError> {
        let from = self.at;
        let mut depth = 0;
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(self.characters[from + 1..self.at - 1].iter().collect());
            }
        }
        Err(error(self.text, from + 1, "the bracket is not closed", ""))
    }
}
