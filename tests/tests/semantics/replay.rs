//! Executes a plan on memory cells that hold versions instead of values.
//!
//! A cell is a slot of a field at a point; it holds the number of the time level stored last. Rows run in
//! plan order, the blocks of a launch in random order and the points of a row in random direction. Each read
//! must find the level that the program asks for, and two blocks of a launch, or two points of a row, must not
//! touch the same cell if one of them writes it: then every parallel execution gives the sequential result.

use hhc_codegen::KernelPlan;
use hhc_codegen::int_expr::Environment;
use hhc_codegen::plan::{ExecutedRow, Kernel, Range};
use polyhedral::program::{Access, FieldRole, Program};
use std::collections::BTreeMap;

/// What a replay has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Statement instances executed.
    pub instances: u64,
    /// Rows in full tiles.
    pub full_rows: u64,
    /// Rows in partial tiles.
    pub partial_rows: u64,
}

/// The finaliser of SplitMix64, as a generator.
#[derive(Debug, Clone)]
pub struct Generator(pub u64);

impl Generator {
    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (execution::initial::mix(self.0) % bound.max(1) as u64) as usize
    }
}

/// An executed row that outlives the visit.
struct Row {
    block: Vec<i64>,
    sub_tile: Vec<i64>,
    group: i64,
    instance: usize,
    statement: usize,
    step: i64,
    bounds: Vec<(i64, i64)>,
    full: bool,
}

impl Row {
    fn new(row: &ExecutedRow<'_>) -> Self {
        Row {
            block: row.block.to_vec(),
            sub_tile: row.sub_tile.to_vec(),
            group: row.group,
            instance: row.instance,
            statement: row.statement,
            step: row.step,
            bounds: row.bounds.to_vec(),
            full: row.full,
        }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Row { block, sub_tile, group, instance, statement, step, bounds, full } = self;
        write!(
            f,
            "statement {statement} of step {step} at {bounds:?} (block {block:?}, sub-tile {sub_tile:?}, group {group}, \
             row {instance}, full: {full})"
        )
    }
}

/// Who touched a cell last, in one launch or one row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark {
    epoch: u64,
    who: usize,
    several: bool,
}

impl Mark {
    /// `who` touches it.
    pub fn set(&mut self, epoch: u64, who: usize) {
        let several = self.epoch == epoch && (self.several || self.who != who);
        *self = Mark { epoch, who, several };
    }

    /// Whether somebody else has touched it in this epoch.
    pub fn by_another(&self, epoch: u64, who: usize) -> bool {
        self.epoch == epoch && (self.several || self.who != who)
    }
}

/// One state field's cells.
struct Cells {
    version: Vec<i64>,
    /// Blocks of the launch.
    writers: Vec<Mark>,
    readers: Vec<Mark>,
    /// Points of the row.
    row_readers: Vec<Mark>,
}

struct Memory<'a> {
    program: &'a Program,
    size: &'a [i64],
    points: usize,
    fields: Vec<Cells>,
}

/// A version that no read may find.
const UNWRITTEN: i64 = i64::MIN;

impl<'a> Memory<'a> {
    fn new(program: &'a Program, size: &'a [i64]) -> Self {
        let points = size.iter().product::<i64>() as usize;
        let fields = program.fields.iter().enumerate().map(|(number, field)| {
            let FieldRole::State { levels, slots } = field.role else {
                return Cells { version: vec![], writers: vec![], readers: vec![], row_readers: vec![] };
            };
            let mut version = vec![UNWRITTEN; slots * points];
            for level in 1 - levels as i64..=0 {
                let slot = program.slot_of_level(polyhedral::program::FieldId(number), level);
                version[slot * points..(slot + 1) * points].fill(level);
            }
            let marks = vec![Mark::default(); slots * points];
            Cells { version, writers: marks.clone(), readers: marks.clone(), row_readers: marks }
        });
        Memory { program, size, points, fields: fields.collect() }
    }

    fn linear(&self, point: &[i64]) -> usize {
        point
            .iter()
            .zip(self.size)
            .fold(0, |index, (&position, &extent)| index * extent as usize + position as usize)
    }

