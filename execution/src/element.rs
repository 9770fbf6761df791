//! The two element types as Rust types: `f32` and `f64` behind one sealed trait.

use crate::libm;
use polyhedral::math::{Libm, Libm2};
use polyhedral::portable_exp;
use polyhedral::program::ElementType;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A floating-point type that a field can have. All operations round to the type itself.
pub trait Element:
    sealed::Sealed
    + bytemuck::Pod
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// The same type in a program.
    const ELEMENT: ElementType;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;

    /// The same value as a double; exact.
    fn to_f64(self) -> f64;

    /// The bits, zero-extended; every NaN gives the same bits.
    fn comparable_bits(self) -> u64;

    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;

    /// Absolute value.
    fn abs(self) -> Self;

    /// The portable exponential, the same on every back end.
    fn exp(self) -> Self;

    /// A function of the C library.
    fn libm(self, function: Libm) -> Self;

    /// A function of two arguments of the C library.
    fn libm2(self, other: Self, function: Libm2) -> Self;

    /// Appends the little-endian bytes.
    fn push_bytes(self, bytes: &mut Vec<u8>);

    /// The value of the first [`ElementType::bytes`] little-endian bytes; missing bytes count as 0.
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($type:ident, $element:ident, $bits:ident, $exp:ident, $of:ident, $of_two:ident) => {
        impl Element for $type {
            const ELEMENT: ElementType = ElementType::$element;

            #[inline]
            fn from_f64(value: f64) -> Self {
                value as $type
            }

            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            #[inline]
            fn comparable_bits(self) -> u64 {
                u64::from(if self.is_nan() { $type::NAN.to_bits() } else { self.to_bits() })
            }

            #[inline]
            fn sqrt(self) -> Self {
                $type::sqrt(self)
            }

            #[inline]
            fn abs(self) -> Self {
                $type::abs(self)
            }

            #[inline]
            fn exp(self) -> Self {
                portable_exp::$exp(self)
            }

            #[inline]
            fn libm(self, function: Libm) -> Self {
                libm::$of(function, self)
            }

            #[inline]
            fn libm2(self, other: Self, function: Libm2) -> Self {
                libm::$of_two(function, self, other)
            }

            #[inline]
            fn push_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut raw = [0; size_of::<$type>()];
                for (to, from) in raw.iter_mut().zip(bytes) {
                    *to = *from;
                }
                $type::from_le_bytes(raw)
            }
        }
    };
}

element!(f32, F32, u32, exp_f32, of_f32, of_two_f32);
element!(f64, F64, u64, exp_f64, of_f64, of_two_f64);
