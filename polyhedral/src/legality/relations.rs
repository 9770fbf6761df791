//! The sets whose emptiness is the proof, in isl.
//!
//! Pairs of scheduled instances live in the flat space
//!
//! ```text
//! [ t, s0, .. | t', s0', .. | a0, .. a_m | b0, .. b_m ]        a = theta(t, s), b = theta(t', s')
//! ```
//!
//! in which every helper constraint is read from text, with the names `t, s0..`, `u, r0..`, `a0..`, `b0..`.
//!
//! Where the host's iterations are bands of time, the band `T, first, end` in which an instance runs belongs to its
//! coordinates: `[ t, s0, .., T, first, end | .. ]`, those of the second instance with the suffix `_w`. Total then means
//! that an instance runs in the band that has its step, whatever bounds that has; and the bands of a pair are one, or
//! follow each other. If no piece runs steps of other bands than its own, two instances with the same step, or with the
//! same vector, are in one band, so that only such pairs are looked at.

use super::flow::bands::{self, Band, OwnedBand};
use super::{Instance, LegalityError, Problem, Scheduled};
use crate::dataflow::Bands;
use crate::isl::{Conjunction, Context, IslError, Map, Sample, Set};
use crate::program::Program;
use crate::schedule::{Schedule, SchedulePiece};
use std::collections::HashMap;
use std::rc::Rc;

/// One piece: its statement, and its relation on the whole integer lattice.
pub struct Piece<'c> {
    /// Index of the statement.
    pub statement: usize,
    /// `{ [t, s] -> [v] }`, not restricted to the statement's domain.
    pub map: Map<'c>,
}

/// The program and its schedule as isl relations.
pub struct Relations<'c> {
    context: &'c Context,
    /// The program.
    pub program: &'c Program,
    /// The schedule.
    pub schedule: &'c Schedule,
    /// Its pieces.
    pub pieces: Vec<Piece<'c>>,
    /// Per statement its domain `{ [t, s] }`.
    pub domains: Vec<Set<'c>>,
    /// The host's variable, and its bands of time.
    bands: Option<(&'c str, &'c Bands)>,
    /// How the bands of two instances can lie, once it was asked for.
    two_bands: Option<Rc<Vec<Conjunction<'c>>>>,
    pairs: HashMap<(usize, usize), Rc<Vec<Conjunction<'c>>>>,
    /// Sets that were read, by their texts: reading takes longer than what is done with them.
    read: HashMap<String, Conjunction<'c>>,
    shown_empty: usize,
}

fn names(letter: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{letter}{i}")).collect()
}

