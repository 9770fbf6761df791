//! What a cache takes up, and how it stays small: entries that were not used for the longest time go first.

use super::{BUILDING, Cache, LIST};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Bytes that a cache may take up where `$TILEWRIGHT_CACHE_MIB` does not say it.
const USUAL_LIMIT: u64 = 2 << 30;
/// What was used so recently may be in use by another process and stays.
const IN_USE: Duration = Duration::from_secs(600);

/// What a cache takes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Number of entries.
    pub entries: u64,
    /// Bytes of their files.
    pub bytes: u64,
}

/// An entry on the disk.
struct Found {
    folder: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// Bytes that the user's cache may take up: `$TILEWRIGHT_CACHE_MIB` mebibytes, else 2 GiB.
pub fn limit() -> u64 {
    let set = std::env::var("TILEWRIGHT_CACHE_MIB").ok().and_then(|text| text.trim().parse::<u64>().ok());
    set.map_or(USUAL_LIMIT, |mebibytes| mebibytes.saturating_mul(1 << 20))
}

impl Cache {
    /// The folder with the entries.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// What it takes up.
    pub fn usage(&self) -> Usage {
        sum(&self.found())
    }

    /// Removes entries that were not used for the longest time until the others take up `most` bytes at most; what was
    /// used in the last ten minutes stays. Returns what was removed.
    ///
    /// # Errors
    /// An entry that cannot be removed.
    pub fn prune(&self, most: u64) -> io::Result<Usage> {
        let mut found = self.found();
        found.sort_by_key(|entry| entry.used);
        let mut left = sum(&found).bytes;
        let mut removed = Vec::new();
        for entry in found {
            if left <= most || entry.used.elapsed().map_or(true, |age| age < IN_USE) {
                break;
            }
            self.remove(&entry.folder)?;
            left -= entry.bytes;
            removed.push(entry);
        }
        Ok(sum(&removed))
    }

    /// Removes all entries. Returns what was removed.
    ///
    /// # Errors
    /// An entry that cannot be removed.
    pub fn clear(&self) -> io::Result<Usage> {
        let found = self.found();
        found.iter().try_for_each(|entry| self.remove(&entry.folder))?;
        Ok(sum(&found))
    }

    /// Keeps the cache within its limit; once in a process is often enough.
    pub(super) fn keep_within_limit(&self) {
        static DONE: AtomicBool = AtomicBool::new(false);
        if !self.is_private() && !DONE.swap(true, Ordering::SeqCst) {
            // What cannot be removed now is too much next time, too.
            let _ = self.prune(limit());
        }
    }

    /// Out of the entries first, by one step, so that nobody sees half of it.
    fn remove(&self, folder: &Path) -> io::Result<()> {
        match self.move_aside(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn found(&self) -> Vec<Found> {
        let inside = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect()
        };
        let building = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(BUILDING))
        };
        let spread = inside(&self.root).into_iter().filter(|path| !building(path));
        let entries = spread.flat_map(|folder| inside(&folder));
        let one = |folder: PathBuf| {
            let used = folder.join(LIST).metadata().and_then(|list| list.modified()).ok()?;
            let sizes = inside(&folder).into_iter().filter_map(|file| file.symlink_metadata().ok());
            Some(Found { bytes: sizes.map(|metadata| metadata.len()).sum(), folder, used })
        };
        entries.filter_map(one).collect()
    }
}

fn sum(found: &[Found]) -> Usage {
    Usage { entries: found.len() as u64, bytes: found.iter().map(|entry| entry.bytes).sum() }
}

#[cfg(test)]
mod tests {
    use super::super::{KeyBuilder, touch};
    use super::*;
    use std::sync::Arc;

    fn entry(cache: &Arc<Cache>, name: &str, age: Duration) -> PathBuf {
        let key = KeyBuilder::new("test").with("name", name.as_bytes()).finish();
        let build = |folder: &Path| {
            fs::write(folder.join("data"), vec![1; 1000]).unwrap();
            Ok(())
        };
        let folder = cache.get_or_build(&key, &build).unwrap().folder().to_owned();
        let list = fs::File::options().write(true).open(folder.join(LIST)).unwrap();
        list.set_modified(SystemTime::now() - age).unwrap();
        folder
    }

    #[test]
    fn the_least_recently_used_go_first_and_what_is_in_use_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        let hours = |hours: u64| Duration::from_secs(3600 * hours);
        let [old, older, now] = [("old", hours(1)), ("older", hours(2)), ("now", hours(0))]
            .map(|(name, age)| entry(&cache, name, age));
        let all = cache.usage();
        assert_eq!(all.entries, 3);
        assert!(all.bytes >= 3000);
        assert_eq!(cache.prune(all.bytes).unwrap(), Usage::default());
        assert_eq!(cache.prune(all.bytes - 1).unwrap().entries, 1);
        assert!(old.exists() && !older.exists() && now.exists());
        // Used again, it is as young as the others.
        touch(&old);
        assert_eq!(cache.prune(0).unwrap().entries, 0);
        assert_eq!(cache.clear().unwrap().entries, 2);
        assert_eq!(cache.usage(), Usage::default());
        // What was removed is built anew.
        assert!(entry(&cache, "old", hours(0)).exists());
    }
}
