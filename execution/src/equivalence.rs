//! Whether a rewritten C program does what its original does: both are built, each runs in an empty folder of its own,
//! and what they print, how they end and the files that they write are compared byte for byte.

use crate::error::{ExecutionError, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use toolchain::child::{self, End};
use toolchain::compiler::{Compiler, Language};

/// A program, its rewritten form, and what both are given.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The original, untouched.
    pub original: &'a Path,
    /// Its other sources.
    pub sources: &'a [PathBuf],
    /// Whether the original is built with OpenMP.
    pub own_openmp: bool,
    /// `NAME` or `NAME=VALUE`.
    pub defines: &'a [String],
    /// Folders of headers.
    pub include_dirs: &'a [PathBuf],
    /// Libraries beside the mathematical one, as after `-l`.
    pub libraries: &'a [String],
    /// The folder of the rewritten program, with its Makefile.
    pub rewritten: &'a Path,
    /// Arguments of both.
    pub arguments: &'a [OsString],
    /// What both read from stdin; nothing if not given.
    pub stdin: Option<&'a Path>,
    /// Files that lie in both folders when they start.
    pub files: &'a [PathBuf],
    /// Lines of stdout that hold one of these texts are not compared: times, for example.
    pub ignore: &'a [String],
    /// How both are built.
    pub build: Build,
    /// The longest that each may run.
    pub timeout: Duration,
    /// Threads of the tiled code, and of an original with OpenMP; as the system has it if not given.
    pub threads: Option<u64>,
}

/// How both programs are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// As the Makefile of the rewritten program says.
    Usual,
    /// With little optimization, which is faster to build.
    Quick,
    /// With checks of all accesses and of what C leaves undefined: gcc's and clang's sanitizers.
    Sanitized,
    /// The same without optimization, which is faster to build and slower to run.
    SanitizedQuick,
}

impl Build {
    /// Options for the user's own sources.
    fn own(self) -> &'static str {
        match self {
            Build::Usual => "-O2",
            Build::Quick => "-O1",
            Build::Sanitized => SANITIZED,
            Build::SanitizedQuick => SANITIZED_QUICK,
        }
    }

    /// Options for the tiled code, `None` for those of the Makefile.
    fn tiled(self) -> Option<String> {
        match self {
            Build::Usual => None,
            _ => Some(format!("{} -fopenmp -ffp-contract=off -fno-math-errno", self.own())),
        }
    }

    fn link(self) -> &'static str {
        if self.is_sanitized() { "-fsanitize=address,undefined" } else { "" }
    }

    fn is_sanitized(self) -> bool {
        matches!(self, Build::Sanitized | Build::SanitizedQuick)
    }
}

const SANITIZED: &str =
    "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer";
const SANITIZED_QUICK: &str = "-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all";

/// Most bytes that a program may print.
const MOST_BYTES: u64 = 1 << 30;
/// Most letters of a line that a difference shows.
const MOST_LETTERS: usize = 160;

/// What the comparison found.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Whether nothing differs.
    pub equal: bool,
    /// Whether both print the same.
    pub stdout_equal: bool,
    /// The codes with which they end; null after a signal or beyond the limit of time.
    pub exit_code: Pair<Option<i32>>,
    /// How they end, in words.
    pub end: Pair<String>,
    /// The files that either leaves in its folder, by name, and whether they are equal.
    pub files: BTreeMap<String, bool>,
    /// Where they differ first.
    pub first_difference: Option<Difference>,
    /// What the tiled code says of itself; empty if it says nothing.
    pub regions: Vec<Region>,
    /// Runs of the loops as they were written, where that is known.
    pub fallbacks: Option<u64>,
    /// What the rewritten program prints on stderr beside that, which is not compared.
    pub stderr: Pair<String>,
    /// Seconds that each ran.
    pub seconds: Pair<f64>,
}

/// Something of both programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair<T> {
    /// Of the untouched program.
    pub original: T,
    /// Of the rewritten one.
    pub rewritten: T,
}

