//! Trials on a Redis server, which a team shares.
//!
//! ```text
//! tilewright:trials:1:PROGRAM:MACHINE      a hash
//!   setting 5b0f..                         SUM {"program":"sort","machine":"..",..}
//!   trial 1c9e..                           SUM {"of":"5b0f..","configuration":{..},"status":"ok",..}
//! ```
//!
//! A trial's field is the checksum of its setting, configuration and round, so that two who measure the same keep one; `SUM` covers the
//! key, the field and the text. Each connection sends again what its user has added: a server that was stopped and started has it,
//! whatever it had written down.

use super::address::Address;
use super::keeps::Repository;
use super::resp::{Fault, Link, Reply};
use crate::error::{Result, TrialsError};
use crate::limits::MOST_TRIALS;
use crate::setting::Setting;
use crate::store::records::{Reader, TrialRecord};
use crate::trial::Trial;
use safe_io::{Damage, checksum};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(20);
/// How long is waited for a server that is started anew.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);
/// Fields that are asked for at once.
const AT_ONCE: &str = "1000";

const SETTING: &str = "setting ";
const TRIAL: &str = "trial ";

/// What is to be written.
struct Entry {
    field: String,
    value: String,
    /// Not where somebody else has written the field.
    once: bool,
}

/// Trials of one program on one machine, on a server.
pub struct Redis {
    address: Address,
    key: String,
    link: Option<Link>,
    trials: Vec<Trial>,
    damage: Vec<Damage>,
    /// Fields whose values are damaged: they are replaced.
    damaged: HashSet<String>,
    settings: HashSet<String>,
    /// What was added, and how much of it this connection has sent.
    entries: Vec<Entry>,
    sent: usize,
    patience: Duration,
}

impl Redis {
    /// Reads the trials of the program and machine of a setting.
    ///
    /// # Errors
    /// A server that does not answer, or refuses.
    pub fn open(address: Address, setting: &Setting) -> Result<Redis> {
        let key = format!("tilewright:trials:1:{}:{}", quoted(&setting.program), quoted(&setting.machine));
        let mut redis = Redis {
            address,
            key,
            link: None,
            trials: Vec::new(),
            damage: Vec::new(),
            damaged: HashSet::new(),
            settings: HashSet::new(),
            entries: Vec::new(),
            sent: 0,
            patience: PATIENCE,
        };
        // A server that is not there is told at once; one that reads its file is waited for.
        let reads = |redis: &mut Redis| redis.read();
        let fields =
            redis.patiently(reads, |fault| matches!(fault, Fault::Refused(_)) && fault.may_pass())?;
        redis.take(fields)?;
        Ok(redis)
    }

    /// Waits so long for a server that is started anew, and no longer.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The hash on the server.
    pub fn key(&self) -> &str {
        &self.key
    }

    fn patiently<T>(
        &mut self,
        mut act: impl FnMut(&mut Redis) -> std::result::Result<T, Fault>,
        passes: impl Fn(&Fault) -> bool,
    ) -> Result<T> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(20);
        loop {
            match act(self) {
                Ok(value) => return Ok(value),
                Err(fault) => {
                    // What comes behind a fault may belong to it.
                    self.link = None;
                    if !passes(&fault) || started.elapsed() >= self.patience {
                        return Err(self.told(&fault));
                    }
                }
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(PAUSE);
        }
    }

    fn told(&self, fault: &Fault) -> TrialsError {
        let hint = match fault {
            Fault::Unreachable(_) => "start it, or look at host and port; trials can be kept in a file, too",
            Fault::Lost(_) => {
                "what was measured before is there: give the command again when the server answers"
            }
            Fault::Foreign(_) => "look at host and port",
            Fault::Refused(text) => match text.split(' ').next().unwrap_or_default() {
                "NOAUTH" | "WRONGPASS" | "NOPERM" => {
                    "name user and password: redis://USER:PASSWORD@HOST, or the password in $REDISCLI_AUTH"
                }
                "WRONGTYPE" => "the key belongs to somebody else: take another database, redis://HOST/NUMBER",
                "OOM" | "MISCONF" | "READONLY" => {
                    "the server takes no data: look at its memory, disk and role"
                }
                _ => "",
            },
        };
        let address = self.address.to_string();
        TrialsError::Server { address, reason: fault.to_string(), hint: hint.to_owned() }
    }

    /// The connection, made where there is none.
    fn link(&mut self) -> std::result::Result<&mut Link, Fault> {
        if self.link.is_none() {
            let Address { host, port, database, user, password } = &self.address;
            let mut link = Link::connect(host, *port, ANSWER)?;
            if let Some(password) = password {
                let mut login: Vec<&[u8]> = vec![b"AUTH"];
                if !user.is_empty() {
                    login.push(user.as_bytes());
                }
                login.push(password.as_bytes());
                link.ask(&login)?;
            }
            if *database != 0 {
                link.ask(&[b"SELECT", database.to_string().as_bytes()])?;
            }
            self.link = Some(link);
            self.sent = 0;
        }
        self.link.as_mut().ok_or_else(|| Fault::Lost(std::io::ErrorKind::NotConnected.into()))
    }

