//! Which loops of a file are time loops.
//!
//! Without pragmas, the outermost loop that is an iterated stencil is taken, in each function as many as there are; loops
//! within one that is taken are not looked at. A loop that computes arrays over space in each of its rounds, and is no
//! iterated stencil, is left, with the reason.

use crate::ast::{CType, ExprKind, StmtKind};
use crate::inline::{Way, expanded};
use crate::nest;
use crate::others::{self, Other};
use crate::own_pragmas::OwnFile;
use crate::parse::{File, Loop, Part, Region, statics};
use crate::preprocess::{MOST_BYTES, Options, OwnPragmas, Preprocessed, words};
use crate::program::CProgram;
use crate::told::{own_names, with_own_names};
use crate::{codes, obstacle, over_space, recognise, rewrite};
use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use polyhedral::source::Span;
use safe_io::input;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use text_escape::suggest;

/// What was found in a file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The time loops that are iterated stencils, in the order of the file; at least one.
    pub taken: Vec<CProgram>,
    /// Those that are none.
    pub left: Vec<Left>,
}

/// A loop over time that stays as it is.
#[derive(Debug, Clone)]
pub struct Left {
    /// The function around it.
    pub function: String,
    /// From `for` to `)`.
    pub head: Span,
    /// Its line in the user's file.
    pub line: usize,
    /// Why; at least one reason.
    pub reasons: Vec<Diagnostic>,
    /// How doubtful it is that it is a loop over time.
    doubt: u32,
}

impl Found {
    /// The same, with what becomes of the program's own OpenMP pragmas.
    #[must_use]
    pub(crate) fn with_own_pragmas(mut self, own_pragmas: OwnPragmas) -> Found {
        if let Some(first) = self.taken.first() {
            let preprocessed = Arc::new(Preprocessed { own_pragmas, ..(*first.preprocessed).clone() });
            self.taken.iter_mut().for_each(|one| one.preprocessed = Arc::clone(&preprocessed));
        }
        self
    }
}

/// Whether a time loop can be cut out of its file.
pub type Check<'a> = &'a dyn Fn(&CProgram) -> Result<(), Diagnostics>;

/// The time loops of a preprocessed file that pass a check.
///
/// # Errors
/// Why there is none.
pub fn find(
    preprocessed: Arc<Preprocessed>,
    path: &Path,
    options: &Options,
    check: Check<'_>,
) -> Result<Found, Diagnostics> {
    let others = others::of(&preprocessed, path, options);
    let found = find_in(&preprocessed, path, options, (&others, check));
    let all_taken = found.as_ref().is_ok_and(|found| {
        found.left.is_empty() && found.taken.iter().all(|one| one.one_at_a_time.is_none())
    });
    if all_taken {
        return found;
    }
    // Variables of functions that live as long as the program stand outside of them then.
    let texts: Vec<&Preprocessed> = others.iter().filter_map(|other| other.preprocessed.as_ref()).collect();
    let known: HashSet<&str> = texts.iter().flat_map(|other| words(&other.text)).collect();
    let Some(outside) = statics::outside(&preprocessed, &|word| known.contains(word)) else { return found };
    let again = find_in(&Arc::new(outside), path, options, (&others, check));
    let whole = |found: &Found| found.taken.iter().filter(|one| one.one_at_a_time.is_none()).count();
    let better = match (&found, &again) {
        (Ok(found), Ok(again)) => (again.taken.len(), whole(again)) > (found.taken.len(), whole(found)),
        (found, _) => found.is_err(),
    };
    if better { again } else { found }
}

