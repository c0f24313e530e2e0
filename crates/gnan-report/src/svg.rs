//! From a scene to SVG text. Everything that came from a name is escaped, what is not finite is left out, coordinates
//! have two decimals, and ids carry the figure's own prefix so that several figures can stand in one page.

use std::fmt::Write;

use crate::colour::{Colour, Palette};
use crate::scene::{Anchor, Element, Fill, Scene, Shape};
use crate::text::{known_width, visible};

/// The fonts in order of preference; the first one is embedded in the program for PNG.
pub(crate) const FONTS: &str = "'Noto Sans','Segoe UI','Helvetica Neue',Arial,sans-serif";

/// Coordinates are kept within this many pixels, far outside any figure.
const FAR: f64 = 100_000.0;

/// Words of more letters than this have the width that they were measured with.
const LONG: usize = 3;

impl Scene {
    /// The scene as a file of its own: literal light colours, `<title>` as tooltip.
    pub fn svg(&self) -> String {
        Writer { out: String::new(), id: "figure", palette: Some(self.palette), hatches: Vec::new() }.scene(self)
    }

    /// The scene as a part of an HTML page: colours are variables of the page's style sheet, tooltips and series are
    /// data attributes for the page's script. The id must be unique in the page; it is reduced to letters, digits and
    /// dashes.
    pub fn svg_for_page(&self, id: &str) -> String {
        let id = identifier(id);
        Writer { out: String::new(), id: &id, palette: None, hatches: Vec::new() }.scene(self)
    }
}

struct Writer<'a> {
    out: String,
    id: &'a str,
    /// Literal colours of this palette, or variables of a page.
    palette: Option<Palette>,
    hatches: Vec<Colour>,
}

impl Writer<'_> {
    fn scene(mut self, scene: &Scene) -> String {
        let (width, height) = (coordinate(scene.width.max(1.0)), coordinate(scene.height.max(1.0)));
        let mut head = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"{FONTS}\" font-size=\"12\""
        );
        if self.palette.is_some() {
            let (title, description) = (escaped(&scene.title), escaped(&scene.description));
            let _ = write!(head, " role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n");
            let paper = Element::rectangle(0.0, 0.0, scene.width, scene.height, Colour::Surface);
            self.element(&paper);
        } else {
            let label = escaped(&format!("{}. {}", scene.title, scene.description));
            let _ = writeln!(head, " id=\"{}\" role=\"figure\" tabindex=\"0\" aria-label=\"{label}\">", self.id);
        }
        for element in &scene.elements {
            self.element(element);
        }
        let defs = self.definitions();
        head + &defs + &self.out + "</svg>\n"
    }

    /// The hatch patterns in use.
    fn definitions(&self) -> String {
        let mut defs = String::new();
        for (k, &colour) in self.hatches.iter().enumerate() {
            let stroke = self.paint("stroke", colour);
            let _ = writeln!(
                defs,
                "<pattern id=\"{}-hatch-{k}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
                 patternTransform=\"rotate(45)\"><path d=\"M0 0V5\"{stroke} stroke-width=\"2\"/></pattern>",
                self.id
            );
        }
        if defs.is_empty() { defs } else { format!("<defs>{defs}</defs>\n") }
    }

    fn paint(&self, property: &str, colour: Colour) -> String {
        match self.palette {
            Some(palette) => format!(" {property}=\"{}\"", colour.literal(palette)),
            None => format!(" style=\"{property}:{}\"", colour.variable()),
        }
    }

    /// Fill and stroke together: a style attribute may stand only once.
    fn paints(&mut self, element: &Element) -> String {
        let mut properties: Vec<(&str, String)> = Vec::new();
        let palette = self.palette;
        let resolve = |colour: Colour| palette.map_or_else(|| colour.variable(), |palette| colour.literal(palette));
        match element.fill {
            Fill::None => properties.push(("fill", "none".into())),
            Fill::Plain(colour) => properties.push(("fill", resolve(colour))),
            Fill::Hatch(colour) => {
                let known = self.hatches.iter().position(|&c| c == colour);
                let k = known.unwrap_or(self.hatches.len());
                if known.is_none() {
                    self.hatches.push(colour);
                }
                properties.push(("fill", format!("url(#{}-hatch-{k})", self.id)));
            }
        }
        let mut attributes = String::new();
        if let Some(stroke) = element.stroke {
            properties.push(("stroke", resolve(stroke.colour)));
            let _ = write!(attributes, " stroke-width=\"{}\"", coordinate(stroke.width));
            if let Some([dash, gap]) = stroke.dash {
                let _ = write!(attributes, " stroke-dasharray=\"{} {}\"", coordinate(dash), coordinate(gap));
            }
        }
        if palette.is_some() {
            for (property, value) in properties {
                let _ = write!(attributes, " {property}=\"{value}\"");
            }
        } else {
            let style: Vec<String> = properties.iter().map(|(property, value)| format!("{property}:{value}")).collect();
            let _ = write!(attributes, " style=\"{}\"", style.join(";"));
        }
        attributes
    }

    fn element(&mut self, element: &Element) {
        let Some((tag, geometry)) = geometry(&element.shape) else { return };
        let mut attributes = geometry;
        if !matches!(element.shape, Shape::Group(_)) {
            attributes += &self.paints(element);
        }
        if element.opacity < 1.0 {
            let _ = write!(attributes, " opacity=\"{}\"", coordinate(element.opacity.max(0.0)));
        }
        if let Some(class) = &element.class {
            let names: Vec<String> = class.split_whitespace().map(identifier).collect();
            let _ = write!(attributes, " class=\"{}\"", names.join(" "));
        }
        for (name, value) in &element.data {
            let _ = write!(attributes, " data-{}=\"{}\"", identifier(name).to_ascii_lowercase(), escaped(value));
        }
        let mut inside = String::new();
        if let Some(tooltip) = &element.tooltip {
            if self.palette.is_some() {
                let _ = write!(inside, "<title>{}</title>", escaped(tooltip));
            } else {
                let _ = write!(attributes, " data-tip=\"{}\"", escaped(tooltip));
            }
        }
        let _ = write!(self.out, "<{tag}{attributes}");
        match &element.shape {
            Shape::Text { text, .. } => {
                let _ = writeln!(self.out, ">{inside}{}</{tag}>", escaped(&text.replace('\n', " ")));
            }
            Shape::Group(elements) => {
                let _ = writeln!(self.out, ">{inside}");
                for element in elements {
                    self.element(element);
                }
                let _ = writeln!(self.out, "</{tag}>");
            }
            _ if inside.is_empty() => self.out.push_str("/>\n"),
            _ => {
                let _ = writeln!(self.out, ">{inside}</{tag}>");
            }
        }
    }
}

