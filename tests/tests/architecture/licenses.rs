//! `THIRD_PARTY_LICENSES.md` lists the licences of all dependencies, and all of them are on the allow list.
//! `BLESS=1 cargo test -p tilewright-tests --test workspace licenses` writes the file anew.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use tilewright_tests::workspace;

/// Licences that a dependency may have.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// What stands in front of the table.
const HEAD: &str = "\
# Licences of third parties

Tilewright itself is under the MIT licence (`LICENSE`). Its dependencies, all platforms and the tests included,
are below; the test `licenses` keeps the list true and refuses licences outside its allow list. Where a
licence is `A OR B`, either may be chosen. MPL-2.0, where it occurs, asks for changes to files under it to be
published; they are used unchanged.

Libraries in C that come inside a crate:

| Library | In the crate | Licence |
|---|---|---|
| isl 0.27, the integer set library | isl-rs | MIT |
| IMath, integers of any size | isl-rs (in isl) | MIT |
| SQLite, the embedded database | libsqlite3-sys | public domain |

Crates:

| Crate | Version | Licence |
|---|---|---|
";

/// Licence by name and version.
type Licenses = BTreeMap<(String, String), String>;

fn file() -> PathBuf {
    workspace().join("THIRD_PARTY_LICENSES.md")
}

/// Names and versions of all packages from a registry in `Cargo.lock`.
fn locked() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    let value = |package: &str, key: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.and_then(|rest| rest.strip_suffix('"')).map(str::to_owned)
    };
    let mut packages: Vec<(String, String)> = text
        .split("[[package]]")
        .filter(|package| value(package, "source").is_some())
        .map(|package| (value(package, "name").unwrap(), value(package, "version").unwrap()))
        .collect();
    packages.sort();
    packages
}

/// Licences as the packages themselves state them. Offline, cargo may know only those of this platform.
fn stated() -> Licenses {
    let host = host();
    let attempts: [&[&str]; 3] = [&["--offline"], &["--offline", "--filter-platform", &host], &[]];
    let mut reason = String::new();
    for arguments in attempts {
        let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(arguments)
            .current_dir(workspace())
            .output()
            .unwrap();
        if !output.status.success() {
            reason = String::from_utf8_lossy(&output.stderr).into_owned();
            continue;
        }
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |package: &serde_json::Value, key: &str| package[key].as_str().map(str::to_owned);
        let packages = metadata["packages"].as_array().unwrap();
        return packages
            .iter()
            .filter(|package| !package["source"].is_null())
            .map(|package| {
                let license = text(package, "license").unwrap_or_else(|| "none stated".to_owned());
                let name = (text(package, "name").unwrap(), text(package, "version").unwrap());
                (name, license.replace('/', " OR ").split_whitespace().collect::<Vec<_>>().join(" "))
            })
            .collect();
    }
    panic!("cargo metadata failed: {reason}");
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned()
}

/// The table of the file.
fn listed() -> Licenses {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let table = text.split("| Crate |").nth(1).unwrap_or_default();
    table
        .lines()
        .skip(2)
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, name, version, license, _] = cells[..] else { return None };
            Some(((name.to_owned(), version.to_owned()), license.to_owned()))
        })
        .collect()
}

/// Whether a licence expression can be met with allowed licences: `OR` needs one side, `AND` both.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let result = any_of(&mut words);
    result && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words) -> bool {
    let mut result = all_of(words);
    while words.next_if_eq(&"OR").is_some() {
        result |= all_of(words);
    }
    result
}

fn all_of(words: &mut Words) -> bool {
    let mut result = one(words);
    while words.next_if_eq(&"AND").is_some() {
        result &= one(words);
    }
    result
}

fn one(words: &mut Words) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let result = any_of(words);
        return result && words.next() == Some(")");
    }
    let mut license = words.next().unwrap_or_default().to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        license = format!("{license} WITH {}", words.next().unwrap_or_default());
    }
    ALLOWED.contains(&license.as_str())
}

#[test]
fn the_list_of_licenses_is_true_and_allowed() {
    let (locked, stated) = (locked(), stated());
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        let mut text = HEAD.to_owned();
        for package in &locked {
            let license = stated.get(package).unwrap_or_else(|| {
                panic!("cargo does not know the licence of {} here: run `cargo fetch` first", package.0)
            });
            text += &format!("| {} | {} | {license} |\n", package.0, package.1);
        }
        std::fs::write(file(), text).unwrap();
    }
    let hint = "run `BLESS=1 cargo test -p tilewright-tests --test workspace licenses` and commit the file";
    let listed = listed();
    let names: Vec<_> = listed.keys().cloned().collect();
    let missing: Vec<_> = locked.iter().filter(|package| !names.contains(package)).collect();
    let stray: Vec<_> = names.iter().filter(|package| !locked.contains(package)).collect();
    assert!(missing.is_empty() && stray.is_empty(), "not listed: {missing:?}; not used: {stray:?}; {hint}");
    for (package, license) in &stated {
        assert_eq!(listed.get(package), Some(license), "the licence of {package:?}; {hint}");
    }
    for (package, license) in &listed {
        assert!(is_allowed(license), "{package:?} is under `{license}`, which is not on the allow list");
    }
    assert!(std::fs::read_to_string(file()).unwrap().starts_with(HEAD), "the head of the file; {hint}");
}

#[test]
fn expressions_of_licenses() {
    for allowed in [
        "MIT",
        "MIT OR Apache-2.0",
        "GPL-3.0 OR MIT",
        "(MIT OR GPL-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
    ] {
        assert!(is_allowed(allowed), "{allowed}");
    }
    for refused in
        ["", "none stated", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-2.0) AND GPL-2.0", "(MIT", "MIT MIT"]
    {
        assert!(!is_allowed(refused), "{refused}");
    }
}
