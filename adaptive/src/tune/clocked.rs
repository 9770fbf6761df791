//! Variants at several clock frequencies: pairs are measured, and two models say the variant and the frequency.
//!
//! S. Muralidharan, "Abstractions and strategies for adaptive programming", University of Utah, 2016, section 4.1.2. A pair is a variant
//! named `radix@852`; what is measured of pairs is one table, of which [`split`] makes that of the variants and that of the frequencies.

use super::workload::{Evaluated, Workload};
use crate::error::{AdaptiveError, Result};
use crate::limits::MOST_VARIANTS;
use crate::model::Model;
use crate::table::{Row, Table};
use crate::train::{TrainOptions, Trained, train};
use serde::Serialize;
use toolchain::clocks::Clocks;
use trials::{Outcome, Setting};

/// What stands between a variant and its frequency in MHz.
const AT: char = '@';
/// What the model of frequencies is named after the function's name.
pub const FREQUENCY: &str = "frequency";

/// Sets frequencies.
pub trait SetClock: Send {
    /// Sets a frequency in MHz.
    ///
    /// # Errors
    /// What the system says.
    fn set(&mut self, mhz: u32) -> Result<()>;
}

impl SetClock for Clocks {
    fn set(&mut self, mhz: u32) -> Result<()> {
        Clocks::set(self, mhz).map_err(|error| AdaptiveError::infeasible(error.to_string(), ""))
    }
}

/// A workload whose variants run at several frequencies.
pub struct Clocked<'a> {
    inner: &'a mut dyn Workload,
    clocks: &'a mut dyn SetClock,
    variants: Vec<String>,
    frequencies: Vec<u32>,
}

impl<'a> Clocked<'a> {
    /// All variants at these frequencies, in MHz.
    ///
    /// # Errors
    /// No frequency, too many pairs, a variant that has the sign of pairs in its name.
    pub fn new(
        inner: &'a mut dyn Workload,
        clocks: &'a mut dyn SetClock,
        frequencies: &[u32],
    ) -> Result<Clocked<'a>> {
        let mut frequencies = frequencies.to_vec();
        frequencies.sort_unstable();
        frequencies.dedup();
        let pairs = frequencies.len() * inner.variants().len();
        if pairs == 0 || pairs > MOST_VARIANTS {
            let reason =
                format!("{pairs} pairs of variants and frequencies, where 1 to {MOST_VARIANTS} can be");
            return Err(AdaptiveError::request(reason, "name fewer frequencies"));
        }
        if let Some(name) = inner.variants().iter().find(|name| name.contains(AT)) {
            return Err(AdaptiveError::request(
                format!("variant `{name}` has a `{AT}` in its name"),
                "rename it",
            ));
        }
        let variants = inner
            .variants()
            .iter()
            .flat_map(|name| frequencies.iter().map(move |mhz| format!("{name}{AT}{mhz}")));
        Ok(Clocked { variants: variants.collect(), inner, clocks, frequencies })
    }

    fn greatest(&self) -> u32 {
        self.frequencies.last().copied().unwrap_or(0)
    }
}

impl Workload for Clocked<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn variants(&self) -> &[String] {
        &self.variants
    }

    /// At the greatest frequency.
    fn default_variant(&self) -> usize {
        (self.inner.default_variant() + 1) * self.frequencies.len() - 1
    }

    fn features(&self) -> &[String] {
        self.inner.features()
    }

    fn inputs(&self) -> &[String] {
        self.inner.inputs()
    }

    fn family(&self, input: usize) -> &str {
        self.inner.family(input)
    }

    fn evaluate(&mut self, input: usize) -> Result<Vec<Evaluated>> {
        self.clocks.set(self.greatest())?;
        self.inner.evaluate(input)
    }

    fn is_allowed(&mut self, input: usize, variant: usize, features: &[f64]) -> Result<bool> {
        self.inner.is_allowed(input, variant / self.frequencies.len(), features)
    }

    fn measure(&mut self, input: usize, variant: usize) -> Result<Outcome> {
        let count = self.frequencies.len();
        self.clocks.set(self.frequencies[variant % count])?;
        self.inner.measure(input, variant / count)
    }

    fn cutoff(&self) -> Option<f64> {
        self.inner.cutoff()
    }

    fn setting(&self) -> Setting {
        self.inner.setting()
    }
}

