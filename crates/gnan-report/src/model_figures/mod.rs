//! The figures of a model as a whole, made from its overview: importances, influence by distance, effects of features,
//! the structure term. Every number drawn is one of the canonical form.

mod distance;
mod effects;
mod heatmaps;
mod importance;
mod pair;

use gnan::explain::{Canonical, Overview};
use gnan::files::Task;

use crate::bands::Bands;
use crate::figure::{Estimate, FigureContent, Interval};
use crate::words;

/// Most panels and bars of a figure; what is left out is counted in it.
const MOST_PANELS: usize = 24;
/// Most rows of a heatmap, divided between the panels of several outputs ...
const MOST_ROWS: usize = 60;
/// ... but at least so many.
const LEAST_ROWS: usize = 12;
/// Features that have a heatmap of their values.
const VALUE_HEATMAPS: usize = 3;
/// Feature pairs that have a heatmap.
const PAIR_HEATMAPS: usize = 12;

/// A figure with its name and its caption.
pub struct Figure {
    /// A short name, fit for a file.
    pub name: String,
    /// What the figure shows, in a sentence or two.
    pub caption: String,
    /// The figure itself, to be laid out at any width.
    pub content: Box<dyn FigureContent>,
}

impl Figure {
    /// A figure.
    pub fn new(name: impl Into<String>, caption: impl Into<String>, content: impl FigureContent + 'static) -> Figure {
        Figure { name: name.into(), caption: caption.into(), content: Box::new(content) }
    }
}

/// What the figures of a model are made from.
pub struct ModelFigures<'a> {
    overview: &'a Overview,
    canonical: &'a Canonical,
    bands: Bands<'a>,
    task: Task,
    /// Features from the most to the least important.
    order: Vec<usize>,
}

impl<'a> ModelFigures<'a> {
    /// The figures of a model.
    pub fn new(canonical: &'a Canonical, overview: &'a Overview, bands: Bands<'a>) -> ModelFigures<'a> {
        let task = canonical.definition().learned.task;
        ModelFigures { overview, canonical, bands, task, order: overview.by_importance(None) }
    }

    /// What an item is: "graph", "labelled node" or "node pair".
    fn item_noun(&self) -> String {
        words::item_noun(self.canonical.definition()).to_owned()
    }

    /// What has the values of a feature: a node, or where links are predicted an edge or the node pair itself.
    fn source_noun(&self, own_value: bool) -> &'static str {
        match self.canonical.definition().learned.links {
            Some(_) if own_value => "node pair",
            Some(_) => "edge",
            None => "node",
        }
    }

    /// All figures, in the order in which they are read.
    pub fn all(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        figures.extend(self.importance());
        figures.push(self.effects());
        figures.extend(self.influence_by_distance());
        figures.extend(self.order.iter().filter_map(|k| self.levels_by_distance(*k)).take(VALUE_HEATMAPS));
        figures.extend(self.order.iter().filter_map(|k| self.pair_heatmap(*k)).take(PAIR_HEATMAPS));
        figures.push(self.features_by_distance());
        // The levels of categorical features are rows of the heatmap of features already.
        let curves = self.order.iter().filter(|k| self.overview.features[**k].curve.is_some());
        figures.extend(curves.take(VALUE_HEATMAPS).filter_map(|k| self.value_by_distance(*k)));
        figures.push(self.structure_by_distance());
        figures
    }

    /// The figures of the model as a whole, without those of single features.
    pub fn of_whole(&self) -> Vec<Figure> {
        let mut figures: Vec<Figure> = self.importance().into_iter().collect();
        figures.push(self.effects());
        figures.extend(self.influence_by_distance());
        figures.extend([self.features_by_distance(), self.structure_by_distance()]);
        figures
    }

    /// The figures of one feature.
    pub fn of_feature(&self, k: usize) -> Vec<Figure> {
        if let Some(pair) = self.pair_heatmap(k) {
            return vec![pair];
        }
        let mut figures = vec![self.effects_of(k)];
        figures.extend(self.levels_by_distance(k).or_else(|| self.value_by_distance(k)));
        figures
    }

    /// The figures of the whole model, then those of these features.
    pub fn of_features(&self, features: &[usize]) -> Vec<Figure> {
        let mut figures: Vec<Figure> = self.importance().into_iter().collect();
        figures.push(self.effects());
        figures.extend(self.influence_by_distance());
        figures.extend(features.iter().filter_map(|k| self.levels_by_distance(*k)));
        figures.extend([self.features_by_distance(), self.structure_by_distance()]);
        figures.extend(features.iter().filter_map(|k| self.pair_heatmap(*k).or_else(|| self.value_by_distance(*k))));
        figures
    }

    /// Features from the most to the least important.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Distances (slots of the axis) that occur in training.
    fn slots(&self) -> Vec<usize> {
        (0..self.canonical.slots()).filter(|slot| self.canonical.seen(*slot)).collect()
    }

    /// Whether a feature is a feature pair, which has a heatmap of its own in place of bars.
    fn is_pair(&self, k: usize) -> bool {
        self.canonical.definition().learned.features[k].pair.is_some()
    }
}

fn estimate(value: f64, interval: Option<[f64; 2]>) -> Estimate {
    Estimate { value, interval: interval.map(|[low, high]| Interval { low, high }) }
}
