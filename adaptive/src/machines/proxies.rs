//! Application proxies (Table 3.3): small programs with so much of one kind of instructions, and a model for each that says from
//! a profile how much of it there is.

use super::profiles::{Profile, Profiles};
use crate::error::{AdaptiveError, Result};
use nalgebra::{DMatrix, DVector};
use std::path::Path;

/// Greatest intensity: a proxy of intensity `p` has about `20 p` % instructions of its kind.
pub const MOST_INTENSE: u8 = 5;

/// A proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proxy {
    /// Its name.
    pub name: &'static str,
    /// Metrics that tell its intensity, of GPUs and of processors; those that profiles have are used.
    pub metrics: &'static [&'static str],
    /// Features of machines that it stands for, by their names in Table 3.1.
    pub features: &'static [&'static str],
}

/// The proxies. Metrics are counts per issued instruction of
/// warps: instructions of a kind, sectors of 32 bytes, and cycles of the banks of shared memory. On processors memory is what
/// other than atomic instructions read and write elsewhere than on the stack, which stands for the memory that is near.
pub const PROXIES: [Proxy; 5] = [
    Proxy {
        name: "sp-gflop",
        metrics: &["inst_fp_32"],
        features: &["peak_gflops_sp", "cuda_cores", "clock_rate"],
    },
    Proxy {
        name: "dp-gflop",
        metrics: &["inst_fp_64"],
        features: &["peak_gflops_dp", "cuda_cores", "clock_rate"],
    },
    Proxy { name: "atomic", metrics: &["inst_atomic"], features: &["global_atomic", "shared_atomic"] },
    Proxy {
        name: "mem-bw",
        metrics: &["inst_global", "inst_local", "global_sectors", "inst_memory"],
        features: &["peak_gbps", "mem_clock_rate", "mem_bus_width", "l2_cache_size"],
    },
    Proxy {
        name: "sh-mem-bw",
        metrics: &["inst_shared", "shared_wavefronts", "inst_stack"],
        features: &["shared_mem_per_block"],
    },
];

/// Profiles of the proxies: what NVRTC's code for sm_80 issues.
const GPU: &str = include_str!("proxies-gpu.csv");
/// What the code of gcc for x86-64 has.
const CPU: &str = include_str!("proxies-cpu.csv");

/// The shipped profiles of the proxies that have the metrics of these.
///
/// # Errors
/// Metrics of neither.
pub fn shipped(of: &Profiles) -> Result<Profiles> {
    let has = |name: &str| of.metric(name).is_some();
    let (name, text) = match (has("inst_global"), has("inst_memory")) {
        (true, false) => ("proxies-gpu.csv", GPU),
        (false, true) => ("proxies-cpu.csv", CPU),
        _ => {
            return Err(AdaptiveError::request(
                "the profiles are neither of a GPU (`inst_global`) nor of a processor (`inst_memory`)",
                "name profiles of the proxies with the same metrics: `proxies = FILE`",
            ));
        }
    };
    Profiles::parse(Path::new(name), text)
}

/// What tells a proxy's intensity from a profile: a linear function of its metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct IntensityModel {
    metrics: Vec<usize>,
    weights: Vec<f64>,
    constant: f64,
}

/// What keeps weights of metrics small that say the same; metrics are scaled to [0, 1].
const RIDGE: f64 = 1e-4;

impl IntensityModel {
    /// A model of a proxy, by least squares over its profiles. `profiles` have the proxy as variant and its intensity as input.
    ///
    /// # Errors
    /// Fewer than three intensities; an intensity that is none; no metric of the proxy that differs.
    pub fn fit(proxy: &Proxy, profiles: &Profiles) -> Result<IntensityModel> {
        let own: Vec<&Profile> = profiles.rows.iter().filter(|row| row.variant == proxy.name).collect();
        let name = proxy.name;
        let wrong = |reason: String| {
            Err(AdaptiveError::request(reason, "write them with `tilewright adaptive profile --proxies`"))
        };
        let mut intensities = Vec::new();
        for row in &own {
            match row.input.parse::<f64>() {
                Ok(value) if (0.0..=f64::from(MOST_INTENSE)).contains(&value) => intensities.push(value),
                _ => {
                    return wrong(format!(
                        "proxy `{name}` has the intensity `{}`, which is not 0 to 5",
                        row.input
                    ));
                }
            }
        }
        let mut distinct = intensities.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() < 3 {
            return wrong(format!(
                "proxy `{name}` has {} intensities, where a model takes three",
                distinct.len()
            ));
        }
        let differs = |at: &usize| own.iter().any(|row| row.metrics[*at] != own[0].metrics[*at]);
        let metrics: Vec<usize> =
            proxy.metrics.iter().filter_map(|metric| profiles.metric(metric)).filter(differs).collect();
        if metrics.is_empty() {
            return wrong(format!("no metric tells the intensities of proxy `{name}`"));
        }
        // (X'X + r I) w = X'y over centred columns.
        let count = own.len() as f64;
        let greatest = |at: usize| own.iter().map(|row| row.metrics[at]).fold(f64::MIN_POSITIVE, f64::max);
        let scales: Vec<f64> = metrics.iter().map(|&at| greatest(at)).collect();
        let scaled = |row: usize, column: usize| own[row].metrics[metrics[column]] / scales[column];
        let whole = DMatrix::from_fn(own.len(), metrics.len(), scaled);
        let means: Vec<f64> = (0..metrics.len()).map(|column| whole.column(column).sum() / count).collect();
        let mean = intensities.iter().sum::<f64>() / count;
        let centred =
            DMatrix::from_fn(own.len(), metrics.len(), |row, column| whole[(row, column)] - means[column]);
        let wanted = DVector::from_fn(own.len(), |row, _| intensities[row] - mean);
        let ridge = DMatrix::identity(metrics.len(), metrics.len()) * (RIDGE * count);
        let Some(solver) = (centred.transpose() * &centred + ridge).cholesky() else {
            return wrong(format!("the profiles of proxy `{name}` have no least squares"));
        };
        let solved = solver.solve(&(centred.transpose() * wanted));
        let constant = mean - solved.iter().zip(&means).map(|(weight, mean)| weight * mean).sum::<f64>();
        let weights = solved.iter().zip(&scales).map(|(weight, scale)| weight / scale).collect();
        Ok(IntensityModel { metrics, weights, constant })
    }

    /// The intensity that a profile speaks of, 0 to 5. Metrics stand in the order of the profiles that the model was made of.
    pub fn intensity(&self, metrics: &[f64]) -> f64 {
        let parts = self.metrics.iter().zip(&self.weights).map(|(&at, weight)| weight * metrics[at]);
        (self.constant + parts.sum::<f64>()).clamp(0.0, f64::from(MOST_INTENSE))
    }
}

/// A model for each proxy, in the order of [`PROXIES`].
///
/// # Errors
/// As [`IntensityModel::fit`].
pub fn models(profiles: &Profiles) -> Result<Vec<IntensityModel>> {
    PROXIES.iter().map(|proxy| IntensityModel::fit(proxy, profiles)).collect()
}
