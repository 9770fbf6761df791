//! Events as isl's text, and the questions that are asked about them.

use super::bands::{self, OwnedBand};
use super::text::{all, any, conjuncts, later_or_equal, later_or_equal_in_team, renamed};
use super::{FlowError, FlowKind};
use crate::dataflow::{Dataflow, Event, Region};
use crate::isl::{Conjunction, Context, IslError, Sample, Set};
use crate::legality::{LegalityError, Problem};
use crate::program::{FieldId, FieldRole, Program};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The proof about one plan.
pub struct FlowProof<'a> {
    pub context: &'a Context,
    pub program: &'a Program,
    pub flow: &'a Dataflow,
    /// All coordinates that are spoken of: one space for all sets, so that a constraint is read once. Those of a point
    /// and its band come first.
    coordinates: Vec<String>,
    /// Constraints that were read, as unions of conjunctions.
    known: RefCell<HashMap<String, Rc<Vec<Conjunction<'a>>>>>,
    /// Constraints that nothing meets.
    empty: RefCell<HashSet<String>>,
    shown_empty: Cell<usize>,
}

/// Points of a field of which the same can be said.
pub struct Case {
    /// Constraints on the point `q`.
    pub text: String,
    /// The statement that computes them; none computes boundary points.
    pub computed: Option<usize>,
}

/// What stands in an error.
pub struct Finding<'a> {
    pub kind: FlowKind,
    pub event: &'a str,
    pub other: Option<&'a str>,
    pub field: FieldId,
    pub level: &'a str,
}

/// Initial levels and slots of a field.
pub fn levels(program: &Program, field: FieldId) -> (i64, i64) {
    match program.field(field).role {
        FieldRole::State { levels, slots } => (levels as i64, slots as i64),
        FieldRole::Coefficient => (1, 1),
    }
}

/// `q` is the point and an offset of the box.
pub fn around(offsets: &[(i64, i64)]) -> String {
    all(offsets.iter().enumerate().map(|(d, (low, high))| match (low, high) {
        (0, 0) => format!("q{d} = p{d}"),
        _ => format!("p{d} + {low} <= q{d} <= p{d} + {high}"),
    }))
}