/// The variants and frequencies of a table of pairs, and for each pair the places of both.
struct Pairs {
    variants: Vec<String>,
    frequencies: Vec<u32>,
    places: Vec<(usize, usize)>,
}

fn pairs(table: &Table) -> Result<Pairs> {
    let mut pairs = Pairs { variants: Vec::new(), frequencies: Vec::new(), places: Vec::new() };
    let mut named = Vec::new();
    for name in &table.variants {
        let pair = name.rsplit_once(AT).and_then(|(name, mhz)| Some((name, mhz.parse::<u32>().ok()?)));
        let (name, mhz) = pair.ok_or_else(|| {
            let reason = format!("`{name}` is no variant at a frequency");
            AdaptiveError::request(reason, "name all variants like radix@852, in MHz")
        })?;
        named.push((name.to_owned(), mhz));
    }
    for (name, mhz) in &named {
        if !pairs.variants.contains(name) {
            pairs.variants.push(name.clone());
        }
        if !pairs.frequencies.contains(mhz) {
            pairs.frequencies.push(*mhz);
        }
    }
    pairs.frequencies.sort_unstable();
    for (name, mhz) in &named {
        let variant = pairs.variants.iter().position(|own| own == name).unwrap_or(0);
        let frequency = pairs.frequencies.iter().position(|own| own == mhz).unwrap_or(0);
        pairs.places.push((variant, frequency));
    }
    Ok(pairs)
}

/// The tables of variants and of frequencies of a table of pairs: a variant costs what it does at its best frequency, and a frequency what
/// its best variant does, so that the labels of both are those of the best pair.
///
/// # Errors
/// A variant that is none at a frequency.
pub fn split(table: &Table) -> Result<(Table, Table)> {
    let Pairs { variants, frequencies, places } = pairs(table)?;
    let (default, _) = places.get(table.default).copied().unwrap_or_default();
    let part = |name: String, names: Vec<String>, default: usize, of: &dyn Fn(&(usize, usize)) -> usize| {
        let row = |row: &Row| {
            let mut costs = vec![f64::INFINITY; names.len()];
            for (place, &cost) in places.iter().zip(&row.costs) {
                costs[of(place)] = costs[of(place)].min(cost);
            }
            let known = !row.costs.is_empty();
            // What may be run at no frequency may not be run.
            let all = |own: usize| {
                (0..places.len()).filter(|&at| of(&places[at]) == own).all(|at| row.forbidden.contains(&at))
            };
            let forbidden = (0..names.len()).filter(|&own| all(own)).collect();
            Row { costs: if known { costs } else { Vec::new() }, forbidden, ..row.clone() }
        };
        Table {
            name,
            default,
            rows: table.rows.iter().map(row).collect(),
            variants: names.clone(),
            ..table.clone()
        }
    };
    let names = frequencies.iter().map(u32::to_string).collect();
    let of_frequencies = format!("{} {FREQUENCY}", table.name);
    Ok((
        part(table.name.clone(), variants, default, &|place| place.0),
        part(of_frequencies, names, frequencies.len() - 1, &|place| place.1),
    ))
}

/// Two models, which together say a pair.
#[derive(Debug)]
pub struct TrainedPair {
    /// Of the variants.
    pub variant: Trained,
    /// Of the frequencies, whose names are MHz.
    pub frequency: Trained,
}

/// Trains both models on some rows of a table of pairs.
///
/// # Errors
/// A table that is none of pairs; no input that a variant solves.
pub fn train_pair(
    table: &Table,
    rows: &[usize],
    features: &[usize],
    options: &TrainOptions,
) -> Result<TrainedPair> {
    let (variants, frequencies) = split(table)?;
    Ok(TrainedPair {
        variant: train(&variants, rows, features, options)?,
        frequency: train(&frequencies, rows, features, options)?,
    })
}

