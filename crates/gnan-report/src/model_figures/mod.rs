//! The album: a model's own figures, made from its overview. What is drawn is the canonical form and nothing else.

mod pair;

use gnan::explain::{Canonical, LITTLE_SUPPORT, Overview, Point};
use gnan::files::{Kind, Task};
use gnan::lens::Lens;
use gnan::model::{Rho as RhoKind, Support as Behind};

use crate::bands::Bands;
use crate::figure::heatmap::{Cell, Heatmap, Panel, RowKind};
use crate::figure::importance::{Block, Importance, Item};
use crate::figure::rho::{Curve, Rho};
use crate::figure::shapes::{Bin, Form, Level, ShapeFunction, Shapes};
use crate::figure::value_heatmap::{ValueHeatmap, Values};
use crate::figure::{Estimate, Support};
use crate::scene::Scene;

/// Most panels and bars of a figure; what is left out is counted in it.
const MOST_PANELS: usize = 24;
/// Most rows of a heatmap, divided between the panels of several outputs ...
const MOST_ROWS: usize = 60;
/// ... but at least so many.
const LEAST_ROWS: usize = 12;
/// Distances that have a bar of their own; those beyond are summed.
const NEAR: usize = 12;
/// Most bars of the importances.
const MOST_BARS: usize = 30;
/// Values of a continuous feature that its heatmap shows.
const GRID: usize = 25;
/// Shares of the range of a continuous feature, by the number of nodes below, that stand for it in a heatmap of features.
const TYPICAL: [f64; 2] = [0.1, 0.9];
/// Features that have a heatmap of values of their own.
const VALUE_HEATMAPS: usize = 3;
/// Pairs that have a heatmap.
const PAIR_HEATMAPS: usize = 12;

/// A figure with its name and what to see in it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// A short name, fit for a file.
    pub name: String,
    /// What is to be seen, in a sentence or two.
    pub caption: String,
    /// The figure itself.
    pub scene: Scene,
}

/// What the figures of a model are made from.
pub struct Album<'a> {
    overview: &'a Overview,
    canonical: &'a Canonical,
    bands: Bands<'a>,
    task: Task,
    width: f64,
    /// Features from the most to the least important.
    order: Vec<usize>,
}

impl<'a> Album<'a> {
    /// The album of a model, figures `width` pixels wide.
    pub fn new(canonical: &'a Canonical, overview: &'a Overview, bands: Bands<'a>, width: f64) -> Album<'a> {
        let task = canonical.description().task;
        Album { overview, canonical, bands, task, width, order: by_importance(overview) }
    }

    /// All figures, in the order in which they are read.
    pub fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        figures.extend(self.importance());
        figures.push(self.rho());
        figures.push(self.shapes());
        figures.extend(self.order.iter().filter_map(|k| self.pair_heatmap(*k)).take(PAIR_HEATMAPS));
        figures.push(self.heatmap());
        // The levels of categorical features are rows of the heatmap of features already.
        let curves = self.order.iter().filter(|k| self.overview.features[**k].curve.is_some());
        figures.extend(curves.take(VALUE_HEATMAPS).filter_map(|k| self.value_heatmap(*k)));
        figures.push(self.structure());
        figures
    }

    /// Features from the most to the least important.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// What is counted at a distance.
    fn receivers(&self) -> Vec<u64> {
        let (_, finite) = self.counted();
        finite.iter().map(|count| count.round() as u64).collect()
    }

    fn unreachable(&self) -> Option<u64> {
        let (unreachable, _) = self.counted();
        Some(unreachable).filter(|count| *count > 0.0).map(|count| count.round() as u64)
    }

    /// What is counted by the first lens: unreachable, and at every distance.
    fn counted(&self) -> (f64, &[f64]) {
        let receivers = self.overview.receivers.get(self.canonical.axis().range(0)).unwrap_or(&[]);
        receivers.split_last().map_or((0.0, &[]), |(unreachable, finite)| (*unreachable, finite))
    }

    /// Slots that occur in training.
    fn slots(&self) -> Vec<usize> {
        (0..self.canonical.slots()).filter(|slot| self.canonical.seen(*slot)).collect()
    }

