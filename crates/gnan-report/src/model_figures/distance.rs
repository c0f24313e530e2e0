//! Curves over distance: the influence by distance (rho) and the structure term.

use gnan::Lens;
use gnan::explain::{Canonical, LITTLE_SUPPORT};
use gnan::files::Task;
use gnan::model::Rho;

use super::{Figure, MOST_PANELS, ModelFigures, estimate};
use crate::figure::Estimate;
use crate::figure::distance_curves::{Curve, DistanceCurves};

impl ModelFigures<'_> {
    /// The influence by distance, of all features or of each.
    pub fn influence_by_distance(&self) -> Figure {
        let rho = self.canonical.definition().learned.rho;
        let per_feature = rho == Rho::PerFeature;
        let outputs = self.overview.outputs.len();
        let panels = self.overview.rho.len() > 1 || self.canonical.axis().lenses() > 1;
        let mut curves = Vec::new();
        if per_feature {
            let of_features = self.order.iter().flat_map(|k| self.rhos_of_feature(*k));
            curves.extend(of_features.flat_map(|r| self.curves_of_rho(r)));
        } else if panels {
            // The rho of the bias is part of the structure term.
            curves.extend((rho.of_bias_alone()..self.overview.rho.len()).flat_map(|r| self.curves_of_rho(r)));
        } else {
            curves.extend((0..outputs).flat_map(|c| self.rho_curves(0, c, &self.overview.outputs[c])));
        }
        let (unreachable_receivers, receivers) = self.receivers();
        let scene = DistanceCurves {
            title: "Influence by distance (rho)".to_owned(),
            unit: "influence (largest = 1)".to_owned(),
            curves,
            panels,
            classes: if panels { self.overview.outputs.clone() } else { Vec::new() },
            most: MOST_PANELS,
            receivers,
            unreachable_receivers,
            enough: LITTLE_SUPPORT,
        };
        let each =
            if per_feature { "Every feature (every level of a categorical one) has its own curve. " } else { "" };
        Figure {
            name: "influence-by-distance".to_owned(),
            caption: format!(
                "The factor by which effects of source nodes are multiplied, by the number of edges from the source to the \
                 receiver; 1 is the largest factor in training. {each}{}Grey bars: how many receivers have a source at \
                 that distance.{}",
                bins_in_words(self.canonical),
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        }
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

    /// The rhos of a feature: one, or one per level with the most frequent level first.
    fn rhos_of_feature(&self, k: usize) -> Vec<usize> {
        let levels = &self.overview.features[k].levels;
        let mut own: Vec<usize> = (0..if self.canonical.has_level_rhos(k) { levels.len() } else { 1 }).collect();
        own.sort_by_key(|level| std::cmp::Reverse(levels.get(*level).map_or(0, |level| level.support.nodes)));
        own.into_iter().map(|level| self.canonical.rho_of(k, level)).collect()
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