    /// All fields. A hash that grows while it is read may name one twice.
    fn read(&mut self) -> std::result::Result<BTreeMap<String, String>, Fault> {
        let key = self.key.clone();
        let link = self.link()?;
        let mut fields = BTreeMap::new();
        let mut cursor = b"0".to_vec();
        loop {
            let request: [&[u8]; 5] = [b"HSCAN", key.as_bytes(), &cursor, b"COUNT", AT_ONCE.as_bytes()];
            let strange = || Fault::Foreign("it answers HSCAN with something else".to_owned());
            let Reply::Parts(parts) = link.ask(&request)? else { return Err(strange()) };
            let [Reply::Text(Some(next)), Reply::Parts(pairs)] = &parts[..] else { return Err(strange()) };
            for pair in pairs.chunks(2) {
                let [Reply::Text(Some(field)), Reply::Text(Some(value))] = pair else {
                    return Err(strange());
                };
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                fields.insert(text(field), text(value));
            }
            // More than can be used: told below.
            if next == b"0" || fields.len() > 2 * MOST_TRIALS {
                return Ok(fields);
            }
            cursor.clone_from(next);
        }
    }

    /// The trials of all fields, in the order of their names.
    fn take(&mut self, fields: BTreeMap<String, String>) -> Result<()> {
        if fields.len() > MOST_TRIALS {
            return Err(TrialsError::Server {
                address: self.address.to_string(),
                reason: format!("`{}` has more than {MOST_TRIALS} fields", self.key),
                hint: "take another database, redis://HOST/NUMBER".to_owned(),
            });
        }
        let mut reader = Reader::default();
        // Settings come before trials.
        for (field, value) in fields {
            let good = (|| {
                let (sum, text) = value.split_once(' ').ok_or("it has no checksum")?;
                if sum != self.sum(&field, text) {
                    return Err("its checksum does not fit".to_owned());
                }
                if let Some(id) = field.strip_prefix(SETTING) {
                    let setting: Setting = serde_json::from_str(text).map_err(|error| error.to_string())?;
                    reader.add(setting);
                    self.settings.insert(id.to_owned());
                } else if field.starts_with(TRIAL) {
                    let record: TrialRecord =
                        serde_json::from_str(text).map_err(|error| error.to_string())?;
                    self.trials.push(reader.trial(record)?);
                }
                Ok(())
            })();
            if let Err(reason) = good {
                let file = PathBuf::from(self.address.to_string());
                self.damage.push(Damage { file, place: format!("{}, {field}", self.key), reason });
                self.damaged.insert(field);
            }
        }
        Ok(())
    }

    fn sum(&self, field: &str, text: &str) -> String {
        checksum::of(&[self.key.as_bytes(), field.as_bytes(), text.as_bytes()])
    }

    fn entry(&self, field: String, text: &str, once: bool) -> Entry {
        let once = once && !self.damaged.contains(&field);
        Entry { value: format!("{} {text}", self.sum(&field, text)), field, once }
    }

    fn add(&mut self, trial: &Trial, once: bool) -> Result<()> {
        let without_text = |error: serde_json::Error| TrialsError::Server {
            address: self.address.to_string(),
            reason: error.to_string(),
            hint: String::new(),
        };
        let record = TrialRecord::of(trial);
        let setting = serde_json::to_string(&*trial.setting).map_err(without_text)?;
        let text = serde_json::to_string(&record).map_err(without_text)?;
        let configuration = serde_json::to_string(&record.configuration).map_err(without_text)?;
        let parts = [record.of.as_bytes(), configuration.as_bytes(), &record.round.to_le_bytes()];
        let field = format!("{TRIAL}{}", checksum::of(&parts));
        if self.settings.insert(record.of.clone()) {
            // A trial is never there without its setting.
            self.entries.push(self.entry(format!("{SETTING}{}", record.of), &setting, true));
        }
        self.entries.push(self.entry(field, &text, once));
        self.patiently(Redis::send, Fault::may_pass)?;
        self.trials.push(trial.clone());
        Ok(())
    }

    /// Sends what this connection has not sent.
    fn send(&mut self) -> std::result::Result<(), Fault> {
        self.link()?;
        let (Some(link), key) = (&mut self.link, self.key.as_bytes()) else { return Ok(()) };
        while let Some(entry) = self.entries.get(self.sent) {
            let command: &[u8] = if entry.once { b"HSETNX" } else { b"HSET" };
            match link.ask(&[command, key, entry.field.as_bytes(), entry.value.as_bytes()])? {
                Reply::Number(_) => self.sent += 1,
                _ => return Err(Fault::Foreign("it answers HSET with something else".to_owned())),
            }
        }
        Ok(())
    }
}

impl Repository for Redis {
    fn place(&self) -> String {
        self.address.to_string()
    }

    fn trials(&self) -> &[Trial] {
        &self.trials
    }

    fn damage(&self) -> &[Damage] {
        &self.damage
    }

    fn append(&mut self, trial: &Trial) -> Result<()> {
        self.add(trial, false)
    }

    fn append_once(&mut self, trial: &Trial) -> Result<()> {
        self.add(trial, true)
    }
}

/// A name as a part of a key: what parts are told apart by is written as `%3a`.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || " .,_-()@/+".contains(c);
    let quoted = |c: char| if plain(c) { c.to_string() } else { format!("%{:02x}", u32::from(c)) };
    name.chars().map(quoted).collect()
}
