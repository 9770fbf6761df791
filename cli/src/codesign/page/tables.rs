//! The tables of the page.

use optimizer::codesign::document::{Application, Constants, DesignFacts, Document};
use optimizer::codesign::whatif::{self, Comparison};
use plots::Table;
use tilewright::text;

/// Rows of long tables.
pub(super) const MOST_ROWS: usize = 60;

pub(super) fn front(document: &Document) -> Table {
    let unknowns = document.unknowns();
    let names = unknowns.iter().map(|(name, _)| *name);
    let header = names.chain(["mm2", "GFLOP/s", "GFLOP/s/W", "W", "vector units", "memory"]);
    let row = |facts: &DesignFacts| {
        let others = [
            format!("{:.1}", facts.area_mm2),
            format!("{:.0}", facts.rates.gflops),
            format!("{:.2}", facts.rates.gflops_per_watt),
            format!("{:.0}", facts.watts),
            percent(facts.vector_share),
            percent(facts.memory_share),
        ];
        unknowns.iter().map(|(_, cell)| cell(&facts.design)).chain(others).collect()
    };
    Table::new(header, document.pareto.iter().take(MOST_ROWS).map(row).collect())
}

pub(super) fn applications(document: &Document) -> Table {
    let unknowns = document.unknowns();
    let mut header = vec!["stencil"];
    header.extend(unknowns.iter().map(|(name, _)| *name));
    header.extend(["mm2", "GFLOP/s", "regret", "share", "stays best"]);
    let stated = document.has_references();
    if stated {
        header.extend(["stated design", "stated GFLOP/s", "rank of stated", "best over stated"]);
    }
    let row = |a: &Application| {
        let mut row = vec![a.stencil.clone()];
        row.extend(unknowns.iter().map(|(_, cell)| cell(&a.design)));
        row.extend(a.cells(false));
        row.extend([percent(a.share), format!("{:.1} to {:.1} %", 100.0 * a.stays.0, 100.0 * a.stays.1)]);
        let reference = match &a.reference {
            Some(r) => [
                format!("{} × {}, {} kB", r.design.n_sm, r.design.n_v, r.design.m_sm_kb),
                format!("{:.0}", r.gflops),
                r.rank.map_or("-".to_owned(), |rank| rank.to_string()),
                format!("+{}", percent(r.gain)),
            ],
            None => std::array::from_fn(|_| "-".to_owned()),
        };
        if stated {
            row.extend(reference);
        }
        row
    };
    let rows = document.applications.iter().map(row).collect();
    Table::new(header, rows)
}

