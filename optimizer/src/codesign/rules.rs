//! Tiles by other rules than the best value, and the best tiles for each `k` alone: what questions compare with.

use super::fitting::Fits;
use super::inner::Outcome;
use super::ranked::Ranked;
use super::workload::Objective;
use cost_models::gpu::GpuCost;

impl Ranked<'_> {
    /// Seconds of execution `run` with the tiles that the closed-form rule takes (paper, eq. 6.5): of the compute-bound
    /// ones that fit, the largest `tS1 + tT/2`, of those the one with the most iterations; with the best `k`.
    /// `None` where no tile is compute-bound, or none has a face.
    pub fn closed_form(&self, run: usize, model: &GpuCost) -> Option<f64> {
        let compute_bound = |candidate: u32| {
            self.entries(candidate as usize).iter().all(|counts| {
                let parts = model.time.parts(counts, 1);
                parts.compute_s() >= parts.io_s()
            })
        };
        let face = |candidate: u32| {
            let face = self.space.face(&self.space.sizes()[candidate as usize])?;
            Some((face, self.entries(candidate as usize)[0].iterations))
        };
        let list = self.all_that_fit(&self.fitting(&model.hardware));
        let faces = list.iter().filter_map(|own| Some((face(own.candidate)?, own)));
        let chosen = faces.filter(|(_, own)| compute_bound(own.candidate)).max_by_key(|(face, _)| *face)?.1;
        Some(self.best_k(run, model, (chosen.candidate, chosen.most_k)))
    }

    /// Iterations, and seconds of execution `run`, with the tile of most iterations of which two fit a multiprocessor, `k = 2`.
    pub fn largest_tile(&self, run: usize, model: &GpuCost) -> Option<(i64, f64)> {
        let list = self.all_that_fit(&self.fitting(&model.hardware));
        let twice = list.iter().filter(|own| own.most_k >= 2);
        let iterations = |own: &&Fits| self.entries(own.candidate as usize)[0].iterations;
        let largest = twice.max_by_key(iterations)?;
        let resident = self.resident(run, largest.candidate as usize, 2, &model.hardware)?;
        Some((iterations(&largest), model.seconds_of(&resident, 2)))
    }

    fn best_k(&self, run: usize, model: &GpuCost, (candidate, most_k): (u32, u32)) -> f64 {
        let seconds = |k: i64| {
            let counts = self.resident(run, candidate as usize, k, &model.hardware);
            counts.map_or(f64::INFINITY, |counts| model.seconds_of(&counts, k))
        };
        (1..=i64::from(most_k)).map(seconds).fold(f64::INFINITY, f64::min)
    }

    /// The best outcome for each `k` alone, by `k` from 1; for questions about hyper-threading.
    pub fn by_k(&self, run: usize, objective: Objective, model: &GpuCost) -> Vec<Option<Outcome>> {
        let list = self.all_that_fit(&self.fitting(&model.hardware));
        let mut best: Vec<Option<Outcome>> = vec![None; model.hardware.blocks_per_sm as usize];
        for &Fits { candidate, most_k, .. } in &list {
            let dynamic_j = model.dynamic_j_of(&self.counts(run, candidate as usize));
            for k in 1..=i64::from(most_k) {
                let Some(counts) = self.resident(run, candidate as usize, k, &model.hardware) else { break };
                let seconds = model.seconds_of(&counts, k);
                let mut outcome = Outcome {
                    strategy: self.space.strategy,
                    sizes: self.space.sizes()[candidate as usize],
                    k,
                    threads: counts.iter().map(|own| own.threads).max().unwrap_or(0),
                    seconds,
                    joules: dynamic_j + model.static_w() * seconds,
                    bound: 0.0,
                };
                // All tiles are looked at: the least value is its own bound.
                outcome.bound = outcome.value(objective);
                let place = &mut best[k as usize - 1];
                if place.is_none_or(|old| outcome.value(objective) < old.value(objective)) {
                    *place = Some(outcome);
                }
            }
        }
        best
    }
}
