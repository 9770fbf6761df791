use super::*;
use std::fs;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn folder(&self, force: bool) -> OutputFolder {
        OutputFolder::new(&self.at("out"), &[self.at("input")], force).unwrap()
    }

    fn write(&self, files: &[(&str, &str)], force: bool) -> Result<()> {
        let files: Vec<NewFile<'_>> =
            files.iter().map(|(name, text)| (Path::new(*name), text.as_bytes())).collect();
        self.folder(force).write(&files).map(drop)
    }

    /// Names in the way, and why.
    fn refused(&self, files: &[(&str, &str)], force: bool) -> Vec<(String, Reason)> {
        match self.write(files, force) {
            Err(ExecutionError::Occupied { conflicts, .. }) => conflicts
                .into_iter()
                .map(|conflict| (conflict.file.to_str().unwrap().to_owned(), conflict.reason))
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    /// All files below, hidden ones too.
    fn names(&self) -> Vec<String> {
        fn walk(folder: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    walk(&path, names)
                } else {
                    names.push(path.display().to_string())
                }
            }
        }
        let mut names = Vec::new();
        walk(self.0.path(), &mut names);
        let base = format!("{}/", self.0.path().display());
        names.iter_mut().for_each(|name| *name = name.strip_prefix(&base).unwrap().to_owned());
        names.sort();
        names
    }
}

const FIRST: [(&str, &str); 2] = [("a.c", "first"), ("include/b.h", "header")];
const SECOND: [(&str, &str); 2] = [("a.c", "second"), ("include/b.h", "header")];

#[test]
fn own_files_are_replaced_and_others_are_not() {
    let place = Place::new();
    place.write(&FIRST, false).unwrap();
    place.write(&SECOND, false).unwrap();
    assert_eq!(place.text("out/a.c"), "second");
    assert_eq!(place.names(), ["out/.tilewright", "out/a.c", "out/include/b.h"]);
    // Edited since.
    fs::write(place.at("out/a.c"), "mine").unwrap();
    assert_eq!(place.refused(&FIRST, false), [("a.c".to_owned(), Reason::Changed)]);
    assert_eq!(place.text("out/a.c"), "mine");
    // What has the content already is no conflict, whoever wrote it, and stays whoever's it is.
    place.write(&[("a.c", "mine")], false).unwrap();
    assert_eq!(place.refused(&FIRST, false).len(), 1);
    place.write(&FIRST, true).unwrap();
    place.write(&SECOND, false).unwrap();
    // Without the list nothing is known.
    fs::remove_file(place.at("out/.tilewright")).unwrap();
    assert_eq!(place.refused(&FIRST, false), [("a.c".to_owned(), Reason::Foreign)]);
}

#[test]
fn all_that_is_in_the_way_is_listed_and_nothing_is_written() {
    let place = Place::new();
    fs::create_dir_all(place.at("out/folder.c")).unwrap();
    fs::write(place.at("out/theirs.c"), "theirs").unwrap();
    fs::write(place.at("input"), "source").unwrap();
    fs::hard_link(place.at("input"), place.at("out/source.c")).unwrap();
    fs::write(place.at("out/file"), "").unwrap();
    fs::write(place.at("out/.tilewright"), "mine").unwrap();
    let names = ["fine.c", "theirs.c", "source.c", "folder.c", "file/x.h", "../up.c", "fine.c"];
    let before = place.names();
    let refused = place.refused(&names.map(|name| (name, "new")), false);
    let expected = [
        ("../up.c", Reason::Outside),
        (".tilewright", Reason::Foreign),
        ("file/x.h", Reason::BehindFile("file".into())),
        ("fine.c", Reason::Twice),
        ("folder.c", Reason::NoFile),
        ("source.c", Reason::Input),
        ("theirs.c", Reason::Foreign),
    ];
    assert_eq!(refused, expected.map(|(name, reason)| (name.to_owned(), reason)));
    assert_eq!(place.names(), before);
    // Nobody can insist on losing the source, or on what cannot be.
    let forced = place.refused(&names.map(|name| (name, "new")), true);
    assert_eq!(forced.len(), 5);
    place.write(&[("theirs.c", "new"), ("fine.c", "new")], true).unwrap();
    assert_eq!((place.text("out/theirs.c"), place.text("input")), ("new".to_owned(), "source".to_owned()));
    // A list of own files that was changed is noticed, too.
    let list = place.text("out/.tilewright");
    fs::write(place.at("out/.tilewright"), list.replace("theirs.c", "others.c")).unwrap();
    let refused = place.refused(&[("theirs.c", "newer")], false);
    assert_eq!(refused[0], (".tilewright".to_owned(), Reason::Changed));
    assert_eq!(refused.len(), 2);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.write(&FIRST, false).unwrap();
    fs::write(place.at("dear"), "dear").unwrap();
    fs::create_dir(place.at("elsewhere")).unwrap();
    fs::write(place.at("elsewhere/b.h"), "dear").unwrap();
    fs::remove_file(place.at("out/a.c")).unwrap();
    symlink(place.at("dear"), place.at("out/a.c")).unwrap();
    fs::remove_dir_all(place.at("out/include")).unwrap();
    symlink(place.at("elsewhere"), place.at("out/include")).unwrap();
    let behind = Reason::BehindLink("include".into());
    let expected = [("a.c".to_owned(), Reason::Link), ("include/b.h".to_owned(), behind.clone())];
    assert_eq!(place.refused(&SECOND, false), expected);
    assert_eq!(place.refused(&SECOND, true), expected[1..]);
    // Who insists gets a file in the place of the link.
    place.write(&SECOND[..1], true).unwrap();
    assert_eq!((place.text("out/a.c"), place.text("dear")), ("second".to_owned(), "dear".to_owned()));
    assert_eq!(place.text("elsewhere/b.h"), "dear");
    // A link to nowhere.
    symlink(place.at("nowhere"), place.at("out/new.c")).unwrap();
    assert_eq!(place.refused(&[("new.c", "")], false), [("new.c".to_owned(), Reason::Link)]);
    // The folder itself may be named by a link.
    symlink(place.at("out"), place.at("link")).unwrap();
    let folder = OutputFolder::new(&place.at("link"), &[], false).unwrap();
    folder.write(&[(Path::new("a.c"), b"third")]).unwrap();
    assert_eq!(place.text("out/a.c"), "third");
}

