//! Executes a plan with storages on cells that hold the names of values instead of numbers.
//!
//! A cell of the arrays or of a block's storage holds `(field, level, point)`, or nothing. Parts run in plan order, the
//! blocks of a launch in random order, the points of a part in random direction. Each read must find the value that the
//! program asks for; each instance must be owned by one row; copies must not write to the arrays; and two blocks of a
//! launch, two parts without a barrier between them, or two points of a part, must not touch the same cell if one of
//! them writes it.

use crate::replay::{Generator, Mark, points_of};
use hhc_codegen::KernelPlan;
use hhc_codegen::int_expr::{Environment, IntExpr, int};
use hhc_codegen::plan::{Instance, Kernel, Loop, Range, Role, RowOrder, SIZE_NAMES};
use hhc_codegen::storage::{Axis, Moment, Part, Place, Region, Slot, Sync, Transfer};
use polyhedral::program::{Boundary, FieldId, FieldRole, Program};

/// The name of a value: the level, or, at points that are never computed, the slot whose value it is; and the point.
type Value = (i64, usize);

#[derive(Debug, Clone, Default)]
struct Cell {
    value: Option<Value>,
    /// Between two barriers of a block: points of parts.
    writer: Mark,
    reader: Mark,
    /// In one part: points.
    part_reader: Mark,
    /// In a launch: blocks.
    block_writer: Mark,
    block_reader: Mark,
}

struct Replay<'a> {
    plan: &'a KernelPlan,
    program: &'a Program,
    size: &'a [i64],
    steps: i64,
    points: usize,
    /// Per field.
    arrays: Vec<Vec<Cell>>,
    /// Per storage of the running kernel.
    storages: Vec<Vec<Cell>>,
    /// Per statement and step and point.
    executed: Vec<u8>,
    generator: Generator,
    launch: u64,
    block: usize,
    interval: u64,
    part: u64,
    /// Who touches cells: another number for each point of each part.
    actor: usize,
}

/// Runs `body` for every point of a nest of loops.
fn nest(loops: &[Loop], environment: &Environment) -> Option<Vec<Environment>> {
    loops.iter().try_fold(vec![environment.clone()], |outer, inner| {
        let mut all = Vec::new();
        for environment in outer {
            for value in inner.low.evaluate(&environment)?..=inner.high.evaluate(&environment)? {
                let mut environment = environment.clone();
                environment.insert(inner.variable, value);
                all.push(environment);
            }
        }
        Some(all)
    })
}

fn value_of(expr: &IntExpr, environment: &Environment) -> Result<i64, String> {
    expr.evaluate(environment).ok_or_else(|| format!("{} mentions an unknown variable", expr))
}

fn happens(when: &[IntExpr], environment: &Environment) -> Result<bool, String> {
    when.iter().try_fold(true, |all, condition| Ok(all && value_of(condition, environment)? >= 0))
}

/// Replays a plan.
///
/// # Errors
/// The first thing that is wrong.
pub fn replay(plan: &KernelPlan, size: &[i64], steps: i64, seed: u64) -> Result<(), String> {
    let program: &Program = &plan.program;
    let points = size.iter().product::<i64>() as usize;
    let mut replay = Replay {
        plan,
        program,
        size,
        steps,
        points,
        arrays: Vec::new(),
        storages: Vec::new(),
        executed: vec![0; program.statements.len() * steps as usize * points],
        generator: Generator(seed),
        launch: 0,
        block: 0,
        interval: 0,
        part: 0,
        actor: 0,
    };
    replay.arrays = (0..program.fields.len()).map(|field| replay.initial(FieldId(field))).collect();
    replay.run()?;
    replay.check_result()
}

