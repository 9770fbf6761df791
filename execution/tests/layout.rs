//! Layouts: where points lie, and that no result depends on it.

use crate::support::*;
use execution::compare::{checksum, compare};
use execution::grid::{ProgramData, ValuesMut, ValuesRef};
use execution::layout::Layout;
use execution::{ExecutionError, initial, npy, reference};
use polyhedral::program::*;
use proptest::prelude::*;

const F32: ElementType = ElementType::F32;
const F64: ElementType = ElementType::F64;

/// `u` (f32, three initial levels) reads neighbours in all dimensions and the coefficient `c`; `v` (f64)
/// follows it.
fn program(dimension: usize) -> Program {
    let along = |d: usize, distance: i64| {
        let mut offset = vec![0; dimension];
        offset[d] = distance;
        offset
    };
    let first = read(F32, 0, -2, &along(0, -1));
    let sum = (0..dimension)
        .flat_map(|d| [along(d, 1), along(d, -2)])
        .fold(first, |sum, offset| binary(BinaryOp::Add, sum, read(F32, 0, 0, &offset)));
    let weighted = binary(BinaryOp::Mul, sum, read(F32, 2, 0, &along(dimension - 1, 2)));
    let follower = binary(
        BinaryOp::Sub,
        cast(F64, read(F32, 0, 1, &along(dimension - 1, -1))),
        read(F64, 1, 0, &along(0, 1)),
    );
    Draft {
        dimension,
        fields: vec![("u", F32, true), ("v", F64, true), ("c", F32, false)],
        parameters: vec![],
        statements: vec![(0, vec![], weighted), (1, vec![], follower)],
    }
    .program()
}

/// Dense, padded, and strides that are no multiples of anything.
fn layouts(program: &Program, size: &[i64]) -> Vec<Layout> {
    let mut strides = vec![0; size.len()];
    let mut stride = 1usize;
    for d in (0..size.len()).rev() {
        stride = stride * size[d] as usize + 3 + d;
        strides[d] = stride;
    }
    let level_stride = strides.remove(0);
    vec![
        Layout::dense(program, size).unwrap(),
        Layout::padded(program, size).unwrap(),
        Layout::with_strides(program, size, &strides, level_stride).unwrap(),
    ]
}

/// The points of a slot in dense order.
fn points(data: &ProgramData, field: usize, slot: usize) -> Vec<f64> {
    let values = data.slot(FieldId(field), slot);
    (0..data.points()).map(|index| values.get(data.layout().offset(index)).unwrap()).collect()
}

/// Sets all padding, of all slots, and leaves the points.
fn set_padding(data: &mut ProgramData, value: f32) {
    let layout = data.layout().clone();
    let mut is_padding = vec![true; layout.level_stride()];
    (0..layout.points()).for_each(|index| is_padding[layout.offset(index)] = false);
    for field in 0..data.fields().len() {
        for slot in 0..data.fields()[field].slots {
            let padding = is_padding.iter().enumerate().filter(|(_, padding)| **padding);
            match data.slot_mut(FieldId(field), slot) {
                ValuesMut::F32(values) => padding.for_each(|(at, _)| values[at] = value),
                ValuesMut::F64(values) => padding.for_each(|(at, _)| values[at] = f64::from(value)),
            }
        }
    }
}

fn padding_is(data: &ProgramData, value: f64) -> bool {
    let layout = data.layout();
    let offsets: std::collections::HashSet<usize> =
        (0..layout.points()).map(|index| layout.offset(index)).collect();
    data.fields().iter().enumerate().all(|(field, array)| {
        (0..array.slots).all(|slot| {
            let values = doubles(data.slot(FieldId(field), slot));
            values.iter().enumerate().all(|(at, &found)| offsets.contains(&at) || found == value)
        })
    })
}

