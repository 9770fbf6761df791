//! The models as their definitions have them (`docs/models.md`), in intervals: of one tile, all that a machine file and
//! a tile's counts leave open is rounding.

use crate::interval::Interval;
use cost_models::form::TimeModel;
use cost_models::hardware::Hardware;
use cost_models::machine::{Machine, Provenance};
use cost_models::multiprocessor::{
    CACHED_BYTES, FAR_CYCLES, NEAR_CYCLES, REACHED, SCHEDULERS, START_CYCLES, WARP, warps,
};
use cost_models::objective::Objective;
use hhc_codegen::counts::accounting::Accounting;
use hhc_codegen::counts::{Problem, TileCounts, TileForms, TileWork, Work};
use polyhedral::program::ElementType;

fn number(value: f64) -> Interval {
    Interval::exact(value)
}

fn up(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// A problem on a machine, and what is minimised.
pub(crate) struct Model {
    pub form: TimeModel,
    pub objective: Objective,
    /// Limits of a multiprocessor and of its blocks.
    pub limits: Hardware,
    rates: Rates,
    /// `L` per word of the program's type, `tau_sync`, `T_sync`, `C_iter`.
    pub l: Interval,
    pub tau: Interval,
    launch: Interval,
    c_iter: Interval,
    energy: Option<Energies>,
}

/// What a multiprocessor does in a cycle.
struct Rates {
    clock: Interval,
    issue: Interval,
    arithmetic: Interval,
    shared: Interval,
    cached_s: Interval,
    reached: Interval,
    /// Words of the second-level cache.
    cache: f64,
}

/// Joules per event of this program, and watts.
struct Energies {
    glob: Interval,
    shared: Interval,
    iteration: Interval,
    sync: Interval,
    launch: Interval,
    static_w: Interval,
}

/// Seconds and joules, those of static power aside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    pub seconds: Interval,
    pub dynamic_j: Interval,
}

/// Seconds of a sub-tile alone on a multiprocessor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demands {
    /// What schedulers issue that have as many warps each, and what shared memory delivers.
    issue: Interval,
    shared: Interval,
    pub transfer: Interval,
    /// The part of what is loaded that is on its way while the sub-tile before computes.
    ahead: Interval,
    /// From the first instruction of a warp to its last one, and barriers.
    latency: Interval,
    barrier: Interval,
    /// Warps of a block.
    warps: i64,
}

/// Warps of a block that all schedulers have as many of: with no other number does it take less.
pub(crate) const EVEN: i64 = SCHEDULERS as i64;

impl Demands {
    /// Seconds in which so many tiles at once compute, for each of them: the fullest scheduler has `ceil(warps / 4)` warps.
    pub fn compute(&self, tiles: i64) -> Interval {
        let (warps, schedulers) = (tiles.max(1) * self.warps, SCHEDULERS as i64);
        let fullest = Interval::of(up(warps, schedulers) * schedulers) / Interval::of(warps);
        (self.issue * fullest).max(self.shared)
    }

    /// With a part of the words.
    pub fn share(&self, share: Interval) -> Demands {
        Demands { transfer: self.transfer * share, ..*self }
    }
}

