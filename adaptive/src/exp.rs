//! `e^x` for the kernel of a support vector machine: one algorithm, here and in the C that is emitted, so that both choose
//! alike whatever the platform's library rounds.

/// Below this the result is zero; the least normal number is `e^-708.4`.
pub const LEAST: f64 = -708.0;
/// `log2(e)`.
pub const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// `1.5 * 2^52`: a small number added to it is rounded to a whole one, which then stands in the last bits.
pub const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// `ln 2` in two parts, the first with zeros behind it, so that its product with a small whole number is exact
/// (W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980).
pub const LN2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// `1/k!` for even `k` from 0, and for odd `k` from 1.
pub const TERMS: [[f64; 7]; 2] = [
    [1.0, 1.0 / 2.0, 1.0 / 24.0, 1.0 / 720.0, 1.0 / 40320.0, 1.0 / 3_628_800.0, 1.0 / 479_001_600.0],
    [1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362_880.0, 1.0 / 39_916_800.0, 1.0 / 6_227_020_800.0],
];

/// `e^x` for `x <= 0`, within a few units in the last place; 0 below [`LEAST`] and for what is no number.
///
/// `e^x = 2^n e^r` with `n` the whole number next to `x log2(e)`, `|r| <= ln(2) / 2`, and the Taylor polynomial of degree 13, its
/// even and odd terms apart.
pub fn exp(x: f64) -> f64 {
    if x >= 0.0 {
        return 1.0;
    }
    if x.is_nan() || x < LEAST {
        return 0.0;
    }
    let shifted = x * LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = (x - n * LN2[0]) - n * LN2[1];
    let square = r * r;
    let sum = |terms: &[f64; 7]| terms.iter().rev().fold(0.0, |sum, term| sum * square + term);
    let value = sum(&TERMS[0]) + r * sum(&TERMS[1]);
    value * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

#[cfg(test)]
mod tests {
    use super::exp;

    #[test]
    fn exp_is_that_of_the_library() {
        for at in 0..200_000 {
            let x = -f64::from(at) * 0.003_53;
            let (own, library) = (exp(x), x.exp());
            assert!((own - library).abs() <= 4.0 * f64::EPSILON * library, "{x}: {own} {library}");
        }
        assert_eq!([exp(0.0), exp(-0.0), exp(5.0), exp(-1e300), exp(f64::NAN)], [1.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    }
}
