//! From tokens to a syntax tree, by descent; every level of precedence is a function, loosest first.

use super::datum::Datum;
use super::error::{ExpressionError, error};
use super::lexer::{Kind, Token, tokens};
use super::tree::{Comparator, Function, Node, Operator};
use std::borrow::Cow;
use text_escape::suggest::nearest;

/// Deepest nesting.
const DEEPEST: usize = 64;
const WORDS: [&str; 7] = ["and", "or", "not", "in", "if", "else", "for"];

/// Reads a whole expression.
pub(super) fn parse(text: &str, names: &[&str]) -> Result<Node, ExpressionError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, names, tokens: &tokens, at: 0, depth: 0, locals: Vec::new() };
    let node = parser.expression()?;
    match parser.peek() {
        Kind::End => Ok(node),
        _ => Err(parser.unexpected("the end of the expression")),
    }
}

struct Parser<'a> {
    text: &'a str,
    names: &'a [&'a str],
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    locals: Vec<String>,
}

type Parsed = Result<Node, ExpressionError>;

impl Parser<'_> {
    fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn next(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn error(&self, reason: impl Into<String>, hint: &str) -> ExpressionError {
        error(self.text, self.tokens[self.at].column, reason, hint)
    }

    fn unexpected(&self, wanted: &str) -> ExpressionError {
        let found = match self.peek() {
            Kind::End => "the end".to_owned(),
            Kind::Integer(number) => format!("`{number}`"),
            Kind::Real(number) => format!("`{number}`"),
            Kind::Text(text) => format!("\"{text}\""),
            Kind::Name(name) => format!("`{name}`"),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
        };
        self.error(format!("{wanted} was expected, not {found}"), "")
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Kind::Symbol(found) if *found == symbol);
        if found {
            self.next();
        }
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Kind::Name(found) if found == word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ExpressionError> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    /// One more level of nesting, within the limit.
    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth >= DEEPEST {
            return Err(self.error(format!("the expression is nested deeper than {DEEPEST} levels"), ""));
        }
        self.depth += 1;
        let node = parse(self);
        self.depth -= 1;
        node
    }

    fn expression(&mut self) -> Parsed {
        self.nested(|parser| {
            let then = parser.or()?;
            if !parser.word("if") {
                return Ok(then);
            }
            let condition = parser.or()?;
            if !parser.word("else") {
                return Err(parser.unexpected("`else`"));
            }
            let otherwise = parser.expression()?;
            Ok(Node::Conditional {
                condition: condition.into(),
                then: then.into(),
                otherwise: otherwise.into(),
            })
        })
    }

    /// Operands joined by equal operators, as a balanced tree: long chains must not nest deep.
    fn joined(
        &mut self,
        join: fn(Box<Node>, Box<Node>) -> Node,
        operand: fn(&mut Self) -> Parsed,
        operator: fn(&mut Self) -> bool,
    ) -> Parsed {
        let mut operands = vec![operand(self)?];
        while operator(self) {
            operands.push(operand(self)?);
        }
        while operands.len() > 1 {
            let mut pairs = Vec::with_capacity(operands.len().div_ceil(2));
            let mut rest = operands.into_iter();
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => join(left.into(), right.into()),
                    None => left,
                });
            }
            operands = pairs;
        }
        operands.pop().ok_or_else(|| self.unexpected("an operand"))
    }

    fn or(&mut self) -> Parsed {
        let operator = |parser: &mut Self| parser.word("or") || parser.symbol("||") || parser.symbol("|");
        self.joined(Node::Or, Self::and, operator)
    }

    fn and(&mut self) -> Parsed {
        let operator = |parser: &mut Self| parser.word("and") || parser.symbol("&&") || parser.symbol("&");
        self.joined(Node::And, Self::not, operator)
    }

    fn not(&mut self) -> Parsed {
        if self.word("not") || self.symbol("!") {
            return self.nested(|parser| Ok(Node::Not(parser.not()?.into())));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.sum()?;
        let mut others = Vec::new();
        while let Some(comparator) = self.comparator()? {
            others.push((comparator, self.sum()?));
        }
        Ok(if others.is_empty() { first } else { Node::Comparison(first.into(), others) })
    }

    fn comparator(&mut self) -> Result<Option<Comparator>, ExpressionError> {
        let symbols = [
            ("==", Comparator::Equal),
            ("!=", Comparator::NotEqual),
            ("<=", Comparator::LessEqual),
            (">=", Comparator::GreaterEqual),
            ("<", Comparator::Less),
            (">", Comparator::Greater),
        ];
        for (symbol, comparator) in symbols {
            if self.symbol(symbol) {
                return Ok(Some(comparator));
            }
        }
        if self.word("in") {
            return Ok(Some(Comparator::In));
        }
        if self.word("not") {
            return if self.word("in") { Ok(Some(Comparator::NotIn)) } else { Err(self.unexpected("`in`")) };
        }
        Ok(None)
    }

    fn sum(&mut self) -> Parsed {
        self.chain(Self::product, &[("+", Operator::Add), ("-", Operator::Subtract)])
    }

    fn product(&mut self) -> Parsed {
        let operators = [
            ("*", Operator::Multiply),
            ("//", Operator::FloorDivide),
            ("/", Operator::Divide),
            ("%", Operator::Remainder),
        ];
        self.chain(Self::unary, &operators)
    }

    /// Operators that associate to the left. Their tree is as deep as the chain is long, so that has a limit too.
    fn chain(&mut self, operand: fn(&mut Self) -> Parsed, operators: &[(&'static str, Operator)]) -> Parsed {
        let mut node = operand(self)?;
        let mut length = 0;
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.symbol(symbol)) {
            length += 1;
            if length > 4 * DEEPEST {
                return Err(
                    self.error(format!("more than {} operators in a row", 4 * DEEPEST), "use brackets")
                );
            }
            node = Node::Arithmetic(*operator, node.into(), operand(self)?.into());
        }
        Ok(node)
    }

    fn unary(&mut self) -> Parsed {
        if self.symbol("-") {
            return self.nested(|parser| Ok(Node::Negate(parser.unary()?.into())));
        }
        if self.symbol("+") {
            return self.nested(Self::unary);
        }
        let base = self.postfix()?;
        if self.symbol("**") {
            return self
                .nested(|parser| Ok(Node::Arithmetic(Operator::Power, base.into(), parser.unary()?.into())));
        }
        Ok(base)
    }

    fn postfix(&mut self) -> Parsed {
        let node = self.primary()?;
        if !self.symbol("[") {
            return Ok(node);
        }
        let index = self.expression()?;
        self.expect("]")?;
        Ok(Node::Index(node.into(), index.into()))
    }

    fn primary(&mut self) -> Parsed {
        let literal = match self.peek().clone() {
            Kind::Integer(number) => Datum::Integer(number),
            Kind::Real(number) => Datum::Real(number),
            Kind::Text(text) => Datum::Text(Cow::Owned(text)),
            Kind::Name(name) => return self.name(&name),
            Kind::Symbol("(") => {
                self.next();
                let node = self.expression()?;
                self.expect(")")?;
                return Ok(node);
            }
            Kind::Symbol("[") => {
                self.next();
                return self.list();
            }
            Kind::Symbol(_) | Kind::End => return Err(self.unexpected("a value")),
        };
        self.next();
        Ok(Node::Literal(literal))
    }

    fn name(&mut self, name: &str) -> Parsed {
        if WORDS.contains(&name) {
            return Err(self.unexpected("a value"));
        }
        let column = self.tokens[self.at].column;
        self.next();
        if let Some(local) = self.locals.iter().rposition(|local| local == name) {
            return Ok(Node::Local(local));
        }
        if let Some(place) = self.names.iter().position(|known| *known == name) {
            return Ok(Node::Parameter(place));
        }
        match name {
            "true" | "True" => return Ok(Node::Literal(Datum::Boolean(true))),
            "false" | "False" => return Ok(Node::Literal(Datum::Boolean(false))),
            _ => {}
        }
        if self.symbol("(") {
            return self.call(name, column);
        }
        let hint = match nearest(name, self.names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.names.is_empty() => String::new(),
            None => format!("there are: {}", self.names.join(", ")),
        };
        Err(error(self.text, column, format!("there is no parameter `{name}`"), &hint))
    }

    fn call(&mut self, name: &str, column: usize) -> Parsed {
        let (function, least, most) = match name {
            "min" => (Function::Min, 1, 64),
            "max" => (Function::Max, 1, 64),
            "abs" => (Function::Abs, 1, 1),
            "int" => (Function::Int, 1, 1),
            "float" => (Function::Float, 1, 1),
            "len" => (Function::Len, 1, 1),
            "round" => (Function::Round, 1, 1),
            "range" => (Function::Range, 1, 3),
            "sum" => (Function::Sum, 1, 1),
            "list" => (Function::List, 1, 1),
            "log" => (Function::Log, 1, 1),
            "log2" => (Function::Log2, 1, 1),
            "sqrt" => (Function::Sqrt, 1, 1),
            "exp" => (Function::Exp, 1, 1),
            _ => {
                let hint = "there are: min, max, abs, int, float, len, round, range, sum, list, log, log2, sqrt, exp";
                return Err(error(self.text, column, format!("there is no function `{name}`"), hint));
            }
        };
        let mut arguments = Vec::new();
        while !self.symbol(")") {
            arguments.push(self.expression()?);
            if !self.symbol(",") {
                self.expect(")")?;
                break;
            }
        }
        if !(least..=most).contains(&arguments.len()) {
            let reason = format!("`{name}` takes {least} to {most} arguments, not {}", arguments.len());
            return Err(error(self.text, column, reason, ""));
        }
        Ok(Node::Call(function, arguments))
    }

    /// A list or a comprehension; its variable stands behind the item, so the item is read twice.
    fn list(&mut self) -> Parsed {
        if let Some(local) = self.comprehension_variable() {
            return self.comprehension(local);
        }
        let mut items = Vec::new();
        while !self.symbol("]") {
            items.push(self.expression()?);
            if !self.symbol(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(Node::List(items))
    }

    /// The variable of the comprehension whose item starts here, if it is one.
    fn comprehension_variable(&self) -> Option<String> {
        let mut depth = 0;
        for (place, token) in self.tokens.iter().enumerate().skip(self.at) {
            match &token.kind {
                Kind::Symbol("(" | "[") => depth += 1,
                Kind::Symbol(")" | "]") if depth == 0 => return None,
                Kind::Symbol(")" | "]") => depth -= 1,
                Kind::Symbol(",") if depth == 0 => return None,
                Kind::Name(word) if depth == 0 && word == "for" => {
                    return match &self.tokens.get(place + 1)?.kind {
                        Kind::Name(name) if !WORDS.contains(&name.as_str()) => Some(name.clone()),
                        _ => None,
                    };
                }
                _ => {}
            }
        }
        None
    }

    fn comprehension(&mut self, variable: String) -> Parsed {
        let local = self.locals.len();
        self.locals.push(variable);
        let item = self.expression()?;
        if !self.word("for") {
            return Err(self.unexpected("`for`"));
        }
        self.next();
        if !self.word("in") {
            return Err(self.unexpected("`in`"));
        }
        let hidden = self.locals.pop();
        let source = self.or()?;
        self.locals.extend(hidden);
        let condition = if self.word("if") { Some(Box::new(self.or()?)) } else { None };
        self.locals.pop();
        self.expect("]")?;
        Ok(Node::Comprehension { item: item.into(), local, source: source.into(), condition })
    }
}
