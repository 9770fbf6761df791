//! Plain enumeration of a plan's points.

#![allow(clippy::unwrap_used)]

use hhc_codegen::KernelPlan;
use hhc_codegen::int_expr::Environment;
use hhc_codegen::plan::{Loop, SIZE_NAMES};
use polyhedral::program::FieldRole;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What was counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Enumerated {
    pub wavefronts: i64,
    pub tiles: i64,
    pub tiles_per_wavefront: i64,
    /// Whether bands are so many that tiles lie at every position that they can have.
    pub all_positions: bool,
    pub sub_tiles: i64,
    pub total_iterations: i64,
    pub full: Option<Full>,
}

/// One full sub-tile.
#[derive(Debug, Clone, Copy, Default)]
pub struct Full {
    pub rows: i64,
    pub iterations: i64,
    pub lane_rounds: i64,
    pub fast_words: i64,
    /// Words in and out, where the window has slid all the way.
    pub words: Option<(i64, i64)>,
}

/// One executed row: statement, time step, box.
type ExecutedRow = (usize, i64, Vec<(i64, i64)>);

/// Host variable, launch, block.
type Tile = (i64, usize, Vec<i64>);

/// The rows of each sub-tile, and whether it is full.
type SubTiles = BTreeMap<Vec<i64>, (bool, Vec<ExecutedRow>)>;

/// Field, slot, place.
type Cell = (usize, usize, Vec<i64>);

/// Counts everything; with `only`, of the launches and rows of one statement.
pub fn enumerate(plan: &KernelPlan, size: &[i64], steps: i64, lanes: i64, only: Option<usize>) -> Enumerated {
    let mut result = launches(plan, size, steps, only);
    let mut rows: BTreeMap<Tile, SubTiles> = BTreeMap::new();
    plan.for_each_row(size, steps, |row| {
        if only.is_some_and(|only| only != row.statement) {
            return;
        }
        let points: i64 = row.bounds.iter().map(|(low, end)| end - low).product();
        result.total_iterations += points;
        let tile = rows.entry((row.outer, row.launch, row.block.to_vec())).or_default();
        let sub_tile = tile.entry(row.sub_tile.to_vec()).or_insert((row.full, Vec::new()));
        sub_tile.1.push((row.statement, row.step, row.bounds.to_vec()));
    })
    .unwrap();
    let reach: i64 = (plan.program.statements.iter().flat_map(|s| &s.reads))
        .map(|read| read.offset[size.len() - 1].abs())
        .max()
        .unwrap_or(0);
    let mut best: Option<Full> = None;
    let innermost = size.len() - 1;
    for sub_tiles in rows.values() {
        for (place, (is_full, full_rows)) in sub_tiles {
            if !is_full || best.is_some_and(|best| best.words.is_some()) {
                continue;
            }
            let mut full = Full::default();
            let (mut low, mut high) = (i64::MAX, i64::MIN);
            for (statement, _, bounds) in full_rows {
                let points: i64 = bounds.iter().map(|(low, end)| end - low).product();
                full.rows += 1;
                full.iterations += points;
                full.lane_rounds += (points + lanes - 1) / lanes;
                full.fast_words += points * (plan.program.statements[*statement].reads.len() as i64 + 1);
                (low, high) = (low.min(bounds[innermost].0), high.max(bounds[innermost].1));
            }
            // The sweep along the innermost dimension, and how much of it is full around this sub-tile.
            let same_sweep =
                |other: &Vec<i64>| other.split_last().map(|(_, r)| r) == place.split_last().map(|(_, r)| r);
            let sweep: Vec<_> = sub_tiles.iter().filter(|(other, _)| same_sweep(other)).collect();
            let here = sweep.iter().position(|(other, _)| *other == place).unwrap();
            let before = sweep[..here].iter().rev().take_while(|(_, (full, _))| *full).count() as i64;
            let after = sweep[here + 1..].iter().take_while(|(_, (full, _))| *full).count() as i64;
            let step = full_rows[0].2[innermost].1 - full_rows[0].2[innermost].0;
            if place.is_empty() || before.min(after) * step >= high - low + 2 * reach {
                let sweep: Vec<_> = sweep.into_iter().map(|(other, (_, rows))| (other, rows)).collect();
                full.words = Some(words(plan, &sweep, place, only.is_none()));
            }
            best = Some(full);
        }
    }
    result.full = best;
    result
}

