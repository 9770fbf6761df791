//! Sentences about a study, every number in them computed from it; beside each statement of the paper that the study can
//! be asked about, whether it holds here.

use super::constants::{JointFit, MOST_FLOP_PER_CYCLE};
use super::design::Bandwidth;
use super::document::{Application, Constants, Document};
use super::whatif::{Allocation, Comparison, Hyperthreading, MemoryWish, Overhead, Shadow, ThreadSetting};
use super::workload::Keep;

/// The loss up to which a design counts as near the best.
const NEAR: f64 = 0.02;

/// The shared memory per SM that the paper states: 3-D stencils want at least the first, 2-D ones at most the second.
const PAPER_MEMORY_KB: (f64, f64) = (96.0, 24.0);

/// The sentences.
pub fn findings(document: &Document) -> Vec<String> {
    let mut findings = vec![optimum(document), readings(document)];
    findings.extend(at_ends(document));
    findings.extend(differing(&document.applications));
    findings.extend(references(document));
    findings.extend(document.answers.threads.iter().filter_map(|setting| under_threads(document, setting)));
    if document.keep == Keep::All {
        findings.extend(allocation(&document.answers.allocation));
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
        "No design within {} to {} mm2 is better for the whole workload than {}: {:.1} mm2, {:.0} GFLOP/s. {} inner problems \
         were solved exactly; {:.2} % of {} pairs of tile sizes and k had to be evaluated.",
        document.budget.area_mm2.0,
        document.budget.area_mm2.1,
        best.design,
        best.area_mm2,
        best.gflops,
        certificate.inner_problems,
        100.0 * certificate.tiles_evaluated as f64 / certificate.tiles_candidates.max(1) as f64,
        certificate.tiles_candidates
    )
}

/// What the words of the paper that can be read in several ways are read as.
fn readings(document: &Document) -> String {
    let bandwidth = match document.space.bandwidth {
        Bandwidth::Paper => {
            "L is the whole chip's for each SM, as if none shared it (\"paper\"; optimistic, and what Table 6.1 needs)"
        }
        Bandwidth::PerSm => "L is that of an SM's share of the base machine's bandwidth (\"physical\")",
        Bandwidth::Total => "all SMs share the bandwidth of the base machine (\"total\")",
    };
    let numbers = document.thread_candidates.numbers();
    let threads = match numbers {
        [only] => format!("{only} threads per block"),
        [first, .., last] => format!(
            "threads tuned with each tile, {} numbers from {first} to {last} on every design",
            numbers.len()
        ),
        [] => String::new(),
    };
    format!("Readings: {bandwidth}; a block of t threads works on min(n_V, t) lanes; {threads}.")
}

/// Table 6.1 under one rule for threads.
fn under_threads(document: &Document, setting: &ThreadSetting) -> Option<String> {
    let rule = match setting.name {
        "tuned" => "tuned".to_owned(),
        "fixed" => "fixed to the lanes of each stencil's stated design (an assumption that contains part of the answer)".to_owned(),
        _ => {
            let threads = setting.stencils.iter().find_map(|own| own.threads).unwrap_or_default();
            format!("fixed to {threads} for all, the control")
        }
    };
    let stated: Vec<_> =
        setting.stencils.iter().filter_map(|own| Some((own, own.stated.as_ref()?))).collect();
    if stated.is_empty() {
        return None;
    }
    let near = stated.iter().filter(|(_, stated)| stated.loss <= NEAR).count();
    let each: Vec<String> = stated
        .iter()
        .map(|(own, stated)| {
            format!(
                "{} {} ({} among those no larger), {:.1} % below {}",
                own.stencil,
                stated.rank,
                stated.rank_among_no_larger,
                100.0 * stated.loss,
                own.best
            )
        })
        .collect();
    let two: Vec<f64> =
        setting.stencils.iter().filter(|own| own.dimension == 2).filter_map(|own| own.with_24_kb).collect();
    let memory = match two.iter().copied().reduce(f64::min) {
        Some(least) => format!(
            " 2-D stencils have at least {:.1} % of their best rate with 24 kB or less.",
            100.0 * least
        ),
        None => String::new(),
    };
    Some(format!(
        "Threads {rule}: {near} of {} stated designs are within {} % of the best; ranks of {}: {}.{memory}",
        stated.len(),
        100.0 * NEAR,
        document.certificate.designs_evaluated,
        each.join("; ")
    ))
}

