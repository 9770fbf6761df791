//! The default searcher: a statistical surrogate of the response decides what to measure next.
//!
//! After a space-filling start, every step fits a [Gaussian process](gaussian_process) to the logarithm of the
//! responses and measures the candidate with the largest expected improvement (D. R. Jones, M. Schonlau, W. J. Welch,
//! J. Global Optimization 13, 1998), times the probability that it does not fail; every fourth measurement goes to the
//! lowest confidence bound instead. Candidates are all points of the space, or in a large space random ones and the
//! neighbours of the best.

mod features;
mod gaussian_process;

use super::Searcher;
use crate::run::{Run, Stop};
use crate::space::{Point, Space};
use features::Features;
use gaussian_process::{GaussianProcess, Hyperparameters, Near};
use rand::Rng;
use rayon::prelude::*;
use std::collections::HashSet;

/// Search with a surrogate. The defaults are the same for every space.
pub struct Surrogate {
    /// Points of the space-filling start.
    pub start: usize,
    /// One measurement of so many goes to the lowest confidence bound, so many deviations below the mean: expected
    /// improvement alone stays too long where it found something.
    pub explore: (usize, f64),
    /// Most candidates.
    pub candidates: usize,
    /// Points to measure first.
    pub first: Vec<Point>,
}

impl Default for Surrogate {
    fn default() -> Self {
        Surrogate { start: 10, explore: (4, 3.0), candidates: 20_000, first: Vec::new() }
    }
}

impl Searcher for Surrogate {
    fn name(&self) -> &'static str {
        "surrogate"
    }

    fn about(&self) -> &'static str {
        "a Gaussian process on the logarithm of the response, expected improvement, failures avoided"
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        let features = Features::of(run.space);
        run.measure(&self.first)?;
        let start = space_filling(run, &features, self.start.saturating_sub(self.first.len()).max(2))?;
        run.measure(&start)?;
        while run.best_response().is_none() {
            let point = run.space.sample(&mut run.rng)?;
            run.measure_one(&point)?;
        }
        let mut hyper = Hyperparameters::new(features.width());
        let mut pool = Pool::new(run, &features, self.candidates)?;
        let mut fitted_at = 0;
        let mut model: Option<GaussianProcess> = None;
        loop {
            let count = run.trials().len();
            let (every, deviations) = self.explore;
            if model.is_none() || count as f64 >= 1.15 * fitted_at as f64 {
                pool.refresh(run, &features, self.candidates)?;
                hyper = hyper.fitted(&features, run);
                fitted_at = count;
                model = None;
            }
            let mut gp = match model.take() {
                Some(gp) => gp,
                None => GaussianProcess::new(hyper.clone()),
            };
            gp.learn(&features, run);
            let Some(point) = pool.best(&gp, count.is_multiple_of(every).then_some(deviations)) else {
                return Err(Stop::Exhausted);
            };
            run.measure_one(&point)?;
            pool.remove(&point);
            model = Some(gp);
        }
    }
}

/// Points far from each other: each is the farthest from those before it among a few random ones (D. P. Mitchell,
/// SIGGRAPH 1991).
fn space_filling(run: &mut Run<'_>, features: &Features, count: usize) -> crate::Result<Vec<Point>> {
    const AMONG: usize = 12;
    let drawn = run.space.sample_distinct(count * AMONG, &mut run.rng)?;
    let rows: Vec<Vec<f64>> = drawn.iter().map(|point| features.row(point)).collect();
    let mut chosen: Vec<usize> = Vec::new();
    for group in 0..count {
        let distance = |place: usize| {
            let nearest = chosen.iter().map(|&other| features::squared_distance(&rows[place], &rows[other]));
            nearest.fold(f64::INFINITY, f64::min)
        };
        let members = (group * AMONG..(group + 1) * AMONG).filter(|&place| place < rows.len());
        if let Some(best) = members.max_by(|&a, &b| distance(a).total_cmp(&distance(b))) {
            chosen.push(best);
        }
    }
    Ok(chosen.into_iter().map(|place| drawn[place].clone()).collect())
}

/// A point that may be measured, and what the model knows about it already.
struct Candidate {
    point: Point,
    row: Vec<f64>,
    /// `L^-1 k(X, x)`, grown with the training set.
    solved: Vec<f64>,
    near: Near,
}

/// Candidates.
struct Pool {
    candidates: Vec<Candidate>,
    everything: bool,
}

impl Pool {
    fn new(run: &mut Run<'_>, features: &Features, most: usize) -> crate::Result<Pool> {
        let mut pool = Pool { candidates: Vec::new(), everything: false };
        pool.refresh(run, features, most)?;
        Ok(pool)
    }

    /// New candidates where not all points fit; what was solved is forgotten, since the model is new as well.
    fn refresh(&mut self, run: &mut Run<'_>, features: &Features, most: usize) -> crate::Result<()> {
        if !self.everything {
            let listed = run.space.points().filter(|points| points.len() <= most).map(<[Point]>::to_vec);
            self.everything = listed.is_some();
            let points = match listed {
                Some(points) => points,
                None => {
                    let mut points = near_best(run);
                    points
                        .extend(run.space.sample_distinct(most.saturating_sub(points.len()), &mut run.rng)?);
                    points
                }
            };
            let mut seen = HashSet::new();
            self.candidates = points
                .into_iter()
                .filter(|point| !run.is_measured(point) && seen.insert(point.clone()))
                .map(|point| {
                    let row = features.row(&point);
                    Candidate { point, row, solved: Vec::new(), near: Near::default() }
                })
                .collect();
        }
        for candidate in &mut self.candidates {
            candidate.solved.clear();
            candidate.near = Near::default();
        }
        Ok(())
    }

    /// The candidate with the largest expected improvement times the probability of success, or to explore with the
    /// lowest confidence bound.
    fn best(&mut self, gp: &GaussianProcess, explore: Option<f64>) -> Option<Point> {
        let score = |candidate: &mut Candidate| {
            gp.extend(&candidate.row, &mut candidate.solved);
            let success = gp.success(&candidate.row, &mut candidate.near).ln();
            match explore {
                Some(deviations) => gp.bound(&candidate.solved, deviations) + success,
                None => gp.log_expected_improvement(&candidate.solved) + success,
            }
        };
        let scores: Vec<f64> = self.candidates.par_iter_mut().with_min_len(1_000).map(score).collect();
        let best =
            (0..scores.len()).reduce(|best, next| if scores[next] > scores[best] { next } else { best });
        best.map(|place| self.candidates[place].point.clone())
    }

    fn remove(&mut self, point: &Point) {
        if let Some(place) = self.candidates.iter().position(|other| other.point == *point) {
            self.candidates.swap_remove(place);
        }
    }
}

/// Neighbours of the best points, and neighbours of those of the very best.
fn near_best(run: &mut Run<'_>) -> Vec<Point> {
    let mut ranked: Vec<(f64, Point)> = run
        .trials()
        .iter()
        .filter_map(|trial| trial.response(run.response()).map(|response| (response, trial.point.clone())))
        .collect();
    ranked.sort_by(|left, right| left.0.total_cmp(&right.0));
    let space: &Space = run.space;
    let mut points: Vec<Point> =
        ranked.iter().take(8).flat_map(|(_, point)| space.neighbours(point)).collect();
    if let Some((_, best)) = ranked.first() {
        let around = space.neighbours(best);
        if !around.is_empty() {
            for _ in 0..40 {
                let from = &around[run.rng.random_range(0..around.len())];
                points.extend(space.neighbours(from));
            }
        }
    }
    points
}
