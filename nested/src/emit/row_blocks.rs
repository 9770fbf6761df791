//! Results of a row's blocks: a reduction of the row keeps them, and a scan of the same row need not fold its blocks once more.

use super::emitter::Emitter;
use super::fold::Folding;
use crate::program::BLOCK;
use c_tree::{Block, Expr as C, Stmt};

impl<'p> Emitter<'p> {
    /// Keeps the result of the block that starts there.
    pub(super) fn keep_block(&mut self, foldings: &[Folding<'p>], start: &C, block: &[C]) {
        let (Some(own), [_], [value]) = (&mut self.row_blocks, foldings, block) else { return };
        own.kept = true;
        let place = own.first.clone() + start.clone() / BLOCK;
        let keep = Stmt::assign(own.values.clone().at(place), value.clone());
        let fits = own.fits.clone();
        self.push(Stmt::when(fits, [keep]));
    }

    /// The results of a block: where they were kept with a share before, these; else what folds them.
    pub(super) fn kept_or_folded(
        &mut self,
        foldings: &[Folding<'p>],
        start: &C,
        fold: impl FnOnce(&mut Self) -> Vec<Vec<C>>,
    ) -> Vec<Vec<C>> {
        let before = self.row_blocks.clone().and_then(|own| Some((own.values, own.first, own.folded?)));
        let ([folding], Some((values, first, folded))) = (foldings, before) else { return fold(self) };
        let identities = self.identities(folding);
        let own = self.states(folding, "own", identities);
        let (fold, ()) = self.block(|emitter| {
            let results = fold(emitter);
            emitter.assign(&own, results.into_iter().flatten().collect());
        });
        let kept =
            own.iter().map(|own| Stmt::assign(own.clone(), values.at(first.clone() + start.clone() / BLOCK)));
        self.push(Stmt::choose(folded, kept.collect::<Block>(), fold));
        vec![own]
    }

    /// The result of a block that was kept, in an array; else what folds it.
    pub(crate) fn kept_block(&self, start: &C, block: &C, part: &[C], fold: Block) -> Block {
        match (&self.row_blocks, part) {
            (Some(own), [part]) if own.kept => {
                let place = own.first.clone() + start.clone() / BLOCK + block.clone();
                let kept = Stmt::assign(part.clone().at(block.clone()), own.values.clone().at(place));
                Block::from(Stmt::choose(own.fits.clone(), [kept], fold))
            }
            _ => fold,
        }
    }
}
