//! What a chart consists of: kinds of data, drawn one over the other.

use crate::palette::{Colour, Dash, Shape};

/// A place on two axes, and what a browser shows where the pointer is.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// On the horizontal axis.
    pub x: f64,
    /// On the vertical axis.
    pub y: f64,
    /// What it is.
    pub title: String,
}

impl Point {
    /// A point with a title.
    pub fn new(x: f64, y: f64, title: impl Into<String>) -> Point {
        Point { x, y, title: title.into() }
    }
}

/// How points are marked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marks {
    /// The shape.
    pub shape: Shape,
    /// Half of its extent in pixels.
    pub radius: f64,
    /// Between 0 and 1.
    pub opacity: f64,
}

impl Marks {
    /// Of this shape, as large as is usual for it.
    pub fn new(shape: Shape) -> Marks {
        let radius = if matches!(shape, Shape::Ring | Shape::Frame) { 7.5 } else { 3.6 };
        Marks { shape, radius, opacity: 1.0 }
    }

    /// Small and pale, for points of which there are many.
    pub fn faint(shape: Shape) -> Marks {
        Marks { radius: 2.6, opacity: 0.55, ..Marks::new(shape) }
    }
}

/// How points are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Straight from one to the next.
    Line,
    /// In steps: a value holds until the next one.
    Steps,
}

/// Where a note stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// On the height of its place.
    Beside,
    /// Above it, clear of a line that goes on to the right.
    Above,
}

/// Points of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend; none where it is empty.
    pub name: String,
    /// Colour of marks and line.
    pub colour: Colour,
    /// The marks.
    pub marks: Option<Marks>,
    /// The line.
    pub line: Option<(Join, Dash)>,
    /// The points.
    pub points: Vec<Point>,
}

impl Series {
    /// Points without a line.
    pub fn scattered(name: impl Into<String>, colour: Colour, marks: Marks, points: Vec<Point>) -> Series {
        Series { name: name.into(), colour, marks: Some(marks), line: None, points }
    }

    /// A line with marks, of the colour, shape and dash of its number among others.
    pub fn line(number: usize, name: impl Into<String>, points: Vec<Point>) -> Series {
        Series {
            name: name.into(),
            colour: Colour::Series(number),
            marks: Some(Marks { radius: 3.2, ..Marks::new(Shape::of(number)) }),
            line: Some((Join::Line, Dash::of(number))),
            points,
        }
    }
}

/// A straight line to compare with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guide {
    /// All points with this `x`.
    Upright(f64),
    /// All points with this `y`.
    Level(f64),
    /// All points whose `x` is their `y`.
    Diagonal,
}

/// A box over both axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// From here to there on the horizontal axis.
    pub x: (f64, f64),
    /// From here to there on the vertical axis.
    pub y: (f64, f64),
    /// What it is.
    pub title: String,
}

/// One kind of data of a chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// Points.
    Series(Series),
    /// What lies between two lines: `x`, and the two values of `y`.
    Band {
        /// Name in the legend.
        name: String,
        /// Colour.
        colour: Colour,
        /// The lines.
        between: Vec<(f64, f64, f64)>,
    },
    /// A line to compare with.
    Guide {
        /// Name in the legend.
        name: String,
        /// Where it is.
        guide: Guide,
        /// Colour.
        colour: Colour,
        /// How it is broken.
        dash: Dash,
    },
    /// Boxes.
    Blocks {
        /// Name in the legend.
        name: String,
        /// Colour.
        colour: Colour,
        /// Of the filling, between 0 and 1.
        opacity: f64,
        /// The boxes.
        blocks: Vec<Block>,
    },
    /// Areas with an outline, each by its corners.
    Areas {
        /// Name in the legend.
        name: String,
        /// Colour.
        colour: Colour,
        /// Of the filling, between 0 and 1.
        opacity: f64,
        /// The corners of each.
        areas: Vec<Vec<(f64, f64)>>,
    },
    /// Arrows to one point. Short ones are drawn longer, in the same direction.
    Arrows {
        /// Name in the legend.
        name: String,
        /// Colour.
        colour: Colour,
        /// Where they come from.
        from: Vec<(f64, f64)>,
        /// Where they lead to.
        to: (f64, f64),
    },
    /// Texts that begin right of a place, where there is room for them: they alone are not kept apart.
    Notes(Side, Vec<Point>),
}

impl Layer {
    pub(crate) fn name(&self) -> &str {
        match self {
            Layer::Series(series) => &series.name,
            Layer::Band { name, .. }
            | Layer::Guide { name, .. }
            | Layer::Blocks { name, .. }
            | Layer::Areas { name, .. }
            | Layer::Arrows { name, .. } => name,
            Layer::Notes(..) => "",
        }
    }

    /// All places that the axes must hold.
    pub(crate) fn places(&self) -> Vec<(f64, f64)> {
        match self {
            Layer::Series(series) => series.points.iter().map(|point| (point.x, point.y)).collect(),
            Layer::Band { between, .. } => {
                between.iter().flat_map(|&(x, low, high)| [(x, low), (x, high)]).collect()
            }
            Layer::Guide { guide: Guide::Upright(x), .. } => vec![(*x, f64::NAN)],
            Layer::Guide { guide: Guide::Level(y), .. } => vec![(f64::NAN, *y)],
            Layer::Guide { guide: Guide::Diagonal, .. } => Vec::new(),
            Layer::Blocks { blocks, .. } => {
                blocks.iter().flat_map(|block| [(block.x.0, block.y.0), (block.x.1, block.y.1)]).collect()
            }
            Layer::Areas { areas, .. } => areas.iter().flatten().copied().collect(),
            Layer::Arrows { to, .. } => vec![*to],
            Layer::Notes(_, notes) => notes.iter().map(|note| (note.x, note.y)).collect(),
        }
    }

    /// How many points cannot be drawn, because a coordinate is no finite number.
    pub(crate) fn without_place(&self) -> usize {
        let none = |value: f64| !crate::axis::is_drawable(value);
        match self {
            Layer::Guide { .. } => 0,
            Layer::Blocks { blocks, .. } => blocks
                .iter()
                .filter(|block| [block.x.0, block.x.1, block.y.0, block.y.1].into_iter().any(none))
                .count(),
            Layer::Band { between, .. } => {
                between.iter().filter(|(x, low, high)| none(*x) || none(*low) || none(*high)).count()
            }
            _ => self.places().into_iter().filter(|(x, y)| none(*x) || none(*y)).count(),
        }
    }
}
