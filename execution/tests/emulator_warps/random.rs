//! Random programs of three warps: the emulator reports a race in whatever order it runs them if and only if two
//! accesses are not ordered, by vector clocks of all threads over all accesses, kept without any economy.

use super::{Hand, list};
use execution::emulator::{Schedule, ThreadOrder, WarpPacing};
use execution::grid::{ProgramData, ValuesMut};
use execution::layout::Layout;
use polyhedral::program::FieldId;
use proptest::prelude::*;
use std::sync::LazyLock;

const WARPS: usize = 3;
const THREADS: usize = 32 * WARPS;
/// Numbers of a warp's program.
const LENGTH: usize = 400;

static HAND: LazyLock<Hand> =
    LazyLock::new(|| Hand::new(include_str!("random.cuh"), (WARPS * LENGTH) as i64, THREADS as u32, 272));

/// An instruction of a warp.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Left out where it is a race, unless it is `careless`.
    Access {
        lanes: (usize, usize),
        cell: usize,
        writes: bool,
        own: bool,
        careless: bool,
    },
    Meet(usize),
    Post,
    Wait {
        counter: usize,
        back: usize,
    },
    Barrier,
    Shuffle(usize),
    /// All warps but this one.
    Named(usize),
}

fn step() -> impl Strategy<Value = Step> {
    /* Few threads and cells, so that accesses meet; some by all lanes, each its own cell. */
    let lanes = prop_oneof![
        2 => Just(((0, 31), true)),
        6 => prop::sample::select(vec![0, 9, 31]).prop_map(|lane| ((lane, lane), false)),
        1 => Just(((8, 9), false)),
    ];
    prop_oneof![
        9 => (lanes, 0usize..2, any::<bool>(), prop::bool::weighted(0.1)).prop_map(
            |((lanes, own), cell, writes, careless)| Step::Access { lanes, cell: 32 * cell, writes, own, careless }
        ),
        2 => (0usize..32).prop_map(|split| Step::Meet(split / 8 * 8)),
        3 => Just(Step::Post),
        4 => (0..WARPS, 0usize..2).prop_map(|(counter, back)| Step::Wait { counter, back }),
        1 => prop_oneof![Just(Step::Barrier), (0usize..32).prop_map(Step::Shuffle), (0..WARPS).prop_map(Step::Named)],
    ]
}

/// What each thread knows of each, and what was done.
struct Model {
    clocks: Vec<[usize; THREADS]>,
    done: [usize; THREADS],
    /// Thread, its how manieth access, cell, whether it wrote.
    accesses: Vec<(usize, usize, usize, bool)>,
    posts: [Vec<[usize; THREADS]>; WARPS],
    races: bool,
    programs: [Vec<f32>; WARPS],
}

impl Model {
    fn is_race(&self, thread: usize, cell: usize, writes: bool) -> bool {
        self.accesses.iter().any(|&(other, number, its_cell, wrote)| {
            its_cell == cell && (writes || wrote) && other != thread && self.clocks[thread][other] < number
        })
    }

    fn access(&mut self, thread: usize, cell: usize, writes: bool) {
        self.races |= self.is_race(thread, cell, writes);
        self.done[thread] += 1;
        self.accesses.push((thread, self.done[thread], cell, writes));
    }

    fn learn(clock: &mut [usize; THREADS], other: &[usize; THREADS]) {
        clock.iter_mut().zip(other).for_each(|(known, &more)| *known = (*known).max(more));
    }

    fn meet(&mut self, threads: &[usize]) {
        let mut joined = [0; THREADS];
        for &thread in threads {
            self.clocks[thread][thread] = self.done[thread];
            Self::learn(&mut joined, &self.clocks[thread]);
        }
        threads.iter().for_each(|&thread| self.clocks[thread] = joined);
    }

