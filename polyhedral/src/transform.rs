//! Changes of whole programs.

use crate::program::{ElementType, Expr, ExprKind, Program};
use crate::source::SourceFile;
use std::sync::Arc;

impl Program {
    /// The same program with all fields, and so all operations, of one type. Conversions disappear.
    ///
    /// A literal or default value beyond the range of f32 becomes infinite where it is rounded.
    pub fn with_element_type(mut self, element: ElementType) -> Program {
        for field in &mut self.fields {
            field.element = element;
        }
        for series in &mut self.series {
            series.element = element;
        }
        self.each_expression(|expr| {
            while let ExprKind::Cast(operand) = &mut expr.kind {
                let hole = Expr { kind: ExprKind::Literal(0.0), element, span: 0..0 };
                *expr = std::mem::replace(&mut **operand, hole);
            }
            expr.element = element;
        });
        self
    }

    /// The same program without places and source text, for comparisons.
    pub fn without_spans(mut self) -> Program {
        self.source = Arc::new(SourceFile { name: String::new(), text: String::new() });
        for field in &mut self.fields {
            field.span = 0..0;
        }
        for series in &mut self.series {
            series.span = 0..0;
        }
        for parameter in &mut self.parameters {
            parameter.span = 0..0;
        }
        for statement in &mut self.statements {
            statement.span = 0..0;
        }
        self.each_expression(|expr| expr.span = 0..0);
        self
    }

    fn each_expression(&mut self, mut visit: impl FnMut(&mut Expr)) {
        for statement in &mut self.statements {
            for local in &mut statement.locals {
                local.value.walk_mut(&mut visit);
            }
            statement.value.walk_mut(&mut visit);
        }
    }
}
