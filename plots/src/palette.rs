//! Colours, marks and dashes: the one choice for all drawings.
//!
//! A colour is a role. Each has a value on light paper and one on dark paper; those of data keep a contrast
//! of 3 to 1 to the paper and stay apart for the three kinds of colour blindness (a test computes it). Series
//! also differ in marks and dashes, so that no drawing is read by colour alone.

use std::fmt::Write;

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// What everything stands on.
    Paper,
    /// Text and axes.
    Ink,
    /// Text that says less.
    Muted,
    /// Lines of the grid.
    Grid,
    /// Data: one of eight, which repeat.
    Series(usize),
}

/// What is good, as the way to the best partition of a tree.
pub const GOOD: Colour = Colour::Series(7);

type Rgb = (u8, u8, u8);

/// On light and on dark paper.
const BASE: [[Rgb; 2]; 4] = [
    [(255, 255, 255), (22, 25, 29)],
    [(27, 31, 36), (230, 232, 235)],
    [(87, 96, 106), (163, 172, 181)],
    [(223, 227, 232), (52, 58, 65)],
];

/// Blue, vermilion, brown, navy, pink, rose, wine, green.
const SERIES: [[Rgb; 2]; 8] = [
    [(0, 114, 178), (86, 180, 233)],
    [(213, 94, 0), (254, 97, 0)],
    [(102, 17, 0), (240, 228, 66)],
    [(51, 34, 136), (120, 94, 240)],
    [(204, 121, 167), (247, 168, 184)],
    [(187, 85, 102), (204, 102, 119)],
    [(136, 34, 85), (68, 119, 170)],
    [(17, 119, 51), (179, 222, 105)],
];

fn hex((red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

impl Colour {
    const COUNT: usize = BASE.len() + SERIES.len();

    fn index(self) -> usize {
        match self {
            Colour::Paper => 0,
            Colour::Ink => 1,
            Colour::Muted => 2,
            Colour::Grid => 3,
            Colour::Series(index) => BASE.len() + index % SERIES.len(),
        }
    }

    fn values(index: usize) -> [Rgb; 2] {
        BASE.iter().chain(&SERIES).nth(index).copied().unwrap_or(BASE[1])
    }

    /// On light paper.
    pub(crate) fn rgb(self) -> Rgb {
        Colour::values(self.index())[0]
    }

    /// The role of a value on light paper.
    pub(crate) fn of(rgb: Rgb) -> Colour {
        match (0..Colour::COUNT).find(|&index| Colour::values(index)[0] == rgb) {
            Some(0) => Colour::Paper,
            Some(2) => Colour::Muted,
            Some(3) => Colour::Grid,
            Some(index) if index >= BASE.len() => Colour::Series(index - BASE.len()),
            _ => Colour::Ink,
        }
    }

    /// As the filling of an element: the value on light paper, and the class that a dark screen has a rule
    /// for.
    pub(crate) fn fill(self) -> String {
        format!("fill=\"{}\" class=\"f{}\"", hex(self.rgb()), self.index())
    }

    /// As the line of an element that is not filled.
    pub(crate) fn stroke(self) -> String {
        format!("fill=\"none\" stroke=\"{}\" class=\"s{}\"", hex(self.rgb()), self.index())
    }

    /// As its filling and its outline.
    pub(crate) fn outlined(self, opacity: f64) -> String {
        let (hex, index) = (hex(self.rgb()), self.index());
        format!(
            "fill=\"{hex}\" fill-opacity=\"{opacity}\" stroke=\"{hex}\" \
             stroke-width=\"1.2\" class=\"f{index} s{index}\""
        )
    }
}

/// The style inside every drawing: the colours of a dark screen. On paper, and where nobody reads styles, the
/// attributes of the elements hold.
pub fn style() -> String {
    let mut style = "@media screen and (prefers-color-scheme:dark){".to_owned();
    for index in 0..Colour::COUNT {
        let dark = hex(Colour::values(index)[1]);
        let _ = write!(style, ".f{index}{{fill:{dark}}}.s{index}{{stroke:{dark}}}");
    }
    style + "}"
}

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle on its side.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle on its corner.
    Wedge,
    /// Two crossed lines.
    Cross,
    /// A circle that is not filled, larger than other marks, to go around them.
    Ring,
    /// The same as a square.
    Frame,
}

impl Shape {
    /// The shape of the series of this number.
    pub fn of(index: usize) -> Shape {
        use Shape::{Circle, Cross, Diamond, Square, Triangle, Wedge};
        [Circle, Square, Triangle, Diamond, Wedge, Cross][index % 6]
    }
}

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    /// Not at all.
    Solid,
    /// In dashes.
    Dashed,
    /// In dots.
    Dotted,
    /// In turn.
    DashDot,
    /// In long dashes.
    Long,
}

