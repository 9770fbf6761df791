//! Rows whose values need their products with all rows of another matrix: those of eight rows are computed together, as tiles of a
//! product of matrices (`tw_products_f64` of the runtime), and then what becomes of each row.

use super::group::Put;
use crate::analysis::Level;
use crate::emit::distribute::distributed;
use crate::emit::emitter::{At, Emitter};
use crate::emit::matrices::{Products, Rows};
use crate::program::{BLOCK, Scalar};
use c_tree::{Block, Declaration, Expr as C, Stmt, call, int, name, var};

/// Rows of a tile.
const TILE: i64 = 8;
/// Elements of a row at most: a block of the order of operations has as many, and a cache holds eight such rows.
const ELEMENTS: i64 = 1024;
/// Rows of the other matrix at most.
const OTHERS: i64 = 512;

impl<'p> Emitter<'p> {
    /// A loop over rows by threads, with such products; whether it is emitted.
    pub(super) fn by_products(&mut self, at: &At<'p>, put: &Put<'p>, length: &C, level: Level) -> bool {
        let inner =
            self.levels.get(1).is_some_and(|level| level.schedule.is_parallel() && !level.is_threads());
        if !inner {
            return false;
        }
        let row = var(self.fresh("i"));
        let list = self.fresh("products");
        self.changes(&list);
        let lane = self.fresh("l");
        let place = [name(&list), int(TILE), var(&lane)];
        let (_, found) = self.row_with_products(at, put, &row, place.clone(), None);
        let Some(Products { pair: Some([x, others]), .. }) = found else { return false };
        let mut blocks = Vec::new();
        let (tiled, ()) = self.block(|emitter| {
            let tiles = emitter.bind(Scalar::I64, (length.clone() + (TILE - 1)) / TILE);
            let tile = emitter.fresh("t");
            let (body, ()) = emitter.block(|emitter| {
                let start = emitter.bind(Scalar::I64, var(&tile) * TILE);
                let rest = call("tw_min", [int(TILE), length.clone() - start.clone()]).integer();
                let rows = emitter.bind(Scalar::I64, rest);
                let mut declared = Declaration::array("double", list.clone(), TILE * OTHERS);
                declared.attribute = Some("TW_ALIGNED".to_owned());
                emitter.push(Stmt::Declare(vec![declared]));
                let count = others.total.clone() / others.length.clone();
                let first = x.array.at(start.clone() * x.length.clone()).address();
                let list = name(&list);
                let arguments = [first, rows.clone(), others.array.clone(), count, x.length.clone(), list];
                emitter.push(Stmt::call("tw_products_f64", arguments));
                // Eight rows are lanes of vectors.
                let mut each = |emitter: &mut Self, end: C| {
                    let (block, ()) = emitter.block(|emitter| {
                        let own = emitter.fresh("i");
                        let here = start.clone() + var(&lane);
                        let (block, made) = emitter.row_with_products(
                            at,
                            put,
                            &var(&own),
                            place.clone(),
                            Some([x.clone(), others.clone()]),
                        );
                        blocks.extend(made.map_or(Vec::new(), |products| products.blocks));
                        emitter.push(Stmt::constant("int64_t", own, here));
                        block.statements.into_iter().for_each(|statement| emitter.push(statement));
                    });
                    (block, end)
                };
                let whole =
                    |(block, end): (Block, C)| Block::from(Stmt::count("int", lane.clone(), 0, end, block));
                let (all, some) = (each(emitter, int(TILE)), each(emitter, rows.clone()));
                let all = distributed(&lane, TILE, &all.0).unwrap_or_else(|| whole(all));
                let some = whole(some);
                emitter.push(Stmt::choose(rows.is(TILE), all, some));
            });
            let sharing = Emitter::sharing(&level);
            emitter.push(Stmt::Pragma(format!("omp parallel for num_threads(tw->threads) {sharing}")));
            emitter.push(Stmt::count("int64_t", tile, 0, tiles, body));
        });
        let (one_by_one, ()) = self.block(|emitter| {
            emitter.each(level, int(0), length.clone(), |emitter, row| {
                emitter.depth += 1;
                let view = at(emitter, row.clone());
                put(emitter, row, view);
                emitter.depth -= 1;
            });
        });
        let whole = |own: &Rows| (own.total.clone() % own.length.clone()).is(0);
        let fits = whole(&x)
            .and(whole(&others))
            .and(x.length.clone().is(others.length.clone()))
            .and(x.length.clone().le(ELEMENTS))
            .and(others.total.clone().le(others.length.clone() * OTHERS));
        let fits = blocks.into_iter().fold(fits, |fits, length| fits.and(length.le(BLOCK)));
        self.push(Stmt::choose(fits, tiled, one_by_one));
        true
    }

    /// What is done for a row, with products of it that are known, and what is known of these.
    fn row_with_products(
        &mut self,
        at: &At<'p>,
        put: &Put<'p>,
        row: &C,
        place: [C; 3],
        whole: Option<[Rows; 2]>,
    ) -> (Block, Option<Products>) {
        self.products =
            Some(Products { row: row.clone(), pair: None, whole, blocks: Vec::new(), fits: true, place });
        let (block, ()) = self.block(|emitter| {
            emitter.depth += 1;
            let view = at(emitter, row.clone());
            put(emitter, row.clone(), view);
            emitter.depth -= 1;
        });
        let products = self.products.take();
        (block, products.filter(|own| own.fits))
    }
}
