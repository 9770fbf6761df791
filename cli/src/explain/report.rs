//! The report of `explain`.

use crate::report::{self, Report};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tilewright::text;
use tuner::recorded::{Mixed, Roles};
use tuner::starchart::accuracy::CurvePoint;
use tuner::starchart::draw::short;
use tuner::starchart::model::Chosen;
use tuner::starchart::targets::{Meeting, Target};
use tuner::starchart::{Goal, Importance, Region, Split, Table, Tree, side};

/// Parameters below this share of the importance are summed up in the text.
const SMALL_SHARE: f64 = 0.005;
/// Width of the names on the left of the text.
const NAMES: usize = 12;
/// Terms of the linear part, and subspaces, in the text.
const MOST_TERMS: usize = 6;
const MOST_MEETINGS: usize = 5;

/// What explains the trials.
#[derive(Debug, Serialize)]
pub struct ExplainReport {
    /// Kernel, device and number of trials.
    pub title: String,
    /// The files.
    pub files: Vec<PathBuf>,
    /// What the columns of the files are, and why.
    pub roles: Roles,
    /// In what the settings of trials of one file differ: machines, versions, sizes and others, each with the number of
    /// its trials. Each is a parameter.
    pub mixed: Vec<Mixed>,
    /// Successful trials with all metrics, inside the subspace.
    pub trials: usize,
    /// Failed trials by status; they are not in the tree.
    pub failed: BTreeMap<&'static str, usize>,
    /// Successful trials without a metric.
    pub unmeasured: usize,
    /// Trials outside the subspace.
    pub outside: usize,
    #[serde(skip)]
    pub(super) left_out: String,
    /// The subspace.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// The tree of the first metric.
    #[serde(flatten)]
    pub metric: MetricReport,
    /// The trees of the others.
    pub others: Vec<MetricReport>,
    /// Limits asked for.
    pub targets: Vec<Target>,
    /// The subspaces that meet all of them, the best worst case first.
    pub meeting: Vec<Meeting>,
    /// Files written.
    pub written: Vec<PathBuf>,
}

/// The tree of one metric.
#[derive(Debug, Serialize)]
pub struct MetricReport {
    /// The metric.
    pub metric: String,
    /// Its unit; empty where it is not known.
    pub unit: String,
    /// Trials that the tree was grown on.
    pub samples: usize,
    /// Partitions.
    pub leaves: usize,
    /// Splits on the longest path.
    pub depth: usize,
    /// All splits, level by level.
    pub splits: Vec<SplitEntry>,
    /// Mean over the draws of the median relative error on held-out trials; null where there are too few.
    pub median_relative_error: Option<f64>,
    /// How it was measured.
    pub accuracy: Option<Accuracy>,
    /// The partition with the best mean.
    pub best_leaf: BestLeaf,
    /// The best of the partitions that are shown: fewer splits, more designs.
    pub best_shown: BestLeaf,
    /// Which parameters matter in this tree.
    pub importance: Vec<Importance>,
    /// Which matter outside the subspace as well; null without --where.
    pub importance_everywhere: Option<Vec<Importance>>,
    /// Error by number of samples; null unless asked for.
    pub curve: Option<Vec<CurvePoint>>,
    /// The linear part of the nodes; null where they have means.
    pub linear: Option<LinearNodes>,
    #[serde(skip)]
    pub(super) drawn: String,
    #[serde(skip)]
    pub(super) tree: Tree,
}

/// A split.
#[derive(Debug, Serialize)]
pub struct SplitEntry {
    /// The parameter.
    pub parameter: String,
    /// `v` of `parameter <= v`, or the levels that go left.
    pub value: SplitValue,
    /// Middle between the two values that it separates, as CART programs report it; null for subsets.
    pub threshold: Option<f64>,
    /// Reduction in the sum of squared errors.
    pub gain: f64,
    /// Condition of the designs that go left.
    pub condition: String,
    /// Splits above it.
    pub depth: usize,
    /// Designs that it divides, and that go left.
    pub count: [usize; 2],
}

/// What a split compares with.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum SplitValue {
    /// At most this goes left.
    AtMost(f64),
    /// These go left.
    Levels(Vec<String>),
}

impl SplitEntry {
    pub(super) fn new(table: &Table, tree: &Tree, at: usize, split: &Split) -> SplitEntry {
        let column = &table.columns()[split.column];
        let levels = || {
            let left = (0..column.levels().len() as u32).filter(|&code| split.goes_left(code));
            left.map(|code| column.label(code).trim_matches('"').to_owned()).collect()
        };
        SplitEntry {
            parameter: column.name().to_owned(),
            value: split.value(table).map_or_else(|| SplitValue::Levels(levels()), SplitValue::AtMost),
            threshold: split.threshold(table),
            gain: split.gain,
            condition: side(table, tree, at, true),
            depth: tree.nodes()[at].depth,
            count: [tree.nodes()[at].count, tree.nodes()[split.children[0]].count],
        }
    }
}

