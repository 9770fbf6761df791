//! What entry points and kernels are called with, as the tree.

use super::names::Names;
use super::points::{INT, end};
use c_tree::{Declaration, Dialect, Expr, Function, Record, Sort, Stmt, Type, all, any, int, name, var};
use polyhedral::program::{FieldRole, Program};

/// The arguments of a program.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    pub(super) program: &'a Program,
    pub(super) names: &'a Names,
    /// Whether kernels are given spare slots.
    pub(super) spare: bool,
}

/// The name of a field's spare slots.
pub(super) fn spare_name(field: &str) -> String {
    format!("tw_spare_{field}")
}

/// How arrays are given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One after the other without gaps.
    Dense,
    /// With strides, levels of a field at one distance.
    Strided,
    /// With strides, and a pointer for each stored level of a field.
    Levels,
}

/// An array that is given.
pub(super) struct Array<'a> {
    pub(super) name: &'a str,
    /// `float`, `double`
    pub(super) element: &'static str,
    /// Whether it is only read.
    pub(super) constant: bool,
}

impl<'a> Arguments<'a> {
    /// Fields, then series.
    pub(super) fn arrays(self) -> Vec<Array<'a>> {
        let fields = self.program.fields.iter().zip(&self.names.fields).map(|(field, name)| Array {
            name,
            element: field.element.c_name(),
            constant: field.role == FieldRole::Coefficient,
        });
        let series = self.program.series.iter().zip(&self.names.series);
        let series =
            series.map(|(series, name)| Array { name, element: series.element.c_name(), constant: true });
        fields.chain(series).collect()
    }

    /// The fields that have spare slots, by number.
    pub(super) fn spare_fields(self) -> Vec<usize> {
        let fields = self.program.fields.iter().enumerate();
        let changing = fields.filter(|(_, field)| self.spare && field.role != FieldRole::Coefficient);
        changing.map(|(number, _)| number).collect()
    }

    /// `n0`, `n1`, ..
    pub(super) fn sizes(self) -> Vec<String> {
        (0..self.program.dimension()).map(|d| format!("n{d}")).collect()
    }

    /// `stride0`, ..: of all dimensions but the innermost.
    pub(super) fn strides(self) -> Vec<String> {
        (0..self.program.dimension() - 1).map(|d| format!("stride{d}")).collect()
    }

    /// Sizes, strides, the distance of levels, and steps.
    pub(super) fn integers(self) -> Vec<String> {
        let last = ["level_stride", "steps"].map(str::to_string);
        self.sizes().into_iter().chain(self.strides()).chain(last).collect()
    }

    /// The strides of a dense array.
    pub(super) fn dense_strides(self) -> Vec<Expr> {
        let sizes = self.sizes();
        (1..sizes.len()).map(|d| product(&sizes[d..])).collect()
    }

    /// The points of the grid.
    pub(super) fn points(self) -> Expr {
        product(&self.sizes())
    }

    /// The points of the grid, or more than there may be.
    pub(super) fn points_at_most(self) -> Expr {
        let sizes = self.sizes().into_iter().rev().map(var);
        let times = |inner, outer| Expr::call("tw_times", [outer, inner], Sort::Integer);
        sizes.reduce(times).unwrap_or(int(1))
    }

    /// Whether some field has several slots, so that their distance matters.
    pub(super) fn has_slots(self) -> bool {
        self.program.fields.iter().any(|field| matches!(field.role, FieldRole::State { slots: 2.., .. }))
    }

    /// Whether nothing is computed on the grid; `None` where something is on each.
    pub(super) fn too_small(self) -> Option<Expr> {
        let least = self.program.least_size.iter().enumerate().filter(|(_, least)| **least > 0);
        least.map(|(d, least)| var(format!("n{d}")).lt(*least)).reduce(Expr::or)
    }

    /// Whether a size or the number of steps is negative.
    pub(super) fn negative(self) -> Expr {
        any(self.sizes().into_iter().chain(["steps".to_string()]).map(|size| var(size).lt(0)))
    }

    /// Whether there is no point.
    pub(super) fn empty(self) -> Expr {
        any(self.sizes().into_iter().map(|size| var(size).is(0)))
    }

    /// Declares the arguments of an entry point.
    pub(super) fn declare(self, function: Function, form: Form) -> Function {
        let arrays = self.arrays().into_iter().enumerate().map(|(number, array)| {
            let field = self.program.fields.get(number).map(|field| field.role);
            let kind = match (form, field) {
                (Form::Levels, Some(FieldRole::State { slots: 2.., .. })) => {
                    Type::new(format!("{} *const", array.element))
                }
                _ if array.constant => Type::new(array.element).constant(),
                _ => Type::new(array.element),
            };
            (kind.pointer(), array.name.to_string())
        });
        let steps = || ["steps".to_string()];
        let integers = match form {
            Form::Dense => self.sizes().into_iter().chain(steps()).collect(),
            Form::Strided => self.integers(),
            Form::Levels => self.sizes().into_iter().chain(self.strides()).chain(steps()).collect(),
        };
        function
            .parameters(arrays)
            .parameters(integers.into_iter().map(|name| ("ptrdiff_t", name)))
            .parameters(self.names.parameters.iter().map(|name| ("double", name)))
    }

    /// What an entry point passes on.
    pub(super) fn pass(self, strides: impl IntoIterator<Item = Expr>) -> Vec<Expr> {
        let arrays = self.arrays().into_iter().map(|array| name(array.name));
        let sizes = self.sizes().into_iter().map(var);
        let parameters = self.names.parameters.iter().map(name);
        arrays.chain(sizes).chain(strides).chain([var("steps")]).chain(parameters).collect()
    }

    /// `struct tw_grid` with the arguments of dense arrays as members.
    pub(super) fn grid(self, shapes: &[String]) -> String {
        let arrays = self.arrays().into_iter().zip(shapes).map(|(array, shape)| {
            Stmt::uninitialised(Type::new(array.element).pointer(), array.name).note(shape.as_str())
        });
        let integers = self.integers().into_iter();
        let integers = Stmt::Declare(integers.map(|name| Declaration::plain(INT, name)).collect());
        let parameters = self.names.parameters.iter().map(|name| Stmt::uninitialised("double", name));
        let members = arrays.chain([integers]).chain(parameters).collect();
        Record { comment: None, name: "tw_grid".to_string(), members }.print(Dialect::C)
    }

    /// The points of a domain of the statements of a field, as a condition on a point.
    pub(super) fn inside(self, statement: usize, point: &[Expr]) -> Expr {
        let domain = self.program.statements[statement].domain.iter().zip(point).enumerate();
        all(domain.map(|(d, (interval, index))| {
            let extent = || var(format!("n{d}"));
            index.clone().ge(end(interval.low, extent())).and(index.clone().lt(end(interval.high, extent())))
        }))
    }
}

fn product(sizes: &[String]) -> Expr {
    sizes.iter().map(var).reduce(|all, size| all * size).unwrap_or(int(1))
}
