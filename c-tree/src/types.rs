//! Types of declarations and casts.

/// A type: a name, maybe constant, maybe a pointer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    name: String,
    constant: bool,
    pointer: Option<&'static str>,
}

impl Type {
    /// A type by its name, which may be several words, a macro's call, or a class with arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Type { name: name.into(), constant: false, pointer: None }
    }

    /// `const` of it; of a pointer, what it points to.
    pub fn constant(mut self) -> Self {
        self.constant = true;
        self
    }

    /// A pointer to it.
    pub fn pointer(mut self) -> Self {
        self.pointer = Some("*");
        self
    }

    /// A pointer to pointers to it.
    pub fn pointer_to_pointer(mut self) -> Self {
        self.pointer = Some("**");
        self
    }

    /// A pointer to it, by which alone its elements are reached.
    pub fn restrict_pointer(mut self) -> Self {
        self.pointer = Some("*restrict ");
        self
    }

    /// A pointer, restricted where no other one reaches its elements.
    pub fn pointer_alone(self, alone: bool) -> Self {
        if alone { self.restrict_pointer() } else { self.pointer() }
    }

    /// `const float`: what stands before all names of a declaration.
    pub(crate) fn head(&self) -> String {
        format!("{}{}", if self.constant { "const " } else { "" }, self.name)
    }

    /// `*restrict `: what stands before each name of a declaration.
    pub(crate) fn before_name(&self) -> &'static str {
        self.pointer.unwrap_or("")
    }

    /// `const float *`: the type alone.
    pub(crate) fn alone(&self) -> String {
        match self.pointer {
            Some(pointer) => format!("{} {}", self.head(), pointer.trim_end()),
            None => self.head(),
        }
    }
}

impl<T: Into<String>> From<T> for Type {
    fn from(name: T) -> Self {
        Type::new(name)
    }
}
