//! Functions of the C library `math.h`, called by name so that a program computes what C computes.
//!
//! Generated C calls `sinf` for `f32` and `sin` for `f64`; the reference interpreter calls the same functions
//! of the same library. Most are not correctly rounded, so that another C library, or a GPU, may give other
//! bits. Those that are exact by definition (`floor`, `fmin`, ..) are the same everywhere.

macro_rules! functions {
    ($(#[$meta:meta])* $kind:ident { $($variant:ident = $name:literal, $c:literal, $single:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $kind {
            $(#[doc = concat!("`", $c, "`")] $variant,)*
        }

        impl $kind {
            /// All of them.
            pub const ALL: &'static [$kind] = &[$($kind::$variant,)*];

            /// The name in the stencil language.
            pub fn name(self) -> &'static str {
                match self { $($kind::$variant => $name,)* }
            }

            /// The C function on `double`.
            pub fn c_name(self) -> &'static str {
                match self { $($kind::$variant => $c,)* }
            }

            /// The C function on `float`.
            pub fn c_name_single(self) -> &'static str {
                match self { $($kind::$variant => $single,)* }
            }

            /// The function of this name in the stencil language.
            pub fn by_name(name: &str) -> Option<$kind> {
                $kind::ALL.iter().copied().find(|function| function.name() == name)
            }

            /// The function of this name in C, `sin` or `sinf`, and whether it is the one on `float`.
            pub fn by_c_name(name: &str) -> Option<($kind, bool)> {
                $kind::ALL.iter().copied().find_map(|function| {
                    let single = function.c_name_single() == name;
                    (single || function.c_name() == name).then_some((function, single))
                })
            }
        }
    };
}

functions! {
    /// Functions of one argument. `exp` of C is `libm_exp` in the stencil language, whose `exp` is the portable
    /// one.
    Libm {
        Exp = "libm_exp", "exp", "expf";
        Exp2 = "exp2", "exp2", "exp2f";
        Expm1 = "expm1", "expm1", "expm1f";
        Log = "log", "log", "logf";
        Log2 = "log2", "log2", "log2f";
        Log10 = "log10", "log10", "log10f";
        Log1p = "log1p", "log1p", "log1pf";
        Sin = "sin", "sin", "sinf";
        Cos = "cos", "cos", "cosf";
        Tan = "tan", "tan", "tanf";
        Asin = "asin", "asin", "asinf";
        Acos = "acos", "acos", "acosf";
        Atan = "atan", "atan", "atanf";
        Sinh = "sinh", "sinh", "sinhf";
        Cosh = "cosh", "cosh", "coshf";
        Tanh = "tanh", "tanh", "tanhf";
        Asinh = "asinh", "asinh", "asinhf";
        Acosh = "acosh", "acosh", "acoshf";
        Atanh = "atanh", "atanh", "atanhf";
        Cbrt = "cbrt", "cbrt", "cbrtf";
        Erf = "erf", "erf", "erff";
        Erfc = "erfc", "erfc", "erfcf";
        Floor = "floor", "floor", "floorf";
        Ceil = "ceil", "ceil", "ceilf";
        Trunc = "trunc", "trunc", "truncf";
        Round = "round", "round", "roundf";
        Rint = "rint", "rint", "rintf";
    }
}

functions! {
    /// Functions of two arguments. `fmin` and `fmax` treat a NaN as missing; `min` and `max` of the stencil
    /// language are comparisons.
    Libm2 {
        Pow = "pow", "pow", "powf";
        Hypot = "hypot", "hypot", "hypotf";
        Atan2 = "atan2", "atan2", "atan2f";
        Fmin = "fmin", "fmin", "fminf";
        Fmax = "fmax", "fmax", "fmaxf";
        Fmod = "fmod", "fmod", "fmodf";
        Fdim = "fdim", "fdim", "fdimf";
        Copysign = "copysign", "copysign", "copysignf";
    }
}
