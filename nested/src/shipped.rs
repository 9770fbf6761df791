//! The programs that come with Tilewright.

macro_rules! shipped {
    ($($name:literal),*) => {
        /// Name and text of each program.
        pub fn all() -> Vec<(&'static str, &'static str)> {
            vec![$(($name, include_str!(concat!("../programs/", $name, ".nested")))),*]
        }
    };
}

shipped!(
    "reduction",
    "scan",
    "spmv",
    "kmeans",
    "comd_direct",
    "comd_redistributed",
    "softmax",
    "histogram",
    "spmm",
    "pagerank",
    "batched_dot",
    "transpose"
);

/// The text of a program.
pub fn text(name: &str) -> Option<&'static str> {
    all().into_iter().find(|(own, _)| *own == name).map(|(_, text)| text)
}
