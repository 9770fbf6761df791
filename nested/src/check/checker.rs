//! What the checker knows while it goes through a program.

use crate::ast::{self, Name, Pattern, TypeExpr};
use crate::codes;
use crate::program::{Expr, Kind, Math, Operator, Role, Scalar, Type, VarId, Variable};
use polyhedral::diagnostic::{Code, Diagnostic};
use polyhedral::source::Span;
use std::rc::Rc;

/// Most expressions of a checked program, with functions put in where they are called.
const MOST_NODES: usize = 100_000;
/// Most components of a vector.
const MOST_COMPONENTS: u64 = 16;
/// How deep expressions may be nested, with functions put in where they are called, and names of sequences in names of others.
const MOST_HEIGHT: usize = 90;
/// How deep sequences may be nested.
pub const MOST_DEPTH: usize = 4;

/// The mark of a mistake that has been reported.
#[derive(Debug)]
pub struct Reported;

/// A result, or a mistake that has been reported.
pub type Checked<T> = Result<T, Reported>;

/// A function of the user, checked anew wherever it is called.
pub struct Defined {
    /// Whether it is stated to be associative.
    pub associative: bool,
    /// Its parameters.
    pub parameters: Vec<Pattern>,
    /// Its value.
    pub body: ast::Expr,
    /// The names that are known where it stands.
    pub scope: Scope,
    /// Where it stands.
    pub span: Span,
}

/// What a name stands for.
#[derive(Clone)]
pub enum Binding {
    /// A value.
    Variable(VarId),
    /// A function.
    Function(Rc<Defined>),
    /// Something that could not be checked, and has been reported.
    Wrong,
}

struct Link {
    name: String,
    binding: Binding,
    before: Scope,
}

/// The names that are known in a place.
#[derive(Clone, Default)]
pub struct Scope(Option<Rc<Link>>);

impl Scope {
    /// One name more.
    pub fn with(&self, name: &str, binding: Binding) -> Scope {
        Scope(Some(Rc::new(Link { name: name.to_owned(), binding, before: self.clone() })))
    }

    /// What a name stands for.
    pub fn find(&self, name: &str) -> Option<Binding> {
        let mut link = self.0.as_ref();
        while let Some(here) = link {
            if here.name == name {
                return Some(here.binding.clone());
            }
            link = here.before.0.as_ref();
        }
        None
    }

    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut link = self.0.as_ref();
        while let Some(here) = link {
            names.push(here.name.clone());
            link = here.before.0.as_ref();
        }
        names
    }
}

/// The state of the check.
pub struct Checker<'a> {
    /// All variables so far.
    pub variables: Vec<Variable>,
    /// What was found wrong.
    pub diagnostics: &'a mut Vec<Diagnostic>,
    nodes: usize,
    too_large: bool,
    /// How many expressions are being checked, one inside of the other.
    depth: usize,
}

impl<'a> Checker<'a> {
    /// A checker that knows nothing yet.
    pub fn new(diagnostics: &'a mut Vec<Diagnostic>) -> Checker<'a> {
        Checker { variables: Vec::new(), diagnostics, nodes: 0, too_large: false, depth: 0 }
    }

    /// Reports a mistake.
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Reports a mistake of the user.
    pub fn error<T>(
        &mut self,
        code: Code,
        span: &Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Checked<T> {
        let hint = hint.into();
        let diagnostic = Diagnostic::error(code, span.clone(), message);
        Err(self.report(diagnostic.maybe_hint(Some(hint).filter(|hint| !hint.is_empty()))))
    }

    /// An expression, counted.
    pub fn make(&mut self, kind: Kind, ty: Type, span: &Span) -> Checked<Expr> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            if !self.too_large {
                self.too_large = true;
                let message =
                    format!("with its functions put in, the program has more than {MOST_NODES} expressions");
                let diagnostic = Diagnostic::limitation(codes::TOO_LARGE, span.clone(), message);
                self.report(
                    diagnostic.hint(
                        "call functions less often inside of functions, or store results with `compute`",
                    ),
                );
            }
            return Err(Reported);
        }
        Ok(Expr { kind, ty, span: span.clone() })
    }

