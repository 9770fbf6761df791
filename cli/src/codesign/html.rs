//! The report as one HTML page: nothing is loaded from elsewhere, no script runs, plots are inline SVG, and it prints.
//!
//! What files say is text: it is escaped where it is put in, and the page's own policy (CSP) allows no script at all and
//! no style but the two that stand in it. The page is well-formed XML, so that a test can read it strictly.

use super::document::{DesignFacts, Document};
use crate::chart::{self, Bars, COLOURS, Chart, Mark, Series};
use optimizer::codesign::whatif::Comparison;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use text_escape::markup as escape;
use tilewright::text;

const STYLE: &str = include_str!("report.css");

/// Rows of long tables.
const MOST_ROWS: usize = 60;

pub(super) fn page(document: &Document) -> String {
    let mut body = String::new();
    heading(&mut body, document);
    findings(&mut body, document);
    fronts(&mut body, document);
    resources(&mut body, document);
    applications(&mut body, document);
    prices(&mut body, document);
    what_ifs(&mut body, document);
    tiles(&mut body, document);
    model(&mut body, document);
    let style = format!("\n{STYLE}");
    let policy = policy(&[&style, chart::STYLE]);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <link rel=\"icon\" href=\"data:,\"/>\n<title>Codesign: {}</title>\n<style>{style}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(&document.workload)
    )
}

/// Nothing but these styles, and the empty picture that keeps browsers from asking for an icon.
fn policy(styles: &[&str]) -> String {
    let hashes: Vec<String> = styles
        .iter()
        .map(|style| format!("'sha256-{}'", base64(&Sha256::digest(style.as_bytes()))))
        .collect();
    format!(
        "default-src 'none'; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hashes.join(" ")
    )
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| (bits << 8) | usize::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at)) & 63];
            text.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn heading(body: &mut String, document: &Document) {
    let (best, certificate) = (&document.best, &document.certificate);
    let _ = writeln!(
        body,
        "<h1>Codesign: {}</h1>\n<p class=\"lead\">{}</p>\n<p>{}; objective {} ({}); strategies {}; bandwidth {}.</p>",
        escape(&document.workload),
        escape(&document.description),
        escape(&capital(&document.formulation)),
        escape(document.objective.name()),
        escape(document.unit),
        escape(&document.strategies.join(", ")),
        escape(document.bandwidth_rule())
    );
    let tile =
        |value: String, name: &str| format!("<div class=\"fact\"><b>{value}</b><span>{name}</span></div>");
    let facts = [
        tile(format!("{} × {}", best.design.n_sm, best.design.n_v), "SMs × lanes of the best design"),
        tile(format!("{} kB", best.design.m_sm_kb), "shared memory per SM"),
        tile(format!("{:.1} mm²", best.area_mm2), "area"),
        tile(format!("{:.0}", best.gflops), "GFLOP/s over the workload"),
        tile(format!("{:.2}", best.gflops_per_watt), "GFLOP/s per watt"),
        tile(
            format!("{} of {}", certificate.designs_evaluated, certificate.designs_in_budget),
            "designs of the budget evaluated",
        ),
    ];
    let _ = writeln!(body, "<div class=\"facts\">{}</div>", facts.concat());
}

fn findings(body: &mut String, document: &Document) {
    body.push_str("<h2>Findings</h2>\n<ul>\n");
    for finding in &document.findings {
        let _ = writeln!(body, "<li>{}</li>", escape(finding));
    }
    body.push_str("</ul>\n");
}

fn title(facts: &DesignFacts) -> String {
    format!(
        "{}: {:.1} mm2, {:.0} GFLOP/s, {:.2} GFLOP/s per watt",
        facts.design, facts.area_mm2, facts.rates.gflops, facts.rates.gflops_per_watt
    )
}