fn find_in(
    preprocessed: &Arc<Preprocessed>,
    path: &Path,
    options: &Options,
    (others, check): (&[Other], Check<'_>),
) -> Result<Found, Diagnostics> {
    let source = Arc::clone(&preprocessed.source);
    let refuse = |list| Diagnostics::new(Arc::clone(&source), list);
    let mut sources = Vec::new();
    for other in others.iter().filter_map(|other| other.preprocessed.as_ref()) {
        sources.push(File::new(other).map_err(|diagnostic| refuse(vec![*diagnostic]))?);
    }
    let file = File::new(preprocessed).map_err(|diagnostic| refuse(vec![*diagnostic]))?.with(&sources);
    if let Some(name) = &options.function
        && !file.functions().contains_key(name)
    {
        let message = format!("the file defines no function `{name}`");
        let known = file.functions().keys().map(String::as_str);
        let mut diagnostic = Diagnostic::error(codes::NO_SCOP, first_line(&source.text), message);
        if let Some(hint) = suggest::hint(name, known) {
            diagnostic = diagnostic.hint(hint);
        }
        return Err(refuse(vec![diagnostic]));
    }
    let processor = options.processor;
    let mut search = Search {
        file: &file,
        preprocessed,
        path,
        others,
        check,
        processor,
        found: Vec::new(),
        left: Vec::new(),
    };
    let marked = file.marked().map_err(|diagnostic| refuse(vec![*diagnostic]))?;
    let wanted = |function: &str| options.function.as_ref().is_none_or(|name| name == function);
    for (function, part) in marked.iter().filter(|(function, _)| wanted(function)) {
        if let Err(reasons) = search.take(part, true)
            && let Err(nearer) = search.take_alone(part, &reasons, true)
        {
            search.leave(function, part, nearer_reason(reasons, nearer));
        }
    }
    if marked.is_empty() {
        for one in file.loops().iter().filter(|one| wanted(&one.function)) {
            search.visit(one, true);
        }
    }
    let Search { found, left, .. } = search;
    if !found.is_empty() {
        return Ok(Found { taken: found, left });
    }
    if left.is_empty() {
        return Err(refuse(vec![nothing(&source.text, options, file.loop_by_goto())]));
    }
    // Of loops that are hardly ones over time nothing is said, unless there are no others.
    let least = left.iter().map(|left| left.doubt).min();
    let left: Vec<Left> = left.into_iter().filter(|left| Some(left.doubt) == least).collect();
    Err(refuse(left.into_iter().take(MOST_REASONS).flat_map(|left| left.reasons).collect()))
}

/// The texts of the program's own files, as far as they can be read; the first is the one that is named.
pub(crate) fn own_files(main: &Preprocessed, path: &Path, options: &Options) -> Vec<OwnFile> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let first = OwnFile { name: name(path), text: main.source.text.clone() };
    let others = others::of(main, path, options);
    let sources = others.iter().map(|other| &other.path);
    let read = others::headers(main, &others).into_iter().chain(sources).filter_map(|other| {
        let bytes = input::read(other, MOST_BYTES as u64).ok()?;
        Some(OwnFile { name: name(other), text: String::from_utf8_lossy(&bytes).into_owned() })
    });
    std::iter::once(first).chain(read).collect()
}

/// Most loops of which it is said why they are no iterated stencils.
const MOST_REASONS: usize = 5;
/// Most loops of one file that are looked at.
const MOST_LOOPS: usize = 400;

/// How many calls below a call loops are looked for.
const MOST_DEEP: usize = 4;
/// Most statements of a step that are left out one after the other, because they cannot be tiled.
const MOST_LEFT_OUT: usize = 6;

/// The reason that is told where a loop is refused, both as a whole and one step at a time: if it is only that something
/// happens between every two steps, or that arrays keep all of them, what stands in the way within the step.
fn nearer_reason(whole: Vec<Diagnostic>, alone: Option<Vec<Diagnostic>>) -> Vec<Diagnostic> {
    let between = |reason: &Diagnostic| {
        [codes::OBSERVED, codes::CALL, codes::NO_TIME_LOOP, codes::TIME_SUBSCRIPT].contains(&reason.code)
    };
    match alone {
        Some(alone) if whole.iter().all(between) => alone,
        _ => whole,
    }
}

