//! Execution time on a GPU from counts of the code that is printed: the product's own form of the time model.
//!
//! A full sub-tile of a block takes, alone on a multiprocessor (cycles; `W` of [`hhc_codegen::counts::accounting`]):
//!
//! ```text
//! i     = min(4, n_V / 32)                              warp instructions that begin in a cycle
//! f(k)  = ceil(k * warps / 4) / (k * warps / 4)           the fullest of four schedulers over their mean
//! c(k)  = max(f(k) * issued / i, f(k) * arithmetic / (lanes of its type / 32), shared / (words per cycle / 32))
//! m     = max(words * L, cached words * L_2)             the multiprocessor's share of the bandwidths
//! alone = max(chain * 4 / i + waits * 30 + far waits * 480, c(1)) + barriers * tau_sync
//! ```
//!
//! `k` resident blocks share what computes, and wait for latencies side by side: a closed network of a station with the demand
//! `c = c(k)` and a delay `Z = alone - c` (mean-value analysis: Reiser and Lavenberg, J. ACM 27, 1980), which `n` of them leave
//! every `s_n` seconds:
//!
//! ```text
//! Q = 0;   for n = 1 .. k:  R = c * (1 + Q),  s_n = (Z + R) / n,  Q = R / s_n;   s_n = s_k for n > k
//! ```
//!
//! Seen from memory that is one station, whose speed depends on how many sub-tiles it has (Chandy, Herzog and Woo, IBM J. Res.
//! Dev. 19, 1975). A block whose words are loaded ahead has two sub-tiles under way, one that computes and one that is on its way, so that
//! `2 * k` sub-tiles go round between both; where words are waited for, `k` of them do. A round of `k` tiles takes `k` times the
//! seconds `r_N` after which one of `N` comes back:
//!
//! ```text
//! h_0 = 1;   r_n = m + s_n / h_(n-1),   h_n = 1 + m * h_(n-1) / s_n
//! T_k = k * (r_k + (r_2k - r_k) * part of the loaded words that are loaded ahead)
//! ```
//!
//! With one block and nothing ahead nothing overlaps, with many the longer of both demands remains.
//!
//! Wavefronts have `floor(w / (k * n_SM))` rounds of `k` tiles on each multiprocessor and a last one of fewer, whose tiles have
//! more of the bandwidth each. A device starts its blocks one after the other. Sub-tiles at edges of the grid and of time take
//! what the back end prints for them.

use crate::constants::TimeConstants;
use crate::hardware::Hardware;
use crate::machine::GpuFacts;
use crate::multiprocessor::{
    CACHED_BYTES, FAR_CYCLES, NEAR_CYCLES, SCHEDULERS, START_CYCLES, WARP, fullest_scheduler, warps,
};
use crate::time::{Prediction, Terms};
use hhc_codegen::counts::{
    LeastEdges, LeastWork, Problem, TileCounts, TileWork, Work, accounting::Accounting,
};
use polyhedral::program::ElementType;

/// What a multiprocessor does in a cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// Cycles per second.
    pub clock_hz: f64,
    /// Warp instructions per cycle that begin: one of each scheduler at most, each of which keeps its `n_V / 4` lanes busy for
    /// the time that 32 of them take.
    pub issue: f64,
    /// Warp instructions per cycle of arithmetic of the stencil's type.
    pub arithmetic: f64,
    /// Accesses of a warp to words of 4 bytes in shared memory per cycle.
    pub shared: f64,
    /// Seconds of a word from the second-level cache.
    pub cached_s: f64,
    /// What the published bandwidth is multiplied by; 1 where the bandwidth was measured.
    pub reached: f64,
    /// Words of the second-level cache.
    pub cache: f64,
}

impl Counted {
    /// That of a GPU; `measured` says whether its `L` was.
    pub fn of(problem: &Problem, facts: &GpuFacts, measured: bool) -> Counted {
        let double = problem.element() == ElementType::F64;
        let lanes = if double { facts.n_v_f64 } else { facts.n_v };
        Counted {
            clock_hz: facts.clock_hz,
            issue: SCHEDULERS.min(facts.n_v as f64 / WARP),
            arithmetic: lanes as f64 / WARP,
            shared: facts.shared_words_per_cycle as f64 / WARP,
            cached_s: problem.element().bytes() as f64 / (CACHED_BYTES * facts.clock_hz),
            reached: if measured { 1.0 } else { facts.reached() },
            cache: facts.l2_kb * 1024.0 / problem.element().bytes() as f64,
        }
    }

