//! `nested`: nested data-parallel programs.

use crate::support::tilewright;
use nested::data::Array;
use nested::npy;

#[test]
fn nested_programs_are_listed_analysed_run_compiled_and_tuned() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let list = tilewright(&["nested", "list", "--json"]).succeeded().json();
    assert!(list["programs"].as_array().unwrap().len() >= 10);
    let analysis = tilewright(&["nested", "analyze", "spmv", "--json"]).succeeded().json();
    assert_eq!(analysis["computations"][0]["expression"], "map > reduce");
    assert_eq!(analysis["computations"][0]["schedules"].as_array().unwrap().len(), 4);

    std::fs::write(
        file("a.mtx"),
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 1 -1\n3 3 4\n",
    )
    .unwrap();
    npy::write(file("x.npy").as_ref(), &Array::F64(vec![1.0, 2.0, 3.0]), 1).unwrap();
    let (matrix, x, y) = (
        format!("nonzeros,columns,offsets={}", file("a.mtx")),
        format!("x={}", file("x.npy")),
        format!("y={}", file("y.npy")),
    );
    let given = ["--matrix", &matrix, "--input", &x];
    let run = |more: &[&str]| tilewright(&[&["nested", "run", "spmv"], &given[..], more].concat());
    let reference = run(&["--backend", "reference", "--output", &y, "--json"]).succeeded().json();
    assert_eq!(reference["results"][0]["checksum"], 11.0);
    assert_eq!(npy::read(file("y.npy").as_ref()).unwrap(), Array::F64(vec![0.0, -1.0, 12.0]));
    assert_eq!(run(&["--schedule", "cooperative>cooperative"]).code, 1);
    assert_eq!(run(&["--output", "z=z.npy"]).code, 2);
    if toolchain::compiler::Compiler::find(toolchain::compiler::Language::C).is_err() {
        println!("skipped: no C compiler");
        return;
    }
    let verified = run(&["--verify", "--json", "--repeat", "3"]).succeeded().json();
    assert_eq!((&verified["verified"], verified["seconds_all"].as_array().unwrap().len()), (&true.into(), 3));

    let out = file("out");
    let policy = "y:omp_schedule_1=dynamic,chunk_size_1=64";
    let compiled = tilewright(&["nested", "compile", "spmv", "--policy", policy, "-o", &out, "--json"])
        .succeeded()
        .json();
    assert!(compiled["files"].as_array().unwrap().len() >= 7);
    // As its build file does, and with its own check.
    let sources = ["spmv.c", "spmv_sequential.c", "main.c"].map(|name| format!("{out}/{name}"));
    let program = file("program");
    let arguments = [
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unknown-pragmas",
        "-ffp-contract=off",
        "-o",
        &program,
    ];
    // Under sanitizers where there are any.
    let build = |sanitizers: &[&str]| {
        let mut cc = std::process::Command::new("cc");
        cc.args(arguments).args(sanitizers).args(&sources).arg("-lm").status().unwrap().success()
    };
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    assert!(cfg!(target_os = "linux") && build(&sanitizers) || build(&[]));
    for (name, array) in [
        ("v.npy", Array::F64(vec![2.0, -1.0, 4.0])),
        ("c.npy", Array::I32(vec![0, 1, 2])),
        ("o.npy", Array::I64(vec![0, 2, 2, 3])),
    ] {
        npy::write(file(name).as_ref(), &array, 1).unwrap();
    }
    let inputs = [("nonzeros", "v.npy"), ("columns", "c.npy"), ("offsets", "o.npy"), ("x", "x.npy")];
    let inputs = inputs.map(|(name, own)| format!("{name}={}", file(own)));
    let main = std::process::Command::new(&program).args(&inputs).output().unwrap();
    let said = String::from_utf8_lossy(&main.stdout).into_owned();
    assert!(main.status.success() && said.contains("y: 3 elements, equal"), "{said}");

    let cuda = file("cuda");
    let policy = "y:logical_warp_size=4,block_size_x=64";
    let written = tilewright(&[
        "nested", "compile", "spmv", "--target", "cuda", "--policy", policy, "-o", &cuda, "--json",
    ])
    .succeeded()
    .json();
    assert_eq!(
        (written["target"].as_str(), written["files"].as_array().unwrap().len() >= 8),
        (Some("cuda"), true)
    );
    let text = std::fs::read_to_string(format!("{cuda}/spmv.cu")).unwrap();
    assert!(text.contains("__launch_bounds__(64)") && text.contains(", 2, 4);"), "{text}");
    assert_eq!(
        tilewright(&["nested", "compile", "spmv", "--target", "cuda", "--policy", "y:tile=4", "-o", &cuda])
            .code,
        1
    );
    if toolchain::compiler::Compiler::find(toolchain::compiler::Language::Cxx).is_ok() {
        let emulated =
            run(&["--backend", "emulator", "--policy", policy, "--verify", "--json"]).succeeded().json();
        assert_eq!((&emulated["verified"], emulated["backend"].as_str()), (&true.into(), Some("emulator")));
    }

    let trials = file("t.jsonl");
    let arguments = ["--budget", "3", "--repeat", "1", "--trials", &trials, "--json"];
    let tuned =
        tilewright(&[&["nested", "tune", "spmv"], &given[..], &arguments].concat()).succeeded().json();
    assert_eq!(tuned["evaluated"], 3);
    let explained = tilewright(&["explain", &trials, "--metric", "seconds", "--json"]).succeeded().json();
    assert!(explained["leaves"].as_u64().is_some());
}

