//! From the parts of a program, as a front end finds them, to the checked [`Program`].
//!
//! The stencil language and other front ends meet here. A front end resolves names and types; this module finds
//! what follows from the accesses (margins, time levels, slots, the least size) and refuses programs whose
//! statements reach beyond the grid, compute a point twice, or read a value before it is computed.

mod levels;
mod parts;
mod reads;
mod rules;

pub use levels::{comes_earlier, comes_later, never_meet};
pub use parts::{Draft, DraftField, DraftSeries, DraftStatement};
pub use reads::margin;

use crate::arithmetic::Arithmetic;
use crate::diagnostic::Diagnostic;
use crate::domain::{Interval, Sides};
use crate::program::{Field, FieldId, FieldRole, Program, Series, Statement};
use crate::source::SourceFile;
use reads::distinct_reads;
use std::sync::Arc;

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
        rules.whole_where_periodic();
        rules.domains_on_the_grid();
        rules.targets_apart();
        rules.reads_after_writes();
        let least_size = std::mem::take(&mut rules.least_size);
        let mut program = Program {
            fields: self.fields.iter().map(field).collect(),
            series: self.series.iter().map(series).collect(),
            statements,
            least_size,
            arithmetic: Arithmetic::default(),
            boundary: self.boundary,
            periodic: (0..self.space_indices.len())
                .map(|d| matches!(self.periodic.get(d), Some(Some(_))))
                .collect(),
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
        if program.is_periodic() && diagnostics.len() == before {
            diagnostics.extend(rules::not_around(&program));
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
