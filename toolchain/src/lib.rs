//! What compiling, loading, running and measuring need and no stencil.
//!
//! [`compiler`] turns text into shared objects through the [`cache`], [`library`] loads them. [`nvrtc`] turns CUDA text
//! into machine code, [`disassembler`] shows that as text, [`driver`] runs it on a device; [`micro`] and [`occupancy`] say what devices do with any kernel.
//! [`child`] runs programs within limits, [`interrupt`] and [`cancel`] stop what runs. [`clock`], [`energy`] and
//! [`interference`] measure it, on a [`machine`].
//!
//! ```
//! use toolchain::compiler::{CompileOptions, Compiler, Language, SourceText};
//! use toolchain::{cache::Cache, library::Library};
//!
//! fn main() -> toolchain::Result<()> {
//!     let text = "const char *greeting(void) { return \"hello\"; }\n";
//!     let sources = [SourceText::new("greeting.c", text)];
//!     let compiler = Compiler::find(Language::C)?;
//!     let object = compiler.compile_shared(&sources, &CompileOptions::default(), &Cache::private()?)?;
//!     assert_eq!(Library::load(&object.path())?.text("greeting").as_deref(), Some("hello"));
//!     Ok(())
//! }
//! ```
//!
//! Nothing here depends on another part of Tilewright, and nothing needs CUDA when it is built. The features `cuda` and
//! `nvml`, on by default, are the crates that talk to NVIDIA's driver and to its counters; a build without them says so
//! where a device is asked for.

// Text to code, and code into the process.
pub mod cache;
pub mod compiler;
pub mod disassembler;
pub mod library;
pub mod nvrtc;

// Devices.
pub mod driver;
pub mod micro;
pub mod occupancy;

// Programs of others, and the end of ours.
pub mod cancel;
pub mod child;
pub mod interrupt;

// Measuring.
pub mod clock;
pub mod clocks;
pub mod energy;
pub mod interference;
pub mod machine;

pub mod error;

pub use error::{Error, Result};
