//! The one rule for axes: which range, which ticks, which numbers, in which unit, so that no two labels
//! touch.
//!
//! - A linear axis goes from tick to tick, in steps of 1, 2 or 5 times a power of ten; a logarithmic one has
//!   ticks at 1, 2 and 5, at 1 and 3, or at powers of ten, whatever fits, or those of a linear one where its
//!   range is short.
//! - A logarithmic axis is one only where all values are positive.
//! - Values that are not finite have no place. Without values the range is 0 to 1; around one value it is 10
//!   % wide.
//! - Numbers have as many decimals as the step needs. Great and small ones have a common factor, seconds a
//!   unit, that stands in the title.

mod numbers;
mod ruler;
mod ticks;

pub(crate) use ruler::{Ruler, is_drawable};

use numbers::{common_factor, plain, time_unit, with_decimals};
use ruler::{LARGEST, SMALLEST, Tick, position, spread};
use ticks::candidates;

/// What lies between two labels at least, in pixels: side by side, and above each other.
const GAP: f64 = 10.0;

const PITCH: f64 = 20.0;

/// How values are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// By their differences.
    Linear,
    /// By their ratios, where all are positive.
    Logarithmic,
    /// By their ratios, where all are positive and spread over more than a factor of ten.
    Automatic,
}

/// What values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Number,
    Whole,
    Seconds,
}

/// An axis as it is asked for.
#[derive(Debug, Clone)]
pub struct Axis {
    label: String,
    scale: Scale,
    format: Format,
    from_zero: bool,
    limits: Option<(f64, f64)>,
    names: Vec<String>,
}

