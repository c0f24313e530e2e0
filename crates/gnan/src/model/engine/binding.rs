//! Binding: which parameter every unit of the statistics takes its table row and its rho from.
//!
//! A unit of a numeric feature is a point of the feature's network; a unit of a categorical feature, or of a missing
//! value, is a free value. A unit that training had not seen has neither: it is an average over what was seen.

use std::collections::HashMap;

use crate::files::Kind;
use crate::statistics::{FeatureLevels, LevelValues, Statistics};

use super::EngineModel;
use super::pieces::UnitRows;
use crate::model::parameters::{FeatureLayout, Layout, Rho};
use crate::model::schema::FeatureSchema;

/// The channel of a unit that is in cells.
const NO_CHANNEL: u32 = u32::MAX;

/// What every unit takes from which parameter.
pub(super) struct Binding {
    pub network_units: Vec<NetworkUnits>,
    pub unseen: Vec<Unseen>,
    pub rho_of_unit: Vec<u32>,
    pub rho_of_channel: Vec<usize>,
    /// For every unit its free value, where it has one.
    value_of_unit: Vec<Option<u32>>,
    channel_of_unit: Vec<u32>,
}

/// A numeric feature's network and the rows it fills.
pub(super) struct NetworkUnits {
    pub network: usize,
    /// The row of `T` of the first of them; where networks are evaluated piece by piece, of the first point.
    pub first_row: usize,
}

/// A unit that training had not seen: its value is the average of its feature, which is 0 in canonical form.
pub(super) struct Unseen {
    pub unit: u32,
    /// Share of every free value of a categorical feature in that average.
    pub shares: Vec<Share>,
    /// The average effect of a continuous feature; empty: 0.
    pub mean_effect: Vec<f64>,
}

/// How much a free value, times its rho, counts in an average.
pub(super) struct Share {
    pub value: usize,
    pub rho: usize,
    pub share: f64,
}

impl Binding {
    /// Binds a model to statistics. Also returns the points at which every network is needed, its reference last.
    pub(super) fn new(model: EngineModel<'_>, layout: &Layout, statistics: &Statistics) -> (Binding, Vec<Vec<f64>>) {
        let units = statistics.levels.unit_count();
        let mut binding = Binding {
            network_units: Vec::new(),
            unseen: Vec::new(),
            rho_of_unit: vec![0; units],
            rho_of_channel: vec![0; statistics.channel_count()],
            value_of_unit: vec![None; units],
            channel_of_unit: vec![NO_CHANNEL; units],
        };
        let mut points = Vec::new();
        let places = layout.features.iter().zip(&statistics.levels.features);
        for ((feature, (place, levels)), channel) in model.features.iter().zip(places).zip(&statistics.channels) {
            let pieced = model.is_pieced(levels);
            let bound = BoundFeature { feature, place, levels, pieced, rho: model.rho, uncentred: model.uncentred };
            binding.bind_distances(&bound, *channel);
            points.extend(binding.bind_network(&bound));
            binding.bind_values(&bound);
            binding.bind_unseen(&bound);
        }
        (binding, points)
    }

    /// Every unit that has a free value, and that value.
    pub(super) fn values(&self) -> impl Iterator<Item = (usize, usize)> {
        let values = self.value_of_unit.iter().enumerate();
        values.filter_map(|(unit, value)| value.map(|value| (unit, value as usize)))
    }

    /// Lets the rows of a network begin here.
    pub(super) fn set_first_row(&mut self, network: usize, row: usize) {
        let units = self.network_units.iter_mut().filter(|units| units.network == network);
        units.for_each(|units| units.first_row = row);
    }

    /// Lets the rows of all networks begin at the rows of their first units.
    pub(super) fn set_first_rows(&mut self, unit_rows: &UnitRows) {
        self.network_units.iter_mut().for_each(|units| units.first_row = unit_rows.of(units.first_row as u32).0);
    }

    /// The channel of a unit in the shell rows; `None`: it is in the cells.
    pub(super) fn channel(&self, unit: u32) -> Option<usize> {
        let channel = self.channel_of_unit[unit as usize];
        (channel != NO_CHANNEL).then_some(channel as usize)
    }

    fn bind_distances(&mut self, bound: &BoundFeature<'_>, channel: Option<usize>) {
        // An unseen category counts where its feature does; a feature without levels has no rho of its own.
        if !bound.is_categorical() || bound.feature.value_count() > 0 {
            self.rho_of_unit[bound.units()].fill(bound.place.first_rho as u32);
        }
        if let Some(channel) = channel {
            self.channel_of_unit[bound.units()].fill(channel as u32);
            self.rho_of_channel[channel] = bound.place.first_rho;
        }
    }

