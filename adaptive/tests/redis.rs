//! Trials on a server: a real one, which is stopped and started while variants are measured.

use crate::support::three;
use adaptive::train::{Grid, Kind, TrainOptions};
use adaptive::tune::{COST, Evaluated, Measured, Objective, Recorded, TuneOptions, Workload, tune};
use adaptive::{Result, model_file};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use trials::{Outcome, Setting};

/// A server in a folder of its own.
struct Server {
    folder: TempDir,
    port: u16,
    /// Whether it writes down what it is told.
    durable: bool,
    password: &'static str,
    child: Option<Child>,
}

impl Server {
    /// A server that runs; `None` where there is none to be had.
    fn start(durable: bool, password: &'static str) -> Option<Server> {
        if Command::new("redis-server").arg("--version").stdout(Stdio::null()).status().is_err() {
            assert!(std::env::var_os("CI").is_none(), "no redis-server: CI installs one (scripts/setup.sh)");
            eprintln!(
                "SKIPPED: no redis-server was found, so no trials are kept on one (Debian: redis-server)"
            );
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server { folder, port, durable, password, child: None };
        server.go_on();
        Some(server)
    }

    fn go_on(&mut self) {
        let (port, folder) = (self.port.to_string(), self.folder.path().to_str().unwrap());
        let durable = if self.durable { "yes" } else { "no" };
        let mut command = Command::new("redis-server");
        command.args(["--port", &port, "--bind", "127.0.0.1", "--dir", folder]);
        command.args(["--save", "", "--appendonly", durable, "--requirepass", self.password]);
        self.child = Some(command.stdout(Stdio::null()).spawn().unwrap());
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(30), "the server does not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops it, as a restart of its computer does.
    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
            child.wait().unwrap();
        }
    }

    fn address(&self) -> String {
        let login = if self.password.is_empty() { String::new() } else { format!(":{}@", self.password) };
        format!("redis://{login}127.0.0.1:{}/2", self.port)
    }

    /// What it answers to a line.
    fn told(&self, line: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(format!("SELECT 2\r\n{line}\r\nQUIT\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What was recorded, as if it were measured; `then` is done before the trial of this number.
struct Watched<'a> {
    recorded: Recorded,
    measured: usize,
    at: usize,
    then: Box<dyn FnMut() + Send + 'a>,
}

fn watched<'a>(at: usize, then: impl FnMut() + Send + 'a) -> Watched<'a> {
    let recorded = Recorded::new(three(24, 5)).unwrap();
    Watched { recorded, measured: 0, at, then: Box::new(then) }
}

impl Workload for Watched<'_> {
    fn name(&self) -> &str {
        self.recorded.name()
    }
    fn variants(&self) -> &[String] {
        self.recorded.variants()
    }
    fn default_variant(&self) -> usize {
        self.recorded.default_variant()
    }
    fn features(&self) -> &[String] {
        self.recorded.features()
    }
    fn inputs(&self) -> &[String] {
        self.recorded.inputs()
    }
    fn family(&self, input: usize) -> &str {
        self.recorded.family(input)
    }
    fn evaluate(&mut self, input: usize) -> Result<Vec<Evaluated>> {
        self.recorded.evaluate(input)
    }
    fn is_allowed(&mut self, input: usize, variant: usize, features: &[f64]) -> Result<bool> {
        self.recorded.is_allowed(input, variant, features)
    }
    fn measure(&mut self, input: usize, variant: usize) -> Result<Outcome> {
        self.measured += 1;
        if self.measured == self.at {
            (self.then)();
        }
        self.recorded.measure(input, variant)
    }
    fn setting(&self) -> Setting {
        let machine = "a processor: 7".to_owned();
        Setting { program: "example".to_owned(), machine, source: "1".to_owned(), ..Setting::default() }
    }
}

