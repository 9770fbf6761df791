//! What sets frequencies.

/// Sets frequencies, and knows what there was before.
pub trait Setter: Send + Sync {
    /// Sets a frequency.
    fn set(&self, mhz: u32) -> std::result::Result<(), String>;

    /// Puts back what there was.
    fn restore(&self) -> std::result::Result<(), String>;
}
