//! The graph itself: every node a disc whose area is the size of its contribution and whose colour is its sign, as in
//! the paper; molecules with their bonds and elements, node tasks with rings of equal distance.

mod bonds;
mod labels;
mod legend;

use gnan::files::BondOrder;

use super::FigureContent;
use super::table::{FigureCell, FigureTable};
use crate::colour::Colour;
use crate::layout::{self, MARGIN};
use crate::placement::{Point, apart, bounds};
use crate::scene::{Anchor, Element, Scene};
use crate::text;

/// What the figure shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphFigure {
    /// Title of the figure.
    pub title: String,
    /// What contributions raise or lower, for instance "log-odds of mutagenic".
    pub output: String,
    /// The unit of contributions, for instance "log-odds".
    pub unit: String,
    /// Whether contributions are those of nodes as sources or as receivers.
    pub role: NodeRole,
    /// Whether the graph is a molecule: edges are bonds.
    pub molecule: bool,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges between them; one that names a node that is not there is not drawn.
    pub edges: Vec<Edge>,
    /// Rings of equal distance around the origin.
    pub rings: Vec<Ring>,
    /// What else a reader must know, for instance what was left out.
    pub notes: Vec<String>,
}

/// In which role a node's contribution is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeRole {
    /// As source: what the node's own features contribute to the prediction.
    #[default]
    Source,
    /// As receiver: the node's output, from all sources; as in the paper's figures.
    Receiver,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its place, in units of an edge, y downwards.
    pub place: Point,
    /// What is written on or beside it.
    pub label: Label,
    /// What it contributes; one that is not finite is shown as unknown.
    pub contribution: f64,
    /// The tooltip, before its contribution.
    pub tooltip: String,
    /// Values of its features that few training items have: its contribution has little support.
    pub weak: Vec<String>,
}

/// What is written on or beside a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// Words, where there is room.
    Words(String),
    /// An atom; carbons are corners without a letter.
    Atom {
        /// Symbol of the element.
        element: String,
        /// Attached hydrogens that are not nodes.
        hydrogens: u8,
        /// Formal charge.
        charge: i8,
    },
}

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its ends, as places in the list of nodes.
    pub nodes: [usize; 2],
    /// Its order, if it is a bond.
    pub order: BondOrder,
    /// Whether it points from the first to the second.
    pub directed: bool,
    /// Whether it is drawn faintly, because it is on no shortest path that is drawn.
    pub faint: bool,
}

/// A ring of equal distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Its radius, in units of an edge.
    pub radius: f64,
    /// The distance it stands for.
    pub distance: u32,
}

/// The radius that the largest disc has at least, in pixels.
const SEEN: f64 = 3.0;

/// The drawing in pixels.
struct Sheet<'a> {
    figure: &'a GraphFigure,
    /// Middle of every node.
    at: Vec<Point>,
    /// Length of an edge.
    unit: f64,
    /// Radius of a disc for a contribution of 1.
    scale: f64,
    /// The radius of every disc.
    radii: Vec<f64>,
    /// For every node the nodes it is joined to.
    neighbours: Vec<Vec<usize>>,
    /// Size of letters.
    size: f64,
}

impl FigureContent for GraphFigure {
    fn scene(&self, width: f64) -> Scene {
        let width = layout::figure_width(width);
        let mut elements = Vec::new();
        let top = layout::heading(&mut elements, &self.title, width) + 4.0;
        let (sheet, bottom, middle) = self.sheet(width, top);
        elements.extend(self.rings.iter().map(|ring| sheet.ring(ring, middle)));
        if !self.molecule {
            elements.extend(sheet.edges());
        }
        elements.extend((0..self.nodes.len()).map(|node| sheet.disc(node)));
        if self.molecule {
            elements.extend(sheet.bonds());
        }
        let axis = sheet.ring_axis(middle);
        elements.extend(self.rings.iter().map(|ring| sheet.ring_number(ring, middle, axis)));
        elements.extend(sheet.labels(width));
        elements.extend((0..self.nodes.len()).map(|node| sheet.target(node)));
        let mut y = sheet.legend(&mut elements, bottom + 8.0, width);
        for note in &self.notes {
            y = layout::note(&mut elements, note, y, width);
        }
        let mut scene = Scene::new(width, y + MARGIN, text::one_line(&self.title));
        scene.description = self.description();
        scene.elements = elements;
        scene
    }

