//! `codesign` and `pareto` as a user runs them: files, documents, resuming, diagnostics, and the page in a browser.

use crate::support::{Folder, command, finish, tilewright};
use approx::assert_relative_eq;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Two stencils, one of them a file beside the workload, and a dozen designs.
const WORKLOAD: &str = r#"
name = "pair"
description = "two stencils <&> a few designs"
family = "maxwell"
objective = "gflops"

[budget]
area_low_mm2 = 150
area_high_mm2 = 260

[hardware]
n_sm = { from = 4, to = 16, step = 4 }
n_v = [64, 128]
m_sm_kb = [8, 16]

[[stencil]]
spec = "own.stencil"
sizes = ["1024x1024"]
steps = [64]
reference = { n_sm = 8, n_v = 128, m_sm_kb = 16, gflops = 900 }

[[stencil]]
spec = "jacobi3d.stencil"
weight = 2
sizes = ["64x64x64"]
steps = [16]
"#;

const OWN: &str = "stencil own(t, i, j) {\n    field u: f32;\n    u[t+1, i, j] = 0.25 * (u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1]);\n}\n";
const JACOBI: &str = "stencil jacobi3d(t, i, j, k) {\n    field u: f64;\n    u[t+1, i, j, k] = 0.5 * (u[t, i-1, j, k] + u[t, i, j, k+1]);\n}\n";

fn folder() -> (Folder, String) {
    let folder = Folder::new();
    folder.write("own.stencil", OWN);
    folder.write("jacobi3d.stencil", JACOBI);
    let workload = folder.write("pair.toml", WORKLOAD);
    (folder, workload)
}

/// A name that would be a script, a picture with a handler, an escape sequence, a turn of the letters or a formula.
const HOSTILE: &str = "=x</td><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">'\u{1b}[31m\u{202e},;";

