//! Files that commands write by name: none of them is read by the same command, and no two are one. Checked before
//! anything is computed.

use crate::error::{Error, Result};
use execution::output_file::{Destination, FileIdentity, folder_of};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use trials::repository::on_server;

/// Checks the files of options, each as `--svg` and its path, against the files that the command reads. Devices, pipes
/// and standard streams are anybody's.
///
/// # Errors
/// A folder in place of a file, a folder that does not exist, an output that is an input, and two that are one file,
/// by whatever paths and links.
pub fn check(outputs: &[(&str, &Path)], inputs: &[PathBuf]) -> Result<()> {
    let inputs: Vec<(&PathBuf, FileIdentity)> =
        inputs.iter().filter_map(|input| Some((input, FileIdentity::of(input)?))).collect();
    let mut seen: Vec<(&str, FileIdentity)> = Vec::new();
    // Trials on a server are no file.
    let files = outputs.iter().filter(|(option, path)| *option != "--trials" || on_server(path).is_none());
    for &(option, path) in files {
        let shown = path.display();
        if let Err(error) = Destination::of(path) {
            let folder = folder_of(path);
            return Err(match error.kind() {
                ErrorKind::IsADirectory => {
                    Error::wrong_input(format!("{option}: {shown} is a folder; a file was expected"))
                }
                ErrorKind::NotFound if !folder.exists() => {
                    Error::wrong_input(format!("{option}: the folder of {shown} does not exist"))
                        .hint(format!("make it with `mkdir -p {}`", folder.display()))
                }
                _ => Error::wrong_input(format!("{option}: cannot write {shown}: {error}")),
            });
        }
        let Some(identity) = FileIdentity::of(path) else { continue };
        if let Some((input, _)) = inputs.iter().find(|(_, input)| input.is_same(&identity)) {
            let same = if *input == path { String::new() } else { format!(", as {}", input.display()) };
            return Err(Error::wrong_input(format!(
                "{option}: {shown} is read by this command{same}, and would be lost"
            ))
            .hint("name another file"));
        }
        if let Some((other, _)) = seen.iter().find(|(_, other)| other.is_same(&identity)) {
            return Err(Error::wrong_input(if *other == option {
                format!("{option} names the file {shown} twice")
            } else {
                format!("{other} and {option} name the same file, {shown}")
            }));
        }
        seen.push((option, identity));
    }
    Ok(())
}

/// The options that were given, as [`check`] takes them.
pub fn given<'a, const N: usize>(
    options: [(&'static str, &'a Option<PathBuf>); N],
) -> Vec<(&'static str, &'a Path)> {
    options.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect()
}