    /// The steps in this order are one execution, so that no wait of any other one lasts for ever.
    fn new(steps: &[(usize, Step)]) -> Model {
        let mut model = Model {
            clocks: vec![[0; THREADS]; THREADS],
            done: [0; THREADS],
            accesses: Vec::new(),
            posts: Default::default(),
            races: false,
            programs: Default::default(),
        };
        let all: Vec<usize> = (0..THREADS).collect();
        for &(warp, step) in steps {
            let lanes = |warp: usize| 32 * warp..32 * (warp + 1);
            let own: Vec<usize> = lanes(warp).collect();
            match step {
                Step::Access { lanes: (first, last), cell, writes, own: each, careless } => {
                    let cell_of = |lane: usize| cell + if each { lane } else { 0 };
                    let lanes = first..=last;
                    let races = (last > first && !each && writes)
                        || lanes.clone().any(|lane| model.is_race(32 * warp + lane, cell_of(lane), writes));
                    if races && !careless {
                        continue;
                    }
                    lanes.for_each(|lane| model.access(32 * warp + lane, cell_of(lane), writes));
                    model.tell(warp, [1, first, last, cell, writes.into(), each.into()]);
                }
                Step::Meet(split) => {
                    model.meet(&own[..split]);
                    model.meet(&own[split..]);
                    model.tell(warp, [2, split, 0, 0, 0, 0]);
                }
                Step::Post => {
                    model.meet(&own);
                    let clock = model.clocks[32 * warp];
                    model.posts[warp].push(clock);
                    model.tell(warp, [3, warp, model.posts[warp].len(), 0, 0, 0]);
                }
                Step::Wait { counter, back } => {
                    let Some(value) = model.posts[counter].len().checked_sub(back) else { continue };
                    if value > 0 {
                        let clock = model.posts[counter][value - 1];
                        own.iter().for_each(|&thread| Self::learn(&mut model.clocks[thread], &clock));
                    }
                    model.meet(&own);
                    model.tell(warp, [4, counter, value, 0, 0, 0]);
                }
                Step::Barrier => {
                    model.meet(&all);
                    (0..WARPS).for_each(|warp| model.tell(warp, [5, 0, 0, 0, 0, 0]));
                }
                Step::Shuffle(mask) => model.tell(warp, [6, mask, 0, 0, 0, 0]),
                Step::Named(without) => {
                    let others: Vec<usize> = (0..WARPS).filter(|&warp| warp != without).collect();
                    model.meet(&others.iter().flat_map(|&warp| lanes(warp)).collect::<Vec<_>>());
                    others.iter().for_each(|&warp| model.tell(warp, [7, without, 0, 0, 0, 0]));
                }
            }
        }
        model
    }

    fn tell(&mut self, warp: usize, instruction: [usize; 6]) {
        self.programs[warp].extend(instruction.map(|number| number as f32));
    }
}

/// Whether the emulator finds a race.
fn races(model: &Model, schedule: Schedule) -> bool {
    let program = &*HAND.plan.program;
    let layout = Layout::dense(program, &[(WARPS * LENGTH) as i64]).unwrap();
    let mut data = ProgramData::zeroed_with(program, layout).unwrap();
    if let ValuesMut::F32(values) = data.level_mut(program, FieldId(0), 0) {
        for (warp, numbers) in model.programs.iter().enumerate() {
            values[warp * LENGTH..][..numbers.len()].copy_from_slice(numbers);
        }
    }
    let report = HAND.emulator.run(&[0.0], &mut data, 1, schedule).unwrap();
    let races = |violation: &_| matches!(violation, super::ViolationKind::SharedRace);
    assert!(report.kinds().iter().all(races), "{}", list(&report));
    !report.is_clean()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_race_is_reported_if_and_only_if_nothing_orders_it(
        steps in prop::collection::vec((0..WARPS, step()), 1..60),
        seed in any::<u64>(),
        pacing in prop::sample::select(vec![WarpPacing::FirstAhead, WarpPacing::LastAhead, WarpPacing::Random]),
    ) {
        let model = Model::new(&steps);
        let order = ThreadOrder::Shuffled(seed);
        prop_assert_eq!(races(&model, Schedule { order, pacing }), model.races);
    }
}
