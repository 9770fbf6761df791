//! Literals of C.

use crate::ast::{ExprKind, Floating};

/// What a number is; `None` if it is none that C has.
pub fn number(text: &str) -> Option<ExprKind> {
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.starts_with("0x");
    let floating = if hexadecimal { lower.contains('p') } else { lower.contains(['.', 'e']) };
    if floating {
        let (digits, kind) = match lower.chars().last()? {
            'f' => (&lower[..lower.len() - 1], Floating::Float),
            'l' => (&lower[..lower.len() - 1], Floating::LongDouble),
            _ => (lower.as_str(), Floating::Double),
        };
        floating_value(digits)?;
        return Some(ExprKind::Floating { text: digits.to_owned(), kind });
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let value = if hexadecimal {
        i64::from_str_radix(&digits[2..], 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        i64::from_str_radix(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    value.ok().map(|value| ExprKind::Integer { value, text: text.to_owned() })
}

/// The value of a literal without its suffix, rounded to f64; decimal or hexadecimal.
pub fn floating_value(digits: &str) -> Option<f64> {
    match digits.strip_prefix("0x") {
        Some(digits) => hexadecimal(digits),
        // Rust reads `1.` and `.5`, too.
        None => digits.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

/// The value rounded to f32 at once, not by way of f64.
pub fn single_value(digits: &str) -> Option<f32> {
    match digits.strip_prefix("0x") {
        Some(digits) => hexadecimal(digits).map(|value| value as f32),
        None => digits.parse().ok().filter(|value: &f32| value.is_finite()),
    }
}

/// `1.8p3`; at most as many digits as are exact.
fn hexadecimal(digits: &str) -> Option<f64> {
    let (mantissa, exponent) = digits.split_once('p')?;
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let significant = format!("{whole}{part}");
    if significant.is_empty() || significant.trim_start_matches('0').len() > 13 {
        return None;
    }
    let value = u64::from_str_radix(&significant, 16).ok()? as f64;
    let exponent: i32 = exponent.parse().ok()?;
    let exponent = exponent.checked_sub(4 * i32::try_from(part.len()).ok()?)?;
    // Beyond these, the power or the product may be rounded.
    (-900..=900).contains(&exponent).then(|| value * 2_f64.powi(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let float = |text: &str| match number(text) {
            Some(ExprKind::Floating { text, kind }) => Some((floating_value(&text).unwrap(), kind)),
            _ => None,
        };
        assert_eq!(float("0.5f"), Some((0.5, Floating::Float)));
        assert_eq!(float("15.F"), Some((15.0, Floating::Float)));
        assert_eq!(float(".5"), Some((0.5, Floating::Double)));
        assert_eq!(float("1e-3L"), Some((1e-3, Floating::LongDouble)));
        assert_eq!(float("0x1.8p1"), Some((3.0, Floating::Double)));
        assert_eq!(float("0x1p-1074"), None);
        let integer = |text: &str| match number(text) {
            Some(ExprKind::Integer { value, .. }) => Some(value),
            _ => None,
        };
        assert_eq!(integer("0x1F"), Some(31));
        assert_eq!(integer("100000L"), Some(100_000));
        assert_eq!(integer("010u"), Some(8));
        assert_eq!(integer("0f"), None);
        assert_eq!(single_value("0.1"), Some(0.1_f32));
    }
}