/// The first place where the programs differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// `stdout`, `exit code`, or the name of a file.
    pub place: String,
    /// The line, from 1; null for what has no lines.
    pub line: Option<usize>,
    /// The byte in that line, from 1.
    pub column: Option<usize>,
    /// What the original has there.
    pub original: String,
    /// What the rewritten program has there.
    pub rewritten: String,
}

/// How often a region ran in tiles and how often as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Region {
    /// Its name.
    pub name: String,
    /// Runs in tiles.
    pub tiled: u64,
    /// Runs of the loop as it was written.
    pub original: u64,
    /// Why.
    pub reason: Option<String>,
}

/// Builds and runs both programs and compares what they do.
///
/// # Errors
/// An original that cannot be built, or that does not end in time: [`ExecutionError::Original`]. A rewritten program
/// that cannot be built: [`toolchain::Error::CompilerFailed`]. Files that cannot be read or written.
pub fn compare(request: &Request<'_>) -> Result<Comparison> {
    let scratch =
        tempfile::tempdir().map_err(|source| failed("write", Path::new("a temporary folder"), source))?;
    let _temporary = toolchain::interrupt::register(scratch.path());
    let folder = scratch.path().canonicalize().map_err(|source| failed("read", scratch.path(), source))?;
    let compiler = Compiler::find(Language::C)?;
    let original = build_original(request, &compiler, &folder)?;
    let rewritten = build_rewritten(request, &compiler, &folder)?;
    let first = run(request, &folder, "original", &original, true)?;
    let second = run(request, &folder, "rewritten", &rewritten, false)?;
    if first.end == "beyond the limit of time" || first.end == "beyond the limit of output" {
        return Err(ExecutionError::Original(format!("the original ran {}", first.end)));
    }

    let mut differences = Vec::new();
    let stdout = difference("stdout", &first.stdout, &second.stdout, request.ignore)?;
    let stdout_equal = stdout.is_none();
    differences.extend(stdout);
    if first.end != second.end {
        differences.push(Difference {
            place: "exit code".to_owned(),
            line: None,
            column: None,
            original: first.end.clone(),
            rewritten: second.end.clone(),
        });
    }
    let mut files = BTreeMap::new();
    let names: std::collections::BTreeSet<&String> = first.files.keys().chain(second.files.keys()).collect();
    for name in names {
        let found = match (first.files.get(name), second.files.get(name)) {
            (Some(a), Some(b)) => difference(name, a, b, &[])?,
            (there, _) => {
                let word = |there: bool| if there { "is written" } else { "is not written" }.to_owned();
                let (original, rewritten) = (word(there.is_some()), word(there.is_none()));
                Some(Difference { place: name.clone(), line: None, column: None, original, rewritten })
            }
        };
        files.insert(name.clone(), found.is_none());
        differences.extend(found);
    }
    let (regions, stderr) = regions(&second.stderr);
    let counted = !regions.is_empty();
    Ok(Comparison {
        equal: differences.is_empty(),
        stdout_equal,
        exit_code: Pair { original: first.code, rewritten: second.code },
        end: Pair { original: first.end, rewritten: second.end },
        files,
        first_difference: differences.into_iter().next(),
        fallbacks: counted.then(|| regions.iter().map(|region| region.original).sum()),
        regions,
        stderr: Pair { original: first.stderr, rewritten: stderr },
        seconds: Pair { original: first.seconds, rewritten: second.seconds },
    })
}

/// Whether the C compiler can build programs with sanitizers, and they run.
pub fn has_sanitizers() -> bool {
    let works = || -> Result<bool> {
        let scratch =
            tempfile::tempdir().map_err(|source| failed("write", Path::new("a temporary folder"), source))?;
        let (source, program) = (scratch.path().join("a.c"), scratch.path().join("a"));
        let text = "int main(int n, char **v) { int a[2] = { n, 0 }; (void)v; return a[1]; }\n";
        std::fs::write(&source, text).map_err(|error| failed("write", &source, error))?;
        let mut command = Compiler::find(Language::C)?.command();
        command.args(SANITIZED_QUICK.split(' ')).arg("-fopenmp").arg(&source).arg("-o").arg(&program);
        let built = command.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success());
        Ok(built && Command::new(&program).output().is_ok_and(|output| output.status.success()))
    };
    works().unwrap_or(false)
}

