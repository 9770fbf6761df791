//! What calibration measures on a CPU beside the constants that it shares with a GPU: the costs of a stencil's
//! rows, and of memory behind the caches.

use super::Section;
use serde::Serialize;
use std::collections::BTreeMap;

/// Measurements of a CPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuCalibration {
    /// Threads that worked while these values were measured: one per core.
    pub threads: i64,
    /// Seconds per line between the last cache and the one before it, as far as rows do not hide them; 0 where nobody
    /// measured it.
    pub visit_line_s: f64,
    /// The cost of a line by the bytes that a core works on, smallest first; the last entry is memory.
    pub working_sets: Vec<WorkingSet>,
    /// Costs of rows by stencil and element type.
    pub bodies: BTreeMap<String, BTreeMap<String, BodyCosts>>,
}

/// What it costs to sweep over a working set again and again, all cores at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WorkingSet {
    /// Bytes that each core sweeps over.
    pub kb: f64,
    /// Seconds per cache line (64 bytes) that is read or written, beyond those of a small working set.
    pub line_s: f64,
    /// Median of the absolute differences from it, in seconds.
    pub dispersion: f64,
}

/// Costs of the rows of one stencil on one core, its data in a cache. A *call* computes one statement on one
/// row of a sub-tile; it consists of *runs* along the innermost dimension, over several grid rows at once, and
/// these of *blocks* of whole cache lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BodyCosts {
    /// Operations per point and step: the values belong to a stencil with this number.
    pub flops: i64,
    /// Values read per point and step, likewise.
    pub reads: i64,
    /// Seconds per call.
    pub call_s: f64,
    /// Seconds per run and block by the number of grid rows at once.
    pub runs: Vec<RunCosts>,
    /// Seconds per point of a row that is shorter than a block.
    pub point_s: f64,
    /// Seconds per cache line (64 bytes) from or to memory, beyond those of a line in a cache: what prefetching and
    /// the stencil's own operations do not hide.
    pub memory_line_s: f64,
    /// The part of the time of lines between caches that its operations do not hide.
    pub line_part: f64,
    /// Root of the mean squared relative error with which these values explain what was measured.
    pub relative_error: f64,
    /// Median dispersion of the measurements, relative.
    pub dispersion: f64,
    /// Measurements: boxes times repetitions.
    pub measurements: i64,
}

/// Costs of one variant of a row's code.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RunCosts {
    /// Grid rows at once.
    pub rows: i64,
    /// Seconds to begin a run.
    pub run_s: f64,
    /// Seconds per block.
    pub block_s: f64,
}

impl CpuCalibration {
    /// The costs of a stencil's rows for an element type (`f32`, `f64`), where they were measured for a stencil
    /// of this name with these counts.
    pub fn body(&self, stencil: &str, element: &str, flops: i64, reads: i64) -> Option<&BodyCosts> {
        let body = self.bodies.get(stencil)?.get(element)?;
        (body.flops == flops && body.reads == reads).then_some(body)
    }

    /// Seconds per line for a working set of this many bytes per core: linear between the measurements, and from nothing
    /// to the first one.
    pub fn line_s(&self, bytes: f64) -> f64 {
        let kb = bytes / 1024.0;
        let above = self.working_sets.partition_point(|set| set.kb < kb);
        match (above.checked_sub(1).map(|below| self.working_sets[below]), self.working_sets.get(above)) {
            (Some(low), Some(high)) => {
                low.line_s + (high.line_s - low.line_s) * (kb - low.kb) / (high.kb - low.kb)
            }
            (Some(end), None) => end.line_s,
            (None, Some(first)) => first.line_s * kb / first.kb,
            (None, None) => 0.0,
        }
    }

    pub(super) fn read(section: &mut Section<'_, '_>) -> CpuCalibration {
        let threads = section.integer("threads", "threads", 1..=65_536);
        let visit_line_s =
            section.optional_number("visit_line_s", "seconds per line", 0.0..=1.0).unwrap_or(0.0);
        let working_sets = section.tables("working_sets", |set| WorkingSet {
            kb: set.number("kb", "KiB", 0.1..=1e10),
            line_s: set.number("line_s", "seconds per line", 0.0..=1.0),
            dispersion: set.number("dispersion", "seconds per line", 0.0..=1.0),
        });
        if working_sets.is_empty() {
            section.problem("working_sets", "at least one working set is needed: memory");
        }
        if working_sets.windows(2).any(|pair| pair[1].kb <= pair[0].kb) {
            section.problem("working_sets", "working sets go from the smallest to the largest");
        }
        let mut bodies = BTreeMap::new();
        section.optional_table("bodies", |stencils| {
            for stencil in stencils.keys() {
                let elements = stencils.table(&stencil, |elements| {
                    let mut found = BTreeMap::new();
                    for element in elements.keys() {
                        if !matches!(element.as_str(), "f32" | "f64") {
                            elements.problem(&element, "the element types are f32 and f64");
                        }
                        found.extend(elements.table(&element, BodyCosts::read).map(|body| (element, body)));
                    }
                    found
                });
                bodies.insert(stencil, elements.unwrap_or_default());
            }
        });
        CpuCalibration { threads, visit_line_s, working_sets, bodies }
    }
}

impl BodyCosts {
    fn read(section: &mut Section<'_, '_>) -> BodyCosts {
        let body = BodyCosts {
            flops: section.integer("flops", "operations per point and step", 0..=1_000_000),
            reads: section.integer("reads", "values read per point and step", 0..=1_000_000),
            call_s: section.number("call_s", "seconds per call", 0.0..=1.0),
            runs: section.tables("runs", |run| RunCosts {
                rows: run.integer("rows", "grid rows at once", 1..=64),
                run_s: run.number("run_s", "seconds per run", 0.0..=1.0),
                block_s: run.number("block_s", "seconds per block", 0.0..=1.0),
            }),
            point_s: section.number("point_s", "seconds per point", 0.0..=1.0),
            memory_line_s: section.number("memory_line_s", "seconds per line", 0.0..=1.0),
            line_part: section.optional_number("line_part", "relative", 0.0..=1.0).unwrap_or(1.0),
            relative_error: section.number("relative_error", "relative", 0.0..=1e3),
            dispersion: section.number("dispersion", "relative", 0.0..=1e3),
            measurements: section.integer("measurements", "measurements", 1..=1_000_000_000),
        };
        let descending = body.runs.windows(2).all(|pair| pair[1].rows < pair[0].rows);
        if !descending || body.runs.last().is_none_or(|run| run.rows != 1) {
            section.problem("runs", "the numbers of rows go down to 1");
        }
        body
    }
}