    fn table(&self) -> FigureTable {
        let mut table = FigureTable::new(["node", "contribution", "little support"]);
        for node in &self.nodes {
            let weak = node.weak.join(", ");
            table.rows.push(vec![
                (&text::one_line(&node.tooltip)).into(),
                FigureCell::Number(node.contribution),
                (&weak).into(),
            ]);
        }
        table.without_empty_columns()
    }
}

impl GraphFigure {
    /// Places everything in pixels below `top`; returns where the drawing ends and where its origin is.
    fn sheet(&self, width: f64, top: f64) -> (Sheet<'_>, f64, Point) {
        let known = |x: f64| if x.is_finite() { x.clamp(-1e6, 1e6) } else { 0.0 };
        let places: Vec<Point> = self.nodes.iter().map(|node| node.place.map(known)).collect();
        let rim = self.rings.iter().map(|ring| known(ring.radius)).fold(0.0, f64::max);
        let mut shown = places.clone();
        shown.extend([[-rim, -rim], [rim, rim]].into_iter().filter(|_| rim > 0.0));
        let [low, high] = bounds(&shown);
        let span = [high[0] - low[0], high[1] - low[1]];
        let longest = if self.molecule { 46.0 } else { 64.0 };
        // Half an edge around the drawing for discs, and some more for letters.
        let room = [width - 2.0 * MARGIN - 36.0, (0.8 * width).clamp(260.0, 620.0)];
        let fit = |axis: usize| room[axis] / (span[axis] + 1.0);
        let unit = fit(0).min(fit(1)).clamp(1e-3, longest);
        let height = (span[1] + 1.0) * unit + 12.0;
        let origin =
            [width / 2.0 - unit * (low[0] + high[0]) / 2.0, top + height / 2.0 - unit * (low[1] + high[1]) / 2.0];
        let at: Vec<Point> = places.iter().map(|[x, y]| [origin[0] + unit * x, origin[1] + unit * y]).collect();
        let mut neighbours = vec![Vec::new(); at.len()];
        for [one, other] in self.edges.iter().map(|edge| edge.nodes) {
            if one != other && one < at.len() && other < at.len() {
                neighbours[one].push(other);
                neighbours[other].push(one);
            }
        }
        let scale = self.disc_scale(&at, unit);
        let radii = self.nodes.iter().map(|node| scale * root(node.contribution)).collect();
        let size = (0.4 * unit).clamp(7.0, 15.0);
        (Sheet { figure: self, at, unit, scale, radii, neighbours, size }, top + height, origin)
    }

    /// The radius of a contribution of 1, in pixels: as large as it can be without discs that cover each other.
    fn disc_scale(&self, at: &[Point], unit: f64) -> f64 {
        let roots: Vec<f64> = self.nodes.iter().map(|node| root(node.contribution)).collect();
        let largest = roots.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return 0.0;
        }
        // In a crowd, discs may cover each other before they are too small to be seen.
        let limit = if self.molecule { 0.47 * unit } else { (0.45 * unit).min(24.0) }.max(SEEN);
        let mut scale = limit / largest;
        for one in 0..at.len() {
            for other in one + 1..at.len() {
                let both = roots[one] + roots[other];
                if both * scale > (at[one][0] - at[other][0]).abs() && both > 0.0 {
                    scale = scale.min(0.97 * apart(at[one], at[other]) / both);
                }
            }
        }
        // Two nodes at one place must not make all others vanish.
        scale.max((0.2 * limit).max(SEEN) / largest)
    }

    fn description(&self) -> String {
        let count = |sign: f64| self.nodes.iter().filter(|node| node.contribution * sign > 0.0).count();
        let strongest = self.nodes.iter().filter(|node| node.contribution.is_finite());
        let strongest = strongest.max_by(|a, b| a.contribution.abs().total_cmp(&b.contribution.abs()));
        let mut words = format!(
            "A graph of {} nodes and {} edges; {} nodes raise and {} lower {}.",
            self.nodes.len(),
            self.edges.len(),
            count(1.0),
            count(-1.0),
            text::one_line(&self.output)
        );
        if let Some(node) = strongest {
            let value = text::signed(node.contribution, 3);
            words += &format!(
                " The strongest is {}: {value} {}.",
                text::one_line(&node.tooltip),
                text::one_line(&self.unit)
            );
        }
        words
    }
}

