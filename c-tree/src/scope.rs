//! Names that are not taken.

use std::collections::BTreeSet;

/// Words of C (up to C23), of C++ (CUDA's language), and types and values that CUDA has everywhere.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    // C
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "asm",
    "typeof", "typeof_unqual",
    // C++
    "alignas", "alignof", "and", "and_eq", "bitand", "bitor", "bool", "catch", "char8_t", "char16_t", "char32_t",
    "class", "compl", "concept", "consteval", "constexpr", "constinit", "const_cast", "co_await", "co_return",
    "co_yield", "decltype", "delete", "dynamic_cast", "explicit", "export", "false", "friend", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected",
    "public", "reinterpret_cast", "requires", "static_assert", "static_cast", "template", "this", "thread_local",
    "throw", "true", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
    // CUDA
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "half", "float2", "float3", "float4",
    "double2", "double3", "double4", "int2", "int3", "int4",
];

/// Whether a name is a word of C, C++ or CUDA.
pub fn is_word(name: &str) -> bool {
    WORDS.contains(&name)
}

/// Whether a name belongs to generators (`tw_`) or to compilers (`__`, or an underscore and a capital).
pub fn is_reserved(name: &str) -> bool {
    let after = name.strip_prefix('_');
    let capital = |rest: &str| rest.starts_with(|letter: char| letter == '_' || letter.is_ascii_uppercase());
    name.starts_with("tw_") || after.is_some_and(capital)
}

/// Names that are taken in one place of a text: words of the languages, names of the generator, and those given before.
///
/// Reserved names ([`is_reserved`]) are given to nobody.
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
        self.taken.contains(name) || is_word(name) || is_reserved(name)
    }

    /// The name with as many underscores behind it as it needs to be given; it is not taken by that.
    pub fn free(&self, name: &str) -> String {
        let mut free = match is_reserved(name) {
            true => format!("u_{}", name.trim_start_matches('_')),
            false => name.to_string(),
        };
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
