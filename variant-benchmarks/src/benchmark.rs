//! What the benchmarks have in common: a function with variants, and inputs for it.

use crate::random::{Random, of_input};
use adaptive::model::Model;
use adaptive::{Builder, CodeVariant};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Seconds that a variant took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// For what is done once for an input, such as storing it in another format.
    pub once: f64,
    /// For each call.
    pub each: f64,
}

impl Spent {
    /// The time of so many calls on one input.
    pub fn over(self, calls: f64) -> f64 {
        self.once + calls * self.each
    }
}

/// What a variant says: how long it took, or why it has no result.
pub type Ran = Result<Spent, String>;

/// Does something and tells how long it took.
pub fn timed<T>(what: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = what();
    (result, start.elapsed().as_secs_f64())
}

/// A run that is nothing but one call.
pub fn one_call(what: impl FnOnce()) -> Ran {
    let ((), each) = timed(what);
    Ok(Spent { once: 0.0, each })
}

/// A run that stores the input in a format first; the call is done so often, the least time counts.
pub fn converted<T>(repeat: usize, convert: impl FnOnce() -> T, mut call: impl FnMut(&T)) -> Ran {
    let (format, once) = timed(convert);
    let each = (0..repeat.max(1)).map(|_| timed(|| call(&format)).1).fold(f64::INFINITY, f64::min);
    Ok(Spent { once, each })
}

/// An input of a benchmark.
pub struct Input<A> {
    /// Its name, which no other one has.
    pub name: String,
    /// What it is one of.
    pub family: String,
    /// Makes it, ready for a variant to work on.
    pub make: Box<dyn Fn() -> A + Send>,
}

/// Which inputs, and how large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inputs {
    /// Whether they are those that no model is trained on.
    pub held_out: bool,
    /// How many.
    pub count: usize,
    /// Elements of the largest ones.
    pub largest: usize,
}

/// A function with variants, and inputs for it.
pub trait Benchmark {
    /// What the function takes.
    type Argument: 'static;

    /// Its name, and that of its function.
    const NAME: &'static str;

    /// The family of inputs that is held out as a whole.
    const UNSEEN: &'static str;

    /// The function, its features and constraints, still without a model.
    fn function() -> Builder<Self::Argument, Ran>;

    /// Inputs. The same numbers give the same inputs; held-out ones are others, and have the family [`Self::UNSEEN`] beside the
    /// rest.
    fn inputs(inputs: &Inputs) -> Vec<Input<Self::Argument>>;

    /// Whether a variant has done what it is for.
    ///
    /// # Errors
    /// What is wrong with its result.
    fn check(argument: &Self::Argument) -> Result<(), String>;

    /// Inputs of training and held-out ones, at least as many as Table 3.4 has.
    const COUNTS: [usize; 2];

    /// Elements of the largest inputs where nothing else is said.
    const LARGEST: usize;

    /// Calls on one input that one choice, and one conversion, usually serve.
    const CALLS: f64;
}

/// The function of a benchmark, with a model if there is one.
///
/// # Errors
/// What is wrong with its description.
pub fn built<B: Benchmark>(model: Option<Model>) -> adaptive::Result<CodeVariant<B::Argument, Ran>> {
    match model {
        Some(model) => B::function().model(model).build(),
        None => B::function().build(),
    }
}

/// A family of inputs.
pub trait Family: Copy + Send + 'static {
    /// Its name.
    fn name(self) -> &'static str;

    /// What the names of its inputs begin with.
    fn label(self) -> String {
        self.name().to_owned()
    }
}

/// Inputs of the families in turn; the one that is not seen in training is among held-out ones alone. What is dear to make is kept
/// while the same input is asked for again, and made `ready` each time.
pub fn in_turn<F: Family, T: Send + Sync + 'static, A: 'static>(
    inputs: &Inputs,
    families: &[F],
    unseen: &str,
    make: fn(F, &Inputs, &mut Random) -> T,
    ready: fn(&T) -> A,
) -> Vec<Input<A>> {
    let families: Vec<F> =
        families.iter().copied().filter(|family| inputs.held_out || family.name() != unseen).collect();
    let shelf = Shelf::default();
    let one = |at: usize| {
        let (family, shelf, inputs) = (families[at % families.len()], shelf.clone(), *inputs);
        let made = move || make(family, &inputs, &mut of_input(inputs.held_out, at));
        Input {
            name: format!("{} {at}", family.label()),
            family: family.name().to_owned(),
            make: Box::new(move || ready(&shelf.get(at, made))),
        }
    };
    (0..inputs.count).map(one).collect()
}

/// Inputs made one at a time: what was made last is kept, and given again while it is asked for.
struct Shelf<T> {
    last: Arc<Mutex<Last<T>>>,
}

/// The number of what was made last, and that.
type Last<T> = Option<(usize, Arc<T>)>;

impl<T> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Shelf { last: Arc::clone(&self.last) }
    }
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Shelf { last: Arc::new(Mutex::new(None)) }
    }
}

impl<T> Shelf<T> {
    /// What has this number, made if it was not the last.
    fn get(&self, at: usize, make: impl FnOnce() -> T) -> Arc<T> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((own, kept)) if *own == at => Arc::clone(kept),
            _ => {
                // The one before goes first: both may not fit.
                *last = None;
                let made = Arc::new(make());
                *last = Some((at, Arc::clone(&made)));
                made
            }
        }
    }
}
