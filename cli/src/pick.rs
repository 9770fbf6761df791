//! `tilewright pick`: the designs of a finished study that serve its workload best together.

use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use clap::Args;
use optimizer::codesign::design::Design;
use optimizer::codesign::facility::{Chosen, choose, serve};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Largest document that is read.
const MOST_BYTES: u64 = 1 << 28;

/// Arguments of `pick`.
#[derive(Debug, Args)]
pub struct PickArguments {
    /// The report.json of a study by `tilewright codesign`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Designs to choose, at most
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub designs: u32,
    /// Weight of a stencil, in place of the study's
    #[arg(long = "weight", value_name = "STENCIL=W", value_parser = parse_weight)]
    pub weights: Vec<Weight>,
}

/// A stencil and its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Weight {
    /// Its name.
    pub stencil: String,
    /// Its weight.
    pub weight: f64,
}

fn parse_weight(text: &str) -> std::result::Result<Weight, String> {
    let (stencil, weight) =
        text.rsplit_once('=').ok_or_else(|| format!("`{text}` is no weight such as heat2d=2"))?;
    let weight = weight.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
    let weight = weight.ok_or_else(|| format!("`{text}`: a weight is a number that is not negative"))?;
    Ok(Weight { stencil: stencil.to_owned(), weight })
}

/// What is read of a study.
#[derive(Debug, Deserialize)]
struct Study {
    workload: String,
    objective: String,
    unit: String,
    constants: Vec<Stencil>,
    designs: Vec<Evaluated>,
}

#[derive(Debug, Deserialize)]
struct Stencil {
    stencil: String,
    weight: f64,
}

#[derive(Debug, Deserialize)]
struct Evaluated {
    n_sm: i64,
    n_v: i64,
    m_sm_kb: f64,
    r_vu_kb: f64,
    l1_kb: f64,
    l2_kb: f64,
    area_mm2: f64,
    stencil_costs: Vec<f64>,
}

impl Evaluated {
    fn design(&self) -> Design {
        let Evaluated { n_sm, n_v, m_sm_kb, r_vu_kb, l1_kb, l2_kb, .. } = *self;
        Design { n_sm, n_v, m_sm_kb, r_vu_kb, l1_kb, l2_kb }
    }
}

/// The report of `pick`.
#[derive(Debug, Serialize)]
pub struct PickReport {
    /// Name of the workload.
    pub workload: String,
    /// The objective of the study.
    pub objective: String,
    /// Unit of costs.
    pub unit: String,
    /// The designs, with the stencils that run on each.
    pub picked: Vec<Picked>,
    /// The weighted mean of the costs of all stencils.
    pub cost: f64,
    /// That of the best single design.
    pub single_cost: f64,
    /// That if each stencil had its own best design.
    pub least_cost: f64,
    /// Designs that were chosen among.
    pub among: usize,
}

/// A design that was chosen.
#[derive(Debug, Serialize)]
pub struct Picked {
    /// Its name.
    pub design: String,
    /// Its area in mm2.
    pub area_mm2: f64,
    /// The stencils that run on it.
    pub stencils: Vec<String>,
}

/// Picks.
///
/// # Errors
/// Files that are no study, weights of unknown stencils.
pub fn pick(arguments: &PickArguments, session: &Session) -> Result<PickReport> {
    let file = &arguments.file;
    let read = |source| execution::ExecutionError::File { action: "read", path: file.clone(), source };
    let text = safe_io::input::read_text(file, MOST_BYTES).map_err(read)?;
    let study: Study = serde_json::from_str(&text).map_err(|error| {
        Error::wrong_input(format!("{} is no study: {error}", file.display()))
            .hint("name the report.json in the folder that `tilewright codesign` wrote")
    })?;
    let mut weights: Vec<f64> = study.constants.iter().map(|own| own.weight).collect();
    for own in &arguments.weights {
        let at =
            study.constants.iter().position(|stencil| stencil.stencil == own.stencil).ok_or_else(|| {
                let names: Vec<&str> = study.constants.iter().map(|own| own.stencil.as_str()).collect();
                Error::wrong_input(format!("the study has no stencil `{}`", own.stencil))
                    .hint(format!("its stencils are {}", names.join(", ")))
            })?;
        weights[at] = own.weight;
    }
    let costs: Vec<Vec<f64>> = study.designs.iter().map(|own| own.stencil_costs.clone()).collect();
    let whole = costs.iter().flatten().all(|cost| cost.is_finite() && *cost > 0.0);
    if costs.is_empty() || !whole || costs.iter().any(|own| own.len() != weights.len()) {
        return Err(Error::wrong_input(format!(
            "{}: not every stencil has a cost on every design",
            file.display()
        )));
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        return Err(Error::wrong_input("all weights are 0").hint("give a stencil a weight with --weight"));
    }
    let chosen = session
        .stage("pick", || choose(&costs, &weights, arguments.designs as usize))
        .map_err(Error::infeasible)?;
    let single = (0..costs.len()).map(|j| serve(&costs, &weights, &[j]).cost).fold(f64::INFINITY, f64::min);
    let all: Vec<usize> = (0..costs.len()).collect();
    let Chosen { designs, serves, cost } = chosen;
    let picked = designs.iter().map(|&j| Picked {
        design: study.designs[j].design().id(),
        area_mm2: study.designs[j].area_mm2,
        stencils: (study.constants.iter().zip(&serves))
            .filter(|(_, own)| **own == j)
            .map(|(stencil, _)| stencil.stencil.clone())
            .collect(),
    });
    Ok(PickReport {
        picked: picked.collect(),
        cost,
        single_cost: single,
        least_cost: serve(&costs, &weights, &all).cost,
        among: costs.len(),
        workload: study.workload,
        objective: study.objective,
        unit: study.unit,
    })
}

impl Report for PickReport {
    const SCHEMA: &'static str = "tilewright.pick/1";

    fn text(&self) -> String {
        let rows: Vec<Vec<String>> = (self.picked.iter())
            .map(|own| vec![own.design.clone(), format!("{:.1}", own.area_mm2), own.stencils.join(", ")])
            .collect();
        let less = |cost: f64| {
            format!("{:.6e} {} ({:.1} % less)", cost, self.unit, 100.0 * (1.0 - cost / self.single_cost))
        };
        let pairs = report::pairs(&[
            ("workload", format!("{}, objective {}", self.workload, self.objective)),
            ("chosen", format!("{} of {} designs, by an integer program", self.picked.len(), self.among)),
            ("cost", less(self.cost)),
            ("one design", format!("{:.6e} {}", self.single_cost, self.unit)),
            ("each its own", less(self.least_cost)),
        ]);
        format!("{pairs}\n{}", report::table(&["design", "mm2", "runs"], &rows, &[1]))
    }
}
