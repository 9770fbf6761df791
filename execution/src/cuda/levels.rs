//! A run on arrays that somebody else has on the device: nothing goes through the host.
//!
//! Kernels find slot `k` of a field at `address + k * level_stride`, with one level stride for all fields. The stride is
//! a number of elements like any other, so that two slots may be two arrays of different owners, in either order.
#![allow(unsafe_code)]

use super::arrays::DeviceArray;
use super::program::{CudaProgramOnDevice, DeviceRun};
use crate::error::{ExecutionError, Result};
use crate::initial::domains_of;
use crate::layout::Layout;
use crate::reference::check_arguments;
use polyhedral::program::{ElementType, FieldId, FieldRole, Program};
use toolchain::driver::Rows;

/// Every slot begins at a multiple of this, where there is no level stride to say otherwise: so that kernels may load
/// several elements at once.
const ALIGNMENT: u64 = 16;

/// A level somewhere on the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelOnDevice {
    /// Of its first element.
    pub address: u64,
    /// Elements between neighbours along all dimensions but the innermost, where they lie side by side.
    pub outer_strides: Vec<i64>,
}

/// The levels of a field. The slots of a state field overlap no start but one that is itself a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldOnDevice {
    /// What a run starts from: the initial levels, oldest first, or the coefficient.
    pub starts: Vec<LevelOnDevice>,
    /// Where the slots lie, without gaps; a start that lies at its slot is not copied there.
    pub slots: Vec<u64>,
    /// Where the newest levels go, oldest first; one that lies at its slot is not copied. None of a coefficient.
    pub results: Vec<LevelOnDevice>,
}

/// All arrays of a run.
#[derive(Debug)]
pub struct LevelsOnDevice {
    size: Vec<i64>,
    fields: Vec<FieldOnDevice>,
    series: Vec<(u64, i64)>,
}

impl LevelsOnDevice {
    /// The arrays of all fields on a grid of these extents; address and length of each series.
    ///
    /// # Safety
    /// As long as this is used, all arrays lie on the device of its use, have as many elements as is said here, aligned for
    /// their type, and nobody else uses what is written: slots and results. Slots, results and series do not overlap, except
    /// that a result may be its slot.
    pub unsafe fn new(size: &[i64], fields: Vec<FieldOnDevice>, series: Vec<(u64, i64)>) -> LevelsOnDevice {
        LevelsOnDevice { size: size.to_vec(), fields, series }
    }

    /// Elements between the slots of every field, where that is one number, and 1 where no field has two.
    ///
    /// # Errors
    /// [`ExecutionError::WrongData`] where numbers differ or are none, or something is missing.
    fn level_stride(&self, program: &Program) -> Result<i64> {
        let wrong = |problem: &str| ExecutionError::WrongData {
            program: program.name.clone(),
            problem: problem.to_owned(),
        };
        if self.fields.len() != program.fields.len() || self.series.len() != program.series.len() {
            return Err(wrong("there are more or fewer arrays than fields and series"));
        }
        let mut found = None;
        for (field, own) in program.fields.iter().zip(&self.fields) {
            let (starts, results) = match field.role {
                FieldRole::State { levels, .. } => (levels, levels),
                FieldRole::Coefficient => (1, 0),
            };
            let counts = [own.starts.len(), own.slots.len(), own.results.len()];
            if counts != [starts, field.role.slots(), results] {
                return Err(wrong("a field has more or fewer levels"));
            }
            if own.slots[0] % ALIGNMENT != 0 {
                return Err(wrong("an array is not aligned"));
            }
            for pair in own.slots.windows(2) {
                let bytes = pair[1].wrapping_sub(pair[0]) as i64;
                let element = field.element.bytes() as i64;
                let stride = bytes / element;
                if bytes % element != 0 || found.is_some_and(|found| found != stride) {
                    return Err(wrong("the levels of its fields lie at different distances"));
                }
                found = Some(stride);
            }
        }
        Ok(found.unwrap_or(1))
    }
}

