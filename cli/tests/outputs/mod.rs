//! What commands write never replaces what they did not write, nor what they read.

use crate::support::{Folder, tilewright, write_array};
use crate::wrong_input::refused;
use std::path::Path;

const PROGRAM: &str = "#include \"sizes.h\"\n#include <stdio.h>\nstatic float u[2][N];\nint main(void)\n{\n    \
    u[0][3] = 1;\n#pragma scop\n    for (int t = 0; t < 4; t++)\n        for (int i = 1; i < N - 1; i++)\n            \
    u[(t + 1) % 2][i] = 0.5f * (u[t % 2][i - 1] + u[t % 2][i + 1]);\n#pragma endscop\n    \
    printf(\"%f\\n\", u[0][4]);\n    return 0;\n}\n";

fn own_program(folder: &Folder) -> String {
    folder.write("sizes.h", "#define N 40\n");
    folder.write("prog.c", PROGRAM)
}

#[test]
fn sources_in_the_output_folder_stay() {
    let folder = Folder::new();
    let program = own_program(&folder);
    folder.write("Makefile", "all: mine\n");
    folder.write("prog_scop.c", "/* mine */\n");
    let before = folder.names();
    let compile = ["compile", &program, "--target", "openmp", "-o", &folder.arg(".")];
    let parts = ["prog.c: an input", "Makefile: not written by Tilewright", "prog_scop.c: not", "-o"];
    refused(2, &compile, &parts);
    // Nobody can insist on losing the source.
    refused(2, &[&compile[..], &["--force"]].concat(), &["prog.c: an input"]);
    assert_eq!(folder.names(), before);
    assert_eq!(std::fs::read_to_string(&program).unwrap(), PROGRAM);
    // From elsewhere it goes, and the header, which is copied onto itself, is no conflict.
    let other = Folder::new();
    let moved = other.write("prog.c", PROGRAM);
    let include = format!("-I{}", folder.arg("."));
    let compile = ["compile", &moved, &include, "--target", "openmp", "-o", &folder.arg(".")];
    refused(2, &compile, &["prog.c: not written", "--force"]);
    tilewright(&[&compile[..], &["--force"]].concat()).succeeded();
    assert!(std::fs::read_to_string(folder.path("Makefile")).unwrap().contains("prog_scop"));
    tilewright(&compile).succeeded();
}