fn failed(action: &'static str, path: &Path, source: std::io::Error) -> ExecutionError {
    ExecutionError::File { action, path: path.to_owned(), source }
}

fn build_original(request: &Request<'_>, compiler: &Compiler, folder: &Path) -> Result<PathBuf> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|source| failed("read", path, source));
    // By its plain name, as in the rewritten program's folder: `__FILE__` is the same.
    let own =
        request.original.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let run = |command: &mut Command| -> Result<()> {
        let output = command.current_dir(own).stdin(Stdio::null()).output();
        let output = output.map_err(|source| failed("run", Path::new("cc"), source))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = text.lines().take(20).collect();
        Err(ExecutionError::Original(format!("the original cannot be built:\n{}", lines.join("\n"))))
    };
    let name = request.original.file_name().unwrap_or(request.original.as_os_str());
    let dashed = name.to_string_lossy().starts_with('-');
    let mut sources = vec![if dashed { Path::new(".").join(name) } else { PathBuf::from(name) }];
    for source in request.sources {
        sources.push(absolute(source)?);
    }
    let mut objects = Vec::new();
    for source in sources {
        let object = folder.join(format!("built-original-{}.o", objects.len()));
        let mut command = compiler.command();
        command.args(request.build.own().split(' ')).args(["-w", "-ffp-contract=off"]);
        if request.own_openmp {
            command.arg("-fopenmp");
        }
        command.args(request.defines.iter().map(|define| format!("-D{define}")));
        for folder in request.include_dirs {
            command.arg("-I").arg(absolute(folder)?);
        }
        run(command.arg("-c").arg(source).arg("-o").arg(&object))?;
        objects.push(object);
    }
    let program = folder.join("built-original");
    // Calls such as `omp_get_wtime()` need OpenMP's library where pragmas mean nothing, too.
    let mut command = compiler.command();
    command.args(request.build.own().split(' ')).arg("-fopenmp").args(objects).arg("-o").arg(&program);
    run(command.args(request.libraries.iter().map(|name| format!("-l{name}"))).arg("-lm"))?;
    Ok(program)
}

fn build_rewritten(request: &Request<'_>, compiler: &Compiler, folder: &Path) -> Result<PathBuf> {
    let program = folder.join("built-rewritten");
    let mut make = Command::new("make");
    make.env("LC_ALL", "C")
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .arg("-s")
        .arg("-C")
        .arg(request.rewritten);
    make.arg(format!("CC={}", compiler.shell_words()));
    make.arg(format!("CFLAGS={} -w", request.build.own()));
    make.arg(format!("LDFLAGS={}", request.build.link()));
    let libraries: Vec<String> = request.libraries.iter().map(|name| format!("-l{name}")).collect();
    make.arg(format!("LDLIBS={}", libraries.join(" ")));
    if let Some(options) = request.build.tiled() {
        make.arg(format!("TW_CFLAGS={options}"));
    }
    let output =
        make.stdin(Stdio::null()).output().map_err(|source| failed("run", Path::new("make"), source))?;
    let stem = request.original.file_stem().unwrap_or_default();
    let built = request.rewritten.join(stem);
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(ExecutionError::Toolchain(toolchain::Error::CompilerFailed {
            command: format!("make -C {}", request.rewritten.display()),
            status: output.status.to_string(),
            message: text.lines().take(20).collect::<Vec<_>>().join("\n"),
        }));
    }
    std::fs::copy(&built, &program).map_err(|source| failed("read", &built, source))?;
    Ok(program)
}