impl CudaProgramOnDevice {
    /// Runs `steps` time steps on arrays on the device, and waits for their end.
    ///
    /// # Errors
    /// As for [`CudaProgramOnDevice::run`]; [`ExecutionError::WrongData`] where arrays are missing or lie so that kernels
    /// cannot find them; [`ExecutionError::Plan`] for periodic programs, whose ghost zones go through the host.
    pub fn run_levels(
        &self,
        parameters: &[f64],
        arrays: &mut LevelsOnDevice,
        steps: i64,
    ) -> Result<DeviceRun> {
        let program = &*self.plan.program;
        check_arguments(program, parameters, steps)?;
        if program.is_periodic() {
            return Err(ExecutionError::Plan(
                "periodic grids go through the host's memory, where their ghost zones are made".to_owned(),
            ));
        }
        let level_stride = arrays.level_stride(program)?;
        if self.plan.has_spare_slots() {
            return self.run_apart(parameters, arrays, steps);
        }
        for (series, (_, length)) in program.series.iter().zip(&arrays.series) {
            if *length < series.length(steps) {
                return Err(self.wrong_data(&format!("series `{}` is too short", series.name)));
            }
        }
        let layout = Layout::dense(program, &arrays.size)?;
        let dense: Vec<i64> =
            layout.strides()[..layout.strides().len() - 1].iter().map(|&stride| stride as i64).collect();
        let dense = |address: u64| LevelOnDevice { address, outer_strides: dense.clone() };
        for copy in into_slots(program, arrays, &dense).iter().flatten() {
            self.copy(copy)?;
        }
        let first = arrays.fields.iter().map(|field| field.slots[0]);
        let addresses: Vec<u64> = first.chain(arrays.series.iter().map(|(address, _)| *address)).collect();
        let mut run = DeviceRun { seconds: 0.0, launches: 0 };
        self.launch_all((&self.plan, &layout, level_stride), &addresses, parameters, steps, &mut run)?;
        for copy in out_of_slots(program, arrays, steps, &dense).iter().flatten() {
            self.copy(copy)?;
        }
        self.device.finish().map_err(|failure| failure.during("finish the kernels"))?;
        Ok(run)
    }

    /// The same with slots of our own, as spare ones lie at the distances of the others, and those that are given may lie anywhere.
    fn run_apart(&self, parameters: &[f64], arrays: &LevelsOnDevice, steps: i64) -> Result<DeviceRun> {
        let program = &*self.plan.program;
        let layout = Layout::dense(program, &arrays.size)?;
        // Slots begin where accesses of several elements do.
        let level_stride = layout.points().next_multiple_of(ALIGNMENT as usize);
        let zeros = |element: ElementType, length: usize| {
            let allocated = match element {
                ElementType::F32 => self.device.zeros(length).map(DeviceArray::F32),
                ElementType::F64 => self.device.zeros(length).map(DeviceArray::F64),
            };
            allocated.map_err(|failure| failure.during("allocate spare slots"))
        };
        let (mut own, mut spare, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for (field, given) in program.fields.iter().zip(&arrays.fields) {
            let mut apart = given.clone();
            if let FieldRole::State { slots, .. } = field.role {
                let array = zeros(field.element, slots * level_stride)?;
                let slot =
                    |slot: usize| array.address() + (slot * level_stride * field.element.bytes()) as u64;
                apart.slots = (0..slots).map(slot).collect();
                own.push(array);
                spare.push(zeros(field.element, slots * level_stride)?);
            }
            fields.push(apart);
        }
        let apart = LevelsOnDevice { size: arrays.size.clone(), fields, series: arrays.series.clone() };
        let dense: Vec<i64> =
            layout.strides()[..layout.strides().len() - 1].iter().map(|&stride| stride as i64).collect();
        let dense = |address: u64| LevelOnDevice { address, outer_strides: dense.clone() };
        for copy in into_slots(program, &apart, &dense).iter().flatten() {
            self.copy(copy)?;
        }
        for (from, to) in own.iter().zip(&mut spare) {
            self.copy_array(from, to)?;
        }
        let first = apart.fields.iter().map(|field| field.slots[0]);
        let addresses = first.chain(apart.series.iter().map(|(address, _)| *address));
        let addresses: Vec<u64> = addresses.chain(spare.iter().map(DeviceArray::address)).collect();
        let mut run = DeviceRun { seconds: 0.0, launches: 0 };
        self.launch_all((&self.plan, &layout, level_stride as i64), &addresses, parameters, steps, &mut run)?;
        for copy in out_of_slots(program, &apart, steps, &dense).iter().flatten() {
            self.copy(copy)?;
        }
        self.device.finish().map_err(|failure| failure.during("finish the kernels"))?;
        Ok(run)
    }

    fn copy(&self, BoxCopy { from, to, extents }: &BoxCopy) -> Result<()> {
        // SAFETY: a box within the grid, between levels for which `LevelsOnDevice::new` was vouched.
        let copied = unsafe { self.device.copy_box(*from, *to, *extents) };
        Ok(copied.map_err(|failure| failure.during("copy the grid on the device"))?)
    }
}

/// A box of points, copied between two levels.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BoxCopy {
    from: Rows,
    to: Rows,
    /// Planes, rows of each, bytes of a row.
    extents: [usize; 3],
}