/// The workload with that name at one of its stencils, its description and itself.
fn hostile_folder() -> (Folder, String) {
    let (folder, _) = folder();
    let name = serde_json::to_string(HOSTILE).unwrap();
    let workload = WORKLOAD
        .replace("a few designs\"", &format!("a few designs {}", &name[1..]))
        .replace("name = \"pair\"", &format!("name = {name}"))
        .replace("weight = 2", &format!("name = {name}\nweight = 2"));
    let workload = folder.write("hostile.toml", workload);
    (folder, workload)
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

/// Processes share a sweep, as `mpirun` starts them and as a user does; without the second one its part is taken over.
#[test]
fn processes_share_a_study() {
    let (folder, workload) = folder();
    let arguments =
        |out: &str| ["codesign", &workload, "--what-if", "none", "-o", &folder.arg(out)].map(str::to_owned);
    let run = |out: &str, more: &[&str], variables: &[(&str, String)]| {
        let arguments = arguments(out);
        let all: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let mut command = command(&all);
        command.envs(variables.iter().map(|(name, value)| (*name, value)));
        finish(command).succeeded()
    };
    run("alone", &[], &[]);
    std::thread::scope(|scope| {
        let rank = |rank: usize| {
            let variables =
                [("OMPI_COMM_WORLD_SIZE", "3".to_owned()), ("OMPI_COMM_WORLD_RANK", rank.to_string())];
            scope.spawn(move || run("ranks", &[], &variables))
        };
        let [first, second, third] = [0, 1, 2].map(rank).map(|own| own.join().unwrap());
        assert!(first.stdout.contains("best") && second.stdout.is_empty() && third.stdout.is_empty());
        assert!(third.stderr.contains("part 3 of 3 is done"), "{}", third.stderr);
    });
    run("parts", &["--part", "3/3"], &[]);
    run("parts", &["--part", "1/3"], &[]);
    for out in ["ranks", "parts"] {
        for name in ["designs.csv", "pareto.csv", "report.json", "report.html"] {
            let [alone, shared] = ["alone", out].map(|out| read(&folder, &format!("{out}/{name}")));
            assert_eq!(alone, shared, "{out}/{name}");
        }
    }
    for part in ["0/3", "4/3", "2", "1/x", "+1/2", ""] {
        let arguments = arguments("wrong");
        let all: Vec<&str> = arguments.iter().map(String::as_str).chain(["--part", part]).collect();
        let refused = tilewright(&all);
        assert_eq!(refused.code, 2, "{part}: {}", refused.stderr);
    }
}

#[test]
fn a_study_leaves_its_report() {
    let (folder, workload) = folder();
    let document =
        tilewright(&["codesign", &workload, "-o", &folder.arg("out"), "--json"]).succeeded().json();
    let best = &document["best"];
    for key in ["n_sm", "n_v", "m_sm_kb", "area_mm2", "gflops"] {
        assert!(best[key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert_eq!(best["tiles"].as_array().unwrap().len(), 2);
    assert!(document["elapsed_s"].as_f64().unwrap() > 0.0 && document["evaluated"].as_u64().unwrap() > 0);
    assert_eq!(document["certificate"]["value"], document["certificate"]["bound"]);
    let designs = document["designs"].as_array().unwrap();
    let front = document["pareto"].as_array().unwrap();
    assert!(designs.len() > front.len() && !front.is_empty());
    assert!(designs.iter().all(|design| (150.0..=260.0).contains(&design["area_mm2"].as_f64().unwrap())));
    assert!(document["findings"].as_array().unwrap().len() > 6, "{}", document["findings"]);
    assert_eq!(document["applications"].as_array().unwrap().len(), 2);
    let reference = &document["applications"][0]["reference"];
    assert_eq!(reference["gflops"], 900.0);

    // The document as a file says the same, but for what differs from run to run.
    let file: Value = serde_json::from_str(&read(&folder, "out/report.json")).unwrap();
    assert_eq!(file["best"], document["best"]);
    assert!(file.get("elapsed_s").is_none());
    let csv = read(&folder, "out/designs.csv");
    assert_eq!(csv.lines().count(), 1 + designs.len());
    assert_eq!(read(&folder, "out/pareto.csv").lines().count(), 1 + front.len());
    assert!(!folder.path("out/sweep.journal").exists());

    // Nothing is loaded from elsewhere, and names cannot break the page.
    let page = read(&folder, "out/report.html");
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    for part in ["src=", "href=\"http", "@import", "url("] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("two stencils &lt;&amp;&gt; a few designs") && page.contains("<svg"));
    assert!(!page.contains("NaN") && !page.contains(">inf"));

    // The CSV is one that `pareto` takes, and the front is the same.
    let front_file = folder.arg("front.csv");
    let arguments =
        ["--x", "area_mm2", "--y", "gflops", "--svg", &folder.arg("front.svg"), "--csv", &front_file];
    let designs_file = folder.arg("out/designs.csv");
    let pareto = [&["pareto", &designs_file, "--json"], arguments.as_slice()].concat();
    let pareto = tilewright(&pareto).succeeded().json();
    let on_front = designs.iter().filter(|design| design["on_area_gflops_front"] == true).count();
    assert_eq!(pareto["pareto"].as_array().unwrap().len(), on_front);
    assert_eq!(pareto["rows"].as_u64().unwrap() as usize, designs.len());
    // Rows have the names of their designs, axes their units.
    assert_eq!(pareto["id"], "design");
    let first = pareto["pareto"][0].clone();
    assert_eq!(first["id"], first["cells"]["design"]);
    assert!(first["id"].as_str().unwrap().starts_with(&format!(
        "{}x{}-{}kB",
        first["cells"]["n_sm"].as_str().unwrap(),
        first["cells"]["n_v"].as_str().unwrap(),
        first["cells"]["m_sm_kb"].as_str().unwrap()
    )));
    let front = read(&folder, "front.svg");
    assert!(front.starts_with("<svg") && front.contains(">Pareto front of designs.csv: "), "{front}");
    for title in ["area_mm2 (mm2), smaller is better", "gflops (GFLOP/s), larger is better"] {
        assert!(front.contains(&format!(">{title}</text>")), "{title}: {front}");
    }
    let text = tilewright(&["pareto", &designs_file, "--x", "area_mm2", "--y", "gflops"]).succeeded().stdout;
    assert!(text.contains(first["id"].as_str().unwrap()) && !text.contains("line"), "{text}");
    let by_lanes = ["pareto", &designs_file, "--x", "area_mm2", "--y", "gflops", "--id", "n_v", "--json"];
    let by_lanes = tilewright(&by_lanes).succeeded().json();
    assert_eq!(by_lanes["pareto"][0]["id"], first["cells"]["n_v"]);
    assert_eq!(std::fs::read_to_string(front_file).unwrap().lines().count(), 1 + on_front);
}

#[test]
fn names_in_files_stay_names() {
    let (folder, workload) = hostile_folder();
    let output = tilewright(&["codesign", &workload, "-o", &folder.arg("out")]).succeeded();
    let shown = text_escape::visible(HOSTILE);
    let unseen = |text: &str| text.chars().any(|c| text_escape::is_hidden(c) && c != '\n');
    assert!(!unseen(&output.stdout) && output.stdout.contains(&*shown), "{}", output.stdout);

    // The page, read strictly: no element and no attribute that does something, and the names as text.
    let page = read(&folder, "out/report.html");
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&page, options).unwrap();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        assert!(!["img", "iframe", "object", "embed", "base", "form", "a"].contains(&name), "{name}");
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!name.starts_with("on") && !["style", "src"].contains(&name), "{name}");
            assert!(name != "href" || attribute.value() == "data:,", "{attribute:?}");
        }
    }
    let is = |name: &str, text: &str| {
        let named = document.descendants().filter(|node| node.has_tag_name(name));
        named.filter(|node| node.text() == Some(text)).count()
    };
    assert!(is("td", &shown) >= 2 && is("h1", &format!("Codesign: {shown}")) == 1);
    assert!(!unseen(&page));
    // One script, the page's own, which its policy knows by its hash.
    let scripts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("script")).collect();
    assert!(scripts.len() == 1 && scripts[0].text().is_some_and(|text| text.contains("'use strict'")));
    let policy =
        document.descendants().find(|node| node.attribute("http-equiv") == Some("Content-Security-Policy"));
    let policy = policy.and_then(|node| node.attribute("content")).unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"));
    assert!(policy.contains("; script-src 'sha256-"), "{policy}");
    // Every drawing says what it is to those who cannot see it.
    for svg in document.descendants().filter(|node| node.tag_name().name() == "svg") {
        let says = |name| svg.children().any(|node| node.tag_name().name() == name && node.text().is_some());
        assert!(svg.attribute("role") == Some("img") && says("title") && says("desc"));
    }
    assert!(policy.ends_with("base-uri 'none'; form-action 'none'"));

    // The tables: one column, and no formula.
    let csv = read(&folder, "out/designs.csv");
    let header = csv.lines().next().unwrap();
    assert!(header.contains(",\"'=x</td>") && !unseen(&csv), "{header}");
    let designs = folder.arg("out/designs.csv");
    let column = format!("{shown}_gflops");
    let again = folder.arg("again.csv");
    tilewright(&["pareto", &designs, "--x", "area_mm2", "--y", &column, "--csv", &again]).succeeded();
    assert_eq!(std::fs::read_to_string(again).unwrap().lines().next(), Some(header));
    assert!(!unseen(&read(&folder, "out/report.json")));
}

