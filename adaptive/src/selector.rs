//! The choice alone: features in, a variant out. [`CodeVariant`](crate::CodeVariant) calls what it chose; whoever calls by other
//! means, such as a table of foreign functions, asks a [`Selector`].

use crate::context::Context;
use crate::error::{AdaptiveError, Result};
use crate::limits::{MOST_FEATURES, MOST_VARIANTS};
use crate::model::Model;
use crate::model_file;
use crate::note::{Decision, Note, NoteKind, Reason, Said};
use crate::ranking::Ranking;
use std::path::Path;
use std::sync::Arc;

/// A choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The variant's place in the list of variants.
    pub variant: usize,
    /// Why it was chosen.
    pub reason: Reason,
}

/// Chooses variants of one function. Choosing allocates nothing, never panics, and may be done by many threads at once.
#[derive(Debug)]
pub struct Selector {
    name: String,
    variants: Vec<String>,
    default: usize,
    features: Vec<String>,
    model: Option<Arc<Model>>,
    /// For each feature of the model its place among the features of the function.
    used: Vec<usize>,
    /// For each variant of the model its place among the variants of the function.
    places: Vec<usize>,
    forced: Option<usize>,
    context: Context,
    /// By kind of a note.
    said: Said,
    said_features: Said,
    said_ranges: Said,
    said_constraints: Said,
}

fn check_names(what: &str, names: &[String], most: usize) -> Result<()> {
    if names.len() > most {
        let reason = format!("{} {what}s, where at most {most} can be", names.len());
        return Err(AdaptiveError::request(reason, "leave some out"));
    }
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(AdaptiveError::request(
                format!("two {what}s are named `{name}`"),
                "rename one of them",
            ));
        }
        if name.is_empty() {
            return Err(AdaptiveError::request(format!("a {what} has no name"), "give it one"));
        }
    }
    Ok(())
}

impl Selector {
    /// A selector for a function with these variants, one of them the default, and these features. The model is that of the
    /// context's folder; where it is missing, broken or of another function, the default is chosen and the context is told.
    ///
    /// # Errors
    /// No variant, too many, names that stand there twice, a default that is no variant.
    pub fn new(
        context: &Context,
        name: &str,
        variants: &[String],
        default: usize,
        features: &[String],
    ) -> Result<Selector> {
        let mut selector = Selector::bare(context, name, variants, default, features)?;
        if let Some(path) = context.model_file(name) {
            match model_file::load(&path) {
                Ok(model) => selector.take(Arc::new(model), Some(&path)),
                Err(fault) => selector.no_model(&format!("{}: {fault}", path.display())),
            }
        }
        Ok(selector)
    }

    /// As [`Selector::new`], with a model at hand.
    ///
    /// # Errors
    /// As [`Selector::new`]. A model of another function is no error.
    pub fn with_model(
        context: &Context,
        name: &str,
        variants: &[String],
        default: usize,
        features: &[String],
        model: Arc<Model>,
    ) -> Result<Selector> {
        let mut selector = Selector::bare(context, name, variants, default, features)?;
        selector.take(model, None);
        Ok(selector)
    }

    fn bare(
        context: &Context,
        name: &str,
        variants: &[String],
        default: usize,
        features: &[String],
    ) -> Result<Selector> {
        if variants.is_empty() {
            return Err(AdaptiveError::request(format!("`{name}` has no variant"), "add one"));
        }
        check_names("variant", variants, MOST_VARIANTS)?;
        check_names("feature", features, MOST_FEATURES)?;
        if default >= variants.len() {
            return Err(AdaptiveError::request(format!("the default of `{name}` is no variant"), "name one"));
        }
        let mut selector = Selector {
            name: name.to_owned(),
            variants: variants.to_vec(),
            default,
            features: features.to_vec(),
            model: None,
            used: Vec::new(),
            places: Vec::new(),
            forced: None,
            context: context.clone(),
            said: Said::default(),
            said_features: Said::default(),
            said_ranges: Said::default(),
            said_constraints: Said::default(),
        };
        if let Some((forced, own)) = context.forced(name) {
            selector.forced = variants.iter().position(|variant| variant == forced);
            // A name for all functions may be meant for others.
            if selector.forced.is_none() && own {
                let text = format!(
                    "the forced variant `{forced}` is none of {}: the model chooses",
                    variants.join(", ")
                );
                selector.note(NoteKind::Forced, &text);
            }
        }
        Ok(selector)
    }

    fn note(&self, kind: NoteKind, text: &str) {
        self.context.note(&Note { name: &self.name, kind, text });
    }

    fn no_model(&self, reason: &str) {
        let default = &self.variants[self.default];
        self.note(NoteKind::Model, &format!("{reason}; the default `{default}` is run"));
    }

