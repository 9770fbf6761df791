//! What is known of a program before code is made of it: the expression sequence of each computation (section 5.2.1 of the
//! dissertation), its schedules (5.2.2), and its policies (5.2.3); and what users choose by hand (5.1).

pub mod choice;
pub mod gpu;
pub mod policy;
pub mod schedule;
pub mod sequence;

pub use policy::{Implementation, Level, OmpSchedule, Resource};
pub use schedule::{Platform, Schedule};
pub use sequence::{Computation, computations};
