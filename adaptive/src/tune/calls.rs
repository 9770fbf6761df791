//! Functions of this program as a workload: variants are called and timed.

use super::workload::{Evaluated, Workload};
use crate::code_variant::CodeVariant;
use crate::error::Result;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use toolchain::machine::{cpu_name, processor_id};
use trials::{Metric, Outcome, Setting, Status};
use tuner::{Point, Space};

/// Makes an input, anew for each call: variants may change it.
type Make<A> = Box<dyn Fn() -> A + Send>;
/// Looks at a result: it may add metrics, and change the status of what is wrong or did not converge.
type Check<A, R> = Box<dyn Fn(&A, &R, &mut Outcome) + Send>;

/// The metric that is always there: the least time of the repetitions.
pub const SECONDS: &str = "seconds";

/// Inputs for a function with variants.
pub struct Calls<A, R> {
    function: CodeVariant<A, R>,
    names: Vec<String>,
    families: Vec<String>,
    make: Vec<Make<A>>,
    check: Option<Check<A, R>>,
    repeat: usize,
    limit: Duration,
    features: Vec<String>,
    source: String,
    variants: Vec<String>,
    /// What each variant is: one of the function, with these values of its parameters.
    instances: Vec<(usize, Option<Point>)>,
    default: usize,
}

impl<A, R> Calls<A, R> {
    /// No input yet. Variants are called three times.
    pub fn new(function: &CodeVariant<A, R>) -> Calls<A, R> {
        let selector = function.selector();
        // Of each variant with parameters one instance: a search finds others.
        let all = 0..selector.variants().len();
        let first: Vec<usize> = all.filter(|&at| function.is_first_instance(at)).collect();
        let own = |&at: &usize| (at, function.parameters(at).map(|(_, point)| point.clone()));
        Calls {
            variants: first.iter().map(|&at| selector.variants()[at].clone()).collect(),
            instances: first.iter().map(own).collect(),
            default: first.iter().position(|&at| at == selector.default_variant()).unwrap_or(0),
            features: function.selector().features().to_vec(),
            function: function.clone(),
            names: Vec::new(),
            families: Vec::new(),
            make: Vec::new(),
            check: None,
            repeat: 3,
            limit: Duration::MAX,
            source: String::new(),
        }
    }

    /// Adds an input, which is made anew for each call.
    pub fn input(mut self, name: &str, family: &str, make: impl Fn() -> A + Send + 'static) -> Self {
        self.names.push(name.to_owned());
        self.families.push(family.to_owned());
        self.make.push(Box::new(make));
        self
    }

    /// Looks at every result: adds metrics, and says of a wrong one or one that did not converge that it is no success.
    pub fn check(mut self, check: impl Fn(&A, &R, &mut Outcome) + Send + 'static) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Calls each variant this often; the least time counts.
    pub fn repeat(mut self, times: usize) -> Self {
        self.repeat = times.max(1);
        self
    }

    /// A variant that takes longer is too late. A call cannot be ended from outside: its time is looked at when it returns.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// What tells this program from later ones, such as a version: trials of a store that say something else are measured
    /// again.
    pub fn source(mut self, source: &str) -> Self {
        source.clone_into(&mut self.source);
        self
    }
}

impl<A, R> Calls<A, R> {
    fn run(&self, variant: usize, input: &mut A) -> R {
        match &self.instances[variant] {
            (own, Some(point)) => self.function.run_with(*own, point, input),
            (own, None) => self.function.run(*own, input),
        }
    }
}

impl<A, R> Workload for Calls<A, R> {
    fn name(&self) -> &str {
        self.function.selector().name()
    }

    fn variants(&self) -> &[String] {
        &self.variants
    }

    fn default_variant(&self) -> usize {
        self.default
    }

    fn features(&self) -> &[String] {
        &self.features
    }

    fn inputs(&self) -> &[String] {
        &self.names
    }

    fn family(&self, input: usize) -> &str {
        &self.families[input]
    }

    fn evaluate(&mut self, input: usize) -> Result<Vec<Evaluated>> {
        let input = (self.make[input])();
        let one = |at| {
            let start = Instant::now();
            let value = self.function.feature(at, &input);
            Evaluated { value, seconds: start.elapsed().as_secs_f64() }
        };
        Ok((0..self.features.len()).map(one).collect())
    }

    fn is_allowed(&mut self, input: usize, variant: usize, _: &[f64]) -> Result<bool> {
        Ok(self.function.is_allowed(self.instances[variant].0, &(self.make[input])()))
    }

    fn measure(&mut self, input: usize, variant: usize) -> Result<Outcome> {
        let mut repetitions = Vec::new();
        let mut outcome = Outcome::measured(SECONDS, 0.0);
        for _ in 0..self.repeat {
            let mut own = (self.make[input])();
            let start = Instant::now();
            let run = catch_unwind(AssertUnwindSafe(|| self.run(variant, &mut own)));
            let took = start.elapsed();
            let Ok(result) = run else { return Ok(Outcome::failed(Status::RunError, "it panicked").now()) };
            repetitions.push(took.as_secs_f64());
            if let Some(check) = &self.check {
                check(&own, &result, &mut outcome);
            }
            if took > self.limit {
                let text = format!("it took {} s of {}", took.as_secs_f64(), self.limit.as_secs_f64());
                return Ok(Outcome::failed(Status::Timeout, text).now());
            }
            if outcome.status != Status::Ok {
                break;
            }
        }
        let value = repetitions.iter().copied().fold(f64::INFINITY, f64::min);
        outcome.metrics.insert(SECONDS.to_owned(), Metric { value, repetitions, unit: "s".to_owned() });
        Ok(outcome.now())
    }

    fn parameters(&self, variant: usize) -> Option<(&Space, &Point)> {
        let (own, point) = self.instances.get(variant)?;
        let (space, _) = self.function.parameters(*own)?;
        Some((space, point.as_ref()?))
    }

    fn instance(&mut self, variant: usize, point: &Point) -> Result<usize> {
        let own = self.instances[variant].0;
        let name = self.function.instance_name(own, point);
        Ok(self.variants.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.variants.push(name);
            self.instances.push((own, Some(point.clone())));
            self.variants.len() - 1
        }))
    }

    fn adopt(&mut self, names: &[String]) {
        let known = self.function.selector();
        if (0..known.variants().len()).all(|at| self.function.parameters(at).is_none()) {
            return;
        }
        let of = |name: &String| {
            let each = (0..known.variants().len()).map(|at| match self.function.parameters(at) {
                Some(_) => self.function.point_of(at, name).map(|point| (at, Some(point))),
                None => (known.variants()[at] == *name).then_some((at, None)),
            });
            each.flatten().next().map(|instance| (name.clone(), instance))
        };
        let default = known.variants()[known.default_variant()].clone();
        let (variants, instances) = names.iter().filter_map(of).unzip();
        (self.variants, self.instances) = (variants, instances);
        self.default = self.variants.iter().position(|name| *name == default).unwrap_or(0);
    }

    fn setting(&self) -> Setting {
        Setting {
            job: format!("variants of {}", self.name()),
            program: self.name().to_owned(),
            source: self.source.clone(),
            machine: format!("{} ({})", cpu_name(), processor_id()),
            by: "adaptive".to_owned(),
            response: SECONDS.to_owned(),
            ..Setting::default()
        }
    }
}
