//! The functions of the system's C library that programs call by name: the interpreter calls the very functions
//! that compiled C calls.
//!
//! They are looked up in the shared library at run time. A Rust program that is merely linked with them may get
//! others: Rust's own run-time library brings some of them along, with other last bits.
#![allow(unsafe_code)]

use polyhedral::math::{Libm, Libm2};
use std::path::Path;
use std::sync::LazyLock;
use toolchain::library::Library;

type One<T> = extern "C" fn(T) -> T;
type Two<T> = extern "C" fn(T, T) -> T;

/// The functions by the number of their variant.
struct Functions {
    one_f64: Vec<One<f64>>,
    one_f32: Vec<One<f32>>,
    two_f64: Vec<Two<f64>>,
    two_f32: Vec<Two<f32>>,
    /// Keeps the code in the process.
    _library: Option<Library>,
}

/// The shared library's file name.
const LIBRARY: &str = if cfg!(target_os = "macos") { "libm.dylib" } else { "libm.so.6" };

/// The function of this name in the library, or the one that is linked.
fn find<F: Copy>(library: Option<&Library>, name: &str, linked: F) -> F {
    // SAFETY: `F` is the type that C99 gives the function of this name.
    library.and_then(|library| unsafe { library.function::<F>(name) }.ok()).unwrap_or(linked)
}

macro_rules! library {
    (one { $($variant:ident $double:ident $single:ident;)* } two { $($variant2:ident $double2:ident $single2:ident;)* }) => {
        // SAFETY: C99 defines these functions with these types for all arguments; they touch no memory but `errno`
        // and the floating-point flags, which are the thread's own.
        unsafe extern "C" {
            $(safe fn $double(x: f64) -> f64; safe fn $single(x: f32) -> f32;)*
            $(safe fn $double2(x: f64, y: f64) -> f64; safe fn $single2(x: f32, y: f32) -> f32;)*
        }

        static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
            let library = Library::open(Path::new(LIBRARY)).ok();
            let from = library.as_ref();
            Functions {
                one_f64: vec![$(find::<One<f64>>(from, stringify!($double), $double),)*],
                one_f32: vec![$(find::<One<f32>>(from, stringify!($single), $single),)*],
                two_f64: vec![$(find::<Two<f64>>(from, stringify!($double2), $double2),)*],
                two_f32: vec![$(find::<Two<f32>>(from, stringify!($single2), $single2),)*],
                _library: library,
            }
        });

        /// A function of one argument on `f64`.
        pub fn of_f64(function: Libm, x: f64) -> f64 {
            FUNCTIONS.one_f64[function as usize](x)
        }

        /// A function of one argument on `f32`.
        pub fn of_f32(function: Libm, x: f32) -> f32 {
            FUNCTIONS.one_f32[function as usize](x)
        }

        /// A function of two arguments on `f64`.
        pub fn of_two_f64(function: Libm2, x: f64, y: f64) -> f64 {
            FUNCTIONS.two_f64[function as usize](x, y)
        }

        /// A function of two arguments on `f32`.
        pub fn of_two_f32(function: Libm2, x: f32, y: f32) -> f32 {
            FUNCTIONS.two_f32[function as usize](x, y)
        }

        #[cfg(test)]
        mod tests {
            use super::*;

            /// The names here are those that generated C calls, in the order of the variants.
            #[test]
            fn names_agree_with_the_generated_text() {
                assert_eq!([$(Libm::$variant),*], *Libm::ALL);
                assert_eq!([$(Libm2::$variant2),*], *Libm2::ALL);
                $(assert_eq!(
                    (Libm::$variant.c_name(), Libm::$variant.c_name_single()),
                    (stringify!($double), stringify!($single))
                );)*
                $(assert_eq!(
                    (Libm2::$variant2.c_name(), Libm2::$variant2.c_name_single()),
                    (stringify!($double2), stringify!($single2))
                );)*
            }

            #[test]
            fn a_missing_operand_is_a_nan() {
                assert_eq!(of_two_f64(Libm2::Fmin, f64::NAN, 2.0), 2.0);
                assert_eq!(of_two_f32(Libm2::Fmax, 3.0, f32::NAN), 3.0);
                assert_eq!(of_f64(Libm::Trunc, -2.5), -2.0);
                assert_eq!(of_f32(Libm::Floor, -0.5), -1.0);
            }
        }
    };
}

library! {
    one {
    Exp exp expf;
    Exp2 exp2 exp2f;
    Expm1 expm1 expm1f;
    Log log logf;
    Log2 log2 log2f;
    Log10 log10 log10f;
    Log1p log1p log1pf;
    Sin sin sinf;
    Cos cos cosf;
    Tan tan tanf;
    Asin asin asinf;
    Acos acos acosf;
    Atan atan atanf;
    Sinh sinh sinhf;
    Cosh cosh coshf;
    Tanh tanh tanhf;
    Asinh asinh asinhf;
    Acosh acosh acoshf;
    Atanh atanh atanhf;
    Cbrt cbrt cbrtf;
    Erf erf erff;
    Erfc erfc erfcf;
    Floor floor floorf;
    Ceil ceil ceilf;
    Trunc trunc truncf;
    Round round roundf;
    Rint rint rintf;
    }
    two {
    Pow pow powf;
    Hypot hypot hypotf;
    Atan2 atan2 atan2f;
    Fmin fmin fminf;
    Fmax fmax fmaxf;
    Fmod fmod fmodf;
    Fdim fdim fdimf;
    Copysign copysign copysignf;
    }
}
