//! What a program must satisfy, and the diagnostics of what it does not.

use super::{Draft, DraftStatement, comes_earlier, margin};
use crate::diagnostic::{Code, Diagnostic};
use crate::domain::{self, Bound, EXTENTS, Interval, apart, intersection, shifted};
use crate::program::{Access, Condition, Expr, ExprKind, FieldId, Program, Statement};
use crate::source::Span;

/// The rules over the statements of a draft; they find the least size from which they hold.
pub(super) struct Rules<'a> {
    pub draft: &'a Draft,
    /// The draft's statements, with reads and domains.
    pub statements: &'a [Statement],
    pub least_size: Vec<i64>,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

impl Rules<'_> {
    fn least_extent(&mut self, d: usize, least: i64) {
        self.least_size[d] = self.least_size[d].max(least);
    }

    fn text(&self, domain: &[Interval]) -> String {
        domain::text(domain, &self.draft.space_indices)
    }

    fn target(&self, number: usize) -> &str {
        &self.draft.fields[self.statements[number].target.0].name
    }

    /// Along an index that wraps around, all points are alike.
    pub fn whole_where_periodic(&mut self) {
        for (number, draft) in self.draft.statements.iter().enumerate() {
            for (d, declared) in self.draft.periodic.iter().enumerate() {
                let given = draft.domain.get(d).is_some_and(|sides| *sides != domain::Sides::default());
                let (Some(declared), true) = (declared, given) else { continue };
                let index = &self.draft.space_indices[d];
                let message = format!("`{index}` wraps around, and has bounds here");
                let diagnostic = Diagnostic::error(Code::BOUNDED_AROUND, draft.domain_span.clone(), message)
                    .related(declared.clone(), "declared periodic here")
                    .note(format!(
                        "a statement computes all points along a periodic index; this one computes `{}`",
                        self.target(number)
                    ))
                    .hint(format!("leave out the bounds of `{index}`, or declare other indices periodic"));
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Every domain has points on large grids, and at all of them every read stays on the grid.
    pub fn domains_on_the_grid(&mut self) {
        for (number, statement) in self.statements.iter().enumerate() {
            for (d, interval) in statement.domain.iter().enumerate() {
                let margin = margin(&statement.reads, d);
                if interval.low.reaches(interval.high).is_some() {
                    self.empty(number, d);
                    break;
                }
                match interval.low.reaches(margin.low) {
                    Some(least) => self.least_extent(d, least),
                    None => {
                        self.off_grid(number, d, margin.low, true);
                        break;
                    }
                }
                match margin.high.reaches(interval.high) {
                    Some(least) => self.least_extent(d, least),
                    None => {
                        self.off_grid(number, d, margin.high, false);
                        break;
                    }
                }
            }
        }
    }

    fn empty(&mut self, number: usize, d: usize) {
        let (draft, index) = (&self.draft.statements[number], &self.draft.space_indices[d]);
        let Interval { low, high } = self.statements[number].domain[d];
        let message = format!("the domain holds no value of `{index}`");
        let (low, high) = (low.text(EXTENTS[d]), high.text(EXTENTS[d]));
        let diagnostic = Diagnostic::error(Code::EMPTY_DOMAIN, draft.domain_span.clone(), message)
            .note(format!("`{index}` would run from {low} to before {high}"));
        self.diagnostics.push(diagnostic);
    }

    /// The domain, or a read from it, leaves the grid; `bound` is the farthest that would not.
    fn off_grid(&mut self, number: usize, d: usize, bound: Bound, below: bool) {
        let draft = &self.draft.statements[number];
        let index = &self.draft.space_indices[d];
        let sign = if below { -1 } else { 1 };
        let reads = self.statements[number].reads.iter();
        let farthest =
            reads.max_by_key(|read| sign * read.offset[d]).filter(|read| sign * read.offset[d] > 0);
        let side = if below { "first" } else { "last" };
        let message = match farthest {
            Some(_) => format!("at the {side} `{index}` of this domain a read leaves the grid"),
            None => format!("the {side} `{index}` of this domain is not on the grid"),
        };
        let mut diagnostic = Diagnostic::error(Code::OFF_GRID, draft.domain_span.clone(), message);
        if let Some(span) = farthest.and_then(|read| place_of(draft, read)) {
            diagnostic = diagnostic.related(span, "this read");
        }
        let text = bound.text(EXTENTS[d]);
        let hint = if below {
            format!("begin at {text}: `{text} <= {index}`")
        } else {
            format!("end before {text}: `{index} < {text}`")
        };
        self.diagnostics.push(diagnostic.hint(hint));
    }

    /// Statements with one target compute different points.
    pub fn targets_apart(&mut self) {
        for second in 0..self.statements.len() {
            for first in 0..second {
                let (a, b) = (&self.statements[first], &self.statements[second]);
                if a.target != b.target {
                    continue;
                }
                match apart(&a.domain, &b.domain) {
                    Some((d, least)) => self.least_extent(d, least),
                    None => {
                        self.overlap(first, second);
                        break;
                    }
                }
            }
        }
    }

    fn overlap(&mut self, first: usize, second: usize) {
        let [one, other] = [first, second].map(|number| &self.draft.statements[number]);
        let both = intersection(&self.statements[first].domain, &self.statements[second].domain);
        let message = format!("two statements compute the same points of `{}`", self.target(second));
        let diagnostic = Diagnostic::error(Code::ASSIGNED_TWICE, other.target_span.clone(), message)
            .label("computed again")
            .related(one.target_span.clone(), "computed here")
            .note(format!("both compute the points {}", self.text(&both)))
            .note(format!("the first computes {}", self.text(&self.statements[first].domain)))
            .note(format!("the second computes {}", self.text(&self.statements[second].domain)))
            .hint("give them domains without common points, such as `for i == 0` and `for 1 <= i`");
        self.diagnostics.push(diagnostic);
    }

    /// A new level is read only where an earlier statement has computed it.
    pub fn reads_after_writes(&mut self) {
        for (reader, statement) in self.statements.iter().enumerate() {
            for access in statement.reads.iter().filter(|access| access.time == 1) {
                let place = shifted(&statement.domain, &access.offset);
                for writer in reader..self.statements.len() {
                    let other = &self.statements[writer];
                    if other.target != access.field {
                        continue;
                    }
                    match apart(&place, &other.domain) {
                        Some((d, least)) => self.least_extent(d, least),
                        // A sweep in order.
                        None if writer == reader && comes_earlier(&access.offset) => {}
                        None => {
                            let points = intersection(&place, &other.domain);
                            self.too_early(reader, access, writer, &points);
                            return;
                        }
                    }
                }
            }
        }
    }

    fn too_early(&mut self, reader: usize, access: &Access, writer: usize, points: &[Interval]) {
        let (draft, field) = (self.draft, &self.draft.fields[access.field.0].name);
        let time = &draft.time_index;
        let own = reader == writer;
        let message = if own {
            format!("this statement reads `{field}` at `{time}+1` while it computes it")
        } else {
            format!("`{field}` at `{time}+1` is read before it is computed")
        };
        let statement = &draft.statements[reader];
        let place = place_of(statement, access).unwrap_or_else(|| statement.span.clone());
        let mut diagnostic = Diagnostic::error(Code::IN_PLACE, place, message)
            .related(draft.statements[writer].target_span.clone(), "computed here")
            .note(format!("this concerns the points {}", self.text(points)))
            .hint(format!("read `{field}` at `{time}`, the level before"));
        diagnostic = match own {
            true => diagnostic.note(LEXICOGRAPHIC),
            false => diagnostic.hint(format!("or move the statement that computes `{field}` up")),
        };
        self.diagnostics.push(diagnostic);
    }
}

/// What a sweep can read of what it computes.
const LEXICOGRAPHIC: &str = "the points of an update in place (Gauss-Seidel) are computed in lexicographic order: it \
     can read the new level of points that come earlier";

/// Where a statement reads this access.
fn place_of(draft: &DraftStatement, access: &Access) -> Option<Span> {
    let mut found = None;
    for value in draft.locals.iter().map(|local| &local.value).chain([&draft.value]) {
        value.walk(|expr| match &expr.kind {
            ExprKind::Read(read) if read == access && found.is_none() => found = Some(expr.span.clone()),
            _ => {}
        });
    }
    found
}

/// The most steps after which levels of all fields are back in their slots, where a grid wraps around: so deep are ghost
/// zones at least.
const MOST_CYCLE: i64 = 4096;

/// Why a program cannot wrap around.
pub(super) fn not_around(program: &Program) -> Option<Diagnostic> {
    if let Some(statement) = program.sweeps_in_order().next() {
        let time = &program.time_index;
        let field = &program.field(program.statements[statement].target).name;
        let message = format!("`{field}` is updated in place on a grid that wraps around");
        return Some(
            Diagnostic::limitation(
                Code::IN_ORDER_AROUND,
                program.statements[statement].span.clone(),
                message,
            )
            .note("the first point of a sweep in order would have the last one before it, which comes later")
            .hint(format!("read `{field}` at `{time}`, the level before"))
            .hint("or leave out `boundary periodic`"),
        );
    }
    let value = |expr: &&Expr| {
        let mut has = false;
        expr.walk_conditions(|condition| has |= matches!(condition, Condition::Congruent(_)));
        has
    };
    if let Some(value) = program.statements.iter().flat_map(Statement::values).find(value) {
        let message = "this depends on the indices themselves, on a grid that wraps around";
        return Some(
            Diagnostic::limitation(Code::INDICES_AROUND, value.span.clone(), message)
                .note("every second point, for example, is not alternating across the ends of a grid of odd size")
                .hint("leave out `boundary periodic`, or give the condition as a `coefficient`"),
        );
    }
    let cycle = program.cycle();
    let field = program.fields.iter().max_by_key(|field| field.role.slots())?;
    (cycle > MOST_CYCLE).then(|| {
        let message = format!(
            "levels are back in their slots after {cycle} steps only, which a periodic grid cannot have"
        );
        Diagnostic::limitation(Code::TOO_FEW_SLOTS, field.span.clone(), message)
            .note(format!("ghost zones are so many steps deep; at most {MOST_CYCLE} are possible"))
            .hint("ask for numbers of slots that divide each other, or for none")
    })
}

/// The number of slots that a field asks for is too small.
pub(super) fn too_few_slots(program: &Program, field: usize, needed: usize, slots: usize) -> Diagnostic {
    let name = &program.fields[field].name;
    let levels = program.levels_read(FieldId(field));
    let message = format!("`{name}` needs {needed} slots, and {slots} are not enough");
    Diagnostic::error(Code::TOO_FEW_SLOTS, program.fields[field].span.clone(), message)
        .note(format!("{levels} time level(s) before the new one are read, some after it has been written"))
        .hint(format!("write `slots {needed}`, or leave it out"))
}
