//! Numbers in messages.

/// A number with its noun.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Extents: `4096x4096`.
pub fn size(extents: &[i64]) -> String {
    extents.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}
