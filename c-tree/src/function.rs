//! Functions, their prototypes, and structures.

use crate::stmt::Block;
use crate::types::Type;

/// A function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    pub(crate) comment: Option<String>,
    pub(crate) template: Vec<(Type, String)>,
    pub(crate) attributes: Vec<String>,
    pub(crate) result: Type,
    pub(crate) name: String,
    pub(crate) parameters: Vec<(Type, Option<String>)>,
    pub(crate) body: Block,
}

/// A structure.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What it is, for the reader.
    pub comment: Option<String>,
    /// Its name.
    pub name: String,
    /// Declarations of its members.
    pub members: Block,
}

impl Function {
    /// A function that takes and gives nothing, and does nothing.
    pub fn new(name: impl Into<String>) -> Self {
        Function {
            comment: None,
            template: Vec::new(),
            attributes: Vec::new(),
            result: Type::new("void"),
            name: name.into(),
            parameters: Vec::new(),
            body: Block::new(),
        }
    }

    /// What it does, for the reader. Lines are kept, and broken where they are too long.
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        self.comment = Some(comment.into());
        self
    }

    /// Adds a parameter of its template.
    pub fn template(mut self, kind: impl Into<Type>, name: impl Into<String>) -> Self {
        self.template.push((kind.into(), name.into()));
        self
    }

    /// Adds a word before its type: `static`, `__global__`, `__launch_bounds__(256)`.
    pub fn attribute(mut self, attribute: impl Into<String>) -> Self {
        self.attributes.push(attribute.into());
        self
    }

    /// What it gives.
    pub fn result(mut self, kind: impl Into<Type>) -> Self {
        self.result = kind.into();
        self
    }

    /// Adds a parameter.
    pub fn parameter(mut self, kind: impl Into<Type>, name: impl Into<String>) -> Self {
        self.parameters.push((kind.into(), Some(name.into())));
        self
    }

    /// Adds a parameter that has no name.
    pub fn nameless(mut self, kind: impl Into<Type>) -> Self {
        self.parameters.push((kind.into(), None));
        self
    }

    /// Adds parameters.
    pub fn parameters<T: Into<Type>, S: Into<String>>(
        self,
        parameters: impl IntoIterator<Item = (T, S)>,
    ) -> Self {
        parameters.into_iter().fold(self, |function, (kind, name)| function.parameter(kind, name))
    }

    /// What it does.
    pub fn body(mut self, body: impl Into<Block>) -> Self {
        self.body = body.into();
        self
    }
}
