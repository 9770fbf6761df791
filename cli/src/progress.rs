//! What the user sees on the way: progress on stderr, and the times of the stages.

use crate::arguments::OutputArguments;
use crate::report::{self, print_stderr};
use hhc_codegen::KernelPlan;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use polyhedral::analysis::Analysis;
use safe_io::Damage;
use std::cell::RefCell;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tilewright::Observer;

/// What takes longer is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// Damaged records that are named on stderr.
const MOST_TOLD: usize = 10;
/// Time between two drawings.
const TICK: Duration = Duration::from_millis(200);

/// One call of the command: how it prints, and what its stages took.
pub struct Session {
    output: OutputArguments,
    stages: RefCell<Vec<(&'static str, Duration)>>,
    damage: RefCell<Vec<Damage>>,
    /// That of a stage of the library.
    running: RefCell<Option<Progress>>,
    /// The text of a plan that the proof refuses, where the user wants to see one.
    dump: RefCell<Option<Dump>>,
    /// What stderr gets when the stage is over.
    later: RefCell<Option<String>>,
}

impl Session {
    /// A session with these output options.
    pub fn new(output: OutputArguments) -> Session {
        Session {
            output,
            stages: RefCell::new(Vec::new()),
            damage: RefCell::default(),
            running: RefCell::default(),
            dump: RefCell::default(),
            later: RefCell::default(),
        }
    }

    /// Tells what of a journal or store is damaged and not used: on stderr at once, and in the JSON document.
    pub fn tell_damage(&self, damage: &[Damage]) {
        for damage in damage.iter().take(MOST_TOLD) {
            print_stderr(&format!("warning: {damage}"));
        }
        if damage.len() > MOST_TOLD {
            print_stderr(&format!("warning: and {} more of this kind", damage.len() - MOST_TOLD));
        }
        self.damage.borrow_mut().extend_from_slice(damage);
    }

    /// Tells a fact worth knowing before the report comes: on stderr.
    pub fn tell(&self, text: &str) {
        print_stderr(&format!("note: {text}"));
    }

    /// What was told so.
    pub fn damage(&self) -> Vec<Damage> {
        self.damage.borrow().clone()
    }

    /// Shows a plan that the proof refuses, as this text: the report that would show it does not come.
    pub fn dump_refused(&self, dump: impl Fn(&KernelPlan, &Analysis) -> String + 'static) {
        *self.dump.borrow_mut() = Some(Box::new(dump));
    }

    /// Whether stdout gets one JSON document and nothing else.
    pub fn json(&self) -> bool {
        self.output.json
    }

    /// Runs a stage, timed, with a spinner if it takes long.
    pub fn stage<T>(&self, name: &'static str, work: impl FnOnce() -> T) -> T {
        self.stage_of(name, 0, |_| work())
    }

    /// Runs a stage that consists of `total` parts; `work` tells the progress how many are done.
    pub fn stage_of<T>(&self, name: &'static str, total: u64, work: impl FnOnce(&Progress) -> T) -> T {
        let start = Instant::now();
        let progress = Progress::start(name, total);
        let result = work(&progress);
        drop(progress);
        self.end(name, start.elapsed());
        result
    }

    /// Prints the times of the stages on stderr, where asked for.
    pub fn finish(&self) {
        if !self.output.timings {
            return;
        }
        let stages = self.stages.borrow();
        let total: Duration = stages.iter().map(|(_, time)| *time).sum();
        let row = |name: &str, time: Duration| vec![name.to_owned(), report::seconds(time.as_secs_f64())];
        let mut rows: Vec<Vec<String>> = stages.iter().map(|(name, time)| row(name, *time)).collect();
        rows.push(row("all stages", total));
        print_stderr(report::table(&["stage", "time"], &rows, &[1]).trim_end());
    }
}

/// Makes a text of a plan.
type Dump = Box<dyn Fn(&KernelPlan, &Analysis) -> String>;

impl Observer for Session {
    fn refused(&self, plan: &KernelPlan, analysis: &Analysis) {
        let text = self.dump.borrow().as_ref().map(|dump| dump(plan, analysis));
        *self.later.borrow_mut() = text;
    }

    fn begin(&self, stage: &'static str, parts: u64) {
        *self.running.borrow_mut() = Some(Progress::start(stage, parts));
    }

    fn done(&self, parts: u64) {
        if let Some(progress) = &*self.running.borrow() {
            progress.bar.set_position(parts);
        }
    }

    fn end(&self, stage: &'static str, took: Duration) {
        drop(self.running.borrow_mut().take());
        self.stages.borrow_mut().push((stage, took));
        if let Some(text) = self.later.borrow_mut().take() {
            print_stderr(&text);
        }
    }
}

/// A progress bar, or a spinner where the number of parts is 0. It appears after a second, on a terminal only, and
/// goes when dropped.
pub struct Progress {
    bar: ProgressBar,
    watcher: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    fn start(name: &'static str, total: u64) -> Progress {
        let bar = ProgressBar::with_draw_target((total > 0).then_some(total), ProgressDrawTarget::hidden());
        if !std::io::stderr().is_terminal() {
            return Progress { bar, watcher: None };
        }
        let template = if total > 0 {
            "{msg} [{bar:40}] {pos}/{len} steps, {eta} left"
        } else {
            "{spinner} {msg} ({elapsed})"
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = bar.with_style(style.progress_chars("=> ")).with_message(name);
        let (sender, receiver) = channel();
        let shown = bar.clone();
        let watch = move || {
            let mut wait = PATIENCE;
            while receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                if wait == PATIENCE {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                }
                shown.tick();
                wait = TICK;
            }
        };
        // Without the thread there is no progress to be seen, which is no reason to stop.
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(watch).ok();
        Progress { bar, watcher: thread.map(|thread| (sender, thread)) }
    }

    /// Tells what is going on, in place of the name of the stage.
    pub fn say(&self, text: String) {
        self.bar.set_message(text_escape::visible(&text).into_owned());
    }

    /// Tells how many parts are done.
    pub fn done(&self, parts: i64) {
        self.bar.set_position(u64::try_from(parts).unwrap_or(0));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.watcher.take() {
            drop(sender);
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
