//! Regression trees against an exhaustive search and against values of scikit-learn; regions, data, Algorithm 2.

use proptest::prelude::*;
use tuner::starchart::accuracy::{GrowthOptions, grow_until, hold_out, median, median_relative_error};
use tuner::starchart::iterative::{IterativeOptions, sample};
use tuner::starchart::{
    Column, ColumnKind, Data, DataOptions, Goal, GrowOptions, Region, Rule, Source, Table, Tree, grow,
    importance, side,
};
use tuner::{Outcome, Parameter, Point, Status, Tried, Value};

fn sse(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// The greatest gain of a split of some rows, by trying every value of every ordered column and every subset of every
/// categorical one.
fn exhaustive(table: &Table, response: &[f64], rows: &[u32], least: usize) -> f64 {
    let all: Vec<f64> = rows.iter().map(|&row| response[row as usize]).collect();
    let mut best = 0.0_f64;
    for column in table.columns() {
        let levels = column.levels().len() as u32;
        let subsets: Vec<u32> = match column.kind() {
            ColumnKind::Categorical => (1..1 << levels).collect(),
            _ => (1..=levels).map(|count| ((1_u64 << count) - 1) as u32).collect(),
        };
        for subset in subsets {
            let (left, right): (Vec<u32>, Vec<u32>) =
                rows.iter().partition(|&&row| subset >> column.codes()[row as usize] & 1 == 1);
            if left.len() < least.max(1) || right.len() < least.max(1) {
                continue;
            }
            let part =
                |rows: &[u32]| sse(&rows.iter().map(|&row| response[row as usize]).collect::<Vec<_>>());
            best = best.max(sse(&all) - part(&left) - part(&right));
        }
    }
    best
}

/// The rows of each node.
fn members(tree: &Tree, table: &Table, rows: &[u32]) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); tree.nodes().len()];
    for &row in rows {
        tree.path(tree.leaf_of(table, row as usize)).into_iter().for_each(|node| members[node].push(row));
    }
    members
}

fn column(kind: ColumnKind, place: usize, codes: Vec<u32>, levels: u32) -> Column {
    let name = format!("p{place}");
    let labels = (0..levels).map(|level| format!("{level}")).collect();
    match kind {
        ColumnKind::Categorical => Column::categorical(name, labels, codes).unwrap(),
        _ => Column::ordered(name, kind, (0..levels).map(f64::from).collect(), labels, codes).unwrap(),
    }
}

