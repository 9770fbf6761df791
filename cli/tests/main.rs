//! The command, as its users call it. One program for all, which is linked once.
#![allow(clippy::expect_used, clippy::unwrap_used, dead_code)]

mod adaptive;
mod c_callers;
mod c_programs;
mod cache;
mod codesign;
mod cpu_models;
mod documents;
mod drawings;
mod events;
mod explain;
#[path = "support/generated.rs"]
mod generated;
#[path = "support/generated_calls.rs"]
mod generated_calls;
#[path = "support/generated_copies.rs"]
mod generated_copies;
#[path = "support/generated_integers.rs"]
mod generated_integers;
#[path = "support/generated_loops.rs"]
mod generated_loops;
#[path = "support/generated_small.rs"]
mod generated_small;
mod inspect;
mod lsp;
mod manuals;
mod models;
mod nested;
mod nested_on_a_gpu;
mod outputs;
#[cfg(target_os = "linux")]
mod ranks;
mod results;
mod schemas;
mod search;
#[cfg(unix)]
mod stopping;
mod support;
#[cfg(feature = "sqlite")]
mod trials;
mod wrong_input;
