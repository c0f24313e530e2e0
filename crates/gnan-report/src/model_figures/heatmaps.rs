//! Heatmaps over distance: the effects of all features, and of the values of one feature.

use gnan::explain::Point;
use gnan::files::Kind;
use gnan::model::Support;
use gnan::numbers::DAYS;

use super::{Figure, LEAST_ROWS, MOST_ROWS, ModelFigures, estimate};
use crate::figure::hatching_words;
use crate::figure::heatmap::{Cell, Heatmap, Panel, RowKind};
use crate::figure::value_heatmap::{ValueHeatmap, Values};
use crate::text::{self, one_line};

/// Values of a continuous feature that its heatmap shows.
const GRID: usize = 25;
/// The quantiles of a continuous feature that stand for it in the heatmap of features.
const TYPICAL: [f64; 2] = [0.1, 0.9];

impl ModelFigures<'_> {
    /// The effect of every feature at every distance, but of those that sum up items.
    pub fn features_by_distance(&self) -> Figure {
        let (columns, last_apart) = self.columns();
        let mut rows = Vec::new();
        let mut panels = self.empty_panels();
        let mut continuous = false;
        for k in self.order.iter().filter(|k| !self.overview.features[**k].of_item) {
            continuous |= self.overview.features[*k].curve.is_some();
            for (name, point, support) in self.representatives(*k) {
                rows.push(name);
                for (panel, cells) in panels.iter_mut().zip(self.cells(*k, &point, support)) {
                    panel.cells.push(cells);
                }
            }
        }
        let content = Heatmap {
            title: "Effects of features by distance".to_owned(),
            unit: self.cell_unit(),
            column_unit: "distance (edges)".to_owned(),
            columns,
            last_apart,
            rows,
            row_kind: RowKind::Features,
            row_unit: "feature".to_owned(),
            most: (MOST_ROWS / self.overview.shown_outputs.len().max(1)).max(LEAST_ROWS),
            panels,
            items: self.item_noun(),
        };
        let typical = if continuous {
            " A continuous feature is shown at a low and a high value (10 % and 90 % of its nodes lie below)."
        } else {
            ""
        };
        let caption = format!(
            "What one source node with this value adds to the output of a receiver, alone at this distance: the effect times \
             the influence by distance.{typical} Hatched: {}.{}",
            hatching_words(&self.item_noun()),
            self.bands.cell_words()
        );
        Figure::new("features-by-distance", caption, content)
    }

    /// The effect of every value of one feature at every distance; `None` for a binary one, which has one row in the
    /// heatmap of features, and for one that sums up its item, which counts at no distance.
    pub fn value_by_distance(&self, k: usize) -> Option<Figure> {
        let feature = &self.overview.features[k];
        if feature.of_item {
            return None;
        }
        let (columns, last_apart) = self.columns();
        let mut panels = self.empty_panels();
        let mut add = |point: &Point, support: Support| {
            for (panel, cells) in panels.iter_mut().zip(self.cells(k, point, support)) {
                panel.cells.push(cells);
            }
        };
        let values = match (&feature.curve, feature.kind) {
            (Some(curve), _) => {
                let single = curve.bins.iter().all(|bin| bin.from == bin.to);
                let mut grid = match (feature.whole, curve.ends()) {
                    (true, Some([from, to])) => whole_values(if feature.counts() { 0.0 } else { from }, to),
                    _ if single && !curve.bins.is_empty() => curve.bins.iter().map(|bin| bin.from).collect(),
                    _ => curve.evenly_spaced(GRID),
                };
                grid.dedup();
                grid.iter().for_each(|value| add(&Point::Number(*value), feature.support_of(*value)));
                Values::Grid(grid, feature.unit.clone())
            }
            (None, Kind::Categorical) => {
                let mut levels: Vec<_> = feature.levels.iter().collect();
                levels.sort_by_key(|level| std::cmp::Reverse(level.support.nodes));
                levels.iter().for_each(|level| add(&level.point(feature.kind), level.support));
                Values::Levels(levels.iter().map(|level| level.name.clone()).collect())
            }
            _ => return None,
        };
        // Dates are written as such.
        let unit = feature.unit.as_ref().filter(|unit| *unit != DAYS);
        let unit = unit.map(|unit| format!(" ({unit})")).unwrap_or_default();
        let content = ValueHeatmap {
            title: format!("Effect of {} by value and distance", feature.name),
            unit: self.cell_unit(),
            column_unit: "distance (edges)".to_owned(),
            columns,
            last_apart,
            value_unit: format!("{}{unit}", feature.name),
            values,
            most: MOST_ROWS,
            panels,
            items: self.item_noun(),
        };
        let caption = format!(
            "What one source node with this value of {} adds to the output of a receiver, alone at this distance.",
            one_line(&feature.name)
        );
        Some(Figure::new(format!("value-by-distance-{}", k + 1), caption, content))
    }

    fn empty_panels(&self) -> Vec<Panel> {
        self.overview.shown_outputs.iter().map(|name| Panel { name: name.clone(), cells: Vec::new() }).collect()
    }

    fn cell_unit(&self) -> String {
        format!("effect ({})", self.overview.unit)
    }

    /// Names of the distances, and whether the last one, "unreachable", stands apart.
    fn columns(&self) -> (Vec<String>, bool) {
        let (slots, axis) = (self.slots(), self.canonical.axis());
        let apart = axis.lenses() == 1 && slots.last().is_some_and(|slot| axis.distance(*slot).is_none());
        (slots.iter().map(|slot| axis.key(*slot)).collect(), apart)
    }

    /// Cells of one row over the distances, per shown output.
    fn cells(&self, k: usize, point: &Point, support: Support) -> Vec<Vec<Option<Cell>>> {
        let mut by_output = vec![Vec::new(); self.overview.shown_outputs.len()];
        for slot in self.slots() {
            let effects = self.canonical.effect(k, point.value(), slot);
            let here = self.canonical.support_at(slot);
            let support = support.min(Support { graphs: support.graphs, ..here });
            for (c, effect) in effects.into_iter().enumerate() {
                let estimate = estimate(effect, self.bands.product(k, point, slot, c));
                by_output[c].push(Some(Cell { estimate, support }));
            }
        }
        by_output
    }

    /// The values that stand for a feature in the heatmap of features: name, value, support.
    fn representatives(&self, k: usize) -> Vec<(String, Point, Support)> {
        let feature = &self.overview.features[k];
        let mut found = Vec::new();
        if let Some(curve) = &feature.curve {
            for value in TYPICAL.map(|share| curve.quantile(share)) {
                let words = text::value(value, feature.unit.as_deref());
                found.push((format!("{} = {words}", feature.name), Point::Number(value), feature.support_of(value)));
            }
            found.dedup_by(|a, b| a.1 == b.1);
        }
        let levels = if self.is_pair(k) { feature.extreme_levels() } else { feature.levels.iter().collect() };
        for level in levels {
            let point = level.point(feature.kind);
            let name = match &point {
                Point::Number(_) => feature.name.clone(),
                _ => format!("{}: {}", feature.name, level.name),
            };
            found.push((name, point, level.support));
        }
        found
    }
}

/// Whole numbers from one to another, every one or evenly spaced, both ends included.
fn whole_values(from: f64, to: f64) -> Vec<f64> {
    let step = ((to - from) / (GRID - 1) as f64).ceil().max(1.0);
    let mut values: Vec<f64> = (0..GRID).map(|k| from + step * k as f64).take_while(|value| *value < to).collect();
    values.push(to);
    values
}
