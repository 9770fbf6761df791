//! From the parts of a program, as a front end finds them, to the checked [`Program`].
//!
//! The stencil language and other front ends meet here. A front end resolves names and types; this module finds
//! what follows from the accesses (margins, time levels, slots, the least size) and refuses programs whose
//! statements reach beyond the grid, compute a point twice, or read a value before it is computed.

mod rules;

pub(crate) use rules::GAUSS_SEIDEL;

use crate::diagnostic::Diagnostic;
use crate::domain::{Interval, Sides, apart, shifted};
use crate::program::{
    Access, Boundary, ElementType, Expr, ExprKind, Field, FieldId, FieldRole, Local, Parameter, Program,
    Series, SeriesId, Statement,
};
use crate::source::{SourceFile, Span};
use std::collections::HashSet;
use std::sync::Arc;

/// A program before it is checked. Names are resolved and expressions are typed.
///
/// What the language guarantees is required of other front ends: names are distinct C identifiers that
/// [`crate::lower::reserved`] does not know; operands have the types that [`ExprKind`] asks for; ids are those
/// of declared things; coefficients are read at time 0, state fields at `-7 ..= 1`, and a state field has a
/// statement.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Name of the stencil, a C identifier.
    pub name: String,
    /// A description for the generated files; may be empty.
    pub description: String,
    /// Name of the time index.
    pub time_index: String,
    /// Names of the space indices, slowest first; 1 to 3.
    pub space_indices: Vec<String>,
    /// The fields.
    pub fields: Vec<DraftField>,
    /// The series.
    pub series: Vec<DraftSeries>,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The statements of one time step, in execution order.
    pub statements: Vec<DraftStatement>,
    /// What points outside all domains hold.
    pub boundary: Boundary,
}

/// A field before its levels are known.
#[derive(Debug, Clone)]
pub struct DraftField {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: ElementType,
    /// Whether it changes over time.
    pub state: bool,
    /// How many time levels shall be stored; `None`: as few as possible.
    pub slots: Option<usize>,
    /// Where it is declared.
    pub span: Span,
}

/// A series before its reach is known.
#[derive(Debug, Clone)]
pub struct DraftSeries {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: ElementType,
    /// Where it is declared.
    pub span: Span,
}

/// A statement before its domain is known.
#[derive(Debug, Clone)]
pub struct DraftStatement {
    /// The field that is written.
    pub target: FieldId,
    /// Named intermediate values, in order of evaluation; all of them are used.
    pub locals: Vec<Local>,
    /// The value stored; of the target's type.
    pub value: Expr,
    /// Per dimension what is computed; sides that are not given, and missing entries, are as far out as the reads
    /// stay on the grid.
    pub domain: Vec<Sides>,
    /// Where the domain stands; the statement, if it is not written.
    pub domain_span: Span,
    /// Where the target stands.
    pub target_span: Span,
    /// Where the statement stands.
    pub span: Span,
}

impl Draft {
    /// The program, if nothing is wrong; else what is wrong is added to the diagnostics.
    pub fn check(self, source: &Arc<SourceFile>, diagnostics: &mut Vec<Diagnostic>) -> Option<Program> {
        let before = diagnostics.len();
        let statements: Vec<Statement> = self.statements.iter().map(|draft| self.statement(draft)).collect();
        let mut rules = rules::Rules {
            draft: &self,
            statements: &statements,
            least_size: vec![0; self.space_indices.len()],
            diagnostics,
        };
        rules.domains_on_the_grid();
        rules.targets_apart();
        rules.reads_after_writes();
        let least_size = std::mem::take(&mut rules.least_size);
        let mut program = Program {
            fields: self.fields.iter().map(field).collect(),
            series: self.series.iter().map(series).collect(),
            statements,
            least_size,
            boundary: self.boundary,
            name: self.name,
            description: self.description,
            time_index: self.time_index,
            space_indices: self.space_indices,
            parameters: self.parameters,
            source: Arc::clone(source),
        };
        program.find_series_reach();
        for (number, draft) in self.fields.iter().enumerate() {
            let levels = program.levels_read(FieldId(number));
            let needed = program.slots_needed(FieldId(number));
            let slots = draft.slots.unwrap_or(needed);
            if !draft.state {
                continue;
            }
            if slots < needed && diagnostics.len() == before {
                diagnostics.push(rules::too_few_slots(&program, number, needed, slots));
            }
            program.fields[number].role = FieldRole::State { levels, slots };
        }
        (diagnostics.len() == before).then_some(program)
    }

