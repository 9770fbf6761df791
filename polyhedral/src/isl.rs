//! A thin, safe layer over isl-rs: every call returns a `Result`, nothing is printed, and a budget of
//! isl operations bounds every analysis.
//!
//! What it adds to the binding:
//! - isl returns null without an error in a few places; here a null result is always an error.
//! - isl would print and go on (or abort) on an error; the context is set to record errors only.
//! - a context must outlive its objects; the lifetime on [`Set`] and [`Map`] says so. (Freed in another
//!   order, isl keeps the context alive: a leak, not a fault.)
//! - isl is not thread-safe within one context; [`Context`] stays on its thread.

use isl_rs as raw;
use raw::DimType;
use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

/// `ISL_ON_ERROR_CONTINUE` of `isl/options.h`: record the error in the context, return null.
const ON_ERROR_CONTINUE: i32 = 1;

/// Why isl gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IslError {
    /// The computation needed more elementary operations than allowed.
    #[error("the polyhedral computation was given up after {operations} isl operations")]
    BudgetExhausted {
        /// The budget, in isl operations (memory allocations and simplex pivots).
        operations: u64,
    },
    /// The computation needed more time of the processor than allowed: not all work is counted in operations.
    #[error("the polyhedral computation was given up after {seconds} s of the processor's time")]
    TimeExhausted {
        /// The time allowed, in seconds.
        seconds: u64,
    },
    /// isl refused the input or failed inside.
    #[error("isl: {message}")]
    Failed {
        /// isl's own message.
        message: String,
    },
}

/// An isl context with a budget of operations.
pub(crate) struct Context {
    raw: raw::Context,
    budget: u64,
    time: Option<Limit>,
    stays_on_its_thread: PhantomData<*const ()>,
}

/// How long computations may take.
struct Limit {
    /// In seconds of the thread's time.
    seconds: u64,
    /// The thread's clock at the end.
    end: Duration,
    /// When that clock was last looked at.
    looked: Cell<Option<Instant>>,
}

/// The thread's clock is the system's, which takes longer to ask than many operations of isl; the usual one is not.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

impl Context {
    /// A context whose computations may take `budget` isl operations in all (0: without limit).
    pub fn new(budget: u64) -> Result<Context, IslError> {
        let raw = raw::Context::alloc();
        if raw.ptr == 0 {
            return Err(IslError::Failed { message: "no memory for a context".to_owned() });
        }
        let context = Context { raw, budget, time: None, stays_on_its_thread: PhantomData };
        context.value(raw::Options::set_on_error(&context.raw, ON_ERROR_CONTINUE))?;
        context.raw.set_max_operations(budget);
        Ok(context)
    }

    /// The same context, whose computations may take this many seconds of the thread's time from now on.
    pub fn within(mut self, seconds: u64) -> Context {
        let end = thread_time() + Duration::from_secs(seconds);
        self.time = Some(Limit { seconds, end, looked: Cell::new(None) });
        self
    }

    fn in_time(&self) -> Result<(), IslError> {
        let Some(limit) = &self.time else { return Ok(()) };
        // A thread uses no more of its own time than goes by.
        if limit.looked.get().is_some_and(|last| last.elapsed() < BETWEEN_LOOKS) {
            return Ok(());
        }
        limit.looked.set(Some(Instant::now()));
        if thread_time() > limit.end {
            return Err(IslError::TimeExhausted { seconds: limit.seconds });
        }
        Ok(())
    }

