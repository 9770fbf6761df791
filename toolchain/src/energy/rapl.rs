//! RAPL: what the processor counts of its own energy, as Linux shows it in `/sys/class/powercap`.

use super::EnergyMeter;
use std::fs;
use std::path::{Path, PathBuf};

/// The energy counters of all processor packages.
#[derive(Debug)]
pub struct Rapl {
    packages: Vec<Package>,
}

#[derive(Debug)]
struct Package {
    counter: PathBuf,
    /// Where the counter starts again at 0, in microjoules.
    range: u64,
    last: u64,
    /// Microjoules counted so far.
    counted: u64,
}

impl Rapl {
    /// The counters of this machine; `None` where there are none, or where they may not be read.
    pub fn open() -> Option<Rapl> {
        Rapl::at(Path::new("/sys/class/powercap"))
    }

    /// The counters below a folder: `intel-rapl:N/energy_uj` (AMD's processors have the same names).
    pub fn at(folder: &Path) -> Option<Rapl> {
        let mut packages = Vec::new();
        for entry in fs::read_dir(folder).ok()?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // `intel-rapl:0:1` is a part of package 0, and counted there.
            if name.strip_prefix("intel-rapl:").is_none_or(|number| number.contains(':')) {
                continue;
            }
            // Beside packages stands the whole platform, `psys`, which counts them once more.
            let said = fs::read_to_string(entry.path().join("name"));
            if said.is_ok_and(|said| !said.starts_with("package")) {
                continue;
            }
            let counter = entry.path().join("energy_uj");
            let range = number(&entry.path().join("max_energy_range_uj")).unwrap_or(u64::MAX);
            let last = number(&counter)?;
            packages.push(Package { counter, range, last, counted: 0 });
        }
        (!packages.is_empty()).then_some(Rapl { packages })
    }
}

impl EnergyMeter for Rapl {
    fn joules(&mut self) -> Option<f64> {
        let mut sum = 0;
        for package in &mut self.packages {
            let now = number(&package.counter)?;
            let before = package.last;
            package.counted +=
                if now >= before { now - before } else { now + package.range.saturating_sub(before) };
            package.last = now;
            sum += package.counted;
        }
        Some(sum as f64 / 1e6)
    }

    fn name(&self) -> String {
        format!("RAPL, {} package(s)", self.packages.len())
    }
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_added_and_wrap() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, file: &str, value: u64| {
            fs::create_dir_all(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join(file), format!("{value}\n")).unwrap();
        };
        assert!(Rapl::at(folder.path()).is_none());
        assert!(Rapl::at(&folder.path().join("missing")).is_none());
        for (name, value) in [("intel-rapl:0", 9_000_000), ("intel-rapl:1", 500), ("intel-rapl:0:0", 77)] {
            write(name, "energy_uj", value);
            write(name, "max_energy_range_uj", 10_000_000);
        }
        for (name, said) in [("intel-rapl:0", "package-0\n"), ("intel-rapl:2", "psys\n")] {
            write(name, "energy_uj", 44);
            fs::write(folder.path().join(name).join("name"), said).unwrap();
        }
        write("intel-rapl:0", "energy_uj", 9_000_000);
        let mut meter = Rapl::at(folder.path()).unwrap();
        assert_eq!(meter.joules(), Some(0.0));
        // The platform contains the packages.
        write("intel-rapl:2", "energy_uj", 5_000_044);
        write("intel-rapl:1", "energy_uj", 2_000_500);
        assert_eq!(meter.joules(), Some(2.0));
        // Package 0 counted 1 J up to its range and 3 J more.
        write("intel-rapl:0", "energy_uj", 3_000_000);
        assert_eq!(meter.joules(), Some(6.0));
        fs::write(folder.path().join("intel-rapl:1/energy_uj"), "no number").unwrap();
        assert_eq!(meter.joules(), None);
    }
}
