//! One step: candidates, design, analysis, proposal.

use super::proposal::{Proposal, proposal_text};
use super::settings::Settings;
use crate::doe::fedorov::{DesignRequest, d_optimal};
use crate::doe::formula::{Atom, Formula, Term};
use crate::doe::model::Contrasts;
use crate::doe::{Anova, BoxCox, Fit, Interval, Model, box_cox};
use crate::error::Result;
use crate::expression::Expression;
use crate::run::{Run, Stop};
use crate::space::{Point, Space};
use nalgebra::DMatrix;
use std::collections::HashSet;
use trials::Parameter;

/// A step under way.
pub(super) struct Step {
    /// The model of the free factors.
    pub formula: Formula,
    model: Model,
    /// Points of the subspace that were not measured yet.
    pub candidates: Vec<Point>,
    matrix: DMatrix<f64>,
    /// Points of the subspace that were.
    known: Vec<Point>,
    /// What was measured in this step.
    pub design: Vec<Point>,
    /// D-efficiency of the design; `None` where it is no D-optimal one.
    pub d_efficiency: Option<f64>,
    free: Vec<usize>,
}

impl Step {
    /// The step in the subspace of the fixed levels; `None` where no term is left, or no candidate.
    pub fn new(
        run: &mut Run<'_>,
        formula: &Formula,
        fixed: &[Option<u32>],
        most: usize,
    ) -> Result<Option<Step>> {
        let space = run.space;
        let matches = |point: &Point| {
            point.levels().iter().zip(fixed).all(|(&level, fixed)| fixed.is_none_or(|fixed| fixed == level))
        };
        let inside: Vec<Point> = match space.points() {
            Some(points) => points.iter().filter(|point| matches(point)).cloned().collect(),
            None => sampled(run, fixed, most)?,
        };
        let (known, mut candidates): (Vec<Point>, Vec<Point>) =
            inside.into_iter().partition(|point| run.is_measured(point));
        if candidates.len() > most {
            let chosen = rand::seq::index::sample(&mut run.rng, candidates.len(), most);
            candidates = chosen.iter().map(|place| candidates[place].clone()).collect();
        }
        if candidates.is_empty() {
            return Ok(None);
        }
        let Some((formula, model, matrix)) = identified(space, formula, &candidates, &known)? else {
            return Ok(None);
        };
        let free = (0..fixed.len())
            .filter(|&place| fixed[place].is_none() && space.parameters()[place].len() > 1)
            .collect();
        let design = Vec::new();
        Ok(Some(Step { formula, model, candidates, matrix, known, design, d_efficiency: None, free }))
    }

    /// Number of coefficients of the model.
    pub fn width(&self) -> usize {
        self.model.width()
    }

    /// A D-optimal design of so many runs; a random one where the candidates identify the model only together with
    /// what was measured before.
    pub fn designed(&mut self, run: &mut Run<'_>, runs: usize) -> Vec<usize> {
        let request = DesignRequest { runs, ..DesignRequest::default() };
        match d_optimal(&self.matrix, &request, &mut run.rng) {
            Ok(design) => {
                self.d_efficiency = Some(design.d_efficiency);
                design.rows
            }
            Err(_) => self.random(run, runs),
        }
    }

    /// A random design.
    pub fn random(&self, run: &mut Run<'_>, runs: usize) -> Vec<usize> {
        rand::seq::index::sample(&mut run.rng, self.candidates.len(), runs.min(self.candidates.len()))
            .into_vec()
    }

    /// Measures candidates; where too many fail to fit the model, more at random.
    pub fn measure(&mut self, run: &mut Run<'_>, design: &[usize]) -> std::result::Result<(), Stop> {
        let points: Vec<Point> = design.iter().map(|&place| self.candidates[place].clone()).collect();
        self.design.clone_from(&points);
        run.measure(&points)?;
        let mut rest: Vec<Point> =
            self.candidates.iter().filter(|point| !points.contains(point)).cloned().collect();
        while self.measured(run).0.len() < self.width() + 1 && !rest.is_empty() {
            let place = rand::Rng::random_range(&mut run.rng, 0..rest.len());
            let point = rest.swap_remove(place);
            run.measure_one(&point)?;
            self.design.push(point);
        }
        Ok(())
    }

