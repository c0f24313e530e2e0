//! Curves over distance: the influence by distance (rho) and the structure term.

use gnan::Lens;
use gnan::explain::{Canonical, LITTLE_SUPPORT};
use gnan::files::Task;
use gnan::model::Rho;

use super::{Figure, MOST_PANELS, ModelFigures, estimate};
use crate::figure::Estimate;
use crate::figure::distance_curves::{Curve, DistanceCurves};
use crate::text::one_line;

impl ModelFigures<'_> {
    /// The influence by distance, of all features or of each; `None` where every level has a curve of its own.
    pub fn influence_by_distance(&self) -> Option<Figure> {
        let separable: Vec<usize> = {
            let mut found = Vec::new();
            for k in self.order.iter().filter(|k| !self.canonical.has_level_rhos(**k)) {
                let rho = self.canonical.rho_of(*k, 0);
                if !found.contains(&rho) {
                    found.push(rho);
                }
            }
            found
        };
        if separable.is_empty() {
            return None;
        }
        let outputs = self.overview.outputs.len();
        let panels = separable.len() > 1 || self.canonical.axis().lenses() > 1;
        let curves = match panels {
            true => separable.iter().flat_map(|r| self.curves_of_rho(*r)).collect(),
            false => (0..outputs).flat_map(|c| self.rho_curves(separable[0], c, &self.overview.outputs[c])).collect(),
        };
        let (unreachable_receivers, receivers) = self.receivers();
        let scene = DistanceCurves {
            title: "Influence by distance (rho)".to_owned(),
            unit: "influence".to_owned(),
            curves,
            panels,
            classes: if panels { self.overview.outputs.clone() } else { Vec::new() },
            most: MOST_PANELS,
            receivers,
            unreachable_receivers,
            enough: LITTLE_SUPPORT,
        };
        let each = if self.canonical.definition().learned.rho == Rho::PerFeature {
            "Every feature has its own curve. "
        } else {
            ""
        };
        Some(Figure {
            name: "influence-by-distance".to_owned(),
            caption: format!(
                "By what the effects of the figure above are multiplied when the node is that many edges away from the \
                 receiver; 1 at the distance at which they are shown. {each}{}Grey bars: how many receivers have a source \
                 at that distance.{}",
                bins_in_words(self.canonical),
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        })
    }

    /// The effects of the levels of a feature by distance, the most frequent level first; `None` where they share a curve.
    pub fn levels_by_distance(&self, k: usize) -> Option<Figure> {
        if !self.canonical.has_level_rhos(k) {
            return None;
        }
        let feature = &self.overview.features[k];
        let mut levels: Vec<_> = feature.levels.iter().collect();
        levels.sort_by_key(|level| std::cmp::Reverse(level.support.nodes));
        let mut curves = Vec::new();
        for level in levels {
            let point = level.point(feature.kind);
            let effects: Vec<Vec<f64>> =
                (0..self.canonical.slots()).map(|slot| self.canonical.effect(k, point.value(), slot)).collect();
            let by_output: Vec<Vec<Curve>> = (0..self.overview.shown_outputs.len())
                .map(|c| self.curves(&level.name, &effects, c, |slot| self.bands.product(k, &point, slot, c)))
                .collect();
            let lenses = 0..self.canonical.axis().lenses();
            curves.extend(lenses.flat_map(|lens| by_output.iter().map(move |curves| curves[lens].clone())));
        }
        let (unreachable_receivers, receivers) = self.receivers();
        let scene = DistanceCurves {
            title: format!("Effects of {} by distance", feature.name),
            unit: format!("effect ({})", self.overview.unit),
            curves,
            panels: true,
            classes: self.overview.shown_outputs.clone(),
            most: MOST_PANELS,
            receivers,
            unreachable_receivers,
            enough: LITTLE_SUPPORT,
        };
        Some(Figure {
            name: format!("levels-by-distance-{}", k + 1),
            caption: format!(
                "What one node with this level of {} adds to the output of a receiver that many edges away, compared with an \
                 average node. {}Grey bars: how many receivers have a source at that distance.{}",
                one_line(&feature.name),
                bins_in_words(self.canonical),
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        })
    }

    /// The structure term by distance.
    pub fn structure_by_distance(&self) -> Figure {
        let outputs = self.overview.shown_outputs.iter().enumerate();
        let curves = outputs
            .flat_map(|(c, name)| self.curves(name, &self.overview.structure, c, |slot| self.bands.structure(slot, c)))
            .collect();
        let (unreachable_receivers, receivers) = self.receivers();
        let scene = DistanceCurves {
            title: "Structure term by distance".to_owned(),
            unit: format!("structure term ({})", self.overview.unit),
            curves,
            panels: false,
            classes: Vec::new(),
            most: MOST_PANELS,
            receivers,
            unreachable_receivers,
            enough: LITTLE_SUPPORT,
        };
        let when = match self.task {
            Task::Graph => {
                "once for every node that has another at this distance (itself at 0), so that graphs with more nodes and \
                 longer paths add it more often"
            }
            Task::Node => "if the receiver has a source at this distance",
        };
        Figure {
            name: "structure".to_owned(),
            caption: format!(
                "What the shape of the graph alone contributes, whatever the values of features: added {when}.{}",
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        }
    }

    /// How many training receivers have a source that is unreachable, where that occurs, and at every distance of the
    /// first lens.
    fn receivers(&self) -> (Option<u64>, Vec<u64>) {
        let counts = self.overview.receivers.get(self.canonical.axis().range(0)).unwrap_or(&[]);
        let Some((unreachable, finite)) = counts.split_last() else { return (None, Vec::new()) };
        let unreachable = Some(*unreachable).filter(|count| *count > 0.0).map(|count| count.round() as u64);
        (unreachable, finite.iter().map(|count| count.round() as u64).collect())
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

    fn rho_curves(&self, r: usize, c: usize, name: &str) -> Vec<Curve> {
        self.curves(name, &self.overview.rho[r].values, c, |slot| self.bands.rho(r, slot, c))
    }

    /// The curves of one rho, output by output, for each lens.
    fn curves_of_rho(&self, r: usize) -> Vec<Curve> {
        let outputs = 0..self.overview.outputs.len();
        let by_output: Vec<Vec<Curve>> = outputs.map(|c| self.rho_curves(r, c, &self.overview.rho[r].name)).collect();
        let lenses = 0..self.canonical.axis().lenses();
        lenses.flat_map(|lens| by_output.iter().map(move |curves| curves[lens].clone())).collect()
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
