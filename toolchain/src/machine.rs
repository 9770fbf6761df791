//! Facts about this machine: processor, caches, memory.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// What measured times depend on. Fields that the system does not tell are empty or `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// Model name of the processor.
    pub cpu: String,
    /// Instruction-set architecture, as in `x86_64`.
    pub architecture: String,
    /// Processors that this process may use.
    pub usable_cpus: usize,
    /// Cores of the machine, hyper-threads not counted.
    pub cores: Option<usize>,
    /// Vector extensions that matter for stencils, as in `avx2`, `fma`.
    pub vector_extensions: Vec<String>,
    /// Caches of the first processor that this process may use.
    pub caches: Vec<Cache>,
    /// Nodes of memory; more than one where memory is nearer to some processors than to others.
    #[serde(default)]
    pub numa_nodes: Option<usize>,
    /// Whether the system gives large pages by itself: `always`, `madvise` or `never`.
    #[serde(default)]
    pub huge_pages: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel release.
    pub system: String,
    /// Version line of the C compiler.
    pub compiler: Option<String>,
}

/// One cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 for the one next to the core.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Line length in bytes.
    pub line_bytes: Option<u64>,
    /// Number of processors that share it.
    pub shared_by: Option<usize>,
}

impl MachineFacts {
    /// Asks the system; `compiler` is the version line of the compiler in use.
    pub fn collect(compiler: Option<&str>) -> Self {
        let cpuinfo = cpuinfo();
        let flags = field(cpuinfo, "flags").or_else(|| field(cpuinfo, "Features")).unwrap_or_default();
        let known = ["sse4_2", "avx", "avx2", "fma", "avx512f", "avx512vl", "neon", "asimd", "sve", "sve2"];
        MachineFacts {
            cpu: field(cpuinfo, "model name").unwrap_or_default(),
            architecture: std::env::consts::ARCH.to_owned(),
            usable_cpus: std::thread::available_parallelism().map_or(1, usize::from),
            cores: cores(cpuinfo),
            vector_extensions: flags
                .split_whitespace()
                .filter(|flag| known.contains(flag))
                .map(str::to_owned)
                .collect(),
            caches: caches(),
            numa_nodes: read("/sys/devices/system/node/online").and_then(|list| list_length(&list)),
            huge_pages: read("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| selected(&text)),
            memory_bytes: memory("MemTotal"),
            system: format!("{} {}", std::env::consts::OS, kernel_release()).trim().to_owned(),
            compiler: compiler.map(str::to_owned),
        }
    }
}

/// Bytes of the largest of these caches.
pub fn largest_cache(caches: &[Cache]) -> Option<u64> {
    caches.iter().map(|cache| cache.bytes).max()
}

/// Memory in bytes that a new allocation can have without swapping: what the kernel estimates, within the
/// limit of the control group. `None` where the system does not tell.
pub fn available_memory() -> Option<u64> {
    let kernel = memory("MemAvailable");
    let group = control_group_memory();
    match (kernel, group) {
        (Some(kernel), Some(group)) => Some(kernel.min(group)),
        (kernel, group) => kernel.or(group),
    }
}

/// What tells processors apart for code compiled for the machine's own: model name and feature flags.
pub fn cpu_identity() -> String {
    let cpuinfo = cpuinfo();
    let parts = ["model name", "flags", "Features", "CPU part"];
    let parts: Vec<String> = parts.iter().filter_map(|name| field(cpuinfo, name)).collect();
    format!("{} {}", std::env::consts::ARCH, parts.join("; "))
}

/// A short name for this processor as this program sees it: model and features, caches, and how many processors it may
/// use. Equal names mean that measurements may be taken over.
pub fn processor_id() -> &'static str {
    static ID: LazyLock<String> = LazyLock::new(identify_processor);
    &ID
}

fn identify_processor() -> String {
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let caches: Vec<String> = caches()
        .iter()
        .map(|cache| format!("{} {} {} {:?}", cache.level, cache.kind, cache.bytes, cache.shared_by))
        .collect();
    let text = format!("{}; {}; {usable}", cpu_identity(), caches.join(", "));
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Name of the processor, as it says it; its architecture and system where it does not.
pub fn cpu_name() -> String {
    let name = field(cpuinfo(), "model name").filter(|name| !name.is_empty());
    name.unwrap_or_else(|| format!("{} {}", std::env::consts::ARCH, std::env::consts::OS))
}

/// Whether the processor has this feature flag, as `/proc/cpuinfo` names it.
pub fn cpu_has(flag: &str) -> bool {
    field(cpuinfo(), "flags").is_some_and(|flags| flags.split_whitespace().any(|found| found == flag))
}

/// Read once: on a machine with many processors the kernel takes milliseconds to write it.
fn cpuinfo() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
    &TEXT
}

