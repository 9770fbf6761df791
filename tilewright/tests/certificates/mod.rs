//! Certificates of searches on random machines: accepted as they are and with weaker bounds, rejected, hashed anew, with
//! anything that is not true.

#![allow(clippy::unwrap_used)]

use certificates::{Against, Certificate, Rejected, TileBox, check};
use cost_models::gpu::TimeModel;
use cost_models::machine::{Facts, Machine};
use hhc_codegen::strategy;
use optimizer::{Family, Method, Objective, Request, tune};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tilewright::certified::certify;
use tilewright::gpu_model::GpuModel;

/// A GPU like a shipped one, with small memories.
fn machine() -> impl Strategy<Value = Machine> {
    let base = select(vec!["k40c", "gtx980", "v100", "a100", "h100"]);
    let sizes = (1..24_i64, select(vec![64, 128, 192]), 2..12_i64, 1..4_i64, 1..6_i64);
    let constants = prop::array::uniform4(0.2..5.0);
    (base, sizes, constants, 64..300_i64).prop_map(
        |(base, (n_sm, n_v, kb, more, blocks), factors, threads)| {
            let mut machine = cost_models::machine::shipped(base).unwrap().unwrap();
            let Facts::Gpu(facts) = &mut machine.facts else { unreachable!() };
            (facts.n_sm, facts.n_v, facts.blocks_per_sm) = (n_sm, n_v, blocks);
            (facts.shared_per_block_kb, facts.m_sm_kb) = (kb as f64, (kb * more + 1) as f64);
            facts.shared_reserved_kb = facts.shared_reserved_kb.min(1.0);
            facts.threads_per_block = threads / 32 * 32;
            let calibration = machine.calibration.as_mut().unwrap();
            calibration.l_s_per_word.value *= factors[0];
            calibration.tau_sync_s.value *= factors[1];
            calibration.t_sync_s.value *= factors[2];
            let energy = calibration.energy.as_mut().unwrap();
            energy.p_static_w *= factors[3];
            machine
        },
    )
}

fn rejected(certificate: Certificate) -> Rejected {
    check(&certificate.hashed(), &Against::default()).unwrap_err()
}

/// A tile that fits, of a box.
fn tile_in(request: &Request<'_>, families: &[Family], own: &TileBox) -> Option<f64> {
    let TileBox(family, ks, [a, b, c, d, e, f], _) = *own;
    let family = &families[family];
    for (i0, i1, i2) in (a..=b.min(a + 9))
        .flat_map(|i| (c..=d.min(c + 9)).flat_map(move |j| (e..=f.min(e + 3)).map(move |k| (i, j, k))))
    {
        let sizes = [family.axes[0].at(i0), family.axes[1].at(i1), family.axes[2].at(i2)];
        if family.fits_memory(sizes, ks[0], &request.model.hardware)
            && let Some(value) = request.value(family, sizes, ks[0])
        {
            return Some(value);
        }
    }
    None
}

