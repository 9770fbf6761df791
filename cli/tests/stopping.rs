//! Ctrl-C, closed pipes and full disks: no panic, no half-written file, no temporary file.

use crate::support::{Folder, command, finish, tilewright, without_nvrtc};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// A space of three points.
const SPACE: &str = r#"{"ConfigurationSpace": {"TuningParameters": [
    {"Name": "x", "Type": "int", "Values": "[1, 2, 3]"}]}}"#;

/// A script that writes its process number to a file and then hangs; as `$CC` it is run through the shell.
fn hanging(folder: &Folder, number: &str) -> String {
    let sign = folder.arg(number);
    folder.write(&format!("{number}.sh"), format!("echo $$ > {sign}.new; mv {sign}.new {sign}; sleep 600\n"))
}

/// Whether a process goes on; one that was killed may still have to be taken leave of.
fn exists(process: &str) -> bool {
    let lives = || Command::new("kill").args(["-0", process.trim()]).stderr(Stdio::null()).status();
    (0..100).all(|_| {
        let lives = lives().unwrap().success();
        std::thread::sleep(Duration::from_millis(if lives { 50 } else { 0 }));
        lives
    })
}

/// Every command, stopped while it waits for a compiler, a measured program or its input: the exit code is that of the
/// signal, in the JSON document, too, no child goes on, and no file is left.
#[test]
fn all_commands_stop() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c-frontend/tests/programs/double_buffer.c");
    let program = program.to_str().unwrap();
    let size = ["--size", "9x9", "--steps", "2"];
    let of_size =
        |command: &'static str, more: &[&'static str]| [&[command, program], &size[..], more].concat();
    let scripts = Folder::new();
    let space = scripts.write("space.json", SPACE);
    let pipe = scripts.arg("pipe.csv");
    let description = scripts.write(
        "function.toml",
        "name = \"f\"\ninputs.training = [\"x\"]\n[[variants]]\nname = \"v\"\ncommand = \"$CC\"\n",
    );
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let commands: Vec<Vec<&str>> = vec![
        vec!["list"],
        vec!["analyze", program],
        vec!["compile", program, "--target", "openmp", "-o", "out"],
        vec!["convert", program, "-o", "out.stencil"],
        of_size("run", &[]),
        of_size("predict", &["--tile", "st=1,s0=4,s1=16", "--machine", "titanx"]),
        of_size("tune", &["--machine", "titanx"]),
        of_size("validate", &["--machine", "titanx", "--backend", "openmp"]),
        of_size("search", &["--budget", "3", "--trials", "trials.db"]),
        vec!["calibrate", "--backend", "openmp", "--stencil", program, "-o", "here.toml"],
        vec!["search", "--space", &space, "--budget", "3", "--command", "COMMAND"],
        vec!["pareto", &pipe, "--x", "a", "--y", "b", "--svg", "front.svg"],
        vec!["explain", &pipe, "--metric", "time", "--svg", "tree.svg"],
        vec!["codesign", &pipe, "-o", "out"],
        vec!["adaptive", "train", &description, "--trials", "trials.db", "-o", "model.json"],
    ];
    let mut running = Vec::new();
    for arguments in &commands {
        for (name, code) in [("-INT", 130), ("-TERM", 143)] {
            let number = running.len().to_string();
            let script = format!("sh {}", hanging(&scripts, &number));
            let arguments: Vec<&str> = arguments
                .iter()
                .map(|&argument| if argument == "COMMAND" { &script } else { argument })
                .collect();
            let waits = !arguments.contains(&pipe.as_str());
            let folder = Folder::new();
            let mut command = command(&[&arguments[..], &["--json"]].concat());
            command.current_dir(folder.path("")).env("CC", &script).env("CXX", &script);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            running.push((arguments.join(" "), name, code, waits, folder, child));
        }
    }
    // Each as soon as it waits: a compiler that does not answer is given up after some seconds.
    let start = Instant::now();
    let mut left: Vec<usize> = (0..running.len()).collect();
    while !left.is_empty() {
        assert!(start.elapsed() < PATIENCE, "some command did not start its child");
        left.retain(|&number| {
            let (_, name, _, waits, _, child) = &running[number];
            let ready = if *waits {
                scripts.path(&number.to_string()).exists()
            } else {
                start.elapsed() > Duration::from_millis(500)
            };
            if ready {
                signal(child, name);
            }
            !ready
        });
        std::thread::sleep(Duration::from_millis(10));
    }
    let start = Instant::now();
    for (number, (what, name, code, waits, folder, child)) in running.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        assert!(start.elapsed() < PATIENCE);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{what} {name}: {stderr}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["error"]["exit_code"], code, "{what}");
        assert_eq!(document["error"]["kind"], "interrupted", "{what}");
        // The store of trials is there to be gone on with.
        let left: Vec<String> =
            folder.names().into_iter().filter(|name| name != "trials.db" && name != "out").collect();
        assert_eq!(left, [""; 0], "{what}");
        if waits {
            let process = std::fs::read_to_string(scripts.path(&number.to_string())).unwrap();
            assert!(!exists(&process), "{what}: its child goes on");
        }
    }
}