impl<'a> FlowProof<'a> {
    pub fn new(context: &'a Context, program: &'a Program, flow: &'a Dataflow) -> Self {
        let (coordinates, shown_empty) = (Vec::new(), Cell::new(0));
        let mut proof = FlowProof {
            context,
            program,
            flow,
            coordinates,
            known: RefCell::default(),
            empty: RefCell::default(),
            shown_empty,
        };
        let mut all: Vec<String> = proof.point_and_band();
        all.extend(proof.point("q"));
        all.extend(proof.bounds().iter().map(|name| format!("{name}_s")));
        for name in flow.events.iter().flat_map(|event| proof.own(event)) {
            for name in [format!("{name}_w"), name] {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
        }
        proof.coordinates = all;
        proof
    }

    /// Number of sets shown to be empty so far.
    pub fn shown_empty(&self) -> usize {
        self.shown_empty.get()
    }

    /// The coordinates of all sets; [`FlowProof::point_and_band`] come first.
    pub fn coordinates(&self) -> &[String] {
        &self.coordinates
    }

    pub fn dimension(&self) -> usize {
        self.program.dimension()
    }

    /// Whether no statement computes the field.
    pub fn never_written(&self, field: FieldId) -> bool {
        self.program.writers_of(field).next().is_none()
    }

    /// `prefix0, prefix1, ..`
    pub fn point(&self, prefix: &str) -> Vec<String> {
        (0..self.dimension()).map(|d| format!("{prefix}{d}")).collect()
    }

    /// Whether a text is about an event's point.
    pub fn mentions_point(&self, text: &str) -> bool {
        let point = self.point("p");
        marked(text, &point) != text
    }

    /// A point in the domain of a statement.
    pub fn in_domain(&self, statement: usize, prefix: &str) -> String {
        all(self.program.point_constraints(statement, &|d| format!("{prefix}{d}")))
    }

    /// A point of the grid, which has the least size on which the program computes anything.
    pub fn in_grid(&self, prefix: &str) -> String {
        let least = &self.program.least_size;
        all((0..self.dimension()).map(|d| format!("0 <= {prefix}{d} < n{d} and n{d} >= {}", least[d].max(1))))
    }

    /// The grid has the least size on which the program computes anything.
    fn large_enough(&self) -> String {
        let least = &self.program.least_size;
        all((0..self.dimension()).map(|d| format!("n{d} >= {}", least[d].max(1))))
    }

    /// Conjunctions whose union is the points in no domain of a field's statements: beyond one side of each of them.
    fn beyond(&self, field: FieldId, prefix: &str) -> Vec<String> {
        let mut beyond = vec!["1 = 1".to_owned()];
        for (k, _) in self.program.writers_of(field) {
            let domain = self.program.statements[k].domain.iter().enumerate();
            let sides: Vec<String> = domain
                .flat_map(|(d, interval)| {
                    let (extent, point) = (format!("n{d}"), format!("{prefix}{d}"));
                    [
                        format!("{point} < {}", interval.low.text(&extent)),
                        format!("{point} >= {}", interval.high.text(&extent)),
                    ]
                })
                .collect();
            let further = |known: &String| {
                let known = known.clone();
                sides.clone().into_iter().map(move |side| all([known.clone(), side])).collect::<Vec<_>>()
            };
            beyond = beyond.iter().flat_map(further).collect();
        }
        beyond
    }

    /// The points of the grid, each in a case at least.
    pub fn cases(&self, field: FieldId) -> Vec<Case> {
        let computed = self.program.writers_of(field);
        let computed = computed.map(|(k, _)| Case { text: self.in_domain(k, "q"), computed: Some(k) });
        let boundary = self.beyond(field, "q").into_iter();
        let boundary = boundary.map(|text| Case { text: all([text, self.in_grid("q")]), computed: None });
        computed.chain(boundary).collect()
    }

    /// What an event's region asks of a point of this case; `None` where it has no such point.
    pub fn region_in(&self, event: &Event, case: &Case) -> Option<String> {
        match event.region {
            Region::Statement(k) => {
                (case.computed == Some(k)).then(|| format!("1 <= ({}) <= steps", event.level))
            }
            Region::Domain(k) => (case.computed == Some(k)).then(|| "1 = 1".to_owned()),
            Region::Boundary => case.computed.is_none().then(|| "1 = 1".to_owned()),
            Region::Grid => Some("1 = 1".to_owned()),
            Region::Junk(_) => None,
        }
    }

    /// All executions of an event, and more: those on the whole lattice of points.
    pub fn runs_loosely(&self, event: &Event) -> String {
        all(event.constraints.iter().cloned().chain([self.iteration()]))
    }

    /// Which points of the lattice those are.
    pub fn exactly(&self, event: &Event) -> String {
        let region = match event.region {
            Region::Statement(k) => {
                format!("1 <= ({}) <= steps and {}", event.level, self.in_domain(k, "p"))
            }
            Region::Domain(k) => self.in_domain(k, "p"),
            Region::Grid => "1 = 1".to_owned(),
            Region::Boundary => any(self.beyond(event.field, "p")),
            Region::Junk(k) => {
                let inside = k.map_or_else(|| self.in_grid("p"), |k| self.in_domain(k, "p"));
                let outside = [&inside].into_iter().chain(&event.within_box);
                return all([any(outside.map(|inside| format!("not ({inside})"))), self.large_enough()]);
            }
        };
        all([region, self.in_grid("p")])
    }

    /// All executions of an event.
    pub fn runs(&self, event: &Event) -> String {
        all([self.runs_loosely(event), self.exactly(event)])
    }

    /// The slot of a place in the arrays that holds this level.
    pub fn slot(&self, field: FieldId, level: &str, slot: &Option<String>) -> String {
        let (initial, slots) = levels(self.program, field);
        match slot {
            Some(slot) => format!("({slot})"),
            None if slots == 1 => "0".to_owned(),
            None => format!("((({level}) + {}) mod {slots})", initial - 1),
        }
    }

    /// Events that write to a storage.
    pub fn writers(&self, storage: usize) -> Vec<&'a Event> {
        self.flow.events.iter().filter(|event| event.copy_written(storage).is_some()).collect()
    }

