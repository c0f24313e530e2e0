//! Curves over distance: the influence by distance (rho) and the structure term.

use gnan::Lens;
use gnan::explain::Canonical;
use gnan::files::Task;
use gnan::model::Rho;

use super::{Figure, MOST_PANELS, ModelFigures, estimate};
use crate::figure::Estimate;
use crate::figure::distance_curves::{Curve, DistanceCurves, DistancePanel};
use crate::text::one_line;

/// What the bars below curves over distance are.
const RECEIVERS: &str = "Grey bars: how many receivers have a source at that distance.";

impl ModelFigures<'_> {
    /// The influence by distance, of all features or of each; how large effects are at every distance where outputs are shown
    /// as differences of several; `None` where every level has a curve of its own.
    pub fn influence_by_distance(&self) -> Option<Figure> {
        if !self.canonical.definition().shows_own_outputs() {
            return Some(self.effect_size_by_distance());
        }
        let mut separable: Vec<usize> = Vec::new();
        for k in self.order.iter().filter(|k| self.canonical.is_separable(**k)) {
            let rho = self.canonical.rho_of(*k, 0);
            if !separable.contains(&rho) {
                separable.push(rho);
            }
        }
        if separable.is_empty() {
            return None;
        }
        let several = separable.len() > 1;
        let of_rho = |r: &usize| {
            let rho = &self.overview.rho[*r];
            let name = if several { rho.name.as_str() } else { "" };
            self.panels(name, &rho.values, self.overview.outputs.len(), |slot, c| self.bands.rho(*r, slot, c))
        };
        let content = DistanceCurves {
            title: "Influence by distance (rho)".to_owned(),
            unit: "influence".to_owned(),
            panels: separable.iter().flat_map(of_rho).collect(),
            series: self.overview.outputs.clone(),
            most: MOST_PANELS,
            items: self.item_noun(),
        };
        let each = if self.canonical.definition().learned.rho == Rho::PerFeature {
            "Every feature has its own curve. "
        } else {
            ""
        };
        let caption = format!(
            "By what the effects of the figure above are multiplied when the node is that many edges away from the receiver; 1 \
             at the distance at which they are shown. {each}{}{RECEIVERS}{}",
            bins_in_words(self.canonical),
            self.bands.words()
        );
        Some(Figure::new("influence-by-distance", caption, content))
    }

    /// How large effects are at every distance.
    fn effect_size_by_distance(&self) -> Figure {
        let outputs = self.overview.shown_outputs.len();
        let mut sizes = vec![vec![f64::NAN; outputs]; self.canonical.slots()];
        let lenses = self.canonical.axis().lenses();
        for (place, curve) in self.canonical.effect_size_by_distance().into_iter().enumerate() {
            let slots = self.canonical.axis().range(place % lenses);
            let last = slots.end - 1;
            slots.zip(&curve.values).for_each(|(slot, size)| sizes[slot][curve.output] = size.unwrap_or(f64::NAN));
            sizes[last][curve.output] = curve.unreachable.unwrap_or(f64::NAN);
        }
        let content = DistanceCurves {
            title: "Size of effects by distance".to_owned(),
            unit: format!("size ({})", self.overview.unit),
            panels: self.panels("", &sizes, outputs, |_, _| None),
            series: self.overview.shown_outputs.clone(),
            most: MOST_PANELS,
            items: self.item_noun(),
        };
        let caption = format!(
            "How much one node that many edges away from the receiver usually adds or takes away: the root mean square over \
             training nodes, all features together. Signs are in the heatmap. {}{RECEIVERS}",
            bins_in_words(self.canonical),
        );
        Figure::new("influence-by-distance", caption, content)
    }

    /// The effects of the levels of a feature by distance, the most frequent level first; `None` where they are those of the
    /// figure of effects times an influence, and for numbers.
    pub fn levels_by_distance(&self, k: usize) -> Option<Figure> {
        let feature = &self.overview.features[k];
        if self.canonical.is_separable(k) || feature.of_item || feature.curve.is_some() || feature.levels.is_empty() {
            return None;
        }
        let mut levels: Vec<_> = feature.levels.iter().collect();
        levels.sort_by_key(|level| std::cmp::Reverse(level.support.nodes));
        let mut panels = Vec::new();
        for level in levels {
            let point = level.point(feature.kind);
            let effects = self.canonical.effects(k, point.value());
            let outputs = self.overview.shown_outputs.len();
            let band = |slot: usize, c: usize| self.bands.product(k, &point, slot, c);
            for mut panel in self.panels(&level.name, &effects, outputs, band) {
                // What few items have has little support at every distance.
                panel.support.iter_mut().chain(&mut panel.unreachable).for_each(|support| {
                    support.items = support.items.min(level.support.items);
                });
                panels.push(panel);
            }
        }
        let content = DistanceCurves {
            title: format!("Effects of {} by distance", feature.name),
            unit: format!("effect ({})", self.overview.unit),
            panels,
            series: self.overview.shown_outputs.clone(),
            most: MOST_PANELS,
            items: self.item_noun(),
        };
        let caption = format!(
            "What one node with this level of {} adds to the output of a receiver that many edges away, compared with an \
             average node. {}{RECEIVERS}{}",
            one_line(&feature.name),
            bins_in_words(self.canonical),
            self.bands.words()
        );
        Some(Figure::new(format!("levels-by-distance-{}", k + 1), caption, content))
    }

    /// The structure term by distance.
    pub fn structure_by_distance(&self) -> Figure {
        let outputs = self.overview.shown_outputs.len();
        let content = DistanceCurves {
            title: "Structure term by distance".to_owned(),
            unit: format!("structure term ({})", self.overview.unit),
            panels: self.panels("", &self.overview.structure, outputs, |slot, c| self.bands.structure(slot, c)),
            series: self.overview.shown_outputs.clone(),
            most: MOST_PANELS,
            items: self.item_noun(),
        };
        let when = match self.task {
            Task::Graph => {
                "once for every node that has another at this distance (itself at 0), so that graphs with more nodes and \
                 longer paths add it more often"
            }
            Task::Node => "if the receiver has a source at this distance",
        };
        let caption = format!(
            "What the shape of the graph alone contributes, whatever the values of features: added {when}.{}",
            self.bands.words()
        );
        Figure::new("structure", caption, content)
    }

    /// A panel for every lens, from values over all slots, `[slots][outputs]`: a curve per output, over the receivers and
    /// items of that lens.
    fn panels(
        &self,
        name: &str,
        values: &[Vec<f64>],
        outputs: usize,
        band: impl Fn(usize, usize) -> Option<[f64; 2]>,
    ) -> Vec<DistancePanel> {
        let seen = |slot: usize| self.canonical.seen(slot);
        let point = |slot: usize, c: usize| match seen(slot) {
            true => estimate(values[slot][c], band(slot, c)),
            false => Estimate::from(f64::NAN),
        };
        let axis = self.canonical.axis();
        let by_lens = |lens: usize| {
            let (slots, of_lens) = (axis.range(lens), axis.lens_name(lens));
            let last = slots.end - 1;
            // Nothing counts beyond a hop cap.
            let finite =
                slots.start..(slots.start..last).rev().find(|slot| seen(*slot)).map_or(slots.start, |slot| slot + 1);
            let curve = |c: usize| Curve {
                points: finite.clone().map(|slot| point(slot, c)).collect(),
                unreachable: seen(last).then(|| point(last, c)),
            };
            DistancePanel {
                name: [name, of_lens].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "),
                curves: (0..outputs).map(curve).collect(),
                support: finite.clone().map(|slot| self.canonical.support_at(slot)).collect(),
                unreachable: seen(last).then(|| self.canonical.support_at(last)),
            }
        };
        (0..axis.lenses()).map(by_lens).collect()
    }
}

/// What the numbers of bins stand for, where distance is a sum of edge weights.
fn bins_in_words(canonical: &Canonical) -> String {
    let axis = canonical.axis();
    let of_lens = |(lens, way): (usize, &Lens)| {
        let bins = way.bins.as_ref()?;
        let names = axis.range(lens).filter_map(|slot| Some((axis.distance(slot)?, axis.name(slot))));
        let names = names.filter(|(bin, _)| *bin > 0).map(|(bin, name)| format!("{bin} is {name}"));
        Some(format!("Distances are bins of {}: {}. ", bins.weight, names.collect::<Vec<_>>().join(", ")))
    };
    canonical.definition().learned.lenses.iter().enumerate().filter_map(of_lens).collect()
}