/// How accuracy was measured, and what else it was measured for.
#[derive(Debug, Serialize)]
pub struct Accuracy {
    /// As in the report.
    #[serde(skip)]
    pub median_relative_error: f64,
    /// Samples of a draw.
    pub samples: usize,
    /// Held-out trials of a draw.
    pub validation: usize,
    /// Draws.
    pub draws: u32,
    /// Seed of the first.
    pub seed: u32,
    /// Error of trees on uniform samples.
    pub uniform: f64,
    /// Error of trees on as many samples of Algorithm 2; null unless --iterative.
    pub iterative: Option<f64>,
    /// Both inside the box of the best 15 %.
    pub uniform_in_box: Option<f64>,
    /// See `uniform_in_box`.
    pub iterative_in_box: Option<f64>,
    /// Error of Stargazer on the same samples; null unless asked for.
    pub stargazer: Option<f64>,
}

/// The partition with the best mean.
#[derive(Debug, Serialize)]
pub struct BestLeaf {
    /// One condition for each parameter that matters there.
    pub rules: Vec<String>,
    /// The rules as one expression, ready as a constraint for the next search.
    pub constraint: String,
    /// Mean of its designs.
    pub mean: f64,
    /// Best of its designs.
    pub best: f64,
    /// Worst of its designs.
    pub worst: f64,
    /// Number of designs.
    pub count: usize,
}

impl BestLeaf {
    /// A leaf of a tree.
    pub(super) fn new(table: &Table, tree: &Tree, leaf: usize, goal: Goal) -> BestLeaf {
        let node = &tree.nodes()[leaf];
        let [best, worst] = goal.best_and_worst(node);
        let region = Region::of(table, tree, leaf);
        BestLeaf {
            rules: region.conditions(table),
            constraint: region.expression(table),
            mean: node.mean,
            best,
            worst,
            count: node.count,
        }
    }

    fn text(&self) -> String {
        let [mean, best, worst] = [self.mean, self.best, self.worst].map(short);
        let designs = text::count(self.count as u64, "design", "designs");
        format!("mean {mean}, from {best} to {worst}, {designs}\n{}", self.constraint)
    }
}

/// The linear part of trees with linear models.
#[derive(Debug, Serialize)]
pub struct LinearNodes {
    /// What cross-validation chose.
    pub chosen: Chosen,
    /// Terms and coefficients, the greatest first.
    pub terms: Vec<(String, f64)>,
}

impl Report for ExplainReport {
    const SCHEMA: &'static str = "tilewright.explain/1";

    fn text(&self) -> String {
        let mut text = format!("{}; {}\n", self.title, self.left_out);
        text += &report::pairs(&self.roles.lines());
        text += &self.mixed_text();
        if let Some(condition) = &self.condition {
            text += &format!("where {condition}\n");
        }
        for metric in std::iter::once(&self.metric).chain(&self.others) {
            text += "\n";
            text += &metric.text();
        }
        if !self.targets.is_empty() {
            text += &self.meeting_text();
        }
        for path in &self.written {
            text += &format!("\nwritten: {}", path.display());
        }
        text
    }
}

/// Values of a part of the setting that the text names.
const MOST_VALUES: usize = 4;

impl ExplainReport {
    /// One line for each part of the setting in which trials differ, and how one of them is chosen.
    fn mixed_text(&self) -> String {
        let line = |mixed: &Mixed| {
            let mut values: Vec<String> = mixed
                .values
                .iter()
                .take(MOST_VALUES)
                .map(|(value, count)| format!("{value} ({})", text::count(*count as u64, "trial", "trials")))
                .collect();
            if mixed.values.len() > MOST_VALUES {
                values.push(format!("{} more", mixed.values.len() - MOST_VALUES));
            }
            let first = mixed.values.first().map_or("", |(value, _)| value);
            let whole = ["steps", "threads"].contains(&mixed.parameter.trim_end_matches('_'));
            let value = if whole { first.to_owned() } else { format!("{first:?}") };
            let name = &mixed.parameter;
            format!(
                "note: trials of several values of {name} are mixed: {}; --where '{name} == {value}' takes one\n",
                values.join(", ")
            )
        };
        self.mixed.iter().map(line).collect()
    }

