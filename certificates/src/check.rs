//! Whether a certificate proves what it claims.

use crate::bounds::{Bounded, LeftOut};
use crate::cover::{Block, Gap, gap};
use crate::document::{Certificate, FamilyName, SCHEMA, Tile, TileBox};
use crate::model::Model;
use crate::shapes::Programs;
use cost_models::form::TimeModel;
use cost_models::machine::Machine;
use hhc_codegen::counts::{Family, Problem, SizeOf, forms};
use hhc_codegen::strategy;
use polyhedral::program::Program;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What values may differ by from those that the checker computes, relative to them: floating-point sums of some hundred
/// terms.
pub const TOLERANCE: f64 = 1e-11;

/// Parts of boxes that are looked at, for each box and tile there is, before a bound counts as not confirmed.
const MOST_PARTS: u64 = 60;

/// The largest number of points of all steps.
const MOST_ITERATIONS: i64 = 1 << 53;

/// What a certificate is held against, beside itself.
#[derive(Debug, Default)]
pub struct Against<'a> {
    /// The machine that it must be about.
    pub machine: Option<&'a Machine>,
    /// The program that it must be about.
    pub program: Option<&'a Program>,
    /// Whether tiles may be left out because a compiler spilled them, which nothing here can check.
    pub accept_passed_over: bool,
}

/// A certificate that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// Boxes whose bounds were confirmed.
    pub boxes: usize,
    /// Tiles whose values were computed again.
    pub tiles: usize,
    /// Parts of boxes that were looked at because a bound of the whole box did not show enough.
    pub parts: u64,
    /// Families of tiles.
    pub families: usize,
    /// The bound that all tiles were shown to keep: the claimed value, but for rounding.
    pub bound: f64,
    /// What the proof is under, in words.
    pub conditions: Vec<String>,
}

/// Why a certificate is rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Rejected {
    /// It is not about what it should be, or not readable as a problem.
    #[error("{0}")]
    Claim(String),
    /// Its content was changed, and its hash was not.
    #[error("the content does not have the hash that is stated")]
    Hash,
    /// A tile costs something else than stated.
    #[error("{what}: the value is {computed}, not {stated} as stated")]
    Value {
        /// Strategy, sizes, `k`.
        what: String,
        /// As stated.
        stated: String,
        /// As computed.
        computed: String,
    },
    /// There is a better tile.
    #[error("{what} costs {value:.9e}, less than {least:.9e}, below which {of} has no tile as stated")]
    Cheaper {
        /// The tile.
        what: String,
        /// Its value.
        value: f64,
        /// What it should not go below.
        least: f64,
        /// The box.
        of: String,
    },
    /// A bound may be true, and is not seen to be.
    #[error("the bound of {of} was not confirmed within {parts} parts of boxes")]
    Unconfirmed {
        /// The box.
        of: String,
        /// Parts.
        parts: u64,
    },
    /// Some tiles are in no box.
    #[error("a gap: {0}")]
    Gap(String),
}

fn claim(reason: impl Into<String>) -> Rejected {
    Rejected::Claim(reason.into())
}

