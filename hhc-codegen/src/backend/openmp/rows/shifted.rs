//! Blocks of one vector of several rows in explicit vectors: those that several rows read stay in registers, and farther neighbours along the
//! row are shifted out of whole ones.

use super::Update;
use crate::backend::expression::Values;
use crate::backend::points::moved;
use crate::geometry::{keeps_rows, shifted_from};
use c_tree::{Block, Dialect, Expr, Function, Stmt, call, int, name, var};
use polyhedral::program::{Access, ElementType, Statement};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Where a vector lies: its plane, and the offset of its first point.
type Place = (String, Vec<i64>);

/// Vectors that are named once, and those that are to stay in registers.
#[derive(Default)]
struct Vectors {
    names: BTreeMap<Place, String>,
    kept: BTreeSet<Place>,
    declarations: Block,
}

impl Vectors {
    fn named(&mut self, kind: &str, place: Place, value: impl FnOnce(&mut Self) -> Expr) -> Expr {
        if let Some(known) = self.names.get(&place) {
            return name(known);
        }
        let value = value(self);
        let own = format!("tw_lanes{}", self.names.len());
        if self.kept.contains(&place) {
            self.declarations.push(Stmt::declare(kind, own.clone(), value));
            self.declarations.push(Stmt::call("TW_KEEP", [name(&own)]));
        } else {
            self.declarations.push(Stmt::constant(kind, own.clone(), value));
        }
        self.names.insert(place, own.clone());
        name(own)
    }
}