impl<'c> Relations<'c> {
    /// Reads all pieces.
    pub fn new(
        context: &'c Context,
        program: &'c Program,
        schedule: &'c Schedule,
        bands: Option<(&'c str, &'c Bands)>,
    ) -> Result<Relations<'c>, LegalityError> {
        let mut relations = Relations {
            context,
            program,
            schedule,
            pieces: vec![],
            domains: vec![],
            bands,
            two_bands: None,
            pairs: HashMap::new(),
            read: HashMap::new(),
            shown_empty: 0,
        };
        for (index, piece) in schedule.pieces.iter().enumerate() {
            let malformed = |message: String| LegalityError::Malformed { piece: index, message };
            if piece.statement >= program.statements.len() {
                return Err(malformed(format!("there is no statement {}", piece.statement)));
            }
            if piece.variables.len() != schedule.dimensions.len() {
                let (has, wanted) = (piece.variables.len(), schedule.dimensions.len());
                return Err(malformed(format!("it has {has} variables for {wanted} dimensions")));
            }
            if let Some((outer, _)) = bands
                && !piece.variables.iter().any(|variable| variable == outer)
            {
                return Err(malformed(format!("no dimension of it is {outer}, the number of a band")));
            }
            if piece.fixed.iter().any(|(dimension, _)| *dimension >= piece.variables.len()) {
                return Err(malformed("it fixes a dimension that the schedule does not have".to_owned()));
            }
            let map = match context.map(&relations.piece_text(piece, &[])) {
                Err(IslError::Failed { message }) => return Err(malformed(message)),
                other => other?,
            };
            relations.pieces.push(Piece { statement: piece.statement, map });
        }
        let band = relations.band("").map(|(bands, band)| {
            let Band { first, end, .. } = &band.borrowed();
            format!("{} and {first} <= t < {end}", bands::of_one(bands, &band.borrowed()))
        });
        for k in 0..program.statements.len() {
            let domain = [relations.domain_text(k, "t", "s")].into_iter().chain(band.clone());
            let domain = context.set(&format!(
                "{} {{ [{}] : {} }}",
                relations.parameters(),
                relations.instance("t", "s", "").join(", "),
                domain.collect::<Vec<_>>().join(" and ")
            ))?;
            relations.domains.push(domain);
        }
        Ok(relations)
    }

    /// Number of sets shown to be empty so far.
    pub fn shown_empty(&self) -> usize {
        self.shown_empty
    }

    /// Number of coordinates of an instance: time and space, and its band.
    pub fn instance_length(&self) -> usize {
        self.instance("t", "s", "").len()
    }

    /// Number of schedule dimensions.
    pub fn vector_length(&self) -> usize {
        self.schedule.dimensions.len()
    }

    fn parameters(&self) -> String {
        format!("[steps, {}] ->", names("n", self.program.dimension()).join(", "))
    }

    fn instance(&self, time: &str, space: &str, suffix: &str) -> Vec<String> {
        let band = self.band(suffix).map_or(Vec::new(), |(_, band)| band.names());
        [vec![time.to_owned()], names(space, self.program.dimension()), band].concat()
    }

    /// The band of an instance.
    fn band(&self, suffix: &str) -> Option<(&'c Bands, OwnedBand)> {
        self.bands.map(|(outer, bands)| (bands, OwnedBand::new(outer, bands, suffix)))
    }

    /// How the bands of two instances can lie, a union; the second has the suffix `_w`.
    fn two_bands(&self) -> Result<Vec<Conjunction<'c>>, IslError> {
        let (Some((bands, one)), Some((_, other))) = (self.band(""), self.band("_w")) else {
            return Ok(vec![self.constraint("1 = 1")?]);
        };
        let (one, other) = (one.borrowed(), other.borrowed());
        let each = format!("{} and {}", bands::of_one(bands, &one), bands::of_one(bands, &other));
        let [same, before, after] = bands::ways_of_two(bands, &one, &other);
        let ways = if self.within_their_bands()? { vec![same] } else { vec![same, before, after] };
        ways.iter().map(|way| self.constraint(&format!("{each} and {way}"))).collect()
    }

    /// Whether every piece runs steps of its band only.
    fn within_their_bands(&self) -> Result<bool, IslError> {
        let Some((bands, band)) = self.band("") else { return Ok(true) };
        let band = band.borrowed();
        let space = [self.instance("t", "s", ""), names("a", self.vector_length())].concat().join(", ");
        let outside = self.context.set(&format!(
            "{} {{ [{space}] : {} and (t < {} or t >= {}) }}",
            self.parameters(),
            bands::of_one(bands, &band),
            band.first,
            band.end
        ))?;
        for piece in &self.pieces {
            if !piece.map.copy()?.wrap()?.flatten()?.intersect(&outside)?.is_empty()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn domain_text(&self, statement: usize, time: &str, space: &str) -> String {
        self.program.domain_constraints(statement, time, space)
    }

    /// What a piece must not execute in the tiles that it calls full: its instances outside the statement's domain, a
    /// set per constraint of the domain, if it runs there, and those inside if it does not. All are flat sets of
    /// instances and their positions, which spares isl a projection. `None` where the piece does not say which tiles
    /// are full.
    pub fn wrong_in_full_tiles(
        &mut self,
        piece: usize,
    ) -> Result<Option<Vec<Conjunction<'c>>>, LegalityError> {
        let described = &self.schedule.pieces[piece];
        let Some(full) = &described.full else { return Ok(None) };
        let cases = self.wrong_cases(described.statement, full.runs);
        let Some(in_full_tiles) = self.in_full_tiles(piece)? else { return Ok(None) };
        let mut sets = Vec::new();
        for case in cases {
            let case = self.of_one(&case)?;
            for all in &in_full_tiles {
                sets.push(all.intersect(&case)?);
            }
        }
        Ok(Some(sets))
    }

    /// Constraints of which an instance of a statement must meet none in full tiles.
    pub fn wrong_cases(&self, statement: usize, runs: bool) -> Vec<String> {
        if runs {
            self.program.outside_constraints(statement, "t", "s")
        } else {
            vec![self.domain_text(statement, "t", "s")]
        }
    }

    /// The instances of a piece in the tiles that it calls full, with their positions, a union.
    pub fn in_full_tiles(&self, piece: usize) -> Result<Option<Vec<Conjunction<'c>>>, LegalityError> {
        let described = &self.schedule.pieces[piece];
        let Some(full) = &described.full else { return Ok(None) };
        match self.context.map(&self.piece_text(described, &full.constraints)) {
            Err(IslError::Failed { message }) => Err(LegalityError::Malformed { piece, message }),
            other => Ok(Some(other?.wrap()?.flatten()?.conjunctions()?)),
        }
    }

    /// The scheduled instances that meet constraints (without `or`), in the flat space of instances and their positions.
    pub fn of_one(&mut self, constraints: &str) -> Result<Conjunction<'c>, IslError> {
        self.read_once(self.text_of_one(constraints))
    }

    /// The scheduled instances that meet constraints (without `or`) on the instance, in a flat space.
    fn text_of_one(&self, constraints: &str) -> String {
        let space = [self.instance("t", "s", ""), names("a", self.vector_length())].concat().join(", ");
        format!("{} {{ [{space}] : {constraints} }}", self.parameters())
    }

    /// A piece under further constraints.
    fn piece_text(&self, piece: &SchedulePiece, further: &[String]) -> String {
        let fixed = piece.fixed.iter().map(|(at, value)| format!("{} = {value}", piece.variables[*at]));
        let constraints = piece.constraints.iter().chain(further).map(|text| format!("({text})"));
        let constraints: Vec<_> = constraints.chain(fixed).collect();
        let body = if constraints.is_empty() { "1 = 1".to_owned() } else { constraints.join(" and ") };
        let body = if piece.helpers.is_empty() {
            body
        } else {
            format!("exists {} : {body}", piece.helpers.join(", "))
        };
        format!(
            "{} {{ [{}] -> [{}] : {body} }}",
            self.parameters(),
            self.instance("t", "s", "").join(", "),
            piece.variables.join(", ")
        )
    }

    /// The pairs of scheduled instances that meet these constraints (without `or`), in the flat space
    /// above.
    pub fn constraint(&self, constraints: &str) -> Result<Conjunction<'c>, IslError> {
        self.context.conjunction(&self.text_of_pairs(constraints))
    }

    fn text_of_pairs(&self, constraints: &str) -> String {
        let space = [
            self.instance("t", "s", ""),
            self.instance("u", "r", "_w"),
            names("a", self.vector_length()),
            names("b", self.vector_length()),
        ];
        format!("{} {{ [{}] : {constraints} }}", self.parameters(), space.concat().join(", "))
    }

    /// The pairs that meet all of these constraints (each without `or`), which are read once.
    pub fn all_of(&mut self, constraints: &[String]) -> Result<Conjunction<'c>, IslError> {
        let mut all = self.read_once(self.text_of_pairs("1 = 1"))?;
        for constraint in constraints {
            all = all.intersect(&self.read_once(self.text_of_pairs(constraint))?)?;
        }
        Ok(all)
    }

    fn read_once(&mut self, text: String) -> Result<Conjunction<'c>, IslError> {
        if let Some(known) = self.read.get(&text) {
            return known.copy();
        }
        let read = self.context.conjunction(&text)?;
        self.read.insert(text, read.copy()?);
        Ok(read)
    }

    /// All pairs of an instance in piece `first` and an instance in piece `second`, a union.
    pub fn pairs(&mut self, first: usize, second: usize) -> Result<Rc<Vec<Conjunction<'c>>>, IslError> {
        if let Some(known) = self.pairs.get(&(first, second)) {
            return Ok(known.clone());
        }
        let product = self.pieces[first].map.copy()?.product(&self.pieces[second].map)?;
        let two_bands = match &self.two_bands {
            Some(known) => known.clone(),
            None => self.two_bands.insert(Rc::new(self.two_bands()?)).clone(),
        };
        let mut pairs = Vec::new();
        for all in product.wrap()?.flatten()?.conjunctions()? {
            for lie in two_bands.iter() {
                pairs.push(all.intersect(lie)?);
            }
        }
        let pairs = Rc::new(pairs);
        self.pairs.insert((first, second), pairs.clone());
        Ok(pairs)
    }

    /// The constraint that both instances of a pair lie in the domains of these statements.
    pub fn in_domains(&mut self, first: usize, second: usize) -> Result<Conjunction<'c>, IslError> {
        let domains = [self.domain_text(first, "t", "s"), self.domain_text(second, "u", "r")];
        self.all_of(&domains)
    }

    /// Whether a conjunction is empty, counted if so.
    pub fn shows_empty(&mut self, set: &Conjunction<'c>) -> Result<bool, IslError> {
        let empty = set.is_empty()?;
        self.shown_empty += usize::from(empty);
        Ok(empty)
    }

    /// Whether a set is empty, counted if so.
    pub fn shows_empty_set(&mut self, set: &Set<'c>) -> Result<bool, IslError> {
        let empty = set.is_empty()?;
        self.shown_empty += usize::from(empty);
        Ok(empty)
    }

    /// The problem of a sample; a parameter that does not matter is 0.
    pub fn problem(&self, sample: &Sample) -> Problem {
        let value = |name: &str| {
            sample.parameters.iter().find(|(parameter, _)| parameter == name).map_or(0, |(_, value)| *value)
        };
        let size = names("n", self.program.dimension()).iter().map(|name| value(name)).collect();
        Problem { steps: value("steps"), size }
    }

    /// The instance whose coordinates start at `from` in a sample.
    pub fn instance_at(&self, sample: &Sample, from: usize, statement: usize) -> Instance {
        let values = &sample.dimensions[from..=from + self.program.dimension()];
        Instance { statement, time: values[0], point: values[1..].to_vec() }
    }

    /// The two scheduled instances of a sample in the flat space.
    pub fn pair_of(&self, sample: &Sample, first: usize, second: usize) -> (Scheduled, Scheduled) {
        let (instance, vector) = (self.instance_length(), self.vector_length());
        let vector_at = |from: usize| sample.dimensions[from..from + vector].to_vec();
        (
            Scheduled { instance: self.instance_at(sample, 0, first), vector: vector_at(2 * instance) },
            Scheduled {
                instance: self.instance_at(sample, instance, second),
                vector: vector_at(2 * instance + vector),
            },
        )
    }
}