impl Replay<'_> {
    fn levels_and_slots(&self, field: FieldId) -> (i64, i64) {
        match self.program.field(field).role {
            FieldRole::State { levels, slots } => (levels as i64, slots as i64),
            FieldRole::Coefficient => (1, 1),
        }
    }

    fn slot_of_level(&self, field: FieldId, level: i64) -> i64 {
        let (levels, slots) = self.levels_and_slots(field);
        (level + levels - 1).rem_euclid(slots)
    }

    fn linear(&self, point: &[i64]) -> usize {
        let places = point.iter().zip(self.size);
        places.fold(0, |index, (&position, &extent)| index * extent as usize + position as usize)
    }

    fn computed(&self, field: FieldId, point: &[i64]) -> bool {
        self.program.writers_of(field).any(|(statement, _)| {
            let domain = self.program.domain(statement, self.size);
            point.iter().zip(domain).all(|(&position, (first, end))| first <= position && position < end)
        })
    }

    /// What a level holds at a point.
    fn value(&self, field: FieldId, level: i64, point: &[i64]) -> Value {
        let name = if self.program.field(field).role == FieldRole::Coefficient {
            0
        } else if self.computed(field, point) {
            level
        } else if self.program.boundary == Boundary::Fixed {
            i64::MAX
        } else {
            i64::MAX - self.slot_of_level(field, level)
        };
        (name, self.linear(point))
    }

    fn initial(&self, field: FieldId) -> Vec<Cell> {
        let (levels, slots) = self.levels_and_slots(field);
        let grid: Vec<(i64, i64)> = self.size.iter().map(|&extent| (0, extent)).collect();
        let mut cells = vec![Cell::default(); slots as usize * self.points];
        // The boundary lies in all slots, the rest in those of the initial levels.
        for level in 1 - levels..=slots - levels {
            for point in points_of(&grid) {
                if level <= 0 || !self.computed(field, &point) {
                    let at = self.slot_of_level(field, level) as usize * self.points + self.linear(&point);
                    cells[at].value = Some(self.value(field, level, &point));
                }
            }
        }
        // Spare slots hold what the others hold.
        if self.plan.slots(field) > slots {
            cells.extend(cells.clone());
        }
        cells
    }

    fn run(&mut self) -> Result<(), String> {
        let plan = self.plan;
        let mut environment: Environment = SIZE_NAMES.into_iter().zip(self.size.iter().copied()).collect();
        environment.insert("steps", self.steps);
        let unknown = || "a bound mentions an unknown variable".to_owned();
        for host in nest(std::slice::from_ref(&plan.outer), &environment).ok_or_else(unknown)? {
            for launch in &plan.launches {
                if let Some(when) = &launch.when
                    && value_of(when, &host)? < 0
                {
                    continue;
                }
                self.launch += 1;
                let kernel = &plan.kernels[launch.kernel];
                let mut blocks = nest(&kernel.blocks, &host).ok_or_else(unknown)?;
                for last in (1..blocks.len()).rev() {
                    blocks.swap(last, self.generator.below(last + 1));
                }
                for mut block in blocks {
                    self.block += 1;
                    self.interval += 1;
                    for binding in &kernel.bindings {
                        let value = value_of(&binding.value, &block)?;
                        block.insert(binding.name, value);
                    }
                    let cells = |storage: &hhc_codegen::storage::Storage| {
                        vec![Cell::default(); storage.all_cells() as usize]
                    };
                    self.storages = kernel.storages.iter().map(cells).collect();
                    for mut tile in nest(&kernel.sub_tiles, &block).ok_or_else(unknown)? {
                        self.transfers(kernel, Moment::Start, &tile)?;
                        for group in nest(std::slice::from_ref(&kernel.rows), &tile).ok_or_else(unknown)? {
                            for part in kernel.parts_of_a_group() {
                                match part {
                                    Part::Row(row) => self.row(kernel, &kernel.instances[row], &group)?,
                                    Part::Transfer(index) => {
                                        self.transfer(kernel, &kernel.transfers[index], &group)?;
                                    }
                                }
                            }
                            tile = group;
                        }
                        self.transfers(kernel, Moment::End, &tile)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn transfers(
        &mut self,
        kernel: &Kernel,
        moment: Moment,
        environment: &Environment,
    ) -> Result<(), String> {
        for (_, transfer) in kernel.transfers_at(moment) {
            self.transfer(kernel, transfer, environment)?;
        }
        Ok(())
    }

    /// The points of a box, clipped, in either direction.
    fn points_in(
        &mut self,
        ranges: &[Range],
        clip: &[(i64, i64)],
        environment: &Environment,
        ascending: bool,
    ) -> Result<Vec<Vec<i64>>, String> {
        let mut bounds = Vec::new();
        for (range, (first, end)) in ranges.iter().zip(clip) {
            let (low, high) = (value_of(&range.low, environment)?, value_of(&range.high, environment)? + 1);
            bounds.push((low.max(*first), high.min(*end)));
        }
        let mut points = points_of(&bounds);
        if !ascending && self.generator.below(2) == 1 {
            points.reverse();
        }
        Ok(points)
    }

    fn row(&mut self, kernel: &Kernel, row: &Instance, environment: &Environment) -> Result<(), String> {
        self.part += 1;
        let step = value_of(&row.step, environment)?;
        if (0..self.steps).contains(&step) && happens(&row.when, environment)? {
            let program = self.program;
            let statement = &program.statements[row.statement];
            let domain = program.domain(row.statement, self.size);
            let sequential = row.order == RowOrder::Sequential;
            let mut points = self.points_in(&row.ranges, &domain, environment, sequential)?;
            let wave = |point: &[i64]| match &row.order {
                RowOrder::Skewed { factors } => point.iter().zip(factors).map(|(s, factor)| s * factor).sum(),
                _ => 0_i64,
            };
            points.sort_by_key(|point| wave(point));
            let mut last = points.first().map_or(0, |point| wave(point));
            for point in points {
                // Wavefronts wait for those before.
                self.interval += u64::from(wave(&point) != last && row.sync != Sync::Nothing);
                last = wave(&point);
                self.actor += usize::from(!sequential);
                let what = || format!("statement {} of step {step} at {point:?}", row.statement);
                for (index, access) in statement.reads.iter().enumerate() {
                    let place =
                        row.reads.get(index).map_or(&Place::Arrays(Slot::OfLevel), |read| &read.place);
                    let from: Vec<i64> = point.iter().zip(&access.offset).map(|(p, o)| p + o).collect();
                    let level = step + access.time;
                    let found = self
                        .read(kernel, place, access.field, level, &from, environment)
                        .map_err(|error| format!("{}: {error}", what()))?;
                    let wanted = Some(self.value(access.field, level, &from));
                    if found != wanted {
                        return Err(format!("{} reads {access:?}: {found:?}, not {wanted:?}", what()));
                    }
                }
                let own = self.owns(row, &point, environment)?;
                let value = Some(self.value(statement.target, step + 1, &point));
                for place in &row.writes {
                    if !own && matches!(place, Place::Arrays(_)) {
                        return Err(format!("{}: a copy writes to the arrays", what()));
                    }
                    let repeats = row.order == RowOrder::Parallel { repeats: true };
                    self.write(
                        (kernel, place),
                        (statement.target, step + 1),
                        &point,
                        environment,
                        value,
                        repeats,
                    )
                    .map_err(|error| format!("{}: {error}", what()))?;
                }
                if own {
                    let at = (row.statement * self.steps as usize + step as usize) * self.points;
                    let linear = self.linear(&point);
                    self.executed[at + linear] += 1;
                    if self.executed[at + linear] > 1 {
                        return Err(format!("{} runs a second time", what()));
                    }
                }
            }
            self.actor += usize::from(sequential);
        }
        self.interval += u64::from(row.sync != Sync::Nothing);
        Ok(())
    }

    fn owns(&self, row: &Instance, point: &[i64], environment: &Environment) -> Result<bool, String> {
        let Role::Copies { owned } = &row.role else { return Ok(true) };
        let mut inside = true;
        for (range, position) in owned.iter().zip(point) {
            inside &= value_of(&range.low, environment)? <= *position;
            inside &= *position <= value_of(&range.high, environment)?;
        }
        Ok(inside)
    }

    fn transfer(
        &mut self,
        kernel: &Kernel,
        transfer: &Transfer,
        environment: &Environment,
    ) -> Result<(), String> {
        self.part += 1;
        let level = value_of(&transfer.level, environment)?;
        let clip = match transfer.region {
            Region::Domain(statement) => self.program.domain(statement, self.size),
            Region::Grid | Region::Boundary => self.size.iter().map(|&extent| (0, extent)).collect(),
        };
        let points = match happens(&transfer.when, environment)? {
            true => self.points_in(&transfer.ranges, &clip, environment, false)?,
            false => Vec::new(),
        };
        for point in points {
            if transfer.region == Region::Boundary && self.computed(transfer.field, &point) {
                continue;
            }
            self.actor += 1;
            let what = |error| format!("`{}` at {point:?}: {error}", transfer.comment);
            let value = self
                .read(kernel, &transfer.from.place, transfer.field, level, &point, environment)
                .map_err(what)?;
            let to = (kernel, &transfer.to);
            self.write(to, (transfer.field, level), &point, environment, value, false).map_err(what)?;
        }
        self.interval += u64::from(transfer.sync != Sync::Nothing);
        Ok(())
    }

    /// The cell of a value in a place.
    fn cell(
        &mut self,
        (kernel, place): (&Kernel, &Place),
        (field, level): (FieldId, i64),
        point: &[i64],
        environment: &Environment,
    ) -> Result<&mut Cell, String> {
        if point.iter().zip(self.size).any(|(&position, &extent)| position < 0 || position >= extent) {
            return Err(format!("{point:?} lies outside the grid"));
        }
        let (levels, _) = self.levels_and_slots(field);
        match place {
            Place::Arrays(slot) => {
                let slot = match slot {
                    Slot::At(slot) if self.plan.slots(field) > 1 => value_of(slot, environment)?,
                    _ => self.slot_of_level(field, level),
                };
                let linear = self.linear(point);
                let cell = self.arrays[field.0].get_mut(slot as usize * self.points + linear);
                cell.ok_or_else(|| format!("there is no slot {slot}"))
            }
            Place::Storage(index) | Place::Copy(index, _) => {
                let storage = &kernel.storages[*index];
                let more =
                    |axis: &Axis| matches!(axis, Axis::Lanes { extent, points, .. } if *extent > 32 * points);
                if storage.axes.iter().any(more) {
                    return Err(format!("{} has more lanes than a warp", storage.name));
                }
                let mut cell = 0;
                for (count, number) in storage.copies.iter().zip(place.copy()) {
                    let number = value_of(number, environment)?;
                    if !(0..*count).contains(&number) {
                        return Err(format!("{} has no copy {number}", storage.name));
                    }
                    cell = cell * count + number;
                }
                let planes = storage.planes.max(1);
                cell = cell * planes + (level + levels - 1).rem_euclid(planes);
                for (axis, &position) in storage.axes.iter().zip(point) {
                    let along = value_of(&axis.cell(int(position)), environment)?;
                    if along < 0 || along >= axis.extent() {
                        return Err(format!("{point:?} has no cell in {}", storage.name));
                    }
                    cell = cell * axis.extent() + along;
                }
                Ok(&mut self.storages[*index][cell as usize])
            }
        }
    }

    fn read(
        &mut self,
        kernel: &Kernel,
        place: &Place,
        field: FieldId,
        level: i64,
        point: &[i64],
        environment: &Environment,
    ) -> Result<Option<Value>, String> {
        let (launch, block, interval, part, actor) =
            (self.launch, self.block, self.interval, self.part, self.actor);
        let cell = self.cell((kernel, place), (field, level), point, environment)?;
        if cell.writer.by_another(interval, actor) {
            return Err(format!(
                "reads {point:?} of {place:?}, which is written without a barrier between them"
            ));
        }
        if cell.block_writer.by_another(launch, block) {
            return Err(format!("reads {point:?} of {place:?}, which another block of the launch writes"));
        }
        cell.reader.set(interval, actor);
        cell.part_reader.set(part, 0);
        cell.block_reader.set(launch, block);
        Ok(cell.value)
    }

    fn write(
        &mut self,
        (kernel, place): (&Kernel, &Place),
        value: (FieldId, i64),
        point: &[i64],
        environment: &Environment,
        name: Option<Value>,
        repeats: bool,
    ) -> Result<(), String> {
        let (launch, block, interval, part, actor) =
            (self.launch, self.block, self.interval, self.part, self.actor);
        let cell = self.cell((kernel, place), value, point, environment)?;
        if cell.writer.by_another(interval, actor) || cell.reader.by_another(interval, actor) {
            return Err(format!(
                "writes {point:?} of {place:?}, which is used without a barrier between them"
            ));
        }
        if cell.block_writer.by_another(launch, block) || cell.block_reader.by_another(launch, block) {
            return Err(format!("writes {point:?} of {place:?}, which another block of the launch uses"));
        }
        if repeats && cell.part_reader.by_another(part, 1) {
            return Err(format!(
                "writes {point:?} of {place:?}, which the same row reads and may read again"
            ));
        }
        cell.value = name;
        cell.writer.set(interval, actor);
        cell.block_writer.set(launch, block);
        Ok(())
    }

    /// Every instance has run, and the newest levels lie in their slots.
    fn check_result(&self) -> Result<(), String> {
        for statement in 0..self.program.statements.len() {
            let domain = self.program.domain(statement, self.size);
            let domain: Vec<_> = domain.iter().map(|&(first, end)| (first, end.max(first))).collect();
            for step in 0..self.steps as usize {
                for point in points_of(&domain) {
                    let at = (statement * self.steps as usize + step) * self.points + self.linear(&point);
                    if self.executed[at] == 0 {
                        return Err(format!("statement {statement} of step {step} at {point:?} never runs"));
                    }
                }
            }
        }
        let grid: Vec<(i64, i64)> = self.size.iter().map(|&extent| (0, extent)).collect();
        for field in (0..self.program.fields.len()).map(FieldId) {
            let (levels, slots) = self.levels_and_slots(field);
            for level in (self.steps + 1 - slots).max(1 - levels)..=self.steps {
                for point in points_of(&grid) {
                    let at = self.slot_of_level(field, level) as usize * self.points + self.linear(&point);
                    let (found, wanted) =
                        (self.arrays[field.0][at].value, Some(self.value(field, level, &point)));
                    if found != wanted {
                        return Err(format!("the result at {point:?} is {found:?}, not {wanted:?}"));
                    }
                }
            }
        }
        Ok(())
    }
}