    /// Variables that a block's events have in common.
    pub fn shared(&self, event: &Event) -> Vec<String> {
        [vec![self.flow.outer.clone()], event.blocks.clone()].concat()
    }

    /// The variables of an event and the bounds of its band.
    pub fn own(&self, event: &Event) -> Vec<String> {
        [self.shared(event), event.loops.clone(), self.bounds(), self.point("p")].concat()
    }

    /// The coordinates of a point and of its band.
    pub fn point_and_band(&self) -> Vec<String> {
        let outer = self.flow.bands.iter().map(|_| self.flow.outer.clone());
        self.point("p").into_iter().chain(outer).chain(self.bounds()).collect()
    }

    /// The variables that bound a band.
    pub fn bounds(&self) -> Vec<String> {
        self.flow.bands.iter().flat_map(|bands| [bands.first.clone(), bands.end.clone()]).collect()
    }

    /// Whether fields have spare slots.
    pub fn spare(&self) -> bool {
        self.flow.bands.as_ref().is_some_and(|bands| bands.spare)
    }

    /// That this is an iteration of the host, whose band has these bounds.
    pub fn iteration(&self) -> String {
        match (&self.flow.bands, self.band("")) {
            (Some(bands), Some(band)) => bands::of_one(bands, &band.borrowed()),
            _ => all(self.flow.iterations.iter().cloned()),
        }
    }

    /// The names of a band, with a suffix.
    pub fn band(&self, suffix: &str) -> Option<OwnedBand> {
        Some(OwnedBand::new(&self.flow.outer, self.flow.bands.as_ref()?, suffix))
    }

    /// How the bands of two events lie, the second with this suffix.
    pub fn two_bands(&self, suffix: &str) -> String {
        match (&self.flow.bands, self.band(""), self.band(suffix)) {
            (Some(bands), Some(one), Some(other)) => bands::of_two(bands, &one.borrowed(), &other.borrowed()),
            _ => "1 = 1".to_owned(),
        }
    }

    /// That the first event does not run before the second; each is given with the renaming of its variables.
    pub fn not_before(
        &self,
        (first, first_text): (&Event, &dyn Fn(&str) -> String),
        (second, second_text): (&Event, &dyn Fn(&str) -> String),
    ) -> String {
        let outer = &self.flow.outer;
        let (a, b) = (first_text(outer), second_text(outer));
        let in_one = match first.launch.cmp(&second.launch) {
            std::cmp::Ordering::Less => "1 = 0".to_owned(),
            std::cmp::Ordering::Greater => "1 = 1".to_owned(),
            std::cmp::Ordering::Equal => {
                let blocks = first.blocks.iter().zip(&second.blocks);
                let blocks = blocks.map(|(a, b)| (first_text(a), second_text(b))).filter(|(a, b)| a != b);
                let elsewhere = blocks.map(|(a, b)| format!("{a} != {b}"));
                let places = |event: &Event, text: &dyn Fn(&str) -> String| -> Vec<String> {
                    event.position.iter().map(|place| text(place)).collect()
                };
                let late = not_before_in_block(
                    (first, &places(first, first_text)),
                    (second, &places(second, second_text)),
                );
                any(elsewhere.chain([late]))
            }
        };
        if a == b {
            return in_one;
        }
        any([format!("{a} > {b}"), all([format!("{a} = {b}"), in_one])])
    }