fn cases() -> u32 {
    if std::env::var_os("TILEWRIGHT_ALL").is_some() { 200 } else { 24 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn the_checker_accepts_what_is_true_and_nothing_else(
        machine in machine(),
        spec in select(vec!["heat1d", "jacobi2d", "heat2d", "asym2d", "fdtd2d", "gradient2d", "heat3d", "varcoef3d"]),
        extent in 20..90_i64,
        steps in 1..20_i64,
        objective in select(vec![Objective::Time, Objective::Energy, Objective::Edp, Objective::Power]),
        counted: bool,
        one: bool,
        sure: bool,
        at: Index,
        weaker in 0.0..1.0_f64,
    ) {
        let stencil = tilewright::load(spec).unwrap();
        let dimension = stencil.program.dimension();
        let size = [vec![40 * extent], vec![2 * extent, extent + 7], vec![extent, extent / 2 + 9, extent]][dimension - 1].clone();
        let form = if counted && objective != Objective::Power { TimeModel::Counted } else { TimeModel::Paper };
        let model = GpuModel::by(form, &stencil, &size, steps, machine.clone()).unwrap();
        let mut request = model.request(objective, "auto").unwrap();
        if one {
            let only = request.strategies[at.index(request.strategies.len())];
            request.strategies = vec![only];
        }
        request.strategies.retain(|own| own.takes(&model.problem.program, &model.problem.cone).is_ok());
        request.most_height = Some(if dimension == 1 { 6 } else { 8 });
        request.sure_of_registers = sure;
        let Ok((tuned, certificate)) = certify(&model, &request) else {
            // Nothing fits; the search says so, too.
            prop_assert!(tune(&request, Method::Exact).is_err());
            return Ok(());
        };
        let value = tuned.certificate.value;
        prop_assert_eq!(tune(&request, Method::Exhaustive).unwrap().certificate.value, value);
        let against = Against { machine: Some(&machine), program: Some(&stencil.program), ..Against::default() };
        let accepted = check(&certificate, &against);
        prop_assert!(accepted.is_ok(), "{:?}", accepted);
        let parts = accepted.unwrap().parts;
        prop_assert!(parts <= 10 * (certificate.boxes.len() + certificate.tiles.len()) as u64, "{}", parts);
        let again = Certificate::from_json(&certificate.to_json()).unwrap();
        prop_assert_eq!(&again, &certificate);

        // Weaker, and true.
        let mut weak = certificate.clone();
        weak.boxes.iter_mut().filter_map(|own| own.3.as_mut()).for_each(|bound| *bound = value + weaker * (*bound - value));
        let result = check(&weak.hashed(), &against);
        prop_assert!(result.is_ok(), "{:?}", result);

        // Changed, and not hashed anew.
        let mut changed = certificate.clone();
        changed.claim.best.value *= 1.0 + weaker;
        changed.claim.bound = 0.0;
        prop_assert_eq!(check(&changed, &against), Err(Rejected::Hash));

        // A bound that some tile of the box does not keep, and a box of which it is said that nothing fits.
        let families = request.families();
        let known = certificate.boxes.iter().enumerate().filter(|(_, own)| own.3.is_some());
        let known: Vec<(usize, f64)> =
            known.filter_map(|(number, own)| Some((number, tile_in(&request, &families, own)?))).collect();
        if !known.is_empty() {
            let (number, cost) = known[at.index(known.len())];
            for wrong in [Some(cost * (1.0 + 1e-3) + f64::MIN_POSITIVE), None] {
                let mut raised = certificate.clone();
                raised.boxes[number].3 = wrong;
                let reason = rejected(raised);
                prop_assert!(matches!(reason, Rejected::Cheaper { .. }), "{}", reason);
            }
        }

        // A box, or a tile, less; a box that is smaller by one.
        let mut less = certificate.clone();
        if at.index(2) == 0 && !less.boxes.is_empty() {
            less.boxes.swap_remove(at.index(less.boxes.len()));
        } else {
            less.tiles.swap_remove(at.index(less.tiles.len()));
        }
        let reason = rejected(less);
        prop_assert!(matches!(reason, Rejected::Gap(_)), "{}", reason);
        let wide: Vec<usize> = (0..certificate.boxes.len())
            .filter(|&number| certificate.boxes[number].2[0] < certificate.boxes[number].2[1])
            .collect();
        if !wide.is_empty() {
            let mut gap = certificate.clone();
            gap.boxes[wide[at.index(wide.len())]].2[0] += 1;
            let reason = rejected(gap);
            prop_assert!(matches!(reason, Rejected::Gap(_)), "{}", reason);
        }

        // A value that is none; another tile than the best; a family less.
        let mut cheaper = certificate.clone();
        cheaper.claim.best.value *= 0.999;
        cheaper.claim.bound = cheaper.claim.best.value;
        let reason = rejected(cheaper);
        prop_assert!(matches!(reason, Rejected::Value { .. }), "{}", reason);
        let worse = certificate.tiles.iter().find(|own| own.3.is_some_and(|own| own > value * (1.0 + 1e-6)));
        if let Some(own) = worse {
            let family = &families[own.0];
            let sizes = [0, 1, 2].map(|d| family.axes[d].at(own.2[d]));
            let mut other = certificate.clone();
            let best = &mut other.claim.best;
            (best.strategy, best.tile) = (family.strategy.id().to_owned(), family.tile(sizes).to_string());
            (best.k, best.value) = (own.1, own.3.unwrap());
            other.claim.bound = best.value;
            other.tiles.retain(|tile| tile.3 != Some(value));
            let reason = rejected(other);
            prop_assert!(matches!(reason, Rejected::Cheaper { .. } | Rejected::Gap(_)), "{}", reason);
        }

        // Another machine: named, or in the certificate.
        let mut faster = machine.clone();
        let constants = faster.calibration.as_mut().unwrap();
        constants.t_sync_s.value *= 1.0 + weaker.max(1e-3);
        let other = check(&certificate, &Against { machine: Some(&faster), ..Against::default() });
        prop_assert!(matches!(other, Err(Rejected::Claim(_))));
        let mut moved = certificate.clone();
        moved.claim.machine = faster.to_toml();
        let with_named = check(&moved.clone().hashed(), &against);
        prop_assert!(matches!(with_named, Err(Rejected::Claim(_))));
        if objective == Objective::Time {
            let reason = rejected(moved);
            prop_assert!(matches!(reason, Rejected::Value { .. }), "{}", reason);
        }
    }
}

/// What cannot be checked is not certified.
#[test]
fn no_certificate_without_a_checker() {
    let stencil = tilewright::load("heat2d").unwrap();
    let cpu = tilewright::machines::machine("zen4").unwrap();
    let model = tilewright::Model::new(&stencil, &[100, 100], 10, cpu, None).unwrap();
    let error = tilewright::certified::certified(&model, "auto", Objective::Time).unwrap_err();
    assert!(error.to_string().contains("for GPUs"), "{error}");
    // Of strategies without closed forms, and of those with a list of tiles, each tile is counted.
    let gpu = tilewright::machines::machine("v100").unwrap();
    let model = GpuModel::new(&stencil, &[64, 64], 4, gpu).unwrap();
    for name in ["pipeline-toy", "overlapped"] {
        let mut request = model.request(Objective::Time, "hhc").unwrap();
        request.strategies = vec![strategy::by_name(name).unwrap()];
        let (_, certificate) = certify(&model, &request).unwrap();
        assert!(check(&certificate, &Against::default()).is_ok(), "{name}");
    }
}
