//! The trials of a search in a store or on a server, from which it goes on.

use crate::error::Result;
use crate::run::Keeper;
use crate::space::{Point, Space};
use crate::tried::{Tried, trials_of};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use trials::repository::{self, Repository};
use trials::{Outcome, Setting};

/// A store or a server, and what it has of one search: the trials whose setting agrees with that of the search.
pub struct Kept {
    store: Box<dyn Repository>,
    space: Space,
    setting: Arc<Setting>,
    known: HashMap<Point, Outcome>,
    others: usize,
}

impl Kept {
    /// Opens a store, or makes it, or a server (`redis://..`). The parameters of the space become part of the setting, so that only a search of the
    /// same space goes on with its trials.
    ///
    /// # Errors
    /// A file that is no store, or cannot be written; a server that does not answer.
    pub fn open(path: &Path, space: &Space, setting: Setting) -> Result<Kept> {
        let setting = Setting { parameters: space.parameters().to_vec(), ..setting };
        let store = repository::open(path, &setting)?;
        let (mut known, mut others) = (HashMap::new(), 0);
        let mut verdicts: HashMap<*const Setting, bool> = HashMap::new();
        for trial in store.trials() {
            let is_own = *verdicts
                .entry(Arc::as_ptr(&trial.setting))
                .or_insert_with(|| !trial.setting.parameters.is_empty() && setting.agrees(&trial.setting));
            let names = trial.configuration.names().iter();
            let same = is_own && names.eq(space.parameters().iter().map(trials::Parameter::name));
            match space.point(trial.configuration.values()) {
                Ok(point) if same && trial.round == 0 => {
                    known.insert(point, trial.outcome.clone());
                }
                _ => others += 1,
            }
        }
        Ok(Kept { store, space: space.clone(), setting: Arc::new(setting), known, others })
    }

    /// Where trials are kept.
    pub fn store(&self) -> &dyn Repository {
        &*self.store
    }

    /// Number of trials that the search goes on from.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Number of trials in the store that are of something else, or were measured elsewhere.
    pub fn others(&self) -> usize {
        self.others
    }
}

impl Keeper for Kept {
    fn known(&self, point: &Point) -> Option<Outcome> {
        self.known.get(point).cloned()
    }

    fn keep(&mut self, tried: &Tried) -> Result<()> {
        for trial in trials_of(&self.space, &self.setting, [tried]) {
            self.store.append_once(&trial)?;
        }
        self.known.insert(tried.point.clone(), tried.outcome.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trials::{Parameter, Status, Value};

    #[test]
    fn a_search_goes_on_with_its_own_trials_only() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["trials.db", "trials.jsonl"] {
            let path = folder.path().join(name);
            if cfg!(not(feature = "sqlite")) && name == "trials.db" {
                continue;
            }
            let x = Parameter::new("x", (1..=4).map(Value::Integer).collect()).unwrap();
            let kind = Parameter::new("kind", vec![Value::from("a"), Value::from("b")]).unwrap();
            let space = Space::new(vec![x.clone(), kind], &[]).unwrap();
            let setting = |job: &str| Setting { job: job.to_owned(), ..Setting::default() };
            let points = space.points().unwrap().to_vec();
            let outcomes =
                [Outcome::measured("time", 0.1 + 0.2), Outcome::failed(Status::Timeout, "too slow")];
            let mut kept = Kept::open(&path, &space, setting("one")).unwrap();
            for (point, outcome) in points.iter().zip(&outcomes) {
                kept.keep(&Tried { point: point.clone(), outcome: outcome.clone() }).unwrap();
            }
            drop(kept);
            let kept = Kept::open(&path, &space, setting("one")).unwrap();
            let known: Vec<Outcome> = points.iter().filter_map(|point| kept.known(point)).collect();
            assert_eq!((known.as_slice(), kept.len()), (&outcomes[..], 2));
            drop(kept);
            // Another way of measuring, and another space.
            assert!(Kept::open(&path, &space, setting("two")).unwrap().is_empty());
            let part = Space::new(vec![x], &[]).unwrap();
            assert_eq!(Kept::open(&path, &part, setting("one")).unwrap().others(), 2);
        }
    }
}
