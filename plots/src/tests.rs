//! All kinds of drawings with data of all kinds, read as a browser reads them. `PLOTS_GALLERY=DIR` writes
//! them for the eye.

use crate::figures::{Prediction, Trained, convergence, learning, slowdowns};
use crate::layer::{Block, Guide, Layer, Marks, Point, Series, Side};
use crate::{
    Axis, Bars, Chart, Colour, Dash, Fact, Figure, Node, Scale, Shape, Step, Svg, Table, Tree, Waterfall,
};
use crate::{font, page};

const HOSTILE: &str = "</text></svg><script>x</script>\" onload='y' \u{1b}[31m\u{202e}\n\u{0}&#60;]]>";

fn points(values: &[(f64, f64)], name: &str) -> Vec<Point> {
    values.iter().map(|(x, y)| Point::new(*x, *y, format!("{name}: {x}, {y}"))).collect()
}

/// Charts of every kind of layer, with one name everywhere.
fn charts(name: &str, values: &[(f64, f64)], scale: Scale) -> Vec<(String, Svg)> {
    let text = |part: &str| format!("{part} {name}");
    let series = (0..7).map(|at| {
        let moved: Vec<_> = values.iter().map(|(x, y)| (*x, y * (1.0 + f64::from(at) / 4.0))).collect();
        Layer::Series(Series::line(at as usize, text(&format!("series {at}")), points(&moved, name)))
    });
    let many = Chart {
        title: text("series"),
        subtitle: text("below"),
        description: text("described"),
        x: Axis::new(text("horizontal")).scale(scale),
        y: Axis::new(text("vertical")).scale(scale),
        layers: series.collect(),
        size: (560.0, 360.0),
    };
    let colour = Colour::Series(0);
    let first = values.first().copied().unwrap_or((0.0, 0.0));
    let guide =
        |guide| Layer::Guide { name: text("guide"), guide, colour: Colour::Series(1), dash: Dash::Dashed };
    let kinds = Chart {
        title: String::new(),
        y: Axis::new(text("time")).seconds(),
        layers: vec![
            Layer::Band {
                name: text("band"),
                colour,
                between: values.iter().map(|(x, y)| (*x, y * 0.8, y * 1.3)).collect(),
            },
            guide(Guide::Upright(first.0)),
            guide(Guide::Level(first.1)),
            guide(Guide::Diagonal),
            Layer::Blocks {
                name: text("blocks"),
                colour: Colour::Series(2),
                opacity: 0.5,
                blocks: values
                    .iter()
                    .map(|(x, y)| Block { x: (*x, x * 1.1), y: (0.0, *y), title: text("block") })
                    .collect(),
            },
            Layer::Areas {
                name: text("areas"),
                colour: Colour::Series(3),
                opacity: 0.3,
                areas: vec![values.to_vec()],
            },
            Layer::Arrows {
                name: text("arrows"),
                colour: Colour::Series(5),
                from: values.to_vec(),
                to: first,
            },
            Layer::Series(Series::scattered(
                text("rings"),
                Colour::Series(6),
                Marks::new(Shape::Ring),
                points(values, name),
            )),
            Layer::Notes(Side::Above, points(values, name)),
        ],
        ..many.clone()
    };
    let bars = Bars {
        description: text("bars"),
        x_label: text("values"),
        y_label: text("bars"),
        parts: ["one", "two", "three"].map(text).to_vec(),
        bars: values.iter().map(|(x, y)| (text(&x.to_string()), vec![x.abs(), y.abs(), 1.0])).collect(),
        width: 560.0,
    };
    let step = |name: &str, value: f64| Step { name: text(name), value, meaning: text("meaning") };
    let waterfall = Waterfall {
        title: text("losses"),
        subtitle: text("of a tile"),
        x_label: text("time"),
        y_label: "from ideal to real".to_owned(),
        first: step("ideal", first.0),
        steps: values.iter().map(|(x, y)| step(&x.to_string(), *y)).collect(),
        last: step("predicted", first.0 + values.iter().map(|value| value.1).sum::<f64>()),
        width: 760.0,
    };
    let searches: Vec<(String, Vec<Option<f64>>)> = (0..9)
        .map(|at| {
            (text(&at.to_string()), [None].into_iter().chain(values.iter().map(|v| Some(v.1))).collect())
        })
        .collect();
    let methods: Vec<(String, Vec<f64>)> =
        (0..3).map(|at| (text(&at.to_string()), values.iter().map(|value| value.1).collect())).collect();
    let curve: Vec<Trained> = (values.iter().enumerate())
        .map(|(at, (_, y))| Trained { samples: 20 * at, error: *y, range: [0.8 * y, 1.3 * y] })
        .collect();
    let prediction = Prediction {
        title: text("fit"),
        quantity: "time".to_owned(),
        points: points(values, name),
        picked: 1,
        best: first.0,
    };
    let mut tree = Tree::new(text("tree"), Node { label: text("all"), ..Node::default() });
    tree.subtitle = text("below");
    tree.best = text("best");
    tree.reasons = (0..4).map(|at| text(&format!("reason {at}"))).collect();
    tree.metric = text("metric");
    tree.columns = vec!["designs".to_owned(), text("mean")];
    for (at, (x, y)) in values.iter().enumerate() {
        tree.add(
            at / 2,
            Node {
                label: text("x < 3"),
                cells: vec![at.to_string(), text(&y.to_string())],
                range: [*x, *y],
                mean: (x + y) / 2.0,
                on_way: at == 0 || at == 3,
                ..Node::default()
            },
        );
    }
    let of = |chart: &Chart| chart.svg().unwrap();
    vec![
        ("series".to_owned(), of(&many)),
        ("kinds".to_owned(), of(&kinds)),
        ("bars".to_owned(), of(&bars.chart())),
        ("waterfall".to_owned(), of(&waterfall.chart())),
        ("convergence".to_owned(), of(&convergence(&searches, name, name))),
        ("slowdowns".to_owned(), slowdowns(&methods).unwrap()),
        ("learning".to_owned(), of(&learning(&text("learning"), &curve, Some(0.15)))),
        ("prediction".to_owned(), of(&prediction.chart())),
        ("tree".to_owned(), tree.svg().unwrap()),
    ]
}

