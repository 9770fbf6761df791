//! An interrupted sweep goes on where it was and ends with the same bits.

use crate::{SMALL, setting};
use optimizer::codesign::journal::Journal;
use optimizer::codesign::sweep::{Control, Swept, Verdict, sweep};
use optimizer::codesign::{CodesignError, run};
use std::sync::atomic::{AtomicUsize, Ordering};

fn bits(swept: &Swept) -> Vec<u64> {
    let mut bits = vec![swept.effort.candidates, swept.effort.evaluated];
    for verdict in &swept.verdicts {
        if let Verdict::Evaluated(outcomes) = verdict {
            let each =
                outcomes.iter().flatten().flat_map(|o| [o.seconds.to_bits(), o.joules.to_bits(), o.k as u64]);
            bits.extend(each);
        }
    }
    bits
}

#[test]
fn an_interrupted_sweep_resumes_to_the_same_bits() {
    let setting = setting(SMALL);
    let budget = setting.workload.budget.area_mm2;
    let whole = sweep(&setting, budget, &Control::NONE).unwrap();
    assert!(whole.groups.0 >= 3 && whole.groups.1 == 0, "{:?}", whole.groups);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep.journal");
    let asked = AtomicUsize::new(0);
    let journal = Journal::open(&path, "this").unwrap();
    let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 1;
    let control = Control { stop: &stop, journal: Some(&journal), ..Control::NONE };
    assert!(matches!(sweep(&setting, budget, &control), Err(CodesignError::Stopped)));
    drop(journal);

    // As if the machine had gone in the middle of a line.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"group\": 2, \"verdi");
    std::fs::write(&path, text).unwrap();

    let journal = Journal::open(&path, "this").unwrap();
    assert_eq!(journal.groups().len(), 1);
    let resumed = sweep(&setting, budget, &Control { journal: Some(&journal), ..Control::NONE }).unwrap();
    assert_eq!(resumed.groups.1, 1);
    assert_eq!(bits(&resumed), bits(&whole));
    assert_eq!(resumed.verdicts, whole.verdicts);

    // Everything is in the journal now; one of something else is begun anew.
    assert_eq!(Journal::open(&path, "this").unwrap().groups().len(), whole.groups.0);
    assert_eq!(Journal::open(&path, "that").unwrap().groups().len(), 0);
}

#[test]
fn pruned_designs_are_on_no_front() {
    let many = SMALL.replace("[32, 96, 160]", "{ from = 32, to = 480, step = 64 }");
    let all = setting(&many);
    let front = setting(&many.replace("objective = \"gflops\"", "objective = \"gflops\"\nkeep = \"front\""));
    let (all, front) = (run(&all, &Control::NONE).unwrap(), run(&front, &Control::NONE).unwrap());
    assert!(front.certificate.designs_pruned > 0, "{:?}", front.certificate);
    assert_eq!(all.best().design, front.best().design);
    let designs = |study: &optimizer::codesign::study::Study, indices: &[usize]| {
        indices.iter().map(|&index| study.designs[index].design).collect::<Vec<_>>()
    };
    assert_eq!(designs(&all, &all.fronts.all), designs(&front, &front.fronts.all));
    assert_eq!(designs(&all, &all.fronts.area_gflops), designs(&front, &front.fronts.area_gflops));
}
