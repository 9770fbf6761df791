//! What a model is worth as one HTML page: the data of the template `reports/adaptive.hbs`, which has the words.

use super::shown::percent;
use crate::drawing::finished;
use crate::error::Result;
use adaptive::evaluate::Evaluation;
use adaptive::train::Worth;
use adaptive::tune::Step;
use execution::output_file;
use plots::{Axis, Bars, Chart, Colour, Dash, Fact, Figure, Guide, Join, Layer, Point, Series, Table};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../templates/reports/adaptive.hbs");

/// Width and height of charts.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 360.0;

/// What a page is of.
pub struct Content<'a> {
    /// The function.
    pub name: &'a str,
    /// The model in a sentence.
    pub description: String,
    /// The model, where it can be read; else empty.
    pub tree: &'a str,
    /// The model on held-out inputs.
    pub evaluation: Option<&'a Evaluation>,
    /// Performance after each label of an incremental training.
    pub steps: &'a [Step],
    /// What each feature costs and is worth.
    pub worth: &'a [Worth],
}

/// What the template shows.
#[derive(Serialize)]
struct Page<'a> {
    description: &'a str,
    judged: Option<Judged>,
    convergence: Option<Figure>,
    worth: Option<Features>,
    tree: &'a str,
}

/// Held-out inputs.
#[derive(Serialize)]
struct Judged {
    answer: String,
    facts: Vec<Fact>,
    performance: Figure,
    spread: Figure,
    counts: Figure,
    confusion: Table,
    families: Option<Table>,
}

/// Features in the order of their cost.
#[derive(Serialize)]
struct Features {
    figure: Figure,
    table: Table,
}

/// Writes the page.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, content: &Content<'_>) -> Result<()> {
    let title = format!("Variants of {}", content.name);
    let page = finished(page(content).and_then(|page| plots::page(TEMPLATE, &title, &page)))?;
    Ok(output_file::write(path, |file| file.write_all(page.as_bytes()))?)
}

fn page<'a>(content: &'a Content<'_>) -> plots::Result<Page<'a>> {
    Ok(Page {
        description: &content.description,
        judged: content.evaluation.map(judged).transpose()?,
        convergence: convergence(content.steps)?,
        worth: (!content.worth.is_empty()).then(|| features(content.worth)).transpose()?,
        tree: content.tree,
    })
}

fn judged(own: &Evaluation) -> plots::Result<Judged> {
    let closed = own.gap_closed.map(|share| {
        format!(", which is {} of the way from the best single variant to exhaustive search", percent(share))
    });
    let answer = format!(
        "On {} held-out inputs the choices have {} of the performance of exhaustive search on the mean{}.",
        own.inputs,
        percent(own.performance.mean),
        closed.unwrap_or_default()
    );
    let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
    let spread = &own.performance;
    let mut facts = vec![
        fact("of exhaustive search, mean", percent(spread.mean)),
        fact("median", percent(spread.median)),
        fact("a tenth of the inputs is below", percent(spread.tenth)),
        fact("least", percent(spread.least)),
        fact("with the cost of features", percent(own.net.mean)),
        fact("the best variant is chosen", percent(own.accuracy)),
    ];
    if own.unsolved > 0 {
        facts.push(fact("inputs that no variant solves", own.unsolved.to_string()));
    }
    if own.risky > 0 {
        let solved = format!("{} of {}", own.risky_solved, own.risky);
        facts.push(fact("solved where some variants fail", solved));
    }
    if let Some(par10) = &own.par10 {
        facts.push(fact("PAR10", format!("{:.4}", par10.model)));
    }
    let bar = |name: String, share: f64| (name, vec![100.0 * share]);
    let chosen =
        [bar("the model's choices".to_owned(), spread.mean), bar("with features".to_owned(), own.net.mean)];
    let singles = own.variants.iter().map(|own| bar(format!("always {}", own.variant), own.performance));
    let performance = Bars {
        description: "Mean performance of the choices and of each variant alone".to_owned(),
        x_label: "of exhaustive search, mean (%)".to_owned(),
        y_label: "what is run".to_owned(),
        parts: vec!["performance".to_owned()],
        bars: chosen.into_iter().chain(singles).collect(),
        width: WIDTH,
    };
    let count = |name: &str, of: &dyn Fn(&adaptive::evaluate::Single) -> usize| {
        (name.to_owned(), own.variants.iter().map(|own| of(own) as f64).collect())
    };
    let counts = Bars {
        description: "For how many inputs each variant is the best, is chosen, and fails".to_owned(),
        x_label: "inputs".to_owned(),
        y_label: "variants".to_owned(),
        parts: own.variants.iter().map(|own| own.variant.clone()).collect(),
        bars: vec![
            count("the best", &|own| own.best),
            count("chosen", &|own| own.chosen),
            count("fails", &|own| own.failed),
        ],
        width: WIDTH,
    };
    let header = ["the best"].into_iter().chain(own.variants.iter().map(|other| other.variant.as_str()));
    let row = |(single, confusion): (&adaptive::evaluate::Single, &Vec<usize>)| {
        [single.variant.clone()].into_iter().chain(confusion.iter().map(usize::to_string)).collect()
    };
    let confusion = Table::new(header, own.variants.iter().zip(&own.confusion).map(row).collect());
    let family = |own: &adaptive::evaluate::Family| {
        vec![own.family.clone(), own.inputs.to_string(), percent(own.performance)]
    };
    let families = (own.families.len() > 1).then(|| {
        Table::new(["family", "inputs", "of exhaustive search"], own.families.iter().map(family).collect())
    });
    Ok(Judged {
        answer,
        facts,
        performance: Figure::new(
            performance.chart().svg()?,
            "The best variant of each input would have 100 %.",
        ),
        spread: spread_of(own)?,
        counts: Figure::new(
            counts.chart().svg()?,
            "An input of which several variants are the best counts for the first.",
        ),
        confusion,
        families,
    })
}

