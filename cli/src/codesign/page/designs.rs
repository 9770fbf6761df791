//! Designs beside each other: cards, lines across their values, the table that readers filter, and the roofline.

use super::charts::{HEIGHT, WHOLE, figure, title};
use optimizer::codesign::document::{DesignFacts, Document};
use plots::figures::{Across, Upright, parallel};
use plots::{Axis, Card, CardValue, Chart, Colour, Dash, Figure, Join, Layer, Marks, Point, Result};
use plots::{Scale, Series, Shape, Table};

/// Designs in the table and in the drawing of lines; the others are in designs.csv.
const MOST_DESIGNS: usize = 400;

/// What a design is, as far as lines and filters go.
type Value = (&'static str, fn(&DesignFacts) -> f64, usize);

fn values(document: &Document) -> Vec<Value> {
    let space = &document.space;
    let mut values: Vec<Value> = vec![
        ("n_SM", |facts| facts.design.n_sm as f64, 0),
        ("n_V", |facts| facts.design.n_v as f64, 0),
        ("M_SM kB", |facts| facts.design.m_sm_kb, 0),
    ];
    if space.r_vu_kb.len() > 1 {
        values.push(("R_VU kB", |facts| facts.design.r_vu_kb, 1));
    }
    if space.l1_kb.len() > 1 {
        values.push(("L1 kB", |facts| facts.design.l1_kb, 0));
    }
    if space.l2_kb.len() > 1 {
        values.push(("L2 kB", |facts| facts.design.l2_kb, 0));
    }
    values.extend([
        ("mm²", (|facts| facts.area_mm2) as fn(&DesignFacts) -> f64, 1),
        ("GFLOP/s", |facts| facts.rates.gflops, 0),
        ("GFLOP/s/W", |facts| facts.rates.gflops_per_watt, 2),
        ("W", |facts| facts.watts, 0),
    ]);
    values
}

/// The best designs by cost.
fn best_first(document: &Document) -> Vec<&DesignFacts> {
    let mut designs: Vec<&DesignFacts> = document.designs.iter().collect();
    designs.sort_by(|a, b| a.rates.cost.total_cmp(&b.rates.cost));
    designs.truncate(MOST_DESIGNS);
    designs
}

/// The best design, and those that are best at something else.
pub(super) fn cards(document: &Document) -> Vec<Card> {
    let front = || document.pareto.iter();
    let best = document.designs.iter().find(|facts| facts.design == document.best.design);
    let least = |of: fn(&DesignFacts) -> f64| front().min_by(|a, b| of(a).total_cmp(&of(b)));
    let roles = [
        ("Best for the objective", best, "what this study answers"),
        ("Knee of the front", document.knee.as_ref(), "beyond it, area brings less than before"),
        (
            "Most work per joule",
            least(|facts| -facts.rates.gflops_per_watt),
            "of the front in three objectives",
        ),
        ("Fastest", least(|facts| -facts.rates.gflops), "of the front in three objectives"),
        ("Smallest", least(|facts| facts.area_mm2), "of the front in three objectives"),
        ("Robust", robust(document), "least greatest regret while the constants vary"),
    ];
    let mut cards: Vec<(&DesignFacts, Card)> = Vec::new();
    for (role, facts, note) in roles {
        let Some(facts) = facts else { continue };
        if let Some((_, card)) = cards.iter_mut().find(|(own, _)| own.design == facts.design) {
            card.role = format!("{}; {}", card.role, lower(role));
            continue;
        }
        let first = best.unwrap_or(facts);
        let note = note.to_owned();
        cards.push((
            facts,
            Card { role: role.to_owned(), design: facts.design.to_string(), values: own(facts, first), note },
        ));
    }
    cards.into_iter().map(|(_, card)| card).collect()
}

fn robust(document: &Document) -> Option<&DesignFacts> {
    let robust = &document.answers.uncertainty.as_ref()?.robust.design;
    document.designs.iter().find(|facts| facts.design == *robust)
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

fn own(facts: &DesignFacts, first: &DesignFacts) -> Vec<CardValue> {
    let value = |name: &str, unit: &str, decimals: usize, of: fn(&DesignFacts) -> f64| {
        let (own, other) = (of(facts), of(first));
        let change =
            if own == other { String::new() } else { format!("{:+.1} %", 100.0 * (own / other - 1.0)) };
        CardValue { name: name.to_owned(), value: format!("{own:.decimals$} {unit}"), change }
    };
    vec![
        value("rate", "GFLOP/s", 0, |facts| facts.rates.gflops),
        value("efficiency", "GFLOP/s/W", 2, |facts| facts.rates.gflops_per_watt),
        value("power", "W", 0, |facts| facts.watts),
        value("area", "mm²", 1, |facts| facts.area_mm2),
        value("memory's share", "%", 1, |facts| 100.0 * facts.memory_share),
    ]
}

/// The sentence that answers the question.
pub(super) fn answer(document: &Document) -> String {
    let best = &document.best;
    let others = document.certificate.designs_in_budget.saturating_sub(1);
    format!(
        "{} is best: {:.0} GFLOP/s and {:.2} GFLOP/s per watt on {:.1} mm²; none of the {others} other designs of the budget \
         costs less.",
        best.design, best.gflops, best.gflops_per_watt, best.area_mm2
    )
}

/// All designs, for filters.
pub(super) fn table(document: &Document) -> Table {
    let values = values(document);
    let header = std::iter::once("design").chain(values.iter().map(|(name, ..)| *name));
    let row = |facts: &DesignFacts| {
        let cells =
            values.iter().map(|(_, of, decimals)| format!("{:.decimals$}", of(facts), decimals = *decimals));
        std::iter::once(facts.design.to_string()).chain(cells).collect()
    };
    Table::new(header, best_first(document).into_iter().map(row).collect())
}

/// Each design a line across its values.
pub(super) fn lines(document: &Document) -> Result<Figure> {
    let (values, designs) = (values(document), best_first(document));
    let range = |of: fn(&DesignFacts) -> f64| {
        let all = || designs.iter().map(|facts| of(facts));
        (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
    };
    let axes = values.iter().map(|(name, of, decimals)| {
        let text = |value: f64| format!("{value:.decimals$}", decimals = *decimals);
        let (low, high) = range(*of);
        Upright { name: (*name).to_owned(), ends: (text(low), text(high)) }
    });
    let axes: Vec<Upright> = axes.collect();
    let line = |facts: &&DesignFacts| {
        let at = values.iter().map(|(_, of, _)| {
            let (low, high) = range(*of);
            if high > low { (of(facts) - low) / (high - low) } else { 0.5 }
        });
        let colour = match facts {
            facts if facts.design == document.best.design => Colour::Series(6),
            facts if facts.on_front => Colour::Series(0),
            _ => Colour::Grid,
        };
        Across { title: title(facts), at: at.collect(), colour }
    };
    // Those that matter most are drawn last.
    let mut lines: Vec<Across> = designs.iter().map(line).collect();
    let order = [Colour::Grid, Colour::Series(0), Colour::Series(6)];
    lines.sort_by_key(|line| order.iter().position(|colour| *colour == line.colour));
    let chart = parallel("Values of designs side by side", &axes, lines, (WHOLE, HEIGHT));
    let caption = "Each design is a line across its values, from the least to the greatest of all: the best one and those on the \
                   front in the colours of the first figure. Filters below fade what they leave out, in all figures of designs.";
    Ok(figure(&chart, caption)?.of_designs())
}

/// What lanes and memory allow on the best design, and what stencils reach.
pub(super) fn roofline(document: &Document) -> Result<Option<Figure>> {
    let Some(roof) = &document.answers.roofline else { return Ok(None) };
    let at = roof.stencils.iter().map(|own| own.flops_per_byte);
    let ridge = roof.peak_gflops / roof.bandwidth_gb_s;
    let low = at.clone().fold(ridge, f64::min) / 2.0;
    let high = at.fold(ridge, f64::max) * 2.0;
    let on_roof = [low, ridge, high].map(|x| {
        let y = roof.peak_gflops.min(x * roof.bandwidth_gb_s);
        Point::new(x, y, format!("{x:.2} flop/byte: {y:.0} GFLOP/s"))
    });
    let line = Series {
        name: "what lanes and memory allow".to_owned(),
        colour: Colour::Series(1),
        marks: None,
        line: Some((Join::Line, Dash::Solid)),
        points: on_roof.to_vec(),
    };
    let stencil = |(number, own): (usize, &optimizer::codesign::whatif::Reached)| {
        let title =
            format!("{}: {:.2} flop/byte, {:.0} GFLOP/s", own.stencil, own.flops_per_byte, own.gflops);
        let marks = Marks { radius: 5.0, ..Marks::new(Shape::of(number)) };
        let point = vec![Point::new(own.flops_per_byte, own.gflops, title)];
        Layer::Series(Series::scattered(&own.stencil, Colour::Series(number), marks, point))
    };
    let mut layers = vec![Layer::Series(line)];
    layers.extend(roof.stencils.iter().enumerate().map(stencil));
    let chart = Chart {
        title: String::new(),
        subtitle: String::new(),
        description: "Rates of stencils below the roofline of the best design".to_owned(),
        x: Axis::new("floating-point operations per byte of memory").scale(Scale::Logarithmic),
        y: Axis::new("GFLOP/s").scale(Scale::Logarithmic),
        layers,
        size: (WHOLE, HEIGHT),
    };
    let caption = format!(
        "Roofline of the best design: {:.0} GFLOP/s if every lane multiplies and adds in each cycle, {:.0} GB/s of memory (the \
         base machine's published bandwidth, or the design's share of it). Bytes are those that the chosen tiles move, halos \
         included.",
        roof.peak_gflops, roof.bandwidth_gb_s
    );
    let above: Vec<&str> = (roof.stencils.iter())
        .filter(|own| own.gflops > roof.peak_gflops.min(own.flops_per_byte * roof.bandwidth_gb_s))
        .map(|own| own.stencil.as_str())
        .collect();
    let remark = match above.len() {
        0 => String::new(),
        _ => format!(
            " Above it: {}. The constants of the model let memory deliver more than is published, as those that were fitted to \
             a stated rate may.",
            above.join(", ")
        ),
    };
    Ok(Some(figure(&chart, &(caption + &remark))?))
}
