//! The tests of the Python package, `python/tests/test_*.py`, run on the extension that this build made.
//!
//! They need Python 3.11 and NumPy: `scripts/get-numpy.sh` fetches NumPy into `target/numpy`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn python_with_numpy() -> Option<(String, Option<PathBuf>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let fetched =
        std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from).join("numpy");
    let check = "import sys, numpy; assert sys.version_info >= (3, 11)";
    for (python, path) in [("python3", None), ("python3", Some(fetched))] {
        let mut command = Command::new(python);
        if let Some(path) = &path {
            command.env("PYTHONPATH", path);
        }
        if command.args(["-c", check]).output().is_ok_and(|output| output.status.success()) {
            return Some((python.to_owned(), path));
        }
    }
    None
}

#[test]
fn the_package_does_what_it_says() {
    let Some((python, numpy)) = python_with_numpy() else {
        println!(
            "SKIPPED: there is no Python 3.11 with NumPy, which the package is for (scripts/get-numpy.sh)"
        );
        return;
    };
    // target/debug/deps/all-.. -> target/debug/examples/libextension.so
    let program = std::env::current_exe().unwrap();
    let built = program.parent().and_then(Path::parent).unwrap();
    let library = ["libextension.so", "libextension.dylib"].map(|name| built.join("examples").join(name));
    let Some(library) = library.iter().find(|path| path.is_file()) else {
        assert!(std::env::var_os("CI").is_none(), "the extension is not built");
        println!("SKIPPED: the extension is not built (cargo test -p tilewright-python --no-run)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("tilewright");
    std::fs::create_dir(&package).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(source.join("tilewright")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().extension().is_some_and(|end| end == "py" || end == "pyi") {
            std::fs::copy(entry.path(), package.join(entry.file_name())).unwrap();
        }
    }
    std::fs::copy(library, package.join("_tilewright.abi3.so")).unwrap();
    let paths = [Some(folder.path().to_owned()), numpy];
    let path = std::env::join_paths(paths.iter().flatten()).unwrap();
    let quick = std::env::var_os("TILEWRIGHT_ALL").is_none();
    let output = Command::new(python)
        .args(["-m", "unittest", "discover", "-v", "-s"])
        .arg(source.join("tests"))
        // Not where the package's sources are: Python would take those.
        .current_dir(folder.path())
        .env("PYTHONPATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TILEWRIGHT_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .env("TILEWRIGHT_STATE", folder.path().join("state"))
        .envs(quick.then(|| ("CC", format!("sh '{}/../tests/quick-cc.sh' 0", source.display()))))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    println!("{said}");
}