/// A process that is killed has written the list, and some of the files.
#[test]
fn what_was_begun_can_be_repeated() {
    let place = Place::new();
    place.write(&FIRST, false).unwrap();
    let folder = place.folder(false);
    folder.write_index(|index| index.add(Path::new("a.c"), hash_of(b"second"))).unwrap();
    for text in ["first", "second"] {
        fs::write(place.at("out/a.c"), text).unwrap();
        folder.check([Path::new("a.c")]).unwrap();
    }
    fs::write(place.at("out/a.c"), "third").unwrap();
    assert!(folder.check([Path::new("a.c")]).is_err());
    fs::remove_file(place.at("out/a.c")).unwrap();
    place.write(&SECOND, false).unwrap();
    let whole = place.text("out/.tilewright");
    fs::remove_dir_all(place.at("out")).unwrap();
    place.write(&SECOND, false).unwrap();
    assert_eq!(place.text("out/.tilewright"), whole);
}

#[test]
fn files_that_grow_are_known_by_their_content() {
    let place = Place::new();
    let folder = place.folder(false);
    let check = |own: bool| folder.check_own(Path::new("journal"), |_| own);
    check(false).unwrap();
    fs::create_dir(place.at("out")).unwrap();
    fs::write(place.at("out/journal"), "lines").unwrap();
    check(true).unwrap();
    assert!(check(false).is_err());
    let forced = |own: bool| place.folder(true).check_own(Path::new("journal"), |_| own);
    forced(false).unwrap();
    // It is written in place, and what a link leads to would be lost.
    fs::remove_file(place.at("out/journal")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.at("dear"), place.at("out/journal")).unwrap();
    #[cfg(unix)]
    assert!(forced(true).is_err());
}

/// What appears after the check is not replaced either.
#[test]
fn what_appears_meanwhile_stays() {
    let place = Place::new();
    fs::create_dir(place.at("out")).unwrap();
    let folder = place.folder(false);
    let staged = stage(&place.at("out/a.c"), |file| file.write_all(b"new")).unwrap();
    fs::write(place.at("out/a.c"), "theirs").unwrap();
    assert!(folder.give_name(staged, Path::new("a.c"), &hash_of(b"new")).is_err());
    assert_eq!(place.text("out/a.c"), "theirs");
    let mut staged = stage(&place.at("out/a.c"), |file| file.write_all(b"new")).unwrap();
    assert!(!staged.create(&place.at("out/a.c")).unwrap());
    drop(staged);
    assert_eq!(place.names(), ["out/a.c"]);
}

#[test]
fn a_failure_leaves_no_folder() {
    let place = Place::new();
    fs::write(place.at("input"), "").unwrap();
    let folder = OutputFolder::new(&place.at("deep/out"), &[], false).unwrap();
    // A name that is too long cannot be written; where the folder is not there yet, that shows late.
    let long = "x".repeat(300);
    let files = [(Path::new("sub/a.c"), &b"text"[..]), (Path::new(long.as_str()), b"text")];
    assert!(folder.write(&files).is_err());
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 1);
}