    /// Seconds in which a multiprocessor that waits for nothing executes this, all of its schedulers alike: what they
    /// issue, and what its banks deliver.
    fn compute_s(&self, work: &Work) -> [f64; 2] {
        let issued = (work.issued / self.issue).max(work.arithmetic / self.arithmetic);
        [issued / self.clock_hz, work.shared / self.shared / self.clock_hz]
    }

    /// `C_iter` of a program from its instructions, in seconds on one of `n_v` lanes.
    pub fn c_iter_s(&self, problem: &Problem, n_v: i64) -> f64 {
        let [issued, shared] = self.compute_s(&Accounting::new(problem).iteration());
        issued.max(shared) * n_v as f64
    }
}

/// Seconds of a sub-tile that has a multiprocessor to itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Demands {
    /// What the schedulers issue, all of them alike.
    issue: f64,
    shared: f64,
    transfer: f64,
    /// The part of what is loaded that is on its way while the sub-tile before computes.
    ahead: f64,
    /// Latencies, which its own instructions fill.
    latency: f64,
    barrier: f64,
    /// Warps of a block; [`EVEN`] where that is not known.
    warps: i64,
}

/// Warps that all schedulers have as many of.
const EVEN: i64 = SCHEDULERS as i64;

impl Demands {
    /// Seconds in which tiles so many at once compute.
    fn compute(&self, tiles: i64) -> f64 {
        (self.issue * fullest_scheduler(tiles * self.warps)).max(self.shared)
    }

    /// With a part of the words.
    fn share(&self, share: f64) -> Demands {
        Demands { transfer: self.transfer * share, ..*self }
    }
}

/// Where the seconds of a round go.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Round {
    pub compute: f64,
    pub transfer: f64,
    pub wait: f64,
}

impl Round {
    pub fn seconds(&self) -> f64 {
        self.compute + self.transfer + self.wait
    }

    fn times(&self, factor: f64) -> Round {
        Round { compute: self.compute * factor, transfer: self.transfer * factor, wait: self.wait * factor }
    }

    fn and(&self, other: &Round) -> Round {
        Round {
            compute: self.compute + other.compute,
            transfer: self.transfer + other.transfer,
            wait: self.wait + other.wait,
        }
    }
}

/// The rounds of one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rounds {
    /// Rounds of `k` tiles on every multiprocessor, in a launch.
    pub number: f64,
    /// One of them, and the last one, which has fewer tiles: in launches whose tiles lie in time altogether.
    pub full: [Round; 2],
    /// The same in the others.
    pub clipped: [Round; 2],
    /// Launches of both kinds.
    pub launches: [f64; 2],
    /// Seconds by which tiles at an edge of the grid take longer than the others of their round.
    pub edge_s: f64,
    /// Seconds by which starting the blocks of a launch takes longer than what they do.
    pub start_s: f64,
}

impl Rounds {
    /// All of them: a term's seconds.
    pub fn all(&self, of: impl Fn(&Round) -> f64) -> f64 {
        let launch = |rounds: &[Round; 2]| self.number * of(&rounds[0]) + of(&rounds[1]);
        self.launches[0] * launch(&self.full) + self.launches[1] * launch(&self.clipped)
    }
}

/// The form with its constants.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedTime<'a> {
    pub rates: &'a Counted,
    pub hardware: &'a Hardware,
    pub constants: &'a TimeConstants,
}