/// The tag and geometric attributes of a shape, or nothing where a number is not finite or nothing would be seen.
fn geometry(shape: &Shape) -> Option<(&'static str, String)> {
    let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite()).then_some(());
    let c = coordinate;
    match shape {
        Shape::Line { from: [x1, y1], to: [x2, y2] } => {
            finite(&[*x1, *y1, *x2, *y2])?;
            Some(("line", format!(" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", c(*x1), c(*y1), c(*x2), c(*y2))))
        }
        Shape::Polyline { points, closed } => {
            let seen = points.iter().filter(|[x, y]| x.is_finite() && y.is_finite());
            let places: Vec<String> = seen.map(|[x, y]| format!("{},{}", c(*x), c(*y))).collect();
            if places.len() < 2 {
                return None;
            }
            let tag = if *closed { "polygon" } else { "polyline" };
            let join = if *closed { "" } else { " stroke-linejoin=\"round\"" };
            Some((tag, format!(" points=\"{}\"{join}", places.join(" "))))
        }
        Shape::Rectangle { x, y, width, height, radius } => {
            finite(&[*x, *y, *width, *height, *radius])?;
            let round = if *radius > 0.0 { format!(" rx=\"{}\"", c(*radius)) } else { String::new() };
            let (w, h) = (c(width.max(0.0)), c(height.max(0.0)));
            Some(("rect", format!(" x=\"{}\" y=\"{}\" width=\"{w}\" height=\"{h}\"{round}", c(*x), c(*y))))
        }
        Shape::Circle { centre: [x, y], radius } => {
            finite(&[*x, *y, *radius])?;
            Some(("circle", format!(" cx=\"{}\" cy=\"{}\" r=\"{}\"", c(*x), c(*y), c(radius.max(0.0)))))
        }
        Shape::Text { at: [x, y], text, anchor, size, bold, rotation } => {
            finite(&[*x, *y, *size, *rotation])?;
            let mut attributes = format!(" x=\"{}\" y=\"{}\" font-size=\"{}\"", c(*x), c(*y), c(size.max(0.0)));
            match anchor {
                Anchor::Start => {}
                Anchor::Middle => attributes.push_str(" text-anchor=\"middle\""),
                Anchor::End => attributes.push_str(" text-anchor=\"end\""),
            }
            if *bold {
                attributes.push_str(" font-weight=\"bold\"");
            }
            if *rotation != 0.0 {
                let _ = write!(attributes, " transform=\"rotate({} {} {})\"", c(*rotation), c(*x), c(*y));
            }
            // Where the font is missing, another takes its place: its words are as wide as those that were measured.
            if let Some(width) = known_width(text, *size, *bold).filter(|_| text.trim().len() > LONG) {
                let _ = write!(attributes, " textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", c(width));
            }
            attributes.push_str(" paint-order=\"stroke\"");
            Some(("text", attributes))
        }
        Shape::Group(_) => Some(("g", String::new())),
    }
}

/// A coordinate with at most two decimals.
fn coordinate(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-FAR, FAR) } else { 0.0 };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Text that stands for itself in XML and HTML, in an element as in an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().map(visible) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push_str("&#10;"),
            c => out.push(c),
        }
    }
    out
}

/// A name reduced to what an id, a class or an attribute may be called.
fn identifier(name: &str) -> String {
    let kept: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if kept.starts_with(|c: char| c.is_ascii_alphabetic()) { kept } else { format!("n{kept}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_two_decimals() {
        assert_eq!(coordinate(1.0), "1");
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(2.346), "2.35");
        assert_eq!(coordinate(f64::NAN), "0");
    }

    #[test]
    fn names_are_text() {
        let mut scene = Scene::new(100.0, 50.0, "<script>alert(1)</script>");
        scene.push(Element::text([5.0, 20.0], "</text><script>").tooltip("\"><img src=x onerror=alert(1)>\0"));
        for text in [scene.svg(), scene.svg_for_page("\"><script>")] {
            assert!(!text.contains("<script") && !text.contains("<img") && text.contains("&lt;script&gt;"));
            assert!(resvg::usvg::roxmltree::Document::parse(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_not_finite_is_left_out() {
        let mut scene = Scene::new(10.0, 10.0, "t");
        scene.push(Element::line([0.0, f64::NAN], [1.0, 1.0]));
        scene.push(Element::circle([0.0, 1.0], f64::INFINITY, Colour::Ink));
        scene.push(Element::polyline(vec![[0.0, 0.0], [f64::NAN, 1.0]]));
        let text = scene.svg();
        assert!(!text.contains("<line") && !text.contains("<circle") && !text.contains("<polyline"));
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}