pub(super) fn prices(document: &Document) -> Table {
    let number = |value: f64| {
        if value != 0.0 && value.abs() < 1e-3 {
            format!("{value:.3e}")
        } else {
            format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    let row = |shadow: &whatif::Shadow| {
        vec![
            shadow.resource.to_owned(),
            number(shadow.from),
            number(shadow.to),
            shadow.unit.to_owned(),
            format!("{:+.2}", shadow.area_change_mm2),
            format!("{:+.2} %", 100.0 * shadow.gain),
            shadow.gain_per_mm2.map_or("-".to_owned(), |gain| format!("{:+.3} %", 100.0 * gain)),
            format!("{:+.3}", shadow.elasticity),
        ]
    };
    let header = ["resource", "from", "to", "unit", "mm2", "rate", "rate per mm2", "elasticity"];
    Table::new(header, document.answers.shadow_prices.iter().map(row).collect())
}

pub(super) fn comparison(comparison: &Comparison, chip: &str) -> Table {
    let chip = format!("{chip} GFLOP/s");
    let row = |group: &whatif::Improvement| {
        vec![
            group.group.clone(),
            format!("{:.0}", group.chip_gflops),
            group.best.to_string(),
            format!("{:.1}", group.best_area_mm2),
            format!("{:.0}", group.best_gflops),
            format!("{:+.0} %", 100.0 * group.gain),
        ]
    };
    let header = ["executed", &chip, "best design", "mm2", "GFLOP/s", "gain"];
    Table::new(header, comparison.groups.iter().map(row).collect())
}

pub(super) fn overhead(document: &Document) -> Table {
    let row = |overhead: &whatif::Overhead| {
        vec![
            overhead.stencil.clone(),
            percent(overhead.ideal),
            percent(overhead.overhead),
            overhead.closed_form_loss.map_or("no compute-bound tile".to_owned(), percent),
        ]
    };
    let header = ["stencil", "ideal machine", "overhead", "loss by the closed-form rule"];
    Table::new(header, document.answers.overhead.iter().map(row).collect())
}

pub(super) fn formulations(document: &Document) -> Table {
    let unknowns = document.unknowns();
    let mut header = vec!["formulation", "for"];
    header.extend(unknowns.iter().map(|(name, _)| *name));
    header.extend(["mm2", "cost", "unit", "GFLOP/s", "GFLOP/s/W"]);
    let row = |f: &whatif::Formulation| {
        let others = [
            format!("{:.1}", f.area_mm2),
            format!("{:.4e}", f.cost),
            f.unit.to_owned(),
            format!("{:.0}", f.gflops),
            format!("{:.2}", f.gflops_per_watt),
        ];
        let design = unknowns.iter().map(|(_, cell)| cell(&f.design));
        [f.name.clone(), f.subject.clone()].into_iter().chain(design).chain(others).collect()
    };
    Table::new(header, document.answers.formulations.iter().map(row).collect())
}

pub(super) fn tiles(document: &Document) -> Table {
    let row = |tile: &whatif::Tiles| {
        vec![
            tile.stencil.clone(),
            text::size(&tile.size),
            tile.steps.to_string(),
            tile.strategy.to_owned(),
            tile.tile.clone(),
            tile.k.to_string(),
            format!("{:.4e}", tile.seconds),
            format!("{:.0}", tile.gflops),
            format!("{:.3e}", tile.joules),
        ]
    };
    let header = ["stencil", "size", "steps", "strategy", "tile", "k", "seconds", "GFLOP/s", "joules"];
    Table::new(header, document.best.tiles.iter().map(row).collect())
}

pub(super) fn constants(document: &Document) -> Table {
    let header = [
        "stencil",
        "weight",
        "flops/iteration",
        "executions",
        "basis",
        "C_iter s",
        "cycles",
        "L s/word",
        "tau_sync s",
        "T_sync s",
    ];
    let row = |constants: &Constants| {
        let fit = &constants.fit;
        vec![
            constants.stencil.clone(),
            percent(constants.weight),
            constants.flops_per_iteration.to_string(),
            constants.executions.to_string(),
            fit.basis.to_owned(),
            format!("{:.4e}", fit.c_iter_s),
            format!("{:.2}", fit.c_iter_cycles),
            format!("{:.4e}", fit.l_s_per_word),
            format!("{:.4e}", fit.tau_sync_s),
            format!("{:.4e}", fit.t_sync_s),
        ]
    };
    Table::new(header, document.constants.iter().map(row).collect())
}

pub(super) fn certificate(document: &Document) -> Table {
    let certificate = &document.certificate;
    let pairs = [
        ("cost of the best design", format!("{:.9e} {}", certificate.value, document.unit)),
        (
            "lower bound on all designs within the budget",
            format!("{:.9e} {}", certificate.bound, document.unit),
        ),
        ("designs of the ranges", certificate.designs_in_space.to_string()),
        ("within the budget", certificate.designs_in_budget.to_string()),
        ("evaluated", certificate.designs_evaluated.to_string()),
        ("excluded by bounds", certificate.designs_pruned.to_string()),
        ("unable to execute the workload", certificate.designs_infeasible.to_string()),
        ("inner problems solved exactly", certificate.inner_problems.to_string()),
        ("pairs of tile sizes and k that fit", certificate.tiles_candidates.to_string()),
        ("of these evaluated, the others excluded by bounds", certificate.tiles_evaluated.to_string()),
    ];
    let rows = pairs.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    Table::new(["certificate", ""], rows)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
