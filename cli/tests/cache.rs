//! The cache.

use crate::support::{Folder, command, finish};

/// A run fills the cache, which is shown, keeps what is in use, and is emptied when asked.
#[test]
fn the_cache_is_shown_and_emptied() {
    let folder = Folder::new();
    let call = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("TILEWRIGHT_CACHE", folder.path("cache")).arg("--json");
        finish(command)
    };
    let usage = |arguments: &[&str]| {
        let document = call(arguments).succeeded().json();
        let number = |key: &str| document[key].as_u64().unwrap();
        (number("entries"), number("bytes"), number("removed_entries"))
    };
    assert_eq!(usage(&["cache"]), (0, 0, 0));
    call(&["run", "heat1d", "--size", "99", "--steps", "3"]).succeeded();
    let (entries, bytes, _) = usage(&["cache", "show"]);
    assert!(entries > 0 && bytes > 0);
    assert_eq!(usage(&["cache", "prune", "--most", "0"]), (entries, bytes, 0));
    assert_eq!(usage(&["cache", "clear"]), (0, 0, entries));
    call(&["run", "heat1d", "--size", "99", "--steps", "3"]).succeeded();
    assert_eq!(call(&["cache", "clear", "--most", "1"]).code, 2);
    assert_eq!(call(&["cache", "burn"]).code, 2);
}
