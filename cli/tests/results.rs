//! What `run` computes and writes.

use crate::support::{Folder, read_array, tilewright, write_array};

/// `steps` steps of `heat2d` by hand, with both diffusion numbers `a`.
fn heat(mut u: Vec<f32>, (rows, columns): (usize, usize), a: f32, steps: usize) -> Vec<f32> {
    for _ in 0..steps {
        let old = u.clone();
        for i in 1..rows - 1 {
            for j in 1..columns - 1 {
                let at = |di: usize, dj: usize| old[(i + di - 1) * columns + j + dj - 1];
                let (centre, two) = (at(1, 1), 2.0f32);
                u[i * columns + j] = centre
                    + a * (at(0, 1) - two * centre + at(2, 1))
                    + a * (at(1, 0) - two * centre + at(1, 2));
            }
        }
    }
    u
}

fn picture(points: usize) -> Vec<f32> {
    (0..points).map(|index| ((index * 7919) % 1009) as f32 / 1009.0).collect()
}

#[test]
fn arrays_go_in_and_out() {
    let folder = Folder::new();
    let (rows, columns, steps) = (37, 53, 11);
    let shape = [rows as u64, columns as u64];
    let before = picture(rows * columns);
    write_array(&folder.path("before.npy"), &shape, &before);
    let expected = heat(before, (rows, columns), 0.2, steps);
    let input = format!("u={}", folder.arg("before.npy"));
    let output = format!("u={}", folder.arg("after.npy"));
    let base = ["run", "heat2d", "--input", &input, "--output", &output, "--steps", "11", "--param", "a=0.2"];
    for rest in [
        &["--backend", "reference"][..],
        &["--verify"],
        &["--layout", "dense", "--tile", "st=2,s0=3,s1=5", "--verify"],
        &["--strategy", "naive", "--repeat", "2", "--verify"],
    ] {
        let arguments = [&base[..], &["--param", "b=0.2", "--json"], rest].concat();
        let document = tilewright(&arguments).succeeded().json();
        assert_eq!(document["size"], serde_json::json!([rows, columns]));
        assert_eq!(document["seed"], serde_json::Value::Null);
        let after = read_array(&folder.path("after.npy"), &shape);
        let same = after.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{rest:?}");
        std::fs::remove_file(folder.path("after.npy")).unwrap();
    }
    assert_eq!(folder.names(), ["before.npy"]);
}

#[test]
fn a_field_may_have_several_initial_levels() {
    let folder = Folder::new();
    let values = picture(2 * 30);
    write_array(&folder.path("levels.npy"), &[2, 30], &values);
    let input = format!("u={}", folder.arg("levels.npy"));
    let output = format!("u={}", folder.arg("out.npy"));
    let run = ["run", "leapfrog1d", "--input", &input, "--output", &output, "--json", "--verify", "--steps"];
    let document = tilewright(&[&run[..], &["0"]].concat()).succeeded().json();
    assert_eq!(document["size"], serde_json::json!([30]));
    // The newest level stands last.
    assert_eq!(read_array(&folder.path("out.npy"), &[30]), values[30..]);
    assert_eq!(tilewright(&[&run[..], &["13"]].concat()).succeeded().json()["verified"], true);
}

/// Several dimensions, statements, levels, coefficients and types, at sizes that are multiples of nothing.
#[test]
fn tiled_code_has_the_bits_of_the_reference() {
    // Tiles much smaller than the grid; the model would take few large ones.
    for (name, size, dtype, tile) in [
        ("heat1d", "301", "f32", "st=4,s0=8"),
        ("asym2d", "41x67", "f64", "st=3,s0=9,s1=16"),
        ("fdtd2d", "41x67", "f32", "st=6,s0=9,s1=16"),
        ("varcoef2d", "41x67", "f64", "st=3,s0=7,s1=20"),
        ("heat3d", "19x23x29", "f32", "st=2,s0=4,s1=6,s2=16"),
    ] {
        let run = [
            "run", name, "--size", size, "--steps", "7", "--dtype", dtype, "--tile", tile, "--verify",
            "--json",
        ];
        // As users have it compiled.
        let mut command = crate::support::command(&run);
        command.env_remove("CC");
        let document = crate::support::finish(command).succeeded().json();
        assert_eq!(document["verified"], true, "{name} {dtype}");
        assert_eq!(document["dtype"], dtype);
    }
}

/// The CUDA kernels, every access checked.
#[test]
fn the_emulator_has_the_bits_of_the_reference() {
    let base = ["run", "heat2d", "--size", "35x71", "--steps", "6", "--verify", "--json", "--backend"];
    let emulated = tilewright(&[&base[..], &["emulator"]].concat()).succeeded().json();
    assert_eq!(emulated["verified"], true);
    assert_eq!(emulated["emulator"]["total_violations"], 0);
    assert!(emulated["launches"].as_u64().unwrap() > 0);
    let compiled = tilewright(&[&base[..], &["openmp"]].concat()).succeeded().json();
    assert_eq!(emulated["checksum"], compiled["checksum"]);
}

