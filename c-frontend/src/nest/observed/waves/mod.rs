//! Steps that run ahead in waves: where the loops of a step compute arrays and, in order, sums and maxima that the rest of the
//! step prints or tests, several steps can be under way, each some rows behind the one before it.
//!
//! Row `x` of the loops that come `m`-th, counted through all steps of a block, reads and writes rows `x - r .. x + r`. In pieces of
//! `c` rows, with `D = 1 + ceil(r / c)` pieces between neighbours, everything that they need is there and nobody needs any more what they
//! overwrite:
//!
//! ```text
//! wave w:   for each m:   piece w - D m of loops m          (all at once)
//! ```
//!
//! Rows of one loop come in the program's order, so that what it adds up has the program's bits. The rest of each step stays the program's
//! text, which gets its scalars; that it touches no array, and that nothing which the loops read has changed, is what makes this right: the
//! first is found here, the second when the program runs.

mod texts;
mod types;

use super::left::{array_of, key, scalars_of};
use super::names;
use super::parts::{WaveArray, WaveLoop, Waves};
use super::residue::write;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, Stmt, StmtKind, UnaryOp};
use crate::integer::literal;
use crate::nest::scalars::{assigned, declared};
use crate::nest::time::{Found, Loop};
use crate::parse::Region;
use crate::text::type_text;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use texts::{compute, counted, elements_only, touched};
use types::{is_plain, plain_text, pointer, sizes};

/// What loops do in waves: `own` is the region around the time loop, `rest` and `run` are the statements of a step, the first `tiled` ones
/// of which run in tiles by themselves; `computed` is what these compute of arrays, `leaves` whether they leave scalars.
pub(super) fn find(
    own: &Region,
    region: &Region,
    found: &Found<'_>,
    (rest, run): (&[&Stmt], &[Stmt]),
    computed: &[Option<Stmt>],
    leaves: &[bool],
    tiled: usize,
) -> Option<Waves> {
    let mut search = Search {
        own,
        region,
        arrays: BTreeMap::new(),
        places: BTreeMap::new(),
        reach: 0,
        numbers: BTreeSet::new(),
    };
    let (mut loops, mut results, mut elements) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
    let mut fresh = true;
    for ((stmt, arrays), leaves) in run.iter().zip(computed).zip(leaves) {
        let scalars = if *leaves { scalars_of(region, stmt)? } else { None };
        let one = search.wave_loop(stmt, arrays.as_ref(), scalars.as_ref(), &mut results, &mut elements)?;
        loops.push(one);
    }
    // What loops leave in indices is known of tiled ones alone.
    for (at, stmt) in run.iter().enumerate() {
        let open = |name: &String| {
            region.used_behind.contains(name)
                || rest.iter().any(|stmt| names::within(stmt).contains(name))
                || head(found).iter().any(|expr| expr.mentions(name))
        };
        let tiled = at < tiled && computed[at].is_some();
        (tiled || !names::indices(stmt).iter().any(open)).then_some(())?;
    }
    // Rows of different loops come in no order that was that of the program.
    for (at, stmt) in run.iter().enumerate() {
        let left = left_by(stmt);
        let others = run.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
        let finds = |other: &Stmt| !(&names::within(other) - &own_names(other)).is_disjoint(&left);
        (!{ others }.any(finds)).then_some(())?;
    }
    let written: HashSet<String> = run.iter().flat_map(|stmt| assigned(stmt).0).collect();
    for stmt in run {
        fresh &= reads_what_it_assigned(stmt, &written);
    }
    search.arrays.keys().all(|name| search.own.variables.contains_key(name)).then_some(())?;
    // What none of the loops moves along is not computed.
    search.places.iter().all(|(name, place)| place.is_some() || !written.contains(name)).then_some(())?;
    // What extents are computed of.
    for ctype in search.arrays.values() {
        let mut at = ctype;
        while let CType::Pointer(to) | CType::Array(to, _) = at {
            if let CType::Array(_, Some(extent)) = &**to {
                let mut plain = true;
                extent.walk(&mut |part| match &part.kind {
                    ExprKind::Name(name) => {
                        search.numbers.insert(name.clone());
                    }
                    ExprKind::Integer { .. } | ExprKind::Binary(..) => {}
                    _ => plain = false,
                });
                plain.then_some(())?;
            }
            at = to;
        }
    }
    let element = match (elements.len(), elements.into_iter().next()?) {
        (1, Floating::Float) => "float",
        (1, Floating::Double) => "double",
        _ => return None,
    };
    let reached = search.rest(rest, found)?;
    // What tiles by themselves look at lies apart when they run; of loops behind them that is asked, too.
    if tiled < run.len() {
        let numbers: Vec<&String> = search.arrays.keys().collect();
        for (stmt, one) in run.iter().zip(&mut loops) {
            let StmtKind::For(source) = &stmt.kind else { return None };
            let own = HashSet::from([one.index.0.clone()]);
            touched(region, &source.body, &own, &numbers, &mut one.touched)?;
        }
    }
    let shapes: Vec<String> = search.arrays.values().map(|ctype| pointer(ctype, "_")).collect();
    let first = |shape: &String| shapes.iter().position(|other| other == shape).unwrap_or_default();
    let arrays = search.arrays.iter().zip(&shapes);
    let arrays = arrays
        .map(|((name, ctype), shape)| WaveArray {
            name: name.clone(),
            declared: pointer(ctype, name),
            shape: first(shape),
            written: written.contains(name),
        })
        .collect();
    let fits = search.arrays.iter().flat_map(|(name, ctype)| sizes(ctype, name)).collect();
    let typed = |name: &String| -> Option<(String, String)> {
        // What the body declares hides what stands around it.
        let mut own_types = Vec::new();
        for stmt in rest {
            if let StmtKind::Declaration(list) = &stmt.kind {
                let before = run.first().is_some_and(|first| stmt.span.end <= first.span.start);
                let own = list.iter().filter(|one| one.name == *name);
                own_types.extend(own.map(|one| (&one.ctype, before)));
            }
        }
        let ctype = match own_types.as_slice() {
            [] => &own.variables.get(name)?.ctype,
            [(ctype, true)] => *ctype,
            _ => return None,
        };
        is_plain(ctype).then(|| (name.clone(), type_text(ctype)))
    };
    let numbers = search.numbers.iter().filter(|name| !results.contains_key(*name));
    let numbers: Vec<(String, String)> = numbers.map(typed).collect::<Option<_>>()?;
    let result = |(name, carried): (&String, &bool)| typed(name).map(|(name, ctype)| (name, ctype, *carried));
    let results = results.iter().map(result).collect::<Option<_>>()?;
    Some(Waves {
        span: found.span.clone(),
        arrays,
        numbers,
        results,
        fits,
        reached,
        left: left(region, found),
        loops,
        behind: String::new(),
        reach: search.reach,
        fresh,
        element,
    })
}