/// Everything that touches data gives the same in all layouts, and leaves the padding alone.
fn check(dimension: usize, size: &[i64], steps: i64) {
    let program = program(dimension);
    let mut dense = ProgramData::zeroed(&program, size).unwrap();
    initial::fill_random(&program, &mut dense, 8).unwrap();
    let start = dense.try_clone().unwrap();
    reference::run_quietly(&program, &[], &mut dense, steps).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    for layout in layouts(&program, size) {
        let name = format!("{layout:?}");
        let mut data = ProgramData::zeroed_with(&program, layout).unwrap();
        set_padding(&mut data, 7.0);
        initial::fill_random(&program, &mut data, 8).unwrap();
        assert_eq!(checksum(&program, &data, 0), checksum(&program, &start, 0), "{name}");
        for field in 0..3 {
            for slot in 0..start.fields()[field].slots {
                assert_eq!(points(&data, field, slot), points(&start, field, slot), "{name}");
            }
        }
        reference::run_quietly(&program, &[], &mut data, steps).unwrap();
        let comparison = compare(&program, &dense, &data, steps);
        assert_eq!((comparison.mismatches, comparison.first), (0, None), "{name}");
        assert_eq!(checksum(&program, &data, steps), checksum(&program, &dense, steps));
        assert!(padding_is(&data, 7.0), "{name}");

        let copy = data.try_clone().unwrap();
        assert_eq!(copy.layout(), data.layout());
        assert_eq!(compare(&program, &copy, &data, steps).mismatches, 0);
        for layout in layouts(&program, size) {
            let mut other = ProgramData::zeroed_with(&program, layout).unwrap();
            other.copy_from(&data);
            assert_eq!(compare(&program, &data, &other, steps).mismatches, 0);
        }

        let (v, level) = (FieldId(1), steps);
        npy::write_level(&path, data.layout(), data.level(&program, v, level)).unwrap();
        let shape: Vec<u64> = size.iter().map(|&extent| extent as u64).collect();
        let mut saved = vec![0f64; data.points()];
        npy::read_into(&path, &shape, ValuesMut::F64(&mut saved)).unwrap();
        assert_eq!(saved, points(&dense, 1, program.slot_of_level(v, level)));
        set_padding(&mut data, 9.0);
        initial::load_field(&program, &mut data, v, &path).unwrap();
        assert_eq!(points(&data, 1, program.slot_of_level(v, 0)), saved);
        let all: Vec<f32> = (0..3 * data.points()).map(|i| i as f32).collect();
        npy::write(&path, &[&[3], shape.as_slice()].concat(), ValuesRef::F32(&all)).unwrap();
        initial::load_field(&program, &mut data, FieldId(0), &path).unwrap();
        let found: Vec<f64> = (0..3).flat_map(|slot| points(&data, 0, slot)).collect();
        assert_eq!(found, (0..found.len()).map(|i| i as f64).collect::<Vec<_>>());
        initial::prepare_boundary(&program, &mut data).unwrap();
        assert!(padding_is(&data, 9.0), "{name}");
    }
}

#[test]
fn results_do_not_depend_on_the_layout() {
    check(1, &[20_001], 3);
    check(2, &[40, 1025], 3);
    check(2, &[9_000, 3], 2);
    check(3, &[19, 33, 130], 4);
    check(3, &[1, 1, 1], 2);
}

#[test]
fn differences_are_found_at_their_point() {
    let program = heat2d(F32);
    let dense = ProgramData::zeroed(&program, &[50, 3000]).unwrap();
    let mut padded =
        ProgramData::zeroed_with(&program, Layout::padded(&program, &[50, 3000]).unwrap()).unwrap();
    let at = padded.layout().offset(42 * 3000 + 17);
    set(padded.slot_mut(FieldId(0), 0), |i| if i == at { 2.0 } else { 0.0 });
    for (left, right) in [(&dense, &padded), (&padded, &dense)] {
        let comparison = compare(&program, left, right, 0);
        let first = comparison.first.unwrap();
        assert_eq!((comparison.mismatches, first.index), (1, vec![42, 17]));
        assert_eq!(first.left + first.right, 2.0);
    }
}