    /// Uses a model, if it is of these variants and features.
    fn take(&mut self, model: Arc<Model>, path: Option<&Path>) {
        let place = path.map_or_else(|| "the model".to_owned(), |path| path.display().to_string());
        if let Err(reason) = model.check() {
            return self.no_model(&format!("{place}: {reason}"));
        }
        let place_of = |names: &[String], name: &String| names.iter().position(|own| own == name);
        let places: Option<Vec<usize>> =
            model.variants.iter().map(|variant| place_of(&self.variants, variant)).collect();
        match places.filter(|places| places.len() == self.variants.len()) {
            Some(places) => self.places = places,
            None => {
                let (own, other) = (self.variants.join(", "), model.variants.join(", "));
                return self.no_model(&format!("{place} is of other variants: {other} in place of {own}"));
            }
        }
        let mut used = Vec::new();
        for feature in &model.features {
            match place_of(&self.features, &feature.name) {
                Some(at) => used.push(at),
                None => {
                    let name = &feature.name;
                    return self.no_model(&format!("{place} needs a feature `{name}`, which is not there"));
                }
            }
        }
        self.used = used;
        self.model = Some(model);
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the variants.
    pub fn variants(&self) -> &[String] {
        &self.variants
    }

    /// Names of all features.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// The variant that is right for every input.
    pub fn default_variant(&self) -> usize {
        self.default
    }

    /// The model in use.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_deref()
    }

    /// The variant that is forced.
    pub fn forced(&self) -> Option<usize> {
        self.forced
    }

    /// Places of the features that the model needs, in the order in which [`Selector::choose`] takes their values; none without
    /// a model, and none where a variant is forced.
    pub fn needed(&self) -> &[usize] {
        if self.forced.is_some() { &[] } else { &self.used }
    }

    /// Chooses by the values of the features that are [needed](Selector::needed), in that order; `allowed` says whether a
    /// variant may be run, and is asked of as few as possible. `None` is a value that could not be had.
    ///
    /// The best variant that is allowed is taken, by the model's ranking, and the default where there is none.
    pub fn choose(&self, values: Option<&[f64]>, allowed: &dyn Fn(usize) -> bool) -> Choice {
        let choice = self.decide(values, allowed);
        let features = values.unwrap_or_default();
        self.decided(choice, features);
        choice
    }

    /// Tells a decision that was not made by [`Selector::choose`].
    pub(crate) fn decided(&self, choice: Choice, features: &[f64]) {
        let (name, reason) = (self.name.as_str(), choice.reason);
        self.context.decided(&Decision { name, variant: &self.variants[choice.variant], reason, features });
    }

    fn decide(&self, values: Option<&[f64]>, allowed: &dyn Fn(usize) -> bool) -> Choice {
        let default = |reason| Choice { variant: self.default, reason };
        if let Some(forced) = self.forced {
            if forced == self.default || allowed(forced) {
                return Choice { variant: forced, reason: Reason::Forced };
            }
            if self.said.first(NoteKind::Forced as usize) {
                let (forced, default) = (&self.variants[forced], &self.variants[self.default]);
                let text =
                    format!("the forced variant `{forced}` is not allowed for an input: `{default}` is run");
                self.note(NoteKind::Forced, &text);
            }
            return default(Reason::NoneAllowed);
        }
        let Some(model) = &self.model else { return default(Reason::NoModel) };
        let Some(values) = values.filter(|values| values.len() == self.used.len()) else {
            return default(Reason::NoFeatures);
        };
        for (at, (value, feature)) in values.iter().zip(&model.features).enumerate() {
            if !value.is_finite() {
                self.feature_failed(self.used[at], "is no finite number");
                return default(Reason::NoFeatures);
            }
            if !(*value >= feature.least && *value <= feature.greatest) && self.said_ranges.first(at) {
                let (name, least, greatest) = (&feature.name, feature.least, feature.greatest);
                let text = format!(
                    "feature `{name}` is {value}, outside of the {least} to {greatest} of the training inputs: \
                     the choice may be poor"
                );
                self.note(NoteKind::Range, &text);
            }
        }
        let mut ranking = Ranking::new();
        model.rank(values, &mut ranking);
        let mut reason = Reason::Model;
        for ranked in ranking.iter() {
            if let Some(&variant) = self.places.get(ranked)
                && allowed(variant)
            {
                return Choice { variant, reason };
            }
            reason = Reason::NextBest;
        }
        default(Reason::NoneAllowed)
    }

    /// Says, once for each feature, that it has no value.
    pub fn feature_failed(&self, feature: usize, what: &str) {
        if self.said_features.first(feature) {
            let name = self.features.get(feature).map_or("?", String::as_str);
            let default = &self.variants[self.default];
            self.note(NoteKind::Feature, &format!("feature `{name}` {what}: the default `{default}` is run"));
        }
    }

    /// Says, once for each variant, that its constraint panicked.
    pub fn constraint_failed(&self, variant: usize) {
        if self.said_constraints.first(variant) {
            let name = self.variants.get(variant).map_or("?", String::as_str);
            let text =
                format!("the constraint of variant `{name}` panicked: the variant counts as not allowed");
            self.note(NoteKind::Constraint, &text);
        }
    }
}
