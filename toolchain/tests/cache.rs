//! The cache under ordinary use, damage, unwritable folders, and several threads and processes at once.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolchain::Error;
use toolchain::cache::{self, Cache, Key, KeyBuilder};

fn key(text: &str) -> Key {
    KeyBuilder::new("test").with("text", text.as_bytes()).finish()
}

fn fill(folder: &Path) -> toolchain::Result<()> {
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
    let first = cache.get_or_build(&key("x"), &fill).unwrap();
    let second = cache.get_or_build(&key("x"), &|_: &Path| panic!("built again")).unwrap();
    assert_eq!((first.hit(), second.hit()), (false, true));
    assert_eq!(fs::read_to_string(second.file("a")).unwrap(), "content a");
    assert!(cache.get(&key("x")).is_some());
    no_building_folders_left(folder.path());
}

#[test]
fn a_failed_build_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path()).unwrap();
    let result = cache.get_or_build(&key("x"), &|folder: &Path| {
        fill(folder)?;
        Err(Error::Interrupted)
    });
    assert!(matches!(result, Err(Error::Interrupted)));
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
        let entry = cache.get_or_build(&key("x"), &fill).unwrap();
        damage(entry.folder());
        let again = cache.get_or_build(&key("x"), &fill).unwrap();
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
        let entry = cache.get_or_build(&key("x"), &fill).unwrap();
        assert!(entry.file("a").is_file());
    }
    cache::close();
}

#[test]
fn a_private_folder_goes_with_its_last_entry() {
    let cache = Cache::private().unwrap();
    let entry = cache.get_or_build(&key("x"), &fill).unwrap();
    drop(cache);
    let path = entry.folder().to_owned();
    assert!(path.join("a").is_file(), "the entry keeps the folder");
    drop(entry);
    assert!(!path.exists(), "nothing is left");
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
                        .get_or_build(&key, &|folder: &Path| {
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
        let entry = cache.get_or_build(&key(&format!("round {round}")), &fill).unwrap();
        assert_eq!(fs::read(entry.file("b")).unwrap().len(), 100_000);
    }
}

#[test]
fn processes_that_meet_agree() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "cache::child"]).env(CHILD, folder.path()).spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    no_building_folders_left(folder.path());
}

/// What is cached is executed: nobody else may be able to change it.
#[cfg(unix)]
mod safety {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn refused(folder: &Path, problem: &str) {
        match Cache::at(folder) {
            Err(Error::UnsafeCache { problem: found, .. }) => {
                assert!(found.contains(problem), "{found}");
            }
            other => panic!("{}: {other:?}", folder.display()),
        }
    }

