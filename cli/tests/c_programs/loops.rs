//! Loops as people write them: steps, sweeps, guards, and what stands between steps.

use super::{SMALL_1D, SMALL_2D, program, same};
use crate::support::{Folder, command, finish, tilewright};
use std::path::Path;

#[test]
fn rounds_of_several_steps() {
    for name in ["steps_of_two.c", "open_ends.c"] {
        same(name, &[], &[]);
    }
    same("steps_of_two.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
}

#[test]
fn stars_that_reach_far() {
    same("far_reaching.c", &[], &[]);
    same("far_reaching.c", &["-DREAL=double", "-DRADIUS=2"], &[]);
}

/// Updates in place whose points follow each other: nobody names the strategy that can.
#[test]
fn sweeps_in_order() {
    let small = ["--tile", "st=4,s0=8,s1=13"];
    same("seidel_2d.c", &[], &small);
    same("seidel_2d.c", &["-DDATA=float", "-DN=61", "-DSTEPS=7"], &[]);
    same("over_relaxation.c", &[], &["--tile", "st=4,s0=3,s1=8,s2=7"]);
    same("gauss_seidel_lines.c", &[], &["--tile", "st=4,s0=23"]);
    same("line_recurrences.c", &[], &small);
}

/// Walls that are copied behind a sweep in place, and columns of flat images; rows of one point are none.
#[test]
fn edges_behind_sweeps_and_loops_by_rows() {
    same("edges_behind_sweeps.c", &[], &[]);
    same("edges_behind_sweeps.c", &["-DREAL=float", "-DSTEPS=1"], &[]);
    same("loops_by_rows.c", &[], &[]);
    let file = program("loops_by_rows.c").display().to_string();
    for size in [["1", "5"], ["2", "6"], ["3", "3"]] {
        let arguments = ["check", &file, "--quick", "--threads", "2", "--json", "--", size[0], size[1]];
        let report = tilewright(&arguments).json();
        assert_eq!(report["equal"], true, "{size:?}: {report:#}");
    }
}

/// Arrays that each step copies are computed once, and get their values behind the last step.
#[test]
fn arrays_that_are_copied() {
    same("copies.c", &[], &[]);
    same("copies.c", &["-DREAL=float", "-DSTEPS=8"], &["--tile", "st=4,s0=3,s1=8"]);
    same("copies.c", &["-DN=5", "-DM=6", "-DSTEPS=1"], &["--strategy", "naive"]);
    same("copies.c", &["-DN=60", "-DM=9", "-DSTEPS=2"], &[]);
    let folder = Folder::new();
    let file = program("copies.c").display().to_string();
    let out = folder.arg("copies");
    let report = tilewright(&["compile", &file, "--target", "openmp", "-o", &out]);
    assert!(report.code == 0 && !report.stdout.contains("one step at a time"), "{}", report.stdout);
    let glue = |number: &str| {
        let text =
            std::fs::read_to_string(Path::new(&out).join(format!("copies_scop{number}_glue.c"))).unwrap();
        let mirrors = text.lines().skip_while(|line| !line.contains("} tw_mirrors[] = {")).skip(1);
        let own: Vec<String> =
            mirrors.take_while(|line| line.starts_with("    {")).map(str::to_owned).collect();
        own
    };
    let count = |number: &str, part: &str| glue(number).iter().filter(|line| line.contains(part)).count();
    // Behind the sweep, with edges that no step writes, before it, both, and a wave's last step but one.
    assert_eq!((count("", "/* b */"), count("2", "/* b */"), count("4", ", 1, 0 }, /* b */")), (1, 1, 1));
    assert_eq!(
        (count("6", "/* c */"), count("7", ", 1, 1 }, /* b */"), count("7", ", 0, 0 }, /* c */")),
        (1, 1, 1)
    );
    assert_eq!((count("8", "/* next */"), count("9", "/* b */"), count("10", "/*")), (1, 1, 0));
    // Less is copied than is computed: both are arrays of the steps.
    assert_eq!(count("3", "/*"), 0);
    // Of two arrays one alone says what was there before the first step.
    assert_eq!((count("11", ", 1, 1 }"), count("11", "/* d */"), count("11", "/* c */")), (1, 0, 1));
}

/// What a step computes anew is still wanted where the last one ends before it computes that.
#[test]
fn steps_that_end_early() {
    same("steps_cut_short.c", &[], &[]);
    same("steps_cut_short.c", &["-DSTEPS=5", "-DREAL=float"], &["--tile", "st=2,s0=3,s1=8"]);
}

/// Variables that functions keep, neighbours that `if` chooses, changes collected over colours, sums that are no numbers, and indices
/// that hide variables.
#[test]
fn statics_neighbours_and_changes_in_parts() {
    same("hidden_indices.c", &[], &[]);
    same("statics.c", &[], &[]);
    same("chosen_neighbours.c", &[], &[]);
    same("chosen_neighbours.c", &["-DREAL=float"], &["--tile", "st=2,s0=4,s1=5"]);
    same("colours_in_parts.c", &[], &[]);
    same("colours_in_parts.c", &["-DREAL=float"], &["--tile", "st=4,s0=8,s1=13"]);
    same("sums_without_numbers.c", &[], &[]);
    let file = program("chosen_neighbours.c").display().to_string();
    for size in [["1", "5"], ["2", "3"], ["9", "2"]] {
        let arguments = ["check", &file, "--quick", "--threads", "2", "--json", "--", size[0], size[1]];
        let report = tilewright(&arguments).json();
        assert_eq!(report["equal"], true, "{size:?}: {report:#}");
    }
}

/// What is read outside of an array is told, with its place.
#[test]
fn elements_outside_of_arrays_are_told() {
    let folder = Folder::new();
    let text = |first: &str| {
        format!(
            "#include <stdio.h>\nint main(void)\n{{\n    double u[60], v[60];\n    for (int i = 0; i < 60; i++) u[i] = v[i] = i % 7;\n    \
             for (int t = 0; t < 9; t++) {{\n        for (int i = {first}; i < 59; i++) v[i] = 0.5 * (u[i - 1] + u[i + 1]);\n        \
             for (int i = 0; i < 60; i++) u[i] = v[i];\n    }}\n    printf(\"%f\\n\", u[7]);\n    return 0;\n}}\n"
        )
    };
    for (first, told) in [("0", true), ("1", false)] {
        let file = folder.write("outside.c", text(first));
        let out = folder.arg(first);
        let report = tilewright(&["compile", &file, "--target", "openmp", "--json", "-o", &out]).json();
        let notes = report["notes"].to_string();
        let place = notes.contains("line 7, column");
        let what = notes.contains("reads an element outside of `u`, by a subscript that is below 0");
        assert_eq!((place, what), (told, told), "{report:#}");
    }
}

/// Updates in place in colours, by strategies that take points in any order.
#[test]
fn sweeps_in_colours() {
    same("red_black.c", &[], &[]);
    same("red_black.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
    same("red_black.c", &["-DSTEPS=12"], &["--strategy", "time-skewing"]);
    same("colours.c", &[], &["--strategy", "naive"]);
    same("colours.c", &["-DSTEPS=4"], &[]);
}

/// The same, until the largest change of a round is small.
#[test]
fn sweeps_in_colours_until_nothing_changes() {
    same("red_black_until.c", &["-DTOL=1e-2"], &[]);
    same("red_black_until.c", &["-DN=41", "-DW=1.7", "-DSTEPS=37"], &["--strategy", "naive"]);
    same("colours_tested_behind.c", &["-DTOL=1e-2"], &[]);
    let file = program("colours_by_condition.c").display().to_string();
    for flags in [&[][..], &["-DN=23", "-DTOL=0.3"], &["-DSTEPS=21"]] {
        let report =
            tilewright(&[&["check", &file, "--quick", "--threads", "2", "--json"][..], flags].concat())
                .json();
        assert_eq!(report["equal"], true, "{report:#}");
        let regions = report["regions"].as_array().unwrap();
        assert!(regions.len() == 2 && regions.iter().all(|region| region["original"] == 0), "{report:#}");
    }
}

/// Asserts of what steps leave alone are asked for before them; where they fail, the program ends as it did.
#[test]
fn asserts_between_sweeps() {
    same("asserts.c", &[], &SMALL_1D);
    let file = program("asserts.c").display().to_string();
    let report = tilewright(&["check", &file, "-DROWS=50", "--quick", "--json"]).json();
    assert!(report["equal"] == true && report["exit_code"]["original"] != 0, "{report:#}");
}

/// What people write beside sweeps; each of the five loops runs in tiles.
#[test]
fn beside_sweeps() {
    let file = program("beside_sweeps.c").display().to_string();
    let report = tilewright(&["check", &file, "--quick", "--threads", "2", "--json"]).json();
    assert_eq!(report["equal"], true, "{report:#}");
    let regions = report["regions"].as_array().unwrap();
    let tiled = |region: &serde_json::Value| region["tiled"].as_u64() > Some(0) && region["original"] == 0;
    assert!(regions.len() == 5 && regions.iter().all(tiled), "{report:#}");
}

/// Blocks of steps between output, reductions and tests of each step, which end where the original ends.
#[test]
fn what_stands_between_steps() {
    same("output_every_so_often.c", &[], &SMALL_2D);
    same("output_every_so_often.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
    same("last_residual.c", &[], &["--tile", "st=4,s0=6,s1=4,s2=16"]);
    same("clocks.c", &[], &SMALL_1D);
    same("values_not_wanted.c", &[], &SMALL_1D);
    same("pointers_of_a_step.c", &[], &[]);
}

#[test]
fn steps_until_a_maximum_is_small() {
    same("converges.c", &[], &SMALL_2D);
    same("converges.c", &["-DREAL=float", "-DEPS=1e-9"], &["--strategy", "naive"]);
    same("converges_without_index.c", &[], &SMALL_1D);
    same("rounded_maximum.c", &[], &[]);
    same("leaves_early.c", &[], &SMALL_2D);
    same("sweeps_that_are_watched.c", &[], &[]);
}

#[test]
fn sources_and_receivers() {
    same("sources.c", &[], &SMALL_2D);
    same("sources_in_levels.c", &[], &["--strategy", "naive"]);
}

#[test]
fn what_a_region_declares_before_its_time_loop() {
    same("declared_in_region.c", &[], &SMALL_1D);
}

/// What is tested in each step may be computed in loops over columns, also where rows lie one behind the other.
#[test]
fn tests_in_loops_over_columns() {
    for function in ["by_columns", "by_columns_of"] {
        let file = program("converges_somehow.c").display().to_string();
        let report =
            tilewright(&["check", &file, "--quick", "--function", function, "--threads", "2", "--json"])
                .json();
        let regions = report["regions"].as_array().unwrap();
        let is_tiled = regions.len() == 1 && regions[0]["tiled"].as_u64() > Some(0);
        assert!(report["equal"] == true && is_tiled, "{function}: {report:#}");
    }
}

/// The ways in which people write ghost cells, tests of convergence, time that counts down, and cellular automata.
#[test]
fn as_people_write_them() {
    same("ghosts_and_sources.c", &[], &[]);
    same("converges_somehow.c", &[], &[]);
    same("steps_by_macros.c", &[], &[]);
    same("changes_counted.c", &[], &[]);
    same("changes_at_first.c", &[], &[]);
    same("converges_somehow.c", &["-DREAL=float"], &["--strategy", "naive"]);
    same("backwards.c", &[], &[]);
    same("step_by_step.c", &[], &[]);
    same("ahead_in_waves.c", &[], &[]);
    same("ahead_in_waves.c", &["-DREAL=float"], &[]);
    same("small_integers.c", &[], &[]);
    same("step_of_small_arrays.c", &[], &[]);
    same("tridiagonal_lines.c", &[], &[]);
    same("frame_in_sweep.c", &["-DREAL=float"], &[]);
    same("neighbours_by_loops.c", &[], &[]);
    same("beside_functions.c", &[], &[]);
    same("arrays_of_a_step.c", &[], &[]);
    same("maxima_of_rows.c", &[], &[]);
    same("maxima_of_rows.c", &["-DREAL=float"], &[]);
}

/// Loops over all points at once run in tiles, but on grids that are too small; one, whose members are looked at under conditions, stays as
/// it is written.
#[test]
fn flat_loops() {
    let file = program("flat_loops.c").display().to_string();
    let check = |flags: &[&str]| {
        let report =
            tilewright(&[&["check", &file, "--quick", "--threads", "2", "--json"][..], flags].concat())
                .json();
        assert_eq!(report["equal"], true, "{report:#}");
        report
    };
    let report = check(&["-DREAL=float"]);
    let regions = report["regions"].as_array().unwrap();
    let tiled = |region: &serde_json::Value| region["tiled"].as_u64() > Some(0) && region["original"] == 0;
    assert!(regions.len() == 4 && regions.iter().all(tiled), "{report:#}");
    check(&["-DW=3", "-DH=2"]);
}

/// Sizes that several structures hold alike: both loops run in tiles, and as they are written where one of the structures holds another size.
#[test]
fn sizes_of_structures() {
    let file = program("same_sizes.c").display().to_string();
    for (flags, tiled) in [(vec![], true), (vec!["-DREAL=float"], true), (vec!["-DMORE=1"], false)] {
        let report =
            tilewright(&[&["check", &file, "--quick", "--threads", "2", "--json"][..], &flags].concat())
                .json();
        assert_eq!(report["equal"], true, "{report:#}");
        let regions = report["regions"].as_array().unwrap();
        let ran = |region: &serde_json::Value, how: &str| region[how].as_u64() > Some(0);
        let as_told =
            |region: &serde_json::Value| ran(region, "tiled") == tiled && ran(region, "original") != tiled;
        assert!(regions.len() == 2 && regions.iter().all(as_told), "{report:#}");
    }
}

/// Numbers of buffers and pointers that take turns, in whatever way: each loop runs in tiles, all of its steps together, unless the numbers
/// begin otherwise.
#[test]
fn numbers_in_turn() {
    let file = program("numbers_in_turn.c").display().to_string();
    let check = |flags: &[&str]| {
        let report =
            tilewright(&[&["check", &file, "--quick", "--threads", "2", "--json"][..], flags].concat())
                .json();
        assert_eq!(report["equal"], true, "{report:#}");
        report
    };
    let report = check(&[]);
    let regions = report["regions"].as_array().unwrap();
    let tiled = |region: &serde_json::Value| region["tiled"] == 1 && region["original"] == 1;
    assert!(regions.len() == 14 && regions.iter().all(tiled), "{report:#}");
    // From numbers that are the same no step runs in tiles.
    let report = check(&["-DSAME"]);
    let regions = report["regions"].as_array().unwrap();
    assert!(regions.iter().any(|region| region["tiled"] == 0 && region["original"] == 2), "{report:#}");
    same("first_steps.c", &[], &[]);
}

/// Pointers that each step chooses by its time take turns only where they change from step to step: one loop runs all steps together,
/// those whose time counts by two or three one at a time.
#[test]
fn pointers_chosen_by_time() {
    let file = program("chosen_by_time.c").display().to_string();
    let report = tilewright(&["check", &file, "--quick", "--threads", "2", "--json"]).json();
    assert_eq!(report["equal"], true, "{report:#}");
    let regions = report["regions"].as_array().unwrap();
    let together = regions.iter().filter(|region| region["tiled"] == 1).count();
    assert_eq!((together, regions.len()), (1, 4), "{report:#}");
}

/// Pointers to structures that take turns: four loops run all steps together, three of them as they are written where sizes differ.
#[test]
fn structures_in_turn() {
    let file = program("structures_in_turn.c").display().to_string();
    for (flags, together, written) in [(vec![], 4, 0), (vec!["-DMORE=1", "-DREAL=float"], 1, 3)] {
        let report =
            tilewright(&[&["check", &file, "--quick", "--threads", "2", "--json"][..], &flags].concat())
                .json();
        assert_eq!(report["equal"], true, "{report:#}");
        let regions = report["regions"].as_array().unwrap();
        let count = |how: &str| regions.iter().filter(|region| region[how] == 2).count();
        assert_eq!((count("tiled"), count("original")), (together, written), "{report:#}");
    }
}

/// Memory that takes the place of other memory in each step: each of the five loops runs in tiles.
#[test]
fn memory_in_turn() {
    let file = program("memory_in_turn.c").display().to_string();
    let report = tilewright(&["check", &file, "--quick", "--threads", "2", "--json"]).json();
    assert_eq!(report["equal"], true, "{report:#}");
    let regions = report["regions"].as_array().unwrap();
    let tiled = |region: &serde_json::Value| region["tiled"] == 1 && region["original"] == 0;
    assert!(regions.len() == 5 && regions.iter().all(tiled), "{report:#}");
}

/// Memory that steps take and give back, by functions of their own, too: each of the five loops runs in tiles.
#[test]
fn memory_of_steps() {
    let file = program("memory_of_a_step.c").display().to_string();
    let report = tilewright(&["check", &file, "--quick", "--threads", "2", "--json"]).json();
    assert_eq!(report["equal"], true, "{report:#}");
    let regions = report["regions"].as_array().unwrap();
    let tiled = |region: &serde_json::Value| region["tiled"].as_u64() > Some(0) && region["original"] == 0;
    assert!(regions.len() == 5 && regions.iter().all(tiled), "{report:#}");
}

/// Loops under conditions that are known before the steps run: all that can be tiled are.
#[test]
fn branches_of_a_step() {
    same("branches.c", &[], &[]);
    same("branches.c", &["-DKIND=1"], &["--strategy", "naive"]);
    let (folder, branches) = (Folder::new(), program("branches.c").display().to_string());
    let report =
        tilewright(&["compile", &branches, "--target", "openmp", "--json", "-o", &folder.arg("out")]).json();
    assert_eq!(report["more"].as_array().unwrap().len(), 3, "{report:#}");
    // What the steps of one branch leave in scalars is read in those of the other.
    let left: Vec<&str> =
        report["left"].as_array().unwrap().iter().map(|left| left["reasons"][0].as_str().unwrap()).collect();
    assert!(left.len() == 2 && left.iter().all(|why| why.starts_with("a loop that runs under a condition")));
}

/// Within one step: levels of an array that keeps all of them, sums behind the sweep, indices that functions wrap around.
#[test]
fn one_step_among_others() {
    same("levels_kept.c", &[], &[]);
    same("swept_behind_copies.c", &[], &[]);
    same("scalars_behind.c", &["-DREAL=float"], &[]);
    same("scalars_ahead.c", &["-DREAL=float"], &[]);
    let (folder, sums) = (Folder::new(), program("scalars_ahead.c").display().to_string());
    let out = folder.arg("out");
    tilewright(&["compile", &sums, "--target", "openmp", "-o", &out]).succeeded();
    let text = std::fs::read_to_string(Path::new(&out).join("scalars_ahead.c")).unwrap();
    // Both loops have something to compute before their tiles, and put it back where these do not run.
    assert_eq!(text.matches("What the loops leave in scalars, of what they find").count(), 2, "{text}");
    assert!(text.contains("sum = tw_was1;") && text.contains("change = tw_was0;"), "{text}");
    same("wrapped_by_functions.c", &[], &[]);
    // The program ends within the loop, as the original does.
    same("wrapped_by_functions.c", &["-DENDS=0.4"], &[]);
}

/// Steps that run one at a time work on the arrays where they are, or stay as they are written; unless each of them writes all
/// points, which takes longer than to copy them.
#[test]
fn little_is_copied_in_every_step() {
    same("cells_shown.c", &[], &[]);
    let folder = Folder::new();
    let text = |before: &str, after: &str| {
        format!(
            "#include <stdio.h>\nvoid run({before}a{after}, {before}b{after}, int n, int steps)\n{{\n    for (int t = 0; t < steps; t++) {{\n        \
             for (int i = 1; i < n - 1; i++)\n            for (int j = 1; j < 63; j++)\n                \
             b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;\n        \
             printf(\"%g\\n\", b[n / 2][5]);\n        \
             for (int i = 1; i < n - 1; i++)\n            for (int j = 1; j < 63; j++)\n                \
             a[i][j] = b[i][j];\n    }}\n}}\n"
        )
    };
    let rows = folder.write("rows.c", text("double **", ""));
    let out = folder.arg("out");
    let compiled =
        |file: &str, target| tilewright(&["compile", file, "--target", target, "-o", &out, "--force"]);
    // Rows that have one distance are used where they are, which the program sees; others stay as they are written.
    compiled(&rows, "openmp").succeeded();
    let refused = compiled(&rows, "cuda");
    assert_eq!(refused.code, 2);
    let block = folder.write("block.c", text("double (*", ")[64]"));
    compiled(&block, "openmp").succeeded();
    let refused = compiled(&block, "cuda");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("arrays go to the GPU and back in each of them"), "{}", refused.stderr);
    // One number of each step is shown.
    let refused = compiled(&folder.write("integers.c", text("int (*", ")[64]")), "openmp");
    assert!(refused.stderr.contains("would be copied in every step"), "{}", refused.stderr);
}

/// Time loops without pragmas: several in several functions, calls of functions, edges that are computed twice.
#[test]
fn programs_as_they_are() {
    same("called_functions.c", &[], &[]);
    same("several_loops.c", &[], &[]);
    same("edges_again.c", &["-DM=34"], &[]);
    // A loop is chosen by its function; what is left is said with its reason.
    let folder = Folder::new();
    let file = program("several_loops.c").display().to_string();
    let arguments =
        ["compile", &file, "--target", "openmp", "-o", &folder.arg("out"), "--function", "warm", "--json"];
    let report = tilewright(&arguments).succeeded().json();
    assert_eq!(
        (&report["place"], &report["more"]),
        (&"warm, line 12".into(), &serde_json::Value::Null),
        "{report:#}"
    );
}

#[test]
fn back_and_forth() {
    same("back_and_forth.c", &[], &[]);
}

#[test]
fn conditions() {
    same("guarded.c", &[], &[]);
}

#[test]
fn guards_become_pieces() {
    same("edges_of_rows.c", &[], &["--strategy", "naive"]);
    same("edges_of_a_line.c", &[], &["--strategy", "naive"]);
    same("edges_of_a_line.c", &[], &[]);
    let folder = Folder::new();
    let program = folder.arg("rows.stencil");
    let file = super::program("edges_of_rows.c").display().to_string();
    tilewright(&["convert", &file, "-o", &program]).succeeded();
    let text = std::fs::read_to_string(&program).unwrap();
    // Two arrays, no coefficient; the corners and the edges are statements.
    assert_eq!(text.matches("field ").count(), 2, "{text}");
    assert!(!text.contains("coefficient") && text.contains("for i == 0, j == 0;"), "{text}");
}

#[test]
fn grids_that_wrap_around() {
    same("around_two_fields.c", &[], &SMALL_2D);
    same("around_ring.c", &[], &[]);
    same("around_ring.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
}

/// Neighbours that are farther away than a vector is long, which are shifted out of other whole ones than those beside.
#[test]
fn far_neighbours() {
    same("far_neighbours.c", &[], &[]);
    same("far_neighbours.c", &["-DREAL=float"], &[]);
}

/// `& (n - 1)` wraps around where `n` is a power of two, which the program asks; other sides run as they are written.
#[test]
fn grids_whose_sides_are_asked_whether_they_are_powers_of_two() {
    same("around_asked_mask.c", &[], &[]);
    same("around_asked_mask.c", &["-DSTEPS=1"], &["--strategy", "naive"]);
    same("around_masks.c", &[], &[]);
    let mut fell_back = 0;
    for file in ["around_asked_mask.c", "around_masks.c"] {
        let file = super::program(file).display().to_string();
        let arguments = ["check", file.as_str(), "-DANY_SIDES", "--quick", "--threads", "2", "--json"];
        let report = finish(command(&arguments)).json();
        assert!(report["equal"] == true, "{report:#}");
        for region in report["regions"].as_array().unwrap() {
            assert!(region["tiled"] != 0, "{region:#}");
            fell_back += u32::from(region["original"] != 0);
        }
    }
    // Of shifts, all are powers of two.
    assert_eq!(fell_back, 4);
}
