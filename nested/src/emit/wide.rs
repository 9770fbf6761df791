//! Lanes of a reduction as one vector, where the processor has vectors of eight doubles that gather: what is said lane by lane, which
//! compilers take apart into single numbers where an index is looked up, is said once for all lanes. Each lane does what it did, in the
//! same order, so that the bits are the same.

use super::emitter::c_type;
use super::indices::IndexCheck;
use super::stage::Lookups;
use crate::program::Scalar;
use c_tree::{BinaryOp, Block, Expr as C, Sort, Stmt, Type, UnaryOp, call, name, var};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the compiler may use such vectors.
pub const IS_WIDE: &str = "TW_WIDE";

/// Whether each of them is two halves, which look numbers up one by one.
pub const IS_HALVES: &str = "TW_HALVES";

/// The statements of a lane.
pub struct Lanes<'a> {
    /// What is done in a lane.
    pub body: &'a Block,
    /// The lane's number.
    pub lane: &'a str,
    /// The place of the first lane.
    pub place: &'a C,
    /// The arrays of partial results, all of one type.
    pub results: Vec<&'a C>,
    /// That type.
    pub scalar: Scalar,
    /// How indices are checked that were not checked before.
    pub inside: Option<Inside<'a>>,
    /// Bits of the lanes that there are, where these are not all: numbers of others are not looked at.
    pub part: Option<C>,
    /// Whether what lies behind them is asked for meanwhile.
    pub ahead: bool,
}

/// Checks of indices where these are used.
pub struct Inside<'a> {
    /// What is checked; all else was.
    pub checks: &'a [IndexCheck],
    /// Where it is noted that one is wrong.
    pub out: C,
    /// How what is looked up lies.
    pub lookups: Lookups,
}

/// What a name of the body is.
enum Known {
    /// `place + lane`
    Here,
    /// Numbers next to each other, from this address on: places of others.
    Places(C),
    /// One number for each lane.
    Vector,
}

/// The vectors that partial results lie in.
pub fn vector_of(result: &C) -> C {
    match result {
        C::Name(own, _) => name(format!("{own}_wide")),
        other => other.clone(),
    }
}

/// The type of a vector, and what its macros end in.
pub fn kind(scalar: Scalar) -> Option<(&'static str, &'static str)> {
    match scalar {
        Scalar::F64 => Some(("tw_f64x8", "F64")),
        Scalar::F32 => Some(("tw_f32x8", "F32")),
        _ => None,
    }
}

/// All lanes at once; `None` where a lane does anything but arithmetic on numbers that lie next to each other, or at places that do.
pub fn all_at_once(lanes: &Lanes<'_>) -> Option<Block> {
    let (vector, suffix) = kind(lanes.scalar)?;
    let element = Type::new(c_type(lanes.scalar)).constant();
    let mut own = BTreeSet::new();
    lanes.body.walk(&mut |statement| {
        if let Stmt::Declare(all) = statement {
            own.extend(all.iter().map(|one| one.name.clone()));
        }
    });
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let mut wide = Block::new();
    for statement in &lanes.body.statements {
        match statement {
            Stmt::Declare(all) => {
                let [one] = &all[..] else { return None };
                let value = one.value.as_ref()?;
                let found = if *value == lanes.place.clone() + var(lanes.lane) {
                    Known::Here
                } else if let Some(address) = lanes.neighbours(value, &known, &own) {
                    // Checks before the loop have read the indices.
                    if lanes.ahead && (one.kind == element || lanes.inside.is_some()) {
                        wide.push(Stmt::call("TW_AHEAD", [address.clone()]));
                    }
                    if one.kind == element {
                        let loaded = lanes.of_part("TW_LOADED", suffix, vec![address]);
                        wide.push(Stmt::constant(vector, one.name.clone(), loaded));
                        Known::Vector
                    } else if ["int64_t", "int32_t"]
                        .iter()
                        .any(|kind| one.kind == Type::new(*kind).constant())
                    {
                        Known::Places(address)
                    } else {
                        return None;
                    }
                } else if let Some(places) = widened(value, &known) {
                    Known::Places(places)
                } else if let Some((from, places)) = lanes.looked_up(value, &known, &own) {
                    if one.kind != element {
                        return None;
                    }
                    let gathered = lanes.gathered(suffix, from, places)?;
                    wide.push(Stmt::constant(vector, one.name.clone(), gathered));
                    Known::Vector
                } else {
                    if one.kind != element {
                        return None;
                    }
                    wide.push(Stmt::constant(
                        vector,
                        one.name.clone(),
                        lanes.arithmetic(value, &known, &own)?,
                    ));
                    Known::Vector
                };
                known.insert(one.name.clone(), found);
            }
            Stmt::Assign(target, value) => {
                let target = lanes.result(target)?;
                wide.push(Stmt::assign(target, lanes.arithmetic(value, &known, &own)?));
            }
            _ => return None,
        }
    }
    looks_up(&wide).then_some(wide)
}

/// Whether anything is looked up.
fn looks_up(wide: &Block) -> bool {
    let mut found = false;
    wide.walk(&mut |statement| {
        statement.expressions(&mut |value| {
            value.walk(&mut |part| {
                if let C::Name(name, _) = part {
                    found |= name.starts_with("TW_GATHERED") || name.starts_with("TW_INSIDE");
                }
            });
        });
    });
    found
}

