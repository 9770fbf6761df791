//! What is true of all bands of time, whichever of them a block works in, and its proof from their definitions.
//!
//! Products of the number of a band and its length, roundings and remainders are in the definitions only. The proof
//! about values sees a band as an interval `first .. end` whose neighbours end and begin where it begins and ends.

use super::text::{all, any};
use crate::dataflow::Bands;
use crate::isl::Context;
use crate::legality::LegalityError;

/// The band of one iteration: its number and its bounds.
pub struct Band<'a> {
    pub number: &'a str,
    pub first: &'a str,
    pub end: &'a str,
}

/// The names of a band's number and bounds.
pub struct OwnedBand {
    number: String,
    first: String,
    end: String,
}

impl OwnedBand {
    pub fn new(outer: &str, bands: &Bands, suffix: &str) -> OwnedBand {
        let [number, first, end] = [outer, &bands.first, &bands.end].map(|name| format!("{name}{suffix}"));
        OwnedBand { number, first, end }
    }

    pub fn borrowed(&self) -> Band<'_> {
        Band { number: &self.number, first: &self.first, end: &self.end }
    }

    pub fn names(self) -> Vec<String> {
        vec![self.number, self.first, self.end]
    }
}

/// `0 <= T <= first < end <= min(first + most, steps)`; with spare slots, `T <= first + 1`.
pub fn of_one(bands: &Bands, band: &Band) -> String {
    let Band { number, first, end } = band;
    let most = bands.most;
    let begin = match bands.spare {
        true => format!("0 <= {number} <= {first} + 1 and 0 <= {first} < {end}"),
        false => format!("0 <= {number} <= {first} < {end}"),
    };
    format!("{begin} and {end} <= {first} + {most} and {end} <= steps")
}

/// The first band begins at step 0.
fn begins(bands: &Bands, band: &Band) -> String {
    match bands.spare {
        true => format!("{} > ({}) or {} = 0", band.number, bands.low, band.first),
        false => format!("{} >= 1 or {} = 0", band.number, band.first),
    }
}

/// What is known of a band and of another one, of which these facts hold where it exists: it does, or it is before the first one.
pub fn exists_or_begins(bands: &Bands, band: &Band, other: &Band, facts: &str) -> String {
    match bands.spare {
        // No band ends at step 0.
        true => any([all([format!("{} = 0", band.first), format!("{} = 0", other.end)]), facts.to_owned()]),
        false => all([begins(bands, band), any([format!("{} < 0", other.number), facts.to_owned()])]),
    }
}

/// The numbers of the last bands agree with the levels that they leave; with spare slots, that of the last one is odd.
pub fn ends_in_turn(bands: &Bands, band: &Band) -> String {
    let Band { number, end, .. } = band;
    if bands.spare {
        return format!("{end} < steps or (({number}) + 1) mod 2 = 0");
    }
    let turns = bands.turns;
    format!("{end} <= steps - {turns} or (({number}) + 1 - {end}) mod {turns} = 0")
}

/// How two bands lie. It follows by induction from `first < end` and from `end = first` of the next band.
pub fn of_two(bands: &Bands, one: &Band, other: &Band) -> String {
    any(ways_of_two(bands, one, other))
}

/// The same, each way by itself.
pub fn ways_of_two(bands: &Bands, one: &Band, other: &Band) -> [String; 3] {
    let before = |a: &Band, b: &Band| match bands.spare {
        // Each band between them has a step.
        true => format!(
            "{} < {} and {} + {} <= {} + {} + 1",
            a.number, b.number, a.end, b.number, b.first, a.number
        ),
        false => format!("{} < {} and {} <= {}", a.number, b.number, a.end, b.first),
    };
    let same = format!(
        "{} = {} and {} = {} and {} = {}",
        one.number, other.number, one.first, other.first, one.end, other.end
    );
    [same, before(one, other), before(other, one)]
}

/// Shows all of it; returns how many sets were shown to be empty. From these facts it follows that the bands, one after
/// the other, have each step once.
pub fn proved(context: &Context, outer: &str, bands: &Bands) -> Result<usize, LegalityError> {
    let Bands { first, end, low, last, turns, .. } = bands;
    let band = Band { number: outer, first, end };
    let names = [&[outer, first, end].map(str::to_owned)[..], &bands.helpers].concat().join(", ");
    let set = |text: &str| context.set(&format!("[steps] -> {{ [{names}] : {text} }}"));
    let defined = set(&all(bands.definitions.iter().cloned().chain(["steps >= 1".to_owned()])))?;
    let exists = |number: &str| format!("({low}) <= ({number}) <= ({last})");
    let said = |fact: String| (fact.clone(), fact);
    // What is known, what follows, and how an error says it.
    let mut facts = vec![
        (exists(outer), said(of_one(bands, &band))),
        (exists(outer), said(begins(bands, &band))),
        (exists(outer), said(ends_in_turn(bands, &band))),
        (
            all([exists(outer), exists(&format!("{outer} + 1"))]),
            (format!("{end} = {}", bands.next_first), format!("{end} is {first} of the next one")),
        ),
    ];
    facts.push(match bands.spare {
        true => (format!("{outer} = ({low})"), (exists(low), "that there is a first one".to_owned())),
        false => (format!("{outer} = 0"), (exists("0"), "that one is the first, number 0".to_owned())),
    });
    // The last bands end with the last levels, as far as there are so many.
    facts.extend((0..*turns).map(|age| {
        let the_band = all([format!("{outer} = ({last}) - {age}"), format!("steps - {age} >= 1")]);
        let fact = all([exists(outer), format!("{end} = steps - {age}")]);
        (the_band, (fact, format!("that the last but {age} ends at steps - {age}")))
    }));
    let shown = facts.len();
    for (known, (fact, said)) in facts {
        let wrong = set(&all([known, format!("not ({fact})")]))?;
        if !defined.copy()?.intersect(&wrong)?.is_empty()? {
            return Err(LegalityError::Bands { fact: said });
        }
    }
    Ok(shown)
}
