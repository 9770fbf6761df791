//! A tree as text, as the file `drawings/tree.txt`; `BLESS=1` rewrites it.

use std::path::PathBuf;
use tuner::starchart::draw::{Drawing, text};
use tuner::starchart::{Column, Goal, GrowOptions, Table, Tree, grow};

/// 480 designs whose response depends on everything, with names that need escaping.
fn designs() -> (Table, Vec<f64>) {
    let (mut x, mut y, mut layout, mut cached, mut response) = (vec![], vec![], vec![], vec![], vec![]);
    for i in 0..480_u32 {
        let (a, b, c, d) = (i % 8, i / 8 % 5, i / 40 % 3, i / 120 % 2);
        x.push(f64::from(16 * (a + 1)));
        y.push(f64::from(1 << b));
        layout.push(c);
        cached.push(d == 1);
        let noise = f64::from(i * 2_654_435 % 1_000) / 10_000.0;
        let base = 8.0 / f64::from(a + 1) + f64::from(b) * if c == 2 { 0.8 } else { 0.1 };
        response.push(base + if d == 1 && b > 2 { 3.0 } else { 0.0 } + noise);
    }
    let names = ["\"a<b\"", "\"b&c\"", "\"plain\""].map(str::to_owned);
    let columns = vec![
        Column::numeric("block_size_x", &x).unwrap(),
        Column::numeric("tile_size_y", &y).unwrap(),
        Column::categorical("layout", names.into(), layout).unwrap(),
        Column::boolean("use_cache", &cached),
    ];
    (Table::new(columns).unwrap().with_alignments(), response)
}

fn drawing<'a>(table: &'a Table, tree: &'a Tree, grown: usize) -> Drawing<'a> {
    let title = "kernel on \"device\": 480 trials".to_owned();
    Drawing { title, metric: "time in ms".into(), table, tree, goal: Goal::Minimize, leaves_grown: grown }
}

#[test]
fn drawings_look_as_expected() {
    let (table, response) = designs();
    let rows: Vec<u32> = (0..480).collect();
    let tree = grow(&table, &response, &rows, &GrowOptions::default()).unwrap();
    let shown = tree.largest_gains(9);
    let drawing = drawing(&table, &shown, tree.leaf_count());
    let found = [("tree.txt", text(&drawing, 80))];
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/drawings");
    let mut wrong = Vec::new();
    for (name, content) in &found {
        let path = folder.join(name);
        if std::env::var_os("BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, content).unwrap();
        } else if std::fs::read_to_string(&path).ok().as_ref() != Some(content) {
            wrong.push(format!("--- {name}\n{content}"));
        }
    }
    assert!(wrong.is_empty(), "not as expected (BLESS=1 accepts):\n{}", wrong.join("\n"));
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, found.len(), "stray or missing expectations");
}

#[test]
fn drawings_hold_any_name() {
    let hostile = "</text><script>x</script>\" \\N \u{1b}[31m\u{202e}\n&#60;'";
    let codes: Vec<u32> = (0..90).map(|row| row % 3).collect();
    let response: Vec<f64> = codes.iter().map(|code| f64::from(*code)).collect();
    let names = ["a", hostile, "c"].map(|name| format!("\"{name}\""));
    let table = Table::new(vec![Column::categorical(hostile, names.into(), codes).unwrap()]).unwrap();
    let rows: Vec<u32> = (0..90).collect();
    let tree = grow(&table, &response, &rows, &GrowOptions::default()).unwrap();
    let drawing = Drawing {
        title: hostile.into(),
        metric: hostile.into(),
        ..drawing(&table, &tree, tree.leaf_count())
    };
    let lines = text(&drawing, 80);
    assert!(!lines.chars().any(|c| text_escape::is_hidden(c) && c != '\n'), "{lines}");
    assert_eq!(lines.lines().count(), 1 + tree.nodes().len());
}

#[test]
fn text_fits_the_terminal() {
    let (table, response) = designs();
    let rows: Vec<u32> = (0..480).collect();
    let tree = grow(&table, &response, &rows, &GrowOptions::default()).unwrap();
    for leaves in [1, 5, 60, 200] {
        let shown = tree.largest_gains(leaves);
        for width in [60, 80, 132] {
            let drawn = text(&drawing(&table, &shown, tree.leaf_count()), width);
            assert_eq!(drawn.lines().count(), 2 * leaves, "a line for each of {leaves} leaves, and a header");
            assert!(drawn.lines().all(|line| line.chars().count() <= width), "{drawn}");
            assert_eq!(drawn.matches(" *\n").count(), 1, "{drawn}");
        }
    }
}