/// What a program did.
struct Done {
    stdout: PathBuf,
    stderr: String,
    end: String,
    code: Option<i32>,
    files: BTreeMap<String, PathBuf>,
    seconds: f64,
}

/// Runs one of the programs. Both see the same path of their folder and the same name of their own.
fn run(request: &Request<'_>, folder: &Path, name: &str, program: &Path, original: bool) -> Result<Done> {
    let (inside, own) = (folder.join("run"), folder.join("program"));
    std::fs::create_dir(&inside).map_err(|source| failed("write", &inside, source))?;
    std::fs::create_dir(&own).map_err(|source| failed("write", &own, source))?;
    let own_program = own.join(request.original.file_stem().unwrap_or_default());
    std::fs::rename(program, &own_program).map_err(|source| failed("write", &own_program, source))?;
    for file in request.files {
        let to = inside.join(file.file_name().unwrap_or_default());
        std::fs::copy(file, &to).map_err(|source| failed("read", file, source))?;
    }
    let (stdout, stderr) = (folder.join(format!("{name}.out")), folder.join(format!("{name}.err")));
    let mut command = Command::new(&own_program);
    command.args(request.arguments).current_dir(&inside);
    command.stdin(match request.stdin {
        Some(path) => Stdio::from(std::fs::File::open(path).map_err(|source| failed("read", path, source))?),
        None => Stdio::null(),
    });
    if request.build.is_sanitized() {
        // Memory that the user's program does not free is no difference.
        command.env("ASAN_OPTIONS", "detect_leaks=0").env("UBSAN_OPTIONS", "print_stacktrace=1");
    }
    if !original {
        // What is compared are the tiles, also where they are slower.
        command.env("TILEWRIGHT_REPORT", "1").env("TILEWRIGHT_TILED", "always");
    }
    if let Some(threads) = request.threads {
        command.env("OMP_NUM_THREADS", threads.to_string());
    }
    let create = |path: &Path| std::fs::File::create(path).map_err(|source| failed("write", path, source));
    let outputs = (&create(&stdout)?, &create(&stderr)?);
    let start = std::time::Instant::now();
    let ended = child::run_into_files(&mut command, outputs, request.timeout, MOST_BYTES)
        .map_err(|source| failed("run", &own_program, source))?;
    let seconds = start.elapsed().as_secs_f64();
    let (end, code) = match ended {
        End::Exited(status) => (status.to_string(), status.code()),
        End::TimedOut => ("beyond the limit of time".to_owned(), None),
        End::TooMuchOutput => ("beyond the limit of output".to_owned(), None),
        End::Stopped => return Err(ExecutionError::Interrupted),
    };
    let kept = folder.join(name);
    std::fs::rename(&inside, &kept).map_err(|source| failed("write", &kept, source))?;
    std::fs::remove_dir_all(&own).map_err(|source| failed("write", &own, source))?;
    let mut files = BTreeMap::new();
    list(&kept, "", &mut files)?;
    let text = std::fs::read(&stderr).map_err(|source| failed("read", &stderr, source))?;
    let shown = text.len().min(1 << 16);
    let stderr = String::from_utf8_lossy(&text[text.len() - shown..]).into_owned();
    Ok(Done { stdout, stderr, end, code, files, seconds })
}

/// All files of a folder by their names from there.
fn list(folder: &Path, before: &str, files: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(|source| failed("read", folder, source))? {
        let entry = entry.map_err(|source| failed("read", folder, source))?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files.insert(format!("{name}/"), path.clone());
            list(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, path);
        }
    }
    Ok(())
}

