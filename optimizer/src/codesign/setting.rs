//! What a workload is worked on with: candidate tiles, constants and operations of every stencil.

use super::CodesignError;
use super::constants::{Fit, JointFit};
use super::design::Design;
use super::fitting::Fitting;
use super::inner::{Effort, Outcome};
use super::ranked::{Constants, OnDesign, Ranked};
use super::threads::Threads;
use super::tiles::{MOST_TILES, TileSpace, TileTable, TooMany};
use super::workload::{CIter, Load, Objective, Run, Workload};
use cost_models::area::Chip;
use cost_models::cache::{energy_with_hits, footprint_bytes, hit_rate, with_hits};
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::gpu::Kernels;
use cost_models::hardware::Hardware;
use cost_models::machine::GpuFacts;
use hhc_codegen::counts::{Limits, Problem, TileCounts};

/// A stencil, ready to be searched.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The stencil.
    pub load: Load,
    /// The stencil on its first grid.
    pub problem: Problem,
    /// Candidates, of each strategy of the workload that can tile it: one entry, or some for each execution.
    pub spaces: Vec<TileSpace>,
    /// Threads that its blocks may have.
    pub threads: Threads,
    /// The constants on the base machine.
    pub time: TimeConstants,
    /// The constants of energy; static power is added per design.
    pub energy: EnergyConstants,
    /// Floating-point operations of each execution.
    pub flops: Vec<f64>,
    /// How `C_iter` came about.
    pub fit: Fit,
}

/// The setting of a workload.
#[derive(Debug, Clone)]
pub struct Setting {
    /// What was asked for.
    pub workload: Workload,
    /// The stencils.
    pub subjects: Vec<Subject>,
    /// Facts of the base machine.
    pub base: GpuFacts,
    /// Static power in watts per mm2.
    pub static_w_per_mm2: f64,
    /// How constants were fitted; `None` where no rate is stated.
    pub fit: Option<JointFit>,
    /// Bytes of a block for which tiles are listed: those of the largest design.
    pub block_bytes: i64,
}

/// What tables depend on: lanes, registers, and `L`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// `n_V`
    pub n_v: i64,
    /// `R_VU`
    pub r_vu_kb: f64,
    /// Factor on the base machine's `L`.
    pub l_factor: f64,
    /// Second-level cache.
    pub l2_kb: f64,
}

impl Key {
    /// As numbers that can be hashed; no part is a negative zero or no number.
    pub fn bits(&self) -> [u64; 4] {
        [self.n_v as u64, self.r_vu_kb.to_bits(), self.l_factor.to_bits(), self.l2_kb.to_bits()]
    }
}

/// Tables of one stencil for one [`Key`], one per space of candidates.
pub struct Tables<'a> {
    subject: &'a Subject,
    tables: Vec<TileTable>,
    /// By execution.
    constants: Vec<Constants>,
    n_v: i64,
}

impl Setting {
    /// Lists candidates; the constants are those of the base machine.
    ///
    /// # Errors
    /// [`CodesignError::Analysis`] where a stencil cannot be tiled, [`CodesignError::NoTile`] where no tile of a stencil
    /// fits any design.
    pub(super) fn unfitted(workload: Workload) -> Result<Setting, CodesignError> {
        let base = workload.family.facts().ok_or(CodesignError::NoGpu)?.clone();
        let largest = Design { m_sm_kb: workload.most_m_sm_kb(), ..Design::from(&base) };
        let block_bytes = largest.hardware(&base).shared_per_block_bytes;
        let static_w =
            workload.family.base.calibration.as_ref().and_then(|c| c.energy.as_ref()).map(|e| e.p_static_w);
        let mut setting = Setting {
            // Where the die's area is not published, the model's.
            static_w_per_mm2: static_w.unwrap_or(0.0)
                / base.area_mm2.unwrap_or_else(|| workload.family.area.total(&Chip::from(&base))),
            base,
            subjects: Vec::new(),
            fit: None,
            block_bytes,
            workload,
        };
        let loads = setting.workload.stencils.iter();
        setting.subjects =
            loads.map(|load| setting.subject(load.clone())).collect::<Result<_, CodesignError>>()?;
        Ok(setting)
    }

