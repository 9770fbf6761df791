//! Sorting of floating point numbers: three variants.

mod generate;
mod keys;
mod locality;
mod merge;
mod radix;

pub use generate::Order;
pub use keys::{Key, Keys};
pub use locality::locality_sort;
pub use merge::merge_sort;
pub use radix::radix_sort;

use crate::benchmark::{Benchmark, Family, Input, Inputs, Ran, in_turn, one_call};
use crate::random::{Random, size};
use adaptive::{Builder, Context};

/// Neighbours that are looked at where not all are.
const SAMPLES: usize = 1000;

/// The benchmark. A sequence is in ascending order by `totalOrder` of IEEE 754: -NaN, -infinity, .., -0, 0, .., infinity, NaN.
pub struct Sort;

/// Keys in an order, of 64 bits or of 32.
#[derive(Clone, Copy)]
struct Wide {
    order: Order,
    wide: bool,
}

impl Family for Wide {
    fn name(self) -> &'static str {
        self.order.name()
    }

    fn label(self) -> String {
        format!("{}, {} bits,", self.name(), if self.wide { 64 } else { 32 })
    }
}

/// Keys to be sorted, and what they were.
#[derive(Clone)]
pub struct Sorting {
    /// The keys.
    pub keys: Keys,
    /// The same for every order of the same keys, and hardly for others.
    fingerprint: u64,
}

impl Sorting {
    /// Keys to be sorted.
    pub fn new(keys: Keys) -> Sorting {
        Sorting { fingerprint: keys.fingerprint(), keys }
    }
}

impl Benchmark for Sort {
    type Argument = Sorting;
    const NAME: &'static str = "sort";
    const UNSEEN: &'static str = "few values";
    const COUNTS: [usize; 2] = [240, 600];
    const LARGEST: usize = 20_000_000;
    const CALLS: f64 = 1.0;

    fn function() -> Builder<Sorting, Ran> {
        Builder::new(&Context::default(), Self::NAME)
            .variant("merge", |own: &mut Sorting| {
                one_call(|| match &mut own.keys {
                    Keys::F32(keys) => merge_sort(keys),
                    Keys::F64(keys) => merge_sort(keys),
                })
            })
            .variant("radix", |own| {
                one_call(|| match &mut own.keys {
                    Keys::F32(keys) => radix_sort(keys),
                    Keys::F64(keys) => radix_sort(keys),
                })
            })
            .variant("locality", |own| {
                one_call(|| match &mut own.keys {
                    Keys::F32(keys) => locality_sort(keys),
                    Keys::F64(keys) => locality_sort(keys),
                })
            })
            .feature("log_n", |own| (own.keys.len() as f64 + 1.0).ln())
            .feature("bits", |own| f64::from(own.keys.bits()))
            .feature("ascending_sequences", |own| own.keys.descents(1))
            .feature("ascending_sampled", |own| own.keys.descents(own.keys.len() / SAMPLES))
    }

    fn inputs(inputs: &Inputs) -> Vec<Input<Sorting>> {
        let both = Order::ALL.map(|order| [false, true].map(|wide| Wide { order, wide }));
        let make = |Wide { order, wide }: Wide, inputs: &Inputs, random: &mut Random| {
            let count = size(random, inputs.largest / 200, inputs.largest);
            Sorting::new(order.keys(count, wide, random))
        };
        in_turn(inputs, both.as_flattened(), Self::UNSEEN, make, Sorting::clone)
    }

    fn check(own: &Sorting) -> Result<(), String> {
        if let Some(at) = own.keys.first_descent() {
            return Err(format!("the keys at {at} and behind are not in order"));
        }
        match own.keys.fingerprint() == own.fingerprint {
            true => Ok(()),
            false => Err("the keys are not those that were given".to_owned()),
        }
    }
}
