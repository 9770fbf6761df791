//! Constants of a stencil such that a known design reaches its known rate.
//!
//! The model is homogeneous in its constants: with `C_iter`, `L`, `tau_sync` and `T_sync` all times `f`, every time, and so
//! every optimum, is times `f`, and the best tiles stay the best. One known rate can determine one number, and this is
//! the one that changes nothing else: the balance of computing, moving, waiting and launching stays that of the base
//! machine. `f = (rate with the base machine's constants) / (known rate)`, exactly.

use super::CodesignError;
use super::inner::Effort;
use super::ranked::OnDesign;
use super::setting::{Setting, fitting};
use super::workload::{CIter, Objective, Workload};

impl Setting {
    /// Lists candidates and fits constants.
    ///
    /// # Errors
    /// [`CodesignError::Analysis`] where a stencil cannot be tiled, [`CodesignError::Reference`] where a reference rate
    /// cannot be reached, [`CodesignError::NoTile`] where no tile of a stencil fits any design.
    pub fn new(workload: Workload) -> Result<Setting, CodesignError> {
        let mut setting = Setting::unfitted(workload)?;
        fit(&mut setting)?;
        Ok(setting)
    }
}

/// Fits all stencils with a reference.
///
/// # Errors
/// [`CodesignError::Reference`] where no tile of the stencil fits the reference design.
fn fit(setting: &mut Setting) -> Result<(), CodesignError> {
    for index in 0..setting.subjects.len() {
        let CIter::Fitted(reference) = &setting.subjects[index].load.c_iter else { continue };
        let (design, target) = (reference.design, reference.gflops);
        let rate = |setting: &Setting| {
            let subject = &setting.subjects[index];
            let tables = setting.tables(subject, &setting.key(&design));
            let ranked = tables.ranked();
            let fitting = fitting(&ranked, &setting.hardware(&design));
            let on = OnDesign { power_w: None, ..setting.on(&design) };
            let outcomes = tables.best(&ranked, &fitting, Objective::Time, &on, &mut Effort::default())?;
            let inverse = outcomes.iter().zip(&subject.flops).map(|(outcome, flops)| outcome.seconds / flops);
            Some(outcomes.len() as f64 / inverse.sum::<f64>() / 1e9)
        };
        let failed = || CodesignError::Reference {
            stencil: setting.subjects[index].load.name.clone(),
            design: Box::new(design),
        };
        let base_gflops = rate(setting).ok_or_else(failed)?;
        let factor = base_gflops / target;
        let subject = &mut setting.subjects[index];
        let (time, fit) = (&mut subject.time, &mut subject.fit);
        let constants = [
            (&mut time.c_iter_s, &mut fit.c_iter_s),
            (&mut time.l_s_per_word, &mut fit.l_s_per_word),
            (&mut time.tau_sync_s, &mut fit.tau_sync_s),
            (&mut time.t_sync_s, &mut fit.t_sync_s),
        ];
        for (constant, reported) in constants {
            *constant *= factor;
            *reported = *constant;
        }
        fit.factor = factor;
        fit.design = Some(design);
        fit.stated_gflops = Some(target);
        let model_gflops = rate(setting);
        setting.subjects[index].fit.model_gflops = model_gflops;
    }
    Ok(())
}