#[test]
fn a_study_that_was_interrupted_ends_with_the_same_files() {
    let (folder, workload) = folder();
    let run = |out: &str| {
        tilewright(&["codesign", &workload, "--what-if", "none", "-o", &folder.arg(out)]).succeeded()
    };
    run("whole");
    // A journal with its first group only, as an interruption leaves it, and half of a line.
    std::fs::create_dir(folder.path("again")).unwrap();
    let mut child =
        crate::support::command(&["codesign", &workload, "--what-if", "none", "-o", &folder.arg("again")]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = folder.path("again/sweep.journal");
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none() {
        if std::fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() >= 2) {
            child.kill().unwrap();
            break;
        }
    }
    child.wait().unwrap();
    run("again");
    for name in ["designs.csv", "pareto.csv", "report.json", "report.html"] {
        assert_eq!(
            read(&folder, &format!("whole/{name}")),
            read(&folder, &format!("again/{name}")),
            "{name}"
        );
    }
}

#[test]
fn all_eight_formulations() {
    let (folder, workload) = folder();
    let arguments =
        ["codesign", &workload, "--what-if", "none", "--formulations", "-o", &folder.arg("out"), "--json"];
    let document = tilewright(&arguments).succeeded().json();
    let all = document["formulations"].as_array().unwrap();
    let names: std::collections::BTreeSet<&str> =
        all.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    let expected = ["", "super ", "multi-metric ", "multi-metric super "]
        .into_iter()
        .flat_map(|kind| ["application", "system"].map(|scope| format!("{kind}{scope} codesign")));
    assert_eq!(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().len(), 8);
    assert!(expected.into_iter().all(|name| names.contains(name.as_str())), "{names:?}");
    // More strategies are never worse.
    let cost = |name: &str, subject: &str| {
        all.iter().find(|f| f["name"] == name && f["subject"] == subject).unwrap()["cost"].as_f64().unwrap()
    };
    for subject in ["own", "jacobi3d"] {
        assert!(cost("super application codesign", subject) <= cost("application codesign", subject));
    }
    assert!(
        cost("multi-metric super system codesign", "system")
            <= cost("multi-metric system codesign", "system")
    );
}