/// What the head of the time loop computes in each step.
fn head<'a>(found: &Found<'a>) -> Vec<&'a Expr> {
    match found.source {
        Loop::For(source) => source.step.iter().chain(&source.condition).collect(),
        Loop::While(source) => vec![&source.condition],
    }
}

/// The names that are a loop's own: what it declares, and its indices.
pub(super) fn own_names(stmt: &Stmt) -> HashSet<String> {
    &declared(std::slice::from_ref(stmt)) | &names::indices(stmt)
}

/// Whether each point that a statement computes assigns a scalar before it reads it. That there are points is known where an element
/// is assigned beside it, which is counted when the program runs.
fn assigns_first(stmt: &Stmt, name: &str) -> bool {
    match &stmt.kind {
        StmtKind::Block(list) => {
            let first = list.iter().find(|stmt| names::within(stmt).contains(name));
            let counted = list.iter().any(|stmt| match &stmt.kind {
                StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, _), .. }) => {
                    array_of(target).is_some()
                }
                _ => false,
            });
            first.is_some_and(|stmt| match &stmt.kind {
                StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                    counted
                        && matches!(&target.kind, ExprKind::Name(own) if own == name)
                        && !value.mentions(name)
                }
                _ => assigns_first(stmt, name),
            })
        }
        StmtKind::For(source) => {
            let start = source.start.iter().any(|start| names::within(start).contains(name));
            let head = source.condition.iter().chain(&source.step).any(|expr| expr.mentions(name));
            !start && !head && assigns_first(&source.body, name)
        }
        _ => false,
    }
}

/// The scalars that loops leave.
pub(super) fn left_by(stmt: &Stmt) -> HashSet<String> {
    &assigned(stmt).1 - &own_names(stmt)
}

struct Search<'a> {
    own: &'a Region,
    region: &'a Region,
    /// The arrays and their types.
    arrays: BTreeMap<String, CType>,
    /// Which subscript of each is moved by the outermost loops; `None` if no one is.
    places: BTreeMap<String, Option<usize>>,
    reach: i64,
    numbers: BTreeSet<String>,
}

