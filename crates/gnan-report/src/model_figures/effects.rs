//! The effects of features: every shape function, on one y-axis.

use gnan::explain::LITTLE_SUPPORT;
use gnan::files::Kind;

use super::{Figure, MOST_PANELS, ModelFigures, estimate};
use crate::figure::shapes::{Form, Level, ShapeFunction, Shapes};

impl ModelFigures<'_> {
    /// The effects of all features but pairs, which have a heatmap of their own.
    pub fn effects(&self) -> Figure {
        let features = self.order.iter().filter(|k| !self.is_pair(**k)).map(|k| self.shape_function(*k)).collect();
        let scene = Shapes {
            title: "Effects of features (shape functions)".to_owned(),
            unit: format!("effect ({})", self.unit()),
            outputs: self.overview.outputs.clone(),
            features,
            most: MOST_PANELS,
            enough: LITTLE_SUPPORT,
        };
        let own_rho = (0..self.overview.features.len()).any(|k| self.canonical.has_level_rhos(k));
        Figure {
            name: "effects".to_owned(),
            caption: format!(
                "The effect of a feature value: what one source node with this value adds to the output of a receiver, \
                 alone at the distance where the influence is 1. Binary and sparse features have effect 0 at value 0, the \
                 others have mean 0 over the training nodes{}. Hatched: fewer than {LITTLE_SUPPORT} nodes.{}",
                if own_rho {
                    " (levels with an influence curve of their own: before the mean is subtracted)"
                } else {
                    ""
                },
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        }
    }

    fn shape_function(&self, k: usize) -> ShapeFunction {
        let feature = &self.overview.features[k];
        let outputs = self.overview.outputs.len();
        let level = |index: usize| {
            let level = &feature.levels[index];
            let point = level.point(feature.kind);
            let value = |c: usize| estimate(level.values[c], self.bands.shape(k, &point, c));
            Level { name: level.name.clone(), values: (0..outputs).map(value).collect(), support: level.support }
        };
        let form = match (&feature.curve, feature.kind) {
            (Some(curve), _) => Form::Curve {
                knots: (0..outputs).map(|c| curve.points.iter().map(|(x, values)| [*x, values[c]]).collect()).collect(),
                bands: (0..outputs).map(|c| self.bands.curve(k, c)).collect(),
                bins: curve.bins.clone(),
                missing: (0..feature.levels.len()).find(|index| feature.levels[*index].missing).map(level),
            },
            (None, Kind::Binary) if feature.levels.len() == 1 => {
                Form::Binary(Level { name: feature.name.clone(), ..level(0) })
            }
            (None, _) => Form::Levels((0..feature.levels.len()).map(level).collect()),
        };
        ShapeFunction { name: feature.name.clone(), unit: feature.unit.clone().unwrap_or_default(), form }
    }
}
