//! Dependences found by isl against plain enumeration.

mod analysis_support;

use analysis_support::{box2d4r, box3d2r, enumeration, examples, heat};
use polyhedral::dependence::{Dependence, dependences};
use std::collections::BTreeSet;

#[test]
fn agree_with_enumeration() {
    for (name, program) in examples() {
        let exact: BTreeSet<Dependence> = dependences(&program).unwrap().into_iter().collect();
        let size = if program.dimension() == 3 { vec![5; 3] } else { vec![9; program.dimension()] };
        let seen = enumeration::dependences(&program, &size, 8);
        assert_eq!(exact, seen, "{name}");
        let tiny = enumeration::dependences(&program, &vec![3; program.dimension()], 2);
        assert!(tiny.is_subset(&exact), "{name}");
    }
}

#[test]
fn are_quick() {
    for (name, program) in [("box2d4r", box2d4r()), ("box3d2r", box3d2r()), ("heat3d", heat(3))] {
        let start = std::time::Instant::now();
        let count = dependences(&program).unwrap().len();
        println!("{name}: {count} dependences in {:?}", start.elapsed());
    }
}
