//! Costs of tiled stencil programs, as functions of the counts of a kernel plan: time, energy, power and
//! memory; and the machines that they are for.
//!
//! Source: N. Prajapati, "Analytical Cost Metrics", 2018, chapters 2.3, 3, 4 and 6 ("the paper" below). The road:
//!
//! ```text
//! hhc_codegen::counts::forms --> TileCounts ----------+--> time::TimeModel --> Prediction --+--> energy, power
//! machines/*.toml --machine--> Hardware, constants ---+--> memory::constraints              |
//!                                                                              optimizer <--+
//! ```
//!
//! Units stand in names: `_s` seconds, `_w` watts, `_j` joules, `_kb` kibibytes, `_hz` hertz; a word is one element
//! of the stencil's widest type.

pub mod area;
pub mod constants;
pub mod cpu;
pub mod energy;
pub mod hardware;
pub mod machine;
pub mod memory;
pub mod time;
