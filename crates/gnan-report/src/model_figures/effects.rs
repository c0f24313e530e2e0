//! The effects of features: every shape function, on one y-axis.

use gnan::explain::LITTLE_SUPPORT;
use gnan::files::Kind;

use super::{Figure, MOST_PANELS, ModelFigures, estimate};
use crate::figure::shapes::{Form, Level, ShapeFunction, Shapes};

/// The name of the distance of a node to itself.
const ITSELF: &str = "itself";

impl ModelFigures<'_> {
    /// The effects of all features but pairs, which have a heatmap of their own.
    pub fn effects(&self) -> Figure {
        let features = self.order.iter().filter(|k| !self.is_pair(**k)).map(|k| self.shape_function(*k)).collect();
        let elsewhere = self.overview.features.iter().any(|feature| feature.anchor != ITSELF);
        let scene = Shapes {
            title: match elsewhere {
                true => "Effects of features".to_owned(),
                false => "Effects of a node's own values".to_owned(),
            },
            unit: format!("effect ({})", self.overview.unit),
            outputs: self.overview.shown_outputs.clone(),
            features,
            most: MOST_PANELS,
            enough: LITTLE_SUPPORT,
        };
        Figure {
            name: "effects".to_owned(),
            caption: format!(
                "What a node with this value adds to its own output, compared with an average node{}: the column \
                 \"0\" of the figure of effects by distance. Binary and sparse features have effect 0 at value 0, the others have \
                 mean 0 over the training nodes. Hatched: fewer than {LITTLE_SUPPORT} nodes.{}",
                match elsewhere {
                    true => " (where a distance is named, to the output of a receiver at that distance)",
                    false => "",
                },
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        }
    }

    fn shape_function(&self, k: usize) -> ShapeFunction {
        let feature = &self.overview.features[k];
        let outputs = self.overview.shown_outputs.len();
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
        let name = match feature.anchor.as_str() {
            ITSELF => feature.name.clone(),
            anchor => format!("{} ({anchor})", feature.name),
        };
        ShapeFunction { name, unit: feature.unit.clone().unwrap_or_default(), form }
    }
}
