//! Readers that are looked at together: where parts of one group read the same values from the same place, what is kept for all of
//! them until the last one reads is kept for each.

use crate::dataflow::{Event, Reads, Region};

/// Events that differ in their place within a group alone, one of which reads last, with what all of them have in common.
pub struct Together {
    /// Their numbers.
    pub readers: Vec<usize>,
    /// Runs where each of them does, and elsewhere, and last.
    pub event: Event,
    /// What they read.
    pub reads: Reads,
}

/// All such readers among the events, several of each.
pub fn readers(events: &[Event]) -> Vec<Together> {
    let mut found: Vec<Together> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let [reads] = &event.reads[..] else { continue };
        if matches!(event.region, Region::Junk(_)) || event.within > 0 || last_number(event).is_none() {
            continue;
        }
        match found.iter_mut().find(|known| known.reads == *reads && is_beside(&known.event, event)) {
            Some(known) => known.add(number, event),
            None => found.push(Together {
                readers: vec![number],
                event: Event { region: Region::Grid, ..event.clone() },
                reads: reads.clone(),
            }),
        }
    }
    found.retain(|together| together.readers.len() > 1);
    found
}

impl Together {
    fn add(&mut self, number: usize, event: &Event) {
        self.readers.push(number);
        self.event.constraints.retain(|constraint| event.constraints.contains(constraint));
        if last_number(event) > last_number(&self.event) {
            self.event.position.clone_from(&event.position);
        }
    }
}

/// The last number of its place, where it is a constant.
fn last_number(event: &Event) -> Option<i64> {
    event.position.last()?.parse().ok()
}

fn is_beside(a: &Event, b: &Event) -> bool {
    let group = |event: &Event| event.position.split_last().map(|(_, group)| group.to_vec());
    (a.kernel, a.launch, &a.blocks, &a.loops, a.team, a.warp, &a.before)
        == (b.kernel, b.launch, &b.blocks, &b.loops, b.team, b.warp, &b.before)
        && group(a) == group(b)
}
