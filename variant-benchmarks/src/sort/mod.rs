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

use crate::benchmark::{Benchmark, Input, Inputs, Ran, Shelf, one_call};
use crate::random::{of_input, size};
use adaptive::{Builder, Context};

/// Neighbours that are looked at where not all are.
const SAMPLES: usize = 1000;

/// The benchmark. A sequence is in ascending order by `totalOrder` of IEEE 754: -NaN, -infinity, .., -0, 0, .., infinity, NaN.
pub struct Sort;

/// Keys to be sorted, and what they were.
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
    const COUNTS: [usize; 2] = [120, 600];
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
        let shelf = Shelf::default();
        let orders: Vec<Order> =
            Order::ALL.into_iter().filter(|order| inputs.held_out || order.name() != Self::UNSEEN).collect();
        let one = |at: usize| {
            let (order, wide) = (orders[at / 2 % orders.len()], at % 2 == 1);
            let (shelf, inputs) = (shelf.clone(), *inputs);
            let make = move || {
                let mut random = of_input(inputs.held_out, at);
                let count = size(&mut random, inputs.largest / 200, inputs.largest);
                let keys = order.keys(count, wide, &mut random);
                (keys.fingerprint(), keys)
            };
            Input {
                name: format!("{}, {} bits, {at}", order.name(), if wide { 64 } else { 32 }),
                family: order.name().to_owned(),
                make: Box::new(move || {
                    let (fingerprint, keys) = &*shelf.get(at, make);
                    Sorting { keys: keys.clone(), fingerprint: *fingerprint }
                }),
            }
        };
        (0..inputs.count).map(one).collect()
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