/// The box of a text: left, top, right, bottom.
fn extent(node: roxmltree::Node<'_, '_>) -> [f64; 4] {
    let number = |name: &str| node.attribute(name).map(|value| value.parse::<f64>().unwrap());
    let text: String =
        node.children().filter(roxmltree::Node::is_text).filter_map(|node| node.text()).collect();
    let size = number("font-size").unwrap_or(font::LABEL);
    let bold = node.attribute("font-weight").is_some();
    let width = number("textLength").unwrap_or_else(|| font::width(&text, size, bold));
    let before = match node.attribute("text-anchor") {
        Some("middle") => width / 2.0,
        Some("end") => width,
        _ => 0.0,
    };
    let (x, y) = (number("x").unwrap(), number("y").unwrap());
    match node.attribute("transform") {
        Some(_) => [x - 0.75 * size, y - width + before, x + 0.25 * size, y + before],
        None => [x - before, y - 0.75 * size, x - before + width, y + 0.25 * size],
    }
}

/// Reads a drawing strictly: no label leaves it or lies on another one, nothing in it does anything.
#[track_caller]
fn check(name: &str, svg: &Svg) {
    let text = svg.as_str();
    let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let root = document.root_element();
    let size: Vec<f64> =
        root.attribute("viewBox").unwrap().split(' ').map(|part| part.parse().unwrap()).collect();
    let known = ["svg", "title", "desc", "style", "rect", "path", "circle", "text", "g"];
    let mut labels: Vec<([f64; 4], String)> = Vec::new();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{name}: {node:?}");
        assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{name}: {node:?}");
        for attribute in node
            .attributes()
            .filter(|attribute| ["d", "x", "y", "cx", "cy", "width", "height"].contains(&attribute.name()))
        {
            let odd = attribute.value().contains("NaN") || attribute.value().contains("inf");
            assert!(!odd, "{name}: {attribute:?}");
        }
        if node.has_tag_name("text") || node.tag_name().name() == "text" {
            labels.push((extent(node), format!("{:?}", node.text())));
        }
    }
    for (at, ([left, top, right, bottom], label)) in labels.iter().enumerate() {
        assert!(
            *left >= 0.0 && *top >= 0.0 && *right <= size[2] && *bottom <= size[3],
            "{name}: {label} at {left} {top} {right} {bottom} leaves {size:?}\n{text}"
        );
        for (other, second) in &labels[at + 1..] {
            let apart = *right <= other[0] || other[2] <= *left || *bottom <= other[1] || other[3] <= *top;
            assert!(apart, "{name}: {label} lies on {second}\n{text}");
        }
    }
    assert!(!text.chars().any(|letter| text_escape::is_hidden(letter) && letter != '\n'), "{name}");
    assert!(root.children().filter(|node| ["title", "desc"].contains(&node.tag_name().name())).count() == 2);
    if let Some(folder) = std::env::var_os("PLOTS_GALLERY") {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.svg")), text).unwrap();
    }
}

