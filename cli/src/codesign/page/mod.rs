//! The report as one HTML page: the data of the template `reports/codesign.hbs`, which has the words.

mod charts;
mod designs;
mod tables;
mod uncertain;

use crate::drawing::finished;
use crate::error::Result;
use optimizer::codesign::document::Document;
use optimizer::codesign::whatif::Comparison;
use plots::{Card, Figure, Table};
use serde::Serialize;

const TEMPLATE: &str = include_str!("../../../templates/reports/codesign.hbs");

/// What the template shows.
#[derive(Serialize)]
struct Page<'a> {
    description: &'a str,
    formulation: String,
    objective: &'static str,
    unit: &'static str,
    strategies: String,
    bandwidth: &'a str,
    answer: String,
    cards: Vec<Card>,
    first: Figure,
    findings: &'a [String],
    efficiency: Figure,
    lines: Figure,
    designs: Designs,
    roofline: Option<Figure>,
    uncertainty: Option<uncertain::Section>,
    front: Front,
    resources: [Figure; 2],
    applications: Table,
    /// Where there is more than one stencil.
    others: Option<Figure>,
    prices: Option<Table>,
    comparisons: Vec<Compared>,
    memory: Option<Figure>,
    overhead: Option<Overhead>,
    hyperthreading: Option<Figure>,
    formulations: Option<Table>,
    executions: usize,
    tiles: Table,
    model: Model<'a>,
    constants: Table,
    certificate: Table,
}

/// The designs that readers filter.
#[derive(Serialize)]
struct Designs {
    count: usize,
    /// Those that the table does not show.
    more: usize,
    table: Table,
}

/// The designs on the front.
#[derive(Serialize)]
struct Front {
    count: usize,
    /// Those that the table does not show.
    more: usize,
    table: Table,
}

/// A chip beside the best designs of its area.
#[derive(Serialize)]
struct Compared {
    title: String,
    design: String,
    area: String,
    budget: [String; 2],
    table: Table,
}

#[derive(Serialize)]
struct Overhead {
    figure: Figure,
    table: Table,
}

/// The area model and what it says about a die that it was not fitted to.
#[derive(Serialize)]
struct Model<'a> {
    family: &'a str,
    description: &'a str,
    base: &'a str,
    die: &'a str,
    area: String,
    static_power: String,
    validation: Option<Validation<'a>>,
}

#[derive(Serialize)]
struct Validation<'a> {
    die: &'a str,
    area: String,
    model: String,
    error: String,
}

/// The page.
///
/// # Errors
/// Mistakes of ours.
pub(super) fn page(document: &Document) -> Result<String> {
    let title = format!("Codesign: {}", document.workload);
    finished(data(document).and_then(|data| plots::page_of_designs(TEMPLATE, &title, &data)))
}

fn data(document: &Document) -> plots::Result<Page<'_>> {
    let answers = &document.answers;
    Ok(Page {
        description: &document.description,
        formulation: capital(&document.formulation),
        objective: document.objective.name(),
        unit: document.unit,
        strategies: document.strategies.join(", "),
        bandwidth: document.bandwidth_rule(),
        answer: designs::answer(document),
        cards: designs::cards(document),
        first: charts::front(document)?,
        findings: &document.findings,
        efficiency: charts::efficiency(document)?,
        lines: designs::lines(document)?,
        designs: all_designs(document),
        roofline: designs::roofline(document)?,
        uncertainty: uncertain::section(document)?,
        front: Front {
            count: document.pareto.len(),
            more: document.pareto.len().saturating_sub(tables::MOST_ROWS),
            table: tables::front(document),
        },
        resources: charts::resources(document)?,
        applications: tables::applications(document),
        others: (document.applications.len() > 1).then(|| charts::others(document)).transpose()?,
        prices: (!answers.shadow_prices.is_empty()).then(|| tables::prices(document)),
        comparisons: comparisons(document),
        memory: (!answers.memory.is_empty()).then(|| charts::memory(document)).transpose()?,
        overhead: match answers.overhead.is_empty() {
            true => None,
            false => {
                Some(Overhead { figure: charts::overhead(document)?, table: tables::overhead(document) })
            }
        },
        hyperthreading: (!answers.hyperthreading.is_empty())
            .then(|| charts::hyperthreading(document))
            .transpose()?,
        formulations: (answers.formulations.len() > 1).then(|| tables::formulations(document)),
        executions: document.best.tiles.len(),
        tiles: tables::tiles(document),
        model: model(document),
        constants: tables::constants(document),
        certificate: tables::certificate(document),
    })
}

fn all_designs(document: &Document) -> Designs {
    let table = designs::table(document);
    Designs { count: table.rows.len(), more: document.designs.len() - table.rows.len(), table }
}

fn comparisons(document: &Document) -> Vec<Compared> {
    let answers = &document.answers;
    let compared = |title: String, comparison, chip: &str| {
        let comparison: &Comparison = comparison;
        Compared {
            title,
            design: comparison.design.to_string(),
            area: format!("{:.1}", comparison.area_mm2),
            budget: [comparison.budget_mm2.0, comparison.budget_mm2.1].map(|area| format!("{area:.1}")),
            table: tables::comparison(comparison, chip),
        }
    };
    let caches = answers.caches.iter();
    let caches = caches.map(|caches| compared("With and without caches".to_owned(), caches, "with caches"));
    let chips = answers.chips.iter().map(|chip| compared(format!("Against {}", chip.name), chip, "chip"));
    caches.chain(chips).collect()
}

fn model(document: &Document) -> Model<'_> {
    let model = &document.area_model;
    let validation = model.validation.as_ref().zip(model.validation_error).map(|(die, error)| Validation {
        die: &die.die,
        area: die.area_mm2.to_string(),
        model: format!("{:.1}", die.model_mm2),
        error: format!("{:+.2}", 100.0 * error),
    });
    Model {
        family: &model.family,
        description: &model.description,
        base: &model.base,
        die: &model.calibrated.die,
        area: model.calibrated.area_mm2.to_string(),
        static_power: format!("{:.3}", model.static_w_per_mm2),
        validation,
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