impl Update<'_> {
    /// The name of the function for so many rows; `None` where the loads of [`Update::block`] are as good.
    pub(super) fn shifted_name(&self, rows: usize) -> Option<String> {
        self.shifted_from(rows).map(|_| format!("{}_shifted", self.row_name(rows)))
    }

    fn shifted_from(&self, rows: usize) -> Option<i64> {
        shifted_from(self.program, self.alone()?, rows)
    }

    /// The statement, where it is the only one and rows of it are whole blocks.
    fn alone(&self) -> Option<&Statement> {
        match &self.statements[..] {
            &[alone] if self.in_blocks() => Some(&self.program.statements[alone]),
            _ => None,
        }
    }

    /// The name of the function of kept vectors for so many rows; `None` where that gains nothing.
    pub(super) fn kept_name(&self, rows: usize) -> Option<String> {
        keeps_rows(self.program, self.alone()?, rows).then(|| format!("{}_kept", self.row_name(rows)))
    }

    /// What [`Update::block`] does at one whole vector of points. Compilers read a row again for each row that needs it; here vectors
    /// that several of the rows read stay in registers.
    pub(super) fn kept(&self, rows: usize) -> Option<String> {
        let own = self.kept_name(rows)?;
        let statement = &self.program.statements[self.statements[0]];
        let mut readers: BTreeMap<Place, usize> = BTreeMap::new();
        for (copy, read) in (0..rows).flat_map(|copy| statement.reads.iter().map(move |read| (copy, read))) {
            *readers.entry(self.place_of(read, copy)).or_default() += 1;
        }
        let shared = readers.into_iter().filter(|(_, readers)| *readers > 1).map(|(place, _)| place);
        let body = self.in_vectors(rows, None, shared.collect());
        let function = self.inner(own.clone()).body(body).comment(
            "The same at one vector of points; vectors that several of the rows read stay in registers"
                .to_owned(),
        );
        Some(self.or_block("TW_KEPT", &own, &function, rows))
    }

    /// What [`Update::block`] does at one whole vector of points, if the one before it and the one behind it are points of
    /// the row, too: of both, parts are read that nobody needs.
    pub(super) fn shifted(&self, rows: usize) -> Option<String> {
        let (from, own) = (self.shifted_from(rows)?, self.shifted_name(rows)?);
        let body = self.in_vectors(rows, Some(from), BTreeSet::new());
        let function = self.inner(own.clone()).body(body).comment(format!(
            "The same at one vector of points; neighbours {from} and more points away are shifted out of whole vectors, \
             of which parts beside first <= x < last are read and not used"
        ));
        Some(self.or_block("TW_SHIFTS", &own, &function, rows))
    }

    /// A function of this name where a macro says so, elsewhere another name of the loop over the block.
    fn or_block(&self, wanted: &str, own: &str, function: &Function, rows: usize) -> String {
        let block = format!("{}_block", self.row_name(rows));
        format!("#if {wanted}\n{}#else\n#define {own} {block}\n#endif\n", function.print(Dialect::C))
    }

    /// Where a copy of the statement, so many rows further, reads.
    fn place_of(&self, read: &Access, copy: usize) -> Place {
        let mut offset = read.offset.clone();
        offset[0] += copy as i64;
        (self.names.plane(self.program, read), offset)
    }

    /// One vector of each row, whose neighbours from a distance on are shifted out of whole vectors. Where none are, each row's own are
    /// read right before it and its values stored behind it, so that few are alive at a time.
    fn in_vectors(&self, rows: usize, from: Option<i64>, kept: BTreeSet<Place>) -> Block {
        let program = self.program;
        let statement = self.statements[0];
        let element = program.field(program.statements[statement].target).element;
        let (kind, suffix) = match element {
            ElementType::F32 => ("tw_lanes_f32", "F32"),
            _ => ("tw_lanes_f64", "F64"),
        };
        // Of vectors that are shifted.
        let width = 64 / element.bytes() as i64;
        let vectors = RefCell::new(Vectors { kept, ..Vectors::default() });
        let load = |vectors: &mut Vectors, (plane, offset): Place| {
            let place = name(&plane) + moved(var("first"), &offset);
            let value = call(format!("TW_LANES_{suffix}"), [place]);
            vectors.named(kind, (plane, offset), |_| value)
        };
        let (mut points, mut values, mut stores) = (Block::new(), Block::new(), Block::new());
        for copy in 0..rows {
            let read = |access: &Access| {
                let vectors: &mut Vectors = &mut vectors.borrow_mut();
                let (plane, offset) = self.place_of(access, copy);
                let last = offset.len() - 1;
                let far = offset[last];
                if from.is_none_or(|from| far.abs() < from) || far % width == 0 {
                    return load(vectors, (plane, offset));
                }
                vectors.named(kind, (plane.clone(), offset.clone()), |vectors| {
                    let mut whole = |place: i64| {
                        let mut offset = offset.clone();
                        offset[last] = place;
                        load(vectors, (plane.clone(), offset))
                    };
                    let skipped = far.rem_euclid(width);
                    let low = far - skipped;
                    let both = [whole(low), whole(low + width), int(skipped)];
                    call(format!("TW_SHIFTED_{suffix}"), both)
                })
            };
            // There are no conditions, which ask for it.
            let index = |_| int(0);
            let values_of = Values {
                program,
                names: self.names,
                statement,
                copy: Some(copy),
                locals: None,
                read: &read,
                index: &index,
            };
            let value = values_of.value();
            points.extend(std::mem::take(&mut vectors.borrow_mut().declarations));
            let mut offset = vec![0; self.dimension()];
            offset[0] = copy as i64;
            let place = name(&self.targets[0]) + moved(var("first"), &offset);
            let target = call(format!("TW_LANES_TO_{suffix}"), [place]);
            if from.is_none() {
                points.push(Stmt::assign(target, value));
            } else {
                let own = format!("tw_value{copy}");
                values.push(Stmt::constant(kind, &own, value));
                stores.push(Stmt::assign(target, name(own)));
            }
        }
        points.extend(values);
        points.extend(stores);
        let unused = self.strides().filter(|stride| !points.mentions(stride));
        let mut body: Block = unused.chain(["last".to_owned()]).map(Stmt::unused).collect();
        body.extend(points);
        body
    }
}