    /// Reads a set in isl's notation.
    pub fn set(&self, text: &str) -> Result<Set<'_>, IslError> {
        self.check_text(text)?;
        let result = raw::Set::read_from_str(&self.raw, text);
        self.wrap_set(result).map_err(|error| quote(error, text))
    }

    /// Reads a map in isl's notation.
    pub fn map(&self, text: &str) -> Result<Map<'_>, IslError> {
        self.check_text(text)?;
        let result = raw::Map::read_from_str(&self.raw, text);
        self.wrap_map(result).map_err(|error| quote(error, text))
    }

    /// The binding panics on an interior zero byte.
    fn check_text(&self, text: &str) -> Result<(), IslError> {
        match text.find('\0') {
            Some(_) => Err(IslError::Failed { message: format!("zero byte in {text:?}") }),
            None => Ok(()),
        }
    }

    /// Reads a set of one conjunction of constraints in isl's notation.
    pub fn conjunction(&self, text: &str) -> Result<Conjunction<'_>, IslError> {
        self.check_text(text)?;
        let result = raw::BasicSet::read_from_str(&self.raw, text);
        self.wrap_conjunction(result).map_err(|error| quote(error, text))
    }

    /// Turns the binding's error into ours. An exhausted budget often surfaces as another error (a parser
    /// without memory reports a syntax error), so a trivial operation is tried: it fails only then.
    fn error(&self, error: &raw::LibISLError) -> IslError {
        let message = error.to_string();
        self.raw.reset_error();
        let exhausted =
            raw::Val::zero(&self.raw).is_err_and(|probe| probe.to_string().starts_with("[Quota]"));
        self.raw.reset_error();
        if exhausted {
            IslError::BudgetExhausted { operations: self.budget }
        } else {
            IslError::Failed { message }
        }
    }

    fn value<T>(&self, result: Result<T, raw::LibISLError>) -> Result<T, IslError> {
        result.map_err(|error| self.error(&error))
    }

    fn null(&self) -> IslError {
        self.error(&raw::LibISLError::new(raw::Error::Unknown, "null result"))
    }

    fn wrap_set(&self, result: Result<raw::Set, raw::LibISLError>) -> Result<Set<'_>, IslError> {
        self.in_time()?;
        let raw = self.value(result)?;
        if raw.ptr == 0 { Err(self.null()) } else { Ok(Set { context: self, raw }) }
    }

    fn wrap_conjunction(
        &self,
        result: Result<raw::BasicSet, raw::LibISLError>,
    ) -> Result<Conjunction<'_>, IslError> {
        self.in_time()?;
        let raw = self.value(result)?;
        if raw.ptr == 0 { Err(self.null()) } else { Ok(Conjunction { context: self, raw }) }
    }

    fn wrap_map(&self, result: Result<raw::Map, raw::LibISLError>) -> Result<Map<'_>, IslError> {
        self.in_time()?;
        let raw = self.value(result)?;
        if raw.ptr == 0 { Err(self.null()) } else { Ok(Map { context: self, raw }) }
    }
}

/// The processor's time that this thread has used.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}

/// Adds the text that isl could not read to its (terse) message.
fn quote(error: IslError, text: &str) -> IslError {
    match error {
        IslError::Failed { message } => IslError::Failed { message: format!("{message} in {text}") },
        other => other,
    }
}

/// A set of integer points in one space, with parameters.
pub(crate) struct Set<'c> {
    context: &'c Context,
    raw: raw::Set,
}

