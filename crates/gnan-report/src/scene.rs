//! What a figure is before it is a file: lines, rectangles, circles and words at places, in pixels from the top left.
//! One scene becomes SVG, PNG and interactive HTML; none of them adds or loses anything but behaviour.

use crate::colour::{Colour, Palette};
use crate::text;

/// A figure: its size, its text for readers who cannot see it, and its elements, back to front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// What the figure shows, in one line.
    pub title: String,
    /// What the figure shows, for a reader who cannot see it.
    pub description: String,
    /// The colours of signs.
    pub palette: Palette,
    /// What it is made of, back to front.
    pub elements: Vec<Element>,
}

impl Scene {
    /// An empty scene.
    pub fn new(width: f64, height: f64, title: impl Into<String>) -> Scene {
        Scene { width, height, title: title.into(), ..Scene::default() }
    }

    /// Adds an element in front of all others.
    pub fn push(&mut self, element: Element) {
        self.elements.push(element);
    }

    /// The same scene with other colours of signs.
    pub fn with_palette(mut self, palette: Palette) -> Scene {
        self.palette = palette;
        self
    }
}

/// One thing in a scene, with its colours and its tooltip.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its geometry.
    pub shape: Shape,
    /// How its inside is painted.
    pub fill: Fill,
    /// How its outline is painted.
    pub stroke: Option<Stroke>,
    /// From 0 (invisible) to 1.
    pub opacity: f64,
    /// Shown when pointed at; lines are separated by `\n`.
    pub tooltip: Option<String>,
    /// Names of classes, for style sheets and scripts: letters, digits and dashes.
    pub class: Option<String>,
    /// Data attributes, without their `data-`: a name of letters, digits and dashes, and any text.
    pub data: Vec<(String, String)>,
}

/// The geometry of an element.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A straight line.
    Line {
        /// Where it starts.
        from: [f64; 2],
        /// Where it ends.
        to: [f64; 2],
    },
    /// Points joined by straight lines.
    Polyline {
        /// The corners, in order.
        points: Vec<[f64; 2]>,
        /// Whether the last corner is joined to the first.
        closed: bool,
    },
    /// A rectangle, its corners rounded by a radius.
    Rectangle {
        /// Left edge.
        x: f64,
        /// Upper edge.
        y: f64,
        /// Width.
        width: f64,
        /// Height.
        height: f64,
        /// Radius of its corners.
        radius: f64,
    },
    /// A circle.
    Circle {
        /// Its middle.
        centre: [f64; 2],
        /// Its radius.
        radius: f64,
    },
    /// One line of words.
    Text {
        /// Where the anchor of the baseline is.
        at: [f64; 2],
        /// The words.
        text: String,
        /// Which part of the words stands at that place.
        anchor: Anchor,
        /// Size in pixels.
        size: f64,
        /// Whether they are bold.
        bold: bool,
        /// Degrees, clockwise, around that place.
        rotation: f64,
    },
    /// Several elements together.
    Group(Vec<Element>),
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// Its first letter.
    #[default]
    Start,
    /// Its middle.
    Middle,
    /// Its last letter.
    End,
}

/// How the inside of an element is painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// Not at all.
    None,
    /// Evenly.
    Plain(Colour),
    /// Diagonal lines on nothing: little support. Paint a faint plain fill beneath it where one is wanted.
    Hatch(Colour),
}

/// How an outline is painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in pixels.
    pub width: f64,
    /// Lengths of dash and gap; none is a whole line.
    pub dash: Option<[f64; 2]>,
}

impl Element {
    fn new(shape: Shape, fill: Fill) -> Element {
        Element { shape, fill, stroke: None, opacity: 1.0, tooltip: None, class: None, data: Vec::new() }
    }

    /// A line of one pixel in ink.
    pub fn line(from: [f64; 2], to: [f64; 2]) -> Element {
        Element::new(Shape::Line { from, to }, Fill::None).stroke(Colour::Ink, 1.0)
    }

    /// An open line through points, of one and a half pixels in ink.
    pub fn polyline(points: Vec<[f64; 2]>) -> Element {
        Element::new(Shape::Polyline { points, closed: false }, Fill::None).stroke(Colour::Ink, 1.5)
    }

    /// A filled area with corners.
    pub fn polygon(points: Vec<[f64; 2]>, colour: Colour) -> Element {
        Element::new(Shape::Polyline { points, closed: true }, Fill::Plain(colour))
    }

    /// A filled rectangle; a negative width or height is turned around.
    pub fn rectangle(x: f64, y: f64, width: f64, height: f64, colour: Colour) -> Element {
        let (x, width) = if width < 0.0 { (x + width, -width) } else { (x, width) };
        let (y, height) = if height < 0.0 { (y + height, -height) } else { (y, height) };
        Element::new(Shape::Rectangle { x, y, width, height, radius: 0.0 }, Fill::Plain(colour))
    }

