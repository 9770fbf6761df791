//! What a certificate says, as a document: a problem, a machine, the tile that is claimed to be best, and boxes that together
//! hold all others, each with a value that none of its tiles goes below.

use cost_models::form::TimeModel;
use cost_models::objective::Objective;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Name and version of the document.
pub const SCHEMA: &str = "tilewright.certificate/1";

/// A certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`SCHEMA`]
    pub schema: String,
    /// Hash of all that follows, as hexadecimal digits: damage shows before anything is computed. It is no protection:
    /// whoever changes a certificate can compute it anew.
    pub sha256: String,
    /// What the certificate is about.
    pub claim: Claim,
    /// The families of tiles that boxes are in, in the order in which the space has them.
    pub families: Vec<FamilyName>,
    /// Boxes of tiles.
    pub boxes: Vec<TileBox>,
    /// Tiles that were evaluated.
    pub tiles: Vec<Tile>,
}

/// What is claimed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The program, in the stencil language.
    pub program: String,
    /// Grid extents, slowest dimension first.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// The machine, as the text of a machine file.
    pub machine: String,
    /// The form of the time model.
    pub model: TimeModel,
    /// What is minimised.
    pub objective: Objective,
    /// The strategies whose tiles were looked at.
    pub strategies: Vec<String>,
    /// The largest height in logical rows that was looked at; null: what the back end accepts.
    pub most_height: Option<i64>,
    /// Whether tiles are left out that may need more registers than the compiler may give.
    pub sure_of_registers: bool,
    /// Tiles that are left out because a compiler spilled their registers: no mathematics can check that.
    pub passed_over: Vec<PassedOver>,
    /// The tile.
    pub best: Best,
    /// The least of the values of the tiles and the bounds of the boxes.
    pub bound: f64,
}

/// The tile that is claimed to be best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// Its strategy.
    pub strategy: String,
    /// Its sizes, as `--tile` takes them.
    pub tile: String,
    /// Tiles that are resident on a multiprocessor at a time.
    pub k: i64,
    /// The value of the objective.
    pub value: f64,
}

/// Tiles whose code differs in the bounds of loops alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassedOver {
    /// Their strategy.
    pub strategy: String,
    /// Their fixed sizes.
    pub fixed: Vec<i64>,
    /// Threads of a block.
    pub threads: i64,
    /// Registers that the compiler may give a thread.
    pub registers: i64,
}

/// A strategy, and the sizes that all tiles of a family have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyName {
    /// The strategy.
    pub strategy: String,
    /// Fixed sizes, in the strategy's order.
    pub fixed: Vec<(String, i64)>,
}

/// Family, first and last `k`, first and last index on the three axes of sizes (`low0, high0, low1, high1, low2, high2`), and a
/// value that no tile of the box goes below; null: none of them fits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TileBox(pub usize, pub [i64; 2], pub [i64; 6], pub Option<f64>);

/// Family, `k`, index on the three axes of sizes, and the tile's value; null: it does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tile(pub usize, pub i64, pub [i64; 3], pub Option<f64>);

impl Certificate {
    /// A certificate with its hash.
    pub fn new(
        claim: Claim,
        families: Vec<FamilyName>,
        boxes: Vec<TileBox>,
        tiles: Vec<Tile>,
    ) -> Certificate {
        let sha256 = String::new();
        Certificate { schema: SCHEMA.to_owned(), sha256, claim, families, boxes, tiles }.hashed()
    }

    /// The same with the hash of its content.
    #[must_use]
    pub fn hashed(mut self) -> Certificate {
        self.sha256 = self.hash();
        self
    }

    /// The hash of its content.
    pub fn hash(&self) -> String {
        let content = (&self.claim, &self.families, &self.boxes, &self.tiles);
        Sha256::digest(json(&content)).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// As JSON, a box a line.
    pub fn to_json(&self) -> String {
        format!(
            "{{\n  \"schema\": {},\n  \"sha256\": {},\n  \"claim\": {},\n  \"families\": [\n    {}\n  ],\n  \
             \"boxes\": [\n    {}\n  ],\n  \"tiles\": [\n    {}\n  ]\n}}\n",
            json(&self.schema),
            json(&self.sha256),
            json(&self.claim),
            lines(&self.families),
            lines(&self.boxes),
            lines(&self.tiles)
        )
    }

    /// Reads a certificate.
    ///
    /// # Errors
    /// What is not as it should be, with its line.
    pub fn from_json(text: &str) -> Result<Certificate, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

fn json<T: Serialize>(value: &T) -> String {
    // All of it has a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}

fn lines<T: Serialize>(items: &[T]) -> String {
    items.iter().map(json).collect::<Vec<_>>().join(",\n    ")
}