    fn cell(&self, access: &Access, step: i64, point: &[i64]) -> usize {
        self.program.slot_of_level(access.field, step + access.time) * self.points + self.linear(point)
    }

    /// Checks one read; `None` for coefficients and the fixed boundary.
    fn read(
        &mut self,
        access: &Access,
        row: &Row,
        point: &[i64],
        epochs: (u64, u64),
        block: usize,
    ) -> Result<(), String> {
        if self.program.writers_of(access.field).next().is_none() {
            return Ok(());
        }
        let place: Vec<i64> = point.iter().zip(&access.offset).map(|(p, o)| p + o).collect();
        let inside = |writer| {
            let domain = self.program.domain(writer, self.size);
            place.iter().zip(&domain).all(|(position, (first, end))| first <= position && position < end)
        };
        if place.iter().zip(self.size).any(|(&position, &extent)| position < 0 || position >= extent) {
            return Err(format!("{row} reads {access:?} outside the grid, at {place:?}"));
        }
        if !self.program.writers_of(access.field).any(|(writer, _)| inside(writer)) {
            return Ok(());
        }
        let cell = self.cell(access, row.step, &place);
        let reader = self.linear(point);
        let field = &mut self.fields[access.field.0];
        let (found, wanted) = (field.version[cell], row.step + access.time);
        if found != wanted {
            return Err(format!("{row} reads {access:?} at {place:?}: level {found} instead of {wanted}"));
        }
        if field.writers[cell].by_another(epochs.0, block) {
            return Err(format!(
                "{row} reads {access:?} at {place:?}, which another block of the launch writes"
            ));
        }
        field.readers[cell].set(epochs.0, block);
        field.row_readers[cell].set(epochs.1, reader);
        Ok(())
    }

    fn write(&mut self, row: &Row, point: &[i64], epochs: (u64, u64), block: usize) -> Result<(), String> {
        let target = self.program.statements[row.statement].target;
        let access = Access { field: target, time: 1, offset: vec![0; point.len()] };
        let cell = self.cell(&access, row.step, point);
        let writer = self.linear(point);
        let field = &mut self.fields[target.0];
        if field.writers[cell].by_another(epochs.0, block) || field.readers[cell].by_another(epochs.0, block)
        {
            return Err(format!("{row} writes at {point:?} a cell that another block of the launch uses"));
        }
        if field.row_readers[cell].by_another(epochs.1, writer) {
            return Err(format!("{row} writes at {point:?} a cell that another point of the row reads"));
        }
        field.version[cell] = row.step + 1;
        field.writers[cell].set(epochs.0, block);
        Ok(())
    }
}

/// All points of a box, last dimension fastest.
pub fn points_of(bounds: &[(i64, i64)]) -> Vec<Vec<i64>> {
    bounds.iter().fold(vec![Vec::new()], |points, &(first, end)| {
        points
            .iter()
            .flat_map(|point| {
                (first..end).map(move |position| {
                    let mut longer = point.clone();
                    longer.push(position);
                    longer
                })
            })
            .collect()
    })
}