impl Dash {
    /// The dash of the series of this number.
    pub fn of(index: usize) -> Dash {
        [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDot, Dash::Long][index % 5]
    }

    pub(crate) fn attribute(self) -> &'static str {
        match self {
            Dash::Solid => "",
            Dash::Dashed => " stroke-dasharray=\"7 4\"",
            Dash::Dotted => " stroke-dasharray=\"2 3\"",
            Dash::DashDot => " stroke-dasharray=\"8 3 2 3\"",
            Dash::Long => " stroke-dasharray=\"14 5\"",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear((red, green, blue): Rgb) -> [f64; 3] {
        [red, green, blue].map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// WCAG 2.1, contrast ratio.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let light = |rgb: Rgb| {
            let [red, green, blue] = linear(rgb);
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (a, b) = (light(a), light(b));
        a.max(b) / a.min(b)
    }

    /// CIE L*a*b*.
    fn lab([red, green, blue]: [f64; 3]) -> [f64; 3] {
        let xyz = [
            (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
            0.2126 * red + 0.7152 * green + 0.0722 * blue,
            (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
        ];
        let [x, y, z] = xyz.map(|t| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// What the eye makes of linear red, green and blue: none, protanopia, deuteranopia, tritanopia, after
    /// Machado et al. (2009), severity 1.
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn seen(rgb: Rgb, eye: &[[f64; 3]; 3]) -> [f64; 3] {
        let own = linear(rgb);
        lab(eye.map(|row| row.iter().zip(own).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0)))
    }

    #[test]
    fn colours_stay_apart_for_every_eye_and_from_the_paper() {
        for paper in 0..2 {
            let on_paper = |index: usize| contrast(Colour::values(index)[paper], BASE[0][paper]);
            assert!(on_paper(1) >= 12.0 && on_paper(2) >= 4.5);
            for (at, colour) in SERIES.iter().enumerate() {
                assert!(on_paper(BASE.len() + at) >= 3.0, "{colour:?} on paper {paper}");
                for (other, eye) in
                    SERIES[..at].iter().flat_map(|other| EYES.iter().map(move |eye| (other, eye)))
                {
                    let (a, b) = (seen(colour[paper], eye), seen(other[paper], eye));
                    let apart = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    // 2.3 can just be seen.
                    assert!(apart > 5.0 * 2.3, "{colour:?} and {other:?} are {apart} apart on paper {paper}");
                }
            }
        }
    }

    #[test]
    fn roles_are_found_by_their_values() {
        for colour in [Colour::Paper, Colour::Ink, Colour::Muted, Colour::Grid]
            .into_iter()
            .chain((0..8).map(Colour::Series))
        {
            assert_eq!(Colour::of(colour.rgb()), colour);
        }
        let looks: std::collections::BTreeSet<String> =
            (0..30).map(|index| format!("{:?} {:?}", Shape::of(index), Dash::of(index))).collect();
        assert_eq!(looks.len(), 30, "series differ without colours, too");
    }
}
