//! Trains support vectors: C-SVC with a radial basis function, features scaled to [-1, 1].

use super::data::Data;
use super::trainer::Trainer;
use crate::classifier::Learned;
use crate::svm::{Svm, scaled};
use libsvm_rs::train::svm_train;
use libsvm_rs::{KernelType, SvmNode, SvmParameter, SvmProblem, SvmType};

/// Powers of two that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// The least, the greatest and the step of the exponent of C.
    pub c: [i32; 3],
    /// The same of gamma.
    pub gamma: [i32; 3],
}

impl Grid {
    /// That of LIBSVM's guide: C = 2^-5 to 2^15, gamma = 2^-15 to 2^3, in steps of 2^2.
    pub const FULL: Grid = Grid { c: [-5, 15, 2], gamma: [-15, 3, 2] };
    /// A quarter of it, for where many machines are trained.
    pub const COARSE: Grid = Grid { c: [-1, 15, 4], gamma: [-9, 3, 4] };

    /// For few inputs that were chosen because a model was not sure of them: what is stiff fits them as well as anything, and
    /// is sure of nothing.
    pub const FEW: Grid = Grid { c: [3, 15, 4], gamma: [-5, 3, 2] };

    fn points(self) -> Vec<(f64, f64)> {
        let range = |[from, to, step]: [i32; 3]| (from..=to).step_by(step.max(1) as usize);
        let each = range(self.c).flat_map(|c| range(self.gamma).map(move |gamma| (c, gamma)));
        each.map(|(c, gamma)| (f64::from(c).exp2(), f64::from(gamma).exp2())).collect()
    }
}

/// Trains support vectors.
#[derive(Debug, Clone, Copy)]
pub struct SvmTrainer {
    /// What is tried.
    pub grid: Grid,
}

/// Memory for the kernel, in MiB.
const CACHE: f64 = 64.0;

impl Trainer for SvmTrainer {
    fn name(&self) -> &'static str {
        "svm"
    }

    fn settings(&self, _: &Data) -> usize {
        self.grid.points().len()
    }

    fn fit(&self, data: &Data, rows: &[usize], setting: usize) -> Learned {
        let points = self.grid.points();
        let (c, gamma) = points[setting.min(points.len() - 1)];
        Learned::Svm(train_svm(data, rows, c, gamma))
    }
}

/// Trains with these parameters on some rows, of which there is at least one.
pub fn train_svm(data: &Data, rows: &[usize], c: f64, gamma: f64) -> Svm {
    let features = data.points.first().map_or(0, Vec::len);
    let range = |at: usize| {
        rows.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &row| {
            [low.min(data.points[row][at]), high.max(data.points[row][at])]
        })
    };
    let ranges: Vec<[f64; 2]> = (0..features).map(range).collect();
    let scale = |row: &usize| -> Vec<f64> {
        data.points[*row].iter().zip(&ranges).map(|(&value, &range)| scaled(value, range)).collect()
    };
    let node = |(at, value): (usize, f64)| SvmNode { index: at as i32 + 1, value };
    let problem = SvmProblem {
        labels: rows.iter().map(|&row| data.labels[row] as f64).collect(),
        instances: rows.iter().map(|row| scale(row).into_iter().enumerate().map(node).collect()).collect(),
    };
    let parameter = SvmParameter {
        svm_type: SvmType::CSvc,
        kernel_type: KernelType::Rbf,
        c,
        gamma,
        cache_size: CACHE,
        ..SvmParameter::default()
    };
    // It would tell how many iterations it took.
    libsvm_rs::set_quiet(true);
    let model = svm_train(&problem, &parameter);
    let dense = |nodes: &Vec<SvmNode>| {
        let mut vector = vec![0.0; features];
        nodes.iter().for_each(|node| vector[node.index as usize - 1] = node.value);
        vector
    };
    let classes: Vec<usize> = model.label.iter().map(|&label| label as usize).collect();
    let coefficients = |at: usize| -> Vec<f64> { model.sv_coef.iter().map(|row| row[at]).collect() };
    Svm {
        c,
        gamma,
        ranges,
        counts: if classes.len() == 1 { vec![0] } else { model.n_sv.clone() },
        vectors: if classes.len() == 1 { Vec::new() } else { model.sv.iter().map(dense).collect() },
        coefficients: if classes.len() == 1 {
            Vec::new()
        } else {
            (0..model.sv.len()).map(coefficients).collect()
        },
        rho: if classes.len() == 1 { Vec::new() } else { model.rho.clone() },
        classes,
    }
}