/// Checks a certificate.
///
/// # Errors
/// [`Rejected`] with the first thing that does not hold.
pub fn check(certificate: &Certificate, against: &Against<'_>) -> Result<Accepted, Rejected> {
    let own = &certificate.claim;
    if certificate.schema != SCHEMA {
        return Err(claim(format!("it is a `{}`, not a {SCHEMA}", certificate.schema)));
    }
    if certificate.hash() != certificate.sha256 {
        return Err(Rejected::Hash);
    }
    let machine =
        Machine::parse("the certificate's machine", &own.machine).map_err(|e| claim(e.to_string()))?;
    if let Some(named) = against.machine
        && (&named.facts, &named.calibration) != (&machine.facts, &machine.calibration)
    {
        return Err(claim(format!(
            "it is about another machine: the numbers of its `{}` are not those of `{}`",
            machine.name, named.name
        )));
    }
    let program = polyhedral::parse("the certificate's program", &own.program)
        .map_err(|_| claim("its program is none of the stencil language"))?;
    if against.program.is_some_and(|named| named.to_source() != program.to_source()) {
        return Err(claim(format!(
            "it is about another program: its `{}` is not the one named",
            program.name
        )));
    }
    let problem = problem(program, &own.size, own.steps)?;
    let mut conditions = Vec::new();
    if !own.passed_over.is_empty() {
        let kinds = own.passed_over.len();
        if !against.accept_passed_over {
            return Err(claim(format!(
                "it leaves out {kinds} kinds of tiles because a compiler spilled their registers, which no mathematics can \
                 check"
            )));
        }
        conditions.push(format!("{kinds} kinds of tiles are left out on a compiler's word"));
    }
    if own.sure_of_registers {
        conditions
            .push("tiles that may need more registers than they are given are no candidates".to_owned());
    }
    if let Some(height) = own.most_height {
        conditions.push(format!("no tile is higher than {height} rows"));
    }
    conditions.push(format!("strategies: {}", own.strategies.join(", ")));
    let model = Model::new(&problem, &machine, own.model, own.objective).map_err(claim)?;
    let space = space(&problem, &model, &own.strategies, own.most_height)?;
    let names: Vec<FamilyName> = space.iter().map(|(strategy, family)| name_of(strategy, family)).collect();
    if names != certificate.families {
        let stated = certificate.families.len();
        let why = if stated == names.len() { "other ones".to_owned() } else { stated.to_string() };
        return Err(Rejected::Gap(format!(
            "the space has {} families of tiles, and {why} are stated",
            names.len()
        )));
    }
    let programs = Programs::new(&problem);
    let left_out = LeftOut { unsure: own.sure_of_registers, passed_over: &own.passed_over };
    let bounded = space
        .iter()
        .map(|(strategy, family)| Bounded::new(&problem, &model, strategy, family, left_out, &programs));
    let bounded = bounded.collect::<Result<Vec<_>, String>>().map_err(claim)?;
    let checker = Checker { certificate, model: &model, bounded: &bounded };
    checker.places()?;
    checker.best()?;
    checker.tiles()?;
    let parts = checker.boxes()?;
    checker.covered()?;
    Ok(Accepted {
        boxes: certificate.boxes.len(),
        tiles: certificate.tiles.len(),
        parts,
        families: space.len(),
        bound: own.bound,
        conditions,
    })
}

/// Whether the checker knows enough of these strategies and this model to check certificates of them.
///
/// # Errors
/// Why not, as a sentence.
pub fn can_check(
    problem: &Problem,
    machine: &Machine,
    certificate: &crate::document::Claim,
) -> Result<(), String> {
    let model = Model::new(problem, machine, certificate.model, certificate.objective)?;
    let space = space(problem, &model, &certificate.strategies, certificate.most_height)
        .map_err(|rejected| rejected.to_string())?;
    let programs = Programs::new(problem);
    let left_out = LeftOut { unsure: false, passed_over: &[] };
    for (strategy, family) in &space {
        Bounded::new(problem, &model, strategy, family, left_out, &programs)?;
    }
    Ok(())
}

fn problem(program: Program, size: &[i64], steps: i64) -> Result<Problem, Rejected> {
    let all = size.iter().try_fold(steps, |all, &extent| all.checked_mul(extent));
    let statements = program.statements.len() as i64;
    let all = all.and_then(|all| all.checked_mul(statements));
    if size.len() != program.dimension()
        || steps < 1
        || size.iter().any(|&extent| extent < 1)
        || all.is_none_or(|all| all > MOST_ITERATIONS)
    {
        return Err(claim("its grid or its steps are none of its program"));
    }
    let problem = Problem::new(&Arc::new(program), size, steps).map_err(|error| claim(error.to_string()))?;
    if problem.total_iterations() < 1 {
        return Err(claim("nothing is computed on its grid"));
    }
    Ok(problem)
}

/// All families of the strategies.
fn space<'a>(
    problem: &Problem,
    model: &Model,
    strategies: &'a [String],
    most_height: Option<i64>,
) -> Result<Vec<(&'a str, Family)>, Rejected> {
    let on = model.limits.multiprocessor();
    let mut all = Vec::new();
    for name in strategies {
        let own = strategy::by_name(name).map_err(|error| claim(error.to_string()))?;
        if own.takes(&problem.program, &problem.cone).is_err() {
            continue;
        }
        let families = forms(own).families(problem, &on, most_height);
        all.extend(families.into_iter().map(|family| (name.as_str(), family)));
    }
    Ok(all)
}

/// The name of a family in the document.
pub fn name_of(strategy: &str, family: &Family) -> FamilyName {
    let fixed = family.names.iter().filter_map(|size| match *size {
        SizeOf::Fixed(name, value) => Some((name.to_owned(), value)),
        SizeOf::Axis(..) => None,
    });
    FamilyName { strategy: strategy.to_owned(), fixed: fixed.collect() }
}

struct Checker<'a> {
    certificate: &'a Certificate,
    model: &'a Model,
    bounded: &'a [Bounded<'a>],
}