impl Axis {
    /// A linear axis over the values that are drawn. The label says what they are, and their unit.
    pub fn new(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            scale: Scale::Linear,
            format: Format::Number,
            from_zero: false,
            limits: None,
            names: Vec::new(),
        }
    }

    /// An axis of names, one below the other. The value of a name is its number, from 0.
    pub fn names(label: impl Into<String>, names: Vec<String>) -> Axis {
        Axis { names, ..Axis::new(label) }
    }

    /// On this scale.
    pub fn scale(self, scale: Scale) -> Axis {
        Axis { scale, ..self }
    }

    /// With 0 on it.
    pub fn from_zero(self) -> Axis {
        Axis { from_zero: true, ..self }
    }

    /// Values are seconds; the axis chooses the unit.
    pub fn seconds(self) -> Axis {
        Axis { format: Format::Seconds, ..self }
    }

    /// Values are numbers of things: no tick lies between them.
    pub fn whole(self) -> Axis {
        Axis { format: Format::Whole, ..self }
    }

    /// Exactly from here to there, where these are finite numbers that differ.
    pub fn within(self, low: f64, high: f64) -> Axis {
        let limits = (low.is_finite() && high.is_finite() && low < high && high - low < LARGEST)
            .then_some((low, high));
        Axis { limits, ..self }
    }

    pub(crate) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The axis on so many pixels, for these values.
    pub(crate) fn ruler(&self, values: impl Iterator<Item = f64>, pixels: f64, upright: bool) -> Ruler {
        if self.has_names() {
            return self.ruler_of_names(pixels);
        }
        let values: Vec<f64> = values.filter(|value| is_drawable(*value)).collect();
        let (mut low, mut high) = self.limits.unwrap_or_else(|| {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if low <= high { (low, high) } else { (0.0, 1.0) }
        });
        let positive = low >= SMALLEST && !values.is_empty();
        let logarithmic = match self.scale {
            Scale::Linear => false,
            Scale::Logarithmic => positive,
            Scale::Automatic => positive && high > 10.0 * low,
        };
        if self.from_zero && !logarithmic {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if self.limits.is_none() {
            (low, high) = spread(low, high, logarithmic);
        }
        let fits = |ticks: &[Tick], low: f64, high: f64| {
            let place = |value: f64| position(value, low, high, logarithmic) * pixels;
            ticks.windows(2).all(|pair| {
                let apart = (place(pair[1].value) - place(pair[0].value)).abs();
                apart >= if upright { PITCH } else { (pair[0].width() + pair[1].width()) / 2.0 + GAP }
            })
        };
        let most = (pixels / if upright { 40.0 } else { 60.0 }).clamp(1.0, 12.0) as usize;
        let mut last = None;
        for candidate in candidates(low, high, logarithmic, most, self.format == Format::Whole) {
            let (mut low, mut high) = (low, high);
            if let (Some(step), None, false) = (candidate.step, self.limits, logarithmic) {
                (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
            }
            let values = candidate.values(low, high);
            let (ticks, title) = self.labelled(&values, candidate.step, (low, high), logarithmic);
            let found = fits(&ticks, low, high);
            last = Some(Ruler { low, high, logarithmic, ticks, title });
            if found {
                break;
            }
        }
        let mut ruler = last.unwrap_or_else(|| Ruler {
            low,
            high,
            logarithmic,
            ticks: Vec::new(),
            title: self.label.clone(),
        });
        // Not even two have room: one stays.
        if !fits(&ruler.ticks, ruler.low, ruler.high) {
            ruler.ticks.truncate(1);
        }
        ruler
    }

    fn ruler_of_names(&self, pixels: f64) -> Ruler {
        let count = self.names.len() as f64;
        let every = (PITCH * count / pixels.max(1.0)).ceil().max(1.0) as usize;
        let ticks = self.names.iter().enumerate().step_by(every);
        let ticks = ticks.map(|(at, name)| Tick { value: at as f64, label: name.clone() }).collect();
        // From above to below.
        Ruler { low: count - 0.5, high: -0.5, logarithmic: false, ticks, title: self.label.clone() }
    }

    /// The labels of ticks, and the title with unit and factor.
    fn labelled(
        &self,
        values: &[f64],
        step: Option<f64>,
        (low, high): (f64, f64),
        logarithmic: bool,
    ) -> (Vec<Tick>, String) {
        let most = low.abs().max(high.abs());
        let wide = logarithmic && high > 1e4 * low;
        let (factor, remark) = match self.format {
            Format::Seconds => {
                let (unit, factor) = time_unit(most);
                // Over many units each label has its own.
                if wide { (1.0, String::new()) } else { (factor, format!(" ({unit})")) }
            }
            _ if wide => (1.0, String::new()),
            _ => common_factor(most),
        };
        let label = |value: f64| match (self.format, step) {
            (Format::Seconds, _) if wide => {
                let (unit, factor) = time_unit(value);
                format!("{} {unit}", plain(value / factor))
            }
            (_, Some(step)) => with_decimals(value / factor, step / factor),
            (_, None) => plain(value / factor),
        };
        let ticks = values.iter().map(|&value| Tick { value, label: label(value) }).collect();
        let scale = if logarithmic { ", logarithmic" } else { "" };
        (ticks, format!("{}{remark}{scale}", self.label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::font;
    use proptest::prelude::*;

    fn labels(axis: &Axis, values: &[f64]) -> (Vec<String>, String) {
        let ruler = axis.ruler(values.iter().copied(), 500.0, false);
        (ruler.ticks.iter().map(|tick| tick.label.clone()).collect(), ruler.title)
    }

    fn shown(axis: &Axis, values: &[f64]) -> String {
        let (labels, title) = labels(axis, values);
        format!("{} | {title}", labels.join(" "))
    }

    #[test]
    fn ticks_and_titles() {
        let axis = Axis::new("x");
        assert_eq!(shown(&axis, &[425.3, 449.9]), "425 430 435 440 445 450 | x");
        assert_eq!(
            shown(&axis.clone().from_zero(), &[0.2, 0.31]),
            "0 0.05 0.10 0.15 0.20 0.25 0.30 0.35 | x"
        );
        assert_eq!(shown(&axis, &[-2e9, 3e9]), "-2 -1 0 1 2 3 | x, × 1e9");
        assert_eq!(shown(&axis, &[0.0, 7e-12]), "0 1 2 3 4 5 6 7 | x, × 1e-12");
        assert_eq!(shown(&axis.clone().whole(), &[1.0, 3.0]), "1 2 3 | x");
        let time = Axis::new("time").seconds();
        assert_eq!(
            shown(&time.clone().from_zero(), &[0.004]),
            "0 0.5 1.0 1.5 2.0 2.5 3.0 3.5 4.0 | time (ms)"
        );
        let time = time.scale(Scale::Logarithmic);
        assert_eq!(shown(&time, &[0.001, 0.1]), "1 2 5 10 20 50 100 | time (ms), logarithmic");
        let (labels, title) = labels(&time, &[1e-6, 10.0]);
        assert!(labels.contains(&"10 us".to_owned()) && title == "time, logarithmic", "{labels:?}");
        let many = Axis::new("n").scale(Scale::Automatic);
        assert_eq!(shown(&many, &[1.0, 9.0]).matches("logarithmic").count(), 0);
        assert!(shown(&many, &[1.0, 900.0]).ends_with("n, logarithmic"));
        // Where something is not positive, there is no logarithm.
        assert!(!shown(&time, &[0.0, 900.0]).contains("logarithmic"));
        // A short range has ticks, too.
        assert!(shown(&Axis::new("n").scale(Scale::Logarithmic), &[1.01, 1.05]).split(' ').count() > 4);
    }

    #[test]
    fn values_that_are_none_do_no_harm() {
        for values in
            [&[][..], &[f64::NAN], &[f64::INFINITY, f64::NEG_INFINITY], &[7.0], &[0.0], &[-3.0, -3.0]]
        {
            for scale in [Scale::Linear, Scale::Logarithmic, Scale::Automatic] {
                let ruler = Axis::new("").scale(scale).ruler(values.iter().copied(), 300.0, true);
                assert!(ruler.low < ruler.high && !ruler.ticks.is_empty(), "{values:?} {scale:?} {ruler:?}");
            }
        }
        let ruler = Axis::new("").ruler([f64::MAX, -f64::MAX, 1e299, -1e299].into_iter(), 300.0, true);
        assert!(ruler.place(1e299) > 0.9 && ruler.place(f64::MAX) == 1.0);
    }

    #[test]
    fn names_stand_below_each_other() {
        let names: Vec<String> = (0..40).map(|at| format!("name {at}")).collect();
        let ruler = Axis::names("", names.clone()).ruler(std::iter::empty(), 400.0, true);
        assert_eq!((ruler.ticks.len(), ruler.ticks[1].label.as_str()), (20, "name 2"));
        assert!(ruler.place(0.0) > ruler.place(1.0));
        let ruler = Axis::names("", names).ruler(std::iter::empty(), 1200.0, true);
        assert_eq!(ruler.ticks.len(), 40);
    }

    proptest! {
        #[test]
        fn ranges_hold_their_values_and_labels_do_not_touch(
            values in prop::collection::vec(prop::num::f64::ANY, 0..6),
            scale in prop::sample::select(vec![Scale::Linear, Scale::Logarithmic, Scale::Automatic]),
            pixels in 20.0..1200.0_f64,
            format in 0..4,
        ) {
            let axis = Axis::new("v").scale(scale);
            let axis = match format {
                0 => axis,
                1 => axis.seconds(),
                2 => axis.whole(),
                _ => axis.from_zero(),
            };
            for upright in [false, true] {
                let ruler = axis.ruler(values.iter().copied(), pixels, upright);
                let finite = ruler.low.is_finite() && ruler.high.is_finite();
                prop_assert!(finite && ruler.low < ruler.high, "{ruler:?}");
                for value in values.iter().filter(|value| ruler.holds(**value)) {
                    let place = position(*value, ruler.low, ruler.high, ruler.logarithmic);
                    prop_assert!((-1e-9..=1.0 + 1e-9).contains(&place), "{value} {ruler:?}");
                }
                for pair in ruler.ticks.windows(2) {
                    let apart = (ruler.place(pair[1].value) - ruler.place(pair[0].value)).abs() * pixels;
                    let least = if upright { font::LABEL } else { (pair[0].width() + pair[1].width()) / 2.0 };
                    prop_assert!(apart >= least, "{pair:?} are {apart} apart: {ruler:?}");
                }
            }
        }
    }
}
