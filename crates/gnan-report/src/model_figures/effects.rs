//! The effects of features: every shape function, on one y-axis.

use gnan::files::Kind;

use super::{Figure, MOST_PANELS, ModelFigures, estimate};
use crate::figure::hatching_words;
use crate::figure::shapes::{Form, Level, ShapeFunction, Shapes};

impl ModelFigures<'_> {
    /// The effects of all features but pairs, which have a heatmap of their own.
    pub fn effects(&self) -> Figure {
        let features = self.order.iter().filter(|k| !self.is_pair(**k)).map(|k| self.shape_function(*k)).collect();
        let elsewhere = self.overview.features.iter().any(|feature| !feature.own_value);
        let content = Shapes {
            title: match elsewhere {
                true => "Effects of features".to_owned(),
                false => format!("Effects of a {}'s own values", self.source_noun(true)),
            },
            unit: format!("effect ({})", self.overview.unit),
            outputs: self.overview.shown_outputs.clone(),
            features,
            most: MOST_PANELS,
            items: self.item_noun(),
        };
        let noun = self.source_noun(true);
        let caption = format!(
            "What a {noun} with this value adds to its own output, compared with an average {noun}{}: the column \"0\" of the \
             figure of effects by distance. Binary and sparse features have effect 0 at value 0, the others have mean 0 over \
             the training {noun}s. Hatched: {}.{}",
            match elsewhere {
                true => " (where a distance is named, to the output of a receiver at that distance)",
                false => "",
            },
            hatching_words(&self.item_noun()),
            self.bands.words()
        );
        Figure::new("effects", caption, content)
    }

    /// The effects of one feature alone.
    pub fn effects_of(&self, k: usize) -> Figure {
        let feature = &self.overview.features[k];
        let content = Shapes {
            title: format!("Effect of {}", feature.name),
            unit: format!("effect ({})", self.overview.unit),
            outputs: self.overview.shown_outputs.clone(),
            features: vec![self.shape_function(k)],
            most: MOST_PANELS,
            items: self.item_noun(),
        };
        let to_whom = match feature.own_value {
            true => "its own output".to_owned(),
            false => format!("the output of a receiver at {}", feature.anchor),
        };
        let noun = self.source_noun(feature.own_value);
        let items = if feature.own_value && noun != "node" { noun.to_owned() } else { self.item_noun() };
        let caption = format!(
            "What {} {noun} with this value adds to {to_whom}, compared with an average {noun}. Hatched: {}.{}",
            if noun == "edge" { "an" } else { "a" },
            hatching_words(&items),
            self.bands.words()
        );
        Figure::new(format!("effect-{}", k + 1), caption, content)
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
        let name = match feature.own_value {
            true => feature.name.clone(),
            false => format!("{} ({})", feature.name, feature.anchor),
        };
        let unit = feature.unit.clone().unwrap_or_default();
        ShapeFunction { name, unit, counts: feature.counts(), whole: feature.whole, form }
    }
}