impl Model {
    /// The model of a problem on a machine.
    ///
    /// # Errors
    /// What the machine lacks, as a sentence.
    pub fn new(
        problem: &Problem,
        machine: &Machine,
        form: TimeModel,
        objective: Objective,
    ) -> Result<Model, String> {
        let facts = machine.gpu().ok_or("the machine is a CPU: certificates are of GPUs")?;
        let calibration = machine.calibration.as_ref().ok_or("the machine has no [calibration]")?;
        let words = number(problem.element().bytes() as f64 / 4.0);
        let double = problem.element() == ElementType::F64;
        let (warp, clock) = (number(WARP), number(facts.clock_hz));
        let measured = calibration.provenance == Provenance::Measured;
        let rates = Rates {
            clock,
            issue: number(SCHEDULERS).min(Interval::of(facts.n_v) / warp),
            arithmetic: Interval::of(if double { facts.n_v_f64 } else { facts.n_v }) / warp,
            shared: Interval::of(facts.shared_words_per_cycle) / warp,
            cached_s: Interval::of(problem.element().bytes() as i64) / (number(CACHED_BYTES) * clock),
            reached: match (measured, facts.copied_bytes_per_s) {
                (true, _) => Interval::ONE,
                (false, Some(copied)) => number(copied) / number(facts.bandwidth_bytes_per_s),
                (false, None) => number(REACHED),
            },
            cache: facts.l2_kb * 1024.0 / problem.element().bytes() as f64,
        };
        let known = calibration.c_iter(&problem.program.name, problem.element().name());
        let c_iter = match (known, form) {
            (Some(known), TimeModel::Paper) => number(known.value),
            _ => {
                let iteration = Accounting::new(problem).iteration();
                rates.issue_s(&iteration).max(rates.shared_s(&iteration)) * Interval::of(facts.n_v)
            }
        };
        let flops = Interval::of(problem.operations.flops as i64)
            / Interval::of(problem.program.statements.len() as i64);
        let energy = calibration.energy.as_ref().map(|energy| Energies {
            glob: number(energy.e_glob_j) * words,
            shared: number(energy.e_shared_j) * words,
            iteration: number(energy.e_flop_j) * words * flops,
            sync: number(energy.e_sync_j),
            launch: number(energy.e_launch_j),
            static_w: number(energy.p_static_w),
        });
        if objective != Objective::Time && energy.is_none() {
            return Err("the objective needs energies, and the machine has none".to_owned());
        }
        if objective == Objective::Power && form == TimeModel::Counted {
            return Err(
                "power is of the paper's form alone: nothing bounds the counted time from above".into()
            );
        }
        Ok(Model {
            form,
            objective,
            limits: Hardware::of(&machine.name, facts),
            rates,
            l: number(calibration.l_s_per_word.value) * words,
            tau: number(calibration.tau_sync_s.value),
            launch: number(calibration.t_sync_s.value),
            c_iter,
            energy,
        })
    }

    /// The objective.
    pub fn value(&self, spent: &Spent) -> Interval {
        let Some(energy) = &self.energy else { return spent.seconds };
        let joules = || spent.dynamic_j + energy.static_w * spent.seconds;
        match self.objective {
            Objective::Time => spent.seconds,
            Objective::Energy => joules(),
            Objective::Edp => joules() * spent.seconds,
            // E / T, of which static power is a constant.
            Objective::Power => spent.dynamic_j / spent.seconds + energy.static_w,
        }
    }

    /// The value of a tile of a family, `k` of them resident; `None` where they do not fit.
    pub fn of_tile(&self, forms: &dyn TileForms, sizes: [i64; 3], k: i64) -> Option<Interval> {
        if !forms.admits(sizes) {
            return None;
        }
        let mut spent = Spent { seconds: Interval::ZERO, dynamic_j: Interval::ZERO };
        for class in 0..forms.classes() {
            let counts = forms.counts(class, sizes);
            let work = (self.form == TimeModel::Counted).then(|| forms.work(class, sizes));
            let registers = counts.registers.max(work.as_ref().map_or(0, |work| work.registers));
            if !self.fits(&counts, registers, k) {
                return None;
            }
            let seconds = match &work {
                Some(work) => self.counted_s(&counts, work, k),
                None => self.paper_s(&counts, k),
            };
            spent.seconds = spent.seconds + seconds;
            spent.dynamic_j = spent.dynamic_j + self.dynamic_j(&counts);
        }
        Some(self.value(&spent))
    }

    /// Whether `k` windows of so many bytes fit a multiprocessor.
    pub fn holds(&self, bytes: i64, k: i64) -> bool {
        let limits = &self.limits;
        bytes <= limits.shared_per_block_bytes
            && (bytes == 0 || k * (bytes + limits.shared_reserved_bytes) <= limits.m_sm_bytes)
    }

    fn fits(&self, counts: &TileCounts, registers: i64, k: i64) -> bool {
        let limits = &self.limits;
        self.holds(counts.tile_bytes, k)
            && counts.threads <= limits.threads_per_block
            && k * counts.threads <= limits.threads_per_sm
            && k <= limits.blocks_per_sm
            && k * counts.threads * registers <= limits.registers_per_sm
    }

