//! `nested run --backend cuda` on a simulated GPU: `python/tests/simulated_gpu` is its driver and its NVRTC.

use crate::support::{command, finish};
use nested::data::Array;
use nested::npy;
use std::path::Path;
use std::process::Command;
use toolchain::compiler::{Compiler, Language};

/// Compiles the driver into a folder. False where there is no compiler, or no such system.
fn simulated(folder: &Path) -> bool {
    if !cfg!(target_os = "linux") || Compiler::find(Language::Cxx).is_err() {
        println!("skipped: no C++ compiler, or not Linux");
        return false;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/tests/simulated_gpu");
    let compiler = std::env::var("CXX").ok().filter(|own| !own.trim().is_empty());
    let compiler = compiler.unwrap_or_else(|| "c++".to_owned());
    let mut words = compiler.split_whitespace();
    let mut cc = Command::new(words.next().unwrap());
    cc.args(words).args(["-std=c++17", "-O0", "-fPIC", "-shared"]);
    cc.arg(format!("-DSIMULATED_HEADER=\"{}\"", own.join("kernels.h").display()));
    cc.arg("-o").arg(folder.join("libcuda.so")).arg(own.join("driver.cpp")).arg("-ldl");
    assert!(cc.status().unwrap().success());
    true
}

#[test]
fn nested_programs_run_on_a_simulated_gpu() {
    let folder = tempfile::tempdir().unwrap();
    if !simulated(folder.path()) {
        return;
    }
    let file = |name: &str| folder.path().join(name).display().to_string();
    // Fused and stored arrays, numbers that the host reads, and most kernels of the runtime.
    let text = "nested p { input s: [f64]; input k: [i32]; input o: [i64];
        output a = reduce(+, s, 0.5); output b = scan(+, s, 0.25);
        output d = map(|r| reduce(+, r, 1.0), nest(s, o)); output e = filter(|x| x > 0.0, s);
        output f = sort_by_key(s, k); output g = scatter(s, sort_by_key(map(|x, i| i32(i), s, range(0, len(s))), k), s);
        output h = map(|x| x * a, s); }";
    std::fs::write(file("p.nested"), text).unwrap();
    let count = 9000;
    let numbers = (0..count).map(|place| f64::from(place * 7919 % 1009) / 100.0 - 5.0).collect();
    let keys = (0..count).map(|place| place * 31 % 50 - 20).collect();
    for (name, array) in [
        ("s.npy", Array::F64(numbers)),
        ("k.npy", Array::I32(keys)),
        ("o.npy", Array::I64(vec![0, 5, 5, 4200, i64::from(count)])),
        ("wrong.npy", Array::I64(vec![0, 5, 4, i64::from(count)])),
    ] {
        npy::write(file(name).as_ref(), &array, 1).unwrap();
    }
    let run = |offsets: &str, more: &[&str]| {
        let inputs =
            [format!("s={}", file("s.npy")), format!("k={}", file("k.npy")), format!("o={}", file(offsets))];
        let program = file("p.nested");
        let mut arguments = vec!["nested", "run", &program, "--backend", "cuda", "--json"];
        inputs.iter().for_each(|own| arguments.extend(["--input", own]));
        arguments.extend(more);
        let mut command = command(&arguments);
        command.env("LD_LIBRARY_PATH", folder.path()).env("TILEWRIGHT_NVRTC", file("libcuda.so"));
        // Machine code of this driver is none of another one's.
        finish({
            command.env("TILEWRIGHT_CACHE", file("cache"));
            command
        })
    };
    let more = ["--policy", "b:scan=look_back,block_size_x=64", "--verify", "--repeat", "2"];
    let report = run("o.npy", &more).succeeded().json();
    assert_eq!((&report["verified"], report["backend"].as_str()), (&true.into(), Some("cuda")), "{report}");
    assert_eq!(report["device"], "Simulated GPU");
    assert_eq!(report["seconds_all"].as_array().unwrap().len(), 2);
    let wrong = run("wrong.npy", &more);
    assert!(
        wrong.code == 2 && wrong.stdout.contains("offsets begin with 0"),
        "{} {}",
        wrong.code,
        wrong.stdout
    );
    assert_eq!(run("o.npy", &["--policy", "b:omp_schedule_1=static"]).code, 1);
}

/// Where there is no GPU, that is said, with what can be done instead.
#[test]
fn a_missing_gpu_is_said() {
    if toolchain::driver::is_available().is_ok() {
        println!("skipped: there is a GPU");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.npy");
    npy::write(&path, &Array::F64(vec![1.0]), 1).unwrap();
    let input = format!("s={}", path.display());
    let none = finish(command(&["nested", "run", "reduction", "--input", &input, "--backend", "cuda"]));
    assert!(none.code == 1 && none.stderr.contains("no CUDA device can be used"), "{}", none.stderr);
    assert!(none.stderr.contains("`emulator` runs"), "{}", none.stderr);
}
