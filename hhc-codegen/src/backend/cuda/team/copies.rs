//! Copies from the arrays to shared memory, and which of them have landed where a row or a transfer takes what they bring: a warp commits
//! one group for each such transfer at each position, and waits until so many of the newest are under way.

//!
//! Devices that do not copy in the background have a piece in a register from where its copy begins to the end of the position: where nobody
//! reads it before the next one. What a row of the group would copy for all of them, such devices ask for before the group, and only in the loop
//! without tests: elsewhere it lands at once.

use super::super::super::storages::Work;
use super::{Half, Rows, Team};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Loop, Range};
use crate::storage::{Place, Transfer};
use c_tree::{Block, Declaration, Expr, Stmt, name};
use polyhedral::program::FieldId;

impl Team<'_> {
    /// Whether a transfer brings rows into shared memory by copies of its own.
    pub(super) fn copies(&self, transfer: &Transfer) -> bool {
        matches!(transfer.from.place, Place::Arrays(_)) && !self.in_registers(&transfer.to)
    }

    /// Transfers that commit a group of copies each at each position, in the lanes that wait for one of them, in order.
    fn copies_with(&self, transfer: &Transfer) -> Vec<&Transfer> {
        let all = self.kernel.transfers.iter();
        all.filter(|other| self.copies(other) && other.when == transfer.when).collect()
    }

    /// Whether what a transfer copies is read at later positions only.
    pub(super) fn lands_later(&self, transfer: &Transfer) -> bool {
        let storage = transfer.to.storage();
        let takes = self.kernel.transfers.iter().filter(|other| other.from.place.storage() == storage);
        let later = |other: &Transfer| {
            let ahead = self.along(transfer).and_then(|row| row.minus(&self.along(other)?));
            ahead.is_some_and(|ahead| ahead >= 1)
        };
        let once = transfer.when.iter().all(|when| {
            let Loop { variable, low, .. } = &self.kernel.rows;
            !when.mentions(variable) || *when == low.clone() - var(variable)
        });
        let mut takes = takes.peekable();
        let is_taken = takes.peek().is_some();
        once && self.copies(transfer)
            && takes.all(later)
            && match self.ahead_of_rows(transfer) {
                Some(ahead) => ahead >= 1,
                None => is_taken,
            }
    }

    /// Whether a transfer is of one row of the group, so that what it copies can be asked for before all of them.
    pub(super) fn asked_for_first(&self, transfer: &Transfer) -> bool {
        let of_a_row = transfer.when.iter().any(|when| when.mentions(self.kernel.rows.variable));
        of_a_row && self.lands_later(transfer)
    }

    /// Registers for what is under way, where devices do not copy in the background.
    pub(super) fn words_ahead(&self) -> i64 {
        let later = |transfer: &&Transfer| self.lands_later(transfer) && self.piece(transfer.field) > 1;
        let words = |transfer: &Transfer| {
            let rows = self.rows_of(&transfer.ranges, transfer.junk.as_ref()).map_or(0, |rows| rows.len());
            let bytes = self.plan.program.field(transfer.field).element.bytes() as i64;
            rows as i64 * self.points * bytes / 4
        };
        self.kernel.transfers.iter().filter(later).map(words).sum()
    }

    /// The next piece that a transfer has under way, where devices do not copy in the background.
    pub(super) fn piece_ahead(&self, transfer: &Transfer, pieces: i64, piece: Expr) -> Expr {
        let number = self.half.get().map_or_else(|| self.order(transfer), |(_, number)| number);
        let first = self.pieces_ahead.get();
        self.pieces_ahead.set(first + pieces);
        name(ahead(number)).at(c_tree::int(first) + piece)
    }

    /// Notes how many pieces a transfer has under way.
    pub(super) fn note_pieces_ahead(&self, transfer: &Transfer) {
        let own = (self.order(transfer), self.pieces_ahead.take());
        let mut all = self.ahead.borrow_mut();
        if own.1 > 0 && self.half.get().is_none() && !all.contains(&own) {
            all.push(own);
        }
    }

    /// What stands before the group for copies of a position, declarations of the pieces under way and what is asked for first, and the ends of
    /// all of them.
    pub(super) fn halves_of_copies(&self) -> (Block, Block) {
        let (mut asks, mut ends, mut pieces) = (Block::new(), Block::new(), Block::new());
        let begun = self.ahead.take();
        for &(number, count) in &begun {
            let transfer = &self.kernel.transfers[number];
            let kind = format!("tw_vector<{}, {}>", self.element(transfer.field), self.piece(transfer.field));
            pieces.push(Stmt::Declare(vec![Declaration::array(kind, ahead(number), count)]));
            let of_first_row = self.of_first_row(transfer);
            let half = |half: Half| {
                self.half.set(Some((half, number)));
                let part = self.part(Work::Transfer(&of_first_row), Rows::Any);
                self.half.set(None);
                part
            };
            if self.asked_for_first(transfer) {
                asks.extend(half(Half::Ask));
            }
            ends.extend(half(Half::End));
        }
        pieces.extend(asks);
        (pieces, ends)
    }

    fn element(&self, field: FieldId) -> &'static str {
        self.plan.program.field(field).element.c_name()
    }

    /// A transfer of the first row of the group, outside of the group.
    fn of_first_row(&self, transfer: &Transfer) -> Transfer {
        let Loop { variable, low, .. } = &self.kernel.rows;
        let first = |of: &IntExpr| of.substitute(variable, low);
        let ranges = |of: &[Range]| {
            of.iter().map(|range| Range { low: first(&range.low), high: first(&range.high) }).collect()
        };
        let mut own = transfer.clone();
        own.when.retain(|when| !when.mentions(variable));
        own.ranges = ranges(&transfer.ranges);
        own.junk = transfer.junk.as_deref().map(ranges);
        own.level = first(&transfer.level);
        own
    }

    fn order(&self, wanted: &Transfer) -> usize {
        self.kernel.transfers.iter().position(|other| std::ptr::eq(other, wanted)).unwrap_or(0)
    }

    /// The coordinate along the stream of the first row that a transfer moves.
    fn along(&self, moved: &Transfer) -> Option<IntExpr> {
        let rows = self.rows_of(&moved.ranges, moved.junk.as_ref())?;
        rows.into_iter().next()?.at.into_iter().next()
    }

    /// How many of the newest groups of copies need not have landed when a transfer takes what they bring.
    pub(super) fn groups_under_way(&self, transfer: &Transfer) -> Option<i64> {
        let storage = transfer.from.place.storage()?;
        let mut all = self.kernel.transfers.iter().filter(|other| self.copies(other));
        let brings = all.find(|other| other.to.storage() == Some(storage))?;
        let copies = self.copies_with(brings);
        let ahead = self.along(brings)?.minus(&self.along(transfer)?)?;
        let before = copies.iter().filter(|other| self.order(other) < self.order(transfer)).count();
        let until = copies.iter().take_while(|other| !std::ptr::eq(**other, brings)).count() + 1;
        Some((ahead * copies.len() as i64 + before as i64 - until as i64).max(0))
    }

    /// How many of the newest groups need not have landed behind the one that a transfer has just committed, so that what rows read of
    /// its storage at this position has; `None` where none reads it. Warps behind the one that copies read it after a barrier.
    pub(super) fn groups_before_rows(&self, transfer: &Transfer) -> Option<i64> {
        let ahead = self.ahead_of_rows(transfer)?;
        Some((ahead * self.copies_with(transfer).len() as i64).max(0))
    }

    /// Whether rows of all warps find what is copied into a storage: the first warp waits for it, and those behind read it after the barrier
    /// of that position.
    pub(super) fn lands_before_rows(&self, place: &Place) -> bool {
        let of_storage = |transfer: &&Transfer| {
            self.copies(transfer) && place.storage().is_some_and(|own| transfer.to.storage() == Some(own))
        };
        self.kernel.transfers.iter().filter(of_storage).all(|transfer| {
            let along = self.along(transfer).and_then(|row| self.slope(&row, self.member.variable));
            let by_the_first = transfer.when == [int(0) - var(self.member.variable)];
            by_the_first && along.is_some_and(|along| along < 0) && self.ahead_of_rows(transfer).is_some()
        })
    }

    /// By how much the row that a transfer copies is ahead of the newest one that rows read of its storage in the same warp at the same
    /// position.
    fn ahead_of_rows(&self, transfer: &Transfer) -> Option<i64> {
        let storage = transfer.to.storage()?;
        let copied = self.along(transfer)?;
        let Loop { variable, low, high } = &self.kernel.rows;
        let mut least: Option<i64> = None;
        for instance in &self.kernel.instances {
            let reads = &self.plan.program.statements[instance.statement].reads;
            let of_storage = |place: &Place| place.storage() == Some(storage);
            let reads = reads.iter().zip(&instance.reads).filter(|(_, read)| of_storage(&read.place));
            for (access, _) in reads {
                let row = self.rows_of(&instance.ranges, instance.junk.as_ref())?.into_iter().next()?;
                let read = row.at.first()?.clone() + access.offset[0];
                for end in [low, high] {
                    let ahead = copied.minus(&read.substitute(variable, end))?;
                    least = Some(least.map_or(ahead, |least| least.min(ahead)));
                }
            }
        }
        least
    }
}

/// The name of the pieces that a transfer has under way.
fn ahead(transfer: usize) -> String {
    format!("tw_ahead{transfer}")
}