/// Performances of the inputs in order, of the choices and of the best single variant.
fn spread_of(own: &Evaluation) -> plots::Result<Figure> {
    let curve = |number: usize, name: String, values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let point = |(at, value): (usize, &f64)| {
            let share = 100.0 * (at + 1) as f64 / sorted.len() as f64;
            Point::new(
                share,
                100.0 * value,
                format!("{name}: {share:.1} % of the inputs have at most {:.1} %", 100.0 * value),
            )
        };
        let points = sorted.iter().enumerate().map(point).collect();
        let line = Some((Join::Steps, Dash::of(number)));
        Layer::Series(Series {
            name: name.clone(),
            colour: Colour::Series(number),
            marks: None,
            line,
            points,
        })
    };
    let chart = Chart {
        title: String::new(),
        subtitle: String::new(),
        description: "Performance of each input, in ascending order".to_owned(),
        x: Axis::new("share of the inputs (%)").within(0.0, 100.0),
        y: Axis::new("of exhaustive search (%)").from_zero(),
        layers: vec![
            curve(0, "the model's choices".to_owned(), &own.each),
            curve(1, format!("always {}", own.best_single), &own.each_best_single),
        ],
        size: (WIDTH, HEIGHT),
    };
    Ok(Figure::new(chart.svg()?, "The share of the inputs that have at most so much."))
}

/// Figure 2.6 of the dissertation. None where nothing is known of test inputs.
fn convergence(steps: &[Step]) -> plots::Result<Option<Figure>> {
    let known = steps.iter().filter_map(|step| Some((step.labels, 100.0 * step.performance?)));
    let points: Vec<Point> = known
        .map(|(labels, share)| Point::new(labels as f64, share, format!("{labels} labels: {share:.1} %")))
        .collect();
    let Some(last) = points.last().map(|point| point.y) else { return Ok(None) };
    let chart = Chart {
        title: String::new(),
        subtitle: String::new(),
        description: "Performance on the test inputs against the number of labelled inputs".to_owned(),
        x: Axis::new("labelled inputs").whole(),
        y: Axis::new("of exhaustive search, mean (%)"),
        layers: vec![
            Layer::Guide {
                name: format!("in the end: {last:.1} %"),
                guide: Guide::Level(last),
                colour: Colour::Series(1),
                dash: Dash::Dashed,
            },
            Layer::Series(Series::line(0, "the model's choices", points)),
        ],
        size: (WIDTH, HEIGHT),
    };
    let caption =
        "Performance on the test inputs after each label; the first point is behind the first labels.";
    Ok(Some(Figure::new(chart.svg()?, caption)))
}

/// Figure 2.7 of the dissertation.
fn features(worth: &[Worth]) -> plots::Result<Features> {
    let line = |number: usize, name: &str, of: &dyn Fn(&Worth) -> f64| {
        let points = worth.iter().enumerate().map(|(at, own)| {
            let share = 100.0 * of(own);
            Point::new((at + 1) as f64, share, format!("{name}, up to {}: {share:.1} %", own.feature))
        });
        Layer::Series(Series::line(number, name, points.collect()))
    };
    let chart = Chart {
        title: String::new(),
        subtitle: String::new(),
        description: "Performance with the first features in the order of their cost".to_owned(),
        x: Axis::new("features, the cheapest first").whole(),
        y: Axis::new("of exhaustive search, cross-validated (%)"),
        layers: vec![
            line(0, "features not charged", &|own| own.performance),
            line(1, "less what they cost", &|own| own.net),
        ],
        size: (WIDTH, HEIGHT),
    };
    let row = |(at, own): (usize, &Worth)| {
        vec![
            (at + 1).to_string(),
            own.feature.clone(),
            percent(own.cost),
            percent(own.performance),
            percent(own.net),
        ]
    };
    let header = ["number", "feature", "cost", "performance", "less all costs"];
    Ok(Features {
        figure: Figure::new(chart.svg()?, "Performance as features with a higher cost are added one by one."),
        table: Table::new(header, worth.iter().enumerate().map(row).collect()),
    })
}
