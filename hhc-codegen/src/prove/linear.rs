//! Roundings, remainders, minima and maxima as variables of their own, so that isl reads sums alone.

use crate::int_expr::IntExpr;

/// Variables with the constraints that define them: each has exactly one value.
///
/// ```text
/// q = floor(a/d)    d*q <= a <= d*q + d - 1
/// q = min(a, b)     q = a <= b or q = b < a
/// ```
#[derive(Default)]
pub(super) struct Linear {
    of: Vec<IntExpr>,
    /// Their names, in order of definition.
    pub names: Vec<String>,
    /// What defines them.
    pub constraints: Vec<String>,
}

impl Linear {
    /// isl's text of an expression, over the variables besides its own.
    pub fn text(&mut self, expr: &IntExpr) -> String {
        match expr {
            IntExpr::Const(_) | IntExpr::Var(_) => expr.to_isl(),
            IntExpr::Add(a, b) => format!("({} + {})", self.text(a), self.text(b)),
            IntExpr::Sub(a, b) => format!("({} - {})", self.text(a), self.text(b)),
            IntExpr::Scale(factor, a) => format!("{factor}*({})", self.text(a)),
            IntExpr::Modulo(a, divisor) => {
                let floor = self.text(&IntExpr::FloorDiv(a.clone(), *divisor));
                format!("({} - {divisor}*{floor})", self.text(a))
            }
            IntExpr::FloorDiv(a, divisor) => {
                let (a, most) = (self.text(a), divisor - 1);
                self.variable(expr, &|q| format!("{divisor}*{q} <= {a} <= {divisor}*{q} + {most}"))
            }
            IntExpr::Min(a, b) => {
                let (a, b) = (self.text(a), self.text(b));
                self.variable(expr, &|q| format!("({q} = {a} and {a} <= {b}) or ({q} = {b} and {b} < {a})"))
            }
            IntExpr::Max(a, b) => {
                let (a, b) = (self.text(a), self.text(b));
                self.variable(expr, &|q| format!("({q} = {a} and {a} >= {b}) or ({q} = {b} and {b} > {a})"))
            }
        }
    }

    fn variable(&mut self, expr: &IntExpr, definition: &dyn Fn(&str) -> String) -> String {
        if let Some(known) = self.of.iter().position(|own| own == expr) {
            return self.names[known].clone();
        }
        let name = format!("helper{}", self.names.len());
        self.constraints.push(definition(&name));
        self.of.push(expr.clone());
        self.names.push(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::int_expr::var;

    #[test]
    fn an_expression_is_defined_once() {
        let mut linear = Linear::default();
        let half = var("n").floor_div(2);
        let text = linear.text(&(half.clone().min(var("m")) - half * 3));
        assert_eq!(text, "(helper1 - 3*(helper0))");
        let minimum = "(helper1 = helper0 and helper0 <= m) or (helper1 = m and m < helper0)";
        assert_eq!(linear.constraints, ["2*helper0 <= n <= 2*helper0 + 1", minimum]);
    }

    #[test]
    fn a_remainder_is_what_the_rounding_leaves() {
        let mut linear = Linear::default();
        assert_eq!(linear.text(&(var("n") + 1).modulo(3)), "((n + 1) - 3*helper0)");
        assert_eq!(linear.constraints, ["3*helper0 <= (n + 1) <= 3*helper0 + 2"]);
    }
}