    /// A statement with its reads and domain.
    fn statement(&self, draft: &DraftStatement) -> Statement {
        let reads = distinct_reads(draft.locals.iter().map(|local| &local.value).chain([&draft.value]));
        let margins = (0..self.space_indices.len()).map(|d| margin(&reads, d));
        let given = draft.domain.iter().copied().chain(std::iter::repeat(Sides::default()));
        let domain = margins
            .zip(given)
            .map(|(margin, given)| Interval {
                low: given.low.unwrap_or(margin.low),
                high: given.high.unwrap_or(margin.high),
            })
            .collect();
        Statement {
            target: draft.target,
            locals: draft.locals.clone(),
            value: draft.value.clone(),
            reads,
            domain,
            span: draft.span.clone(),
        }
    }
}

fn field(draft: &DraftField) -> Field {
    let DraftField { name, element, span, .. } = draft.clone();
    Field { name, element, role: FieldRole::Coefficient, span }
}

fn series(draft: &DraftSeries) -> Series {
    let DraftSeries { name, element, span } = draft.clone();
    Series { name, element, first: 0, last: 0, span }
}

/// The points of dimension `d` at which these reads stay on the grid.
pub fn margin(reads: &[Access], d: usize) -> Interval {
    let reach = |sign: i64| reads.iter().map(|read| sign * read.offset[d]).max().unwrap_or(0).max(0);
    Interval::margin(reach(-1), reach(1))
}

impl Program {
    /// How many initial levels the reads of a field need, at least 1.
    fn levels_read(&self, field: FieldId) -> usize {
        let reads = self.statements.iter().flat_map(|statement| &statement.reads);
        let oldest = reads.filter(|read| read.field == field && read.time <= 0).map(|read| 1 - read.time);
        oldest.max().unwrap_or(1) as usize
    }

    /// The least number of time levels of a field that must be stored so that the time loop, executed in
    /// order, never overwrites a value that is still to be read; at least as many as there are initial levels.
    ///
    /// With `m` slots the write of level `t + 1` by statement `writer` overwrites level `t + 1 - m`. A read
    /// of level `t + o` in the same step by statement `reader`, of a point that `writer` computes, is safe if
    /// `o > 1 - m`, or if `o = 1 - m` and it happens before the write: `reader < writer`, or the same
    /// statement reading the very point it writes.
    pub fn slots_needed(&self, field: FieldId) -> usize {
        let mut needed = self.levels_read(field) as i64;
        for (reader, statement) in self.statements.iter().enumerate() {
            for access in statement.reads.iter().filter(|access| access.field == field) {
                let place = shifted(&statement.domain, &access.offset);
                for (writer, other) in self.writers_of(field) {
                    if never_meet(&place, &other.domain, &self.least_size) {
                        continue;
                    }
                    let own_point = reader == writer && access.offset.iter().all(|&offset| offset == 0);
                    let before_write = reader < writer || own_point;
                    needed = needed.max(if before_write { 1 - access.time } else { 2 - access.time });
                }
            }
        }
        needed as usize
    }

    fn find_series_reach(&mut self) {
        for statement in &self.statements {
            for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
                value.walk(|expr| {
                    if let ExprKind::Series(SeriesId(number), offset) = expr.kind {
                        let series = &mut self.series[number];
                        series.first = series.first.min(offset);
                        series.last = series.last.max(offset);
                    }
                });
            }
        }
    }
}

/// Whether two boxes have no common point on any grid of at least this size.
pub fn never_meet(first: &[Interval], second: &[Interval], least_size: &[i64]) -> bool {
    (0..first.len()).any(|d| {
        let least = apart(&first[d..=d], &second[d..=d]).map(|(_, least)| least);
        least.is_some_and(|least| least <= least_size[d])
    })
}

/// Every distinct access of some expressions, in order of evaluation.
fn distinct_reads<'a>(exprs: impl Iterator<Item = &'a Expr>) -> Vec<Access> {
    let mut seen = HashSet::new();
    let mut reads = Vec::new();
    for expr in exprs {
        expr.walk(|expr| match &expr.kind {
            ExprKind::Read(access) if seen.insert(access) => reads.push(access.clone()),
            _ => {}
        });
    }
    reads
}
