//! The cache under ordinary use, damage, unwritable folders, and several threads and processes at once.
#![allow(clippy::unwrap_used)]

use execution::ExecutionError;
use execution::cache::{Cache, Key, KeyBuilder};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

fn key(text: &str) -> Key {
    KeyBuilder::new("test").with("text", text.as_bytes()).finish()
}

fn fill(folder: &Path) -> execution::Result<()> {
    fs::write(folder.join("a"), "content a").unwrap();
    fs::write(folder.join("b"), vec![7u8; 100_000]).unwrap();
    Ok(())
}

fn no_building_folders_left(root: &Path) {
    for entry in fs::read_dir(root.join("v1")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with(".building"), "{name} was left behind");
    }
}

#[test]
fn keys_depend_on_names_values_and_their_borders() {
    let pair =
        |a: &str, b: &str| KeyBuilder::new("k").with("x", a.as_bytes()).with("y", b.as_bytes()).finish();
    assert_eq!(pair("ab", "c"), pair("ab", "c"));
    assert_ne!(pair("ab", "c"), pair("a", "bc"));
    assert_ne!(KeyBuilder::new("k").finish(), KeyBuilder::new("l").finish());
    assert_eq!(key("x").as_str().len(), 64);
}

#[test]
fn an_entry_is_built_once() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path()).unwrap();
    assert!(!cache.is_private());
    assert!(cache.get(&key("x")).is_none());
    let first = cache.get_or_build(&key("x"), fill).unwrap();
    let second = cache.get_or_build(&key("x"), |_| panic!("built again")).unwrap();
    assert_eq!((first.hit(), second.hit()), (false, true));
    assert_eq!(fs::read_to_string(second.file("a")).unwrap(), "content a");
    assert!(cache.get(&key("x")).is_some());
    no_building_folders_left(folder.path());
}

#[test]
fn a_failed_build_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path()).unwrap();
    let result = cache.get_or_build(&key("x"), |folder| {
        fill(folder)?;
        Err(ExecutionError::Interrupted)
    });
    assert!(matches!(result, Err(ExecutionError::Interrupted)));
    assert!(cache.get(&key("x")).is_none());
    no_building_folders_left(folder.path());
}

#[test]
fn damaged_entries_are_misses_and_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path()).unwrap();
    let damages: [fn(&Path); 5] = [
        |entry| fs::write(entry.join("b"), "short").unwrap(),
        |entry| fs::remove_file(entry.join("a")).unwrap(),
        |entry| fs::write(entry.join("files.json"), "{").unwrap(),
        |entry| fs::remove_file(entry.join("files.json")).unwrap(),
        |entry| {
            fs::remove_dir_all(entry).unwrap();
            fs::write(entry, "a file, not a folder").unwrap();
        },
    ];
    for damage in damages {
        let entry = cache.get_or_build(&key("x"), fill).unwrap();
        damage(entry.folder());
        let again = cache.get_or_build(&key("x"), fill).unwrap();
        assert!(!again.hit());
        assert_eq!(fs::read_to_string(again.file("a")).unwrap(), "content a");
        no_building_folders_left(folder.path());
    }
}

#[test]
fn an_unwritable_folder_is_replaced_by_a_private_one() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for unwritable in [file.path().join("cache"), "/proc/none/tilewright".into()] {
        let cache = Cache::at(&unwritable).unwrap();
        assert!(cache.is_private());
        let entry = cache.get_or_build(&key("x"), fill).unwrap();
        drop(cache);
        let path = entry.folder().to_owned();
        assert!(path.join("a").is_file(), "the entry keeps the folder");
        drop(entry);
        assert!(!path.exists(), "nothing is left");
    }
}

#[test]
fn threads_that_meet_agree() {
    let folder = tempfile::tempdir().unwrap();
    let built = AtomicUsize::new(0);
    for round in 0..20 {
        let key = key(&format!("round {round}"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let cache = Cache::at(folder.path()).unwrap();
                    let entry = cache
                        .get_or_build(&key, |folder| {
                            built.fetch_add(1, Ordering::SeqCst);
                            fill(folder)
                        })
                        .unwrap();
                    assert_eq!(fs::read(entry.file("b")).unwrap().len(), 100_000);
                });
            }
        });
    }
    assert!(built.load(Ordering::SeqCst) >= 20);
    no_building_folders_left(folder.path());
}

const CHILD: &str = "TILEWRIGHT_TEST_CACHE_CHILD";

/// What a child process does; not a test of its own.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let cache = Cache::at(Path::new(&folder)).unwrap();
    for round in 0..50 {
        let entry = cache.get_or_build(&key(&format!("round {round}")), fill).unwrap();
        assert_eq!(fs::read(entry.file("b")).unwrap().len(), 100_000);
    }
}

#[test]
fn processes_that_meet_agree() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child"]).env(CHILD, folder.path()).spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    no_building_folders_left(folder.path());
}
