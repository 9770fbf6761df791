//! Where points lie: registers of a lane, and pieces of rows in shared memory.
//!
//! A row in shared memory lies in pieces of as many elements as one access takes: first the first pieces of all lanes, then
//! their second ones, and so on, so that the lanes of a warp access neighbouring pieces.

use super::super::super::bounds::expr;
use super::super::super::storages;
use super::sums::{constant, gathered};
use super::{LANE, SINCE, Team, WITHIN};
use crate::geometry::{WARP, elements_at_once};
use crate::int_expr::{IntExpr, int};
use crate::storage::{Axis, Place};
use c_tree::{BinaryOp, Expr, call, name, var};
use polyhedral::program::FieldId;

impl Team<'_> {
    /// Elements of an access.
    pub(super) fn piece(&self, field: FieldId) -> i64 {
        elements_at_once(self.points, self.plan.program.field(field).element.bytes())
    }

    /// The cell of a coordinate of a row along an axis. In a ring it is a sum in which only the position, the row of the group
    /// and the warp are variables, none of them with a negative factor, modulo the cells of the ring.
    fn cell(&self, in_registers: bool, axis: &Axis, coordinate: &IntExpr) -> Option<Expr> {
        let (first, extent) = match axis {
            Axis::Ring { extent: 1, .. } => return Some(c_tree::int(0)),
            Axis::Ring { first, extent } => (first, *extent),
            Axis::Window { first, .. } => {
                let cell = coordinate.clone() - first.clone();
                return match constant(&cell) {
                    Some(cell) => Some(c_tree::int(cell)),
                    None => (!in_registers).then(|| gathered(&cell)),
                };
            }
            Axis::Lanes { .. } => return None,
        };
        let (position, member, group) =
            (self.position.variable, self.member.variable, self.kernel.rows.variable);
        let distance = coordinate.clone() - first.clone();
        let factor = |variable| Some(self.slope(&distance, variable)?.rem_euclid(extent));
        let at_first = distance
            .substitute(position, &self.position.low)
            .substitute(member, &int(0))
            .substitute(group, &int(0));
        let least = constant(&at_first)?.rem_euclid(extent);
        // Registers are where they were after a period. So is what is in shared memory, if it has as many cells.
        let same = in_registers || self.period % extent == 0;
        let since = if same { WITHIN } else { SINCE };
        let sum = [(since, position), (member, member), (group, group)].into_iter().try_fold(
            c_tree::int(least),
            |sum, (name, variable)| match factor(variable)? {
                0 => Some(sum),
                factor => Some(sum + c_tree::int(factor) * var(name)),
            },
        )?;
        // No term is negative.
        Some(match extent.count_ones() {
            1 => Expr::binary(BinaryOp::BitAnd, sum, extent - 1),
            _ => Expr::binary(BinaryOp::Rem, sum, extent),
        })
    }

    /// The number of the first element of a row in a storage, over which `own` elements are counted.
    fn first_element(
        &self,
        place: &Place,
        row: &[IntExpr],
        (field, level): (FieldId, &IntExpr),
        own: i64,
    ) -> Option<Expr> {
        let storage = &self.kernel.storages[place.storage()?];
        let in_registers = storage.first_lane().is_some();
        // The first number of what is in registers is the warp's.
        let copies = place.copy().iter().zip(&storage.copies).skip(usize::from(in_registers));
        let copy = copies.fold(c_tree::int(0), |number, (copy, &count)| number * count + expr(copy));
        let plane = storages::plane_of_level(&self.plan.program, field, level.clone(), storage.planes);
        let plane = copy * storage.planes.max(1) + expr(&plane);
        let outer = storage.axes.iter().zip(row);
        let cell = outer.into_iter().try_fold(plane, |number, (axis, coordinate)| {
            Some(number * axis.extent() + self.cell(in_registers, axis, coordinate)?)
        })?;
        Some(cell * own)
    }

    /// The first register of a row, if the place is in registers.
    pub(super) fn register(
        &self,
        place: &Place,
        row: &[IntExpr],
        value: (FieldId, &IntExpr),
    ) -> Option<Expr> {
        let storage = &self.kernel.storages[place.storage()?];
        storage.first_lane()?;
        self.first_element(place, row, value, self.points)
    }

    /// The number of the lane's first piece of a row in shared memory; the next one is [`Team::stride_of_pieces`] behind it.
    pub(super) fn shared_piece(
        &self,
        place: &Place,
        row: &[IntExpr],
        value: (FieldId, &IntExpr),
    ) -> Option<Expr> {
        let first = self.shared_row(place, row, value)?;
        Some(first + c_tree::int(self.piece(value.0)) * var(LANE))
    }

    /// The number of the first element of a row in shared memory.
    fn shared_row(&self, place: &Place, row: &[IntExpr], value: (FieldId, &IntExpr)) -> Option<Expr> {
        let storage = &self.kernel.storages[place.storage()?];
        let same_window = match storage.axes.last() {
            Some(Axis::Window { first, extent }) => first == self.first && *extent == WARP * self.points,
            _ => false,
        };
        if !same_window || storage.axes.len() != row.len() + 1 {
            return None;
        }
        self.first_element(place, row, value, WARP * self.points)
    }

    /// The same as [`Team::shared_piece`], counted from a place of the lane that is found before the stream and kept in a register, so that
    /// the rest is a constant of unrolled text. It is that of the lane's first piece in the copy of its warp; `None` where copies change.
    pub(super) fn piece_of_lane(
        &self,
        place: &Place,
        row: &[IntExpr],
        value: (FieldId, &IntExpr),
    ) -> Option<(Expr, Expr)> {
        let at = place.storage()?;
        let storage = &self.kernel.storages[at];
        let changing = [self.position.variable, self.kernel.rows.variable];
        if place.copy().iter().any(|copy| changing.iter().any(|name| copy.mentions(name))) {
            return None;
        }
        let first = Place::Copy(at, vec![int(0); place.copy().len()]);
        let within = self.shared_row(&first, row, value)?;
        let copies = place.copy().iter().zip(&storage.copies);
        let copy = copies.fold(c_tree::int(0), |number, (copy, &count)| number * count + expr(copy));
        let of_a_copy = storage.all_cells() / storage.copies.iter().product::<i64>().max(1);
        let lane = copy * of_a_copy + c_tree::int(self.piece(value.0)) * var(LANE);
        let lane = call("tw_shared_from_register", [name(self.storage_name(place)) + lane]);
        Some((self.declared("auto", "tw_lane", lane), within))
    }

    /// Elements between two pieces of a lane.
    pub(super) fn stride_of_pieces(&self, field: FieldId) -> i64 {
        WARP * self.piece(field)
    }
}
