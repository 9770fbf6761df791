//! Tuning: variants are measured on inputs of the caller, and a model is trained and written.

use crate::argument::{Argument, Free, User};
use crate::errors::{CANNOT, Failure, Result, WRONG, code, guarded};
use crate::function::{Called, TwaFunction};
use crate::text::{free, handle, text};
use adaptive::evaluate::evaluate;
use adaptive::model_file;
use adaptive::train::{Kind, TrainOptions};
use adaptive::tune::{
    Calls, Levels, Measured, Objective, Order, ParameterOptions, Stopping, TuneOptions, search_parameters,
    tune, tune_incrementally,
};
use adaptive::{AdaptiveError, Context};
use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use trials::{Metric, Outcome, Status};

/// Makes an argument, anew for each use.
pub type Make = extern "C" fn(*mut c_void) -> *mut c_void;
/// Looks at an argument after a variant ran on it: 0 where the result is right.
pub type Check = extern "C" fn(*const c_void, *mut c_void) -> c_int;

/// A tuning of a function.
pub struct TwaTuning {
    called: Called,
    context: Context,
    plan: Mutex<Plan>,
}

/// What a tuning found.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct TwaTuned {
    labelled: usize,
    measured: usize,
    cut_short: c_int,
    cross_validated: f64,
    tested: usize,
    performance: f64,
    best_single: f64,
}

struct Input {
    name: String,
    family: String,
    test: bool,
    make: Make,
    free: Option<Free>,
    user: User,
}

struct Plan {
    inputs: Vec<Input>,
    check: Option<(Check, User)>,
    options: TuneOptions,
    metric: String,
    maximize: bool,
    repeat: usize,
    limit: Duration,
    within: Option<Duration>,
    store: Option<PathBuf>,
    source: String,
    stopping: Stopping,
    search: ParameterOptions,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            inputs: Vec::new(),
            check: None,
            options: TuneOptions::default(),
            metric: adaptive::tune::SECONDS.to_owned(),
            maximize: false,
            repeat: 3,
            limit: Duration::MAX,
            within: None,
            store: None,
            source: String::new(),
            stopping: Stopping { iterations: None, accuracy: None },
            search: ParameterOptions::default(),
        }
    }
}

thread_local! {
    /// What the variant that is being measured by this thread reported; `None` where nothing is measured.
    static REPORTED: RefCell<Option<Vec<(String, f64)>>> = const { RefCell::new(None) };
}

/// While it stands, reports of this thread are kept.
struct Listening;

impl Listening {
    fn new() -> Listening {
        REPORTED.set(Some(Vec::new()));
        Listening
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        REPORTED.set(None);
    }
}

/// What was reported since the last question.
fn reported() -> Vec<(String, f64)> {
    REPORTED.with_borrow_mut(|reported| reported.as_mut().map(std::mem::take).unwrap_or_default())
}

