//! Watching the ranks of a run: which of them died, and which does not answer.
//!
//! MPI says nothing of a rank that has gone: the others wait. So every rank but the first keeps a connection to the first one
//! beside MPI, and both send a byte now and then, from a thread of their own, whatever the program computes. A connection that is
//! closed without a farewell is a process that died; one on which nothing comes for the time that is allowed is one that was stopped,
//! or a computer that is out of reach. The first rank watches all others, which watch the first one.
//!
//! Without such connections (a firewall, no port) there is no watch, and a run is as it would be without one.

use crate::error::Result;
use execution::ranks::{Among, World};
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use toolchain::interrupt;

/// A process says that it is there.
const BEAT: u8 = b'.';
/// A process ends in order.
const FAREWELL: u8 = b'q';
/// A process ends because a rank has gone, and has said so.
const ENDED: u8 = b'e';
/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(10);
/// How much later ranks other than the second one say that the first one has gone.
const LATER: Duration = Duration::from_millis(700);

/// A rank that has gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// Its number.
    pub rank: usize,
    /// Its process.
    pub process: u32,
    /// Its computer.
    pub computer: String,
    /// For how long it has not answered; `None` where it died.
    pub silent: Option<Duration>,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} (process {} on {}) ", self.rank, self.process, self.computer)?;
        match self.silent {
            None => f.write_str("died"),
            Some(time) => write!(f, "has not answered for {} s", time.as_secs_f64()),
        }
    }
}

/// Who hears of it; of none where another rank has said which.
type Told = dyn Fn(Option<&Gone>) + Send + Sync;

/// What the threads of a process have in common.
struct Shared {
    limit: Duration,
    began: Instant,
    /// Milliseconds after `began` at which this process last sent.
    sent: AtomicU64,
    ending: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    told: Box<Told>,
}

/// A watch over all ranks, until it is dropped.
pub struct Watch {
    shared: Arc<Shared>,
}

/// Two numbers that nobody guesses.
fn token() -> [u8; 16] {
    let mut token = [0; 16];
    for half in token.chunks_exact_mut(8) {
        half.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
    }
    token
}

impl Watch {
    /// Begins to watch; all ranks call it. `told` hears of ranks that have gone, on another thread; of none where another rank has said which, and
    /// ends. Not every launcher ends the others then.
    ///
    /// # Errors
    /// What MPI says.
    pub fn start(
        world: &World,
        limit: Duration,
        told: impl Fn(Option<&Gone>) + Send + Sync + 'static,
    ) -> Result<Watch> {
        let shared = Arc::new(Shared {
            limit,
            began: Instant::now(),
            sent: AtomicU64::new(0),
            ending: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
            told: Box::new(told),
        });
        let watch = Watch { shared: Arc::clone(&shared) };
        let (address, count) = (if world.here < world.count { "0.0.0.0" } else { "127.0.0.1" }, world.count);
        let listener = match world.rank {
            0 if count > 1 => TcpListener::bind((address, 0)).ok(),
            _ => None,
        };
        let name = if world.here < count { world.computer()? } else { "127.0.0.1".to_owned() };
        let mut secret = token();
        let port = listener.as_ref().and_then(|own| own.local_addr().ok()).map_or(0, |own| own.port());
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let line = world.broadcast(&format!("{name} {port} {hex} {}", std::process::id()), Among::All)?;
        let [computer, port, hex, process] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Ok(watch);
        };
        for (at, byte) in secret.iter_mut().enumerate() {
            *byte = hex.get(2 * at..2 * at + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(0);
        }
        let port: u16 = port.parse().unwrap_or(0);
        if port == 0 {
            return Ok(watch);
        }
        if let Some(listener) = listener {
            spawn("watch", move || accept(&listener, count, secret, &shared));
        } else {
            let first = Gone {
                rank: 0,
                process: process.parse().unwrap_or(0),
                computer: computer.to_owned(),
                silent: None,
            };
            let own = world.computer()?;
            let rank = world.rank;
            let found = (computer, port).to_socket_addrs().ok().and_then(|mut all| all.next());
            let stream = found.and_then(|place| TcpStream::connect_timeout(&place, CONNECTING).ok());
            if let Some(mut stream) = stream
                && stream.write_all(&hello(&secret, rank, &own)).is_ok()
                && let Ok(reading) = stream.try_clone()
            {
                lock(&shared.streams).push(stream);
                let later = if rank == 1 { Duration::ZERO } else { LATER };
                let reader = Arc::clone(&shared);
                spawn("watch", move || listen(reading, first, later, &reader));
                spawn("beat", move || beat(&shared));
            }
        }
        Ok(watch)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.end(FAREWELL);
    }
}

