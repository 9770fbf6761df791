//! Tests of the whole workspace live in `tests/tests`; this library holds what several of them share.

use std::path::{Path, PathBuf};

/// The folder of the workspace.
///
/// # Panics
/// Never: the package lies in the workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// All files below a folder of the workspace whose name ends with one of `endings`, sorted. Build outputs
/// and what git ignores at the top (`target`, `out`) are left out.
pub fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![workspace().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                let skipped = [".git", "target", "out"].contains(&name.as_str());
                if !skipped {
                    folders.push(path);
                }
            } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The path relative to the workspace, for messages.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(workspace()).unwrap_or(path).display().to_string()
}