/// What two models are worth together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairEvaluation {
    /// Inputs that some pair solves.
    pub inputs: usize,
    /// Mean performance of the chosen pairs: the best pair's cost over that of the chosen one.
    pub performance: f64,
    /// The least one.
    pub least: f64,
    /// Share of the inputs for which the best variant is chosen.
    pub variants_right: f64,
    /// Share of the inputs for which the best frequency is chosen.
    pub frequencies_right: f64,
    /// Each variant at the greatest frequency: its name, and its mean performance.
    pub at_greatest: Vec<(String, f64)>,
    /// The pair that is the best for all inputs, and its mean performance.
    pub best_single: (String, f64),
    /// For how many inputs each frequency is the best, and for how many it is chosen, the lowest first.
    pub frequencies: Vec<(u32, usize, usize)>,
    /// The chosen pair of each of these inputs.
    #[serde(skip)]
    pub chosen: Vec<usize>,
}

/// Judges two models by the labelled rows of a table of pairs.
///
/// # Errors
/// Models of other variants or features; no input that a pair solves.
pub fn evaluate_pair(variant: &Model, frequency: &Model, table: &Table) -> Result<PairEvaluation> {
    let Pairs { variants, frequencies, places } = pairs(table)?;
    let features = |model: &Model| -> Result<Vec<usize>> {
        let place = |name: &String| {
            let place = table.features.iter().position(|own| own == name);
            place.ok_or_else(|| AdaptiveError::unknown("feature", name, &table.features))
        };
        model.feature_names().iter().map(place).collect()
    };
    let of = [features(variant)?, features(frequency)?];
    let names: Vec<String> = frequencies.iter().map(u32::to_string).collect();
    let choose = |model: &Model, row: &Row, features: &[usize], names: &[String]| -> Result<usize> {
        let point: Vec<f64> = features.iter().map(|&at| row.features[at]).collect();
        let known = point.iter().all(|value| value.is_finite());
        let name = &model.variants[if known { model.best(&point) } else { model.default }];
        let place = names.iter().position(|own| own == name);
        place.ok_or_else(|| AdaptiveError::unknown("variant", name, names))
    };
    let (mut shares, mut right, mut chosen) = (Vec::new(), [0, 0], Vec::new());
    let mut counts: Vec<(u32, usize, usize)> = frequencies.iter().map(|&mhz| (mhz, 0, 0)).collect();
    let rows: Vec<&Row> = table.rows.iter().filter(|row| row.label().is_some()).collect();
    for row in &rows {
        let own = (choose(variant, row, &of[0], &variants)?, choose(frequency, row, &of[1], &names)?);
        // A pair that was not measured solves nothing.
        let at = places.iter().position(|place| *place == own);
        shares.push(at.and_then(|at| row.performance(at, 0.0)).unwrap_or(0.0));
        chosen.push(at.unwrap_or(table.default));
        counts[own.1].2 += 1;
        if let Some(best) = row.label().map(|best| places[best]) {
            right[0] += usize::from(best.0 == own.0);
            right[1] += usize::from(best.1 == own.1);
            counts[best.1].1 += 1;
        }
    }
    if rows.is_empty() {
        let reason = format!("no labelled input of `{}` is solved by a pair", table.name);
        return Err(AdaptiveError::infeasible(reason, "name other inputs"));
    }
    let count = rows.len() as f64;
    let always = |at: usize| rows.iter().filter_map(|row| row.performance(at, 0.0)).sum::<f64>() / count;
    let last = frequencies.len() - 1;
    let greatest = (0..places.len()).filter(|&at| places[at].1 == last);
    let single = (0..places.len()).map(|at| (at, always(at)));
    let best = single.reduce(|best, own| if own.1 > best.1 { own } else { best }).unwrap_or_default();
    Ok(PairEvaluation {
        inputs: rows.len(),
        performance: shares.iter().sum::<f64>() / count,
        least: shares.iter().copied().fold(f64::INFINITY, f64::min),
        variants_right: f64::from(right[0] as u32) / count,
        frequencies_right: f64::from(right[1] as u32) / count,
        at_greatest: greatest.map(|at| (variants[places[at].0].clone(), always(at))).collect(),
        best_single: (table.variants[best.0].clone(), best.1),
        frequencies: counts,
        chosen,
    })
}