    /// A curve over distance by every lens, from its values, `[slots][outputs]`, for one output.
    fn curves(
        &self,
        name: &str,
        values: &[Vec<f64>],
        c: usize,
        band: impl Fn(usize) -> Option<[f64; 2]>,
    ) -> Vec<Curve> {
        let seen = |slot: usize| self.canonical.seen(slot);
        let estimate = |slot: usize| {
            if seen(slot) { estimate(values[slot][c], band(slot)) } else { Estimate::from(f64::NAN) }
        };
        let axis = self.canonical.axis();
        let by_lens = |lens: usize| {
            let (slots, of_lens) = (axis.range(lens), axis.lens_name(lens));
            let last = slots.end - 1;
            Curve {
                name: if of_lens.is_empty() { name.to_owned() } else { format!("{name}, {of_lens}") },
                points: (slots.start..last).map(estimate).collect(),
                unreachable: seen(last).then(|| estimate(last)),
            }
        };
        (0..axis.lenses()).map(by_lens).collect()
    }

    /// Rho by distance.
    pub fn rho(&self) -> Figure {
        let per_feature = self.canonical.description().rho == RhoKind::PerFeature;
        let outputs = self.overview.outputs.len();
        let curve = |r: usize, c: usize, name: &str| {
            self.curves(name, &self.overview.rho[r].values, c, |slot| self.bands.rho(r, slot, c))
        };
        // The curves of one rho, output by output, for each lens.
        let of_rho = |r: usize| {
            let by_output: Vec<Vec<Curve>> = (0..outputs).map(|c| curve(r, c, &self.overview.rho[r].name)).collect();
            let lenses = self.canonical.axis().lenses();
            (0..lenses)
                .flat_map(|lens| by_output.iter().map(move |curves| curves[lens].clone()).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        let shared = self.canonical.description().rho == RhoKind::Shared;
        let panels = self.overview.rho.len() > 1 || self.canonical.axis().lenses() > 1;
        let mut curves = Vec::new();
        if per_feature {
            for k in &self.order {
                let levels = match self.canonical.has_level_rhos(*k) {
                    true => self.overview.features[*k].levels.len(),
                    false => 1,
                };
                let mut rhos: Vec<usize> = (0..levels).collect();
                let support =
                    |level: &usize| self.overview.features[*k].levels.get(*level).map_or(0, |l| l.support.nodes);
                rhos.sort_by_key(|level| std::cmp::Reverse(support(level)));
                for level in rhos {
                    curves.extend(of_rho(self.canonical.rho_of(*k, level)));
                }
            }
        } else if panels {
            // The rho of the bias alone is part of the structure curve.
            curves.extend((usize::from(!shared)..self.overview.rho.len()).flat_map(of_rho));
        } else {
            curves.extend((0..outputs).flat_map(|c| curve(0, c, &self.overview.outputs[c])));
        }
        let scene = Rho {
            title: "How far a node is heard: rho by distance".to_owned(),
            unit: "rho (largest = 1)".to_owned(),
            curves,
            panels,
            classes: if panels { self.overview.outputs.clone() } else { Vec::new() },
            most: MOST_PANELS,
            receivers: self.receivers(),
            unreachable_receivers: self.unreachable(),
            enough: LITTLE_SUPPORT,
        };
        let each = if per_feature { "Every feature (every level of a categorical one) has its own. " } else { "" };
        Figure {
            name: "rho".to_owned(),
            caption: format!(
                "How much of what a node says arrives at another, by the number of edges between them; 1 is the largest \
                 seen in training. {each}{}Below: how many nodes hear something from there.{}",
                bins_in_words(self.canonical),
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        }
    }

    /// Every shape function, with one y-axis.
    pub fn shapes(&self) -> Figure {
        // A pair has a heatmap of its own.
        let features = self.order.iter().filter(|k| !self.is_pair(**k)).map(|k| self.shape_function(*k)).collect();
        let unit = format!("f ({})", self.unit());
        let scene = Shapes {
            title: "What a node says about itself: shape functions".to_owned(),
            unit,
            outputs: self.overview.outputs.clone(),
            features,
            most: MOST_PANELS,
            enough: LITTLE_SUPPORT,
        };
        Figure {
            name: "shape-functions".to_owned(),
            caption: format!(
                "What a value of a feature contributes at the distance where rho is 1. Binary and sparse features are 0 at \
                 0, the others have mean 0 over the training nodes{}. Faded or hatched: fewer than {LITTLE_SUPPORT} nodes \
                 behind it.{}",
                if self.has_level_rhos() {
                    " (levels with a rho of their own: before the mean is taken off)"
                } else {
                    ""
                },
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        }
    }

    fn has_level_rhos(&self) -> bool {
        (0..self.overview.features.len()).any(|k| self.canonical.has_level_rhos(k))
    }

    /// The unit of rho times f: own outputs may be more than those shown.
    fn unit(&self) -> String {
        if self.overview.outputs.len() > self.overview.shown_outputs.len() {
            "logit of each class".to_owned()
        } else {
            self.overview.unit.clone()
        }
    }

    fn shape_function(&self, k: usize) -> ShapeFunction {
        let feature = &self.overview.features[k];
        let outputs = self.overview.outputs.len();
        let level = |index: usize| {
            let level = &feature.levels[index];
            let point = level.point(feature.kind);
            let value = |c: usize| estimate(level.values[c], self.bands.shape(k, &point, c));
            Level {
                name: level.name.clone(),
                values: (0..outputs).map(value).collect(),
                support: support(level.support),
            }
        };
        let form = match (&feature.curve, feature.kind) {
            (Some(curve), _) => Form::Curve {
                knots: (0..outputs).map(|c| curve.points.iter().map(|(x, values)| [*x, values[c]]).collect()).collect(),
                bands: (0..outputs).map(|c| self.bands.curve(k, c)).collect(),
                bins: (curve.bins.iter())
                    .map(|bin| Bin { from: bin.from, to: bin.to, support: support(bin.support) })
                    .collect(),
                missing: (0..feature.levels.len()).find(|index| feature.levels[*index].missing).map(level),
            },
            (None, Kind::Binary) if feature.levels.len() == 1 => {
                Form::Binary(Level { name: feature.name.clone(), ..level(0) })
            }
            (None, _) => Form::Levels((0..feature.levels.len()).map(level).collect()),
        };
        ShapeFunction { name: feature.name.clone(), unit: feature.unit.clone().unwrap_or_default(), form }
    }

    fn columns(&self) -> (Vec<String>, bool) {
        let (slots, axis) = (self.slots(), self.canonical.axis());
        let apart = axis.lenses() == 1 && slots.last().is_some_and(|slot| axis.distance(*slot).is_none());
        (slots.iter().map(|slot| axis.key(*slot)).collect(), apart)
    }

    /// Cells of one row over the seen slots, per shown output.
    fn cells(&self, k: usize, point: &Point, nodes: u64) -> Vec<Vec<Option<Cell>>> {
        let description = self.canonical.description();
        let mut by_output = vec![Vec::new(); self.overview.shown_outputs.len()];
        for slot in self.slots() {
            let products = description.shown(&self.canonical.product(k, point.value(), slot));
            let behind = nodes.min(self.overview.receivers.get(slot).map_or(0, |count| *count as u64));
            for (c, product) in products.into_iter().enumerate() {
                let estimate = estimate(product, self.bands.product(k, point, slot, c));
                by_output[c].push(Some(Cell { estimate, support: behind }));
            }
        }
        by_output
    }

    /// `rho(l) * f_k(v)` of every feature and distance.
    pub fn heatmap(&self) -> Figure {
        let (columns, last_apart) = self.columns();
        let mut rows = Vec::new();
        let mut panels: Vec<Panel> =
            self.overview.shown_outputs.iter().map(|name| Panel { name: name.clone(), cells: Vec::new() }).collect();
        let mut continuous = false;
        for k in &self.order {
            continuous |= self.overview.features[*k].curve.is_some();
            for (name, point, nodes) in self.representatives(*k) {
                rows.push(name);
                for (panel, cells) in panels.iter_mut().zip(self.cells(*k, &point, nodes)) {
                    panel.cells.push(cells);
                }
            }
        }
        let scene = Heatmap {
            title: "Features by distance: rho times f".to_owned(),
            unit: format!("contribution of one such node ({})", self.overview.unit),
            column_unit: "distance (edges)".to_owned(),
            columns,
            last_apart,
            rows,
            row_kind: RowKind::Features,
            row_unit: "feature".to_owned(),
            most: (MOST_ROWS / self.overview.shown_outputs.len().max(1)).max(LEAST_ROWS),
            panels,
            enough: LITTLE_SUPPORT,
            counted: "node".to_owned(),
        };
        let typical = if continuous {
            " A continuous feature is shown at a low and a high value (10 % and 90 % of its nodes lie below)."
        } else {
            ""
        };
        Figure {
            name: "features-by-distance".to_owned(),
            caption: format!(
                "What one node with this value adds, alone in its shell, to a node that hears it from this far.{typical} \
                 Hatched: little support.{}",
                self.bands.cell_words()
            ),
            scene: scene.scene(self.width),
        }
    }

    /// The values by which a feature is represented in the heatmap of features: name, value, nodes behind it.
    fn representatives(&self, k: usize) -> Vec<(String, Point, u64)> {
        let feature = &self.overview.features[k];
        let mut found = Vec::new();
        if let Some(curve) = &feature.curve {
            let total: u64 = curve.bins.iter().map(|bin| bin.support.nodes).sum();
            for share in TYPICAL {
                let mut below = 0;
                let bin = curve.bins.iter().find(|bin| {
                    below += bin.support.nodes;
                    below as f64 >= share * total as f64
                });
                let ends = [curve.points.first(), curve.points.last()].map(|end| end.map_or(0.0, |(x, _)| *x));
                let value = bin.map_or(ends[0] * (1.0 - share) + ends[1] * share, |bin| (bin.from + bin.to) / 2.0);
                let name = format!("{} = {}", feature.name, crate::text::number(value, 3));
                found.push((name, Point::Number(value), feature.support.nodes));
            }
            found.dedup_by(|a, b| a.0 == b.0);
        }
        let levels = if self.is_pair(k) { self.extreme_cells(k) } else { feature.levels.iter().collect() };
        for level in levels {
            let point = level.point(feature.kind);
            let name = match &point {
                Point::Number(_) => feature.name.clone(),
                _ => format!("{}: {}", feature.name, level.name),
            };
            found.push((name, point, level.support.nodes));
        }
        found
    }

    /// Value by distance of one feature; `None` for a binary one, which has one row in the heatmap of features.
    pub fn value_heatmap(&self, k: usize) -> Option<Figure> {
        let feature = &self.overview.features[k];
        let (columns, last_apart) = self.columns();
        let mut panels: Vec<Panel> =
            self.overview.shown_outputs.iter().map(|name| Panel { name: name.clone(), cells: Vec::new() }).collect();
        let mut add = |point: &Point, nodes: u64| {
            for (panel, cells) in panels.iter_mut().zip(self.cells(k, point, nodes)) {
                panel.cells.push(cells);
            }
        };
        let values = match (&feature.curve, feature.kind) {
            (Some(curve), _) => {
                let ends = [curve.points.first()?.0, curve.points.last()?.0];
                let at = |step: usize| {
                    let share = step as f64 / (GRID - 1) as f64;
                    ends[0] * (1.0 - share) + ends[1] * share
                };
                let mut grid: Vec<f64> = (0..GRID).map(at).collect();
                grid.dedup();
                for value in &grid {
                    let bin = curve.bins.iter().rev().find(|bin| bin.from <= *value);
                    // With a bin for every value, what lies between two values is supported by the lower one.
                    add(&Point::Number(*value), bin.map_or(feature.support.nodes, |bin| bin.support.nodes));
                }
                Values::Grid(grid)
            }
            (None, Kind::Categorical) => {
                let mut levels: Vec<_> = feature.levels.iter().collect();
                levels.sort_by_key(|level| std::cmp::Reverse(level.support.nodes));
                levels.iter().for_each(|level| add(&level.point(feature.kind), level.support.nodes));
                Values::Levels(levels.iter().map(|level| level.name.clone()).collect())
            }
            _ => return None,
        };
        let unit = feature.unit.as_ref().map(|unit| format!(" ({unit})")).unwrap_or_default();
        let scene = ValueHeatmap {
            title: format!("{}: value by distance", feature.name),
            unit: format!("contribution of one such node ({})", self.overview.unit),
            column_unit: "distance (edges)".to_owned(),
            columns,
            last_apart,
            value_unit: format!("{}{unit}", feature.name),
            values,
            most: MOST_ROWS,
            panels,
            enough: LITTLE_SUPPORT,
            counted: "node".to_owned(),
        };
        Some(Figure {
            name: format!("value-by-distance-{}", k + 1),
            caption: format!(
                "What a value of {} adds, by how far away it is heard.",
                crate::text::one_line(&feature.name)
            ),
            scene: scene.scene(self.width),
        })
    }

    /// Importances by feature and by distance; `None` without data.
    pub fn importance(&self) -> Option<Figure> {
        let found = self.overview.importance.as_ref()?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let features = self.order.iter().map(|k| Item {
            name: self.overview.features[*k].name.clone(),
            importance: estimate(mean(&found.by_feature[*k]), self.bands.feature_importance(*k)),
        });
        let structure = Item {
            name: "structure (the shape of the graph alone)".to_owned(),
            importance: estimate(mean(&found.structure), self.bands.structure_importance()),
        };
        let mut by_feature: Vec<Item> = features.chain([structure]).collect();
        by_feature.sort_by(|a, b| b.importance.value.total_cmp(&a.importance.value));
        let axis = self.canonical.axis();
        let mut by_distance: Vec<Item> = Vec::new();
        let mut far: Option<(usize, usize, f64)> = None;
        for slot in self.slots() {
            let (value, band) = (mean(&found.by_distance[slot]), self.bands.distance_importance(slot));
            if axis.lenses() > 1 || axis.distance(slot).is_none_or(|distance| distance <= NEAR) {
                by_distance.push(Item { name: axis.name(slot), importance: estimate(value, band) });
            } else {
                far = Some(far.map_or((slot, slot, value), |(first, _, sum)| (first, slot, sum + value)));
            }
        }
        if let Some((first, last, sum)) = far {
            let name = format!("distances {first} to {last} (sum)");
            let place = by_distance.iter().position(|item| item.name == axis.name(axis.slots() - 1));
            by_distance.insert(place.unwrap_or(by_distance.len()), Item { name, importance: Estimate::from(sum) });
        }
        let blocks = vec![
            Block { name: "by feature".to_owned(), rows: by_feature },
            Block { name: "by distance".to_owned(), rows: by_distance },
        ];
        let scene = Importance {
            title: "What counts: mean absolute contribution".to_owned(),
            unit: format!("mean |contribution| ({})", self.overview.unit),
            blocks,
            most: MOST_BARS,
        };
        let classes = if found.structure.len() > 1 { ", averaged over outputs" } else { "" };
        Some(Figure {
            name: "importance".to_owned(),
            caption: format!(
                "Over {} predictions: how far, on average, a feature (all its nodes together) or a distance (all \
                 features together) moves the prediction{classes}.{}",
                crate::text::count(found.items as u64),
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        })
    }

    /// The structure curve.
    pub fn structure(&self) -> Figure {
        let curves = self.overview.shown_outputs.iter().enumerate();
        let curves = curves
            .flat_map(|(c, name)| self.curves(name, &self.overview.structure, c, |slot| self.bands.structure(slot, c)))
            .collect();
        let scene = Rho {
            title: "What the shape of the graph alone says".to_owned(),
            unit: format!("structure term ({})", self.overview.unit),
            curves,
            panels: false,
            classes: Vec::new(),
            most: MOST_PANELS,
            receivers: self.receivers(),
            unreachable_receivers: self.unreachable(),
            enough: LITTLE_SUPPORT,
        };
        let what = match self.task {
            Task::Graph => {
                "for every node that has somebody at this distance: larger and longer graphs add it up more often"
            }
            Task::Node => "if there is anybody at this distance",
        };
        Figure {
            name: "structure".to_owned(),
            caption: format!("What is added {what}, whatever the features say.{}", self.bands.words()),
            scene: scene.scene(self.width),
        }
    }
}

/// Features from the most to the least important; without data, by the size of their shape functions.
fn by_importance(overview: &Overview) -> Vec<usize> {
    let size = |k: usize| -> f64 {
        if let Some(importance) = &overview.importance {
            return importance.by_feature[k].iter().sum();
        }
        let feature = &overview.features[k];
        let levels = feature.levels.iter().flat_map(|level| &level.values);
        let points = feature.curve.iter().flat_map(|curve| &curve.points).flat_map(|(_, values)| values);
        levels.chain(points).fold(0.0, |largest: f64, value| largest.max(value.abs()))
    };
    let sizes: Vec<f64> = (0..overview.features.len()).map(size).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    order
}

/// What the numbers of bins stand for, where distance is a sum of weights.
fn bins_in_words(canonical: &Canonical) -> String {
    let axis = canonical.axis();
    let of_lens = |(lens, way): (usize, &Lens)| {
        let bins = way.bins.as_ref()?;
        let names = axis.range(lens).filter_map(|slot| Some((axis.distance(slot)?, axis.name(slot))));
        let names = names.filter(|(bin, _)| *bin > 0).map(|(bin, name)| format!("{bin} is {name}"));
        Some(format!("Distances are bins of {}: {}. ", bins.weight, names.collect::<Vec<_>>().join(", ")))
    };
    canonical.description().lenses.iter().enumerate().filter_map(of_lens).collect()
}

fn estimate(value: f64, interval: Option<[f64; 2]>) -> Estimate {
    let interval = interval.map(|[low, high]| crate::figure::Interval { low, high });
    Estimate { value, interval }
}

fn support(behind: Behind) -> Support {
    Support { nodes: behind.nodes, graphs: behind.graphs }
}