/// Fills the slots with the initial levels. Points that no statement computes keep one value over time: there, all slots
/// get that of the newest level.
fn into_slots(
    program: &Program,
    arrays: &LevelsOnDevice,
    dense: &dyn Fn(u64) -> LevelOnDevice,
) -> Vec<Option<BoxCopy>> {
    let whole: Vec<(i64, i64)> = arrays.size.iter().map(|&extent| (0, extent)).collect();
    let mut copies = Vec::new();
    for (number, (field, own)) in program.fields.iter().zip(&arrays.fields).enumerate() {
        let field_id = FieldId(number);
        let bytes = field.element.bytes();
        let mut copy = |from: &LevelOnDevice, to: u64, points: &[(i64, i64)]| {
            copies.push(box_copy(from, &dense(to), points, bytes));
        };
        let (newest, fixed) = match field.role {
            FieldRole::State { levels, .. } => (levels - 1, program.writers_of(field_id).next().is_some()),
            FieldRole::Coefficient => (0, false),
        };
        for (slot, &to) in own.slots.iter().enumerate() {
            let start = own.starts.get(slot);
            match start.filter(|_| slot == newest || !fixed) {
                Some(start) => copy(start, to, &whole),
                None => {
                    copy(&own.starts[newest], to, &whole);
                    let domains = domains_of(program, field_id, &arrays.size);
                    for (start, domain) in
                        start.into_iter().flat_map(|start| domains.iter().map(move |domain| (start, domain)))
                    {
                        copy(start, to, domain);
                    }
                }
            }
        }
    }
    copies
}

/// Brings the newest levels where they are wanted.
fn out_of_slots(
    program: &Program,
    arrays: &LevelsOnDevice,
    steps: i64,
    dense: &dyn Fn(u64) -> LevelOnDevice,
) -> Vec<Option<BoxCopy>> {
    let whole: Vec<(i64, i64)> = arrays.size.iter().map(|&extent| (0, extent)).collect();
    let mut copies = Vec::new();
    for (field, own) in program.fields.iter().zip(&arrays.fields) {
        for (number, to) in own.results.iter().enumerate() {
            // Slot of level `steps + 1 - levels + number`, where level `1 - levels` is in slot 0.
            let slot = (steps as usize + number) % own.slots.len();
            copies.push(box_copy(&dense(own.slots[slot]), to, &whole, field.element.bytes()));
        }
    }
    copies
}