impl CountedTime<'_> {
    fn demands(&self, work: &Work, warps: i64) -> Demands {
        let Counted { clock_hz, issue, reached, .. } = *self.rates;
        let [issued, shared] = self.rates.compute_s(work);
        let chain =
            work.chain * (SCHEDULERS / issue) + work.waits * NEAR_CYCLES + work.far_waits * FAR_CYCLES;
        Demands {
            issue: issued,
            shared,
            transfer: ((work.words + work.ahead) * self.constants.l_s_per_word / reached)
                .max(work.cached * self.rates.cached_s),
            ahead: work.part_ahead(),
            latency: chain / clock_hz,
            barrier: work.barriers * self.constants.tau_sync_s,
            warps,
        }
    }

    /// The seconds of a round of `k` sub-tiles on a multiprocessor.
    fn round(&self, demands: &Demands, k: i64) -> Round {
        let Demands { transfer, ahead, latency, barrier, .. } = *demands;
        let compute = demands.compute(k);
        let wait = latency.max(demands.compute(1)) - compute + barrier;
        let tiles = k as f64;
        if k == 0 || compute + wait == 0.0 {
            return Round { transfer: tiles * transfer, ..Round::default() };
        }
        // `s_n`, `r_n` and `h_n` for the numbers of sub-tiles that are under way.
        let (mut queue, mut each, mut round, mut h) = (0.0, 0.0, 0.0, 1.0);
        for n in 1..=k {
            let at_station = compute * (1.0 + queue);
            each = (wait + at_station) / n as f64;
            queue = at_station / each;
            round = transfer + each / h;
            h = 1.0 + transfer * h / each;
        }
        let waited_for = round;
        if ahead > 0.0 {
            for _ in 0..k {
                round = transfer + each / h;
                h = 1.0 + transfer * h / each;
            }
        }
        let round = waited_for + (round - waited_for) * ahead;
        Round { compute: tiles * compute, transfer: tiles * (round - each), wait: tiles * (each - compute) }
    }

    /// Rounds of `k` tiles in a wavefront of `w`, then the tiles of a multiprocessor in the last one, and the part of their share
    /// of the bandwidth that each of them uses.
    fn waves(&self, w: f64, k: i64) -> (f64, i64, f64) {
        let n_sm = self.hardware.n_sm as f64;
        let number = (w / (k as f64 * n_sm)).floor();
        let rest = w - number * k as f64 * n_sm;
        let last = (rest / n_sm).ceil();
        (number, last as i64, if last > 0.0 { rest / (n_sm * last) } else { 0.0 })
    }

    /// A full sub-tile with the sectors that it and its neighbours move, `k` of them on each multiprocessor.
    fn full(&self, work: &Work, k: i64) -> Work {
        work.in_sectors(k * self.hardware.n_sm, self.rates.cache)
    }

    /// A round of `k` full sub-tiles.
    pub fn steady_s(&self, counts: &TileCounts, work: &TileWork, k: i64) -> f64 {
        self.round(&self.demands(&self.full(&work.full, k), warps(counts.threads)), k).seconds()
    }

    pub fn rounds(&self, counts: &TileCounts, work: &TileWork, k: i64) -> Rounds {
        let (number, last, share) = self.waves(counts.tiles_per_wavefront as f64, k);
        let demands = |work: &Work| self.demands(work, warps(counts.threads));
        let own = self.full(&work.full, k);
        let full = demands(&own);
        let clipped = demands(&own.and(&work.clipped));
        let both = [(k, 1.0), (last, share)].map(|(tiles, share)| {
            (self.round(&full.share(share), tiles), self.round(&clipped.share(share), tiles))
        });
        let partly = demands(&own.times(work.part).and(&work.clipped));
        let partly = [(k, 1.0), (last, share)].map(|(tiles, share)| self.round(&partly.share(share), tiles));
        let q = work.full_sub_tiles + work.clipped_sub_tiles;
        let inside = both.map(|(full, clipped)| {
            full.times(work.full_sub_tiles).and(&clipped.times(work.clipped_sub_tiles))
        });
        // A tile at an edge of the grid, in the last round: beside others, and in the end alone.
        let mut edge_s = 0.0;
        if work.edges {
            let (tiles, share, round) = match last {
                0 => (k, 1.0, 0),
                last => (last, share, 1),
            };
            let alone = |demands: &Demands| self.round(&demands.share(share / tiles as f64), 1).seconds();
            // Beside others each of its sub-tiles takes so much longer; what is left when they are done, it does alone.
            let (usual, longer) = (both[round].0.seconds(), (alone(&clipped) - alone(&full)).max(0.0));
            let left = if longer > 0.0 { longer / (usual + longer) } else { 0.0 };
            edge_s = (q * (usual + left * alone(&clipped)) - inside[round].seconds()).max(0.0);
        }
        let start_s = counts.tiles_per_wavefront as f64 * START_CYCLES / self.rates.clock_hz;
        let done_s = number * inside[0].seconds() + inside[1].seconds() + edge_s;
        Rounds {
            start_s: (start_s - done_s).max(0.0),
            number,
            full: inside,
            clipped: partly.map(|round| round.times(q)),
            launches: [work.full_launches, work.clipped_launches],
            edge_s,
        }
    }

    pub fn seconds(&self, counts: &TileCounts, work: &TileWork, k: i64) -> f64 {
        let rounds = self.rounds(counts, work, k);
        counts.wavefronts as f64 * self.constants.t_sync_s
            + rounds.all(Round::seconds)
            + rounds.launches[0] * (rounds.edge_s + rounds.start_s)
    }

    pub fn predict(&self, counts: &TileCounts, work: &TileWork, k: i64) -> Prediction {
        let rounds = self.rounds(counts, work, k);
        let terms = Terms {
            compute: rounds.all(|round| round.compute) + rounds.launches[0] * rounds.edge_s,
            transfer: rounds.all(|round| round.transfer),
            barrier: rounds.all(|round| round.wait),
            launch: counts.wavefronts as f64 * self.constants.t_sync_s + rounds.launches[0] * rounds.start_s,
        };
        Prediction { seconds: terms.sum(), terms, ideal_s: self.ideal_s(counts, work) }
    }

    /// All lanes compute, and nothing else: by `C_iter`, or by what the tiles execute where their text needs less than that.
    pub fn ideal_s(&self, counts: &TileCounts, work: &TileWork) -> f64 {
        let lanes = (self.hardware.n_sm * self.hardware.n_v) as f64;
        let [busy, _] = self.busy_s(counts, work);
        (counts.total_iterations as f64 / lanes * self.constants.c_iter_s).min(busy)
    }

    /// Seconds of all multiprocessors together in which a launch's tiles compute, if nothing is ever waited for.
    pub fn busy_s(&self, counts: &TileCounts, work: &TileWork) -> [f64; 2] {
        let tiles = counts.tiles_per_wavefront as f64 / self.hardware.n_sm as f64;
        let compute = |work: &Work| self.demands(work, EVEN).compute(1);
        let full = compute(&work.full);
        let clipped = compute(&work.full.and(&work.clipped));
        let q = work.full_sub_tiles + work.clipped_sub_tiles;
        let partly = compute(&work.full.times(work.part).and(&work.clipped));
        let launches = work.full_launches + work.clipped_launches * work.part;
        let more = work.full_launches * work.clipped_sub_tiles * (clipped - full)
            + work.clipped_launches * q * (partly - work.part * full);
        [launches * tiles * q * full, tiles * more]
    }

    /// No tile of a box takes less, `k` of them resident; `w` is the least number of tiles of a wavefront.
    ///
    /// The time of a round grows with each demand and with `alone`, and falls with the part that is loaded ahead: the throughput of a
    /// closed network grows with the speed of a station that is not slower with more to do (Shanthikumar and Yao, J. Appl. Prob. 23,
    /// 1986). In the last round a tile has at most twice its share of the bandwidth more than one of two such has, so that half of its
    /// words count. Because rounds of `k` take `k * max(c, m)` at least, all of them together take what all tiles compute and move,
    /// whatever `w` and `k` are.
    pub fn least_s(&self, least: &LeastWork, wavefronts: f64, w: f64, k: i64) -> f64 {
        let (number, last, share) = self.waves(w, k);
        let warps = least.edges.as_ref().map_or(EVEN, |edges| warps(edges.threads));
        let tile = self.demands(&least.tile, warps);
        let rest = tile.share(share.min(0.5));
        let (whole, partly) = (self.round(&tile, k).seconds(), self.round(&rest, last).seconds());
        let waves = number * whole + partly;
        let all = self.demands(&least.all, EVEN);
        let spread = all.compute(1).max(all.transfer) / self.hardware.n_sm as f64;
        let launches = match &least.edges {
            None => least.launches * waves,
            Some(edges) => {
                let last_round = if last > 0 { partly } else { whole };
                let (full, others, part) = edges.launches;
                let clipped = self.demands(&least.tile.times(part).and(&edges.clipped), warps);
                let rest = clipped.share(share.min(0.5));
                let clipped = number * self.round(&clipped, k).seconds() + self.round(&rest, last).seconds();
                full * (waves + self.least_edge_s(&least.tile, edges, last_round)) + others * clipped
            }
        };
        wavefronts * self.constants.t_sync_s + launches.max(spread)
    }

    /// By how much the tiles at the edge of a grid take longer than the others of the last round, `u` seconds, at least.
    ///
    /// With `a` seconds of a full tile alone and `x` more of one at an edge, that is `x * (a + x) / (u + x)`. It grows with `a` and
    /// `x`, and with `u` falls by less than `u` grows, because `2 * u >= a`: so the least of each bounds the sum. (One tile alone may
    /// leave schedulers idle that several keep busy, so that `u >= a` need not hold; but `u` is not less than what a tile computes
    /// alone, nor than what it waits at barriers.)
    fn least_edge_s(&self, tile: &Work, edges: &LeastEdges, u: f64) -> f64 {
        let demands = |work: &Work| self.demands(work, warps(edges.threads));
        let unmoved = |work: &Work| demands(work).share(0.0);
        let a = self.round(&unmoved(tile), 1).seconds();
        let most = self.round(&demands(&edges.most.in_sectors(1, 0.0)), 1).seconds();
        let x = (self.round(&unmoved(&tile.and(&edges.clipped)), 1).seconds() - most).max(0.0);
        if x > 0.0 { x * (a + x) / (u + x) } else { 0.0 }
    }
}