impl<'c> Set<'c> {
    /// Another handle on the same set.
    pub fn copy(&self) -> Result<Set<'c>, IslError> {
        self.context.wrap_set(self.raw.copy())
    }

    /// Points in both.
    pub fn intersect(self, other: &Set<'c>) -> Result<Set<'c>, IslError> {
        let other = other.copy()?;
        self.context.wrap_set(self.raw.intersect(other.raw))
    }

    /// Points in `self` and not in `other`.
    pub fn subtract(self, other: &Set<'c>) -> Result<Set<'c>, IslError> {
        let other = other.copy()?;
        self.context.wrap_set(self.raw.subtract(other.raw))
    }

    /// The same set in fewer pieces.
    pub fn coalesce(self) -> Result<Set<'c>, IslError> {
        self.context.wrap_set(self.raw.coalesce())
    }

    /// Fixes dimension `position` to a value.
    pub fn fix(self, position: usize, value: i64) -> Result<Set<'c>, IslError> {
        let value = i32::try_from(value)
            .map_err(|_| IslError::Failed { message: format!("{value} does not fit in 32 bits") })?;
        self.context.wrap_set(self.raw.fix_si(DimType::Set, position as u32, value))
    }

    /// The projection that drops `count` dimensions from `first` on.
    pub fn project_out(self, first: usize, count: usize) -> Result<Set<'c>, IslError> {
        self.context.wrap_set(self.raw.project_out(DimType::Set, first as u32, count as u32))
    }

    /// The union over all values of the parameters.
    pub fn project_out_parameters(self) -> Result<Set<'c>, IslError> {
        self.context.wrap_set(self.raw.project_out_all_params())
    }

    /// `{ [a, b] : [a -> b] in self }` without the inner structure.
    pub fn flatten(self) -> Result<Set<'c>, IslError> {
        self.context.wrap_set(self.raw.flatten())
    }

    /// The conjunctions of which the set is the union.
    pub fn conjunctions(&self) -> Result<Vec<Conjunction<'c>>, IslError> {
        let list = self.context.value(self.raw.get_basic_set_list())?;
        if list.ptr == 0 {
            return Err(self.context.null());
        }
        let count = self.context.value(list.size())?;
        (0..count).map(|index| self.context.wrap_conjunction(list.get_at(index))).collect()
    }

    /// Whether there is no point for any value of the parameters.
    pub fn is_empty(&self) -> Result<bool, IslError> {
        self.context.value(self.raw.is_empty())
    }

    /// Some point and the parameters it needs; `None` if the set is empty.
    pub fn sample(&self) -> Result<Option<Sample>, IslError> {
        let point = self.context.value(self.copy()?.raw.sample_point())?;
        if point.ptr == 0 {
            return Err(self.context.null());
        }
        if self.context.value(point.is_void())? {
            return Ok(None);
        }
        let coordinates = |kind: DimType| -> Result<Vec<i64>, IslError> {
            let count = self.context.value(self.raw.dim(kind))?;
            (0..count)
                .map(|position| {
                    let value = self.context.value(point.get_coordinate_val(kind, position))?;
                    if value.ptr == 0 {
                        Err(self.context.null())
                    } else {
                        self.context.value(value.get_num_si())
                    }
                })
                .collect()
        };
        let dimensions = coordinates(DimType::Set)?;
        let parameters = (0..)
            .zip(coordinates(DimType::Param)?)
            .map(|(position, value)| {
                let name = self.context.value(self.raw.get_dim_name(DimType::Param, position))?.to_owned();
                Ok((name, value))
            })
            .collect::<Result<_, IslError>>()?;
        Ok(Some(Sample { parameters, dimensions }))
    }
}

/// A set of integer points given by one conjunction of constraints. Intersecting conjunctions is cheap;
/// on general sets isl decides the emptiness of each intermediate result.
pub(crate) struct Conjunction<'c> {
    context: &'c Context,
    raw: raw::BasicSet,
}

impl<'c> Conjunction<'c> {
    /// Another handle on the same set.
    pub fn copy(&self) -> Result<Conjunction<'c>, IslError> {
        self.context.wrap_conjunction(self.raw.copy())
    }

    /// Points in both, which must declare the same parameters in the same order.
    pub fn intersect(&self, other: &Conjunction<'c>) -> Result<Conjunction<'c>, IslError> {
        let (this, other) = (self.copy()?, other.copy()?);
        self.context.wrap_conjunction(this.raw.intersect(other.raw))
    }

    /// Whether there is no point for any value of the parameters.
    ///
    /// Most sets of a proof hold no rational point either, which one tableau shows; isl's own test removes equalities and looks
    /// for unbounded directions first, to find an integer point.
    pub fn is_empty(&self) -> Result<bool, IslError> {
        Ok(self.has_no_rational_point()? || self.context.value(self.raw.is_empty())?)
    }

    /// Whether no rational point meets the constraints: the largest value of 0 over the set does not exist.
    fn has_no_rational_point(&self) -> Result<bool, IslError> {
        if self.is_plainly_empty()? {
            return Ok(true);
        }
        let space = self.context.value(self.raw.get_space())?;
        let zero = self.context.value(raw::Aff::zero_on_domain_space(space))?;
        if zero.ptr == 0 {
            return Err(self.context.null());
        }
        let largest = self.context.value(self.raw.max_lp_val(&zero))?;
        if largest.ptr == 0 { Err(self.context.null()) } else { self.context.value(largest.is_nan()) }
    }

    /// Whether the constraints contradict each other on sight; false says nothing.
    pub fn is_plainly_empty(&self) -> Result<bool, IslError> {
        self.context.value(self.raw.plain_is_empty())
    }

    /// The same as a general set.
    pub fn to_set(&self) -> Result<Set<'c>, IslError> {
        self.context.wrap_set(raw::Set::from_basic_set(self.copy()?.raw))
    }
}

