//! The charts of the page.

use optimizer::codesign::design::Design;
use optimizer::codesign::document::{Application, DesignFacts, Document};
use plots::{
    Axis, Bars, Chart, Colour, Dash, Figure, Join, Layer, Marks, Point, Result, Series, Shape, Side,
};

/// Widths of charts that stand side by side, and of those that stand alone.
const HALF: f64 = 560.0;
pub(super) const WHOLE: f64 = 900.0;
pub(super) const HEIGHT: f64 = 380.0;

/// A quantity of designs: its name with the unit, and its value.
struct Quantity(&'static str, fn(&DesignFacts) -> f64);

const AREA: Quantity = Quantity("area (mm2)", |facts| facts.area_mm2);
const RATE: Quantity = Quantity("rate (GFLOP/s)", |facts| facts.rates.gflops);
const EFFICIENCY: Quantity = Quantity("efficiency (GFLOP/s per watt)", |facts| facts.rates.gflops_per_watt);
const MEMORY: Quantity = Quantity("area in memory (%)", |facts| 100.0 * facts.memory_share);
const VECTOR: Quantity = Quantity("area in vector units (%)", |facts| 100.0 * facts.vector_share);

/// Rate against area, with the names of the designs that matter.
pub(super) fn front(document: &Document) -> Result<Figure> {
    let caption = "Rate against area of every design. The front is exact: a design of it is the fastest up to its area, until \
                   the next step.";
    cloud(document, [AREA, RATE], |facts| facts.on_area_gflops_front, caption, true)
}

/// Efficiency against rate.
pub(super) fn efficiency(document: &Document) -> Result<Figure> {
    let caption = "Efficiency against rate: exact front in three objectives, area being the third.";
    cloud(document, [RATE, EFFICIENCY], |facts| facts.on_front, caption, false)
}

pub(super) fn resources(document: &Document) -> Result<[Figure; 2]> {
    let caption = "Shares of the chip in memory (registers, shared memory, caches) and in vector units: \
                   Figure 6.1 of the paper.";
    let shares = cloud(document, [MEMORY, VECTOR], |facts| facts.on_front, caption, false)?;
    let parts = ["vector units", "registers", "shared memory", "L1", "L2", "overhead"];
    let bar = |name: String, facts: &DesignFacts| {
        let area = &facts.area;
        let parts = [area.vector_units, area.registers, area.shared, area.l1, area.l2, area.overhead];
        (name, parts.to_vec())
    };
    let best = document.designs.iter().min_by(|a, b| a.rates.cost.total_cmp(&b.rates.cost));
    let all = best.map(|facts| bar("all stencils".to_owned(), facts));
    let each = document
        .applications
        .iter()
        .filter_map(|application| Some(bar(application.stencil.clone(), of(document, &application.design)?)));
    let bars = Bars {
        description: "Parts of the area of the best designs".to_owned(),
        x_label: "area (mm2)".to_owned(),
        y_label: "best design for".to_owned(),
        parts: parts.map(str::to_owned).to_vec(),
        bars: all.into_iter().chain(each).collect(),
        width: HALF,
    };
    let caption = "Parts of the area of the best design for all stencils, and for each alone.";
    Ok([shares, figure(&bars.chart(), caption)?])
}

/// How good each stencil's best design is for the others.
pub(super) fn others(document: &Document) -> Result<Figure> {
    let applications = &document.applications;
    let stencils = applications.len() as f64;
    let bar = |application: &Application| {
        let own = of(document, &application.design);
        let shares = applications.iter().enumerate().map(|(index, other)| {
            own.map_or(0.0, |facts| facts.stencil_gflops[index] / other.gflops / stencils)
        });
        (format!("best for {}", application.stencil), shares.collect())
    };
    let bars = Bars {
        description: "How good the best design for one stencil is for the others".to_owned(),
        x_label:
            "mean share of each stencil's own best rate (1: as good as its own design for every stencil)"
                .to_owned(),
        y_label: "design".to_owned(),
        parts: applications.iter().map(|application| application.stencil.clone()).collect(),
        bars: applications.iter().map(bar).collect(),
        width: WHOLE,
    };
    let caption =
        "Sensitivity to the workload: each stencil's best design, and what it is worth to the others.";
    figure(&bars.chart(), caption)
}

pub(super) fn memory(document: &Document) -> Result<Figure> {
    let wishes = document.answers.memory.iter().map(|wish| {
        let point = |(kb, share): &(f64, f64)| {
            let title = format!("{}: {kb} kB, {:.1} %", wish.stencil, 100.0 * share);
            Point::new(*kb, 100.0 * share, title)
        };
        (wish.stencil.as_str(), wish.by_m_sm.iter().map(point).collect())
    });
    let chart = lines(
        "Best rate by shared memory per SM",
        "shared memory per SM (kB)",
        "best rate (% of the best of all)",
        wishes,
    );
    let caption =
        "The best design with each size of shared memory, relative to the best of all, stencil by stencil.";
    figure(&chart, caption)
}

pub(super) fn overhead(document: &Document) -> Result<Figure> {
    let bars = document.answers.overhead.iter().map(|overhead| {
        let shares = overhead.shares;
        let parts = [shares.compute, shares.transfer, shares.barrier, shares.launch];
        (overhead.stencil.clone(), parts.map(|share| 100.0 * share).to_vec())
    });
    let bars = Bars {
        description: "Where the time goes on the best design".to_owned(),
        x_label: "share of the time (%)".to_owned(),
        y_label: "stencil".to_owned(),
        parts: ["iterations", "transfers", "barriers", "launches"].map(str::to_owned).to_vec(),
        bars: bars.collect(),
        width: WHOLE,
    };
    let caption = "Where the time goes on the best design, over all executions of a stencil. Transfers that \
                   iterations hide do not count.";
    figure(&bars.chart(), caption)
}

pub(super) fn hyperthreading(document: &Document) -> Result<Figure> {
    let effects = document.answers.hyperthreading.iter().map(|effect| {
        let point = |(k, gflops): &(i64, f64)| {
            Point::new(*k as f64, *gflops, format!("{}: k = {k}, {gflops:.0} GFLOP/s", effect.stencil))
        };
        (effect.stencil.as_str(), effect.by_k.iter().map(point).collect())
    });
    let mut chart = lines(
        "Rate by the number of resident tiles",
        "k: tiles resident on an SM together",
        "rate on the best design (GFLOP/s)",
        effects,
    );
    chart.x = chart.x.whole();
    figure(&chart, "The best tiles for each k, on the best design.")
}

pub(super) fn figure(chart: &Chart, caption: &str) -> Result<Figure> {
    Ok(Figure::new(chart.svg()?, caption))
}

/// The facts of a design that was evaluated.
fn of<'a>(document: &'a Document, design: &Design) -> Option<&'a DesignFacts> {
    document.designs.iter().find(|facts| facts.design == *design)
}

