//! A regression tree and an error curve as drawings.

use plots::figures::Trained;
use plots::{Node, Tree};
use tuner::starchart::accuracy::CurvePoint;
use tuner::starchart::draw::{Drawing, short};

/// The tree with its best partition and the way to it.
pub(super) fn tree(drawing: &Drawing<'_>) -> Tree {
    let nodes = drawing.tree.nodes();
    let best = drawing.best();
    let way = drawing.tree.path(best);
    let node = |at: usize| {
        let node = &nodes[at];
        let [best, worst] = drawing.goal.best_and_worst(node).map(short);
        Node {
            label: drawing.condition(at),
            details: vec![short(node.mean), format!("{best} .. {worst}"), format!("{} designs", node.count)],
            cells: vec![node.count.to_string(), short(node.mean)],
            range: node.range,
            mean: node.mean,
            on_way: way.contains(&at),
        }
    };
    let mut tree = Tree::new(drawing.title.clone(), node(0));
    // Its numbers of nodes are those of the tree, whose parents come before their children.
    for (at, own) in nodes.iter().enumerate().skip(1) {
        tree.add(own.parent.unwrap_or(0), node(at));
    }
    let [from, to] = drawing.goal.best_and_worst(&nodes[best]);
    tree.subtitle = format!("{}, {}", drawing.metric, drawing.leaves_text());
    tree.best = format!(
        "best partition: mean {}, from {} to {}, {} designs (all designs: mean {})",
        short(nodes[best].mean),
        short(from),
        short(to),
        nodes[best].count,
        short(nodes[0].mean)
    );
    tree.reasons = drawing.reasons();
    tree.metric = drawing.metric.clone();
    tree.columns = ["designs", "mean"].map(str::to_owned).to_vec();
    tree
}

/// The points of a curve.
pub(super) fn trained(curve: &[CurvePoint]) -> Vec<Trained> {
    let point = |at: &CurvePoint| Trained { samples: at.samples, error: at.error, range: at.range };
    curve.iter().map(point).collect()
}
