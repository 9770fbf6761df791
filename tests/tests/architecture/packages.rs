//! Every crate that is for others can be packed: it holds what it embeds, says what it is, and shows how it is used.

use crate::structure::FLOORS;
use std::path::{Component, Path, PathBuf};
use syn::visit::{self, Visit};
use tilewright_tests::{files, shown, workspace};

/// The crates that are for others: all but the measurements, and what is packed for Python.
fn public() -> impl Iterator<Item = &'static str> {
    FLOORS.iter().copied().filter(|folder| !["python", "benches", "variant-benchmarks"].contains(folder))
}

/// The files that a source embeds, by their paths from it.
#[derive(Default)]
struct Embedded(Vec<String>);

impl<'a> Visit<'a> for Embedded {
    fn visit_macro(&mut self, own: &'a syn::Macro) {
        let is_text = own.path.is_ident("include_str") || own.path.is_ident("include_bytes");
        if let (true, Ok(path)) = (is_text, own.parse_body::<syn::LitStr>()) {
            self.0.push(path.value());
        }
        visit::visit_macro(self, own);
    }
}

/// A path without `.` and `..`, as it is written: a link that leads out of the crate is followed when it is packed.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            component => plain.push(component),
        }
    }
    plain
}

#[test]
fn crates_hold_what_they_embed() {
    let mut seen = 0;
    for folder in public() {
        let own = workspace().join(folder);
        // Tests inside a crate may look at the workspace: they do not go with the package's users.
        let is_test = |file: &Path| file.ends_with("tests.rs") || file.ends_with("testing.rs");
        for file in files(&format!("{folder}/src"), &[".rs"]).iter().filter(|file| !is_test(file)) {
            let text = std::fs::read_to_string(file).unwrap();
            let mut embedded = Embedded::default();
            embedded.visit_file(&syn::parse_file(&text).unwrap());
            for path in embedded.0 {
                let place = plain(&file.parent().unwrap().join(&path));
                assert!(place.starts_with(&own), "{}: {path} is outside of {folder}", shown(file));
                assert!(place.is_file(), "{}: there is no {path}", shown(file));
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} embedded files were found");
}

#[test]
fn crates_say_what_they_are_and_show_how_they_are_used() {
    for folder in public() {
        let manifest = std::fs::read_to_string(workspace().join(folder).join("Cargo.toml")).unwrap();
        for key in ["name = ", "description = ", "version.workspace = ", "license.workspace = "] {
            assert!(manifest.lines().any(|line| line.starts_with(key)), "{folder}/Cargo.toml has no {key}");
        }
        let page = std::fs::read_to_string(workspace().join(folder).join("src/lib.rs")).unwrap();
        let fences: Vec<&str> = page.lines().filter(|line| line.starts_with("//! ```")).collect();
        assert!(fences.len() >= 2, "the first page of {folder} has no example");
        assert!(
            fences.iter().all(|fence| matches!(*fence, "//! ```" | "//! ```no_run" | "//! ```text")),
            "the example of {folder} is not compiled"
        );
    }
}

/// On the registry, short names belong to others. The command has the project's own, so that it is what
/// `cargo install tilewright` installs; in code, libraries keep the names of their folders.
#[test]
fn packages_are_named_after_the_project() {
    for folder in public() {
        let manifest = std::fs::read_to_string(workspace().join(folder).join("Cargo.toml")).unwrap();
        let names: Vec<&str> = manifest
            .lines()
            .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
            .take(2)
            .collect();
        let package = match folder {
            "cli" => "tilewright".to_owned(),
            "tilewright" => "tilewright-library".to_owned(),
            other => format!("tilewright-{other}"),
        };
        let library = match folder {
            "cli" => "tilewright_cli".to_owned(),
            "adaptive-c" => "tilewright_adaptive".to_owned(),
            other => other.replace('-', "_"),
        };
        assert_eq!(names, [package, library], "{folder}");
    }
}

#[test]
fn crates_name_versions_of_each_other() {
    let manifest = std::fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    for line in manifest.lines().filter(|line| line.contains("path = \"")) {
        assert!(line.contains("version = \""), "{line}");
    }
}