/// With a device as without: a result, or a reason.
#[test]
fn cuda_runs_or_says_why_not() {
    let output =
        tilewright(&["run", "heat2d", "--size", "35x71", "--steps", "6", "--backend", "cuda", "--verify"]);
    match output.code {
        0 => assert!(output.stdout.contains("every bit is that of the reference"), "{}", output.stdout),
        1 => assert!(
            output.stderr.contains("no CUDA device") || output.stderr.contains("NVRTC"),
            "{}",
            output.stderr
        ),
        code => panic!("exit code {code}: {}", output.stderr),
    }
}

#[test]
fn no_steps_and_tiny_grids_are_fine() {
    for (size, steps, note) in
        [("20x20", "0", false), ("1x1", "5", true), ("2x9", "3", true), ("3x3", "40", false)]
    {
        let run = ["run", "heat2d", "--size", size, "--steps", steps, "--verify", "--json"];
        let document = tilewright(&run).succeeded().json();
        assert_eq!(document["verified"], true, "{size}");
        let notes = document["notes"].to_string();
        assert_eq!(notes.contains("smaller than the stencil"), note, "{size}: {notes}");
        assert!(document["gstencil_per_s"].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn the_seed_decides() {
    let checksum = |seed: &str, layout: &str| {
        let run = [
            "run", "heat2d", "--size", "33x65", "--steps", "5", "--json", "--seed", seed, "--layout", layout,
        ];
        tilewright(&run).succeeded().json()["checksum"].clone()
    };
    let first = checksum("1", "padded");
    assert_eq!(first, checksum("1", "dense"));
    assert_ne!(first, checksum("2", "padded"));
}

/// Contraction moves results by no more than its bound, which holds for whatever a compiler contracts; and by something, on
/// processors that can.
#[test]
fn contraction_keeps_to_its_bound() {
    let run = |stencil: &str, size: &str, rest: &[&str]| {
        let base = ["run", stencil, "--size", size, "--steps", "12", "--contract", "--verify", "--json"];
        tilewright(&[&base[..], rest].concat())
    };
    for (stencil, size, rest) in [
        ("heat1d", "301", &["--param", "alpha=0.3"][..]),
        ("star2d3r", "61x77", &["--tile", "st=4,s0=13,s1=16,f=2"]),
        ("heat3d", "21x23x25", &["--param", "alpha=0.1"]),
        ("fdtd2d", "41x37", &["--strategy", "naive"]),
    ] {
        let document = run(stencil, size, rest).succeeded().json();
        let number = |key: &str| document[key].as_f64().unwrap();
        assert_eq!(document["verified"], true, "{document}");
        assert!(number("max_abs_error") <= number("error_bound"), "{document}");
        assert!(document["compiler"].as_str().unwrap().contains("-ffp-contract=fast"), "{document}");
    }
    let unknown = run("gradient2d", "41x37", &[]).succeeded().json();
    let note = unknown["notes"].to_string();
    assert!(note.contains("gradient2d multiplies its values"), "{note}");
    assert_eq!(unknown["error_bound"], serde_json::Value::Null);
    let refused = run("heat2d", "41x37", &["--backend", "reference"]);
    assert!(refused.code == 2 && refused.stderr.contains("leave out --contract"), "{}", refused.stderr);
}

/// The text for GPUs says itself what is contracted, so that the emulator contracts it: results move, by no more than the bound, whatever
/// the strategy. An approximation is moved as far as it may be, and a bound without it does not hold.
#[test]
fn the_emulator_contracts_and_approximates() {
    let run = |stencil: &str, size: &str, rest: &[&str]| {
        let base = ["run", stencil, "--size", size, "--backend", "emulator", "--verify", "--json"];
        tilewright(&[&base[..], rest].concat()).succeeded().json()
    };
    let number = |document: &serde_json::Value, key: &str| document[key].as_f64().unwrap();
    for (stencil, size, rest) in [
        ("heat1d", "301", &["--steps", "7", "--param", "alpha=0.3", "--strategy", "naive"][..]),
        (
            "star2d1r",
            "61x77",
            &["--steps", "6", "--param", "c1=0.17", "--strategy", "hhc", "--tile", "st=2,s0=3,s1=16"],
        ),
        (
            "star2d1r",
            "61x97",
            &[
                "--steps",
                "5",
                "--param",
                "c1=0.17",
                "--strategy",
                "warp-pipeline",
                "--tile",
                "rpl=2,steps=2,warps=2,rows=30",
            ],
        ),
    ] {
        let document = run(stencil, size, &[rest, &["--contract"]].concat());
        assert_eq!(document["verified"], true, "{document}");
        assert!(number(&document, "mismatches") > 0.0, "{document}");
        assert!(number(&document, "max_abs_error") <= number(&document, "error_bound"), "{document}");
        assert_eq!(document["emulator"]["total_violations"], 0, "{document}");
        let exact = run(stencil, size, rest);
        assert_eq!(
            (number(&exact, "mismatches"), &exact["error_bound"]),
            (0.0, &serde_json::Value::Null),
            "{exact}"
        );
    }
    let folder = Folder::new();
    let text = "stencil mean(t, i) {\n    field u: f32;\n    u[t+1, i] = (u[t, i-1] + u[t, i] + u[t, i+1]) / 3.0;\n}\n";
    let mean = folder.write("mean.stencil", text);
    let steps = ["--steps", "4", "--strategy", "naive"];
    let fast = run(&mean, "300", &[&steps[..], &["--fast-math"]].concat());
    assert!(fast["verified"] == true && number(&fast, "mismatches") > 100.0, "{fast}");
    let contracted = run(&mean, "300", &[&steps[..], &["--contract"]].concat());
    assert!(number(&contracted, "error_bound") < number(&fast, "error_bound"), "{contracted} {fast}");
    let nothing = run("heat1d", "99", &[&steps[..], &["--fast-math"]].concat());
    assert!(
        nothing["mismatches"] == 0 && nothing["notes"].to_string().contains("changes nothing"),
        "{nothing}"
    );
    let unknown = run("gradient2d", "31x37", &[&steps[..], &["--fast-math", "--dtype", "f32"]].concat());
    assert!(unknown["verified"].is_null() && number(&unknown, "mismatches") > 0.0, "{unknown}");
    assert!(
        unknown["notes"].to_string().contains("how far approximations may move the result is not known"),
        "{unknown}"
    );
    let refused = tilewright(&["run", "heat1d", "--size", "99", "--steps", "1", "--fast-math"]);
    assert!(refused.code == 2 && refused.stderr.contains("leave out --fast-math"), "{}", refused.stderr);
}

/// Emitted code says what it contracts, in its text, its build file and its manifest, and otherwise nothing of it.
#[test]
fn emitted_code_says_what_it_contracts() {
    let folder = Folder::new();
    let compile = |options: &[&str]| {
        let out = folder.arg("out");
        let base = [
            "compile",
            "star2d1r",
            "--dtype",
            "f32",
            "--target",
            "cuda",
            "--strategy",
            "naive",
            "-o",
            &out,
            "--json",
        ];
        let report = tilewright(&[&base[..], options].concat()).succeeded().json();
        let read = |name: &str| std::fs::read_to_string(std::path::Path::new(&out).join(name)).unwrap();
        (report, ["star2d1r.cu", "star2d1r_main.cu", "CMakeLists.txt", "manifest.json"].map(read))
    };
    let (report, [text, main, build, manifest]) = compile(&["--contract", "--fast-math", "--steps", "9"]);
    assert!(
        text.contains("fmaf(") && text.contains("in their last digits") && !text.contains("bit for bit"),
        "{text}"
    );
    assert!(text.contains("div.full.f32") && main.contains("the bound is"), "{main}");
    assert!(build.contains("--fmad=false") && build.contains("adds nothing"), "{build}");
    for document in [&report, &serde_json::from_str(&manifest).unwrap()] {
        let own = &document["arithmetic"];
        assert!(
            own["contract"] == true && own["fast_math"] == true && own["error_bound_steps"] == 9,
            "{own}"
        );
        let bound = own["error_bound"].as_f64().unwrap();
        assert!((1e-7..1e-4).contains(&bound), "{own}");
    }
    assert!(report["notes"].to_string().contains("changes nothing"), "{report}");
    let (report, [text, main, build, _]) = compile(&[]);
    assert!(!text.contains("fmaf(") && text.contains("bit for bit") && build.contains("bit for bit"));
    assert!(!main.contains("the bound is") && report["arithmetic"].is_null());
    for (more, words) in [
        (&["--target", "openmp"][..], "for --target cuda"),
        (&["--target", "cuda", "--ranks", "2x2"], "--ranks"),
    ] {
        let base = ["compile", "star2d1r", "--contract", "-o", &folder.arg("other")];
        let refused = tilewright(&[&base[..], more].concat());
        assert!(refused.code == 2 && refused.stderr.contains(words), "{}", refused.stderr);
    }
}

/// A compiler that re-associates sums gives other bits: a check that fails is exit code 1, with a whole report.
#[cfg(unix)]
#[test]
fn a_result_that_differs_fails_the_check() {
    let folder = Folder::new();
    let text =
        "stencil rounds(t, i) {\n    field u: f32;\n    u[t+1, i] = (u[t, i] + 1000000) - 1000000;\n}\n";
    let stencil = folder.write("rounds.stencil", text);
    let compiler = folder.write("careless-cc", "#!/bin/sh\nexec cc \"$@\" -ffast-math\n");
    let run = ["run", &stencil, "--size", "100", "--steps", "1", "--verify", "--json"];
    tilewright(&run).succeeded();
    let mut command = crate::support::command(&run);
    // Through the shell: a file that was just written may still be open for writing in a child of another test.
    command.env("CC", format!("sh {compiler}"));
    let output = crate::support::finish(command);
    assert_eq!(output.code, 1, "{}", output.stderr);
    let document = output.json();
    assert_eq!(document["verified"], false);
    assert!(document["mismatches"].as_u64().unwrap() > 50);
    assert!(document["max_abs_error"].as_f64().unwrap() > 0.01);
    assert!(document["first_mismatch"].as_str().unwrap().starts_with("u["));
}