impl Plan {
    fn set(&mut self, option: &str, value: &str) -> Result<()> {
        let wrong = |what: &str| Failure::request(format!("`{option}` is {what}, and not `{value}`"));
        let number = || {
            let number = value.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| wrong("a number of 0 or more"))
        };
        let whole = || value.parse::<u64>().map_err(|_| wrong("a whole number of 0 or more"));
        let truth = || match value {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(wrong("0 or 1")),
        };
        let time = || {
            let seconds = number()?;
            Duration::try_from_secs_f64(seconds).map_err(|_| wrong("a time in seconds"))
        };
        match option {
            "classifier" => self.options.train.kind = Kind::named(value)?,
            "metric" => value.clone_into(&mut self.metric),
            "maximize" => self.maximize = truth()?,
            "repeat" => self.repeat = whole()?.clamp(1, 1_000_000) as usize,
            "limit" => self.limit = time()?,
            "time-limit" => self.within = Some(time()?),
            "trials" => self.store = Some(PathBuf::from(value)),
            "source" => value.clone_into(&mut self.source),
            "seed" => self.options.train.seed = whole()?,
            "folds" => {
                let folds = whole()?;
                if !(2..=100).contains(&folds) {
                    return Err(wrong("a number from 2 to 100"));
                }
                self.options.train.folds = folds as usize;
            }
            "select-features" => self.options.select = truth()?,
            "calls" => {
                let calls = number()?;
                if calls < 1.0 {
                    return Err(wrong("a number of 1 or more"));
                }
                self.options.calls = calls;
            }
            "iter" => self.stopping.iterations = Some(whole()?.min(1 << 32) as usize),
            "acc" => {
                let share = number()?;
                if share > 1.0 {
                    return Err(wrong("a share from 0 to 1"));
                }
                self.stopping.accuracy = Some(share);
            }
            "levels" => {
                self.search.levels = match value {
                    "restricted" => Levels::Restricted,
                    "multilevel" => Levels::Multilevel,
                    _ => return Err(wrong("restricted or multilevel")),
                }
            }
            "classes" => {
                let parts = value.split(';').map(str::trim).filter(|part| !part.is_empty());
                self.search.classes = parts.map(str::to_owned).collect();
            }
            "method" => value.clone_into(&mut self.search.method),
            "budget" => self.search.budget = whole()?.clamp(1, 1_000_000) as usize,
            "keep" => self.search.keep = whole()?.clamp(1, 64) as usize,
            _ => {
                const KNOWN: [&str; 19] = [
                    "classifier",
                    "metric",
                    "maximize",
                    "repeat",
                    "limit",
                    "time-limit",
                    "trials",
                    "source",
                    "seed",
                    "folds",
                    "select-features",
                    "calls",
                    "iter",
                    "acc",
                    "levels",
                    "classes",
                    "method",
                    "budget",
                    "keep",
                ];
                return Err(AdaptiveError::unknown("option", option, &KNOWN).into());
            }
        }
        Ok(())
    }

    /// The inputs as something that can be measured.
    fn calls(&self, called: &Called) -> Calls<Argument, c_int> {
        let mut calls = Calls::new(called).repeat(self.repeat).limit(self.limit).source(&self.source);
        for input in &self.inputs {
            let (make, free, user) = (input.make, input.free, input.user);
            let made = move || Argument::made(make(user.get()), free, user);
            calls = calls.input(&input.name, &input.family, made);
        }
        let check = self.check;
        calls.check(move |argument, &result, outcome| judge(check, argument, result, outcome))
    }

    /// Places of the inputs for training, or of those for the test.
    fn places(&self, test: bool) -> Vec<usize> {
        (0..self.inputs.len()).filter(|&at| self.inputs[at].test == test).collect()
    }
}

/// What came of one run: what the variant reported, and whether it is right.
fn judge(check: Option<(Check, User)>, argument: &Argument, result: c_int, outcome: &mut Outcome) {
    for (name, value) in reported() {
        outcome.metrics.insert(name, Metric { value, ..Metric::default() });
    }
    if result != 0 {
        let status = match result {
            CANNOT => Status::Invalid,
            WRONG => Status::WrongResult,
            _ => Status::RunError,
        };
        *outcome = Outcome::failed(status, format!("it returned {result}"));
    } else if let Some((check, user)) = check
        && check(argument.get(), user.get()) != 0
    {
        *outcome = Outcome::failed(Status::WrongResult, "the check says that the result is wrong");
    }
}

impl TwaTuning {
    fn run(&self, file: Option<PathBuf>) -> Result<TwaTuned> {
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let name = self.called.selector().name();
        let file = file.or_else(|| self.context.model_file(name)).ok_or_else(|| {
            Failure::request("the context has no folder of models; name the file of the model")
        })?;
        let (training, test) = (plan.places(false), plan.places(true));
        if training.is_empty() {
            return Err(Failure::request("there is no input to train on; twa_tuning_input adds one"));
        }
        let mut calls = plan.calls(&self.called);
        let objective = Objective::Metric { text: plan.metric.clone(), maximize: plan.maximize };
        let listening = Listening::new();
        let mut measured = Measured::new(&mut calls, objective, plan.store.as_deref())?.within(plan.within);
        let variants = self.called.selector().variants().len();
        let mut cut_short_search = false;
        if (0..variants).any(|at| self.called.parameters(at).is_some()) {
            let search = ParameterOptions { seed: plan.options.train.seed, ..plan.search.clone() };
            cut_short_search = search_parameters(&mut measured, &training, &search)?.cut_short;
        }
        let incremental = plan.stopping.iterations.is_some() || plan.stopping.accuracy.is_some();
        let (trained, labelled, cut_short) = if incremental {
            let features: Vec<usize> = (0..measured.workload().features().len()).collect();
            let order = Order::BestVersusSecondBest;
            let train: &TrainOptions = &plan.options.train;
            let tuned =
                tune_incrementally(&mut measured, &training, &test, &features, plan.stopping, order, train)?;
            (tuned.trained, tuned.labelled.len(), tuned.cut_short)
        } else {
            let tuned = tune(&mut measured, &training, &plan.options)?;
            (tuned.trained, tuned.table.rows.len(), tuned.cut_short)
        };
        let mut model = trained.model;
        model.training.machine = measured.workload().setting().machine;
        let mut tuned = TwaTuned {
            labelled,
            cut_short: c_int::from(cut_short || cut_short_search),
            cross_validated: model.training.cross_validated.unwrap_or(f64::NAN),
            performance: f64::NAN,
            best_single: f64::NAN,
            ..TwaTuned::default()
        };
        let mut tested = Vec::new();
        for &input in &test {
            if !measured.is_over() || measured.is_labelled(input) {
                measured.label(input)?;
                tested.push(input);
            }
        }
        if !tested.is_empty() {
            let evaluation = evaluate(&model, &measured.table(&tested), plan.options.calls)?;
            tuned.tested = evaluation.inputs;
            tuned.performance = evaluation.performance.mean;
            tuned.best_single = evaluation.best_single_performance;
        }
        tuned.measured = measured.fresh();
        drop(listening);
        model_file::write(&file, &model)?;
        Ok(tuned)
    }
}

