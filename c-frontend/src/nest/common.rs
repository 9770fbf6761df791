//! What both branches of a condition read is read whether it holds or not.
//!
//! The walk comes to a place more than once where guards cut a loop. What is read there counts as read at every point only
//! if it is so each time.

use super::loops::{ReadOf, Touched};
use super::read_log::Entry;
use super::walker::Walker;

impl Walker<'_> {
    pub(super) fn note_read(&mut self, read: usize, touched: Touched) {
        let depth = self.conditions.len();
        if depth > 0 {
            self.read.open.push(Entry { read, depth, touched });
        }
    }

    pub(super) fn reads_so_far(&self) -> usize {
        self.read.open.len()
    }

    /// At the end of a condition, whose branches read what was noted from here and from there on.
    pub(super) fn read_by_both(&mut self, then: usize, otherwise: usize) {
        let (depth, touched) = (self.conditions.len(), self.touched());
        let open = &self.read.open;
        let is_read_in = |part: &[Entry], read: usize| {
            let what = &self.nest.reads[read].what;
            part.iter().any(|other| {
                other.depth == depth + 1
                    && match (what, &self.nest.reads[other.read].what) {
                        (ReadOf::State(a), ReadOf::State(b))
                        | (ReadOf::Coefficient(a, ..), ReadOf::Coefficient(b, ..)) => {
                            (&a.array, &a.indices, &a.around) == (&b.array, &b.indices, &b.around)
                        }
                        _ => false,
                    }
            })
        };
        let both: Vec<bool> = (then..open.len())
            .map(|at| {
                let other = if at < otherwise { &open[otherwise..] } else { &open[then..otherwise] };
                open[at].depth == depth + 1 && is_read_in(other, open[at].read)
            })
            .collect();
        for (entry, both) in self.read.open[then..].iter_mut().zip(both) {
            if both {
                (entry.depth, entry.touched) = (depth, touched);
            }
        }
        if depth == 0 {
            for entry in std::mem::take(&mut self.read.open) {
                let read = &mut self.nest.reads[entry.read];
                let first = self.read.known.insert(entry.read);
                read.touched = if first { entry.touched } else { read.touched.max(entry.touched) };
            }
        }
    }
}
