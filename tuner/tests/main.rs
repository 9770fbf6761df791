//! Searchers, statistics and trees, on recorded data. One program for all, which is linked once.
#![allow(clippy::excessive_precision, clippy::unwrap_used)]

mod searchers_recorded;
mod shared_data;
mod starchart;
mod starchart_baselines;
mod starchart_drawings;
mod starchart_recorded;
mod statistics;
