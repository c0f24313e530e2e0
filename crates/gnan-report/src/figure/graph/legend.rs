//! The legend of the drawing: how large a disc of a known contribution is, and what the colours mean.

use super::{NodeRole, Sheet};
use crate::colour::Colour;
use crate::layout::{self, MARGIN};
use crate::scene::Element;
use crate::text;

const SIZE: f64 = 12.0;

impl Sheet<'_> {
    /// Writes the legend below `y`; returns where it ends.
    pub(super) fn legend(&self, elements: &mut Vec<Element>, y: f64, width: f64) -> f64 {
        let output = text::shortened(&self.figure.output, SIZE, 0.6 * width);
        let mut entries: Vec<(Element, f64, String)> = Vec::new();
        for value in self.samples() {
            let radius = self.scale * value.sqrt();
            let ring = Element::circle([radius, 0.0], radius, Colour::Surface).hollow().stroke(Colour::Muted, 1.2);
            entries.push((ring, 2.0 * radius, text::number(value, 1)));
        }
        if let Some((_, _, words)) = entries.last_mut() {
            words.push(' ');
            words.push_str(&text::shortened(&self.figure.unit, SIZE, 120.0));
        }
        for (colour, verb) in [(Colour::Positive, "raises"), (Colour::Negative, "lowers")] {
            let disc = Element::circle([6.0, 0.0], 6.0, colour).opacity(0.62).stroke(colour, 1.0);
            entries.push((disc, 12.0, format!("{verb} {output}")));
        }
        if self.figure.nodes.iter().any(|node| !node.weak.is_empty()) {
            let disc = Element::circle([6.0, 0.0], 6.0, Colour::Surface).stroke(Colour::Muted, 1.6).dashed(3.0, 2.5);
            entries.push((disc, 12.0, "has a value that few training items have".to_owned()));
        }
        let tallest = entries.iter().map(|entry| entry.1).fold(14.0, f64::max);
        let mut x = MARGIN;
        let mut y = y + tallest / 2.0;
        for (mark, across, words) in entries {
            let length = across + 6.0 + text::width(&words, SIZE);
            if x > MARGIN && x + length > width - MARGIN {
                (x, y) = (MARGIN, y + 20.0_f64.max(tallest / 2.0 + 10.0));
            }
            elements.push(moved(mark, [x, y]));
            elements.push(Element::text([x + across + 6.0, y], words).size(SIZE).centred());
            x += length + 18.0;
        }
        layout::note(elements, &self.sentence(), y + 4.0_f64.max(tallest / 2.0 - 4.0), width)
    }

    /// What area means.
    fn sentence(&self) -> String {
        let figure = self.figure;
        let thing = if figure.molecule { "atom" } else { "node" };
        let what = match figure.role {
            NodeRole::Source if !figure.rings.is_empty() => {
                "contribution of the source's own features to the receiver in the middle; rings are distances"
                    .to_owned()
            }
            NodeRole::Source => format!("contribution of the {thing}'s own features ({thing} as source)"),
            NodeRole::Receiver => format!("output of the {thing} from all sources ({thing} as receiver)"),
        };
        format!("Area of a disc: {what}.")
    }

    /// One or two round contributions to show the size of.
    fn samples(&self) -> Vec<f64> {
        let values = self.figure.nodes.iter().map(|node| node.contribution.abs()).filter(|value| value.is_finite());
        let largest = values.fold(0.0, f64::max);
        if !(f64::MIN_POSITIVE..=1e12).contains(&largest) {
            return Vec::new();
        }
        let large = round(largest);
        let small = round(large / 4.0);
        [small, large].into_iter().filter(|value| self.scale * value.sqrt() >= 1.5).collect()
    }
}

/// The largest 1, 2 or 5 times a power of ten that is not larger.
fn round(value: f64) -> f64 {
    let exponent = value.log10().floor() as i32;
    let candidates = [(5, exponent), (2, exponent), (1, exponent), (5, exponent - 1)];
    // Written and read, so that 0.3 is not 0.30000000000000004.
    let numbers = candidates.iter().filter_map(|(digit, exponent)| format!("{digit}e{exponent}").parse::<f64>().ok());
    numbers.into_iter().find(|number| *number <= value * (1.0 + 1e-9)).unwrap_or(value)
}

fn moved(mut mark: Element, [x, y]: [f64; 2]) -> Element {
    if let crate::scene::Shape::Circle { centre, .. } = &mut mark.shape {
        *centre = [centre[0] + x, centre[1] + y];
    }
    mark
}
