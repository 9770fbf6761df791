//! The writer of SVG: everything that is drawn, and every text of others, goes through it.
//!
//! It is a back end of plotters, whose own one has neither titles of marks nor colours for dark screens. Its
//! unit is a tenth of a pixel, because plotters counts in whole units.

use crate::font;
use crate::palette::{self, Colour, Dash, Shape};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use serde::Serialize;
use std::convert::Infallible;
use std::fmt::{self, Display, Write};
use text_escape::markup;

/// A finished drawing: one `svg` element, well-formed, without a script, a font or a picture from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Svg(String);

impl Svg {
    /// As a document.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for Svg {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Units of a pixel.
pub(crate) const UNITS: f64 = 10.0;

/// Pixels as units.
pub(crate) fn units(pixels: f64) -> i32 {
    (pixels * UNITS).round() as i32
}

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text, and how it is written.
#[derive(Debug, Clone)]
pub(crate) struct Text<'a> {
    pub text: &'a str,
    /// The anchor on the base line, in pixels.
    pub at: (f64, f64),
    pub anchor: Anchor,
    pub size: f64,
    pub colour: Colour,
    pub bold: bool,
    /// From below to above.
    pub upwards: bool,
    /// The whole text, where `text` is a part of it.
    pub title: Option<&'a str>,
    /// Width that the characters are drawn to fill.
    pub length: Option<f64>,
}

impl<'a> Text<'a> {
    pub fn new(text: &'a str, at: (f64, f64)) -> Text<'a> {
        Text {
            text,
            at,
            anchor: Anchor::Start,
            size: font::LABEL,
            colour: Colour::Ink,
            bold: false,
            upwards: false,
            title: None,
            length: None,
        }
    }

    pub fn anchored(self, anchor: Anchor) -> Text<'a> {
        Text { anchor, ..self }
    }

    pub fn coloured(self, colour: Colour) -> Text<'a> {
        Text { colour, ..self }
    }
}

/// A pixel coordinate without zeros at its end.
struct Px(f64);

impl Display for Px {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * UNITS).round() as i64;
        let (sign, tenths) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
        match tenths % 10 {
            0 => write!(formatter, "{sign}{}", tenths / 10),
            rest => write!(formatter, "{sign}{}.{rest}", tenths / 10),
        }
    }
}

/// What a drawing is written to. Coordinates of its own methods are pixels.
pub(crate) struct Canvas<'a> {
    out: &'a mut String,
    /// In units.
    size: (u32, u32),
}

impl<'a> Canvas<'a> {
    /// Goes on with a drawing of so many pixels.
    pub fn new(out: &'a mut String, (width, height): (f64, f64)) -> Canvas<'a> {
        Canvas { out, size: (units(width).max(1) as u32, units(height).max(1) as u32) }
    }

    pub fn text(&mut self, text: &Text<'_>) {
        if text.text.is_empty() {
            return;
        }
        let (x, y) = text.at;
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = write!(self.out, "<text x=\"{}\" y=\"{}\"{anchor}", Px(x), Px(y));
        if text.size != font::LABEL {
            let _ = write!(self.out, " font-size=\"{}\"", Px(text.size));
        }
        if text.colour != Colour::Ink {
            let _ = write!(self.out, " {}", text.colour.fill());
        }
        if text.bold {
            self.out.push_str(" font-weight=\"bold\"");
        }
        if text.upwards {
            let _ = write!(self.out, " transform=\"rotate(-90 {} {})\"", Px(x), Px(y));
        }
        let estimated = || (!font::is_known(text.text)).then(|| font::width(text.text, text.size, text.bold));
        if let Some(length) = text.length.or_else(estimated) {
            let _ = write!(self.out, " textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", Px(length));
        }
        self.out.push('>');
        self.title(text.title.unwrap_or_default());
        let _ = writeln!(self.out, "{}</text>", markup(text.text));
    }

    fn title(&mut self, title: &str) {
        if !title.is_empty() {
            let _ = write!(self.out, "<title>{}</title>", markup(&font::shortened(title)));
        }
    }

    /// A group of elements that have attributes in common; it ends with [`Canvas::end`].
    pub fn group(&mut self, class: &str, attributes: &str) {
        let _ = writeln!(self.out, "<g data-kind=\"{class}\" {attributes}>");
    }

    pub fn end(&mut self) {
        self.out.push_str("</g>\n");
    }

    /// A line through points, or an area where it is closed.
    pub fn path(
        &mut self,
        points: impl Iterator<Item = (f64, f64)>,
        closed: bool,
        attributes: &str,
        title: &str,
    ) {
        let mut path = String::new();
        for (x, y) in points {
            let _ = write!(path, "{}{} {}", if path.is_empty() { 'M' } else { 'L' }, Px(x), Px(y));
        }
        if !path.is_empty() {
            let _ = write!(self.out, "<path d=\"{path}{}\"", if closed { "Z" } else { "" });
            self.finish("path", attributes, title);
        }
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour, width: f64, dash: Dash) {
        let attributes = format!("{} stroke-width=\"{}\"{}", colour.stroke(), Px(width), dash.attribute());
        self.path([from, to].into_iter(), false, &attributes, "");
    }

    pub fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), attributes: &str, title: &str) {
        let (x, y) = (from.0.min(to.0), from.1.min(to.1));
        let (width, height) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        let _ = write!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Px(x),
            Px(y),
            Px(width.max(0.1)),
            Px(height.max(0.1))
        );
        self.finish("rect", attributes, title);
    }

    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, attributes: &str, title: &str) {
        let _ = write!(self.out, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", Px(x), Px(y), Px(radius));
        self.finish("circle", attributes, title);
    }

    /// A mark, in the colours of the group around it or of the attributes.
    pub fn mark(&mut self, shape: Shape, (x, y): (f64, f64), radius: f64, attributes: &str, title: &str) {
        let corners = |corners: &[(f64, f64)]| {
            corners.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius)).collect::<Vec<_>>()
        };
        match shape {
            Shape::Circle | Shape::Ring => self.circle((x, y), radius, attributes, title),
            Shape::Square | Shape::Frame => {
                let half = 0.89 * radius;
                self.rectangle((x - half, y - half), (x + half, y + half), attributes, title);
            }
            Shape::Triangle => {
                let points = corners(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]);
                self.path(points.into_iter(), true, attributes, title);
            }
            Shape::Wedge => {
                let points = corners(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]);
                self.path(points.into_iter(), true, attributes, title);
            }
            Shape::Diamond => {
                let points = corners(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]);
                self.path(points.into_iter(), true, attributes, title);
            }
            Shape::Cross => {
                // Twelve corners, so that it is filled as the others are.
                let (a, b) = (0.35, 1.05);
                let points = corners(&[
                    (0.0, -a),
                    (b - a, -b),
                    (b, a - b),
                    (a, 0.0),
                    (b, b - a),
                    (b - a, b),
                    (0.0, a),
                    (a - b, b),
                    (-b, b - a),
                    (-a, 0.0),
                    (-b, a - b),
                    (a - b, -b),
                ]);
                self.path(points.into_iter(), true, attributes, title);
            }
        }
    }

    fn finish(&mut self, name: &str, attributes: &str, title: &str) {
        if !attributes.is_empty() {
            let _ = write!(self.out, " {attributes}");
        }
        if title.is_empty() {
            self.out.push_str("/>\n");
        } else {
            self.out.push('>');
            self.title(title);
            let _ = writeln!(self.out, "</{name}>");
        }
    }
}

