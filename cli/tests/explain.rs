//! `tilewright explain` on small files: what is in its JSON document, its files, and its refusals.

use crate::support::{Folder, tilewright};

/// Time falls with x and, for great x only, depends on y; power rises with x. Every 50th run failed.
fn trials(factor: f64) -> String {
    let mut text = "x,y,mode,time,power\n".to_owned();
    for i in 0..600_u32 {
        let (x, y, mode) = (16 * (i % 8 + 1), i / 8 % 6, ["plain", "fast"][(i / 48 % 2) as usize]);
        let time = factor
            * (200.0 / f64::from(x)
                + if x > 64 { f64::from(y) } else { 0.0 }
                + if mode == "fast" { 0.0 } else { 0.5 });
        let power = 100.0 + f64::from(x) / 2.0 + 0.01 * f64::from(i % 7);
        let time = if i % 50 == 49 { "RuntimeFailedConfig".to_owned() } else { format!("{time:.4}") };
        text += &format!("{x},{y},{mode},{time},{power}\n");
    }
    text
}

#[test]
fn the_document_and_the_drawings() {
    let folder = Folder::new();
    let file = folder.write("trials.csv", trials(1.0));
    let (svg, dot, curve) = (folder.arg("tree.svg"), folder.arg("tree.dot"), folder.arg("curve.svg"));
    let arguments = ["explain", &file, "--metric", "time", "--json", "--max-depth", "3", "--stargazer"];
    let drawings = ["--svg", &svg, "--dot", &dot, "--curve", &curve, "--until", "0.2"];
    let document = tilewright(&[&arguments[..], &drawings].concat()).succeeded().json();
    assert_eq!(document["trials"], 588);
    assert_eq!(document["failed"].as_object().unwrap().values().filter_map(|v| v.as_u64()).sum::<u64>(), 12);
    assert!(document["leaves"].as_u64().unwrap() <= 8 && document["depth"] == 3);
    let first = &document["splits"][0];
    assert_eq!((&first["parameter"], &first["depth"]), (&"x".into(), &0.into()));
    assert!(
        first["value"].as_f64().unwrap() == 16.0
            && first["threshold"] == 24.0
            && first["gain"].as_f64().unwrap() > 0.0
    );
    let error = document["median_relative_error"].as_f64().unwrap();
    assert!(error > 0.0 && error < 0.3, "{error}");
    assert!(document["accuracy"]["stargazer"].as_f64().unwrap() > 0.0);
    let best = &document["best_leaf"];
    assert!(best["rules"].is_array() && best["mean"].is_f64() && best["count"].is_u64());
    assert_eq!(document["importance"][0]["parameter"], "x");
    assert_eq!(document["written"].as_array().unwrap().len(), 3);
    for (name, start) in [("tree.svg", "<svg"), ("tree.dot", "digraph"), ("curve.svg", "<svg")] {
        assert!(std::fs::read_to_string(folder.path(name)).unwrap().starts_with(start));
    }
    // The rules of the best partition are a condition for the next search.
    let constraint = best["constraint"].as_str().unwrap();
    let inside = tilewright(&["explain", &file, "--metric", "time", "--where", constraint, "--json"])
        .succeeded()
        .json();
    assert_eq!(inside["trials"], best["count"]);
    assert_eq!(inside["importance_everywhere"][0]["parameter"], "x");
}

#[test]
fn drawings_hold_any_name() {
    let folder = Folder::new();
    let hostile = "</text><script>x</script>\" \\N \u{1b}[31m\u{202e}&#60;'";
    let quoted = format!("\"{}\"", hostile.replace('"', "\"\""));
    let rows: String =
        (0..90).map(|row| format!("{},{quoted}{},{}\n", row % 8, row % 3, row % 3 * 10 + row % 8)).collect();
    let file = folder.write("trials.csv", format!("x,{quoted},time\n{rows}"));
    let (svg, dot, curve) = (folder.arg("tree.svg"), folder.arg("tree.dot"), folder.arg("curve.svg"));
    let drawings = ["--svg", &svg, "--dot", &dot, "--curve", &curve, "--until", "0.2"];
    tilewright(&[&["explain", &file, "--metric", "time"][..], &drawings].concat()).succeeded();
    let unseen = |text: &str| text.chars().any(|c| text_escape::is_hidden(c) && c != '\n');
    for name in ["tree.svg", "curve.svg"] {
        let text = std::fs::read_to_string(folder.path(name)).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(document.descendants().all(|node| !node.has_tag_name("script")) && !unseen(&text));
        assert!(name != "tree.svg" || text.contains("script&gt;"), "{text}");
    }
    // Between an even number of quotes, those behind backslashes aside, there is no other.
    let dot = std::fs::read_to_string(&dot).unwrap();
    let bare = dot.replace("\\\\", "").replace("\\\"", "");
    assert!(bare.lines().all(|line| line.matches('"').count() % 2 == 0) && !unseen(&dot), "{dot}");
}