/// A reason; of a call that stays it is known why.
fn of_call(region: &Region, reason: Diagnostic) -> Diagnostic {
    let place = &reason.primary.span;
    let own = |(stmt, _): &&(Span, Diagnostic)| stmt.start < place.end && place.start < stmt.end;
    // A call between steps of a function whose source is known.
    let whole = |(stmt, kept): &&(Span, Diagnostic)| stmt == place && !kept.related.is_empty();
    // Of a loop around it, whose other calls stay for the same reason.
    let around = |(stmt, kept): &&(Span, Diagnostic)| {
        stmt.start <= place.start && place.end <= stmt.end && !kept.related.is_empty()
    };
    let kept = || region.kept.iter().find(whole).or_else(|| region.kept.iter().find(around));
    if reason.code == codes::OBSERVED
        && let Some((_, kept)) = kept()
    {
        return reason.note(format!("{}: {}", kept.message, kept.notes.join("; ")));
    }
    match region.kept.iter().find(own).filter(|_| reason.code == codes::CALL) {
        Some((_, kept)) if kept.primary.span == *place => kept.clone(),
        Some((_, kept)) => kept.clone().related(place.clone(), "called from here"),
        None => reason,
    }
}

struct Search<'a> {
    file: &'a File<'a>,
    preprocessed: &'a Arc<Preprocessed>,
    path: &'a Path,
    others: &'a [Other],
    check: Check<'a>,
    /// Whether the loops are for processors alone.
    processor: bool,
    found: Vec<CProgram>,
    left: Vec<Left>,
}