    /// A filled circle.
    pub fn circle(centre: [f64; 2], radius: f64, colour: Colour) -> Element {
        Element::new(Shape::Circle { centre, radius }, Fill::Plain(colour))
    }

    /// Words of 12 pixels in ink that start at a place on their baseline.
    pub fn text(at: [f64; 2], text: impl Into<String>) -> Element {
        let shape =
            Shape::Text { at, text: text.into(), anchor: Anchor::Start, size: 12.0, bold: false, rotation: 0.0 };
        Element::new(shape, Fill::Plain(Colour::Ink))
    }

    /// A name on one line of at most so many pixels; where it had to be shortened, pointing at it shows the whole.
    pub fn name(at: [f64; 2], name: &str, size: f64, pixels: f64) -> Element {
        let (whole, short) = (text::one_line(name), text::shortened(name, size, pixels));
        let shortened = short != whole;
        let words = Element::text(at, short).size(size);
        if shortened { words.tooltip(whole) } else { words }
    }

    /// Several elements as one.
    pub fn group(elements: Vec<Element>) -> Element {
        Element::new(Shape::Group(elements), Fill::None)
    }

    /// Paints the inside evenly.
    pub fn fill(mut self, colour: Colour) -> Element {
        self.fill = Fill::Plain(colour);
        self
    }

    /// Paints the inside with diagonal lines.
    pub fn hatch(mut self, colour: Colour) -> Element {
        self.fill = Fill::Hatch(colour);
        self
    }

    /// Leaves the inside unpainted.
    pub fn hollow(mut self) -> Element {
        self.fill = Fill::None;
        self
    }

    /// Paints the outline; behind words, it sets them off from what lies beneath.
    pub fn stroke(mut self, colour: Colour, width: f64) -> Element {
        self.stroke = Some(Stroke { colour, width, dash: None });
        self
    }

    /// Leaves the outline unpainted.
    pub fn without_stroke(mut self) -> Element {
        self.stroke = None;
        self
    }

    /// Breaks the outline into dashes.
    pub fn dashed(mut self, dash: f64, gap: f64) -> Element {
        if let Some(stroke) = &mut self.stroke {
            stroke.dash = Some([dash, gap]);
        }
        self
    }

    /// Lets what lies behind shine through.
    pub fn opacity(mut self, opacity: f64) -> Element {
        self.opacity = opacity;
        self
    }

    /// Sets the tooltip, shown when pointed at.
    pub fn tooltip(mut self, tooltip: impl Into<String>) -> Element {
        self.tooltip = Some(tooltip.into());
        self
    }

    /// Names it for style sheets and scripts.
    pub fn class(mut self, class: impl Into<String>) -> Element {
        self.class = Some(class.into());
        self
    }

    /// Adds a data attribute.
    pub fn data(mut self, name: impl Into<String>, value: impl Into<String>) -> Element {
        self.data.push((name.into(), value.into()));
        self
    }

    /// Makes it part of a series that a legend entry shows and hides.
    pub fn series(self, series: usize) -> Element {
        self.data("series", series.to_string())
    }

    /// Makes it the legend entry that shows and hides a series.
    pub fn toggles(self, series: usize) -> Element {
        self.data("toggle", series.to_string())
    }

    /// Rounds the corners of a rectangle.
    pub fn rounded(mut self, by: f64) -> Element {
        if let Shape::Rectangle { radius, .. } = &mut self.shape {
            *radius = by;
        }
        self
    }

    /// Sets which part of the words stands at their place.
    pub fn anchor(mut self, at: Anchor) -> Element {
        if let Shape::Text { anchor, .. } = &mut self.shape {
            *anchor = at;
        }
        self
    }

    /// Sets the size of the words in pixels.
    pub fn size(mut self, pixels: f64) -> Element {
        if let Shape::Text { size, .. } = &mut self.shape {
            *size = pixels;
        }
        self
    }

    /// Makes the words bold.
    pub fn bold(mut self) -> Element {
        if let Shape::Text { bold, .. } = &mut self.shape {
            *bold = true;
        }
        self
    }

    /// Turns the words around their place, in degrees, clockwise.
    pub fn rotate(mut self, degrees: f64) -> Element {
        if let Shape::Text { rotation, .. } = &mut self.shape {
            *rotation = degrees;
        }
        self
    }

    /// Moves the words down so that their place is the middle of their height instead of their baseline. Set the size first.
    pub fn centred(mut self) -> Element {
        if let Shape::Text { at, size, rotation, .. } = &mut self.shape {
            let radians = rotation.to_radians();
            at[0] -= 0.36 * *size * radians.sin();
            at[1] += 0.36 * *size * radians.cos();
        }
        self
    }
}