    /// Measured points of the subspace and their responses.
    fn measured(&self, run: &Run<'_>) -> (Vec<Point>, Vec<f64>) {
        let all = self.known.iter().chain(&self.candidates);
        all.filter_map(|point| run.response_at(point).map(|response| (point.clone(), response))).unzip()
    }

    /// Box-Cox, ANOVA, refit and prediction; `None` where there are too few measurements to say anything.
    pub fn analyse(&self, run: &Run<'_>, settings: &Settings, all: bool) -> Result<Option<Proposal>> {
        let space = run.space;
        let (points, responses) = self.measured(run);
        if points.len() < 3 {
            return Ok(None);
        }
        let matrix = self.model.matrix(space, &points)?;
        let box_cox = BoxCox::new(&matrix, &responses).ok();
        let lambda = match &box_cox {
            Some(found) => found.rounded,
            None if responses.iter().all(|&response| response > 0.0) => 0.0,
            None => 1.0,
        };
        // Divided by the geometric mean, so that powers of tiny times stay in range.
        let positive = responses.iter().all(|&response| response > 0.0);
        let scale = if positive {
            (responses.iter().map(|y| y.ln()).sum::<f64>() / responses.len() as f64).exp()
        } else {
            1.0
        };
        let transformed: Vec<f64> = responses
            .iter()
            .map(|&y| if positive { box_cox::transform(y / scale, lambda) } else { y })
            .collect();
        let full = Fit::new(&matrix, &transformed)?;
        let anova = Anova::of(&self.model, &full);
        let significant: Vec<&crate::doe::AnovaRow> =
            anova.rows.iter().filter(|row| row.p < settings.significance || all && row.p.is_nan()).collect();
        let terms: Vec<Term> = significant.iter().map(|row| self.formula.terms[row.term].clone()).collect();
        let refit = if terms.is_empty() { self.formula.clone() } else { self.formula.with_terms(terms) };
        let refit_model = Model::new(&refit, space, Contrasts::Treatment)?;
        let fit = Fit::new(&refit_model.matrix(space, &points)?, &transformed)?;
        let best = self.predicted_best(space, &refit_model, &fit, &full);
        let row = refit_model.row(space, &best);
        let back = |z: f64| {
            if positive { box_cox::inverse(z, lambda).map_or(f64::NAN, |y| y * scale) } else { z }
        };
        let predicted = fit.prediction(&row, 0.95).map(|interval| Interval {
            value: back(interval.value),
            lower: back(interval.lower),
            upper: back(interval.upper),
        });
        let mut ranked = significant;
        ranked.sort_by(|left, right| left.p.total_cmp(&right.p).then(right.f.total_cmp(&left.f)));
        let mut fix: Vec<usize> = Vec::new();
        for row in ranked {
            for place in self.model.parameters_of(row.term) {
                let allowed = fix.len() < settings.fixed_at_once && !fix.contains(&place);
                if allowed && (fix.is_empty() || self.leaves_choice(&best, &fix, place)) {
                    fix.push(place);
                }
            }
        }
        let coefficients = refit_model
            .names()
            .iter()
            .zip(&fit.coefficients)
            .filter_map(|(name, value)| value.map(|value| (name.clone(), value)))
            .collect();
        let mut proposal = Proposal {
            anova,
            box_cox,
            lambda,
            refit,
            coefficients,
            best,
            predicted,
            fix,
            free: self.free.clone(),
            text: String::new(),
        };
        proposal.text = proposal_text(&proposal, run);
        Ok(Some(proposal))
    }

    /// Whether a factor can be fixed beside others without taking levels from those that stay free: what a constraint
    /// ties together is decided together, later.
    fn leaves_choice(&self, best: &Point, fixed: &[usize], place: usize) -> bool {
        let others: Vec<usize> =
            self.free.iter().copied().filter(|other| *other != place && !fixed.contains(other)).collect();
        let at_best = |point: &Point, place: usize| point.levels()[place] == best.levels()[place];
        let mut before: Vec<HashSet<u32>> = vec![HashSet::new(); others.len()];
        let mut after = before.clone();
        let points = self.candidates.iter().chain(&self.known);
        for point in points.filter(|point| fixed.iter().all(|&place| at_best(point, place))) {
            for (set, &other) in before.iter_mut().zip(&others) {
                set.insert(point.levels()[other]);
            }
            if at_best(point, place) {
                for (set, &other) in after.iter_mut().zip(&others) {
                    set.insert(point.levels()[other]);
                }
            }
        }
        before.iter().zip(&after).all(|(before, after)| before.len() == after.len())
    }

