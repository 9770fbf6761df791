//! An axis as it is drawn: where values are, and what stands at its ticks.

use crate::font;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;
use text_escape::visible;

/// Values beyond cannot be told from infinity once they are subtracted; those below are as good as 0.
pub(super) const LARGEST: f64 = 1e300;

pub(super) const SMALLEST: f64 = 1e-290;

/// Whether a value has a place on an axis.
pub(crate) fn is_drawable(value: f64) -> bool {
    value.abs() < LARGEST
}

/// A place on an axis and what stands there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Tick {
    pub fn width(&self) -> f64 {
        font::width(&self.label, font::LABEL, false)
    }
}

/// An axis as it is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Ruler {
    /// The values at its ends; the first one may be the larger.
    pub low: f64,
    pub high: f64,
    pub logarithmic: bool,
    pub ticks: Vec<Tick>,
    pub title: String,
}

impl Ruler {
    /// Where a value is, between 0 and 1.
    pub fn place(&self, value: f64) -> f64 {
        position(value, self.low, self.high, self.logarithmic).clamp(0.0, 1.0)
    }

    /// Whether the axis has a place for a value.
    pub fn holds(&self, value: f64) -> bool {
        is_drawable(value) && (!self.logarithmic || value >= SMALLEST)
    }

    pub fn widest(&self) -> f64 {
        self.ticks.iter().map(Tick::width).fold(0.0, f64::max)
    }

    /// Labels cut to a width.
    pub fn cut(&mut self, most: f64) {
        for tick in &mut self.ticks {
            tick.label = font::fit(&tick.label, font::LABEL, false, most).into_owned();
        }
    }

    pub fn label(&self, value: f64) -> String {
        self.ticks.iter().find(|tick| tick.value == value).map(|tick| tick.label.clone()).unwrap_or_default()
    }
}

impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (from, to) = (f64::from(limit.0), f64::from(limit.1));
        (from + self.place(*value) * (to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // No lines between ticks.
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.iter().map(|tick| tick.value).collect(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format_ext(&self, value: &f64) -> String {
        visible(&self.label(*value)).into_owned()
    }
}

pub(super) fn position(value: f64, low: f64, high: f64, logarithmic: bool) -> f64 {
    let of = |value: f64| if logarithmic { value.max(SMALLEST).ln() } else { value };
    let (value, low, high) = (of(value), of(low), of(high));
    if high == low { 0.5 } else { (value - low) / (high - low) }
}

/// A range that has an extent, and room at its ends on a logarithmic scale.
pub(super) fn spread(low: f64, high: f64, logarithmic: bool) -> (f64, f64) {
    if logarithmic {
        let room = (high / low).powf(0.04).max(1.05);
        return ((low / room).max(SMALLEST), (high * room).min(LARGEST));
    }
    if high - low > 1e-12 * high.abs().max(low.abs()) && high - low > SMALLEST {
        return (low, high);
    }
    let around = if low.abs() < SMALLEST { 1.0 } else { 0.05 * low.abs() };
    (low - around, high + around)
}
