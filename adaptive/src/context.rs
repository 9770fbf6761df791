//! What all functions with variants share: where models are, what is forced, and who is told.

use crate::note::{Decision, DecisionSink, Note, NoteSink};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variable that forces variants: a name for all functions that have a variant of this name, or `function=name` for one;
/// several with commas between them.
pub const FORCED: &str = "TILEWRIGHT_VARIANT";

/// State that functions with variants share. Clones are the same context.
#[derive(Clone, Default)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Clone, Default)]
struct Inner {
    models: Option<PathBuf>,
    /// Function, if one is named, and variant.
    forced: Vec<(Option<String>, String)>,
    notes: Option<Arc<NoteSink>>,
    decisions: Option<Arc<DecisionSink>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.inner;
        f.debug_struct("Context").field("models", &inner.models).field("forced", &inner.forced).finish()
    }
}

impl Context {
    /// A context without models; variants are forced as the environment says.
    pub fn new() -> Context {
        Context::default().forcing(&std::env::var(FORCED).unwrap_or_default())
    }

    fn with(self, change: impl FnOnce(&mut Inner)) -> Context {
        let mut inner = Arc::unwrap_or_clone(self.inner);
        change(&mut inner);
        Context { inner: Arc::new(inner) }
    }

    /// The folder of model files: that of the function `sort` is `sort.model.json`.
    pub fn models(self, folder: impl Into<PathBuf>) -> Context {
        self.with(|inner| inner.models = Some(folder.into()))
    }

    /// Forces variants by this text in place of that of the environment; see [`FORCED`].
    pub fn forcing(self, text: &str) -> Context {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let forced = entries.map(|entry| match entry.split_once('=') {
            Some((function, variant)) => (Some(function.trim().to_owned()), variant.trim().to_owned()),
            None => (None, entry.to_owned()),
        });
        let forced = forced.collect();
        self.with(|inner| inner.forced = forced)
    }

    /// Who is told of faults, each once.
    pub fn on_note(self, sink: impl Fn(&Note<'_>) + Send + Sync + 'static) -> Context {
        self.with(|inner| inner.notes = Some(Arc::new(sink)))
    }

    /// Who is told of every decision. It is called by the thread that decides.
    pub fn on_decision(self, sink: impl Fn(&Decision<'_>) + Send + Sync + 'static) -> Context {
        self.with(|inner| inner.decisions = Some(Arc::new(sink)))
    }

    /// The file of a function's model.
    pub fn model_file(&self, name: &str) -> Option<PathBuf> {
        // A function's name is no path.
        let plain = !name.is_empty() && Path::new(name).file_name().is_some_and(|own| own == name);
        let folder = self.inner.models.as_ref().filter(|_| plain)?;
        Some(folder.join(format!("{name}.model.json")))
    }

    /// The variant that is forced for a function: the last entry for it alone, else the last one for all.
    /// Whether it was for this function alone comes with it.
    pub fn forced(&self, name: &str) -> Option<(&str, bool)> {
        let own = self.inner.forced.iter().rev().find(|(function, _)| function.as_deref() == Some(name));
        let all = || self.inner.forced.iter().rev().find(|(function, _)| function.is_none());
        own.or_else(all).map(|(function, variant)| (variant.as_str(), function.is_some()))
    }

    /// Tells a fault.
    pub fn note(&self, note: &Note<'_>) {
        if let Some(sink) = &self.inner.notes {
            sink(note);
        }
    }

    /// Tells a decision.
    pub fn decided(&self, decision: &Decision<'_>) {
        if let Some(sink) = &self.inner.decisions {
            sink(decision);
        }
    }
}