impl Search<'_> {
    fn wave_loop(
        &mut self,
        stmt: &Stmt,
        arrays: Option<&Stmt>,
        scalars: Option<&Stmt>,
        results: &mut BTreeMap<String, bool>,
        elements: &mut BTreeSet<Floating>,
    ) -> Option<WaveLoop> {
        let StmtKind::For(source) = &stmt.kind else { return None };
        let (index, low, high) = counted(self.region, source)?;
        let outside: Vec<String> = names::indices(stmt).into_iter().collect();
        let local = own_names(stmt);
        // The bounds of the outermost loop, and all within, are of numbers and elements.
        let mut plain = true;
        stmt.walk_expressions(&mut |part| {
            plain &= !matches!(
                part.kind,
                ExprKind::Member(..)
                    | ExprKind::Turn { .. }
                    | ExprKind::List(_)
                    | ExprKind::Other(..)
                    | ExprKind::Unary(UnaryOp::Dereference | UnaryOp::Address, _)
            );
            if let ExprKind::Call(..) = &part.kind {
                plain &= names::only_reads(self.region, part);
            }
            if let ExprKind::Cast(ctype, _) = &part.kind {
                plain &= is_plain(ctype);
            }
        });
        stmt.walk(&mut |part| {
            if let StmtKind::Declaration(list) = &part.kind {
                plain &= list.iter().all(|one| is_plain(&one.ctype));
            }
        });
        if !plain {
            return None;
        }
        let mut fails = false;
        stmt.walk_expressions(&mut |part| {
            if matches!(part.kind, ExprKind::Index(..)) {
                fails |= self.element(part, &index.0).is_none();
            }
        });
        // Names that are neither arrays, nor functions, nor declared there.
        let mut functions = HashSet::new();
        stmt.walk_expressions(&mut |part| {
            if let ExprKind::Call(function, _) = &part.kind
                && let ExprKind::Name(name) = &function.kind
            {
                fails |= name.starts_with("tw_");
                functions.insert(name.clone());
            }
        });
        if fails {
            return None;
        }
        for name in names::within(stmt) {
            if !local.contains(&name) && !functions.contains(&name) && !self.arrays.contains_key(&name) {
                self.numbers.insert(name);
            }
        }
        // Sums wait for their last summand: that takes as long as the arrays do, at the same time.
        let computed = match (arrays, scalars) {
            (Some(_), Some(_)) => stmt,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return None,
        };
        let leaves: BTreeSet<String> = left_by(computed).into_iter().collect();
        results.extend(leaves.iter().map(|name| (name.clone(), !assigns_first(computed, name))));
        let typed = |name: &String| {
            let ctype = &self.region.variables.get(name)?.ctype;
            is_plain(ctype).then(|| (name.clone(), type_text(ctype)))
        };
        let indices = outside.iter().filter(|name| **name != index.0).map(typed).collect::<Option<_>>()?;
        let mut one = WaveLoop {
            index,
            low,
            high,
            indices,
            arrays: String::new(),
            scalars: String::new(),
            keep: String::new(),
            give: String::new(),
            count: String::new(),
            touched: String::new(),
            leaves,
        };
        if let Some(arrays) = arrays {
            let StmtKind::For(own) = &arrays.kind else { return None };
            if !in_any_order(arrays) {
                return None;
            }
            let mut targets = Vec::new();
            arrays.walk_expressions(&mut |part| {
                if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &part.kind
                    && let Some(name) = array_of(target)
                {
                    targets.push(name);
                }
            });
            for name in targets {
                let CType::Floating(kind) = self.arrays.get(&name)?.element() else { return None };
                elements.insert(*kind);
            }
            let around = HashSet::from([one.index.0.clone()]);
            let StmtKind::For(together) = &computed.kind else { return None };
            compute(&together.body, &around, &mut one.arrays)?;
            elements_only(&own.body, &|target| format!("*tw_at++ = {target}; "), &mut one.keep)?;
            elements_only(&own.body, &|target| format!("{target} = *tw_at++; "), &mut one.give)?;
            elements_only(&own.body, &|_| "++tw_count; ".to_owned(), &mut one.count)?;
        }
        if let (None, Some(scalars)) = (arrays, scalars) {
            let StmtKind::For(own) = &scalars.kind else { return None };
            write(&own.body, &mut one.scalars)?;
        }
        Some(one)
    }

    /// An element of an array, of which exactly one subscript moves with the outermost loop, or none.
    fn element(&mut self, element: &Expr, index: &str) -> Option<()> {
        let (base, subscripts) = element.indexed();
        let ExprKind::Name(name) = &base.kind else { return None };
        let ctype = &self.region.variables.get(name)?.ctype;
        let CType::Floating(Floating::Float | Floating::Double) = ctype.element() else { return None };
        // Parts of elements are visited, too.
        if !name.bytes().all(|letter| letter == b'_' || letter.is_ascii_alphanumeric())
            || subscripts.len() > ctype.depth()
        {
            return None;
        }
        let mut place = None;
        for (at, subscript) in subscripts.iter().enumerate() {
            if !subscript.mentions(index) {
                continue;
            }
            if place.is_some() {
                return None;
            }
            let by = match &subscript.kind {
                ExprKind::Name(_) => 0,
                ExprKind::Binary(BinaryOp::Add, left, right) if matches!(left.kind, ExprKind::Name(_)) => {
                    literal(right)?
                }
                ExprKind::Binary(BinaryOp::Sub, left, right) if matches!(left.kind, ExprKind::Name(_)) => {
                    -literal(right)?
                }
                ExprKind::Binary(BinaryOp::Add, left, right) if matches!(right.kind, ExprKind::Name(_)) => {
                    literal(left)?
                }
                _ => return None,
            };
            self.reach = self.reach.max(by.checked_abs().filter(|by| *by <= 16)?);
            place = Some(at);
        }
        self.arrays.insert(name.clone(), ctype.clone());
        if subscripts.len() == ctype.depth() {
            match self.places.get(name) {
                None => {
                    self.places.insert(name.clone(), place);
                }
                Some(other) if *other == place => {}
                Some(_) => return None,
            }
        }
        Some(())
    }

    /// Whether the rest of a step touches no array, and leaves the loop by its end alone: what it reaches through pointers.
    fn rest(&self, rest: &[&Stmt], found: &Found<'_>) -> Option<Vec<(String, bool)>> {
        let mut reached: BTreeMap<String, bool> = BTreeMap::new();
        let mut fails = false;
        let moved: HashSet<String> = assigned(found.body).1;
        for stmt in rest {
            stmt.walk(&mut |part| {
                fails |= match &part.kind {
                    StmtKind::Return(_) => true,
                    StmtKind::Other(kind, _) => !kind.starts_with("break") && !kind.starts_with("continue"),
                    StmtKind::Declaration(list) => list.iter().any(|one| {
                        matches!(one.ctype, CType::Array(..) | CType::Other(_)) && one.value.is_some()
                    }),
                    _ => false,
                };
            });
        }
        let mut look = |part: &Expr| match &part.kind {
            ExprKind::Index(..) | ExprKind::Member(..) | ExprKind::Turn { .. } | ExprKind::List(_) => {
                fails = true
            }
            ExprKind::Unary(UnaryOp::Address, _) => fails = true,
            ExprKind::Unary(UnaryOp::Dereference, at) => {
                match &at.kind {
                    ExprKind::Name(name)
                        if !moved.contains(name)
                            && self.own.variables.get(name).is_some_and(
                                |one| matches!(&one.ctype, CType::Pointer(to) if is_plain(to)),
                            ) =>
                    {
                        reached.entry(name.clone()).or_default();
                    }
                    _ => fails = true,
                }
            }
            ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => match &target.kind {
                ExprKind::Name(_) => {}
                ExprKind::Unary(UnaryOp::Dereference, at) => match &at.kind {
                    ExprKind::Name(name) => {
                        reached.insert(name.clone(), true);
                    }
                    _ => fails = true,
                },
                _ => fails = true,
            },
            ExprKind::Call(function, arguments) => {
                let plain = match &function.kind {
                    ExprKind::Name(name) => {
                        name == "printf"
                            || name == "puts"
                            || name == "putchar"
                            || name == "omp_get_wtime"
                            || name == "clock"
                            || name == "finite"
                            || names::only_reads(self.region, part)
                    }
                    _ => false,
                };
                let own = matches!(&function.kind, ExprKind::Name(name) if self.region.functions.contains_key(name) || self.region.variables.contains_key(name));
                let numbers = arguments.iter().all(|argument| self.is_value(argument));
                fails |= !plain || own || !numbers;
            }
            ExprKind::Other(kind, _) => {
                fails |= !kind.ends_with("string")
                    && !kind.ends_with("string literal")
                    && kind != "sizeof expression"
            }
            _ => {}
        };
        for stmt in rest {
            stmt.walk_expressions(&mut look);
        }
        for expr in head(found) {
            expr.walk(&mut look);
        }
        // What pointers may reach is no scalar of the step.
        let addressed = moved.iter().any(|name| self.region.addressed.contains(name));
        (!fails && !addressed).then(|| reached.into_iter().collect())
    }

    /// Whether an argument is a number, or a text that the program's own file holds.
    fn is_value(&self, argument: &Expr) -> bool {
        let mut plain = true;
        argument.walk(&mut |part| {
            if let ExprKind::Name(name) = &part.kind {
                plain &= match self.region.variables.get(name) {
                    Some(one) => is_plain(&one.ctype),
                    None => {
                        self.region.numbers.contains(name)
                            || crate::nest::math::is_pure(name)
                            || matches!(name.as_str(), "omp_get_wtime" | "clock" | "finite")
                    }
                };
            }
        });
        plain
    }
}