    /// `e_glob*words + e_shared*fast words + e_iter*iterations + e_sync*barriers + e_launch*N_w`
    fn dynamic_j(&self, counts: &TileCounts) -> Interval {
        let Some(energy) = &self.energy else { return Interval::ZERO };
        let own = Interval::of(counts.iterations.max(1));
        let total = Interval::of(counts.total_iterations);
        let sub_tiles = Interval::of(counts.tiles) * Interval::of(counts.sub_tiles);
        let computed = (Interval::ONE + Interval::of(counts.copies) / own) * total;
        energy.glob * (sub_tiles * Interval::of(counts.words_in + counts.words_out))
            + energy.shared * (Interval::of(counts.fast_words) / own * total)
            + energy.iteration * computed
            + energy.sync * (sub_tiles * Interval::of(counts.barriers))
            + energy.launch * Interval::of(counts.wavefronts)
    }

    /// The same from what is known of a box.
    pub fn joules_of(
        &self,
        wavefronts: i64,
        words: Interval,
        fast: Interval,
        total: Interval,
        barriers: Interval,
    ) -> Interval {
        let Some(energy) = &self.energy else { return Interval::ZERO };
        energy.glob * words
            + energy.shared * (fast * total)
            + energy.iteration * total
            + energy.sync * barriers
            + energy.launch * Interval::of(wavefronts)
    }

    /// Barriers of a kernel cost `tau_sync`, if it has any.
    pub fn barrier(&self, barriers: i64) -> Interval {
        if barriers > 0 { self.tau } else { Interval::ZERO }
    }

    /// `C_iter * rounds`
    pub fn iterate(&self, rounds: Interval) -> Interval {
        self.c_iter * rounds
    }

    /// `N_w * T_sync`
    pub fn launches(&self, wavefronts: i64) -> Interval {
        Interval::of(wavefronts) * self.launch
    }

    /// `T_prism(k)` from what computing and moving take in all sub-tiles of one tile, and in one of them.
    pub fn prism(&self, all: (Interval, Interval), one: (Interval, Interval), k: i64) -> Interval {
        match k {
            1 => all.0 + all.1,
            _ => Interval::of(k) * all.0.max(all.1) + one.0.min(one.1),
        }
    }

    /// `R = ceil(ceil(w/k)/n_SM)`
    pub fn tile_rounds(&self, w: i64, k: i64) -> i64 {
        up(up(w, k), self.limits.n_sm)
    }

    /// Eq. 6.2.
    fn paper_s(&self, counts: &TileCounts, k: i64) -> Interval {
        let barrier = self.barrier(counts.barriers);
        let compute =
            self.iterate(Interval::of(counts.lane_rounds)) + barrier * Interval::of(counts.barriers);
        let io = self.l * Interval::of(counts.words_in + counts.words_out) + barrier + barrier;
        let q = Interval::of(counts.sub_tiles);
        let prism = self.prism((q * compute, q * io), (compute, io), k);
        let rounds = Interval::of(self.tile_rounds(counts.tiles_per_wavefront, k));
        self.launches(counts.wavefronts) + Interval::of(counts.wavefronts) * (rounds * prism)
    }

    /// Seconds of a piece of work of so many warps that has a multiprocessor to itself.
    pub fn demands(&self, work: &Work, warps: i64) -> Demands {
        let Rates { clock, issue, cached_s, reached, .. } = self.rates;
        let chain = number(work.chain) * (number(SCHEDULERS) / issue)
            + number(work.waits) * number(NEAR_CYCLES)
            + number(work.far_waits) * number(FAR_CYCLES);
        let words = |words: f64| number(words) * self.l / reached;
        Demands {
            issue: self.rates.issue_s(work),
            shared: self.rates.shared_s(work),
            transfer: (words(work.words) + words(work.ahead)).max(number(work.cached) * cached_s),
            ahead: match work.ahead > 0.0 {
                true => {
                    let ahead = number(work.ahead);
                    ahead / (ahead + number(work.words).above(number(work.stored)))
                }
                false => Interval::ZERO,
            },
            latency: chain / clock,
            barrier: number(work.barriers) * self.tau,
            warps,
        }
    }

