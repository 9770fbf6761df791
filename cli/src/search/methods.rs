//! The searchers, by name.

use tuner::searcher::{self, SearchOptions};

/// The searchers and what they do.
pub fn methods() -> Vec<(&'static str, &'static str)> {
    searcher::all(&SearchOptions::default())
        .iter()
        .map(|searcher| (searcher.name(), searcher.about()))
        .collect()
}
