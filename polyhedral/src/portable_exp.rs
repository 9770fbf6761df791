//! The portable exponential: the same bits in Rust, C, C++ and CUDA.
//!
//! Made of correctly rounded `+ - *`, comparisons and integer operations only. `exp(x) = 2^n exp(r)` with
//! `n = round(x / ln 2)` and `r = x - n ln 2` in two parts (W. J. Cody and W. Waite, Software Manual for the
//! Elementary Functions, 1980), so `|r| <= ln(2) / 2`. `exp(r)` is a polynomial: in binary32 the one of the
//! Cephes library (S. L. Moshier), in binary64 the Taylor polynomial of degree 13, whose truncation error
//! is below 2^-57.
//!
//! NaN gives the same NaN; beyond the range the result is 0 or infinity; subnormal results are rounded once,
//! so underflow is gradual. The error is below 2 units in the last place (measured by a test).

/// The same operations as a C99, C++ and CUDA header with the functions `tw_expf` and `tw_exp`.
pub const C_HEADER: &str = include_str!("../templates/portable_exp.h");

/// `exp(x)` in binary32.
pub fn exp_f32(x: f32) -> f32 {
    // Below -104 and above 89 the result is 0 and infinity all the same. Bits of negative numbers ascend with
    // their size as unsigned integers, bits of positive numbers as signed ones.
    let low = x.to_bits().min(0xC2D0_0000);
    let c = f32::from_bits((low as i32).min(0x42B2_0000) as u32);
    // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
    let shifted = c * std::f32::consts::LOG2_E + 12_582_912.0;
    let n = shifted - 12_582_912.0;
    let biased = shifted.to_bits().wrapping_sub(0x4B40_0000).wrapping_add(254);
    let r = (c - n * 0.693_359_4) - n * -2.121_944_4e-4;
    let mut p = 1.987_569_1e-4_f32;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p * r + coefficient;
    }
    p = p * (r * r) + r;
    p += 1.0;
    let half = biased >> 1;
    let first = f32::from_bits(half.wrapping_shl(23));
    let second = f32::from_bits(biased.wrapping_sub(half).wrapping_shl(23));
    let result = (p * first) * second;
    if x.is_nan() { x } else { result }
}

/// `exp(x)` in binary64.
pub fn exp_f64(x: f64) -> f64 {
    // -746 and 710
    let low = x.to_bits().min(0xC087_5000_0000_0000);
    let c = f64::from_bits((low as i64).min(0x4086_3000_0000_0000) as u64);
    let shifted = c * std::f64::consts::LOG2_E + 6_755_399_441_055_744.0;
    let n = shifted - 6_755_399_441_055_744.0;
    let biased = shifted.to_bits().wrapping_sub(0x4338_0000_0000_0000).wrapping_add(2046);
    let r = (c - n * 6.931_471_803_691_238e-1) - n * 1.908_214_929_270_587_7e-10;
    let mut p = 1.605_904_383_682_161_3e-10;
    for coefficient in [
        2.087_675_698_786_81e-9,
        2.505_210_838_544_172e-8,
        2.755_731_922_398_589e-7,
        2.755_731_922_398_589_3e-6,
        2.480_158_730_158_73e-5,
        1.984_126_984_126_984e-4,
        1.388_888_888_888_889e-3,
        8.333_333_333_333_333e-3,
        4.166_666_666_666_666_4e-2,
        1.666_666_666_666_666_6e-1,
        0.5,
    ] {
        p = p * r + coefficient;
    }
    p = p * (r * r) + r;
    p += 1.0;
    let half = biased >> 1;
    let first = f64::from_bits(half.wrapping_shl(52));
    let second = f64::from_bits(biased.wrapping_sub(half).wrapping_shl(52));
    let result = (p * first) * second;
    if x.is_nan() { x } else { result }
}