    /// Seconds of a round of `k` sub-tiles. Those that compute, `n` of them, finish one every `s_n` seconds, by mean-value analysis
    /// of a station and a delay. Between them and memory `k` sub-tiles go round, or `2 * k` where the next ones are loaded ahead: the
    /// time between two that come back is `G(n) / G(n-1)` with the constants of the product form, `G(n) = m * G(n-1) + s_1 * .. * s_n`.
    pub fn round(&self, demands: &Demands, k: i64) -> Interval {
        let Demands { transfer, ahead, latency, barrier, .. } = *demands;
        let compute = demands.compute(k);
        let wait = latency.max(demands.compute(1)).above(compute) + barrier;
        if k == 0 || (compute + wait).high == 0.0 {
            return Interval::of(k) * transfer;
        }
        // `h = G(n) / (s_1 * .. * s_n)`, of which `G(n) / G(n-1)` is `s_n * h_n / h_(n-1)`.
        let (mut queue, mut each, mut h) = (Interval::ZERO, Interval::ZERO, Interval::ONE);
        let mut back = [Interval::ZERO; 2];
        for n in 1..=2 * k {
            if n <= k {
                let at_station = compute * (Interval::ONE + queue);
                each = (wait + at_station) / Interval::of(n);
                queue = at_station / each;
            }
            back[usize::from(n > k)] = transfer + each / h;
            h = Interval::ONE + transfer * h / each;
        }
        let [waited_for, hidden] = back;
        Interval::of(k) * (waited_for * Interval::ONE.above(ahead) + hidden * ahead)
    }

    /// Full rounds of `k` tiles in a wavefront of `w`, the tiles of a multiprocessor in the last one, and how many of a round
    /// of so many there are.
    pub fn waves(&self, w: i64, k: i64) -> (i64, i64, Interval) {
        let n_sm = self.limits.n_sm;
        let number = w / (k * n_sm);
        let rest = w - number * k * n_sm;
        let last = up(rest, n_sm);
        let share = if last > 0 { Interval::of(rest) / Interval::of(n_sm * last) } else { Interval::ZERO };
        (number, last, share)
    }

    /// The counted form.
    fn counted_s(&self, counts: &TileCounts, work: &TileWork, k: i64) -> Interval {
        let w = counts.tiles_per_wavefront;
        let (rounds, last, share) = self.waves(w, k);
        let demands = |work: &Work| self.demands(work, warps(counts.threads));
        let own = work.full.in_sectors(k * self.limits.n_sm, self.rates.cache);
        let full = demands(&own);
        let clipped = demands(&own.and(&work.clipped));
        let partly = demands(&own.times(work.part).and(&work.clipped));
        let both = [(k, Interval::ONE), (last, share)];
        let of = |demands: &Demands| both.map(|(tiles, share)| self.round(&demands.share(share), tiles));
        let (on_full, on_clipped, on_partly) = (of(&full), of(&clipped), of(&partly));
        let (q_full, q_clipped) = (number(work.full_sub_tiles), number(work.clipped_sub_tiles));
        let q = q_full + q_clipped;
        let inside = [0, 1].map(|round| on_full[round] * q_full + on_clipped[round] * q_clipped);
        let mut edge = Interval::ZERO;
        if work.edges {
            let (tiles, share, round) = if last == 0 { (k, Interval::ONE, 0) } else { (last, share, 1) };
            let alone = |demands: &Demands| self.round(&demands.share(share / Interval::of(tiles)), 1);
            let (usual, longer) = (on_full[round], alone(&clipped).above(alone(&full)));
            let left = if longer.high > 0.0 && (usual + longer).low > 0.0 {
                longer / (usual + longer)
            } else {
                Interval::ZERO
            };
            edge = (q * (usual + left * alone(&clipped))).above(inside[round]);
        }
        let launch = |rounds_of: [Interval; 2]| Interval::of(rounds) * rounds_of[0] + rounds_of[1];
        let done = launch(inside) + edge;
        let start = (Interval::of(w) * number(START_CYCLES) / self.rates.clock).above(done);
        self.launches(counts.wavefronts)
            + number(work.full_launches) * (launch(inside) + edge + start)
            + number(work.clipped_launches) * launch(on_partly.map(|seconds| seconds * q))
    }
}

impl Rates {
    /// Seconds in which schedulers that have as many warps each issue this.
    fn issue_s(&self, work: &Work) -> Interval {
        (number(work.issued) / self.issue).max(number(work.arithmetic) / self.arithmetic) / self.clock
    }

    /// Seconds in which shared memory delivers this.
    fn shared_s(&self, work: &Work) -> Interval {
        number(work.shared) / self.shared / self.clock
    }
}
