//! A function with several variants: the constructs of Nitro's library (Table 2.1 of S. Muralidharan, "Abstractions and
//! strategies for adaptive programming", University of Utah, 2016).

use crate::context::Context;
use crate::error::{AdaptiveError, Result};
use crate::instance;
use crate::limits::MOST_FEATURES;
use crate::model::Model;
use crate::model_file;
use crate::note::Reason;
use crate::plan_cache::PlanCache;
use crate::selector::{Choice, Selector};
use rayon::prelude::*;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use trials::Value;
use tuner::{Point, Space};

type Run<A, R> = Box<dyn Fn(&mut A) -> R + Send + Sync>;
type RunWith<A, R> = Arc<dyn Fn(&mut A, &[Value]) -> R + Send + Sync>;
type Feature<A> = Box<dyn Fn(&A) -> f64 + Send + Sync>;
type Constraint<A> = Arc<dyn Fn(&A) -> bool + Send + Sync>;
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

/// What a variant does.
enum Body<A: ?Sized, R> {
    Plain(Run<A, R>),
    /// With values of parameters.
    Tunable(Tunable<A, R>),
}

/// What a variant does, with the values of its parameters.
enum Code<A: ?Sized, R> {
    Plain(Run<A, R>),
    Instance(RunWith<A, R>, Vec<Value>),
}

/// A variant with parameters, and where a search begins.
struct Tunable<A: ?Sized, R> {
    space: Space,
    start: Point,
    run: RunWith<A, R>,
}

/// An instance of a variant with parameters.
struct Instance<A: ?Sized, R> {
    tunable: Arc<(String, Tunable<A, R>)>,
    point: Point,
}

/// A function with variants: what takes an `A` and gives an `R`. Variants get the argument as `&mut A`, features and
/// constraints as `&A`; several arguments are a struct or a tuple. Clones are the same function, for any number of threads.
pub struct CodeVariant<A: ?Sized, R> {
    inner: Arc<Inner<A, R>>,
}

