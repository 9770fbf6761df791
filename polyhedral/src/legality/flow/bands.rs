//! What is true of all bands of time, whichever of them a block works in, and its proof from their definitions.
//!
//! Products of the number of a band and its length, roundings and remainders are in the definitions only. The proof
//! about values sees a band as an interval `first .. end` whose neighbours end and begin where it begins and ends.

use super::LegalityError;
use super::text::{all, any, renamed};
use crate::dataflow::{Bands, Dataflow};
use crate::isl::Context;

/// The band of one iteration: its number and its bounds.
pub struct Band<'a> {
    pub number: &'a str,
    pub first: &'a str,
    pub end: &'a str,
}

/// `0 <= T <= first < end <= min(first + most, steps)`
pub fn of_one(bands: &Bands, band: &Band) -> String {
    let Band { number, first, end } = band;
    let most = bands.most;
    format!("0 <= {number} <= {first} < {end} and {end} <= {first} + {most} and {end} <= steps")
}

/// The first band begins at step 0.
pub fn begins(band: &Band) -> String {
    format!("{} >= 1 or {} = 0", band.number, band.first)
}

/// The numbers of the last bands agree with the levels that they leave.
pub fn ends_in_turn(bands: &Bands, band: &Band) -> String {
    let Band { number, end, .. } = band;
    let turns = bands.turns;
    format!("{end} <= steps - {turns} or (({number}) + 1 - {end}) mod {turns} = 0")
}

/// How two bands lie. It follows by induction from `first < end` and from `end = first` of the next band.
pub fn of_two(one: &Band, other: &Band) -> String {
    let before = |a: &Band, b: &Band| format!("{} < {} and {} <= {}", a.number, b.number, a.end, b.first);
    let same = format!(
        "{} = {} and {} = {} and {} = {}",
        one.number, other.number, one.first, other.first, one.end, other.end
    );
    any([same, before(one, other), before(other, one)])
}

/// Shows all of it; returns how many sets were shown to be empty.
pub fn proved(context: &Context, flow: &Dataflow) -> Result<usize, LegalityError> {
    let Some(bands) = &flow.bands else { return Ok(0) };
    let (number, first, end) = (flow.outer.as_str(), bands.first.as_str(), bands.end.as_str());
    let band = Band { number, first, end };
    let names = [number, first, end];
    let defined = all(bands.definitions.iter().cloned().chain([format!("0 <= {number} <= {}", bands.last)]));
    let all_of_one = names.join(", ");
    // The bounds of the next band.
    let marked = [first, end].map(|name| format!("{name}_w"));
    let [first_w, end_w] = &marked;
    let next = |text: &str| {
        renamed(text, &|name| match name {
            _ if name == number => Some(format!("({number} + 1)")),
            _ if name == first => Some(first_w.clone()),
            _ if name == end => Some(end_w.clone()),
            _ => None,
        })
    };
    let two = format!("{all_of_one}, {first_w}, {end_w}");
    let facts = [
        (&all_of_one, defined.clone(), of_one(bands, &band)),
        (&all_of_one, defined.clone(), begins(&band)),
        (&all_of_one, defined.clone(), ends_in_turn(bands, &band)),
        (&two, all([defined.clone(), next(&defined)]), format!("{end} = {first_w}")),
    ];
    let mut shown = 0;
    for (names, known, fact) in facts {
        let set = context
            .set(&format!("[steps] -> {{ [{names}] : steps >= 1 and ({known}) and not ({fact}) }}"))?;
        if !set.is_empty()? {
            return Err(LegalityError::Bands { fact });
        }
        shown += 1;
    }
    // A band ends with each of the last levels, as far as there are so many.
    for age in 0..bands.turns {
        let known = context.set(&format!("[steps] -> {{ [] : steps >= 1 and steps - {age} >= 1 }}"))?;
        let ends = context
            .set(&format!("[steps] -> {{ [{all_of_one}] : ({defined}) and {end} = steps - {age} }}"))?;
        if !known.subtract(&ends.project_out(0, names.len())?)?.is_empty()? {
            return Err(LegalityError::Bands { fact: format!("there is a band with {end} = steps - {age}") });
        }
        shown += 1;
    }
    Ok(shown)
}