/// All designs, those on the front, and the best.
fn cloud(
    document: &Document,
    (x_label, x): (&str, &dyn Fn(&DesignFacts) -> f64),
    (y_label, y): (&str, &dyn Fn(&DesignFacts) -> f64),
    on_front: &dyn Fn(&DesignFacts) -> bool,
    description: &str,
    line: bool,
) -> String {
    let point = |facts: &DesignFacts| (x(facts), y(facts), title(facts));
    let is_best = |facts: &DesignFacts| facts.design == document.best.design;
    let mut front: Vec<_> = document.designs.iter().filter(|facts| on_front(facts)).map(point).collect();
    front.sort_by(|a, b| a.0.total_cmp(&b.0));
    let dominated = document.designs.iter().filter(|facts| !on_front(facts)).map(point).collect();
    let best = document.designs.iter().filter(|facts| is_best(facts)).map(point).collect();
    let mut series = vec![
        Series { name: "dominated designs".into(), colour: COLOURS[1], mark: Mark::Faint, points: dominated },
        Series {
            name: "on the front".into(),
            colour: COLOURS[0],
            mark: if line { Mark::Line } else { Mark::Dots },
            points: front,
        },
        Series { name: "best for the objective".into(), colour: COLOURS[3], mark: Mark::Ring, points: best },
    ];
    if let Some(knee) = document.knee.as_ref().filter(|_| line) {
        let points = vec![(x(knee), y(knee), format!("knee: {}", title(knee)))];
        series.push(Series { name: "knee".into(), colour: COLOURS[2], mark: Mark::Ring, points });
    }
    let chart = Chart {
        title: String::new(),
        description: description.to_owned(),
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        series,
        from_zero: (false, false),
        size: (560.0, 380.0),
    };
    figure(&chart.svg(), description)
}

fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>\n", escape(caption))
}

fn fronts(body: &mut String, document: &Document) {
    body.push_str("<h2>Fronts</h2>\n<div class=\"figures\">\n");
    let area = ("area (mm2)", &(|facts: &DesignFacts| facts.area_mm2) as &dyn Fn(&DesignFacts) -> f64);
    let rate =
        ("rate (GFLOP/s)", &(|facts: &DesignFacts| facts.rates.gflops) as &dyn Fn(&DesignFacts) -> f64);
    let efficiency = (
        "efficiency (GFLOP/s per watt)",
        &(|facts: &DesignFacts| facts.rates.gflops_per_watt) as &dyn Fn(&DesignFacts) -> f64,
    );
    let two = |facts: &DesignFacts| facts.on_area_gflops_front;
    let three = |facts: &DesignFacts| facts.on_front;
    body.push_str(&cloud(
        document,
        area,
        rate,
        &two,
        "Rate against area: exact front in two objectives.",
        true,
    ));
    body.push_str(&cloud(
        document,
        rate,
        efficiency,
        &three,
        "Efficiency against rate: exact front in three objectives, area being the third.",
        false,
    ));
    body.push_str("</div>\n");
    let unknowns = document.unknowns();
    let names = unknowns.iter().map(|(name, _)| *name);
    let header: Vec<&str> =
        names.chain(["mm2", "GFLOP/s", "GFLOP/s/W", "W", "vector units", "memory"]).collect();
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
    let rows: Vec<Vec<String>> = document.pareto.iter().take(MOST_ROWS).map(row).collect();
    let more = document.pareto.len().saturating_sub(MOST_ROWS);
    let _ = writeln!(
        body,
        "<details open=\"open\"><summary>The {} designs on the front in area, rate and efficiency{}</summary>{}</details>",
        document.pareto.len(),
        if more > 0 { format!(" ({more} more in pareto.csv)") } else { String::new() },
        table(&header, &rows)
    );
}

