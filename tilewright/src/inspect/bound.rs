//! What limits a run, by throughputs alone: no latency, no cache of instructions; caches keep everything for
//! a launch, and nothing from one launch to the next.

use super::block::Share;
use super::run::{Class, stretch};
use cost_models::machine::{GpuFacts, Machine};
use machine_code::{Kind, SECTOR};
use serde::Serialize;
use toolchain::nvrtc::REGISTER_PORTION;

/// Instructions that a multiprocessor's four schedulers issue in a cycle, on every GPU since compute capability 5.0.
const ISSUED_PER_CYCLE: f64 = 4.0;

/// What limits a run, and at what rate.
#[derive(Debug, Clone, Serialize)]
pub struct Bound {
    /// The machine.
    pub machine: String,
    /// Its clock.
    pub clock_hz: f64,
    /// The resource that needs the most time.
    pub resource: &'static str,
    /// Grid points times time steps per second, in billions, that it allows.
    pub gstencil_per_s: f64,
    /// What each resource allows.
    pub limits: Limits,
}

/// Rates in billions of grid points and time steps per second; `None` where nothing is asked of a resource.
#[derive(Debug, Clone, Serialize)]
pub struct Limits {
    /// Instructions that schedulers issue.
    pub issue: Option<f64>,
    /// Lanes of single precision.
    pub fp32: Option<f64>,
    /// Lanes of double precision.
    pub fp64: Option<f64>,
    /// Units of special functions.
    pub special: Option<f64>,
    /// Shared memory, with shuffles.
    pub shared: Option<f64>,
    /// Memory, by the sectors that a launch touches.
    pub memory: Option<f64>,
}

/// Blocks that a multiprocessor holds at once.
pub fn resident(gpu: &GpuFacts, threads: u64, registers: u32, shared_bytes: u64) -> u64 {
    let warp = gpu.warp as u64;
    let warps = threads.div_ceil(warp).max(1);
    let of_warp = u64::from(registers.max(1).next_multiple_of(REGISTER_PORTION)) * warp;
    let by_registers = gpu.registers_per_sm() as u64 / of_warp / warps;
    let shared = shared_bytes as f64 + gpu.shared_reserved_kb * 1024.0;
    let by_shared = if shared > 0.0 { (gpu.m_sm_kb * 1024.0 / shared) as u64 } else { u64::MAX };
    by_registers.min(by_shared).min(gpu.threads_per_sm as u64 / (warps * warp)).min(gpu.blocks_per_sm as u64)
}

/// Rounds of blocks.
pub fn waves(gpu: &GpuFacts, blocks: f64, resident: u64) -> f64 {
    if resident == 0 { 0.0 } else { blocks / (resident as f64 * gpu.n_sm as f64) }
}

/// The bound of these launches. A launch takes at least as long as the multiprocessor with the most blocks.
pub fn of<'a>(machine: &Machine, gpu: &GpuFacts, classes: impl Iterator<Item = &'a Class>) -> Bound {
    let multiprocessors = gpu.n_sm as f64;
    let (mut busy, mut all) = (Share::default(), Share::default());
    for class in classes {
        let share = &class.launched.all;
        all.add(share, class.times);
        busy.add(share, class.times * stretch(share.blocks, multiprocessors));
    }
    let totals = &busy.totals;
    let warp = gpu.warp as f64;
    // Seconds of all multiprocessors together, each busy as long as the busiest.
    let cycles = |warps: f64, per_cycle: f64| warps / per_cycle / multiprocessors / gpu.clock_hz;
    let shared = totals.wavefronts * 32.0 / gpu.shared_words_per_cycle as f64 + totals.of(Kind::Shuffle);
    let sectors = all.sectors_read + all.sectors_written;
    let seconds = [
        ("issue", cycles(totals.instructions(), ISSUED_PER_CYCLE)),
        ("fp32", cycles(totals.of(Kind::Single), gpu.n_v as f64 / warp)),
        ("fp64", cycles(totals.of(Kind::Double), gpu.n_v_f64 as f64 / warp)),
        ("special", cycles(totals.of(Kind::Function), gpu.n_special as f64 / warp)),
        ("shared", cycles(shared, 1.0)),
        ("memory", sectors * SECTOR as f64 / gpu.bandwidth_bytes_per_s),
    ];
    let rate = |seconds: f64| all.points / seconds / 1e9;
    let allowed = |number: usize| Some(seconds[number].1).filter(|&seconds| seconds > 0.0).map(rate);
    let worst = seconds.iter().fold(seconds[0], |worst, &own| if own.1 > worst.1 { own } else { worst });
    Bound {
        machine: machine.name.clone(),
        clock_hz: gpu.clock_hz,
        resource: worst.0,
        gstencil_per_s: if worst.1 > 0.0 { rate(worst.1) } else { 0.0 },
        limits: Limits {
            issue: allowed(0),
            fp32: allowed(1),
            fp64: allowed(2),
            special: allowed(3),
            shared: allowed(4),
            memory: allowed(5),
        },
    }
}
