//! The document of a study, as the library makes it.

pub use optimizer::codesign::document::{Application, Constants, DesignFacts, Document};
