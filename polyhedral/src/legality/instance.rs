//! What counter-examples are made of: executions of statements, in a problem of some size.

use std::fmt;

/// One execution of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Index of the statement.
    pub statement: usize,
    /// Time step.
    pub time: i64,
    /// Point.
    pub point: Vec<i64>,
}

/// The problem in which a counter-example occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Number of time steps.
    pub steps: i64,
    /// Grid size, in points per dimension.
    pub size: Vec<i64>,
}

/// An instance and its schedule vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduled {
    /// The instance.
    pub instance: Instance,
    /// One value per schedule dimension.
    pub vector: Vec<i64>,
}

/// A vector of integers as `[1, 2, 3]`.
pub(super) struct Vector<'a>(pub(super) &'a [i64]);

impl fmt::Display for Vector<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.0.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        write!(formatter, "[{values}]")
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "statement {} at t = {}, point {}", self.statement, self.time, Vector(&self.point))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
        write!(formatter, "{size}, {} steps", self.steps)
    }
}

impl fmt::Display for Scheduled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", self.instance, Vector(&self.vector))
    }
}