    /// What is checked inside of something else.
    pub fn deeper<T>(&mut self, span: &Span, inner: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        if self.depth >= MOST_HEIGHT {
            return self.too_deep(span);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Refuses what is nested too deeply.
    pub fn too_deep<T>(&mut self, span: &Span) -> Checked<T> {
        let message =
            format!("with its functions and names put in, this is nested deeper than {MOST_HEIGHT}");
        let diagnostic = Diagnostic::limitation(codes::NESTED_TOO_DEEP, span.clone(), message);
        Err(self.report(diagnostic.hint("store a part of it with `compute`")))
    }

    /// Whether names of sequences are put into each other too deeply.
    pub fn is_too_deep(height: usize) -> bool {
        height * 4 >= MOST_HEIGHT
    }

    /// A new variable.
    pub fn declare(&mut self, name: &str, ty: Type, span: &Span, role: Role) -> VarId {
        self.variables.push(Variable { name: name.to_owned(), ty, span: span.clone(), role });
        self.variables.len() - 1
    }

    /// A use of a variable.
    pub fn used(&mut self, variable: VarId, span: &Span) -> Checked<Expr> {
        let ty = self.variables[variable].ty.clone();
        self.make(Kind::Variable(variable), ty, span)
    }

    /// Refuses names that belong to others, for what becomes a function in C.
    pub fn free_function(&mut self, name: &Name) -> Checked<()> {
        self.free(name)?;
        let text = name.text.as_str();
        if super::library::is_function(text) {
            let message = format!(
                "`{text}` is a function of the C library, and the program becomes one of its own name"
            );
            return self.error(codes::RESERVED_NAME, &name.span, message, "choose another name");
        }
        Ok(())
    }

    /// Refuses names that belong to others.
    pub fn free(&mut self, name: &Name) -> Checked<()> {
        let text = name.text.as_str();
        let taken = c_tree::scope::is_word(text) || c_tree::scope::is_reserved(text);
        let own = Operator::named(text).is_some()
            || Math::named(text).is_some()
            || Scalar::named(text).is_some()
            || matches!(text, "len" | "dot" | "main");
        if taken || own {
            let keeper = if own { "the language" } else { "C" };
            let message = format!("`{text}` is a name that {keeper} keeps for itself");
            return self.error(codes::RESERVED_NAME, &name.span, message, "choose another name");
        }
        if text.len() > 64 {
            let message = "this name has more than 64 letters";
            return self.error(codes::RESERVED_NAME, &name.span, message, "choose a shorter name");
        }
        Ok(())
    }

    /// What a name stands for.
    pub fn look_up(&mut self, name: &str, span: &Span, scope: &Scope) -> Checked<Binding> {
        match scope.find(name) {
            Some(Binding::Wrong) => return Err(Reported),
            Some(binding) => return Ok(binding),
            None => {}
        }
        let short: String = name.chars().take(40).collect();
        let names = scope.names();
        let close = text_escape::suggest::nearest(name, names.iter().map(String::as_str));
        let hint = match close {
            Some(close) => format!("did you mean `{close}`?"),
            None if Operator::named(name).is_some() || Math::named(name).is_some() => {
                format!("`{short}` is called with operands in parentheses")
            }
            None => "declare it with `input`, `param`, `table`, `let` or `compute` above".to_owned(),
        };
        self.error(codes::UNKNOWN_NAME, span, format!("`{short}` is not declared"), hint)
    }

    /// The type that is written.
    pub fn type_of(&mut self, written: &TypeExpr) -> Checked<Type> {
        let scalar = |checker: &mut Self, name: &Name| match Scalar::named(&name.text) {
            Some(scalar) => Ok(scalar),
            None => {
                let close =
                    text_escape::suggest::nearest(&name.text, Scalar::ALL.iter().map(|scalar| scalar.name()));
                let hint = match close {
                    Some(close) => format!("did you mean `{close}`?"),
                    None => {
                        "types are i32, i64, f32, f64 and bool, `f64^3`, `(f64, i32)` and `[f64]`".to_owned()
                    }
                };
                checker.error(codes::UNKNOWN_TYPE, &name.span, format!("`{}` is no type", name.text), hint)
            }
        };
        let found = match written {
            TypeExpr::Scalar(name) => Type::Scalar(scalar(self, name)?),
            TypeExpr::Vector(name, count) => {
                let element = scalar(self, name)?;
                if !(2..=MOST_COMPONENTS).contains(count) || element == Scalar::Bool {
                    let message = format!("a vector has 2 to {MOST_COMPONENTS} numbers");
                    return self.error(
                        codes::UNKNOWN_TYPE,
                        &name.span,
                        message,
                        "use a sequence, such as `[f64]`, for more",
                    );
                }
                Type::Vector(element, *count as usize)
            }
            TypeExpr::Tuple(parts, _) => {
                let mut types = Vec::new();
                for part in parts {
                    types.push(self.type_of(part)?);
                }
                match types.len() {
                    1 => types.remove(0),
                    _ => Type::Tuple(types),
                }
            }
            TypeExpr::Sequence(element, _) => self.type_of(element)?.sequence(),
        };
        self.shallow(&found, &written.span())?;
        Ok(found)
    }

    /// Refuses sequences nested too deeply.
    pub fn shallow(&mut self, ty: &Type, span: &Span) -> Checked<()> {
        if ty.depth() <= MOST_DEPTH {
            return Ok(());
        }
        let message = format!("these sequences are nested {} deep; at most {MOST_DEPTH} are", ty.depth());
        let diagnostic = Diagnostic::limitation(codes::NESTING, span.clone(), message);
        Err(self.report(diagnostic.hint("index a flat sequence instead of the innermost level")))
    }

    /// Binds the names of a pattern to a variable's components; what is to be put around their use comes back.
    pub fn bind(
        &mut self,
        pattern: &Pattern,
        variable: VarId,
        scope: &Scope,
    ) -> Checked<(Scope, Vec<(VarId, Expr)>)> {
        match pattern {
            Pattern::Name(name) => {
                self.free(name)?;
                self.variables[variable].name = name.text.clone();
                Ok((scope.with(&name.text, Binding::Variable(variable)), Vec::new()))
            }
            Pattern::Tuple(parts, span) => {
                let ty = self.variables[variable].ty.clone();
                let Some(types) = ty.components().filter(|types| types.len() == parts.len()) else {
                    let message =
                        format!("this pattern has {} names, but the value is of type {ty}", parts.len());
                    let hint = "a pattern has a name for each component of a tuple or vector";
                    return self.error(codes::PATTERN, span, message, hint);
                };
                let mut scope = scope.clone();
                let mut lets = Vec::new();
                for (place, (part, ty)) in parts.iter().zip(types).enumerate() {
                    let whole = self.used(variable, span)?;
                    let component = self.make(Kind::Component(Box::new(whole), place), ty.clone(), span)?;
                    let inner = self.declare("part", ty, &part.span(), Role::Local);
                    lets.push((inner, component));
                    let (with, more) = self.bind(part, inner, &scope)?;
                    scope = with;
                    lets.extend(more);
                }
                Ok((scope, lets))
            }
        }
    }

    /// Puts names around an expression.
    pub fn within(&mut self, lets: Vec<(VarId, Expr)>, body: Expr) -> Checked<Expr> {
        lets.into_iter().rev().try_fold(body, |body, (variable, value)| {
            let (ty, span) = (body.ty.clone(), body.span.clone());
            self.make(Kind::Let(variable, Box::new(value), Box::new(body)), ty, &span)
        })
    }
}
