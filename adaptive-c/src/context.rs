//! Contexts.

use crate::argument::User;
use crate::errors::{c_text, code, guarded};
use crate::text::{free, handle, text};
use adaptive::Context;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// What functions with variants share.
pub struct TwaContext {
    inner: Mutex<Context>,
}

/// Is told of faults: function, text, and what the caller gave along.
pub type OnNote = extern "C" fn(*const c_char, *const c_char, *mut c_void);
/// Is told of decisions: function, variant, reason, features and their number, and what the caller gave along.
pub type OnDecision =
    extern "C" fn(*const c_char, *const c_char, *const c_char, *const f64, usize, *mut c_void);

impl TwaContext {
    /// The context as it is now.
    pub fn get(&self) -> Context {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(Context) -> Context) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        *inner = change(inner.clone());
    }
}

/// Changes what functions that are made from now on find.
///
/// # Safety
/// `context` is a context or NULL.
unsafe fn changed(context: *const TwaContext, change: impl FnOnce(Context) -> Context) -> c_int {
    code(|| {
        // SAFETY: the caller's promise.
        let context: &TwaContext = unsafe { handle("context", context) }?;
        context.change(change);
        Ok(())
    })
}

/// A context; `models` is the folder of models, or NULL.
///
/// # Safety
/// `models` is NULL or a text that ends with a byte 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_context_new(models: *const c_char) -> *mut TwaContext {
    guarded(
        |_| null_mut(),
        || {
            let mut context = Context::new();
            if !models.is_null() {
                // SAFETY: the caller's promise.
                context = context.models(unsafe { text("the folder of models", models) }?);
            }
            Ok(Box::into_raw(Box::new(TwaContext { inner: Mutex::new(context) })))
        },
    )
}

/// Frees a context. Functions that were made with it go on.
///
/// # Safety
/// `context` is NULL or one that is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_context_free(context: *mut TwaContext) {
    // SAFETY: the caller's promise.
    unsafe { free(context) }
}

/// Forces variants, in place of what `TILEWRIGHT_VARIANT` says.
///
/// # Safety
/// `context` is a context, `forced` a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_context_force(context: *const TwaContext, forced: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let forced = text("the variants to be forced", forced)?;
        handle("context", context)?.change(|context| context.forcing(forced));
        Ok(())
    })
}

/// Has faults told.
///
/// # Safety
/// `context` is a context; `told` may be called by any thread with `user`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_context_on_note(
    context: *const TwaContext,
    told: OnNote,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    let on_note = move |context: Context| {
        context.on_note(move |note| {
            told(c_text(note.name).as_ptr(), c_text(note.text).as_ptr(), user.get());
        })
    };
    // SAFETY: the caller's promise.
    unsafe { changed(context, on_note) }
}

/// Has decisions told.
///
/// # Safety
/// As for [`twa_context_on_note`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twa_context_on_decision(
    context: *const TwaContext,
    told: OnDecision,
    user: *mut c_void,
) -> c_int {
    let user = User(user);
    let on_decision = move |context: Context| {
        context.on_decision(move |decision| {
            let (name, variant) = (c_text(decision.name), c_text(decision.variant));
            let features = decision.features;
            let reason = decision.reason.c_name();
            let at = features.as_ptr();
            told(name.as_ptr(), variant.as_ptr(), reason.as_ptr(), at, features.len(), user.get());
        })
    };
    // SAFETY: the caller's promise.
    unsafe { changed(context, on_decision) }
}