/// One point of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Names and values of the parameters.
    pub parameters: Vec<(String, i64)>,
    /// Values of the dimensions, in order.
    pub dimensions: Vec<i64>,
}

/// A relation between integer points of two spaces, with parameters.
pub(crate) struct Map<'c> {
    context: &'c Context,
    raw: raw::Map,
}

impl<'c> Map<'c> {
    /// Another handle on the same map.
    pub fn copy(&self) -> Result<Map<'c>, IslError> {
        self.context.wrap_map(self.raw.copy())
    }

    /// Pairs in both.
    pub fn intersect(self, other: &Map<'c>) -> Result<Map<'c>, IslError> {
        let other = other.copy()?;
        self.context.wrap_map(self.raw.intersect(other.raw))
    }

    /// For each source its lexicographically least target.
    pub fn lexmin(self) -> Result<Map<'c>, IslError> {
        self.context.wrap_map(self.raw.lexmin())
    }

    /// `{ [a -> c] -> [b -> d] : a -> b in self and c -> d in other }`
    pub fn product(self, other: &Map<'c>) -> Result<Map<'c>, IslError> {
        let other = other.copy()?;
        self.context.wrap_map(self.raw.product(other.raw))
    }

    /// The set of the pairs: `{ [a -> b] : a -> b in self }`.
    pub fn wrap(self) -> Result<Set<'c>, IslError> {
        self.context.wrap_set(self.raw.wrap())
    }

    /// All sources.
    pub fn domain(self) -> Result<Set<'c>, IslError> {
        self.context.wrap_set(self.raw.domain())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syntax_error_is_returned_with_the_text() {
        let context = Context::new(0).unwrap();
        let error = context.set("{ [x] : x <").err().unwrap();
        assert!(matches!(&error, IslError::Failed { message } if message.contains("{ [x] : x <")), "{error}");
        assert!(context.set("{ [x] : x = 1\0 }").is_err());
        assert!(context.set("{ [x] : x = 1 }").is_ok(), "the error does not stick");
    }

    #[test]
    fn an_exhausted_budget_is_its_own_error() {
        let context = Context::new(400).unwrap();
        let mut outcome = context.set("{ [x] : x = 1 }").map(drop);
        for width in 0..1000 {
            outcome = outcome
                .and_then(|()| context.set(&format!("{{ [x, y] : 0 <= x + y <= {width} }}")).map(drop));
        }
        assert_eq!(outcome, Err(IslError::BudgetExhausted { operations: 400 }));
    }

    #[test]
    fn samples_name_parameters() {
        let context = Context::new(0).unwrap();
        let set = context.set("[n] -> { [x, y] : n = 3 and x = 2n and y = -x }").unwrap();
        let sample = set.sample().unwrap().unwrap();
        assert_eq!(sample, Sample { parameters: vec![("n".to_owned(), 3)], dimensions: vec![6, -6] });
        assert_eq!(context.set("{ [x] : 0 < 2x < 2 }").unwrap().sample().unwrap(), None);
    }

    #[test]
    fn conjunctions_without_rational_or_integer_points_are_empty() {
        let context = Context::new(0).unwrap();
        let empty = |text: &str| context.conjunction(text).unwrap().is_empty().unwrap();
        assert!(empty("[n] -> { [x, y] : x + y > n and 2x < n and 2y < n }"));
        assert!(empty("{ [x, y] : 1 <= 3x - 6y <= 2 }"), "there are rational points alone");
        assert!(!empty("[n] -> { [x, y] : x + y > n and 2x < n + 2 and 2y < n + 2 }"));
        assert!(!empty("{ [x] : exists a : x = 3a + 1 and x >= 10 }"));
    }

    #[test]
    fn objects_may_be_dropped_after_their_context() {
        let context = Context::new(0).unwrap();
        let raw = context.set("{ [x] : x = 1 }").unwrap().raw;
        drop(context);
        drop(raw);
    }

    #[test]
    fn time_is_limited() {
        let context = Context::new(0).unwrap().within(0);
        let read = context.set("{ [i] : 0 <= i < 9 }");
        assert!(matches!(read.err(), Some(IslError::TimeExhausted { seconds: 0 })));
    }
}
