//! Sentences about a study, every number in them computed from it; beside each statement of the paper that the study can
//! be asked about, whether it holds here.

use super::document::{Application, Document};
use optimizer::codesign::whatif::{Comparison, Hyperthreading, MemoryWish, Overhead, Shadow};
use optimizer::codesign::workload::Keep;

/// The shared memory per SM that the paper states: 3-D stencils want at least the first, 2-D ones at most the second.
const PAPER_MEMORY_KB: (f64, f64) = (96.0, 24.0);

pub(super) fn findings(document: &Document) -> Vec<String> {
    let mut findings = vec![optimum(document)];
    findings.extend(differing(&document.applications));
    findings.extend(references(document));
    if document.keep == Keep::All {
        findings.extend(memory(&document.answers.memory));
    }
    findings.extend(document.answers.caches.as_ref().map(|caches| caches_cost(document, caches)));
    findings.extend(document.answers.chips.iter().map(chip));
    findings.extend(overhead(&document.answers.overhead));
    findings.extend(hyperthreading(&document.answers.hyperthreading));
    findings.extend(worth(&document.answers.shadow_prices));
    findings
}

fn optimum(document: &Document) -> String {
    let (best, certificate) = (&document.best, &document.certificate);
    format!(
        "No design within {} to {} mm2 is better for the whole workload than {} SM x {} lanes with {} kB of shared \
         memory: {:.1} mm2, {:.0} GFLOP/s. {} inner problems were solved exactly; {:.2} % of {} pairs of tile sizes and \
         k had to be evaluated.",
        document.budget.area_mm2.0,
        document.budget.area_mm2.1,
        best.n_sm,
        best.n_v,
        best.m_sm_kb,
        best.area_mm2,
        best.gflops,
        certificate.inner_problems,
        100.0 * certificate.tiles_evaluated as f64 / certificate.tiles_candidates.max(1) as f64,
        certificate.tiles_candidates
    )
}

/// Paper, section 6.1: the best design for a single benchmark varies.
fn differing(applications: &[Application]) -> Option<String> {
    if applications.len() < 2 {
        return None;
    }
    let mut designs: Vec<String> = applications.iter().map(|a| a.design.to_string()).collect();
    designs.sort();
    designs.dedup();
    let worst = applications.iter().max_by(|a, b| a.regret.total_cmp(&b.regret))?;
    Some(format!(
        "Best designs {}: {} stencils have {} different best designs. The best design for all costs {} most, {:.1} % \
         more than its own.",
        if designs.len() > 1 { "differ by stencil" } else { "do not differ by stencil" },
        applications.len(),
        designs.len(),
        worst.stencil,
        100.0 * worst.regret
    ))
}

fn references(document: &Document) -> Vec<String> {
    let mut sentences = Vec::new();
    let with: Vec<_> =
        document.applications.iter().filter_map(|a| Some((a, a.reference.as_ref()?))).collect();
    if with.is_empty() {
        return sentences;
    }
    let optimal: Vec<&str> =
        with.iter().filter(|(_, r)| r.is_best).map(|(a, _)| a.stencil.as_str()).collect();
    sentences.push(format!(
        "The stated design of a stencil is also its best one here for {} of {} stencils{}.",
        optimal.len(),
        with.len(),
        if optimal.is_empty() { String::new() } else { format!(" ({})", optimal.join(", ")) }
    ));
    for (application, reference) in with.iter().filter(|(_, reference)| !reference.is_best) {
        let rank = match reference.rank {
            Some(rank) => format!("rank {rank} of {} designs", document.certificate.designs_evaluated),
            None => "outside the ranges or the budget".to_owned(),
        };
        sentences.push(format!(
            "{}: the stated design, {} ({:.1} mm2, {:.0} GFLOP/s), has {rank}; the best one, {}, is {:.0} % faster.",
            application.stencil,
            reference.design,
            reference.area_mm2,
            reference.gflops,
            application.design,
            100.0 * reference.gain
        ));
    }
    for constants in &document.constants {
        if constants.fit.stated_gflops.is_some() {
            sentences.push(format!(
                "{}: C_iter, L, tau_sync and T_sync are {:.3} times those of the base machine, so that the stated design \
                 reaches the stated rate.",
                constants.stencil, constants.fit.factor
            ));
        }
    }
    sentences
}

/// Paper, section 6.1: 3-D stencils want 96 kB of shared memory per SM or more, 2-D ones 24 kB or less.
fn memory(wishes: &[MemoryWish]) -> Vec<String> {
    let mut sentences = Vec::new();
    for dimension in 2..=3 {
        let own: Vec<&MemoryWish> = wishes.iter().filter(|wish| wish.dimension == dimension).collect();
        if own.is_empty() {
            continue;
        }
        let each = own
            .iter()
            .map(|w| format!("{} {} ({} kB within 1 %)", w.stencil, w.best_m_sm_kb, w.enough_m_sm_kb));
        let each: Vec<String> = each.collect();
        let (holds, stated) = match dimension {
            3 => (own.iter().all(|w| w.best_m_sm_kb >= PAPER_MEMORY_KB.0), "96 kB or more"),
            _ => (own.iter().all(|w| w.best_m_sm_kb <= PAPER_MEMORY_KB.1), "24 kB or less"),
        };
        sentences.push(format!(
            "Shared memory per SM of the best designs for {dimension}-D stencils, in kB: {}. The paper's {stated} {}.",
            each.join(", "),
            if holds { "holds here" } else { "does not hold here" }
        ));
    }
    let loss = |dimension: usize, m_sm_kb: f64| {
        let own = wishes.iter().filter(|wish| wish.dimension == dimension);
        let at =
            own.map(|wish| wish.by_m_sm.iter().find(|(kb, _)| *kb == m_sm_kb).map(|(_, share)| 1.0 - share));
        let at: Vec<f64> = at.collect::<Option<_>>()?;
        (!at.is_empty()).then(|| 100.0 * at.iter().sum::<f64>() / at.len() as f64)
    };
    for m_sm_kb in [24.0, 48.0] {
        if let (Some(two), Some(three)) = (loss(2, m_sm_kb), loss(3, m_sm_kb)) {
            sentences.push(format!(
                "With {m_sm_kb} kB of shared memory per SM, 2-D stencils lose {two:.0} % of their best rate and 3-D ones \
                 {three:.0} %: 3-D stencils {} shared memory than 2-D ones.",
                if three > two { "need more" } else { "need no more" }
            ));
        }
    }
    sentences
}

