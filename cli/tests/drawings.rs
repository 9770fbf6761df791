//! Every stage of a program as text, and tiles as drawings.

use crate::support::{Folder, tilewright};

#[test]
fn every_stage_can_be_printed() {
    for (stage, part) in [
        ("program", "stencil heat2d(t, i, j) {"),
        ("dependences", "flow dependence of statement 0"),
        ("plan", "kernel phase0"),
        ("schedule", "group of rows (Sequential)"),
    ] {
        let text = tilewright(&["analyze", "heat2d", "--dump", stage]).succeeded().stdout;
        assert!(text.contains(part), "{stage}: {text}");
        let document = tilewright(&["analyze", "heat2d", "--dump", stage, "--json"]).succeeded().json();
        assert!(document["dump"].as_str().unwrap().contains(part));
    }
}

#[test]
fn drawings_are_the_same_every_time() {
    let folder = Folder::new();
    let draw = |name: &str, arguments: &[&str]| {
        let file = folder.arg(name);
        tilewright(&[&["analyze"], arguments, &["--svg", &file]].concat()).succeeded();
        std::fs::read_to_string(file).unwrap()
    };
    for arguments in [
        &["heat2d", "--tile", "st=4,s0=6,s1=16"][..],
        &["fdtd2d"],
        &["heat1d", "--strategy", "naive"],
        &["heat3d"],
    ] {
        let first = draw("first.svg", arguments);
        assert_eq!(first, draw("second.svg", arguments), "{arguments:?}");
        assert!(first.starts_with("<svg ") && first.trim_end().ends_with("</svg>"));
        let document = roxmltree::Document::parse(&first).unwrap();
        let is = |kind: &str| {
            document.descendants().filter(|node| node.attribute("data-kind") == Some(kind)).count()
        };
        assert!(is("blocks") > 0 && is("areas") > 0, "{arguments:?}");
        assert!(!first.contains("NaN") && !first.contains("inf"), "{arguments:?}");
        assert!(first.len() < 1_000_000, "{arguments:?}: {} bytes", first.len());
    }
    assert_eq!(folder.names(), ["first.svg", "second.svg"]);
}