#[track_caller]
fn refused(code: i32, arguments: &[&str], parts: &[&str]) {
    let output = tilewright(arguments);
    assert_eq!(output.code, code, "{arguments:?}\nstdout: {}\nstderr: {}", output.stdout, output.stderr);
    let json = tilewright(&[arguments, &["--json"]].concat()).json();
    assert_eq!(json["error"]["exit_code"], code);
    for part in parts {
        assert!(output.stderr.contains(part), "{arguments:?}: no `{part}` in\n{}", output.stderr);
    }
}

#[test]
fn wrong_requests_are_refused() {
    let (folder, workload) = folder();
    let out = folder.arg("out");
    refused(2, &["codesign", "papre", "-o", &out], &["no workload `papre`", "did you mean `paper`?"]);
    refused(2, &["codesign", &workload], &["--output"]);
    refused(2, &["codesign", &workload, "--area", "9..3", "-o", &out], &["empty"]);
    refused(2, &["codesign", &workload, "--objective", "speed", "-o", &out], &["gflops"]);
    refused(1, &["codesign", &workload, "--area", "900..990", "-o", &out], &["reach from", "mm2"]);
    refused(2, &["codesign", &workload, "-o", &workload], &["not a folder"]);
    let wrong = WORKLOAD.replace("weight = 2", "weight = -2").replace("\"own.stencil\"", "\"heta2d\"");
    let wrong = folder.write("wrong.toml", wrong);
    refused(
        2,
        &["codesign", &wrong, "-o", &out],
        &["wrong.toml:17: stencil[0].spec", "did you mean `heat2d`?", "wrong.toml:24: stencil[1].weight"],
    );

    let csv = folder.write("a.csv", "\u{feff}a; b\n1;2\n2;x\n3;1\n");
    refused(2, &["pareto", &csv, "--x", "a", "--y", "c"], &["no column `c`", "a, b"]);
    refused(2, &["pareto", &csv, "--x", "a", "--y", "a"], &["different"]);
    refused(2, &["pareto", &csv, "--x", "a", "--y", "b", "--min", "q"], &["no objective"]);
    refused(2, &["pareto", &folder.arg("none.csv"), "--x", "a", "--y", "b"], &["none.csv"]);
    let text = folder.write("b.csv", "a,b\nx,y\n");
    refused(2, &["pareto", &text, "--x", "a", "--y", "b"], &["no row with numbers", "`x`"]);
    let document = tilewright(&["pareto", &csv, "--x", "a", "--y", "b", "--json"]).succeeded().json();
    assert_eq!((document["rows"].as_u64(), document["skipped"][0]["line"].as_u64()), (Some(2), Some(3)));
    assert_eq!(document["pareto"][0]["cells"]["b"], "2");
    assert_eq!((&document["id"], &document["pareto"][0]["id"]), (&Value::Null, &"1".into()));
}

