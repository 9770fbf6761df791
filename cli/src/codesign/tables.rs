//! Designs as CSV: one line per design, numbers as they are.

use optimizer::codesign::setting::Setting;
use optimizer::codesign::study::{Study, Weighed};
use std::fmt::Write;
use text_escape::{csv_cell, visible};

/// All designs, or those of some indices.
pub(super) fn designs(setting: &Setting, study: &Study, indices: Option<&[usize]>) -> String {
    let mut text = String::from(
        "design,n_sm,n_v,m_sm_kb,r_vu_kb,l1_kb,l2_kb,area_mm2,vector_units_mm2,registers_mm2,shared_mm2,l1_mm2,l2_mm2,\
         overhead_mm2,memory_share,vector_share,gflops,gflops_per_watt,seconds,joules,watts,cost,on_front,\
         on_area_gflops_front",
    );
    for subject in &setting.subjects {
        // Names are identifiers, or what the file says; neither a comma nor a formula may come of them.
        let name = format!("{}_gflops", visible(&subject.load.name));
        let name = csv_cell(&name);
        let quoted = if name.contains([',', ';', '"']) {
            format!("\"{}\"", name.replace('"', "\"\""))
        } else {
            name.into_owned()
        };
        let _ = write!(text, ",{quoted}");
    }
    text.push('\n');
    let all: Vec<usize> = (0..study.designs.len()).collect();
    for &index in indices.unwrap_or(&all) {
        let weighed = &study.designs[index];
        let on_front = study.fronts.all.contains(&index);
        let on_area_gflops_front = study.fronts.area_gflops.contains(&index);
        let _ = writeln!(
            text,
            "{},{},{on_front},{on_area_gflops_front}{}",
            weighed.design.id(),
            numbers(weighed),
            stencils(weighed)
        );
    }
    text
}

fn numbers(weighed: &Weighed) -> String {
    let Weighed { design, area, all, .. } = weighed;
    let values = [
        design.m_sm_kb,
        design.r_vu_kb,
        design.l1_kb,
        design.l2_kb,
        area.total(),
        area.vector_units,
        area.registers,
        area.shared,
        area.l1,
        area.l2,
        area.overhead,
        area.memory_share(),
        area.vector_share(),
        all.gflops,
        all.gflops_per_watt,
        all.seconds,
        all.joules,
        all.watts(),
        all.cost,
    ];
    let values: Vec<String> = values.iter().map(f64::to_string).collect();
    format!("{},{},{}", design.n_sm, design.n_v, values.join(","))
}

fn stencils(weighed: &Weighed) -> String {
    weighed.stencils.iter().map(|rates| format!(",{}", rates.gflops)).collect()
}