/// How marks of a shape are coloured: filled, or as a line.
pub(crate) fn mark_attributes(shape: Shape, colour: Colour, opacity: f64) -> String {
    match shape {
        Shape::Ring | Shape::Frame => format!("{} stroke-width=\"2.4\"", colour.stroke()),
        _ if opacity < 1.0 => format!("{} fill-opacity=\"{opacity}\"", colour.fill()),
        _ => colour.fill(),
    }
}

/// A whole drawing: the paper, its title and description for those who cannot see it, and what `draw` writes.
pub(crate) fn drawing<E>(
    (width, height): (f64, f64),
    family: &str,
    (title, description): (&str, &str),
    draw: impl FnOnce(&mut String) -> Result<(), E>,
) -> Result<Svg, E> {
    let (width, height) = (width.ceil().max(1.0), height.ceil().max(1.0));
    let mut out = String::new();
    // The style is inside, so that the element looks the same in a file of its own.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" \
         role=\"img\" font-family=\"{family}\" font-size=\"{}\" {}>",
        Px(font::LABEL),
        Colour::Ink.fill()
    );
    let title = if title.is_empty() { description } else { title };
    let _ = writeln!(
        out,
        "<title>{}</title>\n<desc>{}</desc>\n<style>{}</style>",
        markup(&font::shortened(title)),
        markup(&font::shortened(description)),
        palette::style()
    );
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" {}/>", Colour::Paper.fill());
    draw(&mut out)?;
    out.push_str("</svg>\n");
    Ok(Svg(out))
}

fn colour(style: &impl BackendStyle) -> Colour {
    Colour::of(style.color().rgb)
}

fn pixels((x, y): BackendCoord) -> (f64, f64) {
    (f64::from(x) / UNITS, f64::from(y) / UNITS)
}

fn line_attributes(style: &impl BackendStyle) -> String {
    format!("{} stroke-width=\"{}\"", colour(style).stroke(), Px(f64::from(style.stroke_width()) / UNITS))
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        let (x, y) = pixels(point);
        self.rectangle((x, y), (x + 0.1, y + 0.1), &Colour::of(color.rgb).fill(), "");
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let attributes = if fill { colour(style).fill() } else { line_attributes(style) };
        self.rectangle(pixels(from), pixels(to), &attributes, "");
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        if style.color().alpha > 0.0 {
            self.path(path.into_iter().map(pixels), false, &line_attributes(style), "");
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let attributes = if fill { colour(style).fill() } else { line_attributes(style) };
        self.circle(pixels(centre), f64::from(radius) / UNITS, &attributes, "");
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        self.path(corners.into_iter().map(pixels), true, &colour(style).fill(), "");
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Drawn {
        let size = style.size() / UNITS;
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        // From the anchor to the base line, in a font whose capitals are three quarters of its size.
        let down = match style.anchor().v_pos {
            VPos::Top => 0.8 * size,
            VPos::Center => 0.36 * size,
            VPos::Bottom => -0.2 * size,
        };
        let (x, y) = pixels(at);
        let upwards = matches!(style.transform(), FontTransform::Rotate270);
        let at = if upwards { (x + down, y) } else { (x, y + down) };
        self.text(&Text {
            size,
            anchor,
            upwards,
            ..Text::new(text, at).coloured(Colour::of(style.color().rgb))
        });
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size() / UNITS;
        Ok((units(font::width(text, size, false)) as u32, units(size) as u32))
    }
}