    /// The point of the subspace with the least prediction of the refitted model; among equal ones, that of the full.
    fn predicted_best(&self, space: &Space, model: &Model, fit: &Fit, full: &Fit) -> Point {
        let value = |point: &Point| {
            (fit.predict(&model.row(space, point)), full.predict(&self.model.row(space, point)))
        };
        let better = |a: (f64, f64), b: (f64, f64)| {
            let close = (a.0 - b.0).abs() <= 1e-9 * (a.0.abs() + b.0.abs());
            if close { a.1 < b.1 } else { a.0 < b.0 }
        };
        let mut points = self.candidates.iter().chain(&self.known);
        let Some(first) = points.next() else { return Point::new(Vec::new()) };
        let mut best = (first, value(first));
        for point in points {
            let value = value(point);
            if better(value, best.1) {
                best = (point, value);
            }
        }
        let mut best = (best.0.clone(), best.1);
        if space.points().is_some() {
            return best.0;
        }
        // Candidates are a sample: walk on over neighbours in the free factors.
        loop {
            let next = space
                .neighbours(&best.0)
                .into_iter()
                .filter(|point| {
                    (0..point.levels().len()).all(|place| {
                        self.free.contains(&place) || point.levels()[place] == best.0.levels()[place]
                    })
                })
                .map(|point| {
                    let value = value(&point);
                    (point, value)
                })
                .reduce(|a, b| if better(b.1, a.1) { b } else { a });
            match next {
                Some(next) if better(next.1, best.1) => best = next,
                _ => return best.0,
            }
        }
    }
}

/// Random points of a space that is not listed, with the fixed levels where that is valid.
fn sampled(run: &mut Run<'_>, fixed: &[Option<u32>], most: usize) -> Result<Vec<Point>> {
    let space = run.space;
    let count = most.min(5_000);
    let set = |point: Point| {
        fixed.iter().enumerate().fold(point, |point, (place, level)| match level {
            Some(level) => point.with(place, *level),
            None => point,
        })
    };
    let drawn = space.sample_distinct(count, &mut run.rng)?;
    let mut points: Vec<Point> = drawn.into_iter().map(set).filter(|point| space.is_valid(point)).collect();
    points.extend(run.trials().iter().map(|trial| trial.point.clone()).filter(|p| set(p.clone()) == *p));
    points.sort();
    points.dedup();
    Ok(points)
}

/// The formula without terms that the points cannot tell from those before it, its model, and the model's matrix for
/// the candidates; `None` where no term is left.
fn identified(
    space: &Space,
    formula: &Formula,
    candidates: &[Point],
    known: &[Point],
) -> Result<Option<(Formula, Model, DMatrix<f64>)>> {
    let model = Model::new(formula, space, Contrasts::Treatment)?;
    let points: Vec<Point> = candidates.iter().chain(known).cloned().collect();
    let matrix = model.matrix(space, &points)?;
    let dependent = crate::doe::least_squares::dependent_columns(&matrix);
    if !dependent.contains(&true) {
        return Ok(Some((formula.clone(), model, matrix.rows(0, candidates.len()).into_owned())));
    }
    let lost = |term: usize| {
        model.term_of().iter().zip(&dependent).any(|(of, dependent)| *of == Some(term) && *dependent)
    };
    let terms: Vec<Term> = (0..formula.terms.len())
        .filter(|&term| !lost(term))
        .map(|term| formula.terms[term].clone())
        .collect();
    if terms.is_empty() {
        return Ok(None);
    }
    let formula = formula.with_terms(terms);
    let model = Model::new(&formula, space, Contrasts::Treatment)?;
    let matrix = model.matrix(space, candidates)?;
    Ok(Some((formula, model, matrix)))
}

/// Places of the parameters of a term.
pub(super) fn parameters_of(term: &Term, space: &Space) -> Vec<usize> {
    let names: Vec<&str> = space.parameters().iter().map(Parameter::name).collect();
    term.iter()
        .flat_map(|atom| match atom {
            Atom::Parameter(place) => vec![*place],
            Atom::Arithmetic { expression, .. } => {
                Expression::parse(expression, &names).map(|e| e.parameters().to_vec()).unwrap_or_default()
            }
        })
        .collect()
}
