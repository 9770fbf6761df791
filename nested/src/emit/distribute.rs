//! Loops over lanes, put inside of the loops that all lanes have in common: `for l { A; for j { B } C }` as `for l { A }`,
//! `for j { for l { B } }`, `for l { C }`. Each lane does what it did, in the same order; what it keeps from one part to the next lies in an
//! array. Compilers make vectors of the innermost loops.

use super::unused::without_unused;
use c_tree::stmt::{Declaration, For};
use c_tree::{Block, Expr as C, Stmt, Type, name, var};
use std::collections::BTreeSet;

/// Types of what a lane keeps.
const KINDS: [&str; 5] = ["double", "float", "int64_t", "int32_t", "bool"];

/// The body of a loop over so many lanes, distributed. None where it has more than arithmetic, stores, and loops and conditions that are the
/// same for all lanes, or no such loop.
pub fn distributed(lane: &str, count: i64, body: &Block) -> Option<Block> {
    let body = without_unused(body.clone());
    let mut own = Distribution { lane, count, kept: BTreeSet::new(), arrays: Vec::new(), loops: 0 };
    own.keep(&body)?;
    let parts = own.parts(&body)?;
    let mut whole = Block::from(own.arrays);
    whole.extend(parts);
    (own.loops > 0).then_some(whole)
}

struct Distribution<'a> {
    lane: &'a str,
    count: i64,
    /// Names that lie in arrays.
    kept: BTreeSet<String>,
    arrays: Vec<Stmt>,
    loops: usize,
}

fn is_plain(block: &Block) -> bool {
    block.statements.iter().all(|own| matches!(own, Stmt::Declare(_) | Stmt::Assign(..)))
}

impl Distribution<'_> {
    /// Gives arrays to what is declared in blocks that are taken apart.
    fn keep(&mut self, block: &Block) -> Option<()> {
        for statement in &block.statements {
            match statement {
                Stmt::Declare(all) => {
                    for own in all {
                        let kind = KINDS.into_iter().find(|kind| {
                            own.kind == Type::new(*kind) || own.kind == Type::new(*kind).constant()
                        })?;
                        if own.count.is_some() || own.value.is_none() || own.attribute.is_some() {
                            return None;
                        }
                        self.kept.insert(own.name.clone());
                        let array = Declaration::array(kind, Self::array(&own.name), self.count);
                        self.arrays.push(Stmt::Declare(vec![array]));
                    }
                }
                Stmt::If(_, then, otherwise) if otherwise.is_empty() => self.keep(then)?,
                Stmt::For(own) if !is_plain(&own.body) => self.keep(&own.body)?,
                Stmt::Assign(..) | Stmt::For(_) => {}
                _ => return None,
            }
        }
        Some(())
    }

    fn array(own: &str) -> String {
        format!("{own}_lanes")
    }

    /// Whether a value is the same for all lanes.
    fn is_common(&self, value: &C) -> bool {
        let mut common = true;
        value.walk(&mut |part| {
            if let C::Name(own, _) = part {
                common &= own != self.lane && !self.kept.contains(own);
            }
        });
        common
    }

    fn parts(&mut self, block: &Block) -> Option<Block> {
        let mut parts = Block::new();
        let mut part = Block::new();
        for statement in &block.statements {
            match statement {
                Stmt::Declare(all) => {
                    for own in all {
                        let target = self.of_lane(&name(&own.name))?;
                        part.push(Stmt::assign(target, self.of_lane(own.value.as_ref()?)?));
                    }
                }
                Stmt::Assign(target, value) => {
                    part.push(Stmt::assign(self.of_lane(target)?, self.of_lane(value)?));
                }
                Stmt::If(condition, then, otherwise) if otherwise.is_empty() && self.is_common(condition) => {
                    self.flush(&mut part, &mut parts);
                    let then = self.parts(then)?;
                    parts.push(Stmt::when(condition.clone(), then));
                }
                Stmt::For(own) if own.kind.is_some() => {
                    let bounds = [own.first.as_ref(), Some(&own.condition), Some(&own.step)];
                    if !bounds.into_iter().flatten().all(|bound| self.is_common(bound)) {
                        return None;
                    }
                    self.flush(&mut part, &mut parts);
                    self.loops += 1;
                    let body =
                        if is_plain(&own.body) { self.plain(&own.body)? } else { self.parts(&own.body)? };
                    parts.push(Stmt::For(For { body, ..own.clone() }));
                }
                _ => return None,
            }
        }
        self.flush(&mut part, &mut parts);
        Some(parts)
    }

    /// Statements that stay together: what they declare is a lane's own for as long.
    fn plain(&mut self, block: &Block) -> Option<Block> {
        let mut part = Block::new();
        for statement in &block.statements {
            part.push(match statement {
                Stmt::Declare(all) => {
                    let again = |own: &Declaration| {
                        let value = self.of_lane(own.value.as_ref()?)?;
                        (own.count.is_none()).then(|| Declaration { value: Some(value), ..own.clone() })
                    };
                    Stmt::Declare(all.iter().map(again).collect::<Option<_>>()?)
                }
                Stmt::Assign(target, value) => Stmt::assign(self.of_lane(target)?, self.of_lane(value)?),
                _ => return None,
            });
        }
        let mut parts = Block::new();
        self.flush(&mut part, &mut parts);
        Some(parts)
    }

    fn flush(&self, part: &mut Block, parts: &mut Block) {
        if !part.is_empty() {
            parts.push(Stmt::Pragma("omp simd".to_owned()));
            parts.push(Stmt::count("int", self.lane, 0, self.count, std::mem::take(part)));
        }
    }

    /// The value in a lane.
    fn of_lane(&self, value: &C) -> Option<C> {
        let again = |part: &C| self.of_lane(part).map(Box::new);
        Some(match value {
            C::Name(own, _) if self.kept.contains(own) => name(Self::array(own)).at(var(self.lane)),
            C::Int(_) | C::Bool(_) | C::Literal(_) | C::Name(..) => value.clone(),
            C::Unary(operator, a) => C::Unary(*operator, again(a)?),
            C::Binary(operator, a, b) => C::Binary(*operator, again(a)?, again(b)?),
            C::Select(a, b, c) => C::Select(again(a)?, again(b)?, again(c)?),
            C::Cast(kind, a) => C::Cast(kind.clone(), again(a)?),
            C::Index(array, at) => C::Index(again(array)?, again(at)?),
            C::Call { function, template, arguments, sort } => C::Call {
                function: function.clone(),
                template: template.clone(),
                arguments: arguments.iter().map(|part| self.of_lane(part)).collect::<Option<_>>()?,
                sort: *sort,
            },
            C::Member { .. } => value.clone(),
            _ => return None,
        })
    }
}
