//! Scalars that the loop computes: followed from assignment to use.

use crate::ast::{CType, Expr, ExprKind, Floating, Stmt, StmtKind, UnaryOp};
use crate::integer::IntType;
use crate::polynomial::Polynomial;
use polyhedral::program::ElementType;
use polyhedral::source::Span;
use std::collections::{BTreeMap, HashSet};

/// What a scalar of the loop holds at a point of the program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Held {
    /// Nothing yet.
    Nothing(Kind),
    /// The value of a temporary.
    Temporary(usize, Floating),
    /// An integer, as a polynomial where it is one, and as it was computed.
    Integer(Option<Polynomial>, Expr),
    /// An integer of the data: a temporary with its floating-point type, the integer type, and the range of its values.
    Whole { id: usize, element: ElementType, own: IntType, low: i128, high: i128 },
    /// A value of another iteration, assigned at this place.
    Carried(Kind, Span),
}

/// Integer or floating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Floating(Floating),
}

impl Kind {
    pub fn is_integer(self) -> bool {
        self == Kind::Integer
    }

    /// The type in which two operands are combined.
    pub fn common(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Integer, other) => other,
            (other, Kind::Integer) => other,
            (Kind::Floating(a), Kind::Floating(b)) => Kind::Floating(a.max(b)),
        }
    }
}

/// The scalars of the loop, and the elements of arrays that the present iteration has assigned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    scalars: BTreeMap<String, Held>,
    /// The types of those that the loop declares.
    types: BTreeMap<String, CType>,
    /// Array, indices, and the temporary with the value.
    pub elements: Vec<(String, Vec<Polynomial>, usize)>,
}

impl Environment {
    pub fn get(&self, name: &str) -> Option<&Held> {
        self.scalars.get(name)
    }

    pub fn set(&mut self, name: &str, held: Held) {
        self.scalars.insert(name.to_owned(), held);
    }

    /// Notes the type of a scalar that the loop declares.
    pub fn set_type(&mut self, name: &str, ctype: CType) {
        self.types.insert(name.to_owned(), ctype);
    }

    /// The type that the loop declares a scalar with.
    pub fn ctype(&self, name: &str) -> Option<&CType> {
        self.types.get(name)
    }

    pub fn forget(&mut self, name: &str) {
        self.scalars.remove(name);
    }

    pub fn names(&self) -> Vec<String> {
        self.scalars.keys().cloned().collect()
    }

    /// Restores what names meant before a block declared them.
    pub fn leave(&mut self, before: &Environment, declared: &[String]) {
        for name in declared {
            match before.scalars.get(name) {
                Some(held) => self.scalars.insert(name.clone(), held.clone()),
                None => self.scalars.remove(name),
            };
            match before.types.get(name) {
                Some(ctype) => self.types.insert(name.clone(), ctype.clone()),
                None => self.types.remove(name),
            };
        }
    }
}

/// The names of the arrays and of the scalars that a statement assigns; indices of loops are not among them.
pub(crate) fn assigned(body: &Stmt) -> (HashSet<String>, HashSet<String>) {
    let (mut arrays, mut scalars) = (HashSet::new(), HashSet::new());
    body.walk_expressions(&mut |expr| {
        let (ExprKind::Assign(_, target, _) | ExprKind::Step(_, target)) = &expr.kind else { return };
        let mut base = &**target;
        let mut element = false;
        loop {
            base = match &base.kind {
                ExprKind::Index(array, _) => array,
                ExprKind::Unary(UnaryOp::Dereference, pointer) => pointer,
                ExprKind::Member(object, ..) | ExprKind::Cast(_, object) => object,
                ExprKind::Binary(_, pointer, _) if element => pointer,
                _ => break,
            };
            element = true;
        }
        if let ExprKind::Name(name) = &base.kind {
            if element {
                arrays.insert(name.clone())
            } else {
                scalars.insert(name.clone())
            };
        }
    });
    (arrays, scalars)
}

/// The names of the arrays that statements assign.
pub(super) fn assigned_arrays(list: &[Stmt]) -> HashSet<String> {
    list.iter().flat_map(|stmt| assigned(stmt).0).collect()
}

/// Whether a statement has anything to do with a name, its members included.
pub(super) fn mentions(stmt: &Stmt, name: &str) -> bool {
    let mut found = false;
    stmt.walk_expressions(&mut |part| match &part.kind {
        ExprKind::Name(other) => found |= crate::text::array_of(other) == name,
        ExprKind::Other(_, text) => {
            found |= crate::preprocess::words(text).into_iter().any(|word| word == name)
        }
        _ => {}
    });
    stmt.walk(&mut |part| {
        if let StmtKind::Other(_, names) = &part.kind {
            found |= names.iter().any(|other| other == name);
        }
    });
    found
}

/// The names that statements declare.
pub(crate) fn declared(list: &[Stmt]) -> HashSet<String> {
    let mut found = HashSet::new();
    for stmt in list {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Declaration(variables) = &stmt.kind {
                found.extend(variables.iter().map(|variable| variable.name.clone()));
            }
        });
    }
    found
}

/// Where a statement assigns a scalar, for each scalar that it does not declare itself; indices of
/// its loops are left out.
pub(super) fn assigned_within(body: &Stmt) -> Vec<(String, Span)> {
    let mut declared = HashSet::new();
    body.walk(&mut |stmt| match &stmt.kind {
        StmtKind::Declaration(variables) => {
            declared.extend(variables.iter().map(|variable| variable.name.clone()));
        }
        StmtKind::For(source) => {
            if let Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(_, index, _), .. })) =
                source.start.as_ref().map(|start| &start.kind)
                && let ExprKind::Name(name) = &index.kind
            {
                declared.insert(name.clone());
            }
        }
        _ => {}
    });
    let mut list = Vec::new();
    body.walk_expressions(&mut |expr| {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &expr.kind
            && let ExprKind::Name(name) = &target.kind
            && !declared.contains(name)
        {
            list.push((name.clone(), expr.span.clone()));
        }
    });
    list
}
