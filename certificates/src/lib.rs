//! Certificates that a tile is best, and a checker that shares nothing with the search that wrote them.
//!
//! ```text
//! a search --boxes of tiles with bounds, tiles with values--> Certificate --check--> Accepted, or Rejected with a reason
//! ```
//!
//! A certificate proves that no tile of a space is better than one of them if three things hold: each tile lies in some box or is
//! listed; no tile of a box is better than the box's bound; and no bound, nor any tile that is listed, is better than the best.
//! The checker looks at all three. What tiles of a box cost at least it computes by itself, from the formulas of the models in
//! intervals that are rounded outwards (`model`, `interval`) and from what it knows of the shapes of tiles (`hexagons`, `blocks`);
//! where that does not show a stated bound, it cuts the box, down to single tiles. The optimizer and its bounds are not used:
//! neither of `optimizer` nor of `cost_models::gpu` nor `TileForms::bounds` and `TileForms::least_work`. What it takes as given
//! are the definitions: counts of a *single* tile, the sizes that a strategy has, and what a machine file says.
//!
//! ```
//! use certificates::{Against, Best, Certificate, Claim, check};
//! use cost_models::form::TimeModel;
//! use cost_models::objective::Objective;
//!
//! // A claim without any evidence.
//! let strategy = hhc_codegen::strategy::baseline().id().to_owned();
//! let claim = Claim {
//!     program: polyhedral::shipped::load("heat1d").ok_or("no such stencil")?.to_source(),
//!     size: vec![4000],
//!     steps: 8,
//!     machine: cost_models::machine::source("v100").ok_or("no such machine")?.to_owned(),
//!     model: TimeModel::Paper,
//!     objective: Objective::Time,
//!     strategies: vec![strategy.clone()],
//!     most_height: None,
//!     sure_of_registers: false,
//!     passed_over: Vec::new(),
//!     best: Best { strategy, tile: "s0=256".to_owned(), k: 1, value: 1.0 },
//!     bound: 1.0,
//! };
//! let certificate = Certificate::new(claim, Vec::new(), Vec::new(), Vec::new());
//! let rejected = check(&certificate, &Against::default()).unwrap_err();
//! assert!(rejected.to_string().contains("families"), "{rejected}");
//! # Ok::<(), &'static str>(())
//! ```

mod blocks;
mod bounds;
mod check;
mod cover;
mod document;
mod hexagons;
mod interval;
mod model;
mod shapes;

pub use check::{Accepted, Against, Rejected, TOLERANCE, can_check, check, name_of};
pub use document::{Best, Certificate, Claim, FamilyName, PassedOver, SCHEMA, Tile, TileBox};

#[cfg(test)]
mod tests {
    /// Neither the search nor the bounds that it uses.
    #[test]
    fn the_checker_shares_nothing_with_the_search() {
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let theirs =
            ["optimizer::", "cost_models::gpu", "cost_models::model", "CountBounds", "forms.bounds("];
        for file in std::fs::read_dir(sources).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                assert!(!theirs.iter().any(|name| line.contains(name)), "{}: {line}", path.display());
            }
        }
    }
}
