//! Blocks of one vector of several rows, whose farther neighbours along the row are shifted out of whole vectors.

use super::Update;
use crate::backend::expression::Values;
use crate::backend::points::moved;
use crate::geometry::shifted_from;
use c_tree::{Block, Dialect, Expr, Stmt, call, int, name, var};
use polyhedral::program::{Access, ElementType};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Where a vector lies: its plane, and the offset of its first point.
type Place = (String, Vec<i64>);

/// Vectors that are named once.
#[derive(Default)]
struct Vectors {
    names: BTreeMap<Place, String>,
    declarations: Block,
}

impl Vectors {
    fn named(&mut self, kind: &str, place: Place, value: impl FnOnce(&mut Self) -> Expr) -> Expr {
        if let Some(known) = self.names.get(&place) {
            return name(known);
        }
        let value = value(self);
        let own = format!("tw_lanes{}", self.names.len());
        self.names.insert(place, own.clone());
        self.declarations.push(Stmt::constant(kind, own.clone(), value));
        name(own)
    }
}

impl Update<'_> {
    /// The name of the function for so many rows; `None` where the loads of [`Update::block`] are as good.
    pub(super) fn shifted_name(&self, rows: usize) -> Option<String> {
        self.shifted_from(rows).map(|_| format!("{}_shifted", self.row_name(rows)))
    }

    fn shifted_from(&self, rows: usize) -> Option<i64> {
        match &self.statements[..] {
            &[alone] if !self.in_place => shifted_from(self.program, &self.program.statements[alone], rows),
            _ => None,
        }
    }

    /// What [`Update::block`] does at one whole vector of points, if the one before it and the one behind it are points of
    /// the row, too: of both, parts are read that nobody needs.
    pub(super) fn shifted(&self, rows: usize) -> Option<String> {
        let (from, own) = (self.shifted_from(rows)?, self.shifted_name(rows)?);
        let program = self.program;
        let statement = self.statements[0];
        let element = program.field(program.statements[statement].target).element;
        let (kind, suffix) = match element {
            ElementType::F32 => ("tw_lanes_f32", "F32"),
            _ => ("tw_lanes_f64", "F64"),
        };
        let width = 64 / element.bytes() as i64;
        let vectors = RefCell::new(Vectors::default());
        let load = |vectors: &mut Vectors, plane: &str, offset: &[i64]| {
            let place = name(plane) + moved(var("first"), offset);
            let value = call(format!("TW_LANES_{suffix}"), [place]);
            vectors.named(kind, (plane.to_owned(), offset.to_vec()), |_| value)
        };
        let mut values = Vec::new();
        for copy in 0..rows {
            let read = |access: &Access| {
                let vectors: &mut Vectors = &mut vectors.borrow_mut();
                let plane = self.names.plane(program, access);
                let mut offset = access.offset.clone();
                offset[0] += copy as i64;
                let last = offset.len() - 1;
                let far = offset[last];
                if far.abs() < from {
                    return load(vectors, &plane, &offset);
                }
                vectors.named(kind, (plane.clone(), offset.clone()), |vectors| {
                    let mut whole = |place: i64| {
                        let mut offset = offset.clone();
                        offset[last] = place;
                        load(vectors, &plane, &offset)
                    };
                    let (low, skipped) = if far < 0 { (-width, width + far) } else { (0, far) };
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
            values.push(values_of.value());
        }
        let mut points = vectors.into_inner().declarations;
        for (copy, value) in values.into_iter().enumerate() {
            points.push(Stmt::constant(kind, format!("tw_value{copy}"), value));
        }
        for copy in 0..rows {
            let mut offset = vec![0; self.dimension()];
            offset[0] = copy as i64;
            let place = name(&self.targets[0]) + moved(var("first"), &offset);
            let target = call(format!("TW_LANES_TO_{suffix}"), [place]);
            points.push(Stmt::assign(target, name(format!("tw_value{copy}"))));
        }
        let unused = self.strides().filter(|stride| !points.mentions(stride));
        let mut body: Block = unused.chain(["last".to_owned()]).map(Stmt::unused).collect();
        body.extend(points);
        let function = self.inner(own.clone()).body(body).comment(format!(
            "The same at one vector of points; neighbours {from} and more points away are shifted out of whole vectors, \
             of which parts beside first <= x < last are read and not used"
        ));
        let block = format!("{}_block", self.row_name(rows));
        Some(format!("#if TW_SHIFTS\n{}#else\n#define {own} {block}\n#endif\n", function.print(Dialect::C)))
    }
}