/// Words that enter and leave in one sub-tile of a sweep. Without `staged`, a block reads everything that it reads.
fn words(
    plan: &KernelPlan,
    sweep: &[(&Vec<i64>, &Vec<ExecutedRow>)],
    place: &[i64],
    staged: bool,
) -> (i64, i64) {
    let program = &plan.program;
    let mut touched = HashSet::new();
    let mut words_in = 0;
    // Of each cell: the steps at which it is written, and whether in this sub-tile.
    let mut written: HashMap<Cell, Vec<(i64, bool)>> = HashMap::new();
    for (sub_tile, rows) in sweep {
        let here = sub_tile.as_slice() == place;
        for (statement, step, bounds) in *rows {
            let statement = &program.statements[*statement];
            let mut writes = Vec::new();
            for_each_point(bounds, &mut |point| {
                for read in &statement.reads {
                    let cell: Vec<i64> = point.iter().zip(&read.offset).map(|(x, o)| x + o).collect();
                    let slot = program.slot_of_level(read.field, step + read.time);
                    if touched.insert((read.field.0, slot, cell)) && here {
                        words_in += 1;
                    }
                }
                let slot = program.slot_of_level(statement.target, step + 1);
                writes.push((statement.target.0, slot, point.to_vec()));
            });
            for cell in writes {
                if staged {
                    touched.insert(cell.clone());
                }
                written.entry(cell).or_default().push((*step, here));
            }
        }
    }
    let mut words_out = 0;
    for ((field, ..), steps) in &written {
        let slots = match program.fields[*field].role {
            FieldRole::State { slots, .. } => slots as i64,
            FieldRole::Coefficient => 1,
        };
        let all: BTreeSet<i64> = steps.iter().map(|(step, _)| *step).collect();
        words_out +=
            steps.iter().filter(|(step, here)| *here && !all.contains(&(step + slots))).count() as i64;
    }
    (words_in, words_out)
}

fn for_each_point(bounds: &[(i64, i64)], visit: &mut dyn FnMut(&[i64])) {
    fn nest(bounds: &[(i64, i64)], point: &mut Vec<i64>, visit: &mut dyn FnMut(&[i64])) {
        let Some(&(low, end)) = bounds.get(point.len()) else { return visit(point) };
        for x in low..end {
            point.push(x);
            nest(bounds, point, visit);
            point.pop();
        }
    }
    nest(bounds, &mut Vec::new(), visit);
}

fn launches(plan: &KernelPlan, size: &[i64], steps: i64, only: Option<usize>) -> Enumerated {
    let mut environment = Environment::new();
    environment.insert("steps", steps);
    for (name, &extent) in SIZE_NAMES.iter().zip(size) {
        environment.insert(name, extent);
    }
    let mut result = Enumerated::default();
    let length = |l: &Loop, environment: &Environment| {
        (l.high.evaluate(environment).unwrap() - l.low.evaluate(environment).unwrap() + 1).max(0)
    };
    let (low, high) =
        (plan.outer.low.evaluate(&environment).unwrap(), plan.outer.high.evaluate(&environment).unwrap());
    result.all_positions = plan.strategy == "naive";
    for outer in low..=high {
        environment.insert(plan.outer.variable, outer);
        for launch in &plan.launches {
            let kernel = &plan.kernels[launch.kernel];
            if launch.when.as_ref().is_some_and(|when| when.evaluate(&environment).unwrap() < 0)
                || only.is_some_and(|only| kernel.instances.iter().all(|instance| instance.statement != only))
            {
                continue;
            }
            let blocks: i64 = kernel.blocks.iter().map(|block| length(block, &environment)).product();
            result.wavefronts += i64::from(blocks > 0);
            result.tiles += blocks;
            result.tiles_per_wavefront = result.tiles_per_wavefront.max(blocks);
            result.sub_tiles =
                kernel.sub_tiles.iter().map(|sub_tile| length(sub_tile, &environment)).product();
        }
    }
    result
}

/// Random programs of one to three dimensions with one or two statements, any reach and any slopes.
pub fn random_program() -> impl Strategy<Value = String> {
    let offset = || (-2i64..=2, -2i64..=2, -2i64..=2);
    let reads = || prop::collection::vec(offset(), 1..5);
    (1usize..=3, reads(), reads(), prop::bool::ANY, prop::bool::ANY).prop_map(
        |(dimension, first, second, two, old)| {
            let indices = &["i", "j", "k"][..dimension];
            let access = |field: &str, time: &str, offset: &(i64, i64, i64)| {
                let offsets = [offset.0, offset.1, offset.2];
                let place: Vec<String> = indices
                    .iter()
                    .zip(offsets)
                    .map(|(index, o)| match o {
                        0 => index.to_string(),
                        1.. => format!("{index}+{o}"),
                        _ => format!("{index}-{}", -o),
                    })
                    .collect();
                format!("{field}[{time}, {}]", place.join(", "))
            };
            let sum = |field: &str, time: &str, reads: &[(i64, i64, i64)]| {
                reads.iter().map(|read| access(field, time, read)).collect::<Vec<_>>().join(" + ")
            };
            let target = |field: &str| access(field, "t+1", &(0, 0, 0));
            let mut text = format!("stencil random(t, {}) {{\n    field u: f32;\n", indices.join(", "));
            if two {
                text += "    field v: f64;\n";
            }
            let older = if old { format!(" + {}", access("u", "t-1", &(0, 0, 0))) } else { String::new() };
            text += &format!("    {} = 0.2 * ({}{older});\n", target("u"), sum("u", "t", &first));
            if two {
                text += &format!(
                    "    {} = 0.1 * ({} + {});\n",
                    target("v"),
                    access("v", "t", &(0, 0, 0)),
                    sum("u", "t+1", &second)
                );
            }
            text + "}\n"
        },
    )
}