#[test]
fn edited_and_linked_files_stay() {
    let folder = Folder::new();
    let compile = |more: &[&str]| {
        let out = folder.arg("out");
        [
            &["compile", "heat2d", "--target", "openmp", "-o"].map(str::to_owned)[..],
            &[out],
            &more.iter().map(|&text| text.to_owned()).collect::<Vec<_>>(),
        ]
        .concat()
    };
    let run = |more: &[&str]| {
        let arguments = compile(more);
        tilewright(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    run(&[]).succeeded();
    run(&["--tile", "st=2"]).succeeded();
    folder.write("out/heat2d.h", "/* edited */\n");
    folder.write("dear", "dear\n");
    std::fs::remove_file(folder.path("out/heat2d.c")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path("dear"), folder.path("out/heat2d.c")).unwrap();
    let output = run(&["--tile", "st=3"]);
    assert_eq!(output.code, 2);
    for part in ["heat2d.h: changed since", "heat2d.c: a symbolic link", "--force"] {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
    let manifest = std::fs::read_to_string(folder.path("out/manifest.json")).unwrap();
    assert!(manifest.contains("st=2"), "nothing was written");
    run(&["--tile", "st=3", "--force"]).succeeded();
    assert_eq!(std::fs::read_to_string(folder.path("dear")).unwrap(), "dear\n");
    assert!(std::fs::read_to_string(folder.path("out/heat2d.c")).unwrap().contains("Tilewright"));
    run(&["--tile", "st=2"]).succeeded();
}

#[test]
fn studies_leave_the_files_of_others() {
    for name in ["report.html", "designs.csv", "sweep.journal", "sweep.partial", ".tilewright"] {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("out")).unwrap();
        folder.write(&format!("out/{name}"), "mine\n");
        let part = format!("{name}: not written");
        refused(2, &["codesign", "paper", "--what-if", "none", "-o", &folder.arg("out")], &[&part]);
        assert_eq!(std::fs::read_to_string(folder.path("out").join(name)).unwrap(), "mine\n");
        assert_eq!(std::fs::read_dir(folder.path("out")).unwrap().count(), 1);
    }
}

/// Every option that names a file to write, with a file that the same command reads.
#[test]
fn what_is_read_is_not_written() {
    let folder = Folder::new();
    let text = polyhedral::shipped::source("heat2d").unwrap();
    let stencil = folder.write("own.stencil", text);
    let program = own_program(&folder);
    let header = folder.arg("sizes.h");
    let csv = folder.write("rows.csv", "x,y,time\n1,2,3.5\n2,3,2.5\n3,4,1.5\n");
    let machine = folder.write("here.toml", include_str!("../../../machines/titanx.toml"));
    write_array(&folder.path("before.npy"), &[9, 9], &[0.5; 81]);
    let before = folder.arg("before.npy");
    let other = if cfg!(unix) {
        std::fs::hard_link(&stencil, folder.path("hard")).unwrap();
        std::os::unix::fs::symlink(&stencil, folder.path("soft")).unwrap();
        [folder.arg("hard"), folder.arg("soft")]
    } else {
        [stencil.clone(), stencil.clone()]
    };
    let dotted = folder.arg("./own.stencil");
    let size = ["--size", "9x9", "--steps", "2"];
    let (field, hard, soft) = (format!("u={before}"), format!("u={}", other[0]), format!("u={}", other[1]));
    let tile = ["--tile", "st=4,s0=6,s1=32", "--machine", &machine];
    let run = ["run", "heat2d", "--steps", "2", "--input", &field, "--output"];
    let part = "is read by this command";
    refused(2, &["analyze", &stencil, "--svg", &dotted], &["--svg", part]);
    refused(2, &["convert", &program, "-o", &program], &["--output", part]);
    refused(2, &["convert", &program, "-o", &header], &["--output", part]);
    refused(2, &[&run[..], &[&field]].concat(), &[part]);
    for path in [&hard, &soft] {
        refused(2, &[&["run", &stencil], &size[..], &["--output", path]].concat(), &[part]);
    }
    refused(
        2,
        &[&["predict", &stencil], &size[..], &tile[..], &["--svg", &machine]].concat(),
        &["--svg", part],
    );
    refused(2, &["pareto", &csv, "--x", "x", "--y", "y", "--csv", &csv], &["--csv", part]);
    let both = ["--svg", &folder.arg("one"), "--csv", &folder.arg("./one")];
    refused(2, &[&["pareto", &csv, "--x", "x", "--y", "y"], &both[..]].concat(), &["same file"]);
    refused(2, &["explain", &csv, "--metric", "time", "--svg", &csv], &[part]);
    refused(2, &["search", "--replay", &csv, "--response", "time", "--log", &csv], &["--log", part]);
    refused(2, &["calibrate", "--backend", "openmp", "--stencil", &stencil, "-o", &stencil], &[part]);
    let validate = ["validate", &stencil, "--machine", &machine, "--backend", "openmp", "--trials", &stencil];
    refused(2, &[&validate[..], &size].concat(), &["--trials", part]);
    assert_eq!(std::fs::read_to_string(&stencil).unwrap(), text);
    assert_eq!(std::fs::read_to_string(&program).unwrap(), PROGRAM);
    // A file that is only written is replaced, and a link to it stays.
    let kept = folder.write("after.npy", "old");
    tilewright(&[&run[..], &[&format!("u={kept}")]].concat()).succeeded();
    assert!(std::fs::read(Path::new(&kept)).unwrap().starts_with(b"\x93NUMPY"));
}

/// A database of another program is not made a store of trials.
#[test]
fn stores_of_others_stay() {
    let folder = Folder::new();
    let space =
        folder.write("space.csv", "x,y,time\n1,1,3.0\n1,2,2.0\n2,1,1.0\n2,2,4.0\n3,1,2.5\n3,2,2.25\n");
    let store = folder.arg("runs.db");
    let search = [
        "search",
        "--replay",
        &space,
        "--response",
        "time",
        "--method",
        "random",
        "--budget",
        "3",
        "--trials",
    ];
    folder.write("runs.db-wal", "mine");
    refused(2, &[&search[..], &[&store]].concat(), &["runs.db-wal"]);
    std::fs::remove_file(folder.path("runs.db-wal")).unwrap();
    let mine = folder.write("mine.txt", "something dear");
    refused(2, &[&search[..], &[&mine]].concat(), &["no store of trials"]);
    tilewright(&[&search[..], &[&store]].concat()).succeeded();
    tilewright(&[&search[..], &[&store]].concat()).succeeded();
}

#[cfg(unix)]
#[test]
fn streams_are_written_through() {
    let folder = Folder::new();
    let printed = tilewright(&["convert", "heat2d", "-o", "/dev/stdout"]).succeeded();
    assert!(
        printed.stdout.starts_with("//") || printed.stdout.contains("stencil heat2d"),
        "{}",
        printed.stdout
    );
    assert!(
        printed.stdout.trim_end().ends_with("/dev/stdout"),
        "the report comes after it: {}",
        printed.stdout
    );
    tilewright(&["convert", "heat2d", "-o", "/dev/null"]).succeeded();
    // A pipe gets the text and stays a pipe.
    let pipe = folder.arg("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    tilewright(&["convert", "heat2d", "-o", &pipe]).succeeded();
    assert!(reader.join().unwrap().contains("stencil heat2d"));
    assert!(!Path::new(&pipe).metadata().unwrap().is_file());
}