fn resources(body: &mut String, document: &Document) {
    body.push_str("<h2>Where the area goes</h2>\n<div class=\"figures\">\n");
    let memory = (
        "area in memory (%)",
        &(|facts: &DesignFacts| 100.0 * facts.memory_share) as &dyn Fn(&DesignFacts) -> f64,
    );
    let vector = (
        "area in vector units (%)",
        &(|facts: &DesignFacts| 100.0 * facts.vector_share) as &dyn Fn(&DesignFacts) -> f64,
    );
    let three = |facts: &DesignFacts| facts.on_front;
    let caption = "Shares of the chip in memory (registers, shared memory, caches) and in vector units: Figure 6.1 of the paper.";
    body.push_str(&cloud(document, memory, vector, &three, caption, false));
    let parts = ["vector units", "registers", "shared memory", "L1", "L2", "overhead"];
    let mut bars: Vec<(String, Vec<f64>)> = Vec::new();
    let mut bar = |name: String, facts: Option<&DesignFacts>| {
        if let Some(facts) = facts {
            let area = &facts.area;
            let parts = [area.vector_units, area.registers, area.shared, area.l1, area.l2, area.overhead];
            bars.push((name, parts.to_vec()));
        }
    };
    let of = |design: &optimizer::codesign::design::Design| {
        document.designs.iter().find(|facts| facts.design == *design)
    };
    let best = document.designs.iter().min_by(|a, b| a.rates.cost.total_cmp(&b.rates.cost));
    bar("all stencils".to_owned(), best);
    for application in &document.applications {
        bar(application.stencil.clone(), of(&application.design));
    }
    let chart = Bars {
        description: "Parts of the area of the best designs".to_owned(),
        x_label: "area (mm2)".to_owned(),
        y_label: "best design for".to_owned(),
        parts: parts.map(str::to_owned).to_vec(),
        bars,
        width: 560.0,
    };
    body.push_str(&figure(
        &chart.svg(),
        "Parts of the area of the best design for all stencils, and for each alone.",
    ));
    body.push_str("</div>\n");
}

