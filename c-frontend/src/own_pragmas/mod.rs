//! The program's own OpenMP pragmas. Its files are compiled with them where that means what it meant: tiled loops start a
//! team of threads themselves, so none of them may stand in a construct of the program's, and what they compute at once
//! must be what the loops with their pragmas compute.
//!
//! Texts are looked at token by token. What cannot be followed, such as braces that `#if` takes apart, is a reason to
//! compile without OpenMP, as if the pragmas were not there.

mod parsed;
mod shared;

pub use parsed::OwnFile;

use crate::program::CProgram;
use parsed::{ALONE, DEVICES, Parsed};
use std::collections::HashSet;
use std::ops::Range;

impl OwnFile {
    /// Whether it has pragmas of OpenMP.
    pub fn has_pragmas(&self) -> bool {
        self.makes_pragmas() || !Parsed::new(&self.text).pragmas.is_empty()
    }

    /// Whether it is another text for compilers with OpenMP.
    pub fn asks_for_openmp(&self) -> bool {
        self.text.contains("_OPENMP")
    }

    /// Whether macros may make pragmas, of which the place is not known.
    fn makes_pragmas(&self) -> bool {
        self.text.contains("_Pragma") && self.text.contains("omp")
    }
}

/// Whether the pragmas may mean what they say. The `files` are those of the program, first the one with the loops.
///
/// # Errors
/// Why not.
pub fn keep(programs: &[CProgram], files: &[OwnFile]) -> Result<(), String> {
    let parsed: Vec<Parsed<'_>> = files.iter().map(|file| Parsed::new(&file.text)).collect();
    let cuts: Vec<Range<usize>> = programs.iter().map(|program| program.nest.cut()).collect();
    for (file, own) in files.iter().zip(&parsed) {
        if file.makes_pragmas() {
            return Err(format!("`_Pragma` makes some in {}, whose places are not known", file.name));
        }
        if let Some(pragma) = own.pragmas.iter().find(|pragma| pragma.has(&DEVICES)) {
            let place = pragma.place(file);
            return Err(format!("{place} is for devices, whose memory tiled loops do not know"));
        }
        let mut with_statements = own.pragmas.iter().filter(|pragma| !pragma.has(&ALONE));
        if let Some(pragma) = with_statements.find(|pragma| own.statement_behind(pragma).is_none()) {
            return Err(format!("the statement of {} cannot be followed", pragma.place(file)));
        }
        if let Some((pragma, name)) = shared::assigned(own) {
            let place = pragma.place(file);
            return Err(format!("in {place} all threads assign `{name}`, which they share"));
        }
    }
    let Some((main, own)) = files.first().zip(parsed.first()) else { return Ok(()) };
    for pragma in own.pragmas.iter().filter(|pragma| !pragma.has(&ALONE)) {
        let place = pragma.place(main);
        let outside = |cut: &&Range<usize>| pragma.span.start < cut.start;
        let Some(span) = own.statement_behind(pragma) else { continue };
        if cuts.iter().filter(outside).any(|cut| span.start < cut.end && cut.start < span.end) {
            return Err(format!(
                "{place} is around a loop that runs in tiles, which have threads of their own"
            ));
        }
    }
    let assigned: HashSet<&str> = programs.iter().flat_map(wanted).collect();
    for ((file, own), within) in files.iter().zip(&parsed).zip(reached(&parsed, &cuts)) {
        for pragma in own.pragmas.iter().filter(|pragma| pragma.lies_in(&within)) {
            let place = pragma.place(file);
            if pragma.names == ["parallel"] && !own.is_shared_out(pragma) {
                return Err(format!("in {place} each thread does the same, and not a part of it"));
            }
            if let Some(name) = pragma.private.iter().find(|name| assigned.contains(**name)) {
                return Err(format!("{place} leaves `{name}` as it was, which is used behind the loops"));
            }
        }
    }
    Ok(())
}

/// The variables whose values behind the loops the tiled loops make themselves.
fn wanted(program: &CProgram) -> Vec<&str> {
    let behind = program.region.used_behind.iter().map(String::as_str);
    let observed = program.nest.observed.iter().flat_map(|observed| {
        let counted = observed.scalars.iter().map(|(name, _)| name.as_str());
        counted.chain(observed.tests.iter().map(|test| test.of.as_str()))
    });
    behind.chain(observed).collect()
}

/// Of each file what runs in the loops: the loops themselves, and the functions that they may call.
fn reached(files: &[Parsed<'_>], cuts: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut within: Vec<Vec<Range<usize>>> = files.iter().map(|_| Vec::new()).collect();
    let Some((first, list)) = files.first().zip(within.first_mut()) else { return within };
    let mut names: HashSet<&str> = cuts.iter().flat_map(|cut| first.words_in(cut)).collect();
    list.extend(cuts.iter().cloned());
    loop {
        let known = within.iter().map(Vec::len).sum::<usize>();
        for (file, list) in files.iter().zip(&mut within) {
            for (name, body) in &file.functions {
                if names.contains(name) && !list.contains(body) {
                    list.push(body.clone());
                    names.extend(file.words_in(body));
                }
            }
        }
        if within.iter().map(Vec::len).sum::<usize>() == known {
            return within;
        }
    }
}
