//! What holds for the workspace as a whole: its documents, its licences, its structure.

mod documents;
mod licenses;
mod packages;
mod structure;