fn applications(body: &mut String, document: &Document) {
    body.push_str(
        "<h2>One best design per stencil</h2>\n<p>Application codesign for each stencil: Table 6.1 of the paper. \
         <i>Regret</i> is what the best design for all costs the stencil more than its own; <i>stays best</i> \
         says between which shares of the weights, the others in proportion, the best design for all remains the best one.</p>\n",
    );
    let unknowns = document.unknowns();
    let mut header = vec!["stencil"];
    header.extend(unknowns.iter().map(|(name, _)| *name));
    header.extend(["mm2", "GFLOP/s", "regret", "share", "stays best"]);
    let stated = document.has_references();
    if stated {
        header.extend(["stated design", "stated GFLOP/s", "rank of stated", "best over stated"]);
    }
    let row = |a: &super::document::Application| {
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
    let rows: Vec<Vec<String>> = document.applications.iter().map(row).collect();
    body.push_str(&table(&header, &rows));
    if document.applications.len() > 1 {
        let stencils = document.applications.len() as f64;
        // How good each stencil's best design is for the others.
        let bars: Vec<(String, Vec<f64>)> = (document.applications.iter())
            .map(|application| {
                let own = document.designs.iter().find(|facts| facts.design == application.design);
                let shares = document.applications.iter().enumerate().map(|(index, other)| {
                    own.map_or(0.0, |facts| facts.stencil_gflops[index] / other.gflops / stencils)
                });
                (format!("best for {}", application.stencil), shares.collect())
            })
            .collect();
        let chart = Bars {
            description: "How good the best design for one stencil is for the others".to_owned(),
            x_label:
                "mean share of each stencil's own best rate (1: as good as its own design for every stencil)"
                    .to_owned(),
            y_label: "design".to_owned(),
            parts: document.applications.iter().map(|application| application.stencil.clone()).collect(),
            bars,
            width: 900.0,
        };
        body.push_str(&figure(
            &chart.svg(),
            "Sensitivity to the workload: each stencil's best design, and what it is worth to the others.",
        ));
    }
}

fn prices(body: &mut String, document: &Document) {
    let shadows = &document.answers.shadow_prices;
    if shadows.is_empty() {
        return;
    }
    body.push_str(
        "<h2>What resources are worth</h2>\n<p>At the best design, one step more of each resource (one per cent less of \
         each constant), all tiles chosen anew, the budget disregarded. <code>area_mm2</code> is the last step of the \
         front.</p>\n",
    );
    let header = ["resource", "from", "to", "unit", "mm2", "rate", "rate per mm2", "elasticity"];
    let number = |value: f64| {
        if value != 0.0 && value.abs() < 1e-3 {
            format!("{value:.3e}")
        } else {
            format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    let row = |shadow: &optimizer::codesign::whatif::Shadow| {
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
    body.push_str(&table(&header, &shadows.iter().map(row).collect::<Vec<_>>()));
}

fn what_ifs(body: &mut String, document: &Document) {
    let answers = &document.answers;
    if let Some(caches) = &answers.caches {
        body.push_str("<h2>With and without caches</h2>\n");
        comparison(body, caches, "with caches");
    }
    for chip in &answers.chips {
        let _ = writeln!(body, "<h2>Against {}</h2>", escape(&chip.name));
        comparison(body, chip, "chip");
    }
    if !answers.memory.is_empty() {
        body.push_str("<h2>Shared memory</h2>\n");
        let series = answers.memory.iter().enumerate().map(|(index, wish)| Series {
            name: wish.stencil.clone(),
            colour: COLOURS[index % COLOURS.len()],
            mark: Mark::Line,
            points: (wish.by_m_sm.iter())
                .map(|(kb, share)| {
                    (*kb, 100.0 * share, format!("{}: {kb} kB, {:.1} %", wish.stencil, 100.0 * share))
                })
                .collect(),
        });
        let chart = Chart {
            title: String::new(),
            description: "Best rate by shared memory per SM".to_owned(),
            x_label: "shared memory per SM (kB)".to_owned(),
            y_label: "best rate (% of the best of all)".to_owned(),
            series: series.collect(),
            from_zero: (true, true),
            size: (900.0, 380.0),
        };
        body.push_str(&figure(&chart.svg(), "The best design with each size of shared memory, relative to the best of all, stencil by stencil."));
    }
    if !answers.overhead.is_empty() {
        body.push_str("<h2>Overhead</h2>\n");
        let bars = answers.overhead.iter().map(|overhead| {
            let shares = overhead.shares;
            let parts = [shares.compute, shares.transfer, shares.barrier, shares.launch];
            (overhead.stencil.clone(), parts.map(|share| 100.0 * share).to_vec())
        });
        let chart = Bars {
            description: "Where the time goes on the best design".to_owned(),
            x_label: "share of the time (%)".to_owned(),
            y_label: "stencil".to_owned(),
            parts: ["iterations", "transfers", "barriers", "launches"].map(str::to_owned).to_vec(),
            bars: bars.collect(),
            width: 900.0,
        };
        body.push_str(&figure(&chart.svg(), "Where the time goes on the best design, over all executions of a stencil. Transfers that iterations hide do not count."));
        let header = ["stencil", "ideal machine", "overhead", "loss by the closed-form rule"];
        let row = |overhead: &optimizer::codesign::whatif::Overhead| {
            vec![
                overhead.stencil.clone(),
                percent(overhead.ideal),
                percent(overhead.overhead),
                overhead.closed_form_loss.map_or("no compute-bound tile".to_owned(), percent),
            ]
        };
        body.push_str(&table(&header, &answers.overhead.iter().map(row).collect::<Vec<_>>()));
    }
    if !answers.hyperthreading.is_empty() {
        body.push_str("<h2>Hyper-threading</h2>\n");
        let series = answers.hyperthreading.iter().enumerate().map(|(index, effect)| Series {
            name: effect.stencil.clone(),
            colour: COLOURS[index % COLOURS.len()],
            mark: Mark::Line,
            points: (effect.by_k.iter())
                .map(|(k, gflops)| {
                    (*k as f64, *gflops, format!("{}: k = {k}, {gflops:.0} GFLOP/s", effect.stencil))
                })
                .collect(),
        });
        let chart = Chart {
            title: String::new(),
            description: "Rate by the number of resident tiles".to_owned(),
            x_label: "k: tiles resident on an SM together".to_owned(),
            y_label: "rate on the best design (GFLOP/s)".to_owned(),
            series: series.collect(),
            from_zero: (true, true),
            size: (900.0, 380.0),
        };
        body.push_str(&figure(&chart.svg(), "The best tiles for each k, on the best design."));
    }
    if answers.formulations.len() > 1 {
        body.push_str("<h2>Formulations</h2>\n");
        let unknowns = document.unknowns();
        let mut header = vec!["formulation", "for"];
        header.extend(unknowns.iter().map(|(name, _)| *name));
        header.extend(["mm2", "cost", "unit", "GFLOP/s", "GFLOP/s/W"]);
        let row = |f: &optimizer::codesign::whatif::Formulation| {
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
        body.push_str(&table(&header, &answers.formulations.iter().map(row).collect::<Vec<_>>()));
    }
}

fn comparison(body: &mut String, comparison: &Comparison, chip: &str) {
    let _ = writeln!(
        body,
        "<p>{}: {:.1} mm² in the area model, against designs of {:.1} to {:.1} mm².</p>",
        escape(&comparison.design.to_string()),
        comparison.area_mm2,
        comparison.budget_mm2.0,
        comparison.budget_mm2.1
    );
    let chip = format!("{chip} GFLOP/s");
    let header = ["executed", chip.as_str(), "best design", "mm2", "GFLOP/s", "gain"];
    let row = |group: &optimizer::codesign::whatif::Improvement| {
        vec![
            group.group.clone(),
            format!("{:.0}", group.chip_gflops),
            group.best.to_string(),
            format!("{:.1}", group.best_area_mm2),
            format!("{:.0}", group.best_gflops),
            format!("{:+.0} %", 100.0 * group.gain),
        ]
    };
    body.push_str(&table(&header, &comparison.groups.iter().map(row).collect::<Vec<_>>()));
}

fn tiles(body: &mut String, document: &Document) {
    let header = ["stencil", "size", "steps", "strategy", "tile", "k", "seconds", "GFLOP/s", "joules"];
    let row = |tile: &optimizer::codesign::whatif::Tiles| {
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
    let rows: Vec<Vec<String>> = document.best.tiles.iter().map(row).collect();
    let _ = writeln!(
        body,
        "<h2>Tiles of the best design</h2>\n<details><summary>{} executions</summary>{}</details>",
        rows.len(),
        table(&header, &rows)
    );
}

fn model(body: &mut String, document: &Document) {
    let model = &document.area_model;
    let validation = match (&model.validation, model.validation_error) {
        (Some(die), Some(error)) => format!(
            "on {} ({} mm²) the model says {:.1} mm², {:+.2} %",
            escape(&die.die),
            die.area_mm2,
            die.model_mm2,
            100.0 * error
        ),
        _ => "there is no second die to validate it on".to_owned(),
    };
    let _ = writeln!(
        body,
        "<h2>Models and proof</h2>\n<p>Area model {} ({}): one term is solved from {} ({} mm²); {validation}. Static \
         power {:.3} W/mm². Constants are those of {} times a factor where a design with a known rate is stated.</p>",
        escape(&model.family),
        escape(&model.description),
        escape(&model.calibrated.die),
        model.calibrated.area_mm2,
        model.static_w_per_mm2,
        escape(&model.base)
    );
    let header = [
        "stencil",
        "weight",
        "flops/iteration",
        "executions",
        "basis",
        "factor",
        "C_iter s",
        "L s/word",
        "tau_sync s",
        "T_sync s",
    ];
    let row = |constants: &super::document::Constants| {
        let fit = &constants.fit;
        vec![
            constants.stencil.clone(),
            percent(constants.weight),
            constants.flops_per_iteration.to_string(),
            constants.executions.to_string(),
            fit.basis.to_owned(),
            format!("{:.4}", fit.factor),
            format!("{:.4e}", fit.c_iter_s),
            format!("{:.4e}", fit.l_s_per_word),
            format!("{:.4e}", fit.tau_sync_s),
            format!("{:.4e}", fit.t_sync_s),
        ]
    };
    body.push_str(&table(&header, &document.constants.iter().map(row).collect::<Vec<_>>()));
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
    let rows: Vec<Vec<String>> =
        pairs.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    body.push_str(&table(&["certificate", ""], &rows));
}

/// A table of texts.
fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = String::from("<div class=\"wide\"><table>\n<thead><tr>");
    for name in header {
        let _ = write!(text, "<th>{}</th>", escape(name));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        text.push_str("<tr>");
        row.iter().for_each(|cell| {
            let _ = write!(text, "<td>{}</td>", escape(cell));
        });
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table></div>\n");
    text
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_specification() {
        let vectors = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(vectors.map(|text| base64(text.as_bytes())), expected);
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert!(policy(&[""]).contains(empty));
    }
}
