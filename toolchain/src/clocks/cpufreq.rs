//! cpufreq: a frequency is set where the least and the greatest one that the governor may take are that.

use super::setter::Setter;
use std::fs;
use std::path::{Path, PathBuf};

/// Steps where the system lists none, in kHz.
const STEP: u32 = 100_000;

/// A processor with the limits that it had.
#[derive(Debug)]
struct Processor {
    folder: PathBuf,
    least: String,
    greatest: String,
}

/// All processors.
#[derive(Debug)]
pub(super) struct Cpufreq {
    processors: Vec<Processor>,
    /// In MHz.
    pub supported: Vec<u32>,
}

fn read(path: &Path) -> Result<String, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(text.trim().to_owned())
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is no frequency"))
}

fn write(path: &Path, value: &str) -> Result<(), String> {
    fs::write(path, value).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "; only root may, or whom it gives these files to",
            _ => "",
        };
        format!("cannot write {}: {error}{hint}", path.display())
    })
}

impl Cpufreq {
    /// The processors of a folder. Limits are written as they are, which says whether they may be.
    pub fn open(folder: &Path) -> Result<Cpufreq, String> {
        let entries =
            fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        let is_processor = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_processor);
        let mut folders: Vec<PathBuf> =
            paths.map(|path| path.join("cpufreq")).filter(|path| path.is_dir()).collect();
        folders.sort();
        let Some(first) = folders.first() else {
            return Err("the system has no cpufreq (a virtual machine, or a kernel without it)".to_owned());
        };
        let supported = supported(first)?;
        let processor = |folder: PathBuf| {
            let (least, greatest) =
                (read(&folder.join("scaling_min_freq"))?, read(&folder.join("scaling_max_freq"))?);
            let own = Processor { folder, least, greatest };
            own.limit(&own.least, &own.greatest).map(|()| own)
        };
        let processors = folders.into_iter().map(processor).collect::<Result<_, _>>()?;
        Ok(Cpufreq { processors, supported })
    }
}

/// The frequencies of a processor in MHz.
fn supported(folder: &Path) -> Result<Vec<u32>, String> {
    let listed = folder.join("scaling_available_frequencies");
    if listed.exists() {
        let all: Vec<u32> = read(&listed)?.split_whitespace().map(number).collect::<Result<_, _>>()?;
        return Ok(all.into_iter().map(|khz| khz / 1000).collect());
    }
    let least = number(&read(&folder.join("cpuinfo_min_freq"))?)?;
    let greatest = number(&read(&folder.join("cpuinfo_max_freq"))?)?;
    let steps = (least..=greatest).step_by(STEP as usize);
    Ok(steps.chain([greatest]).map(|khz| khz / 1000).collect())
}

impl Processor {
    /// Sets both limits, in an order in which the least one is never above the greatest one.
    fn limit(&self, least: &str, greatest: &str) -> Result<(), String> {
        let [low, high] = ["scaling_min_freq", "scaling_max_freq"].map(|name| self.folder.join(name));
        let now = number(&read(&high)?)?;
        if number(least)? > now {
            write(&high, greatest)?;
            write(&low, least)
        } else {
            write(&low, least)?;
            write(&high, greatest)
        }
    }
}

impl Setter for Cpufreq {
    fn set(&self, mhz: u32) -> Result<(), String> {
        let khz = (1000 * mhz).to_string();
        self.processors.iter().try_for_each(|processor| processor.limit(&khz, &khz))
    }

    fn restore(&self) -> Result<(), String> {
        // As many as possible, whatever is wrong with one.
        let mut first = Ok(());
        for processor in &self.processors {
            let one = processor.limit(&processor.least, &processor.greatest);
            if first.is_ok() {
                first = one;
            }
        }
        first
    }
}