/// What a search has found before it is stopped is reported, and the exit code says that it is not all.
#[test]
fn a_stopped_search_reports_what_it_has() {
    let folder = Folder::new();
    let space = folder.write("space.json", SPACE);
    let (first, script) = (folder.arg("first"), hanging(&folder, "number"));
    let measure = format!("if [ -e {first} ]; then exec sh {script}; fi; touch {first}; echo 4.5");
    let search = ["search", "--space", &space, "--method", "random,greedy", "--command", &measure, "--json"];
    let mut child = command(&search);
    let child = child.args(["--budget", "3"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !folder.path("number").exists() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["best"]["value"], 4.5);
    assert_eq!(document["methods"][0]["interrupted"], true);
    assert!(!exists(&std::fs::read_to_string(folder.path("number")).unwrap()));
}

/// The table of `docs/cli.md`: success, a check that fails or a request that cannot be served, wrong input.
#[test]
fn exit_codes() {
    let folder = Folder::new();
    let table = folder.write("table.csv", "a,b,time\n1,2,3.0\n1,3,1.5\n2,2,2.5\n2,3,2.0\n");
    let scop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c-frontend/tests/programs/double_buffer.c");
    let (scop, out, file) = (scop.to_str().unwrap(), folder.arg("out"), folder.arg("file"));
    let model = ["heat2d", "--size", "512x512", "--steps", "8", "--machine"];
    let with = |command: &'static str, more: &[&'static str]| [&[command], &model[..], more].concat();
    let run = ["run", "heat2d", "--size", "9x9", "--steps", "1", "--backend"];
    let compile = ["compile", "heat2d", "--target", "openmp", "-o", &out];
    let rows: Vec<(i32, Vec<&str>)> = vec![
        (0, vec!["list"]),
        (2, vec!["list", "--nothing"]),
        (0, vec!["analyze", "heat2d"]),
        (1, vec!["analyze", "heat2d", "--tile", "st=0"]),
        (2, vec!["analyze", "nothing"]),
        (0, compile.to_vec()),
        (1, [&compile[..], &["--tile", "st=0"]].concat()),
        (2, [&compile[..], &["--strategy", "nothing"]].concat()),
        (0, vec!["convert", scop]),
        (2, vec!["convert", &table]),
        (0, [&run[..], &["reference"]].concat()),
        (1, [&run[..], &["openmp", "--tile", "st=0"]].concat()),
        (2, [&run[..], &["nothing"]].concat()),
        (2, vec!["calibrate", "--backend", "openmp", "--stencil", "nothing", "-o", &file]),
        (0, with("predict", &["titanx", "--tile", "st=4,s0=8,s1=32"])),
        (1, with("predict", &["titanx", "--tile", "st=400,s0=800,s1=3200"])),
        (2, with("predict", &["nothing", "--tile", "st=4,s0=8,s1=32"])),
        (0, with("tune", &["titanx"])),
        (2, with("tune", &["nothing"])),
        (1, with("validate", &["titanx", "--backend", "openmp"])),
        (2, with("validate", &["nothing", "--backend", "openmp"])),
        (2, vec!["codesign", "nothing", "-o", &out]),
        (0, vec!["pareto", &table, "--x", "a", "--y", "b"]),
        (2, vec!["pareto", &table, "--x", "a", "--y", "nothing"]),
        (0, vec!["search", "--replay", &table, "--response", "time", "--budget", "2", "--method", "random"]),
        (2, vec!["search", "--replay", &table, "--response", "time", "--budget", "2", "--method", "nothing"]),
        (0, vec!["explain", &table, "--metric", "time"]),
        (2, vec!["explain", &table, "--metric", "nothing"]),
    ];
    for (code, arguments) in rows {
        let output = without_nvrtc(&[&arguments[..], &["--json"]].concat());
        assert_eq!(output.code, code, "{arguments:?}: {}", output.stderr);
        let document = output.json();
        if let Some(error) = document.get("error") {
            assert_eq!(error["exit_code"], code, "{arguments:?}");
        } else {
            assert!(code < 2, "{arguments:?}");
        }
    }
}

/// Whoever compiles says what is wrong with `$CC`, and takes one with spaces or arguments.
#[test]
fn compilers_by_name() {
    let scop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c-frontend/tests/programs/double_buffer.c");
    let run = ["run", "heat2d", "--size", "9x9", "--steps", "1"];
    let with = |compiler: &str, arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("CC", compiler);
        finish(command)
    };
    let folder = Folder::new();
    let convert = ["convert", scop.to_str().unwrap()];
    for compiler in ["echo", "true", "/bin/cat", "/", "/no/such/cc -m64", "cc '"] {
        for arguments in [&run[..], &convert] {
            let output = with(compiler, arguments);
            assert_eq!(output.code, 1, "{compiler} {arguments:?}: {}", output.stderr);
            assert!(output.stderr.contains(&format!("`{compiler}`")), "{}", output.stderr);
        }
    }
    std::fs::create_dir(folder.path("a b")).unwrap();
    let real = tool("cc");
    std::os::unix::fs::symlink(real, folder.path("a b/cc")).unwrap();
    let path = folder.arg("a b/cc");
    for compiler in [path.clone(), format!("'{path}' -DX='a b'"), " cc  -DX=1 ".to_owned()] {
        for arguments in [&run[..], &convert] {
            with(&compiler, arguments).succeeded();
        }
    }
}