struct Inner<A: ?Sized, R> {
    selector: Selector,
    variants: Vec<Code<A, R>>,
    /// For each variant the one with parameters that it is an instance of.
    instances: Vec<Option<Instance<A, R>>>,
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
    variants: Vec<(String, Body<A, R>)>,
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
        self.variants.push((name.to_owned(), Body::Plain(Box::new(run))));
        self
    }

    /// Adds a variant with parameters, which gets their values in the order of the space. A model names values that suit the input;
    /// without one, it runs with those of `start`, the first level of parameters that are not stated.
    ///
    /// # Errors
    /// A start that is no point of the space.
    pub fn tunable(
        mut self,
        name: &str,
        space: Space,
        start: &[(&str, Value)],
        run: impl Fn(&mut A, &[Value]) -> R + Send + Sync + 'static,
    ) -> Result<Self> {
        let stated: Vec<(String, Value)> =
            start.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let start = instance::start(name, &space, &stated)?;
        let tunable = Tunable { space, start, run: Arc::new(run) };
        self.variants.push((name.to_owned(), Body::Tunable(tunable)));
        Ok(self)
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
        self.constraints.push((variant.to_owned(), Arc::new(holds)));
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
    pub fn build(mut self) -> Result<CodeVariant<A, R>> {
        let bases: Vec<String> = self.variants.iter().map(|(name, _)| name.clone()).collect();
        let has_parameters = self.variants.iter().any(|(_, body)| matches!(body, Body::Tunable(_)));
        if has_parameters && self.model.is_none() {
            // Which instances there are is said by the model. What is wrong with it is told below.
            let found = self.context.model_file(&self.name).and_then(|path| model_file::load(&path).ok());
            self.model = found.map(Arc::new);
        }
        let place = |name: &str| {
            let place = bases.iter().position(|own| own == name);
            place.ok_or_else(|| AdaptiveError::unknown("variant", name, &bases))
        };
        let default_base = self.default.as_deref().map_or(Ok(0), place)?;
        let known = self.model.as_ref().map(|model| model.variants.clone());
        let (mut names, mut variants, mut instances, mut origins) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut default = 0;
        for (base, (name, body)) in std::mem::take(&mut self.variants).into_iter().enumerate() {
            if base == default_base {
                default = names.len();
            }
            let tunable = match body {
                Body::Plain(run) => {
                    names.push(name);
                    variants.push(Code::Plain(run));
                    instances.push(None);
                    origins.push(base);
                    continue;
                }
                Body::Tunable(tunable) => Arc::new((name, tunable)),
            };
            let (name, Tunable { space, start, .. }) = &*tunable;
            let mut points: Vec<Point> = known
                .iter()
                .flatten()
                .filter_map(|own| instance::point(name, space, own))
                .filter(|point| point != start)
                .collect();
            // A model need not have the values with which the search began, but of the default.
            let named =
                known.as_ref().is_some_and(|known| known.contains(&instance::name(name, space, start)));
            if known.is_none() || named || base == default_base {
                points.insert(0, start.clone());
            }
            for point in points {
                let (run, values) = (Arc::clone(&tunable.1.run), tunable.1.space.values(&point));
                names.push(instance::name(name, space, &point));
                variants.push(Code::Instance(run, values));
                instances.push(Some(Instance { tunable: Arc::clone(&tunable), point }));
                origins.push(base);
            }
        }
        let (feature_names, features): (Vec<String>, Vec<Feature<A>>) = self.features.into_iter().unzip();
        let mut constraints: Vec<Vec<Constraint<A>>> = names.iter().map(|_| Vec::new()).collect();
        for (name, holds) in self.constraints {
            let base = place(&name)?;
            for (own, _) in constraints.iter_mut().zip(&origins).filter(|(_, origin)| **origin == base) {
                own.push(Arc::clone(&holds));
            }
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
            inner: Arc::new(Inner { selector, variants, instances, functions, cache: PlanCache::default() }),
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

    /// The parameters of a variant, and the values that it has; none for a variant without.
    pub fn parameters(&self, variant: usize) -> Option<(&Space, &Point)> {
        let Instance { tunable, point } = self.inner.instances.get(variant)?.as_ref()?;
        Some((&tunable.1.space, point))
    }

    /// Whether a variant is the first instance of the one with parameters that it is of, or has none.
    pub(crate) fn is_first_instance(&self, variant: usize) -> bool {
        let of = |at: &Option<Instance<A, R>>| at.as_ref().map(|own| Arc::clone(&own.tunable));
        let instances = &self.inner.instances;
        let Some(own) = instances.get(variant).and_then(of) else { return true };
        !instances[..variant].iter().filter_map(of).any(|other| Arc::ptr_eq(&own, &other))
    }

    /// The name of a variant with other values of its parameters; its own where it has none.
    pub fn instance_name(&self, variant: usize, point: &Point) -> String {
        match self.inner.instances.get(variant).and_then(Option::as_ref) {
            Some(Instance { tunable, .. }) => instance::name(&tunable.0, &tunable.1.space, point),
            None => self.inner.selector.variants().get(variant).cloned().unwrap_or_default(),
        }
    }

    /// The point that a name of an instance of a variant stands for.
    pub fn point_of(&self, variant: usize, name: &str) -> Option<Point> {
        let Instance { tunable, .. } = self.inner.instances.get(variant)?.as_ref()?;
        instance::point(&tunable.0, &tunable.1.space, name)
    }

    /// Runs a variant with these values of its parameters, whatever a model or a constraint says.
    ///
    /// # Panics
    /// Where the variant does, or is none.
    pub fn run_with(&self, variant: usize, point: &Point, input: &mut A) -> R {
        match &self.inner.instances[variant] {
            Some(Instance { tunable, .. }) => {
                let tunable = &tunable.1;
                (tunable.run)(input, &tunable.space.values(point))
            }
            None => self.run(variant, input),
        }
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
        match &self.inner.variants[variant] {
            Code::Plain(run) => run(input),
            Code::Instance(run, values) => run(input, values),
        }
    }
}
