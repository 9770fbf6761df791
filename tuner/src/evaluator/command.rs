//! An external command measures: any program in any language.
//!
//! The command is given to `sh -c`; [`CommandLine`] says how levels get into it. The last line of its output is the
//! response, or a JSON object with metrics by name. An exit code other than 0 is a failed trial; 65 says that the
//! configuration is invalid, 66 that it does not compile, 67 that its result is wrong. A trial is over when the command
//! has exited and nothing that it started holds its output any more. One that is not over in time is a failed trial, and
//! whatever it started is killed.

use super::Evaluator;
use super::command_line::CommandLine;
use crate::error::{Result, TunerError};
use crate::space::{Point, Space};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;
use toolchain::child::{self, End, Keep, Limits};
use trials::setting::COMMAND;
use trials::{Metric, Outcome, Setting, Status};

/// Characters of a message that a trial keeps.
const MOST_MESSAGE: usize = 1000;
/// How much of the end of each output is kept.
const MOST_OUTPUT: usize = 1 << 20;

/// Runs a command for every configuration.
pub struct External {
    command: String,
    line: CommandLine,
    space: Space,
    response: String,
    timeout: Duration,
    parallel: usize,
}

impl External {
    /// Measures the points of a space with a command.
    ///
    /// # Errors
    /// As [`CommandLine::new`].
    pub fn new(
        command: &str,
        space: &Space,
        response: &str,
        timeout: Duration,
        parallel: usize,
    ) -> Result<External> {
        let line = CommandLine::new(command, space)?;
        let (command, response) = (command.to_owned(), response.to_owned());
        Ok(External { command, line, space: space.clone(), response, timeout, parallel: parallel.max(1) })
    }
}

impl Evaluator for External {
    fn evaluate(&self, point: &Point) -> Result<Outcome> {
        let text = self.line.text(&self.space, point);
        let mut command = Command::new("sh");
        command.envs(self.line.environment(&self.space, point)).args(["-c", &text]);
        let limits = Limits {
            stdout: Keep::Last(MOST_OUTPUT),
            stderr: Keep::Last(MOST_OUTPUT),
            ..Limits::of_time(self.timeout)
        };
        let ended = child::run(&mut command, &limits).map_err(|reason| TunerError::Request {
            reason: format!("cannot start `sh`: {reason}"),
            hint: String::new(),
        })?;
        let outcome = match ended.end {
            End::Stopped => return Err(TunerError::Interrupted),
            // Of the outputs kept, all may be written.
            End::TimedOut | End::TooMuchOutput => {
                let seconds = self.timeout.as_secs_f64();
                Outcome::failed(Status::Timeout, format!("it took longer than {seconds} s"))
            }
            End::Exited(status) if status.success() => self.measured(&String::from_utf8_lossy(&ended.stdout)),
            End::Exited(status) => {
                let code = status.code();
                let status = match code {
                    Some(65) => Status::Invalid,
                    Some(66) => Status::CompileError,
                    Some(67) => Status::WrongResult,
                    _ => Status::RunError,
                };
                let errors = String::from_utf8_lossy(&ended.stderr);
                let last: String =
                    errors.lines().last().unwrap_or_default().trim().chars().take(MOST_MESSAGE).collect();
                let code = code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
                let message = if last.is_empty() { code } else { format!("{code}: {last}") };
                Outcome::failed(status, message)
            }
        };
        Ok(outcome.now())
    }

    fn parallel(&self) -> usize {
        self.parallel
    }

    fn description(&self) -> String {
        format!("command: {}", self.command)
    }

    fn setting(&self) -> Setting {
        let (program, backend) = (self.command.clone(), COMMAND.to_owned());
        Setting { job: self.description(), program, backend, ..Setting::default() }
    }
}

impl External {
    fn measured(&self, output: &str) -> Outcome {
        let last = output.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        if let Some(value) = last.parse::<f64>().ok().filter(|value| value.is_finite()) {
            return Outcome::measured(&self.response, value);
        }
        let numbers: BTreeMap<String, f64> =
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(last)
                .map(|map| {
                    map.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect()
                })
                .unwrap_or_default();
        if !numbers.contains_key(&self.response) {
            let shown: String = last.chars().take(80).collect();
            let message =
                format!("the last line is no number and no JSON with `{}`: `{shown}`", self.response);
            return Outcome::failed(Status::RunError, message);
        }
        let metric = |(name, value)| (name, Metric { value, ..Metric::default() });
        Outcome { metrics: numbers.into_iter().map(metric).collect(), ..Outcome::measured("", 0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trials::Parameter;
    use trials::Value;

    fn trial(command: &str, seconds: u64) -> Outcome {
        let x = Parameter::new("x", vec![Value::Integer(3), Value::Integer(7)]).unwrap();
        let space = Space::new(vec![x], &[]).unwrap();
        let timeout = Duration::from_secs(seconds);
        let external = External::new(command, &space, "time", timeout, 1).unwrap();
        external.evaluate(&space.points().unwrap()[1]).unwrap()
    }

    #[test]
    fn outcomes() {
        assert_eq!(trial("echo noise; echo {x}.5", 20).response("time"), Some(7.5));
        assert_eq!(trial("echo \"{\\\"time\\\": 2, \\\"watts\\\": $TW_X}\"", 20).metrics["watts"].value, 7.0);
        assert_eq!(trial("echo broken >&2; exit 3", 20).message, "exit code 3: broken");
        assert_eq!(trial("exit 67", 20).status, Status::WrongResult);
        assert_eq!(trial("echo nothing", 20).status, Status::RunError);
        assert_eq!(trial("sleep 600", 1).status, Status::Timeout);
        // The shell is gone at once, what it left behind goes on and holds the output.
        let start = std::time::Instant::now();
        assert_eq!(trial("sleep 600 & echo 1", 1).status, Status::Timeout);
        assert_eq!(trial("yes", 1).status, Status::Timeout);
        assert!(start.elapsed() < Duration::from_secs(300));
        let space = Space::new(vec![Parameter::new("x", vec![Value::Integer(3)]).unwrap()], &[]).unwrap();
        assert!(External::new("run {y}", &space, "time", Duration::from_secs(1), 1).is_err());
    }
}