/// The path of a program.
fn tool(name: &str) -> String {
    let output = Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A cache that others can write is refused where it is named, and replaced with one warning where it is not.
#[test]
fn caches_of_others() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("home/tilewright")).unwrap();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path("home/tilewright"), open).unwrap();
    let run = ["run", "heat1d", "--size", "99", "--steps", "1", "--json"];
    let mut named = command(&run);
    named.env("TILEWRIGHT_CACHE", folder.path("home/tilewright"));
    let output = finish(named);
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert!(output.stderr.contains("not safe") && output.stderr.contains("chmod"), "{}", output.stderr);
    std::fs::create_dir(folder.path("tmp")).unwrap();
    let mut usual = command(&run);
    usual.env_remove("TILEWRIGHT_CACHE").env("XDG_CACHE_HOME", folder.path("home"));
    let output = finish({
        usual.env("TMPDIR", folder.path("tmp"));
        usual
    });
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(output.stderr.matches("warning").count(), 1, "{}", output.stderr);
    assert!(std::fs::read_dir(folder.path("home/tilewright")).unwrap().next().is_none());
    assert!(std::fs::read_dir(folder.path("tmp")).unwrap().next().is_none(), "the private one was removed");
}

/// Runs for days if it is not stopped.
fn interrupted(backend: &str, name: &str) {
    let folder = Folder::new();
    let output = format!("u={}", folder.arg("out.npy"));
    let run = ["run", "heat2d", "--size", "300x300", "--steps", "1000000000", "--backend", backend];
    let mut child = command(&[&run[..], &["--json", "--output", &output]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // In whatever stage it is by then.
    std::thread::sleep(Duration::from_millis(1200));
    assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
    let start = Instant::now();
    signal(&child, name);
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < PATIENCE);
    let code = if name == "-INT" { 130 } else { 143 };
    assert_eq!(output.status.code(), Some(code), "{backend} {name}");
    assert_eq!(folder.names(), [""; 0], "{backend} {name}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

#[test]
fn ctrl_c_ends_compiled_code() {
    interrupted("openmp", "-INT");
}

#[test]
fn termination_ends_the_interpreter() {
    interrupted("reference", "-TERM");
}

#[test]
fn an_old_result_stays_where_a_run_is_stopped() {
    let folder = Folder::new();
    folder.write("out.npy", "old");
    let output = format!("u={}", folder.arg("out.npy"));
    let run = ["run", "heat2d", "--size", "300x300", "--steps", "1000000000", "--backend", "reference"];
    let mut child =
        command(&[&run[..], &["--output", &output]].concat()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert_eq!(std::fs::read(folder.path("out.npy")).unwrap(), b"old");
    assert_eq!(folder.names(), ["out.npy"]);
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    for arguments in
        [&["list"][..], &["--help"], &["analyze", "box2d2r", "--json"], &["analyze", "nothing", "--json"]]
    {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        let expected = if arguments.contains(&"nothing") { 2 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut list = command(&["list"]);
    let output = list.stdout(full()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to stdout"));

    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["analyze", "heat2d", "--json"]] {
        let mut command = command(arguments);
        let status = command.stdout(full()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}");
    }

    let mut errors = command(&["analyze", "nothing"]);
    errors.stderr(full());
    assert_eq!(finish(errors).code, 2);

    let run = [
        "run",
        "heat2d",
        "--size",
        "9x9",
        "--steps",
        "1",
        "--backend",
        "reference",
        "--output",
        "u=/dev/full",
    ];
    let output = tilewright(&run);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("/dev/full"), "{}", output.stderr);
}

#[test]
fn a_file_beyond_the_limit_is_an_error() {
    let folder = Folder::new();
    let mut shell = Command::new("sh");
    let run = "run heat2d --size 200x200 --steps 1 --backend reference --output u=after.npy";
    shell.arg("-c").arg(format!("ulimit -f 8; exec '{}' {run}", env!("CARGO_BIN_EXE_tilewright")));
    shell.current_dir(folder.path(""));
    let output = finish(shell);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(output.stderr.contains("cannot write after.npy"), "{}", output.stderr);
    assert!(std::fs::read_dir(folder.path("")).unwrap().next().is_none(), "nothing half-written is left");
}

#[test]
fn colours_and_progress_are_for_terminals() {
    let output = tilewright(&["analyze", "nothing"]);
    assert!(!output.stderr.contains('\x1b'), "{}", output.stderr);
    let mut forced = command(&["analyze", "nothing"]);
    forced.env("NO_COLOR", "1");
    assert!(!finish(forced).stderr.contains('\x1b'));
}