/// A spread is called smaller than another one below this part of it.
const SMALLER: f64 = 0.9;

/// Paper, figure 6.1: the designs on the front lie in a cluster, the more so for 3-D stencils.
fn allocation(groups: &[Allocation]) -> Option<String> {
    let percent = |(low, high): (f64, f64)| format!("{:.0} to {:.0} %", 100.0 * low, 100.0 * high);
    let each: Vec<String> = groups
        .iter()
        .map(|own| {
            format!(
                "{} ({} designs) memory {}, vector units {}, spread {:.2} of that of all designs",
                own.group,
                own.on_front,
                percent(own.memory),
                percent(own.vector_units),
                own.spread
            )
        })
        .collect();
    let clustered = groups.iter().all(|own| own.spread < 1.0);
    let spread = |group: &str| groups.iter().find(|own| own.group == group).map(|own| own.spread);
    let more = match (spread("2D"), spread("3D")) {
        (Some(two), Some(three)) if three < SMALLER * two => ", the more so for 3-D stencils, as it says",
        (Some(two), Some(three)) if two < SMALLER * three => {
            ", the more so for 2-D stencils; it says for 3-D ones"
        }
        (Some(_), Some(_)) => ", as much for 2-D as for 3-D stencils; it says the more so for 3-D ones",
        _ => "",
    };
    (!groups.is_empty()).then(|| {
        format!(
            "Shares of the area on the fronts of area and rate (figure 6.1): {}. They {} in a cluster{more}.",
            each.join("; "),
            if clustered { "lie" } else { "do not lie" }
        )
    })
}

/// Unknowns of the best design that are at an end of their range: beyond it there may be better ones.
fn at_ends(document: &Document) -> Option<String> {
    let (space, best) = (&document.space, &document.best.design);
    let whole = |values: &[i64]| values.iter().map(|&value| value as f64).collect::<Vec<f64>>();
    let unknowns = [
        ("n_sm", whole(&space.n_sm), best.n_sm as f64),
        ("n_v", whole(&space.n_v), best.n_v as f64),
        ("m_sm_kb", space.m_sm_kb.clone(), best.m_sm_kb),
        ("r_vu_kb", space.r_vu_kb.clone(), best.r_vu_kb),
        ("l1_kb", space.l1_kb.clone(), best.l1_kb),
        ("l2_kb", space.l2_kb.clone(), best.l2_kb),
    ];
    let end = |(name, values, value): &(&str, Vec<f64>, f64)| match values.as_slice() {
        [first, .., _] if first == value => Some(format!("{name} = {value}, the least")),
        [_, .., last] if last == value => Some(format!("{name} = {value}, the greatest")),
        _ => None,
    };
    let ends: Vec<String> = unknowns.iter().filter_map(end).collect();
    (!ends.is_empty()).then(|| {
        format!(
            "The best design is at an end of these ranges, beyond which better ones may lie: {}.",
            ends.join("; ")
        )
    })
}