/// A tuning of a function that is built.
///
/// # Safety
/// `function` is a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_tuning_new(function: *const TwaFunction) -> *mut TwaTuning {
    guarded(
        |_| null_mut(),
        || {
            // SAFETY: the caller's promise.
            let function = unsafe { handle("function", function)? };
            let called = function.called()?.clone();
            let context = function.context().clone();
            Ok(Box::into_raw(Box::new(TwaTuning { called, context, plan: Mutex::default() })))
        },
    )
}

/// Frees a tuning.
///
/// # Safety
/// `tuning` is NULL or one that is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_tuning_free(tuning: *mut TwaTuning) {
    // SAFETY: the caller's promise.
    unsafe { free(tuning) }
}

/// Adds an input, for training or (`test` is not 0) for the test.
///
/// # Safety
/// `tuning` is a tuning, `name` a text, `family` a text or NULL; `make` and `free` may be called until the tuning is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_tuning_input(
    tuning: *const TwaTuning,
    name: *const c_char,
    family: *const c_char,
    test: c_int,
    make: Make,
    free: Option<Free>,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let tuning = handle("tuning", tuning)?;
        let name = text("the input's name", name)?.to_owned();
        let family =
            if family.is_null() { String::new() } else { text("the input's family", family)?.to_owned() };
        let mut plan = tuning.plan.lock().unwrap_or_else(PoisonError::into_inner);
        plan.inputs.push(Input { name, family, test: test != 0, make, free, user });
        Ok(())
    })
}

/// Has every result looked at.
///
/// # Safety
/// `tuning` is a tuning; `check` may be called with `user` until it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_tuning_check(
    tuning: *const TwaTuning,
    check: Check,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let tuning = handle("tuning", tuning)?;
        tuning.plan.lock().unwrap_or_else(PoisonError::into_inner).check = Some((check, user));
        Ok(())
    })
}

/// Sets an option.
///
/// # Safety
/// `tuning` is a tuning; the others are texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_tuning_set(
    tuning: *const TwaTuning,
    option: *const c_char,
    value: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let tuning = handle("tuning", tuning)?;
        let (option, value) = (text("the option", option)?, text("the option's value", value)?);
        tuning.plan.lock().unwrap_or_else(PoisonError::into_inner).set(option, value)
    })
}

/// Measures, trains, and writes the model: to `file`, or where it is NULL, to where the function's context looks for it.
///
/// # Safety
/// `tuning` is a tuning; `file` is a text or NULL; `tuned` is NULL or a place for what was found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_tuning_run(
    tuning: *const TwaTuning,
    file: *const c_char,
    tuned: *mut TwaTuned,
) -> c_int {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let tuning = handle("tuning", tuning)?;
        let file = if file.is_null() { None } else { Some(PathBuf::from(text("the model's file", file)?)) };
        let found = tuning.run(file)?;
        if !tuned.is_null() {
            *tuned = found;
        }
        Ok(())
    })
}

/// A variant says what it measured of itself. Outside of a tuning nothing happens.
///
/// # Safety
/// `metric` is a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_report(metric: *const c_char, value: f64) {
    REPORTED.with_borrow_mut(|reported| {
        let Some(reported) = reported else { return };
        // SAFETY: the caller's promise.
        if let Ok(metric) = unsafe { text("the metric", metric) } {
            reported.push((metric.to_owned(), value));
        }
    });
}