    /// The same with tiles for blocks of so many bytes.
    ///
    /// # Errors
    /// [`CodesignError::TooManyTiles`], [`CodesignError::NoTile`]
    pub fn for_blocks(&self, bytes: i64) -> Result<Setting, CodesignError> {
        let mut setting = Setting { block_bytes: bytes, ..self.clone() };
        for (index, subject) in self.subjects.iter().enumerate() {
            setting.subjects[index].spaces = setting.spaces(&subject.problem, &subject.load)?;
        }
        Ok(setting)
    }

    /// The tiles of a stencil, strategy by strategy.
    fn spaces(&self, problem: &Problem, load: &Load) -> Result<Vec<TileSpace>, CodesignError> {
        let limits = Limits {
            bytes: self.block_bytes,
            warp: self.base.warp,
            tiles: MOST_TILES,
            time_alone: self.workload.time_alone(),
        };
        let on = Design::from(&self.base).hardware(&self.base).multiprocessor();
        let of = |&strategy: &_| TileSpace::all(strategy, problem, &load.runs, limits, &on);
        let spaces: Result<Vec<Vec<TileSpace>>, _> = self.workload.strategies.iter().map(of).collect();
        let (stencil, bytes) = (load.name.clone(), limits.bytes);
        match spaces.map(|spaces| spaces.concat()) {
            Err(TooMany) => Err(CodesignError::TooManyTiles { stencil, most: limits.tiles, bytes }),
            Ok(spaces) if spaces.iter().all(TileSpace::is_empty) => {
                Err(CodesignError::NoTile { stencil, bytes })
            }
            // Strategies without a tile that fits take no part.
            Ok(spaces) => Ok(spaces.into_iter().filter(|space| !space.is_empty()).collect()),
        }
    }

    fn subject(&self, load: Load) -> Result<Subject, CodesignError> {
        let first = load.runs.first().ok_or(CodesignError::NoGpu)?;
        let failed = |reason: String| CodesignError::Analysis { stencil: load.name.clone(), reason };
        let problem = Problem::new(&load.program, &first.size, first.steps)
            .map_err(|error| failed(error.to_string()))?;
        let machine = &self.workload.family.base;
        let (time, energy) =
            match (TimeConstants::of(&problem, machine), EnergyConstants::of(&problem, machine)) {
                (Some(time), Some(energy)) => (time, energy),
                _ => return Err(failed(format!("`{}` has no constants of time and energy", machine.name))),
            };
        let mut time = time;
        let words = problem.element().bytes() as f64 / 4.0;
        let stated = &self.workload.constants;
        time.l_s_per_word = words * self.workload.l_s_per_word(time.l_s_per_word / words);
        time.tau_sync_s = stated.tau_sync_s.seconds.unwrap_or(time.tau_sync_s);
        time.t_sync_s = stated.t_sync_s.seconds.unwrap_or(time.t_sync_s);
        if let CIter::Stated(seconds) = load.c_iter {
            time.c_iter_s = seconds;
        }
        let spaces = self.spaces(&problem, &load)?;
        let flops = load.runs.iter().map(|run| {
            problem.with_size(&run.size, run.steps).total_iterations() as f64 * problem.flops_per_iteration()
        });
        let flops: Vec<f64> = flops.collect();
        if flops.iter().any(|flops| *flops <= 0.0) {
            return Err(failed("it has no floating-point operations to count".to_string()));
        }
        let basis = match load.c_iter {
            CIter::Machine => "machine",
            CIter::Stated(_) => "stated",
            CIter::Fitted(_) => "fitted",
        };
        let fit = Fit::new(basis, &time, &problem, &self.base);
        let threads = load.threads.clone().unwrap_or_else(|| self.workload.threads.clone());
        Ok(Subject { problem, spaces, threads, time, energy, flops, fit, load })
    }

    /// What the tables of a design depend on.
    pub fn key(&self, design: &Design) -> Key {
        let Design { n_v, r_vu_kb, l2_kb, .. } = *design;
        Key { n_v, r_vu_kb, l_factor: self.workload.l_factor(design.n_sm), l2_kb }
    }

    /// The tables of a stencil.
    pub fn tables<'a>(&'a self, subject: &'a Subject, key: &Key) -> Tables<'a> {
        let lanes = key.n_v.min(subject.threads.filling(key.n_v));
        let tables = subject.spaces.iter().map(|space| space.table(lanes)).collect();
        let constants = (0..subject.load.runs.len()).map(|run| self.constants(subject, run, key)).collect();
        Tables { subject, tables, constants, n_v: key.n_v }
    }

