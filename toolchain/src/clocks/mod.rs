//! Clock frequencies of a processor or a device: asked for, set, and put back as they were, after errors, panics and signals, too.

mod cpufreq;
mod nvml;
mod setter;

use crate::error::{Error, Result};
use crate::interrupt::{self, AtEnd};
use setter::Setter;
use std::path::Path;
use std::sync::Arc;

/// Where the system has the frequencies of its processors.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Clocks that may be set. Dropping them puts back what there was.
pub struct Clocks {
    name: String,
    supported: Vec<u32>,
    setter: Arc<dyn Setter>,
    current: Option<u32>,
    /// Puts them back where a signal ends the process.
    at_end: Option<AtEnd>,
}

impl std::fmt::Debug for Clocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clocks")
            .field("name", &self.name)
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

impl Clocks {
    /// Those of all processors of this computer, by cpufreq.
    ///
    /// # Errors
    /// [`Error::NoClocks`]: a system without cpufreq, as most virtual machines are, or no permission.
    pub fn cpu() -> Result<Clocks> {
        Clocks::cpu_at(Path::new(PROCESSORS))
    }

    /// The same, in another folder than the system's.
    ///
    /// # Errors
    /// As for [`Clocks::cpu`].
    pub fn cpu_at(folder: &Path) -> Result<Clocks> {
        let found = cpufreq::Cpufreq::open(folder)
            .map_err(|reason| Error::NoClocks { of: "the processors", reason })?;
        Ok(Clocks::of("cpufreq".to_owned(), found.supported.clone(), Arc::new(found)))
    }

    /// Those of the one GPU of this computer, by NVML (application clocks; that of the memory stays).
    ///
    /// # Errors
    /// [`Error::NoClocks`]: no NVML, several devices, or no permission.
    pub fn gpu() -> Result<Clocks> {
        let found = nvml::Applications::open().map_err(|reason| Error::NoClocks { of: "the GPU", reason })?;
        Ok(Clocks::of("NVML".to_owned(), found.supported().to_vec(), Arc::new(found)))
    }

    fn of(name: String, mut supported: Vec<u32>, setter: Arc<dyn Setter>) -> Clocks {
        supported.sort_unstable();
        supported.dedup();
        Clocks { name, supported, setter, current: None, at_end: None }
    }

    /// What sets them, for reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The frequencies that can be asked for, in MHz, the lowest first.
    pub fn supported(&self) -> &[u32] {
        &self.supported
    }

    /// Sets a frequency; nothing is done where it is set already.
    ///
    /// # Errors
    /// [`Error::Clock`]: one that is not supported, or what the system says.
    pub fn set(&mut self, mhz: u32) -> Result<()> {
        if self.current == Some(mhz) {
            return Ok(());
        }
        let failed = |reason: String| Error::Clock { mhz, reason };
        if !self.supported.contains(&mhz) {
            let all: Vec<String> = self.supported.iter().map(u32::to_string).collect();
            return Err(failed(format!("there are {} MHz", all.join(", "))));
        }
        if self.at_end.is_none() {
            let setter = Arc::clone(&self.setter);
            self.at_end = Some(interrupt::at_end(move || drop(setter.restore())));
        }
        // Where it fails half-way, it is no known frequency.
        self.current = None;
        self.setter.set(mhz).map_err(failed)?;
        self.current = Some(mhz);
        Ok(())
    }

    /// Puts back what there was.
    ///
    /// # Errors
    /// What the system says.
    pub fn restore(&mut self) -> Result<()> {
        if self.at_end.is_none() {
            return Ok(());
        }
        let mhz = self.current.take().unwrap_or(0);
        self.setter.restore().map_err(|reason| Error::Clock { mhz, reason })?;
        self.at_end = None;
        Ok(())
    }
}

impl Drop for Clocks {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A system of two processors, as files.
    fn system(listed: bool) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for processor in 0..2 {
            let own = folder.path().join(format!("cpu{processor}/cpufreq"));
            fs::create_dir_all(&own).unwrap();
            for (name, value) in [
                ("scaling_min_freq", "800000\n"),
                ("scaling_max_freq", "3000000\n"),
                ("cpuinfo_min_freq", "800000\n"),
                ("cpuinfo_max_freq", "3000000\n"),
            ] {
                fs::write(own.join(name), value).unwrap();
            }
            if listed {
                fs::write(own.join("scaling_available_frequencies"), "3000000 2000000 800000 \n").unwrap();
            }
        }
        fs::create_dir_all(folder.path().join("cpuidle")).unwrap();
        folder
    }

    fn limits(folder: &Path, processor: usize) -> [u32; 2] {
        let read = |name: &str| {
            let path: PathBuf = folder.join(format!("cpu{processor}/cpufreq/{name}"));
            fs::read_to_string(path).unwrap().trim().parse().unwrap()
        };
        [read("scaling_min_freq"), read("scaling_max_freq")]
    }

    #[test]
    fn what_was_set_is_put_back() {
        let folder = system(true);
        let mut clocks = Clocks::cpu_at(folder.path()).unwrap();
        assert_eq!(clocks.supported(), [800, 2000, 3000]);
        for mhz in [2000, 800, 3000] {
            clocks.set(mhz).unwrap();
            assert!((0..2).all(|at| limits(folder.path(), at) == [1000 * mhz, 1000 * mhz]));
        }
        assert!(clocks.set(1234).unwrap_err().to_string().contains("800, 2000, 3000"));
        drop(clocks);
        assert!((0..2).all(|at| limits(folder.path(), at) == [800_000, 3_000_000]));
        // After a panic, too.
        let path = folder.path().to_owned();
        let panicked = std::panic::catch_unwind(|| {
            let mut clocks = Clocks::cpu_at(&path).unwrap();
            clocks.set(800).unwrap();
            panic!("a variant");
        });
        assert!(panicked.is_err() && limits(folder.path(), 1) == [800_000, 3_000_000]);
    }

    #[test]
    fn steps_are_made_where_none_are_listed() {
        let folder = system(false);
        let clocks = Clocks::cpu_at(folder.path()).unwrap();
        assert_eq!((clocks.supported().len(), clocks.supported()[1]), (23, 900));
    }

    #[test]
    fn what_is_missing_is_told() {
        let none = tempfile::tempdir().unwrap();
        let error = Clocks::cpu_at(none.path()).unwrap_err().to_string();
        assert!(error.contains("the processors") && error.contains("virtual machine"), "{error}");
        // A file that cannot be written: a folder, since permissions mean nothing to root.
        let folder = system(true);
        let limit = folder.path().join("cpu1/cpufreq/scaling_max_freq");
        fs::remove_file(&limit).unwrap();
        fs::create_dir(&limit).unwrap();
        assert!(Clocks::cpu_at(folder.path()).is_err());
        assert_eq!(limits(folder.path(), 0), [800_000, 3_000_000]);
    }
}
