//! The first rank's side of a contest that ranks hold together ([`Company`]); by itself, it is its only rank.

use super::Contest;
use super::company::{Company, FAILED, Word, beside_others, failed_elsewhere};
use super::ground::Ground;
use crate::error::Result;
use execution::tiled::Tiled;
use toolchain::interference::Watch;

impl Contest<'_> {
    /// How many ranks take part.
    pub fn ranks(&self) -> usize {
        self.company.map_or(1, Company::ranks)
    }

    /// What each rank does: it has done so on all of them.
    fn each<T>(&self, word: impl FnOnce() -> Word, own: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(company) = self.company else { return own() };
        company.told(&word().text())?;
        let own = own();
        let failed = company.greatest(i32::from(own.is_err()))?;
        let own = own?;
        if failed == 0 { Ok(own) } else { Err(failed_elsewhere()) }
    }

    /// Has the other ranks load what this one has compiled.
    pub(super) fn share(&self, tiled: &[Tiled]) -> Result<()> {
        let function = |one: &Tiled| {
            let native = &one.native;
            (native.library().path().to_string_lossy().into_owned(), native.symbol().to_owned())
        };
        self.each(|| Word::Load(tiled.iter().map(function).collect()), || Ok(()))
    }

    /// A grid for each rank.
    pub(super) fn ground(&self, size: &[i64], [steps, calls]: [i64; 2]) -> Result<Ground> {
        let program = &self.stencil.program;
        self.each(|| Word::Grid(size.to_vec(), [steps, calls]), || Ground::new(program, size, [steps, calls]))
    }

    /// The seconds of a run on all ranks at once: those of the slowest.
    pub(super) fn timed(&self, entrant: usize, run: impl FnOnce() -> Result<f64>) -> Result<f64> {
        let Some(company) = self.company else { return run() };
        company.told(&Word::Run(entrant).text())?;
        let (own, slowest) = beside_others(company, run)?;
        own?;
        if slowest == FAILED { Err(failed_elsewhere()) } else { Ok(f64::from(slowest) * 1e-6) }
    }

    /// The part of the machine's time that others used than those who take part.
    pub(super) fn strangers(&self, watch: &Watch) -> Result<Option<f64>> {
        let Some(company) = self.company else { return Ok(watch.others()) };
        company.told(&Word::Used.text())?;
        let ticks = company.sum(0)?;
        Ok(watch.others_than(u64::try_from(ticks).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::company::{accompany, dismiss};
    use crate::cpu_model::{CpuModel, usual_machine};
    use crate::error::Error;
    use crate::load::Stencil;
    use execution::tiled;
    use hhc_codegen::strategy;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, Mutex};

    /// Two ranks in one process.
    struct Both {
        barrier: Barrier,
        text: Mutex<String>,
        numbers: Mutex<[i32; 2]>,
        runs: AtomicUsize,
    }

    struct One<'a>(&'a Both, usize);

    impl Both {
        fn new() -> Both {
            let (text, numbers) = (Mutex::default(), Mutex::default());
            Both { barrier: Barrier::new(2), text, numbers, runs: AtomicUsize::new(0) }
        }
    }

    impl One<'_> {
        fn with<T>(&self, give: impl FnOnce(), take: impl FnOnce() -> T) -> T {
            give();
            self.0.barrier.wait();
            let taken = take();
            self.0.barrier.wait();
            taken
        }

        fn numbers(&self, number: i32) -> [i32; 2] {
            self.with(|| self.0.numbers.lock().unwrap()[self.1] = number, || *self.0.numbers.lock().unwrap())
        }
    }

    impl Company for One<'_> {
        fn ranks(&self) -> usize {
            2
        }

        fn told(&self, text: &str) -> Result<String> {
            let give = || {
                if self.1 == 0 {
                    text.clone_into(&mut self.0.text.lock().unwrap());
                }
            };
            Ok(self.with(give, || self.0.text.lock().unwrap().clone()))
        }

        fn greatest(&self, number: i32) -> Result<i32> {
            Ok(self.numbers(number).into_iter().max().unwrap())
        }

        fn sum(&self, number: i32) -> Result<i32> {
            Ok(self.numbers(number).into_iter().sum())
        }

        fn together(&self) -> Result<()> {
            self.0.runs.fetch_add(1, Ordering::SeqCst);
            self.0.barrier.wait();
            Ok(())
        }
    }

    #[test]
    fn words_arrive_as_they_were_said() {
        let function = |object: &str| (object.to_owned(), "heat_invoke".to_owned());
        let words = [
            Word::Load(vec![function("/a b\t/c.so"), function("/d.so")]),
            Word::Load(Vec::new()),
            Word::Grid(vec![5, 600, 7], [16, 3]),
            Word::Run(3),
            Word::Used,
            Word::Over,
        ];
        for word in words {
            assert_eq!(Word::parse(&word.text()).as_ref(), Some(&word));
        }
        for wrong in
            ["", "load\x00/a.so", "run", "run\x00x", "grid\x005x\x004\x001", "grid\x005\x004", "over\x00"]
        {
            assert_eq!(Word::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_slowest_counts() {
        let run = |own: [Option<f64>; 2]| {
            let both = Both::new();
            let one = |rank: usize| {
                let seconds = own[rank].ok_or_else(|| Error::infeasible("no time"));
                beside_others(&One(&both, rank), || seconds).unwrap().1
            };
            std::thread::scope(|scope| {
                let other = scope.spawn(|| one(1));
                [one(0), other.join().unwrap()]
            })
        };
        assert_eq!(run([Some(0.5), Some(2.0)]), [2_000_000; 2]);
        assert_eq!(run([Some(2.0), Some(0.5)]), [2_000_000; 2]);
        assert_eq!(run([Some(5000.0), Some(0.5)]), [FAILED - 1; 2]);
        assert_eq!(run([Some(0.5), None]), [FAILED; 2]);
    }

    #[test]
    fn all_ranks_do_what_the_first_one_does() {
        let stencil = Stencil::of(polyhedral::shipped::load("heat1d").unwrap().into());
        let (size, steps) = ([3000], 20);
        let model = CpuModel::new(&stencil, &size, steps, usual_machine().unwrap(), Some(1)).unwrap();
        let strategy = strategy::preferred();
        let both = Both::new();
        let first = One(&both, 0);
        let contest = Contest {
            model: &model,
            stencil: &stencil,
            strategy,
            all_strategies: false,
            size: &size,
            steps,
            calls: 1,
            threads: 1,
            runs: true,
            patience_s: f64::INFINITY,
            wanted: false,
            company: Some(&first),
        };
        let cone = &model.analysis.cone;
        let tile = strategy.default_tile(&stencil.program, cone, strategy::Target::OpenMp);
        let plan = strategy::plan(strategy, &stencil.program, cone, &tile).unwrap();
        let tiled = tiled::load_all(&[plan], false).unwrap();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| accompany(&One(&both, 1), &stencil.program, 1));
            // Before it has a grid, the other rank has no time, and says so.
            contest.share(&tiled).unwrap();
            let mut ground = Ground::new(&stencil.program, &size, [steps, 2]).unwrap();
            let mut run =
                |number: usize| contest.timed(number, || ground.run(&stencil.program, &tiled[0].native, 1));
            assert!(run(0).unwrap_err().to_string().contains("another rank"));
            contest.ground(&size, [steps, 2]).unwrap();
            assert!(run(0).unwrap() > 0.0);
            assert!(run(1).is_err());
            assert!(contest.ground(&[1 << 50], [steps, 1]).is_err());
            let watch = Watch::start();
            contest.strangers(&watch).unwrap();
            dismiss(&first).unwrap();
            other.join().unwrap().unwrap();
        });
        assert_eq!(both.runs.load(Ordering::SeqCst), 2 * 3);
        assert_eq!(contest.ranks(), 2);
    }
}