    /// The constants of an execution, with what the cache saves it.
    fn constants(&self, subject: &Subject, run: usize, key: &Key) -> Constants {
        let Run { size, steps } = &subject.load.runs[run];
        let problem = subject.problem.with_size(size, *steps);
        let hit_rate = hit_rate(key.l2_kb, footprint_bytes(&problem));
        let words = problem.element().bytes() as f64 / 4.0;
        let cache_s = self.workload.by_reading(self.base.l2_s_per_word()) * words * key.l_factor;
        let time = TimeConstants { l_s_per_word: subject.time.l_s_per_word * key.l_factor, ..subject.time };
        (with_hits(&time, hit_rate, cache_s), energy_with_hits(&subject.energy, hit_rate, words))
    }

    /// Area of a design in mm2.
    pub fn area_mm2(&self, design: &Design) -> f64 {
        self.workload.family.area.total(design)
    }

    /// What limits tiles on a design.
    pub fn hardware(&self, design: &Design) -> Hardware {
        design.hardware(&self.base)
    }

    /// The design as a search sees it.
    pub fn on(&self, design: &Design) -> OnDesign {
        OnDesign {
            hardware: self.hardware(design),
            static_w: self.static_w_per_mm2 * self.area_mm2(design),
            power_w: self.workload.budget.power_w,
        }
    }

    /// The best tiles of all executions of all stencils on one design; `None` for stencils that do not fit.
    pub fn evaluate(&self, design: &Design, effort: &mut Effort) -> Vec<Option<Vec<Outcome>>> {
        let key = self.key(design);
        let of = |subject: &Subject| {
            let tables = self.tables(subject, &key);
            let ranked = tables.ranked();
            let fitting = fitting(&ranked, &self.hardware(design));
            tables.best(&ranked, &fitting, self.workload.objective, &self.on(design), effort)
        };
        self.subjects.iter().map(of).collect()
    }
}

impl Tables<'_> {
    /// The candidates in order of density, one entry per space.
    pub fn ranked(&self) -> Vec<Ranked<'_>> {
        let both = self.subject.spaces.iter().zip(&self.tables);
        let threads = (&self.subject.threads, self.n_v);
        both.map(|(space, table)| Ranked::new(space, table, &self.constants, threads)).collect()
    }

    /// The best outcome of every execution over all strategies (the first one of equal ones), with the least of their bounds; `None`
    /// where an execution fits under none of them.
    pub fn best(
        &self,
        ranked: &[Ranked<'_>],
        fitting: &[Fitting],
        objective: Objective,
        design: &OnDesign,
        effort: &mut Effort,
    ) -> Option<Vec<Outcome>> {
        let of_run = |run: usize| {
            let mut best: Option<Outcome> = None;
            for (ranked, fitting) in ranked.iter().zip(fitting).filter(|(ranked, _)| ranked.serves(run)) {
                let model = ranked.model(design, run);
                let outcome = ranked.best(run, objective, (&model, design.power_w), fitting, effort);
                best = match (best, outcome) {
                    (Some(best), Some(own)) => {
                        let better = own.value(objective) < best.value(objective);
                        let bound = best.bound.min(own.bound);
                        Some(Outcome { bound, ..if better { own } else { best } })
                    }
                    (best, own) => best.or(own),
                };
            }
            best
        };
        (0..self.subject.load.runs.len()).map(of_run).collect()
    }
}

/// The candidates that fit, one entry per space.
pub fn fitting(ranked: &[Ranked<'_>], hardware: &Hardware) -> Vec<Fitting> {
    ranked.iter().map(|ranked| ranked.fitting(hardware)).collect()
}

/// The space that the tiles of an outcome of execution `run` are of, and their counts.
pub fn counted<'r, 'a>(
    ranked: &'r [Ranked<'a>],
    run: usize,
    outcome: &Outcome,
) -> Option<(&'r Ranked<'a>, Kernels<TileCounts>)> {
    let own = ranked.iter().filter(|own| own.serves(run) && own.strategy() == outcome.strategy);
    let details = |own: &'r Ranked<'a>| Some((own, own.details(run, &outcome.sizes, outcome.threads)?));
    own.into_iter().find_map(details)
}

/// The spaces of the first strategy that serve execution `run`.
pub fn of_first<'r, 'a>(ranked: &'r [Ranked<'a>], run: usize) -> impl Iterator<Item = &'r Ranked<'a>> {
    let first = ranked.first().map(Ranked::strategy);
    ranked.iter().filter(move |own| Some(own.strategy()) == first && own.serves(run))
}
