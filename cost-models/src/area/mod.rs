//! Silicon area of a GPU of one family, in mm2 (paper, chapter 3.4):
//!
//! ```text
//! A = scale * ( n_SM*n_V*(b_VU + b_R*R_VU + a_R) + n_SM*(b_M*M_SM + a_M + a_oh) + n_SM*b_L1*L1 + b_L2*L2 + a_L2 )
//! ```
//!
//! `R_VU` is the register file of a vector unit, `M_SM` and `L1` belong to a multiprocessor, `L2` to the chip; a cache
//! of 0 kB has no area at all. Coefficients are data: they stand in `machines/families/*.toml`, see [`family`].

pub mod family;

pub use family::{Calibrated, Family, FamilyError, Files, Term, Validation, machine_of};

use crate::hardware::Hardware;
use crate::machine::GpuFacts;
use serde::Serialize;
use std::fmt;

/// What a chip consists of: the unknowns of codesign. The time model does not use caches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Chip {
    /// `n_SM`: multiprocessors.
    pub n_sm: i64,
    /// `n_V`: vector units of a multiprocessor.
    pub n_v: i64,
    /// `M_SM`: shared memory of a multiprocessor in kB.
    pub m_sm_kb: f64,
    /// `R_VU`: registers of a vector unit in kB.
    pub r_vu_kb: f64,
    /// First-level cache of a multiprocessor in kB.
    pub l1_kb: f64,
    /// Second-level cache of the chip in kB.
    pub l2_kb: f64,
}

impl Chip {
    /// What limits tiles on this chip. What it does not say is the base machine's, in proportion: a block may have the
    /// same share of `M_SM`, a lane carries as many threads.
    pub fn hardware(&self, base: &GpuFacts) -> Hardware {
        let bytes = |kb: f64| (kb * 1024.0).round() as i64;
        let share = (base.shared_per_block_kb / base.m_sm_kb).min(1.0);
        let reserved = bytes(base.shared_reserved_kb);
        let m_sm_bytes = bytes(self.m_sm_kb);
        let per_block = (m_sm_bytes as f64 * share).floor() as i64;
        Hardware {
            name: self.to_string(),
            n_sm: self.n_sm,
            n_v: self.n_v,
            m_sm_bytes,
            shared_per_block_bytes: per_block.min(m_sm_bytes - reserved).max(0),
            shared_reserved_bytes: reserved,
            registers_per_sm: bytes(self.n_v as f64 * self.r_vu_kb) / 4,
            registers_per_thread: base.registers_per_thread,
            threads_per_block: base.threads_per_block,
            threads_per_sm: base.threads_per_sm * self.n_v / base.n_v,
            blocks_per_sm: base.blocks_per_sm,
            warp: base.warp,
        }
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} SM x {} lanes, {} kB", self.n_sm, self.n_v, self.m_sm_kb)?;
        if self.l1_kb > 0.0 || self.l2_kb > 0.0 {
            write!(f, ", L1 {} kB, L2 {} kB", self.l1_kb, self.l2_kb)?;
        }
        Ok(())
    }
}

impl Chip {
    /// A short name that no other chip has: `18x288-192kB`, `60x512-228kB-L2_25600kB`; registers where they are not the
    /// usual 2 kB per lane.
    pub fn id(&self) -> String {
        let Chip { n_sm, n_v, m_sm_kb, r_vu_kb, l1_kb, l2_kb } = self;
        let mut id = format!("{n_sm}x{n_v}-{m_sm_kb}kB");
        for (name, kb, usual) in [("R", *r_vu_kb, 2.0), ("L1", *l1_kb, 0.0), ("L2", *l2_kb, 0.0)] {
            if kb != usual {
                id.push_str(&format!("-{name}_{kb}kB"));
            }
        }
        id
    }
}

impl From<&GpuFacts> for Chip {
    fn from(facts: &GpuFacts) -> Chip {
        Chip {
            n_sm: facts.n_sm,
            n_v: facts.n_v,
            m_sm_kb: facts.m_sm_kb,
            r_vu_kb: facts.r_vu_kb,
            l1_kb: facts.l1_kb,
            l2_kb: facts.l2_kb,
        }
    }
}

