//! The constants of the method.

/// Constants of the method.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Runs of a design for each coefficient of its model; the paper has 2 (24 for 12, 10 for 5, 6 for 3) and does not
    /// look at neighbours.
    pub runs_per_coefficient: f64,
    /// Terms with a smaller probability under the F test are significant.
    pub significance: f64,
    /// Most factors that are fixed in one step.
    pub fixed_at_once: usize,
    /// Most candidates of a design; more points are sampled.
    pub candidates: usize,
    /// Measurements that are spent at the end on the neighbours of the best point found, at least and at most: the
    /// model has the shape of the space, its levels need not be exact (section III, step 8).
    pub neighbours: (usize, usize),
    /// Most measurements of DLMT without a decider, as a multiple of the runs of the first design: a step that would
    /// need more is left out, and only the least number of neighbours is measured beyond (the paper: 56 for 24).
    pub growth: f64,
    /// Parts of the budget that LM spends in its first steps (the paper: 50, 40, 20 and 5 of 119).
    pub random_parts: [f64; 4],
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            runs_per_coefficient: 1.5,
            significance: 0.05,
            fixed_at_once: 3,
            candidates: 30_000,
            neighbours: (5, 8),
            growth: 3.3,
            random_parts: [0.4, 0.32, 0.16, 0.04],
        }
    }
}

impl Settings {
    /// Those of LM, whose random experiments identify fewer factors at once.
    pub fn random() -> Settings {
        Settings { fixed_at_once: 2, ..Settings::default() }
    }
}
