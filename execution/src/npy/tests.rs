use super::*;
use crate::grid::Values;
use proptest::prelude::*;

fn file_with(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn with_header(version: u8, header: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(elements);
    bytes
}

fn refusal(bytes: &[u8], shape: &[u64]) -> String {
    let file = file_with(bytes);
    let mut to = [0f32; 6];
    read_into(file.path(), shape, ValuesMut::F32(&mut to)).unwrap_err().to_string()
}

const PLAIN: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";

#[test]
fn all_versions_are_read() {
    let elements: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_le_bytes()).collect();
    for version in [1, 2, 3] {
        let file = file_with(&with_header(version, PLAIN, &elements));
        let mut to = [0f32; 6];
        read_into(file.path(), &[2, 3], ValuesMut::F32(&mut to)).unwrap();
        assert_eq!(to, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}

#[test]
fn refusals_say_what_was_expected_and_found() {
    let elements = [0u8; 24];
    let check = |bytes: &[u8], parts: &[&str]| {
        let message = refusal(bytes, &[2, 3]);
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in `{message}`");
        }
    };
    let replaced = |from: &str, to: &str| with_header(1, &PLAIN.replace(from, to), &elements);
    check(&replaced("False", "True"), &["Fortran", "ascontiguousarray"]);
    check(&replaced("<f4", ">f4"), &["big-endian", "astype('<f4')"]);
    check(&replaced("<f4", "<f8"), &["f64 (<f8)", "f32 (<f4)"]);
    check(&replaced("<f4", "<i4"), &["'<i4'", "'<f4' or '<f8'"]);
    check(&replaced("'<f4'", "[('x', '<f4')]"), &["structured"]);
    check(&replaced("(2, 3)", "(3, 2)"), &["(3, 2)", "(2, 3)"]);
    check(&replaced("(2, 3)", "(6,)"), &["(6,)", "(2, 3)"]);
    check(&replaced("(2, 3)", "(2, -3)"), &["shape"]);
    check(&replaced("(2, 3)", "(2, 99999999999999999999999)"), &["shape"]);
    check(&replaced("'shape': (2, 3), ", ""), &["without 'shape'"]);
    check(&replaced("}\n", "} x\n"), &["after its end"]);
    check(&with_header(1, PLAIN, &elements[1..]), &["truncated"]);
    check(&with_header(4, PLAIN, &elements), &["version 4"]);
    check(b"PK\x03\x04 something else", &["not a .npy file"]);
    check(b"", &["not a .npy file"]);
    check(b"\x93NUMPY\x02\x00\xff\xff\xff\xff", &["4294967295 bytes"]);
    check(b"\x93NUMPY\x01\x00\xff\x00{", &["truncated"]);
}

#[test]
fn folders_and_missing_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Reader::open(folder.path()).unwrap_err().to_string().contains("folder"));
    assert!(matches!(Reader::open(&folder.path().join("none")), Err(ExecutionError::File { .. })));
}

#[test]
fn a_wrong_shape_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    assert!(write(&path, &[2, 2], ValuesRef::F32(&[1.0; 3])).is_err());
    assert!(write(&path, &[u64::MAX, 2], ValuesRef::F32(&[1.0; 3])).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_arrays_are_read_back(shape in prop::collection::vec(1u64..9, 0..4), wide: bool, seed: u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let length: u64 = shape.iter().product();
        let element = if wide { ElementType::F64 } else { ElementType::F32 };
        let mut written = Values::zeroed(element, length as usize).unwrap();
        let value = |i: usize| crate::initial::random_value(seed, 0, 0, i) - 0.5;
        match written.view_mut() {
            ValuesMut::F32(values) => values.iter_mut().enumerate().for_each(|(i, v)| *v = value(i) as f32),
            ValuesMut::F64(values) => values.iter_mut().enumerate().for_each(|(i, v)| *v = value(i)),
        }
        write(&path, &shape, written.view()).unwrap();
        prop_assert_eq!((std::fs::metadata(&path).unwrap().len() as usize - length as usize * element.bytes()) % 64, 0);
        let mut read = Values::zeroed(element, length as usize).unwrap();
        read_into(&path, &shape, read.view_mut()).unwrap();
        prop_assert_eq!(read.view(), written.view());
    }

    #[test]
    fn no_header_panics(text in "[{}()':, <f48TrueFals\"shpdco_nr0-9L\\[\\]]{0,80}") {
        let _ = header::parse(&text);
    }

    #[test]
    fn no_damaged_header_panics(position in 0usize..60, symbol in any::<char>()) {
        let mut text: Vec<char> = PLAIN.chars().collect();
        let position = position % text.len();
        text[position] = symbol;
        let _ = header::parse(&text.into_iter().collect::<String>());
    }

    #[test]
    fn no_file_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut file = MAGIC.to_vec();
        file.extend(&bytes);
        let _ = read_header(&mut file.as_slice());
        let _ = read_header(&mut bytes.as_slice());
    }
}