/// A line for each stencil, from 0 on both axes.
fn lines<'a>(
    description: &str,
    x: &str,
    y: &str,
    stencils: impl Iterator<Item = (&'a str, Vec<Point>)>,
) -> Chart {
    let series =
        stencils.enumerate().map(|(at, (name, points))| Layer::Series(Series::line(at, name, points)));
    Chart {
        title: String::new(),
        subtitle: String::new(),
        description: description.to_owned(),
        x: Axis::new(x).from_zero(),
        y: Axis::new(y).from_zero(),
        layers: series.collect(),
        size: (WHOLE, HEIGHT),
    }
}

pub(super) fn title(facts: &DesignFacts) -> String {
    format!(
        "{}: {:.1} mm2, {:.0} GFLOP/s, {:.2} GFLOP/s per watt",
        facts.design, facts.area_mm2, facts.rates.gflops, facts.rates.gflops_per_watt
    )
}

/// All designs, those on the front, and the best.
fn cloud(
    document: &Document,
    [Quantity(x_label, x), Quantity(y_label, y)]: [Quantity; 2],
    on_front: fn(&DesignFacts) -> bool,
    caption: &str,
    line: bool,
) -> Result<Figure> {
    let point = |facts: &DesignFacts| Point::new(x(facts), y(facts), title(facts));
    let is_best = |facts: &DesignFacts| facts.design == document.best.design;
    let mut front: Vec<_> = document.designs.iter().filter(|facts| on_front(facts)).map(point).collect();
    front.sort_by(|a, b| a.x.total_cmp(&b.x));
    let dominated = document.designs.iter().filter(|facts| !on_front(facts)).map(point).collect();
    let best = document.designs.iter().filter(|facts| is_best(facts)).map(point).collect();
    let scattered = |name: &str, colour: usize, marks: Marks, points: Vec<Point>| {
        Series::scattered(name, Colour::Series(colour), marks, points)
    };
    let front = scattered("on the front", 0, Marks::new(Shape::Diamond), front);
    let mut series = vec![
        scattered("dominated designs", 1, Marks::faint(Shape::Circle), dominated),
        Series { line: line.then_some((Join::Steps, Dash::Solid)), ..front },
        scattered("best for the objective", 6, Marks::new(Shape::Ring), best),
    ];
    if let Some(knee) = document.knee.as_ref().filter(|_| line) {
        let points = vec![Point::new(x(knee), y(knee), format!("knee: {}", title(knee)))];
        series.push(scattered("knee", 7, Marks::new(Shape::Frame), points));
    }
    let mut layers: Vec<Layer> = series.into_iter().map(Layer::Series).collect();
    if line {
        layers.push(Layer::Notes(Side::Above, names(document, x, y)));
    }
    let chart = Chart {
        title: String::new(),
        subtitle: String::new(),
        description: caption.to_owned(),
        x: Axis::new(x_label),
        y: Axis::new(y_label),
        layers,
        size: (if line { WHOLE } else { HALF }, HEIGHT),
    };
    Ok(figure(&chart, caption)?.of_designs())
}

/// Names of designs of the front, as many as do not stand on each other: the best, the knee, then from the fastest on.
fn names(document: &Document, x: fn(&DesignFacts) -> f64, y: fn(&DesignFacts) -> f64) -> Vec<Point> {
    let best = document.designs.iter().filter(|facts| facts.design == document.best.design);
    let mut front: Vec<_> = document.designs.iter().filter(|facts| facts.on_area_gflops_front).collect();
    front.sort_by(|a, b| y(b).total_cmp(&y(a)));
    let extent = |of: fn(&DesignFacts) -> f64| {
        let all = document.designs.iter().map(of);
        let ends = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        (ends.1 - ends.0).max(f64::MIN_POSITIVE)
    };
    let (width, height) = (extent(x), extent(y));
    let mut notes: Vec<Point> = Vec::new();
    for facts in best.chain(&document.knee).chain(front) {
        let (x, y) = (x(facts), y(facts));
        // A name is about a quarter of the drawing wide, and a twentieth high.
        let apart =
            |other: &Point| (x - other.x).abs() > 0.26 * width || (y - other.y).abs() > 0.055 * height;
        if notes.len() < 8 && notes.iter().all(apart) {
            notes.push(Point::new(x, y, facts.design.to_string()));
        }
    }
    notes
}
