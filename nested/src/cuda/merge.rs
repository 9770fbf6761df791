//! Rows of very different lengths in equal shares of rows and elements (D. Merrill, M. Garland, Merge-based parallel sparse matrix-vector
//! multiplication, SC 2016), where each row stays with one team; very long ones are left to whole blocks of threads.

use super::kernels::Put;
use crate::analysis::{Level, Schedule};
use crate::emit::device::Shape;
use crate::emit::emitter::{At, Emitter};
use crate::emit::gpu::{Team, Where};
use crate::program::Scalar;
use c_tree::{Expr as C, Stmt, call, int, name, var};

/// Rows with more elements than these have a block of threads.
const LONG: i64 = 8192;
/// Rows and elements of a team's share, about, where there are enough teams.
const SHARE: i64 = 64;
/// Threads of a block that has a row.
const BLOCK: i64 = 256;

impl<'p> Emitter<'p> {
    /// Two kernels: shares of rows that are not long, and long rows.
    pub(super) fn merged_by_device(
        &mut self,
        at: &At<'p>,
        (offsets, scalar): (&C, Scalar),
        length: &C,
        put: &Put<'p>,
    ) {
        // Offsets that are wrong are known to the device alone, and stop its kernels.
        let total = call("tw_min", [offsets.at(length.clone()).cast("int64_t"), int(1 << 61)]).integer();
        let total = self.changing(Scalar::I64, "total", total);
        let (team, block) = self.gpu.as_ref().map_or((1, 1), |gpu| (gpu.team_size(), gpu.block));
        let wide = |value: C| if scalar == Scalar::I64 { value } else { value.cast("int64_t") };
        let count = |row: &C| wide(offsets.at(row.clone() + 1)) - wide(offsets.at(row.clone()));
        let each = |emitter: &mut Self, row: C| {
            emitter.depth += 1;
            let view = at(emitter, row.clone());
            put(emitter, row, view);
            emitter.depth -= 1;
        };
        let shares = self.bind(Scalar::I64, (length.clone() + var(&total)) / SHARE + 1);
        self.launch(Shape::Items(shares, block / team), block, Where::Team, |emitter| {
            let (teams, thread) = (block / team, name("threadIdx").dot("x").cast("int"));
            let own = emitter.fresh("team");
            let place = name("blockIdx").dot("x").cast("int64_t") * teams + thread / team;
            emitter.push(Stmt::constant("int64_t", own.clone(), place));
            let bound = |emitter: &mut Self, more: i64| {
                let all = name("gridDim").dot("x").cast("int64_t") * teams;
                let list = [offsets.clone(), length.clone(), var(&own) + more, all];
                let named = emitter.fresh("share");
                emitter.push(Stmt::constant("int64_t", named.clone(), call("tw_share", list)));
                var(named)
            };
            let (first, end) = (bound(emitter, 0), bound(emitter, 1));
            let row = emitter.fresh("i");
            let (body, ()) = emitter.block(|emitter| {
                let (short, ()) = emitter.block(|emitter| each(emitter, var(&row)));
                emitter.push(Stmt::when(count(&var(&row)).le(LONG), short));
            });
            emitter.push(Stmt::count("int64_t", row, first, end, body));
        });
        let saved = (self.levels.clone(), self.gpu.as_ref().map(|gpu| (gpu.team, gpu.block)));
        if let Some(gpu) = &mut self.gpu {
            (gpu.team, gpu.block) = (Team::Block, BLOCK);
        }
        if let Some(inner) = self.levels.get_mut(1) {
            *inner = Level { schedule: Schedule::Cooperative, ..*inner };
        }
        // A row with more elements than `LONG` has a multiple of it behind its first element; the last one of these is its own.
        let multiples = self.bind(Scalar::I64, var(&total) / LONG + 1);
        self.launch(Shape::Items(multiples.clone(), 1), BLOCK, Where::Team, |emitter| {
            emitter.each_of_team(multiples.clone(), |emitter, multiple| {
                let row = emitter.fresh("i");
                let list = [offsets.clone(), length.clone(), multiple.clone() * LONG];
                emitter.push(Stmt::constant("int64_t", row.clone(), call("tw_row_at", list)));
                let end = wide(offsets.at(var(&row) + 1)) / LONG;
                let (long, ()) = emitter.block(|emitter| each(emitter, var(&row)));
                let own = var(&row).lt(length).and(count(&var(&row)).gt(LONG)).and(end.is(multiple));
                emitter.push(Stmt::when(own, long));
            });
        });
        self.levels = saved.0;
        if let (Some(gpu), Some((team, block))) = (&mut self.gpu, saved.1) {
            (gpu.team, gpu.block) = (team, block);
        }
    }
}
