//! What ranks of MPI did, in the report of `run`.

use crate::report;
use execution::ranks::RankFacts;
use serde::Serialize;
use std::path::PathBuf;
use tilewright::ranks::{Exchange, product_text};
use tilewright::text;

/// What the ranks did in the last run.
#[derive(Debug, Serialize)]
pub struct RanksReport {
    /// Ranks per dimension.
    pub counts: Vec<i64>,
    /// Time steps between two exchanges.
    pub depth: i64,
    /// Whether some rank computed while messages were under way.
    pub overlapped: bool,
    /// What was sent, by all ranks.
    pub sent: Exchange,
    /// What the model says of that.
    pub modelled: Exchange,
    /// Seconds of computing of the slowest rank, over the mean.
    pub imbalance: f64,
    /// Share of the ranks' time in which they did not compute: packing, waiting, unpacking.
    pub exchange_share: f64,
    /// Checkpoints; null where there are none.
    pub checkpoints: Option<KeptReport>,
    /// Each rank.
    pub each: Vec<RankReport>,
}

/// Checkpoints of a run.
#[derive(Debug, Serialize)]
pub struct KeptReport {
    /// Where they were written.
    pub file: Option<PathBuf>,
    /// How many.
    pub written: u64,
    /// Seconds that writing took.
    pub seconds: f64,
    /// The one that the run went on from.
    pub restart: Option<PathBuf>,
    /// Steps that it had.
    pub steps_before: i64,
}

/// What one rank did.
#[derive(Debug, Serialize)]
pub struct RankReport {
    /// First point of its box.
    pub low: Vec<i64>,
    /// One past the last point.
    pub high: Vec<i64>,
    /// Seconds of all of it.
    pub seconds: f64,
    /// Seconds of computing.
    pub compute_seconds: f64,
    /// Seconds of packing, waiting and unpacking.
    pub exchange_seconds: f64,
    /// Bytes of its arrays.
    pub bytes: u64,
}

impl RanksReport {
    /// Of the facts of all ranks.
    pub fn new(facts: &[RankFacts], modelled: Exchange, kept: KeptReport) -> RanksReport {
        let sum = |of: &dyn Fn(&RankFacts) -> f64| facts.iter().map(of).sum::<f64>();
        let ratio = |part: f64, whole: f64, none: f64| if whole > 0.0 { part / whole } else { none };
        let slowest = facts.iter().map(|rank| rank.compute_seconds).fold(0.0, f64::max);
        let compute = sum(&|rank| rank.compute_seconds);
        RanksReport {
            counts: facts.first().map(|rank| rank.ranks.clone()).unwrap_or_default(),
            depth: facts.first().map_or(0, |rank| rank.depth),
            overlapped: facts.iter().any(|rank| rank.overlapped),
            sent: Exchange {
                bands: facts.first().map_or(0, |rank| rank.bands),
                messages: facts.iter().map(|rank| rank.messages).sum(),
                bytes: facts.iter().map(|rank| rank.bytes).sum(),
            },
            modelled,
            imbalance: ratio(slowest * facts.len() as f64, compute, 1.0),
            exchange_share: ratio(sum(&|rank| rank.exchange_seconds), sum(&|rank| rank.seconds), 0.0),
            checkpoints: (kept.file.is_some() || kept.restart.is_some()).then_some(kept),
            each: facts.iter().map(RankReport::new).collect(),
        }
    }

    /// The lines of the report.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let ranks = self.each.len() as u64;
        let sent = |exchange: &Exchange| {
            format!(
                "{} with {} in {}",
                text::count(exchange.messages, "message", "messages"),
                report::bytes(exchange.bytes as f64),
                text::count(exchange.bands, "exchange", "exchanges")
            )
        };
        let model = if self.sent == self.modelled {
            "as the model says".to_owned()
        } else {
            format!("the model says {}", sent(&self.modelled))
        };
        let overlap = if self.overlapped { ", inner points computed meanwhile" } else { "" };
        let each = self.each.iter().enumerate().map(|(rank, own)| {
            let seconds = [own.compute_seconds, own.exchange_seconds].map(report::seconds);
            let points: Vec<String> =
                own.low.iter().zip(&own.high).map(|(low, high)| format!("{low}..{high}")).collect();
            format!(
                "rank {rank}: points {}, computing {}, exchange {}",
                points.join(" x "),
                seconds[0],
                seconds[1]
            )
        });
        let mut lines = vec![
            (
                "ranks",
                format!(
                    "{} ({}), an exchange every {}{overlap}",
                    text::count(ranks, "rank", "ranks"),
                    product_text(&self.counts),
                    text::count(self.depth.max(0) as u64, "step", "steps")
                ),
            ),
            ("sent", format!("{}, {model}", sent(&self.sent))),
            (
                "exchange",
                format!(
                    "{:.1} % of the ranks' time; imbalance {:.3}",
                    100.0 * self.exchange_share,
                    self.imbalance
                ),
            ),
            ("each rank", each.collect::<Vec<_>>().join("\n")),
        ];
        if let Some(kept) = &self.checkpoints {
            let from = kept.restart.as_ref().map(|path| {
                let steps = text::count(kept.steps_before.unsigned_abs(), "step", "steps");
                format!("went on from {} after {steps}", path.display())
            });
            let to = kept.file.as_ref().map(|path| {
                let count = text::count(kept.written, "checkpoint", "checkpoints");
                format!("{count} to {} in {}", path.display(), report::seconds(kept.seconds))
            });
            lines.push(("checkpoints", from.into_iter().chain(to).collect::<Vec<_>>().join("; ")));
        }
        lines
    }
}

impl RankReport {
    fn new(facts: &RankFacts) -> RankReport {
        RankReport {
            low: facts.own.iter().map(|own| own.0).collect(),
            high: facts.own.iter().map(|own| own.1).collect(),
            seconds: facts.seconds,
            compute_seconds: facts.compute_seconds,
            exchange_seconds: facts.exchange_seconds,
            bytes: facts.memory,
        }
    }
}