/// Notes stand where the data are; with other data they may touch.
fn check_all(kind: &str, name: &str, values: &[(f64, f64)], scale: Scale) {
    let first = charts(name, values, scale);
    for ((drawing, svg), (_, again)) in first.iter().zip(charts(name, values, scale)) {
        assert_eq!(*svg, again, "{drawing}: the same data, another drawing");
        if drawing != "kinds" {
            check(&format!("{drawing}-{kind}"), svg);
        } else {
            roxmltree::Document::parse(svg.as_str()).unwrap();
        }
    }
}

const USUAL: [(f64, f64); 6] =
    [(1.0, 0.5), (2.0, 0.31), (4.0, 0.27), (8.0, 0.2), (16.0, 0.18), (32.0, 0.179)];

#[test]
fn usual_data() {
    for (drawing, svg) in charts("x", &USUAL, Scale::Linear) {
        if drawing != "kinds" {
            check(&format!("{drawing}-usual"), &svg);
        } else if let Some(folder) = std::env::var_os("PLOTS_GALLERY") {
            std::fs::write(std::path::Path::new(&folder).join("kinds.svg"), svg.as_str()).unwrap();
        }
    }
}

#[test]
fn names_of_all_kinds() {
    check_all("hostile", HOSTILE, &USUAL, Scale::Automatic);
    check_all("long", &"a long name of something that was measured ".repeat(230), &USUAL, Scale::Linear);
    check_all("word", &"W".repeat(10_000), &USUAL, Scale::Linear);
    check_all("signs", "時間 Щит 𝕏 ﷽ é", &USUAL, Scale::Linear);
    check_all("empty", "", &USUAL, Scale::Linear);
    for (drawing, svg) in charts(HOSTILE, &USUAL, Scale::Linear) {
        assert!(svg.as_str().contains("script&gt;") && !svg.as_str().contains("<script"), "{drawing}");
    }
    // Names of any length make no drawing of any length.
    for (drawing, svg) in charts(&"W".repeat(10_000), &USUAL, Scale::Linear) {
        assert!(svg.as_str().len() < 100_000, "{drawing}: {}", svg.as_str().len());
    }
}

#[test]
fn values_of_all_kinds() {
    let scaled = |by: f64| USUAL.map(|(x, y)| (x * by, y * by)).to_vec();
    let nan = f64::NAN;
    let odd = vec![
        (nan, 1.0),
        (1.0, nan),
        (f64::INFINITY, 2.0),
        (2.0, f64::NEG_INFINITY),
        (3.0, 4.0),
        (f64::MAX, -f64::MAX),
    ];
    let kinds: [(&str, Vec<(f64, f64)>); 12] = [
        ("none", vec![]),
        ("one", vec![(3.0, 7.0)]),
        ("zero", vec![(0.0, 0.0)]),
        ("constant", vec![(5.0, 5.0); 4]),
        ("nan", vec![(nan, nan); 3]),
        ("odd", odd),
        ("huge", scaled(1e299)),
        ("great", scaled(3.7e12)),
        ("tiny", scaled(2.3e-11)),
        ("nothing", scaled(1e-310)),
        ("spread", vec![(1e-9, 1e9), (1e9, 1e-9), (1.0, 1.0)]),
        ("signed", vec![(-1e6, 3.0), (2e6, -7.0)]),
    ];
    for (kind, values) in kinds {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            check_all(&format!("{kind}-{scale:?}"), "x", &values, scale);
        }
    }
    let many: Vec<(f64, f64)> = (0..300).map(|at| (f64::from(at), f64::from(at * at % 97))).collect();
    check_all("many", "x", &many, Scale::Linear);
}

