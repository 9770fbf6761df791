//! Names that are not taken.

use std::collections::BTreeSet;

/// Words of C (up to C23) and C++ (CUDA's language), which name nothing, and macros of the headers that every text has.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit",
    "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short",
    "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize",
];

/// Names that are taken in one place of a text: words of the languages, names of the generator, and those given before.
///
/// Names that begin with `tw_` or an underscore belong to the generator and to the compilers, and are given to nobody.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    taken: BTreeSet<String>,
}

impl Scope {
    /// A scope in which only words of the languages are taken.
    pub fn new() -> Self {
        Scope::default()
    }

    /// Takes a name, for whoever has it.
    pub fn take(&mut self, name: impl Into<String>) {
        self.taken.insert(name.into());
    }

    /// Whether a name cannot be given.
    pub fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name) || WORDS.contains(&name) || name.starts_with("tw_") || name.starts_with('_')
    }

    /// The name with as many underscores behind it as it needs to be given; it is not taken by that.
    pub fn free(&self, name: &str) -> String {
        let reserved = name.starts_with("tw_") || name.starts_with('_');
        let mut free =
            if reserved { format!("u_{}", name.trim_start_matches('_')) } else { name.to_string() };
        while self.is_taken(&free) {
            free.push('_');
        }
        free
    }

    /// A name that is free, which is taken from now on.
    pub fn name(&mut self, name: &str) -> String {
        let free = self.free(name);
        self.take(free.clone());
        free
    }

    /// A scope inside this one: what is taken here is taken there.
    pub fn inner(&self) -> Scope {
        self.clone()
    }
}