/// The first line that differs; lines with a text that is ignored are left out.
fn difference(place: &str, a: &Path, b: &Path, ignore: &[String]) -> Result<Option<Difference>> {
    if a.is_dir() && b.is_dir() {
        return Ok(None);
    }
    let open = |path: &Path| {
        let file = std::fs::File::open(path).map_err(|source| failed("read", path, source))?;
        Ok::<_, ExecutionError>(BufReader::new(file))
    };
    let (mut left, mut right) = (open(a)?, open(b)?);
    let mut number = 0;
    loop {
        number += 1;
        let (x, y) = (next_line(&mut left, a, ignore)?, next_line(&mut right, b, ignore)?);
        if x != y {
            let text = |line: &Option<Vec<u8>>, column: usize| match line {
                Some(line) => {
                    let from = column.saturating_sub(MOST_LETTERS / 2);
                    let to = line.len().min(from + MOST_LETTERS);
                    String::from_utf8_lossy(&line[from..to]).trim_end_matches('\n').to_owned()
                }
                None => "(the end)".to_owned(),
            };
            let column = match (&x, &y) {
                (Some(x), Some(y)) => x.iter().zip(y).take_while(|(a, b)| a == b).count(),
                _ => 0,
            };
            let (original, rewritten) = (text(&x, column), text(&y, column));
            let place = place.to_owned();
            return Ok(Some(Difference {
                place,
                line: Some(number),
                column: Some(column + 1),
                original,
                rewritten,
            }));
        }
        if x.is_none() {
            return Ok(None);
        }
    }
}

fn next_line(from: &mut impl BufRead, path: &Path, ignore: &[String]) -> Result<Option<Vec<u8>>> {
    loop {
        let mut line = Vec::new();
        let count = from.read_until(b'\n', &mut line).map_err(|source| failed("read", path, source))?;
        if count == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        if !ignore.iter().any(|part| text.contains(part.as_str())) {
            return Ok(Some(line));
        }
    }
}

/// What a rewritten program says of its regions on stderr, and the rest of it:
/// `tilewright: NAME: tiled N, original M`, and a reason behind a colon; `tilewright: NAME: copying took ..` is a time,
/// which is left out.
fn regions(stderr: &str) -> (Vec<Region>, String) {
    let mut regions = Vec::new();
    let mut rest = String::new();
    for line in stderr.split_inclusive('\n') {
        match region(line.trim_end()) {
            Some(region) => regions.push(region),
            None if line.starts_with("tilewright: ") && line.contains(": copying took ") => {}
            None => rest.push_str(line),
        }
    }
    (regions, rest)
}

fn region(line: &str) -> Option<Region> {
    let (name, rest) = line.strip_prefix("tilewright: ")?.split_once(": tiled ")?;
    let (tiled, rest) = rest.split_once(", original ")?;
    let (original, reason) = match rest.split_once(": ") {
        Some((original, reason)) => (original, Some(reason.to_owned())),
        None => (rest, None),
    };
    Some(Region {
        name: name.to_owned(),
        tiled: tiled.parse().ok()?,
        original: original.parse().ok()?,
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_regions() {
        let text = "hello\ntilewright: heat_scop: tiled 12, original 0\n\
                    tilewright: heat_scop: copying took 1.5 % of 0.120 s\n\
                    tilewright: a_scop: tiled 0, original 3: arrays overlap\n";
        let (found, rest) = regions(text);
        assert_eq!(rest, "hello\n");
        assert_eq!((found[0].name.as_str(), found[0].tiled, found[0].original), ("heat_scop", 12, 0));
        assert_eq!((found[1].original, found[1].reason.as_deref()), (3, Some("arrays overlap")));
    }

    #[test]
    fn the_first_difference_has_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (a, b) = (write("a", "1\ntime 5\nx = 2\n"), write("b", "1\ntime 6\nx = 3\n"));
        let found = difference("stdout", &a, &b, &["time".to_owned()]).unwrap().unwrap();
        assert_eq!((found.line, found.column), (Some(2), Some(5)));
        assert_eq!((found.original.as_str(), found.rewritten.as_str()), ("x = 2", "x = 3"));
        let shorter = write("c", "1\ntime 5\n");
        let found = difference("stdout", &a, &shorter, &[]).unwrap().unwrap();
        assert_eq!((found.line, found.rewritten.as_str()), (Some(3), "(the end)"));
        assert_eq!(difference("stdout", &a, &a, &[]).unwrap(), None);
    }
}