/// Paper, section 6.1: the best design for a single benchmark varies.
fn differing(applications: &[Application]) -> Option<String> {
    let stated = applications.iter().any(|application| application.reference.is_some());
    let remark = if stated {
        " The paper's improvement of \"up to 33 %\" does not say over what; this is the nearest number here."
    } else {
        ""
    };
    if applications.len() < 2 {
        return None;
    }
    let mut designs: Vec<String> = applications.iter().map(|a| a.design.to_string()).collect();
    designs.sort();
    designs.dedup();
    let worst = applications.iter().max_by(|a, b| a.regret.total_cmp(&b.regret))?;
    Some(format!(
        "Best designs {}: {} stencils have {} different best designs. The best design for all costs {} most, {:.1} % \
         more than its own.{remark}",
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
    sentences.extend(document.fit.as_ref().map(|fit| fitted(document, fit)));
    sentences.extend(beyond_the_lanes(document));
    sentences
}

/// Which constants were fitted to which rates, and what that can show.
fn fitted(document: &Document, fit: &JointFit) -> String {
    let of = |constants: &Constants| {
        let residual = constants.fit.residual()?;
        let cycles = constants.fit.c_iter_cycles;
        Some(format!("{} {cycles:.1} cycles ({:+.2} %)", constants.stencil, 100.0 * residual))
    };
    let each: Vec<String> = document.constants.iter().filter_map(of).collect();
    format!(
        "One machine for all stencils: L = {:.3e} s/word, tau_sync = {:.2e} s, T_sync = {:.2e} s; C_iter of each, with what \
         remains between the modelled and the stated rate: {}. {} constants were fitted to {} rates: that they are met \
         proves nothing by itself.",
        fit.l_s_per_word,
        fit.tau_sync_s,
        fit.t_sync_s,
        each.join(", "),
        fit.fitted.len(),
        fit.rates
    )
}

/// Constants that no lane can have.
fn beyond_the_lanes(document: &Document) -> Option<String> {
    let beyond =
        document.constants.iter().filter(|own| own.fit.flop_per_cycle_and_lane > MOST_FLOP_PER_CYCLE);
    let each: Vec<String> =
        beyond.map(|own| format!("{} ({:.2})", own.stencil, own.fit.flop_per_cycle_and_lane)).collect();
    (!each.is_empty()).then(|| {
        format!(
            "Warning: C_iter means more than {MOST_FLOP_PER_CYCLE} operations per cycle and lane, which no fused multiply-add \
             gives, for {}.",
            each.join(", ")
        )
    })
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
        let verdict = if holds {
            "holds here".to_owned()
        } else {
            format!("does not hold here{}", excess(&own, dimension))
        };
        sentences.push(format!(
            "Shared memory per SM of the best designs for {dimension}-D stencils, in kB: {}. The paper's {stated} {verdict}.",
            each.join(", ")
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

/// How far the best sizes are from the paper's limit, and what stencils reach at the limit itself.
fn excess(wishes: &[&MemoryWish], dimension: usize) -> String {
    let limit = if dimension == 3 { PAPER_MEMORY_KB.0 } else { PAPER_MEMORY_KB.1 };
    let range = |values: &dyn Fn(&MemoryWish) -> Option<f64>| {
        let all: Option<Vec<f64>> = wishes.iter().map(|wish| values(wish)).collect();
        let all = all.filter(|all| !all.is_empty())?;
        let (low, high) = (
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        Some((low, high))
    };
    let times = range(&|wish| Some(wish.best_m_sm_kb / limit));
    let times = times.map_or(String::new(), |(low, high)| {
        format!(
            ": {} as much",
            if low == high { format!("{low:.1} times") } else { format!("{low:.1} to {high:.1} times") }
        )
    });
    let at_limit =
        range(&|wish| wish.by_m_sm.iter().find(|(kb, _)| *kb == limit).map(|(_, share)| 100.0 * share));
    let at_limit = at_limit.map_or(String::new(), |(low, high)| {
        format!("; with {limit} kB they reach {low:.0} to {high:.0} % of their best rate")
    });
    times + &at_limit
}

/// Paper, chapter 5: remove the caches, use their area for cores.
fn caches_cost(document: &Document, caches: &Comparison) -> String {
    let all = caches.groups.first();
    let gain = all.map_or(0.0, |group| group.gain);
    format!(
        "Giving the area of caches to cores {}: within the same budget the best design with caches ({}) reaches \
         {:.0} GFLOP/s, the one without {:.0}, {:+.0} % (the second-level cache answers the share of a grid's words that it holds).",
        if gain > 0.0 { "pays" } else { "does not pay" },
        caches.design,
        all.map_or(0.0, |group| group.chip_gflops),
        document.best.gflops,
        100.0 * gain
    )
}

/// Paper, chapter 5: improvement over chips that exist.
fn chip(comparison: &Comparison) -> String {
    let stated = match comparison.name.as_str() {
        name if name.contains("980") => Some([("2D", 1.04), ("3D", 1.23)]),
        name if name.contains("Titan X") => Some([("2D", 0.69), ("3D", 1.26)]),
        _ => None,
    };
    let against = |(group, paper): (&str, f64)| {
        let own = comparison.groups.iter().find(|own| own.group == group)?;
        Some(format!("{group} {:.0} %, here {:+.0} points", 100.0 * paper, 100.0 * (own.gain - paper)))
    };
    let against: Vec<String> = stated.into_iter().flatten().filter_map(against).collect();
    let paper =
        if against.is_empty() { String::new() } else { format!(" (the paper: {})", against.join("; ")) };
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
