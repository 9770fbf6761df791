//! What choosing tells: faults, each once, and decisions. The library prints nothing; who wants to know hands over a function.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// The model is missing, damaged, of another version, or of other variants or features: the default is run.
    Model,
    /// A feature panicked or is no finite number: the default is run.
    Feature,
    /// A constraint panicked: its variant counts as not allowed.
    Constraint,
    /// A feature lies outside the values that the model was trained on.
    Range,
    /// `TILEWRIGHT_VARIANT` names no variant of the function, or one that is not allowed.
    Forced,
}

/// Something that the user of a program should know. Each is said once for each function.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// The function that has variants.
    pub name: &'a str,
    /// What it is about.
    pub kind: NoteKind,
    /// In a sentence.
    pub text: &'a str,
}

/// Why a variant was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The model's first choice.
    Model,
    /// The model's best choice among those that are allowed.
    NextBest,
    /// The default: there is no model.
    NoModel,
    /// The default: a feature has no value.
    NoFeatures,
    /// The default: no variant that the model knows is allowed.
    NoneAllowed,
    /// It was forced.
    Forced,
    /// An input of this shape was decided before.
    Cached,
}

impl Reason {
    /// As logs name it.
    pub fn name(self) -> &'static str {
        self.c_name().to_str().unwrap_or_default()
    }

    /// The same, as C reads it.
    pub fn c_name(self) -> &'static CStr {
        match self {
            Reason::Model => c"model",
            Reason::NextBest => c"next-best",
            Reason::NoModel => c"no-model",
            Reason::NoFeatures => c"no-features",
            Reason::NoneAllowed => c"none-allowed",
            Reason::Forced => c"forced",
            Reason::Cached => c"cached",
        }
    }
}

/// A decision, as the log gets it.
#[derive(Debug, Clone, Copy)]
pub struct Decision<'a> {
    /// The function that has variants.
    pub name: &'a str,
    /// Name of the variant.
    pub variant: &'a str,
    /// Why.
    pub reason: Reason,
    /// The features that the model saw, in its order; empty where none were evaluated.
    pub features: &'a [f64],
}

impl Decision<'_> {
    /// A line of JSON.
    pub fn line(&self) -> String {
        let document = serde_json::json!({
            "function": self.name,
            "variant": self.variant,
            "reason": self.reason.name(),
            "features": self.features,
        });
        document.to_string()
    }
}

/// Takes notes.
pub type NoteSink = dyn Fn(&Note<'_>) + Send + Sync;
/// Takes decisions.
pub type DecisionSink = dyn Fn(&Decision<'_>) + Send + Sync;

/// Which of 64 things were said.
#[derive(Debug, Default)]
pub struct Said(AtomicU64);

impl Said {
    /// Whether this is the first time; what is beyond the 64th counts as the 64th.
    pub fn first(&self, at: usize) -> bool {
        let bit = 1_u64 << at.min(63);
        self.0.load(Ordering::Relaxed) & bit == 0 && self.0.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}