impl Search<'_> {
    /// Looks at a loop, and at those in it unless it is taken.
    fn visit(&mut self, one: &Loop, outermost: bool) {
        if (one.inner.is_empty() && !one.calls) || self.found.len() + self.left.len() >= MOST_LOOPS {
            return;
        }
        let Err(reasons) = self.take(&one.part, outermost) else { return };
        // The loop over colours within is none over time.
        if reasons.iter().any(|reason| reason.code == codes::COLOURS) {
            return self.leave(&one.function, &one.part, reasons);
        }
        let (taken, left) = (self.found.len(), self.left.len());
        one.inner.iter().for_each(|inner| self.visit(inner, false));
        // Loops within it that are more doubtful than itself, such as those over space, are not where to look.
        let within = self.left.split_off(left);
        let doubtful = within.is_empty() || {
            let own = self.doubt(&one.part);
            within.iter().all(|inner| inner.doubt > own)
        };
        let mut reasons = reasons;
        if doubtful && self.found.len() == taken {
            match self.take_alone(&one.part, &reasons, outermost) {
                Ok(()) => return,
                Err(nearer) => reasons = nearer_reason(reasons, nearer),
            }
        }
        let silent = reasons
            .iter()
            .all(|reason| [codes::NO_TIME_LOOP, codes::NOTHING_COMPUTED].contains(&reason.code));
        // What keeps a loop within it from being taken is nearer to the point.
        if !silent && doubtful && (self.found.len() > taken || self.computes_over_space(one, outermost)) {
            let reasons = self.nearer(&one.part, reasons);
            return self.leave(&one.function, &one.part, reasons);
        }
        self.left.extend(within);
    }

    fn leave(&mut self, function: &str, part: &Part, reasons: Vec<Diagnostic>) {
        let head = &part.mark;
        let doubt = self.doubt(part);
        let (line, _) = self.preprocessed.source.line_column(head.start);
        let known = |word: &str| self.file.is_written(word);
        let told = |reason: Diagnostic| {
            let reason = with_own_names(self.file.told(reason), &known);
            // Their declarations are not read.
            let complex = [codes::UNKNOWN_NAME, codes::SYNTAX].contains(&reason.code) && known("_Complex");
            if complex { reason.note("complex numbers are not supported") } else { reason }
        };
        let reasons = reasons.into_iter().map(told).collect();
        self.left.push(Left { function: function.to_owned(), head: head.clone(), line, reasons, doubt });
    }

    /// The reasons; of passes over colours it is that something stands between them, and of others what is behind the first.
    fn nearer(&self, part: &Part, reasons: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let Ok(region) = self.file.region(part, &expanded(Way::default())) else { return reasons };
        if let Some(found) = reasons.first().and_then(|first| obstacle::behind(&region, first)) {
            return vec![found];
        }
        let between = [codes::OBSERVED, codes::BOUND];
        let first = reasons.first().filter(|reason| between.contains(&reason.code));
        let pass = first.and_then(|_| nest::pass_among(&region));
        let (Some(first), Some(pass)) = (first, pass) else { return reasons };
        let message = "passes over every second point (red-black) have something else beside them";
        let reason = Diagnostic::limitation(codes::COLOURS, pass, message)
            .related(first.primary.span.clone(), "this")
            .note("updates in colours are taken where a time loop holds nothing but its passes, or tests a maximum that each of them computes alike")
            .note(first.message.clone())
            .hint("let the time loop run a number of steps with its passes alone, and ask for the change behind it");
        vec![reason]
    }

    /// How doubtful it is that a loop is one over time.
    fn doubt(&self, part: &Part) -> u32 {
        self.file.region(part, &expanded(Way::default())).map_or(0, |region| {
            match self.hidden_loops(&region) {
                Some(_) => 0,
                None => over_space::doubt(&region),
            }
        })
    }

    fn region(&self, part: &Part, way: Way) -> nest::Result<Region> {
        let region = self.file.region(part, &expanded(way))?;
        let region = nest::unhidden(&region).unwrap_or(region);
        Ok(Region { processor: self.processor, ..region })
    }

    /// Takes a loop; where it cannot be taken as it is, with structures of one type that hold the same sizes.
    fn take(&mut self, part: &Part, outermost: bool) -> Result<(), Vec<Diagnostic>> {
        let one = |diagnostic: Box<Diagnostic>| vec![*diagnostic];
        let region = self.region(part, Way::default()).map_err(one)?;
        if let Err(reasons) = self.take_region(region) {
            match self.region(part, Way { same_sizes: true, ..Way::default() }) {
                Ok(region) if region.assumed => self.take_region(region)?,
                _ => return Err(reasons),
            }
        }
        self.run_ahead(part, outermost);
        Ok(())
    }

    /// Lets the steps of the loop that was just taken run ahead of the program, if they test a sum: to keep a witness of it, or to
    /// add it up behind tiles, takes longer.
    fn run_ahead(&mut self, part: &Part, outermost: bool) {
        let tests_sum = |program: &CProgram| {
            program.nest.observed.iter().flat_map(|observed| &observed.tests).any(|test| test.sum)
        };
        if !self.processor || !self.found.last().is_some_and(tests_sum) {
            return;
        }
        let whole = self.found.pop();
        let taken = self.found.len();
        let alone = self.take_alone(part, &[], outermost).is_ok();
        if !(alone && self.found.last().is_some_and(rewrite::runs_ahead)) {
            self.found.truncate(taken);
            self.found.extend(whole);
        }
    }

    fn take_region(&mut self, region: Region) -> Result<(), Vec<Diagnostic>> {
        let called = |diagnostic: Box<Diagnostic>| vec![of_call(&region, *diagnostic)];
        // A function whose loops cannot be seen is why there are none.
        let hidden = |reason: &Diagnostic| match reason.code {
            codes::NO_TIME_LOOP | codes::NOTHING_COMPUTED => self.hidden_loops(&region),
            _ => None,
        };
        let nest = nest::nest(&region).map_err(|reason| match hidden(&reason) {
            Some(kept) => vec![kept],
            None => called(reason),
        })?;
        let program = self.program(region, nest)?;
        self.found.push(program);
        Ok(())
    }

    /// Takes what can be tiled of one step at a time, in a loop that is refused as a whole.
    ///
    /// # Errors
    /// What stands in the way in the loops over space, if anything does that is nearer than the reason against the whole.
    fn take_alone(
        &mut self,
        part: &Part,
        whole: &[Diagnostic],
        outermost: bool,
    ) -> Result<(), Option<Vec<Diagnostic>>> {
        let region = self.region(part, Way { alone: true, ..Way::default() }).map_err(|_| None)?;
        let Err(reasons) = self.take_steps(region, whole, outermost) else { return Ok(()) };
        match self.region(part, Way { alone: true, same_sizes: true }) {
            Ok(region) if region.assumed => self.take_steps(region, whole, outermost),
            _ => Err(reasons),
        }
    }

    fn take_steps(
        &mut self,
        region: Region,
        whole: &[Diagnostic],
        outermost: bool,
    ) -> Result<(), Option<Vec<Diagnostic>>> {
        let (mut without, mut first) = (Vec::new(), None);
        let step = nest::OneStep { region: &region, outermost };
        while let Some(nest) = step.nest(&without) {
            let found = nest.map_err(|reason| vec![*reason]);
            let reasons = match found.and_then(|nest| self.program(region.clone(), nest)) {
                Ok(mut program) => {
                    let moved = rewrite::moved_in_every_step(&program);
                    // Points between loops are sources, which take an array; as they are written they take no time.
                    if moved.as_ref().is_some_and(|(name, _)| name == rewrite::PLACE) {
                        let points = step.points_between();
                        if points.iter().any(|point| !without.contains(point)) {
                            without.extend(points);
                            continue;
                        }
                    }
                    // What an array holds is copied before a sweep in place: by itself, the sweep needs no other level.
                    if moved.as_ref().is_some_and(|(_, why)| *why == rewrite::LEVELS)
                        && without.len() < MOST_LEFT_OUT
                        && let Some(copy) = step.copy_among(&without)
                        && !without.contains(&copy)
                    {
                        without.push(copy);
                        continue;
                    }
                    let body_of =
                        |name: &str| self.file.function(name).ok().flatten().map(|function| function.body);
                    let dimension = program.stencil.dimension;
                    if moved.is_some() && step.writes_points(dimension, &body_of) {
                        program.nest.observed.iter_mut().for_each(|observed| observed.shown = true);
                    } else if let Some((name, why)) = moved {
                        let note = format!(
                            "one step at a time could be tiled, and would be slower than as it is written: {name} would be copied in every step ({why})"
                        );
                        return Err(whole.first().map(|reason| vec![reason.clone().note(note)]));
                    }
                    let one_at_a_time = whole.first().map(|reason| {
                        let reason = self.file.told(reason.clone());
                        let (line, column) = self.preprocessed.source.line_column(reason.primary.span.start);
                        let message = own_names(&reason.message, &|word| self.file.is_written(word));
                        format!("{message} (line {line}, column {column})")
                    });
                    self.found.push(CProgram { one_at_a_time, ..program });
                    return Ok(());
                }
                Err(reasons) => reasons,
            };
            // The statement that stands in the way stays as it is written.
            let place = reasons.first().map(|reason| reason.primary.span.clone());
            let stmt = place.and_then(|place| step.statement_around(&place, &without));
            first.get_or_insert(reasons);
            match stmt {
                Some(stmt) if without.len() < MOST_LEFT_OUT => without.push(stmt),
                _ => break,
            }
        }
        Err(first.or_else(|| step.in_the_way().map(|reason| vec![of_call(&region, reason)])))
    }

    /// The program of a region and its loops.
    fn program(&self, region: Region, nest: nest::Nest) -> Result<CProgram, Vec<Diagnostic>> {
        let name = program_name(self.path, self.found.len());
        let file = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let description =
            format!("From the loop over `{}` in `{}` of {file}.", nest.time.name, region.function);
        let source = &self.preprocessed.source;
        let drafted = |nest: &nest::Nest, with_mirrors: bool| {
            let stencil = recognise::recognise(nest, with_mirrors).map_err(|found| vec![*found])?;
            let program = recognise::draft(&name, &description, nest, &stencil, source);
            Ok::<_, Vec<Diagnostic>>((stencil, program.map_err(|found| found.list)))
        };
        let program_of = |nest: &nest::Nest| {
            let (stencil, program) = drafted(nest, true)?;
            match program {
                Ok(program) if recognise::keeps_levels(&stencil, &program) => Ok((stencil, program)),
                Err(reasons) if !stencil.has_mirrors() => Err(reasons),
                // As it is written, the arrays hold what they hold.
                _ => drafted(nest, false).and_then(|(stencil, program)| Ok((stencil, program?))),
            }
        };
        // Fewer pieces where integers are values: subscripts wrap around.
        let mut nest = nest;
        let in_values = nest.in_values.take();
        let (first, second) = match in_values {
            Some(other) if other.leaves.len() < nest.leaves.len() => (*other, Some(nest)),
            other => (nest, other.map(|other| *other)),
        };
        let (nest, found) = match program_of(&first) {
            Ok(found) => (first, Ok(found)),
            Err(reasons) => match second.and_then(|nest| program_of(&nest).ok().map(|found| (nest, found))) {
                Some((nest, found)) => (nest, Ok(found)),
                None => (first, Err(reasons)),
            },
        };
        let (nest, stencil, program) = match found {
            Ok((stencil, program)) => (nest, stencil, program),
            // A point that is computed again may be a source; if not, the reason is the one above.
            Err(why) => {
                let joined = recognise::with_sources(&nest);
                let second = joined.and_then(|nest| program_of(&nest).ok().map(|(a, b)| (nest, a, b)));
                second.ok_or(why)?
            }
        };
        let mut stencil = stencil;
        // The first extent of a parameter says nothing.
        if let Ok(Some(own)) = self.file.function(&region.function) {
            let handed = |name: &str| own.parameters.iter().any(|one| one.name == name);
            stencil.outside.retain(|one| one.number > 0 || !handed(&one.array));
        }
        for one in &mut stencil.outside {
            one.array = own_names(&one.array, &|word| self.file.is_written(word));
        }
        let program = CProgram {
            file: self.path.to_owned(),
            others: self.others.iter().map(|other| other.path.clone()).collect(),
            headers: others::headers(self.preprocessed, self.others).into_iter().cloned().collect(),
            preprocessed: Arc::clone(self.preprocessed),
            region,
            nest,
            stencil,
            program: Arc::new(program),
            one_at_a_time: None,
        };
        if let Some(reason) = never_large_enough(&program) {
            return Err(vec![reason]);
        }
        (self.check)(&program).map_err(|found| found.list)?;
        Ok(program)
    }

    /// The call that stays of a function which computes arrays in loops, or may do so.
    fn hidden_loops(&self, region: &Region) -> Option<Diagnostic> {
        let mut names = Vec::new();
        for stmt in &region.statements {
            stmt.walk_expressions(&mut |part| {
                if let ExprKind::Call(function, _) = &part.kind
                    && let ExprKind::Name(name) = &function.kind
                {
                    names.push((part.span.clone(), name));
                }
            });
        }
        let computes = |name: &str| self.may_compute(name, MOST_DEEP);
        let own = |(place, _): &&(Span, Diagnostic)| {
            names
                .iter()
                .any(|(call, name)| place.start <= call.start && call.end <= place.end && computes(name))
        };
        let through_pointer = || {
            // Also a prototype within a function.
            let is_pointer = |name: &str| {
                let ctype = region.variables.get(name).map(|one| &one.ctype);
                matches!(ctype, Some(CType::Pointer(_) | CType::Array(..) | CType::Other(_)))
            };
            let own = |name: &str| matches!(self.file.function(name), Ok(Some(_)));
            let (place, name) = names.iter().find(|(_, name)| is_pointer(name) && !own(name))?;
            let message = format!("a call of `{name}`, which is declared without its source");
            Some(
                Diagnostic::limitation(codes::CALL, place.clone(), message)
                    .note("which function a pointer calls, and so what it computes, is known only when the program runs")
                    .hint("call each function by its name, in a loop of its own: `if (kernel == smooth) for (t ..) smooth(..);`"),
            )
        };
        region.kept.iter().find(own).map(|(_, reason)| reason.clone()).or_else(through_pointer)
    }

    /// Whether a function computes arrays in loops, or calls one so many calls below that does, or may do so.
    fn may_compute(&self, name: &str, deep: usize) -> bool {
        let Ok(Some(function)) = self.file.function(name) else {
            // What it does is not known, or what keeps it from being read is part of the reason.
            return true;
        };
        let (mut loops, mut called) = (false, Vec::new());
        for stmt in &function.body {
            stmt.walk(&mut |part| {
                loops |= matches!(part.kind, StmtKind::For(_)) && !nest::assigned(part).0.is_empty();
            });
            stmt.walk_expressions(&mut |part| {
                if let ExprKind::Call(function, _) = &part.kind
                    && let ExprKind::Name(name) = &function.kind
                    && matches!(self.file.function(name), Ok(Some(_)))
                {
                    called.push(name.clone());
                }
            });
        }
        loops || (deep > 0 && called.iter().any(|name| self.may_compute(name, deep - 1)))
    }

    /// Whether each round of a loop computes an array at the indices of loops in it; one whose calls cannot be taken apart
    /// may.
    fn computes_over_space(&self, one: &Loop, outermost: bool) -> bool {
        match self.file.region(&one.part, &expanded(Way::default())) {
            Ok(region) => {
                !region.kept.is_empty()
                    || self.hidden_loops(&region).is_some()
                    || over_space::computes(&region, outermost)
            }
            // Numbers such as `1.0i`.
            Err(reason) => [codes::EXPRESSION, codes::SYNTAX].contains(&reason.code) && !one.inner.is_empty(),
        }
    }
}