/// Up to 5 columns of up to 6 levels and 40 rows; responses with few values, so that ties are frequent.
fn problem() -> impl Strategy<Value = (Table, Vec<f64>)> {
    (1_usize..5, 1_usize..40).prop_flat_map(|(columns, rows)| {
        let kind =
            prop_oneof![Just(ColumnKind::Numeric), Just(ColumnKind::Boolean), Just(ColumnKind::Categorical)];
        let one = (kind, 2_u32..6).prop_flat_map(move |(kind, levels)| {
            let levels = if kind == ColumnKind::Boolean { 2 } else { levels };
            (Just(kind), Just(levels), prop::collection::vec(0..levels, rows))
        });
        let response =
            prop::collection::vec((0_i32..9).prop_map(|value| f64::from(value) * 0.37 - 1.0), rows);
        (prop::collection::vec(one, columns), response).prop_map(|(columns, response)| {
            let columns = columns
                .into_iter()
                .enumerate()
                .map(|(k, (kind, levels, codes))| column(kind, k, codes, levels));
            (Table::new(columns.collect()).unwrap(), response)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Every split has the greatest gain that there is, every leaf has none above the threshold, and every number of a
    /// node is that of its rows.
    #[test]
    fn splits_are_those_of_an_exhaustive_search(
        (table, response) in problem(),
        threshold in prop_oneof![Just(0.0), 0.0..2.0],
        min_leaf in 1_usize..4,
        max_depth in prop_oneof![Just(None), (0_usize..4).prop_map(Some)],
    ) {
        let rows: Vec<u32> = (0..table.rows() as u32).collect();
        // Of subsets only prefixes are tried, which is enough without a least size.
        let exact = min_leaf == 1 || table.columns().iter().all(Column::is_ordered);
        let options = GrowOptions { threshold, min_leaf, max_depth, ..GrowOptions::default() };
        let tree = grow(&table, &response, &rows, &options).unwrap();
        let members = members(&tree, &table, &rows);
        for (at, node) in tree.nodes().iter().enumerate() {
            let values: Vec<f64> = members[at].iter().map(|&row| response[row as usize]).collect();
            prop_assert_eq!(node.count, values.len());
            prop_assert!((node.mean - values.iter().sum::<f64>() / values.len() as f64).abs() < 1e-12);
            prop_assert!((node.sse - sse(&values)).abs() < 1e-9);
            prop_assert_eq!(node.range[0], values.iter().copied().fold(f64::INFINITY, f64::min));
            prop_assert_eq!(node.range[1], values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            let best = exhaustive(&table, &response, &members[at], min_leaf);
            match &node.split {
                Some(split) => {
                    prop_assert!(split.gain < best + 1e-9);
                    prop_assert!(!exact || split.gain > best - 1e-9, "gain {} instead of {best}", split.gain);
                    let [left, right] = split.children.map(|child| tree.nodes()[child].sse);
                    prop_assert!((node.sse - left - right - split.gain).abs() < 1e-9);
                    prop_assert!(split.gain > threshold);
                    prop_assert!(split.children.iter().all(|&child| tree.nodes()[child].count >= min_leaf));
                    prop_assert!(split.children.iter().all(|&child| tree.nodes()[child].parent == Some(at)));
                }
                None => {
                    let deep = max_depth == Some(node.depth);
                    prop_assert!(deep || !exact || best <= threshold + 1e-9, "a leaf could gain {best}");
                }
            }
        }
        prop_assert_eq!(tree.leaf_count(), tree.leaves().count());
    }

    /// The expression of a leaf holds for exactly its rows, and the regions of all leaves cover the space once.
    #[test]
    fn regions_are_the_leaves((table, response) in problem()) {
        let rows: Vec<u32> = (0..table.rows() as u32).collect();
        let tree = grow(&table, &response, &rows, &GrowOptions::default()).unwrap();
        let regions: Vec<(usize, Region)> = tree.leaves().map(|leaf| (leaf, Region::of(&table, &tree, leaf))).collect();
        let names: Vec<&str> = table.columns().iter().map(Column::name).collect();
        for &row in &rows {
            let inside: Vec<usize> = regions.iter()
                .filter(|(_, region)| region.contains(&table, row as usize)).map(|(leaf, _)| *leaf).collect();
            prop_assert_eq!(inside, vec![tree.leaf_of(&table, row as usize)]);
            for (leaf, region) in &regions {
                let expression = tuner::expression::Expression::parse(&region.expression(&table), &names).unwrap();
                let values: Vec<Value> = table.columns().iter()
                    .map(|column| Value::Integer(column.value(row as usize) as i64)).collect();
                let holds = expression.holds(&|place| &values[place]).unwrap();
                prop_assert_eq!(holds, tree.leaf_of(&table, row as usize) == *leaf);
            }
        }
        let shares: f64 = importance(&table, &tree).iter().map(|entry| entry.share).sum();
        prop_assert!(tree.leaf_count() == 1 || (shares - 1.0).abs() < 1e-9);
    }

    /// Algorithm 2: `I + A` different designs, the first ones anywhere, the others in the box as long as it has any.
    #[test]
    fn samples_are_in_the_box((table, response) in problem(), initial in 1_usize..20, additional in 0_usize..20) {
        let pool: Vec<u32> = (0..table.rows() as u32).collect();
        let options = IterativeOptions { initial, additional, ..IterativeOptions::default() };
        let mut rng = <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(1);
        let sampled = sample(&table, &response, &pool, &options, &mut rng);
        prop_assert_eq!(sampled.rows.len(), pool.len().min(initial + additional));
        let mut distinct = sampled.rows.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), sampled.rows.len());
        let inside = |row: &u32| sampled.best_box.contains(&table, *row as usize);
        let first = initial.min(pool.len());
        let (initial_rows, added) = sampled.rows.split_at(first);
        let left_inside = pool.iter().filter(|row| inside(row) && !initial_rows.contains(row)).count();
        prop_assert_eq!(added.iter().filter(|row| inside(row)).count(), left_inside.min(added.len()));
    }
}

/// 240 rows by a formula that the reference program evaluated too.
fn formula() -> (Table, Vec<f64>) {
    let (mut a, mut b, mut c, mut d, mut y) = (vec![], vec![], vec![], vec![], vec![]);
    for i in 0..240_usize {
        let values = [
            [1.0, 2.0, 4.0, 8.0, 16.0, 32.0][i % 6],
            ((i / 6) % 5 * 3 + 1) as f64,
            (i / 30 % 2) as f64,
            (i * 7 % 11) as f64,
        ];
        let small = if values[2] == 1.0 && values[0] < 8.0 { 2.5 } else { 0.0 };
        let step = if values[3] > 7.0 && values[1] < 8.0 { 1.1 } else { 0.0 };
        y.push(5.0 / values[0] + 0.31 * values[1] + small + 0.013 * (i * 37 % 101) as f64 + step);
        [&mut a, &mut b, &mut c, &mut d]
            .into_iter()
            .zip(values)
            .for_each(|(column, value)| column.push(value));
    }
    let columns = [("a", a), ("b", b), ("c", c), ("d", d)];
    (Table::new(columns.map(|(name, values)| Column::numeric(name, &values).unwrap()).into()).unwrap(), y)
}

/// Splits (parameter, threshold, designs on the left, gain) of scikit-learn 1.9 on the same data, level by level:
/// `DecisionTreeRegressor(max_depth=4)`.
const SCIKIT_LEARN: [(&str, f64, usize, f64); 15] = [
    ("a", 3.0, 80, 942.690949219),
    ("c", 0.5, 40, 138.319590612),
    ("b", 5.5, 64, 155.459997004),
    ("a", 1.5, 20, 58.735946025),
    ("a", 1.5, 20, 56.605926400),
    ("a", 6.0, 16, 80.860208333),
    ("a", 6.0, 24, 59.853652253),
    ("b", 8.5, 12, 29.128424033),
    ("b", 5.5, 8, 26.598316800),
    ("b", 5.5, 8, 26.832346133),
    ("b", 5.5, 8, 22.616610133),
    ("c", 0.5, 8, 30.514576000),
    ("d", 7.5, 36, 12.459723361),
    ("c", 0.5, 12, 34.425730667),
    ("b", 11.5, 48, 30.399601174),
];

#[test]
fn splits_and_predictions_are_those_of_scikit_learn() {
    let (table, response) = formula();
    let rows: Vec<u32> = (0..240).collect();
    let options = GrowOptions { max_depth: Some(4), ..GrowOptions::default() };
    let tree = grow(&table, &response, &rows, &options).unwrap();
    let splits: Vec<_> = tree.nodes().iter().filter_map(|node| node.split.as_ref()).collect();
    assert_eq!(splits.len(), SCIKIT_LEARN.len());
    for (split, (name, threshold, left, gain)) in splits.iter().zip(SCIKIT_LEARN) {
        assert_eq!(table.columns()[split.column].name(), name);
        assert_eq!(split.threshold(&table), Some(threshold));
        assert_eq!(tree.nodes()[split.children[0]].count, left);
        assert!((split.gain - gain).abs() < 1e-8);
    }
    let squares: f64 = rows.iter().map(|&row| tree.predict(&table, row as usize).powi(2)).sum();
    assert!((squares - 8_341.371_032_298_61).abs() < 1e-8);
    assert_eq!(grow(&table, &response, &rows, &GrowOptions::default()).unwrap().leaf_count(), 240);
}

/// The rule for ties: the least value, then the parameter that came closest above, then the order of declaration.
#[test]
fn ties() {
    // Values 1 and 9 occur, 3 and 5 are levels as well: `<= 1` is the least of the equal ones.
    let known = Column::ordered(
        "x",
        ColumnKind::Numeric,
        vec![1.0, 3.0, 5.0, 9.0],
        ["1", "3", "5", "9"].map(str::to_owned).into(),
        vec![0, 3],
    );
    let table = Table::new(vec![known.unwrap(), Column::boolean("same", &[false, true])]).unwrap();
    let tree = grow(&table, &[1.0, 2.0], &[0, 1], &GrowOptions::default()).unwrap();
    let split = tree.nodes()[0].split.as_ref().unwrap();
    assert_eq!((split.column, split.value(&table), split.threshold(&table)), (0, Some(1.0), Some(5.0)));
    assert_eq!(split.rule, Rule::AtMost { place: 0, next: 3 });
    // At the root `far` is split on and `near` comes closer than `idle`; in the pair that is left both divide alike.
    let idle = Column::boolean("idle", &[false, true, true, false, true, false]);
    let near = Column::boolean("near", &[false, true, false, true, true, true]);
    let far = Column::boolean("far", &[false, false, true, true, true, true]);
    let table = Table::new(vec![idle, near, far]).unwrap();
    let response = [0.0, 1.0, 9.5, 10.5, 10.5, 10.5];
    let tree = grow(&table, &response, &[0, 1, 2, 3, 4, 5], &GrowOptions::default()).unwrap();
    let columns: Vec<Option<usize>> =
        tree.nodes().iter().map(|n| n.split.as_ref().map(|s| s.column)).collect();
    assert_eq!(columns[..3], [Some(2), Some(1), Some(1)]);
}

#[test]
fn equal_responses_are_not_divided_and_scale_does_not_matter() {
    let table = Table::new(vec![Column::numeric("x", &[1.0, 2.0, 3.0, 4.0]).unwrap()]).unwrap();
    let rows = [0, 1, 2, 3];
    let tree = grow(&table, &[0.1; 4], &rows, &GrowOptions::default()).unwrap();
    assert_eq!(tree.leaf_count(), 1);
    // Times of picoseconds have gains of 1e-24.
    let tree = grow(&table, &[1e-12, 1e-12, 3e-12, 3e-12], &rows, &GrowOptions::default()).unwrap();
    assert_eq!(tree.leaf_count(), 2);
    // The last place of a great number is no difference.
    let tree = grow(&table, &[1e9, 1e9 + 1e-7, 1e9, 1e9], &rows, &GrowOptions::default()).unwrap();
    assert_eq!(tree.leaf_count(), 1);
}

#[test]
fn absent_levels_go_with_the_greater_side() {
    let labels: Vec<String> = ["\"a\"", "\"b\"", "\"c\""].map(str::to_owned).into();
    let column = Column::categorical("layout", labels, vec![0, 0, 1]).unwrap();
    let table = Table::new(vec![column]).unwrap();
    let tree = grow(&table, &[1.0, 1.0, 5.0], &[0, 1, 2], &GrowOptions::default()).unwrap();
    assert_eq!(tree.nodes()[0].split.as_ref().unwrap().rule, Rule::In(vec![true, false, true]));
    assert_eq!(side(&table, &tree, 0, true), "layout in [\"a\", \"c\"]");
    assert_eq!(side(&table, &tree, 0, false), "layout == \"b\"");
    let best = tree.best_leaf(Goal::Minimize);
    assert_eq!(Region::of(&table, &tree, best).expression(&table), "layout in [\"a\", \"c\"]");
}

#[test]
fn alignments_divide_by_powers_of_two() {
    let values = [48.0, 64.0, 80.0, 96.0, 112.0, 128.0];
    let table = Table::new(vec![Column::numeric("x", &values).unwrap()]).unwrap().with_alignments();
    assert_eq!(table.columns()[1].levels(), [16.0, 32.0, 64.0, 128.0]);
    let response = [5.0, 1.0, 5.0, 1.0, 5.0, 1.0];
    let tree = grow(&table, &response, &[0, 1, 2, 3, 4, 5], &GrowOptions::default()).unwrap();
    assert_eq!(tree.leaf_count(), 2);
    assert_eq!(
        (side(&table, &tree, 0, true), side(&table, &tree, 0, false)),
        ("x % 32 != 0".into(), "x % 32 == 0".into())
    );
    let powers = Column::numeric("y", &[1.0, 2.0, 4.0, 8.0]).unwrap();
    assert!(powers.alignment().is_none());
}

fn trials() -> (Vec<Parameter>, Vec<Tried>) {
    let parameters = vec![
        Parameter::new("x", [1, 2, 4].map(Value::Integer).into()).unwrap(),
        Parameter::new("flag", vec![Value::Boolean(false), Value::Boolean(true)]).unwrap(),
    ];
    let mut trials = Vec::new();
    for x in 0..3 {
        for flag in 0..2 {
            let point = Point::new(vec![x, flag]);
            let mut trial = Tried::measured(point.clone(), "time", f64::from(1 + x + 3 * flag));
            trial.outcome.metrics.insert("energy".into(), tuner::Metric { value: 8.0, ..Default::default() });
            trials.push(if (x, flag) == (2, 1) {
                Tried { point, outcome: Outcome::failed(Status::RunError, "no") }
            } else {
                trial
            });
        }
    }
    (parameters, trials)
}

#[test]
fn data_of_trials() {
    let (parameters, trials) = trials();
    let source = |value| Source { parameters: &parameters, trials: &trials, value };
    let options = |metric: &str| DataOptions { metrics: vec![metric.into()], ..DataOptions::default() };
    let data = Data::new(&[source(Value::Integer(0))], &options("energy / (time * x)")).unwrap();
    assert_eq!(data.responses[0].values, [8.0, 2.0, 2.0, 0.8, 8.0 / 12.0]);
    assert_eq!((data.failures(), data.left_out().as_str()), (1, "1 failed (1 run-error)"));
    // Two devices, as section 8.2 joins them, in a subspace.
    let joined = DataOptions {
        join: Some("device".into()),
        condition: Some("flag == False".into()),
        ..options("time")
    };
    let sources = [source(Value::Text("A".into())), source(Value::Text("B".into()))];
    let data = Data::new(&sources, &joined).unwrap();
    assert_eq!((data.table.rows(), data.table.column("device"), data.outside), (6, Some(2), 6));
    assert_eq!(data.table.columns()[2].kind(), ColumnKind::Categorical);
    // Mistakes.
    for (wrong, part) in [
        (options("tme"), "no metric `tme`"),
        (options("time + zz"), "zz"),
        (DataOptions { condition: Some("x > 99".into()), ..options("time") }, "no successful trial"),
        (DataOptions { categorical: vec!["y".into()], ..options("time") }, "no parameter `y`"),
    ] {
        let error = Data::new(&[source(Value::Integer(0))], &wrong).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(Data::new(&sources, &options("time")).unwrap_err().to_string().contains("several files"));
}

#[test]
fn training_sets_grow_until_the_error_is_small() {
    let (table, response) = formula();
    let pool: Vec<u32> = (0..240).collect();
    let options = GrowthOptions {
        validation: 60,
        start: 20,
        step: 40,
        most: 180,
        target: Some(0.15),
        draws: 3,
        seed: 1,
    };
    let curve = grow_until(&GrowOptions::default(), &table, &response, &pool, &options).unwrap();
    assert_eq!(curve[0].samples, 20);
    let (last, before) = curve.split_last().unwrap();
    assert!(before.iter().all(|point| point.error > 0.15));
    assert!(last.error <= 0.15 || last.samples == 180, "{curve:?}");
    assert!(curve[0].error > 1.5 * last.error);
    let (training, validation) = hold_out(&pool, 180, 60, 3).unwrap();
    assert!(training.iter().all(|row| !validation.contains(row)));
    assert!(hold_out(&pool, 200, 60, 3).is_err());
    let tree = grow(&table, &response, &training, &GrowOptions::default()).unwrap();
    assert_eq!(median_relative_error(&tree, &table, &response, &training), Some(0.0));
    assert_eq!(median(vec![3.0, 1.0, 2.0, 10.0]), Some(2.5));
}

#[test]
fn smaller_trees_keep_the_greatest_gains() {
    let (table, response) = formula();
    let rows: Vec<u32> = (0..240).collect();
    let tree = grow(&table, &response, &rows, &GrowOptions::default()).unwrap();
    let small = tree.largest_gains(10);
    assert_eq!(small.leaf_count(), 10);
    assert_eq!(small.leaves().map(|leaf| small.nodes()[leaf].count).sum::<usize>(), 240);
    let kept: f64 = small.nodes().iter().filter_map(|node| node.split.as_ref()).map(|split| split.gain).sum();
    for depth in 0..4 {
        let other = tree.cut_at(depth);
        let limited =
            grow(&table, &response, &rows, &GrowOptions { max_depth: Some(depth), ..GrowOptions::default() });
        assert_eq!(other, limited.unwrap());
        let gain: f64 =
            other.nodes().iter().filter_map(|node| node.split.as_ref()).map(|split| split.gain).sum();
        assert!(other.leaf_count() > 10 || kept >= gain);
    }
    assert_eq!(tree.largest_gains(10_000), tree);
}

/// An overview holds the best partition that is not small, although splits elsewhere gain more.
#[test]
fn overviews_lead_to_the_best_designs() {
    let (table, response) = formula();
    let rows: Vec<u32> = (0..240).collect();
    let tree = grow(&table, &response, &rows, &GrowOptions::default()).unwrap();
    for goal in [Goal::Minimize, Goal::Maximize] {
        let overview = tree.overview(12, goal);
        assert_eq!(overview.leaf_count(), 12);
        assert_eq!(overview.leaves().map(|leaf| overview.nodes()[leaf].count).sum::<usize>(), 240);
        let mean = |tree: &Tree, node: usize| goal.cost(tree.nodes()[node].mean);
        let large = (0..tree.nodes().len())
            .filter(|&node| tree.nodes()[node].count >= 5 && tree.nodes()[node].depth <= 7);
        let best = large.map(|node| mean(&tree, node)).fold(f64::INFINITY, f64::min);
        assert!((0..overview.nodes().len()).any(|node| mean(&overview, node) == best));
        assert!(mean(&overview, overview.best_leaf(goal)) <= best);
    }
    assert_eq!(tree.overview(1, Goal::Minimize).leaf_count(), 1);
    assert_eq!(tree.overview(10_000, Goal::Minimize), tree);
}