    /// The points that meet a constraint, as a union of conjunctions. What a text says together is put together once.
    fn union(&self, text: &str) -> Result<Rc<Vec<Conjunction<'a>>>, IslError> {
        if let Some(known) = self.known.borrow().get(text) {
            return Ok(known.clone());
        }
        let union = match &conjuncts(text)[..] {
            [_] => {
                let sizes = self.point("n").join(", ");
                let names = self.coordinates.join(", ");
                let set = self.context.set(&format!("[steps, {sizes}] -> {{ [{names}] : {text} }}"))?;
                set.conjunctions()?
            }
            [first, rest @ ..] => {
                let first = self.union(first)?;
                self.narrowed(&first, rest)?
            }
            [] => Vec::new(),
        };
        let union = Rc::new(union);
        self.known.borrow_mut().insert(text.to_owned(), union.clone());
        Ok(union)
    }

    /// The points that meet the constraints.
    pub fn set(&self, body: &str) -> Result<Vec<Conjunction<'a>>, IslError> {
        self.narrowed(&self.union("steps >= 1")?, &[body])
    }

    /// The points of a union that meet these constraints, too.
    pub fn narrowed(
        &self,
        union: &[Conjunction<'a>],
        constraints: &[&str],
    ) -> Result<Vec<Conjunction<'a>>, IslError> {
        let constraints = constraints.iter().filter(|text| **text != "1 = 1");
        let mut constraints = constraints.map(|text| self.union(text)).collect::<Result<Vec<_>, _>>()?;
        // Unions last, so that few conjunctions are looked at.
        constraints.sort_by_key(|parts| parts.len());
        let mut found = union.iter().map(Conjunction::copy).collect::<Result<Vec<_>, _>>()?;
        for parts in &constraints {
            let mut next = Vec::new();
            for (known, part) in found.iter().flat_map(|known| parts.iter().map(move |part| (known, part))) {
                let both = known.intersect(part)?;
                if !both.is_plainly_empty()? {
                    next.push(both);
                }
            }
            found = next;
        }
        Ok(found)
    }

    /// The points that meet a constraint, as far as isl does not show that there are none; asked once.
    pub fn not_empty_once(&self, body: &str) -> Result<Vec<Conjunction<'a>>, IslError> {
        if self.empty.borrow().contains(body) {
            return Ok(Vec::new());
        }
        let found = self.not_empty(self.set(body)?)?;
        if found.is_empty() {
            self.empty.borrow_mut().insert(body.to_owned());
        }
        Ok(found)
    }

    /// What isl does not show to be empty of a union.
    pub fn not_empty(&self, union: Vec<Conjunction<'a>>) -> Result<Vec<Conjunction<'a>>, IslError> {
        let mut rest = Vec::new();
        for part in union {
            if !part.is_empty()? {
                rest.push(part);
            }
        }
        if rest.is_empty() {
            self.shown_empty.set(self.shown_empty.get() + 1);
        }
        Ok(rest)
    }

    /// What one union has and the others have not: the first of its parts that is not empty.
    pub fn missing(
        &self,
        union: &[Conjunction<'a>],
        others: &[Vec<Conjunction<'a>>],
    ) -> Result<Option<Set<'a>>, IslError> {
        for part in union {
            let mut rest = part.to_set()?;
            for other in others.iter().flatten() {
                rest = rest.subtract(&other.to_set()?)?;
            }
            if !rest.is_empty()? {
                return Ok(Some(rest));
            }
        }
        self.shown_empty.set(self.shown_empty.get() + 1);
        Ok(None)
    }

    /// Shows that no point meets all of these constraints. The later ones of them are seldom needed. The error names these
    /// coordinates.
    pub fn none(&self, names: &[String], further: &[String], finding: &Finding) -> Result<(), LegalityError> {
        self.none_of(self.set("1 = 1")?, names, further, finding)
    }

    /// The same for the points of a union.
    pub fn none_of(
        &self,
        union: Vec<Conjunction<'a>>,
        names: &[String],
        further: &[String],
        finding: &Finding,
    ) -> Result<(), LegalityError> {
        let mut found = union;
        for constraints in further {
            found = self.not_empty(self.narrowed(&found, &[constraints])?)?;
        }
        match found.first() {
            Some(part) => Err(self.error(&part.to_set()?, names, finding)),
            None => Ok(()),
        }
    }

    /// The error with a point of the set.
    pub fn error(&self, set: &Set<'a>, names: &[String], finding: &Finding) -> LegalityError {
        match self.sampled(set) {
            Ok(sample) => self.error_at(&sample, names, finding, Vec::new()),
            Err(error) => error,
        }
    }

    /// A point of a set that is not empty.
    pub fn sampled(&self, set: &Set<'a>) -> Result<Sample, LegalityError> {
        let none = || IslError::Failed { message: "no sample of a set that is not empty".to_owned() };
        Ok(set.sample()?.ok_or_else(none)?)
    }

    /// The error at a point.
    pub fn error_at(
        &self,
        sample: &Sample,
        names: &[String],
        finding: &Finding,
        suppliers: Vec<String>,
    ) -> LegalityError {
        let all = self.coordinates.iter().zip(&sample.dimensions);
        let at = all.filter(|(name, _)| names.contains(name)).map(|(name, &value)| (name.clone(), value));
        LegalityError::Flow(Box::new(FlowError {
            kind: finding.kind,
            event: finding.event.to_owned(),
            other: finding.other.map(str::to_owned),
            value: format!("level {} of {}", finding.level, self.program.field(finding.field).name),
            at: at.collect(),
            problem: self.problem(sample),
            suppliers,
        }))
    }

    /// Whether a point meets a constraint.
    pub fn holds_at(&self, sample: &Sample, constraint: &str) -> Result<bool, IslError> {
        let coordinates = self.coordinates.iter().zip(&sample.dimensions);
        let parameters = sample.parameters.iter().map(|(name, value)| (name, value));
        let point = all(coordinates.chain(parameters).map(|(name, value)| format!("{name} = {value}")));
        for part in self.set(&all([point, constraint.to_owned()]))? {
            if !part.is_empty()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn problem(&self, sample: &Sample) -> Problem {
        let value = |name: &str| {
            sample.parameters.iter().find(|(parameter, _)| parameter == name).map_or(0, |(_, value)| *value)
        };
        Problem { steps: value("steps"), size: self.point("n").iter().map(|name| value(name)).collect() }
    }
}

/// That an event at one position does not run before another one at its position, in one block. Two warps are ordered by
/// the first numbers of the positions alone, two members of a team by those before the member's, two events without what
/// orders the executions of each.
pub fn not_before_in_block(
    (first, here): (&Event, &[String]),
    (second, there): (&Event, &[String]),
) -> String {
    let [here, there] = if std::ptr::eq(first, second) {
        [here, there]
    } else {
        [(first, here), (second, there)]
            .map(|(event, place)| &place[..place.len().saturating_sub(event.within)])
    };
    let (Some(own), Some(other)) = (first.warp, second.warp) else {
        return match first.team {
            Some(member) => later_or_equal_in_team(here, there, member),
            None => later_or_equal(here, there),
        };
    };
    if own == other {
        return later_or_equal(here, there);
    }
    let distance = first.before.get(other).copied().flatten();
    match (distance, here.first(), there.first()) {
        (Some(distance), Some(here), Some(there)) => format!("({here}) + {distance} > ({there})"),
        _ => "1 = 1".to_owned(),
    }
}

/// The text with these names marked as those of another event.
pub fn marked(text: &str, names: &[String]) -> String {
    renamed(text, &|name| names.iter().any(|own| own == name).then(|| format!("{name}_w")))
}
