//! Histograms: three ways to count, with even shares or a queue.

mod count;
mod generate;

pub use count::{Share, atomic, private, sorted};
pub use generate::Kind;

use crate::benchmark::{Benchmark, Input, Inputs, Ran, in_turn, one_call};
use crate::random::{Random, size};
use adaptive::{Builder, Context};
use rand::Rng;
use std::sync::Arc;

/// Values of the smallest inputs: fewer are counted sooner than anything is chosen.
const LEAST: usize = 50_000;
/// Values of a subsequence whose deviation is a feature.
const SUBSAMPLE: usize = 10_000;

/// Values to be counted.
pub struct Counting {
    values: Arc<Vec<u16>>,
    /// How often each bin was met.
    pub counts: Vec<u32>,
}

impl Counting {
    /// Values, each of which is its bin.
    ///
    /// # Errors
    /// A value that is no bin; more values than 32 bits count.
    pub fn new(values: Arc<Vec<u16>>, bins: usize) -> Result<Counting, String> {
        if u32::try_from(values.len()).is_err() {
            return Err(format!("{} values are too many", values.len()));
        }
        match values.iter().find(|value| usize::from(**value) >= bins) {
            Some(value) => Err(format!("the value {value} is none of {bins} bins")),
            None => Ok(Counting { values, counts: vec![u32::MAX; bins] }),
        }
    }

    /// The values.
    pub fn values(&self) -> &[u16] {
        &self.values
    }

    fn deviation(&self) -> f64 {
        let length = SUBSAMPLE.min(self.values.len() / 4);
        let first = (self.values.len() - length) / 2;
        let sample = self.values[first..first + length].iter().map(|&value| f64::from(value));
        let count = length.max(1) as f64;
        let mean = sample.clone().sum::<f64>() / count;
        (sample.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
    }
}

/// A way to count.
type Count = fn(&[u16], &mut [u32], Share);

/// The benchmark.
pub struct Histogram;

impl Benchmark for Histogram {
    type Argument = Counting;
    const NAME: &'static str = "histogram";
    const UNSEEN: &'static str = "stripes";
    const COUNTS: [usize; 2] = [200, 1291];
    const LARGEST: usize = 10_000_000;
    const CALLS: f64 = 1.0;

    fn function() -> Builder<Counting, Ran> {
        let ways: [(&str, Count); 3] = [("private", private), ("atomic", atomic), ("sort", sorted)];
        let mut builder = Builder::new(&Context::default(), Self::NAME);
        for (name, count) in ways {
            for (schedule, share) in [("even", Share::Even), ("dynamic", Share::Dynamic)] {
                builder = builder.variant(&format!("{name}-{schedule}"), move |own: &mut Counting| {
                    one_call(|| count(&own.values, &mut own.counts, share))
                });
            }
        }
        builder
            .feature("log_n", |own| (own.values.len() as f64 + 1.0).ln())
            .feature("log_n_per_bin", |own| {
                ((own.values.len() as f64 + 1.0) / own.counts.len().max(1) as f64).ln()
            })
            .feature("subsample_sd", Counting::deviation)
    }

    fn inputs(inputs: &Inputs) -> Vec<Input<Counting>> {
        let make = |kind: Kind, inputs: &Inputs, random: &mut Random| {
            let bins = 1 << random.random_range(8..=16);
            let count = size(random, LEAST.min(inputs.largest), inputs.largest);
            (Arc::new(kind.values(count, bins, random)), bins)
        };
        in_turn(inputs, &Kind::ALL, Self::UNSEEN, make, |(values, bins)| Counting {
            values: Arc::clone(values),
            counts: vec![u32::MAX; *bins],
        })
    }

    fn check(own: &Counting) -> Result<(), String> {
        let mut wanted = vec![0; own.counts.len()];
        own.values.iter().for_each(|&value| wanted[usize::from(value)] += 1);
        match own.counts.iter().zip(&wanted).position(|(found, wanted)| found != wanted) {
            Some(bin) => Err(format!("bin {bin} has {}, not {}", own.counts[bin], wanted[bin])),
            None => Ok(()),
        }
    }
}