/// The square root of the size of a contribution, so that the area is its size; unknown is nothing.
fn root(contribution: f64) -> f64 {
    if contribution.is_finite() { contribution.abs().sqrt() } else { 0.0 }
}

impl Sheet<'_> {
    fn colour(&self, node: usize) -> Colour {
        if self.figure.nodes[node].contribution < 0.0 { Colour::Negative } else { Colour::Positive }
    }

    /// The disc of a node; without a contribution, a dot (or nothing, where bonds meet).
    fn disc(&self, node: usize) -> Element {
        let radius = self.radii[node];
        let dot = (0.05 * self.unit).clamp(1.2, 2.5);
        if !self.figure.nodes[node].contribution.is_finite() {
            let unknown = Element::circle(self.at[node], 2.0 * dot, Colour::Surface);
            return unknown.stroke(Colour::Muted, 1.0).dashed(2.0, 2.0);
        }
        if radius < dot && !self.figure.molecule {
            return Element::circle(self.at[node], dot, Colour::Muted);
        }
        let colour = self.colour(node);
        if !self.figure.nodes[node].weak.is_empty() {
            let faint = Element::circle(self.at[node], radius.max(2.0 * dot), colour).opacity(0.3);
            return faint.stroke(colour, 1.6).dashed(3.0, 2.5);
        }
        let disc = Element::circle(self.at[node], radius, colour).opacity(0.62);
        if radius > 4.0 { disc.stroke(colour, 1.0) } else { disc }
    }

    /// An invisible circle above everything, with the tooltip of a node.
    fn target(&self, node: usize) -> Element {
        let Node { contribution, tooltip, weak, .. } = &self.figure.nodes[node];
        let value = if contribution.is_finite() {
            format!("{} {}", text::signed(*contribution, 6), text::one_line(&self.figure.unit))
        } else {
            "contribution unknown".to_string()
        };
        let radius = self.radii[node].max((0.3 * self.unit).clamp(2.0, 10.0));
        let circle = Element::circle(self.at[node], radius, Colour::Surface).opacity(0.0);
        let weak = match weak.is_empty() {
            true => String::new(),
            false => format!("\nlittle support: {}", text::one_line(&weak.join(", "))),
        };
        circle.class("node").data("node", node.to_string()).tooltip(format!("{tooltip}\n{value}{weak}"))
    }

    /// A ring of equal distance.
    fn ring(&self, ring: &Ring, middle: Point) -> Element {
        let circle = Element::circle(middle, ring.radius * self.unit, Colour::Surface);
        circle.hollow().stroke(Colour::Grid, 1.2)
    }

    /// The distance of a ring, on it.
    fn ring_number(&self, ring: &Ring, middle: Point, [x, y]: Point) -> Element {
        let radius = ring.radius * self.unit;
        let number = Element::text([middle[0] + radius * x, middle[1] + radius * y], ring.distance.to_string());
        number.size(10.0).anchor(Anchor::Middle).centred().fill(Colour::Muted).stroke(Colour::Surface, 3.0)
    }
}
