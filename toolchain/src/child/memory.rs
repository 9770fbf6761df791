//! The limit on a child's memory, set between `fork` and `exec`: set later, it would miss what the child starts first.
#![allow(unsafe_code)]

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Limits the memory that the command's process, and each one that it starts, may map.
pub(super) fn limit(command: &mut Command, most: u64) {
    let now = getrlimit(Resource::As);
    let most = [now.current, now.maximum].into_iter().flatten().fold(most, u64::min);
    let set = move || {
        // A system that cannot limit it runs the command without.
        let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) });
        Ok(())
    };
    // SAFETY: between `fork` and `exec` only a system call is made; nothing is allocated and no lock is taken.
    unsafe { command.pre_exec(set) };
}
