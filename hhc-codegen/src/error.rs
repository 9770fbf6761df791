//! What can be wrong with a request for a plan.

use thiserror::Error;

/// Why there is no plan. The messages name what was asked for, the reason and a way out.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The text of `--tile` cannot be read.
    #[error("cannot read tile size `{part}`: {reason} (for example st=4,s0=16,s1=32)")]
    TileText {
        /// The part that is wrong.
        part: String,
        /// Why.
        reason: String,
    },
    /// A tile size that this strategy cannot use for this program.
    #[error("tile size {size}={value} is not possible with strategy {strategy}: {reason}")]
    Tile {
        /// Strategy.
        strategy: String,
        /// Name of the size.
        size: String,
        /// Its value.
        value: i64,
        /// Why, and what would be possible.
        reason: String,
    },
    /// There is no such strategy.
    #[error("there is no strategy `{name}`; the strategies are {known}")]
    UnknownStrategy {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
        /// The nearest of them, if one is near.
        nearest: Option<String>,
    },
    /// A strategy cannot tile this program.
    #[error("strategy {strategy} cannot tile `{stencil}`: {reason}")]
    Refused {
        /// Strategy.
        strategy: String,
        /// Program.
        stencil: String,
        /// Why.
        reason: String,
    },
    /// The analysis of the program failed.
    #[error("`{stencil}` cannot be analysed: {reason}")]
    Analysis {
        /// Program.
        stencil: String,
        /// Reason.
        reason: String,
    },
    /// The schedule breaks a dependence.
    #[error("strategy {strategy} with {tile} is refused: {reason}")]
    Illegal {
        /// Strategy.
        strategy: String,
        /// Tile sizes.
        tile: String,
        /// The dependence that breaks it.
        reason: String,
    },
    /// The target cannot run this plan.
    #[error("{what} needs {needed} {unit}, more than the limit of {limit}: {hint}")]
    Limit {
        /// What exceeds the limit.
        what: String,
        /// How much it needs.
        needed: i64,
        /// How much there is.
        limit: i64,
        /// Unit.
        unit: String,
        /// Way out.
        hint: String,
    },
    /// The target has no code for such a plan.
    #[error("there is no {target} code for kernel {kernel} of strategy {strategy}: {reason}")]
    Unsupported {
        /// Target.
        target: &'static str,
        /// Kernel.
        kernel: String,
        /// Strategy.
        strategy: String,
        /// Why.
        reason: String,
    },
    /// A template could not be rendered: an error of ours.
    #[error("internal error: template `{template}`: {reason}")]
    Template {
        /// Template.
        template: String,
        /// Reason.
        reason: String,
    },
}