impl Checker<'_> {
    fn whole(&self, family: usize) -> Block {
        let [a, b, c] = self.bounded[family].family.axes.map(|axis| (0, axis.count - 1));
        [(1, self.model.limits.blocks_per_sm), a, b, c]
    }

    fn shown(&self, family: usize, index: [i64; 3], k: i64) -> String {
        let own = &self.bounded[family];
        format!("{} {} k={k}", own.strategy(), own.family.tile(own.sizes(index)))
    }

    /// Everything lies in the space.
    fn places(&self) -> Result<(), Rejected> {
        let inside = |family: usize, own: &Block| {
            let whole = self.whole(family);
            (0..4).all(|d| whole[d].0 <= own[d].0 && own[d].0 <= own[d].1 && own[d].1 <= whole[d].1)
        };
        let wrong = |what: &str, number: usize| claim(format!("{what} {number} does not lie in the space"));
        for (number, own) in self.certificate.boxes.iter().enumerate() {
            if own.0 >= self.bounded.len() || !inside(own.0, &block_of_box(own)) {
                return Err(wrong("box", number));
            }
        }
        for (number, own) in self.certificate.tiles.iter().enumerate() {
            if own.0 >= self.bounded.len() || !inside(own.0, &block_of_tile(own)) {
                return Err(wrong("tile", number));
            }
        }
        Ok(())
    }

    /// The tile that is claimed to be best is one of the space, and costs what is stated.
    fn best(&self) -> Result<(), Rejected> {
        let claimed = &self.certificate.claim;
        let best = &claimed.best;
        let mut found = None;
        for (number, own) in self.bounded.iter().enumerate() {
            if own.strategy() != best.strategy {
                continue;
            }
            let index = own.index_of(&best.tile);
            found = found.or(index.map(|index| (number, index)));
        }
        let Some((family, index)) = found else {
            return Err(claim(format!(
                "the best tile, {} {}, is none of the space",
                best.strategy, best.tile
            )));
        };
        if !(1..=self.model.limits.blocks_per_sm).contains(&best.k) {
            return Err(claim("the best tile is resident more often than it can be"));
        }
        self.costs(family, index, best.k, Some(best.value))?;
        if !(claimed.bound <= best.value && claimed.bound >= best.value * (1.0 - TOLERANCE)) {
            return Err(claim(format!(
                "the bound, {:e}, is not the value of the best tile, {:e}: that there is no better one is not claimed",
                claimed.bound, best.value
            )));
        }
        Ok(())
    }

    fn costs(&self, family: usize, index: [i64; 3], k: i64, stated: Option<f64>) -> Result<(), Rejected> {
        let computed = self.bounded[family].value(self.model, index, k);
        let agrees = match (computed, stated) {
            (None, None) => true,
            (Some(computed), Some(stated)) => {
                stated >= computed.low * (1.0 - TOLERANCE) && stated <= computed.high * (1.0 + TOLERANCE)
            }
            _ => false,
        };
        let text = |value: Option<f64>| {
            value.map_or("none (it does not fit)".to_owned(), |value| format!("{value:e}"))
        };
        match agrees {
            true => Ok(()),
            false => Err(Rejected::Value {
                what: self.shown(family, index, k),
                stated: text(stated),
                computed: text(computed.map(|value| value.low)),
            }),
        }
    }

    fn tiles(&self) -> Result<(), Rejected> {
        let best = self.certificate.claim.best.value;
        for own in &self.certificate.tiles {
            let Tile(family, k, index, value) = *own;
            self.costs(family, index, k, value)?;
            if let Some(value) = value.filter(|value| *value < best * (1.0 - TOLERANCE)) {
                return Err(Rejected::Cheaper {
                    what: self.shown(family, index, k),
                    value,
                    least: best,
                    of: "the space".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Each box keeps its bound, and the value of the best tile.
    fn boxes(&self) -> Result<u64, Rejected> {
        let best = self.certificate.claim.best.value;
        let most = MOST_PARTS * (self.certificate.boxes.len() + self.certificate.tiles.len() + 1000) as u64;
        let mut parts = 0;
        for (number, own) in self.certificate.boxes.iter().enumerate() {
            let TileBox(family, ks, _, bound) = *own;
            let least = bound.map_or(f64::INFINITY, |bound| bound.max(best));
            if least.is_nan() {
                return Err(claim(format!("the bound of box {number} is no number")));
            }
            // What does not fit once more fits no more often.
            let last = if bound.is_none() { ks[0] } else { self.last_that_differs(family, own) };
            for k in ks[0]..=last {
                self.keeps(number, family, own, k, least, &mut parts, most)?;
            }
        }
        Ok(parts)
    }

    /// The last `k` of a box whose tiles may cost less than with fewer of them resident. By the counted form, tiles of wavefronts of
    /// no more than `k * n_SM` run all at once, side by side as with any greater `k`, of which no more fit.
    fn last_that_differs(&self, family: usize, own: &TileBox) -> i64 {
        let TileBox(_, ks, _, _) = *own;
        if self.model.form != TimeModel::Counted || ks[0] == ks[1] {
            return ks[1];
        }
        let [_, a, b, c] = block_of_box(own);
        let most = self.bounded[family].most_tiles([a.0, b.0, c.0], [a.1, b.1, c.1]);
        let at_once = |w: i64| (w + self.model.limits.n_sm - 1) / self.model.limits.n_sm;
        most.map_or(ks[1], |w| at_once(w).clamp(ks[0], ks[1]))
    }

    #[expect(clippy::too_many_arguments, reason = "a box, what it keeps, and what may be spent on it")]
    fn keeps(
        &self,
        number: usize,
        family: usize,
        whole: &TileBox,
        k: i64,
        least: f64,
        parts: &mut u64,
        most: u64,
    ) -> Result<(), Rejected> {
        let own = &self.bounded[family];
        let [_, a, b, c] = block_of_box(whole);
        let shown = || {
            format!(
                "box {number}, {} to {},",
                self.shown(family, [a.0, b.0, c.0], k),
                own.tile([a.1, b.1, c.1])
            )
        };
        let mut open = vec![([a.0, b.0, c.0], [a.1, b.1, c.1])];
        let mut first = true;
        while let Some((low, high)) = open.pop() {
            if !std::mem::take(&mut first) {
                *parts += 1;
                if *parts > most {
                    return Err(Rejected::Unconfirmed { of: shown(), parts: most });
                }
            }
            let bound = own.lower(self.model, low, high, k);
            if bound >= least || bound * (1.0 + TOLERANCE) >= least {
                continue;
            }
            if low == high {
                return Err(Rejected::Cheaper {
                    what: self.shown(family, low, k),
                    value: bound,
                    least,
                    of: shown(),
                });
            }
            let high = own.shrunk(self.model, low, high, k);
            if low == high {
                open.push((low, high));
                continue;
            }
            let (below, above) = halves(own, low, high);
            open.extend([above, below]);
        }
        Ok(())
    }

    fn covered(&self) -> Result<(), Rejected> {
        let mut blocks: BTreeMap<usize, Vec<Block>> = BTreeMap::new();
        for own in &self.certificate.boxes {
            blocks.entry(own.0).or_default().push(block_of_box(own));
        }
        for own in &self.certificate.tiles {
            blocks.entry(own.0).or_default().push(block_of_tile(own));
        }
        for family in 0..self.bounded.len() {
            let own = blocks.get(&family).map_or(&[][..], |own| own);
            match gap(self.whole(family), own) {
                None => {}
                Some(Gap::At([k, a, b, c])) => {
                    let tile = self.shown(family, [a, b, c], k);
                    return Err(Rejected::Gap(format!("{tile} is in no box")));
                }
                Some(Gap::TooMany) => {
                    return Err(Rejected::Gap(
                        "the boxes cut each other into too many pieces to look at".to_owned(),
                    ));
                }
            }
        }
        Ok(())
    }
}

type Corners = ([i64; 3], [i64; 3]);

/// A box in two, across the axis whose sizes differ most.
fn halves(own: &Bounded<'_>, low: [i64; 3], high: [i64; 3]) -> (Corners, Corners) {
    let (least, most) = (own.sizes(low), own.sizes(high));
    let ratio = |d: usize| most[d] as f64 / least[d] as f64;
    let d = (0..3).filter(|&d| low[d] < high[d]).max_by(|&a, &b| ratio(a).total_cmp(&ratio(b))).unwrap_or(0);
    let (mut below, mut above) = ((low, high), (low, high));
    below.1[d] = low[d] + (high[d] - low[d]) / 2;
    above.0[d] = below.1[d] + 1;
    (below, above)
}

fn block_of_box(own: &TileBox) -> Block {
    let TileBox(_, ks, [a, b, c, d, e, f], _) = *own;
    [(ks[0], ks[1]), (a, b), (c, d), (e, f)]
}

fn block_of_tile(own: &Tile) -> Block {
    let Tile(_, k, index, _) = *own;
    [(k, k), (index[0], index[0]), (index[1], index[1]), (index[2], index[2])]
}
