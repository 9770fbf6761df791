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

use crate::font;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;
use text_escape::visible;

/// What lies between two labels at least, in pixels: side by side, and above each other.
const GAP: f64 = 10.0;
const PITCH: f64 = 20.0;
/// Values beyond cannot be told from infinity once they are subtracted; those below are as good as 0.
const LARGEST: f64 = 1e300;
const SMALLEST: f64 = 1e-290;

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

fn position(value: f64, low: f64, high: f64, logarithmic: bool) -> f64 {
    let of = |value: f64| if logarithmic { value.max(SMALLEST).ln() } else { value };
    let (value, low, high) = (of(value), of(low), of(high));
    if high == low { 0.5 } else { (value - low) / (high - low) }
}

/// A range that has an extent, and room at its ends on a logarithmic scale.
fn spread(low: f64, high: f64, logarithmic: bool) -> (f64, f64) {
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

/// Ticks that might be.
enum Multiples {
    /// Of a step.
    Step(f64),
    /// Of powers of ten, every so many of them.
    Powers(&'static [f64], usize),
}

struct Candidate {
    step: Option<f64>,
    multiples: Multiples,
}

impl Candidate {
    fn values(&self, low: f64, high: f64) -> Vec<f64> {
        match self.multiples {
            Multiples::Step(step) => {
                let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
                // Rounded to the step's own decimals, so that 3 * 0.1 is 0.3.
                (0..=(last - first).clamp(-1.0, 100.0) as i64)
                    .map(|at| rounded((first + at as f64) * step, step))
                    .collect()
            }
            Multiples::Powers(digits, every) => {
                let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
                let powers = powers.filter(|power| power.rem_euclid(every as i32) == 0);
                let values =
                    powers.flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
                values.filter(|value| (low..=high).contains(value)).collect()
            }
        }
    }
}

/// The densest ticks first.
fn candidates(low: f64, high: f64, logarithmic: bool, most: usize, whole: bool) -> Vec<Candidate> {
    let linear = |most: usize| {
        let steps = (1..=most).rev().map(move |count| {
            let step = nice_step((high - low) / count as f64);
            if whole { step.max(1.0) } else { step }
        });
        let mut steps: Vec<f64> = steps.collect();
        steps.dedup();
        steps.into_iter().map(|step| Candidate { step: Some(step), multiples: Multiples::Step(step) })
    };
    if !logarithmic {
        return linear(most).collect();
    }
    let digits: [(&'static [f64], usize); 8] = [
        (&[1.0, 2.0, 5.0], 1),
        (&[1.0, 3.0], 1),
        (&[1.0], 1),
        (&[1.0], 2),
        (&[1.0], 5),
        (&[1.0], 10),
        (&[1.0], 50),
        (&[1.0], 100),
    ];
    let powers =
        digits.map(|(digits, every)| Candidate { step: None, multiples: Multiples::Powers(digits, every) });
    let (few, many): (Vec<Candidate>, Vec<Candidate>) =
        powers.into_iter().partition(|candidate| candidate.values(low, high).len() < 3);
    let many: Vec<Candidate> =
        many.into_iter().filter(|candidate| candidate.values(low, high).len() <= most + 2).collect();
    if many.is_empty() { linear(most.min(6)).chain(few).collect() } else { many }
}

/// The least of 1, 2, 5 times a power of ten that is at least `step`.
fn nice_step(step: f64) -> f64 {
    if !(step.is_finite() && step >= SMALLEST) {
        return 1.0;
    }
    let power = step.log10().floor() as i32;
    let nice = |factor: f64| rounded(factor * 10_f64.powi(power), 10_f64.powi(power));
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(nice)
        .find(|nice| *nice >= step * 0.999_999)
        .unwrap_or(10_f64.powi(power + 1))
}

/// A multiple of a step as one would write it.
fn rounded(value: f64, step: f64) -> f64 {
    let decimals = decimals(step);
    if decimals > 12 || value.abs() > 1e15 {
        value
    } else {
        format!("{value:.decimals$}").parse().unwrap_or(value)
    }
}

/// Decimals that a multiple of the step needs.
fn decimals(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 300.0) as usize
}

fn with_decimals(value: f64, step: f64) -> String {
    let decimals = decimals(step).min(15);
    let text = format!("{value:.decimals$}");
    if text.chars().all(|letter| matches!(letter, '-' | '0' | '.')) { "0".to_owned() } else { text }
}

/// A number of a logarithmic axis.
fn plain(value: f64) -> String {
    if (1e-4..1e6).contains(&value) {
        let text = format!("{value:.9}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:e}").chars().take(12).collect()
    }
}

/// The factor that labels of great and small numbers leave to the title.
fn common_factor(most: f64) -> (f64, String) {
    if (1e-3..1e6).contains(&most) || most < SMALLEST {
        return (1.0, String::new());
    }
    let power = 3 * (most.log10() / 3.0).floor() as i32;
    (10_f64.powi(power), format!(", × 1e{power}"))
}

/// The unit of a time in seconds, and how many seconds it has.
fn time_unit(most: f64) -> (&'static str, f64) {
    [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)]
        .into_iter()
        .find(|(_, unit)| most >= *unit)
        .unwrap_or(("ns", 1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;
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