impl Shared {
    /// Takes leave of the others.
    fn end(&self, word: u8) {
        self.ending.store(true, Ordering::SeqCst);
        for stream in lock(&self.streams).iter_mut() {
            let _ = stream.write_all(&[word]);
        }
    }

    fn over(&self) -> bool {
        self.ending.load(Ordering::SeqCst) || interrupt::requested()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Time between two beats.
    fn pause(&self) -> Duration {
        (self.limit / 10).clamp(Duration::from_millis(10), Duration::from_secs(1))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    // Without the thread there is no watch, and that is all.
    let _ = std::thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(work);
}

/// What a rank says first: the token, its number, its process, and its computer.
fn hello(secret: &[u8; 16], rank: usize, computer: &str) -> Vec<u8> {
    let name = &computer.as_bytes()[..computer.len().min(255)];
    let mut text = secret.to_vec();
    text.extend((rank as u32).to_le_bytes());
    text.extend(std::process::id().to_le_bytes());
    text.push(name.len() as u8);
    text.extend(name);
    text
}

/// Reads that; `None` for a stranger.
fn greeted(stream: &mut TcpStream, secret: &[u8; 16], count: usize) -> Option<Gone> {
    let mut head = [0; 25];
    stream.read_exact(&mut head).ok()?;
    let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (rank, process) = (number(16) as usize, number(20));
    let mut name = vec![0; usize::from(head[24])];
    stream.read_exact(&mut name).ok()?;
    let known = head[..16] == secret[..] && (1..count).contains(&rank);
    known.then(|| Gone { rank, process, computer: String::from_utf8_lossy(&name).into_owned(), silent: None })
}

/// The first rank waits for the others to connect.
fn accept(listener: &TcpListener, count: usize, secret: [u8; 16], shared: &Arc<Shared>) {
    let beating = Arc::clone(shared);
    spawn("beat", move || beat(&beating));
    if listener.set_nonblocking(true).is_err() {
        return;
    }
    let end = Instant::now() + 3 * CONNECTING;
    let known = Arc::new(AtomicU64::new(1));
    // Also where this process takes leave meanwhile: a connection that is closed before would be taken for a death.
    while known.load(Ordering::SeqCst) < count as u64 && Instant::now() < end && !interrupt::requested() {
        let Ok((mut stream, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        let (shared, known) = (Arc::clone(shared), Arc::clone(&known));
        spawn("watch", move || {
            let set = stream.set_nonblocking(false).and(stream.set_read_timeout(Some(CONNECTING)));
            if set.is_ok()
                && let Some(peer) = greeted(&mut stream, &secret, count)
                && let Ok(writing) = stream.try_clone()
            {
                known.fetch_add(1, Ordering::SeqCst);
                lock(&shared.streams).push(writing);
                if shared.ending.load(Ordering::SeqCst) {
                    shared.end(FAREWELL);
                }
                listen(stream, peer, Duration::ZERO, &shared);
            }
        });
    }
}

/// Says now and then that this process is there.
fn beat(shared: &Shared) {
    while !shared.ending.load(Ordering::SeqCst) {
        shared.sent.store(shared.now(), Ordering::SeqCst);
        for stream in lock(&shared.streams).iter_mut() {
            let _ = stream.write_all(&[BEAT]);
        }
        std::thread::sleep(shared.pause());
    }
}

/// Hears the other side until it takes leave, and says where it does not.
fn listen(mut stream: TcpStream, peer: Gone, later: Duration, shared: &Shared) {
    if stream.set_read_timeout(Some(shared.limit)).is_err() {
        return;
    }
    let mut bytes = [0; 64];
    let silent = loop {
        match stream.read(&mut bytes) {
            Ok(0) => break None,
            Ok(count) if bytes[..count].contains(&FAREWELL) => return,
            Ok(count) if bytes[..count].contains(&ENDED) => {
                std::thread::sleep(LATER);
                if !shared.over() {
                    shared.end(ENDED);
                    (shared.told)(None);
                }
                return;
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                // Where this process itself was stopped, nobody is to blame.
                let own =
                    Duration::from_millis(shared.now().saturating_sub(shared.sent.load(Ordering::SeqCst)));
                if own < shared.limit / 2 {
                    break Some(shared.limit);
                }
                std::thread::sleep(2 * shared.pause());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break None,
        }
    };
    std::thread::sleep(later);
    if !shared.over() {
        shared.end(ENDED);
        (shared.told)(Some(&Gone { silent, ..peer }));
    }
}