/// Whether loops may be computed in any order, and by vectors: what they read of what they assign is the very element, and there are no
/// conditions around assignments, or bounds that depend on other indices.
fn in_any_order(stmt: &Stmt) -> bool {
    let mut targets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut plain = true;
    stmt.walk_expressions(&mut |part| {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &part.kind
            && let Some(name) = array_of(target)
        {
            targets.entry(name).or_default().insert(key(target));
        }
    });
    plain &= targets.values().all(|own| own.len() == 1);
    stmt.walk_expressions(&mut |part| {
        if let ExprKind::Index(..) = &part.kind
            && let Some(own) = array_of(part).and_then(|name| targets.get(&name))
        {
            // Of `a[i][j]`, `a[i]` is a part.
            let written = key(part);
            plain &= own.iter().all(|other| other.starts_with(&written));
        }
    });
    stmt.walk(&mut |part| {
        plain &= !matches!(
            part.kind,
            StmtKind::If(..) | StmtKind::While(_) | StmtKind::Return(_) | StmtKind::Other(..)
        )
    });
    plain
}

/// Whether what a statement reads of all that the loops assign is an element that it has assigned itself.
fn reads_what_it_assigned(stmt: &Stmt, written: &HashSet<String>) -> bool {
    let mut done = HashSet::new();
    let mut plain = true;
    stmt.walk_expressions(&mut |part| {
        if let ExprKind::Assign(None, target, _) = &part.kind
            && array_of(target).is_some()
        {
            done.insert(key(target));
        }
        if let ExprKind::Index(..) = &part.kind
            && array_of(part).is_some_and(|name| written.contains(&name))
        {
            // An assignment is visited before what stands in it.
            let own = key(part);
            plain &= done.iter().any(|other| other.starts_with(&own));
        }
        plain &= !matches!(&part.kind, ExprKind::Assign(Some(_), target, _) | ExprKind::Step(_, target) if array_of(target).is_some());
    });
    // `a[i] = a[i] + 1` reads what was there.
    stmt.walk_expressions(&mut |part| {
        if let ExprKind::Assign(None, target, value) = &part.kind
            && array_of(target).is_some()
        {
            let own = key(target);
            value.walk(&mut |inner| plain &= !matches!(inner.kind, ExprKind::Index(..)) || key(inner) != own);
        }
    });
    plain
}

