//! Designs: the unknowns of the hardware, their ranges, and those within a budget.

use cost_models::area::AreaModel;
use serde::Serialize;

/// A design.
pub use cost_models::area::Chip as Design;

/// What `L`, the seconds of a word between memory and a multiprocessor, means on a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bandwidth {
    /// The paper's reading: each multiprocessor is charged as if it had the whole bandwidth of the base machine, on
    /// every design.
    Paper,
    /// A physical reading: each multiprocessor has the share that it has on the base machine.
    PerSm,
    /// The other one: all together have that of the base machine.
    Total,
}

impl Bandwidth {
    /// All of them, by their names in workload files. `physical` is what holds where nothing is said.
    pub const ALL: [(&'static str, Bandwidth); 4] = [
        ("paper", Bandwidth::Paper),
        ("physical", Bandwidth::PerSm),
        ("per-sm", Bandwidth::PerSm),
        ("total", Bandwidth::Total),
    ];
}

/// The values that each unknown may have, ascending and without repetition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Space {
    /// `n_SM`
    pub n_sm: Vec<i64>,
    /// `n_V`
    pub n_v: Vec<i64>,
    /// `M_SM` in kB
    pub m_sm_kb: Vec<f64>,
    /// `R_VU` in kB
    pub r_vu_kb: Vec<f64>,
    /// First-level cache in kB
    pub l1_kb: Vec<f64>,
    /// Second-level cache in kB
    pub l2_kb: Vec<f64>,
    /// Bandwidth rule
    pub bandwidth: Bandwidth,
}

impl Space {
    /// Number of designs.
    pub fn len(&self) -> usize {
        let caches = self.l1_kb.len() * self.l2_kb.len();
        self.n_sm.len() * self.n_v.len() * self.m_sm_kb.len() * self.r_vu_kb.len() * caches
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The designs of an area within `budget` (mm2, both included), in lexicographic order of the unknowns. The area
    /// grows with `n_SM`, so that its values are cut to an interval, not tried one by one.
    pub fn within(&self, area: &AreaModel, budget: (f64, f64)) -> Vec<Design> {
        let mut designs = Vec::new();
        self.for_each_rest(|rest| {
            let total = |n_sm: i64| area.total(&Design { n_sm, ..rest });
            let from = self.n_sm.partition_point(|&n_sm| total(n_sm) < budget.0);
            let to = self.n_sm.partition_point(|&n_sm| total(n_sm) <= budget.1);
            let chosen = self.n_sm.get(from..to).unwrap_or(&[]);
            designs.extend(chosen.iter().map(|&n_sm| Design { n_sm, ..rest }));
        });
        designs.sort_by(|a, b| {
            (a.n_sm, a.n_v).cmp(&(b.n_sm, b.n_v)).then(a.m_sm_kb.total_cmp(&b.m_sm_kb)).then(
                a.r_vu_kb
                    .total_cmp(&b.r_vu_kb)
                    .then(a.l1_kb.total_cmp(&b.l1_kb))
                    .then(a.l2_kb.total_cmp(&b.l2_kb)),
            )
        });
        designs
    }

    /// The least and the largest area of all designs in mm2; `None` where there is none.
    pub fn areas(&self, area: &AreaModel) -> Option<(f64, f64)> {
        let (first, last) = (*self.n_sm.first()?, *self.n_sm.last()?);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        self.for_each_rest(|rest| {
            least = least.min(area.total(&Design { n_sm: first, ..rest }));
            most = most.max(area.total(&Design { n_sm: last, ..rest }));
        });
        Some((least, most))
    }

    /// All combinations but for `n_SM`.
    fn for_each_rest(&self, mut visit: impl FnMut(Design)) {
        for &n_v in &self.n_v {
            for &m_sm_kb in &self.m_sm_kb {
                for &r_vu_kb in &self.r_vu_kb {
                    for &l1_kb in &self.l1_kb {
                        for &l2_kb in &self.l2_kb {
                            visit(Design { n_sm: 0, n_v, m_sm_kb, r_vu_kb, l1_kb, l2_kb });
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cost_models::area::Family;
    use cost_models::hardware::Hardware;

    #[test]
    fn designs_within_a_budget_are_those_of_the_whole_space() {
        let area = Family::shipped("maxwell").unwrap().unwrap().area;
        let space = Space {
            n_sm: (2..=32).step_by(2).collect(),
            n_v: (32..=512).step_by(32).collect(),
            m_sm_kb: vec![12.0, 24.0, 96.0],
            r_vu_kb: vec![2.0],
            l1_kb: vec![0.0, 48.0],
            l2_kb: vec![0.0],
            bandwidth: Bandwidth::PerSm,
        };
        let all = space.within(&area, (0.0, f64::INFINITY));
        assert_eq!(all.len(), space.len());
        let budget = (425.0, 450.0);
        let direct: Vec<Design> = (all.iter().copied())
            .filter(|design| (budget.0..=budget.1).contains(&area.total(design)))
            .collect();
        assert!(!direct.is_empty());
        assert_eq!(space.within(&area, budget), direct);
        let (least, most) = space.areas(&area).unwrap();
        let of = |design: &Design| area.total(design);
        assert_eq!(least, all.iter().map(of).fold(f64::INFINITY, f64::min));
        assert_eq!(most, all.iter().map(of).fold(0.0, f64::max));
    }

    #[test]
    fn limits_of_the_base_machine_are_kept_in_proportion() {
        let family = Family::shipped("maxwell").unwrap().unwrap();
        let base = family.facts().unwrap();
        let same = Design::from(base).hardware(base);
        assert_eq!(same, Hardware { name: same.name.clone(), ..Hardware::of("gtx980", base) });
        let half = Design { n_v: 64, m_sm_kb: 48.0, ..Design::from(base) }.hardware(base);
        assert_eq!((half.threads_per_sm, half.shared_per_block_bytes), (1024, 24 * 1024));
        assert_eq!(half.registers_per_sm, 32 * 1024);
    }
}