    fn meeting_text(&self) -> String {
        let limits: Vec<String> = self
            .targets
            .iter()
            .map(|target| {
                format!(
                    "{} {} {}",
                    target.metric,
                    if target.at_most { "<=" } else { ">=" },
                    short(target.limit)
                )
            })
            .collect();
        let mut text = format!("\nsubspaces that meet {}:\n", limits.join(" and "));
        if self.meeting.is_empty() {
            text += "  none: no partitions of the trees that meet the limits have a design in common\n";
        }
        for (at, found) in self.meeting.iter().take(MOST_MEETINGS).enumerate() {
            let reached: Vec<String> = found
                .reached
                .iter()
                .map(|reached| {
                    format!("{} {} (worst {})", reached.metric, short(reached.mean), short(reached.worst))
                })
                .collect();
            let (rules, reached) = (&found.rules, reached.join(", "));
            text += &format!(
                "{:>3}. {rules}\n     {}; {} of {} designs meet all\n",
                at + 1,
                reached,
                found.meet,
                found.count
            );
        }
        if self.meeting.len() > MOST_MEETINGS {
            text += &format!("     and {} more\n", self.meeting.len() - MOST_MEETINGS);
        }
        text
    }
}

fn percent(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

fn shares(list: &[Importance]) -> String {
    let (great, small): (Vec<&Importance>, Vec<&Importance>) =
        list.iter().partition(|entry| entry.share >= SMALL_SHARE);
    let mut parts: Vec<String> =
        great.iter().map(|entry| format!("{} {}", entry.parameter, percent(entry.share))).collect();
    if !small.is_empty() {
        let names: Vec<&str> = small.iter().map(|entry| entry.parameter.as_str()).collect();
        parts.push(format!("less than {} each: {}", percent(SMALL_SHARE), names[0]));
        parts.extend(names[1..].iter().map(|name| (*name).to_owned()));
    }
    report::listed(&parts, report::width().saturating_sub(NAMES))
}

impl MetricReport {
    fn text(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" in {}", self.unit) };
        let mut pairs = vec![
            ("metric", format!("{}{unit}", self.metric)),
            (
                "tree",
                format!(
                    "{}, {} deep, of {}",
                    text::count(self.leaves as u64, "partition", "partitions"),
                    text::count(self.depth as u64, "split", "splits"),
                    text::count(self.samples as u64, "trial", "trials")
                ),
            ),
        ];
        if let Some(linear) = &self.linear {
            pairs.push(("nodes", linear.text()));
        }
        pairs.push((
            "accuracy",
            self.accuracy
                .as_ref()
                .map_or_else(|| "unknown: too few trials to hold some out".to_owned(), Accuracy::text),
        ));
        pairs.push(("importance", shares(&self.importance)));
        if let Some(everywhere) = &self.importance_everywhere {
            pairs.push(("everywhere", shares(everywhere)));
        }
        pairs.push(("best", self.best_leaf.text()));
        if self.best_shown.count != self.best_leaf.count {
            pairs.push(("best shown", self.best_shown.text()));
        }
        if let Some(curve) = &self.curve {
            let points = curve.iter().map(|point| format!("{}: {}", point.samples, percent(point.error)));
            pairs.push(("samples", points.collect::<Vec<_>>().join(", ")));
        }
        format!("{}\n{}", report::pairs(&pairs), self.drawn)
    }
}

impl Accuracy {
    fn text(&self) -> String {
        let mut text = format!(
            "{} median relative error: {} samples, {} held-out trials, mean of {}",
            percent(self.median_relative_error),
            self.samples,
            self.validation,
            text::count(u64::from(self.draws), "draw", "draws"),
        );
        if let Some(iterative) = self.iterative {
            text += &format!("\niterative {}, uniform {}", percent(iterative), percent(self.uniform));
        }
        if let (Some(uniform), Some(iterative)) = (self.uniform_in_box, self.iterative_in_box) {
            text += &format!(
                "; in the box of the best: iterative {}, uniform {}",
                percent(iterative),
                percent(uniform)
            );
        }
        if let Some(stargazer) = self.stargazer {
            text += &format!("\nStargazer {}", percent(stargazer));
        }
        text
    }
}

impl LinearNodes {
    fn text(&self) -> String {
        let chosen = &self.chosen;
        let response = if chosen.logarithm { "the logarithm of the metric" } else { "the metric" };
        let mut text = match chosen.terms {
            "none" => format!("constants for {response}"),
            terms => format!("{terms} terms for {response}, {} of them", percent(chosen.share)),
        };
        text += &format!(
            ", means drawn together by {} designs; chosen from {}",
            chosen.shrinkage, chosen.compared
        );
        if !self.terms.is_empty() {
            let terms = self.terms.iter().take(MOST_TERMS);
            let terms: Vec<String> = terms.map(|(name, value)| format!("{} {name}", short(*value))).collect();
            text += &format!(
                "\n{}{}",
                terms.join(", "),
                if self.terms.len() > MOST_TERMS { ", ..." } else { "" }
            );
        }
        text
    }
}