/// The value of the first line `name : value`.
fn field(cpuinfo: &str, name: &str) -> Option<String> {
    let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

/// Distinct pairs of package and core.
fn cores(cpuinfo: &str) -> Option<usize> {
    let pairs: std::collections::BTreeSet<(Option<String>, String)> = cpuinfo
        .split("\n\n")
        .filter_map(|processor| Some((field(processor, "physical id"), field(processor, "core id")?)))
        .collect();
    (!pairs.is_empty()).then_some(pairs.len())
}

fn memory(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let value = field(&text, name)?;
    let kibibytes: u64 = value.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn control_group_memory() -> Option<u64> {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max")?;
    Some(limit.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)))
}

fn kernel_release() -> String {
    read("/proc/sys/kernel/osrelease").unwrap_or_default()
}

/// The text of a file, without blanks around it.
fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The word in brackets: `always [madvise] never`.
fn selected(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word.to_owned())
}

/// The number of the first processor that this process may use.
fn first_processor() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = field(&status, "Cpus_allowed_list").unwrap_or_default();
    let digits = list.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// What the system tells of caches; where it tells nothing, what the processor itself does.
fn caches() -> Vec<Cache> {
    let found = caches_of_system();
    if found.is_empty() { caches_of_processor() } else { found }
}

#[cfg(target_arch = "x86_64")]
fn caches_of_processor() -> Vec<Cache> {
    use raw_cpuid::{CacheType, CpuId};
    let Some(caches) = CpuId::new().get_cache_parameters() else { return Vec::new() };
    let kind = |kind| match kind {
        CacheType::Data => Some("Data"),
        CacheType::Instruction => Some("Instruction"),
        CacheType::Unified => Some("Unified"),
        _ => None,
    };
    let cache = |cache: raw_cpuid::CacheParameter| {
        let ways = cache.associativity() * cache.physical_line_partitions();
        Some(Cache {
            level: cache.level().into(),
            kind: kind(cache.cache_type())?.to_owned(),
            bytes: (ways * cache.coherency_line_size() * cache.sets()) as u64,
            line_bytes: Some(cache.coherency_line_size() as u64),
            // Numbers of processors are reserved in powers of two: an upper bound.
            shared_by: Some(cache.max_cores_for_cache()),
        })
    };
    caches.filter_map(cache).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn caches_of_processor() -> Vec<Cache> {
    Vec::new()
}

fn caches_of_system() -> Vec<Cache> {
    let folder = format!("/sys/devices/system/cpu/cpu{}/cache", first_processor());
    let folder = Path::new(&folder);
    let mut caches: Vec<Cache> =
        (0..8).filter_map(|index| cache(&folder.join(format!("index{index}")))).collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

fn cache(folder: &Path) -> Option<Cache> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_owned());
    Some(Cache {
        level: text("level")?.parse().ok()?,
        kind: text("type")?,
        bytes: size(&text("size")?)?,
        line_bytes: text("coherency_line_size").and_then(|text| text.parse().ok()),
        shared_by: text("shared_cpu_list").and_then(|list| list_length(&list)),
    })
}

/// `32K`, `1M` or a plain number, in bytes.
fn size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// How many numbers a list such as `0-3,8` names.
fn list_length(list: &str) -> Option<usize> {
    list.split(',').try_fold(0usize, |count, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<usize>().ok()?, last.trim().parse::<usize>().ok()?);
        Some(count + last.checked_sub(first)? + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_knows_its_caches() {
        let (told, own) = (caches_of_system(), caches_of_processor());
        // Virtual machines may tell other sizes of shared caches; those of a core agree, where both are told.
        let first =
            |caches: &[Cache]| caches.iter().find(|cache| cache.kind == "Data").map(|cache| cache.bytes);
        if let (Some(told), Some(own)) = (first(&told), first(&own)) {
            assert_eq!(told, own);
        }
        assert_eq!(selected("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(selected("none"), None);
    }

    #[test]
    fn units_and_lists() {
        assert_eq!(size("32K"), Some(32768));
        assert_eq!(size("1M"), Some(1 << 20));
        assert_eq!(size(""), None);
        assert_eq!(list_length("0-3,8"), Some(5));
        assert_eq!(list_length("0"), Some(1));
        assert_eq!(list_length("3-1"), None);
    }

    #[test]
    fn cores_are_counted_once_per_package_and_core() {
        let text = "physical id: 0\ncore id: 0\n\nphysical id: 0\ncore id: 0\n\nphysical id: 1\ncore id: 0\n";
        assert_eq!(cores(text), Some(2));
        assert_eq!(cores(""), None);
    }

    #[test]
    fn facts_are_complete_enough() {
        let facts = MachineFacts::collect(Some("cc 1.0"));
        assert!(facts.usable_cpus >= 1);
        let text = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<MachineFacts>(&text).unwrap(), facts);
    }
}
