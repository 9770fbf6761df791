//! Costs of tiled stencil programs, as functions of the counts of a kernel plan: time, energy, power and
//! memory; and the machines that they are for.
//!
//! Source: N. Prajapati, "Analytical Cost Metrics", 2018, chapters 2.3, 3, 4 and 6 ("the paper" below). The road:
//!
//! ```text
//! hhc_codegen::counts --> what a tile does ---+
//!                                             +--> CostModel --> Spent (searches), Cost, Explanation (people)
//! machines/*.toml --> machine, constants -----+    gpu::GpuCost, cpu::CpuCost
//! ```
//!
//! One trait, [`CostModel`](model::CostModel), for every machine: what a tile costs, whether it fits, bounds over many
//! tiles, and why it costs that much. A program on a GPU and on a CPU:
//!
//! ```
//! use cost_models::cpu::CpuCost;
//! use cost_models::gpu::GpuCost;
//! use cost_models::machine::shipped;
//! use cost_models::model::CostModel;
//! use hhc_codegen::counts::Problem;
//! use hhc_codegen::strategy::{self, Target};
//!
//! /// Says where the time goes, on any machine.
//! fn explain<M: CostModel>(model: &M, count: &dyn Fn(&M) -> Option<M::Counts>) -> Option<f64> {
//!     let cost = model.cost(&count(model)?);
//!     let why = model.explain(count)?;
//!     println!("{:.2} ms, most of it {}", 1e3 * cost.prediction.seconds, why.bottleneck);
//!     for part in &why.breakdown {
//!         println!("{} = {} = {:.3e} {}", part.name, part.formula, part.value, part.unit);
//!     }
//!     for sensitivity in &why.sensitivities {
//!         println!("1 % more of {} costs {:.2} %", sensitivity.parameter, sensitivity.elasticity);
//!     }
//!     let sum = why.ideal_s + why.losses.iter().map(|loss| loss.seconds).sum::<f64>();
//!     assert!((sum / cost.prediction.seconds - 1.0).abs() < 1e-9);
//!     Some(cost.prediction.seconds)
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let program = std::sync::Arc::new(polyhedral::shipped::load("heat2d").ok_or("no such stencil")?);
//!     let problem = Problem::new(&program, &[4096, 4096], 1000)?;
//!     let strategy = strategy::preferred();
//!     let tile = |target| strategy.default_tile(&program, &problem.cone, target);
//!
//!     let gpu = GpuCost::new(&problem, &shipped("h100").ok_or("no such machine")??)?;
//!     let blocks = tile(Target::Cuda);
//!     let on_gpu = explain(&gpu, &|model| model.counts(&problem, strategy, &blocks, 2).ok());
//!
//!     let machine = shipped("zen4").ok_or("no such machine")??;
//!     let cpu = CpuCost::new(&machine, &program, &problem.cone, &problem.size, problem.steps)?;
//!     let boxes = tile(Target::OpenMp);
//!     let on_cpu = explain(&cpu, &|model| model.counts(strategy, &boxes).ok());
//!     assert!(on_gpu < on_cpu);
//!     Ok(())
//! }
//! ```
//!
//! Units stand in names: `_s` seconds, `_w` watts, `_j` joules, `_kb` kibibytes, `_hz` hertz; a word is one element
//! of the stencil's widest type.

pub mod area;
pub mod cache;
pub mod constants;
pub mod cpu;
pub mod energy;
pub mod explain;
pub mod form;
pub mod gpu;
pub mod hardware;
pub mod machine;
pub mod memory;
pub mod model;
pub mod multiprocessor;
pub mod objective;
pub mod time;