/// The model of a workload, its trials kept at a place, and how many were measured.
fn trained(workload: &mut Watched<'_>, place: &Path) -> Result<(usize, String)> {
    let train = TrainOptions { kind: Kind::Tree, grid: Grid::COARSE, ..TrainOptions::default() };
    let mut measured = Measured::new(workload, Objective::least(COST), Some(place))?;
    let inputs: Vec<usize> = (0..24).collect();
    let tuned = tune(&mut measured, &inputs, &TuneOptions { train, ..TuneOptions::default() })?;
    Ok((measured.fresh(), model_file::to_text(&tuned.trained.model).unwrap()))
}

const ALL: usize = 24 * 4;

#[test]
fn a_server_that_is_started_anew_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_, expected) = trained(&mut watched(0, || {}), &folder.path().join("trials.jsonl")).unwrap();
    for durable in [true, false] {
        let Some(server) = Server::start(durable, "") else { return };
        let address = server.address();
        let place = Path::new(&address);
        let server = Arc::new(Mutex::new(server));
        let mut starting = None;
        let mut workload = watched(40, || {
            server.lock().unwrap().stop();
            let server = Arc::clone(&server);
            starting = Some(std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(100));
                server.lock().unwrap().go_on();
            }));
        });
        assert_eq!(trained(&mut workload, place).unwrap(), (ALL, expected.clone()));
        drop(workload);
        starting.unwrap().join().unwrap();
        // Everything is there, also where the server had written nothing down.
        assert_eq!(trained(&mut watched(0, || {}), place).unwrap(), (0, expected.clone()));
        let server = server.lock().unwrap();
        assert!(server.told("KEYS *").contains("tilewright:trials:1:example:a processor%3a 7"));
    }
}

/// What two measure at once is kept once, a damaged trial is measured again, and other programs and machines are not seen.
#[test]
fn a_team_shares_a_server() {
    let Some(server) = Server::start(false, "") else { return };
    let address = server.address();
    let place = Path::new(&address);
    let mut other = (0, String::new());
    let (fresh, text) =
        trained(&mut watched(30, || other = trained(&mut watched(0, || {}), place).unwrap()), place).unwrap();
    assert_eq!((fresh, other), (ALL, (ALL - 39, text.clone())));
    // A setting, and a field for each trial.
    let key = "\"tilewright:trials:1:example:a processor%3a 7\"";
    assert!(server.told(&format!("HLEN {key}")).contains(&format!(":{}\r\n", ALL + 1)));
    let fields = server.told(&format!("HKEYS {key}"));
    let field = fields.lines().find(|line| line.starts_with("trial ")).unwrap();
    server.told(&format!("HSET {key} \"{field}\" nonsense"));
    assert_eq!(trained(&mut watched(0, || {}), place).unwrap(), (1, text.clone()));
    assert_eq!(trained(&mut watched(0, || {}), place).unwrap(), (0, text));
    // The key of somebody else.
    server.told(&format!("SET {key} x"));
    let error = trained(&mut watched(0, || {}), place).unwrap_err();
    assert!(error.to_string().contains("WRONGTYPE") && error.hint().contains("another database"), "{error}");
}

#[test]
fn servers_that_refuse_are_told() {
    let refused = |address: &str| trained(&mut watched(0, || {}), Path::new(address)).unwrap_err();
    let nobody = refused("redis://127.0.0.1:1");
    assert!(nobody.to_string().contains("redis://127.0.0.1:1/0: nobody answers"), "{nobody}");
    // What answers is something else.
    let web = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = web.local_addr().unwrap().port();
    let answers = std::thread::spawn(move || {
        let (mut stream, _) = web.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let _ = stream.read(&mut [0; 1000]);
    });
    let foreign = refused(&format!("redis://127.0.0.1:{port}"));
    assert!(foreign.to_string().contains("no Redis server"), "{foreign}");
    answers.join().unwrap();
    let Some(server) = Server::start(false, "secret") else { return };
    assert_eq!(trained(&mut watched(0, || {}), Path::new(&server.address())).unwrap().0, ALL);
    for login in ["", ":wrong@"] {
        let error = refused(&format!("redis://{login}127.0.0.1:{}/2", server.port));
        assert!(error.hint().contains("REDISCLI_AUTH"), "{error}");
        assert!(!error.to_string().contains("wrong@"), "{error}");
    }
}