#[test]
fn one_library_has_several_implementations() {
    if toolchain::compiler::Compiler::find(toolchain::compiler::Language::C).is_err() {
        println!("skipped: no C compiler");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let text = "nested sums { input s: [f64]; output y = map(|a| a * a + 1.0, s); }";
    std::fs::write(file("sums.nested"), text).unwrap();
    let mut uses = "implementations = 2\ncandidates = 3\nrepeat = 1\nthreads = 2\n".to_owned();
    for (name, count) in [("few", 10), ("many", 5000)] {
        let numbers = (0..count).map(f64::from).collect();
        npy::write(file(&format!("{name}.npy")).as_ref(), &Array::F64(numbers), 1).unwrap();
        uses.push_str(&format!("[[inputs]]\nname = \"{name}\"\ninput = [\"s={name}.npy\"]\n"));
    }
    std::fs::write(file("uses.toml"), &uses).unwrap();
    let (program, list, out) = (file("sums.nested"), file("uses.toml"), file("out"));
    let compile = |more: &[&str]| {
        let arguments = ["nested", "compile", &program, "--adaptive", &list, "-o", &out, "--json"];
        tilewright(&[&arguments[..], more].concat())
    };
    let report = compile(&[]).succeeded().json();
    let adaptive = &report["adaptive"];
    assert_eq!(adaptive["features"], serde_json::json!(["length_s", "threads"]));
    assert_eq!((&adaptive["measured"], &adaptive["uses"]), (&3.into(), &2.into()));
    let kept = adaptive["implementations"].as_array().unwrap();
    assert!((1..=2).contains(&kept.len()) && adaptive["kept_of_best"].as_f64().unwrap() > 0.0, "{adaptive}");
    let manifest = std::fs::read_to_string(format!("{out}/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["variants"].as_array().unwrap().len(), kept.len());
    // As its build file does, and with its own check.
    let mut cc = std::process::Command::new("cc");
    cc.args([
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unknown-pragmas",
        "-ffp-contract=off",
    ]);
    let sources = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    cc.args(sources.filter(|path| path.extension().is_some_and(|ending| ending == "c")));
    assert!(cc.args(["-lm", "-o", &file("program")]).status().unwrap().success());
    let main = std::process::Command::new(file("program")).arg(format!("s={}", file("many.npy"))).output();
    let said = String::from_utf8_lossy(&main.unwrap().stdout).into_owned();
    assert!(said.contains("y: 5000 elements, equal"), "{said}");
    // Another algorithm for the same results, which needs more data.
    let other =
        "nested other { input s: [f64]; input squares: [f64]; output y = map(|a| a + 1.0, squares); }";
    std::fs::write(file("other.nested"), other).unwrap();
    let mut both = uses.replace("repeat = 1", "repeat = 1\nversions = [\"other.nested\"]");
    for (name, count) in [("few", 10), ("many", 5000)] {
        let numbers = (0..count).map(|own| f64::from(own) * f64::from(own)).collect();
        npy::write(file(&format!("{name}2.npy")).as_ref(), &Array::F64(numbers), 1).unwrap();
        let given = format!("\"s={name}.npy\"");
        both = both.replace(&given, &format!("{given}, \"squares={name}2.npy\""));
    }
    std::fs::write(file("uses.toml"), &both).unwrap();
    let report = compile(&[]).succeeded().json();
    assert_eq!(report["adaptive"]["versions"][1]["program"], "other");
    assert_eq!(report["adaptive"]["features"], serde_json::json!(["length_s", "length_squares", "threads"]));
    std::fs::write(file("uses.toml"), both.replace("squares=few2.npy", "squares=few.npy")).unwrap();
    let apart = compile(&[]);
    assert!(apart.code == 2 && apart.stdout.contains("for `few` the results `y`"), "{}", apart.stdout);
    // What cannot be done is refused.
    std::fs::write(file("uses.toml"), &uses).unwrap();
    assert_eq!(compile(&["--target", "cuda"]).code, 1);
    assert_eq!(compile(&["--policy", "tile=4"]).code, 2);
    std::fs::write(file("uses.toml"), uses.replace("few.npy", "none.npy")).unwrap();
    let missing = compile(&[]);
    assert!(
        missing.code == 2 && missing.json().to_string().contains("this is of `few`"),
        "{}",
        missing.stdout
    );
    std::fs::write(file("uses.toml"), "implementations = 1\ninputs = []\n").unwrap();
    assert_eq!(compile(&[]).code, 2);
}

#[test]
fn mistakes_in_nested_programs_and_data_have_places() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(file("p.nested"), "nested p {\n    input s: [f64];\n    output y = s[len(s)];\n}\n")
        .unwrap();
    npy::write(file("s.npy").as_ref(), &Array::F64(vec![1.0]), 1).unwrap();
    let input = format!("s={}", file("s.npy"));
    let failed = tilewright(&[
        "nested",
        "run",
        &file("p.nested"),
        "--input",
        &input,
        "--backend",
        "reference",
        "--json",
    ]);
    let document = failed.json();
    assert_eq!((failed.code, &document["error"]["diagnostics"][0]["code"]), (2, &"TW1601".into()));
    std::fs::write(file("q.nested"), "nested q{output y=1+;}").unwrap();
    assert_eq!(tilewright(&["nested", "analyze", &file("q.nested")]).code, 2);
    assert_eq!(tilewright(&["nested", "analyze", "spmw"]).code, 2);
    let formatted = tilewright(&["nested", "format", &file("p.nested")]).succeeded().stdout;
    assert_eq!(formatted, std::fs::read_to_string(file("p.nested")).unwrap());
}
