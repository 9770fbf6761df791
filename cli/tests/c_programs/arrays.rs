//! Where values lie: levels, buffers, pointers, structures and small arrays.

use super::{SMALL_1D, SMALL_2D, program, same};
use crate::support::{Folder, tilewright};

#[test]
fn pointers_that_take_turns() {
    same("swapped_pointers.c", &[], &[]);
    same("swapped_pointers.c", &["-DSTEPS=1"], &SMALL_2D);
    same("swapped_first.c", &[], &[]);
}

/// Arrays in place and beside them others, that are copied, from even and odd steps on for even and odd numbers of steps.
#[test]
fn levels_that_lie_anywhere() {
    same("layouts.c", &[], &SMALL_2D);
    same("layouts.c", &["-DFIRST=2", "-DSTEPS=1"], &SMALL_2D);
    same("layouts.c", &["-DSTEPS=12"], &["--strategy", "naive"]);
    same("ahead_in_place.c", &[], &SMALL_2D);
    same("ahead_in_place.c", &["-DSTEPS=4"], &SMALL_2D);
    let folder = Folder::new();
    let uses = |name: &str, target: &str| {
        let file = program(name).display().to_string();
        let report =
            tilewright(&["compile", &file, "--target", target, "-o", &folder.arg(name), "--json"]).json();
        let list = report["arrays"].as_array().unwrap().clone();
        let name = |array: &serde_json::Value| array["name"].as_str().unwrap().to_owned();
        let (in_place, copied): (Vec<_>, Vec<_>) = list.iter().partition(|array| array["in_place"] == true);
        assert!(copied.iter().all(|array| array["reason"].is_string()), "{list:?}");
        (in_place.into_iter().map(name).collect::<Vec<_>>(), copied.into_iter().map(name).collect::<Vec<_>>())
    };
    assert_eq!(uses("layouts.c", "openmp").0, ["level", "cube", "weight"]);
    assert_eq!(uses("swapped_pointers.c", "openmp").1, [""; 0]);
    // As `run` compiles: with vectors of 512 bits where the processor has them.
    for file in ["Makefile", "CMakeLists.txt"] {
        let text = std::fs::read_to_string(folder.path("layouts.c").join(file)).unwrap();
        assert!(text.contains("__AVX512F__") && text.contains("-mprefer-vector-width=512"), "{text}");
        // Which gcc 12 needs to round `(double)(float)x`.
        assert!(text.contains("-fno-tree-slp-vectorize"), "{text}");
    }
    assert_eq!(uses("rows_of_pointers.c", "openmp").0, [""; 0]);
}

#[test]
fn numbers_of_buffers() {
    same("counted_buffers.c", &[], &SMALL_2D);
    // One step only, which leaves one of the three levels alone.
    same("counted_buffers.c", &["-DFIRST=0", "-DSTEPS=3"], &["--strategy", "naive"]);
}

#[test]
fn members_of_arrays_of_structures() {
    same("structures.c", &[], &[]);
}

#[test]
fn members_whose_structures_are_hidden_in_blocks() {
    same("hidden_structures.c", &[], &SMALL_2D);
}

#[test]
fn two_buffers() {
    same("double_buffer.c", &[], &["--tile", "st=4,s0=6,s1=16"]);
    same("double_buffer.c", &["-DREAL=double"], &["--strategy", "naive"]);
}

/// The values of one point in small arrays, weights and neighbours in tables, structures by value; also a lattice Boltzmann
/// program.
#[test]
fn small_arrays_and_tables() {
    same("small_arrays.c", &[], &[]);
    same("small_arrays.c", &["-DREAL=float"], &["--strategy", "naive"]);
    same("lattice.c", &[], &[]);
    same("flat_directions.c", &[], &[]);
    let (folder, lattice) = (Folder::new(), program("lattice.c").display().to_string());
    let out = folder.arg("out");
    let told = |strategy: &str| {
        let words =
            ["compile", &lattice, "--target", "openmp", "--strategy", strategy, "--force", "-o", &out];
        tilewright(&words).succeeded().stdout
    };
    let anew = "what they share is computed for each of them";
    let (shared, apart) = (told("auto"), told("hhc"));
    assert!(shared.contains("diamond") && !shared.contains(anew), "{shared}");
    assert!(apart.contains(anew), "{apart}");
}

#[test]
fn staggered_fields() {
    same("staggered.c", &[], &SMALL_2D);
    same("staggered.c", &["-DREAL=float"], &[]);
}

#[test]
fn flattened_arrays() {
    same("flattened.c", &[], &[]);
    same("short_rows.c", &[], &[]);
    same("short_flat_grids.c", &[], &[]);
}

#[test]
fn three_buffers() {
    same("wave_three_buffers.c", &[], &SMALL_1D);
}

#[test]
fn boundaries_and_rows_of_pointers() {
    same("rows_of_pointers.c", &[], &[]);
}
