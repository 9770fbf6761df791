//! Wrong input of every kind: exit code 2, a message that helps, no panic, nothing written.

use crate::support::{Folder, Output, tilewright, write_array};

/// A request that must be refused with this exit code; the text and the JSON form both have the parts.
#[track_caller]
pub fn refused(code: i32, arguments: &[&str], parts: &[&str]) -> Output {
    let output = tilewright(arguments);
    assert_eq!(output.code, code, "{arguments:?}\nstdout: {}\nstderr: {}", output.stdout, output.stderr);
    assert_eq!(output.stdout, "", "{arguments:?}");
    let json = tilewright(&[arguments, &["--json"]].concat());
    assert_eq!(json.code, code, "{arguments:?} --json");
    let document = json.json();
    assert_eq!(document["error"]["exit_code"], code);
    assert!(!document["error"]["message"].as_str().unwrap().is_empty());
    for part in parts {
        assert!(output.stderr.contains(part), "{arguments:?}: no `{part}` in\n{}", output.stderr);
        let text = document.to_string();
        let quoted = serde_json::to_string(part).unwrap();
        assert!(text.contains(quoted.trim_matches('"')), "{arguments:?}: no `{part}` in\n{text}");
    }
    json
}

#[test]
fn arguments() {
    refused(2, &["run"], &["required"]);
    refused(2, &["nonsense"], &["nonsense"]);
    refused(2, &["run", "heat2d", "--size", "8x8"], &["--steps"]);
    refused(2, &["compile", "heat2d", "-o", "out"], &["--target"]);
    refused(2, &["compile", "heat2d", "--target", "fortran", "-o", "out"], &["fortran", "openmp"]);
    refused(2, &["run", "heat2d", "--size", "8x8", "--steps", "1", "--backend", "abacus"], &["abacus"]);
    refused(
        2,
        &["analyze", "heat2d", "--strategy", "hcc"],
        &[
            "hcc",
            "hhc, naive, overlapped, pipeline-toy, warp-pipeline, streaming, time-skewing, diamond, auto",
            "did you mean `hhc`?",
        ],
    );
    let known = ["there is no strategy `hcc`", "hhc, naive", "did you mean `hhc`?"];
    let grid = ["heat2d", "--size", "40x40", "--steps", "4", "--strategy", "hcc"];
    let with = |command: &'static str, more: &[&'static str]| [&[command], &grid[..], more].concat();
    for arguments in [
        with("predict", &["--machine", "v100"]),
        with("predict", &["--machine", "zen4"]),
        with("tune", &["--machine", "v100"]),
        with("tune", &["--machine", "zen4"]),
        with("search", &["--method", "random"]),
        with("search", &["--method", "random", "--machine", "v100", "--backend", "model"]),
        with("run", &[]),
        with("validate", &["--machine", "zen4", "--backend", "openmp"]),
        with("compile", &["--target", "openmp", "-o", "never"]),
        vec!["codesign", "paper", "-o", "never", "--strategy", "naive,hcc"],
    ] {
        refused(2, &arguments, &known);
    }
    refused(2, &["analyze", "heat2d", "--dtype", "f16"], &["f16"]);
    refused(2, &["analyze", "heat2d", "--dump", "everything"], &["everything"]);
    for threads in ["0", "-1", "two", "99999999"] {
        refused(2, &["run", "heat2d", "--size", "8x8", "--steps", "1", "--threads", threads], &["--threads"]);
    }
    refused(2, &["run", "heat2d", "--size", "8x8", "--steps", "1", "--repeat", "0"], &["--repeat"]);
    refused(2, &["run", "heat2d", "--size", "8x8", "--steps", "1", "--seed", "-1"], &["--seed"]);
}

