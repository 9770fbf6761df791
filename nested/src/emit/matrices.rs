//! What is known of products of rows of two matrices while the code of a row of the first one is made (`products`).

use c_tree::Expr as C;

/// Rows of one length of a flat array: row `i` begins at `i * length`.
#[derive(Clone, PartialEq)]
pub struct Rows {
    /// The array.
    pub array: C,
    /// The length of a row.
    pub length: C,
    /// How many elements there are in all.
    pub total: C,
}

/// Products of rows of two matrices, while the code of a row of the first one is made.
pub struct Products {
    /// The row.
    pub row: C,
    /// The matrices, once a product is found.
    pub pair: Option<[Rows; 2]>,
    /// The matrices, where they are known before, and so are the lengths of their rows: all are whole, and as long as each other.
    pub whole: Option<[Rows; 2]>,
    /// Lengths of sequences that are taken to be no more than a block.
    pub blocks: Vec<C>,
    /// Whether all products are of these matrices.
    pub fits: bool,
    /// Where the product with row `j` of the second matrix lies, as `list[j * step + lane]`.
    pub place: [C; 3],
}
