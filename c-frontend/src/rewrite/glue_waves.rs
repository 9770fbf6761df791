//! What the template of steps that run ahead needs.

use crate::nest::{WaveArray, WaveLoop, Waves};
use serde::Serialize;

/// Arrays, numbers and loops of a step, as C.
#[derive(Debug, Clone, Serialize)]
pub(super) struct WaveTexts {
    array_count: usize,
    loop_count: usize,
    arrays: Vec<Declared>,
    numbers: Vec<Number>,
    results: Vec<Left>,
    loops: Vec<Rows>,
    reach: i64,
    fresh: bool,
    element: &'static str,
    /// Whether it is asked whether the arrays lie apart.
    asks: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Declared {
    name: String,
    declared: String,
    /// The first array that has the same type.
    shape: usize,
    written: bool,
}

/// A scalar that loops leave, and whether they go on with what they find in it.
#[derive(Debug, Clone, Serialize)]
struct Left {
    name: String,
    c_type: String,
    carried: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Number {
    name: String,
    c_type: String,
    /// Whether it may be an extent.
    whole: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Leaves {
    number: usize,
    name: String,
    c_type: String,
}

/// The rows of loops.
#[derive(Debug, Clone, Serialize)]
struct Rows {
    index: String,
    index_type: String,
    low: String,
    high: String,
    indices: Vec<Number>,
    computes: bool,
    computed: String,
    scalars: String,
    keep: String,
    give: String,
    count: String,
    touched: String,
    /// The numbers of the scalars that it leaves, and what these are.
    leaves: Vec<Leaves>,
}

impl WaveTexts {
    pub fn new(waves: &Waves) -> Self {
        let number = |name: &str, c_type: &str| Number {
            name: name.to_owned(),
            c_type: c_type.to_owned(),
            whole: !matches!(c_type, "float" | "double"),
        };
        let numbers = |list: &[(String, String)]| -> Vec<Number> {
            list.iter().map(|(name, c_type)| number(name, c_type)).collect()
        };
        let leaves = |own: &WaveLoop| {
            let left = waves.results.iter().enumerate().filter(|(_, (name, ..))| own.leaves.contains(name));
            left.map(|(number, (name, c_type, _))| Leaves {
                number,
                name: name.clone(),
                c_type: c_type.clone(),
            })
            .collect()
        };
        let rows = |own: &WaveLoop| Rows {
            index: own.index.0.clone(),
            index_type: own.index.1.clone(),
            low: own.low.clone(),
            high: own.high.clone(),
            indices: numbers(&own.indices),
            computes: !own.arrays.is_empty(),
            computed: own.arrays.trim().to_owned(),
            scalars: own.scalars.trim().to_owned(),
            keep: own.keep.trim().to_owned(),
            give: own.give.trim().to_owned(),
            count: own.count.trim().to_owned(),
            touched: own.touched.trim().to_owned(),
            leaves: leaves(own),
        };
        let declared = |own: &WaveArray| Declared {
            name: own.name.clone(),
            declared: own.declared.clone(),
            shape: own.shape,
            written: own.written,
        };
        let left = |(name, c_type, carried): &(String, String, bool)| Left {
            name: name.clone(),
            c_type: c_type.clone(),
            carried: *carried,
        };
        WaveTexts {
            array_count: waves.arrays.len(),
            loop_count: waves.loops.len(),
            arrays: waves.arrays.iter().map(declared).collect(),
            numbers: numbers(&waves.numbers),
            results: waves.results.iter().map(left).collect(),
            loops: waves.loops.iter().map(rows).collect(),
            reach: waves.reach,
            fresh: waves.fresh,
            element: waves.element,
            asks: waves.loops.iter().any(|own| !own.touched.is_empty()),
        }
    }
}