/// The address of the first of places that are only given another width.
fn widened(value: &C, known: &BTreeMap<String, Known>) -> Option<C> {
    let C::Cast(kind, own) = value else { return None };
    let C::Name(own, _) = &**own else { return None };
    match known.get(own) {
        Some(Known::Places(address)) if *kind == Type::new("int64_t") => Some(address.clone()),
        _ => None,
    }
}

impl Lanes<'_> {
    /// A macro for all lanes, or for those that there are.
    fn of_part(&self, stem: &str, suffix: &str, mut arguments: Vec<C>) -> C {
        let part = if self.part.is_some() { "_PART" } else { "" };
        arguments.extend(self.part.clone());
        call(format!("{stem}{part}_{suffix}"), arguments)
    }

    /// The vector of a lane's partial result.
    fn result(&self, value: &C) -> Option<C> {
        let C::Index(array, at) = value else { return None };
        (self.results.contains(&&**array) && **at == var(self.lane)).then(|| vector_of(array))
    }

    /// Whether it is the same for all lanes.
    fn is_same(&self, value: &C, own: &BTreeSet<String>) -> bool {
        let mut same = true;
        value.walk(&mut |part| {
            if let C::Name(name, _) = part {
                same &= name != self.lane && !own.contains(name);
            }
        });
        same
    }

    /// The address of the first lane's number, where those of all lanes lie next to each other in an array.
    fn neighbours(&self, value: &C, known: &BTreeMap<String, Known>, own: &BTreeSet<String>) -> Option<C> {
        let C::Index(array, at) = value else { return None };
        let is_here = |at: &C| matches!(at, C::Name(name, _) if matches!(known.get(name), Some(Known::Here)));
        let first = match &**at {
            here if is_here(here) => self.place.clone(),
            C::Binary(BinaryOp::Add, before, here) if is_here(here) && self.is_same(before, own) => {
                (**before).clone() + self.place.clone()
            }
            _ => return None,
        };
        self.is_same(array, own).then(|| C::Unary(UnaryOp::Address, Box::new((**array).clone().at(first))))
    }

    /// An array, and the address of the places in it that are meant.
    fn looked_up(
        &self,
        value: &C,
        known: &BTreeMap<String, Known>,
        own: &BTreeSet<String>,
    ) -> Option<(C, C)> {
        let C::Index(array, at) = value else { return None };
        let C::Name(at, _) = &**at else { return None };
        let Some(Known::Places(address)) = known.get(at) else { return None };
        self.is_same(array, own).then(|| ((**array).clone(), address.clone()))
    }

    /// The numbers at places, which are checked where nobody did.
    fn gathered(&self, suffix: &str, from: C, places: C) -> Option<C> {
        let C::Unary(UnaryOp::Address, first) = &places else { return None };
        let C::Index(array, _) = &**first else { return None };
        let own = self.inside.as_ref().and_then(|inside| {
            let mut checks = inside.checks.iter().filter(|check| check.indices[0] == **array);
            checks.next().map(|check| {
                (check.length.clone(), inside.out.clone().address(), inside.lookups, checks.count())
            })
        });
        match own {
            None => Some(self.of_part("TW_GATHERED", suffix, vec![from, places])),
            Some((length, out, lookups, 0)) => {
                let stem = match lookups {
                    Lookups::Anywhere => "TW_INSIDE",
                    Lookups::Apart => "TW_INSIDE_APART",
                    Lookups::InRuns => "TW_INSIDE_RUNS",
                };
                Some(self.of_part(stem, suffix, vec![from, places, length, out]))
            }
            // Of two sequences it is not known which one is meant.
            Some(_) => None,
        }
    }

    /// The same of all lanes: numbers that are the same for all count for each.
    fn arithmetic(&self, value: &C, known: &BTreeMap<String, Known>, own: &BTreeSet<String>) -> Option<C> {
        if let Some(result) = self.result(value) {
            return Some(result);
        }
        let (_, suffix) = kind(self.scalar)?;
        match value {
            C::Name(name, _) if matches!(known.get(name), Some(Known::Vector)) => Some(value.clone()),
            // Of another type it would not be one of a vector's numbers.
            C::Name(_, Sort::Other) | C::Literal(_)
                if self.scalar == Scalar::F64 && self.is_same(value, own) =>
            {
                Some(call(format!("TW_ALL_{suffix}"), [value.clone()]))
            }
            C::Index(..) => {
                let (from, places) = self.looked_up(value, known, own)?;
                self.gathered(suffix, from, places)
            }
            C::Unary(UnaryOp::Negate, a) => {
                Some(call(format!("TW_NEG_{suffix}"), [self.arithmetic(a, known, own)?]))
            }
            C::Binary(operator, a, b) => {
                let stem = match operator {
                    BinaryOp::Add => "ADD",
                    BinaryOp::Sub => "SUB",
                    BinaryOp::Mul => "MUL",
                    BinaryOp::Div => "DIV",
                    _ => return None,
                };
                let pair = [self.arithmetic(a, known, own)?, self.arithmetic(b, known, own)?];
                Some(call(format!("TW_{stem}_{suffix}"), pair))
            }
            _ => None,
        }
    }
}
