//! Which features of machines matter by what the variants do (P-DFS, Algorithm 1): the proxies that a variant's code is most like stand
//! for features.

use super::fleet::Fleet;
use super::profiles::Profiles;
use super::proxies::{self, PROXIES};
use crate::error::{AdaptiveError, Result};
use serde::Serialize;

/// What the profiles of one kernel speak of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelVote {
    /// The variant.
    pub variant: String,
    /// Its kernel.
    pub kernel: String,
    /// Mean intensity of each proxy over the inputs, in the order of [`PROXIES`].
    pub intensities: Vec<f64>,
    /// The proxies that won.
    pub proxies: Vec<&'static str>,
}

/// What was selected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profiled {
    /// The proxies that the variants are like.
    pub proxies: Vec<&'static str>,
    /// Places of the features of machines that these stand for.
    pub features: Vec<usize>,
    /// How that came about.
    pub kernels: Vec<KernelVote>,
}

/// The proxies of the greatest intensity, as a whole number; none where all are 0.
fn most_intense(intensities: &[f64]) -> Vec<bool> {
    let most = intensities.iter().map(|own| own.round()).fold(0.0, f64::max);
    intensities.iter().map(|own| most > 0.0 && own.round() == most).collect()
}

/// Those that most inputs name; where none has more than half of the inputs, those that the most name.
fn majority(named: &[Vec<bool>]) -> Vec<bool> {
    let votes: Vec<usize> = (0..PROXIES.len()).map(|at| named.iter().filter(|own| own[at]).count()).collect();
    let most = votes.iter().copied().max().unwrap_or(0);
    let needed = (named.len() / 2 + 1).min(most).max(1);
    votes.into_iter().map(|votes| votes >= needed).collect()
}

/// For each kernel of each variant the proxies that it is most like, by a vote of its inputs.
///
/// # Errors
/// Profiles of the proxies with other metrics than those of the variants, or without models.
pub fn votes(variants: &Profiles, proxies: &Profiles) -> Result<Vec<KernelVote>> {
    let places: Option<Vec<usize>> = proxies.metrics.iter().map(|name| variants.metric(name)).collect();
    let places = places.ok_or_else(|| {
        let reason = format!(
            "the profiles of variants have the metrics {}, and those of proxies {}",
            variants.metrics.join(", "),
            proxies.metrics.join(", ")
        );
        AdaptiveError::request(reason, "profile both in the same way")
    })?;
    let models = proxies::models(proxies)?;
    let mut kernels: Vec<(&str, &str)> = Vec::new();
    for row in &variants.rows {
        if !kernels.contains(&(&row.variant, &row.kernel)) {
            kernels.push((&row.variant, &row.kernel));
        }
    }
    let of_kernel = |(variant, kernel): (&str, &str)| {
        let inputs = variants.rows.iter().filter(|row| row.variant == variant && row.kernel == kernel);
        let predicted: Vec<Vec<f64>> = inputs
            .map(|row| {
                let metrics: Vec<f64> = places.iter().map(|&at| row.metrics[at]).collect();
                models.iter().map(|model| model.intensity(&metrics)).collect()
            })
            .collect();
        let named: Vec<Vec<bool>> = predicted.iter().map(|own| most_intense(own)).collect();
        let won = majority(&named);
        let mean =
            |at: usize| predicted.iter().map(|own| own[at]).sum::<f64>() / predicted.len().max(1) as f64;
        KernelVote {
            variant: variant.to_owned(),
            kernel: kernel.to_owned(),
            intensities: (0..PROXIES.len()).map(mean).collect(),
            proxies: PROXIES.iter().zip(won).filter(|(_, won)| *won).map(|(proxy, _)| proxy.name).collect(),
        }
    };
    Ok(kernels.into_iter().map(of_kernel).collect())
}

/// Selects features of machines by the profiles that a fleet names.
///
/// # Errors
/// No profiles, or none that are like any proxy; winners that stand for no feature of the fleet.
pub fn select_by_profiles(fleet: &Fleet) -> Result<Profiled> {
    let Some(sources) = &fleet.profiles else {
        return Err(AdaptiveError::request(
            format!("the fleet of `{}` names no profiles", fleet.name),
            "name them: `[profiles]` with `variants = FILE`, or select without them (--dfs cv)",
        ));
    };
    let kernels = votes(&sources.variants, &sources.proxies)?;
    let won = |name: &str| kernels.iter().any(|kernel| kernel.proxies.contains(&name));
    let winners: Vec<usize> = (0..PROXIES.len()).filter(|&at| won(PROXIES[at].name)).collect();
    if winners.is_empty() {
        return Err(AdaptiveError::infeasible(
            "the variants are like none of the proxies",
            "select without profiles (--dfs cv)",
        ));
    }
    let stands = |feature: &String| winners.iter().any(|&at| sources.features[at].contains(feature));
    let features: Vec<usize> =
        (0..fleet.features.len()).filter(|&feature| stands(&fleet.features[feature])).collect();
    let proxies: Vec<&'static str> = winners.iter().map(|&at| PROXIES[at].name).collect();
    if features.is_empty() {
        return Err(AdaptiveError::request(
            format!("no feature of the machines stands for {}", proxies.join(", ")),
            "name those that do, as in `[profiles.features]` with `mem-bw = [\"gbps\"]`",
        ));
    }
    Ok(Profiled { proxies, features, kernels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_intense_and_the_vote() {
        assert_eq!(most_intense(&[1.4, 0.0, 0.0, 1.2, 0.2]), [true, false, false, true, false]);
        assert_eq!(most_intense(&[0.4, 0.0, 0.0, 0.2, 0.2]), [false; 5]);
        let named = |at: &[usize]| (0..5).map(|own| at.contains(&own)).collect::<Vec<_>>();
        assert_eq!(majority(&[named(&[0, 3]), named(&[3]), named(&[4])]), named(&[3]));
        // No majority: the most frequent ones.
        assert_eq!(majority(&[named(&[0]), named(&[3])]), named(&[0, 3]));
        assert_eq!(majority(&[named(&[])]), named(&[]));
    }
}
