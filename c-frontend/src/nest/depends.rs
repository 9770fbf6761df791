//! What can make a value another one: the time, the place, the data.

/// What a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Depends {
    /// The time loop's index.
    pub time: bool,
    /// Indices of space loops.
    pub place: bool,
    /// What the loop computes.
    pub data: bool,
    /// An index itself, outside subscripts.
    pub bare: bool,
}

impl Depends {
    /// Whether it is the same in all steps and places.
    pub fn is_constant(self) -> bool {
        !self.time && !self.place && !self.data
    }

    /// What either of two values depends on.
    pub fn and(self, other: Depends) -> Depends {
        Depends {
            time: self.time || other.time,
            place: self.place || other.place,
            data: self.data || other.data,
            bare: self.bare || other.bare,
        }
    }
}