#[test]
fn many_series_have_names_that_can_be_read() {
    let series = (0..120).map(|at| {
        let name = format!("series {at} {}", "of many ".repeat(at % 12));
        Layer::Series(Series::line(at, name, points(&USUAL, "x")))
    });
    let mut chart = learning("many", &[], None);
    chart.layers = series.collect();
    let svg = chart.svg().unwrap();
    check("many-series", &svg);
    assert!((0..120).all(|at| svg.as_str().contains(&format!(">series {at} "))));
}

#[test]
fn what_is_left_out_is_said() {
    let svg = |values: &[(f64, f64)]| charts("x", values, Scale::Linear).remove(0).1;
    assert!(svg(&[]).as_str().contains("there are no values to draw"));
    assert!(
        svg(&[(1.0, f64::NAN), (1.0, 2.0)]).as_str().contains("7 values that are not finite are left out")
    );
    assert!(!svg(&USUAL).as_str().contains("left out"));
}

#[test]
fn small_charts_are_charts() {
    for size in [(0.0, 0.0), (60.0, 40.0), (120.0, 90.0), (f64::NAN, 50.0)] {
        let chart = Chart {
            size,
            ..learning("a title", &[Trained { samples: 5, error: 0.1, range: [0.0, 0.2] }], None)
        };
        roxmltree::Document::parse(chart.svg().unwrap().as_str()).unwrap();
    }
}

#[test]
fn graphviz_gets_any_name() {
    let mut tree = Tree::new(HOSTILE, Node { label: HOSTILE.to_owned(), ..Node::default() });
    tree.add(
        9,
        Node {
            label: "\\N \\\"".to_owned(),
            details: vec![HOSTILE.to_owned()],
            on_way: true,
            ..Node::default()
        },
    );
    let dot = tree.dot();
    // Between an even number of quotes, those behind backslashes aside, there is no other.
    let bare = dot.replace("\\\\", "").replace("\\\"", "");
    assert!(bare.lines().all(|line| line.matches('"').count() % 2 == 0) && !dot.contains('\u{1b}'), "{dot}");
    assert!(dot.contains("n0 -> n1"));
}

#[test]
fn pages_hold_any_text() {
    #[derive(serde::Serialize)]
    struct Report {
        table: Table,
        facts: Vec<Fact>,
        figures: Vec<Figure>,
        findings: Vec<String>,
    }
    let report = Report {
        table: Table::new([HOSTILE, "b"], vec![vec![HOSTILE.to_owned(), "{{title}}".to_owned()]]),
        facts: vec![Fact { value: HOSTILE.to_owned(), name: "x".to_owned() }],
        figures: charts(HOSTILE, &USUAL, Scale::Linear)
            .into_iter()
            .map(|(_, svg)| Figure::new(svg, HOSTILE))
            .collect(),
        findings: vec![HOSTILE.to_owned()],
    };
    let template = "{{#> layout}}{{> facts report.facts}}{{> list report.findings}}{{> table report.table}}\
                    {{#each report.figures}}{{> figure}}{{/each}}{{/layout}}";
    let text = page(template, HOSTILE, &report).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&text, options).unwrap();
    let names = |name: &str| document.descendants().filter(|node| node.tag_name().name() == name).count();
    assert_eq!((names("figure"), names("svg"), names("script"), names("td")), (9, 9, 0, 2));
    let cell = document.descendants().find(|node| node.has_tag_name("td")).unwrap();
    assert_eq!(cell.text(), Some(&*text_escape::visible_lines(HOSTILE)));
    assert!(!text.chars().any(|letter| text_escape::is_hidden(letter) && letter != '\n'));
    // A template that asks for what is not there is an error, no hole in the page.
    assert!(page("{{report.nothing}}", "x", &report).is_err() && page("{{#if}", "x", &report).is_err());
}
