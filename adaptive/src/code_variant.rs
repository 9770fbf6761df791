//! A function with several variants: the constructs of Nitro's library (Table 2.1 of S. Muralidharan, "Abstractions and
//! strategies for adaptive programming", University of Utah, 2016).

use crate::context::Context;
use crate::error::{AdaptiveError, Result};
use crate::limits::MOST_FEATURES;
use crate::model::Model;
use crate::note::Reason;
use crate::plan_cache::PlanCache;
use crate::selector::{Choice, Selector};
use rayon::prelude::*;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Run<A, R> = Box<dyn Fn(&mut A) -> R + Send + Sync>;
type Feature<A> = Box<dyn Fn(&A) -> f64 + Send + Sync>;
type Constraint<A> = Box<dyn Fn(&A) -> bool + Send + Sync>;
type Shape<A> = Box<dyn Fn(&A) -> u64 + Send + Sync>;

/// Evaluates features into a slice; false where one has no value.
type Evaluate<A> = fn(&Functions<A>, &Selector, &A, &mut [f64]) -> bool;
/// Says of all variants at once whether they are allowed.
type AllowedAll<A> = fn(&Functions<A>, &Selector, &A) -> u64;

/// What a function knows of its inputs.
struct Functions<A: ?Sized> {
    features: Vec<Feature<A>>,
    /// Those of each variant.
    constraints: Vec<Vec<Constraint<A>>>,
    shape: Option<Shape<A>>,
    /// In place of one after the other.
    evaluate: Evaluate<A>,
    allowed_all: Option<AllowedAll<A>>,
}

/// A function with variants: what takes an `A` and gives an `R`. Variants get the argument as `&mut A`, features and
/// constraints as `&A`; several arguments are a struct or a tuple. Clones are the same function, for any number of threads.
pub struct CodeVariant<A: ?Sized, R> {
    inner: Arc<Inner<A, R>>,
}

struct Inner<A: ?Sized, R> {
    selector: Selector,
    variants: Vec<Run<A, R>>,
    functions: Functions<A>,
    cache: PlanCache,
}

impl<A: ?Sized, R> Clone for CodeVariant<A, R> {
    fn clone(&self) -> Self {
        CodeVariant { inner: Arc::clone(&self.inner) }
    }
}

impl<A: ?Sized, R> fmt::Debug for CodeVariant<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeVariant").field("selector", &self.inner.selector).finish_non_exhaustive()
    }
}

/// A function with variants on the way.
pub struct Builder<A: ?Sized, R> {
    context: Context,
    name: String,
    variants: Vec<(String, Run<A, R>)>,
    default: Option<String>,
    features: Vec<(String, Feature<A>)>,
    constraints: Vec<(String, Constraint<A>)>,
    shape: Option<Shape<A>>,
    model: Option<Arc<Model>>,
    evaluate: Evaluate<A>,
    allowed_all: Option<AllowedAll<A>>,
}

impl<A: ?Sized, R> Builder<A, R> {
    /// A function of this name, which is also that of its model's file.
    pub fn new(context: &Context, name: &str) -> Builder<A, R> {
        Builder {
            context: context.clone(),
            name: name.to_owned(),
            variants: Vec::new(),
            default: None,
            features: Vec::new(),
            constraints: Vec::new(),
            shape: None,
            model: None,
            evaluate: evaluate_in_turn,
            allowed_all: None,
        }
    }

    /// Adds a variant. All variants do the same, each in its way.
    pub fn variant(mut self, name: &str, run: impl Fn(&mut A) -> R + Send + Sync + 'static) -> Self {
        self.variants.push((name.to_owned(), Box::new(run)));
        self
    }

    /// Names the variant that is right for every input; the first one where none is named.
    pub fn default_variant(mut self, name: &str) -> Self {
        self.default = Some(name.to_owned());
        self
    }

