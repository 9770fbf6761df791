//! An interrupted sweep goes on where it was and ends with the same bits.

use crate::{SMALL, setting};
use optimizer::codesign::journal::Journal;
use optimizer::codesign::part::Part;
use optimizer::codesign::sweep::{Control, Swept, Verdict, share, sweep};
use optimizer::codesign::{CodesignError, run};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
    let journal = Journal::open(folder.path(), Part::ALONE, "this").unwrap();
    let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 1;
    let control = Control { stop: &stop, journal: Some(&journal), ..Control::NONE };
    assert!(matches!(sweep(&setting, budget, &control), Err(CodesignError::Stopped)));
    drop(journal);

    // As if the machine had gone in the middle of a line.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"record\":2,\"sum\":\"01");
    std::fs::write(&path, text).unwrap();

    let journal = Journal::open(folder.path(), Part::ALONE, "this").unwrap();
    assert_eq!(journal.groups().len(), 1);
    let resumed = sweep(&setting, budget, &Control { journal: Some(&journal), ..Control::NONE }).unwrap();
    assert_eq!(resumed.groups.1, 1);
    assert_eq!(bits(&resumed), bits(&whole));
    assert_eq!(resumed.verdicts, whole.verdicts);

    // Everything is in the journal now; one of something else is begun anew.
    assert_eq!(Journal::open(folder.path(), Part::ALONE, "this").unwrap().groups().len(), whole.groups.0);
    assert_eq!(Journal::open(folder.path(), Part::ALONE, "that").unwrap().groups().len(), 0);
}

/// Bytes changed anywhere in a journal, and lines lost, repeated, exchanged or of another journal: the result has the same
/// bits, and what is not used is told.
#[test]
fn a_damaged_journal_is_told_and_computed_again() {
    let setting = setting(SMALL);
    let budget = setting.workload.budget.area_mm2;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep.journal");
    let resume = |identity: &str| {
        let journal = Journal::open(folder.path(), Part::ALONE, identity).unwrap();
        let damaged = !journal.damage().is_empty();
        let swept = sweep(&setting, budget, &Control { journal: Some(&journal), ..Control::NONE }).unwrap();
        (bits(&swept), swept.groups.1, damaged)
    };
    let (whole, _, damaged) = resume("that");
    assert!(!damaged);
    let other = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    resume("this");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let of_other = other.split_inclusive('\n').nth(1).unwrap();
    let mut cases: Vec<Vec<u8>> = [
        vec![lines[0], lines[2], lines[1], lines[3]],
        vec![lines[0], lines[2], lines[3]],
        vec![lines[0], lines[1], lines[1], lines[2], lines[3]],
        vec![lines[0], of_other, lines[2], lines[3]],
        vec![lines[1], lines[2], lines[3]],
    ]
    .iter()
    .map(|lines| lines.concat().into_bytes())
    .collect();
    // The last line's end is left out: without it the line counts as one that was being written.
    for case in 0..6 {
        let mut bytes = text.clone().into_bytes();
        bytes[(case * 7919 + 3) % (text.len() - 1)] ^= [1, 2, 4, 0x80][case % 4];
        cases.push(bytes);
    }
    for (case, bytes) in cases.into_iter().enumerate() {
        std::fs::write(&path, &bytes).unwrap();
        let (found, _, damaged) = resume("this");
        assert!(found == whole && damaged, "case {case}: {}", String::from_utf8_lossy(&bytes));
        let mended = Journal::open(folder.path(), Part::ALONE, "this").unwrap();
        assert!(mended.damage().is_empty() && mended.groups().len() == lines.len() - 1, "case {case}");
    }
}

/// Three parts at once, in a folder that all see, and two of which the other one never comes: the bits of one, whether all designs
/// are kept or bounds of one batch exclude designs of the next.
#[test]
fn parts_of_a_sweep_are_the_whole() {
    let many = SMALL.replace("[32, 96, 160]", "{ from = 32, to = 480, step = 64 }");
    let front = many.replace("objective = \"gflops\"", "objective = \"gflops\"\nkeep = \"front\"");
    for text in [many, front] {
        let setting = setting(&text);
        let budget = setting.workload.budget.area_mm2;
        let whole = sweep(&setting, budget, &Control::NONE).unwrap();
        let part = |folder: &Path, index: usize, of: usize, patience: Duration| {
            let journal = Journal::open(folder, Part { index, of, patience }, "this").unwrap();
            let control = Control { journal: Some(&journal), ..Control::NONE };
            match index {
                0 => Some((sweep(&setting, budget, &control).unwrap(), journal)),
                _ => {
                    share(&setting, budget, &control).unwrap();
                    None
                }
            }
        };
        for (started, of, patience) in [(3, 3, Duration::from_secs(60)), (1, 2, Duration::ZERO)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path();
            let swept = std::thread::scope(|scope| {
                let part = &part;
                let others: Vec<_> = (1..started)
                    .map(|index| scope.spawn(move || part(path, index, of, patience).is_none()))
                    .collect();
                let first = part(path, 0, of, patience).unwrap();
                assert!(others.into_iter().all(|other| other.join().unwrap()));
                first
            });
            assert_eq!(
                (bits(&swept.0), &swept.0.verdicts),
                (bits(&whole), &whole.verdicts),
                "{started} of {of}"
            );
            swept.1.remove();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "journals stay");
        }
    }
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
