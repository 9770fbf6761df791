//! Execution time: what a model says about it.

use serde::Serialize;

/// Where the time goes, in seconds. The terms add up to [`Prediction::seconds`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Terms {
    /// Iterations, as far as transfers do not hide them.
    pub compute: f64,
    /// Transfers between memory and fast memory, as far as iterations do not hide them.
    pub transfer: f64,
    /// Barriers inside blocks.
    pub barrier: f64,
    /// Device-wide synchronisation: launches.
    pub launch: f64,
}

impl Terms {
    /// All of them together, in seconds.
    pub fn sum(&self) -> f64 {
        self.compute + self.transfer + self.barrier + self.launch
    }

    /// Adds the terms of another kernel.
    pub fn add(&mut self, other: &Terms) {
        self.compute += other.compute;
        self.transfer += other.transfer;
        self.barrier += other.barrier;
        self.launch += other.launch;
    }

    /// Shares of a whole.
    pub fn per(&self, whole: f64) -> Terms {
        Terms {
            compute: self.compute / whole,
            transfer: self.transfer / whole,
            barrier: self.barrier / whole,
            launch: self.launch / whole,
        }
    }

    /// What they are more than others.
    pub fn less(&self, other: &Terms) -> Terms {
        Terms {
            compute: self.compute - other.compute,
            transfer: self.transfer - other.transfer,
            barrier: self.barrier - other.barrier,
            launch: self.launch - other.launch,
        }
    }

    /// The largest one, with its name.
    pub fn largest(&self) -> (&'static str, f64) {
        let terms = [
            ("compute", self.compute),
            ("transfer", self.transfer),
            ("barrier", self.barrier),
            ("launch", self.launch),
        ];
        terms.into_iter().fold(("compute", f64::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a })
    }
}

/// A predicted execution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prediction {
    /// `T_alg` in seconds.
    pub seconds: f64,
    /// Where it goes.
    pub terms: Terms,
    /// Time without overheads and rounding: `T_ideal` in seconds (paper, eq. 6.3).
    pub ideal_s: f64,
}

impl Prediction {
    /// `T_overhead = T_alg - T_ideal` in seconds (paper, eq. 6.4).
    pub fn overhead_s(&self) -> f64 {
        self.seconds - self.ideal_s
    }
}