/// How many steps are left, the next one included, where a comparison in the head of the loop says so: no more than a guess.
fn left(region: &Region, found: &Found<'_>) -> Option<String> {
    let mut open = match found.source {
        Loop::For(source) => vec![source.condition.as_ref()?],
        Loop::While(source) => vec![&source.condition],
    };
    let number = |expr: &Expr| match &expr.kind {
        ExprKind::Name(name) => {
            region.variables.get(name).is_some_and(|one| matches!(one.ctype, CType::Integer { .. }))
        }
        ExprKind::Integer { .. } => true,
        _ => false,
    };
    let moved = assigned(found.body).1;
    let head = match found.source {
        Loop::For(source) => source.index().map(str::to_owned),
        Loop::While(_) => None,
    };
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => open.extend([&**left, &**right]),
            ExprKind::Binary(operator @ (BinaryOp::Less | BinaryOp::LessEqual), left, right)
                if number(left) && number(right) =>
            {
                let ExprKind::Name(name) = &left.kind else { continue };
                if moved.contains(name) || head.as_ref() == Some(name) {
                    let more = if *operator == BinaryOp::LessEqual { " + 1" } else { "" };
                    return Some(format!("(double)({}) - (double)({name}){more}", plain_text(right)));
                }
            }
            _ => {}
        }
    }
    None
}
