//! Functions with variants.

use crate::argument::{Argument, User};
use crate::context::TwaContext;
use crate::errors::{CANNOT, Failure, Result, VARIANT, c_text, code, guarded};
use crate::text::{free, handle, text};
use adaptive::{Builder, CodeVariant, Context, Fixed, instance};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, OnceLock, PoisonError};
use trials::{Parameter, Value};
use tuner::Space;

/// A variant: works on the argument and returns 0, or a number of its own above it for what it could not do.
pub type Run = extern "C" fn(*mut c_void, *mut c_void) -> c_int;
/// A variant that also gets the values of its parameters.
pub type RunWith = extern "C" fn(*mut c_void, *const f64, *mut c_void) -> c_int;
/// A feature of the argument.
pub type Feature = extern "C" fn(*const c_void, *mut c_void) -> f64;
/// Whether a variant may be run for the argument: 0 if not.
pub type Constraint = extern "C" fn(*const c_void, *mut c_void) -> c_int;
/// A number that stands for the shape of the argument.
pub type Shape = extern "C" fn(*const c_void, *mut c_void) -> u64;

/// Most parameters of a variant; their values are handed over on the stack.
const MOST_PARAMETERS: usize = 16;

/// A parameter of a variant.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct TwaParameter {
    name: *const c_char,
    levels: *const f64,
    count: usize,
    start: f64,
}

/// What is called.
pub type Called = CodeVariant<Argument, c_int>;

/// A function with variants: on the way until it is built, from then on the same for all threads.
pub struct TwaFunction {
    context: Context,
    parts: Mutex<Option<Builder<Argument, c_int>>>,
    built: OnceLock<Built>,
}

struct Built {
    called: Called,
    variants: Vec<CString>,
}

/// An argument whose features are being evaluated.
pub struct TwaFixed {
    fixed: Fixed<Argument, c_int>,
}

impl TwaFunction {
    /// What is called, once it is built.
    ///
    /// # Errors
    /// It is not built.
    pub fn called(&self) -> Result<&Called> {
        self.built().map(|built| &built.called)
    }

    fn built(&self) -> Result<&Built> {
        let built = self.built.get();
        built.ok_or_else(|| Failure::request("the function is not built yet; call twa_function_build first"))
    }

    fn change(
        &self,
        change: impl FnOnce(Builder<Argument, c_int>) -> Result<Builder<Argument, c_int>>,
    ) -> Result<()> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let builder = parts.take().ok_or_else(|| {
            Failure::request("the function is built, and can be changed no more; make another one")
        })?;
        *parts = Some(change(builder)?);
        Ok(())
    }

    fn build(&self) -> Result<()> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(builder) = parts.take() else { return Ok(()) };
        let called = builder.build()?;
        let variants = called.selector().variants().iter().map(|name| c_text(name)).collect();
        // Only here, under the lock.
        let _ = self.built.set(Built { called, variants });
        Ok(())
    }

    fn run(&self, argument: *mut c_void, choose: impl FnOnce(&Called, &Argument) -> usize) -> Result<c_int> {
        let called = self.called()?;
        let mut argument = Argument::borrowed(argument);
        let variant = choose(called, &argument);
        returned(called, variant, called.run(variant, &mut argument))
    }
}

/// What a variant returned, for the caller.
fn returned(called: &Called, variant: usize, result: c_int) -> Result<c_int> {
    if result >= 0 {
        return Ok(result);
    }
    let name = called.selector().variants().get(variant).map_or("", String::as_str);
    Err(Failure::new(
        VARIANT,
        format!("the variant `{name}` returned {result}; negative numbers are errors here"),
    ))
}

/// A function with variants, without any yet.
///
/// # Safety
/// `context` is a context, `name` a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_new(
    context: *const TwaContext,
    name: *const c_char,
) -> *mut TwaFunction {
    guarded(
        |_| null_mut(),
        || {
            // SAFETY: the caller's promise.
            let (context, name) =
                unsafe { (handle("context", context)?.get(), text("the function's name", name)?) };
            let parts = Mutex::new(Some(Builder::new(&context, name)));
            Ok(Box::into_raw(Box::new(TwaFunction { context, parts, built: OnceLock::new() })))
        },
    )
}

/// Frees a function. What it fixed and what tunes it go on.
///
/// # Safety
/// `function` is NULL or one that is not freed yet, and no thread calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_free(function: *mut TwaFunction) {
    // SAFETY: the caller's promise.
    unsafe { free(function) }
}

/// Adds a variant.
///
/// # Safety
/// `function` is a function, `name` a text; `run` may be called with `user` until the function is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_variant(
    function: *const TwaFunction,
    name: *const c_char,
    run: Run,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    // SAFETY: the caller's promise.
    code(|| {
        let (function, name) = unsafe { (handle("function", function)?, text("the variant's name", name)?) };
        function.change(|parts| {
            Ok(parts.variant(name, move |argument| match argument.is_missing() {
                true => CANNOT,
                false => run(argument.get(), user.get()),
            }))
        })
    })
}

