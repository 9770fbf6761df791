//! What a rank runs entrants on.

use crate::error::Result;
use execution::grid::ProgramData;
use execution::initial;
use execution::layout::Layout;
use execution::native::NativeProgram;
use execution::reference::default_parameters;
use polyhedral::program::Program;
use std::time::Instant;
use toolchain::interrupt;

/// A grid and time steps.
pub struct Ground {
    data: ProgramData,
    steps: i64,
    /// Calls of so many steps.
    calls: i64,
    parameters: Vec<f64>,
}

impl Ground {
    /// # Errors
    /// Memory.
    pub fn new(program: &Program, size: &[i64], [steps, calls]: [i64; 2]) -> Result<Ground> {
        let data = initial::random(program, Layout::padded(program, size)?, steps, 1)?;
        Ok(Ground { data, steps, calls, parameters: default_parameters(program) })
    }

    /// Seconds of a run with so many threads.
    ///
    /// # Errors
    /// An interruption, or a function that fails.
    pub fn run(&mut self, program: &Program, native: &NativeProgram, threads: usize) -> Result<f64> {
        interrupt::check()?;
        native.library().set_threads(threads);
        let start = Instant::now();
        for _ in 0..self.calls {
            native.run(program, &self.parameters, &mut self.data, self.steps)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Its extents.
    pub fn size(&self) -> &[i64] {
        self.data.size()
    }

    /// Steps of a call.
    pub fn steps(&self) -> i64 {
        self.steps
    }
}