/// Paper, chapter 5: remove the caches, use their area for cores.
fn caches_cost(document: &Document, caches: &Comparison) -> String {
    let all = caches.groups.first();
    let gain = all.map_or(0.0, |group| group.gain);
    format!(
        "Giving the area of caches to cores {}: within the same budget the best design with caches ({}) reaches \
         {:.0} GFLOP/s, the one without {:.0}, {:.0} % more (a model in which caches have no use).",
        if gain > 0.0 { "pays" } else { "does not pay" },
        caches.design,
        all.map_or(0.0, |group| group.chip_gflops),
        document.best.gflops,
        100.0 * gain
    )
}

/// Paper, chapter 5: improvement over chips that exist.
fn chip(comparison: &Comparison) -> String {
    let paper = match comparison.name.as_str() {
        name if name.contains("980") => " (the paper: 2-D 104 %, 3-D 123 %)",
        name if name.contains("Titan X") => " (the paper: 2-D 69 %, 3-D 126 %)",
        _ => "",
    };
    let groups: Vec<String> = (comparison.groups.iter())
        .filter(|group| matches!(group.group.as_str(), "all" | "1D" | "2D" | "3D"))
        .map(|group| format!("{} {:.0} %", group.group, 100.0 * group.gain))
        .collect();
    format!(
        "Improvement over {} at equal area ({:.0} mm2, best design without caches for each group): {}{paper}.",
        comparison.name,
        comparison.area_mm2,
        groups.join(", ")
    )
}

fn overhead(overheads: &[Overhead]) -> Option<String> {
    let least = overheads.iter().min_by(|a, b| a.overhead.total_cmp(&b.overhead))?;
    let most = overheads.iter().max_by(|a, b| a.overhead.total_cmp(&b.overhead))?;
    let loss = overheads.iter().filter_map(|o| o.closed_form_loss).fold(f64::NEG_INFINITY, f64::max);
    let rule = if loss.is_finite() {
        format!(
            " Tiles by the closed-form rule (largest tS1 + tT/2 of compute-bound tiles) cost up to {:.0} % more time.",
            100.0 * loss
        )
    } else {
        " No tile is compute-bound, so the closed-form rule has no candidates.".to_owned()
    };
    Some(format!(
        "On the best design, overhead (what exceeds an ideal machine's time) is {:.0} % of the time for {} and {:.0} % for \
         {}.{rule}",
        100.0 * least.overhead,
        least.stencil,
        100.0 * most.overhead,
        most.stencil
    ))
}

fn hyperthreading(effects: &[Hyperthreading]) -> Option<String> {
    let chosen = |effect: &Hyperthreading| {
        let each = effect.chosen.iter().map(|(k, runs)| format!("k = {k} in {runs}"));
        format!("{} {}", effect.stencil, each.collect::<Vec<_>>().join(", "))
    };
    let each: Vec<String> = effects.iter().map(chosen).collect();
    let without = effects.iter().filter_map(|effect| effect.loss_without).fold(f64::NEG_INFINITY, f64::max);
    let largest =
        effects.iter().filter_map(|effect| effect.loss_largest_tile).fold(f64::NEG_INFINITY, f64::max);
    if each.is_empty() || !without.is_finite() {
        return None;
    }
    let largest = if largest.is_finite() {
        format!(
            "; the largest tile that leaves room for a second one (the conventional wisdom), up to {:.0} %",
            100.0 * largest
        )
    } else {
        String::new()
    };
    Some(format!(
        "Tiles resident together on the best design, by executions: {}. Without overlap (k = 1) stencils lose up to {:.0} % of \
         their rate{largest}.",
        each.join("; "),
        100.0 * without
    ))
}

fn worth(shadows: &[Shadow]) -> Option<String> {
    let priced = shadows.iter().filter(|shadow| shadow.resource != "area_mm2");
    let best = priced
        .filter_map(|shadow| Some((shadow, shadow.gain_per_mm2?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let constant = shadows
        .iter()
        .filter(|shadow| shadow.gain_per_mm2.is_none())
        .max_by(|a, b| a.gain.total_cmp(&b.gain))?;
    Some(format!(
        "Beyond the budget, a square millimetre is worth most in {}: {:.3} % of the rate per mm2. Of the machine's constants, \
         {} matters most: one per cent less of it gives {:.2} %.",
        best.0.resource,
        100.0 * best.1,
        constant.resource,
        100.0 * constant.gain
    ))
}
