//! Initial data from files, and the fixed boundary.

use crate::support::*;
use execution::grid::{ProgramData, ValuesRef};
use execution::{ExecutionError, initial, npy};
use polyhedral::program::*;

/// Three initial levels of `u`, and a coefficient `c`.
fn program() -> Program {
    let value =
        binary(BinaryOp::Add, read(ElementType::F32, 0, 0, &[1, 0]), read(ElementType::F32, 0, -2, &[0, -1]));
    Draft {
        dimension: 2,
        fields: vec![("u", ElementType::F32, true), ("c", ElementType::F64, false)],
        parameters: vec![],
        statements: vec![(0, vec![], value)],
    }
    .program()
}

#[test]
fn one_array_serves_for_all_levels_or_each_has_its_own() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("u.npy");
    let values: Vec<f32> = (0..36).map(|i| i as f32).collect();
    let u = initial::field_named(&program, "u").unwrap();
    let mut data = ProgramData::zeroed(&program, &[3, 4]).unwrap();

    npy::write(&path, &[3, 4], ValuesRef::F32(&values[..12])).unwrap();
    initial::load_field(&program, &mut data, u, &path).unwrap();
    for level in -2..=0 {
        assert_eq!(data.level(&program, u, level), ValuesRef::F32(&values[..12]));
    }

    npy::write(&path, &[3, 3, 4], ValuesRef::F32(&values)).unwrap();
    initial::load_field(&program, &mut data, u, &path).unwrap();
    for level in -2..=0 {
        let start = 12 * (level + 2) as usize;
        assert_eq!(data.level(&program, u, level), ValuesRef::F32(&values[start..start + 12]));
    }
}

#[test]
fn wrong_files_name_the_field_and_what_it_needs() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let mut data = ProgramData::zeroed(&program, &[3, 4]).unwrap();
    npy::write(&path, &[4, 3], ValuesRef::F32(&[0.0; 12])).unwrap();
    let u = initial::load_field(&program, &mut data, FieldId(0), &path).unwrap_err().to_string();
    assert!(u.contains("shape (4, 3)") && u.contains("`u` needs (3, 4)") && u.contains("(3, 3, 4)"), "{u}");
    let c = initial::load_field(&program, &mut data, FieldId(1), &path).unwrap_err().to_string();
    assert!(c.contains("`c` needs (3, 4)") && !c.contains("oldest"), "{c}");
    npy::write(&path, &[3, 4], ValuesRef::F32(&[0.0; 12])).unwrap();
    let c = initial::load_field(&program, &mut data, FieldId(1), &path).unwrap_err().to_string();
    assert!(c.contains("f32 (<f4)") && c.contains("astype('<f8')"), "{c}");
    let unknown = initial::field_named(&program, "v").unwrap_err();
    assert!(matches!(unknown, ExecutionError::UnknownField { .. }));
    assert!(unknown.to_string().contains("its fields are u, c"));
}

#[test]
fn the_boundary_is_that_of_level_0_in_every_slot() {
    let program = program();
    let size = [5, 7];
    let mut data = ProgramData::zeroed(&program, &size).unwrap();
    initial::fill_random(&program, &mut data, 3).unwrap();
    let u = FieldId(0);
    let newest = doubles(data.level(&program, u, 0));
    // Rows 0..4 and columns 1..7 are computed.
    assert_eq!(program.domain(0, &size), [(0, 4), (1, 7)]);
    for slot in 0..4 {
        let values = doubles(data.slot(u, slot));
        for (linear, &value) in values.iter().enumerate() {
            let (i, j) = (linear / 7, linear % 7);
            if i >= 4 || j < 1 {
                assert_eq!(value, newest[linear], "slot {slot} at {i}, {j}");
            } else if slot < 3 {
                assert_eq!(value, initial::random_value(3, 0, slot as i64 - 2, linear));
            }
        }
    }
}

#[test]
fn a_box_has_the_values_of_the_whole_grid() {
    let (size, own) = ([7, 300, 11], [(2, 7), (1, 299), (3, 10)]);
    let values: Vec<f64> = initial::random_box((5, 1, -1), &own, &size);
    let mut expected = Vec::new();
    for i in 2..7 {
        for j in 1..299 {
            expected.extend((3..10).map(|k| initial::random_value(5, 1, -1, (i * 300 + j) * 11 + k)));
        }
    }
    assert_eq!(values, expected);
    assert!(initial::random_box::<f32>((5, 1, -1), &[(2, 7), (3, 3), (3, 10)], &size).is_empty());
}