#[test]
fn sizes_and_steps() {
    for (size, part) in [
        ("0x8", "at least 1"),
        ("8x0", "at least 1"),
        ("-8x8", "at least 1"),
        ("8xx8", "missing"),
        ("8*8", "not a whole number"),
        ("8.5x8", "not a whole number"),
        ("99999999999999999999x8", "too large"),
        ("9223372036854775807x9223372036854775807", "too large"),
        ("8", "1 dimension(s) were given, but the stencil has 2 (i, j)"),
        ("8x8x8", "3 dimension(s) were given, but the stencil has 2 (i, j)"),
    ] {
        refused(2, &["run", "heat2d", "--size", size, "--steps", "1"], &[part]);
        refused(2, &["analyze", "heat2d", "--size", size], &[part]);
        refused(2, &["compile", "heat2d", "--target", "openmp", "-o", "/nowhere", "--size", size], &[part]);
    }
    for steps in ["-1", "1.5", "many", "99999999999999999999"] {
        refused(2, &["run", "heat2d", "--size", "8x8", "--steps", steps], &["--steps"]);
    }
    refused(2, &["run", "heat2d", "--steps", "1"], &["--size NxN", "(i, j)", "--input"]);
}

#[test]
fn a_grid_beyond_the_memory_is_infeasible() {
    let output =
        refused(1, &["run", "heat2d", "--size", "10000000x1000000", "--steps", "1"], &["GiB", "--size"]);
    assert_eq!(output.json()["error"]["kind"], "infeasible");
}

#[test]
fn tile_sizes() {
    for (tile, part) in [
        ("st", "NAME=INTEGER"),
        ("st=four", "not an integer"),
        ("st=4,st=4", "given twice"),
        ("height=4", "st, s0, s1"),
        ("st=-4", "negative"),
        ("", "NAME=INTEGER"),
    ] {
        refused(2, &["analyze", "heat2d", "--tile", tile], &[part]);
    }
    // Possible elsewhere, but not here: the message says what would be.
    refused(1, &["analyze", "fdtd2d", "--tile", "st=4"], &["multiple of 3", "3 or 6"]);
    refused(1, &["analyze", "heat2d", "--tile", "st=4,s0=0"], &["at least 1"]);
    refused(1, &["analyze", "heat2d", "--tile", "s2=4"], &["the tile sizes here are st, s0, s1"]);
}

#[test]
fn stencils() {
    let unknown =
        refused(2, &["analyze", "haet2d"], &["there is no stencil `haet2d`", "did you mean `heat2d`?"]);
    assert!(unknown.json()["error"]["hints"].to_string().contains("fdtd2d"), "the list of all");
    refused(2, &["analyze", "zzz"], &["the shipped stencils are jacobi1d"]);
    refused(2, &["analyze", "no/such/file.stencil"], &["no/such/file.stencil", "No such file"]);
    let folder = Folder::new();
    refused(2, &["analyze", &folder.arg(".")], &["is a folder"]);
    let c = folder.write("heat.c", "#pragma scop\n#pragma endscop\n");
    refused(2, &["analyze", &c], &["heat.c:1:1", "TW1102"]);
}