/// A number as the value of a parameter: whole ones are written without a point.
fn value(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 9e15 {
        true => Value::Integer(number as i64),
        false => Value::Real(number),
    }
}

/// The parameters of a variant, and where searches begin.
///
/// # Safety
/// Names are texts; `levels` of each has `count` numbers.
unsafe fn space(parameters: &[TwaParameter], condition: &str) -> Result<(Space, Vec<(String, Value)>)> {
    let (mut own, mut start) = (Vec::new(), Vec::new());
    for parameter in parameters {
        // SAFETY: the caller's promise.
        let name = unsafe { text("a parameter's name", parameter.name)? };
        if parameter.levels.is_null() || parameter.count == 0 {
            return Err(Failure::request(format!("the parameter `{name}` has no levels")));
        }
        // SAFETY: the caller's promise.
        let levels = unsafe { std::slice::from_raw_parts(parameter.levels, parameter.count) };
        if levels.iter().any(|level| !level.is_finite()) {
            return Err(Failure::request(format!("a level of the parameter `{name}` is no finite number")));
        }
        let levels = levels.iter().map(|&level| value(level)).collect();
        own.push(Parameter::new(name, levels).map_err(|error| Failure::request(error.to_string()))?);
        start.push((name.to_owned(), value(parameter.start)));
    }
    let conditions: Vec<String> = if condition.is_empty() { Vec::new() } else { vec![condition.to_owned()] };
    let space = Space::new(own, &conditions).map_err(|error| Failure::request(error.to_string()))?;
    Ok((space, start))
}

/// Adds a variant with parameters.
///
/// # Safety
/// `function` is a function, `name` a text; `parameters` has `count` parameters, whose names are texts and whose levels are as
/// many numbers as they say; `condition` is a text or NULL; `run` may be called with `user` until the function is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_tunable(
    function: *const TwaFunction,
    name: *const c_char,
    parameters: *const TwaParameter,
    count: usize,
    condition: *const c_char,
    run: RunWith,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let (function, name) = (handle("function", function)?, text("the variant's name", name)?);
        if parameters.is_null() || count == 0 || count > MOST_PARAMETERS {
            let words =
                format!("the variant `{name}` has {count} parameters, where 1 to {MOST_PARAMETERS} can be");
            return Err(Failure::request(words));
        }
        let condition = if condition.is_null() { "" } else { text("the condition", condition)? };
        let (space, start) = space(std::slice::from_raw_parts(parameters, count), condition)?;
        // What is wrong is told before the function is touched.
        instance::start(name, &space, &start)?;
        let start: Vec<(&str, Value)> =
            start.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        function.change(|parts| {
            Ok(parts.tunable(name, space, &start, move |argument, values| {
                if argument.is_missing() {
                    return CANNOT;
                }
                let mut numbers = [0.0; MOST_PARAMETERS];
                for (number, value) in numbers.iter_mut().zip(values) {
                    *number = value.number().unwrap_or(f64::NAN);
                }
                run(argument.get(), numbers.as_ptr(), user.get())
            })?)
        })
    })
}

/// Names the variant that is right for every input.
///
/// # Safety
/// `function` is a function, `name` a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_default(function: *const TwaFunction, name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    code(|| {
        let (function, name) = unsafe { (handle("function", function)?, text("the variant's name", name)?) };
        function.change(|parts| Ok(parts.default_variant(name)))
    })
}

/// Adds a feature.
///
/// # Safety
/// As for [`twa_function_variant`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_feature(
    function: *const TwaFunction,
    name: *const c_char,
    feature: Feature,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    // SAFETY: the caller's promise.
    code(|| {
        let (function, name) = unsafe { (handle("function", function)?, text("the feature's name", name)?) };
        function.change(|parts| {
            Ok(parts.feature(name, move |argument| match argument.is_missing() {
                true => f64::NAN,
                false => feature(argument.get(), user.get()),
            }))
        })
    })
}

/// Adds a constraint to a variant.
///
/// # Safety
/// As for [`twa_function_variant`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_constraint(
    function: *const TwaFunction,
    variant: *const c_char,
    holds: Constraint,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    // SAFETY: the caller's promise.
    code(|| {
        let (function, variant) =
            unsafe { (handle("function", function)?, text("the variant's name", variant)?) };
        function.change(|parts| {
            Ok(parts.constraint(variant, move |argument| {
                !argument.is_missing() && holds(argument.get(), user.get()) != 0
            }))
        })
    })
}

/// Keeps decisions by shape.
///
/// # Safety
/// As for [`twa_function_variant`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_cached_by(
    function: *const TwaFunction,
    shape: Shape,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    // SAFETY: the caller's promise.
    code(|| {
        let function = unsafe { handle("function", function)? };
        function.change(|parts| Ok(parts.cached_by(move |argument| shape(argument.get(), user.get()))))
    })
}