/// The coefficients of a family.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AreaModel {
    /// `b_VU`: a vector unit, mm2.
    pub b_vu: f64,
    /// `b_R`: registers, mm2 per kB.
    pub b_r: f64,
    /// `a_R`: registers of a vector unit, mm2 whatever their size.
    pub a_r: f64,
    /// `b_M`: shared memory, mm2 per kB.
    pub b_m: f64,
    /// `a_M`: shared memory of a multiprocessor, mm2 whatever its size.
    pub a_m: f64,
    /// `a_oh`: the rest of a multiprocessor (schedulers, paths), mm2.
    pub a_oh: f64,
    /// `b_L1`: first-level cache, mm2 per kB.
    pub b_l1: f64,
    /// `b_L2`: second-level cache, mm2 per kB.
    pub b_l2: f64,
    /// `a_L2`: second-level cache, mm2 whatever its size, where there is one.
    pub a_l2: f64,
    /// Factor on everything: the process, relative to the one that the coefficients are for.
    pub scale: f64,
}

/// An area and its parts, in mm2.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Area {
    /// Vector units.
    pub vector_units: f64,
    /// Registers.
    pub registers: f64,
    /// Shared memory.
    pub shared: f64,
    /// First-level caches.
    pub l1: f64,
    /// Second-level cache.
    pub l2: f64,
    /// The rest of the multiprocessors.
    pub overhead: f64,
}

impl Area {
    /// All parts together, in mm2.
    pub fn total(&self) -> f64 {
        self.vector_units + self.registers + self.shared + self.l1 + self.l2 + self.overhead
    }

    /// Share of the area that is memory: registers, shared memory, caches.
    pub fn memory_share(&self) -> f64 {
        (self.registers + self.shared + self.l1 + self.l2) / self.total()
    }

    /// Share of the area that computes.
    pub fn vector_share(&self) -> f64 {
        self.vector_units / self.total()
    }

    /// Share of the area that is caches.
    pub fn cache_share(&self) -> f64 {
        (self.l1 + self.l2) / self.total()
    }
}

impl AreaModel {
    /// The area of a chip.
    pub fn area(&self, chip: &Chip) -> Area {
        let n_sm = chip.n_sm as f64;
        let lanes = n_sm * chip.n_v as f64;
        let l2 = if chip.l2_kb > 0.0 { self.b_l2 * chip.l2_kb + self.a_l2 } else { 0.0 };
        Area {
            vector_units: self.scale * lanes * self.b_vu,
            registers: self.scale * lanes * (self.b_r * chip.r_vu_kb + self.a_r),
            shared: self.scale * n_sm * (self.b_m * chip.m_sm_kb + self.a_m),
            l1: self.scale * n_sm * self.b_l1 * chip.l1_kb,
            l2: self.scale * l2,
            overhead: self.scale * n_sm * self.a_oh,
        }
    }

    /// The area of a chip in mm2.
    pub fn total(&self, chip: &Chip) -> f64 {
        self.area(chip).total()
    }

    /// `b_L1` such that a die has its known area; the other coefficients stay. `None` where the die has no
    /// first-level cache, or is smaller than its other parts.
    pub fn with_l1_of(&self, die: &Chip, area_mm2: f64) -> Option<AreaModel> {
        let without = AreaModel { b_l1: 0.0, ..*self };
        let rest = area_mm2 - without.total(die);
        let cache_kb = die.n_sm as f64 * die.l1_kb * self.scale;
        (rest > 0.0 && cache_kb > 0.0).then(|| AreaModel { b_l1: rest / cache_kb, ..*self })
    }

    /// The factor on everything but the second-level cache such that a die has its known area. `None` where the cache alone
    /// is larger.
    pub fn with_logic_of(&self, die: &Chip, area_mm2: f64) -> Option<AreaModel> {
        let area = self.area(die);
        let factor = (area_mm2 - area.l2) / (area.total() - area.l2);
        (factor > 0.0).then_some(AreaModel {
            b_vu: self.b_vu * factor,
            b_r: self.b_r * factor,
            a_r: self.a_r * factor,
            b_m: self.b_m * factor,
            a_m: self.a_m * factor,
            a_oh: self.a_oh * factor,
            b_l1: self.b_l1 * factor,
            ..*self
        })
    }

    /// The factor of the process such that a die has its known area.
    pub fn with_scale_of(&self, die: &Chip, area_mm2: f64) -> AreaModel {
        let unscaled = AreaModel { scale: 1.0, ..*self };
        AreaModel { scale: area_mm2 / unscaled.total(die), ..*self }
    }
}