#[test]
fn several_files_metrics_and_targets() {
    let folder = Folder::new();
    let (small, large) = (folder.write("small.csv", trials(1.0)), folder.write("large.csv", trials(4.0)));
    let (one, four) = (format!("1={small}"), format!("4={large}"));
    let joined = ["explain", &one, &four, "--join", "size", "--json", "--metric", "time", "--metric"];
    let document = tilewright(&[&joined[..], &["time / size"]].concat()).succeeded().json();
    assert_eq!(document["trials"], 2 * 588);
    let share = |report: &serde_json::Value| {
        let list = report["importance"].as_array().unwrap().clone();
        list.iter().find(|entry| entry["parameter"] == "size").unwrap()["share"].as_f64().unwrap()
    };
    assert!(share(&document) > 0.1 && share(&document["others"][0]) < 1e-6);
    let targets = ["explain", &small, "--target", "time <= 4", "--target", "power <= 140", "--json"];
    let document = tilewright(&targets).succeeded().json();
    let found = document["meeting"].as_array().unwrap();
    assert!(!found.is_empty());
    assert!(found[0]["rules"].as_str().unwrap().contains('x') && found[0]["meet"].as_u64().unwrap() > 0);
    let text = tilewright(&[
        "explain",
        &small,
        "--nodes",
        "linear",
        "--draws",
        "2",
        "--samples",
        "100",
        "--iterative",
    ])
    .succeeded();
    assert!(text.stdout.contains("accuracy") && text.stdout.contains("12 failed"), "{}", text.stdout);
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 160), "{}", text.stdout);
}

#[test]
fn refusals() {
    let folder = Folder::new();
    let file = folder.write("trials.csv", trials(1.0));
    let empty = folder.write("empty.csv", "");
    for (arguments, part) in [
        (vec!["missing.csv"], "missing.csv"),
        (vec![&empty], "empty"),
        (vec![&file, "--metric", "tme"], "did you mean `time`"),
        (vec![&file, "--where", "x >"], "column"),
        (vec![&file, "--where", "x > 9999"], "no successful trial"),
        (vec![&file, "--samples", "589"], "588"),
        (vec![&file, "--threshold=-1"], "threshold"),
        (vec![&file, "--target", "time"], "METRIC <= NUMBER"),
        (vec![&file, "--categorical", "zz"], "zz"),
        (vec![&file, &file], "same value"),
        (vec![], "TRIALS"),
    ] {
        let output = tilewright(&[vec!["explain"], arguments.clone()].concat());
        assert_eq!(output.code, 2, "{arguments:?}: {}", output.stderr);
        assert!(output.stderr.contains(part), "{arguments:?}: {}", output.stderr);
        assert!(output.stdout.is_empty());
    }
}

/// `alpha` drives everything, and has fractions; `b` does little.
fn with_fractions(header: &str) -> String {
    let mut text = format!("{header}\n");
    for (i, alpha) in ["0.5", "1", "10"].iter().enumerate() {
        for b in 0..8_u32 {
            text += &format!("{alpha},{b},{:.3}\n", 1.0 + 10.0 * i as f64 + 0.01 * f64::from(b * 5 % 7));
        }
    }
    text
}

#[test]
fn the_roles_of_columns_are_stated() {
    let folder = Folder::new();
    let file = folder.write("fractions.csv", with_fractions("alpha,b,runtime"));
    for metric in ["--metric", "--response"] {
        let document = tilewright(&["explain", &file, metric, "runtime", "--json"]).succeeded().json();
        assert_eq!(document["importance"][0]["parameter"], "alpha");
        assert_eq!(document["roles"]["parameters"][1]["name"], "b");
        assert!(document["roles"]["parameters"][0]["why"].as_str().unwrap().contains("combined"));
        assert_eq!(document["roles"]["metrics"][0]["name"], "runtime");
    }
    let text = tilewright(&["explain", &file]).succeeded().stdout;
    assert!(text.contains("parameters  ") && text.contains("ignored     none"), "{text}");
    // The name tells nothing, so the user must.
    let file = folder.write("unknown.csv", with_fractions("p,q,zz"));
    let output = tilewright(&["explain", &file]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{}", output.stderr);
    let lines = ["p   numbers, 3 different, 0.5 to 10", "q   whole numbers, 8 different, 0 to 7"];
    for part in lines.iter().chain(&["--parameters p,q --metric zz"]) {
        assert!(output.stderr.contains(part), "no {part} in {}", output.stderr);
    }
    let stated = ["explain", &file, "--parameters", "p,q", "--metric", "zz", "--json"];
    let document = tilewright(&stated).succeeded().json();
    assert_eq!(document["importance"][0]["parameter"], "p");
    // An expression over a metric and a parameter.
    let stated = ["explain", &file, "--parameters", "p,q", "--metric", "zz / (q + 1)", "--json"];
    let document = tilewright(&stated).succeeded().json();
    assert_eq!(document["roles"]["metrics"][0]["name"], "zz");
    let both = tilewright(&["explain", &file, "--parameters", "p,zz", "--metric", "zz"]);
    assert!(both.code == 2 && both.stderr.contains("two roles"), "{}", both.stderr);
}
