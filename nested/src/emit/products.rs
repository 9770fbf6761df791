//! Reductions that are products of two rows, each row of a matrix with each of another one: which they are, and what is emitted in
//! their place where the products of some rows are known.

use super::emitter::{Emitter, View};
use super::fold::Folding;
use super::matrices::Rows;
use super::view::flat;
use crate::program::{Builtin, Scalar, Type};
use c_tree::{BinaryOp, Expr as C, call, name, var};

impl<'p> Emitter<'p> {
    /// A reduction that is such a product; its value is then one that was computed before.
    pub(super) fn is_product(&mut self, foldings: &[Folding<'p>], totals: &[Vec<C>], length: &C) -> bool {
        let Some(row) = self.products.as_ref().map(|products| products.row.clone()) else { return false };
        let [own] = foldings else { return false };
        let sum = own.function.builtin == Some(Builtin::Add) && *own.ty == Type::Scalar(Scalar::F64);
        if !sum || own.sequence.open.is_some() {
            return false;
        }
        let Some((pair, other)) = self.product_of(own, length, &row) else { return false };
        let Some(products) = &mut self.products else { return false };
        let known = products.pair.get_or_insert_with(|| pair.clone());
        products.fits &= *known == pair;
        let [list, step, lane] = products.place.clone();
        let value = list.at(other * step + lane);
        let values = self.combine(own, &totals[0], View::Scalar(value, Scalar::F64, None));
        self.assign(&totals[0], values);
        true
    }

    /// The matrices, and the number of the second one's row: elements are `x[row * n + e] * c[j * n + e]`.
    fn product_of(&mut self, own: &Folding<'p>, length: &C, row: &C) -> Option<([Rows; 2], C)> {
        let place = var(self.fresh("e"));
        let at = own.sequence.at.clone();
        let (_, element) = self.block(|emitter| {
            let element = at(emitter, place.clone());
            flat(&element).pop().map(|value| emitter.resolved(&value))
        });
        let C::Binary(BinaryOp::Mul, a, b) = element? else { return None };
        let length = self.resolved(length);
        let whole = self.products.as_ref().and_then(|products| products.whole.clone());
        // Which of them is of the first matrix does not matter to the product.
        let sides = match whole {
            Some(known) if length == known[0].length => {
                let side = |factor: &C| {
                    let (array, step, row) = factor_of(factor, &place)?;
                    let own = known.iter().find(|own| own.array == array && own.length == step)?;
                    Some((own.clone(), row))
                };
                [side(&a)?, side(&b)?]
            }
            Some(_) => return None,
            None => {
                let C::Call { function, arguments, .. } = &length else { return None };
                let [first, second, ..] = &arguments[..] else { return None };
                if **function != name("tw_same") {
                    return None;
                }
                [rows_of(&a, &place, first)?, rows_of(&b, &place, second)?]
            }
        };
        let [(x, i), (c, j)] = match sides {
            [first, second] if first.1 == *row => [first, second],
            [first, second] if second.1 == *row => [second, first],
            _ => return None,
        };
        let mut depends = false;
        j.walk(&mut |part| depends |= part == row);
        let steady = [&x, &c].into_iter().all(|own| {
            self.is_invariant(&own.array) && self.is_invariant(&own.length) && self.is_invariant(&own.total)
        });
        (i == *row && !depends && steady).then_some(([x, c], j))
    }

    /// The length of a row of a matrix whose rows are known to be whole.
    pub(super) fn whole_row(&self, length: &C, total: &C) -> Option<C> {
        let whole = self.products.as_ref()?.whole.as_ref()?;
        let known = whole.iter().any(|own| own.length == *length && own.total == *total);
        known.then(|| whole[0].length.clone())
    }

    /// Whether a sequence is taken to be no more than a block, where somebody makes sure of that.
    pub(super) fn is_one_block(&mut self, length: &C) -> bool {
        let steady = self.is_invariant(length);
        let Some(products) = self.products.as_mut().filter(|products| products.whole.is_some() && steady)
        else {
            return false;
        };
        if !products.blocks.contains(length) {
            products.blocks.push(length.clone());
        }
        true
    }

    /// A value, with what its names stand for in the place of those that change.
    pub(crate) fn resolved(&self, value: &C) -> C {
        let again = |part: &C| Box::new(self.resolved(part));
        match value {
            C::Name(..) if !self.is_invariant(value) => {
                let known = self.known.iter().flatten().find(|(_, named)| named == value);
                known.map_or_else(|| value.clone(), |(value, _)| self.resolved(value))
            }
            C::Binary(operator, a, b) => C::Binary(*operator, again(a), again(b)),
            C::Index(array, at) => C::Index(array.clone(), again(at)),
            C::Call { function, template, arguments, sort } => C::Call {
                function: function.clone(),
                template: template.clone(),
                arguments: arguments.iter().map(|part| self.resolved(part)).collect(),
                sort: *sort,
            },
            other => other.clone(),
        }
    }
}

/// The array that a factor at a place is of, the length of its rows, and the number of the row.
fn factor_of(factor: &C, place: &C) -> Option<(C, C, C)> {
    let C::Index(array, at) = factor else { return None };
    let C::Binary(BinaryOp::Add, begin, here) = &**at else { return None };
    let C::Binary(BinaryOp::Mul, row, step) = &**begin else { return None };
    (**here == *place).then(|| ((**array).clone(), (**step).clone(), (**row).clone()))
}

/// The matrix that a factor at a place is of, with the number of its row; `count` is that row's length.
fn rows_of(factor: &C, place: &C, count: &C) -> Option<(Rows, C)> {
    let (array, step, row) = factor_of(factor, place)?;
    let C::Call { arguments, .. } = count else { return None };
    let [length, rest] = &arguments[..] else { return None };
    let C::Binary(BinaryOp::Sub, total, before) = rest else { return None };
    let whole = *count == call("tw_min", [length.clone(), rest.clone()]).integer();
    let fits = whole && step == *length && **before == row.clone() * step;
    fits.then(|| (Rows { array, length: length.clone(), total: (**total).clone() }, row))
}
