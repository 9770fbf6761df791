//! Features evaluated while the program does something else: `fix_inputs`, and the barrier at the call.

use crate::code_variant::CodeVariant;
use crate::limits::MOST_FEATURES;
use crate::selector::Choice;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// An input whose features are being evaluated.
pub struct Fixed<A, R> {
    function: CodeVariant<A, R>,
    input: Arc<A>,
    state: Arc<State>,
}

struct State {
    done: Mutex<Done>,
    changed: Condvar,
}

struct Done {
    /// Features that are not evaluated yet.
    pending: usize,
    values: [f64; MOST_FEATURES],
    failed: bool,
}

impl<A: Send + Sync + 'static, R: 'static> CodeVariant<A, R> {
    /// Fixes an input and begins to evaluate the features that the model needs, each on a thread of rayon; returns at once.
    /// [`Fixed::call`] waits for them.
    pub fn fix_inputs(&self, input: A) -> Fixed<A, R> {
        let needed = self.selector().needed().to_vec();
        let input = Arc::new(input);
        let state = Arc::new(State {
            done: Mutex::new(Done { pending: needed.len(), values: [0.0; MOST_FEATURES], failed: false }),
            changed: Condvar::new(),
        });
        for (place, feature) in needed.into_iter().enumerate() {
            let (function, input, state) = (self.clone(), Arc::clone(&input), Arc::clone(&state));
            rayon::spawn(move || {
                let value = function.feature(feature, &input);
                // Given back before the barrier opens.
                drop(input);
                let mut done = state.done.lock().unwrap_or_else(PoisonError::into_inner);
                match value {
                    Some(value) => done.values[place] = value,
                    None => done.failed = true,
                }
                done.pending -= 1;
                state.changed.notify_all();
            });
        }
        Fixed { function: self.clone(), input, state }
    }
}

impl<A, R> Fixed<A, R> {
    /// The function.
    pub fn function(&self) -> &CodeVariant<A, R> {
        &self.function
    }

    /// Waits for the features: from now on the input is nobody else's.
    pub fn wait(&self) {
        drop(self.done());
    }

    fn done(&self) -> MutexGuard<'_, Done> {
        let mut done = self.state.done.lock().unwrap_or_else(PoisonError::into_inner);
        while done.pending > 0 {
            // A thread of rayon that sleeps could be the one that is waited for.
            done = if rayon::current_thread_index().is_some() {
                drop(done);
                rayon::yield_now();
                self.state.done.lock().unwrap_or_else(PoisonError::into_inner)
            } else {
                self.state.changed.wait(done).unwrap_or_else(PoisonError::into_inner)
            };
        }
        done
    }

    /// Waits for the features, chooses, and runs the choice. The input comes back with the result.
    pub fn call(self) -> (R, A, Choice) {
        let needed = self.function.selector().needed().len();
        let done = self.done();
        let (values, failed) = (done.values, done.failed);
        drop(done);
        let Some(mut input) = Arc::into_inner(self.input) else {
            unreachable!("every other holder gave the input back before it said that it was done")
        };
        let choice = self.function.choose_by((!failed).then(|| &values[..needed]), &input);
        let result = self.function.run(choice.variant, &mut input);
        (result, input, choice)
    }
}