/// Replays a plan.
///
/// # Errors
/// The first thing that is wrong: an instance that runs never, twice or outside the domain, a read of a wrong
/// level, a race, or a full tile that is not full.
pub fn replay(plan: &KernelPlan, size: &[i64], steps: i64, seed: u64) -> Result<Statistics, String> {
    let program: &Program = &plan.program;
    let mut statistics = Statistics::default();
    let launches = launches(plan, size, steps, &mut statistics)?;
    let mut generator = Generator(seed);
    let mut memory = Memory::new(program, size);
    let statements = program.statements.len();
    let mut executed = vec![0u8; statements * steps as usize * memory.points];
    let mut row_epoch = 0;
    for (launch, rows) in (1u64..).zip(launches) {
        let mut blocks: BTreeMap<&[i64], Vec<&Row>> = BTreeMap::new();
        for row in &rows {
            blocks.entry(&row.block).or_default().push(row);
        }
        let mut order: Vec<Vec<&Row>> = blocks.into_values().collect();
        for last in (1..order.len()).rev() {
            order.swap(last, generator.below(last + 1));
        }
        for (block, rows) in order.iter().enumerate() {
            for row in rows {
                row_epoch += 1;
                let mut points = points_of(&row.bounds);
                if generator.below(2) == 1 {
                    points.reverse();
                }
                let reads = &program.statements[row.statement].reads;
                for point in &points {
                    for access in reads {
                        memory.read(access, row, point, (launch, row_epoch), block)?;
                    }
                }
                for point in &points {
                    memory.write(row, point, (launch, row_epoch), block)?;
                    let at = (row.statement * steps as usize + row.step as usize) * memory.points;
                    let count = &mut executed[at + memory.linear(point)];
                    *count += 1;
                    if *count > 1 {
                        return Err(format!("{row} runs {point:?} a second time"));
                    }
                    statistics.instances += 1;
                }
            }
        }
    }
    let wanted: u64 = (0..statements)
        .map(|k| program.domain(k, size).iter().map(|(first, end)| (end - first) as u64).product::<u64>())
        .sum::<u64>()
        * steps as u64;
    if statistics.instances == wanted {
        Ok(statistics)
    } else {
        Err(format!("{} instances run instead of {wanted}", statistics.instances))
    }
}

/// The rows of a group that full tiles run: all whose own ranges have points, wherever the tile lies.
fn rows_of(kernel: &Kernel, group: i64) -> usize {
    let names = kernel.bindings.iter().map(|binding| binding.name);
    let names = names.chain(kernel.sub_tiles.iter().chain(&kernel.blocks).map(|own| own.variable));
    let mut at: Environment = names.map(|name| (name, 0)).collect();
    at.insert(kernel.rows.variable, group);
    let has_points = |range: &Range| match (range.low.evaluate(&at), range.high.evaluate(&at)) {
        (Some(low), Some(high)) => low <= high,
        _ => true,
    };
    let running = kernel.instances.iter().filter(|instance| instance.in_full_tiles);
    running.filter(|instance| instance.ranges.iter().all(has_points)).count()
}

/// The rows of every launch, and the checks of single rows and of full tiles.
fn launches(
    plan: &KernelPlan,
    size: &[i64],
    steps: i64,
    statistics: &mut Statistics,
) -> Result<Vec<Vec<Row>>, String> {
    let mut launches: Vec<((i64, usize), Vec<Row>)> = Vec::new();
    let mut full_tiles: BTreeMap<(i64, usize, Vec<i64>, Vec<i64>), usize> = BTreeMap::new();
    let mut clipped = None;
    plan.for_each_row(size, steps, |row| {
        let key = (row.outer, row.launch);
        if row.full {
            statistics.full_rows += 1;
            *full_tiles
                .entry((row.outer, row.launch, row.block.to_vec(), row.sub_tile.to_vec()))
                .or_default() += 1;
            if row.clipped && clipped.is_none() {
                clipped = Some(Row::new(row).to_string());
            }
        } else {
            statistics.partial_rows += 1;
        }
        match launches.last_mut() {
            Some((last, rows)) if *last == key => rows.push(Row::new(row)),
            _ => launches.push((key, vec![Row::new(row)])),
        }
    })
    .ok_or("a bound mentions an unknown variable")?;
    if let Some(row) = clipped {
        return Err(format!("a row of a full tile is clipped: {row}"));
    }
    for ((outer, launch, block, sub_tile), rows) in full_tiles {
        let kernel = &plan.kernels[plan.launches[launch].kernel];
        let (low, high) = (kernel.rows.low.constant(), kernel.rows.high.constant());
        if let (Some(low), Some(high)) = (low, high)
            && rows < (low..=high).map(|group| rows_of(kernel, group)).sum()
        {
            return Err(format!(
                "full tile {block:?} {sub_tile:?} of launch {outer}.{launch} has only {rows} rows"
            ));
        }
    }
    Ok(launches.into_iter().map(|(_, rows)| rows).collect())
}