/// Evaluates features (and constraints, if `constraints` is not 0) on several threads.
///
/// # Safety
/// `function` is a function whose features and constraints may be called by several threads at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_parallel(
    function: *const TwaFunction,
    features: c_int,
    constraints: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    code(|| {
        let function = unsafe { handle("function", function)? };
        function.change(|mut parts| {
            if features != 0 {
                parts = parts.parallel_features();
            }
            if constraints != 0 {
                parts = parts.parallel_constraints();
            }
            Ok(parts)
        })
    })
}

/// Builds the function: from now on it can be called, and changed no more.
///
/// # Safety
/// `function` is a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_build(function: *const TwaFunction) -> c_int {
    // SAFETY: the caller's promise.
    code(|| unsafe { handle("function", function)? }.build())
}

/// Chooses a variant and runs it; returns what it returned.
///
/// # Safety
/// `function` is a function; `argument` is what its variants take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_call(function: *const TwaFunction, argument: *mut c_void) -> c_int {
    guarded(
        |code| code,
        || {
            // SAFETY: the caller's promise.
            let function = unsafe { handle("function", function)? };
            function.run(argument, |called, argument| called.choose(argument).variant)
        },
    )
}

/// The number of the variant that a call would run. `reason`, where it is not NULL, becomes why.
///
/// # Safety
/// As for [`twa_function_call`]; `reason` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_choose(
    function: *const TwaFunction,
    argument: *const c_void,
    reason: *mut *const c_char,
) -> c_int {
    guarded(
        |code| code,
        || {
            // SAFETY: the caller's promise.
            let function = unsafe { handle("function", function)? };
            let choice = function.called()?.choose(&Argument::borrowed(argument.cast_mut()));
            if !reason.is_null() {
                // SAFETY: the caller's promise.
                unsafe { *reason = choice.reason.c_name().as_ptr() }
            }
            Ok(choice.variant as c_int)
        },
    )
}

/// Runs a variant, whatever a model or a constraint says; returns what it returned.
///
/// # Safety
/// As for [`twa_function_call`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_run(
    function: *const TwaFunction,
    variant: c_int,
    argument: *mut c_void,
) -> c_int {
    guarded(
        |code| code,
        || {
            // SAFETY: the caller's promise.
            let function = unsafe { handle("function", function)? };
            let variants = function.built()?.variants.len();
            let number = usize::try_from(variant).ok().filter(|&number| number < variants);
            let number = number.ok_or_else(|| {
                Failure::request(format!("there is no variant {variant}, only {variants} from 0"))
            })?;
            function.run(argument, |_, _| number)
        },
    )
}

/// The name of a variant; NULL where there is none of this number. It stands as long as the function.
///
/// # Safety
/// `function` is a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_variant_name(
    function: *const TwaFunction,
    variant: c_int,
) -> *const c_char {
    guarded(
        |_| null(),
        || {
            // SAFETY: the caller's promise.
            let built = unsafe { handle("function", function)? }.built()?;
            let name = usize::try_from(variant).ok().and_then(|number| built.variants.get(number));
            let name = name.ok_or_else(|| Failure::request(format!("there is no variant {variant}")))?;
            Ok(name.as_ptr())
        },
    )
}

/// Begins to evaluate the features of an argument, and returns at once. NULL is an error.
///
/// # Safety
/// As for [`twa_function_call`]; the argument stands, unchanged, until [`twa_fixed_call`] or [`twa_fixed_free`] returns, and
/// features may be called by other threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_function_fix_inputs(
    function: *const TwaFunction,
    argument: *mut c_void,
) -> *mut TwaFixed {
    guarded(
        |_| null_mut(),
        || {
            // SAFETY: the caller's promise.
            let called = unsafe { handle("function", function)? }.called()?;
            let fixed = called.fix_inputs(Argument::borrowed(argument));
            Ok(Box::into_raw(Box::new(TwaFixed { fixed })))
        },
    )
}

/// Waits for the features, chooses, runs the choice, and frees what was fixed; returns what the variant returned.
///
/// # Safety
/// `fixed` is what [`twa_function_fix_inputs`] gave, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_fixed_call(fixed: *mut TwaFixed) -> c_int {
    guarded(
        |code| code,
        || {
            if fixed.is_null() {
                return Err(Failure::request("what was fixed is NULL"));
            }
            // SAFETY: the caller's promise.
            let fixed = unsafe { Box::from_raw(fixed) }.fixed;
            let called = fixed.function().clone();
            let (result, _, choice) = fixed.call();
            returned(&called, choice.variant, result)
        },
    )
}

/// Waits for the features, and frees what was fixed without a call.
///
/// # Safety
/// `fixed` is NULL or what [`twa_function_fix_inputs`] gave and [`twa_fixed_call`] did not take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_fixed_free(fixed: *mut TwaFixed) {
    if !fixed.is_null() {
        // SAFETY: the caller's promise.
        let fixed = unsafe { Box::from_raw(fixed) }.fixed;
        guarded(
            |_| (),
            || {
                fixed.wait();
                Ok(())
            },
        );
    }
}

impl TwaFunction {
    /// The context that it was made with.
    pub fn context(&self) -> &Context {
        &self.context
    }
}