    #[test]
    fn folders_are_made_for_their_user_only() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("a/b");
        Cache::at(&cache).unwrap().get_or_build(&key("x"), &fill).unwrap();
        for made in ["a", "a/b", "a/b/v1"] {
            assert_eq!(folder.path().join(made).metadata().unwrap().mode() & 0o777, 0o700, "{made}");
        }
    }

    #[test]
    fn folders_that_others_can_change_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (parent, cache) = (folder.path().join("parent"), folder.path().join("parent/cache"));
        fs::create_dir_all(&cache).unwrap();
        mode(&cache, 0o777);
        refused(&cache, "can write");
        mode(&cache, 0o1777);
        refused(&cache, "can write");
        mode(&cache, 0o755);
        mode(&parent, 0o777);
        refused(&cache, "everybody can write");
        // Entries of a sticky folder, as /tmp, are their owners'.
        mode(&parent, 0o1777);
        assert!(!Cache::at(&cache).unwrap().is_private());
        // What a link of one's own leads to is looked at in turn.
        let link = folder.path().join("link");
        symlink("parent/./../parent/cache", &link).unwrap();
        assert!(!Cache::at(&link).unwrap().is_private());
        mode(&parent, 0o777);
        refused(&link, "everybody can write");
        refused(&link.join("below"), "everybody can write");
        mode(&parent, 0o755);
        mode(&cache.join("v1"), 0o707);
        refused(&cache, "can write");
        symlink(folder.path().join("round"), folder.path().join("round")).unwrap();
        assert!(Cache::at(&folder.path().join("round")).unwrap().is_private(), "links in a circle");
    }

    #[test]
    fn entries_that_others_can_change_are_misses() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        type Damage<'a> = Box<dyn Fn(&Path) + 'a>;
        let mut damages: Vec<(&str, Damage<'_>)> = vec![
            ("a file that all can write", Box::new(|entry| mode(&entry.join("a"), 0o666))),
            ("a list that all can write", Box::new(|entry| mode(&entry.join("files.json"), 0o602))),
            ("a folder that all can write", Box::new(|entry| mode(entry, 0o777))),
            ("a folder above that all can write", Box::new(|entry| mode(entry.parent().unwrap(), 0o777))),
            (
                "a link in place of a file",
                Box::new(|entry| {
                    let file = elsewhere.path().join("file");
                    fs::rename(entry.join("a"), &file).unwrap();
                    symlink(file, entry.join("a")).unwrap();
                }),
            ),
            (
                "a link in place of the folder",
                Box::new(|entry| {
                    let moved = elsewhere.path().join("entry");
                    fs::rename(entry, &moved).unwrap();
                    symlink(moved, entry).unwrap();
                }),
            ),
            (
                "a link in place of the folder above",
                Box::new(|entry| {
                    let moved = elsewhere.path().join("above");
                    fs::rename(entry.parent().unwrap(), &moved).unwrap();
                    symlink(moved, entry.parent().unwrap()).unwrap();
                }),
            ),
        ];
        if folder.path().metadata().unwrap().uid() == 0 {
            let other = |path: &Path| chown(path, Some(12345), Some(12345)).unwrap();
            damages.push(("another's file", Box::new(move |entry| other(&entry.join("b")))));
            damages.push(("another's list", Box::new(move |entry| other(&entry.join("files.json")))));
            damages.push(("another's folder", Box::new(move |entry| other(entry))));
            damages.push(("another's folder above", Box::new(move |entry| other(entry.parent().unwrap()))));
        } else {
            println!("not root: files of other users were not tried");
        }
        for (what, damage) in &damages {
            let entry = cache.get_or_build(&key("x"), &fill).unwrap();
            damage(entry.folder());
            assert!(cache.get(&key("x")).is_none(), "{what}");
            let again = cache.get_or_build(&key("x"), &fill).unwrap();
            assert!(!again.hit(), "{what}");
            assert!(cache.get(&key("x")).is_some(), "{what}");
            no_building_folders_left(folder.path());
        }
        assert!(elsewhere.path().join("entry/b").is_file(), "what a link leads to stays");
    }

    #[test]
    fn folders_of_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        if folder.path().metadata().unwrap().uid() != 0 {
            println!("not root: skipped");
            return;
        }
        let (cache, link) = (folder.path().join("cache"), folder.path().join("link"));
        fs::create_dir(&cache).unwrap();
        mode(folder.path(), 0o1777);
        symlink(&cache, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(12345), None).unwrap();
        refused(&link, "belongs to user 12345");
        chown(&cache, Some(12345), Some(12345)).unwrap();
        refused(&cache, "belongs to user 12345");
        refused(&cache.join("below"), "belongs to user 12345");
    }

    /// A disk that is full, or a folder that has gone: the entry is built elsewhere.
    #[test]
    fn what_cannot_be_written_is_built_in_a_private_folder() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        fs::remove_dir_all(folder.path().join("v1")).unwrap();
        let entry = cache.get_or_build(&key("x"), &fill).unwrap();
        assert_eq!(fs::read_to_string(entry.file("a")).unwrap(), "content a");
        assert!(!entry.folder().starts_with(folder.path()));
        drop(entry);
        cache::close();
    }
}
