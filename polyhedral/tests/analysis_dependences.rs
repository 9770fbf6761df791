//! Dependences found by isl against plain enumeration.

use crate::analysis_support::{box2d4r, box3d2r, enumeration, examples, heat, sweeps};
use polyhedral::dependence::{Dependence, dependences};
use std::collections::BTreeSet;

#[test]
fn agree_with_enumeration() {
    for (name, program) in examples().into_iter().chain(sweeps()) {
        let exact: BTreeSet<Dependence> = dependences(&program).unwrap().into_iter().collect();
        let size = if program.dimension() == 3 { vec![5; 3] } else { vec![9; program.dimension()] };
        let seen = enumeration::dependences(&program, &size, 8);
        assert_eq!(exact, seen, "{name}");
        let tiny = enumeration::dependences(&program, &vec![3; program.dimension()], 2);
        assert!(tiny.is_subset(&exact), "{name}");
    }
}

/// Wide boxes share one relation per field level: the analysis time hardly grows with the reads.
#[test]
fn of_wide_boxes_are_all_found() {
    for (name, program, reads) in
        [("heat3d", heat(3), 7), ("box2d4r", box2d4r(), 81), ("box3d2r", box3d2r(), 125)]
    {
        let start = std::time::Instant::now();
        let count = dependences(&program).unwrap().len();
        println!("{name}: {count} dependences in {:?}", start.elapsed());
        // A flow and an anti dependence for each read, and the output dependence.
        assert_eq!(count, 2 * reads + 1, "{name}");
    }
}
