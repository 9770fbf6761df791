//! The same program on a CPU that differs in one thing.

use super::time::{CpuTime, kinds};

impl CpuTime {
    /// The same with another number of threads.
    pub fn with_threads(&self, threads: i64) -> CpuTime {
        let mut changed = self.clone();
        changed.cores.threads = threads.max(1);
        changed
    }

    /// The same with `T_sync` times `factor`.
    pub fn with_launches_times(&self, factor: f64) -> CpuTime {
        CpuTime { t_sync_s: self.t_sync_s * factor, ..self.clone() }
    }

    /// The same with the cost of lines from memory, and from caches that are too small, times `factor`.
    pub fn with_lines_times(&self, factor: f64) -> CpuTime {
        let mut changed = self.with_memory_line(self.body.memory_line_s * factor);
        for set in &mut changed.cpu.working_sets {
            set.line_s *= factor;
        }
        changed.cpu.visit_line_s *= factor;
        changed
    }

    /// The same with the cost of calls times `factor`.
    pub fn with_calls_times(&self, factor: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.body.call_s *= factor;
        changed
    }

    /// The same with the cost of rows (runs, blocks and points) times `factor`.
    pub fn with_rows_times(&self, factor: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.body.point_s *= factor;
        for run in &mut changed.body.runs {
            run.run_s *= factor;
            run.block_s *= factor;
        }
        changed.cores.kinds = kinds(&changed.body);
        changed
    }

    /// The same with a row of a block as dear in blocks of all kinds, as dear as in the cheapest kind: what a calibration
    /// says of a kind that it saw in few tiles may be wrong by a half.
    pub fn with_alike_rows(&self) -> CpuTime {
        let mut changed = self.clone();
        let runs = &mut changed.body.runs;
        let row_s = runs.iter().map(|run| run.block_s / run.rows as f64).fold(f64::INFINITY, f64::min);
        for run in runs {
            run.block_s = row_s * run.rows as f64;
        }
        changed.cores.kinds = kinds(&changed.body);
        changed
    }

    /// What rows alone take, as they were measured in one tile that stays where it is.
    pub fn rows_alone(&self) -> CpuTime {
        self.with_memory_line(0.0).with_hidden_lines(f64::INFINITY)
    }

    /// The stencil with another part of the time of lines between caches that its operations do not hide.
    pub fn with_line_part(&self, line_part: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.body.line_part = line_part;
        changed
    }

    /// The stencil whose runs take so much longer, in seconds. Which threads compute what stays as it is.
    pub fn with_longer_runs(&self, more_s: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.body.runs.iter_mut().for_each(|run| run.run_s += more_s);
        changed
    }

    /// The stencil with another cost of a line from memory, in seconds.
    pub fn with_memory_line(&self, memory_line_s: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.body.memory_line_s = memory_line_s;
        changed
    }

    /// The stencil with another cost of a line from the last cache, in seconds.
    pub fn with_visit_line(&self, visit_line_s: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.cpu.visit_line_s = visit_line_s;
        changed
    }

    /// The same with lines from a cache for nothing, as far as sweeps over so many bytes go: what several steps that are swept
    /// together, and what a processor fetches ahead, may hide.
    pub fn with_hidden_lines(&self, bytes: f64) -> CpuTime {
        let mut changed = self.with_visit_line(0.0);
        for set in changed.cpu.working_sets.iter_mut().filter(|set| 1024.0 * set.kb <= bytes) {
            set.line_s = 0.0;
        }
        changed
    }

    /// The same for windows of so many bytes at most: beyond, every sweep moves all lines from memory.
    pub fn with_window_limit(&self, bytes: f64) -> CpuTime {
        CpuTime { window_limit: bytes, ..self.clone() }
    }
}
