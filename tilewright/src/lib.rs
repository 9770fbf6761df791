//! Stencil programs, from text to measured runs: the library under the `tilewright` command.
//!
//! ```text
//! load --> Stencil --build(tiling, machine)--> Built --run(arrays)--> Measured
//!          analysed once        choose, plan, prove, generate, compile, load
//! ```
//!
//! ```
//! use tilewright::{Backend, BuildRequest, RunRequest, Silent};
//!
//! fn main() -> tilewright::Result<()> {
//!     let (size, steps) = ([512, 512], 100);
//!     let heat = tilewright::load("heat2d")?;
//!     // Tile sizes are the model's best for this machine, and isl proves that they are legal.
//!     let built = tilewright::build(&heat, &BuildRequest::new(Backend::OpenMp, &size, steps), &Silent)?;
//!     let mut data = tilewright::random_data(&heat, &size, steps, 1)?;
//!     let request = RunRequest { repeat: 3, verify: true, ..RunRequest::new(&heat, steps) };
//!     let measured = tilewright::run(&heat, &built, &request, &mut data, &Silent)?;
//!     let tile = built.planned.map(|planned| planned.plan.tile.to_string()).unwrap_or_default();
//!     println!("{tile}: {:.2} GStencil/s", measured.gstencil_per_s);
//!     assert_eq!(measured.comparison.map(|found| found.mismatches), Some(0));
//!     Ok(())
//! }
//! ```
//!
//! Nothing here prints, ends the process or listens to signals. An [`Observer`] hears how far a call is; a [`Cancel`]
//! token stops the calls inside its scope, which then fail with
//! [`Kind::Interrupted`](error::Kind::Interrupted).

pub mod adaptive;
pub mod backend;
pub mod build;
pub mod c_program;
pub mod certified;
pub mod choice;
pub mod cluster;
pub mod contest;
pub mod contract;
pub mod cpu_model;
pub mod data;
pub mod emit;
pub mod error;
pub mod finalists;
pub mod gpu_model;
pub mod here;
pub mod in_place;
pub mod inspect;
pub mod load;
pub mod machines;
pub mod model;
pub mod observer;
pub mod on_ranks;
pub mod output;
pub mod plan;
mod processors;
pub mod profiling;
pub mod rank_watch;
pub mod ranks;
pub mod record;
pub mod rivals;
pub mod run;
pub mod run_record;
pub mod runner;
pub mod state;
pub mod strategies;
pub mod text;
pub mod tile_trials;
pub mod validation;
pub mod workload;

mod pace;

pub use backend::Backend;
pub use build::{BuildRequest, Built, build};
pub use data::{initial_data, random_data};
pub use emit::{EmitRequest, Emitted, emit};
pub use error::{Error, Result};
pub use in_place::{run_in_place, run_on_device};
pub use load::{Stencil, load};
pub use model::Model;
pub use observer::{Observer, Silent};
pub use plan::{Tiling, plan};
pub use run::{Measured, RunRequest, run};
pub use toolchain::cancel::Cancel;