#[test]
fn padded_strides_avoid_conflicts() {
    for (dimension, size) in [
        (1, vec![1 << 20]),
        (2, vec![4096, 4096]),
        (2, vec![100, 1000]),
        (3, vec![64, 512, 512]),
        (3, vec![5, 64, 61]),
    ] {
        let program = program(dimension);
        let layout = Layout::padded(&program, &size).unwrap();
        let outer = &layout.strides()[..dimension - 1];
        assert_eq!(*layout.strides().last().unwrap(), 1);
        for &stride in outer.iter().chain([&layout.level_stride()]) {
            assert_eq!(stride * 4 / 64 % 2, 1);
            for bytes in [4, 8] {
                let beyond = stride * bytes % 4096;
                assert_eq!(stride * bytes % 64, 0);
                assert!(stride * bytes < 2048 || (320..=4096 - 320).contains(&beyond), "{layout:?}");
            }
        }
        let points: i64 = size.iter().product();
        if points > 1 << 20 {
            assert!((layout.level_stride() as f64) < 1.1 * points as f64, "{layout:?}");
        }
        let data = ProgramData::zeroed_with(&program, layout).unwrap();
        for field in data.fields() {
            let address = match field.values.view() {
                ValuesRef::F32(values) => values.as_ptr() as usize,
                ValuesRef::F64(values) => values.as_ptr() as usize,
            };
            assert_eq!(address % 64, 0);
        }
        assert!(data.bytes() >= points as u64 * 4);
    }
    let rows = Layout::padded(&heat2d(F32), &[4096, 4096]).unwrap();
    assert_eq!(rows.native_sizes()[..3], [4096, 4096, 261 * 16]);
}

#[test]
fn native_sizes_are_extents_then_strides() {
    let sizes = |size: &[i64]| Layout::dense(&program(size.len()), size).unwrap().native_sizes();
    assert_eq!(sizes(&[7]), [7, 7]);
    assert_eq!(sizes(&[5, 7]), [5, 7, 7, 35]);
    assert_eq!(sizes(&[3, 5, 7]), [3, 5, 7, 35, 7, 105]);
    let own = Layout::with_strides(&program(3), &[3, 5, 7], &[50, 9], 200).unwrap();
    assert_eq!(own.native_sizes(), [3, 5, 7, 50, 9, 200]);
    assert!(!own.is_dense() && Layout::dense(&program(1), &[7]).unwrap().is_dense());
}

#[test]
fn layouts_that_overlap_are_refused() {
    let program = program(3);
    let refusal = |size: &[i64], strides: &[usize], level_stride| {
        let error = Layout::with_strides(&program, size, strides, level_stride).unwrap_err();
        assert!(matches!(error, ExecutionError::WrongSize { .. }));
        error.to_string()
    };
    let size = [3, 5, 7];
    assert!(Layout::with_strides(&program, &size, &[43, 9], 129).is_ok());
    assert!(refusal(&size, &[43, 6], 200).contains("stride in `j` is 6, and must be at least 7"));
    assert!(refusal(&size, &[42, 9], 200).contains("stride in `i` is 42, and must be at least 43"));
    assert!(refusal(&size, &[43, 9], 128).contains("distance of levels is 128, and must be at least 129"));
    assert!(refusal(&size, &[9], 200).contains("1 outer strides were given for 3"));
    assert!(refusal(&size, &[usize::MAX, 9], usize::MAX).contains("too large"));
    assert!(refusal(&size, &[43, 9], usize::MAX).contains("distance of levels"));
    assert!(refusal(&[3, 0, 7], &[43, 9], 200).contains("extent in `j` is 0"));
    assert!(Layout::padded(&program, &[i64::MAX / 65, 1, 1]).is_ok());
    let huge = Layout::padded(&program, &[i64::MAX / 65, 1, 1]).unwrap();
    let error = ProgramData::zeroed_with(&program, huge).unwrap_err();
    assert!(matches!(error, ExecutionError::OutOfMemory { .. }));
    let flat = Layout::dense(&self::program(2), &[4, 4]).unwrap();
    let error = ProgramData::zeroed_with(&program, flat).unwrap_err();
    assert!(matches!(error, ExecutionError::WrongData { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn results_do_not_depend_on_the_layout_of_any_grid(
        extents in prop::collection::vec(1i64..12, 1..=3),
        long in 1i64..300,
        steps in 0i64..4,
    ) {
        let mut size = extents;
        if size.len() < 3 {
            *size.last_mut().unwrap() = long;
        }
        check(size.len(), &size, steps);
    }
}
