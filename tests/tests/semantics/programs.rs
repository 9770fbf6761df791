//! The programs of `tests/programs`, which no part of the tool was made for.

use crate::harness::{agrees_with_reference, parsed};
use polyhedral::program::Program;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn program(name: &str) -> Arc<Program> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(format!("{name}.stencil"));
    parsed(name, &std::fs::read_to_string(&path).unwrap())
}

fn check(name: &str) {
    agrees_with_reference(&program(name));
}

macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        #[test]
        fn all_programs_are_listed() {
            let listed = BTreeSet::from([$(stringify!($name).to_owned()),*]);
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
            let found = std::fs::read_dir(folder).unwrap().map(|entry| {
                entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()
            });
            assert_eq!(listed, found.collect());
        }

        /// A printed program, read again, is the same program.
        #[test]
        fn programs_survive_printing() {
            for name in [$(stringify!($name)),*] {
                let program = program(name);
                let printed = program.to_source();
                let again = parsed(name, &printed);
                assert_eq!(printed, again.to_source());
                let text = |program: &Program| format!("{:?}", program.clone().without_spans());
                assert_eq!(text(&program), text(&again), "{printed}");
            }
        }
    };
}

programs![
    maxwell3d,
    elastic2d,
    faces3d,
    neumann2d,
    driven2d,
    buffers2d,
    library2d,
    ends1d,
    downwind3d,
    pointwise3d,
    fourstage2d,
    mixed2d,
    arrhenius2d,
    flux2d,
    anisotropic2d,
    depth8_2d,
    everyother2d,
    exchange2d,
    majority2d,
    names2d,
    upwind2d,
    limiter1d,
    laxwendroff1d,
    longreach1d,
    depth3_1d,
    wave1d,
];