/// The copy of the points of a box; none where there are no points, and where both are one place.
fn box_copy(
    from: &LevelOnDevice,
    to: &LevelOnDevice,
    points: &[(i64, i64)],
    element: usize,
) -> Option<BoxCopy> {
    if from.address == to.address || points.iter().any(|(low, high)| low >= high) {
        return None;
    }
    let count: Vec<usize> = points.iter().map(|(low, high)| (high - low) as usize).collect();
    let rows = |level: &LevelOnDevice| {
        let strides = level.outer_strides.iter().copied().chain([1]);
        let first: i64 = points.iter().zip(strides).map(|((low, _), stride)| low * stride).sum();
        let mut outer = level.outer_strides.iter().rev().map(|&stride| stride as usize * element);
        Rows {
            first: level.address + first as u64 * element as u64,
            row: outer.next().unwrap_or(0),
            plane: outer.next().unwrap_or(0),
        }
    };
    let mut inner = count.iter().rev().copied();
    let bytes = inner.next().unwrap_or(1) * element;
    let extents = [bytes, inner.next().unwrap_or(1), inner.next().unwrap_or(1)];
    let mut copy = BoxCopy { from: rows(from), to: rows(to), extents: [extents[2], extents[1], extents[0]] };
    copy.join();
    Some(copy)
}

