//! The shipped stencils: the list is complete, all are accepted, and their analysis data are as expected.

use polyhedral::domain::{Bound, Interval};
use polyhedral::program::{FieldRole, Program};
use polyhedral::shipped;

fn load(name: &str) -> Program {
    match polyhedral::parse(name, shipped::source(name).expect("listed")) {
        Ok(program) => program,
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

#[test]
fn the_list_is_the_folder() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../stencils");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("utf-8"))
        .collect();
    let mut listed: Vec<String> = shipped::names().iter().map(|name| format!("{name}.stencil")).collect();
    files.sort();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn all_are_accepted() {
    for name in shipped::names() {
        let program = load(name);
        assert_eq!(program.name, name);
        assert!(program.description.len() > 40, "{name} says where it comes from");
        crate::invariants::check(&program);
        assert!(shipped::load(name).is_some());
    }
    assert!(shipped::load("nothing").is_none());
}

#[test]
fn margins_and_levels() {
    let asym = load("asym2d");
    assert_eq!(asym.statements[0].domain, [Interval::margin(2, 1), Interval::margin(1, 3)]);
    assert_eq!(asym.fields[0].role, FieldRole::State { levels: 1, slots: 2 });

    // Each point of the oldest level is read only where it is overwritten.
    assert_eq!(load("wave2d").fields[0].role, FieldRole::State { levels: 2, slots: 2 });
    assert_eq!(load("leapfrog1d").fields[0].role, FieldRole::State { levels: 2, slots: 2 });

    let fdtd = load("fdtd2d");
    assert_eq!(fdtd.fields[0].role, FieldRole::State { levels: 1, slots: 1 });
    assert_eq!(fdtd.fields[2].role, FieldRole::State { levels: 1, slots: 1 });
    assert_eq!(fdtd.statements[0].domain[0].low, Bound::start(1));
    assert_eq!(fdtd.statements[2].domain[1].high, Bound::end(-1));

    assert_eq!(load("gradient2d").statements[0].locals.len(), 4);
    assert_eq!(load("box2d4r").statements[0].reads.len(), 81);
    assert_eq!(load("box3d2r").statements[0].reads.len(), 125);
    assert_eq!(load("star3d2r").statements[0].reads.len(), 13);
}

/// Weights of the linear averages add up to one, so that hundreds of steps stay bounded.
#[test]
fn weights_add_up() {
    for name in
        shipped::names().into_iter().filter(|name| name.starts_with("star") || name.starts_with("box"))
    {
        let program = load(name);
        let radius: i64 = name[name.len() - 2..name.len() - 1].parse().expect("radius");
        let mut sum = program.parameters[0].default;
        for ring in 1..=radius {
            let on_ring = |offset: &[i64]| offset.iter().map(|o| o.abs()).max() == Some(ring);
            let points = program.statements[0].reads.iter().filter(|read| on_ring(&read.offset)).count();
            sum += program.parameters[ring as usize].default * points as f64;
        }
        assert!((sum - 1.0).abs() < 1e-12, "{name}: {sum}");
    }
}
