//! Checksums of records: the first 64 bits of SHA-256, as 16 hexadecimal digits.
//!
//! A CRC would find the flipped bits of a disk as well. A record must also be known not to be another journal's or to
//! stand in another place, which means that the checksum covers an identity of any length and a number; a hash without
//! structure makes "covers" mean the same for every kind of change, and 64 bits leave a chance of 5e-20 per record.

use sha2::{Digest, Sha256};

/// Number of digits.
pub const DIGITS: usize = 16;

/// The checksum of some parts, in order; their lengths count, so `["ab", "c"]` is not `["a", "bc"]`.
pub fn of(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_do_not_run_together() {
        assert_eq!(super::of(&[b"ab", b"c"]).len(), super::DIGITS);
        assert_ne!(super::of(&[b"ab", b"c"]), super::of(&[b"a", b"bc"]));
    }
}
