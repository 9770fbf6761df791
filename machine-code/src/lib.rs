//! What the machine code of a kernel issues on a GPU, counted without one.
//!
//! A [`Listing`] is the text of NVIDIA's disassembler. [`run::block`] runs one block of a [`Launch`], warp by warp: the
//! integer, predicate and control-flow instructions of all 32 lanes, loops, calls and both sides of branches included;
//! values in memory and of floating-point arithmetic are not followed. Everything that is issued is counted, predicated off
//! or not, with the lanes that take part, the banks of shared memory and the sectors of global memory.
//!
//! ```
//! use machine_code::{Kind, Launch, Listing, run};
//!
//! let text = "\t.target\tsm_90\n\t.section\t.text.twice,\"ax\",@progbits\n.text.twice:\n\
//!     /*0000*/ LDC.64 R2, c[0x0][0x210] ;\n\
//!     /*0010*/ LDG.E R4, desc[UR4][R2.64] ;\n\
//!     /*0020*/ FADD R4, R4, R4 ;\n\
//!     /*0030*/ STG.E desc[UR4][R2.64], R4 ;\n\
//!     /*0040*/ EXIT ;\n";
//! let listing = Listing::parse(text)?;
//! let code = listing.kernel("twice")?;
//! let launch = Launch::new(&listing, [64, 1, 1], [1, 1, 1], vec![1 << 32], false)?;
//! let totals = run::block(code, &launch, [0, 0, 0], &|| false)?.totals(code);
//! assert_eq!(totals.instructions(), 10.0);
//! assert_eq!(totals.of(Kind::Single), 2.0);
//! # Ok::<(), machine_code::Error>(())
//! ```

mod counts;
mod decode;
mod error;
pub mod instruction;
mod integer;
mod launch;
mod listing;
mod memory;
pub mod run;
mod warp;

pub use counts::{Counts, Issued, Totals};
pub use error::{Error, Result};
pub use instruction::Kind;
pub use launch::Launch;
pub use listing::{Code, Listing};
pub use memory::SECTOR;
