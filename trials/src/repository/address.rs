//! Addresses of servers: `redis://[[USER]:PASSWORD@]HOST[:PORT][/NUMBER]`.

use crate::error::{Result, TrialsError};
use std::fmt;

const SCHEME: &str = "redis://";
/// The usual port.
const PORT: u16 = 6379;
/// Where the password is taken from if the address has none, as by redis-cli.
const PASSWORD: &str = "REDISCLI_AUTH";

/// Where a server is, and who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// Name or number of the computer.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The database.
    pub database: u32,
    /// The user; empty for the usual one.
    pub user: String,
    /// The password; `None` where none is needed.
    pub password: Option<String>,
}

impl Address {
    /// Reads an address. A password that it does not have is that of `$REDISCLI_AUTH`.
    ///
    /// # Errors
    /// A text that is none.
    pub fn parse(text: &str) -> Result<Address> {
        let wrong = |what: &str| TrialsError::Request {
            // Without what may be a password.
            reason: format!("the address of a Redis server {what}"),
            hint: "it is redis://HOST, redis://HOST:PORT/NUMBER or redis://USER:PASSWORD@HOST".to_owned(),
        };
        if text.get(..SCHEME.len() + 1).is_some_and(|start| start.eq_ignore_ascii_case("rediss://")) {
            return Err(TrialsError::Request {
                reason: "Redis servers are not asked through TLS".to_owned(),
                hint: "use redis:// through a tunnel (ssh -L 6379:localhost:6379 HOST)".to_owned(),
            });
        }
        let scheme = text.get(..SCHEME.len()).filter(|start| start.eq_ignore_ascii_case(SCHEME));
        let rest = scheme.map(|start| &text[start.len()..]).ok_or_else(|| wrong("begins with redis://"))?;
        let (login, rest) = rest.rsplit_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
        let (user, password) = match login {
            Some(login) => {
                let (user, password) =
                    login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
                let plain =
                    |part: &str| decoded(part).ok_or_else(|| wrong("has a `%` that stands for no sign"));
                (plain(user)?, password.map(plain).transpose()?)
            }
            None => (String::new(), None),
        };
        let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
        let database = match database {
            "" => 0,
            number => number.parse().map_err(|_| wrong("ends with the number of a database"))?,
        };
        let (host, port) = match place.strip_prefix('[').and_then(|place| place.split_once(']')) {
            // An address of IPv6 has colons of its own.
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
        };
        let port = match port {
            Some(port) => port.parse().map_err(|_| wrong("has a port of 1 to 65535 behind the colon"))?,
            None => PORT,
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err(wrong("names a computer"));
        }
        let password = password.or_else(|| std::env::var(PASSWORD).ok().filter(|word| !word.is_empty()));
        Ok(Address { host: host.to_owned(), port, database, user, password })
    }
}

/// Without user and password, for messages.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{SCHEME}{host}:{}/{}", self.port, self.database)
    }
}

/// As for people: a password is in no log.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// A part of an address with `%40` as `@` and the like.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first == b'%' {
            let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &behind[2..];
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_told_without_passwords() {
        let told = |text: &str| Address::parse(text).unwrap().to_string();
        assert_eq!(told("redis://db"), "redis://db:6379/0");
        assert_eq!(told("REDIS://db:1/"), "redis://db:1/0");
        assert_eq!(told("redis://me:secret@[::1]:7/3"), "redis://[::1]:7/3");
        let own = Address::parse("redis://me:a%40b%3a@db/12").unwrap();
        assert_eq!((own.user.as_str(), own.password.as_deref()), ("me", Some("a@b:")));
        assert_eq!((own.host.as_str(), own.database), ("db", 12));
        assert!(!format!("{own:?}").contains("a@b"));
        let anyone = Address::parse("redis://:word@db").unwrap();
        assert_eq!((anyone.user.as_str(), anyone.password.as_deref()), ("", Some("word")));
        for wrong in [
            "redis:/db",
            "redis://",
            "redis://db:x",
            "redis://db:70000",
            "redis://db/x",
            "redis://%:secret@db",
        ] {
            let error = Address::parse(wrong).unwrap_err();
            assert!(error.to_string().starts_with("the address of a Redis server "), "{error}");
            assert!(!error.to_string().contains("secret"));
        }
        assert!(Address::parse("rediss://db").unwrap_err().to_string().contains("TLS"));
    }
}