    /// Adds a feature: a number that says something of the input.
    pub fn feature(mut self, name: &str, feature: impl Fn(&A) -> f64 + Send + Sync + 'static) -> Self {
        self.features.push((name.to_owned(), Box::new(feature)));
        self
    }

    /// Adds a constraint: where it is false, the variant is not run. All constraints of a variant must hold.
    pub fn constraint(mut self, variant: &str, holds: impl Fn(&A) -> bool + Send + Sync + 'static) -> Self {
        self.constraints.push((variant.to_owned(), Box::new(holds)));
        self
    }

    /// Keeps decisions by a number that stands for the shape of an input: where it is known, features are not evaluated. The
    /// features must depend on nothing else; the constraint of the variant is asked all the same.
    pub fn cached_by(mut self, shape: impl Fn(&A) -> u64 + Send + Sync + 'static) -> Self {
        self.shape = Some(Box::new(shape));
        self
    }

    /// Uses this model in place of the one in the context's folder.
    pub fn model(mut self, model: Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// The function.
    ///
    /// # Errors
    /// No variant, two of one name, a default or a constraint of a variant that is not there. A model that is missing or of
    /// another function is none: the context is told, and the default runs.
    pub fn build(self) -> Result<CodeVariant<A, R>> {
        let (names, variants): (Vec<String>, Vec<Run<A, R>>) = self.variants.into_iter().unzip();
        let (feature_names, features): (Vec<String>, Vec<Feature<A>>) = self.features.into_iter().unzip();
        let place = |name: &str| {
            let place = names.iter().position(|own| own == name);
            place.ok_or_else(|| AdaptiveError::unknown("variant", name, &names))
        };
        let default = self.default.as_deref().map_or(Ok(0), place)?;
        let mut constraints: Vec<Vec<Constraint<A>>> = names.iter().map(|_| Vec::new()).collect();
        for (name, holds) in self.constraints {
            constraints[place(&name)?].push(holds);
        }
        let selector = match self.model {
            Some(model) => {
                Selector::with_model(&self.context, &self.name, &names, default, &feature_names, model)?
            }
            None => Selector::new(&self.context, &self.name, &names, default, &feature_names)?,
        };
        let functions = Functions {
            features,
            constraints,
            shape: self.shape,
            evaluate: self.evaluate,
            allowed_all: self.allowed_all,
        };
        Ok(CodeVariant {
            inner: Arc::new(Inner { selector, variants, functions, cache: PlanCache::default() }),
        })
    }
}

impl<A: ?Sized + Sync, R> Builder<A, R> {
    /// Evaluates features at the same time, on the threads of rayon: where each of them takes long.
    pub fn parallel_features(mut self) -> Self {
        self.evaluate = evaluate_at_once;
        self
    }

    /// Evaluates the constraints of all variants at the same time, in place of one after the other until one holds.
    pub fn parallel_constraints(mut self) -> Self {
        self.allowed_all = Some(allowed_at_once);
        self
    }
}

/// A feature's value, if it is a finite number; what it is instead is told.
fn value<A: ?Sized>(functions: &Functions<A>, selector: &Selector, at: usize, input: &A) -> Option<f64> {
    match catch_unwind(AssertUnwindSafe(|| functions.features[at](input))) {
        Ok(value) if value.is_finite() => Some(value),
        Ok(_) => {
            selector.feature_failed(at, "is no finite number");
            None
        }
        Err(_) => {
            selector.feature_failed(at, "panicked");
            None
        }
    }
}

fn evaluate_in_turn<A: ?Sized>(
    functions: &Functions<A>,
    selector: &Selector,
    input: &A,
    values: &mut [f64],
) -> bool {
    for (own, &at) in values.iter_mut().zip(selector.needed()) {
        match value(functions, selector, at, input) {
            Some(value) => *own = value,
            None => return false,
        }
    }
    true
}

fn evaluate_at_once<A: ?Sized + Sync>(
    functions: &Functions<A>,
    selector: &Selector,
    input: &A,
    values: &mut [f64],
) -> bool {
    let each = values.par_iter_mut().zip(selector.needed()).map(|(own, &at)| {
        let value = value(functions, selector, at, input);
        *own = value.unwrap_or(0.0);
        value.is_some()
    });
    each.reduce(|| true, |a, b| a && b)
}

fn allowed<A: ?Sized>(functions: &Functions<A>, selector: &Selector, at: usize, input: &A) -> bool {
    let hold = || functions.constraints[at].iter().all(|constraint| constraint(input));
    catch_unwind(AssertUnwindSafe(hold)).unwrap_or_else(|_| {
        selector.constraint_failed(at);
        false
    })
}

fn allowed_at_once<A: ?Sized + Sync>(functions: &Functions<A>, selector: &Selector, input: &A) -> u64 {
    let each = (0..functions.constraints.len()).into_par_iter();
    each.map(|at| u64::from(allowed(functions, selector, at, input)) << at).reduce(|| 0, |a, b| a | b)
}

impl<A: ?Sized, R> CodeVariant<A, R> {
    /// A function of this name, which is also that of its model's file.
    pub fn builder(context: &Context, name: &str) -> Builder<A, R> {
        Builder::new(context, name)
    }

