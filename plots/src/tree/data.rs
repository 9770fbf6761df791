//! A tree as data.

/// A node.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// What leads to it from its parent.
    pub label: String,
    /// Further lines; Graphviz shows them.
    pub details: Vec<String>,
    /// What stands beside a leaf, one text for each of [`Tree::columns`].
    pub cells: Vec<String>,
    /// The values in it, from one end to the other.
    pub range: [f64; 2],
    /// Their mean.
    pub mean: f64,
    /// Whether it is the best leaf, or on the way to it.
    pub on_way: bool,
}

/// A tree, and what to say about it.
#[derive(Debug, Clone)]
pub struct Tree {
    /// What is shown.
    pub title: String,
    /// A line below it.
    pub subtitle: String,
    /// What is said about the best leaf,
    pub best: String,
    /// and the conditions that lead to it.
    pub reasons: Vec<String>,
    /// The values, with their unit.
    pub metric: String,
    /// What stands beside leaves.
    pub columns: Vec<String>,
    pub(super) nodes: Vec<Node>,
    /// Children come behind their parents.
    pub(super) parents: Vec<Option<usize>>,
}

impl Tree {
    /// A tree of one node.
    pub fn new(title: impl Into<String>, root: Node) -> Tree {
        Tree {
            title: title.into(),
            subtitle: String::new(),
            best: String::new(),
            reasons: Vec::new(),
            metric: String::new(),
            columns: Vec::new(),
            nodes: vec![root],
            parents: vec![None],
        }
    }

    /// Adds a node, right of its parent and below its siblings, and gives its number; that of the root is 0.
    /// Numbers that were not given yet stand for the last node.
    pub fn add(&mut self, parent: usize, node: Node) -> usize {
        self.parents.push(Some(parent.min(self.nodes.len() - 1)));
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The children of every node.
    pub(super) fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (at, parent) in self.parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(at);
            }
        }
        children
    }
}
