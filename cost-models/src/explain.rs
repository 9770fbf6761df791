//! What a model says about a cost beside its value: where it comes from, what is lost, and what would change it (paper,
//! chapter 6: "bottleneckology").

use serde::Serialize;

/// A quantity in a formula.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Number {
    /// Its symbol in the formula.
    pub symbol: String,
    /// Its value.
    pub value: f64,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
}

/// One term of a time or an energy, with the formula that it is the value of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// Name of the term: `compute`, `transfer`, `barrier`, `launch` of the time; `global`, `shared`, `iterations`, `barriers`,
    /// `launches`, `fixed` of the energy.
    pub name: &'static str,
    /// Which of the kernels that are launched on their own it is of, from 0.
    pub kernel: usize,
    /// The formula: numbers and symbols, `+ - * /`, parentheses, `ceil(x)`.
    pub formula: String,
    /// What its symbols are.
    pub numbers: Vec<Number>,
    /// Its value.
    pub value: f64,
    /// Unit of the value: `s` or `J`.
    pub unit: &'static str,
    /// Share of the whole time or energy.
    pub share: f64,
}

impl Part {
    /// A part; its share is not known yet.
    pub(crate) fn new(
        (name, kernel, unit): (&'static str, usize, &'static str),
        formula: impl Into<String>,
        numbers: &[(&str, f64, &'static str)],
        value: f64,
    ) -> Part {
        let number = |&(symbol, value, unit): &(&str, f64, &'static str)| Number {
            symbol: symbol.to_owned(),
            value,
            unit,
        };
        let numbers = numbers.iter().map(number).collect();
        Part { name, kernel, formula: formula.into(), numbers, value, unit, share: 0.0 }
    }

    /// The part of the energy that flows whatever happens.
    pub(crate) fn fixed(static_w: f64, seconds: f64) -> Part {
        let numbers = [("P_static", static_w, "W"), ("T", seconds, "s")];
        Part::new(("fixed", 0, "J"), "P_static * T", &numbers, static_w * seconds)
    }

    /// Fills in shares: of the parts of one unit together.
    pub(crate) fn share_out(parts: &mut [Part]) {
        for unit in ["s", "J"] {
            let sum: f64 = parts.iter().filter(|part| part.unit == unit).map(|part| part.value).sum();
            for part in parts.iter_mut().filter(|part| part.unit == unit && sum > 0.0) {
                part.share = part.value / sum;
            }
        }
    }
}

/// Time lost to one cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loss {
    /// On a GPU `partial_tiles`, `lanes`, `wavefronts`, `overlap` (negative: iterations that run behind transfers),
    /// `transfer`, `barrier`, `launch`; on a CPU `rows`, `transfer`, `barrier`, `launch`.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Seconds.
    pub seconds: f64,
    /// Share of the whole time.
    pub share: f64,
}

/// What a change of one constant or of the machine does to the time, the tile staying the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// Name: of a GPU `c_iter_s`, `l_s_per_word`, `tau_sync_s`, `t_sync_s`, `n_sm`, `n_v`; of a CPU `c_iter_s`,
    /// `memory_line_s`, `call_s`, `t_sync_s`, `cores`.
    pub parameter: &'static str,
    /// Its value.
    pub value: f64,
    /// `dT/dp` in seconds per unit: of constants by a central difference of one per cent; of counts the change that
    /// one unit more makes.
    pub derivative: f64,
    /// `dT/dp * p/T`: per cent of time per per cent of the parameter.
    pub elasticity: f64,
}

/// A constant or a count of a machine that a model of type `M` depends on.
#[derive(Debug, Clone, Copy)]
pub struct Parameter<M> {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// How it is changed.
    pub change: Change<M>,
}

/// How a model gets another value of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum Change<M> {
    /// A constant: the model with it so many times as large.
    Times(fn(&M, f64) -> M),
    /// A count: the model with one more.
    OneMore(fn(&M) -> M),
}

/// All of it, of one tile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The largest term of the time.
    pub bottleneck: &'static str,
    /// `T_ideal`: the time on a machine without overheads (paper, eq. 6.3).
    pub ideal_s: f64,
    /// `T_alg - T_ideal` (paper, eq. 6.4), which the losses add up to.
    pub overhead_s: f64,
    /// The terms of time and energy, each with its formula and the numbers in it.
    pub breakdown: Vec<Part>,
    /// What lies between the ideal time and the predicted one.
    pub losses: Vec<Loss>,
    /// How the time reacts to each constant and to the machine.
    pub sensitivities: Vec<Sensitivity>,
}