/// Constants that vary are in the document and on the page; the designs of the document can be chosen from.
#[test]
fn uncertain_constants_and_several_designs() {
    let (folder, workload) = folder();
    let ranges = folder.write("ranges.toml", "l = 2.0\nc_iter = { sigma = 0.2 }\n");
    let arguments =
        ["codesign", &workload, "--what-if", "none", "-o", &folder.arg("out"), "--uncertainty", &ranges];
    let document = tilewright(&[&arguments[..], &["--samples", "32", "--seed", "3", "--json"]].concat());
    let document = document.succeeded().json();
    let uncertainty = &document["uncertainty"];
    assert_eq!((&uncertainty["samples"], &uncertainty["seed"]), (&32.into(), &3.into()));
    assert_eq!(
        uncertainty["designs"].as_array().unwrap().len(),
        document["designs"].as_array().unwrap().len()
    );
    assert!(read(&folder, "out/report.html").contains("How sure this is"));
    let picked = |more: &[&str]| {
        let report = folder.arg("out/report.json");
        tilewright(&[&["pick", &report, "--json"], more].concat())
    };
    let cost = |designs: &str| picked(&["--designs", designs]).succeeded().json()["cost"].as_f64().unwrap();
    let two = picked(&["--designs", "2"]).succeeded().json();
    assert!(cost("1") >= cost("2"));
    let least = |cost: &serde_json::Value| cost.as_f64().unwrap();
    assert_relative_eq!(cost("2"), least(&two["least_cost"]), epsilon = 0.0, max_relative = 1e-9);
    assert_relative_eq!(cost("1"), least(&document["best"]["cost"]), epsilon = 0.0, max_relative = 1e-9);
    let wrong = picked(&["--designs", "2", "--weight", "nobody=2"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("its stencils are"), "{}", wrong.stderr);
    assert_eq!(picked(&["--designs", "0"]).code, 2);
}

/// The first headless browser that is there.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

/// The document that a browser makes of a page, and what it writes to its console.
fn open(browser: &Path, page: &Path, profile: &Path) -> (String, Vec<String>) {
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
    ]);
    command.args(["--enable-logging=stderr", "--v=0", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", profile.display())).arg(format!("file://{}", page.display()));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), console)
}

#[test]
fn the_page_opens_in_a_browser() {
    let Some(browser) = browser() else {
        let needed = std::env::var("CI").is_ok_and(|ci| ci == "true")
            && std::env::var("TW_BROWSER").map_or(true, |wanted| wanted != "0");
        assert!(!needed, "chromium is missing, and CI needs it (TW_BROWSER=0 does without)");
        eprintln!("SKIPPED: the report in a headless browser, because chromium is missing");
        return;
    };
    let (folder, workload) = hostile_folder();
    tilewright(&["codesign", &workload, "-o", &folder.arg("out")]).succeeded();
    let (dom, console) = open(&browser, &folder.path("out/report.html"), &folder.path("profile"));
    assert_eq!(console, Vec::<String>::new());
    // No script of a name has run, and nothing was refused: the policy has the hash of every style.
    assert!(dom.contains("<title>Codesign: =x&lt;/td&gt;&lt;script&gt;"), "{dom}");
    // Every figure has its plot, and the plots have marks.
    let figures = dom.matches("<figure").count();
    assert!(figures >= 6 && dom.matches("<svg").count() == figures, "{figures}");
    assert!(
        dom.matches("data-kind=\"series\"").count() > 10 && dom.matches("data-kind=\"blocks\"").count() > 10
    );

    // The page's own script has run: it shows filters for the table, which all designs pass.
    assert!(dom.contains("<fieldset>") && !dom.contains("hidden=\"hidden\""), "{dom}");
    let designs = dom.split("id=\"designs\"").nth(1).unwrap().split("</table>").next().unwrap();
    let rows = designs.matches("<tr>").count() - 1;
    assert!(dom.contains(&format!("<output>{rows} of {rows} designs</output>")), "{rows}");

    // A page that is not right is seen not to be.
    folder.write("wrong.html", "<script>console.error('here');</script><img src=\"none.png\">");
    let (_, console) = open(&browser, &folder.path("wrong.html"), &folder.path("profile"));
    assert!(console.iter().any(|line| line.contains("here")), "{console:?}");
}