/// Why no grid is large enough for the tiled loops: one of its dimensions always has the same few points.
fn never_large_enough(program: &CProgram) -> Option<Diagnostic> {
    // Pieces that are apart on large grids are nothing else where loops go along the dimension.
    let loops = |d: usize| program.program.statements.iter().any(|one| one.domain[d].is_wide());
    let least = rewrite::least_sizes(program).into_iter().zip(&program.program.least_size).enumerate();
    let least = least.map(|(d, (all, own))| if loops(d) { *own } else { all });
    let (d, (extent, least)) = program
        .known_extents()
        .zip(least)
        .enumerate()
        .find(|(_, (extent, least))| extent.is_some_and(|own| own < *least))?;
    let place = program.nest.leaves.first()?.target.span.clone();
    let message = format!(
        "the arrays have {} points in dimension {}, each of which is computed in its own way; tiles need {least}",
        extent.unwrap_or(0),
        d + 1
    );
    Some(
        Diagnostic::limitation(codes::DIMENSION, place, message)
            .note("values that belong to one point are told apart as members of structures, or by a last subscript that is a number")
            .hint("declare the array as `f[height][width][9]`, or as structures with a member for each value"),
    )
}

fn first_line(text: &str) -> Span {
    let first = text.len() - text.trim_start().len();
    first..text[first..].find('\n').map_or(text.len(), |at| first + at)
}

/// There is no loop over time.
fn nothing(text: &str, options: &Options, jump: Option<Span>) -> Diagnostic {
    let place = match &options.function {
        Some(name) => format!("the function `{name}`"),
        None => "the program".to_owned(),
    };
    let message = format!("{place} has no time loop around loops over space");
    if let Some(jump) = jump {
        return Diagnostic::error(codes::NO_SCOP, jump, message)
            .note("a loop that is made by `goto` is not seen")
            .hint("write it as `for`, `while` or `do`");
    }
    Diagnostic::error(codes::NO_SCOP, first_line(text), message)
        .note("an iterated stencil is `for (t ..) for (i ..) for (j ..) A[(t+1)%2][i][j] = ..;` or the like")
        .note("a loop whose index is a subscript of what it computes is a loop over space")
        .hint("name the other sources of the program with --with: the time loop may be in one of them")
}

/// The name of a file's program: a C identifier that no other file of the user's has.
fn program_name(path: &Path, number: usize) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut name: String = stem
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
        .take(48)
        .collect();
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        name.insert(0, 'p');
    }
    let number = if number == 0 { String::new() } else { (number + 1).to_string() };
    format!("{}_scop{number}", name.trim_end_matches('_'))
}