    /// The points of a numeric feature's network, its reference last.
    fn bind_network(&mut self, bound: &BoundFeature<'_>) -> Option<Vec<f64>> {
        let LevelValues::Numbers(values) = &bound.levels.values else { return None };
        let (network, scale) = bound.place.network.zip(bound.feature.scale.as_ref())?;
        self.network_units.push(NetworkUnits { network, first_row: bound.units().start });
        // Points inside pieces are found whenever tables are evaluated.
        let values = if bound.pieced { &[] } else { &values[..] };
        Some(values.iter().map(|value| scale.apply(*value)).chain([0.0]).collect())
    }

    fn bind_values(&mut self, bound: &BoundFeature<'_>) {
        if let LevelValues::Names(names) = &bound.levels.values {
            let known: HashMap<&str, usize> =
                bound.feature.levels.iter().enumerate().map(|(place, level)| (level.name.as_str(), place)).collect();
            for (unit, name) in bound.units().zip(names) {
                if let Some(level) = known.get(name.as_str()).copied().or_else(|| bound.feature.rare_level()) {
                    self.bind_value(unit, bound, level);
                }
            }
        }
        // The levels of such a feature are its knots: see `Model::levels`.
        if let Some(knots) = &bound.feature.effect_knots {
            for (level, unit) in (0..knots.at.len()).zip(bound.known_units()) {
                self.bind_value(unit, bound, level);
            }
        }
        if let (Some(unit), Some(_)) = (bound.levels.missing, bound.feature.missing) {
            self.bind_value(unit as usize, bound, bound.feature.known_values());
        }
    }

    fn bind_value(&mut self, unit: usize, bound: &BoundFeature<'_>, level: usize) {
        self.value_of_unit[unit] = Some(bound.value(level) as u32);
        self.rho_of_unit[unit] = bound.rho(level) as u32;
    }

    fn bind_unseen(&mut self, bound: &BoundFeature<'_>) {
        for unit in bound.units().filter(|unit| !bound.has_network(*unit)) {
            if self.value_of_unit[unit].is_none() {
                let shares = bound.shares();
                // A mean of values is the mean effect already.
                let centred = !bound.uncentred && shares.is_empty();
                let mean_effect = if centred { bound.feature.mean_effect.clone() } else { Vec::new() };
                self.unseen.push(Unseen { unit: unit as u32, shares, mean_effect });
            }
        }
    }
}

/// A feature of the model, where its parameters are, and its levels in the data.
struct BoundFeature<'a> {
    feature: &'a FeatureSchema,
    place: &'a FeatureLayout,
    levels: &'a FeatureLevels,
    /// Whether its network is evaluated piece by piece.
    pieced: bool,
    rho: Rho,
    uncentred: bool,
}

impl BoundFeature<'_> {
    fn is_categorical(&self) -> bool {
        self.feature.kind == Kind::Categorical
    }

    /// Its units, "missing" included.
    fn units(&self) -> std::ops::Range<usize> {
        let end = self.levels.missing.map_or(self.levels.units.end, |missing| missing + 1);
        self.levels.units.start as usize..end as usize
    }

    /// The units of its known values.
    fn known_units(&self) -> std::ops::Range<usize> {
        self.levels.units.start as usize..self.levels.units.end as usize
    }

    fn has_network(&self, unit: usize) -> bool {
        self.place.network.is_some() && (unit as u32) < self.levels.units.end
    }

    /// The free value of a level; "missing" comes after the others.
    fn value(&self, level: usize) -> usize {
        self.place.first_value + level
    }

    /// The rho of a level: a categorical feature that is not a pair has one for each, unless all features share one.
    fn rho(&self, level: usize) -> usize {
        let own = self.rho == Rho::PerFeature && self.feature.has_level_rhos();
        self.place.first_rho + if own { level } else { 0 }
    }

    /// What a category that training had not seen is the average of; nothing for a numeric feature.
    fn shares(&self) -> Vec<Share> {
        let averaged = self.place.network.is_none() && !self.uncentred;
        let shares = if averaged { self.feature.level_shares() } else { Vec::new() };
        let share = |(level, share)| Share { value: self.value(level), rho: self.rho(level), share };
        shares.into_iter().enumerate().map(share).collect()
    }
}