    /// Names, model and default.
    pub fn selector(&self) -> &Selector {
        &self.inner.selector
    }

    /// Whether a variant may be run for an input.
    pub fn is_allowed(&self, variant: usize, input: &A) -> bool {
        let inner = &*self.inner;
        variant < inner.variants.len() && allowed(&inner.functions, &inner.selector, variant, input)
    }

    /// A feature of an input; `None` where it panicked or is no finite number.
    pub fn feature(&self, at: usize, input: &A) -> Option<f64> {
        let inner = &*self.inner;
        (at < inner.functions.features.len())
            .then(|| value(&inner.functions, &inner.selector, at, input))
            .flatten()
    }

    /// Chooses a variant for an input.
    pub fn choose(&self, input: &A) -> Choice {
        let inner = &*self.inner;
        let (selector, functions) = (&inner.selector, &inner.functions);
        let shape = match &functions.shape {
            // What is forced is not kept: a model would be asked later.
            Some(shape) if selector.forced().is_none() && selector.model().is_some() => {
                catch_unwind(AssertUnwindSafe(|| shape(input))).ok()
            }
            _ => None,
        };
        if let Some(variant) = shape.and_then(|shape| inner.cache.get(shape))
            && variant < inner.variants.len()
            && (variant == selector.default_variant() || allowed(functions, selector, variant, input))
        {
            let choice = Choice { variant, reason: Reason::Cached };
            selector.decided(choice, &[]);
            return choice;
        }
        let mut values = [0.0; MOST_FEATURES];
        let values = &mut values[..selector.needed().len()];
        let evaluated = (functions.evaluate)(functions, selector, input, values);
        let choice = self.choose_by(evaluated.then_some(&*values), input);
        if let (Some(shape), Reason::Model) = (shape, choice.reason) {
            inner.cache.put(shape, choice.variant);
        }
        choice
    }

    /// Chooses by features that are known.
    pub(crate) fn choose_by(&self, values: Option<&[f64]>, input: &A) -> Choice {
        let (selector, functions) = (&self.inner.selector, &self.inner.functions);
        match functions.allowed_all {
            Some(at_once) => {
                let all = at_once(functions, selector, input);
                selector.choose(values, &|variant| all >> variant & 1 == 1)
            }
            None => selector.choose(values, &|variant| allowed(functions, selector, variant, input)),
        }
    }

    /// Chooses a variant and runs it.
    pub fn call(&self, input: &mut A) -> R {
        let choice = self.choose(input);
        self.run(choice.variant, input)
    }

    /// Runs a variant, whatever a model or a constraint says.
    ///
    /// # Panics
    /// Where the variant does, or is none.
    pub fn run(&self, variant: usize, input: &mut A) -> R {
        self.inner.variants[variant](input)
    }
}
