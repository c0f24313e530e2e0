//! Draws what `cargo run -p gnan --example growth -- --json FILE` measured: CPU time and memory over the number of nodes,
//! both on logarithmic axes.
//!
//! `cargo run -p gnan-report --example growth_plot -- FILE growth.svg`

use std::error::Error;

use gnan::numbers::count;
use gnan_report::{Anchor, Colour, Element, Scene, text};
use serde_json::Value;

/// A line of the figure: the key of its numbers, and its name.
type Line = (&'static str, &'static str);

const TIMES: [Line; 4] = [
    ("exact_epoch_seconds", "exact epoch"),
    ("sampled_epoch_seconds", "sampled epoch"),
    ("redraw_seconds", "sample drawn anew"),
    ("distances_seconds", "distances, once"),
];
const MEMORY: [Line; 2] = [("exact_peak_bytes", "exact"), ("sampled_peak_bytes", "sampled")];

/// Width of a panel and of what stands beside it, in pixels.
const PANEL: [f64; 2] = [300.0, 260.0];
const LEFT: f64 = 60.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 60.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("name the file of measurements and the picture".into());
    };
    let measured: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(from)?)?;
    let width = 2.0 * (LEFT + PANEL[0] + RIGHT);
    let mut scene = Scene::new(width, TOP + PANEL[1] + 60.0, "Cost over the size of the graph");
    scene.description = "CPU time and memory of training on 10,000 nodes of graphs of growing size".to_owned();
    scene.push(Element::text([16.0, 24.0], scene.title.clone()).size(15.0).bold());
    panel(&mut scene, 0.0, "CPU time (s)", &measured, &TIMES, 1.0);
    panel(&mut scene, width / 2.0, "peak memory (GB)", &measured, &MEMORY, 1e-9);
    std::fs::write(to, scene.svg())?;
    Ok(())
}

/// A logarithmic map from numbers to pixels, over whole powers of ten.
struct Scale {
    powers: [i32; 2],
    pixels: [f64; 2],
}

impl Scale {
    fn new(values: impl Iterator<Item = f64>, pixels: [f64; 2]) -> Scale {
        let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let low = if low.is_finite() { low } else { 1.0 };
        let powers = [low.log10().floor() as i32, high.max(low).log10().ceil() as i32];
        Scale { powers: [powers[0], powers[1].max(powers[0] + 1)], pixels }
    }

    fn at(&self, value: f64) -> f64 {
        let [low, high] = self.powers.map(f64::from);
        self.pixels[0] + (value.log10() - low) / (high - low) * (self.pixels[1] - self.pixels[0])
    }

    /// Whole powers of ten.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.powers[0]..=self.powers[1]).map(|power| 10f64.powi(power))
    }
}

fn panel(scene: &mut Scene, x: f64, unit: &str, measured: &[Value], lines: &[Line], factor: f64) {
    let value = |one: &Value, key: &str| one[key].as_f64().map(|v| v * factor).filter(|v| *v > 0.0);
    let nodes = |one: &Value| value(one, "nodes").map(|nodes| nodes / factor);
    let (left, bottom) = (x + LEFT, TOP + PANEL[1]);
    let across = Scale::new(measured.iter().filter_map(nodes), [left, left + PANEL[0]]);
    let all = measured.iter().flat_map(|one| lines.iter().filter_map(|(key, _)| value(one, key)));
    let up = Scale::new(all, [bottom, TOP]);
    scene.push(Element::text([left - 44.0, TOP - 12.0], unit).fill(Colour::Muted));
    for tick in up.ticks() {
        scene.push(Element::line([left, up.at(tick)], [left + PANEL[0], up.at(tick)]).stroke(Colour::Grid, 1.0));
        let label = Element::text([left - 8.0, up.at(tick)], text::number(tick, 1)).size(11.0).anchor(Anchor::End);
        scene.push(label.centred().fill(Colour::Muted));
    }
    for tick in across.ticks() {
        scene.push(Element::line([across.at(tick), bottom], [across.at(tick), TOP]).stroke(Colour::Grid, 1.0));
        let label = Element::text([across.at(tick), bottom + 18.0], count(tick as usize)).size(11.0);
        scene.push(label.anchor(Anchor::Middle).fill(Colour::Muted));
    }
    let middle = left + PANEL[0] / 2.0;
    scene.push(Element::text([middle, bottom + 40.0], "nodes").anchor(Anchor::Middle).fill(Colour::Muted));
    let mut places: Vec<(f64, usize)> = Vec::new();
    for (series, (key, name)) in lines.iter().enumerate() {
        let point = |one: &Value| Some([across.at(nodes(one)?), up.at(value(one, key)?)]);
        let points: Vec<[f64; 2]> = measured.iter().filter_map(point).collect();
        let Some(last) = points.last() else { continue };
        places.push((last[1], series));
        for (point, one) in points.iter().zip(measured) {
            let tooltip = format!("{name}: {}", value(one, key).map_or(String::new(), |v| text::number(v, 3)));
            scene.push(Element::circle(*point, 3.0, Colour::Class(series)).tooltip(tooltip));
        }
        scene.push(Element::polyline(points).stroke(Colour::Class(series), 1.8));
    }
    // Names stand at the ends of their lines, apart from each other.
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::NEG_INFINITY;
    for (y, series) in places {
        let y = y.max(lowest + 15.0);
        lowest = y;
        let at = [left + PANEL[0] + 8.0, y];
        scene.push(Element::text(at, lines[series].1).centred().fill(Colour::Class(series)));
    }
}