impl BoxCopy {
    /// Rows that follow each other without a gap in both places are one row, and so are planes.
    fn join(&mut self) {
        let [planes, rows, bytes] = &mut self.extents;
        let places = [self.from, self.to];
        if *rows > 1 && places.iter().all(|place| place.row == *bytes) {
            (*bytes, *rows) = (*bytes * *rows, 1);
        }
        if *rows == 1 && *planes > 1 {
            // Planes of one row are rows.
            for place in [&mut self.from, &mut self.to] {
                place.row = place.plane;
            }
            (*rows, *planes) = (*planes, 1);
            if [self.from, self.to].iter().all(|place| place.row == *bytes) {
                (*bytes, *rows) = (*bytes * *rows, 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a device, in which addresses are positions.
    struct Memory(Vec<u8>);

    impl Memory {
        fn copy(&mut self, BoxCopy { from, to, extents: [planes, rows, bytes] }: &BoxCopy) {
            for (plane, row) in (0..*planes).flat_map(|plane| (0..*rows).map(move |row| (plane, row))) {
                let at = |place: &Rows| place.first as usize + plane * place.plane + row * place.row;
                self.0.copy_within(at(from)..at(from) + bytes, at(to));
            }
        }
    }

    fn level(address: u64, outer_strides: &[i64]) -> LevelOnDevice {
        LevelOnDevice { address, outer_strides: outer_strides.to_vec() }
    }

    #[test]
    fn boxes_are_copied_point_by_point() {
        // (extents, strides of both places, box)
        type Case<'a> = (&'a [i64], &'a [i64], &'a [i64], &'a [(i64, i64)]);
        let cases: [Case<'_>; 6] = [
            (&[7], &[], &[], &[(0, 7)]),
            (&[7], &[], &[], &[(2, 5)]),
            (&[5, 6], &[6], &[9], &[(0, 5), (0, 6)]),
            (&[5, 6], &[8], &[6], &[(1, 4), (2, 6)]),
            (&[3, 4, 5], &[20, 5], &[33, 7], &[(0, 3), (0, 4), (0, 5)]),
            (&[3, 4, 5], &[20, 5], &[20, 5], &[(1, 3), (2, 3), (1, 2)]),
        ];
        for (extents, from, to, points) in cases {
            let mut memory = Memory((0..4000).map(|byte| (byte % 251) as u8).collect());
            let before = memory.0.clone();
            let (from, to) = (level(16, from), level(2000, to));
            let copy = box_copy(&from, &to, points, 4).unwrap();
            memory.copy(&copy);
            let mut expected = before.clone();
            let place = |level: &LevelOnDevice, point: &[i64]| {
                let strides = level.outer_strides.iter().copied().chain([1]);
                let element: i64 = point.iter().zip(strides).map(|(x, stride)| x * stride).sum();
                level.address as usize + element as usize * 4
            };
            let mut all = vec![vec![]];
            for &extent in extents {
                all = all
                    .into_iter()
                    .flat_map(|point: Vec<i64>| (0..extent).map(move |x| [&point[..], &[x]].concat()))
                    .collect();
            }
            for point in all {
                if point.iter().zip(points).all(|(x, (low, high))| low <= x && x < high) {
                    let (from, to) = (place(&from, &point), place(&to, &point));
                    expected[to..to + 4].copy_from_slice(&before[from..from + 4]);
                }
            }
            assert_eq!(memory.0, expected, "{copy:?}");
        }
        assert_eq!(box_copy(&level(16, &[6]), &level(16, &[6]), &[(0, 5), (0, 6)], 4), None);
        assert_eq!(box_copy(&level(16, &[6]), &level(160, &[6]), &[(3, 3), (0, 6)], 4), None);
        let dense = box_copy(&level(0, &[20, 5]), &level(512, &[20, 5]), &[(0, 3), (0, 4), (0, 5)], 8);
        assert_eq!(dense.unwrap().extents, [1, 1, 480]);
    }

    /// A wave of two levels: the older one keeps its own interior, and has the boundary of the newer one.
    #[test]
    fn slots_start_with_the_boundary_of_the_newest_level() {
        let wave = polyhedral::shipped::load("wave2d").unwrap();
        let (size, bytes) = ([5_i64, 6], 5 * 6 * 4);
        let at = |number: u64| 1024 * (number + 1);
        let own = FieldOnDevice {
            starts: vec![level(at(0), &[6]), level(at(1), &[6])],
            slots: (0..wave.fields[0].role.slots() as u64).map(|slot| at(4) + slot * bytes).collect(),
            results: vec![level(at(2), &[6]), level(at(3), &[6])],
        };
        let arrays = LevelsOnDevice { size: size.to_vec(), fields: vec![own.clone()], series: vec![] };
        assert_eq!(arrays.level_stride(&wave).unwrap(), 30);
        let mut memory = Memory(vec![0; 8192]);
        for (number, value) in [(0, 1), (1, 2)] {
            memory.0[at(number) as usize..][..bytes as usize].fill(value);
        }
        let dense = |address| level(address, &[6]);
        into_slots(&wave, &arrays, &dense).iter().flatten().for_each(|copy| memory.copy(copy));
        let value =
            |memory: &Memory, first: u64, i: u64, j: u64| memory.0[(first + (i * 6 + j) * 4) as usize];
        let domain = &domains_of(&wave, FieldId(0), &size)[0];
        for (i, j) in (0..5).flat_map(|i| (0..6).map(move |j| (i, j))) {
            let inside =
                [i, j].iter().zip(domain).all(|(&x, &(low, high))| low <= x as i64 && (x as i64) < high);
            assert_eq!(value(&memory, own.slots[0], i, j), if inside { 1 } else { 2 }, "({i}, {j})");
            assert_eq!(value(&memory, own.slots[1], i, j), 2);
        }
        // After one step level 0 is in slot 1, and level 1 after it.
        out_of_slots(&wave, &arrays, 1, &dense).iter().flatten().for_each(|copy| memory.copy(copy));
        assert_eq!(value(&memory, at(2), 2, 2), 2);
    }

    #[test]
    fn arrays_that_kernels_cannot_find_are_refused() {
        let heat = polyhedral::shipped::load("heat2d").unwrap();
        let arrays = |slots: [u64; 2]| LevelsOnDevice {
            size: vec![5, 6],
            fields: vec![FieldOnDevice {
                starts: vec![level(4096, &[6])],
                slots: slots.to_vec(),
                results: vec![level(4096, &[6])],
            }],
            series: vec![],
        };
        let stride = |slots| arrays(slots).level_stride(&heat);
        assert_eq!(stride([1024, 2048]).unwrap(), 256);
        assert_eq!(stride([2048, 1024]).unwrap(), -256);
        assert!(stride([1024, 2050]).unwrap_err().to_string().contains("different distances"));
        assert!(stride([1028, 2048]).unwrap_err().to_string().contains("not aligned"));
        let mut fewer = arrays([1024, 2048]);
        fewer.fields[0].slots.pop();
        assert!(fewer.level_stride(&heat).unwrap_err().to_string().contains("more or fewer"));
    }
}