#[test]
fn stencil_files_with_mistakes() {
    let folder = Folder::new();
    for (number, (text, line, column, code)) in [
        ("stencil s(t, i) {\n    field u: f32;\n    u[t+1, i] = v[t, i];\n}\n", 3, 17, "TW0201"),
        ("stencil s(t, i) {\n    field u: f32;\n    u[t+1, i] = u[t, i] $ 2;\n}\n", 3, 25, "TW0101"),
        ("stencil s(t, i) {\n    field u: f32;\n    u[t+1, i] = u[t+1, i+1];\n}\n", 3, 17, "TW0405"),
        ("stencil s(t, i) {\n    field u: f32;", 2, 18, "TW0112"),
        ("", 1, 1, "TW0110"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = folder.write(&format!("mistake{number}.stencil"), text);
        let place = format!("{file}:{line}:{column}");
        let out = folder.arg("out");
        for arguments in [
            &["analyze", &file][..],
            &["compile", &file, "--target", "openmp", "-o", &out],
            &["run", &file, "--size", "8", "--steps", "1"],
        ] {
            let document = refused(2, arguments, &[&place, code]).json();
            let diagnostic = &document["error"]["diagnostics"][0];
            assert_eq!(diagnostic["file"], file.as_str());
            assert_eq!(
                (diagnostic["line"].as_u64(), diagnostic["column"].as_u64()),
                (Some(line), Some(column))
            );
            assert_eq!(diagnostic["code"], code);
        }
        assert!(!folder.path("out").exists());
    }
    let binary = folder.write("binary.stencil", [b's', 0xff, 0xfe, 0, 1]);
    refused(2, &["analyze", &binary], &["not UTF-8", "TW0105"]);
    let large = folder.write("large.stencil", vec![b' '; (1 << 20) + 1]);
    refused(2, &["analyze", &large], &["TW0106"]);
    refused(2, &["analyze", "/dev/zero"], &["/dev/zero"]);
}

#[test]
fn input_files() {
    let folder = Folder::new();
    let run = ["run", "heat2d", "--steps", "2", "--input"];
    let input = |name: &str| format!("u={}", folder.arg(name));
    let small = [0.5f32; 12];
    write_array(&folder.path("good.npy"), &[3, 4], &small);
    write_array(&folder.path("flat.npy"), &[12], &small);
    write_array(&folder.path("deep.npy"), &[1, 3, 4], &small);
    execution::npy::write(&folder.path("f64.npy"), &[3, 4], execution::grid::ValuesRef::F64(&[0.5; 12]))
        .unwrap();
    folder.write("text.npy", "1 2 3");
    let good = std::fs::read(folder.path("good.npy")).unwrap();
    folder.write("short.npy", &good[..good.len() - 1]);
    folder.write("header.npy", &good[..9]);
    folder.write("empty.npy", "");
    for (name, part) in [
        ("flat.npy", "shape (12,)"),
        ("deep.npy", "shape (1, 3, 4)"),
        ("f64.npy", "a.astype('<f4')"),
        ("text.npy", "not a .npy file"),
        ("short.npy", "truncated"),
        ("header.npy", "truncated"),
        ("empty.npy", "not a .npy file"),
        ("missing.npy", "missing.npy"),
        (".", "folder"),
    ] {
        refused(2, &[&run[..], &[&input(name)]].concat(), &[part]);
    }
    let good = input("good.npy");
    refused(2, &[&run[..], &[&good, "--size", "4x4"]].concat(), &["shape (3, 4)", "(4, 4)"]);
    refused(2, &[&run[..], &[&good, "--input", &good]].concat(), &["`u` twice"]);
    refused(2, &[&run[..], &["v=x.npy"]].concat(), &["no field `v`", "u"]);
    refused(2, &[&run[..], &["u"]].concat(), &["NAME=VALUE"]);
    tilewright(&[&run[..], &[&good, "--verify"]].concat()).succeeded();
}

#[test]
fn output_files_are_checked_before_anything_runs() {
    let folder = Folder::new();
    // Would take hours.
    let run = ["run", "heat2d", "--size", "512x512", "--steps", "100000000", "--output"];
    let out = format!("u={}", folder.arg("out.npy"));
    refused(2, &[&run[..], &["w=x.npy"]].concat(), &["no field `w`"]);
    refused(
        2,
        &[&run[..], &[&format!("u={}", folder.arg("none/out.npy"))]].concat(),
        &["does not exist", "mkdir"],
    );
    refused(2, &[&run[..], &[&format!("u={}", folder.arg("."))]].concat(), &["is a folder"]);
    refused(2, &[&run[..], &[&out, "--output", &out]].concat(), &["`u` twice"]);
    let same = folder.arg("same.npy");
    let (first, second) = (format!("p={same}"), format!("q={same}"));
    let run = ["run", "skewed2d", "--size", "512x512", "--steps", "100000000", "--output"];
    refused(2, &[&run[..], &[&first, "--output", &second]].concat(), &["the file", "twice"]);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn parameters() {
    let run = ["run", "heat2d", "--size", "9x9", "--steps", "1", "--param"];
    refused(2, &[&run[..], &["c=1"]].concat(), &["no parameter `c`", "a, b"]);
    refused(2, &[&run[..], &["a=much"]].concat(), &["not a finite number"]);
    refused(2, &[&run[..], &["a=nan"]].concat(), &["not a finite number"]);
    refused(2, &[&run[..], &["a=0.1", "--param", "a=0.2"]].concat(), &["`a` twice"]);
    refused(
        2,
        &["run", "star2d1r", "--size", "9x9", "--steps", "1", "--param", "zz=1"],
        &["no parameter `zz`"],
    );
}

#[test]
fn folders_that_cannot_be_written() {
    let folder = Folder::new();
    let file = folder.write("file", "kept");
    refused(2, &["compile", "heat2d", "--target", "openmp", "-o", &file], &["is not a folder"]);
    let below = folder.arg("file/out");
    refused(2, &["compile", "heat2d", "--target", "openmp", "-o", &below], &["file/out"]);
    assert_eq!(std::fs::read(folder.path("file")).unwrap(), b"kept");
    refused(
        2,
        &["compile", "heat2d", "--target", "openmp", "-o", &folder.arg("o"), "--machine", "m"],
        &["`m`"],
    );
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn no_compiler_is_said_so() {
    let mut command = crate::support::command(&["run", "heat2d", "--size", "9x9", "--steps", "1"]);
    command.env("CC", "/no/such/compiler");
    let output = crate::support::finish(command);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("no C compiler") && output.stderr.contains("CC"), "{}", output.stderr);
}

/// With few open files, as `ulimit -n` allows, a compiler that is there cannot be started.
#[test]
fn a_compiler_that_cannot_be_started_is_not_missing() {
    let mut command = std::process::Command::new("sh");
    let text = "ulimit -n 8; exec \"$0\" run heat2d --size 9x9 --steps 1";
    command.args(["-c", text, env!("CARGO_BIN_EXE_tilewright")]).env_remove("CC");
    let output = crate::support::finish(command);
    assert_eq!(output.code, 1);
    assert!(!output.stderr.contains("was found"), "{}", output.stderr);
    assert!(output.stderr.contains("oo many open files"), "{}", output.stderr);
}

/// Escape sequences and turns of the letters in names, comments and arguments do not reach a terminal, whichever way.
#[test]
fn nothing_hidden_reaches_a_terminal() {
    let folder = Folder::new();
    let hostile = "\u{1b}]0;x\u{7}\u{1b}[31m\u{9b}2J\u{202e}\u{2066}\u{200b}\u{feff}\r";
    let body = "stencil s(t, i) {\n    field u: f32;\n    u[t+1, i] = u[t, i-1];\n}\n";
    let right = folder.write("right.stencil", format!("// {hostile}\n{body}"));
    let wrong = folder.write(
        "wrong.stencil",
        format!("/* {hostile} */ stencil s(t, i) {{ u[t+1, i] = 1; }} // {hostile}\n"),
    );
    let named = folder.write(&format!("{}.stencil", hostile.replace('/', "")), "x");
    let csv = folder.write("a.csv", format!("a,b{hostile}c\n1,2\n"));
    let machine = folder.write("m.toml", format!("name = \"{hostile}\"\n"));
    let space = folder.write("space.json", format!("{{\"{hostile}\": 1"));
    let out = folder.arg("out");
    let calls: [&[&str]; 12] = [
        &["analyze", &right],
        &["analyze", &right, "--dump", "program"],
        &["compile", &right, "--target", "openmp", "-o", &out],
        &["analyze", &wrong],
        &["analyze", &named],
        &["analyze", hostile],
        &["analyze", &format!("{hostile}.c")],
        &["analyze", "heat2d", "--strategy", hostile],
        &["analyze", "heat2d", &format!("--{hostile}")],
        &["pareto", &csv, "--x", "a", "--y", hostile],
        &["predict", "heat2d", "--size", "64x64", "--steps", "4", "--machine", &machine],
        &["search", "--space", &space, "--command", "true"],
    ];
    for call in calls {
        for json in [false, true] {
            let call = [call, if json { &["--json"] } else { &[] }].concat();
            let output = tilewright(&call);
            for text in [&output.stdout, &output.stderr] {
                let hidden = text.chars().find(|&c| text_escape::is_hidden(c) && c != '\n' && c != '\t');
                assert_eq!(hidden, None, "{call:?}\n{text:?}");
            }
            if json {
                output.json();
            }
        }
    }
    // In what is generated as well: a comment of C that no editor and no compiler reads otherwise.
    for file in ["s.c", "s.h", "manifest.json"] {
        let text = std::fs::read_to_string(folder.path("out").join(file)).unwrap();
        assert!(!text.chars().any(|c| text_escape::is_hidden(c) && c != '\n'), "{file}");
    }
}
